"""Wall and CPU seconds and peak memory against peers: ``python -m benchmarks speed [--cases a,b] [--methods a,b]``.

Every fit runs in a process of its own, after a small fit that compiles, and is ended after ``--timeout`` seconds. One
line a run goes to ``results/speed.jsonl``; the best run counts. All methods may use every core. ``search k`` is the
neighbour search alone for k neighbours, ``search 2k`` for the 2 k that the default variant looks at.

``--sweep n|d|k`` runs the cases of a sweep, "paper n", "paper d" and "paper k" those of the paper's figure: two
Gaussians of one size. ``--repeat`` goes round all methods that often; what took over a minute is not repeated.
``--compile`` measures a first fit with and without compiled code on disk, ``--quick`` runs 1,000 samples or fewer and
stores nothing, ``--table`` prints the stored results.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.experiments.search import make_embeddings
from benchmarks.methods import METHODS, compile_descent, keep_installed, tell
from benchmarks.reporting.published import PUBLISHED_SPEED
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, describe_run, read_lines, record
from benchmarks.suite.datasets import load_set
from gitcluster import find_neighbors, scale_features

RESULTS = FOLDER / "speed.jsonl"
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
"""Samples, features, neighbours; and Gaussians, where they are not ``CENTRES``."""
ALL = ("GIT k", "GIT", "search k", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan", "sklearn HDBSCAN")
OF_PAPER = ("GIT paper k", "GIT authors k", "search k")
SWEPT = {"n": ALL, "d": ALL, "k": ("GIT k", "search k")} | {sweep: OF_PAPER for sweep in SWEEPS if " " in sweep}
CENTRES, TOPICS = 30, 300
LONG = 60.0
QUICK_SAMPLES = 1000


def make_case(n_samples: int, n_features: int, centres: int = CENTRES) -> NDArray[Any]:
    """Thirty blobs, or as many as are asked for; the case of 784 features is MNIST, that of 300 clusters embeddings."""
    if n_features == 784:
        return load_set("mnist")[0][:n_samples]
    if centres == TOPICS:
        return make_embeddings(n_samples, n_features, centres)
    return make_blobs(n_samples, n_features, centers=centres, cluster_std=2.0, random_state=2021)[0]


def search_only(_: Any, X: NDArray[Any], __: None, *, n_neighbors: int) -> None:
    """The search that GIT would use."""
    find_neighbors(scale_features(X), n_neighbors=n_neighbors, n_jobs=-1)


SEARCH = METHODS["GIT nothing"]._replace(run=search_only)
CHOSEN = {
    "GIT k": METHODS["GIT"].given(n_jobs=-1, n_neighbors="k"),
    "GIT": METHODS["GIT"].given(n_jobs=-1),
    "GIT nothing": METHODS["GIT nothing"].given(n_jobs=-1),
    "GIT paper k": METHODS["GIT"].given(n_jobs=-1, n_neighbors="k", variant="paper"),
    "GIT authors k": METHODS["GIT"].given(n_jobs=-1, n_neighbors="k", variant="authors"),
    "search k": SEARCH.given(n_neighbors="k"),
    "search 2k": SEARCH.given(n_neighbors="2k"),
    "k-means": METHODS["k-means"].given(n_init=1),
    "genieclust": METHODS["Genie"],
    "fast_hdbscan": METHODS["fast_hdbscan"],
    "EVoC": METHODS["EVoC"],
    "hdbscan": METHODS["hdbscan"].given(tree=False),
    "sklearn HDBSCAN": METHODS["HDBSCAN"].given(n_jobs=-1),
    "k-means-constrained": METHODS["constrained k-means"].given(n_init=1, slack=0.1),
    "spectral": METHODS["spectral"].given(solver="arpack", n_jobs=-1),
}
"""The methods by the names that the result file has for them; "k" as number of neighbours is that of the case."""


def fit(name: str, X: NDArray[Any], k: int, centres: int = CENTRES) -> None:
    """Fit a method; those that are told something are told that many clusters of one size."""
    method = CHOSEN[name]
    asked = method.options.get("n_neighbors")
    neighbors = {"n_neighbors": {"k": k, "2k": 2 * k}[asked]} if asked else {}
    method.fit(X, tell(method, np.ones(centres)), **neighbors)


def main(arguments: Sequence[str]) -> None:
    """Run cases by methods, or one of them in this process, or show what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    parser.add_argument("--cases", help="beginnings of their names, with | between", default="")
    parser.add_argument("--methods", default=list(CHOSEN), **NAMES)
    parser.add_argument("--sweep", choices=SWEEPS)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--here", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.about = {"cores": os.cpu_count()} | describe_run("speed", arguments)
    if options.here:
        method, *shape = options.here
        print(json.dumps(run_here(method, *map(int, shape))))
    elif options.table:
        print(table())
    elif options.compile:
        for method in options.methods:
            measure_compilation(method, options.about)
    else:
        run_all(options)


def run_all(options: argparse.Namespace) -> None:
    """Every case by every method, each as often as asked; a case that did not finish is not tried again."""
    cases = [shape for name, shape in CASES.items() if name.startswith(tuple(options.cases.split("|")))]
    methods = list(keep_installed(CHOSEN, options.methods))
    if options.sweep:
        cases, methods = SWEEPS[options.sweep], [m for m in SWEPT[options.sweep] if m in methods]
    if options.quick:
        cases = list(dict.fromkeys((min(shape[0], QUICK_SAMPLES), *shape[1:]) for shape in cases))
    for shape in cases:
        done: set[str] = set()
        for _ in range(options.repeat):
            for method in methods:
                if method not in done:
                    line = {"method": method, "shape": shape} | run_apart(method, shape, options.timeout)
                    show(line) if options.quick else record(RESULTS, line | options.about)
                    if line.get("seconds", np.inf) > LONG:
                        done.add(method)
                    if options.sweep and "error" in line:
                        methods = [m for m in methods if m != method]


def show(line: Line) -> None:
    """Print a result that is not stored."""
    print(json.dumps(line), file=sys.stderr)


def run_apart(method: str, shape: Sequence[int], timeout: int, **environment: str) -> Line:
    """Run one fit in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "speed", "--here", method, *map(str, shape)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            printed, complaint = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
            return {"error": f"> {timeout} s"}
    if process.returncode:
        return {"error": (complaint.strip().splitlines() or [f"exit {process.returncode}"])[-1][:200]}
    return dict(json.loads(printed.strip().splitlines()[-1]))


def run_here(method: str, n_samples: int, n_features: int, k: int, centres: int = CENTRES) -> Line:
    """Seconds of one fit after one that compiles, and the peak memory."""
    X = make_case(n_samples, n_features, centres)
    small = np.ascontiguousarray(X[:: max(1, len(X) // 3000)])
    start = perf_counter()
    fit(method, small, k, centres)
    first = perf_counter() - start
    if method.startswith(("GIT", "search")):
        compile_descent(X)
    start, cpu = perf_counter(), process_time()
    fit(method, X, k, centres)
    return {
        "seconds": round(perf_counter() - start, 3),
        "cpu": round(process_time() - cpu, 3),
        "first small fit": round(first, 3),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        "X MB": round(X.nbytes / 1e6),
    }


def measure_compilation(method: str, about: Line) -> None:
    """A first fit of 3,000 x 10 with no compiled code on disk, and the next process, which finds it there."""
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("no", "yes"):
            done = run_apart(method, (3000, 10, 20), 600, NUMBA_CACHE_DIR=folder)
            record(RESULTS, {"method": method, "shape": (3000, 10, 20), "cache": cache} | done | about)


def read_best(measure: str = "seconds") -> dict[tuple[str, tuple[int, ...]], Line]:
    """The best run of every method and shape; one whose command was not kept counts where there is no other."""

    def rank(line: Line) -> tuple[bool, bool, float]:
        return measure not in line, is_old(line), line.get(measure, np.inf)

    best: dict[tuple[str, tuple[int, ...]], Line] = {}
    for line in read_lines(RESULTS):
        key = line["method"], tuple(line["shape"])
        if "cache" not in line and (key not in best or rank(line) < rank(best[key])):
            best[key] = line
    return best


SHORT_CASES = ("100k x 3, k=20", "100k x 10, k=20", "20k x 128, k=20", "60k x 784 (MNIST), k=40")
SHORT_METHODS = ("GIT", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan")


def is_old(line: Line) -> bool:
    """Whether a run is from before commands and versions were stored; tables mark these with a star."""
    return "command" not in line


def table() -> str:
    """Markdown: best wall seconds and peak memory of each case and method."""
    best = read_best()
    methods = [m for m in CHOSEN if any((m, shape) in best for shape in CASES.values())]
    rows = [[m, *(_cell(best.get((m, shape))) for shape in CASES.values())] for m in methods]
    return markdown(["seconds (peak GB)", *CASES], rows)


def short_table() -> str:
    """Return Markdown: best wall seconds of GIT and its peers on four cases that all of them ran."""
    best = read_best()
    cases = {case: CASES[case] for case in SHORT_CASES}
    rows = [
        [method, *(_cell(best.get((method, shape))).split(" (")[0].rstrip("*") for shape in cases.values())]
        for method in SHORT_METHODS
    ]
    return markdown(["seconds", *(case.split(",")[0] for case in cases)], rows)


def _cell(line: Line | None) -> str:
    if line is None:
        return ""
    star = "*" * is_old(line)
    if "error" in line:
        return (line["error"] if line["error"].startswith(">") else "fails") + star
    return f"{line['seconds']:.1f} ({line['peak MB'] / 1000:.1f}){star}"


def ratio_table() -> str:
    """Markdown: a fit beside the search alone, and the peak memory beside the formula."""
    best, rows = read_best(), []
    for case, shape in CASES.items():
        runs = {m: best.get((m, shape), {}) for m in ("GIT k", "GIT", "GIT paper k", "search k", "search 2k")}
        seconds = {m: run.get("seconds", np.nan) for m, run in runs.items()}
        limit = (12 * shape[0] * 2 * shape[2]) / 1e6 + 3 * runs["GIT"].get("X MB", np.nan)
        told = [
            f"{seconds['search 2k']:.1f}",
            f"{seconds['GIT k'] / seconds['search 2k']:.2f}",
            f"{seconds['GIT'] / seconds['search 2k']:.2f}",
            f"{seconds['search k']:.1f}",
            f"{seconds['GIT paper k'] / seconds['search k']:.2f}",
            f"{runs['GIT'].get('peak MB', np.nan):.0f}",
            f"{limit:.0f}",
        ]
        rows.append([case, *("" if value == "nan" else value for value in told)])
    header = [
        "case", "search 2k, s", "GIT k / search 2k", "GIT auto / search 2k", "search k, s",
        "paper variant k / search k", "peak MB", "12 n 2k + 3 X, MB",
    ]  # fmt: skip
    return markdown(header, rows)


def sweep_table() -> str:
    """Markdown: seconds along the sweeps and the fitted exponents."""
    rows = [
        [sweep, method, *_along(found, old_sizes(sweep, method), 1)]
        for (sweep, method), found in read_sweeps().items()
        if sweep in "ndk"
    ]
    return markdown(["sweep", "method", "seconds", "exponent"], rows)


def paper_table() -> str:
    """Markdown: CPU seconds along the paper's sweeps, the published seconds, and the exponents of both."""
    rows = [
        [sweep[-1], method, *_along(found, old_sizes(sweep, method, "cpu"), 2)]
        for (sweep, method), found in read_sweeps("cpu").items()
        if sweep not in "ndk"
    ]
    rows += [[sweep, "published", *_along(list(found.items()), set(), 2)] for sweep, found in PUBLISHED_SPEED.items()]
    return markdown(["over", "", "seconds", "exponent"], sorted(rows, key=lambda row: "ndk".index(row[0])))


def _along(found: Sequence[tuple[int, float]], old: set[int], digits: int) -> tuple[str, str]:
    points = [f"{x:,}: {seconds:.{digits}f}{'*' * (x in old)}" for x, seconds in found]
    return ", ".join(points), f"{exponent(found):.2f}"


def old_sizes(sweep: str, method: str, measure: str = "seconds") -> set[int]:
    """Sizes along a sweep of which there are only runs without a command."""
    best, axis = read_best(measure), "ndk".index(sweep[-1])
    return {shape[axis] for shape in SWEEPS[sweep] if is_old(best.get((method, shape), {}))}


def read_sweeps(measure: str = "seconds") -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Size and seconds along every sweep of every method that finished more than one case."""
    best, sweeps = read_best(measure), {}
    for sweep, shapes in SWEEPS.items():
        axis = "ndk".index(sweep[-1])
        for method in SWEPT[sweep]:
            lines = [best.get((method, shape), {}) for shape in shapes]
            found = [(line["shape"][axis], line[measure]) for line in lines if measure in line]
            if len(found) > 1:
                sweeps[sweep, method] = found
    return sweeps


def compile_table() -> str:
    """Markdown: the first fit of a process, the last that was measured."""
    last = {(line["method"], line["cache"]): line for line in read_lines(RESULTS) if "cache" in line}
    rows = []
    for method in CHOSEN:
        lines = [last.get((method, cache)) for cache in ("no", "yes")]
        if all(lines):
            rows.append([method, *(f"{line['first small fit']:.1f}{'*' * is_old(line)}" for line in lines if line)])
    return markdown(["first fit of 3,000 x 10, s", "nothing compiled", "compiled code on disk"], rows)


def exponent(found: Sequence[tuple[float, float]]) -> float:
    """Slope of log seconds over log size."""
    sizes, seconds = np.log(np.array(found)).T
    return float(np.polyfit(sizes, seconds, 1)[0])
