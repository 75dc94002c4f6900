// What sets a cluster apart from all other shown samples: means of numbers, shares of values, as in model.profile().

import type { App } from "./app";
import type { Column } from "./payload";

/** A smaller difference is not worth a word. */
const SMALL = 0.2;

export interface Contrast {
  name: string;
  /** The value of a category, null for numbers. */
  value: string | null;
  inside: number;
  elsewhere: number;
  /** In standard deviations of the column; of shares Cohen's h. */
  effect: number;
}

/** The largest differences first. */
export function profileOf(app: App, cluster: number, most: number): Contrast[] {
  const inside = Array.from({ length: app.model.nShown }, (_, sample) => app.labelOf(sample) === cluster);
  return app.model.columns
    .flatMap((column) => (column.categories ? shares(column, column.categories, inside) : means(column, inside)))
    .filter(({ effect }) => Math.abs(effect) >= SMALL)
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
    .slice(0, most);
}

function means({ name, values }: Column, inside: boolean[]): Contrast[] {
  const base = values.find((value) => !Number.isNaN(value)) ?? 0; // sums keep their digits far from 0
  const counts = [0, 0];
  const sums = [0, 0];
  let squares = 0;
  inside.forEach((here, sample) => {
    const value = values[sample] - base;
    if (Number.isNaN(value)) return;
    counts[+here] += 1;
    sums[+here] += value;
    squares += value * value;
  });
  const total = counts[0] + counts[1];
  const variance = squares / total - ((sums[0] + sums[1]) / total) ** 2;
  if (!(variance > 0) || counts[0] === 0 || counts[1] === 0) return [];
  const [elsewhere, here] = [sums[0] / counts[0], sums[1] / counts[1]];
  const effect = (here - elsewhere) / Math.sqrt(variance);
  return [{ name, value: null, inside: base + here, elsewhere: base + elsewhere, effect }];
}

/** The value of a category that is most over-represented. */
function shares({ name, values }: Column, categories: string[], inside: boolean[]): Contrast[] {
  const counts = categories.map(() => [0, 0]);
  const total = [0, 0];
  inside.forEach((here, sample) => {
    const value = values[sample];
    if (!(value in counts)) return; // a missing one
    counts[value][+here] += 1;
    total[+here] += 1;
  });
  if (total[0] === 0 || total[1] === 0) return [];
  const arc = (share: number) => 2 * Math.asin(Math.sqrt(share));
  const found = counts.map(([there, here], i) => {
    const [elsewhere, own] = [there / total[0], here / total[1]];
    return { name, value: categories[i], inside: own, elsewhere, effect: arc(own) - arc(elsewhere) };
  });
  return found.sort((a, b) => b.effect - a.effect).slice(0, 1);
}
