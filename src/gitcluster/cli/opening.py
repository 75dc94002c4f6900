"""Files and streams as tables that are open for reading: where they are, how they are packed, in which format."""

import io
import re
import stat
import sys
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from gitcluster._support.optional import require
from gitcluster.cli.binary_tables import BinaryTable, open_arrow, open_excel, open_npy, open_npz, open_parquet
from gitcluster.cli.choosing import ColumnOptions, shown
from gitcluster.cli.compression import COMPRESSED, open_zip, unpack
from gitcluster.cli.json_tables import is_json, open_json
from gitcluster.cli.streams import check_open
from gitcluster.cli.text_tables import TableError, TextTable
from gitcluster.cli.writing import FORMATS, STANDARD

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
}
FOREIGN = {
    b"%PDF": "a PDF file. Save its table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save it as .xlsx",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "an SQLite data base. Export its table as CSV",
    b"\x80\x04\x95": "a pickle, which could run code. Save it as Parquet or CSV",
}
"""First bytes of files that are no tables, and what to do about them."""
Check = Callable[[int, int], None]


def open_stream(path: str) -> Any:
    """The bytes of a file, or of the standard input, in a ``with`` block."""
    if path == STANDARD:
        check_open("stdin")
    if is_remote(path):
        return open_remote(path)
    return nullcontext(sys.stdin.buffer) if path == STANDARD else Path(path).open("rb")


def is_remote(path: str) -> bool:
    """Whether a table is elsewhere, such as s3://bucket/table.csv."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path) is not None


def open_remote(path: str) -> io.BufferedReader:
    """The bytes of a table elsewhere, with fsspec."""
    fsspec = require("fsspec", extra="dask", purpose=f"{path.split(':')[0]}://")
    try:
        return io.BufferedReader(fsspec.open(path, "rb").open())
    except MemoryError:
        raise
    except Exception as error:  # every file system raises its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{path} cannot be opened: {reason}") from None


def open_table(stream: Any, path: str, chosen: ColumnOptions, check: Check) -> TextTable | BinaryTable:
    """The table in a file or stream, in the format of its first bytes, unpacked where it is compressed."""
    regular = path != STANDARD and not is_remote(path) and stat.S_ISREG(Path(path).stat().st_mode)
    name, head = shown(path), stream.peek(8)[:8]
    packed = next((kind for magic, kind in COMPRESSED.items() if head.startswith(magic)), None)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if packed is not None:
        stream, regular = unpack(stream, packed, name), False
        head = stream.peek(8)[:8]
        suffixes = suffixes[:-1]
    check_foreign(stream, name)
    found = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "text")
    expected = chosen.form or FORMATS.get(suffixes[-1] if suffixes else "", "csv")
    if found == "zip":
        file = stream if regular else io.BytesIO(stream.read())
        if _is_excel(file):
            return open_excel(file, name, chosen.sheet, check)
        member = open_zip(file, name, chosen.key)
        if member is None:
            return open_npz(file, name, chosen.key, check)
        stream, regular, found = member, False, "text"
        head = stream.peek(8)[:8]
        expected = chosen.form or "csv"
    if found == "text" and (expected in ("json", "jsonl") or (expected == "csv" and is_json(stream))):
        return open_json(stream, name, head)
    if found == "text" and expected not in ("csv", "tsv"):
        reason = f"it begins with {head!r}." if head else "it is empty."
        raise TableError(f"{name} is not a whole {expected.upper()} file: {reason}")
    if found == "text":
        style = chosen.style
        if expected == "tsv" and style.separator is None:
            style = style._replace(separator="\t")
        return TextTable(stream, name, Path(path).stat().st_size if regular else None, style)
    file = stream if regular else io.BytesIO(stream.read())
    if found == "npy":
        return open_npy(file, name, path if regular else None)
    return open_parquet(file, name) if found == "parquet" else open_arrow(file, name)


def check_foreign(stream: Any, name: str) -> None:
    """Raise for files that are known not to be tables."""
    head = stream.peek(16)[:16]
    what = next((words for magic, words in FOREIGN.items() if head.startswith(magic)), None)
    if what is None and head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        what = "a web page. Perhaps the download needs a login"
    if what is not None:
        raise TableError(f"{name} is not a table but {what}.")


def _is_excel(file: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except Exception:  # damaged in any way, which is named when it is opened
        return False
    finally:
        file.seek(0)
