"""Small things that numpy does not have by name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LINE = 64
"""Bytes that a processor reads at once."""


def inverse_order(order: NDArray[Any]) -> NDArray[Any]:
    """The place of every item in an order: the inverse of a permutation.

    Examples
    --------
    >>> inverse_order(np.array([2, 0, 1]))
    array([1, 2, 0])
    """
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return place


def reorder_rows(values: NDArray[Any], order: NDArray[Any]) -> None:
    """Put the rows of an array in an order, in their place: some columns at a time, so that there is no second array.

    Examples
    --------
    >>> values = np.array([[1, 2], [3, 4], [5, 6]])
    >>> reorder_rows(values, np.array([2, 0, 1]))
    >>> values
    array([[5, 6],
           [1, 2],
           [3, 4]])
    """
    width = max(LINE // values.itemsize, -(-values.shape[1] // 8))
    for first in range(0, values.shape[1], width):
        values[:, first : first + width] = values[order, first : first + width]


def follow_to_end(following: NDArray[Any]) -> NDArray[Any]:
    """Where the way from every item ends, if each names the next one and the last one itself.

    Examples
    --------
    >>> follow_to_end(np.array([0, 0, 1, 3]))
    array([0, 0, 0, 3])
    """
    while True:
        further = following[following]
        if np.array_equal(further, following):
            return np.asarray(further)
        following = further


def starts_of(sizes: NDArray[Any]) -> NDArray[Any]:
    """Where each of several runs begins, and where the last one ends.

    Examples
    --------
    >>> starts_of(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.concatenate(([0], np.cumsum(sizes)))
