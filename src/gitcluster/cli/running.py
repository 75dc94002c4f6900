"""How a command runs and ends: exit codes, Ctrl-C, broken pipes.

The command works in a thread of its own while the main thread only waits: Ctrl-C is answered at once, also inside
compiled code or while a pipe is silent. What is half-written is removed before the process ends.
"""

import os
import signal
import sys
import traceback
import warnings
from threading import Thread
from typing import Any

import click

from gitcluster._support.files import abandon
from gitcluster.cli import screen
from gitcluster.cli.app import OutputClosed, app

INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


def run(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    outcome: list[int] = []
    thread = Thread(target=lambda: outcome.append(execute(arguments)), daemon=True)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        thread.start()
        thread.join()
    except (KeyboardInterrupt, SystemExit) as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        abandon()
        screen.restore()
        if isinstance(stop, KeyboardInterrupt):
            _tell("Interrupted; no half-written file is left.")
        os._exit(INTERRUPTED if isinstance(stop, KeyboardInterrupt) else TERMINATED)  # a thread still computes
    return outcome[0] if outcome else 1


def _terminate(*_: Any) -> None:
    sys.exit(TERMINATED)


def execute(arguments: list[str]) -> int:
    """Run a command in this thread; the exit code."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", UserWarning)
    try:
        code = app.main(arguments, prog_name="gitcluster", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except SystemExit as stop:  # shell completion
        return stop.code if isinstance(stop.code, int) else 1
    except OutputClosed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is said to nobody
        return BROKEN_PIPE
    except EXPECTED as error:
        if screen.with_traceback:
            traceback.print_exc()
        _tell(f"Error: {_sentence(error)}")
        return 1


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    _tell(f"Warning: {message}")


def _tell(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        return
