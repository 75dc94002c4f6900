// The state of the page and what can be done to it; the panels, the controls and the side only show it.

import { Camera } from "./camera";
import type { Link, Node } from "./coarse";
import { type Cut, type Wish, fittedCut, recut } from "./cut";
import { type PairStory, type SampleStory, explainPair, explainSample, memberships } from "./explain";
import { type Rgb, clusterColour } from "./palette";
import { type Model, type View, rowOf, sampleOf } from "./payload";
import { type Contrast, type Stats, contrastsOf, statsOf } from "./profile";
import { Slots } from "./slots";

export interface Hover {
  sample: number;
  cluster: number;
  node: Node | null;
  link: Link | null;
}

export const NOTHING: Hover = { sample: -1, cluster: -1, node: null, link: null };

/** What has changed: the view alone, what is pointed at, what is picked, the cut, the colours, or the places. */
export type Change = "view" | "hover" | "pick" | "cut" | "colour" | "places";

export class App {
  cut: Cut;
  wish: Wish = {};
  slots: number[];
  membership: Float32Array;
  colourBy = "cluster";
  dark = false;
  hover: Hover = NOTHING;
  picked: number[] = [];
  cluster = -1;
  /** Samples within the lasso, ascending; null where there is none. */
  selection: Int32Array | null = null;
  private nSelections = 0;
  /** Whether dragging draws a lasso. */
  lassoing = false;
  view: View;
  readonly camera = new Camera(() => this.tell("view"));
  private readonly listeners: ((change: Change) => void)[] = [];
  private readonly colours: Slots;

  constructor(readonly model: Model) {
    this.cut = fittedCut(model);
    this.colours = new Slots(model, this.cut);
    this.slots = this.colours.of(this.cut);
    this.membership = memberships(model, this.cut);
    this.view = model.views[0];
    this.aim();
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  get place(): Float32Array<ArrayBuffer> {
    return this.view.place;
  }

  private aim(): void {
    this.camera.extent = this.view.extent;
    this.camera.oneScale = this.view.oneScale;
  }

  look(view: View): void {
    this.view = view;
    this.aim();
    this.hover = NOTHING;
    this.tell("places");
    this.camera.home();
  }

  /** Cut anew; without a wish, as the fit did. */
  recut(wish: Wish): void {
    const again = wish.nClusters !== undefined || wish.proportions !== undefined;
    this.wish = wish;
    this.cut = again ? recut(this.model, wish) : fittedCut(this.model);
    this.slots = this.colours.of(this.cut);
    this.membership = memberships(this.model, this.cut);
    this.cluster = -1;
    this.hover = NOTHING;
    this.byCluster = null;
    this.tell("cut");
  }

  point(hover: Partial<Hover>): void {
    const now = { ...NOTHING, ...hover };
    if ((Object.keys(NOTHING) as (keyof Hover)[]).every((key) => now[key] === this.hover[key])) return;
    this.hover = now;
    this.tell("hover");
  }

  /** The first sample, or a second one beside it; a third begins anew. */
  pick(sample: number, second = false): void {
    if (sample < 0) this.picked = [];
    else if (this.picked.length === 1 && this.picked[0] !== sample) this.picked = [this.picked[0], sample];
    else if (second && this.picked.length === 2) this.picked = [this.picked[0], sample];
    else this.picked = [sample];
    if (sample >= 0) this.selection = null;
    this.cluster = -1;
    this.tell("pick");
  }

  /** A cluster, alone or beside one picked sample. */
  pickCluster(label: number): void {
    this.cluster = this.cluster === label ? -1 : label;
    if (this.picked.length === 2) this.picked = [];
    this.selection = null;
    this.tell("pick");
  }

  select(samples: Int32Array | null): void {
    this.selection = samples;
    this.nSelections += 1;
    this.picked = [];
    this.cluster = -1;
    this.lassoing = false;
    this.tell("pick");
  }

  clear(): void {
    this.cluster = -1;
    this.selection = null;
    this.pick(-1);
  }

  colour(by: string): void {
    this.colourBy = by;
    this.tell("colour");
  }

  /** Pick the sample of an index, or the next one whose name has the words in it; what went wrong, or nothing. */
  search(text: string): string {
    const wanted = text.trim();
    if (wanted === "") return "";
    const { names, nSamples } = this.model;
    const word = wanted.toLowerCase();
    const exact = names?.findIndex((name) => name.toLowerCase() === word) ?? -1;
    const isRow = /^\d+$/.test(wanted) && Number(wanted) < nSamples;
    if (isRow && exact < 0) {
      const sample = sampleOf(this.model, Number(wanted));
      return sample < 0 ? `Sample ${wanted} is not among those shown.` : this.show(sample);
    }
    const first = this.picked.length > 0 ? this.picked[this.picked.length - 1] + 1 : 0;
    const matches = (name: string): boolean => (exact < 0 ? name.includes(word) : name === word);
    for (let i = 0; names && i < names.length; i++) {
      const sample = (first + i) % names.length;
      if (matches(names[sample].toLowerCase())) return this.show(sample);
    }
    const indices = `indices are 0 to ${nSamples - 1}`;
    return `Nothing found for “${wanted}”: ${names ? `no name has these words, and ${indices}` : indices}.`;
  }

  private show(sample: number): string {
    this.picked = [];
    this.pick(sample);
    this.camera.centreOn(this.place[2 * sample], this.place[2 * sample + 1]);
    return "";
  }

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

  /** Samples of every cluster, without noise. */
  clusterSizes(): number[] {
    const sizes = new Array<number>(this.cut.nClusters).fill(0);
    this.cut.labels.forEach((label, i) => (sizes[label] += this.model.graph.members[i]));
    return sizes;
  }

  private byCluster: Stats[] | null = null;

  /** Every column by cluster. */
  get stats(): Stats[] {
    this.byCluster ??= statsOf(
      this.model.columns,
      Int32Array.from({ length: this.model.nShown }, (_, sample) => this.labelOf(sample)),
      this.cut.nClusters,
    );
    return this.byCluster;
  }

  /** How a cluster differs, the largest difference first, in columns that the clustering used or in the others. */
  contrasts(label: number, used = true): Contrast[] {
    const stats = this.stats.filter(({ column }) => column.used === used);
    return label < 0 ? [] : contrastsOf(stats, label);
  }

  private emphasised: { key: string; cut: Cut; out: Set<number> | null } = { key: "?", cut: null!, out: null };

  /** What stands out, as a text that changes with it. */
  get emphasisKey(): string {
    const { hover, picked, cluster, selection, nSelections } = this;
    const pointed = [hover.cluster, hover.node?.id, hover.link?.edge].join();
    return `${pointed} ${cluster} ${picked.join()} ${selection ? nSelections : ""}`;
  }

  /** Local clusters that stand out, null where all are alike. */
  emphasis(): Set<number> | null {
    const key = this.emphasisKey;
    if (this.emphasised.key !== key || this.emphasised.cut !== this.cut) {
      this.emphasised = { key, cut: this.cut, out: this.findEmphasis() };
    }
    return this.emphasised.out;
  }

  private findEmphasis(): Set<number> | null {
    const { hover, picked, cut } = this;
    const cluster = hover.cluster >= 0 ? hover.cluster : this.cluster;
    if (hover.node) return new Set(hover.node.locals);
    if (hover.link) return new Set([...hover.link.from.locals, ...hover.link.to.locals]);
    if (cluster >= 0) {
      const out = new Set([...cut.labels.keys()].filter((local) => cut.labels[local] === cluster));
      return picked.length === 1 ? out.add(this.model.samples.local[picked[0]]) : out;
    }
    if (picked.length === 0) return null;
    const pair = this.pair();
    return new Set(pair?.connected ? pair.path : picked.map((sample) => this.model.samples.local[sample]));
  }

  private told: { key: string; cut: Cut; pair: PairStory } | null = null;

  /** What connects the two picked samples, or a picked one and the highest peak of the chosen cluster. */
  pair(): PairStory | null {
    const [first, second] = [this.picked[0], this.picked[1] ?? this.peakOf(this.cluster)];
    if (this.picked.length === 0 || second < 0) return null;
    const key = `${first} ${second}`;
    if (this.told?.key !== key || this.told.cut !== this.cut) {
      this.told = { key, cut: this.cut, pair: explainPair(this.model, this.cut, first, second) };
    }
    return this.told.pair;
  }

  /** The sample at the highest peak of a cluster; local clusters are in this order. */
  private peakOf(cluster: number): number {
    return cluster < 0 ? -1 : this.model.graph.peaks[this.cut.labels.indexOf(cluster)];
  }

  story(sample: number): SampleStory {
    return explainSample(this.model, this.cut, sample);
  }
}
