"""SpectACl: Hess, Duivesteijn, Honysz & Morik, "The SpectACl of Nonconvex Clustering", AAAI 2019.

Samples within epsilon of each other are joined by an edge. The method takes the eigenpairs
(lambda, v) of the adjacency matrix with the largest |lambda|, and k-means clusters the rows of |v| sqrt(|lambda|).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.cluster import KMeans

from benchmarks.methods.density import Points, distances, row_blocks

EIGENVECTORS = 50


def spectacl_labels(X: Points, n_clusters: int, *, epsilon: float, random_state: int = 0) -> NDArray[np.int64]:
    """Return the labels of SpectACl."""
    rng = np.random.RandomState(random_state)
    embedding = embed(X, epsilon, rng)
    return KMeans(n_clusters, n_init=10, random_state=rng).fit_predict(embedding)


def join_near(X: Points, epsilon: float) -> csr_array:
    """Return the adjacency matrix of the samples within ``epsilon``, without loops.

    Many pairs may be edges; scikit-learn's function holds several copies of them.
    """
    n = len(X)
    columns, degrees = [], np.zeros(n + 1, np.int64)
    for rows in row_blocks(n, n):
        near = distances(X[rows], X) <= epsilon
        near[np.arange(len(near)), np.arange(rows.start, rows.stop)] = False
        columns.append(near.nonzero()[1].astype(np.int32))
        degrees[1:][rows] = near.sum(axis=1)
    ends = np.concatenate(columns)
    del columns
    return csr_array((np.ones(len(ends)), ends, degrees.cumsum()), shape=(n, n))


def embed(X: Points, epsilon: float, rng: np.random.RandomState, n_eigenvectors: int = EIGENVECTORS) -> Points:
    """Return |v| sqrt(|lambda|) of the eigenpairs of largest absolute value, largest last."""
    graph = join_near(X, epsilon)
    start = rng.uniform(-1, 1, len(X))
    try:
        if n_eigenvectors >= len(X):
            raise ArpackError(0)
        values, vectors = eigsh(graph, k=n_eigenvectors, which="LM", v0=start)
    except ArpackError:  # few samples, or an almost complete graph: nearly all eigenvalues are equal
        values, vectors = np.linalg.eigh(graph.toarray())
    largest = np.argsort(np.abs(values), kind="stable")[-n_eigenvectors:]
    return np.abs(vectors[:, largest]) * np.sqrt(np.abs(values[largest]))
