"""Compare ``gitcluster.metrics.density_validity`` with exact DBCV, and time it: ``python -m benchmarks validity``.

Part "agreement" scores up to eight labellings of a set of every generated family with both, and with DBCV if ties
between edges are broken at random: the paper does not say which of several minimum spanning trees counts. Part "speed"
uses blobs.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_in_process, time_call
from benchmarks.suite.datasets import generated_datasets
from benchmarks.suite.designs import KINDS
from gitcluster.metrics import density_validity

FIELDS = ("part", "set", "shape")
MAX_SAMPLES = 1300
"""Exact DBCV is quadratic, so the set of a family is the first one that is not larger."""
NEIGHBORS = (10, 20, 40)
SHAPES = ((100_000, 10), (1_000_000, 3))


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set, then every shape; ``--quick`` yields one small set and one small shape."""
    seen = {"single"}  # a single class, which DBCV does not score
    for data in generated_datasets(families={"tiny"} if options.quick else None):
        if data.family not in seen and len(data.X) <= MAX_SAMPLES:
            seen.add(data.family)
            task = {"part": "agreement", "set": data.name, "kind": data.kind}
            yield task, partial(score_labellings, data.name, data.X, data.y)
    for n_samples, n_features in ((1000, 3),) if options.quick else SHAPES:
        task = {"part": "speed", "shape": (n_samples, n_features)}
        yield task, partial(run_in_process, measure, n_samples, n_features)


def score_labellings(name: str, X: NDArray[Any], y: NDArray[np.int64]) -> Line:
    """Return all scores of every labelling of a set."""
    rng = np.random.default_rng(crc32(name.encode()))
    scores = []
    for labelling, labels in make_labellings(X, y, rng):
        line = {"labelling": labelling, "dbcv": exact_dbcv(X, labels), "random ties": exact_dbcv(X, labels, rng=rng)}
        for k in NEIGHBORS:
            line[f"k={k}"] = density_validity(X, labels, n_neighbors=k)
        scores.append({key: value if isinstance(value, str) else round(value, 5) for key, value in line.items()})
    return {"n": len(X), "d": X.shape[1], "scores": scores}


def make_labellings(
    X: NDArray[np.float64], y: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield different labellings, good and bad ones; single samples are noise, and there are at least two clusters."""
    n_classes = max(2, len(np.unique(y[y >= 0])))
    exchanged, wrong = y.copy(), rng.random(len(y)) < 0.1
    exchanged[wrong] = rng.permutation(y[wrong])
    labellings = {
        "truth": y,
        "k-means": KMeans(n_classes, n_init=3, random_state=0).fit_predict(X),
        "single linkage": AgglomerativeClustering(n_classes, linkage="single").fit_predict(X),
        "HDBSCAN": HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X),
        "random": rng.integers(0, n_classes, len(X)),
        "over-split": KMeans(3 * n_classes, n_init=3, random_state=0).fit_predict(X),
        "under-split": KMeans(max(2, n_classes // 2), n_init=3, random_state=0).fit_predict(X),
        "10 % exchanged": exchanged,
    }
    seen = set()
    for name, given in labellings.items():
        clusters, first, sizes = np.unique(given, return_index=True, return_counts=True)
        single = np.isin(given, clusters[sizes < 2])
        labels = np.where(
            single | (given < 0), -1, first[np.searchsorted(clusters, given)]
        )  # named by the first sample
        if len(np.unique(labels[labels >= 0])) > 1 and labels.tobytes() not in seen:
            seen.add(labels.tobytes())
            yield name, labels


def exact_dbcv(X: NDArray[np.float64], labels: NDArray[np.int64], *, rng: np.random.Generator | None = None) -> float:
    """Return DBCV from all pairs of samples (Moulavi, Jaskowiak, Campello, Zimek and Sander 2014).

    Of edges with the same mutual reachability, the shorter one joins the tree; with ``rng``, a random one. A cluster
    without inner samples or without inner edges, as a pair or a star, is measured by all of them.
    """
    clusters, sizes = np.unique(labels[labels != -1], return_counts=True)
    inner, sparseness = [], []
    for cluster in clusters:
        samples = X[labels == cluster]
        distances = cdist(samples, samples)
        core = core_distances(distances, X.shape[1])
        reachability = np.maximum(distances, np.maximum(core[:, None], core))
        ends = spanning_tree(reachability, distances if rng is None else rng.random(distances.shape))
        is_inner = np.bincount(ends.ravel(), minlength=len(samples)) > 1
        if not is_inner.any():
            is_inner[:] = True
        lengths, of_inner = reachability[ends[:, 0], ends[:, 1]], is_inner[ends].all(axis=1)
        sparseness.append((lengths[of_inner] if of_inner.any() else lengths).max())
        inner.append((samples[is_inner], core[is_inner]))
    score = 0.0
    for i, (samples, core) in enumerate(inner):
        separation = min(
            np.maximum(cdist(samples, others), np.maximum(core[:, None], other_core)).min()
            for j, (others, other_core) in enumerate(inner)
            if j != i
        )
        largest = max(separation, sparseness[i])
        score += sizes[i] * (separation - sparseness[i]) / largest if largest else 0.0
    return float(score / len(labels))


def core_distances(distances: NDArray[np.float64], n_features: int) -> NDArray[np.float64]:
    """Return the all-points core distances of the samples of a cluster, by logarithms; 0 for duplicates."""
    others = distances[~np.eye(len(distances), dtype=bool)].reshape(len(distances), -1)
    with np.errstate(divide="ignore"):
        logs = -n_features * np.log(others)
    return np.exp(-(np.logaddexp.reduce(logs, axis=1) - np.log(others.shape[1])) / n_features)


def spanning_tree(lengths: NDArray[np.float64], ties: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the edges of a minimum spanning tree by Prim's algorithm; of equal lengths, the lower tie comes first."""
    n = len(lengths)
    shortest, tie, parent = np.full(n, np.inf), np.full(n, np.inf), np.zeros(n, np.int64)
    outside, latest, edges = np.ones(n, bool), 0, []
    for _ in range(n - 1):
        outside[latest] = False
        row, row_ties = lengths[latest], ties[latest]
        nearer = (row < shortest) | ((row == shortest) & (row_ties < tie))
        shortest[nearer], tie[nearer], parent[nearer] = row[nearer], row_ties[nearer], latest
        rest = np.flatnonzero(outside)
        latest = rest[np.lexsort((tie[rest], shortest[rest]))[0]]
        edges.append((parent[latest], latest))
    return np.array(edges)


def measure(n_samples: int, n_features: int) -> Line:
    """Return seconds and peak memory of one score, after one that compiles."""
    X, y = make_blobs(n_samples, n_features, centers=30, cluster_std=2.0, random_state=2021)
    density_validity(X[:1000], y[:1000], n_jobs=-1)
    score, wall, cpu = time_call(lambda: density_validity(X, y, n_jobs=-1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"score": round(score, 4), "seconds": round(wall, 1), "cpu": round(cpu, 1), "peak MB": round(peak)}


def read_scores(kinds: Sequence[str]) -> list[tuple[NDArray[np.float64], Any]]:
    """Return the scores by DBCV and a table of the others, for every set of these kinds."""
    lines = [line for line in Store("validity", FIELDS).lines.values() if line.get("kind") in kinds]
    return [
        (
            np.array([scores["dbcv"] for scores in line["scores"]]),
            {name: np.array([scores[name] for scores in line["scores"]]) for name in line["scores"][0]},
        )
        for line in lines
    ]


def summarize(sets: list[tuple[NDArray[np.float64], Any]], name: str) -> list[str]:
    """Return how a score agrees with DBCV, over all labellings of all sets and within the sets."""
    exact, scores = (np.concatenate(part) for part in zip(*((e, others[name]) for e, others in sets), strict=True))
    inside = [spearmanr(e, others[name])[0] for e, others in sets]
    lost = [e.max() - e[others[name].argmax()] for e, others in sets]
    return [
        f"{spearmanr(exact, scores)[0]:.3f}", f"{np.mean(inside):.3f}", f"{np.min(inside):.2f}",
        f"{np.abs(exact - scores).mean():.3f}", f"{np.mean(lost):.3f}",
    ]  # fmt: skip


COLUMNS = ("rank correlation", "within a set", "lowest", "mean difference", "DBCV lost by the best")


def agreement_table() -> str:
    """Return the agreement with exact DBCV by kind of data, for the default number of neighbours."""
    rows = []
    for kinds in [[kind] for kind in KINDS] + [list(KINDS)]:
        sets = read_scores(kinds)
        counts = [str(len(sets)), str(sum(len(exact) for exact, _ in sets))]
        rows.append([kinds[0] if len(kinds) == 1 else "all", *counts, *summarize(sets, "k=20")])
    return markdown(["data", "sets", "labellings", *COLUMNS], rows)


def neighbors_table() -> str:
    """Return the agreement with exact DBCV over all sets, for other neighbours, and of DBCV with itself."""
    sets = read_scores(list(KINDS))
    names = {
        **{f"k={k}": f"`n_neighbors={k}`" for k in NEIGHBORS},
        "random ties": "exact DBCV, ties broken at random",
    }
    return markdown(["score", *COLUMNS], [[title, *summarize(sets, name)] for name, title in names.items()])


def speed_table() -> str:
    """Return seconds and peak memory by shape."""
    lines = sorted(
        (line for line in Store("validity", FIELDS).lines.values() if line["part"] == "speed"),
        key=lambda line: line["shape"],
    )
    rows = [
        [
            f"{line['shape'][0]:,} x {line['shape'][1]}", f"{line['seconds']:.0f}", f"{line['cpu']:.0f}",
            f"{line['peak MB'] / 1000:.1f}",
        ]
        for line in lines
    ]  # fmt: skip
    return markdown(["samples x features", "seconds", "CPU seconds", "peak GB"], rows)


TABLES = {"validity": agreement_table, "validity_neighbors": neighbors_table, "validity_speed": speed_table}
