// Many more samples than can be drawn: how many of all of them lie in each tile, as a picture below the points.

import type { App } from "./app";
import type { Size } from "./camera";
import type { Cut } from "./cut";
import { fitCanvas } from "./dom";
import type { Density } from "./payload";

/** From this size on, tiles give way to the samples themselves. */
const TILE_PIXELS = 7;

export class DensityLayer {
  private readonly picture = document.createElement("canvas");
  private drawn = "";
  private cut: Cut | null = null;

  constructor(
    private readonly app: App,
    readonly canvas: HTMLCanvasElement,
  ) {}

  /** Tiles show clusters; other colours are those of samples. */
  private get tiles(): Density | null {
    const plain = this.app.colourBy === "cluster" && !this.app.selection;
    return plain ? this.app.view.density : null;
  }

  /** Whether tiles are drawn in place of samples. */
  replaces(size: Size): boolean {
    const { tiles } = this;
    if (!tiles) return false;
    const [right, up] = this.app.camera.scale(size);
    return Math.max(right, up) * (2 / tiles.side) < TILE_PIXELS;
  }

  /** How many of all samples lie in the tile of a place; -1 where there are no tiles. */
  countAt(x: number, y: number): number {
    const { density } = this.app.view;
    if (!density) return -1;
    const [column, row] = [x, y].map((value) =>
      Math.max(0, Math.min(density.side - 1, Math.floor(((value + 1) / 2) * density.side))),
    );
    return density.counts[row * density.side + column];
  }

  draw(size: Size, ratio: number): void {
    this.canvas.hidden = !this.replaces(size);
    if (this.canvas.hidden) return;
    fitCanvas(this.canvas, ratio);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    this.paint(this.tiles!);
    const { camera } = this.app;
    const [left, top] = camera.toScreen(size, -1, 1);
    const [right, bottom] = camera.toScreen(size, 1, -1);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.picture, left, top, right - left, bottom - top);
  }

  /** One pixel per tile: the colour of the cluster that most of its samples are in, the stronger the more there are. */
  private paint({ side, counts, locals }: Density): void {
    const { app } = this;
    const out = app.emphasis();
    const key = `${app.view.name} ${app.emphasisKey}`;
    if (this.drawn === key && this.cut === app.cut) return;
    [this.drawn, this.cut] = [key, app.cut];
    this.picture.width = this.picture.height = side;
    const context = this.picture.getContext("2d")!;
    const image = context.createImageData(side, side);
    let most = 1;
    for (const number of counts) most = Math.max(most, number);
    const unit = Math.log1p(most);
    const colours = app.slots.map((_, label) => app.colourOf(label));
    for (let row = 0; row < side; row++) {
      for (let column = 0; column < side; column++) {
        const tile = row * side + column;
        if (counts[tile] === 0) continue;
        const local = locals[tile];
        const at = 4 * ((side - 1 - row) * side + column);
        image.data.set(colours[app.cut.labels[local]], at);
        const strength = 0.22 + (0.78 * Math.log1p(counts[tile])) / unit;
        image.data[at + 3] = 255 * strength * (out && !out.has(local) ? 0.15 : 1);
      }
    }
    context.putImageData(image, 0, 0);
  }
}
