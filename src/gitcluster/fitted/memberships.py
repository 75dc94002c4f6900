"""Memberships of samples in clusters, and the score of a clustering without labels.

The depth t of a sample is 0 at the peak of its local cluster and 1 at its lowest sample. Its membership in its own
cluster is 1 - t / 2. The other t / 2 goes to the clusters that the boundary pairs of its local cluster lead to. Far
from all fitted samples nothing supports these values, and they shrink towards 1 / c for all c clusters.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.outliers import highest_in
from gitcluster.fitted.prediction import SamplePrediction, predict_fitted
from gitcluster.selection import intrinsic_dimension, null_conductance

BOUNDARY = 0.499
"""Membership in other clusters at the boundary; below a half, so that the own cluster has the largest membership."""
LEAST_SUPPORT = 1e-6
"""Least support of a sample, so that its own cluster has the largest membership at any distance."""
BLOCK = 1 << 20
"""Memberships that are computed at once."""


def memberships(clustering: Clustering, prediction: SamplePrediction) -> NDArray[np.float64]:
    """Return the (n, c) membership of samples in clusters; rows sum to 1 and are largest at the own cluster."""
    own, leaving, leads = prediction.clusters, leaving_shares(clustering, prediction), _boundary_shares(clustering)
    support = np.maximum(prediction.support, LEAST_SUPPORT)
    result = np.empty((len(own), clustering.n_clusters))
    step = max(1, BLOCK // clustering.n_clusters)
    for start in range(0, len(own), step):
        rows = slice(start, start + step)
        shares = leads[prediction.local_labels[rows]].toarray()
        shares *= leaving[rows, None]
        shares[np.arange(len(shares)), own[rows]] += 1 - leaving[rows]
        shares /= shares.sum(axis=1, keepdims=True)
        shares *= support[rows, None]
        shares += (1 - support[rows, None]) / clustering.n_clusters
        result[rows] = shares
    return result


def own_shares(clustering: Clustering, prediction: SamplePrediction | None = None) -> NDArray[np.float64]:
    """Return the (n,) membership of samples, by default the fitted ones, in their clusters; 0 for noise.

    This equals the largest membership of each sample, without computing all of them.
    """
    samples = predict_fitted(clustering) if prediction is None else prediction
    leads = _boundary_shares(clustering).tocoo()
    home = leads.col == clustering.edge_cut.labels[leads.row]
    staying = np.bincount(leads.row[home], leads.data[home], minlength=len(clustering.topo_graph.sizes))
    shares = 1 - leaving_shares(clustering, samples) * (1 - staying[samples.local_labels])
    support = np.maximum(samples.support, LEAST_SUPPORT)
    return np.where(samples.labels >= 0, support * shares + (1 - support) / clustering.n_clusters, 0.0)


def leaving_shares(clustering: Clustering, prediction: SamplePrediction) -> NDArray[np.float64]:
    """Return the (n,) share of every sample that follows the boundary pairs of its local cluster."""
    peak, low = (level[prediction.local_labels] for level in clustering.fitted.levels)
    depth = np.where(peak > low, (peak - prediction.log_intensity) / np.where(peak > low, peak - low, 1.0), 0.0)
    return BOUNDARY * np.clip(depth, 0.0, 1.0)


def _boundary_shares(clustering: Clustering) -> Any:
    """Return an (m, c) CSR array: the clusters that the boundary pairs of local clusters lead to, by similarity."""
    graph, cut = clustering.topo_graph, clustering.edge_cut
    real = graph.real & np.isfinite(graph.log_weights)  # a similarity may be 0
    ends = np.concatenate([graph.edges[real], graph.edges[real][:, ::-1]])
    log_sums = np.tile(graph.log_sums[real], 2)
    n_local = len(graph.sizes)
    largest = np.full(n_local, -np.inf)
    np.maximum.at(largest, ends[:, 0], log_sums)
    isolated = np.flatnonzero(np.isinf(largest))  # they stay in their own cluster
    weights = np.concatenate([np.exp(log_sums - largest[ends[:, 0]]), np.ones(len(isolated))])
    rows = np.concatenate([ends[:, 0], isolated])
    totals = np.bincount(rows, weights, minlength=n_local)
    columns = np.concatenate([cut.labels[ends[:, 1]], cut.labels[isolated]])
    return csr_array((weights / totals[rows], (rows, columns)), shape=(n_local, len(cut.sizes)))


def score_closedness(
    clustering: Clustering, samples: Any, prediction: SamplePrediction, *, n_jobs: int | None = None
) -> float:
    """Return a score of new or fitted samples, as ``source.check_new`` returns them; 0 for one cluster.

    The score is the entropy of the cluster sizes, reduced by the conductance relative to that of samples without
    structure, as in ``selection.score_n_clusters``. The conductance is the geometric mean of two measures of the worst
    cluster: the share of its links that leave it, and its density at these links.
    """
    fitted, own = clustering.fitted, prediction.clusters
    near = fitted.source.nearest(samples, clustering.n_neighbors + 1, n_jobs=n_jobs)
    itself = (near.distances[:, :1] == 0) & (np.arange(near.indices.shape[1]) == 0)  # or a duplicate
    there = np.isfinite(near.distances) & ~itself
    others = fitted.clusters[fitted.local_labels[near.indices]]
    crosses = (others != own[:, None]) & there
    peaks = highest_in(fitted.clusters[fitted.local_labels], fitted.log_intensity, clustering.n_clusters)
    level = np.minimum(prediction.log_intensity[:, None], fitted.log_intensity[near.indices])
    relative = np.where(crosses, level - np.minimum(peaks[own][:, None], peaks[others]), -np.inf)
    links = np.maximum(there.sum(axis=1), 1)
    conductance = _worst_mean(own, crosses.sum(axis=1) / links, np.ones(len(own), bool))
    conductance *= _worst_mean(own, np.exp(2 * relative).sum(axis=1) / links, crosses.any(axis=1))
    shares = np.bincount(own)[np.bincount(own) > 0] / len(own)
    limit = null_conductance(clustering.n_neighbors, fitted.source.n_samples, intrinsic_dimension(near))
    return float(-(shares * np.log(shares)).sum() * max(0.0, 1 - np.sqrt(conductance) / limit)) + 0.0


def _worst_mean(own: NDArray[Any], values: NDArray[np.float64], counted: NDArray[np.bool_]) -> float:
    """Return the largest mean of a cluster, over the samples that count."""
    totals, counts = np.bincount(own, np.where(counted, values, 0.0)), np.bincount(own, counted)
    return float((totals / np.maximum(counts, 1)).max(initial=0.0))
