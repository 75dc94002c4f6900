"""A model in a file: arrays as ``.npz``, everything else as a JSON header inside it; no pickle, so no code is run.

The header says which format and version it is, of every array its type, shape and checksum, and the fields of every
result by their names: a field that is added later has its default in older files. Loading believes nothing: a
truncated, changed or foreign file is a :class:`ModelFileError` that says what is wrong with it.
"""

import dataclasses
import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._support.files import write_aside
from gitcluster._support.validation import available_memory
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.checking import check_clustering
from gitcluster.fitted.clustering import Clustering, Reference
from gitcluster.hierarchy import Hierarchy
from gitcluster.hierarchy.constrained import Ties
from gitcluster.inputs import Distances, NeighborGraph, Points
from gitcluster.inputs.columns import Column, Columns
from gitcluster.inputs.scaling import Scaling
from gitcluster.recipes import Recipe, find_recipe
from gitcluster.topo_graph import TopoGraph

FORMAT = "gitcluster-model"
VERSION = 2
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""How the state of an older version becomes that of the next one. Version 1 was never in a release."""
RESULTS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Clustering,
        Reference,
        Points,
        Distances,
        NeighborGraph,
        Scaling,
        TopoGraph,
        EdgeCut,
        Hierarchy,
        Ties,
        Columns,
        Column,
    )
}
"""Results that a file may hold, by name."""
HEADER = "header.npy"


class ModelFileError(ValueError):
    """A file that is not a model, or not a whole one."""


def save_model(
    path: str | os.PathLike[str],
    *,
    parameters: dict[str, Any],
    fitted: dict[str, Any],
    notes: dict[str, Any] | None = None,
) -> Path:
    """Write parameters and what was fitted; aside first, so that no half is left."""
    state = {"class": "GIT", "parameters": parameters, "fitted": fitted, "notes": notes or {}}
    arrays: dict[str, NDArray[Any]] = {}
    tree = _pack(state, arrays)
    about = {name: [a.dtype.str, list(a.shape), _checksum(a)] for name, a in arrays.items()}
    header = json.dumps({"format": FORMAT, "version": VERSION, "arrays": about, "state": tree})
    target = Path(path)
    if not target.suffix:
        target = target.with_suffix(".npz")
    with write_aside(target) as file:
        np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return target


def load_model(path: str | os.PathLike[str], kind: type[Any]) -> Any:
    """A model that :func:`save_model` wrote."""
    state = _read_state(path)
    try:
        model = kind(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(model, name, value)
        if not isinstance(model.clustering_, Clustering) or model.clustering_.reference is None:
            raise ValueError("it holds no clustering")
        check_clustering(model.clustering_, getattr(model, "n_features_in_", None))
    except Exception as error:
        raise ModelFileError(f"{path} holds no working model: {error}") from None
    return model


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What was kept beside a model; empty where nothing was."""
    return dict(_read_state(path)["notes"])


def _read_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as handle, zipfile.ZipFile(handle) as archive:
            header = _read_header(path, archive)
            arrays = {name: _read_array(path, archive, name, about) for name, about in header["arrays"].items()}
            state = _upgrade(header["state"], header["version"])
            found = _unpack(state, arrays)
            if not isinstance(found, dict) or not found.keys() >= {"parameters", "fitted", "notes"}:
                raise ModelFileError(f"{path} is damaged: its header holds no model.")
    except (FileNotFoundError, IsADirectoryError, PermissionError, ModelFileError, MemoryError):
        raise
    except Exception as error:  # numpy, zipfile and json raise all kinds for files that are not what they seem
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFileError(f"{path} is damaged or not a saved model: {reason}") from None
    return found


def _read_header(path: Any, archive: zipfile.ZipFile) -> dict[str, Any]:
    """The header, before anything else is read: what is in the file may not take more memory than there is."""
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ModelFileError(f"{path} is not a model that gitcluster has saved: parts of it are compressed.")
    needed, free = sum(member.file_size for member in members), available_memory()
    if needed > free:
        raise MemoryError(f"{path} needs {needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free.")
    header = json.loads(_read_npy(archive, HEADER).tobytes().decode())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a model that gitcluster has saved.")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelFileError(
            f"{path} has version {version} of the format, this gitcluster reads up to {VERSION}. "
            "Read it with a newer gitcluster."
        )
    if any(step not in UPGRADES for step in range(version, VERSION)):
        raise ModelFileError(
            f"{path} has version {version} of the format, which was never in a release. Fit and save the model again."
        )
    return header


def _upgrade(state: dict[str, Any], version: int) -> dict[str, Any]:
    for step in range(version, VERSION):
        state = UPGRADES[step](state)
    return state


def _read_array(path: Any, archive: zipfile.ZipFile, name: str, about: Any) -> NDArray[Any]:
    array = _read_npy(archive, f"{name}.npy")
    if [array.dtype.str, list(array.shape), _checksum(array)] != about:
        raise ModelFileError(f"{path} is damaged: the array {name} is not the one that was saved.")
    return array


def _read_npy(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of the archive; no memory is taken for values that are not there."""
    data = io.BytesIO(archive.read(name))
    version = npy.read_magic(data)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read_header(data)
    values = data.read()
    if dtype.hasobject or len(values) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name} does not hold the array that it says")
    return np.frombuffer(bytearray(values), dtype).reshape(shape, order="F" if by_columns else "C")


def _checksum(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _fields(value: Any) -> list[str]:
    """Names of the fields of a result, or of its type."""
    if hasattr(value, "_fields"):
        return list(value._fields)
    return [field.name for field in dataclasses.fields(value)]


def _pack(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """A tree of plain values for the header; arrays are collected."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    if issparse(value):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": list(value.shape)}
        return {"sparse": _pack(parts, arrays)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"strings": [str(item) for item in value]}
        for name, array in arrays.items():
            if array is value:
                return {"array": name}
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Recipe):
        return {"recipe": value.name}
    kind = type(value).__name__
    if kind in RESULTS:
        return {"result": kind, "fields": {name: _pack(getattr(value, name), arrays) for name in _fields(value)}}
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [_pack(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _pack(item, arrays) for key, item in value.items()}}
    raise TypeError(f"A model with {value!r} cannot be saved: it is neither a number, a text nor an array.")


def _unpack(tree: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "float" in tree:
        return float.fromhex(tree["float"])
    if "array" in tree:
        return arrays[tree["array"]]
    if "strings" in tree:
        return np.array([str(item) for item in tree["strings"]], dtype=object)
    if "sparse" in tree:
        parts = _unpack(tree["sparse"], arrays)
        found = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        found.check_format(full_check=True)
        return found
    if "recipe" in tree:
        return find_recipe(tree["recipe"])
    if "result" in tree:
        return _unpack_result(tree["result"], tree["fields"], arrays)
    if "tuple" in tree:
        return tuple(_unpack(item, arrays) for item in tree["tuple"])
    if "list" in tree:
        return [_unpack(item, arrays) for item in tree["list"]]
    return {key: _unpack(item, arrays) for key, item in tree["dict"].items()}


def _unpack_result(kind: str, fields: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    known = _fields(RESULTS[kind])
    unknown = sorted(fields.keys() - set(known))
    if unknown:
        raise ModelFileError(f"its {kind} has the field {unknown[0]!r}, which this gitcluster does not know")
    return RESULTS[kind](**{name: _unpack(item, arrays) for name, item in fields.items()})


class PackedIntegers(NamedTuple):
    """An array of integers, compressed, for pickle."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def pack_integers(value: Any, seen: dict[int, Any]) -> Any:
    """A tree with its arrays of integers compressed; ``seen`` keeps what is one array one array."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        if id(value) not in seen:
            data = zlib.compress(np.ascontiguousarray(value).tobytes(), 1)
            seen[id(value)] = PackedIntegers(value.dtype.str, value.shape, data)
        return seen[id(value)]
    return _map_tree(value, lambda item: pack_integers(item, seen))


def unpack_integers(value: Any, seen: dict[int, Any]) -> Any:
    """The tree as it was."""
    if isinstance(value, PackedIntegers):
        if id(value) not in seen:
            array = np.frombuffer(zlib.decompress(value.data), np.dtype(value.dtype)).reshape(value.shape)
            seen[id(value)] = array.copy()
        return seen[id(value)]
    return _map_tree(value, lambda item: unpack_integers(item, seen))


def _map_tree(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: function(item) for key, item in value.items()}
    if type(value).__name__ in RESULTS:
        return type(value)(**{name: function(getattr(value, name)) for name in _fields(value)})
    return value
