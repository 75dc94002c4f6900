"""Approximate search by neighbour descent, or by any object with scikit-learn's interface, and its recall."""

import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gitcluster._jit import run_chunks, search
from gitcluster._support.arrays import Array
from gitcluster._support.optional import require
from gitcluster.neighbors.exact import ROWS_AT_ONCE, Candidates, empty_neighbors

GOOD_RECALL = 0.99
RECALL_ROWS = 256
"""Samples whose true neighbours are searched to estimate the recall."""


def approximate_seconds(n_samples: int, n_features: int) -> float:
    """CPU seconds of neighbour descent for some thirty neighbours."""
    return n_samples * (1e-4 + 5e-7 * n_features)


def approximation_pays(exact_seconds: float, n_samples: int, n_features: int) -> bool:
    """Whether neighbour descent is clearly faster than an exact search, ten seconds of compilation included."""
    return exact_seconds > 10 + 3 * approximate_seconds(n_samples, n_features)


def approximate_search(points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Indices and distances of k near others, and the estimated share of the k nearest among them.

    Seeded, so repeatable with as many threads and the same order of rows. A second search with more effort follows
    where the first finds less than 99 %.
    """
    descend = require("pynndescent", extra="fast", purpose="search='approximate'").NNDescent
    exact, recall = Candidates(points, metric, n_jobs), 0.0
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
        found = _order_candidates(exact, k, candidates, distances)
        recall = estimate_recall(exact, found[0])
        if recall >= GOOD_RECALL:
            break
    else:
        warnings.warn(
            f"The approximate search found {recall:.1%} of the nearest neighbours. Use search='exact' to find all.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return (*found, recall)


def candidates_at_once(n_samples: int) -> int:
    """Candidates that neighbour descent holds per sample: 60, down to 20 for a million, to bound its memory."""
    return int(np.clip(2e7 / n_samples, 20, 60))


def _order_candidates(exact: Candidates, k: int, candidates: Array, distances: Array) -> tuple[Array, Array]:
    """The k nearest of the candidates of every row; rows with too few of them are searched exactly."""
    n_samples = exact.points.shape[0]
    found = empty_neighbors(n_samples, k, exact.points.dtype)
    missing = []
    for start in range(0, n_samples, ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, n_samples))
        some, measured = candidates[rows].astype(np.int64), distances[rows].astype(np.float64)
        some[(some < 0).any(axis=1)] = 0
        exact.measure(rows, some, measured)
        settled, reach = np.zeros(len(rows), np.bool_), np.full(len(rows), np.inf)
        run_chunks(search.keep_nearest, len(rows), exact.n_jobs, rows, some, measured, reach, *found, settled)
        missing.append(rows[~settled])
    left = np.concatenate(missing)
    if len(left):
        measured, some = exact.query(left, k + 1)
        settled, reach = np.zeros(len(left), np.bool_), np.full(len(left), np.inf)
        search.keep_nearest(0, len(left), left, some.astype(np.int64), measured, reach, *found, settled)
    return found


def given_search(index: Any, points: Any, k: int, metric: str, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Ask an object with scikit-learn's interface, and estimate its recall."""
    shape = (points.shape[0], k + 1)
    answer = clone(index, safe=False).fit(points).kneighbors(points, k + 1)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"search.kneighbors(X, {k + 1}) must return a tuple (distances, indices), got {answer!r:.80}.")
    distances, candidates = (np.asarray(part) for part in answer)
    if candidates.dtype.kind not in "iu" or distances.dtype.kind not in "fiu":
        raise ValueError(
            f"search.kneighbors must return distances as numbers and indices as integers, got {distances.dtype} and "
            f"{candidates.dtype}."
        )
    if candidates.shape != shape or distances.shape != shape or candidates.max() >= points.shape[0]:
        raise ValueError(
            f"search.kneighbors(X, {k + 1}) must return distances and indices of shape "
            f"{shape}, got indices of shape {candidates.shape} up to {candidates.max(initial=-1)}, distances of shape "
            f"{distances.shape}."
        )
    if not (distances >= 0).all():
        raise ValueError("search.kneighbors must return distances >= 0, got others or missing ones.")
    exact = Candidates(points, metric, n_jobs)
    found = _order_candidates(exact, k, candidates, distances)
    return (*found, estimate_recall(exact, found[0]))


def estimate_recall(exact: Candidates, indices: Array) -> float:
    """Share of the true nearest neighbours of a sample of rows that ``indices`` has."""
    n_samples = exact.points.shape[0]
    rows = np.random.default_rng(0).choice(n_samples, min(RECALL_ROWS, n_samples), replace=False)
    _, true = exact.query(rows, indices.shape[1] + 1)
    hits = sum(len(np.intersect1d(found, near)) for found, near in zip(indices[rows], true, strict=True))
    return float(hits / indices[rows].size)
