"""Clusterings into a given number of clusters: every view, merged in several ways.

In: views. Out: candidates, with how much each says and how far its sizes are from a prior.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import cut_by_width
from gitcluster.hierarchy import CRUMB, Hierarchy, build_hierarchy, cut_merges, fit_undone, order_merges
from gitcluster.hierarchy.constrained import UnmetConstraintsError, merge_constrained
from gitcluster.hierarchy.spectral import cut_spectrum
from gitcluster.selection.views import CRUMBS, View
from gitcluster.topo_graph import TopoGraph

FITTED = {f"{kind}, fitted": kind for kind in CRUMBS}
"""The same with other splits where these bring the sizes nearer to a prior."""
MOST_LOCAL_CLUSTERS = 2000
"""Local clusters up to which the spectrum of a topo-graph is computed."""


class Candidate(NamedTuple):
    """One way to cluster: the labels a merge gives the local clusters of a view, and the edges it merged along."""

    view: int
    merge: str
    labels: Array
    merged: Array


def gather_candidates(views: Sequence[View], n_clusters: int, prior: NDArray[np.float64] | None) -> list[Candidate]:
    """All clusterings into a number of clusters."""
    merges = [*CRUMBS, "spectral"] if prior is None else [*CRUMBS, "spectral", "sweep", *FITTED]
    candidates, problem = [], None
    for i in able_views(views, n_clusters):
        for merge in merges:
            try:
                candidate = merge_view(views, i, merge, n_clusters=n_clusters, prior=prior)
            except UnmetConstraintsError as error:  # that of the view that comes down to the fewest clusters
                problem = error if problem is None or error.n_clusters < problem.n_clusters else problem
            else:
                candidates += [] if candidate is None else [candidate]
    if problem is not None and not candidates:
        raise problem
    return candidates


def able_views(views: Sequence[View], n_clusters: int) -> list[int]:
    """Views with enough local clusters, whose 2 k neighbours fit in an average cluster; or the nearest to it."""
    enough = [i for i, view in enumerate(views) if view.most_clusters >= n_clusters]
    able = [i for i in enough if views[i].n_neighbors <= views[i].n_samples / n_clusters / 2]
    if able or enough:
        return able or [min(enough, key=lambda i: views[i].n_neighbors)]
    return [max(range(len(views)), key=lambda i: views[i].most_clusters)]


def merge_view(
    views: Sequence[View], i: int, merge: str, *, n_clusters: int, prior: NDArray[np.float64] | None = None
) -> Candidate | None:
    """The local clusters of a view merged in one of several ways; None where it does not keep to constraints."""
    view = views[i]
    graph, ties = view.topo_graph, view.ties
    if merge in CRUMBS and ties is not None:
        labels = merge_constrained(graph, ties, n_clusters=n_clusters, crumb=CRUMBS[merge])
        return Candidate(i, merge, labels, np.flatnonzero(graph.inside(labels)))
    found = _merge_freely(view, merge, n_clusters, prior)
    if found is None or (ties is not None and not ties.are_kept(found[0])):
        return None
    return Candidate(i, merge, *found)


def _merge_freely(
    view: View, merge: str, n_clusters: int, prior: NDArray[np.float64] | None
) -> tuple[Array, Array] | None:
    """Clusters of the local clusters, and the edges merged along."""
    graph = view.topo_graph
    if merge in CRUMBS:
        return cut_merges(view.merges, graph, view.undone(merge, n_clusters - 1))
    if prior is None or merge == "spectral":
        able = 1 < n_clusters < view.n_peaks <= MOST_LOCAL_CLUSTERS
        labels = cut_spectrum(graph, view.n_neighbors, n_clusters=n_clusters) if able else None
        return None if labels is None else (labels, np.flatnonzero(graph.inside(labels)))
    if merge == "sweep":
        cut = cut_by_width(graph, prior)
        return cut.labels, cut.merged
    undone = view.undone(FITTED[merge], 2 * len(prior) - 2)
    return cut_merges(view.merges, graph, fit_undone(view.merges, graph, undone, prior))


def hierarchy_of(view: View, chosen: Candidate) -> Hierarchy:
    """All merges of local clusters, of which the chosen clustering is one cut."""
    if view.ties is not None or chosen.merge in CRUMBS:
        return order_merges(view.merges, view.topo_graph, crumb=CRUMBS.get(chosen.merge, CRUMB))
    return build_hierarchy(view.topo_graph, around=chosen.labels)


def evenness(view: View, labels: Array, n_clusters: int) -> float:
    """Entropy of the sizes of clusters, from 0 to 1 for equal sizes: how much the clustering says."""
    shares = np.bincount(labels, view.topo_graph.sizes, minlength=n_clusters) / view.topo_graph.sizes.sum()
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum() / np.log(max(n_clusters, 2)))


def misplaced_share(graph: TopoGraph, labels: Array, prior: NDArray[np.float64]) -> float:
    """Share of the samples that would have to move for the clusters to have the sizes of the prior."""
    sizes = np.sort(np.bincount(labels, graph.sizes, minlength=len(prior)))[::-1] / graph.sizes.sum()
    return float(np.abs(sizes - np.pad(prior, (0, len(sizes) - len(prior)))).sum() / 2)
