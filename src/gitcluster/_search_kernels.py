"""Compiled loops of the neighbour search: arrays in, arrays out.

A kernel that takes ``start, stop`` first works on those rows or cells alone and may run in several threads.
"""

from math import inf, sqrt

import numpy as np

from gitcluster._jit import kernel

# candidates


@kernel
def hash_rows(bits, hashes):
    for i in range(bits.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            value ^= np.uint64(bits[i, j])
            value *= np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[i] = value


@kernel
def rows_match(points, other):
    for i in range(points.shape[0]):
        for j in range(points.shape[1]):
            if points[i, j] != points[other[i], j]:
                return False
    return True


@kernel
def measure(start, stop, points, rows, others, distances):
    for r in range(start, stop):
        x = points[rows[r]]
        for c in range(others.shape[1]):
            y = points[others[r, c]]
            total = 0.0
            for j in range(x.shape[0]):
                difference = np.float64(x[j]) - np.float64(y[j])
                total += difference * difference
            distances[r, c] = sqrt(total)


@kernel
def measure_sparse(start, stop, starts, columns, values, rows, others, distances):
    """Distances between rows of a CSR array whose columns ascend."""
    for r in range(start, stop):
        for c in range(others.shape[1]):
            i, j = starts[rows[r]], starts[others[r, c]]
            i_stop, j_stop = starts[rows[r] + 1], starts[others[r, c] + 1]
            total = 0.0
            while i < i_stop or j < j_stop:
                difference = 0.0
                if j == j_stop or (i < i_stop and columns[i] <= columns[j]):
                    difference += values[i]
                    if j < j_stop and columns[i] == columns[j]:
                        difference -= values[j]
                        j += 1
                    i += 1
                else:
                    difference -= values[j]
                    j += 1
                total += difference * difference
            distances[r, c] = sqrt(total)


@kernel
def insert(indices, distances, filled, index, distance):
    """Insert into a row kept in order of (distance, index); the last one falls out of a full row."""
    place = filled
    while place > 0 and (distance, index) < (distances[place - 1], indices[place - 1]):
        place -= 1
    if place == len(indices) or (place > 0 and index == indices[place - 1] and distance == distances[place - 1]):
        return filled  # too far, or there already
    for later in range(min(filled, len(indices) - 1), place, -1):
        indices[later] = indices[later - 1]
        distances[later] = distances[later - 1]
    indices[place] = index
    distances[place] = distance
    return min(filled + 1, len(indices))


@kernel
def keep_nearest(start, stop, rows, candidates, candidate_distances, reach, indices, distances, settled):
    rounded = distances[:1, :1].copy()
    for r in range(start, stop):
        x = rows[r]
        filled = 0
        for c in range(candidates.shape[1]):
            if candidates[r, c] != x:
                rounded[0, 0] = candidate_distances[r, c]
                filled = insert(indices[x], distances[x], filled, candidates[r, c], rounded[0, 0])
        rounded[0, 0] = reach[r]
        settled[r] = filled == indices.shape[1] and (distances[x, filled - 1] < rounded[0, 0] or reach[r] == inf)


@kernel
def nearest_in_matrix(start, stop, matrix, same, indices, distances):
    for x in range(start, stop):
        filled = 0
        for y in range(matrix.shape[1]):
            if not same or y != x:
                filled = insert(indices[x], distances[x], filled, y, matrix[x, y])


@kernel
def expand_duplicates(start, stop, row_indices, row_distances, starts, members, indices, distances):
    k = indices.shape[1]
    near = np.empty(k + 1, indices.dtype)
    near_distances = np.empty(k + 1, distances.dtype)
    zero = np.zeros(1, distances.dtype)[0]
    for row in range(start, stop):
        filled = 0
        for c in range(-1, row_indices.shape[1]):
            other = row if c < 0 else row_indices[row, c]
            distance = zero if c < 0 else row_distances[row, c]
            if filled == k + 1 and distance > near_distances[k]:
                break
            for s in range(starts[other], min(starts[other + 1], starts[other] + k + 1)):
                filled = insert(near, near_distances, filled, members[s], distance)
        for s in range(starts[row], starts[row + 1]):
            x, place = members[s], 0
            for c in range(filled):
                if near[c] != x and place < k:
                    indices[x, place] = near[c]
                    distances[x, place] = near_distances[c]
                    place += 1


@kernel
def rename_samples(start, stop, indices, order):
    """Indices of samples that were put in another order: sample ``order[i]`` was at i."""
    for x in range(start, stop):
        for c in range(indices.shape[1]):
            indices[x, c] = order[indices[x, c]]


@kernel
def restore_rows(indices, distances, place):
    """Rows of samples that were put in another order, in place: row ``place[i]`` becomes row i."""
    done = np.zeros(len(place), np.bool_)
    for first in range(len(place)):
        if done[first]:
            continue
        at = first
        near, near_distances = indices[first].copy(), distances[first].copy()
        while place[at] != first:
            done[at] = True
            indices[at] = indices[place[at]]
            distances[at] = distances[place[at]]
            at = place[at]
        done[at] = True
        indices[at], distances[at] = near, near_distances


@kernel
def gather_rows(start, stop, starts, columns, values, same, indices, distances):
    """The nearest of every row of a graph, nearest first; what is missing is the sample itself, infinitely far."""
    for x in range(start, stop):
        filled = 0
        for s in range(starts[x], starts[x + 1]):
            if not same or columns[s] != x:
                filled = insert(indices[x], distances[x], filled, columns[s], values[s])
        indices[x, filled:] = x if same else 0
        distances[x, filled:] = inf


# cells


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


# cells of the space on many machines


@kernel
def bucket_rows(start, stop, rows, splitters, bucket):
    """How many of the splitters, which ascend, are not above every row, in lexicographic order."""
    for i in range(start, stop):
        low, high = 0, len(splitters)
        while low < high:
            middle = (low + high) // 2
            below = False
            for j in range(rows.shape[1]):
                if rows[i, j] != splitters[middle, j]:
                    below = rows[i, j] < splitters[middle, j]
                    break
            if below:
                high = middle
            else:
                low = middle + 1
        bucket[i] = low


@kernel
def squared_distance(x, y):
    total = 0.0
    for j in range(len(x)):
        difference = np.float64(x[j]) - np.float64(y[j])
        total += difference * difference
    return total


@kernel
def nearest_centre(points, centres, nearest):
    for i in range(len(points)):
        best = inf
        for c in range(len(centres)):
            squared = squared_distance(points[i], centres[c])
            if squared < best:
                best = squared
                nearest[i] = c


@kernel
def count_needs(points, reach, own, centres, low, high, wanted, needs):
    """For every wanted cell, the samples whose ``reach`` goes beyond the bisector to it and into its box.

    A sample of the cell ``own`` is at least as far from all samples of another cell as from the bisector between the
    two centres; what rounding may add to the distances is taken off.
    """
    n_features = points.shape[1]
    for i in range(len(points)):
        to_own = squared_distance(points[i], centres[own])
        for c in range(len(centres)):
            if not wanted[c]:
                continue
            if reach[i] < inf:
                apart, to_other = squared_distance(centres[own], centres[c]), squared_distance(points[i], centres[c])
                excess = to_other - to_own - 8e-16 * (n_features + 4) * (to_other + to_own)
                if excess > 0.0 and excess * excess > 4.0 * apart * reach[i] * reach[i]:
                    continue
                gap = 0.0
                for j in range(n_features):
                    side = max(low[c, j] - points[i, j], points[i, j] - high[c, j], 0.0)
                    gap += side * side
                if gap > reach[i] * reach[i]:
                    continue
            needs[c] += 1


@kernel
def rank_centres(points, own, centres, place, chosen):
    """The centre that comes ``place``-th from every sample, its own being first."""
    nearest, squared = np.empty(place, np.int64), np.empty(place)
    for i in range(len(points)):
        filled = 0
        for c in range(len(centres)):
            if c != own:
                distance = squared_distance(points[i], centres[c])
                if filled < place or distance < squared[-1]:
                    filled = insert(nearest, squared, filled, c, distance)
        chosen[i] = nearest[-1]


@kernel
def insert_below(queries, candidates, names, squared, threshold, slack, indices, distances, filled):
    """Measure again the candidates whose rounded squared distances are not above a threshold, and keep the nearest."""
    distance = np.empty(1, distances.dtype)
    for q in range(len(queries)):
        width = indices.shape[1]
        for c in range(len(candidates)):
            if squared[q, c] <= threshold[q]:
                exact = squared_distance(queries[q], candidates[c])
                if filled[q] == width and exact > np.float64(distances[q, -1]) ** 2 * slack:
                    continue
                distance[0] = round_distance(exact)
                filled[q] = insert(indices[q], distances[q], filled[q], names[c], distance[0])


@kernel
def insert_rows(rows, others, other_distances, indices, distances, filled):
    """Insert what was found elsewhere for some rows; a number below 0 is nothing."""
    for r in range(len(rows)):
        x = rows[r]
        for c in range(others.shape[1]):
            if others[r, c] >= 0:
                filled[x] = insert(indices[x], distances[x], filled[x], others[r, c], other_distances[r, c])


@kernel
def drop_self(group, ids, wide_indices, wide_distances, indices, distances):
    """Neighbours of every sample from those of its place, which are one more: without the sample itself."""
    for x in range(len(group)):
        place = 0
        for c in range(wide_indices.shape[1]):
            if wide_indices[group[x], c] != ids[x] and place < indices.shape[1]:
                indices[x, place] = wide_indices[group[x], c]
                distances[x, place] = wide_distances[group[x], c]
                place += 1


@kernel
def number_locally(indices, ids, halo, local):
    """Place of every neighbour among ``ids``, or behind them in ``halo``; both ascend."""
    for x in range(indices.shape[0]):
        for c in range(indices.shape[1]):
            place = np.searchsorted(ids, indices[x, c])
            if place < len(ids) and ids[place] == indices[x, c]:
                local[x, c] = place
            else:
                local[x, c] = len(ids) + np.searchsorted(halo, indices[x, c])
