// The left panel: samples, or tiles that count them, under the marks of what is selected.

import type { App } from "./app";
import { type Size, handleGestures } from "./camera";
import { THEMES, css, paperOf, sampleColours } from "./colours";
import { type Density, climbOf } from "./model";
import { CanvasPen, type Pen, type Point, clearCanvas, outlined, pill, sizeOf, spaceForTexts } from "./pen";
import { drawPoints } from "./points";

const REACH = 14;
const MOST_NUMBERS = 80;
/** Samples of a cluster that are tried as the position of its number. */
const MOST_TRIED = 40;
/** From this size on, tiles are replaced by the samples themselves. */
const TILE_PIXELS = 7;

export class SamplesPanel {
  private size: Size = { width: 1, height: 1 };
  private emphasis: Set<number> | null = null;
  /** What the current clusters, colours and emphasis look like; null if they have changed. */
  private colours: Uint8Array<ArrayBuffer> | null = null;
  private tilePicture: HTMLCanvasElement | null = null;
  private outline: Point[] = [];

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    showTooltip: (left: number, top: number) => void,
  ) {
    const { camera } = app;
    app.listen((change) => {
      if (change !== "camera" && change !== "hover") this.colours = this.tilePicture = null;
    });
    const nearest = (left: number, top: number, reach: number): number =>
      nearestSample(app.xy, camera.toPlane(this.size, left, top), reach, camera.scale(this.size));
    handleGestures(panel, camera, () => this.size, {
      hover: (left, top) => {
        app.point({ sample: nearest(left, top, REACH) });
        showTooltip(left, top);
      },
      leave: () => app.point({}),
      click: (left, top) => app.pick(nearest(left, top, 2 * REACH)),
      isLasso: () => app.lasso !== null,
      lasso: (outline, done) => {
        this.outline = done ? [] : outline;
        if (!done) return app.notify("camera");
        const corners = outline.map(([left, top]) => camera.toPlane(this.size, left, top));
        app.select(samplesWithin(app.xy, corners));
      },
    });
  }

  /** The position of a sample on the panel. */
  at(sample: number): Point {
    const { camera, xy } = this.app;
    return camera.toScreen(this.size, xy[2 * sample], xy[2 * sample + 1]);
  }

  radius(): number {
    const base = Math.max(0.9, Math.min(4.5, 100 / Math.sqrt(this.app.model.nShown)));
    return Math.min(8, base * this.app.camera.zoom ** 0.4);
  }

  /** The tiles to draw in place of the samples. They show clusters only. */
  tiles(): Density | null {
    const { view, colourBy, selection, camera } = this.app;
    if (!view.density || colourBy !== "cluster" || selection) return null;
    return (Math.max(...camera.scale(this.size)) * 2) / view.density.side < TILE_PIXELS ? view.density : null;
  }

  /** The number of all samples in the tile of a shown sample; 0 if there are no tiles. */
  countAt(sample: number): number {
    const { view, xy } = this.app;
    if (!view.density) return 0;
    const { side, counts } = view.density;
    const [column, row] = [xy[2 * sample], xy[2 * sample + 1]].map((value) =>
      Math.max(0, Math.min(side - 1, Math.floor(((value + 1) / 2) * side))),
    );
    return counts[row * side + column];
  }

  draw(ratio: number): void {
    this.size = sizeOf(this.canvas);
    this.drawMarks(new CanvasPen(this.drawSamples(this.canvas, ratio)));
  }

  /** Draw the samples or tiles of the panel, without marks, on a canvas. */
  drawSamples(canvas: HTMLCanvasElement, ratio: number): CanvasRenderingContext2D {
    const { app, size } = this;
    if (this.emphasis !== app.emphasis) this.colours = this.tilePicture = null;
    this.emphasis = app.emphasis;
    const context = clearCanvas(canvas, size, ratio);
    const tiles = this.tiles();
    if (tiles) {
      this.tilePicture ??= this.paintTiles(tiles);
      const [left, top] = app.camera.toScreen(size, -1, 1);
      const [right, bottom] = app.camera.toScreen(size, 1, -1);
      context.imageSmoothingEnabled = false;
      context.drawImage(this.tilePicture, left, top, right - left, bottom - top);
    } else {
      this.colours ??= sampleColours(app);
      drawPoints(context, app.xy, this.colours, app.camera, size, ratio, 2 * this.radius(), paperOf(app.theme));
    }
    return context;
  }

  /** Paint one pixel per tile in the colour of its most frequent cluster, stronger if it has more samples. */
  private paintTiles({ side, counts, locals }: Density): HTMLCanvasElement {
    const { app } = this;
    const { emphasis } = app;
    const picture = document.createElement("canvas");
    picture.width = picture.height = side;
    const context = picture.getContext("2d")!;
    const image = context.createImageData(side, side);
    const unit = Math.log1p(Array.from(counts).reduce((most, number) => Math.max(most, number), 1));
    counts.forEach((number, tile) => {
      if (number === 0) return;
      const [row, column] = [Math.floor(tile / side), tile % side];
      const at = 4 * ((side - 1 - row) * side + column);
      const strength = 0.22 + (0.78 * Math.log1p(number)) / unit;
      image.data.set(app.colourOf(app.cut.labels[locals[tile]]), at);
      image.data[at + 3] = 255 * strength * (emphasis && !emphasis.has(locals[tile]) ? 0.15 : 1);
    });
    context.putImageData(image, 0, 0);
    return picture;
  }

  /** Draw the numbers of the clusters, or the picked samples with their climbs and the path between them. */
  drawMarks(pen: Pen): void {
    const { app } = this;
    const { ink, paper } = THEMES[app.theme];
    const path = (samples: number[], dash: number[]): void =>
      outlined((style) => pen.line(samples.map((sample) => this.at(sample)), style), ink, paper, dash); // prettier-ignore
    const ring = (sample: number): void =>
      outlined((style) => pen.circle(...this.at(sample), this.radius() + 4, style), ink, paper);
    path((app.connection?.path ?? []).map((local) => app.model.graph.peaks[local]), [2, 5]); // prettier-ignore
    app.picked.forEach((sample, i) => {
      path(climbOf(app.model, sample), []);
      ring(sample);
      const [x, y] = this.at(sample);
      pill(pen, "AB"[i], [x, y - this.radius() - 17], paper, ink);
    });
    if (app.picked.length === 0) {
      for (const [label, at] of this.numbers()) pill(pen, app.tagOf(label), at, ink, paper, css(app.colourOf(label)));
    }
    if (app.hover.sample >= 0) ring(app.hover.sample);
    if (this.outline.length > 1) {
      pen.line([...this.outline, this.outline[0]], { fill: `${ink}14`, stroke: ink, width: 1.5, dash: [5, 4] });
    }
  }

  /** The positions of the names or numbers of the clusters: the highest peak of each with free space. */
  private numbers(): [label: number, at: Point][] {
    const { app, size } = this;
    const { emphasis, cut } = app;
    const candidates: number[][] = Array.from({ length: Math.min(cut.nClusters, MOST_NUMBERS) }, () => []);
    const add = (sample: number, label: number, stands: boolean): void => {
      if (stands && candidates[label]?.length < MOST_TRIED) candidates[label].push(sample);
    };
    app.model.graph.peaks.forEach((peak, local) => add(peak, app.homeOf(peak), !emphasis || emphasis.has(local)));
    // An edited cluster may contain no peak.
    if (cut.base) cut.samples.forEach((label, i) => add(i, label, !emphasis || app.emphasised === label));
    const hasSpace = spaceForTexts();
    return candidates.flatMap((samples, label) => {
      const isFree = ([x, y]: Point): boolean =>
        x >= 0 && y >= 0 && x <= size.width && y <= size.height && hasSpace(app.tagOf(label), [x, y]);
      const free = samples.map((sample) => this.at(sample)).find(isFree);
      return free ? [[label, free] as [number, Point]] : [];
    });
  }
}

/** Samples within an outline, ascending: a ray from each crosses the outline an odd number of times. */
function samplesWithin(xy: Float32Array, outline: Point[]): Int32Array {
  const within: number[] = [];
  for (let i = 0; 2 * i < xy.length; i++) {
    const [x, y] = [xy[2 * i], xy[2 * i + 1]];
    let inside = false;
    for (let a = 0, b = outline.length - 1; a < outline.length; b = a++) {
      const [[ax, ay], [bx, by]] = [outline[a], outline[b]];
      if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) inside = !inside;
    }
    if (inside) within.push(i);
  }
  return Int32Array.from(within);
}

/** The nearest sample within some pixels, -1 if there is none. Of equal ones the last, which is drawn on top. */
function nearestSample(xy: Float32Array, [x, y]: Point, reach: number, scale: [number, number]): number {
  let [best, shortest] = [-1, reach * reach];
  for (let i = 0; 2 * i < xy.length; i++) {
    const [right, up] = [(xy[2 * i] - x) * scale[0], (xy[2 * i + 1] - y) * scale[1]];
    const distance = right * right + up * up;
    if (distance <= shortest) [best, shortest] = [i, distance];
  }
  return best;
}
