"""Compare methods after dimension reduction: ``python -m benchmarks dimension_reduction [--only embedding=pca5]``.

Every method gets the same embedding of MNIST and FMNIST, see ``benchmarks.suite.embeddings``. GIT divides the
coordinates by their standard deviations; "GIT unscaled" uses them as they are, like the peers. "GIT authors" has the
published k (tuned on labels) and equal shares, methods called "published" have the parameters of the published runs,
and nothing else is tuned. All methods except Quickshift++ and HDBSCAN are given the number of classes. Noise counts as
wrong in F1 and as one more cluster in ARI and NMI. Figures of k-means and SpectACl are means of ten seeds. Those of the
paper's competitors are also counted as published.

Every fit has a process with limits of time and memory. SpectACl gets 20,000 images.
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
from benchmarks.methods import METHODS, keep_installed
from benchmarks.methods.spectacl import embed as embed_spectacl
from benchmarks.reporting.published import EMBEDDED, EMBEDDED_PEERS, PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_in_process, time_call
from benchmarks.scoring import count_clusters, published_scores, score_labels
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, is_available, load_embedding

FIELDS = ("set", "embedding", "method")
SCORES = ("f1", "ari", "nmi")
QUICK_SAMPLES = 1000
SECONDS, GIGABYTES = 1800, 14
"""Limits of a fit."""
PART = 20_000
"""Images for SpectACl, which takes too much memory with all of them."""
SEEDS = range(10)
PEERS = ("k-means", "Quickshift++", "SpectACl")
"""The competitors of the paper."""
CHOSEN = {
    "GIT": METHODS["GIT"].using(n_jobs=-1),
    "GIT equal": METHODS["GIT"].using(n_jobs=-1, proportions="equal"),
    "GIT unscaled": METHODS["GIT"].using(n_jobs=-1, scale=None),
    "GIT authors": METHODS["GIT authors"],
    "k-means": METHODS["k-means"],
    "Quickshift++": METHODS["Quickshift++"],
    "Quickshift++ published": METHODS["Quickshift++"],
    "SpectACl": METHODS["SpectACl"],
    "SpectACl published": METHODS["SpectACl"],
    "HDBSCAN": METHODS["hdbscan"].using(min_cluster_size=100, core_dist_n_jobs=1, tree=False),
    "spectral": METHODS["spectral"].using(solver="amg", n_jobs=-1),
}
"""The methods by their names in the result file."""
FEW = {"HDBSCAN": {"min_cluster_size": 30}, "spectral": {"solver": "arpack"}}
"""Options for no more images than a quick run has."""
Figures = dict[tuple[str, str], dict[str, tuple[float, float]]]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every embedding and method; the paper's methods only if it has a figure. ``--quick`` yields pca5."""
    methods = keep_installed(CHOSEN)
    for name, dataset, method in product(["pca5"] if options.quick else EMBEDDINGS, SETS, methods):
        published = (dataset, name) in EMBEDDED_PEERS or not method.startswith(PEERS[1:])
        if method == "GIT authors":
            published = (dataset, name) in EMBEDDED
        if published and is_available(name):
            task = {"set": dataset, "embedding": name, "method": method}
            yield task, partial(run_sizes, dataset, name, method, options.quick)


def published_options(method: str, dataset: str, name: str) -> dict[str, Any]:
    """Return the parameters of the published run for methods that have them."""
    if method == "GIT authors":
        return {"n_neighbors": EMBEDDED[dataset, name][0]}
    if method.endswith(" published"):
        return EMBEDDED_PEERS[dataset, name][method.removesuffix(" published")].options
    return {}


def run_sizes(dataset: str, name: str, method: str, quick: bool) -> Line:
    """Return the result on all images, of SpectACl on a part of them."""
    n_samples = QUICK_SAMPLES if quick else None
    embedding = load_embedding(dataset, name, n_samples=n_samples, max_epochs=3 if quick else 100)
    details = {"seconds": round(embedding.seconds, 1), "d": embedding.points.shape[1]} | embedding.details
    size = min(len(embedding.y), PART) if method.startswith("SpectACl") else len(embedding.y)
    limits = {"seconds": SECONDS, "gigabytes": GIGABYTES}
    return run_in_process(fit_embedding, size, dataset, name, method, n_samples, **limits) | {"of embedding": details}


def fit_embedding(size: int, dataset: str, name: str, method: str, n_samples: int | None) -> Line:
    """Return scores and seconds of one method, on a random part of the images if ``size`` is smaller."""
    X, y, *_ = load_embedding(dataset, name, n_samples=n_samples)
    if size < len(y):
        rows = sample_rows(len(y), size)
        X, y = np.ascontiguousarray(X[rows]), y[rows]
    sizes, options = np.bincount(y), published_options(method, dataset, name)
    options = options | FEW.get(method, {}) if len(X) <= QUICK_SAMPLES else options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method.startswith(("GIT", "Quickshift++")):
            CHOSEN[method].fit(X[:1000], sizes)  # compiles
        draws = draw_labels(method, X, sizes, options)
        labels, wall, cpu = time_call(lambda: next(draws))
        scores = score_draws(y, [labels, *draws], method.startswith(PEERS))
    cover = {"cover": round(float(np.mean(labels >= 0)), 4), "clusters": count_clusters(labels)}
    return {"n": len(y)} | scores | cover | {"seconds": round(wall, 2), "cpu": round(cpu, 2)}


def sample_rows(n_samples: int, size: int) -> NDArray[np.int64]:
    """Return sorted random rows."""
    return np.sort(np.random.default_rng(0).choice(n_samples, size, replace=False))


def draw_labels(
    method: str, X: NDArray[Any], sizes: NDArray[np.int64], options: dict[str, Any]
) -> Iterator[NDArray[Any]]:
    """Yield the labels of every seed, or of the one clustering of a method without a random start."""
    if method.startswith("SpectACl"):  # one eigendecomposition for all seeds of k-means
        rng = np.random.RandomState(SEEDS[0])
        embedding = embed_spectacl(X.astype(np.float64), options.get("epsilon"), rng)
        for seed in (rng, *SEEDS[1:]):
            yield KMeans(len(sizes), n_init=10, random_state=seed).fit_predict(embedding)
    else:
        yield CHOSEN[method].fit(X, sizes, **options)
    if method == "k-means":
        for seed in SEEDS[1:]:
            yield CHOSEN[method].fit(X, sizes, random_state=seed)


def score_draws(y: NDArray[np.int64], draws: Sequence[NDArray[Any]], as_published: bool) -> Line:
    """Return means over the draws, every F1 if there are several, and the same by the published counting."""
    scores = [score_labels(y, labels) for labels in draws]
    line: Line = {name: round(float(np.mean([score[name] for score in scores])), 4) for name in SCORES}
    line |= {"seeds": [round(score["f1"], 4) for score in scores]} if len(draws) > 1 else {}
    if as_published:
        others = np.array([published_scores(y, labels)[:3] for labels in draws])
        line["as published"] = others.mean(axis=0).round(4).tolist()
        line |= {"seeds as published": others[:, 0].round(4).tolist()} if len(draws) > 1 else {}
    return line


def group_lines() -> dict[tuple[str, str], dict[str, Line]]:
    """Return the stored lines by set and embedding, then by method."""
    groups: dict[tuple[str, str], dict[str, Line]] = {embedding: {} for embedding in product(SETS, EMBEDDINGS)}
    for (dataset, name, method), line in Store("dimension_reduction", FIELDS).lines.items():
        groups[dataset, name][method] = line
    return {embedding: row for embedding, row in groups.items() if row}


def published_figures() -> Figures:
    """Return F1 here and published F1, by embedding and method; NaN if it was not run."""
    groups, figures = group_lines(), {}
    tuned = Store("sensitivity", ("set", "embedding", "variant", "k")).lines
    for embedding, peers in EMBEDDED_PEERS.items():
        k, published, *_ = EMBEDDED[embedding]
        git = tuned.get((*embedding, "authors", k), {}).get("f1 as published", np.nan)
        figures[embedding] = {"GIT authors": (git, published)}
        for method in PEERS:
            line = groups.get(embedding, {}).get(method if method == "k-means" else f"{method} published", {})
            here = line.get("as published", [np.nan])[0]
            figures[embedding][method] = (here, peers[method].scores[0] or 0.0)
    return figures


def claims_table() -> str:
    """Return the lead of GIT over the best competitor, the best of each over the widths, as the paper claims it."""
    claimed = {("mnist", "pca"): 12.5, ("fmnist", "pca"): 17.1, ("mnist", "ae"): 9.5, ("fmnist", "ae"): 10.4}
    figures, groups, rows = published_figures(), group_lines(), []
    for (dataset, kind), claim in claimed.items():
        embeddings = [
            p for p in figures if p[0] == dataset and p[1].startswith(kind) and figures[p]["GIT authors"][0] > 0
        ]
        if not embeddings:
            continue
        sources = [[[figures[p][m][i] for m in ("GIT authors", *PEERS)] for p in embeddings] for i in (1, 0)]
        sources.append([[groups.get(p, {}).get(m, {}).get("f1", np.nan) for m in ("GIT", *PEERS)] for p in embeddings])
        rows.append([f"{kind.upper()} + {dataset.upper()}", f"{claim:.1f}", *map(_lead, sources)])
    header = ["points of F1", "claimed", "published figures", "here, published parameters", "here, untuned"]
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
            raw = stored[dataset, name, "published"]["published"][0]
            published = PUBLISHED[dataset][name.removesuffix(" authors")].scores[0]
            better.append([scores[method][1] > published, scores[method][0] > raw])
        rows.append([method, *(f"{count} of {len(better)}" for count in np.sum(better, axis=0))])
    return markdown(["better than on raw images", "published figures", "here"], rows)


TABLES = {"dimension_reduction_claims": claims_table, "dimension_reduction_raw": improvement_table}
