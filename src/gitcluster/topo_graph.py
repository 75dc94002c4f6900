"""Stage 4: the topo-graph, how strongly neighbouring local clusters are connected.

A boundary pair is two samples of different local clusters, each among the other's neighbours (Eq. 11), with
similarity s(x, y) = exp(-d(x, y)). The weight of an edge is S(i, j) = sum of s over the boundary pairs between i and
j, divided by |C_i| |C_j| (Eq. 10), kept as a logarithm because s underflows in high dimensions.
Relative similarity has no scale: s(x, y) = (min(f(x), f(y)) / min(f(peak i), f(peak j)))^2, how deep the valley between
two peaks is where the pair crosses it.

In: neighbours and local clusters. Out: :class:`TopoGraph`. :func:`bridge_components` ties the parts of a graph
that no boundary pair connects.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gitcluster import _kernels
from gitcluster._jit import run_chunks
from gitcluster._validation import check_choice
from gitcluster.local_clusters import LocalClusters
from gitcluster.neighbors import Array, Neighbors
from gitcluster.search import candidate_search, nearest_between, round_distances

SIMILARITIES = ("distance", "relative")
BOUNDARIES = ("mutual", "uphill")
RELATIVE_POWER = 2.0
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
        return np.where(self.pairs > 0, np.exp(self.log_weights), 0.0)


def build_topo_graph(
    neighbors: Neighbors,
    local_clusters: LocalClusters,
    *,
    log_intensity: NDArray[np.float64] | None = None,
    similarity: str = "distance",
    boundary: str = "mutual",
    n_neighbors: int | None = None,
    weights: NDArray[np.float64] | None = None,
    symmetric: bool = True,
    n_jobs: int | None = None,
) -> TopoGraph:
    """Collect the boundary pairs and sum their similarities.

    Parameters
    ----------
    neighbors : Neighbors
    local_clusters : LocalClusters
    log_intensity : ndarray of shape (n_samples,), default=None
        Needed for relative similarity and for uphill pairs.
    similarity : {"distance", "relative"}, default="distance"
        exp(-d), or the intensity of the pair relative to the two peaks.
    boundary : {"mutual", "uphill"}, default="mutual"
        Neighbours of each other; or, as in the authors' published code, the neighbours of a sample with higher
        intensity, without the nearest of them, mutual or not.
    n_neighbors : int, default=None
        Look among the nearest so many neighbours, all by default.
    weights : ndarray of shape (n_samples,), default=None
        A boundary pair counts the product of its weights.
    symmetric : bool, default=True
        Whether d(x, y) = d(y, x) up to rounding, which makes mutual neighbours faster to find.
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
    if log_intensity is None and (similarity, boundary) != ("distance", "mutual"):
        raise ValueError("log_intensity must be given for relative similarity and for uphill pairs.")
    indices, distances = neighbors.indices, neighbors.distances
    parent, labels, peaks, sizes = local_clusters
    k = neighbors.check_reach(n_neighbors)
    crossing = np.zeros((len(labels), k), np.bool_)
    if boundary == "mutual":
        run_chunks(_kernels.mark_mutual_pairs, len(labels), n_jobs, indices, distances, k, labels, symmetric, crossing)
    else:
        run_chunks(_kernels.mark_uphill_pairs, len(labels), n_jobs, indices, k, log_intensity, parent, labels, crossing)
    level = np.zeros(len(labels))
    if similarity == "relative" and log_intensity is not None:
        level = RELATIVE_POWER * log_intensity
    log_weight = np.zeros(len(labels)) if weights is None else np.log(np.maximum(weights, TINY))
    starts = np.concatenate(([0], np.cumsum(np.bincount(labels, minlength=len(peaks)))))
    members = np.argsort(labels, kind="stable")
    rate = 1.0 if similarity == "distance" else 0.0
    summed = run_chunks(
        _kernels.sum_pairs, len(sizes), n_jobs,
        members, starts, indices, distances, crossing, labels, level, rate, log_weight, smallest=256,
    )  # fmt: skip
    ends, pairs, totals = (np.concatenate(parts) for parts in zip(*summed, strict=True))
    return collect_edges(ends, pairs, totals, sizes, peaks, level[peaks])


def collect_edges(
    ends: Array, pairs: Array, totals: Array, sizes: Array, peaks: Array, peak_level: NDArray[np.float64]
) -> TopoGraph:
    """One edge i < j from all that was summed for i, j and for j, i; similarities are relative to ``peak_level``."""
    edges, pairs, totals = merge_sums(np.sort(ends, axis=1), pairs, totals)
    log_sums = np.empty(len(edges))
    _kernels.log_totals(totals, log_sums)
    log_sums -= np.log(sizes[edges]).sum(axis=1)
    lower_peak = edges[:, 1]  # the higher number
    return TopoGraph(sizes, peaks, edges, log_sums - peak_level[lower_peak], pairs)


def merge_sums(ends: Array, pairs: Array, totals: Array) -> tuple[Array, Array, Array]:
    """Every two ends once, in order, with all that was summed for them."""
    order = np.lexsort(ends.T[::-1])
    fresh = np.ones(len(ends), np.bool_)
    fresh[1:] = (np.diff(ends[order], axis=0) != 0).any(axis=1)
    place = np.empty_like(order)
    place[order] = np.cumsum(fresh) - 1
    edges, merged = ends[order][fresh], _kernels.empty_totals(int(fresh.sum()))
    _kernels.merge_totals(place, totals, merged)
    counts = np.zeros(len(edges), np.int64)
    np.add.at(counts, place, pairs)
    return edges, counts, merged


def bridge_components(graph: TopoGraph, points: Any, *, metric: str = "euclidean") -> TopoGraph:
    """Tie the components of the graph by bridges between nearest peaks: the shortest ones that connect it.

    A component that no boundary pair connects to the rest thereby still has a nearest neighbour, whatever it has
    been merged with. Bridges have no boundary pairs and count only where nothing else connects.

    Parameters
    ----------
    graph : TopoGraph
    points : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) distances, or None
        What :func:`find_neighbors` was given. None where there is nothing but the graph: then every component is
        tied to the largest, the smaller the shorter.
    metric : str, default="euclidean"
    """
    if points is None or points.shape[1] == 0:
        return _tie_to_largest(graph)
    peaks = points[graph.peaks]
    if metric == "precomputed":
        peaks = peaks[:, graph.peaks]
    distance: dict[tuple[int, int], float] = {}
    component = _components(len(graph.sizes), graph.edges)
    while component.max() > 0:
        root = np.arange(component.max() + 1)
        for i, j, d in _nearest_outside(peaks, component, metric):
            a, b = _kernels.find(root, component[i]), _kernels.find(root, component[j])
            if a != b:  # equal distances could close a circle
                _kernels.union(root, a, b)
                distance[i, j] = d
        _kernels.find_all(root)
        component = np.unique(root[component], return_inverse=True)[1]
    if not distance:
        return graph
    edges = np.array(sorted(distance), dtype=np.int64)
    return graph._replace(
        edges=np.concatenate([graph.edges, edges]),
        log_weights=np.concatenate([graph.log_weights, [-distance[i, j] for i, j in edges.tolist()]]),
        pairs=np.concatenate([graph.pairs, np.zeros(len(edges), np.int64)]),
    )


def _tie_to_largest(graph: TopoGraph) -> TopoGraph:
    component = _components(len(graph.sizes), graph.edges)
    weight = np.bincount(component, graph.sizes)
    highest = np.unique(component, return_index=True)[1]  # the lowest number is the highest peak
    order = np.lexsort((-highest, weight))
    ends = [sorted((int(highest[c]), int(highest[order[-1]]))) for c in order[:-1]]
    return graph._replace(
        edges=np.concatenate([graph.edges, np.array(ends, dtype=np.int64).reshape(-1, 2)]),
        log_weights=np.concatenate([graph.log_weights, -1.0 - np.arange(len(ends))]),
        pairs=np.concatenate([graph.pairs, np.zeros(len(ends), np.int64)]),
    )


def _components(n_nodes: int, edges: Array) -> Array:
    ends = edges.astype(np.int32).T  # older scipy takes graphs of no other integers
    adjacency = coo_array((np.ones(len(edges)), (ends[0], ends[1])), shape=(n_nodes, n_nodes))
    return connected_components(adjacency, directed=False)[1]  # type: ignore[no-any-return]


def _nearest_outside(peaks: Any, component: Array, metric: str) -> list[tuple[int, int, float]]:
    """For every component but the largest, the shortest way from one of its peaks to a peak of another."""
    waiting = np.flatnonzero(component != np.bincount(component).argmax())
    query, _ = candidate_search(peaks, metric, None)
    best: dict[int, tuple[float, int, int]] = {}
    for n_asked in (min(n, peaks.shape[0]) for n in (8, 32)):
        distances, found = query(waiting, n_asked)
        round_distances(distances)
        outside = component[found] != component[waiting][:, None]
        shortest = np.where(outside, distances, np.inf).min(axis=1)
        for row in np.flatnonzero(outside.any(axis=1)):
            i, j = int(waiting[row]), int(found[row][outside[row] & (distances[row] == shortest[row])].min())
            way = (float(shortest[row]), min(i, j), max(i, j))
            best[component[i]] = min(best.get(component[i], way), way)
        # a peak that was shown nobody outside, though all that are nearer than the best way, need not be asked again
        reach = np.array([best.get(component[i], (np.inf,))[0] for i in waiting])
        waiting = waiting[~outside.any(axis=1) & (distances[:, -1] < reach)]
        if not len(waiting):
            break
    for number in np.unique(component[waiting]):  # large components
        inside = component == number
        d, i, j = nearest_between(peaks, np.flatnonzero(inside), np.flatnonzero(~inside), metric)
        best[number] = (d, min(i, j), max(i, j))
    return [(i, j, d) for d, i, j in sorted(set(best.values()))]
