"""Constraints: pairs and labels of samples, and bounds on the sizes of clusters.

Samples that must share a cluster form groups, through ``must_link`` pairs or equal partial labels. Groups that must not
share a cluster come from ``cannot_link`` pairs or different labels. No local cluster holds samples of two groups, so
that a merge of local clusters can satisfy all constraints. It is average linkage that starts with the groups and skips
the merges that are forbidden; then merges are undone down to the requested number, as in the hierarchy without
constraints. If a cluster is too small or too large at the end, local clusters at its boundary move, the best connected
first.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gitcluster._support.arrays import Array, follow_to_end
from gitcluster._support.validation import check_integer, check_unmasked
from gitcluster.edge_cutting import label_by_size
from gitcluster.hierarchy import MIN_SPLIT_RATIO, link_along, rank_splits
from gitcluster.kernels import structures
from gitcluster.topo_graph import TopoGraph

SIZE_TOLERANCE = 1e-9
"""Relative error of sums of weights that bounds on sizes tolerate, because of rounding."""
REST_TOLERANCE = 1e-12
"""Share of the size of a cluster that rounding may hide in the rest of it."""


class Constraints(NamedTuple):
    """Constraints on samples and sizes."""

    groups: Array
    """(n,) group of samples that share a cluster, -1 for none."""
    cannot_link: Array
    """(p, 2) pairs of groups that do not share a cluster."""
    labelled: Array
    """(l,) groups of partial labels; every two must be in different clusters."""
    smallest: float
    """Smallest share of samples in a cluster."""
    largest: float
    """Largest share."""

    def take(self, rows: Array) -> "Constraints":
        """Return the constraints on some of the samples, in another order or more than once."""
        return self._replace(groups=self.groups[rows])

    def rank_groups(self, rank: Array) -> Array:
        """Return a number for the group of every sample that depends on the contents of groups, not on their order.

        ``rank`` is such a number for the samples, the same for equal ones.
        """
        known, labelled = np.flatnonzero(self.groups >= 0), set(self.labelled.tolist())
        contents: dict[int, list[int]] = {}
        for group, member in sorted(zip(self.groups[known].tolist(), rank[known].tolist(), strict=True)):
            contents.setdefault(group, [group in labelled]).append(member)
        keys = {group: tuple(members) for group, members in contents.items()}
        number = {key: i for i, key in enumerate(sorted(set(keys.values())))}
        of_group = {group: number[key] for group, key in keys.items()} | {-1: -1}
        return np.array([of_group[group] for group in self.groups.tolist()])


def gather_constraints(
    n_samples: int,
    *,
    y: ArrayLike | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    min_cluster_size: int | None = None,
    max_cluster_size: int | None = None,
    n_clusters: int | None = None,
    total: float | None = None,
) -> Constraints | None:
    """Return all constraints, or None without any; raise ValueError if they contradict each other.

    ``total`` is the total weight of the samples, if they have weights, in which sizes are measured.

    Examples
    --------
    >>> gather_constraints(4, must_link=[(0, 2)], cannot_link=[(0, 1)]).groups
    array([ 0,  1,  0, -1])
    """
    known = _partial_labels(y, n_samples)
    linked = _check_pairs("must_link", must_link, n_samples)
    separated = _check_pairs("cannot_link", cannot_link, n_samples)
    bounded = min_cluster_size is not None or max_cluster_size is not None
    if known is None and not len(linked) and not len(separated) and not bounded:
        return None
    total = n_samples if total is None else total
    low, high = _check_sizes(min_cluster_size, max_cluster_size, total, n_clusters)
    labels = np.full(n_samples, -1) if known is None else known
    labelled = np.flatnonzero(labels >= 0)
    _, first, inverse = np.unique(labels[labelled], return_index=True, return_inverse=True)
    leaders = labelled[first]  # the first sample of every label, to which the others are linked
    pairs = np.concatenate([linked, np.stack([labelled, leaders[inverse]], axis=1)])
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(n_samples, n_samples))
    root = connected_components(graph, directed=False)[1]
    # Samples that must not share a cluster but are in one group: separated ones, or the first of two labels.
    order = leaders[np.argsort(root[leaders], kind="stable")]
    forbidden = np.concatenate([separated, np.stack([order[:-1], order[1:]], axis=1)])
    clash = forbidden[root[forbidden[:, 0]] == root[forbidden[:, 1]]]
    if len(clash):
        i, j = clash[0].tolist()
        raise ValueError(
            f"The constraints contradict each other: samples {i} and {j} must be in different clusters, but must_link "
            "and labels put both into one cluster. Remove one of the constraints on them."
        )
    used = np.unique(np.concatenate([linked.ravel(), separated.ravel(), labelled]))
    groups = np.full(n_samples, -1)
    names, groups[used] = np.unique(root[used], return_inverse=True)
    pairs = np.unique(np.sort(np.searchsorted(names, root[separated]), axis=1), axis=0).reshape(-1, 2)
    return Constraints(groups, pairs, np.unique(groups[labelled]), low / total, high / total)


def _partial_labels(y: ArrayLike | None, n_samples: int) -> Array | None:
    """Return labels with -1 for unknown; None if there is no -1, because a clusterer ignores true labels."""
    if y is None:
        return None
    check_unmasked("y", y)
    labels = np.asarray(y)
    if labels.dtype.kind not in "iuf" or labels.ndim != 1 or not (labels == -1).any():
        return None
    if len(labels) != n_samples:
        raise ValueError(
            f"y must have one partial label per sample, -1 for unknown, got {len(labels)} for {n_samples} samples."
        )
    whole = (labels >= -1) & (labels < 2**53) & (labels == np.floor(labels))
    if not whole.all():
        raise ValueError("y as partial labels must hold integers >= 0, and -1 for unknown.")
    return labels.astype(np.int64)


def _check_pairs(name: str, pairs: ArrayLike | None, n_samples: int) -> Array:
    check_unmasked(name, pairs)
    try:
        checked = np.asarray([] if pairs is None else pairs)
    except ValueError:  # rows of different lengths
        checked = np.empty(1)
    if checked.size == 0:
        return np.empty((0, 2), np.int64)
    if checked.ndim != 2 or checked.shape[1] != 2 or checked.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of sample indices such as [(0, 5), (2, 7)], got {pairs!r}.")
    if checked.min() < 0 or checked.max() >= n_samples:
        raise ValueError(f"{name} must hold indices from 0 to {n_samples - 1}, got {checked.min()} to {checked.max()}.")
    if name == "cannot_link" and (checked[:, 0] == checked[:, 1]).any():
        raise ValueError("cannot_link must hold pairs of different samples, got a sample twice.")
    return checked.astype(np.int64)


def _check_sizes(low: Any, high: Any, n_samples: float, n_clusters: int | None) -> tuple[float, float]:
    low = 0 if low is None else check_integer("min_cluster_size", low, low=1)
    high = n_samples if high is None else min(n_samples, check_integer("max_cluster_size", high, low=1))
    possible = low <= high
    if n_clusters is not None:
        possible &= low * n_clusters <= n_samples <= high * n_clusters
    if not possible:
        clusters = "Clusters" if n_clusters is None else f"{n_clusters} clusters"
        raise ValueError(
            f"{clusters} of {low} to {high:g} samples cannot hold {n_samples:g} samples. Change n_clusters, "
            "min_cluster_size or max_cluster_size."
        )
    return low, high


def possible_numbers(constraints: Constraints) -> tuple[int, float]:
    """Return bounds on the number of clusters from the bounds on sizes and a clique of groups, chosen greedily."""
    opponents: dict[int, set[int]] = {}
    for a, b in constraints.cannot_link.tolist():
        opponents.setdefault(a, set()).add(b)
        opponents.setdefault(b, set()).add(a)
    clique: list[int] = []
    for group in sorted(opponents, key=lambda g: -len(opponents[g])):
        if all(other in opponents[group] for other in clique):
            clique.append(group)
    least = max(1, len(constraints.labelled), len(clique), int(np.ceil(1 / constraints.largest - 1e-9)))
    most = np.floor(1 / constraints.smallest + 1e-9) if constraints.smallest > 0 else np.inf
    return least, max(least, most)


class UnmetConstraintsError(ValueError):
    """Constraints that the merge of local clusters did not satisfy; it is greedy and may miss a solution.

    ``n_clusters`` is the number of clusters that it came down to, 0 if the number is not the reason.
    """

    def __init__(self, message: str, n_clusters: int = 0) -> None:
        super().__init__(message)
        self.n_clusters = n_clusters


class LinkConstraints(NamedTuple):
    """Constraints on local clusters."""

    must_link: Array
    """(t, 2) local clusters that share a cluster."""
    cannot_link: Array
    """(p, 2) local clusters that do not share a cluster."""
    class_label: Array
    """(m,) partial label of every local cluster, -1 for none; no two of them share a cluster."""
    smallest: float
    """Smallest share of samples in a cluster."""
    largest: float
    """Largest share."""
    weights: NDArray[np.float64]
    """(m,) samples in every local cluster, or their total weight: exact, unlike the sizes of the topo-graph."""

    def are_satisfied(self, labels: Array) -> bool:
        """Return whether labels of local clusters satisfy all links."""
        linked, separated, known = labels[self.must_link], labels[self.cannot_link], self.class_label >= 0
        both = np.unique(np.stack([labels[known], self.class_label[known]], axis=1), axis=0)
        single = len(both) == len(np.unique(both[:, 0]))
        return bool((linked[:, 0] == linked[:, 1]).all() and (separated[:, 0] != separated[:, 1]).all() and single)

    def join(self, n_local: int) -> Array:
        """Return union-find roots of local clusters, with those joined that must share a cluster."""
        root = np.arange(n_local)
        structures.union_edges(root, self.must_link, np.arange(len(self.must_link)))
        return root

    def count_parts(self, n_local: int) -> int:
        """Return the number of local clusters, counting those once that must share a cluster."""
        return len(np.unique(follow_to_end(self.join(n_local))))


def link_local_clusters(
    constraints: Constraints, local_labels: Array, n_local: int, weights: NDArray[np.float64] | None = None
) -> LinkConstraints:
    """Return the constraints on local clusters that follow from those on samples of these ``weights``."""
    home = np.full(max(constraints.groups.max(), constraints.cannot_link.max(initial=-1)) + 1, -1)
    known = np.flatnonzero(constraints.groups >= 0)
    home[constraints.groups[known]] = local_labels[known]
    linked = np.stack([home[constraints.groups[known]], local_labels[known]], axis=1).astype(np.int64)
    separated = home[constraints.cannot_link].reshape(-1, 2)
    separated = separated[(separated >= 0).all(axis=1)]  # a group may have lost all its samples, of weight 0
    linked = np.unique(linked[linked[:, 0] != linked[:, 1]], axis=0)
    class_label, known = np.full(n_local, -1), known[np.isin(constraints.groups[known], constraints.labelled)]
    class_label[local_labels[known]] = constraints.groups[known]
    total = np.bincount(local_labels, weights, minlength=n_local).astype(np.float64)
    return LinkConstraints(linked, separated, class_label, constraints.smallest, constraints.largest, total)


def merge_constrained(
    graph: TopoGraph, links: LinkConstraints, *, n_clusters: int, ratio: int = MIN_SPLIT_RATIO
) -> Array:
    """Return the cluster of every local cluster by average linkage within the constraints."""
    root = links.join(len(graph.sizes))
    ends, smaller = _merge_edges(graph, root, np.arange(len(graph.edges)), links, n_clusters=n_clusters)
    return _undo_merges(graph, links, ends, rank_splits(smaller, graph, ratio), n_clusters)


def cut_around(graph: TopoGraph, links: LinkConstraints, labels: Array, *, n_clusters: int) -> Array:
    """Return the cluster of every local cluster in one of several nested cuts that satisfy the links.

    ``labels`` are one of the cuts: finer ones split its clusters, coarser ones join them. Bounds on sizes do not count.
    """
    root, inside = links.join(len(graph.sizes)), graph.inside(labels)
    finer, smaller = _merge_edges(graph, root, np.flatnonzero(inside), links, labels=labels)
    coarser, larger = _merge_edges(graph, root, np.flatnonzero(~inside), links)
    ratio = MIN_SPLIT_RATIO
    order = np.concatenate([len(finer) + rank_splits(larger, graph, ratio), rank_splits(smaller, graph, ratio)])
    return _undo_merges(graph, links, np.concatenate([finer, coarser]), order, n_clusters)


def _undo_merges(graph: TopoGraph, links: LinkConstraints, ends: Array, order: Array, n_clusters: int) -> Array:
    """Return the clusters if the first merges in an ``order`` are undone, as many as leave ``n_clusters``."""
    n_fewest = links.count_parts(len(graph.sizes)) - len(ends)
    if n_fewest > n_clusters:
        raise UnmetConstraintsError(
            f"n_clusters must be at least {n_fewest}, got {n_clusters}: cannot_link or different labels separate that "
            f"many clusters. Use {n_fewest} clusters, or remove some of the constraints.",
            n_fewest,
        )
    root = links.join(len(graph.sizes))
    structures.union_edges(root, ends, np.setdiff1d(np.arange(len(ends)), order[: n_clusters - n_fewest]))
    return label_by_size(root, graph.sizes)[0]


def _merge_edges(
    graph: TopoGraph,
    root: Array,
    among: Array,
    links: LinkConstraints,
    *,
    n_clusters: int = 0,
    labels: Array | None = None,
) -> tuple[Array, Array]:
    """Merge along some edges, then the smallest clusters, connected or not, while there are more than ``n_clusters``.

    Updates ``root``. With ``labels``, only local clusters of one label are joined. Returns two local clusters for every
    merge, and the size of its smaller side.
    """
    merged, _, smaller = link_along(
        graph, among, root.copy(), class_label=links.class_label, cannot_link=links.cannot_link
    )
    structures.union_edges(root, graph.edges[merged], np.arange(len(merged)))
    now = follow_to_end(root)
    joined: list[tuple[int, int]] = []
    others: list[int] = []
    while True:
        size = np.bincount(now, graph.sizes, minlength=len(now)).astype(np.int64)
        alive = np.unique(now)
        order = alive[np.argsort(size[alive], kind="stable")]
        pair = _find_joinable(order.tolist(), now, links, labels) if len(alive) > n_clusters else None
        if pair is None:
            break
        joined.append(pair)
        others.append(int(size[list(pair)].min()))
        now[now == max(pair)] = min(pair)
    ends = np.array(joined, np.int64).reshape(-1, 2)
    structures.union_edges(root, ends, np.arange(len(ends)))
    return np.concatenate([graph.edges[merged], ends]), np.concatenate([smaller, np.array(others, np.int64)])


def _find_joinable(
    order: list[int], now: Array, links: LinkConstraints, labels: Array | None
) -> tuple[int, int] | None:
    """Return the first two of the clusters in ``order`` that may be joined, earlier ones first."""
    separated = set(map(tuple, np.sort(now[links.cannot_link], axis=1).tolist()))
    labelled = set(now[links.class_label >= 0].tolist())
    for n, last in enumerate(order):
        for earlier in order[:n]:
            both = min(earlier, last), max(earlier, last)
            allowed = labels is None or labels[earlier] == labels[last]
            if allowed and both not in separated and not labelled.issuperset(both):
                return earlier, last
    return None


def balance_sizes(graph: TopoGraph, labels: Array, links: LinkConstraints) -> Array:
    """Return labels with sizes within the bounds, by moving local clusters, the best connected elsewhere first.

    Local clusters that must share a cluster move as one, and no move breaks a link.
    """
    total = links.weights.sum()
    low, high = links.smallest * total * (1 - SIZE_TOLERANCE), links.largest * total * (1 + SIZE_TOLERANCE)
    size = np.bincount(labels, links.weights)
    if (size <= high).all() and (size >= low).all():
        return labels
    # Bridges have no similarity: they count far less than the weakest edge, shorter ones more.
    lowest = graph.log_sums[graph.real].min() if graph.real.any() else 0.0
    log_sums = np.where(graph.real, graph.log_sums, lowest - 1e3 + graph.log_weights)
    names, part = np.unique(follow_to_end(links.join(len(graph.sizes))), return_inverse=True)
    weight = np.bincount(part, links.weights)
    label = labels[names].copy()
    separated = np.concatenate([part[links.cannot_link], part[links.cannot_link][:, ::-1]])
    labelled = np.zeros(len(names), np.bool_)
    labelled[part[links.class_label >= 0]] = True
    ends, strength = part[graph.edges], np.exp(log_sums - log_sums.max()) if len(log_sums) else log_sums
    shape = (len(names), len(names))
    connections = coo_array((np.tile(strength, 2), (ends.ravel("F"), ends[:, ::-1].ravel("F"))), shape=shape).tocsr()
    n_clusters = int(label.max()) + 1
    while True:
        size = np.bincount(label, weight, minlength=n_clusters)
        if (size <= high).all() and (size >= low).all():
            break
        here = np.eye(n_clusters)[label]
        connected = connections @ here
        over, fits = size > high, size[None, :] + weight[:, None] <= high
        if over.any():
            may = over[label][:, None] & fits
        else:
            spare = (size[label] * (1 - REST_TOLERANCE) - weight >= low)[:, None]
            may = spare & fits & (size < low)[None, :]
        may &= here == 0
        may &= (np.bincount(label)[label] > 1)[:, None]  # no cluster becomes empty
        may[separated[:, 0], label[separated[:, 1]]] = False
        may[labelled] &= np.bincount(label[labelled], minlength=n_clusters) == 0
        if not may.any():
            raise UnmetConstraintsError(
                f"min_cluster_size and max_cluster_size were not reached by moving whole local clusters: the sizes are "
                f"[{', '.join(f'{each:g}' for each in size)}]. Relax the bounds, or use a smaller n_neighbors."
            )
        own = connected[np.arange(len(label)), label]
        gain = np.log(connected + 1e-300) - np.log(own + 1e-300)[:, None]  # no connection has a logarithm, too
        mover, target = np.unravel_index(np.where(may, gain, -np.inf).argmax(), gain.shape)
        label[mover] = target
    first = np.array([np.flatnonzero(label[part] == c)[0] for c in range(n_clusters)])
    return label_by_size(first[label[part]], graph.sizes)[0]
