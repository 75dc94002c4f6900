"""Parquet, Arrow, NPY, NPZ and Excel, read block by block where the format allows it."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.lib import format as npy_format
from pyarrow import ipc, parquet

from gitcluster.cli.text_tables import Block, TableError

ROWS = 1 << 16


@dataclass
class ArrowTable:
    """A Parquet or Arrow file; ``batches(columns)`` yields its record batches."""

    names: list[str]
    rows: int
    batches: Any

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Rows of the columns, all as they are."""
        start = 0
        for batch in self.batches([*columns, *keep]):
            yield Block(batch.to_pandas(), start, (start + batch.num_rows) / max(1, self.rows))
            start += batch.num_rows


def open_parquet(file: IO[bytes], name: str) -> ArrowTable:
    """A Parquet file; only the columns that are asked for are read."""
    try:
        found = parquet.ParquetFile(file)
    except pa.ArrowException as error:
        raise TableError(f"{name} is not a whole Parquet file: {_reason(error)}") from None

    def batches(columns: list[str]) -> Iterator[Any]:
        try:
            yield from found.iter_batches(batch_size=ROWS, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"{name} is damaged: {_reason(error)}") from None

    return ArrowTable(list(found.schema_arrow.names), found.metadata.num_rows, batches)


def open_arrow(file: IO[bytes], name: str) -> ArrowTable:
    """An Arrow file (Feather is one), or a stream of record batches."""
    try:
        if file.read(6) == b"ARROW1":
            file.seek(0)
            opened = ipc.open_file(file)
            parts = [opened.get_batch(i) for i in range(opened.num_record_batches)]
        else:
            file.seek(0)
            parts = list(opened := ipc.open_stream(file))
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"{name} is not a whole Arrow file: {_reason(error)}") from None
    rows = sum(part.num_rows for part in parts)
    return ArrowTable(list(opened.schema.names), rows, lambda columns: (part.select(columns) for part in parts))


@dataclass
class ArrayTable:
    """A NumPy array of numbers; its columns are named x1, x2, ..."""

    array: Any
    name: str

    def __post_init__(self) -> None:
        if self.array.dtype.kind not in "fiub":
            raise TableError(f"{self.name} holds values of type {self.array.dtype}, not numbers. Save numbers.")
        if self.array.ndim == 1:
            self.array = self.array[:, None]
        if self.array.ndim != 2:
            raise TableError(
                f"{self.name} has {self.array.ndim} dimensions, a table has 2. Reshape it to (rows, columns)."
            )
        self.names = [f"x{i + 1}" for i in range(self.array.shape[1])]
        self.rows = len(self.array)

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Rows of the columns."""
        wanted = [*columns, *keep]
        places = [self.names.index(name) for name in wanted]
        every = places == list(range(len(self.names)))
        for start in range(0, self.rows, ROWS):
            part = np.asarray(self.array[start : start + ROWS])
            frame = pd.DataFrame(part if every else part[:, places], columns=wanted)
            yield Block(frame, start, min(1.0, (start + ROWS) / self.rows))


def open_npy(file: IO[bytes], name: str, path: str | None) -> ArrayTable:
    """An array in a file, which stays in the file until its rows are read."""
    try:
        if path is not None:
            return ArrayTable(np.load(path, mmap_mode="r", allow_pickle=False), name)
        return ArrayTable(np.load(file, allow_pickle=False), name)
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{name} is not a whole NPY file of numbers: {_reason(error)}") from None


def open_npz(file: IO[bytes], name: str, key: str | None, check: Any) -> ArrayTable:
    """One of the arrays in an NPZ file; ``check`` hears its shape before it is read."""
    try:
        with zipfile.ZipFile(file) as archive:
            keys = [entry.removesuffix(".npy") for entry in archive.namelist()]
            chosen = key or (keys[0] if len(keys) == 1 else "X")
            if chosen not in keys:
                raise TableError(
                    f"{name} holds the arrays {', '.join(keys)}. Say which one is the table: --key {keys[0]}"
                    if keys
                    else f"{name} holds no arrays."
                )
            with archive.open(f"{chosen}.npy") as member:
                version = npy_format.read_magic(member)
                reader = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
                shape = reader(member)[0]
            check(*((*shape, 1)[:2] if shape else (1, 1)))
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return ArrayTable(arrays[chosen], name)
    except TableError:
        raise
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise TableError(f"{name} is not a whole NPZ file of numbers: {_reason(error)}") from None


@dataclass
class ExcelTable:
    """A sheet of an Excel workbook, read as a whole."""

    frame: pd.DataFrame

    def __post_init__(self) -> None:
        self.frame.columns = [str(name).strip() for name in self.frame.columns]
        self.names = list(self.frame.columns)
        self.rows = len(self.frame)

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """All rows at once."""
        yield Block(self.frame[[*columns, *keep]], 0, 1.0, lambda row: row + 2)


def open_excel(file: IO[bytes], name: str, sheet: str | None, check: Any) -> ExcelTable:
    """The first sheet of a workbook, or the one named; ``check`` hears its shape before it is read."""
    import openpyxl

    try:
        book = openpyxl.load_workbook(file, read_only=True)
        names = list(book.sheetnames)
        chosen = sheet or names[0]
        if chosen not in names:
            raise TableError(f"{name} has no sheet {chosen!r}, it has {', '.join(map(repr, names))}. Use --sheet.")
        pages = book[chosen]
        check((pages.max_row or 1) * 10, pages.max_column or 1)  # cells are Python objects while they are read
        book.close()
        file.seek(0)
        return ExcelTable(pd.read_excel(file, sheet_name=chosen, engine="openpyxl", dtype=object))
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise TableError(f"{name} is not a whole Excel workbook: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
