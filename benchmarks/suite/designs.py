"""The designs of the generated data sets by kind of data and family: name, whether it is clear, and how to make it.

A set is clear if its clusters are separable by density or shape, so that people would agree on their number. The others
(overlaps, hierarchies, crossings) only serve for their labels. The sizes, skewness, discreteness and difficulty of
tables and images are those of public sets, judged by neighbours and by the scores of peers, not by results of GIT.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from benchmarks.suite import shapes as sh
from benchmarks.suite import simulated as si
from benchmarks.suite.shapes import Labelled

Maker = Callable[[Generator], Labelled]
Family = list[tuple[str, bool, Maker]]

FAR = {
    "2-classes": ([250, 150], 4, [14], 4.0),
    "3-classes": ([120, 90, 70], 6, [12], 3.0),
    "3-classes-2-groups": ([300, 200, 100], 5, [15, 10], 4.0),
}
"""Sizes of classes, columns, sizes of distant groups, and their distance in standard deviations."""


def with_far_groups(role: str, sizes: list[int], columns: int, groups: list[int], distance: float) -> Maker:
    """Return a maker of classes with small distant groups, see ``far_groups``."""
    return lambda r: si.far_groups(r, si.measured(r, sizes, 3.0, columns), groups, distance, role=role)


# fmt: off
DRAWN: dict[str, Family] = {
    "blobs": [
        ("blobs-3", True, lambda r: sh.blobs(r, [100] * 3, 8)),
        ("blobs-5", True, lambda r: sh.blobs(r, [200] * 5, 7)),
        ("blobs-8", True, lambda r: sh.blobs(r, [250] * 8, 6)),
        ("blobs-4-in-3d", True, lambda r: sh.blobs(r, [150] * 4, 7, 3)),
    ],
    "unbalanced": [
        ("unbalanced-1-20", True, lambda r: sh.blobs(r, [1000, 50], 8)),
        ("unbalanced-1-5-20", True, lambda r: sh.blobs(r, [800, 200, 40], 8)),
    ],
    "densities": [
        ("scales-3", True, lambda r: sh.stack(
            sh.gaussian(r, 300, (0, 0), 0.4), sh.gaussian(r, 300, (6, 0), 1), sh.gaussian(r, 300, (0, 14), 2.5))),
        ("scales-1-50", True, lambda r: sh.stack(
            sh.gaussian(r, 400, (0, 0), 0.1), sh.gaussian(r, 400, (2, 0), 0.1), sh.gaussian(r, 400, (25, 0), 5))),
        ("scales-6", True, lambda r: sh.blobs(r, [200] * 6, 12, 2, [0.3, 0.6, 1, 1.5, 2, 2.5])),
        ("densities-pairs", True, lambda r: sh.stack(
            sh.gaussian(r, 150, (0, 0), 0.15), sh.gaussian(r, 150, (1, 0), 0.15), sh.gaussian(r, 150, (8, 0), 1.2),
            sh.gaussian(r, 150, (15, 0), 1.2))),
        ("core-in-cloud", False, lambda r: sh.stack(
            sh.gaussian(r, 500, (0, 0), 0.25), sh.gaussian(r, 500, (0.8, 0.5), 2.5))),
    ],
    "overlap": [
        ("overlap-3", False, lambda r: sh.blobs(r, [300] * 3, 3)),
        ("overlap-2-unequal", False, lambda r: sh.stack(sh.gaussian(r, 700), sh.gaussian(r, 200, (3.2, 0)))),
        ("overlap-5-in-5d", False, lambda r: sh.blobs(r, [200] * 5, 3.6, 5)),
    ],
    "stretched": [
        ("stretched-3", True, lambda r: sh.stack(
            *(sh.gaussian(r, 300, (i * 2.2, -i * 2.2), (3, 0.4), 0.125) for i in range(3)))),
        ("stretched-pair", True, lambda r: sh.stack(
            sh.gaussian(r, 250, (0, 0), (4, 0.35)), sh.gaussian(r, 250, (3, 3), (4, 0.35)))),
        ("stretched-fan", True, lambda r: sh.stack(
            *(sh.gaussian(r, 200, 6 * np.array([np.cos(t), np.sin(t)]), (1.5, 0.3), t / (2 * np.pi))
            for t in np.arange(7) * 2 * np.pi / 7))),
        ("stretched-l", True, lambda r: sh.stack(
            sh.gaussian(r, 400, (0, 5), (0.3, 2)), sh.gaussian(r, 400, (4.5, 0), (2, 0.3)),
            sh.gaussian(r, 100, (5, 5), 0.6))),
    ],
    "many": [
        ("many-15", True, lambda r: sh.blobs(r, [60] * 15, 7)),
        ("many-50-in-10d", True, lambda r: sh.blobs(r, [40] * 50, 9, 10)),
    ],
    "heavy-tails": [
        ("student-3-in-2d", True, lambda r: sh.student(r, [250] * 4, 12, 2, 3)),
        ("student-2-in-2d", False, lambda r: sh.student(r, [300] * 3, 20, 2, 2)),
        ("student-3-in-5d", True, lambda r: sh.student(r, [200] * 5, 14, 5, 3)),
    ],
    "units": [
        ("units-blobs", True, lambda r: sh.rescaled(sh.blobs(r, [200] * 4, 8), (1, 1000))),
        ("units-moons", True, lambda r: sh.rescaled(sh.moons(r, (300, 300), 0.06), (0.001, 50))),
        ("units-6d", True, lambda r: sh.rescaled(sh.blobs(r, [150] * 5, 8, 6), 10.0 ** np.arange(-3, 3))),
    ],
    "tiny": [
        ("tiny-blobs-60", True, lambda r: sh.blobs(r, [20] * 3, 9)),
        ("tiny-blobs-90-uneven", True, lambda r: sh.blobs(r, [60, 20, 10], 9)),
        ("tiny-moons-80", True, lambda r: sh.moons(r, (40, 40), 0.04)),
    ],
    "single": [
        ("single-gaussian", True, lambda r: sh.stack(sh.gaussian(r, 500))),
        ("single-square", True, lambda r: sh.stack(sh.box(r, 800, (0, 0), (1, 1)))),
    ],
    "discrete": [
        ("rounded-blobs", True, lambda r: sh.rounded(sh.blobs(r, [400] * 4, 9), 0.5)),
        ("rounded-coarse", True, lambda r: sh.rounded(sh.blobs(r, [600] * 3, 9), 1)),
        ("rounded-moons", True, lambda r: sh.rounded(sh.moons(r, (500, 500), 0.06), 0.05)),
        ("rounded-4d", True, lambda r: sh.rounded(sh.blobs(r, [200, 100, 100], 7, 4), 0.5)),
        ("binary-20d", True, lambda r: sh.profiles(r, [200] * 4, 20, 0.08)),
    ],
    "noise": [
        ("noise-10-blobs", True, lambda r: sh.with_background(r, sh.blobs(r, [200] * 4, 8), 0.1)),
        ("noise-30-blobs", True, lambda r: sh.with_background(r, sh.blobs(r, [250] * 5, 9), 0.3)),
        ("noise-10-moons", True, lambda r: sh.with_background(r, sh.moons(r, (500, 500), 0.05), 0.1)),
    ],
    "hierarchy": [
        ("hierarchy-fine", False, lambda r: sh.families(r, 100, 3, 3, 40)),
        ("hierarchy-coarse", False, lambda r: sh.relabelled(sh.families(r, 100, 3, 3, 40), np.repeat(range(3), 3))),
        ("hierarchy-coarse-5", False, lambda r: sh.relabelled(sh.families(r, 60, 5, 4, 60), np.repeat(range(5), 4))),
    ],
    "moons": [
        ("moons-clean", True, lambda r: sh.moons(r, (150, 150), 0.03)),
        ("moons-noise-7", True, lambda r: sh.moons(r, (400, 400), 0.07)),
        ("moons-noise-12", True, lambda r: sh.moons(r, (750, 750), 0.12)),
        ("moons-in-10d", True, lambda r: sh.lifted(r, sh.moons(r, (400, 400), 0.05), 10, 0.03)),
    ],
    "rings": [
        ("rings-2-clean", True, lambda r: sh.rings(r, [200, 200], [1, 2], 0.06)),
        ("rings-2-noise", True, lambda r: sh.rings(r, [500, 500], [1, 2], 0.16)),
        ("rings-2-very-noisy", False, lambda r: sh.rings(r, [1000, 1000], [1, 2], 0.26)),
        ("rings-3", True, lambda r: sh.rings(r, [150, 300, 450], [1, 2, 3], 0.1)),
    ],
    "spirals": [
        ("spirals-2", True, lambda r: sh.spirals(r, 2, 300, 1.5, 0.012)),
        ("spirals-2-noise", True, lambda r: sh.spirals(r, 2, 800, 1.5, 0.03)),
        ("spirals-2-long", True, lambda r: sh.spirals(r, 2, 1000, 2.5, 0.01)),
        ("spirals-3", True, lambda r: sh.spirals(r, 3, 110, 0.8, 0.012)),
        ("spirals-2-uneven", True, lambda r: sh.spirals(r, 2, 500, 1.5, 0.01, 1.0)),
    ],
    "strokes": [
        ("stripes-3", True, lambda r: sh.stripes(r, [200] * 3, 1.2, 0.1)),
        ("stripes-5-close", True, lambda r: sh.stripes(r, [300] * 5, 0.8, 0.09)),
        ("stripes-uneven", True, lambda r: sh.stripes(r, [600, 150, 60], 1.4, 0.1)),
        ("lines-unequal", True, lambda r: sh.stack(
            sh.stroke(r, 600, [(0, 0), (12, 0)], 0.1), sh.stroke(r, 100, [(1, 1.2), (3, 1.2)], 0.1),
            sh.stroke(r, 200, [(6, 3), (10, 1.2)], 0.1))),
    ],
    "shapes": [
        ("squares-2", True, lambda r: sh.stack(sh.box(r, 300, (0, 0), (1, 1)), sh.box(r, 300, (1.3, 0), (2.3, 1)))),
        ("square-triangle-disc", True, lambda r: sh.stack(
            sh.box(r, 400, (0, 0), (2, 2)), sh.polygon(r, 300, [(2.6, 0), (5, 0), (3.8, 2.2)]),
            sh.ball(r, 400, (2.4, 3.5), 1.1))),
        ("checkerboard", True, lambda r: sh.stack(
            *(sh.box(r, 150, (i, j), (i + 0.75, j + 0.75)) for i in range(3) for j in range(3)))),
        ("cubes-3d", True, lambda r: sh.stack(
            *(sh.box(r, 250, (i, j, 0), (i + 0.7, j + 0.7, 0.7)) for i in range(2) for j in range(2)))),
    ],
    "bridges": [
        ("bridge-discs", True, lambda r: sh.stack(
            [sh.ball(r, 500), sh.stroke(r, 15, [(1, 0), (2, 0)], 0.03)],
            [sh.ball(r, 500, (4, 0)), sh.stroke(r, 15, [(2, 0), (3, 0)], 0.03)])),
        ("bridge-blobs", True, sh.bridged_blobs),
        ("bridge-squares-3", True, sh.bridged_squares),
    ],
    "pictures": [
        ("smile", True, lambda r: sh.stack(
            sh.shell(r, 700, (0, 0), 4, 0.1), sh.gaussian(r, 120, (-1.4, 1.3), 0.25),
            sh.gaussian(r, 120, (1.4, 1.3), 0.25), sh.arc(r, 250, (0, 0), 2.3, (0.58, 0.92), 0.1))),
        ("face", True, lambda r: sh.stack(
            sh.ball(r, 200, (-2, 1), 0.6), sh.ball(r, 200, (2, 1), 0.6),
            sh.stroke(r, 120, [(-3, 2.4), (-1, 2.8)], 0.08),
            sh.stroke(r, 120, [(3, 2.4), (1, 2.8)], 0.08), sh.polygon(r, 150, [(-0.6, -1), (0.6, -1), (0, 0.6)]),
            sh.arc(r, 400, (0, 0), 3, (0.6, 0.9), 0.15))),
        ("compound", False, sh.compound),
    ],
    "manifolds": [
        ("chain-2", True, lambda r: sh.chain(r, 2, 500, 0.06)),
        ("chain-4", True, lambda r: sh.chain(r, 4, 400, 0.08)),
        ("helices", True, lambda r: sh.stack(
            *(sh.curve(r, 600, lambda t, p=p: (np.cos(12 * t + p), np.sin(12 * t + p), 4 * t), 0.07)
            for p in (0, np.pi)))),
    ],
    "high-dimension": [
        ("high-5d", True, lambda r: sh.blobs(r, [200] * 6, 7, 5)),
        ("high-10d", True, lambda r: sh.blobs(r, [150, 300, 450, 150], 8, 10)),
        ("high-20d", True, lambda r: sh.blobs(r, [100] * 8, 9, 20)),
        ("high-100d", True, lambda r: sh.blobs(r, [300, 100, 50, 200, 150], 13, 100)),
        ("high-500d", True, lambda r: sh.blobs(r, [120] * 5, 24, 500)),
    ],
    "touching": [
        ("diamonds", True, lambda r: sh.stack(*(
            np.add(sh.box(r, 400, (-1, -1), (1, 1)) @ sh.rotation(0.125), [x, 0]) for x in (0, 2 * np.sqrt(2))))),
        ("wings", True, sh.wings),
        ("cap-and-disc", False, lambda r: sh.stack(
            sh.gaussian(r, 170, (0, 0), (1.1, 0.8)), sh.arc(r, 100, (0, -0.4), 3.0, (0.04, 0.46), 0.3))),
        ("open-ring", False, lambda r: sh.stack(
            sh.arc(r, 130, (0, 0), 3.0, (-0.18, 0.68), 0.2), sh.gaussian(r, 100, (-1.2, 0), 0.45),
            sh.gaussian(r, 100, (1.2, 0), 0.45))),
    ],
    "crowded": [
        ("crowded-3", False, lambda r: sh.stack(*(sh.gaussian(r, 250, c) for c in [(0, 0), (2.8, 0), (1.4, 2.4)]))),
    ],
    "winding": [
        ("parabolas", True, lambda r: sh.parabolas(r, 500, 0.1)),
        ("parabolas-noisy", True, lambda r: sh.parabolas(r, 500, 0.22)),
        ("atom", True, lambda r: sh.stack(sh.ball(r, 400, (0, 0, 0), 0.2), sh.shell(r, 400, (0, 0, 0), 2.5, 0.35))),
    ],
    "stragglers": [
        ("target", False, sh.target),
        ("ring-with-stragglers", False, sh.ring_with_stragglers),
        ("zigzag-with-stragglers", False, sh.zigzag_with_stragglers),
        ("bars-and-disc", True, lambda r: sh.stack(
            sh.box(r, 200, (0, 0), (4, 0.8)), sh.box(r, 100, (0, 1.2), (0.8, 4.5)), sh.gaussian(r, 100, (3, 3), 0.45))),
    ],
    "clutter": [
        ("clutter-densities", True, lambda r: sh.with_background(
            r, sh.stack(sh.gaussian(r, 400, (0, 0), 0.3), sh.gaussian(r, 400, (4, 1), 0.8),
            sh.gaussian(r, 400, (0, 6), 1.2), sh.ball(r, 300, (6, 6), 0.5)), 0.2)),
    ],
}
TABLES: dict[str, Family] = {
    "measurements": [
        ("measured-5-columns", False, lambda r: si.skewed(r, si.measured(r, [600, 350, 250], 2.7, 5), 0.4)),
        ("measured-8-columns", False, lambda r: si.skewed(
            r, si.measured(r, [200, 120, 90, 60, 50, 30, 22], 2.9, 8), 0.3)),
        ("measured-12-columns", False, lambda r: si.skewed(
            r, si.measured(r, [300, 200, 150, 100], 2.5, 12, factors=4), 0.5)),
        ("measured-18-columns", False, lambda r: si.skewed(r, si.measured(r, [220] * 4, 1.8, 18, factors=4), 0.3)),
    ],
    "small-tables": [
        ("small-60", False, lambda r: si.skewed(r, si.measured(r, [30, 18, 12], 3.4, 5), 0.3)),
        ("small-75-pair", False, lambda r: si.skewed(r, si.measured(r, [45, 30], 2.4, 8), 0.3)),
        ("small-96-of-7", False, lambda r: si.skewed(
            r, si.measured(r, [37, 26, 11, 10, 7, 3, 2], 4.0, 7, factors=4), 0.4)),
    ],
    "whole-numbers": [
        ("counts-5-columns", False, lambda r: si.counted(r, si.measured(r, [400, 250, 100], 2.9, 5), 8)),
        ("counts-12-columns", False, lambda r: si.counted(r, si.measured(r, [200, 150, 100, 50], 2.7, 12), 5)),
        ("counts-rare", False, lambda r: si.counted(r, si.measured(r, [300, 200], 2.5, 10), 1.5)),
    ],
    "duplicates": [
        ("coarse-3-columns", False, lambda r: si.coarse(si.measured(r, [300, 200, 100], 2.9, 3), 0.5)),
        ("coarse-4-columns", False, lambda r: si.coarse(si.measured(r, [500, 300], 2.5, 4), 0.6)),
        ("coarse-5-columns", False, lambda r: si.coarse(si.measured(r, [400, 300, 200, 100], 2.9, 5), 0.7)),
    ],
    "dense-beside-sparse": [
        ("healthy-150-of-215", False, lambda r: si.skewed(r, si.patients(r, 150, [35, 30], 5, severity=2.5), 0.3, 0.4)),
        ("healthy-458-of-699", False, lambda r: si.graded(si.patients(r, 458, [241], 9, severity=3.0), 0.8)),
        ("healthy-357-of-569", False, lambda r: si.skewed(r, si.patients(r, 357, [212], 30, severity=1.5), 0.4, 0.3)),
    ],
    "mixtures": [
        ("flowers-4d", False, lambda r: sh.rounded(sh.mixture(r, [50] * 3, 1.6, 4, 4), 0.1)),
        ("two-kinds-30d", False, lambda r: sh.mixture(r, [350, 200], 2, 30, 4)),
        ("two-kinds-19d-unbalanced", False, lambda r: sh.mixture(r, [120, 32], 2.2, 19, 2)),
    ],
    "far-classes": [(f"far-{name}", False, with_far_groups("classes", *design)) for name, design in FAR.items()],
    "far-strays": [
        (f"stray-{name}-{role}", False, with_far_groups(role, *design))
        for (name, design), role in zip(FAR.items(), ("nearest", "any", "nearest"), strict=True)
    ],
}
IMAGES: dict[str, Family] = {
    "small-images": [
        ("signs-10-of-8x8", False, lambda r: si.signs_by_hand(r, [120] * 10, 8, wobble=0.09)),
        ("signs-10-careless", False, lambda r: si.signs_by_hand(r, [150] * 10, 8, wobble=0.11)),
        ("signs-10-of-12x12", False, lambda r: si.signs_by_hand(r, [100] * 10, 12, wobble=0.09)),
        ("signs-15", False, lambda r: si.signs_by_hand(r, [60] * 15, 10, wobble=0.09)),
        ("signs-20-few", False, lambda r: si.signs_by_hand(r, [25] * 20, 14, wobble=0.07)),
    ],
    "embeddings": [
        ("encoded-10-in-64d", False, lambda r: si.encoded(r, [150] * 10, 64, gap=2.3, inner=4)),
        ("encoded-10-uneven", False, lambda r: si.encoded(
            r, [300, 250, 200, 150, 120, 100, 80, 60, 50, 40], 50, gap=2.3, inner=4)),
        ("encoded-15-in-100d", False, lambda r: si.encoded(r, [70] * 15, 100, gap=2.5, inner=4)),
        ("encoded-20-in-200d", False, lambda r: si.encoded(r, [50] * 20, 200, gap=2, inner=4, depth=10)),
        ("encoded-10-thin", False, lambda r: si.encoded(r, [80] * 10, 30, gap=1.8, inner=2)),
        ("topics-10-in-50d", False, lambda r: si.topics(r, [100] * 10, 50, purity=0.55)),
    ],
    "cells": [(f"cells-{i}", False, si.cells) for i in range(3)],
    "data-like": [
        ("composed-4-in-9d", False, lambda r: si.composed_classes(r, 4, 2, 170, 9, 4)),
        ("components-50d", False, lambda r: si.component_scores(r, [200, 150, 120, 90, 60, 40, 25, 15], 50, 9)),
        ("components-20d", False, lambda r: si.component_scores(r, [150] * 5, 20, 6)),
    ],
}
# fmt: on
KINDS = {"drawn": DRAWN, "tables": TABLES, "images": IMAGES}
"""Families by kind of data: shapes in any dimension, everyday tables, images and embeddings."""
