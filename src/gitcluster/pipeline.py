"""GIT from top to bottom: the five stages in order, nothing else."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from gitcluster import _search_kernels
from gitcluster._jit import run_chunks, run_threads
from gitcluster._validation import check_choice, check_n_jobs, check_n_neighbors
from gitcluster.constraints import Constraints, balance_sizes, keeps_groups, merge_constrained
from gitcluster.edge_cutting import EdgeCut, cut_edges
from gitcluster.graphs import check_graph, graph_neighbors
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.intensity import estimate_intensity
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import SEARCHES, Array, Neighbors, canonical_order, find_neighbors, measure_neighbors
from gitcluster.proportions import equal_shares, proportion_distance, resolve_proportions
from gitcluster.scaling import LARGEST, Scaling, apply_scaling, fit_scaling
from gitcluster.selection import build_scale, measure_leak, neighborhood_sizes, select, share_distance, sweep
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

SMALLEST = 1e10
"""Where the largest distance is below this many of the smallest floats, ratios of distances lose their digits."""
GRAPH = "precomputed_graph"
GIVEN_DISTANCES = ("precomputed", GRAPH)
Report = Callable[[str], None]
"""Told the name of every stage when it begins."""
VARIANTS = ("adaptive", "paper", "authors")
PAPER_NEIGHBORS = 8
"""k of the two published variants when none is given."""


class GITResult(NamedTuple):
    """What every stage found. The last three belong to the adaptive variant.

    ``points`` are the scaled samples, the graph where one was given, None for a matrix of distances.
    """

    labels: Array
    points: Any
    scaling: Scaling | None
    n_neighbors: int
    neighbors: Neighbors
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: dict[str, NDArray[Any]] | None = None
    n_clusters_scores: dict[str, NDArray[Any]] | None = None


def git_clusters(
    X: Any,
    *,
    n_clusters: int | str | None = "auto",
    proportions: ArrayLike | str | None = None,
    n_neighbors: int | str = "auto",
    variant: str = "adaptive",
    metric: str = "euclidean",
    scale: ArrayLike | str | None = "std",
    neighbors: Any = "auto",
    sample_weight: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    n_jobs: int | None = None,
    report: Report | None = None,
) -> GITResult:
    """Cluster samples by the graph of their intensity topology.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features), or (n_samples, n_samples) distances
        Finite float32 or float64 values.
    n_clusters : int or "auto", default="auto"
    proportions : array-like of shape (n_clusters,) or "equal", default=None
    n_neighbors : int or "auto", default="auto"
        k, not counting the sample itself.
    variant : {"adaptive", "paper", "authors"}, default="adaptive"
        Our merge, which needs no tuning; the paper's text; the code its published figures come from.
    metric : str, default="euclidean"
        "precomputed" for a matrix of distances, "precomputed_graph" for a sparse one or (indices, distances).
    scale : {"std"}, None or array-like of shape (n_features,), default="std"
        "std" scales features with the metric "euclidean" alone.
    neighbors : {"auto", "exact", "approximate"} or object, default="auto"
        How to search, see :func:`find_neighbors`.
    sample_weight : ndarray of shape (n_samples,), default=None
        How often a sample counts in intensities, sizes and connections.
    constraints : Constraints, default=None
        Adaptive variant only.
    n_jobs : int, default=None
    report : callable, default=None
        Called with the name of every stage when it begins.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> git_clusters(X, n_clusters=2).labels
    array([0, 0, 0, 1, 1, 1])
    """
    check_n_jobs(n_jobs)
    check_choice("variant", variant, VARIANTS)
    if isinstance(neighbors, type) or not hasattr(neighbors, "kneighbors"):
        check_choice("neighbors", neighbors, SEARCHES)
    X = check_samples(X, metric)
    n_samples = X.shape[0]
    number, prior = resolve_proportions(n_clusters, proportions, n_samples=n_samples)
    k = None if isinstance(n_neighbors, str) and n_neighbors == "auto" else check_n_neighbors(n_neighbors, n_samples)
    report = report or (lambda stage: None)
    if variant != "adaptive":
        if constraints is not None:
            raise ValueError(f"variant={variant!r} knows no constraints on samples or sizes. Use variant='adaptive'.")
        if number is None:
            raise ValueError(f"variant={variant!r} needs a prior. Give n_clusters as an integer, or proportions.")
        if variant == "authors" and sample_weight is not None:
            raise ValueError("variant='authors' takes whole numbers as sample_weight only. Use another variant.")
        prior = equal_shares(number) if prior is None else prior
        k = min(k or PAPER_NEIGHBORS, n_samples - 1)
    report("scale")
    order = None  # the published variants, whose figures are for dense data, take the rows as they come
    if metric not in GIVEN_DISTANCES and (variant == "adaptive" or issparse(X)):
        order = canonical_order(X)
        X = X[order]
        sample_weight = None if sample_weight is None else sample_weight[order]
        constraints = None if constraints is None else constraints._replace(groups=constraints.groups[order])
    points, scaling = (X, None) if metric in GIVEN_DISTANCES else _place_samples(X, metric, scale)
    search = {"metric": metric, "search": neighbors, "n_jobs": n_jobs}
    if variant == "adaptive":
        del X  # a copy, and large
        found = _adaptive(points, number, prior, k, search, sample_weight, constraints, report)
    elif variant == "paper":
        found = _paper(points, prior, k, search, sample_weight, report)
    else:
        found = _authors(X, points, prior, k, search, report)
    found = found._replace(scaling=scaling)
    return found if order is None else _restore_order(found, order, n_jobs)


def _place_samples(X: Any, metric: str, scale: Any) -> tuple[Any, Scaling | None]:
    """Samples whose distances are to be measured, and how they were scaled."""
    scaled = metric == "euclidean" or (scale is not None and not isinstance(scale, str))
    scaling = fit_scaling(X, scale) if scaled else None
    with np.errstate(over="ignore"):
        points = apply_scaling(X, scaling)
    far = LARGEST[points.dtype.char]
    if scaled and points.size and not -far < points.min() <= points.max() < far:
        raise ValueError("X has values too large for their distances with this scale. Use scale='std'.")
    return points, scaling


def check_samples(X: Any, metric: str) -> Any:
    """Samples, distances or a graph of them, checked."""
    if metric == GRAPH:
        return check_graph(X)
    X = check_array(X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2, accept_sparse="csr")
    if metric == "precomputed":
        check_distances(X)
    return tidy_rows(X) if issparse(X) else X


def tidy_rows(X: Any) -> Any:
    """A CSR array with sorted rows that holds no zeros; a copy."""
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    if X.nnz < 2**31:  # some metrics know no other
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def check_distances(matrix: Any) -> None:
    """Raise where a matrix of distances between samples is none."""
    if issparse(matrix):
        raise ValueError("A sparse matrix of distances lacks most of them: use metric='precomputed_graph'.")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, got shape {matrix.shape}. "
            "Use another metric for samples by features."
        )
    if (matrix < 0).any():
        raise ValueError("metric='precomputed' takes distances, got negative values. Pass distances, not similarities.")


def _neighbors(points: Any, k: int, search: dict[str, Any]) -> Neighbors:
    if search["metric"] == GRAPH:
        return graph_neighbors(points, n_neighbors=k, n_jobs=search["n_jobs"])
    near = find_neighbors(points, n_neighbors=k, **search)
    if 0 < near.distances.max() < SMALLEST * np.finfo(near.distances.dtype).tiny:
        raise ValueError(
            "The distances between samples are too small for floating point. Multiply X, or use scale='std'."
        )
    return near


def _paper(points: Any, prior: Any, k: Any, search: dict[str, Any], weights: Array | None, report: Report) -> GITResult:
    options: dict[str, Any] = {"weights": weights, "n_jobs": search["n_jobs"]}
    graph_given = search["metric"] == GRAPH
    report("search")
    near = _neighbors(points, k, search)
    report("intensity")
    log_intensity = estimate_intensity(near, **options)
    report("local clusters")
    local = find_local_clusters(near, log_intensity, **options)
    report("topo-graph")
    graph = build_topo_graph(near, local, symmetric=not graph_given, **options)
    graph = bridge_components(graph, None if graph_given else points, metric=search["metric"])
    report("merge")
    cut = cut_edges(graph, proportions=prior)
    return GITResult(cut.labels[local.labels], points, None, k, near, log_intensity, local, graph, cut)


def _authors(X: Any, points: Any, prior: Any, k: Any, search: dict[str, Any], report: Report) -> GITResult:
    n_jobs = search["n_jobs"]
    report("search")
    near = _neighbors(points, k, search)
    report("intensity")
    log_intensity = estimate_intensity(near, kernel="gaussian", n_features=X.shape[1], n_jobs=n_jobs)
    report("local clusters")
    local = find_local_clusters(near, log_intensity, strict=True, n_jobs=n_jobs)
    report("topo-graph")
    unscaled = near
    if search["metric"] == "euclidean":
        unscaled = measure_neighbors(X, near, n_jobs=n_jobs)
    graph = build_topo_graph(unscaled, local, log_intensity=log_intensity, boundary="uphill", n_jobs=n_jobs)
    report("merge")
    cut = cut_edges(graph, proportions=prior, leftover="cut")
    return GITResult(cut.labels[local.labels], points, None, k, near, log_intensity, local, graph, cut)


def _adaptive(
    points: Any,
    n_clusters: int | None,
    prior: Array | None,
    k: int | None,
    search: dict[str, Any],
    weights: Array | None,
    constraints: Constraints | None,
    report: Report,
) -> GITResult:
    n_samples, n_jobs = points.shape[0], search["n_jobs"]
    sizes = neighborhood_sizes(n_samples) if k is None else [k]
    report("search")
    near = _neighbors(points, min(2 * sizes[-1], n_samples - 1), search)
    stages = {"metric": search["metric"], "weights": weights, "constraints": constraints, "n_jobs": n_jobs}
    places = None if search["metric"] == GRAPH else points

    def build(size: int) -> Any:
        report(f"scale of {size} neighbours")
        return build_scale(places, near, n_neighbors=size, **stages)

    scales = run_threads(build, sizes, n_jobs)
    report("merge")
    (scale, labels, merged, table), scores = select(
        scales,
        n_clusters=n_clusters,
        prior=prior,
        leaks=lambda cuts: [measure_leak(*cut, near, n_jobs) for cut in cuts],
        finest=(lambda: build_scale(places, near, n_neighbors=min(2, n_samples - 1), **stages)) if k is None else None,
        constraints=constraints,
    )
    cut = describe_cut(scale.topo_graph, labels, merged, prior)
    return GITResult(
        labels[scale.local_clusters.labels], points, None, scale.n_neighbors, near, scale.log_intensity,
        scale.local_clusters, scale.topo_graph, cut, scale.hierarchy, table, scores,
    )  # fmt: skip


def cut_again(
    graph: TopoGraph,
    hierarchy: Hierarchy | None,
    n_clusters: int,
    prior: Array | None,
    *,
    variant: str,
    local_labels: Array,
    constraints: Constraints | None = None,
) -> Array:
    """Final cluster of every local cluster for another prior."""
    if hierarchy is None:
        prior = equal_shares(n_clusters) if prior is None else prior
        return cut_edges(graph, proportions=prior, leftover="cut" if variant == "authors" else "connected").labels
    ways = [cut_hierarchy(hierarchy, graph, n_clusters=n_clusters)]
    if constraints is not None:
        ways = [merge_constrained(graph, local_labels, constraints, n_clusters=n_clusters)[0]]
    if prior is not None:
        ways.append(sweep(graph, prior).labels)
    if constraints is not None:
        ways = [w for w in ways if keeps_groups(w, local_labels, constraints)]
        ways = [balance_sizes(graph, local_labels, w, constraints) for w in ways]
    return ways[0] if prior is None else min(ways, key=lambda labels: round(share_distance(graph, labels, prior), 12))


def describe_cut(graph: TopoGraph, labels: Array, merged: Array, prior: Array | None) -> EdgeCut:
    """Sizes of the final clusters, kept and cut edges, and the distance to the prior."""
    sizes = np.bincount(labels, graph.sizes).astype(np.int64)
    kept = labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]
    shares = [graph.sizes / graph.sizes.sum(), sizes / sizes.sum()]
    scores = [] if prior is None else [proportion_distance(share, prior) for share in shares]
    return EdgeCut(labels, sizes, kept, merged, np.array(scores))


def _restore_order(found: GITResult, order: Array, n_jobs: int | None) -> GITResult:
    """The result for the rows as they were given, from that for ``X[order]``, whose neighbours are overwritten."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    parent, labels, peaks, sizes = found.local_clusters
    order = order.astype(found.neighbors.indices.dtype)
    peaks = order[peaks]
    near = found.neighbors
    run_chunks(_search_kernels.rename_samples, len(order), n_jobs, near.indices, order)
    _search_kernels.restore_rows(near.indices, near.distances, place)
    return found._replace(
        labels=found.labels[place],
        points=found.points[place],
        log_intensity=found.log_intensity[place],
        local_clusters=LocalClusters(order[parent][place], labels[place], peaks, sizes),
        topo_graph=found.topo_graph._replace(peaks=peaks),
    )
