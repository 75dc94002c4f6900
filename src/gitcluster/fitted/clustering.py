"""Clustering: what a fit found. Estimators keep one; predictions, explanations, pictures, exports and files take it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.hierarchy import Hierarchy
from gitcluster.hierarchy.constrained import Ties
from gitcluster.inputs import Input
from gitcluster.inputs.columns import Columns
from gitcluster.inputs.frames import as_frame
from gitcluster.inputs.tables import FrameFeatures, read_table
from gitcluster.recipes import Recipe
from gitcluster.topo_graph import TopoGraph

Table = dict[str, NDArray[Any]]


class _WithoutCaches:
    """State for pickle: the fields, not what was worked out from them."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Reference(_WithoutCaches):
    """Fitted samples, as far as new ones are compared with them."""

    recipe: Recipe
    n_neighbors: int
    source: Input
    """What was fitted; a matrix of distances is not kept."""
    units: NDArray[np.float64]
    """(m,) what the kernel of the intensity divides distances by, in every local cluster."""
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
    """(n,) which given sample every fitted one is, where some count several times; None where all count once."""
    copies: Array | None = None
    """(n_given,) the first of the fitted samples that a given one is, -1 where it has weight 0."""

    @cached_property
    def _matcher(self) -> Any:
        return self.source.matcher(self.local_labels, self.labels)

    def match(self, new: Any) -> Array:
        """The fitted sample that every new one equals, -1 where there is none.

        Duplicates may have different labels where links part them: what was fitted as a whole is known again sample by
        sample; for others, the choice between duplicates does not depend on their order.
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
        """(m,) highest and lowest log intensity in every local cluster."""
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
        """The outlier score from which on a sample is far out among the fitted ones, as ``noise="auto"`` takes it."""
        return noise_threshold(self.outlier_scores.astype(np.float64), "auto")

    def given(self, fitted: Array) -> Array:
        """The given samples that fitted ones are."""
        return fitted if self.rows is None else self.rows[fitted]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Clustering(_WithoutCaches):
    """What a fit found, stage by stage.

    :func:`git_clusters` returns one, ``GIT`` and ``DaskGIT`` keep one as ``clustering_``. Arrays with one value per
    sample are Dask arrays after a distributed fit.
    """

    recipe: Recipe
    """The variant: what every stage did."""
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
    ties: Ties | None
    """Constraints on the local clusters."""
    selection: Table | None
    """All candidates with their scores; None for the sweep of the paper."""
    n_clusters_scores: Table | None
    """All numbers of clusters with their scores, where none was given."""
    recall: float
    """Share of the true nearest neighbours that the search found; 1 for an exact search."""
    n_connected_components: int
    """Connected components of the graph of neighbours."""
    representation: str = "std"
    """How the features were looked at."""
    representations: Table | None = None
    """All ways that were tried, with their scores or the reason why they were left out."""
    n_wanted: int | None = None
    """Number of clusters that was asked for; None where it was chosen."""
    prior: NDArray[np.float64] | None = None
    """Shares that were asked for, largest first."""
    reference: Reference | None = None
    """The fitted samples, for new ones; None after a distributed fit."""
    feature_names: tuple[str, ...] | None = None
    columns: Columns | None = None
    """What was done with the columns of a data frame."""
    index: Array | None = None
    """(n,) labels of the rows of a data frame, integers or texts; None if they are 0, 1, 2, ..."""
    missing: NDArray[np.bool_] | None = None
    """(n, m) features that were imputed; None if none was."""
    donors: NDArray[np.float64] | None = None
    """Rows that missing numbers are imputed from; None after a fit on an array."""

    @property
    def n_samples(self) -> int:
        """Number of samples that were given."""
        return int(self.labels.shape[0])

    @property
    def n_clusters(self) -> int:
        """Number of clusters found."""
        return len(self.edge_cut.sizes)

    @property
    def peaks(self) -> Array:
        """(m,) sample at the peak of every local cluster, highest first."""
        return self.topo_graph.peaks

    @property
    def source(self) -> Input:
        """What was fitted."""
        return self.fitted.source

    @property
    def fitted(self) -> Reference:
        """The fitted samples, or an error after a distributed fit, whose samples are elsewhere."""
        if self.reference is None:
            raise ValueError("The samples of a distributed fit are not in one place. Fit GIT on some of them.")
        return self.reference

    def climb(self, sample: int) -> Array:
        """Samples from this one to its peak.

        Examples
        --------
        >>> from gitcluster import git_clusters
        >>> git_clusters(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_clusters=2).climb(0)
        array([0, 1])
        """
        way = [sample]
        while self.parents[way[-1]] != way[-1]:
            way.append(int(self.parents[way[-1]]))
        return np.array(way)

    def kept(self, names: Any = None, table: FrameFeatures | None = None, index: Array | None = None) -> "Clustering":
        """Return a copy with the names of features, columns and rows, as an estimator keeps it."""
        if table is not None and table.columns.encoded:
            names = table.columns.features
        kept = replace(self, feature_names=None if names is None else tuple(map(str, names)), index=index)
        if table is None:
            return kept
        return replace(kept, columns=table.columns, missing=table.missing, donors=table.donors)

    def name_of(self, sample: int) -> str:
        """What a sample is called: its label in the index of the data frame, else its number."""
        return str(sample if self.index is None else self.index[sample])

    def encode(self, X: Any) -> Any:
        """Return a data frame as the features that were fitted, gaps imputed; anything else as it is."""
        if self.columns is None or self.donors is None or as_frame(X) is None:
            return X
        return read_table(X, self.columns, self.donors).matrix

    def __repr__(self) -> str:
        told = f"{self.n_clusters} clusters of {self.n_samples:,} samples"
        return f"Clustering({told}, {len(self.peaks):,} local clusters, {self.n_neighbors} neighbours)"


def clustering_of(model: Any) -> Clustering:
    """The clustering of a fitted estimator, or the one that is given."""
    if isinstance(model, Clustering):
        return model
    if not hasattr(type(model), "fit"):
        raise TypeError(f"model must be a fitted GIT, got {type(model).__name__}. Fit one: GIT().fit(X).")
    if not isinstance(getattr(model, "clustering_", None), Clustering):
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet. Fit it first: model.fit(X).")
    return model.clustering_  # type: ignore[no-any-return]
