"""Stage 1 again, where samples came or went: what an earlier search found is kept, the rest is searched.

The k nearest of a sample that was there before are the k nearest of those it had and of those that came. A sample that
came, or has lost a neighbour, is searched among all. Samples stay in an order that those who came and went do not
change, so that ties are broken as by a search of all.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, starts_of
from gitcluster.neighbors.cells import gather_cells, nearest_in_cells
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.exact import CELL_FEATURES, empty_neighbors

MOST = 0.5
"""Share of the samples that are searched from which on all are."""
MOST_WIDE = 0.05
"""The same where cells do not tell which samples are near: with many features."""


class KnownNeighbors(NamedTuple):
    """What an earlier search has found."""

    points: Array
    """(n, n_features) the samples, scaled."""
    indices: Array
    """(n, k) their neighbours, nearest first."""
    distances: Array
    recall: float = 1.0
    """Share of the true neighbours among them."""
    search: str = "auto"
    """How to search where nothing of this can be used."""

    def grow(self, points: Any, k: int, *, n_jobs: int | None = None) -> tuple[Array, Array] | None:
        """Indices and distances of the k nearest other samples of all ``points``; None where a new search is faster,
        or needed because the earlier one found fewer."""
        known = self.points
        usable = not issparse(points) and points.dtype == known.dtype and points.shape[1] == known.shape[1]
        if not usable or not points.shape[1] or k > self.indices.shape[1]:
            return None
        place = match_rows(known, points)
        kept_rows = np.flatnonzero((place >= 0) & (place[self.indices[:, :k]] >= 0).all(axis=1))
        kept, came = place[kept_rows], np.ones(len(points), np.bool_)
        came[place[place >= 0]] = False
        again = np.ones(len(points), np.bool_)
        again[kept] = False
        if again.sum() > len(points) * (MOST if points.shape[1] <= CELL_FEATURES else MOST_WIDE):
            return None
        found = empty_neighbors(len(points), k, points.dtype)
        found[0][kept] = place[self.indices[kept_rows, :k]]
        found[1][kept] = self.distances[kept_rows, :k]
        search_among(points, kept, np.flatnonzero(came), found, filled=k, n_jobs=n_jobs)
        search_others(points, np.flatnonzero(again), found, n_jobs=n_jobs)
        return found


def match_rows(known: Array, points: Array) -> Array:
    """Where every known sample is among ``points``, -1 where it is not; the first of equal ones is the first there.

    Examples
    --------
    >>> match_rows(np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([[2.0], [3.0], [4.0]]))
    array([-1,  0, -1,  1])
    """
    _, group = group_duplicates(np.concatenate([known, points]) + 0.0)
    nth = count_before(group[: len(known)]), count_before(group[len(known) :])
    most = 1 + max(int(part.max(initial=0)) for part in nth)
    keys = group[: len(known)] * most + nth[0], group[len(known) :] * most + nth[1]
    order = np.argsort(keys[1])
    at = np.minimum(np.searchsorted(keys[1], keys[0], sorter=order), len(points) - 1)
    return np.where(keys[1][order[at]] == keys[0], order[at], -1)


def count_before(group: Array) -> Array:
    """How many samples of its group stand before every sample.

    Examples
    --------
    >>> count_before(np.array([0, 1, 0, 0, 1]))
    array([0, 0, 1, 2, 1])
    """
    order, starts = np.argsort(group, kind="stable"), starts_of(np.bincount(group))
    nth = np.empty(len(group), np.int64)
    nth[order] = np.arange(len(group)) - starts[group[order]]
    return nth


def search_among(
    points: Array, rows: Array, others: Array, found: tuple[Array, Array], *, filled: int, n_jobs: int | None
) -> None:
    """Add those of the ``others`` that are near to ``rows`` which have found ``filled`` already."""
    if not len(rows) or not len(others):
        return
    queries, cells = (gather_cells(points[some], n_jobs=n_jobs) for some in (rows, others))
    queries, cells = queries._replace(members=rows[queries.members]), cells._replace(members=others[cells.members])
    nearest_in_cells(queries, cells, found, filled=np.full(len(found[0]), filled), n_jobs=n_jobs)


def search_others(points: Array, rows: Array, found: tuple[Array, Array], *, n_jobs: int | None) -> None:
    """Find the nearest others of ``rows``: one more than that, among all, and not the sample itself."""
    k = found[0].shape[1]
    near = empty_neighbors(len(rows), k + 1, points.dtype)
    if not len(rows):
        return
    nearest_in_cells(
        gather_cells(points[rows], n_jobs=n_jobs), gather_cells(points, n_jobs=n_jobs), near, n_jobs=n_jobs
    )
    other = near[0] != rows[:, None]
    other[other.all(axis=1), -1] = False  # more equal samples before it than were asked for
    for part, values in zip(found, near, strict=True):
        part[rows] = values[other].reshape(len(rows), k)
