// The side below the explanation: the legend, the clusters, and the samples that are far out.

import type { App } from "./app";
import { type Scale, currentScale, hasMissing, scaleColour } from "./colouring";
import { byId, count, format, make, percent } from "./dom";
import { drawnAmong } from "./overlap";
import { MOST_KINDS, css, rampColour } from "./palette";
import { swatch } from "./parts";
import { equalShares, toShares } from "./proportions";

const MOST_ROWS = 200;
const MOST_ODD = 10;

/** The classes of a scale that have a colour of their own, and how many share one. */
export function legendClasses(scale: Scale): { shown: string[]; more: number } {
  const words = scale.categories ?? [];
  return { shown: words.slice(0, MOST_KINDS), more: Math.max(0, words.length - MOST_KINDS) };
}

export function showLegend(app: App): void {
  const box = byId("legend");
  const scale = currentScale(app);
  box.hidden = scale === null || scale.ofLocals;
  if (!scale || box.hidden) return;
  const title = make("h2", {}, scale.name);
  const colour = (value: number): HTMLElement => swatch(css(scaleColour(scale, value, app.dark)));
  if (scale.categories) {
    const { shown, more } = legendClasses(scale);
    const items = shown.map((word, i) => make("li", {}, colour(i), word));
    if (more > 0) items.push(make("li", { class: "hint" }, colour(MOST_KINDS), `${format(more)} more`));
    if (hasMissing(scale)) items.push(make("li", { class: "hint" }, colour(NaN), "missing"));
    box.replaceChildren(title, make("ul", { class: "categories" }, ...items));
    return;
  }
  const bar = make("div", { class: "ramp" });
  const stops = Array.from({ length: 9 }, (_, i) => css(rampColour(i / 8, app.dark)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const ends = [scale.low, scale.high].map((value) => make("span", {}, scale.show(value)));
  box.replaceChildren(title, bar, make("div", { class: "ends" }, ...ends));
  if (hasMissing(scale)) {
    box.append(make("div", { class: "ends" }, make("span", {}, colour(NaN), "missing")));
  }
}

/** One button per cluster: its colour, number, samples and share, beside the share that was asked for. */
export function showClusters(app: App): void {
  const sizes = app.clusterSizes();
  const total = app.model.nSamples;
  const expected = wantedShares(app);
  const most = Math.max(sizes[0], (expected[0] ?? 0) * total, 1); // both are sorted
  const among = drawnAmong(app);
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
      among[label] >= 0 && make("span", { class: "among" }, `drawn among cluster ${among[label]}`),
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
  const last = app.model.views[app.model.views.length - 1];
  byId("hidden-clusters").hidden = app.view === last || among.every((other) => other < 0);
}

/** The prior of the cut, none where there is none. */
export function wantedShares(app: App): number[] {
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

/** The shown samples that are farthest out, to choose from. */
export function showOdd(app: App): void {
  const { outlier } = app.model.samples;
  const odd: number[] = [];
  for (let i = 0; i < outlier.length; i++) {
    if (odd.length === MOST_ODD && outlier[i] <= outlier[odd[MOST_ODD - 1]]) continue;
    let at = odd.length;
    while (at > 0 && outlier[odd[at - 1]] < outlier[i]) at--;
    odd.splice(at, 0, i);
    odd.length = Math.min(odd.length, MOST_ODD);
  }
  const rows = odd.map((sample) => {
    const score = make("span", { class: "share" }, outlier[sample].toFixed(3));
    const button = make("button", { type: "button" }, make("span", {}, app.nameOf(sample)), score);
    button.addEventListener("click", () => {
      app.picked = [];
      app.pick(sample);
    });
    return make("li", {}, button);
  });
  byId("odd").replaceChildren(...rows);
}
