"""How far out a sample is, and from where on it is noise.

Outlier score: 1 - 1 / r where the sample's neighbourhood is r > 1 times as wide as those of its neighbours, else 0. It
compares with the place around the sample, so it means the same in dense and in thin clusters.
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
"""Scores nearer than this are equal, so that rounding errors cannot make one of several equally far samples noise."""


def check_noise(noise: Any) -> None:
    """Raise where ``noise`` is neither None, "auto" nor a share."""
    if noise is None or (isinstance(noise, str) and noise == "auto"):
        return
    if isinstance(noise, (str, bool)) or not isinstance(noise, Real) or not 0 <= float(noise) < 1:
        raise ValueError(f"noise must be None, 'auto' or a share of the samples from 0 to below 1, got {noise!r}.")


def score_outliers(
    near: Neighbors, k: int, widths: Array | None = None, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean distance to the k nearest and outlier score of every sample; ``widths`` are those of fitted samples."""
    n_samples, k = len(near.indices), min(k, near.indices.shape[1])
    own = measure_widths(near, k, n_jobs=n_jobs)
    widths, around = own if widths is None else widths.astype(np.float64), np.empty(n_samples)
    run_chunks(kernels.mean_around, n_samples, n_jobs, *near[:2], k, widths, around)
    share = np.where(own == 0, 1.0, 0.0)
    np.divide(around, own, out=share, where=(own > 0) & (around < np.inf))
    return own, np.rint((1 - np.minimum(share, 1)) / ROUNDING) * ROUNDING


def measure_widths(near: Neighbors, k: int, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Mean distance of every sample to its k nearest."""
    totals, counts = np.empty(len(near.distances)), np.empty(len(near.distances), np.int64)
    run_chunks(kernels.sum_finite, len(totals), n_jobs, near.distances, k, 1, totals, counts)
    return np.asarray(np.divide(totals, counts, out=np.full(len(totals), np.inf), where=counts > 0))


def noise_threshold(scores: NDArray[np.float64], noise: float | str) -> float:
    """The outlier score above which samples are noise: a share of the samples, or what lies far out.

    "auto" is Tukey's rule for log r: three times the interquartile range above the upper quartile.
    """
    if isinstance(noise, str):
        ratio = log_ratios(scores)
        low, high = np.quantile(ratio, [0.25, 0.75]) if len(ratio) else (0.0, 0.0)
        return far_out(low, high)
    return float(np.sort(scores)[::-1][count_noise(noise, len(scores))])


def count_noise(noise: float, n_samples: int) -> int:
    """Samples that a share is at least, whatever the rounding of the share."""
    return min(int(np.floor(noise * n_samples * (1 + 1e-12))), n_samples - 1)


def log_ratios(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """log r of outlier scores, where it is finite."""
    with np.errstate(divide="ignore"):
        ratio = -np.log1p(-scores)
    return np.asarray(ratio[np.isfinite(ratio)])


def far_out(low: float, high: float) -> float:
    """The outlier score that is far out where the quartiles of log r are these."""
    return float(-np.expm1(-(high + 3 * (high - low))))


def mark_noise(clusters: Array, log_intensity: Array, scores: Array, *, above: float, highest: Array) -> Array:
    """Labels with -1 for samples of higher scores; the highest sample of a cluster stays, so that none is all noise."""
    return np.where((scores > above) & (log_intensity < highest[clusters]), -1, clusters)


def highest_in(clusters: Array, log_intensity: Array, n_clusters: int) -> NDArray[np.float64]:
    """Highest log intensity in every cluster."""
    highest = np.full(n_clusters, -np.inf)
    np.maximum.at(highest, clusters, log_intensity)
    return highest
