"""Run experiments: results survive an interruption, and a fit may have a process with limits of its own.

An experiment yields tasks. A task is the key of its result, a dictionary, and a function that returns the rest of the
result. Every result is one line of JSON in ``benchmarks/results``, written at once. A run that is started again skips
stored tasks.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

FOLDER = Path(__file__).parent / "results"
Line = dict[str, Any]
Key = tuple[Any, ...]
Task = tuple[Line, Callable[[], Line]]
PACKAGES = (
    "gitcluster", "numpy", "scipy", "scikit-learn", "numba", "pynndescent", "hdbscan", "fast_hdbscan", "evoc",
    "genieclust", "fast-plscan", "automato", "leidenalg", "igraph", "lumbermark", "repliclust", "pyclugen",
    "densired", "dask", "torch", "umap-learn",
)  # fmt: skip
"""Packages whose versions are stored with every result."""


def run_experiment(
    name: str, description: str, arguments: Sequence[str], *, fields: Sequence[str],
    tasks: Callable[[argparse.Namespace], Iterable[Task]], tables: Iterable[Callable[[], str]] = (),
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
) -> None:  # fmt: skip
    """Run the tasks that are not stored yet, store every result in ``results/NAME.jsonl``, and print the tables.

    ``fields`` identify a result line. ``tasks`` yields tasks for the parsed options, to which ``add_options`` may add.
    """
    parser = make_parser(name, description, add_options)
    options = parser.parse_args(arguments)
    store, about, selected = Store(name, fields), describe_run(name, arguments), options.table
    for task, run in [] if options.table else select(tasks(options), options.only):
        selected = True
        if options.quick:
            show(task | run())
        elif options.again or store.key(task) not in store.lines:
            line = task | run() | about
            store.add(line)
            show(line)
    if options.only and not selected:
        parser.error(f"--only must match a task, got {' '.join(options.only)}.")
    if not options.quick:
        print(*(table() for table in tables), sep="\n\n")


def make_parser(
    name: str, description: str, add_options: Callable[[argparse.ArgumentParser], None]
) -> argparse.ArgumentParser:
    """Return the parser of an experiment, with the options of all experiments and its own."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=description)
    parser.add_argument("--only", nargs="+", default=[], metavar="FIELD=A,B", help="only tasks with these values")
    parser.add_argument("--again", action="store_true", help="run stored tasks again")
    parser.add_argument("--quick", action="store_true", help="run a small part of every task and store nothing")
    parser.add_argument("--table", action="store_true", help="run nothing, print the tables of stored results")
    add_options(parser)
    return parser


def select(tasks: Iterable[Task], only: Sequence[str]) -> Iterator[Task]:
    """Yield the tasks whose fields have one of the values of every ``FIELD=A,B``."""
    wanted = [(field, values.split(",")) for field, _, values in (pair.partition("=") for pair in only)]
    for task, run in tasks:
        if all(str(task.get(field)) in values for field, values in wanted):
            yield task, run


def results_folder() -> Path:
    """Return the folder of the results: ``benchmarks/results``, or the one that GITCLUSTER_RESULTS names."""
    return Path(os.environ.get("GITCLUSTER_RESULTS") or FOLDER)


def show(line: Line) -> None:
    """Print the short values of a result line to the error stream."""
    short = [f"{name}={value}" for name, value in line.items() if len(str(value)) < 60 and name not in ABOUT]
    print(" ".join(short), file=sys.stderr, flush=True)


class Store:
    """The stored results of an experiment by key; if several lines have one key, the last counts."""

    def __init__(self, name: str, fields: Sequence[str], folder: Path | None = None) -> None:
        self.path, self.fields = (folder or results_folder()) / f"{name}.jsonl", fields
        self.lines: dict[Key, Line] = {self.key(line): line for line in read_lines(self.path)}

    def key(self, line: Line) -> Key:
        """Return the key of a line; a missing field counts as 0."""
        values = [line.get(field) for field in self.fields]
        return tuple(0 if v is None else tuple(v) if isinstance(v, list) else v for v in values)

    def add(self, line: Line) -> None:
        """Store a line in place of the line with its key."""
        line = json.loads(json.dumps(line))
        if self.key(line) in self.lines:
            others = [other for other in read_lines(self.path) if self.key(other) != self.key(line)]
            copy = self.path.with_suffix(".new")
            copy.write_text("".join(json.dumps(other) + "\n" for other in others))
            copy.replace(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        incomplete = self.path.exists() and self.path.read_bytes()[-1:] not in (b"", b"\n")
        with self.path.open("a") as file:
            file.write("\n" * incomplete + json.dumps(line) + "\n")
        self.lines[self.key(line)] = line


def read_lines(path: Path) -> list[Line]:
    """Return the stored lines without those that an interruption cut off."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else []:
        with suppress(json.JSONDecodeError):
            lines.append(json.loads(text))
    return lines


def run_in_process(work: Callable[..., Any], *arguments: Any, seconds: float = 900, gigabytes: float = 14) -> Any:
    """Return ``work(*arguments)`` from a new process, or ``{"error": ...}`` if it raises, ends or exceeds a limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, arguments, gigabytes))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(seconds) else {"error": f"> {seconds:g} s"}
    except EOFError:
        return {"error": "the process ended, most likely for want of memory"}
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # its own workers too
        process.kill()
        process.join()


def _work(sender: Connection, work: Callable[..., Any], arguments: Sequence[Any], gigabytes: float) -> None:
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9), resource.RLIM_INFINITY))
    try:
        answer = work(*arguments)
    except Exception as error:  # a failing method must not end the run
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0].strip()[:200]}
    sender.send(answer)


def time_call(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result of a call, its wall seconds and its CPU seconds."""
    start, cpu = perf_counter(), process_time()
    result = call()
    return result, perf_counter() - start, process_time() - cpu


ABOUT = ("command", "date", "machine", "versions")


def describe_run(name: str, arguments: Sequence[str]) -> Line:
    """Return command, date, size of the machine and versions, which are stored with every line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "command": f"python -m benchmarks {shlex.join([name, *arguments])}",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GB",
        "versions": versions,
    }
