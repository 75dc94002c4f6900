"""Exact search in cells: halve the samples across their widest feature until each part holds some hundred.

A cell is a box and a block of coordinates. Samples of one cell have nearly the same cells around them. These are sorted
once for all samples of the cell and visited from near to far, until the next one is farther away than the k-th
neighbour. Samples are compared in single precision first, relative to the centre of the box. Only those that rounding
cannot rule out are measured in double precision, so that the result is exact.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import run_chunks, run_threads
from gitcluster.kernels import search as kernels
from gitcluster.neighbors.index import KNNIndex, Neighbors, distance_slack, empty_neighbors

CELLS_AT_ONCE = 16
"""Cells that a thread processes at a time."""
SAMPLED_CELLS = 8
"""Cells that are searched to estimate the time of the search."""
SPLIT_AT_ONCE = 1 << 14
"""Samples that a thread splits at a time, at least; parts that are larger are split by one thread."""


class Cells(NamedTuple):
    """Samples by cells."""

    members: Array
    """(n,) samples, cell by cell."""
    starts: Array
    """(m + 1,) start of every cell in ``members``."""
    points: Array
    """(n, n_features) the samples in the order of ``members``."""
    blocks: NDArray[np.float32]
    """(m, n_features, width) coordinates relative to the centre, feature by feature. Features are padded with zeros to
    a multiple of 4, samples with the last one to a multiple of 8, for vectorized loops without remainders."""
    low: NDArray[np.float64]
    """(m, n_features) lower corners of the boxes."""
    high: NDArray[np.float64]
    """(m, n_features) upper corners."""
    centres: NDArray[np.float64]
    """(m, n_features) centres of the boxes."""
    radii: NDArray[np.float64]
    """(m,) distances from the centres to the corners."""


class CellIndex(KNNIndex):
    """Samples in cells. With more features, boxes rule out nearly nothing."""

    MAX_FEATURES = 64

    def __init__(self, points: Array, k: int = 1, *, n_jobs: int | None = None) -> None:
        super().__init__(points, k, n_jobs=n_jobs)
        self.cells = gather_cells(points, n_jobs=n_jobs)

    @cached_property
    def seconds(self) -> float:  # type: ignore[override]
        """Return the expected CPU seconds, from the samples with which those of a few cells are compared."""
        (n_samples, n_features), n_cells = self.points.shape, len(self.cells.blocks)
        n_compared = float(n_samples)
        if n_cells > SAMPLED_CELLS:  # otherwise the estimate would be the search itself
            neighbors = empty_neighbors(n_samples, self.k, self.points.dtype)
            pairs, filled = np.zeros((2, n_samples), np.int64)
            chosen = np.unique(np.linspace(0, n_cells - 1, SAMPLED_CELLS).astype(int))
            for cell in chosen:
                _search_cells(cell, cell + 1, self.cells, self.cells, *neighbors, filled, pairs)
            n_compared = float(pairs.sum() / np.diff(self.cells.starts)[chosen].sum())
        return float(n_samples * (3e-6 + n_compared * (5e-10 + 1e-10 * n_features)))

    def search(self) -> Neighbors:
        """Return the k nearest others of every sample."""
        neighbors = empty_neighbors(len(self.points), self.k, self.points.dtype)
        nearest_in_cells(self.cells, self.cells, neighbors, n_jobs=self.n_jobs)
        return Neighbors(*neighbors, is_mutual=True)

    def query(self, new: Any, k: int, *, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Return the indices and distances of the k samples nearest to every new one."""
        neighbors = empty_neighbors(len(new), k, new.dtype)
        nearest_in_cells(gather_cells(new, n_jobs=n_jobs), self.cells, neighbors, n_jobs=n_jobs)
        return neighbors


def gather_cells(points: Array, *, n_jobs: int | None = None) -> Cells:
    """Divide samples into cells."""
    n_features = points.shape[1]
    most = 256 if n_features <= 16 else 128  # a block of single precision stays in the first-level cache
    members, starts = split_evenly(points, most, n_jobs=n_jobs)
    n_cells, width = len(starts) - 1, -(-int(np.diff(starts).max()) // 8) * 8
    rows, blocks = np.empty_like(points), np.zeros((n_cells, -(-n_features // 4) * 4, width), np.float32)
    low, high, centres = np.empty((3, n_cells, n_features))

    def fill(first: int) -> None:
        some = slice(first, first + CELLS_AT_ONCE)
        begins, ends = starts[:-1][some], starts[1:][some]
        own = slice(begins[0], ends[-1])
        rows[own] = points[members[own]]
        positions = np.minimum(begins[:, None] + np.arange(width), ends[:, None] - 1)  # pad with the last sample
        samples = rows[positions]
        low[some], high[some] = samples.min(axis=1), samples.max(axis=1)
        centres[some] = low[some] / 2 + high[some] / 2  # halves first: the sum could overflow
        with np.errstate(over="ignore"):
            blocks[some, :n_features] = (samples - centres[some, None]).transpose(0, 2, 1)

    run_threads(fill, range(0, n_cells, CELLS_AT_ONCE), n_jobs)
    radii = np.linalg.norm((high - low) / 2, axis=1)
    return Cells(members, starts, rows, blocks, low, high, centres, radii)


def split_evenly(points: Array, most: int, *, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Halve samples across their widest feature until no part has more than ``most``; return members and starts.

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
        """Halve the samples of parts ``first`` to ``last`` until there are ``n_halves`` groups of parts."""
        begin, end = starts[first], starts[last]
        step, some = last - first, members[begin:end]
        while n_halves * step > last - first:
            bounds = starts[first : last + 1 : step // 2] - begin
            some = some[_halve(points[some], bounds[::2], bounds[1::2])]
            step //= 2
        members[begin:end] = some

    split(0, n_parts, n_large)
    width = n_parts // n_large
    run_threads(lambda part: split(part * width, (part + 1) * width, width), range(n_large), n_jobs)
    return members, starts


def _halve(points: Array, starts: Array, middles: Array) -> Array:
    """Return an order in which every part is divided at its middle by its widest feature.

    The sizes of parts differ by at most one, so one argpartition handles all of them, padded with infinity.
    """
    sizes = np.diff(starts)
    spans = np.maximum.reduceat(points, starts[:-1]) - np.minimum.reduceat(points, starts[:-1])
    positions = starts[:-1, None] + np.arange(sizes.max())
    inside = positions < starts[1:, None]
    values = np.full(positions.shape, np.inf)
    values[inside] = points[np.arange(len(points)), np.repeat(spans.argmax(axis=1), sizes)]
    order = np.argpartition(values, np.unique(middles - starts[:-1]), axis=1)
    return (starts[:-1, None] + order)[order < sizes[:, None]]


def nearest_in_cells(
    queries: Cells,
    cells: Cells,
    neighbors: tuple[Array, Array],
    *,
    filled: Array | None = None,
    n_jobs: int | None = None,
) -> None:
    """Write the nearest samples of ``cells`` to every sample of ``queries`` into indices and distances.

    If the two are one object, a sample is not its own neighbour. ``filled`` is the number of neighbours that every row
    already has from other cells; it is updated.
    """
    n_queries = len(neighbors[0])
    filled = np.zeros(n_queries, np.int64) if filled is None else filled
    run_chunks(
        _search_cells, len(queries.blocks), n_jobs,
        queries, cells, *neighbors, filled, np.zeros(n_queries, np.int64), min_chunk_size=CELLS_AT_ONCE,
    )  # fmt: skip


def _search_cells(start: int, stop: int, queries: Cells, cells: Cells, *arrays: Array) -> None:
    """Search for the samples of some cells; ``arrays`` are indices, distances, filled and pairs of the kernel."""
    slack = distance_slack(arrays[1].dtype)
    kernels.search_cells(start, stop, tuple(queries), tuple(cells), queries is cells, slack, *arrays)
