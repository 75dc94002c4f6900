// What becomes of clusters beyond those asked for, after the sweep.

import type { Graph } from "./payload";
import { countLabels, everyoneAlone, find, labelBySize, union } from "./unions";

const STEP = 2 ** -36;

/** To the nearest whole number, halves to the even one. */
function rint(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  if (rest < 0.5) return down;
  if (rest > 0.5) return down + 1;
  return down % 2 === 0 ? down : down + 1;
}

function addLog(total: number, value: number): number {
  const high = Math.max(total, value);
  return high === -Infinity ? high : high + Math.log(1 + Math.exp(Math.min(total, value) - high));
}

type Entry = [size: number, cluster: number];

/** Smallest size first; of equals, the highest number. */
const comesFirst = (a: Entry, b: Entry): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] > b[1]);

class Heap {
  private items: Entry[] = [];

  push(item: Entry): void {
    const { items } = this;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!comesFirst(items[at], items[parent])) break;
      [items[at], items[parent]] = [items[parent], items[at]];
      at = parent;
    }
  }

  pop(): Entry | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (items.length > 0 && last) {
      items[0] = last;
      for (let at = 0; ;) {
        let next = at;
        for (const child of [2 * at + 1, 2 * at + 2]) {
          if (child < items.length && comesFirst(items[child], items[next])) next = child;
        }
        if (next === at) break;
        [items[at], items[next]] = [items[next], items[at]];
        at = next;
      }
    }
    return top;
  }
}

/** Every cluster's half-edges 2 e and 2 e + 1, those of merged clusters one after the other. */
function halfEdges(edges: Int32Array, root: Int32Array): number[][] {
  const lists: number[][] = Array.from(root, () => []);
  for (let half = 0; half < edges.length; half++) lists[find(root, edges[half])].push(half);
  return lists;
}

/** Join the smallest cluster to the one it is most strongly connected to until `nClusters` are left. */
export function joinSmallest(graph: Graph, sizes: Float64Array, root: Int32Array, nClusters: number): void {
  const { edges, pairs, cutSums } = graph;
  const lists = halfEdges(edges, root);
  const heap = new Heap();
  let count = 0;
  for (let i = 0; i < root.length; i++) {
    if (root[i] === i) {
      heap.push([sizes[i], i]);
      count++;
    }
  }
  while (count > nClusters) {
    const top = heap.pop();
    if (!top) break;
    const [size, i] = top;
    if (root[i] !== i || sizes[i] !== size) continue;
    const strengths = new Map<number, [real: number, bridge: number]>();
    for (const half of lists[i]) {
      const e = half >> 1;
      const j = find(root, edges[half ^ 1]);
      if (j === i) continue;
      const strength = strengths.get(j) ?? [-Infinity, -Infinity];
      if (pairs[e] > 0) strength[0] = addLog(strength[0], cutSums[e]);
      else strength[1] = Math.max(strength[1], cutSums[e]);
      strengths.set(j, strength);
    }
    const best = strongest(strengths, sizes);
    if (best < 0) continue; // nothing leads out of this component
    const high = union(root, i, best);
    const low = i + best - high;
    lists[high] = lists[high].concat(lists[low]);
    lists[low] = [];
    sizes[high] = sizes[i] + sizes[best];
    heap.push([sizes[high], high]);
    count--;
  }
}

function strongest(strengths: Map<number, [number, number]>, sizes: Float64Array): number {
  let best = -1;
  let bestReal = -Infinity;
  let bestBridge = -Infinity;
  for (const [j, [sum, bridge]] of strengths) {
    const real = rint((sum - Math.log(sizes[j])) / STEP) * STEP;
    const tied = real === bestReal && bridge === bestBridge;
    if (best < 0 || real > bestReal || (real === bestReal && bridge > bestBridge) || (tied && j < best)) {
      [best, bestReal, bestBridge] = [j, real, bridge];
    }
  }
  return best;
}

function logAddExp(a: number, b: number): number {
  if (a === b) return a + Math.LN2;
  return a > b ? a + Math.log1p(Math.exp(b - a)) : b + Math.log1p(Math.exp(a - b));
}

/** Join clusters beyond the largest along summed weights of cut edges, strongest first. */
export function followCutEdges(graph: Graph, cut: number[], root: Int32Array, nClusters: number): void {
  const { edges, logWeights, sizes } = graph;
  const labels = labelBySize(root, sizes);
  const sums = new Map<string, { to: number; small: number; sum: number }>();
  for (const e of [...cut].sort((a, b) => a - b)) {
    const i = labels[edges[2 * e]];
    const j = labels[edges[2 * e + 1]];
    for (const [to, small] of [
      [i, j],
      [j, i],
    ]) {
      if (small < nClusters || to === small) continue;
      const way = sums.get(`${to} ${small}`) ?? { to, small, sum: -Infinity };
      way.sum = way.sum === -Infinity ? logWeights[e] : logAddExp(way.sum, logWeights[e]);
      sums.set(`${to} ${small}`, way);
    }
  }
  const joined = everyoneAlone(countLabels(labels));
  const ways = [...sums.values()].sort((a, b) => b.sum - a.sum || a.to - b.to || a.small - b.small);
  for (const { to, small } of ways) {
    const target = find(joined, to);
    if (joined[small] === small && target !== small) joined[small] = target;
  }
  const first = Int32Array.from(joined, (_, label) => labels.indexOf(label));
  root.forEach((_, i) => (root[i] = first[find(joined, labels[i])]));
}
