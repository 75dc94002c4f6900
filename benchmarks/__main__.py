"""Command line of the experiments: ``python -m benchmarks NAME``; ``report`` writes the tables of the pages."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from benchmarks import experiments

MODULES = {name: f"benchmarks.experiments.{name}" for _, name, _ in pkgutil.iter_modules(experiments.__path__)}
MODULES["report"] = "benchmarks.reporting.report"


def main() -> None:
    """Run the experiment of the given name."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in MODULES:
        sys.exit(f"usage: python -m benchmarks <{'|'.join(sorted(MODULES))}> [options]")
    importlib.import_module(MODULES[name]).main(sys.argv[2:])


if __name__ == "__main__":
    main()
