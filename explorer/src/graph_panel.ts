// The right panel: the topo-graph. Nodes are local clusters at their peaks, edges what connects them.

import type { App } from "./app";
import { type Size, listen } from "./camera";
import { fitCanvas } from "./dom";
import { css } from "./palette";

const WIDTHS = [0.7, 1.3, 2.2, 3.6];
const MOST_CUT = 3000;
const MOST_KEPT = 20000;
const REACH = 8;

export class GraphPanel {
  private size: Size = { width: 1, height: 1 };
  /** Edges by strength, the strongest first, and the width of each. */
  private readonly order: number[];
  private readonly width: Uint8Array;
  /** Local clusters, the largest first, so that small ones are drawn on top. */
  private readonly nodes: number[];
  private readonly largest: number;

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
    const base = Math.max(5, Math.min(22, 110 / Math.sqrt(nLocal)));
    const share = Math.sqrt(graph.sizes[local] / this.largest);
    return Math.max(2.5, base * share * Math.min(3, this.app.camera.zoom ** 0.5));
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

  draw(ratio: number): void {
    this.size = fitCanvas(this.canvas, ratio);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const standsOut = this.app.emphasis();
    this.drawEdges(context, standsOut !== null);
    this.drawWay(context);
    this.drawNodes(context, standsOut);
  }

  private ink(alpha = 1): string {
    return this.app.dark ? `rgb(235 239 245 / ${alpha})` : `rgb(17 20 24 / ${alpha})`;
  }

  private line(context: CanvasRenderingContext2D, e: number): void {
    const { edges } = this.app.model.graph;
    context.moveTo(...this.at(edges[2 * e]));
    context.lineTo(...this.at(edges[2 * e + 1]));
  }

  /** Kept edges solid, cut ones dashed, bridges dotted; all of one width in one stroke. */
  private drawEdges(context: CanvasRenderingContext2D, dimmed: boolean): void {
    const { edges, pairs } = this.app.model.graph;
    const { labels } = this.app.cut;
    const groups = new Map<string, number[]>();
    const drawn = { kept: 0, cut: 0 };
    for (const e of this.order) {
      const kind = labels[edges[2 * e]] === labels[edges[2 * e + 1]] ? "kept" : "cut";
      if (++drawn[kind] > (kind === "kept" ? MOST_KEPT : MOST_CUT)) continue;
      const key = `${kind} ${pairs[e] > 0 ? this.width[e] : "bridge"}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key)!.push(e);
    }
    for (const [key, members] of groups) {
      const [kind, width] = key.split(" ");
      context.beginPath();
      for (const e of members) this.line(context, e);
      context.setLineDash(width === "bridge" ? [1, 4] : kind === "cut" ? [4, 4] : []);
      context.lineWidth = width === "bridge" ? 1.2 : kind === "cut" ? 1 : WIDTHS[Number(width)];
      context.strokeStyle = this.ink((kind === "cut" ? 0.38 : 0.55) * (dimmed ? 0.35 : 1));
      context.stroke();
    }
    context.setLineDash([]);
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

  private drawNodes(context: CanvasRenderingContext2D, standsOut: ((local: number) => boolean) | null): void {
    const { app } = this;
    const picked = new Set(app.picked.map((sample) => app.model.samples.local[sample]));
    const marked = (local: number): boolean => picked.has(local) || app.hover.local === local;
    for (const local of [...this.nodes.filter((i) => !marked(i)), ...this.nodes.filter(marked)]) {
      const [x, y] = this.at(local);
      const radius = this.radius(local);
      if (x < -radius || y < -radius || x > this.size.width + radius || y > this.size.height + radius) continue;
      const out = !standsOut || standsOut(local);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fillStyle = app.dark ? "#14171c" : "#ffffff"; // edges end at the node, not in it
      context.fill();
      context.fillStyle = css(app.colourOf(app.cut.labels[local]), out ? 1 : 0.25);
      context.fill();
      context.lineWidth = marked(local) ? 2 : 1;
      context.strokeStyle = marked(local) ? this.ink() : app.dark ? "#14171c" : "#ffffff";
      context.stroke();
      if (marked(local)) {
        context.beginPath();
        context.arc(x, y, radius + 4, 0, 2 * Math.PI);
        context.lineWidth = 2;
        context.stroke();
      }
    }
  }
}
