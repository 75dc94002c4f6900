"""Hostile use, counted: ``python -m benchmarks hostile [--count 10000] [--only laws|files|checkpoints|tables]``.

Every kind is in a file of its own, which says what is tried and what may come of it. Files and checkpoints are tried in
a process with a limit of time and memory: that it ends is a result as well. One line per run goes to
``results/hostile.jsonl``; what failed is printed. ``--minutes`` ends a run early, with the count that was reached.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from benchmarks.experiments.hostile.checkpoints import try_checkpoint
from benchmarks.experiments.hostile.files import try_file
from benchmarks.experiments.hostile.laws import try_law
from benchmarks.experiments.hostile.tables import try_table
from benchmarks.running import FOLDER, Worker, describe_run, record

RESULTS = FOLDER / "hostile.jsonl"
KINDS: dict[str, Callable[[int, int], Counter[str]]] = {
    "laws": try_law,
    "files": try_file,
    "checkpoints": try_checkpoint,
    "tables": try_table,
}
GUARDED = {"files", "checkpoints"}
"""Kinds that may end the process."""
SECONDS, GIGABYTES = 120.0, 8.0
"""Limits of one try; most of the memory is addresses that compiled code reserves."""


def try_many(kind: str, numbers: range, seed: int, minutes: float) -> tuple[int, Counter[str]]:
    """How many were tried, and what became of them."""
    end, outcome, tried = perf_counter() + 60 * minutes, Counter[str](), 0
    with Worker(try_one, seconds=SECONDS, gigabytes=GIGABYTES) as worker:
        run = worker.run if kind in GUARDED else try_one
        for number in numbers:
            found = run((kind, seed, number))
            if "error" in found:
                print(f"{kind} {number}: {found['error']}", flush=True)
                found = {f"FAILED: {found['error']}": 1}
            outcome.update(found)
            tried += 1
            if perf_counter() > end:
                break
    return tried, outcome


def try_one(task: tuple[str, int, int]) -> dict[str, int]:
    """What becomes of one try."""
    kind, seed, number = task
    warnings.simplefilter("ignore")
    return dict(KINDS[kind](seed, number))


def main(arguments: Sequence[str]) -> None:
    """Count, print and record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", choices=list(KINDS))
    options = parser.parse_args(arguments)
    run = describe_run("hostile", arguments)
    for kind in [options.only] if options.only else KINDS:
        numbers = range(options.first, options.first + options.count)
        tried, outcome = try_many(kind, numbers, options.seed, options.minutes)
        about: dict[str, Any] = {"what": kind, "count": tried, "first": options.first, "seed": options.seed}
        record(RESULTS, about | {"outcome": dict(outcome.most_common())} | run)
