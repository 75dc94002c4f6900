"""Clusterings compared with each other, samples compared with their neighbours."""

from math import exp

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
                level = log_intensity[x] if log_intensity[x] < log_intensity[y] else log_intensity[y]
                peak = peaks[labels[x]] if peaks[labels[x]] < peaks[labels[y]] else peaks[labels[y]]
                total += exp(2.0 * (level - peak))
        crossing[x] = np.int64(np.rint(total / k * CROSSING))


@kernel
def count_common(labels, width, table, common):
    """Ordered pairs of samples that are together in two clusterings, for every two of them; labels are below width."""
    for i in range(len(labels)):
        for j in range(i):
            count = 0
            for x in range(labels.shape[1]):
                place = labels[i, x] * width + labels[j, x]
                count += 2 * table[place]
                table[place] += 1
            for x in range(labels.shape[1]):
                table[labels[i, x] * width + labels[j, x]] = 0
            common[i, j] = count
            common[j, i] = count
