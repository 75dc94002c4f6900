"""Tables from files and streams: which format, which columns, which rows; nothing here knows of GIT.

A table is read in blocks. ``read_table`` puts them together; ``iterate_table`` hands them on one at a time, for files
larger than memory. The first block decides which columns hold numbers and which hold texts; a cell of a column of
numbers that is none is an error that names the column, the place and the remedy.
"""

import difflib
import io
import re
import stat
import sys
import warnings
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

from gitcluster._support.optional import require
from gitcluster.cli.binary_tables import BinaryTable, open_arrow, open_excel, open_npy, open_npz, open_parquet
from gitcluster.cli.compression import COMPRESSED, open_zip, unpack
from gitcluster.cli.json_tables import is_json, open_json
from gitcluster.cli.numbers import read_numbers
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
FOREIGN = {
    b"%PDF": "a PDF file. Save its table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save it as .xlsx",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "an SQLite data base. Export its table as CSV",
    b"\x80\x04\x95": "a pickle, which could run code. Save it as Parquet or CSV",
}
"""First bytes of files that are no tables, and what to do about them."""
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
    categorical: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    """NAME=VALUE,VALUE,... in their order."""
    weight: tuple[str, ...] = ()
    """NAME=NUMBER."""
    truth: str | None = None
    """A column that is kept and not clustered by."""
    whole: bool = False
    """Whether the table is kept as it came, with all of its columns."""


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


def read_table(
    path: str,
    chosen: ColumnOptions,
    *,
    check: Check,
    advance: Advance,
    names: list[str] | None = None,
    texts: frozenset[str] = frozenset(),
) -> Table:
    """Read a whole table. ``check`` hears rows and columns before memory is taken; ``names`` asks for these columns."""
    parts = list(iterate_table(path, chosen, check=check, advance=advance, names=names, texts=texts))
    first = parts[0]

    def joined(values: list[Any]) -> Any:
        return None if values[0] is None else pd.concat(values, ignore_index=True)

    table = first._replace(
        data=joined([part.data for part in parts if len(part.data)] or [first.data]),
        rows=np.concatenate([part.rows for part in parts]), ids=joined([part.ids for part in parts]),
        truth=joined([part.truth for part in parts]), whole=joined([part.whole for part in parts]),
        dropped=sum(part.dropped for part in parts), lines=sum(part.lines for part in parts),
        empty=sum(part.empty for part in parts),
    )  # fmt: skip
    if chosen.missing in ("mean", "median"):
        table = leave_out_empty(table)
        table = fill_missing(table, column_centres(table, chosen.missing))
    return table


def iterate_table(
    path: str,
    chosen: ColumnOptions,
    *,
    check: Check | None,
    advance: Advance,
    names: list[str] | None = None,
    texts: frozenset[str] = frozenset(),
    maybe_id: str | None = None,
) -> Iterator[Table]:
    """Read a table block by block; ``check`` hears of all rows together, None where they need not be in memory.

    ``names`` asks for these columns, of which ``texts`` are read as they are written; ``maybe_id`` is the column of ids
    where it is there and no other is chosen.
    """
    with open_stream(path) as stream:
        opened = open_table(stream, path, chosen, check or (lambda rows, columns: None))
        if len(set(opened.names)) < len(opened.names):
            twice = sorted(name for name, count in Counter(opened.names).items() if count > 1)
            raise TableError(f"{_shown(path)} has columns of the same name: {_listed(twice)}. Rename one of each.")
        if chosen.id is None and maybe_id in opened.names:
            chosen = chosen._replace(id=maybe_id)
        find_names(opened.names, [chosen.id] if chosen.id else [], path, option="--id")
        find_names(opened.names, [chosen.truth] if chosen.truth else [], path, option="--truth")
        wanted = choose_columns(opened.names, chosen, path) if names is None else find_names(opened.names, names, path)
        kinds, weights = asked_kinds(wanted, chosen) if names is None else ({}, {})
        if check and opened.rows is not None:
            check(opened.rows, len(wanted))
        reader = CellReader(wanted, chosen, _shown(path), opened, {*texts, *_as_written(kinds)})
        total = 0
        for block in opened.blocks(wanted, reader.kept()):
            table = reader.read(block)._replace(
                lines=block.lines, empty=block.empty, kinds=kinds, weights=weights
            )  # fmt: skip
            total += len(block.frame)
            if check:
                check(total, len(wanted))  # the size of a stream is known only when it ends
            advance(block.done)
            yield table
        if total == 0:
            raise TableError(f"{_shown(path)} has a header but no rows.")


def asked_kinds(names: list[str], chosen: ColumnOptions) -> tuple[dict[str, Any], dict[str, float]]:
    """Kinds and weights of columns that were asked for by name or pattern."""
    kinds: dict[str, Any] = dict.fromkeys(match_names(names, chosen.categorical, "--categorical"), "categorical")
    kinds |= dict.fromkeys(match_names(names, chosen.log, "--log"), "log")
    for given in chosen.ordinal:
        pattern, _, values = given.partition("=")
        order = [value.strip() for value in values.split(",")] if values else "ordinal"
        kinds |= dict.fromkeys(match_names(names, (pattern,), "--ordinal"), order)
    weights: dict[str, float] = {}
    for given in chosen.weight:
        pattern, _, number = given.rpartition("=")
        weights |= dict.fromkeys(match_names(names, (pattern,), "--weight"), float(number))
    return kinds, weights


def _as_written(kinds: dict[str, Any]) -> list[str]:
    """Columns whose texts mean what they are: 01234 is not 1234."""
    return [name for name, kind in kinds.items() if kind not in ("log", "numeric")]


def open_stream(path: str) -> Any:
    """The bytes of a file, or of the standard input, in a ``with`` block."""
    if path == STANDARD:
        check_open("stdin")
    if is_remote(path):
        return open_remote(path)
    return nullcontext(sys.stdin.buffer) if path == STANDARD else Path(path).open("rb")


def is_remote(path: str) -> bool:
    """Whether a table is elsewhere, such as s3://bucket/table.csv."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path) is not None


def open_remote(path: str) -> io.BufferedReader:
    """The bytes of a table elsewhere, with fsspec."""
    fsspec = require("fsspec", extra="dask", purpose=f"{path.split(':')[0]}://")
    try:
        return io.BufferedReader(fsspec.open(path, "rb").open())
    except MemoryError:
        raise
    except Exception as error:  # every file system raises its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{path} cannot be opened: {reason}") from None


def open_table(stream: Any, path: str, chosen: ColumnOptions, check: Check) -> TextTable | BinaryTable:
    """The table in a file or stream, in the format of its first bytes, unpacked where it is compressed."""
    regular = path != STANDARD and not is_remote(path) and stat.S_ISREG(Path(path).stat().st_mode)
    name, head = _shown(path), stream.peek(8)[:8]
    packed = next((kind for magic, kind in COMPRESSED.items() if head.startswith(magic)), None)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if packed is not None:
        stream, regular = unpack(stream, packed, name), False
        head = stream.peek(8)[:8]
        suffixes = suffixes[:-1]
    check_foreign(stream, name)
    found = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "text")
    expected = chosen.form or FORMATS.get(suffixes[-1] if suffixes else "", "csv")
    if found == "zip":
        file = stream if regular else io.BytesIO(stream.read())
        if _is_excel(file):
            return open_excel(file, name, chosen.sheet, check)
        member = open_zip(file, name, chosen.key)
        if member is None:
            return open_npz(file, name, chosen.key, check)
        stream, regular, found = member, False, "text"
        head = stream.peek(8)[:8]
        expected = chosen.form or "csv"
    if found == "text" and (expected in ("json", "jsonl") or (expected == "csv" and is_json(stream))):
        return open_json(stream, name, head)
    if found == "text" and expected not in ("csv", "tsv"):
        reason = f"it begins with {head!r}." if head else "it is empty."
        raise TableError(f"{name} is not a whole {expected.upper()} file: {reason}")
    if found == "text":
        style = chosen.style
        if expected == "tsv" and style.separator is None:
            style = style._replace(separator="\t")
        return TextTable(stream, name, Path(path).stat().st_size if regular else None, style)
    file = stream if regular else io.BytesIO(stream.read())
    if found == "npy":
        return open_npy(file, name, path if regular else None)
    return open_parquet(file, name) if found == "parquet" else open_arrow(file, name)


def check_foreign(stream: Any, name: str) -> None:
    """Raise for files that are known not to be tables."""
    head = stream.peek(16)[:16]
    what = next((words for magic, words in FOREIGN.items() if head.startswith(magic)), None)
    if what is None and head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        what = "a web page. Perhaps the download needs a login"
    if what is not None:
        raise TableError(f"{name} is not a table but {what}.")


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
    left_out = set(match_names(names, chosen.exclude, "--exclude")) | {chosen.id, chosen.truth}
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


def leave_out_empty(table: Table) -> Table:
    """The table without columns that have no value at all, which are named."""
    empty = [name for name in table.names if table.data[name].isna().all()]
    if not empty:
        return table
    if len(empty) == len(table.names):
        raise TableError(f"No value at all in {_listed(empty)}: nothing is left to cluster by.")
    warnings.warn(f"No value at all in {_listed(empty)}: left out.", stacklevel=2)
    return table._replace(data=table.data.drop(columns=empty))


def column_centres(table: Table, how: str) -> dict[str, float]:
    """Mean or median of every column of numbers over the cells that are there."""
    numbers = table.data[table.numbers]
    centres = numbers.mean() if how == "mean" else numbers.median()
    return {str(name): float(value) for name, value in centres.items()}


def filled_words(table: Table) -> str:
    """How many missing numbers were filled, by column."""
    return f"Missing numbers that were filled: {', '.join(f'{name} {n:,}' for name, n in table.filled.items())}"


def fill_missing(table: Table, centres: dict[str, float]) -> Table:
    """The table with the given value of each column of numbers where one is missing."""
    there = {name: centres[name] for name in table.numbers if name in centres}
    gaps = table.data[list(there)].isna().sum()
    fill = {name: value for name, value in there.items() if gaps[name]}
    if not fill:
        return table
    return table._replace(data=table.data.fillna(fill), filled={name: int(gaps[name]) for name in fill})


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
    texts = objects.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
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


def _shown(path: str) -> str:
    return "standard input" if path == STANDARD else path


def _unknown(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1)  # of very many names, comparing all takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {_listed(names)}.")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
