"""Before stage 1: features whose values are whole numbers of equal steps, up to the rounding of floats.

Counts, prices, pixels and coordinates with few digits lie on a lattice, where many distances are equal. In other
units, or far from the origin, every value is rounded anew, and ties are broken at random: 10,000.1 and 10,000.2 are a
little less than 0.1 apart. Counted in steps, which are whole numbers, the values are the same in all units.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array

DISTINCT = 4096
"""Features with more distinct values than this are taken as they are."""
ROUNDED = 4.0
"""Values may be off the lattice by this many times the precision of the largest one."""
NARROWEST = 16.0
"""A step is at least this many times as wide as that."""
SMALLEST = 1e-290
"""Floats below this have lost their digits."""
FEW = 64
"""Gaps that the step is found from, the smallest different ones; all are looked at afterwards."""


def distinct_values(column: Array) -> Array | None:
    """The distinct values of a feature, ascending; None where there are more than :data:`DISTINCT`."""
    values = column[:0]
    for start in range(0, len(column), 2 * DISTINCT):
        values = np.sort(np.concatenate([values, column[start : start + 2 * DISTINCT]]))
        values = values[np.append(True, values[1:] != values[:-1])]
        if len(values) > DISTINCT:
            return None
    return values


def merge_distinct(parts: Sequence[Array | None]) -> Array | None:
    """The distinct values of a feature from those of parts of the samples."""
    known = [values for values in parts if values is not None]
    return distinct_values(np.concatenate(known)) if len(known) == len(parts) else None


def precision_of(dtype: Any, low: Any, high: Any) -> Any:
    """How far rounding may have moved values of features from ``low`` to ``high``, halved as all values are."""
    return ROUNDED * float(np.finfo(dtype).eps) * np.maximum(np.abs(low), np.abs(high))


def count_steps(values: Array | None) -> int:
    """Number of equal steps from the lowest to the highest of ascending values; 0 where they are on no lattice.

    Examples
    --------
    >>> count_steps(np.array([0.1, 0.2, 0.3, 0.7]) + 1e4)
    6
    >>> count_steps(np.sqrt([1.0, 2.0, 3.0, 5.0]))
    0
    """
    if values is None or len(values) < 2:
        return 0
    halves = values.astype(np.float64) / 2
    rounding = float(precision_of(values.dtype, halves[0], halves[-1]))
    span, gaps = float(halves[-1] - halves[0]), np.sort(halves[1:] - halves[:-1])
    if gaps[0] < NARROWEST * rounding or rounding < SMALLEST:
        return 0
    different = gaps[1:][gaps[1:] - gaps[:-1] > 2 * rounding]
    step = common_step([float(gaps[0]), *different[:FEW].tolist()], rounding)
    if not step:
        return 0
    few = FEW
    while few < 2 * len(gaps):  # the more gaps, the more digits of the step
        step = float(gaps[:few].sum() / np.rint(gaps[:few] / step).sum())
        few *= 2
    n_steps = round(span / step)
    shares = (halves - halves[0]) / span * n_steps
    return n_steps if bool((np.abs(shares - np.rint(shares)) <= rounding / span * n_steps).all()) else 0


def common_step(gaps: list[float], rounding: float) -> float:
    """The widest step that ascending gaps are multiples of, by Euclid's algorithm with the errors that rounding makes;
    0 where it would be too narrow."""
    step, error = gaps[0], rounding
    for gap in gaps:
        left, left_error = gap, rounding
        while step > error:  # else nothing is left over
            times = round(left / step)
            left, left_error, step, error = step, error, abs(left - times * step), left_error + times * error
        if left < max(NARROWEST * rounding, 4 * left_error):
            return 0.0
        times = max(1, round(gap / left))
        step, error = min((left_error, left), (rounding / times, gap / times))[::-1]
    return step


def snap(shares: NDArray[np.float64], n_steps: int, slack: float) -> None:
    """Put shares of the span that are within ``slack`` steps of the lattice on it, in place."""
    with np.errstate(over="ignore", invalid="ignore"):  # new samples may be anywhere
        steps = np.rint(shares * n_steps)
        near = np.abs(shares * n_steps - steps) <= slack
    if near.all():
        np.divide(steps, n_steps, out=shares)
    else:
        shares[near] = steps[near] / n_steps
