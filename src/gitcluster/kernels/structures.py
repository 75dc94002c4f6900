"""Data structures in arrays: disjoint sets, a binary heap, and a hash table of integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster.kernels import kernel

# Disjoint sets (union-find). `root` is an array or a list; an item whose root is itself represents its set.


def find(root: Any, i: int) -> int:
    """Return the root of item ``i`` and halve the path to it."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


def union(root: Any, i: int, j: int) -> int:
    """Join two roots and return the new one: the lower number, which is the higher peak."""
    high, low = (i, j) if i < j else (j, i)
    root[low] = high
    return high


# Python code with a few items calls the plain functions, kernels the compiled ones.
compiled_find, compiled_union = kernel(find), kernel(union)


@kernel
def union_edges(root, edges, chosen):
    """Join the ends of the chosen edges."""
    for c in range(len(chosen)):
        compiled_union(root, compiled_find(root, edges[chosen[c], 0]), compiled_find(root, edges[chosen[c], 1]))


# Binary heap of the numbers in `heap[:size]`. Lower keys come first, equal keys in the order of `ties`.


@kernel
def sift_down(heap, size, position, keys, ties):
    """Move the number at a position down until no number below it comes first."""
    number = heap[position]
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        a = heap[child]
        if child + 1 < size:
            b = heap[child + 1]
            if keys[b] < keys[a] or (keys[b] == keys[a] and ties[b] < ties[a]):
                a = b
                child += 1
        if not (keys[a] < keys[number] or (keys[a] == keys[number] and ties[a] < ties[number])):
            break
        heap[position] = a
        position = child
    heap[position] = number


@kernel
def build_heap(heap, size, keys, ties):
    """Arrange the first ``size`` numbers as a heap."""
    for position in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, position, keys, ties)


# Hash table of integers >= 0 with linear probing; -1 marks a free slot. The length is a power of two.


def make_table(n_numbers: int) -> NDArray[np.int64]:
    """Return an empty table for up to ``n_numbers`` numbers. At least half stays free, so that probes are short."""
    return np.full(max(4, 1 << max(0, 2 * n_numbers - 1).bit_length()), -1)


@kernel
def preferred_slot(table, number):
    """Return the slot at which the search for a number starts."""
    # Fibonacci hashing: 0x9E37... is 2**64 / golden ratio. The high bits are the mixed ones; fold them onto the low.
    mixed = np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1))


@kernel
def find_slot(table, number):
    """Return the slot that holds a number, or the free slot for it."""
    slot = preferred_slot(table, number)
    while table[slot] != -1 and table[slot] != number:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel
def free_slot(table, slot, values):
    """Remove the number in a slot and close the gap, so that later probes do not end early.

    ``values`` holds the value of every slot and moves with the numbers.
    """
    last = len(table) - 1
    behind = (slot + 1) & last
    while table[behind] != -1:
        preferred = preferred_slot(table, table[behind])
        if ((behind - preferred) & last) >= ((behind - slot) & last):  # its probe passes the free slot
            table[slot] = table[behind]
            values[slot] = values[behind]
            slot = behind
        behind = (behind + 1) & last
    table[slot] = -1
