"""Other clustering methods behind one call: ``PEERS[name].fit(X, 3)`` gives labels, and a label below 0 is noise.

A method is one row: the class of its estimator, what it is told about the answer, the package that it needs, its
options, and the number of samples up to which it is reasonable. ``gitcluster compare`` runs the rows of this file; the
benchmarks add rows of their own. Packages are imported when a method is run.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError

Labels = NDArray[np.int64]
SPECTRAL_NEIGHBORS = 10
MULTIGRID_SAMPLES = 20_000
"""With more samples than this, spectral clustering takes half an hour without multigrid (the package pyamg)."""
SAMPLES_PER_COORDINATE = 5
"""A Gaussian mixture with fewer samples than this for each coordinate of its means gets diagonal covariances."""


def fit_estimator(estimator: Any, X: NDArray[Any], known: Any, **options: Any) -> Any:
    """Labels of an estimator in scikit-learn's manner."""
    told = {} if known is None else {"n_clusters": known}
    return estimator(**told, **options).fit_predict(X)


class Method(NamedTuple):
    """A clustering method; ``given`` is the same method with other options."""

    estimator: str
    """Where its class is, such as "sklearn.cluster.KMeans"."""
    told: Literal["nothing", "number", "proportions"] = "number"
    package: str = "scikit-learn"
    options: Mapping[str, Any] = {}
    most_samples: int | None = None
    run: Callable[..., Any] = fit_estimator
    """Gives labels of ``(estimator, X, known, **options)``."""

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return False
        return True

    @property
    def pip_line(self) -> str:
        """The command that installs its package."""
        return f"pip install {self.package}"

    def given(self, **options: Any) -> "Method":
        """The method with these options instead of its own."""
        return self._replace(options={**self.options, **options})

    def load(self) -> Any:
        """Import the class of the estimator."""
        module, _, name = self.estimator.rpartition(".")
        return getattr(import_module(module), name)

    def fit(self, X: NDArray[Any], known: Any = None, **options: Any) -> Labels:
        """Labels of the samples; ``known`` is the number or the proportions, for methods that are told them."""
        known = None if self.told == "nothing" else known
        return np.asarray(self.run(self.load(), X, known, **{**self.options, **options}))


def fit_hdbscan(estimator: Any, X: NDArray[Any], _: None, *, min_cluster_size: int, **options: Any) -> Any:
    """HDBSCAN, also of fewer samples than its smallest cluster should have."""
    return estimator(min_cluster_size=min(min_cluster_size, len(X)), **options).fit_predict(X)


def fit_spectral(estimator: Any, X: NDArray[Any], known: int, *, solver: str | None = None, **options: Any) -> Any:
    """Spectral clustering on the graph of 10 nearest neighbours.

    The sparse solver sometimes fails on graphs of many components; LOBPCG then solves the same problem. A ``solver``
    that is asked for is the only one tried.
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
    """The most probable component of a Gaussian mixture, with full covariances where they can be estimated."""
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
