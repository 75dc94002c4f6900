// How groups of samples differ, column by column, as in model.profile(); and values of columns as text.

import type { Column } from "./model";

/** Smaller differences are not shown. */
const SMALL = 0.2;
/** A column with more categories is text, which is not compared. */
const MOST_CATEGORIES = 50;

/** One column by group. */
export interface Stats {
  column: Column;
  /** Samples with a value in every group, and in all. */
  counts: Float64Array;
  total: number;
  /** Means of numbers by group and of all, and the standard deviation of all. */
  means: Float64Array;
  mean: number;
  deviation: number;
  /** For categories: samples by category and group, and by category. */
  byCategory: { inGroups: Float64Array[]; all: Float64Array } | null;
}

/** Compute all columns by group; samples with group -1 are in no group. */
export function statsOf(columns: Column[], groups: Int32Array, nGroups: number): Stats[] {
  return columns
    .filter(({ categories }) => !categories || categories.length <= MOST_CATEGORIES)
    .map((column) => (column.categories ? categoryStats : numberStats)(column, groups, nGroups));
}

function numberStats(column: Column, groups: Int32Array, nGroups: number): Stats {
  const { values } = column;
  const base = values.find((value) => Number.isFinite(value)) ?? 0; // keeps the digits of sums far from 0
  const counts = new Float64Array(nGroups);
  const sums = new Float64Array(nGroups);
  let [total, sum, squares] = [0, 0, 0];
  for (let i = 0; i < groups.length; i++) {
    const value = values[i] - base;
    if (!Number.isFinite(value)) continue; // one infinite value would make every mean infinite
    total += 1;
    sum += value;
    squares += value * value;
    if (groups[i] < 0) continue;
    counts[groups[i]] += 1;
    sums[groups[i]] += value;
  }
  const means = sums.map((part, group) => base + part / counts[group]);
  const deviation = Math.sqrt(Math.max(0, squares / total - (sum / total) ** 2));
  return { column, counts, total, means, mean: base + sum / total, deviation, byCategory: null };
}

function categoryStats(column: Column, groups: Int32Array, nGroups: number): Stats {
  const counts = new Float64Array(nGroups);
  const inGroups = column.categories!.map(() => new Float64Array(nGroups));
  const all = new Float64Array(inGroups.length);
  let total = 0;
  for (let i = 0; i < groups.length; i++) {
    const category = column.values[i];
    if (category >= inGroups.length) continue; // missing
    total += 1;
    all[category] += 1;
    if (groups[i] < 0) continue;
    counts[groups[i]] += 1;
    inGroups[category][groups[i]] += 1;
  }
  const byCategory = { inGroups, all };
  return { column, counts, total, means: new Float64Array(nGroups), mean: 0, deviation: 0, byCategory };
}

/** How a group differs from all other samples in one column. */
export interface Contrast {
  column: Column;
  /** The category whose share differs; null for numbers and dates. */
  category: string | null;
  inside: number;
  elsewhere: number;
  /** The difference in standard deviations; Cohen's h for shares. */
  effect: number;
}

/** The contrasts of a group, the largest first. */
export function contrastsOf(stats: Stats[], group: number): Contrast[] {
  return stats
    .flatMap((column) => contrastOf(column, group))
    .filter(({ effect }) => Math.abs(effect) >= SMALL)
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

/** Shares on the scale of Cohen's h, on which their variance does not depend on the share. */
const arc = (share: number): number => 2 * Math.asin(Math.sqrt(Math.max(0, Math.min(1, share))));

function contrastOf(stats: Stats, group: number): Contrast[] {
  const { column, counts, total, means, mean, deviation, byCategory } = stats;
  const [here, others] = [counts[group], total - counts[group]];
  if (here === 0 || others === 0) return [];
  if (!byCategory) {
    const elsewhere = mean + ((mean - means[group]) * here) / others;
    const effect = (means[group] - elsewhere) / deviation;
    return deviation > 0 ? [{ column, category: null, inside: means[group], elsewhere, effect }] : [];
  }
  const contrasts = byCategory.inGroups.map((groups, i) => {
    const [inside, elsewhere] = [groups[group] / here, (byCategory.all[i] - groups[group]) / others];
    return { column, category: column.categories![i], inside, elsewhere, effect: arc(inside) - arc(elsewhere) };
  });
  return contrasts.sort((a, b) => b.effect - a.effect).slice(0, 1); // the most over-represented category
}

export interface Difference {
  column: Column;
  first: string;
  second: string;
  size: number;
}

/** Two samples: numbers in standard deviations, different categories count as 1; the largest difference first. */
export function compareSamples(stats: Stats[], a: number, b: number): Difference[] {
  const differences = stats.map(({ column, deviation }) => {
    const [first, second] = [column.values[a], column.values[b]];
    const size = column.categories ? +(first !== second) : deviation > 0 ? Math.abs(first - second) / deviation : 0;
    return { column, first: cell(column, first), second: cell(column, second), size: size || 0 };
  });
  return differences.sort((x, y) => y.size - x.size);
}

/** A sample and a group: the distance from the mean, or the share of the other categories. */
export function compareToGroup(stats: Stats[], sample: number, group: number): Difference[] {
  return stats.map(({ column, counts, means, deviation, byCategory }) => {
    const value = column.values[sample];
    const first = cell(column, value);
    if (byCategory) {
      const share = byCategory.inGroups[value] ? byCategory.inGroups[value][group] / counts[group] : NaN;
      const second = Number.isNaN(share) ? "" : `${Math.round(100 * share)} %`;
      return { column, first, second, size: 1 - share || 0 };
    }
    const size = deviation > 0 ? Math.abs(value - means[group]) / deviation : 0;
    return { column, first, second: average(column, means[group]), size: size || 0 };
  });
}

/** A value as in the table. */
export function cell({ categories, kind, decimals }: Column, value: number): string {
  if (categories) return categories[value] ?? "missing";
  if (Number.isNaN(value)) return "missing";
  if (kind === "date") return dateText(value);
  return String(decimals === null ? Number(value.toPrecision(7)) : value);
}

/** A mean: a date, or a number in three digits or whole thousands. */
export function average(column: Column, value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "date") return dateText(Math.floor(value));
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** Days since 1970 as 2024-05-31, with the time if there is one. */
function dateText(days: number): string {
  const date = new Date(Math.round(days * 86_400_000));
  if (Number.isNaN(date.getTime())) return "missing";
  const [day, time] = date.toISOString().slice(0, -1).split("T");
  return date.getTime() % 86_400_000 === 0 ? day : `${day} ${time.replace(/(:00)?\.000$/, "")}`;
}
