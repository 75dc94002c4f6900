"""The paper's two theorems on its own sets: ``python -m benchmarks theorems``.

Theorem 1: the intensity does not change when the data are rescaled; measured is whether the labels do, by the F1 of every
variant on the data times 1, 1000 and .001, with the published number of neighbours.

Theorem 2: |f(x) - f(y)| <= 2 d(x, y), if the neighbourhoods of x and y can be matched so that no neighbour is farther from
its match than x from y. Measured is the largest |f(x) - f(y)| / d(x, y) over all pairs, and how often neighbours x and y
are as the theorem asks. What is stored is not run again.
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

from benchmarks.methods import METHODS
from benchmarks.reporting.accuracy_tables import GROUPS
from benchmarks.reporting.published import PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run, show_progress
from benchmarks.scoring import score_labels
from benchmarks.suite.datasets import load_set
from gitcluster import estimate_intensity, find_neighbors, scale_features

RESULTS = FOLDER / "theorems.jsonl"
SETS = (*GROUPS["small"], *GROUPS["shapes"])
VARIANTS = ("adaptive", "paper", "paper-literal", "authors")
FACTORS = (1.0, 1000.0, 0.001)


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks theorems", description=__doc__)
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    options = parser.parse_args(arguments)
    store, about = stored(), describe_run("theorems", arguments)
    tasks = [(name, variant) for name in SETS for variant in (*VARIANTS, "intensity")]
    for (name, variant), say in show_progress([t for t in tasks if options.again or t not in store.lines], "theorems"):
        measured = measure_slope(name) if variant == "intensity" else measure_factors(name, variant)
        store.add({"set": name, "variant": variant} | measured | about)
        say(f"{name} {variant} {measured}")
    print(factor_table(), slope_table(), sep="\n\n")


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


def _line(name: str, variant: str) -> Line:
    return stored().lines[name, variant]
