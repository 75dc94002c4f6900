"""Sums of floats that depend neither on the order of the terms nor on their partition.

Floating-point addition is not associative, so a sum over pairs would depend on the order of the rows and on how Dask
splits them. Every term is split into integers instead: digits in base 2**26, in three adjacent bins. Bin number b
counts multiples of 2**(26 b). A total is a row (number of its highest bin, the three bins from high to low).

Three bins hold at least 2 * 26 + 1 = 53 bits of the largest term, the precision of a float. A bin is an int64, so
that 2**37 terms can be added before one overflows.
"""

from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from gitcluster.kernels import kernel

BITS = 26
BIN = 2.0**BITS
LOG_BIN = BITS * log(2.0)
EMPTY = -(1 << 40)
"""The highest bin of an empty sum: below that of every term."""


@kernel
def split_exp(value):
    """Split exp(value), which may be beyond the range of floats, into its highest bin's number and three bins."""
    number = np.int64(np.floor(value / LOG_BIN))
    mantissa = exp(value - number * LOG_BIN)
    # Rounding can move the mantissa out of [1, BIN), and then a bin would overflow into the next.
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
    """Add the result of :func:`split_exp` to one of the totals."""
    by = number - totals[row, 0]
    if by > 0:  # shift the total down; the dropped bins are below the precision of the result
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
    """Return log(exp(total) + exp(value)); infinite if the larger of the two is infinite."""
    high, low = (total, value) if total > value else (value, total)
    if high == -inf or high == inf:
        return high
    return high + log(1.0 + exp(low - high))


def empty_totals(n: int) -> NDArray[np.int64]:
    """Return n totals of no terms."""
    totals = np.zeros((n, 4), np.int64)
    totals[:, 0] = EMPTY
    return totals


def sum_values(values: NDArray[np.float64], group: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the totals of the values above 0 in each of n groups.

    Examples
    --------
    >>> mean_totals(sum_values(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), 2), np.ones(2))
    array([5., 2.])
    """
    group, values = group[values > 0], values[values > 0]
    number = (np.frexp(values)[1].astype(np.int64) - 1) // BITS
    rows = np.zeros((len(values), 4), np.int64)
    rows[:, 0], mantissa = number, np.ldexp(values, -BITS * number)
    for column in range(1, 4):
        rows[:, column] = mantissa
        mantissa = (mantissa - rows[:, column]) * BIN
    return merge_totals(group, rows, n)


def merge_totals(group: NDArray[np.int64], totals: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the totals of n groups; row r of ``totals`` is a part of group ``group[r]``."""
    highest, bins = np.full(n, EMPTY), np.zeros((3, n), np.int64)
    np.maximum.at(highest, group, totals[:, 0])
    below = highest[group] - totals[:, 0]
    for by in range(3):
        rows = np.flatnonzero(below == by)
        for column in range(3 - by):
            np.add.at(bins[column + by], group[rows], totals[rows, column + 1])
    return np.column_stack([highest, *bins])


def _leading_parts(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the totals in units of their highest bins."""
    return np.asarray(totals[:, 1] + (totals[:, 2] + totals[:, 3] / BIN) / BIN)


def mean_totals(totals: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the totals divided by ``counts``, 0 for an empty total."""
    filled = totals[:, 0] != EMPTY
    means = np.zeros(len(totals))
    means[filled] = np.ldexp(_leading_parts(totals[filled]) / counts[filled], BITS * totals[filled, 0])
    return means


def log_totals(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the logarithms of the totals.

    Examples
    --------
    >>> log_totals(sum_values(np.array([1.0]), np.array([1]), 2))
    array([-inf,   0.])
    """
    parts = _leading_parts(totals)
    # math.log is the function that kernels use; numpy's own may differ in the last bit.
    logs = np.array(list(map(log, np.where(parts > 0, parts, 1.0).tolist())))
    return np.where(parts > 0, logs, -inf) + totals[:, 0] * LOG_BIN
