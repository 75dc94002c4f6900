"""Stage 5 within constraints: what must be together or apart, and how large a cluster may be.

No local cluster holds samples of two groups, so that a merge of local clusters can keep to all constraints: average
linkage that starts with the groups and leaves out the merges that would join what must be apart, then undone, as in the
hierarchy without constraints, down to the number asked for. Where a cluster is too small or too large in the end, local
clusters at its boundary move, the best connected first.

In: topo-graph and :class:`Ties`. Out: the final cluster of every local cluster.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import label_by_size
from gitcluster.hierarchy import CRUMB, link_edges, rank_splits
from gitcluster.kernels import structures
from gitcluster.prior.constraints import Constraints
from gitcluster.topo_graph import TopoGraph

ROUNDING = 1e-9
"""Share of a bound by which sums of weights may miss it."""
LOST = 1e-12
"""Share of the size of a cluster that rounding may hide in what is left of it."""


class UnmetConstraintsError(ValueError):
    """Constraints that the merge of local clusters did not keep to; it goes step by step and may miss a way.

    ``n_clusters`` is the number of clusters down to which it came, 0 if the number is not the reason.
    """

    def __init__(self, message: str, n_clusters: int = 0) -> None:
        super().__init__(message)
        self.n_clusters = n_clusters


class Ties(NamedTuple):
    """Constraints on samples as constraints on their local clusters."""

    together: Array
    """(t, 2) local clusters that must be in one cluster."""
    apart: Array
    """(p, 2) local clusters that must not be in one cluster."""
    rival: Array
    """(m,) the partial label of every local cluster, -1 for none; no two of them may be in one cluster."""
    smallest: float
    """Least share of samples in a cluster."""
    largest: float
    """Greatest share."""
    weights: NDArray[np.float64]
    """(m,) samples in every local cluster, or the sum of their weights: exact, unlike the sizes of the topo-graph."""

    def are_kept(self, labels: Array) -> bool:
        """Whether labels of local clusters leave together and apart what must be."""
        together, apart, known = labels[self.together], labels[self.apart], self.rival >= 0
        both = np.unique(np.stack([labels[known], self.rival[known]], axis=1), axis=0)
        single = len(both) == len(np.unique(both[:, 0]))
        return bool((together[:, 0] == together[:, 1]).all() and (apart[:, 0] != apart[:, 1]).all() and single)

    def join(self, n_local: int) -> Array:
        """Union-find roots of local clusters, those joined that must be together."""
        root = np.arange(n_local)
        structures.union_edges(root, self.together, np.arange(len(self.together)))
        return root

    def count_parts(self, n_local: int) -> int:
        """Number of local clusters, those counted once that must be together."""
        return len(np.unique(_tops(self.join(n_local))))


def tie_local_clusters(
    constraints: Constraints, local_labels: Array, n_local: int, weights: NDArray[np.float64] | None = None
) -> Ties:
    """Return the constraints on local clusters that those on samples, of these ``weights``, amount to."""
    home = np.full(max(constraints.groups.max(), constraints.apart.max(initial=-1)) + 1, -1)
    known = np.flatnonzero(constraints.groups >= 0)
    home[constraints.groups[known]] = local_labels[known]
    together = np.stack([home[constraints.groups[known]], local_labels[known]], axis=1).astype(np.int64)
    apart = home[constraints.apart].reshape(-1, 2)
    apart = apart[(apart >= 0).all(axis=1)]  # a group may have lost all its samples, of weight 0
    together = np.unique(together[together[:, 0] != together[:, 1]], axis=0)
    rival, known = np.full(n_local, -1), known[np.isin(constraints.groups[known], constraints.labelled)]
    rival[local_labels[known]] = constraints.groups[known]
    total = np.bincount(local_labels, weights, minlength=n_local).astype(np.float64)
    return Ties(together, apart, rival, constraints.smallest, constraints.largest, total)


def merge_constrained(graph: TopoGraph, ties: Ties, *, n_clusters: int, crumb: int = CRUMB) -> Array:
    """Final cluster of every local cluster, with what must be together and apart."""
    root = ties.join(len(graph.sizes))
    ends, smaller = _merge_edges(graph, root, np.arange(len(graph.edges)), ties, n_clusters=n_clusters)
    return _undo_merges(graph, ties, ends, rank_splits(smaller, graph, crumb), n_clusters)


def cut_around(graph: TopoGraph, ties: Ties, labels: Array, *, n_clusters: int) -> Array:
    """Return the final cluster of every local cluster in one of several nested cuts, all of which keep to the links.

    ``labels`` are one of the cuts: finer ones split its clusters, coarser ones join them. Bounds on sizes do not count.
    """
    root, inside = ties.join(len(graph.sizes)), graph.inside(labels)
    finer, smaller = _merge_edges(graph, root, np.flatnonzero(inside), ties, labels=labels)
    coarser, larger = _merge_edges(graph, root, np.flatnonzero(~inside), ties)
    order = np.concatenate([len(finer) + rank_splits(larger, graph, CRUMB), rank_splits(smaller, graph, CRUMB)])
    return _undo_merges(graph, ties, np.concatenate([finer, coarser]), order, n_clusters)


def _undo_merges(graph: TopoGraph, ties: Ties, ends: Array, order: Array, n_clusters: int) -> Array:
    """Return the clusters if the first merges in an ``order`` are undone, as many as leave ``n_clusters``."""
    n_fewest = ties.count_parts(len(graph.sizes)) - len(ends)
    if n_fewest > n_clusters:
        raise UnmetConstraintsError(
            f"{n_fewest} clusters are left that cannot_link or different labels forbid to join, where "
            f"n_clusters={n_clusters}. Ask for {n_fewest} clusters, or take away some of the constraints.",
            n_fewest,
        )
    root = ties.join(len(graph.sizes))
    structures.union_edges(root, ends, np.setdiff1d(np.arange(len(ends)), order[: n_clusters - n_fewest]))
    return label_by_size(root, graph.sizes)[0]


def _merge_edges(
    graph: TopoGraph, root: Array, among: Array, ties: Ties, *, n_clusters: int = 0, labels: Array | None = None
) -> tuple[Array, Array]:
    """Merge along some edges, then the smallest clusters, connected or not, while there are more than ``n_clusters``.

    Changes ``root``. Only local clusters of one of the ``labels`` are joined if these are given. Return two local
    clusters for every merge, and the size of its smaller side.
    """
    merged, _, smaller = link_edges(graph, among, root.copy(), rival=ties.rival, apart=ties.apart)
    structures.union_edges(root, graph.edges[merged], np.arange(len(merged)))
    now = _tops(root)
    joined: list[tuple[int, int]] = []
    others: list[int] = []
    while True:
        size = np.bincount(now, graph.sizes, minlength=len(now)).astype(np.int64)
        alive = np.unique(now)
        order = alive[np.argsort(size[alive], kind="stable")]
        pair = _find_joinable(order.tolist(), now, ties, labels) if len(alive) > n_clusters else None
        if pair is None:
            break
        joined.append(pair)
        others.append(int(size[list(pair)].min()))
        now[now == max(pair)] = min(pair)
    ends = np.array(joined, np.int64).reshape(-1, 2)
    structures.union_edges(root, ends, np.arange(len(ends)))
    return np.concatenate([graph.edges[merged], ends]), np.concatenate([smaller, np.array(others, np.int64)])


def _sums_with_bridges(graph: TopoGraph) -> Array:
    """Log of the summed similarity of every edge; bridges far below all others."""
    lowest = graph.log_sums[graph.real].min() if graph.real.any() else 0.0
    return np.where(graph.real, graph.log_sums, lowest - 1e3 + graph.log_weights)


def _tops(root: Array) -> Array:
    top = root.copy()
    structures.find_all(top)
    return top


def _find_joinable(order: list[int], now: Array, ties: Ties, labels: Array | None) -> tuple[int, int] | None:
    """Return the first two of the clusters in ``order`` that may be joined, earlier ones first."""
    apart, labelled = set(map(tuple, np.sort(now[ties.apart], axis=1).tolist())), set(now[ties.rival >= 0].tolist())
    for n, last in enumerate(order):
        for earlier in order[:n]:
            both = min(earlier, last), max(earlier, last)
            allowed = labels is None or labels[earlier] == labels[last]
            if allowed and both not in apart and not labelled.issuperset(both):
                return earlier, last
    return None


def balance_sizes(graph: TopoGraph, labels: Array, ties: Ties) -> Array:
    """Labels after local clusters have moved, the best connected elsewhere first, until sizes are within bounds.

    Local clusters of one group move together, and stay apart from what they must be apart from.
    """
    total = ties.weights.sum()
    low, high = ties.smallest * total * (1 - ROUNDING), ties.largest * total * (1 + ROUNDING)
    size = np.bincount(labels, ties.weights)
    if (size <= high).all() and (size >= low).all():
        return labels
    atom, log_sums = _tops(ties.join(len(graph.sizes))), _sums_with_bridges(graph)
    names, place = np.unique(atom, return_inverse=True)
    weight = np.bincount(place, ties.weights)
    label = labels[names].copy()
    rivals = np.concatenate([place[ties.apart], place[ties.apart][:, ::-1]])
    labelled = np.zeros(len(names), np.bool_)
    labelled[place[ties.rival >= 0]] = True
    ends, strength = place[graph.edges], np.exp(log_sums - log_sums.max()) if len(log_sums) else log_sums
    shape = (len(names), len(names))
    links = coo_array((np.tile(strength, 2), (ends.ravel("F"), ends[:, ::-1].ravel("F"))), shape=shape).tocsr()
    n_clusters = int(label.max()) + 1
    while True:
        size = np.bincount(label, weight, minlength=n_clusters)
        if (size <= high).all() and (size >= low).all():
            break
        here = np.eye(n_clusters)[label]
        linked = links @ here
        over, room = size > high, size[None, :] + weight[:, None] <= high
        if over.any():
            may = over[label][:, None] & room
        else:
            spare = (size[label] * (1 - LOST) - weight >= low)[:, None]
            may = spare & room & (size < low)[None, :]
        may &= here == 0
        may &= (np.bincount(label)[label] > 1)[:, None]  # the last one stays
        may[rivals[:, 0], label[rivals[:, 1]]] = False
        may[labelled] &= np.bincount(label[labelled], minlength=n_clusters) == 0
        if not may.any():
            raise UnmetConstraintsError(
                f"The sizes [{', '.join(f'{each:g}' for each in size)}] were not brought "
                "within min_cluster_size and max_cluster_size by moving whole local clusters one by one. Relax the "
                "bounds, or use a smaller n_neighbors for smaller local clusters."
            )
        own = linked[np.arange(len(label)), label]
        gain = np.log(linked + 1e-300) - np.log(own + 1e-300)[:, None]
        mover, target = np.unravel_index(np.where(may, gain, -np.inf).argmax(), gain.shape)
        label[mover] = target
    first = np.array([np.flatnonzero(label[place] == c)[0] for c in range(n_clusters)])
    return label_by_size(first[label[place]], graph.sizes)[0]
