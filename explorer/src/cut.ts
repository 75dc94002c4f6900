// Another number of clusters or other proportions from the fitted topo-graph: the same answer as GIT.cut in Python.

import { followCutEdges, joinSmallest } from "./leftover";
import type { Graph, Model } from "./payload";
import { equalShares, shareDistance, toShares } from "./proportions";
import { sweepEdges } from "./sweep";
import { countLabels, everyoneAlone, find, labelBySize, union } from "./unions";

export interface Cut {
  /** Cluster of every local cluster. */
  labels: Int32Array;
  nClusters: number;
  /** Whether the labels are the hierarchy cut into so many clusters. */
  nested: boolean;
  fitted: boolean;
}

/** What to cut into; proportions are in any scale and order. */
export interface Wish {
  nClusters?: number;
  proportions?: number[] | "equal";
}

function cutHierarchy(graph: Graph, merges: Int32Array, nClusters: number): Int32Array {
  const root = everyoneAlone(graph.sizes.length);
  for (const e of merges.subarray(0, Math.max(merges.length + 1 - nClusters, 0))) {
    const i = find(root, graph.edges[2 * e]);
    const j = find(root, graph.edges[2 * e + 1]);
    if (i !== j) union(root, i, j);
  }
  return labelBySize(root, graph.sizes);
}

function cutEdges(graph: Graph, prior: number[], leftover: "connected" | "cut"): Int32Array {
  const shares = toShares(prior).reverse();
  const root = everyoneAlone(graph.sizes.length);
  const sizes = Float64Array.from(graph.sizes);
  const cut = sweepEdges(graph.cutOrder, graph.edges, sizes, root, shares);
  if (leftover === "connected") joinSmallest(graph, sizes, root, shares.length);
  else followCutEdges(graph, cut, root, shares.length);
  return labelBySize(root, graph.sizes);
}

/** Share of every cluster of local clusters. */
export function sharesOf(graph: Graph, labels: Int32Array): number[] {
  const sizes = new Array<number>(countLabels(labels)).fill(0);
  labels.forEach((label, i) => (sizes[label] += graph.sizes[i]));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => size / total);
}

const TIED = 1e-12;

function cutAgain(model: Model, nClusters: number, prior: number[] | null): { labels: Int32Array; nested: boolean } {
  const { graph, variant } = model;
  if (!graph.merges) {
    const leftover = variant === "authors" ? "cut" : "connected";
    return { labels: cutEdges(graph, prior ?? equalShares(nClusters), leftover), nested: false };
  }
  const nested = cutHierarchy(graph, graph.merges, nClusters);
  if (!prior) return { labels: nested, nested: true };
  const swept = cutEdges(graph, prior, "connected");
  const gain = shareDistance(sharesOf(graph, nested), prior) - shareDistance(sharesOf(graph, swept), prior);
  return gain > TIED ? { labels: swept, nested: sameLabels(swept, nested) } : { labels: nested, nested: true };
}

function sameLabels(a: Int32Array, b: Int32Array): boolean {
  return a.every((label, i) => label === b[i]);
}

/** The clustering of the fit. */
export function fittedCut(model: Model): Cut {
  const { labels, merges } = model.graph;
  const nClusters = countLabels(labels);
  const nested = merges !== null && sameLabels(labels, cutHierarchy(model.graph, merges, nClusters));
  return { labels, nClusters, nested, fitted: true };
}

function isFittedPrior(model: Model, nClusters: number, prior: number[] | null): boolean {
  if (!prior || !model.prior) return nClusters === countLabels(model.graph.labels) && prior === model.prior;
  return prior.length === model.prior.length && prior.every((share, i) => share === model.prior![i]);
}

/** Labels of the local clusters for another wish. */
export function recut(model: Model, wish: Wish): Cut {
  const { proportions } = wish;
  const nClusters = wish.nClusters ?? (Array.isArray(proportions) ? proportions.length : 1);
  let prior: number[] | null = null;
  if (proportions) prior = proportions === "equal" ? equalShares(nClusters) : toShares(proportions);
  if (isFittedPrior(model, nClusters, prior)) return fittedCut(model);
  const { labels, nested } = cutAgain(model, nClusters, prior);
  return { labels, nClusters: countLabels(labels), nested, fitted: false };
}
