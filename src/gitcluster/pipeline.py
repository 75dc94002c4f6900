"""GIT from top to bottom: the five stages in order, nothing else."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._validation import check_choice
from gitcluster.edge_cutting import EdgeCut, cut_edges
from gitcluster.intensity import estimate_intensity
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import Array, Neighbors, find_neighbors, measure_neighbors, scale_features
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

VARIANTS = ("paper", "authors")


class GITResult(NamedTuple):
    """What every stage found."""

    labels: Array
    neighbors: Neighbors
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    edge_cut: EdgeCut


def git_clusters(
    X: Array,
    *,
    n_clusters: int | None = None,
    proportions: ArrayLike | None = None,
    n_neighbors: int = 8,
    variant: str = "paper",
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> GITResult:
    """Cluster samples by the graph of their intensity topology.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) distances
        Finite float32 or float64 values.
    n_clusters, proportions
        The prior, see :func:`cut_edges`.
    n_neighbors : int, default=8
        k, not counting the sample itself.
    variant : {"paper", "authors"}, default="paper"
        The paper's text, or the code its published figures come from.
    metric : str, default="euclidean"
        Features are scaled only with "euclidean".
    n_jobs : int, default=None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> git_clusters(X, n_clusters=2, n_neighbors=2).labels
    array([0, 0, 0, 1, 1, 1])
    """
    authors = check_choice("variant", variant, VARIANTS) == "authors"
    points = scale_features(X) if metric == "euclidean" else X
    neighbors = find_neighbors(points, n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs)
    if authors:
        log_intensity = estimate_intensity(neighbors, kernel="gaussian", n_features=X.shape[1], n_jobs=n_jobs)
        local = find_local_clusters(neighbors, log_intensity, strict=True, n_jobs=n_jobs)
        unscaled = measure_neighbors(X, neighbors, n_jobs=n_jobs) if metric == "euclidean" else neighbors
        graph = build_topo_graph(unscaled, local, log_intensity=log_intensity, n_jobs=n_jobs)
    else:
        log_intensity = estimate_intensity(neighbors, n_jobs=n_jobs)
        local = find_local_clusters(neighbors, log_intensity, n_jobs=n_jobs)
        graph = build_topo_graph(neighbors, local, n_jobs=n_jobs)
        graph = bridge_components(graph, points, metric=metric)
    edge_cut = cut_edges(
        graph, n_clusters=n_clusters, proportions=proportions, leftover="cut" if authors else "connected"
    )
    return GITResult(edge_cut.labels[local.labels], neighbors, log_intensity, local, graph, edge_cut)
