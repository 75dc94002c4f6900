"""Compare methods over all data sets with nothing tuned: ``python -m benchmarks untuned --max-samples 10000``.

GIT gets the features as they are, the peers get them divided by their standard deviations. A method that fails scores
0, and its error is stored. Sets of one cluster are only run by methods that choose the number of clusters. ``--draw 1``
uses new samples of the generated designs, on which no constant was chosen.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from time import perf_counter

import numpy as np

from benchmarks.methods import METHODS, Method, keep_installed
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task
from benchmarks.scoring import count_clusters, score_labels
from benchmarks.suite.datasets import Dataset, all_datasets, generated_datasets, kind_of
from benchmarks.suite.designs import KINDS
from gitcluster import scale_features

FIELDS = ("set", "method")
CHOSEN: dict[str, Method] = {
    **{name: METHODS[name] for name in ("GIT", "GIT proportions", "GIT nothing")},
    "GIT paper k=8": METHODS["GIT"].using(variant="paper"),
    "k-means": METHODS["k-means"],
    "gaussian-mixture": METHODS["Gaussian mixture"],
    "ward": METHODS["Ward"],
    "genie": METHODS["Genie"],
    "lumbermark": METHODS["Lumbermark"],
    "spectral": METHODS["spectral"],
    **{f"hdbscan-{size}": METHODS["HDBSCAN"].using(min_cluster_size=size) for size in (5, 15)},
}
"""The methods by their names in the result file."""
Results = dict[tuple[str, str], Line]
Groups = dict[str, list[str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--max-samples", type=int, help="leave out larger sets", metavar="N")
    parser.add_argument("--draw", type=int, default=0, help="other samples of the generated designs", metavar="N")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and method; ``--quick`` yields the first two sets."""
    methods = keep_installed(CHOSEN)
    sets = generated_datasets(options.draw) if options.draw else all_datasets()
    for data in islice(sets, 2 if options.quick else None):
        if len(data.X) <= (options.max_samples or len(data.X)):
            for name, method in methods.items():
                fits = len(data.X) <= (method.max_samples or len(data.X))
                if fits and (data.family != "single" or method.given == "nothing"):
                    task = {"set": data.name, "family": data.family, "method": name, "draw": options.draw}
                    yield task, partial(run_method, data, name)


def run_method(data: Dataset, name: str) -> Line:
    """Return the scores of one method on one set."""
    X = data.X if name.startswith("GIT") else scale_features(data.X)
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = CHOSEN[name].fit(X, data.sizes)
    except Exception as error:  # a failing peer must not end the run
        scores: Line = {"ari": 0.0, "nmi": 0.0, "f1": 0.0, "clusters": 0, "error": repr(error)}
    else:
        scores = score_labels(data.y, labels) | {"clusters": count_clusters(labels)}
    about = {"clear": data.clear, "n": data.X.shape[0], "d": data.X.shape[1], "classes": len(data.sizes)}
    return about | scores | {"seconds": round(perf_counter() - start, 4)}


def read_results(draw: int = 0) -> Results:
    """Return the stored lines of a draw by set and method."""
    lines = Store("untuned", FIELDS).lines
    return {(line["set"], line["method"]): line for line in lines.values() if line.get("draw", 0) == draw}


def table(results: Results | None = None) -> str:
    """Return mean ARI by family, by kind of data and over kinds, wins, and how often the number of clusters is right.

    Only sets that every method has run are averaged. Sets of one cluster enter only the last row, which has a figure
    only for methods that choose the number.
    """
    results = read_results() if results is None else results
    names, sets, kinds = group(results)

    def row(title: str, chosen: Sequence[str], figure: Callable[[str], str]) -> list[str]:
        return [f"{title} ({len(chosen)})", *(figure(name) for name in names)]

    rows = []
    for kind, chosen in kinds.items():
        families: Groups = {}
        for s in chosen:
            families.setdefault(results[s, names[0]]["family"], []).append(s)
        for title, some in [*families.items(), (f"**{kind}**", chosen)]:
            rows.append(row(title, some, lambda name, some=some: f"{mean_score(results, name, some):.3f}"))
    rows.append(row("**mean of kinds**", sets, lambda name: f"{mean_of_kinds(results, name, kinds):.3f}"))
    best = {s: max(results[s, name]["ari"] for name in names) for s in sets}
    rows.append(row("wins", sets, lambda name: str(sum(results[s, name]["ari"] >= best[s] - 1e-9 for s in sets))))
    clear = sorted({line["set"] for line in results.values() if line["clear"]})
    rows.append(row("number right on clear sets", clear, lambda name: share_right(results, name)))
    return markdown(["sets", *names], rows)


def summary(results: Results | None = None, *, draw: int = 0) -> str:
    """Return one row per method: what it is given, mean ARI of every kind of data, the mean of these, right numbers."""
    results = read_results(draw) if results is None else results
    names, _, kinds = group(results)
    rows = []
    for name in names:
        given, mean = CHOSEN[name].given, mean_of_kinds(results, name, kinds)
        figures = [f"{value:.3f}" for value in (*(mean_score(results, name, some) for some in kinds.values()), mean)]
        order = ("proportions", "number", "nothing").index(given), -mean
        rows.append((order, [name, given, *figures, share_right(results, name)]))
    heads = [f"{kind} {len(chosen)}" for kind, chosen in kinds.items()]
    header = ["method", "given", *heads, "mean of kinds", "right number on clear sets"]
    return markdown(header, [row for _, row in sorted(rows)])


def group(results: Results) -> tuple[list[str], list[str], Groups]:
    """Return the methods, GIT last, the sets of several classes that all of them have run, and these by kind."""
    names = sorted(dict.fromkeys(method for _, method in results), key=lambda name: name.startswith("GIT"))
    candidates = dict.fromkeys(s for (s, _), line in results.items() if line["classes"] > 1)
    sets = [s for s in candidates if all((s, name) in results for name in names)]
    family = {s: line["family"] for (s, _), line in results.items()}
    kinds = {kind: [s for s in sets if kind_of(s, family[s]) == kind] for kind in KINDS}
    return names, sets, {kind: chosen for kind, chosen in kinds.items() if chosen}


def mean_score(results: Results, name: str, sets: Sequence[str]) -> float:
    """Return the mean ARI of a method over sets."""
    return float(np.mean([results[s, name]["ari"] for s in sets]))


def mean_of_kinds(results: Results, name: str, kinds: Groups) -> float:
    """Return the mean over kinds of data, with equal weights."""
    return float(np.mean([mean_score(results, name, sets) for sets in kinds.values()]))


def share_right(results: Results, name: str) -> str:
    """Return the share of clear sets on which a method returned the right number of clusters."""
    lines = [line for (_, method), line in results.items() if method == name and line["clear"]]
    if not lines or CHOSEN[name].given != "nothing":
        return ""
    return f"{np.mean([line['clusters'] == line['classes'] for line in lines]):.0%}"


TABLES = {"summary": summary, "second_draw": partial(summary, draw=1), "untuned": table}
