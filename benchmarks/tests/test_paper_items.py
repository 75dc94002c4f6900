"""The list of the paper's items, compared with its source if that is available, and with what it points to."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import MODULES
from benchmarks.reporting.paper_items import ITEMS
from benchmarks.reporting.paper_items import count as count_items
from benchmarks.reporting.report import ROOT
from benchmarks.suite.datasets import data_folder

COUNTS = {"Table": 8, "Figure": 13, "Equation": 28, "Algorithm": 3, "Theorem": 2}


def find_paper():
    """Return the source that GITCLUSTER_PAPER names, or the one beside the data."""
    named = os.environ.get("GITCLUSTER_PAPER")
    try:
        path = Path(named) if named else data_folder().parent / "paper" / "git-paper.tex"
        return path.read_text()
    except FileNotFoundError as error:
        return pytest.skip(f"no source of the paper, which GITCLUSTER_PAPER names: {error}")


def label_of(body):
    found = re.findall(r"\\label\{(.*?)\}", body)
    return found[-1] if found else ""


def read_items(source):
    """Return the labels of all numbered items by kind, in order; "" without a label."""
    items = {}
    for kind, name in (("Table", "table"), ("Figure", "figure"), ("Algorithm", "algorithm")):
        found = re.findall(rf"\\begin\{{{name}(\*?)\}}(.*?)\\end\{{{name}\1\}}", source, re.DOTALL)
        items[kind] = [label_of(body) for _, body in found]
    items["Equation"] = []
    for name, body in re.findall(r"\\begin\{(equation|align)\}(.*?)\\end\{\1\}", source, re.DOTALL):
        rows = 1 if name == "equation" else len(re.findall(r"\\\\\s*\n", body)) + 1
        items["Equation"] += [label_of(body)] * rows
    items["Theorem"] = [""] * len(re.findall(r"\\paragraph\{Theorem \d", source))
    return items


def test_every_number_is_listed_once():
    for kind, count in COUNTS.items():
        numbers = [number for item in ITEMS if item.kind == kind for number in item.numbers]
        assert numbers == list(range(1, count + 1)), kind


def test_the_list_has_what_the_source_has():
    source = read_items(find_paper())
    assert {kind: len(labels) for kind, labels in source.items()} == COUNTS
    for item in ITEMS:
        if item.labels:
            assert [source[item.kind][number - 1] for number in item.numbers] == list(item.labels)
        elif item.numbers:
            assert not any(source[item.kind][number - 1] for number in item.numbers)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.kind} {item.what}")
def test_every_item_is_judged_and_points_to_what_is_there(item):
    assert item.status.startswith("works") or item.status.startswith("differs, because ")
    program, *rest = item.command.removeprefix("python -m ").split()
    if program == "pytest":
        assert (ROOT / rest[0]).exists()
    elif program == "docs.images":
        assert (ROOT / "docs" / "images" / f"{rest[0]}.png").exists()
    else:
        module = (ROOT / Path(*MODULES[rest[0]].split(".")).with_suffix(".py")).read_text()
        runner = (ROOT / "benchmarks" / "runner.py").read_text()
        assert all(f'"{word}"' in module + runner for word in rest if word.startswith("--"))
    page, _, anchor = item.evidence.partition("#")
    text = (ROOT / "docs" / page).read_text()
    assert not anchor or anchor in {slug(line) for line in text.splitlines() if line.startswith("#")}


def slug(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lstrip("# ").lower()).replace(" ", "-")


def test_every_symbol_of_table_1_is_an_expression():
    text = (ROOT / "docs" / "algorithm" / "index.md").read_text().split("## The paper's symbols")[1]
    known = {"np": np, "i": 0}
    exec(text.split("```python\n")[1].split("```")[0], known)
    known["level"] = np.exp(np.median(known["f"]))
    rows = [row.strip("| ").rsplit(" | ", 1) for row in text.splitlines() if row.startswith("| $")]
    found = {row.split("$")[1]: eval(expression.strip("`"), known) for row, expression in rows}
    assert (found["n"], found["k"], found["d_s"]) == (400, 10, 2)
    assert set(found["R(x)"]) == set(found[r"\mathcal{R}"])
    assert found["r_i"] in found["C_i(t)"]
    assert set(found["C_i(t)"]) < set(found[r"L_\lambda^+"])
    table = find_paper().split("Commonly used symbols")[1].split("bottomrule")[0]
    assert len(rows) == len(re.findall(r"^\s*\$.*?\\\\", table, re.MULTILINE))


def test_every_item_is_counted_once():
    numbers = [int(number) for number in re.findall(r"\d+", count_items())]
    assert numbers[0] == len(ITEMS) == sum(numbers[1:])
