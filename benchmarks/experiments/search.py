"""Which search is the fastest, what an approximate one changes: ``python -m benchmarks search [--labels | --bounds]``.

Seconds of the exact search in cells, by all pairs, by scipy's k-d tree, and of neighbour descent, for the same 40
neighbours of blobs and of uniform noise, with the CPU seconds that the rule of ``search="auto"`` expects. With
``--labels``: the labels of an approximate fit beside those of an exact one, on stored sets of more than 5,000 samples.
With ``--bounds``: the exact search by lower bounds and neighbour descent in turns, on images, wall and CPU seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, read_lines, record, time_call
from benchmarks.suite.datasets import load_set
from gitcluster import GIT, scale_features

RESULTS = FOLDER / "search.jsonl"
LABELS = FOLDER / "approximate.jsonl"
BOUNDS = FOLDER / "bounds.jsonl"
SHAPES = [(n, d) for n in (20_000, 60_000) for d in (3, 6, 10, 15, 25, 64)]
K = 40
IMAGES = [("mnist", False, 40), ("mnist", True, 80), ("fmnist", True, 80), ("fmnist", False, 40)]
"""Sets, whether features are scaled, and neighbours."""
LARGE_SETS = ("frogs", "codon", "skin", "kdd99_10pct", "mnist", "fmnist")


def main(arguments: Sequence[str]) -> None:
    """Time the searches, or compare labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__)
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--sets", default=list(LARGE_SETS), **NAMES)
    options = parser.parse_args(arguments)
    if options.labels:
        for name in options.sets:
            record(LABELS, compare_labels(name))
        return
    if options.bounds:
        for name, scaled, k in IMAGES:
            if name in options.sets:
                record(BOUNDS, time_bounds(name, scaled, k, options.repeat))
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


def time_bounds(name: str, scaled: bool, k: int, repeat: int) -> Line:
    """Wall and CPU seconds of the search by lower bounds and of neighbour descent, in turns; the best counts."""
    from gitcluster.neighbors import approximate, plan

    X = scale_features(load_set(name)[0]) if scaled else load_set(name)[0]
    recall: list[float] = []

    def by_bounds(points: Any) -> None:
        plan.plan_bounds(points, k, 2).search()

    def by_descent(points: Any) -> None:
        recall.append(approximate.approximate_search(points, k, "euclidean", 2)[2])

    seconds: dict[str, list[tuple[float, float]]] = {"bounds": [], "neighbour descent": []}
    ways = dict(zip(seconds, (by_bounds, by_descent), strict=True))
    for way in ways.values():
        way(np.ascontiguousarray(X[::20]))  # compiles
    for _ in range(repeat):
        for method, way in ways.items():
            cpu = process_time()
            wall = time_call(lambda way=way: way(X))[1]
            seconds[method].append((round(wall, 1), round(process_time() - cpu, 1)))
    best = {method: [min(column) for column in zip(*runs, strict=True)] for method, runs in seconds.items()}
    expected = round(plan.plan_bounds(X, k, 2).seconds, 1)
    return {
        "set": name, "scaled": scaled, "n": len(X), "d": X.shape[1], "k": k, "wall and cpu": best,
        "expected cpu": expected, "recall of descent": round(recall[-1], 4),
    }  # fmt: skip


def compare_labels(name: str) -> Line:
    """Adjusted Rand index between the labels of an approximate and an exact fit."""
    X, y = load_set(name)
    X, number = X.astype(np.float32), len(np.unique(y))
    fits, seconds = {}, {}
    for how in ("exact", "approximate"):
        model = GIT(number, search=how, n_jobs=-1)
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


def bound_table() -> str:
    """Markdown: the search by lower bounds beside neighbour descent, on images."""
    rows = [
        [
            f"{line['set']}, {'scaled' if line['scaled'] else 'as it is'}", f"{line['n']:,} x {line['d']}",
            str(line["k"]),
            *(f"{value:.0f}" for pair in line["wall and cpu"].values() for value in pair),
            f"{line['expected cpu']:.0f}", f"{line['recall of descent']:.4f}",
        ]
        for line in {(line["set"], line["scaled"], line["k"]): line for line in read_lines(BOUNDS)}.values()
    ]  # fmt: skip
    header = [
        "set", "shape", "k", "bounds, s", "CPU s", "neighbour descent, s", "CPU s", "CPU s expected of bounds",
        "recall of descent",
    ]  # fmt: skip
    return markdown(header, rows)


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
