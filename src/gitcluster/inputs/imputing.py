"""Missing numbers, imputed from the nearest rows in the other columns.

The median of a column would put rows with a gap between the clusters. Instead, a gap is filled with the mean of the
feature over the five nearest rows that have it, as scikit-learn's ``KNNImputer`` does; distances are measured over the
features that both rows have, numbers divided by their standard deviations. Of many rows, 5,000 are searched. These
donors are kept in the model, so that a row is imputed in the same way by ``fit`` and by ``predict``, alone or in a
batch, and in any order of the rows and columns.

In: features with NaN. Out: features without.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster.inputs.ordering import mix
from gitcluster.kernels import run_chunks
from gitcluster.kernels.features import impute_rows

N_NEIGHBORS = 5
MAX_DONORS = 5000
"""Rows that are searched. A mean of five is as good from any large sample, and the cost stays linear in the rows."""

BLOCK = 1 << 16
"""Rows that are hashed at once."""


def choose_donors(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows that gaps are imputed from: all, or a sample that depends on their contents only.

    Rows are ordered by a hash of their values. A column takes part with a salt, the hash of all of its values, so that
    neither the order of the rows nor that of the columns matters.
    """
    blocks = [slice(i, i + BLOCK) for i in range(0, len(matrix), BLOCK)]
    salts = mix(np.sum([_hash(matrix[block]).sum(axis=0) for block in blocks], axis=0, dtype=np.uint64))
    keys = np.concatenate([mix(_hash(matrix[block]) ^ salts).sum(axis=1) for block in blocks])
    order = np.argsort(keys, kind="stable")[:MAX_DONORS]
    return np.asarray(matrix[order], dtype=np.float64)


def _hash(values: NDArray[np.floating[Any]]) -> NDArray[np.uint64]:
    """Return a hash of every value; adding 0.0 makes -0.0 equal to 0.0, and all NaN are the same."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    return mix(np.where(np.isnan(values), np.uint64(0), bits))


def impute(matrix: NDArray[np.float64], donors: NDArray[np.float64], *, n_jobs: int | None = None) -> None:
    """Fill the NaN of features in place.

    Parameters
    ----------
    matrix : ndarray of shape (n_samples, n_features)
    donors : ndarray of shape (n_donors, n_features)
        The result of :func:`choose_donors` for the fitted rows.
    n_jobs : int, default=None

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
    discrete = np.isin(donors, (0.0, 0.5, 1.0)) | np.isnan(donors)
    # Two rows of different categories are as far apart as two rows of an independent number typically are.
    scale = np.where((scale > 0) & ~discrete.all(axis=0), scale, 1.0)
    known, filled = matrix[rows] / scale, np.full((len(rows), matrix.shape[1]), np.nan)
    run_chunks(impute_rows, len(rows), n_jobs, known, donors / scale, N_NEIGHBORS, filled, min_chunk_size=64)
    filled *= scale
    medians = np.nanmedian(donors, axis=0)
    filled = np.where(np.isnan(filled), medians, filled)  # a row without any number
    gaps = np.isnan(matrix[rows])
    part = matrix[rows]
    part[gaps] = filled[gaps]
    matrix[rows] = part
