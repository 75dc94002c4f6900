"""Files as people have them: compressed, as JSON, in other encodings, with numbers as people write them."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.cli.choosing import ColumnOptions
from gitcluster.cli.numbers import parse_number
from gitcluster.cli.tables import read_table
from gitcluster.cli.text_tables import TableError, TextStyle

from .conftest import COMMAND

CSV = "a,b\n1,2.5\n3,4\n"


def read(path, **options):
    style = TextStyle(**options.pop("style", {}))
    chosen = ColumnOptions(**options, style=style)
    return read_table(str(path), chosen, check=lambda *_: None, advance=lambda _: None)


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


PACKED = {
    "gz": gzip.compress(CSV.encode()),
    "bz2": bz2.compress(CSV.encode()),
    "xz": lzma.compress(CSV.encode()),
    "zst": pa.compress(CSV.encode(), codec="zstd", asbytes=True),
    "zip": zipped(table_csv=CSV),
}


@pytest.mark.parametrize("name", ["table.csv.{}", "table.csv", "table", "table.data"])
@pytest.mark.parametrize("kind", PACKED)
def test_compressed_tables_whatever_their_names(folder, kind, name):
    path = folder / name.format(kind)
    path.write_bytes(PACKED[kind])
    table = read(path)
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.values, [[1, 2.5], [3, 4]])


@pytest.mark.parametrize("kind", PACKED)
def test_half_a_compressed_file(folder, kind):
    path = folder / f"table.csv.{kind}"
    body = "".join(f"{x},{y}\n" for x, y in np.random.default_rng(0).normal(size=(2000, 2)))
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
               "zst": lambda raw: pa.compress(raw, codec="zstd", asbytes=True),
               "zip": lambda raw: zipped(table_csv=raw)}  # fmt: skip
    whole = packers[kind](f"a,b\n{body}".encode())
    path.write_bytes(whole)
    assert len(read(path).values) == 2000
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TableError, match=r"table\.csv"):
        read(path)


def test_packed_tables_of_other_formats(folder, customers):
    customers.to_parquet("t.parquet")
    Path("t.parquet.gz").write_bytes(gzip.compress(Path("t.parquet").read_bytes()))
    assert read("t.parquet.gz", id="customer").n_rows == 200


def test_a_zip_of_several_files(folder):
    Path("two.zip").write_bytes(zipped(one_csv=CSV, two_csv=CSV))
    with pytest.raises(TableError, match=r"holds 2 files: one\.csv, two\.csv.*--key one\.csv"):
        read("two.zip")
    assert read("two.zip", key="two.csv").names == ["a", "b"]
    Path("readme.zip").write_bytes(zipped(one_csv=CSV, readme_pdf="x"))
    assert read("readme.zip").names == ["a", "b"]


def test_compressed_standard_input(folder):
    done = subprocess.run(
        [str(COMMAND), "fit", "-", "-c", "2", "-q"], input=gzip.compress(b"a,b\n1,2\n1,3\n8,8\n9,9\n"),
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 5


def test_tables_that_are_elsewhere():
    fsspec = pytest.importorskip("fsspec")
    for name, content in (("table.csv", CSV.encode()), ("table.csv.gz", PACKED["gz"])):
        with fsspec.open(f"memory://folder/{name}", "wb") as file:
            file.write(content)
        np.testing.assert_array_equal(read(f"memory://folder/{name}").values, [[1, 2.5], [3, 4]])
    with pytest.raises(TableError, match=r"memory://folder/none\.csv cannot be opened"):
        read("memory://folder/none.csv")
    with pytest.raises(TableError, match="nowhere://x cannot be opened"):
        read("nowhere://x")


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
    table = read(name, missing="keep")
    assert table.names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.data[["a", "b"]].to_numpy(), [[1, 2.5], [3, np.nan], [5, 4]])
    assert table.data["c"].tolist() == ["x", "y", None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": }\n', "line 2: not a JSON record"),
        ('{"a": 1}\n[1]\n', "line 2: '.1.' is not a record"),
        ('[{"a": 1}, 7]', "record 1, counted from 0: '7' is not a record"),
        ('[{"a": 1}, {"a"', "not a whole JSON file"),
        ('{"a": 1}\n{"a": "six"}\n{"a": 3}\n', "line 2: 'six' in the column 'a' is not a number"),
        ("", "is empty"),
    ],
)
def test_records_in_disorder(folder, content, message):
    Path("t.json").write_text(content)
    with pytest.raises(TableError, match=message):
        read("t.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.4\n%\xe2\xe3", "a PDF file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"an old Excel workbook\. Save it as \.xlsx"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"\n<!DOCTYPE html><html>", "a web page"),
        (b'{"x": {"0": 1}, "y": {"0": 2}}', "one object of columns.*orient='records'"),
    ],
)
def test_files_that_are_no_tables(folder, content, message):
    for name in ("t.csv", "t.csv.gz"):
        Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(TableError, match=message):
            read(name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"])
@pytest.mark.filterwarnings("ignore:.*is not UTF-8")
def test_encodings_are_found_out(folder, encoding):
    Path("t.csv").write_bytes("größe,b\n1,2\n3,4\n5,6\n7,8\n".encode(encoding))
    assert read("t.csv").names == ["größe", "b"]


@pytest.mark.parametrize(
    ("cell", "decimal", "number"),
    [
        ("67.614,86", ",", 67614.86),
        ("$67,614.86", ".", 67614.86),
        ("€ 1.234", ",", 1234),
        ("1.234,50 €", ",", 1234.5),
        ("-$5", ".", -5),
        ("($5.25)", ".", -5.25),
        ("0.5%", ".", 0.5),
        ("12 345,6", ",", 12345.6),
        ("12\u00a0345", ".", 12345),
        ("1'234.5", ".", 1234.5),
        ("1,234,567", ".", 1234567),
        ("\u22125", ".", -5),
        ("CHF 12.50", ".", 12.5),
        ("1e3", ".", 1000),
        ("12,34", ".", None),
        ("1,23,456", ".", None),
        ("1.2.3", ".", None),
        ("12-34", ".", None),
        ("$", ".", None),
        ("%", ".", None),
        ("", ".", None),
    ],
)
def test_numbers_as_people_write_them(cell, decimal, number):
    assert parse_number(cell, decimal) == number


@given(st.floats(-1e9, 1e9), st.sampled_from([".", ","]), st.sampled_from(["", "$", "€"]), st.booleans())
def test_any_number_is_read_as_it_was_written(number, decimal, sign, grouped):
    number = round(number, 2)
    text = f"{number:,.2f}" if grouped else f"{number:.2f}"
    if decimal == ",":
        text = text.translate(str.maketrans(",.", ".,"))
    text = text.replace("-", f"-{sign}") if "-" in text else sign + text
    assert parse_number(text, decimal) == number


@pytest.mark.parametrize(
    "content",
    [
        'a,b\n"67.614,86","1,5"\n"1.234","2"\n',
        "a;b\n67.614,86;1,5\n1.234;2\n",
        'a,b\n"$67,614.86",1.5\n"$1,234.00",2\n',
        'a,b\n"67,614.86",1.5%\n"1,234",2%\n',
        "sep=;\na;b\n67614,86;1,5\n1234;2\n",
        '"sep=|"\na|b\n67614.86|1.5\n1234|2\n',
        "# made by a machine\n# on Monday\na,b\n67614.86,1.5\n1234,2\n",
        "# a,b\n67614.86,1.5\n1234,2\n",
        "#a\tb\n67614.86\t1.5\n1234\t2\n",
    ],
)
def test_tables_as_people_write_them(folder, content):
    Path("t.csv").write_text(content, encoding="utf-8")
    table = read("t.csv")
    assert table.names == ["a", "b"]
    np.testing.assert_allclose(table.values, [[67614.86, 1.5], [1234, 2]])


def test_lines_are_counted_below_notes(folder):
    Path("u.csv").write_text("# a note\n# another\na,b\n1,2\n3,4\n5,6\n7,six\n")
    with pytest.raises(TableError, match=r"line 7: 'six' in the column 'b' is not a number.*--categorical 'b'"):
        read("u.csv")


def test_codes_keep_their_zeros(folder, run):
    rows = "".join(f"{i % 7},{'01234' if i % 2 else '07999'},{i % 5}\n" for i in range(60))
    Path("t.csv").write_text("x,zip,y\n" + rows)
    code, out, err = run("fit", "t.csv", "--categorical", "zip", "-c", "2", "--save", "m.npz", "--json")
    assert code == 0, err
    assert json.loads(out)["columns"]["zip"]["done"] == "two values: 01234, 07999"
    code, _, err = run("predict", "m.npz", "t.csv", "-o", "p.csv")
    assert (code, err) == (0, "")


def test_kinds_and_weights_on_the_command_line(folder, run, customers):
    frame = customers.assign(city=["Rome", "Oslo", "Bern", "Rome"] * 50, size=["S", "M", "L", "M"] * 50)
    frame.to_csv("t.csv", index=False)
    code, out, err = run("fit", "t.csv", "--ignore", "age", "--log", "income", "--weight", "city=0.5", "--ordinal",
                         "size=S,M,L", "-c", "3", "--json", "--save", "m.npz")  # fmt: skip
    assert (code, err) == (0, "")
    columns = json.loads(out)["columns"]
    assert {name: about["kind"] for name, about in columns.items()} == {
        "customer": "identifier", "income": "log", "visits_2025": "numeric", "city": "categorical", "size": "ordinal",
    }  # fmt: skip
    assert "weight 0.5" in columns["city"]["done"]
    assert run("fit", "t.csv", "--weight", "city")[0] == 2
    code, _, err = run("fit", "t.csv", "--log", "incom")
    assert code == 1
    assert "--log incom: no column 'incom', did you mean 'income'?" in err
    code, out, _ = run("report", "m.npz", "t.csv", "-o", "r.html")
    page = Path("r.html").read_text(encoding="utf-8")
    assert code == 0
    for words in ("How the clusters differ", "How each column was used", "names the rows, left out", "Rule"):
        assert words in page
    for command in ("plot", "explore"):
        assert run(command, "m.npz", "t.csv", "-o", "o.png" if command == "plot" else "o.html")[0] == 0


def test_profiles_on_the_command_line(csv, run, customers):
    assert run("fit", csv, "--id", "customer", "-c", "3", "--save", "m.npz", "-q")[0] == 0
    for arguments in (("m.npz", csv), ("m.npz",), (csv, "--id", "customer", "-c", "3")):
        code, out, _ = run("profile", *arguments)
        assert code == 0
        for words in ("Cluster 2: 40 rows (20.0%)", "visits_2025", "Rule: ", "of the cluster"):
            assert words in out
    code, out, _ = run("profile", "m.npz", csv, "--json", "-o", "p.csv")
    assert len(json.loads(out)["columns"]) == len(pd.read_csv("p.csv")) == 9
    labels = run("fit", csv, "--id", "customer", "-c", "3", "-q")[1]
    first = pd.read_csv("p.csv").query("cluster == 0 and column == 'income'")["inside"].item()
    inside = [line.endswith(",0") for line in labels.splitlines()[1:]]
    assert first == pytest.approx(customers["income"][inside].mean())


def test_new_values_are_counted(folder, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "pet": ["cat", "dog", "cow"] * 30})
    frame.to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q")[0] == 0
    frame.assign(pet=["yak", "cat", "dog"] * 30).to_csv("new.csv", index=False)
    code, _, err = run("predict", "m.npz", "new.csv", "-o", "l.csv", "-q")
    assert code == 0
    assert "'pet' has values that the fit did not have ('yak'), in 30 rows" in err


@pytest.mark.parametrize("missing", ["error", "drop", "mean", "median"])
def test_a_column_without_any_value_is_left_out_and_named(folder, run, missing):
    Path("t.csv").write_text("a,gone,b\n" + "".join(f"{i % 2 * 9 + i / 50},,{i % 7}\n" for i in range(40)))
    code, out, err = run("fit", "t.csv", "-c", "2", "--missing", missing, "-o", "labels.csv")
    assert code == 0
    assert "No value at all in gone: left out." in out + err
    assert len(Path("labels.csv").read_text().splitlines()) == 41


def test_the_report_says_how_it_was_made(folder, run):
    rows = [f"k{i:02d},{i % 2 * 9 + i / 50},{['x', 'y'][i % 2]},{i % 7}\n" for i in range(40)]
    Path("t.csv").write_text("name,a,kind,b\n" + "".join(rows))
    assert run("fit", "t.csv", "-c", "2", "--id", "name", "--exclude", "b", "--save", "m.npz", "-q")[0] == 0
    assert run("report", "m.npz", "t.csv", "-o", "r.html")[0] == 0
    page = Path("r.html").read_text()
    assert "gitcluster fit t.csv --n-clusters 2 --save m.npz --exclude b --id name --quiet" in page
    assert "gitcluster report m.npz t.csv --output r.html" in page
    for words in ("columns used (2)", "columns not used", "scikit-learn", "Python"):
        assert words in page


def test_wide_tables_get_advice_and_components_keep_the_columns(folder, run):
    rng = np.random.default_rng(0)
    names = ",".join(f"c{i}" for i in range(30))
    np.savetxt("noise.csv", rng.normal(size=(100, 30)), delimiter=",", header=names, comments="")
    assert "Name the columns that matter with --columns" in run("fit", "noise.csv", "-c", "2", "-o", "l.csv")[1]
    wide = np.repeat([[0.0], [9.0]], 50, axis=0) + rng.normal(size=(100, 1)) + 0.1 * rng.normal(size=(100, 30))
    np.savetxt("wide.csv", wide, delimiter=",", header=names, comments="")
    code, out, _ = run("fit", "wide.csv", "-c", "2", "--pca", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert "--columns" not in out
    assert "Rule: c" in run("profile", "m.npz")[1]
    assert "Largest differences: c" in run("explain", "m.npz", "0", "99")[1]
    code, _, err = run("fit", "wide.csv", "--pca", "--no-scale", "-o", "l.csv")
    assert code == 2
    assert "leave out --no-scale" in err
