"""The search behind stage 1: exact in cells or by all pairs, or approximate by neighbour descent.

Every search hands candidates to the same kernels, which measure them again and order them by (distance, index): how a
search rounds, or in how many threads it runs, does not show in the result. Samples are distinct here; stage 1 has put
duplicates together.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from scipy.spatial import KDTree
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from gitcluster import _search_kernels
from gitcluster._jit import run_chunks
from gitcluster._optional import require
from gitcluster.cells import gather_cells, nearest_in_cells, sample_pairs

Array = NDArray[Any]
Query = Callable[[Array, int], tuple[Array, Array]]

CELL_FEATURES = 64
"""With more features than this cells are not tried, and all pairs are compared."""
TREE_FEATURES = 9
"""With more features than this scipy's tree, which is asked for few neighbours of few samples, prunes too little."""
ROWS_AT_ONCE = 1 << 16
ROUNDING = 2.0**-36
"""Distances nearer than this share of themselves are equal, so that rounding errors cannot break a tie."""
INFINITE = 1e300
"""scikit-learn says the largest float where a distance overflows."""
GOOD_RECALL = 0.99
RECALL_ROWS = 256
"""Samples whose true neighbours are searched to estimate the recall."""


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
    """Euclidean distances between ``rows`` and their ``others``, without cancellation, rounded."""
    if issparse(points):
        run_chunks(
            _search_kernels.measure_sparse, len(rows), n_jobs,
            points.indptr, points.indices, points.data, rows, others, distances,
        )  # fmt: skip
    else:
        run_chunks(_search_kernels.measure, len(rows), n_jobs, points, rows, others, distances)
    round_distances(distances)


def all_pairs_seconds(n_samples: int, n_features: int) -> float:
    """CPU seconds of an exact search that compares all pairs, by what ``python -m benchmarks search`` measured."""
    return n_samples**2 * (3e-9 + 4e-11 * n_features)


def cell_seconds(n_samples: int, n_features: int, pairs: float) -> float:
    """CPU seconds of a search in cells where a sample is compared with so many others."""
    return n_samples * (1e-5 + pairs * (1.5e-9 + 3e-10 * n_features))


def approximate_seconds(n_samples: int, n_features: int) -> float:
    """CPU seconds of neighbour descent for some thirty neighbours."""
    return n_samples * (1e-4 + 5e-7 * n_features)


def approximation_pays(exact_seconds: float, n_samples: int, n_features: int) -> bool:
    """Whether neighbour descent is clearly faster than an exact search, ten seconds of compilation included."""
    return exact_seconds > 10 + 3 * approximate_seconds(n_samples, n_features)


def plan_exact_search(
    points: Any, k: int, metric: str, n_jobs: int | None
) -> tuple[float, Callable[[], tuple[Array, Array]]]:
    """CPU seconds that an exact search would take, and the search: in cells or by all pairs, whichever is faster."""
    n_samples, n_features = points.shape
    if issparse(points):
        n_features = points.nnz // n_samples + 1
    seconds = all_pairs_seconds(n_samples, n_features)
    if metric == "euclidean" and n_features <= CELL_FEATURES and not issparse(points):
        found = empty_neighbors(n_samples, k, points.dtype)
        cells = gather_cells(points, n_jobs=n_jobs)
        in_cells = cell_seconds(n_samples, n_features, sample_pairs(cells, found))
        if in_cells < seconds + 1:

            def search() -> tuple[Array, Array]:
                nearest_in_cells(cells, cells, found, n_jobs=n_jobs)
                return found

            return in_cells, search
    return seconds, lambda: certain_search(points, k, metric, n_jobs)


def certain_search(points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array]:
    """Indices and distances of the k nearest others, from a search that rounds or breaks ties in its own way.

    Ask it for a few candidates more than k; ask for twice as many where the k-th and the last
    candidate cannot be told apart, until ties and rounding leave no doubt about the k nearest.
    """
    n_samples = points.shape[0]
    query, noise = candidate_search(points, metric, n_jobs, tree=False)
    found = empty_neighbors(n_samples, k, points.dtype)
    rows = np.arange(n_samples)
    n_candidates = k + 2
    while len(rows):
        n_candidates = min(n_candidates, n_samples)
        settled = np.ones(len(rows), dtype=np.bool_)
        step = max(1, ROWS_AT_ONCE * (k + 2) // n_candidates)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            distances, candidates = query(some, n_candidates)
            reach = distances[:, -1].copy()
            if metric == "euclidean":
                reach = np.sqrt(np.maximum(reach**2 - noise, 0)) * (1 - 2 * ROUNDING)
            if n_candidates == n_samples:
                reach[:] = np.inf
                if metric == "euclidean":  # a search that rounds may name a sample twice
                    candidates = np.broadcast_to(np.arange(n_samples), distances.shape).copy()
            if metric == "euclidean":
                measure_pairs(points, some, candidates, distances, n_jobs)
            run_chunks(
                _search_kernels.keep_nearest, len(some), n_jobs,
                some, candidates, distances, reach, *found, settled[start : start + step],
            )  # fmt: skip
        rows = rows[~settled]
        n_candidates *= 2
    return found


def candidate_search(points: Any, metric: str, n_jobs: int | None, *, tree: bool = True) -> tuple[Query, float]:
    """A search that may round, and the largest error of the squared distances that it reports."""
    n_threads = effective_n_jobs(n_jobs)
    if tree and metric == "euclidean" and points.shape[1] <= TREE_FEATURES and not issparse(points):
        index = KDTree(points)
        return lambda rows, n_candidates: index.query(points[rows], k=n_candidates, workers=n_threads), 0.0
    algorithm = "brute" if metric == "euclidean" else "auto"
    with quiet_conversion():
        index = NearestNeighbors(algorithm=algorithm, metric=metric, n_jobs=n_jobs).fit(points)

    def query(rows: Array, n_candidates: int) -> tuple[Array, Array]:
        with threadpool_limits(limits=n_threads), np.errstate(all="ignore"), quiet_conversion():
            distances, candidates = index.kneighbors(points[rows], n_candidates)
        if metric != "euclidean" and not (distances < INFINITE).all():
            raise ValueError(
                f"metric={metric!r} gives infinite or missing distances between some of the samples. "
                "Scale the features, or use another metric."
            )
        return np.maximum(distances.astype(np.float64), 0.0), candidates

    if issparse(points):
        largest = float(points.multiply(points).sum(axis=1).max())
    else:
        largest = float(np.einsum("ij,ij->i", points, points, dtype=np.float64).max())
    return query, 64 * float(np.finfo(points.dtype).eps) * largest if metric == "euclidean" else 0.0


@contextmanager
def quiet_conversion() -> Iterator[None]:
    """Without scikit-learn's warning that a metric of truth values took numbers for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        yield


def nearest_between(points: Any, rows: Array, others: Array, metric: str) -> tuple[float, int, int]:
    """Shortest distance between two sets of rows, and the two rows it is between."""
    if metric == "precomputed":
        block = points[np.ix_(rows, others)]
        distances, found = block.min(axis=1), block.argmin(axis=1)
    elif metric == "euclidean" and points.shape[1] <= TREE_FEATURES and not issparse(points):
        distances, found = KDTree(points[others]).query(points[rows], k=1)
    else:
        with quiet_conversion():
            found, distances = pairwise_distances_argmin_min(points[rows], points[others], metric=metric)
    distances = np.array(distances, dtype=np.float64)
    round_distances(distances)
    best = int(distances.argmin())
    return float(distances[best]), int(rows[best]), int(others[found[best]])


def approximate_search(points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Indices and distances of k near others, and the estimated share of the k nearest among them.

    Seeded, so repeatable with as many threads and the same order of rows. A second search with more effort follows
    where the first finds less than 99 %.
    """
    descend = require("pynndescent", extra="fast", purpose="neighbors='approximate'").NNDescent
    recall = 0.0
    for effort in (1, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = descend(
                csr_matrix(points) if issparse(points) else points,
                metric=metric,
                n_neighbors=min(points.shape[0], effort * (k + 20)),
                max_candidates=effort * candidates_at_once(points.shape[0]),
                random_state=np.random.RandomState(0),
                n_jobs=effective_n_jobs(n_jobs),
            )
            candidates, distances = graph.neighbor_graph
        del graph  # holds a copy of the data
        found = _order_candidates(points, k, metric, n_jobs, candidates, distances)
        recall = estimate_recall(points, found[0], metric, n_jobs)
        if recall >= GOOD_RECALL:
            break
    else:
        warnings.warn(
            f"The approximate search found {recall:.1%} of the nearest neighbours. Use neighbors='exact' to find all.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return (*found, recall)


def candidates_at_once(n_samples: int) -> int:
    """Candidates that neighbour descent holds per sample: 60, down to 20 for a million, to bound its memory."""
    return int(np.clip(2e7 / n_samples, 20, 60))


def _order_candidates(
    points: Any, k: int, metric: str, n_jobs: int | None, candidates: Array, distances: Array
) -> tuple[Array, Array]:
    """The k nearest of the candidates of every row; rows with too few of them are searched exactly."""
    found = empty_neighbors(points.shape[0], k, points.dtype)
    missing = []
    for start in range(0, points.shape[0], ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, points.shape[0]))
        some, measured = candidates[rows].astype(np.int64), distances[rows].astype(np.float64)
        some[(some < 0).any(axis=1)] = 0
        if metric == "euclidean":
            measure_pairs(points, rows, some, measured, n_jobs)
        settled, reach = np.zeros(len(rows), np.bool_), np.full(len(rows), np.inf)
        run_chunks(_search_kernels.keep_nearest, len(rows), n_jobs, rows, some, measured, reach, *found, settled)
        missing.append(rows[~settled])
    left = np.concatenate(missing)
    if len(left):
        query, _ = candidate_search(points, metric, n_jobs, tree=False)
        measured, some = query(left, k + 1)
        settled, reach = np.zeros(len(left), np.bool_), np.full(len(left), np.inf)
        _search_kernels.keep_nearest(0, len(left), left, some.astype(np.int64), measured, reach, *found, settled)
    return found


def given_search(index: Any, points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Ask an object with scikit-learn's interface, and estimate its recall."""
    shape = (points.shape[0], k + 1)
    answer = clone(index, safe=False).fit(points).kneighbors(points, k + 1)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(
            f"neighbors.kneighbors(X, {k + 1}) must return a tuple (distances, indices), got {answer!r:.80}."
        )
    distances, candidates = (np.asarray(part) for part in answer)
    if candidates.dtype.kind not in "iu" or distances.dtype.kind not in "fiu":
        raise ValueError(
            f"neighbors.kneighbors must return distances as numbers and indices as integers, got {distances.dtype} and "
            f"{candidates.dtype}."
        )
    if candidates.shape != shape or distances.shape != shape or candidates.max() >= points.shape[0]:
        raise ValueError(
            f"neighbors.kneighbors(X, {k + 1}) must return distances and indices of shape "
            f"{shape}, got indices of shape {candidates.shape} up to {candidates.max(initial=-1)}, distances of shape "
            f"{distances.shape}."
        )
    if not (distances >= 0).all():
        raise ValueError("neighbors.kneighbors must return distances >= 0, got others or missing ones.")
    found = _order_candidates(points, k, metric, n_jobs, candidates, distances)
    return (*found, estimate_recall(points, found[0], metric, n_jobs))


def estimate_recall(points: Any, indices: Array, metric: str, n_jobs: int | None) -> float:
    """Share of the true nearest neighbours of a sample of rows that ``indices`` has."""
    rows = np.random.default_rng(0).choice(points.shape[0], min(RECALL_ROWS, points.shape[0]), replace=False)
    query, _ = candidate_search(points, metric, n_jobs, tree=False)
    _, true = query(rows, indices.shape[1] + 1)
    hits = sum(len(np.intersect1d(found, near)) for found, near in zip(indices[rows], true, strict=True))
    return float(hits / indices[rows].size)
