"""Ward's agglomerative clustering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering

from benchmarks.methods import Method


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return the cut of Ward's tree into ``n_clusters``."""
    return AgglomerativeClustering(n_clusters, linkage="ward").fit_predict(X)


METHODS = [Method("ward", fit_predict, "scikit-learn")]
