"""Names and places that are unlike others: formulas, control characters, columns of our own names, streams as files."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pandas as pd
import pytest

from gitcluster._support.names import visible
from gitcluster.cli.writing import disarm

from .conftest import COMMAND, leftovers, run_installed

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")']
ESCAPES = ["\x1b[31mred", "bell\x07", "back\x08", "c1\x9b31m", "bidi\u202eevil", "del\x7f"]


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
    sheet = openpyxl.load_workbook("l.xlsx").active
    header, *rows = sheet.iter_rows()
    assert [cell.value for cell in header] == ["id", "=x", "@y", "cluster", "membership", "outlier_score"]
    assert [cell.data_type for cell in header] == ["s"] * 6
    assert [cell.quotePrefix for cell in header] == [False, True, True, False, False, False]
    assert all(row[0].data_type == "s" and row[0].quotePrefix for row in rows)
    assert all(row[i].data_type == "n" and not row[i].quotePrefix for row in rows for i in (1, 2, 3))
    found = [row[0].value.replace("\r", "").replace("\n", "") for row in rows]
    assert found == [name.replace("\r", "") for name in table["id"]]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_texts_are_no_formulas_in_csv_where_asked(folder, run, form):
    numbers = ["-5", "+3.5", "-1,5", "-1e5", ".5", "plain"]
    table = write_table(["=x", "-y"], [*FORMULAS, *numbers])
    arguments = ("fit", "t.csv", "--id", "id", "-c", "2", "--with-data", "--save", "m.npz", "-o", f"l.{form}")
    read = {"sep": "," if form == "csv" else "\t", "dtype": {"id": str}, "keep_default_na": False}
    assert run(*arguments)[0] == 0
    whole = pd.read_csv(f"l.{form}", **read)
    assert list(whole.columns) == ["id", "=x", "-y", "cluster", "membership", "outlier_score"]
    assert whole["id"].tolist() == table["id"].tolist()
    assert run(*arguments, "--safe-formulas")[0] == 0
    safe = pd.read_csv(f"l.{form}", **read)
    assert list(safe.columns) == ["id", "'=x", "'-y", "cluster", "membership", "outlier_score"]
    assert safe["id"].tolist() == [name if name in numbers else f"'{name}" for name in table["id"]]
    np.testing.assert_allclose(safe["'=x"], table["=x"])
    for command in (("predict", "m.npz", "t.csv", "--id", "id"), ("cut", "m.npz", "-c", "2")):
        assert run(*command, "--safe-formulas", "-o", f"p.{form}")[0] == 0
        assert pd.read_csv(f"p.{form}", **read)["id"].tolist() == safe["id"].tolist()


def test_numbers_are_never_touched():
    for value in (-5, -5.5, np.float64(-1), "-5", "+5", None, float("nan"), True):
        assert disarm(value) is value


@pytest.mark.parametrize("name", ESCAPES)
def test_control_characters_do_not_reach_the_terminal(folder, run, name):
    write_table([name, "other"], [f"{name}{i}" for i in range(40)])
    shown = []
    for command in (
        ("fit", "t.csv", "--id", "id", "-c", "2", "--save", "m.npz", "-o", "l.csv"),
        ("fit", "t.csv", "-c", "2"),
        ("fit", "t.csv", "--id", name * 2),
        ("fit", "t.csv", "--columns", f"no{name}"),
        ("fit", f"{name}.csv"),
        ("fit", "t.csv", name),
        ("explain", "m.npz", f"{name}3"),
        ("explain", "m.npz", f"{name}99"),
        ("predict", "m.npz", "t.csv", "-o", "l.csv"),
        ("compare", "t.csv", "--id", "id"),
    ):
        _, out, err = run(*command)
        shown += [out if "l.csv" in command or command[0] in ("explain", "compare") else "", err]
    for text in shown:
        assert visible(text, lines=True) == text
    assert visible(name) in "".join(shown)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "arrow", "xlsx", "npz", "npy", "html", "svg", "png", "pdf"])
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
@pytest.mark.parametrize("id_name", [None, "cluster", "row", "probability", "file"])
def test_columns_of_our_own_names_are_kept(folder, run, form, id_name):
    names = ["row", "cluster", "probability", "outlier_score", "cluster_in_table", "file"]
    table = write_table(names)
    ids = ("--id", id_name) if id_name else ()
    arguments = ("fit", "t.csv", *ids, "-c", "2", "--with-data", "--probabilities", "--save", "m.npz")
    code, _, err = run(*arguments, "-o", f"l.{form}")
    assert code == 0
    assert "The column 'cluster' of the table is written as 'cluster_in_table" in err
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel,
               "npz": lambda path: pd.DataFrame(dict(np.load(path)))}  # fmt: skip
    found = readers[form](f"l.{form}")
    assert set(found["cluster"]) == {0, 1}
    assert found["membership"].between(0, 1).all()
    assert list(found.columns[6:]) == ["cluster", "membership", "outlier_score"]
    for name, column in zip(names, found.columns[:6], strict=True):
        assert column.replace("_in_table", "") == name.replace("_in_table", "")
        np.testing.assert_allclose(found[column].astype(float), table[name])
    for command in (("predict", "m.npz", "t.csv", *ids), ("cut", "m.npz", "-c", "2")):
        assert run(*command, "-o", f"p.{form}")[0] == 0
        again = readers[form](f"p.{form}")
        assert again["cluster"].tolist() == found["cluster"].tolist()
        assert len(again.columns) == 2


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
@pytest.mark.parametrize(
    ("target", "redirect"),
    [("/dev/stdout", ">>"), ("/dev/stdout", "|"), ("/dev/fd/1", ">"), ("/proc/self/fd/1", "|"), ("-", ">>")],
)
def test_the_standard_output_by_any_name(csv, folder, run, target, redirect):
    assert run("fit", csv, "--id", "customer", "-c", "3", "-o", "labels.csv", "-q")[0] == 0
    (folder / "kept.csv").write_text("before\n")
    command = f"'{COMMAND}' fit {csv} --id customer -c 3 -o {target} {redirect} {'cat >> ' * (redirect == '|')}kept.csv"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "200 rows, 3 columns" in done.stderr
    before = "" if redirect == ">" else "before\n"
    assert (folder / "kept.csv").read_text() == before + (folder / "labels.csv").read_text()
    assert leftovers(folder) == sorted([csv, "kept.csv", "labels.csv"])


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_pipes_of_the_shell(csv, folder):
    script = (
        f"'{COMMAND}' fit <(cat {csv}) --id customer -c 3 -o >(cat > labels.csv); sleep 0.3; "
        f"'{COMMAND}' plot <(cat {csv}) -c 2 -q"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((folder / "labels.csv").read_text().splitlines()) == 201
    assert "200 rows, 3 columns" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "message"),
    [
        ("fit t.csv -c 2 -o l.csv", ">&-", 0, ""),
        ("fit t.csv -c 2 -o l.csv", "2>&-", 0, ""),
        ("fit t.csv -c 2 -o l.csv", "<&- >&- 2>&-", 0, ""),
        ("fit t.csv -c 2", ">&-", 1, "The standard output is closed"),
        ("explain t.csv 3 -c 2", ">&-", 1, "The standard output is closed"),
        ("demo", ">&-", 1, "The standard output is closed"),
        ("fit - -c 2", "<&-", 1, "The standard input is closed"),
        ("fit nothing.csv", "2>&-", 1, ""),
        ("fit t.csv --no-such-option", "2>&- >&-", 2, ""),
    ],
)
def test_closed_streams(folder, arguments, closed, code, message):
    write_table(["x", "y"])
    done = subprocess.run(
        ["bash", "-c", f"'{COMMAND}' {arguments} {closed}"], capture_output=True, text=True, check=False
    )
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


@pytest.mark.parametrize("length", [200, 245, 251, 255])
@pytest.mark.parametrize("letter", ["n", "ü"])
def test_long_names_of_files(csv, run, length, letter):
    for form, command in (("csv", "fit"), ("npz", "fit"), ("html", "report"), ("png", "plot")):
        stem = letter * ((length - len(form) - 1) // len(letter.encode()))
        target = f"{stem}.{form}"
        option = "--save" if form == "npz" else "-o"
        code, _, err = run(command, csv, "--id", "customer", "-c", "3", option, target)
        assert (code, err) == (0, "")
        assert target in leftovers(".")


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "t.csv", "--save", "x.npz", "-o", "x.npz"),
        ("fit", "t.csv", "--save", "x", "-o", "./x.npz"),
        ("fit", "t.csv", "-o", "t.csv"),
        ("fit", "t.csv", "-o", "link.csv"),
        ("predict", "m.npz", "t.csv", "-o", "t.csv"),
        ("predict", "m.npz", "t.csv", "-o", "m.npz"),
        ("cut", "m.npz", "-c", "2", "-o", "m.npz"),
        ("compare", "t.csv", "-o", "t.csv"),
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


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGINT])
def test_every_signal_that_ends_leaves_nothing(csv, folder, run, number, tmp_path_factory):
    assert run("fit", csv, "--id", "customer", "-c", "3", "--save", "model.npz", "-q")[0] == 0
    os.mkfifo("pipe.csv")
    elsewhere = tmp_path_factory.mktemp("temporary")
    environment = {**os.environ, "TMPDIR": str(elsewhere), "MPLCONFIGDIR": "/proc/no", "HOME": "/proc/no"}
    command = subprocess.Popen(
        [COMMAND, "plot", "pipe.csv", "-o", "p.png"],
        env=environment,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a job in the background would ignore some
    )
    with open("pipe.csv", "wb"):
        deadline = time.monotonic() + 60
        while not leftovers(elsewhere):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.3)
        while command.poll() is None:  # what arrives while an object is destroyed is lost: people press again
            assert time.monotonic() < deadline + 60
            command.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                command.wait(10)
        assert command.returncode == 128 + number
    assert leftovers(elsewhere) == []
    assert leftovers(folder) == ["customers.csv", "model.npz", "pipe.csv"]


def test_a_hangup_that_is_ignored_stays_ignored(csv, folder):
    os.mkfifo("pipe.csv")
    command = subprocess.Popen(
        [COMMAND, "fit", "pipe.csv", "-c", "2", "-o", "labels.csv", "-q"],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    with open("pipe.csv", "wb") as feed:
        time.sleep(0.5)
        command.send_signal(signal.SIGHUP)
        feed.write(b"a,b\n1,2\n2,3\n8,9\n9,9\n")
    assert command.wait(60) == 0


@pytest.mark.parametrize(
    ("start", "package"),
    [([str(COMMAND)], "numba"), ([sys.executable, "-m", "gitcluster"], "pandas"), ([str(COMMAND)], "rich")],
)
def test_an_interrupt_while_packages_are_imported(folder, start, package):
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {package!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*start, "fit", "t.csv"], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.stderr == "Interrupted; nothing was written.\n"
    assert done.returncode in (130, -signal.SIGINT)


def test_sixty_thousand_columns(folder, run):
    names = [f"column {i}" for i in range(60_000)]
    rows = np.random.default_rng(0).integers(0, 9, size=(6, 60_000))
    (folder / "wide.csv").write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]))
    code, out, _ = run("fit", "wide.csv", "--columns", "column 1*", "-c", "1", "--json", "-o", "l.csv")
    assert code == 0
    assert json.loads(out)["read_rows"] == 6
    assert len(json.loads(out)["features"]) == 11_111
