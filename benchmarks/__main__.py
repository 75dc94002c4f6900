"""Command line of the experiments: ``python -m benchmarks NAME``; ``report`` writes the tables of the pages."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence

from benchmarks import experiments
from benchmarks.runner import run_experiment

MODULES = {name: f"benchmarks.experiments.{name}" for _, name, _ in pkgutil.iter_modules(experiments.__path__)}
MODULES["report"] = "benchmarks.reporting.report"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment of the given name."""
    name, *others = (sys.argv[1:] if arguments is None else arguments) or [""]
    if name not in MODULES:
        sys.exit(f"usage: python -m benchmarks <{'|'.join(sorted(MODULES))}> [options]")
    module = importlib.import_module(MODULES[name])
    if hasattr(module, "main"):
        module.main(others)
        return
    tables = getattr(module, "TABLES", {}).values()
    more = {"add_options": module.add_options} if hasattr(module, "add_options") else {}
    run_experiment(name, module.__doc__ or "", others, fields=module.FIELDS, tasks=module.tasks, tables=tables, **more)


if __name__ == "__main__":
    main()
