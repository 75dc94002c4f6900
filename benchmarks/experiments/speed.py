"""Measure wall and CPU seconds and peak memory against peers: ``python -m benchmarks speed [--only sweep=cases]``.

Every fit runs in a process of its own, after a small fit that compiles, and the best run counts. All methods may use
every core. "search k" is the neighbour search alone for k neighbours. The sweeps vary the samples (n), the features (d)
or the neighbours (k). "paper n", "paper d" and "paper k" are those of the paper's figure: two Gaussians of equal size.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.methods import METHODS, Method, compile_search, keep_installed
from benchmarks.reporting.tables import markdown
from benchmarks.runner import FOLDER, Line, Task, read_lines, run_in_process, time_call
from benchmarks.suite.datasets import load_set
from gitcluster import find_neighbors, scale_features

FIELDS = ("method", "shape", "run")
CASES = {
    "100k x 3, k=20": (100_000, 3, 20),
    "100k x 10, k=20": (100_000, 10, 20),
    "20k x 128, k=20": (20_000, 128, 20),
    "60k x 784 (MNIST), k=40": (60_000, 784, 40),
    "200k x 64, k=30": (200_000, 64, 30),
    "500k x 3, k=30": (500_000, 3, 30),
    "1M x 10, k=20": (1_000_000, 10, 20),
    "1M x 100, k=20": (1_000_000, 100, 20),
    "1M x 100 embeddings, k=20": (1_000_000, 100, 20, 300),
}
SWEEPS = {
    "n": [(n, 10, 20) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "d": [(50_000, d, 20) for d in (2, 4, 8, 16, 32, 64)],
    "k": [(100_000, 10, k) for k in (5, 10, 20, 40, 80)],
    "paper n": [(n, 10, 50, 2) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "paper d": [(10_000, d, 50, 2) for d in (10, 30, 100, 300, 1000)],
    "paper k": [(10_000, 10, k, 2) for k in (10, 20, 40, 60, 80, 100)],
}
"""Samples, features, neighbours, and the number of Gaussians if it is not ``CENTRES``."""
ALL = ("GIT k", "GIT", "search k", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan")
OF_PAPER = ("GIT paper k", "GIT authors k", "search k")
SWEPT = {"n": ALL, "d": ALL, "k": ("GIT k", "search k")} | {sweep: OF_PAPER for sweep in SWEEPS if " " in sweep}
CENTRES, TOPICS = 30, 300
SECONDS = 600
SHORT_CASES = ("100k x 3, k=20", "100k x 10, k=20", "20k x 128, k=20", "60k x 784 (MNIST), k=40")
SHORT_METHODS = ("GIT", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan")
Shape = tuple[int, ...]
Sweep = list[tuple[int, float]]


def search_only(X: NDArray[Any], _: None, *, n_neighbors: int) -> Any:
    """Run the search of GIT alone."""
    return find_neighbors(scale_features(X), n_neighbors=n_neighbors, n_jobs=-1).indices[:, 0]


SEARCH = Method(search_only, "nothing", "gitcluster")
CHOSEN = {
    "GIT k": METHODS["GIT"].using(n_jobs=-1, n_neighbors="k"),
    "GIT": METHODS["GIT"].using(n_jobs=-1),
    "GIT paper k": METHODS["GIT"].using(n_jobs=-1, n_neighbors="k", variant="paper"),
    "GIT authors k": METHODS["GIT"].using(n_jobs=-1, n_neighbors="k", variant="authors"),
    "search k": SEARCH.using(n_neighbors="k"),
    "k-means": METHODS["k-means"].using(n_init=1),
    "genieclust": METHODS["Genie"],
    "fast_hdbscan": METHODS["fast_hdbscan"],
    "EVoC": METHODS["EVoC"],
    "hdbscan": METHODS["hdbscan"].using(tree=False),
}
"""The methods by their names in the result file; "k" as number of neighbours is that of the case."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--repeat", type=int, default=1, help="runs of every fit", metavar="N")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every case and method, in turns; ``--quick`` uses at most 1,000 samples of the first two cases."""
    methods = keep_installed(CHOSEN)
    shapes = [("cases", shape, list(CHOSEN)) for shape in CASES.values()]
    shapes += [(sweep, shape, list(SWEPT[sweep])) for sweep in SWEEPS for shape in SWEEPS[sweep]]
    for sweep, full, names in shapes[:2] if options.quick else shapes:
        shape = (min(full[0], 1000), *full[1:]) if options.quick else full
        for run in range(options.repeat):
            for name in names:
                if name in methods:
                    task = {"sweep": sweep, "method": name, "shape": shape, "run": run, "cores": os.cpu_count()}
                    yield task, partial(run_in_process, measure, name, shape, seconds=SECONDS, gigabytes=24)


def make_case(n_samples: int, n_features: int, centres: int = CENTRES) -> NDArray[Any]:
    """Return blobs; the case of 784 features is MNIST, that of 300 centres embeddings."""
    if n_features == 784:
        return load_set("mnist")[0][:n_samples]
    if centres == TOPICS:
        return make_embeddings(n_samples, n_features, centres)
    return make_blobs(n_samples, n_features, centers=centres, cluster_std=2.0, random_state=2021)[0]


def make_embeddings(n_samples: int, n_features: int, n_topics: int = 300) -> NDArray[np.float32]:
    """Return samples like embeddings of texts: rows of length 1, topics of many sizes, each along a few directions."""
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


def measure(name: str, shape: Shape) -> Line:
    """Return the seconds of one fit after one that compiles, and the peak memory."""
    n_samples, n_features, k, *more = shape
    X, sizes = make_case(n_samples, n_features, *more), np.ones(more[0] if more else CENTRES)
    method = CHOSEN[name]
    if "n_neighbors" in method.options:
        method = method.using(n_neighbors=k)
    small = np.ascontiguousarray(X[:: max(1, len(X) // 3000)])
    method.fit(small, sizes)
    if name.startswith(("GIT", "search")):
        compile_search(X)
    _, wall, cpu = time_call(lambda: method.fit(X, sizes))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = {"seconds": round(wall, 3), "cpu": round(cpu, 3)}
    return seconds | {"peak MB": round(peak / 1000), "X MB": round(X.nbytes / 1e6)}


@cache
def read_best(measure: str = "seconds") -> dict[tuple[str, Shape], Line]:
    """Return the best run of every method and shape; one without a stored command only if there is no other."""

    def rank(line: Line) -> tuple[bool, bool, float]:
        return measure not in line, is_old(line), line.get(measure, np.inf)

    best: dict[tuple[str, Shape], Line] = {}
    for line in read_lines(FOLDER / "speed.jsonl"):
        key = line["method"], tuple(line["shape"])
        if key not in best or rank(line) < rank(best[key]):
            best[key] = line
    return best


def is_old(line: Line) -> bool:
    """Return whether a run has no stored command and versions; tables mark these with a star."""
    return "command" not in line


def table() -> str:
    """Return the best wall seconds and the peak memory of each case and method."""
    best = read_best()
    methods = [m for m in CHOSEN if any((m, shape) in best for shape in CASES.values())]
    rows = [[m, *(_cell(best.get((m, shape))) for shape in CASES.values())] for m in methods]
    return markdown(["seconds (peak GB)", *CASES], rows)


def short_table() -> str:
    """Return the best wall seconds of GIT and its peers on four cases that all of them ran."""
    best, rows = read_best(), []
    for method in SHORT_METHODS:
        cells = [_cell(best.get((method, CASES[case]))) for case in SHORT_CASES]
        rows.append([method, *(re.sub(r" \(.*\)", "", cell) for cell in cells)])
    return markdown(["seconds", *(case.split(",")[0] for case in SHORT_CASES)], rows)


def _cell(line: Line | None) -> str:
    if line is None:
        return ""
    star = "*" * is_old(line)
    if "error" in line:
        return (line["error"] if line["error"].startswith(">") else "fails") + star
    return f"{line['seconds']:.1f} ({line['peak MB'] / 1000:.1f}){star}"


def read_sweeps(measure: str = "seconds") -> dict[tuple[str, str], Sweep]:
    """Return size and seconds along every sweep of every method that finished more than one case."""
    best, sweeps = read_best(measure), {}
    for sweep, shapes in SWEEPS.items():
        axis = "ndk".index(sweep[-1])
        for method in SWEPT[sweep]:
            lines = [best.get((method, shape), {}) for shape in shapes]
            points = [(line["shape"][axis], line[measure]) for line in lines if measure in line]
            if len(points) > 1:
                sweeps[sweep, method] = points
    return sweeps


def sweep_table() -> str:
    """Return the seconds along the sweeps and the fitted exponents."""
    rows = []
    for (sweep, method), points in read_sweeps().items():
        if sweep in "ndk":
            axis = "ndk".index(sweep)
            old = {shape[axis] for shape in SWEEPS[sweep] if is_old(read_best().get((method, shape), {}))}
            seconds = ", ".join(f"{size:,}: {value:.1f}{'*' * (size in old)}" for size, value in points)
            rows.append([sweep, method, seconds, f"{exponent(points):.2f}"])
    return markdown(["sweep", "method", "seconds", "exponent"], rows)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of log seconds over log size."""
    sizes, seconds = np.log(np.array(points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


TABLES = {
    "speed": table,
    "speed_short": short_table,
    "speed_sweep": sweep_table,
}
