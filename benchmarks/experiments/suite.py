"""Compare methods by the protocol of Gagolewski's benchmark suite: ``python -m benchmarks suite --data CHECKOUT``.

CHECKOUT is a copy of clustering-data-v1, with files ``BATTERY/NAME.data.gz`` and ``BATTERY/NAME.labels0.gz``. Methods
are given the number of clusters. A set has one or more label vectors, and each is compared with the answer for its own
number; the best match counts. Samples with label 0 are noise: they are fitted and not scored. The score of the suite
is the normalized clustering accuracy (NCA); the adjusted Rand index is beside it.

"raw" features are those of the suite: columns that do not vary are dropped, all columns are divided by one number, and
noise of 1e-6 makes samples distinct. GIT gets them with ``scale=None``. "chosen" features are those that GIT chooses
from. GIT uses its own rule, and peers use the representation with the highest silhouette. ``--labels FOLDER`` writes
the answers in the format of the suite, ``METHOD/BATTERY/NAME.resultK.gz``.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from glob import escape
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from benchmarks.experiments.kinds import fit_representations, represent_samples
from benchmarks.methods import METHODS, keep_installed
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Line, Store, Task

FIELDS = ("set", "features", "method")
NAMES = ("GIT", "k-means", "Ward", "Gaussian mixture", "spectral", "Genie", "Lumbermark")
FEATURES = ("raw", "chosen")
AHEAD = 0.05
"""Sets on which a peer is ahead of GIT by more than this are named."""
Labels = NDArray[np.int64]


@dataclass
class Set:
    """Samples of the suite and all their label vectors, in which 0 marks noise."""

    name: str
    X: NDArray[np.float64]
    vectors: list[Labels]

    @cached_property
    def representations(self) -> dict[str, NDArray[np.float64]]:
        """Return the samples in every representation that GIT chooses from."""
        return represent_samples(self.X)

    @cached_property
    def preprocessed(self) -> NDArray[np.float64]:
        """Return the features with which the suite's own results were computed."""
        X = self.X[:, self.X.std(axis=0) > 0]
        X = (X - X.mean(axis=0)) / X.std(ddof=1)
        return X + np.random.default_rng(0).normal(0, 1e-6, X.shape)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--data", type=Path, metavar="CHECKOUT", help="a copy of clustering-data-v1")
    parser.add_argument("--labels", type=Path, metavar="FOLDER", help="write all answers to this folder")
    parser.add_argument("--max-samples", type=int, default=10_500, metavar="N", help="leave out larger sets")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set, kind of features and method; ``--quick`` yields the first two sets."""
    if options.data is None or not options.data.is_dir():
        raise SystemExit(f"--data must be a copy of clustering-data-v1, got {options.data}.")
    methods = keep_installed({name: METHODS[name] for name in NAMES})
    for data in islice(read_sets(options.data, options.max_samples), 2 if options.quick else None):
        for features in FEATURES:
            for name in methods:
                task = {"set": data.name, "features": features, "method": name}
                yield task, partial(run_method, data, features, name, options.labels)


def read_sets(folder: Path, max_samples: int) -> Iterator[Set]:
    """Yield the sets of a copy of the suite."""
    for path in sorted(folder.glob("*/*.data.gz")):
        name = path.name.removesuffix(".data.gz")
        files = sorted(path.parent.glob(f"{escape(name)}.labels[0-9]*.gz"))
        vectors = [np.loadtxt(file, dtype=np.int64) for file in files]
        if vectors and len(vectors[0]) <= max_samples:
            yield Set(f"{path.parent.name}/{name}", np.loadtxt(path, ndmin=2), vectors)


def run_method(data: Set, features: str, name: str, folder: Path | None = None) -> Line:
    """Return the best scores over the label vectors, and for peers those of every representation."""
    best, exact = [], True
    scores: dict[str, list[float]] = {}
    for number in sorted({int(vector.max()) for vector in data.vectors}):
        answers, chosen = fit(data, features, name, number)
        vectors = [vector for vector in data.vectors if vector.max() == number]
        best += [score(vector, answers[chosen]) for vector in vectors]
        for each, labels in answers.items():
            scores.setdefault(each, []).extend(score(vector, labels)[1] for vector in vectors)
        numbered = np.unique(answers[chosen], return_inverse=True)[1] + 1
        exact &= bool(numbered.max() == number)
        if folder is not None:
            method = f"{name.replace(' ', '-')}-{features}"
            file = folder / method / f"{data.name}.result{number}.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(gzip.compress("\n".join([method, *map(str, numbered), ""]).encode(), mtime=0))
    nca, ari = (round(max(values), 4) for values in zip(*best, strict=True))
    line: Line = {"samples": len(data.X), "vectors": len(data.vectors), "package": METHODS[name].release}
    line |= {"nca": nca, "ari": ari, "exact": exact}
    return line | {"scores": {each: round(max(values), 4) for each, values in scores.items()}}


def fit(data: Set, features: str, name: str, number: int) -> tuple[dict[str, Labels], str]:
    """Return the labels of a method by representation, and the chosen representation."""
    method, sizes = METHODS[name], np.ones(number)
    if name == "GIT":
        X = data.preprocessed if features == "raw" else data.X
        return {features: method.fit(X, sizes, scale=None if features == "raw" else "auto")}, features
    return fit_representations(method, {"raw": data.preprocessed} if features == "raw" else data.representations, sizes)


def score(true: Labels, labels: Labels) -> tuple[float, float]:
    """Return NCA and adjusted Rand index of the samples that are not noise."""
    true, labels = true[true > 0], labels[true > 0]
    return normalized_accuracy(true, labels), float(adjusted_rand_score(true, labels))


def normalized_accuracy(true: Labels, labels: Labels) -> float:
    """Return the mean share of a class in the cluster matched to it, with 1 / classes moved to 0.

    Examples
    --------
    >>> normalized_accuracy(np.array([1, 1, 2, 2]), np.array([0, 0, 1, 0]))
    0.5

    """
    counts = contingency_matrix(true, labels)
    shares = counts / counts.sum(axis=1, keepdims=True)
    rows, columns = linear_sum_assignment(shares, maximize=True)
    classes = len(counts)
    return float((shares[rows, columns].sum() - 1) / (classes - 1)) if classes > 1 else 1.0


def stored(features: str) -> dict[str, dict[str, Line]]:
    """Return the stored results by set and method."""
    sets: dict[str, dict[str, Line]] = {}
    for line in Store("suite", FIELDS).lines.values():
        if line["features"] == features:
            sets.setdefault(line["set"], {})[line["method"]] = line
    return sets


def table(features: str) -> str:
    """Return mean NCA and adjusted Rand index by method, and the number of sets on which it is best."""
    sets, rows = list(stored(features).values()), []
    for name in (name for name in NAMES if any(name in lines for lines in sets)):
        mine = [lines for lines in sets if name in lines]
        some, tops = [lines[name] for lines in mine], [max(x["nca"] for x in lines.values()) for lines in mine]
        wins = sum(line["nca"] == top for line, top in zip(some, tops, strict=True))
        best = [max(line["scores"].values()) for line in some]
        nca, *others = (float(np.mean(x)) for x in ([x["nca"] for x in some], [x["ari"] for x in some], best))
        rows.append((-nca, [name, short(nca), short(others[0]), f"{wins} of {len(some)}", short(others[1])]))
    header = ["method", "NCA", "ARI", "best on", "ARI of the best features, by labels"]
    width = len(header) - (features == "raw")
    return markdown(header[:width], [row[:width] for _, row in sorted(rows)])


def losses() -> str:
    """Return the sets on which a peer is clearly ahead of GIT, by kind of features."""
    rows = []
    for features in FEATURES:
        for name, lines in stored(features).items():
            peer = max(lines.values(), key=lambda line: line["nca"])
            if peer["nca"] > lines["GIT"]["nca"] + AHEAD:
                rows.append([features, name, short(lines["GIT"]["nca"]), f"{peer['method']} {short(peer['nca'])}"])
    return markdown(["features", "set", "GIT, NCA", "best peer, NCA"], rows)


TABLES = {"suite_raw": partial(table, "raw"), "suite_chosen": partial(table, "chosen"), "suite_losses": losses}
