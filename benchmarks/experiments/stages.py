"""CPU seconds of every stage over the number of samples: ``python -m benchmarks stages [--samples a,b]``.

The paper's method in the setting of its figure of speed: two Gaussians of one size, 10 features, 50 neighbours. The
best of several repetitions counts, after one small fit that compiles; the search, by far the longest, is run once. One
line a size goes to ``results/stages.jsonl``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import process_time
from typing import Any

from benchmarks.experiments.speed import exponent, make_case
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run, show_progress
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
KEYS = ("samples", "features", "neighbors")
STAGES = {
    "search": ("Algorithm 1, step 1: search", "O(k d n log n)", "between n log n and n², more with every feature"),
    "intensity": ("Algorithm 1, step 1: intensity", "the same", "n k"),
    "local clusters": ("Algorithm 1, steps 2 and 3: roots", "O(n k²)", "n k"),
    "topo-graph": (
        "Algorithms 1 and 2: boundary pairs, topo-graph",
        "O(n k²), O(k n)",
        "n k log k; e log e for e edges",
    ),
    "edge cutting": (
        "Algorithm 3: sweep over e edges of m local clusters",
        "O(e m log m) or O(e log e)",
        "e log e; a merge of sizes a and b takes as many steps as there are sizes between them, at most sqrt(2 n)",
    ),
}
"""By the names of the result file: what the paper calls a stage, the complexity it states, and what the code does."""


def main(arguments: Sequence[str]) -> None:
    """Time the stages of the paper's method, store the seconds and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks stages", description=__doc__)
    parser.add_argument(
        "--samples", type=lambda text: [int(n) for n in text.split(",")], default=[10_000, 30_000, 100_000, 300_000]
    )
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--neighbors", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args(arguments)
    time_stages(5000, options.features, options.neighbors, repeat=1)  # compiles
    for samples, say in show_progress(options.samples, "stages"):
        found = time_stages(samples, options.features, options.neighbors, repeat=options.repeat)
        case = {"samples": samples, "features": options.features, "neighbors": options.neighbors}
        Store(RESULTS, KEYS).add(case | found | describe_run("stages", arguments))
        say(f"{samples:,}: {found}")
    print(table())


def time_stages(n_samples: int, n_features: int, k: int, *, repeat: int) -> Line:
    """Best CPU seconds of every stage, and how many local clusters, edges and boundary pairs there are."""
    X = make_case(n_samples, n_features, 2)
    seconds: dict[str, float] = {}

    def timed(stage: str, function: Any, *inputs: Any, **options: Any) -> Any:
        start = process_time()
        result = function(*inputs, **options)
        seconds[stage] = round(min(process_time() - start, seconds.get(stage, float("inf"))), 5)
        return result

    points = timed("scale", scale_features, X)
    near = timed("search", find_neighbors, points, n_neighbors=k, n_jobs=-1)
    for _ in range(repeat):
        log_intensity = timed("intensity", estimate_intensity, near, n_jobs=-1)
        local = timed("local clusters", find_local_clusters, near, log_intensity, n_jobs=-1)
        graph = timed("topo-graph", build_topo_graph, near, local, n_jobs=-1)
        bridged = timed("bridges", bridge_components, graph, points)
        timed("edge cutting", cut_edges, bridged, n_clusters=2)
    return {"cpu": seconds, "counts": [len(graph.sizes), len(graph.edges), int(graph.pairs.sum())]}


def table() -> str:
    """Markdown: the complexity of every stage as the paper states it, as it is here, and as it is measured."""
    lines = sorted(Store(RESULTS, KEYS).lines.values(), key=lambda line: line["samples"])
    rows = []
    for stage, told in STAGES.items():
        found = [(line["samples"], line["cpu"][stage]) for line in lines]
        rows.append([*told, *(f"{seconds:.3g}" for _, seconds in found), f"{exponent(found):.2f}"])
    for place, counted in enumerate(("local clusters m", "edges e", "boundary pairs")):
        found = [(line["samples"], line["counts"][place]) for line in lines]
        rows.append([counted, "", "", *(f"{number:,}" for _, number in found), f"{exponent(found):.2f}"])
    sizes = [f"n = {line['samples']:,}" for line in lines]
    return markdown(["stage", "the paper says", "the code does", *sizes, "exponent of n"], rows)
