// The left panel: samples by WebGL, and above them rings, climbs and the numbers of the clusters.

import type { App } from "./app";
import { type Size, listen } from "./camera";
import { sampleColours } from "./colouring";
import { fitCanvas } from "./dom";
import { NearestGrid } from "./nearest";
import { css } from "./palette";
import { type PointLayer, createPoints } from "./points";

const REACH = 14;
const MOST_NUMBERS = 80;
const MOST_TRIED = 40;

const overlap = (a: [number, number], b: [number, number]): boolean =>
  Math.abs(a[0] - b[0]) < 26 && Math.abs(a[1] - b[1]) < 20;

export class SamplesPanel {
  readonly points: PointLayer;
  private readonly grid: NearestGrid;
  private size: Size = { width: 1, height: 1 };
  private coloured = "";

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    readonly canvas: HTMLCanvasElement,
    readonly overlay: HTMLCanvasElement,
    touched: (left: number, top: number) => void,
  ) {
    const { samples } = app.model;
    this.points = createPoints(canvas, samples.place);
    this.grid = new NearestGrid(samples.place);
    app.listen((change) => {
      if (change === "cut" || change === "colour") this.coloured = "";
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
    });
  }

  private pointAt(sample: number): void {
    this.app.point(sample < 0 ? {} : { sample, local: this.app.model.samples.local[sample] });
  }

  private step(by: number): void {
    const { app } = this;
    const { nShown, samples } = app.model;
    const from = app.hover.sample >= 0 ? app.hover.sample : (app.picked[app.picked.length - 1] ?? (by > 0 ? -1 : 0));
    const sample = (from + by + nShown) % nShown;
    this.pointAt(sample);
    const [x, y] = app.camera.toScreen(this.size, samples.place[2 * sample], samples.place[2 * sample + 1]);
    if (!this.isInside([x, y])) {
      app.camera.centreOn(samples.place[2 * sample], samples.place[2 * sample + 1]);
    }
  }

  private find(left: number, top: number, reach: number): number {
    const { camera } = this.app;
    return this.grid.find(...camera.toPlane(this.size, left, top), reach / camera.scale(this.size));
  }

  /** Where a sample is on the panel. */
  at(sample: number): [number, number] {
    const { place } = this.app.model.samples;
    return this.app.camera.toScreen(this.size, place[2 * sample], place[2 * sample + 1]);
  }

  private isInside([x, y]: [number, number]): boolean {
    return x >= 0 && y >= 0 && x <= this.size.width && y <= this.size.height;
  }

  private radius(): number {
    const { nShown } = this.app.model;
    const base = Math.max(0.9, Math.min(4.5, 90 / Math.sqrt(nShown)));
    return Math.min(8, base * this.app.camera.zoom ** 0.4);
  }

  draw(ratio: number, share: number): void {
    this.size = fitCanvas(this.canvas, ratio);
    fitCanvas(this.overlay, ratio);
    const emphasised = `of ${[...(this.app.emphasis() ?? ["all"])].join()}`;
    if (this.coloured !== emphasised) this.points.setColours(sampleColours(this.app));
    this.coloured = emphasised;
    this.points.draw(this.app.camera, this.size, ratio, this.radius(), share);
    const context = this.overlay.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    if (this.app.picked.length > 0) this.drawPicked(context);
    else this.drawNumbers(context);
    if (this.app.hover.sample >= 0) this.ring(context, this.app.hover.sample, this.ink(), 2);
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
  private drawNumbers(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const { labels, nClusters } = app.cut;
    const taken: [number, number][] = [];
    const standsOut = app.emphasis();
    const peaks: number[][] = Array.from({ length: Math.min(nClusters, MOST_NUMBERS) }, () => []);
    labels.forEach((label, local) => {
      if (peaks[label]?.length < MOST_TRIED && (!standsOut || standsOut.has(local))) peaks[label].push(local);
    });
    for (const [label, locals] of peaks.entries()) {
      const places = locals.map((local) => this.at(app.model.graph.peaks[local]));
      const free = places.find((place) => this.isInside(place) && !taken.some((other) => overlap(place, other)));
      if (!free) continue;
      const [x, y] = free;
      taken.push(free);
      this.pill(context, String(label), x, y, 0, [this.ink(), this.paper()]);
      context.strokeStyle = css(app.colourOf(label));
      context.lineWidth = 2;
      context.stroke();
    }
  }
}
