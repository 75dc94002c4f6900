"""Compiled loops of the neighbour search: arrays in, arrays out.

A kernel that takes ``start, stop`` first works on those rows or cells alone and may run in several threads.
"""

from math import inf, sqrt

import numpy as np

from gitcluster.kernels import kernel


@kernel
def squared_distance(x, y):
    total = 0.0
    for j in range(len(x)):
        difference = np.float64(x[j]) - np.float64(y[j])
        total += difference * difference
    return total


@kernel
def four_distances(x, a, b, c, d):
    """Four sums at a time, so that none of them waits for itself."""
    to_a, to_b, to_c, to_d = 0.0, 0.0, 0.0, 0.0
    for j in range(len(x)):
        value = np.float64(x[j])
        e, f, g, h = (
            value - np.float64(a[j]),
            value - np.float64(b[j]),
            value - np.float64(c[j]),
            value - np.float64(d[j]),
        )
        to_a, to_b, to_c, to_d = to_a + e * e, to_b + f * f, to_c + g * g, to_d + h * h
    return sqrt(to_a), sqrt(to_b), sqrt(to_c), sqrt(to_d)


@kernel
def measure(start, stop, points, rows, others, distances):
    width = others.shape[1]
    for r in range(start, stop):
        x, out = points[rows[r]], distances[r]
        for c in range(0, width - 3, 4):
            i, j, k, m = others[r, c], others[r, c + 1], others[r, c + 2], others[r, c + 3]
            out[c], out[c + 1], out[c + 2], out[c + 3] = four_distances(x, points[i], points[j], points[k], points[m])
        for c in range(width - width % 4, width):
            out[c] = sqrt(squared_distance(x, points[others[r, c]]))


@kernel
def measure_missing(start, stop, points, rows, others, distances):
    """Distances of those pairs that have none."""
    for r in range(start, stop):
        x = points[rows[r]]
        for c in range(others.shape[1]):
            if distances[r, c] != distances[r, c]:
                distances[r, c] = sqrt(squared_distance(x, points[others[r, c]]))


@kernel
def measure_sparse(start, stop, starts, columns, values, rows, others, distances):
    """Distances between rows of a CSR array whose columns ascend."""
    for r in range(start, stop):
        for c in range(others.shape[1]):
            i, j = starts[rows[r]], starts[others[r, c]]
            i_stop, j_stop = starts[rows[r] + 1], starts[others[r, c] + 1]
            total = 0.0
            while i < i_stop or j < j_stop:
                difference = 0.0
                if j == j_stop or (i < i_stop and columns[i] <= columns[j]):
                    difference += values[i]
                    if j < j_stop and columns[i] == columns[j]:
                        difference -= values[j]
                        j += 1
                    i += 1
                else:
                    difference -= values[j]
                    j += 1
                total += difference * difference
            distances[r, c] = sqrt(total)


@kernel
def insert(indices, distances, filled, index, distance):
    """Insert into a row kept in order of (distance, index); the last one falls out of a full row."""
    place = filled
    while place > 0 and (
        distance < distances[place - 1] or (distance == distances[place - 1] and index < indices[place - 1])
    ):
        place -= 1
    if place == len(indices) or (place > 0 and index == indices[place - 1] and distance == distances[place - 1]):
        return filled  # too far, or there already
    if filled < len(indices):
        filled += 1
    for later in range(filled - 1, place, -1):
        indices[later] = indices[later - 1]
        distances[later] = distances[later - 1]
    indices[place] = index
    distances[place] = distance
    return filled


@kernel
def keep_nearest(start, stop, rows, candidates, candidate_distances, reach, indices, distances, settled):
    rounded = distances[:1, :1].copy()
    for r in range(start, stop):
        x = rows[r]
        filled = 0
        for c in range(candidates.shape[1]):
            if candidates[r, c] != x:
                rounded[0, 0] = candidate_distances[r, c]
                filled = insert(indices[x], distances[x], filled, candidates[r, c], rounded[0, 0])
        rounded[0, 0] = reach[r]
        settled[r] = filled == indices.shape[1] and (distances[x, filled - 1] < rounded[0, 0] or reach[r] == inf)


@kernel
def nearest_in_matrix(start, stop, matrix, same, indices, distances):
    for x in range(start, stop):
        filled = 0
        for y in range(matrix.shape[1]):
            if not same or y != x:
                filled = insert(indices[x], distances[x], filled, y, matrix[x, y])


@kernel
def expand_duplicates(start, stop, row_indices, row_distances, starts, members, indices, distances):
    k = indices.shape[1]
    near = np.empty(k + 1, indices.dtype)
    near_distances = np.empty(k + 1, distances.dtype)
    zero = np.zeros(1, distances.dtype)[0]
    for row in range(start, stop):
        filled = 0
        for c in range(-1, row_indices.shape[1]):
            other = row if c < 0 else row_indices[row, c]
            distance = zero if c < 0 else row_distances[row, c]
            if filled == k + 1 and distance > near_distances[k]:
                break
            for s in range(starts[other], min(starts[other + 1], starts[other] + k + 1)):
                filled = insert(near, near_distances, filled, members[s], distance)
        for s in range(starts[row], starts[row + 1]):
            x, place = members[s], 0
            for c in range(filled):
                if near[c] != x and place < k:
                    indices[x, place] = near[c]
                    distances[x, place] = near_distances[c]
                    place += 1


@kernel
def expand_found(start, stop, row_indices, row_distances, starts, members, indices, distances):
    """Write the nearest samples of queries from the nearest distinct rows, each of which stands for its members."""
    k = indices.shape[1]
    for x in range(start, stop):
        filled = 0
        for c in range(row_indices.shape[1]):
            row, distance = row_indices[x, c], row_distances[x, c]
            if filled == k and distance > distances[x, k - 1]:
                break
            for s in range(starts[row], min(starts[row + 1], starts[row] + k)):  # more of one row never fit
                filled = insert(indices[x], distances[x], filled, members[s], distance)


@kernel
def gather_rows(start, stop, starts, columns, values, same, indices, distances):
    """The nearest of every row of a graph, nearest first; what is missing is the sample itself, infinitely far."""
    for x in range(start, stop):
        filled = 0
        for s in range(starts[x], starts[x + 1]):
            if not same or columns[s] != x:
                filled = insert(indices[x], distances[x], filled, columns[s], values[s])
        indices[x, filled:] = x if same else 0
        distances[x, filled:] = inf
