"""Tables in every format, packed or not: the right numbers, or an error that names the file and the remedy."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gitcluster.cli.tables import ReadOptions, TableError, match_names, read_table

from .conftest import COMMAND, read

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
def test_formats_hold_the_same_numbers(folder, customers, form):
    path = f"table.{'arrow' if form == 'stream' else form}"
    save(customers, path, form)
    values = customers.drop(columns="customer")
    nameless = form in ("npy", "npz")
    table = read(path) if nameless else read(path, id="customer")
    np.testing.assert_array_equal(table.data.to_numpy(dtype=float), values.to_numpy())
    assert table.data.columns.tolist() == (["x1", "x2", "x3"] if nameless else list(values.columns))
    if not nameless:
        assert table.ids.tolist() == customers["customer"].tolist()


@pytest.mark.parametrize("form", ["parquet", "arrow", "npy", "npz", "xlsx"])
def test_a_damaged_file_is_named(folder, customers, form):
    path = Path(f"table.{form}")
    save(customers, path, form)
    for content in (b"", b"a,b\n1,2\n", path.read_bytes()[: path.stat().st_size // 2]):
        path.write_bytes(content)
        with pytest.raises(TableError, match=rf"table\.{form}"):
            read(path)


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz", "xlsx"])
def test_a_changed_byte_is_harmless_or_named(folder, customers, form):
    path = Path(f"table.{form}")
    save(customers, path, form)
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(8, len(whole), 30):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with suppress(TableError):
            read(path)


def test_arrays_that_are_no_tables(folder):
    np.save("texts.npy", np.array([["a"], ["b"]]))
    np.save("cube.npy", np.zeros((2, 2, 2)))
    np.savez("two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 2)))
    np.save("objects.npy", np.array([{}, {}], dtype=object))
    for name in ("texts.npy", "cube.npy", "objects.npy"):
        with pytest.raises(TableError, match=name):
            read(name)
    with pytest.raises(TableError, match=r"two\.npz.*--key"):
        read("two.npz")
    assert read("two.npz", key="b").data.shape == (2, 2)


def test_single_precision_stays(folder):
    np.save("single.npy", np.ones((3, 2), dtype=np.float32))
    assert set(read("single.npy").data.dtypes) == {np.dtype(np.float32)}


def test_sheets(folder, customers):
    with pd.ExcelWriter("book.xlsx") as book:
        customers[["age"]].to_excel(book, sheet_name="first", index=False)
        customers[["income"]].to_excel(book, sheet_name="second", index=False)
    with pytest.warns(UserWarning, match="--sheet"):
        assert read("book.xlsx").data.columns.tolist() == ["age"]
    assert read("book.xlsx", sheet="second").data.columns.tolist() == ["income"]
    with pytest.raises(TableError, match="--sheet"):
        read("book.xlsx", sheet="third")


@pytest.mark.parametrize("name", ["table.csv.{}", "table.csv", "table"])
@pytest.mark.parametrize("kind", PACKERS)
def test_packed_tables_whatever_their_names(folder, kind, name):
    path = folder / name.format(kind)
    path.write_bytes(PACKERS[kind](CSV.encode()))
    np.testing.assert_array_equal(read(path).data.to_numpy(), [[1, 2.5], [3, 4]])


@pytest.mark.parametrize("kind", PACKERS)
def test_half_a_packed_file(folder, kind):
    path = folder / f"table.csv.{kind}"
    body = "".join(f"{x},{y}\n" for x, y in np.random.default_rng(0).normal(size=(2000, 2)))
    whole = PACKERS[kind](f"a,b\n{body}".encode())
    path.write_bytes(whole)
    assert len(read(path).data) == 2000
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"table\.csv"):
        read(path)


def test_packed_tables_of_other_formats(folder, customers):
    customers.to_parquet("t.parquet")
    Path("t.parquet.gz").write_bytes(gzip.compress(Path("t.parquet").read_bytes()))
    assert read("t.parquet.gz", id="customer").data.shape[0] == 200


def test_a_zip_of_several_files(folder):
    Path("two.zip").write_bytes(zipped(one_csv=CSV, two_csv=CSV))
    with pytest.raises(TableError, match=r"one\.csv, two\.csv.*--key one\.csv"):
        read("two.zip")
    assert read("two.zip", key="two.csv").data.columns.tolist() == ["a", "b"]
    Path("readme.zip").write_bytes(zipped(one_csv=CSV, readme_pdf="x"))
    assert read("readme.zip").data.columns.tolist() == ["a", "b"]


def test_packed_standard_input(folder):
    done = subprocess.run(
        [str(COMMAND), "fit", "-", "-c", "2", "-q"], input=gzip.compress(b"a,b\n1,2\n1,3\n8,8\n9,9\n"),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5


def test_tables_that_are_elsewhere():
    fsspec = pytest.importorskip("fsspec")
    for name, content in (("table.csv", CSV.encode()), ("table.csv.gz", gzip.compress(CSV.encode()))):
        with fsspec.open(f"memory://folder/{name}", "wb") as file:
            file.write(content)
        np.testing.assert_array_equal(read(f"memory://folder/{name}").data.to_numpy(), [[1, 2.5], [3, 4]])
    for name in ("memory://folder/none.csv", "nowhere://x"):
        with pytest.raises(TableError, match=name):
            read(name)


RECORDS = [{"a": 1, "b": 2.5, "c": "x"}, {"a": 3, "b": None, "c": "y"}, {"b": 4.0, "a": 5}]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.csv", "t"])
@pytest.mark.parametrize("form", ["lines", "array", "pretty"])
def test_records(folder, name, form):
    texts = {
        "lines": "\n".join(map(json.dumps, RECORDS)),
        "array": json.dumps(RECORDS),
        "pretty": json.dumps(RECORDS, indent=2),
    }
    (folder / name).write_text(texts[form])
    table = read(name)
    assert table.data.to_dict("list") == {"a": [1, 3, 5], "b": [2.5, None, 4.0], "c": ["x", "y", None]}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"a": 1}\n{"a": }\n', "line 2"),
        ('{"a": 1}\n[1]\n', "line 2"),
        ('[{"a": 1}, 7]', "record 1"),
        ('[{"a": 1}, {"a"', r"t\.json"),
        ("", r"t\.json"),
    ],
)
def test_records_in_disorder(folder, content, place):
    Path("t.json").write_text(content)
    with pytest.raises(TableError, match=place):
        read("t.json")


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"%PDF-1.4\n%\xe2\xe3", "CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"\.xlsx"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b'{"x": {"0": 1}, "y": {"0": 2}}', "orient='records'"),
    ],
)
def test_files_that_are_no_tables(folder, content, remedy):
    for name in ("t.csv", "t.csv.gz"):
        Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(TableError, match=remedy):
            read(name)


def test_columns_by_name_and_pattern(folder):
    names = ["age", "income_1", "income_2", "a,b"]
    assert match_names(names, ("income_*",), "--columns") == ["income_1", "income_2"]
    assert match_names(names, ("income_2,age",), "--columns") == ["income_2", "age"]
    assert match_names(names, ("a,b",), "--columns") == ["a,b"]
    Path("table.csv").write_text("age,income_1,income_2,city\n1,2,3,Rome\n4,5,6,Oslo\n")
    assert read("table.csv", columns=("income_*", "age")).data.to_numpy().tolist() == [[2, 3, 1], [5, 6, 4]]
    assert read("table.csv", exclude=("city", "age")).data.columns.tolist() == ["income_1", "income_2"]
    with pytest.raises(TableError, match=r"table\.csv"):
        read("table.csv", exclude=("*",))


@pytest.mark.parametrize(
    ("given", "there", "hint"),
    [("incom_1", "income_1", True), ("Income", "income", True), ("Amount", "Country", False)],
)
def test_only_a_name_that_is_alike_is_proposed(folder, given, there, hint):
    Path("table.csv").write_text(f"{there},x\n1,2\n3,4\n")
    for option in ({"columns": (given,)}, {"id": given}, {"weight": (f"{given}=2",)}):
        with pytest.raises(TableError, match=f"{given!r}.*{there}") as error:
            read("table.csv", **option)
        assert ("did you mean" in str(error.value)) == hint


def test_memory_is_checked_before_it_is_taken(folder):
    heard = []

    def check(rows, columns):
        heard.append((rows, columns))
        raise MemoryError

    Path("table.csv").write_text("a,b\n" + "1,2\n" * 1000)
    with pytest.raises(MemoryError):
        read_table("table.csv", ReadOptions(), check=check, advance=lambda share: None)
    assert heard == [(1000, 2)]
