"""Rows with missing numbers: how many change their cluster. ``python -m benchmarks gaps``.

Ten tables with known classes, the number of clusters given. Numbers are removed from one column, the one that tells the
classes apart best: 5, 10 and 20 % of its cells, at random or in the rows with the highest values of another column.
The figure is the share of the rows with a gap that are not in the cluster that the same method put them in when nothing
was missing, after matching the clusters. Methods: GIT on the frame as it is; GIT after ``KNNImputer`` on the scaled
numbers; GIT and k-means after filling in medians. The mean of three draws counts. Lines go to ``results/gaps.jsonl``.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

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
from benchmarks.running import FOLDER, Store, read_lines
from benchmarks.suite.datasets import load_set
from gitcluster import GIT

RESULTS = FOLDER / "gaps.jsonl"
SHARES = (0.05, 0.1, 0.2)
PATTERNS = ("random", "depending")
DRAWS = 3
Labels = NDArray[np.int64]


def tables() -> Iterator[tuple[str, pd.DataFrame, Labels]]:
    """Yield the name, the frame and the classes of every table."""
    rng = np.random.default_rng(0)
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        bunch = load(as_frame=True)
        yield name, bunch.data, bunch.target.to_numpy()
    for name in ("olive9", "vehicle", "body", "satellite"):
        X, y = load_set(f"bench/real_{name}")
        yield (
            name,
            pd.DataFrame(X[:2000], columns=[f"x{i}" for i in range(X.shape[1])]),
            np.unique(y[:2000], return_inverse=True)[1],
        )
    for name, spread in (("three groups", 1.0), ("three groups, overlapping", 1.8), ("customers", 1.2)):
        group = rng.integers(0, 3, 900)
        centres = np.array([[0, 0], [6, 0], [3, 6]])[group]
        frame = pd.DataFrame(centres + spread * rng.normal(size=(900, 2)), columns=["a", "b"])
        frame["kind"] = np.where(rng.random(900) < 0.85, np.array(["x", "y", "z"])[group], rng.choice(list("xyz"), 900))
        if name == "customers":
            frame["income"] = np.exp(frame.pop("a") / 4 + 10)
            frame["age"] = (frame.pop("b") * 4 + 40).round()
        yield name, frame, group


def remove(frame: pd.DataFrame, y: Labels, pattern: str, share: float, seed: int) -> tuple[pd.DataFrame, str, Labels]:
    """Return the frame with gaps in one column, the column, and the rows with a gap."""
    rng = np.random.default_rng(seed)
    numbers = frame.select_dtypes("number")
    within = numbers.groupby(y).var(ddof=0).mul(np.bincount(y) / len(y), axis=0).sum()
    best, other = (within / numbers.var(ddof=0)).sort_values().index[:2]
    if pattern == "random":
        rows = rng.random(len(frame)) < share
    else:
        rows = (numbers[other] + 1e-9 * rng.normal(size=len(frame))).rank(pct=True).to_numpy() > 1 - share
    holes = frame.astype({best: float})
    holes.loc[rows, best] = np.nan
    return holes, best, np.flatnonzero(rows)


def with_medians(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the median of a column in place of its gaps."""
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
    return np.asarray(GIT(n_clusters, n_jobs=-1).fit_predict(frame))


METHODS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], Callable[[pd.DataFrame, int], Labels]]] = {
    "GIT": (lambda frame: frame, git),
    "KNNImputer + GIT": (with_neighbours, git),
    "median + GIT": (with_medians, git),
    "median + k-means": (with_medians, k_means),
}


def share_moved(before: Labels, after: Labels, rows: Labels) -> float:
    """Return the share of some rows that are in another cluster, after matching the clusters of all rows."""
    table = contingency_matrix(before, after)
    first, second = linear_sum_assignment(-table)
    matched = np.full(table.shape[1], -1)
    matched[second] = first
    return float(np.mean(matched[after[rows]] != before[rows]))


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet."""
    argparse.ArgumentParser(prog="python -m benchmarks gaps", description=__doc__).parse_args(arguments)
    warnings.simplefilter("ignore")
    store = Store(RESULTS, ("table", "method", "pattern", "share"))
    for name, frame, y in tables():
        n_clusters = len(np.unique(y))
        for method, (fill, cluster) in METHODS.items():
            whole = cluster(frame, n_clusters)
            for pattern in PATTERNS:
                for share in SHARES:
                    moved = []
                    for seed in range(DRAWS if pattern == "random" else 1):
                        holes, _, rows = remove(frame, y, pattern, share, seed)
                        moved.append(share_moved(whole, cluster(fill(holes), n_clusters), rows))
                    store.add({"table": name, "method": method, "pattern": pattern, "share": share,
                               "moved": round(float(np.mean(moved)), 4)})  # fmt: skip
        print(name, flush=True)
    print(table())


def table() -> str:
    """Return Markdown: the share of rows with a gap that move, by method, share and pattern, over all tables."""
    moved: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for line in read_lines(RESULTS):
        moved[line["method"], line["pattern"], line["share"]].append(line["moved"])
    cases = [(pattern, share) for pattern in PATTERNS for share in SHARES]
    rows = [[method, *(f"{100 * np.mean(moved[method, *case]):.1f}" for case in cases)] for method in METHODS]
    heads = [f"{100 * share:.0f} %, {pattern}" for pattern, share in cases]
    return markdown(["rows with a gap that change cluster, %", *heads], rows)
