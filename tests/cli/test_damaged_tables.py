"""Damaged tables, absurd ones, and model files with forged notes: one line that names the file."""

import io
import json
import re
import struct
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest

ROWS = "x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60))
RECORDS = [json.dumps({"id": i, "x": i % 7, "y": i % 5}) for i in range(60)]
DIRECTORY, LOCAL = b"PK\x01\x02", b"PK\x03\x04"


def refused(outcome, *words):
    code, _, err = outcome
    assert code == 1
    assert err.startswith("Error: ")
    assert err.count("\n") == 1, err
    for word in words:
        assert word in err


def zipped(name, content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def change(text, mark, offset, value):
    """Bytes with others at an offset from the last mark."""
    place = text.rindex(mark) + offset
    return text[:place] + value + text[place + len(value) :]


UNKNOWN = struct.pack("<H", 99)
DAMAGE = {
    "unknown compression": lambda text: change(change(text, DIRECTORY, 10, UNKNOWN), LOCAL, 8, UNKNOWN),
    "newer zip": lambda text: change(text, DIRECTORY, 6, UNKNOWN),
    "other offset": lambda text: change(text, DIRECTORY, 42, struct.pack("<I", 5)),
    "other name": lambda text: change(text, LOCAL, 30, b"?"),
    "strong encryption": lambda text: change(text, DIRECTORY, 8, b"\x40\x00"),
    "damaged member": lambda text: change(text, LOCAL, 40, b"\xff\xff\xff"),
    "cut off": lambda text: text[:-30],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["table.zip", "table.npz"])
def test_damaged_archives(folder, run, name, damage):
    whole = zipped("t.csv", ROWS) if name == "table.zip" else zipped("X.npy", npy(np.arange(120.0).reshape(60, 2)))
    Path(name).write_bytes(whole)
    assert run("fit", name, "-c", "2", "-q")[0] == 0
    Path(name).write_bytes(DAMAGE[damage](whole))
    refused(run("fit", name, "-c", "2", "-q"), name)


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_numbers_of_many_digits(folder, run, form, digits):
    def write(records):
        text = "\n".join(records) if form == "jsonl" else f"[{', '.join(records)}]"
        Path(f"t.{form}").write_text(text)

    write([*RECORDS, f'{{"id": 60, "x": {"1" * digits}, "y": 1}}'])
    refused(run("fit", f"t.{form}", "-c", "2", "--id", "id", "-q"), "'x'", "row 60")
    write([*RECORDS, f'{{"id": {"1" * digits}, "x": 1, "y": 1}}'])
    code, out, _ = run("fit", f"t.{form}", "-c", "2", "--id", "id", "-q")
    assert code == 0
    assert out.splitlines()[-1].startswith("1" * digits)


def workbook(*cells):
    book = openpyxl.Workbook()
    book.active.append(["x", "y"])
    for i in range(60):
        book.active.append([i % 7, i % 5 + 0.5])
    for cell, value in cells:
        book.active[cell] = value
    return book


@pytest.mark.parametrize("cell", ["XFD1048576", "B1048576", "XFD3"])
@pytest.mark.parametrize("dimension", [b'ref="A1:B61"', b'ref="A1:XFD1048576"'])
def test_a_cell_far_from_the_others(folder, run, cell, dimension):
    workbook((cell, 1)).save("written.xlsx")
    with zipfile.ZipFile("written.xlsx") as archive, zipfile.ZipFile("far.xlsx", "w") as forged:
        for name in archive.namelist():
            text = archive.read(name)
            if name.endswith("sheet1.xml"):  # what a sheet says of its size is not believed
                text = re.sub(rb'(?<=<dimension )ref="[^"]*"', dimension, text)
            forged.writestr(name, text)
    refused(run("fit", "far.xlsx", "-c", "2", "-q"), "far.xlsx", cell)


def test_empty_cells_at_the_ends_of_a_sheet_are_not_there(folder, run):
    book = workbook(("D9", ""), ("A70", None))
    book.active["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    book.save("formatted.xlsx")
    code, out, err = run("fit", "formatted.xlsx", "-c", "2", "-q")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 61


@pytest.mark.parametrize(
    ("name", "value"),
    [("missing", 3), ("id", [1]), ("ids", "word"), ("ids", {"array": "notes.x"}), ("na", {"tuple": [1]}),
     ("rows", "word"), ("decimal", 3), ("command", None)],
)  # fmt: skip
def test_forged_notes_of_a_model(csv, run, name, value):
    assert run("fit", csv, "-c", "3", "--id", "customer", "--save", "m.npz", "-q")[0] == 0
    with np.load("m.npz") as file:
        arrays = {key: file[key] for key in file.files} | {"notes.x": np.array(["a", "b"])}
    header = json.loads(arrays.pop("header").tobytes())
    header["state"]["dict"]["notes"]["dict"][name] = value
    np.savez("m.npz", header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)
    refused(run("predict", "m.npz", csv, "-q"), "m.npz", name)
