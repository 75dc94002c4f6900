"""Clusters of exactly the sizes of a prior: samples near the boundary change sides.

A sample costs its cluster nothing; another one it costs the length of the shortest way there from neighbour to
neighbour, in units of their distances to neighbours. Among all labels of the right sizes those are taken that cost
least in total, which is a problem of optimal linkage.

In: labels of fitted samples and a prior. Out: labels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.validation import check_n_jobs
from gitcluster.fitted.clustering import Clustering
from gitcluster.kernels import linkage
from gitcluster.preprocessing.sources import Distances, Points, Source

SHORTEST = 1e-9
"""Length of a way between equal samples: it must not be 0, which means no way at all."""
DEAREST = 2.0**40
"""Costs are whole numbers up to this."""


def meet_sizes(found: Clustering, labels: Array, n_found: int, prior: Any, *, n_jobs: int | None = None) -> Array:
    """Return labels with which ``n_found`` clusters have exactly the shares of a prior, the largest first.

    Noise stays noise.
    """
    _check_movable(found)
    check_n_jobs(n_jobs)
    training = found.fitted
    if training.rows is not None:  # to the order of the training samples
        labels = labels[training.rows]
    kept = labels >= 0
    if n_found < len(prior):
        raise ValueError(
            f"There are {n_found} clusters for {len(prior)} proportions. Ask for fewer clusters, or fit with "
            f"a smaller n_neighbors (now {found.n_neighbors}) to find more."
        )
    if len(np.unique(labels[kept])) < len(prior):
        raise ValueError("exact=True needs samples in every cluster, and all of some are noise. Fit with less noise.")
    wanted = whole_sizes(prior, int(kept.sum()))
    ways = measure_ways(found, labels, len(prior), n_jobs=n_jobs)[kept]
    costs = np.rint(ways / max(ways.max(), SHORTEST) * DEAREST).astype(np.int64)
    source = training.source
    rank = np.arange(len(labels))
    if isinstance(source, Points):
        rank = inverse_order(source.search_order).astype(np.int64)
    moved, met = labels[kept].astype(np.int64), labels.copy()
    linkage.move_samples(moved, costs, rank[kept], wanted)
    met[kept] = moved
    return met if training.copies is None else met[training.copies]


def _check_movable(found: Clustering) -> None:
    training = found.fitted
    if training.weights is not None or training.source.n_samples != found.n_samples:
        raise ValueError("exact=True counts samples, and the fit had sample_weight. Fit without weights.")
    if found.links is not None:
        raise ValueError(
            "exact=True moves single samples, which may break links, partial labels and bounds. Fit without these."
        )
    if isinstance(training.source, Distances):
        raise ValueError(
            "exact=True needs the neighbours of the samples, and a matrix of distances is not kept. Fit the samples "
            "themselves, or a graph of neighbours with metric='precomputed_graph'."
        )


def whole_sizes(prior: NDArray[np.float64], n_samples: int) -> Array:
    """Shares as numbers of samples, rounded so that they add up.

    Examples
    --------
    >>> whole_sizes(np.array([0.5, 0.25, 0.25]), 10)
    array([5, 3, 2])
    """
    exact = prior * n_samples
    sizes = np.floor(exact + SHORTEST).astype(np.int64)
    lacking = np.argsort(-(exact - sizes), kind="stable")[: n_samples - sizes.sum()]
    sizes[lacking] += 1
    return sizes


def measure_ways(
    found: Clustering, labels: Array, n_clusters: int, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """(n, c) length of the shortest way from every sample to every cluster, 0 to its own.

    Where neighbours lead nowhere near a cluster, it is longer than all others by the distance to its nearest sample.
    """
    training = found.fitted
    source, width = training.source, np.where(training.widths > 0, training.widths, 1.0).astype(np.float64)
    graph = _link_neighbors(source, width, training.n_neighbors, n_jobs)
    members = [np.flatnonzero(labels == cluster) for cluster in range(n_clusters)]
    ways = np.stack([dijkstra(graph, directed=False, indices=some, min_only=True) for some in members], axis=1)
    far = ways[np.isfinite(ways)].max(initial=0.0) + 1
    for cluster, some in enumerate(members):
        lost = np.flatnonzero(~np.isfinite(ways[:, cluster]))
        ways[lost, cluster] = far
        if len(lost) and isinstance(source, Points):
            near = source.take(some).nearest(source.values[lost], 1, n_jobs=n_jobs)
            ways[lost, cluster] += near.distances[:, 0] / width[lost]
    return np.asarray(ways)


def _link_neighbors(source: Source, width: NDArray[np.float64], n_neighbors: int, n_jobs: int | None) -> Any:
    """The graph of neighbours, with distances in units of the widths at both ends."""
    n = source.n_samples
    near = source.neighbors(min(n_neighbors, n - 1), n_jobs=n_jobs)
    rows, columns = np.repeat(np.arange(n), near.indices.shape[1]), near.indices.ravel()
    lengths = 2 * near.distances.ravel() / (width[rows] + width[columns])
    there = np.isfinite(lengths)
    lengths = np.maximum(lengths[there], SHORTEST)
    return coo_array((lengths, (rows[there], columns[there])), shape=(n, n)).tocsr()
