"""Files and streams as data frames, whole or block by block.

The frames go to :class:`gitcluster.GIT` as they are: text cells stay as they are written, cells of other formats keep
their types. The library decides what they mean, so that a table means the same here and in Python.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gitcluster.cli.choosing import ColumnOptions, choose_columns, find_names, listed, requested_kinds, shown
from gitcluster.cli.opening import Check, open_stream, open_table
from gitcluster.cli.text_tables import TableError, TextStyle
from gitcluster.preprocessing.values import _CODE, _PLAIN, MISSING, cell_text, decimal_of, is_missing, parse_number

Advance = Callable[[float], None]
ARROW = (pa.Array, pa.ChunkedArray)
FLOAT = pa.float64()


class Table(NamedTuple):
    """Rows to cluster, with the number of each (from 0) and its id, if there is one."""

    data: pd.DataFrame
    """The columns to cluster by, as the library reads them."""
    rows: NDArray[np.int64]
    ids: "pd.Series[Any] | None" = None
    id_name: str | None = None
    truth: "pd.Series[Any] | None" = None
    whole: pd.DataFrame | None = None
    """All rows and columns as they are in the file, also dropped ones, if they are wanted; the index numbers them."""
    kinds: dict[str, Any] = {}  # noqa: RUF012
    """Kinds of columns that are requested."""
    weights: dict[str, float] = {}  # noqa: RUF012
    left_out: tuple[str, ...] = ()
    """Columns of the file that are not read."""
    dropped: int = 0
    """Rows that are dropped because of missing numbers."""
    lines: int = 0
    """Lines of a text table, with the header; 0 in other formats."""
    empty: int = 0
    """Number of empty lines among them."""

    @property
    def names(self) -> list[str]:
        """Return the names of the columns to cluster by."""
        return list(self.data.columns)

    @property
    def n_rows(self) -> int:
        """Return the number of rows to cluster."""
        return len(self.data)

    def frame(self) -> pd.DataFrame:
        """Return the columns, with the ids as index if they are unique."""
        named = self.ids is not None and self.ids.is_unique
        index = self.ids.astype(str) if named and self.ids is not None else self.rows if self.dropped else None
        return self.data if index is None else self.data.set_axis(pd.Index(index), axis=0)

    def row_names(self) -> "pd.Series[Any]":
        """Return the names of the rows in the output: the ids, else the row numbers."""
        return self.ids if self.ids is not None else pd.Series(self.rows)

    def take(self, kept: NDArray[np.int64]) -> "Table":
        """Return some of the rows by their positions; the others count as dropped."""
        data, ids, truth = (
            None if part is None else part.iloc[kept].reset_index(drop=True)
            for part in (self.data, self.ids, self.truth)
        )
        dropped = self.dropped + self.n_rows - len(kept)
        return self._replace(data=data, rows=self.rows[kept], ids=ids, truth=truth, dropped=dropped)


def read_table(
    path: str, chosen: ColumnOptions, *, check: Check, advance: Advance, names: list[str] | None = None,
    texts: Container[str] | None = None,
) -> Table:  # fmt: skip
    """Return a whole table.

    Parameters
    ----------
    path : str
    chosen : ColumnOptions
    check : callable
        Gets the rows and columns before memory is taken for them.
    advance : callable
        Gets the share that is read.
    names : list of str, default=None
        The columns of a model, instead of those in ``chosen``.
    texts : container of str, default=None
        Columns of a model whose cells stay texts. By default the cells decide.
    """
    parts = list(_parts(path, chosen, check=check, advance=advance, names=names))

    def joined(values: list[Any]) -> Any:
        return values[0] if values[0] is None or len(values) == 1 else pd.concat(values, ignore_index=True)

    table = parts[0]._replace(
        data=joined([part.data for part in parts]), rows=np.concatenate([part.rows for part in parts]),
        ids=joined([part.ids for part in parts]), truth=joined([part.truth for part in parts]),
        whole=joined([part.whole for part in parts]), lines=sum(part.lines for part in parts),
        empty=sum(part.empty for part in parts),
    )  # fmt: skip
    return table._replace(data=read_cells(table.data, chosen.style, texts, table.kinds))


def iterate_table(
    path: str, chosen: ColumnOptions, *, advance: Advance, names: list[str] | None, texts: Container[str],
    maybe_id: str | None = None,
) -> Iterator[Table]:  # fmt: skip
    """Yield a table block by block, for files larger than memory; ``maybe_id`` is the id if the table has it."""
    for part in _parts(path, chosen, check=None, advance=advance, names=names, maybe_id=maybe_id):
        yield part._replace(data=read_cells(part.data, chosen.style, texts))


def _parts(
    path: str, chosen: ColumnOptions, *, check: Check | None, advance: Advance, names: list[str] | None,
    maybe_id: str | None = None,
) -> Iterator[Table]:  # fmt: skip
    with open_stream(path) as stream:
        opened = open_table(stream, path, chosen, check or (lambda rows, columns: None))
        if len(set(opened.names)) < len(opened.names):
            twice = sorted(name for name, count in Counter(opened.names).items() if count > 1)
            raise TableError(f"{shown(path)} has columns of the same name: {listed(twice)}. Rename one of each.")
        if chosen.id is None and maybe_id in opened.names:
            chosen = chosen._replace(id=maybe_id)
        find_names(opened.names, [chosen.id] if chosen.id else [], path, option="--id")
        find_names(opened.names, [chosen.truth] if chosen.truth else [], path, option="--truth")
        wanted = choose_columns(opened.names, chosen, path) if names is None else find_names(opened.names, names, path)
        kinds, weights = requested_kinds(wanted, chosen) if names is None else ({}, {})
        if check and opened.rows is not None:
            check(opened.rows, len(wanted))
        named = [name for name in (chosen.id, chosen.truth) if name]
        used = {*wanted, *named}
        table = Table(
            pd.DataFrame(), np.empty(0, np.int64), id_name=chosen.id, kinds=kinds, weights=weights,
            left_out=tuple(name for name in opened.names if name not in used),
        )  # fmt: skip
        total = 0
        for block in opened.blocks(wanted, list(opened.names) if chosen.whole else named):
            total += len(block.frame)
            if check:
                check(total, len(wanted))  # the size of a stream is known only when it ends
            advance(block.done)
            rows = block.start + np.arange(len(block.frame))
            frame = block.frame.reset_index(drop=True)
            ids, truth = (frame[name] if name else None for name in (chosen.id, chosen.truth))
            whole = frame[opened.names].set_axis(rows, axis=0) if chosen.whole else None
            yield table._replace(
                data=frame[wanted], rows=rows, ids=ids, truth=truth, whole=whole, lines=block.lines, empty=block.empty
            )
        if total == 0:
            raise TableError(f"{shown(path)} has a header but no rows.")


def read_cells(
    frame: pd.DataFrame, style: TextStyle, texts: Container[str] | None = None, kinds: dict[str, Any] | None = None
) -> pd.DataFrame:
    """Return a frame for the library: declared missing cells are None, columns of plain numbers are floats.

    To cast plain numbers here is fast and changes nothing. They stay texts if the library might read them differently:
    if categories are requested, or if another column has decimal commas. The model fixes that for new rows.

    Parameters
    ----------
    frame : DataFrame
    style : TextStyle
        Its ``missing`` and ``decimal`` are used.
    texts : container of str, default=None
        Columns of a model whose cells stay texts. By default the cells decide.
    kinds : dict, default=None
        Kinds that are requested for columns.
    """
    kept = [name for name, kind in (kinds or {}).items() if kind != "log"] if texts is None else texts
    columns = {
        name: pa.array(column) if isinstance(column.dtype, pd.ArrowDtype) else column for name, column in frame.items()
    }
    plain: dict[Any, NDArray[np.float64]] = {}
    for name, cells in columns.items():
        if isinstance(cells, ARROW) and pa.types.is_string(cells.type) and name not in kept and style.decimal != ",":
            numbers = plain_numbers(cells, style.missing)
            if numbers is not None:
                plain[name] = np.asarray(numbers.to_pandas())
    if texts is None and style.decimal is None and any(map(_has_commas, (columns[n] for n in columns.keys() - plain))):
        plain = {}
    gaps = next((name for name, numbers in plain.items() if np.isnan(numbers).any()), None)
    if len(plain) == len(columns) and gaps is not None:
        del plain[gaps]  # the library counts the missing cells of a frame only if a column of it is not numeric
    return pd.DataFrame(
        {
            name: plain[name] if name in plain else _declared(cells, style, convert=name not in kept)
            for name, cells in columns.items()
        },
        index=frame.index, columns=frame.columns, copy=False,
    )  # fmt: skip


def plain_numbers(texts: Any, missing: tuple[str, ...] = (), kind: Any = FLOAT) -> Any:
    """Return a column of texts as numbers of an Arrow type, if all cells are plain numbers or missing; else None.

    Examples
    --------
    >>> plain_numbers(pa.array(["1.5", "", "-2e3"])).to_pylist()
    [1.5, None, -2000.0]
    >>> plain_numbers(pa.array(["1,5"])), plain_numbers(pa.array(["007"]))
    (None, None)
    """
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.is_in(texts, pa.array([*MISSING, *missing])), None, texts)
    if not pc.all(pc.match_substring_regex(texts, f"^(?:{_PLAIN.pattern})$")).as_py():
        return None
    if pc.any(pc.match_substring_regex(texts, f"^(?:{_CODE.pattern})$")).as_py():
        return None
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return None


def _has_commas(cells: Any) -> bool:
    """Return whether a column needs a decimal comma to be read as numbers."""
    if isinstance(cells, ARROW):
        if not pa.types.is_string(cells.type) or not pc.any(pc.match_substring(cells, ",")).as_py():
            return False
        cells = cells.to_pandas()
    return decimal_of(cells) == ","


def _declared(cells: Any, style: TextStyle, *, convert: bool) -> "pd.Series[Any]":
    """Return a column without the cells that the user declared missing, with numbers for texts in the given decimal."""
    column: pd.Series[Any] = cells.to_pandas() if isinstance(cells, ARROW) else cells
    if style.missing:
        gone = column.map(lambda cell: cell_text(cell).strip() in style.missing).to_numpy(dtype=bool)
        column = column.astype(object).where(~gone, None).infer_objects() if gone.any() else column
    if style.decimal is None or not convert or column.dtype != object:
        return column
    known = {cell: parse_number(cell.strip(), style.decimal) for cell in column if isinstance(cell, str)}
    if any(_CODE.fullmatch(cell.strip()) for cell in known):
        return column
    known |= {cell: np.nan for cell in known if is_missing(cell)}
    return column.map(lambda cell: cell if not isinstance(cell, str) or known[cell] is None else known[cell])
