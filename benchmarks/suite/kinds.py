"""Sets by kind of data: public tables, generated sets like well-known ones, and sets of one cluster.

Every set has a kind, a name, and a function that makes it, so that nothing is loaded before it is used. Generated sets
are the same in every run: each has a random generator seeded by its name.

The difficulty of ``LOOK_ALIKES`` was adjusted until k-means and GIT scored about as on the public tables they imitate.
The first versions of grades, categories, overlapping, giant and letters were easier for both. Grades were changed until
GIT chose too many clusters, as it does on the Wisconsin table. So levels mean little; compare versions of GIT on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from benchmarks.suite.datasets import data_folder
from benchmarks.suite.shapes import mixture, random_rotation

Labelled = tuple[Any, NDArray[np.int64]]
"""An array or data frame, and the class of every row."""
N_DRAWS = 4


class KindOfData(NamedTuple):
    """A set that is not loaded yet."""

    kind: str
    name: str
    make: Callable[[], Labelled]


def labelled_sets() -> Iterator[KindOfData]:
    """Yield the tables of the data folder, the tables of scikit-learn, and four draws of every generated kind."""
    for path in sorted((data_folder() / "mixed").glob("*.csv.gz")):
        yield KindOfData("mixed", path.name.removesuffix(".csv.gz"), partial(_read_mixed, path))
    for name in ("breast_cancer", "wine", "iris", "digits"):
        yield KindOfData("known", name, partial(getattr(sklearn_datasets, f"load_{name}"), return_X_y=True))
    for (kind, make), draw in product(LOOK_ALIKES.items(), range(N_DRAWS)):
        yield KindOfData(kind, f"{kind}-{draw}", partial(_draw, f"{kind}-{draw}", make))


def structureless_sets() -> Iterator[KindOfData]:
    """Yield sets of one cluster with 2 to 30 features, of 100 to 6,000 rows, and one of 20,000 rows."""
    designs = [(family, n, d) for family, d, n in product(ONE_CLUSTER, (2, 5, 10, 30), (100, 1000, 6000))]
    for family, n, d in [*designs, ("correlated", 20_000, 5)]:
        name = f"{family}-{d}-{n}"
        yield KindOfData(family, name, partial(_draw, name, partial(one_cluster, family=family, n=n, d=d)))


def _read_mixed(path: Path) -> Labelled:
    frame = pd.read_csv(path)
    return frame.drop(columns="class"), frame["class"].to_numpy(np.int64)


def _draw(name: str, make: Callable[[Generator], Labelled]) -> Labelled:
    rng = np.random.default_rng(crc32(name.encode()))
    X, y = make(rng)
    order = rng.permutation(len(y))
    return (X.iloc[order].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[order]), y[order]


def shares(n: int, *parts: float) -> list[int]:
    """Return sizes of classes that sum to n."""
    ends = np.rint(np.cumsum(parts) / np.sum(parts) * n).astype(int)
    return [int(size) for size in np.diff(ends, prepend=0)]


def grades(rng: Generator, sizes: tuple[int, int] = (458, 241), columns: int = 9) -> Labelled:
    """Return grades from 1 to 10: healthy rows are almost all ones, ill rows vary and often have the highest grade.

    In the Wisconsin table, 75 to 97 % of the healthy rows have the lowest grade in seven of nine columns.
    """
    healthy, ill = sizes
    ones = rng.uniform(0.75, 0.97, columns) ** rng.gamma(0.5, 2, (healthy, 1))  # some rows deviate in many columns
    narrow = np.where(rng.random((healthy, columns)) < ones, 1, rng.integers(2, 5, (healthy, columns)))
    wide = rng.integers(1, 6, (healthy, columns))
    order = rng.permutation(columns)
    low = np.where(order < 2, wide, narrow)
    severity = rng.uniform(4.5, 7.5, columns) + 1.5 * rng.normal(size=(ill, 1))
    high = severity + 2.8 * rng.normal(size=(ill, columns))
    high = np.where((order == 2) & (rng.random(high.shape) < 0.6), 1, high)  # seldom above 1 in either class
    high = np.where((order == 3) & (rng.random(high.shape) < 0.5), 10, high)
    return np.clip(np.rint(np.vstack([low, high])), 1, 10), np.repeat([0, 1], sizes)


def answers(rng: Generator, n: int = 900, columns: int = 12, profiles: int = 3) -> Labelled:
    """Return answers from 1 to 5; a profile has its typical answer to every question, a row its habit."""
    y = np.repeat(np.arange(profiles), shares(n, *range(profiles + 1, 1, -1)))
    typical, habit = rng.normal(3, 0.9, (profiles, columns)), 0.4 * rng.normal(size=(n, 1))
    return np.clip(np.rint(typical[y] + habit + rng.normal(0, 1.0, (n, columns))), 1, 5), y


def categories(rng: Generator, n: int = 2000, columns: int = 20, most: int = 9, classes: int = 2) -> Labelled:
    """Return text columns of 2 to ``most`` values, like mushrooms: classes of several species.

    A species has one value in some columns, often that of its class, and any of two or three values in the others.
    """
    species = rng.integers(4, 9, classes)
    class_of = np.repeat(np.arange(classes), species)
    group, frame = rng.choice(len(class_of), n, p=rng.dirichlet(np.full(len(class_of), 2.0))), {}
    for j in range(columns):
        values = int(rng.integers(2, most + 1))
        usual = rng.dirichlet(np.ones(values))
        common, own = rng.choice(values, classes, p=usual), rng.choice(values, (len(class_of), 3), p=usual)
        kind = rng.choice(3, len(class_of), p=[0.3, 0.3, 0.4])
        own = np.where(kind[:, None] == 0, common[class_of][:, None], np.where(kind[:, None] == 1, own[:, :1], own))
        frame[f"column {j}"] = np.array(list("abcdefghi"))[own[group, rng.integers(0, 3, n)]]
    return pd.DataFrame(frame), class_of[group]


def overlapping(rng: Generator, n: int = 900, columns: int = 6, gap: float = 2.0) -> Labelled:
    """Return three Gaussian classes of different sizes and spreads."""
    return mixture(rng, shares(n, 0.5, 0.3, 0.2), gap, columns, 1.5)


def giant(rng: Generator, n: int = 6000, columns: int = 9) -> Labelled:
    """Return integers: one class has most of the rows, small ones are far away, and all have long tails."""
    y = np.repeat(np.arange(6), shares(n, 0.79, 0.15, 0.05, 0.005, 0.003, 0.002))
    away, width = np.array([0, rng.uniform(4, 12), 25, 60, 60, 60])[:, None], np.array([6, 5, 6, 8, 8, 8])[:, None]
    centers = away * rng.normal(size=(6, columns))
    return np.rint(centers[y] + width[y] * rng.uniform(0.3, 1.5, columns) * rng.standard_t(3, (n, columns))), y


def letters(rng: Generator, n: int = 6000, columns: int = 16, classes: int = 26) -> Labelled:
    """Return integers from 0 to 15: every class is a skewed cloud with its own correlations."""
    y = np.repeat(np.arange(classes), shares(n, *[1] * classes))
    clouds = []
    for size in np.bincount(y):
        cloud = rng.gamma(2.0, 1.0, (size, columns)) - 2.0
        turn = random_rotation(rng, columns) * rng.uniform(0.3, 1.6, columns)
        clouds.append(rng.normal(0, 0.5, columns) + 0.7 * cloud @ turn.T)
    points = np.vstack(clouds)
    return np.clip(np.rint(7 + 2.1 * points / points.std(axis=0)), 0, 15), y


LOOK_ALIKES: dict[str, Callable[[Generator], Labelled]] = {
    "grades": grades,
    "answers": answers,
    "categories": categories,
    "overlapping": overlapping,
    "giant": giant,
    "letters": letters,
}

ONE_CLUSTER: dict[str, Callable[[Generator, NDArray[np.float64]], Any]] = {
    "Gaussian": lambda rng, z: z,
    "correlated": lambda rng, z: z @ (np.eye(z.shape[1]) + 0.5 * rng.normal(size=(z.shape[1], z.shape[1]))),
    "uniform": lambda rng, z: rng.random(z.shape),
    "log-normal": lambda rng, z: np.exp(0.7 * z),
    "heavy-tailed": lambda rng, z: z / np.sqrt(rng.chisquare(2, (len(z), 1)) / 2),
    "integers": lambda rng, z: np.rint(2 * z),
    "with categories": lambda rng, z: pd.DataFrame(z).add_prefix("x").assign(
        **{f"noise {values}": rng.choice(list("abcdef")[:values], len(z)) for values in (2, 4, 6)}),
}  # fmt: skip
"""Families of sets without structure, computed from Gaussian samples."""


def one_cluster(rng: Generator, *, family: str, n: int, d: int) -> Labelled:
    """Return a set without structure."""
    return ONE_CLUSTER[family](rng, rng.normal(size=(n, d))), np.zeros(n, np.int64)
