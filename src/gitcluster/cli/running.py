"""How a command runs and ends: exit codes, Ctrl-C, broken pipes.

The command works in a thread of its own while the main thread only waits: Ctrl-C is answered at once, also inside
compiled code or while a pipe is silent. What is half-written is removed before the process ends.
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
from threading import Thread
from typing import Any

import click

from gitcluster._support.files import abandon
from gitcluster._support.names import visible
from gitcluster.cli import screen
from gitcluster.cli.app import OutputClosed, app
from gitcluster.cli.streams import silence

INTERRUPTED, BROKEN_PIPE = 130, 141
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
"""Signals that end a command; its exit code is 128 and the number of the signal."""
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


def run(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    outcome: list[int] = []
    thread = Thread(target=lambda: outcome.append(execute(arguments)), daemon=True)
    for ending in ENDING:
        if signal.getsignal(ending) != signal.SIG_IGN:  # as nohup does
            signal.signal(ending, _end)
    folder = _own_folder()
    sys.unraisablehook = lambda _: None  # on a full disk, what openpyxl throws away complains a second time
    try:
        thread.start()
        while thread.is_alive():
            thread.join(0.1)  # the system may hand a signal to any thread: this one looks for it now and then
    except (KeyboardInterrupt, SystemExit) as stop:
        for ending in (signal.SIGINT, *ENDING):
            signal.signal(ending, signal.SIG_IGN)
        abandon()
        shutil.rmtree(folder, ignore_errors=True)
        screen.restore()
        if isinstance(stop, KeyboardInterrupt):
            _tell("Interrupted; no half-written file is left.")
        os._exit(INTERRUPTED if isinstance(stop, KeyboardInterrupt) else int(str(stop.code)))  # a thread still computes
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return outcome[0] if outcome else 1


def _own_folder() -> str:
    """A folder for temporary files of all libraries: they would stay where the process has to end at once."""
    try:
        tempfile.tempdir = tempfile.mkdtemp(prefix="gitcluster-")
    except OSError:  # nothing can be written; it may not be needed
        return ""
    return tempfile.tempdir


def _end(number: int, _: Any) -> None:
    sys.exit(128 + number)


def execute(arguments: list[str]) -> int:
    """Run a command in this thread; the exit code."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    try:
        code = app.main(arguments, prog_name="gitcluster", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show(file=(words := io.StringIO()))
        _tell(words.getvalue().rstrip("\n"))
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except SystemExit as stop:  # shell completion
        return stop.code if isinstance(stop.code, int) else 1
    except OutputClosed:
        silence(sys.stdout)
        return BROKEN_PIPE
    except EXPECTED as error:
        if screen.with_traceback:
            traceback.print_exc()
        _tell(f"Error: {_sentence(error)}")
        try:
            sys.stdout.flush()
        except OSError:
            silence(sys.stdout)
        return 1


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    _tell(f"Warning: {message}")


def _tell(text: str) -> None:
    try:
        print(visible(text, lines=True), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)
