"""Blocks of a file as tables: columns of numbers, texts and dates, and errors for single cells that are something else.

The first block decides which columns hold numbers and which hold texts. A cell of a column of numbers that is none is
an error that names the column, the place and the remedy.
"""

from datetime import date, time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gitcluster.cli.choosing import ColumnOptions
from gitcluster.cli.numbers import map_cells, read_numbers
from gitcluster.cli.text_tables import MISSING, Block, TableError


class Table(NamedTuple):
    """Rows to cluster: numbers and texts by column, the numbers of the rows (from 0) and their ids, if any."""

    data: pd.DataFrame
    """The columns to cluster by: floats, texts (None where one is missing), dates."""
    rows: NDArray[np.int64]
    ids: "pd.Series[Any] | None" = None
    dropped: int = 0
    """Rows that were left out because of missing values."""
    lines: int = 0
    """Lines of a text table that were read, with the header; 0 in other formats."""
    empty: int = 0
    """Lines among them that are empty."""
    kinds: dict[str, Any] = {}  # noqa: RUF012
    """Kinds of columns that were asked for."""
    weights: dict[str, float] = {}  # noqa: RUF012
    truth: "pd.Series[Any] | None" = None
    whole: pd.DataFrame | None = None
    """All rows and columns as they came, where they are wanted."""
    filled: dict[str, int] = {}  # noqa: RUF012
    """Missing numbers that were taken as the mean or median, by column."""
    start: int = 0
    """The number of the first row, whether it was left out or not."""
    id_name: str | None = None
    """The column of ids."""
    left_out: tuple[str, ...] = ()
    """Columns of the file that were not asked for."""

    @property
    def names(self) -> list[str]:
        """Names of the columns to cluster by."""
        return list(self.data.columns)

    @property
    def n_rows(self) -> int:
        """Rows to cluster."""
        return len(self.data)

    @property
    def values(self) -> NDArray[Any]:
        """The numbers, where all columns hold numbers."""
        return np.asarray(self.data.to_numpy())

    @property
    def numbers(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for name, kind in self.data.dtypes.items() if getattr(kind, "kind", "O") == "f"]

    def frame(self) -> pd.DataFrame:
        """The columns, with the ids as index where each is there once."""
        named = self.ids is not None and self.ids.is_unique
        index = self.ids.astype(str) if named and self.ids is not None else self.rows if self.dropped else None
        return self.data if index is None else self.data.set_axis(pd.Index(index), axis=0)

    def row_names(self) -> "pd.Series[Any]":
        """What names the rows in the output: the ids, else the row numbers."""
        return self.ids if self.ids is not None else pd.Series(self.rows)


class CellReader:
    """Turns blocks into tables; what the first block is holds for all."""

    def __init__(self, columns: list[str], chosen: ColumnOptions, name: str, opened: Any, texts: set[str]) -> None:
        self.columns, self.chosen, self.name, self.texts = columns, chosen, name, texts
        self.names = opened.names
        self.as_written = set(texts)
        self.decimal = getattr(opened, "decimal", chosen.style.decimal or ".")
        self.decimals: dict[str, str] = {}
        self.missing = frozenset((*MISSING, *chosen.style.missing))
        self.begun = False
        self.is_whole = False
        """Whether all blocks will be one table, whose columns may be left out."""

    def kept(self) -> list[str]:
        """Columns that are kept as they are: all, or those that name the rows."""
        if self.chosen.whole:
            return list(self.names)
        known = {self.chosen.id, self.chosen.truth, *self.as_written}
        return [name for name in self.names if name in known]

    def read(self, block: Block) -> Table:
        """A block as a table; raises for single texts, infinite values, and missing ones that are not allowed."""
        data = self._data(block)
        self.begun = True
        numbers = [name for name, kind in data.dtypes.items() if getattr(kind, "kind", "O") == "f"]
        values = data[numbers].to_numpy()
        if np.isinf(values).any():
            row, column = np.argwhere(np.isinf(values))[0]
            raise TableError(
                f"{self.name}, {block.place(row)}: the value of {numbers[column]!r} is infinite. Correct it, "
                "or leave the column out with --exclude."
            )
        gaps = np.isnan(values)
        if self.is_whole:  # a column without any value is left out once all blocks are read
            gaps[:, gaps.all(axis=0)] = False
        if gaps.any() and self.chosen.missing == "error":
            raise TableError(self._gaps_remedy(gaps, numbers, block))
        rows = block.start + np.arange(len(data))
        frame = block.frame.reset_index(drop=True)
        ids, truth = (frame[name] if name else None for name in (self.chosen.id, self.chosen.truth))
        table = Table(
            data, rows, ids, truth=truth, whole=frame[self.names] if self.chosen.whole else None, start=block.start,
            id_name=self.chosen.id,
        )  # fmt: skip
        if self.chosen.missing != "drop" or not gaps.any():
            return table
        kept = ~gaps.any(axis=1)
        ids, truth = (None if part is None else part[kept].reset_index(drop=True) for part in (ids, truth))
        return table._replace(
            data=data[kept].reset_index(drop=True), rows=rows[kept], ids=ids, truth=truth, dropped=int((~kept).sum())
        )

    def _data(self, block: Block) -> pd.DataFrame:
        """The cells of a block by column: floats, texts or dates."""
        frame = block.frame[self.columns]
        kinds = set(frame.dtypes)
        if all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in kinds) and not self.texts:
            single = kinds == {np.dtype(np.float32)}
            values = frame.to_numpy(dtype=np.float32 if single else np.float64)
            return pd.DataFrame(values, columns=self.columns, copy=False)
        found, wrong = {}, {}
        for name, column in frame.items():
            cells, bad = self._cells(str(name), column)
            if bad is not None:
                wrong[str(name)] = bad
            found[name] = cells
        if wrong:
            raise TableError(f"{self.name}, " + _texts_remedy(wrong, block))
        return pd.DataFrame(found, columns=self.columns, copy=False)

    def _cells(self, name: str, column: "pd.Series[Any]") -> tuple[Any, "NotNumbers | None"]:
        if name not in self.texts:
            fixed = name in self.decimals or self.chosen.style.decimal is not None
            numbers, bad, decimal = as_numbers(column, self.decimals.get(name, self.decimal), self.missing, fixed=fixed)
            if bad is None:
                if column.dtype.kind == "O" and np.isfinite(numbers).any():
                    self.decimals[name] = decimal
                return numbers, None
            if self.begun or (bad.kind == "text" and bad.share < 0.5):
                return None, bad
            self.texts.add(name)
        if pd.api.types.is_datetime64_any_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
            return column.reset_index(drop=True), None
        cells = column.astype(object).reset_index(drop=True)
        gone = cells.isna() | cells.isin(self.missing)
        return cells.where(~gone, None), None

    def _gaps_remedy(self, gaps: NDArray[np.bool_], numbers: list[str], block: Block) -> str:
        row, column = np.argwhere(gaps)[0]
        counts = {name: int(n) for name, n in zip(numbers, gaps.sum(axis=0), strict=True) if n}
        return (
            f"{self.name} has missing values ({', '.join(f'{name}: {n}' for name, n in list(counts.items())[:5])}"
            f"{', ...' if len(counts) > 5 else ''}), the first in {block.place(row)}, column {numbers[column]!r}. "
            "Use --missing mean, --missing median, --missing drop, or leave columns out with --exclude."
        )


class NotNumbers(NamedTuple):
    """What a column holds instead of numbers, with one example and how many there are."""

    kind: str
    example: str
    row: int
    share: float


def as_numbers(
    column: "pd.Series[Any]", decimal: str, missing: frozenset[str] = frozenset(MISSING), *, fixed: bool = True
) -> tuple[Any, NotNumbers | None, str]:
    """A column as floats, missing ones NaN, and its decimal mark; texts that read as numbers are numbers.

    Texts in ``missing`` are gaps. Unless it is ``fixed``, the other decimal mark is tried as well.
    """
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        if column.dtype.kind == "c":
            return None, NotNumbers("complex numbers", str(column.iloc[0]), 0, 1.0), decimal
        single = column.dtype == np.float32
        return column.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan), None, decimal
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        return None, NotNumbers("dates", str(column.iloc[0]), 0, 1.0), decimal
    objects = column.astype(object)
    given = objects.notna().to_numpy(copy=True)
    texts = map_cells(objects, lambda cell: cell.strip() if isinstance(cell, str) else cell)
    given &= ~texts.isin(missing).to_numpy() & ~objects.isin(missing).to_numpy()
    numbers, bad, used = read_numbers(texts, given, decimal, fixed=fixed)
    if bad.any():
        row = int(bad.argmax())
        cell = objects.iloc[row]
        kind = "text" if isinstance(cell, str) else "dates" if isinstance(cell, date | time) else type(cell).__name__
        return None, NotNumbers(kind, str(cell), row, bad.sum() / given.sum()), used
    return numbers, None, used


def _texts_remedy(texts: dict[str, NotNumbers], block: Block) -> str:
    """One sentence for the first cell that is not a number."""
    name, first = next(iter(texts.items()))
    also = f" (and in {len(texts) - 1} more columns)" if len(texts) > 1 else ""
    return (
        f"{block.place(first.row)}: {first.example[:60]!r} in the column {name!r} is not a number{also}. Correct it, "
        f"tell that it means a missing value (--na {first.example[:60]!r}), take the column as categories "
        f"(--categorical {name!r}), or leave it out (--exclude {name!r})."
    )
