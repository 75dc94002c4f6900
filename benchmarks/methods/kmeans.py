"""k-means, ten seeded starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.methods import Method


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return labels of the best of ten starts."""
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)


METHODS = [Method("k-means", fit_predict, "scikit-learn")]
