"""Neighbour descent: near samples are found among the neighbours of near samples."""

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.bounds import place_of, push, quick_distance, sum_squares


@kernel
def draw_links(near, width, scouts, links, filled, fresh):
    """Links of every sample: to its scout if there are any, to the first ``width`` of its nearest, and back to those
    that have it among theirs, as many as there is room for, the nearest first.

    A link is new where ``near`` has it as new; there it is old from now on. The first ``fresh`` of a sample are new.
    """
    back = np.zeros(len(near), np.int32)
    filled[:] = 0
    for x in range(len(scouts)):
        links[x, 0] = scouts[x]
        filled[x] = 1
    for old in (False, True):
        for x in range(len(near)):
            for c in range(width):
                if (near[x, c] < 0) == old:
                    links[x, filled[x]] = place_of(near[x, c])
                    filled[x] += 1
        for c in range(width):
            for x in range(len(near)):
                y = place_of(near[x, c])
                if (near[x, c] < 0) == old and back[y] < links.shape[1] - width - 1:
                    links[y, filled[y]] = x
                    filled[y] += 1
                    back[y] += 1
        if not old:
            fresh[:] = filled
    for x in range(len(near)):
        for c in range(near.shape[1]):
            near[x, c] = ~place_of(near[x, c])


@kernel
def follow_links(start, stop, links, filled, fresh, block, compared, shadows, margins, near, squared):
    """Look at the samples that are one or two links away, at least one of them new; returns how many were found.

    Pairs of samples whose blocks were compared are passed over.
    """
    seen = np.full(len(links), -1, links.dtype)
    found = 0
    for x in range(start, stop):
        seen[x] = x
        done = compared[block[x]]
        for c in range(filled[x]):
            y = links[x, c]
            new = c < fresh[x]
            for e in range(-1 if new else 0, filled[y] if new else fresh[y]):
                z = links[y, e] if e >= 0 else y
                if done[block[z]] or seen[z] == x:
                    continue
                seen[z] = x
                worst = squared[x, -1]
                bound = sum_squares(shadows.leading[x], shadows.leading[z])
                lengths = shadows.squares[x] + shadows.squares[z]
                if bound > worst * margins.growth + lengths * margins.share + margins.least:
                    continue
                value = quick_distance(shadows.features[x], shadows.features[z], worst)
                if value <= worst and push(near[x], squared[x], z, value):
                    found += 1
    return found
