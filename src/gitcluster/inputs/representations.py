"""Ways to look at the same features: what they share shows in all of them, an accident of one of them does not.

Standard deviations are right for features in different units and wrong where all share one: pixels, counts, principal
components. Skewed features want a power, noise among many wants to be left out. Nobody tells which it is, so the fit
looks at all of them and keeps what they agree on.

- ``std``: every feature divided by its standard deviation;
- ``given``: as they are, all divided by one number;
- ``range``: every feature divided by its range;
- ``power``: bent by the power that makes it most like a Gaussian (Yeo and Johnson 2000), then standard deviations;
- ``components``: principal components of ``std`` that hold most of the variance.

A yes/no column divided by its standard deviation is a wall between two halves of the samples. Beside columns of numbers
it gets the weight at which crossing it is as far as the tenth nearest sample is, typically, in the columns of numbers.
The same holds for the categories of a table, see :class:`FeatureKinds`, and for neighbouring values of its numbers,
where these are as few as grades or answers on a scale.

In: samples, or some of them. Out: a :class:`Scaling` for every way, or the reason why there is none.
"""

from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse

from gitcluster.inputs.scaling import Scaling, apply_scaling, bend, scale_checked
from gitcluster.kernels import features as kernels
from gitcluster.kernels import limit_threads, run_threads
from gitcluster.neighbors import find_neighbors

POWERS = (-2.0, 4.0)
"""Exponents that are tried."""
VALUES = 500_000
"""Values that exponents are fitted to, at most."""
GOLDEN = 0.6180339887498949
STEPS = 16
KEPT = 0.9
"""Share of the variance that principal components hold."""
WIDEST = 2000
"""Features up to which principal components are computed."""
TENTH = 10
"""A step in a yes/no column is as far as this neighbour in the columns of numbers."""


class Representation(NamedTuple):
    """One way to look at the features."""

    name: str
    scaling: Scaling | None
    reason: str = ""
    """Why it cannot be formed, or need not be."""


def name_of(scale: Any) -> str:
    """The name of the one representation that a scale other than "auto" asks for.

    Examples
    --------
    >>> name_of("std"), name_of(None), name_of([1.0, 0.5])
    ('std', 'given', 'weights')
    """
    return scale if isinstance(scale, str) else "given" if scale is None else "weights"


def named_way(ways: list[Representation], name: str) -> Representation:
    """One of the ways, or an error where it cannot be formed."""
    found = next(way for way in ways if way.name == name)
    if found.scaling is None:
        raise ValueError(f"scale={name!r} is not possible here: {found.reason}. Use scale='std'.")
    return found


class FeatureKinds(NamedTuple):
    """What is known of features that are columns of a table, one row per feature."""

    column: NDArray[np.int64]
    """The column that it belongs to: a category has one feature per value."""
    discrete: NDArray[np.bool_]
    """Whether its column has values that are apart or the same, and nothing between."""
    asked: NDArray[np.float64]
    """The weight that was asked for."""

    def take(self, features: NDArray[np.int64]) -> "FeatureKinds":
        """Some of the features."""
        return FeatureKinds(self.column[features], self.discrete[features], self.asked[features])


def represent(
    X: Any, base: Scaling, kinds: FeatureKinds | None = None, *, n_jobs: int | None = None
) -> list[Representation]:
    """All ways to look at samples, the simplest first.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Some of the samples, or all.
    base : Scaling
        Standard deviations of all of them.
    kinds : FeatureKinds, default=None
        What is known of the features, where they are columns of a table.
    n_jobs : int, default=None
    """
    if issparse(X):
        others = [Representation(name, None, "sparse samples") for name in ("range", "power", "components")]
        return [Representation("std", base), _given(X, base, None), *others]
    points = apply_scaling(X, base, n_jobs=n_jobs).astype(np.float64)
    table = None if kinds is None else kinds.take(base.features)
    known, span = find_kinds(points) if table is None else (table, 1 / base.deviation)
    weights = weigh_features(points, known, span, close=table is not None, n_jobs=n_jobs)
    std = Representation("std", base._replace(deviation=base.deviation / weights))
    power = _power(points, base, weights, known.discrete, n_jobs)
    return [std, _given(X, base, table), _range(base, weights, table), power, _components(points * weights, std)]


def represent_table(X: Any, base: Scaling, kinds: FeatureKinds, *, divide: bool) -> Representation:
    """Columns of a table in one way: by standard deviations, or, without ``divide``, numbers in the units they have."""
    table = kinds.take(base.features)
    if not divide and not table.discrete.all():
        spread = 2 * base.span * base.deviation
        typical = np.median(spread[~table.discrete])
        base = base._replace(deviation=base.deviation * np.where(table.discrete, 1.0, typical / spread))
    points = apply_scaling(X, base).astype(np.float64)
    weights = weigh_features(points, table, 1 / base.deviation, close=True)
    return Representation("std" if divide else "given", base._replace(deviation=base.deviation / weights))


def find_kinds(points: NDArray[np.float64]) -> tuple[FeatureKinds, NDArray[np.float64]]:
    """Kinds of features that are no columns of a table: discrete are those of two values; and their ranges."""
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
    """Weights of features that were divided by their standard deviations.

    Two values of a discrete column are one crossing apart, the median distance to the tenth neighbour among the
    numbers, and at most as far as makes the column vary as much as one of numbers. ``close`` numbers have neighbouring
    values that are at most one crossing apart.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
    kinds : FeatureKinds
    span : ndarray of shape (n_features,)
        Range of every feature.
    close : bool
    n_jobs : int, default=None
    """
    weights, numbers = kinds.asked.copy(), ~kinds.discrete
    if numbers.all() and not close:
        return weights
    crossing = crossing_length(points[:, numbers] * weights[numbers], n_jobs=n_jobs)
    if close:
        steps = np.array([step_of(values) for values in points[:, numbers].T])
        weights[numbers] *= np.divide(crossing, steps, out=np.ones_like(steps), where=steps > crossing)
    for column in np.unique(kinds.column[kinds.discrete]):
        of = np.flatnonzero(kinds.column == column)
        if len(of) == 1:
            weights[of] *= np.minimum(1.0, crossing / span[of])
        else:  # one value per feature: those of two rows differ in two features
            weights[of] *= min(1 / np.linalg.norm(1 / span[of]), crossing / np.sqrt(2)) / span[of]
    return weights


def step_of(values: NDArray[np.float64]) -> float:
    """How far neighbouring values of a feature are apart: the median, 0 where all are equal.

    Examples
    --------
    >>> step_of(np.array([1.0, 2.0, 2.0, 5.0, 3.0, 3.0]))
    1.0
    """
    distinct = np.unique(values)
    return float(np.median(np.diff(distinct))) if len(distinct) > 1 else 0.0


def crossing_length(numbers: NDArray[np.float64], *, n_jobs: int | None = None) -> float:
    """The median distance to the tenth neighbour; infinite where there is none, or most rows have ten equal ones.

    Examples
    --------
    >>> crossing_length(np.arange(100.0)[:, None])
    5.0
    """
    if len(numbers) < 3 or not numbers.shape[1]:
        return np.inf
    k, numbers = min(TENTH, len(numbers) - 1), np.ascontiguousarray(numbers)
    near = find_neighbors(numbers, n_neighbors=k, search="exact", n_jobs=n_jobs)
    return float(np.median(near.distances[:, -1])) or np.inf


def _given(X: Any, base: Scaling, table: FeatureKinds | None) -> Representation:
    if table is not None and table.discrete.any():
        return Representation("given", None, "numbers and categories have no unit in common")
    units = 1 / base.weights if len(base.weights) else base.span * base.deviation
    if len(units) < 2 or np.ptp(np.log(units)) < 1e-9:
        return Representation("given", None, "the same as std")
    if issparse(X):
        scaling = base._replace(weights=np.full(len(units), np.median(base.weights)))
    else:
        asked = 1.0 if table is None else table.asked
        scaling = base._replace(mean=np.zeros(len(units)), deviation=np.median(base.span) / base.span / asked)
    try:
        scale_checked(X, scaling)
    except ValueError:
        return Representation("given", None, "values too large or too small for their distances")
    return Representation("given", scaling)


def _range(base: Scaling, weights: NDArray[np.float64], table: FeatureKinds | None) -> Representation:
    by_range = np.ones(len(weights), bool) if table is None else ~table.discrete
    if by_range.sum() < 2 or np.ptp(np.log(base.deviation[by_range])) < 1e-9:
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
    step = 1 + n_samples * n_features // VALUES

    def fit(j: int) -> None:
        values = np.ascontiguousarray(points[:, j])
        if not discrete[j]:
            powers[j] = best_power(values[::step])
        bend(values, powers[j])
        means[j], spreads[j] = values.mean(), values.std() / weights[j]

    run_threads(fit, range(n_features), n_jobs)
    if not (np.isfinite(means).all() and (spreads > 0).all() and np.isfinite(spreads).all()):
        return Representation("power", None, "a feature is constant or infinite after the transform")
    return Representation("power", base._replace(powers=powers, means=means, spreads=spreads))


def best_power(values: NDArray[np.float64]) -> float:
    """The exponent that makes values most like those of a Gaussian after the transform, by golden section."""
    grown, bent = values.copy(), np.empty_like(values)
    kernels.signed_log1p(grown)
    n, slopes = len(values), in_turn(grown)

    def likelihood(power: float) -> float:
        kernels.yeo_johnson(grown, power, bent)
        mean = in_turn(bent) / n
        variance = in_turn(bent * bent) / n - mean * mean
        return (power - 1.0) * slopes - 0.5 * n * log(variance) if 1e-12 < variance < inf else -inf

    low, high = POWERS
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = likelihood(left), likelihood(right)
    for _ in range(STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = likelihood(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = likelihood(right)
    return 0.5 * (low + high)


def in_turn(values: NDArray[np.float64]) -> float:
    """The sum of values, added one after the other."""
    return float(np.add.accumulate(values)[-1])


def _components(points: NDArray[np.float64], std: Representation) -> Representation:
    n_features = points.shape[1]
    if n_features < 3:
        return Representation("components", None, "fewer than 3 features vary")
    if n_features > WIDEST:
        return Representation("components", None, f"more than {WIDEST:,} features")
    centred = points - points.mean(axis=0)
    with limit_threads(1):  # so small a matrix that threads would wait for each other
        variances, axes = eigh(centred.T @ centred)
    variances, axes = np.maximum(variances[::-1], 0), axes[:, ::-1]
    if not variances[0] > 0:
        return Representation("components", None, "the samples studied do not vary")
    n_kept = int(np.searchsorted(np.cumsum(variances) / variances.sum(), KEPT)) + 1
    rotation = np.ascontiguousarray(axes[:, : min(n_kept, n_features)])
    assert std.scaling is not None
    return Representation("components", std.scaling._replace(rotation=rotation))
