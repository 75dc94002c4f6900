"""The search by lower bounds on distances: all pairs of two blocks of samples, the far ones left early."""

from math import inf

import numpy as np

from gitcluster.kernels import kernel, unordered_kernel
from gitcluster.kernels.cells import round_distance
from gitcluster.kernels.search import insert, squared_distance

MARKS = 8
"""Marks that are looked at at once, as one word."""
FEATURES = 128


@unordered_kernel
def sum_squares(x, y):
    """Squared distance in single precision; the order of the sum is left to the compiler."""
    total = np.float32(0)
    for j in range(len(x)):
        difference = x[j] - y[j]
        total += difference * difference
    return total


@kernel
def quick_distance(x, y, worst):
    """Squared distance in single precision, unfinished once it is above ``worst``."""
    total = np.float32(0)
    start = 0
    while start < len(x) and total <= worst:
        stop = min(start + FEATURES, len(x))
        total += sum_squares(x[start:stop], y[start:stop])
        start = stop
    return total


@kernel
def mark_near(products, half, bar, my_half, my_bar, marks):
    """Mark pairs whose product is high enough, without a branch, so that several are compared at once."""
    for c in range(len(products)):
        marks[c] = products[c] >= min(my_bar + half[c], my_half + bar[c])


@kernel
def place_of(link):
    """A place, whether it is marked as old or not: place p is ~p then."""
    return link if link >= 0 else ~link


@kernel
def push(indices, squared, index, value):
    """Insert into a full row kept in order of (value, index), and the last one falls out; false if it is there."""
    place = len(indices)
    while place > 0 and squared[place - 1] > value:
        place -= 1
    tie = place
    while tie > 0 and squared[tie - 1] == value:
        tie -= 1
        other = place_of(indices[tie])
        if other == index:
            return False
        if other > index:
            place = tie
    if place == len(indices):
        return False
    for later in range(len(indices) - 1, place, -1):
        squared[later] = squared[later - 1]
        indices[later] = indices[later - 1]
    squared[place] = value
    indices[place] = index
    return True


@kernel
def compare_blocks(first, second, products, shadows, margins, half, bar, near, squared, last):
    """Bring the nearest of the samples of two blocks up to date with one another.

    ``products`` are those of their leading coordinates. ``bar[x] + half[y]`` is the product from which on y may be as
    near to x as the last of ``near[x]``; ``squared`` are the distances of those, in single precision, and ``last`` the
    largest in every block.
    """
    begin, start, stop = shadows.starts[first], shadows.starts[second], shadows.starts[second + 1]
    their_half, their_bar = half[start:stop], bar[start:stop]
    marks = np.zeros(-(-(stop - start) // MARKS) * MARKS, np.bool_)
    words = marks.view(np.uint64)
    for i in range(begin, shadows.starts[first + 1]):
        row = products[i - begin]
        least = i + 1 - start if first == second else 0
        mark_near(row, their_half, their_bar, half[i], bar[i], marks)
        for w in range(least // MARKS, len(words)):
            if words[w] == 0:
                continue
            for c in range(max(least, MARKS * w), min(MARKS * (w + 1), len(row))):
                j, product = start + c, row[c]
                if not marks[c] or product < min(bar[i] + half[j], half[i] + bar[j]):  # bars have risen since
                    continue
                worst = max(squared[i, -1], squared[j, -1])
                if shadows.further.shape[1] > 0:
                    lengths = shadows.squares[i] + shadows.squares[j]
                    tail = shadows.leading[i, -1] - shadows.leading[j, -1]
                    bound = lengths - 2 * product - tail * tail
                    bound += sum_squares(shadows.further[i], shadows.further[j])
                    if bound > worst * margins.growth + lengths * margins.share + margins.least:
                        continue
                value = quick_distance(shadows.features[i], shadows.features[j], worst)
                if value <= squared[i, -1] and push(near[i], squared[i], j, value):
                    bar[i] = half[i] - squared[i, -1] * margins.growth / 2 - margins.least
                if value <= squared[j, -1] and push(near[j], squared[j], i, value):
                    bar[j] = half[j] - squared[j, -1] * margins.growth / 2 - margins.least
    for block in (first, second):
        farthest = 0.0
        for i in range(shadows.starts[block], shadows.starts[block + 1]):
            farthest = max(farthest, squared[i, -1])
        last[block] = farthest  # at once: other threads read it


@kernel
def settle_rows(rows, columns, products, half, bars, points, slack, indices, distances):
    """Insert into some full rows of neighbours all samples that may be as near as the last of them, measured exactly.

    ``columns`` are the samples of the columns of ``products``, ``half`` their part of the bound, ``bars`` that of rows.
    """
    distance = np.empty(1, distances.dtype)
    for r in range(len(rows)):
        x = rows[r]
        worst = np.float64(distances[x, -1]) ** 2 * slack
        for c in range(len(columns)):
            y = columns[c]
            if products[r, c] >= bars[r] + half[c] and y != x:
                squared = squared_distance(points[x], points[y])
                if squared <= worst:
                    distance[0] = round_distance(squared)
                    insert(indices[x], distances[x], indices.shape[1], y, distance[0])
                    worst = np.float64(distances[x, -1]) ** 2 * slack


@kernel
def name_members(start, stop, members, near, squared, names, last):
    """Samples by their own numbers instead of their places, and the distance of the last of them."""
    for s in range(start, stop):
        x = members[s]
        last[x] = squared[s, -1]
        for c in range(near.shape[1]):
            names[x, c] = members[place_of(near[s, c])] if squared[s, c] < inf else x
