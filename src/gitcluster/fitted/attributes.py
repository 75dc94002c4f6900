"""Attributes and warnings that GIT and DaskGIT share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import EdgeCut, resolve_proportions
from gitcluster.fitted.clustering import Clustering, Table
from gitcluster.fitted.cutting import cut_again, is_fitted_prior
from gitcluster.preprocessing.tables import Columns
from gitcluster.topo_graph import TopoGraph

_OF_CALLBACKS = ("_skl", "_callback", "_parent_callback")


def _result(name: str, doc: str, *, part: str = "") -> Any:
    """Return a property that reads a part of the clustering; an AttributeError if the fit has none."""

    def read(self: Any) -> Any:
        value = getattr(self.clustering_, name)
        if value is None:
            raise AttributeError(f"this fit has no {name}: the variant or the parameters do not need it")
        return getattr(value, part) if part else value

    read.__doc__ = doc
    return property(read)


class ClusteringAttributes:
    """Attributes of a fitted estimator, which has its :class:`Clustering` as ``clustering_``."""

    clustering_: Clustering

    local_labels_: NDArray[np.int64] = _result("local_labels", "Local cluster of every sample.")
    parents_: NDArray[np.int64] = _result("parents", "The next sample uphill of every sample.")
    log_intensity_: NDArray[np.float64] = _result("log_intensity", "Logarithm of the intensity of every sample.")
    outlier_scores_: NDArray[np.float32] = _result("outlier_scores", "How far out every sample is.")
    proportions_: NDArray[np.float64] = _result("proportions", "Share of every cluster.")
    peaks_: NDArray[np.int64] = _result("peaks", "Sample at the peak of every local cluster.")
    topo_graph_: TopoGraph = _result("topo_graph", "Weighted graph of local clusters.")
    edge_cut_: EdgeCut = _result("edge_cut", "Kept and cut edges, final cluster of every local cluster.")
    hierarchy_: NDArray[np.float64] = _result("hierarchy", "Merges of local clusters as a linkage.", part="linkage")
    selection_: Table = _result("selection", "Candidates and their scores.")
    n_clusters_scores_: Table = _result("n_clusters_scores", "Numbers of clusters and their scores.")
    representation_: str = _result("representation", "Name of the representation of the features.")
    representations_: Table = _result("representations", "Representations of the features and their scores.")
    columns_: Columns = _result("columns", "Use of every column of a data frame.")
    n_clusters_: int = _result("n_clusters", "Number of clusters.")
    n_neighbors_: int = _result("n_neighbors", "Neighbours used.")
    n_connected_components_: int = _result("n_connected_components", "Connected components of the graph of neighbours.")
    neighbors_recall_: float = _result("recall", "Share of the true nearest neighbours that the search returned.")

    @property
    def labels_(self) -> NDArray[np.int64]:
        """Cluster of every sample."""
        return self.clustering_.to_ids(self.clustering_.labels)

    @property
    def cluster_ids_(self) -> NDArray[np.int64]:
        """Number of every cluster, ascending."""
        return self.clustering_.cluster_ids

    @property
    def agreement_(self) -> float:
        """Agreement of the chosen clustering with all other candidates, from 0 to 1."""
        table = self.selection_
        return float(table["agreement"][table["chosen"]][0])

    @contextmanager
    def _unchanged_if_it_fails(self) -> Iterator[None]:
        """Restore an earlier fit if the next one fails."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            kept = {name: value for name, value in self.__dict__.items() if name.startswith(_OF_CALLBACKS)}
            self.__dict__.clear()
            self.__dict__.update(before | kept)
            raise

    def _cut_local_clusters(self, n_clusters: int | None, proportions: ArrayLike | str | None) -> Array | None:
        """Return the cluster of every local cluster for another prior; None if it is that of the fit."""
        clustering = self.clustering_
        number, prior = resolve_proportions(n_clusters, proportions, n_samples=clustering.n_samples)
        if number is None:
            raise ValueError("n_clusters or proportions must be given, got neither.")
        labels = None if is_fitted_prior(clustering, number, prior) else cut_again(clustering, number, prior)
        n_clusters = clustering.n_clusters if labels is None else int(labels.max()) + 1
        self._warn_of_missing_clusters(n_clusters, number, stacklevel=4)
        return labels

    def _warn_of_missing_clusters(self, n_clusters: int, n_requested: int | None, *, stacklevel: int) -> None:
        """Warn if there are fewer or more clusters than were requested."""
        if n_requested is None or n_clusters == n_requested:
            return
        if n_clusters > n_requested:  # the authors' code leaves clusters that no cut edge leads out of
            reason = "variant='authors' keeps clusters without a cut edge. Use variant='paper' for exactly this number."
        elif self.clustering_.links is not None:
            reason = "The constraints allow no more. Relax them, or request fewer clusters."
        else:
            k = self.clustering_.n_neighbors
            reason = (
                f"There are no more intensity peaks. Use a smaller n_neighbors (now {k}), or request fewer clusters."
            )
        text = f"Found {n_clusters} clusters instead of {n_requested}. {reason}"
        warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel + 1)


def warn_of_empty_clusters(labels: Array, n_clusters: int, *, stacklevel: int) -> None:
    """Warn if some of the clusters have no samples."""
    n_empty = n_clusters - len(np.unique(labels[labels >= 0]))
    if n_empty:
        text = f"{n_empty} of {n_clusters} clusters have no samples, because all of theirs are noise or duplicates."
        warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel + 1)
