"""The search in cells of samples."""

from math import inf, sqrt

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.heaps import build_heap, sift_down
from gitcluster._jit.search import insert


@inner_kernel
def select(points, feature, order, start, stop, middle):
    """Partly sort ``order[start:stop]`` by a feature: what stands before ``middle`` is not above what stands after."""
    left, right = start, stop - 1
    while left < right:
        a, b, c = (
            points[order[left], feature],
            points[order[(left + right) // 2], feature],
            points[order[right], feature],
        )
        if a > b:
            a, b = b, a
        pivot = a if c < a else (b if c > b else c)  # the middle one
        i, j = left, right
        while i <= j:
            while points[order[i], feature] < pivot:
                i += 1
            while points[order[j], feature] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@inner_kernel
def widest_feature(points, some):
    widest, span = 0, -1.0
    low, high = np.full(points.shape[1], inf), np.full(points.shape[1], -inf)
    for x in some:
        for j in range(points.shape[1]):
            value = np.float64(points[x, j])
            if value < low[j]:
                low[j] = value
            if value > high[j]:
                high[j] = value
    for j in range(points.shape[1]):
        if high[j] - low[j] > span:
            widest, span = j, high[j] - low[j]
    return widest


@kernel
def split_cells(points, order, starts):
    """Halve the samples across their widest feature, again and again, until there is one part a cell."""
    n_cells = len(starts) - 1  # a power of two
    width = n_cells
    while width > 1:
        for first in range(0, n_cells, width):
            start, stop = starts[first], starts[first + width]
            feature = widest_feature(points, order[start:stop])
            select(points, feature, order, start, stop, starts[first + width // 2])
        width //= 2


@kernel
def fill_cells(start, stop, points, order, starts, blocks, low, high):
    for cell in range(start, stop):
        for j in range(points.shape[1]):
            low[cell, j], high[cell, j] = inf, -inf
            for s in range(starts[cell], starts[cell + 1]):
                value = points[order[s], j]
                blocks[cell, j, s - starts[cell]] = value
                if value < low[cell, j]:
                    low[cell, j] = value
                if value > high[cell, j]:
                    high[cell, j] = value
            for c in range(starts[cell + 1] - starts[cell], blocks.shape[2]):
                blocks[cell, j, c] = inf


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
def keep_near(me, others, squared, slack, indices, distances, filled):
    """Insert the samples of a cell into a row of neighbours; returns how many the row has."""
    distance = np.empty(1, distances.dtype)
    worst = np.float64(distances[-1]) ** 2 * slack if filled == len(indices) else inf
    for c in range(len(others)):
        if squared[c] <= worst and others[c] != me:
            distance[0] = round_distance(squared[c])
            filled = insert(indices, distances, filled, others[c], distance[0])
            if filled == len(indices):
                worst = np.float64(distances[-1]) ** 2 * slack
    return filled


@kernel
def search_cells(start, stop, queries, cells, same, slack, prune, indices, distances, found, pairs):
    """The nearest samples of ``cells`` to every sample of ``queries``; ``same`` where a sample may not find itself.

    Cells are visited from near to far, until the next is farther away than the k-th sample that each query has found;
    ``found`` tells how many it has from elsewhere. With ``prune`` below 1 they are given up earlier, at this share of
    the squared distance: faster, and not exact. ``pairs`` counts the samples that a query was compared with.
    """
    n_cells, n_features, width = cells.blocks.shape
    gaps, heap, squared = np.empty(n_cells), np.empty(n_cells, np.int64), np.empty(width)
    x, worst = np.empty((queries.blocks.shape[2], n_features)), np.empty(queries.blocks.shape[2])
    k, top = indices.shape[1], np.int64(0)
    for q in range(start, stop):
        for cell in range(n_cells):
            heap[cell] = cell
            gaps[cell] = gap_between(queries.low[q], queries.high[q], cells.low[cell], cells.high[cell])
        if same:
            gaps[q] = -1.0
        some = queries.members[queries.starts[q] : queries.starts[q + 1]]
        for s in range(len(some)):
            worst[s] = np.float64(distances[some[s], k - 1]) ** 2 * slack if found[some[s]] == k else inf
            for j in range(n_features):
                x[s, j] = queries.blocks[q, j, s]
        build_heap(heap, n_cells, gaps, cells.starts)
        for left in range(n_cells - 1, -1, -1):
            cell = heap[0]
            heap[0] = heap[left]
            sift_down(heap, left, top, gaps, cells.starts)
            farthest = 0.0
            for s in range(len(some)):
                if worst[s] > farthest:
                    farthest = worst[s]
            if gaps[cell] > prune * farthest:
                break
            others = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
            for s in range(len(some)):
                near = prune * worst[s]
                if gaps[cell] > near or gap_between(x[s], x[s], cells.low[cell], cells.high[cell]) > near:
                    continue
                me = some[s]
                pairs[me] += len(others)
                if measure_block(x[s], cells.blocks[cell], worst[s], squared):
                    found[me] = keep_near(
                        me if same else -1, others, squared, slack, indices[me], distances[me], found[me]
                    )
                    if found[me] == k:
                        worst[s] = np.float64(distances[me, k - 1]) ** 2 * slack
