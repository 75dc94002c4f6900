"""How much a sample belongs to every cluster.

A sample at place t between its peak (0) and the lowest sample of its local cluster (1) belongs to its own cluster by
1 - t / 2, and by t / 2 to the clusters that the boundary pairs of its local cluster lead to.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.prediction import Described, describe_fitted

BOUNDARY = 0.499
"""What a sample at the boundary may belong to other clusters; below a half, so that its own comes first."""


def memberships(found: Clustering, described: Described) -> NDArray[np.float64]:
    """(n, c) share of every cluster in every sample; rows sum to 1 and are largest at the sample's own cluster."""
    own, leaving = described.clusters, leaving_shares(found, described)
    shares = _boundary_shares(found)[described.local_labels].toarray() * leaving[:, None]
    shares[np.arange(len(own)), own] += 1 - leaving
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def own_shares(found: Clustering, described: Described | None = None) -> NDArray[np.float64]:
    """(n,) how firmly samples, all fitted ones by default, belong to their clusters; 0 for noise.

    The largest of the memberships of each, without room for all of them.
    """
    samples = describe_fitted(found) if described is None else described
    return np.where(samples.labels >= 0, home_shares(found, samples), 0.0)


def home_shares(found: Clustering, samples: Described) -> NDArray[np.float64]:
    """(n,) membership of samples in the clusters they climb to, noise or not."""
    leads = _boundary_shares(found).tocoo()
    home = leads.col == found.edge_cut.labels[leads.row]
    staying = np.bincount(leads.row[home], leads.data[home], minlength=len(found.topo_graph.sizes))
    return np.asarray(1 - leaving_shares(found, samples) * (1 - staying[samples.local_labels]))


def leaving_shares(found: Clustering, described: Described) -> NDArray[np.float64]:
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
