"""Measure accuracy by kind of data, on sets like those that people try first: ``python -m benchmarks kinds``.

``--only part=NAME`` selects one of three parts:

- ``labelled``: the tables of the folder ``mixed`` of GITCLUSTER_DATA, tables of scikit-learn, and generated sets like
  well-known ones. GIT is given the number of classes, their proportions, or nothing. The penguins are left out, because
  no installed package contains them.
- ``structureless``: sets of one cluster, nothing given.
- ``border``: sets of 4,900 to 10,000 rows, nothing given. Above 5,000 rows GIT decides on a subsample, and the number
  of clusters should not change there.

Peers are given the number, and the same columns in the representations that GIT chooses from. Their score is that of
the representation with the highest silhouette; the mean over representations is stored beside it. They get at most
5,000 rows.

After a change of GIT, run ``--only part=labelled "method=GIT,GIT proportions,GIT nothing" --again``. The tables show
the stored results before and after, and name the sets that lost more than .1. ``--before FILE`` compares with an older
result file, such as one from ``git show HEAD:benchmarks/results/kinds.jsonl``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils import check_array

from benchmarks.methods import METHODS
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Key, Line, Store, Task, read_lines, run_experiment, time_call
from benchmarks.scoring import count_clusters
from benchmarks.suite.kinds import KindOfData, Labelled, labelled_sets, large_sets, structureless_sets
from gitcluster.preprocessing.sources import Points, as_floats
from gitcluster.preprocessing.tables import learn_table
from gitcluster.samples import find_representations, prepare

FIELDS = ("part", "set", "rows", "method")
GIT_NAMES = ("GIT", "GIT proportions", "GIT nothing")
PEERS = ("k-means", "Ward", "Gaussian mixture", "spectral")
BORDER = (4900, 4901, 5000, 5001, 5100, 5101, 10_000)
STEPS = ((5000, 5001), (4900, 4901), (5100, 5101), (4900, 5000), (5001, 5100), (5100, 10_000))
"""Numbers of rows between which the number of clusters is compared: the border first, then as many rows elsewhere."""
MAX_PEER_ROWS = 5000
LOSS = 0.1
"""Larger losses are listed by set."""
Lines = Mapping[Key, Line]


def main(arguments: Sequence[str]) -> None:
    """Run the experiment, and compare its results with those stored before."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--before", type=Path)
    options, others = parser.parse_known_args(arguments)
    store = Store("kinds", FIELDS)
    before = store.lines if options.before is None else {store.key(line): line for line in read_lines(options.before)}
    tables = [partial(table, before) for table in (labelled_table, one_cluster_table, border_table, changes)]
    run_experiment("kinds", __doc__ or "", others, fields=FIELDS, tasks=tasks, tables=tables)


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and method; ``--quick`` yields iris, and the first sets of the other parts."""
    for data in labelled_sets():
        if options.quick and data.name != "iris":
            continue
        for name in (*GIT_NAMES, *PEERS):
            run = run_peer if name in PEERS else run_git
            yield {"part": "labelled", "kind": data.kind, "set": data.name, "method": name}, partial(run, data, name)
    for data in islice(structureless_sets(), 1 if options.quick else None):
        task = {"part": "structureless", "kind": data.kind, "set": data.name, "method": "GIT nothing"}
        yield task, partial(run_git, data, "GIT nothing")
    for data in islice(large_sets(), 1 if options.quick else None):
        for n in BORDER:
            task = {"part": "border", "kind": data.kind, "set": data.name, "method": "GIT nothing"}
            yield task | {"rows": n}, partial(run_git, data, "GIT nothing", n)


@lru_cache(maxsize=1)
def load(data: KindOfData) -> Labelled:
    """Return a set; the last one is stored, because several methods use it in turn."""
    return data.make()


def run_git(data: KindOfData, name: str, n: int | None = None) -> Line:
    """Return the score of GIT and its number of clusters on a set, or on its first n rows."""
    X, y = (part[:n] for part in load(data))
    sizes = np.unique(y, return_counts=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, _, cpu = time_call(lambda: METHODS[name].fit(X, sizes, n_jobs=1))
    counts = {"samples": len(y), "classes": len(sizes), "clusters": count_clusters(labels)}
    return {"ari": round(float(adjusted_rand_score(y, labels)), 4), "cpu_seconds": round(cpu, 2)} | counts


def run_peer(data: KindOfData, name: str) -> Line:
    """Return the score of a peer in the representation with the highest silhouette, and in all representations."""
    representations, y = represent(data)
    sizes, scores, silhouettes = np.unique(y, return_counts=True)[1], {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for representation, points in representations.items():
            labels = METHODS[name].fit(points, sizes)
            scores[representation] = round(float(adjusted_rand_score(y, labels)), 4)
            silhouettes[representation] = silhouette_score(points, labels) if count_clusters(labels) > 1 else -1.0
    chosen = max(silhouettes, key=lambda representation: silhouettes[representation])
    mean = round(float(np.mean(list(scores.values()))), 4)
    return {"ari": scores[chosen], "mean": mean, "chosen": chosen, "scores": scores, "samples": len(y)}


@lru_cache(maxsize=1)
def represent(data: KindOfData) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
    """Return a set in every representation that GIT chooses from, and its classes; at most 5,000 rows."""
    X, y = load(data)
    if len(y) > MAX_PEER_ROWS:
        rows = np.random.default_rng(0).choice(len(y), MAX_PEER_ROWS, replace=False)
        X, y = X[rows] if isinstance(X, np.ndarray) else X.iloc[rows].reset_index(drop=True), y[rows]
    table = learn_table(X, None, None, partial(as_floats, validate=check_array, allow_nan=True))
    if table is None:
        points = Points(np.asarray(X, np.float64))
    else:
        points = Points(table.matrix, kinds=table.columns.feature_kinds if table.columns.encoded else None)
    choices = find_representations(prepare(points, sort=False), "auto", None)
    possible = [choice for choice in choices if choice.scaling is not None]
    return {choice.name: points.transform(choice, None).values.astype(np.float64) for choice in possible}, y


def labelled_table(before: Lines | None = None) -> str:
    """Return the mean adjusted Rand index by kind of data.

    A peer has a second figure, the mean over representations. Percentages show how often GIT chose the right number.
    """

    def figure(lines: Sequence[Line]) -> str:
        means = {name: np.mean([line[name] for line in lines]) for name in ("ari", "mean") if name in lines[0]}
        text = " / ".join(short(mean) for mean in means.values())
        right = [line["clusters"] == line["classes"] for line in lines if line["method"] == "GIT nothing"]
        return f"{text} ({np.mean(right):.0%})" if right else text

    rows = []
    for kind, lines in list(_by_kind("labelled").items())[:-1]:  # a mean over all sets would hide the small kinds
        row = [kind, str(len({line["set"] for line in lines.values()}))]
        for name in (*GIT_NAMES, *PEERS):
            row.append(_figure(figure, {key: x for key, x in lines.items() if x["method"] == name}, before))
        rows.append(row)
    return markdown(["kind of data", "sets", *GIT_NAMES, *PEERS], rows)


def one_cluster_table(before: Lines | None = None) -> str:
    """Return how often GIT keeps sets without structure whole, by family, and the largest number of clusters."""

    def figure(lines: Sequence[Line]) -> str:
        numbers = np.array([line["clusters"] for line in lines])
        return f"{np.mean(numbers == 1):.0%} / {numbers.max()}"

    rows = [
        [kind, str(len(lines)), _figure(figure, lines, before)] for kind, lines in _by_kind("structureless").items()
    ]
    return markdown(["sets without structure", "sets", "kept whole / most clusters"], rows)


def border_table(before: Lines | None = None) -> str:
    """Return how often the number of clusters changes between neighbouring sizes of a set."""

    def figure(few: int, many: int, lines: Sequence[Line]) -> str:
        numbers = {(line["set"], line["rows"]): line["clusters"] for line in lines}
        pairs = [
            (n, numbers[name, many]) for (name, rows), n in numbers.items() if rows == few and (name, many) in numbers
        ]
        return f"{np.mean([a != b for a, b in pairs]):.0%}" if pairs else ""

    rows = []
    for kind, lines in _by_kind("border").items():
        row = [kind, str(len({line["set"] for line in lines.values()}))]
        rows.append(row + [_figure(partial(figure, *sizes), lines, before) for sizes in STEPS])
    return markdown(["another number at", "sets", *(f"{a:,} -> {b:,} rows" for a, b in STEPS)], rows)


def changes(before: Lines) -> str:
    """Return the sets on which GIT lost or gained more than .1, and sets without structure with another number."""
    rows = []
    for key, line in Store("kinds", FIELDS).lines.items():
        old = before.get(key, line)
        change = line["ari"] - old["ari"]
        if line["part"] == "labelled" and abs(change) > LOSS:
            rows.append((change, [line["kind"], line["set"], line["method"], *(short(x["ari"]) for x in (old, line))]))
        elif line["part"] == "structureless" and line["clusters"] != old["clusters"]:
            numbers = [f"{x['clusters']} clusters" for x in (old, line)]
            rows.append((change, [line["kind"], line["set"], line["method"], *numbers]))
    if not rows:
        return f"No score changed by more than {LOSS}."
    return markdown(["kind of data", "set", "method", "before", "after"], [row for _, row in sorted(rows)])


def _by_kind(part: str) -> dict[str, dict[Key, Line]]:
    """Return the stored results of a part by kind, and last those of all kinds."""
    lines = {key: line for key, line in Store("kinds", FIELDS).lines.items() if line["part"] == part}
    kinds = dict.fromkeys(line["kind"] for line in lines.values())
    return {kind: {key: x for key, x in lines.items() if x["kind"] == kind} for kind in kinds} | {"all": lines}


def _figure(figure: Callable[[Sequence[Line]], str], lines: Lines, before: Lines | None) -> str:
    """Return a figure of results, after that of the same results before if it is another."""
    if not lines:
        return ""
    common = [key for key in lines if key in (before or {})]
    if before is None or not common:
        return figure(list(lines.values()))
    old, new = (figure([some[key] for key in common]) for some in (before, lines))
    return figure(list(lines.values())) if old == new else f"{old} -> {new}"
