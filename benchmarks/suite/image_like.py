"""Sets like images and embeddings, of a difficulty chosen as that of ``table_like``."""

from __future__ import annotations

from benchmarks.suite import puzzles
from benchmarks.suite.image_makers import cells, encoded, signs_by_hand, topics
from benchmarks.suite.recipes import Table

SMALL_IMAGES: Table = [
    ("signs-10-of-8x8", False, lambda r: signs_by_hand(r, [120] * 10, 8, wobble=0.09)),
    ("signs-10-careless", False, lambda r: signs_by_hand(r, [150] * 10, 8, wobble=0.11)),
    ("signs-10-of-12x12", False, lambda r: signs_by_hand(r, [100] * 10, 12, wobble=0.09)),
    ("signs-12-uneven", False, lambda r: signs_by_hand(r, [20 + 20 * i for i in range(12)], 8, wobble=0.09)),
    ("signs-15", False, lambda r: signs_by_hand(r, [60] * 15, 10, wobble=0.09)),
    ("signs-20-few", False, lambda r: signs_by_hand(r, [25] * 20, 14, wobble=0.07)),
    ("signs-10-plain", False, lambda r: signs_by_hand(r, [80] * 10, 8, wobble=0.1, corners=3)),
    ("signs-6-of-6x6", False, lambda r: signs_by_hand(r, [200, 150, 150, 100, 100, 50], 6, wobble=0.1, levels=100)),
]
EMBEDDINGS: Table = [
    ("encoded-10-in-64d", False, lambda r: encoded(r, [150] * 10, 64, gap=2.3, inner=4)),
    (
        "encoded-10-uneven",
        False,
        lambda r: encoded(r, [300, 250, 200, 150, 120, 100, 80, 60, 50, 40], 50, gap=2.3, inner=4),
    ),
    ("encoded-15-in-100d", False, lambda r: encoded(r, [70] * 15, 100, gap=2.5, inner=4)),
    ("encoded-20-in-200d", False, lambda r: encoded(r, [50] * 20, 200, gap=2, inner=4, depth=10)),
    ("encoded-12-on-sphere", False, lambda r: encoded(r, [90] * 12, 96, gap=2, sphere=True)),
    ("encoded-10-thin", False, lambda r: encoded(r, [80] * 10, 30, gap=1.8, inner=2)),
    ("topics-10-in-50d", False, lambda r: topics(r, [100] * 10, 50, purity=0.55)),
    ("topics-16-in-100d", False, lambda r: topics(r, [60] * 16, 100, purity=0.55)),
    ("topics-12-uneven", False, lambda r: topics(r, [20 + 15 * i for i in range(12)], 128, purity=0.55)),
    ("topics-20-few", False, lambda r: topics(r, [30] * 20, 200, purity=0.5)),
]

CELLS: Table = [(f"cells-{i}", False, cells) for i in range(8)]
DATA_LIKE: Table = [
    ("composed-10-in-16d", False, lambda r: puzzles.composed_classes(r, 10, 3, 240, 16, 5.5)),
    ("composed-26-in-16d", False, lambda r: puzzles.composed_classes(r, 26, 3, 150, 16, 6)),
    ("composed-4-in-9d", False, lambda r: puzzles.composed_classes(r, 4, 2, 170, 9, 4)),
    (
        "components-50d",
        False,
        lambda r: puzzles.component_scores(r, [200, 150, 120, 90, 60, 40, 25, 15], 50, 9),
    ),
    ("components-20d", False, lambda r: puzzles.component_scores(r, [150] * 5, 20, 6)),
    ("curved-10-in-64d", False, lambda r: puzzles.curved_classes(r, 10, 180, 64, 3, 0.15)),
    ("curved-6-in-30d", False, lambda r: puzzles.curved_classes(r, 6, 250, 30, 2, 0.2)),
    ("curved-40-in-500d", False, lambda r: puzzles.curved_classes(r, 40, 10, 500, 2, 0.05)),
    ("curved-10-large", False, lambda r: puzzles.curved_classes(r, 10, 800, 40, 4, 0.12)),
]

TABLES = {"small-images": SMALL_IMAGES, "embeddings": EMBEDDINGS, "cells": CELLS, "data-like": DATA_LIKE}
