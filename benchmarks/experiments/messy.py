"""Messy files and columns as people have them: ``python -m benchmarks messy``.

One table of 90 customers in three groups is written as many files, and ``gitcluster fit`` gets each of them. The
outcome is "right" if all rows are labelled and the groups are found (an adjusted Rand index above 0.8), "error" if a
message says what is wrong with the file, "wrong" if the labels are others, and "traceback" if the program breaks.

Then messy columns are read as texts in a data frame and as a file on the command line, and their use is compared.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import sys
import traceback
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run
from gitcluster import GIT
from gitcluster.cli.commands import app
from gitcluster.cli.terminal import execute
from tests.cli.messy_columns import COLUMNS, beside_numbers

RESULTS = FOLDER / "messy.jsonl"
FIELDS = ("kind", "name")
N_ROWS = 90
GROUP = np.repeat([0, 1, 2], N_ROWS // 3)
OPTIONS = ("--id", "customer", "-c", "3", "-q", "-o", "labels.csv")
Content = bytes | str
Make = Callable[[pd.DataFrame], Content]


def main(arguments: Sequence[str]) -> None:
    """Fit every file and column, and print the tables."""
    stored = Store(RESULTS, FIELDS)
    for title in FILES:
        line = {"kind": "file", "name": title, **try_file(title)}
        stored.add(line | describe_run("messy", arguments))
        print(*line.values(), sep=" | ", file=sys.stderr)
    for name in COLUMNS:
        line = {"kind": "column", "name": name, **try_column(name)}
        stored.add(line | describe_run("messy", arguments))
        print(*line.values(), sep=" | ", file=sys.stderr)
    print(table(), column_table(), sep="\n\n")


def run_in(folder: str, *words: str) -> tuple[int, str]:
    """Return the exit code and the errors of a command, run in a folder."""
    errors = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = execute(app, list(words))
        except Exception:
            traceback.print_exc()
            code = 1
    return code, errors.getvalue()


def try_file(title: str) -> Line:
    """Return the outcome of a file."""
    name, make, more = FILES[title]
    with TemporaryDirectory() as folder:
        content = make(customers())
        Path(folder, name).write_bytes(content if isinstance(content, bytes) else content.encode())
        code, errors = run_in(folder, "fit", name, *OPTIONS, *more)
        return judge(Path(folder), code, errors)


def try_column(name: str) -> Line:
    """Return the use of a column in Python and on the command line, with an example of its cells."""
    frame = beside_numbers(name)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame.to_csv(Path(folder, "t.csv"), index=False)
        code, errors = run_in(folder, "fit", "t.csv", "-c", "2", "-q", "--save", "m.npz")
        found = errors if code else GIT.load(Path(folder, "m.npz")).columns_[name].describe()
        in_python = GIT(2).fit(frame).columns_[name].describe()
        return {"cells": COLUMNS[name][3:6], "python": in_python, "command_line": found}


def customers() -> pd.DataFrame:
    """Return ids and three numbers."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer": [f"{i:04d}" for i in range(N_ROWS)],
            "age": (np.array([25, 45, 65])[GROUP] + 2 * rng.normal(size=N_ROWS)).round().astype(int),
            "income": (np.array([21_000, 43_000, 68_000])[GROUP] + 1_500 * rng.normal(size=N_ROWS)).round(2),
            "visits": rng.poisson(np.array([30, 9, 3])[GROUP]),
        }
    )


def judge(folder: Path, code: int, errors: str) -> Line:
    """Return the outcome of one fit."""
    if "Traceback" in errors:
        return {"outcome": "traceback", "said": errors.strip().splitlines()[-1][:200]}
    if code:
        lines = [words for words in errors.splitlines() if words.startswith("Error")]
        return {"outcome": "error", "said": (lines or ["no word"])[-1].removeprefix("Error: ")[:300]}
    labels = pd.read_csv(folder / "labels.csv", dtype={"customer": str})
    if len(labels) != N_ROWS:
        return {"outcome": "wrong", "said": f"{len(labels)} of {N_ROWS} rows"}
    truth = pd.Series(GROUP, customers()["customer"]).reindex(labels.iloc[:, 0]).to_numpy()
    ari = -1.0 if np.isnan(truth).any() else adjusted_rand_score(truth.astype(int), labels["cluster"])
    return {"outcome": "right" if ari > 0.8 else "wrong", "said": f"adjusted Rand index {ari:.2f}"}


def _csv(frame: pd.DataFrame, **options: Any) -> str:
    return str(frame.to_csv(index=False, **options))


def _binary(write: Callable[[pd.DataFrame, io.BytesIO], None]) -> Make:
    def make(frame: pd.DataFrame) -> bytes:
        write(frame, held := io.BytesIO())
        return held.getvalue()

    return make


def _zip(frame: pd.DataFrame, held: io.BytesIO) -> None:
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("customers.csv", _csv(frame))


def _book(frame: pd.DataFrame, held: io.BytesIO) -> None:
    with pd.ExcelWriter(held, engine="openpyxl") as book:
        pd.DataFrame({"note": ["as of today"]}).to_excel(book, sheet_name="Cover", index=False)
        frame.assign(since=_days()).to_excel(book, sheet_name="Customers", index=False)


def _days() -> pd.Series[Any]:
    days = 400 * GROUP + np.random.default_rng(1).integers(0, 200, N_ROWS)
    return pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D"))


def _german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def _each(column: str, write: Callable[[Any], str], **options: Any) -> Make:
    """The table with the cells of one column written by people."""
    return lambda frame: _csv(frame.assign(**{column: [write(x) for x in frame[column]]}), **options)


def _latin(frame: pd.DataFrame) -> str:
    return _csv(frame.rename(columns={"visits": "Besuche à Köln"}))


def _with(**columns: Any) -> Make:
    return lambda frame: _csv(frame.assign(**columns))


def _changed(old: str, new: str) -> Make:
    """The first occurrence changed."""
    return lambda frame: _csv(frame).replace(old, new, 1)


def _gaps(frame: pd.DataFrame, word: str) -> str:
    table = frame.astype(object)
    table.loc[::9, "income"] = word
    table.loc[4::9, "age"] = word
    return _csv(table)


def _pack(pack: Callable[[bytes], bytes]) -> Make:
    return lambda frame: pack(_csv(frame).encode())


RNG = np.random.default_rng(2)
FILES: dict[str, tuple[str, Make, tuple[str, ...]]] = {
    "CSV": ("t.csv", _csv, ()),
    "`.csv.gz`": ("t.csv.gz", _pack(gzip.compress), ()),
    "gz named `.csv`": ("t.csv", _pack(gzip.compress), ()),
    "`.csv.bz2`": ("t.csv.bz2", _pack(bz2.compress), ()),
    "`.csv.xz`": ("t.csv.xz", _pack(lzma.compress), ()),
    "zip of one CSV": ("t.csv.zip", _binary(_zip), ()),
    "JSON lines": ("t.jsonl", lambda f: f.to_json(orient="records", lines=True), ()),
    "JSON array": ("t.json", lambda f: f.to_json(orient="records"), ()),
    "Parquet": ("t.parquet", _binary(lambda f, held: f.assign(since=_days()).to_parquet(held)), ()),
    "Arrow": ("t.arrow", _binary(lambda f, held: f.to_feather(held)), ()),
    "Excel, second sheet, dates": ("t.xlsx", _binary(_book), ("--sheet", "Customers")),
    "UTF-16": ("t.csv", lambda f: _latin(f).encode("utf-16"), ()),
    "Latin-1": ("t.csv", lambda f: _latin(f).encode("latin-1"), ()),
    "UTF-8 with a mark": ("t.csv", lambda f: _latin(f).encode("utf-8-sig"), ()),
    "tabs": ("t.txt", lambda f: _csv(f, sep="\t"), ()),
    "bars": ("t.txt", lambda f: _csv(f, sep="|"), ()),
    "semicolons, decimal commas": ("t.csv", lambda f: _csv(f, sep=";", decimal=","), ()),
    "`67.614,86`": ("t.csv", _each("income", _german, sep=";"), ()),
    "`67.614,86 €`": ("t.csv", _each("income", lambda x: f"{_german(x)} €", sep=";"), ()),
    "`$67,614.86`": ("t.csv", _each("income", lambda x: f"${x:,.2f}"), ()),
    "`67 614.86`": ("t.csv", _each("income", lambda x: f"{x:,.2f}".replace(",", " ")), ()),
    "`0.5%`": ("t.csv", _each("income", lambda x: f"{x / 1e5:.3f}%"), ()),
    "`sep=;` on top": ("t.csv", lambda f: "sep=;\n" + _csv(f, sep=";"), ()),
    "comment lines on top": ("t.csv", lambda f: "# from the shop\n# 2026\n" + _csv(f), ()),
    "a title and an empty line on top": ("t.csv", lambda f: "Customers, May 2026\n\n" + _csv(f), ()),
    "a title with separators": ("t.csv", lambda f: "Customers;;;\n" + _csv(f, sep=";"), ()),
    "empty lines": ("t.csv", lambda f: _csv(f).replace("\n", "\n\n"), ()),
    "old Mac line ends": ("t.csv", lambda f: _csv(f).replace("\n", "\r"), ()),
    "gaps": ("t.csv", lambda f: _gaps(f, ""), ()),
    "gaps as `n/a`": ("t.csv", lambda f: _gaps(f, "n/a"), ()),
    "gaps as `-`": ("t.csv", lambda f: _gaps(f, "-"), ()),
    "gaps as `-99`, with `--na`": ("t.csv", lambda f: _gaps(f, "-99"), ("--na", "-99")),
    "a text column": ("t.csv", _with(city=np.array(["Köln", "Oslo", "Rome"])[RNG.permutation(GROUP)]), ()),
    "yes/no": ("t.csv", _with(member=RNG.choice(["yes", "no"], N_ROWS)), ()),
    "dates 31.12.2024": ("t.csv", lambda f: _csv(f.assign(since=_days().dt.strftime("%d.%m.%Y"))), ()),
    "times with a zone": ("t.csv", lambda f: _csv(f.assign(at=_days().dt.tz_localize("Europe/Berlin"))), ()),
    "an empty column": ("t.csv", _with(fax=""), ()),
    "a constant column": ("t.csv", _with(country="DE"), ()),
    "a running number": ("t.csv", _with(row=np.arange(N_ROWS) + 1000), ()),
    "names": ("t.csv", _with(name=[f"Person {i}" for i in range(N_ROWS)]), ()),
    "notes of several lines": ("t.csv", _with(note=[f'said "{i}",\nthen left' for i in range(N_ROWS)]), ()),
    "a word among numbers": ("t.csv", _changed(",2", ",about 2"), ()),
    "a stray quote": ("t.csv", _changed("0030,", '"0030,'), ()),
    "a short row": ("t.csv", _changed("0030,", ""), ()),
    "a long row": ("t.csv", _changed("0030,", "0030,7,"), ()),
    "two columns of one name": ("t.csv", _changed("income", "age"), ()),
    "half a gz": ("t.csv.gz", lambda f: gzip.compress(_csv(f).encode())[:300], ()),
    "a picture named `.csv`": ("t.csv", lambda _: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, ()),
    "an empty file": ("t.csv", lambda _: b"", ()),
    "a heading alone": ("t.csv", lambda f: _csv(f).splitlines()[0] + "\n", ()),
}  # fmt: skip


def table() -> str:
    """Return the outcome of each file."""
    lines = Store(RESULTS, FIELDS).lines
    rows = [[title, _show(lines[("file", title)])] for title in FILES if ("file", title) in lines]
    return markdown(["file", "outcome"], rows)


def column_table() -> str:
    """Return the use of each column."""
    lines = Store(RESULTS, FIELDS).lines
    found = [lines[("column", name)] for name in COLUMNS if ("column", name) in lines]
    rows = [
        [line["name"], ", ".join(f"`{_plain(cell)}`" for cell in line["cells"]), _plain(line["python"]),
         "the same" if line["command_line"] == line["python"] else _plain(line["command_line"])]
        for line in found
    ]  # fmt: skip
    return markdown(["column", "cells", "in Python", "on the command line"], rows)


def _show(line: Line) -> str:
    return "right" if line["outcome"] == "right" else f"{line['outcome']}: {_plain(line['said'])}"


def _plain(words: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return json.dumps(words, ensure_ascii=False)[1:-1].replace("\\\\", "\\").replace('\\"', '"').replace("|", "\\|")
