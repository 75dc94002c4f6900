"""From a file to the rows to cluster: choose the columns, and apply the options about columns and cells."""

import difflib
from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gitcluster.cli.tables import STANDARD, TEXT, Options, TableError, join_names, open_stream, open_table
from gitcluster.preprocessing.values import CODE, MISSING, PLAIN, cell_text, is_missing, parse_number

Advance = Callable[[float], None]


class Table(NamedTuple):
    """Rows to cluster, with the number of each (from 0) and its id, if there is one."""

    data: pd.DataFrame
    """The columns to cluster by, as the library reads them."""
    rows: NDArray[np.int64]
    ids: "pd.Series[Any] | None" = None
    id_name: str | None = None
    whole: pd.DataFrame | None = None
    """With ``with_data``, all rows and columns of the file, also dropped rows; the index numbers them."""
    kinds: dict[str, Any] = {}  # noqa: RUF012
    weights: dict[str, float] = {}  # noqa: RUF012
    unread: tuple[str, ...] = ()
    """Columns of the file that are not read."""
    dropped: int = 0
    """Number of rows that were dropped because of missing numbers."""
    lines: int = 0
    """Lines of a text table, with the header; 0 in other formats."""
    empty: int = 0
    """Number of empty lines among them."""

    @property
    def row_names(self) -> "pd.Series[Any]":
        """Return the ids, or else the row numbers."""
        return self.ids if self.ids is not None else pd.Series(self.rows)

    def take(self, positions: NDArray[np.int64]) -> "Table":
        """Return some of the rows; the others count as dropped."""
        data = self.data.iloc[positions].reset_index(drop=True)
        ids = None if self.ids is None else self.ids.iloc[positions].reset_index(drop=True)
        dropped = self.dropped + len(self.data) - len(positions)
        return self._replace(data=data, rows=self.rows[positions], ids=ids, dropped=dropped)


def load_table(path: str, options: Options, *, texts: Container[str] | None = None, **reading: Any) -> Table:
    """Return a whole table; ``reading`` are parameters of :func:`iterate_table`."""
    parts = list(iterate_table(path, options, **reading))

    def join(values: list[Any]) -> Any:
        return values[0] if values[0] is None or len(values) == 1 else pd.concat(values, ignore_index=True)

    table = parts[0]._replace(
        **{field: join([getattr(part, field) for part in parts]) for field in ("data", "ids", "whole")},
        rows=np.concatenate([part.rows for part in parts]), lines=sum(part.lines for part in parts),
        empty=sum(part.empty for part in parts),
    )  # fmt: skip
    if texts is None:
        texts = [name for name, kind in table.kinds.items() if kind != "log"]
    return table._replace(data=read_cells(table.data, options, texts))


def iterate_table(
    path: str, options: Options, *, advance: Advance, check: Callable[[int, int], None] | None = None,
    names: list[str] | None = None, texts: Container[str] | None = None, maybe_id: str | None = None,
) -> Iterator[Table]:  # fmt: skip
    """Yield a table in blocks, for files larger than memory.

    ``advance`` gets the share that is read, ``check`` the number of rows and columns before memory is used for them.
    For a model, ``names`` are its columns, ``texts`` those of them that do not hold plain numbers, and ``maybe_id`` the
    id if the table has that column. Without ``texts``, cells stay as they are in the file.
    """
    name, total = "standard input" if path == STANDARD else path, 0
    try:
        with open_stream(path) as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            source = open_table(stream, Path(path), size, name, options)
            if options["id"] is None and maybe_id in source.names:
                options = {**options, "id": maybe_id}
            wanted = choose_columns(source.names, options, name, names)
            kinds, weights = requested_kinds(wanted, options) if names is None else ({}, {})
            used = dict.fromkeys([*wanted, *filter(None, [options["id"]])])
            unread = tuple(column for column in source.names if column not in used)
            if check and source.n_rows is not None:
                check(source.n_rows, len(wanted))
            for frame, lines, empty in source.blocks(source.names if options.get("with_data") else list(used)):
                rows = np.arange(total, total + len(frame))
                total += len(frame)
                if check:
                    check(total, len(wanted))  # the number of rows was an estimate
                if source.n_rows:
                    advance(min(1.0, total / source.n_rows))
                yield Table(
                    frame[wanted] if texts is None else read_cells(frame[wanted], options, texts), rows,
                    ids=frame[options["id"]] if options["id"] else None, id_name=options["id"],
                    whole=frame.set_axis(rows, axis=0) if options.get("with_data") else None,
                    kinds=kinds, weights=weights, unread=unread, lines=lines, empty=empty,
                )  # fmt: skip
    except Exception as error:  # libraries raise many types of errors for damaged files
        if isinstance(error, (TableError, MemoryError, ImportError)) or getattr(error, "errno", None):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"{name} cannot be read, it is damaged or in another format: {reason}") from error
    if total == 0:
        raise TableError(f"{name} has no rows.")


def names_in_file(path: str, options: Options) -> list[str]:
    """Return the names of the columns of a table."""
    if path == STANDARD:
        raise TableError("This table cannot be read from the standard input. Name a file.")
    with open_stream(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        return list(open_table(stream, Path(path), size, path, options).names)


def choose_columns(names: list[str], options: Options, table: str, required: list[str] | None) -> list[str]:
    """Return the columns to cluster by: those of a model, else those that the options name, without the id."""
    known = Counter(names)
    twice = sorted(name for name, count in known.items() if count > 1)
    if twice:
        raise TableError(f"{table} has columns of the same name: {join_names(twice)}. Rename one of each.")
    if options["id"] is not None and options["id"] not in known:
        raise TableError(f"--id {options['id']}: {table} has {_no_column(options['id'], names)}")
    if required is not None:
        lacking = [name for name in required if name not in known]
        if lacking:
            raise TableError(f"{table} has {_no_column(lacking[0], names)} The model needs it.")
        return required
    excluded = {*match_names(names, options["exclude"], "--exclude"), options["id"]}
    matched = match_names(names, options["columns"], "--columns") if options["columns"] else names
    chosen = [name for name in matched if name not in excluded]
    if not chosen:
        raise TableError(f"{table}: no column is left to cluster by. It has {join_names(names)}.")
    return chosen


def match_names(names: list[str], patterns: tuple[str, ...], option: str) -> list[str]:
    """Return names that match any of the patterns, in the order of the patterns; commas separate patterns.

    Examples
    --------
    >>> match_names(["age", "income_1", "income_2"], ("income_*,age",), "--columns")
    ['income_1', 'income_2', 'age']
    """
    known, matched = set(names), dict[str, None]()
    for pattern in patterns:
        for part in [pattern] if pattern in known else [piece.strip() for piece in pattern.split(",")]:
            matches = [part] if part in known else [name for name in names if fnmatchcase(name, part)]
            if not matches:
                raise TableError(f"{option} {part}: {_no_column(part, names)}")
            matched |= dict.fromkeys(matches)
    return list(matched)


def _no_column(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1, 0.8)  # comparing very many names takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {join_names(names)}.")


def requested_kinds(names: list[str], options: Options) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the kinds and weights of columns that are requested by name or pattern."""
    kinds: dict[str, Any] = dict.fromkeys(match_names(names, options["categorical"], "--categorical"), "categorical")
    kinds |= dict.fromkeys(match_names(names, options["log"], "--log"), "log")
    for request in options["ordinal"]:
        pattern, _, values = request.partition("=")
        order = [value.strip() for value in values.split(",")] if values else "ordinal"
        kinds |= dict.fromkeys(match_names(names, (pattern,), "--ordinal"), order)
    weights: dict[str, float] = {}
    for pattern, weight in options["weight"]:
        weights |= dict.fromkeys(match_names(names, (pattern,), "--weight"), weight)
    return kinds, weights


def read_cells(frame: pd.DataFrame, options: Options, texts: Container[str]) -> pd.DataFrame:
    """Return a frame for the library: cells of ``--na`` are None, texts of plain numbers are floats.

    The library would read the same numbers, but slower. Columns in ``texts`` stay as they are. All columns do if some
    cell has a comma: the library might prefer decimal commas for all.
    """
    has_marks = bool(options["na"]) or options["decimal"] is not None
    words = {name: pa.array(column) for name, column in frame.items() if column.dtype == TEXT}
    is_plain = not has_marks and not any(pc.any(pc.match_substring(array, ",")).as_py() for array in words.values())
    columns: dict[Any, Any] = {}
    for name, column in frame.items():
        numbers = plain_numbers(words[name]) if is_plain and name in words and name not in texts else None
        if numbers is not None and not numbers.null_count:  # the library counts missing cells only in texts
            columns[name] = numbers.to_numpy()
            continue
        if isinstance(column.dtype, (pd.ArrowDtype, pd.StringDtype)):
            column = pa.array(column).to_pandas()
        columns[name] = _apply_marks(column, options, is_text=name in texts) if has_marks else column
    return pd.DataFrame(columns, index=frame.index, columns=frame.columns, copy=False)


def plain_numbers(texts: Any, kind: Any = None) -> Any:
    """Return a column of texts as numbers, float64 by default, if all cells are plain numbers or missing; else None.

    Examples
    --------
    >>> plain_numbers(pa.array(["1.5", "", "-2e3"])).to_pylist()
    [1.5, None, -2000.0]
    >>> plain_numbers(pa.array(["1,5"])), plain_numbers(pa.array(["007"]))
    (None, None)
    """
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)
    if not pc.all(pc.match_substring_regex(texts, f"^(?:{PLAIN.pattern})$")).as_py():
        return None
    if pc.any(pc.match_substring_regex(texts, f"^(?:{CODE.pattern})$")).as_py():
        return None
    with suppress(pa.ArrowInvalid):
        return texts.cast(kind or pa.float64())
    return None


def _apply_marks(column: "pd.Series[Any]", options: Options, *, is_text: bool) -> "pd.Series[Any]":
    """Return a column without the cells of ``--na``, and with numbers for texts in the mark of ``--decimal``."""
    missing = column.map(lambda cell: cell_text(cell).strip() in options["na"]).to_numpy(dtype=bool)
    if missing.any():
        column = column.astype(object).where(~missing, None).infer_objects()
    if options["decimal"] is None or is_text or column.dtype != object:
        return column
    words = {cell for cell in column if isinstance(cell, str)}
    if any(CODE.fullmatch(cell.strip()) for cell in words):
        return column
    numbers = {cell: np.nan if is_missing(cell) else parse_number(cell.strip(), options["decimal"]) for cell in words}
    return column.map(lambda cell: cell if numbers.get(cell) is None else numbers[cell])
