"""The paper's tables of accuracy, all methods: ``python -m benchmarks accuracy --small|--large|--shapes|--sizes``.

Setting "published": every method with its published parameters for the set, on the data as they are. Setting
"untuned": the number of classes, the fixed rules of ``benchmarks.methods``, and features divided by their standard
deviations, for the default as they are. Every result is counted both as published and by optimal matching with noise
as wrong, raw ARI and NMI. Setting "sizes": methods told the class sizes, beside others told the number.

Methods that draw are run with ``--seeds`` seeds on sets of up to 15,000 samples: the line has their means, and every
F1. A line a set, method and setting goes to ``results/accuracy.jsonl``; what is stored is not run again. A fit may
take ``--limit`` seconds and ``--memory`` gigabytes. A large set is climbed from 3,000 samples up, while the next size
should end within the limit; the largest that ended counts, and the line says how large it was.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Container, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import METHODS, compile_descent, keep_installed, tell
from benchmarks.reporting import accuracy_tables
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.running import FOLDER, NAMES, Line, Store, Worker, describe_run, show_progress
from benchmarks.scoring import pack_labels, score_both_ways
from benchmarks.suite.datasets import data_folder, load_set
from gitcluster import scale_features

GROUPS = accuracy_tables.GROUPS
CHOSEN = {
    **{name: METHODS[name] for name in ("GIT authors", "GIT paper", *accuracy_tables.READINGS)},
    **{name: METHODS[name] for name in ("DPA", "FSFDP", "Quickshift++", "SpectACl")},
    "spectral": METHODS["spectral"],
    "GIT": METHODS["GIT"].given(n_jobs=-1),
    "GIT proportions": METHODS["GIT proportions"].given(n_jobs=-1),
    "HDBSCAN": METHODS["hdbscan"],
    "k-means++": METHODS["k-means"],
    "k-means-constrained": METHODS["constrained k-means"],
}
"""The methods by the names that the paper and the result file have for them."""
AS_THEY_ARE = ("GIT", "GIT proportions")
"""Methods that choose by themselves how to look at the features."""
STEPS = (3_000, 10_000, 30_000)
QUICK_SAMPLES = 150
WARM_SAMPLES = 1_000
SEEDED_SAMPLES = 15_000
PICTURED = 5_000
"""Sets up to this size keep their labels, for the pictures."""


def main(arguments: Sequence[str]) -> None:
    """Run a group of sets, then print its tables."""
    options = _parse(arguments)
    groups = [group for group in GROUPS if getattr(options, group)] or list(GROUPS)
    store = accuracy_tables.stored(options.results or FOLDER / ("quick" if options.quick else ""))
    if not options.table:
        methods = keep_installed(CHOSEN, options.methods)
        tasks = [task for group in groups for task in plan(group, options.sets, methods)]
        run_all(store, [task for task in tasks if not options.settings or task["setting"] in options.settings], options)
    for group in groups:
        print(accuracy_tables.both_tables(store, group), end="\n\n")


def plan(group: str, sets: Container[str] | None, methods: Container[str]) -> Iterator[Line]:
    """Yield set, method, setting and options of every fit of a group."""
    for name in GROUPS[group]:
        if sets is not None and name.removeprefix("toy_") not in sets:
            continue
        if not (data_folder() / f"{name}.npz").exists():
            print(f"{name}: no such set in {data_folder()}", file=sys.stderr)
            continue
        for setting, method, options in _sizes_fits() if group == "sizes" else _fits(name):
            if method in methods:
                yield {"set": name, "method": method, "setting": setting, "options": options}


def _fits(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    rows = PUBLISHED[name]
    for variant in ("GIT authors", "GIT paper"):
        yield "published", variant, rows["GIT"].options
        yield "untuned", variant, {}
    if name not in ("mnist", "fmnist"):
        yield from (("published", reading, rows["GIT"].options) for reading in accuracy_tables.READINGS)
    yield "untuned", "GIT", {}
    if "proportions" in rows["GIT"].options:
        yield "untuned", "GIT proportions", {"proportions": rows["GIT"].options["proportions"]}
    for method in COMPETITORS:
        if method in rows:
            yield "published", method, rows[method].options
        yield "untuned", method, {}


def _sizes_fits() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for method in accuracy_tables.SIZES_METHODS:
        yield "sizes", method, {}


def run_all(store: Store, tasks: Sequence[Line], options: argparse.Namespace) -> None:
    """Run what is not stored yet."""
    left = [task for task in tasks if options.again or store.key(task) not in store.lines]
    about = describe_run("accuracy", options.arguments)
    with Worker(fit_here, seconds=options.limit, gigabytes=options.memory) as worker:
        for task, say in show_progress(left, "accuracy"):
            line = task | climb(worker, task | {"seeds": options.seeds}, options) | about
            store.add(line)
            say(_summary(line))


def climb(worker: Worker, task: Line, options: argparse.Namespace) -> Line:
    """The result on the whole set, or on the largest part of it that ends within the limit."""
    total = len(load_set(task["set"])[1])
    whole = min(total, QUICK_SAMPLES) if options.quick else total
    best: Line = {}
    times: list[tuple[int, float]] = []
    steps = [] if options.whole else [step for step in STEPS if 2 * step <= whole]
    for samples in [*steps, whole]:
        if times and (expected := expected_seconds(times, samples)) > options.limit:
            best["stopped"] = f"{samples:,} samples would take about {expected:,.0f} s"
            break
        line = worker.run(task | {"samples": samples})
        if "error" in line:
            best = best | {"stopped": f"{samples:,} samples: {line['error']}"} if best else line
            break
        best = line | {"samples": samples}
        times.append((samples, line["seconds"]))
    return {"of": total} | best


def expected_seconds(times: Sequence[tuple[int, float]], samples: int) -> float:
    """Seconds at the next size, growing as between the last two sizes, or quadratically after the first."""
    size, seconds = times[-1]
    power = 2.0
    if len(times) > 1:
        before, less = times[-2]
        power = float(np.clip(np.log(seconds / less) / np.log(size / before), 1, 3))
    return seconds * (samples / size) ** power


def fit_here(task: Line) -> Line:
    """Fit a part of a set, after a small fit that compiles, and count the result both ways."""
    X, y = load_set(task["set"])
    if task["samples"] < len(X):
        part = np.sort(np.random.default_rng(0).permutation(len(X))[: task["samples"]])
        X, y = X[part], y[part]
    if task["setting"] != "published" and task["method"] not in AS_THEY_ARE:
        X = scale_features(X)
    warm_up(task, X, y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        start, cpu = perf_counter(), process_time()
        labels = fit(task, X, y)
        times = {"seconds": round(perf_counter() - start, 4), "cpu": round(process_time() - cpu, 4)}
        found = score_both_ways(y, labels)
        if task["method"] in accuracy_tables.SEEDED and task.get("seeds", 1) > 1 and len(X) <= SEEDED_SAMPLES:
            seeds = range(1, task["seeds"])
            found = average([found, *(score_both_ways(y, fit(task, X, y, random_state=seed)) for seed in seeds)])
    kept = {"labels": pack_labels(labels)} if task["set"].startswith("toy_") and len(X) <= PICTURED else {}
    return found | times | kept


def average(found: Sequence[Line]) -> Line:
    """Means over seeds, and the F1 of each; the clusters are those of the first."""
    line = dict(found[0])
    for counting in ("published", "optimal"):
        scores = np.array([one[counting] for one in found])
        line |= {counting: scores.mean(axis=0).round(4).tolist(), f"seeds {counting}": scores[:, 0].tolist()}
    return line


def fit(task: Line, X: NDArray[Any], y: NDArray[np.int64], **seed: int) -> NDArray[np.int64]:
    """Labels of the task's method, by another seed where one is given; "classes" as proportions are the true sizes."""
    sizes = np.bincount(y)
    sizes = sizes[sizes > 0]
    method, options = CHOSEN[task["method"]], task["options"]
    if options.get("proportions") == "classes":
        options = options | {"proportions": sizes}
    with redirect_stdout(StringIO()):  # spectral clustering tells there how often it tries
        return method.fit(X, tell(method, sizes), **(options | seed))


WARM: set[tuple[str, str, str]] = set()


def warm_up(task: Line, X: NDArray[Any], y: NDArray[np.int64]) -> None:
    """Fit a few of the samples where this process has not run the task yet, so that nothing compiles on the clock."""
    key = task["set"], task["method"], task["setting"]
    if key in WARM:
        return
    WARM.add(key)
    few = slice(None, None, max(1, len(X) // WARM_SAMPLES))
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        fit(task, np.ascontiguousarray(X[few]), y[few])
    if task["method"].startswith("GIT"):
        compile_descent(X)


def _summary(line: Line) -> str:
    name = f"{line['set']:15} {line['setting']:10} {line['method']:20}"
    if "error" in line:
        return f"{name} {line['error']}"
    stopped = f"  ({line['samples']:,} of {line['of']:,}: {line['stopped']})" if "stopped" in line else ""
    return f"{name} F1 {line['published'][0]:.3f} / {line['optimal'][0]:.3f} {line['seconds']:9.2f} s{stopped}"


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks accuracy", description=__doc__)
    for group, sets in GROUPS.items():
        names = ", ".join(name.removeprefix("toy_") for name in sets)
        parser.add_argument(f"--{group}", action="store_true", help=f"the group of {names}")
    parser.add_argument("--sets", help="only these sets", **NAMES)
    parser.add_argument("--methods", help="only these methods", **NAMES)
    parser.add_argument("--settings", help="only published, untuned or sizes", **NAMES)
    parser.add_argument("--limit", type=float, default=900, help="seconds a fit may take", metavar="SECONDS")
    parser.add_argument("--memory", type=float, default=14, help="gigabytes a fit may take", metavar="GB")
    parser.add_argument("--seeds", type=int, default=10, help="of methods that draw")
    parser.add_argument("--whole", action="store_true", help="try no part of a large set first")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SAMPLES} samples a set, stored apart")
    parser.add_argument("--results", type=Path, help="folder of the results", metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--table", action="store_true", help="run nothing, print the tables of stored results")
    options = parser.parse_args(arguments)
    sets = [name.removeprefix("toy_") for group in GROUPS.values() for name in group]
    for given, known in ((options.sets, sets), (options.methods, list(CHOSEN))):
        if unknown := sorted(set(given or ()) - set(known)):
            parser.error(f"{', '.join(unknown)}: none of {', '.join(dict.fromkeys(known))}")
    options.arguments = arguments
    return options
