"""Compiled loops of the distributed fit, on one of its cells."""

from math import inf

from gitcluster.kernels import kernel
from gitcluster.kernels.search import insert, squared_distance


@kernel
def list_needs(points, reach, own, centres, low, high, wanted, needs, starts, rows):
    """Count, for every wanted cell, the points of the cell ``own`` that may have a neighbour in it.

    A point has no nearer neighbour in a cell if its ``reach`` ends before the bisector of the two centres or before
    the cell's box. If ``rows`` is not empty, the points are written to it, from ``starts`` of every cell on.
    """
    n_features = points.shape[1]
    for i in range(len(points)):
        to_own = squared_distance(points[i], centres[own])
        for c in range(len(centres)):
            if not wanted[c]:
                continue
            if reach[i] < inf:
                # The bisector is at the distance (|x - c|^2 - |x - own|^2) / (2 |own - c|). The error bound of the two
                # squared distances, 8e-16 > 2^-51 per feature, is subtracted: rounding must not rule out a cell.
                between, to_other = squared_distance(centres[own], centres[c]), squared_distance(points[i], centres[c])
                excess = to_other - to_own - 8e-16 * (n_features + 4) * (to_other + to_own)
                if excess > 0.0 and excess * excess > 4.0 * between * reach[i] * reach[i]:
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
def insert_rows(rows, others, other_distances, indices, distances, filled):
    """Insert the neighbours of some rows in another cell; a negative index is no neighbour."""
    for r in range(len(rows)):
        x = rows[r]
        for c in range(others.shape[1]):
            if others[r, c] >= 0:
                filled[x] = insert(indices[x], distances[x], filled[x], others[r, c], other_distances[r, c])
