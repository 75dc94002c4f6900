"""Notes on columns that a user should check, and the one warning that lists them.

Every function here returns notes: sentences that name a column, say what was checked, and what the user can do. A fit
or a prediction collects its notes and calls :func:`warn_of_columns` once.
"""

import inspect
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.names import count_of
from gitcluster.fitted.summary import WELL
from gitcluster.preprocessing.columns import DISCRETE, Column
from gitcluster.preprocessing.tables import Columns
from gitcluster.preprocessing.values import date_text

MAX_NOTES = 5
"""Notes that a warning lists; the others are counted."""
FAR = 5.0
"""A value is far from all others if it is this many times as far from the median as the farthest of the others. A slip
of the decimal point makes a factor of ten; neighbouring extremes of skewed data (log-normal) rarely differ by five."""
FEW = 0.02
"""At most this share of the rows can be far values, and at least this share must be equal for a cut-off column."""
SAME = 0.98
"""Adjusted Rand index from which on clusters coincide with the values of a column."""
MAX_ROWS = 5_000
"""Rows that decision trees learn from and are tested on."""


class ColumnWarning(UserWarning):
    """Columns of the table that should be checked."""


def warn_of_columns(notes: Iterable[str]) -> None:
    """Issue one warning that lists the notes of a fit or a prediction; none if there are no notes.

    The warning points at the line outside of gitcluster and scikit-learn that called the estimator.
    """
    listed = list(notes)
    if not listed:
        return
    text = listed[0]
    if len(listed) > 1:
        shown = "\n".join(f"- {note}" for note in listed[:MAX_NOTES])
        more = len(listed) - MAX_NOTES
        text = f"Check these columns:\n{shown}" + (f"\n... and {count_of(more, 'more column')}" if more > 0 else "")
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("gitcluster", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ColumnWarning, stacklevel=level)


def column_notes(columns: Columns, matrix: NDArray[Any], labels: NDArray[Any]) -> list[str]:
    """Return all notes on the columns of a fit, from their features and the labels.

    A column can coincide with the clusters because all columns show the same groups. Therefore a decision tree predicts
    the clusters from the other columns, with cross-validation. If it fails, the clusters depend on this column alone.
    """
    from sklearn.metrics import adjusted_rand_score  # slow to import

    widths = [len(column.features) for column in columns.used]
    parts = list(zip(columns.used, np.split(matrix, np.cumsum(widths)[:-1], axis=1), strict=True))
    notes = []
    for column, part in parts:
        note, name = None, column.name
        if column.kind in ("numeric", "date"):
            note = _far_values(name, column.kind, part[:, 0])
        if note is None and column.kind == "numeric":
            note = _cut_off(name, part[:, 0])
        elif column.other and part[:, -1].mean() > 0.5:
            note = (
                f"{name!r} has {column.distinct:,} values. All except the {len(column.levels)} most frequent are "
                f"treated as one category, in {part[:, -1].mean():.0%} of the rows. Group its values, or use "
                f"columns={{{name!r}: 'ignore'}} (--ignore)."
            )
        notes += [] if note is None else [note]
    there = np.asarray(labels) >= 0
    if len(np.unique(labels[there])) < 2 or len(parts) < 2:
        return notes
    for column, part in parts:
        values = _codes(column, part, columns.encoded)
        agreement = -1.0 if values is None else adjusted_rand_score(values[there], labels[there])
        if agreement < SAME:
            continue
        of_column = np.repeat([other.name == column.name for other in columns.used], widths)
        others = _predictability(matrix[there][:, ~of_column], labels[there])
        if others < WELL:
            notes.append(
                f"The clusters coincide with the values of {column.name!r} (adjusted Rand index {agreement:.2f}); the "
                f"other columns do not predict them ({others:.2f}). To cluster by the others, use "
                f"columns={{{column.name!r}: 'ignore'}} (--ignore)."
            )
    return notes


def _predictability(features: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return the adjusted Rand index of clusters and two-fold predictions of a decision tree."""
    from sklearn.metrics import adjusted_rand_score
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    rows = np.random.default_rng(0).permutation(len(labels))[:MAX_ROWS]
    limit = float(np.finfo(np.float32).max)  # trees use single precision
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
    predicted = cross_val_predict(tree, np.clip(features[rows], -limit, limit), labels[rows], cv=KFold(2))
    return float(adjusted_rand_score(labels[rows], predicted))


def _codes(column: Column, features: NDArray[Any], encoded: bool) -> NDArray[Any] | None:
    """Return a number for every value of a category, or of a column of two numbers; None for other columns."""
    if features.shape[1] > 1:
        return np.asarray(features.argmax(axis=1))
    numbers = features[:, 0]
    if encoded:
        return np.unique(numbers, return_inverse=True)[1] if column.kind in DISCRETE else None
    if len(np.unique(numbers[:1000])) > 2:  # rules out most columns of numbers
        return None
    values, codes = np.unique(numbers, return_inverse=True)
    return codes if len(values) == 2 else None


def _far_values(name: str, kind: str, values: NDArray[np.float64]) -> str | None:
    """Return a note if a few values are far from all others, whatever the number of rows.

    Distances from the median are sorted; far values begin at the first that is ``FAR`` times the one before it. A
    standard deviation would not do: the more rows there are, the less one cell changes it.
    """
    few = max(1, int(FEW * len(values)))
    if len(values) < 4 * few:
        return None
    distances = np.abs(values - np.median(values))
    tail = np.sort(np.partition(distances, -few - 1)[-few - 1 :])
    jumps = np.flatnonzero((tail[1:] > FAR * tail[:-1]) & (tail[:-1] > 0))  # 0: nearly all rows are equal
    if not len(jumps):
        return None
    far = distances > tail[jumps[0]]
    show = date_text if kind == "date" else "{:,.6g}".format
    example, low, high = (
        show(float(value)) for value in (values[distances.argmax()], values[~far].min(), values[~far].max())
    )
    such, them = (f": {example}", "it") if far.sum() == 1 else (f", such as {example}", "them")
    return (
        f"{name!r} has {count_of(int(far.sum()), 'value')} far from all others{such} (the others: {low} to {high}). "
        f"Correct {them}, or mark {them} as missing (--na)."
    )


def _cut_off(name: str, values: NDArray[np.float64]) -> str | None:
    """Return a note if many rows have exactly the largest or smallest value while other values hardly repeat.

    If most rows have it, the value is the usual one (no purchase, an empty pixel), and nothing was cut off.
    """
    for end, word in ((values.max(), "largest"), (values.min(), "smallest")):
        rest = values[values != end]
        count = len(values) - len(rest)
        if count < max(10, FEW * len(values)) or count > len(rest) or 2 * len(np.unique(rest)) < len(rest):
            continue
        return (
            f"{name!r} seems to be cut off: {count:,} rows have its {word} value, {end:,.6g}, and other values rarely "
            f"repeat. Consider weights={{{name!r}: 0.5}} (--weight) or columns={{{name!r}: 'ignore'}} (--ignore)."
        )
    return None
