"""GIT and the paper's seven competitors behind one call: ``fit(X, sizes, **options)`` gives labels, below 0 is noise.

``sizes`` are the true class sizes; a method takes their number where it needs one, and the sizes themselves only where
its name says so. The options left out follow one rule a method, chosen without labels and the same on every set; the
published experiments give them by set.

- k-means++: ten starts.
- spectral: the graph of 10 nearest neighbours; with ``gamma`` the Gaussian kernel, as published.
- HDBSCAN: clusters of at least 15 samples.
- Quickshift++: (log n)^2 neighbours, beta .3, which its paper keeps fixed.
- SpectACl: the smallest epsilon within which 99 % of the samples have ten neighbours, which is its paper's rule.
- FSFDP: cut-off at 2 % of the distances; as many peaks as classes, those with the largest density times distance.
- DPA: Z = 1, and no halo: it would count as noise.
- GIT, the published variants: 8 neighbours, equal shares.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering

from benchmarks.methods.spanning_tree import mutual_reachability_tree
from gitcluster import GIT

LARGE = 10_000_000
"""Entries of a data matrix above which the hdbscan package takes more than some minutes for its spanning tree."""
Labels = NDArray[np.int64]
Samples = NDArray[Any]


class Contender(NamedTuple):
    """A method and the package it needs."""

    fit: Callable[..., Labels]
    requires: str = "scikit-learn"

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        try:
            version(self.requires)
        except PackageNotFoundError:
            return False
        return True


def fit_git(X: Samples, sizes: Labels, *, proportions: Any = None, **options: Any) -> Labels:
    """GIT told the number of classes, or their proportions."""
    if proportions is None:
        return GIT(len(sizes), n_jobs=-1, **options).fit_predict(X)
    shares = sizes if isinstance(proportions, str) and proportions == "classes" else proportions
    number = len(sizes) if isinstance(shares, str) else "auto"
    return GIT(number, proportions=shares, n_jobs=-1, **options).fit_predict(X)


def fit_authors(X: Samples, sizes: Labels, **options: Any) -> Labels:
    """The authors' variant, in double precision: their ties fall otherwise in single."""
    return fit_git(X.astype(np.float64), sizes, variant="authors", neighbors="exact", **options)


def fit_paper(X: Samples, sizes: Labels, **options: Any) -> Labels:
    """The paper's text."""
    return fit_git(X, sizes, variant="paper", neighbors="exact", **options)


def fit_proportions(X: Samples, sizes: Labels, *, proportions: Any = "classes", **options: Any) -> Labels:
    """GIT told the proportions."""
    return fit_git(X, sizes, proportions=proportions, **options)


def fit_kmeans(X: Samples, sizes: Labels, *, random_state: int = 0) -> Labels:
    """The best of ten seeded starts."""
    return KMeans(len(sizes), n_init=10, random_state=random_state).fit_predict(X)


def fit_constrained(X: Samples, sizes: Labels) -> Labels:
    """k-means with the sizes as bounds."""
    from benchmarks.methods.constrained_kmeans import fit_predict

    return fit_predict(X, sizes / sizes.sum())


def fit_spectral(X: Samples, sizes: Labels, *, gamma: float | None = None) -> Labels:
    """Spectral clustering on neighbours, or with a Gaussian kernel."""
    if gamma is None:
        from benchmarks.methods.spectral import fit_predict

        return fit_predict(X, len(sizes))
    model = SpectralClustering(len(sizes), assign_labels="discretize", random_state=0, gamma=gamma)
    return model.fit_predict(X)


def fit_hdbscan(X: Samples, _: Labels, *, min_cluster_size: int = 15, min_samples: int | None = None) -> Labels:
    """The hdbscan package; of a large set of many features it is given the spanning tree, with nothing left to add."""
    from hdbscan import HDBSCAN

    if len(X) * X.shape[1] <= LARGE:
        return HDBSCAN(min_cluster_size, min_samples, core_dist_n_jobs=-1).fit_predict(X)
    tree = mutual_reachability_tree(X, min_samples or min_cluster_size)
    return HDBSCAN(min_cluster_size, min_samples=1, metric="precomputed").fit_predict(tree)


def fit_quickshift(X: Samples, sizes: Labels, **options: float) -> Labels:
    """Quickshift++."""
    from benchmarks.methods.quickshift import QuickshiftPP, fit_predict

    return QuickshiftPP(**options).fit_predict(X) if options else fit_predict(X, len(sizes))


def fit_spectacl(X: Samples, sizes: Labels, *, epsilon: float | None = None, random_state: int = 0) -> Labels:
    """SpectACl."""
    from benchmarks.methods.spectacl import SpectACl

    return SpectACl(len(sizes), epsilon, random_state=random_state).fit_predict(X)


def fit_density_peaks(X: Samples, sizes: Labels, **thresholds: float) -> Labels:
    """FSFDP."""
    from benchmarks.methods.density_peaks import DensityPeaks, fit_predict

    return DensityPeaks(fraction=0.02, **thresholds).fit_predict(X) if thresholds else fit_predict(X, len(sizes))


def fit_density_peak_advanced(X: Samples, _: Labels, *, Z: float = 1.0, halo: bool = False) -> Labels:
    """DPA."""
    from benchmarks.methods.density_peak_advanced import DensityPeakAdvanced

    return DensityPeakAdvanced(Z, halo=halo).fit_predict(X)


COMPETITORS = {
    "DPA": Contender(fit_density_peak_advanced),
    "FSFDP": Contender(fit_density_peaks),
    "HDBSCAN": Contender(fit_hdbscan, "hdbscan"),
    "Quickshift++": Contender(fit_quickshift),
    "SpectACl": Contender(fit_spectacl),
    "spectral": Contender(fit_spectral),
    "k-means++": Contender(fit_kmeans),
}
CONTENDERS = {
    "GIT authors": Contender(fit_authors),
    "GIT paper": Contender(fit_paper),
    "GIT": Contender(fit_git),
    "GIT proportions": Contender(fit_proportions),
    **COMPETITORS,
    "k-means-constrained": Contender(fit_constrained, "k-means-constrained"),
}
