"""Write tables of labels to files or the standard output, in every format, never half of them."""

import csv
import json
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterable
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import click
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

from gitcluster._support.files import atomic_write, is_stream
from gitcluster._support.names import escape_control
from gitcluster.cli.inputs import plain_numbers
from gitcluster.cli.tables import FORMATS, STANDARD, TEXT
from gitcluster.cli.terminal import check_standard_output


def check_targets(
    output: str | None, sources: list[str | None], *, save: str | None = None, suffixes: Iterable[str] = ("", *FORMATS)
) -> None:
    """Raise before any work is done if a target of ``-o`` or ``--save`` cannot be written, or is a file that is read.

    ``suffixes`` are those that ``-o`` may have; by default it is a table.
    """
    if output == STANDARD:
        check_standard_output()
    elif output is not None and Path(output).suffix.lower() not in suffixes:
        raise click.BadParameter(f"must end in {', '.join(filter(None, suffixes))}, got {output!r}.", param_hint="-o")
    used = {os.path.realpath(source): source for source in sources if source and os.path.isfile(source)}
    for option, target in (("-o", output), ("--save", save)):
        if target is None or target == STANDARD:
            continue
        path = os.path.realpath(target)
        if os.path.isdir(path):
            raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
        if not is_stream(target):
            if path in used:
                raise ValueError(f"{option} {target} would overwrite {used[path]}, which the command uses as well.")
            if not os.access(folder := os.path.dirname(path), os.W_OK):
                why = "no permission to write in" if os.path.isdir(folder) else "there is no"
                raise OSError(f"{option} {target} cannot be written: {why} folder {folder}.")
            used[path] = f"the file of {option}"


def write_table(target: str, parts: Iterable[pd.DataFrame]) -> None:
    """Write a table that comes in parts to the standard output, or to a file that appears when it is complete.

    CSV and TSV files grow with every part. Other formats are written at the end, because the types of their columns
    depend on all cells: cells of text tables that are plain numbers become numbers.
    """
    form = "csv" if target == STANDARD else FORMATS.get(Path(target).suffix.lower(), "csv")
    with nullcontext(sys.stdout.buffer) if target == STANDARD else atomic_write(target) as file:
        if form in ("csv", "tsv"):
            for i, part in enumerate(parts):
                settings = {"index": False, "header": i == 0, "sep": "," if form == "csv" else "\t"}
                text = part.to_csv(**settings, lineterminator="\n")
                if "\r" in text:  # which csv leaves without quotes
                    text = part.to_csv(**settings, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
                file.write(text.encode(errors="backslashreplace"))
        else:
            table = pd.concat(parts, ignore_index=True)
            table = table.apply(lambda column: _typed(column) if column.dtype == TEXT else column)
            _encode(table, form, buffer := BytesIO())
            file.write(buffer.getvalue())  # at once, because libraries may hide the error of a full disk
        file.flush()


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of texts as numbers, if all of them are plain numbers."""
    for kind in (pa.int64(), pa.float64()):
        numbers = plain_numbers(pa.array(column), kind)
        if numbers is not None:
            return pd.Series(numbers, column.index, dtype=pd.ArrowDtype(kind))
    return column


def _encode(table: pd.DataFrame, form: str, file: IO[bytes]) -> None:
    """Write a whole table in a binary format or as JSON."""

    def npy(array: Any) -> bytes:
        np.save(buffer := BytesIO(), array.astype(str) if array.dtype.kind == "O" else array, allow_pickle=False)
        return buffer.getvalue()

    def for_excel(cell: Any) -> Any:
        codes = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]"  # which workbooks cannot have
        return re.sub(codes, lambda match: f"_x{ord(match[0]):04X}_", cell) if isinstance(cell, str) else cell

    if form in ("json", "jsonl"):
        objects = table.astype(object).where(table.notna(), None).to_dict("records")
        records = [json.dumps(record, ensure_ascii=False, default=str) for record in objects]
        text = "\n".join(records) if form == "jsonl" else "[" + ",\n".join(records) + "]"
        file.write(f"{text}\n".encode(errors="backslashreplace"))
    elif form in ("parquet", "arrow"):
        write = parquet.write_table if form == "parquet" else feather.write_feather
        write(pa.Table.from_pandas(table, preserve_index=False), file)
    elif form == "npy":
        file.write(npy(table["cluster"].to_numpy()))
    elif form == "npz":
        with zipfile.ZipFile(file, "w") as archive:  # np.savez takes no column named "file"
            for name in table.columns:
                archive.writestr(f"{escape_control(str(name))}.npy", npy(table[name].to_numpy()))
    else:
        with pd.ExcelWriter(file, engine="openpyxl") as book:
            table.astype(object).map(for_excel).rename(columns=for_excel).to_excel(book, index=False)
            for row in book.sheets["Sheet1"].iter_rows():
                for cell in row:
                    cell.data_type = "s" if cell.data_type == "f" else cell.data_type  # a text that begins with =


def add_labels(table: pd.DataFrame, rows: Any, labels: Any, **scores: Any) -> pd.DataFrame:
    """Return a table with the labels and scores of some of its rows added; the others have none.

    A column with the name of an added one is renamed, with a warning.
    """
    kind = "int64" if len(rows) == len(table) else "Int64"
    added = pd.DataFrame({"cluster": pd.array(labels, dtype=kind), **scores}, index=rows).reindex(table.index)
    names = list(table.columns)
    for i, name in enumerate(table.columns):
        while names[i] in added or (names[i] != name and names.count(names[i]) > 1):
            names[i] += "_in_table"
        if names[i] != name:
            warnings.warn(f"The column {name!r} of the table is written as {names[i]!r}.", stacklevel=2)
    return pd.concat([table.set_axis(names, axis=1), added], axis=1)
