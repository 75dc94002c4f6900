"""The interface of all searches, and the searches that build on scikit-learn.

Every search passes its candidates to the same kernels, which measure them in double precision, round the distances and
sort them by (distance, index). The result therefore does not depend on how a search rounds or on the number of threads.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_integer
from gitcluster.kernels import limit_threads, run_chunks
from gitcluster.kernels import search as kernels

ROUNDING = 2.0**-36
"""Relative precision of distances. Closer ones are tied, so that rounding errors do not decide between them."""
ROWS_AT_ONCE = 1 << 16
"""Rows whose candidates are in memory at a time."""
PAIRS_AT_ONCE, MIN_QUERIES = 1 << 19, 16
"""Squared distances that a search by all pairs has in memory at a time, but those of some queries at least: with
fewer, a matrix product would read all points for little work."""


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

    seconds: float
    """Expected CPU seconds of :meth:`search`, if there is a choice. The constants were measured on one core."""

    def __init__(self, points: Any, k: int = 1, *, n_jobs: int | None = None) -> None:
        self.points, self.k, self.n_jobs = points, k, n_jobs

    @abstractmethod
    def search(self) -> Neighbors:
        """Return the ``k`` nearest other samples of every sample."""


def matrix_neighbors(matrix: Array, k: int, *, same: bool, n_jobs: int | None = None) -> Neighbors:
    """Return the k nearest in every row of a distance matrix; ``same`` if rows and columns are the same samples."""
    neighbors = empty_neighbors(len(matrix), k, matrix.dtype)
    run_chunks(kernels.nearest_in_matrix, len(matrix), n_jobs, matrix, same, *neighbors)
    return Neighbors(*neighbors)


class SklearnIndex(KNNIndex):
    """scikit-learn's search: for sparse samples, for every metric, and for new samples of many features.

    scikit-learn computes |x - y|^2 as |x|^2 - 2 x y + |y|^2, which cancels, and breaks ties arbitrarily. It therefore
    serves only to find candidates: :meth:`search` requests more of them until they are certain to hold the k nearest.
    """

    MAX_DISTANCE = 1e300
    """scikit-learn returns the largest float if a distance overflows."""

    def __init__(self, points: Any, k: int = 1, metric: str = "euclidean", *, n_jobs: int | None = None) -> None:
        super().__init__(points, k, n_jobs=n_jobs)
        self.metric, self.is_measured = metric, metric == "euclidean"
        """Whether our own kernels measure the candidates again; other metrics use scikit-learn's distances."""

    @cached_property
    def _estimator(self) -> Any:
        from sklearn.neighbors import NearestNeighbors  # slow to import, and most fits do without

        with self._quiet():
            algorithm = "brute" if self.is_measured else "auto"
            return NearestNeighbors(algorithm=algorithm, metric=self.metric, n_jobs=self.n_jobs).fit(self.points)

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Suppress scikit-learn's warning that a Boolean metric converted numbers.

        Warning filters are shared by all threads, so they are left alone for Euclidean distances, which several threads
        may search at once.
        """
        if self.is_measured:
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            yield

    def search(self) -> Neighbors:
        """Return the k nearest others, from k + 2 candidates, and four times as many for rows still in doubt."""
        points, n_samples = self.points, self.points.shape[0]
        neighbors = empty_neighbors(n_samples, self.k, points.dtype)
        noise = 0.0
        if self.is_measured:  # a bound on the error of squared distances: some roundings of the largest squared length
            squares = points.multiply(points).sum(axis=1) if issparse(points) else (points**2).sum(axis=1)
            noise = 64 * float(np.finfo(points.dtype).eps) * float(squares.max())
        rows, n_candidates = np.arange(n_samples), self.k + 2
        while len(rows):
            n_candidates = n_candidates if 2 * n_candidates < n_samples else n_samples
            settled = np.ones(len(rows), dtype=np.bool_)
            step = max(1, ROWS_AT_ONCE * (self.k + 2) // n_candidates)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                distances, candidates = self._find_candidates(some, n_candidates)
                reach = distances[:, -1].copy()  # no other sample can be nearer
                if self.is_measured:
                    reach = np.sqrt(np.maximum(reach**2 - noise, 0)) * (1 - 2 * ROUNDING)
                    if n_candidates == n_samples:  # a search that rounds may return a sample twice, so list all of them
                        candidates = np.broadcast_to(np.arange(n_samples), distances.shape).copy()
                    distances = measure_pairs(points, some, candidates, self.n_jobs)
                    round_distances(distances)
                if n_candidates == n_samples:
                    reach[:] = np.inf
                run_chunks(
                    kernels.keep_nearest, len(some), self.n_jobs,
                    some, candidates, distances, reach, *neighbors, settled[start : start + step],
                )  # fmt: skip
            rows = rows[~settled]
            n_candidates *= 4
        return Neighbors(*neighbors, is_mutual=self.is_measured)

    def _find_candidates(self, rows: Array, n_candidates: int) -> tuple[Array, Array]:
        """Return distances and indices of the samples nearest to some rows, themselves included."""
        with limit_threads(effective_n_jobs(self.n_jobs)), np.errstate(all="ignore"), self._quiet():
            distances, indices = self._estimator.kneighbors(self.points[rows], n_candidates)
        if not self.is_measured and not (distances < self.MAX_DISTANCE).all():
            raise ValueError(
                f"metric must give finite distances, got infinite or missing ones with metric={self.metric!r}. "
                "Scale the features, or use another metric."
            )
        return np.maximum(distances.astype(np.float64), 0.0), indices

    def query(self, new: Any, k: int, *, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return scikit-learn's k nearest samples of every new one. A distance that is not defined is infinite."""
        with self._quiet():
            distances, indices = self._estimator.set_params(n_jobs=n_jobs).kneighbors(new, k)
        return indices, np.maximum(np.nan_to_num(distances, nan=np.inf), 0.0)


class CosineIndex(KNNIndex):
    """Cosine distances, by a Euclidean search among unit vectors: |u - v|^2 / 2 = 1 - u v."""

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
