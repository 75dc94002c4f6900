"""Why the default merges as it does: each choice against its alternatives, ``python -m benchmarks study [--table]``.

Every design changes one choice of the default, over all sets with a known number of clusters. A choice is trusted when
designs chosen without a family of sets do as well on that family as the default: ``--table`` prints the mean adjusted
Rand index of every design, and of the design that is best on all other families, family by family.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.running import FOLDER, append, read_lines
from benchmarks.suite.datasets import all_datasets
from gitcluster import (
    Neighbors,
    bridge_components,
    build_hierarchy,
    build_topo_graph,
    cut_edges,
    cut_hierarchy,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    scale_features,
)
from gitcluster.metrics import adjusted_rand_score

RESULTS = FOLDER / "study.jsonl"
FACTORS = tuple(2 ** (step / 4) for step in range(-4, 5))


class Design(NamedTuple):
    """Choices; neighbourhoods are multiples of k = factor * log2 n."""

    kernel: str = "relative"
    climb: float = 0.5
    boundary: float = 2.0
    similarity: str = "relative"
    merge: str = "linkage"
    factors: tuple[float, ...] = FACTORS


DESIGNS = {
    "default, agreement of 9 k (no size step)": Design(),
    "agreement of 5 k": Design(factors=FACTORS[::2]),
    "one k = log2 n / 2": Design(factors=(0.5,)),
    "one k = log2 n": Design(factors=(1.0,)),
    "one k = 2 log2 n": Design(factors=(2.0,)),
    "kernel exp(-d)": Design(kernel="exponential"),
    "kernel exp(-d^2 / d)": Design(kernel="gaussian"),
    "climb among k / 3": Design(climb=1 / 3),
    "climb among k": Design(climb=1.0),
    "boundary pairs among k": Design(boundary=1.0),
    "boundary pairs among 3 k": Design(boundary=3.0),
    "similarity exp(-d)": Design(similarity="distance"),
    "sweep of the paper, equal shares": Design(merge="sweep"),
    "the paper with one k = log2 n": Design("exponential", 1.0, 1.0, "distance", "sweep", (1.0,)),
}


def main(arguments: Sequence[str]) -> None:
    """Run the designs over the sets, or print the table of what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks study", description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--max-samples", type=int, default=3500)
    options = parser.parse_args(arguments)
    if not options.table:
        warnings.simplefilter("ignore")
        RESULTS.write_text("")
        for data in all_datasets(options.max_samples):
            scored = data.y >= 0
            if len(np.unique(data.y[scored])) > 1:
                line = {"set": data.name, "family": data.family} | compare_designs(data.X, data.y)
                append(RESULTS, line)
                print(data.name, file=sys.stderr)
    print(table())


def compare_designs(X: NDArray[Any], y: NDArray[np.int64]) -> dict[str, float]:
    """Adjusted Rand index of every design on one set."""
    points = scale_features(np.asarray(X, np.float64))
    n_samples, scored = len(points), y >= 0
    number = len(np.unique(y[scored]))
    reach = min(n_samples - 1, round(6 * np.log2(n_samples)))
    near = find_neighbors(points, n_neighbors=reach)
    return {
        name: round(float(adjusted_rand_score(y[scored], run_design(points, near, number, design)[scored])), 4)
        for name, design in DESIGNS.items()
    }


def run_design(points: NDArray[Any], near: Neighbors, number: int, design: Design) -> NDArray[np.int64]:
    """The clustering that agrees best with those of the other k."""
    labelings = [labels for f in design.factors if (labels := cluster(points, near, f, number, design)) is not None]
    if not labelings:
        return np.zeros(len(points), np.int64)
    table = np.eye(len(labelings))
    for column, second in enumerate(labelings):
        for row, first in enumerate(labelings[:column]):
            table[row, column] = table[column, row] = rand_index(first, second)
    return labelings[int(table.sum(axis=1).argmax())]


def rand_index(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Adjusted Rand index of labels from 0, a hundred times faster on small sets than scikit-learn's checked one."""
    cells, rows, columns = (np.bincount(v).astype(np.float64) for v in (a * (b.max() + 1) + b, a, b))
    pairs, in_a, in_b = (float((v * (v - 1)).sum()) for v in (cells, rows, columns))
    expected, most = in_a * in_b / (len(a) * (len(a) - 1.0)), (in_a + in_b) / 2
    return 1.0 if most == expected else (pairs - expected) / (most - expected)


def cluster(
    points: NDArray[Any], near: Neighbors, factor: float, number: int, design: Design
) -> NDArray[np.int64] | None:
    """One k; None where it leaves too few local clusters."""
    reach = near.indices.shape[1]
    k = max(2, round(factor * np.log2(len(points))))
    density, climb, boundary = (min(reach, max(1, int(k * f))) for f in (1, design.climb, design.boundary))
    log_intensity = estimate_intensity(
        near, kernel=design.kernel, n_features=max(1, points.shape[1]), n_neighbors=density
    )
    local = find_local_clusters(near, log_intensity, n_neighbors=climb)
    if len(local.peaks) < number:
        return None
    graph = build_topo_graph(
        near, local, log_intensity=log_intensity, similarity=design.similarity, n_neighbors=boundary
    )
    graph = bridge_components(graph, points)
    if design.merge == "sweep":
        return cut_edges(graph, n_clusters=number).labels[local.labels]
    return cut_hierarchy(build_hierarchy(graph), graph, n_clusters=number)[local.labels]


def table() -> str:
    """Markdown: mean over sets and worst five families of every design, then leave one family out."""
    lines = read_lines(RESULTS)
    scores = {name: defaultdict(list) for name in DESIGNS}
    for line in lines:
        for name in DESIGNS:
            scores[name][line["family"]].append(line[name])
    rows = ["| design | mean ARI | worst five families |", "|---|---|---|"]
    for name, families in scores.items():
        means = sorted(np.mean(values) for values in families.values())
        every = np.mean([value for values in families.values() for value in values])
        rows.append(f"| {name} | {every:.3f} | {np.mean(means[:5]):.3f} |")
    left_out = []
    for family in {line["family"] for line in lines}:
        rest = {
            name: np.mean([v for other, values in by_family.items() if other != family for v in values])
            for name, by_family in scores.items()
        }
        left_out += scores[max(rest, key=rest.__getitem__)][family]
    rows.append(f"| best on all other families, scored on the family left out | {np.mean(left_out):.3f} | |")
    return "\n".join(rows)
