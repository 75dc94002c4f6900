"""Compare methods on tables with columns of several kinds: ``python -m benchmarks tables``.

Every method is given the number of classes, except "GIT nothing". GIT gets the data frame as it is; "GIT numbers" gets
its numbers and dates alone. For the peers, columns that identify the rows are dropped, numbers are divided by their
standard deviations, and missing numbers are imputed from the nearest rows. Spectral clustering uses the ten nearest
rows by Gower's distance. Then 1, 3 and 10 columns of noise of each kind are added.

Constants were chosen on one half of the tables, by a hash of the name.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.impute import KNNImputer
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments.public import half_of
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import Labels, count_clusters
from benchmarks.suite.mixed_tables import NOISE, Table, add_noise, mixed_tables
from gitcluster import GIT

FIELDS = ("table", "method", "noise", "added")
COUNTS = (1, 3, 10)
HALVES = ("tuning half", "held-out half")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every table, method and kind of noise; ``--quick`` yields one table without noise."""
    for table in mixed_tables(["roads"] if options.quick else None):
        for name in METHODS:
            runs = [("", 0)]
            if name != "GIT numbers" and not options.quick:
                runs += [("all", count) for count in COUNTS]
                runs += [(kind, count) for kind in NOISE for count in COUNTS if name == "GIT"]
            for noise, added in runs:
                task = {"table": table.name, "half": half_of(table.name), "method": name, "noise": noise}
                yield task | {"added": added}, partial(run_method, table, name, noise, added)


def run_method(table: Table, name: str, noise: str = "", added: int = 0) -> Line:
    """Return the score of one method on one table with columns of noise."""
    frame, number = add_noise(table, noise, added) if added else table.frame, len(np.unique(table.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, _, cpu = time_call(lambda: METHODS[name](frame, number))
    line: Line = {"rows": len(frame), "classes": number, "ari": None, "clusters": None, "cpu_seconds": round(cpu, 2)}
    if labels is not None:
        line |= {"ari": round(float(adjusted_rand_score(table.y, labels)), 4), "clusters": count_clusters(labels)}
    return line


def split_columns(frame: pd.DataFrame) -> tuple[NDArray[np.float64], pd.DataFrame, NDArray[np.float64]]:
    """Return the numbers over their standard deviations, the other columns, and these as columns of 0 and 1.

    Columns that identify the rows are dropped: texts that are all different, and running numbers or dates. Missing
    numbers are imputed from the nearest rows. A missing category is at the same distance from every value.
    """
    dates = frame.select_dtypes("datetime").apply(lambda days: (days - days.min()) / pd.Timedelta(days=1))
    numbers = pd.concat([frame.select_dtypes("number"), dates], axis=1)
    words = frame.drop(columns=numbers.columns)
    words = words.loc[:, words.nunique() < len(frame)].astype(object)
    numbers = numbers.loc[:, numbers.diff().iloc[1:].round(9).nunique(dropna=False) > 1]
    parts = [pd.get_dummies(words[name]).to_numpy(np.float64) for name in words]
    parts = [np.where(part.any(axis=1, keepdims=True), part, 1 / part.shape[1]) for part in parts]
    indicators = np.hstack([np.empty((len(frame), 0)), *parts])
    scaled = np.hstack([numbers / numbers.std(ddof=0), indicators])
    return KNNImputer().fit_transform(scaled)[:, : numbers.shape[1]], words.fillna("missing"), indicators


def fit_numbers(frame: pd.DataFrame, number: int) -> Labels | None:
    """Fit GIT to the numbers alone; return None without numbers."""
    numbers, _, _ = split_columns(frame)
    return GIT(number).fit_predict(numbers) if numbers.size else None


def fit_prototypes(frame: pd.DataFrame, number: int) -> Labels:
    """Fit k-prototypes, or k-modes or k-means if all columns are of one kind."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    numbers, words, _ = split_columns(frame)
    if words.empty:
        return KMeans(number, n_init=10, random_state=0).fit_predict(numbers)
    if not numbers.size:
        return KModes(number, n_init=5, random_state=0).fit_predict(words.to_numpy()).astype(np.int64)
    both = np.hstack([numbers.astype(object), words.to_numpy()])
    categorical = list(range(numbers.shape[1], both.shape[1]))
    return KPrototypes(number, n_init=5, random_state=0).fit_predict(both, categorical=categorical).astype(np.int64)


def fit_gower(frame: pd.DataFrame, number: int) -> Labels:
    """Fit spectral clustering to the graph of ten nearest rows by Gower's distance."""
    numbers, words, _ = split_columns(frame)
    distances = np.zeros((len(frame), len(frame)))
    for values in numbers.T:
        distances += np.abs(values[:, None] - values) / np.ptp(values)
    for values in words.to_numpy().T:
        distances += values[:, None] != values
    graph = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": min(10, len(frame) - 1), "random_state": 0}
    return SpectralClustering(number, **graph).fit_predict(distances)


def fit_one_hot(frame: pd.DataFrame, number: int) -> Labels:
    """Fit k-means with a column of 0 and 1 for every value of a category."""
    numbers, _, indicators = split_columns(frame)
    return KMeans(number, n_init=10, random_state=0).fit_predict(np.hstack([numbers, indicators]))


METHODS: dict[str, Callable[[pd.DataFrame, int], Labels | None]] = {
    "GIT": lambda frame, number: GIT(number).fit_predict(frame),
    "GIT nothing": lambda frame, _: GIT().fit_predict(frame),
    "GIT numbers": fit_numbers,
    "k-prototypes": fit_prototypes,
    "Gower + spectral": fit_gower,
    "one-hot + k-means": fit_one_hot,
}


def table_of_scores() -> str:
    """Return the adjusted Rand index of every method on every table, and the means of both halves."""
    lines, rows = Store("tables", FIELDS).lines, []
    for half, title in enumerate(HALVES):
        names = list(dict.fromkeys(line["table"] for line in lines.values() if line["half"] == half))
        scores = {m: [lines[name, m, "", 0]["ari"] for name in names] for m in METHODS}
        rows += [[name, title, *(_mean([scores[m][i]]) for m in METHODS)] for i, name in enumerate(names)]
        rows.append([f"**mean of {len(names)}**", title, *(_mean(scores[m]) for m in METHODS)])
    return markdown(["table", "half", *METHODS], rows)


def noise_table() -> str:
    """Return what columns of noise cost: of GIT by kind of column, and of every method with all kinds in turn."""
    lines, rows = Store("tables", FIELDS).lines, []
    names = dict.fromkeys(line["table"] for line in lines.values())
    for method, kind in [("GIT", kind) for kind in NOISE] + [(m, "all") for m in METHODS if m != "GIT numbers"]:
        before = {name: lines[name, method, "", 0]["ari"] for name in names}
        losses = {n: max(before[n] - lines[n, method, kind, count]["ari"] for count in COUNTS) for n in names}
        worst = max(losses, key=lambda name: losses[name])
        largest = f"{losses[worst]:.3f}" + (f" ({worst})" if losses[worst] > 0 else "")
        rows.append([method, kind, f"{np.mean(list(losses.values())):.3f}", largest])
    return markdown(["method", "columns of noise", "mean loss", "largest loss"], rows)


def _mean(scores: Sequence[float | None]) -> str:
    known = [score for score in scores if score is not None]
    return f"{np.mean(known):.3f}" if known else ""


TABLES = {"tables": table_of_scores, "tables_noise": noise_table}
