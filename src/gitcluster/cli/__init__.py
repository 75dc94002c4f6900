"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file imports nothing optional, so that ``gitcluster demo`` and ``--version`` work without the extra.
``commands`` has the commands and their options, ``terminal`` runs one of them.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

from gitcluster._support.optional import is_installed

__all__ = ["main"]

INSTALL = "pip install 'gitcluster[cli]'"
PACKAGES = ("charset_normalizer", "click", "jinja2", "openpyxl", "pandas", "pyarrow", "rich")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        missing = [package for package in PACKAGES if not is_installed(package)]
        if missing:
            sys.exit(_run_without(given, missing))
        from gitcluster.cli.commands import app
        from gitcluster.cli.terminal import run

        sys.exit(run(app, given))
    except KeyboardInterrupt:  # while packages are imported; after that, run() handles it
        print("Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)


def _run_without(given: list[str], missing: list[str]) -> int:
    """Run a command without the optional packages, or say how to install them; return the exit code."""
    if given == ["demo"]:
        from gitcluster.cli.demo import show_demo

        show_demo()
    elif given == ["--version"]:
        from gitcluster import __version__

        print(f"gitcluster, version {__version__}")
    else:
        command = " ".join(["gitcluster", *given[:1]])
        print(f"{command} needs {', '.join(missing)}: {INSTALL}", file=sys.stderr)
        print("Without them, gitcluster demo works.", file=sys.stderr)
        return 1
    return 0
