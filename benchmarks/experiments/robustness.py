"""Reproduce the paper's curves of noise and scale: ``python -m benchmarks robustness [--only curve=moons]``.

Moons with Gaussian noise .02 to .26; two concentric circles beside the same two enlarged 10 to 100 times; the
impossible set with uniform noise of 0 to 50 %. Ten seeds, except for circles. Methods have the published parameters,
and GIT's default, "GIT", is given the number of clusters. Every draw is counted as published, with the uniform noise as
a class of its own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons
from sklearn.preprocessing import MinMaxScaler

from benchmarks.experiments.accuracy import CHOSEN
from benchmarks.reporting.published import CURVE_METHODS, CURVE_OPTIONS, CURVES
from benchmarks.runner import Line, Task
from benchmarks.scoring import score_published
from benchmarks.suite.datasets import load_set

FIELDS = ("curve", "level", "method")
SEEDS = range(2020, 2030)
METHODS = ("GIT authors", "GIT paper", "GIT", *CURVE_METHODS[1:])
NOISE = -1
Draw = tuple[NDArray[Any], NDArray[np.int64]]


class Curve(NamedTuple):
    """A curve: ``make(level, seed, n_samples)`` draws the data of a level."""

    make: Callable[[float, int, int], Draw]
    levels: tuple[float, ...]
    seeds: Sequence[int]
    axis: str


def noisy_moons(noise: float, seed: int, n_samples: int = 2000) -> Draw:
    """Return two moons with Gaussian noise, scaled to 0..3; the paper's ten draws have the seeds 2020 to 2029."""
    X, y = make_moons(n_samples, noise=noise, random_state=seed)
    return MinMaxScaler((0, 3)).fit_transform(X), y


def scaled_circles(scale: float, seed: int, n_samples: int = 2000, *, noise: float = 0.15) -> Draw:
    """Return two circles in 0..3 and, except for scale 0, a mirrored copy ``scale`` times as large."""
    X, y = make_circles(n_samples, noise=noise, factor=0.4, random_state=seed)
    X = MinMaxScaler((0, 3)).fit_transform(X)
    return (X, y) if scale == 0 else (np.concatenate([X, -X * scale]), np.concatenate([y, y + 2]))


def noisy_impossible(share: float, seed: int, n_samples: int = 10**9) -> Draw:
    """Return the impossible set and a share of its size of uniform samples, labelled -1."""
    X, y = load_set("toy_impossible")
    rng = np.random.RandomState(seed)
    if n_samples < len(X):
        part = rng.permutation(len(X))[:n_samples]
        X, y = X[part], y[part]
    noise = rng.uniform(-10, 10, (round(share * len(X)), 2))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), NOISE)])


SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
DRAWN = {
    "moons": Curve(noisy_moons, tuple(CURVES["moons"]), SEEDS, "Gaussian noise on moons"),
    "circles": Curve(scaled_circles, tuple(CURVES["circles"]), SEEDS[:1], "scale of the second pair of circles"),
    "impossible": Curve(noisy_impossible, SHARES, SEEDS, "share of uniform noise on impossible"),
}


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every method at every level; ``--quick`` yields the first level with one seed of 300 samples."""
    for name, curve in DRAWN.items():
        for level in curve.levels[: 1 if options.quick else None]:
            for method in METHODS:
                if CHOSEN[method].is_installed:
                    task = {"curve": name, "level": level, "method": method}
                    yield task, partial(run_level, task, quick=options.quick)


def run_level(task: Line, *, quick: bool = False) -> Line:
    """Return F1 and the share of covered samples of every seed."""
    curve, results = DRAWN[task["curve"]], []
    for seed in curve.seeds[: 1 if quick else None]:
        draw = curve.make(task["level"], seed, 300) if quick else curve.make(task["level"], seed)  # type: ignore[call-arg]
        results.append(fit_and_score(task, *draw))
    return {name: [result[name] for result in results] for name in ("published", "cover")}


def fit_and_score(task: Line, X: NDArray[Any], y: NDArray[np.int64]) -> Line:
    """Return F1 and the share of covered samples of one draw; a method that fails scores 0."""
    name = task["method"]
    options = (
        {} if name == "GIT" else CURVE_OPTIONS[task["curve"]][name.removesuffix(" authors").removesuffix(" paper")]
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = CHOSEN[name].fit(X, np.bincount(y[y >= 0]), **options)
    except Exception:
        return {"published": 0.0, "cover": 0.0}
    scores = score_published(np.where(y == NOISE, y.max() + 1, y), labels)
    return {"published": scores["published"][0], "cover": scores["cover"]}
