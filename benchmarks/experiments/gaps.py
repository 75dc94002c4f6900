"""Count the rows that change cluster if numbers are missing: ``python -m benchmarks gaps``.

Ten tables with known classes, the number of clusters given. Numbers are removed from the column that separates the
classes best: 5, 10 and 20 % of its cells, at random or in the rows with the highest values of another column. The
result is the share of the rows with a gap that leave the cluster in which the same method put them without gaps, after
matching the clusters. The mean of three draws counts.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.impute import KNNImputer
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import StandardScaler

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_experiment
from benchmarks.suite.datasets import load_set
from gitcluster import GIT

FIELDS = ("table", "method", "pattern", "share")
SHARES = (0.05, 0.1, 0.2)
PATTERNS = ("random", "depending")
DRAWS = 3
Labels = NDArray[np.int64]


def main(arguments: Sequence[str]) -> None:
    """Run the experiment."""
    run_experiment("gaps", __doc__ or "", arguments, fields=FIELDS, tasks=tasks, tables=[table])


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every table, method and pattern of gaps; ``--quick`` yields the first table."""
    for name, frame, y in islice(tables(), 1 if options.quick else None):
        for method in METHODS:
            whole = cache(partial(_fit, METHODS[method][1], frame, y))
            for pattern, share in product(PATTERNS, SHARES):
                task = {"table": name, "method": method, "pattern": pattern, "share": share}
                yield task, partial(measure, frame, y, method, whole, pattern, share)


def _fit(cluster: Callable[[pd.DataFrame, int], Labels], frame: pd.DataFrame, y: Labels) -> Labels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cluster(frame, len(np.unique(y)))


def measure(
    frame: pd.DataFrame, y: Labels, method: str, whole: Callable[[], Labels], pattern: str, share: float
) -> Line:
    """Return the share of the rows with a gap that change cluster, mean of the draws."""
    fill, cluster = METHODS[method]
    moved = []
    for seed in range(DRAWS if pattern == "random" else 1):
        incomplete, rows = remove(frame, y, pattern, share, seed)
        labels = _fit(cluster, fill(incomplete), y)
        counts = contingency_matrix(whole(), labels)
        first, second = linear_sum_assignment(-counts)
        matched = np.full(counts.shape[1], -1)
        matched[second] = first
        moved.append(np.mean(matched[labels[rows]] != whole()[rows]))
    return {"moved": round(float(np.mean(moved)), 4)}


def tables() -> Iterator[tuple[str, pd.DataFrame, Labels]]:
    """Yield the name, the frame and the classes of every table."""
    rng = np.random.default_rng(0)
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        bunch = load(as_frame=True)
        yield name, bunch.data, bunch.target.to_numpy()
    for name in ("olive9", "vehicle", "body", "satellite"):
        X, y = load_set(f"bench/real_{name}")
        frame = pd.DataFrame(X[:2000], columns=[f"x{i}" for i in range(X.shape[1])])
        yield name, frame, np.unique(y[:2000], return_inverse=True)[1]
    for name, spread in (("three groups", 1.0), ("three groups, overlapping", 1.8), ("customers", 1.2)):
        group = rng.integers(0, 3, 900)
        centres = np.array([[0, 0], [6, 0], [3, 6]])[group]
        frame = pd.DataFrame(centres + spread * rng.normal(size=(900, 2)), columns=["a", "b"])
        frame["kind"] = np.where(rng.random(900) < 0.85, np.array(["x", "y", "z"])[group], rng.choice(list("xyz"), 900))
        if name == "customers":
            frame["income"] = np.exp(frame.pop("a") / 4 + 10)
            frame["age"] = (frame.pop("b") * 4 + 40).round()
        yield name, frame, group


def remove(frame: pd.DataFrame, y: Labels, pattern: str, share: float, seed: int) -> tuple[pd.DataFrame, Labels]:
    """Return the frame with gaps in one column, and the rows with a gap."""
    rng = np.random.default_rng(seed)
    numbers = frame.select_dtypes("number")
    within = numbers.groupby(y).var(ddof=0).mul(np.bincount(y) / len(y), axis=0).sum()
    best, other = (within / numbers.var(ddof=0)).sort_values().index[:2]
    if pattern == "random":
        rows = rng.random(len(frame)) < share
    else:
        rows = (numbers[other] + 1e-9 * rng.normal(size=len(frame))).rank(pct=True).to_numpy() > 1 - share
    incomplete = frame.astype({best: float})
    incomplete.loc[rows, best] = np.nan
    return incomplete, np.flatnonzero(rows)


def with_medians(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with gaps filled by the medians of the columns."""
    return frame.fillna(frame.median(numeric_only=True))


def with_neighbours(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with gaps filled by ``KNNImputer``, categories as 0 and 1."""
    matrix = pd.get_dummies(frame).astype(float)
    scaler = StandardScaler().fit(matrix)
    filled = scaler.inverse_transform(KNNImputer().fit_transform(scaler.transform(matrix)))
    numbers = list(frame.select_dtypes("number").columns)
    return frame.assign(**{name: filled[:, matrix.columns.get_loc(name)] for name in numbers})


def k_means(frame: pd.DataFrame, n_clusters: int) -> Labels:
    """Return the labels of k-means on standardised columns."""
    scaled = StandardScaler().fit_transform(pd.get_dummies(frame).astype(float))
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(scaled)


def git(frame: pd.DataFrame, n_clusters: int) -> Labels:
    """Return the labels of GIT on the frame."""
    return GIT(n_clusters, n_jobs=-1).fit_predict(frame)


METHODS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], Callable[[pd.DataFrame, int], Labels]]] = {
    "GIT": (lambda frame: frame, git),
    "KNNImputer + GIT": (with_neighbours, git),
    "median + GIT": (with_medians, git),
    "median + k-means": (with_medians, k_means),
}


def table() -> str:
    """Return the share of rows with a gap that change cluster, by method, share and pattern, over all tables."""
    lines = Store("gaps", FIELDS).lines.values()
    cases = list(product(PATTERNS, SHARES))
    rows = []
    for method in METHODS:
        moved = [[x["moved"] for x in lines if (x["method"], x["pattern"], x["share"]) == (method, *c)] for c in cases]
        rows.append([method, *(f"{100 * np.mean(values):.1f}" for values in moved)])
    heads = [f"{100 * share:.0f} %, {pattern}" for pattern, share in cases]
    return markdown(["rows with a gap that change cluster, %", *heads], rows)
