// The side: the explanation of what is picked, the legend, and the clusters.

import type { App } from "./app";
import { currentScale, scaleColour } from "./colouring";
import { sharesOf } from "./cut";
import { byId, count, format, make, percent } from "./dom";
import { type PairStory, type SampleStory, secondMembership } from "./explain";
import { clusterColour, css, rampColour } from "./palette";
import { rowOf } from "./payload";
import { profileOf } from "./profile";
import { equalShares, shareDistance, toShares } from "./proportions";

const MOST_CATEGORIES = 24;
const LONGEST_WAY = 12;
const MOST_ROWS = 200;
const MOST_CUT = 4;
const MOST_CONTRASTS = 8;

function swatch(colour: string): HTMLElement {
  const element = make("span", { class: "swatch", "aria-hidden": "true" });
  element.style.background = colour;
  return element;
}

function clusterName(app: App, label: number): HTMLElement {
  return make("span", { class: "nowrap" }, swatch(css(app.colourOf(label))), label < 0 ? "noise" : `cluster ${label}`);
}

function facts(...rows: [string, ...(Node | string)[]][]): HTMLElement {
  const list = make("dl");
  for (const [name, ...values] of rows) list.append(make("dt", {}, name), make("dd", {}, ...values));
  return list;
}

/** "1 → 2 → 3", shortened in the middle where it is long. */
function way(numbers: number[]): string {
  const words = numbers.map((number) => format(number).replace(/,/g, ""));
  if (words.length > LONGEST_WAY) words.splice(LONGEST_WAY - 3, words.length - LONGEST_WAY + 2, "…");
  return words.join(" → ");
}

function life({ splitsAt, mergesAt, mergesWith }: SampleStory): string {
  const parts = [];
  if (splitsAt !== null) parts.push(`splits at ${splitsAt} clusters`);
  if (mergesAt !== null) parts.push(`merges with cluster ${mergesWith} at ${mergesAt}`);
  return parts.join(", ") || "the only one, and of one local cluster";
}

function membershipText(app: App, sample: number): string {
  if (app.model.samples.noise[sample]) return "none";
  const second = secondMembership(app.model, app.cut, sample);
  const other = second && second.share >= 0.0005 ? `, ${second.share.toFixed(3)} in cluster ${second.label}` : "";
  return app.membership[sample].toFixed(3) + other;
}

function climbText(app: App, { steps, climb }: SampleStory): string {
  if (steps === 0) return "none: it is a peak itself";
  return `${way(climb.map((sample) => rowOf(app.model, sample)))} (${count(steps, "step")} to the peak)`;
}

function aboutSample(app: App, sample: number): HTMLElement[] {
  const { model, cut } = app;
  const { samples, graph } = model;
  const story = app.story(sample);
  const home = cut.labels[story.local];
  const rows: [string, ...(Node | string)[]][] = [
    ["Cluster", clusterName(app, app.labelOf(sample)), samples.noise[sample] ? `, else cluster ${home}` : ""],
    ["Membership", membershipText(app, sample)],
    ["Climb", climbText(app, story)],
    ["Local cluster", `${story.local}, of ${count(graph.sizes[story.local], "sample")}`],
    ["Log intensity", format(samples.intensity[sample])],
    ["Outlier score", samples.outlier[sample].toFixed(3)],
  ];
  if (cut.nested) rows.splice(2, 0, ["Its cluster", life(story)]);
  for (const column of model.columns) rows.push([column.name, columnText(column, sample)]);
  return [
    make("h3", {}, sentence(app.nameOf(sample))),
    facts(...rows),
    make("p", { class: "hint" }, "Choose a second sample to see what connects the two."),
  ];
}

export function columnText(column: App["model"]["columns"][number], sample: number): string {
  const value = column.values[sample];
  return column.categories ? (column.categories[value] ?? "missing") : format(value);
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function edgeText(app: App, e: number): string {
  const { edges, pairs } = app.model.graph;
  const ends = `${edges[2 * e]} – ${edges[2 * e + 1]}`;
  return `${ends} (${pairs[e] > 0 ? count(pairs[e], "boundary pair") : "a bridge, no boundary pair"})`;
}

function whatConnects(app: App, pair: PairStory): string {
  if (!pair.connected) {
    const by = pair.together ? ": a constraint joins them" : "";
    return `No edge of the topo-graph leads from the one to the other${by}.`;
  }
  if (pair.path.length === 1) {
    return `Both climb to the peak of local cluster ${pair.path[0]}, so no number of clusters parts them.`;
  }
  const strongest = `The strongest way between their local clusters: ${way(pair.path)}.`;
  if (pair.together) {
    const which = pair.edges.length === 1 ? "only" : "weakest";
    return `${strongest} Its ${which} edge is ${edgeText(app, pair.weakest)}.`;
  }
  const cut = pair.cut.map((e) => edgeText(app, e));
  const more = cut.length > MOST_CUT ? ` and ${cut.length - MOST_CUT} more` : "";
  return `${strongest} Cut on it: ${cut.slice(0, MOST_CUT).join(", ")}${more}.`;
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

function aboutPair(app: App, pair: PairStory): HTMLElement[] {
  const [a, b] = app.picked;
  const [first, second] = [a, b].map((sample) => app.cut.labels[app.model.samples.local[sample]]);
  const verdict = pair.together
    ? make("p", { class: "verdict" }, "Together in ", clusterName(app, first))
    : make("p", { class: "verdict" }, "Apart: ", clusterName(app, first), " and ", clusterName(app, second));
  const parts = [
    make("h3", {}, make("b", { class: "badge" }, "A"), sentence(app.nameOf(a))),
    make("h3", {}, make("b", { class: "badge" }, "B"), sentence(app.nameOf(b))),
    verdict,
    make("p", {}, whatConnects(app, pair)),
  ];
  for (const sample of [a, b].filter((sample) => app.model.samples.noise[sample])) {
    parts.push(make("p", {}, `Sample ${rowOf(app.model, sample)} is labelled noise all the same.`));
  }
  const moved = distanceIfMerged(app, first, second);
  if (moved) {
    const [now, then] = moved.map((distance) => distance.toFixed(3));
    parts.push(make("p", {}, `As one cluster they would take the distance to the prior from ${now} to ${then}.`));
  }
  if (pair.togetherUpTo !== null && pair.path.length !== 1) {
    const upTo = pair.togetherUpTo;
    parts.push(
      make(
        "p",
        {},
        upTo === 1
          ? "They are together only where all is one cluster."
          : `They are together up to ${upTo} clusters, apart from ${upTo + 1} on.`,
      ),
    );
  }
  return parts;
}

function aboutCluster(app: App, cluster: number): HTMLElement[] {
  const found = profileOf(app, cluster, MOST_CONTRASTS);
  const size = app.clusterSizes()[cluster];
  const title = make("h3", {}, swatch(css(app.colourOf(cluster))), `Cluster ${cluster}: ${count(size, "sample")}`);
  if (app.model.columns.length === 0) {
    return [title, make("p", { class: "hint" }, "Write the page with the table to see what sets a cluster apart.")];
  }
  if (found.length === 0) return [title, make("p", {}, "No column differs much from the other samples.")];
  const head = ["", "here", "elsewhere", "by"].map((word) => make("th", { scope: "col" }, word));
  const rows = found.map(({ name, value, inside, elsewhere, effect }) => {
    const show = value === null ? rounded : percent;
    const cells = [show(inside), show(elsewhere), `${effect > 0 ? "+" : "−"}${Math.abs(effect).toFixed(1)}`];
    const label = value === null ? name : `${name} = ${value}`;
    return make("tr", {}, make("th", { scope: "row" }, label), ...cells.map((cell) => make("td", {}, cell)));
  });
  const note = "Means, and the difference in standard deviations; of values their shares, and Cohen's h.";
  return [
    title,
    make("table", { class: "profile" }, make("tr", {}, ...head), ...rows),
    make("p", { class: "hint" }, note),
  ];
}

/** A mean for people: whole thousands, or three digits. */
function rounded(value: number): string {
  return format(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}

export function showExplanation(app: App): void {
  const pair = app.pair();
  const box = byId("explanation");
  const intro = make(
    "p",
    { class: "hint" },
    "Choose a sample or a node to see why it is where it is; choose two to see what connects or parts them. Choose a " +
      "cluster below to see what sets it apart.",
  );
  const parts = () => {
    if (pair) return aboutPair(app, pair);
    if (app.picked.length > 0) return aboutSample(app, app.picked[0]);
    return app.cluster >= 0 && app.cluster < app.cut.nClusters ? aboutCluster(app, app.cluster) : [intro];
  };
  box.replaceChildren(...parts());
  byId("clear").hidden = app.picked.length === 0 && app.cluster < 0;
}

export function showLegend(app: App): void {
  const box = byId("legend");
  const scale = currentScale(app);
  box.hidden = scale === null || (scale.categories !== null && scale.categories.length === 0);
  if (!scale || box.hidden) return;
  if (scale.categories) {
    const items = scale.categories
      .slice(0, MOST_CATEGORIES)
      .map((word, i) => make("li", {}, swatch(css(clusterColour(i))), word));
    const more = scale.categories.length - items.length;
    if (more > 0) items.push(make("li", { class: "hint" }, `and ${format(more)} more`));
    box.replaceChildren(make("h2", {}, scale.name), make("ul", { class: "categories" }, ...items));
    return;
  }
  const bar = make("div", { class: "ramp" });
  const stops = Array.from({ length: 9 }, (_, i) => css(rampColour(i / 8, app.dark)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const ends = make(
    "div",
    { class: "ends" },
    make("span", {}, format(scale.low)),
    make("span", {}, format(scale.high)),
  );
  box.replaceChildren(make("h2", {}, scale.name), bar, ends);
  if (scale.values.some((value) => Number.isNaN(value))) {
    box.append(
      make("div", { class: "ends" }, make("span", {}, swatch(css(scaleColour(scale, NaN, app.dark))), "missing")),
    );
  }
}

/** One button a cluster: its colour, number, samples and share, beside the share that was asked for. */
export function showClusters(app: App): void {
  const sizes = app.clusterSizes();
  const total = app.model.nSamples;
  const expected = wantedShares(app);
  const most = Math.max(sizes[0], (expected[0] ?? 0) * total, 1); // both are sorted
  const rows = sizes.slice(0, MOST_ROWS).map((size, label) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
    const fill = bar.firstElementChild as HTMLElement;
    fill.style.width = `${(100 * size) / most}%`;
    fill.style.background = css(app.colourOf(label));
    if (label < expected.length) {
      const tick = make("i");
      tick.style.left = `${(100 * expected[label] * total) / most}%`;
      bar.append(tick);
    }
    const button = make(
      "button",
      { type: "button", "aria-pressed": String(app.cluster === label), "data-cluster": String(label) },
      make("span", { class: "number" }, swatch(css(app.colourOf(label))), String(label)),
      bar,
      make("span", { class: "size" }, format(size)),
      make("span", { class: "share" }, percent(size / total)),
    );
    button.setAttribute("aria-label", `Cluster ${label}: ${count(size, "sample")}, ${percent(size / total)}`);
    button.addEventListener("click", () => app.pickCluster(label));
    button.addEventListener("pointerenter", () => app.point({ cluster: label }));
    button.addEventListener("pointerleave", () => app.point({}));
    return make("li", {}, button);
  });
  if (sizes.length > MOST_ROWS)
    rows.push(make("li", { class: "hint" }, `and ${format(sizes.length - MOST_ROWS)} more`));
  byId("clusters").replaceChildren(...rows);
  byId("clusters").parentElement!.classList.toggle("many", rows.length > 6);
  const noise = total - sizes.reduce((sum, size) => sum + size, 0);
  byId("noise").replaceChildren(
    ...(noise > 0 ? [swatch(css(app.colourOf(-1))), `${count(noise, "sample")} of noise`] : []),
  );
  byId("expected").hidden = expected.length === 0;
}

/** The prior of the cut, none where there is none. */
function wantedShares(app: App): number[] {
  const { proportions } = app.wish;
  if (proportions === "equal") return equalShares(app.cut.nClusters);
  if (proportions) return toShares(proportions);
  return (app.cut.fitted && app.model.prior) || [];
}

/** The pressed button alone, without building the list anew under the pointer. */
export function markCluster(app: App): void {
  for (const button of byId("clusters").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.cluster) === app.cluster));
  }
}
