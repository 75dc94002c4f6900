"""Exact search by lower bounds: all pairs are compared in some coordinates, few of them in all.

Samples are projected on the principal axes of a sample of them, so that the first coordinates hold most of a distance.
With y the first m coordinates of x and r the length of the rest,

    d(x, x')^2 >= |y - y'|^2 + (r - r')^2.

For two blocks of samples these bounds are one matrix product in single precision. Pairs that may be near are compared
in all features, still in single precision, and left as soon as they are too far. A few more than k neighbours are then
measured in double precision. Bounds are lowered by all that rounding can have added
(:func:`find_margins`), so that no neighbour is missed. How many coordinates to use depends on the data, so it is tried
on a sample (:func:`plan_rotated`).
"""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from threading import Condition
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.kernels import bounds as kernels
from gitcluster.kernels import limit_threads, run_chunks, run_threads
from gitcluster.kernels.search import keep_nearest
from gitcluster.neighbors.cells import split_evenly
from gitcluster.neighbors.index import (
    ROUNDING,
    ROWS_AT_ONCE,
    KNNIndex,
    Neighbors,
    empty_neighbors,
    measure_pairs,
    round_distances,
    search_all_pairs,
)

MAX_AXES = 384
"""Axes that are computed at most: more than are used, because the last ones are inaccurate."""
AXES_SAMPLE = 4096
"""Samples from which the axes are computed."""
OUTLIER_RATIO = 2.0**12
"""Samples that are this many times farther out than most are left out of the axes."""
LEADING = (16, 32, 64, 96, 128, 192, 256)
"""Numbers of coordinates to choose from for the first comparison of all pairs."""
QUERIES = 64
"""Samples for which the numbers of coordinates are tried."""
BLOCK_SIZE = 512
"""Samples of a block, at most: the products of two blocks, 1 MB, stay in the second-level cache."""
SPARE = 4
"""Candidates beyond k, so that rounding leaves few rows in doubt."""
SPLIT_AXES = 16
"""Leading axes that determine the blocks."""
MAX_MEANS, MEAN_ROUNDS, MEAN_SIZE = 64, 4, 128
"""Blocks are gathered by k-means: number of means at most, rounds, and samples per mean at least, on average."""
PROJECTED_ROWS = 1024
"""Samples that a thread projects at a time."""

SINGLE, DOUBLE = 2.0**-24, 2.0**-53
"""Largest relative errors of rounding to single and double precision."""
UNDERFLOW = 2.0**-110
"""More than underflow in single precision can take from a squared distance, if the largest coordinate is near 1."""


class Axes(NamedTuple):
    """Axes along which samples vary the most."""

    centre: NDArray[np.float64]
    """(n_features,)"""
    directions: NDArray[np.float64]
    """(n_features, n_axes) orthonormal columns in order of descending variance."""


class Projections(NamedTuple):
    """Samples in single precision, by blocks, centred and scaled so that the largest coordinate is in [1/2, 1]."""

    members: Array
    """(n,) samples, block by block."""
    starts: Array
    """(b + 1,) start of every block in ``members``."""
    leading: NDArray[np.float32]
    """(n, m + 1) coordinates along the first axes, and the length of the rest. If all features are compared, this is
    ``features``."""
    features: NDArray[np.float32]
    """(n, n_features) all features, not rotated."""
    squares: NDArray[np.float32]
    """(n,) squared lengths of ``leading``."""


class Margins(NamedTuple):
    """Bounds on rounding errors.

    A computed lower bound is at most ``growth`` times the squared distance in single precision, plus ``share`` times
    the squared lengths of both samples, plus ``least``.
    """

    growth: float
    share: float
    rough: float
    """Relative error of a squared distance in single precision."""
    least: float = UNDERFLOW


class BoundPlan(NamedTuple):
    """The coordinates that a search compares, and its expected CPU seconds."""

    axes: Axes
    rotated: bool
    """Whether coordinates along the axes are compared; else all features, and the axes only determine the blocks."""
    seconds: float


# Plans


def pair_seconds(n_leading: int, share: float, compared: float = 1.0) -> float:
    """Return the CPU seconds of an average pair.

    A share ``compared`` of all pairs is compared in ``n_leading`` coordinates; a ``share`` passes and is measured.
    """
    return compared * (2.7e-11 * (n_leading + 1) + 2.6e-10) + 2.2e-7 * share


def bound_seconds(
    n_samples: int, n_features: int, k: int, *, n_leading: int, share: float, compared: float = 1.0
) -> float:
    """Return the CPU seconds of a search: every pair once, the rotation, and the measuring of candidates."""
    rotating = 1.5e-10 * n_features * n_leading
    measuring = k * (1e-6 + 2.5e-9 * n_features)
    return n_samples * (n_samples / 2 * pair_seconds(n_leading, share, compared) + rotating + measuring)


def plan_rotated(points: Array, k: int) -> BoundPlan:
    """Return a plan with as many leading coordinates as are fastest for a sample of pairs."""
    n_samples, n_features = points.shape
    rows = np.random.default_rng(0).choice(n_samples, min(2 * AXES_SAMPLE, n_samples), replace=False)
    with limit_threads(1):
        sample = points[rows].astype(np.float64)
        axes = find_axes(sample[:AXES_SAMPLE], min(MAX_AXES, n_features))
        # The rank in the sample of the k-th neighbour among all.
        rank = min(len(sample) - 1, int(np.ceil(k * len(sample) / n_samples)))
        shares, compared = try_bounds(sample, axes, rank)
    n_leading = min(shares, key=lambda m: pair_seconds(m, shares[m], compared))
    seconds = bound_seconds(n_samples, n_features, k, n_leading=n_leading, share=shares[n_leading], compared=compared)
    directions = np.ascontiguousarray(axes.directions[:, :n_leading])
    return BoundPlan(axes._replace(directions=directions), n_leading < n_features, seconds)


def plan_unrotated(points: Array, k: int) -> BoundPlan:
    """Return a plan that compares all features of all pairs: for few samples a rotation does not pay."""
    n_samples, n_features = points.shape
    with limit_threads(1):
        axes = find_axes(points[:: 1 + n_samples // QUERIES], min(SPLIT_AXES, n_features))
    seconds = bound_seconds(n_samples, n_features, k, n_leading=n_features, share=min(1.0, 4 * k / n_samples))
    return BoundPlan(axes, False, seconds)


def try_bounds(sample: NDArray[np.float64], axes: Axes, rank: int) -> tuple[dict[int, float], float]:
    """Return two shares of the pairs of a sample, judged by the distance of the ``rank``-th neighbour of some of them.

    The first is the share with a lower bound below that distance, by the number of coordinates that the bound uses. The
    second is the share in blocks whose gap is not wider than the largest of these distances.
    """
    unit, sample = find_unit(sample, axes.centre), sample - axes.centre
    sample *= unit
    rotated, squares = sample @ axes.directions, row_squares(sample)
    n_axes, queries = rotated.shape[1], slice(QUERIES)
    lengths = squares[queries, None] + squares
    distances = lengths - 2 * sample[queries] @ sample.T
    reach = np.partition(distances, rank, axis=1)[:, rank, None]
    shares = {}
    for m in sorted({m for m in LEADING if m < n_axes} | {min(n_axes, LEADING[-1])}):
        rest = np.sqrt(np.maximum(squares - row_squares(rotated[:, :m]), 0))
        bounds = lengths - 2 * (rotated[queries, :m] @ rotated[:, :m].T + np.outer(rest[queries], rest))
        shares[m] = float((bounds <= reach + 1e-6 * lengths).mean())
    members, starts = gather_blocks(rotated[:, :SPLIT_AXES].astype(np.float32), None)
    gaps, sizes = find_gaps(sample[members], starts, None)[0], np.diff(starts)
    return shares, float(sizes @ (gaps <= reach.max()) @ sizes) / len(sample) ** 2


# Projections


def find_axes(sample: Array, n_axes: int) -> Axes:
    """Return the principal axes of some samples, by two rounds of subspace iteration."""
    rows = sample.astype(np.float64)
    # A few samples far out would determine the axes and the unit, and leave the others no digits.
    lengths = np.abs(rows - np.median(rows, axis=0)).max(axis=1)
    rows = rows[lengths <= OUTLIER_RATIO * np.median(lengths)]
    centre = rows.mean(axis=0)
    rows -= centre
    rows /= np.abs(rows).max() or 1.0
    start = np.random.default_rng(0).normal(size=(sample.shape[1], n_axes))
    directions = np.linalg.qr(start)[0]
    for _ in range(2):
        directions = np.linalg.qr(rows.T @ (rows @ directions))[0]
    rotated = rows @ directions
    directions = directions @ np.linalg.eigh(rotated.T @ rotated)[1][:, ::-1]
    return Axes(centre, directions * np.where(directions.sum(axis=0) < 0, -1.0, 1.0))


def find_margins(axes: Axes, rotated: bool) -> Margins:
    """Return what rounding can add to a bound.

    The computed coordinates of a sample x, of length |x| from the centre, are off by at most ``error`` |x|. Causes are
    directions that are not quite orthonormal, sums in double precision, the root of a difference of squares, and
    rounding to single precision. The bound of a pair at distance d is then off by ``error`` (|x| + |x'|), and for
    every t > 0

        (d + error |x| + error |x'|)^2 <= (1 + t) d^2 + 2 (1 + 1 / t) error^2 (|x|^2 + |x'|^2).

    An inner product of m numbers in single precision is off by at most (m + 1) roundings of |x| |x'|, in whatever order
    its terms are added.
    """
    n_features, n_axes = axes.directions.shape
    n_compared = n_axes if rotated else n_features
    skew = axes.directions.T @ axes.directions
    skew[np.diag_indices(n_axes)] -= 1
    rotating = float(np.linalg.norm(skew)) + 4 * DOUBLE * (n_features + n_axes + 8) * np.sqrt(n_axes)
    error = 3 * SINGLE + rotating + np.sqrt(4 * rotating)
    t = 2.0**-10  # small, so that bounds stay sharp; error^2 / t is still far below `share`'s other term
    summing = SINGLE * (kernels.FEATURES + n_features / kernels.FEATURES + n_axes + 16)
    return Margins(
        growth=(1 + t) * (1 + 4 * summing),
        share=float(2 * (1 + 1 / t) * error**2 + SINGLE * 1.01 * (n_compared + 32)),
        rough=2 * summing,
    )


def find_unit(points: Array, centre: Array) -> float:
    """Return the power of two that scales the largest coordinate into [1/2, 1]; such a scaling does not round."""
    largest = np.maximum(points.max(axis=0) - centre, centre - points.min(axis=0)).max()
    return float(2.0 ** min(1000, -int(np.frexp(largest)[1])))


def project(
    points: Array,
    axes: Axes,
    rotated: bool,
    *,
    blocks: tuple[Array, Array],
    unit: float,
    n_jobs: int | None,
) -> Projections:
    """Return samples in single precision by blocks, which are given as members and starts."""
    n_samples, n_features = points.shape
    (centre, directions), (members, starts) = axes, blocks
    features = np.empty((n_samples, n_features), np.float32)
    leading = np.empty((n_samples, directions.shape[1] + 1), np.float32) if rotated else features
    squares = np.empty(n_samples, np.float32)

    def fill(start: int) -> None:
        rows = slice(start, start + PROJECTED_ROWS)
        centred = (points[members[rows]].astype(np.float64) - centre) * unit
        features[rows] = centred
        if rotated:
            coordinates = centred @ directions
            rest = row_squares(centred) - row_squares(coordinates)
            leading[rows, :-1], leading[rows, -1] = coordinates, np.sqrt(np.maximum(rest, 0))
        squares[rows] = row_squares(leading[rows].astype(np.float64))

    run_threads(fill, range(0, n_samples, PROJECTED_ROWS), n_jobs)
    return Projections(members, starts, leading, features, squares)


def row_squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared length of every row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


# Blocks


def gather_blocks(along: Array, n_jobs: int | None) -> tuple[Array, Array]:
    """Divide samples into blocks by k-means; return members and starts. ``along`` are coordinates on some axes."""
    n_samples, n_axes = along.shape
    n_parts = max(1, min(MAX_MEANS, n_samples // MEAN_SIZE))
    members, starts = split_evenly(along, -(-n_samples // n_parts), n_jobs=n_jobs)
    n_means, nearest = len(starts) - 1, np.empty(n_samples, np.int64)
    nearest[members] = np.repeat(np.arange(n_means), np.diff(starts))
    for _ in range(MEAN_ROUNDS if n_means > 1 else 0):
        sizes = np.maximum(np.bincount(nearest, minlength=n_means), 1)
        means = np.column_stack([np.bincount(nearest, along[:, j], n_means) / sizes for j in range(n_axes)])
        nearest = nearest_mean(along, means.astype(along.dtype), n_jobs)
    ends = starts_of(np.bincount(nearest, minlength=n_means))
    # Divide the samples of each mean evenly into as few blocks as possible.
    cuts = [
        i + (j - i) * np.arange(-(-(j - i) // BLOCK_SIZE)) // -(-(j - i) // BLOCK_SIZE)
        for i, j in pairwise(ends)
        if j > i
    ]
    return members[np.argsort(nearest[members], kind="stable")], np.append(np.concatenate(cuts), n_samples)


def nearest_mean(along: Array, means: Array, n_jobs: int | None) -> Array:
    """Return the nearest mean of every sample: the largest x m - |m|^2 / 2."""
    half = (means**2).sum(axis=1) / 2
    nearest, step = np.empty(len(along), np.int64), 128

    def fill(start: int) -> None:
        rows = slice(start, start + step)
        nearest[rows] = (along[rows] @ means.T - half).argmax(axis=1)

    run_threads(fill, range(0, len(along), step), n_jobs)
    return nearest


def find_gaps(points: Array, starts: Array, n_jobs: int | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for every two blocks, a lower bound on all squared distances between them, and the distance of the means.

    The bound is the gap between the two blocks along the line through their means.
    """
    blocks = [slice(i, j) for i, j in pairwise(starts)]
    means = np.array([points[block].mean(axis=0, dtype=np.float64) for block in blocks]).astype(points.dtype)
    ends, longest = np.empty((len(blocks), len(blocks))), np.empty(len(blocks))

    def find_ends(b: int) -> None:
        """Compute how far block b extends towards every other mean, times the distance of the two means."""
        rows = points[blocks[b]]
        products = rows @ means.T
        ends[b] = (products - products[:, b, None]).max(axis=0)
        longest[b] = row_squares(rows).max()

    run_threads(find_ends, range(len(blocks)), n_jobs)
    squares = row_squares(means.astype(np.float64))
    between = np.sqrt(np.maximum(squares[:, None] + squares - 2 * means.astype(np.float64) @ means.T, 0))
    rounding = 8 * SINGLE * (points.shape[1] + 8) * np.sqrt(longest.max() * squares.max())
    gaps = np.maximum(-ends - ends.T - rounding, 0)
    np.divide(gaps, between * (1 + 2.0**-14), out=gaps, where=gaps > 0)  # 2**-14: for the rounding of `between`
    return gaps**2, between


class BlockSchedule:
    """Assigns pairs of blocks to threads, in order. No block is in use by two threads at the same time."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self._pairs, self._busy, self._released = iter(pairs), set[int](), Condition()
        self._postponed: list[tuple[int, int]] = []  # pairs with a block that was busy at their turn

    def acquire(self) -> tuple[int, int] | None:
        """Return the next pair of free blocks, or None at the end. Wait if only pairs of busy blocks are left."""
        with self._released:
            while True:
                n_postponed = len(self._postponed)
                for position, pair in enumerate(chain(self._postponed[:], self._pairs)):
                    if self._busy.isdisjoint(pair):
                        if position < n_postponed:
                            del self._postponed[position]
                        self._busy.update(pair)
                        return pair
                    if position >= n_postponed:
                        self._postponed.append(pair)
                if not self._postponed:
                    return None
                self._released.wait()

    def release(self, pair: tuple[int, int]) -> None:
        """Free the blocks of a pair."""
        with self._released:
            self._busy.difference_update(pair)
            self._released.notify_all()


def empty_lists(n_samples: int, n_near: int) -> tuple[Array, Array]:
    """Return lists without neighbours: positions -1, squared distances infinite in single precision."""
    near = np.full((n_samples, n_near), -1, np.int32 if n_samples < 2**31 else np.int64)
    return near, np.full((n_samples, n_near), np.inf, np.float32)


def compare_pairs(
    projections: Projections,
    margins: Margins,
    lists: tuple[Array, Array],
    pairs: Iterable[tuple[int, int]],
    n_jobs: int | None,
    last: NDArray[np.float64] | None = None,
) -> None:
    """Update the lists of the nearest others, positions and squared distances, by comparing some pairs of blocks.

    The result does not depend on the order of the pairs. The search is fast if near blocks come first, because the
    distance of the last neighbour then bounds the others early. ``last``, the largest of these distances in every
    block, is updated as well.
    """
    near, squared = lists
    half = (projections.squares * ((1 - margins.share) / 2)).astype(np.float32)  # see compare_blocks
    bar = (half - squared[:, -1].astype(np.float64) * (margins.growth / 2) - margins.least).astype(np.float32)
    starts, leading, plain = projections.starts, projections.leading, (tuple(projections), tuple(margins))
    schedule, farthest = BlockSchedule(pairs), np.empty(len(starts) - 1) if last is None else last

    def work(_: int) -> None:
        largest = int(np.diff(starts).max())
        buffer = np.empty(largest * largest, np.float32)
        while (pair := schedule.acquire()) is not None:
            try:
                rows, columns = (leading[starts[b] : starts[b + 1]] for b in pair)
                products = buffer[: len(rows) * len(columns)].reshape(len(rows), len(columns))
                np.matmul(rows, columns.T, out=products)
                kernels.compare_blocks(*pair, products, *plain, half, bar, near, squared, farthest)
            finally:
                schedule.release(pair)  # also after an error: other threads would wait forever

    n_threads = effective_n_jobs(n_jobs)
    run_threads(work, range(n_threads), n_threads)


def block_pairs_in_reach(
    projections: Projections, margins: Margins, last: NDArray[np.float64], n_jobs: int | None
) -> Iterator[tuple[int, int]]:
    """Yield pairs of blocks, near ones first, without those whose gap is wider than their last neighbours' distance.

    ``last`` shrinks while pairs are compared, so it is read again from time to time.
    """
    gaps, between = find_gaps(projections.leading, projections.starts, n_jobs)
    gaps -= 2 * margins.share * float(projections.squares.max()) + margins.least
    first, second = np.triu_indices(len(last))
    order = np.argsort(between[first, second], kind="stable")
    del between
    for start in range(0, len(order), len(last)):
        some = order[start : start + len(last)]
        one, other = first[some], second[some]
        near = gaps[one, other] <= np.maximum(last[one], last[other]) * margins.growth
        yield from zip(one[near].tolist(), other[near].tolist(), strict=True)


# Search


class ProjectingIndex(KNNIndex):
    """A search among projections in single precision, whose candidates are measured in the end."""

    def _name_members(self, members: Array, lists: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the neighbours of every sample as samples, and the squared distance of the last one."""
        names, last = np.empty_like(lists[0]), np.empty(len(members), np.float32)
        run_chunks(kernels.write_members, len(members), self.n_jobs, members, *lists, names, last)
        return names, last

    def _keep_nearest(self, names: Array, reach: Array, neighbors: tuple[Array, Array], order: Array) -> Array:
        """Measure the candidates and write the k nearest; return the rows for which others may be as near.

        Samples that are near each other in ``order`` share candidates, which then stay in the cache.
        """
        unsettled = []
        for start in range(0, len(names), ROWS_AT_ONCE):
            rows = order[start : start + ROWS_AT_ONCE].astype(np.int64, copy=False)
            near = names[rows]
            distances, settled = measure_pairs(self.points, rows, near, self.n_jobs), np.zeros(len(rows), np.bool_)
            round_distances(distances)
            run_chunks(keep_nearest, len(rows), self.n_jobs, rows, near, distances, reach[rows], *neighbors, settled)
            unsettled.append(rows[~settled])
        return np.sort(np.concatenate(unsettled))


class BoundIndex(ProjectingIndex):
    """Exact search by lower bounds on all distances, for many features."""

    def __init__(self, points: Array, k: int, plan: BoundPlan, *, n_jobs: int | None = None) -> None:
        super().__init__(points, k, n_jobs=n_jobs)
        self.axes, self.rotated, self.seconds = plan

    def search(self) -> Neighbors:
        """Return the k nearest others. Arrays are freed as early as possible: they are as large as the samples."""
        points, axes, n_jobs, n_samples = self.points, self.axes, self.n_jobs, len(self.points)
        with limit_threads(1):
            margins, unit = find_margins(axes, self.rotated), find_unit(points, axes.centre)
            along = points @ np.ascontiguousarray(axes.directions[:, :SPLIT_AXES], dtype=points.dtype)
            blocks = gather_blocks((along.astype(np.float64) * unit).astype(np.float32), n_jobs)
            projections = project(points, axes, self.rotated, blocks=blocks, unit=unit, n_jobs=n_jobs)
            lists = empty_lists(n_samples, min(self.k + SPARE, n_samples - 1))
            last_of_blocks = np.full(len(projections.starts) - 1, np.inf)
            pairs = block_pairs_in_reach(projections, margins, last_of_blocks, n_jobs)
            compare_pairs(projections, margins, lists, pairs, n_jobs, last_of_blocks)
            members, squares = projections.members, projections.squares
            del projections, along, pairs
            names, last = self._name_members(members, lists)
            del lists
            # All others within `reach` are candidates. `last` is the squared distance of the last candidate. A sample
            # at distance d from x is at most |x| + d from the centre, and its features were rounded by SINGLE of that.
            length = np.empty(n_samples)
            length[members] = np.sqrt(squares.astype(np.float64)) * (1 + 2.0**-8)
            reach = np.sqrt(np.maximum(last / (1 + margins.rough) - margins.least, 0)) - 4 * SINGLE * length - 2.0**-100
            reach = np.maximum(reach, 0) * (1 - 4 * SINGLE) * (1 - 2 * ROUNDING) / unit
            if names.shape[1] == n_samples - 1:
                reach[:] = np.inf
            neighbors = empty_neighbors(n_samples, self.k, points.dtype)
            left = self._keep_nearest(names, reach, neighbors, order=members)
            del names
            if len(left):  # rows with many ties: compare them with all samples
                rows = np.array_split(left, effective_n_jobs(n_jobs))
                run_threads(lambda some: self._compare_with_all(some, neighbors), rows, n_jobs)
        return Neighbors(*neighbors, is_mutual=True)

    def _compare_with_all(self, rows: Array, neighbors: tuple[Array, Array]) -> None:
        """Update the neighbours of some rows by comparing them with all samples."""
        points, (indices, distances) = np.ascontiguousarray(self.points), (part[rows] for part in neighbors)
        filled, names = np.full(len(rows), self.k), np.arange(len(points))
        search_all_pairs(points[rows], points, names, indices, distances, filled, rows)
        neighbors[0][rows], neighbors[1][rows] = indices, distances
