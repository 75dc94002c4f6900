// The toolbar, the sidebar below the explanation, and the tooltip.

import type { App } from "./app";
import { colourColumn, colourings, css, legendLines, scaleColour } from "./colours";
import { button, byId, capitalised, count, format, make, notice, percent, swatch } from "./dom";
import type { Link, Node } from "./graph_panel";
import { nearestCut } from "./model";
import { cell } from "./statistics";

export class Toolbar {
  private readonly slider = byId<HTMLInputElement>("slider");
  private readonly number = byId<HTMLInputElement>("number");
  private readonly view = byId<HTMLSelectElement>("view");
  private readonly colour = byId<HTMLSelectElement>("colour");

  constructor(private readonly app: App) {
    const { model } = app;
    const { slider, number, view, colour } = this;
    const { cutNumbers } = model;
    slider.max = String(cutNumbers.length - 1);
    [number.min, number.max] = [cutNumbers[0], cutNumbers[cutNumbers.length - 1]].map(String);
    // The middle of the thumb, which is 16 px wide, moves between the middles of the first and the last bar.
    slider.style.width = `calc(100% - 100% / ${cutNumbers.length} + 16px)`;
    slider.style.marginLeft = `calc(50% / ${cutNumbers.length} - 8px)`;
    slider.addEventListener("input", () => app.recut(cutNumbers[Number(slider.value)]));
    number.addEventListener("input", () => {
      if (number.value !== "") app.recut(nearestCut(model, Number(number.value)));
    });
    number.addEventListener("change", () => (number.value = String(app.cut.requested)));
    byId("fitted").addEventListener("click", () => app.recut(null));

    view.append(...model.views.map(({ name }, i) => make("option", { value: String(i) }, name)));
    view.parentElement!.hidden = model.views.length < 2;
    view.addEventListener("change", () => app.show(model.views[Number(view.value)]));

    const options = [...colourings(model)].map(([key, name]) => make("option", { value: key }, name));
    const nOfModel = options.length - model.columns.length;
    colour.append(make("optgroup", { label: "Model" }, ...options.slice(0, nOfModel)));
    if (model.columns.length > 0) colour.append(make("optgroup", { label: "Columns" }, ...options.slice(nOfModel)));
    colour.addEventListener("change", () => app.colour(colour.value));

    const search = byId<HTMLInputElement>("search");
    search.addEventListener("input", () => search.removeAttribute("aria-invalid"));
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const problem = app.search(search.value);
      search.setAttribute("aria-invalid", String(problem !== ""));
      notice(problem);
    });

    const prefersDark = matchMedia("(prefers-color-scheme: dark)");
    prefersDark.addEventListener("change", () => this.setTheme(prefersDark.matches));
    byId("theme").addEventListener("click", () => this.setTheme(app.theme === "light"));
    this.setTheme(prefersDark.matches);
  }

  private setTheme(dark: boolean): void {
    this.app.theme = document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark";
    this.app.notify("colour");
  }

  show(): void {
    const { cut, model, view, colourBy } = this.app;
    for (const input of [this.slider, this.number, byId<HTMLButtonElement>("fitted")]) {
      input.disabled = model.cutNumbers.length < 2 || cut.base !== null;
    }
    this.slider.value = String(model.cutNumbers.indexOf(nearestCut(model, cut.requested)));
    this.slider.setAttribute("aria-valuetext", count(cut.requested, "cluster"));
    if (document.activeElement !== this.number) this.number.value = String(cut.requested);
    this.view.value = String(model.views.indexOf(view));
    this.colour.value = colourBy;
    byId("summary").classList.toggle("dimmed", !cut.fitted); // it describes the fitted clusters
    byId("other-cut").textContent = cut.fitted || cut.base ? "" : describeCut(this.app);
    const [across, up] = view.axes;
    byId("axes").textContent = up === "" ? across : `→ ${across}   ↑ ${up}`;
    const notes = [
      model.nShown < model.nSamples && `${format(model.nShown)} of ${count(model.nSamples, "sample")} in this page`,
      view.outside > 0 && `${count(view.outside, "sample")} far outside: zoom out`,
    ];
    byId("outside").textContent = notes.filter(Boolean).join("; ");
    this.showScores();
  }

  /** Draw the score of every number of clusters below the slider, and the recommended numbers as buttons. */
  private showScores(): void {
    const { cut, model } = this.app;
    const { scores, cutNumbers } = model;
    const hasScores = scores !== null && cutNumbers.length > 1;
    byId("curve").hidden = byId("marks").hidden = !hasScores;
    if (!hasScores) return;
    const { nClusters, score, recommended } = scores;
    const highest = Math.max(1e-9, ...score);
    const kindOf = (number: number): string =>
      number === cut.requested ? "now" : recommended.includes(number) ? "good" : "";
    const bars = cutNumbers.map((number) => {
      const bar = make("i", { class: kindOf(number) });
      bar.style.height = `${Math.max(6, (100 * (score[nClusters.indexOf(number)] ?? 0)) / highest)}%`;
      return bar;
    });
    byId("curve").replaceChildren(...bars);
    const marks = recommended.map((number, rank) => {
      const title = rank === 0 ? "The number with the best score" : "Another recommended number";
      const mark = button(String(number), () => this.app.recut(number), { class: "mark", title });
      mark.style.left = `${(100 * (cutNumbers.indexOf(number) + 0.5)) / cutNumbers.length}%`;
      mark.disabled = cut.base !== null;
      return mark;
    });
    byId("marks").replaceChildren(...marks.filter((_, rank) => cutNumbers.includes(recommended[rank])));
  }
}

/** The number of clusters of a cut that is not the fitted one, and its score. */
function describeCut({ cut, model }: App): string {
  const text = `Another cut, into ${count(cut.nClusters, "cluster")}.`;
  const { nClusters = [], score = [], recommended = [] } = model.scores ?? {};
  const scoreOf = (number: number): string => score[nClusters.indexOf(number)].toFixed(2);
  const [best] = recommended;
  if (!nClusters.includes(cut.requested)) return text;
  return `${text} Score: ${scoreOf(cut.requested)}. Best: ${scoreOf(best)}, with ${count(best, "cluster")}.`;
}

const MOST_CLUSTERS = 200;
const STABLE = 0.75;

/** List the clusters: colour, number, size and share, and stability. */
export function showClusters(app: App): void {
  const { sizes, nNoise } = app.cut;
  const total = app.model.nSamples;
  const stability = app.cut.stability?.clusters ?? [];
  const largest = Math.max(...sizes, 1);
  const rows = sizes.slice(0, MOST_CLUSTERS).map((size, label) => {
    const colour = css(app.colourOf(label));
    const fill = make("span");
    fill.style.width = `${(100 * size) / largest}%`;
    fill.style.background = colour;
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, fill);
    const line = make(
      "button",
      { type: "button", "data-cluster": String(label) },
      make("span", { class: "tag" }, swatch(colour), app.tagOf(label)),
      bar,
      make("span", { class: "size" }, format(size)),
      make("span", { class: "share" }, percent(size / total)),
    );
    let name = `${capitalised(app.titleOf(label))}: ${count(size, "sample")}, ${percent(size / total)}`;
    if (stability[label] >= 0) {
      const unstable = stability[label] < STABLE ? "unstable " : "";
      const value = stability[label].toFixed(2);
      line.append(make("span", { class: "stability" }, make("small", {}, unstable), value.replace(/^0/, "")));
      name += `, ${unstable}stability ${value}`;
    }
    line.setAttribute("aria-label", name);
    line.addEventListener("click", () => app.pickCluster(label));
    line.addEventListener("pointerenter", () => app.point({ cluster: label }));
    line.addEventListener("pointerleave", () => app.point({}));
    return make("li", {}, line);
  });
  const more = sizes.length - MOST_CLUSTERS;
  if (more > 0) rows.push(make("li", { class: "hint" }, `and ${format(more)} more`));
  byId("clusters").replaceChildren(...rows);
  byId("noise").replaceChildren(
    ...(nNoise > 0 ? [swatch(css(app.colourOf(-1))), `${count(nNoise, "sample")} of noise`] : []),
  );
  byId("stability").hidden = !stability.some((value) => value >= 0);
  markCluster(app);
}

/** Mark the picked cluster without building the list again under the pointer. */
export function markCluster(app: App): void {
  for (const line of byId("clusters").querySelectorAll("button")) {
    line.setAttribute("aria-pressed", String(Number(line.dataset.cluster) === app.cluster));
  }
}

export function showLegend(app: App): void {
  const box = byId("legend");
  const { scale } = app;
  box.hidden = scale === null;
  if (!scale) return;
  const lines = legendLines(scale, app.theme).map(([colour, name]) => make("li", {}, swatch(css(colour)), name));
  const parts: HTMLElement[] = [make("h2", {}, scale.name)];
  if (!scale.classes) {
    const ramp = make("div", { class: "ramp" });
    const at = (share: number): number => scale.low + share * (scale.high - scale.low);
    const stops = Array.from({ length: 9 }, (_, i) => css(scaleColour(scale, at(i / 8), app.theme)));
    ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const ends = [scale.low, scale.high].map((value) => make("span", {}, scale.show(value)));
    parts.push(ramp, make("div", { class: "ends" }, ...ends));
  }
  if (lines.length > 0) parts.push(make("ul", {}, ...lines));
  box.replaceChildren(...parts);
}

const MOST_OUTLIERS = 10;

/** List the shown samples with the highest outlier scores. */
export function showOutliers(app: App): void {
  const { outlier } = app.model.samples;
  const order = [...outlier.keys()].sort((a, b) => outlier[b] - outlier[a] || a - b);
  const rows = order.slice(0, MOST_OUTLIERS).map((sample) => {
    const score = make("span", { class: "share" }, outlier[sample].toFixed(3));
    const line = button(make("span", {}, app.nameOf(sample)), () => app.goTo(sample));
    line.append(score);
    return make("li", {}, line);
  });
  byId("outliers").replaceChildren(...rows);
}

const MOST_COLUMNS = 6;

/** Show a few facts about the item under the pointer next to a point of the page, or hide the tooltip. */
export function showTooltip(app: App, left: number, top: number, inTile: (sample: number) => number): void {
  const { sample, node, link } = app.hover;
  const box = byId("tooltip");
  box.hidden = sample < 0 && !node && !link;
  if (sample >= 0) box.replaceChildren(...describeSample(app, sample, inTile(sample)));
  else if (node) box.replaceChildren(...describeNode(app, node));
  else if (link) box.replaceChildren(...describeLink(app, link));
  const { offsetWidth: width, offsetHeight: height } = box;
  const x = left + 16 + width > innerWidth ? Math.min(left - 16, innerWidth - 8) - width : left + 16;
  const y = Math.min(top + 16, innerHeight - height - 8);
  box.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
}

const clusterLine = (app: App, label: number): HTMLElement =>
  make("div", {}, swatch(css(app.colourOf(label))), app.titleOf(label));

/** The sample with a few columns: the one of the colours, then those in which its cluster differs most. */
function describeSample(app: App, sample: number, inTile: number): HTMLElement[] {
  const label = app.labelOf(sample);
  const coloured = colourColumn(app);
  const differing = app.contrasts(label).map(({ column }) => column);
  const columns = new Set([...(coloured ? [coloured] : []), ...differing, ...app.model.columns]);
  const lines = [...columns].slice(0, MOST_COLUMNS).map((column) => {
    const value = cell(column, column.values[sample]);
    return make("div", { class: "column" }, make("span", {}, column.name), make("span", {}, value));
  });
  if (inTile > 0) lines.push(make("div", { class: "hint" }, `${count(inTile, "sample")} in this tile`));
  return [make("b", {}, app.nameOf(sample)), clusterLine(app, label), ...lines];
}

function describeNode(app: App, { locals, label, size, middle }: Node): HTMLElement[] {
  const isSingle = locals.length === 1;
  return [
    make("b", {}, isSingle ? `local cluster ${middle}` : count(locals.length, "local cluster")),
    clusterLine(app, label),
    make("div", {}, count(size, "sample") + (isSingle ? `, peak: ${app.nameOf(app.model.graph.peaks[middle])}` : "")),
  ];
}

function describeLink(app: App, { from, to, edge, edges, pairs, kept }: Link): HTMLElement[] {
  const [first, second] = [from, to].map(({ label }) => app.titleOf(label));
  const strength = `${count(pairs, "boundary pair")}, log weight ${app.model.graph.logWeights[edge].toPrecision(3)}`;
  return [
    make("b", {}, count(edges, "edge")),
    make("div", {}, kept ? "kept" : `cut between ${first} and ${second}`),
    make("div", {}, pairs > 0 ? strength : "a bridge: no boundary pair"),
  ];
}
