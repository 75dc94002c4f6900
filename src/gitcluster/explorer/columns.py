"""The columns of a page: numbers and dates as they are in the table, everything else as categories.

Integers, dates and numbers with few decimals are exact. Other numbers are float64, or float32 on a page with many
samples. If the columns are too large for a page, it omits unused columns and those that differ least between clusters.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, inverse_order
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.traits import Trait, fitted_traits
from gitcluster.preprocessing.frames import column_at, is_frame
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.values import Format, Values, as_objects, read_values

MOST_CHARACTERS = 6_000_000
"""Size of all columns of a page, besides those in ``columns=``."""
MANY_SAMPLES = 20_000
"""Samples from which numbers with many decimals are float32."""
MOST_COMPARED = 5_000
"""Number of samples that rank the columns."""
MOST_DECIMALS = 6
MOST_CATEGORIES = 50
"""A column with more categories is text, which is not compared between clusters."""


def pack_columns(clustering: Clustering, X: Any, columns: Any, rows: Array) -> tuple[list[dict[str, Any]], int]:
    """Return the given columns and those of the table that fit into the page, and how many do not fit.

    The entry ``used`` of a column says whether the clustering used it.
    """
    if not (columns is None or is_frame(columns) or isinstance(columns, Mapping)):
        raise TypeError(f"`columns` must be a dict or a DataFrame, got {type(columns).__name__}.")
    given = {} if columns is None else _columns_by_name(columns)
    for name, values in given.items():
        if np.shape(values) != (clustering.n_samples,):
            raise ValueError(f"`columns[{name!r}]` must have shape ({clustering.n_samples},), got {np.shape(values)}.")
    if X is None:
        table = {trait.name: trait for trait in fitted_traits(clustering, rows)}
    elif is_frame(X) or (isinstance(clustering.source, Points) and not issparse(X)):
        table = _columns_by_name(X, clustering.feature_names)
    else:
        table = {}
    table = {name: column for name, column in table.items() if name not in given}
    fitted = None if clustering.columns is None else {column.name for column in clustering.columns.used}
    used = {name: fitted is None or name in fitted for name in table}
    step = -(-len(rows) // MOST_COMPARED)
    labels = np.asarray(clustering.labels)[rows[::step]]
    order = sorted(table, key=lambda name: (not used[name], -separation(_read(table[name], rows, step), labels)))
    packed, size = {}, 0
    for name in order:
        column = pack_values(name, _read(table[name], rows), short=len(rows) > MANY_SAMPLES) | {"used": used[name]}
        size += len(column["values"]["data"]) + sum(len(word) + 3 for word in column.get("categories", ()))
        if size > MOST_CHARACTERS:
            break
        packed[name] = column
    first = [
        pack_values(name, _read(column, rows)) | {"used": fitted is not None and name in fitted}
        for name, column in given.items()
    ]
    return first + [packed[name] for name in table if name in packed], len(table) - len(packed)


def _columns_by_name(X: Any, names: Any = None) -> dict[str, Any]:
    """Return the columns of a data frame, a dict or a matrix, whose features may have names."""
    if is_frame(X):
        return {str(name): column_at(X, i) for i, name in enumerate(X.columns)}
    if isinstance(X, Mapping):
        return {str(name): values for name, values in X.items()}
    matrix = np.asarray(X)
    named = names is not None and len(names) == matrix.shape[1]
    return {names[i] if named else f"feature {i}": matrix[:, i] for i in range(matrix.shape[1])}


def _read(column: Any, rows: Array, step: int = 1) -> Values:
    """Return the values of every ``step``-th of some rows."""
    if not isinstance(column, Trait):
        rows = rows[::step]
        if hasattr(column, "iloc"):
            return read_values(column.iloc[rows])
        return read_values(column[rows] if hasattr(column, "dtype") else np.asarray(column)[rows])
    values = column.values[::step]  # a trait holds these rows only
    if column.kind == "category":
        return Values(Format("texts"), texts=as_objects(values))
    # Numbers that were scaled and restored have about seven digits.
    return Values(Format("dates" if column.kind == "date" else "numbers"), values.astype(np.float32).astype(np.float64))


def pack_values(name: str, values: Values, *, short: bool = False) -> dict[str, Any]:
    """Return one column; ``short`` allows float32 for numbers with many decimals."""
    if values.numbers is None:
        texts, present = values.as_texts(), values.known
        words, codes, counts = np.unique(texts[present], return_inverse=True, return_counts=True)
        # Ordered categories keep their order. Of others, the most frequent comes first.
        order = np.argsort([values.order.index(word) for word in words] if values.order else -counts, kind="stable")
        integers = np.full(len(texts), len(words))
        integers[present] = inverse_order(order)[codes]
        categories = {"missing": len(words), "categories": words[order].tolist()}
        return {"name": name, "kind": "category", "values": pack(integers)} | categories
    column = {"name": name, "kind": "date" if values.nature == "dates" else "number"}
    missing = np.isnan(values.numbers)
    known = values.numbers[~missing]
    with np.errstate(over="ignore"):
        decimals = next((d for d in range(MOST_DECIMALS + 1) if np.array_equal(np.round(known, d), known)), None)
    # float64 holds integers up to 2**53; scaled decimals must fit into int32.
    limit = 2**31 - 2 if decimals else 2**53 - 1
    if decimals is not None and np.abs(known).max(initial=0.0) < limit / 10**decimals:
        integers = np.rint(np.nan_to_num(values.numbers) * 10.0**decimals).astype(np.int64)
        code = int(integers.max()) + 1 if missing.any() else None
        integers[missing] = 0 if code is None else code
        return column | {"values": pack(integers), "decimals": decimals, "missing": code}
    small = np.abs(known).max(initial=0.0) < np.finfo(np.float32).max
    as_float32 = short and small and decimals != 0 and column["kind"] == "number"  # identifiers need all digits
    return column | {"values": pack(values.numbers.astype(np.float32 if as_float32 else np.float64))}


def pack(values: Any) -> dict[str, str]:
    """Return an array as base64: integers in as few bytes as hold them, floats unchanged."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fitting = (t for t in ("u1", "u2", "i4") if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        array = array.astype(next(fitting, "f8"))
    kind = array.dtype.str[1:]
    return {"type": kind, "data": b64encode(array.astype(f"<{kind}").tobytes()).decode("ascii")}


def separation(values: Values, labels: Array) -> float:
    """Return the share of a column's variance between clusters; -1 for texts and empty columns.

    Examples
    --------
    >>> separation(Values(Format("numbers"), np.array([1.0, 1.0, 5.0, 5.0])), np.array([0, 0, 1, 1]))
    1.0
    """
    known = values.known & (labels >= 0)
    if values.numbers is not None:
        table = values.numbers[known][:, None]
    else:
        words, codes = np.unique(values.as_texts()[known], return_inverse=True)
        table = np.eye(len(words))[codes] if len(words) <= MOST_CATEGORIES else np.empty((0, 1))
    if not len(table):
        return -1.0
    with np.errstate(all="ignore"):
        table = table - table.mean(axis=0)
        sums = np.stack([np.bincount(labels[known], column) for column in table.T])
        share = (sums**2 / np.maximum(np.bincount(labels[known]), 1)).sum() / (table**2).sum()
    return float(share) if np.isfinite(share) else 0.0
