"""What the paper states, on its own sets: ``python -m benchmarks statements``.

Theorem 1: the intensity does not change when the data are rescaled; measured is whether the labels do, by the F1 of
every variant on the data times 1, 1000 and .001, with the published number of neighbours.

Theorem 2: |f(x) - f(y)| <= 2 d(x, y), if the neighbourhoods of x and y can be matched so that no neighbour is farther
from its match than x from y. Measured is the largest |f(x) - f(y)| / d(x, y) over all pairs, and how often neighbours
x and y are as the theorem asks.

Table 2: samples, features, classes, smallest class / largest class. NMI of the published clusterings by the formula
as it is printed, MI / (H H), and as the tables have it, MI over the mean entropy. What is stored is not run again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist, pdist
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from benchmarks.methods import METHODS
from benchmarks.reporting.accuracy_tables import GROUPS
from benchmarks.reporting.published import PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run, show_progress
from benchmarks.scoring import score_labels
from benchmarks.suite.datasets import load_set
from gitcluster import estimate_intensity, find_neighbors, scale_features
from gitcluster.metrics import match_labels, normalized_mutual_info_score

RESULTS = FOLDER / "statements.jsonl"
SETS = (*GROUPS["small"], *GROUPS["shapes"])
VARIANTS = ("adaptive", "paper", "paper-literal", "authors")
FACTORS = (1.0, 1000.0, 0.001)
STATED = {
    "iris": (150, 4, 3, 1.00),
    "wine": (178, 13, 3, 0.68),
    "hepatitis": (154, 19, 2, 0.26),
    "cancer": (569, 30, 2, 0.59),
    "olivetti": (400, 4096, 40, 1.00),
    "mnist": (60000, 784, 10, 1.00),
    "fmnist": (60000, 784, 10, 1.00),
    "frogs": (7195, 22, 10, 0.02),
    "codon": (13028, 24, 11, 0.01),
}
"""Table 2 as it is printed."""


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks statements", description=__doc__)
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    options = parser.parse_args(arguments)
    store, about = stored(), describe_run("statements", arguments)
    tasks = [(name, variant) for name in SETS for variant in (*VARIANTS, "intensity")]
    tasks += [(name, "statistics") for name in STATED] + [(name, "nmi") for name in GROUPS["small"]]
    others = {"intensity": measure_slope, "statistics": count_classes, "nmi": measure_nmi}
    for (name, variant), say in show_progress(
        [t for t in tasks if options.again or t not in store.lines], "statements"
    ):
        measured = others[variant](name) if variant in others else measure_factors(name, variant)
        store.add({"set": name, "variant": variant} | measured | about)
        say(f"{name} {variant} {measured}")
    print(factor_table(), slope_table(), statistics_table(), nmi_table(), sep="\n\n")


def stored() -> Store:
    """The stored results."""
    return Store(RESULTS, ("set", "variant"))


def measure_factors(name: str, variant: str) -> Line:
    """F1 of a variant on the rescaled data; the default is told the number alone."""
    X, y = load_set(name)
    options: dict[str, Any] = {} if variant == "adaptive" else dict(PUBLISHED[name]["GIT"].options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            METHODS["GIT"].fit(X.astype(float) * s, len(np.unique(y)), variant=variant, **options) for s in FACTORS
        ]
    return {"f1": [round(score_labels(y, labels)["f1"], 4) for labels in found]}


def measure_slope(name: str) -> Line:
    """The largest slope of the intensity, and how many neighbours fulfil the condition of Theorem 2."""
    X, k = scale_features(load_set(name)[0].astype(float)), PUBLISHED[name]["GIT"].options["n_neighbors"]
    X = np.unique(X, axis=0)
    near = find_neighbors(X, n_neighbors=k)
    height = np.exp(estimate_intensity(near))
    slopes = pdist(height[:, None], "cityblock") / pdist(X)
    pairs = [(i, int(j)) for i, j in enumerate(near.indices[:, 0])]
    fulfilled = [can_be_matched(X, near.indices[i], near.indices[j], np.linalg.norm(X[i] - X[j])) for i, j in pairs]
    return {"k": k, "largest slope": round(float(slopes.max()), 4), "condition": round(float(np.mean(fulfilled)), 4)}


def count_classes(name: str) -> Line:
    """Samples, features, classes, and smallest class / largest class."""
    X, y = load_set(name)
    sizes = np.bincount(y)[np.unique(y)]
    return {"counted": [*X.shape, len(sizes), round(float(sizes.min() / sizes.max()), 4)]}


def measure_nmi(name: str) -> Line:
    """NMI of the published clustering, printed formula and arithmetic mean."""
    X, y = load_set(name)
    labels = METHODS["GIT authors"].fit(X, len(np.unique(y)), **PUBLISHED[name]["GIT"].options)
    labels = match_labels(y, labels, matching="greedy")  # the published scores are taken after it
    information = mutual_info_score(y, labels)
    product = float(np.prod([entropy(np.bincount(some)) for some in (y, labels)]))
    return {"printed": round(information / product, 4), "mean": round(normalized_mutual_info_score(y, labels), 4)}


def can_be_matched(X: NDArray[Any], some: NDArray[Any], other: NDArray[Any], distance: float) -> bool:
    """Definition 1: whether two neighbourhoods are matched one to one within a distance."""
    close = csr_array(cdist(X[some], X[other]) <= distance * (1 + 1e-12))
    return bool((maximum_bipartite_matching(close) >= 0).all())


def factor_table() -> str:
    """Markdown: F1 of the data as they are, times 1000, times .001."""
    rows = []
    for name in SETS:
        cells = [" / ".join(f"{f1:.3f}"[1:] if f1 < 1 else "1.000" for f1 in _line(name, v)["f1"]) for v in VARIANTS]
        rows.append([name.removeprefix("toy_"), *cells])
    return markdown(["F1: times 1 / 1000 / .001", "default", *(f"`{v}`" for v in VARIANTS[1:])], rows)


def slope_table() -> str:
    """Markdown: the largest slope, and the share of nearest neighbours that Theorem 2 speaks of."""
    lines = {name: _line(name, "intensity") for name in SETS}
    rows = [
        [name.removeprefix("toy_"), f"{line['k']}", f"{line['largest slope']:.3f}", f"{line['condition']:.1%}"]
        for name, line in lines.items()
    ]
    return markdown(["set", "k", "largest slope of f", "nearest neighbours that fulfil the condition"], rows)


def statistics_table() -> str:
    """Markdown: Table 2, what is stored, in brackets what is printed where that differs."""
    rows = []
    for name, stated in STATED.items():
        pairs = zip(_line(name, "statistics")["counted"], stated, (",", ",", ",", ".2f"), strict=True)
        cells = [(format(here, style), format(said, style)) for here, said, style in pairs]
        rows.append([name, *(here if here == said else f"{here} ({said})" for here, said in cells)])
    return markdown(["set", "samples", "features", "classes", "smallest / largest class"], rows)


def nmi_table() -> str:
    """Markdown: NMI by both formulas, and the published one."""
    rows = []
    for name in GROUPS["small"]:
        line, published = _line(name, "nmi"), PUBLISHED[name]["GIT"].scores[2]
        rows.append([name, f"{line['printed']:.3f}", f"{line['mean']:.3f}", f"{published:.3f}"])
    return markdown(["set", "MI / (H H), as printed", "MI / mean of H", "published"], rows)


def _line(name: str, variant: str) -> Line:
    return stored().lines[name, variant]
