"""Write the tables and figures of the pages from stored results: ``python -m benchmarks report [--check]``.

The text between the markers ``<!-- table NAME -->`` and ``<!-- end -->`` of a page is replaced by the table of that
name. A picture has the digest of its result files, and is drawn again if they change.
"""

from __future__ import annotations

import argparse
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from benchmarks import experiments
from benchmarks.reporting import paper_items
from benchmarks.runner import FOLDER

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PICTURES = {
    "shapes_published": ("accuracy",),
    "robustness": ("robustness",),
    "noise_and_scale": ("pictures",),
    "dimension_reduction": ("dimension_reduction", "sensitivity"),
    "images_umap": ("pictures",),
    "sensitivity": ("sensitivity", "dimension_reduction", "accuracy"),
    "speed": ("speed",),
    "speed_paper": ("speed",),
    "stability": ("stability",),
}
"""The result files of the pictures in ``docs/``."""


TABLES: dict[str, Callable[[], str]] = {
    "paper_items": paper_items.table,
    "paper_count": paper_items.count,
}
for _, name, _ in pkgutil.iter_modules(experiments.__path__):
    TABLES |= getattr(import_module(f"benchmarks.experiments.{name}"), "TABLES", {})


def main(arguments: Sequence[str]) -> None:
    """Fill the pages and draw the pictures, or with ``--check`` exit with 1 if one is out of date."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks report", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if a page is out of date")
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
    """Yield name, file and digest of every picture that was drawn from other results."""
    for name, sources in PICTURES.items():
        path = ROOT / "docs" / f"{name}.png"
        results = "".join((FOLDER / f"{source}.jsonl").read_text() for source in sources)
        digest = sha256(results.encode()).hexdigest()
        if not path.exists() or digest.encode() not in path.read_bytes():
            yield name, path, digest


def fill(text: str) -> str:
    """Return a page with its tables from the stored results."""
    marked = re.compile(r"<!-- table (\w+) -->\n.*?<!-- end -->", re.DOTALL)
    return marked.sub(lambda match: f"<!-- table {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->", text)
