"""Samples as the stages take them: repeated where they have whole weights, and in an order of their own."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_sample_weight
from gitcluster.inputs import Input
from gitcluster.prior.constraints import Constraints

REPEATED = 10
"""Whole weights are taken as repeated rows up to this many rows per sample: a copy takes a place in a neighbourhood,
which the weighted formulas, where a sample has one place whatever its weight, do not give."""


class Ready(NamedTuple):
    """Samples as the stages take them: some repeated, in an order that does not depend on how they were given."""

    data: Input
    weights: NDArray[np.float64] | None
    constraints: Constraints | None
    rows: Array | None
    """Which of the given samples every one is, before they were put in order; None where all count once."""
    order: Array | None
    """Places of the samples before they were put in order; None where they were not."""

    def take(self, rows: Array) -> "Ready":
        """Some of the samples, in another order or more than once."""
        return self._replace(
            data=self.data.repeat(rows),
            weights=None if self.weights is None else self.weights[rows],
            constraints=None if self.constraints is None else self.constraints.take(rows),
        )


def prepare_samples(
    given: Input, *, sample_weight: ArrayLike | None, constraints: Constraints | None, sort: bool
) -> Ready:
    """Repeat samples of whole weights, and put all in an order of their own; published variants do not ``sort``."""
    weights = check_sample_weight(sample_weight, given.n_samples)
    rows = repeated_rows(given, weights, constraints)
    ready = Ready(given, weights, constraints, None, None)
    if rows is not None:
        ready = ready._replace(weights=None).take(rows)._replace(rows=rows)
    order = ready.data.own_order(always=sort)
    return ready if order is None else ready.take(order)._replace(order=order)


def repeated_rows(given: Input, weights: NDArray[np.float64] | None, constraints: Constraints | None) -> Array | None:
    """Rows by which whole weights are repetitions; None where the weighted formulas are used, or there are no weights.

    Repetitions would take much memory where weights are large, and leave out samples of weight 0 that have links.
    """
    if weights is None or not given.repeatable or (weights != np.floor(weights)).any():
        return None
    if weights.sum() > max(REPEATED * len(weights), 10_000):
        return None
    if constraints is not None and (constraints.groups[weights == 0] >= 0).any():
        return None
    if weights.sum() < 2:
        raise ValueError("sample_weight must sum to 2 or more where it holds whole numbers.")
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def first_copies(rows: Array, n_given: int) -> Array:
    """The first of the repeated rows that every given one is; -1 where it was not repeated at all.

    Examples
    --------
    >>> first_copies(np.array([0, 0, 2]), 4)
    array([ 0, -1,  2, -1])
    """
    first = np.full(n_given, -1)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    return first
