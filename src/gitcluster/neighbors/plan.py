"""Which search to take: exactly in cells, by lower bounds on the distances of all pairs, scikit-learn's, or descent.

How many pairs a search has to look at depends on the data, so each is tried on a sample first. What is expected are CPU
seconds, by the measurements of ``benchmarks``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster.kernels import limit_threads
from gitcluster.neighbors.bounded import SPLIT_AXES, bounded_search, sample_gaps
from gitcluster.neighbors.cells import gather_cells, nearest_in_cells, sample_pairs
from gitcluster.neighbors.descent import descend, descent_seconds
from gitcluster.neighbors.exact import certain_search, empty_neighbors, fits_cells
from gitcluster.neighbors.shadows import (
    AXES,
    LEADING,
    QUERIES,
    SAMPLE,
    Again,
    bound_seconds,
    count_axes,
    find_axes,
    sample_bounds,
)

Found = tuple[Array, Array]
WORTH = 1.0
"""Seconds below which no sample is taken to choose between searches."""
QUICK = 0.1
"""Seconds below which another search is not thought of."""


class Plan(NamedTuple):
    """An exact search, and the CPU seconds it is expected to take."""

    seconds: float
    search: Callable[[], Found]


def all_pairs_seconds(n_samples: int, n_features: int) -> float:
    """CPU seconds of scikit-learn's search, which compares all pairs."""
    return n_samples**2 * (3e-9 + 4e-11 * n_features)


def cell_seconds(n_samples: int, n_features: int, pairs: float) -> float:
    """CPU seconds of a search in cells where every sample is compared with ``pairs`` others."""
    return n_samples * (3e-6 + pairs * (5e-10 + 1e-10 * n_features))


def bounded_seconds(
    n_samples: int, n_features: int, k: int, *, n_leading: int, share: float, compared: float = 1.0
) -> float:
    """CPU seconds of a search by lower bounds: pairs, each once, turning the samples, measuring what was found."""
    turning = 1.5e-10 * n_features * min(n_features, 3 * n_leading)
    measuring = k * (1e-6 + 2.5e-9 * n_features)
    return n_samples * (n_samples / 2 * bound_seconds(n_leading, share, compared) + turning + measuring)


def can_descend(points: Any, k: int, metric: str) -> bool:
    """Whether neighbour descent knows the metric and the kind of samples."""
    return metric in ("euclidean", "cosine") and not issparse(points) and k + 1 < points.shape[0]


def descent_pays(exact_seconds: float, shape: tuple[int, int], k: int) -> bool:
    """Whether neighbour descent is so much faster than an exact search that some neighbours may be missed for it."""
    return exact_seconds > 10 + 3 * descent_seconds(*shape, k)


def approximate_search(
    points: Array, k: int, metric: str, n_jobs: int | None, *, least: float = 0.0, again: Again | None = None
) -> tuple[Array, Array, float]:
    """Indices and distances of k near others, and the estimated share of the k nearest among them; see ``descend``."""
    if metric == "cosine":
        *found, recall = descend(find_directions(points), k, n_jobs, least=least)
        return (*as_cosine((found[0], found[1])), recall)
    return descend(points, k, n_jobs, least=least, again=again)


def plan_exact_search(points: Any, k: int, metric: str, n_jobs: int | None, again: Again | None = None) -> Plan:
    """The exact search that is expected to be the fastest; ``again`` is for :func:`bounded_search`."""
    if metric == "cosine" and not issparse(points):
        plan = plan_exact_search(find_directions(points), k, "euclidean", n_jobs)
        return plan._replace(search=lambda: as_cosine(plan.search()))
    n_samples, n_features = points.shape
    if issparse(points):
        n_features = points.nnz // n_samples + 1
    plan = Plan(all_pairs_seconds(n_samples, n_features), lambda: certain_search(points, k, metric, n_jobs))
    if fits_cells(points, metric):
        in_cells = plan_cells(points, k, n_jobs)
        plan = in_cells if in_cells.seconds < plan.seconds + WORTH else plan
    if metric != "euclidean" or issparse(points):
        return plan
    if plan.seconds > WORTH:
        at_best = bounded_seconds(n_samples, n_features, k, n_leading=min(LEADING[0], n_features), share=0.0)
        bounded = plan_bounds(points, k, n_jobs, again) if at_best < plan.seconds else plan
        return bounded if bounded.seconds < plan.seconds else plan
    if plan.seconds > QUICK and not fits_cells(points, metric):
        return plan_blocks(points, k, n_jobs)
    return plan


def plan_cells(points: Array, k: int, n_jobs: int | None) -> Plan:
    """The search in cells; a few of them tell how long it takes."""
    n_samples, n_features = points.shape
    found = empty_neighbors(n_samples, k, points.dtype)
    cells = gather_cells(points, n_jobs=n_jobs)

    def search() -> Found:
        nearest_in_cells(cells, cells, found, n_jobs=n_jobs)
        return found

    return Plan(cell_seconds(n_samples, n_features, sample_pairs(cells, found)), search)


def plan_bounds(points: Array, k: int, n_jobs: int | None, again: Again | None = None) -> Plan:
    """The search by lower bounds, with as many coordinates as a sample of pairs says."""
    n_samples, n_features = points.shape
    rows = np.random.default_rng(0).choice(n_samples, min(2 * SAMPLE, n_samples), replace=False)
    with limit_threads(1):
        sample = points[rows].astype(np.float64)
        axes = find_axes(sample[:SAMPLE], min(AXES, n_features))
        rank = min(len(sample) - 1, int(np.ceil(k * len(sample) / n_samples)))
        shares, compared = sample_bounds(sample, axes, rank), sample_gaps(sample, axes, rank)
    n_leading = min(shares, key=lambda m: bound_seconds(m, shares[m], compared))
    share = shares[n_leading]
    seconds = bounded_seconds(n_samples, n_features, k, n_leading=n_leading, share=share, compared=compared)
    directions = axes.directions[:, : count_axes(n_leading, axes.directions.shape[1])]
    axes = axes._replace(directions=np.ascontiguousarray(directions))
    search = partial(bounded_search, points, k, axes=axes, n_leading=n_leading, n_jobs=n_jobs, again=again)
    return Plan(seconds, search)


def plan_blocks(points: Array, k: int, n_jobs: int | None) -> Plan:
    """The same with all features of all pairs, in single precision: few samples are not worth turning."""
    n_samples, n_features = points.shape
    with limit_threads(1):
        axes = find_axes(points[:: 1 + n_samples // QUERIES], min(SPLIT_AXES, n_features))
    seconds = bounded_seconds(n_samples, n_features, k, n_leading=n_features, share=min(1.0, 4 * k / n_samples))
    return Plan(seconds, partial(bounded_search, points, k, axes=axes, n_leading=n_features, n_jobs=n_jobs))


def find_directions(points: Array) -> Array:
    """Rows of length 1, whose Euclidean distance d is d^2 / 2 as a cosine distance; a row of zeros gets a feature of
    its own, so that it is 1 away from all others.

    Examples
    --------
    >>> find_directions(np.array([[0.0, 2.0], [3.0, 4.0]]))
    array([[0. , 1. ],
           [0.6, 0.8]])
    """
    largest = np.abs(points).max(axis=1, keepdims=True)
    zero = largest == 0
    rows = points / np.where(zero, 1, largest)
    rows /= np.where(zero, 1, np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None])
    return np.column_stack([rows, zero.astype(points.dtype)]) if zero.any() else rows


def as_cosine(found: Found) -> Found:
    """Cosine distances from those between directions; those that rounding cannot tell from 0 are 0."""
    indices, distances = found
    distances[distances <= 8 * np.finfo(distances.dtype).eps] = 0
    tied = np.flatnonzero(distances[:, :2].sum(axis=1) == 0)
    order = np.lexsort((indices[tied], distances[tied]), axis=1)
    indices[tied] = np.take_along_axis(indices[tied], order, axis=1)
    np.square(distances, out=distances)
    distances /= 2
    return found
