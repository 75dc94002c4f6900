// The topo-graph so that it can be read: at most some 200 nodes, which are local clusters or branches of the hierarchy,
// and of the edges between them those that carry the structure.

import type { Cut } from "./cut";
import type { Graph, Model } from "./payload";
import { everyoneAlone, find, union } from "./unions";

/** More nodes than this cannot be read; then there are fewer, to be opened. */
const MOST_NODES = 200;
const FEWER_NODES = 120;
/** Parts that a node opens into. */
const PARTS = 12;
/** Edges that every node keeps, and cut ones that every cluster keeps, beside those that hold the graph together. */
const STRONGEST = 2;

export interface Node {
  /** Its number in the tree of merges: below the number of local clusters, one of them. */
  id: number;
  locals: number[];
  size: number;
  label: number;
  /** The local cluster in the middle of it. */
  middle: number;
}

export interface Link {
  from: Node;
  to: Node;
  /** The strongest of its edges, how many there are, and all their boundary pairs. */
  edge: number;
  edges: number;
  pairs: number;
  kept: boolean;
}

/** The binary tree of merges inside the clusters of a cut; a node beyond the local clusters has two children. */
class Tree {
  readonly children: Int32Array;
  readonly sizes: Float64Array;
  readonly roots: number[];

  constructor(graph: Graph, labels: Int32Array, order: ArrayLike<number>) {
    const m = graph.sizes.length;
    this.children = new Int32Array(4 * m).fill(-1);
    this.sizes = new Float64Array(2 * m);
    this.sizes.set(graph.sizes);
    const root = everyoneAlone(m);
    const top = everyoneAlone(m);
    let next = m;
    for (let t = 0; t < order.length; t++) {
      const ends = [graph.edges[2 * order[t]], graph.edges[2 * order[t] + 1]];
      const [i, j] = [find(root, ends[0]), find(root, ends[1])];
      if (i === j || labels[ends[0]] !== labels[ends[1]]) continue;
      this.children.set([top[i], top[j]], 2 * next);
      this.sizes[next] = this.sizes[top[i]] + this.sizes[top[j]];
      top[union(root, i, j)] = next++;
    }
    this.roots = [...root.keys()].filter((i) => root[i] === i).map((i) => top[i]);
  }

  isLeaf(node: number): boolean {
    return this.children[2 * node] < 0;
  }

  /** Open the largest of some nodes until there are so many. */
  open(nodes: number[], wanted: number): number[] {
    const closed = [...nodes];
    const done: number[] = [];
    while (closed.length > 0 && closed.length + done.length < wanted) {
      let at = 0;
      for (let i = 1; i < closed.length; i++) if (this.sizes[closed[i]] > this.sizes[closed[at]]) at = i;
      const [largest] = closed.splice(at, 1);
      if (this.isLeaf(largest)) done.push(largest);
      else closed.push(this.children[2 * largest], this.children[2 * largest + 1]);
    }
    return [...done, ...closed];
  }

  leaves(node: number): number[] {
    const found: number[] = [];
    const stack = [node];
    while (stack.length > 0) {
      const at = stack.pop()!;
      if (this.isLeaf(at)) found.push(at);
      else stack.push(this.children[2 * at], this.children[2 * at + 1]);
    }
    return found;
  }
}

export class CoarseGraph {
  nodes: Node[] = [];
  links: Link[] = [];
  /** The node that every local cluster is in. */
  readonly nodeOf: Int32Array;
  private tree!: Tree;
  private labels: Int32Array | null = null;
  private readonly opened = new Set<number>();

  constructor(
    private readonly model: Model,
    /** Edges by strength, the strongest first. */
    private readonly order: number[],
  ) {
    this.nodeOf = new Int32Array(model.nLocal);
  }

  /** Whether every node is a local cluster. */
  get complete(): boolean {
    return this.nodes.length === this.model.nLocal;
  }

  /** Nodes and links of a cut, with nodes at places of the samples. */
  update(cut: Cut, place: Float32Array): void {
    const { graph, nLocal } = this.model;
    if (this.labels !== cut.labels) {
      this.labels = cut.labels;
      this.opened.clear();
      this.tree = new Tree(graph, cut.labels, graph.merges ?? this.order);
    }
    const { tree } = this;
    const all = nLocal <= MOST_NODES;
    let shown = all ? [...graph.sizes.keys()] : tree.open(tree.roots, Math.max(FEWER_NODES, cut.nClusters));
    for (let open = shown.find((id) => this.opened.has(id)); open !== undefined;) {
      const parts = tree.open([open], PARTS);
      shown = shown.flatMap((id) => (id === open ? parts : [id]));
      open = shown.find((id) => this.opened.has(id));
    }
    this.nodes = shown.map((id) => this.makeNode(id, cut.labels, place));
    this.nodes.sort((a, b) => b.size - a.size || a.middle - b.middle);
    this.nodes.forEach((node, i) => node.locals.forEach((local) => (this.nodeOf[local] = i)));
    this.links = this.thin(this.bundle(cut.labels));
  }

  /** Show the parts of a node; whether there are any. */
  open(node: Node): boolean {
    if (this.tree.isLeaf(node.id)) return false;
    this.opened.add(node.id);
    return true;
  }

  get nOpened(): number {
    return this.opened.size;
  }

  closeAll(): void {
    this.opened.clear();
  }

  private makeNode(id: number, labels: Int32Array, place: Float32Array): Node {
    const { peaks, sizes } = this.model.graph;
    const locals = this.tree.leaves(id);
    let [x, y, size] = [0, 0, 0];
    for (const local of locals) {
      x += sizes[local] * place[2 * peaks[local]];
      y += sizes[local] * place[2 * peaks[local] + 1];
      size += sizes[local];
    }
    const away = (local: number): number =>
      Math.hypot(place[2 * peaks[local]] - x / size, place[2 * peaks[local] + 1] - y / size);
    let [middle, nearest] = [locals[0], away(locals[0])];
    for (const local of locals) {
      const distance = away(local);
      if (distance < nearest) [middle, nearest] = [local, distance];
    }
    return { id, locals, size, label: labels[locals[0]], middle };
  }

  /** All edges between two nodes as one link, the strongest first. */
  private bundle(labels: Int32Array): Link[] {
    const { edges, pairs } = this.model.graph;
    const found = new Map<number, Link>();
    for (const e of this.order) {
      const [i, j] = [this.nodeOf[edges[2 * e]], this.nodeOf[edges[2 * e + 1]]];
      if (i === j) continue;
      const key = Math.min(i, j) * this.nodes.length + Math.max(i, j);
      const link = found.get(key);
      if (link) {
        link.edges += 1;
        link.pairs += pairs[e];
      } else {
        const kept = labels[edges[2 * e]] === labels[edges[2 * e + 1]];
        found.set(key, { from: this.nodes[i], to: this.nodes[j], edge: e, edges: 1, pairs: pairs[e], kept });
      }
    }
    return [...found.values()];
  }

  /** What holds the graph together, and a few more of the strongest: of every node, and between clusters of each. */
  private thin(links: Link[]): Link[] {
    const at = new Map(this.nodes.map((node, i) => [node, i]));
    const root = everyoneAlone(this.nodes.length);
    const inside = new Int32Array(this.nodes.length);
    const between = new Map<number, number>();
    return links.filter(({ from, to, kept }) => {
      const [i, j] = [at.get(from)!, at.get(to)!];
      const [a, b] = [find(root, i), find(root, j)];
      if (a !== b) union(root, a, b);
      if (kept) {
        if (a === b && (inside[i] >= STRONGEST || inside[j] >= STRONGEST)) return false;
        inside[i] += 1;
        inside[j] += 1;
        return true;
      }
      const counts = [from.label, to.label].map((label) => between.get(label) ?? 0);
      if (a === b && Math.max(...counts) >= STRONGEST) return false;
      between.set(from.label, counts[0] + 1).set(to.label, counts[1] + 1);
      return true;
    });
  }
}
