"""Measure how much the result depends on k: ``python -m benchmarks sensitivity [--only embedding=raw]``.

F1 over k = 30, 40, ..., 100 of the code behind the published figures (``variant="authors"``, equal shares) and of the
default variant with the same k, both given the number of classes. The published principal components can be computed
again; the published autoencoder embeddings are lost, so ours differ from them.

Neighbours are searched exactly. k-means, the baseline, and the default that chooses k are taken from the results of
``dimension_reduction``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from benchmarks.experiments import dimension_reduction
from benchmarks.methods import METHODS
from benchmarks.reporting.published import BY_NEIGHBORS, EMBEDDED_PEERS, PUBLISHED, PUBLISHED_SIZES
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import count_clusters, published_scores, score_labels
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, is_available, load_embedding

FIELDS = ("set", "embedding", "variant", "k")
NAMES = tuple(name for name in EMBEDDINGS if not name.startswith("umap"))
Curves = dict[tuple[str, str], dict[str, list[float]]]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every embedding, variant and k; ``--quick`` yields two k on few images."""
    sizes = PUBLISHED_SIZES[: 2 if options.quick else None]
    for name, dataset in product(["pca5"] if options.quick else NAMES, SETS):
        if is_available(name):
            n_samples = dimension_reduction.QUICK_SAMPLES if options.quick else None
            for variant, k in product(("authors", "adaptive"), sizes):
                task = {"set": dataset, "embedding": name, "variant": variant, "k": k}
                yield task, partial(fit_k, dataset, name, n_samples, variant, k)


def fit_k(dataset: str, name: str, n_samples: int | None, variant: str, k: int) -> Line:
    """Return the scores of a variant with k neighbours, also counted as published."""
    embedding = load_embedding(dataset, name, n_samples=n_samples)
    y, options = embedding.y, {"variant": variant, "n_neighbors": k, "search": "exact", "n_jobs": -1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, wall, _ = time_call(lambda: METHODS["GIT"].fit(embedding.points, np.bincount(y), **options))
    scores = {name: round(value, 4) for name, value in score_labels(y, labels).items()}
    scores["f1 as published"] = round(published_scores(y, labels).f1, 4)
    return {"n": len(y)} | scores | {"clusters": count_clusters(labels), "seconds": round(wall, 2)}


def read_curves() -> Curves:
    """Return F1 over k of every embedding and source; "auto" is the default without k, "k-means" the baseline.

    The baseline has three values: by optimal matching, as published, and the published figure.
    """
    lines, others = Store("sensitivity", FIELDS).lines, dimension_reduction.group_lines()
    curves: Curves = {}
    for place in [place for place in product(SETS, NAMES) if place in others and (*place, "authors", 30) in lines]:
        line, raw = others[place]["k-means"], PUBLISHED[place[0]]["k-means++"]
        published = (EMBEDDED_PEERS.get(place) or {"k-means": raw})["k-means"].scores[0] or np.nan
        curve = {"published": list(BY_NEIGHBORS[place])}
        for variant, score in (("authors", "f1 as published"), ("adaptive", "f1")):
            curve[variant] = [lines[(*place, variant, k)][score] for k in PUBLISHED_SIZES]
        curve["auto"] = [others[place]["GIT"]["f1"]]
        curve["k-means"] = [line["f1"], line.get("as published", [np.nan])[0], published]
        curves[place] = curve
    return curves


def claim() -> str:
    """Return in how many cases GIT is ahead of k-means, which the paper claims of "the vast majority"."""
    rows = []
    for source, which, title in (
        ("published", 2, "published figures"),
        ("authors", 1, "here, `authors`, counted as published"),
        ("adaptive", 0, "here, default with that k"),
    ):
        gains = np.concatenate([np.array(curve[source]) - curve["k-means"][which] for curve in read_curves().values()])
        gains = gains[~np.isnan(gains)]
        rows.append([title, f"{(gains > 0).sum()} of {len(gains)}", f"{gains.min():+.3f}", f"{np.median(gains):+.3f}"])
    return markdown(["", "GIT ahead of k-means++", "worst", "median"], rows)


TABLES = {"sensitivity_claim": claim}
