"""The search in cells of samples."""

from math import inf, sqrt

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.heaps import build_heap, sift_down

SPARE = 8
"""Samples beyond the k nearest that are held after a cell, at most, until the farthest are dropped."""


@inner_kernel
def gap_between(low, high, other_low, other_high):
    """Squared distance between two boxes."""
    total = 0.0
    for j in range(len(low)):
        below, above = low[j] - other_high[j], other_low[j] - high[j]
        gap = below if below > above else above
        if gap > 0.0:
            total += gap * gap
    return total


@inner_kernel
def measure_block(x, block, worst, squared):
    """Squared distances to the samples of a cell; false, and unfinished, once all of them are above ``worst``."""
    n_features, width = block.shape
    for c in range(width):
        squared[c] = 0.0
    j = 0
    while j < n_features:
        stop = j + 16 if j + 16 < n_features else n_features
        while j + 4 <= stop:  # four features at a time: fewer trips to memory, the same sum
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            b0, b1, b2, b3 = block[j], block[j + 1], block[j + 2], block[j + 3]
            for c in range(width):
                e0, e1, e2, e3 = x0 - b0[c], x1 - b1[c], x2 - b2[c], x3 - b3[c]
                squared[c] = squared[c] + e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
            j += 4
        while j < stop:
            x0, b0 = x[j], block[j]
            for c in range(width):
                e0 = x0 - b0[c]
                squared[c] += e0 * e0
            j += 1
        near = 0
        for c in range(width):
            near += squared[c] <= worst
        if near == 0:
            return False
    return True


@inner_kernel
def round_distance(squared):
    """Square root, rounded to 36 bits."""
    bits = np.float64(sqrt(squared)).view(np.int64)
    return np.int64((bits + (1 << 15)) & ~np.int64((1 << 16) - 1)).view(np.float64)


@inner_kernel
def comes_first(value, index, other_value, other_index):
    """Whether a pair of a distance and an index comes before another; no branch, which could not be foreseen."""
    return (value < other_value) | ((value == other_value) & (index < other_index))


@inner_kernel
def swap(indices, distances, i, j):
    distances[i], distances[j] = distances[j], distances[i]
    indices[i], indices[j] = indices[j], indices[i]


@inner_kernel
def select_first(indices, distances, count, k):
    """Put the first k of some pairs, by (distance, index), before the others, the last of them at the end."""
    low, last = 0, count - 1
    while low < last:
        middle = (low + last) // 2
        if comes_first(distances[middle], indices[middle], distances[low], indices[low]):
            swap(indices, distances, middle, low)
        if comes_first(distances[last], indices[last], distances[low], indices[low]):
            swap(indices, distances, last, low)
        if comes_first(distances[middle], indices[middle], distances[last], indices[last]):
            swap(indices, distances, middle, last)  # the middle one of three is the last
        value, index, place = distances[last], indices[last], low
        for i in range(low, last):
            other, name = distances[i], indices[i]
            distances[i], indices[i] = distances[place], indices[place]
            distances[place], indices[place] = other, name
            place += np.int64(comes_first(other, name, value, index))
        swap(indices, distances, place, last)
        if place == k - 1:
            break
        if place > k - 1:
            last = place - 1
        else:
            low = place + 1


@inner_kernel
def sort_into(indices, distances, count, to_indices, to_distances):
    """Write pairs in order of (distance, index): each to the place that is the number of those before it."""
    for i in range(count):
        value, place = distances[i], 0
        for j in range(i):
            place += distances[j] <= value
        for j in range(i + 1, count):
            place += distances[j] < value
        to_distances[place], to_indices[place] = value, indices[i]
    for i in range(1, count):
        j = i
        while j > 0 and to_distances[j] == to_distances[j - 1] and to_indices[j] < to_indices[j - 1]:
            swap(to_indices, to_distances, j, j - 1)
            j -= 1


@inner_kernel
def is_there(indices, distances, count):
    """Whether the pair at a place is one of those before it."""
    seen = False
    for i in range(count):
        seen |= indices[i] == indices[count] and distances[i] == distances[count]
    return seen


@inner_kernel
def gather_near(me, had, members, squared, worst, slack, k, indices, distances, count, places):
    """Append the samples of a cell to those that a query has found, but itself and, if it ``had`` some before, those;
    how many there are then, and the squared distance beyond which there is no place among the first k."""
    n_near = 0
    for c in range(len(members)):
        places[n_near] = c
        n_near += np.int64(squared[c] <= worst)
    for i in range(n_near):
        indices[count] = members[places[i]]
        distances[count] = round_distance(squared[places[i]])  # in the precision of the distances
        if indices[count] != me and not (had and is_there(indices, distances, count)):
            count += 1
    if count > k + SPARE or (worst == inf and count >= k):
        select_first(indices, distances, count, k)
        return k, distances[k - 1] * 1.0 * distances[k - 1] * slack
    return count, worst


@kernel
def search_cells(
    start, stop, queries, cells, same, slack, prune, indices, distances, found, pairs,
    near, near_distances, gaps, heap, squared, x, worst, count, places,
):  # fmt: skip
    """The nearest samples of ``cells`` to every sample of ``queries``; ``same`` where a sample may not find itself.

    Cells are visited from near to far, until the next is farther away than the k-th sample that each query has found;
    ``found`` tells how many it has from elsewhere. With ``prune`` below 1 they are given up earlier, at this share of
    the squared distance: faster, and not exact. ``pairs`` counts the samples that a query was compared with. From
    ``near`` on, arrays are room to work in: what a query has found is put in order in the end.
    """
    k, top = indices.shape[1], np.int64(0)
    for q in range(start, stop):
        for cell in range(len(gaps)):
            heap[cell] = cell
            gaps[cell] = gap_between(queries.low[q], queries.high[q], cells.low[cell], cells.high[cell])
        if same:
            gaps[q] = -1.0
        first, size = queries.starts[q], queries.starts[q + 1] - queries.starts[q]
        for s in range(size):
            me = queries.members[first + s]
            worst[s] = inf
            count[s] = found[me]
            for c in range(count[s]):
                near[s, c], near_distances[s, c] = indices[me, c], distances[me, c]
            if count[s] == k:
                worst[s] = distances[me, k - 1] * 1.0 * distances[me, k - 1] * slack
            for j in range(x.shape[1]):
                x[s, j] = queries.blocks[q, j, s]
        left = len(gaps)
        build_heap(heap, left, gaps, cells.starts)
        while left > 0:
            cell = heap[0]
            left -= 1
            heap[0] = heap[left]
            sift_down(heap, left, top, gaps, cells.starts)
            farthest = 0.0
            for s in range(size):
                if worst[s] > farthest:
                    farthest = worst[s]
            if gaps[cell] > prune * farthest:
                break
            for s in range(size):
                reach = prune * worst[s]
                if gaps[cell] > reach or gap_between(x[s], x[s], cells.low[cell], cells.high[cell]) > reach:
                    continue
                me = queries.members[first + s]
                pairs[me] += cells.starts[cell + 1] - cells.starts[cell]
                if measure_block(x[s], cells.blocks[cell], worst[s], squared):
                    count[s], worst[s] = gather_near(
                        me if same else -1, found[me] > 0, cells.members[cells.starts[cell] : cells.starts[cell + 1]],
                        squared, worst[s], slack, k, near[s], near_distances[s], count[s], places,
                    )  # fmt: skip
        for s in range(size):
            me = queries.members[first + s]
            if count[s] > k:
                select_first(near[s], near_distances[s], count[s], k)
            found[me] = min(count[s], k)
            sort_into(near[s], near_distances[s], found[me], indices[me], distances[me])
