"""Blocks of near samples, for neighbour descent: which samples are in each, and which blocks are near.

Samples are taken in the order of a hash of their values, so that the order they were given in does not count.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import run_threads
from gitcluster.neighbors.duplicates import hash_samples
from gitcluster.neighbors.shadows import AXES, SAMPLE, Axes, find_axes, find_unit

BLOCK = 128
"""Samples of a block, at most, as long as there are no more than ``BLOCKS``."""
BLOCKS = 8192
SPLIT_AXES = 32
"""Axes by which samples are put into blocks."""


class Blocks(NamedTuple):
    """Samples by blocks."""

    members: Array
    """(n,) samples, block by block."""
    starts: Array
    """(b + 1,) where each block starts in ``members``."""
    means: NDArray[np.float32]
    """(b, m) along the first axes."""
    scouts: Array
    """(n,) for every place a place in the block whose mean is the nearest."""


def gather_blocks(points: Array, n_jobs: int | None) -> tuple[Blocks, Axes, float]:
    """Put samples into blocks; also the axes that tell the most, and the unit that coordinates are multiplied by."""
    n_samples, n_features = points.shape
    order = np.argsort(hash_samples(points), kind="stable")
    chosen = np.random.default_rng(0).choice(n_samples, min(SAMPLE, n_samples), replace=False)
    axes = find_axes(points[order[chosen]], min(AXES, n_features))
    unit = find_unit(points, axes.centre)
    turned = turn_samples(points, order, axes, unit, n_jobs)
    places, starts = split_by_axes(turned, max(BLOCK, n_samples // BLOCKS), n_jobs)
    turned = turned[places]
    means = (np.add.reduceat(turned, starts[:-1]) / np.diff(starts)[:, None]).astype(np.float32)
    return Blocks(order[places], starts, means, starts[find_nearest(turned, means, n_jobs)]), axes, unit


def turn_samples(points: Array, order: Array, axes: Axes, unit: float, n_jobs: int | None) -> NDArray[np.float32]:
    """(n, m) samples in some order, along the axes that tell where they belong."""
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
        axis = spread @ (axis / (np.abs(axis).max() or np.float32(1)))
    return axis


def find_nearest(turned: NDArray[np.float32], means: NDArray[np.float32], n_jobs: int | None) -> Array:
    """(n,) the block with the mean nearest to every sample."""
    half = (means**2).sum(axis=1) / 2
    nearest = np.empty(len(turned), np.int64)

    def find(some: tuple[int, int]) -> None:
        here = slice(*some)
        nearest[here] = (turned[here] @ means.T - half).argmax(axis=1)

    run_threads(find, list(pairwise([*range(0, len(turned), BLOCK), len(turned)])), n_jobs)
    return nearest
