"""Choose the columns of a table by name or pattern, and the kinds that are requested for them."""

import difflib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from gitcluster.cli.text_tables import TableError, TextStyle
from gitcluster.cli.writing import STANDARD


class ColumnOptions(NamedTuple):
    """What to read from a table: columns by name or pattern, the column of ids, the use of missing numbers."""

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    id: str | None = None
    missing: str | None = None
    """"impute", "drop" or "error"; None means "impute", or the choice of the model."""
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
    """A column of classes, which is not clustered by."""
    whole: bool = False
    """Whether the whole table is kept, with all of its columns."""


def choose_columns(names: list[str], chosen: ColumnOptions, path: str) -> list[str]:
    """Return the columns to cluster by: those that match, without excluded ones and the ids."""
    wanted = match_names(names, chosen.columns, "--columns") if chosen.columns else list(names)
    left_out = set(match_names(names, chosen.exclude, "--exclude")) | {chosen.id, chosen.truth}
    kept = [name for name in wanted if name not in left_out]
    if not kept:
        raise TableError(f"{shown(path)}: no column is left to cluster by. It has {listed(names)}.")
    return kept


def match_names(names: list[str], patterns: tuple[str, ...], option: str) -> list[str]:
    """Return names that match any of the patterns, in the order of the patterns; commas separate patterns.

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
    """Return ``wanted``, all of which must be columns of the table."""
    there = set(names)
    for name in wanted:
        if name not in there:
            subject = f"{option} {name}" if option else f"The model was fitted with the column {name!r}"
            remedy = ""
            if option and Path(name).is_file():
                remedy = f" {shown(name)} is a file: {option} takes the name of a column of the table. Add the column."
            raise TableError(f"{subject}: {shown(path)} has {_unknown(name, names)}{remedy}")
    return wanted


def requested_kinds(names: list[str], chosen: ColumnOptions) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the kinds and weights of columns that are requested by name or pattern."""
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


def shown(path: str) -> str:
    """Return the name of a table for messages."""
    return "standard input" if path == STANDARD else path


def _unknown(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names[:1000], 1, 0.8)  # comparing very many names takes minutes
    return f"no column {name!r}" + (f", did you mean {near[0]!r}?" if near else f"; there are {listed(names)}.")


def listed(names: list[str], most: int = 12) -> str:
    """Return names for a message, the first of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
