"""Exact search in cells: halve the samples across their widest feature until some hundred are left in each part.

A cell is a box and a block of coordinates, feature by feature, that one loop compares with a sample. Samples of one
cell have much the same cells around them: these are put in order once for all of them and visited from near to far,
until the next is farther away than the k-th neighbour found. How many samples that takes depends on the data, and a
few cells tell it: :func:`sample_pairs`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._jit import cells as kernels
from gitcluster._jit import run_chunks, run_threads
from gitcluster._support.arrays import Array

CELLS_AT_ONCE = 16
"""Cells that a thread takes at a time."""
SAMPLED_CELLS = 8
SPLIT_AT_ONCE = 1 << 14
"""Samples that a thread splits at a time, at least."""


class Cells(NamedTuple):
    """Samples by cells."""

    members: Array
    """(n,) samples, cell by cell."""
    starts: Array
    """(m + 1,) where each cell starts in ``members``."""
    blocks: NDArray[np.float64]
    """(m, n_features, width) coordinates; infinite where a cell has less than ``width`` samples."""
    low: NDArray[np.float64]
    """(m, n_features) lower corner of each cell's box."""
    high: NDArray[np.float64]


def gather_cells(points: Array, *, n_jobs: int | None = None) -> Cells:
    """Put samples into cells.

    Examples
    --------
    >>> gather_cells(np.array([[3.0], [1.0], [2.0]])).low
    array([[1.]])
    """
    n_features = points.shape[1]
    most = 128 if n_features <= 16 else 64  # a block stays in the fastest cache
    members, starts = split_evenly(points, most, n_jobs=n_jobs)
    n_cells, width = len(starts) - 1, int(np.diff(starts).max())
    blocks, low, high = np.empty((n_cells, n_features, width)), *np.empty((2, n_cells, n_features))

    def fill(first: int) -> None:
        some = slice(first, first + CELLS_AT_ONCE)
        place = starts[:-1][some, None] + np.arange(width)
        place = np.minimum(place, starts[1:][some, None] - 1)  # the last sample again where there is one less
        blocks[some] = points[members[place]].transpose(0, 2, 1)
        low[some], high[some] = blocks[some].min(axis=2), blocks[some].max(axis=2)

    run_threads(fill, range(0, n_cells, CELLS_AT_ONCE), n_jobs)
    blocks[np.diff(starts) < width, :, -1] = np.inf
    return Cells(members, starts, blocks, low, high)


def split_evenly(points: Array, most: int, *, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Samples by parts of near ones, ``most`` in each at most, and where each part starts: halved across the widest
    feature, again and again.

    Examples
    --------
    >>> members, starts = split_evenly(np.array([[3.0], [1.0], [2.0], [4.0]]), 2)
    >>> [sorted(part.tolist()) for part in np.split(members, starts[1:-1])]
    [[1, 2], [0, 3]]
    """
    n_samples = len(points)
    n_parts = 1 << max(0, int(np.ceil(np.log2(n_samples / most))))
    n_large = min(n_parts, 1 << max(0, int(np.log2(n_samples / SPLIT_AT_ONCE))))
    starts, members = n_samples * np.arange(n_parts + 1) // n_parts, np.arange(n_samples)

    def split(first: int, last: int, n_halves: int) -> None:
        """Halve the samples of some parts until there are ``n_halves`` of them."""
        begin, end = starts[first], starts[last]
        step, some = last - first, members[begin:end]
        while n_halves * step > last - first:
            bounds = starts[first : last + 1 : step // 2] - begin
            some = some[halve(points[some], bounds[::2], bounds[1::2])]
            step //= 2
        members[begin:end] = some

    split(0, n_parts, n_large)
    width = n_parts // n_large
    run_threads(lambda part: split(part * width, (part + 1) * width, width), range(n_large), n_jobs)
    return members, starts


def halve(points: Array, starts: Array, middles: Array) -> Array:
    """An order in which the samples of every part before its middle are not above the others in its widest feature.

    Parts are as large as each other, or have one sample less.
    """
    sizes = np.diff(starts)
    spans = np.maximum.reduceat(points, starts[:-1]) - np.minimum.reduceat(points, starts[:-1])
    place = starts[:-1, None] + np.arange(sizes.max())
    there = place < starts[1:, None]
    values = np.full(place.shape, np.inf)
    values[there] = points[np.arange(len(points)), np.repeat(spans.argmax(axis=1), sizes)]
    order = np.argpartition(values, np.unique(middles - starts[:-1]), axis=1)
    return (starts[:-1, None] + order)[order < sizes[:, None]]


def sample_pairs(cells: Cells, found: tuple[Array, Array]) -> float:
    """Mean number of samples that a sample of a few cells is compared with to find its nearest others."""
    n_cells = len(cells.blocks)
    if n_cells <= SAMPLED_CELLS:  # it would be the search itself
        return float(len(cells.members))
    pairs, nothing = np.zeros((2, len(cells.members)), np.int64)
    chosen = np.unique(np.linspace(0, n_cells - 1, SAMPLED_CELLS).astype(int))
    for cell in chosen:
        search_cells(cell, cell + 1, cells, cells, 1.0, *found, nothing, pairs)
    return float(pairs.sum() / np.diff(cells.starts)[chosen].sum())


def nearest_in_cells(
    queries: Cells,
    cells: Cells,
    found: tuple[Array, Array],
    *,
    filled: Array | None = None,
    prune: float = 1.0,
    n_jobs: int | None = None,
) -> None:
    """Fill ``found``, indices and distances, with the nearest samples of ``cells`` to every sample of ``queries``.

    Where the two are one object, a sample does not find itself. ``filled`` tells how many neighbours every row of
    ``found`` has already, from other cells, and is brought up to date. A box is passed over where its squared distance
    is above ``prune`` times that of the last neighbour: below 1 the search is faster and misses some.
    """
    n_queries = len(found[0])
    filled = np.zeros(n_queries, np.int64) if filled is None else filled
    run_chunks(
        search_cells, len(queries.blocks), n_jobs,
        queries, cells, prune, *found, filled, np.zeros(n_queries, np.int64), smallest=CELLS_AT_ONCE,
    )  # fmt: skip


def search_cells(
    start: int,
    stop: int,
    queries: Cells,
    cells: Cells,
    prune: float,
    *found: Array,
) -> None:
    """Search for the samples of some cells; ``found`` are indices, distances, how many there are, pairs compared."""
    n_cells, n_features, width = cells.blocks.shape
    most, (indices, distances) = queries.blocks.shape[2], found[:2]
    room = most, indices.shape[1] + kernels.SPARE + width
    slack = 1 + max(2.0**-33, 8 * float(np.finfo(distances.dtype).eps))  # what rounding can add to a squared distance
    kernels.search_cells(
        start, stop, queries, cells, queries is cells, slack, prune, *found,
        np.empty(room, indices.dtype), np.empty(room, distances.dtype), np.empty(n_cells), np.empty(n_cells, np.int64),
        np.empty(width), np.empty((most, n_features)), np.empty(most), *np.empty((2, max(most, width)), np.int64),
    )  # fmt: skip
