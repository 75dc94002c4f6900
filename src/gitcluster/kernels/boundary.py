"""Stage 4: boundary pairs and their sums."""

from math import inf

from gitcluster.kernels import kernel
from gitcluster.kernels.sums import add_bins, split_exp


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
def mark_near_pairs(start, stop, indices, distances, k, labels, ids, last_distance, last_id, boundary):
    """The same where neighbours are the true ones and distances equal from both sides: a sample is among the neighbours
    of another if it is not behind the last of them."""
    for x in range(start, stop):
        own, name = labels[x], ids[x]
        for c in range(k):
            y, distance = indices[x, c], distances[x, c]
            near = distance < last_distance[y] or (distance == last_distance[y] and name <= last_id[y])
            boundary[x, c] = own < labels[y] and near


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
def split_levels(start, stop, level, bins):
    """The exponential of every level, in the bins of :func:`split_exp`."""
    for x in range(start, stop):
        bins[x, 0], bins[x, 1], bins[x, 2], bins[x, 3] = split_exp(level[x])


@kernel
def sum_pairs(
    start, stop, members, starts, indices, distances, boundary, labels, level, bins, rate, log_weight,
    row_of, ends, totals,
):  # fmt: skip
    """Fill in i, j, the number of their boundary pairs, and a sum of similarity, one row per pair of local clusters.

    ``start, stop`` are local clusters i. The log similarity of a pair is the lower of its two levels minus its distance
    times ``rate``, plus the log weights of the two samples. Where it is the level alone, ``bins`` are those of
    :func:`split_levels`; else there are none. ``row_of`` has -1 for every local cluster. Returns where it stopped,
    because there might not be enough rows for the next i, and how many of the rows are filled.
    """
    count = 0
    for i in range(start, stop):
        if count + len(row_of) > len(ends):
            return i, count
        begin = count
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
                    lower = x if level[x] < level[y] else y
                    if len(bins):
                        number, first, second, third = bins[lower, 0], bins[lower, 1], bins[lower, 2], bins[lower, 3]
                    else:
                        value = level[lower] - rate * distances[x, c] + log_weight[x] + log_weight[y]
                        number, first, second, third = split_exp(value)
                    add_bins(totals, row, number, first, second, third)
        for row in range(begin, count):
            row_of[ends[row, 1]] = -1
    return stop, count
