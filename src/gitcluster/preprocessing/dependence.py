"""Test whether a column depends on another one, and whether its numbers have several modes.

Clusters that show in several columns make these depend on one another. Numbers are cut at their quantiles, rare
categories are merged, and every two columns are compared by the chi-squared test of their table of counts. A column
counts as dependent if chance would show as much in one column of a hundred, whatever the number of the others. The
order of the rows and the units of numbers do not matter.

Modes are detected by the dip of Hartigan and Hartigan (1985): the largest difference between the empirical distribution
function and the nearest one with a single mode, which is convex up to the mode and concave after it. Equal numbers are
spread evenly over the interval to their neighbours, so that integers with one mode have none between their values.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

CHANCE = 0.01
"""Share of independent columns that the test takes for dependent ones."""
MIN_EXPECTED = 5
"""Expected count of a cell from which on the chi-squared test is valid."""
MAX_CLASSES = 8
"""Classes that numbers are cut into."""
MAX_TOTAL_CLASSES = 2000
"""Classes of all columns up to which they are compared."""
MAX_ROWS = 5000
"""An effect that needs more rows to show is too weak to matter."""
MIN_ROWS = 100
"""With fewer rows, independence cannot be detected."""
Features = NDArray[np.float64]


def are_dependent(parts: list[Features], discrete: list[bool]) -> NDArray[np.bool_]:
    """Return whether every column depends on at least one other; True if there are too few rows to test.

    ``parts`` are the features of every column: a number, 0 and 1, or one of 0 and 1 per value. ``discrete`` says
    whether the column is a category.

    Examples
    --------
    >>> x = np.arange(200.0)[:, None]
    >>> are_dependent([x, -x, x % 10 > 4], [False, False, True])
    array([ True,  True, False])
    """
    n_rows, n_columns = len(parts[0]), len(parts)
    if n_rows < MIN_ROWS or n_columns < 2:
        return np.ones(n_columns, bool)
    classes = [_classes(part, is_discrete) for part, is_discrete in zip(parts, discrete, strict=True)]
    widths = np.array([part.shape[1] for part in classes])
    if widths.sum() > MAX_TOTAL_CLASSES:
        return np.ones(n_columns, bool)
    indicators = np.hstack(classes)
    chance = _p_values((indicators.T @ indicators).astype(np.float64), widths)
    return np.asarray(chance.min(axis=1) * (n_columns - 1) < CHANCE)


def _classes(part: Features, discrete: bool) -> NDArray[np.float32]:
    """Return one column of 0 and 1 for every class; none of them is 1 if a cell is missing."""
    n_rows = len(part)
    rare = np.sqrt(MIN_EXPECTED / n_rows)
    if discrete:
        classes = np.hstack([part == 0, part == 1]) if part.shape[1] == 1 else part == 1
    else:
        n_classes = int(min(MAX_CLASSES, 1 / rare))
        missing = np.isnan(part[:, 0])
        edges = np.unique(np.quantile(part[~missing, 0], np.linspace(0, 1, n_classes + 1)[1:-1]))
        interval = np.where(missing, -1, np.searchsorted(edges, part[:, 0], side="right"))
        classes = interval[:, None] == np.arange(len(edges) + 1)
    shares = classes.mean(axis=0)
    merged = np.hstack([classes[:, shares >= rare], classes[:, shares < rare].any(axis=1, keepdims=True)])
    return merged[:, merged.any(axis=0)].astype(np.float32)


def _p_values(counts: NDArray[np.float64], widths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the p-value of the chi-squared test of every two columns; 1 for a column with itself."""
    starts = np.cumsum(widths) - widths
    column = np.repeat(np.arange(len(widths)), widths)
    rows, columns = np.add.reduceat(counts, starts, axis=1), np.add.reduceat(counts, starts, axis=0)
    total = np.add.reduceat(rows, starts, axis=0)
    expected = rows[:, column] * columns[column]
    ratio = np.divide(counts**2, expected, out=np.zeros_like(counts), where=expected > 0)
    sums = np.add.reduceat(np.add.reduceat(ratio, starts, axis=0), starts, axis=1)
    # Chi-squared is n (sum of n_ij^2 / (n_i n_j) - 1). A cap on n ignores effects that show only in more rows.
    freedom = np.outer(widths - 1, widths - 1)
    chance = chi2.sf(np.minimum(total, MAX_ROWS) * (sums - 1), np.maximum(freedom, 1))
    return np.where((freedom > 0) & ~np.eye(len(widths), dtype=bool), chance, 1.0)


MAX_DIP = 0.45
"""The 99th percentile of the dip times the square root of the number of rows, for uniform numbers, which have the
largest dips of all distributions with one mode. It is the same from 100 to 5,000 rows."""
N_QUANTILES = 64
"""The dip is computed at these quantiles only."""


def is_multimodal(values: NDArray[np.float64]) -> bool:
    """Return whether numbers have more than one mode."""
    return bool(measure_dip(values) * np.sqrt(min(len(values), MAX_ROWS)) > MAX_DIP)


def measure_dip(values: NDArray[np.float64]) -> float:
    """Return the dip of numbers, from 0 for one mode to a quarter for two distant values.

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
    # the positions next to the quantiles, from both sides
    quantiles = np.arange(N_QUANTILES + 1) * below[-1]
    from_left = np.searchsorted(below * N_QUANTILES, quantiles)
    from_right = len(below) - 1 - np.searchsorted((below[-1] - below[::-1]) * N_QUANTILES, quantiles)
    some = np.unique(np.concatenate([from_left, from_right]))
    positions, shares = ends[some], below[some] / below[-1]
    before = _heights(positions, shares)
    after = _heights(-positions[::-1], 1 - shares[::-1])[::-1]
    return float(np.maximum(before, after).min()) / 2


def _heights(positions: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every position, the largest height of the shares up to it above their greatest convex minorant."""
    line: list[int] = []
    heights = np.zeros(len(positions))

    def is_above(first: int, middle: int, last: int) -> bool:
        """Return whether a point in the middle is on or above the line between two others."""
        rise, run = shares[middle] - shares[first], positions[middle] - positions[first]
        return bool(rise * (positions[last] - positions[middle]) >= (shares[last] - shares[middle]) * run)

    for i in range(len(positions)):
        while len(line) > 1 and is_above(line[-2], line[-1], i):
            line.pop()
        line.append(i)
        known = slice(0, i + 1)
        heights[i] = (shares[known] - np.interp(positions[known], positions[line], shares[line])).max()
    return heights
