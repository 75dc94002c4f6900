"""GIT from top to bottom: the five stages in order, nothing else."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from gitcluster import _search_kernels
from gitcluster._jit import run_threads
from gitcluster._validation import check_choice, check_n_neighbors
from gitcluster.edge_cutting import EdgeCut, cut_edges
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.intensity import estimate_intensity
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import (
    SEARCHES,
    Array,
    Neighbors,
    canonical_order,
    find_neighbors,
    measure_neighbors,
    scale_features,
)
from gitcluster.proportions import equal_shares, proportion_distance, resolve_proportions
from gitcluster.selection import build_scale, choose, neighborhood_sizes, score_n_clusters, share_distance, sweep
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

VARIANTS = ("adaptive", "paper", "authors")
PAPER_NEIGHBORS = 8
"""k of the two published variants when none is given."""


class GITResult(NamedTuple):
    """What every stage found. The last three belong to the adaptive variant."""

    labels: Array
    n_neighbors: int
    neighbors: Neighbors
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: dict[str, NDArray[Any]] | None = None
    n_clusters_scores: dict[str, NDArray[Any]] | None = None


def git_clusters(
    X: Array,
    *,
    n_clusters: int | str | None = "auto",
    proportions: ArrayLike | str | None = None,
    n_neighbors: int | str = "auto",
    variant: str = "adaptive",
    metric: str = "euclidean",
    neighbors: Any = "auto",
    n_jobs: int | None = None,
) -> GITResult:
    """Cluster samples by the graph of their intensity topology.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) distances
        Finite float32 or float64 values.
    n_clusters : int or "auto", default="auto"
    proportions : array-like of shape (n_clusters,) or "equal", default=None
    n_neighbors : int or "auto", default="auto"
        k, not counting the sample itself.
    variant : {"adaptive", "paper", "authors"}, default="adaptive"
        Our merge, which needs no tuning; the paper's text; the code its published figures come from.
    metric : str, default="euclidean"
        Features are scaled only with "euclidean".
    neighbors : {"auto", "exact", "approximate"} or object, default="auto"
        How to search, see :func:`find_neighbors`.
    n_jobs : int, default=None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> git_clusters(X, n_clusters=2).labels
    array([0, 0, 0, 1, 1, 1])
    """
    check_choice("variant", variant, VARIANTS)
    if isinstance(neighbors, type) or not hasattr(neighbors, "kneighbors"):
        check_choice("neighbors", neighbors, SEARCHES)
    X = check_array(X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
    number, prior = resolve_proportions(n_clusters, proportions, n_samples=len(X))
    search = {"metric": metric, "search": neighbors, "n_jobs": n_jobs}
    if variant == "adaptive":
        if metric == "precomputed":
            return _adaptive(X, number, prior, n_neighbors, search)
        order = canonical_order(X)
        points = scale_features(X[order]) if metric == "euclidean" else X[order]
        return _restore_order(_adaptive(points, number, prior, n_neighbors, search), order)
    if number is None:
        raise ValueError(f"variant={variant!r} needs a prior. Give n_clusters as an integer, or proportions.")
    k = PAPER_NEIGHBORS if n_neighbors == "auto" else check_n_neighbors(n_neighbors, len(X))
    prior = equal_shares(number) if prior is None else prior
    return (_paper if variant == "paper" else _authors)(X, prior, min(k, len(X) - 1), search)


def _paper(X: Array, prior: Array, k: int, search: dict[str, Any]) -> GITResult:
    points = scale_features(X) if search["metric"] == "euclidean" else X
    near = find_neighbors(points, n_neighbors=k, **search)
    log_intensity = estimate_intensity(near, n_jobs=search["n_jobs"])
    local = find_local_clusters(near, log_intensity, n_jobs=search["n_jobs"])
    graph = build_topo_graph(near, local, n_jobs=search["n_jobs"])
    graph = bridge_components(graph, points, metric=search["metric"])
    cut = cut_edges(graph, proportions=prior)
    return GITResult(cut.labels[local.labels], k, near, log_intensity, local, graph, cut)


def _authors(X: Array, prior: Array, k: int, search: dict[str, Any]) -> GITResult:
    points = scale_features(X) if search["metric"] == "euclidean" else X
    n_jobs = search["n_jobs"]
    near = find_neighbors(points, n_neighbors=k, **search)
    log_intensity = estimate_intensity(near, kernel="gaussian", n_features=X.shape[1], n_jobs=n_jobs)
    local = find_local_clusters(near, log_intensity, strict=True, n_jobs=n_jobs)
    unscaled = measure_neighbors(X, near, n_jobs=n_jobs) if search["metric"] == "euclidean" else near
    graph = build_topo_graph(unscaled, local, log_intensity=log_intensity, boundary="uphill", n_jobs=n_jobs)
    cut = cut_edges(graph, proportions=prior, leftover="cut")
    return GITResult(cut.labels[local.labels], k, near, log_intensity, local, graph, cut)


def _adaptive(
    points: Array, n_clusters: int | None, prior: Array | None, n_neighbors: int | str, search: dict[str, Any]
) -> GITResult:
    sizes = neighborhood_sizes(len(points))
    if n_neighbors != "auto":
        sizes = [check_n_neighbors(n_neighbors, len(points))]
    near = find_neighbors(points, n_neighbors=min(2 * sizes[-1], len(points) - 1), **search)
    stages = {"metric": search["metric"], "n_jobs": search["n_jobs"]}
    scales = run_threads(lambda k: build_scale(points, near, n_neighbors=k, **stages), sizes, search["n_jobs"])
    scores = None
    if n_clusters is None:
        scores = score_n_clusters(scales, near, n_jobs=search["n_jobs"])
        n_clusters = int(scores["n_clusters"][scores["score"].argmax()])
    elif n_neighbors == "auto" and max(s.n_peaks for s in scales) < n_clusters:
        scales.append(
            build_scale(points, near, n_neighbors=min(2, len(points) - 1), **stages)
        )  # the most peaks there are
    scale, labels, merged, table = choose(scales, n_clusters=n_clusters, prior=prior)
    cut = describe_cut(scale.topo_graph, labels, merged, prior)
    return GITResult(
        labels[scale.local_clusters.labels], scale.n_neighbors, near, scale.log_intensity, scale.local_clusters,
        scale.topo_graph, cut, scale.hierarchy, table, scores,
    )  # fmt: skip


def cut_again(
    graph: TopoGraph, hierarchy: Hierarchy | None, n_clusters: int, prior: Array | None, *, variant: str
) -> Array:
    """Final cluster of every local cluster for another prior."""
    if hierarchy is None:
        prior = equal_shares(n_clusters) if prior is None else prior
        return cut_edges(graph, proportions=prior, leftover="cut" if variant == "authors" else "connected").labels
    linked = cut_hierarchy(hierarchy, graph, n_clusters=n_clusters)
    if prior is None:
        return linked
    swept = sweep(graph, prior).labels
    return min(linked, swept, key=lambda labels: share_distance(graph, labels, prior))


def describe_cut(graph: TopoGraph, labels: Array, merged: Array, prior: Array | None) -> EdgeCut:
    """Sizes of the final clusters, kept and cut edges, and the distance to the prior."""
    sizes = np.bincount(labels, graph.sizes).astype(np.int64)
    kept = labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]
    shares = [graph.sizes / graph.sizes.sum(), sizes / sizes.sum()]
    scores = [] if prior is None else [proportion_distance(share, prior) for share in shares]
    return EdgeCut(labels, sizes, kept, merged, np.array(scores))


def _restore_order(found: GITResult, order: Array) -> GITResult:
    """The result for the rows as they were given, from that for ``X[order]``, whose neighbours are overwritten."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    parent, labels, peaks, sizes = found.local_clusters
    order = order.astype(found.neighbors.indices.dtype)
    peaks = order[peaks]
    _search_kernels.restore_rows(found.neighbors.indices, found.neighbors.distances, order, place)
    return found._replace(
        labels=found.labels[place],
        log_intensity=found.log_intensity[place],
        local_clusters=LocalClusters(order[parent][place], labels[place], peaks, sizes),
        topo_graph=found.topo_graph._replace(peaks=peaks),
    )
