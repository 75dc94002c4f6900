"""Write the pages of figures in ``docs/`` from stored results alone: ``python -m benchmarks report [--check]``.

A page has its prose between markers ``<!-- table NAME -->`` and ``<!-- end -->``; what lies between is replaced by
the table of that name. A picture holds the digest of the result files it was drawn from, and is drawn again when they
change (needs matplotlib, and the data sets for pictures of samples).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from benchmarks.experiments import (
    cells,
    dimension_reduction,
    explorer,
    features,
    gaps,
    messy,
    one_cluster,
    prediction,
    public,
    robustness,
    search,
    sensitivity,
    speed,
    stages,
    statements,
    tables,
    untuned,
)
from benchmarks.reporting import accuracy_tables, distributed_tables, hostile_tables, paper_items
from benchmarks.reporting.tables import untuned_summary, untuned_table
from benchmarks.running import FOLDER, Store

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PICTURES = {
    "shapes_published": ("accuracy",),
    "shapes_untuned": ("accuracy",),
    "robustness": ("robustness",),
    "noise_and_scale": ("pictures",),
    "dimension_reduction": ("dimension_reduction",),
    "dimension_reduction_published": ("dimension_reduction", "sensitivity"),
    "images_umap": ("pictures",),
    "sensitivity": ("sensitivity", "dimension_reduction"),
    "speed": ("speed",),
    "speed_paper": ("speed",),
}
"""The result files that a picture in ``docs/`` is drawn from."""


def _accuracy(draw: Callable[[Store, str], str], group: str) -> str:
    return draw(accuracy_tables.stored(), group)


TABLES = {
    "paper_items": paper_items.table,
    "paper_count": paper_items.count,
    "summary": lambda: untuned_summary(untuned.read_results()),
    "second_draw": lambda: untuned_summary(untuned.read_results(draw=1)),
    "public": public.table,
    "public_short": public.short_table,
    "untuned": lambda: untuned_table(untuned.read_results(), methods=None, families=None),
    "paper": lambda: accuracy_tables.git_table(accuracy_tables.stored()),
    "accuracy_gaps": lambda: accuracy_tables.gaps_table(accuracy_tables.stored()),
    "accuracy_close": lambda: accuracy_tables.close_rows(accuracy_tables.stored()),
    "accuracy_seeds": lambda: accuracy_tables.seed_counts(accuracy_tables.stored()),
    "readings": lambda: accuracy_tables.readings_table(accuracy_tables.stored()),
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
    "dimension_reduction_published": dimension_reduction.published_table,
    "dimension_reduction_claims": dimension_reduction.claims_table,
    "dimension_reduction_raw": dimension_reduction.improvement_table,
    "embedding_seconds": dimension_reduction.time_table,
    **{f"distributed_{name}": draw for name, draw in distributed_tables.TABLES.items()},
    "sensitivity": sensitivity.table,
    "sensitivity_claim": sensitivity.claim,
    "ranks": statements.ranks_table,
    "choice": statements.choice_table,
    "shares": statements.shares_table,
    "theorem_1": statements.factor_table,
    "theorem_2": statements.slope_table,
    "statistics": statements.statistics_table,
    "nmi": statements.nmi_table,
    "one_cluster": one_cluster.table,
    "tables": tables.table_of_scores,
    "tables_noise": tables.noise_table,
    "messy": messy.table,
    "gaps": gaps.table,
    "messy_columns": messy.column_table,
    "features": features.table,
    "explorer_speed": explorer.speed_table,
    "speed": speed.table,
    "speed_short": speed.short_table,
    "speed_ratio": speed.ratio_table,
    "speed_sweep": speed.sweep_table,
    "speed_paper": speed.paper_table,
    "stages": stages.table,
    "speed_compile": speed.compile_table,
    "search": search.table,
    "bounds": search.bound_table,
    "descent": search.descent_table,
    "same_neighbors": search.same_table,
    "same_labels": search.same_label_table,
    "approximate": search.label_table,
    "prediction": prediction.table,
    "cells": cells.table,
    "hostile": hostile_tables.table,
}


def main(arguments: Sequence[str]) -> None:
    """Fill the pages and draw the pictures, or with ``--check`` fail where one is not up to date."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks report", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where a page is out of date")
    check = parser.parse_args(arguments).check
    stale = [page for page in PAGES if fill(page.read_text()) != page.read_text()]
    for page in stale:
        if check:
            print(f"{page.relative_to(ROOT)} is out of date: python -m benchmarks report", file=sys.stderr)
        else:
            page.write_text(fill(page.read_text()))
    old = list(stale_pictures())
    for name, path, digest in old:
        if check:
            print(f"{path.relative_to(ROOT)} is out of date: python -m benchmarks report", file=sys.stderr)
        else:
            from benchmarks.reporting.figures import DRAWINGS, save

            save(DRAWINGS[name](), path, digest)
    sys.exit(1 if check and (stale or old) else 0)


def stale_pictures() -> Iterator[tuple[str, Path, str]]:
    """Name, file and digest of every picture that other results were drawn in."""
    for name, sources in PICTURES.items():
        path = ROOT / "docs" / f"{name}.png"
        results = "".join((FOLDER / f"{source}.jsonl").read_text() for source in sources)  # whatever ends its lines
        digest = sha256(results.encode()).hexdigest()
        if not path.exists() or digest.encode() not in path.read_bytes():
            yield name, path, digest


def fill(text: str) -> str:
    """The page with its tables drawn anew."""
    marked = re.compile(r"<!-- table (\w+) -->\n.*?<!-- end -->", re.DOTALL)
    return marked.sub(lambda found: f"<!-- table {found[1]} -->\n{TABLES[found[1]]()}\n<!-- end -->", text)
