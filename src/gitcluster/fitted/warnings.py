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
"""At most this share of the rows can be far values."""
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

    parts = list(zip(columns.used, columns.split(matrix), strict=True))
    notes = [_far_values(column, part[:, 0]) for column, part in parts if column.kind in ("numeric", "date")]
    notes += [
        f"{column.name!r} has {column.distinct:,} values. All except the {len(column.levels)} most frequent count as "
        f"one, in {part[:, -1].mean():.0%} of the rows. Group them, or use columns={{{column.name!r}: 'ignore'}} "
        "(--exclude)."
        for column, part in parts
        if column.other and part[:, -1].mean() > 0.5
    ]
    there = np.asarray(labels) >= 0
    several = len(np.unique(labels[there])) > 1 and len(parts) > 1
    for column, part in parts if several else ():
        values = _codes(column, part)
        agreement = -1.0 if values is None else adjusted_rand_score(values[there], labels[there])
        if agreement < SAME:
            continue
        features = np.hstack([features for other, features in parts if other.name != column.name])
        others = _predictability(features[there], labels[there])
        if others < WELL:
            notes.append(
                f"The clusters coincide with the values of {column.name!r} (adjusted Rand index {agreement:.2f}); the "
                f"other columns do not predict them ({others:.2f}). To cluster by the others, use "
                f"columns={{{column.name!r}: 'ignore'}} (--exclude)."
            )
    return [note for note in notes if note]


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


def _codes(column: Column, features: NDArray[Any]) -> NDArray[Any] | None:
    """Return a number for every value of a category, or of a column of two numbers; None for other columns."""
    if features.shape[1] > 1:
        return np.asarray(features.argmax(axis=1))
    if column.kind not in DISCRETE and len(np.unique(features[:1000])) > 2:  # rules out most columns of numbers
        return None
    values, codes = np.unique(features[:, 0], return_inverse=True)
    return codes if column.kind in DISCRETE or len(values) == 2 else None


def _far_values(column: Column, values: NDArray[np.float64]) -> str:
    """Return a note if a few values are far from all others, whatever the number of rows, or "".

    Distances from the median are sorted; far values begin at the first that is ``FAR`` times the one before it. A
    standard deviation would not do: the more rows there are, the less one cell changes it.
    """
    few = max(1, int(FEW * len(values)))
    if len(values) < 4 * few:
        return ""
    distances = np.abs(values - np.median(values))
    tail = np.sort(np.partition(distances, -few - 1)[-few - 1 :])
    jumps = np.flatnonzero((tail[1:] > FAR * tail[:-1]) & (tail[:-1] > 0))  # 0: nearly all rows are equal
    if not len(jumps):
        return ""
    far = distances > tail[jumps[0]]
    show = date_text if column.kind == "date" else "{:,.6g}".format
    farthest, low, high = (
        show(float(value)) for value in (values[distances.argmax()], values[~far].min(), values[~far].max())
    )
    return (
        f"{column.name!r} has {count_of(int(far.sum()), 'value')} far from all others, such as {farthest} (the others: "
        f"{low} to {high}). Correct what is wrong, or mark it as missing (--na)."
    )
