"""Data frames of any library as arrays of features: pandas, polars, pyarrow, DuckDB, lazy frames.

:func:`learn_table` learns the columns of a fit, drops those without information, and imputes what is missing.
:func:`read_table` does the same for new rows with what the fit has learned. Arrays are not touched: they are used as
they are.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster._support.names import escape_control, list_of
from gitcluster.kernels import run_chunks
from gitcluster.kernels.features import impute_rows
from gitcluster.preprocessing.columns import DISCRETE, Column, learn_column
from gitcluster.preprocessing.dependence import are_dependent, is_multimodal
from gitcluster.preprocessing.representations import FeatureKinds
from gitcluster.preprocessing.scaling import mix
from gitcluster.preprocessing.values import Format, Values, as_objects, read_values


def as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """Return a data frame of any library, lazy ones collected; None for arrays and everything else."""
    if isinstance(X, nw.DataFrame):
        return X
    if isinstance(X, (np.ndarray, list, tuple)) or issparse(X):
        return None
    names = list(map(str, getattr(X, "columns", ()))) if hasattr(X, "iloc") else []
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"The data frame has columns of the same name: {listed(twice)}. Rename one of each.")
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def native_frame(X: Any) -> Any:
    """Return a lazy frame or relation collected; everything else as it is."""
    frame = as_frame(X)
    return X if frame is None else frame.to_native()


def refuse_containers(X: Any) -> None:
    """Raise TypeError for objects that are neither an array nor a data frame."""
    is_structured = isinstance(X, np.ndarray) and X.dtype.names is not None
    if is_structured or (isinstance(X, (dict, set, Generator, str, bytes, PathLike)) and not issparse(X)):
        raise TypeError(  # a DOK matrix is a dict
            f"X must be an array or a data frame, got {type(X).__name__}. Use pandas.DataFrame(X), or read the file."
        )


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a data frame as texts."""
    frame = as_frame(X)
    assert frame is not None
    return [str(name) for name in frame.columns]


def row_labels(X: Any) -> NDArray[Any] | None:
    """Return the index of a pandas frame as integers or texts; None if it is 0, 1, 2, ... or not unique."""
    index = getattr(X, "index", None)
    if not hasattr(X, "iloc") or index is None or getattr(index, "nlevels", 1) > 1:
        return None
    labels = np.asarray(index)
    if labels.dtype.kind in "iu":
        labels = labels if labels.max(initial=0) >= 2**63 else labels.astype(np.int64)
        plain = np.array_equal(labels, np.arange(len(labels)))
        return None if plain or len(np.unique(labels)) < len(labels) else labels
    texts = as_objects(str(label) for label in index)
    return None if len(set(texts)) < len(texts) else texts


def listed(names: list[str]) -> str:
    """Return names for a message, the first eight of many."""
    return list_of(list(map(repr, names)), 8)


def is_numeric(X: Any) -> bool:
    """Return whether all columns of a frame have numeric dtypes and a value, so that an array of them will do."""
    frame = as_frame(X)
    return frame is not None and all(
        ((series.dtype.is_numeric() and series.dtype != nw.Decimal) or series.dtype == nw.Boolean)
        and (not len(series) or series.null_count() < len(series))
        for series in frame.iter_columns()
    )


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
            raise ValueError(f"The data frame lacks {listed(lost)}, which the model was fitted with.")
        columns = {column.name: column for column in self.columns}
        for name in wanted:
            yield columns[name], read_values(series[name], columns[name].format, name=name)

    def encode(
        self, X: Any, known: Iterable[tuple[Column, Values]] | None = None
    ) -> tuple[NDArray[np.float64], list[str]]:
        """Return the features of a frame, (n, m), NaN for missing numbers, and notes on cells that count as missing.

        ``known`` are the used columns with their cells, if these have been read.
        """
        parts, notes = [], []
        for column, values in self.read(X) if known is None else known:
            part, unseen = column.encode(values)
            parts.append(part)
            not_read = "cells that are not dates" if column.kind == "date" else "cells that are not numbers"
            for cells, what in ((unseen, "values that the fit did not have"), (values.unread, not_read)):
                if cells:
                    shown = ", ".join(repr(text) for text, _ in cells.most_common(3)) + ", ..." * (len(cells) > 3)
                    notes.append(f"{column.name!r}: {cells.total():,} {what} ({shown}) count as missing")
        return np.concatenate(parts, axis=1), notes

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


def learn_columns(X: Any, requested: Any = None, weights: Any = None) -> tuple[Columns, list[Values | None]] | None:
    """Return the columns of a data frame with their cells; None for anything else.

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
    >>> print(learn_columns(frame)[0])
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
        return Columns(tuple(Column(name, "numeric") for name in names), encoded=False), []
    requested, weights = _check_named("columns", requested, names), _check_named("weights", weights, names)

    def learn(decimal: str) -> list[tuple[Column, Values | None]]:
        return [
            learn_column(name, cells, requested.get(name), weights.get(name, 1.0), decimal=decimal)
            for name, cells in zip(names, frame.iter_columns(), strict=True)
        ]

    learned = learn(".")
    if any(column.format.decimal == "," for column, _ in learned):  # then 1.234 is a thousand in the other columns too
        learned = learn(",")
    columns = Columns(tuple(column for column, _ in learned))
    if not columns.used:
        raise ValueError(f"No column is left to cluster by:\n{columns}")
    if nothing_requested and all(c.format.nature in ("numbers", "truths") and c.kind != "empty" for c in columns):
        plain = (
            Column(c.name, "numeric", missing=c.missing, format=Format("numbers", c.format.decimal), unread=c.unread)
            for c in columns
        )
        return Columns(tuple(plain), encoded=False), []
    return columns, [values for _, values in learned]


def _check_named(parameter: str, given: Any, names: list[str]) -> dict[str, Any]:
    """Return a dict by column names, which must all exist."""
    if given is None:
        return {}
    if not hasattr(given, "items"):
        raise TypeError(f"{parameter} must be a dict of column names, got {type(given).__name__}.")
    for name in map(str, given):
        if name not in names:
            raise ValueError(f"{parameter} names {name!r}, which the data frame does not have; it has {listed(names)}.")
    return {str(name): value for name, value in given.items()}


class FrameFeatures(NamedTuple):
    """The features of a data frame, and what the fit learned about its columns."""

    columns: Columns
    matrix: NDArray[np.floating[Any]]
    """(n, m) features without gaps."""
    missing: NDArray[np.bool_] | None = None
    """(n, m) which features were imputed; None if none was."""
    donors: NDArray[np.float64] | None = None
    """Rows that gaps are imputed from, kept for new rows."""
    notes: tuple[str, ...] = ()
    """Remarks about cells that count as missing."""


def learn_table(
    X: Any, requested: Any, weights: Any, check: Callable[[Any], Any], *, n_jobs: int | None = None
) -> FrameFeatures | None:
    """Return the features of a data frame, see :func:`learn_columns`; None if X is not one.

    ``check`` returns a frame of numbers as an array of floats, NaN allowed.
    """
    learned = learn_columns(X, requested, weights)
    if learned is None:
        return None
    columns, cells = learned
    if columns.encoded:
        pairs = zip(columns, cells, strict=True)
        matrix, notes = columns.encode(
            X, ((column, some) for column, some in pairs if column.used and some is not None)
        )
        columns, matrix = drop_independent(columns, matrix)
    elif is_numeric(X):
        matrix, notes = check(X), []
    else:
        matrix, notes = columns.encode(X)
    missing = np.isnan(matrix)
    # Rows that have a gap later, in new data, are imputed as well.
    donors = choose_donors(matrix)
    if empty := int(missing.all(axis=1).sum()):
        notes.append(f"{empty:,} rows have no value in any column that is clustered by")
    matrix = impute(matrix, donors, n_jobs=n_jobs)
    return FrameFeatures(columns, matrix, missing if missing.any() else None, donors, tuple(notes))


def read_table(X: Any, columns: Columns, donors: NDArray[np.float64], *, n_jobs: int | None = None) -> FrameFeatures:
    """Return the features of new rows, read and imputed as the fit did."""
    matrix, notes = columns.encode(X)
    return FrameFeatures(columns, impute(matrix, donors, n_jobs=n_jobs), notes=tuple(notes))


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


N_NEIGHBORS = 5
"""Nearest rows whose mean fills a gap, as in scikit-learn's KNNImputer."""
MAX_DONORS = 5000
"""Rows that are searched. A mean of five is as good from any large sample, and the cost stays linear in the rows."""


def choose_donors(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows that gaps are imputed from: all, or a sample that depends on their contents only.

    Rows are ordered by a hash of their values. A column takes part with a salt, the hash of all of its values, so that
    neither the order of the rows nor that of the columns matters.
    """
    keys = np.zeros(len(matrix), np.uint64)
    for column in matrix.T:
        bits = (column.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
        hashes = mix(np.where(np.isnan(column), np.uint64(0), bits))  # all NaN are the same
        keys += mix(hashes ^ mix(hashes.sum(keepdims=True)))
    order = np.argsort(keys, kind="stable")[:MAX_DONORS]
    return np.asarray(matrix[order], dtype=np.float64)


def impute(matrix: NDArray[np.float64], donors: NDArray[np.float64], *, n_jobs: int | None = None) -> Any:
    """Return features with their NaN filled from the ``donors`` of the fit.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.1, np.nan], [5.0, 7.0]] * 5)
    >>> impute(X, choose_donors(X))[1]
    array([0.1, 1. ])
    """
    rows = np.flatnonzero(np.isnan(matrix).any(axis=1))
    if not len(rows):
        return matrix
    with np.errstate(invalid="ignore"):
        scale = np.nanstd(donors, axis=0)
    discrete = np.isin(donors, (0.0, 0.5, 1.0)) | np.isnan(donors)  # 0.5 is a missing value of two
    # Two rows of different categories are as far from each other as two rows of an independent number typically are.
    scale = np.where((scale > 0) & ~discrete.all(axis=0), scale, 1.0)
    known, filled = matrix[rows] / scale, np.full((len(rows), matrix.shape[1]), np.nan)
    run_chunks(impute_rows, len(rows), n_jobs, known, donors / scale, N_NEIGHBORS, filled, min_chunk_size=64)
    filled *= scale
    filled = np.where(np.isnan(filled), np.nanmedian(donors, axis=0), filled)  # a row without any number
    matrix = matrix.copy()
    matrix[rows] = np.where(np.isnan(known), filled, matrix[rows])
    return matrix
