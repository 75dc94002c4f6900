"""What the columns of a data frame are: numbers, two values, categories, dates, identifiers, free texts, constants.

What is asked for by name goes before what is found. In: a data frame. Out: :class:`Columns`.
"""

import difflib
import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.names import count_of
from gitcluster.inputs.columns import DISCRETE, Column, Columns, as_numbers, column_at, frame_values, is_frame, listed
from gitcluster.inputs.modes import has_modes
from gitcluster.inputs.relations import go_together
from gitcluster.inputs.values import Values, as_objects, is_category, number_text, read_values

MOST_LEVELS = 20
"""Values of a category that are told apart; the rarer ones beyond that are one."""
EVEN = 0.9
"""Share of the steps between dates that are about equal where these count the rows; a third are by chance."""
ASKED = ("numeric", "log", "categorical", "ordinal", "date", "ignore")
"""Kinds that may be asked for."""
_ID_NAME = re.compile(r"(^|.*[\s_.-])(id|ids|key|nr|no|number|index|uuid|guid)$|.*[a-z](Id|ID)$", re.IGNORECASE)


def needs_encoding(frame: Any) -> bool:
    """Whether a frame has columns that are not numbers: texts, dates, declared categories.

    Examples
    --------
    >>> needs_encoding([[1.0, 2.0]])
    False
    """
    if not is_frame(frame):
        return False
    return any(_is_special(column_at(frame, place)) for place in range(len(frame.columns)))


def _is_special(column: Any) -> bool:
    kind = getattr(column, "dtype", None)
    if getattr(kind, "kind", "O") in "fiubc" and not is_category(column):
        return False
    if callable(numeric := getattr(kind, "is_numeric", None)) and numeric():  # polars
        return False
    if is_category(column):
        return True
    cells = np.asarray(column)
    if cells.dtype.kind in "fiubc":
        return False
    if cells.dtype.kind == "O" and not all(_is_plain(cell) for cell in cells.tolist()):
        return False  # nested or foreign objects: the check of arrays tells what is wrong
    return read_values(column).nature not in ("numbers", "truths")


def _is_plain(cell: Any) -> bool:
    return np.ndim(cell) == 0 and not isinstance(cell, (bytes, complex, dict, set))


def columns_of(X: Any, asked: Any = None, weights: Any = None) -> Columns | None:
    """The columns of a data frame, None for anything else.

    Frames of numbers are taken as they are, unless something is asked for.
    """
    if not is_frame(X):
        for parameter, given in (("columns", asked), ("weights", weights)):
            if given is not None:
                raise TypeError(f"{parameter} names columns of a data frame, got X of type {type(X).__name__}.")
        return None
    if asked is None and weights is None and not needs_encoding(X):
        return plain_columns(X)
    return learn_columns(X, asked, weights)


def row_labels(X: Any) -> NDArray[Any] | None:
    """Labels of the rows of a pandas frame: whole numbers, or texts. None where they are 0, 1, 2, ... or not unique."""
    index = getattr(X, "index", None)
    if not is_frame(X) or callable(index) or index is None or getattr(index, "nlevels", 1) > 1:
        return None
    labels = np.asarray(index)
    if labels.dtype.kind in "iu":
        labels = labels if labels.max(initial=0) >= 2**63 else labels.astype(np.int64)
        plain = np.array_equal(labels, np.arange(len(labels)))
        return None if plain or len(np.unique(labels)) < len(labels) else labels
    texts = as_objects(str(label) for label in index)
    return None if len(set(texts)) < len(texts) else texts


def set_apart(columns: Columns, matrix: NDArray[np.float64]) -> tuple[Columns, NDArray[np.float64]]:
    """The columns with a mark on those that say nothing of clusters, and the features of those that are clustered by.

    Clusters that show in several columns make these go together. A category that goes with no other column would cut
    every cluster in copies of itself; numbers of that sort have clusters only if they gather in several places.
    All else is left out, unless its kind or a weight was asked for. Where no column goes with another, none is apart.
    """
    used = columns.used
    parts = np.split(matrix, np.cumsum([len(column.features) for column in used])[:-1], axis=1)
    related = go_together(parts, [column.kind in DISCRETE for column in used])
    if related.all() or not related.any():
        return columns, matrix
    apart = {
        column.name: not goes and not column.asked and column.weight == 1 and not _has_clusters(column, part)
        for column, part, goes in zip(used, parts, related, strict=True)
    }
    marked = tuple(column._replace(apart=apart.get(column.name, False)) for column in columns)
    return Columns(marked), np.hstack(
        [part for column, part in zip(used, parts, strict=True) if not apart[column.name]]
    )


def _has_clusters(column: Column, part: NDArray[np.float64]) -> bool:
    """Whether a column has clusters of its own: numbers in several places, gaps not counted."""
    numbers = part[:, 0]
    return column.kind not in DISCRETE and has_modes(numbers[numbers != column.centre] if column.missing else numbers)


def refuse_gaps(frame: Any) -> None:
    """Raise where a frame of numbers, which is taken as it is, has missing ones, and say where and what to do."""
    gaps = {}
    for place, name in enumerate(frame.columns):
        cells = np.asarray(column_at(frame, place))
        missing = np.isnan(cells) if cells.dtype.kind == "f" else np.array([])
        if missing.any():
            gaps[str(name)] = int(missing.sum())
    if gaps:
        first = next(iter(gaps))
        told = ", ".join(f"{name!r} in {count_of(count, 'row')}" for name, count in list(gaps.items())[:5])
        raise ValueError(
            f"Input X contains NaN: {told}{', ...' if len(gaps) > 5 else ''}. Fill the gaps, drop the rows, or ask for "
            f"the kind of a column (columns={{{first!r}: 'numeric'}}): a gap is then taken as the median of its column."
        )


def plain_columns(frame: Any) -> Columns:
    """The columns of a frame of numbers, which is taken as it is."""
    return Columns(tuple(Column(str(name), "numeric") for name in frame.columns), encoded=False)


def learn_columns(frame: Any, asked: dict[str, Any] | None = None, weights: dict[str, float] | None = None) -> Columns:
    """What every column of a data frame is.

    Parameters
    ----------
    frame : data frame of pandas, polars or the like
    asked : dict, default=None
        Kinds of columns by name, where they are not to be found out: "numeric", "log", "categorical", "ordinal" (or a
        list of its values in their order), "date" or "ignore".
    weights : dict, default=None
        What the distances in a column are multiplied by; 0 leaves it out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "age": [30, 41, 39, 25], "pet": ["cat", "dog", "cat", "cat"]})
    >>> print(learn_columns(frame))
    id   names the rows, left out
    age  number
    pet  two values: cat, dog
    """
    names = [str(name) for name in frame.columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ValueError(f"The data frame has columns of the same name: {listed(twice)}. Rename one of each.")
    asked, weights = _check_named("columns", asked, names), _check_named("weights", weights, names)
    as_written = frozenset(name for name, kind in asked.items() if kind not in ("numeric", "log", "date", "ignore"))
    found = [
        learn_column(name, values, asked.get(name), _check_weight(name, weights.get(name, 1.0)))
        for name, values in zip(names, frame_values(frame, None, as_written), strict=True)
    ]
    columns = Columns(tuple(found))
    if not columns.used:
        raise ValueError(f"No column is left to cluster by:\n{columns}")
    return columns


def _check_named(parameter: str, given: Any, names: list[str]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"{parameter} must be a dict of column names, got {type(given).__name__}.")
    for name in map(str, given):
        if name not in names:
            near = difflib.get_close_matches(name, names[:1000], 1)
            remedy = f"did you mean {near[0]!r}?" if near else f"it has {listed(names)}."
            raise ValueError(f"{parameter} names {name!r}, which the data frame does not have; {remedy}")
    return {str(name): value for name, value in given.items()}


def _check_weight(name: str, weight: Any) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < np.inf:
        raise ValueError(f"weights[{name!r}] must be a number of 0 or more, got {weight!r}.")
    return float(weight)


def learn_column(name: str, values: Values, asked: Any = None, weight: float = 1.0) -> Column:
    """What one column is."""
    known = values.known
    kind = find_kind(name, values, known) if asked is None else _check_asked(name, asked)
    column = Column(
        name, kind, weight=weight, missing=int((~known).sum()), distinct=_count(values, known), asked=asked is not None
    )
    if not known.any() and kind != "ignore":
        return column._replace(kind="empty")
    if kind in ("categorical", "binary"):
        return _with_levels(column, values)
    if kind == "ordinal":
        return _with_order(column, values, asked)
    if kind in ("numeric", "log", "date"):
        numbers = as_numbers(values, name, kind)
        if kind == "log":
            column = column._replace(shift=1.0 if np.nanmin(numbers) == 0 else 0.0)
            numbers = column.logarithm(numbers)
        return column._replace(centre=float(np.nanmedian(numbers)))
    return column


def _check_asked(name: str, asked: Any) -> str:
    if isinstance(asked, (list, tuple)) and asked:
        return "ordinal"
    if asked not in ASKED:
        raise ValueError(
            f"columns[{name!r}] must be one of {', '.join(map(repr, ASKED))}, or a list of values in their order, got "
            f"{asked!r}."
        )
    return str(asked)


def find_kind(name: str, values: Values, known: NDArray[np.bool_]) -> str:
    """The kind of a column, from its cells; its name decides only whether different whole numbers are identifiers."""
    n_known = int(known.sum())
    distinct = _count(values, known)
    if distinct == 0:
        return "empty"
    if distinct == 1:
        return "constant"
    if values.nature in ("numbers", "dates"):
        assert values.numbers is not None
        if distinct == n_known and _is_identifier(name, values.nature, values.numbers[known]):
            return "identifier"
        return "date" if values.nature == "dates" else "binary" if distinct == 2 else "numeric"
    if distinct == 2:
        return "binary"
    if values.nature == "texts" and distinct == n_known:
        return "identifier"
    if values.nature == "texts" and distinct > max(MOST_LEVELS, n_known / 2):
        return "text"
    return "categorical"


def _is_identifier(name: str, nature: str, numbers: NDArray[np.float64]) -> bool:
    """Whether different whole numbers or dates count the rows, in any order; named as an identifier, numbers are.

    Times of a log come in nearly equal steps, but for pauses.
    """
    if nature == "dates":
        steps = np.diff(np.sort(numbers))
        even = np.abs(steps - np.median(steps)) <= np.median(steps) / 2
        return len(numbers) > 20 and bool(even.mean() >= EVEN)
    if len(numbers) < 3 or (numbers != np.floor(numbers)).any():
        return False
    in_a_row = np.ptp(numbers) == len(numbers) - 1
    return bool((in_a_row and (len(numbers) > 20 or (np.diff(numbers) == 1).all())) or _ID_NAME.fullmatch(name))


def _count(values: Values, known: NDArray[np.bool_]) -> int:
    if values.numbers is not None:
        return len(np.unique(values.numbers[known]))
    assert values.texts is not None
    return len(set(values.texts[known].tolist()))


def _with_levels(column: Column, values: Values) -> Column:
    counts = Counter(text for text in values.as_texts() if text is not None)
    levels = sorted(counts, key=lambda level: (-counts[level], level))
    if len(levels) == 2:
        low, high = sorted(levels, key=_level_order)
        return column._replace(kind="binary", levels=(low, high), centre=0.5)
    if len(levels) > MOST_LEVELS:
        return column._replace(kind="categorical", levels=tuple(levels[: MOST_LEVELS - 1]), other=True)
    return column._replace(kind="categorical" if len(levels) > 1 else "constant", levels=tuple(levels))


def _level_order(level: str) -> tuple[bool, float, str]:
    try:
        return False, float(level), level
    except ValueError:
        return True, 0.0, level


def _with_order(column: Column, values: Values, asked: Any) -> Column:
    texts = values.as_texts()
    there = {text for text in texts if text is not None}
    if isinstance(asked, (list, tuple)):
        order = tuple(number_text(x) if isinstance(x, (int, float)) else str(x) for x in asked)
    else:
        order = tuple(level for level in values.order if level in there) or tuple(sorted(there, key=_level_order))
    lost = sorted(there - set(order))
    if lost:
        raise ValueError(
            f"columns[{column.name!r}] does not name the value {lost[0]!r}. Name all values in their order."
        )
    ranks = [order.index(text) for text in texts if text is not None]
    return column._replace(levels=order, centre=float(np.median(ranks)))
