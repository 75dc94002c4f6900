"""The paper's robustness curves without tuning: ``python -m benchmarks robustness [--table]``.

Moons at Gaussian noise .02 to .26, ten seeds; two concentric circles beside a copy of them enlarged 10 to 100 times.
GIT knows the number of clusters; a second run also knows that they are equal, as the paper's did. F1 by optimal
matching. One line a curve point goes to ``results/robustness.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster import GIT
from gitcluster.datasets import make_noisy_moons, make_scaled_circles
from gitcluster.metrics import matched_f1

RESULTS = Path(__file__).parent / "results" / "robustness.jsonl"
SEEDS = range(2020, 2030)
MOONS = {
    0.02: 1.0, 0.04: 1.0, 0.06: 1.0, 0.08: 0.9998, 0.10: 0.99905, 0.12: 0.99695, 0.14: 0.99285, 0.16: 0.98675,
    0.18: 0.9791, 0.20: 0.912808, 0.22: 0.879199, 0.24: 0.83307, 0.26: 0.796201,
}  # fmt: skip
"""Noise: F1 of the paper's GIT, tuned (k = 50, equal shares), mean of ten seeds."""
CIRCLES = {0: 0.973995} | dict.fromkeys(range(10, 101, 10), 0.973495)
"""Scale: F1 of the paper's GIT, tuned (k = 25, equal shares)."""


def main(arguments: Sequence[str]) -> None:
    """Run both curves, or print the table of what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks robustness", description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    if not parser.parse_args(arguments).table:
        lines = []
        for noise, paper in MOONS.items():
            draws = [make_noisy_moons(noise, random_state=seed) for seed in SEEDS]
            lines.append(curve_point("moons", noise, draws, paper))
        for scale, paper in CIRCLES.items():
            lines.append(curve_point("circles", scale, [make_scaled_circles(scale)], paper))
        RESULTS.write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(table())


def curve_point(
    curve: str, level: float, draws: Sequence[tuple[NDArray[Any], NDArray[Any]]], paper: float
) -> dict[str, Any]:
    """Mean F1 over the draws, knowing the number, and knowing that the clusters are equal too."""
    scores = {"number": [], "equal": []}
    for X, y in draws:
        number = len(np.unique(y))
        scores["number"].append(matched_f1(y, GIT(number).fit_predict(X)))
        scores["equal"].append(matched_f1(y, GIT(number, proportions="equal").fit_predict(X)))
    line = {"curve": curve, "level": level, "paper": paper} | {k: float(np.mean(v)) for k, v in scores.items()}
    print(json.dumps(line), file=sys.stderr)
    return line


def table() -> str:
    """Markdown of the stored results."""
    rows = ['| curve | level | paper\'s GIT, tuned | GIT(n_clusters) | GIT(n_clusters, proportions="equal") |']
    rows.append("|---|---|---|---|---|")
    for line in map(json.loads, RESULTS.read_text().splitlines()):
        figures = " | ".join(f"{line[key]:.4f}" for key in ("paper", "number", "equal"))
        rows.append(f"| {line['curve']} | {line['level']} | {figures} |")
    return "\n".join(rows)
