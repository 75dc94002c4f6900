"""Stages 0 and 1: scale the features, find the k nearest neighbours of every sample.

d(x, y) = ||x / sigma - y / sigma|| (Eq. 1), sigma_j the standard deviation of feature j. Dividing by it makes
every later stage independent of the units of the features (Theorem 1).

In: samples (n, d). Out: :class:`Neighbors`, the k nearest *other* samples in ascending order. "Other" goes by
index: an exact duplicate of a sample is its neighbour at distance 0, the sample itself never is. Equal
distances are ordered by index, so that the search has one right answer.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from gitcluster import _kernels
from gitcluster._jit import run_chunks
from gitcluster._validation import check_integer, check_n_neighbors

Array = NDArray[Any]
Query = Callable[[Array, int], tuple[Array, Array]]

TREE_FEATURES = 15
"""With more features than this a tree prunes next to nothing, and all pairs are compared."""
ROWS_AT_ONCE = 1 << 16
EPS = float(np.finfo(np.float64).eps)


class Neighbors(NamedTuple):
    """The k nearest other samples of every sample, nearest first."""

    indices: Array
    """(n, k) int32, or int64 from 2**31 samples on."""
    distances: Array
    """(n, k), in the precision of the data."""

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


def scale_features(X: Array) -> Array:
    """Divide every feature by its standard deviation and drop the features that do not vary.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite float32 or float64 values. Never written to.

    Returns
    -------
    points : ndarray of shape (n_samples, n_varying_features), C-contiguous
        Centred as well, which changes no distance and keeps the digits of data far from the origin.

    Examples
    --------
    >>> import numpy as np
    >>> scale_features(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([[-1.],
           [ 1.]])
    """
    low, high = (extreme.astype(np.float64) / 2 for extreme in (X.min(axis=0), X.max(axis=0)))
    rounding = 8 * np.finfo(X.dtype).eps * np.maximum(np.abs(low), np.abs(high))
    varying = np.flatnonzero(high - low > rounding)
    points = np.empty((len(X), len(varying)), dtype=X.dtype)
    for column, feature in enumerate(varying):
        # from the lowest value, for the digits of data far from 0; halved, for data near the largest float
        values = X[:, feature].astype(np.float64) / 2 - low[feature]
        values /= values.max()
        values -= values.mean()
        values /= np.sqrt(np.mean(values * values))
        points[:, column] = values
    points += 0.0  # -0.0 and 0.0 are one value
    return points


def canonical_order(X: Array) -> Array:
    """Rows in lexicographic order: an order of the samples that does not depend on how they were given.

    Examples
    --------
    >>> canonical_order(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 3.0]]))
    array([2, 1, 0])
    """
    place = np.zeros(len(X), np.int64)
    for column in X.T:
        values = np.unique(column, return_inverse=True)[1]
        distinct, place = np.unique(place * (values.max() + 1) + values, return_inverse=True)
        if len(distinct) == len(X):
            break
    return np.argsort(place, kind="stable")


def find_neighbors(
    points: Array, *, n_neighbors: int, metric: str = "euclidean", n_jobs: int | None = None
) -> Neighbors:
    """Find the k nearest other samples of every sample, exactly.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) distances
        Samples as :func:`scale_features` returns them; the distances with ``metric="precomputed"``.
    n_neighbors : int
        k, not counting the sample itself; from 1 to n_samples - 1.
    metric : str, default="euclidean"
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`, or "precomputed".
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> find_neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    check_n_neighbors(n_neighbors, len(points))
    if metric == "precomputed":
        return _nearest_in_matrix(points, n_neighbors, n_jobs)
    if points.shape[1] == 0:  # no feature varies: every sample equals every other
        return _expand_duplicates(_no_neighbors(1, points.dtype), [np.arange(len(points))], n_neighbors, n_jobs)
    first, group = _group_duplicates(points)
    if len(first) == len(points):
        return _search(points, n_neighbors, metric, n_jobs)
    distinct = points[first]
    k = min(n_neighbors, len(first) - 1)
    found = _search(distinct, k, metric, n_jobs) if k else _no_neighbors(1, points.dtype)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    return _expand_duplicates(found, members, n_neighbors, n_jobs)


def _no_neighbors(n_samples: int, dtype: Any) -> Neighbors:
    return Neighbors(np.empty((n_samples, 0), np.int32), np.empty((n_samples, 0), dtype))


def _empty_neighbors(n_samples: int, k: int, dtype: Any) -> Neighbors:
    index_type = np.int32 if n_samples < 2**31 else np.int64
    return Neighbors(np.empty((n_samples, k), index_type), np.empty((n_samples, k), dtype))


def _nearest_in_matrix(matrix: Array, k: int, n_jobs: int | None) -> Neighbors:
    found = _empty_neighbors(len(matrix), k, matrix.dtype)
    run_chunks(_kernels.nearest_in_matrix, len(matrix), n_jobs, matrix, found.indices, found.distances)
    return found


def _group_duplicates(points: Array) -> tuple[Array, Array]:
    """First sample of every distinct row, and the distinct row of every sample, in order of first sight."""
    bits = points.view(np.uint64 if points.dtype == np.float64 else np.uint32)
    hashes = np.empty(len(points), np.uint64)
    _kernels.hash_rows(bits, hashes)
    first, group = _first_and_group(hashes)
    if len(first) < len(points) and not _kernels.rows_match(bits, first[group]):
        return _first_and_group(points)  # two different rows with one hash
    return first, group


def _first_and_group(values: Array) -> tuple[Array, Array]:
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[group.ravel()]


def _expand_duplicates(found: Neighbors, members: list[Array], k: int, n_jobs: int | None) -> Neighbors:
    """Neighbours of all samples from those of the distinct rows; a row stands for all its members."""
    sizes = np.array([len(m) for m in members])
    starts = np.concatenate(([0], np.cumsum(sizes)))
    flat = np.concatenate(members)
    result = _empty_neighbors(len(flat), k, found.distances.dtype)
    run_chunks(_kernels.expand_duplicates, len(members), n_jobs, *found, starts, flat, *result)
    return result


def _search(points: Array, k: int, metric: str, n_jobs: int | None) -> Neighbors:
    """Ask a tree or all pairs for a few candidates more than k; ask for twice as many where the k-th and the
    last candidate cannot be told apart, until ties and rounding leave no doubt about the k nearest."""
    n_samples = len(points)
    query, noise = _candidate_search(points, metric, n_jobs)
    found = _empty_neighbors(n_samples, k, points.dtype)
    rows = np.arange(n_samples)
    n_candidates = k + 2
    while len(rows):
        n_candidates = min(n_candidates, n_samples)
        settled = np.ones(len(rows), dtype=np.bool_)
        step = max(1, ROWS_AT_ONCE * (k + 2) // n_candidates)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            distances, candidates = query(some, n_candidates)
            reach = np.full(len(some), np.inf)
            if n_candidates < n_samples:
                reach = np.sqrt(np.maximum(distances[:, -1] ** 2 * (1 - 8 * EPS) - noise, 0))
            if metric == "euclidean":
                run_chunks(_kernels.measure, len(some), n_jobs, points, some, candidates, distances)
            run_chunks(
                _kernels.keep_nearest, len(some), n_jobs,
                some, candidates, distances, reach, *found, settled[start : start + step],
            )  # fmt: skip
        rows = rows[~settled]
        n_candidates *= 2
    return found


def _candidate_search(points: Array, metric: str, n_jobs: int | None) -> tuple[Query, float]:
    """A search that may round, and the largest error of the squared distances that it reports."""
    n_threads = effective_n_jobs(n_jobs)
    if metric == "euclidean" and points.shape[1] <= TREE_FEATURES:
        tree = KDTree(points)
        return lambda rows, n_candidates: tree.query(points[rows], k=n_candidates, workers=n_threads), 0.0
    algorithm = "brute" if metric == "euclidean" else "auto"
    index = NearestNeighbors(algorithm=algorithm, metric=metric, n_jobs=n_jobs).fit(points)

    def query(rows: Array, n_candidates: int) -> tuple[Array, Array]:
        with threadpool_limits(limits=n_threads):
            distances, candidates = index.kneighbors(points[rows], n_candidates)
        return np.maximum(distances.astype(np.float64), 0.0), candidates

    largest = float(np.einsum("ij,ij->i", points, points, dtype=np.float64).max())
    return query, 64 * EPS * largest if metric == "euclidean" else 0.0


def measure_neighbors(X: Array, neighbors: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
    """The same neighbours in the same order, with their distances in ``X`` as it is."""
    distances = np.empty(neighbors.distances.shape, X.dtype)
    rows = np.arange(len(X))
    run_chunks(_kernels.measure, len(X), n_jobs, np.ascontiguousarray(X), rows, neighbors.indices, distances)
    return Neighbors(neighbors.indices, distances)
