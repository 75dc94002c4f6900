"""Search by lower bounds, and neighbour descent: both compare samples in single precision and leave far pairs early.

``projections`` and ``margins`` are tuples with the fields of ``neighbors.bounds.Projections`` and ``Margins``. They are
plain tuples because numba's cache would store a reference to the classes, and reading it would fail in a version that
has moved them. Samples are numbered by their position in the blocks.
In ``near``, a neighbour at position p is stored as p if it is new and as ~p if neighbour descent has used it already.
"""

from math import inf

import numpy as np

from gitcluster.kernels import kernel, unordered_kernel

MARKS = 8
"""Marks per machine word: eight pairs that are all too far are skipped by one comparison."""
FEATURES = 128
"""Features that are summed before the sum is compared with the bound; fewer would cost more than they save."""


@unordered_kernel
def sum_squares(x, y):
    """Return the squared distance in single precision. The compiler may reorder the sum, so that it vectorizes."""
    total = np.float32(0)
    for j in range(len(x)):
        difference = x[j] - y[j]
        total += difference * difference
    return total


@kernel
def quick_distance(x, y, worst):
    """Return the squared distance in single precision, or an unfinished sum that is above ``worst``."""
    total = np.float32(0)
    start = 0
    while start < len(x) and total <= worst:
        stop = min(start + FEATURES, len(x))
        total += sum_squares(x[start:stop], y[start:stop])
        start = stop
    return total


@kernel
def mark_near(products, half, bar, my_half, my_bar, marks):
    """Mark the pairs whose inner product is high enough for either sample; no branch, so that the loop vectorizes."""
    for c in range(len(products)):
        marks[c] = products[c] >= min(my_bar + half[c], my_half + bar[c])


@kernel
def position_of(link):
    """Return the position of a neighbour, whether it is stored as new or as used."""
    return link if link >= 0 else ~link


@kernel
def insert_full(indices, squared, index, value):
    """Insert into a full row sorted by (value, index), and drop the last. Return False if nothing changed."""
    position = len(indices)
    while position > 0 and squared[position - 1] > value:
        position -= 1
    tie = position
    while tie > 0 and squared[tie - 1] == value:
        tie -= 1
        other = position_of(indices[tie])
        if other == index:
            return False
        if other > index:
            position = tie
    if position == len(indices):
        return False
    for later in range(len(indices) - 1, position, -1):
        squared[later] = squared[later - 1]
        indices[later] = indices[later - 1]
    squared[position] = value
    indices[position] = index
    return True


@kernel
def compare_blocks(first, second, products, projections, margins, half, bar, near, squared, last):
    """Compare all samples of two blocks and update their nearest.

    ``products`` are the inner products of their leading coordinates. |y - y'|^2 = |y|^2 + |y'|^2 - 2 <y, y'>, so a
    pair may be near if <y, y'> >= ``bar[x] + half[x']``: ``half`` is |y|^2 / 2, and ``bar`` is that minus half the
    squared distance of the last of ``near[x]``, both lowered by what rounding can do. ``squared`` are the distances of
    ``near``, in single precision, and ``last`` is the largest of them in every block.
    """
    _, starts, _, features, _ = projections
    growth, _, _, least = margins
    begin, start, stop = starts[first], starts[second], starts[second + 1]
    their_half, their_bar = half[start:stop], bar[start:stop]
    marks = np.zeros(-(-(stop - start) // MARKS) * MARKS, np.bool_)
    words = marks.view(np.uint64)
    for i in range(begin, starts[first + 1]):
        row = products[i - begin]
        skipped = i + 1 - start if first == second else 0  # within a block, every pair once
        mark_near(row, their_half, their_bar, half[i], bar[i], marks)
        for w in range(skipped // MARKS, len(words)):
            if words[w] == 0:
                continue
            for c in range(max(skipped, MARKS * w), min(MARKS * (w + 1), len(row))):
                j, product = start + c, row[c]
                if not marks[c] or product < min(bar[i] + half[j], half[i] + bar[j]):  # bars have risen since
                    continue
                worst = max(squared[i, -1], squared[j, -1])
                value = quick_distance(features[i], features[j], worst)
                if value <= squared[i, -1] and insert_full(near[i], squared[i], j, value):
                    bar[i] = half[i] - squared[i, -1] * growth / 2 - least
                if value <= squared[j, -1] and insert_full(near[j], squared[j], i, value):
                    bar[j] = half[j] - squared[j, -1] * growth / 2 - least
    for block in (first, second):
        farthest = 0.0
        for i in range(starts[block], starts[block + 1]):
            farthest = max(farthest, squared[i, -1])
        last[block] = farthest  # one write: other threads read it


@kernel
def write_members(start, stop, members, near, squared, names, last):
    """Translate positions to samples, and write the squared distance of the last neighbour of every sample."""
    for s in range(start, stop):
        x = members[s]
        last[x] = squared[s, -1]
        for c in range(near.shape[1]):
            names[x, c] = members[position_of(near[s, c])] if squared[s, c] < inf else x


# Neighbour descent


@kernel
def draw_links(near, width, scouts, links, filled, fresh):
    """Write the links of every sample, new ones first.

    A sample is linked to its scout, if ``scouts`` is not empty, to its ``width`` nearest, and back to samples that have
    it among theirs: as many as fit, the nearest first. The first ``fresh`` links of a sample are new, which is what
    ``near`` says. All of ``near`` is marked as used afterwards.
    """
    back = np.zeros(len(near), np.int32)
    filled[:] = 0
    for x in range(len(scouts)):
        links[x, 0] = scouts[x]
        filled[x] = 1
    for used in (False, True):
        for x in range(len(near)):
            for c in range(width):
                if (near[x, c] < 0) == used:
                    links[x, filled[x]] = position_of(near[x, c])
                    filled[x] += 1
        for c in range(width):
            for x in range(len(near)):
                y = position_of(near[x, c])
                if (near[x, c] < 0) == used and back[y] < links.shape[1] - width - 1:
                    links[y, filled[y]] = x
                    filled[y] += 1
                    back[y] += 1
        if not used:
            fresh[:] = filled
    for x in range(len(near)):
        for c in range(near.shape[1]):
            near[x, c] = ~position_of(near[x, c])


@kernel
def follow_links(start, stop, links, filled, fresh, block, compared, projections, margins, near, squared):
    """Compare samples with those one or two links away, if at least one of the links is new; return the insertions.

    Pairs whose blocks were compared are skipped.
    """
    _, _, leading, features, squares = projections
    growth, share, _, least = margins
    seen = np.full(len(links), -1, links.dtype)
    n_inserted = 0
    for x in range(start, stop):
        seen[x] = x
        done = compared[block[x]]
        for c in range(filled[x]):
            y = links[x, c]
            new = c < fresh[x]
            for e in range(-1 if new else 0, filled[y] if new else fresh[y]):  # -1: y itself
                z = links[y, e] if e >= 0 else y
                if done[block[z]] or seen[z] == x:
                    continue
                seen[z] = x
                worst = squared[x, -1]
                bound = sum_squares(leading[x], leading[z])
                lengths = squares[x] + squares[z]
                if bound > worst * growth + lengths * share + least:
                    continue
                value = quick_distance(features[x], features[z], worst)
                if value <= worst and insert_full(near[x], squared[x], z, value):
                    n_inserted += 1
    return n_inserted
