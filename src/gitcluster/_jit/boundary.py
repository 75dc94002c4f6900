"""Stage 4: boundary pairs and their sums."""

from math import inf

import numpy as np

from gitcluster._jit import kernel
from gitcluster._jit.sums import NOTHING, add_exp, empty_totals


@kernel
def mark_mutual_pairs(start, stop, indices, distances, k, labels, symmetric, boundary):
    """Neighbours of each other in different local clusters, at the one with the lower number.

    A search may round d(x, y) and d(y, x) differently; a given graph need not be ``symmetric`` at all.
    """
    for x in range(start, stop):
        for c in range(k):
            y = indices[x, c]
            low, high = (distances[x, c] * 0.999999, distances[x, c] * 1.000001) if symmetric else (-1.0, inf)
            if labels[x] >= labels[y] or low > distances[y, k - 1]:
                continue
            b, after = 0, k  # the first neighbour of y that is not nearer than low
            while b < after:
                middle = (b + after) // 2
                if distances[y, middle] < low:
                    b = middle + 1
                else:
                    after = middle
            while b < k and distances[y, b] <= high:
                if indices[y, b] == x:
                    boundary[x, c] = True
                    break
                b += 1


@kernel
def mark_uphill_pairs(start, stop, indices, k, log_intensity, parent, labels, boundary):
    """Neighbours of higher intensity but the nearest of them, in another local cluster than the sample."""
    for x in range(start, stop):
        if parent[x] == x:
            continue
        seen = False
        for c in range(k):
            y = indices[x, c]
            if log_intensity[y] > log_intensity[x]:
                boundary[x, c] = seen and labels[x] != labels[y]
                seen = True


@kernel
def sum_pairs(start, stop, members, starts, indices, distances, boundary, labels, level, rate, log_weight):
    """Boundary pairs by pair of local clusters: arrays of (i, j), pairs, and their summed similarity.

    ``start, stop`` are local clusters i. The log similarity of a pair is the lower of its two levels minus its distance
    times ``rate``, plus the log weights of the two samples.
    """
    n_labels = len(starts) - 1
    pairs = np.zeros(n_labels, np.int64)
    totals = empty_totals(n_labels)
    touched = np.empty(n_labels, np.int64)
    ends = [(np.int64(0), np.int64(0)) for _ in range(0)]
    sums = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(start, stop):
        n_touched = 0
        for s in range(starts[i], starts[i + 1]):
            x = members[s]
            for c in range(boundary.shape[1]):
                if not boundary[x, c]:
                    continue
                y = indices[x, c]
                j = labels[y]
                value = min(level[x], level[y]) - rate * distances[x, c] + log_weight[x] + log_weight[y]
                if pairs[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                add_exp(totals[j], value)
                pairs[j] += 1
        for j in np.sort(touched[:n_touched]):
            total = totals[j]
            ends.append((i, j))
            sums.append((pairs[j], total[0], total[1], total[2], total[3]))
            pairs[j] = 0
            total[0], total[1], total[2], total[3] = NOTHING, 0, 0, 0
    both, counts, summed = np.empty((len(ends), 2), np.int64), np.empty(len(ends), np.int64), empty_totals(len(ends))
    for r in range(len(ends)):
        both[r, 0], both[r, 1] = ends[r]
        counts[r], summed[r, 0], summed[r, 1], summed[r, 2], summed[r, 3] = sums[r]
    return both, counts, summed
