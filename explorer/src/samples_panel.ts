// The left panel: samples by WebGL, and above them rings, climbs and the numbers of the clusters.

import type { App } from "./app";
import { type Size, listen } from "./camera";
import { sampleColours } from "./colouring";
import { DensityLayer } from "./density";
import { fitCanvas } from "./dom";
import { samplesWithin } from "./lasso";
import { NearestGrid } from "./nearest";
import { drawnAmong } from "./overlap";
import { css } from "./palette";
import { type PointLayer, createPoints } from "./points";

const REACH = 14;
const MOST_NUMBERS = 80;
const MOST_TRIED = 40;

const overlap = (a: [number, number], b: [number, number]): boolean =>
  Math.abs(a[0] - b[0]) < 26 && Math.abs(a[1] - b[1]) < 20;

/** Where a cluster's number stands. */
export interface Label {
  label: number;
  x: number;
  y: number;
  /** Whether the cluster is drawn among the samples of another. */
  among: boolean;
}

export class SamplesPanel {
  readonly points: PointLayer;
  readonly density: DensityLayer;
  private grid: NearestGrid;
  private size: Size = { width: 1, height: 1 };
  private coloured = "";
  private drawn: [number, number][] = [];

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    readonly layers: { tiles: HTMLCanvasElement; points: HTMLCanvasElement; overlay: HTMLCanvasElement },
    touched: (left: number, top: number) => void,
  ) {
    this.points = createPoints(layers.points, app.place);
    this.density = new DensityLayer(app, layers.tiles);
    this.grid = new NearestGrid(app.place);
    app.listen((change) => {
      if (change === "cut" || change === "colour") this.coloured = "";
      if (change !== "places") return;
      this.points.setPlaces(app.place);
      this.grid = new NearestGrid(app.place);
    });
    listen(panel, app.camera, () => this.size, {
      hover: (left, top) => {
        this.pointAt(this.find(left, top, REACH));
        touched(left, top);
      },
      leave: () => app.point({}),
      click: (left, top, second) => app.pick(this.find(left, top, 2 * REACH), second),
      step: (by) => this.step(by),
      pick: (second) => app.hover.sample >= 0 && app.pick(app.hover.sample, second),
      lassoing: (event) => app.lassoing || event.shiftKey,
      lasso: (places, done) => this.lasso(places, done),
    });
  }

  private pointAt(sample: number): void {
    this.app.point({ sample });
  }

  /** Draw the lasso; in the end select what is inside. */
  private lasso(places: [number, number][], done: boolean): void {
    const { app } = this;
    this.drawn = done ? [] : places;
    if (!done) return app.tell("view");
    const outline = places.map(([left, top]) => app.camera.toPlane(this.size, left, top));
    app.select(samplesWithin(app.place, outline));
  }

  private step(by: number): void {
    const { app } = this;
    const { nShown } = app.model;
    const from = app.hover.sample >= 0 ? app.hover.sample : (app.picked[app.picked.length - 1] ?? (by > 0 ? -1 : 0));
    const sample = (from + by + nShown) % nShown;
    this.pointAt(sample);
    if (!this.isInside(this.at(sample))) app.camera.centreOn(app.place[2 * sample], app.place[2 * sample + 1]);
  }

  private find(left: number, top: number, reach: number): number {
    const { camera } = this.app;
    return this.grid.find(...camera.toPlane(this.size, left, top), reach, camera.scale(this.size));
  }

  /** Where a sample is on the panel. */
  at(sample: number): [number, number] {
    return this.app.camera.toScreen(this.size, this.app.place[2 * sample], this.app.place[2 * sample + 1]);
  }

  private isInside([x, y]: [number, number]): boolean {
    return x >= 0 && y >= 0 && x <= this.size.width && y <= this.size.height;
  }

  radius(): number {
    const { nShown } = this.app.model;
    const base = Math.max(0.9, Math.min(4.5, 100 / Math.sqrt(nShown)));
    return Math.min(8, base * this.app.camera.zoom ** 0.4);
  }

  draw(ratio: number, share: number): void {
    const { app, layers } = this;
    this.size = fitCanvas(layers.points, ratio);
    fitCanvas(layers.overlay, ratio);
    const emphasised = `of ${app.emphasisKey}`;
    if (this.coloured !== emphasised) this.points.setColours(sampleColours(app));
    this.coloured = emphasised;
    this.density.draw(this.size, ratio);
    this.points.draw(app.camera, this.size, ratio, this.radius(), this.density.replaces(this.size) ? 0 : share);
    const context = layers.overlay.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    if (app.picked.length > 0) this.drawPicked(context);
    else this.drawNumbers(context);
    if (app.hover.sample >= 0) this.ring(context, app.hover.sample, this.ink(), 2);
    if (this.drawn.length > 1) this.drawLasso(context);
  }

  private drawLasso(context: CanvasRenderingContext2D): void {
    context.beginPath();
    for (const place of this.drawn) context.lineTo(...place);
    context.closePath();
    context.fillStyle = this.app.dark ? "rgb(255 255 255 / 0.08)" : "rgb(0 0 0 / 0.06)";
    context.fill();
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = this.ink();
    context.stroke();
    context.setLineDash([]);
  }

  private ink(): string {
    return this.app.dark ? "#f2f4f8" : "#111418";
  }

  private paper(): string {
    return this.app.dark ? "rgb(20 23 28 / 0.85)" : "rgb(255 255 255 / 0.88)";
  }

  private ring(context: CanvasRenderingContext2D, sample: number, colour: string, width: number): void {
    const [x, y] = this.at(sample);
    const radius = this.radius() + 4;
    for (const [style, line] of [
      [this.paper(), width + 2.5],
      [colour, width],
    ] as const) {
      context.strokeStyle = style;
      context.lineWidth = line;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  private way(context: CanvasRenderingContext2D, samples: number[], dash: number[]): void {
    if (samples.length < 2) return;
    context.lineJoin = "round";
    context.beginPath();
    samples.forEach((sample, i) => (i === 0 ? context.moveTo(...this.at(sample)) : context.lineTo(...this.at(sample))));
    context.strokeStyle = this.paper();
    context.lineWidth = 5;
    context.stroke();
    context.setLineDash(dash);
    context.strokeStyle = this.ink();
    context.lineWidth = 2;
    context.stroke();
    context.setLineDash([]);
  }

  /** Climbs of the picked samples, and the way between their peaks. */
  private drawPicked(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const pair = app.pair();
    if (pair)
      this.way(
        context,
        pair.path.map((local) => app.model.graph.peaks[local]),
        [2, 5],
      );
    app.picked.forEach((sample, i) => {
      this.way(context, app.story(sample).climb, []);
      this.ring(context, sample, this.ink(), 2.5);
      this.pill(context, "AB"[i], ...this.at(sample), -this.radius() - 17, [this.paper(), this.ink()]);
    });
  }

  private pill(
    context: CanvasRenderingContext2D,
    text: string,
    x: number,
    y: number,
    lift: number,
    colours: [string, string],
  ): void {
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const width = Math.max(18, context.measureText(text).width + 9);
    context.fillStyle = colours[1];
    context.beginPath();
    context.roundRect(x - width / 2, y + lift - 9, width, 18, 9);
    context.fill();
    context.fillStyle = colours[0];
    context.fillText(text, x, y + lift + 0.5);
  }

  /** The number of every cluster at the highest of its peaks where there is room, the largest cluster first. */
  labels(): Label[] {
    const { app } = this;
    const { labels, nClusters } = app.cut;
    const standsOut = app.emphasis();
    const peaks: number[][] = Array.from({ length: Math.min(nClusters, MOST_NUMBERS) }, () => []);
    labels.forEach((label, local) => {
      if (peaks[label]?.length < MOST_TRIED && (!standsOut || standsOut.has(local))) peaks[label].push(local);
    });
    const among = drawnAmong(app);
    const found: Label[] = [];
    for (const [label, locals] of peaks.entries()) {
      const places = locals.map((local) => this.at(app.model.graph.peaks[local]));
      const free = places.find((place) => this.isInside(place) && !found.some(({ x, y }) => overlap(place, [x, y])));
      if (free) found.push({ label, x: free[0], y: free[1], among: among[label] >= 0 });
    }
    return found;
  }

  private drawNumbers(context: CanvasRenderingContext2D): void {
    for (const { label, x, y, among } of this.labels()) {
      this.pill(context, String(label), x, y, 0, [this.ink(), this.paper()]);
      context.strokeStyle = css(this.app.colourOf(label));
      context.lineWidth = 2;
      context.setLineDash(among ? [3, 3] : []);
      context.stroke();
      context.setLineDash([]);
    }
  }
}
