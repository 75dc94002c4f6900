"""Ctrl-C while the command ``gitcluster`` imports its packages: one line instead of a traceback.

Importing takes a second or two before the first line of the command itself runs. In other programs nothing is changed.
"""

import sys
from itertools import pairwise
from pathlib import PurePath
from typing import Any


def is_command(arguments: list[str], original: list[str]) -> bool:
    """Whether the process is the command: the installed script, or ``python -m gitcluster``.

    Examples
    --------
    >>> is_command(["/usr/bin/gitcluster", "fit"], []), is_command(["notebook.py"], ["python", "notebook.py"])
    (True, False)
    """
    if PurePath(arguments[0] if arguments else "").stem == "gitcluster":
        return True
    return arguments[:1] == ["-m"] and ("-m", "gitcluster") in pairwise(original)


def show_briefly(kind: Any, error: Any, trace: Any) -> None:
    """Say that the command was interrupted; other errors are shown as always."""
    if issubclass(kind, KeyboardInterrupt):
        print("Interrupted; nothing was written.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if is_command(getattr(sys, "argv", []), getattr(sys, "orig_argv", [])):
    sys.excepthook = show_briefly
