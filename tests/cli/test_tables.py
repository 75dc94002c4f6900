"""Tables in every format, packed or not: the right numbers, or an error that names the file and the remedy."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from gitcluster.cli.inputs import match_names
from gitcluster.cli.tables import TableError

from .conftest import IDS, read

CSV = "a,b\n1,2.5\n3,4\n"


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda raw: pa.compress(raw, codec="zstd", asbytes=True),
    "zip": lambda raw: zipped(table_csv=raw),
}


def save(table, path, form):
    """Write a table in a format; arrays are its numbers."""
    numbers = table.select_dtypes("number").to_numpy()
    if form == "stream":
        data = pa.Table.from_pandas(table)
        with pa.ipc.new_stream(path, data.schema) as stream:
            stream.write_table(data)
        return
    {
        "parquet": lambda: table.to_parquet(path, row_group_size=50), "arrow": lambda: table.to_feather(path),
        "xlsx": lambda: table.to_excel(path, index=False), "csv": lambda: table.to_csv(path, index=False),
        "npy": lambda: np.save(path, numbers), "npz": lambda: np.savez_compressed(path, X=numbers),
    }[form]()  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "xlsx", "npy", "npz", "csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_formats_hold_the_same_numbers(folder, customers, form, packed):
    path = Path(f"table.{'arrow' if form == 'stream' else form}")
    save(customers, path, form)
    if packed:
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = Path(f"{path}.gz")
    values = customers.drop(columns="customer")
    nameless = form in ("npy", "npz")
    table = read(path) if nameless else read(path, id="customer")
    np.testing.assert_array_equal(table.data.to_numpy(dtype=float), values.to_numpy())
    assert list(table.data) == (["x1", "x2", "x3"] if nameless else list(values.columns))
    assert nameless or table.ids.tolist() == customers["customer"].tolist()


@pytest.mark.parametrize("form", ["parquet", "arrow", "npy", "npz", "xlsx", "zip", "csv.gz"])
def test_a_damaged_file_is_named(folder, customers, form):
    path = Path(f"table.{form}")
    if form in ("zip", "csv.gz"):
        path.write_bytes(PACKERS[form.removeprefix("csv.")](customers.to_csv().encode()))
    else:
        save(customers, path, form)
    whole = path.read_bytes()
    for content in (b"", b"a,b\n1,2,3\n", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(TableError, match=rf"table\.{form}"):
            read(path)
    for position in np.random.default_rng(0).integers(8, len(whole), 30):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 255]) + whole[position + 1 :])
        with suppress(TableError):
            read(path)


def test_arrays_of_texts_or_more_dimensions(folder):
    np.save("texts.npy", np.array([["a"], ["b"]]))
    np.save("cube.npy", np.zeros((2, 2, 2)))
    np.save("objects.npy", np.array([{}, {}], dtype=object))
    for name in ("texts.npy", "cube.npy", "objects.npy"):
        with pytest.raises(TableError, match=name):
            read(name)
    np.save("single.npy", np.ones(3, dtype=np.float32))
    assert set(read("single.npy").data.dtypes) == {np.dtype(np.float32)}


def test_one_of_several_sheets_arrays_or_files(folder, customers):
    with pd.ExcelWriter("book.xlsx") as book:
        customers[["age"]].to_excel(book, sheet_name="first", index=False)
        customers[["income"]].to_excel(book, sheet_name="second", index=False)
    with pytest.warns(UserWarning, match="--sheet"):
        assert list(read("book.xlsx").data) == ["age"]
    assert list(read("book.xlsx", sheet="second").data) == ["income"]
    np.savez("two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 3)))
    Path("two.zip").write_bytes(zipped(one_csv=CSV, two_csv=CSV))
    for name, options in (
        ("book.xlsx", {"sheet": "third"}), ("two.npz", {}), ("two.npz", {"sheet": "c"}), ("two.zip", {}),
    ):  # fmt: skip
        with pytest.raises(TableError, match=name):
            read(name, **options)
    assert read("two.npz", sheet="b").data.shape == (2, 3)
    assert list(read("two.zip", sheet="two.csv").data) == ["a", "b"]
    Path("readme.zip").write_bytes(zipped(one_csv=CSV, readme_pdf="x"))
    assert list(read("readme.zip").data) == ["a", "b"]


def workbook(*rows):
    book = openpyxl.Workbook()
    for row in [*rows, ["x", "y"], *([i % 7, i % 5 + 0.5] for i in range(60))]:
        book.active.append(row)
    return book


def test_sheets_with_empty_cells_titles_and_no_header(folder):
    book = workbook()
    book.active["XFD1048576"] = 1  # far from the table
    book.save("far.xlsx")
    with pytest.raises(TableError, match=r"far\.xlsx, row 1: the name of column 3"):
        read("far.xlsx")
    book = workbook()
    book.active["D9"], book.active["A70"], book.active["A5"] = "", None, "#DIV/0!"
    book.active["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    book.save("formatted.xlsx")
    data = read("formatted.xlsx").data
    assert data.shape == (60, 2)
    assert (data["x"] == "").sum() == 1
    workbook(["Sales"], []).save("titled.xlsx")
    with pytest.raises(TableError, match=r"titled\.xlsx, row 1.*--skip-rows"):
        read("titled.xlsx")
    assert list(read("titled.xlsx", skip_rows=1).data) == ["x", "y"]
    book = workbook()
    book.active.delete_rows(1)
    book.save("nameless.xlsx")
    with pytest.raises(TableError, match=r"nameless\.xlsx, row 1.*--no-header"):
        read("nameless.xlsx")
    assert read("nameless.xlsx", no_header=True).data.shape == (60, 2)


@pytest.mark.parametrize("name", ["table.csv.{}", "table"])
@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_tables(folder, kind, name):
    path = folder / name.format(kind)
    path.write_bytes(PACKERS[kind](CSV.encode()))
    np.testing.assert_array_equal(read(path).data.to_numpy(), [[1, 2.5], [3, 4]])
    body = "".join(f"{x},{y}\n" for x, y in np.random.default_rng(0).normal(size=(2000, 2)))
    whole = PACKERS[kind](f"a,b\n{body}".encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=path.name):
        read(path)


def test_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CSV.encode()))))
    np.testing.assert_array_equal(read("-").data.to_numpy(), [[1, 2.5], [3, 4]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(TableError, match="standard input, line 2"):
        read("-")


def test_remote_tables():
    fsspec = pytest.importorskip("fsspec")
    for name, content in (("table.csv", CSV.encode()), ("table.csv.gz", gzip.compress(CSV.encode()))):
        with fsspec.open(f"memory://folder/{name}", "wb") as file:
            file.write(content)
        np.testing.assert_array_equal(read(f"memory://folder/{name}").data.to_numpy(), [[1, 2.5], [3, 4]])
    for name in ("memory://folder/none.csv", "nowhere://x"):
        with pytest.raises(TableError, match=name):
            read(name)


RECORDS = [{"a": 1, "b": 2.5, "c": "x"}, {"a": 3, "b": None, "c": [1]}, {"b": 4.0, "a": 5}]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.csv", "t"])
@pytest.mark.parametrize("text", ["\n\n".join(map(json.dumps, RECORDS)), json.dumps(RECORDS, indent=2)])
def test_records(folder, name, text):
    (folder / name).write_text(text)
    data = read(name).data
    assert data.astype(object).where(data.notna(), None).to_dict("list") == {
        "a": [1, 3, 5], "b": [2.5, None, 4.0], "c": ["x", "[1]", None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "position"),
    [
        ('{"a": 1}\n{"a": }\n', "line 2"),
        ('{"a": 1}\n[1]\n', "line 2"),
        ('[{"a": 1}, 7]', "record 2"),
        ('[{"a": 1}, {"a"', r"t\.json"),
        ('{"x": {"0": 1}, "y": {"0": 2}}', "line 1"),  # columns rather than rows
        (f'{{"a": 1}}\n{{"a": {"1" * 5000}}}\n', "line 2"),
        ("", r"t\.json"),
    ],
)
def test_records_in_disorder(folder, content, position):
    Path("t.json").write_text(content)
    with pytest.raises(TableError, match=position):
        read("t.json")


@pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), b"\x89PNG\r\n\x1a\n\0\0"])
def test_files_that_are_no_texts(folder, content):
    for name in ("t.csv", "t.csv.gz"):
        Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(TableError, match=r"t\.csv.*CSV"):
            read(name)


def test_columns_by_name_and_pattern(folder):
    names = ["age", "income_1", "income_2", "a,b"]
    assert match_names(names, ("income_2,age",), "--columns") == ["income_2", "age"]
    assert match_names(names, ("a,b",), "--columns") == ["a,b"]
    Path("table.csv").write_text("age,income_1,income_2,city\n1,2,3,Rome\n4,5,6,Oslo\n")
    assert read("table.csv", columns=("income_*", "age")).data.to_numpy().tolist() == [[2, 3, 1], [5, 6, 4]]
    assert list(read("table.csv", exclude=("city", "age")).data) == ["income_1", "income_2"]
    with pytest.raises(TableError, match=r"table\.csv"):
        read("table.csv", exclude=("*",))


@pytest.mark.parametrize(
    ("name", "value"),
    [("missing", 3), ("id", [1]), ("ids", "word"), ("ids", {"array": "notes.x"}), ("na", {"tuple": [1]}),
     ("rows", "word"), ("decimal", 3), ("command", None)],
)  # fmt: skip
def test_forged_notes_of_a_model(csv, run, name, value):
    assert run("fit", csv, "-c", "3", *IDS, "--save", "m.npz", "-q")[0] == 0
    with np.load("m.npz") as file:
        arrays = {key: file[key] for key in file.files} | {"notes.x": np.array(["a", "b"])}
    header = json.loads(arrays.pop("header").tobytes())
    header["state"]["dict"]["notes"]["dict"][name] = value
    np.savez("m.npz", header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    code, _, err = run("predict", "m.npz", csv, "-q")
    assert code == 1
    assert "m.npz" in err
    assert name in err
