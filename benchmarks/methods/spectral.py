"""Spectral clustering on the graph of 10 nearest neighbours.

The sparse eigensolver sometimes fails on graphs of many components; the same problem is then
solved by LOBPCG. Of many samples it takes half an hour and more, where multigrid (pyamg, if
it is installed) takes minutes.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError
from sklearn.cluster import SpectralClustering

from benchmarks.methods import Method

N_NEIGHBORS = 10
MANY = 20_000


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return k-means labels of the spectral embedding."""
    try:
        return _cluster(X, n_clusters, "amg" if len(X) > MANY and find_spec("pyamg") else "arpack")
    except (ArpackError, np.linalg.LinAlgError, RuntimeError):
        return _cluster(X, n_clusters, "lobpcg")


def _cluster(X: NDArray[np.float64], n_clusters: int, solver: str) -> NDArray[np.int64]:
    model = SpectralClustering(
        n_clusters,
        eigen_solver=solver,
        affinity="nearest_neighbors",
        n_neighbors=min(N_NEIGHBORS, len(X) - 1),
        random_state=0,
    )
    return model.fit_predict(X)


METHODS = [Method("spectral", fit_predict, "scikit-learn")]
