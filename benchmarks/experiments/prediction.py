"""Time labels of new samples beside ``hdbscan.approximate_predict``: ``python -m benchmarks prediction``.

10,000 new samples against 100,000 fitted ones, blobs with 10 features, three runs each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from gitcluster import GIT

FIELDS = ("fitted", "new", "features")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield one comparison; ``--quick`` takes a hundredth of the samples."""
    share = 100 if options.quick else 1
    task = {"fitted": 100_000 // share, "new": 10_000 // share, "features": 10}
    yield task, partial(compare, **task)


def compare(fitted: int, new: int, features: int) -> Line:
    """Return seconds and adjusted Rand index of GIT and hdbscan."""
    from hdbscan import HDBSCAN, approximate_predict

    X, y = make_blobs(fitted + new, features, centers=30, cluster_std=2.0, random_state=2021)
    X, samples, truth = X[:fitted], X[fitted:], y[fitted:]
    GIT(30, n_jobs=-1).fit(X[:3000]).predict(samples[:100])  # compiles
    model, git_seconds, _ = time_call(lambda: GIT(30, n_jobs=-1).fit(X))
    peer = HDBSCAN(min_cluster_size=15, prediction_data=True, core_dist_n_jobs=-1)
    peer, peer_seconds, _ = time_call(lambda: peer.fit(X))
    calls: dict[str, Callable[[], Any]] = {
        "GIT": lambda: model.predict(samples),
        "GIT memberships": lambda: model.predict_proba(samples).argmax(axis=1),
        "hdbscan": lambda: approximate_predict(peer, samples)[0],
    }
    seconds, scores = {}, {}
    for name, call in calls.items():
        runs = [time_call(call) for _ in range(3)]
        seconds[name] = [round(wall, 3) for _, wall, _ in runs]
        scores[name] = round(float(adjusted_rand_score(truth, np.asarray(runs[0][0]))), 4)
    fits = {"GIT": round(git_seconds, 2), "hdbscan": round(peer_seconds, 2)}
    return {"seconds": seconds, "fit": fits, "ari": scores}


def table() -> str:
    """Return the first and the best run of every method."""
    line = list(Store("prediction", FIELDS).lines.values())[-1]
    rows = [
        [name, f"{runs[0]:.2f}", f"{min(runs):.2f}", f"{line['ari'][name]:.3f}"]
        for name, runs in line["seconds"].items()
    ]
    header = [f"{line['new']:,} new, {line['fitted']:,} fitted", "first, s", "best, s", "ARI with the truth"]
    return markdown(header, rows)


TABLES = {"prediction": table}
