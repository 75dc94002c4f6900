"""Scale the features before stage 1; the scale is stored, so that new samples are scaled alike.

Dividing every feature by its standard deviation makes all later stages independent of units (Theorem 1). Features
that do not vary are dropped. Dense samples are centred as well, which changes no distance and preserves the digits of
data far from the origin; sparse ones are not, so that they stay sparse. A power transform and a rotation may follow,
see ``preprocessing.representations``. Every row is scaled independently, so that parts of the samples, and new samples,
get exactly the same values as all samples at once.

Features have a canonical order, which does not depend on the order in which they were given. The order of the samples
decides between equal distances and compares feature by feature, and sums over features round in the order of the
features. Features are sorted by mean and standard deviation, as shares of their ranges. Features with the same values
in other rows, such as yes/no columns with equally many ones, are compared by the rows that hold these values.
"""

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.validation import check_unmasked
from gitcluster.kernels import features as kernels
from gitcluster.kernels import run_threads
from gitcluster.neighbors.duplicates import GRID

LARGEST = {"d": 1e140, "f": 1e30}
"""Coordinates up to which distances are finite; if all are below the inverse, distances underflow."""
TINY = 1e-300
"""Values below this have no inverse to divide a sparse feature by."""
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 4096, 16
"""Samples and features that a thread scales at a time, so that they stay in its cache."""


class Scaling(NamedTuple):
    """A scaling: feature j becomes ((x_j / 2 - low_j) / span_j - mean_j) / deviation_j."""

    features: Array
    """(m,) features that are used."""
    low: NDArray[np.float64] = np.empty(0)
    span: NDArray[np.float64] = np.empty(0)
    mean: NDArray[np.float64] = np.empty(0)
    deviation: NDArray[np.float64] = np.empty(0)
    weights: NDArray[np.float64] = np.empty(0)
    """(m,) factors; they or the four moments are empty."""
    powers: NDArray[np.float64] = np.empty(0)
    """(m,) exponents of Yeo and Johnson's transform of the result; empty without a transform."""
    means: NDArray[np.float64] = np.empty(0)
    """(m,) means after the power transform."""
    spreads: NDArray[np.float64] = np.empty(0)
    """(m,) standard deviations after the power transform."""
    rotation: NDArray[np.float64] = np.empty((0, 0))
    """(m, r) principal components, one per column; empty if there is no rotation."""

    def take(self, order: Array) -> "Scaling":
        """Return the scaling with its features in another order."""
        return Scaling._make(part[order] if len(part) else part for part in self)

    def put_in_order(self, features: Array) -> "Scaling":
        """Return the scaling with its features in the order that they have among all ``features``."""
        return self.take(np.argsort(inverse_order(features)[self.features]))


def fit_scaling(X: Any, scale: ArrayLike | str | None = "std", *, n_jobs: int | None = None) -> Scaling:
    """Learn the scale of the features of ``X``, see :func:`scale_features`; a weight of 0 drops a feature."""
    if isinstance(scale, str) and scale == "std":
        return _fit_sparse(X) if issparse(X) else _fit_dense(X, n_jobs)
    check_unmasked("scale", scale)
    try:
        weights = np.ones(X.shape[1]) if scale is None else np.asarray(scale, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (X.shape[1],) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"scale must be 'auto', 'std', 'components', None or one finite weight >= 0 for each of the {X.shape[1]} "
            f"features, got {scale!r}."
        )
    return Scaling(np.flatnonzero(weights), weights=weights[weights > 0])


def _fit_dense(X: Array, n_jobs: int | None) -> Scaling:
    low, high = X.min(axis=0), X.max(axis=0)
    features = varying_features(low, high)
    groups = [features[start : start + COLUMNS_AT_ONCE] for start in range(0, len(features), COLUMNS_AT_ONCE)]

    def sum_some(some: Array) -> NDArray[np.int64]:
        return sum_moments(np.ascontiguousarray(X[:, some].T), low[some], high[some])

    sums = np.concatenate([np.empty((0, 8), np.int64), *run_threads(sum_some, groups, n_jobs)])
    return scaling_from_moments(features, low, high, sums, len(X))


def varying_features(low: Array, high: Array) -> Array:
    """Return the features whose lowest and highest value differ by more than rounding."""
    bottom, top = low.astype(np.float64) / 2, high.astype(np.float64) / 2
    rounding = 8 * np.finfo(low.dtype).eps * np.maximum(np.abs(bottom), np.abs(top))
    return np.flatnonzero(top - bottom > rounding)


def sum_moments(columns: Array, low: Array, high: Array) -> NDArray[np.int64]:
    """Return exact sums of values and squares, (features, 8) integers; those of parts add up to those of all samples.

    Values, (features, samples), are counted from the lowest, for the digits of data far from 0, and halved, for data
    near the largest float. A share v of the span, a multiple of 2^-52, is a 2^26 + b; the sums are of a, b, a^2, a b
    and b^2, the last three in halves of 32 bits.
    """
    bottom, top = low.astype(np.float64) / 2, high.astype(np.float64) / 2
    sums = np.zeros((len(columns), 8), np.int64)
    for column, values in enumerate(columns):
        shares = values.astype(np.float64) / 2 - bottom[column]
        shares /= top[column] - bottom[column]
        whole = np.rint(shares * 2.0**52).astype(np.int64)
        a, b = whole >> 26, whole & ((1 << 26) - 1)
        halves = [half for squares in (a * a, a * b, b * b) for half in (squares >> 32, squares & ((1 << 32) - 1))]
        sums[column] = [part.sum() for part in (a, b, *halves)]
    return sums


def scaling_from_moments(features: Array, low: Array, high: Array, sums: NDArray[np.int64], n_samples: int) -> Scaling:
    """Return the scaling from the sums of :func:`sum_moments`; only the last step is rounded."""
    bottom, top = low[features].astype(np.float64) / 2, high[features].astype(np.float64) / 2
    mean, deviation = np.empty((2, len(features)))
    for column, (a, b, *halves) in enumerate(sums.tolist()):
        aa, ab, bb = ((upper << 32) + lower for upper, lower in zip(halves[::2], halves[1::2], strict=True))
        total, squares = (a << 26) + b, (aa << 52) + (ab << 27) + bb
        mean[column] = total / (n_samples << 52)
        deviation[column] = sqrt((n_samples * squares - total**2) / (n_samples**2 << 104))
    return Scaling(features, bottom, top - bottom, mean, deviation)


def _fit_sparse(X: Any) -> Scaling:
    largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    if ((largest > 0) & (largest < TINY)).any():
        raise ValueError(f"X has a feature whose values are all below {TINY}. Multiply X by a constant.")
    largest = np.where(largest > 0, largest, 1.0)
    unit = X @ csr_array((1 / largest, (np.arange(len(largest)),) * 2))
    mean = np.asarray(unit.mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(np.asarray(unit.multiply(unit).mean(axis=0)).ravel() - mean**2, 0))
    features = np.flatnonzero(deviation > 8 * np.finfo(X.dtype).eps)
    return Scaling(features, weights=1 / (largest * deviation)[features])


def apply_scaling(X: Any, scaling: Scaling | None, *, rows: Array | None = None, n_jobs: int | None = None) -> Any:
    """Return scaled samples: a new C-contiguous array, or a CSR array with sorted rows, in the precision of ``X``.

    With ``rows``, only these samples in this order; dense ones are scaled in blocks.
    """
    if issparse(X):
        points = csr_array(X, copy=scaling is None) if rows is None else csr_array(X[rows])
        if scaling is not None:
            points = csr_array(points[:, scaling.features] * scaling.weights[None, :], dtype=X.dtype)
        points.eliminate_zeros()
        points.sort_indices()
        return points
    n_rows, n_columns = len(X) if rows is None else len(rows), X.shape[1]
    if scaling is not None:
        n_columns = scaling.rotation.shape[1] if scaling.rotation.size else len(scaling.features)
    points = np.empty((n_rows, n_columns), X.dtype)

    def fill(start: int) -> None:
        here = slice(start, start + ROWS_AT_ONCE)
        with np.errstate(over="ignore"):
            points[here] = _scale_rows(X[here] if rows is None else X[rows[here]], scaling)
        points[here] += 0.0  # -0.0 and 0.0 are one value

    run_threads(fill, range(0, n_rows, ROWS_AT_ONCE), n_jobs)
    return points


def _scale_rows(X: Array, scaling: Scaling | None) -> Array:
    """Return some samples with all features."""
    if scaling is None:
        return X
    if len(scaling.weights) == len(scaling.features):
        return np.asarray(X[:, scaling.features] * scaling.weights)
    points = np.empty((len(X), len(scaling.features)), X.dtype)
    for first in range(0, len(scaling.features), COLUMNS_AT_ONCE):
        columns = slice(first, first + COLUMNS_AT_ONCE)
        low, span, mean, deviation = (part[columns, None] for part in scaling[1:5])
        values = np.ascontiguousarray(X[:, scaling.features[columns]].T, np.float64)
        values /= 2  # the difference of two halves is finite, also near the largest float
        values -= low
        values /= span
        values -= mean
        values /= deviation
        if len(scaling.powers):
            for column, power in enumerate(scaling.powers[columns]):
                power_transform(values[column], power)
            values -= scaling.means[columns, None]
            values /= scaling.spreads[columns, None]
        points[:, columns] = values.T
    if not scaling.rotation.size:
        return points
    # BLAS may round a row differently beside other rows; the kernel sums every row in the order of the features.
    rotated = np.zeros((len(points), scaling.rotation.shape[1]))
    kernels.rotate(points, scaling.rotation, rotated)
    return rotated


def power_transform(values: NDArray[np.float64], power: float) -> None:
    """Apply Yeo and Johnson's transform to values in place; large values stay finite."""
    kernels.signed_log1p(values)
    kernels.yeo_johnson(values, power, values)


def scale_checked(X: Any, scaling: Scaling | None, *, rows: Array | None = None, n_jobs: int | None = None) -> Any:
    """Return scaled samples, or raise an error if a scale makes them too large or too small for their distances."""
    with np.errstate(over="ignore"):
        points = apply_scaling(X, scaling, rows=rows, n_jobs=n_jobs)
    if points.size:
        far, low, high = LARGEST[points.dtype.char], points.min(), points.max()
        if not -far < low <= high < far:
            raise ValueError("X has values too large for their distances with this scale. Use scale='std'.")
        if 0 < max(-low, high) < 1 / far:  # their squares would underflow to 0, as if all samples were equal
            raise ValueError("X has values too small for their distances with this scale. Use scale='std'.")
    return points


def scale_features(X: Any, scale: ArrayLike | str | None = "std") -> Any:
    """Divide every feature by its standard deviation and drop the features that do not vary.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Finite float32 or float64 values. Never written to.
    scale : {"std"}, None or array-like of shape (n_features,), default="std"
        Standard deviations, nothing, or weights that features are multiplied by.

    Returns
    -------
    points : ndarray or CSR array of shape (n_samples, n_varying_features)
        A C-contiguous array is centred as well.

    Examples
    --------
    >>> import numpy as np
    >>> scale_features(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([[-1.],
           [ 1.]])
    """
    return apply_scaling(X, fit_scaling(X, scale))


def rank_features(keys: Any, hash_columns: Callable[[NDArray[np.int64]], NDArray[np.uint64]]) -> NDArray[np.int64]:
    """Return the features in canonical order, by several rows of ``keys``, then by the rows that hold their values.

    Features of equal keys have equal ranks. Rows are hashed by the ranks and values of their features, whatever the
    order of these, and features by the hashes and values of their rows. This is repeated while it separates features.
    Features that stay equal are exchangeable: in a full grid nothing distinguishes width from height.
    """
    ranks = _rank_alike(keys)
    while ranks.max(initial=-1) + 1 < len(ranks):
        finer = _rank_alike([ranks, hash_columns(ranks)])
        if finer.max() == ranks.max():
            break
        ranks = finer
    return np.argsort(ranks, kind="stable")


def _rank_alike(keys: Any) -> NDArray[np.int64]:
    """Return the rank of every column of some keys, the first key first; equal columns have equal ranks."""
    order = np.lexsort(list(keys)[::-1])
    fresh = np.zeros(len(order), np.int64)
    for key in keys:
        fresh[1:] |= key[order][1:] != key[order][:-1]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(fresh)
    return ranks


def order_scaling(X: Array, scaling: Scaling, *, n_jobs: int | None = None) -> Scaling:
    """Return the scaling by standard deviations with the features of dense samples in canonical order."""
    hash_columns = partial(sum_columns, X, scaling, n_jobs=n_jobs)
    return scaling.take(rank_features([scaling.mean, scaling.deviation], hash_columns))


def all_features(scaling: Scaling, n_features: int) -> NDArray[np.int64]:
    """Return the features of a scaling in their order, then those that do not vary."""
    return np.concatenate([scaling.features, np.setdiff1d(np.arange(n_features), scaling.features)])


def sum_columns(
    X: Array, scaling: Scaling, ranks: NDArray[np.int64], *, n_jobs: int | None = None
) -> NDArray[np.uint64]:
    """Return a hash of every feature of a scaling; those of parts of the samples add up to those of all.

    Values are counted in many small shares of the range: the same in all units.
    """

    def add(start: int) -> NDArray[np.uint64]:
        steps = X[start : start + ROWS_AT_ONCE, scaling.features].astype(np.float64).T / 2
        steps -= scaling.low[:, None]
        steps *= (GRID / scaling.span)[:, None]
        values = mix(np.rint(steps).astype(np.int64).view(np.uint64))
        rows = mix(values + mix(ranks.view(np.uint64))[:, None]).sum(axis=0)  # sums wrap around, in any order
        return np.asarray(mix(values + rows).sum(axis=1))

    nothing = np.zeros(len(ranks), np.uint64)
    return np.asarray(sum(run_threads(add, range(0, len(X), ROWS_AT_ONCE), n_jobs), start=nothing))


def order_sparse(X: Any) -> NDArray[np.int64]:
    """Return all features of a CSR array in canonical order."""
    largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    columns, rows = X.indices, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    steps = np.rint(X.data / largest[columns] * GRID).astype(np.int64)
    values = mix(steps.view(np.uint64))

    def add_up(to: Any, hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
        total = np.zeros(size, np.uint64)
        np.add.at(total, to, hashes)
        return total

    def hash_columns(ranks: NDArray[np.int64]) -> NDArray[np.uint64]:
        of_rows = add_up(rows, mix(values + mix(ranks.view(np.uint64))[columns]), X.shape[0])
        return add_up(columns, mix(values + of_rows[rows]), X.shape[1])

    sums = add_up(columns, steps.view(np.uint64), X.shape[1])
    return rank_features([np.bincount(columns, minlength=X.shape[1]), sums], hash_columns)


def mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well-mixed bits (the finalizer of SplitMix64): sums of them are equal for equal sets only."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
