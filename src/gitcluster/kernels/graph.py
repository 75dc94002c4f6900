"""Loops over the neighbour graph: intensities, parents, boundary pairs and their sums (stages 2 to 4).

Kernels that take ``start, stop`` first work on those rows alone and may run in several threads. ``distances[x, c] *
1.0`` converts single to double precision before anything is computed.
"""

from math import exp, expm1, inf, log

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.structures import compiled_find as find
from gitcluster.kernels.structures import compiled_union as union
from gitcluster.kernels.sums import add_bins, split_exp

NO_INTENSITY = -1e4
"""Log intensity of a sample without neighbours: finite, so that differences are no NaN, and below all others."""
CROSSING = 2.0**30
"""Shares of crossing links are counted in units of 1 / CROSSING: integer sums do not depend on their order."""

# Stage 2: intensity. exp(-d) underflows for d > 745, so sums are relative to the nearest neighbour (log-sum-exp).


@kernel
def log_mean_kernel(start, stop, distances, k, power, scale, log_intensity):
    """Write log(mean(exp(-d**power / scale))) over the k nearest."""
    for x in range(start, stop):
        nearest = (distances[x, 0] * 1.0) ** power / scale[x]
        if nearest == inf:
            log_intensity[x] = NO_INTENSITY
            continue
        total = 0.0
        for c in range(k):
            total += exp(nearest - (distances[x, c] * 1.0) ** power / scale[x])
        log_intensity[x] = log(total / k) - nearest


@kernel
def log_weighted_kernel(start, stop, indices, distances, k, power, scale, weights, log_intensity):
    """Write the same for weighted samples: the mean over a neighbourhood of total weight k.

    A weight of w counts as w equal samples. The sample itself then has w - 1 copies at distance 0.
    """
    for x in range(start, stop):
        nearest = 0.0 if weights[x] > 1.0 else (distances[x, 0] * 1.0) ** power / scale[x]
        if nearest == inf:
            log_intensity[x] = NO_INTENSITY
            continue
        taken = min(max(weights[x] - 1.0, 0.0), 1.0 * k)
        total = taken * exp(nearest)
        for c in range(distances.shape[1]):
            if taken >= k or distances[x, c] == inf:
                break
            weight = min(weights[indices[x, c]], k - taken)
            total += weight * exp(nearest - (distances[x, c] * 1.0) ** power / scale[x])
            taken += weight
        log_intensity[x] = log(total / taken) - nearest if total > 0.0 else NO_INTENSITY


@kernel
def join_neighbors(indices, first, stop, root):
    """Join every sample with its neighbours ``first`` to ``stop - 1`` and return how many unions that took."""
    count = 0
    for x in range(len(indices)):
        i = find(root, x)
        for c in range(first, stop):
            j = find(root, np.int64(indices[x, c]))
            if i != j:
                i = union(root, i, j)
                count += 1
    return count


@kernel
def sum_finite(start, stop, values, k, divisor, totals, counts):
    """Write the sum of the finite values among the first k of every row, each divided, and their number.

    Dividing each term keeps sums of very large values finite.
    """
    for x in range(start, stop):
        total = 0.0
        count = 0
        for c in range(k):
            if values[x, c] < inf:
                total += values[x, c] / divisor
                count += 1
        totals[x] = total
        counts[x] = count


@kernel
def mean_around(start, stop, indices, distances, k, values, means):
    """Write the mean of the finite values of the k nearest, or infinity if all are infinite."""
    for x in range(start, stop):
        total = 0.0
        count = 0
        for c in range(k):
            value = values[indices[x, c]]
            if distances[x, c] < inf and value < inf:
                total += value
                count += 1
        means[x] = total / count if count else inf


# Stage 3: parents


@kernel
def log_slope(rise, distance):
    """Return log((f(p) - f(x)) / (f(x) d)) for rise = log f(p) - log f(x).

    f(p) / f(x) - 1 = exp(rise) (1 - exp(-rise)); in this form neither a large nor a small rise loses digits.
    """
    if distance == 0.0:
        return inf
    if rise <= 0.0:
        return -inf
    return rise + log(-expm1(-rise)) - log(distance)


@kernel
def steepest_parent(start, stop, indices, distances, k, log_intensity, rank, strict, step, parent):
    """Write the neighbour of lower rank with the steepest slope, or the sample itself if it is a peak.

    Slopes are rounded to multiples of ``step``, so that rounding errors do not break ties; the nearest wins a tie.
    """
    for x in range(start, stop):
        best, best_slope = x, -inf
        for c in range(k):
            p = indices[x, c]
            if rank[p] >= rank[x] or (strict and log_intensity[p] <= log_intensity[x]):
                continue
            slope = log_slope(log_intensity[p] - log_intensity[x], distances[x, c])
            if slope != inf and slope != -inf:
                slope = np.rint(slope / step) * step
            if best == x or slope > best_slope:
                best, best_slope = p, slope
        parent[x] = best


@kernel
def steepest_fitted(start, stop, indices, distances, k, fitted_intensity, log_intensity, parent):
    """Write the parent of new samples: the fitted neighbour with the steepest slope, the nearest if none is higher."""
    for x in range(start, stop):
        best, best_slope = indices[x, 0], -inf
        for c in range(k if distances[x, 0] > 0.0 else 0):  # a sample that equals a fitted one joins it
            rise = fitted_intensity[indices[x, c]] - log_intensity[x]
            if rise > 0.0 and distances[x, c] < inf:
                slope = log_slope(rise, distances[x, c] * 1.0)
                if slope > best_slope:
                    best, best_slope = indices[x, c], slope
        parent[x] = best


# Stage 4: boundary pairs. Each pair is marked once, at the sample of the local cluster with the lower number.


@kernel
def mark_mutual_pairs(start, stop, indices, k, labels, boundary):
    """Mark neighbours of each other in different local clusters."""
    for x in range(start, stop):
        for c in range(k):
            y = indices[x, c]
            if labels[x] < labels[y]:
                for b in range(k):
                    if indices[y, b] == x:
                        boundary[x, c] = True
                        break


@kernel
def mark_near_pairs(start, stop, indices, distances, k, labels, ids, last_distance, last_id, boundary):
    """Mark the same pairs for an exact search, whose distances are equal from both sides, without the neighbours of y.

    Then x is among them exactly if (distance, id) does not come after that of the last one.
    """
    for x in range(start, stop):
        own, name = labels[x], ids[x]
        for c in range(k):
            y, distance = indices[x, c], distances[x, c]
            near = distance < last_distance[y] or (distance == last_distance[y] and name <= last_id[y])
            boundary[x, c] = own < labels[y] and near


@kernel
def mark_uphill_pairs(start, stop, indices, k, log_intensity, parent, labels, boundary):
    """Mark neighbours of higher intensity in other local clusters, without the first such neighbour.

    The authors' published code leaves the first out.
    """
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
    """Write the exponential of every level in the bins of :func:`split_exp`."""
    for x in range(start, stop):
        bins[x, 0], bins[x, 1], bins[x, 2], bins[x, 3] = split_exp(level[x])


@kernel
def sum_pairs(
    start, stop, members, starts, indices, distances, boundary, labels, level, bins, rate, log_weight,
    row_of, ends, totals,
):  # fmt: skip
    """Sum the similarity of boundary pairs, one row per pair of local clusters (i, j), for i in ``start`` to ``stop``.

    The log similarity of a pair is the lower of its two levels, minus ``rate`` times the distance, plus the log weights
    of the two samples. If it is the level alone, ``bins`` holds the result of :func:`split_levels`; else it is empty.
    ``ends`` gets i, j and the number of pairs. ``row_of`` is -1 for every local cluster before and after the call.
    Return the first i that was not summed, because its rows might not fit, and the number of filled rows.
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


# Comparison of clusterings


@kernel
def measure_crossing(start, stop, rows, indices, k, labels, log_intensity, peaks, crossing, highest):
    """Measure the links of samples to other clusters.

    ``crossing`` is the mean over the k nearest of (f / peak)^2, in units of 1 / CROSSING: f is the lower intensity of
    the two samples, peak the lower of the two clusters' peaks, and links within a cluster count 0. ``highest`` is the
    largest log f among crossing links to the nearer half of the neighbours.
    """
    for r in range(start, stop):
        x, total = rows[r], 0.0
        highest[r] = -inf
        for c in range(k):
            y = indices[x, c]
            if labels[y] != labels[x]:
                level = log_intensity[x] if log_intensity[x] < log_intensity[y] else log_intensity[y]
                peak = peaks[labels[x]] if peaks[labels[x]] < peaks[labels[y]] else peaks[labels[y]]
                total += exp(2.0 * (level - peak))
                if 2 * c < k and level > highest[r]:
                    highest[r] = level
        crossing[r] = np.int64(np.rint(total / k * CROSSING))


@kernel
def count_common(parts, n_parts, joined, least, table, common):
    """Count the ordered pairs of samples that share a cluster in both of two clusterings, for every two clusterings.

    Each clustering is a series of nested cuts. ``parts`` (n_clusterings, n_samples) are the clusters of the finest cut,
    and ``joined[v, c]`` the two clusters that become one between c + 2 and c + 1 clusters. ``common[c - least]`` gets
    the counts for cuts into c clusters. ``table`` is work space for the contingency table of two cuts, which is updated
    from cut to cut.
    """
    for v in range(len(parts)):
        for w in range(v + 1):
            height, width = n_parts[v], n_parts[w]
            for cell in range(height * width):
                table[cell] = 0
            count = 0
            for x in range(parts.shape[1]):
                cell = parts[v, x] * width + parts[w, x]
                count += 2 * table[cell]
                table[cell] += 1
            a, b = height, width
            while True:
                if a == b:
                    common[a - least, v, w] = count
                    common[a - least, w, v] = count
                    if a == least:
                        break
                if a >= b:  # join two rows of the table, or two columns
                    to, gone, stride, length = joined[v, a - 2, 0] * width, joined[v, a - 2, 1] * width, 1, width
                    a -= 1
                else:
                    to, gone, stride, length = joined[w, b - 2, 0], joined[w, b - 2, 1], width, height
                    b -= 1
                for cell in range(length):
                    count += 2 * table[to + cell * stride] * table[gone + cell * stride]
                    table[to + cell * stride] += table[gone + cell * stride]
                    table[gone + cell * stride] = 0
