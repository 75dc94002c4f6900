"""Command line of the experiments: ``python -m benchmarks <experiment> [options]``."""

from __future__ import annotations

import importlib
import sys

EXPERIMENTS = (
    "accuracy",
    "dimension_reduction",
    "distributed",
    "explorer",
    "features",
    "prediction",
    "report",
    "robustness",
    "search",
    "sensitivity",
    "speed",
    "stages",
    "study",
    "untuned",
)


def main() -> None:
    """Dispatch on the name of the experiment."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in EXPERIMENTS:
        sys.exit(f"usage: python -m benchmarks <{'|'.join(EXPERIMENTS)}> [options]")
    importlib.import_module(f"benchmarks.{name}").main(sys.argv[2:])


if __name__ == "__main__":
    main()
