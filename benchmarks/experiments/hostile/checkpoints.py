"""Graphs that DaskGIT has kept on disk, damaged byte by byte or forged value by value with right checksums.

A fit that takes one up gives the labels of the fit that wrote it, or an error; forged, it may give others, but it ends.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

from gitcluster.distributed import CheckpointError, DaskGIT
from gitcluster.distributed.checkpoint import MANIFEST

X = make_blobs(120, 2, centers=3, cluster_std=1.5, random_state=0)[0]
Files = dict[str, bytes]


def fit_with(files: Files | None) -> tuple[Any, Files]:
    """Labels of a fit that takes up a checkpoint, and what the folder holds then."""
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        for name, content in (files or {}).items():
            Path(folder, name).write_bytes(content)
        model = DaskGIT(3, n_neighbors=5, cell_size=50, noise=0.1, checkpoint=folder).fit(X)
        labels = model.labels_.compute()
        return labels, {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@cache
def whole_checkpoint() -> tuple[Any, Files]:
    """Labels, and the checkpoint of the fit that gave them."""
    return fit_with(None)


def damage(files: Files, rng: np.random.Generator) -> Files:
    """A few bytes changed, or a file cut off, emptied, missing, or in the place of another."""
    names = sorted(files)
    name, other = rng.choice(names, 2, replace=False)
    content = bytearray(files[name])
    way = rng.integers(6)
    if way < 3:
        for place in rng.integers(0, len(content), [1, 8, 64][way]):
            content[place] ^= int(rng.integers(1, 256))
    elif way == 3:
        del content[int(rng.integers(0, len(content))) :]
    elif way == 4:
        content = bytearray(files[other])
    changed = files | {name: bytes(content)}
    return {key: value for key, value in changed.items() if way != 5 or key != name}


def other_values(values: Any, rng: np.random.Generator) -> Any:
    """An array with some values replaced."""
    changed = np.array(values)
    flat = changed.reshape(-1)
    some = rng.integers(0, flat.size, int(rng.integers(1, 4)))
    if changed.dtype.kind in "iu":
        flat[some] = rng.choice([-1, 0, int(flat.max()) + 1, 2**31 - 1], len(some))
    else:
        flat[some] = rng.choice([0.0, -1.0, 1e30, np.nan, np.inf], len(some))
    return changed


def forge_table(content: bytes, rng: np.random.Generator) -> bytes:
    """A file of a cell with values of one column replaced, or a row less."""
    table = pq.read_table(io.BytesIO(content))
    if not table.num_rows:
        return content
    if rng.random() < 0.2:
        table = table.slice(1)
    else:
        number = int(rng.integers(table.num_columns))
        column = table.column(number).combine_chunks()
        width = column.type.list_size if pa.types.is_fixed_size_list(column.type) else 0
        values = other_values(np.asarray(column.flatten() if width else column), rng)
        made = pa.FixedSizeListArray.from_arrays(pa.array(values), width) if width else pa.array(values)
        table = table.set_column(number, table.column_names[number], made)
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def forge(files: Files, rng: np.random.Generator) -> Files:
    """Other values with right checksums, in the file of a cell or in the manifest."""
    manifest = json.loads(files[MANIFEST])
    del manifest["checksum"]
    changed = dict(files)
    if rng.random() < 0.7:
        number, part = int(rng.integers(len(manifest["files"]))), int(rng.integers(2))
        name = f"{('cell', 'halo')[part]}-{number:06d}.parquet"
        changed[name] = forge_table(files[name], rng)
        manifest["files"][number][part] = hashlib.sha256(changed[name]).hexdigest()
    else:
        name = rng.choice(["centres", "around", "recall", "rounds", "lent", "files"])
        wrong = [None, -1, [], [[9]], "x", manifest[name][:-1] if isinstance(manifest[name], list) else 2.5]
        if name == "centres":
            wrong.append(other_values(manifest[name], rng).tolist())
        manifest[name] = wrong[rng.integers(len(wrong))]
    manifest["checksum"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    return changed | {MANIFEST: json.dumps(manifest).encode()}


def try_checkpoint(seed: int, number: int) -> Counter[str]:
    """What a fit makes of a damaged or forged checkpoint."""
    rng, (labels, files) = np.random.default_rng([seed, number]), whole_checkpoint()
    forged = bool(number % 2)
    changed = (forge if forged else damage)(files, rng)
    try:
        found, _ = fit_with(changed)
    except CheckpointError:
        return Counter([f"{'forged' if forged else 'damaged'}: refused"])
    same = len(found) == len(labels) and bool((found == labels).all())
    if forged:
        return Counter(["forged: same labels" if same else "forged: other labels"])
    return Counter(["damaged: same labels" if same else "SILENTLY OTHER"])
