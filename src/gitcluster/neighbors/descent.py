"""Neighbour descent, for what an exact search cannot reach in reasonable time.

A neighbour of a neighbour is likely a neighbour (Dong, Moses and Li 2011). Samples are halved across the axis along
which they differ the most until few are left in every block, and every block is compared with those that are nearest
to it, as in the search by bounds. Then, in rounds, every sample looks at the neighbours of its neighbours, and of those
whose neighbour it is. If this finds too few of the true neighbours, each block is compared with more of the others.

Neither threads nor the order of rows count. Samples are taken in the order of a hash of their values. A round reads the
links that the last one has left, and writes the lists of its own samples only. A list is the first of all that was
compared by (squared distance in single precision, place), whatever came first. In the end a few more than k samples are
measured exactly, like by every other search.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gitcluster._jit import descent as kernels
from gitcluster._jit import run_chunks, run_threads
from gitcluster._support.arrays import Array
from gitcluster.neighbors.bounded import SPARE, compare_pairs, empty_lists, keep_exactly, name_found
from gitcluster.neighbors.duplicates import hash_samples
from gitcluster.neighbors.exact import Candidates, empty_neighbors
from gitcluster.neighbors.recall import GOOD_RECALL, Truth, sample_rows, warn_of_recall
from gitcluster.neighbors.shadows import (
    AXES,
    SAMPLE,
    Axes,
    Margins,
    Shadows,
    bound_seconds,
    cast_shadows,
    find_axes,
    find_margins,
    find_unit,
    sample_bounds,
)

BLOCK = 128
"""Samples of a block, at most, as long as there are no more than ``BLOCKS``."""
BLOCKS = 8192
SPLIT_AXES = 32
"""Axes by which samples are put into blocks."""
NEAR = 32
"""Blocks that every block is compared with, at first."""
EFFORTS = 4
"""How often the number of these may be doubled, less one."""
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


def descend(points: Array, k: int, n_jobs: int | None) -> tuple[Array, Array, float]:
    """Indices and distances of k near others of every sample, and the share of the k nearest among them."""
    n_samples, n_features = points.shape
    with threadpool_limits(limits=1):
        order = np.argsort(hash_samples(points), kind="stable")
        chosen = np.random.default_rng(0).choice(n_samples, min(SAMPLE, n_samples), replace=False)
        axes = find_axes(points[order[chosen]], min(AXES, n_features))
        unit = find_unit(points, axes.centre)
        turned = turn_samples(points, order, axes, unit, n_jobs)
        places, starts = split_by_axes(turned, max(BLOCK, n_samples // BLOCKS), n_jobs)
        means = np.add.reduceat(turned[places], starts[:-1]) / np.diff(starts)[:, None]
        members = order[places]
        del turned, order, places
        axes = keep_axes(points, axes, k, parts=(members, starts), means=means)
        n_leading = axes.directions.shape[1]
        shadows = cast_shadows(points, axes, n_leading, parts=(members, starts), unit=unit, n_jobs=n_jobs)
        lists, recall = search_near(points, shadows, find_margins(axes, n_leading), means, k, n_jobs)
        del shadows
        names, _ = name_found(members, lists, n_jobs)
        del lists
        found = empty_neighbors(n_samples, k, points.dtype)
        keep_exactly(points, names, np.full(n_samples, np.inf), found, n_jobs)
    if recall < GOOD_RECALL:
        warn_of_recall(recall)
    return (*found, recall)


def turn_samples(points: Array, order: Array, axes: Axes, unit: float, n_jobs: int | None) -> NDArray[np.float32]:
    """(n, m) samples in some order, along the axes that they are put into blocks by."""
    directions = axes.directions[:, :SPLIT_AXES]
    turned = np.empty((len(order), directions.shape[1]), np.float32)

    def turn(some: tuple[int, int]) -> None:
        here = slice(*some)
        turned[here] = ((points[order[here]] - axes.centre) * unit) @ directions

    run_threads(turn, list(pairwise([*range(0, len(order), SAMPLE), len(order)])), n_jobs)
    return turned


def split_by_axes(turned: NDArray[np.float32], most: int, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Samples by blocks of near ones, ``most`` in each at most, and where each block starts: halved across the axis
    along which those of a part differ the most, again and again.

    Examples
    --------
    >>> members, starts = split_by_axes(np.array([[0, 3], [1, 1], [0, 2], [1, 4]], np.float32), 2)
    >>> [sorted(part.tolist()) for part in np.split(members, starts[1:-1])]
    [[1, 2], [0, 3]]
    """
    n_samples = len(turned)
    n_parts = 1 << max(0, int(np.ceil(np.log2(n_samples / most))))
    starts, members = n_samples * np.arange(n_parts + 1) // n_parts, np.arange(n_samples)
    width = n_parts
    while width > 1:

        def halve(first: int, width: int = width) -> None:
            start, stop = starts[first], starts[first + width]
            some = members[start:stop]
            along = turned[some] @ longest_axis(turned[some[:: 1 + len(some) // SAMPLE]])
            members[start:stop] = some[np.argpartition(along, starts[first + width // 2] - start)]

        run_threads(halve, range(0, n_parts, width), n_jobs)
        width //= 2
    return members, starts


def longest_axis(sample: NDArray[np.float32]) -> NDArray[np.float32]:
    """The axis along which some samples differ the most, nearly."""
    rows = sample - sample.mean(axis=0)
    spread = rows.T @ rows
    axis: NDArray[np.float32] = spread[:, spread.diagonal().argmax()]
    for _ in range(8):
        axis = spread @ (axis / max(float(np.abs(axis).max()), np.finfo(np.float32).tiny))
    return axis


def keep_axes(points: Array, axes: Axes, k: int, *, parts: tuple[Array, Array], means: Array) -> Axes:
    """As many of the axes as a comparison of near blocks should take: some blocks tell it."""
    members, starts = parts
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
    points: Array, shadows: Shadows, margins: Margins, means: Array, k: int, n_jobs: int | None
) -> tuple[tuple[Array, Array], float]:
    """Places of k and a few more near others, their squared distances, and the share of the k nearest among them."""
    n_samples, n_blocks = len(points), len(means)
    lists = empty_lists(n_samples, min(k + SPARE, n_samples - 1))
    places = sample_rows(n_samples)
    exact = Candidates(points, "euclidean", n_jobs)
    truth = Truth(exact, shadows.members[places], k)
    compared = np.zeros((n_blocks, n_blocks), np.bool_)
    recall, n_near = 0.0, max(NEAR, 4 * lists[0].shape[1] * n_blocks // n_samples)
    for _ in range(EFFORTS):
        compare_pairs(shadows, margins, lists, near_pairs(means, n_near, compared), n_jobs)
        descend_links(shadows, margins, lists, compared, n_jobs)
        recall = estimate_recall(exact, truth, shadows.members, places, lists, k)
        if recall >= GOOD_RECALL or n_near >= n_blocks:
            break
        n_near *= 2
    return lists, recall


def near_pairs(means: Array, n_near: int, compared: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Pairs of blocks one of which is among the nearest of the other, as far as they were not compared, near ones
    first; they count as compared from now on."""
    n_blocks = len(means)
    squares = (means**2).sum(axis=1)
    new = np.zeros_like(compared)
    for block in range(n_blocks):
        gaps = squares - 2 * (means @ means[block])
        new[block, np.argpartition(gaps, n_near)[: n_near + 1] if n_near < n_blocks - 1 else slice(None)] = True
        new[block, block] = True
    new |= new.T
    new &= ~compared
    compared |= new
    first, second = np.nonzero(np.triu(new))
    gaps = ((means[first] - means[second]) ** 2).sum(axis=1)
    order = np.argsort(gaps, kind="stable")
    return zip(first[order].tolist(), second[order].tolist(), strict=True)


def descend_links(
    shadows: Shadows, margins: Margins, lists: tuple[Array, Array], compared: NDArray[np.bool_], n_jobs: int | None
) -> None:
    """Bring the lists up to date with neighbours of neighbours, until few of them change."""
    near, squared = lists
    n_samples, n_near = near.shape
    width = min(LINKS, n_near)
    block = np.repeat(np.arange(len(compared), dtype=np.int32), np.diff(shadows.starts))
    links, counts = np.empty((n_samples, width + BACK), near.dtype), np.empty((2, n_samples), np.int32)
    for _ in range(ROUNDS):
        kernels.draw_links(near, width, links, *counts)
        changed = run_chunks(
            kernels.follow_links, n_samples, n_jobs, links, *counts, block, compared, shadows, margins, near, squared
        )
        if sum(changed) < FEW * near.size:
            break


def estimate_recall(
    exact: Candidates, truth: Truth, members: Array, places: Array, lists: tuple[Array, Array], k: int
) -> float:
    """Share of the true neighbours of some samples that their lists have."""
    near = lists[0][places]
    found = members[np.maximum(near, ~near)]
    distances = np.empty(found.shape)
    exact.measure(truth.rows, found, distances)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return truth.share(*(np.take_along_axis(part, nearest, axis=1) for part in (found, distances)))
