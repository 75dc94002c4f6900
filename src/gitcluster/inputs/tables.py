"""Data frames as arrays of features: learn the columns, drop those that say nothing, impute what is missing.

:func:`learn_table` does it for the fit, :func:`read_table` for new rows with what the fit has learned. Arrays are not
touched: they are used as they are.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster.inputs.columns import Columns
from gitcluster.inputs.frames import as_frame
from gitcluster.inputs.imputing import choose_donors, impute
from gitcluster.inputs.kinds import columns_of, drop_independent, is_numeric


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
    """Return the features of a data frame; None if X is not one.

    Parameters
    ----------
    X : data frame or anything else
    requested, weights : dict or None
        Kinds and weights of columns that the user requests.
    check : callable
        Returns a frame of numbers as an array of floats, NaN allowed.
    n_jobs : int, default=None
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
        notes += _empty_rows(missing)
    return FrameFeatures(columns, matrix, missing if missing.any() else None, donors, tuple(notes))


def _empty_rows(missing: NDArray[np.bool_]) -> list[str]:
    count = int(missing.all(axis=1).sum())
    return [f"{count:,} rows have no value in any column that is clustered by"] if count else []


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
