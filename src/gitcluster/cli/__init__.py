"""The command ``gitcluster``: a table in, labels, pictures and explanations out (extra ``[cli]``).

This file imports nothing optional, so that ``gitcluster demo``, ``--help`` and ``--version`` work without the extra,
and every other command tells how to install it. Exit codes: 0 done, 1 the data or files do not allow it, 2 the command
is written wrongly, 130 interrupted, 141 nobody reads the output any more, 129, 131, 143 ended by a signal.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

from gitcluster._support.optional import is_installed
from gitcluster.cli.streams import prepare_streams

__all__ = ["main"]

INSTALL = "pip install 'gitcluster[cli]'"
HELP = f"""Usage: gitcluster COMMAND [ARGS]...

  Cluster the rows of a table, see the clusters, and learn why a row is where it is.

  gitcluster demo       see it work, here and now
  gitcluster --version

  These read and write tables, and need more packages, {INSTALL}:

  gitcluster fit        cluster the rows of a table
  gitcluster predict, cut, profile, explain, plot, explore, report, compare

  In Python:  from gitcluster import GIT; labels = GIT().fit_predict(X)"""
"""What --help says where click, which makes the full one, is not installed."""
PACKAGES = ("charset_normalizer", "click", "rich", "pandas", "pyarrow", "openpyxl")


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
    return _run_without(given, missing)


def _run_without(given: list[str], missing: list[str]) -> int:
    """What works without the extra; all else tells how to install it."""
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
