"""The graph of neighbours on disk, so that a fit whose client was lost goes on behind the search.

A folder of Parquet files, two per cell, and ``graph.json``, which is written last and says what the graph is of. A
graph of other data or parameters is refused, and so is one whose parts do not fit each other: the kernels that it is
handed to check nothing.
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
from gitcluster.fitted.persistence import Field, check_fields

FORMAT = 2
MANIFEST = "graph.json"
PARTS = ("cell", "halo")
KEYS = {"centres", "around", "rounds", "lent", "files", "checksum"}
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


def read_cell(
    folder: str, number: int, checksums: Sequence[str], n_features: int, k: int, n_samples: int
) -> tuple[Cell, Graph]:
    """What :func:`write_cell` wrote."""
    table, halo = (
        _read_table(f"{folder}/{name}-{number:06d}.parquet", checksum)
        for name, checksum in zip(PARTS, checksums, strict=True)
    )
    try:
        ids, rows, group = (table[name].to_numpy() for name in ("id", "row", "group"))
        first = np.unique(group, return_index=True)[1]
        cell = Cell(ids, rows, _matrix(table["point"], n_features), first, group)
        indices, distances = _matrix(table["neighbor"], k), _matrix(table["distance"], k)
        graph = Graph(indices, distances, halo["id"].to_numpy())
        check_cell(cell, graph, n_samples)
    except (ValueError, KeyError, pa.ArrowException) as error:
        raise CheckpointError(f"cell {number} of {folder} is damaged: {error}. Remove the folder.") from None
    return cell, graph


def check_cell(cell: Cell, graph: Graph, n_samples: int) -> None:
    """Raise where the arrays of a cell do not fit each other."""
    n_near = len(cell.ids) + len(graph.halo)
    check_fields(
        [
            ("ids", cell.ids, Field("int", ("n_own",), of=n_samples)),
            ("rows", cell.rows, Field("int", ("n_own",), of=n_samples)),
            ("groups", cell.group, Field("int", ("n_own",), of=len(cell.first))),
            ("halo", graph.halo, Field("int", ("n_halo",), of=n_samples)),
            ("neighbours", graph.indices, Field("int", ("n_own", ""), of=n_near)),
            ("points", cell.points, Field("float", ("n_own", ""))),
        ]
    )
    for name, ids in (("ids", cell.ids), ("halo", graph.halo)):
        if (np.diff(ids) <= 0).any():
            raise ValueError(f"its {name} do not ascend")
    if graph.distances.dtype != cell.points.dtype or not (graph.distances[:, 0] >= 0).all():
        raise ValueError("its distances are not numbers")
    if not (np.isfinite(graph.distances[:, -1]).all() and (np.diff(graph.distances, axis=1) >= 0).all()):
        raise ValueError("its distances do not ascend")


def sum_samples(cell: Cell) -> list[np.uint64]:
    """Number of samples, the sums of their ids and rows, and of the squares of these, modulo 2^64."""
    some = (cell.ids.astype(np.uint64), cell.rows.astype(np.uint64))
    return [np.uint64(len(cell.ids)), *((values**power).sum() for values in some for power in (1, 2))]


def sums_of_all(n: int) -> list[int]:
    """What :func:`sum_samples` gives where every sample is there once."""
    sums = [n * (n - 1) // 2 % 2**64, (n - 1) * n * (2 * n - 1) // 6 % 2**64]
    return [n, *sums, *sums]


def _read_table(path: str, checksum: str) -> Any:
    try:
        with fsspec.open(path, "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != checksum:
            raise OSError("it is not the file that was written")
        return pq.read_table(io.BytesIO(data))
    except (OSError, pa.ArrowException) as error:
        raise CheckpointError(f"{path} is damaged: {error}. Remove the folder, to search anew.") from None


def describe_graph(source: Source, plan: Plan) -> dict[str, Any]:
    """Return what a graph is of: the data, and what the search depends on."""
    return {
        "data": fingerprint(source.n_samples, source.low, source.high, source.checksum),
        "scale": fingerprint(*(source.scaling or ())),
        "n_neighbors": plan.n_found,
        "variant": plan.recipe.name,
    }


def save_graph(folder: str, about: dict[str, Any], partition: Partition, search: Search) -> None:
    """Write a graph; the manifest comes last, so that an unfinished graph is not taken for a whole one."""
    cells, centres = partition
    files = fetch(call_each(write_cell, folder, list(range(len(cells))), cells, search.graphs))
    manifest = about | {
        "format": FORMAT, "centres": centres.tolist(), "around": search.around,
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


def check_manifest(manifest: dict[str, Any]) -> None:
    """Raise where a manifest does not say what it should of its cells."""
    centres, files, around = np.array(manifest["centres"], np.float64), manifest["files"], manifest["around"]
    n_cells = len(centres)
    if centres.ndim != 2 or not centres.size or not np.isfinite(centres).all():
        raise ValueError("its centres are not numbers")
    if len(files) != n_cells or any(len(names) != len(PARTS) for names in files):
        raise ValueError("it names files of other cells")
    if len(around) != n_cells or not all(0 <= int(cell) < n_cells for some in around for cell in some):
        raise ValueError("it names other cells around")
    if min(int(manifest["rounds"]), int(manifest["lent"])) < 0:
        raise ValueError("its rounds are not numbers")


def load_graph(folder: str, about: dict[str, Any], n_samples: int) -> tuple[Partition, Search] | None:
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
    try:
        check_manifest(manifest)
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{folder}/{MANIFEST} is damaged: {error}. Remove the folder, to search anew.") from None
    centres, around, files = np.array(manifest["centres"]), manifest["around"], manifest["files"]
    numbers = list(range(len(centres)))
    both = store(call_each(read_cell, folder, numbers, files, centres.shape[1], about["n_neighbors"], n_samples))
    cells, graphs = (store([pair[i] for pair in both]) for i in (0, 1))
    if np.sum(fetch(call_each(sum_samples, cells)), axis=0, dtype=np.uint64).tolist() != sums_of_all(n_samples):
        raise CheckpointError(
            f"The cells of {folder} do not hold every sample once. Remove the folder, to search anew."
        )
    search = Search(graphs, around, int(manifest["rounds"]), int(manifest["lent"]))
    return Partition(cells, centres), search
