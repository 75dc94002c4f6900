"""Run a command at a terminal: streams, signals and exit codes, and what a person sees of it.

Exit codes: 0 success, 1 an error in the data or files, 2 wrong usage, 130 interrupted, 141 the output is closed, 129,
131 and 143 ended by a signal.
"""

import atexit
import gc
import io
import os
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Thread
from time import perf_counter
from typing import Any, NamedTuple

import click
from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from gitcluster._support.files import abandon
from gitcluster._support.names import escape_control

STREAMS = {"stdin": "The standard input", "stdout": "The standard output", "stderr": "The standard error stream"}
INTERRUPTED, OUTPUT_CLOSED = 130, 141
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
"""Signals that end a command; its exit code is 128 and the number of the signal."""
closed: set[str] = set()
"""Streams that were closed when the command began."""
_shown: set[Progress] = set()
"""Lines of progress that are on the screen."""


class OutputClosedError(Exception):
    """Nobody reads the output any more; click would turn a broken pipe into exit code 1."""


def run(app: click.Command, arguments: list[str]) -> int:
    """Run a command in a thread, and return its exit code.

    The main thread only waits, so that Ctrl-C works at once, also inside compiled code or while a pipe is silent.
    Half-written files are removed before the process ends.
    """
    _prepare_streams()
    outcome: list[int] = []
    thread = Thread(target=lambda: outcome.append(execute(app, arguments)), daemon=True)
    for ending in ENDING:
        if signal.getsignal(ending) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    folder = ""
    with suppress(OSError):  # a folder for the temporary files of all libraries, to remove all of them
        folder = tempfile.tempdir = tempfile.mkdtemp(prefix="gitcluster-")
    gc.freeze()  # reading creates many objects, and searching all imported modules for garbage would double its time
    sys.unraisablehook = lambda _: None  # on a full disk, openpyxl complains a second time
    try:
        thread.start()
        while thread.is_alive():
            thread.join(0.1)  # the system may deliver a signal to any thread: look for it now and then
    except (KeyboardInterrupt, SystemExit) as stop:
        for ending in (signal.SIGINT, *ENDING):
            signal.signal(ending, signal.SIG_IGN)
        abandon()
        shutil.rmtree(folder, ignore_errors=True)
        for lines in list(_shown):
            lines.stop()  # which shows the cursor again
        if isinstance(stop, KeyboardInterrupt):
            _print_error("Interrupted; no half-written file is left.")
        os._exit(INTERRUPTED if isinstance(stop, KeyboardInterrupt) else int(str(stop.code)))  # the thread still runs
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return outcome[0] if outcome else 1


def execute(app: click.Command, arguments: list[str]) -> int:
    """Run a command in this thread, and return its exit code."""
    warnings.showwarning = lambda message, *_, **__: _print_error(f"Warning: {message}")
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    try:
        code = app.main(arguments, prog_name="gitcluster", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show(file=(shown := io.StringIO()))
        _print_error(shown.getvalue().rstrip("\n"))
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except SystemExit as stop:  # shell completion
        return stop.code if isinstance(stop.code, int) else 1
    except OutputClosedError:
        _discard(sys.stdout)
        return OUTPUT_CLOSED
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if "--traceback" in arguments:
            traceback.print_exc()
        words = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        _print_error(f"Error: {words}")
        try:
            sys.stdout.flush()
        except OSError:
            _discard(sys.stdout)
        return 1


def _prepare_streams() -> None:
    """Replace closed streams by the null device, so that no file gets their numbers; escape what has no encoding."""
    for number, name in enumerate(STREAMS):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            closed.add(name)
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def check_open(name: str) -> None:
    """Raise OSError if a stream was closed when the command began."""
    if name in closed:
        raise OSError(f"{STREAMS[name]} is closed. Redirect it, or name a file.")


def _print_error(text: str) -> None:
    try:
        print(escape_control(text, lines=True), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: Any) -> None:
    """Send the rest of a stream to the null device; Python would complain of it at the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


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
                shown = escape_control(part, lines=True) if isinstance(part, str) else part
                self.console.print(shown, markup=False, soft_wrap=isinstance(part, str))

    @contextmanager
    def bar(self, what: str, phase: str) -> Iterator["Bar"]:
        """Show a line of progress in a terminal while the block runs, and add its seconds to the phase."""
        start = perf_counter()
        columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), BarColumn(), TimeColumn())
        lines = Progress(*columns, console=Console(stderr=True), transient=True)
        is_shown = not self.quiet and sys.stderr.isatty()
        if is_shown:
            _shown.add(lines)
        try:
            with lines if is_shown else nullcontext():
                yield Bar(lines, lines.add_task(escape_control(what), total=None))
        finally:
            _shown.discard(lines)
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - start


class Bar(NamedTuple):
    """A line of progress."""

    lines: Progress
    task: TaskID

    def describe(self, what: str) -> None:
        """Change the words of the line."""
        self.lines.update(self.task, description=escape_control(what))

    def advance(self, share: float) -> None:
        """Show the share that is done."""
        self.lines.update(self.task, total=1.0, completed=share)


class TimeColumn(ProgressColumn):
    """The seconds that are left, or the seconds so far if no share is known."""

    def render(self, task: Task) -> Text:
        """Return the seconds of a task as text."""
        left = task.time_remaining
        return Text(f"{task.elapsed or 0:.0f} s so far" if left is None else f"{left:.0f} s left")


def make_table(title: str, headings: list[str], rows: list[list[str]], *, left: tuple[int, ...] = ()) -> Group:
    """Return a plain table under its title; columns are aligned to the right, those in ``left`` to the left."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(escape_control(cell)) for cell in row))
    return Group(Text(escape_control(title), style="bold"), "", table, "")
