"""Stages 1, 3 and 4 in one of many cells of the space."""

from math import inf

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.cells import round_distance
from gitcluster.kernels.search import insert, squared_distance


@kernel
def follow_locally(order, parent, n_own, top):
    """The peak of every sample of a cell, or the sample of its halo at which the way uphill leaves the cell."""
    for x in order:
        if x >= n_own or parent[x] == x:
            top[x] = x
        else:
            top[x] = top[parent[x]]


@kernel
def bucket_rows(start, stop, rows, features, splitters, bucket):
    """Count the splitters that are not above every row, in lexicographic order.

    The columns of the splitters, which ascend, are these ``features`` of the rows.
    """
    for i in range(start, stop):
        low, high = 0, len(splitters)
        while low < high:
            middle = (low + high) // 2
            below = False
            for j in range(len(features)):
                value = rows[i, features[j]]
                if value != splitters[middle, j]:
                    below = value < splitters[middle, j]
                    break
            if below:
                high = middle
            else:
                low = middle + 1
        bucket[i] = low


@kernel
def nearest_centre(points, centres, nearest):
    for i in range(len(points)):
        best = inf
        for c in range(len(centres)):
            squared = squared_distance(points[i], centres[c])
            if squared < best:
                best = squared
                nearest[i] = c


@kernel
def list_needs(points, reach, own, centres, low, high, wanted, needs, starts, rows):
    """For every wanted cell, how many samples have a ``reach`` that goes beyond the bisector to it and into its box;
    which ones is written to ``rows``, from ``starts`` of the cell on, where there is room.

    A sample of the cell ``own`` is at least as far from all samples of another cell as from the bisector between the
    two centres; what rounding may add to the distances is taken off.
    """
    n_features = points.shape[1]
    for i in range(len(points)):
        to_own = squared_distance(points[i], centres[own])
        for c in range(len(centres)):
            if not wanted[c]:
                continue
            if reach[i] < inf:
                apart, to_other = squared_distance(centres[own], centres[c]), squared_distance(points[i], centres[c])
                excess = to_other - to_own - 8e-16 * (n_features + 4) * (to_other + to_own)
                if excess > 0.0 and excess * excess > 4.0 * apart * reach[i] * reach[i]:
                    continue
                gap = 0.0
                for j in range(n_features):
                    side = max(low[c, j] - points[i, j], points[i, j] - high[c, j], 0.0)
                    gap += side * side
                if gap > reach[i] * reach[i]:
                    continue
            if len(rows):
                rows[starts[c] + needs[c]] = i
            needs[c] += 1


@kernel
def rank_centres(points, own, centres, place, chosen):
    """The centre that comes ``place``-th from every sample, its own being first."""
    nearest, squared = np.empty(place, np.int64), np.empty(place)
    for i in range(len(points)):
        filled = 0
        for c in range(len(centres)):
            if c != own:
                distance = squared_distance(points[i], centres[c])
                if filled < place or distance < squared[-1]:
                    filled = insert(nearest, squared, filled, c, distance)
        chosen[i] = nearest[-1]


@kernel
def insert_below(queries, candidates, names, squared, threshold, slack, indices, distances, filled):
    """Measure again the candidates whose rounded squared distances are not above a threshold, and keep the nearest."""
    distance = np.empty(1, distances.dtype)
    for q in range(len(queries)):
        width = indices.shape[1]
        for c in range(len(candidates)):
            if squared[q, c] <= threshold[q]:
                exact = squared_distance(queries[q], candidates[c])
                if filled[q] == width and exact > np.float64(distances[q, -1]) ** 2 * slack:
                    continue
                distance[0] = round_distance(exact)
                filled[q] = insert(indices[q], distances[q], filled[q], names[c], distance[0])


@kernel
def insert_rows(rows, others, other_distances, indices, distances, filled):
    """Insert what was found elsewhere for some rows; a number below 0 is nothing."""
    for r in range(len(rows)):
        x = rows[r]
        for c in range(others.shape[1]):
            if others[r, c] >= 0:
                filled[x] = insert(indices[x], distances[x], filled[x], others[r, c], other_distances[r, c])


@kernel
def drop_self(group, ids, wide_indices, wide_distances, indices, distances):
    """Neighbours of every sample from those of its place, which are one more: without the sample itself."""
    for x in range(len(group)):
        place = 0
        for c in range(wide_indices.shape[1]):
            if wide_indices[group[x], c] != ids[x] and place < indices.shape[1]:
                indices[x, place] = wide_indices[group[x], c]
                distances[x, place] = wide_distances[group[x], c]
                place += 1


@kernel
def number_locally(indices, ids, starts, shift, local):
    """Place of every neighbour among ``ids``, which ascend; -1 where it is not one of them.

    Those of the ids that are equal from the bit ``shift`` on, counted from the first id, begin at ``starts``.
    """
    for x in range(indices.shape[0]):
        for c in range(indices.shape[1]):
            away = indices[x, c] - ids[0]
            bucket = away >> shift
            local[x, c] = -1
            if 0 <= bucket < len(starts) - 1:
                low, high = starts[bucket], starts[bucket + 1]
                while low < high:
                    middle = (low + high) // 2
                    if ids[middle] - ids[0] < away:
                        low = middle + 1
                    else:
                        high = middle
                if low < len(ids) and ids[low] - ids[0] == away:
                    local[x, c] = low
