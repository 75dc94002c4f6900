// Edits by hand: merge, split, move and rename. In edits, clusters have their public numbers; rows are shown samples.

import { capitalised, count } from "./dom";
import { type Cut, type Model, firstSplit, rowOf } from "./model";

/** One edit, as in the saved file. */
export type Edit =
  | { kind: "merge"; clusters: number[]; into: number }
  | { kind: "split"; cluster: number; rows: number[]; into: number }
  | { kind: "move"; rows: number[]; into: number }
  | { kind: "rename"; cluster: number; name: string };

/** Return the cut after an edit. What the model computed for changed clusters no longer applies. */
export function applyEdit(model: Model, base: Cut, before: Cut, edit: Edit): Cut {
  const cut = { ...before, base, edit, fitted: false };
  if (edit.kind === "rename") {
    const { [edit.cluster]: _, ...others } = before.names;
    return { ...cut, names: edit.name ? { ...others, [edit.cluster]: edit.name } : others };
  }
  const { graph, nSamples, nShown } = model;
  const joined = edit.kind === "merge" ? edit.clusters : [];
  const idOf = (label: number): number => (joined.includes(before.ids[label]) ? edit.into : (before.ids[label] ?? -1));
  const now = before.samples.map(idOf);
  if (edit.kind !== "merge") for (const row of edit.rows) now[row] = edit.into;
  const ids = [...new Set(now)].filter((id) => id >= 0).sort((a, b) => a - b);
  const positions = new Map(ids.map((id, i) => [id, i]));
  const at = (id: number): number => positions.get(id) ?? -1;
  const samples = now.map(at);

  // A local cluster goes to most of its samples; of equal numbers to its last cluster.
  const inLocal = Array.from({ length: model.nLocal }, () => new Map<number, number>());
  samples.forEach((label, i) => {
    const counts = inLocal[model.samples.local[i]];
    if (label >= 0) counts.set(label, (counts.get(label) ?? 0) + 1);
  });
  const labels = Int32Array.from(inLocal, (counts, local) => {
    const last = at(idOf(before.labels[local]));
    const [best] = [...counts].sort((a, b) => b[1] - a[1] || +(b[0] === last) - +(a[0] === last));
    return best ? best[0] : last;
  });

  // If the page shows a subset, every sample stands for others of its local cluster, or of the noise.
  const { local, noise } = model.samples;
  const shown = new Float64Array(graph.members.length);
  local.forEach((home, i) => (shown[home] += noise[i] ? 0 : 1));
  const sum = (numbers: ArrayLike<number>): number => Array.from(numbers).reduce((total, number) => total + number, 0);
  const ofNoise = (nSamples - sum(graph.members)) / (nShown - sum(shown));
  const sizes = new Array<number>(ids.length + 1).fill(0); // the last is noise
  samples.forEach((label, i) => {
    sizes[label < 0 ? ids.length : label] += noise[i] ? ofNoise : graph.members[local[i]] / shown[local[i]];
  });
  const nNoise = Math.round(sizes.pop()!);

  const changed = new Set<number>();
  samples.forEach((label, i) => {
    const id = base.ids[base.samples[i]] ?? -1;
    if (id !== now[i]) changed.add(label).add(at(id));
  });
  const names = Object.fromEntries(Object.entries(before.names).filter(([id]) => positions.has(Number(id))));
  const nextId = Math.max(before.nextId, edit.into + 1);
  const parts = { labels, samples, ids, names, nextId, nNoise, changed, stability: null };
  return { ...cut, ...parts, sizes: sizes.map(Math.round), nClusters: ids.length };
}

const sizeOf = ({ ids, sizes, nNoise }: Cut, id: number): number => (id < 0 ? nNoise : (sizes[ids.indexOf(id)] ?? 0));

/** Merge two clusters into the larger one, of equal ones into the one with the smaller number; or say why not. */
export function mergeEdit(cut: Cut, a: number, b: number): Edit | string {
  if (a === b || !cut.ids.includes(a) || !cut.ids.includes(b)) return "Select two different clusters to merge.";
  const [smaller, larger] = [a, b].sort((x, y) => sizeOf(cut, x) - sizeOf(cut, y) || y - x);
  return { kind: "merge", clusters: [smaller, larger], into: larger };
}

/** Split a cluster into some samples and the others, or along the next cut of the tree. The smaller part is new. */
export function splitEdit(model: Model, cut: Cut, cluster: number, some: Iterable<number> | null): Edit | string {
  const { local } = model.samples;
  const name = titleIn(cut, cluster);
  const members = [...cut.samples.keys()].filter((i) => cut.ids[cut.samples[i]] === cluster);
  if (members.length === 0) return `There is no ${name}.`;
  const chosen = some && new Set(some);
  const branch = chosen ? null : upperBranch(model, new Set(members.map((i) => local[i])));
  const isPart = (i: number): boolean => (chosen ? chosen.has(i) : branch!.has(local[i]));
  const [part, rest] = [members.filter(isPart), members.filter((i) => !isPart(i))];
  if (branch?.size === 0) return `${capitalised(name)} is one local cluster: split it by lasso.`;
  if (part.length === 0) return `No sample of ${name} is selected.`;
  if (rest.length === 0) return `All samples of ${name} are selected.`;
  return { kind: "split", cluster, rows: rest.length < part.length ? rest : part, into: cut.nextId };
}

/** The local clusters on one side of the first split of the tree; none if there is only one local cluster. */
function upperBranch({ graph }: Model, locals: Set<number>): Set<number> {
  const leaves = [...graph.leaves.keys()].filter((at) => locals.has(graph.leaves[at]));
  const splits = leaves.map((at, i) => (i > 0 ? firstSplit(graph, leaves[i - 1], at) : Infinity));
  const first = splits.reduce((best, number, i) => (number < splits[best] ? i : best), 0);
  return new Set(first > 0 ? leaves.slice(first).map((at) => graph.leaves[at]) : []);
}

/** Move samples to a cluster, or to a new one, which is a split if they come from one cluster. */
export function moveEdit(model: Model, cut: Cut, some: Iterable<number>, into: number | null): Edit | string {
  if (into !== null && !cut.ids.includes(into)) return `There is no ${titleIn(cut, into)}.`;
  const idOf = (i: number): number => cut.ids[cut.samples[i]] ?? -1;
  const rows = [...new Set(some)].filter((i) => idOf(i) !== into).sort((a, b) => a - b);
  if (rows.length === 0) return "Select samples of other clusters to move.";
  const from = new Set(rows.map(idOf));
  if (into === null && from.size === 1 && !from.has(-1)) return splitEdit(model, cut, idOf(rows[0]), rows);
  return { kind: "move", rows, into: into ?? cut.nextId };
}

/** Name a cluster; an empty name removes the name. */
export function renameEdit({ ids, names }: Cut, cluster: number, text: string): Edit | string {
  const name = text.trim();
  if (!ids.includes(cluster) || name === (names[cluster] ?? "")) return "Enter another name.";
  const isUsed = ids.some((id) => id !== cluster && name === (names[id] ?? String(id)));
  return isUsed ? `Another cluster is already called “${name}”.` : { kind: "rename", cluster, name };
}

/** The name of a cluster by its number, or "cluster 3". */
export const titleIn = ({ names }: Cut, id: number): string => (id < 0 ? "noise" : (names[id] ?? `cluster ${id}`));

/** What an edit did. */
export function describeEdit(before: Cut, after: Cut): string {
  const edit = after.edit!;
  if (edit.kind === "rename") {
    const title = titleIn(before, edit.cluster);
    return edit.name ? `Named ${title} “${edit.name}”` : `Removed the name of ${title}`;
  }
  const size = count(sizeOf(after, edit.into), "sample");
  if (edit.kind === "merge") {
    const [first, second] = edit.clusters.map((id) => titleIn(before, id));
    return `Merged ${first} into ${second}: ${size}`;
  }
  if (edit.kind === "split") return `Split ${titleIn(before, edit.cluster)}: ${size} in cluster ${edit.into}`;
  return `Moved ${count(edit.rows.length, "sample")} to ${titleIn(after, edit.into)}`;
}

/** The file of edits, which a fit replays. */
export function editsFile(model: Model, [base, ...cuts]: Cut[]): string {
  const { names, rowLabels, nSamples } = model;
  return JSON.stringify({
    format: "gitcluster-edits",
    version: 1,
    n_samples: nSamples,
    n_clusters: base.fitted ? null : base.requested,
    rows: rowLabels === "names" ? names : (rowLabels ?? Array.from(base.samples, (_, i) => rowOf(model, i))),
    labels: Array.from(base.samples, (label) => base.ids[label] ?? -1),
    edits: cuts.map(({ edit }) => edit),
  });
}
