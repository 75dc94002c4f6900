"""Other clusters from one fit, without a new search: another number, other proportions, or layers."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, list_of
from gitcluster._support.validation import check_integer
from gitcluster.constraints import UnmetConstraintsError, balance_sizes, cut_around
from gitcluster.edge_cutting import cut_by_width, cut_edges, equal_shares, share_distance
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import cut_hierarchy

DISTINCT = 1.5
"""Numbers of clusters within this factor of each other count as the same answer."""
SUPPORTED = 0.1
"""Share of the scores of the best numbers that a number of clusters needs for its own layer."""

Prior = NDArray[np.float64] | None


def is_fitted_prior(clustering: Clustering, n_clusters: int, prior: Prior) -> bool:
    """Return whether a number and a prior are those of the fit."""
    if prior is None or clustering.prior is None:
        # the authors' sweep may leave more clusters than its prior of equal shares has
        number = clustering.n_clusters if clustering.hierarchy is not None else clustering.n_requested
        return n_clusters == number and prior is clustering.prior
    return np.array_equal(prior, clustering.prior)


def cut_again(clustering: Clustering, n_clusters: int, prior: Prior) -> Array:
    """Return the cluster of every local cluster for another number or prior; constraints hold.

    With a prior, the nearer one of two candidates is taken: the cut of the hierarchy and the sweep against the prior.
    """
    graph, links = clustering.topo_graph, clustering.links
    if clustering.hierarchy is None:
        shares = equal_shares(n_clusters) if prior is None else prior
        return cut_edges(graph, proportions=shares, leftover=clustering.variant.leftover).labels
    candidates = [_cut_nested(clustering, n_clusters)]
    if prior is not None:
        candidates.append(cut_by_width(graph, prior).labels)
    if links is not None:
        balanced, errors = [], []
        for labels in candidates:
            try:
                balanced += [balance_sizes(graph, labels, links)] if links.are_satisfied(labels) else []
            except UnmetConstraintsError as error:
                errors.append(error)
        if not balanced:
            raise errors[0] if errors else UnmetConstraintsError("No clustering meets the constraints.")
        candidates = balanced
    if prior is None:
        return candidates[0]
    return min(candidates, key=lambda labels: round(share_distance(graph, labels, prior), 12))


def _cut_nested(clustering: Clustering, n_clusters: int) -> Array:
    """Return one of the nested cuts around the clusters of the fit, as the cluster of every local cluster.

    Links hold in all cuts. Bounds on sizes hold in the cut of the fit only.
    """
    if n_clusters == clustering.n_clusters:
        return clustering.edge_cut.labels
    if clustering.links is not None:
        return cut_around(clustering.topo_graph, clustering.links, clustering.edge_cut.labels, n_clusters=n_clusters)
    assert clustering.hierarchy is not None
    return cut_hierarchy(clustering.hierarchy, clustering.topo_graph, n_clusters=n_clusters)


class Layer(NamedTuple):
    """One of several nested clusterings."""

    labels: Array
    """(n,) cluster of every sample; 0 is the largest cluster, -1 is noise."""
    parents: Array
    """(c,) the cluster of the layer above that contains every cluster; -1 in the first layer."""
    names: tuple[str, ...]
    """(c,) path to every cluster: "1.0" is the largest part of cluster 1 of the first layer."""
    sizes: NDArray[np.int64]
    """(c,) number of samples in every cluster."""
    score: float
    """Score of this number of clusters in ``n_clusters_scores_``; NaN if the fit was given a number."""

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return len(self.names)

    def __repr__(self) -> str:
        sizes = [f"{name}: {size:,}" for name, size in zip(self.names, self.sizes.tolist(), strict=True)]
        score = "" if np.isnan(self.score) else f", score {self.score:.2f}"
        return f"<Layer of {count_of(self.n_clusters, 'cluster')}{score}; rows of {list_of(sizes)}>"


def find_layers(clustering: Clustering, numbers: Iterable[int] | None = None) -> list[Layer]:
    """Return nested clusterings from coarse to fine.

    By default there is one for the number of the fit and for each of the next best numbers that differ from it by a
    factor of 1.5 or more. Links hold in every layer. Bounds on sizes hold in the layer of the fit only, because moving
    local clusters between clusters would break the nesting.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from gitcluster.pipeline import git_clusters
    >>> centers = [[0, 0], [0, 3], [20, 0], [20, 3]]
    >>> X = make_blobs(400, centers=centers, cluster_std=0.4, random_state=0)[0]
    >>> [layer.names for layer in find_layers(git_clusters(X), [2, 4])]
    [('0', '1'), ('0.0', '1.0', '0.1', '1.1')]
    """
    if clustering.hierarchy is None:
        raise ValueError(f"variant={clustering.variant.name!r} has no hierarchy, so no layers. Use variant='adaptive'.")
    table, own = clustering.n_clusters_scores, clustering.n_clusters
    if numbers is not None:
        wanted = {check_integer("n_clusters", n, low=1) for n in numbers}
    elif table is None:
        given = "edited by hand" if clustering.edits else "fitted with a given number of clusters or proportions"
        raise ValueError(
            f"The model was {given} and has no scores for other numbers. "
            "Fit GIT(n_clusters='auto'), or pass the numbers: layers([3, 8])."
        )
    else:
        ranked = table["rank"] > 0
        ranked &= table["score"] >= SUPPORTED * table["score"][ranked].sum()
        ranked = table["n_clusters"][ranked].tolist()
        wanted = {own, *(n for n in ranked if n > 1 and (n >= DISTINCT * own or DISTINCT * n <= own))}
    layers: list[Layer] = []
    above: Array = np.empty(0, np.int64)
    for number in sorted(wanted):
        try:
            cut = _cut_nested(clustering, number)
        except UnmetConstraintsError:
            if numbers is not None:
                raise
            continue  # the scores ignore links, which may need more clusters
        n_clusters = int(cut.max()) + 1
        if layers and n_clusters <= layers[-1].n_clusters:
            continue  # there are no more peaks
        parents, names = np.full(n_clusters, -1), [str(c) for c in range(n_clusters)]
        if layers:
            parents = above[np.unique(cut, return_index=True)[1]]  # of any local cluster: cuts are nested
            rank = [int((parents[:c] == parents[c]).sum()) for c in range(n_clusters)]
            names = [f"{layers[-1].names[parents[c]]}.{rank[c]}" for c in range(n_clusters)]
        labels = np.where(clustering.labels < 0, -1, cut[clustering.local_labels])
        sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
        scores = np.empty(0) if table is None else table["score"][table["n_clusters"] == n_clusters]
        layers.append(Layer(labels, parents, tuple(names), sizes, float(scores[0]) if len(scores) else np.nan))
        above = cut
    return layers
