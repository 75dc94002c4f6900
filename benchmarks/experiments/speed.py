"""Wall and CPU seconds and peak memory against peers: ``python -m benchmarks speed [--cases a,b] [--methods a,b]``.

Every fit runs in a process of its own, after a small fit that compiles, and is ended after ``--timeout`` seconds. One
line a run goes to ``results/speed.jsonl``; the best run counts. All methods may use every core. ``search k`` is the
neighbour search alone for k neighbours, ``search 2k`` for the 2 k that the default variant looks at.

``--sweep n|d|k`` runs the cases of a sweep, ``--compile`` measures a first fit with and without compiled code on disk,
``--table`` prints the stored results, ``--figure FILE`` draws the sweeps (needs matplotlib).
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
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, append, installed_versions, read_lines
from benchmarks.suite.datasets import data_folder

RESULTS = FOLDER / "speed.jsonl"
CASES = {
    "100k x 3, k=20": (100_000, 3, 20),
    "100k x 10, k=20": (100_000, 10, 20),
    "20k x 128, k=20": (20_000, 128, 20),
    "60k x 784 (MNIST), k=40": (60_000, 784, 40),
    "200k x 64, k=30": (200_000, 64, 30),
    "500k x 3, k=30": (500_000, 3, 30),
    "1M x 10, k=20": (1_000_000, 10, 20),
}
SWEEPS = {
    "n": [(n, 10, 20) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)],
    "d": [(50_000, d, 20) for d in (2, 4, 8, 16, 32, 64)],
    "k": [(100_000, 10, k) for k in (5, 10, 20, 40, 80)],
}
SWEPT = {
    "n": ["GIT k", "GIT", "search k", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan", "sklearn HDBSCAN"],
    "d": ["GIT k", "GIT", "search k", "k-means", "genieclust", "fast_hdbscan", "EVoC", "hdbscan", "sklearn HDBSCAN"],
    "k": ["GIT k", "search k"],
}


def make_case(n_samples: int, n_features: int) -> NDArray[Any]:
    """Thirty blobs; the case of 784 features is MNIST."""
    if n_features == 784:
        with np.load(data_folder() / "mnist.npz") as data:
            return data["X"].astype(np.float32) / 255
    return make_blobs(n_samples, n_features, centers=30, cluster_std=2.0, random_state=2021)[0]


def fit_git(**options: Any) -> Callable[[NDArray[Any], int], None]:
    """GIT told the number of clusters; n_neighbors="k" is that of the case."""

    def fit(X: NDArray[Any], k: int) -> None:
        from gitcluster import GIT

        given = {"n_clusters": 30, "n_jobs": -1} | options
        if given.get("n_neighbors") == "k":
            given["n_neighbors"] = k
        GIT(**given).fit(X)

    return fit


def search_only(times: int) -> Callable[[NDArray[Any], int], None]:
    """The search that GIT would use."""

    def search(X: NDArray[Any], k: int) -> None:
        from gitcluster import find_neighbors, scale_features

        find_neighbors(scale_features(X), n_neighbors=times * k, n_jobs=-1)

    return search


def fit_peer(module: str, name: str, **options: Any) -> Callable[[NDArray[Any], int], None]:
    """A peer's estimator, imported only in its own process."""

    def fit(X: NDArray[Any], _: int) -> None:
        import importlib

        getattr(importlib.import_module(module), name)(**options).fit(X)

    return fit


def fit_constrained(X: NDArray[Any], _: int) -> None:
    """Sizes within a tenth of equal shares."""
    from k_means_constrained import KMeansConstrained

    share = len(X) / 30
    KMeansConstrained(30, size_min=int(0.9 * share), size_max=int(1.1 * share) + 1, n_init=1, random_state=0).fit(X)


METHODS: dict[str, Callable[[NDArray[Any], int], None]] = {
    "GIT k": fit_git(n_neighbors="k"),
    "GIT": fit_git(),
    "GIT nothing": fit_git(n_clusters="auto"),
    "GIT paper k": fit_git(n_neighbors="k", variant="paper"),
    "search k": search_only(1),
    "search 2k": search_only(2),
    "k-means": fit_peer("sklearn.cluster", "KMeans", n_clusters=30, n_init=1, random_state=0),
    "genieclust": fit_peer("genieclust", "Genie", n_clusters=30),
    "fast_hdbscan": fit_peer("fast_hdbscan", "HDBSCAN", min_cluster_size=15),
    "EVoC": fit_peer("evoc", "EVoC"),
    "hdbscan": fit_peer("hdbscan", "HDBSCAN", min_cluster_size=15, core_dist_n_jobs=-1),
    "sklearn HDBSCAN": fit_peer("sklearn.cluster", "HDBSCAN", min_cluster_size=15, n_jobs=-1, copy=True),
    "k-means-constrained": fit_constrained,
    "spectral": fit_peer(
        "sklearn.cluster", "SpectralClustering", n_clusters=30, affinity="nearest_neighbors", random_state=0, n_jobs=-1
    ),
}
PACKAGES = (
    "gitcluster",
    "numpy",
    "scikit-learn",
    "numba",
    "pynndescent",
    "hdbscan",
    "fast_hdbscan",
    "evoc",
    "genieclust",
)


def main(arguments: Sequence[str]) -> None:
    """Run cases by methods, or one of them in this process, or show what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    parser.add_argument("--cases", help="beginnings of their names, with | between", default="")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--sweep", choices=SWEEPS)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--here", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        method, *shape = options.here
        print(json.dumps(run_here(method, *map(int, shape))))
    elif options.figure:
        draw(options.figure)
    elif options.compile:
        for method in options.methods:
            measure_compilation(method)
    elif not options.table:
        run_all(options)
    if options.table:
        print(table())


def run_all(options: argparse.Namespace) -> None:
    """Every case by every method, each as often as asked; a case that did not finish is not tried again."""
    cases = [shape for name, shape in CASES.items() if name.startswith(tuple(options.cases.split("|")))]
    methods = options.methods
    if options.sweep:
        cases, methods = SWEEPS[options.sweep], [m for m in SWEPT[options.sweep] if m in options.methods]
    slow: set[str] = set()
    for shape in cases:
        for method in methods:
            for _ in range(options.repeat):
                if options.sweep and method in slow:
                    break
                line = {"method": method, "shape": shape} | run_apart(method, shape, options.timeout)
                write(line)
                if "error" in line:
                    slow.add(method)
                    break


def write(line: dict[str, Any]) -> None:
    """Store a result with where it was measured."""
    line |= {"cores": os.cpu_count(), "versions": installed_versions(PACKAGES)}
    append(RESULTS, line)
    print(json.dumps({k: v for k, v in line.items() if k != "versions"}), file=sys.stderr)


def run_apart(method: str, shape: Sequence[int], timeout: int, **environment: str) -> dict[str, Any]:
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


def run_here(method: str, n_samples: int, n_features: int, k: int) -> dict[str, Any]:
    """Seconds of one fit after one that compiles, and the peak memory."""
    X = make_case(n_samples, n_features)
    small = np.ascontiguousarray(X[:: max(1, len(X) // 3000)])
    start = perf_counter()
    METHODS[method](small, k)
    if method.startswith(("GIT", "search")):
        compile_descent(X, small, k)
    first = perf_counter() - start
    start, cpu = perf_counter(), process_time()
    METHODS[method](X, k)
    return {
        "seconds": round(perf_counter() - start, 3),
        "cpu": round(process_time() - cpu, 3),
        "first small fit": round(first, 3),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        "X MB": round(X.nbytes / 1e6),
    }


def compile_descent(X: NDArray[Any], small: NDArray[Any], k: int) -> None:
    """Compile the approximate search as well, where GIT will use it."""
    from gitcluster import find_neighbors, search

    pays = search.approximation_pays(search.all_pairs_seconds(*X.shape), *X.shape)
    if X.shape[1] > search.CELL_FEATURES and pays:
        find_neighbors(small, n_neighbors=k, search="approximate", n_jobs=-1)


def measure_compilation(method: str) -> None:
    """A first fit of 3,000 x 10 with no compiled code on disk, and the next process, which finds it there."""
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("no", "yes"):
            done = run_apart(method, (3000, 10, 20), 600, NUMBA_CACHE_DIR=folder)
            write({"method": method, "shape": (3000, 10, 20), "cache": cache} | done)


def read_best() -> dict[tuple[str, tuple[int, ...]], dict[str, Any]]:
    """The best run of every method and shape."""
    best: dict[tuple[str, tuple[int, ...]], dict[str, Any]] = {}
    for line in read_lines(RESULTS):
        key = line["method"], tuple(line["shape"])
        if "cache" not in line and (key not in best or line.get("seconds", np.inf) < best[key].get("seconds", np.inf)):
            best[key] = line
    return best


def table() -> str:
    """Markdown: best wall seconds and peak memory of each case and method."""
    best = read_best()
    methods = [m for m in METHODS if any((m, shape) in best for shape in CASES.values())]
    rows = [[m, *(_cell(best.get((m, shape))) for shape in CASES.values())] for m in methods]
    return markdown(["seconds (peak GB)", *CASES], rows)


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    if "error" in line:
        return line["error"] if line["error"].startswith(">") else "fails"
    return f"{line['seconds']:.1f} ({line['peak MB'] / 1000:.1f})"


def ratio_table() -> str:
    """Markdown: a fit beside the search alone, and the peak memory beside the formula."""
    best, rows = read_best(), []
    for case, shape in CASES.items():
        runs = {m: best.get((m, shape), {}) for m in ("GIT k", "GIT", "GIT paper k", "search k", "search 2k")}
        seconds = {m: run.get("seconds", np.nan) for m, run in runs.items()}
        limit = (12 * shape[0] * 2 * shape[2]) / 1e6 + 3 * runs["GIT k"].get("X MB", np.nan)
        rows.append(
            [
                case,
                f"{seconds['search 2k']:.1f}",
                f"{seconds['GIT k'] / seconds['search 2k']:.2f}",
                f"{seconds['GIT'] / seconds['search 2k']:.2f}",
                f"{seconds['search k']:.1f}",
                f"{seconds['GIT paper k'] / seconds['search k']:.2f}",
                f"{runs['GIT k'].get('peak MB', np.nan):.0f}",
                f"{limit:.0f}",
            ]
        )
    header = [
        "case", "search 2k, s", "GIT k / search 2k", "GIT auto / search 2k", "search k, s",
        "paper variant k / search k", "peak MB", "12 n 2k + 3 X, MB",
    ]  # fmt: skip
    return markdown(header, rows)


def sweep_table() -> str:
    """Markdown: seconds along the sweeps and the fitted exponents."""
    best, rows = read_best(), []
    for axis, (sweep, shapes) in enumerate(SWEEPS.items()):
        for method in SWEPT[sweep]:
            found = [
                (shape[axis], best[method, shape]["seconds"]) for shape in shapes if _finished(best, method, shape)
            ]
            if len(found) > 1:
                points = ", ".join(f"{x:,}: {seconds:.1f}" for x, seconds in found)
                rows.append([sweep, method, points, f"{exponent(found):.2f}"])
    return markdown(["sweep", "method", "seconds", "exponent"], rows)


def compile_table() -> str:
    """Markdown: the first fit of a process."""
    lines = [line for line in read_lines(RESULTS) if "cache" in line]
    rows = [[m, *(f"{line['first small fit']:.1f}" for line in lines if line["method"] == m)][:3] for m in METHODS]
    return markdown(
        ["first fit of 3,000 x 10, s", "nothing compiled", "compiled code on disk"], [r for r in rows if r[1:]]
    )


def _finished(best: dict[Any, dict[str, Any]], method: str, shape: Sequence[int]) -> bool:
    return "seconds" in best.get((method, tuple(shape)), {})


def exponent(found: Sequence[tuple[float, float]]) -> float:
    """Slope of log seconds over log size."""
    sizes, seconds = np.log(np.array(found)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def draw(path: Path) -> None:
    """Log-log curves of the three sweeps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    best = read_best()
    figure, panels = pyplot.subplots(1, 3, figsize=(14, 4.8), sharey=True, layout="constrained")
    colours = {m: pyplot.get_cmap("tab10")(i) for i, m in enumerate(SWEPT["n"])}
    titles = {"n": "samples (d = 10, k = 20)", "d": "features (n = 50,000, k = 20)", "k": "neighbours (100,000 x 10)"}
    for axis, ((sweep, shapes), panel) in enumerate(zip(SWEEPS.items(), panels, strict=True)):
        for method in SWEPT[sweep]:
            found = [
                (shape[axis], best[method, shape]["seconds"]) for shape in shapes if _finished(best, method, shape)
            ]
            if len(found) > 1:
                own = method.startswith(("GIT", "search"))
                panel.loglog(
                    *zip(*found, strict=True), marker="o", markersize=4, color=colours[method],
                    linewidth=2.5 if own else 1.2, linestyle="--" if method == "search k" else "-",
                    label=f"{method}  ({exponent(found):+.2f})",
                )  # fmt: skip
        panel.set_xlabel(titles[sweep])
        ticks = [shape[axis] for shape in shapes]
        panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(which="major", alpha=0.3)
        panel.legend(fontsize=8, title="method (exponent)", title_fontsize=8)
    panels[0].set_ylabel("seconds, 2 cores")
    figure.savefig(path, dpi=110)
