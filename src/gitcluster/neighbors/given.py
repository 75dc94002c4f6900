"""A search by any object with scikit-learn's interface, and its recall."""

from typing import Any

import numpy as np
from sklearn.base import clone

from gitcluster._support.arrays import Array
from gitcluster.kernels import run_chunks, search
from gitcluster.neighbors.exact import ROWS_AT_ONCE, Candidates, empty_neighbors
from gitcluster.neighbors.recall import Truth, sample_rows


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
    truth = Truth(exact, sample_rows(points.shape[0]), k)
    return (*found, truth.share(*(part[truth.rows] for part in found)))
