"""Run a command, and print for a person or a script.

Exit codes: 0 success, 1 an error in the data or files, 2 wrong usage, 130 interrupted, 129 and 143 ended by a signal.
"""

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import click
from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gitcluster._support.names import escape_control


def run(app: click.Command, arguments: list[str]) -> int:
    """Run a command, print its warnings and errors in one line each, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that the terminal does not support
    warnings.showwarning = lambda message, *_, **__: _print_error(f"Warning: {message}")
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    try:
        app.main(arguments, prog_name="gitcluster", standalone_mode=False, obj=arguments)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show(file=(shown := io.StringIO()))
        _print_error(shown.getvalue().rstrip("\n"))
        return error.exit_code
    except click.Abort:
        _print_error("Interrupted; no half-written file is left.")
        return 130
    except SystemExit as stop:  # a signal, a closed pipe, or shell completion
        return stop.code if isinstance(stop.code, int) else 1
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        words = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        if not isinstance(error, BrokenPipeError):
            _print_error(f"Error: {words}")
        try:
            sys.stdout.flush()
        except OSError:  # closed or full; Python would complain about it at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _print_error(text: str) -> None:
    print(escape_control(text, lines=True), file=sys.stderr, flush=True)


class Screen:
    """Print for a person: nothing with ``--quiet``; on the error stream if labels go to the output. Or print JSON."""

    def __init__(self, options: dict[str, Any], *, on_error_stream: bool = False) -> None:
        self.as_json = options.get("as_json", False)
        self.quiet = options["quiet"] or self.as_json
        self.console = Console(stderr=on_error_stream, highlight=False, emoji=False)

    def show(self, result: dict[str, Any], *summary: Any) -> None:
        """Print the result of a command: texts and tables for a person, or one JSON object for a script."""

        def convert(value: Any) -> Any:
            return json.loads(value.to_json(orient="records")) if hasattr(value, "to_json") else value.tolist()

        if self.as_json:
            print(json.dumps(result, default=convert), flush=True)
        self.say(*summary, *([f"Labels: {result['output']}"] if result.get("output") not in (None, "-") else []))

    def say(self, *parts: Any) -> None:
        """Print texts and tables, unless quiet."""
        if not self.quiet:
            for part in parts:
                shown = escape_control(part, lines=True) if isinstance(part, str) else part
                self.console.print(shown, markup=False, soft_wrap=isinstance(part, str))

    @contextmanager
    def status(self, words: str) -> Iterator[Callable[[str], None]]:
        """Show what is being done in a terminal while the block runs; yield a function that shows the stage as well."""
        shown = Console(stderr=True).status(Text(escape_control(words)), spinner="line")
        with nullcontext() if self.quiet else shown:
            yield lambda stage: shown.update(Text(escape_control(f"{words}: {stage}")))


def text_table(title: str, headings: list[str], rows: list[list[str]], *, left: tuple[int, ...] = ()) -> Group:
    """Return a plain table under its title; columns are aligned to the right, those in ``left`` to the left."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(escape(escape_control(cell)) for cell in row))
    return Group(Text(escape_control(title), style="bold"), "", table, "")
