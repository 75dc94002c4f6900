"""The scikit-learn estimator: validate, call the pipeline, keep what it found."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gitcluster._validation import check_choice, check_n_neighbors
from gitcluster.edge_cutting import EdgeCut, cut_edges
from gitcluster.pipeline import VARIANTS, git_clusters
from gitcluster.proportions import resolve_proportions


class GIT(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering based on the graph of intensity topology.

    Samples climb to intensity peaks and form local clusters; the boundary pairs between them make a weighted
    graph; its noisy edges are cut against a prior of cluster proportions and the rest is merged.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; their shares are taken as equal when no ``proportions`` are given. One of the two is
        needed.
    proportions : array-like of shape (n_clusters,), default=None
        Expected shares of the clusters in any order and scale: ``[1, 0.5, 0.1]``, or counts.
    n_neighbors : int, default=8
        Nearest neighbours of a sample, not counting itself. More neighbours, fewer and larger local clusters.
    variant : {"paper", "authors"}, default="paper"
        "paper" is the method as the paper's text defines it; "authors" is the code that the paper's published
        figures come from, which differs in kernel, boundary pairs and the treatment of ties and leftovers.
    metric : str, default="euclidean"
        "euclidean" divides every feature by its standard deviation; any other metric of
        :class:`sklearn.neighbors.NearestNeighbors` takes the data as they are; "precomputed" takes X as distances.
    n_jobs : int, default=None
        Threads, with scikit-learn's meaning. The labels do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample; 0 is the largest cluster.
    n_clusters_ : int
        Number of clusters found: the number asked for, unless there are fewer intensity peaks.
    proportions_ : ndarray of shape (n_clusters_,)
        Share of every cluster.
    intensity_, log_intensity_ : ndarray of shape (n_samples,)
        Intensity of every sample; the logarithm survives where the intensity underflows.
    local_labels_ : ndarray of shape (n_samples,)
        Local cluster of every sample.
    peaks_ : ndarray of shape (n_local_clusters,)
        Sample at the peak of every local cluster, highest first.
    topo_graph_ : TopoGraph
        Weighted graph of local clusters.
    edge_cut_ : EdgeCut
        Kept and cut edges, final cluster of every local cluster, scores along the sweep.
    n_neighbors_ : int
        Neighbours used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Gao, Lin, Tan, Wu, Li: Clustering Based on Graph of Intensity Topology. arXiv 2110.01274.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = GIT(n_clusters=2, n_neighbors=15).fit(X)
    >>> model.proportions_.round(2)
    array([0.5, 0.5])
    >>> int(model.cut(n_clusters=3).max())
    2
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        proportions: ArrayLike | None = None,
        n_neighbors: int = 8,
        variant: str = "paper",
        metric: str = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster ``X``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) with precomputed distances
        y : ignored

        Returns
        -------
        self : GIT
        """
        samples = self._check_samples(X)
        check_choice("variant", self.variant, VARIANTS)
        self.n_neighbors_ = check_n_neighbors(self.n_neighbors, len(samples))
        prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=len(samples))
        found = git_clusters(
            samples,
            proportions=prior,
            n_neighbors=self.n_neighbors_,
            variant=self.variant,
            metric=self.metric,
            n_jobs=self.n_jobs,
        )
        self.log_intensity_ = found.log_intensity
        self.intensity_ = np.exp(found.log_intensity)
        self.local_labels_ = found.local_clusters.labels
        self.peaks_ = found.local_clusters.peaks
        self.topo_graph_ = found.topo_graph
        self.edge_cut_ = found.edge_cut
        self.labels_ = found.labels
        self.n_clusters_ = len(found.edge_cut.sizes)
        self.proportions_ = found.edge_cut.sizes / len(samples)
        self._warn_of_missing_clusters(found.edge_cut, len(prior))
        return self

    def cut(self, *, n_clusters: int | None = None, proportions: ArrayLike | None = None) -> NDArray[np.int64]:
        """Labels for another prior, from the fitted topo-graph, without a new search.

        Parameters
        ----------
        n_clusters : int, default=None
        proportions : array-like of shape (n_clusters,), default=None

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        prior = resolve_proportions(n_clusters, proportions, n_samples=len(self.labels_))
        leftover = "cut" if self.variant == "authors" else "connected"
        edge_cut = cut_edges(self.topo_graph_, proportions=prior, leftover=leftover)
        self._warn_of_missing_clusters(edge_cut, len(prior))
        return np.asarray(edge_cut.labels[self.local_labels_])

    def _check_samples(self, X: ArrayLike) -> NDArray[Any]:
        samples = validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        if self.metric == "precomputed":
            _check_distances(samples)
        return np.asarray(samples)

    def _warn_of_missing_clusters(self, edge_cut: EdgeCut, n_wanted: int) -> None:
        n_found = len(edge_cut.sizes)
        if n_found < n_wanted:
            warnings.warn(
                f"Found {n_found} intensity peak{'s' if n_found > 1 else ''} where {n_wanted} clusters were asked "
                f"for. Use a smaller n_neighbors (now {self.n_neighbors_}) to find more.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.non_deterministic = False
        return tags


def _check_distances(matrix: NDArray[Any]) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, got shape {matrix.shape}. "
            "Use another metric for samples by features."
        )
    if (matrix < 0).any():
        raise ValueError("metric='precomputed' takes distances, got negative values. Pass distances, not similarities.")
