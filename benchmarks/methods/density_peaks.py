"""Density peaks (FSFDP): Rodriguez & Laio, "Clustering by fast search and find of density peaks", Science 2014.

The density of a sample is the sum of exp(-(distance / kernel size)^2) over all others; the kernel size is the
distance that a given fraction of all pairs stays below. Delta is the distance to the nearest denser sample. Centres
are dense and have a large delta; every other sample belongs where its nearest denser one does. The conventions are
those of the package pydpc, whose labels the published experiments use; nothing is marked as halo.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from benchmarks.methods.pair_distances import distances, nearest_denser, pairs, row_blocks, smallest_pair


class DensityPeaks(ClusterMixin, BaseEstimator):
    """Clustering by fast search and find of density peaks.

    Parameters
    ----------
    fraction : float, default 0.02
        Fraction of the sorted pair distances at which the kernel size is read.
    min_density, min_delta : float or None
        Samples above both are centres. The densest sample always is one.
    n_clusters : int or None
        Take so many centres instead, those with the largest product of density and delta.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    centers_ : array of shape (n_clusters,)
        Sample number of every centre.
    kernel_size_ : float
    density_, delta_ : arrays of shape (n_samples,)
        Delta of the densest sample is the largest of the others.

    Examples
    --------
    >>> DensityPeaks(n_clusters=2).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self,
        fraction: float = 0.02,
        min_density: float | None = None,
        min_delta: float | None = None,
        n_clusters: int | None = None,
    ) -> None:
        self.fraction = fraction
        self.min_density = min_density
        self.min_delta = min_delta
        self.n_clusters = n_clusters

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find density, delta, centres and labels."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_parameters(len(X))
        self.kernel_size_ = find_kernel_size(X, self.fraction)
        self.density_ = estimate_density(X, self.kernel_size_)
        order = np.argsort(-self.density_, kind="stable")
        places = np.arange(1, len(X))
        parent = np.full(len(X), order[0])
        self.delta_ = np.empty(len(X))
        parent[order[1:]], self.delta_[order[1:]] = nearest_denser(X, order, places, places)
        self.delta_[order[0]] = self.delta_[order[1:]].max()
        self.centers_ = np.sort(self._choose_centers(order))
        self.labels_ = np.full(len(X), -1)
        self.labels_[self.centers_] = np.arange(len(self.centers_))
        for i in order:
            if self.labels_[i] < 0:
                self.labels_[i] = self.labels_[parent[i]]
        return self

    def _check_parameters(self, n_samples: int) -> None:
        if not 0 <= self.fraction < 1:
            raise ValueError(f"fraction must be in [0, 1), got fraction={self.fraction!r}.")
        if self.n_clusters is None and (self.min_density is None or self.min_delta is None):
            raise ValueError(
                "Centres cannot be chosen: give n_clusters, or both min_density and min_delta, got "
                f"n_clusters=None, min_density={self.min_density!r}, min_delta={self.min_delta!r}."
            )
        if self.n_clusters is not None and not 1 <= self.n_clusters <= n_samples:
            raise ValueError(f"n_clusters must be from 1 to n_samples = {n_samples}, got n_clusters={self.n_clusters}.")

    def _choose_centers(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        density, delta = self.density_[order], self.delta_[order]
        if self.n_clusters is not None:
            return order[np.argsort(-density * delta, kind="stable")[: self.n_clusters]]
        above = (density > self.min_density) & (delta > self.min_delta)
        above[0] = True
        return order[above]


def find_kernel_size(X: NDArray[np.float64], fraction: float) -> float:
    """Return the pair distance at ``fraction`` of all in rising order; the smallest above 0 where that is 0."""
    n_pairs = len(X) * (len(X) - 1) // 2
    size = smallest_pair(X, min(int(0.5 + fraction * n_pairs), n_pairs - 1))
    if size == 0:
        size = min(float(block.min(initial=np.inf, where=block > 0)) for block in pairs(X))
    return size if np.isfinite(size) else 1.0


def estimate_density(X: NDArray[np.float64], kernel_size: float) -> NDArray[np.float64]:
    """Sum of Gaussian kernels at all other samples."""
    density = np.empty(len(X))
    for rows in row_blocks(len(X), len(X)):
        kernel = np.exp(-((distances(X[rows], X) / kernel_size) ** 2))
        kernel[np.arange(len(kernel)), np.arange(rows.start, rows.stop)] = 0
        density[rows] = kernel.sum(axis=1)
    return density
