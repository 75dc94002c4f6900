"""Measure accuracy by kind of data, on sets like those that people try first: ``python -m benchmarks kinds``.

The sets are the tables of the folder ``mixed`` of GITCLUSTER_DATA, tables of scikit-learn, and generated sets like
well-known ones. GIT is given the number of classes, their proportions, or nothing. The penguins are left out, because
no installed package contains them.

Peers are given the number, and the same columns in the representations that GIT chooses from. Their score is that of
the representation with the highest silhouette; the mean over representations is stored beside it. They get at most
5,000 rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import check_array

from benchmarks.methods import METHODS, Method
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import count_clusters
from benchmarks.suite.kinds import KindOfData, Labelled, labelled_sets
from gitcluster.preprocessing.sources import Points, as_floats
from gitcluster.preprocessing.tables import learn_table
from gitcluster.samples import find_representations, prepare

FIELDS = ("set", "method")
GIT_NAMES = ("GIT", "GIT proportions", "GIT nothing")
PEERS = ("k-means", "Ward", "Gaussian mixture", "spectral")
MAX_PEER_ROWS = 5000


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and method; ``--quick`` yields iris."""
    for data in labelled_sets():
        if options.quick and data.name != "iris":
            continue
        for name in (*GIT_NAMES, *PEERS):
            run = run_peer if name in PEERS else run_git
            yield {"kind": data.kind, "set": data.name, "method": name}, partial(run, data, name)


@lru_cache(maxsize=1)
def load(data: KindOfData) -> Labelled:
    """Return a set; the last one is stored, because several methods use it in turn."""
    return data.make()


def run_git(data: KindOfData, name: str) -> Line:
    """Return the score of GIT and its number of clusters on a set."""
    X, y = load(data)
    sizes = np.unique(y, return_counts=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, _, cpu = time_call(lambda: METHODS[name].fit(X, sizes, n_jobs=1))
    counts = {"samples": len(y), "classes": len(sizes), "clusters": count_clusters(labels)}
    return {"ari": round(float(adjusted_rand_score(y, labels)), 4), "cpu_seconds": round(cpu, 2)} | counts


def run_peer(data: KindOfData, name: str) -> Line:
    """Return the score of a peer in the representation with the highest silhouette, and in all representations."""
    representations, y = represent(data)
    labels, chosen = fit_representations(METHODS[name], representations, np.unique(y, return_counts=True)[1])
    scores = {each: round(float(adjusted_rand_score(y, some)), 4) for each, some in labels.items()}
    mean = round(float(np.mean(list(scores.values()))), 4)
    return {"ari": scores[chosen], "mean": mean, "chosen": chosen, "scores": scores, "samples": len(y)}


def fit_representations(
    method: Method, representations: Mapping[str, NDArray[np.float64]], sizes: Any
) -> tuple[dict[str, NDArray[np.int64]], str]:
    """Return the labels in every representation, and the representation with the highest silhouette."""
    labels, silhouettes = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, points in representations.items():
            labels[name] = method.fit(points, sizes)
            some = {"sample_size": min(len(points), MAX_PEER_ROWS), "random_state": 0}
            silhouettes[name] = silhouette_score(points, labels[name], **some) if np.ptp(labels[name]) else -1.0
    return labels, max(silhouettes, key=lambda name: silhouettes[name])


@lru_cache(maxsize=1)
def represent(data: KindOfData) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Return a set in every representation that GIT chooses from, and its classes; at most 5,000 rows."""
    X, y = load(data)
    if len(y) > MAX_PEER_ROWS:
        rows = np.random.default_rng(0).choice(len(y), MAX_PEER_ROWS, replace=False)
        X, y = X[rows] if isinstance(X, np.ndarray) else X.iloc[rows].reset_index(drop=True), y[rows]
    return represent_samples(X), y


def represent_samples(X: Any) -> dict[str, NDArray[np.float64]]:
    """Return an array or data frame in every representation that GIT chooses from."""
    table = learn_table(X, None, None, partial(as_floats, validate=check_array, allow_nan=True))
    if table is None:
        points = Points(np.asarray(X, np.float64))
    else:
        points = Points(table.matrix, kinds=table.columns.feature_kinds if table.columns.encoded else None)
    choices = find_representations(prepare(points, sort=False), "auto", None)
    possible = [choice for choice in choices if choice.scaling is not None]
    return {choice.name: points.transform(choice, None).values.astype(np.float64) for choice in possible}


def table() -> str:
    """Return the mean adjusted Rand index by kind of data.

    A peer has a second figure, the mean over representations. Percentages show how often GIT chose the right number.
    """
    lines, rows = list(Store("kinds", FIELDS).lines.values()), []
    for kind in dict.fromkeys(line["kind"] for line in lines):
        row = [kind, str(len({line["set"] for line in lines if line["kind"] == kind}))]
        for name in (*GIT_NAMES, *PEERS):
            some = [line for line in lines if (line["kind"], line["method"]) == (kind, name)]
            fields = [field for field in ("ari", "mean") if some and field in some[0]]
            cell = " / ".join(short(float(np.mean([line[field] for line in some]))) for field in fields)
            right = [line["clusters"] == line["classes"] for line in some if name == "GIT nothing"]
            row.append(f"{cell} ({np.mean(right):.0%})" if right else cell)
        rows.append(row)
    return markdown(["kind of data", "sets", *GIT_NAMES, *PEERS], rows)


TABLES = {"kinds": table}
