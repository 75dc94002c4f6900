"""Which search is the fastest, and what an approximate one changes: ``python -m benchmarks search [--labels]``.

Seconds of the exact search in cells, by all pairs, by scipy's k-d tree, and of neighbour descent, for the same 40
neighbours of blobs and of uniform noise, with the CPU seconds that the rule of ``neighbors="auto"`` expects. With
``--labels``: the labels of an approximate fit beside those of an exact one, on stored sets of more than 5,000 samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, read_lines, record, time_call
from benchmarks.suite.datasets import load_set
from gitcluster import GIT

RESULTS = FOLDER / "search.jsonl"
LABELS = FOLDER / "approximate.jsonl"
SHAPES = [(n, d) for n in (20_000, 60_000) for d in (3, 6, 10, 15, 25, 64)]
K = 40
LARGE_SETS = ("frogs", "codon", "skin", "kdd99_10pct", "mnist", "fmnist")


def main(arguments: Sequence[str]) -> None:
    """Time the searches, or compare labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__)
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--sets", default=list(LARGE_SETS), **NAMES)
    options = parser.parse_args(arguments)
    if options.labels:
        for name in options.sets:
            record(LABELS, compare_labels(name))
        return
    for kind in ("blobs", "uniform"):
        time_searches(kind, 3000, 5)  # compiles
        for shape in SHAPES:
            record(RESULTS, time_searches(kind, *shape))


def time_searches(kind: str, n_samples: int, n_features: int) -> Line:
    """Wall seconds of every search on two threads, and the CPU seconds expected."""
    from gitcluster.neighbors import (
        approximate,
        exact,
        plan,
    )  # internals: each is timed apart from the choice between them
    from gitcluster.neighbors.cells import gather_cells, nearest_in_cells, sample_pairs

    X = np.random.default_rng(0).random((n_samples, n_features))
    if kind == "blobs":
        X = make_blobs(n_samples, n_features, centers=30, cluster_std=2.0, random_state=2021)[0]
    X /= X.std(axis=0)
    found = exact.empty_neighbors(n_samples, K, X.dtype)
    pairs = sample_pairs(gather_cells(X), found)

    def in_cells() -> None:
        cells = gather_cells(X, n_jobs=2)
        nearest_in_cells(cells, cells, found, n_jobs=2)

    ways: dict[str, Callable[[], Any]] = {
        "cells": in_cells,
        "all pairs": lambda: exact.certain_search(X, K, "euclidean", 2),
        "neighbour descent": lambda: approximate.approximate_search(X, K, "euclidean", 2),
    }
    if n_features <= 10:
        ways["k-d tree"] = lambda: KDTree(X).query(X, K + 1, workers=2)
    seconds = {name: round(time_call(way)[1], 2) for name, way in ways.items()}
    expected = {
        "cells": plan.cell_seconds(n_samples, n_features, pairs),
        "all pairs": plan.all_pairs_seconds(n_samples, n_features),
        "neighbour descent": approximate.approximate_seconds(n_samples, n_features),
    }
    return {
        "kind": kind, "n": n_samples, "d": n_features, "share of pairs": round(pairs / n_samples, 4),
        "seconds": seconds, "expected cpu": {name: round(value, 1) for name, value in expected.items()},
    }  # fmt: skip


def compare_labels(name: str) -> Line:
    """Adjusted Rand index between the labels of an approximate and an exact fit."""
    X, y = load_set(name)
    X, number = X.astype(np.float32), len(np.unique(y))
    fits, seconds = {}, {}
    for how in ("exact", "approximate"):
        model = GIT(number, neighbors=how, n_jobs=-1)
        fits[how], passed = time_call(lambda model=model: model.fit(X))
        seconds[how] = round(passed, 1)
    ari = adjusted_rand_score(fits["exact"].labels_, fits["approximate"].labels_)
    return {
        "set": name, "n": len(X), "d": X.shape[1], "clusters": number, "ari": round(ari, 4),
        "recall": round(fits["approximate"].neighbors_recall_, 4), "seconds": seconds,
        "n_neighbors": [fits[how].n_neighbors_ for how in fits],
    }  # fmt: skip


def table() -> str:
    """Markdown: seconds of the searches."""
    lines = [line for line in read_lines(RESULTS) if line["n"] > 3000]
    ways = ["cells", "all pairs", "k-d tree", "neighbour descent"]
    rows = [
        [
            line["kind"], f"{line['n']:,} x {line['d']}", f"{line['share of pairs']:.1%}",
            *(f"{line['seconds'][w]:.1f}" if w in line["seconds"] else "" for w in ways),
        ]
        for line in lines
    ]  # fmt: skip
    return markdown(["data", "shape", "pairs compared in cells", *(f"{w}, s" for w in ways)], rows)


def label_table() -> str:
    """Markdown: approximate beside exact."""
    best = {line["set"]: line for line in read_lines(LABELS)}
    rows = [
        [
            line["set"], f"{line['n']:,} x {line['d']}", f"{line['ari']:.3f}", f"{line['recall']:.4f}",
            f"{line['seconds']['exact']:.0f}", f"{line['seconds']['approximate']:.0f}",
        ]
        for line in best.values()
    ]  # fmt: skip
    return markdown(["set", "shape", "ARI approximate / exact", "recall", "exact, s", "approximate, s"], rows)
