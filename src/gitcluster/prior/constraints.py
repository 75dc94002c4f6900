"""What is known about single samples, and how large a cluster may be.

Samples that must be together form groups, through ``must_link`` pairs or equal partial labels; groups that must be
apart come from ``cannot_link`` pairs or different labels. ``hierarchy.constrained`` merges within them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_integer, check_unmasked
from gitcluster.kernels import structures


class Constraints(NamedTuple):
    """Constraints on samples and sizes."""

    groups: Array
    """(n,) group of samples that belong together, -1 for none."""
    apart: Array
    """(p, 2) groups that must not be in one cluster, by pairs."""
    labelled: Array
    """(l,) groups of partial labels, no two of which may be in one cluster."""
    smallest: float
    """Least share of samples in a cluster."""
    largest: float
    """Greatest share."""

    def take(self, rows: Array) -> "Constraints":
        """The constraints on some of the samples, in another order or more than once."""
        return self._replace(groups=self.groups[rows])

    def rank_groups(self, rank: Array) -> Array:
        """(n,) a number for the group of every sample that depends on what groups hold, not on how samples were given.

        ``rank`` is such a number for the samples themselves, the same for equal ones.
        """
        known, labelled = np.flatnonzero(self.groups >= 0), set(self.labelled.tolist())
        held: dict[int, Any] = {}
        for group, place in sorted(zip(self.groups[known].tolist(), rank[known].tolist(), strict=True)):
            held[group] = (*held.get(group, (group in labelled,)), place)
        rivals: dict[int, list[int]] = {group: [] for group in held}
        for a, b in self.apart.tolist():
            if a in held and b in held:
                rivals[a].append(b)
                rivals[b].append(a)
        number = _number_alike(held)
        for _ in range(2):  # groups that hold the same may have rivals that do not
            number = _number_alike({g: (number[g], *sorted(number[r] for r in rivals[g])) for g in held})
        of_group = np.array([number.get(group, -1) for group in range(self.groups.max() + 1)] or [-1])
        return np.where(self.groups >= 0, of_group[np.maximum(self.groups, 0)], -1)


def _number_alike(keys: dict[int, Any]) -> dict[int, int]:
    """A number for every group, in the order of its key, the same for equal keys."""
    names = {key: i for i, key in enumerate(sorted(set(keys.values())))}
    return {group: names[key] for group, key in keys.items()}


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
    structures.union_edges(root, together, np.arange(len(together)))
    labelled = np.empty(0, np.int64) if known is None else np.flatnonzero(known >= 0)
    if known is not None:
        _, first, inverse = np.unique(known[labelled], return_index=True, return_inverse=True)
        leaders = labelled[first]
        structures.union_edges(root, np.stack([labelled, leaders[inverse]], axis=1), np.arange(len(labelled)))
    structures.find_all(root)
    _check_contradictions(root, apart, known)
    used = np.unique(np.concatenate([together.ravel(), apart.ravel(), labelled]))
    groups = np.full(n_samples, -1)
    names, groups[used] = np.unique(root[used], return_inverse=True)
    pairs = np.unique(np.sort(np.searchsorted(names, root[apart]), axis=1), axis=0).reshape(-1, 2)
    return Constraints(groups, pairs, np.unique(groups[labelled]), low / total, high / total)


def _check_contradictions(root: Array, apart: Array, known: Array | None) -> None:
    """Raise where samples that must be apart are in one group."""
    clash = apart[root[apart[:, 0]] == root[apart[:, 1]]]
    if known is not None:
        labelled = np.flatnonzero(known >= 0)
        order = labelled[np.lexsort((known[labelled], root[labelled]))]
        mixed = (np.diff(root[order]) == 0) & (np.diff(known[order]) != 0)
        clash = np.concatenate([clash, np.stack([order[:-1][mixed], order[1:][mixed]], axis=1)])
    if len(clash):
        i, j = clash[0].tolist()
        raise ValueError(
            f"The constraints contradict each other: samples {i} and {j} must be apart, but must_link and labels "
            f"together put both into one cluster. Take away one of the constraints on them."
        )


def _partial_labels(y: ArrayLike | None, n_samples: int) -> Array | None:
    """Labels with -1 for unknown; None where there is no -1, because a clusterer ignores true labels."""
    if y is None:
        return None
    check_unmasked("y", y)
    labels = np.asarray(y)
    if labels.dtype.kind not in "iuf" or labels.ndim != 1 or not (labels == -1).any():
        return None
    if len(labels) != n_samples:
        raise ValueError(
            f"y has {len(labels)} partial labels for {n_samples} samples. Give one per sample, -1 for unknown."
        )
    whole = (labels >= -1) & (labels < 2**53) & (labels == np.floor(labels))
    if not whole.all():
        raise ValueError("y as partial labels must hold whole numbers >= 0, and -1 for unknown.")
    return labels.astype(np.int64)


def _check_pairs(name: str, pairs: ArrayLike | None, n_samples: int) -> Array:
    if pairs is None:
        return np.empty((0, 2), np.int64)
    check_unmasked(name, pairs)
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
    least = max(1, len(constraints.labelled), len(clique), int(np.ceil(1 / constraints.largest - 1e-9)))
    most = np.floor(1 / constraints.smallest + 1e-9) if constraints.smallest > 0 else np.inf
    return least, max(least, most)
