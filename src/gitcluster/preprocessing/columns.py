"""One column of a data frame as features: its kind, and how its cells are encoded.

Numbers stay numbers (``"log"`` takes their logarithm), dates are days, two values are 0 and 1, other categories become
one feature of 0 and 1 per value. Identifiers, free texts, constants and empty columns are dropped. Missing numbers are
NaN here and are imputed from the nearest rows later (``preprocessing.tables``). A missing or new category is at the
same distance from every value.

The fit determines the kind and the encoding of a column once, and :class:`Column` stores them.
"""

import re
from collections import Counter
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.names import count_of, escape_control
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
    format: Format = Format("numbers")
    """How the cells are written."""
    unread: int = 0
    """Number of cells that do not fit the format and count as missing."""

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

    def encode(self, values: Values) -> tuple[NDArray[np.float64], Counter[str]]:
        """Return the features of cells, (n, m), NaN for missing numbers, and categories that the fit did not have."""
        if self.kind in ("binary", "categorical", "ordinal"):
            texts, ranks = values.as_texts(), {level: rank for rank, level in enumerate(self.levels)}
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


MAX_LEVELS = 20
"""Values of a category that have a feature of their own; rarer ones share one."""
EVEN = 0.9
"""Share of the steps between dates that are about equal if the dates count the rows; a third are by chance."""
REQUESTS = ("numeric", "log", "categorical", "ordinal", "date", "ignore")
"""Kinds that may be requested."""
_ID_NAME = re.compile(r"(^|.*[\s_.-])(id|ids|key|nr|no|number|index|uuid|guid)$|.*[a-z](Id|ID)$", re.IGNORECASE)


def learn_column(
    name: str, series: Any, request: Any, weight: Any, *, decimal: str = "."
) -> tuple[Column, Values | None]:
    """Return a column with its kind, the requested one or None, and its cells, None if it is ignored.

    ``decimal`` is the mark to prefer if both fit.
    """
    is_order = not isinstance(request, str) and np.ndim(request) == 1 and len(request) > 0
    if request is not None and not is_order and not (isinstance(request, str) and request in REQUESTS):
        raise ValueError(
            f"columns[{name!r}] must be one of {', '.join(map(repr, REQUESTS))}, or a list of values in their order, "
            f"got {request!r}."
        )
    kind = "ordinal" if is_order else request
    if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
        raise ValueError(f"weights[{name!r}] must be a number of 0 or more, got {weight!r}.")
    column = Column(name, kind, weight=float(weight), requested=request is not None)
    if kind == "ignore":
        return column, None
    values = _read_as(name, series, kind, decimal)
    known = values.known
    column = column._replace(
        kind="empty" if not known.any() else kind or find_kind(name, values), missing=int((~known).sum()),
        distinct=values.distinct, unread=values.unread.total(), format=values.format,
    )  # fmt: skip
    if column.kind in ("categorical", "binary"):
        counts = Counter(text for text in values.as_texts() if text is not None)
        levels = sorted(counts, key=lambda level: (-counts[level], level))
        if len(levels) == 2:
            column = column._replace(kind="binary", levels=tuple(sorted(levels, key=_level_order)))
        elif len(levels) > MAX_LEVELS:
            column = column._replace(levels=tuple(levels[: MAX_LEVELS - 1]), other=True)
        else:
            column = column._replace(kind="categorical" if len(levels) > 1 else "constant", levels=tuple(levels))
    elif column.kind == "ordinal":
        texts = set(values.as_texts().tolist()) - {None}
        if is_order:
            order = [cell_text(level) for level in request]
        else:
            order = [level for level in values.order if level in texts] or sorted(texts, key=_level_order)
        if lost := sorted(texts - set(order)):
            raise ValueError(f"columns[{name!r}] does not name the value {lost[0]!r}. Name all values in order.")
        column = column._replace(levels=tuple(order))
    elif column.kind == "log":
        assert values.numbers is not None
        column = column._replace(shift=1.0 if np.nanmin(values.numbers) == 0 else 0.0)
    return column, values


def _read_as(name: str, series: Any, kind: str | None, decimal: str) -> Values:
    """Return the cells of a column in the format that suits them and a requested kind."""
    if kind in ("categorical", "ordinal"):
        return read_values(series, as_written=True, name=name)
    values = read_values(series, decimal=decimal, name=name)
    nature = {"numeric": "numbers", "log": "numbers", "date": "dates"}.get(kind or "", values.nature)
    if nature == values.nature:
        return values
    n_given, values = int(values.known.sum()), read_values(series, Format(nature), name=name)
    if values.unread.total() > 0.5 * n_given:
        cell = values.unread.most_common(1)[0][0]
        raise ValueError(
            f"columns[{name!r}] is {kind!r}, but most cells are not {nature}, such as {cell!r}. Use 'categorical' "
            "or 'ignore'."
        )
    return values


def find_kind(name: str, values: Values) -> str:
    """Return the kind of a column from its cells; its name decides only whether different integers are identifiers."""
    known, distinct = values.known, values.distinct
    n_known = int(known.sum())
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
