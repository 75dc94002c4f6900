"""``python -m gitcluster``: the command line; without arguments, the demonstration."""

import sys

from gitcluster.cli import main

if __name__ == "__main__":
    main(sys.argv[1:] or ["demo"])
