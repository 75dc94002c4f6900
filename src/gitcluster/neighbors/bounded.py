"""Exact search by lower bounds: all pairs are compared in some coordinates, few of them in all.

For two blocks of samples the bounds (``shadows``) are one product of matrices, in single precision. Pairs that may be
near by it are compared in further coordinates and then in all features, still in single precision, and left as soon as
they are too far. What is found, a few more than k, is measured exactly, like by every other search. A bound is lowered
by all that rounding can have added to it, so that no near sample is missed.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from threading import Condition

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, inverse_order, starts_of
from gitcluster.kernels import bounds as kernels
from gitcluster.kernels import limit_threads, run_chunks, run_threads, search
from gitcluster.neighbors.blocks import find_nearest
from gitcluster.neighbors.cells import split_evenly
from gitcluster.neighbors.exact import ROUNDING, ROWS_AT_ONCE, empty_neighbors, measure_pairs, round_distances
from gitcluster.neighbors.shadows import (
    QUERIES,
    SAMPLE,
    SINGLE,
    Again,
    Axes,
    Margins,
    Shadows,
    bring_back,
    cast_shadows,
    find_margins,
    find_unit,
    row_squares,
    takes_room,
)

BLOCK = 512
"""Samples of a block, at most."""
SPARE = 4
"""Samples that are found beside the k nearest, so that rounding leaves few rows in doubt."""
SPLIT_AXES = 16
"""Axes by which samples are put into blocks."""
MEANS, ROUNDS = 64, 4
"""Means that blocks are gathered around, at most, and how often these are brought up to date."""
FEWEST = 128
"""Samples around a mean, on average, at least."""


class Turns:
    """Hands out pairs of blocks in order, to threads none of which may hold a block that another one holds."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.pairs, self.held, self.change = iter(pairs), set[int](), Condition()
        self.waiting: list[tuple[int, int]] = []
        """Pairs that were not free when their turn came."""

    def take(self) -> tuple[int, int] | None:
        """The next pair that is free, None at the end."""
        with self.change:
            while (pair := self._find_free()) is None and self.waiting:
                self.change.wait()
            self.held.update(pair or ())
        return pair

    def _find_free(self) -> tuple[int, int] | None:
        for place, pair in enumerate(self.waiting):
            if self.held.isdisjoint(pair):
                return self.waiting.pop(place)
        for pair in self.pairs:
            if self.held.isdisjoint(pair):
                return pair
            self.waiting.append(pair)
        return None

    @contextmanager
    def each(self) -> Iterator[Iterator[tuple[int, int]]]:
        """Pairs for one thread."""
        pair: tuple[int, int] | None = None

        def free() -> None:
            with self.change:
                self.held.difference_update(pair or ())
                self.change.notify_all()

        def hand_out() -> Iterator[tuple[int, int]]:
            nonlocal pair
            while (pair := self.take()) is not None:
                yield pair
                free()

        try:
            yield hand_out()
        finally:
            free()


def empty_lists(n_samples: int, n_near: int) -> tuple[Array, Array]:
    """Room for places and for squared distances in single precision."""
    near = np.full((n_samples, n_near), -1, np.int32 if n_samples < 2**31 else np.int64)
    return near, np.full((n_samples, n_near), np.inf, np.float32)


def compare_pairs(
    shadows: Shadows,
    margins: Margins,
    lists: tuple[Array, Array],
    pairs: Iterable[tuple[int, int]],
    n_jobs: int | None,
    last: NDArray[np.float64] | None = None,
) -> None:
    """Bring the lists of the nearest others, places and squared distances, up to date with some pairs of blocks.

    What is found does not depend on the order of the pairs. It is fast where near blocks come first: how far the last
    neighbour is, is known early then. ``last``, the farthest of these in every block, is brought up to date as well.
    """
    near, squared = lists
    half = _half(shadows, margins)
    bar = (half - squared[:, -1].astype(np.float64) * (margins.growth / 2) - margins.least).astype(np.float32)
    turns, farthest = Turns(pairs), np.empty(len(shadows.starts) - 1) if last is None else last

    def work(_: int) -> None:
        largest = int(np.diff(shadows.starts).max())
        room = np.empty(largest * largest, np.float32)
        with turns.each() as mine:
            for first, second in mine:
                rows, columns = (shadows.leading[shadows.starts[b] : shadows.starts[b + 1]] for b in (first, second))
                products = room[: len(rows) * len(columns)].reshape(len(rows), len(columns))
                np.matmul(rows, columns.T, out=products)
                kernels.compare_blocks(first, second, products, shadows, margins, half, bar, near, squared, farthest)

    n_threads = effective_n_jobs(n_jobs)
    run_threads(work, range(n_threads), n_threads)


def _half(shadows: Shadows, margins: Margins) -> NDArray[np.float32]:
    """A sample's part of the product from which on a pair may be near."""
    return (shadows.squares * ((1 - margins.share) / 2)).astype(np.float32)


def gather_parts(along: Array, n_jobs: int | None) -> tuple[Array, Array]:
    """Samples by blocks around some means, and where each block starts; ``along`` are the samples along some axes."""
    n_samples, n_axes = along.shape
    members, starts = split_evenly(along, -(-n_samples // max(1, min(MEANS, n_samples // FEWEST))), n_jobs=n_jobs)
    n_means, nearest = len(starts) - 1, np.empty(n_samples, np.int64)
    nearest[members] = np.repeat(np.arange(n_means), np.diff(starts))
    for _ in range(ROUNDS if n_means > 1 else 0):
        sizes = np.maximum(np.bincount(nearest, minlength=n_means), 1)
        means = np.column_stack([np.bincount(nearest, along[:, j], n_means) / sizes for j in range(n_axes)])
        nearest = find_nearest(along, means.astype(along.dtype), n_jobs)
    ends = starts_of(np.bincount(nearest, minlength=n_means))
    cuts = [i + (j - i) * np.arange(-(-(j - i) // BLOCK)) // -(-(j - i) // BLOCK) for i, j in pairwise(ends) if j > i]
    return members[np.argsort(nearest[members], kind="stable")], np.append(np.concatenate(cuts), n_samples)


def find_gaps(points: Array, starts: Array, n_jobs: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(b, b) squared distance that all samples of two blocks have at least, and the distance of their means.

    Along the line through their means two blocks are as far from each other as the last sample of the one is from the
    first of the other.
    """
    blocks = [slice(i, j) for i, j in pairwise(starts)]
    means = np.array([points[block].mean(axis=0, dtype=np.float64) for block in blocks]).astype(points.dtype)
    ends, longest = np.empty((len(blocks), len(blocks))), np.empty(len(blocks))

    def find_ends(b: int) -> None:
        """How far samples of block b go towards each of the other means, times the distance of that mean."""
        some = points[blocks[b]]
        products = some @ means.T
        ends[b] = (products - products[:, b, None]).max(axis=0)
        longest[b] = row_squares(some).max()

    run_threads(find_ends, range(len(blocks)), n_jobs)
    squares = row_squares(means.astype(np.float64))
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * means.astype(np.float64) @ means.T, 0))
    rounding = 8 * SINGLE * (points.shape[1] + 8) * np.sqrt(longest.max() * squares.max())
    gaps = np.maximum(-ends - ends.T - rounding, 0)
    np.divide(gaps, apart * (1 + 2.0**-14), out=gaps, where=gaps > 0)
    return gaps**2, apart


def sample_gaps(sample: NDArray[np.float64], axes: Axes, rank: int) -> float:
    """Share of the pairs of a sample that are in blocks with no wider gap between them than the distance of a
    ``rank``-th neighbour, the farthest of some."""
    unit = find_unit(sample, axes.centre)
    sample = sample - axes.centre
    sample *= unit
    members, starts = gather_parts((sample @ axes.directions[:, :SPLIT_AXES]).astype(np.float32), None)
    gaps, _ = find_gaps(sample[members], starts, None)
    squares, sizes = row_squares(sample), np.diff(starts)
    distances = squares[:QUERIES, None] + squares - 2 * sample[:QUERIES] @ sample.T
    reach = np.partition(distances, rank, axis=1)[:, rank].max()
    return float(sizes @ (gaps <= reach) @ sizes) / len(sample) ** 2


def _near_pairs(
    shadows: Shadows, margins: Margins, last: NDArray[np.float64], n_jobs: int | None
) -> Iterator[tuple[int, int]]:
    """Pairs of blocks, near ones first, but for those with a wider gap between them than to their last neighbours."""
    gaps, apart = find_gaps(shadows.leading, shadows.starts, n_jobs)
    gaps -= 2 * margins.share * float(shadows.squares.max()) + margins.least
    first, second = np.triu_indices(len(last))
    order = np.argsort(apart[first, second], kind="stable")
    del apart
    for start in range(0, len(order), len(last)):
        some = order[start : start + len(last)]
        one, other = first[some], second[some]
        near = gaps[one, other] <= np.maximum(last[one], last[other]) * margins.growth
        yield from zip(one[near].tolist(), other[near].tolist(), strict=True)


def bounded_search(
    points: Array, k: int, *, axes: Axes, n_leading: int, n_jobs: int | None = None, again: Again | None = None
) -> tuple[Array, Array]:
    """Indices and distances of the k nearest others of every sample; ``points`` may be written over in between, where
    the samples can be had ``again``."""
    n_samples, overwrite = len(points), takes_room(points, again)
    cast = partial(cast_shadows, points, axes, n_leading, n_jobs=n_jobs)
    with limit_threads(1):
        margins = find_margins(axes, n_leading)
        unit = find_unit(points, axes.centre)
        along = points @ np.ascontiguousarray(axes.directions[:, :SPLIT_AXES], dtype=points.dtype)
        parts = gather_parts((along.astype(np.float64) * unit).astype(np.float32), n_jobs)
        shadows = cast(parts=parts, unit=unit, overwrite=overwrite)
        lists = empty_lists(n_samples, min(k + SPARE, n_samples - 1))
        last_of_blocks = np.full(len(shadows.starts) - 1, np.inf)
        pairs = _near_pairs(shadows, margins, last_of_blocks, n_jobs)
        compare_pairs(shadows, margins, lists, pairs, n_jobs, last_of_blocks)
        few = _drop_coordinates(shadows)
        del shadows, along
        if overwrite and again is not None:
            bring_back(points, again, n_jobs)
        names, last = name_found(few.members, lists, n_jobs)
        del lists
        found = empty_neighbors(n_samples, k, points.dtype)
        reach = _find_reach(few, margins, last, unit)
        if names.shape[1] == n_samples - 1:
            reach[:] = np.inf
        left = keep_exactly(points, names, reach, found, n_jobs, order=few.members)
        del names
        if len(left):
            _settle(points, cast(parts=parts, unit=unit), margins, unit, left, found, n_jobs)
    return found


def _drop_coordinates(shadows: Shadows) -> Shadows:
    """Blocks and lengths alone: few rows, or none, have to be compared again, and others need the room until then."""
    none = np.empty((0, 0), np.float32)
    return shadows._replace(leading=none, further=none, features=none)


def name_found(members: Array, lists: tuple[Array, Array], n_jobs: int | None) -> tuple[Array, Array]:
    """(n, m) what every sample has found, as samples, and (n,) the squared distance of the last of them."""
    names, last = np.empty_like(lists[0]), np.empty(len(members), np.float32)
    run_chunks(kernels.name_members, len(members), n_jobs, members, *lists, names, last)
    return names, last


def _find_reach(shadows: Shadows, margins: Margins, last: Array, unit: float) -> NDArray[np.float64]:
    """(n,) distance that all samples have which were not found: ``last`` is the largest squared one that was.

    One at distance d is at most |x| + d from the centre, so that its features were off by that many roundings.
    """
    length = np.empty(len(last))
    length[shadows.members] = np.sqrt(shadows.squares.astype(np.float64)) * (1 + 2.0**-8)
    reach = np.sqrt(np.maximum(last / (1 + margins.rough) - margins.least, 0)) - 4 * SINGLE * length - 2.0**-100
    return np.asarray(np.maximum(reach, 0) * (1 - 4 * SINGLE) * (1 - 2 * ROUNDING) / unit)


def keep_exactly(
    points: Array, names: Array, reach: Array, found: tuple[Array, Array], n_jobs: int | None, *, order: Array
) -> Array:
    """Measure what was found and keep the k nearest; returns the rows for which others may be as near.

    In an ``order`` in which near samples come one after another, those that they are measured from stay in the cache.
    """
    left = []
    for start in range(0, len(names), ROWS_AT_ONCE):
        rows = order[start : start + ROWS_AT_ONCE].astype(np.int64, copy=False)
        near = names[rows]
        distances, settled = np.empty(near.shape), np.zeros(len(rows), np.bool_)
        measure_pairs(points, rows, near, distances, n_jobs)
        round_distances(distances)
        run_chunks(search.keep_nearest, len(rows), n_jobs, rows, near, distances, reach[rows], *found, settled)
        left.append(rows[~settled])
    return np.sort(np.concatenate(left))


def _settle(
    points: Array, shadows: Shadows, margins: Margins, unit: float, left: Array, found: tuple[Array, Array],
    n_jobs: int | None,
) -> None:  # fmt: skip
    """Compare some rows, whose k-th distance is known up to links and rounding, with all samples."""
    half = _half(shadows, margins)
    place = inverse_order(shadows.members)[left]
    slack = 1 + max(2.0**-33, 8 * float(np.finfo(points.dtype).eps))
    worst = (found[1][left, -1].astype(np.float64) * unit) ** 2 * slack
    bars = (half[place] - worst * margins.growth / 2 - margins.least).astype(np.float32)
    points = np.ascontiguousarray(points)

    def settle(bounds: tuple[int, int]) -> None:
        some = slice(*bounds)
        rows = shadows.leading[place[some]]
        for start in range(0, len(half), SAMPLE):
            part = slice(start, start + SAMPLE)
            kernels.settle_rows(
                left[some], shadows.members[part], rows @ shadows.leading[part].T, half[part], bars[some], points,
                slack, *found,
            )  # fmt: skip

    run_threads(settle, list(pairwise([*range(0, len(left), BLOCK), len(left)])), n_jobs)
