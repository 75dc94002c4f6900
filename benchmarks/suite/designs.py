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
    "2-classes-3-groups": ([180, 150], 8, [15, 12, 10], 3.0),
    "small": ([60, 50], 5, [12, 10], 4.0),
    "3-columns": ([150, 100, 80], 3, [12, 12], 4.0),
    "20-columns": ([300, 250], 20, [14, 10], 2.5),
    "4-groups": ([500, 400, 300], 10, [15, 13, 11, 10], 3.0),
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
        ("blobs-8-close", True, lambda r: sh.blobs(r, [300] * 8, 5)),
        ("blobs-4-in-3d", True, lambda r: sh.blobs(r, [150] * 4, 7, 3)),
        ("blobs-10-in-3d", True, lambda r: sh.blobs(r, [120] * 10, 6, 3)),
        ("blobs-6-large", True, lambda r: sh.blobs(r, [1700, 1300, 2000, 1500, 1500, 2000], 6.5)),
        ("blobs-far", True, lambda r: sh.blobs(r, [150, 250, 200], 60)),
        ("blobs-one-far", True, lambda r: sh.stack(
            sh.gaussian(r, 300), sh.gaussian(r, 300, (7, 0)), sh.gaussian(r, 300, (60, 50)))),
    ],
    "unbalanced": [
        ("unbalanced-1-20", True, lambda r: sh.blobs(r, [1000, 50], 8)),
        ("unbalanced-1-5-20", True, lambda r: sh.blobs(r, [800, 200, 40], 8)),
        ("unbalanced-8", True, lambda r: sh.blobs(r, [1000, 1000, 1000, 60, 60, 60, 60, 60], 9)),
        ("unbalanced-close", True, lambda r: sh.blobs(r, [600, 150, 60, 300], 6)),
        ("unbalanced-3d", True, lambda r: sh.blobs(r, [900, 45, 90, 180], 7, 3)),
        ("unbalanced-geometric", True, lambda r: sh.blobs(r, [1280, 640, 320, 160, 80, 40], 8)),
    ],
    "densities": [
        ("scales-3", True, lambda r: sh.stack(
            sh.gaussian(r, 300, (0, 0), 0.4), sh.gaussian(r, 300, (6, 0), 1), sh.gaussian(r, 300, (0, 14), 2.5))),
        ("scales-1-50", True, lambda r: sh.stack(
            sh.gaussian(r, 400, (0, 0), 0.1), sh.gaussian(r, 400, (2, 0), 0.1), sh.gaussian(r, 400, (25, 0), 5))),
        ("scales-6", True, lambda r: sh.blobs(r, [200] * 6, 12, 2, [0.3, 0.6, 1, 1.5, 2, 2.5])),
        ("densities-same-size", True, lambda r: sh.stack(
            sh.ball(r, 1500), sh.ball(r, 300, (2.6, 0)), sh.ball(r, 80, (1.3, 2.4)))),
        ("densities-3d", True, lambda r: sh.blobs(r, [400, 150, 400, 150], 11, 3, [0.4, 2, 1, 1.5])),
        ("densities-pairs", True, lambda r: sh.stack(
            sh.gaussian(r, 150, (0, 0), 0.15), sh.gaussian(r, 150, (1, 0), 0.15), sh.gaussian(r, 150, (8, 0), 1.2),
            sh.gaussian(r, 150, (15, 0), 1.2))),
        ("core-in-cloud", False, lambda r: sh.stack(
            sh.gaussian(r, 500, (0, 0), 0.25), sh.gaussian(r, 500, (0.8, 0.5), 2.5))),
        ("core-in-square", False, lambda r: sh.stack(sh.ball(r, 500, (3, 3), 0.7), sh.box(r, 500, (0, 0), (10, 10)))),
        ("two-cores-in-square", False, lambda r: sh.stack(
            sh.ball(r, 300, (3, 3), 0.6), sh.ball(r, 300, (7, 6), 0.6), sh.box(r, 500, (0, 0), (10, 10)))),
        ("core-in-ball-3d", False, lambda r: sh.stack(
            sh.ball(r, 600, (0, 0, 0), 0.3), sh.ball(r, 600, (0.5, 0, 0), 2))),
    ],
    "overlap": [
        ("overlap-3", False, lambda r: sh.blobs(r, [300] * 3, 3)),
        ("overlap-2-unequal", False, lambda r: sh.stack(sh.gaussian(r, 700), sh.gaussian(r, 200, (3.2, 0)))),
        ("overlap-15", False, lambda r: sh.blobs(r, [200] * 15, 3.6)),
        ("overlap-20", False, lambda r: sh.blobs(r, [150] * 20, 4)),
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
        ("stretched-cross", False, lambda r: sh.stack(
            sh.gaussian(r, 400, (0, 0), (4, 0.3)), sh.gaussian(r, 400, (0, 0), (0.3, 4)))),
        ("stretched-10", True, lambda r: sh.mixture(r, [150] * 10, 5, 2, 5)),
        ("stretched-6-in-3d", True, lambda r: sh.mixture(r, [200] * 6, 5, 3, 10)),
        ("needles-in-3d", True, lambda r: sh.stack(
            *(sh.gaussian(r, 250, c, s)
            for c, s in [((0, 0, 0), (5, 0.3, 0.3)), ((0, 3, 0), (0.3, 0.3, 5)), ((0, -3, 2), (4, 0.3, 0.6))]))),
    ],
    "many": [
        ("many-15", True, lambda r: sh.blobs(r, [60] * 15, 7)),
        ("many-15-uneven", True, lambda r: sh.blobs(r, list(range(40, 340, 20)), 7)),
        ("many-25-grid", True, lambda r: sh.grid(r, [100] * 25, 5, 7)),
        ("many-36-grid-jitter", True, lambda r: sh.grid(r, [80] * 36, 6, 8, 0.8)),
        ("many-50", True, lambda r: sh.blobs(r, [60] * 50, 7)),
        ("many-50-in-10d", True, lambda r: sh.blobs(r, [40] * 50, 9, 10)),
        ("many-31-rosette", True, lambda r: sh.stack(
            sh.gaussian(r, 100),
            *(sh.gaussian(r, 100, q * 7 * np.array([np.cos(t), np.sin(t)])) for q, m in [(1, 6), (2, 10), (3, 14)]
            for t in np.arange(m) * 2 * np.pi / m))),
        ("many-20-wave", True, lambda r: sh.stack(
            *(sh.gaussian(r, 450, (5.5 * i, 14 * np.sin(i * 0.9))) for i in range(20)))),
    ],
    "heavy-tails": [
        ("student-3-in-2d", True, lambda r: sh.student(r, [250] * 4, 12, 2, 3)),
        ("student-2-in-2d", False, lambda r: sh.student(r, [300] * 3, 20, 2, 2)),
        ("student-3-in-5d", True, lambda r: sh.student(r, [200] * 5, 14, 5, 3)),
        ("log-normal", True, lambda r: sh.log_normal(r, [400, 300, 200])),
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
        ("tiny-rings-120", True, lambda r: sh.rings(r, [40, 80], [1, 2.2], 0.05)),
        ("tiny-lines-70", True, lambda r: sh.stripes(r, [35, 35], 2.5, 0.1)),
        ("tiny-8d-120", True, lambda r: sh.blobs(r, [40] * 3, 8, 8)),
        ("tiny-close-150", False, lambda r: sh.mixture(r, [50] * 3, 3, 4, 3)),
    ],
    "single": [
        ("single-gaussian", True, lambda r: sh.stack(sh.gaussian(r, 500))),
        ("single-gaussian-large", True, lambda r: sh.stack(sh.gaussian(r, 3000, (0, 0), (3, 1), 0.1))),
        ("single-square", True, lambda r: sh.stack(sh.box(r, 800, (0, 0), (1, 1)))),
        ("single-ring", True, lambda r: sh.stack(sh.shell(r, 500, noise=0.05))),
        ("single-moon", True, lambda r: sh.stack(sh.arc(r, 400, turns=(0, 0.5), noise=0.08))),
        ("single-20d", True, lambda r: sh.stack(sh.gaussian(r, 600, np.zeros(20)))),
        ("single-100d", True, lambda r: sh.stack(sh.gaussian(r, 300, np.zeros(100)))),
        ("single-tiny", True, lambda r: sh.stack(sh.gaussian(r, 80))),
        ("single-annulus", True, lambda r: sh.stack(sh.annulus(r, 1000))),
    ],
    "discrete": [
        ("rounded-blobs", True, lambda r: sh.rounded(sh.blobs(r, [400] * 4, 9), 0.5)),
        ("rounded-coarse", True, lambda r: sh.rounded(sh.blobs(r, [600] * 3, 9), 1)),
        ("rounded-moons", True, lambda r: sh.rounded(sh.moons(r, (500, 500), 0.06), 0.05)),
        ("rounded-4d", True, lambda r: sh.rounded(sh.blobs(r, [200, 100, 100], 7, 4), 0.5)),
        ("binary-20d", True, lambda r: sh.profiles(r, [200] * 4, 20, 0.08)),
        ("counts-12d", True, lambda r: sh.counts(r, [200, 150, 100, 250], 12)),
        ("repeated-points", True, lambda r: sh.stack(
            *(c[r.integers(0, 60, 400)]
            for c in (sh.gaussian(r, 60), sh.gaussian(r, 60, (8, 0)), sh.gaussian(r, 60, (3, 8)))))),
    ],
    "noise": [
        ("noise-10-blobs", True, lambda r: sh.with_background(r, sh.blobs(r, [200] * 4, 8), 0.1)),
        ("noise-30-blobs", True, lambda r: sh.with_background(r, sh.blobs(r, [250] * 5, 9), 0.3)),
        ("noise-10-moons", True, lambda r: sh.with_background(r, sh.moons(r, (500, 500), 0.05), 0.1)),
        ("noise-10-rings", True, lambda r: sh.with_background(r, sh.rings(r, [400, 800], [1, 2], 0.07), 0.1)),
        ("noise-15-stripes", True, lambda r: sh.with_background(r, sh.stripes(r, [400] * 4, 1.5, 0.1), 0.15)),
        ("noise-10-shapes", True, lambda r: sh.with_background(r, sh.stack(
            sh.shell(r, 400, (0, 0), 1.5, 0.08), sh.stroke(r, 300, [(3, -2), (3, 2)], 0.1),
            sh.box(r, 400, (4.5, -1), (6.5, 1)), sh.arc(r, 400, (3, 1), 4, (0.05, 0.45), 0.1)), 0.1)),
        ("noise-10-in-3d", True, lambda r: sh.with_background(r, sh.blobs(r, [250] * 4, 8, 3), 0.1)),
    ],
    "hierarchy": [
        ("hierarchy-fine", False, lambda r: sh.families(r, 100, 3, 3, 40)),
        ("hierarchy-coarse", False, lambda r: sh.relabelled(sh.families(r, 100, 3, 3, 40), np.repeat(range(3), 3))),
        ("hierarchy-coarse-5", False, lambda r: sh.relabelled(sh.families(r, 60, 5, 4, 60), np.repeat(range(5), 4))),
        ("hierarchy-fine-5d", False, lambda r: sh.families(r, 80, 4, 4, 45, 5)),
    ],
    "moons": [
        ("moons-clean", True, lambda r: sh.moons(r, (150, 150), 0.03)),
        ("moons-noise-7", True, lambda r: sh.moons(r, (400, 400), 0.07)),
        ("moons-noise-12", True, lambda r: sh.moons(r, (750, 750), 0.12)),
        ("moons-noise-18", False, lambda r: sh.moons(r, (1000, 1000), 0.18)),
        ("moons-unbalanced", True, lambda r: sh.moons(r, (900, 120), 0.06)),
        ("moons-4", True, lambda r: sh.stack(
            *(sh.arc(r, 300, (i * 1.3, 0.4 * (i % 2)), turns=(0.5 * (i % 2), 0.5 + 0.5 * (i % 2)), noise=0.05)
            for i in range(4)))),
        ("moons-in-10d", True, lambda r: sh.lifted(r, sh.moons(r, (400, 400), 0.05), 10, 0.03)),
    ],
    "rings": [
        ("rings-2-clean", True, lambda r: sh.rings(r, [200, 200], [1, 2], 0.06)),
        ("rings-2-noise", True, lambda r: sh.rings(r, [500, 500], [1, 2], 0.16)),
        ("rings-2-very-noisy", False, lambda r: sh.rings(r, [1000, 1000], [1, 2], 0.26)),
        ("rings-3", True, lambda r: sh.rings(r, [150, 300, 450], [1, 2, 3], 0.1)),
        ("rings-5", True, lambda r: sh.rings(r, [100, 200, 300, 400, 500], [1, 2, 3, 4, 5], 0.1)),
        ("rings-equal-counts", True, lambda r: sh.rings(r, [300] * 4, [1, 2.2, 3.6, 5.2], 0.12)),
        ("ring-round-blob", True, lambda r: sh.stack(
            sh.gaussian(r, 300, sd=0.5), sh.shell(r, 500, radius=3, noise=0.2))),
        ("ring-round-3-blobs", True, lambda r: sh.stack(
            sh.shell(r, 900, radius=5, noise=0.25), sh.gaussian(r, 200, (-1.8, -1), 0.45),
            sh.gaussian(r, 200, (1.8, -1), 0.45), sh.gaussian(r, 200, (0, 2), 0.45))),
        ("rings-uneven-density", True, lambda r: sh.stack(
            sh.shell(r, 1200, radius=1, noise=0.08), sh.shell(r, 150, radius=2.4, noise=0.08))),
        ("rings-crossing", False, lambda r: sh.stack(*(sh.shell(r, 300, (1.3 * i, 0), 1, 0.03) for i in range(3)))),
        ("rings-side-by-side", True, lambda r: sh.stack(
            sh.shell(r, 300, (0, 0), 1, 0.07), sh.shell(r, 300, (2.8, 0), 1, 0.07),
            sh.gaussian(r, 100, (2.8, 0), 0.2))),
        ("broken-rings", True, lambda r: sh.stack(
            sh.arc(r, 250, radius=1, turns=(0.05, 0.8), noise=0.06),
            sh.arc(r, 500, radius=2, turns=(0.3, 1.1), noise=0.06))),
    ],
    "spirals": [
        ("spirals-2", True, lambda r: sh.spirals(r, 2, 300, 1.5, 0.012)),
        ("spirals-2-noise", True, lambda r: sh.spirals(r, 2, 800, 1.5, 0.03)),
        ("spirals-2-long", True, lambda r: sh.spirals(r, 2, 1000, 2.5, 0.01)),
        ("spirals-3", True, lambda r: sh.spirals(r, 3, 110, 0.8, 0.012)),
        ("spirals-3-noise", True, lambda r: sh.spirals(r, 3, 500, 0.9, 0.03)),
        ("spirals-2-uneven", True, lambda r: sh.spirals(r, 2, 500, 1.5, 0.01, 1.0)),
        ("spirals-4", True, lambda r: sh.spirals(r, 4, 200, 0.7, 0.015)),
    ],
    "strokes": [
        ("stripes-3", True, lambda r: sh.stripes(r, [200] * 3, 1.2, 0.1)),
        ("stripes-5-close", True, lambda r: sh.stripes(r, [300] * 5, 0.8, 0.09)),
        ("stripes-uneven", True, lambda r: sh.stripes(r, [600, 150, 60], 1.4, 0.1)),
        ("lines-unequal", True, lambda r: sh.stack(
            sh.stroke(r, 600, [(0, 0), (12, 0)], 0.1), sh.stroke(r, 100, [(1, 1.2), (3, 1.2)], 0.1),
            sh.stroke(r, 200, [(6, 3), (10, 1.2)], 0.1))),
        ("waves-3", True, lambda r: sh.stack(
            *(sh.curve(r, 400, lambda t, i=i: (10 * t, np.sin(10 * t) + 1.5 * i), 0.1) for i in range(3)))),
        ("waves-and-line", True, lambda r: sh.stack(
            sh.curve(r, 600, lambda t: (12 * t, 1.5 * np.sin(12 * t)), 0.08),
            sh.stroke(r, 300, [(0, 3), (12, 3)], 0.08),
            sh.stroke(r, 300, [(0, -3), (12, -3)], 0.08))),
        ("letters-git", True, lambda r: sh.stack(
            [sh.arc(r, 450, (2, 2), 2, (0.13, 1.0), 0.08), sh.stroke(r, 120, [(4, 2), (2.3, 2)], 0.08)],
            sh.stroke(r, 250, [(5.5, 0), (5.5, 4)], 0.08),
            [sh.stroke(r, 250, [(8.5, 0), (8.5, 4)], 0.08), sh.stroke(r, 200, [(6.8, 4), (10.2, 4)], 0.08)])),
        ("letters-oxc", True, sh.letters_oxc),
        ("cross-and-dots", True, lambda r: sh.stack(
            [sh.stroke(r, 350, [(-4, 0), (4, 0)], 0.12), sh.stroke(r, 350, [(0, -4), (0, 4)], 0.12)],
            *(sh.gaussian(r, 150, corner, 0.4) for corner in [(2.2, 2.2), (-2.2, 2.2), (2.2, -2.2), (-2.2, -2.2)]))),
        ("t-and-bars", True, lambda r: sh.stack(
            [sh.box(r, 500, (-3, 3), (3, 4)), sh.box(r, 400, (-0.5, -2), (0.5, 3))],
            sh.box(r, 300, (-2.6, -2), (-1.4, 2.2)), sh.box(r, 300, (1.4, -2), (2.6, 2.2)))),
        ("zigzags", True, lambda r: sh.stack(
            *(sh.stroke(r, 400, [(i, (i % 2) + 1.6 * j) for i in range(8)], 0.1) for j in range(3)))),
    ],
    "shapes": [
        ("squares-2", True, lambda r: sh.stack(sh.box(r, 300, (0, 0), (1, 1)), sh.box(r, 300, (1.3, 0), (2.3, 1)))),
        ("square-triangle-disc", True, lambda r: sh.stack(
            sh.box(r, 400, (0, 0), (2, 2)), sh.polygon(r, 300, [(2.6, 0), (5, 0), (3.8, 2.2)]),
            sh.ball(r, 400, (2.4, 3.5), 1.1))),
        ("checkerboard", True, lambda r: sh.stack(
            *(sh.box(r, 150, (i, j), (i + 0.75, j + 0.75)) for i in range(3) for j in range(3)))),
        ("frames", True, lambda r: sh.stack(
            sh.frame(r, 200, 1), sh.frame(r, 400, 2), sh.frame(r, 600, 3))),
        ("interlocked", True, sh.interlocked),
        ("jigsaw", True, lambda r: sh.jigsaw(r, 2400, 3, 0.06)),
        ("jigsaw-16", True, lambda r: sh.jigsaw(r, 3400, 4, 0.07)),
        ("eater", True, sh.eater),
        ("discs-uneven", True, lambda r: sh.stack(
            sh.ball(r, 1500, (0, 0), 3), sh.ball(r, 120, (4.2, 0), 0.8), sh.ball(r, 60, (0, 4), 0.55))),
        ("cubes-3d", True, lambda r: sh.stack(
            *(sh.box(r, 250, (i, j, 0), (i + 0.7, j + 0.7, 0.7)) for i in range(2) for j in range(2)))),
    ],
    "bridges": [
        ("bridge-discs", True, lambda r: sh.stack(
            [sh.ball(r, 500), sh.stroke(r, 15, [(1, 0), (2, 0)], 0.03)],
            [sh.ball(r, 500, (4, 0)), sh.stroke(r, 15, [(2, 0), (3, 0)], 0.03)])),
        ("bridge-blobs", True, sh.bridged_blobs),
        ("bridge-squares-3", True, sh.bridged_squares),
        ("touching-discs-2", True, lambda r: sh.stack(sh.ball(r, 800), sh.ball(r, 800, (1.98, 0)))),
        ("touching-discs-uneven", True, lambda r: sh.stack(sh.ball(r, 1500, (0, 0), 2), sh.ball(r, 400, (2.95, 0), 1))),
        ("touching-hexagon", True, lambda r: sh.stack(
            sh.ball(r, 350), *(sh.ball(r, 350, 2.02 * np.array([np.cos(t), np.sin(t)]))
            for t in np.arange(6) * np.pi / 3))),
        ("touching-balls-3d", True, lambda r: sh.stack(
            sh.ball(r, 700, (0, 0, 0)), sh.ball(r, 700, (2.0, 0, 0)), sh.ball(r, 700, (1.0, 1.75, 0)))),
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
        ("flower", True, sh.flower),
        ("landscape", True, sh.landscape),
        ("compound", False, sh.compound),
    ],
    "manifolds": [
        ("chain-2", True, lambda r: sh.chain(r, 2, 500, 0.06)),
        ("chain-4", True, lambda r: sh.chain(r, 4, 400, 0.08)),
        ("helices", True, lambda r: sh.stack(
            *(sh.curve(r, 600, lambda t, p=p: (np.cos(12 * t + p), np.sin(12 * t + p), 4 * t), 0.07)
            for p in (0, np.pi)))),
        ("sheets", True, lambda r: sh.stack(
            *(sh.curve(r, 700, lambda t, i=i: (5 * t, 5 * r.random(t.size), np.sin(5 * t) + 1.3 * i), 0.06)
            for i in range(3)))),
        ("swiss-roll-cut", True, sh.cut_roll),
        ("core-and-shell", True, lambda r: sh.stack(
            sh.ball(r, 400, (0, 0, 0), 0.8), sh.shell(r, 1200, (0, 0, 0), 2.5, 0.08))),
        ("hemispheres", True, sh.hemispheres),
        ("sphere-shells-10d", True, lambda r: sh.stack(
            sh.gaussian(r, 600, np.zeros(10), 0.15), sh.shell(r, 1000, np.zeros(10), 3, 0.1))),
    ],
    "high-dimension": [
        ("high-5d", True, lambda r: sh.blobs(r, [200] * 6, 7, 5)),
        ("high-10d", True, lambda r: sh.blobs(r, [150, 300, 450, 150], 8, 10)),
        ("high-20d", True, lambda r: sh.blobs(r, [100] * 8, 9, 20)),
        ("high-50d", True, lambda r: sh.blobs(r, [200] * 10, 11, 50)),
        ("high-100d", True, lambda r: sh.blobs(r, [300, 100, 50, 200, 150], 13, 100)),
        ("high-500d", True, lambda r: sh.blobs(r, [120] * 5, 24, 500)),
        ("high-500d-scales", True, lambda r: sh.blobs(r, [150] * 3, 30, 500, [0.7, 1, 1.3])),
        ("high-20d-unbalanced", True, lambda r: sh.blobs(r, [1000, 50, 100, 250], 9, 20)),
        ("high-10d-scales", True, lambda r: sh.blobs(r, [250] * 5, 12, 10, [0.5, 0.8, 1.2, 1.6, 2])),
        ("high-10d-stretched", True, lambda r: sh.mixture(r, [250] * 6, 6, 10, 6)),
        ("high-30d-stretched", True, lambda r: sh.mixture(r, [300] * 4, 7, 30, 8)),
        ("high-10d-mixture-close", False, lambda r: sh.mixture(r, [300] * 5, 3.4, 10, 3)),
        ("noise-features-8", True, lambda r: sh.with_noise_features(r, sh.blobs(r, [200] * 4, 9, 4), 8)),
        ("noise-features-20", False, lambda r: sh.with_noise_features(r, sh.blobs(r, [250] * 3, 9, 5), 20)),
        ("noise-features-moons", False, lambda r: sh.with_noise_features(r, sh.moons(r, (500, 500), 0.05), 2)),
        ("subspaces-10d", True, lambda r: sh.subspaces(r, [250] * 4, 10, 2, 5)),
        ("subspaces-30d", True, lambda r: sh.subspaces(r, [150] * 6, 30, 3, 6)),
        ("subspaces-100d", True, lambda r: sh.subspaces(r, [200, 80, 300], 100, 5, 8)),
        ("lifted-30d-rings", True, lambda r: sh.lifted(r, sh.rings(r, [400, 600], [1, 2], 0.08), 30, 0.02)),
        ("lifted-100d-blobs", True, lambda r: sh.lifted(r, sh.blobs(r, [150] * 6, 8, 3), 100, 0.2)),
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
        ("fuzzy-x", False, sh.fuzzy_x),
        ("company", True, sh.company),
        ("network", True, sh.network),
        ("tetrahedron", True, lambda r: sh.stack(
            *(sh.gaussian(r, 100, 4.6 * np.array(c) / np.sqrt(2))
            for c in [(0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)]))),
        ("tight-beside-wide", False, lambda r: sh.stack(
            sh.gaussian(r, 150, (0, 0), 0.3), sh.gaussian(r, 150, (3, 0), 1.1))),
        ("crescents-uneven", True, lambda r: sh.moons(r, (100, 600), 0.11)),
        ("splashes", False, sh.splashes),
        ("bands", True, lambda r: sh.stack(
            *(sh.box(r, 500, (0, i), (6, i + 1 - 0.2)) @ sh.rotation(0.1) for i in range(4)))),
        ("lattice", True, sh.lattice),
    ],
    "crowded": [
        ("crowded-2-unlike", False, lambda r: sh.stack(
            sh.gaussian(r, 2000, (0, 0), (1, 1.6)), sh.gaussian(r, 2000, (2.6, 0), (0.7, 0.6)))),
        ("crowded-3", False, lambda r: sh.stack(*(sh.gaussian(r, 250, c) for c in [(0, 0), (2.8, 0), (1.4, 2.4)]))),
        ("crowded-15", False, lambda r: sh.mixture(r, [230] * 15, 2.4, 2, 3)),
        ("crowded-15-worse", False, lambda r: sh.mixture(r, [330] * 15, 1.9, 2, 3)),
        ("crowded-grid", True, lambda r: sh.grid(r, [110] * 30, 6, 4.4, 0.3)),
        ("crowded-grid-large", True, lambda r: sh.grid(r, [150] * 49, 7, 4.6, 0.4)),
        ("crowded-3d", False, lambda r: sh.blobs(r, [200] * 6, 3.2, 3)),
        ("crowded-squares", False, lambda r: sh.stack(
            *(sh.box(r, 250, (i, j), (i + 0.94, j + 0.94)) for i in range(3) for j in range(2)))),
        ("crowded-5d", False, lambda r: sh.mixture(r, [200] * 8, 2.4, 5, 2)),
        ("crowded-moons", False, lambda r: sh.moons(r, (800, 800), 0.22)),
        ("crowded-rings", False, lambda r: sh.rings(r, [500, 1000, 1500], [1, 2, 3], 0.25)),
    ],
    "winding": [
        ("parabolas", True, lambda r: sh.parabolas(r, 500, 0.1)),
        ("parabolas-noisy", True, lambda r: sh.parabolas(r, 500, 0.22)),
        ("maze", True, sh.maze),
        ("panes", True, sh.panes),
        ("trajectories", True, lambda r: sh.stack(*(
            sh.curve(r, 900, lambda t, i=i: (
                20 * t, 3 * np.sin(6 * t + 0.1 * i) + 1.5 * np.cos(11 * t) + 1.3 * i), 0.12) for i in range(4)))),
        ("orbits", True, sh.orbits),
        ("glyphs", True, sh.glyphs),
        ("word", True, sh.word),
        ("five-rings", False, lambda r: sh.stack(
            *(sh.shell(r, 500, (1.15 * i, -0.9 * (i % 2)), 1, 0.05) for i in range(5)))),
        ("trapped", True, sh.trapped),
        ("atom", True, lambda r: sh.stack(sh.ball(r, 400, (0, 0, 0), 0.2), sh.shell(r, 400, (0, 0, 0), 2.5, 0.35))),
    ],
    "stragglers": [
        ("target", False, sh.target),
        ("ring-with-stragglers", False, sh.ring_with_stragglers),
        ("zigzag-with-stragglers", False, sh.zigzag_with_stragglers),
        ("bars-and-disc", True, lambda r: sh.stack(
            sh.box(r, 200, (0, 0), (4, 0.8)), sh.box(r, 100, (0, 1.2), (0.8, 4.5)), sh.gaussian(r, 100, (3, 3), 0.45))),
        ("bars-disc-and-stragglers", False, lambda r: sh.stack(
            sh.box(r, 200, (0, 0), (4, 0.8)), sh.box(r, 100, (0, 1.2), (0.8, 4.5)), sh.gaussian(r, 100, (3, 3), 0.45),
            sh.gaussian(r, 4, (9, 8), 0.1))),
        ("blob-and-few", True, lambda r: sh.stack(sh.gaussian(r, 400), sh.gaussian(r, 12, (7, 3), 0.3))),
    ],
    "clutter": [
        ("clutter-glyphs", True, lambda r: sh.with_background(r, sh.glyphs(r), 0.1)),
        ("clutter-word", True, lambda r: sh.with_background(r, sh.word(r), 0.12)),
        ("clutter-maze", True, lambda r: sh.with_background(r, sh.maze(r), 0.08)),
        ("clutter-cross", False, lambda r: sh.with_background(
            r, sh.stack(sh.stroke(r, 500, [(-4, 0), (-0.6, 0)], 0.2), sh.stroke(r, 500, [(0.6, 0), (4, 0)], 0.2),
            sh.stroke(r, 500, [(0, -4), (0, -0.6)], 0.2), sh.stroke(r, 500, [(0, 0.6), (0, 4)], 0.2)), 0.15)),
        ("clutter-densities", True, lambda r: sh.with_background(
            r, sh.stack(sh.gaussian(r, 400, (0, 0), 0.3), sh.gaussian(r, 400, (4, 1), 0.8),
            sh.gaussian(r, 400, (0, 6), 1.2), sh.ball(r, 300, (6, 6), 0.5)), 0.2)),
        ("clutter-discs", True, lambda r: sh.with_background(
            r, sh.stack(*(sh.ball(r, 400, c, q)
            for c, q in [((0, 0), 1), ((2.5, 0), 1), ((0, 3), 1.5), ((4, 3), 0.6)])), 0.4)),
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
        ("measured-19-columns", False, lambda r: si.skewed(
            r, si.measured(r, [200] * 7, 2.5, 19, factors=4, useless=3), 0.6)),
        ("measured-24-columns", False, lambda r: si.skewed(r, si.measured(r, [260, 247], 2.9, 24, factors=4), 0.1)),
        ("measured-30-columns", False, lambda r: si.skewed(r, si.measured(r, [357, 212], 2.9, 30, factors=5), 0.7)),
        ("measured-4-useless", False, lambda r: si.skewed(r, si.measured(r, [400, 300, 200], 2.9, 6, useless=4), 0.3)),
        ("measured-10-useless", False, lambda r: si.skewed(r, si.measured(r, [300, 250], 2.7, 10, useless=10), 0.4)),
        ("measured-very-skewed", False, lambda r: si.skewed(r, si.measured(r, [500, 300, 120], 2.7, 7), 0.9, 1.3)),
        ("measured-uneven", False, lambda r: si.skewed(r, si.measured(r, [1200, 250, 120, 60], 2.7, 9), 0.4)),
        ("measured-7-of-2000", False, lambda r: si.skewed(
            r, si.measured(r, [500, 420, 350, 270, 220, 150, 90], 2.7, 16, factors=4), 0.4)),
    ],
    "small-tables": [
        ("small-60", False, lambda r: si.skewed(r, si.measured(r, [30, 18, 12], 3.4, 5), 0.3)),
        ("small-75-pair", False, lambda r: si.skewed(r, si.measured(r, [45, 30], 2.4, 8), 0.3)),
        ("small-96-of-7", False, lambda r: si.skewed(
            r, si.measured(r, [37, 26, 11, 10, 7, 3, 2], 4.0, 7, factors=4), 0.4)),
        ("small-120", False, lambda r: si.skewed(r, si.measured(r, [40] * 3, 2.7, 10), 0.2)),
        ("small-145", False, lambda r: si.skewed(r, si.measured(r, [76, 36, 33], 2.4, 3, noise=0.2), 0.7)),
        ("small-150-flowers", False, lambda r: si.coarse(si.measured(r, [50] * 3, 2.5, 4, factors=2, noise=0.2), 0.1)),
        ("small-154", False, lambda r: si.skewed(r, si.measured(r, [122, 32], 3.0, 19, factors=4, useless=5), 0.5)),
        ("small-178", False, lambda r: si.skewed(r, si.measured(r, [71, 59, 48], 2.9, 13, factors=4), 0.2)),
        ("small-208-wide", False, lambda r: si.skewed(r, si.measured(r, [111, 97], 1.6, 60, factors=8), 0.5)),
        ("small-300-of-5", False, lambda r: si.skewed(r, si.measured(r, [110, 80, 50, 40, 20], 2.7, 6), 0.4)),
        ("small-400", False, lambda r: si.skewed(r, si.measured(r, [250, 150], 2.4, 11), 0.4)),
        ("small-500-of-9", False, lambda r: si.skewed(
            r, si.measured(r, [180, 90, 60, 50, 40, 30, 20, 20, 10], 2.9, 8, factors=4), 0.1)),
    ],
    "whole-numbers": [
        ("counts-5-columns", False, lambda r: si.counted(r, si.measured(r, [400, 250, 100], 2.9, 5), 8)),
        ("counts-12-columns", False, lambda r: si.counted(r, si.measured(r, [200, 150, 100, 50], 2.7, 12), 5)),
        ("counts-rare", False, lambda r: si.counted(r, si.measured(r, [300, 200], 2.5, 10), 1.5)),
        ("counts-20-columns", False, lambda r: si.counted(r, si.measured(r, [150] * 6, 2.7, 20, factors=4), 4)),
        ("likert-5-of-10", False, lambda r: si.answered(si.measured(r, [150, 100, 80], 2.7, 10), 5)),
        ("likert-7-of-15", False, lambda r: si.answered(si.measured(r, [200, 150, 120, 80], 2.7, 15, factors=4), 7)),
        ("likert-5-of-25", False, lambda r: si.answered(si.measured(r, [300, 200], 2.4, 25, noise=0.6), 5)),
        ("rounded-4-columns", False, lambda r: si.coarse(si.measured(r, [200, 150, 150], 2.9, 4), 0.25)),
        ("rounded-9-columns", False, lambda r: si.answered(si.measured(r, [450, 240], 2.4, 9), 10)),
        ("rounded-6-of-16", False, lambda r: si.answered(si.measured(r, [180] * 6, 2.7, 16, factors=5), 15)),
    ],
    "duplicates": [
        ("coarse-3-columns", False, lambda r: si.coarse(si.measured(r, [300, 200, 100], 2.9, 3), 0.5)),
        ("coarse-4-columns", False, lambda r: si.coarse(si.measured(r, [500, 300], 2.5, 4), 0.6)),
        ("coarse-5-columns", False, lambda r: si.coarse(si.measured(r, [400, 300, 200, 100], 2.9, 5), 0.7)),
        ("recorded-often", False, lambda r: si.recorded(r, si.measured(r, [100, 60, 40], 2.7, 6), 700)),
        ("recorded-few", False, lambda r: si.recorded(r, si.measured(r, [60, 30], 2.7, 8), 300)),
        ("recorded-counts", False, lambda r: si.recorded(
            r, si.counted(r, si.measured(r, [120, 80, 60], 2.7, 7), 4), 800)),
        ("votes-16-columns", False, lambda r: si.yes_or_no(r, [267, 168], 16, 1.2)),
        ("votes-10-columns", False, lambda r: si.yes_or_no(r, [200, 150, 100], 10, 1.5)),
        ("animals-16-columns", False, lambda r: si.yes_or_no(r, [41, 20, 13, 10, 8, 5, 4], 16, 3.5)),
        ("symptoms-20-columns", False, lambda r: si.yes_or_no(r, [300, 200, 150, 100], 20, 1.2)),
    ],
    "dense-beside-sparse": [
        ("healthy-150-of-215", False, lambda r: si.skewed(r, si.patients(r, 150, [35, 30], 5, severity=2.5), 0.3, 0.4)),
        ("healthy-458-of-699", False, lambda r: si.graded(si.patients(r, 458, [241], 9, severity=3.0), 0.8)),
        ("healthy-357-of-569", False, lambda r: si.skewed(r, si.patients(r, 357, [212], 30, severity=1.5), 0.4, 0.3)),
        ("healthy-half", False, lambda r: si.graded(si.patients(r, 300, [300], 6, severity=2.5), 0.6)),
        ("healthy-most", False, lambda r: si.graded(si.patients(r, 700, [80], 7, severity=3.0), 0.6)),
        ("three-diseases", False, lambda r: si.patients(r, 400, [120, 80, 60], 10, severity=2.0)),
        ("two-diseases", False, lambda r: si.coarse(si.patients(r, 300, [100, 60], 6, severity=2.5), 0.3)),
        ("few-patients", False, lambda r: si.patients(r, 70, [25], 4, severity=2.5)),
        ("few-patients-wide", False, lambda r: si.patients(r, 90, [60], 15, severity=1.5)),
        ("many-patients", False, lambda r: si.skewed(r, si.patients(r, 1200, [300, 150], 8, severity=2.5), 0.3, 0.3)),
    ],
    "mixtures": [
        ("flowers-4d", False, lambda r: sh.rounded(sh.mixture(r, [50] * 3, 1.6, 4, 4), 0.1)),
        ("two-kinds-30d", False, lambda r: sh.mixture(r, [350, 200], 2, 30, 4)),
        ("two-kinds-19d-unbalanced", False, lambda r: sh.mixture(r, [120, 32], 2.2, 19, 2)),
        ("blobs-uneven-8d", False, lambda r: sh.blobs(r, [600, 300, 150, 70, 30], 5, 8)),
    ],
    "far-classes": [(f"far-{name}", False, with_far_groups("classes", *design)) for name, design in FAR.items()],
    "far-strays": [
        (f"stray-{name}-{role}", False, with_far_groups(role, *design))
        for (name, design), role in zip(FAR.items(), ("nearest", "any") * 4, strict=True)
    ],
}
IMAGES: dict[str, Family] = {
    "small-images": [
        ("signs-10-of-8x8", False, lambda r: si.signs_by_hand(r, [120] * 10, 8, wobble=0.09)),
        ("signs-10-careless", False, lambda r: si.signs_by_hand(r, [150] * 10, 8, wobble=0.11)),
        ("signs-10-of-12x12", False, lambda r: si.signs_by_hand(r, [100] * 10, 12, wobble=0.09)),
        ("signs-12-uneven", False, lambda r: si.signs_by_hand(r, [20 + 20 * i for i in range(12)], 8, wobble=0.09)),
        ("signs-15", False, lambda r: si.signs_by_hand(r, [60] * 15, 10, wobble=0.09)),
        ("signs-20-few", False, lambda r: si.signs_by_hand(r, [25] * 20, 14, wobble=0.07)),
        ("signs-10-plain", False, lambda r: si.signs_by_hand(r, [80] * 10, 8, wobble=0.1, corners=3)),
        ("signs-6-of-6x6", False, lambda r: si.signs_by_hand(
            r, [200, 150, 150, 100, 100, 50], 6, wobble=0.1, levels=100)),
    ],
    "embeddings": [
        ("encoded-10-in-64d", False, lambda r: si.encoded(r, [150] * 10, 64, gap=2.3, inner=4)),
        ("encoded-10-uneven", False, lambda r: si.encoded(
            r, [300, 250, 200, 150, 120, 100, 80, 60, 50, 40], 50, gap=2.3, inner=4)),
        ("encoded-15-in-100d", False, lambda r: si.encoded(r, [70] * 15, 100, gap=2.5, inner=4)),
        ("encoded-20-in-200d", False, lambda r: si.encoded(r, [50] * 20, 200, gap=2, inner=4, depth=10)),
        ("encoded-12-on-sphere", False, lambda r: si.encoded(r, [90] * 12, 96, gap=2, sphere=True)),
        ("encoded-10-thin", False, lambda r: si.encoded(r, [80] * 10, 30, gap=1.8, inner=2)),
        ("topics-10-in-50d", False, lambda r: si.topics(r, [100] * 10, 50, purity=0.55)),
        ("topics-16-in-100d", False, lambda r: si.topics(r, [60] * 16, 100, purity=0.55)),
        ("topics-12-uneven", False, lambda r: si.topics(r, [20 + 15 * i for i in range(12)], 128, purity=0.55)),
        ("topics-20-few", False, lambda r: si.topics(r, [30] * 20, 200, purity=0.5)),
    ],
    "cells": [(f"cells-{i}", False, si.cells) for i in range(8)],
    "data-like": [
        ("composed-10-in-16d", False, lambda r: si.composed_classes(r, 10, 3, 240, 16, 5.5)),
        ("composed-26-in-16d", False, lambda r: si.composed_classes(r, 26, 3, 150, 16, 6)),
        ("composed-4-in-9d", False, lambda r: si.composed_classes(r, 4, 2, 170, 9, 4)),
        ("components-50d", False, lambda r: si.component_scores(r, [200, 150, 120, 90, 60, 40, 25, 15], 50, 9)),
        ("components-20d", False, lambda r: si.component_scores(r, [150] * 5, 20, 6)),
        ("curved-10-in-64d", False, lambda r: si.curved_classes(r, 10, 180, 64, 3, 0.15)),
        ("curved-6-in-30d", False, lambda r: si.curved_classes(r, 6, 250, 30, 2, 0.2)),
        ("curved-40-in-500d", False, lambda r: si.curved_classes(r, 40, 10, 500, 2, 0.05)),
        ("curved-10-large", False, lambda r: si.curved_classes(r, 10, 800, 40, 4, 0.12)),
    ],
}
# fmt: on
KINDS = {"drawn": DRAWN, "tables": TABLES, "images": IMAGES}
"""Families by kind of data: shapes in any dimension, everyday tables, images and embeddings."""
