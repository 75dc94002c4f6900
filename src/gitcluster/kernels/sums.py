"""Sums of floats that neither order nor partition can change.

Whole numbers in three bins of 26 bits: the highest bin of all that was added and the two below it. A row of ``totals``
is the number of the highest bin, then the three bins.
"""

from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from gitcluster.kernels import kernel

BITS = 26
BIN = 2.0**BITS
LOG_BIN = BITS * log(2.0)
NOTHING = -(1 << 40)
"""The bin of a sum of nothing."""


@kernel
def split_exp(value):
    """exp(value), which may be beyond the range of floats: the number of its highest bin, and three bins."""
    number = np.int64(np.floor(value / LOG_BIN))
    mantissa = exp(value - number * LOG_BIN)
    if mantissa < 1.0:
        mantissa = 1.0
    if mantissa > BIN - 1e-8:
        mantissa = BIN - 1e-8
    first = np.int64(mantissa)
    mantissa = (mantissa - first) * BIN
    second = np.int64(mantissa)
    return number, first, second, np.int64((mantissa - second) * BIN)


@kernel
def add_bins(totals, row, number, first, second, third):
    """Add what :func:`split_exp` has split to one of the sums."""
    by = number - totals[row, 0]
    if by > 0:  # what falls out at the bottom would not show in the result
        totals[row, 0] = number
        totals[row, 3] = totals[row, 3 - by] if by < 3 else 0
        totals[row, 2] = totals[row, 1] if by == 1 else 0
        totals[row, 1] = 0
        by = 0
    if by == 0:
        totals[row, 1] += first
        totals[row, 2] += second
        totals[row, 3] += third
    elif by == -1:
        totals[row, 2] += first
        totals[row, 3] += second
    elif by == -2:
        totals[row, 3] += first


@kernel
def add_log(total, value):
    """log(exp(total) + exp(value)); infinite is what one of the two is."""
    high, low = (total, value) if total > value else (value, total)
    if high == -inf or high == inf:
        return high
    return high + log(1.0 + exp(low - high))


def empty_totals(n: int) -> NDArray[np.int64]:
    """Sums of nothing."""
    totals = np.zeros((n, 4), np.int64)
    totals[:, 0] = NOTHING
    return totals


def sum_values(values: NDArray[np.float64], place: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Sums of the values above 0 at each of n places.

    Examples
    --------
    >>> mean_totals(sum_values(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), 2), np.ones(2))
    array([5., 2.])
    """
    place, values = place[values > 0], values[values > 0]
    number = (np.frexp(values)[1].astype(np.int64) - 1) // BITS
    rows = np.zeros((len(values), 4), np.int64)
    rows[:, 0], mantissa = number, np.ldexp(values, -BITS * number)
    for column in range(1, 4):
        rows[:, column] = mantissa
        mantissa = (mantissa - rows[:, column]) * BIN
    return merge_totals(place, rows, n)


def merge_totals(place: NDArray[np.int64], totals: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Sums at each of n places: row r of ``totals`` is a part of that at ``place[r]``."""
    highest, bins = np.full(n, NOTHING), np.zeros((3, n), np.int64)
    np.maximum.at(highest, place, totals[:, 0])
    below = highest[place] - totals[:, 0]
    for by in range(3):
        some = np.flatnonzero(below == by)
        for column in range(3 - by):
            np.add.at(bins[column + by], place[some], totals[some, column + 1])
    return np.column_stack([highest, *bins])


def leading_parts(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums as multiples of the unit of their highest bins."""
    return np.asarray(totals[:, 1] + (totals[:, 2] + totals[:, 3] / BIN) / BIN)


def mean_totals(totals: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means; 0 of nothing."""
    there = totals[:, 0] != NOTHING
    means = np.zeros(len(totals))
    means[there] = np.ldexp(leading_parts(totals[there]) / counts[there], BITS * totals[there, 0])
    return means


def log_totals(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithms of sums, by the function that compiled loops use: numpy's own may differ in the last bit.

    Examples
    --------
    >>> log_totals(sum_values(np.array([1.0]), np.array([1]), 2))
    array([-inf,   0.])
    """
    parts = leading_parts(totals)
    logs = np.array(list(map(log, np.where(parts > 0, parts, 1.0).tolist())))
    return np.where(parts > 0, logs, -inf) + totals[:, 0] * LOG_BIN
