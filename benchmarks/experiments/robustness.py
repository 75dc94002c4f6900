"""The paper's curves of noise and scale, all its methods: ``python -m benchmarks robustness [--quick] [--table]``.

Moons with Gaussian noise .02 to .26; two concentric circles beside a copy of them enlarged 10 to 100 times; the
impossible set with uniform noise of 0 to 50 %; ten seeds where there is chance. Setting "published": the published
parameters on the data as they are. Setting "untuned": the fixed rules of ``benchmarks.methods`` and features divided by
their standard deviations, for the default as they are; "GIT shares" also knows the shares that the paper's GIT was
told, "GIT one more" is told one cluster more where there is uniform noise. Every draw is counted as published, where
the uniform noise is a class of its own, and by optimal matching, where it is not scored.

One line a method and point of a curve goes to ``results/robustness.jsonl``; what is stored is not run again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.accuracy import CHOSEN
from benchmarks.methods import Method, tell
from benchmarks.reporting.published import CURVE_METHODS, CURVE_OPTIONS, CURVES
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, Store, describe_run, show_progress
from benchmarks.scoring import score_both_ways, score_labels
from benchmarks.suite.datasets import load_set
from gitcluster import scale_features
from gitcluster.datasets import make_noisy_moons, make_scaled_circles

SEEDS = range(2020, 2030)
OURS = ("GIT", "GIT shares", "GIT one more")
"""The default, which chooses by itself how to look at the features."""
METHODS = {
    "published": ("GIT authors", "GIT paper", *CURVE_METHODS[1:]),
    "untuned": (*OURS, *CURVE_METHODS[1:]),
}
NOISE = -1
Draw = tuple[NDArray[Any], NDArray[np.int64]]


class Curve(NamedTuple):
    """What is drawn along a curve: ``make(level, seed, samples)``."""

    make: Callable[[float, int, int | None], Draw]
    levels: tuple[float, ...]
    seeds: Sequence[int]
    quick_levels: tuple[float, ...]
    axis: str


def noisy_moons(noise: float, seed: int, samples: int | None = None) -> Draw:
    """Two moons, as the published experiments drew them."""
    return make_noisy_moons(noise, n_samples=samples or 2000, random_state=seed)


def scaled_circles(scale: float, seed: int, samples: int | None = None) -> Draw:
    """Two circles and, but for scale 0, the same two mirrored and enlarged."""
    return make_scaled_circles(scale, n_samples=samples or 2000, random_state=seed)


def noisy_impossible(share: float, seed: int, samples: int | None = None) -> Draw:
    """The impossible set and a share of its size of samples uniform in a square, labelled -1."""
    X, y = load_set("toy_impossible")
    rng = np.random.RandomState(seed)
    if samples:
        part = rng.permutation(len(X))[:samples]
        X, y = X[part], y[part]
    noise = rng.uniform(-10, 10, (round(share * len(X)), 2))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), NOISE)])


LEVELS = {name: tuple(points) for name, points in CURVES.items()}
DRAWN = {
    "moons": Curve(noisy_moons, LEVELS["moons"], SEEDS, (0.02, 0.2), "Gaussian noise on moons"),
    "circles": Curve(scaled_circles, LEVELS["circles"], SEEDS[:1], (0, 10), "scale of the second pair of circles"),
    "impossible": Curve(
        noisy_impossible, (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), SEEDS, (0.0, 0.1), "share of uniform noise on impossible"
    ),
}


def main(arguments: Sequence[str]) -> None:
    """Run the curves, then print their tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks robustness", description=__doc__)
    parser.add_argument("--curves", help="only these curves", default=list(DRAWN), **NAMES)
    parser.add_argument("--methods", help="only these methods", **NAMES)
    parser.add_argument("--quick", action="store_true", help="few levels and samples, one seed, stored apart")
    parser.add_argument("--results", type=Path, help="folder of the results", metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--table", action="store_true", help="run nothing, print the tables of stored results")
    options = parser.parse_args(arguments)
    folder = options.results or FOLDER / ("quick" if options.quick else "")
    store = stored(folder)
    if not options.table:
        about = describe_run("robustness", arguments)
        left = [task for task in plan(options) if options.again or store.key(task) not in store.lines]
        for task, say in show_progress(left, "robustness"):
            line = run_point(task, quick=options.quick) | about
            store.add(line)
            say(f"{line['curve']:11} {line['level']:5} {line['setting']:10} {line['method']:13} {_cell(line)}")
    print(published_table(store), optimal_table(store), untuned_table(store), sep="\n\n")


def stored(folder: Path = FOLDER) -> Store:
    """The stored results."""
    return Store(folder / "robustness.jsonl", ("curve", "level", "method", "setting"))


def plan(options: argparse.Namespace) -> Iterator[Line]:
    """Yield every point of every curve by every method whose package is there."""
    for name in options.curves:
        for level in DRAWN[name].quick_levels if options.quick else DRAWN[name].levels:
            for setting, methods in METHODS.items():
                for method in methods:
                    wanted = options.methods is None or method in options.methods
                    if method == "GIT one more" and name != "impossible":  # only there noise is a group of its own
                        wanted = False
                    if wanted and _method(method).is_installed:
                        yield {"curve": name, "level": level, "method": method, "setting": setting}


def _method(name: str) -> Method:
    return CHOSEN[name.removesuffix(" shares").removesuffix(" one more")]


def run_point(task: Line, *, quick: bool) -> Line:
    """All seeds of one method at one level."""
    curve = DRAWN[task["curve"]]
    results: list[Line] = []
    start = perf_counter()
    for seed in curve.seeds[:1] if quick else curve.seeds:
        X, y = curve.make(task["level"], seed, 300 if quick else None)
        try:
            results.append(fit_and_score(task, X, y))
        except Exception as error:  # a failing method must not end the run
            results.append({"published": 0.0, "optimal": 0.0, "cover": 0.0, "error": repr(error)[:200]})
    line = task | {name: [result[name] for result in results] for name in ("published", "optimal", "cover")}
    errors = sorted({result["error"] for result in results if "error" in result})
    return line | ({"errors": errors} if errors else {}) | {"seconds": round(perf_counter() - start, 2)}


def fit_and_score(task: Line, X: NDArray[Any], y: NDArray[np.int64]) -> Line:
    """F1 both ways and the cover rate of one draw."""
    name, method, sizes = task["method"], _method(task["method"]), np.bincount(y[y >= 0])
    options: dict[str, Any] = {}
    if task["setting"] == "untuned":
        X = X if name in OURS else scale_features(X)
        if name == "GIT shares":
            options = {"proportions": CURVE_OPTIONS[task["curve"]]["GIT"].get("proportions", "equal")}
        if name == "GIT one more":
            sizes = np.append(sizes, 1)
    else:
        options = CURVE_OPTIONS[task["curve"]]["GIT" if name.startswith("GIT") else name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = method.fit(X, tell(method, sizes), **options)
    as_published = np.where(y == NOISE, y.max() + 1, y)
    scores = score_both_ways(as_published, labels)
    return {
        "published": scores["published"][0],
        "optimal": round(score_labels(y, np.where(labels < 0, -1, labels))["f1"], 4),
        "cover": scores["cover"],
    }


def table() -> str:
    """GIT alone, untuned, beside the published figures, by optimal matching."""
    store, rows = stored(), []
    for name, points in CURVES.items():
        for level, scores in points.items():
            lines = [store.lines.get((name, level, method, "untuned")) for method in ("GIT", "GIT shares")]
            means = ["" if line is None else f"{np.mean(line['optimal']):.4f}" for line in lines]
            rows.append([name, f"{level:g}", f"{scores[0]:.4f}", *means])
    return markdown(
        ["curve", "level", "paper's GIT, tuned", "GIT(n_clusters)", 'GIT(n_clusters, proportions="equal")'], rows
    )


def published_table(store: Store) -> str:
    """Published parameters and counting: mean F1, in brackets the published one."""
    return _table(store, "published", METHODS["published"], "published", _published)


def optimal_table(store: Store) -> str:
    """Published parameters, optimal matching, noise wrong: mean and standard deviation of F1."""
    return _table(store, "published", METHODS["published"], "optimal", lambda *_: "")


def untuned_table(store: Store) -> str:
    """Untuned, the same scaled data for all, optimal matching, noise wrong."""
    return _table(store, "untuned", METHODS["untuned"], "optimal", lambda *_: "")


def _table(
    store: Store, setting: str, methods: Sequence[str], counting: str, beside: Callable[[str, float, str], str]
) -> str:
    rows = []
    for name, curve in DRAWN.items():
        for level in curve.levels:
            lines = {method: store.lines.get((name, level, method, setting)) for method in methods}
            cells = [_cell(line, counting) + beside(name, level, m) if line else "" for m, line in lines.items()]
            if any(cells):
                rows.append([name, f"{level:g}", *cells])
    return markdown(["curve", "level", *methods], rows)


def _cell(line: Line, counting: str = "optimal") -> str:
    spread = f" ± {np.std(line[counting]):.3f}" if len(line[counting]) > 1 else ""
    return f"{np.mean(line[counting]):.3f}{spread}" + (" (failed)" if "errors" in line else "")


def _published(curve: str, level: float, method: str) -> str:
    scores = CURVES.get(curve, {}).get(level)
    name = "GIT" if method == "GIT authors" else method
    return f" ({scores[CURVE_METHODS.index(name)]:.3f})" if scores and name in CURVE_METHODS else ""
