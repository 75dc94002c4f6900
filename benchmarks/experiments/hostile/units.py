"""Lattices in other units: rasters and coordinates far from the origin, whole numbers; in both precisions.

Labels, and what ``predict`` says of the samples, are the same after every feature was multiplied by a number that
floats do not hold exactly. Coordinates of millions are not tried in single precision, which does not tell them apart.
That single precision breaks other ties on lattices than double precision is known, and counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gitcluster import GIT

UNITS = (0.001, 0.1, 0.3048, 2.54, 7.0, 1000 / 3)


def draw_lattice(kind: str, rng: np.random.Generator) -> Any:
    """Samples of one kind."""
    n_samples = int(rng.integers(40, 200))
    if kind == "raster":
        side = int(rng.integers(7, 14))
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
        return grid[rng.random(len(grid)) < rng.uniform(0.5, 1)] * 0.1 + 1e4
    if kind == "coordinates":
        steps = rng.integers(0, 14, (n_samples, 2)) * rng.choice([10.0, 1.0, 0.5, 0.1])
        return steps + np.round(rng.uniform([5e5, 5.4e6], [6e5, 5.5e6]), 1)
    return rng.integers(0, int(rng.integers(2, 9)), (n_samples, int(rng.integers(1, 4)))).astype(float)


def try_units(seed: int, number: int) -> Counter[str]:
    """Whether units change the labels of a drawn lattice."""
    rng = np.random.default_rng([seed, number])
    kind = ("raster", "coordinates", "whole numbers")[number % 3]
    dtype = np.float32 if kind != "coordinates" and number % 2 else np.float64
    X = draw_lattice(kind, rng).astype(dtype)
    other = X * rng.choice(UNITS, X.shape[1]).astype(dtype)
    n_clusters = int(rng.integers(2, 5))
    there, back = GIT(n_clusters, scale="std").fit(X), GIT(n_clusters, scale="std").fit(other)
    same = bool((there.labels_ == back.labels_).all() and (back.predict(other) == back.labels_).all())
    if not same:
        print(f"units: case {number}, {kind}, {X.dtype}", flush=True)
    outcome = Counter([f"{kind}, {X.dtype}: {'same labels' if same else 'OTHER LABELS'}"])
    if kind == "whole numbers" and dtype == np.float32:
        exact = GIT(n_clusters, scale="std").fit(X.astype(np.float64))
        outcome["float32 as float64" if (exact.labels_ == there.labels_).all() else "float32 other than float64"] += 1
    return outcome
