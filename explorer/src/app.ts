// The state of the page and everything that changes it. Panels, controls and sidebar only show the state.

import { Camera } from "./camera";
import { ColourSlots, type Rgb, type Scale, clusterColour, currentScale } from "./colours";
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
  /** What samples are coloured by, if not by clusters. */
  scale: Scale | null = null;
  theme: "light" | "dark" = "light";
  hover: Hover = NOTHING;
  /** One or two samples, a cluster (-1 for none), or the samples within the lasso. */
  picked: number[] = [];
  cluster = -1;
  selection: Int32Array | null = null;
  /** What the next drag on the samples does, if it does not move them. */
  lasso: "select" | "split" | null = null;
  /** What connects the two picked samples, or the picked sample and the highest peak of the picked cluster. */
  connection: Connection | null = null;
  /** Local clusters that stand out; null if all look the same. */
  emphasis: Set<number> | null = null;
  /** The cuts before the first edit and after each one. */
  history: Cut[] = [];
  private saved: Cut | null = null;
  view: View;
  readonly camera = new Camera(() => this.notify("camera"));
  private readonly listeners: ((change: Change) => void)[] = [];
  private readonly colours: ColourSlots;
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
    if (change === "cut" || change === "colour") this.scale = currentScale(this);
    if (change === "cut" || change === "pick") {
      this.connection = this.findConnection();
      this.emphasis = this.findEmphasis();
    }
    for (const listener of this.listeners) listener(change);
  }

  get xy(): Float32Array<ArrayBuffer> {
    return this.view.xy;
  }

  show(view: View): void {
    this.view = view;
    this.camera.fit(view);
    this.point({});
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

  /** Edit the clusters, or show why it is impossible. */
  private edit(edit: edits.Edit | string): void {
    notice(typeof edit === "string" ? edit : "");
    if (typeof edit === "string") return this.notify("pick");
    this.history.push(edits.applyEdit(this.model, this.history[0], this.cut, edit));
    this.picked = [];
    this.selection = null;
    this.showCut(edit.kind === "rename" ? edit.cluster : edit.into);
  }

  merge(a: number, b: number): void {
    this.edit(edits.mergeEdit(this.cut, a, b));
  }

  /** Split some samples off a cluster, or split it along the next cut of the tree. */
  split(cluster: number, samples: Iterable<number> | null): void {
    this.edit(edits.splitEdit(this.model, this.cut, cluster, samples));
  }

  /** Move samples to a cluster, or to a new one. */
  move(samples: Iterable<number>, into: number | null): void {
    this.edit(edits.moveEdit(this.model, this.cut, samples, into));
  }

  rename(cluster: number, name: string): void {
    this.edit(edits.renameEdit(this.cut, cluster, name));
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
    const { sample, cluster, node, link } = this.hover;
    const isSame = next.cluster === cluster && next.node === node && next.link === link;
    if (isSame && next.sample === sample) return;
    this.hover = next;
    if (!isSame) this.emphasis = this.findEmphasis();
    this.notify("hover");
  }

  /** Pick a first sample, or a second one to compare; a third starts again. */
  pick(sample: number): void {
    const [first, second] = this.picked;
    const compare = first !== undefined && first !== sample && second === undefined;
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

  /** Start a lasso, or stop it. */
  startLasso(purpose: "select" | "split"): void {
    this.lasso = this.lasso === purpose ? null : purpose;
    this.notify("pick");
  }

  /** Select samples, or split those of the picked cluster off. */
  select(samples: Int32Array): void {
    const isSplit = this.lasso === "split" && this.cluster >= 0;
    this.lasso = null;
    if (isSplit) return this.split(this.cut.ids[this.cluster], samples);
    this.selection = samples;
    this.picked = [];
    this.cluster = -1;
    this.notify("pick");
  }

  clear(): void {
    this.selection = this.lasso = null;
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
    const start = (this.picked[this.picked.length - 1] ?? -1) + 1;
    const found = [...names.keys()]
      .map((i) => (start + i) % names.length)
      .find((sample) => (exact ? names[sample] === word : names[sample].includes(word)));
    const isIndex = !exact && /^\d+$/.test(word) && Number(word) < model.nSamples;
    const sample = isIndex ? sampleOf(model, Number(word)) : (found ?? -1);
    if (sample >= 0) this.goTo(sample);
    else if (isIndex) return `Sample ${word} is not in the shown subset.`;
    return sample >= 0 ? "" : `No sample matches “${text.trim()}”.`;
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
    return (this.clusterStats ??= statsOf(this.model.columns, this.cut.samples, this.cut.nClusters));
  }

  /** How a cluster differs: first in the columns that the clustering used, then in the others. */
  contrasts(label: number): Contrast[] {
    const part = (used: boolean): Stats[] => this.stats.filter(({ column }) => column.used === used);
    return label < 0 ? [] : [true, false].flatMap((used) => contrastsOf(part(used), label));
  }

  /** The cluster that stands out; -1 if it is none. */
  get emphasised(): number {
    const { node, link, cluster } = this.hover;
    return node || link ? -1 : cluster >= 0 ? cluster : this.cluster;
  }

  private findEmphasis(): Set<number> | null {
    const { hover, picked, selection, cut, emphasised: cluster } = this;
    const localsOf = (samples: ArrayLike<number>): number[] =>
      Array.from(samples, (sample) => this.model.samples.local[sample]);
    if (hover.node) return new Set(hover.node.locals);
    if (hover.link) return new Set([...hover.link.from.locals, ...hover.link.to.locals]);
    if (cluster >= 0) {
      const members = [...cut.labels.keys()].filter((local) => cut.labels[local] === cluster);
      return new Set(picked.length === 1 ? [...members, ...localsOf(picked)] : members);
    }
    if (selection) return new Set(localsOf(selection));
    const path = this.connection?.path ?? [];
    return picked.length === 0 ? null : new Set(path.length > 0 ? path : localsOf(picked));
  }

  private findConnection(): Connection | null {
    const { model, cut, cluster } = this;
    const highest = (): number =>
      model.graph.peaks.find((peak) => this.homeOf(peak) === cluster) ?? cut.samples.indexOf(cluster);
    const [first, second = cluster < 0 ? -1 : highest()] = this.picked;
    return first === undefined || second < 0 ? null : connect(model, cut, first, second);
  }
}
