"""One line a run: what identifies it, what it gave, and where and with which packages it ran."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from joblib import cpu_count

from benchmarks.running import installed_versions
from benchmarks.tables import Line, read_lines

Job = TypeVar("Job")


def stamp(packages: Sequence[str]) -> Line:
    """Versions of the packages that are installed, number of cores, date."""
    return {
        "versions": installed_versions(packages),
        "cores": cpu_count(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def append(path: Path, line: Line) -> None:
    """Add a line, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as results:
        results.write(json.dumps(line) + "\n")


def stored_keys(path: Path, names: Sequence[str]) -> set[tuple[Any, ...]]:
    """What has been run already."""
    return {tuple(line[name] for name in names) for line in read_lines(path)}


def announce(jobs: Iterable[Job], describe: Callable[[Job], str]) -> Iterator[Job]:
    """Yield the jobs and tell on the error stream which one runs: a bar on a terminal, else a line each."""
    jobs = list(jobs)
    if not sys.stderr.isatty():
        for i, job in enumerate(jobs, 1):
            print(f"[{i}/{len(jobs)}] {describe(job)}", file=sys.stderr, flush=True)
            yield job
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=len(jobs))
        for job in jobs:
            bar.update(task, description=describe(job))
            yield job
            bar.advance(task)
