"""Write the pages of figures in ``docs/`` from stored results alone: ``python -m benchmarks report [--check]``.

A page has its prose between markers ``<!-- table NAME -->`` and ``<!-- end -->``; what lies between is replaced by the
table of that name.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.experiments import (
    cells,
    dimension_reduction,
    explorer,
    features,
    prediction,
    public,
    refitting,
    robustness,
    search,
    sensitivity,
    speed,
    study,
    tables,
    untuned,
)
from benchmarks.reporting import accuracy_tables, distributed_tables, hostile_tables
from benchmarks.reporting.tables import untuned_summary, untuned_table
from benchmarks.running import Store

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def _accuracy(draw: Callable[[Store, str], str], group: str) -> str:
    return draw(accuracy_tables.stored(), group)


TABLES = {
    "summary": lambda: untuned_summary(untuned.read_results()),
    "public": public.table,
    "untuned": lambda: untuned_table(untuned.read_results(), methods=None, families=None),
    "paper": lambda: accuracy_tables.git_table(accuracy_tables.stored()),
    "accuracy_gaps": lambda: accuracy_tables.gaps_table(accuracy_tables.stored()),
    "accuracy_close": lambda: accuracy_tables.close_rows(accuracy_tables.stored()),
    "sizes": lambda: accuracy_tables.sizes_table(accuracy_tables.stored()),
    **{
        f"{group}_{name}": partial(_accuracy, draw, group)
        for group in ("small", "shapes", "large")
        for name, draw in (
            ("published", accuracy_tables.published_table),
            ("untuned", accuracy_tables.untuned_table),
            ("failures", accuracy_tables.failures),
        )
    },
    "robustness": robustness.table,
    "robustness_published": lambda: robustness.published_table(robustness.stored()),
    "robustness_optimal": lambda: robustness.optimal_table(robustness.stored()),
    "robustness_untuned": lambda: robustness.untuned_table(robustness.stored()),
    "dimension_reduction": dimension_reduction.table,
    "embedding_seconds": dimension_reduction.time_table,
    **{f"distributed_{name}": draw for name, draw in distributed_tables.TABLES.items()},
    "sensitivity": sensitivity.table,
    "study": study.table,
    "tables": tables.table_of_scores,
    "tables_noise": tables.noise_table,
    "features": features.table,
    "explorer": explorer.table,
    "explorer_speed": explorer.speed_table,
    "speed": speed.table,
    "speed_ratio": speed.ratio_table,
    "speed_sweep": speed.sweep_table,
    "speed_compile": speed.compile_table,
    "search": search.table,
    "bounds": search.bound_table,
    "approximate": search.label_table,
    "prediction": prediction.table,
    "refitting": refitting.table,
    "cells": cells.table,
    "hostile": hostile_tables.table,
}


def main(arguments: Sequence[str]) -> None:
    """Fill the pages, or with ``--check`` fail where one is not up to date."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks report", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where a page is out of date")
    check = parser.parse_args(arguments).check
    stale = [page for page in PAGES if fill(page.read_text()) != page.read_text()]
    for page in stale:
        if check:
            print(f"{page.relative_to(ROOT)} is out of date: python -m benchmarks report", file=sys.stderr)
        else:
            page.write_text(fill(page.read_text()))
    sys.exit(1 if check and stale else 0)


def fill(text: str) -> str:
    """The page with its tables drawn anew."""
    marked = re.compile(r"<!-- table (\w+) -->\n.*?<!-- end -->", re.DOTALL)
    return marked.sub(lambda found: f"<!-- table {found[1]} -->\n{TABLES[found[1]]()}\n<!-- end -->", text)
