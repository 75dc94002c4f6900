"""Exact search: what makes every way of searching find the same, and the search by scikit-learn, for every metric.

Every search hands candidates to the same kernels, which measure them again and order them by (distance, index): how a
search rounds, or in how many threads it runs, does not show in the result. Samples are distinct here; stage 1 has put
duplicates together.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning

from gitcluster._support.arrays import Array
from gitcluster.kernels import limit_threads, run_chunks, search

CELL_FEATURES = 64
"""With more features than this cells are not tried, and all pairs are compared."""
TREE_FEATURES = 9
"""With more features than this scipy's tree, which is asked for few neighbours of few samples, prunes too little."""
FEW = 2000
"""Samples up to which all pairs are compared here."""
ROWS_AT_ONCE = 1 << 16
ROUNDING = 2.0**-36
"""Distances nearer than this share of themselves are equal, so that rounding errors cannot break a tie."""
WIDE = 128
"""With more features than this a pair is not measured where the search has told its distance to 36 bits."""
INFINITE = 1e300
"""scikit-learn says the largest float where a distance overflows."""


def empty_neighbors(n_samples: int, k: int, dtype: Any) -> tuple[Array, Array]:
    """Room for indices and distances."""
    index_type = np.int32 if n_samples < 2**31 else np.int64
    return np.empty((n_samples, k), index_type), np.empty((n_samples, k), dtype)


def round_distances(distances: Array) -> None:
    """Keep the first 36 bits after the leading one, in place."""
    bits = distances.view(np.int64)
    bits += 1 << 15
    bits &= ~np.int64((1 << 16) - 1)


def measure_pairs(points: Any, rows: Array, others: Array, distances: Array, n_jobs: int | None) -> None:
    """Fill in the Euclidean distances between ``rows`` and their ``others``, without cancellation."""
    sparse = issparse(points)
    parts = (points.indptr, points.indices, points.data) if sparse else (np.ascontiguousarray(points),)
    kernel: Any = search.measure_sparse if sparse else search.measure
    run_chunks(kernel, len(rows), n_jobs, *parts, rows, others, distances)


def fits_cells(points: Any, metric: str, n_features: int = CELL_FEATURES) -> bool:
    """Whether boxes around dense samples of few features tell which of them are near."""
    return metric == "euclidean" and points.shape[1] <= n_features and not issparse(points)


def are_few(points: Any, metric: str) -> bool:
    """Whether to start scikit-learn's search takes longer than to compare all pairs of samples."""
    return fits_cells(points, metric, points.shape[1]) and points.shape[0] <= FEW and points.dtype == np.float64


class Candidates:
    """A search for near samples that may round, or break links in its own way."""

    def __init__(self, points: Any, metric: str, n_jobs: int | None, *, tree: bool = False) -> None:
        self.points, self.metric, self.n_jobs = points, metric, n_jobs
        self.measured = metric == "euclidean"
        """Whether our own kernel measures the distances again."""
        self.noise = 0.0
        """The largest error of the squared distances that are reported."""
        prunes = fits_cells(points, metric, TREE_FEATURES) or are_few(points, metric)
        self.tree = KDTree(points) if tree and prunes else None
        if self.tree is None:
            from sklearn.neighbors import NearestNeighbors  # takes long to load, and most fits do without

            with quiet_conversion(metric):
                algorithm = "brute" if self.measured else "auto"
                self.index = NearestNeighbors(algorithm=algorithm, metric=metric, n_jobs=n_jobs).fit(points)
            if self.measured:
                squares = points.multiply(points).sum(axis=1) if issparse(points) else _squared_norms(points)
                self.noise = 64 * float(np.finfo(points.dtype).eps) * float(squares.max())

    def query(self, rows: Array, n_candidates: int) -> tuple[Array, Array]:
        """Distances and indices of candidates, the samples themselves among them."""
        n_threads = effective_n_jobs(self.n_jobs)
        if self.tree is not None:
            distances, found = self.tree.query(self.points[rows], k=n_candidates, workers=n_threads)
            return distances, found
        with limit_threads(n_threads), np.errstate(all="ignore"), quiet_conversion(self.metric):
            distances, found = self.index.kneighbors(self.points[rows], n_candidates)
        if not self.measured and not (distances < INFINITE).all():
            raise ValueError(
                f"metric={self.metric!r} gives infinite or missing distances between some of the samples. "
                "Scale the features, or use another metric."
            )
        return np.maximum(distances.astype(np.float64), 0.0), found

    def certain(self, rows: Array, n_candidates: int) -> tuple[Array, Array, Array]:
        """Distances and indices of candidates, and the distance up to which no other sample can be."""
        distances, found = self.query(rows, n_candidates)
        reach = distances[:, -1].copy()
        everybody = n_candidates == self.points.shape[0]
        if self.measured:
            reach = np.sqrt(np.maximum(reach**2 - self.noise, 0)) * (1 - 2 * ROUNDING)
            if everybody:  # a search that rounds may name a sample twice
                told, distances = distances, np.full_like(distances, np.nan)
                np.put_along_axis(distances, found, told, axis=1)
                found = np.broadcast_to(np.arange(n_candidates), distances.shape).copy()
        if everybody:
            reach[:] = np.inf
        if self.measured and self.points.shape[1] > WIDE and not issparse(self.points):
            self.measure_doubtful(rows, found, distances)
        else:
            self.measure(rows, found, distances)
        return distances, found, reach

    def measure_doubtful(self, rows: Array, found: Array, distances: Array) -> None:
        """Distances as :meth:`measure` gives them; those that no error of the search could change are taken from it."""
        with np.errstate(over="ignore", invalid="ignore"):
            squared = distances**2
            doubt = squared * (np.finfo(np.float64).eps * (self.points.shape[1] + 8)) + self.noise
            least, most = np.sqrt(np.maximum(squared - doubt, 0)), np.sqrt(squared + doubt)
        round_distances(least)
        round_distances(most)
        distances[:] = np.where(least == most, least, np.nan)
        run_chunks(
            search.measure_missing, len(rows), self.n_jobs, np.ascontiguousarray(self.points), rows, found, distances
        )
        round_distances(distances)

    def measure(self, rows: Array, found: Array, distances: Array) -> None:
        """Distances by our own kernel, where there is one for the metric."""
        if self.measured:
            measure_pairs(self.points, rows, found, distances, self.n_jobs)
            round_distances(distances)


def _squared_norms(points: Array) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", points, points, dtype=np.float64))


def certain_search(points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array]:
    """Indices and distances of the k nearest others, from a search that rounds or breaks links in its own way.

    Ask it for a few candidates more than k; ask for four times as many where the k-th and the last
    candidate cannot be told apart, until links and rounding leave no doubt about the k nearest.
    """
    n_samples = points.shape[0]
    candidates = Candidates(points, metric, n_jobs)
    found = empty_neighbors(n_samples, k, points.dtype)
    rows = np.arange(n_samples)
    n_candidates = k + 2
    while len(rows):
        n_candidates = n_candidates if 2 * n_candidates < n_samples else n_samples
        settled = np.ones(len(rows), dtype=np.bool_)
        step = max(1, ROWS_AT_ONCE * (k + 2) // n_candidates)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            distances, near, reach = candidates.certain(some, n_candidates)
            run_chunks(
                search.keep_nearest, len(some), n_jobs,
                some, near, distances, reach, *found, settled[start : start + step],
            )  # fmt: skip
        rows = rows[~settled]
        n_candidates *= 4
    return found


@contextmanager
def quiet_conversion(metric: str) -> Iterator[None]:
    """Without scikit-learn's warning that a metric of truth values took numbers for them.

    Warnings are those of all threads, so they are left alone where several may search at once.
    """
    if metric == "euclidean":
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        yield


def nearest_between(points: Any, rows: Array, others: Array, metric: str) -> tuple[float, int, int]:
    """Shortest distance between two sets of rows, and the two rows it is between."""
    if fits_cells(points, metric, TREE_FEATURES):
        distances, found = KDTree(points[others]).query(points[rows], k=1)
    elif are_few(points, metric):
        pairs = cdist(points[rows], points[others])
        distances, found = pairs.min(axis=1), pairs.argmin(axis=1)
    else:
        from sklearn.metrics import pairwise_distances_argmin_min  # takes long to load, and most fits do without

        with quiet_conversion(metric):
            found, distances = pairwise_distances_argmin_min(points[rows], points[others], metric=metric)
    distances = np.array(distances, dtype=np.float64)
    round_distances(distances)
    best = int(distances.argmin())
    return float(distances[best]), int(rows[best]), int(others[found[best]])
