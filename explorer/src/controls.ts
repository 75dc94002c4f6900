// The toolbar, the sidebar below the explanation, and the tooltip.

import type { App } from "./app";
import { colourColumn, colourings, css, currentScale, legendLines, scaleColour } from "./colours";
import { byId, capitalised, count, format, make, notice, percent, swatch } from "./dom";
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
    number.addEventListener("change", () => this.correctNumber());
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

  /** Replace an impossible number by the nearest possible one, and say so. */
  private correctNumber(): void {
    const { cut, model } = this.app;
    const given = this.number.value;
    this.number.value = String(cut.requested);
    if (given === "" || Number(given) === cut.requested) return;
    const [first, last] = [model.cutNumbers[0], model.cutNumbers[model.cutNumbers.length - 1]];
    const more = last < model.nLocal ? " Use model.cut(n_clusters=...) in Python for more." : "";
    const possible = last - first < model.cutNumbers.length ? `${first} to ${last}` : model.cutNumbers.join(", ");
    notice(`This page has cuts into ${possible} clusters: ${given} became ${cut.requested}.${more}`);
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
    // Both take their space, so that the slider does not move while it is dragged.
    byId("summary").classList.toggle("invisible", !cut.fitted);
    byId("other-cut").textContent = cut.fitted ? "" : describeCut(this.app);
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
      const mark = make("button", { type: "button", class: "mark", title }, String(number));
      mark.setAttribute("aria-label", `${number} clusters. ${title}.`);
      mark.style.left = `${(100 * (cutNumbers.indexOf(number) + 0.5)) / cutNumbers.length}%`;
      mark.disabled = cut.base !== null;
      mark.addEventListener("click", () => this.app.recut(number));
      return mark;
    });
    byId("marks").replaceChildren(...marks.filter((_, rank) => cutNumbers.includes(recommended[rank])));
  }
}

/** The number of clusters of a cut that is not the fitted one, and its score. */
function describeCut({ cut, model, nEdits }: App): string {
  if (cut.base) {
    return `${count(cut.nClusters, "cluster")} after ${count(nEdits, "edit")}. Undo all edits to change the number.`;
  }
  const start = `Another cut, into ${count(cut.nClusters, "cluster")}. `;
  if (!model.scores) return start;
  const { nClusters, score, recommended } = model.scores;
  const scoreOf = (number: number): string | undefined => score[nClusters.indexOf(number)]?.toFixed(2);
  const [best] = recommended;
  const here = scoreOf(cut.requested);
  if (here === undefined) return `${start}This number has no score. The best number is ${best}.`;
  return `${start}Its score is ${here}; the best number, ${best}, has ${scoreOf(best)}.`;
}

const MOST_CLUSTERS = 200;
const STABLE = 0.75;

/** List the clusters: colour, number, size and share, next to the requested share, and stability. */
export function showClusters(app: App): void {
  const { sizes, nNoise } = app.cut;
  const total = app.model.nSamples;
  const requested = (app.cut.fitted && app.model.prior) || []; // the largest first
  const ranks = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a] || a - b);
  const stability = app.cut.stability?.clusters ?? [];
  const largest = Math.max(sizes[ranks[0]], (requested[0] ?? 0) * total, 1);
  const rows = sizes.slice(0, MOST_CLUSTERS).map((size, label) => {
    const colour = css(app.colourOf(label));
    const fill = make("span");
    fill.style.width = `${(100 * size) / largest}%`;
    fill.style.background = colour;
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, fill);
    const share = requested[ranks.indexOf(label)];
    if (share !== undefined) {
      const tick = make("i");
      tick.style.left = `${(100 * share * total) / largest}%`;
      bar.append(tick);
    }
    const button = make(
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
      button.append(make("span", { class: "stability" }, make("small", {}, unstable), value.replace(/^0/, "")));
      name += `, ${unstable}stability ${value}`;
    }
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => app.pickCluster(label));
    button.addEventListener("pointerenter", () => app.point({ cluster: label }));
    button.addEventListener("pointerleave", () => app.point({}));
    return make("li", {}, button);
  });
  const more = sizes.length - MOST_CLUSTERS;
  if (more > 0) rows.push(make("li", { class: "hint" }, `and ${format(more)} more`));
  byId("clusters").replaceChildren(...rows);
  byId("noise").replaceChildren(
    ...(nNoise > 0 ? [swatch(css(app.colourOf(-1))), `${count(nNoise, "sample")} of noise`] : []),
  );
  byId("requested").hidden = requested.length === 0;
  byId("stability").hidden = !stability.some((value) => value >= 0);
  markCluster(app);
}

/** Mark the picked cluster without building the list again under the pointer. */
export function markCluster(app: App): void {
  for (const button of byId("clusters").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.cluster) === app.cluster));
  }
}

export function showLegend(app: App): void {
  const box = byId("legend");
  const scale = currentScale(app);
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
    const button = make("button", { type: "button" }, make("span", {}, app.nameOf(sample)), score);
    button.addEventListener("click", () => app.goTo(sample));
    return make("li", {}, button);
  });
  byId("outliers").replaceChildren(...rows);
}

const MOST_COLUMNS = 6;

/** A few facts about the item under the pointer. */
export class Tooltip {
  private readonly box = byId("tooltip");

  constructor(
    private readonly app: App,
    /** The number of all samples in the tile of a sample; 0 if there are no tiles. */
    private readonly countAt: (sample: number) => number,
  ) {
    const termOf = (event: Event): HTMLElement | null => (event.target as Element).closest?.("[data-tip]") ?? null;
    for (const kind of ["pointerover", "focusin"]) {
      document.addEventListener(kind, (event) => {
        const term = termOf(event);
        if (!term) return;
        const { left, bottom } = term.getBoundingClientRect();
        this.place([make("div", {}, term.dataset.tip!)], left - 16, bottom - 10);
        term.setAttribute("aria-describedby", "tooltip");
      });
    }
    for (const kind of ["pointerout", "focusout"]) {
      document.addEventListener(kind, (event) => termOf(event) && this.hide());
    }
  }

  /** Show the facts next to a point of the page, or hide the tooltip if nothing is under the pointer. */
  show(left: number, top: number): void {
    const { sample, node, link } = this.app.hover;
    this.place(
      sample >= 0 ? this.describeSample(sample) : node ? this.describeNode(node) : link ? this.describeLink(link) : [],
      left,
      top,
    );
  }

  hide(): void {
    this.box.hidden = true;
  }

  private place(lines: HTMLElement[], left: number, top: number): void {
    this.box.hidden = lines.length === 0;
    this.box.replaceChildren(...lines);
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const x = left + 16 + width > innerWidth ? Math.min(left - 16, innerWidth - 8) - width : left + 16;
    const y = Math.min(top + 16, innerHeight - height - 8);
    this.box.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  }

  private describeCluster(label: number): HTMLElement {
    return make("div", {}, swatch(css(this.app.colourOf(label))), this.app.titleOf(label));
  }

  /** The sample with a few columns: the one of the colours, then those in which its cluster differs most. */
  private describeSample(sample: number): HTMLElement[] {
    const { app } = this;
    const label = app.labelOf(sample);
    const coloured = colourColumn(app);
    const differing = app.contrasts(label).map(({ column }) => column);
    const columns = new Set([...(coloured ? [coloured] : []), ...differing, ...app.model.columns]);
    const lines = [...columns].slice(0, MOST_COLUMNS).map((column) => {
      const value = cell(column, column.values[sample]);
      return make("div", { class: "column" }, make("span", {}, column.name), make("span", {}, value));
    });
    const here = this.countAt(sample);
    if (here > 0) lines.push(make("div", { class: "hint" }, `${count(here, "sample")} in this tile`));
    return [make("b", {}, app.nameOf(sample)), this.describeCluster(label), ...lines];
  }

  private describeNode({ locals, label, size, middle }: Node): HTMLElement[] {
    const isSingle = locals.length === 1;
    const more = isSingle ? `, peak: ${this.app.nameOf(this.app.model.graph.peaks[middle])}` : "; click to open";
    return [
      make("b", {}, isSingle ? `local cluster ${middle}` : count(locals.length, "local cluster")),
      this.describeCluster(label),
      make("div", {}, count(size, "sample") + more),
    ];
  }

  private describeLink({ from, to, edge, edges, pairs, kept }: Link): HTMLElement[] {
    const { logWeights, edges: ends } = this.app.model.graph;
    const share = (kept ? null : this.app.cut.stability?.edges[edge]) ?? 255;
    const isSingle = from.locals.length === 1 && to.locals.length === 1;
    const weight = `${edges > 1 ? "strongest " : ""}log weight ${format(Number(logWeights[edge].toPrecision(4)))}`;
    const [first, second] = [from, to].map(({ label }) => this.app.titleOf(label));
    const state = kept ? "kept" : `cut between ${first} and ${second}`;
    return [
      make("b", {}, isSingle ? `edge ${ends[2 * edge]} – ${ends[2 * edge + 1]}` : count(edges, "edge")),
      make("div", {}, pairs === 0 ? "a bridge" : state),
      make("div", {}, pairs > 0 ? `${count(pairs, "boundary pair")}, ${weight}` : "no boundary pair"),
      ...(share < 255 ? [make("div", {}, `cut in ${share} % of the half-samples`)] : []),
    ];
  }
}
