"""The search in cells of samples."""

from math import inf, sqrt

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.heaps import build_heap, sift_down
from gitcluster._jit.search import insert


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
def keep_near(me, same, members, start, stop, squared, worst, slack, indices, distances, found, last):
    """Insert the samples of a cell into a row of neighbours; the squared distance beyond which there is no place."""
    k = len(indices)
    for s in range(start, stop):
        other = members[s]
        if squared[s - start] <= worst and not (same and other == me):
            last[me] = round_distance(squared[s - start])  # in the precision of the distances
            found[me] = insert(indices, distances, found[me], other, last[me])
            if found[me] == k:
                worst = distances[k - 1] * 1.0 * distances[k - 1] * slack
    return worst


@kernel
def search_cells(
    start, stop, queries, cells, same, slack, prune, indices, distances, found, pairs,
    last, gaps, heap, squared, x, worst,
):  # fmt: skip
    """The nearest samples of ``cells`` to every sample of ``queries``; ``same`` where a sample may not find itself.

    Cells are visited from near to far, until the next is farther away than the k-th sample that each query has found;
    ``found`` tells how many it has from elsewhere. With ``prune`` below 1 they are given up earlier, at this share of
    the squared distance: faster, and not exact. ``pairs`` counts the samples that a query was compared with. From
    ``last`` on, arrays are room to work in.
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
            if found[me] == k:
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
                near = prune * worst[s]
                if gaps[cell] > near or gap_between(x[s], x[s], cells.low[cell], cells.high[cell]) > near:
                    continue
                me = queries.members[first + s]
                pairs[me] += cells.starts[cell + 1] - cells.starts[cell]
                if measure_block(x[s], cells.blocks[cell], worst[s], squared):
                    worst[s] = keep_near(
                        me, same, cells.members, cells.starts[cell], cells.starts[cell + 1], squared, worst[s], slack,
                        indices[me], distances[me], found, last,
                    )  # fmt: skip
