"""Predict new samples: intensity, label, outlier score and support.

A new sample climbs like a fitted one: to the steepest of its fitted neighbours of higher intensity, or to the nearest
if none is higher. It gets the local cluster and the cluster of that one. A fitted sample keeps its results.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.fitted.clustering import Clustering, TrainingSamples
from gitcluster.fitted.outliers import score_outliers
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks
from gitcluster.neighbors import Neighbors
from gitcluster.preprocessing.sources import Points
from gitcluster.variants import KERNELS

ROWS_AT_ONCE = 1 << 16


class SamplePrediction(NamedTuple):
    """Results of every sample of a query."""

    labels: Array
    clusters: Array
    """Like the labels, but with the cluster of noise as well."""
    local_labels: Array
    log_intensity: NDArray[np.float64]
    outlier_scores: NDArray[np.float32]
    parents: Array
    """The next fitted sample uphill."""
    support: NDArray[np.float64]
    """From 0 to 1: 1 for fitted samples and those among them, less far away from all of them."""


def predict_fitted(clustering: Clustering, rows: Any = slice(None)) -> SamplePrediction:
    """Return the results of fitted samples, or of some of them."""
    local = clustering.local_labels[rows]
    return SamplePrediction(
        clustering.labels[rows], clustering.edge_cut.labels[local], local, clustering.log_intensity[rows],
        clustering.outlier_scores[rows], clustering.parents[rows], np.ones(len(local)),
    )  # fmt: skip


def predict_training(training: TrainingSamples, members: Array | None) -> SamplePrediction:
    """Return the results of members of the training samples; None for all."""
    rows: Any = slice(None) if members is None else np.maximum(members, 0)
    local = training.local_labels[rows]
    return SamplePrediction(
        training.labels[rows], training.clusters[local], local, training.log_intensity[rows],
        training.outlier_scores[rows], training.parents[rows], np.ones(len(local)),
    )  # fmt: skip


def predict_samples(training: TrainingSamples, samples: Any, *, n_jobs: int | None = None) -> SamplePrediction:
    """Return labels, intensities and outlier scores of samples, as ``training.source.check_new`` returns them.

    Fitted samples keep their results.
    """
    match = training.match(samples)
    prediction, rows = predict_training(training, match), np.flatnonzero(match < 0)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        new = _predict_new(training, samples[some], n_jobs)
        for column, values in zip(tuple[Any, ...](prediction), tuple[Any, ...](new), strict=True):
            column[some] = values
    return prediction


def _predict_new(training: TrainingSamples, samples: Any, n_jobs: int | None) -> SamplePrediction:
    variant, source = training.variant, training.source
    reach = variant.reach(training.n_neighbors, source.n_samples)
    near = source.nearest(samples, max(reach.intensity, reach.climb), n_jobs=n_jobs)
    n_new, n_searched = near.indices.shape
    log_intensity = _measure_intensity(training, near)
    parent = np.empty(n_new, near.indices.dtype)
    run_chunks(
        kernels.steepest_fitted, n_new, n_jobs,
        near.indices, near.distances, min(reach.climb, n_searched), training.log_intensity, log_intensity, parent,
    )  # fmt: skip
    if variant.strict and isinstance(source, Points):  # duplicates may have different labels
        parent = training.match(source.values[parent])
    local = training.local_labels[parent]
    clusters = training.clusters[local]
    _, scores = score_outliers(near, training.n_neighbors, training.widths, n_jobs=n_jobs)
    isolated = ~np.isfinite(near.distances[:, 0]) & (not source.symmetric)  # a row of a graph without a neighbour
    labels = np.where((scores > training.noise_above) | isolated, -1, clusters)
    support = _measure_support(training, near, scores)
    return SamplePrediction(labels, clusters, local, log_intensity, scores.astype(np.float32), parent, support)


def _measure_support(training: TrainingSamples, near: Neighbors, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how well the fitted samples support the results of new ones, from 0 to 1.

    A new sample is like the fitted ones if it is no farther from its nearest fitted sample than neighbours are there
    (or, among duplicates, than neighbours are on average), or if its outlier score is not far out among theirs. Beyond
    both, its support is the larger of two ratios: that distance between neighbours to its own distance, and the ratio r
    of a score that is far out to its own r. Each is 1 at its border and falls with the distance.
    """
    nearest, distances = near.indices[:, 0], near.distances[:, 0].astype(np.float64)
    usual = np.maximum(training.widths[nearest].astype(np.float64), training.mean_width)
    units = training.units[training.local_labels[nearest]] ** (1 / KERNELS[training.variant.kernel].power)
    usual = np.where(usual > 0, usual, units)  # all fitted samples are duplicates: the unit of the intensity
    near_ratio = np.divide(usual, distances, out=np.ones(len(usual)), where=distances > usual)
    score_ratio = (1 - scores) / max(1 - training.far_out, 1e-300)  # a score is 1 - 1 / r
    return np.minimum(1.0, np.maximum(near_ratio, score_ratio))


def _measure_intensity(training: TrainingSamples, near: Neighbors) -> NDArray[np.float64]:
    """Return the log intensity of new samples from their fitted neighbours, in the unit of the nearest of them."""
    nearest = near.indices[:, 0]
    unit = training.units[training.local_labels[nearest]]
    loss = near.distances.astype(np.float64) ** KERNELS[training.variant.kernel].power / unit[:, None]
    weights = np.ones(near.indices.shape) if training.weights is None else training.weights[near.indices]
    before = np.cumsum(weights, axis=1) - weights
    weights = np.clip(training.n_neighbors - before, 0, weights)  # a neighbourhood of that weight
    log_intensity = np.full(len(nearest), kernels.NO_INTENSITY)
    known = np.isfinite(loss[:, 0]) & (weights.sum(axis=1) > 0)
    # The logarithm of a sum of exponentials, relative to the largest of them: that of the nearest neighbour.
    total = (weights[known] * np.exp(loss[known][:, :1] - loss[known])).sum(axis=1)
    log_intensity[known] = np.log(total / weights[known].sum(axis=1)) - loss[known, 0]
    return log_intensity
