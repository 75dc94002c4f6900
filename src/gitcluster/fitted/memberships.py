"""How much a sample belongs to every cluster.

A sample at place t between its peak (0) and the lowest sample of its local cluster (1) belongs to its own cluster by
1 - t / 2, and by t / 2 to the clusters that the boundary pairs of its local cluster lead to. Far from all fitted
samples nothing supports these shares: they shrink towards 1 / c for all of the c clusters.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.prediction import SamplePrediction, predict_fitted

BOUNDARY = 0.499
"""What a sample at the boundary may belong to other clusters; below a half, so that its own comes first."""

LEAST_SUPPORT = 1e-6
"""Support that every sample has, so that its own cluster comes first however far away it is."""

SHARES_AT_ONCE = 1 << 20


def memberships(found: Clustering, described: SamplePrediction) -> NDArray[np.float64]:
    """(n, c) share of every cluster in every sample; rows sum to 1 and are largest at the sample's own cluster."""
    shares = np.empty((len(described.clusters), found.n_clusters))
    for some, block in _share_blocks(found, described):
        shares[some] = block
    return shares


def top_memberships(
    found: Clustering, described: SamplePrediction, top: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The clusters with the largest shares in every sample, and these shares, (n, top) each, largest first; of equal
    ones the lower number first."""
    n_samples, width = len(described.clusters), min(check_integer("top", top, low=1), found.n_clusters)
    clusters, shares = np.empty((n_samples, width), np.int64), np.empty((n_samples, width))
    for some, block in _share_blocks(found, described):
        clusters[some] = np.argsort(-block, axis=1, kind="stable")[:, :width]
        shares[some] = np.take_along_axis(block, clusters[some], axis=1)
    return clusters, shares


def _share_blocks(found: Clustering, described: SamplePrediction) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Shares of all clusters in some of the samples at a time, so that little room is needed besides the result."""
    own, leaving, leads = described.clusters, leaving_shares(found, described), _boundary_shares(found)
    support = np.maximum(described.support, LEAST_SUPPORT)
    step = max(1, SHARES_AT_ONCE // found.n_clusters)
    for start in range(0, len(own), step):
        some = slice(start, start + step)
        shares = leads[described.local_labels[some]].toarray()
        shares *= leaving[some, None]
        shares[np.arange(len(shares)), own[some]] += 1 - leaving[some]
        shares /= shares.sum(axis=1, keepdims=True)
        shares *= support[some, None]
        shares += (1 - support[some, None]) / found.n_clusters
        yield some, shares


def own_shares(found: Clustering, described: SamplePrediction | None = None) -> NDArray[np.float64]:
    """(n,) how firmly samples, all fitted ones by default, belong to their clusters; 0 for noise.

    The largest of the memberships of each, without room for all of them.
    """
    samples = predict_fitted(found) if described is None else described
    return np.where(samples.labels >= 0, home_shares(found, samples), 0.0)


def home_shares(found: Clustering, samples: SamplePrediction) -> NDArray[np.float64]:
    """Return the membership of samples in the clusters they climb to, noise or not."""
    leads = _boundary_shares(found).tocoo()
    home = leads.col == found.edge_cut.labels[leads.row]
    staying = np.bincount(leads.row[home], leads.data[home], minlength=len(found.topo_graph.sizes))
    shares = 1 - leaving_shares(found, samples) * (1 - staying[samples.local_labels])
    support = np.maximum(samples.support, LEAST_SUPPORT)
    return np.asarray(support * shares + (1 - support) / found.n_clusters)


def leaving_shares(found: Clustering, described: SamplePrediction) -> NDArray[np.float64]:
    """(n,) how much of every sample goes where the boundary pairs of its local cluster lead."""
    peak, low = (level[described.local_labels] for level in found.fitted.levels)
    depth = np.where(peak > low, (peak - described.log_intensity) / np.where(peak > low, peak - low, 1.0), 0.0)
    return BOUNDARY * np.clip(depth, 0.0, 1.0)


def _boundary_shares(found: Clustering) -> Any:
    """(m, c) CSR array: to which clusters the boundary pairs of a local cluster lead, by summed similarity."""
    graph, cut = found.topo_graph, found.edge_cut
    real = graph.real & np.isfinite(graph.log_weights)  # a similarity may be 0
    ends = np.concatenate([graph.edges[real], graph.edges[real][:, ::-1]])
    log_sums = np.tile(graph.log_sums[real], 2)
    n_local = len(graph.sizes)
    largest = np.full(n_local, -np.inf)
    np.maximum.at(largest, ends[:, 0], log_sums)
    lonely = np.flatnonzero(np.isinf(largest))
    weights = np.concatenate([np.exp(log_sums - largest[ends[:, 0]]), np.ones(len(lonely))])
    rows = np.concatenate([ends[:, 0], lonely])
    totals = np.bincount(rows, weights, minlength=n_local)
    columns = np.concatenate([cut.labels[ends[:, 1]], cut.labels[lonely]])
    return csr_array((weights / totals[rows], (rows, columns)), shape=(n_local, len(cut.sizes)))
