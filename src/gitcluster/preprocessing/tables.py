"""Data frames as arrays of features: learn the columns, drop those that say nothing, impute what is missing.

:func:`learn_table` does it for the fit, :func:`read_table` for new rows with what the fit has learned. Arrays are not
touched: they are used as they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster.kernels import run_chunks
from gitcluster.kernels.features import impute_rows
from gitcluster.preprocessing.columns import Columns, columns_of, drop_independent, is_numeric
from gitcluster.preprocessing.frames import as_frame
from gitcluster.preprocessing.scaling import mix


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
    """Return the features of a data frame, see :func:`columns_of`; None if X is not one.

    ``check`` returns a frame of numbers as an array of floats, NaN allowed.
    """
    columns = columns_of(X, requested, weights)
    if columns is None:
        return None
    if columns.encoded or not is_numeric(X):
        matrix, notes = columns.encode(X)
    else:
        matrix, notes = check(X), []
    if columns.encoded:
        columns, matrix = drop_independent(columns, matrix)
    missing = np.isnan(matrix)
    # Rows that have a gap later, in new data, are imputed as well.
    donors = choose_donors(matrix)
    if missing.any():
        matrix = matrix.copy()
        impute(matrix, donors, n_jobs=n_jobs)
        if empty := int(missing.all(axis=1).sum()):
            notes.append(f"{empty:,} rows have no value in any column that is clustered by")
    return FrameFeatures(columns, matrix, missing if missing.any() else None, donors, tuple(notes))


def read_table(X: Any, columns: Columns, donors: NDArray[np.float64], *, n_jobs: int | None = None) -> FrameFeatures:
    """Return the features of new rows, read and imputed as the fit did."""
    matrix, notes = columns.encode(X)
    if np.isnan(matrix).any():
        matrix = matrix.copy()
        impute(matrix, donors, n_jobs=n_jobs)
    return FrameFeatures(columns, matrix, notes=tuple(notes))


def native_frame(X: Any) -> Any:
    """Return a lazy frame or relation collected; everything else as it is."""
    frame = as_frame(X)
    return X if frame is None else frame.to_native()


N_NEIGHBORS = 5
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


def impute(matrix: NDArray[np.float64], donors: NDArray[np.float64], *, n_jobs: int | None = None) -> None:
    """Fill the NaN of features in place, from the ``donors`` of the fit.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.1, np.nan], [5.0, 7.0]] * 5)
    >>> impute(X, choose_donors(X))
    >>> X[1]
    array([0.1, 1. ])
    """
    rows = np.flatnonzero(np.isnan(matrix).any(axis=1))
    if not len(rows):
        return
    with np.errstate(invalid="ignore"):
        scale = np.nanstd(donors, axis=0)
    discrete = np.isin(donors, (0.0, 0.5, 1.0)) | np.isnan(donors)  # 0.5 is a missing value of two
    # Two rows of different categories are as far from each other as two rows of an independent number typically are.
    scale = np.where((scale > 0) & ~discrete.all(axis=0), scale, 1.0)
    known, filled = matrix[rows] / scale, np.full((len(rows), matrix.shape[1]), np.nan)
    run_chunks(impute_rows, len(rows), n_jobs, known, donors / scale, N_NEIGHBORS, filled, min_chunk_size=64)
    filled *= scale
    filled = np.where(np.isnan(filled), np.nanmedian(donors, axis=0), filled)  # a row without any number
    matrix[rows] = np.where(np.isnan(known), filled, matrix[rows])
