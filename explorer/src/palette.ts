// Colours that colour-blind readers can tell apart, the same in both panels.

import { countLabels } from "./unions";

export type Rgb = [number, number, number];

const HUES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#d9c62a", "#8a6d4b"];
const RAMP = ["#2a3a8f", "#2f6f9f", "#3b9c8a", "#8cc05c", "#f0dc4a"];
const DARK_RAMP = ["#5562d0", "#3f8fc0", "#45b09c", "#9fce6a", "#f5e663"];
export const GREY: Rgb = [140, 146, 154];

function parse(hex: string): Rgb {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return a.map((value, i) => Math.round(value + (b[i] - value) * share)) as Rgb;
}

const base = HUES.map(parse);
const PALETTE: Rgb[] = [
  ...base,
  ...base.map((colour) => mix(colour, [255, 255, 255], 0.42)),
  ...base.map((colour) => mix(colour, [0, 0, 0], 0.36)),
];

export function clusterColour(slot: number): Rgb {
  return slot < 0 ? GREY : PALETTE[slot % PALETTE.length];
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
  const shared = new Map<string, { old: number; now: number; size: number }>();
  for (let i = 0; i < after.length; i++) {
    const key = `${before[i]} ${after[i]}`;
    const entry = shared.get(key) ?? { old: before[i], now: after[i], size: 0 };
    entry.size += sizes[i];
    shared.set(key, entry);
  }
  const matched = new Array<number>(countLabels(after)).fill(-1);
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
