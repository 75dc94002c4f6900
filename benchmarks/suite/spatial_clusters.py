"""Sets in space and in many dimensions."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import pictures
from benchmarks.suite.makers import moons, rings, subspaces
from benchmarks.suite.recipes import Table
from benchmarks.suite.shapes import (
    ball,
    blobs,
    curve,
    gaussian,
    lifted,
    mixture,
    shell,
    together,
    with_noise_features,
)

MANIFOLDS: Table = [
    ("chain-2", True, lambda r: pictures.chain(r, 2, 500, 0.06)),
    ("chain-4", True, lambda r: pictures.chain(r, 4, 400, 0.08)),
    (
        "helices",
        True,
        lambda r: together(
            *(curve(r, 600, lambda t, p=p: (np.cos(12 * t + p), np.sin(12 * t + p), 4 * t), 0.07) for p in (0, np.pi))
        ),
    ),
    (
        "sheets",
        True,
        lambda r: together(
            *(
                curve(
                    r,
                    700,
                    lambda t, i=i: (5 * t, 5 * r.random(t.size), np.sin(5 * t) + 1.3 * i),
                    0.06,
                )
                for i in range(3)
            )
        ),
    ),
    ("swiss-roll-cut", True, pictures.cut_roll),
    (
        "core-and-shell",
        True,
        lambda r: together(ball(r, 400, (0, 0, 0), 0.8), shell(r, 1200, (0, 0, 0), 2.5, 0.08)),
    ),
    ("hemispheres", True, pictures.hemispheres),
    (
        "sphere-shells-10d",
        True,
        lambda r: together(gaussian(r, 600, np.zeros(10), 0.15), shell(r, 1000, np.zeros(10), 3, 0.1)),
    ),
]

HIGH_DIMENSION: Table = [
    ("high-5d", True, lambda r: blobs(r, [200] * 6, 7, 5)),
    ("high-10d", True, lambda r: blobs(r, [150, 300, 450, 150], 8, 10)),
    ("high-20d", True, lambda r: blobs(r, [100] * 8, 9, 20)),
    ("high-50d", True, lambda r: blobs(r, [200] * 10, 11, 50)),
    ("high-100d", True, lambda r: blobs(r, [300, 100, 50, 200, 150], 13, 100)),
    ("high-500d", True, lambda r: blobs(r, [120] * 5, 24, 500)),
    ("high-500d-scales", True, lambda r: blobs(r, [150] * 3, 30, 500, [0.7, 1, 1.3])),
    ("high-20d-unbalanced", True, lambda r: blobs(r, [1000, 50, 100, 250], 9, 20)),
    ("high-10d-scales", True, lambda r: blobs(r, [250] * 5, 12, 10, [0.5, 0.8, 1.2, 1.6, 2])),
    ("high-10d-stretched", True, lambda r: mixture(r, [250] * 6, 6, 10, 6)),
    ("high-30d-stretched", True, lambda r: mixture(r, [300] * 4, 7, 30, 8)),
    ("high-10d-mixture-close", False, lambda r: mixture(r, [300] * 5, 3.4, 10, 3)),
    ("noise-features-8", True, lambda r: with_noise_features(r, blobs(r, [200] * 4, 9, 4), 8)),
    ("noise-features-20", False, lambda r: with_noise_features(r, blobs(r, [250] * 3, 9, 5), 20)),
    (
        "noise-features-moons",
        False,
        lambda r: with_noise_features(r, moons(r, (500, 500), 0.05), 2),
    ),
    ("subspaces-10d", True, lambda r: subspaces(r, [250] * 4, 10, 2, 5)),
    ("subspaces-30d", True, lambda r: subspaces(r, [150] * 6, 30, 3, 6)),
    ("subspaces-100d", True, lambda r: subspaces(r, [200, 80, 300], 100, 5, 8)),
    ("lifted-30d-rings", True, lambda r: lifted(r, rings(r, [400, 600], [1, 2], 0.08), 30, 0.02)),
    ("lifted-100d-blobs", True, lambda r: lifted(r, blobs(r, [150] * 6, 8, 3), 100, 0.2)),
]

TABLES = {
    "manifolds": MANIFOLDS,
    "high-dimension": HIGH_DIMENSION,
}
