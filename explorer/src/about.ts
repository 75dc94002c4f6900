// The explanation of what is picked: a sample, two samples, a sample beside a cluster, a cluster, or a selection.

import type { App } from "./app";
import { sharesOf } from "./cut";
import { byId, count, format, make, percent } from "./dom";
import { saveRows } from "./download";
import { type PairStory, type SampleStory, secondMembership } from "./explain";
import { css } from "./palette";
import { type Cell, clusterName, facts, sentence, swatch, table } from "./parts";
import { type Column, rowOf } from "./payload";
import { type Contrast, SMALL, average, cell, compareSamples, compareToGroup, contrastsOf, statsOf } from "./profile";
import { shareDistance } from "./proportions";
import { wantedShares } from "./side";
import { term, withTerms } from "./terms";

const LONGEST_WAY = 12;
const MOST_CUT = 4;
const MOST_ROWS = 8;
const UNUSED = "Not used for clustering:";

/** "1 → 2 → 3", shortened in the middle where it is long. */
function way(numbers: number[]): string {
  const words = numbers.map(String);
  if (words.length > LONGEST_WAY) words.splice(LONGEST_WAY - 3, words.length - LONGEST_WAY + 2, "…");
  return words.join(" → ");
}

function life({ splitsAt, mergesAt, mergesWith }: SampleStory): string {
  const parts = [];
  if (splitsAt !== null) parts.push(`splits at ${splitsAt} clusters`);
  if (mergesAt !== null) parts.push(`merges with cluster ${mergesWith} at ${mergesAt}`);
  return parts.join(", ") || "neither splits nor merges";
}

function membershipText(app: App, sample: number): string {
  if (app.model.samples.noise[sample]) return "none";
  const second = secondMembership(app.model, app.cut, sample);
  const other = second && second.share >= 0.0005 ? `, ${second.share.toFixed(3)} in cluster ${second.label}` : "";
  return app.membership[sample].toFixed(3) + other;
}

function climbText(app: App, { steps, climb }: SampleStory): string {
  if (steps === 0) return "none, the sample is a peak";
  return `${way(climb.map((sample) => rowOf(app.model, sample)))} (${count(steps, "step")} to the peak)`;
}

function aboutSample(app: App, sample: number): HTMLElement[] {
  const { model, cut } = app;
  const { samples, graph } = model;
  const story = app.story(sample);
  const home = cut.labels[story.local];
  const first: [Cell, ...Cell[]][] = [
    ["Cluster", clusterName(app, app.labelOf(sample)), samples.noise[sample] ? `, else cluster ${home}` : ""],
    [term("membership", "Membership"), membershipText(app, sample)],
  ];
  const rows: [Cell, ...Cell[]][] = [
    [term("outlier score", "Outlier score"), samples.outlier[sample].toFixed(3)],
    [term("local cluster", "Local cluster"), `${story.local}, of ${count(graph.sizes[story.local], "sample")}`],
    [term("climb", "Climb"), climbText(app, story)],
    [term("log intensity", "Log intensity"), format(samples.intensity[sample])],
  ];
  if (cut.nested) rows.unshift(["Its cluster", life(story)]);
  const more = "Select a second sample, or a cluster in the list, to compare.";
  return [
    make("h3", {}, sentence(app.nameOf(sample))),
    facts(...first),
    ...columnsOfSample(app, sample, home),
    facts(...rows),
    make("p", { class: "hint" }, more),
  ];
}

/** The columns in which its cluster differs most come first, beside what is usual in the cluster. */
function columnsOfSample(app: App, sample: number, home: number): HTMLElement[] {
  const beside = new Map(compareToGroup(app.stats, sample, home).map((found) => [found.column, found.second]));
  const most = [...app.contrasts(home), ...app.contrasts(home, false)].map(({ column }) => column);
  const columns = [...new Set([...most, ...app.model.columns])];
  const rows = columns.map((column) => ({
    column,
    cells: [column.name, cell(column, column.values[sample]), beside.get(column) ?? ""],
  }));
  return usedFirst(["", "here", clusterName(app, home)], rows);
}

/** A table of the columns that the clustering used, and apart from it one of the others, which are no reasons. */
function usedFirst(head: Cell[], rows: { column: Column; cells: Cell[] }[], note = ""): HTMLElement[] {
  const hint = (text: string): HTMLElement[] => (text === "" ? [] : [make("p", { class: "hint" }, text)]);
  const [used, others] = [true, false].map((is) => rows.filter(({ column }) => column.used === is));
  const show = (some: typeof rows): HTMLElement[] => {
    const titles = head.map((title) => (typeof title === "string" ? title : title.cloneNode(true)));
    return some.length > 0
      ? [
          table(
            titles,
            some.map(({ cells }) => cells),
            MOST_ROWS,
          ),
        ]
      : [];
  };
  return [
    ...show(used),
    ...hint(rows.length > 0 ? note : ""),
    ...hint(others.length > 0 ? UNUSED : ""),
    ...show(others),
  ];
}

function edgeText(app: App, pair: PairStory, e: number): string {
  const { pairs } = app.model.graph;
  const at = pair.edges.indexOf(e) + 1;
  return `${at} – ${at + 1} (${pairs[e] > 0 ? count(pairs[e], "boundary pair") : "a bridge, no boundary pair"})`;
}

function whatConnects(app: App, pair: PairStory): string {
  if (!pair.connected) {
    const by = pair.together ? ": a constraint joins them" : "";
    return `The topo-graph has no path between them${by}.`;
  }
  if (pair.path.length === 1) {
    return `Both climb to the peak of local cluster ${pair.path[0]}, so no number of clusters separates them.`;
  }
  const along = `${pair.path.length} local clusters, numbered 1 to ${pair.path.length} in the graph`;
  const strongest = `The strongest path between them passes through ${along}.`;
  if (pair.together) {
    const which = pair.edges.length === 1 ? "only" : "weakest";
    return `${strongest} The ${which} edge is ${edgeText(app, pair, pair.weakest)}.`;
  }
  const cut = pair.cut.map((e) => edgeText(app, pair, e));
  const more = cut.length > MOST_CUT ? ` and ${cut.length - MOST_CUT} more` : "";
  return `${strongest} Cut edges: ${cut.slice(0, MOST_CUT).join(", ")}${more}.`;
}

/** W1 to the prior, where there is one, now and if two clusters were one. */
function distanceIfMerged(app: App, first: number, second: number): [number, number] | null {
  const { graph } = app.model;
  const prior = wantedShares(app);
  if (first === second || prior.length === 0) return null;
  const merged = app.cut.labels.map((label) => (label === second ? first : label));
  return [
    shareDistance(sharesOf(graph, app.cut.labels), prior),
    shareDistance(sharesOf(graph, merged).filter(Boolean), prior),
  ];
}

/** The way between two clusters, and what would join them. */
function aboutWay(app: App, pair: PairStory, first: number, second: number): HTMLElement[] {
  const parts: HTMLElement[] = [withTerms(whatConnects(app, pair))];
  const moved = distanceIfMerged(app, first, second);
  if (moved) {
    const [now, then] = moved.map((distance) => distance.toFixed(3));
    parts.push(make("p", {}, `Merging the two clusters would change the distance to the prior: ${now} to ${then}.`));
  }
  const upTo = pair.togetherUpTo;
  if (upTo === null || pair.path.length === 1) return parts;
  const only = "They share a cluster only if there is a single one.";
  parts.push(
    make("p", {}, upTo === 1 ? only : `They share a cluster up to ${upTo} clusters, but not from ${upTo + 1} on.`),
  );
  return parts;
}

function aboutPair(app: App, pair: PairStory): HTMLElement[] {
  const [a, b] = app.picked;
  const [first, second] = [a, b].map((sample) => app.cut.labels[app.model.samples.local[sample]]);
  const verdict = pair.together
    ? make("p", { class: "verdict" }, "Same cluster: ", clusterName(app, first))
    : make(
        "p",
        { class: "verdict" },
        "Different clusters: ",
        clusterName(app, first),
        " and ",
        clusterName(app, second),
      );
  const parts: HTMLElement[] = [
    make("h3", {}, make("b", { class: "badge" }, "A"), sentence(app.nameOf(a))),
    make("h3", {}, make("b", { class: "badge" }, "B"), sentence(app.nameOf(b))),
    verdict,
  ];
  const rows = compareSamples(app.stats, a, b).map(({ column, first, second, size }) => ({
    column,
    cells: [column.name, first, second, steps(size)],
  }));
  const scale = "Differences are in standard deviations of the column; different categories count as 1.";
  parts.push(...usedFirst(["", "A", "B", "difference"], rows, scale));
  for (const sample of [a, b].filter((sample) => app.model.samples.noise[sample])) {
    parts.push(make("p", {}, `Sample ${rowOf(app.model, sample)} is labelled as noise.`));
  }
  return [...parts, ...aboutWay(app, pair, first, second)];
}

const steps = (size: number): string => (size < SMALL / 4 ? "–" : size === Infinity ? "∞" : size.toFixed(1));

function aboutSampleAndCluster(app: App, sample: number, cluster: number, pair: PairStory): HTMLElement[] {
  const home = app.cut.labels[app.model.samples.local[sample]];
  const own = home === cluster;
  const title = `${sentence(app.nameOf(sample))} ${own ? "in" : "is not in"} cluster ${cluster}`;
  const at = new Map(compareToGroup(app.stats, sample, home).map((found) => [found.column, found]));
  const found = compareToGroup(app.stats, sample, cluster)
    .map((there) => ({ ...there, gain: there.size - (own ? 0 : at.get(there.column)!.size) || 0 }))
    .sort((a, b) => b.gain - a.gain);
  const head = ["", "here", clusterName(app, cluster), ...(own ? [] : [clusterName(app, home)])];
  const rows = found.map(({ column, first, second }) => ({
    column,
    cells: [column.name, first, second, ...(own ? [] : [at.get(column)!.second])],
  }));
  const note = own
    ? "Sorted by the difference from the cluster. Numbers: mean of the cluster. Categories: share of the same value."
    : "Sorted by how much better it fits its own cluster. Numbers: means. Categories: share of the same value.";
  return [make("h3", {}, title), ...usedFirst(head, rows, note), ...(own ? [] : aboutWay(app, pair, home, cluster))];
}

function contrastTable(app: App, found: Contrast[], head: string): HTMLElement[] {
  if (app.model.columns.length === 0) {
    return [make("p", { class: "hint" }, "Pass the table to explore() to see how it differs.")];
  }
  if (found.length === 0) return [make("p", {}, "No column differs much from the other samples.")];
  const rows = found.map(({ column, value, inside, elsewhere, effect }) => {
    const show = (number: number): string => (value === null ? average(column, number) : percent(number));
    const name = value === null ? column.name : `${column.name} = ${value}`;
    const by = `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(1)}`;
    return { column, cells: [name, show(inside), show(elsewhere), by] };
  });
  const note = "Numbers: means, and the difference in standard deviations. Categories: shares, and Cohen's h.";
  return usedFirst(["", head, "elsewhere", "difference"], rows, note);
}

function rowsButton(app: App, samples: () => ArrayLike<number>, name: string): HTMLElement {
  const button = make("button", { type: "button", class: "rows" }, "Rows (CSV)");
  button.addEventListener("click", () => saveRows(app, samples(), name));
  return button;
}

function aboutCluster(app: App, cluster: number): HTMLElement[] {
  const size = app.clusterSizes()[cluster];
  const members = (): number[] => [...app.model.samples.local.keys()].filter((i) => app.labelOf(i) === cluster);
  return [
    make("h3", {}, swatch(css(app.colourOf(cluster))), `Cluster ${cluster}: ${count(size, "sample")}`),
    ...contrastTable(app, [...app.contrasts(cluster), ...app.contrasts(cluster, false)], "here"),
    rowsButton(app, members, `cluster-${cluster}`),
  ];
}

/** Samples within the lasso: how many, of which clusters, and what sets them apart. */
function aboutSelection(app: App, selection: Int32Array): HTMLElement[] {
  const { nShown, nSamples } = app.model;
  const shown = nShown < nSamples ? " of those shown" : "";
  const title = make(
    "h3",
    {},
    `${count(selection.length, "sample")} selected, ${percent(selection.length / nShown)}${shown}`,
  );
  if (selection.length === 0) return [title, make("p", { class: "hint" }, "Draw around some samples.")];
  const counts = new Map<number, number>();
  for (const sample of selection) counts.set(app.labelOf(sample), (counts.get(app.labelOf(sample)) ?? 0) + 1);
  const parts = [...counts].sort((a, b) => b[1] - a[1]);
  const groups = new Int32Array(nShown).fill(-1);
  for (const sample of selection) groups[sample] = 0;
  const rows = parts.map(([label, size]) => [clusterName(app, label), format(size), percent(size / selection.length)]);
  return [
    title,
    table(["", "samples", "share"], rows, MOST_ROWS, "clusters"),
    ...contrastTable(app, contrastsOf(statsOf(app.model.columns, groups, 1), 0), "inside"),
    rowsButton(app, () => selection, "selection"),
  ];
}

export function showExplanation(app: App): void {
  const pair = app.pair();
  const intro = make(
    "p",
    { class: "hint" },
    "Select a sample or a node to see why it is in its cluster. Select two to compare them. Select a cluster below to " +
      "see how it differs from all other samples.",
  );
  const parts = (): HTMLElement[] => {
    const [sample] = app.picked;
    if (app.selection) return aboutSelection(app, app.selection);
    if (pair && app.cluster >= 0) return aboutSampleAndCluster(app, sample, app.cluster, pair);
    if (pair) return aboutPair(app, pair);
    if (app.picked.length > 0) return aboutSample(app, sample);
    return app.cluster >= 0 && app.cluster < app.cut.nClusters ? aboutCluster(app, app.cluster) : [intro];
  };
  const something = app.picked.length > 0 || app.cluster >= 0 || app.selection !== null;
  byId("explanation").replaceChildren(...parts());
  const section = byId("explanation").parentElement!;
  section.scrollTop = 0;
  byId("clear").hidden = !something;
  document.body.classList.toggle("explaining", something);
  if (something && getComputedStyle(section).position === "fixed") {
    // on a phone it lies over the lower half, and the panel that was touched comes into the upper one
    document.activeElement?.closest("#panels section")?.scrollIntoView({ block: "start" });
  }
}
