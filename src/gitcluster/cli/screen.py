"""What a person sees: bars with the time that remains, tables, summaries. Quiet where there is no terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

DELAY = 0.5
"""Seconds before a bar appears: what is done sooner needs none."""

with_traceback = False
_bars: set["Bar"] = set()


class Screen:
    """Says things to a person; silent with ``--quiet``, and on the error stream where labels go to the output."""

    def __init__(self, *, quiet: bool = False, on_error_stream: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(stderr=on_error_stream, highlight=False)
        self.seconds: dict[str, float] = {}

    def say(self, *parts: Any) -> None:
        """Print, unless quiet. A text is printed as it is."""
        if not self.quiet:
            for part in parts:
                self.console.print(part, markup=False, soft_wrap=isinstance(part, str))

    @contextmanager
    def bar(self, what: str, phase: str) -> Iterator["Bar"]:
        """A bar on the error stream for as long as the block runs; its seconds are kept by the name of the phase."""
        start = perf_counter()
        bar = Bar(what, shown=not self.quiet and sys.stderr.isatty())
        try:
            yield bar
        finally:
            bar.close()
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - start


class Bar:
    """A progress bar that appears after a moment; moved by shares that are done, or by the seconds expected."""

    def __init__(self, what: str, *, shown: bool) -> None:
        self.what, self.done, self.until, self.expected = what, 0.0, 0.95, 0.0
        self.start, self.ended = perf_counter(), Event()
        self.thread = Thread(target=self._draw, daemon=True) if shown else None
        if self.thread:
            _bars.add(self)
            self.thread.start()

    def expect(self, seconds: float) -> None:
        """From now on it takes about so long."""
        self.start, self.expected = perf_counter(), seconds

    def advance(self, done: float, until: float = 0.95) -> None:
        """So large a share is done, the bar may move on to ``until`` by time; what was expected is corrected."""
        self.done, self.until = max(self.done, done), until
        if self.expected and done > 0:
            self.expected = (perf_counter() - self.start) / done

    def state(self) -> tuple[float, str]:
        """The share to show and the words for the time: what remains, or what has passed where that is not known."""
        elapsed = perf_counter() - self.start
        share, left = self.done, elapsed * (1 - self.done) / max(self.done, 0.001)
        if self.expected:
            share, left = max(share, min(self.until, elapsed / self.expected)), self.expected - elapsed
        return share, f"{left:.0f} s left" if share >= 0.01 and left >= 0 else f"{elapsed:.0f} s so far"

    def _draw(self) -> None:
        if self.ended.wait(DELAY):
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        console = Console(stderr=True)
        with Progress(
            *columns, TextColumn("{task.fields[left]}"), console=console, transient=True, auto_refresh=False
        ) as lines:
            task = lines.add_task(self.what, total=1.0, left="")
            while not self.ended.wait(0.1):
                share, left = self.state()
                lines.update(task, completed=share, description=self.what, left=left, refresh=True)

    def close(self) -> None:
        """Remove the bar."""
        self.ended.set()
        if self.thread:
            self.thread.join()
            _bars.discard(self)


def restore() -> None:
    """Remove bars and show the cursor again, before the process ends at once."""
    for bar in list(_bars):
        bar.close()
    if sys.stderr.isatty():
        Console(stderr=True).show_cursor(True)


def make_table(title: str, headings: list[str], rows: list[list[str]], *, left: tuple[int, ...] = ()) -> Group:
    """A plain table under its title; numbers to the right, the columns named in ``left`` to the left."""
    made = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, heading in enumerate(headings):
        made.add_column(heading, justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        made.add_row(*map(escape, row))
    return Group(Text(title, style="bold"), "", made, "")
