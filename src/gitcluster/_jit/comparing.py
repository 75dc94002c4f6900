"""Clusterings compared with each other, samples compared with their neighbours."""

from math import exp, inf

import numpy as np

from gitcluster._jit import inner_kernel, kernel

CROSSING = 2.0**30
"""Shares of crossing links are counted in whole numbers, this many of them."""


@kernel
def measure_crossing(start, stop, indices, k, labels, log_intensity, peaks, crossing):
    """Per sample, links to other clusters, each with its intensity relative to the lower of the two peaks, squared."""
    for x in range(start, stop):
        total = 0.0
        for c in range(k):
            y = indices[x, c]
            if labels[y] != labels[x]:
                level = min(log_intensity[x], log_intensity[y])
                total += exp(2.0 * (level - min(peaks[labels[x]], peaks[labels[y]])))
        crossing[x] = np.int64(np.rint(total / k * CROSSING))


@inner_kernel
def adjusted_rand(a, b, table):
    """Adjusted Rand index of two clusterings, whose labels are below the sides of ``table``; at least 0."""
    table[:] = 0
    for x in range(len(a)):
        table[a[x], b[x]] += 1
    n, both, in_a, in_b = float(len(a)), 0.0, 0.0, 0.0
    for i in range(table.shape[0]):
        row = 0.0
        for j in range(table.shape[1]):
            row += table[i, j]
            both += table[i, j] * (table[i, j] - 1.0)
        in_a += row * (row - 1.0)
    for j in range(table.shape[1]):
        column = 0.0
        for i in range(table.shape[0]):
            column += table[i, j]
        in_b += column * (column - 1.0)
    expected, most = in_a * in_b / (n * (n - 1.0)), (in_a + in_b) / 2.0
    return 1.0 if most == expected else max((both - expected) / (most - expected), 0.0)


@kernel
def compare_clusterings(start, stop, labels, counts, table):
    """Adjusted Rand index of clusterings ``start`` to ``stop`` with all before them."""
    for i in range(start, stop):
        table[i, i] = 1.0
        for j in range(i):
            table[i, j] = table[j, i] = adjusted_rand(labels[i], labels[j], np.empty((counts[i], counts[j]), np.int64))


@kernel
def mean_reach(start, stop, distances, k, reach):
    """Mean distance to the neighbours that are there, infinite where there are none."""
    for x in range(start, stop):
        total, count = 0.0, 0
        for c in range(k):
            if distances[x, c] < inf:
                total += distances[x, c]
                count += 1
        reach[x] = total / count if count > 0 else inf


@kernel
def outlier_scores(start, stop, indices, distances, k, own, reach, scores):
    """1 - 1 / r, r how much wider the ``own`` neighbourhood is than the ``reach`` of the neighbours."""
    for x in range(start, stop):
        total, count = 0.0, 0
        for c in range(k):
            if distances[x, c] < inf and reach[indices[x, c]] < inf:
                total += reach[indices[x, c]]
                count += 1
        share = 1.0 if own[x] == 0.0 else 0.0
        if count > 0 and own[x] > 0.0:
            share = total / count / own[x]
        scores[x] = 1.0 - min(share, 1.0)
