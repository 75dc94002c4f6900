"""The columns of a page: numbers and dates as they are, anything else as categories.

Whole numbers, dates and numbers of few decimals, as tables have them, come out of the page exactly as they went in.
Others are float64 or, of many samples, float32, which has seven digits. If all columns are too many for a page, those
that the clustering did not use and those that differ least between clusters are left out, and the page says so.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, inverse_order
from gitcluster.explorer.packing import pack
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.traits import Trait, fitted_traits
from gitcluster.preprocessing.frames import column_at, is_frame
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.values import Format, Values, as_objects, read_values

MOST_CHARACTERS = 6_000_000
"""Characters that the columns of a page may take, beside those that are asked for by name."""
MANY = 20_000
"""Samples from which on numbers of many decimals keep seven digits."""
EXACT = 2**53
"""Whole numbers below this are told apart in float64."""
MOST_DECIMALS = 6
MOST_JUDGED = 5_000
"""Samples by which columns are compared."""
FEW = 50
"""A category of more values than this is a text, which tells nothing of clusters."""


class Source(NamedTuple):
    """A column of a table: its name, and what reads the values of some rows."""

    name: str
    read: Callable[[Array], Values]


def pack_columns(found: Clustering, X: Any, columns: Any, rows: Array) -> tuple[list[dict[str, Any]], int]:
    """Return the columns that are asked for, those of the table that fit into the page, and how many did not fit.

    ``used`` says whether the clustering used a column: only those are reasons.
    """
    fitted = None if found.columns is None else {column.name for column in found.columns.used}
    asked = [
        pack_values(name, read(rows)) | {"used": fitted is not None and name in fitted}
        for name, read in _asked(columns, found.n_samples)
    ]
    known = {column["name"] for column in asked}
    named = [source for source in _of_table(found, X, rows) if source.name not in known]
    judged = rows[:: -(-len(rows) // MOST_JUDGED)]
    labels = np.asarray(found.labels)[judged]
    used = [fitted is None or source.name in fitted for source in named]
    order = sorted(range(len(named)), key=lambda i: (not used[i], -parting(named[i].read(judged), labels)))
    kept, room = {}, MOST_CHARACTERS
    for i in order:
        column = pack_values(named[i].name, named[i].read(rows), short=len(rows) > MANY) | {"used": used[i]}
        room -= _characters(column)
        if room < 0:
            break
        kept[i] = column
    return asked + [kept[i] for i in sorted(kept)], len(named) - len(kept)


def _asked(columns: Any, n_samples: int) -> Iterator[Source]:
    if columns is None:
        return
    if is_frame(columns):
        named: Iterable[tuple[Any, Any]] = ((name, column_at(columns, i)) for i, name in enumerate(columns.columns))
    elif hasattr(columns, "items"):
        named = columns.items()
    else:
        raise TypeError(f"columns must be a dict or a DataFrame, got {type(columns).__name__}. Use {{'name': values}}.")
    for name, values in named:
        shape = np.shape(values)
        if shape != (n_samples,):
            raise ValueError(f"columns[{name!r}] must have shape ({n_samples},), one value per sample, got {shape}.")
        yield Source(str(name), partial(_read, values))


def _read(values: Any, rows: Array) -> Values:
    if hasattr(values, "iloc"):
        return read_values(values.iloc[rows])
    return read_values(values[rows] if hasattr(values, "dtype") else np.asarray(values)[rows])


def _of_table(found: Clustering, X: Any, rows: Array) -> Iterator[Source]:
    """Columns of the table that was given, else of the features that the model keeps."""
    if is_frame(X):
        for place, name in enumerate(X.columns):
            yield Source(str(name), partial(_read, column_at(X, place)))
    elif X is None:
        for trait in fitted_traits(found, rows):
            yield Source(trait.name, partial(_read_trait, trait, rows))
    elif isinstance(found.source, Points) and not issparse(X):
        matrix = np.asarray(X)
        names = found.feature_names if len(found.feature_names or ()) == matrix.shape[1] else None
        for i in range(matrix.shape[1]):
            yield Source(names[i] if names else f"feature {i}", partial(_read, matrix[:, i]))


def _read_trait(trait: Trait, known: Array, rows: Array) -> Values:
    values = trait.values[np.searchsorted(known, rows)]
    if trait.kind == "category":
        return Values(Format("texts"), texts=as_objects(values))
    nature = "dates" if trait.kind == "date" else "numbers"
    return Values(
        Format(nature), values.astype(np.float32).astype(np.float64)
    )  # what was scaled and back has seven digits


def pack_values(name: str, values: Values, *, short: bool = False) -> dict[str, Any]:
    """One column; in ``short`` numbers of many decimals keep seven digits."""
    if values.numbers is None:
        return {"name": name, **_pack_texts(values)}
    kind = "date" if values.nature == "dates" else "number"
    whole = _as_whole(values.numbers)
    if whole is not None:
        numbers, decimals, missing = whole
        return {"name": name, "kind": kind, "values": pack(numbers), "decimals": decimals, "missing": missing}
    short = short and kind == "number" and _may_be_short(values.numbers)
    return {"name": name, "kind": kind, "values": pack(values.numbers.astype(np.float32 if short else float))}


def _may_be_short(numbers: Array) -> bool:
    """Whether float32 holds the numbers, and none of them is told by more digits, as identifiers are."""
    small = np.nanmax(np.abs(numbers), initial=0.0) < np.finfo(np.float32).max
    return bool(small) and not np.array_equal(np.rint(numbers), numbers, equal_nan=True)


def _as_whole(numbers: Array) -> tuple[Array, int, int | None] | None:
    """Numbers of few decimals as whole ones, their decimals, and what stands for a missing one; None for others."""
    known = numbers[~np.isnan(numbers)]
    for decimals in range(MOST_DECIMALS + 1):
        with np.errstate(over="ignore"):
            whole = np.rint(known * 10.0**decimals)
        if not len(known) or np.abs(whole).max() >= (2**31 - 2 if decimals else EXACT - 1):
            return None
        if (whole / 10.0**decimals == known).all():
            gap = int(whole.max()) + 1 if len(known) < len(numbers) else None
            spread = np.full(len(numbers), 0 if gap is None else gap)
            spread[~np.isnan(numbers)] = whole
            return spread, decimals, gap
    return None


def _pack_texts(values: Values) -> dict[str, Any]:
    texts, known = values.as_texts(), values.known
    words, codes, counts = np.unique(texts[known], return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")  # the most frequent has the first colour
    if values.order:
        order = np.argsort([values.order.index(word) for word in words])
    every = np.full(len(texts), len(words))
    every[known] = inverse_order(order)[codes]
    return {"kind": "category", "values": pack(every), "missing": len(words), "categories": words[order].tolist()}


def _characters(column: dict[str, Any]) -> int:
    return len(column["values"]["data"]) + sum(len(word) + 3 for word in column.get("categories", ()))


def parting(values: Values, labels: Array) -> float:
    """Share of a column's variance that lies between clusters; of categories, of all their shares together.

    Examples
    --------
    >>> parting(Values(Format("numbers"), np.array([1.0, 1.0, 5.0, 5.0])), np.array([0, 0, 1, 1]))
    1.0
    """
    known = values.known & (labels >= 0)
    if values.numbers is not None:
        table = values.numbers[known][:, None]
    else:
        words, codes = np.unique(values.as_texts()[known], return_inverse=True)
        if len(words) > FEW:
            return -1.0
        table = np.eye(len(words))[codes]
    if not len(table):
        return -1.0
    with np.errstate(all="ignore"):
        table = table - table.mean(axis=0)
        counts = np.maximum(np.bincount(labels[known]), 1)
        sums = np.stack([np.bincount(labels[known], column) for column in table.T])
        share = (sums**2 / counts).sum() / (table**2).sum()
    return float(share) if np.isfinite(share) else 0.0
