"""Labels of new samples beside ``hdbscan.approximate_predict``: ``python -m benchmarks prediction``.

10,000 new samples against 100,000 fitted ones, blobs of 10 features, both in one run; the best of three counts. One
line goes to ``results/prediction.jsonl``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, append, read_lines
from gitcluster import GIT

RESULTS = FOLDER / "prediction.jsonl"


def main(arguments: Sequence[str]) -> None:
    """Fit both, time both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks prediction", description=__doc__)
    parser.add_argument("--fitted", type=int, default=100_000)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=10)
    options = parser.parse_args(arguments)
    import hdbscan

    n_samples = options.fitted + options.new
    X, y = make_blobs(n_samples, options.features, centers=30, cluster_std=2.0, random_state=2021)
    X, new, truth = X[: options.fitted], X[options.fitted :], y[options.fitted :]
    GIT(30, n_jobs=-1).fit(X[:3000]).predict(new[:100])  # compiles
    line: dict[str, Any] = vars(options) | {"seconds": {}, "fit": {}, "ari": {}}
    start = perf_counter()
    model = GIT(30, n_jobs=-1).fit(X)
    line["fit"]["GIT"] = round(perf_counter() - start, 2)
    start = perf_counter()
    peer = hdbscan.HDBSCAN(min_cluster_size=15, prediction_data=True, core_dist_n_jobs=-1).fit(X)
    line["fit"]["hdbscan"] = round(perf_counter() - start, 2)
    ways: dict[str, Callable[[], Any]] = {
        "GIT": lambda: model.predict(new),
        "GIT memberships": lambda: model.predict_proba(new).argmax(axis=1),
        "hdbscan": lambda: hdbscan.approximate_predict(peer, new)[0],
    }
    for name, way in ways.items():
        seconds = []
        for _ in range(3):
            start = perf_counter()
            labels = way()
            seconds.append(perf_counter() - start)
        line["seconds"][name] = [round(value, 3) for value in seconds]
        line["ari"][name] = round(adjusted_rand_score(truth, np.asarray(labels)), 4)
    append(RESULTS, line)
    print(json.dumps(line))


def table() -> str:
    """Markdown: the last run."""
    lines = read_lines(RESULTS)
    if not lines:
        return ""
    line = lines[-1]
    names = list(line["seconds"])
    rows = [
        [n, f"{line['seconds'][n][0]:.2f}", f"{min(line['seconds'][n]):.2f}", f"{line['ari'][n]:.3f}"] for n in names
    ]
    return markdown(
        [f"{line['new']:,} new, {line['fitted']:,} fitted", "first, s", "best, s", "ARI with the truth"], rows
    )
