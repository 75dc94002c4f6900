"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file imports nothing optional, so that ``gitcluster demo`` works without the extra, and every other command
tells how to install it. Exit codes: 0 done, 1 the data or files do not allow it, 2 the command is written wrongly,
130 interrupted, 141 nobody reads the output any more, 129, 131, 143 ended by a signal.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

from gitcluster._support.optional import is_installed
from gitcluster.cli.streams import prepare_streams

__all__ = ["main"]

PACKAGES = ("click", "rich", "pandas", "pyarrow", "openpyxl")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    try:
        sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))
    except KeyboardInterrupt:  # while packages are imported; after that the commands answer it
        print("Interrupted; nothing was written.", file=sys.stderr)
        sys.exit(130)


def _run(given: list[str]) -> int:
    prepare_streams()
    missing = [package for package in PACKAGES if not is_installed(package)]
    if not missing:
        from gitcluster.cli.running import run

        return run(given)
    if given == ["demo"]:
        from gitcluster.cli.demo import show_demo

        show_demo()
        return 0
    what = f"gitcluster {given[0]}" if given else "gitcluster"
    print(f"{what} needs {', '.join(missing)}: pip install 'gitcluster[cli]'", file=sys.stderr)
    print("Without them, gitcluster demo works.", file=sys.stderr)
    return 1
