"""Names and places that are unlike others: formulas, control characters, columns of our own names, streams as files."""

import os
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pandas as pd
import pytest

from gitcluster._support.names import escape_control
from gitcluster.cli.writing import disarm

from .conftest import IDS, leftovers, run_installed, run_shell

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")']
ESCAPES = ["\x1b[31mred", "bell\x07", "c1\x9b31m", "bidi\u202eevil"]
needs_streams = pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")


def write_table(names, ids=None, path="t.csv", rows=40):
    """A table with odd names of columns and rows, quoted where that is needed."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, len(names))) + np.repeat([[0], [9]], rows // 2, axis=0), columns=names)
    if ids is not None:
        table.insert(0, "id", [ids[i % len(ids)] for i in range(rows)])
    table.to_csv(path, index=False, quoting=1)
    return table


def test_texts_are_no_formulas_in_excel(folder, run):
    table = write_table(["=x", "@y"], FORMULAS)
    assert run("fit", "t.csv", "--id", "id", "-c", "2", "--with-data", "-o", "l.xlsx")[0] == 0
    header, *rows = openpyxl.load_workbook("l.xlsx").active.iter_rows()
    assert [cell.value for cell in header] == ["id", "=x", "@y", "cluster", "membership", "outlier_score"]
    assert [cell.data_type for cell in header] == ["s"] * 6
    assert [cell.quotePrefix for cell in header] == [False, True, True, False, False, False]
    assert all(row[0].data_type == "s" and row[0].quotePrefix for row in rows)
    assert all(row[i].data_type == "n" and not row[i].quotePrefix for row in rows for i in (1, 2, 3))
    written = [row[0].value.replace("\r", "").replace("\n", "") for row in rows]
    assert written == [name.replace("\r", "") for name in table["id"]]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_texts_are_no_formulas_in_csv_if_requested(folder, run, form):
    numbers = ["-5", "+3.5", "-1,5", "-1e5", ".5", "plain"]
    table = write_table(["=x", "-y"], [*FORMULAS, *numbers])
    arguments = ("fit", "t.csv", "--id", "id", "-c", "2", "--with-data", "--save", "m.npz", "-o", f"l.{form}")
    options = {"sep": "," if form == "csv" else "\t", "dtype": {"id": str}, "keep_default_na": False}
    assert run(*arguments)[0] == 0
    assert pd.read_csv(f"l.{form}", **options)["id"].tolist() == table["id"].tolist()
    assert run(*arguments, "--safe-formulas")[0] == 0
    safe = pd.read_csv(f"l.{form}", **options)
    assert list(safe.columns) == ["id", "'=x", "'-y", "cluster", "membership", "outlier_score"]
    assert safe["id"].tolist() == [name if name in numbers else f"'{name}" for name in table["id"]]
    np.testing.assert_allclose(safe["'=x"], table["=x"])
    for command in (("predict", "m.npz", "t.csv", "--id", "id"), ("cut", "m.npz", "-c", "2")):
        assert run(*command, "--safe-formulas", "-o", f"p.{form}")[0] == 0
        assert pd.read_csv(f"p.{form}", **options)["id"].tolist() == safe["id"].tolist()
    for value in (-5, -5.5, np.float64(-1), "-5", "+5", None, float("nan"), True):
        assert disarm(value) is value


@pytest.mark.parametrize("name", ESCAPES)
def test_control_characters_do_not_reach_the_terminal(folder, run, name):
    write_table([name, "other"], [f"{name}{i}" for i in range(40)])
    shown = ""
    for command in (
        ("fit", "t.csv", "--id", "id", "-c", "2", "--save", "m.npz", "-o", "l.csv"),
        ("fit", "t.csv", "--columns", f"no{name}"),
        ("fit", f"{name}.csv"),
        ("fit", "t.csv", name),
        ("explain", "m.npz", f"{name}3"),
        ("explain", "m.npz", f"{name}99"),
        ("compare", "t.csv", "--id", "id"),
    ):
        _, out, err = run(*command)
        shown += out + err
    assert escape_control(shown, lines=True) == shown
    assert escape_control(name) in shown


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "xlsx", "npz", "npy", "html", "svg", "png", "pdf"])
def test_control_characters_do_not_break_writers(folder, run, form):
    write_table([*ESCAPES[:2]], [f"{name}{i}" for i, name in enumerate(ESCAPES)])
    command = {"html": "report", "svg": "plot", "png": "plot", "pdf": "plot"}.get(form, "fit")
    more = ("--with-data",) if command == "fit" else ()
    code, _, err = run(command, "t.csv", "--id", "id", "-c", "2", *more, "-o", f"out.{form}")
    assert (code, err) == (0, "")
    if form == "html":
        assert "\x1b" not in (folder / "out.html").read_text()
    if form == "svg":
        ElementTree.parse("out.svg")
    if form == "xlsx":
        assert "_x001B_[31mred0" in [row[0].value for row in openpyxl.load_workbook("out.xlsx").active.iter_rows()]


@pytest.mark.parametrize("form", ["csv", "parquet", "npz", "xlsx"])
@pytest.mark.parametrize("id_name", [None, "cluster", "probability"])
def test_columns_of_our_own_names_are_kept(folder, run, form, id_name):
    names = ["row", "cluster", "probability", "outlier_score", "cluster_in_table", "file"]
    table = write_table(names)
    ids = ("--id", id_name) if id_name else ()
    arguments = ("fit", "t.csv", *ids, "-c", "2", "--with-data", "--probabilities", "--save", "m.npz")
    code, _, err = run(*arguments, "-o", f"l.{form}")
    assert code == 0
    assert "cluster_in_table" in err
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel,
               "npz": lambda path: pd.DataFrame(dict(np.load(path)))}  # fmt: skip
    written = readers[form](f"l.{form}")
    assert set(written["cluster"]) == {0, 1}
    assert list(written.columns[6:]) == ["cluster", "membership", "outlier_score"]
    for name, column in zip(names, written.columns[:6], strict=True):
        assert column.replace("_in_table", "") == name.replace("_in_table", "")
        np.testing.assert_allclose(written[column].astype(float), table[name])
    for command in (("predict", "m.npz", "t.csv", *ids), ("cut", "m.npz", "-c", "2")):
        assert run(*command, "-o", f"p.{form}")[0] == 0
        again = readers[form](f"p.{form}")
        assert again["cluster"].tolist() == written["cluster"].tolist()
        assert len(again.columns) == 2


@needs_streams
@pytest.mark.parametrize(
    ("target", "redirect"), [("/dev/stdout", ">>"), ("/dev/stdout", "|"), ("/proc/self/fd/1", "|"), ("-", ">>")]
)
def test_the_standard_output_by_any_name(csv, folder, run, target, redirect):
    assert run("fit", csv, *IDS, "-c", "3", "-o", "labels.csv", "-q")[0] == 0
    (folder / "kept.csv").write_text("before\n")
    done = run_shell(f"$G fit {csv} --id customer -c 3 -o {target} {redirect} {'cat >> ' * (redirect == '|')}kept.csv")
    assert done.returncode == 0, done.stderr
    assert "200 rows, 3 columns" in done.stderr
    assert (folder / "kept.csv").read_text() == "before\n" + (folder / "labels.csv").read_text()
    assert leftovers(folder) == sorted([csv, "kept.csv", "labels.csv"])


@needs_streams
def test_pipes_of_the_shell(csv, folder):
    done = run_shell(
        f"$G fit <(cat {csv}) --id customer -c 3 -o >(cat > labels.csv); sleep 0.3; $G plot <(cat {csv}) -c 2 -q"
    )
    assert done.returncode == 0, done.stderr
    assert len((folder / "labels.csv").read_text().splitlines()) == 201
    assert "200 rows, 3 columns" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "message"),
    [
        ("fit t.csv -c 2 -o l.csv", "<&- >&- 2>&-", 0, ""),
        ("fit t.csv -c 2", ">&-", 1, "standard output"),
        ("explain t.csv 3 -c 2", ">&-", 1, "standard output"),
        ("fit - -c 2", "<&-", 1, "standard input"),
        ("fit nothing.csv", "2>&-", 1, ""),
        ("fit t.csv --no-such-option", "2>&- >&-", 2, ""),
    ],
)
def test_closed_streams(folder, arguments, closed, code, message):
    write_table(["x", "y"])
    done = run_shell(f"$G {arguments} {closed}")
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if code == 0:
        assert len((folder / "l.csv").read_text().splitlines()) == 41


def test_names_that_the_locale_does_not_know(folder):
    write_table(["größe", "Ωμέγα"], ["日本", "ü"])
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for arguments in (
        ("fit", "t.csv", "--id", "id", "--columns", "größe", "-c", "2", "-o", "ü.csv", "--save", "m.npz"),
        ("explain", "m.npz", "日本"),
        ("predict", "m.npz", "t.csv", "--id", "id"),
        ("report", "m.npz", "t.csv", "--title", "日本", "--id", "id"),
    ):
        done = run_installed(*arguments, environment=plain)
        assert done.returncode == 0, done.stderr
        (done.stdout if arguments[0] != "predict" else done.stderr).decode("utf-8")
    assert "日本" in (folder / "report.html").read_text()


@pytest.mark.parametrize("letter", ["n", "ü"])
def test_names_of_files_that_are_as_long_as_names_may_be(csv, run, letter):
    for form, command, option in (("csv", "fit", "-o"), ("npz", "fit", "--save"), ("png", "plot", "-o")):
        target = f"{letter * ((254 - len(form)) // len(letter.encode()))}.{form}"
        code, _, err = run(command, csv, *IDS, "-c", "3", option, target)
        assert (code, err) == (0, "")
        assert target in leftovers(".")


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "t.csv", "--save", "x", "-o", "./x.npz"),
        ("fit", "t.csv", "-o", "t.csv"),
        ("fit", "t.csv", "-o", "link.csv"),
        ("predict", "m.npz", "t.csv", "-o", "m.npz"),
        ("cut", "m.npz", "-c", "2", "-o", "m.npz"),
        ("compare", "t.csv", "-o", "t.csv"),
        ("profile", "m.npz", "t.csv", "-o", "t.csv"),
    ],
)
def test_no_file_is_overwritten_that_the_command_needs(folder, run, arguments):
    write_table(["x", "y"])
    os.symlink("t.csv", "link.csv")
    assert run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q")[0] == 0
    before = {name: (folder / name).read_bytes() for name in leftovers(folder)}
    code, _, err = run(*arguments)
    assert code == 1
    assert "would overwrite" in err
    assert {name: (folder / name).read_bytes() for name in leftovers(folder)} == before
