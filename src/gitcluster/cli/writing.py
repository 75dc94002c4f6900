"""Write tables of labels to files or the standard output, in every format, never half of them; and JSON for scripts."""

import csv
import json
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

from gitcluster._support.files import atomic_write, is_stream, open_number
from gitcluster._support.names import escape_control
from gitcluster.cli.inputs import TEXT, Table, plain_numbers
from gitcluster.cli.tables import FORMATS, STANDARD


def check_targets(targets: dict[str, str | None], sources: list[str | None], streams: tuple[str, ...] = ()) -> None:
    """Raise before any work is done if a file cannot be written, or would overwrite another that the command uses.

    ``targets`` are files to write by option; those in ``streams`` hold tables, and may be devices or pipes. ``sources``
    are files to read.
    """
    used = {os.path.realpath(source): source for source in sources if source and os.path.isfile(source)}
    for option, target in targets.items():
        if target is None or target == STANDARD:
            continue
        if os.path.isdir(target):
            raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
        path = Path(os.path.realpath(target))
        if option in streams:
            format_of(target)
        if is_stream(target):
            if option not in streams:
                raise ValueError(f"{option} {target} is a device or a pipe. Name a file.")
            number = open_number(target)
            if number is not None:
                os.fstat(number)  # raises OSError if it is not open
                continue
        elif str(path) in used:
            raise ValueError(f"{option} {target} would overwrite {used[str(path)]}, which the command uses as well.")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{option} {target}: there is no folder {path.parent}.")
        if not os.access(path.parent if path.is_file() or not path.exists() else path, os.W_OK):
            raise PermissionError(f"{option} {target} cannot be written: no permission for {path.parent}.")
        used[str(path)] = f"the file of {option}"


def format_of(target: str) -> str:
    """Return the format of a table to write: that of the name, CSV for a stream or a name without a suffix."""
    suffix = "" if target == STANDARD else Path(target).suffix.lower()
    if suffix and suffix not in FORMATS:
        raise ValueError(f"-o {target} must end in one of {', '.join(FORMATS)}.")
    return FORMATS.get(suffix, "csv")


class TableWriter:
    """Write a table part by part; all parts have the same columns.

    CSV and TSV files grow with every part. Other formats are written at the end, because the types of their columns
    depend on all cells.
    """

    def __init__(self, file: IO[bytes], form: str) -> None:
        self.file, self.form = file, form
        self.parts: list[pd.DataFrame] = []
        self.has_header = self.is_text = False

    def write(self, part: pd.DataFrame, *, is_text: bool = False) -> None:
        """Add rows; ``is_text`` says that all cells of the user's table are texts."""
        self.is_text = self.is_text or is_text
        if self.form not in ("csv", "tsv"):
            self.parts.append(part)
            return
        settings = {"index": False, "header": not self.has_header, "sep": "," if self.form == "csv" else "\t"}
        text = part.to_csv(**settings, lineterminator="\n")
        if "\r" in text:  # which csv leaves without quotes
            text = part.to_csv(**settings, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        self.file.write(text.encode(errors="backslashreplace"))
        self.has_header = True

    def close(self) -> None:
        """Finish the file. Bytes are written at once, so that libraries do not hide the error of a full disk."""
        if self.parts:
            table = pd.concat(self.parts, ignore_index=True)
            if self.is_text:
                table = table.apply(lambda column: _typed(column) if column.dtype == TEXT else column)
            buffer = BytesIO()
            if self.form in ("json", "jsonl"):
                objects = table.astype(object).where(table.notna(), None).to_dict("records")
                records = [json.dumps(record, ensure_ascii=False, default=str) for record in objects]
                text = "\n".join(records) if self.form == "jsonl" else "[" + ",\n".join(records) + "]"
                buffer.write(f"{text}\n".encode(errors="backslashreplace"))
            elif self.form in ("parquet", "arrow"):
                write = parquet.write_table if self.form == "parquet" else feather.write_feather
                write(pa.Table.from_pandas(table, preserve_index=False), buffer)
            elif self.form == "npy":
                buffer.write(_npy(table["cluster"].to_numpy()))
            elif self.form == "npz":
                with zipfile.ZipFile(buffer, "w") as archive:  # np.savez takes no column named "file"
                    for name in table.columns:
                        archive.writestr(f"{escape_control(str(name))}.npy", _npy(table[name].to_numpy()))
            else:
                _write_workbook(table, buffer)
            self.file.write(buffer.getvalue())
        self.file.flush()


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of texts as numbers, if all of them are plain numbers."""
    for kind in (pa.int64(), pa.float64()):
        numbers = plain_numbers(pa.array(column), kind)
        if numbers is not None:
            return pd.Series(numbers, column.index, dtype=pd.ArrowDtype(kind))
    return column


def _npy(array: Any) -> bytes:
    """Return an array as the content of an NPY file."""
    np.save(buffer := BytesIO(), array.astype(str) if array.dtype.kind == "O" else array, allow_pickle=False)
    return buffer.getvalue()


def _write_workbook(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table as an Excel workbook; no text in it is a formula."""

    def escape(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", lambda match: f"_x{ord(match[0]):04X}_", value)

    with pd.ExcelWriter(file, engine="openpyxl") as book:
        table.astype(object).map(escape).rename(columns=escape).to_excel(book, index=False)
        for row in book.sheets["Sheet1"].iter_rows():
            for cell in row:
                cell.data_type = "s" if cell.data_type == "f" else cell.data_type  # a text that begins with =


@contextmanager
def open_writer(target: str) -> Iterator[TableWriter]:
    """Yield a :class:`TableWriter` to the standard output, or to a file that appears when it is complete."""
    with nullcontext(sys.stdout.buffer) if target == STANDARD else atomic_write(target) as file:
        writer = TableWriter(file, format_of(target))
        yield writer
        writer.close()


def write_table(target: str, table: pd.DataFrame, *, is_text: bool = False) -> None:
    """Write a whole table."""
    with open_writer(target) as writer:
        writer.write(table, is_text=is_text)


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(facts, default=lambda value: value.tolist()), flush=True)


def label_frame(names: Any, id_name: str | None, labels: Any, **more: Any) -> pd.DataFrame:
    """Return labels beside the names of their rows."""
    added = {"cluster": labels, **more}
    (name,) = free_names([id_name or "row"], set(added))
    return pd.DataFrame({name: np.asarray(names), **added})


def labelled_table(table: Table, labels: Any, **scores: Any) -> pd.DataFrame:
    """Return the user's table with labels and scores added; dropped rows have none."""
    whole = table.whole
    assert whole is not None
    integers = "int64" if len(table.rows) == len(whole) else "Int64"
    added = {"cluster": pd.array(labels, dtype=integers), **scores}
    columns = {name: pd.Series(values).set_axis(table.rows).reindex(whole.index) for name, values in added.items()}
    renamed = whole.set_axis(free_names(list(whole.columns), set(added)), axis=1)
    return pd.concat([renamed, pd.DataFrame(columns)], axis=1)


def free_names(names: list[str], taken: set[str]) -> list[str]:
    """Return names of columns that differ from those of the output, with a warning for each that is changed.

    Examples
    --------
    >>> free_names(["age", "x"], {"row", "cluster"})
    ['age', 'x']
    """
    free: list[str] = []
    for name in names:
        new = name
        while new in taken or (new != name and new in names):
            new += "_in_table"
        if new != name:
            warnings.warn(f"The column {name!r} of the table is written as {new!r}.", stacklevel=2)
            taken = taken | {new}
        free.append(new)
    return free
