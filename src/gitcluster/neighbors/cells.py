"""Exact search in cells: halve the samples across their widest feature until some hundred are left in each part.

A cell is a box and a block of coordinates, feature by feature, that one loop compares with a sample: in single
precision, relative to the centre of the box. What that cannot rule out is measured, so that the result does not show
it. Samples of one cell have much the same cells around them: these are put in order once for all of them and visited
from near to far, until the next is farther away than the k-th neighbour found. How many samples that takes depends on
the data, and a few cells tell it: :func:`sample_pairs`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import cells as kernels
from gitcluster.kernels import run_chunks, run_threads

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
    points: Array
    """(n, n_features) the samples in the order of ``members``."""
    blocks: NDArray[np.float32]
    """(m, n_features, width) the same from each cell's centre on, filled up with features of 0 and with the last
    sample."""
    low: NDArray[np.float64]
    """(m, n_features) lower corner of each cell's box."""
    high: NDArray[np.float64]
    centres: NDArray[np.float64]
    """(m, n_features) centre of each cell's box."""
    radii: NDArray[np.float64]
    """(m,) from the centre to a corner."""


def gather_cells(points: Array, *, n_jobs: int | None = None) -> Cells:
    """Put samples into cells.

    Examples
    --------
    >>> gather_cells(np.array([[3.0], [1.0], [2.0]])).low
    array([[1.]])
    """
    n_features = points.shape[1]
    most = 256 if n_features <= 16 else 128  # a block stays in the fastest cache
    members, starts = split_evenly(points, most, n_jobs=n_jobs)
    n_cells, width = len(starts) - 1, fill_up(int(np.diff(starts).max()), 8)
    rows, blocks = np.empty_like(points), np.zeros((n_cells, fill_up(n_features, 4), width), np.float32)
    low, high, centres = np.empty((3, n_cells, n_features))

    def fill(first: int) -> None:
        some = slice(first, first + CELLS_AT_ONCE)
        begins, ends = starts[:-1][some], starts[1:][some]
        own = slice(begins[0], ends[-1])
        rows[own] = points[members[own]]
        place = np.minimum(begins[:, None] + np.arange(width), ends[:, None] - 1)  # the last one again
        samples = rows[place]
        low[some], high[some] = samples.min(axis=1), samples.max(axis=1)
        centres[some] = low[some] / 2 + high[some] / 2
        with np.errstate(over="ignore"):
            blocks[some, :n_features] = (samples - centres[some, None]).transpose(0, 2, 1)

    run_threads(fill, range(0, n_cells, CELLS_AT_ONCE), n_jobs)
    radii = np.linalg.norm((high - low) / 2, axis=1)
    return Cells(members, starts, rows, blocks, low, high, centres, radii)


def fill_up(number: int, to: int) -> int:
    """The next multiple.

    Examples
    --------
    >>> fill_up(5, 4)
    8
    """
    return -(-number // to) * to


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
        search_cells(cell, cell + 1, cells, cells, *found, nothing, pairs)
    return float(pairs.sum() / np.diff(cells.starts)[chosen].sum())


def nearest_in_cells(
    queries: Cells,
    cells: Cells,
    found: tuple[Array, Array],
    *,
    filled: Array | None = None,
    n_jobs: int | None = None,
) -> None:
    """Fill ``found``, indices and distances, with the nearest samples of ``cells`` to every sample of ``queries``.

    Where the two are one object, a sample does not find itself. ``filled`` tells how many neighbours every row of
    ``found`` has already, from other cells, and is brought up to date.
    """
    n_queries = len(found[0])
    filled = np.zeros(n_queries, np.int64) if filled is None else filled
    run_chunks(
        search_cells, len(queries.blocks), n_jobs,
        queries, cells, *found, filled, np.zeros(n_queries, np.int64), min_chunk_size=CELLS_AT_ONCE,
    )  # fmt: skip


def search_cells(start: int, stop: int, queries: Cells, cells: Cells, *found: Array) -> None:
    """Search for the samples of some cells; ``found`` are indices, distances, how many there are, pairs compared."""
    n_cells, n_wide, width = cells.blocks.shape
    n_features, most, (indices, distances) = queries.points.shape[1], queries.blocks.shape[2], found[:2]
    room = most, indices.shape[1] + kernels.SPARE + width
    slack = 1 + max(2.0**-33, 8 * float(np.finfo(distances.dtype).eps))  # what rounding can add to a squared distance
    rough = np.empty(width, np.float32)
    kernels.search_cells(
        start, stop, queries, cells, queries is cells, slack, *found,
        np.empty(room, indices.dtype), np.empty(room), np.empty(room[1] + 16), np.empty(n_cells),
        np.empty(n_cells, np.int64), rough, rough.view(np.int32), np.zeros(n_wide, np.float32),
        np.empty((most, n_features)), np.empty((n_features, most)), *np.empty((2, most)), np.empty(most, np.int64),
        *np.empty((2, room[1] + 16), np.int64),
    )  # fmt: skip
