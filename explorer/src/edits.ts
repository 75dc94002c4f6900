// Edits by hand: merge, split, move and rename. Clusters have their public numbers here, and rows are shown samples.

import { capitalised, count, format } from "./dom";
import { type Cut, type Model, firstSplit, rowOf } from "./model";

/** One edit, as in the saved file. */
export type Edit =
  | { kind: "merge"; clusters: number[]; into: number }
  | { kind: "split"; cluster: number; rows: number[]; into: number }
  | { kind: "move"; rows: number[]; into: number }
  | { kind: "rename"; cluster: number; name: string };

/** The clusters after an edit. */
export interface State {
  edit: Edit | null;
  /** The cluster of every shown sample, -1 for noise, and of most samples in every local cluster. */
  ids: Int32Array;
  homes: Int32Array;
  /** Local clusters whose samples are in several clusters. */
  divided: Set<number>;
  /** Samples of every cluster and of noise (-1); estimated if the page shows a subset. */
  sizes: Map<number, number>;
  names: Record<number, string>;
  nextId: number;
}

/** The state before the first edit of a cut. */
export function startState(model: Model, { ids, samples, labels, names, nextId }: Cut): State {
  const idOf = (label: number): number => ids[label] ?? -1;
  const start = { edit: null, ids: samples.map(idOf), homes: Int32Array.from(labels, idOf), names, nextId };
  return { ...start, ...countSamples(model, start.ids, start.homes) };
}

/** Count the samples by cluster. A local cluster goes to most of its samples; of equal ones to its last cluster. */
function countSamples(model: Model, ids: Int32Array, last: Int32Array): Pick<State, "homes" | "divided" | "sizes"> {
  const { samples, graph, nLocal, nSamples } = model;
  const shown = new Float64Array(nLocal);
  samples.local.forEach((local, i) => (shown[local] += samples.noise[i] ? 0 : 1));
  const nNoise = nSamples - Array.from(graph.members).reduce((sum, size) => sum + size, 0);
  const noiseWeight = nNoise / (model.nShown - shown.reduce((sum, size) => sum + size, 0));
  const sizes = new Map<number, number>();
  const inLocal = Array.from({ length: nLocal }, () => new Map<number, number>());
  ids.forEach((id, i) => {
    const local = samples.local[i];
    const weight = samples.noise[i] ? noiseWeight : graph.members[local] / shown[local];
    sizes.set(id, (sizes.get(id) ?? 0) + weight);
    if (id >= 0) inLocal[local].set(id, (inLocal[local].get(id) ?? 0) + 1);
  });
  sizes.forEach((size, id) => sizes.set(id, Math.round(size)));
  const homes = last.map((home, local) => {
    const [best] = [...inLocal[local]].sort((a, b) => b[1] - a[1] || +(b[0] === home) - +(a[0] === home));
    return best ? best[0] : sizes.has(home) ? home : -1;
  });
  const divided = new Set([...inLocal.keys()].filter((local) => inLocal[local].size > 1));
  return { homes, divided, sizes };
}

export function applyEdit(model: Model, before: State, edit: Edit): State {
  if (edit.kind === "rename") {
    const { [edit.cluster]: _, ...others } = before.names;
    return { ...before, edit, names: edit.name ? { ...others, [edit.cluster]: edit.name } : others };
  }
  const ids = before.ids.slice();
  if (edit.kind === "merge") {
    for (let i = 0; i < ids.length; i++) if (edit.clusters.includes(ids[i])) ids[i] = edit.into;
  } else for (const row of edit.rows) ids[row] = edit.into;
  const joined = edit.kind === "merge" ? edit.clusters : [];
  const last = before.homes.map((home) => (joined.includes(home) ? edit.into : home));
  const counted = countSamples(model, ids, last);
  const names = Object.fromEntries(Object.entries(before.names).filter(([id]) => counted.sizes.has(Number(id))));
  return { edit, ids, names, nextId: Math.max(before.nextId, edit.into + 1), ...counted };
}

/** The clusters of a state as a cut. What the model computed for changed clusters no longer applies. */
export function editedCut(base: Cut, { ids: now, homes, sizes, names, nextId }: State): Cut {
  const ids = [...sizes.keys()].filter((id) => id >= 0).sort((a, b) => a - b);
  const positions = new Map(ids.map((id, i) => [id, i]));
  const at = (id: number): number => positions.get(id) ?? -1;
  const samples = now.map(at);
  const labels = homes.map(at);
  const changed = new Set<number>();
  now.forEach((id, i) => {
    const before = base.ids[base.samples[i]] ?? -1;
    if (id !== before) changed.add(at(id)).add(at(before));
  });
  const { stability } = base;
  return {
    ...base,
    ...{ base, changed, ids, samples, labels, names, nextId },
    sizes: ids.map((id) => sizes.get(id)!),
    nNoise: sizes.get(-1) ?? 0,
    nClusters: ids.length,
    fitted: false,
    nested: false,
    stability: stability && {
      clusters: ids.map((id, i) => (changed.has(i) ? -1 : stability.clusters[base.ids.indexOf(id)])),
      samples: stability.samples.map((share, i) => (changed.has(samples[i]) ? 255 : share)),
      edges: stability.edges.map(() => 255),
    },
  };
}

/** Merge two clusters into the larger one, of equal ones into the one with the smaller number; or say why not. */
export function mergeEdit({ sizes }: State, a: number, b: number): Edit | string {
  if (a === b || a < 0 || b < 0 || !sizes.has(a) || !sizes.has(b)) return "Select two different clusters to merge.";
  const [smaller, larger] = [a, b].sort((x, y) => sizes.get(x)! - sizes.get(y)! || y - x);
  return { kind: "merge", clusters: [smaller, larger], into: larger };
}

/** Split a cluster into some samples and the others, or along the next cut of the tree. The smaller part is new. */
export function splitEdit(model: Model, state: State, cluster: number, some: Iterable<number> | null): Edit | string {
  const { local } = model.samples;
  const members = [...state.ids.keys()].filter((i) => state.ids[i] === cluster);
  const chosen = some && new Set(some);
  const branch = chosen ? null : upperBranch(model, new Set(members.map((i) => local[i])));
  const isPart = (i: number): boolean => (chosen ? chosen.has(i) : branch!.has(local[i]));
  const [part, rest] = [members.filter(isPart), members.filter((i) => !isPart(i))];
  const name = titleIn(state, cluster);
  if (members.length === 0) return `There is no ${name}.`;
  if (part.length === 0)
    return chosen
      ? `No sample of ${name} is selected.`
      : `${capitalised(name)} is one local cluster: split it by lasso.`;
  if (rest.length === 0) return `All samples of ${name} are selected.`;
  const rows = rest.length < part.length ? rest : part;
  return { kind: "split", cluster, rows, into: state.nextId };
}

/** The local clusters on one side of the first split of the tree; none if there is only one local cluster. */
function upperBranch({ graph }: Model, locals: Set<number>): Set<number> {
  const leaves = [...graph.leaves.keys()].filter((at) => locals.has(graph.leaves[at]));
  const splits = leaves.map((at, i) => (i > 0 ? firstSplit(graph, leaves[i - 1], at) : Infinity));
  const first = splits.indexOf(Math.min(...splits));
  return new Set(leaves.length > 1 ? leaves.slice(first).map((at) => graph.leaves[at]) : []);
}

/** Move samples to a cluster, or to a new one, which is a split if they come from one cluster. */
export function moveEdit(model: Model, state: State, some: Iterable<number>, into: number | null): Edit | string {
  const rows = [...new Set(some)].filter((i) => state.ids[i] !== into).sort((a, b) => a - b);
  if (into !== null && (into < 0 || !state.sizes.has(into))) return `There is no ${titleIn(state, into)}.`;
  if (rows.length === 0) return "Select samples of other clusters to move.";
  const from = new Set(rows.map((i) => state.ids[i]));
  const [only] = from;
  if (into === null && from.size === 1 && only >= 0) return splitEdit(model, state, only, rows);
  return { kind: "move", rows, into: into ?? state.nextId };
}

/** Name a cluster; an empty name removes the name. */
export function renameEdit({ sizes, names }: State, cluster: number, text: string): Edit | string {
  const name = text.trim();
  if (cluster < 0 || !sizes.has(cluster) || name === (names[cluster] ?? "")) return "Enter another name.";
  const other = [...sizes.keys()].find((id) => id !== cluster && name === (names[id] ?? String(id)));
  return other === undefined ? { kind: "rename", cluster, name } : `Another cluster is already called “${name}”.`;
}

export const titleIn = ({ names }: Pick<State, "names">, id: number): string =>
  id < 0 ? "noise" : (names[id] ?? `cluster ${id}`);

const listed = (words: string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;

/** What an edit does, or what it did. */
export function describeEdit(before: State, { edit, sizes }: State, done: boolean): string {
  const tag = (id: number): string => before.names[id] ?? String(id);
  if (edit!.kind === "merge") {
    const clusters = [...edit!.clusters].sort((a, b) => a - b).map(tag);
    return `Merge${done ? "d" : ""} ${listed(clusters)} into ${tag(edit!.into)} (${count(sizes.get(edit!.into)!, "sample")})`;
  }
  if (edit!.kind === "rename") {
    const { cluster, name } = edit!;
    return name ? `Named ${titleIn(before, cluster)} “${name}”` : `Removed the name of ${titleIn(before, cluster)}`;
  }
  const samples = count(edit!.rows.length, "sample");
  if (edit!.kind === "split") return `Split ${samples} off ${titleIn(before, edit!.cluster)} as cluster ${edit!.into}`;
  const from = [...new Set(edit!.rows.map((i) => before.ids[i]))]
    .sort((a, b) => a - b)
    .map((id) => titleIn(before, id));
  const target = before.sizes.has(edit!.into) ? titleIn(before, edit!.into) : `the new cluster ${edit!.into}`;
  return `Move${done ? "d" : ""} ${samples} from ${listed(from)} to ${target}`;
}

/** The sizes that an edit changes, and the decisions of the model that it overrides. */
export function describeEffect({ graph }: Model, before: State, after: State): string[] {
  const ids = [...new Set([...before.sizes.keys(), ...after.sizes.keys()])].sort((a, b) => a - b);
  const sizes = ids
    .map((id) => ({ id, from: before.sizes.get(id) ?? 0, to: after.sizes.get(id) ?? 0 }))
    .filter(({ from, to }) => from !== to)
    .map(({ id, from, to }) => `${titleIn(before, id)}: ${from > 0 ? `${format(from)} → ` : "new, "}${format(to)}`);
  let [joined, parted] = [0, 0];
  for (let e = 0; e < graph.edges.length; e += 2) {
    const [a, b] = [graph.edges[e], graph.edges[e + 1]];
    const [wasKept, isKept] = [before, after].map(({ homes }) => homes[a] === homes[b]);
    joined += +(isKept && !wasKept);
    parted += +(wasKept && !isKept);
  }
  const divided = [...after.divided].filter((local) => !before.divided.has(local)).length;
  const parts = [
    joined > 0 && `joins clusters across ${count(joined, "cut edge")}`,
    parted > 0 && `separates ${count(parted, "kept edge")}`,
    divided > 0 && `divides ${count(divided, "local cluster")}`,
  ].filter((part): part is string => part !== false);
  const nothing = after.edit!.kind === "merge" ? "No edge connects them" : "Overrides no edge of the topo-graph";
  const effect = parts.length > 0 ? listed(parts) : nothing;
  return [`${capitalised(sizes.join("; "))}.`, `${capitalised(effect)}.`];
}

/** The file of edits, which a fit replays. */
export function editsFile(model: Model, base: Cut, [start, ...states]: State[]): string {
  const { names, rowLabels, nSamples } = model;
  const rows = Array.from(start.ids, (_, i) => rowOf(model, i));
  return JSON.stringify({
    format: "gitcluster-edits",
    version: 1,
    n_samples: nSamples,
    n_clusters: base.fitted ? null : base.requested,
    rows: rowLabels === "names" ? names : (rowLabels ?? rows),
    labels: Array.from(start.ids),
    edits: states.map(({ edit }) => edit),
  });
}
