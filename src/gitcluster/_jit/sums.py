"""Sums of floats that neither order nor partition can change.

Whole numbers in three bins of 26 bits: the highest bin of all that was added and the two below it. A row of ``sums`` is
the number of the highest bin, then the three bins.
"""

from math import exp, inf, ldexp, log

import numpy as np
from numpy.typing import NDArray

from gitcluster._jit import inner_kernel, kernel

BITS = 26
BIN = 2.0**BITS
LOG_BIN = BITS * log(2.0)
NOTHING = -(1 << 40)
"""The bin of a sum of nothing."""


@inner_kernel
def raise_bin(total, number):
    """Make room for values of a higher bin; what falls out at the bottom would not show in the result."""
    by = number - total[0]
    if by > 0:
        total[0] = number
        total[3] = total[3 - by] if by < 3 else 0
        total[2] = total[1] if by == 1 else 0
        total[1] = 0


@inner_kernel
def add_mantissa(total, number, mantissa):
    """Add ``mantissa``, from 1 to below 2^26, times 2^(26 number)."""
    raise_bin(total, number)
    place = 1 + total[0] - number
    while place < 4 and mantissa > 0.0:
        whole = np.floor(mantissa)
        total[place] += np.int64(whole)
        mantissa = (mantissa - whole) * BIN
        place += 1


@kernel
def add_value(total, value):
    """Add a value above 0."""
    number = np.int64(np.floor(np.log2(value) / BITS))
    mantissa = ldexp(value, -BITS * number)
    if mantissa >= BIN or mantissa < 1.0:  # the logarithm was rounded
        number += 1 if mantissa >= BIN else -1
        mantissa = ldexp(value, -BITS * number)
    add_mantissa(total, number, mantissa)


@kernel
def add_exp(total, value):
    """Add exp(value), which may be beyond the range of floats."""
    number = np.int64(np.floor(value / LOG_BIN))
    add_mantissa(total, number, min(max(exp(value - number * LOG_BIN), 1.0), BIN - 1e-8))


@inner_kernel
def add_total(total, other):
    """Add what was summed elsewhere."""
    raise_bin(total, other[0])
    for place in range(1, 4):
        to = place + total[0] - other[0]
        if to < 4:
            total[to] += other[place]


@inner_kernel
def leading_part(total):
    """The sum as a multiple of the unit of its highest bin."""
    return total[1] + (total[2] + total[3] / BIN) / BIN


@kernel
def merge_totals(place, totals, merged):
    """Add row r of ``totals`` to row ``place[r]`` of ``merged``."""
    for r in range(len(place)):
        add_total(merged[place[r]], totals[r])


@kernel
def mean_totals(totals, counts, means):
    """Means; 0 of nothing."""
    for r in range(len(totals)):
        means[r] = 0.0
        if totals[r, 0] != NOTHING:
            means[r] = ldexp(leading_part(totals[r]) / counts[r], BITS * totals[r, 0])


@kernel
def log_totals(totals, logs):
    for r in range(len(totals)):
        logs[r] = log(leading_part(totals[r])) + totals[r, 0] * LOG_BIN


def empty_totals(n: int) -> NDArray[np.int64]:
    """Sums of nothing."""
    totals = np.zeros((n, 4), np.int64)
    totals[:, 0] = NOTHING
    return totals


@kernel
def sum_moments(values, low, span, steps, slack, sums):
    """Add up v and v^2, v = (value / 2 - low) / span from 0 to 1 as a multiple of 2^-52: v is a 2^26 + b, and the sums
    are of a, b, a^2, a b and b^2, the last three in halves of 32 bits. Values near a lattice of steps are put on it."""
    for i in range(len(values)):
        share = (values[i] * 1.0 / 2 - low) / span
        step = np.rint(share * steps)
        if steps > 0 and abs(share * steps - step) <= slack:
            share = step / steps
        v = np.int64(np.rint(share * 2.0**52))
        a, b = v >> 26, v & ((1 << 26) - 1)
        sums[0] += a
        sums[1] += b
        for place, square in ((2, a * a), (4, a * b), (6, b * b)):
            sums[place] += square >> 32
            sums[place + 1] += square & ((1 << 32) - 1)


@inner_kernel
def add_log(total, value):
    """log(exp(total) + exp(value))."""
    high, low = max(total, value), min(total, value)
    if high == -inf:
        return high
    return high + log(1.0 + exp(low - high))
