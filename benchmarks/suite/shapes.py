"""Point clouds from which the generated data sets are composed.

Every cloud takes a ``numpy.random.Generator`` and its number of points first and returns an array
of shape (n, d). Angles are in turns (1 = 360 degrees). ``stack`` turns clouds into a labelled
set: one cloud, one label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]
Labels = NDArray[np.int64]
Labelled = tuple[Points, Labels]
NOT_SCORED = -1


def stack(*clouds: Points) -> Labelled:
    """Stack clouds and label every point with the number of its cloud."""
    labels = np.repeat(np.arange(len(clouds)), [len(cloud) for cloud in clouds])
    return np.vstack(clouds), labels


def gaussian(rng: Generator, n: int, center: ArrayLike = (0, 0), sd: ArrayLike = 1.0, turn: float = 0.0) -> Points:
    """Return a normal cloud with one deviation or one for each axis; ``turn`` rotates its first two axes."""
    middle = np.asarray(center, dtype=float)
    cloud = rng.normal(size=(n, middle.size)) * np.asarray(sd, dtype=float)
    cloud[:, :2] = cloud[:, :2] @ rotation(turn).T
    return middle + cloud


def rotation(turn: float) -> Points:
    """Return the matrix of the plane rotation by ``turn``."""
    cosine, sine = np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)
    return np.array([[cosine, -sine], [sine, cosine]])


def random_rotation(rng: Generator, dimension: int) -> Points:
    """Return a random orthogonal matrix."""
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]


def shell(rng: Generator, n: int, center: ArrayLike = (0, 0), radius: float = 1.0, noise: float = 0.0) -> Points:
    """Return points on a circle, sphere or hypersphere."""
    middle = np.asarray(center, dtype=float)
    direction = rng.normal(size=(n, middle.size))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return middle + direction * (radius + noise * rng.normal(size=(n, 1)))


def ball(rng: Generator, n: int, center: ArrayLike = (0, 0), radius: float = 1.0) -> Points:
    """Return points uniform in a disc or ball."""
    middle = np.asarray(center, dtype=float)
    depth = rng.random((n, 1)) ** (1 / middle.size)
    return middle + (shell(rng, n, np.zeros(middle.size)) * depth * radius)


def box(rng: Generator, n: int, low: ArrayLike, high: ArrayLike) -> Points:
    """Return points uniform in a rectangle or cuboid."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return rng.uniform(low, high, size=(n, low.size))


def fill(rng: Generator, n: int, low: ArrayLike, high: ArrayLike, inside: Callable[[Points], NDArray]) -> Points:
    """Return points uniform in the part of a box in which ``inside`` holds."""
    cloud = np.empty((0, np.size(low)))
    while len(cloud) < n:
        candidates = box(rng, 2 * n, low, high)
        cloud = np.vstack([cloud, candidates[inside(candidates)]])
    return cloud[:n]


def polygon(rng: Generator, n: int, corners: ArrayLike) -> Points:
    """Return points uniform in a simple polygon."""
    vertices = np.asarray(corners, dtype=float)

    def inside(points: Points) -> NDArray:
        odd = np.zeros(len(points), dtype=bool)
        for (x1, y1), (x2, y2) in zip(vertices, np.roll(vertices, -1, axis=0), strict=True):
            if y1 != y2:
                crossing = x1 + (points[:, 1] - y1) * (x2 - x1) / (y2 - y1)
                odd ^= ((points[:, 1] > y1) != (points[:, 1] > y2)) & (points[:, 0] < crossing)
        return odd

    return fill(rng, n, vertices.min(axis=0), vertices.max(axis=0), inside)


def annulus(rng: Generator, n: int, center: ArrayLike = (0, 0), inner: float = 1.0, outer: float = 2.0) -> Points:
    """Return points uniform between two circles."""
    radius = np.sqrt(rng.uniform(inner**2, outer**2, size=(n, 1)))
    return np.asarray(center, dtype=float) + shell(rng, n) * radius


def arc(
    rng: Generator,
    n: int,
    center: ArrayLike = (0, 0),
    radius: float = 1.0,
    turns: tuple[float, float] = (0.0, 1.0),
    noise: float = 0.0,
) -> Points:
    """Return a part of a circle between two angles."""
    angle = 2 * np.pi * rng.uniform(*turns, size=n)
    curve = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(center, dtype=float) + curve + noise * rng.normal(size=(n, 2))


def stroke(rng: Generator, n: int, corners: ArrayLike, noise: float = 0.0) -> Points:
    """Return a broken line through ``corners``, evenly covered along its length, in any dimension."""
    vertices = np.asarray(corners, dtype=float)
    lengths = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    position = rng.uniform(0, ends[-1], size=n)
    curve = np.column_stack([np.interp(position, ends, axis) for axis in vertices.T])
    return curve + noise * rng.normal(size=curve.shape)


def curve(rng: Generator, n: int, path: Callable[[NDArray], Sequence[NDArray]], noise: float = 0.0) -> Points:
    """Return a parametric curve or sheet edge: ``path`` maps times in 0..1 to coordinates."""
    points = np.column_stack(path(rng.random(n)))
    return points + noise * rng.normal(size=points.shape)


def spiral(rng: Generator, n: int, turns: float, phase: float, noise: float = 0.0, evenness: float = 0.5) -> Points:
    """Return an arm that winds ``turns`` times to radius 1; ``evenness`` above 1/2 thins its end."""
    time = 0.12 + 0.88 * rng.random(n) ** evenness
    angle = 2 * np.pi * (turns * time + phase)
    points = time[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return points + noise * rng.normal(size=points.shape)


def spread_centers(rng: Generator, count: int, dimension: int, gap: float) -> Points:
    """Return random points at least ``gap`` from each other, packed about as close as chance allows."""
    side = gap * 1.5 * count ** (1 / dimension) if dimension < 8 else gap
    centers: list[Points] = []
    misses = 0
    while len(centers) < count:
        center = rng.uniform(0, side, size=dimension)
        if all(np.linalg.norm(center - other) >= gap for other in centers):
            centers.append(center)
        else:
            misses += 1
            side *= 1.05 if misses % 200 == 0 else 1.0
    return np.array(centers)


def blobs(
    rng: Generator,
    sizes: Sequence[int],
    gap: float,
    dimension: int = 2,
    sds: ArrayLike = 1.0,
) -> Labelled:
    """Return normal clouds of given sizes and deviations with centers at least ``gap`` from each other."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    deviations = np.broadcast_to(np.asarray(sds, dtype=float), (len(sizes),))
    clouds = zip(sizes, centers, deviations, strict=True)
    return stack(*(gaussian(rng, n, center, sd) for n, center, sd in clouds))


def mixture(rng: Generator, sizes: Sequence[int], gap: float, dimension: int, stretch: float) -> Labelled:
    """Return normal clouds, each turned at random, whose axes have deviations from 1/stretch to 1."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    axes = [rng.uniform(1 / stretch, 1, dimension) for _ in sizes]
    turned = [
        (rng.normal(size=(n, dimension)) * axis) @ random_rotation(rng, dimension)
        for n, axis in zip(sizes, axes, strict=True)
    ]
    return stack(*(cloud + center for cloud, center in zip(turned, centers, strict=True)))


def with_background(rng: Generator, labelled: Labelled, share: float) -> Labelled:
    """Add uniform noise over the bounding box, ``share`` of the points, labelled as not scored."""
    points, labels = labelled
    extra = int(share * len(points))
    margin = 0.08 * np.ptp(points, axis=0)
    noise = box(rng, extra, points.min(axis=0) - margin, points.max(axis=0) + margin)
    return np.vstack([points, noise]), np.concatenate([labels, np.full(extra, NOT_SCORED)])


def with_noise_features(rng: Generator, labelled: Labelled, count: int) -> Labelled:
    """Add features that carry nothing."""
    points, labels = labelled
    return np.hstack([points, rng.normal(size=(len(points), count))]), labels


def rounded(labelled: Labelled, step: float) -> Labelled:
    """Round coordinates to multiples of ``step``, which makes duplicates and ties."""
    return np.round(labelled[0] / step) * step, labelled[1]


def rescaled(labelled: Labelled, units: ArrayLike) -> Labelled:
    """Give every feature its own unit."""
    return labelled[0] * np.asarray(units, dtype=float), labelled[1]


def relabelled(labelled: Labelled, groups: ArrayLike) -> Labelled:
    """Replace label i by ``groups[i]``."""
    return labelled[0], np.asarray(groups)[labelled[1]]


def lifted(rng: Generator, labelled: Labelled, dimension: int, noise: float = 0.0) -> Labelled:
    """Turn low-dimensional points at random into a space of more dimensions."""
    points, labels = labelled
    basis = random_rotation(rng, dimension)[: points.shape[1]]
    high = points @ basis
    return high + noise * rng.normal(size=high.shape), labels


def grid(rng: Generator, sizes: list[int], columns: int, pitch: float, jitter: float = 0.0) -> Labelled:
    """Return blobs of deviation 1 on a square grid."""
    cells = [divmod(i, columns) for i in range(len(sizes))]
    centers = pitch * np.array(cells) + jitter * rng.uniform(-1, 1, (len(sizes), 2))
    return stack(*(gaussian(rng, n, c) for n, c in zip(sizes, centers, strict=True)))


def moons(rng: Generator, sizes: tuple[int, int], noise: float) -> Labelled:
    """Return two interleaved half circles."""
    return stack(
        arc(rng, sizes[0], turns=(0, 0.5), noise=noise),
        arc(rng, sizes[1], (1, 0.5), turns=(0.5, 1), noise=noise),
    )


def rings(rng: Generator, sizes: list[int], radii: list[float], noise: float) -> Labelled:
    """Return concentric circles."""
    return stack(*(shell(rng, n, (0, 0), r, noise) for n, r in zip(sizes, radii, strict=True)))


def spirals(rng: Generator, arms: int, n: int, turns: float, noise: float, evenness: float = 0.5) -> Labelled:
    """Return interleaved spiral arms of n points each."""
    return stack(*(spiral(rng, n, turns, arm / arms, noise, evenness) for arm in range(arms)))


def stripes(rng: Generator, sizes: list[int], gap: float, noise: float, length: float = 10) -> Labelled:
    """Return parallel line segments, one above the other."""
    return stack(*(stroke(rng, n, [(0, i * gap), (length, i * gap)], noise) for i, n in enumerate(sizes)))


def student(rng: Generator, sizes: list[int], gap: float, dimension: int, freedom: float) -> Labelled:
    """Return clouds with heavy tails (multivariate Student t)."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    tails = [np.sqrt(freedom / rng.chisquare(freedom, size=(n, 1))) for n in sizes]
    return stack(*(c + rng.normal(size=(len(t), dimension)) * t for c, t in zip(centers, tails, strict=True)))


def subspaces(rng: Generator, sizes: list[int], dimension: int, inner: int, gap: float) -> Labelled:
    """Return clusters that are flat: each lies near its own random subspace of ``inner`` dimensions."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    flat = [stack(rng.normal(size=(n, inner))) for n in sizes]
    clouds = [lifted(rng, cloud, dimension, noise=0.1)[0] for cloud in flat]
    return stack(*(cloud + center for cloud, center in zip(clouds, centers, strict=True)))


def families(rng: Generator, n: int, outer: int, inner: int, reach: float, dimension: int = 2) -> Labelled:
    """Return clusters of clusters: ``outer`` groups of ``inner`` blobs of n points each."""
    middles = spread_centers(rng, outer, dimension, reach)
    centers = [m + spread_centers(rng, inner, dimension, 6.0) for m in middles]
    return stack(*(gaussian(rng, n, c) for c in np.vstack(centers)))


def profiles(rng: Generator, sizes: list[int], dimension: int, flip: float) -> Labelled:
    """Return binary questionnaires: every cluster has its pattern, answers are flipped by chance."""
    patterns = rng.integers(0, 2, size=(len(sizes), dimension))
    answers = [p ^ (rng.random((n, dimension)) < flip) for n, p in zip(sizes, patterns, strict=True)]
    return stack(*(np.asarray(a, dtype=float) for a in answers))


def counts(rng: Generator, sizes: list[int], dimension: int) -> Labelled:
    """Return Poisson counts whose rates differ between clusters."""
    rates = rng.choice([2.0, 8.0, 20.0], size=(len(sizes), dimension))
    clouds = [rng.poisson(r, size=(n, dimension)) for n, r in zip(sizes, rates, strict=True)]
    return stack(*(cloud.astype(float) for cloud in clouds))


def log_normal(rng: Generator, sizes: list[int]) -> Labelled:
    """Return skewed clouds with a long tail to the right."""
    corners = [(0, 0), (7, 1), (2, 7)]
    clouds = zip(sizes, corners, strict=True)
    return stack(*(np.array(c) + rng.lognormal(-0.3, 0.6, (n, 2)) for n, c in clouds))
