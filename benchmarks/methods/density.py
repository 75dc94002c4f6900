"""Density-based competitors of the paper: FSFDP, Quickshift++ and DPA, written after their papers.

FSFDP: Rodriguez & Laio, "Clustering by fast search and find of density peaks", Science 2014. The conventions are those
of the package pydpc, whose labels the published experiments use. Nothing is marked as halo.

Quickshift++: Jiang, Jang & Kpotufe, "Quickshift++: Provably Good Initializations for Sample-Based Mean Shift", 2018.

DPA: d'Errico, Facco, Laio & Rodriguez, "Automatic topography of high-dimensional data sets by non-parametric density
peak clustering", Information Sciences 2021.

All pair distances are computed in blocks, so that n^2 of them are never held at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cosh, exp, inf, lgamma, log, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from gitcluster.kernels import kernel

Points = NDArray[np.float64]
Indices = NDArray[np.intp]

BLOCK = 2**22
"""Distances held at once."""
LIMIT = 2**23
"""Distances that are sorted rather than counted."""
EXACT_FEATURES = 32
"""Up to this number of features, differences are squared one by one; beyond, a matrix product is much faster."""
BINS = 2**16
SAME = 1e-10
"""Width of a range of distances that counts as one value, as a share of the largest distance."""
MAX_NEIGHBORS = 1000
SMALL_SET_SHARE = 0.4
"""Largest number of neighbours as a share of the samples, in sets of at most MAX_NEIGHBORS."""
THRESHOLD = 23.92812698
"""Likelihood ratio that equal densities exceed once in a million: chi-squared, one degree of freedom."""
MIN_NEIGHBORS = 3


def distances(A: Points, B: Points) -> Points:
    """Return the Euclidean distances of all rows of ``A`` to all rows of ``B``."""
    return cdist(A, B) if A.shape[1] <= EXACT_FEATURES else euclidean_distances(A, B)


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows such that a block of ``n_columns`` columns stays small."""
    size = max(1, BLOCK // max(1, n_columns))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def pairs(X: Points) -> Iterator[Points]:
    """Yield the distances of all pairs of samples, every pair once, block by block."""
    for rows in row_blocks(len(X), len(X)):
        block = distances(X[rows], X[rows.start :])
        yield block[np.arange(block.shape[1]) > np.arange(len(block))[:, None]]


def smallest_pair(X: Points, rank: int) -> float:
    """Return the pair distance of the given rank, 0 for the smallest.

    Counts in bins narrow the range until the rest can be sorted, or is one value many times over.
    """
    below, inside = 0, len(X) * (len(X) - 1) // 2
    low, high, largest = 0.0, np.inf, 0.0
    if inside > LIMIT:
        largest = max(float(block.max(initial=0.0)) for block in pairs(X))
        high = 2 * largest
    while inside > LIMIT and high - low > SAME * largest:
        counts = sum(np.histogram(block[block < high], BINS, (low, high))[0] for block in pairs(X))
        edges = np.histogram_bin_edges([], BINS, (low, high))
        cumulated = np.cumsum(counts) + below
        chosen = int(np.searchsorted(cumulated, rank, side="right"))
        below, inside = int(cumulated[chosen] - counts[chosen]), int(counts[chosen])
        low, high = edges[chosen], edges[chosen + 1]
    if inside > LIMIT:
        return float(min(block.min(initial=np.inf, where=block >= low) for block in pairs(X)))
    left = np.concatenate([block[(block >= low) & (block < high)] for block in pairs(X)])
    return float(np.partition(left, rank - below)[rank - below])


def nearest_denser(X: Points, order: Indices, positions: Indices, n_denser: Indices) -> tuple[Indices, Points]:
    """Return the nearest denser sample, and its distance, of the samples at some positions of an order.

    ``order`` has the samples by falling density. ``n_denser`` counts, for every position, the first samples of the
    order that are denser; at least 1. Of equally near samples the densest is returned.
    """
    ordered = X[order]
    neighbors, nearest = np.empty(len(positions), dtype=np.intp), np.empty(len(positions))
    for rows in row_blocks(len(positions), len(X)):
        counts = n_denser[rows]
        block = distances(ordered[positions[rows]], ordered[: counts.max()])
        block[np.arange(block.shape[1]) >= counts[:, None]] = np.inf
        first = block.argmin(axis=1)
        neighbors[rows], nearest[rows] = order[first], block[np.arange(len(block)), first]
    return neighbors, nearest


def follow_parents(labels: NDArray[np.int64], order: Indices, parent: Indices) -> NDArray[np.int64]:
    """Give every sample without a label, in order, the label of its parent."""
    for i in order:
        if labels[i] < 0:
            labels[i] = labels[parent[i]]
    return labels


def density_peaks(
    X: Points, *, fraction: float = 0.02, min_density: float = 0.0, min_delta: float = 0.0
) -> NDArray[np.int64]:
    """Return the labels of FSFDP.

    The density of a sample is the sum of exp(-(distance / kernel size)^2) over all others. The kernel size is the
    distance that ``fraction`` of all pairs stays below. Delta is the distance to the nearest denser sample. Centres are
    the samples above both thresholds, and the densest sample. Every other sample follows its nearest denser one.
    """
    n, n_pairs = len(X), len(X) * (len(X) - 1) // 2
    size = smallest_pair(X, min(int(0.5 + fraction * n_pairs), n_pairs - 1))
    if size == 0:  # duplicates: the smallest distance above 0
        size = min(float(block.min(initial=np.inf, where=block > 0)) for block in pairs(X))
    size = size if np.isfinite(size) else 1.0
    density = np.empty(n)
    for rows in row_blocks(n, n):
        weights = np.exp(-((distances(X[rows], X) / size) ** 2))
        weights[np.arange(len(weights)), np.arange(rows.start, rows.stop)] = 0
        density[rows] = weights.sum(axis=1)
    order, positions = np.argsort(-density, kind="stable"), np.arange(1, n)
    parent, delta = np.full(n, order[0]), np.empty(n)
    parent[order[1:]], delta[order[1:]] = nearest_denser(X, order, positions, positions)
    delta[order[0]] = delta[order[1:]].max()
    above = (density[order] > min_density) & (delta[order] > min_delta)
    above[0] = True
    centers = np.sort(order[above])
    labels = np.full(n, -1)
    labels[centers] = np.arange(len(centers))
    return follow_parents(labels, order, parent)


def quickshift_pp(X: Points, *, n_neighbors: int, beta: float) -> NDArray[np.int64]:
    """Return the labels of Quickshift++.

    The density of a sample falls with the radius of its neighbours, the sample itself included, as radius^-d. From
    dense to sparse, a sample starts a modal set if no sample of its component is in one yet: its component in the graph
    of mutual neighbours among all samples with at least 1 - ``beta`` of its density. Every sample outside the modal
    sets follows its nearest denser sample.

    As in the authors' program, a sample starts no modal set if its level would include all samples. Their program is
    undefined if no modal set exists; here the densest samples are then the modal set.
    """
    near, neighbors = NearestNeighbors(n_neighbors=n_neighbors - 1).fit(X).kneighbors()
    radii = near[:, -1].copy()
    order = np.argsort(radii, kind="stable")
    n, k = neighbors.shape
    graph = csr_array((np.ones(n * k, dtype=bool), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    mutual = csr_array(graph.multiply(graph.T))
    modal = find_modal_sets(order, radii, mutual.indptr, mutual.indices, (1 - beta) ** (1 / X.shape[1]))
    if (modal < 0).all():
        modal[radii == radii[order[0]]] = 0
    denser = radii[neighbors] < radii[:, None]
    parent = neighbors[np.arange(n), denser.argmax(axis=1)]
    lost = np.flatnonzero(((modal < 0) & ~denser.any(axis=1))[order])  # no denser sample among the neighbours
    n_denser = np.searchsorted(radii[order], radii[order[lost]], side="left")
    parent[order[lost]] = nearest_denser(X, order, lost, n_denser)[0]
    return follow_parents(modal.copy(), order, parent)


@kernel
def _find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@kernel
def find_modal_sets(order, radii, indptr, indices, reach):
    """Return the modal set of every sample, -1 outside all of them.

    ``used`` marks components that hold a modal set already. Samples enter the graph by rising radius.
    """
    n = len(order)
    root, used, modal = np.arange(n), np.zeros(n, dtype=np.bool_), np.full(n, -1)
    present = np.zeros(n, dtype=np.bool_)
    n_present, candidate, n_sets = 0, 0, 0
    for level in range(n):
        radius = radii[order[level]]
        while n_present < n and radii[order[n_present]] < radius:
            i = order[n_present]
            present[i] = True
            n_present += 1
            for j in indices[indptr[i] : indptr[i + 1]]:
                if present[j]:
                    a, b = _find(root, i), _find(root, j)
                    if a != b:
                        root[a] = b
                        used[b] |= used[a]
        while radii[order[candidate]] < radius * reach:
            top = _find(root, order[candidate])
            candidate += 1
            if not used[top]:
                used[top] = True
                for i in order[:n_present]:
                    if _find(root, i) == top:
                        modal[i] = n_sets
                n_sets += 1
    return modal


class Density(NamedTuple):
    """Log density of every sample, its standard error, and the number of neighbours of equal density."""

    log_density: Points
    error: Points
    n_neighbors: NDArray[np.int64]


def density_peak_advanced(X: Points, *, Z: float) -> NDArray[np.int64]:
    """Return the labels of DPA.

    Steps: the intrinsic dimension from two neighbours (TwoNN), the log density from as many neighbours as have the same
    density (PAk), peaks and saddles of g = log density - error, and merging of peaks that exceed their saddle by fewer
    than ``Z`` standard errors. Samples below the highest saddle of their cluster, the halo, get the label -1.
    """
    n = len(X)
    n_neighbors = MAX_NEIGHBORS if n > MAX_NEIGHBORS else int(SMALL_SET_SHARE * n)
    near, neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    density = estimate_density(near, neighbors, estimate_dimension(X))
    g = density.log_density - density.error
    # a peak has no higher g in its neighbourhood, and is in no neighbourhood of a higher g
    is_near, is_higher = np.arange(n_neighbors) < density.n_neighbors[:, None], g[neighbors] > g[:, None]
    is_peak = ~(is_higher & is_near).any(axis=1)
    is_peak[neighbors[(g[neighbors] < g[:, None]) & is_near]] = False
    peaks = np.flatnonzero(is_peak)
    order, labels = np.argsort(-g, kind="stable"), np.full(n, -1)
    labels[peaks] = np.arange(len(peaks))
    parent = neighbors[np.arange(n), is_higher.argmax(axis=1)]
    lost = np.flatnonzero(~is_higher.any(axis=1)[order] & (labels[order] < 0))
    n_higher = np.searchsorted(-g[order], -g[order[lost]], side="left")
    parent[order[lost]] = nearest_denser(X, order, lost, n_higher)[0]
    labels = follow_parents(labels, order, parent)
    target, border = merge_peaks(peaks, find_saddles(neighbors, is_near, g, labels, peaks), density, Z)
    left, labels = np.unique(target[labels], return_inverse=True)
    labels[density.log_density < border[left].max(axis=1)[labels]] = -1
    return labels


def estimate_dimension(X: Points) -> int:
    """Return the intrinsic dimension by TwoNN: the slope of -log(1 - F) over log(r2 / r1), rounded, at least 1.

    r1 and r2 are the distances to the two nearest distinct samples, F is the empirical distribution of the ratio.
    """
    distinct = np.unique(X, axis=0)
    if len(distinct) < 3:
        return X.shape[1]
    first, second = NearestNeighbors(n_neighbors=2).fit(distinct).kneighbors()[0].T
    ratio = np.sort(np.log(second / first))
    if ratio[-1] == 0:
        return X.shape[1]
    height = -np.log1p(-np.arange(len(ratio)) / len(ratio))
    return max(1, round(ratio @ height / (ratio @ ratio)))


def estimate_density(distances: Points, neighbors: Indices, dimension: int) -> Density:
    """Return the log density by PAk, up to a constant that all samples share."""
    with np.errstate(divide="ignore"):
        log_radii = np.log(distances)
    k = count_equal_neighbors(log_radii, neighbors, dimension)
    # samples among duplicates only: as dense as floating-point numbers allow
    last = np.maximum(log_radii[np.arange(len(k)), k - 1], log(np.finfo(np.float64).tiny))
    unit_ball = dimension / 2 * log(pi) - lgamma(dimension / 2 + 1)
    log_density = fit_linear_density(distances, k, dimension) - dimension * last - unit_ball
    return Density(log_density, np.sqrt((4 * k + 2) / (k * (k - 1))), k)


@kernel
def count_equal_neighbors(log_radii, neighbors, dimension):
    """Count the neighbours before the first with another density than the sample, by a likelihood ratio.

    With v the volumes of k neighbours around the sample and around its neighbour k + 1, the ratio is
    -2 k log(4 v1 v2 / (v1 + v2)^2), which is 4 k log cosh(log(v1 / v2) / 2). Volumes of 0 (duplicates) are skipped.
    """
    n, n_neighbors = log_radii.shape
    counts = np.empty(n, dtype=np.int64)
    for i in range(n):
        k = MIN_NEIGHBORS
        ratio = 0.0
        while k < n_neighbors and ratio <= THRESHOLD:
            own, other = log_radii[i, k - 1], log_radii[neighbors[i, k], k - 1]
            if own > -inf and other > -inf:
                half = dimension * abs(own - other) / 2
                ratio = 4 * k * (log(cosh(half)) if half < 300 else half - log(2.0))
            k += 1
        counts[i] = k - 1
    return counts


@kernel
def fit_linear_density(distances, n_neighbors, dimension):
    """Return the log density at every sample, in units of one over the volume of its k neighbours.

    The number in each shell between two neighbours is 1; its mean is the volume of the shell times exp(b + a l) in
    shell l. The likelihood sum(b + a l) - sum(volume exp(b + a l)) is concave: Newton steps, halved until it rises.
    Equal distances make empty shells; then the density is that of all k neighbours, without a slope.
    """
    result = np.empty(len(distances))
    for i in range(len(distances)):
        k = n_neighbors[i]
        result[i] = log(float(k))
        if distances[i, k - 1] > 0:
            balls = (distances[i, :k] / distances[i, k - 1]) ** dimension
            shells = balls.copy()
            shells[1:] -= balls[:-1]
            if shells[1:].min() > 0:
                result[i] = _maximise(shells, result[i], 0.0)
    return result


@kernel
def _maximise(shells, b, a):
    k = len(shells)
    counts = k * (k + 1) / 2
    for _ in range(100):
        s0 = s1 = s2 = 0.0
        for j in range(k):
            mean = shells[j] * exp(b + a * (j + 1))
            s0 += mean
            s1 += mean * (j + 1)
            s2 += mean * (j + 1) ** 2
        gradient_b, gradient_a = k - s0, counts - s1
        determinant = s0 * s2 - s1 * s1
        step_b = (s2 * gradient_b - s1 * gradient_a) / determinant
        step_a = (s0 * gradient_a - s1 * gradient_b) / determinant
        if not abs(step_b) + k * abs(step_a) > 1e-10:
            break
        value = b * k + a * counts - s0
        size = 1.0
        while size > 1e-9:
            expected = 0.0
            for j in range(k):
                expected += shells[j] * exp(b + size * step_b + (a + size * step_a) * (j + 1))
            if (b + size * step_b) * k + (a + size * step_a) * counts - expected >= value:
                break
            size /= 2
        b += size * step_b
        a += size * step_a
    return b


def find_saddles(
    neighbors: Indices, is_near: NDArray[np.bool_], g: Points, labels: NDArray[np.int64], peaks: Indices
) -> NDArray[np.int64]:
    """Return the sample of highest g at the border of every two clusters, or -1 if they do not touch.

    A sample is at the border to the cluster of its nearest sample of another cluster, if that one is in the
    neighbourhood, and if the sample is the nearest of its own cluster to that one. Peaks are no border.
    """
    is_peak = np.zeros(len(g), dtype=bool)
    is_peak[peaks] = True
    foreign = (labels[neighbors] != labels[:, None]) & ~is_peak[neighbors] & is_near
    samples = np.flatnonzero(foreign.any(axis=1) & ~is_peak)
    other = neighbors[samples, foreign[samples].argmax(axis=1)]
    own = labels[neighbors[other]] == labels[samples, None]
    border = neighbors[other, own.argmax(axis=1)] == samples
    saddles = np.full((len(peaks), len(peaks)), -1)
    samples, clusters = samples[border & own.any(axis=1)], labels[other[border & own.any(axis=1)]]
    order = np.lexsort((-samples, g[samples]))  # the highest, and of equal ones the first, is written last
    for i, cluster in zip(samples[order], clusters[order], strict=True):
        saddles[labels[i], cluster] = saddles[cluster, labels[i]] = i
    return saddles


def merge_peaks(
    peaks: Indices, saddles: NDArray[np.int64], density: Density, Z: float
) -> tuple[NDArray[np.int64], Points]:
    """Merge, highest saddle first, the clusters that are not significant.

    Returns
    -------
    target : array of shape (n_peaks,)
        The peak that every peak is merged into.
    border : array of shape (n_peaks, n_peaks)
        Log density at the remaining saddles, or -inf.
    """
    height, error = density.log_density[peaks], density.error[peaks]
    border = np.where(saddles < 0, -np.inf, density.log_density[saddles])
    border_error = density.error[saddles]
    target = np.arange(len(peaks))
    while True:
        doubtful = height[:, None] - border < Z * (error[:, None] + border_error)
        candidates = np.where(doubtful | doubtful.T, border, -np.inf)
        pair = np.unravel_index(candidates.argmax(), candidates.shape) if len(peaks) > 1 else (0, 0)
        if candidates[pair] == -np.inf:
            return target, border
        low, high = pair if height[pair[0]] < height[pair[1]] else pair[::-1]
        target[target == low] = high
        better = border[low] > border[high]
        better[high] = False
        for values in (border, border_error):
            values[high, better] = values[better, high] = values[low, better]
        border[low, :] = border[:, low] = -np.inf
