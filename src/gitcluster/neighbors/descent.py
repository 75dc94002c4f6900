"""Neighbour descent, for what an exact search cannot reach in reasonable time.

A neighbour of a neighbour is likely a neighbour (Dong, Moses and Li 2011). Samples are halved across the axis along
which they differ the most until few are left in every block, and every block is compared with those that are nearest
to it, as in the search by bounds. Then, in rounds, every sample looks at the neighbours of its neighbours, and of those
whose neighbour it is; at first also at those of a scout, a sample of the block with the mean nearest to it, which
halving may have parted it from. If this finds too few of the true neighbours, each block is compared with more others.

Neither threads nor the order of rows count. Samples are taken in the order of a hash of their values. A round reads the
links that the last one has left, and writes the lists of its own samples only. A list is the first of all that was
compared by (squared distance in single precision, place), whatever came first. In the end a few more than k samples are
measured exactly, like by every other search.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import descent as kernels
from gitcluster.kernels import limit_threads, run_chunks
from gitcluster.neighbors.blocks import Blocks, gather_blocks
from gitcluster.neighbors.bounded import SPARE, compare_pairs, empty_lists, keep_exactly, name_found
from gitcluster.neighbors.exact import Candidates, empty_neighbors, measure_pairs, round_distances
from gitcluster.neighbors.recall import GOOD_RECALL, Truth, sample_rows, warn_of_recall
from gitcluster.neighbors.shadows import (
    Again,
    Axes,
    Margins,
    Shadows,
    bound_seconds,
    bring_back,
    cast_shadows,
    find_margins,
    sample_bounds,
    takes_room,
)

NEAR = 32
"""Blocks that every block is compared with, at first."""
EFFORTS = 4
"""Times that blocks are compared, at most; each time with twice as many others."""
LINKS = 32
"""Nearest samples that a sample is linked to."""
BACK = 16
"""Samples that it is linked back to, at most."""
ROUNDS = 8
FEW = 1e-3
"""Share of the lists that a round has to renew for another one to follow."""


def descent_seconds(n_samples: int, n_features: int, k: int) -> float:
    """CPU seconds of neighbour descent where the first effort is enough."""
    return n_samples * (6e-5 + 1.5e-6 * k + 1e-7 * n_features)


def descend(
    points: Array, k: int, n_jobs: int | None, *, least: float = 0.0, again: Again | None = None
) -> tuple[Array, Array, float]:
    """Indices and distances of k near others of every sample, and the share of the k nearest among them.

    A low share is warned of, but not where it is below ``least``: then another search follows. ``points`` may be
    written over in between, where the samples can be had ``again``.
    """
    n_samples, overwrite = len(points), takes_room(points, again)
    with limit_threads(1):
        blocks, axes, unit = gather_blocks(points, n_jobs)
        axes = keep_axes(points, axes, k, blocks)
        n_leading = axes.directions.shape[1]
        places = sample_rows(n_samples)
        truth = Truth(Candidates(points, "euclidean", n_jobs), blocks.members[places], k)
        shadows = cast_shadows(points, axes, n_leading, parts=blocks[:2], unit=unit, n_jobs=n_jobs, overwrite=overwrite)

        def estimate(lists: tuple[Array, Array]) -> float:
            return estimate_recall(again or points.__getitem__, truth, blocks.members, lists[0][places], k)

        lists, recall = search_near(k, blocks, shadows, find_margins(axes, n_leading), estimate, n_jobs)
        del shadows
        if overwrite and again is not None:
            bring_back(points, again, n_jobs)
        names, _ = name_found(blocks.members, lists, n_jobs)
        del lists
        found = empty_neighbors(n_samples, k, points.dtype)
        keep_exactly(points, names, np.full(n_samples, np.inf), found, n_jobs, order=blocks.members)
    if least <= recall < GOOD_RECALL:
        warn_of_recall(recall)
    return (*found, recall)


def keep_axes(points: Array, axes: Axes, k: int, blocks: Blocks) -> Axes:
    """As many of the axes as a comparison of near blocks should take: some blocks tell it."""
    members, starts, means, _ = blocks
    shares: dict[int, list[float]] = {}
    for block in np.unique(np.linspace(0, len(means) - 1, 4).astype(int)):
        near = np.argsort(((means - means[block]) ** 2).sum(axis=1), kind="stable")[: NEAR + 1]
        rows = np.concatenate([members[starts[b] : starts[b + 1]] for b in (block, *near[near != block])])
        rank = min(k, len(rows) - 1)
        for m, share in sample_bounds(points[rows].astype(np.float64), axes, rank).items():
            shares.setdefault(m, []).append(share)
    n_leading = min(shares, key=lambda m: bound_seconds(m, float(np.mean(shares[m]))))
    return axes._replace(directions=np.ascontiguousarray(axes.directions[:, :n_leading]))


def search_near(
    k: int,
    blocks: Blocks,
    shadows: Shadows,
    margins: Margins,
    estimate: Callable[[tuple[Array, Array]], float],
    n_jobs: int | None,
) -> tuple[tuple[Array, Array], float]:
    """Places of k and a few more near others, their squared distances, and the share of the k nearest among them, which
    ``estimate`` tells."""
    n_samples, n_blocks = len(blocks.members), len(blocks.means)
    lists = empty_lists(n_samples, min(k + SPARE, n_samples - 1))
    compared = np.zeros((n_blocks, n_blocks), np.bool_)
    recall, n_near = 0.0, max(NEAR, 4 * lists[0].shape[1] * n_blocks // n_samples)
    for effort in range(EFFORTS):
        compare_pairs(shadows, margins, lists, near_pairs(blocks.means, n_near, compared), n_jobs)
        descend_links(shadows, margins, lists, compared, blocks.scouts if effort == 0 else None, n_jobs)
        recall = estimate(lists)
        if recall >= GOOD_RECALL or n_near >= n_blocks:
            break
        n_near *= 2
    return lists, recall


def near_pairs(means: Array, n_near: int, compared: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Pairs of blocks one of which is among the nearest of the other, as far as they were not compared, near ones
    first; they count as compared from now on."""
    n_blocks = len(means)
    squares, found = (means**2).sum(axis=1), []
    for block in range(n_blocks):
        gaps = squares - 2 * (means @ means[block])
        near = np.argpartition(gaps, n_near)[: n_near + 1] if n_near < n_blocks - 1 else np.arange(n_blocks)
        near = np.append(near, block)
        near = near[~compared[block, near]]
        found.append(np.minimum(near, block) * n_blocks + np.maximum(near, block))
    first, second = np.divmod(np.unique(np.concatenate(found)), n_blocks)
    compared[first, second] = compared[second, first] = True
    gaps = ((means[first] - means[second]) ** 2).sum(axis=1)
    order = np.argsort(gaps, kind="stable")
    return zip(first[order].tolist(), second[order].tolist(), strict=True)


def descend_links(
    shadows: Shadows,
    margins: Margins,
    lists: tuple[Array, Array],
    compared: NDArray[np.bool_],
    scouts: Array | None,
    n_jobs: int | None,
) -> None:
    """Bring the lists up to date with neighbours of neighbours, until few of them change."""
    near, squared = lists
    n_samples, n_near = near.shape
    width = min(LINKS, n_near)
    block = np.repeat(np.arange(len(compared), dtype=np.int32), np.diff(shadows.starts))
    links, counts = np.empty((n_samples, width + BACK + 1), near.dtype), np.empty((2, n_samples), np.int32)
    nobody = np.empty(0, np.int64)
    for r in range(ROUNDS):
        kernels.draw_links(near, width, nobody if r or scouts is None else scouts, links, *counts)
        changed = run_chunks(
            kernels.follow_links, n_samples, n_jobs, links, *counts, block, compared, shadows, margins, near, squared
        )
        if sum(changed) < FEW * near.size:
            break


def estimate_recall(samples: Again, truth: Truth, members: Array, near: Array, k: int) -> float:
    """Share of the true neighbours of some samples that their lists, ``near``, have."""
    found = members[np.maximum(near, ~near)]
    distances = np.empty(found.shape)
    those = np.unique(np.append(truth.rows, found))
    rows, others = (np.searchsorted(those, part) for part in (truth.rows, found))
    measure_pairs(samples(those), rows, others, distances, None)
    round_distances(distances)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return truth.share(*(np.take_along_axis(part, nearest, axis=1) for part in (found, distances)))
