"""Genie: single linkage held back by the Gini index of cluster sizes, default threshold 0.3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import Method


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return Genie's partition into ``n_clusters``."""
    from genieclust import Genie

    return Genie(n_clusters=n_clusters, gini_threshold=0.3).fit_predict(X)


METHODS = [Method("genie", fit_predict, "genieclust")]
