"""Scores of a clustering, against known classes or against the data alone. Cluster -1 is noise."""

from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.special import exprel, lambertw
from sklearn.utils import check_array

from gitcluster._support.arrays import Array, starts_of
from gitcluster._support.validation import check_integer, check_n_jobs
from gitcluster.neighbors import empty_neighbors
from gitcluster.neighbors.duplicates import canonical_order
from gitcluster.preprocessing.sources import Distances, NeighborGraph, Points, check_source

NOISE = -1
UNMATCHED = -2
TIE = 1e-9
"""Share of the distance that is added to the length of an edge, so that the nearer of two equal ones is used."""
TINY = np.finfo(np.float64).tiny
"""Length of an edge between duplicates, because a sparse matrix has no edges of length 0."""
FEW_FEATURES = 4
"""With more features, a search compares a large part of all pairs, so that samples are thinned out."""
MAX_WORK = 2e10
"""Bound on the search among thinned samples: pairs times (features + 5), about 1e-10 seconds each."""
MAX_REFINED = 8192
"""Number of thinned samples that are compared with all others in the end."""

__all__ = ["density_validity", "match_labels", "matched_f1"]


def match_labels(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.int64]:
    """Rename clusters to the classes they match, one to one; -2 for clusters without a class.

    The matching has the largest possible number of correct samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, as integers from 0.
    y_pred : array-like of shape (n_samples,)
        Clusters. -1 is noise and stays -1.

    Examples
    --------
    >>> match_labels([0, 0, 1, 1, 1], [5, 5, 3, 3, 4])
    array([ 0,  0,  1,  1, -2])
    """
    true, pred = _check_integers("y_true", y_true), _check_integers("y_pred", y_pred)
    if len(true) != len(pred):
        raise ValueError(f"y_pred must have as many labels as y_true ({len(true)}), got {len(pred)}.")
    covered = pred != NOISE
    result = np.full(len(true), NOISE, np.int64)
    classes = np.unique(true)
    clusters, cluster_of = np.unique(pred[covered], return_inverse=True)
    table = np.zeros((len(clusters), len(classes)), np.int64)
    np.add.at(table, (cluster_of, np.searchsorted(classes, true[covered])), 1)
    name = np.full(len(clusters), UNMATCHED, np.int64)
    for cluster, klass in zip(*linear_sum_assignment(-table), strict=True):
        if table[cluster, klass]:
            name[cluster] = classes[klass]
    result[covered] = name[cluster_of]
    return result


def matched_f1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the F1 of the matched clusters, weighted by class size; noise and unmatched clusters are wrong.

    Examples
    --------
    >>> matched_f1([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import f1_score

    named = match_labels(y_true, y_pred)
    return float(f1_score(y_true, named, labels=np.unique(y_true), average="weighted", zero_division=0))


def density_validity(
    X: Any, labels: ArrayLike, *, n_neighbors: int = 20, metric: Any = "euclidean", n_jobs: int | None = None
) -> float:
    """Return how well density separates the clusters of any method: DBCV, from nearest neighbours.

    DBCV (Moulavi et al. 2014) connects the samples of every cluster by a minimum spanning tree. An edge is as long as
    the largest of the distance and the core distances of its ends. The sparseness of a cluster is the longest inner
    edge of its tree. The separation is the shortest edge from inner samples to those of another cluster. The validity
    is (separation - sparseness) / max(separation, sparseness). The score is its mean over samples; noise counts as 0.

    DBCV needs the distances of all pairs. Here trees connect nearest neighbours in the same cluster, and the shortest
    bridges connect what remains. Clusters of at most ``n_neighbors + 1`` samples are measured as in DBCV.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples, which are not scaled.
    labels : array-like of shape (n_samples,)
        Clusters as integers; -1 is noise. Every cluster needs two samples.
    n_neighbors : int, default=20
        Neighbours of every sample in its own cluster. Larger values approximate DBCV more closely.
    metric : str, default="euclidean"
        Any metric of :class:`sklearn.neighbors.NearestNeighbors`.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    score : float
        From -1 to 1. If it is negative, gaps inside of clusters are wider than those between them.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(1000, noise=0.05, random_state=0)
    >>> density_validity(X, y) > density_validity(X, KMeans(2, random_state=0).fit_predict(X))
    True
    """
    k, given = check_integer("n_neighbors", n_neighbors, low=1), _check_integers("labels", labels)
    check_n_jobs(n_jobs)
    if metric in (Distances.metric, NeighborGraph.metric):
        raise ValueError(f"metric must be a metric of samples, got {metric!r}. Pass the samples.")
    source: Any = check_source(
        X, metric, validate=lambda X, **rest: check_array(X, **rest | {"ensure_all_finite": True, "input_name": "X"})
    )
    if len(given) != source.n_samples:
        raise ValueError(f"labels must have one label per sample ({source.n_samples}), got {len(given)}.")
    # Sort by cluster, and within a cluster in an order that does not depend on how the samples were given.
    order = canonical_order(source.values)
    order = order[given[order] != NOISE]
    order = order[np.argsort(given[order], kind="stable")]
    names, cluster, sizes = np.unique(given[order], return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError(f"labels must have at least 2 clusters besides noise (-1), got {len(names)}.")
    if sizes.min() < 2:
        name = names[sizes.argmin()]
        raise ValueError(f"labels must have at least 2 samples per cluster, got 1 in {name}. Use -1 for noise.")
    source, starts = source.take(order), starts_of(sizes)
    indices, distances, squares = _neighbors_inside(source, starts, k, n_jobs)
    core = _core_distances(distances, squares, sizes[cluster] - 1, source.n_features)
    tree = _bridge_parts(_grow_trees(indices, distances, core), source, core, starts, n_jobs)
    inner, sparseness = _measure_trees(tree, cluster)
    separation, _ = _closest_pairs(source, np.flatnonzero(inner), core, cluster, n_jobs)
    sparseness[sparseness <= TINY] = 0
    if not (sparseness.any() or separation.any()):
        raise ValueError("X must have different samples, got only distances of 0.")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(separation >= sparseness, 1 - sparseness / separation, separation / sparseness - 1)
    validity = np.nan_to_num(ratio, nan=0.0)  # 0 / 0: two clusters of the same duplicates
    return float(validity @ sizes / len(given))


def _neighbors_inside(
    source: Points, starts: Array, k: int, n_jobs: int | None
) -> tuple[Array, NDArray[np.float64], NDArray[np.float64]]:
    """Return the neighbours of every sample in its own cluster, and the mean squared distance to all others in it.

    Distances of missing neighbours are infinite, and mean squares that are not known are NaN.
    """
    n_samples = source.n_samples
    squares = np.full(n_samples, np.nan)
    indices, distances = empty_neighbors(n_samples, min(k, int(np.diff(starts).max()) - 1), np.float64)
    indices[:], distances[:] = 0, np.inf
    for start, stop in pairwise(starts):
        part, others = source.take(np.arange(start, stop)), stop - start - 1
        near = part.neighbors(min(k, others), n_jobs=n_jobs)
        indices[start:stop, : near.indices.shape[1]] = near.indices + start
        distances[start:stop, : near.indices.shape[1]] = near.distances
        if source.metric == "euclidean" and not issparse(part.values):
            # Around the mean, squared distances to all others sum up without any pair.
            own = np.square(part.values - part.values.mean(axis=0)).sum(axis=1, dtype=np.float64)
            squares[start:stop] = (own * (others + 1) + own.sum()) / others
    return indices, distances, squares


def _core_distances(
    distances: NDArray[np.float64], squares: NDArray[np.float64], n_others: Array, exponent: float
) -> NDArray[np.float64]:
    """Return the core distance of every sample: mean(d**-exponent)**(-1/exponent) over the others in its cluster.

    The k nearest distances are known. The model for the i-th of the others is d_k (i / k)**(growth / 2). The growth
    follows from the mean square of all distances. If that is unknown, the density is assumed to be uniform.
    """
    n_known, nearest = np.isfinite(distances).sum(axis=1), distances[:, 0]
    with np.errstate(all="ignore"):
        # Relative to the nearest distance, since powers of distances overflow if there are many features.
        terms = (distances / nearest[:, None]) ** -float(exponent)
        last = np.arange(len(terms)), n_known - 1
        # Sums over i = k + 1, ..., n are integrals from k + 1/2 to n + 1/2, over x = log(i).
        span = np.log((n_others + 0.5) / (n_known + 0.5))
        # The mean of d_k**2 (i / k)**growth is d_k**2 (n / k)**growth / (growth + 1) = squares. Lambert's W solves
        # growth * span - log(growth + 1) = level.
        level = np.clip(np.log(squares / distances[last] ** 2), 0, 600)
        growth = -lambertw(-span * np.exp(-level - span), -1).real / span - 1
        power = np.where(np.isfinite(growth), growth / 2 * exponent, 1.0)
        total = terms.sum(axis=1) + terms[last] * n_known * span * exprel((1 - power) * span)
        core = nearest * (n_others / total) ** (1 / exponent)
    return np.where(nearest > 0, core, nearest)  # the limit for duplicates is 0


def _grow_trees(indices: Array, distances: NDArray[np.float64], core: NDArray[np.float64]) -> Any:
    """Return the minimum spanning trees of the neighbours by mutual reachability, as a sparse matrix."""
    lengths = np.maximum(distances, core[indices])
    np.maximum(lengths, core[:, None], out=lengths)
    lengths += TIE * distances
    np.maximum(lengths, TINY, out=lengths)
    known = np.isfinite(lengths)
    starts = starts_of(known.sum(axis=1))
    return minimum_spanning_tree(csr_array((lengths[known], indices[known], starts), shape=(len(core), len(core))))


def _bridge_parts(tree: Any, source: Any, core: NDArray[np.float64], starts: Array, n_jobs: int | None) -> Any:
    """Connect the parts of every cluster by their shortest bridges, as in Borůvka's algorithm."""
    while True:
        n_parts, part = connected_components(tree, directed=False)
        if n_parts == len(starts) - 1:
            return tree
        bridges = []
        for start, stop in pairwise(starts):
            numbers, group = np.unique(part[start:stop], return_inverse=True)
            if len(numbers) > 1:
                rows = np.arange(start, stop)
                lengths, ends = _closest_pairs(source.take(rows), rows - start, core[rows], group, n_jobs)
                bridges.append((np.maximum(lengths, TINY), *(ends.T + start)))
        lengths, i, j = (np.concatenate(values) for values in zip(*bridges, strict=True))
        tree = minimum_spanning_tree(tree + csr_array((lengths, (i, j)), shape=tree.shape))


def _measure_trees(tree: Any, cluster: Array) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which samples are inner, and the longest inner edge of every cluster.

    Leaves are not inner, since they may be outliers. If a cluster has no inner samples or edges, all of them count.
    """
    edges = tree.tocoo()
    ends, sparseness = np.stack(edges.coords), np.zeros(cluster[-1] + 1)
    inner = np.bincount(ends.ravel(), minlength=len(cluster)) > 1
    inner |= (np.bincount(cluster, inner) == 0)[cluster]
    of_edge, is_inner = cluster[ends[0]], inner[ends].all(axis=0)
    is_inner |= (np.bincount(of_edge, is_inner, len(sparseness)) == 0)[of_edge]
    np.maximum.at(sparseness, of_edge[is_inner], edges.data[is_inner])
    return inner, sparseness


def _closest_pairs(
    source: Any, rows: Array, core: NDArray[np.float64], group: Array, n_jobs: int | None
) -> tuple[NDArray[np.float64], Array]:
    """Return the shortest mutual reachability between every group and all others, and the two samples.

    The numbers of two groups differ in a bit. So for every bit, samples with 0 search among those with 1 and vice
    versa. Then each has found the nearest sample outside of its group, in log2(n_groups) searches, not n_groups.
    """
    n_groups, everyone, step = int(group[rows].max()) + 1, rows, 1
    if (n_features := source.values.size / source.n_samples) > FEW_FEATURES:
        step = int(np.ceil(len(rows) / (MAX_WORK / (n_features + 5)) ** 0.5))
    rows = targets = rows[_ranks(group[rows], core[rows]) % step == 0]  # dense and sparse samples of every group
    shortest, ends = np.full(n_groups, np.inf), np.zeros((n_groups, 2), np.int64)
    best = np.full(len(core), np.inf)
    for n_neighbors in (8, 64, 512):
        reach = np.full(len(core), np.inf)
        for bit, side in product(range((n_groups - 1).bit_length()), (0, 1)):
            # A sample whose core distance exceeds the shortest length so far has no shorter one.
            own = rows[((group[rows] >> bit) & 1 == side) & (core[rows] < shortest[group[rows]])]
            others = targets[((group[targets] >> bit) & 1 != side) & (core[targets] < shortest.max())]
            if not len(own) or not len(others):
                continue
            k = min(n_neighbors, len(others))
            near, distances = source.take(others).nearest(source.values[own], k, n_jobs=n_jobs)[:2]
            near, distances = others[near], distances.astype(np.float64)
            lengths = np.maximum(np.maximum(distances, core[near]), core[own][:, None]) + TIE * distances
            if k < len(others):
                reach[own] = np.minimum(reach[own], distances[:, -1] + TIE * distances[:, -1])
            first = np.arange(len(own)), lengths.argmin(axis=1)
            near, lengths = near[first], lengths[first]
            best[own] = np.minimum(best[own], lengths)
            for start, end in ((own, near), (near, own)):
                np.minimum.at(shortest, group[start], lengths)
                hits = lengths == shortest[group[start]]
                ends[group[start[hits]]] = np.column_stack((start[hits], end[hits]))
        if step > 1:  # compare the most promising samples with all others
            rows = rows[_ranks(group[rows], best[rows]) < max(1, MAX_REFINED // n_groups)]
            targets, step = everyone, 1
        else:  # a core distance may exceed the distance, so a farther sample may be better
            limit = shortest[group[rows]]
            rows = rows[(core[rows] < limit) & (reach[rows] < limit)]
    if not np.isfinite(shortest).all():
        raise ValueError("X must have finite distances between all samples, got infinite ones. Scale X.")
    return shortest, ends


def _ranks(group: Array, keys: NDArray[np.float64]) -> Array:
    """Return the position of every item in its group, sorted by keys."""
    order = np.lexsort((keys, group))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return ranks


def _check_integers(name: str, labels: ArrayLike) -> NDArray[np.int64]:
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.size == 0 or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"{name} must be a non-empty one-dimensional array of integer labels, "
            f"got shape {labels.shape} of {labels.dtype}."
        )
    return labels.astype(np.int64)
