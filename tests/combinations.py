"""Few rows instead of a full product: every pair of values of any two axes is in one of them."""

from itertools import combinations, product

import numpy as np


def pairwise(allowed=lambda row: True, **axes):
    """Rows, each a dict with one value per axis, that have every pair of values of any two axes at least once.

    The first axis leads, and the first value of each other axis is its default: each value of the first axis has a
    row with the defaults alone, then as many more as a greedy choice needs. Among rows that add equally much, the one
    whose pairs were used least often is taken, so that combinations vary. A pair counts only if ``allowed(row)`` is
    true for a row that has it; the defaults must be allowed. Nothing is random.

    >>> for row in pairwise(name=["a", "b"], size=[1, 2], noise=[None, 0.5]):
    ...     print(row)
    {'name': 'a', 'size': 1, 'noise': None}
    {'name': 'a', 'size': 2, 'noise': 0.5}
    {'name': 'b', 'size': 1, 'noise': None}
    {'name': 'b', 'size': 2, 'noise': 0.5}
    {'name': 'a', 'size': 1, 'noise': 0.5}
    {'name': 'a', 'size': 2, 'noise': None}
    """
    values = [list(axis) for axis in axes.values()]
    places = product(*(range(len(axis)) for axis in values))
    rows = [(place, row_at(axes, values, place)) for place in places]
    rows = [(place, row) for place, row in rows if allowed(row)]
    lead, pairs = np.array([place[0] for place, _ in rows]), number_pairs([place for place, _ in rows], values)
    used = np.zeros(pairs.max() + 1, dtype=int)
    chosen = []

    def choose(number):
        used[pairs[number]] += 1
        chosen.append(rows[number][1])

    of_lead = pairs[:, : len(axes) - 1]
    for value in range(len(values[0])):
        (numbers,) = np.nonzero(lead == value)
        choose(numbers[0])
        while (used[of_lead[numbers]] == 0).any():
            choose(numbers[most_new(used, of_lead[numbers], pairs[numbers])])
    while (used[pairs] == 0).any():
        choose(most_new(used, pairs, pairs))
    return chosen


def row_at(axes, values, place):
    return {name: axis[number] for name, axis, number in zip(axes, values, place, strict=True)}


def number_pairs(places, values):
    """A number for each pair of values: one row per place, one column per pair of axes, the first axis's first."""
    places, start, columns = np.array(places), 0, []
    for a, b in combinations(range(len(values)), 2):
        columns.append(start + places[:, a] * len(values[b]) + places[:, b])
        start += len(values[a]) * len(values[b])
    return np.column_stack(columns)


def most_new(used, wanted, pairs):
    """Which row has the most wanted pairs not used before; of those, whose pairs were used least often."""
    return np.lexsort((used[pairs].sum(axis=1), -(used[wanted] == 0).sum(axis=1)))[0]


def label(row):
    """A name for a row, the same in every process."""
    return "-".join(str(value) for value in row.values())
