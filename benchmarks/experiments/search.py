"""Which search is the fastest, what an approximate one changes: ``python -m benchmarks search [--descent | ...]``.

Seconds of the exact search in cells, by all pairs, by scipy's k-d tree, and of neighbour descent, for the same 40
neighbours of blobs and of uniform noise, with the CPU seconds that the rule of ``search="auto"`` expects. With
``--labels``: the labels of an approximate fit beside those of an exact one, on stored sets of more than 5,000 samples.
With ``--bounds``: the exact search by lower bounds and neighbour descent in turns, on images, wall and CPU seconds.
With ``--descent``: neighbour descent and that of the package pynndescent in turns, on large sets.
With ``--same``: whether neighbour descent finds the same with 1, 2 and 4 threads and in other orders of the rows; with
``--same --labels``: whether a fit with its default search gives the same labels.
"""

from __future__ import annotations

import argparse
import resource
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
DESCENT = FOLDER / "descent.jsonl"
SAME = FOLDER / "same_neighbors.jsonl"
SAME_LABELS = FOLDER / "same_labels.jsonl"
SHAPES = [(n, d) for n in (20_000, 60_000) for d in (3, 6, 10, 15, 25, 64)]
K = 40
IMAGES = [("mnist", False, 40), ("mnist", True, 80), ("fmnist", True, 80), ("fmnist", False, 40)]
"""Sets, whether features are scaled, and neighbours."""
CASES = {
    "mnist": lambda: load_set("mnist")[0].astype(np.float32),
    "mnist scaled": lambda: scale_features(load_set("mnist")[0].astype(np.float32)),
    "fmnist": lambda: load_set("fmnist")[0].astype(np.float32),
    "fmnist scaled": lambda: scale_features(load_set("fmnist")[0].astype(np.float32)),
    "20k x 128 blobs": lambda: make_blobs(20_000, 128, centers=30, cluster_std=2.0, random_state=2021)[0],
    "200k x 64 blobs": lambda: make_blobs(200_000, 64, centers=30, cluster_std=2.0, random_state=2021)[0],
    "200k x 200 embeddings": lambda: make_embeddings(200_000, 200),
    "300k x 100 embeddings": lambda: make_embeddings(300_000, 100),
    "1M x 100 embeddings": lambda: make_embeddings(1_000_000, 100),
}
"""Large sets, for neighbour descent."""
LARGE_SETS = ("frogs", "codon", "skin", "kdd99_10pct", "mnist", "fmnist")


def main(arguments: Sequence[str]) -> None:
    """Time the searches, or compare labels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__)
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--descent", action="store_true")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--cases", default=list(CASES), **NAMES)
    parser.add_argument("--alone", action="store_true", help="with --descent: without pynndescent")
    parser.add_argument("--neighbors", type=int, default=K)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--orders", type=int, default=10, help="with --same: orders of the rows")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--sets", default=list(LARGE_SETS), **NAMES)
    options = parser.parse_args(arguments)
    if options.labels and not options.same:
        for name in options.sets:
            record(LABELS, compare_labels(name))
        return
    for case in options.cases:
        if options.descent:
            record(DESCENT, time_descent(case, options.neighbors, options.jobs, options.repeat, options.alone))
        if options.same and options.labels:
            record(SAME_LABELS, compare_fits(case, options.orders))
        elif options.same:
            record(SAME, compare_neighbors(case, options.neighbors, options.orders))
    if options.descent or options.same:
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
    # Internals: each index is timed separately from the choice between them.
    from gitcluster.neighbors.cells import CellIndex, cell_seconds
    from gitcluster.neighbors.descent import DescentIndex, descent_seconds
    from gitcluster.neighbors.index import SklearnIndex, all_pairs_seconds

    X = np.random.default_rng(0).random((n_samples, n_features))
    if kind == "blobs":
        X = make_blobs(n_samples, n_features, centers=30, cluster_std=2.0, random_state=2021)[0]
    X /= X.std(axis=0)
    pairs = CellIndex(X, K).count_pairs()
    ways: dict[str, Callable[[], Any]] = {
        "cells": lambda: CellIndex(X, K, n_jobs=2).search(),
        "all pairs": lambda: SklearnIndex(X, K, n_jobs=2).search(),
        "neighbour descent": lambda: DescentIndex(X, K, n_jobs=2).search(),
    }
    if n_features <= 10:
        ways["k-d tree"] = lambda: KDTree(X).query(X, K + 1, workers=2)
    seconds = {name: round(time_call(way)[1], 2) for name, way in ways.items()}
    expected = {
        "cells": cell_seconds(n_samples, n_features, pairs),
        "all pairs": all_pairs_seconds(n_samples, n_features),
        "neighbour descent": descent_seconds(n_samples, n_features, K),
    }
    return {
        "kind": kind, "n": n_samples, "d": n_features, "share of pairs": round(pairs / n_samples, 4),
        "seconds": seconds, "expected cpu": {name: round(value, 1) for name, value in expected.items()},
    }  # fmt: skip


def time_bounds(name: str, scaled: bool, k: int, repeat: int) -> Line:
    """Wall and CPU seconds of the search by lower bounds and of neighbour descent, in turns; the best counts."""
    from gitcluster.neighbors.bounds import BoundIndex, plan_rotated
    from gitcluster.neighbors.descent import DescentIndex

    X = scale_features(load_set(name)[0]) if scaled else load_set(name)[0]
    recall: list[float] = []

    def by_bounds(points: Any) -> None:
        BoundIndex(points, k, plan_rotated(points, k), n_jobs=2).search()

    def by_descent(points: Any) -> None:
        recall.append(DescentIndex(points, k, n_jobs=2).search().recall)

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
    expected = round(plan_rotated(X, k).seconds, 1)
    return {
        "set": name, "scaled": scaled, "n": len(X), "d": X.shape[1], "k": k, "wall and cpu": best,
        "expected cpu": expected, "recall of descent": round(recall[-1], 4),
    }  # fmt: skip


def make_embeddings(n_samples: int, n_features: int, n_topics: int = 300) -> Any:
    """What embeddings of texts are like: rows of length 1, topics of many sizes, each along a few own directions."""
    rng = np.random.default_rng(0)
    spread = np.arange(1, n_features + 1) ** -0.5
    centres = rng.normal(size=(n_topics, n_features)) * spread
    bases = rng.normal(size=(n_topics, 24, n_features)) * spread / np.sqrt(24)
    sizes = np.arange(1, n_topics + 1) ** -0.7
    topics = rng.choice(n_topics, n_samples, p=sizes / sizes.sum())
    X = np.empty((n_samples, n_features), np.float32)
    for topic in range(n_topics):
        rows = np.flatnonzero(topics == topic)
        inner = rng.normal(size=(len(rows), 24)) @ bases[topic] * 0.8
        X[rows] = centres[topic] + inner + rng.normal(size=(len(rows), n_features)) * spread * 0.2
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def time_descent(case: str, k: int, n_jobs: int, repeat: int, alone: bool) -> Line:
    """Wall and CPU seconds and recall of neighbour descent and that of pynndescent, in turns; the best counts."""
    from gitcluster.neighbors.descent import DescentIndex, descent_seconds
    from gitcluster.neighbors.index import SklearnIndex, TrueNeighbors, sample_rows

    X = CASES[case]()
    truth = TrueNeighbors(SklearnIndex(X, n_jobs=n_jobs), sample_rows(len(X)), k)

    def by_package(points: Any) -> Any:
        from pynndescent import NNDescent

        graph = NNDescent(
            points, n_neighbors=k + 20, max_candidates=int(np.clip(2e7 / len(points), 20, 60)),
            random_state=np.random.RandomState(0), n_jobs=n_jobs,
        )  # fmt: skip
        indices, distances = graph.neighbor_graph
        other = indices != np.arange(len(points))[:, None]
        other[other.all(axis=1), -1] = False
        return [part[other].reshape(len(points), -1)[:, :k] for part in (indices, distances)]

    ways = {"descent": lambda points: DescentIndex(points, k, n_jobs=n_jobs).search()[:2]}
    ways |= {} if alone else {"pynndescent": by_package}
    runs: dict[str, list[list[float]]] = {way: [] for way in ways}
    memory: dict[str, int] = {}
    for way in ways.values():
        way(np.ascontiguousarray(X[::20][:10_000]))  # compiles
    before = peak_megabytes()
    for _ in range(repeat):
        for name, way in ways.items():
            cpu = process_time()
            found, wall = time_call(lambda way=way: way(X))
            runs[name].append([round(wall, 1), round(process_time() - cpu, 1)])
            share = np.mean([np.isin(*pair).mean() for pair in zip(found[0][truth.rows], truth.near, strict=True)])
            runs[name][-1].append(round(float(share), 4))
            memory.setdefault(name, peak_megabytes() - before)
    best = {name: min(some, key=lambda run: run[1]) for name, some in runs.items()}
    return {
        "case": case, "n": len(X), "d": X.shape[1], "k": k, "n_jobs": n_jobs, "dtype": str(X.dtype),
        "wall, cpu, recall": best, "expected cpu": round(descent_seconds(*X.shape, k), 1),
        "more megabytes": memory["descent"], "formula less X": round((12 * len(X) * k + 2 * X.nbytes) / 2**20),
    }  # fmt: skip


def peak_megabytes() -> int:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def compare_neighbors(case: str, k: int, n_orders: int) -> Line:
    """Whether neighbour descent finds the same with other numbers of threads and in other orders of the rows, but for
    the order of equally far ones."""
    from gitcluster.neighbors.descent import DescentIndex

    X = CASES[case]()
    one = DescentIndex(X, k, n_jobs=1).search()
    threads = {
        n_jobs: all(
            np.array_equal(*parts) for parts in zip(DescentIndex(X, k, n_jobs=n_jobs).search(), one, strict=True)
        )
        for n_jobs in (2, 4)
    }
    same = []
    for seed in range(n_orders):
        order = np.random.default_rng(seed).permutation(len(X))
        indices, distances, _ = DescentIndex(X[order], k, n_jobs=2).search()
        gaps = np.diff(distances, axis=1, prepend=-1, append=distances[:, -1:])
        tied = (gaps[:, :-1] == 0) | (gaps[:, 1:] == 0)  # equally far ones are in the order of their rows
        others = order[indices] != one[0][order]
        same.append(bool((distances == one[1][order]).all() and not (others & ~tied).any()))
    return {
        "case": case, "n": len(X), "d": X.shape[1], "k": k, "recall": round(one[2], 4),
        "threads": threads, "orders": n_orders, "same orders": sum(same),
    }  # fmt: skip


def compare_fits(case: str, n_orders: int) -> Line:
    """Whether fits into ten clusters give the same labels with other numbers of threads and in other orders of the
    rows."""
    X = CASES[case]()
    one = GIT(10, n_jobs=1).fit(X)
    threads = {n_jobs: bool((GIT(10, n_jobs=n_jobs).fit_predict(X) == one.labels_).all()) for n_jobs in (2, 4)}
    same = []
    for seed in range(n_orders):
        order = np.random.default_rng(seed).permutation(len(X))
        same.append(bool((GIT(10, n_jobs=2).fit_predict(X[order]) == one.labels_[order]).all()))
    return {
        "case": case, "n": len(X), "d": X.shape[1], "recall": round(one.neighbors_recall_, 4),
        "threads": threads, "orders": n_orders, "same orders": sum(same),
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


def descent_table() -> str:
    """Markdown: neighbour descent beside that of pynndescent."""
    rows = [
        [
            line["case"], f"{line['n']:,} x {line['d']}", str(line["k"]), str(line["n_jobs"]),
            *_times(line, "descent"), *_times(line, "pynndescent"),
            f"{line['more megabytes']:,}", f"{line['formula less X']:,}",
        ]
        for line in {(line["case"], line["k"], line["n_jobs"]): line for line in read_lines(DESCENT)}.values()
    ]  # fmt: skip
    ways = ("descent", "pynndescent")
    header = [
        "set",
        "shape",
        "k",
        "threads",
        *(f"{way}{what}" for way in ways for what in (", s", ", CPU s", ", recall")),
    ]
    return markdown([*header, "memory, MB", "12 n k + 2 X, MB"], rows)


def _times(line: Line, way: str) -> list[str]:
    if way not in line["wall, cpu, recall"]:
        return ["", "", ""]
    wall, cpu, recall = line["wall, cpu, recall"][way]
    return [f"{wall:.0f}", f"{cpu:.0f}", f"{recall:.4f}"]


def same_table() -> str:
    """Markdown: threads and orders of rows that find the same neighbours."""
    lines = {line["case"]: line for line in read_lines(SAME)}.values()
    rows = [[*row[:2], str(line["k"]), *row[2:]] for line, row in zip(lines, map(_same_row, lines), strict=True)]
    return markdown(["set", "shape", "k", "recall", "same with 1, 2, 4 threads", "same orders of rows"], rows)


def same_label_table() -> str:
    """Markdown: threads and orders of rows that give the same labels."""
    rows = [_same_row(line) for line in {line["case"]: line for line in read_lines(SAME_LABELS)}.values()]
    return markdown(["set", "shape", "recall", "same with 1, 2, 4 threads", "same orders of rows"], rows)


def _same_row(line: Line) -> list[str]:
    threads, orders = all(line["threads"].values()), f"{line['same orders']} of {line['orders']}"
    return [
        line["case"], f"{line['n']:,} x {line['d']}", f"{line['recall']:.4f}", "yes" if threads else "no", orders
    ]  # fmt: skip
