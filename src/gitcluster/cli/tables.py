"""Read tables: CSV, TSV, Parquet, Arrow, Excel and NPY files, gz and zst ones too.

The cells of a text table stay the texts of the file, those of other formats keep their types. ``gitcluster.GIT``
decides what they mean, so that a table means the same here and in Python. Every line of a text table is either a part
of a row, or empty and counted, or named in an error with a remedy. That is why the csv module reads texts in its strict
mode: pandas fills short rows, and pyarrow takes all lines behind a quote that is never closed as one cell.
"""

import codecs
import csv
import difflib
import io
import re
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import chain, islice
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather, ipc, parquet

from gitcluster._support.names import list_of
from gitcluster.preprocessing.values import CODE, MISSING, PLAIN, cell_text, parse_number

TEXT = pd.StringDtype("pyarrow")
"""The type of the cells of text tables; texts of other formats have other types."""
Options = dict[str, Any]
"""The options of a command, by their names; None means that the file decides."""
STANDARD = "-"
"""The standard input or output, if a file is expected."""
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "colon": ":", "space": " "}
CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""Compressions by the first bytes of a file."""
EXCEL, NPY = b"PK\x03\x04", b"\x93NUMPY"
READERS: dict[bytes, Callable[[Any], pa.Table]] = {
    b"PAR1": parquet.read_table,
    b"ARROW1": feather.read_table,
    b"\xff\xff\xff\xff": lambda source: ipc.open_stream(source).read_all(),
}
"""Readers of Parquet, Arrow files and Arrow streams by their first bytes."""
SAMPLE, CELLS, MAX_CELLS = 50, 1 << 18, 1 << 28
"""Lines that show the separator of a text table, cells that are converted at once, and the most cells of a sheet."""
LINE_END = re.compile("\r\n|\r|\n")
csv.field_size_limit(1 << 28)  # a quote that is never closed would fill the memory


class TableError(ValueError):
    """A table that cannot be used as it is; the message names the file, the line and the remedy."""


class Table(NamedTuple):
    """The rows of a file."""

    data: pd.DataFrame
    """The columns to cluster by, as the library reads them."""
    whole: pd.DataFrame
    """All columns as they are in the file."""
    ids: "pd.Series[Any] | None"
    kinds: dict[str, Any]
    weights: dict[str, float]
    lines: int
    """Lines of a text table or a sheet, with the header; 0 in other formats."""
    empty: int
    """Number of empty lines among them."""

    @property
    def indexed(self) -> pd.DataFrame:
        """Return the columns to cluster by with the ids as index."""
        return self.data if self.ids is None else self.data.set_axis(pd.Index(self.ids.astype(str)), axis=0)


def load_table(
    path: str, options: Options, *, names: list[str] | None = None, texts: Container[str] | None = None
) -> Table:
    """Return a table; for a model, ``names`` are its columns and ``texts`` those that do not hold plain numbers."""
    name = "standard input" if path == STANDARD else path
    try:
        whole, lines, empty = _read_file(path, name, options)
    except Exception as error:  # libraries raise many types of errors for damaged files
        if isinstance(error, (TableError, MemoryError, ImportError)) or getattr(error, "errno", None):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"{name} cannot be read, it is damaged or in another format: {reason}") from error
    if not len(whole):
        raise TableError(f"{name} has no rows.")
    found, twice = list(whole.columns), whole.columns.duplicated()
    if twice.any():
        raise TableError(f"{name} has columns of the same name: {list_of(whole.columns[twice])}. Rename one of each.")
    id_name = options.get("id") or (options.get("usual_id") if options.get("usual_id") in found else None)
    if id_name is not None and id_name not in found:
        raise TableError(f"--id {id_name}: {name} has {_no_column(id_name, found)}")
    lacking = [column for column in names or () if column not in found]
    if lacking:
        raise TableError(f"{name} has {_no_column(lacking[0], found)} The model needs it.")
    kinds: dict[str, Any] = {}
    weights: dict[str, float] = {}
    if names is None:
        excluded = {*match_names(found, options.get("exclude", ()), "--exclude"), id_name}
        matched = match_names(found, options["columns"], "--columns") if options.get("columns") else found
        names = [column for column in matched if column not in excluded]
        kinds, weights = requested_kinds(names, options)
    if not names:
        raise TableError(f"{name}: no column is left to cluster by. It has {list_of(found)}.")
    if texts is None:
        texts = [column for column, kind in kinds.items() if kind != "log"]
    ids = None if id_name is None else whole[id_name]
    return Table(read_cells(whole[names], options, texts), whole, ids, kinds, weights, lines, empty)


# -- Files -------------------------------------------------------------------------------------------------------------


def _read_file(path: str, name: str, options: Options) -> tuple[pd.DataFrame, int, int]:
    """Return a table in the format of its first bytes, with its numbers of lines and of empty lines."""
    if path == STANDARD:
        raw = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            raw = file.read()
    for start, codec in CODECS.items():
        if raw.startswith(start):
            raw = pa.CompressedInputStream(pa.BufferReader(raw), codec).read()
    for start, read in READERS.items():
        if raw.startswith(start):
            table = read(pa.BufferReader(raw))
            table.validate(full=True)  # a changed offset would make pyarrow read out of bounds
            return table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True), 0, 0
    if raw.startswith(NPY):
        array = np.load(io.BytesIO(raw))
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
            raise TableError(f"{name} must have numbers in 1 or 2 dimensions, got {array.ndim} of {array.dtype}.")
        frame = pd.DataFrame(array.reshape(len(array), -1), copy=False)
        return frame.rename(columns=lambda i: f"x{i + 1}"), 0, 0
    return (_read_excel if raw.startswith(EXCEL) else _read_text)(raw, name, options)


def _read_excel(raw: bytes, name: str, options: Options) -> tuple[pd.DataFrame, int, int]:
    """Return a sheet of a workbook, the first by default, without empty rows."""
    with pd.ExcelFile(io.BytesIO(raw), engine="openpyxl") as book:
        first, *others = map(str, book.sheet_names)
        if options["sheet"] not in (None, first, *others):
            raise TableError(f"--sheet {options['sheet']}: {name} has the sheets {list_of([first, *others])}.")
        if options["sheet"] is None and others:
            warnings.warn(f"{name}: read the sheet {first!r}. Use --sheet for {list_of(others)}.", stacklevel=2)
        sheet = book.book[options["sheet"] or first]
        if (sheet.max_row or 0) * (sheet.max_column or 0) > MAX_CELLS:  # pandas would fill all of them
            raise TableError(
                f"{name} has cells as far as row {sheet.max_row:,} and column {sheet.max_column:,}. Delete the stray "
                "ones, or save the table as CSV."
            )
        cells = book.parse(options["sheet"] or first, header=None, dtype=object, na_filter=False)
    filled = np.flatnonzero((cells != "").any(axis=1))
    filled = filled[filled >= options["skip_rows"]]
    if not len(filled):
        raise TableError(f"{name} is empty: the sheet has no cells.")
    header, rows = list(map(str, cells.iloc[filled[0]])), filled[not options["no_header"] :]
    names = _column_names(header, options, f"{name}, row {filled[0] + 1}")
    return (
        cells.iloc[rows].set_axis(names, axis=1).reset_index(drop=True),
        len(cells),
        len(cells) - options["skip_rows"] - len(filled),
    )


def _read_text(raw: bytes, name: str, options: Options) -> tuple[pd.DataFrame, int, int]:
    """Return a text table; every cell stays the text that is in the file."""
    text = io.TextIOWrapper(io.BytesIO(raw), find_encoding(raw, options["encoding"], name), newline="")
    skip = options["skip_rows"]
    sample = list(islice(text, skip, skip + SAMPLE))
    separator = SEPARATORS[options["separator"]] if options["separator"] else guess_separator(sample)
    lines: Iterator[str] = chain(sample, text)
    if separator == " ":  # several blanks are one separator
        lines = (" ".join(line.split()) + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    names, rows, blocks = list[str](), list[list[str]](), list[pa.Table]()
    last, header_line, empty = skip, 0, 0

    def convert(rows: list[list[str]]) -> pa.Table:
        return pa.table([pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))], names)

    try:
        for fields in reader:
            line, last = last + 1, skip + reader.line_num
            if not fields:
                empty += 1
                continue
            if not names:
                names, header_line = _column_names(fields, options, f"{name}, line {line:,}"), line
                if not options["no_header"]:
                    continue
            if len(fields) != len(names):
                raise TableError(
                    f"{name}, line {line:,}: {len(fields)} fields, but line {header_line:,} has {len(names)}: "
                    f"{shorten(separator.join(fields), 60)!r}. Correct it, or use --skip-rows if the header is further "
                    f"down, or --separator if it is not {separator!r}."
                )
            # Two stray quotes make one field of the end of a row, whole rows, and the beginning of another row.
            if last > line and any(
                field.count(separator) == n_ends * (len(fields) - 1)
                for field in fields if (n_ends := len(LINE_END.findall(field)))
            ):  # fmt: skip
                warnings.warn(
                    f"{name}, line {line:,}: the quoted field that ends in line {last:,} looks like several rows. If "
                    "it is, remove the quotes.",
                    stacklevel=2,
                )
            rows.append(fields)
            if len(rows) * len(names) >= CELLS:
                blocks.append(convert(rows))
                rows = []
    except csv.Error:
        raise TableError(
            f"{name}, line {last + 1:,}: a quote is never closed, or closed within a field. Correct it."
        ) from None
    if not names:
        raise TableError(f"{name} is empty: it has neither a header nor rows.")
    table = pa.concat_tables([*blocks, convert(rows)])
    return table.to_pandas(types_mapper={pa.string(): TEXT}.get), last, empty


def _column_names(header: list[str], options: Options, where: str) -> list[str]:
    """Return the names in a header; raise if it is rather a row of numbers, or a title above the header."""
    if options["no_header"]:
        return [f"x{i + 1}" for i in range(len(header))]
    names = [cell.strip() for cell in header]
    if all(any(parse_number(name, mark) is not None for mark in ".,") for name in names):
        raise TableError(f"{where}: only numbers, no header. Use --no-header, or add names.")
    if "" in names[1:]:  # the index of a data frame has no name either, but it comes first
        raise TableError(
            f"{where}: the name of column {names.index('', 1) + 1} is empty. Add it, or use --skip-rows if the header "
            "is further down."
        )
    return [names[0] or "x1", *names[1:]]


def find_encoding(raw: bytes, given: str | None, name: str) -> str:
    """Return the encoding of a text: the given one, UTF-16 if it is marked, UTF-8, or cp1252 with a warning."""
    is_utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding, note = given or ("utf-16" if is_utf16 else "utf-8-sig"), ""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = len((raw[: error.start] + b".").splitlines())
        note = f"{name}, line {line:,}: byte 0x{raw[error.start]:02x} is not {encoding.upper().removesuffix('-SIG')}"
        if given:
            raise TableError(f"{note}. Use another --encoding, such as latin-1, shift-jis or utf-16.") from None
        text, encoding = raw.decode("latin-1"), "cp1252"
    if "\0" in text:
        line = 1 + len(LINE_END.findall(text[: text.index("\0")]))
        raise TableError(f"{name}, line {line:,}: a NUL byte. Save the table as CSV, or use --encoding utf-16.")
    if note:
        warnings.warn(f"{note}; read as cp1252 (Western Europe). Use --encoding if letters are wrong.", stacklevel=2)
    return encoding


def guess_separator(lines: list[str]) -> str:
    """Return the separator that splits the first lines of a table into the same number of fields, or most of them."""

    def score(separator: str) -> tuple[bool, int]:
        widths = [len(fields) for fields in csv.reader(lines, delimiter=separator) if fields]
        return len(set(widths)) == 1 and widths[0] > 1, sum(width > 1 for width in widths)

    best = max("\t;|,", key=score)  # a comma may be a decimal mark, so it is the last
    if score(best)[1]:
        return best
    words = {len(line.split()) for line in lines if line.strip()}
    return " " if len(words) == 1 and words != {1} else ","


# -- Columns -----------------------------------------------------------------------------------------------------------


def match_names(names: list[str], patterns: tuple[str, ...], option: str) -> list[str]:
    """Return names that match any of the patterns, in the order of the patterns; commas separate patterns."""
    known, matched = set(names), dict[str, None]()
    for pattern in patterns:
        for part in [pattern] if pattern in known else [piece.strip() for piece in pattern.split(",")]:
            matches = [part] if part in known else [name for name in names if fnmatchcase(name, part)]
            if not matches:
                raise TableError(f"{option} {part}: {_no_column(part, names)}")
            matched |= dict.fromkeys(matches)
    return list(matched)


def _no_column(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1, 0.8)  # comparing very many names takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {list_of(names)}.")


def requested_kinds(names: list[str], options: Options) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the kinds and weights of columns that are requested by name or pattern."""
    kinds: dict[str, Any] = {}
    for kind in ("categorical", "log"):
        kinds |= dict.fromkeys(match_names(names, options.get(kind, ()), f"--{kind}"), kind)
    for request in options.get("ordinal", ()):
        pattern, _, values = request.partition("=")
        order = [value.strip() for value in values.split(",")] if values else "ordinal"
        kinds |= dict.fromkeys(match_names(names, (pattern,), "--ordinal"), order)
    weights: dict[str, float] = {}
    for pattern, weight in options.get("weight", ()):
        weights |= dict.fromkeys(match_names(names, (pattern,), "--weight"), weight)
    return kinds, weights


# -- Cells -------------------------------------------------------------------------------------------------------------


def read_cells(frame: pd.DataFrame, options: Options, texts: Container[str]) -> pd.DataFrame:
    """Return a frame for the library: cells of ``--na`` are None, texts of plain numbers are floats.

    The library would read the same numbers, but slower. Columns in ``texts`` stay as they are. All columns do if some
    cell has a comma: the library might prefer decimal commas for all.
    """
    na, mark = options["na"], options["decimal"]

    def read(cell: Any) -> Any:
        text = cell_text(cell).strip()
        is_number = mark is not None and isinstance(cell, str) and not CODE.fullmatch(text)
        number = parse_number(text, mark) if is_number and name not in texts else None
        return None if text in na else cell if number is None else number

    words = {name: pa.array(column) for name, column in frame.items() if column.dtype == TEXT}
    has_comma = any(pc.any(pc.match_substring(array, ",")).as_py() for array in words.values())
    columns: dict[Any, Any] = {}
    for name, column in frame.items():
        is_plain = name in words and name not in texts and not (has_comma or na or mark)
        numbers = plain_numbers(words[name]) if is_plain else None
        if numbers is not None and not numbers.null_count:  # the library counts missing cells only in texts
            columns[name] = numbers.cast(pa.float64()).to_numpy()
            continue
        if isinstance(column.dtype, (pd.ArrowDtype, pd.StringDtype)):
            column = pa.array(column).to_pandas()
        columns[name] = column.astype(object).map(read).infer_objects() if na or mark else column
    return pd.DataFrame(columns, index=frame.index, columns=frame.columns, copy=False)


def plain_numbers(texts: Any) -> Any:
    """Return a column of texts as integers or floats if all cells are plain numbers or missing; else None."""
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)
    if not pc.all(pc.match_substring_regex(texts, f"^(?:{PLAIN.pattern})$")).as_py():
        return None
    if pc.any(pc.match_substring_regex(texts, f"^(?:{CODE.pattern})$")).as_py():
        return None
    for kind in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind)
    return None
