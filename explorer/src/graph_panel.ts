// The right panel: the topo-graph. A node is a local cluster or, in a large graph, a branch of the hierarchy.

import type { App } from "./app";
import { type Size, handleGestures } from "./camera";
import { THEMES, css } from "./colours";
import { byId, count, format } from "./dom";
import { DisjointSets } from "./model";
import { CanvasPen, type Pen, type Point, type Style, clearCanvas, outlined, pill, sizeOf, spaceForTexts } from "./pen";

/** More nodes are not readable. A larger graph is drawn with so many branches, three times as many at twice the zoom. */
const MOST_NODES = 200;
/** Links that every node and every pair of clusters keep, besides those that keep the graph connected. */
const STRONGEST = 2;
const LINK_WIDTHS = [3, 2, 1.3, 0.8];
const REACH = 8;
const FAINT = 0.25;
/** Share of the panel that all nodes cover. */
const COVERED = 0.06;
const LARGEST_RADIUS = 20;

export interface Node {
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

export class GraphPanel {
  nodes: Node[] = [];
  links: Link[] = [];
  /** The node of every local cluster. */
  private readonly nodeOf: Node[] = [];
  private size: Size = { width: 1, height: 1 };
  private nBranches = 0;

  constructor(
    private readonly app: App,
    panel: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    showTooltip: (left: number, top: number) => void,
  ) {
    app.listen((change) => {
      if (change === "cut" || change === "view") this.nBranches = 0;
    });
    handleGestures(panel, app.camera, () => this.size, {
      hover: (left, top) => {
        const node = this.findNode(left, top, REACH);
        app.point(node ? { node } : { link: this.findLink(left, top) });
        showTooltip(left, top);
      },
      leave: () => app.point({}),
      click: (left, top) => {
        const node = this.findNode(left, top, 2 * REACH);
        app.pick(node ? app.model.graph.peaks[node.middle] : -1);
      },
    });
  }

  /** Compute nodes and links if the cut, the view or the number of branches has changed. */
  private update(): void {
    const { model, cut, camera } = this.app;
    const { leaves, splits } = model.graph;
    const zoomed = Math.floor(Math.log2(Math.max(1, camera.zoom)));
    const nBranches = model.nLocal <= MOST_NODES ? model.nLocal : Math.min(model.nLocal, MOST_NODES * 3 ** zoomed);
    if (nBranches === this.nBranches) return;
    this.nBranches = nBranches;
    const branches = new Map<string, number[]>(); // divided by clusters, which need not follow the hierarchy
    let branch = 0;
    leaves.forEach((local, i) => {
      branch += +(splits[i] <= nBranches);
      const key = `${branch} ${cut.labels[local]}`;
      if (!branches.has(key)) branches.set(key, []);
      branches.get(key)!.push(local);
    });
    this.nodes = [...branches.values()].map((locals) => this.makeNode(locals));
    this.nodes.sort((a, b) => b.size - a.size || a.middle - b.middle);
    for (const node of this.nodes) for (const local of node.locals) this.nodeOf[local] = node;
    this.links = this.thinOut(this.bundleEdges());
    const coarse = this.nodes.length < model.nLocal ? ` in ${format(this.nodes.length)} nodes. Zoom in for more.` : "";
    byId("nodes").textContent = count(model.nLocal, "local cluster") + coarse;
  }

  private makeNode(locals: number[]): Node {
    const { model, cut, xy } = this.app;
    const { peaks, sizes } = model.graph;
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
    return { locals, size, label: cut.labels[middle], middle };
  }

  /** Combine all edges between two nodes, the strongest links first. */
  private bundleEdges(): Link[] {
    const { edges: ends, pairs, order } = this.app.model.graph;
    const { labels } = this.app.cut;
    const links = new Map<number, Link>();
    const positions = new Map(this.nodes.map((node, i) => [node, i]));
    for (const edge of order) {
      const [from, to] = [this.nodeOf[ends[2 * edge]], this.nodeOf[ends[2 * edge + 1]]];
      if (from === to) continue;
      const [i, j] = [positions.get(from)!, positions.get(to)!];
      const key = Math.min(i, j) * this.nodes.length + Math.max(i, j);
      const link = links.get(key);
      if (link) {
        link.edges += 1;
        link.pairs += pairs[edge];
      } else {
        const kept = labels[ends[2 * edge]] === labels[ends[2 * edge + 1]];
        links.set(key, { from, to, edge, edges: 1, pairs: pairs[edge], kept });
      }
    }
    return [...links.values()];
  }

  /** Keep a spanning tree and the strongest links: of every node within clusters, of every cluster between them. */
  private thinOut(links: Link[]): Link[] {
    const sets = new DisjointSets(this.app.model.nLocal);
    const counts = new Map<string, number>();
    return links.filter(({ from, to, kept }) => {
      const keys = [from, to].map((node) => (kept ? `node ${node.middle}` : `cluster ${node.label}`));
      const connects = sets.join(from.middle, to.middle);
      if (!connects && keys.some((key) => (counts.get(key) ?? 0) >= STRONGEST)) return false;
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
      return true;
    });
  }

  /** The position of a local cluster on the panel. */
  at(local: number): Point {
    const { camera, xy, model } = this.app;
    const peak = model.graph.peaks[local];
    return camera.toScreen(this.size, xy[2 * peak], xy[2 * peak + 1]);
  }

  private radius(node: Node): number {
    const area = (COVERED * this.size.width * this.size.height * node.size) / this.app.model.nSamples;
    const radius = Math.max(2.5, Math.min(LARGEST_RADIUS, Math.sqrt(area / Math.PI)));
    return radius * Math.min(3, this.app.camera.zoom ** 0.5);
  }

  private findNode(left: number, top: number, reach: number): Node | null {
    let [best, nearest]: [Node | null, number] = [null, reach];
    for (const node of this.nodes) {
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
    return this.links.find(isNear) ?? null;
  }

  draw(ratio: number): void {
    this.size = sizeOf(this.canvas);
    this.update();
    this.drawGraph(new CanvasPen(clearCanvas(this.canvas, this.size, ratio)));
  }

  drawGraph(pen: Pen): void {
    const { app } = this;
    const { emphasis, hover, model } = app;
    const { ink, paper, warning } = THEMES[app.theme];
    const drawLine = (from: number, to: number, style: Style): void => pen.line([this.at(from), this.at(to)], style);
    this.links.forEach((link, rank) => {
      const style = this.linkStyle(link, rank);
      drawLine(link.from.middle, link.to.middle, { ...style, stroke: ink, alpha: style.alpha! * (emphasis ? 0.4 : 1) });
    });
    if (hover.link) {
      const { from, to, kept } = hover.link;
      drawLine(from.middle, to.middle, { stroke: ink, width: 3.5, dash: kept ? [] : [6, 4] });
    }
    for (const e of app.connection?.edges ?? []) {
      const { cut, weakest } = app.connection!;
      const style = { stroke: e === weakest ? warning : ink, width: 3.5, dash: cut.includes(e) ? [6, 4] : [] };
      drawLine(model.graph.edges[2 * e], model.graph.edges[2 * e + 1], style);
    }
    const drawNode = (node: Node, stands: boolean): void => {
      const [x, y] = this.at(node.middle);
      pen.circle(x, y, this.radius(node), { fill: paper }); // hides the edges behind the node
      const fill = css(app.colourOf(node.label));
      pen.circle(x, y, this.radius(node), { fill, stroke: paper, alpha: stands ? 1 : FAINT });
    };
    for (const node of this.nodes) drawNode(node, !emphasis || node.locals.some((local) => emphasis.has(local)));
    const marked = new Set(app.picked.map((sample) => this.nodeOf[model.samples.local[sample]]));
    if (hover.sample >= 0) marked.add(this.nodeOf[model.samples.local[hover.sample]]);
    if (hover.node) marked.add(hover.node);
    for (const node of marked) {
      drawNode(node, true);
      outlined((style) => pen.circle(...this.at(node.middle), this.radius(node) + 3, style), ink, paper);
    }
    this.drawNumbers(pen);
  }

  /** Kept links are solid, cut ones dashed, bridges dotted; strong links are wide. */
  private linkStyle({ pairs, kept }: Link, rank: number): Style {
    if (pairs === 0) return { width: 1.4, dash: [1, 4], alpha: 0.6 };
    if (!kept) return { width: 1.1, dash: [5, 4], alpha: 0.55 };
    return { width: LINK_WIDTHS[Math.floor((LINK_WIDTHS.length * rank) / this.links.length)], alpha: 0.38 };
  }

  /** Draw the numbers of the clusters at their largest nodes, or those of the steps of a path, if there is space. */
  private drawNumbers(pen: Pen): void {
    const { app } = this;
    const { ink, paper } = THEMES[app.theme];
    const hasSpace = spaceForTexts();
    if (!app.connection) {
      const largest = new Map<number, Node>();
      for (const node of this.nodes) if (node.label >= 0 && !largest.has(node.label)) largest.set(node.label, node);
      for (const [label, { middle }] of largest) {
        const [name, at] = [app.tagOf(label), this.at(middle)];
        if (hasSpace(name, at)) pill(pen, name, at, ink, paper, css(app.colourOf(label)));
      }
      return;
    }
    // The ends and the cut or weakest edges come first.
    const { path, edges, cut, weakest } = app.connection;
    const matters = new Set([0, path.length - 1]);
    edges.forEach((e, i) => (cut.includes(e) || e === weakest) && matters.add(i).add(i + 1));
    const steps = [...path.keys()].sort((a, b) => +matters.has(b) - +matters.has(a) || a - b);
    for (const i of steps)
      if (hasSpace(String(i + 1), this.at(path[i]))) pill(pen, String(i + 1), this.at(path[i]), paper, ink);
  }
}
