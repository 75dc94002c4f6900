"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file imports nothing optional, so that ``gitcluster demo`` and ``--version`` work without the extra.
``commands`` has the commands and their options, ``terminal`` runs one of them.
"""

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from gitcluster._support.optional import is_installed

__all__ = ["main"]

PACKAGES = ("click", "jinja2", "openpyxl", "pandas", "pyarrow", "rich")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("SIGTERM", "SIGHUP"):  # exceptions remove half-written files; nohup ignores SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    if sys.stdout is None:  # closed, as by >&-
        sys.exit("Error: The standard output is closed. Redirect it to a file.")
    missing = [package for package in PACKAGES if not is_installed(package)]
    if not missing:
        from gitcluster.cli.commands import app
        from gitcluster.cli.terminal import run

        sys.exit(run(app, given))
    if given == ["demo"]:
        from gitcluster.cli.demo import show_demo

        show_demo()
        sys.exit(0)
    if given == ["--version"]:
        from gitcluster import __version__

        print(f"gitcluster, version {__version__}")
        sys.exit(0)
    command = " ".join(["gitcluster", *given[:1]])
    print(f"{command} needs {', '.join(missing)}: pip install 'gitcluster[cli]'", file=sys.stderr)
    print("Without them, gitcluster demo works.", file=sys.stderr)
    sys.exit(1)
