// The right panel: the topo-graph. A node is a local cluster or, in a large graph, a branch of the hierarchy.

import type { App } from "./app";
import { type Size, handleGestures } from "./camera";
import { THEMES, css } from "./colours";
import { byId, count, drawPill, fitCanvas, format, spaceForTexts, strokePath } from "./dom";
import { type Cut, DisjointSets, type Model, firstSplit } from "./model";

/** A graph with more nodes is not readable; it is drawn with fewer nodes, which can be opened. */
const MOST_NODES = 200;
const FEWER_NODES = 120;
/** Parts that a node opens into. */
const PARTS = 12;
/** Links that every node and every pair of clusters keep, besides those that keep the graph connected. */
const STRONGEST = 2;

export interface Node {
  id: number;
  locals: number[];
  size: number;
  label: number;
  /** The local cluster in its middle. */
  middle: number;
}

/** All edges between two nodes. */
export interface Link {
  from: Node;
  to: Node;
  /** The strongest edge, the number of edges, and all their boundary pairs. */
  edge: number;
  edges: number;
  pairs: number;
  kept: boolean;
}

/** A node as a range of the sorted leaves. */
type Range = [start: number, end: number];

/** The topo-graph with a readable number of nodes and links. */
export class CoarseGraph {
  nodes: Node[] = [];
  links: Link[] = [];
  /** The node of every local cluster. */
  readonly nodeOf: Int32Array;
  private labels: Cut["labels"] | null = null;
  /** Leaves of the hierarchy sorted by cluster, where they split, and their accumulated sizes. */
  private leaves: number[] = [];
  private splits: number[] = [];
  private sums: number[] = [];
  readonly opened = new Set<number>();

  constructor(private readonly model: Model) {
    this.nodeOf = new Int32Array(model.nLocal);
  }

  /** Show the parts of a node; return whether there are any. */
  open(node: Node): boolean {
    if (node.locals.length === 1) return false;
    this.opened.add(node.id);
    return true;
  }

  /** Compute nodes and links of a cut, with nodes at the peaks of a view. */
  update(cut: Cut, xy: Float32Array): void {
    const { nLocal } = this.model;
    if (!this.labels || cut.labels.some((label, i) => label !== this.labels![i])) this.sortLeaves(cut);
    const all: Range[] = this.leaves.map((_, i) => [i, i + 1]);
    let ranges =
      nLocal <= MOST_NODES ? all : this.openLargest(this.clusterRanges(), Math.max(FEWER_NODES, cut.nClusters));
    const isOpened = (range: Range): boolean => this.opened.has(this.idOf(range));
    while (ranges.some(isOpened)) {
      ranges = ranges.flatMap((range) => (isOpened(range) ? this.openLargest([range], PARTS) : [range]));
    }
    this.nodes = ranges.map((range) => this.makeNode(range, cut, xy));
    this.nodes.sort((a, b) => b.size - a.size || a.middle - b.middle);
    this.nodes.forEach((node, i) => node.locals.forEach((local) => (this.nodeOf[local] = i)));
    this.links = this.thinOut(this.bundleEdges(cut));
  }

  private sortLeaves({ labels }: Cut): void {
    const { graph } = this.model;
    const labelAt = (at: number): number => labels[graph.leaves[at]];
    const order = [...graph.leaves.keys()].sort((a, b) => labelAt(a) - labelAt(b) || a - b);
    this.labels = labels;
    this.opened.clear();
    this.leaves = order.map((at) => graph.leaves[at]);
    this.splits = order.map((at, i) => {
      if (i === 0 || labelAt(at) !== labelAt(order[i - 1])) return 0;
      return firstSplit(graph, order[i - 1], at);
    });
    this.sums = [0];
    for (const local of this.leaves) this.sums.push(this.sums[this.sums.length - 1] + graph.sizes[local]);
  }

  private clusterRanges(): Range[] {
    const starts = [...this.leaves.keys()].filter((i) => this.splits[i] === 0);
    return starts.map((start, i) => [start, starts[i + 1] ?? this.leaves.length]);
  }

  private idOf([start, end]: Range): number {
    return start * (this.leaves.length + 1) + end;
  }

  /** Split the largest range at its first split of the hierarchy until there are enough. */
  private openLargest(ranges: Range[], wanted: number): Range[] {
    const opened = [...ranges];
    while (opened.length < wanted) {
      let largest = -1;
      const sizeOf = ([start, end]: Range): number => (end - start > 1 ? this.sums[end] - this.sums[start] : -1);
      opened.forEach((range, i) => {
        if (sizeOf(range) > (largest < 0 ? -1 : sizeOf(opened[largest]))) largest = i;
      });
      if (largest < 0) break; // all are local clusters
      const [start, end] = opened[largest];
      let middle = start + 1;
      for (let i = start + 2; i < end; i++) if (this.splits[i] < this.splits[middle]) middle = i;
      opened.splice(largest, 1, [start, middle], [middle, end]);
    }
    return opened;
  }

  private makeNode(range: Range, { labels }: Cut, xy: Float32Array): Node {
    const { peaks, sizes } = this.model.graph;
    const locals = this.leaves.slice(...range);
    let [x, y, size] = [0, 0, 0];
    for (const local of locals) {
      x += sizes[local] * xy[2 * peaks[local]];
      y += sizes[local] * xy[2 * peaks[local] + 1];
      size += sizes[local];
    }
    let [middle, nearest] = [locals[0], Infinity];
    for (const local of locals) {
      const distance = Math.hypot(xy[2 * peaks[local]] - x / size, xy[2 * peaks[local] + 1] - y / size);
      if (distance < nearest) [middle, nearest] = [local, distance];
    }
    return { id: this.idOf(range), locals, size, label: labels[middle], middle };
  }

  /** Combine all edges between two nodes, the strongest links first. */
  private bundleEdges({ labels }: Cut): Link[] {
    const { edges: ends, pairs, order } = this.model.graph;
    const links = new Map<number, Link>();
    for (const edge of order) {
      const [i, j] = [this.nodeOf[ends[2 * edge]], this.nodeOf[ends[2 * edge + 1]]];
      if (i === j) continue;
      const key = Math.min(i, j) * this.nodes.length + Math.max(i, j);
      const link = links.get(key);
      if (link) {
        link.edges += 1;
        link.pairs += pairs[edge];
      } else {
        const kept = labels[ends[2 * edge]] === labels[ends[2 * edge + 1]];
        links.set(key, { from: this.nodes[i], to: this.nodes[j], edge, edges: 1, pairs: pairs[edge], kept });
      }
    }
    return [...links.values()];
  }

  /** Keep a spanning tree and the strongest links: of every node within clusters, of every cluster between them. */
  private thinOut(links: Link[]): Link[] {
    const sets = new DisjointSets(this.nodes.length);
    const counts = new Map<string, number>();
    return links.filter(({ from, to, kept }) => {
      const keys = [from, to].map((node) => (kept ? `node ${node.id}` : `cluster ${node.label}`));
      const connects = sets.join(this.nodeOf[from.middle], this.nodeOf[to.middle]);
      if (!connects && keys.some((key) => (counts.get(key) ?? 0) >= STRONGEST)) return false;
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
      return true;
    });
  }
}

const LINK_WIDTHS = [3, 2, 1.3, 0.8];
const REACH = 8;
const FAINT = 0.25;
/** Share of the panel that all nodes cover. */
const COVERED = 0.06;
const LARGEST_RADIUS = 20;

export class GraphPanel {
  readonly graph: CoarseGraph;
  private size: Size = { width: 1, height: 1 };
  private readonly total: number;
  private stale = true;

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    showTooltip: (left: number, top: number) => void,
  ) {
    this.graph = new CoarseGraph(app.model);
    this.total = Array.from(app.model.graph.sizes).reduce((sum, size) => sum + size, 0);
    app.listen((change) => (this.stale ||= change === "cut" || change === "view"));
    handleGestures(panel, app.camera, () => this.size, {
      hover: (left, top) => {
        const node = this.findNode(left, top, REACH);
        app.point(node ? { node } : { link: this.findLink(left, top) });
        showTooltip(left, top);
      },
      leave: () => app.point({}),
      click: (left, top, shift) => this.choose(this.findNode(left, top, 2 * REACH), shift),
      step: (by) => {
        const { nodes } = this.graph;
        const at = app.hover.node ? nodes.indexOf(app.hover.node) : by > 0 ? -1 : 0;
        app.point({ node: nodes[(at + by + nodes.length) % nodes.length] });
      },
      pick: (shift) => app.hover.node && this.choose(app.hover.node, shift),
    });
    byId("close-nodes").addEventListener("click", () => {
      this.graph.opened.clear();
      this.refresh();
    });
  }

  /** Open a node of several local clusters, or pick the peak of a single one. */
  private choose(node: Node | null, shift: boolean): void {
    if (node && this.graph.open(node)) this.refresh();
    else this.app.pick(node ? this.app.model.graph.peaks[node.middle] : -1, shift);
  }

  private refresh(): void {
    this.stale = true;
    this.app.point({});
    this.app.notify("camera");
  }

  /** The position of a local cluster on the panel. */
  at(local: number): [number, number] {
    const { camera, xy, model } = this.app;
    const peak = model.graph.peaks[local];
    return camera.toScreen(this.size, xy[2 * peak], xy[2 * peak + 1]);
  }

  radius(node: Node): number {
    const area = (COVERED * this.size.width * this.size.height * node.size) / this.total;
    const radius = Math.max(2.5, Math.min(LARGEST_RADIUS, Math.sqrt(area / Math.PI)));
    return radius * Math.min(3, this.app.camera.zoom ** 0.5);
  }

  private findNode(left: number, top: number, reach: number): Node | null {
    let [best, nearest]: [Node | null, number] = [null, reach];
    for (const node of this.graph.nodes) {
      const [x, y] = this.at(node.middle);
      const distance = Math.max(0, Math.hypot(x - left, y - top) - this.radius(node));
      if (distance < nearest || distance === 0) [best, nearest] = [node, distance]; // small nodes are on top
    }
    return best;
  }

  private findLink(left: number, top: number): Link | null {
    const isNear = ({ from, to }: Link): boolean => {
      const [[x, y], [endX, endY]] = [this.at(from.middle), this.at(to.middle)];
      const [dx, dy] = [endX - x, endY - y];
      const along = Math.max(0, Math.min(1, ((left - x) * dx + (top - y) * dy) / (dx * dx + dy * dy || 1)));
      return Math.hypot(x + along * dx - left, y + along * dy - top) < 4;
    };
    return this.graph.links.find(isNear) ?? null;
  }

  draw(ratio: number): void {
    const { app } = this;
    this.size = fitCanvas(this.canvas, ratio);
    if (this.stale) this.update();
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.size.width, this.size.height);
    const emphasis = app.emphasis();
    const { ink } = THEMES[app.theme];
    this.graph.links.forEach((link, rank) => {
      const { width, dash, alpha } = this.linkStyle(link, rank);
      context.globalAlpha = alpha * (emphasis ? 0.4 : 1);
      this.drawLine(context, link.from.middle, link.to.middle, width, dash, ink);
    });
    context.globalAlpha = 1;
    this.drawPath(context);
    for (const node of this.graph.nodes) {
      this.drawNode(context, node, !emphasis || node.locals.some((local) => emphasis.has(local)));
    }
    this.drawMarks(context);
    this.drawNumbers(context);
  }

  private update(): void {
    this.stale = false;
    this.graph.update(this.app.cut, this.app.xy);
    const { nodes, opened } = this.graph;
    const { nLocal } = this.app.model;
    const coarse = nodes.length < nLocal ? ` in ${format(nodes.length)} nodes. Click one to open it.` : "";
    byId("nodes").textContent = count(nLocal, "local cluster") + coarse;
    byId("close-nodes").hidden = opened.size === 0;
  }

  /** Kept links are solid, cut ones dashed, bridges dotted; strong links are wide. */
  linkStyle({ pairs, kept }: Link, rank: number): { width: number; dash: number[]; alpha: number } {
    if (pairs === 0) return { width: 1.4, dash: [1, 4], alpha: 0.6 };
    if (!kept) return { width: 1.1, dash: [5, 4], alpha: 0.55 };
    const step = Math.floor((LINK_WIDTHS.length * rank) / this.graph.links.length);
    return { width: LINK_WIDTHS[step], dash: [], alpha: 0.38 };
  }

  private drawLine(
    context: CanvasRenderingContext2D,
    from: number,
    to: number,
    width: number,
    dash: number[],
    colour: string,
  ): void {
    context.beginPath();
    context.moveTo(...this.at(from));
    context.lineTo(...this.at(to));
    context.setLineDash(dash);
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
    context.setLineDash([]);
  }

  /** Draw the link under the pointer, or the path between two picked samples with its weakest edge. */
  private drawPath(context: CanvasRenderingContext2D): void {
    const { hover, theme, model } = this.app;
    const { ink, warning } = THEMES[theme];
    if (hover.link) {
      const { from, to, kept } = hover.link;
      return this.drawLine(context, from.middle, to.middle, 3.5, kept ? [] : [6, 4], ink);
    }
    const connection = this.app.connection();
    for (const e of connection?.edges ?? []) {
      const [from, to] = [model.graph.edges[2 * e], model.graph.edges[2 * e + 1]];
      const dash = connection!.cut.includes(e) ? [6, 4] : [];
      this.drawLine(context, from, to, 3.5, dash, e === connection!.weakest ? warning : ink);
    }
  }

  private drawNode(context: CanvasRenderingContext2D, node: Node, stands: boolean): void {
    const { paper } = THEMES[this.app.theme];
    context.beginPath();
    context.arc(...this.at(node.middle), this.radius(node), 0, 2 * Math.PI);
    context.fillStyle = paper; // hides the edges behind the node
    context.fill();
    context.fillStyle = css(this.app.colourOf(node.label), stands ? 1 : FAINT);
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = paper;
    context.stroke();
  }

  /** Draw picked nodes and the node under the pointer above all others. */
  private drawMarks(context: CanvasRenderingContext2D): void {
    const { app } = this;
    const nodeOf = (sample: number): Node => this.graph.nodes[this.graph.nodeOf[app.model.samples.local[sample]]];
    const marked = new Set(app.picked.map(nodeOf));
    if (app.hover.sample >= 0) marked.add(nodeOf(app.hover.sample));
    if (app.hover.node) marked.add(app.hover.node);
    for (const node of marked) {
      this.drawNode(context, node, true);
      context.beginPath();
      context.arc(...this.at(node.middle), this.radius(node) + 3, 0, 2 * Math.PI);
      strokePath(context, THEMES[app.theme]);
    }
  }

  /** The largest node of every cluster, which gets its number, if there is space for it. */
  numbered(): Node[] {
    const largest = new Map<number, Node>();
    for (const node of this.graph.nodes) {
      if (node.label >= 0 && !largest.has(node.label)) largest.set(node.label, node);
    }
    const hasSpace = spaceForTexts();
    return [...largest.values()].filter(({ label, middle }) => hasSpace(this.app.tagOf(label), ...this.at(middle)));
  }

  /** Draw the numbers of the clusters, or of the steps of a path. */
  private drawNumbers(context: CanvasRenderingContext2D): void {
    const { ink, paper } = THEMES[this.app.theme];
    const connection = this.app.connection();
    if (!connection) {
      for (const node of this.numbered()) {
        const colour = css(this.app.colourOf(node.label));
        drawPill(context, this.app.tagOf(node.label), ...this.at(node.middle), ink, paper, colour);
      }
      return;
    }
    // The ends and the cut or weakest edges come first, because numbers without space are left out.
    const { path, edges, cut, weakest } = connection;
    const matters = new Set([0, path.length - 1]);
    edges.forEach((e, i) => (cut.includes(e) || e === weakest) && matters.add(i).add(i + 1));
    const steps = [...path.keys()].sort((a, b) => +matters.has(b) - +matters.has(a) || a - b);
    const hasSpace = spaceForTexts();
    for (const i of steps.filter((i) => hasSpace(String(i + 1), ...this.at(path[i])))) {
      drawPill(context, String(i + 1), ...this.at(path[i]), paper, ink);
    }
  }
}
