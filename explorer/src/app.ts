// The state of the page and everything that changes it. Panels, controls and sidebar only show the state.

import { Camera } from "./camera";
import { ColourSlots, type Rgb, clusterColour, colourColumn, colourings } from "./colours";
import { notice, shortened } from "./dom";
import * as edits from "./edits";
import type { Link, Node } from "./graph_panel";
import {
  type Connection,
  type Cut,
  type Model,
  type View,
  connect,
  cutInto,
  homeOf,
  memberships,
  nearestCut,
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

/** Letters of the name of a cluster where space is short. */
const MOST_LETTERS = 16;
const NOTHING: Hover = { sample: -1, cluster: -1, node: null, link: null };

/** What has changed: the camera, the item under the pointer, the selection, the cut, the colours, or the view. */
export type Change = "camera" | "hover" | "pick" | "cut" | "colour" | "view";

export class App {
  cut!: Cut;
  slots!: number[];
  membership!: Float32Array;
  colourBy = "cluster";
  theme: "light" | "dark" = "light";
  hover: Hover = NOTHING;
  /** One or two samples, a cluster (-1 for none), or the samples within the lasso. */
  picked: number[] = [];
  cluster = -1;
  selection: Int32Array | null = null;
  /** Whether dragging draws a lasso, and whether it splits the picked cluster. */
  lassoing = false;
  lassoSplits = false;
  /** The cut after an edit that is described but not applied yet. */
  proposal: Cut | null = null;
  /** The cuts before the first edit and after each one. */
  history: Cut[] = [];
  private saved: Cut | null = null;
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

  show(view: View): void {
    this.view = view;
    this.camera.fit(view);
    this.hover = NOTHING;
    this.notify("view");
    this.camera.home();
  }

  /** Show the cut into a number of clusters, or the fitted one; edits are never lost by it. */
  recut(requested: number | null): void {
    if (this.nEdits > 0) return;
    this.history = [cutInto(this.model, requested)];
    this.showCut();
  }

  /** Show the last cut, and pick a cluster by its number. */
  private showCut(id = -1): void {
    const cut = (this.cut = this.history[this.nEdits]);
    this.slots = this.colours.of(cut);
    this.membership = memberships(this.model, cut);
    this.clusterStats = null;
    this.cluster = cut.ids.indexOf(id);
    this.proposal = null;
    this.hover = NOTHING;
    this.notify("cut");
  }

  get nEdits(): number {
    return Math.max(0, this.history.length - 1);
  }

  get isUnsaved(): boolean {
    return this.nEdits > 0 && this.cut !== this.saved;
  }

  /** The public number of the cluster of every shown sample. */
  get ids(): number[] {
    return Array.from(this.cut.samples, (label) => this.cut.ids[label] ?? -1);
  }

  /** Show what an edit would do, or why it is impossible. */
  propose(edit: edits.Edit | string): void {
    if (typeof edit === "string") notice(edit);
    this.proposal = typeof edit === "string" ? null : edits.applyEdit(this.model, this.history[0], this.cut, edit);
    this.nSelections += 1;
    this.notify("pick");
  }

  /** Edit the clusters; return a problem or "". */
  edit(edit: edits.Edit | string): string {
    if (typeof edit === "string") return edit;
    this.history.push(edits.applyEdit(this.model, this.history[0], this.cut, edit));
    this.picked = [];
    this.selection = null;
    this.showCut(edit.kind === "rename" ? edit.cluster : edit.into);
    return "";
  }

  merge(a: number, b: number): string {
    return this.edit(edits.mergeEdit(this.cut, a, b));
  }

  /** Split some samples off a cluster, or split it along the next cut of the tree. */
  split(cluster: number, samples: Iterable<number> | null): string {
    return this.edit(edits.splitEdit(this.model, this.cut, cluster, samples));
  }

  /** Move samples to a cluster, or to a new one. */
  move(samples: Iterable<number>, into: number | null): string {
    return this.edit(edits.moveEdit(this.model, this.cut, samples, into));
  }

  rename(cluster: number, name: string): string {
    return this.edit(edits.renameEdit(this.cut, cluster, name));
  }

  undo(): void {
    if (this.nEdits === 0) return;
    this.history.pop();
    this.showCut();
  }

  /** The file of edits; from now on they count as saved. */
  editsJson(): string {
    this.saved = this.cut;
    return edits.editsFile(this.model, this.history);
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
    this.proposal = null;
    this.notify("pick");
  }

  /** Pick a cluster, alone or to compare with one picked sample. */
  pickCluster(label: number): void {
    this.cluster = this.cluster === label ? -1 : label;
    if (this.picked.length === 2) this.picked = [];
    this.selection = this.proposal = null;
    this.notify("pick");
  }

  /** Select samples, or split those of the picked cluster off. */
  select(samples: Int32Array): void {
    const splits = this.lassoing && this.lassoSplits && this.cluster >= 0;
    this.lassoing = false;
    if (splits) return this.propose(edits.splitEdit(this.model, this.cut, this.cut.ids[this.cluster], samples));
    this.proposal = null;
    this.selection = samples;
    this.nSelections += 1;
    this.picked = [];
    this.cluster = -1;
    this.notify("pick");
  }

  clear(): void {
    this.selection = null;
    this.lassoing = false;
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
    return this.cut.samples[sample];
  }

  /** The cluster of a sample, also if it is noise. */
  homeOf(sample: number): number {
    return homeOf(this.model, this.cut, sample);
  }

  /** The name of a cluster, or "cluster 3". */
  titleOf(label: number): string {
    return edits.titleIn(this.cut, this.cut.ids[label] ?? -1);
  }

  /** The name of a cluster, or its number; long names are cut. */
  tagOf(label: number): string {
    const id = this.cut.ids[label];
    return shortened(this.cut.names[id] ?? String(id), MOST_LETTERS);
  }

  colourOf(label: number): Rgb {
    return clusterColour(label < 0 ? -1 : this.slots[label]);
  }

  nameOf(sample: number): string {
    const name = this.model.names?.[sample];
    return `sample ${rowOf(this.model, sample)}${name ? ` · ${name}` : ""}`;
  }

  /** All columns by cluster. */
  get stats(): Stats[] {
    this.clusterStats ??= statsOf(this.model.columns, this.cut.samples, this.cut.nClusters);
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
    const { hover, picked, cluster, selection, proposal, nSelections } = this;
    const chosen = selection || proposal ? nSelections : 0;
    return [hover.cluster, hover.node?.id, hover.link?.edge, cluster, picked, chosen].join(" ");
  }

  /** Local clusters that stand out; null if all look the same. */
  emphasis(): Set<number> | null {
    const [key, { cut }] = [this.emphasisKey, this];
    if (this.lastEmphasis?.key !== key || this.lastEmphasis.cut !== cut) {
      this.lastEmphasis = { key, cut, locals: this.findEmphasis() };
    }
    return this.lastEmphasis.locals;
  }

  /** The cluster that stands out; -1 if it is none. */
  get emphasised(): number {
    const { node, link, cluster } = this.hover;
    return node || link ? -1 : cluster >= 0 ? cluster : this.cluster;
  }

  /** Samples that stand out: those within the lasso, or those that a proposed edit changes. */
  get chosen(): ArrayLike<number> | null {
    const { proposal } = this;
    if (!proposal?.edit || proposal.edit.kind === "rename") return this.selection;
    if (proposal.edit.kind !== "merge") return proposal.edit.rows;
    const into = proposal.ids.indexOf(proposal.edit.into);
    return [...proposal.samples.keys()].filter((i) => proposal.samples[i] === into);
  }

  private findEmphasis(): Set<number> | null {
    const { hover, picked, cut, emphasised: cluster } = this;
    const pickedLocals = picked.map((sample) => this.model.samples.local[sample]);
    if (hover.node) return new Set(hover.node.locals);
    if (this.proposal) return new Set(Array.from(this.chosen ?? [], (sample) => this.model.samples.local[sample]));
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
    const highest = (): number =>
      model.graph.peaks.find((peak) => this.homeOf(peak) === cluster) ?? cut.samples.indexOf(cluster);
    const [first, second = cluster < 0 ? -1 : highest()] = this.picked;
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
  const [cut] = app.history;
  if (!cut.fitted) state.set("clusters", String(cut.requested));
  if (app.view !== model.views[0]) state.set("view", app.view.name);
  const column = colourColumn(app); // by name, so that an address stays valid if the table gains a column
  if (colourBy !== "cluster") state.set("colour", column ? `column:${column.name}` : colourBy);
  if (app.picked.length > 0) state.set("samples", app.picked.map((sample) => rowOf(model, sample)).join());
  if (app.cluster >= 0) state.set("cluster", String(app.cut.ids[app.cluster]));
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
  if (requested) app.recut(nearestCut(model, requested));
  const colour = state.get("colour") ?? "";
  const column = model.columns.findIndex(({ name }) => `column:${name}` === colour);
  if (column >= 0) app.colour(`column ${column}`);
  else if (!colour.startsWith("column ") && colourings(model).has(colour)) app.colour(colour);
  const samples = numbers("samples").map((row) => sampleOf(model, row));
  for (const sample of samples.filter((sample) => sample >= 0).slice(0, 2)) app.pick(sample);
  const [cluster] = numbers("cluster");
  if (app.cut.ids.includes(cluster)) app.pickCluster(app.cut.ids.indexOf(cluster));
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
