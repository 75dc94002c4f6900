"""Explanations: why a sample is in its cluster, and why two samples are in one cluster or in two.

An explanation names the columns that distinguish the clusters, and the value that separates them. Its details are those
of the graph. For a sample these are its climb to a peak and the numbers of clusters that would split or merge its
cluster. For two samples it is the strongest path through the topo-graph between their local clusters: the path whose
weakest edge is the strongest. Bridges are weaker than any edge with boundary pairs.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.memberships import memberships
from gitcluster.fitted.prediction import predict_fitted
from gitcluster.fitted.traits import (
    Difference,
    Trait,
    compare_groups,
    compare_samples,
    compare_to_group,
    describe_unused,
    in_words,
    learn_rules,
    traits_of,
)
from gitcluster.hierarchy import Hierarchy, cut_hierarchy, is_same_partition
from gitcluster.preprocessing.tables import row_labels
from gitcluster.topo_graph import TopoGraph, rank_edges

MIN_SEPARATION = 0.75
"""A rule that separates two clusters with a lower coverage or precision is not worth a sentence."""
MAX_NODES, MAX_CUT = 8, 3
"""Local clusters and cut edges of a path that are listed."""


@dataclass(frozen=True, repr=False)
class SampleExplanation:
    """Why a sample is in its cluster; ``print`` it."""

    clustering: Clustering
    sample: int
    cluster: int
    """-1 if the sample is noise."""
    home: int
    """The position of its cluster in ``cluster_ids_``, also for noise."""
    local_cluster: int
    climb: Array
    """Samples from this one to its peak."""
    memberships: NDArray[np.float64]
    """Membership in every cluster."""
    splits_at: int | None
    """The smallest number of clusters at which the cluster is split; None if it never is, or without a hierarchy."""
    merges_at: int | None
    """The largest number of clusters at which the cluster is merged with another; None as above."""
    traits: list[Trait]
    """The columns of all samples."""
    details: bool = False
    """Whether the text contains the details of the graph."""

    @cached_property
    def _homes(self) -> Array:
        return self.clustering.edge_cut.labels[self.clustering.local_labels]

    @cached_property
    def other(self) -> int | None:
        """Return the nearest other cluster: the one with the next membership, or with the strongest edge; or None."""
        others = np.where(np.arange(len(self.memberships)) == self.home, -1.0, self.memberships)
        return int(others.argmax()) if others.max() > 0 else self.clustering.nearest_clusters().get(self.home)

    @cached_property
    def differences(self) -> list[Difference]:
        """Return the columns in which the sample is unusual for its cluster, with its value and the mean."""
        return compare_to_group(self.traits, self.sample, np.flatnonzero(self._homes == self.home))

    def __str__(self) -> str:
        clustering, other, inside = self.clustering, self.other, self._homes == self.home
        name, home = escape_control(clustering.name_of(self.sample)), clustering.title_of(self.home)
        size = count_of(int((clustering.labels == self.home).sum()), "row")
        lines = [f"Row {name} is in cluster {home} ({size})."]
        if self.cluster < 0:
            score, threshold = clustering.outlier_scores[self.sample], clustering.fitted.noise_above
            lines = [
                f"Row {name} is noise: its outlier score of {score:.2f} exceeds the threshold of {threshold:.2f}.",
                f"Without noise, it would be in cluster {home} ({size}).",
            ]
        typical = compare_groups(self.traits, np.flatnonzero(inside), np.flatnonzero(~inside))
        unusual = {difference.column for difference in self.differences}
        typical = [difference for difference in typical if difference.column not in unusual]
        if typical:
            lines.append(f"Typical of the cluster, compared with all other rows: {in_words(typical)}.")
        if unusual:
            lines.append(f"Unusual for the cluster: {in_words(self.differences, words='; ')}.")
        if other is not None:
            own, its, there = self.memberships[self.home], self.memberships[other], clustering.title_of(other)
            lines.append(f"Membership: {own:.2f} in cluster {home}, {its:.2f} in cluster {there}, the nearest.")
            lines.append(_separation(clustering, self.traits, self.home, other))
        if clustering.stability is not None and clustering.n_clusters > 1 and self.cluster >= 0:
            share = clustering.stability.samples[self.sample]
            lines.append(f"In {share:.0%} of the half-samples, the row stays in its cluster.")
        lines += self._graph_lines() if self.details else []
        lines += [clustering.describe_referee(), describe_unused(clustering.columns)]
        return "\n".join(filter(None, lines))

    def _graph_lines(self) -> list[str]:
        clustering, home = self.clustering, self.clustering.title_of(self.home)
        size = count_of(int(clustering.topo_graph.sizes[self.local_cluster]), "row")
        steps, peak = len(self.climb) - 1, escape_control(clustering.name_of(int(self.climb[-1])))
        lines = [
            f"Climb: {count_of(steps, 'step')} to the peak at row {peak} (local cluster {self.local_cluster}, {size})."
        ]
        if self.splits_at is not None:
            lines.append(f"With {self.splits_at} or more clusters, cluster {home} is split.")
        if self.merges_at is not None:
            lines.append(f"With {count_of(self.merges_at, 'cluster')} or fewer, cluster {home} is merged with another.")
        return lines

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class PairExplanation:
    """Why two samples are in one cluster or in two; ``print`` it."""

    clustering: Clustering
    samples: tuple[int, int]
    clusters: tuple[int, int]
    """The positions of their clusters in ``cluster_ids_``, also for noise."""
    local_clusters: tuple[int, int]
    path: Array
    """Local clusters from the first sample to the second; empty if only a constraint joins them."""
    edges: Array
    """Edges of the topo-graph along the path."""
    cut: NDArray[np.bool_]
    """Which of the edges are cut."""
    joined_until: int | None
    """The largest number of clusters at which both samples are in one cluster; None without a hierarchy."""
    traits: list[Trait]
    """The columns of all samples."""
    details: bool = False
    """Whether the text contains the details of the graph."""

    @property
    def same_cluster(self) -> bool:
        """Return whether both samples are in one cluster."""
        return self.clusters[0] == self.clusters[1]

    @property
    def weakest(self) -> int | None:
        """Return the weakest edge of the path, which decides."""
        if not len(self.edges):
            return None
        return int(self.edges[np.argmin(rank_edges(self.clustering.topo_graph)[self.edges])])

    @cached_property
    def differences(self) -> list[Difference]:
        """Return the columns in which both samples differ most, with their values."""
        return compare_samples(self.traits, *self.samples)

    def __str__(self) -> str:
        (a, b), clustering = self.clusters, self.clustering
        i, j = (escape_control(clustering.name_of(sample)) for sample in self.samples)
        sizes = (count_of(int((clustering.labels == c).sum()), "row") for c in (a, b))
        one, other = (f"{clustering.title_of(c)} ({size})" for c, size in zip((a, b), sizes, strict=True))
        lines = [f"Rows {i} and {j} are in different clusters: {one} and {other}."]
        if self.same_cluster:
            lines = [f"Rows {i} and {j} are in one cluster: {one}."]
        if self.differences:
            lines.append(f"Largest differences: {in_words(self.differences)}.")
        if not self.same_cluster:
            lines.append(_separation(clustering, self.traits, a, b))
        same_peak = self.local_clusters[0] == self.local_clusters[1]
        if self.weakest is None and not same_peak:
            lines.append("A constraint joins them: the topo-graph has no path between their local clusters.")
        elif self.details:
            lines += self._graph_lines()
        if (self.joined_until or 1) > 1 and not same_peak:
            lines.append(f"With {self.joined_until} or fewer clusters, both rows are in one cluster.")
        lines += [clustering.describe_referee(), describe_unused(clustering.columns)]
        return "\n".join(filter(None, lines))

    def _graph_lines(self) -> list[str]:
        clustering, graph, weakest = self.clustering, self.clustering.topo_graph, self.weakest
        if weakest is None:
            peak = escape_control(clustering.name_of(int(clustering.peaks[self.local_clusters[0]])))
            return [f"Both climb to the same peak, row {peak}."]
        nodes = [str(label) for label in self.path]
        path = " - ".join(nodes if len(nodes) <= MAX_NODES else [*nodes[:4], "...", *nodes[-3:]])
        strength, n_pairs = np.exp(graph.log_weights[weakest]), int(graph.pairs[weakest])
        kind = f"{count_of(n_pairs, 'boundary pair')}, strength {strength:.3g}" if n_pairs else "a bridge"
        weakest_edge, *cut = (" - ".join(map(str, graph.edges[edge])) for edge in (weakest, *self.edges[self.cut]))
        lines = [
            f"Strongest path between their local clusters: {path}.",
            f"Its weakest edge: {weakest_edge} ({kind}).",
        ]
        lines += [f"Cut edges: {list_of(cut, MAX_CUT)}."] if cut else []
        if clustering.stability is not None and cut:
            share = np.nanmax(np.append(clustering.stability.edges[self.edges[self.cut]], -1))
            lines += [f"In {share:.0%} of the half-samples, this path is cut as well."] if share >= 0 else []
        return lines

    __repr__ = __str__


def explain(
    model: Any, i: int, j: int | None = None, *, X: Any = None, details: bool = False
) -> SampleExplanation | PairExplanation:
    """Explain one sample of a fitted model, or two.

    Parameters
    ----------
    model : Clustering, or a fitted estimator
    i, j : int or label
        Row positions of the samples; negative ones count from the end. After a fit on a data frame with an index other
        than 0, 1, 2, ...: labels of the index. If the index is not an integer index, row positions also work.
    X : data frame or array-like, default=None
        The fitted samples, to show values as they are in the table; by default values are restored from the features
        that the model stores. Only columns that the clustering used are compared.
    details : bool, default=False
        Whether the text contains peaks, local clusters and edges of the topo-graph.

    Examples
    --------
    >>> from gitcluster.pipeline import git_clusters
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> print(explain(git_clusters(X, n_clusters=2), 0, 5))
    Rows 0 and 5 are in different clusters: 0 (3 rows) and 1 (3 rows).
    Largest differences: feature 0 (0 vs 9.5).
    Cluster 0, unlike cluster 1: feature 0 <= 5 (coverage 100%, precision 100%).
    """
    clustering = clustering_of(model)
    if clustering.index is None:
        clustering = replace(clustering, index=row_labels(X))
    i = _find_row(clustering, "i", i)
    graph, cut, hierarchy = clustering.topo_graph, clustering.edge_cut, clustering.hierarchy
    a, traits = int(clustering.local_labels[i]), traits_of(clustering, X)
    home = int(cut.labels[a])
    if j is None:
        shares = memberships(clustering, predict_fitted(clustering, [i]))[0]
        splits_at = merges_at = None
        if hierarchy is not None and is_same_partition(
            cut_hierarchy(hierarchy, graph, n_clusters=clustering.n_clusters), cut.labels
        ):
            # merge t leaves n_local - t - 1 clusters
            inside = (cut.labels[graph.edges[hierarchy.edges]] == home).sum(axis=1)
            within, across = np.flatnonzero(inside == 2), np.flatnonzero(inside == 1)
            splits_at = len(cut.labels) - int(within[-1]) if len(within) else None
            merges_at = len(cut.labels) - int(across[0]) - 1 if len(across) else None
        cluster = int(clustering.to_ids(clustering.labels)[i])
        return SampleExplanation(
            clustering, i, cluster, home, a, clustering.climb(i), shares, splits_at, merges_at, traits, details
        )
    j = _find_row(clustering, "j", j)
    b = int(clustering.local_labels[j])
    other = int(cut.labels[b])
    path, edges = strongest_path(graph, a, b, cut.kept if home == other else np.ones(len(graph.edges), bool))
    joined_until = None if hierarchy is None else _joined_until(hierarchy, a, b)
    return PairExplanation(
        clustering, (i, j), (home, other), (a, b), path, edges, ~cut.kept[edges], joined_until, traits, details
    )


def _find_row(clustering: Clustering, name: str, given: Any) -> int:
    """Return the row of a sample that is given by its label in the index of the data frame, or by its row."""
    is_integer = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if clustering.index is None or (is_integer and clustering.index.dtype.kind == "O"):
        n_samples = clustering.n_samples
        row = check_integer(name, given, low=-n_samples)
        if row >= n_samples:
            raise ValueError(f"{name} must be below n_samples = {n_samples}, got {row}.")
        return int(row % n_samples)
    rows = np.flatnonzero(clustering.index == (given if is_integer else str(given)))
    if not len(rows):
        first = ", ".join(repr(label) for label in clustering.index[:3].tolist())
        raise ValueError(f"{name} must be a label of the fitted rows, got {given!r}. The first labels are {first}.")
    return int(rows[0])


def _joined_until(hierarchy: Hierarchy, a: int, b: int) -> int:
    """Return the largest number of clusters at which two local clusters are in one."""
    n_local = len(hierarchy.linkage) + 1
    parents, (low, high) = np.zeros(2 * n_local - 1, np.int64), sorted((a, b))
    parents[hierarchy.linkage[:, :2].astype(np.int64)] = n_local + np.arange(n_local - 1)[:, None]
    while low != high:  # a later merge has a higher number, so the lower of the two climbs
        low, high = sorted((int(parents[low]), high))
    return min(n_local, 2 * n_local - 1 - low)


def _separation(clustering: Clustering, traits: list[Trait], a: int, b: int) -> str:
    """Return a sentence about the column and value that separate two clusters best, or "" if none does."""
    homes = clustering.edge_cut.labels[clustering.local_labels]
    rows = np.flatnonzero((homes == a) | (homes == b))
    rules = learn_rules([trait.take(rows) for trait in traits], homes[rows] == a, max_depth=1)
    if not rules or min(rules[0].coverage, rules[0].precision) < MIN_SEPARATION:
        return ""
    return f"Cluster {clustering.title_of(a)}, unlike cluster {clustering.title_of(b)}: {rules[0].describe()}."


def strongest_path(graph: TopoGraph, a: int, b: int, allowed: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the local clusters and edges of the path from a to b whose weakest edge is the strongest.

    The path runs along the maximum spanning tree of the allowed edges. Both arrays are empty if there is no path.

    Examples
    --------
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [0, 2], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.2, 0.3]), pairs=np.array([2, 1, 1]),
    ... )
    >>> strongest_path(graph, 0, 1, np.ones(3, bool))
    (array([0, 2, 1]), array([1, 2]))
    """
    n_local = len(graph.sizes)
    ends = graph.edges[allowed].astype(np.int32)  # older versions of scipy require this type
    weakness = 1.0 + len(graph.edges) - rank_edges(graph)[allowed]
    tree = minimum_spanning_tree(coo_array((weakness, (ends[:, 0], ends[:, 1])), shape=(n_local, n_local)))
    before = breadth_first_order(tree, b, directed=False)[1]
    path = [a]
    while path[-1] != b:
        if before[path[-1]] < 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        path.append(int(before[path[-1]]))
    numbers = {(i, j): edge for edge, (i, j) in enumerate(graph.edges.tolist())}
    edges = [numbers[min(step), max(step)] for step in pairwise(path)]
    return np.array(path), np.array(edges, np.int64)
