"""Check whether stable clusters are right: ``python -m benchmarks stability``.

``--only part=NAME`` selects one of three parts:

- ``calibration``: new samples of the generated designs, and the public sets, in two halves by a hash of the name.
- ``check``: 40 sets with clear groups, 40 with overlapping groups and 40 without structure, on which nothing was
  chosen.
- ``cost``: seconds of 50 draws as a multiple of one fit.

GIT is given nothing. An answer is right if its number of clusters is that of the classes, or if its adjusted Rand index
is above .8. For sets without structure, one cluster is right in both senses. Beside it are the mean of hdbscan's
``probabilities_`` (scikit-learn, for its own answer) and the silhouette of GIT's clusters.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, roc_auc_score, silhouette_score

from benchmarks.experiments.public import half_of, public_sets
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task
from benchmarks.suite.datasets import Dataset, generated_datasets
from benchmarks.suite.kinds import ONE_CLUSTER, one_cluster
from benchmarks.suite.shapes import blobs
from gitcluster import GIT
from gitcluster.fitted.stability import CONFIDENCE

FIELDS = ("part", "set")
CALIBRATED, CHECKED = 3, 7
"""Draws of the generated designs. No constant was chosen on these samples."""
N_SETS = 40
MAX_ROWS = 2000
"""Larger generated sets are left out."""
PER_FAMILY = 3
RIGHT, SURE = 0.8, 0.9
"""Adjusted Rand index of right groups, and the share of half-samples from which on the number counts as sure."""
BINS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
COSTS = ((1000, 10), (10_000, 10), (100_000, 10))


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set; ``--quick`` yields the first of every part."""
    most = 1 if options.quick else None
    for part, sets in (("calibration", calibration_sets()), ("check", check_sets())):
        for data in islice(sets, most):
            task = {"part": part, "set": data.name, "kind": data.family, "half": half_of(data.name)}
            yield task, partial(run_set, data)
    for n, d in COSTS[:most]:
        yield {"part": "cost", "set": f"{n:,} x {d}"}, partial(measure_cost, n, d)


def calibration_sets() -> Iterator[Dataset]:
    """Yield at most three new samples of every family of generated designs, and the public sets."""
    count: dict[str, int] = {}
    for data in generated_datasets(CALIBRATED):
        count[data.family] = count.get(data.family, 0) + 1
        if count[data.family] <= PER_FAMILY and len(data.X) <= MAX_ROWS:
            yield data
    yield from public_sets(8000)


def check_sets() -> Iterator[Dataset]:
    """Yield sets with clear groups, with overlapping groups, and without structure."""
    families: dict[str, list[Dataset]] = {}
    for data in generated_datasets(CHECKED):
        if data.clear and data.family != "single" and len(data.X) <= MAX_ROWS:
            families.setdefault(data.family, []).append(data)
    rounds = (data for i in range(99) for sets in families.values() for data in sets[i : i + 1])
    yield from (data._replace(family="clear") for data in islice(rounds, N_SETS))
    designs = [
        *product((2, 5, 10), (300, 1000), (2, 4), (2.0, 2.6, 3.2)),
        *product((20,), (300, 1000), (2,), (2.6, 3.2)),
    ]
    for d, n, c, gap in designs:
        make = partial(blobs, sizes=[n // c] * c, gap=gap, dimension=d)
        yield _draw("overlapping", f"overlapping-{d}-{n}-{c}-{gap}", make)
    for d, n, family in islice(product((2, 4, 8, 20), (200, 1500), ONE_CLUSTER), N_SETS):
        yield _draw("without structure", f"fresh-{family}-{d}-{n}", partial(one_cluster, family=family, n=n, d=d))


def _draw(family: str, name: str, make: Any) -> Dataset:
    """Return a set from a generator seeded by its name."""
    X, y = make(np.random.default_rng(crc32(name.encode())))
    return Dataset(name, X, y, family, False)


def run_set(data: Dataset) -> Line:
    """Return the stability of GIT's answer, and whether it is right."""
    scored, y = data.y >= 0, data.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GIT().fit(data.X)
        result = model.stability(data.X)
        X = model.clustering_.source.values
        order = model.clustering_.fitted.copies
        X = X if order is None else X[order]
        peer = HDBSCAN(min_cluster_size=15, copy=True).fit(X)
    labels = model.labels_
    several = model.n_clusters_ > 1
    line = {
        "classes": len(data.sizes),
        "clusters": model.n_clusters_,
        "ari": adjusted_rand_score(y[scored], labels[scored]),
        "candidates": model.agreement_,
        "agreement": result.agreement.mean(),
        "same_number": result.same_number,
        "stability": result.clusters.tolist() if several else [],
        "dissolved": result.dissolved.tolist() if several else [],
        "null_agreement": result.null_agreement.tolist(),
        "silhouette": silhouette_score(X, labels, sample_size=2000, random_state=0) if several else None,
        "hdbscan_clusters": int(peer.labels_.max()) + 1,
        "hdbscan_ari": adjusted_rand_score(y[scored], peer.labels_[scored]),
        "hdbscan_probability": peer.probabilities_.mean(),
    }
    # a sample is misplaced if most of its cluster have another class
    counts = np.zeros((model.n_clusters_, int(y.max()) + 1))
    np.add.at(counts, (labels[scored], y[scored]), 1)
    misplaced = counts.argmax(axis=1)[labels[scored]] != y[scored]
    if several and misplaced.any() and not misplaced.all():
        line["auc_samples"] = roc_auc_score(misplaced, -result.samples[scored])
        line["auc_probabilities"] = roc_auc_score(misplaced, -model.probabilities_[scored])
    return {name: _rounded(value) for name, value in line.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(float(value), 4) if isinstance(value, float | np.floating) else value


def measure_cost(n: int, d: int) -> Line:
    """Return the seconds of a fit and of 50 draws, the best of three, in turns."""
    X = blobs(np.random.default_rng(0), [n // 6] * 6, 5.0, d)[0]
    seconds: dict[str, list[float]] = {"fit": [], "stability": []}
    model = GIT(n_jobs=-1).fit(X)
    for _ in range(3):
        for name, call in (("fit", lambda: model.fit(X)), ("stability", lambda: model.stability(X))):
            start = perf_counter()
            call()
            seconds[name].append(perf_counter() - start)
    best = {name: min(values) for name, values in seconds.items()}
    return {name: round(value, 3) for name, value in best.items()} | {
        "ratio": round(best["stability"] / best["fit"], 1)
    }


def is_right(line: Line) -> bool:
    """Return whether the clusters are those of the classes, or whether a set without structure stays whole."""
    return bool(line["ari"] > RIGHT if line["classes"] > 1 else line["clusters"] == 1)


def has_right_number(line: Line) -> bool:
    """Return whether the number of clusters is that of the classes."""
    return bool(line["clusters"] == line["classes"])


def stored(part: str, half: int | None = None) -> list[Line]:
    """Return the stored lines of a part, or of one half of it."""
    lines = [line for line in Store("stability", FIELDS).lines.values() if line["part"] == part]
    return lines if half is None else [line for line in lines if line["half"] == half]


def check_table() -> str:
    """Return how stable the answers are by kind of set, and how often stable ones are right."""
    rows = []
    for kind in ("clear", "overlapping", "without structure"):
        lines = [line for line in stored("check") if line["kind"] == kind]
        if not lines:
            continue
        groups = [line["agreement"] for line in lines if line["clusters"] > 1]
        quantiles = " / ".join(f"{q:.2f}" for q in np.quantile(groups, (0.1, 0.5, 0.9))) if groups else ""
        sure = [line for line in lines if line["same_number"] >= SURE]
        alarms = [line for line in lines if line["classes"] == 1 < line["clusters"]]
        doubted = f"{sum(line['same_number'] < SURE for line in alarms)} of {len(alarms)}" if alarms else ""
        rows.append(
            [
                kind, str(len(lines)), _share(has_right_number, lines), _share(is_right, lines), quantiles,
                str(len(sure)), _share(has_right_number, sure), doubted,
            ]
        )  # fmt: skip
    head = ["sets", "number", "right number", "right groups", "agreement of half-samples (10 / 50 / 90 %)",
            f"same number in {SURE:.0%} of them", "of these right", "false alarms below that"]  # fmt: skip
    return markdown(head, rows)


def calibration_table() -> str:
    """Return how often an answer is right, by the share of half-samples with the same number of clusters."""
    parts = {
        "first half": stored("calibration", 0),
        "second half": stored("calibration", 1),
        "120 sets": stored("check"),
    }
    rows = []
    for low, high in itertools.pairwise(BINS):
        row = [f"{low:.0%} to {high:.0%}"]
        for lines in parts.values():
            some = [line for line in lines if low <= line["same_number"] < high or line["same_number"] == high == 1]
            row.append(f"{_share(has_right_number, some)} / {_share(is_right, some)} of {len(some)}" if some else "")
        rows.append(row)
    raw, calibrated = ["mean error of this share"], ["mean error of `confidence`"]
    for lines in filter(None, parts.values()):
        stated, right = np.array([x["same_number"] for x in lines]), np.array([has_right_number(x) for x in lines])
        raw.append(f"{mean_error(stated, stated, right):.2f}")
        calibrated.append(f"{mean_error(stated, confidence(stated), right):.2f}")
    rows += [raw, calibrated]
    return markdown(["half-samples with the same number", *(f"right number / groups, {name}" for name in parts)], rows)


def confidence(stated: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the confidence that a model states for shares of half-samples with the same number."""
    return np.asarray(1 / (1 + np.exp(-CONFIDENCE[0] - CONFIDENCE[1] * stated)))


def fit_confidence() -> tuple[float, float]:
    """Return the constants of the confidence, fitted on the first half of the calibration sets."""
    lines = stored("calibration", 0)
    model = LogisticRegression(C=np.inf)
    model.fit([[line["same_number"]] for line in lines], [has_right_number(line) for line in lines])
    return float(model.intercept_[0]), float(model.coef_[0, 0])


def mean_error(stated: NDArray[np.float64], claimed: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the mean difference between claimed and true shares of right numbers, over the rows of the table."""
    rows = np.minimum(np.digitize(stated, BINS) - 1, len(BINS) - 2)
    errors = [abs(claimed[rows == row].mean() - right[rows == row].mean()) * (rows == row).sum() for row in set(rows)]
    return float(sum(errors) / len(stated))


def predictor_table() -> str:
    """Return how well several numbers tell right answers from wrong ones, as areas under the ROC curve."""
    scores: dict[str, Callable[[Line], float]] = {
        "half-samples with the same number": lambda line: line["same_number"],
        "agreement of half-samples": lambda line: line["agreement"],
        "agreement of the candidates of one fit": lambda line: line["candidates"],
        "silhouette": lambda line: -1.0 if line["silhouette"] is None else line["silhouette"],
    }
    lines = stored("check")
    rows = [
        [name, *(f"{roc_auc_score([right(x) for x in lines], [score(x) for x in lines]):.2f}" for right in RIGHTS)]
        for name, score in scores.items()
    ]
    sampled = [line for line in lines if "auc_samples" in line]
    means = (np.mean([line[name] for line in sampled]) for name in ("auc_samples", "auc_probabilities"))
    rows.append(["misplaced rows: stability of a row / `probabilities_`", " / ".join(f"{x:.2f}" for x in means), ""])
    peer = [line["hdbscan_ari"] > RIGHT if line["classes"] > 1 else line["hdbscan_clusters"] == 1 for line in lines]
    auc = roc_auc_score(peer, [line["hdbscan_probability"] for line in lines])
    rows.append([f"HDBSCAN's mean probability, for its own answers ({np.mean(peer):.0%} right)", "", f"{auc:.2f}"])
    return markdown(["", "right number", "right groups"], rows)


def cost_table() -> str:
    """Return the seconds of one fit and of 50 half-samples, and their ratio."""
    rows = [[x["set"], f"{x['fit']:.2f}", f"{x['stability']:.1f}", f"{x['ratio']:.1f}"] for x in stored("cost")]
    return markdown(["rows x features", "fit, seconds", "50 half-samples, seconds", "ratio"], rows)


def _share(right: Callable[[Line], bool], lines: Sequence[Line]) -> str:
    return f"{np.mean([right(line) for line in lines]):.0%}" if lines else ""


RIGHTS = (has_right_number, is_right)
TABLES = {
    "stability_check": check_table,
    "stability_calibration": calibration_table,
    "stability_predictors": predictor_table,
    "stability_cost": cost_table,
}
