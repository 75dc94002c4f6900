"""Long experiments: results that survive an interruption, fits that may not take all time or memory, progress.

A result is a line of JSON, written as soon as it is there; a run that is started again skips what is stored. A fit runs
in a process of its own, which is ended when it takes too long and begun anew for the next.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

FOLDER = Path(__file__).parent / "results"
Line = dict[str, Any]
Key = tuple[Any, ...]
NAMES: dict[str, Any] = {"type": lambda text: text.split(","), "metavar": "A,B"}
"""How argparse reads an option that is a list of names."""
PACKAGES = (
    "gitcluster", "numpy", "scipy", "scikit-learn", "numba", "pynndescent", "hdbscan", "fast_hdbscan", "evoc",
    "genieclust", "k-means-constrained", "dask", "torch", "umap-learn", "pyamg", "kmodes",
    "statsmodels", "vega_datasets",
)  # fmt: skip


class Store:
    """Lines of a result file by key; of lines with one key the last counts."""

    def __init__(self, path: Path, fields: Sequence[str]) -> None:
        self.path, self.fields = path, fields
        self.lines: dict[Key, Line] = {self.key(line): line for line in read_lines(path)}

    def key(self, line: Line) -> Key:
        """What a line is the result of."""
        return tuple(line[field] for field in self.fields)

    def add(self, line: Line) -> None:
        """Store a line, in place of one with its key."""
        if self.key(line) in self.lines:
            others = [other for other in read_lines(self.path) if self.key(other) != self.key(line)]
            aside = self.path.with_suffix(".aside")
            aside.write_text("".join(json.dumps(other) + "\n" for other in others))
            aside.replace(self.path)
        append(self.path, line)
        self.lines[self.key(line)] = line


def append(path: Path, line: Line) -> None:
    """Add a line to a result file, after the end of one that an interruption may have torn."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a") as results:
        results.write("\n" * torn + json.dumps(line) + "\n")


def record(path: Path, line: Line) -> None:
    """Add a line to a result file and show it."""
    append(path, line)
    print(json.dumps({name: value for name, value in line.items() if name != "versions"}), file=sys.stderr)


def read_lines(path: Path) -> list[Line]:
    """Stored lines, none where an experiment has not been run, without those that an interruption has torn."""
    lines = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines


class Worker:
    """A process that does one piece of work at a time: ``run(task)`` gives what ``work(task)`` returns there.

    What it raises, or that it was ended after ``seconds`` or for want of ``gigabytes``, comes back as "error".
    """

    def __init__(self, work: Callable[[Any], Any], *, seconds: float, gigabytes: float) -> None:
        self.work, self.seconds, self.gigabytes = work, seconds, gigabytes
        self.process: multiprocessing.process.BaseProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.connection.close()
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid or 0, signal.SIGKILL)  # its own workers too
            self.process.kill()
            self.process.join()
            self.process = None

    def run(self, task: Any) -> Any:
        """Do one task."""
        if self.process is None:
            self._begin()
        self.connection.send(task)
        if not self.connection.poll(self.seconds):
            self.end()
            return {"error": f"> {self.seconds:g} s"}
        try:
            return self.connection.recv()
        except EOFError:
            self.end()
            return {"error": "the process was ended, most likely for want of memory"}

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, self.work, self.gigabytes))
        self.process.start()
        other.close()


def serve(connection: Connection, work: Callable[[Any], Any], gigabytes: float) -> None:
    """Answer tasks until the other side hangs up."""
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9), resource.RLIM_INFINITY))
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            answer = work(task)
        except Exception as error:  # a failing method must not end the run
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0].strip()[:200]}
        connection.send(answer)


def time_call(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its seconds."""
    start = perf_counter()
    result = call()
    return result, perf_counter() - start


def show_progress(tasks: Sequence[Any], title: str) -> Iterator[tuple[Any, Callable[[str], None]]]:
    """Every task with a function that prints a line above the progress bar."""
    if not tasks:
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(title, total=len(tasks))
        for task in tasks:
            yield task, lambda text: progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
            progress.advance(bar)


def describe_run(experiment: str, arguments: Iterable[str]) -> Line:
    """Command, date, machine and versions, for every line; where files are kept is nobody's business."""
    arguments = [a for before, a in pairwise(["", *arguments]) if not {before, a} & {"--cache", "--results"}]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "command": " ".join(["python -m benchmarks", experiment, *arguments]),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GB",
        "versions": {"python": ".".join(map(str, sys.version_info[:3]))} | installed_versions(),
    }


def installed_versions() -> dict[str, str]:
    """Versions of those packages that are installed and may matter."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
