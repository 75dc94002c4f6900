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

Algorithm 1: boundary pairs that it records as printed, and how many of them with a root that is not final ("pairs").
Figures of ``authors`` that differ: scores over random orders of equal sizes and weights ("orders"), and of a sweep that
compares only the c largest clusters with the prior, as an earlier state of the authors' code ("largest"). Stages of
``paper`` with other cuts and other densities ("stages"). Intensities before and after uniform noise ("noise").
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching
from scipy.spatial.distance import cdist, pdist
from scipy.stats import entropy, gaussian_kde, spearmanr
from sklearn.cluster import SpectralClustering
from sklearn.metrics import mutual_info_score, normalized_mutual_info_score

from benchmarks.experiments import accuracy
from benchmarks.experiments.accuracy import COVERED, GROUPS
from benchmarks.experiments.robustness import noisy_impossible
from benchmarks.methods import METHODS
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Key, Line, Store, Task
from benchmarks.scoring import match_greedily, published_scores, score_labels
from benchmarks.suite.datasets import REAL_SETS, load_set
from gitcluster import (
    GIT,
    Neighbors,
    bridge_components,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    proportion_distance,
    scale_features,
)
from gitcluster.edge_cutting import _follow_cut_edges as follow_cut_edges

FIELDS = ("set", "variant")
SETS = (*GROUPS["small"], *GROUPS["shapes"])
VARIANTS = ("adaptive", "paper", "paper-literal", "authors")
FACTORS = (1.0, 1000.0, 0.001)
PRINTED = {"small": COMPETITORS[:5], "large": COMPETITORS[2:]}
"""The competitors in Tables 3 and 4; the notebooks have all of them on the small sets."""
GIVEN_SHARES = tuple(name for name in PUBLISHED if "proportions" in PUBLISHED[name]["GIT"].options)
"""Sets on which the published GIT was given more than the number of classes."""
ORDERS = 200
"""Random orders of equal sizes and weights."""
DENSITIES: dict[str, Callable[[NDArray[Any], Neighbors], NDArray[Any]]] = {
    "intensity": lambda X, near: estimate_intensity(near),
    "KDE": lambda X, near: gaussian_kde(X.T).logpdf(X.T),
    "kNN density": lambda X, near: -X.shape[1] * np.log(np.maximum(near.distances[:, -1], 1e-12)),
}
"""Logarithms of densities: Eq. 1, a Gaussian kernel with Scott's bandwidth, and the distance to the k-th neighbour."""


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and measurement; ``--quick`` yields those of iris."""
    runs = {(name, variant): partial(measure_factors, name, variant) for name in SETS for variant in VARIANTS}
    for variant, measure, sets in (
        ("intensity", measure_slope, SETS),
        ("statistics", count_classes, REAL_SETS),
        ("nmi", measure_nmi, GROUPS["small"]),
        ("shares", measure_shares, GIVEN_SHARES),
        ("number", choose_number, SETS),
        ("pairs", count_pairs, GROUPS["small"]),
        ("orders", measure_orders, ("olivetti", "frogs", "codon")),
        ("largest", measure_largest, ("frogs", "codon")),
        ("stages", compare_stages, SETS),
        ("noise", measure_noise, ("toy_impossible",)),
    ):
        runs |= {(name, variant): partial(measure, name) for name in sets}
    for (name, variant), run in runs.items():
        if name == "iris" or not options.quick:
            yield {"set": name, "variant": variant}, run


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


def choose_number(name: str) -> Line:
    """Return the number of classes, and the number of clusters that the default chooses with nothing given."""
    X, y = load_set(name)
    return {"classes": len(np.unique(y)), "clusters": GIT().fit(X).n_clusters_}


def count_pairs(name: str) -> Line:
    """Return the pairs that Algorithm 1 records as printed, and how many have a root that is not final.

    Its lines 15 to 17 read the roots of all neighbours, but a neighbour of lower intensity is still its own root.
    """
    X, k = load_set(name)[0], PUBLISHED[name]["GIT"].options["n_neighbors"]
    near = find_neighbors(scale_features(X), n_neighbors=k)
    intensity = estimate_intensity(near)
    local = find_local_clusters(near, intensity)
    final, root, recorded = local.peaks[local.labels], np.arange(len(X)), []
    for i in np.lexsort((root, -intensity)):
        if local.parent[i] != i:
            root[i] = root[local.parent[i]]
            mutual = [s for s in near.indices[i] if i in near.indices[s] and root[s] != root[i]]
            recorded += [root[s] != final[s] for s in mutual]
    return {"k": k, "recorded": len(recorded), "not final": int(np.sum(recorded))}


def fit_authors(name: str) -> tuple[GIT, NDArray[np.int64], NDArray[Any]]:
    """Return the authors' variant with the published parameters, the classes, and the prior."""
    X, y = load_set(name)
    options = dict(PUBLISHED[name]["GIT"].options)
    prior = np.bincount(y) if options.pop("proportions", None) else np.ones(len(np.unique(y)))
    model = GIT(proportions=prior, variant="authors", search="exact", n_jobs=-1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X.astype(float)), y, prior / prior.sum()


def measure_orders(name: str) -> Line:
    """Return the different scores of the authors' variant over random orders of equal sizes and equal weights."""
    model, y, prior = fit_authors(name)
    graph, rng, scores = model.topo_graph_, np.random.default_rng(0), set()
    for _ in range(ORDERS):
        nodes, edges = rng.permutation(len(graph.sizes)), rng.permutation(len(graph.edges))
        number = np.argsort(nodes)
        other = graph._replace(
            sizes=graph.sizes[nodes], peaks=graph.peaks[nodes], edges=number[graph.edges][edges],
            log_weights=graph.log_weights[edges], pairs=graph.pairs[edges],
        )  # fmt: skip
        labels = cut_edges(other, proportions=prior, leftover="cut").labels[number][model.local_labels_]
        scores.add(tuple(round(float(score), 4) for score in published_scores(y, labels)[:3]))
    return {"outcomes": sorted(scores)}


def measure_largest(name: str) -> Line:
    """Return the scores of a sweep that compares only the shares of the c largest clusters with the prior."""
    model, y, prior = fit_authors(name)
    graph, best = model.topo_graph_, np.inf
    root, outcome = np.arange(len(graph.sizes)), np.zeros(len(graph.edges), np.int64)
    for edge in np.argsort(-graph.log_weights, kind="stable"):
        i, j = root[graph.edges[edge]]
        merged = np.where(root == j, i, root)
        sizes = np.sort(np.bincount(merged, graph.sizes))[::-1]
        if i != j and np.count_nonzero(sizes) >= len(prior):
            score = proportion_distance(sizes[: len(prior)] / sizes[: len(prior)].sum(), prior)
            outcome[edge] = 1 if score <= best else -1
            root, best = (merged, score) if score <= best else (root, best)
    follow_cut_edges(graph, outcome, root, len(prior))
    return {"scores": [round(float(score), 4) for score in published_scores(y, root[model.local_labels_])[:3]]}


def compare_stages(name: str) -> Line:
    """Return F1 of ``paper`` with other cuts of its topo-graph, and with other densities in place of its intensity.

    "threshold" keeps the edges above one weight, the best by the labels; "spectral" clusters the graph.
    """
    X, y = load_set(name)
    X, k, scores = scale_features(X), PUBLISHED[name]["GIT"].options["n_neighbors"], {}
    prior = PUBLISHED[name]["GIT"].options.get("proportions", np.ones(len(np.unique(y))))
    near = find_neighbors(X, n_neighbors=k)
    for density, estimate in reversed(DENSITIES.items()):  # the intensity comes last, and its graph is cut otherwise
        local = find_local_clusters(near, estimate(X, near))
        graph = build_topo_graph(near, local)
        scores[density] = cut_edges(bridge_components(graph, X), proportions=prior).labels[local.labels]
    shape = (len(graph.sizes),) * 2
    links = csr_array((graph.weights, graph.edges.T), shape=shape)
    kept = [links.multiply(links >= weight) for weight in np.unique(graph.weights)]
    cuts = [connected_components(some, directed=False)[1][local.labels] for some in kept]
    scores["threshold"] = max(cuts, key=lambda labels: score_labels(y, labels)["f1"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the graph may have several components
        model = SpectralClustering(len(prior), affinity="precomputed", random_state=0)
        scores["spectral"] = model.fit_predict((links + links.T).toarray())[local.labels]
    return {"f1": {name: round(score_labels(y, labels)["f1"], 4) for name, labels in scores.items()}}


def measure_noise(_: str) -> Line:
    """Return how uniform noise changes the intensities of the samples, and the boundary pairs behind an edge."""
    line: Line = {"rank correlation": {}, "pairs of an edge, median": {}}
    intensities = []
    for share in (0.0, 0.1, 0.5):
        near = find_neighbors(scale_features(noisy_impossible(share, 2020)[0]), n_neighbors=10)
        intensity = estimate_intensity(near)
        pairs = build_topo_graph(near, find_local_clusters(near, intensity)).pairs
        intensities.append(intensity[: len(intensities[0]) if intensities else None])
        line["rank correlation"][str(share)] = round(float(spearmanr(intensities[0], intensities[-1]).statistic), 4)
        line["pairs of an edge, median"][str(share)] = float(np.median(pairs))
    return line


def can_be_matched(X: NDArray[Any], some: NDArray[Any], other: NDArray[Any], distance: float) -> bool:
    """Return whether two neighbourhoods can be matched one to one within a distance (Definition 1)."""
    close = csr_array(cdist(X[some], X[other]) <= distance * (1 + 1e-12))
    return bool((maximum_bipartite_matching(close) >= 0).all())


def ranks_table() -> str:
    """Return the rank of GIT among results that cover enough, its lead in F1, and its correlation with the features."""
    lines, rows, leads = accuracy.stored(), [], []
    for name, printed in [(name, PRINTED[group]) for group in PRINTED for name in GROUPS[group]]:
        if (name, "GIT authors", "published") not in lines:
            continue
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
        if (name, "shares") not in stored():
            continue
        variants = stored()[name, "shares"]["equal, given"]
        default = [lines[name, method, "untuned"]["published"][0] for method in ("GIT", "GIT proportions")]
        cells = [f"{equal:.3f} / {given:.3f}" for equal, given in (*variants.values(), default)]
        rows.append([name.removeprefix("toy_"), *cells])
    header = ["F1: equal shares / given shares", "`authors`, published k", "`paper`, published k"]
    return markdown([*header, "default: number / shares given"], rows)


def theorem_table() -> str:
    """Return F1 of the data times 1, 1000 and .001, the largest slope of f, and how often the condition is met."""
    rows = []
    for name in [name for name in SETS if (name, "intensity") in stored()]:
        cells = [" / ".join(short(f1) for f1 in stored()[name, variant]["f1"]) for variant in VARIANTS]
        line = stored()[name, "intensity"]
        cells += [f"{line['k']}", f"{line['largest slope']:.3f}", f"{line['condition']:.1%}"]
        rows.append([name.removeprefix("toy_"), *cells])
    header = ["F1: times 1 / 1000 / .001", "default", *(f"`{variant}`" for variant in VARIANTS[1:])]
    return markdown([*header, "k", "largest slope of f", "condition of Theorem 2 met"], rows)


def nmi_table() -> str:
    """Return NMI by both formulas, and the published one."""
    rows = []
    for name in [name for name in GROUPS["small"] if (name, "nmi") in stored()]:
        line, published = stored()[name, "nmi"], PUBLISHED[name]["GIT"].scores[2]
        rows.append([name, f"{line['printed']:.3f}", f"{line['mean']:.3f}", f"{published:.3f}"])
    return markdown(["set", "MI / (H H), as printed", "MI / mean of H", "published"], rows)


def stages_table() -> str:
    """Return F1 of ``paper`` with other cuts and other densities."""
    lines = {name: stored()[name, "stages"]["f1"] for name in SETS if (name, "stages") in stored()}
    names = ("intensity", "threshold", "spectral", "KDE", "kNN density")
    rows = [[name.removeprefix("toy_"), *(short(f1[way]) for way in names)] for name, f1 in lines.items()]
    ahead = [sum(f1[way] > f1["intensity"] + 5e-4 for f1 in lines.values()) for way in names[1:]]
    rows.append(["better than `paper`", "", *(f"{count} of {len(lines)}" for count in ahead)])
    heads = ["`paper`", "best threshold", "spectral cut", "KDE", "kNN density"]
    return markdown(["F1", *heads], rows)


TABLES = {
    "ranks": ranks_table,
    "shares": shares_table,
    "theorems": theorem_table,
    "nmi": nmi_table,
    "stages": stages_table,
}
