"""Files that commands write: the user's table as it was, odd names, streams as files, full disks."""

import datetime
import io
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcluster._support.files import atomic_write
from gitcluster._support.names import escape_control
from gitcluster.cli.commands import app
from gitcluster.cli.terminal import run as run_command

from .conftest import IDS, READERS, leftovers, linux, run_shell

# -- The user's own table comes back as it was, with columns added -----------------------------------------------------

CELLS = {
    "text": st.text(st.sampled_from("ab1,;\"' \n\té漢-=#%$."), max_size=6),
    "word": st.sampled_from(["red", "green", "blue", "NA", "null", "n/a"]),
    "whole": st.integers(-(10**6), 10**6),
    "float": st.floats(-1e6, 1e6).map(lambda x: round(x, 3)),
    "truth": st.booleans(),
    "day": st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)),
    "moment": st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2030, 1, 1)).map(
        lambda x: x.replace(microsecond=0)
    ),
    "money": st.floats(0, 1e6).map(lambda x: f"${x:,.2f}"),
    "code": st.integers(0, 9999).map(lambda x: f"{x:05d}"),
}


@st.composite
def tables(draw):
    """Draw a table as columns of cells, None if one is missing, and a format."""
    n_rows = draw(st.integers(6, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    columns = {"x": rng.normal(size=n_rows).round(3).tolist(), "y": rng.normal(size=n_rows).round(3).tolist()}
    for i, kind in enumerate(draw(st.lists(st.sampled_from(sorted(CELLS)), max_size=4))):
        cells = CELLS[kind] | st.none() if draw(st.booleans()) else CELLS[kind]
        columns[f"{kind} {i}"] = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    return columns, draw(st.sampled_from(("csv", "parquet", "xlsx")))


def write(columns, path):
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    if path.suffix == ".csv":
        frame.map(lambda cell: "" if cell is None else str(cell)).to_csv(path, index=False, quoting=1)
    elif path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(columns), str(path))
    else:
        frame.to_excel(path, index=False)


def read(path):
    """Return columns of cells, exactly as a file has them, and their types."""
    if path.suffix == ".parquet":
        table = pa.parquet.read_table(str(path))
        return table.to_pydict(), {field.name: field.type for field in table.schema}
    if path.suffix == ".xlsx":
        frame = pd.read_excel(path, dtype=object, keep_default_na=False)
    else:
        text = io.StringIO(path.read_bytes().decode(), newline="")
        frame = pd.read_csv(text, dtype=str, keep_default_na=False)
    return {name: frame[name].tolist() for name in frame}, {}


def check_same(before, after, added=("cluster", "membership", "outlier_score")):
    (cells, types), (written, written_types) = read(before), read(after)
    assert list(written) == [*cells, *added]
    assert {name: written[name] for name in cells} == cells
    assert {name: written_types[name] for name in types} == types
    return written


@given(tables())
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore")
def test_a_table_comes_back_as_it_was(table):
    columns, form = table
    with TemporaryDirectory() as folder:
        before, after = Path(folder, f"table.{form}"), Path(folder, f"labelled.{form}")
        write(columns, before)
        assert run_command(app, ["fit", str(before), "-c", "2", "-q", "--with-data", "-o", str(after)]) == 0
        check_same(before, after)


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_predict_returns_the_table(folder, run, form):
    rng = np.random.default_rng(0)
    columns = {
        "id": [f"{i:03d}" for i in range(40)],
        "x": (rng.normal(size=40) + np.repeat([0, 9], 20)).round(3).tolist(),
        "city": ["Rome", "Oslo", None, "Bern"] * 10,
        "joined": [datetime.date(2024, 1, 1 + i % 28) for i in range(40)],
        "n": [None if i % 9 == 0 else i % 7 for i in range(40)],
    }
    table = Path(f"table.{form}")
    write(columns, table)
    for command in (
        ("fit", table, "--id", "id", "-c", "2", "--save", "m.npz", "--with-data"),
        ("predict", "m.npz", table, "--with-data"),
    ):
        code, _, err = run(*command, "-q", "-o", f"{command[0]}.{form}")
        assert (code, err) == (0, "")
    fitted, predicted = check_same(table, Path(f"fit.{form}")), check_same(table, Path(f"predict.{form}"))
    assert fitted["cluster"] == predicted["cluster"]
    shares = [np.array(labelled["membership"], float) for labelled in (fitted, predicted)]
    np.testing.assert_allclose(*shares, atol=1e-4)


def test_the_id_is_remembered(csv, model, run, customers):
    assert run("predict", model, csv, "-q")[1].startswith("customer,cluster\n0000,0\n")
    customers.drop(columns="customer").to_csv("nameless.csv", index=False)
    assert run("predict", model, "nameless.csv", "-q")[1].startswith("row,cluster\n0,0\n")


def test_plain_numbers_of_a_text_table_have_types(folder, run):
    Path("t.csv").write_text("code,n,x\n007,1,0.5\n008,2,\n009,9,8.25\n010,8,8\n")
    assert run("fit", "t.csv", "-c", "2", "--with-data", "-q", "-o", "l.parquet")[0] == 0
    written = pd.read_parquet("l.parquet")
    assert written["code"].tolist() == ["007", "008", "009", "010"]
    assert written["n"].tolist() == [1, 2, 9, 8]
    assert written["x"].dropna().tolist() == [0.5, 8.25, 8]


# -- Odd names ---------------------------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")']
ESCAPES = ["\x1b[31mred", "bell\x07", "c1\x9b31m", "bidi\u202eevil"]


def write_odd(names, ids=None):
    """Write a table with odd names of columns and rows, all quoted."""
    values = np.random.default_rng(0).normal(size=(40, len(names))) + np.repeat([[0], [9]], 20, axis=0)
    table = pd.DataFrame(values, columns=names)
    if ids is not None:
        table.insert(0, "id", [f"{ids[i % len(ids)]}{i // len(ids) or ''}" for i in range(40)])
    table.to_csv("t.csv", index=False, quoting=1)
    return table


def test_texts_are_no_formulas_in_excel_and_unchanged_in_csv(folder, run):
    table = write_odd(["=x", "@y"], FORMULAS)
    arguments = ("fit", "t.csv", "--id", "id", "-c", "2", "--with-data")
    assert run(*arguments, "-o", "l.xlsx")[0] == 0
    header, *rows = openpyxl.load_workbook("l.xlsx").active.iter_rows()
    assert [cell.value for cell in header] == ["id", "=x", "@y", "cluster", "membership", "outlier_score"]
    assert {cell.data_type for cell in header} == {"s"}
    assert {tuple(cell.data_type for cell in row) for row in rows} == {("s", *"nnnnn")}
    written = [row[0].value.replace("\r", "").replace("\n", "") for row in rows]
    assert written == [name.replace("\r", "") for name in table["id"]]
    assert run(*arguments, "-o", "l.tsv")[0] == 0
    assert pd.read_csv("l.tsv", sep="\t")["id"].tolist() == table["id"].tolist()


@pytest.mark.parametrize("name", ESCAPES)
def test_control_characters_do_not_reach_the_terminal(folder, run, name):
    write_odd([name, "other"], [f"{name}{i}" for i in range(40)])
    shown = ""
    for command in (
        ("fit", "t.csv", "--id", "id", "-c", "2", "--save", "m.npz", "-o", "l.csv"),
        ("fit", "t.csv", "--columns", f"no{name}"),
        ("fit", f"{name}.csv"),
        ("fit", "t.csv", name),
        ("explain", "m.npz", f"{name}3"),
        ("explain", "m.npz", f"{name}99"),
    ):
        shown += "".join(run(*command)[1:])
    assert escape_control(shown, lines=True) == shown
    assert escape_control(name) in shown


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "xlsx", "npy", "html", "svg", "pdf"])
def test_control_characters_do_not_break_writers(folder, run, form):
    write_odd(ESCAPES[:2], [f"{name}{i}" for i, name in enumerate(ESCAPES)])
    command = {"html": "report", "svg": "plot", "pdf": "plot"}.get(form)
    fit = ("fit", "t.csv", "--id", "id", "-c", "2", "--save", "m.npz")
    assert run(*fit, *(() if command else ("--with-data", "-o", f"out.{form}")))[::2] == (0, "")
    if command:
        assert run(command, "m.npz", "t.csv", "-o", f"out.{form}")[::2] == (0, "")
    if form == "html":
        assert "\x1b" not in (folder / "out.html").read_text()
    if form == "svg":
        ElementTree.parse("out.svg")
    if form == "xlsx":
        assert "_x001B_[31mred0" in [row[0].value for row in openpyxl.load_workbook("out.xlsx").active.iter_rows()]


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("id_name", [None, "cluster"])
def test_columns_with_names_of_the_output_stay(folder, run, form, id_name):
    names = ["row", "cluster", "outlier_score", "cluster_in_table", "n"]
    table = write_odd(names)
    ids = ("--id", id_name) if id_name else ()
    code, _, err = run(
        "fit", "t.csv", *ids, "-c", "2", "--with-data", "--probabilities", "--save", "m.npz", "-o", f"l.{form}"
    )
    assert code == 0
    assert "cluster_in_table" in err
    written = READERS[form](f"l.{form}")
    assert list(written.columns[5:]) == ["cluster", "membership", "outlier_score"]
    for name, column in zip(names, written.columns[:5], strict=True):
        assert column.replace("_in_table", "") == name.replace("_in_table", "")
        np.testing.assert_allclose(written[column].astype(float), table[name])
    for command in (("predict", "m.npz", "t.csv", *ids), ("cut", "m.npz", "-c", "2")):
        assert run(*command, "-o", f"p.{form}")[0] == 0
        again = READERS[form](f"p.{form}")
        assert again["cluster"].tolist() == written["cluster"].tolist()
        assert len(again.columns) == 2


def test_letters_that_the_terminal_does_not_support(folder):
    write_odd(["größe", "Ωμέγα"], ["日本", "ü"])
    done = run_shell("$G fit t.csv --id id --columns größe -c 2 -o ü.csv --save m.npz", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "gr\\xf6" in done.stdout


# -- Streams -----------------------------------------------------------------------------------------------------------


@linux
def test_devices_pipes_and_a_closed_output(csv, folder, run):
    assert run("fit", csv, *IDS, "-c", "3", "-o", "labels.csv", "-q")[0] == 0
    labels = (folder / "labels.csv").read_text()
    for target in ("-", "/dev/stdout"):
        done = run_shell(f"$G fit {csv} --id customer -c 3 -o {target} >> {'all.csv'}")
        assert done.returncode == 0, done.stderr
        assert "3 groups in 200 rows and 3 columns" in done.stderr
    assert (folder / "all.csv").read_text() == 2 * labels
    done = run_shell(f"$G fit <(cat {csv}) --id customer -c 3 -o >(cat > piped.csv); sleep 0.3")
    assert done.returncode == 0, done.stderr
    assert (folder / "piped.csv").read_text() == labels
    done = run_shell(f"$G fit {csv} -c 3 >&-")
    assert (done.returncode, "standard output" in done.stderr) == (1, True)
    for target in ("-o labels.csv > /dev/full", "-o /dev/full"):
        done = run_shell(f"$G fit {csv} --id customer -c 3 {target}")
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
    assert leftovers(folder) == sorted([csv, "all.csv", "labels.csv", "piped.csv"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "t.csv", "--previous", "m.npz", "--save", "m.npz"),
        ("fit", "t.csv", "-o", "t.csv"),
        ("fit", "t.csv", "-o", "link.csv"),
        ("profile", "m.npz", "t.csv", "-o", "t.csv"),
    ],
)
def test_no_file_is_overwritten_that_the_command_needs(folder, run, arguments):
    write_odd(["x", "y"])
    os.symlink("t.csv", "link.csv")
    assert run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q")[0] == 0
    before = {name: (folder / name).read_bytes() for name in leftovers(folder)}
    code, _, err = run(*arguments)
    assert code == 1
    assert "would overwrite" in err
    assert {name: (folder / name).read_bytes() for name in leftovers(folder)} == before


# -- A disk that fills up: exit code 1, the old file as it was, and nothing left beside it -----------------------------

COMMANDS = [
    *(("fit", "t.npy", "-c", "2", "-o", f"out.{form}") for form in ("csv", "parquet", "arrow", "xlsx", "npy")),
    ("cut", "model.npz", "-c", "3", "-o", "out.tsv"),
    ("fit", "t.npy", "-c", "2", "--save", "out.npz"),
    ("report", "model.npz", "t.npy", "-o", "out.html"),
    ("explore", "model.npz", "t.npy", "-o", "out.htm"),
    *(("plot", "model.npz", "t.npy", "-o", f"out.{form}") for form in ("png", "svg", "pdf", "jpg")),
]
ON_A_FULL_DISK = """
import resource, sys
from gitcluster.cli.commands import app
from gitcluster.cli.terminal import run
for line in sys.stdin.read().splitlines():
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
    code = run(app, line.split("|"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("EXIT", code, flush=True)
"""


@linux
def test_a_full_disk_under_every_command(folder, run):
    np.save("t.npy", np.random.default_rng(0).normal(size=(400, 2)))
    assert run("fit", "t.npy", "-c", "2", "--save", "model.npz", "-q")[0] == 0
    outputs = {command[-1] for command in COMMANDS}
    for name in outputs:
        (folder / name).write_bytes(b"old " + name.encode())
    done = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK], input="\n".join(map("|".join, COMMANDS)), capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert [line for line in done.stdout.splitlines() if line.startswith("EXIT")] == ["EXIT 1"] * len(COMMANDS)
    for command in COMMANDS:
        assert f"Error: {command[-1]}: File too large" in done.stderr
    for name in outputs:
        assert (folder / name).read_bytes() == b"old " + name.encode()
    assert leftovers(folder) == sorted({"t.npy", "model.npz", *outputs})


def test_a_disk_that_fills_up_when_the_last_bytes_are_written(folder, monkeypatch):
    (folder / "labels.csv").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match=r"labels.csv"), atomic_write("labels.csv") as file:
        file.write(b"new")
    assert leftovers(folder) == ["labels.csv"]
    assert (folder / "labels.csv").read_text() == "old"


def test_links_and_permissions_survive(csv, folder, run):
    (folder / "real.csv").write_text("old")
    (folder / "real.csv").chmod(0o600)
    (folder / "link.csv").symlink_to("real.csv")
    assert run("fit", csv, *IDS, "-c", "3", "-q", "-o", "link.csv")[0] == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("customer,cluster\n")
    assert (folder / "real.csv").stat().st_mode & 0o777 == 0o600
