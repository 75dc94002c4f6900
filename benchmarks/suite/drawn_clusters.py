"""Sets in the plane whose clusters are curves, strokes, areas or pictures."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import pictures
from benchmarks.suite.makers import moons, rings, spirals, stripes
from benchmarks.suite.recipes import Table
from benchmarks.suite.shapes import (
    arc,
    ball,
    box,
    curve,
    gaussian,
    lifted,
    polygon,
    shell,
    stroke,
    together,
)

MOONS: Table = [
    ("moons-clean", True, lambda r: moons(r, (150, 150), 0.03)),
    ("moons-noise-7", True, lambda r: moons(r, (400, 400), 0.07)),
    ("moons-noise-12", True, lambda r: moons(r, (750, 750), 0.12)),
    ("moons-noise-18", False, lambda r: moons(r, (1000, 1000), 0.18)),
    ("moons-unbalanced", True, lambda r: moons(r, (900, 120), 0.06)),
    (
        "moons-4",
        True,
        lambda r: together(
            *(
                arc(
                    r,
                    300,
                    (i * 1.3, 0.4 * (i % 2)),
                    turns=(0.5 * (i % 2), 0.5 + 0.5 * (i % 2)),
                    noise=0.05,
                )
                for i in range(4)
            )
        ),
    ),
    ("moons-in-10d", True, lambda r: lifted(r, moons(r, (400, 400), 0.05), 10, 0.03)),
]

RINGS: Table = [
    ("rings-2-clean", True, lambda r: rings(r, [200, 200], [1, 2], 0.06)),
    ("rings-2-noise", True, lambda r: rings(r, [500, 500], [1, 2], 0.16)),
    ("rings-2-very-noisy", False, lambda r: rings(r, [1000, 1000], [1, 2], 0.26)),
    ("rings-3", True, lambda r: rings(r, [150, 300, 450], [1, 2, 3], 0.1)),
    ("rings-5", True, lambda r: rings(r, [100, 200, 300, 400, 500], [1, 2, 3, 4, 5], 0.1)),
    ("rings-equal-counts", True, lambda r: rings(r, [300] * 4, [1, 2.2, 3.6, 5.2], 0.12)),
    (
        "ring-round-blob",
        True,
        lambda r: together(gaussian(r, 300, sd=0.5), shell(r, 500, radius=3, noise=0.2)),
    ),
    (
        "ring-round-3-blobs",
        True,
        lambda r: together(
            shell(r, 900, radius=5, noise=0.25),
            gaussian(r, 200, (-1.8, -1), 0.45),
            gaussian(r, 200, (1.8, -1), 0.45),
            gaussian(r, 200, (0, 2), 0.45),
        ),
    ),
    (
        "rings-uneven-density",
        True,
        lambda r: together(shell(r, 1200, radius=1, noise=0.08), shell(r, 150, radius=2.4, noise=0.08)),
    ),
    (
        "rings-crossing",
        False,
        lambda r: together(*(shell(r, 300, (1.3 * i, 0), 1, 0.03) for i in range(3))),
    ),
    (
        "rings-side-by-side",
        True,
        lambda r: together(
            shell(r, 300, (0, 0), 1, 0.07),
            shell(r, 300, (2.8, 0), 1, 0.07),
            gaussian(r, 100, (2.8, 0), 0.2),
        ),
    ),
    (
        "broken-rings",
        True,
        lambda r: together(
            arc(r, 250, radius=1, turns=(0.05, 0.8), noise=0.06),
            arc(r, 500, radius=2, turns=(0.3, 1.1), noise=0.06),
        ),
    ),
]

SPIRALS: Table = [
    ("spirals-2", True, lambda r: spirals(r, 2, 300, 1.5, 0.012)),
    ("spirals-2-noise", True, lambda r: spirals(r, 2, 800, 1.5, 0.03)),
    ("spirals-2-long", True, lambda r: spirals(r, 2, 1000, 2.5, 0.01)),
    ("spirals-3", True, lambda r: spirals(r, 3, 110, 0.8, 0.012)),
    ("spirals-3-noise", True, lambda r: spirals(r, 3, 500, 0.9, 0.03)),
    ("spirals-2-uneven", True, lambda r: spirals(r, 2, 500, 1.5, 0.01, 1.0)),
    ("spirals-4", True, lambda r: spirals(r, 4, 200, 0.7, 0.015)),
]

STROKES: Table = [
    ("stripes-3", True, lambda r: stripes(r, [200] * 3, 1.2, 0.1)),
    ("stripes-5-close", True, lambda r: stripes(r, [300] * 5, 0.8, 0.09)),
    ("stripes-uneven", True, lambda r: stripes(r, [600, 150, 60], 1.4, 0.1)),
    (
        "lines-unequal",
        True,
        lambda r: together(
            stroke(r, 600, [(0, 0), (12, 0)], 0.1),
            stroke(r, 100, [(1, 1.2), (3, 1.2)], 0.1),
            stroke(r, 200, [(6, 3), (10, 1.2)], 0.1),
        ),
    ),
    (
        "waves-3",
        True,
        lambda r: together(*(curve(r, 400, lambda t, i=i: (10 * t, np.sin(10 * t) + 1.5 * i), 0.1) for i in range(3))),
    ),
    (
        "waves-and-line",
        True,
        lambda r: together(
            curve(r, 600, lambda t: (12 * t, 1.5 * np.sin(12 * t)), 0.08),
            stroke(r, 300, [(0, 3), (12, 3)], 0.08),
            stroke(r, 300, [(0, -3), (12, -3)], 0.08),
        ),
    ),
    ("letters-git", True, pictures.letters_git),
    ("letters-oxc", True, pictures.letters_oxc),
    ("cross-and-dots", True, pictures.cross_and_dots),
    ("t-and-bars", True, pictures.t_and_bars),
    (
        "zigzags",
        True,
        lambda r: together(*(stroke(r, 400, [(i, (i % 2) + 1.6 * j) for i in range(8)], 0.1) for j in range(3))),
    ),
]

SHAPES: Table = [
    (
        "squares-2",
        True,
        lambda r: together(box(r, 300, (0, 0), (1, 1)), box(r, 300, (1.3, 0), (2.3, 1))),
    ),
    (
        "square-triangle-disc",
        True,
        lambda r: together(
            box(r, 400, (0, 0), (2, 2)),
            polygon(r, 300, [(2.6, 0), (5, 0), (3.8, 2.2)]),
            ball(r, 400, (2.4, 3.5), 1.1),
        ),
    ),
    (
        "checkerboard",
        True,
        lambda r: together(*(box(r, 150, (i, j), (i + 0.75, j + 0.75)) for i in range(3) for j in range(3))),
    ),
    (
        "frames",
        True,
        lambda r: together(pictures.frame(r, 200, 1), pictures.frame(r, 400, 2), pictures.frame(r, 600, 3)),
    ),
    ("interlocked", True, pictures.interlocked),
    ("jigsaw", True, lambda r: pictures.jigsaw(r, 2400, 3, 0.06)),
    ("jigsaw-16", True, lambda r: pictures.jigsaw(r, 3400, 4, 0.07)),
    ("eater", True, pictures.eater),
    (
        "discs-uneven",
        True,
        lambda r: together(ball(r, 1500, (0, 0), 3), ball(r, 120, (4.2, 0), 0.8), ball(r, 60, (0, 4), 0.55)),
    ),
    (
        "cubes-3d",
        True,
        lambda r: together(*(box(r, 250, (i, j, 0), (i + 0.7, j + 0.7, 0.7)) for i in range(2) for j in range(2))),
    ),
]

BRIDGES: Table = [
    ("bridge-discs", True, pictures.bridged_discs),
    ("bridge-blobs", True, pictures.bridged_blobs),
    ("bridge-squares-3", True, pictures.bridged_squares),
    ("touching-discs-2", True, lambda r: together(ball(r, 800), ball(r, 800, (1.98, 0)))),
    (
        "touching-discs-uneven",
        True,
        lambda r: together(ball(r, 1500, (0, 0), 2), ball(r, 400, (2.95, 0), 1)),
    ),
    (
        "touching-hexagon",
        True,
        lambda r: together(
            ball(r, 350),
            *(ball(r, 350, 2.02 * np.array([np.cos(t), np.sin(t)])) for t in np.arange(6) * np.pi / 3),
        ),
    ),
    (
        "touching-balls-3d",
        True,
        lambda r: together(ball(r, 700, (0, 0, 0)), ball(r, 700, (2.0, 0, 0)), ball(r, 700, (1.0, 1.75, 0))),
    ),
]

PICTURES: Table = [
    ("smile", True, pictures.smile),
    ("face", True, pictures.face),
    ("flower", True, pictures.flower),
    ("landscape", True, pictures.landscape),
    ("compound", False, pictures.compound),
]

TABLES = {
    "moons": MOONS,
    "rings": RINGS,
    "spirals": SPIRALS,
    "strokes": STROKES,
    "shapes": SHAPES,
    "bridges": BRIDGES,
    "pictures": PICTURES,
}
