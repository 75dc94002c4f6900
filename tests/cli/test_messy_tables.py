"""Messy text tables: every row is in the result, or in an error that names its line. None is lost in silence."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.cli.tables import ReadOptions, TableError, iterate_table

from .conftest import read

HARMLESS = st.text(st.sampled_from('ab"=\x0c\x1c\x85\u2028 é'), max_size=6)
QUOTED = st.text(st.sampled_from('ab", ;\n\r\t'), max_size=8)
WRONG = ["short", "long", "stray", "nul"]


def read_bytes(content, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, **options)


def error_of(content, **options):
    """The words of the error, and the line that it names."""
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
        "a   b\n 1   2.5 \n3 4\n",
        '"a","b"\n"1","2.5"\n"3","4"\n',
        "a,b\n1, 2.5\n 3,4\n",
        "\n\na,b\n\n1,2.5\n\n3,4\n\n",
        b"\xef\xbb\xbfa,b\n1,2.5\n3,4\n",
        "a,b\n1,2.5\n3,4\n".encode("utf-16"),
        "sep=;\na;b\n1;2.5\n3;4\n",
        '"sep=|"\na|b\n1|2.5\n3|4\n',
        "# made by a machine\n# on Monday, at ten\na,b\n1,2.5\n3,4\n",
        "# a,b\n1,2.5\n3,4\n",
        "#a\tb\n1\t2.5\n3\t4\n",
    ],
)
def test_text_in_many_styles(content):
    table = read_bytes(content)
    assert list(table.data) == ["a", "b"]
    np.testing.assert_array_equal(table.data.to_numpy(), [[1, 2.5], [3, 4]])


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "titles", ["Sales of May\n", "Sales; of May, 2026\n\n(all shops)\n", "Sales{0}{0}{0}\n{0}{0}{0}\n"]
)
def test_titles_above_the_header(separator, titles):
    rows = [["shop", "sold", "open", "note"], *([f"s{i}", "-" if i == 3 else str(i), "yes", ""] for i in range(9))]
    body = "".join(separator.join(row) + "\n" for row in rows)
    titles = titles.format(separator)
    with pytest.warns(UserWarning, match="--skip-rows"):
        table = read_bytes(titles + body)
    assert list(table.data) == rows[0]
    assert table.data["shop"].tolist() == [row[0] for row in rows[1:]]
    assert table.lines == len((titles + body).splitlines())
    assert list(read_bytes(titles + body, skip_rows=titles.count("\n")).data) == rows[0]


@pytest.mark.parametrize(
    "content",
    [
        "city\nNew York\nSan Jose\n",  # one column
        "a,b\nr1,1,2\nr2,3,4\n",  # R leaves out the name of the first column
        "Report\n2019,2020,2021\n1,2,3\n4,5,6\n",  # names that are numbers
        "id,note,\na,b,\nc,d,\n",
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_title_is_not_guessed_if_in_doubt(content):
    lines = content.splitlines()
    try:
        assert len(read_bytes(content).data) == len(lines) - 1
    except TableError as error:
        assert "--skip-rows" in str(error)  # noqa: PT017


@pytest.mark.parametrize("content", ["x\n1\n2\n", "# a note, of mine\nx\n1\n2\n", "\nx\n1\n\n2", '"x"\n"1"\n"2"\n'])
def test_one_column(content):
    assert read_bytes(content).data.to_dict("list") == {"x": [1, 2]}


def test_no_header():
    table = read_bytes("1,2\n3,4\n", no_header=True)
    assert table.data.to_dict("list") == {"x1": [1, 3], "x2": [2, 4]}
    assert table.lines == 2


@pytest.mark.parametrize(
    ("content", "remedy", "line"),
    [
        ("", "", None),
        ("\n\n", "", None),
        ("a,b", "", None),
        ("a,b\n1,2\n3\n", "--separator", 3),
        ("a,b\n1,2\n\n3,4,5\n", "--separator", 4),
        ('a,b\n"x\ny",2\n3\n', "--separator", 4),
        ("1,2\n3,4\n", "--no-header", 1),
        ("a,a\n1,2\n", "Rename", None),
        ("a,b\n1,2\n3\0,4\n", "--encoding", 3),
        (b"a\0,b\n", "--encoding", 1),
        ('a,b\n1,2\n3,"4\n', "--quote none", 3),
        ('a,b\n1,2\n3,"4"5\n', "--quote none", 3),
        ('"a,b\n1,2\n', "--quote none", 1),
        ('id,"note,x\nr0,note",0\nr1,note,1\n', "--quote none", 1),
    ],
)
def test_disorder_is_named(content, remedy, line):
    words, named = error_of(content)
    assert remedy in words
    assert named == line


@st.composite
def messy_tables(draw):
    """The bytes of a table, its separator, its ids, and whether a row of it is wrong."""
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(st.tuples(st.sampled_from(["plain", "quoted", "empty"]), HARMLESS, QUOTED), min_size=2))
    wrong = draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), st.sampled_from(WRONG)), max_size=2))
    lines, ids = [separator.join(["id", "note", "x"])], []
    for i, (kind, plain, quoted) in enumerate(rows):
        if kind == "empty":
            lines.append("")
            continue
        note = '"' + quoted.replace('"', '""') + '"' if kind == "quoted" else "n" + plain
        for _, fault in (fault for fault in wrong if fault[0] == i):
            note = {"short": None, "long": f"n{separator}n", "stray": '"stray', "nul": "\0"}[fault]
        fields = [f"r{i}", note, f"{i}.5"]
        lines.append(separator.join(field for field in fields if field is not None))
        ids.append(f"r{i}")
    bad = any(rows[i][0] != "empty" for i, _ in wrong)
    text = newline.join(lines) + draw(st.sampled_from(["", newline, 2 * newline]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding), separator, ids, bad


@given(messy_tables())
def test_every_row_is_read_or_named(table):
    content, separator, ids, bad = table
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    n_lines = len(re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))
    options = {"separator": separator, "columns": ("x",), "id": "id", "skip_rows": 0}
    if bad or not ids:
        words, line = error_of(content, **options)
        assert line or not ids, words
        assert line is None or 1 <= line <= n_lines
        return
    read_in = read_bytes(content, **options)
    assert read_in.ids.tolist() == ids
    np.testing.assert_array_equal(read_in.data["x"].astype(float), [float(name[1:]) + 0.5 for name in ids])
    assert read_in.lines == n_lines


@pytest.mark.parametrize("place", [0, 20, 999])
@pytest.mark.parametrize("field", range(3))
def test_a_stray_quote_is_named_wherever_it_is(place, field):
    rows = [[f"r{i}", "note", str(i)] for i in range(1000)]
    rows[place][field] = '"' + rows[place][field]
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    words, line = error_of(content)
    assert line == place + 2
    assert "--quote none" in words
    assert len(read_bytes(content, quote="none").data) == 1000


@pytest.mark.parametrize("number", [True, False])
@pytest.mark.parametrize(("first", "last"), [(0, 1), (5, 500), (0, 999)])
def test_two_stray_quotes_that_seem_to_belong_together(first, last, number):
    rows = [[f"r{i}", "note", str(i) if number else "abc"[i % 3]] for i in range(1000)]
    rows[first][1], rows[last][1] = '"note', 'note"'
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    words, line = error_of(content)
    assert line == first + 2
    assert "--quote" in words
    assert len(read_bytes(content, quote="none").data) == 1000
    assert len(read_bytes(content, quote='"').data) == 1000 - (last - first)


def test_fields_of_several_lines_are_fine():
    address = '"12 Main Street\nSpringfield, IL\n\n""The House"""'
    table = read_bytes("id,note,x\n" + "".join(f"r{i},{address},{i}\n" for i in range(50)))
    assert len(table.data) == 50
    assert table.data["note"][0] == '12 Main Street\nSpringfield, IL\n\n"The House"'
    assert (table.lines, table.empty) == (201, 0)


@pytest.mark.parametrize("quoted", [False, True])
def test_fields_and_headers_of_any_size(quoted):
    note = f'"{"a," * 10_000_000}"' if quoted else "a" * 20_000_000
    content = f"id,note,x\nr0,{note},0\nr1,b,1\n"
    assert len(read_bytes(content).data) == 2
    assert error_of(content + "r2,b\n")[1] == 4
    names = ",".join(f"column {i:020d}" for i in range(400_000))
    assert read_bytes(f"x,{names}\n" + f"1{',1' * 400_000}\n" * 2, columns=("x",)).data.shape == (2, 1)


def test_lines_are_counted_across_blocks_and_quotes(folder):
    content = 'note,b\n"two\nlines",2\n' + "x,1\n" * 1_500_000
    assert error_of(content + "x,1,1\n", columns=("b",))[1] == 1_500_004
    words, line = error_of(content.encode() + b"\xff,1\n")
    assert line == 1_500_004
    assert "--encoding" in words
    Path("table.csv").write_text(content)
    shares = []
    parts = list(iterate_table("table.csv", ReadOptions(), advance=shares.append, names=None, texts=()))
    assert sum(len(part.data) for part in parts) == 1_500_001
    assert sum(part.lines for part in parts) == 1_500_003
    assert len(parts) >= 2
    assert shares == sorted(shares)


def test_ids_stay_as_they_are():
    content = "id,x\nNA,1\nnull,2\n,3\n007,4\n 8 ,5\n"
    assert read_bytes(content, id="id").ids.tolist() == ["NA", "null", "", "007", " 8 "]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"])
@pytest.mark.filterwarnings("ignore:.*is not UTF-8")
def test_encodings_are_guessed(encoding):
    assert list(read_bytes("größe,à\n1,2\n3,4\n5,6\n7,8\n".encode(encoding)).data) == ["größe", "à"]


@pytest.mark.parametrize(("names", "encoding"), [("имя,возраст,город", "cp1251"), ("名前,年齢,都市", "shift_jis")])
def test_encodings_of_other_alphabets(names, encoding):
    with pytest.warns(UserWarning, match="--encoding"):
        assert list(read_bytes(f"{names}\n1,2,3\n4,5,6\n".encode(encoding)).data) == names.split(",")


def test_the_summary_accounts_for_every_row(folder, run):
    Path("t.csv").write_text("id,x,y\na,1,2\n\nb,2,\nc,8,8\n\nd,9,9\ne,1,1\n")
    arguments = ("fit", "t.csv", "--id", "id", "--missing", "drop", "-c", "2", "-o", "l.csv", "--save", "m.npz")
    for command in (arguments, ("predict", "m.npz", "t.csv", "--id", "id", "-o", "p.csv")):
        words = re.search(r"Rows read.*", run(*command)[1])[0]
        assert re.findall(r"\d+", words) == ["5", "8", "4", "1", "2"]
        facts = json.loads(run(*command, "--json")[1])
        assert (facts["read_rows"], facts["rows"], facts["dropped_rows"]) == (5, 4, 1)
        assert (facts["lines"], facts["empty_lines"]) == (8, 2)
