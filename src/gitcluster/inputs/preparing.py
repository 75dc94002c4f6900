"""Samples as the stages take them: repeated where they have whole weights, and in an order of their own."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.validation import check_sample_weight
from gitcluster.inputs import Input
from gitcluster.prior.constraints import Constraints

REPEATED = 10
"""Whole weights are taken as repeated rows up to this many rows per sample: a copy takes a place in a neighbourhood,
which the weighted formulas, where a sample has one place whatever its weight, do not give."""


class Ready(NamedTuple):
    """Samples as the stages take them: some repeated or put together, in an order of their own."""

    data: Input
    weights: NDArray[np.float64] | None
    constraints: Constraints | None
    rows: Array | None = None
    """Which of the given samples every one is, before they were put in order; None where all count once."""
    copies: Array | None = None
    """The first of these that every given sample is, -1 where it has weight 0; None where all count once."""
    order: Array | None = None
    """Places of the samples before they were put in order; None where they were not."""
    waiting: Array | None = None
    """The order that ``data`` has still to be put in; None where it is in order. It is when it is scaled, which makes a
    new array anyway."""

    def take(self, rows: Array) -> "Ready":
        """Some of the samples, in another order or more than once."""
        data = self.data.repeat(rows if self.waiting is None else self.waiting[rows])
        return self.take_rest(rows)._replace(data=data, waiting=None)

    def put_back(self, place: Array) -> "Ready":
        """The samples in the order in which they were given; those that were scaled are written over."""
        return self.take_rest(place)._replace(data=self.data.put_in_order(place))

    def take_rest(self, rows: Array) -> "Ready":
        """The same but for the data, which stay as they are."""
        return self._replace(
            weights=None if self.weights is None else self.weights[rows],
            constraints=None if self.constraints is None else self.constraints.take(rows),
        )


def prepare_samples(
    given: Input,
    *,
    sample_weight: ArrayLike | None,
    constraints: Constraints | None,
    sort: bool,
    n_jobs: int | None = None,
) -> Ready:
    """Repeat samples of whole weights, add up the weights of equal ones, and put all in an order of their own.

    The published variants do not ``sort``.
    """
    weights = check_sample_weight(sample_weight, given.n_samples)
    ready = Ready(given, weights, constraints)
    if weights is not None:
        rows = repeated_rows(given, weights, constraints)
        ready = add_up_duplicates(ready) if rows is None else repeat_rows(ready, rows)
    order = ready.data.own_order(always=sort, n_jobs=n_jobs)
    if order is None:
        return ready
    if ready.constraints is not None:  # equal samples of different groups are told apart by these
        rank = inverse_order(order)[ready.data.first_equal(order)]
        order = np.lexsort((ready.constraints.rank_groups(rank), rank))
    if ready.data.can_wait and sort:
        return ready.take_rest(order)._replace(order=order, waiting=order)
    return ready.take(order)._replace(order=order)


def repeat_rows(ready: Ready, rows: Array) -> Ready:
    """Every sample as often as its weight says."""
    copies = first_copies(rows, ready.data.n_samples)
    return ready._replace(weights=None).take(rows)._replace(rows=rows, copies=copies)


def add_up_duplicates(ready: Ready) -> Ready:
    """Equal samples of one group as one sample of their total weight: what is at one place stays together."""
    n_samples, weights = ready.data.n_samples, ready.weights
    equal = ready.data.first_equal(np.arange(n_samples))
    groups = np.full(n_samples, -1) if ready.constraints is None else ready.constraints.groups
    _, first, copies = np.unique(np.stack([equal, groups]), axis=1, return_index=True, return_inverse=True)
    if weights is None or len(first) == n_samples or len(first) < 2:
        return ready
    by_weight = np.lexsort((weights, copies.ravel()))  # sums do not depend on the order of the samples
    total = np.add.reduceat(weights[by_weight], np.searchsorted(copies.ravel()[by_weight], np.arange(len(first))))
    return ready.take(first)._replace(weights=total, rows=first, copies=copies.ravel())


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
