"""Other clusters from the same topo-graph: another number, or other proportions, without a new search."""

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.constraints import LinkConstraints, UnmetConstraintsError, balance_sizes, cut_around
from gitcluster.edge_cutting import EdgeCut, cut_by_width, cut_edges, equal_shares, share_distance
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import cut_hierarchy
from gitcluster.topo_graph import TopoGraph

Prior = NDArray[np.float64] | None


def is_fitted_prior(found: Clustering, n_clusters: int, prior: Prior) -> bool:
    """Whether a number and a prior are those of the fit."""
    if prior is None or found.prior is None:
        # the authors' sweep may leave more clusters than its prior of equal shares has
        number = found.n_clusters if found.hierarchy is not None else found.n_requested
        return n_clusters == number and prior is found.prior
    return np.array_equal(prior, found.prior)


def cut_nested(found: Clustering, n_clusters: int) -> Array:
    """Return the final cluster of every local cluster in one of the nested cuts around the clusters of the fit.

    Links hold in all of them; bounds on sizes hold in that of the fit.
    """
    if n_clusters == found.n_clusters:
        return found.edge_cut.labels
    if found.links is not None:
        return cut_around(found.topo_graph, found.links, found.edge_cut.labels, n_clusters=n_clusters)
    assert found.hierarchy is not None
    return cut_hierarchy(found.hierarchy, found.topo_graph, n_clusters=n_clusters)


def cut_again(found: Clustering, n_clusters: int, prior: Prior) -> Array:
    """Final cluster of every local cluster for another number or prior; constraints hold."""
    graph, links = found.topo_graph, found.links
    if found.hierarchy is None:
        return sweep_again(found, equal_shares(n_clusters) if prior is None else prior).labels
    ways = [cut_nested(found, n_clusters)]
    if prior is not None:
        ways.append(sweep_again(found, prior).labels)
    if links is not None:
        ways = _within_bounds(graph, ways, links)
    return ways[0] if prior is None else min(ways, key=lambda labels: round(share_distance(graph, labels, prior), 12))


def _within_bounds(graph: TopoGraph, ways: list[Array], links: LinkConstraints) -> list[Array]:
    """Those of several clusterings that can be brought within the constraints, or the error of the first."""
    found, problem = [], None
    for way in ways:
        try:
            found += [balance_sizes(graph, way, links)] if links.are_satisfied(way) else []
        except UnmetConstraintsError as error:
            problem = problem or error
    if not found:
        raise problem or UnmetConstraintsError("No clustering keeps to the constraints.")
    return found


def sweep_again(found: Clustering, prior: NDArray[np.float64]) -> EdgeCut:
    """The sweep against a prior, as the variant does it."""
    if found.hierarchy is not None:
        return cut_by_width(found.topo_graph, prior)
    return cut_edges(found.topo_graph, proportions=prior, leftover=found.variant.leftover)
