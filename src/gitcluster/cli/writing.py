"""Tables of labels in files or on the standard output, in any of the formats, and JSON for scripts."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc, parquet

from gitcluster._support.files import write_aside

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
    ".xlsx": "excel",
}
EXCEL_ROWS = 1_048_575


def check_target(target: str | None, option: str = "-o", *, stream: bool = False) -> None:
    """Raise where a file cannot be written, before any work is done; a device or pipe must be allowed by ``stream``."""
    if target is None or target == STANDARD:
        return
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
    if path.exists() and not path.is_file() and not stream:
        raise ValueError(f"{option} {target} is a device or a pipe. Name a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} {target}: there is no folder {path.parent}. Make it, or name another.")
    if not os.access(path.parent if path.is_file() or not path.exists() else path, os.W_OK):
        raise PermissionError(f"{option} {target} cannot be written: no permission for {path.parent}.")


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
    """Writes a table part by part, in any of the formats; parts have the same columns."""

    def __init__(self, file: IO[bytes], form: str) -> None:
        self.file, self.form = file, form
        self.parts: list[pd.DataFrame] = []
        self.writer: Any = None
        self.schema: Any = None
        self.rows = 0

    def write(self, part: pd.DataFrame) -> None:
        """Add rows."""
        if self.form in ("csv", "tsv"):
            separator = "," if self.form == "csv" else "\t"
            text = part.to_csv(None, index=False, header=self.rows == 0, sep=separator, lineterminator="\n")
            self.file.write(text.encode())
        elif self.form in ("parquet", "arrow"):
            self._write_arrow(part)
        else:
            self.parts.append(part)
        self.rows += len(part)

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
        if self.form == "npy":
            np.save(self.file, table["cluster"].to_numpy())
        elif self.form == "npz":
            columns = {str(name): table[name].to_numpy() for name in table.columns}
            texts = {name: c.astype(str) if c.dtype.kind == "O" else c for name, c in columns.items()}
            np.savez(self.file, **texts)
        elif len(table) > EXCEL_ROWS:
            raise ValueError(f"Excel holds {EXCEL_ROWS:,} rows, the table has {len(table):,}. Write CSV or Parquet.")
        else:
            book = BytesIO()  # on a full disk, an open workbook would complain a second time
            table.to_excel(book, index=False, engine="openpyxl")
            self.file.write(book.getvalue())


@contextmanager
def open_writer(target: str, form: str) -> Iterator[TableWriter]:
    """A :class:`TableWriter` to a file, written aside, or to the standard output."""
    place = nullcontext(sys.stdout.buffer) if target == STANDARD else write_aside(target)
    with place as file:
        writer = TableWriter(file, form)
        yield writer
        writer.close()


def write_table(target: str, table: pd.DataFrame, form: str, advance: Callable[[float], None] | None = None) -> None:
    """Write a whole table in parts; ``advance`` hears the share that is done."""
    step = 100_000
    with open_writer(target, form) as writer:
        for start in range(0, max(1, len(table)), step):
            writer.write(table.iloc[start : start + step])
            if advance is not None:
                advance(min(1.0, (start + step) / max(1, len(table))))


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on the standard output."""
    print(json.dumps(facts, default=lambda value: value.tolist()), flush=True)
