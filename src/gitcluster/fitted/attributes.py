"""What estimators share: the attributes of a fit, all read from its :class:`Clustering`, and the cuts of it."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import EdgeCut
from gitcluster.fitted.clustering import Clustering, Table
from gitcluster.fitted.cutting import cut_again, is_fitted_prior
from gitcluster.inputs.columns import Columns
from gitcluster.prior.proportions import resolve_proportions
from gitcluster.topo_graph import TopoGraph

WELL, WEAKLY = 0.8, 0.5
"""Agreement from which on a clustering is firm, and below which it is weak."""
_OF_CALLBACKS = ("_skl", "_callback", "_parent_callback")


def _found(name: str, doc: str, *, part: str = "") -> Any:
    """A property that reads what a fit found; an AttributeError where there is no such thing."""

    def read(self: Any) -> Any:
        value = getattr(self.clustering_, name)
        if value is None:
            raise AttributeError(f"this fit has no {name}: the variant, or what was asked for, does not need it")
        return getattr(value, part) if part else value

    read.__doc__ = doc
    return property(read)


class ClusteringAttributes:
    """Attributes of a fitted estimator, which has its :class:`Clustering` as ``clustering_``."""

    clustering_: Clustering

    labels_: NDArray[np.int64] = _found("labels", "Cluster of every sample.")
    local_labels_: NDArray[np.int64] = _found("local_labels", "Local cluster of every sample.")
    parents_: NDArray[np.int64] = _found("parents", "The next sample uphill of every sample.")
    log_intensity_: NDArray[np.float64] = _found("log_intensity", "Logarithm of the intensity of every sample.")
    outlier_scores_: NDArray[np.float32] = _found("outlier_scores", "How far out every sample is.")
    proportions_: NDArray[np.float64] = _found("proportions", "Share of every cluster.")
    peaks_: NDArray[np.int64] = _found("peaks", "Sample at the peak of every local cluster.")
    topo_graph_: TopoGraph = _found("topo_graph", "Weighted graph of local clusters.")
    edge_cut_: EdgeCut = _found("edge_cut", "Kept and cut edges, final cluster of every local cluster.")
    hierarchy_: NDArray[np.float64] = _found("hierarchy", "Merges of local clusters as a linkage.", part="linkage")
    selection_: Table = _found("selection", "Candidates and their scores.")
    n_clusters_scores_: Table = _found("n_clusters_scores", "Numbers of clusters and their scores.")
    representation_: str = _found("representation", "How the features were looked at.")
    representations_: Table = _found("representations", "Ways to look at the features and their scores.")
    columns_: Columns = _found("columns", "What was done with every column of a data frame.")
    n_clusters_: int = _found("n_clusters", "Number of clusters found.")
    n_neighbors_: int = _found("n_neighbors", "Neighbours used.")
    n_connected_components_: int = _found("n_connected_components", "Connected components of the graph of neighbours.")
    neighbors_recall_: float = _found("recall", "Share of the true nearest neighbours that the search found.")

    @property
    def agreement_(self) -> float:
        """How well the chosen clustering agrees with all that were compared with it, from 0 to 1."""
        table = self.selection_
        return float(table["agreement"][table["chosen"]][0])

    @contextmanager
    def _unchanged_where_it_fails(self) -> Iterator[None]:
        """An earlier fit stays as it was where the next one fails."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            kept = {name: value for name, value in self.__dict__.items() if name.startswith(_OF_CALLBACKS)}
            self.__dict__.clear()
            self.__dict__.update(before | kept)
            raise

    def _cut_local_clusters(self, n_clusters: int | None, proportions: ArrayLike | str | None) -> Array | None:
        """Final cluster of every local cluster for another prior; None where it is that of the fit."""
        found = self.clustering_
        number, prior = resolve_proportions(n_clusters, proportions, n_samples=found.n_samples)
        if number is None:
            raise ValueError("n_clusters or proportions must be given, got neither.")
        labels = None if is_fitted_prior(found, number, prior) else cut_again(found, number, prior)
        n_found = found.n_clusters if labels is None else int(labels.max()) + 1
        self._warn_of_missing_clusters(n_found, number, stacklevel=4)
        return labels

    def _warn_of_missing_clusters(self, n_found: int, n_wanted: int | None, *, stacklevel: int) -> None:
        """Warn if there are fewer or more clusters than were requested."""
        if n_wanted is None or n_found == n_wanted:
            return
        if n_found > n_wanted:  # the authors' code leaves clusters that no cut edge leads out of
            warnings.warn(
                f"Found {n_found} clusters where {n_wanted} were asked for, because variant='authors' keeps leftover "
                "clusters without a cut edge. Use variant='paper' for exactly this number.",
                ConvergenceWarning,
                stacklevel=stacklevel + 1,
            )
            return
        k, tied = self.clustering_.n_neighbors, self.clustering_.ties is not None
        remedy = f"Use a smaller n_neighbors (now {k}) to find more, or ask for fewer clusters."
        if k <= 3:
            remedy = f"There are no more at n_neighbors={k}: ask for fewer clusters."
        if tied:
            remedy = "The constraints allow no more: relax them, or ask for fewer clusters."
        what = f"{'cluster' if tied else 'intensity peak'}{'s' if n_found > 1 else ''}"
        warnings.warn(
            f"Found {n_found} {what} where {n_wanted} clusters were asked for. {remedy}",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_empty_clusters(labels: Array, n_clusters: int, reason: str, *, stacklevel: int) -> None:
    """Warn if some of the clusters have no samples."""
    empty = np.flatnonzero(np.bincount(labels[labels >= 0], minlength=n_clusters) == 0)
    if len(empty):
        names = ", ".join(map(str, empty[:5].tolist())) + (", ..." if len(empty) > 5 else "")
        warnings.warn(
            f"{len(empty)} of {n_clusters} clusters have no samples ({names}): {reason}",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def agreement_words(agreement: float) -> str:
    """How firm a clustering is, and what to do where it is not.

    Examples
    --------
    >>> agreement_words(0.93)
    'The candidates agree well (0.93 of 1).'
    """
    told = f"({agreement:.2f} of 1)"
    if agreement >= WELL:
        return f"The candidates agree well {told}."
    if agreement >= WEAKLY:
        return f"The candidates agree in part {told}: look at other numbers of clusters too."
    return (
        f"The candidates hardly agree {told}: the answer is weak. Give the number or proportions of the clusters if "
        "they are known, or leave out columns that have nothing to do with the groups."
    )


def number_words(scores: Table) -> str:
    """The numbers of clusters that come first, second and third, and how sure the first one is.

    Examples
    --------
    >>> columns = {"n_clusters": [1, 2, 5], "rank": [0, 2, 1], "confidence": [0, 0.25, 0.75]}
    >>> number_words({name: np.array(values) for name, values in columns.items()})
    '5, or else 2 (confidence 0.75 of 1)'
    """
    if len(scores["n_clusters"]) == 1:
        return f"{scores['n_clusters'][0]} (no other is possible)"
    order = [int(np.flatnonzero(scores["rank"] == place)[0]) for place in range(1, int(scores["rank"].max()) + 1)]
    ranked = ", or else ".join(
        str(scores["n_clusters"][i]) for i in order if i == order[0] or scores["confidence"][i] > 0
    )
    return f"{ranked} (confidence {scores['confidence'][order[0]]:.2f} of 1)"


def apply_cut(found: Clustering, labels: Array | None) -> Array:
    """Labels of samples from those of local clusters; noise stays noise."""
    if labels is None:
        return np.asarray(found.labels.copy())
    return np.where(found.labels < 0, -1, labels[found.local_labels])
