"""Whether the parts of a clustering fit together: what a file says is not believed.

Every index is in range, every tree is a tree and every shape fits, so that no compiled loop that is reached from a
loaded model can read out of bounds or run for ever.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.clustering import Clustering, Reference
from gitcluster.hierarchy import Hierarchy
from gitcluster.hierarchy.constrained import Ties
from gitcluster.inputs import Distances, Input, NeighborGraph, Points
from gitcluster.inputs.columns import Column, Columns
from gitcluster.inputs.representations import Representation
from gitcluster.inputs.scaling import Scaling, apply_scaling
from gitcluster.kernels import unions
from gitcluster.neighbors import Neighbors
from gitcluster.recipes import Recipe
from gitcluster.topo_graph import TopoGraph


def check_clustering(found: Clustering, n_features: int | None) -> None:
    """Raise where the parts of a loaded clustering do not fit together; ``n_features`` is what predict will expect."""
    if found.columns is not None:
        _check_kind(found.columns, Columns)
        n_features = len(found.columns.features) if found.columns.encoded else n_features
    check_graph(found.topo_graph, found.n_samples)
    n_local = len(found.topo_graph.sizes)
    check_cut(found.edge_cut, found.topo_graph)
    n_clusters = found.n_clusters
    check_hierarchy(found.hierarchy, found.topo_graph)
    _check_kind(found.recipe, Recipe)
    if (found.hierarchy is not None) != found.recipe.has_hierarchy:
        raise ValueError("its hierarchy does not belong to its variant")
    _check_ties(found.ties, n_local)
    _check_samples(found, found.n_samples, n_local, n_clusters)
    check_peaks(found.parents, found.peaks, found.n_samples)
    _check_reference(found, n_local, n_features)
    _check_neighbors(found)
    _check_counts(found)
    check_columns(found)
    for table in (found.selection, found.n_clusters_scores):
        if table is not None and len({len(column) for column in table.values()}) > 1:
            raise ValueError("its tables have columns of different lengths")


def _check_neighbors(found: Clustering) -> None:
    """Of fits that can be continued."""
    near, n_fitted = found.near, found.source.n_samples
    if found.order is not None:
        check_range("order", found.order, (n_fitted,), 0, n_fitted)
        if len(np.unique(found.order)) < n_fitted:
            raise ValueError("its order of the samples names some of them twice")
    if near is None:
        return
    _check_kind(near, Neighbors)
    shape = (n_fitted, near.indices.shape[1] if np.ndim(near.indices) == 2 else 0)
    check_range("neighbours", near.indices, shape, 0, n_fitted)
    if near.distances.shape != shape or near.distances.dtype.kind != "f" or np.isnan(near.distances).any():
        raise ValueError("its distances to neighbours are not valid")
    if not isinstance(near.recall, float) or not 0 <= near.recall <= 1:
        raise ValueError("its recall is not a share")
    for way in found.ways:
        _check_kind(way, Representation)
        if way.scaling is not None:
            _check_scaling(way.scaling, found.source.n_features)


def _check_counts(found: Clustering) -> None:
    _check_floats("proportions", found.proportions, (found.n_clusters,))
    if found.prior is not None:
        _check_floats("prior", found.prior, found.prior.shape[:1])
        if not len(found.prior) or (found.prior <= 0).any():
            raise ValueError("its prior does not hold shares")
    numbers = (found.n_neighbors, found.n_connected_components, found.fitted.n_neighbors, found.n_wanted or 1)
    if not all(type(number) is int and number > 0 for number in numbers):
        raise ValueError("its numbers of neighbours, components or clusters are not valid")
    if not isinstance(found.recall, float) or not 0 <= found.recall <= 1:
        raise ValueError("its recall is not a share")
    names = found.feature_names
    if names is not None and not (isinstance(names, tuple) and all(isinstance(name, str) for name in names)):
        raise ValueError("its names of features are not texts")


def check_columns(found: Clustering) -> None:
    """Raise where columns or labels of rows are not what a fit keeps."""
    if found.index is not None:
        texts = isinstance(found.index, np.ndarray) and found.index.dtype.kind == "O"
        if not texts:
            check_range("labels of rows", found.index, (found.n_samples,), -(2**63), 2**63)
        elif found.index.shape != (found.n_samples,):
            raise ValueError("its labels of rows are those of other rows")
    for column in () if found.columns is None else found.columns.columns:
        _check_kind(column, Column)
        texts = all(isinstance(text, str) for text in (column.name, column.kind, *column.levels))
        numbers = (column.centre, column.shift, column.weight)
        if not texts or not all(isinstance(x, float) and np.isfinite(x) for x in numbers) or column.weight < 0:
            raise ValueError("its columns are not valid")
        rank = column.centre if column.kind in ("binary", "ordinal") else 0.0
        if column.kind in ("binary", "ordinal") and not 0 <= rank <= len(column.levels) - 1:
            raise ValueError("its columns are not valid")


def _check_kind(value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"it has {type(value).__name__} where {kind.__name__} belongs")


def check_range(name: str, values: Any, shape: tuple[int, ...], low: int, high: int) -> None:
    """Raise where integers from a file have another shape, or are not from ``low`` to below ``high``."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.shape != shape:
        raise ValueError(f"its {name} are not integers of shape {shape}")
    if values.size and not low <= values.min() <= values.max() < high:
        raise ValueError(f"its {name} are out of range")


def _check_floats(name: str, values: Any, shape: tuple[int, ...], *, infinite: bool = False) -> None:
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or values.shape != shape:
        raise ValueError(f"its {name} are not numbers of shape {shape}")
    if np.isnan(values).any() or (not infinite and not np.isfinite(values).all()):
        raise ValueError(f"its {name} are not finite numbers")


def check_graph(graph: Any, n_samples: int) -> None:
    """Raise where a topo-graph is not a graph of local clusters."""
    _check_kind(graph, TopoGraph)
    n_local, n_edges = len(graph.sizes), len(graph.edges)
    check_range("sizes", graph.sizes, (n_local,), 1, 2**62)
    if not n_local or sum(graph.sizes.tolist()) >= 2**62:
        raise ValueError("its sizes are not those of local clusters")
    check_range("peaks", graph.peaks, (n_local,), 0, n_samples)
    check_range("edges", graph.edges, (n_edges, 2), 0, n_local)
    check_range("boundary pairs", graph.pairs, (n_edges,), 0, 2**62)
    _check_floats("weights", graph.log_weights, (n_edges,), infinite=True)
    if (graph.edges[:, 0] >= graph.edges[:, 1]).any() or len(np.unique(graph.edges, axis=0)) != n_edges:
        raise ValueError("its edges are not pairs of local clusters, each once")


def check_cut(cut: Any, graph: TopoGraph) -> None:
    """Raise where a cut is not one of its topo-graph."""
    _check_kind(cut, EdgeCut)
    n_clusters, n_edges = len(cut.sizes), len(graph.edges)
    check_range("clusters", cut.labels, (len(graph.sizes),), 0, n_clusters)
    if len(np.unique(cut.labels)) != n_clusters:
        raise ValueError("some of its clusters are empty")
    check_range("sizes of clusters", cut.sizes, (n_clusters,), 1, 2**62)
    check_range("merges", cut.merged, (len(cut.merged),), 0, max(n_edges, 1))
    if cut.kept.dtype != np.bool_ or not np.array_equal(cut.kept, graph.inside(cut.labels)):
        raise ValueError("its kept edges are not those inside clusters")
    _check_floats("scores", cut.scores, cut.scores.shape[:1])


def check_hierarchy(hierarchy: Any, graph: TopoGraph) -> None:
    """Raise where merges are not a tree of all local clusters."""
    if hierarchy is None:
        return
    _check_kind(hierarchy, Hierarchy)
    n_local = len(graph.sizes)
    check_range("merges", hierarchy.edges, (n_local - 1,), 0, max(len(graph.edges), 1))
    check_range("sizes of merges", hierarchy.sizes, (n_local - 1,), 0, 2**62)
    _check_floats("strengths", hierarchy.log_strength, (n_local - 1,), infinite=True)
    _check_floats("linkage", hierarchy.linkage, (n_local - 1, 4))
    root = np.arange(n_local)
    unions.union_edges(root, graph.edges, hierarchy.edges)
    unions.find_all(root)
    if (root != root[0]).any():
        raise ValueError("its merges are not a tree of its local clusters")
    children, rows = hierarchy.linkage[:, :2], np.arange(n_local - 1)
    whole = (children == np.floor(children)).all() and (children >= 0).all()
    if not whole or (children >= n_local + rows[:, None]).any() or len(np.unique(children)) != children.size:
        raise ValueError("its linkage is not a tree")


def _check_ties(ties: Any, n_local: int) -> None:
    if ties is None:
        return
    _check_kind(ties, Ties)
    check_range("links", ties.together, (len(ties.together), 2), 0, n_local)
    check_range("links", ties.apart, (len(ties.apart), 2), 0, n_local)
    check_range("partial labels", ties.rival, (n_local,), -1, 2**62)
    _check_floats("sizes", ties.weights, (n_local,))
    if not 0 <= ties.smallest <= ties.largest or (ties.weights < 0).any():
        raise ValueError("its bounds of sizes are not valid")


def _check_samples(part: Any, n_samples: int, n_local: int, n_clusters: int) -> None:
    """Raise where columns of samples, of a clustering or of its reference, do not fit together."""
    check_range("labels", part.labels, (n_samples,), -1, n_clusters)
    check_range("local clusters", part.local_labels, (n_samples,), 0, n_local)
    _check_floats("intensities", part.log_intensity, (n_samples,))
    _check_floats("outlier scores", part.outlier_scores, (n_samples,))


def check_peaks(parents: Any, peaks: Array, n_samples: int) -> None:
    """Raise where the way uphill from a sample does not end at a peak."""
    check_range("parents", parents, (n_samples,), 0, n_samples)
    at, steps = np.asarray(parents), 1
    while steps < n_samples and not (at[at] == at).all():
        at, steps = at[at], 2 * steps
    if not np.isin(at, peaks).all() or (parents[peaks] != peaks).any():
        raise ValueError("its ways uphill do not end at its peaks")


def _check_reference(found: Clustering, n_local: int, n_features: int | None) -> None:
    reference, n_given, n_clusters = found.fitted, found.n_samples, found.n_clusters
    _check_kind(reference, Reference)
    _check_kind(reference.recipe, Recipe)
    n_fitted = len(reference.labels)
    _check_samples(reference, n_fitted, n_local, n_clusters)
    check_range("parents", reference.parents, (n_fitted,), 0, n_fitted)
    check_range("clusters", reference.clusters, (n_local,), 0, n_clusters)
    _check_floats("units of distance", reference.units, (n_local,))
    if (reference.units <= 0).any():
        raise ValueError("its units of distance are not above 0")
    _check_floats("widths", reference.widths, (n_fitted,), infinite=True)
    if not isinstance(reference.noise_above, float) or np.isnan(reference.noise_above):
        raise ValueError("its threshold of noise is not a number")
    if reference.weights is not None:
        _check_floats("weights of samples", reference.weights, (n_fitted,))
    if reference.rows is None and (n_fitted != n_given or reference.copies is not None):
        raise ValueError("it has other samples than labels")
    if reference.rows is not None:
        check_range("repeated rows", reference.rows, (n_fitted,), 0, n_given)
        check_range("copies", reference.copies, (n_given,), -1, n_fitted)
    _check_source(reference.source, n_fitted, n_features)


def _check_source(source: Any, n_fitted: int, n_features: int | None) -> None:
    _check_kind(source, Input)
    if type(source.n_samples) is not int or source.n_samples != n_fitted:
        raise ValueError("it has labels for other samples than it holds")
    if isinstance(source, Points):
        _check_points(source, n_features)
    elif isinstance(source, NeighborGraph):
        if not issparse(source.graph) or source.graph.dtype.kind != "f" or source.graph.shape != (n_fitted, n_fitted):
            raise ValueError("its graph is not one of its samples")
    elif isinstance(source, Distances) and source.columns is not None:
        check_range("columns", source.columns, (n_fitted,), 0, n_features or 0)


def _check_points(source: Points, n_features: int | None) -> None:
    values: NDArray[Any] = source.values.data if issparse(source.values) else source.values
    _check_floats("samples", values, values.shape)
    if source.values.ndim != 2 or source.n_features != n_features or not isinstance(source.metric, str):
        raise ValueError("its samples are not those of its features")
    if source.order is not None:
        check_range("order", source.order, (source.n_samples,), 0, source.n_samples)
    if source.given is not None:
        _check_floats("samples", source.given, (source.n_samples, source.n_features))
    if source.kinds is not None or not isinstance(source.named, bool):
        raise ValueError("the samples are not scaled")
    if source.scaling is not None:
        _check_scaling(source.scaling, source.n_features)
    trial: Any = np.zeros((1, source.n_features), source.values.dtype)
    trial = csr_array(trial) if issparse(source.values) else trial
    if apply_scaling(trial, source.scaling).shape[1] != source.values.shape[1]:
        raise ValueError("its scale is that of other features")


def _check_scaling(scaling: Any, n_features: int) -> None:
    _check_kind(scaling, Scaling)
    features = scaling.features
    columns = [scaling.low, scaling.span, scaling.mean, scaling.deviation, scaling.weights]
    check_range("scaled features", features, (len(features),), 0, n_features)
    lengths = {len(column) for column in columns}
    if not lengths <= {0, len(features)} or (len(features) and lengths == {0}):
        raise ValueError("its scale is that of other features")
    for column in columns:
        _check_floats("scale", column, (len(column),))
    if (scaling.span <= 0).any() or (scaling.deviation <= 0).any() or (scaling.weights <= 0).any():
        raise ValueError("its scale is not above 0")
    for column in (scaling.powers, scaling.means, scaling.spreads):
        _check_floats("powers", column, (len(features) if len(scaling.powers) else 0,))
    if (scaling.spreads <= 0).any():
        raise ValueError("its scale is not above 0")
    if scaling.rotation.size:
        _check_floats("rotation", scaling.rotation, (len(features), scaling.rotation.shape[-1]))
    n_lattices = len(scaling.low) if len(scaling.steps) else 0
    check_range("steps", scaling.steps, (n_lattices,), 0, 2**53)
    _check_floats("slack", scaling.slack, (n_lattices,))
