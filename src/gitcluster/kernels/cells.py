"""The search in cells of samples.

Inner loops take whole arrays and the number of a row: numba counts every row that is handed over, which takes longer
than many of these loops.
"""

from math import inf, sqrt

import numpy as np

from gitcluster.kernels import kernel, unordered_kernel
from gitcluster.kernels.heaps import build_heap, sift_down

SPARE = 16
"""Samples beyond the k nearest that are held after a cell, at most, until the farthest are dropped."""
HALVINGS = 12
"""Steps in which a bound is found that some values do not exceed."""
HALF_BIT = 2.0**-24
"""What rounding to single precision changes of a number, at most, as a share of it."""
LARGE = 1e18
"""Coordinates below it have squares in single precision."""
TINY = 1e-36
"""What numbers too small for single precision can add to a squared distance."""


@kernel
def gap_between(low, high, box, other_low, other_high, other):
    """Squared distance between two boxes."""
    total = 0.0
    for j in range(low.shape[1]):
        below, above = low[box, j] - other_high[other, j], other_low[other, j] - high[box, j]
        gap = below if below > above else above
        if gap > 0.0:
            total += gap * gap
    return total


@kernel
def gaps_to_box(points, count, low, high, box, gaps):
    """Squared distances of samples, feature by feature, to a box."""
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
    """Whether numbers that are not below 0, which are in the order of their ``bits``, are all above a bound."""
    least = bits[0]
    for c in range(len(values)):
        least = bits[c] if bits[c] < least else least
    return bound < inf and least > np.float32(bound).view(np.int32)


@unordered_kernel
def measure_block(x, blocks, cell, worst, squared, bits):
    """Squared distances to the samples of a cell; false, and unfinished, once all of them are above ``worst``. ``bits``
    are those of the distances."""
    n_features, width = blocks.shape[1], blocks.shape[2]
    for c in range(width):
        squared[c] = 0
    for j in range(0, n_features, 4):  # four features at a time: fewer trips to memory
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for c in range(width):
            e0, e1 = x0 - blocks[cell, j, c], x1 - blocks[cell, j + 1, c]
            e2, e3 = x2 - blocks[cell, j + 2, c], x3 - blocks[cell, j + 3, c]
            squared[c] += e0 * e0 + e1 * e1 + (e2 * e2 + e3 * e3)
        if (j % 16 == 12 or j + 4 == n_features) and all_above(squared, bits, worst):
            return False
    return True


@unordered_kernel
def count_above(values, count, bound):
    """How many values are above a bound, as a number as wide as they are: many are compared at a time."""
    total = 0.0
    for i in range(count):
        total += 1.0 if values[i] > bound else 0.0
    return total


@kernel
def round_distance(squared):
    """Square root, rounded to 36 bits."""
    bits = np.float64(sqrt(squared)).view(np.int64)
    return np.int64((bits + (1 << 15)) & ~np.int64((1 << 16) - 1)).view(np.float64)


@kernel
def round_squared(squared, precision):
    """The square of the distance that it is rounded to: equal where distances are, and in the same order."""
    distance = 1.0 * precision.type(round_distance(squared))
    return distance * distance


@kernel
def comes_first(value, index, other_value, other_index):
    """Whether a pair of a distance and an index comes before another; no branch, which could not be foreseen."""
    return (value < other_value) | ((value == other_value) & (index < other_index))


@kernel
def swap(indices, distances, i, j):
    """Exchange two pairs."""
    distances[i], distances[j] = distances[j], distances[i]
    indices[i], indices[j] = indices[j], indices[i]


@kernel
def select_first(indices, distances, count, k):
    """Put the first k of some pairs, by (distance, index), before the others, the last of them at the end."""
    low, last = np.int64(0), np.int64(count - 1)  # every number below is of one type: swap is compiled once
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


@kernel
def write_sorted(names, distances, count, places, order, to_names, to_distances):
    """Write the first of some samples by (distance, index): the place of each is the number of those before it."""
    n_even = (count + 15) // 16 * 16  # the processor takes many at a time, and none is left over
    for i in range(n_even):
        places[i] = 0
        if i < count:
            order[i] = -1
        else:
            distances[i] = inf
    for j in range(0, n_even, 4):
        first, second, third, fourth = distances[j], distances[j + 1], distances[j + 2], distances[j + 3]
        for i in range(n_even):
            value = distances[i]
            places[i] += (
                np.int64(first < value) + np.int64(second < value) + np.int64(third < value) + np.int64(fourth < value)
            )
    for i in range(count):
        place = places[i]
        while order[place] >= 0 and names[order[place]] < names[i]:  # equally far, and before it
            place += 1
        moved = i
        while moved >= 0:
            moved, order[place] = order[place], moved
            place += 1
    for c in range(count if count < len(to_names) else len(to_names)):
        to_names[c], to_distances[c] = names[order[c]], distances[order[c]]


@kernel
def is_there(near, squared, s, count):
    """Whether the pair at a place in a row is one of those before it."""
    seen = False
    for i in range(count):
        seen |= near[s, i] == near[s, count] and squared[s, i] == squared[s, count]
    return seen


@kernel
def narrow_down(values, count, k, guess):
    """A bound that the first k of some values do not exceed, and few of the others; ``guess`` is where to begin."""
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
    """Keep the first k of what a query has found, and few others; how many there are, and the squared distance beyond
    which there is no place among the first k."""
    worst = narrow_down(squared, count, k, inf) * slack
    kept = np.int64(0)
    for i in range(count):
        value, name = squared[i], indices[i]
        squared[kept], indices[kept] = value, name
        kept += np.int64(value <= worst)
    if kept <= k + SPARE:
        return kept, worst
    for i in range(kept):  # too many of them are equally far: the first by index
        squared[i] = round_squared(squared[i], precision)
    select_first(indices, squared, kept, k)
    return k, squared[k - 1] * slack


@kernel
def gather_near(x, s, me, had, points, members, begin, end, rough, bound, precision, near, squared, count, places):
    """Append the samples of a cell to those that a query has found, but itself and, if it ``had`` some before, those;
    how many there are then."""
    n_near = 0
    for c in range(end - begin):
        places[n_near] = begin + c
        n_near += np.int64(not rough[c] > bound)
    for i in range(n_near):
        place, total = places[i], 0.0
        for j in range(x.shape[1]):
            away = x[s, j] - points[place, j]
            total += away * away
        if had:
            total = round_squared(total, precision)
        near[s, count], squared[s, count] = members[place], total
        if members[place] != me and not (had and is_there(near, squared, s, count)):
            count += 1
    return count


@kernel
def rough_bound(squared, lengths, share):
    """What a squared distance can be in single precision, relative to a centre from which a sample and another have
    these ``lengths`` together: its root is wrong by HALF_BIT of them, and then by a share of itself."""
    if lengths > LARGE:
        return np.float32(inf)
    distance = (sqrt(squared) + HALF_BIT * lengths) * share
    return np.float32(distance * distance + TINY)


@kernel
def search_cells(
    start, stop, queries, cells, same, slack, indices, distances, found, pairs,
    near, squared, rounded, gaps, heap, rough, bits, from_centre, x, by_feature, to_box, worst, count, places, order,
):  # fmt: skip
    """The nearest samples of ``cells`` to every sample of ``queries``; ``same`` where a sample may not find itself.

    Cells are visited from near to far, until the next is farther away than the k-th sample that each query has found;
    ``found`` tells how many it has from elsewhere. ``pairs`` counts the samples that a query was compared with. From
    ``near`` on, arrays are room to work in: what a query has found is put in order in the end. ``bits`` is ``rough``,
    seen as whole numbers.

    The samples of a cell are compared in single precision first, relative to its centre, see :func:`rough_bound`; what
    can be among the k nearest is measured.
    """
    k, n_features, top = indices.shape[1], x.shape[1], np.int64(0)
    share = 1.0 + (n_features + 8) * HALF_BIT
    points, members, starts, blocks = cells.points, cells.members, cells.starts, cells.blocks
    low, high, centres, radii = cells.low, cells.high, cells.centres, cells.radii
    for q in range(start, stop):
        for cell in range(len(gaps)):
            heap[cell] = cell
            gaps[cell] = gap_between(queries.low, queries.high, q, low, high, cell)
        if same:
            gaps[q] = -1.0
        first, size = queries.starts[q], queries.starts[q + 1] - queries.starts[q]
        for s in range(size):
            me = queries.members[first + s]
            worst[s] = inf
            count[s] = found[me]
            for c in range(count[s]):
                near[s, c], squared[s, c] = indices[me, c], distances[me, c] * 1.0 * distances[me, c]
            if count[s] == k:
                worst[s] = squared[s, k - 1] * slack
            for j in range(n_features):
                x[s, j] = by_feature[j, s] = queries.points[first + s, j]
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
                me, lengths = queries.members[first + s], sqrt(to_box[s]) + 2.0 * radii[cell]
                pairs[me] += end - begin
                for j in range(n_features):
                    from_centre[j] = x[s, j] - centres[cell, j]
                bound = rough_bound(worst[s], lengths, share)
                if not measure_block(from_centre, blocks, cell, bound, rough, bits):
                    continue
                if count[s] == 0 and end - begin > k + SPARE and lengths < LARGE:
                    for c in range(end - begin):  # narrow_down is compiled for one kind of numbers
                        rounded[c] = rough[c]
                    guess = narrow_down(rounded, end - begin, k + 1, guess)  # the sample itself may be one of them
                    distance = sqrt(guess) * share + HALF_BIT * lengths
                    worst[s] = distance * distance * slack
                    bound = rough_bound(worst[s], lengths, share)
                count[s] = gather_near(
                    x, s, me if same else -1, found[me] > 0, points, members, begin, end,
                    rough, bound, distances.dtype, near, squared, count[s], places,
                )  # fmt: skip
                if count[s] > k + SPARE or (worst[s] == inf and count[s] >= k):
                    count[s], worst[s] = drop_far(near[s], squared[s], count[s], k, slack, distances.dtype)
        for s in range(size):
            me = queries.members[first + s]
            for c in range(count[s]):
                rounded[c] = distances.dtype.type(round_distance(squared[s, c]))
            write_sorted(near[s], rounded, count[s], places, order, indices[me], distances[me])
            found[me] = count[s] if count[s] < k else k
