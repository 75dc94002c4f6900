"""Seconds of every stage beside the neighbour search, in one run: ``python -m benchmarks stages``.

Blobs of a given size; the best of several repetitions counts, after one small fit that compiles. One line a
size goes to ``results/stages.jsonl``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from sklearn.datasets import make_blobs

from benchmarks.running import FOLDER, record, time_call
from gitcluster import (
    bridge_components,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    scale_features,
)

RESULTS = FOLDER / "stages.jsonl"


def main(arguments: Sequence[str]) -> None:
    """Time the stages of the paper's method and print their share of the search."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stages", description=__doc__)
    parser.add_argument("--samples", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--neighbors", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args(arguments)
    data = {"n_features": options.features, "k": options.neighbors, "n_jobs": options.jobs}
    time_stages(5000, **data, repeat=1)  # compiles
    seconds = time_stages(options.samples, **data, repeat=options.repeat)
    rest = sum(seconds.values()) - seconds["search"]
    line = vars(options) | {"seconds": seconds, "stages / search": round(rest / seconds["search"], 4)}
    record(RESULTS, line)


def time_stages(n_samples: int, *, n_features: int, k: int, repeat: int, n_jobs: int) -> dict[str, float]:
    """Best seconds of every stage; the search, by far the longest, is run once."""
    X, _ = make_blobs(n_samples, n_features, centers=3, random_state=2021)
    seconds: dict[str, float] = {}

    def timed(stage: str, function: Any, *inputs: Any, **options: Any) -> Any:
        result, passed = time_call(lambda: function(*inputs, **options))
        seconds[stage] = round(min(passed, seconds.get(stage, float("inf"))), 4)
        return result

    points = timed("scale", scale_features, X)
    near = timed("search", find_neighbors, points, n_neighbors=k, n_jobs=n_jobs)
    for _ in range(repeat):
        log_intensity = timed("intensity", estimate_intensity, near, n_jobs=n_jobs)
        local = timed("local clusters", find_local_clusters, near, log_intensity, n_jobs=n_jobs)
        graph = timed("topo-graph", build_topo_graph, near, local, n_jobs=n_jobs)
        graph = timed("bridges", bridge_components, graph, points)
        timed("edge cutting", cut_edges, graph, n_clusters=3)
    return seconds
