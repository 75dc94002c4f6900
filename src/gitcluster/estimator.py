"""The scikit-learn estimator."""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from gitcluster._support.progress import CallbackSupportMixin, Counter, Progress, with_callbacks
from gitcluster._support.validation import check_n_jobs, check_sample_weight
from gitcluster.comparison import continue_numbers
from gitcluster.constraints import gather_constraints
from gitcluster.edge_cutting import resolve_proportions
from gitcluster.edits import Replay, read_all, refit_edited
from gitcluster.fitted.attributes import ClusteringAttributes, warn_of_empty_clusters
from gitcluster.fitted.clustering import Clustering, check_names, clustering_of
from gitcluster.fitted.cutting import Layer, find_layers
from gitcluster.fitted.explanation import PairExplanation, SampleExplanation, explain
from gitcluster.fitted.exports import Frames, to_networkx, to_pandas
from gitcluster.fitted.memberships import memberships, own_shares, score_closedness
from gitcluster.fitted.persistence import load_model, save_model
from gitcluster.fitted.prediction import SamplePrediction, predict_samples
from gitcluster.fitted.profiles import Profile, profile
from gitcluster.fitted.stability import Stability
from gitcluster.fitted.summary import summarize
from gitcluster.fitted.warnings import column_notes, warn_of_columns
from gitcluster.pipeline import N_REPORTS, git_clusters
from gitcluster.preprocessing.sources import (
    Distances,
    NeighborGraph,
    Points,
    Source,
    as_floats,
    check_source,
    is_pairwise,
    takes_sparse,
)
from gitcluster.preprocessing.tables import (
    FrameFeatures,
    as_frame,
    column_names,
    is_numeric,
    learn_table,
    native_frame,
    read_table,
    refuse_containers,
    row_labels,
)
from gitcluster.resampling import measure_stability


class GIT(ClusteringAttributes, CallbackSupportMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering based on the graph of intensity topology.

    Samples climb to intensity peaks and form local clusters. The boundary pairs between local clusters define a
    weighted graph. Local clusters are merged along its strong edges, guided by expected proportions if given.
    The fit is deterministic and has no ``random_state``.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" (adaptive variant only) selects it, from 1 to 60 or 2 sqrt(n_samples), whichever is
        less.
    proportions : array-like of shape (n_clusters,) or "equal", default=None
        Expected shares of the clusters in any order and scale: ``[1, 0.5, 0.1]``, or counts. Without them, the
        adaptive variant makes no assumption about sizes, and the other two assume equal shares.
    n_neighbors : int or "auto", default="auto"
        Number of nearest neighbours, not counting the sample itself. "auto" compares several numbers and keeps the
        clustering that agrees best with the others. The two published variants use 8.
    variant : {"adaptive", "paper", "authors"}, default="adaptive"
        "adaptive" needs no tuning. "paper" is the paper's method with every distance scaled. "authors" is the code
        behind the published figures. "paper-literal" and "paper-algorithm2" are other readings of the paper's text.
    metric : str, default="euclidean"
        "euclidean" scales the features, see ``scale``. Any other metric of
        :class:`sklearn.neighbors.NearestNeighbors` uses the data as they are. "precomputed" takes X as a matrix of
        distances. "precomputed_graph" takes X as a sparse matrix of the nearest distances
        (``kneighbors_graph(mode="distance")``, ``adata.obsp["distances"]``), or as ``(indices, distances)`` of any
        index. Rows may have different lengths, and the graph need not be connected.
    scale : {"auto", "std", "components"}, None or array-like of shape (n_features,), default="auto"
        Feature scaling. "auto" compares several representations (unscaled, divided by standard deviations or by
        ranges, power-transformed, principal components, balanced categories) and keeps the clustering they agree on
        best. With many samples, a subsample decides. "std" divides by standard deviations, so that units never matter.
        "components" then uses the principal components with 90 % of the variance. None uses the features as they are.
        An array multiplies the features. All but None and arrays need the Euclidean metric; the published variants
        use "std" for "auto".
    search : {"auto", "exact", "approximate"}, default="auto"
        Neighbour search. "approximate" is neighbour descent, for dense samples with the metrics "euclidean" and
        "cosine"; other input is searched exactly. "auto" uses it if it is clearly faster. To use an index of another
        package, pass its neighbours with ``metric="precomputed_graph"``.
    noise : float or "auto", default=None
        Share of samples to label -1, those with the highest outlier scores. "auto" labels those far outside the usual
        range. By default every sample has a cluster.
    min_cluster_size, max_cluster_size : int, default=None
        Bounds on the number of samples in a cluster, before noise is removed (adaptive variant only).
    columns : dict, default=None
        Kinds of columns of a data frame by name: "numeric", "log", "categorical", "ordinal" (or a list of its values
        in order), "date" or "ignore". Other kinds are recognised, see ``columns_``. A frame of numbers only is
        treated like an array, unless ``columns`` or ``weights`` is given.
    weights : dict, default=None
        Factors of the distances in columns of a data frame, by name; 0 drops a column.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn. The labels do not depend on it.
    verbose : bool or callable, default=False
        Whether to write every stage and its seconds to the standard error stream. A function is called with the name
        of every stage when it begins. From scikit-learn 1.9 on,
        ``model.set_callbacks(sklearn.callback.ProgressBar())`` shows a progress bar.

    Attributes
    ----------
    clustering_ : Clustering
        All results of the fit in one object, from which the attributes below are read.
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample; 0 is the largest cluster, unless ``previous`` or ``edits`` were given; -1 is noise.
    cluster_ids_ : ndarray of shape (n_clusters,)
        Number of every cluster in ``labels_``, ascending; ``proportions_`` and the columns of ``predict_proba`` follow
        this order.
    cluster_names_ : dict
        Names of clusters by number. Assign a dict to set them: ``model.cluster_names_ = {0: "regular"}``.
    probabilities_ : ndarray of shape (n_samples,)
        Membership of every sample in its cluster, from a half at the boundary to 1; 0 for noise.
    outlier_scores_ : ndarray of shape (n_samples,)
        1 - 1 / r if the neighbourhood of a sample is r > 1 times as wide as those of its neighbours, otherwise 0.
    n_clusters_ : int
        Number of clusters: the requested number, unless there are fewer intensity peaks. The authors' variant may
        return more.
    proportions_ : ndarray of shape (n_clusters,)
        Share of every cluster.
    intensity_, log_intensity_ : ndarray of shape (n_samples,)
        Intensity of every sample; use the logarithm if the intensity underflows.
    local_labels_, parents_ : ndarray of shape (n_samples,)
        Local cluster of every sample, and the next sample uphill; a peak is its own parent.
    peaks_ : ndarray of shape (n_local_clusters,)
        Sample at the peak of every local cluster, highest first.
    topo_graph_ : TopoGraph
        Weighted graph of local clusters.
    edge_cut_ : EdgeCut
        Kept and cut edges, final cluster of every local cluster, distances to the prior.
    hierarchy_ : ndarray of shape (n_local_clusters - 1, 4)
        Adaptive variant: the merges of local clusters as a linkage for :mod:`scipy.cluster.hierarchy`.
    n_neighbors_, n_connected_components_ : int
        Number of neighbours used, and of connected components of the neighbour graph.
    neighbors_recall_ : float
        Share of the true nearest neighbours that the search returned; 1 if it is exact, else an estimate.
    selection_ : dict of ndarrays
        Adaptive variant: a table of all candidates with their number of neighbours and scores;
        ``pandas.DataFrame(model.selection_)`` shows it. With more than 5,000 samples, the candidates are those of a
        subsample, and with rounded values those of copies with noise. If the candidates disagree, Ward's linkage,
        k-means and a Gaussian mixture have rows too, and ``agreement`` is the mean over these methods.
    agreement_ : float
        Adaptive variant: agreement of the selected clustering with the other candidates, from 0 to 1. Below 0.5 the
        result is weak.
    representation_, representations_ : str, dict of ndarrays
        Adaptive variant: the selected representation of the features, and a table of all with their scores or the
        reasons for leaving them out.
    n_clusters_scores_ : dict of ndarrays
        With ``n_clusters="auto"``: a table of every number of clusters and its score; the highest wins. ``rank``
        is 1, 2 and 3 for the best numbers that differ by a factor of 1.5 or more. ``conductance`` is near 0 for closed
        clusters, and ``valley`` is the share of samples in clusters with a density valley around them. ``families`` is
        the agreement between different clustering methods, NaN if they did not vote.
    columns_ : Columns
        After a fit on a data frame: the use of every column; ``print`` it.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)

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
        scale: ArrayLike | str | None = "auto",
        search: str = "auto",
        noise: float | str | None = None,
        min_cluster_size: int | None = None,
        max_cluster_size: int | None = None,
        columns: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        n_jobs: int | None = None,
        verbose: Any = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.metric = metric
        self.scale = scale
        self.search = search
        self.noise = noise
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.columns = columns
        self.weights = weights
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
        previous: Any = None,
        edits: Any = None,
    ) -> Self:
        """Cluster ``X``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or distances, see ``metric``.
        y : array-like of shape (n_samples,), default=None
            Partial labels: samples with the same label share a cluster, samples with different labels do not; -1 is
            unknown. Clusters keep their own numbers. A ``y`` without any -1 is ignored, as in every clusterer
            of scikit-learn.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of every sample in intensities, sizes, connections and proportions. Integers equal repeated rows.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of samples that must share a cluster, or must not (adaptive variant only).
        previous : GIT, default=None
            An earlier model, fitted to some of these rows or to similar ones. Clusters keep the numbers and names of
            the earlier clusters that they continue, see :func:`gitcluster.compare`; other clusters get new numbers.
            The clusters themselves do not change.
        edits : path, dict or list of them, default=None
            Files of edits that the explorer saved, applied in this order (adaptive variant only). The index of the data
            frame identifies rows. An edit is skipped with a warning if its rows are gone or in several clusters.
            Edits take precedence over constraints.

        Returns
        -------
        self : GIT
        """
        with self._unchanged_if_it_fails(), np.errstate(all="ignore"):
            X = native_frame(X)
            source, table, scale = self._read(X)
            weights = check_sample_weight(sample_weight, source.n_samples)
            number, _ = resolve_proportions(self.n_clusters, self.proportions, n_samples=source.n_samples)
            constraints = gather_constraints(
                source.n_samples,
                y=y,
                must_link=must_link,
                cannot_link=cannot_link,
                min_cluster_size=self.min_cluster_size,
                max_cluster_size=self.max_cluster_size,
                n_clusters=number,
                total=float(source.n_samples if weights is None else weights.sum()),
            )
            earlier, read = self._check_previous(previous), read_all(edits)
            begin = getattr(self, "_init_callback_context", None)  # scikit-learn 1.9 or newer
            progress = Progress(self, None if begin is None else begin(max_subtasks=N_REPORTS))
            options: dict[str, Any] = {
                "variant": self.variant,
                "metric": self.metric,
                "search": self.search,
                "noise": self.noise,
                "sample_weight": weights,
                "n_jobs": self.n_jobs,
            }
            clustering = git_clusters(
                source,
                n_clusters=self.n_clusters,
                proportions=self.proportions,
                n_neighbors=self.n_neighbors,
                scale=scale,
                constraints=constraints,
                report=progress.begin,
                **options,
            )
            described = getattr(self, "feature_names_in_", None), table, row_labels(X)
            clustering = clustering.with_names(*described)
            skipped: list[str] = []
            if earlier is not None and not (read and clustering_of(earlier).edits):
                clustering = continue_numbers(clustering, earlier, X)
            if read:
                replay = Replay(clustering)
                for one in read:
                    replay.apply(one)
                skipped = replay.skipped
                edited = refit_edited(source, clustering, replay, **options)
                clustering, number = edited.with_names(*described), None
                if earlier is not None and clustering_of(earlier).edits:  # its numbers are those of edited clusters
                    clustering = continue_numbers(clustering, earlier, X)
            self.clustering_ = clustering
            self.__dict__.pop("notes_", None)  # of an earlier fit that was loaded
            progress.end()
            for words in skipped:
                warnings.warn(f"An edit was skipped: {words}.", stacklevel=3)
            self._warn_of_missing_clusters(clustering.n_clusters, number, stacklevel=3)
            warn_of_empty_clusters(clustering.labels, clustering.n_clusters, stacklevel=3)
            if table is not None:
                warn_of_columns([*table.notes, *column_notes(table.columns, table.matrix, clustering.labels)])
        return self

    def _check_previous(self, previous: Any) -> Any:
        """Return the earlier model; raise an error unless it is a model of the same metric."""
        if previous is not None:
            clustering_of(previous).fitted  # noqa: B018 - raises after a distributed fit
            if getattr(previous, "metric", self.metric) != self.metric:
                raise ValueError(f"previous must be a model with metric={self.metric!r}, got {previous.metric!r}.")
        return previous

    def _read(self, X: Any) -> tuple[Source, FrameFeatures | None, Any]:
        """Return the checked data, the features of a data frame, and the scale to use."""
        validate = partial(validate_data, self, reset=True)
        if self.metric in (Distances.metric, NeighborGraph.metric):
            return check_source(X, self.metric, validate=validate), None, self.scale
        refuse_containers(X)
        check = partial(as_floats, validate=validate, allow_nan=True)
        table = learn_table(X, self.columns, self.weights, check, n_jobs=self.n_jobs)
        if table is None:
            return check_source(X, self.metric, validate=validate), None, self.scale
        columns, source = table.columns, check_source(table.matrix, self.metric)
        assert isinstance(source, Points)
        if columns.encoded or not is_numeric(X):
            names = column_names(X)
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        if not columns.encoded:
            return replace(source, named=True), table, self.scale
        if self.scale is not None and not isinstance(self.scale, str):
            raise ValueError(
                "scale must be None or a string for a data frame with text columns. Use weights={name: 0.5}."
            )
        kinds = columns.feature_kinds
        if self.metric == "euclidean":
            return replace(source, kinds=kinds, named=True), table, self.scale
        return source, table, kinds.weight.tolist() if self.weights else self.scale

    def fit_predict(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.int64]:
        """Cluster ``X`` and return the labels; the parameters are those of :meth:`fit`."""
        return np.asarray(self.fit(X, y, **fit_params).labels_)

    @property
    def intensity_(self) -> NDArray[np.float64]:
        """Intensity of every sample."""
        return np.asarray(np.exp(self.log_intensity_))

    @property
    def cluster_names_(self) -> Mapping[int, str]:
        """Names of clusters by their numbers; assign a dict to set them."""
        return MappingProxyType(self.clustering_.cluster_names)

    @cluster_names_.setter
    def cluster_names_(self, names: Mapping[int, str]) -> None:
        check_is_fitted(self)
        self.clustering_ = self.clustering_.named(check_names(names, self.cluster_ids_))

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """Membership of every sample in its cluster."""
        return own_shares(self.clustering_)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the clusters of samples; a new one joins its steepest fitted neighbour of higher intensity.

        Fitted samples keep their labels. With ``noise``, new samples farther out than the fitted noise are -1. So is a
        new row of a graph without a neighbour.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With precomputed distances: (n_samples, n_fitted), to the fitted samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.predict_samples(X).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the memberships of samples in all clusters; rows sum to 1 and are largest at the sample's cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_clusters)

        Notes
        -----
        Halfway between its peak and the lowest sample of its local cluster, a sample has a membership of at least 0.75
        in its own cluster. The rest goes to the clusters to which the boundary pairs of its local cluster lead. Far
        from all fitted samples, memberships shrink towards equal shares; ``predict_samples(X).support`` is 1 if they
        do not. Memberships are not calibrated probabilities. ``X`` must be dense, even after a sparse fit.
        """
        check_is_fitted(self)
        if issparse(X) and not isinstance(self.clustering_.source, NeighborGraph):
            raise TypeError("predict_proba does not support sparse X. Use X.toarray().")
        clustering = self.clustering_  # one object, in case another thread fits meanwhile
        return memberships(clustering, self._predict(X, clustering))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log intensity of new or fitted samples."""
        return self.predict_samples(X).log_intensity

    def score(self, X: Any, y: Any = None) -> float:
        """Return how well separated the clusters are on new or fitted samples; higher is better.

        The score is the entropy of the cluster sizes, reduced by the conductance of the clusters. A single cluster has
        the score 0. ``GridSearchCV`` can select models by this score. ``y`` is ignored.
        """
        check_is_fitted(self)
        clustering = self.clustering_
        with np.errstate(all="ignore"):
            samples = self._check_new(X, clustering)
            prediction = predict_samples(clustering.fitted, samples, n_jobs=self.n_jobs)
            return score_closedness(clustering, samples, prediction, n_jobs=self.n_jobs)

    def predict_samples(self, X: Any) -> SamplePrediction:
        """Return labels, local clusters, log intensity, outlier scores and support of new or fitted samples."""
        check_is_fitted(self)
        clustering = self.clustering_
        prediction = self._predict(X, clustering)
        labels, clusters = map(clustering.to_ids, prediction[:2])
        return prediction._replace(labels=labels, clusters=clusters)

    def _predict(self, X: Any, clustering: Clustering) -> SamplePrediction:
        with np.errstate(all="ignore"):  # new samples may be arbitrarily far away
            return predict_samples(clustering.fitted, self._check_new(X, clustering), n_jobs=self.n_jobs)

    def _check_new(self, X: Any, clustering: Clustering) -> Any:
        """Return new samples, checked and encoded like the fitted ones."""
        check_n_jobs(self.n_jobs)
        columns, validate = clustering.columns, partial(validate_data, self, reset=False)
        if columns is not None and clustering.donors is not None and (columns.encoded or as_frame(X) is not None):
            X = native_frame(X)
            if not columns.encoded and is_numeric(X):
                validate_data(self, X, reset=False, skip_check_array=True)  # checks the names
            table = read_table(X, columns, clustering.donors, n_jobs=self.n_jobs)
            warn_of_columns(table.notes)
            X, validate = table.matrix, check_array
        else:
            refuse_containers(X)
        return clustering.source.check_new(X, validate)

    def cut(self, n_clusters: int | None = None, *, proportions: ArrayLike | str | None = None) -> NDArray[np.int64]:
        """Return labels for another number or other proportions, from the fitted topo-graph.

        Cuts of the adaptive variant into different numbers of clusters are nested: each cluster of the finer cut lies
        in one cluster of the coarser cut. Constraints and noise of the fit hold. With ``min_cluster_size`` or
        ``max_cluster_size``, local clusters may move between clusters, so cuts need not be nested.

        Parameters
        ----------
        n_clusters : int, default=None
        proportions : array-like of shape (n_clusters,) or "equal", default=None

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        clustering = self.clustering_
        clusters = self._cut_local_clusters(n_clusters, proportions)
        if clusters is None:
            return self.labels_.copy()
        labels = np.where(clustering.labels < 0, -1, clusters[clustering.local_labels])
        warn_of_empty_clusters(labels, int(clusters.max()) + 1, stacklevel=2)
        return labels

    def layers(self, n_clusters: Iterable[int] | None = None) -> list[Layer]:
        """Return clusterings for the few numbers of clusters that the data support, from coarse to fine.

        Every cluster lies in one cluster of the layer before. Links of the fit hold in every layer;
        ``min_cluster_size`` and ``max_cluster_size`` hold in the layer with the number of clusters of the fit.

        Parameters
        ----------
        n_clusters : iterable of int, default=None
            Numbers of clusters of the layers. By default that of the fit and the next best of ``n_clusters_scores_``.

        Returns
        -------
        layers : list of Layer
            Each with ``labels``, ``parents`` (clusters of the layer before), ``names``, ``sizes`` and ``score``;
            :func:`gitcluster.plots.plot_layers` draws them.
        """
        check_is_fitted(self)
        layers = find_layers(self.clustering_, n_clusters)
        for layer in layers:
            warn_of_empty_clusters(layer.labels, layer.n_clusters, stacklevel=2)
        return layers

    def explain(
        self, i: Any, j: Any = None, *, X: Any = None, details: bool = False
    ) -> SampleExplanation | PairExplanation:
        """Explain why sample ``i`` is in its cluster, or why ``i`` and ``j`` share a cluster or not.

        Parameters
        ----------
        i, j : int or label
            Samples by row. After a fit on a data frame whose index is not 0, 1, 2, ...: labels of the index. If the
            index is not an integer index, row positions also work.
        X : data frame or array-like, default=None
            The fitted samples, to show the values of the table; by default values are restored from the model. Only
            columns that the clustering used are compared.
        details : bool, default=False
            Whether to include peaks, local clusters and edges of the topo-graph.

        Returns
        -------
        explanation : SampleExplanation or PairExplanation
            ``print`` it; ``differences``, ``memberships`` and ``path`` have the details.
        """
        check_is_fitted(self)
        return explain(self.clustering_, i, j, X=X, details=details)

    def profile(self, X: Any = None, *, rules: bool = True) -> Profile:
        """Compare every cluster with all other rows and with the nearest cluster, column by column.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns), default=None
            A table with the fitted rows; by default the fitted features. If X is a data frame, only columns used for
            clustering are compared, and the others are listed. If it has none of them, all its columns are compared.
        rules : bool, default=True
            Whether to learn a few rules for every cluster.

        Returns
        -------
        profile : Profile
            ``print`` it, or see it in a notebook; ``to_frame()`` and :func:`gitcluster.plots.plot_profile` show it
            as a table and a picture.
        """
        check_is_fitted(self)
        return profile(self.clustering_, X, rules=rules)

    def summary(self) -> str:
        """Return the result in plain sentences: data, groups, certainty and the next step.

        After :meth:`stability`, the summary includes its result.
        """
        check_is_fitted(self)
        return summarize(self.clustering_)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the summary of a fitted model and scikit-learn's diagram, for notebooks."""
        from sklearn.utils import estimator_html_repr  # slow to import

        bundle = {"text/plain": repr(self), "text/html": estimator_html_repr(self)}
        if hasattr(self, "clustering_"):
            text = self.summary()
            bundle["text/plain"] = f"{text}\n{bundle['text/plain']}"
            bundle["text/html"] = f"<p>{escape(text)}</p>{bundle['text/html']}"
        return bundle

    def stability(self, X: Any = None, n_draws: int = 50, *, random_state: Any = 0) -> Stability:
        """Cluster half-samples of the fitted data, to see which clusters another sample would also show.

        Every draw has half of the rows, but at most 1,000 or 50 per cluster, whichever is more. It is clustered with
        the parameters of the fit, without links and size bounds. Some tables with shuffled columns are clustered
        likewise, to measure agreement by chance. Groups that a single column shows survive the shuffling.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, default=None
            The fitted data. Required for precomputed distances, and if the model stores only transformed features.
        n_draws : int, default=50
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.

        Returns
        -------
        stability : Stability
            ``print`` it. :meth:`summary`, :meth:`explain`, the report and the explorer use the last result.

        References
        ----------
        Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis 52, 2007.
        """
        check_is_fitted(self)
        parameters = {name: getattr(self, name) for name in ("variant", "metric", "n_neighbors", "scale")}
        clustering = self.clustering_
        if clustering.columns is not None and clustering.columns.encoded and self.metric != "euclidean":
            parameters["scale"] = clustering.columns.feature_kinds.weight.tolist() if self.weights else self.scale
        show = Counter(self, "stability")
        result = measure_stability(
            clustering, X, parameters=parameters, n_draws=n_draws, random_state=random_state, n_jobs=self.n_jobs,
            report=show,
        )  # fmt: skip
        self.clustering_ = replace(clustering, stability=result)
        return result

    def explore(self, X: Any = None, path: str | os.PathLike[str] = "explorer.html", **options: Any) -> Path:
        """Write one HTML page with the samples, the topo-graph, other cuts and explanations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The fitted samples; by default as the model scaled them. The page shows the columns, and the index of a data
            frame names the samples.
        path : str or path, default="explorer.html"
        **options
            ``embedding``, ``columns``, ``names``, ``title``, ``max_samples``: see
            :func:`gitcluster.explorer.write_explorer`.

        Returns
        -------
        path : Path
        """
        from gitcluster.explorer import write_explorer

        check_is_fitted(self)
        return write_explorer(self.clustering_, X, path, **options)

    def to_pandas(self) -> Frames:
        """Return data frames ``samples``, ``local_clusters`` and ``edges`` as one named tuple.

        ``samples`` has the index of the fitted data frame; peaks and parents are row positions.
        """
        check_is_fitted(self)
        return to_pandas(self.clustering_)

    def to_networkx(self) -> Any:
        """Return the topo-graph as a :class:`networkx.Graph` with attributes of nodes and edges."""
        check_is_fitted(self)
        return to_networkx(self.clustering_)

    def save(self, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model to a ``.npz`` file, without pickle; :meth:`load` reads it.

        Parameters
        ----------
        path : str or path
        notes : dict, default=None
            Numbers, texts, lists and arrays to store in the file; :meth:`load` restores them as ``notes_``. By default
            the ``notes_`` of a loaded model are kept.
        """
        check_is_fitted(self)
        if callable(self.verbose):
            raise TypeError("A model with a function as verbose cannot be saved. Set verbose=False after the fit.")
        fitted = {name: getattr(self, name, None) for name in ("clustering_", "n_features_in_", "feature_names_in_")}
        notes = getattr(self, "notes_", {}) if notes is None else notes
        save_model(path, parameters=self.get_params(deep=False), fitted=fitted, notes=notes)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a model that :meth:`save` wrote. A damaged file raises an error, and no file can run code."""
        loaded: Self = load_model(path, cls)
        return loaded

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise, tags.input_tags.sparse = is_pairwise(self.metric), takes_sparse(self.metric)
        tags.non_deterministic = False
        return tags
