"""Count how often GIT keeps a single cluster whole if nothing is given: ``python -m benchmarks one_cluster``.

One cluster is right for samples without structure (Gaussians, cubes, spheres, skewed samples) and for thin curves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_experiment
from gitcluster import GIT

CURVES = {
    "ring": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)),
    "arc": lambda t: (np.cos(3 * t), np.sin(3 * t)),
    "line": lambda t: (2 * t, t),
    "spiral": lambda t: ((0.3 + t) * np.cos(9 * t), (0.3 + t) * np.sin(9 * t)),
    "wave": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t), 0.3 * np.cos(4 * np.pi * t)),
}
"""Curves over a time from 0 to 1, in two or three features."""


def main(arguments: Sequence[str]) -> None:
    """Run the experiment."""
    run_experiment("one_cluster", __doc__ or "", arguments, fields=("set",), tasks=tasks, tables=[table])


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set; ``--quick`` yields the first two."""
    for kind, name, X in islice(make_sets(), 2 if options.quick else None):
        yield {"set": name, "kind": kind}, partial(count_clusters, X)


def count_clusters(X: NDArray[np.float64]) -> Line:
    """Return the number of clusters that GIT chooses."""
    return {"clusters": int(GIT().fit(X).n_clusters_)}


def make_sets() -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    """Yield kind, name and samples of every set."""
    shapes = ("Gaussian", "cube", "skewed", "sphere")
    for d, n, shape, seed in product((2, 3, 5, 10, 30), (150, 600), shapes, range(3)):
        yield "without structure", f"{shape}-{d}-{n}-{seed}", make_unstructured(shape, n, d, seed)
    for n, shape, seed in product((150, 300, 600, 1200), CURVES, range(3)):
        rng = np.random.default_rng((seed, n))
        X = np.column_stack(CURVES[shape](rng.random(n)))
        yield "thin curves", f"{shape}-{n}-{seed}", X + (0.03, 0.05, 0.08)[seed] * rng.normal(size=X.shape)


def make_unstructured(shape: str, n_samples: int, n_features: int, seed: int) -> NDArray[np.float64]:
    """Return samples without structure."""
    rng = np.random.default_rng((seed, n_samples, n_features))
    normal = rng.normal(size=(n_samples, n_features))
    if shape == "cube":
        return rng.random((n_samples, n_features))
    if shape == "sphere":
        rng.random((n_samples, n_features))  # the stored results have this noise
        return normal / np.linalg.norm(normal, axis=1, keepdims=True) + 0.1 * rng.normal(size=normal.shape)
    return np.exp(0.7 * normal) if shape == "skewed" else normal


def table() -> str:
    """Return the share of sets that stay whole, by kind."""
    lines, rows = Store("one_cluster", ("set",)).lines.values(), []
    for kind in dict.fromkeys(line["kind"] for line in lines):
        numbers = np.array([line["clusters"] for line in lines if line["kind"] == kind])
        rows.append([kind, str(len(numbers)), f"{np.mean(numbers == 1):.0%}", str(numbers.max())])
    return markdown(["sets of one cluster", "sets", "kept whole", "most clusters"], rows)
