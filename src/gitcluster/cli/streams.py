"""The standard streams, whatever state they were left in: closed, or unable to show a letter."""

import os
import sys
from contextlib import suppress
from typing import Any

closed: set[str] = set()
"""Names of streams that were closed when the command began."""
NAMES = {"stdin": "The standard input", "stdout": "The standard output", "stderr": "The standard error stream"}


def prepare_streams() -> None:
    """Put nothing in the place of a closed stream, so that no file takes its number; show what cannot be encoded."""
    for number, name in enumerate(NAMES):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            closed.add(name)
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def check_open(name: str) -> None:
    """Raise where a stream that is needed was closed."""
    if name in closed:
        raise OSError(f"{NAMES[name]} is closed. Redirect it, or name a file.")


def silence(stream: Any) -> None:
    """Let what is left in a stream that takes no more go nowhere; Python would complain of it when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
