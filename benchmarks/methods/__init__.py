"""The registry of clustering methods that every experiment chooses from: ``METHODS``, one row per method.

A row has a function ``fit(X, known, **options)`` that returns labels, and states what the method is given: nothing, the
number of classes or their proportions. Labels below 0 are noise. Options that an experiment does not set follow one
rule on all sets, which was chosen without labels:

- k-means: the best of ten starts.
- Spectral clustering: the graph of ten nearest neighbours; with ``gamma``, the Gaussian kernel of the paper.
- HDBSCAN (scikit-learn), hdbscan and fast_hdbscan (the packages): clusters of at least 15 samples.
- AuToMATo: 100 bootstrap samples instead of 1,000, which took five minutes on 6,400 samples with 36 features.
- Leiden: modularity of the graph of 15 nearest neighbours, resolution 1.
- k-means with the highest silhouette, and the Gaussian mixture with the lowest BIC: up to 20 clusters, and ten more as
  long as the largest number is the best, up to 50.

FSFDP, DPA, Quickshift++ and SpectACl only run with their published parameters. No installable package reproduces their
published figures, so they are implemented here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import triu
from scipy.sparse.linalg import ArpackError

from benchmarks.methods.density import density_peak_advanced, density_peaks, quickshift_pp
from benchmarks.methods.spanning_tree import mutual_reachability_tree
from benchmarks.methods.spectacl import spectacl_labels
from gitcluster import GIT, find_neighbors

Samples = NDArray[Any]
Labels = NDArray[np.int64]
LARGE = 10_000_000
"""Entries of a data matrix above which the hdbscan package needs minutes for its spanning tree."""
SAMPLES_PER_COORDINATE = 5
"""A Gaussian mixture with fewer samples than this for each coordinate of its means gets diagonal covariances."""


class Method(NamedTuple):
    """A clustering method."""

    run: Callable[..., Any]
    """Return labels of ``(X, known, **options)``; ``known`` is None, the number of classes, or their proportions."""
    given: Literal["nothing", "number", "proportions"] = "number"
    package: str = "scikit-learn"
    options: Mapping[str, Any] = {}

    def fit(self, X: Samples, sizes: Any, **options: Any) -> Labels:
        """Return labels of the samples; of the true class ``sizes`` the method is only given what it may know."""
        sizes = np.asarray(sizes)
        known = {"nothing": None, "number": len(sizes), "proportions": sizes / sizes.sum()}[self.given]
        return np.asarray(self.run(X, known, **{**self.options, **options}))

    @property
    def release(self) -> str:
        """Return package and version, which are stored beside results."""
        return f"{self.package} {version(self.package)}"

    def using(self, **options: Any) -> Method:
        """Return the method with other options."""
        return self._replace(options={**self.options, **options})

    @property
    def is_installed(self) -> bool:
        """Return whether the package of the method is installed."""
        try:
            return bool(version(self.package))
        except PackageNotFoundError:
            return False


def estimator(path: str) -> Callable[..., Any]:
    """Return a fit of the estimator class with this import path, with the number of clusters if it is known."""

    def fit(X: Samples, known: int | None, **options: Any) -> Any:
        module, _, name = path.rpartition(".")
        number = {} if known is None else {"n_clusters": known}
        return getattr(import_module(module), name)(**number, **options).fit_predict(X)

    return fit


def fit_git(X: Samples, known: Any, *, proportions: Any = None, **options: Any) -> Labels:
    """Fit GIT; ``proportions`` among the options replace those that are known.

    The authors' variant gets double precision. In single precision it breaks ties differently from their code.
    """
    number = "auto" if known is None or np.ndim(known) else known
    if proportions is None and np.ndim(known):
        proportions = known
    if proportions is not None and not isinstance(proportions, str):
        number = "auto"
    X = X.astype(np.float64) if options.get("variant") == "authors" else X
    return GIT(number, proportions=proportions, **options).fit_predict(X)


def fit_spectral(X: Samples, known: int, *, gamma: float | None = None, random_state: int = 0) -> Any:
    """Fit spectral clustering on the graph of ten nearest neighbours, or with a Gaussian kernel, as published.

    The sparse solver sometimes fails on graphs with many components. LOBPCG then solves the same problem.
    """
    from sklearn.cluster import SpectralClustering

    if gamma is not None:
        model = SpectralClustering(known, assign_labels="discretize", random_state=random_state, gamma=gamma)
        return model.fit_predict(X)

    def fit(solver: str) -> Any:
        graph = {"affinity": "nearest_neighbors", "n_neighbors": min(10, len(X) - 1), "random_state": random_state}
        return SpectralClustering(known, eigen_solver=solver, **graph).fit_predict(X)

    try:
        return fit("arpack")
    except (ArpackError, np.linalg.LinAlgError, RuntimeError):
        return fit("lobpcg")


def fit_mixture(X: Samples, known: int, **options: Any) -> Any:
    """Fit a Gaussian mixture, with full covariances if there are enough samples to estimate them."""
    from sklearn.mixture import GaussianMixture

    enough = len(X) >= SAMPLES_PER_COORDINATE * known * X.shape[1]
    return GaussianMixture(known, covariance_type="full" if enough else "diag", **options).fit_predict(X)


def best_number(score: Callable[[int], tuple[float, Any]], least: int, n: int) -> Any:
    """Return the labels with the best score over the numbers of clusters; ``score(number)`` returns both."""
    tried: dict[int, tuple[float, Any]] = {}
    for most in (20, 30, 40, 50):
        for number in range(least, min(most, n - 1) + 1):
            if number not in tried:
                tried[number] = score(number)
        best = max(tried, key=lambda number: tried[number][0])
        if best < most:
            break
    return tried[best][1]


def fit_k_means_silhouette(X: Samples, _: None, **options: Any) -> Any:
    """Fit k-means with the number of clusters that has the highest silhouette, on at most 5,000 samples."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    def score(number: int) -> tuple[float, Any]:
        labels = KMeans(number, **options).fit_predict(X)
        return silhouette_score(X, labels, sample_size=min(len(X), 5000), random_state=0), labels

    return best_number(score, 2, len(X))


def fit_mixture_bic(X: Samples, _: None, **options: Any) -> Any:
    """Fit a Gaussian mixture with the number of components and covariances, full or diagonal, of the lowest BIC."""
    from sklearn.mixture import GaussianMixture

    kinds = ("full", "diag") if len(X) > X.shape[1] else ("diag",)  # full ones are singular with fewer samples

    def score(number: int) -> tuple[float, Any]:
        models = [GaussianMixture(number, covariance_type=kind, **options).fit(X) for kind in kinds]
        model = min(models, key=lambda model: model.bic(X))
        return -model.bic(X), model.predict(X)

    return best_number(score, 1, len(X))


def fit_leiden(X: Samples, _: None, *, n_neighbors: int, **options: Any) -> Any:
    """Fit Leiden to the graph of nearest neighbours."""
    from igraph import Graph
    from leidenalg import ModularityVertexPartition, find_partition
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(X, min(n_neighbors, len(X) - 1))
    rows, columns = triu(near + near.T, 1).nonzero()
    graph = Graph(len(X), np.column_stack((rows, columns)).tolist())
    return find_partition(graph, ModularityVertexPartition, **options).membership


def fit_sklearn_hdbscan(X: Samples, _: None, *, min_cluster_size: int, **options: Any) -> Any:
    """Fit scikit-learn's HDBSCAN, also to fewer samples than a cluster should have."""
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=min(min_cluster_size, len(X)), **options).fit_predict(X)


def fit_hdbscan(
    X: Samples, _: None, *, min_cluster_size: int, min_samples: int | None = None, core_dist_n_jobs: int = -1,
    tree: bool = True,
) -> Any:  # fmt: skip
    """Fit the hdbscan package; with ``tree``, a large set is handed over as its exact minimum spanning tree."""
    from hdbscan import HDBSCAN

    if not tree or X.size <= LARGE:
        return HDBSCAN(min_cluster_size, min_samples, core_dist_n_jobs=core_dist_n_jobs).fit_predict(X)
    spanning = mutual_reachability_tree(X, min_samples or min_cluster_size)
    return HDBSCAN(min_cluster_size, min_samples=1, metric="precomputed").fit_predict(spanning)


def in_doubles(labels: Callable[..., Labels]) -> Callable[..., Labels]:
    """Return a fit in double precision by a function of the samples, the number of classes if known, and options."""

    def fit(X: Samples, known: int | None, **options: Any) -> Labels:
        return labels(X.astype(np.float64), *([] if known is None else [known]), **options)

    return fit


GIT_ = Method(fit_git, package="gitcluster")
EXACT = {"search": "exact", "n_jobs": -1}
AT_LEAST_15 = {"min_cluster_size": 15}
SEEDED = {"n_init": 10, "random_state": 0}
BOOTSTRAP = {"n_bootstrap": 100, "random_state": 0, "parallelize": 0}
METHODS: dict[str, Method] = {
    "GIT": GIT_,
    "GIT nothing": GIT_._replace(given="nothing"),
    "GIT proportions": GIT_._replace(given="proportions"),
    "GIT standardized": GIT_.using(scale="std"),
    "GIT standardized nothing": GIT_._replace(given="nothing").using(scale="std"),
    "GIT paper": GIT_.using(variant="paper", **EXACT),
    "GIT authors": GIT_.using(variant="authors", **EXACT),
    "k-means": Method(estimator("sklearn.cluster.KMeans"), options=SEEDED),
    "Ward": Method(estimator("sklearn.cluster.AgglomerativeClustering")),
    "Gaussian mixture": Method(fit_mixture, options={"n_init": 5, "random_state": 0}),
    "spectral": Method(fit_spectral),
    "HDBSCAN": Method(fit_sklearn_hdbscan, "nothing", options={**AT_LEAST_15, "copy": True}),
    "hdbscan": Method(fit_hdbscan, "nothing", "hdbscan", AT_LEAST_15),
    "fast_hdbscan": Method(estimator("fast_hdbscan.HDBSCAN"), "nothing", "fast_hdbscan", AT_LEAST_15),
    "PLSCAN": Method(estimator("fast_plscan.PLSCAN"), "nothing", "fast-plscan"),
    "EVoC": Method(estimator("evoc.EVoC"), "nothing", "evoc"),
    "AuToMATo": Method(estimator("automato.Automato"), "nothing", "automato", BOOTSTRAP),
    "Leiden": Method(fit_leiden, "nothing", "leidenalg", {"n_neighbors": 15, "seed": 0, "n_iterations": -1}),
    "k-means silhouette": Method(fit_k_means_silhouette, "nothing", options={"n_init": 3, "random_state": 0}),
    "Gaussian mixture BIC": Method(fit_mixture_bic, "nothing", options={"random_state": 0}),
    "Genie": Method(estimator("genieclust.Genie"), "number", "genieclust", {"gini_threshold": 0.3}),
    "Lumbermark": Method(estimator("lumbermark.Lumbermark"), "number", "lumbermark"),
    "DPA": Method(in_doubles(density_peak_advanced), "nothing"),
    "FSFDP": Method(in_doubles(density_peaks), "nothing"),
    "Quickshift++": Method(in_doubles(quickshift_pp), "nothing"),
    "SpectACl": Method(in_doubles(spectacl_labels)),
}


def keep_installed(methods: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods whose packages are installed; name the others on the error stream."""
    for name, method in methods.items():
        if not method.is_installed:
            print(f"{name} is left out: pip install {method.package}", file=sys.stderr)
    return {name: method for name, method in methods.items() if method.is_installed}


def compile_search(X: Samples) -> None:
    """Compile neighbour descent before a timed fit of GIT to many samples with many features."""
    if len(X) > 30_000 and X.shape[1] > 64:
        find_neighbors(np.ascontiguousarray(X[:3000]), n_neighbors=20, search="approximate", n_jobs=-1)
