"""A model in a file: arrays as ``.npz``, everything else as a JSON header inside it; no pickle, so no code is run.

The header says which format and version it is, and of every array its type, shape and checksum. Loading believes
nothing: a truncated, changed or foreign file is a :class:`ModelFileError` that says what is wrong with it.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._files import write_aside

FORMAT = "gitcluster-model"
VERSION = 1


class ModelFileError(ValueError):
    """A file that is not a model, or not a whole one."""


class PackedIntegers(NamedTuple):
    """An array of integers, compressed."""

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
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(function, value))
    return value


def save_state(path: str | os.PathLike[str], state: dict[str, Any], classes: dict[str, type]) -> Path:
    """Write a tree of numbers, texts, arrays, dicts, lists and named tuples; aside first, so that no half is left."""
    arrays: dict[str, NDArray[Any]] = {}
    tree = _pack(state, arrays, classes)
    about = {name: [a.dtype.str, list(a.shape), _checksum(a)] for name, a in arrays.items()}
    header = json.dumps({"format": FORMAT, "version": VERSION, "arrays": about, "state": tree})
    target = Path(path)
    if not target.suffix:
        target = target.with_suffix(".npz")
    with write_aside(target) as file:
        np.savez(file, header=np.frombuffer(header.encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    return target


def load_state(path: str | os.PathLike[str], classes: dict[str, type]) -> dict[str, Any]:
    """Read what :func:`save_state` wrote."""
    try:
        with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes().decode())
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ModelFileError(f"{path} is not a model that gitcluster has saved.")
            if header.get("version") != VERSION:
                raise ModelFileError(
                    f"{path} has version {header.get('version')} of the format, this gitcluster reads {VERSION}. "
                    "Save it again with this version of gitcluster."
                )
            arrays = {name: _check(path, name, file, about) for name, about in header["arrays"].items()}
            state = _unpack(header["state"], arrays, classes)
    except (FileNotFoundError, IsADirectoryError, PermissionError, ModelFileError):
        raise
    except (
        Exception
    ) as error:  # numpy, zipfile, tokenize and json raise all kinds for files that are not what they seem
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelFileError(f"{path} is damaged or not a saved model: {reason}") from None
    if not isinstance(state, dict):
        raise ModelFileError(f"{path} is damaged: its header holds no model.")
    return state


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes that were saved with a model; empty where there are none."""
    with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as file:
        state = json.loads(file["header"].tobytes().decode())["state"]
        return dict(_unpack(state["dict"].get("notes", {"dict": {}}), file, {}))


def _check(path: Any, name: str, file: Any, about: Any) -> NDArray[Any]:
    array = np.asarray(file[name])
    if [array.dtype.str, list(array.shape), _checksum(array)] != about:
        raise ModelFileError(f"{path} is damaged: the array {name} is not the one that was saved.")
    return array


def _checksum(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _pack(value: Any, arrays: dict[str, NDArray[Any]], classes: dict[str, type]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    if issparse(value):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": list(value.shape)}
        return {"sparse": _pack(parts, arrays, classes)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"strings": [str(item) for item in value]}
        for name, array in arrays.items():
            if array is value:
                return {"array": name}
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, tuple) and type(value).__name__ in classes:
        return {"tuple": type(value).__name__, "fields": [_pack(item, arrays, classes) for item in value]}
    if isinstance(value, (list, tuple)):
        return {"list": [_pack(item, arrays, classes) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): _pack(item, arrays, classes) for key, item in value.items()}}
    raise TypeError(f"A model with {value!r} cannot be saved: it is neither a number, a text nor an array.")


def _unpack(tree: Any, arrays: dict[str, NDArray[Any]], classes: dict[str, type]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if "float" in tree:
        return float.fromhex(tree["float"])
    if "array" in tree:
        return arrays[tree["array"]]
    if "strings" in tree:
        return np.array([str(item) for item in tree["strings"]], dtype=object)
    if "sparse" in tree:
        parts = _unpack(tree["sparse"], arrays, classes)
        found = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        found.check_format(full_check=True)
        return found
    if "tuple" in tree:
        return classes[tree["tuple"]](*(_unpack(item, arrays, classes) for item in tree["fields"]))
    if "list" in tree:
        return [_unpack(item, arrays, classes) for item in tree["list"]]
    return {key: _unpack(item, arrays, classes) for key, item in tree["dict"].items()}
