"""Rounded values: grades, counts, ages in years, measurements with one decimal.

A rounded value is known up to half a step. Equal rows pile up at distance zero, the intensity of a pile is unbounded,
and equal distances fill the lists of neighbours. Uniform noise of half a step restores the precision that the values
have. The noise follows from a hash of the row, the number of the row among equal ones, and the feature, so that neither
the order of rows or columns nor the units matter. It serves to choose a clustering; the model is fitted to the values
as they were given.
"""

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.neighbors.duplicates import hash_positions
from gitcluster.preprocessing.scaling import mix

MIN_SHARING = 3
"""Rows that share a value of a rounded feature on average."""


def rounding_steps(values: Array, discrete: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Return the step between values of every feature that is rounded, 0 for the others.

    A feature is rounded if it has more than two values, which three rows share on average. The most common value does
    not count: a sensor may report its limit often. The step is the median difference of neighbouring values, without
    those that are rare, such as the imputed ones. Features of categories, ``discrete``, are never rounded.

    Examples
    --------
    >>> grades = np.repeat([1.0, 2.0, 3.0, 4.0], 5)
    >>> rounding_steps(np.column_stack([grades, grades > 2, np.arange(20.0)]))
    array([1., 0., 0.])
    """
    steps = np.zeros(values.shape[1])
    for feature in range(values.shape[1]) if discrete is None else np.flatnonzero(~discrete):
        distinct, counts = np.unique(values[:, feature], return_counts=True)
        others = len(values) - counts.max()
        if len(distinct) < 3 or MIN_SHARING * (len(distinct) - 1) > others:
            continue
        common = distinct[counts >= others / (len(distinct) - 1) / 2].astype(np.float64)
        if len(common) > 1:
            steps[feature] = np.median(np.diff(common / 2)) * 2  # the range itself could overflow
    return np.where(np.isfinite(steps), steps, 0.0)


def spread_rounded(values: Array, steps: NDArray[np.float64], features: Array, draw: int) -> Array:
    """Return samples with uniform noise of half a step in the rounded features; every ``draw`` has other noise.

    Samples and ``features`` are in canonical order, so that the number of a row among equal ones does not depend on the
    given order.
    """
    hashes = hash_positions(values, values.min(axis=0), values.max(axis=0), features)
    order = np.argsort(hashes, kind="stable")
    copies = np.empty(len(values), np.uint64)
    copies[order] = number_copies(np.append(True, hashes[order][1:] != hashes[order][:-1]))
    rows = mix(hashes + mix(copies + np.uint64((draw + 1) << 32)))
    salts = mix(np.arange(1, len(features) + 1, dtype=np.uint64))
    spread, limit = values.copy(), np.finfo(values.dtype).max
    for salt, feature in zip(salts, features.tolist(), strict=True):
        if steps[feature] > 0:
            bits = mix(rows ^ salt) >> np.uint64(11)  # 53 bits, as many as a float has
            noise = steps[feature] * (bits * 2.0**-53 - 0.5)
            spread[:, feature] = np.clip(values[:, feature] + noise, -limit, limit)
    return spread


def number_copies(is_first: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the numbers of rows among equal ones, which follow each other; ``is_first`` marks the first of each.

    Examples
    --------
    >>> number_copies(np.array([True, False, False, True, True, False]))
    array([0, 1, 2, 0, 0, 1], dtype=uint64)
    """
    position = np.arange(len(is_first), dtype=np.uint64)
    return position - np.maximum.accumulate(np.where(is_first, position, np.uint64(0)))
