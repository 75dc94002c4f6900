"""Stages 2 and 3: intensities, and the way uphill.

Kernels that take ``start, stop`` first work on those rows alone and may run in several threads.
"""

from math import exp, expm1, inf, log

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.unions import compiled_find as find

NO_INTENSITY = -1e4
"""Log intensity of a sample without neighbours."""


@kernel
def log_mean_kernel(start, stop, distances, k, power, scale, log_intensity):
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
    """The mean over a neighbourhood of weight k, as if every sample were there as often as its weight says."""
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
    """Join every sample with some of its neighbours; how many times two parts became one."""
    count = 0
    for x in range(len(indices)):
        i = find(root, x)
        for c in range(first, stop):
            j = find(root, np.int64(indices[x, c]))
            if i < j:
                root[j] = i
                count += 1
            elif j < i:
                root[i] = j
                i = j
                count += 1
    return count


@kernel
def sum_finite(start, stop, values, k, divisor, totals, counts):
    """Sum of the finite ones of the first k values of every row, each divided, and their number."""
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
    """Mean of the finite values of the k nearest, infinite where there are none."""
    for x in range(start, stop):
        total = 0.0
        count = 0
        for c in range(k):
            value = values[indices[x, c]]
            if distances[x, c] < inf and value < inf:
                total += value
                count += 1
        means[x] = total / count if count else inf


@kernel
def log_slope(rise, distance):
    """log((f(p) - f(x)) / (f(x) d)), rise = log f(p) - log f(x)."""
    if distance == 0.0:
        return inf
    if rise <= 0.0:
        return -inf
    return rise + log(-expm1(-rise)) - log(distance)


@kernel
def steepest_parent(start, stop, indices, distances, k, log_intensity, rank, strict, step, parent):
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
    """The fitted neighbour that a new sample climbs to: the steepest higher one, the nearest where none is higher."""
    for x in range(start, stop):
        best, best_slope = indices[x, 0], -inf
        for c in range(k if distances[x, 0] > 0.0 else 0):  # else at the place of a fitted sample
            rise = fitted_intensity[indices[x, c]] - log_intensity[x]
            if rise > 0.0 and distances[x, c] < inf:
                slope = log_slope(rise, distances[x, c] * 1.0)
                if slope > best_slope:
                    best, best_slope = indices[x, c], slope
        parent[x] = best
