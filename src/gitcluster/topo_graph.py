"""Stage 4: the topo-graph, how strongly neighbouring local clusters are connected.

A boundary pair is two samples of different local clusters, each among the other's neighbours (Eq. 10), with
similarity s(x, y) = exp(-d(x, y)). The weight of an edge is S(i, j) = sum of s over the boundary pairs between i and
j, divided by |C_i| |C_j| (Eq. 9), kept as a logarithm because s underflows in high dimensions.
Relative similarity has no scale: s(x, y) = (min(f(x), f(y)) / min(f(peak i), f(peak j)))^2, how deep the valley between
two peaks is where the pair crosses it.

:func:`bridge_components` connects the parts of a graph between which there are no boundary pairs.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, follow_to_end, inverse_order, starts_of
from gitcluster._support.validation import check_choice
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks, structures, sums
from gitcluster.local_clusters import LocalClusters
from gitcluster.neighbors import Neighbors
from gitcluster.preprocessing.sources import SearchAmong, Source, as_source
from gitcluster.variants import SIMILARITIES

BOUNDARIES = ("mutual", "uphill")
ROWS_AT_ONCE = 1 << 12
"""Edges that boundary pairs are summed for at a time, and one per local cluster."""
NEAR_PEAKS = (8, 32)
"""Nearest peaks among which bridges are searched first. Only large components have none of another one among them."""
TINY = 1e-12
"""Weight of a sample of weight 0, whose logarithm is needed."""


class TopoGraph(NamedTuple):
    """Weighted graph of local clusters."""

    sizes: Array
    """(m,) samples in every local cluster."""
    peaks: Array
    """(m,) sample at the peak of every local cluster."""
    edges: Array
    """(e, 2) local clusters i < j."""
    log_weights: NDArray[np.float64]
    """(e,) log S(i, j); of a bridge, minus the distance between the two peaks."""
    pairs: Array
    """(e,) boundary pairs behind the edge; 0 marks a bridge."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """(e,) S(i, j); 0 for bridges."""
        return np.where(self.real, np.exp(self.log_weights), 0.0)

    @property
    def real(self) -> NDArray[np.bool_]:
        """(e,) whether boundary pairs are behind the edge; the others are bridges."""
        return np.asarray(self.pairs > 0)

    @property
    def log_sums(self) -> NDArray[np.float64]:
        """(e,) log of the summed similarity of the boundary pairs; of a bridge, its weight."""
        return self.log_weights + np.where(self.real, np.log(self.sizes[self.edges]).sum(axis=1), 0)

    @property
    def log_widths(self) -> NDArray[np.float64]:
        """(e,) log of ``pairs / sqrt(|C_i| |C_j|)``, how wide the boundary is; of a bridge, its weight."""
        wide = np.log(np.maximum(self.pairs, 1)) - np.log(self.sizes[self.edges]).sum(axis=1) / 2
        return np.where(self.real, wide, self.log_weights)

    def inside(self, labels: Array) -> NDArray[np.bool_]:
        """(e,) whether the edge lies within a cluster, by the cluster of every local cluster."""
        return np.asarray(labels[self.edges[:, 0]] == labels[self.edges[:, 1]])

    def join(self, edges: Array) -> NDArray[np.int64]:
        """(m,) highest peak of the part of every local cluster, after merging along some edges."""
        root = np.arange(len(self.sizes))
        structures.union_edges(root, self.edges, edges)
        return follow_to_end(root)

    def add_bridges(self, ends: Any, log_weights: Any) -> "TopoGraph":
        """Return the graph with more edges, which have no boundary pairs."""
        return self._replace(
            edges=np.concatenate([self.edges, np.array(ends, dtype=np.int64).reshape(-1, 2)]),
            log_weights=np.concatenate([self.log_weights, log_weights]),
            pairs=np.concatenate([self.pairs, np.zeros(len(ends), np.int64)]),
        )


def build_topo_graph(
    neighbors: Neighbors,
    local_clusters: LocalClusters,
    *,
    log_intensity: NDArray[np.float64] | None = None,
    similarity: str = "distance",
    boundary: str = "mutual",
    n_neighbors: int | None = None,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> TopoGraph:
    """Collect the boundary pairs and sum their similarities.

    Parameters
    ----------
    neighbors : Neighbors
    local_clusters : LocalClusters
    log_intensity : ndarray of shape (n_samples,), default=None
        Needed for uphill pairs and for every similarity but "distance".
    similarity : {"distance", "relative", "intensity"}, default="distance"
        exp(-d), or the intensity of the pair relative to the two peaks, or its squared mean (the paper's Algorithm 2).
    boundary : {"mutual", "uphill"}, default="mutual"
        Neighbours of each other; or, as in the authors' published code, the neighbours of a sample with higher
        intensity, without the nearest of them, mutual or not.
    n_neighbors : int, default=None
        Number of neighbours to use, the nearest of those in ``neighbors``; all of them by default.
    weights : ndarray of shape (n_samples,), default=None
        A boundary pair counts the product of its weights.
    n_jobs : int, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import estimate_intensity, find_local_clusters, find_neighbors
    >>> near = find_neighbors(np.array([[0.0], [1.0], [1.5], [3.0], [3.5], [4.5]]), n_neighbors=3)
    >>> local = find_local_clusters(near, estimate_intensity(near))
    >>> build_topo_graph(near, local).edges
    array([[0, 1]])
    """
    check_choice("similarity", similarity, SIMILARITIES)
    check_choice("boundary", boundary, BOUNDARIES)
    rate, valley, of_intensity = SIMILARITIES[similarity]
    if log_intensity is None and (valley or of_intensity or boundary == "uphill"):
        raise ValueError('log_intensity must be given for uphill pairs and for every similarity but "distance".')
    indices, distances = neighbors.indices, neighbors.distances
    parent, labels, peaks, sizes = local_clusters
    k = neighbors.check_reach(n_neighbors)
    crossing = np.zeros((len(labels), k), np.bool_)
    if boundary == "mutual" and neighbors.is_mutual:
        last = (distances[:, k - 1].copy(), indices[:, k - 1].copy())
        ids = np.arange(len(labels), dtype=indices.dtype)
        run_chunks(
            kernels.mark_near_pairs, len(labels), n_jobs, indices, distances, k, labels, ids, *last, crossing
        )  # fmt: skip
    elif boundary == "mutual":
        run_chunks(kernels.mark_mutual_pairs, len(labels), n_jobs, indices, k, labels, crossing)
    else:
        run_chunks(kernels.mark_uphill_pairs, len(labels), n_jobs, indices, k, log_intensity, parent, labels, crossing)
    if of_intensity and log_intensity is not None:  # exp(-d) = ((f(x) + f(y)) / 2)**2, from log f
        distances = 2 * (np.log(2) - np.logaddexp(log_intensity[:, None], log_intensity[indices]))
    level = np.zeros(len(labels)) if log_intensity is None else valley * log_intensity
    log_weight = np.zeros(len(labels)) if weights is None else np.log(np.maximum(weights, TINY))
    bins = level_bins(level if rate == 0 and weights is None else level[:0], n_jobs=n_jobs)
    starts, members = starts_of(np.bincount(labels, minlength=len(peaks))), np.argsort(labels, kind="stable")
    summed = run_chunks(
        sum_boundary_pairs, len(sizes), n_jobs,
        members, starts, indices, distances, crossing, labels, level, bins, rate, log_weight, min_chunk_size=256,
    )  # fmt: skip
    ends, pairs, totals = (np.concatenate(part) for part in zip(*summed, strict=True))
    return collect_edges(ends, pairs, totals, sizes, peaks, level[peaks])


def level_bins(level: NDArray[np.float64], *, n_jobs: int | None = None) -> NDArray[np.int64]:
    """Return the exponentials of levels as bins that can be added exactly."""
    bins = np.empty((len(level), 4), np.int64)
    run_chunks(kernels.split_levels, len(level), n_jobs, level, bins)
    return bins


def sum_boundary_pairs(start: int, stop: int, members: Array, starts: Array, *pairs: Any) -> tuple[Array, Array, Array]:
    """Return ends, numbers of pairs and summed similarities of some local clusters with all others."""
    n_local, parts = len(starts) - 1, []
    row_of, done = np.full(n_local, -1), start
    while done < stop:
        ends, totals = np.zeros((n_local + ROWS_AT_ONCE, 3), np.int64), sums.empty_totals(n_local + ROWS_AT_ONCE)
        done, count = kernels.sum_pairs(done, stop, members, starts, *pairs, row_of, ends, totals)
        parts.append((ends[:count, :2].copy(), ends[:count, 2].copy(), totals[:count].copy()))
    ends, counts, totals = (np.concatenate(part) for part in zip(*parts, strict=True))
    return ends, counts, totals


def collect_edges(
    ends: Array, pairs: Array, totals: Array, sizes: Array, peaks: Array, peak_level: NDArray[np.float64]
) -> TopoGraph:
    """Return the graph with one edge i < j from the sums of both directions, relative to ``peak_level``."""
    edges, pairs, totals = merge_sums(np.sort(ends, axis=1), pairs, totals)
    some = [sums.log_totals(totals[first : first + ROWS_AT_ONCE]) for first in range(0, len(totals), ROWS_AT_ONCE)]
    log_sums = np.concatenate([np.empty(0), *some]) - np.log(sizes[edges]).sum(axis=1)  # not all as Python's floats
    lower_peak = edges[:, 1]  # local clusters are numbered from the highest peak down
    return TopoGraph(sizes, peaks, edges, log_sums - peak_level[lower_peak], pairs)


def merge_sums(ends: Array, pairs: Array, totals: Array) -> tuple[Array, Array, Array]:
    """Return every pair of ends once, sorted, with the totals of its sums."""
    first, second = ends.T
    if ((first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))).all():
        return ends, pairs, totals
    order = np.argsort(first.astype(np.int64) * (second.max() + 1) + second)  # sums are the same in any order
    ends, pairs, totals = ends[order], pairs[order], totals[order]
    fresh = np.ones(len(ends), np.bool_)
    fresh[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    if fresh.all():
        return ends, pairs, totals
    number = np.cumsum(fresh) - 1
    counts = np.zeros(fresh.sum(), np.int64)
    np.add.at(counts, number, pairs)
    return ends[fresh], counts, sums.merge_totals(number, totals, len(counts))


def rank_edges(graph: TopoGraph) -> NDArray[np.int64]:
    """Return the rank of every edge, the strongest highest; bridges are below all others."""
    order = np.lexsort((-np.arange(len(graph.edges)), graph.log_weights, graph.real))
    return inverse_order(order)


def bridge_components(graph: TopoGraph, points: Any, *, metric: str = "euclidean") -> TopoGraph:
    """Connect the components of the graph by the shortest bridges between peaks.

    A component without boundary pairs to the rest then still has a nearest neighbour. Bridges have no boundary pairs
    and count only if nothing else connects two clusters.

    Parameters
    ----------
    graph : TopoGraph
    points : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) distances, or None
        The input of :func:`find_neighbors`. If it is None, every component is connected to the largest one, and smaller
        components have shorter bridges.
    metric : str, default="euclidean"
    """
    source = points if points is None or isinstance(points, Source) else as_source(points, metric)
    component = np.unique(graph.join(np.arange(len(graph.edges))), return_inverse=True)[1]
    if component.max() == 0:
        return graph
    search = None if source is None else source.search_among(graph.peaks)
    if search is None:
        highest = np.unique(component, return_index=True)[1]  # the lowest number is the highest peak
        order = np.lexsort((-highest, np.bincount(component, graph.sizes)))
        to_largest = [sorted((int(highest[c]), int(highest[order[-1]]))) for c in order[:-1]]
        return graph.add_bridges(to_largest, -1.0 - np.arange(len(to_largest)))
    distance: dict[tuple[int, int], float] = {}
    while component.max() > 0:
        root = np.arange(component.max() + 1)
        for d, i, j in sorted(set(shortest_bridges(search, component))):
            a, b = structures.find(root, component[i]), structures.find(root, component[j])
            if a != b:  # equal distances could close a circle
                structures.union(root, a, b)
                distance[i, j] = d
        component = np.unique(follow_to_end(root)[component], return_inverse=True)[1]
    ends = sorted(distance)
    return graph.add_bridges(ends, [-distance[pair] for pair in ends])


def shortest_bridges(search: SearchAmong, component: Array) -> list[tuple[float, int, int]]:
    """Return the shortest bridge out of every component but the largest: its length and the two peaks."""
    everyone, open_peaks = np.arange(len(component)), np.flatnonzero(component != np.bincount(component).argmax())
    best: dict[int, tuple[float, int, int]] = {}
    for k in (min(n, len(component)) for n in NEAR_PEAKS):
        distances, near = search(open_peaks, everyone, k)
        outside = component[near] != component[open_peaks][:, None]
        nearest = np.where(outside, distances, np.inf).min(axis=1)
        for row in np.flatnonzero(outside.any(axis=1)):
            i, j = int(open_peaks[row]), int(near[row][outside[row] & (distances[row] == nearest[row])].min())
            bridge = (float(nearest[row]), min(i, j), max(i, j))
            best[component[i]] = min(best.get(component[i], bridge), bridge)
        # A peak stays open only if it saw no peak outside and may still have one nearer than the best bridge.
        limit = np.array([best.get(component[i], (np.inf,))[0] for i in open_peaks])
        open_peaks = open_peaks[~outside.any(axis=1) & (distances[:, -1] < limit)]
        if not len(open_peaks):
            break
    for number in np.unique(component[open_peaks]):  # large components
        rows, others = np.flatnonzero(component == number), np.flatnonzero(component != number)
        distances, near = search(rows, others, 1)
        first = int(distances.argmin())
        i, j = int(rows[first]), int(near[first, 0])
        best[number] = (float(distances[first, 0]), min(i, j), max(i, j))
    return list(best.values())
