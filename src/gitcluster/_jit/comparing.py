"""Clusterings compared with each other, samples compared with their neighbours."""

from math import exp, inf

import numpy as np

from gitcluster._jit import kernel

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


@kernel
def adjusted_rand(a, b, counts, n_a, n_b):
    """Adjusted Rand index where ``counts`` samples have each pair of labels; labels are below n_a and n_b."""
    table, rows, columns = np.zeros((n_a, n_b)), np.zeros(n_a), np.zeros(n_b)
    n_samples = 0.0
    for x in range(len(counts)):
        table[a[x], b[x]] += counts[x]
        rows[a[x]] += counts[x]
        columns[b[x]] += counts[x]
        n_samples += counts[x]
    both, in_a, in_b = 0.0, 0.0, 0.0
    for i in range(n_a):
        in_a += rows[i] * (rows[i] - 1.0)
        for j in range(n_b):
            both += table[i, j] * (table[i, j] - 1.0)
    for j in range(n_b):
        in_b += columns[j] * (columns[j] - 1.0)
    expected = in_a * in_b / (n_samples * (n_samples - 1.0))
    most = (in_a + in_b) / 2.0
    return 1.0 if most == expected else (both - expected) / (most - expected)


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
