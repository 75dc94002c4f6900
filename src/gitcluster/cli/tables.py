"""Tables from files and streams, whole or block by block; nothing here knows of GIT.

``read_table`` puts the blocks together; ``iterate_table`` hands them on one at a time, for files larger than memory.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from gitcluster.cli.cells import CellReader, Table
from gitcluster.cli.choosing import (
    ColumnOptions,
    as_written,
    asked_kinds,
    choose_columns,
    find_names,
    listed,
    shown,
)
from gitcluster.cli.opening import Check, open_stream, open_table
from gitcluster.cli.text_tables import TableError

Advance = Callable[[float], None]


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
    if names is None:
        table = leave_out_empty(table)
    if chosen.missing in ("mean", "median"):
        return fill_missing(table, column_centres(table, chosen.missing))
    return without_gaps(table, chosen.missing, path)


def without_gaps(table: Table, missing: str, path: str) -> Table:
    """The table without rows that lack a number, or an error, where a whole block lacked a column that others have."""
    gaps = table.data[table.numbers].isna()
    if missing not in ("error", "drop") or not gaps.any(axis=None):
        return table
    if missing == "error":
        raise TableError(
            f"{shown(path)} has missing values ({listed([name for name in gaps if gaps[name].any()])}). Use --missing "
            "mean, --missing median, --missing drop, or leave columns out with --exclude."
        )
    kept = ~gaps.any(axis=1).to_numpy()
    ids, truth = (None if part is None else part[kept].reset_index(drop=True) for part in (table.ids, table.truth))
    data = table.data[kept].reset_index(drop=True)
    dropped = table.dropped + int((~kept).sum())
    return table._replace(data=data, rows=table.rows[kept], ids=ids, truth=truth, dropped=dropped)


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
            raise TableError(f"{shown(path)} has columns of the same name: {listed(twice)}. Rename one of each.")
        if chosen.id is None and maybe_id in opened.names:
            chosen = chosen._replace(id=maybe_id)
        find_names(opened.names, [chosen.id] if chosen.id else [], path, option="--id")
        find_names(opened.names, [chosen.truth] if chosen.truth else [], path, option="--truth")
        wanted = choose_columns(opened.names, chosen, path) if names is None else find_names(opened.names, names, path)
        kinds, weights = asked_kinds(wanted, chosen) if names is None else ({}, {})
        if check and opened.rows is not None:
            check(opened.rows, len(wanted))
        asked = {*wanted, chosen.id, chosen.truth}
        left_out = tuple(name for name in opened.names if name not in asked)
        reader = CellReader(wanted, chosen, shown(path), opened, {*texts, *as_written(kinds)})
        reader.is_whole = names is None
        total = 0
        for block in opened.blocks(wanted, reader.kept()):
            table = reader.read(block)._replace(
                lines=block.lines, empty=block.empty, kinds=kinds, weights=weights, left_out=left_out
            )  # fmt: skip
            total += len(block.frame)
            if check:
                check(total, len(wanted))  # the size of a stream is known only when it ends
            advance(block.done)
            yield table
        if total == 0:
            raise TableError(f"{shown(path)} has a header but no rows.")


def leave_out_empty(table: Table) -> Table:
    """The table without columns that have no value at all, which are named."""
    empty = [name for name in table.names if table.data[name].isna().all()]
    if not empty:
        return table
    if len(empty) == len(table.names):
        raise TableError(f"No value at all in {listed(empty)}: nothing is left to cluster by.")
    warnings.warn(f"No value at all in {listed(empty)}: left out.", stacklevel=2)
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
