// The right panel: the topo-graph. Nodes are local clusters at their peaks, edges what connects them.

import type { App } from "./app";
import { type Size, listen } from "./camera";
import { fitCanvas } from "./dom";
import { css } from "./palette";

const WIDTHS = [0.7, 1.2, 1.9, 3];
const MOST_CUT = 3000;
const MOST_KEPT = 20000;
const PARTS = 16;
const MANY_NODES = 1500;
const REACH = 8;
const FAINT = 0.25;

interface Stroke {
  path: Path2D;
  width: number;
  dash: number[];
  alpha: number;
  /** Share of the edges that are stronger than all of these. */
  from: number;
}

export class GraphPanel {
  private size: Size = { width: 1, height: 1 };
  /** Edges by strength, the strongest first, and the width of each. */
  private readonly order: number[];
  private readonly width: Uint8Array;
  /** Local clusters, the largest first, so that small ones are drawn on top. */
  private readonly nodes: number[];
  private readonly largest: number;
  private readonly thin: number;
  private drawnCut: Int32Array | null = null;
  private drawnStrokes: Stroke[] = [];

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    readonly canvas: HTMLCanvasElement,
    touched: (left: number, top: number) => void,
  ) {
    const { logWeights, pairs, sizes } = app.model.graph;
    const real = (e: number): number => (pairs[e] > 0 ? 1 : 0);
    this.order = Array.from({ length: pairs.length }, (_, e) => e).sort(
      (a, b) => real(b) - real(a) || logWeights[b] - logWeights[a],
    );
    this.width = new Uint8Array(pairs.length);
    this.order.forEach((e, rank) => {
      this.width[e] = real(e) ? WIDTHS.length - 1 - Math.floor((rank / this.order.length) * WIDTHS.length) : 0;
    });
    this.nodes = Array.from({ length: sizes.length }, (_, i) => i).sort((a, b) => sizes[b] - sizes[a]);
    this.largest = sizes[this.nodes[0]];
    this.thin = Math.max(0.4, Math.min(1, 8 / Math.sqrt(sizes.length)));
    listen(panel, app.camera, () => this.size, {
      hover: (left, top) => {
        this.pointAt(left, top);
        touched(left, top);
      },
      leave: () => app.point({}),
      click: (left, top, second) => {
        const local = this.findNode(left, top, 2 * REACH);
        app.pick(local < 0 ? -1 : app.model.graph.peaks[local], second);
      },
      step: (by) => {
        const { nLocal } = app.model;
        app.point({ local: (app.hover.local + by + nLocal + (app.hover.local < 0 && by < 0 ? 1 : 0)) % nLocal });
      },
      pick: (second) => app.hover.local >= 0 && app.pick(app.model.graph.peaks[app.hover.local], second),
    });
  }

  private pointAt(left: number, top: number): void {
    const local = this.findNode(left, top, REACH);
    if (local >= 0) this.app.point({ local });
    else {
      const edge = this.findEdge(left, top);
      this.app.point(edge < 0 ? {} : { edge });
    }
  }

  /** Where a node is on the panel. */
  at(local: number): [number, number] {
    const { graph, samples } = this.app.model;
    const peak = graph.peaks[local];
    return this.app.camera.toScreen(this.size, samples.place[2 * peak], samples.place[2 * peak + 1]);
  }

  private radius(local: number): number {
    const { nLocal, graph } = this.app.model;
    const base = Math.max(2.5, Math.min(22, 130 / Math.sqrt(nLocal)));
    const share = Math.sqrt(graph.sizes[local] / this.largest);
    return Math.max(Math.min(2.5, base / 2), base * share) * Math.min(4, this.app.camera.zoom ** 0.5);
  }

  private findNode(left: number, top: number, reach: number): number {
    let best = -1;
    let nearest = reach;
    for (let local = 0; local < this.app.model.nLocal; local++) {
      const [x, y] = this.at(local);
      const distance = Math.max(0, Math.hypot(x - left, y - top) - this.radius(local));
      if (distance < nearest || (distance === 0 && best >= 0 && this.radius(local) < this.radius(best))) {
        best = local;
        nearest = distance;
      }
    }
    return best;
  }

  private findEdge(left: number, top: number): number {
    const { edges } = this.app.model.graph;
    for (const e of this.order.slice(0, MOST_CUT)) {
      const [x, y] = this.at(edges[2 * e]);
      const [dx, dy] = [this.at(edges[2 * e + 1])[0] - x, this.at(edges[2 * e + 1])[1] - y];
      const along = Math.max(0, Math.min(1, ((left - x) * dx + (top - y) * dy) / (dx * dx + dy * dy || 1)));
      if (Math.hypot(x + along * dx - left, y + along * dy - top) < 4) return e;
    }
    return -1;
  }

  /** Draw the graph, or the share of it that is largest and strongest. */
  draw(ratio: number, share: number): void {
    this.size = fitCanvas(this.canvas, ratio);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const standsOut = this.app.emphasis();
    this.drawEdges(context, ratio, share, standsOut !== null);
    this.drawWay(context);
    if (this.app.model.nLocal > MANY_NODES) this.drawManyNodes(context, share, standsOut);
    else for (const local of this.nodes) this.drawNode(context, local, !standsOut || standsOut.has(local));
    this.drawMarks(context);
  }

  private ink(alpha = 1): string {
    return this.app.dark ? `rgb(235 239 245 / ${alpha})` : `rgb(17 20 24 / ${alpha})`;
  }

  private paper(): string {
    return this.app.dark ? "#14171c" : "#ffffff";
  }

  /** Edges of one style as one path in the plane, for as long as the cut is the same. */
  private strokes(): Stroke[] {
    const { edges, pairs, peaks } = this.app.model.graph;
    const { place } = this.app.model.samples;
    const { labels } = this.app.cut;
    if (this.drawnCut === labels) return this.drawnStrokes;
    const strokes = new Map<string, Stroke>();
    const drawn = { kept: 0, cut: 0 };
    for (const [rank, e] of this.order.entries()) {
      const kind = labels[edges[2 * e]] === labels[edges[2 * e + 1]] ? "kept" : "cut";
      if (++drawn[kind] > (kind === "kept" ? MOST_KEPT : MOST_CUT)) continue;
      const width = pairs[e] === 0 ? 1.2 : kind === "cut" ? 0.9 : WIDTHS[this.width[e]] * this.thin;
      const dash = pairs[e] === 0 ? [1, 4] : kind === "cut" ? [4, 4] : [];
      const from = Math.floor((PARTS * rank) / this.order.length) / PARTS;
      const key = `${kind} ${width} ${dash} ${from}`;
      const stroke = strokes.get(key) ?? { path: new Path2D(), width, dash, alpha: kind === "cut" ? 0.4 : 0.5, from };
      const [i, j] = [peaks[edges[2 * e]], peaks[edges[2 * e + 1]]];
      stroke.path.moveTo(place[2 * i], place[2 * i + 1]);
      stroke.path.lineTo(place[2 * j], place[2 * j + 1]);
      strokes.set(key, stroke);
    }
    this.drawnCut = labels;
    this.drawnStrokes = [...strokes.values()];
    return this.drawnStrokes;
  }

  /** Kept edges solid, cut ones dashed, bridges dotted. */
  private drawEdges(context: CanvasRenderingContext2D, ratio: number, share: number, dimmed: boolean): void {
    const { camera } = this.app;
    const { width, height } = this.size;
    const scale = camera.scale(this.size);
    const [left, top] = [width / 2 - camera.x * scale, height / 2 + camera.y * scale];
    context.save();
    context.setTransform(ratio * scale, 0, 0, -ratio * scale, ratio * left, ratio * top);
    for (const stroke of this.strokes()) {
      if (stroke.from > share) continue;
      context.setLineDash(stroke.dash.map((length) => length / scale));
      context.lineWidth = stroke.width / scale;
      context.strokeStyle = this.ink(stroke.alpha * (dimmed ? 0.4 : 1));
      context.stroke(stroke.path);
    }
    context.restore();
  }

  private line(context: CanvasRenderingContext2D, e: number): void {
    const { edges } = this.app.model.graph;
    context.moveTo(...this.at(edges[2 * e]));
    context.lineTo(...this.at(edges[2 * e + 1]));
  }

  /** The way between two picked samples, with its weakest edge; or the edge under the pointer. */
  private drawWay(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const pair = app.pair();
    const way = app.hover.edge >= 0 ? [app.hover.edge] : (pair?.edges ?? []);
    for (const e of way) {
      context.beginPath();
      this.line(context, e);
      context.setLineDash(pair?.cut.includes(e) ? [6, 4] : []);
      context.lineWidth = 3.5;
      context.strokeStyle = e === pair?.weakest ? (app.dark ? "#ff8a5c" : "#c23b00") : this.ink();
      context.stroke();
    }
    context.setLineDash([]);
  }

  private disc(context: CanvasRenderingContext2D, local: number, more = 0): void {
    const [x, y] = this.at(local);
    const radius = this.radius(local) + more;
    if (x < -radius || y < -radius || x > this.size.width + radius || y > this.size.height + radius) return;
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }

  private drawNode(context: CanvasRenderingContext2D, local: number, out: boolean): void {
    const { app } = this;
    context.beginPath();
    this.disc(context, local);
    context.fillStyle = this.paper(); // edges end at the node, not in it
    context.fill();
    context.fillStyle = css(app.colourOf(app.cut.labels[local]), out ? 1 : FAINT);
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = this.paper();
    context.stroke();
  }

  /** All nodes of one colour in one path: faster, but without an outline of each. */
  private drawManyNodes(context: CanvasRenderingContext2D, share: number, standsOut: Set<number> | null): void {
    const groups = new Map<string, number[]>();
    const { labels } = this.app.cut;
    const styles = this.app.slots.map((_, label) => [FAINT, 1].map((alpha) => css(this.app.colourOf(label), alpha)));
    for (const local of this.nodes.slice(0, Math.ceil(share * this.nodes.length))) {
      const style = styles[labels[local]][!standsOut || standsOut.has(local) ? 1 : 0];
      if (!groups.has(style)) groups.set(style, []);
      groups.get(style)!.push(local);
    }
    for (const [style, locals] of groups) {
      context.beginPath();
      for (const local of locals) this.disc(context, local);
      context.fillStyle = style;
      context.fill();
    }
  }

  /** Picked nodes and the one under the pointer, on top of all others. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const marked = new Set(app.picked.map((sample) => app.model.samples.local[sample]));
    if (app.hover.local >= 0) marked.add(app.hover.local);
    for (const local of marked) {
      this.drawNode(context, local, true);
      for (const [more, width, colour] of [
        [3, 5, this.paper()],
        [3, 2, this.ink()],
      ] as const) {
        context.beginPath();
        this.disc(context, local, more);
        context.lineWidth = width;
        context.strokeStyle = colour;
        context.stroke();
      }
    }
  }
}
