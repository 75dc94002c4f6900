"""The scikit-learn estimator: validate, call the pipeline, keep what it found."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gitcluster.pipeline import cut_again, git_clusters
from gitcluster.proportions import resolve_proportions


class GIT(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering based on the graph of intensity topology.

    Samples climb to intensity peaks and form local clusters; the boundary pairs between them make a weighted
    graph; local clusters are merged along its strong connections, guided by a prior of cluster proportions where
    there is one.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" chooses it (adaptive variant only) from 1 to 60, or to 2 sqrt(n_samples) if that is
        less.
    proportions : array-like of shape (n_clusters,) or "equal", default=None
        Expected shares of the clusters in any order and scale: ``[1, 0.5, 0.1]``, or counts. Without them the
        adaptive variant makes no assumption about sizes; the other two take equal shares.
    n_neighbors : int or "auto", default="auto"
        Nearest neighbours of a sample, not counting itself. "auto" tries several and keeps the clustering that agrees
        best with the others (the two published variants: 8).
    variant : {"adaptive", "paper", "authors"}, default="adaptive"
        "adaptive" needs no tuning; "paper" is the method as the paper's text defines it; "authors" is the code that
        the paper's published figures come from.
    metric : str, default="euclidean"
        "euclidean" divides every feature by its standard deviation; any other metric of
        :class:`sklearn.neighbors.NearestNeighbors` takes the data as they are; "precomputed" takes X as distances.
    neighbors : {"auto", "exact", "approximate"} or object, default="auto"
        How to search the neighbours. "approximate" is neighbour descent (``pip install 'gitcluster[fast]'``), "auto"
        uses it where it is installed and clearly faster; an object with scikit-learn's ``fit`` and ``kneighbors`` is
        used as it is.
    n_jobs : int, default=None
        Threads, with scikit-learn's meaning. The labels do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample; 0 is the largest cluster.
    n_clusters_ : int
        Number of clusters found: the number asked for, unless there are fewer intensity peaks; the authors' variant
        may find more.
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
        Kept and cut edges, final cluster of every local cluster, distances to the prior.
    n_neighbors_ : int
        Neighbours used.
    neighbors_recall_ : float
        Share of the true nearest neighbours that the search found; 1 for an exact one, else estimated on a sample.
    hierarchy_ : ndarray of shape (n_local_clusters - 1, 4)
        Adaptive variant: the merges of local clusters as a linkage for :mod:`scipy.cluster.hierarchy`.
    selection_ : dict of ndarrays
        Adaptive variant: a table of every candidate with its number of neighbours and scores;
        ``pandas.DataFrame(model.selection_)`` shows it.
    n_clusters_scores_ : dict of ndarrays
        With ``n_clusters="auto"``: a table of every number of clusters and its score; the highest is chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Gao, Lin, Tan, Wu, Li: Clustering Based on Graph of Intensity Topology. arXiv 2110.01274.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = GIT(n_clusters=2).fit(X)
    >>> model.proportions_.round(2)
    array([0.5, 0.5])
    >>> int(model.cut(n_clusters=3).max())
    2
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        proportions: ArrayLike | str | None = None,
        n_neighbors: int | str = "auto",
        variant: str = "adaptive",
        metric: str = "euclidean",
        neighbors: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.metric = metric
        self.neighbors = neighbors
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
        n_wanted, fitted_prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=len(samples))
        found = git_clusters(samples, **self.get_params(deep=False))
        for name in ("hierarchy_", "selection_", "n_clusters_scores_"):
            self.__dict__.pop(name, None)
        self.n_neighbors_ = found.n_neighbors
        self.neighbors_recall_ = found.neighbors.recall
        self.log_intensity_ = found.log_intensity
        self.intensity_ = np.exp(found.log_intensity)
        self.local_labels_ = found.local_clusters.labels
        self.peaks_ = found.local_clusters.peaks
        self.topo_graph_ = found.topo_graph
        self.edge_cut_ = found.edge_cut
        self.labels_ = found.labels
        self.n_clusters_ = len(found.edge_cut.sizes)
        self.proportions_ = found.edge_cut.sizes / len(samples)
        self._hierarchy, self._variant, self._prior = found.hierarchy, self.variant, fitted_prior
        if found.hierarchy is not None:
            self.hierarchy_ = found.hierarchy.linkage
            self.selection_ = found.selection
        if found.n_clusters_scores is not None:
            self.n_clusters_scores_ = found.n_clusters_scores
        self._warn_of_missing_clusters(self.n_clusters_, n_wanted or 0)
        return self

    def cut(self, *, n_clusters: int | None = None, proportions: ArrayLike | str | None = None) -> NDArray[np.int64]:
        """Labels for another number or other proportions, from the fitted topo-graph, without a new search.

        Cuts of the adaptive variant into different numbers of clusters are nested: a cluster of the finer one lies in
        one of the coarser.

        Parameters
        ----------
        n_clusters : int, default=None
        proportions : array-like of shape (n_clusters,) or "equal", default=None

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        number, prior = resolve_proportions(n_clusters, proportions, n_samples=len(self.labels_))
        if number is None:
            raise ValueError("n_clusters or proportions must be given, got neither.")
        if self._is_fitted_prior(number, prior):
            return np.asarray(self.labels_.copy())
        labels = cut_again(self.topo_graph_, self._hierarchy, number, prior, variant=self._variant)
        self._warn_of_missing_clusters(int(labels.max()) + 1, number)
        return np.asarray(labels[self.local_labels_])

    def _is_fitted_prior(self, number: int, prior: NDArray[np.float64] | None) -> bool:
        if prior is None or self._prior is None:
            return number == self.n_clusters_ and prior is self._prior
        return np.array_equal(prior, self._prior)

    def _check_samples(self, X: ArrayLike) -> NDArray[Any]:
        samples = validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        if self.metric == "precomputed":
            _check_distances(samples)
        return np.asarray(samples)

    def _warn_of_missing_clusters(self, n_found: int, n_wanted: int) -> None:
        if n_found < n_wanted:
            remedy = f"Use a smaller n_neighbors (now {self.n_neighbors_}) to find more, or ask for fewer clusters."
            if self.n_neighbors_ <= 3:
                remedy = f"There are no more at n_neighbors={self.n_neighbors_}: ask for fewer clusters."
            warnings.warn(
                f"Found {n_found} intensity peak{'s' if n_found > 1 else ''} where {n_wanted} clusters were asked "
                f"for. {remedy}",
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
