"""Drawn data sets, composed of ``shapes``: letters, faces, bridges, clusters that touch, crowd or wind."""

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
    polygon,
    rotation,
    shell,
    spread_centers,
    stack,
    stroke,
)


def letters_git(rng: Generator) -> Labelled:
    """Return the letters G, I and T."""
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
    return stack(g, i, t)


def letters_oxc(rng: Generator) -> Labelled:
    """Return the letters O, X and C, the C round a dot."""
    x = np.vstack(
        [
            stroke(rng, 250, [(3, -1.2), (5.4, 1.2)], 0.07),
            stroke(rng, 250, [(3, 1.2), (5.4, -1.2)], 0.07),
        ]
    )
    c = arc(rng, 400, (8, 0), 1.4, (0.1, 0.9), 0.07)
    return stack(shell(rng, 450, (0.8, 0), 1.4, 0.08), x, c, gaussian(rng, 120, (8, 0), 0.2))


def cross_and_dots(rng: Generator) -> Labelled:
    """Return a plus sign with a blob in each of its four corners."""
    plus = np.vstack([stroke(rng, 350, [(-4, 0), (4, 0)], 0.12), stroke(rng, 350, [(0, -4), (0, 4)], 0.12)])
    corners = [(2.2, 2.2), (-2.2, 2.2), (2.2, -2.2), (-2.2, -2.2)]
    return stack(plus, *(gaussian(rng, 150, corner, 0.4) for corner in corners))


def t_and_bars(rng: Generator) -> Labelled:
    """Return a thick T between two bars."""
    t = np.vstack([box(rng, 500, (-3, 3), (3, 4)), box(rng, 400, (-0.5, -2), (0.5, 3))])
    return stack(t, box(rng, 300, (-2.6, -2), (-1.4, 2.2)), box(rng, 300, (1.4, -2), (2.6, 2.2)))


def frame(rng: Generator, n: int, half: float) -> Points:
    """Return the outline of a square."""
    corners = [(-half, -half), (half, -half), (half, half), (-half, half), (-half, -half)]
    return stroke(rng, n, corners, 0.07)


def interlocked(rng: Generator) -> Labelled:
    """Return two thick hooks that reach into each other."""
    hook = [(0, 0), (5, 0), (5, 4), (4, 4), (4, 1), (1, 1), (1, 3), (0, 3)]
    first = polygon(rng, 900, hook)
    second = np.array([6.5, 5.5]) - polygon(rng, 900, hook)
    return stack(first, second)


def jigsaw(rng: Generator, n: int, pieces: int, gap: float) -> Labelled:
    """Return a square cut into ``pieces`` x ``pieces`` parts along wavy lines that leave a narrow gap."""

    def bent(points: Points) -> Points:
        swing = 0.16 * np.sin(2 * np.pi * points[:, ::-1] + [0.0, 1.0])
        return points + swing * np.sin(np.pi * points / pieces)

    def inside(points: Points) -> np.ndarray:
        return (np.abs(bent(points) - np.round(bent(points))) > gap).all(axis=1)

    cloud = fill(rng, n, (0, 0), (pieces, pieces), inside)
    cell = np.clip(np.floor(bent(cloud)).astype(int), 0, pieces - 1)
    return cloud, cell[:, 0] * pieces + cell[:, 1]


def eater(rng: Generator) -> Labelled:
    """Return a disc with an open mouth, three dots in front of it."""

    def mouth_shut(points: Points) -> np.ndarray:
        angle = np.abs(np.arctan2(points[:, 1], points[:, 0]))
        return (np.linalg.norm(points, axis=1) < 2) & (angle > 0.6)

    dots = [ball(rng, 100, (x, 0), 0.3) for x in (1.3, 2.6, 3.9)]
    return stack(fill(rng, 1200, (-2, -2), (2, 2), mouth_shut), *dots)


def bridged_discs(rng: Generator) -> Labelled:
    """Return two discs joined by a thin line of points, each half of it belongs to the nearer disc."""
    left = np.vstack([ball(rng, 500), stroke(rng, 15, [(1, 0), (2, 0)], 0.03)])
    right = np.vstack([ball(rng, 500, (4, 0)), stroke(rng, 15, [(2, 0), (3, 0)], 0.03)])
    return stack(left, right)


def bridged_blobs(rng: Generator) -> Labelled:
    """Return three normal blobs in a row joined by chains of points."""
    chains = [stroke(rng, 12, [(a, 0), (a + 3, 0)], 0.05) for a in (1.5, 4.5, 10.5, 13.5)]
    return stack(
        np.vstack([gaussian(rng, 300, (0, 0), 0.9), chains[0]]),
        np.vstack([gaussian(rng, 300, (9, 0), 0.9), chains[1][chains[1][:, 0] > 4.5], chains[2]]),
        np.vstack([gaussian(rng, 300, (18, 0), 0.9), chains[3]]),
    )


def bridged_squares(rng: Generator) -> Labelled:
    """Return three squares joined by narrow corridors of the same density."""
    squares = [box(rng, 600, (4 * i, 0), (4 * i + 3, 3)) for i in range(3)]
    halves = [box(rng, 12, (3 + 0.5 * i + 3 * (i // 2), 1.4), (3.5 + 0.5 * i + 3 * (i // 2), 1.6)) for i in range(4)]
    return stack(
        np.vstack([squares[0], halves[0]]),
        np.vstack([squares[1], halves[1], halves[2]]),
        np.vstack([squares[2], halves[3]]),
    )


def smile(rng: Generator) -> Labelled:
    """Return the outline of a head, two eyes and a mouth."""
    return stack(
        shell(rng, 700, (0, 0), 4, 0.1),
        gaussian(rng, 120, (-1.4, 1.3), 0.25),
        gaussian(rng, 120, (1.4, 1.3), 0.25),
        arc(rng, 250, (0, 0), 2.3, (0.58, 0.92), 0.1),
    )


def face(rng: Generator) -> Labelled:
    """Return eyes with brows, a triangular nose and a mouth, without an outline."""
    return stack(
        ball(rng, 200, (-2, 1), 0.6),
        ball(rng, 200, (2, 1), 0.6),
        stroke(rng, 120, [(-3, 2.4), (-1, 2.8)], 0.08),
        stroke(rng, 120, [(3, 2.4), (1, 2.8)], 0.08),
        polygon(rng, 150, [(-0.6, -1), (0.6, -1), (0, 0.6)]),
        arc(rng, 400, (0, 0), 3, (0.6, 0.9), 0.15),
    )


def flower(rng: Generator) -> Labelled:
    """Return a dense heart and six petals on a stalk."""
    angles = 2 * np.pi * np.arange(6) / 6 + np.pi / 6
    petals = [gaussian(rng, 250, 2.6 * np.array([np.cos(t), np.sin(t)]), (0.65, 0.3), t / (2 * np.pi)) for t in angles]
    stalk = curve(rng, 200, lambda t: (0.4 * np.sin(5 * t), -4.6 - 4 * t), 0.06)
    return stack(ball(rng, 350, (0, 0), 0.6), *petals, stalk)


def landscape(rng: Generator) -> Labelled:
    """Return a sun, a cloud, a hill line and two trees."""
    cloud = np.vstack([ball(rng, 250, (x, 7.5), r) for x, r in [(-4, 0.8), (-2.9, 1.1), (-1.8, 0.8)]])
    hills = curve(rng, 700, lambda t: (16 * t - 8, np.sin(16 * t) * 0.8), 0.1)
    trees = [polygon(rng, 250, [(x - 1, 2.0), (x + 1, 2.0), (x, 5.0)]) for x in (0, 4)]
    return stack(ball(rng, 400, (5, 8), 1.0), cloud, hills, *trees)


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


def signs(rng: Generator) -> Labelled:
    """Return a ring, a bar, a square and an arc."""
    return stack(
        shell(rng, 400, (0, 0), 1.5, 0.08),
        stroke(rng, 300, [(3, -2), (3, 2)], 0.1),
        box(rng, 400, (4.5, -1), (6.5, 1)),
        arc(rng, 400, (3, 1), 4, (0.05, 0.45), 0.1),
    )


def chain(rng: Generator, links: int, n: int, noise: float) -> Labelled:
    """Return rings in space, each linked with the next."""
    clouds = []
    for link in range(links):
        ring = np.insert(arc(rng, n), 1 + link % 2, 0.0, axis=1)
        clouds.append(ring + [1.3 * link, 0, 0] + noise * rng.normal(size=(n, 3)))
    return stack(*clouds)


def cut_roll(rng: Generator) -> Labelled:
    """Return a rolled-up sheet cut in three along its length."""

    def piece(low: float, high: float) -> Points:
        time = rng.uniform(low, high, size=600)
        return np.column_stack([time * np.cos(time), 12 * rng.random(600), time * np.sin(time)])

    return stack(
        *(piece(low, high) + 0.15 * rng.normal(size=(600, 3)) for low, high in [(4.7, 8.0), (8.5, 10.8), (11.2, 13.2)])
    )


def hemispheres(rng: Generator) -> Labelled:
    """Return a half shell turned down over a smaller one turned up, which reaches into it."""
    cap, bowl = shell(rng, 1800, (0, 0, 0), 1, 0.04), shell(rng, 800, (0, 0, 0), 0.55, 0.04)
    return stack(cap[cap[:, 2] > 0], bowl[bowl[:, 2] < 0] + [0, 0, 0.35])


def diamonds(rng: Generator) -> Labelled:
    """Return two squares on their corners, which touch with one of them."""
    squares = [box(rng, 400, (-1, -1), (1, 1)) @ rotation(0.125) for _ in range(2)]
    return stack(squares[0], np.add(squares[1], [2 * np.sqrt(2), 0]))


def wings(rng: Generator) -> Labelled:
    """Return two plates that get denser towards the narrow gap between them."""
    upper, lower = box(rng, 600, (0, 0), (3, 1)), box(rng, 600, (0, 0), (3, 1))
    upper[:, 1] **= 2
    lower[:, 1] **= 2
    return stack(upper + np.array([0, 0.12]), lower * [1, -1] + np.array([1, -0.12]))


def cap_and_disc(rng: Generator) -> Labelled:
    """Return a fuzzy disc under a thick cap that nearly touches it."""
    disc = gaussian(rng, 170, (0, 0), (1.1, 0.8))
    return stack(disc, arc(rng, 100, (0, -0.4), 3.0, (0.04, 0.46), 0.3))


def open_ring(rng: Generator) -> Labelled:
    """Return two blobs in a ring that is open below; all three nearly touch."""
    ring = arc(rng, 130, (0, 0), 3.0, (-0.18, 0.68), 0.2)
    return stack(ring, gaussian(rng, 100, (-1.2, 0), 0.45), gaussian(rng, 100, (1.2, 0), 0.45))


def fuzzy_x(rng: Generator) -> Labelled:
    """Return four fuzzy arms and a middle."""
    arms = [
        gaussian(rng, 200, 3 * np.array([np.cos(t), np.sin(t)]), (1, 0.5), t / (2 * np.pi))
        for t in np.pi / 4 + np.arange(4) * np.pi / 2
    ]
    return stack(gaussian(rng, 200, (0, 0), 0.45), *arms)


def company(rng: Generator) -> Labelled:
    """Return seven groups of different size and shape, some joined by a few points."""
    joins = [stroke(rng, 4, [(0.5, 9.5), (3.2, 9.5)]), stroke(rng, 4, [(12, 2.5), (12, 4.6)])]
    bean = fill(rng, 250, (-3, 3), (3, 8), lambda p: _ellipse(p, (0, 4), 2.6, 2.6, (0, 2.5), 2))
    return stack(
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
    """Return two parabolas, open towards each other and shifted so that an arm of each fits the other."""
    up = curve(rng, n, lambda t: (4 * t - 2, (4 * t - 2) ** 2), noise)
    down = curve(rng, n, lambda t: (4 * t, 5.2 - (4 * t - 2) ** 2), noise)
    return stack(up, down)


def network(rng: Generator) -> Labelled:
    """Return ten blobs joined by thin lines, each half line belongs to the blob it starts from."""
    centers = spread_centers(rng, 10, 2, 9.0)
    clouds = [[gaussian(rng, 220, center)] for center in centers]
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    for i, row in enumerate(np.argsort(distances, axis=1)):
        for j in row[1:3]:
            clouds[i].append(stroke(rng, 14, [centers[i], (centers[i] + centers[j]) / 2], 0.08))
    return stack(*(np.vstack(cloud) for cloud in clouds))


def maze(rng: Generator) -> Labelled:
    """Return five walls of a labyrinth."""
    walls = [
        [(0, 0), (10, 0), (10, 7), (3, 7), (3, 5)],
        [(0, 1.5), (0, 10), (10, 10), (10, 8.5)],
        [(1.5, 1.5), (8.5, 1.5), (8.5, 5.5), (6.5, 5.5)],
        [(1.5, 3), (1.5, 8.5), (8.5, 8.5)],
        [(3.2, 3.3), (6.8, 3.3), (5, 3.3), (5, 5.5)],
    ]
    return stack(*(stroke(rng, n, w, 0.16) for n, w in zip((900, 900, 600, 500, 300), walls, strict=True)))


def panes(rng: Generator) -> Labelled:
    """Return a window of four frames with something small behind three of them."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
    points = [(0, 0), (2.6, 0), (0, 2.6), (2.6, 2.6)]
    frames = [stroke(rng, 400, corners + point, 0.06) for point in points]
    return stack(*frames, *(gaussian(rng, 60, point, 0.2) for point in points[:3]))


def trajectories(rng: Generator) -> Labelled:
    """Return four long paths that wind beside each other."""
    return stack(
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
    """Return two bursts of rays, dense in the middle, whose outer points mix."""

    def splash(center: tuple) -> Points:
        reach = rng.exponential(1.0, size=(300, 1))
        direction = 2 * np.pi * np.round(rng.random(300) * 12) / 12 + 0.08 * rng.normal(size=300)
        return np.array(center) + reach * np.column_stack([np.cos(direction), np.sin(direction)])

    return stack(splash((0, 0)), splash((4, 1)))


def orbits(rng: Generator) -> Labelled:
    """Return three noisy arcs that wind round a common centre at growing distance."""
    starts = (0.0, 0.33, 0.66)
    return stack(*(curve(rng, 900, lambda t, s=s: _orbit(t, s), 0.12) for s in starts))


def _orbit(time: NDArray, start: float) -> tuple[NDArray, NDArray]:
    angle = 2 * np.pi * (start + 0.75 * time)
    return (1 + 2.2 * time) * np.cos(angle), (1 + 2.2 * time) * np.sin(angle)


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


def bars_and_disc(rng: Generator, stragglers: int = 0) -> Labelled:
    """Return an L of two bars beside a disc, perhaps with some far-off points as a cluster."""
    clouds = [
        box(rng, 200, (0, 0), (4, 0.8)),
        box(rng, 100, (0, 1.2), (0.8, 4.5)),
        gaussian(rng, 100, (3, 3), 0.45),
    ]
    if stragglers:
        clouds.append(gaussian(rng, stragglers, (9, 8), 0.1))
    return stack(*clouds)


def glyphs(rng: Generator) -> Labelled:
    """Return six thick wound shapes, close to each other."""
    snake = curve(rng, 1300, lambda t: (8 * t, 1.6 * np.sin(8 * t)), 0.18)
    under = curve(rng, 1300, lambda t: (8 * t, 1.6 * np.sin(8 * t) - 2.2), 0.18)
    hook = stroke(rng, 1100, [(10, 3), (10, -3.2), (12.5, -3.2)], 0.22)
    inner = stroke(rng, 700, [(12, 2.8), (12, -1.6)], 0.22)
    disc, ring = ball(rng, 500, (15.5, 0), 0.7), shell(rng, 1100, (15.5, 0), 2.1, 0.18)
    return stack(snake, under, hook, inner, disc, ring)


def word(rng: Generator) -> Labelled:
    """Return four letters between two bars."""
    strokes = [
        [(0, 0), (0, 2), (0, 1), (1.2, 1), (1.2, 2), (1.2, 0)],
        [(2.2, 0), (2.8, 2), (3.4, 0)],
        [(5.4, 2), (4.4, 2), (4.4, 0), (5.4, 0)],
        [(6.4, 2), (6.4, 0), (6.4, 1), (7.4, 2), (6.4, 1), (7.4, 0)],
    ]
    bars = [stroke(rng, 700, [(-0.5, y), (8, y)], 0.09) for y in (-0.9, 2.9)]
    return stack(*(stroke(rng, 700, s, 0.09) for s in strokes), *bars)


def bands(rng: Generator, pieces: int, gap: float) -> Labelled:
    """Return a slanted sheet of uniform points cut into bands."""
    band = [box(rng, 500, (0, i), (6, i + 1 - gap)) for i in range(pieces)]
    return stack(*(b @ rotation(0.1) for b in band))


def lattice(rng: Generator) -> Labelled:
    """Return three patches of a regular grid of points: all distances are equal."""
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    return stack(grid, np.add(grid[:96], [15, 0]), np.add(grid[:60], [0, 15]))


def atom(rng: Generator) -> Labelled:
    """Return a very dense core in a thin, wide shell."""
    return stack(ball(rng, 400, (0, 0, 0), 0.2), shell(rng, 400, (0, 0, 0), 2.5, 0.35))


def trapped(rng: Generator) -> Labelled:
    """Return a dense and a loose blob inside a hollow cylinder."""
    angle, height = 2 * np.pi * rng.random(2500), 6 * rng.random(2500) - 3
    wall = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), height])
    wall += 0.08 * rng.normal(size=wall.shape)
    return stack(wall, gaussian(rng, 300, (0, 0, 1.3), 0.15), gaussian(rng, 300, (0, 0, -1), 0.4))
