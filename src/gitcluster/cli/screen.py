"""Show progress, tables and summaries to a person. Nothing moves without a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from gitcluster._support.names import visible
from gitcluster.cli import closed

DELAY = 0.5
"""Seconds before a bar appears: shorter work needs none."""
_bars: set["Bar"] = set()


class Screen:
    """Print for a person: nothing with ``--quiet``, and on the error stream if labels go to the output."""

    def __init__(self, *, quiet: bool = False, on_error_stream: bool = False) -> None:
        self.quiet = quiet or ("stderr" if on_error_stream else "stdout") in closed
        self.console = Console(stderr=on_error_stream, highlight=False)
        self.seconds: dict[str, float] = {}

    def say(self, *parts: Any) -> None:
        """Print texts and tables, unless quiet."""
        if not self.quiet:
            for part in parts:
                shown = visible(part, lines=True) if isinstance(part, str) else part
                self.console.print(shown, markup=False, soft_wrap=isinstance(part, str))

    @contextmanager
    def bar(self, what: str, phase: str) -> Iterator["Bar"]:
        """Show a bar on the error stream while the block runs, and add its seconds to the phase."""
        start = perf_counter()
        bar = Bar(what, shown=not self.quiet and sys.stderr.isatty())
        try:
            yield bar
        finally:
            bar.close()
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - start


class Bar:
    """A line that appears after a moment: a spinner with the time so far, and a bar once a share is known."""

    def __init__(self, what: str, *, shown: bool) -> None:
        columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), KnownBar(), KnownTime())
        self.lines = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.lines.add_task(visible(what), total=None)
        self.ended = Event()
        self.thread = Thread(target=self._show, daemon=True) if shown else None
        if self.thread:
            _bars.add(self)
            self.thread.start()

    def describe(self, what: str) -> None:
        """Change the words of the line."""
        self.lines.update(self.task, description=visible(what))

    def advance(self, share: float) -> None:
        """Show the share that is done."""
        self.lines.update(self.task, total=1.0, completed=share)

    def _show(self) -> None:
        if not self.ended.wait(DELAY):
            with self.lines:
                self.ended.wait()

    def close(self) -> None:
        """Remove the line."""
        self.ended.set()
        if self.thread:
            self.thread.join()
            _bars.discard(self)


class KnownBar(BarColumn):
    """A bar if the share that is done is known."""

    def render(self, task: Task) -> Any:
        """Return the bar of a task."""
        return "" if task.total is None else super().render(task)


class KnownTime(ProgressColumn):
    """The share that is done and the remaining time, or the time so far if these are not known."""

    def render(self, task: Task) -> Text:
        """Return the numbers of a task as text."""
        share = "" if task.total is None else f"{task.percentage:3.0f} % "
        left = task.time_remaining
        return Text(share + (f"{task.elapsed or 0:.0f} s so far" if left is None else f"{left:.0f} s left"))


def close_bars() -> None:
    """Remove bars and show the cursor again, before the process ends at once."""
    for bar in list(_bars):
        bar.close()
    if sys.stderr.isatty():
        Console(stderr=True).show_cursor(True)


def make_table(title: str, headings: list[str], rows: list[list[str]], *, left: tuple[int, ...] = ()) -> Group:
    """Return a plain table under its title; columns are aligned to the right, those in ``left`` to the left."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(visible(cell)) for cell in row))
    return Group(Text(visible(title), style="bold"), "", table, "")
