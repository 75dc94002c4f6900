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

In: samples, or some of them. Out: a :class:`Scaling` for every way, or the reason why there is none.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse

from gitcluster._jit import scaling as kernels
from gitcluster.inputs.scaling import Scaling, apply_scaling, bend, scale_checked
from gitcluster.neighbors import find_neighbors

POWERS = (-2.0, 4.0)
"""Exponents that are tried."""
VALUES = 500_000
"""Values that exponents are fitted to, at most."""
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


def represent(X: Any, base: Scaling) -> list[Representation]:
    """All ways to look at samples, the simplest first.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        Some of the samples, or all.
    base : Scaling
        Standard deviations of all of them.
    """
    found = [Representation("std", base), _given(X, base)]
    if issparse(X):
        return found + [Representation(name, None, "sparse samples") for name in ("range", "power", "components")]
    points = apply_scaling(X, base).astype(np.float64)
    weights = weigh_discrete(points)
    found[0] = Representation("std", base._replace(deviation=base.deviation / weights))
    return [*found, _range(base, weights), _power(points, base, weights), _components(points * weights, found[0])]


def weigh_discrete(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of scaled features: below 1 for those of two values beside features of more."""
    low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
    two = ((points == low) | (points == high)).all(axis=0)
    weights = np.ones(points.shape[1])
    if two.all() or not two.any() or len(points) < 3:
        return weights
    numbers = np.ascontiguousarray(points[:, ~two])
    near = find_neighbors(numbers, n_neighbors=min(TENTH, len(points) - 1), search="exact")
    step = float(np.median(near.distances[:, -1]))
    if step > 0:
        weights[two] = np.minimum(1.0, step / (high - low)[two])
    return weights


def _given(X: Any, base: Scaling) -> Representation:
    units = 1 / base.weights if len(base.weights) else base.span * base.deviation
    if len(units) < 2 or np.ptp(np.log(units)) < 1e-9:
        return Representation("given", None, "the same as std")
    if issparse(X):
        scaling = base._replace(weights=np.full(len(units), np.median(base.weights)))
    else:
        scaling = base._replace(mean=np.zeros(len(units)), deviation=np.median(base.span) / base.span)
    try:
        scale_checked(X, scaling)
    except ValueError:
        return Representation("given", None, "values too large for their distances")
    return Representation("given", scaling)


def _range(base: Scaling, weights: NDArray[np.float64]) -> Representation:
    if len(base.deviation) < 2 or np.ptp(np.log(base.deviation)) < 1e-9:
        return Representation("range", None, "the same as std")
    typical = np.median(base.deviation)
    return Representation("range", base._replace(deviation=np.full(len(weights), typical) / weights))


def _power(points: NDArray[np.float64], base: Scaling, weights: NDArray[np.float64]) -> Representation:
    n_samples, n_features = points.shape
    if n_features == 0:
        return Representation("power", None, "no feature varies")
    powers, means, spreads = np.ones(n_features), np.zeros(n_features), np.ones(n_features)
    step = 1 + n_samples * n_features // VALUES
    for j in range(n_features):
        values = np.ascontiguousarray(points[:, j])
        if weights[j] == 1 and len(np.unique(values[:100])) > 2:
            powers[j] = kernels.best_power(values[::step], *POWERS)
        bend(values, powers[j])
        means[j], spreads[j] = values.mean(), values.std() / weights[j]
    if not (np.isfinite(means).all() and (spreads > 0).all() and np.isfinite(spreads).all()):
        return Representation("power", None, "a feature is constant or infinite after the transform")
    return Representation("power", base._replace(powers=powers, means=means, spreads=spreads))


def _components(points: NDArray[np.float64], std: Representation) -> Representation:
    n_features = points.shape[1]
    if n_features < 3:
        return Representation("components", None, "fewer than 3 features vary")
    if n_features > WIDEST:
        return Representation("components", None, f"more than {WIDEST:,} features")
    centred = points - points.mean(axis=0)
    variances, axes = eigh(centred.T @ centred)
    variances, axes = np.maximum(variances[::-1], 0), axes[:, ::-1]
    if not variances[0] > 0:
        return Representation("components", None, "the samples studied do not vary")
    n_kept = int(np.searchsorted(np.cumsum(variances) / variances.sum(), KEPT)) + 1
    rotation = np.ascontiguousarray(axes[:, : min(n_kept, n_features)])
    assert std.scaling is not None
    return Representation("components", std.scaling._replace(rotation=rotation))
