"""Stage 5 of the adaptive variant: one hierarchy of local clusters that can be cut into any number of clusters.

Eq. 8 is average linkage: the connection of a merged cluster to the others is averaged again, S = summed similarity of
boundary pairs / product of sizes, and the next merge follows the strongest connection at that time. Behind every merge
is the strongest edge of the topo-graph between the two clusters. These edges are a spanning tree of the local clusters,
and cutting c - 1 of them leaves c clusters.

The weakest connections are cut first, with one exception. A split counts as the c-th only if both sides hold a certain
part of an average cluster, n / c, say a twentieth. Smaller parts are split off when c has become so large that they
satisfy this. So cuts are nested, and a few distant samples are not split off instead of a cluster.

:func:`cut_spectrum` is the alternative that weighs all boundaries at once: spectral clustering of the topo-graph.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import coo_array
from scipy.sparse.linalg import ArpackError, eigsh

from gitcluster._support.arrays import Array, follow_to_end
from gitcluster.edge_cutting import label_by_size
from gitcluster.intensity import rounding_step
from gitcluster.kernels import limit_threads, structures
from gitcluster.kernels import linkage as kernels
from gitcluster.topo_graph import TopoGraph

MIN_SPLIT_RATIO = 20
"""Both sides of a split hold at least this part (1 / 20) of an average cluster."""
SAME_SIZE = 1e-9
"""Shares that differ by less are equal."""
MAX_DENSE = 300
"""Local clusters up to which all eigenvectors are computed at once."""
BRIDGE_PAIRS = 0.5
"""A bridge counts as half a boundary pair, less than the weakest connection."""
MAX_ROUNDS = 50
"""Rounds of Lloyd's algorithm."""


class Merges(NamedTuple):
    """All merges of average linkage, the strongest connection first."""

    edges: Array
    """(m - 1,) topo-graph edge behind every merge."""
    log_strength: NDArray[np.float64]
    """(m - 1,) log S of the two clusters when they merged; -inf across a bridge."""
    smaller: Array
    """(m - 1,) samples on the smaller side."""


class NestedCuts(NamedTuple):
    """Cuts into 1, 2, ... clusters. Each splits one cluster of the cut before.

    Parts are the clusters of the last cut in order of first appearance; a cluster has the number of its first part.
    """

    part: Array
    """(m,) part of every local cluster."""
    joined: Array
    """(p - 1, 2) clusters that join on the step from 2, 3, ... clusters to one less; the first keeps its number."""

    def labels(self, n_clusters: int) -> Array:
        """Return the cluster of every local cluster in one of the cuts, in order of first appearance."""
        first = np.arange(len(self.joined) + 1)
        for i, j in self.joined[n_clusters - 1 :][::-1].tolist():
            first[first == j] = i
        return np.unique(first, return_inverse=True)[1][self.part]

    def cluster_sizes(self, sizes: Array) -> NDArray[np.float64]:
        """Return the (p, p) sizes of the clusters of every cut, the first into one; 0 for unused numbers."""
        totals = np.empty((len(self.joined) + 1,) * 2)
        totals[-1] = np.bincount(self.part, sizes)
        for cut, (i, j) in reversed(list(enumerate(self.joined.tolist()))):
            totals[cut] = totals[cut + 1]
            totals[cut, i] += totals[cut, j]
            totals[cut, j] = 0
        return totals


class Hierarchy(NamedTuple):
    """All merges of local clusters, up to a single cluster."""

    linkage: NDArray[np.float64]
    """(m - 1, 4) in scipy's format: two clusters, height, local clusters. Heights are falling log strengths."""
    edges: Array
    """(m - 1,) topo-graph edge behind every merge."""
    log_strength: NDArray[np.float64]
    """(m - 1,) log S of the two clusters when they merged; -inf across a bridge."""
    sizes: Array
    """(m - 1,) samples on the smaller side of every merge."""


def build_hierarchy(graph: TopoGraph, *, around: Array | None = None) -> Hierarchy:
    """Link the local clusters of a connected topo-graph.

    Parameters
    ----------
    graph : TopoGraph
    around : ndarray of shape (m,), default=None
        Clusters of the local clusters, each connected, that must be one of the cuts.

    Examples
    --------
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.3]), pairs=np.array([2, 1]),
    ... )
    >>> cut_hierarchy(build_hierarchy(graph), graph, n_clusters=2)
    array([0, 1, 1])
    """
    return order_merges(link(graph, around=around), graph, around=around)


def order_merges(
    merges: Merges, graph: TopoGraph, *, ratio: int = MIN_SPLIT_RATIO, around: Array | None = None
) -> Hierarchy:
    """Return the hierarchy of known merges, see :func:`build_hierarchy`.

    No split leaves less than 1 / ratio of an average cluster, as long as another is possible.
    """
    order = rank_splits(merges.smaller, graph, ratio)[::-1]
    if around is not None:
        inside = graph.inside(around)[merges.edges[order]]
        order = np.concatenate([order[inside], order[~inside]])
    edges, strength, smaller = (part[order] for part in merges)
    m, finite = len(graph.sizes), strength[np.isfinite(strength)]
    top, bottom = (finite.max(), finite.min()) if len(finite) else (0.0, 0.0)
    heights = np.maximum.accumulate(np.where(np.isfinite(strength), top - strength, top - bottom + 1.0))
    heights += np.arange(m - 1) * (1e-9 * (1.0 + heights[-1:]))  # all different, because scipy cuts by height
    root, node, size, rows = list(range(m)), list(range(m)), [1] * m, []
    for t, ends in enumerate(graph.edges[edges].tolist()):
        i, j = (structures.find(root, end) for end in ends)
        rows.append((min(node[i], node[j]), max(node[i], node[j]), heights[t], size[i] + size[j]))
        both = structures.union(root, i, j)
        node[both], size[both] = m + t, size[i] + size[j]
    return Hierarchy(np.array(rows, np.float64).reshape(-1, 4), edges, strength, smaller)


def link(graph: TopoGraph, *, around: Array | None = None) -> Merges:
    """Return all merges of average linkage; those within given clusters first."""
    root = np.arange(len(graph.sizes))
    if around is None:
        return link_along(graph, np.arange(len(graph.edges)), root)
    inside = graph.inside(around)
    parts = [link_along(graph, np.flatnonzero(some), root) for some in (inside, ~inside)]
    return Merges(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def link_along(
    graph: TopoGraph, among: Array, root: Array, *, class_label: Array | None = None, cannot_link: Array | None = None
) -> Merges:
    """Return the merges of average linkage along some edges, then across bridges, the shortest first.

    ``among`` are edges to merge along, ``root`` the union-find roots of the local clusters that share a cluster
    already, updated in place. No two clusters that have a ``class_label`` (-1 for none) merge, nor do the pairs of
    local clusters in ``cannot_link``.
    """
    m, real = len(root), graph.real[among]
    strong, bridges = among[real], among[~real]
    bridges = bridges[np.argsort(-graph.log_weights[bridges], kind="stable")]
    never = np.empty((0, 2), np.int64) if cannot_link is None else cannot_link
    edges = np.concatenate([graph.edges[strong], never, graph.edges[bridges]])
    log_sums = np.concatenate([graph.log_sums[strong], np.full(len(never), np.inf)])
    top, name, single = follow_to_end(root), np.full(m, m), np.full(m, -1)
    np.minimum.at(name, top, np.arange(m))
    np.maximum.at(single, top, -1 if class_label is None else class_label)
    merges, heights, smaller = kernels.link_average(
        len(strong), edges, log_sums, root, np.bincount(top, graph.sizes, minlength=m).astype(np.int64), name, single,
        rounding_step(np.float64), structures.make_table(len(log_sums)),
    )  # fmt: skip
    names = np.concatenate([strong, np.full(len(never), -1), bridges])
    return Merges(names[merges], heights, smaller)


def rank_splits(smaller: Array, graph: TopoGraph, ratio: int, n_splits: int | None = None) -> Array:
    """Return the merges in the order in which to undo them: the last one first that leaves no small part.

    ``smaller`` is the size of the smaller side of every merge. ``n_splits`` limits the result.
    """
    n_splits = len(smaller) if n_splits is None else min(n_splits, len(smaller))
    total, by_size = graph.sizes.sum(), iter(np.lexsort((-np.arange(len(smaller)), -smaller)).tolist())
    sides, largest = smaller.tolist(), next(by_size, None)
    ranked: list[int] = []
    ready: list[int] = []
    for rank in range(n_splits):
        least = total / (ratio * (rank + 2))
        while largest is not None and (sides[largest] >= least or not ready):
            heappush(ready, -largest)
            largest = next(by_size, None)
        ranked.append(-heappop(ready))
    return np.array(ranked, np.int64)


def cut_merges(merges: Merges, graph: TopoGraph, splits: Array) -> tuple[Array, Array]:
    """Return the cluster of every local cluster if some merges are undone, and the edges of the other merges."""
    edges = np.delete(merges.edges, splits)
    return label_by_size(graph.join(edges), graph.sizes)[0], edges


def fit_splits(merges: Merges, graph: TopoGraph, splits: Array, prior: NDArray[np.float64]) -> Array:
    """Return the merges to undo for clusters with the sizes of a prior.

    They are chosen among the splits into up to twice as many clusters, not just the first ones.
    """
    among = splits[: 2 * len(prior) - 2]
    parts, _ = cut_merges(merges, graph, among)
    sizes = np.bincount(parts, graph.sizes).astype(np.float64)
    ends = parts[graph.edges[merges.edges[among]]]
    cut = kernels.fit_cuts(ends, sizes, np.sort(prior) * sizes.sum(), SAME_SIZE * sizes.sum())
    return np.asarray(among[cut])


def cut_repeatedly(merges: Merges, graph: TopoGraph, splits: Array) -> NestedCuts:
    """Return the clusters of local clusters after 0, 1, 2, ... ``splits``."""
    part = np.unique(graph.join(np.delete(merges.edges, splits)), return_inverse=True)[1]
    first, joined = list(range(len(splits) + 1)), np.empty((len(splits), 2), np.int64)
    for cut, ends in reversed(list(enumerate(part[graph.edges[merges.edges[splits]]].tolist()))):
        i, j = sorted(structures.find(first, end) for end in ends)
        first[j] = i
        joined[cut] = i, j
    return NestedCuts(part, joined)


def connect_clusters(graph: TopoGraph, labels: Array) -> Array:
    """Return connected clusters: all but the largest part of a cluster join the best connected other cluster.

    Local clusters with a negative label join one as well.
    """
    root = graph.join(np.flatnonzero(graph.inside(labels) & (labels[graph.edges[:, 0]] >= 0)))
    part, sizes = label_by_size(root, graph.sizes)
    if len(sizes) == labels.max() + 1:
        return part
    of_part = np.empty(len(sizes), np.int64)
    of_part[part] = labels
    _, largest = np.unique(of_part, return_index=True)
    class_label = np.where(np.isin(part, largest), labels, -1)
    link_along(graph, np.arange(len(graph.edges)), root, class_label=class_label)
    return label_by_size(root, graph.sizes)[0]


def cut_hierarchy(hierarchy: Hierarchy, graph: TopoGraph, *, n_clusters: int) -> Array:
    """Return the cluster of every local cluster: 0 is the largest, ties go to the higher peak."""
    n_merges = max(len(hierarchy.edges) + 1 - n_clusters, 0)
    return label_by_size(graph.join(hierarchy.edges[:n_merges]), graph.sizes)[0]


def cut_spectrum(graph: TopoGraph, n_neighbors: int, *, n_clusters: int) -> Array | None:
    """Return connected clusters by spectral clustering of the topo-graph; None if the eigenvectors do not converge.

    A random walk along boundary pairs stays in a local cluster with the share of its links that do not leave it. The
    slow eigenvectors of this walk weigh all boundaries at once, while linkage sees one at a time. A sparse cluster
    beside a dense one is detected here.
    """
    m, (first, second), weights = len(graph.sizes), graph.edges.T, np.maximum(graph.pairs, BRIDGE_PAIRS)
    leaving = np.bincount(first, weights, minlength=m) + np.bincount(second, weights, minlength=m)
    # A sample has 2 k links, among which boundary pairs are searched. The walk is D^-1/2 W D^-1/2 with the volumes D,
    # which is symmetric and has the eigenvalues of the random walk D^-1 W.
    volume = np.maximum(2.0 * n_neighbors * graph.sizes, leaving)
    spread, staying = 1 / np.sqrt(volume), 1 - leaving / volume
    steps = spread[first] * weights * spread[second]
    with limit_threads(1):  # the matrices are small: threads would wait for each other
        if m <= max(MAX_DENSE, 2 * n_clusters):
            walk = np.diag(staying)
            walk[second, first] = steps  # eigh reads the lower half only
            vectors = eigh(walk, subset_by_index=[m - n_clusters, m - 1])[1][:, ::-1]
        else:
            rows, columns, nodes = np.append(first, second), np.append(second, first), np.arange(m)
            positions = (np.append(rows, nodes), np.append(columns, nodes))
            sparse_walk = coo_array((np.concatenate([steps, steps, staying]), positions), shape=(m, m)).tocsr()
            try:
                values, vectors = eigsh(sparse_walk, k=n_clusters, which="LA", v0=np.sqrt(volume), tol=1e-8)
            except ArpackError:
                return None
            vectors = vectors[:, np.argsort(-values, kind="stable")]
        lengths = np.linalg.norm(vectors, axis=1)
        points = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
        # The first pivots of a QR decomposition are rows that are far from each other (Damle, Minden and Ying 2019).
        start = qr(vectors.T, mode="r", pivoting=True)[1][:n_clusters]
        labels = lloyd(points, volume, points[start])
    return connect_clusters(graph, np.unique(labels, return_inverse=True)[1])


def lloyd(points: NDArray[np.float64], weights: NDArray[np.float64], means: NDArray[np.float64]) -> Array:
    """Return the nearest mean of every point after Lloyd's algorithm, which starts from some means.

    Unlike scikit-learn's KMeans, an empty cluster keeps its mean, and the sums do not depend on the number of threads.
    """
    means, labels = means.copy(), np.full(len(points), -1)
    for _ in range(MAX_ROUNDS):
        nearest = ((means**2).sum(axis=1) - 2 * points @ means.T).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        totals = np.bincount(labels, weights, minlength=len(means))
        for column in range(points.shape[1]):
            sums = np.bincount(labels, weights * points[:, column], minlength=len(means))
            means[:, column] = np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), means[:, column])
    return labels


def is_same_partition(labels: Array, others: Array) -> bool:
    """Return whether two arrays of labels are equal but for their numbers.

    Examples
    --------
    >>> is_same_partition(np.array([0, 0, 1]), np.array([5, 5, 2]))
    True
    """
    n_pairs = len(np.unique(np.stack([labels, others], axis=1), axis=0))
    return n_pairs == len(np.unique(labels)) == len(np.unique(others))
