"""Sets that are hard: clusters that touch, overlap, crowd, or are a handful of points."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import puzzles
from benchmarks.suite.makers import grid, moons, rings
from benchmarks.suite.recipes import Table
from benchmarks.suite.shapes import (
    ball,
    blobs,
    box,
    gaussian,
    mixture,
    shell,
    stroke,
    together,
    with_background,
)

TOUCHING: Table = [
    ("diamonds", True, puzzles.diamonds),
    ("wings", True, puzzles.wings),
    ("cap-and-disc", False, puzzles.cap_and_disc),
    ("open-ring", False, puzzles.open_ring),
    ("fuzzy-x", False, puzzles.fuzzy_x),
    ("company", True, puzzles.company),
    ("network", True, puzzles.network),
    (
        "tetrahedron",
        True,
        lambda r: together(
            *(gaussian(r, 100, 4.6 * np.array(c) / np.sqrt(2)) for c in [(0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)])
        ),
    ),
    (
        "tight-beside-wide",
        False,
        lambda r: together(gaussian(r, 150, (0, 0), 0.3), gaussian(r, 150, (3, 0), 1.1)),
    ),
    ("crescents-uneven", True, lambda r: moons(r, (100, 600), 0.11)),
    ("splashes", False, puzzles.splashes),
    ("bands", True, lambda r: puzzles.bands(r, 4, 0.2)),
    ("lattice", True, puzzles.lattice),
]
CROWDED: Table = [
    (
        "crowded-2-unlike",
        False,
        lambda r: together(gaussian(r, 2000, (0, 0), (1, 1.6)), gaussian(r, 2000, (2.6, 0), (0.7, 0.6))),
    ),
    (
        "crowded-3",
        False,
        lambda r: together(*(gaussian(r, 250, c) for c in [(0, 0), (2.8, 0), (1.4, 2.4)])),
    ),
    ("crowded-15", False, lambda r: mixture(r, [230] * 15, 2.4, 2, 3)),
    ("crowded-15-worse", False, lambda r: mixture(r, [330] * 15, 1.9, 2, 3)),
    ("crowded-grid", True, lambda r: grid(r, [110] * 30, 6, 4.4, 0.3)),
    ("crowded-grid-large", True, lambda r: grid(r, [150] * 49, 7, 4.6, 0.4)),
    ("crowded-3d", False, lambda r: blobs(r, [200] * 6, 3.2, 3)),
    (
        "crowded-squares",
        False,
        lambda r: together(*(box(r, 250, (i, j), (i + 0.94, j + 0.94)) for i in range(3) for j in range(2))),
    ),
    ("crowded-5d", False, lambda r: mixture(r, [200] * 8, 2.4, 5, 2)),
    ("crowded-moons", False, lambda r: moons(r, (800, 800), 0.22)),
    ("crowded-rings", False, lambda r: rings(r, [500, 1000, 1500], [1, 2, 3], 0.25)),
]
WINDING: Table = [
    ("parabolas", True, lambda r: puzzles.parabolas(r, 500, 0.1)),
    ("parabolas-noisy", True, lambda r: puzzles.parabolas(r, 500, 0.22)),
    ("maze", True, puzzles.maze),
    ("panes", True, puzzles.panes),
    ("trajectories", True, puzzles.trajectories),
    ("orbits", True, puzzles.orbits),
    ("glyphs", True, puzzles.glyphs),
    ("word", True, puzzles.word),
    (
        "five-rings",
        False,
        lambda r: together(*(shell(r, 500, (1.15 * i, -0.9 * (i % 2)), 1, 0.05) for i in range(5))),
    ),
    ("trapped", True, puzzles.trapped),
    ("atom", True, puzzles.atom),
]
STRAGGLERS: Table = [
    ("target", False, puzzles.target),
    ("ring-with-stragglers", False, puzzles.ring_with_stragglers),
    ("zigzag-with-stragglers", False, puzzles.zigzag_with_stragglers),
    ("bars-and-disc", True, lambda r: puzzles.bars_and_disc(r)),
    ("bars-disc-and-stragglers", False, lambda r: puzzles.bars_and_disc(r, 4)),
    ("blob-and-few", True, lambda r: together(gaussian(r, 400), gaussian(r, 12, (7, 3), 0.3))),
]
CLUTTER: Table = [
    ("clutter-glyphs", True, lambda r: with_background(r, puzzles.glyphs(r), 0.1)),
    ("clutter-word", True, lambda r: with_background(r, puzzles.word(r), 0.12)),
    ("clutter-maze", True, lambda r: with_background(r, puzzles.maze(r), 0.08)),
    (
        "clutter-cross",
        False,
        lambda r: with_background(
            r,
            together(
                stroke(r, 500, [(-4, 0), (-0.6, 0)], 0.2),
                stroke(r, 500, [(0.6, 0), (4, 0)], 0.2),
                stroke(r, 500, [(0, -4), (0, -0.6)], 0.2),
                stroke(r, 500, [(0, 0.6), (0, 4)], 0.2),
            ),
            0.15,
        ),
    ),
    (
        "clutter-densities",
        True,
        lambda r: with_background(
            r,
            together(
                gaussian(r, 400, (0, 0), 0.3),
                gaussian(r, 400, (4, 1), 0.8),
                gaussian(r, 400, (0, 6), 1.2),
                ball(r, 300, (6, 6), 0.5),
            ),
            0.2,
        ),
    ),
    (
        "clutter-discs",
        True,
        lambda r: with_background(
            r,
            together(*(ball(r, 400, c, q) for c, q in [((0, 0), 1), ((2.5, 0), 1), ((0, 3), 1.5), ((4, 3), 0.6)])),
            0.4,
        ),
    ),
]
TABLES = {
    "touching": TOUCHING,
    "crowded": CROWDED,
    "winding": WINDING,
    "stragglers": STRAGGLERS,
    "clutter": CLUTTER,
}
