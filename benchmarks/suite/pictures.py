"""Drawn data sets: letters, faces, puzzles, bridges, linked rings, put together from ``shapes``."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.suite.shapes import (
    Labelled,
    Points,
    arc,
    ball,
    box,
    curve,
    fill,
    gaussian,
    polygon,
    shell,
    stroke,
    together,
)


def letters_git(rng: Generator) -> Labelled:
    """The letters G, I and T."""
    g = np.vstack(
        [
            arc(rng, 450, (2, 2), 2, (0.13, 1.0), 0.08),
            stroke(rng, 120, [(4, 2), (2.3, 2)], 0.08),
        ]
    )
    i = stroke(rng, 250, [(5.5, 0), (5.5, 4)], 0.08)
    t = np.vstack(
        [
            stroke(rng, 250, [(8.5, 0), (8.5, 4)], 0.08),
            stroke(rng, 200, [(6.8, 4), (10.2, 4)], 0.08),
        ]
    )
    return together(g, i, t)


def letters_oxc(rng: Generator) -> Labelled:
    """The letters O, X and C, the C round a dot."""
    x = np.vstack(
        [
            stroke(rng, 250, [(3, -1.2), (5.4, 1.2)], 0.07),
            stroke(rng, 250, [(3, 1.2), (5.4, -1.2)], 0.07),
        ]
    )
    c = arc(rng, 400, (8, 0), 1.4, (0.1, 0.9), 0.07)
    return together(shell(rng, 450, (0.8, 0), 1.4, 0.08), x, c, gaussian(rng, 120, (8, 0), 0.2))


def cross_and_dots(rng: Generator) -> Labelled:
    """A plus sign with a blob in each of its four corners."""
    plus = np.vstack([stroke(rng, 350, [(-4, 0), (4, 0)], 0.12), stroke(rng, 350, [(0, -4), (0, 4)], 0.12)])
    corners = [(2.2, 2.2), (-2.2, 2.2), (2.2, -2.2), (-2.2, -2.2)]
    return together(plus, *(gaussian(rng, 150, corner, 0.4) for corner in corners))


def t_and_bars(rng: Generator) -> Labelled:
    """A thick T between two bars."""
    t = np.vstack([box(rng, 500, (-3, 3), (3, 4)), box(rng, 400, (-0.5, -2), (0.5, 3))])
    return together(t, box(rng, 300, (-2.6, -2), (-1.4, 2.2)), box(rng, 300, (1.4, -2), (2.6, 2.2)))


def frame(rng: Generator, n: int, half: float) -> Points:
    """Outline of a square."""
    corners = [(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)]
    return stroke(rng, n, corners, 0.07)


def interlocked(rng: Generator) -> Labelled:
    """Two thick hooks that reach into each other."""
    hook = [(0, 0), (5, 0), (5, 4), (4, 4), (4, 1), (1, 1), (1, 3), (0, 3)]
    first = polygon(rng, 900, hook)
    second = np.array([6.5, 5.5]) - polygon(rng, 900, hook)
    return together(first, second)


def jigsaw(rng: Generator, n: int, pieces: int, gap: float) -> Labelled:
    """A square cut into ``pieces`` x ``pieces`` parts along wavy lines that leave a narrow gap."""

    def bent(points: Points) -> Points:
        swing = 0.16 * np.sin(2 * np.pi * points[:, ::-1] + [0.0, 1.0])
        return points + swing * np.sin(np.pi * points / pieces)

    def inside(points: Points) -> np.ndarray:
        return (np.abs(bent(points) - np.round(bent(points))) > gap).all(axis=1)

    cloud = fill(rng, n, (0, 0), (pieces, pieces), inside)
    cell = np.clip(np.floor(bent(cloud)).astype(int), 0, pieces - 1)
    return cloud, cell[:, 0] * pieces + cell[:, 1]


def eater(rng: Generator) -> Labelled:
    """A disc with an open mouth, three dots on their way into it."""

    def mouth_shut(points: Points) -> np.ndarray:
        angle = np.abs(np.arctan2(points[:, 1], points[:, 0]))
        return (np.linalg.norm(points, axis=1) < 2) & (angle > 0.6)

    dots = [ball(rng, 100, (x, 0), 0.3) for x in (1.3, 2.6, 3.9)]
    return together(fill(rng, 1200, (-2, -2), (2, 2), mouth_shut), *dots)


def bridged_discs(rng: Generator) -> Labelled:
    """Two discs joined by a thin line of points, each half of it belongs to the nearer disc."""
    left = np.vstack([ball(rng, 500), stroke(rng, 15, [(1, 0), (2, 0)], 0.03)])
    right = np.vstack([ball(rng, 500, (4, 0)), stroke(rng, 15, [(2, 0), (3, 0)], 0.03)])
    return together(left, right)


def bridged_blobs(rng: Generator) -> Labelled:
    """Three normal blobs in a row joined by chains of points."""
    chains = [stroke(rng, 12, [(a, 0), (a + 3, 0)], 0.05) for a in (1.5, 4.5, 10.5, 13.5)]
    return together(
        np.vstack([gaussian(rng, 300, (0, 0), 0.9), chains[0]]),
        np.vstack([gaussian(rng, 300, (9, 0), 0.9), chains[1][chains[1][:, 0] > 4.5], chains[2]]),
        np.vstack([gaussian(rng, 300, (18, 0), 0.9), chains[3]]),
    )


def bridged_squares(rng: Generator) -> Labelled:
    """Three squares joined by narrow corridors of the same density."""
    squares = [box(rng, 600, (4 * i, 0), (4 * i + 3, 3)) for i in range(3)]
    halves = [box(rng, 12, (3 + 0.5 * i + 3 * (i // 2), 1.4), (3.5 + 0.5 * i + 3 * (i // 2), 1.6)) for i in range(4)]
    return together(
        np.vstack([squares[0], halves[0]]),
        np.vstack([squares[1], halves[1], halves[2]]),
        np.vstack([squares[2], halves[3]]),
    )


def smile(rng: Generator) -> Labelled:
    """Outline of a head, two eyes and a mouth."""
    return together(
        shell(rng, 700, (0, 0), 4, 0.1),
        gaussian(rng, 120, (-1.4, 1.3), 0.25),
        gaussian(rng, 120, (1.4, 1.3), 0.25),
        arc(rng, 250, (0, 0), 2.3, (0.58, 0.92), 0.1),
    )


def face(rng: Generator) -> Labelled:
    """Eyes with brows, a triangular nose and a mouth, without an outline."""
    return together(
        ball(rng, 200, (-2, 1), 0.6),
        ball(rng, 200, (2, 1), 0.6),
        stroke(rng, 120, [(-3, 2.4), (-1, 2.8)], 0.08),
        stroke(rng, 120, [(3, 2.4), (1, 2.8)], 0.08),
        polygon(rng, 150, [(-0.6, -1), (0.6, -1), (0, 0.6)]),
        arc(rng, 400, (0, 0), 3, (0.6, 0.9), 0.15),
    )


def flower(rng: Generator) -> Labelled:
    """A dense heart and six petals on a stalk."""
    angles = 2 * np.pi * np.arange(6) / 6 + np.pi / 6
    petals = [gaussian(rng, 250, 2.6 * np.array([np.cos(t), np.sin(t)]), (0.65, 0.3), t / (2 * np.pi)) for t in angles]
    stalk = curve(rng, 200, lambda t: (0.4 * np.sin(5 * t), -4.6 - 4 * t), 0.06)
    return together(ball(rng, 350, (0, 0), 0.6), *petals, stalk)


def landscape(rng: Generator) -> Labelled:
    """A sun, a cloud, a hill line and two trees."""
    cloud = np.vstack([ball(rng, 250, (x, 7.5), r) for x, r in [(-4, 0.8), (-2.9, 1.1), (-1.8, 0.8)]])
    hills = curve(rng, 700, lambda t: (16 * t - 8, np.sin(16 * t) * 0.8), 0.1)
    trees = [polygon(rng, 250, [(x - 1, 2.0), (x + 1, 2.0), (x, 5.0)]) for x in (0, 4)]
    return together(ball(rng, 400, (5, 8), 1.0), cloud, hills, *trees)


def compound(rng: Generator) -> Labelled:
    """Uneven company: a dense disc in a sparse cloud, two blobs that touch, a ring round a dot."""
    sparse = fill(rng, 150, (8, 0), (14, 6), lambda p: np.linalg.norm(p - [11, 3], axis=1) > 1.0)
    return together(
        ball(rng, 250, (11, 3), 0.9),
        sparse,
        gaussian(rng, 150, (1, 5), 0.5),
        gaussian(rng, 150, (3, 5), 0.5),
        shell(rng, 200, (2, 1), 1.6, 0.1),
        gaussian(rng, 80, (2, 1), 0.2),
    )


def signs(rng: Generator) -> Labelled:
    """A ring, a bar, a square and an arc."""
    return together(
        shell(rng, 400, (0, 0), 1.5, 0.08),
        stroke(rng, 300, [(3, -2), (3, 2)], 0.1),
        box(rng, 400, (4.5, -1), (6.5, 1)),
        arc(rng, 400, (3, 1), 4, (0.05, 0.45), 0.1),
    )


def chain(rng: Generator, links: int, n: int, noise: float) -> Labelled:
    """Rings in space, each linked with the next."""
    clouds = []
    for link in range(links):
        ring = np.insert(arc(rng, n), 1 + link % 2, 0.0, axis=1)
        clouds.append(ring + [1.3 * link, 0, 0] + noise * rng.normal(size=(n, 3)))
    return together(*clouds)


def cut_roll(rng: Generator) -> Labelled:
    """A rolled-up sheet cut in three along its length."""

    def piece(low: float, high: float) -> Points:
        time = rng.uniform(low, high, size=600)
        return np.column_stack([time * np.cos(time), 12 * rng.random(600), time * np.sin(time)])

    return together(
        *(piece(low, high) + 0.15 * rng.normal(size=(600, 3)) for low, high in [(4.7, 8.0), (8.5, 10.8), (11.2, 13.2)])
    )


def hemispheres(rng: Generator) -> Labelled:
    """A half shell turned down over a smaller one turned up, which reaches into it."""
    cap, bowl = shell(rng, 1800, (0, 0, 0), 1, 0.04), shell(rng, 800, (0, 0, 0), 0.55, 0.04)
    return together(cap[cap[:, 2] > 0], bowl[bowl[:, 2] < 0] + [0, 0, 0.35])
