"""Compute one item of the paper again: ``python -m benchmarks reproduce "Table 3"``; without an item, list all of them.

An item is a table, figure, equation, algorithm, theorem or question with its number, or a part of a claim. Data come
from the folder that GITCLUSTER_DATA names, or are downloaded. Results and embeddings go to a new folder; stored ones
are read only with ``--stored``, and for the estimate of the time. ``--quick`` computes a part of a long item.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import NamedTuple

import numpy as np

from benchmarks.methods import Method
from benchmarks.reporting import published
from benchmarks.reporting.paper_items import ITEMS, RECORDED, Item, duration, measured, selection
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import ABOUT, FOLDER, Line, Store, Task, describe_run, make_parser, select
from gitcluster import datasets

ROOT = Path(__file__).parents[2]
OVERHEAD = {"accuracy": 4.0, "dimension_reduction": 4.0, "speed": 10.0}
"""Seconds of a fit beside its own in experiments that start a process for each: imports, data, a fit that compiles."""


class Step(NamedTuple):
    """The selected tasks of one experiment."""

    text: str
    name: str
    module: ModuleType
    tasks: list[Task]


def main(arguments: Sequence[str]) -> None:
    """Compute an item and print what is printed in the paper, in the authors' notebooks, and computed here."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks reproduce", description=__doc__)
    parser.add_argument("item", nargs="?", help='for example "Table 3", "Equation 4" or "deterministic"')
    parser.add_argument("--quick", action="store_true", help="compute a part of a long item")
    parser.add_argument("--only", nargs="+", default=[], metavar="FIELD=A,B", help="compute only these fits")
    parser.add_argument("--stored", "--table", action="store_true", help="compute nothing, show stored results")
    parser.add_argument("--record", action="store_true", help="store the CPU seconds, for later estimates")
    options = parser.parse_args(arguments)
    if options.item is None:
        rows = [[item.name, " / ".join(times(item)), item.status] for item in ITEMS]
        return print(markdown(["item", "time / with --quick", "status"], rows))
    items = find_items(options.item)
    if len(items) != 1:
        matches = "; ".join(item.name for item in items) or "none"
        parser.error(f"item must match one item, got {options.item!r} with the matches: {matches}.")
    item, only = items[0], [*options.only, *(items[0].quick if options.quick else ())]
    steps = plan(item, only)
    if options.only and not any(step.tasks for step in steps):
        parser.error(f"--only must match a fit of {item.name}, got {' '.join(only)}.")
    print(f"{item.name}{f': {item.what}' if item.numbers else ''}\nStatus: {item.status}.", file=sys.stderr)
    if options.stored:
        return show_stored(item, steps)
    if missing := missing_packages(item, only, steps):
        parser.error(f"{item.name} needs packages that are not installed: pip install {' '.join(missing)}")
    expected = measured(item, only) or estimate(item, steps)
    part = f" Only a part is computed and compared: {', '.join(only)}." if only else ""
    print(f"This will take about {duration(expected)} on two cores.{part}", file=sys.stderr)
    start, folder = perf_counter(), Path(tempfile.mkdtemp(prefix="reproduce_"))
    passed, seconds = run_item(item, steps, folder)
    print(f"\nComputed in {perf_counter() - start:.0f} s. Results: {folder}")
    for step in item.steps if options.record else ():
        line = {"step": step, "only": selection(step, only), "seconds": round(seconds[step], 1)}
        Store("reproduce", RECORDED, FOLDER).add(line | describe_run("reproduce", arguments))
    if not passed:
        sys.exit(1)
    return None


def find_items(text: str) -> list[Item]:
    """Return the items with this kind and number, this text, or this part of a claim."""
    wanted = text.casefold().strip()
    numbered = [item for item in ITEMS if any(wanted == f"{item.kind} {n}".casefold() for n in item.numbers)]
    exact = [item for item in ITEMS if wanted in (item.name.casefold(), item.what.casefold())]
    return numbered or exact or [item for item in ITEMS if wanted in item.name.casefold() and not item.numbers]


def times(item: Item) -> list[str]:
    """Return the seconds of an item and of its part as text, or the packages that are missing."""
    texts = []
    for only in [(), item.quick] if item.quick else [()]:
        steps = plan(item, only)
        missing = missing_packages(item, only, steps)
        seconds = measured(item, only) or estimate(item, steps)
        texts.append(f"needs {' '.join(missing)}" if missing else duration(seconds))
    return texts


def plan(item: Item, only: Sequence[str]) -> list[Step]:
    """Return the experiments of an item with the selected tasks."""
    steps = []
    for text in item.steps:
        name, *arguments = shlex.split(text)
        if name not in ("pytest", "docs.images"):
            module = import_module(f"benchmarks.experiments.{name}")
            options = make_parser(name, "", getattr(module, "add_options", lambda parser: None)).parse_args(arguments)
            known = [words for words in only if words.split("=")[0] in (*module.FIELDS, "group", "sweep")]
            with redirect_stderr(StringIO()):  # methods that are not installed, of which the item may need none
                steps.append(Step(text, name, module, list(select(module.tasks(options), [*options.only, *known]))))
    return steps


def needed_sets(steps: Sequence[Step]) -> list[str]:
    """Return the names of the data sets that the tasks use."""
    values = {str(value) for step in steps for task, _ in step.tasks for value in task.values()}
    return [name for name in datasets.names() if name in values | {f"toy_{v}" for v in values & {"impossible"}}]


def missing_packages(item: Item, only: Sequence[str], steps: Sequence[Step]) -> list[str]:
    """Return the packages that the selected part of an item needs and that are not installed."""
    chosen = dict(words.split("=", 1) for words in only)
    spared = {
        "torch": "embedding" in chosen and "ae" not in chosen["embedding"],
        "hdbscan": "method" in chosen and "HDBSCAN" not in chosen["method"],
    }
    folder, remote = os.environ.get("GITCLUSTER_DATA"), {*datasets.ARCHIVES, *datasets.DIGESTS} & {*needed_sets(steps)}
    download = any(not folder or not Path(folder, f"{name}.npz").exists() for name in remote)
    needed = [name for name in item.packages if not spared.get(name)] + ["pooch"] * download
    return [name for name in needed if not Method(print, package=name).is_installed]


def estimate(item: Item, steps: Sequence[Step]) -> float:
    """Return the seconds that stored results of the selected tasks and their embeddings took; tests count 30 s."""
    stored = Store("dimension_reduction", ("set", "embedding", "method"), FOLDER).lines.values()
    embeddings = {(line["set"], line["embedding"]): line["of embedding"]["seconds"] for line in stored}
    used = {(task.get("set"), task.get("embedding")) for step in steps for task, _ in step.tasks}
    total = sum(embeddings.get(key, 0.0) for key in used) + 30.0 * (len(item.steps) - len(steps))
    for step in steps:
        store = Store(step.name, step.module.FIELDS, FOLDER)
        for line in (store.lines.get(store.key(task), {}) for task, _ in step.tasks):
            seconds = line.get("seconds", 0.0) * len(line.get("seeds published", [0]))
            total += OVERHEAD.get(step.name, 1.0) + float(np.sum(seconds))
    return total


def run_item(item: Item, steps: Sequence[Step], folder: Path) -> tuple[bool, dict[str, float]]:
    """Run the steps of an item, print its results; return whether tests passed, and CPU seconds by step."""
    rows, passed, seconds = [], True, {}
    for text in item.steps:
        program, *arguments = shlex.split(text)
        start = cpu_seconds()
        if program == "pytest":
            command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments]
            ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            passed &= ended.returncode == 0
            last = (ended.stdout or ended.stderr).strip().splitlines()[-1].strip("= ")
            rows.append([text, "", "", last if ended.returncode == 0 else f"FAILED: {last}"])
        elif program == "docs.images":
            images, path = import_module("docs.images"), folder / f"{arguments[0]}.png"
            path.write_bytes(images.draw(arguments[0]))
            same = "other than" if images.is_stale(arguments[0]) else "as"
            rows.append(["picture", "a drawing", "", f"{path}, {same} docs/images/{path.name}"])
        seconds[text] = cpu_seconds() - start
    os.environ |= {"GITCLUSTER_DATA": str(provide_data(needed_sets(steps), folder / "data"))}  # for processes too
    os.environ |= {"GITCLUSTER_RESULTS": str(folder), "XDG_CACHE_HOME": str(folder)}
    total, done, begun = sum(len(step.tasks) for step in steps), 0, perf_counter()
    for text, name, module, tasks in steps:
        store, about, start = Store(name, module.FIELDS), describe_run("reproduce", sys.argv[2:]), cpu_seconds()
        for task, run in tasks:
            line, done = task | run(), done + 1
            store.add(line | about)
            rows += [] if item.tables else [compare(name, line, module.FIELDS)]
            values = ", ".join(str(task[field]) for field in module.FIELDS if field in task)
            shown = f"[{'#' * (20 * done // total):<20}] {done} of {total}, {perf_counter() - begun:.0f} s: {values}"
            end = "\r" if sys.stderr.isatty() and done < total else "\n"
            print(f"{shown:<110.110}", end=end, file=sys.stderr, flush=True)
        seconds[text] = cpu_seconds() - start
    print_rows(rows, item, steps)
    return passed, seconds


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def provide_data(names: Sequence[str], folder: Path) -> Path:
    """Write the data sets to a folder, from GITCLUSTER_DATA or their source; images as bytes, as they are published."""
    folder.mkdir()
    for name in names:
        try:
            X, y = datasets.load(name)
        except datasets.DatasetError as error:
            sys.exit(str(error))
        np.savez(folder / f"{name}.npz", X=np.rint(X * 255).astype(np.uint8) if X.shape[1] == 784 else X, y=y)
    return folder


def compare(name: str, line: Line, fields: Sequence[str]) -> list[str]:
    """Return what is compared, and the figures printed in the paper, in the notebooks, and of a result line."""
    what = ", ".join(str(line[field]) for field in fields if field in line and line[field] != "published")
    method = line.get("method", "")
    git = "GIT" if method.startswith("GIT") else method
    if "error" in line:
        return [what, "", "", line["error"]]
    match name:
        case "accuracy":
            row = published.PUBLISHED[line["set"]].get(git) if line["setting"] == "published" else None
            commit = published.COMMITS.get(f"{line['set']} {method}", published.COMMITS[line["group"]])
            seeds, timed = line.get("seeds published", []), row and row.seconds
            here = digits(line["published"], line["seconds"] if timed else None)
            here += f", covers {line['cover']:.0%}" if line["cover"] < 1 else ""
            here += f", n = {line['samples']:,}" if line.get("samples", line["of"]) < line["of"] else ""
            here += f", {len(seeds)} seeds ± {short(np.std(seeds))}" if seeds else ""
            if row is None:
                return [what, "", "", here]
            printed = digits(row.printed, row.printed[3] if timed else None, 2) if row.printed else ""
            return [what, printed, f"{digits(row.scores, row.seconds)} ({commit})", here]
        case "robustness":
            points = published.CURVES.get(line["curve"], {}).get(line["level"])
            notebooks = short(points[published.CURVE_METHODS.index(git)]) if points else ""
            return [what, "", notebooks, short(np.mean(line["published"]))]
        case "sensitivity":
            figures = published.BY_NEIGHBORS[line["set"], line["embedding"]]
            notebooks = short(figures[published.PUBLISHED_SIZES.index(line["k"])])
            return [what, "", notebooks, short(line["f1 as published"])]
        case "dimension_reduction":
            row = published.EMBEDDED_PEERS.get((line["set"], line["embedding"]), {}).get(method)
            here = f"{short(line['published'][0])}, n = {line['n']:,}"
            return [what, "", short(row.scores[0] or 0) if row else "", here]
        case "speed":
            axis = line["sweep"][-1]
            timed = published.PUBLISHED_SPEED[axis] if method == "GIT authors k" else {}
            seconds = timed.get(line["shape"]["ndk".index(axis)])
            return [f"{line['sweep']}: {what}", "", f"{seconds:g} s" if seconds else "", f"{line['seconds']:g} s"]
    counted = published.STATISTICS[line["set"]] if "counted" in line else []
    here = {key: x for key, x in line.items() if key not in (*fields, *ABOUT) and not isinstance(x, str)}  # no labels
    return [what, ", ".join(f"{x:g}" for x in counted), "", "; ".join(f"{key}: {here[key]}" for key in here)]


def digits(scores: Sequence[float | None], seconds: float | None, number: int = 3) -> str:
    """Return F1, ARI and NMI with some digits, and seconds if there are any."""
    text = " / ".join("-" if score is None else f"{score:.{number}f}" for score in scores[:3])
    return text + (f", {seconds:.4g} s" if seconds else "")


def show_stored(item: Item, steps: Sequence[Step]) -> None:
    """Print the stored results of an item, and when and how they were computed."""
    rows, runs = [], set()
    for step in steps:
        store = Store(step.name, step.module.FIELDS, FOLDER)
        lines = [task | store.lines[store.key(task)] for task, _ in step.tasks if store.key(task) in store.lines]
        runs |= {(line.get("date", "an unknown date"), line.get("command", "an unknown command")) for line in lines}
        rows += [compare(step.name, line, step.module.FIELDS) for line in lines]
    print("Nothing was computed. These are stored results:" if runs else "Nothing was computed, and nothing is stored.")
    print(*(f"- of {date}, from {command}" for date, command in sorted(runs)), "", sep="\n")
    print_rows([] if item.tables else rows, item, steps)


def print_rows(rows: list[list[str]], item: Item, steps: Sequence[Step]) -> None:
    """Print rows as three aligned columns, then the tables of the item."""
    rows = [["", "printed in the paper", "in the authors' notebooks", "here"], *rows] if rows else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    tables = {name: table for step in steps for name, table in getattr(step.module, "TABLES", {}).items()}
    for name in item.tables:
        print(tables[name](), end="\n\n")
