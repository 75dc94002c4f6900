"""What a fitted model says of a sample, new or fitted: intensity, label, memberships, and how far out it is.

A new sample climbs like a fitted one: to the steepest of its fitted neighbours of higher intensity (to the nearest
where none is higher), and has the local cluster and the cluster of that one. A fitted sample keeps what it has.

Memberships: a sample at place t between its peak (0) and the lowest sample of its local cluster (1) belongs to its own
cluster by 1 - t / 2, and by t / 2 to the clusters that the boundary pairs of its local cluster lead to.
Outlier score: 1 - 1 / r where the sample's neighbourhood is r > 1 times as wide as those of its neighbours, else 0. It
compares with the place around the sample, so it means the same in dense and in thin clusters.
"""

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.neighbors import NearestNeighbors

from gitcluster import _kernels, _search_kernels
from gitcluster._jit import run_chunks
from gitcluster.cells import gather_cells, nearest_in_cells
from gitcluster.edge_cutting import EdgeCut
from gitcluster.graphs import graph_neighbors
from gitcluster.intensity import distance_unit
from gitcluster.neighbors import Array, Neighbors, hash_samples, row_bytes
from gitcluster.pipeline import GITResult
from gitcluster.scaling import LARGEST, Scaling, apply_scaling
from gitcluster.search import CELL_FEATURES, ROWS_AT_ONCE, empty_neighbors, quiet_conversion
from gitcluster.selection import climb_among
from gitcluster.topo_graph import TopoGraph

KERNELS = {"adaptive": "relative", "paper": "exponential", "authors": "gaussian"}
"""Of the intensity in every variant."""
BOUNDARY = 0.499
"""What a sample at the boundary may belong to other clusters; below a half, so that its own comes first."""


class Reference(NamedTuple):
    """Fitted samples, as far as new ones are compared with them."""

    points: Any
    scaling: Scaling | None
    metric: str
    kernel: str
    n_features: int
    n_neighbors: int
    n_climb: int
    scale: NDArray[np.float64]
    """(m,) distance unit of the intensity in every local cluster."""
    log_intensity: NDArray[np.float64]
    parents: Array
    """(n,) the next sample uphill; a peak is its own."""
    local_labels: Array
    clusters: Array
    """(m,) final cluster of every local cluster."""
    labels: Array
    reach: NDArray[np.float32]
    """(n,) mean distance to the neighbours."""
    outlier_scores: NDArray[np.float32]
    weights: NDArray[np.float64]
    """(n,) or empty."""
    noise_above: float
    """Outlier score from which on a sample is noise."""
    fingerprint: str
    """Checksum of a fitted matrix of distances."""


class Described(NamedTuple):
    """What is known of every sample of a query."""

    labels: Array
    clusters: Array
    """Like the labels, but with the cluster of noise as well."""
    local_labels: Array
    log_intensity: NDArray[np.float64]
    outlier_scores: NDArray[np.float32]
    parents: Array
    """The next fitted sample uphill."""


def build_reference(
    found: GITResult,
    *,
    metric: str,
    variant: str,
    n_features: int,
    noise: float | str | None,
    weights: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> Reference:
    """What a fit leaves behind for new samples, with outlier scores and the labels after noise was taken out."""
    near = found.neighbors
    k = min(found.n_neighbors, near.indices.shape[1])
    kernel = KERNELS[variant]
    reach, scores = score_outliers(near, k, n_jobs=n_jobs)
    threshold = 1.0 if noise is None else noise_threshold(scores, noise)
    labels = found.labels
    if noise is not None:
        highest = np.full(len(found.edge_cut.sizes), -np.inf)
        np.maximum.at(highest, labels, found.log_intensity)  # no cluster is all noise
        labels = np.where((scores > threshold) & (found.log_intensity < highest[labels]), -1, labels)
    unit = distance_unit(near, kernel=kernel, n_features=n_features, n_neighbors=k)
    return Reference(
        points=None if metric == "precomputed" else found.points,
        scaling=found.scaling,
        metric=metric,
        kernel=kernel,
        n_features=n_features,
        n_neighbors=found.n_neighbors,
        n_climb=climb_among(found.n_neighbors) if variant == "adaptive" else found.n_neighbors,
        scale=unit[found.topo_graph.peaks],
        log_intensity=found.log_intensity,
        parents=found.local_clusters.parent,
        local_labels=found.local_clusters.labels,
        clusters=found.edge_cut.labels,
        labels=labels,
        reach=reach.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        weights=np.empty(0) if weights is None else weights,
        noise_above=threshold,
        fingerprint=sha256(found.points.tobytes()).hexdigest() if metric == "precomputed" else "",
    )


def check_range(name: str, values: Array, low: int, high: int) -> None:
    """Raise where integers from a file are not from ``low`` to below ``high``."""
    if values.dtype.kind not in "iu" or (values.size and not low <= values.min() <= values.max() < high):
        raise ValueError(f"its {name} are out of range")


def check_graph_parts(graph: TopoGraph, n_samples: int) -> None:
    """Raise where the parts of a topo-graph from a file do not fit together."""
    check_range("edges", graph.edges, 0, len(graph.sizes))
    check_range("peaks", graph.peaks, 0, n_samples)
    if len(graph.peaks) != len(graph.sizes):
        raise ValueError("its local clusters have different numbers of values")
    if not len(graph.edges) == len(graph.pairs) == len(graph.log_weights):
        raise ValueError("its edges have different numbers of values")
    if graph.edges.shape != (len(graph.pairs), 2) or not np.isfinite(graph.log_weights).all():
        raise ValueError("its edges are none")


def check_reference(reference: Reference, n_local: int, n_clusters: int, n_features: int) -> None:
    """Raise where a reference from a file could not be worked with."""
    n_fitted = len(reference.labels)
    columns = (reference.log_intensity, reference.local_labels, reference.reach, reference.outlier_scores)
    if any(len(column) != n_fitted for column in (*columns, reference.parents)):
        raise ValueError("its samples have different numbers of values")
    if len(reference.weights) not in (0, n_fitted):
        raise ValueError("its samples have different numbers of values")
    if reference.points is not None and reference.points.shape[0] != n_fitted:
        raise ValueError("it has labels for other samples than it holds")
    check_range("labels", reference.labels, -1, n_clusters)
    check_range("clusters", reference.clusters, 0, n_clusters)
    check_range("local clusters", reference.local_labels, 0, n_local)
    check_range("parents", reference.parents, 0, n_fitted)
    if not len(reference.scale) == len(reference.clusters) == n_local:
        raise ValueError("its local clusters have different numbers of values")
    _check_values(reference, n_features)
    if not reference.metric.startswith("precomputed"):
        trial: Any = np.zeros((1, n_features))
        trial = csr_array(trial) if issparse(reference.points) else trial
        if apply_scaling(trial, reference.scaling).shape[1] != reference.points.shape[1]:
            raise ValueError("its scale is that of other features")


def _check_values(reference: Reference, n_features: int) -> None:
    numbers = (reference.n_features, reference.n_neighbors, reference.n_climb)
    if not all(isinstance(number, int) and number > 0 for number in numbers):
        raise ValueError("its numbers of neighbours or features are none")
    if not isinstance(reference.noise_above, float) or np.isnan(reference.noise_above):
        raise ValueError("its threshold of noise is no number")
    points = reference.points.data if issparse(reference.points) else reference.points
    floats: list[Any] = [reference.scale, reference.log_intensity, reference.outlier_scores, reference.weights]
    floats += [] if points is None else [points.ravel()]
    if reference.scaling is not None:
        features, *columns, weights = reference.scaling
        floats += [*columns, weights]
        whole = (
            features.ndim == 1
            and features.dtype.kind in "iu"
            and (features >= 0).all()
            and (features < n_features).all()
        )
        lengths = {len(column) for column in columns} | {len(weights)}
        if not whole or not lengths <= {0, len(features)} or (len(features) and lengths == {0}):
            raise ValueError("its scale is that of other features")
    if any(a.ndim != 1 or a.dtype.kind != "f" or not np.isfinite(a).all() for a in floats):
        raise ValueError("some of its values are no finite numbers")
    if reference.reach.ndim != 1 or reference.reach.dtype.kind != "f" or np.isnan(reference.reach).any():
        raise ValueError("some of its distances are missing")
    if (reference.scale <= 0).any():
        raise ValueError("its units of distance are not above 0")


def score_outliers(
    near: Neighbors, k: int, reach: Array | None = None, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean distance to the k nearest and outlier score of every sample; ``reach`` is that of fitted samples."""
    n_samples = len(near.indices)
    k = min(k, near.indices.shape[1])
    own, scores = np.empty((2, n_samples))
    run_chunks(_kernels.mean_reach, n_samples, n_jobs, near.distances, k, own)
    reach = own if reach is None else reach
    run_chunks(_kernels.outlier_scores, n_samples, n_jobs, near.indices, near.distances, k, own, reach, scores)
    return own, scores


def noise_threshold(scores: NDArray[np.float64], noise: float | str) -> float:
    """The outlier score above which samples are noise: a share of the samples, or what lies far out.

    "auto" is Tukey's rule for log r: three times the interquartile range above the upper quartile.
    """
    if isinstance(noise, str):
        with np.errstate(divide="ignore"):
            ratio = -np.log1p(-scores)
        low, high = np.quantile(ratio[np.isfinite(ratio)], [0.25, 0.75]) if np.isfinite(ratio).any() else (0.0, 0.0)
        return float(-np.expm1(-(high + 3 * (high - low))))
    n_noise = int(np.floor(noise * len(scores)))
    return float(np.sort(scores)[::-1][n_noise])


def describe_samples(reference: Reference, X: Any, cache: dict[str, Any], *, n_jobs: int | None = None) -> Described:
    """Labels, intensities and outlier scores of samples; those that were fitted have what the fit gave them."""
    points = X
    if not reference.metric.startswith("precomputed"):
        with np.errstate(over="ignore"):
            points = apply_scaling(X, reference.scaling)
        if reference.metric == "euclidean" and not issparse(points):
            far = LARGEST[points.dtype.char]  # a new sample may be anywhere, its distances are to be finite
            np.clip(points, -far, far, out=points)
    match = match_rows(reference, points, cache)
    rows = np.flatnonzero(match < 0)
    found = np.maximum(match, 0)
    described = Described(
        reference.labels[found].copy(),
        reference.clusters[reference.local_labels[found]],
        reference.local_labels[found].copy(),
        reference.log_intensity[found].copy(),
        reference.outlier_scores[found].copy(),
        reference.parents[found],
    )
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        new = _describe_new(reference, points[some], cache, n_jobs)
        for i in range(len(described)):
            described[i][some] = new[i]
    return described


def _describe_new(reference: Reference, points: Any, cache: dict[str, Any], n_jobs: int | None) -> Described:
    near = nearest_fitted(reference, points, cache, n_jobs)
    k = near.indices.shape[1]
    nearest = near.indices[:, 0]
    scale = reference.scale[reference.local_labels[nearest]]
    power = 2 if reference.kernel == "gaussian" else 1
    loss = near.distances.astype(np.float64) ** power / scale[:, None]
    weights = np.ones(near.indices.shape) if not len(reference.weights) else reference.weights[near.indices]
    before = np.cumsum(weights, axis=1) - weights
    weights = np.clip(reference.n_neighbors - before, 0, weights)  # a neighbourhood of that weight
    log_intensity = np.full(len(nearest), _kernels.NO_INTENSITY)
    there = np.isfinite(loss[:, 0]) & (weights.sum(axis=1) > 0)
    total = (weights[there] * np.exp(loss[there][:, :1] - loss[there])).sum(axis=1)
    log_intensity[there] = np.log(total / weights[there].sum(axis=1)) - loss[there, 0]

    climb = slice(0, min(reference.n_climb, k))
    rise = reference.log_intensity[near.indices[:, climb]] - log_intensity[:, None]
    distance = near.distances[:, climb].astype(np.float64)
    higher = (rise > 0) & np.isfinite(distance)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = rise + np.log(-np.expm1(-rise)) - np.log(distance)
    steepest = np.where(higher, slope, -np.inf).argmax(axis=1)
    parent = np.where(higher.any(axis=1), near.indices[np.arange(len(nearest)), steepest], nearest)
    parent = np.where(near.distances[:, 0] == 0, nearest, parent)  # at the place of a fitted sample
    if reference.kernel == "gaussian" and not reference.metric.startswith("precomputed"):
        parent = match_rows(reference, reference.points[parent], cache)  # the authors' variant tears duplicates apart
    local = reference.local_labels[parent]
    clusters = reference.clusters[local]

    _, scores = score_outliers(near, reference.n_neighbors, reference.reach, n_jobs=n_jobs)
    alone = ~np.isfinite(near.distances[:, 0]) & (reference.metric == "precomputed_graph")
    labels = np.where((scores > reference.noise_above) | alone, -1, clusters)
    return Described(labels, clusters, local, log_intensity, scores.astype(np.float32), parent)


def nearest_fitted(reference: Reference, points: Any, cache: dict[str, Any], n_jobs: int | None) -> Neighbors:
    """The nearest fitted samples of new ones."""
    n_fitted, n_new = len(reference.labels), points.shape[0]
    k = min(max(reference.n_neighbors, reference.n_climb), n_fitted)
    if reference.metric == "precomputed_graph":
        return graph_neighbors(points, n_neighbors=k, same=False, n_jobs=n_jobs)
    found = empty_neighbors(n_new, k, points.dtype)
    if reference.metric == "precomputed":
        run_chunks(_search_kernels.nearest_in_matrix, n_new, n_jobs, points, False, *found)
    elif points.shape[1] == 0:
        found[0][:], found[1][:] = np.arange(k), 0.0
    elif reference.metric == "euclidean" and points.shape[1] <= CELL_FEATURES and not issparse(points):
        if "cells" not in cache:
            cache["cells"] = gather_cells(reference.points, n_jobs=n_jobs)
        nearest_in_cells(gather_cells(points, n_jobs=n_jobs), cache["cells"], found, n_jobs=n_jobs)
    else:
        if "index" not in cache:
            with quiet_conversion():
                cache["index"] = NearestNeighbors(metric=reference.metric, n_jobs=n_jobs).fit(reference.points)
        with quiet_conversion():
            distances, indices = cache["index"].kneighbors(points, k)
        return Neighbors(indices.astype(found[0].dtype), np.maximum(np.nan_to_num(distances, nan=np.inf), 0.0))
    return Neighbors(*found)


def match_rows(reference: Reference, points: Any, cache: dict[str, Any]) -> Array:
    """The fitted sample that every sample equals, -1 where there is none."""
    match = np.full(points.shape[0], -1)
    fitted = reference.points
    if fitted is None:  # distances to the fitted samples
        if len(points) == len(reference.labels) and sha256(points.tobytes()).hexdigest() == reference.fingerprint:
            return np.arange(len(points))
        nearest = points.argmin(axis=1)
        return np.where(points[np.arange(len(nearest)), nearest] == 0, nearest, -1)
    keys = (reference.local_labels, reference.labels)  # of duplicates apart, one that does not depend on their order
    if issparse(fitted):
        if "rows" not in cache:
            cache["bytes"] = row_bytes(fitted)
            cache["rows"] = {cache["bytes"][x]: x for x in np.lexsort(keys)[::-1].tolist()}
        rows = row_bytes(points)
        if rows == cache["bytes"]:
            return np.arange(len(rows))
        if reference.metric == "precomputed_graph":
            return match  # a new sample may have the neighbours of a fitted one
        return np.array([cache["rows"].get(row, -1) for row in rows])
    if points.dtype != fitted.dtype:
        return match
    if points.shape == fitted.shape and np.array_equal(points, fitted):
        return np.arange(len(points))
    if "hashes" not in cache:
        hashes = hash_samples(fitted)
        order = np.lexsort((*keys, hashes))
        cache["hashes"] = hashes[order], order
    hashes, order = cache["hashes"]
    place = np.minimum(np.searchsorted(hashes, hash_samples(points)), len(order) - 1)
    same = (fitted[order[place]] == points).all(axis=1)
    match[same] = order[place][same]
    return match


def memberships(graph: TopoGraph, cut: EdgeCut, levels: tuple[Array, Array], described: Described) -> Array:
    """Share of every cluster in every sample; rows sum to 1 and are largest at the sample's own cluster."""
    local, own = described.local_labels, described.clusters
    peak, low = (level[local] for level in levels)
    depth = np.where(peak > low, (peak - described.log_intensity) / np.where(peak > low, peak - low, 1.0), 0.0)
    leaving = BOUNDARY * np.clip(depth, 0.0, 1.0)
    shares = boundary_shares(graph, cut)[local].toarray() * leaving[:, None]
    shares[np.arange(len(own)), own] += 1 - leaving
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def boundary_shares(graph: TopoGraph, cut: EdgeCut) -> Any:
    """(m, c) CSR array: to which clusters the boundary pairs of a local cluster lead, by summed similarity."""
    real = graph.pairs > 0
    ends = np.concatenate([graph.edges[real], graph.edges[real][:, ::-1]])
    log_sums = np.tile(graph.log_weights[real] + np.log(graph.sizes[graph.edges[real]]).sum(axis=1), 2)
    n_local = len(graph.sizes)
    largest = np.full(n_local, -np.inf)
    np.maximum.at(largest, ends[:, 0], log_sums)
    lonely = np.flatnonzero(np.isinf(largest))
    weights = np.concatenate([np.exp(log_sums - largest[ends[:, 0]]), np.ones(len(lonely))])
    rows = np.concatenate([ends[:, 0], lonely])
    totals = np.bincount(rows, weights, minlength=n_local)
    columns = np.concatenate([cut.labels[ends[:, 1]], cut.labels[lonely]])
    return csr_array((weights / totals[rows], (rows, columns)), shape=(n_local, len(cut.sizes)))


def levels_of(log_intensity: Array, local_labels: Array, n_local: int) -> tuple[Array, Array]:
    """Highest and lowest log intensity in every local cluster."""
    high, low = np.full(n_local, -np.inf), np.full(n_local, np.inf)
    np.maximum.at(high, local_labels, log_intensity)
    np.minimum.at(low, local_labels, log_intensity)
    return high, low
