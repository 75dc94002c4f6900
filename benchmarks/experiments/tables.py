"""Tables with columns of several kinds: ``python -m benchmarks tables [--half 0|1] [--methods A,B]``.

Every method is told the number of classes, but for the row "GIT nothing". GIT gets the data frame as it is; "GIT
numbers" its numbers and dates alone. The peers get what GIT's own columns say of the frame, identifiers left out and
missing numbers replaced: k-prototypes and k-means with numbers divided by their standard deviations, spectral
clustering the ten nearest rows by Gower's distance. Then columns of noise are added, 1, 3 and 10 of each kind.

Constants are chosen on one half of the tables, by a hash of the name, and not on the other; docs/tables.md tells how
often that one was run. Every (table, method, noise) is one line of ``results/tables.jsonl``; what is there is not run
again.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from time import process_time

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments.public import half_of
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, Store, describe_run
from benchmarks.scoring import Labels, count_clusters
from benchmarks.suite.mixed_tables import NOISE, Table, add_noise, mixed_tables
from gitcluster import GIT
from gitcluster.preprocessing.columns import DISCRETE, learn_columns
from gitcluster.preprocessing.tables import choose_donors, impute

RESULTS = FOLDER / "tables.jsonl"
FIELDS = ("table", "method", "noise", "added")
COUNTS = (1, 3, 10)
Array = NDArray[np.float64]


def main(arguments: Sequence[str]) -> None:
    """Run the methods over the tables and print what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tables", description=__doc__)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only this half of the tables")
    parser.add_argument("--methods", **NAMES, help="only these")
    options = parser.parse_args(arguments)
    stored = Store(RESULTS, FIELDS)
    for table in mixed_tables():
        if options.half in (None, half_of(table.name)):
            for name, noise, added in _runs(options.methods or list(METHODS)):
                if (table.name, name, noise, added) not in stored.lines:
                    line = run_method(table, name, noise, added) | describe_run("tables", arguments)
                    stored.add(line)
                    print(*(line[field] for field in FIELDS), line["ari"], file=sys.stderr)
    print(table_of_scores(), noise_table(), sep="\n\n")


def _runs(methods: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Method, kind of noise and number of its columns."""
    for name in methods:
        yield name, "", 0
        if name != "GIT numbers":
            yield from ((name, "all", count) for count in COUNTS)
        if name == "GIT":
            yield from ((name, kind, count) for kind in NOISE for count in COUNTS)


def run_method(table: Table, name: str, noise: str = "", added: int = 0) -> Line:
    """The result line of one method on one table, with columns of noise."""
    frame = add_noise(table, noise, added) if added else table.frame
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = METHODS[name](frame, len(np.unique(table.y)))
    score = None if labels is None else round(float(adjusted_rand_score(table.y, labels)), 4)
    return {
        "table": table.name, "half": half_of(table.name), "rows": len(frame), "classes": len(np.unique(table.y)),
        "method": name, "noise": noise, "added": added, "ari": score,
        "clusters": None if labels is None else count_clusters(labels), "cpu_seconds": round(process_time() - start, 2),
    }  # fmt: skip


def parts_of(frame: pd.DataFrame) -> tuple[Array, Array, Array]:
    """Numbers over their standard deviations, ranks of categories, and these as columns of 0 and 1."""
    columns = learn_columns(frame)
    encoded = columns.encode(frame).matrix.copy()
    impute(encoded, choose_donors(encoded))  # peers get the same numbers
    widths = [len(column.features) for column in columns.used]
    numbers, ranks, indicators = [], [], []
    for column, part in zip(columns.used, np.split(encoded, np.cumsum(widths)[:-1], axis=1), strict=True):
        if column.kind not in DISCRETE:
            numbers.append(part / part.std())
            continue
        one_hot = np.hstack([1 - part, part]) if column.kind == "binary" else part
        indicators.append(one_hot)
        ranks.append(np.where(np.isclose(one_hot.max(axis=1), 1), one_hot.argmax(axis=1), -1)[:, None])
    empty = np.empty((len(frame), 0))
    return tuple(np.hstack([empty, *some]) for some in (numbers, ranks, indicators))  # type: ignore[return-value]


def fit_git(frame: pd.DataFrame, number: int) -> Labels:
    """GIT on the frame as it is."""
    return GIT(number).fit_predict(frame)


def fit_numbers(frame: pd.DataFrame, number: int) -> Labels | None:
    """GIT on the numbers alone, None where there are none."""
    numbers, _, _ = parts_of(frame)
    return GIT(number).fit_predict(numbers) if numbers.size else None


def fit_prototypes(frame: pd.DataFrame, number: int) -> Labels:
    """k-prototypes, or k-modes and k-means where all columns are of one kind."""
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    numbers, ranks, _ = parts_of(frame)
    if not ranks.size:
        return KMeans(number, n_init=10, random_state=0).fit_predict(numbers)
    words = ranks.astype(np.int64).astype(str).astype(object)
    if not numbers.size:
        return KModes(number, n_init=5, random_state=0).fit_predict(words).astype(np.int64)
    both = np.hstack([numbers.astype(object), words])
    places = list(range(numbers.shape[1], both.shape[1]))
    return KPrototypes(number, n_init=5, random_state=0).fit_predict(both, categorical=places).astype(np.int64)


def fit_gower(frame: pd.DataFrame, number: int) -> Labels:
    """Spectral clustering of the graph of ten nearest rows by Gower's distance."""
    numbers, ranks, _ = parts_of(frame)
    distances = np.zeros((len(frame), len(frame)))
    for values in numbers.T:
        distances += np.abs(values[:, None] - values) / np.ptp(values)
    for values in ranks.T:
        distances += values[:, None] != values
    graph = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": min(10, len(frame) - 1), "random_state": 0}
    return SpectralClustering(number, **graph).fit_predict(distances)


def fit_one_hot(frame: pd.DataFrame, number: int) -> Labels:
    """k-means with a column of 0 and 1 for every value of a category."""
    numbers, _, indicators = parts_of(frame)
    return KMeans(number, n_init=10, random_state=0).fit_predict(np.hstack([numbers, indicators]))


METHODS: dict[str, Callable[[pd.DataFrame, int], Labels | None]] = {
    "GIT": fit_git,
    "GIT nothing": lambda frame, _: GIT().fit_predict(frame),
    "GIT numbers": fit_numbers,
    "k-prototypes": fit_prototypes,
    "Gower + spectral": fit_gower,
    "one-hot + k-means": fit_one_hot,
}


def _scores() -> dict[tuple[str, str, str, int], float | None]:
    return {key: line["ari"] for key, line in Store(RESULTS, FIELDS).lines.items()}  # type: ignore[misc]


def _halves() -> dict[str, int]:
    return {line["table"]: line["half"] for line in Store(RESULTS, FIELDS).lines.values()}


def _show(scores: Sequence[float | None]) -> str:
    known = [score for score in scores if score is not None]
    return f"{np.mean(known):.3f}" if known else ""


def table_of_scores() -> str:
    """Adjusted Rand index of every method on every table, and the means of both halves."""
    scores, halves = _scores(), _halves()
    rows = []
    for half, words in ((0, "chosen on"), (1, "not chosen on")):
        some = [name for name in halves if halves[name] == half]
        rows += [[name, words, *(_show([scores.get((name, m, "", 0))]) for m in METHODS)] for name in some]
        means = [_show([scores.get((name, method, "", 0)) for name in some]) for method in METHODS]
        rows.append([f"**mean of {len(some)}**", words, *means])
    return markdown(["table", "half", *METHODS], rows)


def noise_table() -> str:
    """What columns of noise cost: the largest loss of GIT by kind of column, and of every method with all kinds."""
    scores, halves = _scores(), _halves()

    def loss(name: str, method: str, noise: str) -> float | None:
        before = scores.get((name, method, "", 0))
        after = [scores.get((name, method, noise, count)) for count in COUNTS]
        known = [before - score for score in after if score is not None and before is not None]
        return max(known) if known else None

    columns = [("GIT", kind) for kind in NOISE] + [(m, "all") for m in METHODS if m != "GIT numbers"]
    rows = [[name, *(_show([loss(name, *column)]) for column in columns)] for name in halves]
    worst = [max((x for name in halves if (x := loss(name, *column)) is not None), default=None) for column in columns]
    rows.append(["**largest**", *(_show([x]) for x in worst)])
    return markdown(["table", *(f"{method}, {kind}" for method, kind in columns)], rows)
