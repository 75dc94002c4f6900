"""Reproduce the paper's tables of accuracy: ``python -m benchmarks accuracy [--only group=small,shapes,large,sizes]``.

Setting "published": every method with its published parameters for the set, on the data as they are. Setting
"untuned": the number of classes, the fixed rules of ``benchmarks.methods``, and features divided by their standard
deviations; GIT's default gets them as they are. Setting "sizes": methods that are given the class sizes, beside others
that are given their number. Every result is counted as published, and by optimal matching with noise as wrong.

Methods with a random start run with ten seeds on sets of up to 15,000 samples. The line has their means and every F1. A
fit has a process with limits of time and memory. Large sets are tried from 3,000 samples up while the next size should
end within the limit. The largest that ended counts, and the line has its size.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import METHODS, compile_search, keep_installed
from benchmarks.reporting import accuracy_tables
from benchmarks.reporting.accuracy_tables import FIELDS, GROUPS, READINGS, SEEDED, SEEDS, SIZES_METHODS
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.runner import Line, Task, run_experiment, run_in_process, time_call
from benchmarks.scoring import pack_labels, score_both
from benchmarks.suite.datasets import load_set
from gitcluster import scale_features

CHOSEN = {
    **{name: METHODS[name] for name in ("GIT authors", "GIT paper", *READINGS)},
    **{name: METHODS[name] for name in ("DPA", "FSFDP", "Quickshift++", "SpectACl", "spectral")},
    "GIT": METHODS["GIT"].using(n_jobs=-1),
    "GIT proportions": METHODS["GIT proportions"].using(n_jobs=-1),
    "HDBSCAN": METHODS["hdbscan"],
    "k-means++": METHODS["k-means"],
    "k-means-constrained": METHODS["constrained k-means"],
}
"""The methods by their names in the paper and in the result file."""
UNSCALED = ("GIT", "GIT proportions")
"""Methods that choose the scaling of the features themselves."""
STEPS = (3_000, 10_000, 30_000)
SECONDS, GIGABYTES = 900, 14
"""Limits of a fit."""
QUICK_SAMPLES = 150
SEEDED_SAMPLES = 15_000
PICTURED = 5_000
"""Drawn sets up to this size keep their labels, for the pictures."""


def main(arguments: Sequence[str]) -> None:
    """Run the experiment."""
    tables = [partial(accuracy_tables.published_table, group) for group in ("small", "shapes", "large")]
    run_experiment("accuracy", __doc__ or "", arguments, fields=FIELDS, tasks=tasks, tables=tables)


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield set, method, setting and options of every fit; ``--quick`` uses 150 samples of each set."""
    methods = keep_installed(CHOSEN)
    for group, sets in GROUPS.items():
        for name in sets:
            fits = [("sizes", method, {}) for method in SIZES_METHODS] if group == "sizes" else plan(name)
            for setting, method, parameters in fits:
                if method in methods:
                    task = {"group": group, "set": name, "method": method, "setting": setting, "options": parameters}
                    yield task, partial(climb, task, QUICK_SAMPLES if options.quick else None)


def plan(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield setting, method and options of every fit to a set."""
    rows = PUBLISHED[name]
    for variant in ("GIT authors", "GIT paper"):
        yield "published", variant, rows["GIT"].options
        yield "untuned", variant, {}
    if name not in ("mnist", "fmnist"):
        yield from (("published", reading, rows["GIT"].options) for reading in READINGS)
    yield "untuned", "GIT", {}
    if "proportions" in rows["GIT"].options:
        yield "untuned", "GIT proportions", {"proportions": rows["GIT"].options["proportions"]}
    for method in COMPETITORS:
        if method in rows:
            yield "published", method, rows[method].options
        yield "untuned", method, {}


def climb(task: Line, most: int | None = None) -> Line:
    """Return the result on the whole set, or on the largest part of it that ends within the limit."""
    total = len(load_set(task["set"])[1])
    whole = min(total, most or total)
    best: Line = {}
    times: list[tuple[int, float]] = []
    for samples in [*(step for step in STEPS if 2 * step <= whole), whole]:
        if times and (expected := expected_seconds(times, samples)) > SECONDS:
            best["stopped"] = f"{samples:,} samples would take about {expected:,.0f} s"
            break
        line = run_in_process(fit_part, task, samples, seconds=SECONDS, gigabytes=GIGABYTES)
        if "error" in line:
            best = best | {"stopped": f"{samples:,} samples: {line['error']}"} if best else line
            break
        best = line | {"samples": samples}
        times.append((samples, line["seconds"]))
    return {"of": total} | best


def expected_seconds(times: Sequence[tuple[int, float]], samples: int) -> float:
    """Return the seconds at the next size, growing as between the last two sizes, or quadratically after the first."""
    size, seconds = times[-1]
    power = 2.0
    if len(times) > 1:
        before, less = times[-2]
        power = float(np.clip(np.log(seconds / less) / np.log(size / before), 1, 3))
    return seconds * (samples / size) ** power


def fit_part(task: Line, samples: int) -> Line:
    """Fit a part of a set, after a small fit that compiles, and return scores and seconds."""
    X, y = load_set(task["set"])
    if samples < len(X):
        part = np.sort(np.random.default_rng(0).permutation(len(X))[:samples])
        X, y = X[part], y[part]
    if task["setting"] != "published" and task["method"] not in UNSCALED:
        X = scale_features(X)
    few = slice(None, None, max(1, len(X) // 1000))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with suppress(Exception):
            fit(task, np.ascontiguousarray(X[few]), y[few])
        if task["method"].startswith("GIT"):
            compile_search(X)
        labels, wall, cpu = time_call(lambda: fit(task, X, y))
        scores = score_both(y, labels)
        if task["method"] in SEEDED and len(X) <= SEEDED_SAMPLES:
            others = [score_both(y, fit(task, X, y, random_state=seed)) for seed in range(1, SEEDS)]
            scores = average([scores, *others])
    kept = {"labels": pack_labels(labels)} if task["set"].startswith("toy_") and len(X) <= PICTURED else {}
    return scores | {"seconds": round(wall, 4), "cpu": round(cpu, 4)} | kept


def average(results: Sequence[Line]) -> Line:
    """Return means over seeds, and the F1 of each; the clusters are those of the first."""
    line = dict(results[0])
    for counting in ("published", "optimal"):
        scores = np.array([result[counting] for result in results])
        line |= {counting: scores.mean(axis=0).round(4).tolist(), f"seeds {counting}": scores[:, 0].tolist()}
    return line


def fit(task: Line, X: NDArray[Any], y: NDArray[np.int64], **seed: int) -> NDArray[np.int64]:
    """Return the labels of the task's method; "classes" as proportions are the true sizes."""
    sizes, options = np.unique(y, return_counts=True)[1], task["options"]
    if isinstance(options.get("proportions"), str) and options["proportions"] == "classes":
        options = options | {"proportions": sizes}
    with redirect_stdout(StringIO()):  # spectral clustering prints how often it tries
        return CHOSEN[task["method"]].fit(X, sizes, **(options | seed))
