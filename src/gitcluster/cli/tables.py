"""Read tables: text, JSON, Parquet, Arrow, NPY, NPZ and Excel, compressed or not, whole or in blocks.

The frames go to :class:`gitcluster.GIT` as they are: text cells stay as they are written, cells of other formats keep
their types. The library decides what they mean, so that a table means the same here and in Python. No row is lost in
silence: every line is either read, or skipped and counted, or named in an error with a remedy.
"""

import bz2
import codecs
import csv
import difflib
import gzip
import io
import json
import lzma
import re
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import nullcontext, suppress
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc, parquet

from gitcluster._support.names import as_typed, count_of
from gitcluster._support.optional import require
from gitcluster.cli.terminal import check_open
from gitcluster.preprocessing.values import CODE, MISSING, PLAIN, cell_text, is_missing, parse_number

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
FOREIGN = {
    b"%pdf": "a PDF file. Save its table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save it as .xlsx",
    b"\x89png": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"sqlite format 3": "an SQLite database. Export its table as CSV",
    b"\x80\x04\x95": "a pickle, which could run code. Save it as Parquet or CSV",
    b"<!doctype html": "a web page. Perhaps the download needs a login",
    b"<html": "a web page. Perhaps the download needs a login",
}
"""Files that are not tables by their first bytes, letters in lower case, and the remedy."""
UNPACKERS: dict[str, Callable[[Any], Any]] = {
    "gz": gzip.open,
    "bz2": bz2.open,
    "xz": lzma.open,
    "zst": lambda stream: pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"),
}
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "space": " "}
"""By name, in the order in which they are tried: a comma may be a decimal mark, a blank part of a name."""
BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
        codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
"""UTF-32 comes first, because its mark begins with that of UTF-16."""
ENCODINGS = ["cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
"""Encodings that are tried if a text is not UTF-8, the most frequent first."""
EXCEL_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
ROWS, CELLS = 1 << 16, 1 << 18
"""Rows of a block, and cells of a block of a text table."""
HEAD, SAMPLE = 1 << 23, 50
"""Bytes that show the encoding of a text table, and lines that show its layout."""
LONGEST = 1 << 28
"""Characters of the longest field or header: a quote that is never closed would fill the memory."""
USUAL = 0.8
"""Share of the sampled rows that a guess has to fit."""
SPARSE_CELLS, SPARSE = 100_000, 1000
"""A sheet with more cells than the first is refused if fewer than one in ``SPARSE`` has a value."""
csv.field_size_limit(LONGEST)
TEXT = pd.ArrowDtype(pa.string())
Check = Callable[[int, int], None]
Advance = Callable[[float], None]


class TableError(ValueError):
    """A table that cannot be used as it is; the message names the file, the line and the remedy."""


class ReadOptions(NamedTuple):
    """The options of the command line about tables, by their names. None means that the file decides."""

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    id: str | None = None
    truth: str | None = None
    missing: str | None = None
    na: tuple[str, ...] = ()
    separator: str | None = None
    skip_rows: int | None = None
    quote: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    no_header: bool = False
    input_format: str | None = None
    key: str | None = None
    sheet: str | None = None
    with_data: bool = False

    @classmethod
    def of(cls, options: dict[str, Any]) -> "ReadOptions":
        """Return the options of a command, with names of columns as they were typed."""

        def typed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(typed, value))
            return as_typed(value) if isinstance(value, str) else value

        given = cls(**{name: typed(options[name]) for name in cls._fields if name in options})
        if given.quote is not None and given.quote == given.separator:
            raise TableError(f"--quote and --separator must differ, got {given.quote!r} for both.")
        return given


class Table(NamedTuple):
    """Rows to cluster, with the number of each (from 0) and its id, if there is one."""

    data: pd.DataFrame
    """The columns to cluster by, as the library reads them."""
    rows: NDArray[np.int64]
    ids: "pd.Series[Any] | None" = None
    id_name: str | None = None
    truth: "pd.Series[Any] | None" = None
    whole: pd.DataFrame | None = None
    """With ``with_data``, all rows and columns of the file, also dropped rows; the index numbers them."""
    kinds: dict[str, Any] = {}  # noqa: RUF012
    weights: dict[str, float] = {}  # noqa: RUF012
    unread: tuple[str, ...] = ()
    """Columns of the file that are not read."""
    dropped: int = 0
    """Number of rows that were dropped because of missing numbers."""
    lines: int = 0
    """Lines of a text table, with the header; 0 in other formats."""
    empty: int = 0
    """Number of empty lines among them."""

    @property
    def row_names(self) -> "pd.Series[Any]":
        """Return the ids, or else the row numbers."""
        return self.ids if self.ids is not None else pd.Series(self.rows)

    def take(self, positions: NDArray[np.int64]) -> "Table":
        """Return some of the rows; the others count as dropped."""
        data, ids, truth = (
            None if part is None else part.iloc[positions].reset_index(drop=True)
            for part in (self.data, self.ids, self.truth)
        )
        dropped = self.dropped + len(self.data) - len(positions)
        return self._replace(data=data, rows=self.rows[positions], ids=ids, truth=truth, dropped=dropped)


class OpenTable(NamedTuple):
    """A table that is open for reading."""

    names: list[str]
    n_rows: int | None
    """Number of rows, or an estimate; None if it is not known before all are read."""
    blocks: Callable[[list[str]], Iterator[tuple[pd.DataFrame, int, int]]]
    """Yields blocks of some columns, each with its number of lines of text, and of empty ones among them."""


def read_table(
    path: str, options: ReadOptions, *, check: Check, advance: Advance, names: list[str] | None = None,
    texts: Container[str] | None = None,
) -> Table:  # fmt: skip
    """Return a whole table.

    ``check`` gets the number of rows and columns before memory is used for them, ``advance`` the share that is read.
    For a table of a model, ``names`` are its columns, and ``texts`` those that do not hold plain numbers.
    """
    parts = list(_read_parts(path, options, check, advance, names))

    def join(values: list[Any]) -> Any:
        return values[0] if values[0] is None or len(values) == 1 else pd.concat(values, ignore_index=True)

    table = parts[0]._replace(
        **{field: join([getattr(part, field) for part in parts]) for field in ("data", "ids", "truth", "whole")},
        rows=np.concatenate([part.rows for part in parts]), lines=sum(part.lines for part in parts),
        empty=sum(part.empty for part in parts),
    )  # fmt: skip
    if texts is None:
        texts = [name for name, kind in table.kinds.items() if kind != "log"]
    return table._replace(data=read_cells(table.data, options, texts))


def iterate_table(
    path: str, options: ReadOptions, *, advance: Advance, names: list[str] | None, texts: Container[str],
    maybe_id: str | None = None,
) -> Iterator[Table]:  # fmt: skip
    """Yield a table in blocks, for files larger than memory; ``maybe_id`` is the id if the table has that column."""
    for part in _read_parts(path, options, None, advance, names, maybe_id):
        yield part._replace(data=read_cells(part.data, options, texts))


def _read_parts(
    path: str, options: ReadOptions, check: Check | None, advance: Advance, names: list[str] | None,
    maybe_id: str | None = None,
) -> Iterator[Table]:  # fmt: skip
    """Yield the blocks of a table as they are in the file."""
    name, total = "standard input" if path == STANDARD else path, 0
    try:
        with _open_stream(path) as stream:
            size = Path(path).stat().st_size if Path(path).is_file() else None
            source = open_table(stream, Path(path), size, name, options)
            if options.id is None and maybe_id in source.names:
                options = options._replace(id=maybe_id)
            wanted = choose_columns(source.names, options, name, names)
            kinds, weights = requested_kinds(wanted, options) if names is None else ({}, {})
            if check and source.n_rows is not None:
                check(source.n_rows, len(wanted))
            used = dict.fromkeys([*wanted, *(column for column in (options.id, options.truth) if column)])
            table = Table(
                pd.DataFrame(), np.empty(0, np.int64), id_name=options.id, kinds=kinds, weights=weights,
                unread=tuple(column for column in source.names if column not in used),
            )  # fmt: skip
            for frame, lines, empty in source.blocks(source.names if options.with_data else list(used)):
                rows = np.arange(total, total + len(frame))
                total += len(frame)
                if check:
                    check(total, len(wanted))  # the size of a stream is only known at its end
                if source.n_rows:
                    advance(min(1.0, total / source.n_rows))
                ids, truth = (frame[column] if column else None for column in (options.id, options.truth))
                whole = frame.set_axis(rows, axis=0) if options.with_data else None
                yield table._replace(
                    data=frame[wanted], rows=rows, ids=ids, truth=truth, whole=whole, lines=lines, empty=empty
                )
    except Exception as error:  # libraries raise many types of errors for damaged files
        if isinstance(error, (TableError, MemoryError, ImportError)) or getattr(error, "errno", None):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"{name} cannot be read, it is damaged or in another format: {reason}") from error
    if total == 0:
        raise TableError(f"{name} has a header but no rows.")


def _open_stream(path: str) -> Any:
    """Return a context manager of the bytes of a file, of the standard input, or of a remote file."""
    if path == STANDARD:
        check_open("stdin")
        return nullcontext(sys.stdin.buffer)
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path):
        fsspec = require("fsspec", extra="dask", purpose=f"{path.split(':')[0]}://")
        return io.BufferedReader(fsspec.open(path, "rb").open())
    return open(path, "rb")


def open_table(stream: Any, path: Path, size: int | None, name: str, options: ReadOptions) -> OpenTable:
    """Return the table in a stream, in the format of its first bytes; ``size`` is that of a regular file, or None."""
    start = stream.peek(64)[:64]
    form = next((form for magic, form in MAGIC.items() if start.startswith(magic)), "text")
    if form in UNPACKERS:
        path = path.with_suffix("") if path.suffix.lower() == f".{form}" else path
        return open_table(io.BufferedReader(UNPACKERS[form](stream)), path, None, name, options)
    if form == "text":
        start = start.removeprefix(codecs.BOM_UTF8).lstrip()
        foreign = next((what for magic, what in FOREIGN.items() if start.lower().startswith(magic)), None)
        if foreign is not None:
            raise TableError(f"{name} is not a table but {foreign}.")
        expected = options.input_format or FORMATS.get(path.suffix.lower(), "csv")
        is_json = start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"]", b""))
        if expected in ("json", "jsonl") or (expected == "csv" and is_json):
            return _open_json(stream, name, is_array=start[:1] == b"[")
        if expected not in ("csv", "tsv"):
            raise TableError(f"{name} is not a file of the format {expected}: the first bytes are {start[:8]!r}.")
        if expected == "tsv" and options.separator is None:
            options = options._replace(separator="\t")
        return _open_text(stream, size, name, options)
    if form == "npy":
        array = np.load(io.BytesIO(stream.read())) if size is None else np.load(path, mmap_mode="r")
        return _open_array(array, name)
    file = io.BytesIO(stream.read()) if size is None else stream
    if form == "zip":
        return _open_zip(file, name, options)
    if form == "parquet":
        opened = parquet.ParquetFile(file)
        names, n_rows = opened.schema_arrow.names, opened.metadata.num_rows
    else:
        table = (ipc.open_file if start.startswith(b"ARROW1") else ipc.open_stream)(file).read_all()
        names, n_rows = table.schema.names, table.num_rows

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        for batch in (
            opened.iter_batches(batch_size=ROWS, columns=columns)
            if form == "parquet"
            else table.select(columns).to_batches(max_chunksize=ROWS)
        ):
            batch.validate(full=True)  # a changed offset would make pyarrow read out of bounds
            yield batch.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)[columns], 0, 0

    return OpenTable(names, n_rows, blocks)


def _open_zip(file: Any, name: str, options: ReadOptions) -> OpenTable:
    """Return the table in a zip: a workbook, one of the arrays of an NPZ file, or the only table."""
    archive = zipfile.ZipFile(file)
    members = [m for m in archive.namelist() if not m.endswith("/") and not m.startswith("__MACOSX/")]
    if "[Content_Types].xml" in members:
        return _open_excel(file, name, options.sheet)
    tables = [m for m in members if Path(m).suffix.lower() in ("", *FORMATS)]
    keys = {m.removesuffix(".npy"): m for m in tables} if all(m.endswith(".npy") for m in tables) else {}
    keys |= {m: m for m in members}
    if options.key is None and len(tables) != 1 and "X" not in keys:
        raise TableError(f"{name} holds {listed(list(keys))}. Choose the table: --key {next(iter(keys), '')}")
    if options.key is not None and options.key not in keys:
        raise TableError(f"{name} has no --key {options.key}. It holds {listed(list(keys))}.")
    member = keys[options.key or (tables[0] if len(tables) == 1 else "X")]
    return open_table(io.BufferedReader(archive.open(member)), Path(member), None, name, options)


def _open_array(array: Any, name: str) -> OpenTable:
    """Return an array of numbers as a table with the columns x1, x2, ..."""
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
        raise TableError(f"{name} must be an array of numbers of 1 or 2 dimensions, got {array.ndim} of {array.dtype}.")
    table = array.reshape(len(array), -1)
    names = [f"x{i + 1}" for i in range(table.shape[1])]

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        for start in range(0, len(table), ROWS):
            frame = pd.DataFrame(np.asarray(table[start : start + ROWS]), columns=names, copy=False)
            yield frame if columns == names else frame[columns], 0, 0

    return OpenTable(names, len(table), blocks)


def _open_excel(file: Any, name: str, sheet: str | None) -> OpenTable:
    """Return a sheet of a workbook, the first by default, without empty cells at the ends of rows and below."""
    from openpyxl import load_workbook  # slow to import
    from openpyxl.utils import get_column_letter

    pages = {page.title: page for page in load_workbook(file, read_only=True, data_only=True).worksheets}
    if sheet is None and len(pages) > 1:
        sheet, *others = pages
        warnings.warn(f"{name}: read the sheet {sheet!r}. There are also {listed(others)} (--sheet).", stacklevel=2)
    page = pages.get(sheet or next(iter(pages)))
    if page is None:
        raise TableError(f"{name} has no --sheet {sheet}, it has {listed(list(pages))}.")
    page.reset_dimensions()  # the size in the file may be wrong
    rows: list[list[Any]] = []
    width, filled, corner = 0, 0, ""
    for number, cells in enumerate(page.iter_rows(values_only=True), 1):
        row = [_excel_cell(cell) for cell in cells]
        while row and isinstance(row[-1], str) and not row[-1]:
            row.pop()
        if not row:
            continue
        if len(row) > width or number > len(rows) + 1:
            width, corner = max(width, len(row)), f"{get_column_letter(len(row))}{number}"
        filled += sum(not isinstance(cell, str) or cell != "" for cell in row)
        if number * width > max(SPARSE_CELLS, SPARSE * filled):
            raise TableError(
                f"{name}: the cell {corner} is far from the others, and nearly all of {number:,} rows and {width:,} "
                "columns are empty. Delete the cell."
            )
        rows += [[] for _ in range(number - len(rows) - 1)]
        rows.append(row)
    header, *rows = [row + [""] * (width - len(row)) for row in rows] or [[]]
    names = [str(cell).strip() or f"Unnamed: {i}" for i, cell in enumerate(header)]
    columns = {i: pd.Series([row[i] for row in rows], dtype=object) for i in range(width)}
    frame = pd.DataFrame(columns, index=range(len(rows))).set_axis(names, axis="columns")
    return OpenTable(names, len(rows), lambda columns: iter([(frame[columns], 0, 0)]))


def _excel_cell(cell: Any) -> Any:
    """Return a cell as Excel shows it: whole numbers are not floats, and errors are missing."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return "" if cell is None else np.nan if isinstance(cell, str) and cell in EXCEL_ERRORS else cell


def _open_json(stream: Any, name: str, *, is_array: bool) -> OpenTable:
    """Return a table of records, one per line or all in an array; the columns are the keys of the first records."""

    def parse(text: bytes) -> Any:
        # Integers that are too large for a float stay texts, because they may be ids.
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 309 else digits)

    def read_records() -> Iterator[tuple[str, dict[str, Any]]]:
        for number, record in enumerate(parse(stream.read()) if is_array else stream, 1 - is_array):
            where = f"{name}, record {number}, counted from 0" if is_array else f"{name}, line {number}"
            if not is_array:
                if not record.strip():
                    continue
                try:
                    record = parse(record)
                except (ValueError, RecursionError) as error:
                    raise TableError(f"{where}: {error}. Write one record per line.") from None
            if not isinstance(record, dict):
                raise TableError(f'{where}: {str(record)[:40]!r} is not a record. Write {{"name": value}}.')
            nested = {k: json.dumps(v, ensure_ascii=False) for k, v in record.items() if isinstance(v, (dict, list))}
            yield where, record | nested

    records = read_records()
    first = list(islice(records, ROWS))
    if not first:
        raise TableError(f"{name} is empty: it holds no record.")
    names = dict.fromkeys(key for _, record in first for key in record)
    if len(first) == 1 and all(str(cell)[:1] in ("{", "[") for cell in first[0][1].values()):
        raise TableError(
            f"{name} holds one object of columns. Write one record per row: with pandas, "
            "frame.to_json(path, orient='records')."
        )

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        waiting = chain(first, records)
        while some := list(islice(waiting, ROWS)):
            for where, record in some:
                if record.keys() - names:
                    new = min(record.keys() - names)
                    raise TableError(f"{where}: the key {new!r} is not in the first records. Add it to the first one.")
            cells = {column: pd.Series([record.get(column) for _, record in some], dtype=object) for column in columns}
            yield pd.DataFrame(cells), 0, 0

    return OpenTable(list(names), None, blocks)


class Joined(io.RawIOBase):
    """Bytes that were read ahead, then the rest of their stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self.head, self.rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        return self.head.readinto(buffer) or int(self.rest.readinto(buffer))


class Layout(NamedTuple):
    """The arrangement of the lines of a text table."""

    separator: str
    start: int = 0
    """Lines above the header."""
    titles: tuple[str, ...] = ()
    """Lines above the header that are a title rather than comments."""
    numbers: tuple[int, ...] = ()
    """Positions of the fields that are numbers in nearly all rows."""


def _open_text(stream: Any, size: int | None, name: str, options: ReadOptions) -> OpenTable:
    """Return a text table; every cell stays the text that is in the file."""
    quote = None if options.quote == "none" else options.quote or '"'
    head, least = stream.read(HEAD), (options.skip_rows or 0) + 2
    while len(head.splitlines()) < least and len(head) < LONGEST and (more := stream.read(HEAD)):
        head += more
    encoding = options.encoding or guess_encoding(head, name)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")
    sample = list(islice(io.StringIO(text, newline=""), max(least, SAMPLE)))
    if len(head) >= HEAD and len(text) == sum(map(len, sample)):
        sample.pop()  # the last line may be incomplete
    layout = guess_layout(sample, options, quote)
    if layout.titles:
        warnings.warn(
            f"{name}: skipped {count_of(layout.start, 'line')} above the header: "
            f"{'; '.join(map(_shorten, layout.titles[:3]))}. Use --skip-rows 0 if the table begins there.",
            stacklevel=2,
        )
    lines = _decoded_lines(Joined(head, stream), encoding, name)
    rows = _numbered_rows(islice(lines, layout.start, None), layout, quote, name)
    start, end, header = next((row for row in rows if row[2]), (0, 0, []))
    if not header:
        raise TableError(f"{name} is empty: it has neither a header nor rows.")
    names = [f"x{i + 1}" for i in range(len(header))]
    if not options.no_header:
        cells = [cell.strip() for cell in header]
        if all(map(_is_number, cells)):
            raise TableError(
                f"{name} seems to have no header: line {start} holds only numbers. Use --no-header, or add names."
            )
        if end > start and options.quote is None:
            width = layout.separator.join(header).splitlines()[0].count(layout.separator) + 1
            _check_swallowed(header, width, start, end, layout._replace(numbers=()), options, name)
        cells[0] = cells[0].removeprefix("#").lstrip() or cells[0]
        names = [cell or default for cell, default in zip(cells, names, strict=True)]

    def blocks(columns: list[str]) -> Iterator[tuple[pd.DataFrame, int, int]]:
        positions = dict(zip(names, range(len(names)), strict=True))
        numbered = chain([(start, end, header)], rows) if options.no_header else rows
        counted, last = 0, end  # lines of earlier blocks, lines so far
        while some := list(islice(numbered, max(1, CELLS // len(names)))):
            filled = [row for row in some if row[2]]
            for first, last, fields in filled:
                if len(fields) != len(names):
                    raise TableError(
                        f"{name}, line {first:,}: {len(fields)} fields, but the header has {len(names)}: "
                        f"{_shorten(layout.separator.join(fields))}. Repair it. Use --separator if it is not "
                        f"{layout.separator!r}, or --skip-rows if the header is further down."
                    )
                if last > first and options.quote is None:
                    _check_swallowed(fields, len(names), first, last, layout, options, name)
            cells = {c: pa.array([row[2][positions[c]] for row in filled], pa.string()) for c in columns}
            last = some[-1][1]
            yield pa.table(cells).to_pandas(types_mapper=pd.ArrowDtype), last - counted, len(some) - len(filled)
            counted = last

    lengths = [len(line.encode(encoding, "replace")) for line in sample]
    per_row = [length for length, line in zip(lengths[end:], sample[end:], strict=True) if line.strip()]
    n_rows = max(1, round((size - sum(lengths[:end])) / np.mean(per_row))) if size and per_row else None
    return OpenTable(names, n_rows, blocks)


def _decoded_lines(stream: Any, encoding: str, name: str) -> Iterator[str]:
    r"""Yield the lines of a text with their ends: ``\n``, ``\r\n`` and ``\r``."""
    number = 0
    try:
        for number, line in enumerate(io.TextIOWrapper(io.BufferedReader(stream, HEAD), encoding, newline=""), 1):
            if "\0" in line:
                raise TableError(f"{name}, line {number:,}: a NUL byte. If this is UTF-16, use --encoding utf-16.")
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding, errors="ignore")
        raise TableError(
            f"{name}, line {number + _count_lines(before):,}: byte 0x{error.object[error.start]:02x} is not "
            f"{encoding.upper()}. Use --encoding: latin-1 (Western Europe), cp1252 (Windows), utf-16, ..."
        ) from None


def _count_lines(before: str) -> int:
    """Return the number of the line that follows a text."""
    return len(re.findall("\r\n|\r|\n", before)) + 1


def _numbered_rows(
    lines: Iterable[str], layout: Layout, quote: str | None, name: str
) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the first and the last line of every row, and its fields; an empty line has none."""
    reader, last = _csv_reader(lines, layout.separator, quote), layout.start
    try:
        for fields in reader:
            first, last = last + 1, layout.start + reader.line_num
            yield first, last, fields
    except csv.Error:
        raise TableError(
            f"{name}, line {last + 1:,}: a quote is never closed, or closed within a field. Correct the line, or use "
            "--quote none if quotes are part of the values."
        ) from None


def _csv_reader(lines: Iterable[str], separator: str, quote: str | None) -> Any:
    if separator == " ":  # several blanks are one separator
        lines = (re.sub(r"^ | (?=[\r\n]*\Z)", "", re.sub(r"[ \t]+", " ", line)) for line in lines)
    quotes: Any = {"quoting": csv.QUOTE_NONE} if quote is None else {"quotechar": quote}
    return csv.reader(lines, delimiter=separator, strict=True, **quotes)


def _check_swallowed(
    fields: list[str], width: int, first: int, last: int, layout: Layout, options: ReadOptions, name: str
) -> None:
    """Raise if a row of several lines is rather several rows: a stray quote swallowed the others."""
    lines = re.split("\r\n|\r|\n", layout.separator.join(fields))
    whole = []
    for line in lines:  # would it be a row on its own if quotes had no meaning?
        cells = [cell.strip(' \t"') for cell in line.split(layout.separator, width)]
        numbers = (cells[i] for i in layout.numbers if i < len(cells))
        whole.append(len(cells) == width and all(_is_number(c) or is_missing(c) or c in options.na for c in numbers))
    inside = (any if layout.numbers else all)(whole[1:-1]) and len(whole) > 2
    if width > 1 and (all(whole) or inside):
        raise TableError(
            f"{name}, line {first:,}: a quote begins a field that ends {count_of(last - first, 'line')} below, and the "
            f"lines between look like rows: {_shorten(lines[0])}. Correct the line, or use --quote none if quotes are "
            "part of the values, or --quote '\"' if the field has several lines."
        )


def guess_encoding(head: bytes, name: str) -> str:
    """Return the encoding of a text by its first bytes, with a warning if it is a guess."""
    marked = next((encoding for bom, encoding in BOMS.items() if head.startswith(bom)), None)
    if marked is not None:
        return marked
    for encoding, zeros, letters in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if zeros.count(0) > 0.6 * len(zeros) and letters.count(0) < 0.1 * len(letters):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        if 0 in head:
            return "utf-8"  # not a text, which the error says
        from charset_normalizer import from_bytes  # only few tables need it

        odd = b"\n".join(line for line in head.splitlines() if not line.isascii())[: 1 << 16]
        guesses = list(from_bytes(odd, cp_isolation=ENCODINGS))
        guess = guesses[0].encoding if guesses else "latin-1"
        for other in guesses:  # letters of Western Europe rarely differ between encodings
            if "cp1252" in other.could_be_from_charset and other.chaos <= guesses[0].chaos:
                guess = "cp1252" if other.coherence >= guesses[0].coherence else guess
        line = _count_lines(head[: error.start].decode("latin-1"))
        warnings.warn(
            f"{name} is not UTF-8 (byte 0x{head[error.start]:02x} in line {line:,}); it was read as {guess}. Use "
            "--encoding if letters are wrong.",
            stacklevel=2,
        )
        return guess
    return "utf-8"


def guess_layout(lines: list[str], options: ReadOptions, quote: str | None = '"') -> Layout:
    """Return the separator and the lines above the header, from the first lines of a table.

    The separator is the first that splits nearly all rows into the number of fields of the first row. If none does, a
    title may stand above the header.

    Examples
    --------
    >>> guess_layout(["1,5;2,5", "0,1;7,25"], ReadOptions()).separator
    ';'
    >>> guess_layout(["Sales of May", "name,sold", "ink,5", "pens,7"], ReadOptions()).titles
    ('Sales of May',)
    """
    start = options.skip_rows or 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    separators = [options.separator] if options.separator else list(SEPARATORS.values())
    named = re.fullmatch(r'\s*"?sep=(.|\\t)"?\s*', lines[start]) if start < len(lines) else None
    if named is not None:
        start, separators = start + 1, [options.separator or named[1].replace("\\t", "\t")]
    best, layout = -1, Layout(separators[0], start)
    for separator in separators:
        rows = _sample_rows(lines[start:], separator, quote)
        if not rows or (separator == " " and best > 2):
            continue
        widths = [len(fields) for _, fields in rows]
        width, count = Counter(widths).most_common(1)[0]
        may_have_title = not options.no_header and options.skip_rows is None and separator != " "
        titles = _count_titles([fields for _, fields in rows], width) if may_have_title else 0
        if titles:
            rank = 3
        elif widths[0] > 1:  # the first row is the header of a table, or at least of something
            rank = 4 if widths[0] == width and count > USUAL * len(rows) else 2
        else:
            rank = int(width > 1 and separator != " ")
        if rank > best:
            header = start + rows[titles][0]
            split = [[cell.strip(' \r\n"') for cell in line.split(separator)] for line in lines[header + 1 :]]
            split = [cells for cells in split if len(cells) == widths[titles]]  # quotes have no meaning here
            shares = [sum(map(_is_number, cells)) / len(cells) for cells in zip(*split, strict=True)]
            numbers = tuple(i for i, share in enumerate(shares) if share > USUAL)
            above = tuple(lines[start + line].strip() for line, _ in rows[:titles])
            best, layout = rank, Layout(separator, header, above, numbers)
    return layout


def _sample_rows(lines: list[str], separator: str, quote: str | None) -> list[tuple[int, list[str]]]:
    """Return the lines and fields of rows, without empty ones and comments, up to a quote that is wrong."""
    rows, reader, start = [], _csv_reader(lines, separator, quote), 0
    with suppress(csv.Error):
        for fields in reader:
            rows += [(start, fields)] if fields else []
            start = reader.line_num
    comments = next((i for i, (_, fields) in enumerate(rows) if not fields[0].lstrip().startswith("#")), len(rows))
    if 0 < comments < len(rows):  # a comment is the header if numbers follow below as many names
        above, below = rows[comments - 1][1], rows[comments][1]
        comments -= len(above) == len(below) > 1 and any(map(_is_number, below))
    return rows[comments:]


def _count_titles(rows: list[list[str]], width: int) -> int:
    """Return how many rows stand above the header: shorter ones, or ones with a single filled field.

    They are titles only if the table below is beyond doubt: all rows have the same number of fields, the header has no
    number, and a field below it has hardly anything else.
    """
    titles = 0
    for fields in rows:
        if len(fields) >= width and not (sum(bool(cell.strip()) for cell in fields) <= 1 and width > 2):
            break
        titles += 1
    table = rows[titles:]
    if width < 2 or len(table) < 2 or any(len(fields) != width for fields in table) or any(map(_is_number, table[0])):
        return 0
    shares = [sum(map(_is_number, column)) / len(column) for column in zip(*table[1:], strict=True)]
    return titles if max(shares) > USUAL else 0


def _is_number(cell: str) -> bool:
    return len(cell) < 100 and any(parse_number(cell.strip(), decimal) is not None for decimal in ".,")


def _shorten(line: str) -> str:
    line = line.rstrip("\r\n")
    return repr(line if len(line) <= 60 else line[:57] + "...")


def read_cells(frame: pd.DataFrame, options: ReadOptions, texts: Container[str]) -> pd.DataFrame:
    """Return a frame for the library: cells of ``--na`` are None, texts of plain numbers are floats.

    The library would read the same numbers, but slower. Columns in ``texts`` stay as they are. All columns do if some
    column has commas: the library might prefer decimal commas for all.
    """
    plain, has_commas = {}, False
    for name, column in frame.items():
        if column.dtype != TEXT or options.na or options.decimal is not None:
            continue
        cells = pa.array(column)
        numbers = None if name in texts else plain_numbers(cells)
        if numbers is not None and not numbers.null_count:  # the library counts missing cells only in texts
            plain[name] = numbers.to_numpy()
        has_commas = has_commas or (numbers is None and bool(pc.any(pc.match_substring(cells, ",")).as_py()))
    columns = {
        name: plain[name] if name in plain and not has_commas else _read_column(column, options, is_text=name in texts)
        for name, column in frame.items()
    }
    return pd.DataFrame(columns, index=frame.index, columns=frame.columns, copy=False)


def plain_numbers(texts: Any, kind: Any = None) -> Any:
    """Return a column of texts as numbers, float64 by default, if all cells are plain numbers or missing; else None.

    Examples
    --------
    >>> plain_numbers(pa.array(["1.5", "", "-2e3"])).to_pylist()
    [1.5, None, -2000.0]
    >>> plain_numbers(pa.array(["1,5"])), plain_numbers(pa.array(["007"]))
    (None, None)
    """
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)
    if not pc.all(pc.match_substring_regex(texts, f"^(?:{PLAIN.pattern})$")).as_py():
        return None
    if pc.any(pc.match_substring_regex(texts, f"^(?:{CODE.pattern})$")).as_py():
        return None
    with suppress(pa.ArrowInvalid):
        return texts.cast(kind or pa.float64())
    return None


def _read_column(column: "pd.Series[Any]", options: ReadOptions, *, is_text: bool) -> "pd.Series[Any]":
    """Return a column without the cells of ``--na``, and with numbers for texts in the mark of ``--decimal``."""
    if isinstance(column.dtype, pd.ArrowDtype):
        column = pa.array(column).to_pandas()
    if options.na:
        missing = column.map(lambda cell: cell_text(cell).strip() in options.na).to_numpy(dtype=bool)
        column = column.astype(object).where(~missing, None).infer_objects() if missing.any() else column
    if options.decimal is None or is_text or column.dtype != object:
        return column
    known = {cell: parse_number(cell.strip(), options.decimal) for cell in column if isinstance(cell, str)}
    if any(CODE.fullmatch(cell.strip()) for cell in known):
        return column
    known |= {cell: np.nan for cell in known if is_missing(cell)}
    return column.map(lambda cell: cell if not isinstance(cell, str) or known[cell] is None else known[cell])


def choose_columns(names: list[str], options: ReadOptions, table: str, required: list[str] | None) -> list[str]:
    """Return the columns to cluster by: those of a model, else those that the options name, without the id."""
    known = Counter(names)
    if len(known) < len(names):
        twice = sorted(name for name, count in known.items() if count > 1)
        raise TableError(f"{table} has columns of the same name: {listed(twice)}. Rename one of each.")
    for subject, name in (("--id", options.id), ("--truth", options.truth), *(("", name) for name in required or ())):
        if name is not None and name not in known:
            subject = f"{subject} {name}" if subject else f"The model was fitted with the column {name!r}"
            raise TableError(f"{subject}: {table} has {_no_column(name, names)}")
    if required is not None:
        return required
    excluded = {*match_names(names, options.exclude, "--exclude"), options.id, options.truth}
    matched = match_names(names, options.columns, "--columns") if options.columns else names
    chosen = [name for name in matched if name not in excluded]
    if not chosen:
        raise TableError(f"{table}: no column is left to cluster by. It has {listed(names)}.")
    return chosen


def match_names(names: list[str], patterns: tuple[str, ...], option: str) -> list[str]:
    """Return names that match any of the patterns, in the order of the patterns; commas separate patterns.

    Examples
    --------
    >>> match_names(["age", "income_1", "income_2"], ("income_*,age",), "--columns")
    ['income_1', 'income_2', 'age']
    """
    known, matched = set(names), dict[str, None]()
    for pattern in patterns:
        for part in [pattern] if pattern in known else [piece.strip() for piece in pattern.split(",")]:
            matches = [part] if part in known else [name for name in names if fnmatchcase(name, part)]
            if not matches:
                raise TableError(f"{option} {part}: {_no_column(part, names)}")
            matched |= dict.fromkeys(matches)
    return list(matched)


def requested_kinds(names: list[str], options: ReadOptions) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the kinds and weights of columns that are requested by name or pattern."""
    kinds: dict[str, Any] = dict.fromkeys(match_names(names, options.categorical, "--categorical"), "categorical")
    kinds |= dict.fromkeys(match_names(names, options.log, "--log"), "log")
    for request in options.ordinal:
        pattern, _, values = request.partition("=")
        order = [value.strip() for value in values.split(",")] if values else "ordinal"
        kinds |= dict.fromkeys(match_names(names, (pattern,), "--ordinal"), order)
    weights: dict[str, float] = {}
    for request in options.weight:
        pattern, _, number = request.rpartition("=")
        weights |= dict.fromkeys(match_names(names, (pattern,), "--weight"), float(number))
    return kinds, weights


def _no_column(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1, 0.8)  # comparing very many names takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {listed(names)}.")


def listed(names: list[str], most: int = 12) -> str:
    """Return names for a message, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
