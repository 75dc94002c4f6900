"""Stage 1: find the k nearest neighbours of every sample.

d(x, y) = ||x / sigma - y / sigma|| (Eq. 1), sigma_j the standard deviation of feature j, see ``scaling``.

In: scaled samples (n, d). Out: :class:`Neighbors`, the k nearest *other* samples in ascending order. "Other" goes by
index: an exact duplicate of a sample is its neighbour at distance 0, the sample itself never is. Equal
distances are ordered by index, so that the search has one right answer.
"""

import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster import _search_kernels
from gitcluster._jit import run_chunks
from gitcluster._optional import is_installed
from gitcluster._validation import check_choice, check_integer, check_memory, check_n_neighbors
from gitcluster.search import approximate_search, approximation_pays, empty_neighbors, given_search, plan_exact_search

Array = NDArray[Any]

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
        "approximate" uses neighbour descent (the package pynndescent); "auto" does so where it is installed and
        clearly faster. An object with scikit-learn's ``fit(points)`` and ``kneighbors(points, n)`` is used as it is.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result of an exact search does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> find_neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    n_samples, n_features = points.shape
    check_n_neighbors(n_neighbors, n_samples)
    check_memory(
        memory_needed(n_samples, 0 if issparse(points) else n_features, n_neighbors, points.dtype),
        "Use fewer neighbours, float32 data (half the size), or fit a sample of the rows.",
    )
    if metric == "precomputed":
        return _nearest_in_matrix(points, n_neighbors, n_jobs)
    if n_features == 0:  # no feature varies: every sample equals every other
        alone = Neighbors(*empty_neighbors(1, 0, points.dtype))
        return _expand_duplicates(alone, [np.arange(n_samples)], n_neighbors, n_jobs)
    first, group = group_duplicates(points)
    if len(first) == n_samples:
        return _search(points, n_neighbors, metric, search, n_jobs)
    k = min(n_neighbors, len(first) - 1)
    found = Neighbors(*empty_neighbors(1, 0, points.dtype))
    if k:
        found = _search(points[first], k, metric, search, n_jobs)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    return _expand_duplicates(found, members, n_neighbors, n_jobs)


def memory_needed(n_samples: int, n_features: int, k: int, dtype: Any) -> int:
    """Bytes of a search: a graph of 4 for the index and 4 or 8 for the distance of every neighbour, one more to mark
    boundary pairs, and the samples once more, in cells.

    Examples
    --------
    >>> memory_needed(1_000_000, 10, 40, np.float64)
    600000000
    """
    size = np.dtype(dtype).itemsize
    return int(n_samples * (k * (5 + size) + 8 * n_features))


def _search(points: Any, k: int, metric: str, search: Any, n_jobs: int | None) -> Neighbors:
    if hasattr(search, "kneighbors"):
        return Neighbors(*given_search(search, points, k, metric, n_jobs))
    check_choice("search", search, SEARCHES)
    if search != "approximate" or k + 1 >= points.shape[0]:
        seconds, search_exactly = plan_exact_search(points, k, metric, n_jobs)
        pays = search == "auto" and approximation_pays(seconds, *points.shape)
        if pays and not is_installed("pynndescent"):
            _suggest_once()
            pays = False
        if not pays:
            return Neighbors(*search_exactly())
        del search_exactly  # holds the samples by cells
    return Neighbors(*approximate_search(points, k, metric, n_jobs))


def _suggest_once() -> None:
    """Say, once a process, what would be faster."""
    if not _suggested:
        _suggested.append(True)
        warnings.warn(
            "An exact search of this many samples takes long. An approximate one is faster: "
            "pip install 'gitcluster[fast]', or neighbors='exact' to keep to this one.",
            UserWarning,
            stacklevel=4,
        )


_suggested: list[bool] = []


def _nearest_in_matrix(matrix: Array, k: int, n_jobs: int | None) -> Neighbors:
    indices, distances = empty_neighbors(len(matrix), k, matrix.dtype)
    run_chunks(_search_kernels.nearest_in_matrix, len(matrix), n_jobs, matrix, True, indices, distances)
    return Neighbors(indices, distances)


def hash_samples(points: Array) -> NDArray[np.uint64]:
    """A hash of every row, equal for equal rows."""
    hashes = np.empty(len(points), np.uint64)
    _search_kernels.hash_rows(points.view(np.uint64 if points.dtype == np.float64 else np.uint32), hashes)
    return hashes


def group_duplicates(points: Any) -> tuple[Array, Array]:
    """First sample of every distinct row, and the distinct row of every sample, in order of first sight."""
    if issparse(points):
        seen: dict[bytes, int] = {}
        group = np.array([seen.setdefault(row, len(seen)) for row in row_bytes(points)])
        return np.unique(group, return_index=True)[1], group
    first, group = _first_and_group(hash_samples(points))
    if len(first) < len(points) and not _search_kernels.rows_match(points, first[group]):
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
    indices, distances = empty_neighbors(len(flat), k, found.distances.dtype)
    run_chunks(
        _search_kernels.expand_duplicates, len(members), n_jobs,
        found.indices, found.distances, starts, flat, indices, distances,
    )  # fmt: skip
    return Neighbors(indices, distances, found.recall)


def measure_neighbors(X: Any, neighbors: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
    """The same neighbours in the same order, with their distances in ``X`` as it is."""
    distances = np.empty(neighbors.distances.shape, X.dtype)
    rows = np.arange(X.shape[0])
    kernel: Any = _search_kernels.measure
    parts: tuple[Any, ...] = (np.ascontiguousarray(X),) if not issparse(X) else (X.indptr, X.indices, X.data)
    if issparse(X):
        kernel = _search_kernels.measure_sparse
    run_chunks(kernel, len(rows), n_jobs, *parts, rows, neighbors.indices, distances)
    return Neighbors(neighbors.indices, distances)
