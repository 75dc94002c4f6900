// The state of the page and what can be done to it; the panels, the controls and the side only show it.

import { Camera } from "./camera";
import { type Cut, type Wish, fittedCut, recut } from "./cut";
import { type PairStory, type SampleStory, explainPair, explainSample, memberships } from "./explain";
import { type Rgb, clusterColour, matchSlots } from "./palette";
import { type Model, rowOf, sampleOf } from "./payload";

export interface Hover {
  sample: number;
  local: number;
  edge: number;
  cluster: number;
}

export const NOTHING: Hover = { sample: -1, local: -1, edge: -1, cluster: -1 };

/** What has changed: the view alone, what is pointed at, what is picked, the cut or the colours. */
export type Change = "view" | "hover" | "pick" | "cut" | "colour";

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
  message = "";
  readonly camera = new Camera(() => this.tell("view"));
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(readonly model: Model) {
    this.cut = fittedCut(model);
    this.slots = Array.from({ length: this.cut.nClusters }, (_, label) => label);
    this.membership = memberships(model, this.cut);
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  /** Cut anew; without a wish, as the fit did. */
  recut(wish: Wish): void {
    const before = this.cut;
    const again = wish.nClusters !== undefined || wish.proportions !== undefined;
    this.wish = wish;
    this.cut = again ? recut(this.model, wish) : fittedCut(this.model);
    this.slots = this.cut.fitted
      ? Array.from({ length: this.cut.nClusters }, (_, label) => label)
      : matchSlots(before.labels, this.slots, this.cut.labels, this.model.graph.sizes);
    this.membership = memberships(this.model, this.cut);
    this.cluster = -1;
    this.hover = NOTHING;
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
    this.tell("pick");
  }

  pickCluster(label: number): void {
    this.cluster = this.cluster === label ? -1 : label;
    this.tell("pick");
  }

  clear(): void {
    this.cluster = -1;
    this.pick(-1);
  }

  colour(by: string): void {
    this.colourBy = by;
    this.tell("colour");
  }

  /** Pick the sample of an index, or the next one whose name has the words in it; what came of it. */
  search(text: string): string {
    const wanted = text.trim();
    if (wanted === "") return "";
    const { names, nSamples } = this.model;
    if (/^\d+$/.test(wanted) && Number(wanted) < nSamples) {
      const sample = sampleOf(this.model, Number(wanted));
      return sample < 0 ? `Sample ${wanted} is not among those shown.` : this.show(sample);
    }
    const word = wanted.toLowerCase();
    const first = this.picked.length > 0 ? this.picked[this.picked.length - 1] + 1 : 0;
    for (let i = 0; names && i < names.length; i++) {
      const sample = (first + i) % names.length;
      if (names[sample].toLowerCase().includes(word)) return this.show(sample);
    }
    return names ? `No sample of that index or name.` : `No such sample: indices are 0 to ${nSamples - 1}.`;
  }

  private show(sample: number): string {
    const { place } = this.model.samples;
    this.picked = [];
    this.pick(sample);
    this.camera.centreOn(place[2 * sample], place[2 * sample + 1]);
    return `Found ${this.nameOf(sample)}.`;
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

  /** Local clusters that stand out, null where all are alike. */
  emphasis(): Set<number> | null {
    const { hover, picked, cut } = this;
    const cluster = hover.cluster >= 0 ? hover.cluster : this.cluster;
    if (hover.local >= 0 && hover.sample < 0) return new Set([hover.local]);
    if (hover.edge >= 0) return new Set(this.model.graph.edges.subarray(2 * hover.edge, 2 * hover.edge + 2));
    if (cluster >= 0) return new Set([...cut.labels.keys()].filter((local) => cut.labels[local] === cluster));
    if (picked.length === 0) return null;
    const pair = this.pair();
    return new Set(pair?.connected ? pair.path : picked.map((sample) => this.model.samples.local[sample]));
  }

  private told: { key: string; cut: Cut; pair: PairStory } | null = null;

  /** What connects the two picked samples, null unless there are two. */
  pair(): PairStory | null {
    if (this.picked.length < 2) return null;
    const key = this.picked.join();
    if (this.told?.key !== key || this.told.cut !== this.cut) {
      this.told = { key, cut: this.cut, pair: explainPair(this.model, this.cut, this.picked[0], this.picked[1]) };
    }
    return this.told.pair;
  }

  story(sample: number): SampleStory {
    return explainSample(this.model, this.cut, sample);
  }
}
