"""The user's own table comes back as it was, in every format, with three columns added."""

import datetime
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcluster.cli.commands import app
from gitcluster.cli.terminal import execute

ADDED = ["cluster", "membership", "outlier_score"]
TEXT = st.text(st.sampled_from("ab1,;\"' \n\té漢-=#%$."), max_size=6)
CELLS = {
    "text": TEXT,
    "word": st.sampled_from(["red", "green", "blue", "NA", "null", "n/a"]),
    "yes": st.sampled_from(["yes", "no"]),
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
def tables(draw, formats=("csv", "tsv", "parquet", "arrow", "jsonl", "xlsx")):
    """A table as columns of cells, None where one is missing; and a format."""
    n_rows = draw(st.integers(6, 14))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=0, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    columns = {"x": rng.normal(size=n_rows).round(3).tolist(), "y": rng.normal(size=n_rows).round(3).tolist()}
    for i, kind in enumerate(kinds):
        cells = draw(st.lists(CELLS[kind], min_size=n_rows, max_size=n_rows))
        gaps = (
            draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)) if draw(st.booleans()) else [False] * n_rows
        )
        columns[f"{kind} {i}"] = [None if gap else cell for cell, gap in zip(cells, gaps, strict=True)]
    return columns, draw(st.sampled_from(formats))


def write(columns, path):
    form = path.suffix[1:]
    if form in ("csv", "tsv"):
        texts = {name: ["" if cell is None else str(cell) for cell in cells] for name, cells in columns.items()}
        pd.DataFrame(texts).to_csv(path, index=False, sep="," if form == "csv" else "\t", quoting=1)
    elif form in ("parquet", "arrow"):
        table = pa.table(columns)
        (pa.parquet.write_table if form == "parquet" else pa.feather.write_feather)(table, str(path))
    elif form == "jsonl":
        records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(record, default=str) + "\n" for record in records), encoding="utf-8")
    else:
        pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}).to_excel(
            path, index=False
        )


def read(path):
    """Columns of cells, exactly as a file has them."""
    form = path.suffix[1:]
    if form in ("csv", "tsv"):
        text = io.StringIO(path.read_bytes().decode(), newline="")
        frame = pd.read_csv(text, dtype=str, keep_default_na=False, sep="," if form == "csv" else "\t")
        return {name: frame[name].tolist() for name in frame}, None
    if form in ("parquet", "arrow"):
        table = (pa.parquet.read_table if form == "parquet" else pa.feather.read_table)(str(path))
        return table.to_pydict(), {field.name: field.type for field in table.schema}
    if form == "jsonl":
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {name: [record[name] for record in records] for name in records[0]}, None
    frame = pd.read_excel(path, dtype=object, keep_default_na=False)
    return {name: frame[name].tolist() for name in frame}, None


def check_same(before, after):
    (cells, types), (found, found_types) = read(before), read(after)
    assert list(found) == [*cells, *ADDED]
    for name in cells:
        assert found[name] == cells[name], name
        assert types is None or found_types[name] == types[name]
    assert len(found["cluster"]) == len(cells["x"])


@given(tables())
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore")
def test_a_table_comes_back_as_it_was(table):
    columns, form = table
    with TemporaryDirectory() as folder:
        before, after = Path(folder, f"table.{form}"), Path(folder, f"labelled.{form}")
        write(columns, before)
        assert execute(app, ["fit", str(before), "-c", "2", "-q", "--with-data", "-o", str(after)]) == 0
        check_same(before, after)


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx", "jsonl"])
def test_predict_and_cut_give_the_table_back(folder, run, form):
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
    code, _, err = run("fit", str(table), "--id", "id", "-c", "2", "--save", "m.npz", "-q",
                       "--with-data", "-o", f"fit.{form}")  # fmt: skip
    assert (code, err) == (0, "")
    assert run("predict", "m.npz", str(table), "--with-data", "-o", f"predict.{form}", "-q")[0] == 0
    assert run("cut", "m.npz", str(table), "-c", "2", "-o", f"cut.{form}", "-q")[0] == 0
    check_same(table, Path(f"fit.{form}"))
    check_same(table, Path(f"predict.{form}"))
    fitted, predicted, cut = (read(Path(f"{name}.{form}"))[0] for name in ("fit", "predict", "cut"))
    assert fitted["cluster"] == predicted["cluster"] == cut["cluster"]
    np.testing.assert_allclose(
        np.array(fitted["membership"], float), np.array(predicted["membership"], float), atol=1e-4
    )
    assert list(cut) == [*read(table)[0], "cluster", "outlier_score"]


def test_the_id_is_remembered(folder, run, customers):
    customers.to_csv("c.csv", index=False)
    assert run("fit", "c.csv", "--id", "customer", "-c", "3", "--save", "m.npz", "-q")[0] == 0
    _, out, _ = run("predict", "m.npz", "c.csv", "-q")
    assert out.startswith("customer,cluster\n0000,0\n")
    customers.drop(columns="customer").to_csv("nameless.csv", index=False)
    assert run("predict", "m.npz", "nameless.csv", "-q")[1].startswith("row,cluster\n0,0\n")


def test_rows_that_were_left_out_have_no_cluster(folder, run):
    Path("t.csv").write_text("x,y\n1,2\n,3\n1.5,2\n8,8\n8,\n9,9\n")
    assert run("fit", "t.csv", "--missing", "drop", "-c", "2", "--with-data", "-o", "l.csv", "-q")[0] == 0
    found = pd.read_csv("l.csv", dtype=str, keep_default_na=False)
    assert found["x"].tolist() == ["1", "", "1.5", "8", "8", "9"]
    assert [cell == "" for cell in found["cluster"]] == [False, True, False, False, True, False]


def test_texts_of_numbers_are_numbers_where_a_format_has_types(folder, run):
    Path("t.csv").write_text("code,n,x,when\n007,1,0.5,2024-01-01\n008,2,1.5,2024-01-02\n009,9,8.25,2024-01-03\n")
    assert run("fit", "t.csv", "-c", "2", "--with-data", "-o", "l.parquet", "-q")[0] == 0
    found = pd.read_parquet("l.parquet")
    assert found["code"].tolist() == ["007", "008", "009"]
    assert found["n"].tolist() == [1, 2, 9]
    assert found["n"].dtype.kind == "i"
    assert found["x"].tolist() == [0.5, 1.5, 8.25]
