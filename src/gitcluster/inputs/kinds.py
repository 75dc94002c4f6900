"""Learn the columns of a data frame: numbers, two values, categories, dates, identifiers, free texts, constants.

A kind that the user requests takes precedence. In: a data frame. Out: :class:`Columns`.
"""

import difflib
import re
from collections import Counter
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from gitcluster.inputs.columns import DISCRETE, Column, Columns
from gitcluster.inputs.frames import as_frame, column_names, listed
from gitcluster.inputs.modes import has_modes
from gitcluster.inputs.relations import go_together
from gitcluster.inputs.values import Format, Values, cell_text, decimal_of, parse_number, read_values

MAX_LEVELS = 20
"""Values of a category that have a feature of their own; rarer ones share one."""
EVEN = 0.9
"""Share of the steps between dates that are about equal if the dates count the rows; a third are by chance."""
REQUESTS = ("numeric", "log", "categorical", "ordinal", "date", "ignore")
"""Kinds that may be requested."""
_ID_NAME = re.compile(r"(^|.*[\s_.-])(id|ids|key|nr|no|number|index|uuid|guid)$|.*[a-z](Id|ID)$", re.IGNORECASE)


def columns_of(X: Any, requested: Any = None, weights: Any = None) -> Columns | None:
    """Return the columns of a data frame; None for anything else.

    Frames of numbers are used as they are, unless something is requested.
    """
    frame = as_frame(X)
    if frame is None:
        for parameter, given in (("columns", requested), ("weights", weights)):
            if given is not None:
                raise TypeError(f"{parameter} names columns of a data frame, got X of type {type(X).__name__}.")
        return None
    if requested is None and weights is None and is_numeric(frame):
        return Columns(tuple(Column(name, "numeric") for name in column_names(frame)), encoded=False)
    columns = learn_columns(frame, requested, weights)
    numbers = all(column.nature in ("numbers", "truths") and column.kind != "empty" for column in columns)
    if requested is None and weights is None and numbers:
        kept = (Column(c.name, "numeric", missing=c.missing, decimal=c.decimal, unread=c.unread) for c in columns)
        return Columns(tuple(kept), encoded=False)
    return columns


def is_numeric(X: Any) -> bool:
    """Return whether all columns of a frame have numeric dtypes and a value, so that an array of them will do."""
    frame = as_frame(X)
    return frame is not None and all(
        ((series.dtype.is_numeric() and series.dtype != nw.Decimal) or series.dtype == nw.Boolean)
        and (not len(series) or series.null_count() < len(series))
        for series in frame.iter_columns()
    )


def drop_independent(columns: Columns, matrix: NDArray[np.float64]) -> tuple[Columns, NDArray[np.float64]]:
    """Mark the columns that say nothing about clusters, and return the features of the others.

    Clusters that show in several columns make these depend on one another. A category that is independent of every
    other column would split every cluster into copies of itself; independent numbers have clusters only if they have
    several modes. All others are dropped, unless their kind or a weight was requested. If no column depends on another,
    all are kept.
    """
    used = columns.used
    parts = np.split(matrix, np.cumsum([len(column.features) for column in used])[:-1], axis=1)
    related = go_together(parts, [column.kind in DISCRETE for column in used])
    if related.all() or not related.any():
        return columns, matrix
    independent = {
        column.name: not depends and not column.requested and column.weight == 1 and not _has_clusters(column, part)
        for column, part, depends in zip(used, parts, related, strict=True)
    }
    marked = tuple(column._replace(independent=independent.get(column.name, False)) for column in columns)
    kept = [part for column, part in zip(used, parts, strict=True) if not independent[column.name]]
    return Columns(marked), np.hstack(kept)


def _has_clusters(column: Column, part: NDArray[np.float64]) -> bool:
    """Return whether the numbers of a column have several modes."""
    numbers = part[:, 0]
    return column.kind not in DISCRETE and has_modes(numbers[~np.isnan(numbers)])


def learn_columns(X: Any, requested: dict[str, Any] | None = None, weights: dict[str, float] | None = None) -> Columns:
    """Return the kind and format of every column of a data frame.

    Parameters
    ----------
    X : data frame of a library that narwhals supports
    requested : dict, default=None
        Kinds of columns by name: "numeric", "log", "categorical", "ordinal" (or a list of its values in their order),
        "date" or "ignore".
    weights : dict, default=None
        Factors of the distances in a column; 0 drops it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "age": [30, 41, 39, 25], "pet": ["cat", "dog", "cat", "cat"]})
    >>> print(learn_columns(frame))
    id   dropped: identifies the rows
    age  number
    pet  two values: cat, dog
    """
    frame = as_frame(X)
    assert frame is not None
    names = column_names(frame)
    requested, weights = _check_named("columns", requested, names), _check_named("weights", weights, names)
    series = dict(zip(names, frame.iter_columns(), strict=True))
    ignored = {name for name, kind in requested.items() if isinstance(kind, str) and kind == "ignore"}
    # Texts that allow both decimal marks are read with a comma if other columns of the frame need it.
    marks = {decimal_of(column, name) for name, column in series.items() if name not in ignored}
    decimal = "," if "," in marks and "." not in marks else "."
    columns = Columns(
        tuple(
            learn_column(
                name, column, requested.get(name), weight=_check_weight(name, weights.get(name, 1.0)), decimal=decimal
            )
            for name, column in series.items()
        )
    )
    if not columns.used:
        raise ValueError(f"No column is left to cluster by:\n{columns}")
    return columns


def _check_named(parameter: str, given: Any, names: list[str]) -> dict[str, Any]:
    """Return a dict by column names, all of which must exist."""
    if given is None:
        return {}
    if not hasattr(given, "items"):
        raise TypeError(f"{parameter} must be a dict of column names, got {type(given).__name__}.")
    for name in map(str, given):
        if name not in names:
            near = difflib.get_close_matches(name, names[:1000], 1, 0.8)
            remedy = f"did you mean {near[0]!r}?" if near else f"it has {listed(names)}."
            raise ValueError(f"{parameter} names {name!r}, which the data frame does not have; {remedy}")
    return {str(name): value for name, value in given.items()}


def _check_weight(name: str, weight: Any) -> float:
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
        raise ValueError(f"weights[{name!r}] must be a number of 0 or more, got {weight!r}.")
    return float(weight)


def _check_request(name: str, request: Any) -> str:
    if not isinstance(request, str) and np.ndim(request) == 1 and len(request):
        return "ordinal"
    if not isinstance(request, str) or request not in REQUESTS:
        raise ValueError(
            f"columns[{name!r}] must be one of {', '.join(map(repr, REQUESTS))}, or a list of values in their order, "
            f"got {request!r}."
        )
    return request


def learn_column(name: str, series: Any, request: Any = None, *, weight: float = 1.0, decimal: str = ".") -> Column:
    """Return the kind and format of one column."""
    kind = None if request is None else _check_request(name, request)
    if kind == "ignore":
        return Column(name, "ignore", weight=weight, requested=True)
    as_written = kind in ("categorical", "ordinal")
    values = read_values(series, as_written=as_written, decimal=decimal, name=name)
    if kind in ("numeric", "log", "date"):
        values = _read_requested(name, series, kind, values)
    known = values.known
    kind = find_kind(name, values, known) if kind is None else kind
    column = Column(
        name, kind, weight=weight, missing=int((~known).sum()), distinct=values.distinct,
        requested=request is not None, unread=values.unread.total(), **values.format._asdict(),
    )  # fmt: skip
    if not known.any():
        return column._replace(kind="empty")
    if kind in ("categorical", "binary"):
        return _with_levels(column, values)
    if kind == "ordinal":
        return _with_order(column, values, request)
    if kind in ("numeric", "log", "date"):
        numbers = values.numbers
        assert numbers is not None
        if kind == "log":
            column = column._replace(shift=1.0 if np.nanmin(numbers) == 0 else 0.0)
            numbers = column.logarithm(numbers)
        return column._replace(median=float(np.nanmedian(numbers)))
    return column


def _read_requested(name: str, series: Any, kind: str, values: Values) -> Values:
    """Return the cells as the user requested; an error if hardly any of them can be read so."""
    nature = "dates" if kind == "date" else "numbers"
    if values.nature != nature:
        texts = values.as_texts()
        values = read_values(series, Format(nature), name=name)
        given = sum(text is not None for text in texts)
        if values.unread.total() > 0.5 * given:
            cell = values.unread.most_common(1)[0][0]
            raise ValueError(
                f"columns[{name!r}] is {kind!r}, but most cells are not {nature}, such as {cell!r}. Use 'categorical' "
                "or 'ignore'."
            )
    return values


def find_kind(name: str, values: Values, known: NDArray[np.bool_]) -> str:
    """Return the kind of a column from its cells; its name decides only whether different integers are identifiers."""
    n_known, distinct = int(known.sum()), values.distinct
    if n_known == 0:
        return "empty"
    if distinct == 1:
        return "constant"
    if values.numbers is not None:
        if distinct == n_known and _is_identifier(name, values.nature, values.numbers[known]):
            return "identifier"
        return "date" if values.nature == "dates" else "binary" if distinct == 2 else "numeric"
    if distinct == 2:
        return "binary"
    if values.nature == "texts" and distinct == n_known:
        return "identifier"
    if values.nature == "texts" and distinct > max(MAX_LEVELS, n_known / 2):
        return "text"
    return "categorical"


def _is_identifier(name: str, nature: str, numbers: NDArray[np.float64]) -> bool:
    """Return whether different integers or dates count the rows, in any order, or integers are named as identifiers.

    Times of a log come in nearly equal steps, apart from pauses.
    """
    if nature == "dates":
        steps = np.diff(np.sort(numbers))
        even = np.abs(steps - np.median(steps)) <= np.median(steps) / 2
        return len(numbers) > 20 and bool(even.mean() >= EVEN)
    if len(numbers) < 3 or (numbers != np.floor(numbers)).any():
        return False
    counts_rows = len(numbers) > 20 and np.ptp(numbers) == len(numbers) - 1
    return bool(counts_rows or _ID_NAME.fullmatch(name))


def _with_levels(column: Column, values: Values) -> Column:
    counts = Counter(text for text in values.as_texts() if text is not None)
    levels = sorted(counts, key=lambda level: (-counts[level], level))
    if len(levels) == 2:
        low, high = sorted(levels, key=_level_order)
        return column._replace(kind="binary", levels=(low, high), median=0.5)
    if len(levels) > MAX_LEVELS:
        return column._replace(kind="categorical", levels=tuple(levels[: MAX_LEVELS - 1]), other=True)
    return column._replace(kind="categorical" if len(levels) > 1 else "constant", levels=tuple(levels))


def _level_order(level: str) -> tuple[bool, float, str]:
    number = parse_number(level)
    return number is None, number or 0.0, level


def _with_order(column: Column, values: Values, request: Any) -> Column:
    texts = values.as_texts()
    levels = {text for text in texts if text is not None}
    if isinstance(request, str):
        order = tuple(level for level in values.order if level in levels) or tuple(sorted(levels, key=_level_order))
    else:
        order = tuple(cell_text(level) for level in request)
    lost = sorted(levels - set(order))
    if lost:
        raise ValueError(f"columns[{column.name!r}] does not name the value {lost[0]!r}. Name all values in order.")
    ranks = [order.index(text) for text in texts if text is not None]
    return column._replace(levels=order, median=float(np.median(ranks)))
