// Why a sample is where it is, and why two samples are together or apart.

import type { Cut } from "./cut";
import type { Graph, Model } from "./payload";
import { everyoneAlone, find, union } from "./unions";

export interface SampleStory {
  /** Shown samples from the sample up to where its climb ends. */
  climb: number[];
  steps: number;
  local: number;
  /** Number of clusters from which on its cluster is split; null where it never is, or where cuts are not nested. */
  splitsAt: number | null;
  /** Number of clusters at which its cluster is merged with another, and with which. */
  mergesAt: number | null;
  mergesWith: number | null;
}

export interface PairStory {
  together: boolean;
  /** Local clusters on the way whose weakest edge is strongest, and the edges between them; none if not connected. */
  path: number[];
  edges: number[];
  connected: boolean;
  /** The weakest edge on the way, -1 where there is none. */
  weakest: number;
  /** Edges on the way that are cut. */
  cut: number[];
  /** The largest number of clusters at which the two are together; null where cuts are not nested. */
  togetherUpTo: number | null;
}

export function explainSample(model: Model, cut: Cut, sample: number): SampleStory {
  const { parent, local, steps } = model.samples;
  const climb = [sample];
  const seen = new Set(climb);
  for (let at = parent[sample]; !seen.has(at); at = parent[at]) {
    climb.push(at);
    seen.add(at);
  }
  const nSteps = steps ? steps[sample] : climb.length - 1;
  return { climb, steps: nSteps, local: local[sample], ...clusterLife(model, cut, cut.labels[local[sample]]) };
}

/** The cut into c clusters does the first m - c merges: the numbers at which a cluster falls apart and is taken in. */
function clusterLife(
  model: Model,
  cut: Cut,
  cluster: number,
): Pick<SampleStory, "splitsAt" | "mergesAt" | "mergesWith"> {
  const { merges, edges } = model.graph;
  const m = model.nLocal;
  let splitsAt: number | null = null;
  if (!merges || !cut.nested) return { splitsAt, mergesAt: null, mergesWith: null };
  for (let t = 0; t < merges.length; t++) {
    const ends = [cut.labels[edges[2 * merges[t]]], cut.labels[edges[2 * merges[t] + 1]]];
    const others = ends.filter((label) => label !== cluster);
    if (others.length === 0) splitsAt = m - t;
    if (others.length === 1) return { splitsAt, mergesAt: m - t - 1, mergesWith: others[0] };
  }
  return { splitsAt, mergesAt: null, mergesWith: null };
}

/** Bridges, which no boundary pair carries, are weaker than any other edge. */
function strongestFirst(graph: Graph): (a: number, b: number) => number {
  const real = (e: number): number => (graph.pairs[e] > 0 ? 1 : 0);
  return (a, b) => real(b) - real(a) || graph.logWeights[b] - graph.logWeights[a] || a - b;
}

/** The way in the maximum spanning forest of some edges: no other has a stronger weakest edge. */
function widestPath(graph: Graph, allowed: (e: number) => boolean, from: number, to: number): number[] | null {
  const { edges, pairs, sizes } = graph;
  const order = Array.from({ length: pairs.length }, (_, e) => e)
    .filter(allowed)
    .sort(strongestFirst(graph));
  const root = everyoneAlone(sizes.length);
  const neighbours = new Map<number, number[]>();
  for (const e of order) {
    const [i, j] = [edges[2 * e], edges[2 * e + 1]];
    const [a, b] = [find(root, i), find(root, j)];
    if (a === b) continue;
    union(root, a, b);
    for (const end of [i, j]) neighbours.set(end, [...(neighbours.get(end) ?? []), e]);
    if (find(root, from) === find(root, to)) break;
  }
  const reachedBy = new Map<number, number>([[from, -1]]);
  const queue = [from];
  for (const at of queue) {
    for (const e of neighbours.get(at) ?? []) {
      const next = edges[2 * e] === at ? edges[2 * e + 1] : edges[2 * e];
      if (reachedBy.has(next)) continue;
      reachedBy.set(next, e);
      queue.push(next);
    }
  }
  if (!reachedBy.has(to)) return null;
  const way: number[] = [];
  for (let at = to; at !== from;) {
    const e = reachedBy.get(at)!;
    way.unshift(e);
    at = edges[2 * e] === at ? edges[2 * e + 1] : edges[2 * e];
  }
  return way;
}

export function explainPair(model: Model, cut: Cut, a: number, b: number): PairStory {
  const { graph, samples } = model;
  const [from, to] = [samples.local[a], samples.local[b]];
  const { labels } = cut;
  const together = labels[from] === labels[to];
  const inside = (e: number): boolean => labels[graph.edges[2 * e]] === labels[graph.edges[2 * e + 1]];
  const way = widestPath(graph, together ? inside : () => true, from, to);
  const edges = way ?? [];
  const path = way ? [from] : [];
  for (const e of edges) {
    const last = path[path.length - 1];
    path.push(graph.edges[2 * e] === last ? graph.edges[2 * e + 1] : graph.edges[2 * e]);
  }
  return {
    together,
    path,
    edges,
    connected: way !== null,
    weakest: edges.length > 0 ? [...edges].sort(strongestFirst(graph))[edges.length - 1] : -1,
    cut: edges.filter((e) => !inside(e)),
    togetherUpTo: findTogetherUpTo(model, from, to),
  };
}

function findTogetherUpTo(model: Model, from: number, to: number): number | null {
  const { merges, edges } = model.graph;
  if (!merges) return null;
  const root = everyoneAlone(model.nLocal);
  let t = 0;
  while (find(root, from) !== find(root, to) && t < merges.length) {
    const e = merges[t++];
    union(root, find(root, edges[2 * e]), find(root, edges[2 * e + 1]));
  }
  return model.nLocal - t;
}

/** To which clusters the boundary pairs of every local cluster lead, by summed similarity relative to the largest. */
function leadingWeights(graph: Graph): Float64Array {
  const { edges, pairs, logWeights, sizes } = graph;
  const largest = new Float64Array(sizes.length).fill(-Infinity);
  const weights = new Float64Array(edges.length);
  for (let half = 0; half < edges.length; half++) {
    const e = half >> 1;
    if (!(pairs[e] > 0)) continue;
    weights[half] = logWeights[e] + Math.log(sizes[edges[2 * e]]) + Math.log(sizes[edges[2 * e + 1]]);
    largest[edges[half]] = Math.max(largest[edges[half]], weights[half]);
  }
  return weights.map((weight, half) => (pairs[half >> 1] > 0 ? Math.exp(weight - largest[edges[half]]) : 0));
}

/** How firmly every shown sample belongs to its cluster in a cut; 0 for noise. */
export function memberships(model: Model, cut: Cut): Float32Array {
  const { graph, samples, nLocal } = model;
  const { edges } = graph;
  const total = new Float64Array(nLocal);
  const own = new Float64Array(nLocal);
  leadingWeights(graph).forEach((weight, half) => {
    total[edges[half]] += weight;
    if (cut.labels[edges[half]] === cut.labels[edges[half ^ 1]]) own[edges[half]] += weight;
  });
  const found = new Float32Array(model.nShown);
  for (let x = 0; x < found.length; x++) {
    const local = samples.local[x];
    const inside = total[local] > 0 ? own[local] / total[local] : 1;
    found[x] = samples.noise[x] ? 0 : 1 - samples.leaving[x] * (1 - inside);
  }
  return found;
}

/** The other cluster that a sample belongs to most, and by how much; null where there is none. */
export function secondMembership(model: Model, cut: Cut, sample: number): { label: number; share: number } | null {
  const { edges } = model.graph;
  const local = model.samples.local[sample];
  const sums = new Map<number, number>();
  let total = 0;
  leadingWeights(model.graph).forEach((weight, half) => {
    if (edges[half] !== local) return;
    const label = cut.labels[edges[half ^ 1]];
    sums.set(label, (sums.get(label) ?? 0) + weight);
    total += weight;
  });
  sums.delete(cut.labels[local]);
  const best = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
  const share = best ? (model.samples.leaving[sample] * best[1]) / total : 0;
  return share > 0 ? { label: best[0], share } : null;
}
