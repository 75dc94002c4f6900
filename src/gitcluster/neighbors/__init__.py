"""Stage 1: find the k nearest neighbours of every sample.

d(x, y) = |x / sigma - y / sigma| (Eq. 1), with sigma_j the standard deviation of feature j.

In: scaled samples (n, d). Out: :class:`Neighbors`, the k nearest *other* samples in ascending order. "Other" refers to
the index: an exact duplicate of a sample is its neighbour at distance 0, the sample itself never is. Equal distances
are ordered by index, so that a search has exactly one right answer.

Every backend is a :class:`KNNIndex`; :func:`choose_index` selects one.
"""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from gitcluster._support.arrays import starts_of
from gitcluster._support.memory import check_memory
from gitcluster._support.validation import check_choice, check_n_neighbors
from gitcluster.kernels import run_chunks
from gitcluster.kernels import search as kernels
from gitcluster.neighbors.bounds import LEADING, BoundIndex, bound_seconds, plan_rotated, plan_unrotated
from gitcluster.neighbors.cells import CellIndex
from gitcluster.neighbors.descent import GOOD_RECALL, DescentIndex, descent_seconds
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.index import (
    CosineIndex,
    KNNIndex,
    MatrixIndex,
    Neighbors,
    SklearnIndex,
    SparseIndex,
    empty_neighbors,
    matrix_neighbors,
    measure_pairs,
    round_distances,
    unit_vectors,
)

__all__ = [
    "SEARCHES",
    "Neighbors",
    "choose_index",
    "choose_query_index",
    "empty_neighbors",
    "find_neighbors",
    "matrix_neighbors",
    "measure_neighbors",
    "measure_pairs",
    "round_distances",
]

SEARCHES = ("auto", "exact", "approximate")
MIN_RECALL = 0.9
"""If neighbour descent reaches less, ``search="auto"`` searches exactly after all."""
WORTH_SAMPLING = 1.0
"""CPU seconds of a search above which it pays to try lower bounds on a sample, which takes some tenths of a second."""


def find_neighbors(
    points: Any, *, n_neighbors: int, metric: str = "euclidean", search: str = "auto", n_jobs: int | None = None
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
    search : {"auto", "exact", "approximate"}, default="auto"
        "approximate" is neighbour descent, for dense samples with the metrics "euclidean" and "cosine"; other input is
        searched exactly. "auto" uses it if it is clearly faster and its recall is high enough.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> find_neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    n_samples, n_features = points.shape
    check_n_neighbors(n_neighbors, n_samples)
    # A neighbour takes 4 bytes for the index, 4 or 8 for the distance, and 1 to mark boundary pairs. The samples are
    # stored twice more, by cells and in single precision.
    size = points.dtype.itemsize
    row_bytes = n_neighbors * (5 + size) + (0 if issparse(points) else (size + 4) * n_features)
    remedy = "Use fewer neighbours, float32 data (half the size), or fit a sample of the rows."
    check_memory(n_samples * row_bytes, remedy)
    if MatrixIndex.supports(points, metric):
        return MatrixIndex(points, n_neighbors, n_jobs=n_jobs).search()
    first, group = group_duplicates(points)
    if len(first) == n_samples:
        del first, group  # the search needs the memory
        return _search_distinct(points, n_neighbors, metric, search, n_jobs)
    k = min(n_neighbors, len(first) - 1)
    distinct = Neighbors(*empty_neighbors(1, 0, points.dtype))  # if all samples are equal
    if k:
        distinct = _search_distinct(points[first], k, metric, search, n_jobs)
    starts, members = starts_of(np.bincount(group)), np.argsort(group, kind="stable")
    neighbors = empty_neighbors(n_samples, n_neighbors, distinct.distances.dtype)
    run_chunks(kernels.expand_duplicates, len(first), n_jobs, *distinct[:2], starts, members, *neighbors)
    return Neighbors(*neighbors, *distinct[2:])


def _search_distinct(points: Any, k: int, metric: str, search: str, n_jobs: int | None) -> Neighbors:
    """Search among distinct samples, again if the recall is too low."""
    index = choose_index(points, k, metric, search=search, n_jobs=n_jobs)
    neighbors = index.search()
    if search == "auto" and neighbors.recall < MIN_RECALL:
        return _search_distinct(points, k, metric, "exact", n_jobs)
    if neighbors.recall < GOOD_RECALL:
        warnings.warn(
            f"The recall of the approximate search is {neighbors.recall:.1%}. Use search='exact' for all neighbours.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return neighbors


def choose_index(points: Any, k: int, metric: str, *, search: str, n_jobs: int | None) -> KNNIndex:
    """Return the index that is expected to be the fastest for distinct samples.

    How many pairs a search has to compare depends on the data, so each is tried on a sample if that pays.
    """
    check_choice("search", search, SEARCHES)
    if SparseIndex.supports(points, metric):
        return SparseIndex(points, k, n_jobs=n_jobs)
    if CosineIndex.supports(points, metric):
        return CosineIndex(choose_index(unit_vectors(points), k, "euclidean", search=search, n_jobs=n_jobs))
    if not BoundIndex.supports(points, metric):
        return SklearnIndex(points, k, metric, n_jobs=n_jobs)
    can_descend = k + 1 < len(points)
    if can_descend and search == "approximate":
        return DescentIndex(points, k, n_jobs=n_jobs)
    n_samples, n_features = points.shape
    exact: CellIndex | BoundIndex
    if CellIndex.supports(points, metric):
        exact = CellIndex(points, k, n_jobs=n_jobs)
    else:
        exact = BoundIndex(points, k, plan_unrotated(points, k), n_jobs=n_jobs)
    # A plan is some work, so first see whether bounds that rule out all other pairs would be fast enough.
    least = bound_seconds(n_samples, n_features, k, n_leading=min(LEADING[0], n_features), share=0.0)
    if least < exact.seconds > WORTH_SAMPLING:
        plan = plan_rotated(points, k)
        if plan.seconds < exact.seconds:
            exact = BoundIndex(points, k, plan, n_jobs=n_jobs)
    if can_descend and search == "auto" and descent_pays(exact.seconds, points.shape, k):
        return DescentIndex(points, k, n_jobs=n_jobs)
    return exact


def descent_pays(exact_seconds: float, shape: tuple[int, int], k: int) -> bool:
    """Return whether neighbour descent is so much faster than an exact search that a few neighbours may be missed."""
    return exact_seconds > 10 + 3 * descent_seconds(*shape, k)


def choose_query_index(points: Any, metric: str) -> CellIndex | SklearnIndex:
    """Return an index for queries by new samples."""
    return CellIndex(points) if CellIndex.supports(points, metric) else SklearnIndex(points, metric=metric)


def measure_neighbors(X: Any, neighbors: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
    """Return the same neighbours in the same order, with their distances in ``X``."""
    distances = measure_pairs(X, np.arange(X.shape[0]), neighbors.indices, n_jobs, X.dtype)
    return Neighbors(neighbors.indices, distances, neighbors.recall)
