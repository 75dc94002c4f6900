"""Compare GIT with other clustering methods on the same rows."""

import warnings
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, silhouette_score

from gitcluster import GIT
from gitcluster._support.optional import is_installed
from gitcluster.cli.models import learn_features
from gitcluster.cli.terminal import Screen, text_table
from gitcluster.preprocessing.sources import Points
from gitcluster.samples import scale_points

Labels = NDArray[np.int64]
SILHOUETTE_ROWS = 2000
"""Rows of the silhouette, whose time grows with their square."""
MAX_WARD_ROWS = 30_000
"""Rows from which Ward's method needs many gigabytes, which grow with their square."""
SAMPLES_PER_COORDINATE = 5
"""With fewer samples for each coordinate of its means, a Gaussian mixture gets diagonal covariances."""


def make_peers(n_rows: int, n_features: int, n_clusters: int) -> dict[str, Any]:
    """Return the other methods as estimators: those of scikit-learn, and Genie if it is installed."""
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering  # slow to import
    from sklearn.mixture import GaussianMixture

    is_full = n_rows >= SAMPLES_PER_COORDINATE * n_clusters * n_features
    peers = {
        "k-means": KMeans(n_clusters, n_init=10, random_state=0),
        "HDBSCAN": HDBSCAN(min_cluster_size=min(15, n_rows), copy=True),
        "spectral": SpectralClustering(
            n_clusters, affinity="nearest_neighbors", n_neighbors=min(10, n_rows - 1), random_state=0
        ),
        "Ward": AgglomerativeClustering(n_clusters),
        "Gaussian mixture": GaussianMixture(
            n_clusters, covariance_type="full" if is_full else "diag", n_init=5, random_state=0
        ),
    }
    if is_installed("genieclust"):
        peers["Genie"] = import_module("genieclust").Genie(n_clusters, gini_threshold=0.3)
    return peers


def compare_methods(
    model: GIT, samples: pd.DataFrame, truth: Any, screen: Screen
) -> tuple[list[dict[str, Any]], dict[str, Labels]]:
    """Return the scores and labels of GIT and its peers on the same rows; a method that fails has the reason.

    Peers get the columns encoded, missing numbers imputed and features divided by their standard deviations.
    """
    features = learn_features(samples, model.columns, model.weights)
    points = Points(features.matrix, kinds=features.columns.feature_kinds if features.columns.encoded else None)
    scaled = np.asarray(scale_points(points, None if model.scale is None else "std"))
    results: list[dict[str, Any]] = []
    labels: dict[str, Labels] = {}
    with screen.bar("Comparing: GIT", "compare") as bar:
        start = perf_counter()
        labels["GIT"] = np.asarray(model.fit_predict(samples))
        results.append({"method": "GIT", "seconds": round(perf_counter() - start, 3)})
        peers = make_peers(len(scaled), scaled.shape[1], model.n_clusters_)
        for i, (name, peer) in enumerate(peers.items(), 1):
            bar.describe(f"Comparing: {name}")
            bar.advance(i / (len(peers) + 1))
            start = perf_counter()
            try:
                if name == "Ward" and len(scaled) > MAX_WARD_ROWS:
                    raise ValueError(f"above {MAX_WARD_ROWS:,} rows it takes too much memory: lower --rows")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    labels[name] = np.asarray(peer.fit_predict(scaled))
                results.append({"method": name, "seconds": round(perf_counter() - start, 3)})
            except (ValueError, RuntimeError, np.linalg.LinAlgError) as error:
                results.append({"method": name, "failed": str(error).splitlines()[0]})
    for result in results:
        if "failed" not in result:
            result |= _score(scaled, labels[result["method"]], labels["GIT"], truth)
    return results, labels


def _score(scaled: NDArray[Any], labels: Labels, git: Labels, truth: Any) -> dict[str, Any]:
    sizes = np.sort(np.bincount(labels[labels >= 0]))[::-1]
    sample = np.flatnonzero(labels >= 0)[:: max(1, len(labels) // SILHOUETTE_ROWS)]
    has_silhouette = 2 <= len(np.unique(labels[sample])) < len(sample)
    scores = {
        "n_clusters": len(sizes),
        "sizes": sizes,
        "noise": int((labels < 0).sum()),
        "silhouette": round(float(silhouette_score(scaled[sample], labels[sample])), 4) if has_silhouette else None,
        "agreement_with_git": round(adjusted_rand_score(git, labels), 4),
    }
    return scores if truth is None else scores | {"agreement_with_truth": round(adjusted_rand_score(truth, labels), 4)}


def comparison_table(title: str, results: list[dict[str, Any]], n_rows: int) -> Any:
    """Return the scores of all methods as a table for the terminal."""
    truth = ["truth"] if "agreement_with_truth" in results[0] else []
    headings = ["method", "clusters", "noise", *truth, "GIT", "silhouette", "seconds", "shares"]
    rows = []
    for r in results:
        if "failed" in r:
            rows.append([r["method"], *[""] * (len(headings) - 2), f"failed: {r['failed']}"])
            continue
        shares = ", ".join(f"{size / n_rows:.0%}" for size in r["sizes"][:3]) + (", ..." if r["n_clusters"] > 3 else "")
        agreement = [f"{r['agreement_with_truth']:.3f}"] if truth else []
        silhouette = "" if r["silhouette"] is None else f"{r['silhouette']:.2f}"
        rows.append([r["method"], str(r["n_clusters"]), f"{r['noise']:,}", *agreement, f"{r['agreement_with_git']:.3f}",
                     silhouette, f"{r['seconds']:.2f}", shares])  # fmt: skip
    return text_table(title, headings, rows, left=(0, len(headings) - 1))
