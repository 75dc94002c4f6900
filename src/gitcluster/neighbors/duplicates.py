"""Rows that are equal, and an order of rows that does not depend on how they were given."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster._jit import search
from gitcluster._support.arrays import Array, inverse_order


def canonical_order(X: Any) -> Array:
    """Rows in lexicographic order: an order of the samples that does not depend on how they were given.

    Examples
    --------
    >>> canonical_order(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 3.0]]))
    array([2, 1, 0])
    """
    if issparse(X):
        rows = row_bytes(X)
        return np.array(sorted(range(len(rows)), key=rows.__getitem__))
    place = np.zeros(len(X), np.int64)
    for column in X.T:
        values = np.unique(column, return_inverse=True)[1]
        distinct, place = np.unique(place * (values.max() + 1) + values, return_inverse=True)
        if len(distinct) == len(X):
            break
    return np.argsort(place, kind="stable")


def row_bytes(X: Any) -> list[bytes]:
    """What is stored in every row of a CSR array with sorted rows."""
    columns = X.indices.astype(np.int64)
    return [columns[i:j].tobytes() + X.data[i:j].tobytes() for i, j in pairwise(X.indptr.tolist())]


def hash_samples(points: Array) -> NDArray[np.uint64]:
    """A hash of every row, equal for equal rows."""
    hashes = np.empty(len(points), np.uint64)
    search.hash_rows(points.view(np.uint64 if points.dtype == np.float64 else np.uint32), hashes)
    return hashes


def group_duplicates(points: Any) -> tuple[Array, Array]:
    """First sample of every distinct row, and the distinct row of every sample, in order of first sight."""
    if issparse(points):
        seen: dict[bytes, int] = {}
        group = np.array([seen.setdefault(row, len(seen)) for row in row_bytes(points)])
        return np.unique(group, return_index=True)[1], group
    first, group = _first_and_group(hash_samples(points))
    if len(first) < len(points) and not search.rows_match(points, first[group]):
        return _first_and_group(points)  # two different rows with one hash
    return first, group


def _first_and_group(values: Array) -> tuple[Array, Array]:
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], inverse_order(order)[group.ravel()]
