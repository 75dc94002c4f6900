"""Equal rows, and an order of rows that does not depend on how they were given."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, inverse_order
from gitcluster.kernels import run_threads

ROWS_AT_ONCE = 4096
GRID = 2.0**26
"""Grid cells between the lowest and the highest value of a feature, in which rows are hashed. With so few, rounding
errors of another unit, about 2**-52 of the range, hardly ever move a value to another cell."""


def canonical_order(X: Any, features: Array | None = None) -> Array:
    """Return the rows in lexicographic order: an order of the samples that does not depend on how they were given.

    ``features`` are compared in this order; all of them, from the first to the last, by default.

    Examples
    --------
    >>> canonical_order(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 3.0]]))
    array([2, 1, 0])
    >>> canonical_order(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 3.0]]), np.array([1, 0]))
    array([0, 2, 1])
    """
    if features is not None and issparse(X):
        X = X[:, features]
        X.sort_indices()
    if issparse(X):
        rows = ranked_rows(X)
        return np.array(sorted(range(len(rows)), key=rows.__getitem__))
    # Sort by one feature after another, but only rows that are still tied. `fresh` marks rows unlike the one before.
    order, fresh = np.arange(len(X)), np.zeros(len(X), np.bool_)
    fresh[:1] = True
    for feature in range(X.shape[1]) if features is None else features:
        tied = np.flatnonzero(~(fresh & np.append(fresh[1:], True)))
        if not len(tied):
            break
        values = X[order[tied], feature]
        if (values == values[0]).all():
            continue
        sort = np.lexsort((values, np.cumsum(fresh)[tied]))
        order[tied], values = order[tied][sort], values[sort]
        fresh[tied[1:]] |= values[1:] != values[:-1]
    return order


def row_bytes(X: Any) -> list[bytes]:
    """Return the stored columns and values of every row of a CSR array with sorted rows."""
    columns = X.indices.astype(np.int64)
    return [columns[i:j].tobytes() + X.data[i:j].tobytes() for i, j in pairwise(X.indptr.tolist())]


def ranked_rows(X: Any) -> list[bytes]:
    """Return the ranks of the entries (column, value) of every row of a CSR array: the same in all units."""
    order = np.lexsort((X.data, X.indices))
    columns, values = X.indices[order], X.data[order]
    rank = np.empty(len(order), ">i8")  # big-endian: bytes compare like the numbers
    rank[order] = np.cumsum(np.append(True, (columns[1:] != columns[:-1]) | (values[1:] != values[:-1]))[: len(order)])
    return [rank[i:j].tobytes() for i, j in pairwise(X.indptr.tolist())]


def hash_positions(
    X: Array, low: Array, high: Array, features: Array | None = None, *, n_jobs: int | None = None
) -> NDArray[np.uint64]:
    """Return a hash of every row's relative position between the lowest and the highest value of every feature.

    The hash is the same in all units. ``features`` are hashed in this order; all by default.
    """
    features = np.arange(len(low)) if features is None else features
    low, high = low[features], high[features]
    bottom, top = low.astype(np.float64) / 2, high.astype(np.float64) / 2  # halves: the range itself could overflow
    span, hashes = np.where(top > bottom, top - bottom, 1.0), np.empty(len(X), np.uint64)

    def fill(start: int) -> None:
        positions = X[start : start + ROWS_AT_ONCE, features] / 2 - bottom
        positions /= span
        positions *= GRID
        np.rint(positions, out=positions)
        positions += 0.0  # turns -0.0 into 0.0
        hashes[start : start + ROWS_AT_ONCE] = hash_samples(positions)

    run_threads(fill, range(0, len(X), ROWS_AT_ONCE), n_jobs)
    return hashes


def hash_samples(points: Array) -> NDArray[np.uint64]:
    """Return a hash of every row, equal for equal rows."""
    bits = points.view(np.uint64 if points.dtype == np.float64 else np.uint32)
    hashes = np.full(len(points), 0x9E3779B97F4A7C15, np.uint64)
    for start in range(0, len(points), ROWS_AT_ONCE):
        some = hashes[start : start + ROWS_AT_ONCE]
        for column in np.ascontiguousarray(bits[start : start + ROWS_AT_ONCE].T):
            # Multiply and shift, like the finalizer of splitmix64: every bit of the values reaches all of the hash.
            some ^= column
            some *= np.uint64(0xBF58476D1CE4E5B9)
            some ^= some >> np.uint64(29)
    return hashes


def group_duplicates(points: Any) -> tuple[Array, Array]:
    """Return the first sample of every distinct row, and the distinct row of every sample, in order of appearance."""
    if issparse(points):
        seen: dict[bytes, int] = {}
        group = np.array([seen.setdefault(row, len(seen)) for row in row_bytes(points)])
        return np.unique(group, return_index=True)[1], group
    first, group = _first_and_group(hash_samples(points))
    for start in range(0, len(points) if len(first) < len(points) else 0, ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        if not np.array_equal(points[some], points[first[group[some]]]):
            return _first_and_group(points)  # different rows with the same hash
    return first, group


def _first_and_group(values: Array) -> tuple[Array, Array]:
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], inverse_order(order)[group.ravel()]
