"""Compare the results of two versions of the code: ``python -m benchmarks digests FILE [--against FILE]``.

Fits sixty small sets with ten sets of options each, and every set with DaskGIT. The arrays go to FILE, a ``.npz`` file.
With ``--against``, they are compared with the file of another version: labels and predictions must be equal, and
memberships, intensities and outlier scores must agree within 1e-6. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn import datasets
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT

MAX_SAMPLES = 700
NEW_SAMPLES = 120
"""Samples held back from every fit and predicted."""
TOLERANCE = 1e-6
"""Allowed difference of floating-point results, absolute and relative."""


def make_sets() -> Iterator[tuple[str, Any, int]]:
    """Yield name, samples and number of clusters of sixty sets."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 3, 5, 10, 30, 70, 200):
        yield f"blobs {d}", datasets.make_blobs(600, d, centers=4, cluster_std=1.5, random_state=d)[0], 4
    for noise in (0.02, 0.08, 0.15, 0.25):
        yield f"moons {noise}", datasets.make_moons(600, noise=noise, random_state=1)[0], 2
        yield f"circles {noise}", datasets.make_circles(600, noise=noise / 2, factor=0.5, random_state=2)[0], 2
    for size in (60, 150, 300):
        yield f"uniform {size}", rng.random((size, 2)), 3
        yield f"gaussian {size}", rng.normal(size=(size, 4)), 2
        yield f"skewed {size}", np.exp(rng.normal(size=(size, 3)) * [1, 2, 3]), 3
        yield f"whole {size}", rng.integers(0, 9, (size, 2)).astype(float), 4
        yield f"repeated {size}", np.repeat(rng.normal(size=(size // 3, 3)), 3, axis=0), 3
        yield f"rounded {size}", np.round(rng.normal(size=(size, 2)), 1) + 1e4, 3
    yield "iris", datasets.load_iris().data, 3
    yield "wine", datasets.load_wine().data, 3
    yield "digits", datasets.load_digits().data, 10
    yield "cancer", datasets.load_breast_cancer().data, 2
    yield "uneven", np.concatenate([rng.normal(size=(500, 2)) * 0.1, rng.normal(3, 1, size=(60, 2))]), 2
    yield "far groups", np.concatenate([rng.normal(size=(40, 2)) + 60 * i for i in range(6)]), 6
    yield "grid", np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2), 4
    blobs = datasets.make_blobs(600, random_state=170)[0]
    yield "sheared", blobs @ [[0.6, -0.6], [-0.4, 0.8]], 3
    yield "spreads", datasets.make_blobs(600, cluster_std=[1.0, 2.5, 0.5], random_state=170)[0], 3
    yield "units", blobs * [1e-3, 1e5], 3
    yield "swiss roll", datasets.make_swiss_roll(600, noise=0.3, random_state=0)[0], 5
    yield "s curve", datasets.make_s_curve(600, noise=0.05, random_state=0)[0], 4
    yield "classes", datasets.make_classification(500, 12, n_informative=6, n_classes=4, random_state=0)[0], 4
    time = np.sqrt(rng.random(600))[:, None]
    arms = 9 * time + np.pi * rng.integers(0, 2, (600, 1))
    yield "spirals", time * np.hstack([np.cos(arms), np.sin(arms)]) + 0.01 * rng.normal(size=(600, 2)), 2
    directions = rng.normal(size=(500, 4))
    yield "sphere", directions / np.linalg.norm(directions, axis=1, keepdims=True), 3
    yield "heavy tails", rng.standard_t(2, (500, 3)) + 12 * rng.integers(0, 3, (500, 1)), 3
    yield (
        "counts",
        rng.poisson(np.array([[2, 8, 20], [8, 2, 8], [20, 20, 2]])[rng.integers(0, 3, 400)]).astype(float),
        3,
    )
    yield "yes and no", (rng.random((400, 12)) < rng.random((3, 12))[rng.integers(0, 3, 400)]).astype(float), 3
    yield "few of many features", rng.normal(size=(80, 300)) + 2 * rng.normal(size=(4, 300))[np.arange(80) % 4], 4
    yield "twelve samples", np.concatenate([rng.normal(size=(6, 2)), rng.normal(8, 1, (6, 2))]), 2
    yield "heavy duplicates", rng.normal(size=(15, 2))[rng.integers(0, 15, 400)], 3
    yield "constant feature", np.column_stack([blobs, np.full(600, 7.0)]), 3
    yield "noise features", np.column_stack([blobs, rng.normal(size=(600, 6))]), 3
    yield "one outlier", np.concatenate([blobs, [[1e6, -1e6]]]), 3
    yield "shares 1 to 50", np.concatenate([rng.normal(size=(500, 3)), rng.normal(9, 1, (10, 3))]), 2
    yield "correlated", rng.normal(size=(500, 2)) @ rng.normal(size=(2, 8)) + 4 * rng.integers(0, 3, (500, 1)), 3


def describe(model: GIT, new: Any, prefix: str = "") -> dict[str, Any]:
    """Return labels, predictions, memberships and intensities of a fitted model."""
    return {
        f"{prefix}labels": model.labels_,
        f"{prefix}two clusters": model.cut(n_clusters=2),
        f"{prefix}three shares": model.cut(proportions=[3, 2, 1]),
        f"{prefix}predicted": model.predict(new),
        f"{prefix}intensities": model.log_intensity_,
        f"{prefix}new intensities": model.score_samples(new),
        f"{prefix}memberships": model.probabilities_,
        f"{prefix}new memberships": model.predict_proba(new),
        f"{prefix}outlier scores": model.outlier_scores_,
    }


def option_sets(n_clusters: int) -> dict[str, Callable[[Any, Any], dict[str, Any]]]:
    """Return ten ways to fit, by name; each takes samples and new samples and returns arrays by name."""

    def fit(**options: Any) -> Callable[[Any, Any], dict[str, Any]]:
        return lambda X, new: describe(GIT(**options).fit(X), new)

    def fit_precomputed(X: Any, new: Any) -> dict[str, Any]:
        distances, others = pairwise_distances(X), pairwise_distances(new, X)
        graph = kneighbors_graph(X, min(25, len(X) - 1), mode="distance")
        return describe(GIT(n_clusters, metric="precomputed").fit(distances), others) | describe(
            GIT(n_clusters, metric="precomputed_graph").fit(graph), csr_array(others * (others < 0.3)), "graph "
        )

    def fit_weighted(X: Any, new: Any) -> dict[str, Any]:
        weights = np.random.default_rng(1).random(len(X)) + 0.1
        repeats = np.random.default_rng(2).integers(0, 4, len(X))
        repeats[:2] = 1
        return describe(GIT(n_clusters).fit(X, sample_weight=weights), new) | describe(
            GIT(n_clusters).fit(X, sample_weight=repeats), new, "repeated "
        )

    def fit_constrained(X: Any, new: Any) -> dict[str, Any]:
        y = np.full(len(X), -1)
        y[::17] = np.arange(len(y[::17])) % 2
        links = {"must_link": [(0, len(X) // 2)], "cannot_link": [(1, len(X) - 1)]}
        return describe(GIT(max(n_clusters, 2), min_cluster_size=3).fit(X, y), new) | describe(
            GIT(n_clusters, noise=0.05).fit(X, **links), new, "linked "
        )

    def fit_other_inputs(X: Any, new: Any) -> dict[str, Any]:
        sparse = csr_array(np.where(np.abs(X) > np.median(np.abs(X)), X, 0.0))
        single = GIT(n_clusters, scale=None).fit(X.astype(np.float32))
        other = GIT(n_clusters, metric="manhattan").fit(sparse)
        return describe(single, new.astype(np.float32)) | describe(other, new, "sparse ")

    return {
        "nothing given": fit(noise="auto"),
        "number": fit(n_clusters=n_clusters),
        "k given": fit(n_clusters=n_clusters, n_neighbors=7),
        "proportions": fit(proportions=np.arange(1, n_clusters + 1)),
        "paper": fit(n_clusters=n_clusters, variant="paper"),
        "authors": fit(n_clusters=n_clusters, variant="authors", n_neighbors=12),
        "distances and graph": fit_precomputed,
        "weights": fit_weighted,
        "constraints": fit_constrained,
        "float32, sparse, metric": fit_other_inputs,
    }


def fit_dask(n_clusters: int) -> Callable[[Any, Any], dict[str, Any]]:
    """Return a fit of DaskGIT in several cells, in this process."""

    def fit(X: Any, _: Any) -> dict[str, Any]:
        import dask

        from gitcluster.distributed import DaskGIT

        with dask.config.set(scheduler="synchronous"):
            model = DaskGIT(n_clusters, cell_size=max(30, len(X) // 4)).fit(X)
            return {"labels": model.labels_.compute()}

    return fit


def compute(sets: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the arrays of all sets and options by name; a fit that raises has the type of its error."""
    arrays: dict[str, Any] = {}
    for name, X, n_clusters in make_sets():
        if sets is not None and name not in sets:
            continue
        rows = np.random.default_rng(3).permutation(len(X))[:MAX_SAMPLES]
        n_new = min(NEW_SAMPLES, len(rows) // 4)
        fitted = X[rows[n_new:]]
        new = np.concatenate([X[rows[:n_new]], fitted[:5]])
        for options, fit in (option_sets(n_clusters) | {"Dask": fit_dask(n_clusters)}).items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results = fit(fitted, new)
            except (ValueError, TypeError) as error:
                results = {"error": type(error).__name__}
            arrays |= {f"{name} / {options} / {key}": np.asarray(value) for key, value in results.items()}
    return arrays


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return one line for every array that differs or is missing."""
    lines = []
    for name in before:
        if name not in after:
            lines.append(f"{name}: missing")
        elif before[name].shape != after[name].shape:
            lines.append(f"{name}: shape {before[name].shape} -> {after[name].shape}")
        elif before[name].dtype.kind == "f":
            if not np.allclose(before[name], after[name], TOLERANCE, TOLERANCE, equal_nan=True):
                lines.append(f"{name}: differs by up to {np.nanmax(np.abs(before[name] - after[name])):.3g}")
        elif (before[name] != after[name]).any():
            lines.append(f"{name}: {np.sum(before[name] != after[name])} of {before[name].size} values differ")
    return lines


def main(arguments: Sequence[str]) -> None:
    """Write the arrays, and compare them with those of another version."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks digests", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--against", type=Path, help="file of another version")
    parser.add_argument("--table", action="store_true", help="compute nothing; digests have no tables")
    options = parser.parse_args(arguments)
    if options.table:
        return
    if options.file is None:
        parser.error("file must be given.")
    after = compute()
    np.savez_compressed(options.file, **after)
    print(f"{len(after)} arrays, {sum(name.endswith('error') for name in after)} of them errors")
    if options.against:
        with np.load(options.against) as file:
            before = dict(file)
        changed = differences(before, after)
        print(*changed, f"{len(before) - len(changed)} of {len(before)} arrays are the same", sep="\n")
        sys.exit(bool(changed))
