"""Stage 1: find the k nearest neighbours of every sample.

d(x, y) = ||x / sigma - y / sigma|| (Eq. 1), sigma_j the standard deviation of feature j, see ``inputs.scaling``.

In: scaled samples (n, d). Out: :class:`Neighbors`, the k nearest *other* samples in ascending order. "Other" goes by
index: an exact duplicate of a sample is its neighbour at distance 0, the sample itself never is. Equal
distances are ordered by index, so that the search has one right answer.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, starts_of
from gitcluster._support.validation import check_choice, check_integer, check_memory, check_n_neighbors
from gitcluster.kernels import run_chunks
from gitcluster.kernels import search as kernels
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.exact import empty_neighbors, measure_pairs
from gitcluster.neighbors.given import given_search
from gitcluster.neighbors.plan import approximate_search, can_descend, descent_pays, plan_exact_search
from gitcluster.neighbors.recall import LEAST_RECALL
from gitcluster.neighbors.shadows import Again

SEARCHES = ("auto", "exact", "approximate")


class Neighbors(NamedTuple):
    """The k nearest other samples of every sample, nearest first."""

    indices: Array
    """(n, k) int32, or int64 from 2**31 samples on."""
    distances: Array
    """(n, k), in the precision of the data."""
    recall: float = 1.0
    """Share of the true neighbours that were found; an estimate for an approximate search."""

    def check_reach(self, n_neighbors: int | None) -> int:
        """``n_neighbors``, or all there are; an error where more are asked for than were searched."""
        found = int(self.indices.shape[1])
        if n_neighbors is None:
            return found
        if check_integer("n_neighbors", n_neighbors, low=1) > found:
            raise ValueError(
                f"n_neighbors={n_neighbors} is more than the {found} that were searched. Search for more of them."
            )
        return int(n_neighbors)


class ExactNeighbors(Neighbors):
    """Known to be the nearest, equally far ones by index, with one distance from both sides."""

    __slots__ = ()


def find_neighbors(
    points: Any,
    *,
    n_neighbors: int,
    metric: str = "euclidean",
    search: Any = "auto",
    n_jobs: int | None = None,
) -> Neighbors:
    """Find the k nearest other samples of every sample.

    Parameters
    ----------
    points : ndarray or CSR array of shape (n_samples, n_features), or (n_samples, n_samples) distances
        Samples as :func:`scale_features` returns them; the distances with ``metric="precomputed"``.
    n_neighbors : int
        k, not counting the sample itself; from 1 to n_samples - 1.
    metric : str, default="euclidean"
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`, or "precomputed".
    search : {"auto", "exact", "approximate"} or object, default="auto"
        "approximate" is neighbour descent; "auto" takes it where it is clearly faster and finds enough. It knows dense
        samples with the metrics "euclidean" and "cosine"; all others are searched exactly. An object with
        scikit-learn's ``fit(points)`` and ``kneighbors(points, n)`` is used as it is.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> find_neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    return search_points(points, n_neighbors, metric, search=search, n_jobs=n_jobs)


def search_points(
    points: Any,
    n_neighbors: int,
    metric: str,
    *,
    search: Any = "auto",
    n_jobs: int | None = None,
    again: Again | None = None,
) -> Neighbors:
    """The same. Where samples can be had ``again``, a search that needs much room may write over ``points`` while it
    runs."""
    n_samples, n_features = points.shape
    check_n_neighbors(n_neighbors, n_samples)
    check_memory(
        memory_needed(n_samples, 0 if issparse(points) else n_features, n_neighbors, points.dtype),
        "Use fewer neighbours, float32 data (half the size), or fit a sample of the rows.",
    )
    if metric == "precomputed":
        return nearest_in_matrix(points, n_neighbors, same=True, n_jobs=n_jobs)
    if n_features == 0:  # no feature varies: every sample equals every other
        alone = Neighbors(*empty_neighbors(1, 0, points.dtype))
        return _expand_duplicates(alone, np.zeros(n_samples, np.int64), n_neighbors, n_jobs)
    first, group = group_duplicates(points)
    if len(first) == n_samples:
        del first, group  # the search wants the room
        return _search(points, n_neighbors, metric, search, n_jobs, again)
    k = min(n_neighbors, len(first) - 1)
    found = Neighbors(*empty_neighbors(1, 0, points.dtype))
    if k:
        dense = not issparse(points)
        found = _search(points[first], k, metric, search, n_jobs, (lambda rows: points[first[rows]]) if dense else None)
    return _expand_duplicates(found, group, n_neighbors, n_jobs)


def memory_needed(n_samples: int, n_features: int, k: int, dtype: Any) -> int:
    """Bytes of a search: a graph of 4 for the index and 4 or 8 for the distance of every neighbour, one more to mark
    boundary pairs, and the samples twice more, in cells, once of them in single precision.

    Examples
    --------
    >>> memory_needed(1_000_000, 10, 40, np.float64)
    640000000
    """
    size = np.dtype(dtype).itemsize
    return int(n_samples * (k * (5 + size) + (size + 4) * n_features))


def _search(points: Any, k: int, metric: str, search: Any, n_jobs: int | None, again: Again | None = None) -> Neighbors:
    if hasattr(search, "kneighbors"):
        return Neighbors(*given_search(search, points, k, metric, n_jobs))
    check_choice("search", search, SEARCHES)
    if search == "approximate" and can_descend(points, k, metric):
        return Neighbors(*approximate_search(points, k, metric, n_jobs, again=again))
    plan = plan_exact_search(points, k, metric, n_jobs, again)
    if search == "auto" and can_descend(points, k, metric) and descent_pays(plan.seconds, points.shape, k):
        del plan  # holds the samples by cells
        found = Neighbors(*approximate_search(points, k, metric, n_jobs, least=LEAST_RECALL, again=again))
        return found if found.recall >= LEAST_RECALL else _search(points, k, metric, "exact", n_jobs, again)
    return (ExactNeighbors if metric == "euclidean" else Neighbors)(*plan.search())


def nearest_in_matrix(matrix: Array, k: int, *, same: bool, n_jobs: int | None = None) -> Neighbors:
    """The k nearest in every row of a matrix of distances; ``same`` where rows and columns are the same samples."""
    found = empty_neighbors(len(matrix), k, matrix.dtype)
    run_chunks(kernels.nearest_in_matrix, len(matrix), n_jobs, matrix, same, *found)
    return Neighbors(*found)


def _expand_duplicates(found: Neighbors, group: Array, k: int, n_jobs: int | None) -> Neighbors:
    """Neighbours of all samples from those of the distinct rows; a row stands for all its members."""
    starts, members = starts_of(np.bincount(group)), np.argsort(group, kind="stable")
    indices, distances = empty_neighbors(len(members), k, found.distances.dtype)
    run_chunks(
        kernels.expand_duplicates, len(starts) - 1, n_jobs,
        found.indices, found.distances, starts, members, indices, distances,
    )  # fmt: skip
    return type(found)(indices, distances, found.recall)


def measure_neighbors(X: Any, neighbors: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
    """The same neighbours in the same order, with their distances in ``X`` as it is."""
    distances = np.empty(neighbors.distances.shape, X.dtype)
    measure_pairs(X, np.arange(X.shape[0]), neighbors.indices, distances, n_jobs)
    return Neighbors(neighbors.indices, distances, neighbors.recall)
