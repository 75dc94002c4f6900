"""Messy text tables: the right data, or an error that names the file, the line and a remedy. No row is lost."""

import csv as csv_module
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitcluster import GIT
from gitcluster.cli.inputs import iterate_table
from gitcluster.cli.tables import TableError

from .conftest import DEFAULTS, read


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
        "sep=;\na;b\n1;2.5\n3;4\n",
        '"sep=|"\na|b\n1|2.5\n3|4\n',
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
        ("# made by, a machine\n# on Monday\na,b\n1,2.5\n3,4\n", "--skip-rows 2", 1, {"skip_rows": 2}),
        ("#a\tb\n1\t2.5\n3\t4\n", "--skip-rows 0", 1, {"skip_rows": 0}),
        ("#,b\n1,2.5\n3,4\n", "--skip-rows 0", 1, {"skip_rows": 0, "names": ["#", "b"]}),
        ("a   b\n 1   2.5 \n3 4\n", "--separator space", None, {"separator": " "}),
        ("a,b\n1,2.5\n3,4\n".encode("utf-16-le"), "--encoding", 1, {"encoding": "utf-16-le"}),
        ('a,"b\n1,2.5\n3,4\n', "--quote none", 1, {"quote": "none", "names": ["a", '"b']}),
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
        ('a,b\n1,2\n3,"4\n', "--quote none", 3, None),
        ('a,b\n1,2\n3,"4"5\n', "--quote none", 3, None),
        ('id,"note,x\nr0,note",0\nr1,note,1\n', "--quote none", 1, None),
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
        n_ends = len(re.findall("\r\n|\r|\n", quoted))
        assume(not n_ends or quoted.count(separator) != 2 * n_ends)  # rather rows between two stray quotes
        note = '"' + quoted.replace('"', '""') + '"' if kind == "quoted" else "n" + plain
        faulty = {"short": None, "long": f"n{separator}n", "stray": '"stray', "nul": "\0"}
        note = faulty[wrong[i]] if i in wrong else note
        lines.append(separator.join(field for field in (f"r{i}", note, f"{i}.5") if field is not None))
        ids.append(f"r{i}")
    text = newline.join(lines) + draw(st.sampled_from(["", newline, 2 * newline]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding), separator, ids, any(rows[i][0] != "empty" for i in wrong)


@given(messy_tables())
def test_every_row_is_read_or_named(table):
    content, separator, ids, bad = table
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    n_lines = len(re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))
    options = {"separator": separator, "columns": ("x",), "id": "id"}
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
    """One quote that is never closed, or two that make one field of the rows between them."""
    rows = [[f"r{i}", "note", "abc"[i % 3]] for i in range(1000)]
    rows[first][field] = '"' + rows[first][field]
    if last is not None:
        rows[last][field] += '"'
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    words, line = error_of(content)
    assert line == first + 2
    assert "--quote" in words
    assert len(read_bytes(content, quote="none").data) == 1000
    if last is not None:
        assert len(read_bytes(content, quote='"').data) == 1000 - (last - first)


def test_fields_of_several_lines_and_of_any_size():
    content = "id,note,x\n" + "".join(f'r{i},"said, and\nleft",{i}\n' for i in range(100))
    table = read_bytes(content)
    assert (len(table.data), table.lines, table.empty) == (100, 201, 0)
    content = f'id,note,x\nr0,"{"a," * 10_000_000}",0\nr1,b,1\n'
    assert len(read_bytes(content).data) == 2
    assert error_of(content + "r2,b\n")[1] == 4


def test_lines_are_counted_across_blocks_and_quotes(folder):
    content = 'note,b\n"two\nlines",2\n' + "x,1\n" * 140_000
    assert error_of(content + "x,1,1\n", columns=("b",))[1] == 140_004
    long = f"{'y' * 9_000_000},1\n"  # more bytes than are sampled
    words, line = error_of((content + long).encode() + b"\xff,1\n")
    assert line == 140_005
    assert "--encoding" in words
    Path("table.csv").write_text(content)
    shares = []
    parts = list(iterate_table("table.csv", DEFAULTS, advance=shares.append, texts=()))
    assert sum(len(part.data) for part in parts) == 140_001
    assert sum(part.lines for part in parts) == 140_003
    assert len(parts) >= 2
    assert shares == sorted(shares)


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
    arguments = ("fit", "t.csv", "--id", "id", "--missing", "drop", "-c", "2", "-o", "l.csv", "--save", "m.npz")
    for command in (arguments, ("predict", "m.npz", "t.csv", "--id", "id", "-o", "p.csv")):
        words = re.search(r"Rows read.*", run(*command)[1])[0]
        assert re.findall(r"\d+", words) == ["5", "8", "2", "4", "1"]
        facts = json.loads(run(*command, "--json")[1])
        assert (facts["read_rows"], facts["rows"], facts["dropped_rows"]) == (5, 4, 1)
        assert (facts["lines"], facts["empty_lines"]) == (8, 2)


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
