"""SpectACl: Hess, Duivesteijn, Honysz & Morik, "The SpectACl of Nonconvex Clustering", AAAI 2019.

Samples within epsilon of each other are joined by an edge. Of the adjacency matrix the eigenpairs (lambda, v) of
largest absolute value are taken, and k-means clusters the rows of |v| sqrt(|lambda|).
"""

from __future__ import annotations

from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from benchmarks.methods.pair_distances import distances, row_blocks

RULE_NEIGHBORS = 10
RULE_SHARE = 0.99


class SpectACl(ClusterMixin, BaseEstimator):
    """Spectral clustering that maximises the average density inside clusters.

    Parameters
    ----------
    n_clusters : int, default 2
    epsilon : float or None
        Radius of the neighbourhoods; None takes :func:`find_epsilon`.
    n_eigenvectors : int, default 50
        Dimension of the embedding, fewer where there are fewer samples.
    random_state : int, RandomState or None
        Start of the eigensolver and of k-means: one seed gives one result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    epsilon_ : float
    embedding_ : array of shape (n_samples, n_eigenvectors)

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> labels = SpectACl(2, epsilon=0.5, random_state=0).fit_predict(X)
    >>> (labels == labels[0]).tolist()
    [True, True, True, False, False, False]
    """

    def __init__(
        self, n_clusters: int = 2, epsilon: float | None = None, n_eigenvectors: int = 50, random_state: Any = None
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.n_eigenvectors = n_eigenvectors
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Embed the graph and cluster the embedding."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters must be from 1 to n_samples = {len(X)}, got n_clusters={self.n_clusters}.")
        if self.epsilon is not None and not self.epsilon > 0:
            raise ValueError(f"epsilon must be None or above 0, got epsilon={self.epsilon!r}.")
        if self.n_eigenvectors < 1:
            raise ValueError(f"n_eigenvectors must be at least 1, got n_eigenvectors={self.n_eigenvectors}.")
        self.epsilon_ = find_epsilon(X) if self.epsilon is None else self.epsilon
        rng = check_random_state(self.random_state)
        self.embedding_ = embed_graph(join_near(X, self.epsilon_), self.n_eigenvectors, rng)
        self.labels_ = self.cluster_embedding(rng)
        return self

    def cluster_embedding(self, random_state: Any) -> NDArray[np.int64]:
        """Labels of the fitted embedding by another seed of k-means, where all chance is."""
        return KMeans(self.n_clusters, n_init=10, random_state=random_state).fit_predict(self.embedding_)


def find_epsilon(X: NDArray[np.float64]) -> float:
    """Return the smallest radius at which 99 % of the samples have ten neighbours, all they can have in smaller sets.

    A rule without labels, after that of the authors' experiments.
    """
    near, _ = NearestNeighbors(n_neighbors=min(RULE_NEIGHBORS, len(X) - 1)).fit(X).kneighbors()
    radius = np.sort(near[:, -1])[ceil(RULE_SHARE * len(X)) - 1]
    # duplicates make no radius; any will do that does not reach beyond them
    return float(radius) if radius > 0 else float(np.finfo(np.float64).tiny)


def join_near(X: NDArray[np.float64], epsilon: float) -> csr_array:
    """Return the adjacency matrix of the samples within ``epsilon``, nobody joined to itself.

    A large part of all pairs may be edges; scikit-learn's function holds several copies of them.
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


def embed_graph(graph: csr_array, n_eigenvectors: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Return |v| sqrt(|lambda|) of the eigenpairs of largest absolute value, largest last."""
    n = graph.shape[0]
    start = rng.uniform(-1, 1, n)
    try:
        if n_eigenvectors >= n:
            raise ArpackError(0)
        values, vectors = eigsh(graph, k=n_eigenvectors, which="LM", v0=start)
    except ArpackError:
        # a graph of few samples, or almost complete: nearly all eigenvalues are alike
        values, vectors = np.linalg.eigh(graph.toarray())
    largest = np.argsort(np.abs(values), kind="stable")[-n_eigenvectors:]
    return np.abs(vectors[:, largest]) * np.sqrt(np.abs(values[largest]))
