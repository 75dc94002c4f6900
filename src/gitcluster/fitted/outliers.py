"""Outlier scores, and the threshold above which a sample is noise.

The outlier score is 1 - 1 / r if the neighbourhood of a sample is r > 1 times as wide as those of its neighbours,
and 0 otherwise. The comparison is local, so scores are comparable in dense and sparse clusters.
"""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks
from gitcluster.neighbors import Neighbors

ROUNDING = 2.0**-36
"""Scores are multiples of this, so that rounding errors cannot make one of several equal samples noise."""


def check_noise(noise: Any) -> None:
    """Raise a ValueError if ``noise`` is neither None, "auto" nor a share."""
    if noise is None or (isinstance(noise, str) and noise == "auto"):
        return
    if isinstance(noise, (str, bool)) or not isinstance(noise, Real) or not 0 <= float(noise) < 1:
        raise ValueError(f"noise must be None, 'auto' or a share of the samples from 0 to below 1, got {noise!r}.")


def score_outliers(
    near: Neighbors, k: int, widths: Array | None = None, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean distance to the k nearest and the outlier score of every sample.

    ``widths`` are the mean distances of the fitted samples, which new samples are compared with.
    """
    n_samples, k = len(near.indices), min(k, near.indices.shape[1])
    totals, counts = np.empty(n_samples), np.empty(n_samples, np.int64)
    run_chunks(kernels.sum_finite, n_samples, n_jobs, near.distances, k, 1, totals, counts)
    own = np.divide(totals, counts, out=np.full(n_samples, np.inf), where=counts > 0)  # infinite without neighbours
    widths, around = own if widths is None else widths.astype(np.float64), np.empty(n_samples)
    run_chunks(kernels.mean_around, n_samples, n_jobs, *near[:2], k, widths, around)
    share = np.where(own == 0, 1.0, 0.0)
    np.divide(around, own, out=share, where=(own > 0) & (around < np.inf))
    return own, np.rint((1 - np.minimum(share, 1)) / ROUNDING) * ROUNDING


def noise_threshold(scores: NDArray[np.float64], noise: float | str) -> float:
    """Return the outlier score above which samples are noise.

    A share makes that share of the samples noise. "auto" is Tukey's rule for log r: noise is more than three
    interquartile ranges above the upper quartile.
    """
    if isinstance(noise, str):
        with np.errstate(divide="ignore"):
            log_ratios = -np.log1p(-scores)
        log_ratios = log_ratios[np.isfinite(log_ratios)]
        low, high = np.quantile(log_ratios, [0.25, 0.75]) if len(log_ratios) else (0.0, 0.0)
        return float(-np.expm1(-(high + 3 * (high - low))))
    n_noise = int(np.floor(noise * len(scores) * (1 + 1e-12)))  # 0.29 of 100 is 29, despite rounding
    return float(np.sort(scores)[::-1][min(n_noise, len(scores) - 1)])


def mark_noise(clusters: Array, log_intensity: Array, scores: Array, *, above: float, highest: Array) -> Array:
    """Return labels with -1 for samples above the threshold; the highest peak of a cluster is never noise."""
    return np.where((scores > above) & (log_intensity < highest[clusters]), -1, clusters)


def highest_in(clusters: Array, log_intensity: Array, n_clusters: int) -> NDArray[np.float64]:
    """Return the highest log intensity in every cluster."""
    highest = np.full(n_clusters, -np.inf)
    np.maximum.at(highest, clusters, log_intensity)
    return highest
