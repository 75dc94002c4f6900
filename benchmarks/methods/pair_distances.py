"""All pair distances in blocks: n^2 distances are worked out, but never held at once.

Density peaks, Quickshift++ and density peaks advanced share the search for the nearest denser sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

BLOCK = 2**22
"""Distances held at once."""

LIMIT = 2**23
"""Distances that are sorted rather than counted."""

EXACT_FEATURES = 32
"""Up to so many features differences are squared one by one; above, a matrix product is many times faster."""

BINS = 2**16

SAME = 1e-10
"""Width of a range of distances that counts as one value, as a share of the largest distance."""


def distances(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean distances of all rows of ``A`` to all rows of ``B``."""
    return cdist(A, B) if A.shape[1] <= EXACT_FEATURES else euclidean_distances(A, B)


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows such that a block of ``n_columns`` columns stays small."""
    size = max(1, BLOCK // max(1, n_columns))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def pairs(X: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield the distances of all pairs of samples, every pair once, block by block."""
    for rows in row_blocks(len(X), len(X)):
        block = distances(X[rows], X[rows.start :])
        yield block[np.arange(block.shape[1]) > np.arange(len(block))[:, None]]


def smallest_pair(X: NDArray[np.float64], rank: int) -> float:
    """Return the distance of given rank, 0 for the smallest, among those of all pairs.

    Counts in bins narrow the range down until what is left can be sorted, or is one value many times over.
    """
    below, inside = 0, len(X) * (len(X) - 1) // 2
    low, high = 0.0, np.inf
    if inside > LIMIT:
        largest = max(float(block.max(initial=0.0)) for block in pairs(X))
        high = 2 * largest
    while inside > LIMIT and high - low > SAME * largest:
        counts = sum(np.histogram(block[block < high], BINS, (low, high))[0] for block in pairs(X))
        edges = np.histogram_bin_edges([], BINS, (low, high))
        cumulated = np.cumsum(counts) + below
        chosen = int(np.searchsorted(cumulated, rank, side="right"))
        below, inside = int(cumulated[chosen] - counts[chosen]), int(counts[chosen])
        low, high = edges[chosen], edges[chosen + 1]
    if inside > LIMIT:
        return float(min(block.min(initial=np.inf, where=block >= low) for block in pairs(X)))
    left = np.concatenate([block[(block >= low) & (block < high)] for block in pairs(X)])
    return float(np.partition(left, rank - below)[rank - below])


def nearest_denser(
    X: NDArray[np.float64], order: NDArray[np.intp], positions: NDArray[np.intp], n_denser: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Nearest denser sample, and its distance, for the samples at some positions of an order.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    order : array of shape (n_samples,)
        Samples by falling density.
    positions : array of shape (n_queries,)
        Places in ``order`` that are asked for.
    n_denser : array of shape (n_queries,)
        How many of the first samples of ``order`` are denser than each; at least 1.

    Returns
    -------
    neighbors : array of shape (n_queries,)
        Sample numbers; of equally near ones the densest.
    distances : array of shape (n_queries,)
    """
    ordered = X[order]
    neighbors, nearest = np.empty(len(positions), dtype=np.intp), np.empty(len(positions))
    for rows in row_blocks(len(positions), len(X)):
        counts = n_denser[rows]
        block = distances(ordered[positions[rows]], ordered[: counts.max()])
        block[np.arange(block.shape[1]) >= counts[:, None]] = np.inf
        found = block.argmin(axis=1)
        neighbors[rows], nearest[rows] = order[found], block[np.arange(len(block)), found]
    return neighbors, nearest
