"""Runs the Python blocks of the documentation; ``python -m tests.pages`` writes what they print into the pages.

A page's blocks run in order in one namespace; ``<!-- needs: a, b -->`` names packages without which it is left out. A
block of ``output`` shows what the block before it prints.
"""

import os
import re
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
NEEDS = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
BLOCK = re.compile(r"^```(python|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def find_pages() -> list[Path]:
    """Return the pages with Python blocks."""
    pages = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in pages if "```python\n" in page.read_text()]


def missing_packages(page: Path) -> list[str]:
    """Return the packages that a page needs and that are not installed."""
    named = NEEDS.search(page.read_text())
    return [name for name in (named[1].split(", ") if named else []) if find_spec(name) is None]


def run_page(page: Path) -> str:
    """Return the text of a page with the current output of its blocks. Files are written to the working directory."""
    text, namespace, printed = page.read_text(), {"__name__": "__main__"}, ""

    def run_block(block: re.Match[str]) -> str:
        nonlocal printed
        language, code = block.groups()
        if language == "output":
            return f"```output\n{printed}```"
        lines_before = text.count("\n", 0, block.start(2))  # so that a traceback names the line of the page
        with redirect_stdout(StringIO()) as stream:
            exec(compile("\n" * lines_before + code, str(page), "exec"), namespace)
        if "matplotlib.pyplot" in sys.modules:  # as a notebook does after every cell
            sys.modules["matplotlib.pyplot"].close("all")
        printed = "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
        return block[0]

    return BLOCK.sub(run_block, text)


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    for page in chosen or [page for page in find_pages() if not missing_packages(page)]:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            page.write_text(run_page(page))
