"""Hash tables of numbers from 0 on: an array of them, -1 where it is free, each at or behind the place it asks for."""

import numpy as np
from numpy.typing import NDArray

from gitcluster.kernels import kernel


def make_table(n_numbers: int) -> NDArray[np.int64]:
    """A table with room for so many numbers, at least half of it free."""
    return np.full(max(4, 1 << max(0, 2 * n_numbers - 1).bit_length()), -1)


@kernel
def place_of(table, number):
    """The place that a number asks for."""
    mixed = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1))


@kernel
def find_slot(table, number):
    """Where a number is, or the free place where it would go."""
    slot = place_of(table, number)
    while table[slot] != -1 and table[slot] != number:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel
def free_slot(table, slot, held):
    """Take a number out, and move up those behind it, with what is ``held`` for them."""
    last = len(table) - 1
    behind = (slot + 1) & last
    while table[behind] != -1:
        wanted = place_of(table, table[behind])
        if ((behind - wanted) & last) >= ((behind - slot) & last):  # it may stand at the free place
            table[slot] = table[behind]
            held[slot] = held[behind]
            slot = behind
        behind = (behind + 1) & last
    table[slot] = -1
