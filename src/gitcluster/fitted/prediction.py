"""What a fitted model says of a sample, new or fitted: intensity, label, and how far out it is.

A new sample climbs like a fitted one: to the steepest of its fitted neighbours of higher intensity (to the nearest
where none is higher), and has the local cluster and the cluster of that one. A fitted sample keeps what it has.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.fitted.clustering import Clustering, Reference
from gitcluster.fitted.outliers import score_outliers
from gitcluster.inputs import Points
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks
from gitcluster.neighbors import Neighbors
from gitcluster.recipes import KERNELS

ROWS_AT_ONCE = 1 << 16


class Described(NamedTuple):
    """What is known of every sample of a query."""

    labels: Array
    clusters: Array
    """Like the labels, but with the cluster of noise as well."""
    local_labels: Array
    log_intensity: NDArray[np.float64]
    outlier_scores: NDArray[np.float32]
    parents: Array
    """The next fitted sample uphill."""
    support: NDArray[np.float64]
    """From 0 to 1: how far fitted samples support all this; 1 for fitted ones and those among them."""


def describe_fitted(found: Clustering, rows: Any = slice(None)) -> Described:
    """What the fit found of its samples, or of some of them."""
    local = found.local_labels[rows]
    return Described(
        found.labels[rows], found.edge_cut.labels[local], local, found.log_intensity[rows], found.outlier_scores[rows],
        found.parents[rows], np.ones(len(local)),
    )  # fmt: skip


def describe_samples(reference: Reference, samples: Any, *, n_jobs: int | None = None) -> Described:
    """Labels, intensities and outlier scores of samples; those that were fitted have what the fit gave them.

    ``samples`` are as ``reference.source.check_new`` returns them.
    """
    match = reference.match(samples)
    rows, found = np.flatnonzero(match < 0), np.maximum(match, 0)
    local = reference.local_labels[found]
    described = Described(
        reference.labels[found], reference.clusters[local], local, reference.log_intensity[found],
        reference.outlier_scores[found], reference.parents[found], np.ones(len(found)),
    )  # fmt: skip
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        new: tuple[Any, ...] = _describe_new(reference, samples[some], n_jobs)
        for column, values in zip(tuple[Any, ...](described), new, strict=True):
            column[some] = values
    return described


def _describe_new(reference: Reference, samples: Any, n_jobs: int | None) -> Described:
    recipe, source = reference.recipe, reference.source
    reach = recipe.reach(reference.n_neighbors, source.n_samples)
    near = source.nearest(samples, max(reach.intensity, reach.climb), n_jobs=n_jobs)
    n_new, n_found = near.indices.shape
    log_intensity = _measure_intensity(reference, near)
    parent = np.empty(n_new, near.indices.dtype)
    run_chunks(
        kernels.steepest_fitted, n_new, n_jobs,
        near.indices, near.distances, min(reach.climb, n_found), reference.log_intensity, log_intensity, parent,
    )  # fmt: skip
    if recipe.strict and isinstance(source, Points):  # it tears duplicates apart
        parent = reference.match(source.values[parent])
    local = reference.local_labels[parent]
    clusters = reference.clusters[local]
    _, scores = score_outliers(near, reference.n_neighbors, reference.widths, n_jobs=n_jobs)
    alone = ~np.isfinite(near.distances[:, 0]) & (not source.symmetric)  # a row of a graph without a neighbour
    labels = np.where((scores > reference.noise_above) | alone, -1, clusters)
    support = _measure_support(reference, near, scores)
    return Described(labels, clusters, local, log_intensity, scores.astype(np.float32), parent, support)


def _measure_support(reference: Reference, near: Neighbors, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far the fitted samples support what is said of new ones, from 0 to 1.

    A new sample is like the fitted ones if it is no farther from its nearest fitted sample than neighbours are there
    (or, among duplicates, than neighbours are on average), or if its outlier score is not far out among theirs. Beyond
    both, its support is the larger of two ratios: that distance between neighbours to its own distance, and the ratio r
    of a score that is far out to its own r. Each is 1 at its border and falls with the distance.
    """
    nearest, distances = near.indices[:, 0], near.distances[:, 0].astype(np.float64)
    usual = np.maximum(reference.widths[nearest].astype(np.float64), reference.mean_width)
    units = reference.units[reference.local_labels[nearest]] ** (1 / KERNELS[reference.recipe.kernel].power)
    usual = np.where(usual > 0, usual, units)  # all fitted samples are duplicates: the unit of the intensity
    beside = np.divide(usual, distances, out=np.ones(len(usual)), where=distances > usual)
    among = (1 - scores) / max(1 - reference.far_out, 1e-300)  # a score is 1 - 1 / r
    return np.minimum(1.0, np.maximum(beside, among))


def _measure_intensity(reference: Reference, near: Neighbors) -> NDArray[np.float64]:
    """Log intensity of new samples from their fitted neighbours, in the unit of the nearest of them."""
    nearest = near.indices[:, 0]
    unit = reference.units[reference.local_labels[nearest]]
    loss = near.distances.astype(np.float64) ** KERNELS[reference.recipe.kernel].power / unit[:, None]
    weights = np.ones(near.indices.shape) if reference.weights is None else reference.weights[near.indices]
    before = np.cumsum(weights, axis=1) - weights
    weights = np.clip(reference.n_neighbors - before, 0, weights)  # a neighbourhood of that weight
    log_intensity = np.full(len(nearest), kernels.NO_INTENSITY)
    there = np.isfinite(loss[:, 0]) & (weights.sum(axis=1) > 0)
    total = (weights[there] * np.exp(loss[there][:, :1] - loss[there])).sum(axis=1)
    log_intensity[there] = np.log(total / weights[there].sum(axis=1)) - loss[there, 0]
    return log_intensity
