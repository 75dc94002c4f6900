"""Labels of new samples beside ``hdbscan.approximate_predict``: ``python -m benchmarks prediction``.

10,000 new samples against 100,000 fitted ones, blobs of 10 features, both in one run; the best of three counts. One
line goes to ``results/prediction.jsonl``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.methods import METHODS
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, read_lines, record, time_call
from gitcluster import GIT

RESULTS = FOLDER / "prediction.jsonl"


def main(arguments: Sequence[str]) -> None:
    """Fit both, time both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks prediction", description=__doc__)
    parser.add_argument("--fitted", type=int, default=100_000)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=10)
    options = parser.parse_args(arguments)
    method = METHODS["hdbscan"]
    if not method.is_installed:
        raise SystemExit(f"This compares with hdbscan: {method.pip_line}")
    from hdbscan import approximate_predict

    n_samples = options.fitted + options.new
    X, y = make_blobs(n_samples, options.features, centers=30, cluster_std=2.0, random_state=2021)
    X, new, truth = X[: options.fitted], X[options.fitted :], y[options.fitted :]
    GIT(30, n_jobs=-1).fit(X[:3000]).predict(new[:100])  # compiles
    peer = method.load()(**method.options, prediction_data=True, core_dist_n_jobs=-1)
    model, git_seconds = time_call(lambda: GIT(30, n_jobs=-1).fit(X))
    peer, peer_seconds = time_call(lambda: peer.fit(X))
    fits = {"GIT": round(git_seconds, 2), "hdbscan": round(peer_seconds, 2)}
    line: Line = vars(options) | {"seconds": {}, "fit": fits, "ari": {}}
    ways: dict[str, Callable[[], Any]] = {
        "GIT": lambda: model.predict(new),
        "GIT memberships": lambda: model.predict_proba(new).argmax(axis=1),
        "hdbscan": lambda: approximate_predict(peer, new)[0],
    }
    for name, way in ways.items():
        runs = [time_call(way) for _ in range(3)]
        line["seconds"][name] = [round(seconds, 3) for _, seconds in runs]
        line["ari"][name] = round(adjusted_rand_score(truth, np.asarray(runs[0][0])), 4)
    record(RESULTS, line)


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
