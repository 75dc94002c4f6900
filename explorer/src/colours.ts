// Colours of clusters and columns, the same in both panels. Categories have other colours than clusters.

import type { App } from "./app";
import { format } from "./dom";
import { type Column, type Cut, type Model, type Numbers, countLabels, labelsAt, nearestCut } from "./model";
import { cell } from "./statistics";

export type Rgb = [number, number, number];

/**
 * The first eight are distinct for colour-blind readers (Okabe and Ito). Each further colour is as far as possible, in
 * Oklab, from grey and from all colours before it, and neither too light nor too dark for the page.
 */
const CLUSTERS = parse(
  "0072b2 e69f00 009e73 d55e00 cc79a7 56b4e9 d9c62a 8a6d4b 984098 6cc498 c4c4ec 989814 ec98ec 986cc4 ec9898 c4c498 " +
    "1498c4 9898ec ec6c6c 6c6c98 c4986c 6c6c14 c498c4 c46c6c 98406c 14c4c4 6c6cc4 986c98 409898 98986c 4098ec 98c46c " +
    "c46cc4 ecc46c 6c98c4 c49814 6c9814 ec6c98 c49898 c498ec 6c986c ec98c4 ec986c 9898c4 986c6c 98c4ec c4c46c 986c14 " +
    "406c98 406cc4 14c4ec 6cc46c 14c498 409840 98c498 6cc4c4 c46c40 6cc4ec 6c6c40 6c98ec ec9840 c46c98 ecc440 c46c14 " +
    "c4c440 146c98 6c9840 146cc4 989840 40986c 986c40 c49840",
);
const CATEGORIES = parse(
  "7a56c2 7fb800 b3203d 2fb5b5 f08fa0 4a5a2a b58cff 1f3f66 ecc46c c46c14 146cc4 c4c4ec 4098ec 409840 984098 c46c98 " +
    "98c498 c49814 6c6c98 ec98ec 986cc4 6cc4ec 986c6c 149898",
);
const RAMPS = {
  light: parse("2a3a8f 2f6f9f 3b9c8a 8cc05c f0dc4a"),
  dark: parse("5562d0 3f8fc0 45b09c 9fce6a f5e663"),
};
/** For stability: low values stand out on either page. */
const FADING: typeof RAMPS = {
  light: parse("a8123e d9542b e8a04c b6bcc5"),
  dark: parse("ff5c7a ff8a5c d9a860 5a6370"),
};
const GREY: Rgb = [140, 146, 154];
const DIMMED = 0.25;

/** The background of the panels, as in the style of the page. */
export const paperOf = (theme: keyof typeof THEMES): Rgb => parse(THEMES[theme].paper.slice(1))[0];

export const THEMES = {
  light: { ink: "#16191d", soft: "#5a626d", paper: "#ffffff", warning: "#c23b00" },
  dark: { ink: "#e8ebf0", soft: "#9aa4b1", paper: "#14171c", warning: "#ff8a5c" },
};

function parse(colours: string): Rgb[] {
  return colours.split(" ").map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)) as Rgb);
}

/** The colour of a slot; -1 is noise. */
export function clusterColour(slot: number): Rgb {
  return slot < 0 ? GREY : CLUSTERS[slot % CLUSTERS.length];
}

/** The colour at a position from 0 to 1 along some colours. */
function rampColour(position: number, stops: Rgb[]): Rgb {
  const at = Math.max(0, Math.min(1, position)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (at - low))) as Rgb;
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${r},${g},${b})`; // with commas, which every program reads in SVG
}

/**
 * Colour slots of the clusters of every cut. The clusters of the fit have the slots 0, 1, ... Along the cuts from there,
 * the larger part of a split keeps its slot, so that a cut has the same colours whichever cuts were shown before.
 */
export class ColourSlots {
  private readonly known = new Map<number, number[]>();
  private readonly own: number[];

  constructor(private readonly model: Model) {
    this.own = model.clusterIds; // so that a cluster has the same colour in the pages of later fits
  }

  of({ fitted, requested, base, ids }: Cut): number[] {
    if (!base) return fitted ? this.own : this.along(this.model.cutNumbers.indexOf(requested));
    const slots = this.of(base);
    const largest = Math.max(base.nextId - 1, ...slots); // clusters of edits come after all others
    return ids.map((id) => slots[base.ids.indexOf(id)] ?? largest + 1 + id - base.nextId);
  }

  /** The slots of the cut at an index of the possible numbers. */
  private along(at: number): number[] {
    const { model, own, known } = this;
    const { labels, sizes } = model.graph;
    const start = model.cutNumbers.indexOf(nearestCut(model, own.length));
    if (!known.has(at)) {
      const before = at - Math.sign(at - start);
      const [last, slots] = at === start ? [labels, own] : [labelsAt(model, before), this.along(before)];
      known.set(at, matchSlots(last, slots, labelsAt(model, at), sizes));
    }
    return known.get(at)!;
  }
}

/** Give every new cluster the slot of the old cluster with which it shares most samples, or else a free slot. */
function matchSlots(before: Numbers, slots: number[], after: Numbers, sizes: Numbers): number[] {
  const nAfter = countLabels(after);
  const shared = new Map<number, number>();
  for (let i = 0; i < after.length; i++) {
    const key = before[i] * nAfter + after[i];
    shared.set(key, (shared.get(key) ?? 0) + sizes[i]);
  }
  const matched = new Array<number>(nAfter).fill(-1);
  const taken = new Set<number>();
  for (const [key] of [...shared].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const [slot, label] = [slots[Math.floor(key / nAfter)], key % nAfter];
    if (matched[label] >= 0 || taken.has(slot)) continue;
    matched[label] = slot;
    taken.add(slot);
  }
  let free = 0;
  return matched.map((slot) => {
    if (slot >= 0) return slot;
    while (taken.has(free)) free++;
    taken.add(free);
    return free;
  });
}

/** What samples are coloured by, other than the cluster: numbers from low to high, or classes. */
export interface Scale {
  name: string;
  values: Numbers;
  low: number;
  high: number;
  /** Names of the classes; the values are their indices, and larger values are missing. */
  classes: string[] | null;
  ramp?: typeof RAMPS;
  /** Why values are missing. */
  missing?: string;
  show: (value: number) => string;
}

/** Names of everything to colour by, by key. */
export function colourings({ columns, stability }: Model): Map<string, string> {
  return new Map([
    ["cluster", "Cluster"],
    ["local", "Local cluster"],
    ["membership", "Membership"],
    ...(stability ? [["stability", "Stability"] as [string, string]] : []),
    ["outlier", "Outlier score"],
    ["intensity", "Log intensity"],
    ...columns.map(({ name }, i): [string, string] => [`column ${i}`, name]),
  ]);
}

/** The column that samples are coloured by. */
export function colourColumn({ colourBy, model }: App): Column | undefined {
  return model.columns[Number(/^column (\d+)$/.exec(colourBy)?.[1] ?? -1)];
}

/** The current scale; null for clusters and local clusters. */
export function currentScale(app: App): Scale | null {
  const { intensity, outlier } = app.model.samples;
  const column = colourColumn(app);
  if (column) return columnScale(column);
  const stability = app.model.stability?.samples;
  const values = { intensity, outlier, membership: app.membership, stability }[app.colourBy];
  if (!values) return null;
  if (values === stability) {
    const name = `Stability${app.cut.fitted ? "" : " of the fitted clusters"}`;
    return { name, values, low: 50, high: 100, classes: null, ramp: FADING, show: (value) => `${value} %` };
  }
  const [low, high] = app.colourBy === "membership" ? [0.5, 1] : usualRange(values);
  const show = (value: number): string => String(Number(value.toPrecision(4)));
  const name = colourings(app.model).get(app.colourBy)!;
  return { name, values, low, high, classes: null, show, missing: "edited clusters" };
}

/** Integers with at most this number of values are classes. */
const MOST_CLASSES = 12;

function columnScale(column: Column): Scale {
  const { name, values, categories, decimals, kind } = column;
  const show = (value: number): string => cell(column, value);
  const scale: Scale = { name, values, low: 0, high: 1, classes: categories, show };
  if (categories) return scale;
  const distinct = decimals !== 0 || kind === "date" ? null : new Set<number>();
  if (distinct) for (let i = 0; i < values.length && distinct.size <= MOST_CLASSES; i++) distinct.add(values[i]);
  if (distinct && distinct.size <= MOST_CLASSES) {
    const classes = [...distinct].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
    const index = new Map(classes.map((value, i) => [value, i]));
    const codes = Int32Array.from(values, (value) => index.get(value) ?? classes.length);
    return { ...scale, values: codes, classes: classes.map(show) };
  }
  const [low, high] = usualRange(values);
  return { ...scale, low, high };
}

/** From the 1st to the 99th percentile, so that a few extreme values do not take all the colours. */
function usualRange(values: Numbers): [number, number] {
  const sorted = Float64Array.from(values)
    .filter((value) => Number.isFinite(value))
    .sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))];
  return sorted.length === 0 ? [0, 1] : [at(0.01), at(0.99)];
}

const isMissing = ({ classes }: Scale, value: number): boolean =>
  classes ? !(value < classes.length) : Number.isNaN(value);

export function scaleColour(scale: Scale, value: number, theme: "light" | "dark"): Rgb {
  if (isMissing(scale, value)) return GREY;
  if (scale.classes) return CATEGORIES[value] ?? GREY;
  const { low, high, ramp = RAMPS } = scale;
  return rampColour(high > low ? (value - low) / (high - low) : 0.5, ramp[theme]);
}

/** Lines of the legend: classes, how many more share one colour, and missing values. */
export function legendLines(scale: Scale, theme: "light" | "dark"): [Rgb, string][] {
  const classes = scale.classes ?? [];
  const lines = classes
    .slice(0, CATEGORIES.length)
    .map((name, i): [Rgb, string] => [scaleColour(scale, i, theme), name]);
  const more = classes.length - lines.length;
  if (more > 0) lines.push([GREY, `${format(more)} more`]);
  if (scale.values.some((value) => isMissing(scale, value))) lines.push([GREY, scale.missing ?? "missing"]);
  return lines;
}

/** Red, green, blue and alpha of every shown sample. */
export function sampleColours(app: App): Uint8Array<ArrayBuffer> {
  const { nShown, samples } = app.model;
  const { scale } = app;
  const { selection, emphasised, picked, hover } = app;
  const chosen = hover.node || hover.link || emphasised >= 0 ? null : selection;
  const emphasis = chosen ? null : app.emphasis;
  const pickedLocal = picked.length === 1 ? samples.local[picked[0]] : -1;
  const clusters = app.slots.map(clusterColour);
  const bytes = new Uint8Array(4 * nShown);
  for (let i = 0; i < nShown; i++) {
    const [local, label] = [samples.local[i], app.cut.samples[i]];
    const stands = emphasised < 0 ? emphasis?.has(local) : label === emphasised || local === pickedLocal;
    let colour: Rgb;
    if (scale) colour = scaleColour(scale, scale.values[i], app.theme);
    else if (app.colourBy === "local") colour = clusterColour(local);
    else colour = clusters[label] ?? GREY;
    bytes[4 * i] = colour[0];
    bytes[4 * i + 1] = colour[1];
    bytes[4 * i + 2] = colour[2];
    bytes[4 * i + 3] = chosen || (emphasis && !stands) ? 255 * DIMMED : 255;
  }
  for (const i of chosen ?? []) bytes[4 * i + 3] = 255;
  return bytes;
}
