"""Run the paper's competitors after dimension reduction: ``python -m benchmarks dimension_reduction``.

Every method gets the same embedding of MNIST and FMNIST, see ``benchmarks.suite.embeddings``, and the parameters of the
published runs. GIT is measured by ``sensitivity``, among other k with the published one. F1, ARI and NMI are counted as
published. Figures of k-means and SpectACl are means of ten seeds. SpectACl gets 20,000 images.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from benchmarks.experiments import accuracy
from benchmarks.methods import METHODS
from benchmarks.methods.spectacl import embed as embed_spectacl
from benchmarks.reporting.published import EMBEDDED, EMBEDDED_PEERS, PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_in_process, time_call
from benchmarks.scoring import published_scores
from benchmarks.suite.embeddings import is_available, load_embedding

FIELDS = ("set", "embedding", "method")
QUICK_SAMPLES = 1000
SECONDS, GIGABYTES = 1800, 14
"""Limits of a fit."""
PART = 20_000
"""Images for SpectACl, which takes too much memory with all of them."""
SEEDS = range(10)
PEERS = ("k-means", "Quickshift++", "SpectACl")
"""The competitors of the paper."""
Figures = dict[tuple[str, str], dict[str, tuple[float, float]]]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every embedding and method; ``--quick`` yields pca5."""
    for (dataset, name), method in product(EMBEDDED_PEERS, PEERS):
        if is_available(name) and (name == "pca5" or not options.quick):
            task = {"set": dataset, "embedding": name, "method": method}
            yield task, partial(run_method, dataset, name, method, options.quick)


def run_method(dataset: str, name: str, method: str, quick: bool) -> Line:
    """Return the result on all images, of SpectACl on a part of them."""
    n_samples = QUICK_SAMPLES if quick else None
    embedding = load_embedding(dataset, name, n_samples=n_samples, max_epochs=3 if quick else 100)
    details = {"seconds": round(embedding.seconds, 1), "d": embedding.points.shape[1]} | embedding.details
    size = min(len(embedding.y), PART) if method == "SpectACl" else len(embedding.y)
    limits = {"seconds": SECONDS, "gigabytes": GIGABYTES}
    return run_in_process(fit_embedding, size, dataset, name, method, n_samples, **limits) | {"of embedding": details}


def fit_embedding(size: int, dataset: str, name: str, method: str, n_samples: int | None) -> Line:
    """Return scores and seconds of one method, on a random part of the images if ``size`` is smaller."""
    X, y, *_ = load_embedding(dataset, name, n_samples=n_samples)
    if size < len(y):
        rows = sample_rows(len(y), size)
        X, y = np.ascontiguousarray(X[rows]), y[rows]
    sizes, options = np.bincount(y), EMBEDDED_PEERS[dataset, name][method].options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "Quickshift++":
            METHODS[method].fit(X[:1000], sizes)  # compiles
        draws = draw_labels(method, X, sizes, options)
        labels, wall, cpu = time_call(lambda: next(draws))
        scores = np.array([published_scores(y, some)[:3] for some in (labels, *draws)])
    line: Line = {"n": len(y), "published": scores.mean(axis=0).round(4).tolist()}
    line |= {"seeds published": scores[:, 0].round(4).tolist()} if len(scores) > 1 else {}
    return line | {"seconds": round(wall, 2), "cpu": round(cpu, 2)}


def sample_rows(n_samples: int, size: int) -> NDArray[np.int64]:
    """Return sorted random rows."""
    return np.sort(np.random.default_rng(0).choice(n_samples, size, replace=False))


def draw_labels(
    method: str, X: NDArray[Any], sizes: NDArray[np.int64], options: dict[str, Any]
) -> Iterator[NDArray[Any]]:
    """Yield the labels of every seed, or of the one clustering of a method without a random start."""
    if method == "SpectACl":  # one eigendecomposition for all seeds of k-means
        rng = np.random.RandomState(SEEDS[0])
        embedding = embed_spectacl(X.astype(np.float64), options["epsilon"], rng)
        for seed in (rng, *SEEDS[1:]):
            yield KMeans(len(sizes), n_init=10, random_state=seed).fit_predict(embedding)
    elif method == "k-means":
        for seed in SEEDS:
            yield METHODS[method].fit(X, sizes, random_state=seed)
    else:
        yield METHODS[method].fit(X, sizes, **options)


def published_figures() -> Figures:
    """Return F1 here and published F1, by embedding and method; NaN if it was not run."""
    lines, figures = Store("dimension_reduction", FIELDS).lines, {}
    tuned = Store("sensitivity", ("set", "embedding", "k")).lines
    for embedding, peers in EMBEDDED_PEERS.items():
        k, published, *_ = EMBEDDED[embedding]
        git = tuned.get((*embedding, k), {}).get("f1 as published", np.nan)
        figures[embedding] = {"GIT authors": (git, published)}
        for method in PEERS:
            here = lines.get((*embedding, method), {}).get("published", [np.nan])[0]
            figures[embedding][method] = (here, peers[method].scores[0] or 0.0)
    return figures


def claims_table() -> str:
    """Return the lead of GIT over the best competitor, the best of each over the widths, as the paper claims it."""
    claimed = {("mnist", "pca"): 12.5, ("fmnist", "pca"): 17.1, ("mnist", "ae"): 9.5, ("fmnist", "ae"): 10.4}
    figures, rows = published_figures(), []
    for (dataset, kind), claim in claimed.items():
        embeddings = [
            p for p in figures if p[0] == dataset and p[1].startswith(kind) and figures[p]["GIT authors"][0] > 0
        ]
        if not embeddings:
            continue
        sources = [[[figures[p][m][i] for m in ("GIT authors", *PEERS)] for p in embeddings] for i in (1, 0)]
        rows.append([f"{kind.upper()} + {dataset.upper()}", f"{claim:.1f}", *map(_lead, sources)])
    header = ["points of F1", "claimed", "published figures", "here"]
    return markdown(header, rows)


def _lead(rows: Sequence[Sequence[float]]) -> str:
    """Return the best of the first method minus the best of the others, and in how many rows the first is ahead."""
    scores = np.array(rows)
    lead = 100 * (scores[:, 0].max() - scores[:, 1:].max())
    return f"{lead:+.1f} (ahead on {(scores[:, 0] > scores[:, 1:].max(axis=1)).sum()} of {len(scores)})"


def improvement_table() -> str:
    """Return on how many embeddings a method is better than on raw images, as published and here."""
    figures, stored, rows = published_figures(), accuracy.stored(), []
    for method in ("GIT authors", *PEERS):
        name = "k-means++" if method == "k-means" else method
        better = []
        for (dataset, _), scores in figures.items():
            raw = stored.get((dataset, name, "published"))
            if raw is None or np.isnan(scores[method][0]):  # not in the part that was computed
                continue
            published = PUBLISHED[dataset][name.removesuffix(" authors")].scores[0]
            better.append([scores[method][1] > published, scores[method][0] > raw["published"][0]])
        if better:
            rows.append([method, *(f"{count} of {len(better)}" for count in np.sum(better, axis=0))])
    return markdown(["better than on raw images", "published figures", "here"], rows)


TABLES = {"dimension_reduction_claims": claims_table, "dimension_reduction_raw": improvement_table}
