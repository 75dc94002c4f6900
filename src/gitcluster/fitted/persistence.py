"""Save models to ``.npz`` files and load them: arrays, and a JSON header with everything else. Pickle is not used.

The checksums of the archive detect damage. ``SCHEMA`` states the type, shape and bounds of the fields that compiled
code reads, and :func:`_relations` states rules between them. Otherwise forged files could make compiled loops read out
of bounds or run forever.
"""

import json
import math
import os
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields as fields_of
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import follow_to_end
from gitcluster._support.files import atomic_write
from gitcluster.constraints import LinkConstraints
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.clustering import ClusterIds, Clustering, TrainingSamples
from gitcluster.fitted.stability import Stability
from gitcluster.hierarchy import Hierarchy
from gitcluster.kernels import structures
from gitcluster.preprocessing.columns import Column
from gitcluster.preprocessing.scaling import LARGEST, Scaling
from gitcluster.preprocessing.sources import Distances, NeighborGraph, Points
from gitcluster.preprocessing.tables import Columns
from gitcluster.preprocessing.values import Format
from gitcluster.topo_graph import TopoGraph
from gitcluster.variants import Variant, find_variant

FORMAT, VERSION = "gitcluster-model", 6
COUNT, HUGE, INFINITE = 2**62, float(np.finfo(np.float64).max), math.inf
"""Bounds of counts, whose sums fit in 64 bits, and of finite numbers."""
ABOVE_0 = math.ulp(0.0)
KINDS: dict[str, tuple[tuple[str, ...], float, float]] = {
    "int": (("int", "int32", "int64"), 0, COUNT),
    "float": (("float", "float32", "float64"), -HUGE, HUGE),
    "matrix": (("float32", "float64", "sparse"), -HUGE, HUGE),
}
"""Types of scalars or dtypes of arrays, and default bounds. Any other kind is the name of a type."""
CLASSES = (
    Clustering, TrainingSamples, TopoGraph, EdgeCut, Hierarchy, LinkConstraints, Points, NeighborGraph, Scaling,
    Columns, Column, Format, Stability, ClusterIds,
)  # fmt: skip
MAKE: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in CLASSES}
MAKE |= {"Variant": lambda name: find_variant(name), "Distances": partial(Distances, None)}
NOT_SAVED = {"kinds", "matrix"}
"""Fields of sources that only a fit needs."""


class ModelFileError(ValueError):
    """The file is damaged, or not a saved model."""


class Field(NamedTuple):
    """Type, shape and bounds of a field."""

    kind: str
    """One of ``KINDS``, names of types, "size" for an integer that is a size, or "texts" for a tuple of strings."""
    shape: tuple[str | int, ...] = ()
    """Integers or names of sizes; a name has one value in all fields, and "" is any size. Empty for a scalar."""
    low: float | None = None
    high: float | None = None
    of: str = ""
    """For indices: the size of the axis that they refer to."""
    optional: bool = False
    empty: bool = False
    """Whether an array may be empty, regardless of its sizes."""
    gaps: bool = False
    """Whether values may be NaN."""


def fields(names: str, kind: str, *shape: str | int, **rest: Any) -> dict[str, Field]:
    """Return the same Field for several names."""
    return dict.fromkeys(names.split(), Field(kind, shape, **rest))


SCHEMA: dict[str, dict[str, Field]] = {
    "Model": fields("clustering_", "Clustering")
    | fields("n_features_in_", "size", "n_columns", optional=True)
    | fields("feature_names_in_", "object", "n_columns", optional=True),
    "Clustering": fields("n_neighbors", "int", low=1, of="n_fitted")
    | fields("labels", "int", "n_given", low=-1, of="n_clusters")
    | fields("local_labels", "int", "n_given", of="n_local")
    | fields("parents", "int", "n_given", of="n_given")
    | fields("log_intensity outlier_scores", "float", "n_given")
    | fields("topo_graph", "TopoGraph")
    | fields("edge_cut", "EdgeCut")
    | fields("hierarchy", "Hierarchy", optional=True)
    | fields("links", "LinkConstraints", optional=True)
    | fields("training", "TrainingSamples")
    | fields("columns", "Columns", optional=True)
    | fields("donors", "float", "", "n_features", gaps=True, optional=True),
    "TrainingSamples": fields("n_neighbors", "int", low=1, of="n_fitted")
    | fields("source", "Points Distances NeighborGraph")
    | fields("units", "float", "n_local", low=ABOVE_0)
    | fields("log_intensity", "float", "n_fitted")
    | fields("parents", "int", "n_fitted", of="n_fitted")
    | fields("local_labels", "int", "n_fitted", of="n_local")
    | fields("clusters", "int", "n_local", of="n_clusters")
    | fields("labels", "int", "n_fitted", low=-1, of="n_clusters")
    | fields("widths", "float", "n_fitted", low=0, high=INFINITE)
    | fields("outlier_scores", "float", "n_fitted", low=0, high=1)
    | fields("weights", "float", "n_fitted", low=0, optional=True)
    | fields("rows", "int", "n_fitted", of="n_given", optional=True)
    | fields("copies", "int", "n_given", low=-1, of="n_fitted", optional=True),
    "TopoGraph": fields("sizes", "int", "n_local", low=1)
    | fields("peaks", "int", "n_local", of="n_given")
    | fields("edges", "int", "n_edges", 2, of="n_local")
    | fields("log_weights", "float", "n_edges", low=-INFINITE)
    | fields("pairs", "int", "n_edges"),
    "EdgeCut": fields("labels", "int", "n_local", of="n_clusters")
    | fields("sizes", "int", "n_clusters", low=1)
    | fields("kept", "bool", "n_edges"),
    "Hierarchy": fields("linkage", "float", "n_merges", 4, low=0)
    | fields("edges", "int", "n_merges", of="n_edges")
    | fields("log_strength", "float", "n_merges", low=-INFINITE)
    | fields("sizes", "int", "n_merges"),
    "LinkConstraints": fields("must_link cannot_link", "int", "", 2, of="n_local")
    | fields("class_label", "int", "n_local", low=-1)
    | fields("smallest largest", "float", low=0)
    | fields("weights", "float", "n_local", low=0),
    "Points": fields("values", "matrix", "n_fitted", "n_values")
    | fields("metric", "str")
    | fields("scaling", "Scaling", optional=True)
    | fields("given_features", "size", "n_features")
    | fields("given", "float", "n_fitted", "n_features", optional=True),
    "Distances": fields("size", "size", "n_fitted") | fields("columns", "int", "n_fitted", of="n_given", optional=True),
    "NeighborGraph": fields("graph", "matrix", "n_fitted", "n_fitted", low=0),
    "Scaling": fields("features", "int", "n_scaled", of="n_features")
    | fields("low mean powers means", "float", "n_scaled", empty=True)
    | fields("span deviation weights spreads", "float", "n_scaled", low=ABOVE_0, empty=True)
    | fields("rotation", "float", "n_scaled", "n_values", empty=True),
}
"""Fields that are checked, by class."""


def save_model(
    path: str | os.PathLike[str], *, parameters: dict[str, Any], fitted: dict[str, Any], notes: dict[str, Any]
) -> None:
    """Write a model; if this fails, an existing file stays unchanged."""
    arrays: dict[str, NDArray[Any]] = {}
    state = {"parameters": parameters, "fitted": fitted, "notes": notes}
    header = {"format": FORMAT, "version": VERSION, "state": _pack(state, arrays, "")}
    with atomic_write(Path(path) if Path(path).suffix else Path(path).with_suffix(".npz")) as file:
        np.savez(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)  # type: ignore[arg-type]


def load_model(path: str | os.PathLike[str], kind: type[Any]) -> Any:
    """Return the model in a file as an estimator of this class; its ``notes_`` are those of the file."""
    checked: list[tuple[str, Any, Field]] = []
    try:
        arrays = _read_arrays(path)
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT:
            raise ValueError("gitcluster has not saved it.")
        if header["version"] != VERSION:
            raise ValueError(f"its version is {header['version']!r}, not {VERSION}. Fit and save the model again.")
        state = _unpack(header["state"], arrays, checked, "")
        fitted = state["fitted"]
        _collect("Model", fitted, checked, "fitted")
        if fitted.keys() != SCHEMA["Model"].keys():
            raise ValueError(f"fitted must have the fields {', '.join(SCHEMA['Model'])}.")
        sizes = check_fields(checked)
        for rule, holds in _relations(fitted, sizes):
            if not holds:
                raise ValueError(rule)
        model = kind(**state["parameters"])
        for name, value in fitted.items():
            if value is not None:
                setattr(model, name, value)
        model.notes_ = dict(state["notes"])
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # numpy, zipfile and json raise many types for damaged files
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelFileError(f"{path} is damaged or not a saved model: {reason}") from None
    return model


def _read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive; every byte is read, which verifies the checksums."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # zipfile would read a device without end
        raise ValueError("it is not a regular file.")
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
        if packed or sum(member.file_size for member in members) > os.path.getsize(path):
            raise ValueError("it is compressed, so gitcluster has not saved it.")  # it could unpack to any size
        for member in members:
            with archive.open(member) as file:
                array = npy.read_array(file, allow_pickle=False)
                if file.read(1) or not array.dtype.itemsize:
                    raise ValueError(f"{member.filename} does not have the size that its header declares.")
            arrays[member.filename.removesuffix(".npy")] = array
    return arrays


def check_fields(fields: Iterable[tuple[str, Any, Field]]) -> dict[str, int]:
    """Raise a ValueError for the first value that does not match its Field; return the sizes by name."""
    there, sizes = [row for row in fields if row[1] is not None or not row[2].optional], dict[str, int]()
    for name, value, row in there:
        kind, shape = _kind_of(value), getattr(value, "shape", (len(value),) if type(value) is tuple else ())
        if row.kind == "size" and kind == "int" and value >= 0:
            kind, shape = "size", (value,)
        if kind not in KINDS.get(row.kind, (row.kind.split(),))[0] or len(shape) != len(row.shape):
            raise ValueError(f"{name} must be {row.kind}{list(row.shape) or ''}, got {kind}{list(shape) or ''}.")
        for size, n in zip(row.shape, () if row.empty and 0 in shape else shape, strict=False):
            wanted = sizes.setdefault(size, n) if size and isinstance(size, str) else size
            if wanted not in ("", n):
                raise ValueError(f"{name} must have {size} = {wanted}, got {n}.")
    for name, value, row in there:
        if row.kind not in KINDS:
            continue
        numbers = np.asarray(value.data if issparse(value) else value)
        numbers = numbers[~np.isnan(numbers)] if row.gaps else numbers
        _, low, high = KINDS[row.kind]
        low, high = low if row.low is None else row.low, high if row.high is None else row.high
        high = sizes[row.of] - 1 if row.of else high
        least, most = (numbers.min().item(), numbers.max().item()) if numbers.size else (low, low)
        if numbers.size and not low <= least <= most <= high:  # false for NaN
            raise ValueError(f"{name} must be from {low:g} to {high:g}, got {least:g} to {most:g}.")
    return sizes


def _kind_of(value: Any) -> str:
    """Return the name of a type, or the dtype of an array if compiled code can read it, else "other"."""
    if issparse(value):
        kinds = [_kind_of(part) for part in (value.data, value.indices, value.indptr)]
        return "sparse" if kinds[0] in KINDS["float"][0] and set(kinds[1:]) <= set(KINDS["int"][0]) else "other"
    if isinstance(value, np.ndarray):
        name = "str" if value.dtype.kind == "U" else value.dtype.name
        readable = value.ndim and value.dtype.isnative and (name != "object" or all(type(x) is str for x in value.flat))
        return name if readable else "other"
    if type(value) is tuple:
        return "texts" if all(type(item) is str for item in value) else "other"
    return "large int" if isinstance(value, int) and abs(value) > COUNT else type(value).__name__


def _relations(fitted: dict[str, Any], sizes: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """Yield rules between fields and whether they hold; later rules rely on earlier ones.

    These are the rules on which memory safety and the end of loops depend. A forged file that keeps them may still
    give wrong answers or raise errors.
    """
    clustering: Clustering = fitted["clustering_"]
    graph, tree, source, n_local = clustering.topo_graph, clustering.hierarchy, clustering.source, sizes["n_local"]
    first, second = graph.edges.astype(np.int64).T
    yield "topo_graph.edges must be pairs i < j.", (first < second).all()
    yield "topo_graph.edges must be different.", len(np.unique(first * n_local + second)) == len(first)
    yield "edge_cut.labels must name every cluster.", len(np.unique(clustering.edge_cut.labels)) == sizes["n_clusters"]
    top = clustering.parents
    for _ in range(sizes["n_given"].bit_length()):  # each round doubles the steps uphill
        top = top[top]
    yield "parents must lead uphill to peaks.", np.isin(top, graph.peaks).all()
    yield "parents of peaks must be the peaks.", (clustering.parents[graph.peaks] == graph.peaks).all()
    yield "hierarchy must be that of the variant.", (tree is not None) == clustering.variant.has_hierarchy
    if tree is not None:
        root = np.arange(n_local)
        structures.union_edges(root, graph.edges, tree.edges)
        joined = sizes["n_merges"] == n_local - 1 and len(np.unique(follow_to_end(root))) == 1
        yield "hierarchy.edges must join all local clusters.", joined
        children, nodes = tree.linkage[:, :2], n_local + np.arange(n_local - 1)[:, None]
        whole = (children == np.floor(children)).all() and (children < nodes).all()
        yield "hierarchy.linkage must merge every cluster once.", whole and len(np.unique(children)) == children.size
    if isinstance(source, Points):
        columns, scaling, n_values = clustering.columns, source.scaling, sizes["n_features"]
        encoded = columns is not None and columns.encoded
        n_features = len(columns.features) if columns is not None and encoded else sizes.get("n_columns")
        yield "n_features_in_ and columns must be those of source.", n_values == n_features
        if scaling is not None:
            n_values, moments = sizes["n_scaled"], {len(part) for part in scaling[1:5]}
            dense = moments == {n_values - len(scaling.weights)}
            whole = len(scaling.weights) == n_values if issparse(source.values) else dense
            yield "source.scaling must have weights or all moments.", whole
            yield "source.scaling.powers must have means and spreads.", len({len(part) for part in scaling[6:9]}) == 1
            n_values = scaling.rotation.shape[1] if scaling.rotation.size else n_values
        yield "source.values must have the scaled features.", sizes["n_values"] == n_values
        if n_values and source.metric == "euclidean":
            limit = LARGEST[source.values.dtype.char]
            fits = -limit <= source.values.min() <= source.values.max() <= limit
            yield "source.values must be small enough for distances.", fits


def _pack(value: Any, arrays: dict[str, NDArray[Any]], path: str) -> Any:
    """Return a value as JSON; arrays are collected in ``arrays`` and replaced by their names."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return {"texts": [str(item) for item in value]}
    if isinstance(value, np.ndarray):
        name = next((name for name, array in arrays.items() if array is value), f"array{len(arrays)}")
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list):
        return [_pack(item, arrays, f"{path}[{i}]") for i, item in enumerate(value)]
    kind = "sparse" if issparse(value) else type(value).__name__
    if kind == "tuple":
        return {"tuple": _pack(list(value), arrays, path)}
    if kind == "dict":
        parts = value
    elif kind == "sparse":
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")} | {"shape": list(value.shape)}
    elif isinstance(value, Variant):
        parts = {"name": value.name}
    elif kind in MAKE:
        names = getattr(value, "_fields", None) or [field.name for field in fields_of(value)]
        parts = {name: getattr(value, name) for name in names if name not in NOT_SAVED}
    else:
        raise TypeError(f"{path} must be a number, a string or an array to be saved, got {value!r}.")
    return {kind: {str(name): _pack(part, arrays, f"{path}.{name}".lstrip(".")) for name, part in parts.items()}}


def _unpack(tree: Any, arrays: dict[str, NDArray[Any]], checked: list[tuple[str, Any, Field]], path: str) -> Any:
    """Return the value that :func:`_pack` has packed, and collect the fields to check."""
    if isinstance(tree, list):
        return [_unpack(item, arrays, checked, f"{path}[{i}]") for i, item in enumerate(tree)]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "array":
        return arrays[content]
    if kind == "texts":
        return np.array(content, dtype=object)
    if kind == "tuple":
        return tuple(_unpack(list(content), arrays, checked, path))
    parts = {name: _unpack(part, arrays, checked, f"{path}.{name}".lstrip(".")) for name, part in content.items()}
    if kind == "dict":
        return parts
    if kind == "sparse":
        matrix = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    _collect(kind, parts, checked, path)
    return MAKE[kind](**parts)


def _collect(kind: str, parts: dict[str, Any], checked: list[tuple[str, Any, Field]], path: str) -> None:
    checked += [(f"{path}.{name}", parts[name], row) for name, row in SCHEMA.get(kind, {}).items()]
