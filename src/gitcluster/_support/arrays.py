"""Array functions that numpy lacks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def inverse_order(order: NDArray[Any]) -> NDArray[Any]:
    """Return the position of every item in an order: the inverse of a permutation."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order), dtype=order.dtype)
    return position


def short_indices(indices: NDArray[Any]) -> NDArray[Any]:
    """Return indices below their number as int32, or as int64 if there are too many."""
    return indices.astype(np.int32 if len(indices) < 2**31 else np.int64)


def follow_to_end(following: NDArray[Any]) -> NDArray[Any]:
    """Return the end of the chain from every item, if each item names the next one and the last one names itself.

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
    """Return the start of each of several runs, and the end of the last one: 0, 2, 5 for the sizes 2, 3."""
    return np.concatenate(([0], np.cumsum(sizes)))
