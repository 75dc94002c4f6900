// The toolbar: number of clusters, proportions, colours, search, theme, downloads.

import type { App } from "./app";
import { colourings } from "./colouring";
import { byId, count, format, make, percent } from "./dom";
import { parseProportions } from "./proportions";

const SLIDER_MOST = 60;

export class Controls {
  private readonly slider = byId<HTMLInputElement>("slider");
  private readonly number = byId<HTMLInputElement>("number");
  private readonly proportions = byId<HTMLInputElement>("proportions");
  private readonly problem = byId("problem");

  constructor(private readonly app: App) {
    const { nLocal, recut } = app.model;
    this.slider.max = String(Math.min(nLocal, Math.max(SLIDER_MOST, 2 * app.cut.nClusters)));
    this.number.max = String(nLocal);
    for (const id of ["slider", "number", "proportions", "equal", "fitted"]) {
      byId<HTMLInputElement>(id).disabled = !recut;
    }
    byId("constrained").hidden = recut;
    this.connect();
    this.fillColours();
  }

  private connect(): void {
    const { app } = this;
    this.slider.addEventListener("input", () => this.cutInto(Number(this.slider.value)));
    this.number.addEventListener("input", () => this.number.value !== "" && this.cutInto(Number(this.number.value)));
    this.number.addEventListener("change", () => this.show());
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
    byId("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.announce(app.search(search.value));
    });
    byId("theme").addEventListener("click", () => this.setTheme(!app.dark));
    const prefersDark = matchMedia("(prefers-color-scheme: dark)");
    prefersDark.addEventListener("change", () => this.setTheme(prefersDark.matches));
    this.setTheme(prefersDark.matches);
  }

  private fillColours(): void {
    const select = byId<HTMLSelectElement>("colour");
    select.append(make("option", { value: "cluster" }, "Cluster"));
    for (const [key, { name }] of colourings(this.app)) select.append(make("option", { value: key }, name));
    select.addEventListener("change", () => this.app.colour(select.value));
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

  announce(text: string): void {
    byId("message").textContent = text;
  }

  private cutInto(wanted: number): void {
    const nClusters = Math.max(1, Math.min(this.app.model.nLocal, Math.round(wanted) || 1));
    this.proportions.value = "";
    this.say("");
    this.app.recut({ nClusters });
  }

  private cutByProportions(): void {
    const { app } = this;
    const given = parseProportions(this.proportions.value);
    if (typeof given === "string") return this.say(given);
    if (given.length > app.model.nSamples) return this.say(`More clusters than the ${app.model.nSamples} samples.`);
    this.say(given.length > app.model.nLocal ? `There are only ${count(app.model.nLocal, "intensity peak")}.` : "");
    app.recut(given.length > 0 ? { proportions: given } : { nClusters: app.cut.nClusters });
  }

  /** The controls as the cut is now. */
  show(): void {
    const { cut, model } = this.app;
    this.slider.value = String(cut.nClusters);
    this.slider.setAttribute("aria-valuetext", count(cut.nClusters, "cluster"));
    if (document.activeElement !== this.number) this.number.value = String(cut.nClusters);
    const sizes = this.app.clusterSizes();
    const shares = sizes.slice(0, 8).map((size) => percent(size / model.nSamples).replace(" %", ""));
    this.proportions.placeholder = shares.join(", ") + (sizes.length > 8 ? ", …" : "");
    const shown = model.nShown < model.nSamples ? ` (${format(model.nShown)} shown)` : "";
    byId("summary").textContent =
      `${count(model.nSamples, "sample")}${shown} · ${count(model.nLocal, "local cluster")} · ` +
      `${count(cut.nClusters, "cluster")}${cut.fitted ? ", as fitted" : ""}`;
    byId("firmness").textContent = cut.fitted ? model.firmness.join(" ") : "";
  }
}
