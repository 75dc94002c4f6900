"""The minimum spanning tree by mutual reachability that HDBSCAN uses, for many samples with many features.

Space trees do not help there: the hdbscan package took 16 minutes of CPU for 30,000 images. Here the nearest neighbours
are searched once, and components grow by Borůvka's rule. A list of neighbours contains the lightest edge out of a
component if no sample of it can have a lighter edge beyond its list. Other samples are compared with all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from benchmarks.methods.density import row_blocks
from gitcluster import find_neighbors

N_LISTED = 30
TINY = np.finfo(np.float64).tiny
"""Weight of an edge between duplicates, because sparse matrices have no edges of weight 0."""


def mutual_reachability_tree(X: NDArray[Any], min_samples: int) -> csr_array:
    """Return the minimum spanning tree as a symmetric matrix.

    A weight is the largest of the distance and of both samples' distances to neighbour ``min_samples``.
    """
    n = len(X)
    k = min(max(N_LISTED, min_samples), n - 1)
    neighbors, distances = find_neighbors(X, n_neighbors=k, search="exact", n_jobs=-1)[:2]
    core = distances[:, min(min_samples, n - 1) - 1]
    weights = np.maximum(np.maximum(distances, core[:, None]), core[neighbors])
    X = np.ascontiguousarray(X, np.float32)
    component, ends = np.arange(n), np.empty((0, 2), np.int32)
    while component.any():
        inside = component[neighbors] == component[:, None]
        outside = np.where(inside, np.inf, weights)
        target, weight = neighbors[np.arange(n), outside.argmin(axis=1)], outside.min(axis=1)
        lightest = np.full(component.max() + 1, np.inf)
        np.minimum.at(lightest, component, weight)
        largest = np.bincount(component).argmax()
        open_end = (np.maximum(distances[:, -1], core) < lightest[component]) & (component != largest)
        rows = np.flatnonzero(open_end)
        target[rows] = nearest_outside(X, core, component, rows)
        weight[rows] = weigh(X, core, rows, target[rows])
        order = np.lexsort((weight, component))
        first = order[np.unique(component[order], return_index=True)[1]]
        first = first[component[first] != largest]
        ends = np.concatenate((ends, np.column_stack((first, target[first])).astype(np.int32)))
        component = connected_components(coo_array((np.ones(len(ends)), ends.T), (n, n)), directed=False)[1]
    heavy = np.maximum(weigh(X, core, *ends.T), TINY)
    tree = minimum_spanning_tree(coo_array((heavy, ends.T), (n, n)))
    return csr_array(tree + tree.T)


def nearest_outside(
    X: NDArray[np.float32], core: NDArray[Any], component: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the sample of another component that is nearest by mutual reachability, for some samples."""
    norms, least = np.einsum("ij,ij->i", X, X), (core**2).astype(np.float32)
    nearest = np.empty(len(rows), np.int64)
    for block in row_blocks(len(rows), len(X)):
        some = rows[block]
        squares = (-2 * X[some]) @ X.T
        squares += norms
        squares += norms[some, None]
        np.maximum(squares, least, out=squares)
        np.maximum(squares, least[some, None], out=squares)
        squares[component[some, None] == component] = np.inf
        nearest[block] = squares.argmin(axis=1)
    return nearest


def weigh(
    X: NDArray[np.float32], core: NDArray[Any], start: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mutual reachability of pairs."""
    distances = np.linalg.norm((X[start] - X[end]).astype(np.float64), axis=1)
    return np.maximum(np.maximum(distances, core[start]), core[end])
