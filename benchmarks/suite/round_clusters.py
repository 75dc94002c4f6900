"""Sets of mostly round clusters: blobs of all sizes, densities and tails."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import pictures
from benchmarks.suite.makers import (
    counts,
    families,
    grid,
    log_normal,
    moons,
    profiles,
    rings,
    stripes,
    student,
)
from benchmarks.suite.recipes import Table
from benchmarks.suite.shapes import (
    annulus,
    arc,
    ball,
    blobs,
    box,
    gaussian,
    mixture,
    relabelled,
    rescaled,
    rounded,
    shell,
    together,
    with_background,
)

BLOBS: Table = [
    ("blobs-3", True, lambda r: blobs(r, [100] * 3, 8)),
    ("blobs-5", True, lambda r: blobs(r, [200] * 5, 7)),
    ("blobs-8", True, lambda r: blobs(r, [250] * 8, 6)),
    ("blobs-8-close", True, lambda r: blobs(r, [300] * 8, 5)),
    ("blobs-4-in-3d", True, lambda r: blobs(r, [150] * 4, 7, 3)),
    ("blobs-10-in-3d", True, lambda r: blobs(r, [120] * 10, 6, 3)),
    ("blobs-6-large", True, lambda r: blobs(r, [1700, 1300, 2000, 1500, 1500, 2000], 6.5)),
    ("blobs-far", True, lambda r: blobs(r, [150, 250, 200], 60)),
    (
        "blobs-one-far",
        True,
        lambda r: together(gaussian(r, 300), gaussian(r, 300, (7, 0)), gaussian(r, 300, (60, 50))),
    ),
]

UNBALANCED: Table = [
    ("unbalanced-1-20", True, lambda r: blobs(r, [1000, 50], 8)),
    ("unbalanced-1-5-20", True, lambda r: blobs(r, [800, 200, 40], 8)),
    ("unbalanced-8", True, lambda r: blobs(r, [1000, 1000, 1000, 60, 60, 60, 60, 60], 9)),
    ("unbalanced-close", True, lambda r: blobs(r, [600, 150, 60, 300], 6)),
    ("unbalanced-3d", True, lambda r: blobs(r, [900, 45, 90, 180], 7, 3)),
    ("unbalanced-geometric", True, lambda r: blobs(r, [1280, 640, 320, 160, 80, 40], 8)),
]

DENSITIES: Table = [
    (
        "scales-3",
        True,
        lambda r: together(
            gaussian(r, 300, (0, 0), 0.4),
            gaussian(r, 300, (6, 0), 1),
            gaussian(r, 300, (0, 14), 2.5),
        ),
    ),
    (
        "scales-1-50",
        True,
        lambda r: together(
            gaussian(r, 400, (0, 0), 0.1),
            gaussian(r, 400, (2, 0), 0.1),
            gaussian(r, 400, (25, 0), 5),
        ),
    ),
    ("scales-6", True, lambda r: blobs(r, [200] * 6, 12, 2, [0.3, 0.6, 1, 1.5, 2, 2.5])),
    (
        "densities-same-size",
        True,
        lambda r: together(ball(r, 1500), ball(r, 300, (2.6, 0)), ball(r, 80, (1.3, 2.4))),
    ),
    ("densities-3d", True, lambda r: blobs(r, [400, 150, 400, 150], 11, 3, [0.4, 2, 1, 1.5])),
    (
        "densities-pairs",
        True,
        lambda r: together(
            gaussian(r, 150, (0, 0), 0.15),
            gaussian(r, 150, (1, 0), 0.15),
            gaussian(r, 150, (8, 0), 1.2),
            gaussian(r, 150, (15, 0), 1.2),
        ),
    ),
    (
        "core-in-cloud",
        False,
        lambda r: together(gaussian(r, 500, (0, 0), 0.25), gaussian(r, 500, (0.8, 0.5), 2.5)),
    ),
    (
        "core-in-square",
        False,
        lambda r: together(ball(r, 500, (3, 3), 0.7), box(r, 500, (0, 0), (10, 10))),
    ),
    (
        "two-cores-in-square",
        False,
        lambda r: together(ball(r, 300, (3, 3), 0.6), ball(r, 300, (7, 6), 0.6), box(r, 500, (0, 0), (10, 10))),
    ),
    (
        "core-in-ball-3d",
        False,
        lambda r: together(ball(r, 600, (0, 0, 0), 0.3), ball(r, 600, (0.5, 0, 0), 2)),
    ),
]

OVERLAP: Table = [
    ("overlap-3", False, lambda r: blobs(r, [300] * 3, 3)),
    ("overlap-2-unequal", False, lambda r: together(gaussian(r, 700), gaussian(r, 200, (3.2, 0)))),
    ("overlap-15", False, lambda r: blobs(r, [200] * 15, 3.6)),
    ("overlap-20", False, lambda r: blobs(r, [150] * 20, 4)),
    ("overlap-5-in-5d", False, lambda r: blobs(r, [200] * 5, 3.6, 5)),
]

STRETCHED: Table = [
    (
        "stretched-3",
        True,
        lambda r: together(*(gaussian(r, 300, (i * 2.2, -i * 2.2), (3, 0.4), 0.125) for i in range(3))),
    ),
    (
        "stretched-pair",
        True,
        lambda r: together(gaussian(r, 250, (0, 0), (4, 0.35)), gaussian(r, 250, (3, 3), (4, 0.35))),
    ),
    (
        "stretched-fan",
        True,
        lambda r: together(
            *(
                gaussian(r, 200, 6 * np.array([np.cos(t), np.sin(t)]), (1.5, 0.3), t / (2 * np.pi))
                for t in np.arange(7) * 2 * np.pi / 7
            )
        ),
    ),
    (
        "stretched-l",
        True,
        lambda r: together(
            gaussian(r, 400, (0, 5), (0.3, 2)),
            gaussian(r, 400, (4.5, 0), (2, 0.3)),
            gaussian(r, 100, (5, 5), 0.6),
        ),
    ),
    (
        "stretched-cross",
        False,
        lambda r: together(gaussian(r, 400, (0, 0), (4, 0.3)), gaussian(r, 400, (0, 0), (0.3, 4))),
    ),
    ("stretched-10", True, lambda r: mixture(r, [150] * 10, 5, 2, 5)),
    ("stretched-6-in-3d", True, lambda r: mixture(r, [200] * 6, 5, 3, 10)),
    (
        "needles-in-3d",
        True,
        lambda r: together(
            *(
                gaussian(r, 250, c, s)
                for c, s in [
                    ((0, 0, 0), (5, 0.3, 0.3)),
                    ((0, 3, 0), (0.3, 0.3, 5)),
                    ((0, -3, 2), (4, 0.3, 0.6)),
                ]
            )
        ),
    ),
]

MANY: Table = [
    ("many-15", True, lambda r: blobs(r, [60] * 15, 7)),
    ("many-15-uneven", True, lambda r: blobs(r, list(range(40, 340, 20)), 7)),
    ("many-25-grid", True, lambda r: grid(r, [100] * 25, 5, 7)),
    ("many-36-grid-jitter", True, lambda r: grid(r, [80] * 36, 6, 8, 0.8)),
    ("many-50", True, lambda r: blobs(r, [60] * 50, 7)),
    ("many-50-in-10d", True, lambda r: blobs(r, [40] * 50, 9, 10)),
    (
        "many-31-rosette",
        True,
        lambda r: together(
            gaussian(r, 100),
            *(
                gaussian(r, 100, q * 7 * np.array([np.cos(t), np.sin(t)]))
                for q, m in [(1, 6), (2, 10), (3, 14)]
                for t in np.arange(m) * 2 * np.pi / m
            ),
        ),
    ),
    (
        "many-20-wave",
        True,
        lambda r: together(*(gaussian(r, 450, (5.5 * i, 14 * np.sin(i * 0.9))) for i in range(20))),
    ),
]

HEAVY_TAILS: Table = [
    ("student-3-in-2d", True, lambda r: student(r, [250] * 4, 12, 2, 3)),
    ("student-2-in-2d", False, lambda r: student(r, [300] * 3, 20, 2, 2)),
    ("student-3-in-5d", True, lambda r: student(r, [200] * 5, 14, 5, 3)),
    ("log-normal", True, lambda r: log_normal(r, [400, 300, 200])),
]

UNITS: Table = [
    ("units-blobs", True, lambda r: rescaled(blobs(r, [200] * 4, 8), (1, 1000))),
    ("units-moons", True, lambda r: rescaled(moons(r, (300, 300), 0.06), (0.001, 50))),
    ("units-6d", True, lambda r: rescaled(blobs(r, [150] * 5, 8, 6), 10.0 ** np.arange(-3, 3))),
]

TINY: Table = [
    ("tiny-blobs-60", True, lambda r: blobs(r, [20] * 3, 9)),
    ("tiny-blobs-90-uneven", True, lambda r: blobs(r, [60, 20, 10], 9)),
    ("tiny-moons-80", True, lambda r: moons(r, (40, 40), 0.04)),
    ("tiny-rings-120", True, lambda r: rings(r, [40, 80], [1, 2.2], 0.05)),
    ("tiny-lines-70", True, lambda r: stripes(r, [35, 35], 2.5, 0.1)),
    ("tiny-8d-120", True, lambda r: blobs(r, [40] * 3, 8, 8)),
    ("tiny-close-150", False, lambda r: mixture(r, [50] * 3, 3, 4, 3)),
]

SINGLE: Table = [
    ("single-gaussian", True, lambda r: together(gaussian(r, 500))),
    ("single-gaussian-large", True, lambda r: together(gaussian(r, 3000, (0, 0), (3, 1), 0.1))),
    ("single-square", True, lambda r: together(box(r, 800, (0, 0), (1, 1)))),
    ("single-ring", True, lambda r: together(shell(r, 500, noise=0.05))),
    ("single-moon", True, lambda r: together(arc(r, 400, turns=(0, 0.5), noise=0.08))),
    ("single-20d", True, lambda r: together(gaussian(r, 600, np.zeros(20)))),
    ("single-100d", True, lambda r: together(gaussian(r, 300, np.zeros(100)))),
    ("single-tiny", True, lambda r: together(gaussian(r, 80))),
    ("single-annulus", True, lambda r: together(annulus(r, 1000))),
]

DISCRETE: Table = [
    ("rounded-blobs", True, lambda r: rounded(blobs(r, [400] * 4, 9), 0.5)),
    ("rounded-coarse", True, lambda r: rounded(blobs(r, [600] * 3, 9), 1)),
    ("rounded-moons", True, lambda r: rounded(moons(r, (500, 500), 0.06), 0.05)),
    ("rounded-4d", True, lambda r: rounded(blobs(r, [200, 100, 100], 7, 4), 0.5)),
    ("binary-20d", True, lambda r: profiles(r, [200] * 4, 20, 0.08)),
    ("counts-12d", True, lambda r: counts(r, [200, 150, 100, 250], 12)),
    (
        "repeated-points",
        True,
        lambda r: together(
            *(c[r.integers(0, 60, 400)] for c in (gaussian(r, 60), gaussian(r, 60, (8, 0)), gaussian(r, 60, (3, 8))))
        ),
    ),
]

NOISE: Table = [
    ("noise-10-blobs", True, lambda r: with_background(r, blobs(r, [200] * 4, 8), 0.1)),
    ("noise-30-blobs", True, lambda r: with_background(r, blobs(r, [250] * 5, 9), 0.3)),
    ("noise-10-moons", True, lambda r: with_background(r, moons(r, (500, 500), 0.05), 0.1)),
    ("noise-10-rings", True, lambda r: with_background(r, rings(r, [400, 800], [1, 2], 0.07), 0.1)),
    ("noise-15-stripes", True, lambda r: with_background(r, stripes(r, [400] * 4, 1.5, 0.1), 0.15)),
    ("noise-10-shapes", True, lambda r: with_background(r, pictures.signs(r), 0.1)),
    ("noise-10-in-3d", True, lambda r: with_background(r, blobs(r, [250] * 4, 8, 3), 0.1)),
]

HIERARCHY: Table = [
    ("hierarchy-fine", False, lambda r: families(r, 100, 3, 3, 40)),
    (
        "hierarchy-coarse",
        False,
        lambda r: relabelled(families(r, 100, 3, 3, 40), np.repeat(range(3), 3)),
    ),
    (
        "hierarchy-coarse-5",
        False,
        lambda r: relabelled(families(r, 60, 5, 4, 60), np.repeat(range(5), 4)),
    ),
    ("hierarchy-fine-5d", False, lambda r: families(r, 80, 4, 4, 45, 5)),
]

TABLES = {
    "blobs": BLOBS,
    "unbalanced": UNBALANCED,
    "densities": DENSITIES,
    "overlap": OVERLAP,
    "stretched": STRETCHED,
    "many": MANY,
    "heavy-tails": HEAVY_TAILS,
    "units": UNITS,
    "tiny": TINY,
    "single": SINGLE,
    "discrete": DISCRETE,
    "noise": NOISE,
    "hierarchy": HIERARCHY,
}
