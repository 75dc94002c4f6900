"""Which columns of a table go together: clusters that show in several columns make these depend on one another.

Numbers are cut at their quantiles, rare values of categories are taken together, and every two columns are compared by
the chi-squared test of their table of counts. A column goes with another if chance would show as much in one column
of a hundred, whatever the number of the others. Neither the order of the rows nor the units of numbers matter.

In: the features of every column. Out: which columns go with another.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

CHANCE = 0.01
"""Share of columns that go with no other and are taken for one that does."""
IN_A_CELL = 5
"""Rows that chance would have in a cell of a table of counts, at least, for the test to hold."""
MOST_CLASSES = 8
"""Classes that numbers are cut into."""
WIDEST = 2000
"""Classes of all columns up to which they are compared."""
MOST_ROWS = 5000
"""What shows in no fewer rows than these is too weak to matter."""
FEWEST_ROWS = 100
"""Of fewer rows it cannot be told that columns do not go together."""
Features = NDArray[np.float64]


def go_together(parts: list[Features], discrete: list[bool]) -> NDArray[np.bool_]:
    """Whether every column goes with at least one other; all do where there are too few rows to tell.

    Parameters
    ----------
    parts : list of ndarrays of shape (n_rows, n_features)
        The features of every column: a number, 0 and 1, or one of 0 and 1 per value.
    discrete : list of bool
        Whether they are values of a category.

    Examples
    --------
    >>> x = np.arange(200.0)[:, None]
    >>> go_together([x, -x, x % 10 > 4], [False, False, True])
    array([ True,  True, False])
    """
    n_rows, n_columns = len(parts[0]), len(parts)
    if n_rows < FEWEST_ROWS or n_columns < 2:
        return np.ones(n_columns, bool)
    classes = [_classes(part, is_discrete) for part, is_discrete in zip(parts, discrete, strict=True)]
    widths = np.array([part.shape[1] for part in classes])
    if widths.sum() > WIDEST:
        return np.ones(n_columns, bool)
    together = np.hstack(classes)
    chance = _chances((together.T @ together).astype(np.float64), widths)
    return np.asarray(chance.min(axis=1) * (n_columns - 1) < CHANCE)


def _classes(part: Features, discrete: bool) -> NDArray[np.float32]:
    """One column of 0 and 1 for every class; none of them is 1 if a cell is missing."""
    n_rows = len(part)
    rare = np.sqrt(IN_A_CELL / n_rows)
    if discrete:
        found = np.hstack([part == 0, part == 1]) if part.shape[1] == 1 else part == 1
    else:
        n_classes = int(min(MOST_CLASSES, 1 / rare))
        missing = np.isnan(part[:, 0])
        edges = np.unique(np.quantile(part[~missing, 0], np.linspace(0, 1, n_classes + 1)[1:-1]))
        place = np.where(missing, -1, np.searchsorted(edges, part[:, 0], side="right"))
        found = place[:, None] == np.arange(len(edges) + 1)
    shares = found.mean(axis=0)
    kept = np.hstack([found[:, shares >= rare], found[:, shares < rare].any(axis=1, keepdims=True)])
    return kept[:, kept.any(axis=0)].astype(np.float32)


def _chances(counts: NDArray[np.float64], widths: NDArray[np.int64]) -> NDArray[np.float64]:
    """How likely chance makes two columns go together as they do, for every two of them; 1 for a column with itself."""
    starts = np.cumsum(widths) - widths
    of = np.repeat(np.arange(len(widths)), widths)
    rows, columns = np.add.reduceat(counts, starts, axis=1), np.add.reduceat(counts, starts, axis=0)
    total = np.add.reduceat(rows, starts, axis=0)
    expected = rows[:, of] * columns[of]
    ratio = np.divide(counts**2, expected, out=np.zeros_like(counts), where=expected > 0)
    sums = np.add.reduceat(np.add.reduceat(ratio, starts, axis=0), starts, axis=1)
    freedom = np.outer(widths - 1, widths - 1)
    chance = chi2.sf(np.minimum(total, MOST_ROWS) * (sums - 1), np.maximum(freedom, 1))
    return np.where((freedom > 0) & ~np.eye(len(widths), dtype=bool), chance, 1.0)
