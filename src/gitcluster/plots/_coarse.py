"""The coarser view: local clusters that merge first, drawn as one, so that a reader can follow the rest."""

from dataclasses import replace
from typing import Any

import numpy as np

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.kernels import structures
from gitcluster.topo_graph import TopoGraph


def coarsen(found: Clustering, max_nodes: Any) -> Clustering:
    """A clustering of at most so many local clusters, for drawing only; as it is where there are not more.

    Local clusters merge in the order of the hierarchy, but never across the final clusters, each of which keeps one at
    least. Without a hierarchy nothing merges.
    """
    if max_nodes is None:
        return found
    most = check_integer("max_nodes", max_nodes, low=1)
    if found.hierarchy is None or len(found.peaks) <= most:
        return found
    graph, labels = found.topo_graph, found.edge_cut.labels
    merges = found.hierarchy.edges[graph.inside(labels)[found.hierarchy.edges]]
    root = np.arange(len(graph.sizes))
    structures.union_edges(root, graph.edges, merges[: len(root) - most])
    structures.find_all(root)
    first, group = np.unique(root, return_inverse=True)  # the highest peak of a group stands for it
    graph = _merge_nodes(graph, first, group)
    cut = found.edge_cut._replace(labels=labels[first], kept=graph.inside(labels[first]))
    return replace(found, topo_graph=graph, edge_cut=cut, local_labels=group[found.local_labels], hierarchy=None)


def _merge_nodes(graph: TopoGraph, first: Array, group: Array) -> TopoGraph:
    """The graph of groups of local clusters: pairs and similarities are summed, bridges stay where nothing else is."""
    ends = np.sort(group[graph.edges], axis=1)
    between = np.flatnonzero(ends[:, 0] != ends[:, 1])
    edges, which = np.unique(ends[between], axis=0, return_inverse=True)
    which, log_sums, real = which.ravel(), graph.log_sums[between], graph.real[between]
    sizes, pairs = np.bincount(group, graph.sizes), np.bincount(which, graph.pairs[between], minlength=len(edges))
    largest = np.full(len(edges), -np.inf)
    np.maximum.at(largest, which[real], log_sums[real])
    has_pairs = np.isfinite(largest)
    total = np.bincount(which[real], np.exp(log_sums[real] - largest[which[real]]), minlength=len(edges))
    bridge = np.full(len(edges), -np.inf)
    np.maximum.at(bridge, which[~real], log_sums[~real])
    weights = np.log(np.maximum(total, 1e-300)) + largest - np.log(sizes[edges]).sum(axis=1)
    return TopoGraph(sizes, graph.peaks[first], edges, np.where(has_pairs, weights, bridge), pairs.astype(np.int64))


def told_nodes(found: Clustering, drawn: Clustering) -> str:
    """How many local clusters there are, and in how many groups they are drawn."""
    told = count_of(len(found.peaks), "local cluster")
    return told if drawn is found else f"{told}, in {count_of(len(drawn.peaks), 'group')}"
