"""Gaussian mixture, five seeded starts.

Covariances are full where there are at least five samples for every mean coordinate of the
mixture, else diagonal: a full one could not be estimated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from benchmarks.methods import Method

SAMPLES_PER_COORDINATE = 5


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return the most probable component of every sample."""
    enough = len(X) >= SAMPLES_PER_COORDINATE * n_clusters * X.shape[1]
    model = GaussianMixture(n_clusters, covariance_type="full" if enough else "diag", n_init=5, random_state=0)
    return model.fit_predict(X)


METHODS = [Method("gaussian-mixture", fit_predict, "scikit-learn")]
