"""The columns of a data frame as features: the kind of each column, and how its cells are encoded.

Numbers stay numbers (``"log"`` takes their logarithm), dates are days, two values are 0 and 1, other categories become
one feature of 0 and 1 per value. Identifiers, free texts, constants and empty columns are dropped. Missing numbers are
NaN here and are imputed from the nearest rows later (``preprocessing.tables``). A missing or new category is at the
same distance from every value.

The fit determines the kind and the encoding of a column once, and :class:`Column` stores them.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from gitcluster._support.names import count_of, escape_control
from gitcluster.preprocessing.dependence import are_dependent, is_multimodal
from gitcluster.preprocessing.frames import as_frame, column_names, listed
from gitcluster.preprocessing.representations import FeatureKinds
from gitcluster.preprocessing.values import (
    Format,
    Values,
    as_objects,
    cell_text,
    number_text,
    parse_number,
    read_values,
)

USED = ("numeric", "log", "binary", "categorical", "ordinal", "date")
"""Kinds of columns that are clustered by."""
DISCRETE = ("binary", "categorical")
OTHER = "(other)"
_DESCRIPTIONS = {
    "numeric": "number",
    "log": "number, on a log scale",
    "binary": "two values",
    "ordinal": "ordered values",
    "date": "date",
    "identifier": "dropped: identifies the rows",
    "text": "dropped: free text",
    "constant": "dropped: constant",
    "empty": "dropped: no values",
    "ignore": "dropped as requested",
}


class Column(NamedTuple):
    """The kind of a column, and how its cells become features."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    """Values of a category, most frequent first; of an ordinal in their order; the two of a binary column."""
    other: bool = False
    """Whether there are more values, which count as one."""
    median: float = 0.0
    """Median of the numbers, after the logarithm if it is taken."""
    shift: float = 0.0
    """Added before the logarithm: 1 if there are zeros."""
    weight: float = 1.0
    missing: int = 0
    """Number of missing cells in the fit."""
    distinct: int = 0
    """Number of different values in the fit."""
    requested: bool = False
    """Whether the user requested the kind."""
    independent: bool = False
    """Whether it depends on no other column and has no clusters of its own, so that it is not clustered by."""
    nature: str = "numbers"
    """How the cells are written, see :class:`gitcluster.preprocessing.values.Format`; so are the next three."""
    decimal: str = "."
    date_order: str = "ymd"
    utc_offset: float | None = None
    unread: int = 0
    """Number of cells that do not fit the format and count as missing."""

    @property
    def format(self) -> Format:
        """Return how the cells are written."""
        return Format(self.nature, self.decimal, self.date_order, self.utc_offset)

    @property
    def used(self) -> bool:
        """Return whether it is clustered by."""
        return self.kind in USED and self.weight > 0 and not self.independent

    @property
    def features(self) -> list[str]:
        """Return the names of its features."""
        if not self.used:
            return []
        if self.kind != "categorical":
            return [f"log {self.name}" if self.kind == "log" else self.name]
        return [f"{self.name} = {level}" for level in (*self.levels, *([OTHER] if self.other else []))]

    def describe(self) -> str:
        """Return what was done with it.

        Examples
        --------
        >>> Column("city", "categorical", ("Rome", "Oslo", "Bern"), missing=2).describe()
        '3 values: Rome, Oslo, Bern; 2 missing, at the same distance from every value'
        """
        text = _DESCRIPTIONS.get(self.kind, self.kind)
        if self.kind == "categorical":
            shown = ", ".join(self.levels[:4]) + (", ..." if len(self.levels) > 4 or self.other else "")
            text = f"{self.distinct or len(self.levels):,} values: {shown}"
            text += f"; all but the {len(self.levels)} most frequent count as one" if self.other else ""
        elif self.kind in ("binary", "ordinal"):
            text = f"{text}: {', '.join(self.levels[:6])}"
        if self.weight != 1 and self.kind in USED:
            text += f"; weight {self.weight:g}" + ("" if self.weight else ", dropped")
        if self.independent:
            text += "; dropped: independent of every other column"
        if self.unread:
            text += f"; {count_of(self.unread, 'unreadable cell')}"
        if self.missing and self.used:
            gaps = "at the same distance from every value" if self.kind in DISCRETE else "imputed from the nearest rows"
            text += f"; {self.missing:,} missing, {gaps}"
        return escape_control(text)

    def read(self, series: Any) -> Values:
        """Return the cells of this column in another frame, in the format of the fit."""
        return read_values(series, self.format, name=self.name)

    def encode(self, values: Values) -> tuple[NDArray[np.float64], Counter[str]]:
        """Return the features of cells, (n, m), NaN for missing numbers, and categories that the fit did not have."""
        if self.kind in ("binary", "categorical", "ordinal"):
            texts, ranks = values.as_texts(), {level: rank for rank, level in enumerate(self.levels)}
            for text in set(texts) - ranks.keys() - {None}:
                number = parse_number(text)
                if number is not None and number_text(number) in ranks:
                    ranks[text] = ranks[number_text(number)]  # "1.0" is "1" if the fit had that
            unseen = Counter(text for text in texts if text is not None and text not in ranks)
            if self.kind != "categorical":
                gap = 0.5 if self.kind == "binary" else np.nan  # halfway between two values; ordinals are imputed
                return np.array([float(ranks.get(text, gap)) for text in texts]).reshape(-1, 1), unseen
            beyond = len(self.levels) if self.other else -1
            codes = np.array([-1 if text is None else ranks.get(text, beyond) for text in texts], dtype=np.int64)
            # No feature is 1 if the value is missing.
            return (codes[:, None] == np.arange(len(self.features))) * 1.0, Counter() if self.other else unseen
        assert values.numbers is not None
        numbers = self.logarithm(values.numbers) if self.kind == "log" else values.numbers
        if np.isinf(numbers).any():
            row = int(np.isinf(numbers).argmax())
            raise ValueError(f"The column {self.name!r} has an infinite value in row {row}. Correct it, or ignore it.")
        return numbers[:, None], Counter()

    def decode(self, features: NDArray[np.float64]) -> NDArray[Any]:
        """Return the cells of features, the inverse of :meth:`encode`."""
        if self.kind in ("numeric", "date"):
            return features[:, 0]
        if self.kind == "log":
            return np.asarray(np.exp(features[:, 0]) - self.shift)
        levels = (*self.levels, OTHER)
        if self.kind == "categorical":
            ranks = np.where(features.max(axis=1) > 0, features.argmax(axis=1), -1)
        else:
            nearest = np.rint(features[:, 0])
            exact = np.abs(features[:, 0] - nearest) < 1e-6  # False for NaN
            ranks = np.where(exact, nearest, -1).astype(np.int64)
        return as_objects(None if rank < 0 else levels[rank] for rank in ranks.tolist())

    def logarithm(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers on a logarithmic scale."""
        low = np.nan_to_num(numbers, nan=1.0) + self.shift
        if (low <= 0).any():
            row = int((low <= 0).argmax())
            raise ValueError(
                f"The column {self.name!r} has {number_text(numbers[row])} in row {row}, which has no logarithm. "
                "Use 'numeric' instead of 'log'."
            )
        return np.asarray(np.log(numbers + self.shift))


class Encoded(NamedTuple):
    """The features of a frame, (n, m), NaN for missing numbers, and notes on cells that count as missing."""

    matrix: NDArray[np.float64]
    notes: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """The columns of a data frame and what was done with each of them.

    ``print`` it; ``columns["city"]`` is one of them.
    """

    columns: tuple[Column, ...]
    encoded: bool = True
    """False if all columns are numbers, which are used as they are."""

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        return {column.name: column for column in self.columns}[name]

    @property
    def used(self) -> list[Column]:
        """Return the columns that are clustered by."""
        return [column for column in self.columns if column.used]

    @property
    def features(self) -> list[str]:
        """Return the names of the features."""
        return [name for column in self.used for name in column.features]

    def __str__(self) -> str:
        width = max((len(escape_control(column.name)) for column in self.columns), default=0)
        return "\n".join(f"{escape_control(column.name):<{width}}  {column.describe()}" for column in self.columns)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(escape_control(column.name))}</td><td>{escape(column.describe())}</td></tr>"
            for column in self.columns
        )
        return f'<table><tr><th>column</th><th style="text-align:left">use</th></tr>{rows}</table>'

    def read(self, X: Any, names: list[str] | None = None) -> Iterator[tuple[Column, Values]]:
        """Yield the columns of another frame, by default those that are clustered by, in the format of the fit."""
        frame = as_frame(X)
        wanted = [column.name for column in self.used] if names is None else names
        if frame is None:
            raise TypeError(
                f"X must be a data frame with the columns {listed(wanted)}, got {type(X).__name__}. The model was "
                "fitted on a data frame."
            )
        series = dict(zip(column_names(frame), frame.iter_columns(), strict=True))
        lost = [name for name in wanted if name not in series]
        if lost:
            new = [name for name in series if name not in {column.name for column in self.columns}]
            also = f" It has {listed(new)}, which the fit did not have." if new else ""
            raise ValueError(f"The data frame lacks {listed(lost)}, which the model was fitted with.{also}")
        columns = {column.name: column for column in self.columns}
        for name in wanted:
            yield columns[name], columns[name].read(series[name])

    def encode(self, X: Any) -> Encoded:
        """Return the features of a frame, and notes on cells that do not fit what the fit learned."""
        parts, notes = [], []
        for column, values in self.read(X):
            part, unseen = column.encode(values)
            parts.append(part)
            not_read = "cells that are not dates" if column.kind == "date" else "cells that are not numbers"
            for cells, what in ((unseen, "values that the fit did not have"), (values.unread, not_read)):
                if cells:
                    shown = ", ".join(repr(text) for text, _ in cells.most_common(3)) + ", ..." * (len(cells) > 3)
                    notes.append(f"{column.name!r}: {cells.total():,} {what} ({shown}) count as missing")
        return Encoded(np.concatenate(parts, axis=1), notes)

    def split(self, matrix: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the features of every used column."""
        return np.split(matrix, np.cumsum([len(column.features) for column in self.used])[:-1], axis=1)

    def decode(self, matrix: NDArray[np.float64]) -> list[NDArray[Any]]:
        """Return the cells of every used column from its features: numbers, days or texts; NaN or None if missing."""
        return [column.decode(part) for column, part in zip(self.used, self.split(matrix), strict=True)]

    @property
    def feature_kinds(self) -> FeatureKinds:
        """Return what the weights of the features depend on."""
        rows = [
            (number, column.kind in DISCRETE, column.weight)
            for number, column in enumerate(self.used)
            for _ in column.features
        ]
        return FeatureKinds(*(np.array(values) for values in zip(*rows, strict=True)))


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

    Parameters
    ----------
    X : data frame of a library that narwhals supports, or anything else
    requested : dict, default=None
        Kinds of columns by name: "numeric", "log", "categorical", "ordinal" (or a list of its values in their order),
        "date" or "ignore".
    weights : dict, default=None
        Factors of the distances in a column; 0 drops it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "age": [30, 41, 39, 25], "pet": ["cat", "dog", "cat", "cat"]})
    >>> print(columns_of(frame))
    id   dropped: identifies the rows
    age  number
    pet  two values: cat, dog
    """
    frame = as_frame(X)
    if frame is None:
        for parameter, given in (("columns", requested), ("weights", weights)):
            if given is not None:
                raise TypeError(f"{parameter} names columns of a data frame, got X of type {type(X).__name__}.")
        return None
    names, nothing_requested = column_names(frame), requested is None and weights is None
    if nothing_requested and is_numeric(frame):
        return Columns(tuple(Column(name, "numeric") for name in names), encoded=False)
    requested, weights = _check_named("columns", requested, names), _check_named("weights", weights, names)
    series = dict(zip(names, frame.iter_columns(), strict=True))
    learned: dict[str, Column] = {}
    marks, either_mark = set(), []
    for name, column in series.items():
        request, weight = requested.get(name), weights.get(name, 1.0)
        values = _read_requested(name, column, request)
        learned[name] = _learn_column(name, values, request, weight)
        if values.one_mark:
            marks.add(values.format.decimal)
        elif values.nature == "numbers":
            either_mark.append(name)
    if marks == {","}:  # other columns that allow both decimal marks have a comma as well
        for name in either_mark:
            values = _read_requested(name, series[name], requested.get(name), decimal=",")
            learned[name] = _learn_column(name, values, requested.get(name), weights.get(name, 1.0))
    columns = Columns(tuple(learned.values()))
    if not columns.used:
        raise ValueError(f"No column is left to cluster by:\n{columns}")
    if nothing_requested and all(c.nature in ("numbers", "truths") and c.kind != "empty" for c in columns):
        plain = (Column(c.name, "numeric", missing=c.missing, decimal=c.decimal, unread=c.unread) for c in columns)
        return Columns(tuple(plain), encoded=False)
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
    """Mark the columns without information about clusters, and return the features of the others.

    Columns that reflect the same clusters depend on one another. A category that is independent of every other column
    would split every cluster into copies of itself; independent numbers have clusters only if they have several modes.
    All others are dropped, unless their kind or a weight was requested, or no column depends on another.
    """
    used, parts = columns.used, columns.split(matrix)
    related = are_dependent(parts, [column.kind in DISCRETE for column in used])
    if related.all() or not related.any():
        return columns, matrix
    independent = {
        column.name: not (depends or column.requested or column.weight != 1)
        and (column.kind in DISCRETE or not is_multimodal(part[~np.isnan(part[:, 0]), 0]))
        for column, part, depends in zip(used, parts, related, strict=True)
    }
    marked = tuple(column._replace(independent=independent.get(column.name, False)) for column in columns)
    others = [part for column, part in zip(used, parts, strict=True) if not independent[column.name]]
    return Columns(marked), np.hstack(others)


def _check_named(parameter: str, given: Any, names: list[str]) -> dict[str, Any]:
    """Return a dict by column names, which must all exist."""
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


def _is_order(request: Any) -> bool:
    """Return whether the values of an ordinal column are requested in their order."""
    return not isinstance(request, str) and np.ndim(request) == 1 and len(request) > 0


def _read_requested(name: str, series: Any, request: Any, decimal: str = ".") -> Values:
    """Return the cells of a column in the format that suits them and a requested kind."""
    if request is not None and not _is_order(request) and not (isinstance(request, str) and request in REQUESTS):
        raise ValueError(
            f"columns[{name!r}] must be one of {', '.join(map(repr, REQUESTS))}, or a list of values in their order, "
            f"got {request!r}."
        )
    if _is_order(request) or request in ("categorical", "ordinal"):
        return read_values(series, as_written=True, name=name)
    if request == "ignore":
        return Values(Format("numbers"), np.empty(0))
    values = read_values(series, decimal=decimal, name=name)
    nature = {"numeric": "numbers", "log": "numbers", "date": "dates"}.get(request, values.nature)
    if nature == values.nature:
        return values
    n_given, values = int(values.known.sum()), read_values(series, Format(nature), name=name)
    if values.unread.total() > 0.5 * n_given:
        cell = values.unread.most_common(1)[0][0]
        raise ValueError(
            f"columns[{name!r}] is {request!r}, but most cells are not {nature}, such as {cell!r}. Use 'categorical' "
            "or 'ignore'."
        )
    return values


def _learn_column(name: str, values: Values, request: Any, weight: Any) -> Column:
    """Return the kind of a column and the encoding of its cells."""
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
        raise ValueError(f"weights[{name!r}] must be a number of 0 or more, got {weight!r}.")
    known, kind = values.known, "ordinal" if _is_order(request) else request
    column = Column(name, kind, weight=float(weight), requested=request is not None)
    if kind == "ignore":
        return column
    column = column._replace(
        kind="empty" if not known.any() else kind or find_kind(name, values, known), missing=int((~known).sum()),
        distinct=values.distinct, unread=values.unread.total(), **values.format._asdict(),
    )  # fmt: skip
    if column.kind in ("categorical", "binary"):
        counts = Counter(text for text in values.as_texts() if text is not None)
        levels = sorted(counts, key=lambda level: (-counts[level], level))
        if len(levels) == 2:
            return column._replace(kind="binary", levels=tuple(sorted(levels, key=_level_order)), median=0.5)
        if len(levels) > MAX_LEVELS:
            return column._replace(levels=tuple(levels[: MAX_LEVELS - 1]), other=True)
        return column._replace(kind="categorical" if len(levels) > 1 else "constant", levels=tuple(levels))
    if column.kind == "ordinal":
        texts = [text for text in values.as_texts() if text is not None]
        if _is_order(request):
            order = [cell_text(level) for level in request]
        else:
            order = [level for level in values.order if level in texts] or sorted(set(texts), key=_level_order)
        if lost := sorted(set(texts) - set(order)):
            raise ValueError(f"columns[{name!r}] does not name the value {lost[0]!r}. Name all values in order.")
        return column._replace(levels=tuple(order), median=float(np.median([order.index(text) for text in texts])))
    if column.kind in ("numeric", "log", "date"):
        numbers = values.numbers
        assert numbers is not None
        if kind == "log":
            column = column._replace(shift=1.0 if np.nanmin(numbers) == 0 else 0.0)
            numbers = column.logarithm(numbers)
        return column._replace(median=float(np.nanmedian(numbers)))
    return column


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

    Times of a log come in nearly equal steps, except for pauses.
    """
    if nature == "dates":
        steps = np.diff(np.sort(numbers))
        even = np.abs(steps - np.median(steps)) <= np.median(steps) / 2
        return len(numbers) > 20 and bool(even.mean() >= EVEN)
    if len(numbers) < 3 or (numbers != np.floor(numbers)).any():
        return False
    counts_rows = len(numbers) > 20 and np.ptp(numbers) == len(numbers) - 1
    return bool(counts_rows or _ID_NAME.fullmatch(name))


def _level_order(level: str) -> tuple[bool, float, str]:
    """Return a key that sorts numbers before texts."""
    number = parse_number(level)
    return number is None, number or 0.0, level
