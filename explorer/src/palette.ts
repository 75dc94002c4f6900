// Colours that colour-blind readers can tell apart, the same in both panels; categories have others than clusters.

import { countLabels } from "./unions";

export type Rgb = [number, number, number];

const HUES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#d9c62a", "#8a6d4b"];
const KINDS = ["#5b3a8e", "#7fb800", "#b3203d", "#2fb5b5", "#f08fa0", "#4a5a2a", "#b58cff", "#1f3f66"];
const RAMP = ["#2a3a8f", "#2f6f9f", "#3b9c8a", "#8cc05c", "#f0dc4a"];
const DARK_RAMP = ["#5562d0", "#3f8fc0", "#45b09c", "#9fce6a", "#f5e663"];
const MOST = 72;
/** Categories beyond this number share one colour. */
export const MOST_KINDS = 24;
export const GREY: Rgb = [140, 146, 154];

function parse(hex: string): Rgb {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return a.map((value, i) => Math.round(value + (b[i] - value) * share)) as Rgb;
}

/** Lightness and two axes of hue, in which a distance is about what an eye sees (Oklab). */
function perceived(colour: Rgb): Rgb {
  const [r, g, b] = colour.map((value) => (value / 255 > 0.04 ? ((value / 255 + 0.055) / 1.055) ** 2.4 : value / 3295));
  const l = Math.cbrt(0.4122 * r + 0.5363 * g + 0.0514 * b);
  const m = Math.cbrt(0.2119 * r + 0.6807 * g + 0.1074 * b);
  const s = Math.cbrt(0.0883 * r + 0.2817 * g + 0.63 * b);
  return [
    0.2105 * l + 0.7936 * m - 0.0041 * s,
    1.978 * l - 2.4286 * m + 0.4506 * s,
    0.0259 * l + 0.7828 * m - 0.8087 * s,
  ];
}

/** Colours that are neither too light nor too dark for the page, nor grey. */
function candidates(): Rgb[] {
  const steps = [20, 64, 108, 152, 196, 236];
  const all = steps.flatMap((r) => steps.flatMap((g) => steps.map((b): Rgb => [r, g, b])));
  return all.filter((colour) => {
    const [light, a, b] = perceived(colour);
    return light > 0.5 && light < 0.84 && Math.hypot(a, b) > 0.05 && Math.hypot(a, b) < 0.165;
  });
}

/** More colours after the first ones, each as far as can be from all before it. */
function extend(first: string[], count: number): Rgb[] {
  const chosen = first.map(parse);
  const free = candidates().map((colour) => ({ colour, place: perceived(colour), near: Infinity }));
  const keepAway = (from: Rgb): void => {
    const [l, a, b] = perceived(from);
    for (const one of free) {
      one.near = Math.min(one.near, Math.hypot(one.place[0] - l, one.place[1] - a, one.place[2] - b));
    }
  };
  [...chosen, GREY].forEach(keepAway);
  while (chosen.length < count) {
    const best = free.reduce((most, one) => (one.near > most.near ? one : most));
    chosen.push(best.colour);
    keepAway(best.colour);
  }
  return chosen;
}

const CLUSTERS = extend(HUES, MOST);
const CATEGORIES = extend(KINDS, MOST_KINDS);

export function clusterColour(slot: number): Rgb {
  return slot < 0 ? GREY : CLUSTERS[slot % MOST];
}

export function categoryColour(category: number): Rgb {
  return CATEGORIES[category] ?? GREY;
}

/** The colour of a place from 0 to 1 on a scale. */
export function rampColour(place: number, dark: boolean): Rgb {
  if (!(place >= 0 && place <= 1)) return GREY;
  const stops = (dark ? DARK_RAMP : RAMP).map(parse);
  const at = place * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return mix(stops[low], stops[low + 1], at - low);
}

export function css([r, g, b]: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`;
}

/**
 * Colour slots of new clusters: each keeps that of the old cluster it shares most samples with, so that a cut changes
 * no more colours than clusters.
 */
export function matchSlots(
  before: ArrayLike<number>,
  slots: number[],
  after: ArrayLike<number>,
  sizes: ArrayLike<number>,
): number[] {
  const nAfter = countLabels(after);
  const shared = new Map<number, { old: number; now: number; size: number }>();
  for (let i = 0; i < after.length; i++) {
    const key = before[i] * nAfter + after[i];
    const entry = shared.get(key);
    if (entry) entry.size += sizes[i];
    else shared.set(key, { old: before[i], now: after[i], size: sizes[i] });
  }
  const matched = new Array<number>(nAfter).fill(-1);
  const taken = new Set<number>();
  for (const { old, now } of [...shared.values()].sort((a, b) => b.size - a.size || a.old - b.old || a.now - b.now)) {
    if (matched[now] < 0 && !taken.has(slots[old])) {
      matched[now] = slots[old];
      taken.add(slots[old]);
    }
  }
  let free = 0;
  return matched.map((slot) => {
    if (slot >= 0) return slot;
    while (taken.has(free)) free++;
    taken.add(free);
    return free;
  });
}
