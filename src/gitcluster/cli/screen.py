"""What a person sees: progress, tables, summaries. Nothing moves where there is no terminal."""

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
from gitcluster.cli.streams import closed

DELAY = 0.5
"""Seconds before a bar appears: what is done sooner needs none."""

with_traceback = False
_bars: set["Bar"] = set()


class Screen:
    """Says things to a person: nothing with ``--quiet``, and on the error stream where labels go to the output."""

    def __init__(self, *, quiet: bool = False, on_error_stream: bool = False) -> None:
        self.quiet = quiet or ("stderr" if on_error_stream else "stdout") in closed
        self.console = Console(stderr=on_error_stream, highlight=False)
        self.seconds: dict[str, float] = {}

    def say(self, *parts: Any) -> None:
        """Print, unless quiet. A text is printed as it is."""
        if not self.quiet:
            for part in parts:
                shown = visible(part, lines=True) if isinstance(part, str) else part
                self.console.print(shown, markup=False, soft_wrap=isinstance(part, str))

    def rounded_seconds(self) -> dict[str, float]:
        """Seconds of each phase, for ``--json``."""
        return {phase: round(seconds, 3) for phase, seconds in self.seconds.items()}

    @contextmanager
    def bar(self, what: str, phase: str) -> Iterator["Bar"]:
        """A bar on the error stream while the block runs; its seconds are kept under the name of the phase."""
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

    @property
    def what(self) -> str:
        """The words of the line."""
        return self.lines.tasks[0].description

    @what.setter
    def what(self, text: str) -> None:
        self.lines.update(self.task, description=visible(text))

    def advance(self, share: float) -> None:
        """Tell which share is done; 0 where that is not known."""
        if share > 0:
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
    """A bar where the share that is done is known, nothing elsewhere."""

    def render(self, task: Task) -> Any:
        """The bar of a task."""
        return "" if task.total is None else super().render(task)


class KnownTime(ProgressColumn):
    """The share that is done and the time that remains, or the time so far where these are not known."""

    def render(self, task: Task) -> Text:
        """The numbers of a task in words."""
        share = "" if task.total is None else f"{task.percentage:3.0f} % "
        left = task.time_remaining
        return Text(share + (f"{task.elapsed or 0:.0f} s so far" if left is None else f"{left:.0f} s left"))


def restore() -> None:
    """Remove bars and show the cursor again, before the process ends at once."""
    for bar in list(_bars):
        bar.close()
    if sys.stderr.isatty():
        Console(stderr=True).show_cursor(True)


def make_table(title: str, headings: list[str], rows: list[list[str]], *, left: tuple[int, ...] = ()) -> Group:
    """A plain table under its title; columns are aligned to the right, those in ``left`` to the left."""
    made = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, heading in enumerate(headings):
        made.add_column(heading, justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(escape(visible(cell)) for cell in row))
    return Group(Text(visible(title), style="bold"), "", made, "")
