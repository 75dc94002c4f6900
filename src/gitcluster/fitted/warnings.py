"""Warnings that name a column: it alone decides, is cut off, has a huge cell or too many values, or new ones."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster.inputs.columns import DISCRETE, Columns
from gitcluster.inputs.frames import column_at, column_names

HUGE = 0.7
"""Ranges of nearly all numbers of a column, within which its standard deviation is unsuspicious. Of numbers within the
range it is 0.5 at most: beyond 0.7 half of the variance comes from the few that are outside."""
NEARLY_ALL = 0.95
"""Share of the numbers of a column that huge ones are compared with."""
CLIPPED = 0.02
"""Share of the rows at the end of a column from which on it seems to be cut off there."""
SAME = 0.98
"""Agreement (adjusted Rand index) from which on clusters are the values of a column."""


class ColumnWarning(UserWarning):
    """A column of the table that deserves a look."""


def column_notes(columns: Columns, X: Any, labels: NDArray[Any]) -> list[str]:
    """All that a fit warns of, from the table that was fitted."""
    matrix = columns.encode(X).matrix if columns.encoded else np.asarray(X, dtype=np.float64)
    return [*odd_columns(columns, matrix), *ruling_columns(columns, X, labels)]


def warn_of_columns(notes: Iterable[str], *, stacklevel: int) -> None:
    """Warn of columns that deserve a look."""
    for words in notes:
        warnings.warn(words, ColumnWarning, stacklevel=stacklevel)


def ruling_columns(columns: Columns, X: Any, labels: NDArray[Any]) -> Iterator[str]:
    """What to say where the clusters are the values of one column."""
    from sklearn.metrics import adjusted_rand_score  # takes long to load, and most fits do without

    there = np.asarray(labels) >= 0
    if len(np.unique(labels[there])) < 2:
        return
    names = column_names(X)
    for column in columns.used:
        values = _codes(column_at(X, names.index(column.name)), column.kind, columns.encoded)
        if values is None:
            continue
        agreement = adjusted_rand_score(values[there], labels[there])
        if agreement >= SAME:
            yield (
                f"The clusters are the values of {column.name!r} (agreement {agreement:.2f}): this column alone "
                f"decides. Leave it out with columns={{{column.name!r}: 'ignore'}} (--ignore), or give it less "
                f"weight with weights={{{column.name!r}: 0.5}} (--weight)."
            )


def _codes(column: Any, kind: str, encoded: bool) -> NDArray[np.int64] | None:
    """Whole numbers for the values of a column of categories, or of two numbers; None for others."""
    if encoded and kind not in DISCRETE:
        return None
    cells = np.asarray(column)
    if not encoded and not _has_two_values(cells):
        return None
    place: dict[str, int] = {}
    return np.array([place.setdefault(str(cell), len(place)) for cell in cells.tolist()], dtype=np.int64)


def _has_two_values(cells: NDArray[Any]) -> bool:
    """Whether numbers are two different ones; most columns are ruled out by their first rows."""
    if cells.dtype.kind not in "fiub" or len(np.unique(cells[:1000])) > 2:
        return False
    return len(np.unique(cells)) == 2


def odd_columns(columns: Columns, matrix: NDArray[Any]) -> Iterator[str]:
    """What to say of columns that will hardly do what they should: huge numbers, cut off, or too many values."""
    at = 0
    for column in columns.used:
        features = matrix[:, at : at + len(column.features)]
        at += len(column.features)
        words = None
        if column.kind == "numeric":
            words = _huge_cell(column.name, features[:, 0]) or _clipped_tail(column.name, features[:, 0])
        elif column.other and features[:, -1].mean() > 0.5:
            words = (
                f"The column {column.name!r} has {column.distinct:,} values. The {len(column.levels)} most frequent "
                f"are told apart, all others, in {features[:, -1].mean():.0%} of the rows, count as one. Group its "
                f"values, or leave it out with columns={{{column.name!r}: 'ignore'}} (--ignore)."
            )
        if words is not None:
            yield words


def _huge_cell(name: str, values: NDArray[np.float64]) -> str | None:
    """What to say where a few numbers are so far out that all others are nearly the same beside them."""
    outside = (1 - NEARLY_ALL) / 2
    low, high = np.quantile(values, outside, method="higher"), np.quantile(values, 1 - outside, method="lower")
    if high <= low or values.std() <= HUGE * (high - low):
        return None
    far = float(values[np.abs(values - np.median(values)).argmax()])
    remedy = "remove it if it stands for a missing one (--na)"
    if values.min() >= 0:
        remedy = f"take its logarithms: columns={{{name!r}: 'log'}} (--log)"
    return (
        f"The column {name!r} has a value as far out as {far:,.6g}, nearly all others are between {low:,.6g} and "
        f"{high:,.6g} and look alike beside it. Correct it, or {remedy}."
    )


def _clipped_tail(name: str, values: NDArray[np.float64]) -> str | None:
    """What to say where many rows are exactly at the largest or smallest number while other numbers hardly repeat."""
    for end, word in ((values.max(), "largest"), (values.min(), "smallest")):
        rest = values[values != end]
        count = len(values) - len(rest)
        if count < max(10, CLIPPED * len(values)) or 2 * len(np.unique(rest)) < len(rest) or not len(rest):
            continue
        return (
            f"The column {name!r} has its {word} value, {end:,.6g}, in {count:,} rows, while other values hardly "
            "repeat. It seems to be cut off there, and these rows look alike. Take values that were not cut off, give "
            f"the column less weight with weights={{{name!r}: 0.5}} (--weight), or leave it out with "
            f"columns={{{name!r}: 'ignore'}} (--ignore)."
        )
    return None
