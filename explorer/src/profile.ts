// What sets groups of shown samples apart from all others: means of numbers, shares of values, as in model.profile().

import type { Column, Numbers } from "./payload";

/** A smaller difference is not worth a word. */
export const SMALL = 0.2;
/** A category of more values is a text, and not compared. */
const MOST_VALUES = 50;

export interface Contrast {
  column: Column;
  /** The value of a category, null for numbers and dates. */
  value: string | null;
  inside: number;
  elsewhere: number;
  /** In standard deviations of the column; of shares Cohen's h. */
  effect: number;
}

/** A column by group: means of numbers, or how often each value is there. */
export interface Stats {
  column: Column;
  /** Samples of every group that have a (finite) value, and of all groups and none together. */
  counts: Float64Array;
  total: number;
  /** Means of numbers, and of everything. */
  means: Float64Array;
  mean: number;
  deviation: number;
  /** Samples of every value and group, by value; null for numbers. */
  values: Float64Array[] | null;
  all: Float64Array | null;
}

/** Every column by group; the group of a sample is -1 where it is in none. */
export function statsOf(columns: Column[], groups: Int32Array, nGroups: number): Stats[] {
  return columns.flatMap((column) => {
    if (!column.categories) return [numbers(column, groups, nGroups)];
    return column.categories.length <= MOST_VALUES ? [categories(column, column.categories, groups, nGroups)] : [];
  });
}

function numbers(column: Column, groups: Int32Array, nGroups: number): Stats {
  const { values } = column;
  const base = firstFinite(values); // sums keep their digits far from 0
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
  const mean = sum / total;
  return {
    column,
    counts,
    total,
    means: sums.map((part, group) => base + part / counts[group]),
    mean: base + mean,
    deviation: Math.sqrt(Math.max(0, squares / total - mean * mean)),
    values: null,
    all: null,
  };
}

function firstFinite(values: Numbers): number {
  for (const value of values) if (Number.isFinite(value)) return value;
  return 0;
}

function categories(column: Column, words: string[], groups: Int32Array, nGroups: number): Stats {
  const counts = new Float64Array(nGroups);
  const values = words.map(() => new Float64Array(nGroups));
  const all = new Float64Array(words.length);
  let total = 0;
  for (let i = 0; i < groups.length; i++) {
    const value = column.values[i];
    if (value >= words.length) continue; // a missing one
    total += 1;
    all[value] += 1;
    if (groups[i] < 0) continue;
    counts[groups[i]] += 1;
    values[value][groups[i]] += 1;
  }
  return { column, counts, total, means: new Float64Array(nGroups), mean: 0, deviation: 0, values, all };
}

const arc = (share: number): number => 2 * Math.asin(Math.sqrt(Math.max(0, Math.min(1, share))));

/** What sets one group apart, the largest difference first. */
export function contrastsOf(stats: Stats[], group: number): Contrast[] {
  return stats
    .flatMap((column) => contrast(column, group))
    .filter(({ effect }) => Math.abs(effect) >= SMALL)
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

function contrast({ column, counts, total, means, mean, deviation, values, all }: Stats, group: number): Contrast[] {
  const [here, there] = [counts[group], total - counts[group]];
  if (here === 0 || there === 0) return [];
  if (!values || !all) {
    const elsewhere = mean + ((mean - means[group]) * here) / there;
    const effect = (means[group] - elsewhere) / deviation;
    return deviation > 0 ? [{ column, value: null, inside: means[group], elsewhere, effect }] : [];
  }
  const found = values.map((byGroup, i) => {
    const [inside, elsewhere] = [byGroup[group] / here, (all[i] - byGroup[group]) / there];
    return { column, value: column.categories![i], inside, elsewhere, effect: arc(inside) - arc(elsewhere) };
  });
  return found.sort((a, b) => b.effect - a.effect).slice(0, 1); // the value that is most over-represented
}

export interface Difference {
  column: Column;
  first: string;
  second: string;
  size: number;
}

/** Two samples column by column: numbers in standard deviations, categories 1 where they differ; the largest first. */
export function compareSamples(stats: Stats[], a: number, b: number): Difference[] {
  return stats
    .map(({ column, deviation }) => {
      const [first, second] = [column.values[a], column.values[b]];
      const size = column.categories ? +(first !== second) : deviation > 0 ? Math.abs(first - second) / deviation : 0;
      return { column, first: cell(column, first), second: cell(column, second), size: size || 0 };
    })
    .sort((x, y) => y.size - x.size);
}

/** A sample beside a group: how far from its mean, how rare its value is there; the most unlike first. */
export function compareToGroup(stats: Stats[], sample: number, group: number): Difference[] {
  return stats
    .map(({ column, counts, means, deviation, values }) => {
      const value = column.values[sample];
      const first = cell(column, value);
      if (values) {
        const share = value < values.length ? values[value][group] / counts[group] : NaN;
        return {
          column,
          first,
          second: Number.isNaN(share) ? "" : `${Math.round(100 * share)} %`,
          size: 1 - share || 0,
        };
      }
      const size = deviation > 0 ? Math.abs(value - means[group]) / deviation : 0;
      return { column, first, second: average(column, means[group]), size: size || 0 };
    })
    .sort((x, y) => y.size - x.size);
}

const FORMATS = new Map<number, Intl.NumberFormat>();
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 7 });

/** A value as it is in the table. */
export function cell(column: Column, value: number): string {
  if (column.categories) return column.categories[value] ?? "missing";
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "date") return dateText(value);
  if (column.decimals === null) {
    const size = Math.abs(value);
    return size >= 1e9 || (size > 0 && size < 1e-4) ? value.toExponential(4) : digits.format(value);
  }
  const known = FORMATS.get(column.decimals) ?? new Intl.NumberFormat("en", { maximumFractionDigits: column.decimals });
  FORMATS.set(column.decimals, known);
  return known.format(value);
}

/** A mean for people: a date, whole thousands, or three digits. */
export function average(column: Column, value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "date") return dateText(Math.floor(value));
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return digits.format(size >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}

/** Days since 1970 as 2024-05-31, with the time where there is one, to the second or its parts where there are any. */
function dateText(days: number): string {
  const date = new Date(Math.round(days * 86_400_000));
  if (Number.isNaN(date.getTime())) return "missing";
  const [day, time] = date.toISOString().slice(0, -1).split("T");
  return date.getTime() % 86_400_000 === 0 ? day : `${day} ${time.replace(/(:00)?\.000$/, "")}`;
}
