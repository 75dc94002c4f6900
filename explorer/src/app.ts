// The state of the page and everything that changes it. Panels, controls and sidebar only show the state.

import { Camera } from "./camera";
import { ColourSlots, type Rgb, clusterColour, colourColumn, colourings } from "./colours";
import type { Link, Node } from "./graph_panel";
import {
  type Connection,
  type Cut,
  type Model,
  type View,
  connect,
  cutInto,
  memberships,
  rowOf,
  sampleOf,
} from "./model";
import { type Contrast, type Stats, contrastsOf, statsOf } from "./statistics";

export interface Hover {
  sample: number;
  cluster: number;
  node: Node | null;
  link: Link | null;
}

const NOTHING: Hover = { sample: -1, cluster: -1, node: null, link: null };

/** What has changed: the camera, the item under the pointer, the selection, the cut, the colours, or the view. */
export type Change = "camera" | "hover" | "pick" | "cut" | "colour" | "view";

export class App {
  cut!: Cut;
  /** The requested number of clusters; null for the fitted clusters. */
  requested: number | null = null;
  slots!: number[];
  membership!: Float32Array;
  colourBy = "cluster";
  theme: "light" | "dark" = "light";
  hover: Hover = NOTHING;
  /** One or two samples, a cluster (-1 for none), or the samples within the lasso. */
  picked: number[] = [];
  cluster = -1;
  selection: Int32Array | null = null;
  /** Whether dragging draws a lasso. */
  lassoing = false;
  view: View;
  readonly camera = new Camera(() => this.notify("camera"));
  private readonly listeners: ((change: Change) => void)[] = [];
  private readonly colours: ColourSlots;
  private nSelections = 0;
  private clusterStats: Stats[] | null = null;

  constructor(readonly model: Model) {
    this.colours = new ColourSlots(model);
    this.view = model.views[0];
    this.camera.fit(this.view);
    this.recut(null);
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  notify(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  get xy(): Float32Array<ArrayBuffer> {
    return this.view.xy;
  }

  /** The stability of the shown clusters; null if it was not measured, or for another cut than the fitted one. */
  get stability(): Model["stability"] {
    return this.cut.fitted ? this.model.stability : null;
  }

  show(view: View): void {
    this.view = view;
    this.camera.fit(view);
    this.hover = NOTHING;
    this.notify("view");
    this.camera.home();
  }

  /** Show the cut into a number of clusters, or the fitted one. */
  recut(requested: number | null): void {
    this.requested = requested;
    this.cut = cutInto(this.model, requested);
    this.slots = this.colours.of(this.cut);
    this.membership = memberships(this.model, this.cut);
    this.clusterStats = null;
    this.cluster = -1;
    this.hover = NOTHING;
    this.notify("cut");
  }

  colour(by: string): void {
    this.colourBy = by;
    this.notify("colour");
  }

  point(hover: Partial<Hover>): void {
    const next = { ...NOTHING, ...hover };
    if ((Object.keys(NOTHING) as (keyof Hover)[]).every((key) => next[key] === this.hover[key])) return;
    this.hover = next;
    this.notify("hover");
  }

  /** Pick a first sample, or a second one to compare; a third starts again, or replaces the second with Shift. */
  pick(sample: number, replaceSecond = false): void {
    const [first, second] = this.picked;
    const compare = first !== undefined && first !== sample && (second === undefined || replaceSecond);
    this.picked = sample < 0 ? [] : compare ? [first, sample] : [sample];
    if (sample >= 0) this.selection = null;
    this.cluster = -1;
    this.notify("pick");
  }

  /** Pick a cluster, alone or to compare with one picked sample. */
  pickCluster(label: number): void {
    this.cluster = this.cluster === label ? -1 : label;
    if (this.picked.length === 2) this.picked = [];
    this.selection = null;
    this.notify("pick");
  }

  select(samples: Int32Array): void {
    this.selection = samples;
    this.nSelections += 1;
    this.picked = [];
    this.cluster = -1;
    this.lassoing = false;
    this.notify("pick");
  }

  clear(): void {
    this.selection = null;
    this.pick(-1);
  }

  /** Pick only this sample, and move it to the middle. */
  goTo(sample: number): void {
    this.picked = [];
    this.pick(sample);
    this.camera.centreOn(this.xy[2 * sample], this.xy[2 * sample + 1]);
  }

  /** Go to the sample with this index, or to the next one whose name contains the text; return a problem or "". */
  search(text: string): string {
    const { model } = this;
    const word = text.trim().toLowerCase();
    if (word === "") return "";
    const names = (model.names ?? []).map((name) => name.toLowerCase());
    const exact = names.includes(word);
    if (/^\d+$/.test(word) && Number(word) < model.nSamples && !exact) {
      const sample = sampleOf(model, Number(word));
      if (sample < 0) return `Sample ${word} is not in the shown subset.`;
      this.goTo(sample);
      return "";
    }
    const start = (this.picked[this.picked.length - 1] ?? -1) + 1;
    for (let i = 0; i < names.length; i++) {
      const sample = (start + i) % names.length;
      if (exact ? names[sample] !== word : !names[sample].includes(word)) continue;
      this.goTo(sample);
      return "";
    }
    const range = `indices range from 0 to ${model.nSamples - 1}`;
    return `No sample matches “${text.trim()}”: ${model.names ? `no name contains it, and ${range}` : range}.`;
  }

  /** The cluster of a sample; -1 for noise. */
  labelOf(sample: number): number {
    const { noise, local } = this.model.samples;
    return noise[sample] ? -1 : this.cut.labels[local[sample]];
  }

  colourOf(label: number): Rgb {
    return clusterColour(label < 0 ? -1 : this.slots[label]);
  }

  nameOf(sample: number): string {
    const name = this.model.names?.[sample];
    return `sample ${rowOf(this.model, sample)}${name ? ` · ${name}` : ""}`;
  }

  /** Sizes of the clusters, without noise. */
  clusterSizes(): number[] {
    const sizes = new Array<number>(this.cut.nClusters).fill(0);
    this.cut.labels.forEach((label, i) => (sizes[label] += this.model.graph.members[i]));
    return sizes;
  }

  /** All columns by cluster. */
  get stats(): Stats[] {
    const groups = (): Int32Array => Int32Array.from({ length: this.model.nShown }, (_, i) => this.labelOf(i));
    this.clusterStats ??= statsOf(this.model.columns, groups(), this.cut.nClusters);
    return this.clusterStats;
  }

  /** How a cluster differs: first in the columns that the clustering used, then in the others. */
  contrasts(label: number): Contrast[] {
    const part = (used: boolean): Stats[] => this.stats.filter(({ column }) => column.used === used);
    return label < 0 ? [] : [true, false].flatMap((used) => contrastsOf(part(used), label));
  }

  private lastEmphasis: { key: string; cut: Cut; locals: Set<number> | null } | null = null;

  /** A text that changes with the emphasis. */
  get emphasisKey(): string {
    const { hover, picked, cluster, selection, nSelections } = this;
    return [hover.cluster, hover.node?.id, hover.link?.edge, cluster, picked, selection && nSelections].join(" ");
  }

  /** Local clusters that stand out; null if all look the same. */
  emphasis(): Set<number> | null {
    const [key, { cut }] = [this.emphasisKey, this];
    if (this.lastEmphasis?.key !== key || this.lastEmphasis.cut !== cut) {
      this.lastEmphasis = { key, cut, locals: this.findEmphasis() };
    }
    return this.lastEmphasis.locals;
  }

  private findEmphasis(): Set<number> | null {
    const { hover, picked, cut } = this;
    const pickedLocals = picked.map((sample) => this.model.samples.local[sample]);
    const cluster = hover.cluster >= 0 ? hover.cluster : this.cluster;
    if (hover.node) return new Set(hover.node.locals);
    if (hover.link) return new Set([...hover.link.from.locals, ...hover.link.to.locals]);
    if (cluster >= 0) {
      const members = [...cut.labels.keys()].filter((local) => cut.labels[local] === cluster);
      return new Set(picked.length === 1 ? [...members, ...pickedLocals] : members);
    }
    const path = this.connection()?.path ?? [];
    return picked.length === 0 ? null : new Set(path.length > 0 ? path : pickedLocals);
  }

  private lastConnection: { key: string; cut: Cut; value: Connection } | null = null;

  /** What connects the two picked samples, or the picked sample and the highest peak of the picked cluster. */
  connection(): Connection | null {
    const { model, cut, cluster } = this;
    const [first, second = cluster < 0 ? -1 : model.graph.peaks[cut.labels.indexOf(cluster)]] = this.picked;
    if (first === undefined || second < 0) return null;
    const key = `${first} ${second}`;
    if (this.lastConnection?.key !== key || this.lastConnection.cut !== cut) {
      this.lastConnection = { key, cut, value: connect(model, cut, first, second) };
    }
    return this.lastConnection.value;
  }
}

/** The state as the part of the address after #; defaults are left out. */
export function writeAddress(app: App): string {
  const { model, camera, colourBy } = app;
  const state = new URLSearchParams();
  if (app.requested !== null) state.set("clusters", String(app.requested));
  if (app.view !== model.views[0]) state.set("view", app.view.name);
  const column = colourColumn(app); // by name, so that an address stays valid if the table gains a column
  if (colourBy !== "cluster") state.set("colour", column ? `column:${column.name}` : colourBy);
  if (app.picked.length > 0) state.set("samples", app.picked.map((sample) => rowOf(model, sample)).join());
  if (app.cluster >= 0) state.set("cluster", String(app.cluster));
  if (camera.zoom !== 1 || camera.x !== 0 || camera.y !== 0) {
    state.set("at", [camera.x, camera.y, camera.zoom].map((value) => Number(value.toPrecision(5))).join());
  }
  return state.toString();
}

/** Restore the state from an address; invalid entries are ignored. */
export function readAddress(app: App, text: string): void {
  const { model } = app;
  const state = new URLSearchParams(text);
  const numbers = (key: string): number[] =>
    (state.get(key) ?? "").split(",").filter(Boolean).map(Number).filter(Number.isFinite);
  const view = model.views.find(({ name }) => name === state.get("view"));
  if (view) app.show(view);
  const [requested] = numbers("clusters");
  if (model.cuts && requested) app.recut(Math.max(1, Math.min(model.nCuts, Math.round(requested))));
  const colour = state.get("colour") ?? "";
  const column = model.columns.findIndex(({ name }) => `column:${name}` === colour);
  if (column >= 0) app.colour(`column ${column}`);
  else if (!colour.startsWith("column ") && colourings(model).has(colour)) app.colour(colour);
  const samples = numbers("samples").map((row) => sampleOf(model, row));
  for (const sample of samples.filter((sample) => sample >= 0).slice(0, 2)) app.pick(sample);
  const [cluster] = numbers("cluster");
  if (Number.isInteger(cluster) && cluster >= 0 && cluster < app.cut.nClusters) app.pickCluster(cluster);
  const [x, y, zoom] = numbers("at");
  if (zoom > 0) app.camera.moveTo(x, y, zoom);
}

const ADDRESS_DELAY = 250;

/** Keep the address up to date, a moment after the last change. */
export function keepAddress(app: App): void {
  let waiting = 0;
  app.listen((change) => {
    if (change === "hover") return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const state = writeAddress(app);
      if (state !== location.hash.slice(1)) history.replaceState(null, "", `#${state}`);
    }, ADDRESS_DELAY);
  });
}
