"""Tables of numbers from files and streams: which format, which columns, which rows; nothing here knows of GIT.

A table is read in blocks. ``read_table`` puts them together; ``iterate_table`` hands them on one at a time, for files
larger than memory. Cells that are not numbers are errors that name the column, the place and the remedy.
"""

import difflib
import io
import stat
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import date, time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gitcluster.cli.binary_tables import BinaryTable, open_arrow, open_excel, open_npy, open_npz, open_parquet
from gitcluster.cli.streams import check_open
from gitcluster.cli.text_tables import MISSING, Block, TableError, TextStyle, TextTable
from gitcluster.cli.writing import FORMATS, STANDARD

MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "zip",
}
Check = Callable[[int, int], None]
Advance = Callable[[float], None]


class ColumnOptions(NamedTuple):
    """What to take from a table: columns by name or pattern, the column of ids, what to do with missing values."""

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    id: str | None = None
    missing: str = "error"
    form: str | None = None
    key: str | None = None
    sheet: str | None = None
    style: TextStyle = TextStyle()


class Table(NamedTuple):
    """Rows of numbers: the names of the columns, the numbers of the rows (from 0) and their ids, if any."""

    values: NDArray[Any]
    names: list[str]
    rows: NDArray[np.int64]
    ids: pd.Series | None
    dropped: int = 0
    """Rows that were left out because of missing values."""
    lines: int = 0
    """Lines of a text table that were read, with the header; 0 in other formats."""
    empty: int = 0
    """Lines among them that are empty."""

    def frame(self) -> pd.DataFrame:
        """The values with the names of their columns."""
        return pd.DataFrame(self.values, columns=self.names, copy=False)

    def row_names(self) -> "pd.Series[Any]":
        """What names the rows in the output: the ids, else the row numbers."""
        return self.ids if self.ids is not None else pd.Series(self.rows)


def read_table(
    path: str, chosen: ColumnOptions, *, check: Check, advance: Advance, names: list[str] | None = None
) -> Table:
    """Read a whole table. ``check`` hears rows and columns before memory is taken; ``names`` asks for these columns."""
    parts = list(iterate_table(path, chosen, check=check, advance=advance, names=names))
    ids = None if parts[0].ids is None else pd.concat([part.ids for part in parts], ignore_index=True)
    table = Table(
        np.concatenate([part.values for part in parts]), parts[0].names,
        np.concatenate([part.rows for part in parts]), ids, sum(part.dropped for part in parts),
        sum(part.lines for part in parts), sum(part.empty for part in parts),
    )  # fmt: skip
    if chosen.missing in ("mean", "median"):
        table = fill_missing(table, column_centres(table, chosen.missing))
    return table


def iterate_table(
    path: str, chosen: ColumnOptions, *, check: Check | None, advance: Advance, names: list[str] | None = None
) -> Iterator[Table]:
    """Read a table block by block; ``check`` hears of all rows together, None where they need not be in memory."""
    with open_stream(path) as stream:
        opened = open_table(stream, path, chosen, check or (lambda rows, columns: None))
        keep = [chosen.id] if chosen.id else []
        if len(set(opened.names)) < len(opened.names):
            twice = sorted(name for name, count in Counter(opened.names).items() if count > 1)
            raise TableError(f"{_shown(path)} has columns of the same name: {_listed(twice)}. Rename one of each.")
        wanted = choose_columns(opened.names, chosen, path) if names is None else find_names(opened.names, names, path)
        find_names(opened.names, keep, path, option="--id")
        if check and opened.rows is not None:
            check(opened.rows, len(wanted))
        total = 0
        decimal = getattr(opened, "decimal", chosen.style.decimal or ".")
        for block in opened.blocks(wanted, keep):
            table = _numbers(block, wanted, chosen, path, decimal)._replace(lines=block.lines, empty=block.empty)
            total += len(block.frame)
            if check:
                check(total, len(wanted))  # the size of a stream is known only when it ends
            advance(block.done)
            yield table
        if total == 0:
            raise TableError(f"{_shown(path)} has a header but no rows.")


def open_stream(path: str) -> Any:
    """The bytes of a file, or of the standard input, in a ``with`` block."""
    if path == STANDARD:
        check_open("stdin")
    return nullcontext(sys.stdin.buffer) if path == STANDARD else Path(path).open("rb")


def open_table(stream: Any, path: str, chosen: ColumnOptions, check: Check) -> TextTable | BinaryTable:
    """The table in a file or stream, in the format of its first bytes."""
    regular = path != STANDARD and stat.S_ISREG(Path(path).stat().st_mode)
    name, head = _shown(path), stream.peek(8)[:8]
    found = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "text")
    expected = chosen.form or FORMATS.get(Path(path).suffix.lower(), "csv")
    if found == "text" and expected not in ("csv", "tsv"):
        reason = f"it begins with {head!r}." if head else "it is empty."
        raise TableError(f"{name} is not a whole {expected.upper()} file: {reason}")
    if found == "text":
        style = chosen.style
        if expected == "tsv" and style.separator is None:
            style = style._replace(separator="\t")
        return TextTable(stream, name, Path(path).stat().st_size if regular else None, style)
    file = stream if regular else io.BytesIO(stream.read())
    if found == "zip":
        return (
            open_excel(file, name, chosen.sheet, check) if _is_excel(file) else open_npz(file, name, chosen.key, check)
        )
    if found == "npy":
        return open_npy(file, name, path if regular else None)
    return open_parquet(file, name) if found == "parquet" else open_arrow(file, name)


def _is_excel(file: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False
    finally:
        file.seek(0)


def choose_columns(names: list[str], chosen: ColumnOptions, path: str) -> list[str]:
    """The columns to cluster by: those that match, without those that are left out and the ids."""
    wanted = match_names(names, chosen.columns, "--columns") if chosen.columns else list(names)
    left_out = set(match_names(names, chosen.exclude, "--exclude")) | {chosen.id}
    kept = [name for name in wanted if name not in left_out]
    if not kept:
        raise TableError(f"{_shown(path)}: no column is left to cluster by. It has {_listed(names)}.")
    return kept


def match_names(names: list[str], patterns: tuple[str, ...], option: str) -> list[str]:
    """Names that match any of the patterns, in the order of the patterns; commas separate patterns.

    Examples
    --------
    >>> match_names(["age", "income_1", "income_2"], ("income_*,age",), "--columns")
    ['income_1', 'income_2', 'age']
    """
    there = set(names)
    found: dict[str, None] = {}
    for pattern in patterns:
        for part in [pattern] if pattern in there else [piece.strip() for piece in pattern.split(",")]:
            matched = [part] if part in there else [name for name in names if fnmatchcase(name, part)]
            if not matched:
                raise TableError(f"{option} {part}: {_unknown(part, names)}")
            found.update(dict.fromkeys(matched))
    return list(found)


def find_names(names: list[str], wanted: list[str], path: str, option: str = "") -> list[str]:
    """``wanted``, all of which must be there."""
    there = set(names)
    for name in wanted:
        if name not in there:
            subject = f"{option} {name}" if option else f"The model was fitted with the column {name!r}"
            raise TableError(f"{subject}: {_shown(path)} has {_unknown(name, names)}")
    return wanted


def column_centres(table: Table, how: str) -> NDArray[np.float64]:
    """Mean or median of every column over the cells that are there."""
    empty = np.isnan(table.values).all(axis=0)
    if empty.any():
        names = [name for name, none in zip(table.names, empty, strict=True) if none]
        raise TableError(f"No value at all in {_listed(names)}: --missing {how} has none to take. Use --exclude.")
    return np.asarray((np.nanmean if how == "mean" else np.nanmedian)(table.values, axis=0), dtype=np.float64)


def fill_missing(table: Table, centres: NDArray[np.float64]) -> Table:
    """The table with the given value of each column where one is missing."""
    values = np.where(np.isnan(table.values), centres.astype(table.values.dtype), table.values)
    return table._replace(values=values)


def _numbers(block: Block, columns: list[str], chosen: ColumnOptions, path: str, decimal: str) -> Table:
    """A block as an array; raises for texts, dates, infinite values, and missing ones that are not allowed."""
    values = _values(block, columns, chosen, path, decimal)
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        raise TableError(
            f"{_shown(path)}, {block.place(row)}: the value of {columns[column]!r} is infinite. Correct it, "
            "or leave the column out with --exclude."
        )
    gaps = np.isnan(values)
    if gaps.any() and chosen.missing == "error":
        row, column = np.argwhere(gaps)[0]
        counts = {name: int(n) for name, n in zip(columns, gaps.sum(axis=0), strict=True) if n}
        raise TableError(
            f"{_shown(path)} has missing values ({', '.join(f'{name}: {n}' for name, n in list(counts.items())[:5])}"
            f"{', ...' if len(counts) > 5 else ''}), the first in {block.place(row)}, column {columns[column]!r}. "
            "Use --missing mean, --missing median, --missing drop, or leave columns out with --exclude."
        )
    rows = block.start + np.arange(len(values))
    ids = block.frame[chosen.id].reset_index(drop=True) if chosen.id else None
    if chosen.missing == "drop" and gaps.any():
        kept = ~gaps.any(axis=1)
        ids = None if ids is None else ids[kept].reset_index(drop=True)
        return Table(values[kept], columns, rows[kept], ids, int((~kept).sum()))
    return Table(values, columns, rows, ids)


def _values(block: Block, columns: list[str], chosen: ColumnOptions, path: str, decimal: str) -> NDArray[Any]:
    """The cells of a block as floats, NaN where they are missing; raises for what is not a number."""
    frame = block.frame[columns]
    kinds = set(frame.dtypes)
    if all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in kinds):
        return np.asarray(frame.to_numpy(dtype=np.float32 if kinds == {np.dtype(np.float32)} else np.float64))
    missing = frozenset((*MISSING, *chosen.style.missing))
    found = [as_numbers(column, decimal, missing) for _, column in frame.items()]
    texts = {name: bad for name, (_, bad) in zip(columns, found, strict=True) if bad is not None}
    if texts:
        raise TableError(f"{_shown(path)}: " + _texts_remedy(texts, block))
    return np.column_stack([numbers for numbers, _ in found]).astype(np.float64, copy=False)


class NotNumbers(NamedTuple):
    """What a column holds instead of numbers, with one example and how many there are."""

    kind: str
    example: str
    row: int
    share: float


def as_numbers(
    column: "pd.Series[Any]", decimal: str, missing: frozenset[str] = frozenset(MISSING)
) -> tuple[Any, NotNumbers | None]:
    """A column as floats, missing ones NaN; texts that read as numbers are numbers, those in ``missing`` are gaps."""
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        if column.dtype.kind == "c":
            return None, NotNumbers("complex numbers", str(column.iloc[0]), 0, 1.0)
        return column.to_numpy(dtype=np.float32 if column.dtype == np.float32 else np.float64, na_value=np.nan), None
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        return None, NotNumbers("dates", str(column.dropna().iloc[0]), int(column.notna().argmax()), 1.0)
    objects = column.astype(object)
    given = objects.notna().to_numpy(copy=True)
    texts = objects.map(lambda cell: cell.strip().replace(decimal, ".") if isinstance(cell, str) else cell)
    given &= ~texts.isin(missing).to_numpy() & ~objects.isin(missing).to_numpy()
    numbers = pd.to_numeric(texts.where(given, None), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = given & np.isnan(numbers)
    if bad.any():
        row = int(bad.argmax())
        cell = objects.iloc[row]
        kind = "text" if isinstance(cell, str) else "dates" if isinstance(cell, date | time) else type(cell).__name__
        return None, NotNumbers(kind, str(cell), row, bad.sum() / given.sum())
    return numbers, None


def _texts_remedy(texts: dict[str, NotNumbers], block: Block) -> str:
    """One sentence for columns of texts, another for single cells that are not numbers."""
    name, first = next(iter(texts.items()))
    if len(texts) == 1 and first.kind == "text" and first.share < 0.5:
        return (
            f"{block.place(first.row)}: {first.example!r} in the column {name!r} is not a number. Correct it, tell "
            f"that it means a missing value (--na {first.example!r}), or leave the column out (--exclude {name!r})."
        )
    shown = ", ".join(f"{name} ({bad.kind}, {bad.example[:30]!r})" for name, bad in list(texts.items())[:8])
    return (
        f"{block.place(first.row)}: {len(texts)} column{'s' if len(texts) > 1 else ''} without numbers: {shown}. "
        "GIT measures distances between numbers. "
        f"Leave them out (--exclude '{','.join(texts)}'), keep one as the id (--id {name!r}), or encode "
        "them, such as one column of 0 and 1 for every value."
    )


def _shown(path: str) -> str:
    return "standard input" if path == STANDARD else path


def _unknown(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1)  # of very many names, comparing all takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {_listed(names)}.")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
