"""Which exact search is the fastest: in cells, by lower bounds on the distances of all pairs, or scikit-learn's.

How many pairs a search has to look at depends on the data, so each is tried on a sample first. What is expected are CPU
seconds, by the measurements of ``benchmarks``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from gitcluster._support.arrays import Array
from gitcluster.neighbors.bounded import AXES, SAMPLE, Axes, bounded_search, find_axes
from gitcluster.neighbors.cells import gather_cells, nearest_in_cells, sample_pairs
from gitcluster.neighbors.exact import certain_search, empty_neighbors, fits_cells

Found = tuple[Array, Array]
LEADING = (16, 32, 64, 96, 128, 192, 256)
"""Numbers of coordinates that all pairs may be compared in."""
QUERIES = 64
"""Samples whose bounds are tried."""
WORTH = 1.0
"""Seconds below which another search is not looked for."""


class Plan(NamedTuple):
    """An exact search, and the CPU seconds it is expected to take."""

    seconds: float
    search: Callable[[], Found]


def all_pairs_seconds(n_samples: int, n_features: int) -> float:
    """CPU seconds of scikit-learn's search, which compares all pairs."""
    return n_samples**2 * (3e-9 + 4e-11 * n_features)


def cell_seconds(n_samples: int, n_features: int, pairs: float) -> float:
    """CPU seconds of a search in cells where every sample is compared with ``pairs`` others."""
    return n_samples * (1e-5 + pairs * (1.5e-9 + 3e-10 * n_features))


def bound_seconds(n_leading: int, share: float) -> float:
    """CPU seconds for a pair whose bound takes so many coordinates and is low enough for a share of all pairs."""
    return 3.1e-11 * (n_leading + 1) + 3e-10 + 1.8e-7 * share


def bounded_seconds(n_samples: int, n_features: int, k: int, *, n_leading: int, share: float) -> float:
    """CPU seconds of a search by lower bounds: all pairs, each once, turning the samples, measuring what was found."""
    turning = 1.5e-10 * n_features * min(n_features, 3 * n_leading)
    measuring = k * (1e-6 + 2.5e-9 * n_features)
    return n_samples * (n_samples / 2 * bound_seconds(n_leading, share) + turning + measuring)


def plan_exact_search(points: Any, k: int, metric: str, n_jobs: int | None) -> Plan:
    """The exact search that is expected to be the fastest."""
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
    if metric == "euclidean" and not issparse(points) and plan.seconds > WORTH:
        bounded = plan_bounds(points, k, n_jobs)
        plan = bounded if bounded.seconds < plan.seconds else plan
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


def plan_bounds(points: Array, k: int, n_jobs: int | None) -> Plan:
    """The search by lower bounds, with as many coordinates as a sample of pairs says."""
    n_samples, n_features = points.shape
    rows = np.random.default_rng(0).choice(n_samples, min(2 * SAMPLE, n_samples), replace=False)
    with threadpool_limits(limits=1):
        sample = points[rows].astype(np.float64)
        axes = find_axes(sample[:SAMPLE], min(AXES, n_features))
        rank = min(len(sample) - 1, int(np.ceil(k * len(sample) / n_samples)))
        shares = sample_bounds(sample, axes, rank)
    n_leading = min(shares, key=lambda m: bound_seconds(m, shares[m]))
    seconds = bounded_seconds(n_samples, n_features, k, n_leading=n_leading, share=shares[n_leading])
    directions = axes.directions[:, : count_axes(n_leading, axes.directions.shape[1])]
    axes = axes._replace(directions=np.ascontiguousarray(directions))
    return Plan(seconds, partial(bounded_search, points, k, axes=axes, n_leading=n_leading, n_jobs=n_jobs))


def count_axes(n_leading: int, n_axes: int) -> int:
    """Axes to use if bounds take ``n_leading`` of them: three times as many, or no more if that is not many more.

    Examples
    --------
    >>> count_axes(128, 384), count_axes(96, 100)
    (384, 96)
    """
    wanted = min(3 * n_leading, n_axes)
    return wanted if wanted >= 1.5 * n_leading else n_leading


def sample_bounds(sample: NDArray[np.float64], axes: Axes, rank: int) -> dict[int, float]:
    """Share of the pairs of a sample whose lower bound is below the distance of the ``rank``-th neighbour, by the
    number of coordinates that the bound takes."""
    sample = sample - axes.centre
    sample /= np.abs(sample).max() or 1.0
    queries = sample[:QUERIES]
    turned = sample @ axes.directions
    squares = (sample**2).sum(axis=1)
    lengths = squares[: len(queries), None] + squares
    distances = lengths - 2 * queries @ sample.T
    reach = np.partition(distances, rank, axis=1)[:, rank, None]
    n_axes = turned.shape[1]
    shares = {}
    for m in sorted({m for m in LEADING if m < n_axes} | {min(n_axes, LEADING[-1])}):
        left = np.sqrt(np.maximum(squares - (turned[:, :m] ** 2).sum(axis=1), 0))
        bounds = lengths - 2 * (turned[: len(queries), :m] @ turned[:, :m].T + np.outer(left[: len(queries)], left))
        shares[m] = float((bounds <= reach + 1e-6 * lengths).mean())
    return shares


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
