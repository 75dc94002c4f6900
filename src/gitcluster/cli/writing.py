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
from pyarrow import ipc, parquet

from gitcluster._support.files import atomic_write, is_stream, open_number
from gitcluster._support.names import escape_control
from gitcluster.cli.inputs import Table, plain_numbers
from gitcluster.cli.tables import FORMATS, STANDARD


def check_targets(targets: dict[str, str | None], sources: list[str | None], streams: tuple[str, ...] = ()) -> None:
    """Raise before any work is done if a file cannot be written, or would overwrite another that the command uses.

    ``targets`` are files to write by option; those in ``streams`` may be devices or pipes. ``sources`` are read.
    """
    used = {os.path.realpath(source): source for source in sources if source and os.path.isfile(source)}
    for option, target in targets.items():
        if target is None or target == STANDARD:
            continue
        if os.path.isdir(target):
            raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
        path = Path(os.path.realpath(target))
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
    """Write a table part by part; all parts have the same columns."""

    def __init__(self, file: IO[bytes], form: str) -> None:
        self.file, self.form = file, form
        self.parts: list[pd.DataFrame] = []
        self.arrow: Any = None
        self.schema: Any = None
        self.has_header = False

    def write(self, part: pd.DataFrame) -> None:
        """Add rows."""
        if self.form in ("csv", "tsv"):
            self.file.write(self._text(part).encode(errors="backslashreplace"))
        elif self.form == "jsonl":
            self.file.write("".join(f"{record}\n" for record in _records(part)).encode(errors="backslashreplace"))
        elif self.form in ("parquet", "arrow"):
            table = pa.Table.from_pandas(part, schema=self.schema, preserve_index=False)
            if self.arrow is None:
                self.schema = table.schema
                self.arrow = (parquet.ParquetWriter if self.form == "parquet" else ipc.new_file)(self.file, self.schema)
            self.arrow.write_table(table)
        else:
            self.parts.append(part)

    def _text(self, part: pd.DataFrame) -> str:
        texts = [name for name in part.columns if not pd.api.types.is_numeric_dtype(part[name].dtype)]
        returns = any("\r" in str(name) for name in part.columns) or any(
            part[name].astype(str).str.contains("\r", regex=False).any() for name in texts
        )
        quoting = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL  # csv leaves a bare \r without quotes
        header, self.has_header = not self.has_header, True
        separator = "," if self.form == "csv" else "\t"
        return str(part.to_csv(None, index=False, header=header, sep=separator, lineterminator="\n", quoting=quoting))

    def close(self) -> None:
        """Finish the file. Bytes are written at once, so that libraries do not hide the error of a full disk."""
        if self.arrow is not None:
            self.arrow.close()
        elif self.parts:
            table = pd.concat(self.parts, ignore_index=True)
            if self.form == "json":
                self.file.write(("[" + ",\n".join(_records(table)) + "]\n").encode(errors="backslashreplace"))
            elif self.form == "npy":
                self.file.write(_npy(table["cluster"].to_numpy()))
            elif self.form == "npz":
                with zipfile.ZipFile(buffer := BytesIO(), "w") as archive:  # np.savez takes no column named "file"
                    for name in table.columns:
                        archive.writestr(f"{escape_control(str(name))}.npy", _npy(table[name].to_numpy()))
                self.file.write(buffer.getvalue())
            else:
                self.file.write(_workbook(table))
        self.file.flush()


def _records(table: pd.DataFrame) -> list[str]:
    """Return the rows of a table as JSON; missing cells are null."""
    objects = table.astype(object).where(table.notna(), None)
    return [json.dumps(row, ensure_ascii=False, default=str) for row in objects.to_dict("records")]


def _npy(array: Any) -> bytes:
    """Return an array as the content of an NPY file."""
    np.save(buffer := BytesIO(), array.astype(str) if array.dtype.kind == "O" else array, allow_pickle=False)
    return buffer.getvalue()


def _workbook(table: pd.DataFrame) -> bytes:
    """Return a table as the content of an Excel workbook; no text in it is a formula."""

    def escape(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", lambda match: f"_x{ord(match[0]):04X}_", value)

    with pd.ExcelWriter(buffer := BytesIO(), engine="openpyxl") as book:
        table.astype(object).map(escape).rename(columns=escape).to_excel(book, index=False)
        for row in book.sheets["Sheet1"].iter_rows():
            for cell in row:
                cell.data_type = "s" if cell.data_type == "f" else cell.data_type  # a text that begins with =
    return buffer.getvalue()


@contextmanager
def open_writer(target: str, form: str) -> Iterator[TableWriter]:
    """Yield a :class:`TableWriter` to the standard output, or to a file that appears when it is complete."""
    with nullcontext(sys.stdout.buffer) if target == STANDARD else atomic_write(target) as file:
        writer = TableWriter(file, form)
        yield writer
        writer.close()


def write_table(target: str, table: pd.DataFrame, form: str) -> None:
    """Write a whole table."""
    with open_writer(target, form) as writer:
        writer.write(table)


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(facts, default=lambda value: value.tolist()), flush=True)


def label_frame(names: Any, id_name: str | None, labels: Any, **more: Any) -> pd.DataFrame:
    """Return labels beside the names of their rows."""
    added = {"cluster": labels, **more}
    (name,) = free_names([id_name or "row"], set(added))
    return pd.DataFrame({name: np.asarray(names), **added})


def labelled_table(table: Table, form: str, labels: Any, **scores: Any) -> pd.DataFrame:
    """Return the user's table with labels and scores added; dropped rows have none.

    The texts of a text table become numbers in a format with types if all of a column are plain numbers.
    """
    whole = table.whole
    assert whole is not None
    integers = "int64" if len(table.rows) == len(whole) else "Int64"
    added = {"cluster": pd.array(labels, dtype=integers), **scores}
    columns = {name: pd.Series(values).set_axis(table.rows).reindex(whole.index) for name, values in added.items()}
    if table.lines and form not in ("csv", "tsv") and len(whole):
        whole = whole.apply(_typed)
    kept = whole.set_axis(free_names(list(whole.columns), set(added)), axis=1)
    return pd.concat([kept, pd.DataFrame(columns)], axis=1)


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    for kind in (pa.int64(), pa.float64()):
        numbers = plain_numbers(pa.array(column), kind)
        if numbers is not None:
            return pd.Series(numbers, column.index, dtype=pd.ArrowDtype(kind))
    return column


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
