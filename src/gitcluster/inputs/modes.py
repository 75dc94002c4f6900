"""Whether numbers gather in several places, or in one: the dip of Hartigan and Hartigan (1985).

The dip is the largest height between the shares of the numbers up to every value and the nearest shares with one mode,
which grow faster and faster up to it and slower and slower after it. Equal numbers are spread evenly over the room to
their neighbours, so that whole numbers with one mode have none between their values. Neither the order of the numbers
nor their unit, sign or origin matters.

In: the numbers of a column. Out: whether chance would hardly give numbers with one mode such a dip.
"""

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array

DIP = 0.45
"""Dip times the root of the number of rows that one in a hundred columns of evenly spread numbers exceeds, which have
the largest dips of all with one mode; from 100 rows to 5,000 it is the same."""
MOST_ROWS = 5000
"""What shows in no fewer rows than these is too weak to matter."""
SHARES = 64
"""Equal shares of the rows between whose ends no height is looked at."""


def has_modes(values: NDArray[np.float64]) -> bool:
    """Whether numbers gather in more than one place.

    Examples
    --------
    >>> x = np.linspace(0, 1, 200) ** 2
    >>> has_modes(x), has_modes(np.concatenate([x, x + 2]))
    (False, True)
    """
    return bool(measure_dip(values) * np.sqrt(min(len(values), MOST_ROWS)) > DIP)


def measure_dip(values: NDArray[np.float64]) -> float:
    """The dip of numbers, from 0 for one mode to a quarter for two places.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> measure_dip(np.array([1.0, 2.0, 2.0, 3.0])), round(measure_dip(np.concatenate([x, x + 1000])), 2)
    (0.0, 0.2)
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 3:
        return 0.0
    between = (distinct[1:] + distinct[:-1]) / 2
    ends = np.concatenate([[2 * distinct[0] - between[0]], between, [2 * distinct[-1] - between[-1]]])
    below = np.concatenate([[0], np.cumsum(counts)])
    kept = _thin_out(below)
    places, shares = ends[kept], below[kept] / below[-1]
    before = _heights(places, shares)
    after = _heights(-places[::-1], 1 - shares[::-1])[::-1]
    return float(np.maximum(before, after).min()) / 2


def _thin_out(below: Array) -> Array:
    """Which ends to look at, the same from either side: those next to the ends of equal shares of the rows."""
    parts = np.arange(SHARES + 1) * below[-1]
    from_left = np.searchsorted(below * SHARES, parts)
    from_right = len(below) - 1 - np.searchsorted((below[-1] - below[::-1]) * SHARES, parts)
    return np.unique(np.concatenate([from_left, from_right]))


def _heights(places: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every place, the largest height of the shares up to it above the highest convex line below them."""
    line: list[int] = []
    heights = np.zeros(len(places))
    for i in range(len(places)):
        while len(line) > 1 and _is_above(places, shares, line[-2], line[-1], i):
            line.pop()
        line.append(i)
        known = slice(0, i + 1)
        heights[i] = (shares[known] - np.interp(places[known], places[line], shares[line])).max()
    return heights


def _is_above(places: NDArray[np.float64], shares: NDArray[np.float64], first: int, middle: int, last: int) -> bool:
    """Whether a place in the middle is on or above the line between two others."""
    rise, run = shares[middle] - shares[first], places[middle] - places[first]
    return bool(rise * (places[last] - places[middle]) >= (shares[last] - shares[middle]) * run)
