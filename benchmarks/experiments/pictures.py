"""What the paper's pictures of results are drawn from: ``python -m benchmarks pictures [--pictures a,b]``.

Noise and scale: moons with Gaussian noise of .25, the impossible set with 10 % of uniform noise, two circles beside
the same two a hundred times larger, and two circles with Gaussian noise of .2; published parameters, which for the
last are those of the other circles, and for GIT the k from 3 to 100 that is best by the labels. Images: MNIST and
FMNIST in the five numbers of the autoencoder, laid out by UMAP; SpectACl has
the images that are drawn alone.

A line a picture and method goes to ``results/pictures.jsonl``: F1 of all samples, and the labels of those that are
drawn; what is stored is not run again. ``report`` draws.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import dimension_reduction
from benchmarks.experiments.accuracy import CHOSEN
from benchmarks.experiments.robustness import NOISE, noisy_impossible, noisy_moons
from benchmarks.methods import tell
from benchmarks.reporting.published import CURVE_OPTIONS
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, Store, describe_run, show_progress
from benchmarks.scoring import pack_labels, score_labels
from benchmarks.suite.embeddings import SETS, can_run, default_cache, load_embedding
from gitcluster.datasets import make_scaled_circles

RESULTS = FOLDER / "pictures.jsonl"
SEED = 2020
DRAWN_IMAGES = 10_000
STEPS = 30_000
"""Coordinates are kept as whole numbers from 0 to this."""
METHODS = ("GIT authors", "SpectACl", "Quickshift++", "GIT")
EMBEDDED_METHODS = ("GIT authors", "k-means", "Quickshift++ published", "SpectACl published", "GIT")


class Scene(NamedTuple):
    """A toy set and whose published parameters it has."""

    make: Callable[[], tuple[NDArray[Any], NDArray[np.int64]]]
    curve: str
    title: str
    tuned: bool = False
    """Whether GIT has the k that is best by the labels, because none was published."""


SCENES = {
    "moons": Scene(lambda: noisy_moons(0.25, SEED), "moons", "moons,\nGaussian noise .25"),
    "impossible": Scene(lambda: noisy_impossible(0.1, SEED), "impossible", "impossible,\n10 % uniform noise"),
    "scaled circles": Scene(
        lambda: make_scaled_circles(100), "circles", "circles, scales 1 and 100,\ndrawn in one size"
    ),
    "noisy circles": Scene(
        lambda: make_scaled_circles(0, noise=0.2), "circles", "circles,\nGaussian noise .2", tuned=True
    ),
}


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the scores."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pictures", description=__doc__)
    parser.add_argument("--pictures", default=[*SCENES, *SETS], **NAMES)
    parser.add_argument("--methods", help="only these methods", **NAMES)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    options = parser.parse_args(arguments)
    store, about = stored(), describe_run("pictures", arguments)
    tasks = [task for task in plan(options) if options.again or task not in store.lines]
    for (picture, method), say in show_progress(tasks, "pictures"):
        run = run_scene if picture in SCENES else run_images
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = {"picture": picture, "method": method} | run(picture, method, options.cache) | about
        store.add(line)
        say(f"{picture:15} {method:24} {line.get('f1', '')}")
    print(table(stored()))


def table(store: Store) -> str:
    """Markdown: F1 by optimal matching of what is drawn, noise not scored."""
    methods = list(dict.fromkeys((*METHODS[:1], *EMBEDDED_METHODS[:-1], *METHODS[1:])))
    rows = [
        [picture, *(f"{line['f1']:.3f}" if line else "" for line in (store.lines.get((picture, m)) for m in methods))]
        for picture in (*SCENES, *SETS)
    ]
    return markdown(["F1", *methods], rows)


def stored() -> Store:
    """The stored results."""
    return Store(RESULTS, ("picture", "method"))


def plan(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield every picture and method; a layout is a method too."""
    for picture in options.pictures:
        methods = METHODS if picture in SCENES else ("UMAP", *EMBEDDED_METHODS)
        if picture in SETS and not can_run(["ae5", "umap2"])[1:]:
            continue
        yield from ((picture, method) for method in methods if options.methods is None or method in options.methods)


def run_scene(picture: str, method: str, _: Path) -> Line:
    """Labels of a toy set; the default is told the number alone."""
    X, y = SCENES[picture].make()
    chosen, options = CHOSEN[method], {}
    if method != "GIT":
        options = CURVE_OPTIONS[SCENES[picture].curve][method.removesuffix(" authors")]
    sizes = [None] if not (SCENES[picture].tuned and method == "GIT authors") else range(3, 101)
    found: list[Line] = []
    for k in sizes:
        more = options if k is None else options | {"n_neighbors": k}
        labels = chosen.fit(X, tell(chosen, np.bincount(y[y != NOISE])), **more)
        found.append({"f1": round(score_labels(y, labels)["f1"], 4), "k": k, "labels": pack_labels(labels)})
    return max(found, key=lambda line: line["f1"])


def run_images(dataset: str, method: str, cache: Path) -> Line:
    """Labels of some of the images, or where UMAP puts them."""
    embedding = load_embedding(dataset, "ae5", cache=cache)
    X, y = embedding.points, embedding.y
    drawn = dimension_reduction.some_rows(len(y), min(len(y), DRAWN_IMAGES))
    if method == "UMAP":
        from umap import UMAP

        points = UMAP(random_state=0, n_jobs=1).fit_transform(X)[drawn]
        points = STEPS * (points - points.min(axis=0)) / np.ptp(points, axis=0)
        return {"points": pack_labels(np.rint(points).ravel()), "classes": pack_labels(y[drawn])}
    if method in dimension_reduction.SMALLER:
        X, y, drawn = X[drawn], y[drawn], np.arange(len(drawn))
    options = dimension_reduction.published_options(method, dataset, "ae5")
    labels = next(dimension_reduction.draw(method, X, len(np.unique(y)), options))
    return {"f1": round(score_labels(y, labels)["f1"], 4), "n": len(y), "labels": pack_labels(labels[drawn])}
