"""The published experiments, from ``published.json``: parameters of every method on every set, and their figures.

Scores are those in the authors' notebooks: F1, ARI, NMI and the share of covered samples, counted as published. The
paper prints most of them with two digits, and some of them otherwise. "classes" as proportions are the true counts. DPA
and FSFDP were not run on large sets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

COMPETITORS = ("DPA", "FSFDP", "HDBSCAN", "Quickshift++", "SpectACl", "spectral", "k-means++")


class Row(NamedTuple):
    """One method on one set."""

    options: dict[str, Any]
    scores: list[float | None]
    seconds: float | None = None
    printed: list[float] | None = None
    """F1, ARI, NMI and, on large sets, seconds in the paper's Tables 3 and 4; None if the row is not printed."""


def _rows(table: dict[str, dict[str, Any]]) -> dict[str, Row]:
    return {method: Row(**row) for method, row in table.items()}


def _pair(key: str) -> tuple[str, str]:
    dataset, name = key.split()
    return dataset, name


_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("published.json").read_text())
PUBLISHED: dict[str, dict[str, Row]] = {name: _rows(rows) for name, rows in _DATA["sets"].items()}
TOP_THREE: dict[str, list[list[str]]] = _DATA["top three"]
"""The best methods as printed in Table 5; those in one list share a picture."""
STATISTICS: dict[str, list[float]] = _DATA["statistics"]
"""Samples, features, classes and smallest class / largest class, as printed in Table 2."""
COMMITS: dict[str, str] = _DATA["commits"]
"""Commit of the authors' repository with the figures, by group of sets or experiment, or by set and method."""
CURVE_OPTIONS: dict[str, dict[str, dict[str, Any]]] = _DATA["curve options"]
"""Parameters on the curves of noise and scale."""
CURVE_METHODS = ("GIT", "SpectACl", "Quickshift++", "HDBSCAN")
CURVES: dict[str, dict[float, list[float]]] = {
    curve: {float(level): scores for level, scores in points.items()} for curve, points in _DATA["curves"].items()
}
"""F1 of CURVE_METHODS: moons by Gaussian noise, mean of ten seeds; circles by the scale of the second pair."""
EMBEDDED: dict[tuple[str, str], list[Any]] = {_pair(key): row for key, row in _DATA["embedded"].items()}
"""GIT on the embedded images: k, F1, ARI, NMI."""
EMBEDDED_PEERS = {_pair(key): _rows(rows) for key, rows in _DATA["embedded peers"].items()}
"""The competitors on the embedded images: parameters; F1, ARI, NMI. The published k-means has the seed 2021."""
PUBLISHED_SIZES = tuple(range(30, 101, 10))
BY_NEIGHBORS: dict[tuple[str, str], list[float]] = {_pair(key): row for key, row in _DATA["by neighbors"].items()}
"""F1 of GIT on the embedded images over PUBLISHED_SIZES, the numbers of neighbours."""
PUBLISHED_SPEED: dict[str, dict[int, float]] = {
    axis: {int(size): seconds for size, seconds in points.items()} for axis, points in _DATA["speed"].items()
}
"""Seconds of the authors' code on their 32 cores: over samples (d = 10, k = 20; the paper's figure ends at 400,000),
over features (n = 10,000, k = 10), over neighbours (n = 10,000, d = 10)."""
