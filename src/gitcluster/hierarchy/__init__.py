"""Stage 5 without sizes: one hierarchy of local clusters, cut anywhere.

Eq. 9 is average linkage: the connection of a merged cluster to the others is re-averaged, S = summed similarity of
boundary pairs / product of sizes, and the next merge is along the strongest connection *now*. Every merge has one edge
of the topo-graph behind it, the strongest between the two clusters; these edges are a spanning tree of the local
clusters, and cutting c - 1 of them leaves c clusters.

Which c - 1: the weakest connections first, but no crumbs. A split counts as the c-th only when both sides hold a
CRUMB-th part of an average cluster, n / c; smaller parts wait until c is so large that they are no longer smaller.
So cuts are nested, and far-off samples never take the place of a cluster.

In: topo-graph, connected by its bridges. Out: :class:`Hierarchy`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._jit import linkage as kernels
from gitcluster._jit import unions
from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import label_by_size
from gitcluster.intensity import rounding_step
from gitcluster.topo_graph import TopoGraph

CRUMB = 20
"""A part of a cluster is a crumb below this part of an average cluster."""


class Hierarchy(NamedTuple):
    """All merges of local clusters, from all apart to all in one."""

    linkage: NDArray[np.float64]
    """(m - 1, 4) in scipy's format: two clusters, height, local clusters. Heights are falling log strengths."""
    edges: Array
    """(m - 1,) topo-graph edge behind every merge."""
    log_strength: NDArray[np.float64]
    """(m - 1,) log S of the two clusters when they merged; -inf across a bridge."""
    sizes: Array
    """(m - 1,) samples on the smaller side of every merge."""


def build_hierarchy(graph: TopoGraph) -> Hierarchy:
    """Link the local clusters of a connected topo-graph.

    Examples
    --------
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.3]), pairs=np.array([2, 1]),
    ... )
    >>> cut_hierarchy(build_hierarchy(graph), graph, n_clusters=2)
    array([0, 1, 1])
    """
    edges, strength = _link(graph)
    smaller = kernels.smaller_sides(edges, graph.edges, graph.sizes, np.arange(len(graph.sizes)))
    order = rank_splits(smaller, graph)[::-1]
    return Hierarchy(
        _scipy_linkage(graph, edges[order], strength[order]), edges[order], strength[order], smaller[order]
    )


def rank_splits(smaller: Array, graph: TopoGraph) -> Array:
    """Merges, whose ``smaller`` sides are given, in the order in which to undo them."""
    by_size = len(smaller) - 1 - np.argsort(-smaller[::-1], kind="stable")  # of equal ones the last merge first
    return np.asarray(kernels.rank_splits(smaller, by_size, graph.sizes.sum(), CRUMB))


def _link(graph: TopoGraph) -> tuple[Array, NDArray[np.float64]]:
    """Edge and strength of the merges of average linkage, then across bridges, the shortest first."""
    real, bridges = np.flatnonzero(graph.real), np.flatnonzero(~graph.real)
    root, free = np.arange(len(graph.sizes)), np.full(len(graph.sizes), -1)
    merged, strength = kernels.link_average(
        graph.edges[real], graph.log_sums[real], graph.sizes, root, np.empty((0, 2), np.int64), free,
        rounding_step(np.float64),
    )  # fmt: skip
    bridges = bridges[np.argsort(-graph.log_weights[bridges], kind="stable")]
    return np.concatenate([real[merged], bridges]), np.concatenate([strength, np.full(len(bridges), -np.inf)])


def _scipy_linkage(graph: TopoGraph, edges: Array, strength: NDArray[np.float64]) -> NDArray[np.float64]:
    m = len(graph.sizes)
    finite = strength[np.isfinite(strength)]
    top, bottom = (finite.max(), finite.min()) if len(finite) else (0.0, 0.0)
    heights = np.maximum.accumulate(np.where(np.isfinite(strength), top - strength, top - bottom + 1.0))
    heights += np.arange(m - 1) * (1e-9 * (1.0 + heights[-1:]))  # no two alike: scipy cuts by height
    linkage = np.empty((m - 1, 4))
    linkage[:, 2] = heights
    kernels.number_merges(edges, graph.edges, linkage)
    return linkage


def cut_hierarchy(hierarchy: Hierarchy, graph: TopoGraph, *, n_clusters: int) -> Array:
    """Final cluster of every local cluster: 0 is the largest, ties go to the higher peak."""
    root = np.arange(len(graph.sizes))
    unions.union_edges(root, graph.edges, merges_down_to(hierarchy, n_clusters))
    return label_by_size(root, graph.sizes)[0]


def merges_down_to(hierarchy: Hierarchy, n_clusters: int) -> Array:
    """Edges of the merges that leave ``n_clusters``."""
    return hierarchy.edges[: max(len(hierarchy.edges) + 1 - n_clusters, 0)]
