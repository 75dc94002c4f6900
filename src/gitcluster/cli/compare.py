"""Other clustering methods behind one call, and their comparison with GIT on the same rows.

A method is one row of ``PEERS``: ``PEERS[name].fit(X, 3)`` returns labels, and a label below 0 is noise. The benchmarks
add rows of their own. Packages are imported when a method runs.
"""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError
from sklearn.metrics import adjusted_rand_score, silhouette_score

from gitcluster import GIT
from gitcluster.cli.models import learn_features
from gitcluster.cli.terminal import Screen, make_table
from gitcluster.preprocessing.sources import Points
from gitcluster.samples import scale_points

Labels = NDArray[np.int64]
SILHOUETTE_ROWS = 2000
"""Rows of the silhouette, whose time grows with their square."""
SPECTRAL_NEIGHBORS = 10
MULTIGRID_SAMPLES = 20_000
"""With more samples, spectral clustering takes half an hour without multigrid (the package pyamg)."""
SAMPLES_PER_COORDINATE = 5
"""With fewer samples for each coordinate of its means, a Gaussian mixture gets diagonal covariances."""


def fit_estimator(estimator: Any, X: NDArray[Any], known: Any, **options: Any) -> Any:
    """Return the labels of a scikit-learn estimator."""
    number = {} if known is None else {"n_clusters": known}
    return estimator(**number, **options).fit_predict(X)


class Method(NamedTuple):
    """A clustering method."""

    estimator: str
    """The class, such as "sklearn.cluster.KMeans"."""
    told: Literal["nothing", "number", "proportions"] = "number"
    """The prior knowledge that it takes."""
    package: str = "scikit-learn"
    options: Mapping[str, Any] = {}
    most_samples: int | None = None
    run: Callable[..., Any] = fit_estimator
    """Returns labels for ``(estimator, X, known, **options)``."""

    @property
    def is_installed(self) -> bool:
        """Return whether its package is installed."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return False
        return True

    @property
    def pip_line(self) -> str:
        """Return the command that installs its package."""
        return f"pip install {self.package}"

    def given(self, **options: Any) -> "Method":
        """Return the method with other options."""
        return self._replace(options={**self.options, **options})

    def load(self) -> Any:
        """Import the class of the estimator."""
        module, _, name = self.estimator.rpartition(".")
        return getattr(import_module(module), name)

    def fit(self, X: NDArray[Any], known: Any = None, **options: Any) -> Labels:
        """Return the labels of the samples; ``known`` is the number or the proportions, if the method takes them."""
        known = None if self.told == "nothing" else known
        return np.asarray(self.run(self.load(), X, known, **{**self.options, **options}))


def fit_hdbscan(estimator: Any, X: NDArray[Any], _: None, *, min_cluster_size: int, **options: Any) -> Any:
    """Return the labels of HDBSCAN, also for fewer samples than its smallest cluster should have."""
    return estimator(min_cluster_size=min(min_cluster_size, len(X)), **options).fit_predict(X)


def fit_spectral(estimator: Any, X: NDArray[Any], known: int, *, solver: str | None = None, **options: Any) -> Any:
    """Return the labels of spectral clustering on the graph of 10 nearest neighbours.

    The sparse solver sometimes fails on graphs of many components; LOBPCG then solves the same problem. A requested
    ``solver`` is the only one tried.
    """
    graph = {"affinity": "nearest_neighbors", "n_neighbors": min(SPECTRAL_NEIGHBORS, len(X) - 1), "random_state": 0}

    def fit(solver: str) -> Any:
        return estimator(known, eigen_solver=solver, **(graph | options)).fit_predict(X)

    if solver is not None:
        return fit(solver)
    try:
        return fit("amg" if len(X) > MULTIGRID_SAMPLES and find_spec("pyamg") else "arpack")
    except (ArpackError, np.linalg.LinAlgError, RuntimeError):
        return fit("lobpcg")


def fit_mixture(estimator: Any, X: NDArray[Any], known: int, **options: Any) -> Any:
    """Return the most probable component of a Gaussian mixture, with full covariances if they can be estimated."""
    enough = len(X) >= SAMPLES_PER_COORDINATE * known * X.shape[1]
    return estimator(known, covariance_type="full" if enough else "diag", **options).fit_predict(X)


PEERS = {
    "k-means": Method("sklearn.cluster.KMeans", options={"n_init": 10, "random_state": 0}),
    "HDBSCAN": Method(
        "sklearn.cluster.HDBSCAN", told="nothing", options={"min_cluster_size": 15, "copy": True}, run=fit_hdbscan
    ),
    "spectral": Method("sklearn.cluster.SpectralClustering", run=fit_spectral),
    "Ward": Method("sklearn.cluster.AgglomerativeClustering", options={"linkage": "ward"}, most_samples=30_000),
    "Gaussian mixture": Method(
        "sklearn.mixture.GaussianMixture", options={"n_init": 5, "random_state": 0}, run=fit_mixture
    ),
    "Genie": Method("genieclust.Genie", package="genieclust", options={"gini_threshold": 0.3}),
}


def compare_methods(
    model: GIT, samples: pd.DataFrame, truth: Any, screen: Screen
) -> tuple[list[dict[str, Any]], dict[str, Labels]]:
    """Return the scores and labels of GIT and its peers on the same rows; a method that fails has the reason.

    Peers get the columns encoded, missing numbers imputed and features divided by their standard deviations.
    """
    features = learn_features(samples, model.columns, model.weights)
    points = Points(features.matrix, kinds=features.columns.feature_kinds if features.columns.encoded else None)
    scaled = np.asarray(scale_points(points, None if model.scale is None else "std"))
    names = ["GIT", *(name for name, method in PEERS.items() if method.is_installed)]
    results: list[dict[str, Any]] = []
    labels: dict[str, Labels] = {}
    with screen.bar("Comparing", "compare") as bar:
        for i, name in enumerate(names):
            bar.describe(f"Comparing: {name}")
            start = perf_counter()
            if name == "GIT":
                labels[name] = np.asarray(model.fit_predict(samples))
            else:
                try:
                    labels[name] = _fit_peer(PEERS[name], scaled, model.n_clusters_)
                except (ImportError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
                    results.append({"method": name, "failed": str(error).splitlines()[0]})
                    continue
            seconds = round(perf_counter() - start, 3)
            scores = _score(scaled, labels[name], labels["GIT"], truth)
            results.append({"method": name, "seconds": seconds, **scores})
            bar.advance((i + 1) / len(names))
    return results, labels


def _fit_peer(method: Method, scaled: NDArray[Any], n_clusters: int) -> Labels:
    if method.most_samples is not None and len(scaled) > method.most_samples:
        raise ValueError(f"above {method.most_samples:,} rows it takes too much memory: lower --rows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return method.fit(scaled, n_clusters)


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
    return make_table(title, headings, rows, left=(0, len(headings) - 1))
