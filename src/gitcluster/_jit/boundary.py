"""Stage 4: boundary pairs and their sums."""

from math import inf

from gitcluster._jit import kernel
from gitcluster._jit.sums import add_exp


@kernel
def mark_mutual_pairs(start, stop, indices, distances, k, labels, symmetric, boundary):
    """Neighbours of each other in different local clusters, at the one with the lower number.

    A search may round d(x, y) and d(y, x) differently; a given graph need not be ``symmetric`` at all.
    """
    for x in range(start, stop):
        for c in range(k):
            y = indices[x, c]
            if labels[x] >= labels[y]:
                continue
            low = distances[x, c] * 0.999999 if symmetric else -1.0
            high = distances[x, c] * 1.000001 if symmetric else inf
            if low > distances[y, k - 1]:
                continue
            b = 0  # the first neighbour of y that is not nearer than low
            after = k
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
def sum_pairs(
    start, stop, members, starts, indices, distances, boundary, labels, level, rate, log_weight, row_of, ends, totals
):  # fmt: skip
    """Fill in i, j, the number of their boundary pairs, and a sum of similarity, one row per pair of local clusters.

    ``start, stop`` are local clusters i. The log similarity of a pair is the lower of its two levels minus its distance
    times ``rate``, plus the log weights of the two samples. ``row_of`` has -1 for every local cluster. Returns where it
    stopped, because there might not be enough rows for the next i, and how many of the rows are filled.
    """
    count = 0
    for i in range(start, stop):
        if count + len(row_of) > len(ends):
            return i, count
        first = count
        for s in range(starts[i], starts[i + 1]):
            x = members[s]
            for c in range(boundary.shape[1]):
                if boundary[x, c]:
                    y = indices[x, c]
                    row = row_of[labels[y]]
                    if row < 0:
                        row = count
                        count += 1
                        row_of[labels[y]] = row
                        ends[row, 0] = i
                        ends[row, 1] = labels[y]
                    ends[row, 2] += 1
                    lower = level[x] if level[x] < level[y] else level[y]
                    add_exp(totals[row], lower - rate * distances[x, c] + log_weight[x] + log_weight[y])
        for row in range(first, count):
            row_of[ends[row, 1]] = -1
    return stop, count
