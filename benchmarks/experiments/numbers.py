"""Why the number of clusters is scored as it is, each choice against others: ``python -m benchmarks numbers``.

Every design changes one choice of the score of a number of clusters, with nothing told: over the generated sets, the
half of the public ones that constants are looked at on, and samples without structure, where 1 is right. ``--table``
prints the mean adjusted Rand index by kinds of data, and how
often the number was right. A set is one line of ``results/numbers.jsonl``; what is there is not run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import study
from benchmarks.reporting.tables import markdown, mean_of_kinds
from benchmarks.running import FOLDER, Line, read_lines
from benchmarks.suite.datasets import Dataset
from gitcluster.inputs import check_input
from gitcluster.inputs.preparing import prepare_samples
from gitcluster.pipeline import look_at, study_samples
from gitcluster.recipes import RECIPES
from gitcluster.selection.numbers import (
    DEEP,
    LEAKING,
    STRUCTURELESS,
    Numbers,
    describe_numbers,
    intrinsic_dimension,
    open_leak,
)

RESULTS = FOLDER / "numbers.jsonl"


class Design(NamedTuple):
    """The choices of the default, or others."""

    power: float = 2.0
    """Of the mean agreement."""
    least: float = LEAKING
    """Leak that is open in few dimensions."""
    by_dimension: bool = True
    """Whether more may leak in more dimensions."""
    counts: bool = True
    """Whether the leak counts at all."""
    one: float = STRUCTURELESS
    """Score of one cluster, times the dimension."""
    falls: float = 1.0
    """The power of the dimension with which it falls."""
    deep: float = DEEP
    """How deep a valley has to be, in standard deviations."""
    all_of_them: bool = False
    """Whether a number only counts where every cluster has a valley around it."""
    judged: float = LEAKING
    """Valleys are asked for where less than this leaks out of samples without structure, by the dimension alone."""


DESIGNS = {
    "default": Design(),
    "agreement to the third": Design(power=3.0),
    "agreement to the third, one cluster has .4": Design(power=3.0, one=0.4),
    "agreement to the fifth": Design(power=5.0),
    "agreement as it is": Design(power=1.0),
    "agreement does not count": Design(power=0.0),
    "no valley is asked for": Design(deep=-np.inf),
    "no valley is asked for, agreement to the third, one cluster has .4": Design(power=3.0, one=0.4, deep=-np.inf),
    "valleys of 2 standard deviations": Design(deep=2.0),
    "valleys of 4 standard deviations": Design(deep=4.0),
    "valleys around all clusters or none": Design(all_of_them=True),
    "valleys are asked for in every dimension": Design(judged=np.inf),
    "a leak of .1 is open in every dimension": Design(by_dimension=False),
    "a leak of .15 is open in every dimension": Design(least=0.15, by_dimension=False),
    "by the dimension alone": Design(least=0.0),
    "at least .15": Design(least=0.15),
    "the leak does not count": Design(counts=False),
    "one cluster has .25 in every dimension": Design(falls=0.0),
    "one cluster has half of it": Design(one=STRUCTURELESS / 2),
    "one cluster has one and a half of it": Design(one=1.5 * STRUCTURELESS),
}


class Found(NamedTuple):
    """What is known of the numbers of clusters of one set."""

    numbers: Numbers
    reach: NDArray[np.float64]
    """Leak of samples without structure, by the dimension alone."""
    dimension: float
    scores: NDArray[np.float64]
    """Adjusted Rand index of the cut into 1, 2, ... clusters; for samples without structure 1 where there is one."""


def main(arguments: Sequence[str]) -> None:
    """Run the designs over the sets, or print the table of what is stored."""
    study.run_designs("numbers", __doc__, arguments, sets=sets, compare=compare_designs, store=RESULTS)
    print(table())


def sets(max_samples: int) -> Iterator[tuple[str, Dataset]]:
    """Sets with their kind."""
    yield from study.sets(max_samples)
    for n_features in (2, 3, 5, 10, 30):
        for n_samples in (150, 600):
            for kind in ("Gaussian", "cube", "skewed", "sphere"):
                yield from (("without structure", make_null(kind, n_samples, n_features, seed)) for seed in range(3))
    for n_samples in (150, 300, 600, 1200):
        for kind in CURVES:
            yield from (("thin curves", make_curve(kind, n_samples, seed)) for seed in range(3))


CURVES = {
    "ring": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)),
    "arc": lambda t: (np.cos(3 * t), np.sin(3 * t)),
    "line": lambda t: (2 * t, t),
    "spiral": lambda t: ((0.3 + t) * np.cos(9 * t), (0.3 + t) * np.sin(9 * t)),
    "wave": lambda t: (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t), 0.3 * np.cos(4 * np.pi * t)),
}
"""Curves by the share of the way along them, in two or three features."""


def make_curve(kind: str, n_samples: int, seed: int) -> Dataset:
    """One thin curve, with little, some and more noise."""
    rng = np.random.default_rng((seed, n_samples))
    X = np.column_stack(CURVES[kind](rng.random(n_samples)))
    X += (0.03, 0.05, 0.08)[seed] * rng.normal(size=X.shape)
    return Dataset(f"{kind}-{n_samples}-{seed}", X, np.zeros(n_samples, np.int64), kind, clear=False)


def make_null(kind: str, n_samples: int, n_features: int, seed: int) -> Dataset:
    """Samples without structure."""
    rng = np.random.default_rng((seed, n_samples, n_features))
    normal = rng.normal(size=(n_samples, n_features))
    X = {
        "Gaussian": normal,
        "cube": rng.random((n_samples, n_features)),
        "skewed": np.exp(0.7 * normal),
        "sphere": normal / np.linalg.norm(normal, axis=1, keepdims=True) + 0.1 * rng.normal(size=normal.shape),
    }[kind]
    name = f"{kind}-{n_features}-{n_samples}-{seed}"
    return Dataset(name, X, np.zeros(n_samples, np.int64), kind, clear=False)


def compare_designs(data: Dataset) -> Line:
    """The number of clusters that every design chooses for one set, and the adjusted Rand index of that."""
    found = gather(data)
    chosen = {name: choose(found, design) for name, design in DESIGNS.items()}
    scores = {name: round(float(found.scores[c - 1]), 4) for name, c in chosen.items()}
    return {"classes": _n_classes(data), "ari": scores, "clusters": chosen}


def gather(data: Dataset) -> Found:
    """What is known of the numbers of clusters of a set."""
    given = check_input(np.asarray(data.X, np.float64), "euclidean")
    ready = prepare_samples(given, sample_weight=None, constraints=None, sort=True)
    look = partial(look_at, recipe=RECIPES["adaptive"], search="exact")
    seen, _ = study_samples(ready, look, ready.data.represented("auto", None))
    y = data.y if ready.order is None else data.y[ready.order]
    dimension = intrinsic_dimension(seen.found[0][0].near)
    numbers = describe_numbers(seen.views, seen.evidence, dimension)
    views = [seen.views[i] for i in numbers.view]
    reach = [open_leak(2 * view.n_neighbors, view.n_samples, dimension, least=0.0) for view in views]
    labels = [cut[seen.evidence.samples[i][1]] for i, cut in zip(numbers.view, numbers.labels, strict=True)]
    one = _n_classes(data) == 1
    scores = [float(i == 0) if one else adjusted_rand_score(y[y >= 0], found[y >= 0]) for i, found in enumerate(labels)]
    return Found(numbers, np.array(reach), dimension, np.array(scores))


def choose(found: Found, design: Design) -> int:
    """The number of clusters that a design chooses."""
    numbers, times = found.numbers, 2 / max(2.0, found.dimension)
    limit = np.maximum(design.least, found.reach) if design.by_dimension else design.least
    closed = np.maximum(0, 1 - numbers.leak / limit) if design.counts else 1.0
    valley = np.where(found.reach < design.judged, numbers.behind_valleys(design.deep), 1.0)
    if design.all_of_them:
        valley = np.floor(valley)
    score = numbers.information * (numbers.agreement * valley) ** design.power * closed
    says = numbers.information[score.argmax()] or np.inf
    score[0] = design.one / 2 * times**design.falls * min(1.0, says / np.log(2))
    return int(score.argmax()) + 1


def _n_classes(data: Dataset) -> int:
    return len(np.unique(data.y[data.y >= 0]))


def table() -> str:
    """Markdown: mean adjusted Rand index and share of right numbers by kinds, and the mean of these means."""
    lines = read_lines(RESULTS)
    kinds, rows = list(dict.fromkeys(line["kind"] for line in lines)), []
    for name in DESIGNS:
        means, cells = {}, []
        for kind in kinds:
            some = [line for line in lines if line["kind"] == kind]
            means[kind] = float(np.mean([line["ari"][name] for line in some]))
            right = np.mean([line["clusters"][name] == line["classes"] for line in some])
            cells.append(f"{means[kind]:.3f} ({right:.0%})")
        rows.append([name, *cells, f"{mean_of_kinds(means):.3f}"])
    heads = [f"{kind} ({sum(line['kind'] == kind for line in lines)})" for kind in kinds]
    return markdown(["design", *heads, "mean of kinds"], rows)
