"""GIT on the data sets of the paper, beside the published figures: ``python -m benchmarks paper [--sets a,b]``.

The published figure; ``variant="authors"`` with the published k, counted as published; ``variant="paper"`` with the k
of a list that is best on the labels, which is how the paper tuned; and the default with nothing but the number of
classes (or, where the paper gave them, their proportions), not tuned. The last two by optimal matching. The sets are
read from the folder named by GITCLUSTER_DATA. One line a set goes to ``results/paper.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.generators import data_folder
from gitcluster import (
    GIT,
    bridge_components,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    scale_features,
)
from gitcluster.metrics import adjusted_rand_score, matched_f1, normalized_mutual_info_score, published_scores

RESULTS = Path(__file__).parent / "results" / "paper.jsonl"
SIZES = (3, 5, 8, 10, 12, 15, 18, 20, 25, 30, 40, 60, 80)


class Published(NamedTuple):
    """A row of the paper's tables: k, proportions ("classes" = the true counts), F1, ARI, NMI."""

    k: int
    proportions: list[float] | str | None
    scores: tuple[float, float, float]


SETS = {
    "iris": Published(15, None, (0.8768, 0.7060, 0.7561)),
    "wine": Published(20, None, (0.8970, 0.7133, 0.7570)),
    "hepatitis": Published(8, None, (0.7786, 0.2327, 0.1226)),
    "cancer": Published(12, None, (0.9263, 0.7296, 0.6537)),
    "toy_circles": Published(12, None, (0.9650, 0.8649, 0.7858)),
    "toy_moons": Published(30, None, (0.9860, 0.9448, 0.8957)),
    "toy_impossible": Published(10, [2, 2, 1, 1, 1, 1, 1], (1.0, 1.0, 1.0)),
    "toy_s-set": Published(15, None, (0.9990, 0.9979, 0.9977)),
    "toy_smile": Published(10, None, (1.0, 1.0, 1.0)),
    "toy_chainlink": Published(10, None, (1.0, 1.0, 1.0)),
    "olivetti": Published(3, None, (0.6201, 0.4469, 0.7790)),
    "frogs": Published(18, "classes", (0.6622, 0.6885, 0.6633)),
    "codon": Published(15, "classes", (0.4538, 0.3070, 0.3876)),
    "mnist": Published(40, None, (0.5859, 0.4157, 0.5332)),
    "fmnist": Published(80, None, (0.5611, 0.3198, 0.5068)),
}


def main(arguments: Sequence[str]) -> None:
    """Run the sets, or print the table of what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks paper", description=__doc__)
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS), metavar="A,B")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    options = parser.parse_args(arguments)
    if not options.table:
        RESULTS.parent.mkdir(exist_ok=True)
        for name in options.sets:
            line = run_set(name, SETS[name])
            with RESULTS.open("a") as results:
                results.write(json.dumps(line) + "\n")
            print(json.dumps(line), file=sys.stderr)
    print(table())


def run_set(name: str, published: Published) -> dict[str, Any]:
    """All columns for one set."""
    with np.load(data_folder() / f"{name}.npz") as data:
        X, y = data["X"], data["y"].astype(np.int64)
    X = X.astype(np.float32) / 255 if X.dtype == np.uint8 else X.astype(np.float64)
    counts = np.bincount(y)
    classes = int(np.count_nonzero(counts))
    prior: Any = counts[counts > 0] if published.proportions == "classes" else published.proportions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        authors = fit(
            X.astype(np.float64), classes, prior, n_neighbors=published.k, variant="authors", neighbors="exact"
        )
        start = perf_counter()
        default = fit(X, classes, prior)
        seconds = perf_counter() - start
        number_only = default if prior is None else fit(X, classes, None)
        best_k, paper = best_paper_variant(X, y, prior if prior is not None else np.ones(classes))
    return {
        "set": name,
        "published": {"k": published.k, "scores": published.scores},
        "authors": [round(score, 4) for score in published_scores(y, authors.labels_)[:3]],
        "paper": {"k": best_k, "scores": optimal_scores(y, paper)},
        "default": {"k": default.n_neighbors_, "scores": optimal_scores(y, default.labels_), "seconds": seconds},
        "default, number only": optimal_scores(y, number_only.labels_),
    }


def fit(X: NDArray[Any], classes: int, prior: Any, **options: Any) -> GIT:
    """The estimator with the number of classes, or with the proportions where there are any."""
    given = {"n_clusters": classes} if prior is None else {"proportions": prior}
    return GIT(**given, n_jobs=-1, **options).fit(X)


def best_paper_variant(X: NDArray[Any], y: NDArray[np.int64], prior: Any) -> tuple[int, NDArray[np.int64]]:
    """The k with the best F1, from one search: the nearest k are the first k columns."""
    points = scale_features(X)
    sizes = [k for k in SIZES if k < len(X)]
    near = find_neighbors(points, n_neighbors=sizes[-1], search="exact", n_jobs=-1)
    found = {}
    for k in sizes:
        log_intensity = estimate_intensity(near, n_neighbors=k)
        local = find_local_clusters(near, log_intensity, n_neighbors=k)
        graph = bridge_components(build_topo_graph(near, local, n_neighbors=k), points)
        found[k] = cut_edges(graph, proportions=prior).labels[local.labels]
    best = max(found, key=lambda k: matched_f1(y, found[k]))
    return best, found[best]


def optimal_scores(y: NDArray[np.int64], labels: NDArray[np.int64]) -> list[float]:
    """F1 by optimal matching, ARI, NMI."""
    scores = (matched_f1(y, labels), adjusted_rand_score(y, labels), normalized_mutual_info_score(y, labels))
    return [round(float(score), 4) for score in scores]


def table() -> str:
    """Markdown of the stored results, the last line of a set counts."""
    lines = {line["set"]: line for line in map(json.loads, RESULTS.read_text().splitlines())}
    rows = [
        "| F1 / ARI / NMI | published | `authors`, published k and counting | `paper`, k tuned on labels | default |"
        " default, number only |",
        "|---|---|---|---|---|---|",
    ]
    for name in [name for name in SETS if name in lines]:
        line = lines[name]
        cells = [
            f"{_cell(line['published']['scores'])} (k={line['published']['k']})",
            _cell(line["authors"]),
            f"{_cell(line['paper']['scores'])} (k={line['paper']['k']})",
            f"{_cell(line['default']['scores'])} (k={line['default']['k']})",
            _cell(line["default, number only"]),
        ]
        rows.append(f"| {name.removeprefix('toy_')} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(scores: Sequence[float]) -> str:
    return " / ".join(f"{score:.3f}".replace("0.", ".", 1) for score in scores)


if __name__ == "__main__":
    main(sys.argv[1:])
