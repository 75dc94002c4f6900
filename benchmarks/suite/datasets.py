"""Labelled data sets for the study: generated, scikit-learn's toys, real ones from a folder.

Everything generated is the same in every run: each set has its own random generator, seeded by
its name, so adding a set never changes another. The label -1 means "not scored" (background
noise). ``clear`` marks sets on which people would agree about the number of clusters; only those
count when that number is judged.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from benchmarks.suite import KINDS, SUITE

REAL_SETS = ("iris", "wine", "hepatitis", "cancer", "olivetti", "frogs", "codon", "mnist", "fmnist")
REAL_TOYS = (
    "toy_circles", "toy_moons", "toy_impossible", "toy_s-set", "toy_smile", "toy_chainlink", "toy_complex8",
    "toy_complex9",
)  # fmt: skip
IMAGES = ("digits", "olivetti", "mnist", "fmnist")
TOY_SIZES = (300, 1000, 3000)
TOY_NOISES = (0.03, 0.05, 0.08, 0.1, 0.15)


class Dataset(NamedTuple):
    """Samples ``X``, true labels ``y`` (-1: not scored), and what is known about them."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    family: str
    clear: bool

    @property
    def kind(self) -> str:
        """Drawn, tables, or images, which embeddings belong to."""
        return kind_of(self.name, self.family)


def kind_of(name: str, family: str) -> str:
    """Return the kind of data that a set of this name and family belongs to.

    Examples
    --------
    >>> kind_of("olivetti", "real"), kind_of("small-60", "small-tables"), kind_of("paper-moons", "paper")
    ('images', 'tables', 'drawn')

    """
    if family == "real":
        return "images" if name in IMAGES else "tables"
    return next((kind for kind, modules in KINDS.items() for m in modules if family in m.TABLES), "drawn")


def generated_datasets(max_samples: int | None = None, *, draw: int = 0) -> Iterator[Dataset]:
    """Yield the sets of ``benchmarks.suite`` in shuffled row order.

    Parameters
    ----------
    max_samples : int, optional
        Leave out larger sets.
    draw : int, default 0
        Others give other samples of the same designs, and names that end with it: sets that nothing was chosen on.

    Yields
    ------
    Dataset

    Examples
    --------
    >>> next(generated_datasets(max_samples=500)).family
    'blobs'

    """
    for recipe in SUITE:
        name = f"{recipe.name}/{draw}" if draw else recipe.name
        rng = np.random.default_rng(crc32(name.encode()))
        X, y = recipe.make(rng)
        if _allowed(len(X), max_samples):
            order = rng.permutation(len(X))
            yield Dataset(name, X[order], y[order], recipe.family, recipe.clear)


def toy_datasets(max_samples: int | None = None) -> Iterator[Dataset]:
    """Yield scikit-learn's classic comparison shapes at several sizes and noise levels."""
    for size in filter(lambda size: _allowed(size, max_samples), TOY_SIZES):
        for noise in TOY_NOISES:
            seed = size + int(1000 * noise)
            circles = sklearn_datasets.make_circles(size, factor=0.5, noise=noise, random_state=seed)
            moons = sklearn_datasets.make_moons(size, noise=noise, random_state=seed)
            suffix = f"n{size}-noise{noise:.2f}"
            yield _toy(f"circles-{suffix}", circles, clear=noise <= 0.08)
            yield _toy(f"moons-{suffix}", moons, clear=noise <= 0.1)
        yield from _blob_toys(size)


def real_datasets(max_samples: int | None = None) -> Iterator[Dataset]:
    """Yield the real sets of the data folder (``GITCLUSTER_DATA``) and scikit-learn's digits.

    Classes of real data need not be clusters, so only the drawn toy shapes count as clear.
    Images are divided by 255.

    Raises
    ------
    FileNotFoundError
        When the folder does not exist.

    """
    for name in (*REAL_SETS, *REAL_TOYS):
        X, y = load_set(name)
        if _allowed(len(y), max_samples):
            drawn = name in REAL_TOYS
            yield Dataset(name.replace("toy_", "paper-"), X, y, "paper" if drawn else "real", clear=drawn)
    digits = sklearn_datasets.load_digits()
    if _allowed(len(digits.data), max_samples):
        yield Dataset("digits", digits.data, digits.target.astype(np.int64), "real", False)


def all_datasets(max_samples: int | None = None) -> Iterator[Dataset]:
    """Yield every set: generated, toys, real (with a warning instead where their folder is missing)."""
    yield from generated_datasets(max_samples)
    yield from toy_datasets(max_samples)
    try:
        yield from real_datasets(max_samples)
    except FileNotFoundError as error:
        warnings.warn(f"real data sets are skipped: {error}", UserWarning, stacklevel=2)


def data_folder() -> Path:
    """Return the folder that ``GITCLUSTER_DATA`` names."""
    folder = os.environ.get("GITCLUSTER_DATA", "")
    if not Path(folder).is_dir() or not folder:
        raise FileNotFoundError(f"GITCLUSTER_DATA={folder} is no folder: set it to the one that has the .npz files")
    return Path(folder)


def load_set(name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return samples and classes of a set in the data folder; bytes, which are images, become 0 to 1."""
    return _read(data_folder() / f"{name}.npz")


@lru_cache(maxsize=1)
def _read(path: Path) -> tuple[NDArray[Any], NDArray[np.int64]]:
    with np.load(path) as data:
        X, y = data["X"], data["y"].astype(np.int64)
    return (X.astype(np.float32) / 255 if X.dtype == np.uint8 else X.astype(np.float64)), y


def _allowed(size: int, max_samples: int | None) -> bool:
    return max_samples is None or size <= max_samples


def _toy(name: str, labelled: tuple[NDArray, NDArray], *, clear: bool) -> Dataset:
    X, y = labelled
    return Dataset(f"toy-{name}", X, y.astype(np.int64), "toy", clear)


def _blob_toys(size: int) -> Iterator[Dataset]:
    """Yield the blobs of scikit-learn's gallery: plain, of varied spread, sheared."""
    seed, spreads = 170, [1.0, 2.5, 0.5]
    plain = sklearn_datasets.make_blobs(size, random_state=8)
    varied = sklearn_datasets.make_blobs(size, cluster_std=spreads, random_state=seed)
    X, y = sklearn_datasets.make_blobs(size, random_state=seed)
    yield _toy(f"blobs-n{size}", plain, clear=True)
    yield _toy(f"varied-n{size}", varied, clear=True)
    yield _toy(f"aniso-n{size}", (X @ [[0.6, -0.6], [-0.4, 0.8]], y), clear=True)
