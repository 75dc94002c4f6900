"""Clusterings compared with each other, samples compared with their neighbours."""

from math import exp, inf

import numpy as np

from gitcluster.kernels import kernel

CROSSING = 2.0**30
"""Shares of crossing links are counted in whole numbers, this many of them."""


@kernel
def measure_crossing(start, stop, rows, indices, k, labels, log_intensity, peaks, crossing, highest):
    """Of samples, links to other clusters, each with its intensity relative to the lower of the two peaks, squared;
    and the log intensity of the highest of these links among the nearer half of the neighbours."""
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
    """Ordered pairs of samples that are together in two clusterings, for every two of them.

    Clusterings are nested cuts: ``parts`` are the clusters of samples in the finest one, (n_clusterings, n_samples),
    ``joined`` those that become one on the way from c + 2 to c + 1 clusters. The pairs of cuts into c clusters each go
    to ``common[c - least]``. ``table`` is room to work in.
    """
    for v in range(len(parts)):
        for w in range(v + 1):
            height, width = n_parts[v], n_parts[w]
            for place in range(height * width):
                table[place] = 0
            count = 0
            for x in range(parts.shape[1]):
                place = parts[v, x] * width + parts[w, x]
                count += 2 * table[place]
                table[place] += 1
            a, b = height, width
            while True:
                if a == b:
                    common[a - least, v, w] = count
                    common[a - least, w, v] = count
                    if a == least:
                        break
                if a >= b:  # two rows of the table become one, or two columns
                    to, gone, stride, length = joined[v, a - 2, 0] * width, joined[v, a - 2, 1] * width, 1, width
                    a -= 1
                else:
                    to, gone, stride, length = joined[w, b - 2, 0], joined[w, b - 2, 1], width, height
                    b -= 1
                for place in range(length):
                    count += 2 * table[to + place * stride] * table[gone + place * stride]
                    table[to + place * stride] += table[gone + place * stride]
                    table[gone + place * stride] = 0
