// The prior, with numpy's arithmetic: shares that sum to 1, largest first, and the distance W1 to a clustering.

/** The sum in the order in which numpy adds: pairwise, by blocks of eight. */
function pairwiseSum(values: ArrayLike<number>, start = 0, stop = values.length): number {
  const n = stop - start;
  if (n < 8) {
    let total = 0;
    for (let i = start; i < stop; i++) total += values[i];
    return total;
  }
  if (n <= 128) {
    const r = Array.from({ length: 8 }, (_, k) => values[start + k]);
    let i = start + 8;
    for (; i < stop - (n % 8); i += 8) for (let k = 0; k < 8; k++) r[k] += values[i + k];
    let total = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
    for (; i < stop; i++) total += values[i];
    return total;
  }
  const half = (n >> 1) - ((n >> 1) % 8);
  return pairwiseSum(values, start, start + half) + pairwiseSum(values, start + half, stop);
}

/** Ratios in any scale and order as shares, largest first. */
export function toShares(ratios: ArrayLike<number>): number[] {
  let most = 0;
  for (let i = 0; i < ratios.length; i++) most = Math.max(most, ratios[i]);
  const relative = Array.from(ratios, (ratio) => ratio / most);
  const total = pairwiseSum(relative);
  return relative.map((share) => share / total).sort((a, b) => b - a);
}

export function equalShares(n: number): number[] {
  return new Array<number>(n).fill(1 / n);
}

function cumulated(values: number[]): number[] {
  const sums = [0];
  for (const value of values) sums.push(sums[sums.length - 1] + value);
  return sums;
}

/** The Wasserstein-1 distance between two lists of shares, each with mass p at position p. */
export function shareDistance(found: number[], prior: number[]): number {
  const u = [...found].sort((a, b) => a - b);
  const v = [...prior].sort((a, b) => a - b);
  const places = [...u, ...v].sort((a, b) => a - b);
  const uMass = cumulated(u);
  const vMass = cumulated(v);
  let i = 0;
  let j = 0;
  let area = 0;
  for (let s = 0; s + 1 < places.length; s++) {
    while (i < u.length && u[i] <= places[s]) i++;
    while (j < v.length && v[j] <= places[s]) j++;
    const gap = Math.abs(uMass[i] / uMass[u.length] - vMass[j] / vMass[v.length]);
    area += gap * (places[s + 1] - places[s]);
  }
  return area;
}

const DECIMAL_COMMA = /^\d+,\d+%?$/;

/** Numbers from "50, 30 20", "50% 30% 20%" or "0,5 0,3 0,2", or what is wrong with them. */
export function parseProportions(text: string): number[] | string {
  const words = text
    .replaceAll(/\s+%/g, "%")
    .split(/[\s;:]+|,(?=\s|$)/)
    .filter((word) => word !== "");
  const commas = words.some((word) => DECIMAL_COMMA.test(word)) && (words.length > 1 || words[0].startsWith("0,"));
  const parts = commas
    ? words.map((word) => word.replace(",", "."))
    : words.flatMap((word) => word.split(",")).filter((word) => word !== "");
  const numbers = parts.map((part) => Number(part.replace(/%$/, "")));
  const wrong = numbers.findIndex((number) => !(number > 0 && Number.isFinite(number)));
  if (wrong >= 0) return `“${parts[wrong]}” is not a number above 0.`;
  return numbers;
}
