"""Embeddings of MNIST and FMNIST (the 60,000 training images / 255), computed once and kept in a folder.

``raw`` are the 784 pixels; ``pca5`` to ``pca30`` the first principal components, brought to 0..1 by one minimum and one
maximum over all of them, as published; ``ae5`` to ``ae30`` the paper's autoencoder; ``umap2`` and ``umap10`` UMAP with
15 neighbours and min_dist=0. Everything random is seeded with 0.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from benchmarks.suite.autoencoder import encode
from benchmarks.suite.datasets import load_set

SETS = ("mnist", "fmnist")
WIDTHS = (5, 10, 20, 30)
EMBEDDINGS = ("raw", *(f"pca{h}" for h in WIDTHS), *(f"ae{h}" for h in WIDTHS), "umap2", "umap10")

NEEDS = {"ae": "torch", "umap": "umap"}
"""Packages that an embedding needs, by the beginning of its name."""


class Embedding(NamedTuple):
    """Samples by coordinates, the true classes, the seconds it took, and what else is to be told about it."""

    points: NDArray[Any]
    y: NDArray[np.int64]
    seconds: float
    details: dict[str, Any]


def default_cache() -> Path:
    """The user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gitcluster" / "embeddings"


def can_run(names: Sequence[str]) -> list[str]:
    """Those whose packages are installed; the others are told on the error stream."""
    missing = {kind: package for kind, package in NEEDS.items() if find_spec(package) is None}
    for kind, package in missing.items():
        if any(name.startswith(kind) for name in names):
            print(f"{kind} is left out: {package} is not installed", file=sys.stderr)
    return [name for name in names if not name.startswith(tuple(missing))]


def load_embedding(
    dataset: str, name: str, *, cache: Path, n_samples: int | None = None, max_epochs: int = 100
) -> Embedding:
    """The embedding as it is stored, or computed and stored."""
    path = cache / f"{dataset}-{name}{f'-{n_samples}' if n_samples else ''}.npz"
    if not path.exists():
        X, y = (part[:n_samples] for part in load_set(dataset))
        start, cpu = perf_counter(), process_time()
        points, details = embed(X, name, max_epochs)
        seconds, details["cpu"] = perf_counter() - start, round(process_time() - cpu, 1)
        if name == "raw":
            return Embedding(points, y, 0.0, details)
        cache.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}.npz")
        np.savez(aside, points=points, y=y, seconds=seconds, details=json.dumps(details))
        aside.replace(path)
    with np.load(path) as stored:
        return Embedding(stored["points"], stored["y"], float(stored["seconds"]), json.loads(str(stored["details"])))


def embed(X: NDArray[np.float32], name: str, max_epochs: int) -> tuple[NDArray[Any], dict[str, Any]]:
    """Coordinates and details of one embedding."""
    family = name.rstrip("0123456789")
    width = int(name.removeprefix(family) or 0)
    if family == "raw":
        return X, {}
    if family == "pca":
        points = PCA(width, svd_solver="covariance_eigh").fit_transform(X.astype(np.float64))
        return (points - points.min()) / (points.max() - points.min()), {}
    if family == "ae":
        points, n_epochs, loss = encode(X, width, max_epochs=max_epochs)
        return points, {"epochs": n_epochs, "held-out error": round(loss, 6)}
    return embed_umap(X, width), {}


def embed_umap(X: NDArray[np.float32], width: int) -> NDArray[Any]:
    """UMAP with a fixed seed, which makes it run in one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from umap import UMAP

        points = UMAP(n_components=width, n_neighbors=15, min_dist=0.0, random_state=0, n_jobs=1).fit_transform(X)
    return np.asarray(points)
