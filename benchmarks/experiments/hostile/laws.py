"""Random options, scales, weights, links, duplicates, lattices, offsets, precisions, dense and sparse samples.

All laws are tried for every fit. In some cases the representation is chosen on some of the samples, as it is where
there are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from gitcluster import GIT, pipeline

UNITS = (2.0**-7, 0.001, 0.3048, 7.0, 1000 / 3)
"""What features are multiplied by; the first rounds nothing."""
FAR = 100.0
"""Values beyond this are multiplied by what rounds nothing; so are single precision and sparse samples."""
FEW_STUDIED = 25
"""Samples that choose the representation in some of the cases."""


def random_case(rng: np.random.Generator) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Samples, options and parameters of a fit."""
    n, d = int(rng.integers(8, 70)), int(rng.integers(1, 6))
    kind = rng.integers(5)
    if kind == 0:
        X = rng.integers(0, int(rng.integers(2, 9)), (n, d)).astype(float)
    elif kind == 1:
        X = np.repeat(rng.normal(size=(-(-n // 3), d)), 3, axis=0)[:n]
    elif kind == 2:
        X = np.round(rng.normal(size=(n, d)), 1)
    else:
        X = rng.normal(size=(n, d)) + 6 * rng.integers(0, 3, (n, 1))
    if rng.random() < 0.2:
        X = X + 2.0 ** int(rng.integers(4, 14))
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    options: dict[str, Any] = {"n_clusters": rng.choice([1, 2, 3, 4, "auto"], p=[0.1, 0.2, 0.3, 0.2, 0.2])}
    options["n_clusters"] = "auto" if options["n_clusters"] == "auto" else int(options["n_clusters"])
    if rng.random() < 0.3:
        options["n_neighbors"] = int(rng.integers(1, min(n - 1, 15)))
    if rng.random() < 0.2:
        options["noise"] = [0.1, "auto"][rng.integers(2)]
    if rng.random() < 0.15 and options["n_clusters"] != "auto":
        options["proportions"] = "equal"
    if rng.random() < 0.4:  # else the default
        options["scale"] = ["std", None, rng.random(d) + 0.1][rng.integers(3)]
    parameters: dict[str, Any] = {}
    if rng.random() < 0.4:
        weights = [rng.random(n) + 0.05, rng.integers(0, 3, n).astype(float), rng.integers(1, 4, n)]
        parameters["sample_weight"] = weights[rng.integers(3)]
    if rng.random() < 0.4:
        i, j = rng.choice(n, 2, replace=False)
        parameters[["must_link", "cannot_link"][rng.integers(2)]] = [(int(i), int(j))]
    if rng.random() < 0.2:
        y = np.full(n, -1)
        y[rng.choice(n, 4, replace=False)] = [0, 0, 1, 1]
        parameters["y"] = y
    return X, options, parameters


def shuffled(parameters: dict[str, Any], order: Any) -> dict[str, Any]:
    """The parameters of a fit for rows in another order."""
    place = np.argsort(order)
    moved = {}
    for name, value in parameters.items():
        links = name in ("must_link", "cannot_link")
        moved[name] = [(int(place[i]), int(place[j])) for i, j in value] if links else np.asarray(value)[order]
    return moved


def broken_laws(
    X: Any, options: dict[str, Any], parameters: dict[str, Any], rng: np.random.Generator
) -> list[str] | None:
    """Names of the laws that a fit breaks; None where an error says that there is no such clustering."""
    form = csr_array if rng.random() < 0.15 else np.asarray
    try:
        model = GIT(**options).fit(form(X), **parameters)
    except ValueError:
        return None

    def fit_again(X: Any, parameters: dict[str, Any], **options: Any) -> Any:
        return clone(model).set_params(**options).fit(form(X), **parameters)

    labels, broken = model.labels_, []
    std = isinstance(model.scale, str) and model.scale == "std"
    order, n_units = rng.permutation(len(X)), X.shape[1] if std else 1  # else one for all features
    exact = X.dtype == np.float32 or form is csr_array or np.abs(X).max() > FAR
    units = rng.choice(UNITS[: 1 if exact else None], n_units)
    other = fit_again(X[order], shuffled(parameters, order))
    laws: dict[str, Callable[[], bool]] = {
        "row order": lambda: equal_samples_apart(X, parameters) or same_clusters(labels[order], other.labels_),
        "threads": lambda: bool((fit_again(X, parameters, n_jobs=2).labels_ == labels).all()),
        "units": lambda: bool((fit_again(X * units.astype(X.dtype), parameters).labels_ == labels).all()),
        "predict gives labels": lambda: bool((model.predict(form(X)) == labels).all()),
        "links": lambda: links_kept(labels, model, parameters),
        "duplicates": lambda: duplicates_together(X, labels, parameters),
        "no cluster is empty": lambda: len(np.unique(labels[labels >= 0])) == model.n_clusters_,
        "new samples": lambda: equal_samples_apart(X, parameters) or new_samples_alike(model, other, X, form, rng),
    }
    for name, holds in laws.items():
        if not holds():
            broken.append(name)
    return broken


def same_clusters(a: Any, b: Any) -> bool:
    """Whether two labelings are the same but for the numbers of the clusters."""
    pairs = np.unique(np.stack([a, b]), axis=1)
    return pairs.shape[1] == len(np.unique(a)) == len(np.unique(b)) and bool(((a < 0) == (b < 0)).all())


def equal_samples_apart(X: Any, parameters: dict[str, Any]) -> bool:
    """Whether links part equal samples, of which nothing tells the one from the other."""
    rows = np.unique(X + 0.0, axis=0, return_inverse=True)[1].ravel()
    linked = {i for name in ("must_link", "cannot_link") for pair in parameters.get(name, ()) for i in pair}
    linked |= set(np.flatnonzero(parameters.get("y", np.full(len(X), -1)) >= 0).tolist())
    return any((rows == rows[i]).sum() > 1 for i in linked)


def links_kept(labels: Any, model: Any, parameters: dict[str, Any]) -> bool:
    """Whether links hold, by the clusters that noise has as well."""
    clusters = model.edge_cut_.labels[model.local_labels_]
    y = parameters.get("y", np.full(len(labels), -1))
    return (
        all(clusters[i] == clusters[j] for i, j in parameters.get("must_link", ()))
        and all(clusters[i] != clusters[j] for i, j in parameters.get("cannot_link", ()))
        and all(len(set(clusters[y == value])) == 1 for value in set(y.tolist()) - {-1})
        and len({clusters[y == value][0] for value in set(y.tolist()) - {-1}}) == len(set(y.tolist()) - {-1})
    )


def duplicates_together(X: Any, labels: Any, parameters: dict[str, Any]) -> bool:
    """Whether equal samples have one label, where no link says otherwise."""
    if parameters.keys() & {"y", "must_link", "cannot_link"}:
        return True
    rows = np.unique(X + 0.0, axis=0, return_inverse=True)[1].ravel()
    return len(np.unique(np.stack([rows, labels]), axis=1).T) == rows.max() + 1


def new_samples_alike(model: Any, other: Any, X: Any, form: Any, rng: np.random.Generator) -> bool:
    """Whether new samples have the same intensities from both fits, whose rows were in different orders."""
    new = form(X[rng.integers(0, len(X), 10)] + X.dtype.type(0.5) * (X.max(axis=0) - X.min(axis=0)) / 7)
    return bool((model.score_samples(new) == other.score_samples(new)).all())


def try_law(seed: int, number: int) -> Counter[str]:
    """The laws that a drawn fit breaks."""
    rng = np.random.default_rng([seed, number])
    case = random_case(rng)
    studied = FEW_STUDIED if rng.random() < 0.2 else pipeline.MAX_STUDIED
    with patch.object(pipeline, "MAX_STUDIED", studied):
        broken = broken_laws(*case, rng)
    for law in broken or []:
        print(f"{law}: case {number}, {case[1]}, {sorted(case[2])}, {case[0].dtype}, {studied} studied", flush=True)
    return Counter(["refused by name"] if broken is None else broken or ["all held"])
