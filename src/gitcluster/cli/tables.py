"""Read tables: text, JSON, Parquet, Arrow, NPY, NPZ and Excel files, compressed or not, in blocks of rows.

The cells of a text table stay the texts of the file, those of other formats keep their types. ``gitcluster.GIT``
decides what they mean, so that a table means the same here and in Python. Every line of a text table is either a part
of a row, or empty and counted, or named in an error with a remedy. That is why the csv module reads texts in its strict
mode: pandas fills short rows, and pyarrow takes all lines behind a quote that is never closed as one cell.
"""

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc, parquet

from gitcluster._support.optional import require
from gitcluster.preprocessing.values import parse_number

TEXT = pd.StringDtype("pyarrow")
"""The type of the cells of text tables; texts of other formats have other types."""
Options = dict[str, Any]
"""The options of a command, by their names; None means that the file decides."""
STANDARD = "-"
"""The standard input or output, if a file is expected."""
FORMATS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".npy": "npy", ".npz": "npz", ".xlsx": "excel",
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
MAGIC = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"\x93NUMPY": "npy", b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst",
}  # fmt: skip
"""Formats by their first bytes. All others are text."""
UNPACKERS: dict[str, Callable[[Any], Any]] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": lambda stream: io.BytesIO(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd").read()),
}
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "space": " "}
"""By name. A blank is never guessed."""
EXCEL_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
ROWS, CELLS = 1 << 16, 1 << 18
"""Rows of a block, and cells of a block of a text table."""
HEAD, SAMPLE = 1 << 23, 50
"""Bytes that show the encoding of a text table, and lines that show its separator."""
LINE_END = re.compile("\r\n|\r|\n")
csv.field_size_limit(1 << 28)  # a quote that is never closed would fill the memory


class TableError(ValueError):
    """A table that cannot be used as it is; the message names the file, the line and the remedy."""


class OpenTable(NamedTuple):
    """A table that is open for reading."""

    names: list[str]
    n_rows: int | None
    """Number of rows, or an estimate; None if it is not known before all are read."""
    blocks: Callable[[list[str]], Iterator[tuple[pd.DataFrame, int, int]]]
    """Yields some of the columns in blocks of rows, with the numbers of lines and of empty lines of a text table."""


def open_stream(path: str) -> Any:
    """Return the bytes of a file, the standard input or a remote file; a pipe is copied first."""
    if path == STANDARD:
        source: Any = sys.stdin.buffer
    elif re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path):
        fsspec = require("fsspec", extra="dask", purpose=f"{path.split(':')[0]}://")
        source = fsspec.open(path, "rb").open()
    else:
        source = open(path, "rb")  # noqa: SIM115
    if path != STANDARD and source.seekable():
        return source
    with source:
        copy = tempfile.SpooledTemporaryFile(1 << 28)  # noqa: SIM115
        shutil.copyfileobj(source, copy)
    copy.seek(0)
    return copy


def open_table(stream: Any, path: Path, size: int | None, name: str, options: Options) -> OpenTable:
    """Return the table in a stream, in the format of its first bytes; ``size`` is None in compressed files."""
    start = stream.read(64)
    stream.seek(0)
    form = next((form for magic, form in MAGIC.items() if start.startswith(magic)), "text")
    if form in UNPACKERS:
        path = path.with_suffix("") if path.suffix.lower() == f".{form}" else path
        return open_table(UNPACKERS[form](stream), path, None, name, options)
    if form == "zip":
        return _open_zip(stream, name, options)
    if form == "npy":
        is_file = size is not None and path.is_file()
        array = np.load(path, mmap_mode="r") if is_file else np.load(stream)
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
            raise TableError(f"{name} must have numbers in 1 or 2 dimensions, got {array.ndim} of {array.dtype}.")
        array = array.reshape(len(array), -1)
        names = [f"x{i + 1}" for i in range(array.shape[1])]
        return _from_frame(pd.DataFrame(array, columns=names, copy=False))
    if form == "arrow":
        table = (ipc.open_file if start.startswith(b"ARROW1") else ipc.open_stream)(stream).read_all()
        table.validate(full=True)  # a changed offset would make pyarrow read out of bounds
        return _from_frame(table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True))
    if form == "parquet":
        opened = parquet.ParquetFile(stream)

        def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
            for batch in opened.iter_batches(batch_size=ROWS, columns=columns):
                batch.validate(full=True)
                yield batch.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)[columns], 0, 0

        return OpenTable(opened.schema_arrow.names, opened.metadata.num_rows, blocks)
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    expected = FORMATS.get(path.suffix.lower())
    is_json = start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"]", b""))
    if is_json or expected in ("json", "jsonl"):
        return _open_json(stream, name, is_array=start[:1] == b"[")
    if expected == "tsv" and options["separator"] is None:
        options = {**options, "separator": "\t"}
    return _open_text(stream, size, name, options)


def _from_frame(frame: pd.DataFrame) -> OpenTable:
    """Return a table that is a data frame already."""

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        for start in range(0, len(frame), ROWS):
            yield frame.iloc[start : start + ROWS][columns].reset_index(drop=True), 0, 0

    return OpenTable(list(frame.columns), len(frame), blocks)


def _open_zip(file: Any, name: str, options: Options) -> OpenTable:
    """Return the table in a zip: a sheet of a workbook, an array of an NPZ file, or a file."""
    archive = zipfile.ZipFile(file)
    members = [m for m in archive.namelist() if not m.endswith("/") and not m.startswith("__MACOSX/")]
    if "[Content_Types].xml" in members:
        return _open_excel(file, name, options)
    tables = {m.removesuffix(".npy"): m for m in members if Path(m).suffix.lower() in ("", *FORMATS)}
    chosen = options["sheet"] or (next(iter(tables)) if len(tables) == 1 else "X")
    if chosen not in tables:
        raise TableError(f"{name} has the tables {join_names(list(tables))}. Choose one of them with --sheet.")
    return open_table(io.BytesIO(archive.read(tables[chosen])), Path(tables[chosen]), None, name, options)


def _open_excel(file: Any, name: str, options: Options) -> OpenTable:
    """Return a sheet of a workbook, the first by default, without empty cells at the ends of rows and below."""
    from openpyxl import load_workbook  # slow to import

    sheets = {sheet.title: sheet for sheet in load_workbook(file, read_only=True, data_only=True).worksheets}
    first, *others = sheets
    if options["sheet"] is None and others:
        warnings.warn(f"{name}: read the sheet {first!r}. Use --sheet for {join_names(others)}.", stacklevel=2)
    if options["sheet"] not in (None, *sheets):
        raise TableError(f"--sheet {options['sheet']}: {name} has the sheets {join_names(list(sheets))}.")
    sheet = sheets[options["sheet"] or first]
    sheet.reset_dimensions()  # the size in the file may be wrong
    rows = [["" if cell is None or cell in EXCEL_ERRORS else cell for cell in row] for row in sheet.values]
    for row in rows:
        while row and row[-1] == "":
            row.pop()
    filled = [i for i, row in enumerate(rows) if row and i >= (options["skip_rows"] or 0)]
    if not filled:
        raise TableError(f"{name} is empty: the sheet {sheet.title!r} has no cells.")
    rows = rows[filled[0] : filled[-1] + 1]
    width = max(map(len, rows))
    header = [str(cell) for cell in rows[0]] + [""] * (width - len(rows[0]))
    names = _column_names(header, options, f"{name}, row {filled[0] + 1}")
    rows = [row + [""] * (width - len(row)) for row in rows[not options["no_header"] :]]
    return _from_frame(pd.DataFrame(rows, columns=names, dtype=object))


def _open_json(stream: Any, name: str, *, is_array: bool) -> OpenTable:
    """Return a table of records, one per line or all in an array; lists and objects in them are written as texts."""
    records = []
    for number, record in enumerate(json.load(stream) if is_array else stream, 1):
        where = f"{name}, {'record' if is_array else 'line'} {number:,}"
        if not is_array:
            if not record.strip():
                continue
            try:
                record = json.loads(record)
            except (ValueError, RecursionError) as error:
                raise TableError(f"{where}: {error}. Write one record per line.") from None
        if not isinstance(record, dict) or (record and all(isinstance(v, (dict, list)) for v in record.values())):
            raise TableError(f'{where}: {str(record)[:40]!r} is not a row of a table. Write {{"name": value}}.')
        nested = {k: json.dumps(v, ensure_ascii=False) for k, v in record.items() if isinstance(v, (dict, list))}
        records.append(record | nested)
    if not records:
        raise TableError(f"{name} is empty: it holds no record.")
    return _from_frame(pd.DataFrame(records, dtype=object))


def _column_names(header: list[str], options: Options, where: str) -> list[str]:
    """Return the names in a header; raise if it is rather a row of numbers, or a title above the header."""
    numbered = [f"x{i + 1}" for i in range(len(header))]
    names = [cell.removeprefix("\ufeff").strip() for cell in header]
    if options["no_header"]:
        return numbered
    if all(any(parse_number(name, mark) is not None for mark in ".,") for name in names):
        raise TableError(f"{where}: only numbers, no header. Use --no-header, or add names.")
    if "" in names[1:]:  # the index of a data frame has no name either, but it comes first
        raise TableError(
            f"{where}: the name of column {names.index('', 1) + 1} is empty. Add it, or use --skip-rows if the header "
            "is further down."
        )
    return [names[0].removeprefix("#").lstrip() or names[0] or numbered[0], *names[1:]]


def _open_text(stream: Any, size: int | None, name: str, options: Options) -> OpenTable:
    """Return a text table; every cell stays the text that is in the file."""
    head = stream.read(HEAD)
    stream.seek(0)
    encoding = options["encoding"] or guess_encoding(head, name)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")
    skip = options["skip_rows"] or 0
    sample = list(islice(io.StringIO(text, newline=""), skip, skip + SAMPLE))
    while sample and not sample[0].strip():
        sample, skip = sample[1:], skip + 1
    separator = options["separator"]
    if declared := sample and re.fullmatch(r'"?sep=(.|\\t)"?\s*', sample[0]):  # a line for Excel
        sample, skip, separator = sample[1:], skip + 1, separator or declared[1].replace("\\t", "\t")
    if not sample:
        raise TableError(f"{name} is empty: it has neither a header nor rows.")
    comments = next((i for i, line in enumerate(sample) if not line.lstrip().startswith("#")), len(sample))
    if comments and options["skip_rows"] is None:
        raise TableError(
            f"{name}, line {skip + 1}: a comment, or a header that begins with #. Use --skip-rows {skip + comments} to "
            f"skip comments, or --skip-rows {skip + comments - 1} if line {skip + comments} is the header."
        )
    separator = separator or guess_separator(sample, options["quote"], name)
    lines = io.TextIOWrapper(stream, "utf-8-sig" if encoding == "utf-8" else encoding, newline="")
    rows = _text_rows(lines, separator, options["quote"], name, skip)
    line, header = next(row for row in rows if row[1])
    names = _column_names(header, options, f"{name}, line {line:,}")

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        positions = dict(zip(names, range(len(names)), strict=True))
        numbered = chain([(line, header)], rows) if options["no_header"] else rows
        counted = 0  # lines of earlier blocks
        while some := list(islice(numbered, max(1, CELLS // len(names)))):
            filled = [fields for _, fields in some if fields]
            cells = {c: pa.array([fields[positions[c]] for fields in filled], pa.string()) for c in columns}
            frame, last = pa.table(cells).to_pandas(types_mapper={pa.string(): TEXT}.get), some[-1][0]
            yield frame, last - counted, len(some) - len(filled)
            counted = last

    n_lines = text.count("\n") or text.count("\r")
    return OpenTable(names, round(size * n_lines / len(head)) if size else None, blocks)


def _text_rows(
    lines: io.TextIOWrapper, separator: str, quote: str | None, name: str, skip: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line of every row, and its fields; an empty line has none. Raise if their number differs."""
    reader, last, width, header = _csv_reader(islice(lines, skip, None), separator, quote), skip, 0, 0
    try:
        for fields in reader:
            line, last = last + 1, skip + reader.line_num
            # Two stray quotes make one field of the end of a row, whole rows, and the beginning of another row.
            if last > line and quote is None and any(
                field.count(separator) == n_ends * (len(fields) - 1)
                for field in fields if (n_ends := len(LINE_END.findall(field)))
            ):  # fmt: skip
                raise TableError(
                    f"{name}, line {line:,}: a quote begins here and ends in line {last:,}, and the lines between look "
                    "like rows. Correct it, or use --quote none if quotes are part of the values, or --quote '\"' if a "
                    "field has several lines."
                )
            width, header = (width, header) if width else (len(fields), line)
            if fields and len(fields) != width:
                raise TableError(
                    f"{name}, line {line:,}: {len(fields)} fields, but line {header:,} has {width}: "
                    f"{shorten(separator.join(fields), 60)!r}. Correct it, or use --skip-rows if the header is further "
                    f"down, or --separator if it is not {separator!r}."
                )
            yield last, fields
    except csv.Error:
        raise TableError(
            f"{name}, line {last + 1:,}: a quote is never closed, or closed within a field. Correct it, or use "
            "--quote none if quotes are part of the values."
        ) from None
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(lines.encoding, errors="ignore")
        line, byte = line_number(before) + (skip + reader.line_num if reader.line_num else 0), error.object[error.start]
        raise TableError(
            f"{name}, line {line:,}: byte 0x{byte:02x} is not {lines.encoding.upper().removesuffix('-SIG')}. Use "
            "--encoding, such as latin-1, shift-jis or utf-16."
        ) from None
    finally:
        lines.close()


def _csv_reader(lines: Iterable[str], separator: str, quote: str | None) -> Any:
    """Return the fields of lines; None stands for the double quote, "none" for no quote."""
    if separator == " ":  # several blanks are one separator
        lines = (re.sub(r"^ | (?=[\r\n]*\Z)", "", re.sub(r"[ \t]+", " ", line)) for line in lines)
    quotes: Any = {"quoting": csv.QUOTE_NONE} if quote == "none" else {"quotechar": quote or '"'}
    return csv.reader(lines, delimiter=separator, strict=True, **quotes)


def line_number(before: str) -> int:
    """Return the number of the line that follows a text."""
    return 1 + len(LINE_END.findall(before))


def guess_encoding(head: bytes, name: str) -> str:
    """Return the encoding of a text by its first bytes: UTF-16 if it is marked, UTF-8, or cp1252 with a warning."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if 0 in head:
        raise TableError(
            f"{name}, line {line_number(head[: head.index(0)].decode('latin-1')):,}: a NUL byte. Use --encoding utf-16 "
            "if this is UTF-16; else save the table as CSV."
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        line = line_number(head[: error.start].decode("latin-1"))
        warnings.warn(
            f"{name} is not UTF-8 (byte 0x{head[error.start]:02x} in line {line:,}); it was read as cp1252 (Western "
            "Europe). Use --encoding if letters are wrong.",
            stacklevel=2,
        )
        return "cp1252"
    return "utf-8"


def guess_separator(lines: list[str], quote: str | None, name: str) -> str:
    """Return the separator that splits the first lines of a table into the same number of fields.

    If no one does, it is the one in most lines, and reading will name the line that differs.

    Examples
    --------
    >>> guess_separator(["x;y", "1,5;2,5", "0,1;7,25"], None, "table.csv")
    ';'
    """
    best, most = ",", (False, 0)
    for separator in "\t;|,":  # a comma may be a decimal mark, so it is tried last
        widths: list[int] = []
        with suppress(csv.Error):  # a quote that is closed below the sample, or never
            widths.extend(len(fields) for fields in _csv_reader(lines, separator, quote) if fields)
        score = (len(set(widths)) == 1 and widths[0] > 1, sum(width > 1 for width in widths))
        best, most = (separator, score) if score > most else (best, most)
    n_words = {len(line.split()) for line in lines if line.strip()}
    if not most[1] and len(n_words) == 1 and n_words != {1}:
        raise TableError(
            f"{name} has one column of several words, or columns separated by blanks. Use --separator comma for one "
            "column, or --separator space."
        )
    return best


def join_names(names: list[str], most: int = 12) -> str:
    """Return names for a message, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
