"""The graph of neighbours on disk, so that a fit whose client was lost continues after the search.

A folder of Parquet files, two per cell, and ``graph.json``, which is written last and describes the graph. A graph of
other data or parameters is refused, and so is one whose parts are inconsistent: the kernels check nothing.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gitcluster._support.arrays import Array
from gitcluster.distributed.partition import Cell, FitSettings, Partition, SampleParts
from gitcluster.distributed.search import CheckpointError, Graph, Search
from gitcluster.distributed.tasks import gather, persist, submit_each
from gitcluster.fitted.persistence import Field, check_fields

FORMAT = 3
MANIFEST = "graph.json"
PARTS = ("cell", "halo")
KEYS = {"centres", "around", "files", "checksum"}
"""Required keys of the manifest, besides the description of the data."""


@contextmanager
def refuse_damage(path: str) -> Iterator[None]:
    """Turn the errors of a damaged file into a CheckpointError."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException) as error:
        raise CheckpointError(f"{path} is damaged: {error}. Remove the folder to search again.") from None


def describe_graph(samples: SampleParts, settings: FitSettings) -> dict[str, Any]:
    """Return what identifies a graph: the data, and the parameters of the search."""
    return {
        "data": fingerprint(samples.n_samples, samples.low, samples.high, samples.checksum),
        "scale": fingerprint(*(samples.scaling or ())),
        "n_neighbors": settings.n_searched,
        "variant": settings.variant.name,
    }


def fingerprint(*arrays: Any) -> str:
    """Return a checksum of arrays and numbers."""
    digest = hashlib.sha256()
    for values in map(np.asarray, arrays):
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def manifest_checksum(manifest: dict[str, Any]) -> str:
    """Return the checksum of a manifest, except its own entry."""
    entries = {name: value for name, value in manifest.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def prepare_folder(folder: str) -> None:
    """Make sure that a folder can be written to, before anything that takes long."""
    try:
        system, path = fsspec.core.url_to_fs(folder)
        system.makedirs(path, exist_ok=True)
        with fsspec.open(f"{folder}/.writable", "w") as file:
            file.write("")
        system.rm(f"{path}/.writable")
    except OSError as error:
        raise CheckpointError(
            f"checkpoint must be a folder that all workers can write to, got {folder!r}: {error}."
        ) from None


# writing


def save_graph(folder: str, description: dict[str, Any], partition: Partition, search: Search) -> None:
    """Write a graph; the manifest comes last, so that an unfinished graph is not used."""
    cells, centres = partition
    files = gather(submit_each(write_cell, folder, list(range(len(cells))), cells, search.graphs))
    graph = {"centres": centres.tolist(), "around": search.lenders, "files": list(files)}
    manifest = description | {"format": FORMAT} | graph
    with fsspec.open(f"{folder}/{MANIFEST}", "w") as file:
        json.dump(manifest | {"checksum": manifest_checksum(manifest)}, file)


def write_cell(folder: str, number: int, cell: Cell, graph: Graph) -> list[str]:
    """Write the samples with their neighbours and the ids of the halo to two files; return their checksums."""
    matrices = {"point": cell.points, "neighbor": graph.indices, "distance": graph.distances}
    lists = {
        name: pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
        for name, values in matrices.items()
    }
    samples = pa.table({"id": cell.ids, "row": cell.rows, "group": cell.group.astype(np.int64), **lists})
    checksums = []
    for name, table in zip(PARTS, (samples, pa.table({"id": graph.halo})), strict=True):
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        checksums.append(hashlib.sha256(buffer.getvalue()).hexdigest())
        with fsspec.open(f"{folder}/{name}-{number:06d}.parquet", "wb") as file:
            file.write(buffer.getvalue())
    return checksums


# reading


def load_graph(folder: str, description: dict[str, Any], n_samples: int) -> tuple[Partition, Search] | None:
    """Return the graph in a folder, or None if it holds no graph."""
    path = f"{folder}/{MANIFEST}"
    try:
        with fsspec.open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    with refuse_damage(path):
        manifest = json.loads(data)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or not manifest.keys() >= KEYS:
        raise CheckpointError(f"{folder} holds no graph that this version reads. Use another folder as checkpoint.")
    with refuse_damage(path):
        check_manifest(manifest)
    for name, value in description.items():
        if manifest.get(name) != value:
            raise CheckpointError(
                f"checkpoint={folder!r} holds a graph of other data or parameters: {name} is {manifest.get(name)!r}, "
                f"this fit has {value!r}. Use another folder, or remove this one."
            )
    centres, files = np.array(manifest["centres"]), manifest["files"]
    k, numbers = description["n_neighbors"], list(range(len(files)))
    pairs = persist(submit_each(read_cell, folder, numbers, files, centres.shape[1], k, n_samples))
    cells, graphs = (persist([pair[i] for pair in pairs]) for i in (0, 1))
    # The number of samples and the sums of ids and rows and of their squares: those of 0 to n - 1, each once.
    expected = [
        n_samples,
        *2 * [n_samples * (n_samples - 1) // 2, (n_samples - 1) * n_samples * (2 * n_samples - 1) // 6],
    ]
    sums = np.sum(gather(submit_each(sum_samples, cells)), axis=0, dtype=np.uint64)
    if sums.tolist() != [value % 2**64 for value in expected]:
        raise CheckpointError(f"{folder} does not hold every sample once. Remove the folder to search again.")
    return Partition(cells, centres), Search(graphs, manifest["around"])


def check_manifest(manifest: dict[str, Any]) -> None:
    """Raise an error if the entries of a manifest are inconsistent."""
    centres, files, around = np.array(manifest["centres"], np.float64), manifest["files"], manifest["around"]
    n_cells = len(centres)
    if manifest["checksum"] != manifest_checksum(manifest):
        raise ValueError("its checksum is wrong")
    if centres.ndim != 2 or not centres.size or not np.isfinite(centres).all():
        raise ValueError("its centres are not numbers")
    if len(files) != n_cells or any(len(names) != len(PARTS) for names in files):
        raise ValueError("it names files of other cells")
    if len(around) != n_cells or not all(0 <= int(cell) < n_cells for some in around for cell in some):
        raise ValueError("it names unknown cells")


def read_cell(
    folder: str, number: int, checksums: Sequence[str], n_features: int, k: int, n_samples: int
) -> tuple[Cell, Graph]:
    """Return the cell that :func:`write_cell` wrote."""
    tables = []
    for name, checksum in zip(PARTS, checksums, strict=True):
        path = f"{folder}/{name}-{number:06d}.parquet"
        with refuse_damage(path):
            with fsspec.open(path, "rb") as file:
                data = file.read()
            if hashlib.sha256(data).hexdigest() != checksum:
                raise ValueError("its checksum is wrong")
            tables.append(pq.read_table(io.BytesIO(data)))
    table, halo = tables

    def matrix(name: str, width: int) -> Array:
        values = table[name].combine_chunks()
        return np.asarray(values.flatten()).reshape(len(values), width)

    with refuse_damage(f"{folder}, cell {number},"):
        ids, rows, group = (table[name].to_numpy() for name in ("id", "row", "group"))
        cell = Cell(ids, rows, matrix("point", n_features), np.unique(group, return_index=True)[1], group)
        graph = Graph(matrix("neighbor", k), matrix("distance", k), halo["id"].to_numpy())
        check_cell(cell, graph, n_samples)
    return cell, graph


def check_cell(cell: Cell, graph: Graph, n_samples: int) -> None:
    """Raise an error if the arrays of a cell are inconsistent."""
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
    """Return the number of samples, and the sums of their ids, rows and the squares of both, modulo 2^64."""
    numbers = (cell.ids.astype(np.uint64), cell.rows.astype(np.uint64))
    return [np.uint64(cell.n_samples), *((values**power).sum() for values in numbers for power in (1, 2))]
