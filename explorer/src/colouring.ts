// What the samples are coloured by: the cluster, a number on a scale, or a category.

import type { App } from "./app";
import { count } from "./dom";
import { GREY, type Rgb, categoryColour, clusterColour, rampColour } from "./palette";
import type { Column, Numbers } from "./payload";
import type { Bytes } from "./points";
import { cell } from "./profile";

/** Whole numbers of at most so many values are classes. */
const MOST_CLASSES = 12;
const DIMMED = 0.18;

export interface Colouring {
  name: string;
  /** What it is, in a word or two. */
  about: string;
  scale: () => Scale;
}

export interface Scale {
  name: string;
  values: Numbers;
  low: number;
  high: number;
  /** Names of classes, whose numbers the values are; a missing value has a number beyond them. */
  categories: string[] | null;
  /** Whether the values are local clusters, which are too many to name. */
  ofLocals: boolean;
  show: (value: number) => string;
}

const plain = (value: number): string => String(Number(value.toPrecision(4)));

/** Everything to colour by beside the cluster, by key. */
export function colourings(app: App): Map<string, Colouring> {
  const { samples, columns } = app.model;
  const found = new Map<string, Colouring>();
  const add = (key: string, name: string, values: () => Numbers, ends?: [number, number]): void => {
    const scale = (): Scale => {
      const [low, high] = ends ?? range(values());
      return { name, values: values(), low, high, categories: null, ofLocals: false, show: plain };
    };
    found.set(key, { name, about: "of the model", scale });
  };
  add("intensity", "Log intensity", () => samples.intensity);
  add("membership", "Membership", () => app.membership, [0.5, 1]);
  add("outlier", "Outlier score", () => samples.outlier);
  const local = {
    name: "Local cluster",
    values: samples.local,
    low: 0,
    high: 1,
    categories: null,
    ofLocals: true,
    show: plain,
  };
  found.set("local", { name: "Local cluster", about: "of the model", scale: () => local });
  columns.forEach((column, i) => {
    const values = column.categories?.length;
    const about = values === undefined ? column.kind : values > 50 ? "text" : count(values, "value");
    found.set(`column ${i}`, { name: column.name, about, scale: () => columnScale(column) });
  });
  return found;
}

const SCALES = new WeakMap<Column, Scale>();

/** The scale of a column; whole numbers of few values are classes. */
function columnScale(column: Column): Scale {
  const known = SCALES.get(column);
  if (known) return known;
  const { name, values, categories } = column;
  const show = (value: number): string => cell(column, value);
  let scale: Scale = { name, values, low: 0, high: 1, categories, ofLocals: false, show };
  const classes = categories ? null : fewValues(column);
  if (classes) {
    const place = new Map(classes.map((value, i) => [value, i]));
    const codes = Int32Array.from(values, (value) => place.get(value) ?? classes.length);
    scale = { ...scale, values: codes, categories: classes.map(show) };
  } else if (!categories) {
    const [low, high] = range(values);
    scale = { ...scale, low, high };
  }
  SCALES.set(column, scale);
  return scale;
}

/** The different values of whole numbers where they are few, ascending; else null. */
function fewValues({ decimals, values, kind }: Column): number[] | null {
  if (decimals !== 0 || kind !== "number") return null;
  const found = new Set<number>();
  for (const value of values) {
    if (!Number.isNaN(value)) found.add(value);
    if (found.size > MOST_CLASSES) return null;
  }
  return [...found].sort((a, b) => a - b);
}

/** The scale that is used now, null for clusters. */
export function currentScale(app: App): Scale | null {
  return colourings(app).get(app.colourBy)?.scale() ?? null;
}

const RANGES = new WeakMap<Numbers, [number, number]>();

/** From nearly the lowest to nearly the highest value, so that a few far-off ones do not take all the colours. */
function range(values: Numbers): [number, number] {
  const known = RANGES.get(values);
  if (known) return known;
  const finite = Float64Array.from(values)
    .filter((value) => Number.isFinite(value))
    .sort();
  const at = (share: number): number => finite[Math.round(share * (finite.length - 1))];
  const found: [number, number] = finite.length === 0 ? [0, 1] : [at(0.01), at(0.99)];
  RANGES.set(values, found);
  return found;
}

function isMissing({ categories }: Scale, value: number): boolean {
  return categories ? !(value < categories.length) : Number.isNaN(value);
}

/** Whether some sample has no value. */
export function hasMissing(scale: Scale): boolean {
  return scale.values.some((value) => isMissing(scale, value));
}

/** The colour of a value, or of a missing one: NaN, or a number beyond the classes. */
export function scaleColour(scale: Scale, value: number, dark: boolean): Rgb {
  if (scale.ofLocals) return clusterColour(value);
  if (isMissing(scale, value)) return GREY;
  if (scale.categories) return categoryColour(value);
  const place = scale.high > scale.low ? (value - scale.low) / (scale.high - scale.low) : 0.5;
  return rampColour(Math.max(0, Math.min(1, place)), dark);
}

/** Red, green, blue and alpha of every sample. */
export function sampleColours(app: App): Bytes {
  const { nShown, nLocal, samples } = app.model;
  const { labels } = app.cut;
  const scale = currentScale(app);
  const standsOut = app.selection ? null : app.emphasis();
  const alpha = Uint8Array.from({ length: nLocal }, (_, i) => (!standsOut || standsOut.has(i) ? 255 : 255 * DIMMED));
  const clusters = Array.from(app.slots, (slot) => clusterColour(slot));
  const steps = Array.from({ length: 257 }, (_, i) => rampColour(i / 256, app.dark));
  const bytes = new Uint8Array(4 * nShown);
  for (let x = 0; x < nShown; x++) {
    const local = samples.local[x];
    let colour: Rgb;
    if (!scale) colour = samples.noise[x] ? GREY : clusters[labels[local]];
    else if (scale.ofLocals || scale.categories || !(scale.high > scale.low) || Number.isNaN(scale.values[x])) {
      colour = scaleColour(scale, scale.values[x], app.dark);
    } else {
      const place = (scale.values[x] - scale.low) / (scale.high - scale.low);
      colour = steps[Math.round(256 * Math.max(0, Math.min(1, place)))];
    }
    bytes[4 * x] = colour[0];
    bytes[4 * x + 1] = colour[1];
    bytes[4 * x + 2] = colour[2];
    bytes[4 * x + 3] = app.selection ? 255 * DIMMED : alpha[local];
  }
  for (const x of app.selection ?? []) bytes[4 * x + 3] = 255;
  return bytes;
}
