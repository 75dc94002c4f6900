"""Stage 5 as a cut of the whole graph: spectral clustering of the topo-graph.

A walk along boundary pairs stays where it is with the share of a local cluster's links that do not leave it. The slow
eigenvectors of this walk tell which local clusters belong together when all boundaries are weighed at once; linkage
sees one boundary at a time. A sparse cluster beside a dense one comes out whole here.

In: topo-graph. Out: the final cluster of every local cluster.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import coo_array
from scipy.sparse.linalg import ArpackError, eigsh

from gitcluster._support.arrays import Array
from gitcluster.hierarchy import connect_clusters
from gitcluster.kernels import limit_threads
from gitcluster.topo_graph import TopoGraph

DENSE = 300
"""Local clusters up to which all eigenvectors are computed at once."""
BRIDGE = 0.5
"""A bridge counts as half a boundary pair, less than the weakest connection there is."""
ROUNDS = 50


def cut_spectrum(graph: TopoGraph, n_neighbors: int, *, n_clusters: int) -> Array | None:
    """Final cluster of every local cluster, each cluster connected; None where the eigenvectors were not found."""
    with limit_threads(1):  # matrices are small: threads would wait for each other
        volume, vectors = slow_vectors(graph, n_neighbors, n_clusters)
        if vectors is None:
            return None
        lengths = np.linalg.norm(vectors, axis=1)
        places = vectors / np.where(lengths > 0, lengths, 1.0)[:, None]
        labels = nearest_means(places, volume, qr(vectors.T, mode="r", pivoting=True)[1][:n_clusters])
    return connect_clusters(graph, np.unique(labels, return_inverse=True)[1])


def slow_vectors(
    graph: TopoGraph, n_neighbors: int, n_vectors: int
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Links of every local cluster, and the first eigenvectors of the walk, (m, n_vectors)."""
    m, (first, second), weights = len(graph.sizes), graph.edges.T, np.maximum(graph.pairs, BRIDGE)
    leaving = np.bincount(first, weights, minlength=m) + np.bincount(second, weights, minlength=m)
    volume = np.maximum(2.0 * n_neighbors * graph.sizes, leaving)
    spread, staying = 1 / np.sqrt(volume), 1 - leaving / volume
    steps = spread[first] * weights * spread[second]
    if m <= max(DENSE, 2 * n_vectors):
        walk = np.diag(staying)
        walk[second, first] = steps  # the lower half is enough
        return volume, eigh(walk, subset_by_index=[m - n_vectors, m - 1])[1][:, ::-1]
    rows, columns, nodes = np.append(first, second), np.append(second, first), np.arange(m)
    places = (np.append(rows, nodes), np.append(columns, nodes))
    sparse_walk = coo_array((np.concatenate([steps, steps, staying]), places), shape=(m, m)).tocsr()
    try:
        values, vectors = eigsh(sparse_walk, k=n_vectors, which="LA", v0=np.sqrt(volume), tol=1e-8)
    except ArpackError:
        return volume, None
    return volume, vectors[:, np.argsort(-values, kind="stable")]


def nearest_means(places: NDArray[np.float64], weights: NDArray[np.float64], first: Array) -> Array:
    """Lloyd's rounds from given places: the mean that every place is nearest to."""
    means, labels = places[first].copy(), np.full(len(places), -1)
    for _ in range(ROUNDS):
        nearest = ((means**2).sum(axis=1) - 2 * places @ means.T).argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        totals = np.bincount(labels, weights, minlength=len(means))
        for column in range(places.shape[1]):
            sums = np.bincount(labels, weights * places[:, column], minlength=len(means))
            means[:, column] = np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), means[:, column])
    return labels
