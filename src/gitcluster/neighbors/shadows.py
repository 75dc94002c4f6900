"""Samples in some coordinates: what a lower bound on the distance of a pair is made of.

Samples are turned so that their first coordinates tell the most: axes are the principal ones of a sample of them. With
y the first m coordinates of x and r the length of the others,

    d(x, x')^2 >= ||y - y'||^2 + (r - r')^2.

How many coordinates to take depends on the data, so it is tried on a sample: :func:`sample_bounds`. What rounding can
add to a bound is told by :func:`find_margins`.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, reorder_rows
from gitcluster.kernels import bounds as kernels
from gitcluster.kernels import run_threads

AXES = 384
"""Axes that are found, at most."""
SAMPLE = 4096
"""Samples that the axes are found from."""
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
"""What one rounding changes, as a share."""
LEAST = 2.0**-110
"""More than what too small numbers of single precision lose, where the largest coordinate is near 1."""
FAR = 2.0**12
"""Samples are not looked at for axes where they are that many times as far out as most."""
LEADING = (16, 32, 64, 96, 128, 192, 256)
"""Numbers of coordinates that all pairs may be compared in."""
QUERIES = 64
"""Samples whose bounds are tried."""
ROWS_AT_ONCE = 1024
"""Samples that a thread turns at a time."""
ROOM = 1 << 26
"""Bytes of samples from which on their shadows are cast in their room."""
Again = Callable[[Array], Array]
"""Gives some of the samples again, by their places: what they were made from is still there."""


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
    """(n, m + 1) coordinates along the first axes, and the length of what they leave; ``features`` where these are so
    few that all of them are compared."""
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
    rows = sample.astype(np.float64)
    lengths = np.abs(rows - np.median(rows, axis=0)).max(axis=1)
    rows = rows[lengths <= FAR * np.median(lengths)]  # a few far out would leave the others no digits, nor any axis
    centre = rows.mean(axis=0)
    rows -= centre
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


def find_unit(points: Array, centre: Array) -> float:
    """The power of two that brings the largest coordinate between 1/2 and 1.

    Examples
    --------
    >>> find_unit(np.array([[1.0], [5.0]]), np.array([2.0]))
    0.25
    """
    largest = np.maximum(points.max(axis=0) - centre, centre - points.min(axis=0)).max()
    return float(2.0 ** min(1000, -int(np.frexp(largest)[1])))


def takes_room(points: Array, again: Again | None) -> bool:
    """Whether shadows are cast in the room of the samples, which are brought back afterwards: where these are as many
    bytes, so many that a second array would count."""
    return again is not None and points.dtype == np.float32 and points.nbytes > ROOM


def bring_back(points: Array, again: Again, n_jobs: int | None) -> None:
    """Write the samples where their shadows were."""

    def fill(start: int) -> None:
        points[start : start + ROWS_AT_ONCE] = again(np.arange(start, min(start + ROWS_AT_ONCE, len(points))))

    run_threads(fill, range(0, len(points), ROWS_AT_ONCE), n_jobs)


def cast_shadows(
    points: Array,
    axes: Axes,
    n_leading: int,
    *,
    parts: tuple[Array, Array],
    unit: float,
    n_jobs: int | None,
    overwrite: bool = False,
) -> Shadows:
    """Samples in single precision, in blocks: ``parts`` are these, sample by sample, and where each starts.

    They are not turned where all features are compared. With ``overwrite`` they take the place of ``points``.
    """
    n_samples, n_features = points.shape
    (centre, directions), whole = axes, n_leading == n_features
    n_further = 0 if whole else directions.shape[1] - n_leading
    members, starts = parts
    if overwrite:
        reorder_rows(points, members)
    features = points if overwrite else np.empty((n_samples, n_features), np.float32)
    leading = features if whole else np.empty((n_samples, n_leading + 1), np.float32)
    further = np.empty((n_samples, n_further + 1 if n_further else 0), np.float32)
    squares = np.empty(n_samples, np.float32)

    def fill(bounds: tuple[int, int]) -> None:
        here = slice(*bounds)
        some = (points[here if overwrite else members[here]].astype(np.float64) - centre) * unit
        features[here] = some
        if not whole:
            turned, left = some @ directions, row_squares(some)
            for part, coordinates in ((leading, turned[:, :n_leading]), (further, turned[:, n_leading:])):
                if part.shape[1]:
                    left = left - row_squares(coordinates)
                    part[here, :-1], part[here, -1] = coordinates, np.sqrt(np.maximum(left, 0))
        squares[here] = row_squares(leading[here].astype(np.float64))

    run_threads(fill, list(pairwise([*range(0, n_samples, ROWS_AT_ONCE), n_samples])), n_jobs)
    return Shadows(members, starts, leading, further, features, squares)


def row_squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared length of every row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def count_axes(n_leading: int, n_axes: int) -> int:
    """Axes to use if bounds take ``n_leading`` of them: three times as many, or no more if that is not many more.

    Examples
    --------
    >>> count_axes(128, 384), count_axes(96, 100)
    (384, 96)
    """
    wanted = min(3 * n_leading, n_axes)
    return wanted if wanted >= 1.5 * n_leading else n_leading


def bound_seconds(n_leading: int, share: float, compared: float = 1.0) -> float:
    """CPU seconds for a pair whose bound takes so many coordinates and is low enough for a share of all pairs, where
    another share of them is compared at all."""
    return compared * (3.1e-11 * (n_leading + 1) + 3e-10) + 1.8e-7 * share


def sample_bounds(sample: NDArray[np.float64], axes: Axes, rank: int) -> dict[int, float]:
    """Share of the pairs of a sample whose lower bound is below the distance of the ``rank``-th neighbour, by the
    number of coordinates that the bound takes."""
    sample = sample - axes.centre
    sample /= max(sample.max(), -sample.min()) or 1.0
    queries = sample[:QUERIES]
    turned = sample @ axes.directions
    squares = np.concatenate([(some**2).sum(axis=1) for some in np.array_split(sample, 8)])
    lengths = squares[: len(queries), None] + squares
    distances = lengths - 2 * queries @ sample.T
    reach = np.partition(distances, rank, axis=1)[:, rank, None]
    n_axes = turned.shape[1]
    shares = {}
    for m in sorted({m for m in LEADING if m < n_axes} | {min(n_axes, LEADING[-1])}):
        left = np.sqrt(np.maximum(squares - (turned[:, :m] ** 2).sum(axis=1), 0))
        bounds = lengths - 2 * (turned[: len(queries), :m] @ turned[:, :m].T + np.outer(left[: len(queries)], left))
        shares[m] = float((bounds <= reach + 1e-6 * lengths).mean())
    return shares
