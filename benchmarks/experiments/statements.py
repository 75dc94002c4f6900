"""Check what the paper states, on its own sets: ``python -m benchmarks statements``.

Theorem 1: the intensity does not change with the scale of the data. Measured is whether the labels do, by the F1 of
every variant on the data times 1, 1000 and .001, with the published number of neighbours.

Theorem 2: |f(x) - f(y)| <= 2 d(x, y), if the neighbourhoods of x and y can be matched so that no neighbour is farther
from its match than x from y. Measured is the largest |f(x) - f(y)| / d(x, y) over all pairs, and how often neighbours
x and y fulfil the condition.

Tables 3 and 4: the rank of GIT among the competitors, and whether its lead falls with the number of features, from the
stored results of ``accuracy``. Table 2: samples, features, classes, smallest class / largest class. NMI of the
published clusterings by the printed formula, MI / (H H), and by that of the tables, MI over the mean entropy. F1 of the
published variants with equal shares beside those that they were given, if these were others.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist, pdist
from scipy.stats import entropy, spearmanr
from sklearn.metrics import mutual_info_score, normalized_mutual_info_score

from benchmarks.experiments import accuracy
from benchmarks.experiments.accuracy import COVERED, GROUPS
from benchmarks.methods import METHODS
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Key, Line, Store, Task
from benchmarks.scoring import match_greedily, published_scores, score_labels
from benchmarks.suite.datasets import REAL_SETS, load_set
from gitcluster import estimate_intensity, find_neighbors, scale_features

FIELDS = ("set", "variant")
SETS = (*GROUPS["small"], *GROUPS["shapes"])
VARIANTS = ("adaptive", "paper", "paper-literal", "authors")
FACTORS = (1.0, 1000.0, 0.001)
PRINTED = {"small": COMPETITORS[:5], "large": COMPETITORS[2:]}
"""The competitors in Tables 3 and 4; the notebooks have all of them on the small sets."""
GIVEN_SHARES = tuple(name for name in PUBLISHED if "proportions" in PUBLISHED[name]["GIT"].options)
"""Sets on which the published GIT was given more than the number of classes."""


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and measurement; ``--quick`` yields those of iris."""
    runs = {(name, variant): partial(measure_factors, name, variant) for name in SETS for variant in VARIANTS}
    for variant, measure, sets in (
        ("intensity", measure_slope, SETS),
        ("statistics", count_classes, REAL_SETS),
        ("nmi", measure_nmi, GROUPS["small"]),
        ("shares", measure_shares, GIVEN_SHARES),
    ):
        runs |= {(name, variant): partial(measure, name) for name in sets}
    for (name, variant), run in runs.items():
        if name == "iris" or not options.quick:
            yield {"set": name, "variant": variant}, run


@cache
def stored() -> dict[Key, Line]:
    """Return the stored results by set and measurement."""
    return Store("statements", FIELDS).lines


def measure_factors(name: str, variant: str) -> Line:
    """Return F1 of a variant on the rescaled data; the default is given the number alone."""
    X, y = load_set(name)
    options: dict[str, Any] = {} if variant == "adaptive" else dict(PUBLISHED[name]["GIT"].options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [METHODS["GIT"].fit(X.astype(float) * s, np.bincount(y), variant=variant, **options) for s in FACTORS]
    return {"f1": [round(score_labels(y, labels)["f1"], 4) for labels in results]}


def measure_slope(name: str) -> Line:
    """Return the largest slope of the intensity, and how many neighbours fulfil the condition of Theorem 2."""
    X, k = scale_features(load_set(name)[0].astype(float)), PUBLISHED[name]["GIT"].options["n_neighbors"]
    X = np.unique(X, axis=0)
    near = find_neighbors(X, n_neighbors=k)
    height = np.exp(estimate_intensity(near))
    slopes = pdist(height[:, None], "cityblock") / pdist(X)
    pairs = [(i, int(j)) for i, j in enumerate(near.indices[:, 0])]
    fulfilled = [can_be_matched(X, near.indices[i], near.indices[j], np.linalg.norm(X[i] - X[j])) for i, j in pairs]
    return {"k": k, "largest slope": round(float(slopes.max()), 4), "condition": round(float(np.mean(fulfilled)), 4)}


def count_classes(name: str) -> Line:
    """Return samples, features, classes, and smallest class / largest class."""
    X, y = load_set(name)
    sizes = np.bincount(y)[np.unique(y)]
    return {"counted": [*X.shape, len(sizes), round(float(sizes.min() / sizes.max()), 4)]}


def measure_nmi(name: str) -> Line:
    """Return NMI of the published clustering by the printed formula and by the arithmetic mean."""
    X, y = load_set(name)
    labels = METHODS["GIT authors"].fit(X, np.bincount(y), **PUBLISHED[name]["GIT"].options)
    labels = match_greedily(y, labels)  # the published scores are taken after it
    information = mutual_info_score(y, labels)
    product = float(np.prod([entropy(np.bincount(some)) for some in (y, labels)]))
    return {"printed": round(information / product, 4), "mean": round(normalized_mutual_info_score(y, labels), 4)}


def measure_shares(name: str) -> Line:
    """Return F1 of the published variants with the published k, with equal shares and with those they were given."""
    X, y = load_set(name)
    given = PUBLISHED[name]["GIT"].options
    scores = {}
    for variant in ("GIT authors", "GIT paper"):
        fits = [{"method": variant, "options": given | shares} for shares in ({"proportions": "equal"}, {})]
        scores[variant] = [round(published_scores(y, accuracy.fit(task, X, y)).f1, 4) for task in fits]
    return {"equal, given": scores}


def can_be_matched(X: NDArray[Any], some: NDArray[Any], other: NDArray[Any], distance: float) -> bool:
    """Return whether two neighbourhoods can be matched one to one within a distance (Definition 1)."""
    close = csr_array(cdist(X[some], X[other]) <= distance * (1 + 1e-12))
    return bool((maximum_bipartite_matching(close) >= 0).all())


def ranks_table() -> str:
    """Return the rank of GIT among results that cover enough, its lead in F1, and its correlation with the features."""
    lines, rows, leads = accuracy.stored(), [], []
    for name, printed in [(name, PRINTED[group]) for group in PRINTED for name in GROUPS[group]]:
        published = {method: row.scores for method, row in PUBLISHED[name].items()}
        shown = {method: published[method] for method in ("GIT", *printed)}
        stored_lines = {method: lines.get((name, method, "published"), {"error": ""}) for method in COMPETITORS}
        stored_lines["GIT"] = lines[name, "GIT authors", "published"]
        here = {
            method: (*line["published"], line["cover"]) for method, line in stored_lines.items() if "error" not in line
        }
        lead = [scores["GIT"][0] - _best_other(scores) for scores in (shown, published, here)]
        leads.append(lead)
        cells = [f"{_ranks(s)} ({100 * by:+.1f})" for s, by in zip((shown, published, here), lead, strict=True)]
        rows.append([name, f"{stored()[name, 'statistics']['counted'][1]:,}", *cells])
    features = [stored()[row[0], "statistics"]["counted"][1] for row in rows]
    along = [f"{spearmanr(features, column).statistic:+.2f}" for column in np.transpose(leads)]
    rows.append(["rank correlation of features and lead", "", *along])
    header = ["rank in F1 / ARI / NMI (lead in points of F1)", "features"]
    return markdown([*header, "published, methods of the table", "published, all methods", "here, all methods"], rows)


def _ranks(scores: dict[str, Any]) -> str:
    """Return the ranks of GIT in F1, ARI and NMI among the results that cover enough."""
    others = [row for row in scores.values() if row[3] >= COVERED]
    return " / ".join(str(1 + sum((row[i] or 0.0) > scores["GIT"][i] for row in others)) for i in range(3))


def _best_other(scores: dict[str, Any]) -> float:
    """Return the best F1 of the competitors that cover enough."""
    return max(row[0] for method, row in scores.items() if method != "GIT" and row[3] >= COVERED)


def shares_table() -> str:
    """Return F1 with equal shares, or the number alone, and with the given shares."""
    lines, rows = accuracy.stored(), []
    for name in GIVEN_SHARES:
        variants = stored()[name, "shares"]["equal, given"]
        default = [lines[name, method, "untuned"]["published"][0] for method in ("GIT", "GIT proportions")]
        cells = [f"{equal:.3f} / {given:.3f}" for equal, given in (*variants.values(), default)]
        rows.append([name.removeprefix("toy_"), *cells])
    header = ["F1: equal shares / given shares", "`authors`, published k", "`paper`, published k"]
    return markdown([*header, "default: number / shares given"], rows)


def theorem_table() -> str:
    """Return F1 of the data times 1, 1000 and .001, the largest slope of f, and how often the condition is met."""
    rows = []
    for name in SETS:
        cells = [" / ".join(short(f1) for f1 in stored()[name, variant]["f1"]) for variant in VARIANTS]
        line = stored()[name, "intensity"]
        cells += [f"{line['k']}", f"{line['largest slope']:.3f}", f"{line['condition']:.1%}"]
        rows.append([name.removeprefix("toy_"), *cells])
    header = ["F1: times 1 / 1000 / .001", "default", *(f"`{variant}`" for variant in VARIANTS[1:])]
    return markdown([*header, "k", "largest slope of f", "condition of Theorem 2 met"], rows)


def nmi_table() -> str:
    """Return NMI by both formulas, and the published one."""
    rows = []
    for name in GROUPS["small"]:
        line, published = stored()[name, "nmi"], PUBLISHED[name]["GIT"].scores[2]
        rows.append([name, f"{line['printed']:.3f}", f"{line['mean']:.3f}", f"{published:.3f}"])
    return markdown(["set", "MI / (H H), as printed", "MI / mean of H", "published"], rows)


TABLES = {"ranks": ranks_table, "shares": shares_table, "theorems": theorem_table, "nmi": nmi_table}
