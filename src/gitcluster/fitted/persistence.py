"""Save models to ``.npz`` files and load them: arrays, and a JSON header with everything else. Pickle is not used.

``SCHEMA`` states the type, shape and bounds of every field, and :func:`_relations` states rules between fields. A file
that breaks one of them raises a :class:`ModelFileError` that names the file and the field. Otherwise compiled loops
could read out of bounds or run forever.
"""

import json
import math
import os
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import follow_to_end
from gitcluster._support.files import atomic_write
from gitcluster._support.validation import check_n_jobs
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
from gitcluster.variants import find_variant

FORMAT, VERSION, HEADER = "gitcluster-model", 4, "header"
COUNT, HUGE, INFINITE = 2**62, float(np.finfo(np.float64).max), math.inf
"""Bounds of counts, whose sums fit in 64 bits, and of finite numbers."""
ABOVE_0 = math.ulp(0.0)
KINDS: dict[str, tuple[tuple[str, ...], float, float]] = {
    "int": (("int", "int32", "int64"), 0, COUNT),
    "float": (("float", "float32", "float64"), -HUGE, HUGE),
    "matrix": (("float32", "float64", "sparse"), -HUGE, HUGE),
    "label": (("int64", "uint64", "object"), -INFINITE, INFINITE),
}
"""Types of scalars or dtypes of arrays, and default bounds. Any other kind is the name of a type."""


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
    of: str | int = ""
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
    | fields("feature_names_in_", "label", "n_columns", optional=True),
    "Clustering": fields("variant", "Variant")
    | fields("n_neighbors", "int", low=1, of="n_fitted")
    | fields("labels", "int", "n_given", low=-1, of="n_clusters")
    | fields("local_labels", "int", "n_given", of="n_local")
    | fields("parents", "int", "n_given", of="n_given")
    | fields("log_intensity", "float", "n_given")
    | fields("outlier_scores", "float", "n_given", low=0, high=1)
    | fields("proportions", "float", "n_clusters", low=0)
    | fields("topo_graph", "TopoGraph")
    | fields("edge_cut", "EdgeCut")
    | fields("hierarchy", "Hierarchy", optional=True)
    | fields("links", "LinkConstraints", optional=True)
    | fields("selection n_clusters_scores representations", "dict", optional=True)
    | fields("recall", "float", low=0, high=1)
    | fields("n_connected_components", "int", low=1)
    | fields("representation", "str")
    | fields("n_requested", "int", low=1, optional=True)
    | fields("prior", "float", "n_prior", low=ABOVE_0, optional=True)
    | fields("training", "TrainingSamples")
    | fields("feature_names", "texts", "n_features", optional=True)
    | fields("columns", "Columns", optional=True)
    | fields("index", "label", "n_given", optional=True)
    | fields("missing", "bool", "n_given", "n_features", optional=True)
    | fields("donors", "float", "", "n_features", gaps=True, optional=True)
    | fields("stability", "Stability", optional=True)
    | fields("identity", "ClusterIds", optional=True)
    | fields("edits", "texts", ""),
    "ClusterIds": fields("ids", "int", "n_clusters")
    | fields("names", "texts", "n_clusters")
    | fields("next_id", "int")
    | fields("ancestors", "texts", ""),
    "Stability": fields("draw_size", "int", low=1)
    | fields("is_chosen", "bool")
    | fields("sizes", "int", "n_clusters")
    | fields("numbers", "int", "n_draws", low=1)
    | fields("agreement", "float", "n_draws", low=0, high=1)
    | fields("clusters dissolved", "float", "n_clusters", low=0, high=1, gaps=True)
    | fields("samples", "float", "n_given", low=0, high=1, gaps=True)
    | fields("edges", "float", "n_edges", low=0, high=1, gaps=True)
    | fields("null_agreement", "float", "n_null", low=0, high=1)
    | fields("ids", "int", "n_clusters")
    | fields("titles", "texts", "n_clusters"),
    "selection": fields("representation merge", "str", "n_candidates")
    | fields("n_neighbors n_local_clusters", "int", "n_candidates")
    | fields("agreement score", "float", "n_candidates")
    | fields("proportion_distance misplaced", "float", "n_candidates", gaps=True)
    | fields("chosen", "bool", "n_candidates"),
    "n_clusters_scores": fields("n_clusters", "int", "n_numbers", low=1)
    | fields("score agreement conductance valley", "float", "n_numbers")
    | fields("families", "float", "n_numbers", gaps=True)
    | fields("rank", "int", "n_numbers"),
    "representations": fields("representation reason", "str", "n_representations")
    | fields("score", "float", "n_representations", gaps=True)
    | fields("chosen", "bool", "n_representations"),
    "TrainingSamples": fields("variant", "Variant")
    | fields("n_neighbors", "int", low=1, of="n_fitted")
    | fields("source", "Points Distances NeighborGraph")
    | fields("units", "float", "n_local", low=ABOVE_0)
    | fields("log_intensity", "float", "n_fitted")
    | fields("parents", "int", "n_fitted", of="n_fitted")
    | fields("local_labels", "int", "n_fitted", of="n_local")
    | fields("clusters", "int", "n_local", of="n_clusters")
    | fields("labels", "int", "n_fitted", low=-1, of="n_clusters")
    | fields("widths", "float", "n_fitted", low=0, high=INFINITE)
    | fields("outlier_scores", "float", "n_fitted", low=0, high=1)
    | fields("noise_above", "float")
    | fields("weights", "float", "n_fitted", low=0, optional=True)
    | fields("rows", "int", "n_fitted", of="n_given", optional=True)
    | fields("copies", "int", "n_given", low=-1, of="n_fitted", optional=True),
    "Variant": fields("name", "str"),
    "TopoGraph": fields("sizes", "int", "n_local", low=1)
    | fields("peaks", "int", "n_local", of="n_given")
    | fields("edges", "int", "n_edges", 2, of="n_local")
    | fields("log_weights", "float", "n_edges", low=-INFINITE)
    | fields("pairs", "int", "n_edges"),
    "EdgeCut": fields("labels", "int", "n_local", of="n_clusters")
    | fields("sizes", "int", "n_clusters", low=1)
    | fields("kept", "bool", "n_edges")
    | fields("merged", "int", "", of="n_edges")
    | fields("scores", "float", ""),
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
    | fields("is_sorted named", "bool")
    | fields("given", "float", "n_fitted", "n_features", optional=True),
    "Distances": fields("size", "size", "n_fitted")
    | fields("fingerprint", "str")
    | fields("columns", "int", "n_fitted", of="n_given", optional=True),
    "NeighborGraph": fields("graph", "matrix", "n_fitted", "n_fitted", low=0),
    "Scaling": fields("features", "int", "n_scaled", of="n_features")
    | fields("low mean powers means", "float", "n_scaled", empty=True)
    | fields("span deviation weights spreads", "float", "n_scaled", low=ABOVE_0, empty=True)
    | fields("rotation", "float", "n_scaled", "n_values", empty=True),
    "Columns": fields("columns", "Column", "n_columns") | fields("encoded", "bool"),
    "Column": fields("name kind", "str")
    | fields("levels", "texts", "")
    | fields("other requested independent", "bool")
    | fields("median shift", "float")
    | fields("weight", "float", low=0)
    | fields("missing distinct unread", "int")
    | fields("format", "Format"),
    "Format": fields("nature decimal date_order", "str")
    | fields("utc_offset", "float", low=-24, high=24, optional=True),
}
"""Fields of classes and columns of tables. A field that is not listed is not saved; a loaded model has its default."""
SAVED = (
    Clustering,
    TrainingSamples,
    TopoGraph,
    EdgeCut,
    Hierarchy,
    LinkConstraints,
    Points,
    NeighborGraph,
    Scaling,
    Columns,
    Column,
    Format,
    Stability,
    ClusterIds,
)
MAKE: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in SAVED}
MAKE |= {"Variant": lambda name: find_variant(name), "Distances": partial(Distances, None)}  # without its matrix


def save_model(
    path: str | os.PathLike[str],
    *,
    parameters: dict[str, Any],
    fitted: dict[str, Any],
    notes: dict[str, Any] | None = None,
) -> Path:
    """Write a model and return the path with its suffix; if this fails, an existing file stays unchanged."""
    arrays: dict[str, NDArray[Any]] = {}
    state = {"parameters": parameters, "fitted": fitted, "notes": notes or {}}
    header = {"format": FORMAT, "version": VERSION, "state": _pack(state, arrays, "")}
    target = Path(path) if Path(path).suffix else Path(path).with_suffix(".npz")
    with atomic_write(target) as file:
        np.savez(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return target


def load_model(path: str | os.PathLike[str], kind: type[Any]) -> Any:
    """Return the model in a file as an estimator of this class."""
    (parameters, fitted, notes), reader = _read_file(path)
    try:
        reader.collect("Model", fitted, "fitted")
        sizes = check_fields(reader.fields)
        for rule, holds in _relations(fitted, sizes):
            if not holds:
                raise ValueError(f"{rule}.")
        model = kind(**parameters)
        check_fields((name, getattr(model, name), Field("str")) for name in ("metric", "search"))
        check_n_jobs(model.n_jobs)
    except Exception as error:
        raise ModelFileError(f"{path} is not a valid model: {_first_line(error)}") from None
    for name, value in fitted.items():
        if value is not None:
            setattr(model, name, value)
    model.notes_ = notes
    return model


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the notes that were saved with a model."""
    return _read_file(path)[0][2]


def check_fields(fields: Iterable[tuple[str, Any, Field]]) -> dict[str, int]:
    """Raise a ValueError for the first value that does not match its Field; return the sizes by name."""
    there, sizes = [row for row in fields if row[1] is not None or not row[2].optional], dict[str, int]()
    first: dict[str, str] = {}
    for name, value, row in there:
        kind, shape = _kind_of(value), getattr(value, "shape", (len(value),) if type(value) is tuple else ())
        if row.kind == "size" and kind == "int" and value >= 0:
            kind, shape = "size", (value,)
        if kind not in KINDS.get(row.kind, (row.kind.split(),))[0] or len(shape) != len(row.shape):
            raise ValueError(f"{name} must be {row.kind}{list(row.shape) or ''}, got {kind}{list(shape) or ''}.")
        for size, n in zip(row.shape, () if row.empty and 0 in shape else shape, strict=False):
            wanted = sizes.setdefault(size, n) if size and isinstance(size, str) else size
            if wanted not in ("", n):
                other = f" as in {first[size]}" if isinstance(size, str) else ""
                raise ValueError(f"{name} must have {size} = {wanted}{other}, got {n}.")
            first.setdefault(str(size), name)
    for name, value, row in there:
        if row.kind not in KINDS or _kind_of(value) == "object":
            continue
        numbers = np.asarray(value.data if issparse(value) else value)
        numbers = numbers[~np.isnan(numbers)] if row.gaps else numbers
        _, low, high = KINDS[row.kind]
        low, high = low if row.low is None else row.low, high if row.high is None else row.high
        high = high if row.of == "" else (sizes[row.of] if isinstance(row.of, str) else row.of) - 1
        least, most = (numbers.min().item(), numbers.max().item()) if numbers.size else (0, 0)
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
        kinds = sorted({_kind_of(item) for item in value})
        return "texts" if kinds in ([], ["str"]) else kinds[0] if len(kinds) == 1 else "other"
    return "large int" if isinstance(value, int) and abs(value) > COUNT else type(value).__name__


def _relations(fitted: dict[str, Any], sizes: dict[str, int]) -> Iterator[tuple[str, Any]]:
    """Yield rules between fields and whether they hold; later rules rely on earlier ones.

    These are the rules on which memory safety and the end of loops depend. A forged file that keeps them may still
    give wrong answers or raise errors.
    """
    clustering: Clustering = fitted["clustering_"]
    graph, cut, tree, source = clustering.topo_graph, clustering.edge_cut, clustering.hierarchy, clustering.source
    n_local = sizes["n_local"]
    first, second = graph.edges.astype(np.int64).T
    yield "topo_graph.edges must be pairs i < j", (first < second).all()
    yield "topo_graph.edges must be different", len(np.unique(first * n_local + second)) == len(first)
    yield "edge_cut.labels must name every cluster", len(np.unique(cut.labels)) == sizes["n_clusters"]
    if (identity := clustering.identity) is not None:
        yield "identity.ids must ascend to next_id", (np.diff([*identity.ids.tolist(), identity.next_id]) > 0).all()
    top = clustering.parents
    for _ in range(sizes["n_given"].bit_length()):  # each round doubles the steps uphill
        top = top[top]
    yield "parents must lead uphill to peaks", np.isin(top, graph.peaks).all()
    yield "parents of peaks must be the peaks", (clustering.parents[graph.peaks] == graph.peaks).all()
    yield "hierarchy must be that of the variant", (tree is not None) == clustering.variant.has_hierarchy
    if tree is not None:
        root = np.arange(n_local)
        structures.union_edges(root, graph.edges, tree.edges)
        joined = sizes["n_merges"] == n_local - 1 and len(np.unique(follow_to_end(root))) == 1
        yield "hierarchy.edges must join all local clusters", joined
        children, nodes = tree.linkage[:, :2], n_local + np.arange(n_local - 1)[:, None]
        whole = (children == np.floor(children)).all() and (children < nodes).all()
        yield "hierarchy.linkage must merge every cluster once", whole and len(np.unique(children)) == children.size
    if isinstance(source, Points):
        columns, scaling, n_values = clustering.columns, source.scaling, sizes["n_features"]
        encoded = columns is not None and columns.encoded
        n_features = len(columns.features) if columns is not None and encoded else sizes.get("n_columns")
        yield "n_features_in_ and columns must be those of source", n_values == n_features
        if scaling is not None:
            n_values, moments = sizes["n_scaled"], {len(part) for part in scaling[1:5]}
            dense = moments == {n_values - len(scaling.weights)}
            whole = len(scaling.weights) == n_values if issparse(source.values) else dense
            yield "source.scaling must have weights or all moments", whole
            yield "source.scaling.powers must have means and spreads", len({len(part) for part in scaling[6:9]}) == 1
            n_values = scaling.rotation.shape[1] if scaling.rotation.size else n_values
        yield "source.values must have the scaled features", sizes["n_values"] == n_values
        if n_values and source.metric == "euclidean":
            limit = LARGEST[source.values.dtype.char]
            fits = -limit <= source.values.min() <= source.values.max() <= limit
            yield "source.values must be small enough for distances", fits


class _Reader:
    """Read values from an archive, and collect their fields, which are checked when all sizes are known."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.arrays, self.fields = archive, dict[str, NDArray[Any]](), list[tuple[str, Any, Field]]()

    def array(self, name: str) -> NDArray[Any]:
        """Return an array; raise a ValueError if its size is not the one in its header."""
        if name not in self.arrays:
            with self.archive.open(f"{name}.npy") as file:
                read_header = npy.read_array_header_1_0 if npy.read_magic(file) == (1, 0) else npy.read_array_header_2_0
                shape, _, dtype = read_header(file)
                declared = file.tell() + math.prod(shape) * dtype.itemsize
            if dtype.hasobject or not dtype.itemsize or declared != self.archive.getinfo(f"{name}.npy").file_size:
                raise ValueError(f"{name} does not have the size that its header declares.")
            with self.archive.open(f"{name}.npy") as file:  # again from the start, which verifies the checksum
                self.arrays[name] = np.asarray(npy.read_array(file, allow_pickle=False))
        return self.arrays[name]

    def unpack(self, tree: Any, path: str = "") -> Any:
        """Return the value that :func:`_pack` has packed."""
        if isinstance(tree, list):
            return [self.unpack(item, f"{path}[{i}]") for i, item in enumerate(tree)]
        if not isinstance(tree, dict):
            return tree
        ((kind, content),) = tree.items()
        if kind == "array":
            return self.array(content)
        if kind == "texts":
            return np.array(content, dtype=object)
        if kind == "tuple":
            return tuple(self.unpack(list(content), path))
        parts = {name: self.unpack(part, f"{path}.{name}".lstrip(".")) for name, part in content.items()}
        if kind == "dict":
            return parts
        if kind == "sparse":
            matrix = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        self.collect(kind, parts, path)
        return MAKE[kind](**parts)

    def collect(self, kind: str, parts: dict[str, Any], path: str) -> None:
        """Collect the fields of a class or table, and of the tables in it."""
        if parts.keys() != SCHEMA[kind].keys():
            raise ValueError(f"{path} must have the fields {', '.join(SCHEMA[kind])}.")
        for name, row in SCHEMA[kind].items():
            self.fields.append((f"{path}.{name}", parts[name], row))
            if row.kind == "dict" and isinstance(parts[name], dict):
                self.collect(name, parts[name], f"{path}.{name}")


def _read_file(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], _Reader]:
    """Return the parameters, fitted attributes and notes of a file, and the reader with the fields to check."""
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise ModelFileError(f"{path} is not a regular file.")
    try:
        with Path(path).open("rb") as handle:
            archive = zipfile.ZipFile(handle)
            members = archive.infolist()
            packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
            if packed or sum(member.file_size for member in members) > about.st_size:
                raise ModelFileError(f"{path} was not saved by gitcluster: it is compressed.")
            reader = _Reader(archive)
            header = json.loads(reader.array(HEADER).tobytes().decode())
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ModelFileError(f"{path} was not saved by gitcluster.")
            if header.get("version") != VERSION:
                raise ModelFileError(
                    f"{path} has format version {header.get('version')!r}, but version {VERSION} is required. Fit and "
                    "save the model again."
                )
            state = reader.unpack(header["state"])
            return [dict(state[part]) for part in ("parameters", "fitted", "notes")], reader
    except (FileNotFoundError, IsADirectoryError, PermissionError, ModelFileError, MemoryError):
        raise
    except Exception as error:  # numpy, zipfile and json raise many types for damaged files
        raise ModelFileError(f"{path} is damaged or not a saved model: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _pack(value: Any, arrays: dict[str, NDArray[Any]], path: str) -> Any:
    """Return a value as JSON; arrays are collected in ``arrays`` and replaced by their names."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return {"texts": [str(item) for item in value]}
    if isinstance(value, np.ndarray):
        name = next((name for name, array in arrays.items() if array is value), path)
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list):
        return [_pack(item, arrays, f"{path}.{i}") for i, item in enumerate(value)]
    kind = "sparse" if issparse(value) else type(value).__name__
    if kind == "tuple":
        return {"tuple": _pack(list(value), arrays, path)}
    if kind == "sparse":
        parts = {name: getattr(value, name) for name in ("data", "indices", "indptr")} | {"shape": list(value.shape)}
    elif kind in MAKE:
        parts = {name: getattr(value, name) for name in SCHEMA[kind]}
    elif kind == "dict":
        parts = value
    else:
        raise TypeError(f"{path} must be a number, a string or an array to be saved, got {value!r}.")
    tree = {}
    for i, (name, part) in enumerate(parts.items()):
        place = name if str(name).isidentifier() else i  # in the name of a file
        tree[str(name)] = _pack(part, arrays, f"{path}.{place}".lstrip("."))
    return {kind: tree}
