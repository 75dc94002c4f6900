// The right panel: the topo-graph. Nodes are local clusters, or many of them at once; edges are what connects them.

import type { App } from "./app";
import { type Size, listen } from "./camera";
import { CoarseGraph, type Link, type Node } from "./coarse";
import { byId, count, fitCanvas, format } from "./dom";
import { css } from "./palette";

const WIDTHS = [0.8, 1.3, 2, 3];
const REACH = 8;
const FAINT = 0.25;
const MOST_NUMBERS = 40;
/** Share of the panel that all nodes cover together. */
const COVERED = 0.06;
const LARGEST = 20;

export interface LinkStyle {
  width: number;
  dash: number[];
  alpha: number;
}

export class GraphPanel {
  private size: Size = { width: 1, height: 1 };
  readonly graph: CoarseGraph;
  private readonly total: number;
  private stale = true;

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    readonly canvas: HTMLCanvasElement,
    touched: (left: number, top: number) => void,
  ) {
    const { logWeights, pairs, sizes } = app.model.graph;
    const real = (e: number): number => (pairs[e] > 0 ? 1 : 0);
    const order = Array.from({ length: pairs.length }, (_, e) => e).sort(
      (a, b) => real(b) - real(a) || logWeights[b] - logWeights[a],
    );
    this.graph = new CoarseGraph(app.model, order);
    this.total = sizes.reduce((sum, size) => sum + size, 0);
    app.listen((change) => (this.stale ||= change === "cut" || change === "places"));
    listen(panel, app.camera, () => this.size, {
      hover: (left, top) => {
        this.pointAt(left, top);
        touched(left, top);
      },
      leave: () => app.point({}),
      click: (left, top, second) => this.choose(this.findNode(left, top, 2 * REACH), second),
      step: (by) => {
        const { nodes } = this.graph;
        const at = app.hover.node ? nodes.indexOf(app.hover.node) : by > 0 ? -1 : 0;
        app.point({ node: nodes[(at + by + nodes.length) % nodes.length] });
      },
      pick: (second) => app.hover.node && this.choose(app.hover.node, second),
    });
    byId("close-nodes").addEventListener("click", () => {
      this.graph.closeAll();
      this.refresh();
    });
  }

  /** Open a node of many local clusters; a single one is explained by its peak. */
  private choose(node: Node | null, second: boolean): void {
    if (node && this.graph.open(node) && !this.graph.complete) this.refresh();
    else this.app.pick(node ? this.app.model.graph.peaks[node.middle] : -1, second);
  }

  private refresh(): void {
    this.stale = true;
    this.app.point({});
    this.app.tell("view");
  }

  private pointAt(left: number, top: number): void {
    const node = this.findNode(left, top, REACH);
    this.app.point(node ? { node } : { link: this.findLink(left, top) });
  }

  /** Where a local cluster is on the panel. */
  at(local: number): [number, number] {
    const peak = this.app.model.graph.peaks[local];
    return this.app.camera.toScreen(this.size, this.app.place[2 * peak], this.app.place[2 * peak + 1]);
  }

  radius(node: Node): number {
    const area = (COVERED * this.size.width * this.size.height * node.size) / this.total;
    const zoomed = Math.min(3, this.app.camera.zoom ** 0.5);
    return Math.max(2.5, Math.min(LARGEST, Math.sqrt(area / Math.PI))) * zoomed;
  }

  private findNode(left: number, top: number, reach: number): Node | null {
    let best: Node | null = null;
    let nearest = reach;
    for (const node of this.graph.nodes) {
      const [x, y] = this.at(node.middle);
      const distance = Math.max(0, Math.hypot(x - left, y - top) - this.radius(node));
      if (distance < nearest || distance === 0) [best, nearest] = [node, distance]; // the smallest is drawn on top
    }
    return best;
  }

  private findLink(left: number, top: number): Link | null {
    for (const link of this.graph.links) {
      const [x, y] = this.at(link.from.middle);
      const [endX, endY] = this.at(link.to.middle);
      const [dx, dy] = [endX - x, endY - y];
      const along = Math.max(0, Math.min(1, ((left - x) * dx + (top - y) * dy) / (dx * dx + dy * dy || 1)));
      if (Math.hypot(x + along * dx - left, y + along * dy - top) < 4) return link;
    }
    return null;
  }

  /** Bring nodes and edges up to the cut and the places. */
  private update(): void {
    if (!this.stale) return;
    this.stale = false;
    this.graph.update(this.app.cut, this.app.place);
    const { nLocal } = this.app.model;
    const { nodes, complete, nOpened } = this.graph;
    const many = `${format(nodes.length)} nodes stand for ${count(nLocal, "local cluster")}. Click one to open it.`;
    byId("nodes").textContent = complete ? "" : many;
    byId("close-nodes").hidden = nOpened === 0;
  }

  draw(ratio: number): void {
    this.size = fitCanvas(this.canvas, ratio);
    this.update();
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const standsOut = this.app.emphasis();
    this.graph.links.forEach((link, rank) => this.drawLink(context, link, this.style(link, rank), standsOut !== null));
    this.drawWay(context);
    for (const node of this.graph.nodes) {
      this.drawNode(context, node, !standsOut || node.locals.some((local) => standsOut.has(local)));
    }
    this.drawMarks(context);
    if (!this.app.pair()) for (const node of this.numbered()) this.drawNumber(context, node);
    this.drawSteps(context);
  }

  private ink(alpha = 1): string {
    return this.app.dark ? `rgb(235 239 245 / ${alpha})` : `rgb(17 20 24 / ${alpha})`;
  }

  private paper(): string {
    return this.app.dark ? "#14171c" : "#ffffff";
  }

  /** Kept edges solid, cut ones dashed, bridges dotted; the strongest are the widest. */
  style(link: Link, rank: number): LinkStyle {
    if (link.pairs === 0) return { width: 1.4, dash: [1, 4], alpha: 0.6 };
    if (!link.kept) return { width: 1.1, dash: [5, 4], alpha: 0.55 };
    const step = Math.floor((WIDTHS.length * rank) / Math.max(1, this.graph.links.length));
    return { width: WIDTHS[WIDTHS.length - 1 - step], dash: [], alpha: 0.38 };
  }

  private drawLink(context: CanvasRenderingContext2D, link: Link, style: LinkStyle, dimmed: boolean): void {
    context.beginPath();
    context.moveTo(...this.at(link.from.middle));
    context.lineTo(...this.at(link.to.middle));
    context.setLineDash(style.dash);
    context.lineWidth = style.width;
    context.strokeStyle = this.ink(style.alpha * (dimmed ? 0.4 : 1));
    context.stroke();
    context.setLineDash([]);
  }

  /** The way between two picked samples, with its weakest edge; or the edge under the pointer. */
  private drawWay(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const { edges } = app.model.graph;
    const pair = app.pair();
    const ends = (e: number): [number, number] => [edges[2 * e], edges[2 * e + 1]];
    const hovered = app.hover.link;
    const way = hovered ? [] : (pair?.edges ?? []);
    const lines = way.map((e) => ({ ends: ends(e), cut: pair!.cut.includes(e), weakest: e === pair!.weakest }));
    if (hovered) lines.push({ ends: [hovered.from.middle, hovered.to.middle], cut: !hovered.kept, weakest: false });
    for (const line of lines) {
      context.beginPath();
      context.moveTo(...this.at(line.ends[0]));
      context.lineTo(...this.at(line.ends[1]));
      context.setLineDash(line.cut ? [6, 4] : []);
      context.lineWidth = 3.5;
      context.strokeStyle = line.weakest ? (app.dark ? "#ff8a5c" : "#c23b00") : this.ink();
      context.stroke();
    }
    context.setLineDash([]);
  }

  private disc(context: CanvasRenderingContext2D, node: Node, more = 0): boolean {
    const [x, y] = this.at(node.middle);
    const radius = this.radius(node) + more;
    if (x < -radius || y < -radius || x > this.size.width + radius || y > this.size.height + radius) return false;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    return true;
  }

  private drawNode(context: CanvasRenderingContext2D, node: Node, out: boolean): void {
    if (!this.disc(context, node)) return;
    context.fillStyle = this.paper(); // edges end at the node, not in it
    context.fill();
    context.fillStyle = css(this.app.colourOf(node.label), out ? 1 : FAINT);
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = this.paper();
    context.stroke();
  }

  /** The largest node of every cluster that is shown, which has its number; not of very many. */
  numbered(): Node[] {
    const found = new Map<number, Node>();
    for (const node of this.graph.nodes) if (!found.has(node.label)) found.set(node.label, node);
    return found.size <= MOST_NUMBERS ? [...found.values()] : [];
  }

  private drawNumber(context: CanvasRenderingContext2D, node: Node): void {
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const [x, y] = this.at(node.middle);
    context.beginPath();
    context.roundRect(x - 8, y - 8, 16, 16, 8);
    context.fillStyle = this.paper();
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = css(this.app.colourOf(node.label));
    context.stroke();
    context.fillStyle = this.ink();
    context.fillText(String(node.label), x, y + 0.5);
  }

  /** Picked nodes and the one under the pointer, on top of all others. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const { nodes, nodeOf } = this.graph;
    const marked = new Set(app.picked.map((sample) => nodes[nodeOf[app.model.samples.local[sample]]]));
    if (app.hover.sample >= 0) marked.add(nodes[nodeOf[app.model.samples.local[app.hover.sample]]]);
    if (app.hover.node) marked.add(app.hover.node);
    for (const node of marked) {
      this.drawNode(context, node, true);
      for (const [width, colour] of [
        [5, this.paper()],
        [2, this.ink()],
      ] as const) {
        if (!this.disc(context, node, 3)) continue;
        context.lineWidth = width;
        context.strokeStyle = colour;
        context.stroke();
      }
    }
  }

  /** The local clusters on the way between two samples: its ends and where it is cut first, then the others. */
  private steps(): [number, number][] {
    const pair = this.app.pair();
    if (!pair) return [];
    const matters = new Set([0, pair.path.length - 1]);
    pair.edges.forEach((e, i) => {
      if (pair.cut.includes(e) || e === pair.weakest) matters.add(i).add(i + 1);
    });
    const steps = [...pair.path.entries()];
    return [...steps.filter(([i]) => matters.has(i)), ...steps.filter(([i]) => !matters.has(i))];
  }

  /** Their numbers, where there is room. */
  private drawSteps(context: CanvasRenderingContext2D): void {
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const taken: [number, number][] = [];
    for (const [i, local] of this.steps()) {
      const [x, y] = this.at(local);
      if (taken.some(([a, b]) => Math.abs(a - x) < 22 && Math.abs(b - y) < 16)) continue;
      taken.push([x, y]);
      const width = i < 9 ? 16 : 22;
      context.beginPath();
      context.roundRect(x - width / 2, y - 8, width, 16, 8);
      context.fillStyle = this.ink();
      context.fill();
      context.fillStyle = this.paper();
      context.fillText(String(i + 1), x, y + 0.5);
    }
  }
}
