// Union-find over local clusters, and labels from it: the largest cluster is 0.

export function everyoneAlone(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => i);
}

export function find(root: Int32Array, i: number): number {
  while (root[i] !== i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

/** The lower number, which is the higher peak, stands for both. */
export function union(root: Int32Array, i: number, j: number): number {
  root[Math.max(i, j)] = Math.min(i, j);
  return Math.min(i, j);
}

/** Labels 0, 1, ... of roots, largest cluster first, ties to the one that comes first. */
export function labelBySize(root: Int32Array, sizes: ArrayLike<number>): Int32Array {
  const groups = new Map<number, { first: number; total: number }>();
  for (let i = 0; i < root.length; i++) {
    const top = find(root, i);
    const group = groups.get(top);
    if (group) group.total += sizes[i];
    else groups.set(top, { first: i, total: sizes[i] });
  }
  const order = [...groups].sort(([, a], [, b]) => b.total - a.total || a.first - b.first);
  const place = new Map(order.map(([top], label) => [top, label]));
  return Int32Array.from(root, (_, i) => place.get(find(root, i))!);
}

export function countLabels(labels: ArrayLike<number>): number {
  let most = -1;
  for (let i = 0; i < labels.length; i++) most = Math.max(most, labels[i]);
  return most + 1;
}
