"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file imports nothing optional, so that ``gitcluster demo`` works without the extra, and every other command
tells how to install it. Exit codes: 0 done, 1 the data or files do not allow it, 2 the command is written wrongly,
130 interrupted, 141 nobody reads the output any more.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

from gitcluster._support.optional import is_installed

__all__ = ["main"]

PACKAGES = ("click", "rich", "pandas", "pyarrow", "openpyxl")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    missing = [package for package in PACKAGES if not is_installed(package)]
    if not missing:
        from gitcluster.cli.running import run

        sys.exit(run(given))
    if given == ["demo"]:
        from gitcluster.cli.demo import show_demo

        show_demo()
        sys.exit(0)
    what = f"gitcluster {given[0]}" if given else "gitcluster"
    print(f"{what} needs {', '.join(missing)}: pip install 'gitcluster[cli]'", file=sys.stderr)
    print("Without them, gitcluster demo works.", file=sys.stderr)
    sys.exit(1)
