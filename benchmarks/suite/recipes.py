"""What a recipe of a generated data set is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.random import Generator

from benchmarks.suite.shapes import Labelled

Maker = Callable[[Generator], Labelled]
Table = list[tuple[str, bool, Maker]]


class Recipe(NamedTuple):
    """How to make one generated set, and whether its number of clusters is clear."""

    name: str
    family: str
    clear: bool
    make: Maker
