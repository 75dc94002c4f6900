"""Stage 5 without sizes: one hierarchy of local clusters, cut anywhere.

Eq. 8 is average linkage: the connection of a merged cluster to the others is re-averaged, S = summed similarity of
boundary pairs / product of sizes, and the next merge is along the strongest connection *now*. Every merge has one edge
of the topo-graph behind it, the strongest between the two clusters; these edges are a spanning tree of the local
clusters, and cutting c - 1 of them leaves c clusters.

Which c - 1: the weakest connections first, but no crumbs. A split counts as the c-th only when both sides hold some
part of an average cluster, n / c, say a twentieth; smaller parts wait until c is so large that they are no longer
smaller. So cuts are nested, and far-off samples do not take the place of a cluster.

In: topo-graph, connected by its bridges. Out: :class:`Merges` in the order of linkage, :class:`Hierarchy` in the order
in which they are undone.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, follow_to_end
from gitcluster.edge_cutting import label_by_size
from gitcluster.intensity import rounding_step
from gitcluster.kernels import linkage as kernels
from gitcluster.kernels import structures
from gitcluster.topo_graph import TopoGraph

CRUMB = 20
"""A part of a cluster is a crumb below this part of an average cluster."""
SAME_SIZE = 1e-9
"""Shares that differ by less are equal."""


class Merges(NamedTuple):
    """All merges of average linkage, the strongest connection first."""

    edges: Array
    """(m - 1,) topo-graph edge behind every merge."""
    log_strength: NDArray[np.float64]
    """(m - 1,) log S of the two clusters when they merged; -inf across a bridge."""
    smaller: Array
    """(m - 1,) samples on the smaller side."""


class NestedCuts(NamedTuple):
    """Cuts into 1, 2, ... clusters, each of which splits one cluster of the cut before.

    Parts are the clusters of the last cut, in order of first sight; a cluster goes by the number of its first part.
    """

    part: Array
    """(m,) part of every local cluster."""
    joined: Array
    """(p - 1, 2) clusters that become one on the way from 2, 3, ... clusters to one less, that which stays first."""

    def labels(self, n_clusters: int) -> Array:
        """Cluster of every local cluster in one of the cuts, in order of first sight."""
        first = np.arange(len(self.joined) + 1)
        for i, j in self.joined[n_clusters - 1 :][::-1].tolist():
            first[first == j] = i
        return np.unique(first, return_inverse=True)[1][self.part]

    def cluster_sizes(self, sizes: Array) -> NDArray[np.float64]:
        """(p, p) sizes of the clusters of every cut, the first into one; 0 for parts that are not first in any."""
        found = np.empty((len(self.joined) + 1,) * 2)
        found[-1] = np.bincount(self.part, sizes)
        for cut, (i, j) in reversed(list(enumerate(self.joined.tolist()))):
            found[cut] = found[cut + 1]
            found[cut, i] += found[cut, j]
            found[cut, j] = 0
        return found


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


def build_hierarchy(graph: TopoGraph, *, crumb: int = CRUMB, around: Array | None = None) -> Hierarchy:
    """Link the local clusters of a connected topo-graph.

    Parameters
    ----------
    graph : TopoGraph
    crumb : int, default=20
        No split leaves less than this part of an average cluster, as long as another is possible.
    around : ndarray of shape (m,), default=None
        Clusters of the local clusters, each connected, that are to be one of the cuts.

    Examples
    --------
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.3]), pairs=np.array([2, 1]),
    ... )
    >>> cut_hierarchy(build_hierarchy(graph), graph, n_clusters=2)
    array([0, 1, 1])
    """
    return order_merges(link(graph, around=around), graph, crumb=crumb, around=around)


def order_merges(merges: Merges, graph: TopoGraph, *, crumb: int = CRUMB, around: Array | None = None) -> Hierarchy:
    """The hierarchy of merges that are known, see :func:`build_hierarchy`."""
    order = undo_order(merges, graph, crumb)[::-1]
    if around is not None:
        inside = graph.inside(around)[merges.edges[order]]
        order = np.concatenate([order[inside], order[~inside]])
    edges, strength, smaller = (part[order] for part in merges)
    return Hierarchy(_scipy_linkage(graph, edges, strength), edges, strength, smaller)


def link(graph: TopoGraph, *, around: Array | None = None) -> Merges:
    """All merges of average linkage; those within given clusters first."""
    root = np.arange(len(graph.sizes))
    if around is None:
        return link_edges(graph, np.arange(len(graph.edges)), root)
    inside = graph.inside(around)
    parts = [link_edges(graph, np.flatnonzero(some), root) for some in (inside, ~inside)]
    return Merges(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def link_edges(
    graph: TopoGraph, among: Array, root: Array, *, rival: Array | None = None, apart: Array | None = None
) -> Merges:
    """Merges of average linkage along some edges, then across bridges, the shortest first.

    ``root`` has what is together already, and is changed; no two clusters with a ``rival`` of their own (-1 for none)
    come together, nor do local clusters that must be ``apart``.
    """
    m, real = len(root), graph.real[among]
    strong, bridges = among[real], among[~real]
    bridges = bridges[np.argsort(-graph.log_weights[bridges], kind="stable")]
    never = np.empty((0, 2), np.int64) if apart is None else apart
    edges = np.concatenate([graph.edges[strong], never, graph.edges[bridges]])
    log_sums = np.concatenate([graph.log_sums[strong], np.full(len(never), np.inf)])
    top, name, single = follow_to_end(root), np.full(m, m), np.full(m, -1)
    np.minimum.at(name, top, np.arange(m))
    np.maximum.at(single, top, -1 if rival is None else rival)
    merges, heights, smaller = kernels.link_average(
        len(strong), edges, log_sums, root, np.bincount(top, graph.sizes, minlength=m).astype(np.int64), name, single,
        rounding_step(np.float64), structures.make_table(len(log_sums)),
    )  # fmt: skip
    names = np.concatenate([strong, np.full(len(never), -1), bridges])
    return Merges(names[merges], heights, smaller)


def undo_order(merges: Merges, graph: TopoGraph, crumb: int, n_undone: int | None = None) -> Array:
    """Merges in the order in which they are undone, where no split leaves less than a part of an average cluster."""
    return rank_splits(merges.smaller, graph, crumb, n_undone)


def rank_splits(smaller: Array, graph: TopoGraph, crumb: int, n_splits: int | None = None) -> Array:
    """Merges, whose ``smaller`` sides are given, in the order in which to undo them, the last that leaves no crumb
    first; all of them, or some."""
    n_splits = len(smaller) if n_splits is None else min(n_splits, len(smaller))
    total, by_size = graph.sizes.sum(), iter(np.lexsort((-np.arange(len(smaller)), -smaller)).tolist())
    sides, largest = smaller.tolist(), next(by_size, None)
    ranked: list[int] = []
    ready: list[int] = []
    for rank in range(n_splits):
        least = total / (crumb * (rank + 2))
        while largest is not None and (sides[largest] >= least or not ready):
            heappush(ready, -largest)
            largest = next(by_size, None)
        ranked.append(-heappop(ready))
    return np.array(ranked, np.int64)


def cut_merges(merges: Merges, graph: TopoGraph, undone: Array) -> tuple[Array, Array]:
    """Final cluster of every local cluster where some merges are undone, and the edges of the others."""
    kept = np.ones(len(merges.edges), np.bool_)
    kept[undone] = False
    root = np.arange(len(graph.sizes))
    structures.union_edges(root, graph.edges, merges.edges[kept])
    return label_by_size(root, graph.sizes)[0], merges.edges[kept]


def fit_undone(merges: Merges, graph: TopoGraph, undone: Array, prior: NDArray[np.float64]) -> Array:
    """Which merges to undo for clusters of the sizes of a prior: not the first ones at any price, but some of those
    that are undone for up to twice as many clusters."""
    among = undone[: 2 * len(prior) - 2]
    parts, _ = cut_merges(merges, graph, among)
    sizes = np.bincount(parts, graph.sizes).astype(np.float64)
    ends = parts[graph.edges[merges.edges[among]]]
    cut = kernels.fit_cuts(ends, sizes, np.sort(prior) * sizes.sum(), SAME_SIZE * sizes.sum())
    return np.asarray(among[cut])


def cut_repeatedly(merges: Merges, graph: TopoGraph, undone: Array) -> NestedCuts:
    """Clusters of local clusters where the first 0, 1, 2, ... of ``undone`` are undone."""
    kept, root = np.ones(len(merges.edges), np.bool_), np.arange(len(graph.sizes))
    kept[undone] = False
    structures.union_edges(root, graph.edges, merges.edges[kept])
    part = np.unique(follow_to_end(root), return_inverse=True)[1]
    first, joined = list(range(len(undone) + 1)), np.empty((len(undone), 2), np.int64)
    for cut, ends in reversed(list(enumerate(part[graph.edges[merges.edges[undone]]].tolist()))):
        i, j = sorted(structures.find(first, end) for end in ends)
        first[j] = i
        joined[cut] = i, j
    return NestedCuts(part, joined)


def connect_clusters(graph: TopoGraph, labels: Array) -> Array:
    """Clusters of local clusters, each connected: parts apart from the largest join what they are connected to best."""
    inside = np.flatnonzero(graph.inside(labels))
    root = np.arange(len(graph.sizes))
    structures.union_edges(root, graph.edges, inside)
    part, sizes = label_by_size(root, graph.sizes)
    if len(sizes) == labels.max() + 1:
        return part
    of_part = np.empty(len(sizes), np.int64)
    of_part[part] = labels
    _, largest = np.unique(of_part, return_index=True)
    rival = np.where(np.isin(part, largest), labels, -1)
    link_edges(graph, np.arange(len(graph.edges)), root, rival=rival)
    return label_by_size(root, graph.sizes)[0]


def _scipy_linkage(graph: TopoGraph, edges: Array, strength: NDArray[np.float64]) -> NDArray[np.float64]:
    m = len(graph.sizes)
    finite = strength[np.isfinite(strength)]
    top, bottom = (finite.max(), finite.min()) if len(finite) else (0.0, 0.0)
    heights = np.maximum.accumulate(np.where(np.isfinite(strength), top - strength, top - bottom + 1.0))
    heights += np.arange(m - 1) * (1e-9 * (1.0 + heights[-1:]))  # no two alike: scipy cuts by height
    root, node, size, rows = list(range(m)), list(range(m)), [1] * m, []
    for t, ends in enumerate(graph.edges[edges].tolist()):
        i, j = (structures.find(root, end) for end in ends)
        rows.append((min(node[i], node[j]), max(node[i], node[j]), heights[t], size[i] + size[j]))
        both = structures.union(root, i, j)
        node[both], size[both] = m + t, size[i] + size[j]
    return np.array(rows, np.float64).reshape(-1, 4)


def cut_hierarchy(hierarchy: Hierarchy, graph: TopoGraph, *, n_clusters: int) -> Array:
    """Final cluster of every local cluster: 0 is the largest, ties go to the higher peak."""
    root = np.arange(len(graph.sizes))
    structures.union_edges(root, graph.edges, merges_down_to(hierarchy, n_clusters))
    return label_by_size(root, graph.sizes)[0]


def merges_down_to(hierarchy: Hierarchy, n_clusters: int) -> Array:
    """Edges of the merges that leave ``n_clusters``."""
    return hierarchy.edges[: max(len(hierarchy.edges) + 1 - n_clusters, 0)]
