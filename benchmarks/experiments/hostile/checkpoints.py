"""Checkpoints of DaskGIT, damaged byte by byte.

A fit that continues from one returns the labels of the fit that wrote it, or raises an error.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import dask
import numpy as np
from sklearn.datasets import make_blobs

from gitcluster.distributed import CheckpointError, DaskGIT

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


def try_checkpoint(seed: int, number: int) -> Counter[str]:
    """Fit with a damaged checkpoint, and return what happened."""
    rng, (labels, files) = np.random.default_rng([seed, number]), whole_checkpoint()
    try:
        found, _ = fit_with(damage(files, rng))
    except CheckpointError:
        return Counter(["damaged: refused"])
    same = len(found) == len(labels) and bool((found == labels).all())
    return Counter(["damaged: same labels" if same else "SILENTLY OTHER"])
