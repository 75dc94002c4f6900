"""Tables of labels in files or on the standard output, in any of the formats, and JSON for scripts."""

import csv
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from pyarrow import ipc, parquet

from gitcluster._support.files import is_stream, open_number, write_aside
from gitcluster._support.names import visible
from gitcluster.cli.streams import check_open

STANDARD = "-"
"""The name of the standard input or output where a file is expected."""

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
}
EXCEL_ROWS = 1_048_575
EXCEL_COLUMNS = 16_384
FORMULA = re.compile("[=+\\-@\t\r]")
"""How a text begins that spreadsheets take for a formula and run."""
NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")


def check_target(target: str | None, option: str = "-o", *, stream: bool = False) -> None:
    """Raise where a file cannot be written, before any work is done; a device or pipe must be allowed by ``stream``."""
    if target is None:
        return
    if target == STANDARD:
        check_open("stdout")
        return
    if os.path.isdir(target):
        raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
    if is_stream(target):
        if not stream:
            raise ValueError(f"{option} {target} is a device or a pipe. Name a file.")
        number = open_number(target)
        if number is not None:
            os.fstat(number)  # raises where it is not open
            return
    path = Path(os.path.realpath(target))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} {target}: there is no folder {path.parent}. Make it, or name another.")
    if not os.access(path.parent if path.is_file() or not path.exists() else path, os.W_OK):
        raise PermissionError(f"{option} {target} cannot be written: no permission for {path.parent}.")


def standard_or(target: str | None) -> str | None:
    """The target, or ``-`` where it is another name of the standard output, such as ``/dev/stdout``."""
    return STANDARD if target is not None and open_number(target) == 1 else target


def check_apart(targets: dict[str, str | None], sources: list[str | None]) -> None:
    """Raise where two files to write are the same, or one of them is read: one would be lost."""
    places: dict[str, str] = {}
    for source in sources:
        if source and source != STANDARD and os.path.isfile(source):
            places[os.path.realpath(source)] = source
    for option, target in targets.items():
        if target is None or target == STANDARD or is_stream(target):
            continue
        place = os.path.realpath(target)
        if place in places:
            raise ValueError(
                f"{option} {target} would overwrite {places[place]}, which this command uses as well. "
                "Name another file."
            )
        places[place] = f"what {option} writes"


def format_of(target: str, given: str | None) -> str:
    """The format of a table to write: the one given, else that of the name, CSV for a stream."""
    if given:
        return given
    if target == STANDARD or not Path(target).suffix:
        return "csv"
    suffix = Path(target).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(sorted(set(FORMATS)))
        raise ValueError(f"-o {target}: no table is written as {suffix!r}. Use one of {known}, or --output-format.")
    return FORMATS[suffix]


class TableWriter:
    """Writes a table part by part, in any of the formats; parts have the same columns.

    With ``safe``, texts that spreadsheets would run as formulas begin with an apostrophe in CSV and TSV files.
    """

    def __init__(self, file: IO[bytes], form: str, *, safe: bool = False) -> None:
        self.file, self.form, self.safe = file, form, safe
        self.parts: list[pd.DataFrame] = []
        self.writer: Any = None
        self.schema: Any = None
        self.rows = 0

    def write(self, part: pd.DataFrame) -> None:
        """Add rows."""
        if self.form in ("csv", "tsv"):
            self.file.write(self._text(part).encode(errors="backslashreplace"))
        elif self.form == "jsonl":
            self.file.write("".join(f"{record}\n" for record in _records(part)).encode(errors="backslashreplace"))
        elif self.form in ("parquet", "arrow"):
            self._write_arrow(part)
        else:
            self.parts.append(part)
        self.rows += len(part)

    def _text(self, part: pd.DataFrame) -> str:
        texts = [name for name in part.columns if not pd.api.types.is_numeric_dtype(part[name].dtype)]
        if self.safe:
            part = part.assign(**{name: part[name].map(disarm) for name in texts}).rename(columns=disarm)
        returns = any("\r" in str(name) for name in part.columns) or any(
            part[name].astype(str).str.contains("\r", regex=False).any()
            for name in part.columns
            if not pd.api.types.is_numeric_dtype(part[name].dtype)
        )
        quoting = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL  # csv leaves a bare \r without quotes
        separator = "," if self.form == "csv" else "\t"
        return str(
            part.to_csv(None, index=False, header=self.rows == 0, sep=separator, lineterminator="\n", quoting=quoting)
        )

    def _write_arrow(self, part: pd.DataFrame) -> None:
        table = pa.Table.from_pandas(part, schema=self.schema, preserve_index=False)
        if self.writer is None:
            opener = parquet.ParquetWriter if self.form == "parquet" else ipc.new_file
            self.schema = table.schema
            self.writer = opener(self.file, self.schema)
        self.writer.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        if self.writer is not None:
            self.writer.close()
        elif self.parts:
            self._write_whole(pd.concat(self.parts, ignore_index=True))
        self.file.flush()

    def _write_whole(self, table: pd.DataFrame) -> None:
        if self.form == "json":
            self.file.write(("[" + ",\n".join(_records(table)) + "]\n").encode(errors="backslashreplace"))
        elif self.form == "npy":
            self.file.write(_npy(table["cluster"].to_numpy()))
        elif self.form == "npz":
            with zipfile.ZipFile(whole := BytesIO(), "w") as archive:  # np.savez takes no column named "file"
                for name in table.columns:
                    archive.writestr(f"{visible(str(name))}.npy", _npy(table[name].to_numpy()))
            self.file.write(whole.getvalue())
        elif len(table) > EXCEL_ROWS or len(table.columns) > EXCEL_COLUMNS:
            raise ValueError(
                f"Excel holds {EXCEL_ROWS:,} rows and {EXCEL_COLUMNS:,} columns, the table has {len(table):,} and "
                f"{len(table.columns):,}. Write CSV or Parquet."
            )
        else:
            self.file.write(_workbook(table))


def _records(table: pd.DataFrame) -> list[str]:
    """The rows of a table as JSON; what is missing is null."""
    names = list(map(str, table.columns))
    columns = [[_plain(value) for value in table[name].tolist()] for name in table.columns]
    return [
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str)
        for row in zip(*columns, strict=True)
    ]


def _plain(value: Any) -> Any:
    return None if not isinstance(value, (str, list, dict, np.ndarray)) and pd.isna(value) else value


def _npy(array: Any) -> bytes:
    """An array as the content of an NPY file, written at once: a full disk is then told as such."""
    buffer = BytesIO()
    np.save(buffer, array.astype(str) if array.dtype.kind == "O" else array, allow_pickle=False)
    return buffer.getvalue()


def _workbook(table: pd.DataFrame) -> bytes:
    """A table as the content of an Excel workbook; no text in it is a formula."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return None if pd.isna(value) else value
        made = WriteOnlyCell(sheet, escape_excel(value)[:32_767])  # Excel holds no longer text
        made.data_type = "s"  # openpyxl takes a text that begins with = for a formula
        made.quotePrefix = bool(FORMULA.match(value))  # Excel's apostrophe: it stays a text when it is edited
        return made

    sheet.append([cell(str(name)) for name in table.columns])
    columns = [table[name].tolist() for name in table.columns]
    for row in zip(*columns, strict=True):
        sheet.append([cell(value) for value in row])
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def escape_excel(text: str) -> str:
    r"""A text with control characters as Excel writes them.

    Examples
    --------
    >>> escape_excel("a\x1b")
    'a_x001B_'
    """
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", lambda found: f"_x{ord(found[0]):04X}_", text)


def disarm(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it; numbers stay as they are.

    Examples
    --------
    >>> disarm("=1+1"), disarm("-5"), disarm(-5)
    ("'=1+1", '-5', -5)
    """
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value


@contextmanager
def open_writer(target: str, form: str, *, safe: bool = False) -> Iterator[TableWriter]:
    """A :class:`TableWriter` to a file, written aside, or to the standard output."""
    place = nullcontext(sys.stdout.buffer) if target == STANDARD else write_aside(target)
    with place as file:
        writer = TableWriter(file, form, safe=safe)
        yield writer
        writer.close()


def write_table(
    target: str,
    table: pd.DataFrame,
    form: str,
    advance: Callable[[float], None] | None = None,
    *,
    safe: bool = False,
) -> None:
    """Write a whole table in parts; ``advance`` hears the share that is done."""
    step = 100_000
    with open_writer(target, form, safe=safe) as writer:
        for start in range(0, max(1, len(table)), step):
            writer.write(table.iloc[start : start + step])
            if advance is not None:
                advance(min(1.0, (start + step) / max(1, len(table))))


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on the standard output."""
    check_open("stdout")
    print(json.dumps(facts, default=lambda value: value.tolist()), flush=True)
