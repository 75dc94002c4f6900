"""How often GIT leaves a single cluster whole if nothing is told: ``python -m benchmarks one_cluster``.

Samples without structure (Gaussians, cubes, spheres, skewed samples) and single thin curves: one cluster is right. A
set is one line of ``results/one_cluster.jsonl``; what is there is not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Store, describe_run, read_lines
from gitcluster import GIT

RESULTS = FOLDER / "one_cluster.jsonl"
CURVES = {
    "ring": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)),
    "arc": lambda t: (np.cos(3 * t), np.sin(3 * t)),
    "line": lambda t: (2 * t, t),
    "spiral": lambda t: ((0.3 + t) * np.cos(9 * t), (0.3 + t) * np.sin(9 * t)),
    "wave": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t), 0.3 * np.cos(4 * np.pi * t)),
}
"""Curves by the share of the way along them, in two or three features."""


def main(arguments: Sequence[str]) -> None:
    """Fit every set that has no line yet, and print the table."""
    argparse.ArgumentParser(prog="python -m benchmarks one_cluster", description=__doc__).parse_args(arguments)
    store = Store(RESULTS, ("set",))
    for kind, name, X in sets():
        if (name,) not in store.lines:
            line = {"set": name, "kind": kind, "clusters": GIT().fit(X).n_clusters_}
            store.add(line | describe_run("one_cluster", arguments))
    print(table())


def sets() -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    """Yield kind, name and samples of every set."""
    for n_features in (2, 3, 5, 10, 30):
        for n_samples in (150, 600):
            for shape in ("Gaussian", "cube", "skewed", "sphere"):
                for seed in range(3):
                    name = f"{shape}-{n_features}-{n_samples}-{seed}"
                    yield "without structure", name, make_null(shape, n_samples, n_features, seed)
    for n_samples in (150, 300, 600, 1200):
        for shape in CURVES:
            for seed in range(3):
                yield "thin curves", f"{shape}-{n_samples}-{seed}", make_curve(shape, n_samples, seed)


def make_null(shape: str, n_samples: int, n_features: int, seed: int) -> NDArray[np.float64]:
    """Return samples without structure."""
    rng = np.random.default_rng((seed, n_samples, n_features))
    normal = rng.normal(size=(n_samples, n_features))
    if shape == "cube":
        return rng.random((n_samples, n_features))
    if shape == "sphere":
        rng.random((n_samples, n_features))  # so that the noise is the same as when all shapes are drawn
        return normal / np.linalg.norm(normal, axis=1, keepdims=True) + 0.1 * rng.normal(size=normal.shape)
    return np.exp(0.7 * normal) if shape == "skewed" else normal


def make_curve(shape: str, n_samples: int, seed: int) -> NDArray[np.float64]:
    """Return one thin curve, with little, some or more noise."""
    rng = np.random.default_rng((seed, n_samples))
    X = np.column_stack(CURVES[shape](rng.random(n_samples)))
    return X + (0.03, 0.05, 0.08)[seed] * rng.normal(size=X.shape)


def table() -> str:
    """Return the share of sets that are left whole, by kind."""
    lines = read_lines(RESULTS)
    rows = []
    for kind in dict.fromkeys(line["kind"] for line in lines):
        numbers = np.array([line["clusters"] for line in lines if line["kind"] == kind])
        rows.append([kind, str(len(numbers)), f"{np.mean(numbers == 1):.0%}", str(numbers.max())])
    return markdown(["sets of one cluster", "sets", "left whole", "most clusters"], rows)
