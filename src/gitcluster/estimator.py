"""The scikit-learn estimator: validate, call the pipeline, keep what it found."""

import os
import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gitcluster import _kernels
from gitcluster._validation import check_n_jobs, check_sample_weight
from gitcluster.constraints import Constraints, gather_constraints
from gitcluster.edge_cutting import EdgeCut
from gitcluster.graphs import check_graph
from gitcluster.hierarchy import Hierarchy
from gitcluster.persistence import ModelFileError, load_state, pack_integers, save_state, unpack_integers
from gitcluster.pipeline import GRAPH, GITResult, check_samples, cut_again, git_clusters, tidy_rows
from gitcluster.prediction import (
    Described,
    Reference,
    build_reference,
    check_graph_parts,
    check_range,
    check_reference,
    describe_samples,
    levels_of,
    memberships,
)
from gitcluster.progress import CallbackSupportMixin, Progress, with_callbacks
from gitcluster.proportions import resolve_proportions
from gitcluster.scaling import Scaling
from gitcluster.selection import neighborhood_sizes
from gitcluster.topo_graph import TopoGraph
from gitcluster.views import ViewsMixin

CLASSES: dict[str, type] = {c.__name__: c for c in (Constraints, EdgeCut, Hierarchy, Reference, Scaling, TopoGraph)}
REPEATED = 10
"""Whole weights are taken as repeated rows up to so many rows a sample."""


class GIT(ViewsMixin, CallbackSupportMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
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
        :class:`sklearn.neighbors.NearestNeighbors` takes the data as they are. "precomputed" takes X as a matrix of
        distances, "precomputed_graph" as a sparse one of the nearest (``kneighbors_graph(mode="distance")``,
        ``adata.obsp["distances"]``) or as ``(indices, distances)`` of any index; rows may be of different lengths,
        and the graph need not be connected.
    scale : {"std"}, None or array-like of shape (n_features,), default="std"
        What to do with the features before distances are measured: divide them by their standard deviations (with
        the Euclidean metric only), nothing, or multiply them by given weights (with any metric).
    neighbors : {"auto", "exact", "approximate"} or object, default="auto"
        How to search the neighbours. "approximate" is neighbour descent (``pip install 'gitcluster[fast]'``), "auto"
        uses it where it is installed and clearly faster; an object with scikit-learn's ``fit`` and ``kneighbors`` is
        used as it is.
    noise : float or "auto", default=None
        Samples to be labelled -1: a share of them, those with the highest outlier scores, or "auto", those far out of
        what is usual. By default every sample has a cluster.
    min_cluster_size, max_cluster_size : int, default=None
        Bounds on the number of samples in a cluster, before any of them are taken as noise (adaptive variant only).
    n_jobs : int, default=None
        Threads, with scikit-learn's meaning. The labels depend on it only where the search is approximate.
    verbose : bool, default=False
        Whether to write every stage and its seconds to the standard error stream. A progress bar is there as well:
        ``model.set_callbacks(sklearn.callback.ProgressBar())`` from scikit-learn 1.9 on.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample; 0 is the largest cluster, -1 is noise where it was asked for.
    probabilities_ : ndarray of shape (n_samples,)
        How firmly every sample belongs to its cluster, from a half at the boundary to another to 1; 0 for noise.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0 to 1: 1 - 1 / r where the neighbourhood of a sample is r times as wide as those of its neighbours.
    n_connected_components_ : int
        Connected components of the graph of neighbours.
    n_clusters_ : int
        Number of clusters found: the number asked for, unless there are fewer intensity peaks; the authors' variant
        may find more.
    proportions_ : ndarray of shape (n_clusters,)
        Share of every cluster.
    intensity_, log_intensity_ : ndarray of shape (n_samples,)
        Intensity of every sample; the logarithm survives where the intensity underflows.
    local_labels_ : ndarray of shape (n_samples,)
        Local cluster of every sample.
    parents_ : ndarray of shape (n_samples,)
        The next sample uphill, from sample to sample to the peak, which is its own parent.
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
    feature_names_in_ : ndarray of shape (n_features,)

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
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]])
    array([0, 1])
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        proportions: ArrayLike | str | None = None,
        n_neighbors: int | str = "auto",
        variant: str = "adaptive",
        metric: str = "euclidean",
        scale: ArrayLike | str | None = "std",
        neighbors: Any = "auto",
        noise: float | str | None = None,
        min_cluster_size: int | None = None,
        max_cluster_size: int | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.metric = metric
        self.scale = scale
        self.neighbors = neighbors
        self.noise = noise
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Cluster ``X``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or distances, see ``metric``.
        y : array-like of shape (n_samples,), default=None
            Partial labels: samples of one label end in one cluster, of different labels in different ones; -1 is
            unknown. The numbers of the clusters are their own. A ``y`` without any -1 is ignored, as by every
            clusterer of scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            How often every sample counts, in intensities, sizes, connections and proportions. Whole numbers are the
            same as repeating the rows.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of samples that end in one cluster, or in different ones (adaptive variant only).

        Returns
        -------
        self : GIT
        """
        before = dict(self.__dict__)
        try:
            with np.errstate(all="ignore"):
                return self._fit(X, y, sample_weight, must_link, cannot_link)
        except BaseException:  # an earlier fit stays as it was
            kept = {name: value for name, value in self.__dict__.items() if name.startswith(_OF_CALLBACKS)}
            self.__dict__.clear()
            self.__dict__.update(before | kept)
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any, must_link: Any, cannot_link: Any) -> Self:
        samples = self._check_samples(X, reset=True)
        weights = check_sample_weight(sample_weight, samples.shape[0])
        total = samples.shape[0] if weights is None else weights.sum()
        number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=samples.shape[0])
        self._check_noise()
        constraints = gather_constraints(
            samples.shape[0], y=y, must_link=must_link, cannot_link=cannot_link, n_clusters=number, total=float(total),
            min_cluster_size=self.min_cluster_size, max_cluster_size=self.max_cluster_size,
        )  # fmt: skip
        rows, fitted = None, samples
        if weights is not None and self._may_repeat(weights):
            rows, weights = np.repeat(np.arange(len(weights)), weights.astype(np.int64)), None
            fitted = samples[rows][:, rows] if self.metric == "precomputed" else samples[rows]
            if constraints is not None:
                constraints = constraints._replace(groups=constraints.groups[rows])
        progress = Progress(self, self._n_stages(fitted.shape[0]))
        options = {name: getattr(self, name) for name in _PIPELINE_OPTIONS}
        found = git_clusters(fitted, sample_weight=weights, constraints=constraints, report=progress.begin, **options)
        self._keep(found, weights, constraints, prior)
        self._keep_samples(samples, rows, weights)
        progress.end()
        self._warn_of_missing_clusters(self.n_clusters_, number or 0, stacklevel=5)
        return self

    def fit_predict(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.int64]:
        """Cluster ``X`` and return the labels; the parameters are those of :meth:`fit`."""
        return np.asarray(self.fit(X, y, **fit_params).labels_)

    def _keep(
        self, found: GITResult, weights: NDArray[Any] | None, constraints: Constraints | None, prior: Any
    ) -> None:
        """What the fit found, for the samples that were fitted."""
        for name in ("hierarchy_", "selection_", "n_clusters_scores_", "_repeated"):
            self.__dict__.pop(name, None)
        self.n_neighbors_ = found.n_neighbors
        self.neighbors_recall_ = found.neighbors.recall
        self.topo_graph_ = found.topo_graph
        self.edge_cut_ = found.edge_cut
        self.n_clusters_ = len(found.edge_cut.sizes)
        self._hierarchy, self._variant, self._prior = found.hierarchy, self.variant, prior
        self._constraints = constraints
        self._cache: dict[str, Any] = {}
        if found.hierarchy is not None:
            self.hierarchy_ = found.hierarchy.linkage
            self.selection_ = found.selection
        if found.n_clusters_scores is not None:
            self.n_clusters_scores_ = found.n_clusters_scores
        k = min(found.n_neighbors, found.neighbors.indices.shape[1])
        self.n_connected_components_ = int(_kernels.find_components(found.neighbors.indices, k, len(found.labels))[1])
        self._reference = build_reference(
            found, metric=self.metric, variant=self.variant, n_features=getattr(self, "n_features_in_", 1),
            noise=self.noise, weights=weights, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _keep_samples(self, samples: Any, rows: NDArray[np.int64] | None, weights: NDArray[Any] | None) -> None:
        """What the fit found, for the samples that were given: the same, but for repeated rows."""
        described: Any = self._reference
        peaks, parents = self.topo_graph_.peaks, self._reference.parents
        counted = described.labels
        if rows is not None:
            self._repeated = rows
            samples = samples[:, rows] if self.metric == "precomputed" else samples
            described = describe_samples(self._reference, samples, self._cache, n_jobs=self.n_jobs)
            peaks, parents = rows[peaks], rows[described.parents]
            self.topo_graph_ = self.topo_graph_._replace(peaks=peaks)
        self.labels_: NDArray[np.int64] = described.labels
        self.log_intensity_: NDArray[np.float64] = described.log_intensity
        self.local_labels_: NDArray[np.int64] = described.local_labels
        self.outlier_scores_: NDArray[np.float64] = described.outlier_scores
        self.peaks_, self.parents_ = peaks, parents
        sizes = np.bincount(counted + 1, weights, minlength=self.n_clusters_ + 1)[1:]
        self.proportions_ = sizes / (len(counted) if weights is None else weights.sum())

    @property
    def intensity_(self) -> NDArray[np.float64]:
        """Intensity of every sample."""
        check_is_fitted(self, "log_intensity_")
        return np.asarray(np.exp(self.log_intensity_))

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """How firmly every sample belongs to its cluster."""
        check_is_fitted(self, "labels_")
        fitted = self._fitted()
        shares = self._memberships(fitted)
        return np.where(fitted.labels >= 0, shares[np.arange(len(shares)), fitted.clusters], 0.0)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Cluster of new samples: that of the steepest fitted neighbour of higher intensity.

        A sample that was fitted has the label that the fit gave it. With ``noise``, new samples farther out than the
        fitted noise are -1; so is a new row of a graph without a neighbour.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With precomputed distances: (n_samples, n_fitted), to the fitted samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._describe(X).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of samples in all clusters: rows sum to 1 and are largest at the sample's own cluster.

        A sample halfway between its peak and the lowest sample of its local cluster keeps three quarters for its own
        cluster at least; the rest goes where the boundary pairs of its local cluster lead. They tell how near a sample
        is to another cluster; they are not calibrated probabilities. Samples must be dense here, whatever was fitted.
        """
        check_is_fitted(self)
        if (
            issparse(X) and self._reference.metric != GRAPH
        ):  # scikit-learn's check of sparse input takes us for a classifier
            raise TypeError("predict_proba takes no sparse X. Use X.toarray(), in parts where there are many rows.")
        return self._memberships(self._describe(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log intensity of samples, new and fitted alike."""
        return self._describe(X).log_intensity

    def _describe(self, X: Any) -> Described:
        check_is_fitted(self)
        check_n_jobs(self.n_jobs)
        with np.errstate(all="ignore"):  # new samples may be as far away as they like
            samples = self._check_samples(X, reset=False)
            return describe_samples(self._reference, samples, self._cache, n_jobs=self.n_jobs)

    def _fitted(self, rows: Any = slice(None)) -> Described:
        """What the fit found of samples."""
        local = self.local_labels_[rows]
        return Described(
            self.labels_[rows], self.edge_cut_.labels[local], local, self.log_intensity_[rows],
            self.outlier_scores_[rows], self.parents_[rows],
        )  # fmt: skip

    def _memberships(self, described: Described) -> NDArray[np.float64]:
        if "levels" not in self._cache:
            reference = self._reference
            self._cache["levels"] = levels_of(reference.log_intensity, reference.local_labels, len(reference.clusters))
        return memberships(self.topo_graph_, self.edge_cut_, self._cache["levels"], described)

    def cut(self, *, n_clusters: int | None = None, proportions: ArrayLike | str | None = None) -> NDArray[np.int64]:
        """Labels for another number or other proportions, from the fitted topo-graph, without a new search.

        Cuts of the adaptive variant into different numbers of clusters are nested: a cluster of the finer one lies in
        one of the coarser. Constraints and noise of the fit hold.

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
        labels = cut_again(
            self.topo_graph_, self._hierarchy, number, prior, variant=self._variant,
            local_labels=self._reference.local_labels, constraints=self._constraints,
        )  # fmt: skip
        self._warn_of_missing_clusters(int(labels.max()) + 1, number, stacklevel=3)
        return np.where(self.labels_ < 0, -1, labels[self.local_labels_])

    def save(self, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a ``.npz`` file, without pickle; :meth:`load` reads it."""
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        if not isinstance(self.neighbors, str):
            raise TypeError("A model with an object as neighbors cannot be saved. Set neighbors='exact' after the fit.")
        fitted = {k: v for k, v in self.__dict__.items() if k not in parameters and k not in _NOT_SAVED}
        save_state(path, {"class": "GIT", "parameters": parameters, "fitted": fitted, "notes": notes or {}}, CLASSES)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model that :meth:`save` wrote. A file that is damaged or something else raises an error; none runs code."""
        state = load_state(path, CLASSES)
        try:
            model = cls(**state["parameters"])
            model.__dict__.update(state["fitted"])
            model._cache = {}
            model._check_loaded()
        except Exception as error:
            raise ModelFileError(f"{path} holds no working model: {error}") from None
        return model

    def _check_loaded(self) -> None:
        """Raise where the parts of a loaded model do not fit together."""
        check_n_jobs(self.n_jobs)
        n_samples, n_local = len(self.labels_), len(self.topo_graph_.sizes)
        check_graph_parts(self.topo_graph_, n_samples)
        check_reference(self._reference, n_local, self.n_clusters_, getattr(self, "n_features_in_", 1))
        check_range("labels", self.labels_, -1, self.n_clusters_)
        check_range("local clusters", self.local_labels_, 0, n_local)
        check_range("parents", self.parents_, 0, n_samples)
        if len(self.edge_cut_.labels) != n_local:
            raise ValueError("its local clusters have different numbers of values")
        if not np.isfinite(self.probabilities_).all():
            raise ValueError("it gives no memberships")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_cache" not in state:
            return state
        parameters = self.get_params(deep=False)
        seen: dict[int, Any] = {}
        state["_cache"] = {}
        return {k: v if k in parameters else pack_integers(v, seen) for k, v in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        seen: dict[int, Any] = {}
        super().__setstate__({name: unpack_integers(value, seen) for name, value in state.items()})

    def _is_fitted_prior(self, number: int, prior: NDArray[np.float64] | None) -> bool:
        if prior is None or self._prior is None:
            return number == self.n_clusters_ and prior is self._prior
        return np.array_equal(prior, self._prior)

    def _check_samples(self, X: Any, *, reset: bool) -> Any:
        """Samples as the pipeline takes them."""
        metric = self.metric if reset else self._reference.metric  # set_params may have come in between
        if metric == GRAPH:
            return check_graph(X, n_fitted=None if reset else len(self._reference.labels))
        if issparse(X) and X.dtype.kind == "c":
            raise ValueError("Complex data not supported: X is a sparse matrix of complex numbers.")
        with np.errstate(invalid="ignore", over="ignore"):  # of sums that look for values that are not finite
            try:
                samples = validate_data(
                    self, X, reset=reset, dtype=[np.float64, np.float32], order="C", accept_sparse="csr",
                    ensure_min_samples=2 if reset else 1,
                )  # fmt: skip
            except OverflowError as error:
                raise ValueError(f"X has a value that is too large for a float: {error}") from None
            if reset:
                return check_samples(samples, metric)
            if metric != "precomputed":
                return _as_fitted(samples, self._reference)
        if (samples < 0).any():
            raise ValueError("metric='precomputed' takes distances, got negative values.")
        return samples[:, self._repeated] if hasattr(self, "_repeated") else samples

    def _check_noise(self) -> None:
        noise = self.noise
        if noise is None or (isinstance(noise, str) and noise == "auto"):
            return
        if isinstance(noise, (str, bool)) or not isinstance(noise, Real) or not 0 <= noise < 1:
            raise ValueError(f"noise must be None, 'auto' or a share of the samples from 0 to below 1, got {noise!r}.")

    def _may_repeat(self, weights: NDArray[np.float64]) -> bool:
        """Whether weights are whole numbers, and not so large that repeating rows would take much memory."""
        few = weights.sum() <= max(REPEATED * len(weights), 10_000)
        if self.metric == GRAPH or not few or (weights != np.floor(weights)).any():
            return False
        if weights.sum() < 2:
            raise ValueError("sample_weight must sum to 2 or more where it holds whole numbers.")
        return True

    def _n_stages(self, n_samples: int) -> int:
        if self.variant != "adaptive":
            return 6
        return 3 + (len(neighborhood_sizes(n_samples)) if isinstance(self.n_neighbors, str) else 1)

    def _warn_of_missing_clusters(self, n_found: int, n_wanted: int, *, stacklevel: int) -> None:
        if n_found < n_wanted:
            remedy = f"Use a smaller n_neighbors (now {self.n_neighbors_}) to find more, or ask for fewer clusters."
            if self.n_neighbors_ <= 3:
                remedy = f"There are no more at n_neighbors={self.n_neighbors_}: ask for fewer clusters."
            if self._constraints is not None:
                remedy = "The constraints allow no more: relax them, or ask for fewer clusters."
            what = "cluster" if self._constraints is not None else "intensity peak"
            warnings.warn(
                f"Found {n_found} {what}{'s' if n_found > 1 else ''} where {n_wanted} clusters were asked "
                f"for. {remedy}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric not in ("precomputed", "haversine")
        tags.non_deterministic = False
        return tags


_PIPELINE_OPTIONS = ("n_clusters", "proportions", "n_neighbors", "variant", "metric", "scale", "neighbors", "n_jobs")
_OF_CALLBACKS = ("_skl", "_callback", "_parent_callback")
_NOT_SAVED = ("_cache", "_skl_callbacks", "_metadata_request")


def _as_fitted(samples: Any, reference: Reference) -> Any:
    """New samples in the format and precision of the fitted ones."""
    if issparse(reference.points):
        samples = tidy_rows(samples)
    elif issparse(samples):
        samples = samples.toarray()
    return samples.astype(reference.points.dtype, copy=False)
