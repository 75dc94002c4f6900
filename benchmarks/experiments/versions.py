"""CPU seconds of fits by this code and by that of another checkout, in turns: ``python -m benchmarks versions SRC``.

``SRC`` is the ``src`` folder of the other checkout. Each code runs in a process of its own; the processes take turns,
so that a busy machine favours neither, and the best of several repetitions counts. One line per case goes to
``results/versions.jsonl``; lines without ``cpu`` are of wall seconds. ``--compile`` measures a first fit with nothing
compiled instead, with the start of Python and all imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from benchmarks.running import FOLDER, record

RESULTS = FOLDER / "versions.jsonl"
CASES = (
    (100_000, 3, {"n_clusters": 10}),
    (300_000, 3, {"n_clusters": 10, "n_neighbors": 20}),
    (100_000, 10, {"n_clusters": 10, "n_neighbors": 20}),
    (20_000, 10, {}),
    (20_000, 10, {"n_clusters": 10, "variant": "paper", "n_neighbors": 20}),
    (200_000, 10, {"n_clusters": 10}),
    (60_000, 784, {"n_clusters": 10}),
    (500, 3, {}),
    (1000, 10, {}),
    (5000, 10, {}),
    (5000, 10, {"n_clusters": 10}),
    (20_000, 128, {"n_clusters": 10}),
)
"""Samples, features and options."""
WORKER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from sklearn.datasets import make_blobs
from gitcluster import GIT
for line in sys.stdin:
    n, d, options = json.loads(line)
    X = make_blobs(n, d, centers=10, cluster_std=2.0, random_state=0)[0]
    start = time.process_time()
    GIT(**options, n_jobs=-1).fit(X)
    print(time.process_time() - start, flush=True)
"""
FIRST = """
import time
import numpy as np
from gitcluster import GIT
GIT().fit(np.random.default_rng(0).normal(size=(500, 3)))
print(time.process_time())
"""


def start_worker(source: Path) -> subprocess.Popen[str]:
    """A process that fits with the code in a folder."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", WORKER], env=environment, text=True, **pipes)


def ask(worker: subprocess.Popen[str], case: Any) -> float:
    """Seconds of one fit."""
    into: IO[str] = worker.stdin  # type: ignore[assignment]
    out: IO[str] = worker.stdout  # type: ignore[assignment]
    into.write(json.dumps(case) + "\n")
    into.flush()
    return float(out.readline())


def first_fit(source: Path) -> float:
    """CPU seconds of a process that fits once, with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": folder}
        found = subprocess.run([sys.executable, "-c", FIRST], env=environment, stdout=subprocess.PIPE, check=True)
    return float(found.stdout)


def keep(case: Any, seconds: list[list[float]], **more: Any) -> None:
    """Print and record the best of several turns."""
    before, now = (min(column) for column in zip(*seconds, strict=True))
    line = {"n_samples": case[0], "n_features": case[1], "options": case[2], **more, "cpu": True}
    record(RESULTS, line | {"before": round(before, 3), "now": round(now, 3), "ratio": round(now / before, 3)})
    print(f"{case}: {before:.2f} CPU s before, {now:.2f} now, ratio {now / before:.3f}", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Time both codes in turns, print and record the ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks versions", description=__doc__)
    parser.add_argument("source", type=Path, help="the folder src of another checkout")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cases", type=int, nargs="*", help="only these, counted from 0", default=range(len(CASES)))
    parser.add_argument("--compile", action="store_true", help="first fits with nothing compiled")
    options = parser.parse_args(arguments)
    sources = options.source.resolve(), Path(__file__).parents[2] / "src"
    if options.compile:
        keep((500, 3, {}), [[first_fit(source) for source in sources] for _ in range(options.repeat)], cache="no")
        return
    workers = [start_worker(source) for source in sources]
    for case in (CASES[i] for i in options.cases):
        small = (2000, *case[1:])
        for worker in workers:
            ask(worker, small)  # compiles
        keep(case, [[ask(worker, case) for worker in workers] for _ in range(options.repeat)])
    for worker in workers:
        worker.kill()
