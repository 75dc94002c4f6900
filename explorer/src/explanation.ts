// The explanation of a sample, two samples, a sample and a cluster, a cluster, or a selection.

import type { App } from "./app";
import { css } from "./colours";
import { byId, capitalised, count, format, make, percent, swatch, term, withTerms } from "./dom";
import { editControls } from "./editing";
import { saveRows } from "./export";
import { type Column, type Connection, climbOf, lifeOf, rowOf, secondMembership } from "./model";
import {
  type Contrast,
  SMALL,
  average,
  cell,
  compareSamples,
  compareToGroup,
  contrastsOf,
  statsOf,
} from "./statistics";

type Cell = Node | string;

const MOST_STEPS = 12;
const MOST_CUT_EDGES = 4;
const MOST_ROWS = 8;
/** Longer texts are limited to some lines, and the shortest never wrap. */
const LONG_TEXT = 48;
const SHORT_TEXT = 10;

function clusterName(app: App, label: number): HTMLElement {
  return make("span", { class: "nowrap" }, swatch(css(app.colourOf(label))), app.titleOf(label));
}

const hint = (text: string): HTMLElement => make("p", { class: "hint" }, text);

/** A sentence about a share of the half-samples, in percent; none if it is unknown. */
const halfSamples = (words: string, share = -1): HTMLElement[] =>
  share >= 0 && share <= 100 ? [make("p", {}, `In ${share} % of the half-samples, ${words}.`)] : [];

function facts(rows: [Cell, ...Cell[]][]): HTMLElement {
  return make("dl", {}, ...rows.flatMap(([name, ...values]) => [make("dt", {}, name), make("dd", {}, ...values)]));
}

/** A table; rows beyond the first ones are shown by a button. */
function table(head: Cell[], rows: Cell[][], noun: string): HTMLElement {
  const cellOf = (value: Cell): HTMLElement => {
    if (typeof value !== "string") return make("td", {}, value);
    const kind = value.length > LONG_TEXT ? "long" : value.length <= SHORT_TEXT ? "nowrap" : "";
    return make("td", { title: value }, make("span", { class: kind }, value));
  };
  const rowOf = ([name, ...cells]: Cell[]): HTMLElement =>
    make("tr", {}, make("th", { scope: "row" }, name), ...cells.map(cellOf));
  const shown = rows.length <= MOST_ROWS + 3 ? rows.length : MOST_ROWS;
  const top = make(
    "tr",
    {},
    ...head.map((title) => make("th", { scope: "col" }, typeof title === "string" ? title : title.cloneNode(true))),
  );
  const body = make("table", { class: "profile" }, top, ...rows.slice(0, shown).map(rowOf));
  if (rows.length === shown) return body;
  const button = make("button", { type: "button", class: "small" }, `All ${rows.length} ${noun}`);
  button.addEventListener("click", () => {
    body.append(...rows.slice(shown).map(rowOf));
    button.remove();
  });
  return make("div", {}, body, button);
}

/** A table of the columns that the clustering used, and one of the other columns. */
function columnTables(head: Cell[], rows: { column: Column; cells: Cell[] }[], note = ""): HTMLElement[] {
  const part = (used: boolean): Cell[][] =>
    rows.filter(({ column }) => column.used === used).map(({ column, cells }) => [column.name, ...cells]);
  const parts: HTMLElement[] = [];
  if (part(true).length > 0) parts.push(table(["", ...head], part(true), "columns"));
  if (note && rows.length > 0) parts.push(hint(note));
  if (part(false).length > 0)
    parts.push(hint("Not used for clustering:"), table(["", ...head], part(false), "columns"));
  return parts;
}

function explainSample(app: App, sample: number): HTMLElement[] {
  const { model, cut } = app;
  const { samples, graph } = model;
  const local = samples.local[sample];
  const home = app.homeOf(sample);
  const second = secondMembership(model, cut, sample);
  const isClear = !second || second[1] < 0.0005 || cut.changed.has(second[0]);
  const other = isClear ? "" : `, ${second[1].toFixed(3)} in ${app.titleOf(second[0])}`;
  const isNoise = app.labelOf(sample) < 0;
  const own = cut.changed.has(home) ? "unknown, the cluster was edited" : app.membership[sample].toFixed(3) + other;
  const first: [Cell, ...Cell[]][] = [
    ["Cluster", clusterName(app, app.labelOf(sample)), isNoise && home >= 0 ? `, otherwise ${app.titleOf(home)}` : ""],
    [term("membership", "Membership"), isNoise ? "none" : own],
  ];
  const climb = climbOf(model, sample).map((step) => String(rowOf(model, step)));
  const nSteps = samples.steps ? samples.steps[sample] : climb.length - 1;
  if (climb.length > MOST_STEPS) climb.splice(MOST_STEPS - 3, climb.length - MOST_STEPS + 2, "…");
  const path = nSteps === 0 ? "none, the sample is a peak" : `${climb.join(" → ")} (${count(nSteps, "step")})`;
  const rest: [Cell, ...Cell[]][] = [
    [term("outlier score", "Outlier score"), samples.outlier[sample].toFixed(3)],
    [term("local cluster", "Local cluster"), `${local}, ${count(graph.sizes[local], "sample")}`],
    [term("climb", "Climb"), path],
    [term("log intensity", "Log intensity"), format(samples.intensity[sample])],
  ];
  const life = lifeOf(model, cut, home);
  if (life) {
    const { splitsAt, mergesAt, mergesWith } = life;
    const parts = [
      splitsAt !== null && `splits at ${splitsAt} clusters`,
      mergesAt !== null && `merges with ${mergesWith.map((label) => app.titleOf(label)).join(" and ")} at ${mergesAt}`,
    ].filter(Boolean);
    rest.unshift(["Its cluster", parts.join(", ") || "neither splits nor merges"]);
  }
  // Columns in which the cluster differs most come first.
  const stats = home < 0 ? [] : app.stats;
  const usual = new Map(compareToGroup(stats, sample, home).map(({ column, second }) => [column, second]));
  const columns = [...new Set([...app.contrasts(home).map(({ column }) => column), ...model.columns])];
  const rows = columns.map((column) => ({
    column,
    cells: [cell(column, column.values[sample]), ...(home < 0 ? [] : [usual.get(column) ?? ""])],
  }));
  return [
    make("h3", {}, capitalised(app.nameOf(sample))),
    facts(first),
    ...halfSamples("the row stays in its cluster", app.cut.stability?.samples[sample]),
    ...columnTables(["here", ...(home < 0 ? [] : [clusterName(app, home)])], rows),
    facts(rest),
    hint("Select a second sample, or a cluster in the list, to compare."),
  ];
}

/** The strongest path between two samples, its cut edges, and the numbers of clusters at which they are together. */
function explainConnection(app: App, connection: Connection): HTMLElement[] {
  const { path, edges, cut, weakest, together, togetherUpTo } = connection;
  const { pairs } = app.model.graph;
  const reason = app.cut.base ? "an edit" : "a constraint";
  if (path.length === 0) {
    const within = together ? ` within the cluster; ${reason} joins them` : "";
    return [make("p", {}, `The topo-graph has no path between them${within}.`)];
  }
  if (path.length === 1) {
    const end = together ? "so no number of clusters separates them" : "which an edit divides";
    return [withTerms(`Both are in local cluster ${path[0]}, ${end}.`)];
  }
  const describe = (e: number): string => {
    const at = edges.indexOf(e) + 1;
    return `${at} – ${at + 1} (${pairs[e] > 0 ? count(pairs[e], "boundary pair") : "a bridge, no boundary pair"})`;
  };
  const more = cut.length > MOST_CUT_EDGES ? ` and ${cut.length - MOST_CUT_EDGES} more` : "";
  const strongest =
    `The strongest path between them passes through ${path.length} local clusters, numbered 1 to ${path.length} in ` +
    "the graph. ";
  const detail = together
    ? `The ${edges.length === 1 ? "only" : "weakest"} edge is ${describe(weakest)}.`
    : cut.length === 0
      ? "None of its edges is cut: an edit divides a local cluster."
      : `Cut edges: ${cut.slice(0, MOST_CUT_EDGES).map(describe).join(", ")}${more}.`;
  const survival = cut.map((e) => app.cut.stability?.edges[e] ?? -1).filter((share) => share <= 100);
  const parts = [
    ...halfSamples("this path is cut there as well", Math.max(-1, ...survival)),
    withTerms(strongest + detail),
  ];
  if (togetherUpTo === 1) parts.push(make("p", {}, "They share a cluster only if there is a single one."));
  else if (togetherUpTo !== null) {
    parts.push(make("p", {}, `They share a cluster up to ${togetherUpTo} clusters, but not with more.`));
  }
  return parts;
}

function explainPair(app: App, [a, b]: number[], connection: Connection): HTMLElement[] {
  const [first, second] = [a, b].map((sample) => clusterName(app, app.homeOf(sample)));
  const verdict = connection.together ? ["Same cluster: ", first] : ["Different clusters: ", first, " and ", second];
  const show = (size: number): string => (size < SMALL / 4 ? "–" : size === Infinity ? "∞" : size.toFixed(1));
  const rows = compareSamples(app.stats, a, b).map(({ column, first, second, size }) => ({
    column,
    cells: [first, second, show(size)],
  }));
  const noise = [a, b].filter((sample) => app.labelOf(sample) < 0);
  return [
    ...[a, b].map((sample, i) =>
      make("h3", {}, make("b", { class: "badge" }, "AB"[i]), capitalised(app.nameOf(sample))),
    ),
    make("p", { class: "verdict" }, ...verdict),
    ...columnTables(
      ["A", "B", "difference"],
      rows,
      "Differences are in standard deviations of the column; different categories count as 1.",
    ),
    ...noise.map((sample) => make("p", {}, `Sample ${rowOf(app.model, sample)} is noise.`)),
    ...explainConnection(app, connection),
  ];
}

function explainSampleAndCluster(app: App, sample: number, cluster: number, connection: Connection): HTMLElement[] {
  const home = app.homeOf(sample);
  const isOwn = home === cluster;
  const atHome = new Map(compareToGroup(app.stats, sample, home).map((difference) => [difference.column, difference]));
  const rows = compareToGroup(app.stats, sample, cluster)
    .map(({ column, first, second, size }) => {
      const own = atHome.get(column)!;
      const cells = isOwn ? [first, second] : [first, second, own.second];
      return { column, cells, gain: size - (isOwn ? 0 : own.size) };
    })
    .sort((a, b) => (b.gain || 0) - (a.gain || 0));
  const order = isOwn ? "the difference from the cluster" : "how much better the sample fits its own cluster";
  return [
    make("h3", {}, `${capitalised(app.nameOf(sample))} is ${isOwn ? "" : "not "}in ${app.titleOf(cluster)}`),
    ...columnTables(
      ["here", clusterName(app, cluster), ...(isOwn ? [] : [clusterName(app, home)])],
      rows,
      `Sorted by ${order}. Numbers: mean of the cluster. Categories: share of the same value.`,
    ),
    ...(isOwn ? [] : explainConnection(app, connection)),
  ];
}

function contrastTables(app: App, contrasts: Contrast[], head: string): HTMLElement[] {
  if (app.model.columns.length === 0) return [hint("Pass the table to explore() to see how it differs.")];
  if (contrasts.length === 0) return [make("p", {}, "No column differs much from the other samples.")];
  const rows = contrasts.map(({ column, category, inside, elsewhere, effect }) => {
    const show = (value: number): string => (category === null ? average(column, value) : percent(value));
    const name = category === null ? column.name : `${column.name} = ${category}`;
    const difference = `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(1)}`;
    return { column: { ...column, name }, cells: [show(inside), show(elsewhere), difference] };
  });
  const note = "Numbers: means, and the difference in standard deviations. Categories: shares, and Cohen's h.";
  return columnTables([head, "elsewhere", "difference"], rows, note);
}

function rowsButton(app: App, samples: () => ArrayLike<number>, name: string): HTMLElement {
  const button = make("button", { type: "button", class: "small", id: "rows" }, "Rows (CSV)");
  button.addEventListener("click", () => saveRows(app, samples(), name));
  return button;
}

function explainCluster(app: App, cluster: number): HTMLElement[] {
  const { samples, sizes, ids, names } = app.cut;
  const members = (): number[] => [...samples.keys()].filter((i) => samples[i] === cluster);
  const title = names[ids[cluster]] ? `${names[ids[cluster]]} (cluster ${ids[cluster]})` : `Cluster ${ids[cluster]}`;
  return [
    make("h3", {}, swatch(css(app.colourOf(cluster))), `${title}: ${count(sizes[cluster], "sample")}`),
    ...contrastTables(app, app.contrasts(cluster), "here"),
    rowsButton(app, members, `cluster-${ids[cluster]}`),
  ];
}

function explainSelection(app: App, selection: Int32Array): HTMLElement[] {
  const { nShown, nSamples, columns } = app.model;
  const share = `${percent(selection.length / nShown)}${nShown < nSamples ? " of those shown" : ""}`;
  const title = make("h3", {}, `${count(selection.length, "sample")} selected, ${share}`);
  if (selection.length === 0) return [title, hint("Draw around some samples.")];
  const counts = new Map<number, number>();
  const groups = new Int32Array(nShown).fill(-1);
  for (const sample of selection) {
    groups[sample] = 0;
    counts.set(app.labelOf(sample), (counts.get(app.labelOf(sample)) ?? 0) + 1);
  }
  const rows = [...counts].sort((a, b) => b[1] - a[1]);
  return [
    title,
    table(
      ["", "samples", "share"],
      rows.map(([label, size]) => [clusterName(app, label), format(size), percent(size / selection.length)]),
      "clusters",
    ),
    ...contrastTables(app, contrastsOf(statsOf(columns, groups, 1), 0), "inside"),
    rowsButton(app, () => selection, "selection"),
  ];
}

export function showExplanation(app: App): void {
  const { picked, cluster, selection } = app;
  const connection = app.connection();
  const parts = (): HTMLElement[] => {
    if (selection) return explainSelection(app, selection);
    if (connection && cluster >= 0) return explainSampleAndCluster(app, picked[0], cluster, connection);
    if (connection) return explainPair(app, picked, connection);
    if (picked.length > 0) return explainSample(app, picked[0]);
    if (cluster >= 0) return explainCluster(app, cluster);
    return [
      hint("Select a sample or a node to see why it is in its cluster. Select two to compare them."),
      hint(`Select a cluster below to see how it differs${app.model.graph.editable ? ", and to edit it" : ""}.`),
    ];
  };
  const isActive = picked.length > 0 || cluster >= 0 || selection !== null;
  const elements = parts();
  const nTitles = elements.findIndex((element) => element.tagName !== "H3");
  elements.splice(nTitles, 0, ...editControls(app));
  byId("explanation").replaceChildren(...elements);
  byId("apply")?.focus({ preventScroll: true });
  const section = byId("explanation").parentElement!;
  section.scrollTop = 0;
  section.style.minHeight = ""; // or else the height to measure is that of the last explanation
  section.style.minHeight = `min(${section.scrollHeight}px, 340px, 46vh)`; // the rest scrolls if space is short
  byId("clear").hidden = !isActive;
  document.body.classList.toggle("explaining", isActive);
  if (isActive && getComputedStyle(section).position === "fixed") {
    // On a phone the explanation covers the lower half. Move the touched panel into the upper half.
    document.activeElement?.closest("#panels section")?.scrollIntoView({ block: "start" });
  }
}
