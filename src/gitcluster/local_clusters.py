"""Stage 3: climb from every sample to an intensity peak; one peak, one local cluster.

The parent of x is the neighbour p of higher intensity with the largest slope (f(p) - f(x)) / d(x, p) (Eq. 4). Equal
intensities are ordered by index, so that a plateau is one local cluster; an exact duplicate has infinite
slope. A sample with no such neighbour is a peak. Following parents ends at a peak, because ranks fall strictly.

Local clusters are numbered by the intensity of their peaks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, follow_to_end, inverse_order
from gitcluster.intensity import rounding_step
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks
from gitcluster.neighbors import Neighbors


class LocalClusters(NamedTuple):
    """Gradient flow and local cluster of every sample; local cluster 0 has the highest peak."""

    parent: Array
    """(n,) the next sample uphill; a peak is its own parent."""
    labels: Array
    """(n,) local cluster of every sample."""
    peaks: Array
    """(m,) sample at the peak of every local cluster."""
    sizes: Array
    """(m,) samples in every local cluster; with weights, their weight in thousandths of the mean."""


def find_local_clusters(
    neighbors: Neighbors,
    log_intensity: NDArray[np.float64],
    *,
    strict: bool = False,
    n_neighbors: int | None = None,
    weights: NDArray[np.float64] | None = None,
    groups: Array | None = None,
    n_jobs: int | None = None,
) -> LocalClusters:
    """Follow the steepest ascent of the intensity from every sample to its peak.

    Parameters
    ----------
    neighbors : Neighbors
    log_intensity : ndarray of shape (n_samples,)
    strict : bool, default=False
        Whether a parent must have a higher intensity, even on a plateau or among duplicates, as in the authors'
        published code.
    n_neighbors : int, default=None
        Number of neighbours to climb among, the nearest of those in ``neighbors``; all of them by default.
    weights : ndarray of shape (n_samples,), default=None
        Sizes count weights, in thousandths of the mean weight.
    groups : ndarray of shape (n_samples,), default=None
        Groups of samples that share a cluster, -1 for none. No local cluster holds samples of two groups: if it
        would, these samples become peaks, and samples that climb through them follow.
    n_jobs : int, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import estimate_intensity, find_neighbors
    >>> near = find_neighbors(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_neighbors=2)
    >>> find_local_clusters(near, estimate_intensity(near)).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    indices, distances = neighbors.indices, neighbors.distances
    n_samples = len(indices)
    order = np.argsort(-log_intensity, kind="stable").astype(indices.dtype)
    parent = np.empty(n_samples, indices.dtype)
    run_chunks(
        kernels.steepest_parent, n_samples, n_jobs,
        indices, distances, neighbors.check_reach(n_neighbors), log_intensity, inverse_order(order), strict,
        rounding_step(distances.dtype), parent,
    )  # fmt: skip
    labels, peaks = label_peaks(order, parent)
    if groups is not None:
        known = np.flatnonzero(groups >= 0)
        lowest, highest = np.full(len(peaks), groups.max() + 1), np.full(len(peaks), -1)
        np.minimum.at(lowest, labels[known], groups[known])
        np.maximum.at(highest, labels[known], groups[known])
        mixed = known[lowest[labels[known]] < highest[labels[known]]]
        parent[mixed] = mixed
        labels, peaks = label_peaks(order, parent)
    sizes = np.bincount(labels, weights, minlength=len(peaks))
    if weights is not None:  # sizes stay integers, whose sums are exact: thousandths of the mean weight
        sizes = np.maximum(np.rint(sizes * (1000 / weights.mean())), 1)
    return LocalClusters(parent, labels, peaks, sizes.astype(np.int64))


def label_peaks(order: Array, parent: Array) -> tuple[Array, Array]:
    """Return the local cluster of every sample, and the peaks, numbered by their position in ``order``."""
    peaks = order[parent[order] == order]
    number = np.empty_like(parent)
    number[peaks] = np.arange(len(peaks))
    return number[follow_to_end(parent)], peaks
