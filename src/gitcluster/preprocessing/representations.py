"""Representations of the features: structure shows in all of them, an accident of one of them does not.

Dividing by standard deviations is right for features in different units and wrong if all share one: pixels, counts,
principal components. Skewed features need a power transform, noise among many features needs to be left out. Nobody
specifies which it is, so a fit compares all representations and keeps the clustering they agree on.

- ``std``: every feature divided by its standard deviation;
- ``given``: unscaled, all divided by one number;
- ``range``: every feature divided by its range;
- ``power``: the power transform of Yeo and Johnson (2000), then standard deviations;
- ``components``: principal components of ``std`` with most of the variance;
- ``balanced``: every column of a table, number or category, with a variance of one in total;
- ``factors``: principal components of ``balanced`` with more than average variance.

A yes/no column divided by its standard deviation is a wall between two halves of the samples. Beside numeric columns it
gets the weight at which crossing it is as far as the tenth nearest sample is, typically, in the numeric columns. The
same holds for the categories of a table, see :class:`FeatureKinds`, and for neighbouring values of a numeric column
with few values, such as grades. ``balanced`` has the weights of factor analysis of mixed data (Pagès 2004) instead,
which suit tables whose categories make the clusters.
"""

from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster.kernels import features as kernels
from gitcluster.kernels import limit_threads, run_threads
from gitcluster.neighbors import find_neighbors
from gitcluster.preprocessing.scaling import Scaling, apply_scaling, power_transform, scale_checked

POWERS = (-2.0, 4.0)
"""Range of exponents; scikit-learn's PowerTransformer uses an open search in about the same range."""
MAX_VALUES = 500_000
"""Number of values from which exponents are estimated."""
GOLDEN = 0.6180339887498949
"""Golden ratio."""
N_STEPS = 16
"""Steps of the golden section search: the last interval is 6 * GOLDEN**16 = .003 wide."""
VARIANCE_KEPT = 0.9
"""Share of the variance in the principal components that are used."""
MAX_FEATURES = 2000
"""Features up to which principal components are computed; the cost is cubic."""
SAME_UNIT = 1e-9
"""Units whose logarithms differ by less, because of rounding, are equal."""
CROSSING_NEIGHBOR = 10
"""A step in a yes/no column is as long as the distance to this neighbour in the numeric columns."""


class Representation(NamedTuple):
    """One representation of the features."""

    name: str
    scaling: Scaling | None
    reason: str = ""
    """Reason for leaving it out."""


def representation_name(scale: Any) -> str:
    """Return the name of the single representation that a scale other than "auto" requests."""
    return scale if isinstance(scale, str) else "given" if scale is None else "weights"


class FeatureKinds(NamedTuple):
    """Kinds of features that are columns of a table, one entry per feature."""

    column: NDArray[np.int64]
    """Column of the feature: a category has one feature per value."""
    discrete: NDArray[np.bool_]
    """Whether the column is a category, without values in between."""
    weight: NDArray[np.float64]
    """Requested weight."""

    def take(self, features: NDArray[np.int64]) -> "FeatureKinds":
        """Return the kinds of some of the features."""
        return FeatureKinds(self.column[features], self.discrete[features], self.weight[features])


def represent(
    X: Any, base: Scaling, kinds: FeatureKinds | None = None, *, n_jobs: int | None = None
) -> list[Representation]:
    """Return all representations, the simplest first, from some of the samples or all.

    ``base`` are the standard deviations of all samples, ``kinds`` those of the features if they are columns of a table.
    """
    if issparse(X):
        names = ("range", "power", "components", "balanced", "factors")
        others = [Representation(name, None, "sparse samples") for name in names]
        return [Representation("std", base), _given(X, base, None), *others]
    points = apply_scaling(X, base, n_jobs=n_jobs).astype(np.float64)
    table = None if kinds is None else kinds.take(base.features)
    known, span = find_kinds(points) if table is None else (table, 1 / base.deviation)
    weights = weigh_features(points, known, span, close=table is not None, n_jobs=n_jobs)
    std = base._replace(deviation=base.deviation / weights)
    balance = balance_columns(base, known)
    balanced = base._replace(deviation=base.deviation / balance)
    distinct = known.discrete.any() and not np.allclose(weights, balance)
    return [
        Representation("std", std),
        _given(X, base, table),
        _range(base, weights, table),
        _power(points, base, weights, known.discrete, n_jobs),
        _components("components", points * weights, std),
        Representation("balanced", balanced) if distinct else Representation("balanced", None, "the same as std"),
        _components("factors", points * balance, balanced),
    ]


def represent_table(X: Any, base: Scaling, kinds: FeatureKinds, *, divide: bool) -> Representation:
    """Return one representation of a table: standard deviations or, without ``divide``, numbers in their units."""
    table = kinds.take(base.features)
    if not divide and not table.discrete.all():
        spread = 2 * base.span * base.deviation
        typical = np.median(spread[~table.discrete])
        base = base._replace(deviation=base.deviation * np.where(table.discrete, 1.0, typical / spread))
    points = apply_scaling(X, base).astype(np.float64)
    weights = weigh_features(points, table, 1 / base.deviation, close=True)
    return Representation("std" if divide else "given", base._replace(deviation=base.deviation / weights))


def find_kinds(points: NDArray[np.float64]) -> tuple[FeatureKinds, NDArray[np.float64]]:
    """Return the kinds of features of an array, discrete if they have two values, and their ranges."""
    low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
    two, n_features = ((points == low) | (points == high)).all(axis=0), points.shape[1]
    return FeatureKinds(np.arange(n_features), two, np.ones(n_features)), high - low


def weigh_features(
    points: NDArray[np.float64],
    kinds: FeatureKinds,
    span: NDArray[np.float64],
    *,
    close: bool,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the weights of features that were divided by their standard deviations.

    The distance between two values of a discrete column is the crossing length, the median distance to the tenth
    neighbour in the numeric columns, unless the variance of the column would exceed that of a numeric one. With
    ``close``, the distance of neighbouring values of a numeric column is at most the crossing length. ``span`` are the
    ranges of the features.
    """
    weights, numbers = kinds.weight.copy(), ~kinds.discrete
    if numbers.all() and not close:
        return weights
    crossing = crossing_length(points[:, numbers] * weights[numbers], n_jobs=n_jobs)
    if close:
        differences = [np.diff(np.unique(values)) for values in points[:, numbers].T]
        steps = np.array([np.median(gaps) if len(gaps) else 0.0 for gaps in differences])
        weights[numbers] *= np.divide(crossing, steps, out=np.ones_like(steps), where=steps > crossing)
    for column in np.unique(kinds.column[kinds.discrete]):
        own = np.flatnonzero(kinds.column == column)
        if len(own) == 1:
            weights[own] *= np.minimum(1.0, crossing / span[own])
        else:
            # One feature per value. Divided by their spans they are 0 and 1 again, and rows with different values are
            # sqrt(2) from each other. The first bound makes the variances of all features sum to 1, as of a number.
            weights[own] *= min(1 / np.linalg.norm(1 / span[own]), crossing / np.sqrt(2)) / span[own]
    return weights


def crossing_length(numbers: NDArray[np.float64], *, n_jobs: int | None = None) -> float:
    """Return the median distance to the tenth neighbour; infinite without one, or if most rows have ten equal ones."""
    if len(numbers) < 3 or not numbers.shape[1]:
        return np.inf
    k, numbers = min(CROSSING_NEIGHBOR, len(numbers) - 1), np.ascontiguousarray(numbers)
    near = find_neighbors(numbers, n_neighbors=k, search="exact", n_jobs=n_jobs)
    return float(np.median(near.distances[:, -1])) or np.inf


def _given(X: Any, base: Scaling, table: FeatureKinds | None) -> Representation:
    if table is not None and table.discrete.any():
        return Representation("given", None, "numbers and categories have no unit in common")
    units = 1 / base.weights if len(base.weights) else base.span * base.deviation
    if len(units) < 2 or np.ptp(np.log(units)) < SAME_UNIT:
        return Representation("given", None, "the same as std")
    if issparse(X):
        scaling = base._replace(weights=np.full(len(units), np.median(base.weights)))
    else:
        # Every feature was divided by its own span. This undoes it and divides all of them by the median span.
        requested = 1.0 if table is None else table.weight
        scaling = base._replace(mean=np.zeros(len(units)), deviation=np.median(base.span) / base.span / requested)
    try:
        scale_checked(X, scaling)
    except ValueError:
        return Representation("given", None, "values too large or too small for their distances")
    return Representation("given", scaling)


def _range(base: Scaling, weights: NDArray[np.float64], table: FeatureKinds | None) -> Representation:
    by_range = np.ones(len(weights), bool) if table is None else ~table.discrete
    if by_range.sum() < 2 or np.ptp(np.log(base.deviation[by_range])) < SAME_UNIT:
        return Representation("range", None, "the same as std")
    typical = np.median(base.deviation[by_range])
    return Representation("range", base._replace(deviation=np.where(by_range, typical, base.deviation) / weights))


def _power(
    points: NDArray[np.float64],
    base: Scaling,
    weights: NDArray[np.float64],
    discrete: NDArray[np.bool_],
    n_jobs: int | None,
) -> Representation:
    n_samples, n_features = points.shape
    if n_features == 0:
        return Representation("power", None, "no feature varies")
    powers, means, spreads = np.ones(n_features), np.zeros(n_features), np.ones(n_features)
    step = 1 + n_samples * n_features // MAX_VALUES

    def fit(j: int) -> None:
        values = np.ascontiguousarray(points[:, j])
        if not discrete[j]:
            powers[j] = best_power(values[::step])
        power_transform(values, powers[j])
        means[j], spreads[j] = values.mean(), values.std() / weights[j]

    run_threads(fit, range(n_features), n_jobs)
    if not (np.isfinite(means).all() and (spreads > 0).all() and np.isfinite(spreads).all()):
        return Representation("power", None, "a feature is constant or infinite after the transform")
    return Representation("power", base._replace(powers=powers, means=means, spreads=spreads))


def best_power(values: NDArray[np.float64]) -> float:
    """Return the exponent of largest Gaussian likelihood after the transform, by golden section search."""
    logs, transformed = values.copy(), np.empty_like(values)
    kernels.signed_log1p(logs)
    n, slopes = len(values), sum_in_order(logs)

    def likelihood(power: float) -> float:
        kernels.yeo_johnson(logs, power, transformed)
        mean = sum_in_order(transformed) / n
        variance = sum_in_order(transformed * transformed) / n - mean * mean
        return (power - 1.0) * slopes - 0.5 * n * log(variance) if 1e-12 < variance < inf else -inf

    low, high = POWERS
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = likelihood(left), likelihood(right)
    for _ in range(N_STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = likelihood(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = likelihood(right)
    return 0.5 * (low + high)


def sum_in_order(values: NDArray[np.float64]) -> float:
    """Return the sum of values, added one after the other: numpy adds in pairs, which depends on the version."""
    return float(np.add.accumulate(values)[-1])


def balance_columns(base: Scaling, kinds: FeatureKinds) -> NDArray[np.float64]:
    """Return weights, after division by standard deviations, that give every column a variance of one in total.

    A category of v values has v features, which are 1 with probabilities p and have the variances p (1 - p). Divided by
    the square roots of p (v - 1) these are (1 - p) / (v - 1), which sum to 1: rare values count for more.
    """
    weights = kinds.weight.copy()
    for column in np.unique(kinds.column[kinds.discrete]):
        own = np.flatnonzero(kinds.column == column)
        if len(own) > 1:
            weights[own] *= np.sqrt(np.clip(1 - base.mean[own], 0, 1) / (len(own) - 1))
    return weights


def _components(name: str, points: NDArray[np.float64], scaling: Scaling) -> Representation:
    n_features = points.shape[1]
    if n_features < 3:
        return Representation(name, None, "fewer than 3 features vary")
    if n_features > MAX_FEATURES:
        return Representation(name, None, f"more than {MAX_FEATURES:,} features")
    if not np.ptp(points, axis=0).any():
        return Representation(name, None, "the samples studied do not vary")
    from sklearn.decomposition import PCA  # slow to import

    with limit_threads(1):  # the matrix is small: threads would wait for each other
        pca = PCA(svd_solver="covariance_eigh").fit(points)
    variances = pca.explained_variance_
    if name == "factors":
        n_kept = int((variances > variances.sum() / n_features).sum())
    else:
        n_kept = int(np.searchsorted(np.cumsum(variances) / variances.sum(), VARIANCE_KEPT)) + 1
    return Representation(name, scaling._replace(rotation=np.ascontiguousarray(pca.components_[:n_kept].T)))
