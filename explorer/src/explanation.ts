// The explanation of a sample, two samples, a sample and a cluster, a cluster, or a selection.

import type { App } from "./app";
import { css } from "./colours";
import { button, byId, capitalised, count, format, make, percent, shortened, swatch, term } from "./dom";
import { editControls } from "./editing";
import { saveRows } from "./export";
import { type Column, type Connection, secondMembership } from "./model";
import { type Contrast, average, cell, compareSamples, compareToGroup, contrastsOf, statsOf } from "./statistics";

type Cell = Node | string;

const MOST_CUT_EDGES = 4;
const MOST_LETTERS = 60;

const clusterName = (app: App, label: number): HTMLElement =>
  make("span", { class: "nowrap" }, swatch(css(app.colourOf(label))), app.titleOf(label));

const hint = (text: string): HTMLElement => make("p", { class: "hint" }, text);

const paragraph = (text: string): HTMLElement => make("p", {}, text);

function table(head: Cell[], rows: Cell[][]): HTMLElement {
  const top = head.map((title) =>
    make("th", { scope: "col" }, typeof title === "string" ? title : title.cloneNode(true)),
  );
  const cellOf = (value: Cell): HTMLElement =>
    typeof value === "string" ? make("td", { title: value }, shortened(value, MOST_LETTERS)) : make("td", {}, value);
  const body = rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map(cellOf)));
  return make("table", { class: "profile" }, make("tr", {}, ...top), ...body);
}

/** A table of the columns that the clustering used, and one of the other columns. */
function columnTables(head: Cell[], rows: { column: Column; cells: Cell[] }[], note = ""): HTMLElement[] {
  const part = (used: boolean): Cell[][] =>
    rows.filter(({ column }) => column.used === used).map(({ column, cells }) => [column.name, ...cells]);
  const [used, unused] = [part(true), part(false)];
  return [
    ...(used.length > 0 ? [table(["", ...head], used)] : []),
    ...(note && rows.length > 0 ? [hint(note)] : []),
    ...(unused.length > 0 ? [hint("Not used for clustering:"), table(["", ...head], unused)] : []),
  ];
}

function explainSample(app: App, sample: number): HTMLElement[] {
  const { model, cut } = app;
  const { samples, graph } = model;
  const local = samples.local[sample];
  const home = app.homeOf(sample);
  const second = secondMembership(model, cut, sample);
  const isShown = second && second[1] >= 0.0005 && !cut.changed.has(second[0]);
  const other = isShown ? `, ${second[1].toFixed(3)} in ${app.titleOf(second[0])}` : "";
  const isNoise = app.labelOf(sample) < 0;
  const membership = cut.changed.has(home) ? "unknown, edited" : app.membership[sample].toFixed(3) + other;
  const facts: [Cell, Cell][] = [
    ["Cluster", clusterName(app, app.labelOf(sample))],
    [term("Membership"), isNoise ? "none" : membership],
    [term("Outlier score"), samples.outlier[sample].toFixed(3)],
    [
      term("Local cluster"),
      `${local}: ${count(graph.sizes[local], "sample")}, peak: ${app.nameOf(graph.peaks[local])}`,
    ],
    [term("Log intensity"), samples.intensity[sample].toPrecision(4)],
  ];
  const stability = cut.stability?.samples[sample] ?? 255;
  if (stability <= 100) facts.splice(2, 0, ["Stability", `in its cluster in ${stability} % of the half-samples`]);
  // Columns in which the cluster differs most come first.
  const usual = new Map(
    (home < 0 ? [] : compareToGroup(app.stats, sample, home)).map(({ column, second }) => [column, second]),
  );
  const columns = [...new Set([...app.contrasts(home).map(({ column }) => column), ...model.columns])];
  const rows = columns.map((column) => ({
    column,
    cells: [cell(column, column.values[sample]), ...(home < 0 ? [] : [usual.get(column) ?? ""])],
  }));
  return [
    make("h3", {}, capitalised(app.nameOf(sample))),
    make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    ...columnTables(["here", ...(home < 0 ? [] : [clusterName(app, home)])], rows),
    hint("Select a second sample, or a cluster in the list, to compare."),
  ];
}

/** The strongest path between two samples, its cut edges, and the numbers of clusters at which they are together. */
function explainConnection(app: App, connection: Connection): HTMLElement[] {
  const { path, edges, cut, weakest, togetherUpTo } = connection;
  const { pairs } = app.model.graph;
  if (path.length === 0) return [paragraph("The topo-graph has no path between them.")];
  if (path.length === 1) return [paragraph(`Both are in local cluster ${path[0]}.`)];
  const describe = (e: number): string => {
    const at = edges.indexOf(e) + 1;
    return `${at} – ${at + 1} (${pairs[e] > 0 ? count(pairs[e], "boundary pair") : "a bridge"})`;
  };
  const shown = cut.slice(0, MOST_CUT_EDGES).map(describe).join(", ");
  const detail = cut.length === 0 ? `Its weakest edge: ${describe(weakest)}` : `Cut edges: ${shown}`;
  const more = cut.length > MOST_CUT_EDGES ? ` and ${cut.length - MOST_CUT_EDGES} more` : "";
  return [
    paragraph(
      `The strongest path between them has ${path.length} local clusters, numbered in the graph. ${detail}${more}.`,
    ),
    ...(togetherUpTo === null
      ? []
      : [paragraph(`They share a cluster in all cuts into up to ${count(togetherUpTo, "cluster")}.`)]),
  ];
}

function explainPair(app: App, [a, b]: number[], connection: Connection): HTMLElement[] {
  const [first, second] = [a, b].map((sample) => clusterName(app, app.labelOf(sample)));
  const verdict = connection.together ? ["Same cluster: ", first] : ["Different clusters: ", first, " and ", second];
  const rows = compareSamples(app.stats, a, b).map(({ column, first, second, size }) => ({
    column,
    cells: [first, second, size.toFixed(1)],
  }));
  return [
    ...[a, b].map((sample, i) =>
      make("h3", {}, make("b", { class: "badge" }, "AB"[i]), capitalised(app.nameOf(sample))),
    ),
    make("p", { class: "verdict" }, ...verdict),
    ...explainConnection(app, connection),
    ...columnTables(
      ["A", "B", "difference"],
      rows,
      "Differences are in standard deviations of the column; different categories count as 1.",
    ),
  ];
}

function explainSampleAndCluster(app: App, sample: number, cluster: number, connection: Connection): HTMLElement[] {
  const home = app.homeOf(sample);
  const isOwn = home === cluster;
  const atHome = new Map(compareToGroup(app.stats, sample, home).map((difference) => [difference.column, difference]));
  const rows = compareToGroup(app.stats, sample, cluster)
    .map(({ column, first, second, size }) => {
      const own = atHome.get(column)!;
      return { column, cells: [first, second, ...(isOwn ? [] : [own.second])], gain: size - (isOwn ? 0 : own.size) };
    })
    .sort((a, b) => (b.gain || 0) - (a.gain || 0));
  const order = isOwn ? "the difference from the cluster" : "how much better the sample fits its own cluster";
  return [
    make("h3", {}, `${capitalised(app.nameOf(sample))} is ${isOwn ? "" : "not "}in ${app.titleOf(cluster)}`),
    ...(isOwn ? [] : explainConnection(app, connection)),
    ...columnTables(
      ["here", clusterName(app, cluster), ...(isOwn ? [] : [clusterName(app, home)])],
      rows,
      `Sorted by ${order}. Numbers: mean of the cluster. Categories: share of the same value.`,
    ),
  ];
}

function contrastTables(app: App, contrasts: Contrast[], head: string): HTMLElement[] {
  if (app.model.columns.length === 0) return [hint("Pass the table to explore() to see how it differs.")];
  if (contrasts.length === 0) return [paragraph("No column differs much from the other samples.")];
  const rows = contrasts.map(({ column, category, inside, elsewhere, effect }) => {
    const show = (value: number): string => (category === null ? average(column, value) : percent(value));
    const name = category === null ? column.name : `${column.name} = ${category}`;
    const difference = `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(1)}`;
    return { column: { ...column, name }, cells: [show(inside), show(elsewhere), difference] };
  });
  const note = "Numbers: means, and the difference in standard deviations. Categories: shares, and Cohen's h.";
  return columnTables([head, "elsewhere", "difference"], rows, note);
}

const rowsButton = (app: App, samples: () => ArrayLike<number>, name: string): HTMLElement =>
  button("Rows (CSV)", () => saveRows(app, samples(), name), { class: "small", id: "rows" });

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
  const { nShown, columns } = app.model;
  const title = make("h3", {}, `${count(selection.length, "sample")} selected, ${percent(selection.length / nShown)}`);
  if (selection.length === 0) return [title, hint("Draw around some samples.")];
  const counts = new Map<number, number>();
  const groups = new Int32Array(nShown).fill(-1);
  for (const sample of selection) {
    groups[sample] = 0;
    counts.set(app.labelOf(sample), (counts.get(app.labelOf(sample)) ?? 0) + 1);
  }
  const rows = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([label, size]) => [clusterName(app, label), format(size), percent(size / selection.length)]);
  return [
    title,
    table(["", "samples", "share"], rows),
    ...contrastTables(app, contrastsOf(statsOf(columns, groups, 1), 0), "inside"),
    rowsButton(app, () => selection, "selection"),
  ];
}

function explain(app: App): HTMLElement[] {
  const { picked, cluster, selection, connection } = app;
  if (selection) return explainSelection(app, selection);
  if (connection && cluster >= 0) return explainSampleAndCluster(app, picked[0], cluster, connection);
  if (connection) return explainPair(app, picked, connection);
  if (picked.length > 0) return explainSample(app, picked[0]);
  if (cluster >= 0) return explainCluster(app, cluster);
  return [
    hint("Select a sample or a node to see why it is in its cluster. Select two to compare them."),
    hint(`Select a cluster below to see how it differs${app.model.graph.editable ? ", and to edit it" : ""}.`),
  ];
}

export function showExplanation(app: App): void {
  const isActive = app.picked.length > 0 || app.cluster >= 0 || app.selection !== null;
  const elements = explain(app);
  const nTitles = elements.findIndex((element) => element.tagName !== "H3");
  elements.splice(nTitles, 0, ...editControls(app));
  const box = byId("explanation");
  box.replaceChildren(...elements);
  box.parentElement!.scrollTop = 0;
  byId("clear").hidden = !isActive;
  document.body.classList.toggle("explaining", isActive);
  if (isActive && getComputedStyle(box.parentElement!).position === "fixed") {
    // On a phone the explanation covers the lower half. Move the touched panel into the upper half.
    document.activeElement?.closest("#panels section")?.scrollIntoView({ block: "start" });
  }
}
