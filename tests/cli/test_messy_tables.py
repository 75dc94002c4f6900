"""Messy text tables: every row is in what is read, or in an error that names its line. None is lost in silence."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.cli import text_tables
from gitcluster.cli.choosing import ColumnOptions
from gitcluster.cli.tables import read_table
from gitcluster.cli.text_tables import TableError, TextStyle

HARMLESS = st.text(st.sampled_from('ab"=\x0c\x1c\x85\u2028 é'), max_size=6)
QUOTED = st.text(st.sampled_from('ab", ;\n\r\t'), max_size=8)
WRONG = ["short", "long", "stray", "nul", "text"]


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
            note = {"short": None, "long": f"n{separator}n", "stray": '"stray', "nul": "\0", "text": note}[fault]
        value = "six" if (i, "text") in wrong else f"{i}.5"
        fields = [f"r{i}", note, value]
        lines.append(separator.join(field for field in fields if field is not None))
        ids.append(f"r{i}")
    bad = any(rows[i][0] != "empty" for i, _ in wrong)
    text = newline.join(lines) + draw(st.sampled_from(["", newline, 2 * newline]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding), separator, ids, bad


def read_bytes(content, **style):
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(content)
        chosen = ColumnOptions(columns=("x",), id="id", style=TextStyle(**style))
        return read_table(str(path), chosen, check=lambda *_: None, advance=lambda _: None)


def check_table(content, separator, ids, bad):
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    n_lines = len(re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text))
    message = ""
    try:
        table = read_bytes(content, separator=separator)
    except TableError as error:
        message = str(error)
    if message:
        assert bad or not ids, message
        line = re.search(r"line ([\d,]+)", message)
        assert line or (not ids and "has a header but no rows" in message), message
        assert line is None or 1 <= int(line[1].replace(",", "")) <= n_lines
        return
    assert not bad
    assert table.ids.tolist() == ids
    np.testing.assert_array_equal(table.values[:, 0], [float(name[1:]) + 0.5 for name in ids])
    assert table.lines == n_lines
    assert table.dropped == 0


@given(messy_tables())
def test_every_row_is_read_or_named(table):
    check_table(*table)


@given(messy_tables(), st.integers(7, 40))
def test_every_row_is_read_or_named_whatever_the_blocks(table, block):
    before = text_tables.BLOCK
    text_tables.BLOCK = block
    try:
        check_table(*table)
    finally:
        text_tables.BLOCK = before


@pytest.mark.parametrize("place", [0, 20, 979, 999])
@pytest.mark.parametrize("field", range(3))
def test_a_stray_quote_is_named_wherever_it_is(place, field):
    rows = [[f"r{i}", "note", str(i)] for i in range(1000)]
    rows[place][field] = '"' + rows[place][field]
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    with pytest.raises(TableError, match=rf"line {place + 2:,}: a quote begins .*--quote none"):
        read_bytes(content.encode())
    if field < 2:
        assert len(read_bytes(content.encode(), quote="none").values) == 1000


@pytest.mark.parametrize(("first", "last"), [(0, 1), (5, 6), (5, 500), (0, 999)])
def test_two_stray_quotes_that_seem_to_belong_together(first, last):
    rows = [[f"r{i}", "note", str(i)] for i in range(1000)]
    rows[first][1], rows[last][1] = '"note', 'note"'
    content = "id,note,x\n" + "".join(",".join(row) + "\n" for row in rows)
    with pytest.raises(TableError, match=rf"line {first + 2}: a quote begins a field that ends .* look like rows"):
        read_bytes(content.encode())
    assert len(read_bytes(content.encode(), quote="none").values) == 1000
    assert len(read_bytes(content.encode(), quote='"').values) == 1000 - (last - first)


def test_fields_of_several_lines_are_fine():
    address = '"12 Main Street\nSpringfield, IL\n\n""The House"""'
    content = "id,note,x\n" + "".join(f"r{i},{address},{i}\n" for i in range(50))
    table = read_bytes(content.encode())
    assert len(table.values) == 50
    assert table.lines == 201
    assert table.empty == 0


@pytest.mark.parametrize("size", [131_071, 131_073, 2_000_000, 20_000_000])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("whole", [True, False])
def test_fields_of_any_size(size, quoted, whole):
    note = f'"{"a," * (size // 2)}"' if quoted else "a" * size
    content = f"id,note,x\nr0,{note},0\nr1,b,1\n{'' if whole else 'r2,b'}\n".encode()
    if whole:
        assert len(read_bytes(content).values) == 2
    else:
        with pytest.raises(TableError, match="line 4: 2 fields where 3 are expected"):
            read_bytes(content)


def test_a_header_of_any_size():
    names = [f"column {i:020d}" for i in range(50_000)]
    content = "\n".join([",".join(["id", "x", *names]), *(",".join(["r", *["1"] * 50_001]) for _ in range(2))])
    assert read_bytes(content.encode()).values.shape == (2, 1)


def test_ids_stay_as_they_are(folder):
    content = "id,x\nNA,1\nnull,2\n,3\n007,4\n 8 ,5\n"
    assert read_bytes(content.encode()).ids.tolist() == ["NA", "null", "", "007", " 8 "]


def test_the_summary_accounts_for_every_row(folder, run):
    (folder / "t.csv").write_text("id,x,y\na,1,2\n\nb,2,\nc,8,8\n\nd,9,9\ne,1,1\n")
    arguments = ("fit", "t.csv", "--id", "id", "--missing", "drop", "-c", "2", "-o", "l.csv", "--save", "m.npz")
    words = "Rows read: 5 in 8 lines; labelled: 4; left out: 1 with missing values; 2 empty lines were skipped"
    assert words in run(*arguments)[1]
    assert words in run("predict", "m.npz", "t.csv", "--missing", "drop", "--id", "id", "-o", "p.csv")[1]
    for found in (run(*arguments, "--json"), run("predict", "m.npz", "t.csv", "--missing", "drop", "--json")):
        facts = json.loads(found[1])
        assert (facts["read_rows"], facts["rows"], facts["dropped_rows"]) == (5, 4, 1)
        assert (facts["lines"], facts["empty_lines"]) == (8, 2)


@pytest.mark.parametrize("quote", ["''", ",", "\n", "è"])
def test_a_quote_that_is_none(csv, run, quote):
    code, _, err = run("fit", csv, "--separator", ",", "--quote", quote)
    assert code == 2
    assert "neither one character of its own nor 'none'" in err
