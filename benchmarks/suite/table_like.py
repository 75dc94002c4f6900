"""Sets like everyday tables: few samples, touching classes, whole numbers, duplicates, dense beside sparse, strays.

Sizes, shares, skewness and discreteness are those of public tables, and so is the difficulty, by the share of
neighbours that have one class and by the scores of peers; no result of GIT was looked at.
"""

from __future__ import annotations

from benchmarks.suite.recipes import Maker, Table
from benchmarks.suite.shapes import blobs, mixture, rounded
from benchmarks.suite.table_makers import (
    answered,
    coarse,
    counted,
    far_groups,
    graded,
    measured,
    patients,
    recorded,
    skewed,
    yes_or_no,
)

MEASUREMENTS: Table = [
    ("measured-5-columns", False, lambda r: skewed(r, measured(r, [600, 350, 250], 2.7, 5), 0.4)),
    ("measured-8-columns", False, lambda r: skewed(r, measured(r, [200, 120, 90, 60, 50, 30, 22], 2.9, 8), 0.3)),
    ("measured-12-columns", False, lambda r: skewed(r, measured(r, [300, 200, 150, 100], 2.5, 12, factors=4), 0.5)),
    ("measured-18-columns", False, lambda r: skewed(r, measured(r, [220] * 4, 1.8, 18, factors=4), 0.3)),
    ("measured-19-columns", False, lambda r: skewed(r, measured(r, [200] * 7, 2.5, 19, factors=4, useless=3), 0.6)),
    ("measured-24-columns", False, lambda r: skewed(r, measured(r, [260, 247], 2.9, 24, factors=4), 0.1)),
    ("measured-30-columns", False, lambda r: skewed(r, measured(r, [357, 212], 2.9, 30, factors=5), 0.7)),
    ("measured-4-useless", False, lambda r: skewed(r, measured(r, [400, 300, 200], 2.9, 6, useless=4), 0.3)),
    ("measured-10-useless", False, lambda r: skewed(r, measured(r, [300, 250], 2.7, 10, useless=10), 0.4)),
    ("measured-very-skewed", False, lambda r: skewed(r, measured(r, [500, 300, 120], 2.7, 7), 0.9, 1.3)),
    ("measured-uneven", False, lambda r: skewed(r, measured(r, [1200, 250, 120, 60], 2.7, 9), 0.4)),
    (
        "measured-7-of-2000",
        False,
        lambda r: skewed(r, measured(r, [500, 420, 350, 270, 220, 150, 90], 2.7, 16, factors=4), 0.4),
    ),
]
SMALL_TABLES: Table = [
    ("small-60", False, lambda r: skewed(r, measured(r, [30, 18, 12], 3.4, 5), 0.3)),
    ("small-75-pair", False, lambda r: skewed(r, measured(r, [45, 30], 2.4, 8), 0.3)),
    ("small-96-of-7", False, lambda r: skewed(r, measured(r, [37, 26, 11, 10, 7, 3, 2], 4.0, 7, factors=4), 0.4)),
    ("small-120", False, lambda r: skewed(r, measured(r, [40] * 3, 2.7, 10), 0.2)),
    ("small-145", False, lambda r: skewed(r, measured(r, [76, 36, 33], 2.4, 3, noise=0.2), 0.7)),
    ("small-150-flowers", False, lambda r: coarse(measured(r, [50] * 3, 2.5, 4, factors=2, noise=0.2), 0.1)),
    ("small-154", False, lambda r: skewed(r, measured(r, [122, 32], 3.0, 19, factors=4, useless=5), 0.5)),
    ("small-178", False, lambda r: skewed(r, measured(r, [71, 59, 48], 2.9, 13, factors=4), 0.2)),
    ("small-208-wide", False, lambda r: skewed(r, measured(r, [111, 97], 1.6, 60, factors=8), 0.5)),
    ("small-300-of-5", False, lambda r: skewed(r, measured(r, [110, 80, 50, 40, 20], 2.7, 6), 0.4)),
    ("small-400", False, lambda r: skewed(r, measured(r, [250, 150], 2.4, 11), 0.4)),
    (
        "small-500-of-9",
        False,
        lambda r: skewed(r, measured(r, [180, 90, 60, 50, 40, 30, 20, 20, 10], 2.9, 8, factors=4), 0.1),
    ),
]
WHOLE_NUMBERS: Table = [
    ("counts-5-columns", False, lambda r: counted(r, measured(r, [400, 250, 100], 2.9, 5), 8)),
    ("counts-12-columns", False, lambda r: counted(r, measured(r, [200, 150, 100, 50], 2.7, 12), 5)),
    ("counts-rare", False, lambda r: counted(r, measured(r, [300, 200], 2.5, 10), 1.5)),
    ("counts-20-columns", False, lambda r: counted(r, measured(r, [150] * 6, 2.7, 20, factors=4), 4)),
    ("likert-5-of-10", False, lambda r: answered(measured(r, [150, 100, 80], 2.7, 10), 5)),
    ("likert-7-of-15", False, lambda r: answered(measured(r, [200, 150, 120, 80], 2.7, 15, factors=4), 7)),
    ("likert-5-of-25", False, lambda r: answered(measured(r, [300, 200], 2.4, 25, noise=0.6), 5)),
    ("rounded-4-columns", False, lambda r: coarse(measured(r, [200, 150, 150], 2.9, 4), 0.25)),
    ("rounded-9-columns", False, lambda r: answered(measured(r, [450, 240], 2.4, 9), 10)),
    ("rounded-6-of-16", False, lambda r: answered(measured(r, [180] * 6, 2.7, 16, factors=5), 15)),
]
DUPLICATES: Table = [
    ("coarse-3-columns", False, lambda r: coarse(measured(r, [300, 200, 100], 2.9, 3), 0.5)),
    ("coarse-4-columns", False, lambda r: coarse(measured(r, [500, 300], 2.5, 4), 0.6)),
    ("coarse-5-columns", False, lambda r: coarse(measured(r, [400, 300, 200, 100], 2.9, 5), 0.7)),
    ("recorded-often", False, lambda r: recorded(r, measured(r, [100, 60, 40], 2.7, 6), 700)),
    ("recorded-few", False, lambda r: recorded(r, measured(r, [60, 30], 2.7, 8), 300)),
    ("recorded-counts", False, lambda r: recorded(r, counted(r, measured(r, [120, 80, 60], 2.7, 7), 4), 800)),
    ("votes-16-columns", False, lambda r: yes_or_no(r, [267, 168], 16, 1.2)),
    ("votes-10-columns", False, lambda r: yes_or_no(r, [200, 150, 100], 10, 1.5)),
    ("animals-16-columns", False, lambda r: yes_or_no(r, [41, 20, 13, 10, 8, 5, 4], 16, 3.5)),
    ("symptoms-20-columns", False, lambda r: yes_or_no(r, [300, 200, 150, 100], 20, 1.2)),
]
DENSE_BESIDE_SPARSE: Table = [
    ("healthy-150-of-215", False, lambda r: skewed(r, patients(r, 150, [35, 30], 5, severity=2.5), 0.3, 0.4)),
    ("healthy-458-of-699", False, lambda r: graded(patients(r, 458, [241], 9, severity=3.0), 0.8)),
    ("healthy-357-of-569", False, lambda r: skewed(r, patients(r, 357, [212], 30, severity=1.5), 0.4, 0.3)),
    ("healthy-half", False, lambda r: graded(patients(r, 300, [300], 6, severity=2.5), 0.6)),
    ("healthy-most", False, lambda r: graded(patients(r, 700, [80], 7, severity=3.0), 0.6)),
    ("three-diseases", False, lambda r: patients(r, 400, [120, 80, 60], 10, severity=2.0)),
    ("two-diseases", False, lambda r: coarse(patients(r, 300, [100, 60], 6, severity=2.5), 0.3)),
    ("few-patients", False, lambda r: patients(r, 70, [25], 4, severity=2.5)),
    ("few-patients-wide", False, lambda r: patients(r, 90, [60], 15, severity=1.5)),
    ("many-patients", False, lambda r: skewed(r, patients(r, 1200, [300, 150], 8, severity=2.5), 0.3, 0.3)),
]
MIXTURES: Table = [
    ("flowers-4d", False, lambda r: rounded(mixture(r, [50] * 3, 1.6, 4, 4), 0.1)),
    ("two-kinds-30d", False, lambda r: mixture(r, [350, 200], 2, 30, 4)),
    ("two-kinds-19d-unbalanced", False, lambda r: mixture(r, [120, 32], 2.2, 19, 2)),
    ("blobs-uneven-8d", False, lambda r: blobs(r, [600, 300, 150, 70, 30], 5, 8)),
]

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
"""Sizes of classes, columns, sizes of far-off groups, and how many deviations these are away."""


def _beside(are: str, sizes: list[int], columns: int, groups: list[int], away: float) -> Maker:
    return lambda r: far_groups(r, measured(r, sizes, 3.0, columns), groups, away, are=are)


FAR_CLASSES: Table = [(f"far-{name}", False, _beside("classes", *design)) for name, design in FAR.items()]
FAR_STRAYS: Table = [
    (f"stray-{name}-{are}", False, _beside(are, *design))
    for (name, design), are in zip(FAR.items(), ("nearest", "any") * 4, strict=True)
]

TABLES = {
    "measurements": MEASUREMENTS,
    "small-tables": SMALL_TABLES,
    "whole-numbers": WHOLE_NUMBERS,
    "duplicates": DUPLICATES,
    "dense-beside-sparse": DENSE_BESIDE_SPARSE,
    "mixtures": MIXTURES,
    "far-classes": FAR_CLASSES,
    "far-strays": FAR_STRAYS,
}
