"""Columns in the user's words: their names, their values in the user's units, and in which of them samples differ.

What was fitted is read from the table that the user has, or taken back from the features that the model keeps. A
difference is measured in standard deviations of the column; of categories it is Cohen's h, the difference of the arcs
of two shares, and two samples of different categories differ by 1.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster._support.names import visible
from gitcluster.fitted.clustering import Clustering
from gitcluster.preprocessing.columns import Column, Columns, find_kind
from gitcluster.preprocessing.frames import as_frame, column_names
from gitcluster.preprocessing.scaling import apply_scaling
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.values import Values, date_text, read_values

SMALL = 0.2
"""A smaller difference is not worth a word."""
MOST_NAMED = 10
"""Unused columns that are named."""
_KINDS = {"numeric": "number", "log": "number", "date": "date"}
"""What kinds of columns are for people; all others are categories."""


class Trait(NamedTuple):
    """One column: numbers, or texts (None where one is missing), and the spread of the numbers."""

    name: str
    kind: str
    """"number", "date" or "category"."""
    values: Array
    spread: float = 1.0

    def take(self, rows: Any) -> "Trait":
        """Some of the rows."""
        return self._replace(values=self.values[rows])

    @property
    def missing(self) -> Array:
        """Return which rows have no value."""
        if self.kind != "category":
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=bool)

    @property
    def whole(self) -> bool:
        """Whether all numbers are whole ones."""
        known = self.values[~np.isnan(self.values)] if self.kind != "category" else np.empty(0)
        return bool(len(known) and (known == np.floor(known)).all())


class Difference(NamedTuple):
    """A column in which two samples, or two groups, differ: its values in both, and by how much."""

    column: str
    first: str
    second: str
    size: float


def show_number(value: float) -> str:
    """A number for people, in three digits or whole thousands.

    Examples
    --------
    >>> show_number(61234.5), show_number(0.12345), show_number(2.0)
    ('61,234', '0.123', '2.00')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")


def show_value(kind: str, value: Any, *, exact: bool = False) -> str:
    """A cell for people; a mean of cells unless it is ``exact``."""
    if kind == "category":
        return "missing" if value is None else visible(str(value))
    if np.isnan(value):
        return "missing"
    if kind == "date":
        return date_text(value if exact else np.floor(value))
    return f"{value:,.6g}" if exact else show_number(value)


def read_traits(X: Any, names: Any = None, columns: Columns | None = None) -> list[Trait]:
    """Return the columns of a table that can be described: numbers, dates and categories.

    Of a data frame and the ``columns`` of a fit, only those that the fit used are returned, of the kinds that they had
    there. If the fit used none of them, or if that is not known, all but identifiers, texts and constants are returned.
    """
    frame = as_frame(X)
    if frame is not None:
        existing = set(column_names(frame))
        used = [] if columns is None else [column.name for column in columns.used if column.name in existing]
        if columns is not None and used:
            return [_fitted_trait(column, values) for column, values in columns.read(frame, used)]
        named = zip(column_names(frame), frame.iter_columns(), strict=True)
        return [trait for name, cells in named if (trait := _trait(name, read_values(cells, name=name))) is not None]
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {matrix.shape}.")
    labels = [f"feature {i}" for i in range(matrix.shape[1])] if names is None else list(map(str, names))
    if len(labels) != matrix.shape[1]:
        labels = [f"feature {i}" for i in range(matrix.shape[1])]
    if matrix.dtype.kind in "fiu":  # an array has features, whatever their numbers look like
        return [_number_trait(name, values) for name, values in zip(labels, matrix.T.astype(np.float64), strict=True)]
    found = (_trait(name, read_values(matrix[:, i])) for i, name in enumerate(labels))
    return [trait for trait in found if trait is not None]


def describe_unused(columns: Columns | None, X: Any = None) -> str:
    """Return a sentence that names the columns of a table, or of the fit, that the clustering did not use; or ""."""
    if columns is None:
        return ""
    used = {column.name for column in columns.used}
    names = [column.name for column in columns] if as_frame(X) is None else column_names(X)
    unused = [visible(name) for name in names if name not in used]
    if not unused:
        return ""
    if len(unused) == len(names):
        return "No column of this table was used for clustering."
    more = f" and {len(unused) - MOST_NAMED} more" if len(unused) > MOST_NAMED else ""
    return f"Columns not used for clustering: {', '.join(unused[:MOST_NAMED])}{more}."


def _fitted_trait(column: Column, values: Values) -> Trait:
    """Return a column as the fit took it."""
    kind = _KINDS.get(column.kind, "category")
    if kind == "category" or values.numbers is None:
        return Trait(column.name, "category", values.as_texts())
    return _number_trait(column.name, values.numbers, kind)


def _trait(name: str, values: Values) -> Trait | None:
    kind = find_kind(name, values, values.known)
    if kind in ("identifier", "text", "constant", "empty"):
        return None
    if values.numbers is None:
        return Trait(name, "category", values.as_texts())
    return _number_trait(name, values.numbers, "date" if kind == "date" else "number")


def _number_trait(name: str, numbers: Array, kind: str = "number") -> Trait:
    return Trait(name, kind, numbers, _spread(numbers[~np.isnan(numbers)]))


def _spread(numbers: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.std(numbers, dtype=np.float64)) or 1.0


def fitted_traits(found: Clustering, rows: Array) -> list[Trait]:
    """The columns of some of the fitted samples, from the features that the model keeps; empty where it cannot tell."""
    source, copies = found.fitted.source, found.fitted.copies
    if not isinstance(source, Points) or issparse(source.values) or not source.values.shape[1]:
        return []
    places = rows if copies is None else copies[rows]
    matrix = _unscale(source, np.maximum(places, 0)) if (places >= 0).all() else None
    if matrix is None:
        return []
    values, kept, spread = matrix
    columns = found.columns
    if columns is not None and columns.encoded:
        full, wide = np.zeros((len(rows), source.n_features)), np.ones(source.n_features)
        full[:, kept], wide[kept] = values, spread
        if found.missing is not None:
            full[found.missing[rows]] = np.nan  # an imputed value is not a measured one
        return _decoded(columns, full, wide)
    names = found.feature_names or [f"feature {i}" for i in range(source.n_features)]
    if found.missing is not None:
        values = np.where(found.missing[rows][:, kept], np.nan, values)
    return [Trait(names[kept[at]], "number", values[:, at], spread[at]) for at in np.argsort(kept)]


def _decoded(columns: Columns, matrix: Array, spread: Array) -> list[Trait]:
    found, at = [], 0
    for column, cells in zip(columns.used, columns.decode(matrix), strict=True):
        kind = _KINDS.get(column.kind, "category")
        width = float(spread[at])
        if column.kind == "log":  # a factor of e is a step of 1; told of numbers as they are
            width = float(np.exp(column.median) * width) or 1.0
        found.append(Trait(column.name, kind, cells, width))
        at += len(column.features)
    return found


def _unscale(source: Points, places: Array) -> tuple[Array, Array, Array] | None:
    """Samples before they were scaled, which features they are, and their spreads; None where that cannot be told."""
    scaling, known = source.scaling, source.values if source.given is None else source.given
    points, spread = np.asarray(known[places], dtype=np.float64), np.array([_spread(column) for column in known.T])
    if scaling is None or source.given is not None:
        return points, np.arange(points.shape[1]), spread
    if points.shape[1] != len(scaling.features):
        return None
    if len(scaling.weights) == len(scaling.features):
        values, unit = points / scaling.weights, 1 / scaling.weights
    else:
        values = 2 * ((points * scaling.deviation + scaling.mean) * scaling.span + scaling.low)
        unit = 2 * scaling.deviation * scaling.span
    again = np.zeros((len(points), source.n_features))
    again[:, scaling.features] = values
    same = np.allclose(apply_scaling(again, scaling), points, rtol=1e-4, atol=1e-6)
    return (values, scaling.features, unit * spread) if same else None


def compare_samples(traits: list[Trait], i: int, j: int) -> list[Difference]:
    """Columns in which two rows differ, the largest difference first."""
    found = []
    for trait in traits:
        a, b = trait.values[i], trait.values[j]
        if trait.kind == "category":
            size = float(a != b)
        else:
            size = abs(float(a - b)) / trait.spread if not np.isnan(a - b) else 0.0
        first, second = (show_value(trait.kind, value, exact=True) for value in (a, b))
        found.append(Difference(trait.name, first, second, size))
    return ranked(found)


def compare_to_group(traits: list[Trait], sample: int, group: Array) -> list[Difference]:
    """Columns in which a row is unlike a group: far from the mean, or of a category that is rare there."""
    found = []
    for trait in traits:
        value, others = trait.values[sample], trait.values[group]
        if trait.kind == "category":
            share = float(np.mean(others == value)) if value is not None else 1.0
            second, size = f"{share:.0%} of the cluster", 1 - share if share < 0.2 else 0.0
        else:
            mean = mean_known(others)
            size = 0.0 if np.isnan(value - mean) else abs(float(value - mean)) / trait.spread
            second = f"cluster mean {show_value(trait.kind, mean)}"
        found.append(Difference(trait.name, show_value(trait.kind, value, exact=True), second, size))
    return ranked(found, 0.5)


def compare_groups(traits: list[Trait], first: Array, second: Array) -> list[Difference]:
    """Columns in which two groups of rows differ, the largest difference first: means, or shares of a category."""
    found = []
    for trait in traits:
        a, b = trait.values[first], trait.values[second]
        if trait.kind == "category":
            level, p, q = most_different(a, b)
            found.append(Difference(trait.name, f"{visible(level)} {p:.0%}", f"{q:.0%}", abs(arc(p) - arc(q))))
            continue
        one, other = mean_known(a), mean_known(b)
        size = 0.0 if np.isnan(one - other) else abs(one - other) / trait.spread
        found.append(Difference(trait.name, show_value(trait.kind, one), show_value(trait.kind, other), size))
    return ranked(found)


def ranked(found: list[Difference], least: float = SMALL) -> list[Difference]:
    """Differences that are not small, the largest first."""
    return sorted((d for d in found if d.size >= least), key=lambda d: -d.size)


def mean_known(values: Array) -> float:
    """The mean of the numbers that are there; NaN where none is."""
    known = values[~np.isnan(values)]
    return float(known.mean(dtype=np.float64)) if len(known) else float("nan")


def arc(share: float) -> float:
    """The arc of a share, in which differences have the same variance everywhere."""
    return float(2 * np.arcsin(np.sqrt(min(max(share, 0.0), 1.0))))


def most_different(first: Array, second: Array) -> tuple[str, float, float]:
    """The value of a category whose shares in two groups differ most, and the shares."""
    counts, others = (Counter(value for value in values if value is not None) for values in (first, second))
    n, m = max(1, sum(counts.values())), max(1, sum(others.values()))
    levels = sorted(counts | others, key=lambda level: (-abs(arc(counts[level] / n) - arc(others[level] / m)), level))
    return (levels[0], counts[levels[0]] / n, others[levels[0]] / m) if levels else ("missing", 0.0, 0.0)


def in_words(differences: list[Difference], most: int = 3, *, words: str = " vs ") -> str:
    """Return differences as one line.

    Examples
    --------
    >>> in_words([Difference("income", "61,000", "25,300", 2.1), Difference("city", "Rome", "Oslo", 1.0)])
    'income (61,000 vs 25,300), city (Rome vs Oslo)'
    """
    return ", ".join(f"{visible(d.column)} ({d.first}{words}{d.second})" for d in differences[:most])
