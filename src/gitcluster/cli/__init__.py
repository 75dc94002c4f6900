"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file starts and ends a command: streams, signals, errors and exit codes. It imports nothing optional, so that
``gitcluster demo``, ``--help`` and ``--version`` work without the extra. The commands are in ``commands.py``. Exit
codes: 0 done, 1 the data or files do not allow it, 2 wrong usage, 130 interrupted, 141 the output is closed, 129, 131
and 143 ended by a signal.
"""

import atexit
import io
import os
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread
from typing import Any, NoReturn

from gitcluster._support.files import abandon
from gitcluster._support.names import visible
from gitcluster._support.optional import is_installed

__all__ = ["main"]

INSTALL = "pip install 'gitcluster[cli]'"
HELP = f"""Usage: gitcluster COMMAND [ARGS]...

  Cluster the rows of a table, plot the clusters, and explain them.

  gitcluster demo       cluster an embedded example
  gitcluster --version

  The other commands read and write tables. They need more packages, {INSTALL}:

  gitcluster fit        cluster the rows of a table
  gitcluster predict, cut, profile, explain, plot, explore, report, compare

  In Python:  from gitcluster import GIT; labels = GIT().fit_predict(X)"""
"""The help without click, which writes the full one."""
PACKAGES = ("charset_normalizer", "click", "jinja2", "openpyxl", "pandas", "pyarrow", "rich")
STREAMS = {"stdin": "The standard input", "stdout": "The standard output", "stderr": "The standard error stream"}
INTERRUPTED, OUTPUT_CLOSED = 130, 141
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
"""Signals that end a command; its exit code is 128 and the number of the signal."""
closed: set[str] = set()
"""Streams that were closed when the command began."""
show_traceback = False


class OutputClosedError(Exception):
    """Nobody reads the output any more; click would turn a broken pipe into exit code 1."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    try:
        _prepare_streams()
        given = list(sys.argv[1:] if arguments is None else arguments)
        missing = [package for package in PACKAGES if not is_installed(package)]
        sys.exit(_run_without(given, missing) if missing else run(given))
    except KeyboardInterrupt:  # while packages are imported; after that, run() handles it
        print("Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(INTERRUPTED)


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


def _run_without(given: list[str], missing: list[str]) -> int:
    """Run a command without the optional packages, or say how to install them; return the exit code."""
    if given == ["demo"]:
        from gitcluster.cli.demo import show_demo

        show_demo()
    elif given == ["--version"]:
        from gitcluster import __version__

        print(f"gitcluster, version {__version__}")
    elif not given or given[0] in ("-h", "--help"):
        print(HELP)
    else:
        print(f"gitcluster {given[0]} needs {', '.join(missing)}: {INSTALL}", file=sys.stderr)
        print("Without them, gitcluster demo works.", file=sys.stderr)
        return 1
    return 0


def run(arguments: list[str]) -> int:
    """Run a command in a thread, and return its exit code.

    The main thread only waits, so that Ctrl-C works at once, also inside compiled code or while a pipe is silent.
    Half-written files are removed before the process ends.
    """
    import gitcluster.cli.commands  # noqa: F401 - here, so that Ctrl-C works during the import
    from gitcluster.cli.screen import close_bars

    outcome: list[int] = []
    thread = Thread(target=lambda: outcome.append(execute(arguments)), daemon=True)
    for ending in ENDING:
        if signal.getsignal(ending) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    folder = ""
    with suppress(OSError):  # a folder for the temporary files of all libraries, to remove all of them
        folder = tempfile.tempdir = tempfile.mkdtemp(prefix="gitcluster-")
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
        close_bars()
        if isinstance(stop, KeyboardInterrupt):
            _print_error("Interrupted; no half-written file is left.")
        os._exit(INTERRUPTED if isinstance(stop, KeyboardInterrupt) else int(str(stop.code)))  # the thread still runs
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return outcome[0] if outcome else 1


def execute(arguments: list[str]) -> int:
    """Run a command in this thread, and return its exit code."""
    import click

    from gitcluster.cli.commands import app

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
        if show_traceback:
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


def _print_error(text: str) -> None:
    try:
        print(visible(text, lines=True), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: Any) -> None:
    """Send the rest of a stream to the null device; Python would complain of it at the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
