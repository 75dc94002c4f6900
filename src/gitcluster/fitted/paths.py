"""Ways through the topo-graph: how strong edges are, the strongest way between two nodes, what is behind an edge."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from gitcluster._support.arrays import Array, inverse_order
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import Hierarchy
from gitcluster.topo_graph import TopoGraph


def strengths(graph: TopoGraph) -> NDArray[np.int64]:
    """Rank of every edge, the strongest highest; bridges are below all others."""
    order = np.lexsort((-np.arange(len(graph.edges)), graph.log_weights, graph.pairs > 0))
    return inverse_order(order)


def strongest_path(graph: TopoGraph, a: int, b: int, allowed: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Local clusters and edges of the way from a to b whose weakest edge is the strongest; empty where there is none.

    Examples
    --------
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [0, 2], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.2, 0.3]), pairs=np.array([2, 1, 1]),
    ... )
    >>> strongest_path(graph, 0, 1, np.ones(3, bool))
    (array([0, 2, 1]), array([1, 2]))
    """
    if a == b:
        return np.array([a]), np.empty(0, np.int64)
    edges = np.flatnonzero(allowed)
    ends = graph.edges[edges]
    weakness = 1.0 + len(graph.edges) - strengths(graph)[edges]
    n_local = len(graph.sizes)
    short = ends.astype(np.int32).T  # older scipy takes graphs of no other integers
    tree = minimum_spanning_tree(coo_array((weakness, (short[0], short[1])), shape=(n_local, n_local)))
    before = breadth_first_order(tree, b, directed=False)[1]
    path = [a]
    while path[-1] != b:
        if before[path[-1]] < 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        path.append(int(before[path[-1]]))
    steps = np.sort(np.array(list(pairwise(path))), axis=1)
    numbers, wanted = (pairs[:, 0] * n_local + pairs[:, 1] for pairs in (ends, steps))
    order = np.argsort(numbers)
    return np.array(path), edges[order[np.searchsorted(numbers[order], wanted)]]


def together_until(hierarchy: Hierarchy, a: int, b: int) -> int:
    """The largest number of clusters at which two local clusters are in one."""
    n_merges = len(hierarchy.linkage)
    n_local = n_merges + 1
    above = np.zeros(n_local + n_merges, np.int64)
    above[hierarchy.linkage[:, :2].astype(np.int64)] = n_local + np.arange(n_merges)[:, None]
    while a != b:  # what is merged later has the higher number
        a, b = (above[a], b) if a < b else (a, above[b])
    return n_local if a < n_local else int(n_local + n_merges - a)


def find_boundary_pairs(found: Clustering, edge: int, X: Any = None) -> Array:
    """(p, 2) samples of the boundary pairs behind an edge, nearest first, by a new exact search around it."""
    training, variant = found.fitted, found.variant
    labels, ends = training.local_labels, found.topo_graph.edges[edge]
    members = np.flatnonzero(np.isin(labels, ends))
    reach = variant.reach(found.n_neighbors).boundary
    near = training.source.nearest(training.source.rows(members, X), reach + 1)  # one is the sample itself
    pairs: dict[tuple[int, int], float] = {}
    for x, row, distances in zip(members.tolist(), near.indices, near.distances, strict=True):
        others = (row != x) & np.isfinite(distances)
        others &= np.cumsum(others) <= reach
        if variant.boundary == "uphill":  # higher neighbours but the nearest of them
            others &= training.log_intensity[row] > training.log_intensity[x]
            others &= np.cumsum(others) > 1
        others &= (labels[row] != labels[x]) & np.isin(labels[row], ends)
        pairs |= {(x, int(y)): float(d) for y, d in zip(row[others], distances[others], strict=True)}
    if variant.boundary == "mutual":
        pairs = {way: d for way, d in pairs.items() if way[::-1] in pairs and way[0] < way[1]}
    ordered = np.array(sorted(pairs, key=lambda way: (pairs[way], way)), np.int64).reshape(-1, 2)
    ordered = training.given(ordered)
    return ordered if variant.boundary == "uphill" else np.sort(ordered, axis=1)
