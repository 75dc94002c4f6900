"""Compute the labels for the paper's pictures of results: ``python -m benchmarks pictures [--only picture=mnist]``.

Noise and scale: moons with Gaussian noise of .25, the impossible set with 10 % of uniform noise, two circles beside the
same two a hundred times larger, and two circles with Gaussian noise of .2. The parameters are published, for the last
those of the other circles; GIT gets the k from 3 to 100 that is best by the labels there. Images: MNIST and FMNIST in
the five numbers of the autoencoder, laid out by UMAP; SpectACl gets only the images that are drawn. A line has the F1
of all samples and the labels of those that are drawn.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import dimension_reduction
from benchmarks.experiments.accuracy import CHOSEN
from benchmarks.experiments.robustness import NOISE, noisy_impossible, noisy_moons, scaled_circles
from benchmarks.reporting.published import CURVE_OPTIONS, EMBEDDED, EMBEDDED_PEERS
from benchmarks.runner import Line, Task
from benchmarks.scoring import pack_labels, score_labels
from benchmarks.suite.embeddings import SETS, is_available, load_embedding

FIELDS = ("picture", "method")
SEED = 2020
DRAWN_IMAGES = 10_000
STEPS = 30_000
"""Coordinates are stored as whole numbers from 0 to this."""
METHODS = ("GIT authors", "SpectACl", "Quickshift++", "GIT")
EMBEDDED_METHODS = ("GIT authors", "k-means", "Quickshift++", "SpectACl")


class Scene(NamedTuple):
    """A toy set and the curve whose published parameters it has."""

    make: Callable[[], tuple[NDArray[Any], NDArray[np.int64]]]
    curve: str
    title: str
    tuned: bool = False
    """Whether GIT gets the k that is best by the labels, because none was published."""


SCENES = {
    "moons": Scene(lambda: noisy_moons(0.25, SEED), "moons", "moons,\nGaussian noise .25"),
    "impossible": Scene(lambda: noisy_impossible(0.1, SEED), "impossible", "impossible,\n10 % uniform noise"),
    "scaled circles": Scene(
        lambda: scaled_circles(100, SEED), "circles", "circles, scales 1 and 100,\ndrawn in one size"
    ),
    "noisy circles": Scene(
        lambda: scaled_circles(0, SEED, noise=0.2), "circles", "circles,\nGaussian noise .2", tuned=True
    ),
}


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every picture and method; a layout is a method too. ``--quick`` yields the first picture."""
    for picture in list(SCENES)[: 1 if options.quick else None]:
        for method in METHODS:
            yield {"picture": picture, "method": method}, partial(run_scene, picture, method)
    if not options.quick and is_available("ae5") and find_spec("umap"):
        for dataset in SETS:
            for method in ("UMAP", *EMBEDDED_METHODS):
                yield {"picture": dataset, "method": method}, partial(run_images, dataset, method)


def run_scene(picture: str, method: str) -> Line:
    """Return the labels of a toy set; the default is given the number alone."""
    X, y = SCENES[picture].make()
    options: dict[str, Any] = {}
    if method != "GIT":
        options = CURVE_OPTIONS[SCENES[picture].curve][method.removesuffix(" authors")]
    results: list[Line] = []
    for k in range(3, 101) if SCENES[picture].tuned and method == "GIT authors" else [None]:
        more = {} if k is None else {"n_neighbors": k}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = CHOSEN[method].fit(X, np.bincount(y[y != NOISE]), **(options | more))
        results.append({"f1": round(score_labels(y, labels)["f1"], 4), "k": k, "labels": pack_labels(labels)})
    return max(results, key=lambda line: line["f1"])


def run_images(dataset: str, method: str) -> Line:
    """Return the labels of the images that are drawn, or their layout by UMAP."""
    X, y, *_ = load_embedding(dataset, "ae5")
    drawn = dimension_reduction.sample_rows(len(y), min(len(y), DRAWN_IMAGES))
    if method == "UMAP":
        from umap import UMAP

        points = UMAP(random_state=0, n_jobs=1).fit_transform(X)[drawn]
        points = STEPS * (points - points.min(axis=0)) / np.ptp(points, axis=0)
        return {"points": pack_labels(np.rint(points).ravel()), "classes": pack_labels(y[drawn])}
    if method == "SpectACl":
        X, y, drawn = X[drawn], y[drawn], np.arange(len(drawn))
    if method == "GIT authors":
        labels = CHOSEN[method].fit(X, np.bincount(y), n_neighbors=EMBEDDED[dataset, "ae5"][0])
    else:
        options = EMBEDDED_PEERS[dataset, "ae5"][method].options
        labels = next(dimension_reduction.draw_labels(method, X, np.bincount(y), options))
    return {"f1": round(score_labels(y, labels)["f1"], 4), "n": len(y), "labels": pack_labels(labels[drawn])}
