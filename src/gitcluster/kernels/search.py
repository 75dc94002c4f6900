"""Distances, sorted neighbour rows, and the search in cells.

Kernels that take ``start, stop`` first work on those rows or cells alone and may run in several threads. Neighbour rows
are sorted by (distance, index), so that a search has exactly one right answer.

Distances are rounded to 36 bits after the leading one. Rounding errors of a sum of squares, about 2**-52 per feature,
then rarely change a result: samples that are equally far in exact arithmetic are tied, in whatever order features are
added, and ties are broken by index.
"""

from math import inf, sqrt

import numpy as np

from gitcluster.kernels import kernel, unordered_kernel
from gitcluster.kernels.structures import build_heap, sift_down

# Distances


@kernel
def squared_distance(x, y):
    """Return the squared distance, summed in double precision in the order of the features."""
    total = 0.0
    for j in range(len(x)):
        difference = np.float64(x[j]) - np.float64(y[j])
        total += difference * difference
    return total


@kernel
def measure(start, stop, points, rows, others, distances):
    """Write the distances of rows to their ``others``, four at a time.

    Features are added in their order, so a sum cannot be vectorized. Four independent sums hide the latency of the
    additions, which makes the loop twice as fast.
    """
    for r in range(start, stop):
        x, width = points[rows[r]], others.shape[1]
        for c in range(0, width - 3, 4):
            y0, y1, y2, y3 = (
                points[others[r, c]], points[others[r, c + 1]], points[others[r, c + 2]], points[others[r, c + 3]]
            )  # fmt: skip
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(len(x)):
                value = np.float64(x[j])
                e0, e1 = value - np.float64(y0[j]), value - np.float64(y1[j])
                e2, e3 = value - np.float64(y2[j]), value - np.float64(y3[j])
                s0, s1, s2, s3 = s0 + e0 * e0, s1 + e1 * e1, s2 + e2 * e2, s3 + e3 * e3
            distances[r, c], distances[r, c + 1] = sqrt(s0), sqrt(s1)
            distances[r, c + 2], distances[r, c + 3] = sqrt(s2), sqrt(s3)
        for c in range(width - width % 4, width):
            distances[r, c] = sqrt(squared_distance(x, points[others[r, c]]))


@kernel
def measure_sparse(start, stop, starts, columns, values, rows, others, distances):
    """Write distances between rows of a CSR array with ascending columns, by merging the two rows."""
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
def round_distance(squared):
    """Return the square root, rounded to 36 bits after the leading one."""
    # A double has 52 bits after the leading one. Add half a unit of the 36th and clear the last 16.
    bits = np.float64(sqrt(squared)).view(np.int64)
    return np.int64((bits + (1 << 15)) & ~np.int64((1 << 16) - 1)).view(np.float64)


@kernel
def round_squared(squared, precision):
    """Return the square of the rounded distance: equal if the distances are equal, and in the same order."""
    distance = 1.0 * precision.type(round_distance(squared))
    return distance * distance


# Sorted neighbour rows


@kernel
def insert(indices, distances, filled, index, distance):
    """Insert a neighbour into a sorted row and return the new length. A full row drops its last neighbour."""
    position = filled
    while position > 0 and (
        distance < distances[position - 1] or (distance == distances[position - 1] and index < indices[position - 1])
    ):
        position -= 1
    if position == len(indices) or (
        position > 0 and index == indices[position - 1] and distance == distances[position - 1]
    ):
        return filled  # too far, or already in the row
    if filled < len(indices):
        filled += 1
    for later in range(filled - 1, position, -1):
        indices[later] = indices[later - 1]
        distances[later] = distances[later - 1]
    indices[position] = index
    distances[position] = distance
    return filled


@kernel
def insert_rows(rows, others, other_distances, indices, distances, filled):
    """Insert the neighbours of some rows in another cell; a negative index is no neighbour."""
    for r in range(len(rows)):
        x = rows[r]
        for c in range(others.shape[1]):
            if others[r, c] >= 0:
                filled[x] = insert(indices[x], distances[x], filled[x], others[r, c], other_distances[r, c])


@kernel
def keep_nearest(start, stop, rows, candidates, candidate_distances, reach, indices, distances, settled):
    """Write the nearest candidates of every row, without the row itself.

    A row is settled if it is full and its last neighbour is nearer than ``reach``, the distance that all samples have
    which are not candidates.
    """
    rounded = distances[:1, :1].copy()  # converts to the precision of the result before distances are compared
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
def insert_near(queries, own, points, names, squared, threshold, slack, indices, distances, filled):
    """Insert the points that may be near into the neighbour rows of queries, with exact distances.

    A pair may be near if ``squared``, the squared distance with rounding errors, is not above the query's threshold.
    ``names`` are the numbers of the points, ``own`` those of the queries, which are left out.
    """
    distance = np.empty(1, distances.dtype)  # converts to the precision of the result
    for q in range(len(queries)):
        for c in range(len(points)):
            if squared[q, c] <= threshold[q] and names[c] != own[q]:
                exact = squared_distance(queries[q], points[c])
                if filled[q] < indices.shape[1] or exact <= np.float64(distances[q, -1]) ** 2 * slack:
                    distance[0] = round_distance(exact)
                    filled[q] = insert(indices[q], distances[q], filled[q], names[c], distance[0])


@kernel
def nearest_in_matrix(start, stop, matrix, same, indices, distances):
    """Write the nearest columns of every row of a distance matrix, without the diagonal if ``same``."""
    for x in range(start, stop):
        filled = 0
        for y in range(matrix.shape[1]):
            if not same or y != x:
                filled = insert(indices[x], distances[x], filled, y, matrix[x, y])


@kernel
def nearest_in_graph(start, stop, starts, columns, values, same, indices, distances):
    """Write the nearest columns of every row of a CSR graph.

    Rows with fewer neighbours are filled up with the sample itself (0 if rows and columns differ) at infinity.
    """
    for x in range(start, stop):
        filled = 0
        for s in range(starts[x], starts[x + 1]):
            if not same or columns[s] != x:
                filled = insert(indices[x], distances[x], filled, columns[s], values[s])
        indices[x, filled:] = x if same else 0
        distances[x, filled:] = inf


@kernel
def expand_duplicates(start, stop, row_indices, row_distances, starts, members, indices, distances):
    """Write the neighbours of all samples, given those of distinct rows.

    ``members[starts[r] : starts[r + 1]]`` are the samples equal to distinct row r. Each has the others as neighbours at
    distance 0. All members of a row share their k + 1 nearest samples; each then leaves out itself.
    """
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
            x, count = members[s], 0
            for c in range(filled):
                if near[c] != x and count < k:
                    indices[x, count] = near[c]
                    distances[x, count] = near_distances[c]
                    count += 1


@kernel
def expand_queries(start, stop, row_indices, row_distances, starts, members, indices, distances):
    """Write the nearest samples of queries, given the nearest distinct rows; see :func:`expand_duplicates`."""
    k = indices.shape[1]
    for x in range(start, stop):
        filled = 0
        for c in range(row_indices.shape[1]):
            row, distance = row_indices[x, c], row_distances[x, c]
            if filled == k and distance > distances[x, k - 1]:
                break
            for s in range(starts[row], min(starts[row + 1], starts[row] + k)):  # more than k members never fit
                filled = insert(indices[x], distances[x], filled, members[s], distance)


# Search in cells. The inner loops take whole arrays and a row number: passing a row view costs a reference count, which
# takes longer than many of these loops.

SPARE = 16
"""Candidates beyond k that a query may hold before the farthest are dropped."""
HALVINGS = 12
"""Steps of the bisection for a bound on the k-th value; 12 narrow the range to 1 / 4096."""
HALF_BIT = 2.0**-24
"""Largest relative error of rounding to single precision."""
LARGE = 1e18
"""Coordinates below it have squares within the range of single precision (3.4e38), also summed over some features."""
TINY = 1e-36
"""More than underflow in single precision can take from a squared distance (its smallest normal number is 1.2e-38)."""


@kernel
def gap_between(low, high, box, other_low, other_high, other):
    """Return the squared distance between two boxes."""
    total = 0.0
    for j in range(low.shape[1]):
        below, above = low[box, j] - other_high[other, j], other_low[other, j] - high[box, j]
        gap = below if below > above else above
        if gap > 0.0:
            total += gap * gap
    return total


@kernel
def gaps_to_box(points, count, low, high, box, gaps):
    """Write the squared distances of samples, stored feature by feature, to a box."""
    for s in range(count):
        gaps[s] = 0.0
    for j in range(low.shape[1]):
        least, most = low[box, j], high[box, j]
        for s in range(count):
            below, above = least - points[j, s], points[j, s] - most
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            gaps[s] += gap * gap


@kernel
def all_above(values, bits, bound):
    """Return whether all values, which are >= 0, are above a bound.

    ``bits`` are the values seen as integers. Non-negative floats are in the order of their bits, and the minimum of
    integers is vectorized, unlike that of floats, which has to respect NaN.
    """
    least = bits[0]
    for c in range(len(values)):
        least = bits[c] if bits[c] < least else least
    return bound < inf and least > np.float32(bound).view(np.int32)


@unordered_kernel
def measure_block(x, blocks, cell, worst, squared, bits):
    """Write squared distances to the samples of a cell in single precision; return False if all are above ``worst``."""
    for c in range(blocks.shape[2]):
        squared[c] = 0
    for j in range(0, blocks.shape[1], 4):  # four features per pass over `squared`: fewer loads and stores
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for c in range(blocks.shape[2]):
            e0, e1 = x0 - blocks[cell, j, c], x1 - blocks[cell, j + 1, c]
            e2, e3 = x2 - blocks[cell, j + 2, c], x3 - blocks[cell, j + 3, c]
            squared[c] += e0 * e0 + e1 * e1 + (e2 * e2 + e3 * e3)
    return not all_above(squared, bits, worst)


@unordered_kernel
def count_above(values, count, bound):
    """Return how many values are above a bound, as a float: a counter as wide as the values vectorizes."""
    total = 0.0
    for i in range(count):
        total += 1.0 if values[i] > bound else 0.0
    return total


@kernel
def sort_first(indices, distances, count, k):
    """Sort the first k of ``count`` pairs by (distance, index) to the front, by insertion.

    Distances are compared before indices, so that the inner loop has one comparison; equal distances are rare.
    """
    for i in range(1, count):
        index, distance, position = indices[i], distances[i], min(i, k - 1)
        last = distances[position]
        if i >= k and not (distance < last or (distance == last and index < indices[position])):
            continue
        while position > 0 and distances[position - 1] > distance:
            indices[position], distances[position] = indices[position - 1], distances[position - 1]
            position -= 1
        while position > 0 and distances[position - 1] == distance and indices[position - 1] > index:
            indices[position], distances[position] = indices[position - 1], distances[position - 1]
            position -= 1
        indices[position], distances[position] = index, distance


@kernel
def bound_kth(values, count, k, guess):
    """Return a bound that at least k of the values do not exceed, and few of the others, by bisection from a guess."""
    low, high = 0.0, 0.0
    for i in range(count):
        high = values[i] if values[i] > high else high
    bound = guess if guess < high else (low + high) / 2
    for _ in range(HALVINGS):
        n_below = count - count_above(values, count, bound)
        if n_below < k:
            low = bound
        else:
            high = bound
            if n_below <= k + SPARE // 2:
                break
        bound = (low + high) / 2
    return high


@kernel
def drop_far(indices, squared, count, k, slack, precision):
    """Keep the first k candidates and few others.

    Return how many are left, and the squared distance above which a sample is not among the first k.
    """
    worst = bound_kth(squared, count, k, inf) * slack
    left = np.int64(0)
    for i in range(count):
        value, name = squared[i], indices[i]
        squared[left], indices[left] = value, name
        left += np.int64(value <= worst)
    if left <= k + SPARE:
        return left, worst
    for i in range(left):  # many ties: the first by index have to be selected, among rounded distances
        squared[i] = round_squared(squared[i], precision)
    sort_first(indices, squared, left, k)
    return k, squared[k - 1] * slack


@kernel
def append_near(x, s, own, points, members, begin, end, rough, bound, near, squared, count, chosen):
    """Append the samples of a cell whose rough distance is within the bound, and return the new count.

    The query itself (``own``) is left out.
    """
    n_chosen = 0
    for c in range(end - begin):
        chosen[n_chosen] = begin + c
        n_chosen += np.int64(not rough[c] > bound)
    for i in range(n_chosen):
        position, total = chosen[i], 0.0
        for j in range(x.shape[1]):
            difference = x[s, j] - points[position, j]
            total += difference * difference
        near[s, count], squared[s, count] = members[position], total
        count += np.int64(members[position] != own)
    return count


@kernel
def rough_bound(squared, lengths, growth):
    """Return the largest single-precision value that a squared distance can have.

    Coordinates are relative to a centre; ``lengths`` is the sum of the distances of the two samples from it. Rounding
    the coordinates changes the distance by at most HALF_BIT times ``lengths``. Rounding the sum multiplies it by at
    most ``growth``.
    """
    if lengths > LARGE:
        return np.float32(inf)
    distance = (sqrt(squared) + HALF_BIT * lengths) * growth
    return np.float32(distance * distance + TINY)


@kernel
def search_cells(start, stop, queries, cells, same, slack, indices, distances, filled, pairs):
    """Write the nearest samples of ``cells`` to every sample of some cells of ``queries``.

    Both are tuples with the fields of ``neighbors.cells.Cells``; see ``kernels.bounds`` for why. If ``same``, a sample
    is not its own neighbour. For every query, cells are visited from near to far until the next one is farther away
    than the k-th candidate. ``filled`` is the number of neighbours that a row already has from other searches.
    ``pairs`` counts the samples that a query was compared with. ``slack`` covers the rounding of distances.

    The samples of a cell are compared in single precision first, relative to its centre, see :func:`rough_bound`. Only
    those that may be among the k nearest are measured in double precision.
    """
    members, starts, points, blocks, low, high, centres, radii = cells
    query_members, query_starts, query_points, query_blocks, query_low, query_high, _, _ = queries
    k, n_features, top = indices.shape[1], points.shape[1], np.int64(0)
    growth = 1.0 + (n_features + 8) * HALF_BIT

    # Work space. A query holds up to k + SPARE candidates and appends a whole cell before the farthest are dropped.
    most, width, n_cells = query_blocks.shape[2], blocks.shape[2], len(blocks)
    n_held = k + SPARE + width
    near, squared = np.empty((most, n_held), indices.dtype), np.empty((most, n_held))
    rounded, chosen = np.empty(n_held), np.empty(n_held, np.int64)
    gaps, heap = np.empty(n_cells), np.empty(n_cells, np.int64)
    rough, from_centre = np.empty(width, np.float32), np.zeros(blocks.shape[1], np.float32)
    bits = rough.view(np.int32)
    x, by_feature = np.empty((most, n_features)), np.empty((n_features, most))
    to_box, worst, count = np.empty(most), np.empty(most), np.empty(most, np.int64)

    for q in range(start, stop):
        # The cells in order of their distance from the box of the queries: one heap for all queries of a cell.
        for cell in range(len(gaps)):
            heap[cell] = cell
            gaps[cell] = gap_between(query_low, query_high, q, low, high, cell)
        if same:
            gaps[q] = -1.0  # its own cell comes first
        first, size = query_starts[q], query_starts[q + 1] - query_starts[q]
        for s in range(size):
            own = query_members[first + s]
            worst[s] = inf
            count[s] = filled[own]
            for c in range(count[s]):
                near[s, c], squared[s, c] = indices[own, c], distances[own, c] * 1.0 * distances[own, c]
            if count[s] == k:
                worst[s] = squared[s, k - 1] * slack
            for j in range(n_features):
                x[s, j] = by_feature[j, s] = query_points[first + s, j]
        left, guess = len(gaps), inf
        build_heap(heap, left, gaps, starts)
        while left > 0:
            cell = heap[0]
            left -= 1
            heap[0] = heap[left]
            sift_down(heap, left, top, gaps, starts)
            farthest = 0.0
            for s in range(size):
                if worst[s] > farthest:
                    farthest = worst[s]
            if gaps[cell] > farthest:
                break
            begin, end = starts[cell], starts[cell + 1]
            gaps_to_box(by_feature, size, low, high, cell, to_box)
            for s in range(size):
                if to_box[s] > worst[s]:
                    continue
                own, lengths = query_members[first + s], sqrt(to_box[s]) + 2.0 * radii[cell]
                pairs[own] += end - begin
                for j in range(n_features):
                    from_centre[j] = x[s, j] - centres[cell, j]
                bound = rough_bound(worst[s], lengths, growth)
                if not measure_block(from_centre, blocks, cell, bound, rough, bits):
                    continue
                if count[s] == 0 and end - begin > k + SPARE and lengths < LARGE:
                    # The first cell of a query: its rough distances already bound the k-th, so that fewer are measured.
                    for c in range(end - begin):  # bound_kth is compiled for double precision only
                        rounded[c] = rough[c]
                    guess = bound_kth(rounded, end - begin, k + 1, guess)  # k + 1: one may be the sample itself
                    distance = sqrt(guess) * growth + HALF_BIT * lengths
                    worst[s] = distance * distance * slack
                    bound = rough_bound(worst[s], lengths, growth)
                count[s] = append_near(
                    x, s, own if same else -1, points, members, begin, end, rough, bound,
                    near, squared, count[s], chosen,
                )  # fmt: skip
                if count[s] > k + SPARE or (worst[s] == inf and count[s] >= k):
                    count[s], worst[s] = drop_far(near[s], squared[s], count[s], k, slack, distances.dtype)
        for s in range(size):
            own = query_members[first + s]
            filled[own] = min(count[s], k)
            for c in range(count[s]):
                rounded[c] = distances.dtype.type(round_distance(squared[s, c]))
            sort_first(near[s], rounded, count[s], k)
            for c in range(filled[own]):
                indices[own, c], distances[own, c] = near[s, c], rounded[c]
