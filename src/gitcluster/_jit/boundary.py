"""Stage 4: boundary pairs and their sums."""

from math import inf

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.sums import NOTHING, add_exp


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
    """Boundary pairs by pair of local clusters, one row each: i, j, pairs, and the four numbers of a sum of similarity.

    ``start, stop`` are local clusters i. The log similarity of a pair is the lower of its two levels minus its distance
    times ``rate``, plus the log weights of the two samples.
    """
    n_labels = len(starts) - 1
    pairs = np.zeros(n_labels, np.int64)
    totals = np.zeros((n_labels, 4), np.int64)
    for j in range(n_labels):
        totals[j, 0] = NOTHING
    touched = np.empty(n_labels, np.int64)
    found, n_found = np.empty((64, 7), np.int64), np.int64(0)
    for i in range(start, stop):
        n_touched = np.int64(0)
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
        sort_numbers(touched, n_touched)
        if n_found + n_touched > len(found):
            found = enlarge(found, 2 * (n_found + n_touched))
        for t in range(n_touched):
            j = touched[t]
            row, total = found[n_found], totals[j]
            row[0], row[1], row[2] = i, j, pairs[j]
            row[3], row[4], row[5], row[6] = total[0], total[1], total[2], total[3]
            n_found += 1
            pairs[j] = 0
            total[0], total[1], total[2], total[3] = NOTHING, 0, 0, 0
    return found[:n_found]


@inner_kernel
def sort_numbers(numbers, n):
    """Sort the first n numbers."""
    for t in range(1, n):
        number, place = numbers[t], t
        while place > 0 and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number


@inner_kernel
def enlarge(rows, n):
    """The same rows, with room for n of them."""
    larger = np.empty((n, rows.shape[1]), np.int64)
    for r in range(len(rows)):
        for c in range(rows.shape[1]):
            larger[r, c] = rows[r, c]
    return larger
