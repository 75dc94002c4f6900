"""Parquet, Arrow, NPY, NPZ and Excel, read block by block where the format allows it."""

import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.lib import format as npy_format
from pyarrow import ipc, parquet

from gitcluster.cli.text_tables import Block, TableError

ROWS = 1 << 16
"""Rows that are read at once."""
LEAST_SHEET, EMPTY = 100_000, 1000
"""A sheet of more cells than the first, with fewer than one in so many filled, is refused."""


class BinaryTable(NamedTuple):
    """A table that is open for reading; ``parts(columns)`` yields its rows as data frames."""

    names: list[str]
    rows: int | None
    """Number of rows, where it is known before they are read."""
    parts: Callable[[list[str], bool], Iterator[pd.DataFrame]]
    """Rows of some columns; whether they are to have exactly the types that they have in the file."""
    places: Callable[[int], int] | None = None

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Rows of the columns, all as they are."""
        start = 0
        for frame in self.parts(list(dict.fromkeys([*columns, *keep])), set(keep) >= set(columns)):
            done = (start + len(frame)) / max(1, self.rows) if self.rows else 0.0
            yield Block(frame, start, done, self.places)
            start += len(frame)


@contextmanager
def damage_named(name: str, form: str) -> Iterator[None]:
    """An error that names the file, whatever a library raises where it is damaged or of another kind."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{name} is not a whole {form}: {reason}") from None


def open_parquet(file: IO[bytes], name: str) -> BinaryTable:
    """A Parquet file; only the columns that are asked for are read."""
    with damage_named(name, "Parquet file"):
        opened = parquet.ParquetFile(file)
    return BinaryTable(
        list(opened.schema_arrow.names), opened.metadata.num_rows,
        lambda columns, exact: _frames(
            opened.iter_batches(batch_size=ROWS, columns=columns), name, "Parquet file", columns, exact
        ),
    )  # fmt: skip


def open_arrow(file: IO[bytes], name: str) -> BinaryTable:
    """An Arrow file (Feather is one), or a stream of record batches."""
    with damage_named(name, "Arrow file"):
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        table = (ipc.open_file if is_file else ipc.open_stream)(file).read_all()
        table.validate(full=True)  # a changed offset would make pyarrow read out of bounds
    return BinaryTable(
        list(table.schema.names), table.num_rows,
        lambda columns, exact: _frames(
            table.select(columns).to_batches(max_chunksize=ROWS), name, "Arrow file", columns, exact
        ),
    )  # fmt: skip


def _frames(batches: Any, name: str, form: str, columns: list[str], exact: bool) -> Iterator[pd.DataFrame]:
    options = {"types_mapper": pd.ArrowDtype, "ignore_metadata": True} if exact else {"ignore_metadata": True}
    with damage_named(name, form):
        yield from (batch.to_pandas(**options)[columns] for batch in batches)


def open_array(array: Any, name: str) -> BinaryTable:
    """A NumPy array of numbers; its columns are named x1, x2, ..."""
    if array.dtype.kind not in "fiub":
        raise TableError(f"{name} holds values of type {array.dtype}, not numbers. Save numbers.")
    table = array[:, None] if array.ndim == 1 else array
    if table.ndim != 2:
        raise TableError(f"{name} has {table.ndim} dimensions, a table has 2. Reshape it to (rows, columns).")
    names = [f"x{i + 1}" for i in range(table.shape[1])]

    def parts(columns: list[str], exact: bool) -> Iterator[pd.DataFrame]:
        for start in range(0, len(table), ROWS):
            frame = pd.DataFrame(np.asarray(table[start : start + ROWS]), columns=names, copy=False)
            yield frame if columns == names else frame[columns]

    return BinaryTable(names, len(table), parts)


def open_npy(file: IO[bytes], name: str, path: str | None) -> BinaryTable:
    """An array in a file, which stays in the file until its rows are read."""
    with damage_named(name, "NPY file of numbers"):
        array = np.load(file, allow_pickle=False) if path is None else np.load(path, mmap_mode="r", allow_pickle=False)
    return open_array(array, name)


def open_npz(file: IO[bytes], name: str, key: str | None, check: Any) -> BinaryTable:
    """One of the arrays in an NPZ file; ``check`` hears its shape before it is read."""
    with damage_named(name, "NPZ file of numbers"), zipfile.ZipFile(file) as archive:
        keys = [entry.removesuffix(".npy") for entry in archive.namelist()]
        chosen = key or (keys[0] if len(keys) == 1 else "X")
        if not keys:
            raise TableError(f"{name} holds no arrays.")
        if chosen not in keys:
            raise TableError(f"{name} holds the arrays {', '.join(keys)}. Tell which is the table: --key {keys[0]}")
        with archive.open(f"{chosen}.npy") as member:
            version = npy_format.read_magic(member)
            reader = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
            shape = reader(member)[0]
        check(*((*shape, 1)[:2] if shape else (1, 1)))
        with archive.open(f"{chosen}.npy") as member:
            array = npy_format.read_array(member, allow_pickle=False)
    return open_array(array, name)


def open_excel(file: IO[bytes], name: str, sheet: str | None, check: Any) -> BinaryTable:
    """The first sheet of a workbook, or the one named; ``check`` hears its shape before it grows."""
    with damage_named(name, "Excel workbook"):
        from openpyxl import load_workbook

        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        pages = {page.title: page for page in book.worksheets}
        chosen = sheet or next(iter(pages))
        if sheet is None and len(pages) > 1:
            others = ", ".join(map(repr, list(pages)[1:6]))
            warnings.warn(f"{name}: the sheet {chosen!r} is read. There are also {others} (--sheet).", stacklevel=2)
        if chosen not in pages:
            raise TableError(f"{name} has no sheet {chosen!r}, it has {', '.join(map(repr, pages))}. Use --sheet.")
        rows, width = _read_sheet(pages[chosen], name, check)
    head, *rows = rows or [[]]
    columns = [[row[i] if i < len(row) else "" for row in rows] for i in range(width)]
    names = [str(cell).strip() or f"Unnamed: {i}" for i, cell in enumerate(head + [""] * (width - len(head)))]
    table = dict(enumerate(pd.Series(cells, dtype=object) for cells in columns))
    frame = pd.DataFrame(table, index=range(len(rows))).set_axis(names, axis="columns")
    return BinaryTable(names, len(rows), lambda wanted, _: iter([frame[wanted]]), lambda row: row + 2)


def _read_sheet(page: Any, name: str, check: Any) -> tuple[list[list[Any]], int]:
    """The cells of a sheet, row by row, and the number of columns; what is empty at the end of a row, or below, is not
    there."""
    page.reset_dimensions()  # what a file says of its size may be wrong
    rows: list[list[Any]] = []
    width, n_filled, corner = 0, 0, ""

    def refuse_if_empty(n_rows: int) -> None:
        if n_rows * width > max(LEAST_SHEET, EMPTY * n_filled):
            raise TableError(
                f"{name}: the cell {corner} is far from the others, and nearly all of {n_rows:,} rows and {width:,} "
                "columns are empty. Delete the cell."
            )
        check(n_rows * 10, width)  # cells are Python objects while they are read

    for number, cells in enumerate(page.iter_rows(), 1):
        row = [_cell(cell) for cell in cells]
        while row and isinstance(row[-1], str) and row[-1] == "":
            row.pop()
        if not row:
            continue
        n_filled += sum(not isinstance(cell, str) or cell != "" for cell in row)
        if len(row) > width or number > len(rows) + 1:
            width, corner = max(width, len(row)), cells[len(row) - 1].coordinate
            refuse_if_empty(number)
        rows += [[] for _ in range(number - len(rows) - 1)]
        rows.append(row)
        if number % ROWS == 0:
            check(number * 10, width)
    refuse_if_empty(len(rows))
    return rows, width


def _cell(cell: Any) -> Any:
    """The value of a cell, as Excel shows it: whole numbers are not floats, an error is missing."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        return np.nan
    return int(value) if isinstance(value, float) and value.is_integer() else value
