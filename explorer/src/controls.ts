// The toolbar: number of clusters, proportions, view, colours, search, theme.

import type { App } from "./app";
import { Chooser } from "./chooser";
import { colourings } from "./colouring";
import { ScoreCurve } from "./curve";
import { byId, count, format, make, notice, percent, thereAre } from "./dom";
import type { View } from "./payload";
import { parseProportions } from "./proportions";

const SLIDER_LEAST = 12;
const SLIDER_MOST = 60;

/** What the two directions are. */
function axesText({ axes: [across, up] }: View): string {
  return up.name === "" ? across.name : `→ ${across.name}   ↑ ${up.name}`;
}

export class Controls {
  private readonly slider = byId<HTMLInputElement>("slider");
  private readonly number = byId<HTMLInputElement>("number");
  private readonly proportions = byId<HTMLInputElement>("proportions");
  private readonly problem = byId("problem");
  private readonly curve: ScoreCurve;
  readonly colours: Chooser;
  private most: number;

  constructor(private readonly app: App) {
    const { nLocal, recut, scores } = app.model;
    const usual = 3 * Math.max(app.cut.nClusters, ...(scores?.recommended ?? []));
    this.most = Math.min(nLocal, Math.max(SLIDER_LEAST, Math.min(SLIDER_MOST, usual)));
    this.number.max = String(nLocal);
    for (const id of ["slider", "number", "proportions", "equal", "fitted"]) {
      byId<HTMLInputElement>(id).disabled = !recut;
    }
    byId("constrained").hidden = recut;
    this.curve = new ScoreCurve(recut ? scores : null, (nClusters) => this.cutInto(nClusters));
    this.colours = new Chooser(
      byId("colour"),
      byId("colour-list"),
      [
        { key: "cluster", name: "Cluster", about: "of the model" },
        ...[...colourings(app)].map(([key, { name, about }]) => ({ key, name, about })),
      ],
      () => app.colourBy,
      (key) => app.colour(key),
    );
    this.connect();
    this.fillViews();
  }

  private connect(): void {
    const { app } = this;
    this.slider.addEventListener("input", () => this.cutInto(Number(this.slider.value)));
    this.number.addEventListener("input", () => this.number.value !== "" && this.cutInto(Number(this.number.value)));
    this.number.addEventListener("change", () => this.correct());
    this.proportions.addEventListener("input", () => this.cutByProportions());
    byId("equal").addEventListener("click", () => {
      this.proportions.value = new Array(app.cut.nClusters).fill("1").join(", ");
      this.cutByProportions();
    });
    byId("fitted").addEventListener("click", () => {
      this.proportions.value = "";
      this.say("");
      app.recut({});
    });
    const search = byId<HTMLInputElement>("search");
    search.addEventListener("input", () => search.removeAttribute("aria-invalid"));
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const problem = app.search(search.value);
      search.setAttribute("aria-invalid", String(problem !== ""));
      notice(problem);
    });
    byId("theme").addEventListener("click", () => this.setTheme(!app.dark));
    const prefersDark = matchMedia("(prefers-color-scheme: dark)");
    prefersDark.addEventListener("change", () => this.setTheme(prefersDark.matches));
    this.setTheme(prefersDark.matches);
  }

  private fillViews(): void {
    const select = byId<HTMLSelectElement>("view");
    const { views } = this.app.model;
    select.append(...views.map(({ name }, i) => make("option", { value: String(i) }, name)));
    select.parentElement!.hidden = views.length < 2;
    select.addEventListener("change", () => this.app.look(views[Number(select.value)]));
    byId("see-apart").addEventListener("click", () => this.app.look(views[views.length - 1]));
  }

  setTheme(dark: boolean): void {
    this.app.dark = dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light" : "Dark";
    this.app.tell("colour");
  }

  /** A line under the field of proportions. */
  private say(text: string): void {
    this.problem.textContent = text;
    this.problem.hidden = text === "";
    this.proportions.setAttribute("aria-invalid", String(text !== ""));
  }

  private cutInto(wanted: number): void {
    const nClusters = Math.max(1, Math.min(this.app.model.nLocal, Math.round(wanted) || 1));
    this.proportions.value = "";
    this.say("");
    this.app.recut({ nClusters });
  }

  /** A number that cannot be is replaced by the nearest that can, and the page says so. */
  private correct(): void {
    const { nLocal } = this.app.model;
    const given = this.number.value;
    const number = Number(given);
    this.number.value = String(this.app.cut.nClusters);
    if (given === "" || number === this.app.cut.nClusters) return;
    const limit =
      number > nLocal ? `${thereAre(nLocal)} ${count(nLocal, "local cluster")}, so at most as many clusters` : "";
    notice(`${limit || "A number of clusters is a whole number from 1 on"}: ${given} became ${this.number.value}.`);
  }

  private cutByProportions(): void {
    const { app } = this;
    const given = parseProportions(this.proportions.value);
    if (typeof given === "string") return this.say(given);
    if (given.length > app.model.nSamples) return this.say(`More clusters than the ${app.model.nSamples} samples.`);
    const { nLocal } = app.model;
    this.say(given.length > nLocal ? `${thereAre(nLocal)} only ${count(nLocal, "intensity peak")}.` : "");
    app.recut(given.length > 0 ? { proportions: given } : { nClusters: app.cut.nClusters });
  }

  /** The controls as the cut is now. */
  show(): void {
    const { cut, model, view } = this.app;
    this.most = Math.max(this.most, cut.nClusters);
    this.slider.max = String(this.most);
    this.slider.value = String(cut.nClusters);
    this.slider.setAttribute("aria-valuetext", count(cut.nClusters, "cluster"));
    if (document.activeElement !== this.number) this.number.value = String(cut.nClusters);
    this.curve.draw(this.most, cut.nClusters);
    const sizes = this.app.clusterSizes();
    const shares = sizes.slice(0, 8).map((size) => percent(size / model.nSamples).replace(" %", ""));
    this.proportions.placeholder = shares.join(", ") + (sizes.length > 8 ? ", …" : "");
    const shown = model.nShown < model.nSamples ? ` (${format(model.nShown)} shown)` : "";
    byId("summary").textContent =
      `${count(model.nSamples, "sample")}${shown} · ${count(model.nLocal, "local cluster")} · ` +
      `${count(cut.nClusters, "cluster")}${cut.fitted ? ", as fitted" : ""}`;
    byId("firmness").textContent = cut.fitted ? model.firmness.join(" ") : this.curve.words(cut.nClusters);
    byId<HTMLSelectElement>("view").value = String(model.views.indexOf(view));
    byId("axes").textContent = axesText(view);
    byId("outside").textContent =
      view.outside === 0
        ? ""
        : `${count(view.outside, "sample")} far outside: zoom out to see ${view.outside === 1 ? "it" : "them"}`;
  }

  /** The field of proportions as they were asked for, after a view was opened from an address. */
  showProportions(): void {
    const { proportions } = this.app.wish;
    if (Array.isArray(proportions)) this.proportions.value = proportions.join(", ");
  }
}
