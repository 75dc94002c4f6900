"""Drawn data sets that are hard: clusters touch, crowd, fade into each other or are few points."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.suite.shapes import (
    Labelled,
    Points,
    arc,
    ball,
    box,
    curve,
    fill,
    gaussian,
    random_rotation,
    rotation,
    shell,
    spread_centers,
    stroke,
    together,
)


def diamonds(rng: Generator) -> Labelled:
    """Two squares on their corners, which touch with one of them."""
    squares = [box(rng, 400, (-1, -1), (1, 1)) @ rotation(0.125) for _ in range(2)]
    return together(squares[0], np.add(squares[1], [2 * np.sqrt(2), 0]))


def wings(rng: Generator) -> Labelled:
    """Two plates that get denser towards the narrow gap between them."""
    upper, lower = box(rng, 600, (0, 0), (3, 1)), box(rng, 600, (0, 0), (3, 1))
    upper[:, 1] **= 2
    lower[:, 1] **= 2
    return together(upper + np.array([0, 0.12]), lower * [1, -1] + np.array([1, -0.12]))


def cap_and_disc(rng: Generator) -> Labelled:
    """A fuzzy disc under a thick cap that nearly touches it."""
    disc = gaussian(rng, 170, (0, 0), (1.1, 0.8))
    return together(disc, arc(rng, 100, (0, -0.4), 3.0, (0.04, 0.46), 0.3))


def open_ring(rng: Generator) -> Labelled:
    """Two blobs in a ring that is open below; all three nearly touch."""
    ring = arc(rng, 130, (0, 0), 3.0, (-0.18, 0.68), 0.2)
    return together(ring, gaussian(rng, 100, (-1.2, 0), 0.45), gaussian(rng, 100, (1.2, 0), 0.45))


def fuzzy_x(rng: Generator) -> Labelled:
    """Four fuzzy arms and a middle."""
    arms = [
        gaussian(rng, 200, 3 * np.array([np.cos(t), np.sin(t)]), (1, 0.5), t / (2 * np.pi))
        for t in np.pi / 4 + np.arange(4) * np.pi / 2
    ]
    return together(gaussian(rng, 200, (0, 0), 0.45), *arms)


def company(rng: Generator) -> Labelled:
    """Seven groups of different size and shape, some joined by a few points."""
    joins = [stroke(rng, 4, [(0.5, 9.5), (3.2, 9.5)]), stroke(rng, 4, [(12, 2.5), (12, 4.6)])]
    bean = fill(rng, 250, (-3, 3), (3, 8), lambda p: _ellipse(p, (0, 4), 2.6, 2.6, (0, 2.5), 2))
    return together(
        bean,
        np.vstack([ball(rng, 90, (-0.8, 9.5), 1.1), joins[0][:2]]),
        np.vstack([ball(rng, 160, (5, 9.5), 1.7), joins[0][2:]]),
        np.vstack([ball(rng, 200, (12, 0.5), 2), joins[1][:2]]),
        np.vstack([ball(rng, 130, (12, 6.2), 1.6), joins[1][2:]]),
        ball(rng, 40, (6.5, 3.5), 0.8),
        ball(rng, 40, (8.7, 3.0), 0.8),
    )


def _ellipse(
    points: Points, center: tuple, width: float, height: float, hole: tuple, radius: float
) -> NDArray[np.bool_]:
    inside = (((points - center) / [width, height]) ** 2).sum(axis=1) < 1
    return inside & (np.linalg.norm(points - hole, axis=1) > radius)


def parabolas(rng: Generator, n: int, noise: float) -> Labelled:
    """Two parabolas, open towards each other and shifted so that an arm of each fits the other."""
    up = curve(rng, n, lambda t: (4 * t - 2, (4 * t - 2) ** 2), noise)
    down = curve(rng, n, lambda t: (4 * t, 5.2 - (4 * t - 2) ** 2), noise)
    return together(up, down)


def network(rng: Generator) -> Labelled:
    """Ten blobs joined by thin lines, each half line belongs to the blob it starts from."""
    centers = spread_centers(rng, 10, 2, 9.0)
    clouds = [[gaussian(rng, 220, center)] for center in centers]
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    for i, row in enumerate(np.argsort(distances, axis=1)):
        for j in row[1:3]:
            clouds[i].append(stroke(rng, 14, [centers[i], (centers[i] + centers[j]) / 2], 0.08))
    return together(*(np.vstack(cloud) for cloud in clouds))


def maze(rng: Generator) -> Labelled:
    """Five walls of a labyrinth."""
    walls = [
        [(0, 0), (10, 0), (10, 7), (3, 7), (3, 5)],
        [(0, 1.5), (0, 10), (10, 10), (10, 8.5)],
        [(1.5, 1.5), (8.5, 1.5), (8.5, 5.5), (6.5, 5.5)],
        [(1.5, 3), (1.5, 8.5), (8.5, 8.5)],
        [(3.2, 3.3), (6.8, 3.3), (5, 3.3), (5, 5.5)],
    ]
    return together(*(stroke(rng, n, w, 0.16) for n, w in zip((900, 900, 600, 500, 300), walls, strict=True)))


def panes(rng: Generator) -> Labelled:
    """A window of four frames with something small behind three of them."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
    places = [(0, 0), (2.6, 0), (0, 2.6), (2.6, 2.6)]
    frames = [stroke(rng, 400, corners + place, 0.06) for place in places]
    return together(*frames, *(gaussian(rng, 60, place, 0.2) for place in places[:3]))


def trajectories(rng: Generator) -> Labelled:
    """Four long paths that wind beside each other."""
    return together(
        *(
            curve(
                rng,
                900,
                lambda t, i=i: (
                    20 * t,
                    3 * np.sin(6 * t + 0.1 * i) + 1.5 * np.cos(11 * t) + 1.3 * i,
                ),
                0.12,
            )
            for i in range(4)
        )
    )


def splashes(rng: Generator) -> Labelled:
    """Two bursts of rays, dense in the middle, whose outer points mix."""

    def splash(center: tuple) -> Points:
        reach = rng.exponential(1.0, size=(300, 1))
        direction = 2 * np.pi * np.round(rng.random(300) * 12) / 12 + 0.08 * rng.normal(size=300)
        return np.array(center) + reach * np.column_stack([np.cos(direction), np.sin(direction)])

    return together(splash((0, 0)), splash((4, 1)))


def orbits(rng: Generator) -> Labelled:
    """Three noisy arcs that wind round a common centre at growing distance."""
    starts = (0.0, 0.33, 0.66)
    return together(*(curve(rng, 900, lambda t, s=s: _orbit(t, s), 0.12) for s in starts))


def _orbit(time: NDArray, start: float) -> tuple[NDArray, NDArray]:
    angle = 2 * np.pi * (start + 0.75 * time)
    return (1 + 2.2 * time) * np.cos(angle), (1 + 2.2 * time) * np.sin(angle)


def target(rng: Generator) -> Labelled:
    """A disc in a ring, and four groups of three points far away."""
    corners = [(-4, -4), (-4, 4), (4, -4), (4, 4)]
    far = [gaussian(rng, 3, corner, 0.1) for corner in corners]
    return together(ball(rng, 380, (0, 0), 0.8), shell(rng, 380, (0, 0), 2.2, 0.12), *far)


def ring_with_stragglers(rng: Generator) -> Labelled:
    """A ring round a disc, and three small groups outside."""
    places = [(4, 1), (-1, 4.5), (-4, -2)]
    few = [gaussian(rng, 10, place, 0.12) for place in places]
    return together(shell(rng, 600, (0, 0), 2.4, 0.15), ball(rng, 400, (0, 0), 0.9), *few)


def zigzag_with_stragglers(rng: Generator) -> Labelled:
    """Three zigzag pieces and two small groups above."""
    teeth = [[(i + 3 * j, (i + j) % 2 * 1.2) for i in range(3)] for j in range(3)]
    pieces = [stroke(rng, 120, np.add(t, [0.5 * j, 0]), 0.06) for j, t in enumerate(teeth)]
    return together(*pieces, *(gaussian(rng, 10, (x, 3), 0.1) for x in (2, 7)))


def bars_and_disc(rng: Generator, stragglers: int = 0) -> Labelled:
    """An L of two bars beside a disc, perhaps with some far-off points as a cluster."""
    clouds = [
        box(rng, 200, (0, 0), (4, 0.8)),
        box(rng, 100, (0, 1.2), (0.8, 4.5)),
        gaussian(rng, 100, (3, 3), 0.45),
    ]
    if stragglers:
        clouds.append(gaussian(rng, stragglers, (9, 8), 0.1))
    return together(*clouds)


def glyphs(rng: Generator) -> Labelled:
    """Six thick wound shapes, close to each other."""
    snake = curve(rng, 1300, lambda t: (8 * t, 1.6 * np.sin(8 * t)), 0.18)
    under = curve(rng, 1300, lambda t: (8 * t, 1.6 * np.sin(8 * t) - 2.2), 0.18)
    hook = stroke(rng, 1100, [(10, 3), (10, -3.2), (12.5, -3.2)], 0.22)
    inner = stroke(rng, 700, [(12, 2.8), (12, -1.6)], 0.22)
    disc, ring = ball(rng, 500, (15.5, 0), 0.7), shell(rng, 1100, (15.5, 0), 2.1, 0.18)
    return together(snake, under, hook, inner, disc, ring)


def word(rng: Generator) -> Labelled:
    """Four letters between two bars."""
    strokes = [
        [(0, 0), (0, 2), (0, 1), (1.2, 1), (1.2, 2), (1.2, 0)],
        [(2.2, 0), (2.8, 2), (3.4, 0)],
        [(5.4, 2), (4.4, 2), (4.4, 0), (5.4, 0)],
        [(6.4, 2), (6.4, 0), (6.4, 1), (7.4, 2), (6.4, 1), (7.4, 0)],
    ]
    bars = [stroke(rng, 700, [(-0.5, y), (8, y)], 0.09) for y in (-0.9, 2.9)]
    return together(*(stroke(rng, 700, s, 0.09) for s in strokes), *bars)


def bands(rng: Generator, pieces: int, gap: float) -> Labelled:
    """A slanted sheet of uniform points cut into bands."""
    band = [box(rng, 500, (0, i), (6, i + 1 - gap)) for i in range(pieces)]
    return together(*(b @ rotation(0.1) for b in band))


def lattice(rng: Generator) -> Labelled:
    """Three patches of a regular grid of points: all distances are equal."""
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    return together(grid, np.add(grid[:96], [15, 0]), np.add(grid[:60], [0, 15]))


def atom(rng: Generator) -> Labelled:
    """A very dense core in a thin, wide shell."""
    return together(ball(rng, 400, (0, 0, 0), 0.2), shell(rng, 400, (0, 0, 0), 2.5, 0.35))


def trapped(rng: Generator) -> Labelled:
    """A dense and a loose blob inside a hollow cylinder."""
    angle, height = 2 * np.pi * rng.random(2500), 6 * rng.random(2500) - 3
    wall = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), height])
    wall += 0.08 * rng.normal(size=wall.shape)
    return together(wall, gaussian(rng, 300, (0, 0, 1.3), 0.15), gaussian(rng, 300, (0, 0, -1), 0.4))


def composed_classes(rng: Generator, classes: int, parts: int, n: int, dimension: int, gap: float) -> Labelled:
    """Classes that are several blobs each, near each other, on a coarse grid of integers."""
    middles = spread_centers(rng, classes, dimension, gap)
    clouds = [
        np.vstack([gaussian(rng, n // parts, middle + 1.2 * rng.normal(size=dimension), 1.2) for _ in range(parts)])
        for middle in middles
    ]
    return together(*(np.round(cloud) for cloud in clouds))


def component_scores(rng: Generator, sizes: list[int], dimension: int, gap: float) -> Labelled:
    """Clusters in a few strong components, followed by weaker ones that are noise."""
    informative = len(sizes)
    centers = spread_centers(rng, len(sizes), informative, gap)
    fading = 1 / np.sqrt(1 + np.arange(dimension))
    clouds = []
    for n, center in zip(sizes, centers, strict=True):
        cloud = rng.normal(size=(n, dimension)) * fading
        cloud[:, :informative] += center * fading[:informative]
        clouds.append(cloud)
    return together(*clouds)


def curved_classes(rng: Generator, classes: int, n: int, dimension: int, inner: int, noise: float) -> Labelled:
    """Classes that are curved sheets of a common subspace: smooth maps of hidden variables."""
    basis = random_rotation(rng, dimension)[:12]
    shared = rng.normal(size=(inner, 12))
    clouds = []
    for _ in range(classes):
        slopes = shared + 0.7 * rng.normal(size=(inner, 12))
        hidden = rng.uniform(-1, 1, size=(n, inner))
        waves = np.sin(hidden @ slopes + rng.normal(size=12))
        clouds.append(waves @ basis + noise * rng.normal(size=(n, dimension)))
    return together(*clouds)
