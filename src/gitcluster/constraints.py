"""What is known about single samples, and how large a cluster may be: honoured by every merge.

Samples that must be together form groups, through ``must_link`` pairs or equal partial labels; groups that must be
apart come from ``cannot_link`` pairs or different labels. No local cluster holds samples of two groups, so that a
merge of local clusters can keep to all of it: average linkage that starts with the groups and leaves out the merges
that would join what must be apart, then undone, as in ``hierarchy``, down to the number asked for. Where a cluster is
too small or too large in the end, local clusters at its boundary move, the best connected first.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from gitcluster import _kernels
from gitcluster._validation import check_integer
from gitcluster.edge_cutting import label_by_size
from gitcluster.hierarchy import CRUMB
from gitcluster.intensity import rounding_step
from gitcluster.neighbors import Array
from gitcluster.topo_graph import TopoGraph


class UnmetConstraintsError(ValueError):
    """Constraints that no merge of these local clusters keeps to."""


class Constraints(NamedTuple):
    """Constraints on samples and sizes."""

    groups: Array
    """(n,) group of samples that belong together, -1 for none."""
    apart: Array
    """(p, 2) groups that must not be in one cluster."""
    smallest: float
    """Least share of samples in a cluster."""
    largest: float
    """Greatest share."""


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
    """Put all constraints together, or raise an error that names what contradicts what; None where there are none.

    ``total`` is the weight of all samples where they have weights, which sizes are then measured in.

    Examples
    --------
    >>> gather_constraints(4, must_link=[(0, 2)], cannot_link=[(0, 1)]).groups
    array([ 0,  1,  0, -1])
    """
    known = _partial_labels(y, n_samples)
    together = _check_pairs("must_link", must_link, n_samples)
    apart = _check_pairs("cannot_link", cannot_link, n_samples)
    if known is None and not len(together) and not len(apart) and min_cluster_size is None and max_cluster_size is None:
        return None
    total = n_samples if total is None else total
    low, high = _check_sizes(min_cluster_size, max_cluster_size, total, n_clusters)
    root = np.arange(n_samples)
    _kernels.union_edges(root, together, np.arange(len(together)))
    labelled = np.empty(0, np.int64) if known is None else np.flatnonzero(known >= 0)
    if known is not None:
        _, first, inverse = np.unique(known[labelled], return_index=True, return_inverse=True)
        leaders = labelled[first]
        _kernels.union_edges(root, np.stack([labelled, leaders[inverse]], axis=1), np.arange(len(labelled)))
        rivals = [(a, b) for n, a in enumerate(leaders.tolist()) for b in leaders[n + 1 :].tolist()]
        apart = np.concatenate([apart, np.array(rivals, dtype=np.int64).reshape(-1, 2)])
    _kernels.find_all(root)
    clash = np.flatnonzero(root[apart[:, 0]] == root[apart[:, 1]])
    if len(clash):
        i, j = apart[clash[0]].tolist()
        raise ValueError(
            f"The constraints contradict each other: samples {i} and {j} must be apart, but must_link and labels "
            f"together put both into one cluster. Take away one of the constraints on them."
        )
    used = np.unique(np.concatenate([together.ravel(), apart.ravel(), labelled]))
    groups = np.full(n_samples, -1)
    names, groups[used] = np.unique(root[used], return_inverse=True)
    pairs = np.unique(np.sort(np.searchsorted(names, root[apart]), axis=1), axis=0)
    return Constraints(groups, pairs.reshape(-1, 2), low / total, high / total)


def _partial_labels(y: ArrayLike | None, n_samples: int) -> Array | None:
    """Labels with -1 for unknown; None where there is no -1, because a clusterer ignores true labels."""
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.dtype.kind not in "iuf" or labels.ndim != 1 or not (labels == -1).any():
        return None
    if len(labels) != n_samples:
        raise ValueError(
            f"y has {len(labels)} partial labels for {n_samples} samples. Give one a sample, -1 for unknown."
        )
    whole = (labels >= -1) & (labels < 2**53) & (labels == np.floor(labels))
    if not whole.all():
        raise ValueError("y as partial labels must hold whole numbers >= 0, and -1 for unknown.")
    return labels.astype(np.int64)


def _check_pairs(name: str, pairs: ArrayLike | None, n_samples: int) -> Array:
    if pairs is None:
        return np.empty((0, 2), np.int64)
    try:
        found = np.asarray(pairs)
    except ValueError:
        found = np.empty(1)
    if found.size == 0:
        return np.empty((0, 2), np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of sample indices such as [(0, 5), (2, 7)], got {pairs!r}.")
    if found.min() < 0 or found.max() >= n_samples:
        raise ValueError(f"{name} must hold indices from 0 to {n_samples - 1}, got {found.min()} to {found.max()}.")
    if name == "cannot_link" and (found[:, 0] == found[:, 1]).any():
        alone = int(found[found[:, 0] == found[:, 1]][0, 0])
        raise ValueError(f"cannot_link has the pair ({alone}, {alone}): a sample cannot be apart from itself.")
    return found.astype(np.int64)


def _check_sizes(low: Any, high: Any, n_samples: float, n_clusters: int | None) -> tuple[float, float]:
    low = 0 if low is None else check_integer("min_cluster_size", low, low=1)
    high = n_samples if high is None else min(n_samples, check_integer("max_cluster_size", high, low=1))
    if low > high:
        raise ValueError(f"min_cluster_size={low} is above max_cluster_size={high:g}, or above the number of samples.")
    if n_clusters is not None and (low * n_clusters > n_samples or high * n_clusters < n_samples):
        raise ValueError(
            f"{n_clusters} clusters of {low} to {high:g} samples cannot hold {n_samples:g} samples. "
            "Change n_clusters, min_cluster_size or max_cluster_size."
        )
    return low, high


def possible_numbers(constraints: Constraints) -> tuple[int, float]:
    """The least and the greatest number of clusters that groups which are pairwise apart (found greedily) and the
    bounds on sizes allow."""
    rivals: dict[int, set[int]] = {}
    for a, b in constraints.apart.tolist():
        rivals.setdefault(a, set()).add(b)
        rivals.setdefault(b, set()).add(a)
    clique: list[int] = []
    for group in sorted(rivals, key=lambda g: -len(rivals[g])):
        if all(other in rivals[group] for other in clique):
            clique.append(group)
    least = max(1, len(clique), int(np.ceil(1 / constraints.largest - 1e-9)))
    most = np.floor(1 / constraints.smallest + 1e-9) if constraints.smallest > 0 else np.inf
    return least, max(least, most)


def merge_constrained(
    graph: TopoGraph, local_labels: Array, constraints: Constraints, *, n_clusters: int
) -> tuple[Array, Array]:
    """Final cluster of every local cluster that keeps to the groups, and the edges of the graph inside clusters."""
    root, apart = _join_groups(graph, local_labels, constraints)
    merged, smaller = _kernels.link_constrained(
        graph.edges, _log_sums(graph), graph.sizes, root.copy(), apart, rounding_step(np.float64)
    )
    merges = (graph.edges[merged, 0], graph.edges[merged, 1], smaller.astype(np.int64))
    first, second, smaller = _join_the_rest(graph, root, merges, apart, n_clusters)
    together = root.copy()
    order = _kernels.rank_splits(smaller, graph.sizes.sum(), CRUMB)
    n_atoms = len(np.unique(_found(root)))
    undone = order[: max(0, n_clusters - (n_atoms - len(first)))]
    _kernels.union_edges(together, np.stack([first, second], axis=1), np.setdiff1d(np.arange(len(first)), undone))
    labels = label_by_size(together, graph.sizes)[0]
    return labels, edges_inside(graph, labels)


def edges_inside(graph: TopoGraph, labels: Array) -> Array:
    """Edges within clusters."""
    return np.flatnonzero(labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]])


def _log_sums(graph: TopoGraph) -> Array:
    """Log of the summed similarity of every edge; bridges far below all others."""
    log_sums = graph.log_weights + np.where(graph.pairs > 0, np.log(graph.sizes[graph.edges]).sum(axis=1), 0)
    real = graph.pairs > 0
    lowest = log_sums[real].min() if real.any() else 0.0
    return np.where(real, log_sums, lowest - 1e3 + graph.log_weights)


def _join_groups(graph: TopoGraph, local_labels: Array, constraints: Constraints) -> tuple[Array, Array]:
    """Local clusters joined by groups, and the pairs of them that must be apart."""
    root = np.arange(len(graph.sizes))
    home = np.full(max(constraints.groups.max(), constraints.apart.max(initial=-1)) + 1, -1)
    known = np.flatnonzero(constraints.groups >= 0)
    home[constraints.groups[known]] = local_labels[known]
    pairs = np.stack([home[constraints.groups[known]], local_labels[known]], axis=1).astype(np.int64)
    _kernels.union_edges(root, pairs, np.arange(len(pairs)))
    apart = home[constraints.apart].reshape(-1, 2)
    return root, apart[(apart >= 0).all(axis=1)]  # a group may have lost all its samples, of weight 0


def _join_the_rest(
    graph: TopoGraph, root: Array, merges: tuple[Array, Array, Array], apart: Array, n_clusters: int
) -> tuple[Array, Array, Array]:
    """Merges of the smallest that may be joined, connected or not, while there are more than ``n_clusters``."""
    first, second, smaller = (list(part) for part in merges)
    now = root.copy()
    _kernels.union_edges(now, np.stack(merges[:2], axis=1), np.arange(len(first)))
    now = _found(now)
    while True:
        size = np.bincount(now, graph.sizes, minlength=len(now)).astype(np.int64)
        alive = np.unique(now)
        if len(alive) <= n_clusters:
            return np.array(first, np.int64), np.array(second, np.int64), np.array(smaller, np.int64)
        order = alive[np.argsort(size[alive], kind="stable")].tolist()
        ways = ((i, j) for n, j in enumerate(order) for i in order[:n])
        way = next((w for w in ways if _kernels.may_join(*w, now, apart)), None)
        if way is None:
            raise UnmetConstraintsError(
                f"{len(alive)} clusters are left that cannot_link or different labels forbid to join, where "
                f"n_clusters={n_clusters}. Ask for {len(alive)} clusters, or take away some of the constraints."
            )
        first.append(way[0])
        second.append(way[1])
        smaller.append(int(min(size[way[0]], size[way[1]])))
        now[now == max(way)] = min(way)


def balance_sizes(graph: TopoGraph, local_labels: Array, labels: Array, constraints: Constraints) -> Array:
    """Labels after local clusters have moved, the best connected elsewhere first, until sizes are within bounds.

    Local clusters of one group move together, and stay apart from what they must be apart from.
    """
    total = int(graph.sizes.sum())
    low, high = constraints.smallest * total - 0.5, constraints.largest * total + 0.5
    size = np.bincount(labels, graph.sizes)
    if (size <= high).all() and (size >= low).all():
        return labels
    root, apart = _join_groups(graph, local_labels, constraints)
    atom, log_sums = _found(root), _log_sums(graph)
    names, place = np.unique(atom, return_inverse=True)
    weight = np.bincount(place, graph.sizes)
    label = labels[names].copy()
    rivals = np.concatenate([place[apart], place[apart][:, ::-1]])
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
            spare = (size[label] - weight >= low)[:, None]
            may = spare & room & (size < low)[None, :]
        may &= here == 0
        may &= (size[label] > weight)[:, None]  # the last one stays
        may[rivals[:, 0], label[rivals[:, 1]]] = False
        if not may.any():
            raise UnmetConstraintsError(
                f"The sizes {np.round(size / total * len(constraints.groups)).astype(int).tolist()} cannot be brought "
                "within min_cluster_size and max_cluster_size by moving whole local clusters. Relax the bounds, or use "
                "a smaller n_neighbors for smaller local clusters."
            )
        own = linked[np.arange(len(label)), label]
        gain = np.log(linked + 1e-300) - np.log(own + 1e-300)[:, None]
        mover, target = np.unravel_index(np.where(may, gain, -np.inf).argmax(), gain.shape)
        label[mover] = target
    first = np.array([np.flatnonzero(label[place] == c)[0] for c in range(n_clusters)])
    return label_by_size(first[label[place]], graph.sizes)[0]


def _found(root: Array) -> Array:
    top = root.copy()
    _kernels.find_all(top)
    return top


def keeps_groups(labels: Array, local_labels: Array, constraints: Constraints) -> bool:
    """Whether labels of local clusters leave together and apart what must be."""
    of_group = labels[local_labels]
    known = np.flatnonzero(constraints.groups >= 0)
    home = -1 - np.arange(max(constraints.groups.max(), constraints.apart.max(initial=-1)) + 1)
    home[constraints.groups[known]] = of_group[known]
    return bool(
        (home[constraints.groups[known]] == of_group[known]).all()
        and (home[constraints.apart[:, 0]] != home[constraints.apart[:, 1]]).all()
    )
