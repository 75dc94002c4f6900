"""Density peaks advanced (DPA): d'Errico, Facco, Laio & Rodriguez, "Automatic topography of high-dimensional data sets
by non-parametric density peak clustering", Information Sciences 2021.

Four steps, each one function: the intrinsic dimension from two neighbours (TwoNN), the log density from as many
neighbours as look equally dense (PAk), peaks and saddles of g = log density - error, and the merging of peaks that
stand out of their saddle by fewer than Z standard errors. Samples below the highest saddle of their cluster are its
halo.
"""

from __future__ import annotations

from math import cosh, exp, inf, lgamma, log, pi
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from benchmarks.methods.pair_distances import nearest_denser
from gitcluster.kernels import kernel

MAX_NEIGHBORS = 1000
SMALL_SET_SHARE = 0.4
"""Share of the samples that are neighbours at most, in sets of no more than MAX_NEIGHBORS."""

THRESHOLD = 23.92812698
"""Likelihood ratio that equal densities exceed once in a million: chi-squared, one degree of freedom."""

MIN_NEIGHBORS = 3


class Density(NamedTuple):
    """Log density of every sample, its standard error, and the number of neighbours it was taken from."""

    log_density: NDArray[np.float64]
    error: NDArray[np.float64]
    n_neighbors: NDArray[np.int64]


class DensityPeakAdvanced(ClusterMixin, BaseEstimator):
    """Density peaks with an error bar: clusters are the statistically significant ones.

    Parameters
    ----------
    Z : float, default 1.0
        Standard errors by which a peak must stand out of its saddles.
    halo : bool, default True
        Whether samples less dense than the highest saddle of their cluster get the label -1.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    dimension_ : int
        Intrinsic dimension.
    log_density_, error_ : arrays of shape (n_samples,)
    n_neighbors_ : array of shape (n_samples,)
        Neighbours with the same density as the sample.
    centers_ : array of shape (n_clusters,)
        Sample number of every peak.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(20, 1, (200, 2))])
    >>> model = DensityPeakAdvanced(Z=3, halo=False).fit(X)
    >>> model.dimension_, np.bincount(model.labels_).tolist()
    (2, [200, 200])
    """

    def __init__(self, Z: float = 1.0, halo: bool = True) -> None:
        self.Z = Z
        self.halo = halo

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Estimate dimension and density, then find and merge peaks."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=8)
        if not self.Z >= 0:
            raise ValueError(f"Z must be at least 0, got Z={self.Z!r}.")
        n = len(X)
        n_neighbors = MAX_NEIGHBORS if n > MAX_NEIGHBORS else int(SMALL_SET_SHARE * n)
        distances, neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
        self.dimension_ = estimate_dimension(X)
        density = estimate_density(distances, neighbors, self.dimension_)
        self.log_density_, self.error_, self.n_neighbors_ = density
        g = density.log_density - density.error
        peaks = np.flatnonzero(find_peaks(neighbors, density.n_neighbors, g))
        labels = climb(X, neighbors, g, peaks)
        saddles = find_saddles(neighbors, density.n_neighbors, g, labels, peaks)
        target, border = merge_peaks(peaks, saddles, density, self.Z)
        kept, self.labels_ = np.unique(target[labels], return_inverse=True)
        self.centers_ = peaks[kept]
        if self.halo:
            self.labels_[density.log_density < border[kept].max(axis=1)[self.labels_]] = -1
        return self


def estimate_dimension(X: NDArray[np.float64]) -> int:
    """Intrinsic dimension by TwoNN: the slope of -log(1 - F) over log(r2 / r1), rounded, at least 1.

    r1 and r2 are the distances to the two nearest distinct samples, F is the empirical distribution of the ratio.
    """
    distinct = np.unique(X, axis=0)
    if len(distinct) < 3:
        return X.shape[1]
    first, second = NearestNeighbors(n_neighbors=2).fit(distinct).kneighbors()[0].T
    ratio = np.sort(np.log(second / first))
    if ratio[-1] == 0:
        return X.shape[1]
    height = -np.log1p(-np.arange(len(ratio)) / len(ratio))
    return max(1, round(ratio @ height / (ratio @ ratio)))


def estimate_density(distances: NDArray[np.float64], neighbors: NDArray[np.intp], dimension: int) -> Density:
    """Log density by PAk, up to a constant that all samples share."""
    with np.errstate(divide="ignore"):
        log_radii = np.log(distances)
    k = count_equal_neighbors(log_radii, neighbors, dimension)
    # samples with nothing but duplicates around them are as dense as numbers allow
    last = np.maximum(log_radii[np.arange(len(k)), k - 1], log(np.finfo(np.float64).tiny))
    unit_ball = dimension / 2 * log(pi) - lgamma(dimension / 2 + 1)
    log_density = fit_linear_density(distances, k, dimension) - dimension * last - unit_ball
    return Density(log_density, np.sqrt((4 * k + 2) / (k * (k - 1))), k)


@kernel
def count_equal_neighbors(log_radii, neighbors, dimension):
    """Neighbours up to the first that sits at another density than the sample itself, by a likelihood ratio.

    With v the volumes that k neighbours take around the sample and around its neighbour k + 1, the ratio is
    -2 k log(4 v1 v2 / (v1 + v2)^2), which is 4 k log cosh(log(v1 / v2) / 2). Volumes of 0, of duplicates, tell nothing.
    """
    n, n_neighbors = log_radii.shape
    found = np.empty(n, dtype=np.int64)
    for i in range(n):
        k = MIN_NEIGHBORS
        ratio = 0.0
        while k < n_neighbors and ratio <= THRESHOLD:
            own, other = log_radii[i, k - 1], log_radii[neighbors[i, k], k - 1]
            if own > -inf and other > -inf:
                half = dimension * abs(own - other) / 2
                ratio = 4 * k * (log(cosh(half)) if half < 300 else half - log(2.0))
            k += 1
        found[i] = k - 1
    return found


@kernel
def fit_linear_density(distances, n_neighbors, dimension):
    """Log density at the sample, in units of one over the volume of its k neighbours.

    The number in each shell between two neighbours is 1; its mean is the volume of the shell times exp(b + a l) in
    shell l. The likelihood sum(b + a l) - sum(volume exp(b + a l)) is concave: Newton steps, halved until it rises.
    Equal distances make empty shells; then the density is that of all k neighbours, without a slope.
    """
    result = np.empty(len(distances))
    for i in range(len(distances)):
        k = n_neighbors[i]
        result[i] = log(float(k))
        if distances[i, k - 1] > 0:
            balls = (distances[i, :k] / distances[i, k - 1]) ** dimension
            shells = balls.copy()
            shells[1:] -= balls[:-1]
            if shells[1:].min() > 0:
                result[i] = _maximise(shells, result[i], 0.0)
    return result


@kernel
def _maximise(shells, b, a):
    k = len(shells)
    counts = k * (k + 1) / 2
    for _ in range(100):
        s0 = s1 = s2 = 0.0
        for j in range(k):
            mean = shells[j] * exp(b + a * (j + 1))
            s0 += mean
            s1 += mean * (j + 1)
            s2 += mean * (j + 1) ** 2
        gradient_b, gradient_a = k - s0, counts - s1
        determinant = s0 * s2 - s1 * s1
        step_b = (s2 * gradient_b - s1 * gradient_a) / determinant
        step_a = (s0 * gradient_a - s1 * gradient_b) / determinant
        if not abs(step_b) + k * abs(step_a) > 1e-10:
            break
        value = b * k + a * counts - s0
        size = 1.0
        while size > 1e-9:
            expected = 0.0
            for j in range(k):
                expected += shells[j] * exp(b + size * step_b + (a + size * step_a) * (j + 1))
            if (b + size * step_b) * k + (a + size * step_a) * counts - expected >= value:
                break
            size /= 2
        b += size * step_b
        a += size * step_a
    return b


@kernel
def find_peaks(neighbors, n_neighbors, g):
    """Samples that have no higher g in their neighbourhood, and are in no neighbourhood of a higher g."""
    peak = np.ones(len(g), dtype=np.bool_)
    for i in range(len(g)):
        for j in neighbors[i, : n_neighbors[i]]:
            if g[j] > g[i]:
                peak[i] = False
            elif g[j] < g[i]:
                peak[j] = False
    return peak


def climb(
    X: NDArray[np.float64], neighbors: NDArray[np.intp], g: NDArray[np.float64], peaks: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Number of the peak that every sample reaches over nearest samples of higher g."""
    order = np.argsort(-g, kind="stable")
    labels = np.full(len(g), -1)
    labels[peaks] = np.arange(len(peaks))
    parent = find_parents(neighbors, g)
    lost = np.flatnonzero((parent[order] < 0) & (labels[order] < 0))
    n_higher = np.searchsorted(-g[order], -g[order[lost]], side="left")
    parent[order[lost]] = nearest_denser(X, order, lost, n_higher)[0]
    for i in order:
        if labels[i] < 0:
            labels[i] = labels[parent[i]]
    return labels


@kernel
def find_parents(neighbors, g):
    """Nearest neighbour of higher g, -1 without one."""
    parent = np.full(len(g), -1)
    for i in range(len(g)):
        for j in neighbors[i]:
            if g[j] > g[i]:
                parent[i] = j
                break
    return parent


def find_saddles(
    neighbors: NDArray[np.intp],
    n_neighbors: NDArray[np.int64],
    g: NDArray[np.float64],
    labels: NDArray[np.int64],
    peaks: NDArray[np.intp],
) -> NDArray[np.int64]:
    """Sample of highest g at the border of every two clusters, -1 where they do not touch."""
    is_peak = np.zeros(len(g), dtype=bool)
    is_peak[peaks] = True
    saddles = np.full((len(peaks), len(peaks)), -1)
    for i, other in border_samples(neighbors, n_neighbors, labels, is_peak):
        own = labels[i]
        if saddles[own, other] < 0 or g[i] > g[saddles[own, other]]:
            saddles[own, other] = saddles[other, own] = i
    return saddles


@kernel
def border_samples(neighbors, n_neighbors, labels, is_peak):
    """Pairs (border sample, other cluster).

    The nearest sample of another cluster must be in the neighbourhood, and the border sample must be the nearest of
    its own cluster to that one. Peaks are no border.
    """
    found = [(0, 0) for _ in range(0)]
    for i in range(len(labels)):
        if is_peak[i]:
            continue
        for j in neighbors[i, : n_neighbors[i]]:
            if labels[j] != labels[i] and not is_peak[j]:
                for back in neighbors[j]:
                    if labels[back] == labels[i]:
                        if back == i:
                            found.append((i, labels[j]))
                        break
                break
    return found


def merge_peaks(
    peaks: NDArray[np.intp], saddles: NDArray[np.int64], density: Density, Z: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge, highest saddle first, the clusters that are not significant.

    Returns
    -------
    target : array of shape (n_peaks,)
        The peak that every peak ends in.
    border : array of shape (n_peaks, n_peaks)
        Log density at the saddles that are left, -inf where there is none.
    """
    height, error = density.log_density[peaks], density.error[peaks]
    border = np.where(saddles < 0, -np.inf, density.log_density[saddles])
    border_error = density.error[saddles]
    target = np.arange(len(peaks))
    while True:
        doubtful = height[:, None] - border < Z * (error[:, None] + border_error)
        candidates = np.where(doubtful | doubtful.T, border, -np.inf)
        pair = np.unravel_index(candidates.argmax(), candidates.shape) if len(peaks) > 1 else (0, 0)
        if candidates[pair] == -np.inf:
            return target, border
        low, high = pair if height[pair[0]] < height[pair[1]] else pair[::-1]
        target[target == low] = high
        better = border[low] > border[high]
        better[high] = False
        for values in (border, border_error):
            values[high, better] = values[better, high] = values[low, better]
        border[low, :] = border[:, low] = -np.inf
