"""Stages 2 and 3: intensities, and the way uphill.

Kernels that take ``start, stop`` first work on those rows alone and may run in several threads.
"""

from math import exp, expm1, inf, log

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.sums import add_value
from gitcluster._jit.unions import find, find_all

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
def find_components(indices, k, n_nodes):
    """Root of every node in the graph of neighbours, and the number of components; the nearest neighbours first,
    so that a graph in one piece is known to be one early. Nodes without a row of neighbours stand last."""
    n_samples = len(indices)
    root = np.arange(n_nodes)
    count = n_nodes
    for first in range(0, k, 4):
        for x in range(n_samples):
            for c in range(first, min(first + 4, k)):
                i, j = find(root, x), find(root, np.int64(indices[x, c]))
                if i != j:
                    root[max(i, j)] = min(i, j)
                    count -= 1
        if count == 1:
            break
    find_all(root)
    return root, count


@kernel
def sum_components(root, distances, k, totals, counts):
    """Neighbour distances, divided by k, and their number in the component of every sample, at its root."""
    for x in range(distances.shape[0]):
        total = 0.0
        for c in range(k):
            if distances[x, c] < inf:
                counts[root[x]] += 1
                total += distances[x, c] / k
        if total > 0.0:
            add_value(totals[root[x]], total)


@inner_kernel
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


@kernel
def follow_parents(order, parent, labels):
    """Number the peaks in falling intensity and give every sample the number of its peak."""
    count = 0
    for x in order:
        if parent[x] == x:
            labels[x] = count
            count += 1
        else:
            labels[x] = labels[parent[x]]
    return count


@kernel
def part_groups(groups, labels, parent):
    """Make peaks of the samples of groups that share a local cluster with another group; whether there were any."""
    n_labels = labels.max() + 1
    seen = np.full(n_labels, -1, np.int64)
    mixed = np.zeros(n_labels, np.bool_)
    for x in range(len(groups)):
        if groups[x] >= 0:
            if seen[labels[x]] >= 0 and seen[labels[x]] != groups[x]:
                mixed[labels[x]] = True
            seen[labels[x]] = groups[x]
    for x in range(len(groups)):
        if groups[x] >= 0 and mixed[labels[x]]:
            parent[x] = x
    return mixed.any()
