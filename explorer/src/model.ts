// The data of the page, as Python packed them, and what follows from them: cuts, memberships, climbs and paths.

import type { Edit } from "./edits";

export type Numbers = Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array;

/** A column of the table. */
export interface Column {
  name: string;
  kind: "number" | "date" | "category";
  /** Whether the clustering used it. */
  used: boolean;
  /** Numbers, NaN if missing; days since 1970; or indices of categories, where a missing value has the next index. */
  values: Numbers;
  categories: string[] | null;
  /** Decimals of the numbers; null if they have many. */
  decimals: number | null;
}

/** Coordinates of the samples; nearly all lie within -1 to 1. */
export interface View {
  name: string;
  oneScale: boolean;
  axes: [string, string];
  extent: [number, number];
  /** Samples far outside, which are not visible at first. */
  outside: number;
  xy: Float32Array<ArrayBuffer>;
  density?: Density;
}

/** Counts of all samples by tile, row by row from below, and the most frequent local cluster of each tile. */
export interface Density {
  side: number;
  counts: Numbers;
  locals: Numbers;
}

export interface Graph {
  sizes: Numbers;
  /** Samples of every local cluster without noise. */
  members: Numbers;
  peaks: Numbers;
  /** Two local clusters per edge. */
  edges: Numbers;
  /** Boundary pairs of every edge; 0 for a bridge. */
  pairs: Numbers;
  logWeights: Numbers;
  /** Edges from the strongest to the weakest; bridges are last. */
  order: Numbers;
  /** Two per edge: the share of the neighbourhood of either local cluster that leads to the other. */
  leading: Numbers;
  /** Clusters of the fit. */
  labels: Numbers;
  /** Local clusters in an order in which every cluster of the hierarchy is a range. */
  leaves: Numbers;
  /** The number of clusters from which on a leaf is separate from the leaf before it. */
  splits: Numbers;
  /** Whether the cuts follow this hierarchy. */
  nested: boolean;
  /** Whether a fit can replay edits of the clusters. */
  editable: boolean;
}

export interface Model {
  title: string;
  nSamples: number;
  nShown: number;
  nLocal: number;
  summary: string;
  /** Of the fitted clusters (-1 if unknown), and of the shown samples in percent (255 if unknown). */
  stability: { clusters: number[]; samples: Numbers } | null;
  scores: { nClusters: number[]; score: number[]; recommended: number[] } | null;
  views: View[];
  names: string[] | null;
  /** Labels that identify the shown rows in a file of edits: the names, others, or none if their positions do. */
  rowLabels: "names" | string[] | null;
  /** Public numbers of the fitted clusters, their names, and the next unused number. */
  clusterIds: number[];
  clusterNames: Record<number, string>;
  nextId: number;
  columns: Column[];
  columnsLeftOut: number;
  samples: {
    local: Numbers;
    noise: Numbers;
    intensity: Numbers;
    leaving: Numbers;
    outlier: Numbers;
    parent: Numbers;
    row?: Numbers;
  };
  graph: Graph;
  /** The possible numbers of clusters, and the cluster of every local cluster in these cuts, one cut after another. */
  cutNumbers: number[];
  cuts: Numbers;
}

const TYPES = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

/** Turn base64 into typed arrays and snake_case into camelCase, at any depth. */
function unpack(packed: any): any {
  if (Array.isArray(packed)) return packed.map(unpack);
  if (packed === null || typeof packed !== "object") return packed;
  if (typeof packed.data === "string") {
    const text = atob(packed.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[packed.type as keyof typeof TYPES](bytes.buffer);
  }
  const camel = (key: string): string => key.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(packed).map(([key, value]) => [camel(key), unpack(value)]));
}

export function readModel(text: string): Model {
  const model = unpack(JSON.parse(text));
  for (const column of model.columns) {
    const { categories = null, decimals = null, missing, values } = column;
    const restore = (value: number): number => (value === missing ? NaN : value / 10 ** decimals);
    Object.assign(column, { categories, decimals });
    if (!categories && decimals !== null) column.values = Float64Array.from(values, restore);
  }
  return { ...model, nShown: model.samples.local.length, nLocal: model.graph.sizes.length };
}

/** The row of a shown sample in the fitted data. */
export function rowOf({ samples }: Model, sample: number): number {
  return samples.row ? samples.row[sample] : sample;
}

/** The shown sample of a row; -1 if it is not shown. */
export function sampleOf({ samples, nShown }: Model, row: number): number {
  if (samples.row) return (samples.row as Int32Array).indexOf(row);
  return Number.isInteger(row) && row >= 0 && row < nShown ? row : -1;
}

/** Clusters, each by its position in the list. */
export interface Cut {
  /** Cluster of most samples in every local cluster, and of every shown sample, -1 for noise. */
  labels: Numbers;
  samples: Int32Array;
  /** Public number of every cluster, names by number, and the next unused number. */
  ids: number[];
  names: Record<number, string>;
  nextId: number;
  /** Samples of every cluster, and of noise. */
  sizes: number[];
  nNoise: number;
  /** The requested number of clusters, and the number of this cut: the variant "authors" may return more. */
  requested: number;
  nClusters: number;
  fitted: boolean;
  stability: Model["stability"];
  /** The cut before all edits and the last edit, null if there are none, and the clusters that edits changed. */
  base: Cut | null;
  edit: Edit | null;
  changed: Set<number>;
}

/** The clusters of the local clusters in the cut at an index of the possible numbers. */
export const labelsAt = ({ cuts, nLocal }: Model, at: number): Numbers => cuts.subarray(at * nLocal, (at + 1) * nLocal);

/** The cut into one of the possible numbers of clusters, or the fitted one. */
export function cutInto(model: Model, requested: number | null): Cut {
  const { graph, cutNumbers, nSamples } = model;
  const at = requested === null ? -1 : cutNumbers.indexOf(requested);
  const labels = at < 0 ? graph.labels : labelsAt(model, at);
  const nClusters = countLabels(labels);
  const fitted = labels.every((label, i) => label === graph.labels[i]);
  const sizes = new Array<number>(nClusters).fill(0);
  labels.forEach((label, i) => (sizes[label] += graph.members[i]));
  return {
    labels,
    samples: Int32Array.from(model.samples.local, (local, i) => (model.samples.noise[i] ? -1 : labels[local])),
    ids: fitted ? model.clusterIds : [...sizes.keys()],
    names: fitted ? model.clusterNames : {},
    nextId: Math.max(model.nextId, nClusters),
    sizes,
    nNoise: nSamples - sizes.reduce((sum, size) => sum + size, 0),
    requested: requested ?? nClusters,
    nClusters,
    fitted,
    stability: fitted ? model.stability : null,
    base: null,
    edit: null,
    changed: new Set(),
  };
}

/** The possible number of clusters that is nearest to a requested one. */
export function nearestCut({ cutNumbers }: Model, requested: number): number {
  const distance = (number: number): number => Math.abs(number - requested);
  return cutNumbers.reduce((best, number) => (distance(number) < distance(best) ? number : best));
}

export function countLabels(labels: ArrayLike<number>): number {
  let largest = -1;
  for (let i = 0; i < labels.length; i++) largest = Math.max(largest, labels[i]);
  return largest + 1;
}

/** The cluster of a sample; for noise, the cluster of its local cluster. */
export function homeOf({ samples }: Model, cut: Cut, sample: number): number {
  return cut.samples[sample] < 0 ? cut.labels[samples.local[sample]] : cut.samples[sample];
}

/** Membership of every shown sample in its cluster; 0 for noise, NaN in edited clusters. */
export function memberships({ graph, samples, nLocal, nShown }: Model, cut: Cut): Float32Array {
  const { labels, changed } = cut;
  const outside = new Float64Array(nLocal);
  graph.leading.forEach((share, half) => {
    if (labels[graph.edges[half]] !== labels[graph.edges[half ^ 1]]) outside[graph.edges[half]] += share;
  });
  const membership = new Float32Array(nShown);
  for (let i = 0; i < nShown; i++) {
    const label = cut.samples[i];
    membership[i] = label < 0 ? 0 : changed.has(label) ? NaN : 1 - samples.leaving[i] * outside[samples.local[i]];
  }
  return membership;
}

/** The other cluster with the largest membership of a sample; null if there is none. */
export function secondMembership({ graph, samples }: Model, { labels }: Cut, sample: number): [number, number] | null {
  const local = samples.local[sample];
  const shares = new Map<number, number>();
  graph.leading.forEach((share, half) => {
    const label = labels[graph.edges[half ^ 1]];
    if (graph.edges[half] === local && label >= 0 && label !== labels[local])
      shares.set(label, (shares.get(label) ?? 0) + share);
  });
  const [best] = [...shares].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return best && best[1] > 0 ? [best[0], samples.leaving[sample] * best[1]] : null;
}

/** Shown samples from a sample to its peak. */
export function climbOf({ samples }: Model, sample: number): number[] {
  const climb = [sample];
  for (let at = samples.parent[sample]; at !== climb[climb.length - 1]; at = samples.parent[at]) climb.push(at);
  return climb;
}

/** The first number of clusters that separates leaves between two positions; Infinity if the positions are equal. */
export function firstSplit({ splits }: Graph, low: number, high: number): number {
  let least = Infinity;
  for (let i = low + 1; i <= high; i++) least = Math.min(least, splits[i]);
  return least;
}

/** What connects two samples. */
export interface Connection {
  together: boolean;
  /** Local clusters and edges of the path with the strongest weakest edge; empty if there is no path. */
  path: number[];
  edges: number[];
  /** The weakest edge of the path, -1 if there is none, and the edges that the clustering cuts. */
  weakest: number;
  cut: number[];
  /** The largest number of clusters at which they share a cluster; null if the cuts are not nested. */
  togetherUpTo: number | null;
}

export function connect(model: Model, cut: Cut, a: number, b: number): Connection {
  const { graph, samples, nLocal } = model;
  const { labels } = cut;
  const { edges: ends, order, leaves } = graph;
  const [from, to] = [samples.local[a], samples.local[b]];
  const together = homeOf(model, cut, a) === homeOf(model, cut, b);
  const isInside = (e: number): boolean => labels[ends[2 * e]] === labels[ends[2 * e + 1]];
  const edges = strongestPath(graph, together ? isInside : () => true, from, to);
  const path = edges || from === to ? [from] : [];
  for (const e of edges ?? []) path.push(otherEnd(ends, e, path[path.length - 1]));
  const [low, high] = [from, to].map((local) => leaves.indexOf(local)).sort((x, y) => x - y);
  const separate = Math.min(firstSplit(graph, low, high), nLocal + 1);
  return {
    together,
    path,
    edges: edges ?? [],
    weakest: [...(edges ?? [])].sort((x, y) => order.indexOf(y) - order.indexOf(x))[0] ?? -1,
    cut: (edges ?? []).filter((e) => !isInside(e)),
    togetherUpTo: graph.nested && !cut.base ? separate - 1 : null,
  };
}

const otherEnd = (ends: Numbers, e: number, end: number): number =>
  ends[2 * e] === end ? ends[2 * e + 1] : ends[2 * e];

/** The path in the maximum spanning tree (Kruskal): no other path has a stronger weakest edge. */
function strongestPath(
  { edges: ends, order, sizes }: Graph,
  isAllowed: (e: number) => boolean,
  from: number,
  to: number,
): number[] | null {
  const sets = new DisjointSets(sizes.length);
  const edgesOf = new Map<number, number[]>();
  for (const e of order) {
    if (!isAllowed(e) || !sets.join(ends[2 * e], ends[2 * e + 1])) continue;
    for (const end of [ends[2 * e], ends[2 * e + 1]]) edgesOf.set(end, [...(edgesOf.get(end) ?? []), e]);
    if (sets.find(from) === sets.find(to)) break;
  }
  const reachedBy = new Map<number, number>([[from, -1]]);
  const queue = [from];
  for (const at of queue) {
    for (const e of edgesOf.get(at) ?? []) {
      const next = otherEnd(ends, e, at);
      if (reachedBy.has(next)) continue;
      reachedBy.set(next, e);
      queue.push(next);
    }
  }
  if (!reachedBy.has(to)) return null;
  const path: number[] = [];
  for (let at = to; at !== from; at = otherEnd(ends, path[0], at)) path.unshift(reachedBy.get(at)!);
  return path;
}

/** Union-find, for spanning trees. */
export class DisjointSets {
  private readonly root: Int32Array;

  constructor(size: number) {
    this.root = Int32Array.from({ length: size }, (_, i) => i);
  }

  find(i: number): number {
    const { root } = this;
    while (root[i] !== i) i = root[i] = root[root[i]];
    return i;
  }

  /** Join two sets; return whether they were separate. */
  join(i: number, j: number): boolean {
    const [a, b] = [this.find(i), this.find(j)];
    this.root[a] = b;
    return a !== b;
  }
}
