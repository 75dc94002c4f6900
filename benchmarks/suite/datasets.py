"""Labelled data sets: generated, scikit-learn's toys, and real ones from the folder that GITCLUSTER_DATA names.

Generated sets are the same in every run. Each has a random generator seeded by its name, so adding a set never changes
another. The label -1 means "not scored" (background noise). Sets that are ``clear`` judge the number of clusters.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.datasets import make_circles, make_moons

from benchmarks.suite.designs import KINDS

REAL_SETS = ("iris", "wine", "hepatitis", "cancer", "olivetti", "frogs", "codon", "mnist", "fmnist")
DRAWN_SETS = ("circles", "moons", "impossible", "s-set", "smile", "chainlink", "complex8", "complex9")
"""Drawn sets of the data folder, in files ``toy_NAME.npz``."""
IMAGES = ("digits", "olivetti", "mnist", "fmnist")


class Dataset(NamedTuple):
    """Samples ``X`` and true labels ``y`` (-1: not scored)."""

    name: str
    X: NDArray[Any]
    y: NDArray[np.int64]
    family: str
    clear: bool

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the sizes of the classes."""
        return np.unique(self.y[self.y >= 0], return_counts=True)[1]

    @property
    def kind(self) -> str:
        """Return "drawn", "tables", or "images", which include embeddings."""
        return kind_of(self.name, self.family)


def kind_of(name: str, family: str) -> str:
    """Return the kind of data of a set.

    Examples
    --------
    >>> kind_of("olivetti", "real"), kind_of("small-60", "small-tables"), kind_of("paper-moons", "paper")
    ('images', 'tables', 'drawn')

    """
    if family == "real":
        return "images" if name in IMAGES else "tables"
    return next((kind for kind, families in KINDS.items() if family in families), "drawn")


def generated_datasets(draw: int = 0, families: Container[str] | None = None) -> Iterator[Dataset]:
    """Yield the generated sets, or those of some families, in shuffled row order.

    Another ``draw`` yields new samples of the same designs, with names that end with its number.

    Examples
    --------
    >>> next(generated_datasets()).family
    'blobs'

    """
    for designs_by_family in KINDS.values():
        for family, designs in designs_by_family.items():
            for design, clear, make in designs if families is None or family in families else ():
                name = f"{design}/{draw}" if draw else design
                rng = np.random.default_rng(crc32(name.encode()))
                X, y = make(rng)
                order = rng.permutation(len(X))
                yield Dataset(name, X[order], y[order], family, clear)


def toy_datasets() -> Iterator[Dataset]:
    """Yield scikit-learn's circles and moons."""
    for shape, noise in (("circles", 0.03), ("moons", 0.03), ("circles", 0.05)):
        options = {"noise": noise, "random_state": 300 + int(1000 * noise)}
        X, y = make_circles(300, factor=0.5, **options) if shape == "circles" else make_moons(300, **options)
        yield Dataset(f"toy-{shape}-n300-noise{noise:.2f}", X, y, "toy", clear=True)


def real_datasets() -> Iterator[Dataset]:
    """Yield the sets of the data folder and scikit-learn's digits.

    Classes of real data need not be clusters, so only the drawn sets are clear.
    """
    for name in REAL_SETS:
        yield Dataset(name, *load_set(name), "real", clear=False)
    for name in DRAWN_SETS:
        yield Dataset(f"paper-{name}", *load_set(f"toy_{name}"), "paper", clear=True)
    digits = sklearn_datasets.load_digits()
    yield Dataset("digits", digits.data, digits.target.astype(np.int64), "real", clear=False)


def data_folder() -> Path:
    """Return the folder that ``GITCLUSTER_DATA`` names."""
    folder = os.environ.get("GITCLUSTER_DATA", "")
    if not folder or not Path(folder).is_dir():
        raise FileNotFoundError(f"GITCLUSTER_DATA must be the folder of the .npz files, got {folder!r}.")
    return Path(folder)


def load_set(name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return samples and classes of a set in the data folder; bytes (images) are divided by 255."""
    return _read(data_folder() / f"{name}.npz")


@lru_cache(maxsize=1)
def _read(path: Path) -> tuple[NDArray[Any], NDArray[np.int64]]:
    with np.load(path) as data:
        X, y = data["X"], data["y"].astype(np.int64)
    return (X.astype(np.float32) / 255 if X.dtype == np.uint8 else X.astype(np.float64)), y
