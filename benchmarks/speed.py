"""Wall and CPU seconds and peak memory against peers: ``python -m benchmarks speed [--cases a,b] [--methods a,b]``.

Every fit runs in a process of its own, after a small fit that compiles, and is ended after ``--timeout`` seconds. One
line a run goes to ``results/speed.jsonl``; ``--table`` prints the best run of each. All methods may use every core.
``search`` is the neighbour search alone that GIT uses, for the same number of neighbours.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.generators import data_folder
from benchmarks.tables import markdown

RESULTS = Path(__file__).parent / "results" / "speed.jsonl"
CASES = ("100k x 3", "100k x 10", "200k x 10", "20k x 128", "60k x 784", "200k x 64", "500k x 3", "1M x 10")
COUNTS = {"20k": 20_000, "60k": 60_000, "100k": 100_000, "200k": 200_000, "500k": 500_000, "1M": 1_000_000}


def make_case(case: str) -> NDArray[Any]:
    """Blobs; the case of 784 features is MNIST."""
    samples, features = case.split(" x ")
    if features == "784":
        with np.load(data_folder() / "mnist.npz") as data:
            return data["X"].astype(np.float32) / 255
    return make_blobs(COUNTS[samples], int(features), centers=30, cluster_std=2.0, random_state=2021)[0]


def fit_git(X: NDArray[Any], **options: Any) -> None:
    """GIT told the number of clusters."""
    from gitcluster import GIT

    GIT(**{"n_clusters": 30, "n_jobs": -1} | options).fit(X)


def search_only(X: NDArray[Any]) -> None:
    """The search of ``GIT(n_neighbors=20)``: 40 neighbours."""
    from gitcluster import find_neighbors, scale_features

    find_neighbors(scale_features(X), n_neighbors=40, n_jobs=-1)


def fit_peer(module: str, name: str, **options: Any) -> Any:
    """A peer's estimator, imported only in its own process."""

    def fit(X: NDArray[Any]) -> None:
        import importlib

        getattr(importlib.import_module(module), name)(**options).fit(X)

    return fit


METHODS = {
    "GIT": fit_git,
    "GIT k=20": lambda X: fit_git(X, n_neighbors=20),
    "GIT nothing": lambda X: fit_git(X, n_clusters="auto"),
    "GIT exact": lambda X: fit_git(X, neighbors="exact"),
    "search": search_only,
    "k-means": fit_peer("sklearn.cluster", "KMeans", n_clusters=30, n_init=1, random_state=0),
    "genieclust": fit_peer("genieclust", "Genie", n_clusters=30),
    "fast_hdbscan": fit_peer("fast_hdbscan", "HDBSCAN", min_cluster_size=15),
    "EVoC": fit_peer("evoc", "EVoC"),
    "hdbscan": fit_peer("hdbscan", "HDBSCAN", min_cluster_size=15, core_dist_n_jobs=-1),
    "sklearn HDBSCAN": fit_peer("sklearn.cluster", "HDBSCAN", min_cluster_size=15, n_jobs=-1),
}


def main(arguments: Sequence[str]) -> None:
    """Run cases by methods, or one of them in this process, or print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    names = {"type": lambda text: text.split(","), "metavar": "A,B"}
    parser.add_argument("--cases", default=list(CASES), **names)
    parser.add_argument("--methods", default=list(METHODS), **names)
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        print(json.dumps(run_here(*options.here)))
        return
    if not options.table:
        for case in options.cases:
            for method in options.methods:
                line = {"case": case, "method": method} | run_apart(case, method, options.timeout)
                with RESULTS.open("a") as results:
                    results.write(json.dumps(line) + "\n")
                print(json.dumps(line), file=sys.stderr)
    print(table())


def run_apart(case: str, method: str, timeout: int) -> dict[str, Any]:
    """Run one fit in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "speed", "--here", case, method]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.TimeoutExpired:
        return {"error": f"not finished in {timeout} s"}
    except subprocess.CalledProcessError as error:
        return {"error": error.stderr.strip().splitlines()[-1][:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def run_here(case: str, method: str) -> dict[str, Any]:
    """Seconds of one fit after one that compiles, and the peak memory above the data."""
    X = make_case(case)
    small = np.ascontiguousarray(X[:: max(1, len(X) // 3000)])
    start = perf_counter()
    METHODS[method](small)
    compiled = perf_counter() - start
    start, cpu = perf_counter(), process_time()
    METHODS[method](X)
    return {
        "seconds": round(perf_counter() - start, 3),
        "cpu": round(process_time() - cpu, 3),
        "first small fit": round(compiled, 3),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000),
        "X MB": round(X.nbytes / 1e6),
    }


def table() -> str:
    """Markdown: best wall seconds and the peak memory of each case and method."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for line in map(json.loads, RESULTS.read_text().splitlines()):
        key = line["case"], line["method"]
        if key not in best or line.get("seconds", np.inf) < best[key].get("seconds", np.inf):
            best[key] = line
    methods = [m for m in METHODS if any(method == m for _, method in best)]
    rows = [[case, *(_cell(best.get((case, m))) for m in methods)] for case in CASES if any(c == case for c, _ in best)]
    return markdown(["seconds (peak MB)", *methods], rows)


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    return f"{line['seconds']:.1f} ({line['peak MB']})" if "seconds" in line else line["error"]
