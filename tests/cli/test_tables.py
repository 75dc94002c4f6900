"""Tables in every format and state: the right data, or an error that names the file, the line and a remedy."""

import csv as csv_module
import gzip
import io
import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster import GIT
from gitcluster.cli.tables import TableError, match_names

from .conftest import read

CSV = "a,b\n1,2.5\n3,4\n"
PACKERS = {"gz": gzip.compress, "zst": lambda raw: pa.compress(raw, codec="zstd", asbytes=True)}


def save(table, path, form):
    """Write a table in a format; arrays are its numbers."""
    if form == "stream":
        data = pa.Table.from_pandas(table)
        with pa.ipc.new_stream(path, data.schema) as stream:
            stream.write_table(data)
        return
    {
        "parquet": lambda: table.to_parquet(path, row_group_size=50), "arrow": lambda: table.to_feather(path),
        "xlsx": lambda: table.to_excel(path, index=False), "csv": lambda: table.to_csv(path, index=False),
        "npy": lambda: np.save(path, table.select_dtypes("number").to_numpy()),
    }[form]()  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "arrow", "stream", "xlsx", "npy", "csv"])
@pytest.mark.parametrize("packer", [None, *PACKERS])
def test_formats_hold_the_same_numbers(folder, customers, form, packer):
    path = Path(f"table.{form}")
    save(customers, path, form)
    if packer:
        path.write_bytes(PACKERS[packer](path.read_bytes()))
    table, values = read(path, id=None if form == "npy" else "customer"), customers.drop(columns="customer")
    np.testing.assert_array_equal(table.data.to_numpy(dtype=float), values.to_numpy())
    assert list(table.data) == (["x1", "x2", "x3"] if form == "npy" else list(values.columns))
    assert form == "npy" or table.ids.tolist() == customers["customer"].tolist()


@pytest.mark.parametrize("form", ["parquet", "arrow", "npy", "xlsx", "csv.gz", "csv.zst"])
def test_a_damaged_file_is_named(folder, customers, form):
    path = Path(f"table.{form}")
    if form.startswith("csv."):
        path.write_bytes(PACKERS[form.removeprefix("csv.")](customers.to_csv().encode()))
    else:
        save(customers, path, form)
    whole = path.read_bytes()
    for content in (b"", b"a,b\n1,2,3\n", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(TableError, match=rf"table\.{form}"):
            read(path)
    for position in np.random.default_rng(0).integers(8, len(whole), 20):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 255]) + whole[position + 1 :])
        with suppress(TableError):
            read(path)


def test_arrays_of_texts_or_more_dimensions_and_other_files(folder):
    np.save("texts.npy", np.array([["a"], ["b"]]))
    np.save("cube.npy", np.zeros((2, 2, 2)))
    np.save("objects.npy", np.array([{}, {}], dtype=object))
    Path("old.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    for name in ("texts.npy", "cube.npy", "objects.npy", "old.xls", "picture.csv"):
        with pytest.raises(TableError, match=name):
            read(name)
    np.save("single.npy", np.ones(3, dtype=np.float32))
    assert set(read("single.npy").data.dtypes) == {np.dtype(np.float32)}


def workbook(*rows):
    book = openpyxl.Workbook()
    for row in [*rows, ["x", "y"], *([i % 7, i % 5 + 0.5] for i in range(60))]:
        book.active.append(row)
    return book


def test_sheets_with_empty_cells_titles_and_no_header(folder):
    book = workbook()
    book.active["D9"], book.active["A70"], book.active["A5"] = "", None, "#DIV/0!"
    book.active["AZ999"].font = openpyxl.styles.Font(bold=True)
    book.save("formatted.xlsx")
    data = read("formatted.xlsx").data
    assert data.shape == (60, 2)
    assert data["x"].isna().sum() == 1
    book.active["XFD1048576"] = "stray"
    book.save("stray.xlsx")
    with pytest.raises(TableError, match=r"stray\.xlsx .* row 1,048,576"):
        read("stray.xlsx")
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
    openpyxl.Workbook().save("empty.xlsx")
    with pytest.raises(TableError, match="empty"):
        read("empty.xlsx")


def test_one_of_several_sheets(folder, customers):
    with pd.ExcelWriter("book.xlsx") as book:
        customers[["age"]].to_excel(book, sheet_name="first", index=False)
        customers[["income"]].to_excel(book, sheet_name="second", index=False)
    with pytest.warns(UserWarning, match="--sheet"):
        assert list(read("book.xlsx").data) == ["age"]
    assert list(read("book.xlsx", sheet="second").data) == ["income"]
    with pytest.raises(TableError, match="--sheet"):
        read("book.xlsx", sheet="third")


def test_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(CSV.encode()))))
    np.testing.assert_array_equal(read("-").data.to_numpy(), [[1, 2.5], [3, 4]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(TableError, match="standard input, line 2"):
        read("-")


def test_columns_by_name_and_pattern(folder):
    names = ["age", "income_1", "income_2", "a,b"]
    assert match_names(names, ("income_2,age",), "--columns") == ["income_2", "age"]
    assert match_names(names, ("a,b",), "--columns") == ["a,b"]
    Path("table.csv").write_text("age,income_1,income_2,city\n1,2,3,Rome\n4,5,6,Oslo\n")
    assert read("table.csv", columns=("income_*", "age")).data.to_numpy().tolist() == [[2, 3, 1], [5, 6, 4]]
    assert list(read("table.csv", exclude=("city", "age")).data) == ["income_1", "income_2"]
    with pytest.raises(TableError, match=r"table\.csv"):
        read("table.csv", exclude=("*",))


# -- Text tables: no row is lost ---------------------------------------------------------------------------------------


def read_bytes(content, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, **options)


def error_of(content, **options):
    """Return the words of the error, and the line that it names."""
    with pytest.raises(TableError, match=r"table\.csv") as error:
        read_bytes(content, **options)
    line = re.search(r"line ([\d,]+)", str(error.value))
    return str(error.value), line and int(line[1].replace(",", ""))


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2.5\n3,4\n",
        "a,b\r\n1,2.5\r\n3,4\r\n",
        "a,b\r1,2.5\r3,4",
        "a\tb\n1\t2.5\n3\t4\n",
        "a|b\n1|2.5\n3|4\n",
        '"a","b"\n"1","2.5"\n"3","4"\n',
        "a,b\n1, 2.5\n 3,4\n",
        "\n\na,b\n\n1,2.5\n\n3,4\n\n",
        "a   b\n 1   2.5 \n3 4\n",
        b"\xef\xbb\xbfa,b\n1,2.5\n3,4\n",
        "a,b\n1,2.5\n3,4\n".encode("utf-16"),
    ],
)
def test_text_in_many_styles(content):
    table = read_bytes(content)
    assert list(table.data) == ["a", "b"]
    np.testing.assert_array_equal(table.data.to_numpy(), [[1, 2.5], [3, 4]])


@pytest.mark.parametrize(
    ("content", "remedy", "line", "options"),
    [
        ("Sales\na,b\n1,2.5\n3,4\n", "--skip-rows", 2, {"skip_rows": 1}),
        ("Sales,\n,\na,b\n1,2.5\n3,4\n", "--skip-rows", 1, {"skip_rows": 2}),
        ("# made by a machine\na,b\n1,2.5\n3,4\n", "--skip-rows", 2, {"skip_rows": 1}),
        ("a,b\n1,2.5\n3,4\n".encode("utf-16-le"), "--encoding", 1, {"encoding": "utf-16-le"}),
        ('a,"b\n1,2.5\n3,4\n', "quote", 1, None),
        ("1,2.5\n3,4\n", "--no-header", 1, {"no_header": True, "names": ["x1", "x2"]}),
        ("", "", None, None),
        ("\n\n", "", None, None),
        ("a,b", "", None, None),
        ("a,b\n1,2\n3\n", "--separator", 3, None),
        ("a,b\n1,2\n\n3,4,5\n", "--separator", 4, None),
        ('a,b\n"x\ny",2\n3\n', "--separator", 4, None),
        ("a,b\nr1,1,2\nr2,3,4\n", "--skip-rows", 2, None),  # R leaves out the name of the first column
        ("a,a\n1,2\n", "Rename", None, None),
        ("a,b\n1,2\n3\0,4\n", "--encoding", 3, None),
        ('a,b\n1,2\n3,"4\n', "quote", 3, None),
        ('a,b\n1,2\n3,"4"5\n', "quote", 3, None),
    ],
)
def test_disorder_is_named_with_its_remedy(content, remedy, line, options):
    words, named = error_of(content)
    assert remedy in words
    assert named == line
    if options is not None:
        names = options.pop("names", ["a", "b"])
        table = read_bytes(content, **options)
        assert list(table.data) == names
        np.testing.assert_array_equal(table.data.to_numpy(), [[1, 2.5], [3, 4]])


def test_one_column_or_a_name_missing():
    for content in ("x\n1\n2\n", "\nx\n1\n\n2", '"x"\n"1"\n"2"\n'):
        assert read_bytes(content).data.to_dict("list") == {"x": [1, 2]}
    assert read_bytes("city\nNew York\nSan Jose\n").data.shape == (2, 1)
    assert list(read_bytes("a:b\n1:2\n", separator="colon").data) == ["a", "b"]
    assert list(read_bytes(",b\n0,1\n1,2\n").data) == ["x1", "b"]  # the index of a data frame


@st.composite
def messy_tables(draw):
    """Draw the bytes of a table, its separator, its ids, and whether a row of it is wrong."""
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    plain = st.text(st.sampled_from('ab"=\x0c\x1c\x85\u2028 é'), max_size=6)
    quoted = st.text(st.sampled_from('ab", ;\n\r\t'), max_size=8)
    rows = draw(st.lists(st.tuples(st.sampled_from(["plain", "quoted", "empty"]), plain, quoted), min_size=2))
    faults = st.sampled_from(["short", "long", "stray", "nul"])
    wrong = dict(draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), faults), max_size=2)))
    lines, ids = [separator.join(["id", "note", "x"])], []
    for i, (kind, plain, quoted) in enumerate(rows):
        if kind == "empty":
            lines.append("")
            continue
        note = '"' + quoted.replace('"', '""') + '"' if kind == "quoted" else "n" + plain
        faulty = {"short": None, "long": f"n{separator}n", "stray": '"stray', "nul": "\0"}
        note = faulty[wrong[i]] if i in wrong else note
        lines.append(separator.join(field for field in (f"r{i}", note, f"{i}.5") if field is not None))
        ids.append(f"r{i}")
    text = newline.join(lines) + draw(st.sampled_from(["", newline, 2 * newline]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding), separator, ids, any(rows[i][0] != "empty" for i in wrong)


@given(messy_tables())
@pytest.mark.filterwarnings("ignore:.*looks like several rows")
def test_every_row_is_read_or_named(table):
    content, separator, ids, bad = table
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    n_lines = len(re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))
    options = {
        "separator": {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}[separator],
        "columns": ("x",),
        "id": "id",
    }
    if bad or not ids:
        words, line = error_of(content, **options)
        assert line or not ids, words
        assert line is None or 1 <= line <= n_lines
        return
    table = read_bytes(content, **options)
    assert table.ids.tolist() == ids
    np.testing.assert_array_equal(table.data["x"].astype(float), [float(name[1:]) + 0.5 for name in ids])
    assert table.lines == n_lines


@pytest.mark.parametrize("field", range(3))
@pytest.mark.parametrize(("first", "last"), [(20, None), (999, None), (0, 1), (5, 500), (0, 999)])
def test_stray_quotes_are_named(first, last, field):
    """One quote that is never closed is an error, two that make one field of the rows between them are a warning."""
    rows = [[f"r{i}", "note", "abc"[i % 3]] for i in range(1000)]
    rows[first][field] = '"' + rows[first][field]
    if last is not None:
        rows[last][field] += '"'
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    if last is None or field:
        assert error_of(content)[1] == first + 2
    else:
        with pytest.warns(
            UserWarning, match=rf"table\.csv, line {first + 2:,}: .* line {last + 2:,} looks like several"
        ):
            assert len(read_bytes(content).data) == 1000 - (last - first)


def test_fields_of_several_lines_and_of_any_size():
    content = "id,note,x\n" + "".join(f'r{i},"said, and\nleft",{i}\n' for i in range(100))
    table = read_bytes(content)
    assert (len(table.data), table.lines, table.empty) == (100, 201, 0)
    content = f'id,note,x\nr0,"{"a," * 10_000_000}",0\nr1,b,1\n'
    assert len(read_bytes(content).data) == 2
    assert error_of(content + "r2,b\n")[1] == 4


def test_lines_are_counted_across_blocks_and_quotes():
    content = 'note,b\n"two\nlines",2\n' + "x,1\n" * 140_000
    assert error_of(content + "x,1,1\n", columns=("b",))[1] == 140_004
    words, line = error_of(content.encode() + b"\xff,1\n", encoding="utf-8")
    assert (line, "--encoding" in words) == (140_004, True)
    table = read_bytes(content)
    assert (len(table.data), table.lines) == (140_001, 140_003)


def test_ids_stay_as_they_are():
    content = "id,x\nNA,1\nnull,2\n,3\n007,4\n 8 ,5\n"
    assert read_bytes(content, id="id").ids.tolist() == ["NA", "null", "", "007", " 8 "]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding, recwarn):
    content = "größe,à\n1,2\n3,4\n".encode(encoding)
    assert list(read_bytes(content).data) == ["größe", "à"]
    assert ["--encoding" in str(warning.message) for warning in recwarn] == [True] * (encoding in ("cp1252", "latin-1"))
    assert list(read_bytes(content, encoding=encoding).data) == ["größe", "à"]


def test_the_summary_accounts_for_every_row(folder, run):
    Path("t.csv").write_text("id,x,y\na,1,2\n\nb,2,\nc,8,8\n\nd,9,9\ne,1,1\n")
    fit = ("fit", "t.csv", "--id", "id", "-c", "2", "-o", "l.csv", "--save", "m.npz")
    for command in (fit, ("predict", "m.npz", "t.csv", "-o", "p.csv")):
        assert re.findall(r"\d+", re.search(r"Rows read.*", run(*command)[1])[0]) == ["5", "8", "2"]
        facts = json.loads(run(*command, "--json")[1])
        assert (facts["rows"], facts["lines"], facts["empty_lines"]) == (5, 8, 2)


# -- Cells as people write them, identical from Python frames and from the command line --------------------------------

RNG = np.random.default_rng(0)
GROUP = np.arange(60) % 2
NUMBERS = (1000 + 5000 * GROUP + 300 * RNG.normal(size=60)).round(2)
SMALL = (5 + 20 * GROUP + RNG.normal(size=60)).round(3)
DAYS = [pd.Timestamp("2024-01-01") + pd.Timedelta(int(day), "D") for day in 200 * GROUP + RNG.integers(0, 90, 60)]


def some(cells, *others):
    """Return cells; every ninth is one of the others."""
    return [others[i // 9 % len(others)] if i % 9 == 4 else cell for i, cell in enumerate(cells)]


COLUMNS = {
    "plain": [f"{x}" for x in NUMBERS],
    "integers": [f"{x:.0f}" for x in NUMBERS],
    "signs": [f"{x - 3000:+.3e}".replace("-", "\u2212") for x in NUMBERS],
    "dollars": [f"${x:,.2f}" for x in NUMBERS],
    "blanks around": [f" {x} " for x in NUMBERS],
    "decimal comma": [f"{x}".replace(".", ",") for x in SMALL],
    "either mark": [f"{1 + x % 8:.3f}" for x in NUMBERS],
    "gaps": some([f"{x}" for x in NUMBERS], "", " ", "-", "n/a", "NULL", "?", "TBD"),
    "notes": ["about 25", *(f"{x}" for x in NUMBERS[1:])],
    "not finite": some([f"{x}" for x in NUMBERS], "inf", "NaN"),
    "hexadecimal": [f"0x{int(x):x}" for x in NUMBERS],
    "codes": [f"{i % 7:03d}" for i in range(60)],
    "codes and numbers": [f"{i % 7}" if i % 7 else "007" for i in range(60)],
    "running number": [f"{i + 1000}" for i in range(60)],
    "day first": [f"{day:%d/%m/%Y}" for day in DAYS],
    "year first": some([f"{day:%Y-%m-%d}" for day in DAYS], "", "-"),
    "zero or one": [str(g) for g in GROUP],
    "one and one point": [["1.0", "1", "2", "3.50"][i % 4] for i in range(60)],
    "mixed": [["Rome", "3", "4.5", "n/a", "Oslo"][i % 5] for i in range(60)],
    "categories": some([["Köln", "Oslo", "New York"][i % 3] for i in range(60)], "", "-"),
    "texts": [f'said "{i}",\nthen; left' for i in range(60)],
    "empty": [""] * 60,
}
TABLES = {
    **{name: ["x", "y", name] for name in COLUMNS},
    "all": list(COLUMNS),
    "a comma elsewhere": ["either mark", "integers", "decimal comma"],
    "both marks elsewhere": ["either mark", "integers", "decimal comma", "plain"],
}


def check_same(frame, run, *options, **parameters):
    """Fit a frame of texts in Python, and the same in a file on the command line."""
    frame.to_csv("t.csv", index=False, quoting=csv_module.QUOTE_MINIMAL)
    model = GIT(2, **parameters).fit(frame)
    code, _, err = run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q", "-o", "l.csv", *options)
    assert code == 0, err
    loaded = GIT.load("m.npz")
    assert str(loaded.columns_) == str(model.columns_)
    assert list(loaded.columns_) == list(model.columns_)
    assert pd.read_csv("l.csv")["cluster"].tolist() == model.labels_.tolist()
    assert run("predict", "m.npz", "t.csv", "-o", "p.csv", "-q")[0] == 0
    assert pd.read_csv("p.csv")["cluster"].tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("names", TABLES.values(), ids=TABLES)
@pytest.mark.filterwarnings("ignore")
def test_a_table_means_the_same_as_in_python(folder, run, names):
    plain = {"x": [str(x) for x in SMALL], "y": [f"{x:.0f}" for x in NUMBERS]}
    check_same(pd.DataFrame({name: (COLUMNS | plain)[name] for name in names}), run)


@pytest.mark.filterwarnings("ignore")
def test_requested_kinds_mean_the_same_as_in_python(folder, run):
    kinds = {"one and one point": "categorical", "integers": "log", "zero or one": "ordinal"}
    options = ("--categorical", "one and one point", "--log", "integers", "--ordinal", "zero or one")
    check_same(pd.DataFrame({name: COLUMNS[name] for name in ["plain", *kinds]}), run, *options, columns=kinds)
