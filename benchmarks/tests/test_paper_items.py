"""The list of the paper's items, compared with its source if that is available, and with what it points to."""

import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import main as run_command
from benchmarks.experiments.reproduce import ROOT, find_items, main, missing_packages
from benchmarks.reporting.paper_items import ITEMS
from benchmarks.reporting.paper_items import count as count_items
from benchmarks.reporting.published import BY_NEIGHBORS, EMBEDDED, PUBLISHED, PUBLISHED_SIZES
from benchmarks.runner import make_parser
from benchmarks.suite.datasets import data_folder

COUNTS = {"Table": 8, "Figure": 13, "Equation": 28, "Algorithm": 3, "Theorem": 2, "Question": 6}


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
    for kind, start in (("Theorem", "Theorem "), ("Question", "Q")):
        items[kind] = [""] * len(re.findall(rf"\\paragraph\{{{start}\d", source))
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
    assert find_items(item.name) == [item]
    assert all(find_items(f"{item.kind} {number}") == [item] for number in item.numbers)
    tables = {}
    for program, *rest in map(shlex.split, item.steps):
        if program == "pytest":
            assert (ROOT / rest[0].split("::")[0]).exists()
        elif program == "docs.images":
            assert (ROOT / "docs" / "images" / f"{rest[0]}.png").exists()
        else:
            module = import_module(f"benchmarks.experiments.{program}")
            options = make_parser(program, "", getattr(module, "add_options", lambda parser: None)).parse_args(rest)
            fields = {words.split("=")[0] for words in options.only}
            assert fields <= {*module.FIELDS, "group", "sweep"}
            tables |= getattr(module, "TABLES", {})
    assert set(item.tables) <= set(tables)
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


def test_figures_in_statuses_follow_from_the_published_ones():
    printed = [
        (row.printed[i], row.scores[i])
        for rows in PUBLISHED.values()
        for row in rows.values()
        if row.printed
        for i in range(3)
    ]
    assert sum(abs(paper - notebooks) > 0.00505 for paper, notebooks in printed) == 12 + 9  # 12 are swapped
    tuned = {key: BY_NEIGHBORS[key][PUBLISHED_SIZES.index(k)] for key, (k, *_) in EMBEDDED.items()}
    better = [key for key, f1 in tuned.items() if max(BY_NEIGHBORS[key]) > f1]
    assert f"on {len(better)} of {len(tuned)} inputs, all of MNIST" in find_items("Question 1")[0].status
    assert {name for name, _ in better} == {"mnist"}
    covers = {m: [rows[m].scores[3] for rows in PUBLISHED.values() if m in rows] for m in ("HDBSCAN", "DPA")}
    few = [f"{sum(cover < 0.8 for cover in covers[m])} of {len(covers[m])}" for m in covers]
    assert all(text in find_items("drop too many")[0].status for text in few)


@pytest.fixture
def no_folder(monkeypatch):
    """Remove the data folder, so that only sets of scikit-learn are there; restore what ``reproduce`` sets."""
    for name in ("GITCLUSTER_DATA", "GITCLUSTER_RESULTS", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["Table 2", "--only", "set=iris"], r"iris, statistics +150, 4, 3, 1 +counted: \[150, 4, 3, 1.0\]"),
        (
            ["Table 3", "--only", "set=iris", "method=GIT authors"],
            r"0.88 / 0.71 / 0.76 +0.877 / 0.706 / 0.756 .* 0.877 / 0.706 / 0.756",
        ),
        (["Equation 25", "--only", "set=iris,wine,cancer"], r"cancer \| 1.025 \| 0.654 \| 0.654"),
        (["Algorithm 1", "--only", "set=iris", "--stored"], r"Nothing was computed.*recorded: 819; not final: 764"),
        (["cutting edges", "--only", "set=iris"], r"iris \| .877 \| .877 \| .482"),
        (["must be known", "--only", "set=wine"], r"classes: 3; clusters: \d"),
        (["Question 3"], r"test_scoring.py.* passed"),
        (
            ["Figure 5", "--only", "curve=circles", "level=10.0", "method=GIT authors"],
            r"circles, 10.0, GIT authors +.974 +.974",
        ),
    ],
)
def test_quick_items_are_computed_again(arguments, expected, no_folder, capsys):
    main(arguments)
    out = capsys.readouterr().out
    assert re.search(expected, out, re.DOTALL), out
    assert ("Computed in" in out) == ("--stored" not in arguments)


@pytest.mark.parametrize("item", [item for item in ITEMS if item.tables], ids=lambda item: item.name)
def test_the_tables_of_an_item_need_no_other_results(item, results):
    names = {shlex.split(step)[0] for step in item.steps} - {"pytest", "docs.images"}
    modules = [import_module(f"benchmarks.experiments.{name}") for name in names]
    tables = {name: table for module in modules for name, table in getattr(module, "TABLES", {}).items()}
    for name in item.tables:
        assert tables[name]()


def test_an_item_that_cannot_be_computed_is_refused(no_folder, capsys):
    for arguments, word in ((["Table 30"], "item"), (["Table 2", "--only", "set=none"], "--only"), (["e"], "matches")):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert word in capsys.readouterr().err
    item = find_items("Figure 6")[0]._replace(packages=("torch", "no-such-package"))
    assert missing_packages(item, ["embedding=pca5"], []) == ["no-such-package"]
    run_command(["digests", "--table"])
    run_command(["reproduce", "--table"])
    assert len(capsys.readouterr().out.splitlines()) == len(ITEMS) + 2
