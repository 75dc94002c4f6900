"""The search in cells of samples."""

from math import inf, sqrt

import numpy as np

from gitcluster._jit import kernel
from gitcluster._jit.search import insert


@kernel
def select(points, feature, order, start, stop, middle):
    """Partly sort ``order[start:stop]`` by a feature: what stands before ``middle`` is not above what stands after."""
    left, right = start, stop - 1
    while left < right:
        a, b, c = (
            points[order[left], feature],
            points[order[(left + right) // 2], feature],
            points[order[right], feature],
        )
        pivot = max(min(a, b), min(max(a, b), c))
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


@kernel
def widest_feature(points, some):
    low, high = points[some[0]].copy(), points[some[0]].copy()
    for x in some:
        for j in range(points.shape[1]):
            low[j] = min(low[j], points[x, j])
            high[j] = max(high[j], points[x, j])
    return np.argmax(high - low)


@kernel
def split_cells(points, order, starts):
    """Halve the samples across their widest feature, again and again, until there is one part a cell."""
    waiting = [(0, len(starts) - 1)]
    while len(waiting) > 0:
        first, last = waiting.pop()
        if last - first > 1:
            middle, start, stop = (first + last) // 2, starts[first], starts[last]
            select(points, widest_feature(points, order[start:stop]), order, start, stop, starts[middle])
            waiting.append((first, middle))
            waiting.append((middle, last))


@kernel
def fill_cells(start, stop, points, order, starts, blocks, low, high):
    for cell in range(start, stop):
        for j in range(points.shape[1]):
            low[cell, j], high[cell, j] = inf, -inf
            for s in range(starts[cell], starts[cell + 1]):
                value = points[order[s], j]
                blocks[cell, j, s - starts[cell]] = value
                low[cell, j] = min(low[cell, j], value)
                high[cell, j] = max(high[cell, j], value)
            for c in range(starts[cell + 1] - starts[cell], blocks.shape[2]):
                blocks[cell, j, c] = inf


@kernel
def gap_between(low, high, other_low, other_high):
    """Squared distance between two boxes."""
    total = 0.0
    for j in range(len(low)):
        gap = max(low[j] - other_high[j], other_low[j] - high[j], 0.0)
        total += gap * gap
    return total


@kernel
def measure_block(x, block, worst, squared):
    """Squared distances to the samples of a cell; false, and unfinished, once all of them are above ``worst``."""
    n_features, width = block.shape
    squared[:] = 0.0
    j = 0
    while j < n_features:
        stop = min(j + 16, n_features)
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


@kernel
def round_distance(squared):
    """Square root, rounded to 36 bits."""
    bits = np.float64(sqrt(squared)).view(np.int64)
    return np.int64((bits + (1 << 15)) & ~np.int64((1 << 16) - 1)).view(np.float64)


@kernel
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
    n_cells, _, width = cells.blocks.shape
    gaps, squared = np.empty(n_cells), np.empty(width)
    for q in range(start, stop):
        for cell in range(n_cells):
            gaps[cell] = gap_between(queries.low[q], queries.high[q], cells.low[cell], cells.high[cell])
        if same:
            gaps[q] = -1.0
        some = queries.members[queries.starts[q] : queries.starts[q + 1]]
        x = np.ascontiguousarray(queries.blocks[q].T)
        filled, worst = found[some], np.full(len(some), inf)
        for s in range(len(some)):
            if filled[s] == indices.shape[1]:
                worst[s] = np.float64(distances[some[s], -1]) ** 2 * slack
        for cell in np.argsort(gaps):
            if gaps[cell] > prune * worst.max():
                break
            others = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
            for s in range(len(some)):
                near = prune * worst[s]
                if gaps[cell] > near or gap_between(x[s], x[s], cells.low[cell], cells.high[cell]) > near:
                    continue
                me = some[s]
                pairs[me] += len(others)
                if measure_block(x[s], cells.blocks[cell], worst[s], squared):
                    filled[s] = keep_near(
                        me if same else -1, others, squared, slack, indices[me], distances[me], filled[s]
                    )
                    if filled[s] == indices.shape[1]:
                        worst[s] = np.float64(distances[me, -1]) ** 2 * slack
        found[some] = filled
