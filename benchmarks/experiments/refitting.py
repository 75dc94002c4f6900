"""``refit`` beside a fit from scratch: ``python -m benchmarks refitting``.

On 20 generated sets, 1, 10 and 50 % of the rows come later than the others. ``refit`` is given all of them and starts
from the graph of neighbours of the first. Its labels are compared with those of a fit from scratch in the same scale,
which they must equal, and with those of a default fit, which works out its scales anew. CPU seconds, the least of
three.
Every (set, share) is a line of ``results/refitting.jsonl``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from copy import deepcopy
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, describe_run, read_lines, record
from benchmarks.suite.datasets import generated_datasets
from gitcluster import GIT, git_clusters
from gitcluster.metrics import adjusted_rand_score

RESULTS = FOLDER / "refitting.jsonl"
SHARES = (0.01, 0.1, 0.5)
N_SETS = 16
LARGE = ((50_000, 2), (50_000, 10), (50_000, 40), (20_000, 200))
"""Samples and features of blobs in which a search takes its time."""


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks refitting", description=__doc__)
    parser.parse_args(arguments)
    done = {(line["set"], line["new"]) for line in read_lines(RESULTS)}
    for name, X in chosen_sets():
        for share in SHARES:
            if (name, share) not in done:
                record(RESULTS, compare(name, X, share) | describe_run("refitting", arguments))


def chosen_sets() -> list[tuple[str, Any]]:
    """Every so many of the generated sets of 1,000 samples or more, and large ones."""
    some = [(data.name, data.X) for data in generated_datasets() if 1000 <= len(data.X) <= 20_000]
    blobs = [(f"blobs_{n}_{d}", make_blobs(n, d, centers=20, cluster_std=2.0, random_state=d)[0]) for n, d in LARGE]
    return some[:: len(some) // N_SETS][:N_SETS] + blobs


def compare(name: str, X: Any, share: float) -> Line:
    """Labels and seconds of both, in one run."""
    rows = np.random.default_rng(0).permutation(len(X))
    n_old = round(len(X) * (1 - share))
    first = GIT().refit(X[rows[:n_old]])
    ways = first.clustering_.ways
    again, refit_seconds = best_of(lambda: deepcopy(first), lambda model: model.refit(X[rows]))
    same, same_seconds = best_of(lambda: None, lambda _: git_clusters(X[rows], scale=ways))
    scratch, fit_seconds = best_of(GIT, lambda model: model.fit(X[rows]))
    return {
        "set": name, "samples": len(X), "features": X.shape[1], "new": share, "clusters": again.n_clusters_,
        "identical": bool(np.array_equal(again.labels_, same.labels)),
        "default_identical": bool(np.array_equal(again.labels_, scratch.labels_)),
        "default_ari": round(float(adjusted_rand_score(again.labels_, scratch.labels_)), 4),
        "refit": refit_seconds, "fit_same_scale": same_seconds, "fit": fit_seconds,
    }  # fmt: skip


def best_of(prepare: Callable[[], Any], call: Callable[[Any], Any], times: int = 3) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds: the least of several, each with something prepared for it."""
    found, seconds = None, []
    for _ in range(times):
        prepared, start = prepare(), process_time()
        found = call(prepared)
        seconds.append(process_time() - start)
    return found, round(min(seconds), 3)


def table() -> str:
    """Markdown: how many are identical, and how long it takes beside a fit, by share of new rows."""
    lines, rows = read_lines(RESULTS), []
    for share in SHARES:
        some = [line for line in lines if line["new"] == share]
        for kind, part in (
            ("1,000 to 20,000 samples", [x for x in some if not x["set"].startswith("blobs_")]),
            *((f"{n:,} x {d}", [x for x in some if x["set"] == f"blobs_{n}_{d}"]) for n, d in LARGE),
        ):
            if part:
                ratio = [np.median([x["refit"] / x[name] for x in part]) for name in ("fit_same_scale", "fit")]
                rows.append([
                    f"{share:.0%}", kind, f"{sum(x['identical'] for x in part)} of {len(part)}",
                    f"{np.mean([x['default_ari'] for x in part]):.3f}", f"{np.median([x['refit'] for x in part]):.2f}",
                    *(f"{value:.2f}" for value in ratio),
                ])  # fmt: skip
    heads = ["same labels", "ARI with a default fit", "refit, CPU s", "of a fit in the same scale", "of a default fit"]
    return markdown(["new rows", "sets", *heads], rows)
