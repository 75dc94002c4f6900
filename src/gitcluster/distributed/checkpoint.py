"""The graph of neighbours on disk, so that a fit whose client was lost goes on behind the search.

A folder of Parquet files, two per cell, and ``graph.json``, which is written last and says what the graph is of. A
graph of other data or parameters is refused.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gitcluster._support.arrays import Array
from gitcluster.distributed.halo_search import Graph, Search
from gitcluster.distributed.partition import Cell, Partition
from gitcluster.distributed.plan import Plan
from gitcluster.distributed.source import Source
from gitcluster.distributed.tasks import call_each, fetch, store

FORMAT = 2
MANIFEST = "graph.json"
PARTS = ("cell", "halo")
KEYS = {"centres", "around", "recall", "rounds", "lent", "files", "checksum"}
"""What the manifest says of the graph, beside what it is of."""


class CheckpointError(ValueError):
    """A folder that holds no graph, or not the one that was asked for."""


def fingerprint(*arrays: Any) -> str:
    """A checksum of arrays and numbers."""
    digest = hashlib.sha256()
    for array in arrays:
        values = np.asarray(array)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _lists(values: Array) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def _matrix(column: Any, width: int) -> Array:
    values = column.combine_chunks()
    return np.asarray(values.flatten()).reshape(len(values), width)


def write_cell(folder: str, number: int, cell: Cell, graph: Graph) -> list[str]:
    """Two files: the samples with their neighbours, and the ids of the halo. Returns their checksums."""
    samples = pa.table(
        {
            "id": cell.ids, "row": cell.rows, "group": cell.group.astype(np.int64), "point": _lists(cell.points),
            "neighbor": _lists(graph.indices), "distance": _lists(graph.distances),
        }
    )  # fmt: skip
    checksums = []
    for name, table in zip(PARTS, (samples, pa.table({"id": graph.halo})), strict=True):
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        checksums.append(hashlib.sha256(buffer.getvalue()).hexdigest())
        with fsspec.open(f"{folder}/{name}-{number:06d}.parquet", "wb") as file:
            file.write(buffer.getvalue())
    return checksums


def read_cell(folder: str, number: int, checksums: Sequence[str], n_features: int, k: int) -> tuple[Cell, Graph]:
    """What :func:`write_cell` wrote."""
    table, halo = (
        _read_table(f"{folder}/{name}-{number:06d}.parquet", checksum)
        for name, checksum in zip(PARTS, checksums, strict=True)
    )
    ids, rows, group = (table[name].to_numpy() for name in ("id", "row", "group"))
    first = np.unique(group, return_index=True)[1]
    cell = Cell(ids, rows, _matrix(table["point"], n_features), first, group)
    indices, distances = _matrix(table["neighbor"], k), _matrix(table["distance"], k)
    return cell, Graph(indices, distances, halo["id"].to_numpy())


def _read_table(path: str, checksum: str) -> Any:
    try:
        with fsspec.open(path, "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != checksum:
            raise OSError("it is not the file that was written")
        return pq.read_table(io.BytesIO(data))
    except (OSError, pa.ArrowException) as error:
        raise CheckpointError(f"{path} is damaged: {error}. Remove the folder, to search anew.") from None


def describe_graph(source: Source, plan: Plan, target: float | None) -> dict[str, Any]:
    """What a graph is of: the data, and what the search depends on; ``target`` is None for an exact search."""
    return {
        "data": fingerprint(source.n_samples, source.low, source.high, source.checksum),
        "scale": fingerprint(*(source.scaling or ())),
        "n_neighbors": plan.n_found,
        "neighbors": "exact" if target is None else "approximate",
        "variant": plan.recipe.name,
        "target": 1.0 if target is None else float(target),
    }


def save_graph(folder: str, about: dict[str, Any], partition: Partition, search: Search) -> None:
    """Write a graph; the manifest comes last, so that an unfinished graph is not taken for a whole one."""
    cells, centres = partition
    files = fetch(call_each(write_cell, folder, list(range(len(cells))), cells, search.graphs))
    manifest = about | {
        "format": FORMAT, "centres": centres.tolist(), "around": search.around, "recall": search.recall,
        "rounds": search.rounds, "lent": search.lent, "files": list(files),
    }  # fmt: skip
    with fsspec.open(f"{folder}/{MANIFEST}", "w") as file:
        json.dump(manifest | {"checksum": _checksum(manifest)}, file)


def _checksum(manifest: dict[str, Any]) -> str:
    """Of what a manifest says, but for the checksum itself."""
    said = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def prepare(folder: str) -> None:
    """Make sure that a folder can be written to before anything long begins."""
    try:
        system, path = fsspec.core.url_to_fs(folder)
        system.makedirs(path, exist_ok=True)
        with fsspec.open(f"{folder}/.writable", "w") as file:
            file.write("")
        system.rm(f"{path}/.writable")
    except OSError as error:
        raise CheckpointError(
            f"checkpoint={folder!r} cannot be written to: {error}. Use a folder that all workers can write to."
        ) from None


def load_graph(folder: str, about: dict[str, Any]) -> tuple[Partition, Search] | None:
    """The graph in a folder, None where there is none."""
    try:
        with fsspec.open(f"{folder}/{MANIFEST}", "r") as file:
            manifest = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise CheckpointError(f"{folder}/{MANIFEST} is damaged: {error}. Remove the folder, to search anew.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or not manifest.keys() >= KEYS:
        raise CheckpointError(f"{folder} holds no graph that this version reads. Use another folder as checkpoint.")
    if manifest["checksum"] != _checksum(manifest):
        raise CheckpointError(f"{folder}/{MANIFEST} is damaged. Remove the folder, to search anew.")
    for name, value in about.items():
        if manifest.get(name) != value:
            raise CheckpointError(
                f"checkpoint={folder!r} holds a graph of other data or parameters ({name} is {manifest.get(name)!r}, "
                f"this fit has {value!r}). Use another folder, or remove this one."
            )
    centres = np.array(manifest["centres"])
    numbers, files = list(range(len(centres))), manifest["files"]
    both = store(call_each(read_cell, folder, numbers, files, centres.shape[1], about["n_neighbors"]))
    cells, graphs = (store([pair[i] for pair in both]) for i in (0, 1))
    search = Search(graphs, manifest["around"], manifest["recall"], manifest["rounds"], manifest["lent"])
    return Partition(cells, centres), search
