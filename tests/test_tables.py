"""Hash tables and heaps in arrays, beside Python's own."""

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.kernels import kernel
from gitcluster.kernels.structures import build_heap, find_slot, free_slot, make_table, sift_down


@kernel
def use_table(table, numbers, values, left):
    """Put numbers in with their values, a negative one takes its opposite out; fill ``left`` with what is held."""
    held = np.empty(len(table), np.int64)
    for t in range(len(numbers)):
        slot = find_slot(table, abs(numbers[t]))
        if numbers[t] >= 0:
            table[slot], held[slot] = numbers[t], values[t]
        elif table[slot] == -numbers[t]:
            free_slot(table, slot, held)
    for number in range(len(left)):
        slot = find_slot(table, np.int64(number))
        left[number] = held[slot] if table[slot] == number else -1


@kernel
def use_heap(keys, ties, out):
    """Numbers in the order in which a heap hands them out."""
    heap, top, size = np.arange(len(keys)), np.int64(0), np.int64(len(keys))
    build_heap(heap, size, keys, ties)
    for position in range(len(keys)):
        out[position] = heap[0]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, size, top, keys, ties)


@given(st.lists(st.tuples(st.integers(-30, 30), st.integers(0, 99)), min_size=1, max_size=200))
def test_a_table_holds_what_a_dictionary_holds(steps):
    expected = {}
    for number, value in steps:
        if number >= 0:
            expected[number] = value
        else:
            expected.pop(-number, None)
    numbers, values = np.array(steps, np.int64).T.copy()
    left = np.empty(31, np.int64)
    use_table(make_table(31), numbers, values, left)
    assert left.tolist() == [expected.get(number, -1) for number in range(31)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=100), st.data())
def test_a_heap_hands_out_in_order(keys, data):
    n = len(keys)
    ties = np.array(data.draw(st.permutations(range(n))))
    out = np.empty(n, np.int64)
    use_heap(np.array(keys, float), ties, out)
    waiting = [(keys[i], ties[i], i) for i in range(n)]
    heapq.heapify(waiting)
    assert out.tolist() == [heapq.heappop(waiting)[2] for _ in range(n)]
