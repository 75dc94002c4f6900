"""Point clouds, and the labelled sets that are composed of them.

Every cloud takes a ``numpy.random.Generator`` and its number of points first and returns an array of shape (n, d).
Angles are in turns (1 = 360 degrees). ``stack`` turns clouds into a labelled set: one cloud, one label. Stored results
depend on the order in which random numbers are drawn, so clouds are not always drawn in the order of their labels.
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


def stack(*clouds: Points | list[Points]) -> Labelled:
    """Stack clouds and label every point with the number of its cloud; a list of clouds counts as one cloud."""
    whole = [np.vstack(cloud) if isinstance(cloud, list) else cloud for cloud in clouds]
    return np.vstack(whole), np.repeat(np.arange(len(whole)), [len(cloud) for cloud in whole])


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


def bridged_blobs(rng: Generator) -> Labelled:
    """Return three normal blobs in a row joined by chains of points."""
    chains = [stroke(rng, 12, [(a, 0), (a + 3, 0)], 0.05) for a in (1.5, 4.5, 10.5, 13.5)]
    return stack(
        [gaussian(rng, 300, (0, 0), 0.9), chains[0]],
        [gaussian(rng, 300, (9, 0), 0.9), chains[1][chains[1][:, 0] > 4.5], chains[2]],
        [gaussian(rng, 300, (18, 0), 0.9), chains[3]],
    )


def bridged_squares(rng: Generator) -> Labelled:
    """Return three squares joined by narrow corridors of the same density."""
    squares = [box(rng, 600, (4 * i, 0), (4 * i + 3, 3)) for i in range(3)]
    halves = [box(rng, 12, (3 + 0.5 * i + 3 * (i // 2), 1.4), (3.5 + 0.5 * i + 3 * (i // 2), 1.6)) for i in range(4)]
    return stack(
        [squares[0], halves[0]],
        [squares[1], halves[1], halves[2]],
        [squares[2], halves[3]],
    )


def compound(rng: Generator) -> Labelled:
    """Return an uneven company: a dense disc in a sparse cloud, two blobs that touch, a ring round a dot."""
    sparse = fill(rng, 150, (8, 0), (14, 6), lambda p: np.linalg.norm(p - [11, 3], axis=1) > 1.0)
    return stack(
        ball(rng, 250, (11, 3), 0.9),
        sparse,
        gaussian(rng, 150, (1, 5), 0.5),
        gaussian(rng, 150, (3, 5), 0.5),
        shell(rng, 200, (2, 1), 1.6, 0.1),
        gaussian(rng, 80, (2, 1), 0.2),
    )


def chain(rng: Generator, links: int, n: int, noise: float) -> Labelled:
    """Return rings in space, each linked with the next."""
    clouds = []
    for link in range(links):
        ring = np.insert(arc(rng, n), 1 + link % 2, 0.0, axis=1)
        clouds.append(ring + [1.3 * link, 0, 0] + noise * rng.normal(size=(n, 3)))
    return stack(*clouds)


def wings(rng: Generator) -> Labelled:
    """Return two plates that get denser towards the narrow gap between them."""
    upper, lower = box(rng, 600, (0, 0), (3, 1)), box(rng, 600, (0, 0), (3, 1))
    upper[:, 1] **= 2
    lower[:, 1] **= 2
    return stack(upper + np.array([0, 0.12]), lower * [1, -1] + np.array([1, -0.12]))


def parabolas(rng: Generator, n: int, noise: float) -> Labelled:
    """Return two parabolas, open towards each other and shifted so that an arm of each fits the other."""
    up = curve(rng, n, lambda t: (4 * t - 2, (4 * t - 2) ** 2), noise)
    down = curve(rng, n, lambda t: (4 * t, 5.2 - (4 * t - 2) ** 2), noise)
    return stack(up, down)


def target(rng: Generator) -> Labelled:
    """Return a disc in a ring, and four groups of three points far away."""
    corners = [(-4, -4), (-4, 4), (4, -4), (4, 4)]
    far = [gaussian(rng, 3, corner, 0.1) for corner in corners]
    return stack(ball(rng, 380, (0, 0), 0.8), shell(rng, 380, (0, 0), 2.2, 0.12), *far)


def ring_with_stragglers(rng: Generator) -> Labelled:
    """Return a ring round a disc, and three small groups outside."""
    points = [(4, 1), (-1, 4.5), (-4, -2)]
    few = [gaussian(rng, 10, point, 0.12) for point in points]
    return stack(shell(rng, 600, (0, 0), 2.4, 0.15), ball(rng, 400, (0, 0), 0.9), *few)


def zigzag_with_stragglers(rng: Generator) -> Labelled:
    """Return three zigzag pieces and two small groups above."""
    teeth = [[(i + 3 * j, (i + j) % 2 * 1.2) for i in range(3)] for j in range(3)]
    pieces = [stroke(rng, 120, np.add(t, [0.5 * j, 0]), 0.06) for j, t in enumerate(teeth)]
    return stack(*pieces, *(gaussian(rng, 10, (x, 3), 0.1) for x in (2, 7)))
