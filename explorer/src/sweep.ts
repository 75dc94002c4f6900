// The sweep of the paper's third algorithm: edges by weight, each merges where the distance to the prior does not grow.

import { find, union } from "./unions";

const TOLERANCE = 1e-12;

/** Ascending table of different cluster sizes and how many clusters have each. */
class SizeTable {
  distinct: number[] = [];
  counts: number[] = [];

  constructor(sizes: Float64Array) {
    const sorted = Float64Array.from(sizes).sort();
    for (const size of sorted) {
      const last = this.distinct.length - 1;
      if (last >= 0 && this.distinct[last] === size) this.counts[last]++;
      else {
        this.distinct.push(size);
        this.counts.push(1);
      }
    }
  }

  change(size: number, by: number): void {
    let low = 0;
    let high = this.distinct.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.distinct[middle] < size) low = middle + 1;
      else high = middle;
    }
    if (this.distinct[low] !== size) {
      this.distinct.splice(low, 0, size);
      this.counts.splice(low, 0, by);
    } else if ((this.counts[low] += by) === 0) {
      this.distinct.splice(low, 1);
      this.counts.splice(low, 1);
    }
  }
}

/** Change of n W1 when clusters of sizes low <= high merge: the area between the two cumulative distributions. */
function scoreChange(
  low: number,
  high: number,
  table: SizeTable,
  nSamples: number,
  prior: number[],
  priorMass: number[],
): number {
  const { distinct, counts } = table;
  const end = low + high;
  let s = 0;
  let mass = 0;
  while (s < distinct.length && distinct[s] <= low) {
    mass += distinct[s] * counts[s];
    s++;
  }
  let q = 0;
  let expected = 0;
  while (q < prior.length && prior[q] <= low) expected = priorMass[q++];
  let change = 0;
  let at = low;
  let gone = low === high ? end : low;
  while (at < end) {
    let nearest = end;
    if (s < distinct.length) nearest = Math.min(nearest, distinct[s]);
    if (q < prior.length) nearest = Math.min(nearest, prior[q]);
    const before = Math.abs(mass / nSamples - expected);
    const after = Math.abs((mass - gone) / nSamples - expected);
    change += (after - before) * (nearest - at);
    at = nearest;
    while (s < distinct.length && distinct[s] <= at) {
      mass += distinct[s] * counts[s];
      if (distinct[s] === high) gone = end;
      s++;
    }
    while (q < prior.length && prior[q] <= at) expected = priorMass[q++];
  }
  return change;
}

/** Merges along `root`, adding up `sizes`; the edges that were cut. `shares` ascend. */
export function sweepEdges(
  order: Int32Array,
  edges: Int32Array,
  sizes: Float64Array,
  root: Int32Array,
  shares: number[],
): number[] {
  const nSamples = sizes.reduce((total, size) => total + size, 0);
  const prior = shares.map((share) => share * nSamples);
  const priorMass: number[] = [];
  shares.reduce((total, share) => (priorMass.push(total + share), total + share), 0);
  const table = new SizeTable(sizes);
  const cut: number[] = [];
  let nClusters = sizes.length;
  let merged = false;
  for (const e of order) {
    const i = find(root, edges[2 * e]);
    const j = find(root, edges[2 * e + 1]);
    if (i === j) continue;
    if (nClusters <= shares.length) break;
    const low = Math.min(sizes[i], sizes[j]);
    const high = Math.max(sizes[i], sizes[j]);
    if (merged && scoreChange(low, high, table, nSamples, prior, priorMass) > TOLERANCE * nSamples) {
      cut.push(e);
      continue;
    }
    merged = true;
    table.change(low, -1);
    table.change(high, -1);
    table.change(low + high, 1);
    sizes[union(root, i, j)] = low + high;
    nClusters--;
  }
  return cut;
}
