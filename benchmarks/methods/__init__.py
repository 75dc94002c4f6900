"""The one registry of methods that every experiment chooses from: ``METHODS``, one row per method.

A row says what a method is told: nothing, the number of classes, or their proportions. An experiment names its rows as
its result files do, and gives options of its own with ``given``. Where options are left out, one rule chosen without
labels holds on every set:

- k-means: the best of ten seeded starts; constrained k-means: the same, with sizes between the smallest and the largest
  share.
- spectral: the graph of 10 nearest neighbours; with ``gamma`` the Gaussian kernel, as published.
- HDBSCAN (scikit-learn), hdbscan and fast_hdbscan (the packages): clusters of at least 15 samples.
- Quickshift++: (log n)^2 neighbours, beta 0.3, which its paper keeps fixed.
- SpectACl: the smallest epsilon within which 99 % of the samples have ten neighbours, which is its paper's rule.
- FSFDP: cut-off at 2 % of the distances; as many peaks as classes, those with the largest density times distance.
- DPA: Z = 1, and no halo: it would count as noise.
- Leiden: modularity of the graph of 30 nearest neighbours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from math import log
from typing import Any

import numpy as np
from gitcluster.cli.peers import PEERS, Labels, Method
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from benchmarks.methods.spanning_tree import mutual_reachability_tree
from gitcluster import find_neighbors
from gitcluster.cli import peers
from gitcluster.fitted.cutting import whole_sizes

LARGE = 10_000_000
"""Entries of a data matrix above which the hdbscan package takes more than some minutes for its spanning tree."""
Samples = NDArray[Any]


def fit_git(estimator: Any, X: Samples, known: Any, *, proportions: Any = None, **options: Any) -> Labels:
    """GIT told nothing, the number or the proportions; those among the options replace what is known.

    The authors' variant gets double precision: in single precision links fall otherwise than in their code.
    """
    number = len(known) if np.ndim(known) else "auto" if known is None else known
    if proportions is None and np.ndim(known):
        proportions = known
    if proportions is not None and not isinstance(proportions, str):
        number = "auto"
    if options.get("variant") == "authors":
        X = X.astype(np.float64)
    return estimator(number, proportions=proportions, **options).fit_predict(X)


def fit_constrained(estimator: Any, X: Samples, shares: Any, *, slack: float = 0.0, **options: Any) -> Labels:
    """k-means with bounds on sizes; the package takes one pair for all clusters, so that only the range is kept."""
    counts = whole_sizes(np.asarray(shares) / np.sum(shares), len(X))
    bounds = {"size_min": int((1 - slack) * counts.min()), "size_max": int((1 + slack) * counts.max())}
    return estimator(len(counts), **bounds, **options).fit_predict(X)


def fit_spectral(
    estimator: Any, X: Samples, known: int, *, gamma: float | None = None, random_state: int = 0, **options: Any
) -> Labels:
    """Spectral clustering on neighbours, or with a Gaussian kernel, as published."""
    if gamma is None:
        return peers.fit_spectral(estimator, X, known, random_state=random_state, **options)
    return estimator(known, assign_labels="discretize", random_state=random_state, gamma=gamma).fit_predict(X)


def fit_hdbscan(
    estimator: Any, X: Samples, _: None, *, min_cluster_size: int, min_samples: int | None = None,
    core_dist_n_jobs: int = -1, tree: bool = True,
) -> Labels:  # fmt: skip
    """The hdbscan package; with ``tree`` it is handed the spanning tree of a large set, with nothing left to add."""
    if not tree or len(X) * X.shape[1] <= LARGE:
        return estimator(min_cluster_size, min_samples, core_dist_n_jobs=core_dist_n_jobs).fit_predict(X)
    spanning = mutual_reachability_tree(X, min_samples or min_cluster_size)
    return estimator(min_cluster_size, min_samples=1, metric="precomputed").fit_predict(spanning)


def fit_quickshift(estimator: Any, X: Samples, _: None, *, n_neighbors: int | None = None, **options: Any) -> Labels:
    """Quickshift++; its paper's theory asks that the number of neighbours grow faster than log n."""
    rule = min(max(2, round(log(len(X)) ** 2)), len(X))
    return estimator(rule if n_neighbors is None else n_neighbors, **options).fit_predict(X)


def fit_density_peaks(estimator: Any, X: Samples, known: int, **thresholds: float) -> Labels:
    """FSFDP with as many centres as classes, or with those above thresholds."""
    return estimator(n_clusters=None if thresholds else known, **thresholds).fit_predict(X)


def fit_leiden(partition: Any, X: Samples, _: None, **options: Any) -> Labels:
    """Leiden on the graph of neighbours."""
    return find_partition(partition, kneighbors_graph(X, 30), **options).membership


def find_partition(partition: Any, adjacency: Any, **options: Any) -> Any:
    """The partition of a graph that leidenalg finds."""
    return import_module("leidenalg").find_partition(make_graph(adjacency), partition, seed=0, **options)


def make_graph(adjacency: Any) -> Any:
    """An undirected igraph graph with the entries of a matrix as weights."""
    entries = csr_array(adjacency).tocoo()
    graph = import_module("igraph").Graph(
        adjacency.shape[0], np.column_stack(entries.coords).tolist(), edge_attrs={"weight": entries.data.tolist()}
    )
    return graph.simplify(combine_edges="max")


GIT = Method("gitcluster.GIT", package="gitcluster", run=fit_git)
OURS = "benchmarks.methods"
AT_LEAST_15 = {"min_cluster_size": 15}
METHODS: dict[str, Method] = {
    "GIT": GIT,
    "GIT nothing": GIT._replace(told="nothing"),
    "GIT proportions": GIT._replace(told="proportions"),
    "GIT paper": GIT.given(variant="paper", search="exact", n_jobs=-1),
    "GIT literal": GIT.given(variant="paper-literal", search="exact", n_jobs=-1),
    "GIT algorithm 2": GIT.given(variant="paper-algorithm2", search="exact", n_jobs=-1),
    "GIT authors": GIT.given(variant="authors", search="exact", n_jobs=-1),
    **PEERS,
    "spectral": PEERS["spectral"]._replace(run=fit_spectral),
    "hdbscan": Method("hdbscan.HDBSCAN", "nothing", "hdbscan", AT_LEAST_15, run=fit_hdbscan),
    "fast_hdbscan": Method("fast_hdbscan.HDBSCAN", "nothing", "fast_hdbscan", AT_LEAST_15),
    "EVoC": Method("evoc.EVoC", "nothing", "evoc"),
    "constrained k-means": Method(
        "k_means_constrained.KMeansConstrained", "proportions", "k-means-constrained",
        {"n_init": 10, "random_state": 0}, run=fit_constrained,
    ),
    "Lumbermark": Method("lumbermark.Lumbermark", "number", "lumbermark"),
    "Tomato": Method("gudhi.clustering.tomato.Tomato", "number", "gudhi"),
    "Leiden": Method("leidenalg.ModularityVertexPartition", "nothing", "leidenalg", run=fit_leiden),
    "DPA": Method(f"{OURS}.density_peak_advanced.DensityPeakAdvanced", "nothing", options={"Z": 1.0, "halo": False}),
    "FSFDP": Method(f"{OURS}.density_peaks.DensityPeaks", run=fit_density_peaks),
    "Quickshift++": Method(f"{OURS}.quickshift.QuickshiftPP", "nothing", run=fit_quickshift),
    "SpectACl": Method(f"{OURS}.spectacl.SpectACl", options={"random_state": 0}),
}  # fmt: skip


def tell(method: Method, sizes: NDArray[np.int64]) -> Any:
    """What a method may know of the true class sizes."""
    return {"nothing": None, "number": len(sizes), "proportions": sizes / sizes.sum()}[method.told]


def compile_descent(X: Samples) -> None:
    """Compile the approximate search too where GIT may use it: for many samples of many features."""
    if len(X) > 30_000 and X.shape[1] > 64:
        find_neighbors(np.ascontiguousarray(X[:3000]), n_neighbors=20, search="approximate", n_jobs=-1)


def keep_installed(methods: dict[str, Method], names: Iterable[str] | None = None) -> dict[str, Method]:
    """The methods of these names, or all, whose packages are there; the error stream says how to get the others.

    Raises
    ------
    SystemExit
        When a name belongs to no method.
    """
    wanted = list(methods if names is None else names)
    if unknown := sorted(set(wanted) - set(methods)):
        raise SystemExit(f"{', '.join(unknown)}: none of {', '.join(methods)}")
    for name in wanted:
        if not methods[name].is_installed:
            print(f"{name} is left out: {methods[name].pip_line}", file=sys.stderr)
    return {name: methods[name] for name in wanted if methods[name].is_installed}
