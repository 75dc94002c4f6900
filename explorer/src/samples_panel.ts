// The left panel: samples drawn by WebGL (or a plain canvas), tiles that count samples, and an overlay of marks.

import type { App } from "./app";
import { type Size, handleGestures } from "./camera";
import { THEMES, css, sampleColours } from "./colours";
import { drawPill, fitCanvas, spaceForTexts, strokePath } from "./dom";
import { type Cut, type Density, climbOf } from "./model";

const REACH = 14;
const MOST_NUMBERS = 80;
/** Peaks of a cluster that are tried as the position of its number. */
const MOST_TRIED = 40;
/** From this size on, tiles are replaced by the samples themselves. */
const TILE_PIXELS = 7;

/** The number of a cluster and its position. */
export interface Badge {
  label: number;
  x: number;
  y: number;
}

export class SamplesPanel {
  readonly points: PointLayer;
  private size: Size = { width: 1, height: 1 };
  private coloured = "";
  private outline: [number, number][] = [];
  private readonly tilePicture = document.createElement("canvas");
  private painted: { key: string; cut: Cut } | null = null;

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    readonly layers: { tiles: HTMLCanvasElement; points: HTMLCanvasElement; overlay: HTMLCanvasElement },
    showTooltip: (left: number, top: number) => void,
  ) {
    const { camera } = app;
    this.points = createPoints(layers.points, app.xy.length / 2);
    this.points.setPositions(app.xy);
    app.listen((change) => {
      if (change === "cut" || change === "colour") this.coloured = "";
      if (change === "view") this.points.setPositions(app.xy);
    });
    const nearest = (left: number, top: number, reach: number): number =>
      nearestSample(app.xy, camera.toPlane(this.size, left, top), reach, camera.scale(this.size));
    handleGestures(panel, camera, () => this.size, {
      hover: (left, top) => {
        app.point({ sample: nearest(left, top, REACH) });
        showTooltip(left, top);
      },
      leave: () => app.point({}),
      click: (left, top, shift) => app.pick(nearest(left, top, 2 * REACH), shift),
      step: (by) => this.step(by),
      pick: (shift) => app.hover.sample >= 0 && app.pick(app.hover.sample, shift),
      isLasso: (event) => app.lassoing || event.shiftKey,
      lasso: (outline, done) => {
        this.outline = done ? [] : outline;
        if (!done) return app.notify("camera");
        const corners = outline.map(([left, top]) => camera.toPlane(this.size, left, top));
        app.select(samplesWithin(app.xy, corners));
      },
    });
  }

  private step(by: number): void {
    const { hover, picked, model, camera, xy } = this.app;
    const from = hover.sample >= 0 ? hover.sample : (picked[picked.length - 1] ?? (by > 0 ? -1 : 0));
    const sample = (from + by + model.nShown) % model.nShown;
    this.app.point({ sample });
    if (!this.isVisible(this.at(sample))) camera.centreOn(xy[2 * sample], xy[2 * sample + 1]);
  }

  /** The position of a sample on the panel. */
  at(sample: number): [number, number] {
    const { camera, xy } = this.app;
    return camera.toScreen(this.size, xy[2 * sample], xy[2 * sample + 1]);
  }

  private isVisible([x, y]: [number, number]): boolean {
    return x >= 0 && y >= 0 && x <= this.size.width && y <= this.size.height;
  }

  radius(): number {
    const base = Math.max(0.9, Math.min(4.5, 100 / Math.sqrt(this.app.model.nShown)));
    return Math.min(8, base * this.app.camera.zoom ** 0.4);
  }

  /** The tiles to draw in place of the samples. They show clusters only. */
  tiles(): Density | null {
    const { view, colourBy, selection, proposal, camera } = this.app;
    if (!view.density || colourBy !== "cluster" || selection || proposal) return null;
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

  /** Draw a share of the samples, and everything else. */
  draw(ratio: number, share: number): void {
    const { app, layers } = this;
    this.size = fitCanvas(layers.points, ratio);
    const key = `emphasis ${app.emphasisKey}`;
    if (this.coloured !== key) this.points.setColours(sampleColours(app));
    this.coloured = key;
    const tiles = this.tiles();
    layers.tiles.hidden = tiles === null;
    if (tiles) this.drawTiles(tiles, ratio);
    this.points.draw(app, this.size, ratio, this.radius(), tiles ? 0 : share);
    this.drawOverlay(this.clear(layers.overlay, ratio));
  }

  private clear(canvas: HTMLCanvasElement, ratio: number): CanvasRenderingContext2D {
    fitCanvas(canvas, ratio);
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    return context;
  }

  private drawTiles(tiles: Density, ratio: number): void {
    const { app, tilePicture } = this;
    const key = `${app.view.name} ${app.emphasisKey}`;
    if (this.painted?.key !== key || this.painted.cut !== app.cut) this.paintTiles(tiles);
    this.painted = { key, cut: app.cut };
    const context = this.clear(this.layers.tiles, ratio);
    const [left, top] = app.camera.toScreen(this.size, -1, 1);
    const [right, bottom] = app.camera.toScreen(this.size, 1, -1);
    context.imageSmoothingEnabled = false;
    context.drawImage(tilePicture, left, top, right - left, bottom - top);
  }

  /** Paint one pixel per tile in the colour of its most frequent cluster, stronger if it has more samples. */
  private paintTiles({ side, counts, locals }: Density): void {
    const { app, tilePicture } = this;
    const emphasis = app.emphasis();
    tilePicture.width = tilePicture.height = side;
    const context = tilePicture.getContext("2d")!;
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
  }

  private drawOverlay(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const { ink, paper } = THEMES[app.theme];
    if (app.picked.length > 0) {
      const path = (app.connection()?.path ?? []).map((local) => app.model.graph.peaks[local]);
      this.drawPath(context, path, [2, 5]);
      app.picked.forEach((sample, i) => {
        this.drawPath(context, climbOf(app.model, sample), []);
        this.drawRing(context, sample);
        const [x, y] = this.at(sample);
        drawPill(context, "AB"[i], x, y - this.radius() - 17, paper, ink);
      });
    } else {
      for (const { label, x, y } of this.badges()) {
        drawPill(context, app.tagOf(label), x, y, ink, paper, css(app.colourOf(label)));
      }
    }
    if (app.hover.sample >= 0) this.drawRing(context, app.hover.sample);
    if (this.outline.length < 2) return;
    context.beginPath();
    for (const corner of this.outline) context.lineTo(...corner);
    context.closePath();
    context.fillStyle = app.theme === "dark" ? "rgb(255 255 255 / 0.08)" : "rgb(0 0 0 / 0.06)";
    context.fill();
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = ink;
    context.stroke();
    context.setLineDash([]);
  }

  private drawRing(context: CanvasRenderingContext2D, sample: number): void {
    context.beginPath();
    context.arc(...this.at(sample), this.radius() + 4, 0, 2 * Math.PI);
    strokePath(context, THEMES[this.app.theme]);
  }

  private drawPath(context: CanvasRenderingContext2D, samples: number[], dash: number[]): void {
    if (samples.length < 2) return;
    context.lineJoin = "round";
    context.beginPath();
    for (const sample of samples) context.lineTo(...this.at(sample));
    strokePath(context, THEMES[this.app.theme], dash);
  }

  /** The name or number of every cluster at its highest peak with free space. */
  badges(): Badge[] {
    const { app } = this;
    const emphasis = app.emphasis();
    const peaks: number[][] = Array.from({ length: Math.min(app.cut.nClusters, MOST_NUMBERS) }, () => []);
    app.cut.labels.forEach((label, local) => {
      const peak = app.model.graph.peaks[local];
      const stands = !emphasis || emphasis.has(local);
      if (peaks[label]?.length < MOST_TRIED && stands && app.homeOf(peak) === label) peaks[label].push(peak);
    });
    if (app.cut.base) {
      // An edited cluster may contain no peak.
      const isShown = (label: number): boolean => !emphasis || app.emphasised === label;
      app.cut.samples.forEach(
        (label, i) => isShown(label) && peaks[label]?.length < MOST_TRIED && peaks[label].push(i),
      );
    }
    const badges: Badge[] = [];
    const hasSpace = spaceForTexts();
    peaks.forEach((samples, label) => {
      const isFree = (at: [number, number]): boolean => this.isVisible(at) && hasSpace(app.tagOf(label), ...at);
      const free = samples.map((sample) => this.at(sample)).find(isFree);
      if (free) badges.push({ label, x: free[0], y: free[1] });
    });
    return badges;
  }
}

/** Samples within an outline, ascending: a ray from each crosses the outline an odd number of times. */
function samplesWithin(xy: Float32Array, outline: [number, number][]): Int32Array {
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
function nearestSample(xy: Float32Array, [x, y]: [number, number], reach: number, scale: [number, number]): number {
  let [best, shortest] = [-1, reach * reach];
  for (let i = 0; 2 * i < xy.length; i++) {
    const [right, up] = [(xy[2 * i] - x) * scale[0], (xy[2 * i + 1] - y) * scale[1]];
    const distance = right * right + up * up;
    if (distance <= shortest) [best, shortest] = [i, distance];
  }
  return best;
}

interface PointLayer {
  readonly webgl: boolean;
  setPositions(xy: Float32Array<ArrayBuffer>): void;
  /** Red, green, blue and alpha of every sample. */
  setColours(colours: Uint8Array<ArrayBuffer>): void;
  /** Draw a share of the samples, spread evenly over them. */
  draw(app: App, size: Size, ratio: number, radius: number, share: number): void;
}

function createPoints(canvas: HTMLCanvasElement, nSamples: number): PointLayer {
  const gl = canvas.getContext("webgl", { antialias: false, alpha: true, depth: false });
  return gl ? new WebGlPoints(canvas, gl, nSamples) : new CanvasPoints(canvas);
}

const VERTEX = `
attribute vec2 position;
attribute vec4 colour;
uniform vec2 centre, scale;
uniform mediump float diameter;
varying vec4 shade;
void main() {
  gl_Position = vec4((position - centre) * scale, 0.0, 1.0);
  gl_PointSize = diameter;
  shade = colour;
}`;

const FRAGMENT = `
precision mediump float;
uniform float diameter;
varying vec4 shade;
void main() {
  float edge = (0.5 - distance(gl_PointCoord, vec2(0.5))) * diameter;
  float alpha = shade.a * (diameter < 2.5 ? 1.0 : clamp(edge + 0.5, 0.0, 1.0));
  gl_FragColor = vec4(shade.rgb * alpha, alpha);
}`;

/** All samples in one draw call. They are stored in an order of which any beginning is spread evenly. */
class WebGlPoints implements PointLayer {
  readonly webgl = true;
  private uniforms!: Record<"centre" | "scale" | "diameter", WebGLUniformLocation | null>;
  private buffers: (WebGLBuffer | null)[] = [];
  private xy: Float32Array<ArrayBuffer> = new Float32Array();
  private colours: Uint8Array<ArrayBuffer> = new Uint8Array();
  private readonly order: Uint32Array;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGLRenderingContext,
    nSamples: number,
  ) {
    const sharesFactor = (a: number, b: number): boolean => (b === 0 ? a > 1 : sharesFactor(b, a % b));
    let step = Math.max(1, Math.round(nSamples * 0.618034)); // the golden ratio spreads best
    while (sharesFactor(nSamples, step) && step > 1) step--;
    this.order = Uint32Array.from({ length: nSamples }, (_, i) => (i * step) % nSamples);
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      this.setPositions(this.xy);
      this.setColours(this.colours);
    });
  }

  private prepare(): void {
    const { gl } = this;
    const program = gl.createProgram()!;
    const shaders: [number, string][] = [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ];
    for (const [kind, source] of shaders) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "position");
    gl.bindAttribLocation(program, 1, "colour");
    gl.linkProgram(program);
    gl.useProgram(program);
    const locate = (name: string): WebGLUniformLocation | null => gl.getUniformLocation(program, name);
    this.uniforms = { centre: locate("centre"), scale: locate("scale"), diameter: locate("diameter") };
    this.buffers = [gl.createBuffer(), gl.createBuffer()];
    this.buffers.forEach((buffer, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(i);
      if (i === 0) gl.vertexAttribPointer(i, 2, gl.FLOAT, false, 0, 0);
      else gl.vertexAttribPointer(i, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  private upload(buffer: number, data: ArrayBufferView<ArrayBuffer>): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[buffer]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
  }

  setPositions(xy: Float32Array<ArrayBuffer>): void {
    this.xy = xy;
    const ordered = new Float32Array(xy.length);
    for (let i = 0; i < ordered.length; i++) ordered[i] = xy[2 * this.order[i >> 1] + (i & 1)];
    this.upload(0, ordered);
  }

  setColours(colours: Uint8Array<ArrayBuffer>): void {
    this.colours = colours;
    const given = new Uint32Array(colours.buffer);
    const ordered = new Uint32Array(given.length);
    for (let i = 0; i < ordered.length; i++) ordered[i] = given[this.order[i]];
    this.upload(1, ordered);
  }

  draw({ camera }: App, size: Size, ratio: number, radius: number, share: number): void {
    const { gl, uniforms, canvas } = this;
    const [right, up] = camera.scale(size);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(uniforms.centre, camera.x, camera.y);
    gl.uniform2f(uniforms.scale, (2 * right) / size.width, (2 * up) / size.height);
    gl.uniform1f(uniforms.diameter, 2 * radius * ratio);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(share * this.order.length));
  }
}

/** Samples without WebGL. */
class CanvasPoints implements PointLayer {
  readonly webgl = false;
  private xy: Float32Array = new Float32Array();
  private colours: Uint8Array = new Uint8Array();

  constructor(private readonly canvas: HTMLCanvasElement) {}

  setPositions(xy: Float32Array): void {
    this.xy = xy;
  }

  setColours(colours: Uint8Array): void {
    this.colours = colours;
  }

  draw({ camera }: App, size: Size, ratio: number, radius: number, share: number): void {
    const { xy, colours } = this;
    const step = share > 0 ? Math.ceil(1 / share) : Infinity;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    for (let i = 0; 2 * i < xy.length && share > 0; i += step) {
      const [x, y] = camera.toScreen(size, xy[2 * i], xy[2 * i + 1]);
      if (x < -radius || y < -radius || x > size.width + radius || y > size.height + radius) continue;
      const [r, g, b, a] = colours.subarray(4 * i, 4 * i + 4);
      context.fillStyle = `rgb(${r} ${g} ${b} / ${a / 255})`;
      context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }
}
