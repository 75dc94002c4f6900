"""The result of a fit, from which predictions, explanations, plots, exports and model files are made."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.names import escape_control
from gitcluster.constraints import LinkConstraints
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.fitted.stability import Stability
from gitcluster.hierarchy import Hierarchy
from gitcluster.preprocessing.sources import Source
from gitcluster.preprocessing.tables import Columns, FrameFeatures, as_frame, read_table
from gitcluster.referees import METHODS
from gitcluster.topo_graph import TopoGraph, rank_edges
from gitcluster.variants import Variant

Table = dict[str, NDArray[Any]]


class ClusterIds(NamedTuple):
    """Numbers and names of clusters that last from one fit to the next."""

    ids: Array
    """(c,) public number of every cluster, ascending."""
    names: tuple[str, ...]
    """(c,) name of every cluster; empty if it has none."""
    next_id: int
    """The first number that no cluster has had in any of the fits."""


class _WithoutCaches:
    """Leaves cached values out of pickles."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TrainingSamples(_WithoutCaches):
    """The fitted samples, with which new ones are compared; in canonical order, unlike those of Clustering."""

    variant: Variant
    n_neighbors: int
    source: Source
    """The fitted data; a matrix of distances is not stored."""
    units: NDArray[np.float64]
    """(m,) unit of the intensity in every local cluster."""
    log_intensity: NDArray[np.float64]
    parents: Array
    """(n,) the next sample uphill; a peak is its own."""
    local_labels: Array
    clusters: Array
    """(m,) final cluster of every local cluster."""
    labels: Array
    """(n,) final cluster of every sample, -1 for noise."""
    widths: NDArray[np.float32]
    """(n,) mean distance to the neighbours."""
    outlier_scores: NDArray[np.float32]
    noise_above: float
    """Outlier score above which a sample is noise."""
    weights: NDArray[np.float64] | None = None
    rows: Array | None = None
    """(n,) given sample behind every fitted one; None if both have the same order."""
    copies: Array | None = None
    """(n_given,) the fitted sample that a given one is, -1 if its weight is 0; None if both have the same order."""

    @cached_property
    def _matcher(self) -> Any:
        return self.source.matcher(self.local_labels, self.labels)

    def match(self, new: Any) -> Array:
        """Return the fitted sample that equals each new one, or -1.

        Links may separate duplicates. The fitted data as a whole are therefore recognised sample by sample; otherwise
        the choice between duplicates does not depend on their order.
        """
        copies = np.arange(self.source.n_samples) if self.copies is None else self.copies
        there = copies >= 0
        if new.shape[0] != len(copies) or not self.source.is_same(new if there.all() else new[there], copies[there]):
            return np.asarray(self._matcher(new))
        match = copies.copy()
        if not there.all():
            match[~there] = self._matcher(new[~there])
        return match

    @cached_property
    def levels(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Highest and lowest log intensity in every local cluster."""
        high, low = np.full(len(self.clusters), -np.inf), np.full(len(self.clusters), np.inf)
        np.maximum.at(high, self.local_labels, self.log_intensity)
        np.minimum.at(low, self.local_labels, self.log_intensity)
        return high, low

    @cached_property
    def mean_width(self) -> float:
        """Mean distance between neighbours."""
        finite = np.isfinite(self.widths)  # a row of a graph may have no neighbour
        return float(self.widths[finite].mean(dtype=np.float64)) if finite.any() else 0.0

    @cached_property
    def far_out(self) -> float:
        """Outlier score above which ``noise="auto"`` labels a sample -1."""
        return noise_threshold(self.outlier_scores.astype(np.float64), "auto")

    def given(self, fitted: Array) -> Array:
        """Return the given samples behind fitted ones."""
        return fitted if self.rows is None else self.rows[fitted]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Clustering(_WithoutCaches):
    """The results of a fit, stage by stage.

    ``GIT`` and ``DaskGIT`` keep one as ``clustering_``. Arrays with one value per sample are Dask arrays after a
    distributed fit.
    """

    variant: Variant
    n_neighbors: int
    """Neighbours used."""
    labels: Array
    """(n,) cluster of every sample; 0 is the largest cluster, -1 is noise."""
    local_labels: Array
    """(n,) local cluster of every sample."""
    parents: Array
    """(n,) the next sample uphill; a peak is its own parent."""
    log_intensity: NDArray[np.float64]
    """(n,) logarithm of the intensity."""
    outlier_scores: NDArray[np.float32]
    """(n,) from 0 to 1."""
    proportions: NDArray[np.float64]
    """(c,) share of every cluster."""
    topo_graph: TopoGraph
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None
    """All merges of local clusters; None for the sweep of the paper."""
    links: LinkConstraints | None
    """Constraints on the local clusters."""
    selection: Table | None
    """All candidates with their scores; None for the sweep of the paper."""
    n_clusters_scores: Table | None
    """All numbers of clusters with their scores, if none was given."""
    recall: float
    """Share of the true nearest neighbours that the search returned; 1 for an exact search."""
    n_connected_components: int
    """Connected components of the graph of neighbours."""
    representation: str = "std"
    """Name of the representation of the features."""
    representations: Table | None = None
    """All representations with their scores, or the reasons for leaving them out."""
    n_requested: int | None = None
    """Requested number of clusters; None if it was chosen."""
    prior: NDArray[np.float64] | None = None
    """Requested shares, largest first."""
    training: TrainingSamples | None = None
    """The fitted samples; None after a distributed fit."""
    feature_names: tuple[str, ...] | None = None
    columns: Columns | None = None
    """Use of the columns of a data frame."""
    index: Array | None = None
    """(n,) labels of the rows of a data frame, integers or texts; None if they are 0, 1, 2, ..."""
    missing: NDArray[np.bool_] | None = None
    """(n, m) features that were imputed; None if none was."""
    donors: NDArray[np.float64] | None = None
    """Rows that missing numbers are imputed from; None after a fit on an array."""
    stability: Stability | None = None
    """Comparison with half-samples, after ``GIT.stability``."""
    identity: ClusterIds | None = None
    """Numbers and names of the clusters; None if they are 0, 1, 2, ... without names."""
    edits: tuple[str, ...] = ()
    """Edits by hand that were applied, in words."""

    @property
    def n_samples(self) -> int:
        """Return the number of given samples."""
        return int(self.labels.shape[0])

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return len(self.edge_cut.sizes)

    @property
    def cluster_ids(self) -> Array:
        """Return the (c,) public number of every cluster; ``labels`` are positions in this array."""
        return np.arange(self.n_clusters) if self.identity is None else self.identity.ids

    @property
    def cluster_names(self) -> dict[int, str]:
        """Return the names of the clusters that have one, by their public numbers."""
        named = () if self.identity is None else zip(self.identity.ids.tolist(), self.identity.names, strict=True)
        return {number: name for number, name in named if name}

    @property
    def next_id(self) -> int:
        """Return the first number that no cluster has had."""
        return self.n_clusters if self.identity is None else self.identity.next_id

    def to_ids(self, labels: Array) -> Array:
        """Return labels with the public numbers of clusters; -1 stays."""
        return labels if self.identity is None else np.append(self.identity.ids, -1)[labels]

    def title_of(self, cluster: int) -> str:
        """Return the name of the cluster at a position, or its public number; "noise" for -1."""
        if self.identity is None or cluster < 0:
            return str(cluster) if cluster >= 0 else "noise"
        return escape_control(self.identity.names[cluster]) or str(self.identity.ids[cluster])

    @property
    def titles(self) -> dict[int, str]:
        """Return the names or numbers of all clusters by their public numbers, noise (-1) included."""
        numbers = [*self.cluster_ids.tolist(), -1]
        return {numbers[c]: self.title_of(c) for c in range(-1, self.n_clusters)}

    def named(self, names: dict[int, str]) -> "Clustering":
        """Return a copy with other names of clusters, by their public numbers."""
        texts = tuple(names.get(number, "") for number in self.cluster_ids.tolist())
        identity = ClusterIds(self.cluster_ids, texts, self.next_id)
        named = replace(self, identity=identity)
        titles = tuple(map(named.title_of, range(named.n_clusters)))
        return replace(named, stability=self.stability and replace(self.stability, titles=titles))

    def numbered(self, ids: Array, names: dict[int, str], next_id: int) -> "Clustering":
        """Return a copy whose clusters have these public numbers, in ascending order."""
        order = np.argsort(ids)
        position = np.append(inverse_order(order), -1)  # noise stays -1
        cut, training = self.edge_cut, self.fitted
        numbered = replace(
            self,
            labels=position[self.labels],
            proportions=self.proportions[order],
            edge_cut=cut._replace(labels=position[cut.labels], sizes=cut.sizes[order]),
            training=replace(training, clusters=position[training.clusters], labels=position[training.labels]),
            stability=None,
            identity=ClusterIds(ids[order], ("",) * len(ids), next_id),
        )
        return numbered.named(names)

    def describe_referee(self) -> str:
        """Return a sentence about the method that the local clusters follow, if it is not GIT; else an empty text."""
        method = None if self.selection is None or self.edits else self.selection["merge"][self.selection["chosen"]][0]
        if method not in METHODS:
            return ""
        return f"The local clusters are merged as by {method}, because GIT's own candidates disagree."

    @property
    def peaks(self) -> Array:
        """Return the sample at the peak of every local cluster, highest first."""
        return self.topo_graph.peaks

    @property
    def source(self) -> Source:
        """Return the fitted data."""
        return self.fitted.source

    @property
    def fitted(self) -> TrainingSamples:
        """Return the fitted samples; an error after a distributed fit."""
        if self.training is None:
            raise ValueError("A distributed fit does not hold its samples in one process. Fit GIT on some of them.")
        return self.training

    def climb(self, sample: int) -> Array:
        """Return the samples from this one to its peak."""
        path = [sample]
        while self.parents[path[-1]] != path[-1]:
            path.append(int(self.parents[path[-1]]))
        return np.array(path)

    def nearest_clusters(self) -> dict[int, int]:
        """Return the cluster with the strongest edge to every cluster; clusters without an edge are left out."""
        nearest: dict[int, int] = {}
        ends = self.edge_cut.labels[self.topo_graph.edges]
        between = np.flatnonzero(ends[:, 0] != ends[:, 1])
        for a, b in ends[between[np.argsort(rank_edges(self.topo_graph)[between])]].tolist():  # the strongest is last
            nearest[a], nearest[b] = b, a
        return nearest

    def with_names(self, names: Any, table: FrameFeatures | None, index: Array | None) -> "Clustering":
        """Return a copy with the names of features, columns and rows, as an estimator keeps it."""
        if table is not None and table.columns.encoded:
            names = table.columns.features
        named = replace(self, feature_names=None if names is None else tuple(map(str, names)), index=index)
        if table is None:
            return named
        return replace(named, columns=table.columns, missing=table.missing, donors=table.donors)

    def name_of(self, sample: int) -> str:
        """Return the label of a sample in the index of the data frame, or its number."""
        return str(sample if self.index is None else self.index[sample])

    def align(self, X: Any) -> Any:
        """Return the table of the fit with its rows in the order of the fit, by the index of a pandas data frame."""
        if self.columns is None or not hasattr(X, "iloc"):
            return X
        fitted = np.arange(self.n_samples) if self.index is None else self.index
        if len(X) != len(fitted) or not X.index.is_unique or np.array_equal(X.index, fitted):
            return X
        order = X.index.get_indexer(fitted)
        if (order < 0).all():  # the table has another index
            return X
        if (order < 0).any():
            raise ValueError(f"X must have the rows of the fit, got none named {fitted[order < 0][0]!r}.")
        if self.index is None:  # row numbers identify rows only if they were not given anew
            raise ValueError(
                "X must have its rows in the order of the fit, got the row numbers in another one. Use X.sort_index(), "
                "or X.reset_index(drop=True) if the rows are in order."
            )
        return X.iloc[order]

    def encode(self, X: Any) -> Any:
        """Return a data frame as the features that were fitted, gaps imputed; anything else as it is."""
        if self.columns is None or self.donors is None or as_frame(X) is None:
            return X
        return read_table(X, self.columns, self.donors).matrix

    def __repr__(self) -> str:
        summary = f"{self.n_clusters} clusters of {self.n_samples:,} samples"
        return f"Clustering({summary}, {len(self.peaks):,} local clusters, {self.n_neighbors} neighbours)"


def check_name(name: Any) -> str:
    """Return the name of a cluster without blanks around it; raise an error if it could be taken for a number."""
    if not isinstance(name, str):
        raise TypeError(f"cluster_names_ must have texts as values, got {name!r}.")
    text: str = name.strip()
    if text.lstrip("-").isdigit() or text.lower() == "noise":
        raise ValueError(f"cluster_names_ must not be numbers or 'noise', got {text!r}.")
    return text


def check_names(names: Any, ids: Array) -> dict[int, str]:
    """Return names of clusters by their numbers, without empty ones."""
    if not isinstance(names, Mapping):
        raise TypeError(f"cluster_names_ must be a dict such as {{0: 'regular'}}, got {type(names).__name__}.")
    if unknown := set(names) - set(ids.tolist()):
        raise ValueError(f"cluster_names_ must have numbers of clusters as keys, got {unknown.pop()!r}.")
    checked = {int(number): name for number, given in names.items() if (name := check_name(given))}
    if len(set(checked.values())) < len(checked):
        raise ValueError(f"cluster_names_ must be different, got {list(checked.values())}.")
    return checked


def clustering_of(model: Any) -> Clustering:
    """Return the clustering of a fitted estimator, or the clustering itself."""
    if isinstance(model, Clustering):
        return model
    if not hasattr(type(model), "labels_"):
        hint = "Use GIT.load(path)" if isinstance(model, (str, PathLike)) else "Fit one: GIT().fit(X)"
        raise TypeError(f"model must be a fitted GIT, got {type(model).__name__}. {hint}.")
    if not isinstance(getattr(model, "clustering_", None), Clustering):
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet. Fit it first: model.fit(X).")
    return model.clustering_  # type: ignore[no-any-return]
