"""How good a clustering is without labels: what it says, as far as its clusters are closed.

Entropy of the cluster sizes, times how far the leak is below that of samples without structure: the score by
which the number of clusters is chosen (``selection.score_n_clusters``), of one clustering and without the agreement of
several. The leak is the geometric mean of two measures of the worst cluster: the share of its links to neighbours that
leave it, and how dense it is where they do.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.outliers import highest_in
from gitcluster.fitted.prediction import SamplePrediction
from gitcluster.selection import intrinsic_dimension, null_conductance


def score_closedness(
    found: Clustering, samples: Any, described: SamplePrediction, *, n_jobs: int | None = None
) -> float:
    """The score of samples, new or fitted, as ``found.source.check_new`` returns them; 0 for one cluster."""
    fitted, own = found.fitted, described.clusters
    near = fitted.source.nearest(samples, found.n_neighbors + 1, n_jobs=n_jobs)
    itself = (near.distances[:, :1] == 0) & (np.arange(near.indices.shape[1]) == 0)  # or one equal to it
    there = np.isfinite(near.distances) & ~itself
    others = fitted.clusters[fitted.local_labels[near.indices]]
    crosses = (others != own[:, None]) & there
    peaks = highest_in(fitted.clusters[fitted.local_labels], fitted.log_intensity, found.n_clusters)
    level = np.minimum(described.log_intensity[:, None], fitted.log_intensity[near.indices])
    relative = np.where(crosses, level - np.minimum(peaks[own][:, None], peaks[others]), -np.inf)
    links = np.maximum(there.sum(axis=1), 1)
    leak = _worst(own, crosses.sum(axis=1) / links, np.ones(len(own), bool))
    leak *= _worst(own, np.exp(2 * relative).sum(axis=1) / links, crosses.any(axis=1))
    shares = np.bincount(own)[np.bincount(own) > 0] / len(own)
    limit = null_conductance(found.n_neighbors, fitted.source.n_samples, intrinsic_dimension(near))
    return float(-(shares * np.log(shares)).sum() * max(0.0, 1 - np.sqrt(leak) / limit)) + 0.0


def _worst(own: NDArray[Any], values: NDArray[np.float64], counted: NDArray[np.bool_]) -> float:
    """The largest mean of a cluster, over the samples that count."""
    totals, counts = np.bincount(own, np.where(counted, values, 0.0)), np.bincount(own, counted)
    return float((totals / np.maximum(counts, 1)).max(initial=0.0))
