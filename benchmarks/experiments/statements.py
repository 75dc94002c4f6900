"""What the paper states, on its own sets: ``python -m benchmarks statements``.

Theorem 1: the intensity does not change when the data are rescaled; measured is whether the labels do, by the F1 of
every variant on the data times 1, 1000 and .001, with the published number of neighbours.

Theorem 2: |f(x) - f(y)| <= 2 d(x, y), if the neighbourhoods of x and y can be matched so that no neighbour is farther
from its match than x from y. Measured is the largest |f(x) - f(y)| / d(x, y) over all pairs, and how often neighbours
x and y are as the theorem asks.

Tables 3 and 4: the rank of GIT among the competitors, and whether its lead falls with the number of features, from the
stored results of ``accuracy``. Table 2: samples, features, classes, smallest class / largest class. NMI of the
published clusterings by the formula as it is printed, MI / (H H), and as the tables have it, MI over the mean entropy.
The mean F1 by which competitors were chosen for the next experiment. F1 of the published variants told equal shares
beside those they were told, where these were others. What is stored is not run again.
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
from scipy.stats import entropy, spearmanr
from sklearn.metrics import mutual_info_score, normalized_mutual_info_score

from benchmarks.experiments import accuracy
from benchmarks.methods import METHODS
from benchmarks.reporting import accuracy_tables
from benchmarks.reporting.accuracy_tables import COVERED, GROUPS
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run, show_progress
from benchmarks.scoring import match_greedily, published_scores, score_labels
from benchmarks.suite.datasets import load_set
from gitcluster import estimate_intensity, find_neighbors, scale_features

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
PRINTED = {"small": COMPETITORS[:5], "large": COMPETITORS[2:]}
"""The competitors in Tables 3 and 4; the notebooks have all of them on the small sets."""
TOLD = tuple(name for name in PUBLISHED if "proportions" in PUBLISHED[name]["GIT"].options)
"""Sets on which the published GIT knew more than the number of classes."""


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks statements", description=__doc__)
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    options = parser.parse_args(arguments)
    store, about = stored(), describe_run("statements", arguments)
    tasks = [(name, variant) for name in SETS for variant in (*VARIANTS, "intensity")]
    tasks += [(name, "statistics") for name in STATED] + [(name, "nmi") for name in GROUPS["small"]]
    tasks += [(name, "shares") for name in TOLD]
    others = {"intensity": measure_slope, "statistics": count_classes, "nmi": measure_nmi, "shares": measure_shares}
    for (name, variant), say in show_progress(
        [t for t in tasks if options.again or t not in store.lines], "statements"
    ):
        measured = others[variant](name) if variant in others else measure_factors(name, variant)
        store.add({"set": name, "variant": variant} | measured | about)
        say(f"{name} {variant} {measured}")
    tables = (ranks_table, choice_table, shares_table, factor_table, slope_table, statistics_table, nmi_table)
    print(*(table() for table in tables), sep="\n\n")


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
    labels = match_greedily(y, labels)  # the published scores are taken after it
    information = mutual_info_score(y, labels)
    product = float(np.prod([entropy(np.bincount(some)) for some in (y, labels)]))
    return {"printed": round(information / product, 4), "mean": round(normalized_mutual_info_score(y, labels), 4)}


def measure_shares(name: str) -> Line:
    """F1 as published of the published variants with the published k, told equal shares and what they were told."""
    X, y = load_set(name)
    told = PUBLISHED[name]["GIT"].options
    found = {}
    for variant in ("GIT authors", "GIT paper"):
        fits = [{"method": variant, "options": told | shares} for shares in ({"proportions": "equal"}, {})]
        found[variant] = [round(published_scores(y, accuracy.fit(task, X, y)).f1, 4) for task in fits]
    return {"equal, told": found}


def can_be_matched(X: NDArray[Any], some: NDArray[Any], other: NDArray[Any], distance: float) -> bool:
    """Definition 1: whether two neighbourhoods are matched one to one within a distance."""
    close = csr_array(cdist(X[some], X[other]) <= distance * (1 + 1e-12))
    return bool((maximum_bipartite_matching(close) >= 0).all())


def ranks_table() -> str:
    """Markdown: rank of GIT among results that cover enough, its lead in F1, and how that goes with the features."""
    lines, rows, leads = accuracy_tables.stored().lines, [], []
    for name, printed in [(name, PRINTED[group]) for group in PRINTED for name in GROUPS[group]]:
        published = {method: row.scores for method, row in PUBLISHED[name].items()}
        shown = {method: published[method] for method in ("GIT", *printed)}
        found = {method: lines.get((name, method, "published"), {"error": ""}) for method in COMPETITORS}
        found["GIT"] = lines[name, "GIT authors", "published"]
        here = {method: (*line["published"], line["cover"]) for method, line in found.items() if "error" not in line}
        lead = [scores["GIT"][0] - _best_other(scores) for scores in (shown, published, here)]
        leads.append(lead)
        cells = [f"{_ranks(s)} ({100 * by:+.1f})" for s, by in zip((shown, published, here), lead, strict=True)]
        rows.append([name, f"{_line(name, 'statistics')['counted'][1]:,}", *cells])
    features = [_line(row[0], "statistics")["counted"][1] for row in rows]
    along = [f"{spearmanr(features, column).statistic:+.2f}" for column in np.transpose(leads)]
    rows.append(["rank correlation of features and lead", "", *along])
    header = ["rank in F1 / ARI / NMI (lead in points of F1)", "features"]
    return markdown([*header, "published, methods of the table", "published, all methods", "here, all methods"], rows)


def _ranks(found: dict[str, Any]) -> str:
    others = [scores for scores in found.values() if scores[3] >= COVERED]
    return " / ".join(str(1 + sum((s[place] or 0.0) > found["GIT"][place] for s in others)) for place in range(3))


def _best_other(found: dict[str, Any]) -> float:
    return max(scores[0] for method, scores in found.items() if method != "GIT" and scores[3] >= COVERED)


def choice_table() -> str:
    """Markdown: mean F1 of the competitors over the sets of Tables 3 and 4 that they cover, published and here."""
    lines, rows = accuracy_tables.stored().lines, []
    for group, printed in PRINTED.items():
        cells = dict.fromkeys(COMPETITORS, "")
        for method in printed:
            published = [PUBLISHED[name][method].scores for name in GROUPS[group]]
            found = [lines[name, method, "published"] for name in GROUPS[group]]
            here = [(*line["published"], line["cover"]) for line in found if "error" not in line]
            means = [[scores[0] for scores in source if scores[3] >= COVERED] for source in (here, published)]
            if all(means):
                cells[method] = f"{np.mean(means[0]):.3f} ({np.mean(means[1]):.3f})"
            if len(means[1]) < len(published):
                cells[method] += f" {len(means[1])} of {len(published)} sets"
        rows.append([f"{group} sets", *(cell.strip() for cell in cells.values())])
    return markdown(["mean F1, in brackets of the published figures", *cells], rows)


def shares_table() -> str:
    """Markdown: F1 told equal shares, or the number, and told the shares."""
    lines, rows = accuracy_tables.stored().lines, []
    for name in TOLD:
        found = _line(name, "shares")["equal, told"]
        default = [lines[name, method, "untuned"]["published"][0] for method in ("GIT", "GIT proportions")]
        cells = [f"{equal:.3f} / {told:.3f}" for equal, told in (*found.values(), default)]
        rows.append([name.removeprefix("toy_"), *cells])
    header = ["F1: equal shares / told the shares", "`authors`, published k", "`paper`, published k"]
    return markdown([*header, "default: told the number / the shares"], rows)


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
