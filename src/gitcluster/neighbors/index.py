"""The interface of all searches, and the searches that build on scikit-learn.

Every search passes its candidates to the same kernels, which measure them in double precision, round the distances and
sort them by (distance, index). The result therefore does not depend on how a search rounds or on the number of threads.
"""

import warnings
from abc import ABC, abstractmethod
from contextlib import nullcontext
from functools import cached_property
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_integer
from gitcluster.kernels import limit_threads, run_chunks, run_threads
from gitcluster.kernels import search as kernels

ROUNDING = 2.0**-36
"""Relative precision of distances. Closer ones are tied, so that rounding errors do not decide between them."""
ROWS_AT_ONCE = 1 << 16
"""Rows whose candidates are in memory at a time."""
PAIRS_AT_ONCE, MIN_QUERIES = 1 << 19, 16
"""Squared distances that a search by all pairs has in memory at a time, but those of some queries at least: with
fewer, a matrix product would read all points for little work."""
SPARSE_PAIRS_AT_ONCE = 1 << 22
"""The same for sparse samples, where every product has more overhead."""


class Neighbors(NamedTuple):
    """The k nearest other samples of every sample, nearest first."""

    indices: Array
    """(n, k) int32, or int64 from 2**31 samples on."""
    distances: Array
    """(n, k), in the precision of the data."""
    recall: float = 1.0
    """Share of the true neighbours among them; an estimate for an approximate search."""
    is_mutual: bool = False
    """Whether d(x, y) and d(y, x) are the same number, and ties are in the order of indices, as in an exact search."""

    def check_reach(self, n_neighbors: int | None) -> int:
        """Return ``n_neighbors``, or all by default. Raise if more are requested than were searched."""
        n_searched = int(self.indices.shape[1])
        if n_neighbors is None:
            return n_searched
        if check_integer("n_neighbors", n_neighbors, low=1) > n_searched:
            raise ValueError(f"n_neighbors must be at most {n_searched}, the number searched, got {n_neighbors}.")
        return int(n_neighbors)


def empty_neighbors(n_samples: int, k: int, dtype: Any) -> tuple[Array, Array]:
    """Return uninitialized indices and distances."""
    index_type = np.int32 if n_samples < 2**31 else np.int64
    return np.empty((n_samples, k), index_type), np.empty((n_samples, k), dtype)


def round_distances(distances: Array) -> None:
    """Round to 36 bits after the leading one, in place; see ``kernels.search``."""
    bits = distances.view(np.int64)
    bits += 1 << 15
    bits &= ~np.int64((1 << 16) - 1)


def measure_pairs(points: Any, rows: Array, others: Array, n_jobs: int | None, dtype: Any = np.float64) -> Array:
    """Return the Euclidean distances between ``rows`` and their ``others``, from differences: nothing cancels."""
    sparse, distances = issparse(points), np.empty(others.shape, dtype)
    parts = (points.indptr, points.indices, points.data) if sparse else (np.ascontiguousarray(points),)
    kernel: Any = kernels.measure_sparse if sparse else kernels.measure
    run_chunks(kernel, len(rows), n_jobs, *parts, rows, others, distances)
    return distances


def distance_slack(dtype: Any) -> float:
    """Return the factor of squared distances above which two distances differ after rounding.

    2**-33 covers the rounding to 36 bits, twice since distances are squared, with some bits to spare; single precision
    rounds more.
    """
    return 1 + max(2.0**-33, 8 * float(np.finfo(dtype).eps))


def search_all_pairs(
    queries: Array,
    points: Array,
    names: Array,
    indices: Array,
    distances: Array,
    filled: Array,
    own: Array | None = None,
) -> None:
    """Update neighbour rows of queries, in place, by comparing each query with all points.

    ``names`` are the numbers of the points, ``own`` those of the queries, if these are not their own neighbours.
    ``filled`` is the number of neighbours in every row.

    A matrix product yields |x - y|^2 = |x|^2 + |y|^2 - 2 x y, which cancels. Its error is some roundings of the squared
    lengths. Only pairs that may be near in spite of this error are measured.
    """
    width, slack = indices.shape[1], distance_slack(distances.dtype)
    own = np.full(len(queries), -1) if own is None else own
    theirs = points.astype(np.float64, copy=False)
    squares = np.einsum("ij,ij->i", theirs, theirs)
    step = max(MIN_QUERIES, PAIRS_AT_ONCE // len(points))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        ours = queries[rows].astype(np.float64, copy=False)
        own_squares = np.einsum("ij,ij->i", ours, ours)
        squared = ours @ theirs.T
        squared *= -2
        squared += own_squares[:, None]
        squared += squares
        noise = 64 * np.finfo(np.float64).eps * (own_squares + squares.max())
        worst = np.where(filled[rows] == width, distances[rows, -1], np.inf).astype(np.float64) ** 2
        unbounded = np.flatnonzero(worst == np.inf)
        if len(unbounded) and len(points) > width:  # one of the first width + 1 may be the query itself
            worst[unbounded] = np.partition(squared[unbounded], width, axis=1)[:, width] + noise[unbounded]
        kernels.insert_near(
            queries[rows], own[rows], points, names, squared, worst * slack + noise, slack,
            indices[rows], distances[rows], filled[rows],
        )  # fmt: skip


class KNNIndex(ABC):
    """Distinct samples and a method to search their nearest neighbours. Every backend is a subclass."""

    METRICS: ClassVar[tuple[str, ...]] = ("euclidean",)
    MAX_FEATURES: ClassVar[float] = inf
    SPARSE: ClassVar[bool] = False
    """Whether samples have to be sparse; else they must not be."""
    seconds: float
    """Expected CPU seconds of :meth:`search`, if there is a choice. The constants were measured on one core."""

    def __init__(self, points: Any, k: int = 1, *, n_jobs: int | None = None) -> None:
        self.points, self.k, self.n_jobs = points, k, n_jobs

    @classmethod
    def supports(cls, points: Any, metric: Any) -> bool:
        """Return whether the samples can be searched."""
        fits = points.shape[1] <= cls.MAX_FEATURES and issparse(points) == cls.SPARSE
        return fits and isinstance(metric, str) and metric in cls.METRICS

    @abstractmethod
    def search(self) -> Neighbors:
        """Return the ``k`` nearest other samples of every sample."""


class MatrixIndex(KNNIndex):
    """The distances of all pairs of samples, which need not be distinct."""

    METRICS = ("precomputed",)

    def search(self) -> Neighbors:
        """Return the k nearest others in every row."""
        return matrix_neighbors(self.points, self.k, same=True, n_jobs=self.n_jobs)


def matrix_neighbors(matrix: Array, k: int, *, same: bool, n_jobs: int | None = None) -> Neighbors:
    """Return the k nearest in every row of a distance matrix; ``same`` if rows and columns are the same samples."""
    neighbors = empty_neighbors(len(matrix), k, matrix.dtype)
    run_chunks(kernels.nearest_in_matrix, len(matrix), n_jobs, matrix, same, *neighbors)
    return Neighbors(*neighbors)


class SparseIndex(KNNIndex):
    """Search by all pairs of sparse samples."""

    SPARSE = True

    def search(self) -> Neighbors:
        """Return the k nearest others, by products of sparse matrices; see :func:`search_all_pairs`."""
        points, k, n_samples = self.points, self.k, self.points.shape[0]
        rows_of = points.astype(np.float64, copy=False)
        squares = rows_of.multiply(rows_of).sum(axis=1)
        noise, slack = 64 * np.finfo(np.float64).eps * 2 * squares.max(), distance_slack(points.dtype)
        indices, distances = empty_neighbors(n_samples, k, points.dtype)
        step = max(MIN_QUERIES, SPARSE_PAIRS_AT_ONCE // n_samples)

        def search_block(start: int) -> None:
            rows = np.arange(start, min(start + step, n_samples))
            squared = (rows_of[rows] @ rows_of.T).toarray()
            squared *= -2
            squared += squares[rows, None]
            squared += squares
            # The row itself is one of the k + 1 nearest.
            reach = np.maximum(np.partition(squared, k, axis=1)[:, k], 0) + noise
            row, near = np.nonzero(squared <= (reach * slack + noise)[:, None])
            others = rows[row] != near
            row, near = row[others], near[others]
            measured = measure_pairs(points, rows[row], near[:, None], 1)
            round_distances(measured)
            lengths = measured[:, 0].astype(points.dtype)
            order = np.lexsort((near, lengths, row))
            nearest = order[np.searchsorted(row, np.arange(len(rows)))[:, None] + np.arange(k)]
            indices[rows], distances[rows] = near[nearest], lengths[nearest]

        run_threads(search_block, range(0, n_samples, step), self.n_jobs)
        return Neighbors(indices, distances, is_mutual=True)


class SklearnIndex(KNNIndex):
    """scikit-learn's search: for every metric, and for new samples that are sparse or have many features.

    It breaks ties arbitrarily, so that :meth:`search` requests more candidates until they hold the k nearest for
    certain.
    """

    MAX_DISTANCE = 1e300
    """scikit-learn returns the largest float if a distance overflows."""

    def __init__(self, points: Any, k: int = 1, metric: Any = "euclidean", *, n_jobs: int | None = None) -> None:
        super().__init__(points, k, n_jobs=n_jobs)
        self.metric = metric

    @cached_property
    def _estimator(self) -> Any:
        from sklearn.neighbors import NearestNeighbors  # slow to import, and most fits do without

        return NearestNeighbors(metric=self.metric).fit(self.points)

    def search(self) -> Neighbors:
        """Return the k nearest others, from k + 2 candidates, and four times as many for rows still in doubt."""
        n_samples = self.points.shape[0]
        neighbors = empty_neighbors(n_samples, self.k, self.points.dtype)
        rows, n_candidates = np.arange(n_samples), self.k + 2
        while len(rows):
            n_candidates = n_candidates if 2 * n_candidates < n_samples else n_samples
            settled = np.ones(len(rows), dtype=np.bool_)
            step = max(1, ROWS_AT_ONCE * (self.k + 2) // n_candidates)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                with limit_threads(effective_n_jobs(self.n_jobs)), np.errstate(all="ignore"):
                    candidates, distances = self.query(self.points[some], n_candidates, n_jobs=self.n_jobs)
                if not (distances < self.MAX_DISTANCE).all():
                    raise ValueError(
                        f"metric must give finite distances, got infinite or missing ones with metric={self.metric!r}. "
                        "Scale the features, or use another metric."
                    )
                distances = distances.astype(np.float64)
                reach = distances[:, -1].copy()  # no other sample is nearer
                if n_candidates == n_samples:
                    reach[:] = np.inf
                run_chunks(
                    kernels.keep_nearest, len(some), self.n_jobs,
                    some, candidates, distances, reach, *neighbors, settled[start : start + step],
                )  # fmt: skip
            rows = rows[~settled]
            n_candidates *= 4
        return Neighbors(*neighbors)

    def query(self, new: Any, k: int, *, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return scikit-learn's k nearest samples of every new one. A distance that is not defined is infinite."""
        # Boolean metrics convert numbers, which is no mistake. Filters are shared by all threads, several of which may
        # search Euclidean neighbours at the same time.
        quiet: Any = nullcontext()
        if self.metric != "euclidean":
            quiet = warnings.catch_warnings(action="ignore", category=DataConversionWarning)
        with quiet:
            distances, indices = self._estimator.set_params(n_jobs=n_jobs).kneighbors(new, k)
        return indices, np.maximum(np.nan_to_num(distances, nan=np.inf), 0.0)


class CosineIndex(KNNIndex):
    """Cosine distances, by a Euclidean search among unit vectors: |u - v|^2 / 2 = 1 - u v."""

    METRICS = ("cosine",)

    def __init__(self, euclidean: KNNIndex) -> None:
        super().__init__(euclidean.points, euclidean.k, n_jobs=euclidean.n_jobs)
        self.euclidean = euclidean

    def search(self) -> Neighbors:
        """Return the neighbours of the Euclidean search with cosine distances."""
        indices, distances, recall, _ = self.euclidean.search()
        # Parallel vectors differ by some roundings of their unit vectors: their distance is 0, and they are tied.
        distances[distances <= 8 * np.finfo(distances.dtype).eps] = 0
        tied = np.flatnonzero(distances[:, :2].sum(axis=1) == 0)
        order = np.lexsort((indices[tied], distances[tied]), axis=1)
        indices[tied] = np.take_along_axis(indices[tied], order, axis=1)
        np.square(distances, out=distances)
        distances /= 2
        return Neighbors(indices, distances, recall)


def unit_vectors(points: Array) -> Array:
    """Return the rows divided by their lengths.

    Rows of zeros have no direction. They get a feature of their own, so that their cosine distance to all others is 1.

    Examples
    --------
    >>> unit_vectors(np.array([[0.0, 2.0], [3.0, 4.0]]))
    array([[0. , 1. ],
           [0.6, 0.8]])
    """
    largest = np.abs(points).max(axis=1, keepdims=True)  # divide by it first: squares could overflow or underflow
    zero = largest == 0
    rows = points / np.where(zero, 1, largest)
    rows /= np.where(zero, 1, np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None])
    return np.column_stack([rows, zero.astype(points.dtype)]) if zero.any() else rows
