"""Digests of labels, intensities, memberships and predictions, to show that a change of the code changes no result.

``python -m benchmarks digests FILE`` writes them for forty sets and ten sets of options each; with ``--against FILE``
they are compared with those that other code has written. Results are digested to the last bit.
"""

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT

MOST = 700
"""Samples of a set; the distances between them are used as well."""
NEW = 120
"""Samples that are held back and predicted."""


def drawn_sets() -> Iterator[tuple[str, Any, int]]:
    """Sets of many shapes, with their number of clusters."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 3, 5, 10, 30, 70, 200):
        yield f"blobs {d}", make_blobs(600, d, centers=4, cluster_std=1.5, random_state=d)[0], 4
    for noise in (0.02, 0.08, 0.15, 0.25):
        yield f"moons {noise}", make_moons(600, noise=noise, random_state=1)[0], 2
        yield f"circles {noise}", make_circles(600, noise=noise / 2, factor=0.5, random_state=2)[0], 2
    for size in (60, 150, 300):
        yield f"uniform {size}", rng.random((size, 2)), 3
        yield f"gaussian {size}", rng.normal(size=(size, 4)), 2
        yield f"skewed {size}", np.exp(rng.normal(size=(size, 3)) * [1, 2, 3]), 3
        yield f"whole {size}", rng.integers(0, 9, (size, 2)).astype(float), 4
        yield f"repeated {size}", np.repeat(rng.normal(size=(size // 3, 3)), 3, axis=0), 3
        yield f"rounded {size}", np.round(rng.normal(size=(size, 2)), 1) + 1e4, 3
    yield "iris", load_iris().data, 3
    yield "wine", load_wine().data, 3
    yield "digits", load_digits().data, 10
    yield "uneven", np.concatenate([rng.normal(size=(500, 2)) * 0.1, rng.normal(3, 1, size=(60, 2))]), 2
    yield "far groups", np.concatenate([rng.normal(size=(40, 2)) + 60 * i for i in range(6)]), 6
    yield "grid", np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2), 4


def ways(n_clusters: int) -> dict[str, Callable[[Any, Any], list[Any]]]:
    """Ten ways to fit: what each says of the samples and of new ones."""

    def plain(**options: Any) -> Callable[[Any, Any], list[Any]]:
        return lambda X, new: results(GIT(**options).fit(X), new, X)

    def given(kind: str) -> Callable[[Any, Any], list[Any]]:
        def fit(X: Any, new: Any) -> list[Any]:
            matrix, others = pairwise_distances(X), pairwise_distances(new, X)
            if kind == "precomputed":
                return results(GIT(n_clusters, metric=kind).fit(matrix), others, matrix)
            graph = kneighbors_graph(X, min(25, len(X) - 1), mode="distance")
            return results(GIT(n_clusters, metric=kind).fit(graph), csr_array(others * (others < 0.3)), graph)

        return fit

    def weighted(X: Any, new: Any) -> list[Any]:
        weights = np.random.default_rng(1).random(len(X)) + 0.1
        whole = np.random.default_rng(2).integers(0, 4, len(X))
        whole[:2] = 1
        both = [GIT(n_clusters).fit(X, sample_weight=w) for w in (weights, whole)]
        return [item for model in both for item in results(model, new, X)]

    def constrained(X: Any, new: Any) -> list[Any]:
        y = np.full(len(X), -1)
        y[::17] = np.arange(len(y[::17])) % 2
        model = GIT(max(n_clusters, 2), min_cluster_size=3).fit(X, y)
        linked = GIT(n_clusters, noise=0.05).fit(X, must_link=[(0, len(X) // 2)], cannot_link=[(1, len(X) - 1)])
        return results(model, new, X) + results(linked, new, X)

    def single(X: Any, new: Any) -> list[Any]:
        model = GIT(n_clusters, scale=None).fit(X.astype(np.float32))
        sparse = np.where(np.abs(X) > np.median(np.abs(X)), X, 0.0)
        other = GIT(n_clusters, metric="manhattan").fit(csr_array(sparse))
        return results(model, new.astype(np.float32), None) + [other.labels_, other.log_intensity_, other.predict(new)]

    return {
        "nothing told": plain(noise="auto"),
        "number": plain(n_clusters=n_clusters),
        "k given": plain(n_clusters=n_clusters, n_neighbors=7),
        "proportions": plain(proportions=np.arange(1, n_clusters + 1)),
        "paper": plain(n_clusters=n_clusters, variant="paper"),
        "authors": plain(n_clusters=n_clusters, variant="authors", n_neighbors=12),
        "distances and graph": lambda X, new: given("precomputed")(X, new) + given("precomputed_graph")(X, new),
        "weights": weighted,
        "constraints": constrained,
        "precision, sparse, metric": single,
    }


def results(model: GIT, new: Any, X: Any) -> list[Any]:
    """All that a fitted model says, as arrays and texts."""
    found = [model.labels_, model.log_intensity_, model.local_labels_, model.parents_, model.outlier_scores_]
    found += [model.probabilities_, model.peaks_, model.proportions_, model.topo_graph_.log_weights]
    found += [model.predict(new), model.score_samples(new), model.predict_proba(new)]
    found += [
        model.cut(n_clusters=2),
        model.cut(proportions=[3, 2, 1]),
        str(model.explain(0)),
        str(model.explain(0, 5)),
    ]
    if X is not None:
        found += [model.explain(1, len(model.labels_) - 1, X=X).boundary_pairs]
    return found


def digest(found: list[Any]) -> str:
    """A checksum of arrays, whatever integers they are of, and of texts."""
    total = hashlib.sha256()
    for item in found:
        if isinstance(item, str):
            total.update(item.encode())
            continue
        array = np.asarray(item)
        array = array.astype(np.int64) if array.dtype.kind in "iu" else array
        total.update(f"{array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def one_digest(way: Callable[[Any, Any], list[Any]], X: Any, new: Any) -> str:
    """The digest of one fit, or the words of its error."""
    try:
        return digest(way(X, new))
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> None:
    """Write or compare digests."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks digests", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path, help="digests that must be the same")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found: dict[str, str] = {}
    for name, X, n_clusters in drawn_sets():
        rows = np.random.default_rng(3).permutation(len(X))[:MOST]
        n_new = min(NEW, len(rows) // 4)
        kept, held_back = X[rows[n_new:]], X[rows[:n_new]]
        for way, fit in ways(n_clusters).items():
            found[f"{name} / {way}"] = one_digest(fit, kept, np.concatenate([held_back, kept[:5]]))
    options.file.write_text(json.dumps(found, indent=1) + "\n")
    failed = sum(":" in value for value in found.values())
    print(f"{len(found)} digests, {failed} of them errors")
    if options.against:
        before = json.loads(options.against.read_text())
        changed = [name for name in before if before[name] != found.get(name)]
        print("\n".join(f"{name}: {before[name]} -> {found.get(name)}" for name in changed))
        print(f"{len(before) - len(changed)} of {len(before)} are the same")
        sys.exit(bool(changed))
