"""Columns of every kind as features: what each column of a data frame is, and what is done with it.

Numbers stay numbers (``"log"`` takes their logarithm), dates are days, two values are 0 and 1, other categories have
one column of 0 and 1 per value. Identifiers, free texts, constants and empty columns are left out. A missing number is
the median of its column, a missing or new category lies as far from one value as from another.

What features count in distances is told in ``inputs.representations``, which columns go together in
``inputs.relations``.

In: a data frame. Out: :class:`Columns`, which encodes this frame and others.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.names import visible
from gitcluster.inputs.representations import FeatureKinds
from gitcluster.inputs.values import Values, as_objects, date_text, number_text, parse_dates, read_values

USED = ("numeric", "log", "binary", "categorical", "ordinal", "date")
"""Kinds that are clustered by."""
DISCRETE = ("binary", "categorical")
OTHER = "(other)"


class Column(NamedTuple):
    """What a column is, and how its cells become features."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    """Values of a category, the most frequent first; those of an ordinal in their order; the two of a binary."""
    other: bool = False
    """Whether there are more values, which are taken as one."""
    centre: float = 0.0
    """The number that a missing one is taken for."""
    shift: float = 0.0
    """What is added before the logarithm is taken: 1 where there are zeros."""
    weight: float = 1.0
    missing: int = 0
    """Missing cells of the fit."""
    distinct: int = 0
    """Different values of the fit."""
    asked: bool = False
    """Whether the kind was asked for."""
    apart: bool = False
    """Whether it goes with no other column, nor has clusters of its own."""

    @property
    def used(self) -> bool:
        """Whether it is clustered by."""
        return self.kind in USED and self.weight > 0 and not self.apart

    @property
    def features(self) -> list[str]:
        """Names of the features that it becomes."""
        if not self.used:
            return []
        if self.kind != "categorical":
            return [f"log {self.name}" if self.kind == "log" else self.name]
        return [f"{self.name} = {level}" for level in (*self.levels, *([OTHER] if self.other else []))]

    def describe(self) -> str:
        """What was done with it, in words.

        Examples
        --------
        >>> Column("city", "categorical", ("Rome", "Oslo", "Bern"), missing=2).describe()
        '3 values: Rome, Oslo, Bern; 2 missing, as far from one value as from another'
        """
        words = _WORDS.get(self.kind, self.kind)
        if self.kind == "categorical":
            shown = ", ".join(self.levels[:4]) + (", ..." if len(self.levels) > 4 or self.other else "")
            words = f"{self.distinct or len(self.levels):,} values: {shown}"
            words += f"; the {len(self.levels)} most frequent are told apart" if self.other else ""
        elif self.kind in ("binary", "ordinal"):
            words = f"{words}: {', '.join(self.levels[:6])}"
        if self.weight != 1 and self.kind in USED:
            words += f"; weight {self.weight:g}" + ("" if self.weight else ", left out")
        if self.apart:
            words += "; goes with no other column, left out"
        if self.missing and self.used:
            place = "as far from one value as from another" if self.kind in DISCRETE else f"taken as {self.centre_text}"
            words += f"; {self.missing:,} missing, {place}"
        return visible(words)

    @property
    def centre_text(self) -> str:
        """The value that a missing one is taken for, as the user would write it."""
        if self.kind == "date":
            return date_text(np.floor(self.centre))
        if self.kind == "ordinal":
            return self.levels[int(np.floor(self.centre))]
        return f"{np.exp(self.centre) - self.shift if self.kind == 'log' else self.centre:,.6g}"

    def encode(self, values: Values) -> tuple[NDArray[np.float64], Counter[str]]:
        """The features of cells, (n, m), and the values that were never seen, with how often they are there."""
        if self.kind == "categorical":
            return self._one_hot(values.as_texts())
        if self.kind in ("binary", "ordinal"):
            return self._rank(values.as_texts())
        numbers = as_numbers(values, self.name, self.kind)
        if self.kind == "log":
            numbers = self.logarithm(numbers)
        if np.isinf(numbers).any():
            row = int(np.isinf(numbers).argmax())
            raise ValueError(f"The column {self.name!r} has an infinite value in row {row}. Correct it, or ignore it.")
        return np.where(np.isnan(numbers), self.centre, numbers)[:, None], Counter()

    def decode(self, features: NDArray[np.float64]) -> NDArray[Any]:
        """The cells of features, as :meth:`encode` made them."""
        if self.kind in ("numeric", "date"):
            return features[:, 0]
        if self.kind == "log":
            return np.asarray(np.exp(features[:, 0]) - self.shift)
        if self.kind == "categorical":
            levels = (*self.levels, *([OTHER] if self.other else []))
            ranks = np.where(features.max(axis=1) > 0, features.argmax(axis=1), -1)
        else:
            levels, whole = self.levels, np.rint(features[:, 0])
            ranks = np.where(np.abs(features[:, 0] - whole) < 1e-6, whole, -1).astype(np.int64)
        return as_objects(None if rank < 0 else levels[rank] for rank in ranks.tolist())

    def logarithm(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers on a logarithmic scale, shifted where there are zeros."""
        low = np.nan_to_num(numbers, nan=1.0) + self.shift
        if (low <= 0).any():
            row = int((low <= 0).argmax())
            raise ValueError(
                f"The column {self.name!r} has {number_text(numbers[row])} in row {row}, which has no logarithm. "
                "Take it as 'numeric'."
            )
        return np.asarray(np.log(numbers + self.shift))

    def _rank(self, texts: NDArray[Any]) -> tuple[NDArray[np.float64], Counter[str]]:
        place = {level: float(rank) for rank, level in enumerate(self.levels)}
        texts = _known_texts(texts, place)
        unseen = Counter(text for text in texts if text is not None and text not in place)
        return np.array([[place.get(text, self.centre)] for text in texts]).reshape(-1, 1), unseen

    def _one_hot(self, texts: NDArray[Any]) -> tuple[NDArray[np.float64], Counter[str]]:
        place = {level: rank for rank, level in enumerate(self.levels)}
        texts = _known_texts(texts, place)
        beyond = len(self.levels) if self.other else -1
        ranks = np.array([-1 if text is None else place.get(text, beyond) for text in texts], dtype=np.int64)
        matrix = np.zeros((len(texts), len(self.features)))
        there = np.flatnonzero(ranks >= 0)
        matrix[there, ranks[there]] = 1.0
        unseen = Counter() if self.other else Counter(t for t in texts if t is not None and t not in place)
        return matrix, unseen


def _known_texts(texts: NDArray[Any], known: Any) -> NDArray[Any]:
    """Texts as the fit had them: 1.0 is 1 where that was a value."""
    other: dict[str, str] = {}
    for text in {text for text in texts if text is not None and text not in known}:
        try:
            number = number_text(float(text))
        except (ValueError, OverflowError):
            continue
        if number in known:
            other[text] = number
    return as_objects(other.get(text, text) for text in texts) if other else texts


_WORDS = {
    "numeric": "number",
    "log": "number, by its logarithm",
    "binary": "two values",
    "ordinal": "values in an order",
    "date": "date",
    "identifier": "names the rows, left out",
    "text": "free text, left out",
    "constant": "always the same, left out",
    "empty": "no value at all, left out",
    "ignore": "left out as asked",
}


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """What was done with every column of a data frame.

    ``print`` it; ``columns["city"]`` is one of them.
    """

    columns: tuple[Column, ...]
    encoded: bool = True
    """False where all are numbers, which are taken as they are."""

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        return {column.name: column for column in self.columns}[name]

    @property
    def used(self) -> list[Column]:
        """Columns that are clustered by."""
        return [column for column in self.columns if column.used]

    @property
    def features(self) -> list[str]:
        """Names of the features that they become."""
        return [name for column in self.used for name in column.features]

    def __str__(self) -> str:
        width = max((len(visible(column.name)) for column in self.columns), default=0)
        return "\n".join(f"{visible(column.name):<{width}}  {column.describe()}" for column in self.columns)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(visible(column.name))}</td><td>{escape(column.describe())}</td></tr>"
            for column in self.columns
        )
        return f'<table><tr><th>column</th><th style="text-align:left">what was done with it</th></tr>{rows}</table>'

    def check_frame(self, frame: Any) -> None:
        """Raise where a frame lacks columns of the fit, and say which."""
        if not is_frame(frame):
            raise TypeError(
                f"The model was fitted on a data frame with columns of several kinds, got {type(frame).__name__}. Pass "
                f"a data frame with the columns {listed([column.name for column in self.used])}."
            )
        there = set(map(str, frame.columns))
        lost = [column.name for column in self.used if column.name not in there]
        if lost:
            new = [name for name in map(str, frame.columns) if name not in {column.name for column in self.columns}]
            also = f" It has {listed(new)}, which the fit did not have." if new else ""
            raise ValueError(f"The data frame lacks {listed(lost)}, which the model was fitted with.{also}")

    def encode(self, frame: Any) -> tuple[NDArray[np.float64], dict[str, Counter[str]]]:
        """The features of a frame, (n, m), and the values of every column that were never seen in the fit."""
        self.check_frame(frame)
        parts, unseen = [], {}
        names, texts = [c.name for c in self.used], frozenset(c.name for c in self.used if c.levels)
        for column, values in zip(self.used, frame_values(frame, names, texts), strict=True):
            part, new = column.encode(values)
            parts.append(part)
            if new:
                unseen[column.name] = new
        return np.concatenate([np.empty((len(frame), 0)), *parts], axis=1), unseen

    def decode(self, matrix: NDArray[np.float64]) -> list[NDArray[Any]]:
        """The cells of every used column, from their features: numbers, days or texts; None where a text is missing."""
        widths = [len(column.features) for column in self.used]
        parts = np.split(matrix, np.cumsum(widths)[:-1], axis=1)
        return [column.decode(part) for column, part in zip(self.used, parts, strict=True)]

    @property
    def feature_kinds(self) -> FeatureKinds:
        """What is known of the features, for their weights."""
        rows = [
            (place, column.kind in DISCRETE, column.weight)
            for place, column in enumerate(self.used)
            for _ in column.features
        ]
        return FeatureKinds(*(np.array(values) for values in zip(*rows, strict=True)))


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or the like."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


def frame_values(
    frame: Any, names: list[str] | None = None, as_written: frozenset[str] = frozenset()
) -> Iterator[Values]:
    """The cells of every column, or of those named; texts in ``as_written`` are neither numbers nor dates."""
    place = {str(name): i for i, name in enumerate(frame.columns)}
    for name in place if names is None else names:
        yield read_values(column_at(frame, place[name]), as_written=name in as_written)


def column_at(frame: Any, place: int) -> Any:
    """A column by its place."""
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame[frame.columns[place]]


def as_numbers(values: Values, name: str, kind: str) -> NDArray[np.float64]:
    """Cells as numbers, or an error that names the first that is none."""
    if values.numbers is not None:
        return values.numbers
    read = _read_date if kind == "date" else _read_number
    texts, known = values.as_texts(), values.known
    numbers = np.full(len(texts), np.nan)
    days = parse_dates(texts[known].tolist()) if kind == "date" else None
    if days is not None:
        numbers[known] = days
        return numbers
    for row in np.flatnonzero(known):
        try:
            numbers[row] = read(texts[row])
        except ValueError:
            what = "date" if kind == "date" else "number"
            raise ValueError(
                f"The column {name!r} has {texts[row]!r} in row {row}, which is not a {what}. Correct it, or tell what "
                f"the column is: columns={{{name!r}: 'categorical'}} or 'ignore'."
            ) from None
    return numbers


def _read_number(text: str) -> float:
    return float({"True": "1", "False": "0"}.get(text, text))


def _read_date(text: str) -> float:
    days = parse_dates([text])
    if days is None:
        raise ValueError
    return days[0]


def listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
