"""Exact search by lower bounds: all pairs are compared in some coordinates, few of them in all.

Samples are turned so that their first coordinates tell the most: axes are the principal ones of a sample of them. With
y the first m coordinates of x and r the length of the others,

    d(x, x')^2 >= ||y - y'||^2 + (r - r')^2.

For two blocks of samples the right side is one product of matrices, in single precision. Pairs that may be near by it
are compared in further coordinates and then in all features, still in single precision, and left as soon as they are
too far. What is found, a few more than k, is measured exactly, like by every other search. A bound is lowered by all
that rounding can have added to it (:func:`find_margins`), so that no near sample is missed.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Condition
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from gitcluster._jit import bounds as kernels
from gitcluster._jit import limit_threads, run_chunks, run_threads, search
from gitcluster._support.arrays import Array, inverse_order
from gitcluster.neighbors.cells import split_evenly
from gitcluster.neighbors.exact import ROUNDING, ROWS_AT_ONCE, empty_neighbors, measure_pairs, round_distances

BLOCK = 512
"""Samples of a block, at most."""
SPARE = 4
"""Samples that are found beside the k nearest, so that rounding leaves few rows in doubt."""
AXES = 384
"""Axes that are found, at most."""
SAMPLE = 4096
"""Samples that the axes are found from."""
SPLIT_AXES = 8
"""Axes by which samples are put into blocks."""
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
"""What one rounding changes, as a share."""
LEAST = 2.0**-110
"""More than what too small numbers of single precision lose, where the largest coordinate is near 1."""


class Axes(NamedTuple):
    """Axes along which samples differ the most."""

    centre: NDArray[np.float64]
    """(n_features,)"""
    directions: NDArray[np.float64]
    """(n_features, n_axes) orthonormal columns, the one along which samples differ the most first."""


class Shadows(NamedTuple):
    """Samples in single precision, in blocks of near ones, centred, their largest coordinate between 1/2 and 1."""

    members: Array
    """(n,) samples, block by block."""
    starts: Array
    """(b + 1,) where each block starts in ``members``."""
    leading: NDArray[np.float32]
    """(n, m + 1) coordinates along the first axes, and the length of what they leave."""
    further: NDArray[np.float32]
    """(n, m' + 1) coordinates along the next axes, and the length of what all these leave; (n, 0) without."""
    features: NDArray[np.float32]
    """(n, n_features) all of them, not turned."""
    squares: NDArray[np.float32]
    """(n,) squared lengths of ``leading``."""


class Margins(NamedTuple):
    """What rounding can do: a bound is at most ``growth`` times the squared distance of a pair in single precision, and
    ``share`` of their squared lengths, and ``least``."""

    growth: float
    share: float
    rough: float
    """By which share a squared distance in single precision can be off."""
    least: float = LEAST


def find_axes(sample: Array, n_axes: int) -> Axes:
    """Principal axes of some samples, by two rounds of subspace iteration; the same for the same samples.

    Examples
    --------
    >>> find_axes(np.array([[0.0, 1.0], [0.0, 3.0]]), 1).directions.round(12) + 0.0
    array([[0.],
           [1.]])
    """
    centre = sample.mean(axis=0, dtype=np.float64)
    rows = sample.astype(np.float64) - centre
    rows /= np.abs(rows).max() or 1.0
    start = np.random.default_rng(0).normal(size=(sample.shape[1], n_axes))
    directions = np.linalg.qr(start)[0]
    for _ in range(2):
        directions = np.linalg.qr(rows.T @ (rows @ directions))[0]
    turned = rows @ directions
    directions = directions @ np.linalg.eigh(turned.T @ turned)[1][:, ::-1]
    return Axes(centre, directions * np.where(directions.sum(axis=0) < 0, -1.0, 1.0))


def find_margins(axes: Axes, n_leading: int) -> Margins:
    """What rounding can add to a bound.

    A sample x, of length |x| from the centre, is off its exact coordinates by at most ``off`` |x|: directions that are
    not quite orthonormal, sums of double precision, a root of a difference of squares, coordinates rounded to single
    precision. So the exact bound b of a pair at distance d is off by ``off`` (|x| + |x'|), and
    (d + off |x| + off |x'|)^2 <= (1 + t) d^2 + 2 (1 + 1 / t) off^2 (|x|^2 + |x'|^2) for every t.
    A product of m single numbers is off by at most (m + 1) roundings of |x| |x'| in whatever order they are added.
    """
    n_features, n_axes = axes.directions.shape
    skew = axes.directions.T @ axes.directions
    skew[np.diag_indices(n_axes)] -= 1
    turning = float(np.linalg.norm(skew)) + 4 * DOUBLE * (n_features + n_axes + 8) * np.sqrt(n_axes)
    off = 3 * SINGLE + turning + np.sqrt(4 * turning)
    t = 2.0**-10
    summing = SINGLE * (kernels.FEATURES + n_features / kernels.FEATURES + n_axes + 16)
    return Margins(
        growth=(1 + t) * (1 + 4 * summing),
        share=float(2 * (1 + 1 / t) * off**2 + SINGLE * 1.01 * (n_leading + 32)),
        rough=2 * summing,
    )


def cast_shadows(points: Array, axes: Axes, n_leading: int, n_jobs: int | None) -> tuple[Shadows, float]:
    """Samples by blocks in single precision, and the unit that their coordinates were multiplied by."""
    n_samples, n_features = points.shape
    centre, directions = axes
    n_further = directions.shape[1] - n_leading
    members, starts = split_evenly(np.ascontiguousarray(points @ directions[:, :SPLIT_AXES]), BLOCK)
    largest = np.maximum(points.max(axis=0) - centre, centre - points.min(axis=0)).max()
    unit = 2.0 ** min(1000, -int(np.frexp(largest)[1]))
    leading = np.empty((n_samples, n_leading + 1), np.float32)
    further = np.empty((n_samples, n_further + 1 if n_further else 0), np.float32)
    features = np.empty((n_samples, n_features), np.float32)
    squares = np.empty(n_samples, np.float32)

    def fill(bounds: tuple[int, int]) -> None:
        here = slice(*bounds)
        some = (points[members[here]].astype(np.float64) - centre) * unit
        turned = some @ directions
        features[here] = some
        left = _squares(some)
        for part, coordinates in ((leading, turned[:, :n_leading]), (further, turned[:, n_leading:])):
            if part.shape[1]:
                left = left - _squares(coordinates)
                part[here, :-1], part[here, -1] = coordinates, np.sqrt(np.maximum(left, 0))
        squares[here] = _squares(leading[here].astype(np.float64))

    run_threads(fill, list(pairwise([*range(0, n_samples, 2 * BLOCK), n_samples])), n_jobs)
    return Shadows(members, starts, leading, further, features, squares), unit


def _squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


class Turns:
    """Hands out pairs of blocks in order, to threads none of which may hold a block that another one holds."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.waiting, self.held, self.change = deque(pairs), set[int](), Condition()

    def take(self) -> tuple[int, int] | None:
        """The next pair that is free, None at the end."""
        with self.change:
            while self.waiting:
                passed: list[tuple[int, int]] = []
                while self.waiting:
                    pair = self.waiting.popleft()
                    if self.held.isdisjoint(pair):
                        self.waiting.extendleft(reversed(passed))
                        self.held.update(pair)
                        return pair
                    passed.append(pair)
                self.waiting.extend(passed)
                self.change.wait()
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


def compare_all(shadows: Shadows, margins: Margins, n_near: int, n_jobs: int | None) -> tuple[Array, Array]:
    """Places of the nearest others of every sample, and their squared distances in single precision, ascending.

    Pairs of near blocks come first: how far the last neighbour is, is known early then.
    """
    n_samples = len(shadows.members)
    near = np.full((n_samples, n_near), -1, np.int32 if n_samples < 2**31 else np.int64)
    squared = np.full((n_samples, n_near), np.inf, np.float32)
    half = _half(shadows, margins)
    bar = np.full(n_samples, -np.inf, np.float32)
    turns = Turns(_near_first(shadows))

    def work(_: int) -> None:
        largest = int(np.diff(shadows.starts).max())
        room = np.empty(largest * largest, np.float32)
        with turns.each() as pairs:
            for first, second in pairs:
                rows, columns = (shadows.leading[shadows.starts[b] : shadows.starts[b + 1]] for b in (first, second))
                products = room[: len(rows) * len(columns)].reshape(len(rows), len(columns))
                np.matmul(rows, columns.T, out=products)
                kernels.compare_blocks(first, second, products, shadows, margins, half, bar, near, squared)

    n_threads = effective_n_jobs(n_jobs)
    run_threads(work, range(n_threads), n_threads)
    return near, squared


def _half(shadows: Shadows, margins: Margins) -> NDArray[np.float32]:
    """A sample's part of the product from which on a pair may be near."""
    return (shadows.squares * ((1 - margins.share) / 2)).astype(np.float32)


def _near_first(shadows: Shadows) -> Iterator[tuple[int, int]]:
    """All pairs of blocks, those with near means first."""
    means = np.array([shadows.leading[i:j, :-1][:, :SPLIT_AXES].mean(axis=0) for i, j in pairwise(shadows.starts)])
    first, second = np.triu_indices(len(means))
    gaps = ((means[first] - means[second]) ** 2).sum(axis=1)
    order = np.argsort(gaps, kind="stable")
    return zip(first[order].tolist(), second[order].tolist(), strict=True)


def bounded_search(
    points: Array, k: int, *, axes: Axes, n_leading: int, n_jobs: int | None = None
) -> tuple[Array, Array]:
    """Indices and distances of the k nearest others of every sample."""
    n_samples = len(points)
    with limit_threads(1):
        margins = find_margins(axes, n_leading)
        shadows, unit = cast_shadows(points, axes, n_leading, n_jobs)
        near, squared = compare_all(shadows, margins, min(k + SPARE, n_samples - 1), n_jobs)
        few = shadows._replace(features=shadows.features[:0], further=shadows.further[:0])
        del shadows
        names, last = np.empty_like(near), np.empty(n_samples, np.float32)
        run_chunks(kernels.name_members, n_samples, n_jobs, few.members, near, squared, names, last)
        del near, squared
        found = empty_neighbors(n_samples, k, points.dtype)
        reach = _find_reach(few, margins, last, unit)
        if names.shape[1] == n_samples - 1:
            reach[:] = np.inf
        left = _keep_exactly(points, names, reach, found, n_jobs)
        del names
        if len(left):
            _settle(points, few, margins, unit, left, found, n_jobs)
    return found


def _find_reach(shadows: Shadows, margins: Margins, last: Array, unit: float) -> NDArray[np.float64]:
    """(n,) distance that all samples have which were not found: ``last`` is the largest squared one that was.

    One at distance d is at most |x| + d from the centre, so that its features were off by that many roundings.
    """
    length = np.empty(len(last))
    length[shadows.members] = np.sqrt(shadows.squares.astype(np.float64)) * (1 + 2.0**-8)
    reach = np.sqrt(np.maximum(last / (1 + margins.rough) - margins.least, 0)) - 4 * SINGLE * length - 2.0**-100
    return np.asarray(np.maximum(reach, 0) * (1 - 4 * SINGLE) * (1 - 2 * ROUNDING) / unit)


def _keep_exactly(points: Array, names: Array, reach: Array, found: tuple[Array, Array], n_jobs: int | None) -> Array:
    """Measure what was found and keep the k nearest; returns the rows for which others may be as near."""
    left = []
    for start in range(0, len(names), ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, len(names)))
        distances, settled = np.empty((len(rows), names.shape[1])), np.zeros(len(rows), np.bool_)
        measure_pairs(points, rows, names[rows], distances, n_jobs)
        round_distances(distances)
        run_chunks(search.keep_nearest, len(rows), n_jobs, rows, names[rows], distances, reach[rows], *found, settled)
        left.append(rows[~settled])
    return np.concatenate(left)


def _settle(
    points: Array, shadows: Shadows, margins: Margins, unit: float, left: Array, found: tuple[Array, Array],
    n_jobs: int | None,
) -> None:  # fmt: skip
    """Compare some rows, whose k-th distance is known up to ties and rounding, with all samples."""
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
