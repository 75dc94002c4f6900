"""Write tables of labels to files or the standard output, never half of them."""

import csv
import os
import re
import sys
import warnings
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
from gitcluster.cli.tables import STANDARD, TEXT, plain_numbers

TEXTS, TABLES = (".csv", ".txt", ".tsv", ".tab", ""), (".parquet", ".pq", ".arrow", ".feather", ".npy", ".xlsx")
"""Suffixes of text tables and of tables with types."""
NOT_IN_EXCEL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def check_targets(
    output: str | None, sources: Iterable[str | None], suffixes: tuple[str, ...], *, save: str | None = None
) -> None:
    """Raise before any work is done if a target of ``-o`` or ``--save`` cannot be written, or is read as well."""
    used = {os.path.realpath(source) for source in sources if source}
    for option, target, allowed in (("-o", output, suffixes), ("--save", save, (".npz",))):
        if target is None or target == STANDARD:
            continue
        path = os.path.realpath(target)
        folder = os.path.dirname(path)
        if os.path.isdir(path):
            raise IsADirectoryError(f"{option} {target} is a folder. Name a file in it.")
        if Path(target).suffix.lower() not in allowed:
            raise click.BadParameter(
                f"must end in {', '.join(filter(None, allowed))}, got {target!r}.", param_hint=option
            )
        if path in used:
            raise ValueError(f"{option} {target} would overwrite a file that the command uses as well.")
        if not is_stream(target) and not os.access(folder, os.W_OK):
            why = "no permission to write in" if os.path.isdir(folder) else "there is no"
            raise OSError(f"{option} {target} cannot be written: {why} folder {folder}.")
        used.add(path)


def write_table(target: str, table: pd.DataFrame) -> None:
    """Write a table to the standard output, or to a file that appears when it is complete."""
    suffix = "" if target == STANDARD else Path(target).suffix.lower()
    with nullcontext(sys.stdout.buffer) if target == STANDARD else atomic_write(target) as file:
        if suffix in TEXTS:
            settings: dict[str, Any] = {"index": False, "sep": "\t" if suffix in (".tsv", ".tab") else ","}
            text = table.to_csv(**settings, lineterminator="\n")
            if "\r" in text:  # which csv leaves without quotes
                text = table.to_csv(**settings, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            file.write(text.encode(errors="backslashreplace"))
        else:
            _encode(table.apply(_typed), suffix, buffer := BytesIO())
            file.write(buffer.getvalue())  # at once, because libraries may hide the error of a full disk
        file.flush()


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of a text table as numbers, if all of its cells are plain numbers."""
    numbers = plain_numbers(pa.array(column)) if column.dtype == TEXT else None
    return column if numbers is None else pd.Series(numbers, column.index, dtype=pd.ArrowDtype(numbers.type))


def _encode(table: pd.DataFrame, suffix: str, file: IO[bytes]) -> None:
    """Write a table in a format with types."""
    if suffix == ".npy":
        np.save(file, table["cluster"].to_numpy())
    elif suffix != ".xlsx":
        write = parquet.write_table if suffix in (".parquet", ".pq") else feather.write_feather
        write(pa.Table.from_pandas(table, preserve_index=False), file)
    else:

        def for_excel(cell: Any) -> Any:
            return NOT_IN_EXCEL.sub(lambda c: f"_x{ord(c[0]):04X}_", cell) if isinstance(cell, str) else cell

        with pd.ExcelWriter(file, engine="openpyxl") as book:
            table.astype(object).map(for_excel).rename(columns=for_excel).to_excel(book, index=False)
            for row in book.sheets["Sheet1"].iter_rows():
                for cell in row:
                    cell.data_type = "s" if cell.data_type == "f" else cell.data_type  # a text that begins with =


def add_columns(table: pd.DataFrame, added: dict[str, Any]) -> pd.DataFrame:
    """Return a table with more columns; one with the name of an added column is renamed, with a warning."""
    for name in added:
        other = name
        while other in table or (other != name and other in added):
            other += "_in_table"
        if other != name:
            warnings.warn(f"The column {name!r} of the table is written as {other!r}.", stacklevel=2)
            table = table.rename(columns={name: other})
    return table.assign(**added)
