"""Measure how much the published figures depend on k: ``python -m benchmarks sensitivity [--only embedding=raw]``.

F1 over k = 30, 40, ..., 100 of the code behind the published figures (``variant="authors"``, equal shares, exact
search), counted as published. The published principal components can be computed again; the published autoencoder
embeddings are lost, so ours differ from them. k-means, the baseline, is taken from ``dimension_reduction`` and, for raw
images, from ``accuracy``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.experiments import accuracy, dimension_reduction
from benchmarks.methods import METHODS
from benchmarks.reporting.published import BY_NEIGHBORS, EMBEDDED_PEERS, PUBLISHED, PUBLISHED_SIZES
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import published_scores
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, is_available, load_embedding

FIELDS = ("set", "embedding", "k")
Curves = dict[tuple[str, str], dict[str, list[float]]]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every embedding and k; ``--quick`` yields two k on few images."""
    sizes = PUBLISHED_SIZES[: 2 if options.quick else None]
    for name, dataset in product(["pca5"] if options.quick else EMBEDDINGS, SETS):
        if is_available(name):
            n_samples = dimension_reduction.QUICK_SAMPLES if options.quick else None
            for k in sizes:
                yield {"set": dataset, "embedding": name, "k": k}, partial(fit_k, dataset, name, n_samples, k)


def fit_k(dataset: str, name: str, n_samples: int | None, k: int) -> Line:
    """Return F1 with k neighbours, counted as published."""
    embedding = load_embedding(dataset, name, n_samples=n_samples)
    y = embedding.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, wall, _ = time_call(lambda: METHODS["GIT authors"].fit(embedding.points, np.bincount(y), n_neighbors=k))
    return {"n": len(y), "f1 as published": round(published_scores(y, labels).f1, 4), "seconds": round(wall, 2)}


def read_curves() -> Curves:
    """Return F1 over k by embedding: "here", "published", and the "k-means" of both."""
    lines, stored = Store("sensitivity", FIELDS).lines, accuracy.stored()
    embedded = Store("dimension_reduction", dimension_reduction.FIELDS).lines
    curves: Curves = {}
    for place in [place for place in product(SETS, EMBEDDINGS) if (*place, 30) in lines]:
        if place[1] == "raw":
            peer, row = stored.get((place[0], "k-means++", "published"), {}), PUBLISHED[place[0]]["k-means++"]
        else:
            peer, row = embedded.get((*place, "k-means"), {}), EMBEDDED_PEERS[place]["k-means"]
        curves[place] = {
            "published": list(BY_NEIGHBORS[place]),
            "here": [lines[(*place, k)]["f1 as published"] for k in PUBLISHED_SIZES],
            "k-means": [row.scores[0] or np.nan, peer.get("published", [np.nan])[0]],
        }
    return curves


def claim() -> str:
    """Return in how many cases GIT is ahead of k-means, which the paper claims of "the vast majority"."""
    rows = []
    for i, (source, title) in enumerate({"published": "published figures", "here": "here, `authors`"}.items()):
        curves = read_curves().values()
        gains = np.array([gain for curve in curves for gain in np.array(curve[source]) - curve["k-means"][i]])
        if len(gains := gains[~np.isnan(gains)]):
            counted = f"{(gains > 0).sum()} of {len(gains)}"
            rows.append([title, counted, f"{gains.min():+.3f}", f"{np.median(gains):+.3f}"])
    return markdown(["", "GIT ahead of k-means++", "worst", "median"], rows)


TABLES = {"sensitivity_claim": claim}
