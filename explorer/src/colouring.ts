// What the samples are coloured by: the cluster, a number on a scale, or a category.

import type { App } from "./app";
import { GREY, type Rgb, clusterColour, rampColour } from "./palette";
import type { Numbers } from "./payload";
import type { Bytes } from "./points";

export interface Scale {
  name: string;
  values: Numbers;
  low: number;
  high: number;
  categories: string[] | null;
}

const DIMMED = 0.18;
const RANGES = new WeakMap<Numbers, [number, number]>();

/** Everything to colour by beside the cluster, by key. */
export function colourings(
  app: App,
): Map<string, { name: string; values: () => Numbers; categories: string[] | null }> {
  const { samples, columns } = app.model;
  const found = new Map([
    ["intensity", { name: "Log intensity", values: () => samples.intensity, categories: null as string[] | null }],
    ["membership", { name: "Membership", values: () => app.membership as Numbers, categories: null }],
    ["outlier", { name: "Outlier score", values: () => samples.outlier, categories: null }],
    ["local", { name: "Local cluster", values: () => samples.local, categories: [] }],
  ]);
  columns.forEach((column, i) => {
    found.set(`column ${i}`, { name: column.name, values: () => column.values, categories: column.categories });
  });
  return found;
}

/** The scale that is used now, null for clusters. */
export function currentScale(app: App): Scale | null {
  const chosen = colourings(app).get(app.colourBy);
  if (!chosen) return null;
  const values = chosen.values();
  const [low, high] = app.colourBy === "membership" ? [0.5, 1] : chosen.categories ? [0, 1] : range(values);
  return { name: chosen.name, values, low, high, categories: chosen.categories };
}

/** From nearly the lowest to nearly the highest value, so that a few far-off ones do not take all the colours. */
function range(values: Numbers): [number, number] {
  const known = RANGES.get(values);
  if (known) return known;
  const found = findRange(values);
  RANGES.set(values, found);
  return found;
}

function findRange(values: Numbers): [number, number] {
  const finite = Float64Array.from(values)
    .filter((value) => Number.isFinite(value))
    .sort();
  if (finite.length === 0) return [0, 1];
  const at = (share: number): number => finite[Math.round(share * (finite.length - 1))];
  return [at(0.01), at(0.99)];
}

export function scaleColour(scale: Scale, value: number, dark: boolean): Rgb {
  if (scale.categories) return value < 0 ? GREY : clusterColour(value);
  if (Number.isNaN(value)) return GREY;
  const place = scale.high > scale.low ? (value - scale.low) / (scale.high - scale.low) : 0.5;
  return rampColour(Math.max(0, Math.min(1, place)), dark);
}

/** Red, green, blue and alpha of every sample. */
export function sampleColours(app: App): Bytes {
  const { nShown, nLocal, samples } = app.model;
  const { labels } = app.cut;
  const scale = currentScale(app);
  const standsOut = app.emphasis();
  const alpha = Uint8Array.from({ length: nLocal }, (_, i) => (!standsOut || standsOut.has(i) ? 255 : 255 * DIMMED));
  const clusters = Array.from(app.slots, (slot) => clusterColour(slot));
  const steps = Array.from({ length: 257 }, (_, i) => rampColour(i / 256, app.dark));
  const bytes = new Uint8Array(4 * nShown);
  for (let x = 0; x < nShown; x++) {
    const local = samples.local[x];
    let colour: Rgb;
    if (!scale) colour = samples.noise[x] ? GREY : clusters[labels[local]];
    else if (scale.categories || !(scale.high > scale.low) || Number.isNaN(scale.values[x])) {
      colour = scaleColour(scale, scale.values[x], app.dark);
    } else {
      const place = (scale.values[x] - scale.low) / (scale.high - scale.low);
      colour = steps[Math.round(256 * Math.max(0, Math.min(1, place)))];
    }
    bytes[4 * x] = colour[0];
    bytes[4 * x + 1] = colour[1];
    bytes[4 * x + 2] = colour[2];
    bytes[4 * x + 3] = alpha[local];
  }
  return bytes;
}
