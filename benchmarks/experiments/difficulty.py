"""How hard the generated sets like tables and images are, beside public ones: ``python -m benchmarks difficulty``.

For every set: the share of the ten nearest neighbours that have the class of a sample, the share of rows that repeat
another, the median skewness of its columns. The table has these by families, with the scores of peers in
``results/untuned.jsonl`` and ``results/public.jsonl``. The families were made by these figures, none of which is GIT's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew
from sklearn.neighbors import NearestNeighbors

from benchmarks.experiments import public, untuned
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, append, describe_run, read_lines
from benchmarks.suite.datasets import Dataset, generated_datasets
from gitcluster import scale_features

RESULTS = FOLDER / "difficulty.jsonl"
PEERS = ("k-means", "ward", "spectral", "genie", "lumbermark")


def main(arguments: Sequence[str]) -> None:
    """Describe the sets that are not described yet, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks difficulty", description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--max-samples", type=int, default=8000, metavar="N", help="leave out larger sets")
    options = parser.parse_args(arguments)
    done = {line["set"] for line in read_lines(RESULTS)}
    for family, data in () if options.table else sets(options.max_samples):
        if data.name not in done:
            line = {"set": data.name, "family": family} | describe(data)
            append(RESULTS, line | describe_run("difficulty", arguments))
    print(table())


def sets(max_samples: int) -> Iterator[tuple[str, Dataset]]:
    """Tables and images, public and generated, with the row they belong to."""
    for data in public.public_sets(max_samples):
        if data.family != "drawn":
            yield f"public {data.family}", data
    for data in generated_datasets(max_samples):
        if data.kind != "drawn":
            yield data.family, data


def describe(data: Dataset) -> Line:
    """Figures of one set; features are divided by their standard deviations, as for peers."""
    X, y = np.asarray(data.X, np.float64)[data.y >= 0], data.y[data.y >= 0]
    varied = X[:, np.ptp(X, axis=0) > 0]
    return {
        "n": X.shape[0], "d": X.shape[1], "classes": len(np.unique(y)), "neighbors": round(share_of_neighbors(X, y), 4),
        "duplicates": round(1 - len(np.unique(X, axis=0)) / len(X), 4),
        "skewness": round(float(np.median(np.abs(skew(varied)))), 2),
    }  # fmt: skip


def share_of_neighbors(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """How many of the ten nearest neighbours have the class of a sample."""
    near = NearestNeighbors(n_neighbors=10).fit(scale_features(X)).kneighbors(return_distance=False)
    return float(np.mean(y[near] == y[:, None]))


def table() -> str:
    """Ranges and means of the figures by families, and mean adjusted Rand index of peers."""
    scores = {(line["set"], line["method"].lower()): line["ari"] for line in read_lines(public.RESULTS)}
    scores |= {key: line["ari"] for key, line in untuned.read_results().items()}
    lines, rows = read_lines(RESULTS), []
    for family in dict.fromkeys(line["family"] for line in lines):
        some = [line for line in lines if line["family"] == family]
        row = [f"{family} ({len(some)})", *(_range([x[key] for x in some]) for key in ("n", "d", "classes"))]
        row += [f"{np.mean([x[key] for x in some]):.2f}" for key in ("duplicates", "skewness", "neighbors")]
        for peer in PEERS:
            found = [scores[x["set"], peer] for x in some if (x["set"], peer) in scores]
            row.append(f"{np.mean(found):.2f}" if found else "")
        rows.append(row)
    heads = ["sets", "samples", "columns", "classes", "duplicates", "skewness", "neighbours of one class", *PEERS]
    return markdown(heads, rows)


def _range(values: Sequence[int]) -> str:
    return f"{min(values):,} to {max(values):,}"
