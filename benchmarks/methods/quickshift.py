"""Quickshift++: Jiang, Jang & Kpotufe, "Quickshift++: Provably Good Initializations for Sample-Based Mean Shift", 2018.

The density of a sample falls with the radius of its k nearest neighbours, as radius^-d. From dense to sparse, a
sample starts a modal set when no sample of its component is in one yet: the component that it has in the graph of
mutual neighbours among all samples with at least 1 - beta of its density. Every sample outside the modal sets then
goes where its nearest denser sample goes.

As in the authors' program a sample counts as the first of its own neighbours, and starts no modal set where that
level would take in all samples. Their program is undefined where no modal set exists, and where the nearest denser
sample is farther than the square root of 1e9; here the densest samples are then the modal set, and the distance has
no limit.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from benchmarks.methods.pair_distances import nearest_denser
from gitcluster.kernels import kernel


class QuickshiftPP(ClusterMixin, BaseEstimator):
    """Quick shift that starts from modal sets.

    Parameters
    ----------
    n_neighbors : int, default 20
        Neighbours that make the density, the sample itself included.
    beta : float, default 0.3
        How far below a mode, as a fraction of its density, its modal set reaches.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    modal_sets_ : array of shape (n_samples,)
        Number of the modal set of every sample, -1 outside.
    radii_ : array of shape (n_samples,)
        Distance to the last neighbour.

    Examples
    --------
    >>> QuickshiftPP(n_neighbors=2, beta=0.3).fit_predict([[0.0], [0.1], [0.3], [5.0], [5.11], [5.3]]).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, n_neighbors: int = 20, beta: float = 0.3) -> None:
        self.n_neighbors = n_neighbors
        self.beta = beta

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find modal sets, then shift all other samples into them."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not 2 <= self.n_neighbors <= len(X):
            raise ValueError(
                f"n_neighbors must be from 2 to n_samples = {len(X)}, got n_neighbors={self.n_neighbors}; "
                "the sample itself is counted."
            )
        if not 0 <= self.beta < 1:
            raise ValueError(f"beta must be in [0, 1), got beta={self.beta!r}.")
        distances, neighbors = NearestNeighbors(n_neighbors=self.n_neighbors - 1).fit(X).kneighbors()
        self.radii_ = distances[:, -1].copy()
        order = np.argsort(self.radii_, kind="stable")
        reach = (1 - self.beta) ** (1 / X.shape[1])
        mutual = mutual_neighbors(neighbors)
        self.modal_sets_ = find_modal_sets(order, self.radii_, mutual.indptr, mutual.indices, reach)
        if (self.modal_sets_ < 0).all():
            self.modal_sets_[self.radii_ == self.radii_[order[0]]] = 0
        self.labels_ = self.modal_sets_.copy()
        parent = self._find_parents(X, order, neighbors)
        for i in order:
            if self.labels_[i] < 0:
                self.labels_[i] = self.labels_[parent[i]]
        return self

    def _find_parents(
        self, X: NDArray[np.float64], order: NDArray[np.intp], neighbors: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Nearest sample of smaller radius: among the neighbours, else among all; -1 inside modal sets."""
        denser = self.radii_[neighbors] < self.radii_[:, None]
        parent = neighbors[np.arange(len(X)), denser.argmax(axis=1)]
        parent[self.modal_sets_ >= 0] = -1
        ordered = self.radii_[order]
        lost = np.flatnonzero(((self.modal_sets_ < 0) & ~denser.any(axis=1))[order])
        n_denser = np.searchsorted(ordered, ordered[lost], side="left")
        parent[order[lost]] = nearest_denser(X, order, lost, n_denser)[0]
        return parent


def mutual_neighbors(neighbors: NDArray[np.intp]) -> csr_array:
    """Graph of the pairs that are neighbours both ways."""
    n, k = neighbors.shape
    graph = csr_array((np.ones(n * k, dtype=bool), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return csr_array(graph.multiply(graph.T))


@kernel
def _find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@kernel
def find_modal_sets(order, radii, indptr, indices, reach):
    """Modal set of every sample, -1 outside all of them.

    ``used`` marks components that hold a modal set already. Samples enter the graph by rising radius.
    """
    n = len(order)
    root, used, modal = np.arange(n), np.zeros(n, dtype=np.bool_), np.full(n, -1)
    present = np.zeros(n, dtype=np.bool_)
    n_present, candidate, n_sets = 0, 0, 0
    for level in range(n):
        radius = radii[order[level]]
        while n_present < n and radii[order[n_present]] < radius:
            i = order[n_present]
            present[i] = True
            n_present += 1
            for j in indices[indptr[i] : indptr[i + 1]]:
                if present[j]:
                    a, b = _find(root, i), _find(root, j)
                    if a != b:
                        root[a] = b
                        used[b] |= used[a]
        while radii[order[candidate]] < radius * reach:
            top = _find(root, order[candidate])
            candidate += 1
            if not used[top]:
                used[top] = True
                for i in order[:n_present]:
                    if _find(root, i) == top:
                        modal[i] = n_sets
                n_sets += 1
    return modal
