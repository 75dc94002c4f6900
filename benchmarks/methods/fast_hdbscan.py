"""HDBSCAN as the package fast_hdbscan has it, with two minimum cluster sizes; it chooses the number of clusters.

Noise keeps its label -1: the scores take it as one more cluster, the count of clusters does not.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import Method


def fit_predict(X: NDArray[np.float64], n_clusters: object = None, *, min_cluster_size: int) -> NDArray[np.int64]:
    """Return fast_hdbscan's labels; ``n_clusters`` is not used."""
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=min_cluster_size).fit_predict(X)


METHODS = [
    Method(f"fast-hdbscan-{size}", partial(fit_predict, min_cluster_size=size), "fast_hdbscan", "nothing")
    for size in (5, 15)
]
