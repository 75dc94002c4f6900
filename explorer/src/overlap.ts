// Clusters that a view draws among the samples of another: a picture of two dimensions may hide what parts them.

import type { App } from "./app";
import type { Cut } from "./cut";

/** Samples per tile, about, so that a share says something; fewer where clusters are small. */
const PER_TILE = 12;
const PER_CLUSTER = 8;
const MOST_TILES = 48;
/** Share of a sample's tile that is of its own cluster, on average, where the cluster has ground of its own. */
const OWN = 0.5;
const MOST_CLUSTERS = 80;

let known: { place: Float32Array; cut: Cut; among: Int32Array } | null = null;

/** For every cluster, the one that its samples are drawn among, -1 where they have ground of their own. */
export function drawnAmong(app: App): Int32Array {
  const { cut, place } = app;
  if (known?.place !== place || known.cut !== cut) known = { place, cut, among: find(app) };
  return known.among;
}

function find(app: App): Int32Array {
  const { nClusters } = app.cut;
  const among = new Int32Array(nClusters).fill(-1);
  const { place, view } = app;
  if (nClusters < 2 || nClusters > MOST_CLUSTERS || view.asGiven) return among; // two features hide nothing
  const perTile = Math.max(3, Math.min(PER_TILE, place.length / 2 / nClusters / PER_CLUSTER));
  const side = Math.max(6, Math.min(MOST_TILES, Math.round(Math.sqrt(place.length / 2 / perTile))));
  const counts = new Uint32Array(side * side * nClusters);
  const at = (value: number, reach: number): number =>
    Math.max(0, Math.min(side - 1, Math.floor(((value / reach + 1) / 2) * side)));
  for (let i = 0; 2 * i < place.length; i++) {
    const label = app.labelOf(i);
    if (label < 0) continue;
    const tile = at(place[2 * i + 1], view.extent[1]) * side + at(place[2 * i], view.extent[0]);
    counts[tile * nClusters + label] += 1;
  }
  return among.map((_, label) => whoElse(counts, label, nClusters));
}

/** The cluster that samples of one share their tiles with most, -1 where they are mostly among themselves. */
function whoElse(counts: Uint32Array, label: number, nClusters: number): number {
  const beside = new Float64Array(nClusters);
  let size = 0;
  for (let tile = 0; tile < counts.length; tile += nClusters) {
    const own = counts[tile + label];
    if (own === 0) continue;
    const here = counts.subarray(tile, tile + nClusters);
    const total = here.reduce((sum, number) => sum + number, 0);
    for (let other = 0; other < nClusters; other++) beside[other] += (own * here[other]) / total;
    size += own;
  }
  if (size === 0 || beside[label] > OWN * size) return -1; // without a shown sample, nothing is known
  beside[label] = 0;
  return beside.indexOf(Math.max(...beside));
}
