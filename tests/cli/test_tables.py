"""Tables in every format and disorder: the right numbers, or an error that says where and what to do."""

import io
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from gitcluster.cli.cells import as_numbers
from gitcluster.cli.choosing import ColumnOptions, match_names
from gitcluster.cli.tables import iterate_table, read_table
from gitcluster.cli.text_tables import TableError, TextStyle, TextTable


def read(path, **options):
    style = {k: options.pop(k) for k in ("separator", "decimal", "encoding", "header") if k in options}
    na = options.pop("na", ())
    chosen = ColumnOptions(**options, style=TextStyle(**style, missing=na))
    return read_table(str(path), chosen, check=lambda rows, columns: None, advance=lambda share: None)


def write(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2.5\n3,4\n",
        "a,b\r\n1,2.5\r\n3,4\r\n",
        "a,b\n1,2.5\n3,4",
        "a\tb\n1\t2.5\n3\t4\n",
        "a;b\n1;2,5\n3;4\n",
        "a|b\n1|2.5\n3|4\n",
        "a   b\n 1   2.5 \n3 4\n",
        '"a","b"\n"1","2.5"\n"3","4"\n',
        "a,b\n1, 2.5\n 3,4\n",
        "\n\na,b\n\n1,2.5\n\n3,4\n\n",
        b"\xef\xbb\xbfa,b\n1,2.5\n3,4\n",
        "a,b\n1,2.5\n3,4\n".encode("utf-16"),
        "a;b\n1; 2,5\n3;4\n",
    ],
)
def test_text_in_many_styles(folder, content):
    table = read(write(folder, content))
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.values, [[1, 2.5], [3, 4]])


def test_no_header(folder):
    table = read(write(folder, "1,2\n3,4\n"), header=False)
    assert table.names == ["x1", "x2"]
    assert len(table.values) == 2


def test_encodings(folder):
    path = write(folder, "größe,b\n1,2\n3,4\n".encode("latin-1"))
    with pytest.warns(UserWarning, match=r"not UTF-8 \(byte 0xf6 at offset 2\); it was read as cp1252"):
        assert read(path).names == ["größe", "b"]
    assert read(path, encoding="latin-1").names == ["größe", "b"]
    with pytest.raises(TableError, match="utf-9 is not known"):
        read(path, encoding="utf-9")


def test_an_offset_far_into_the_file(folder):
    rows = b"1,2\n" * 3_000_000
    path = write(folder, b"a,b\n" + rows + b"1,\xff\n")
    with pytest.raises(TableError, match=r"byte 0xff at offset 12,000,006\b"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b", "has a header but no rows"),
        ("a,b\n1,2\n3\n", "line 3: 1 fields where 2 are expected"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields where 2 are expected"),
        ('a,b\n"x\ny",2\n3\n', "line 4: 1 fields where 2 are expected"),
        ("1,2\n3,4\n", "no header.*--no-header"),
        ("a,a\n1,2\n", "same name: a"),
        ("a,b\n1,2\n3,\n4,5\n", "missing values .b: 1., the first in line 3, column 'b'.*--missing median"),
        ("a,b\n1,2\n3,inf\n", "line 3: the value of 'b' is infinite"),
        ("a,b\n1,2\n3,4\n5,six\n", r"line 4: 'six' in the column 'b' is not a number.*--na 'six'"),
        ("a,b\n1,2\n3\0,4\n", "NUL byte is in line 3"),
        (b"a\0,b\n", "NUL byte is in line 1"),
    ],
)
def test_disorder_is_named(folder, content, message):
    with pytest.raises(TableError, match=message):
        read(write(folder, content))


def test_lines_are_counted_across_blocks_and_quotes(folder):
    path = write(folder, 'note,b\n"two\nlines",2\n' + "x,1\n" * 2_500_000 + "x,1,1\n")
    with pytest.raises(TableError, match=r"line 2,500,004: 3 fields"):
        read(path, columns=("b",))


def test_missing_values(folder):
    path = write(folder, "id,a,b\n001,1,2\n002,,4\n003,5,n.a.\n004,9,6\n")
    assert read(path, id="id", missing="mean", na=("n.a.",)).values.tolist() == [[1, 2], [5, 4], [5, 4], [9, 6]]
    assert read(path, id="id", missing="median", na=("n.a.",)).values[1, 0] == 5
    dropped = read(path, id="id", missing="drop", na=("n.a.",))
    assert dropped.ids.tolist() == ["001", "004"]
    assert dropped.rows.tolist() == [0, 3]
    assert dropped.dropped == 2


def test_columns_without_any_value_are_left_out(folder):
    with pytest.warns(UserWarning, match="No value at all in b: left out"):
        assert read(write(folder, "a,b\n1,\n2,\n"), missing="mean").names == ["a"]
    with pytest.raises(TableError, match="nothing is left to cluster by"):
        read(write(folder, 'b\n""\n""\n'), missing="mean")


def test_columns_by_name_and_pattern(folder):
    names = ["age", "income_1", "income_2", "a,b"]
    assert match_names(names, ("income_*",), "--columns") == ["income_1", "income_2"]
    assert match_names(names, ("income_2,age",), "--columns") == ["income_2", "age"]
    assert match_names(names, ("a,b",), "--columns") == ["a,b"]
    with pytest.raises(TableError, match="did you mean 'income_1'"):
        match_names(names, ("incom_1",), "--columns")
    path = write(folder, "age,income_1,income_2,city\n1,2,3,Rome\n4,5,6,Oslo\n")
    assert read(path, columns=("income_*", "age")).values.tolist() == [[2, 3, 1], [5, 6, 4]]
    assert read(path, exclude=("city", "age")).names == ["income_1", "income_2"]
    with pytest.raises(TableError, match="no column is left"):
        read(path, exclude=("*",))
    with pytest.raises(TableError, match=r"--id name: .*no column 'name'"):
        read(path, id="name", exclude=("city",))


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "xlsx", "npy", "npz", "csv"])
def test_formats_hold_the_same_numbers(folder, customers, form):
    path = folder / f"table.{'arrow' if form == 'stream' else form}"
    values = customers.drop(columns="customer")
    if form == "parquet":
        customers.to_parquet(path, row_group_size=50)
    elif form == "arrow":
        customers.to_feather(path)
    elif form == "stream":
        import pyarrow as pa

        data = pa.Table.from_pandas(customers)
        with pa.ipc.new_stream(path, data.schema) as stream:
            stream.write_table(data)
    elif form == "xlsx":
        customers.to_excel(path, index=False)
    elif form == "csv":
        customers.to_csv(path, index=False)
    elif form == "npy":
        np.save(path, values.to_numpy())
    else:
        np.savez(path, X=values.to_numpy(), other=np.arange(3))
    nameless = form in ("npy", "npz")
    table = read(path) if nameless else read(path, id="customer")
    np.testing.assert_array_equal(table.values, values.to_numpy())
    assert table.names == (["x1", "x2", "x3"] if nameless else list(values.columns))
    if not nameless:
        assert table.ids.tolist() == customers["customer"].tolist()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npy", "npz", "xlsx"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n"])
def test_a_name_that_promises_too_much(folder, suffix, content):
    path = folder / f"table.{suffix}"
    path.write_bytes(content)
    with pytest.raises(TableError, match="is not a whole"):
        read(path)


@pytest.mark.parametrize("form", ["parquet", "arrow", "npy", "npz", "xlsx"])
def test_half_a_file(folder, customers, form):
    path = folder / f"table.{form}"
    values = customers.drop(columns="customer")
    if form == "parquet":
        values.to_parquet(path)
    elif form == "arrow":
        values.to_feather(path)
    elif form == "xlsx":
        values.to_excel(path, index=False)
    elif form == "npy":
        np.save(path, values.to_numpy())
    else:
        np.savez(path, X=values.to_numpy())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(TableError, match="is not a whole"):
        read(path)


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz", "xlsx"])
def test_a_changed_byte_is_harmless_or_named(folder, customers, form):
    path = folder / f"table.{form}"
    if form == "npz":
        np.savez_compressed(path, X=customers[["age", "income"]].to_numpy())
    else:
        {"parquet": customers.to_parquet, "arrow": customers.to_feather, "xlsx": customers.to_excel}[form](path)
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
    for name, message in [
        ("texts.npy", "not numbers"),
        ("cube.npy", "3 dimensions"),
        ("two.npz", "arrays a, b.*--key"),
    ]:
        with pytest.raises(TableError, match=message):
            read(name)
    with pytest.raises(TableError, match="is not a whole NPY"):
        read("objects.npy")
    assert read("two.npz", key="b").values.shape == (2, 2)


def test_sheets(folder, customers):
    with pd.ExcelWriter("book.xlsx") as book:
        customers[["age"]].to_excel(book, sheet_name="first", index=False)
        customers[["income"]].to_excel(book, sheet_name="second", index=False)
    with pytest.warns(UserWarning, match="the sheet 'first' is read. There are also 'second'"):
        assert read("book.xlsx").names == ["age"]
    assert read("book.xlsx", sheet="second").names == ["income"]
    with pytest.raises(TableError, match="no sheet 'third'"):
        read("book.xlsx", sheet="third")


def test_texts_that_read_as_numbers():
    numbers, bad, _ = as_numbers(pd.Series([" 1", "2.5 ", None, "1e3"]), ".")
    np.testing.assert_array_equal(numbers, [1, 2.5, np.nan, 1000])
    assert bad is None
    numbers, bad, _ = as_numbers(pd.Series(["1,5", "2"]), ",")
    np.testing.assert_array_equal(numbers, [1.5, 2])
    assert as_numbers(pd.Series([True, False]), ".")[0].tolist() == [1, 0]


def test_single_precision_stays(folder):
    np.save("single.npy", np.ones((3, 2), dtype=np.float32))
    assert read("single.npy").values.dtype == np.float32


def test_memory_is_asked_for_before_it_is_taken(folder):
    heard = []

    def check(rows, columns):
        heard.append((rows, columns))
        raise MemoryError

    path = write(folder, "a,b\n" + "1,2\n" * 1000)
    with pytest.raises(MemoryError):
        read_table(str(path), ColumnOptions(), check=check, advance=lambda share: None)
    assert heard == [(1000, 2)]


def test_blocks_come_one_at_a_time(folder):
    path = write(folder, "a,b\n" + "1,2\n" * 5_000_000)
    shares = []
    sizes = [part.n_rows for part in iterate_table(str(path), ColumnOptions(), check=None, advance=shares.append)]
    assert sum(sizes) == 5_000_000
    assert len(sizes) >= 3
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_stream_says_nothing_of_its_size():
    table = TextTable(io.BytesIO(b"a,b\n1,2\n"), "stream", None, TextStyle())
    assert table.rows is None
