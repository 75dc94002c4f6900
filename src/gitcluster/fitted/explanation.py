"""Explanations: why a sample is in its cluster, and why two samples are in one cluster or in two.

An explanation names the columns that distinguish the clusters, and the value that separates them. Its details are those
of the graph. For a sample these are its climb to a peak and the numbers of clusters that would split or merge its
cluster. For two samples it is the strongest path through the topo-graph between their local clusters: the path whose
weakest edge is the strongest. Bridges are weaker than any edge with boundary pairs.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control
from gitcluster._support.optional import require
from gitcluster._support.validation import check_integer
from gitcluster.edge_cutting import proportion_distance
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
    find_reasons,
    find_separation,
    fitted_traits,
    in_words,
    read_traits,
)
from gitcluster.hierarchy import cut_hierarchy, is_same_partition
from gitcluster.preprocessing.sources import Distances, NeighborGraph
from gitcluster.preprocessing.tables import row_labels
from gitcluster.topo_graph import TopoGraph, rank_edges

MAX_COMPARED = 20_000
"""Samples of a cluster that its means are computed from."""


STYLE = """
.git-pair td, .git-pair th { padding: .2rem .8rem; text-align: right; } .git-pair p { margin: 0; }
.git-pair td:first-child, .git-pair th:first-child { text-align: left; }
"""


@dataclass(frozen=True, repr=False)
class SampleExplanation:
    """Why a sample is in its cluster."""

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
    merges_with: int | None
    """The position of the cluster that it is merged with."""
    X: Any = None
    """The fitted table, if it was given."""
    details: bool = False
    """Whether the text contains the details of the graph."""

    @property
    def name(self) -> str:
        """Return the label of the sample in the data frame, or its number."""
        return escape_control(self.clustering.name_of(self.sample))

    @cached_property
    def other(self) -> int | None:
        """Return the nearest other cluster: the one with the next membership, or with the strongest edge; or None."""
        others = np.where(np.arange(len(self.memberships)) == self.home, -1.0, self.memberships)
        return int(others.argmax()) if others.max() > 0 else self.clustering.nearest_clusters().get(self.home)

    @cached_property
    def _columns(self) -> tuple[list[Trait], dict[str, Array]]:
        """Columns of the sample and of samples of its cluster, of all others and of the nearest other cluster."""
        homes = self.clustering.edge_cut.labels[self.clustering.local_labels]
        return _read_groups(
            self.clustering, self.X, sample=np.array([self.sample]), own=np.flatnonzero(homes == self.home),
            others=np.flatnonzero(homes != self.home),
            nearest=np.flatnonzero(homes == (-1 if self.other is None else self.other)),
        )  # fmt: skip

    @cached_property
    def reasons(self) -> list[Difference]:
        """Return the columns that distinguish the cluster, and in which the sample is like it."""
        traits, groups = self._columns
        return find_reasons(traits, 0, groups["own"], groups["others"]) if len(groups["others"]) else []

    @cached_property
    def differences(self) -> list[Difference]:
        """Return the columns in which the sample differs most from its cluster, with its value and the mean."""
        traits, groups = self._columns
        return compare_to_group(traits, 0, groups["own"])

    def __str__(self) -> str:
        clustering, other = self.clustering, self.other
        home = clustering.title_of(self.home)
        size = count_of(int((clustering.labels == self.home).sum()), "row")
        lines = [f"Row {self.name} is in cluster {home} ({size})."]
        if self.cluster < 0:
            score, threshold = clustering.outlier_scores[self.sample], clustering.fitted.noise_above
            lines = [
                f"Row {self.name} is noise: its outlier score of {score:.2f} exceeds the threshold of {threshold:.2f}.",
                f"Without noise, it would be in cluster {home} ({size}).",
            ]
        if self.reasons:
            lines.append(f"Typical of the cluster: {in_words(self.reasons, words='; ')}.")
        traits, groups = self._columns
        typical = {reason.column for reason in self.reasons[:3]}
        unusual = [d for d in compare_to_group(traits, 0, groups["own"], within=True) if d.column not in typical]
        if unusual:
            lines.append(f"Unusual for the cluster: {in_words(unusual, words='; ')}.")
        if other is not None:
            own, its, there = self.memberships[self.home], self.memberships[other], clustering.title_of(other)
            lines.append(f"Membership: {own:.2f} in cluster {home}, {its:.2f} in cluster {there}, the nearest.")
            lines += _separation(clustering, traits, groups["own"], groups["nearest"], self.home, other)
        if clustering.stability is not None and clustering.n_clusters > 1 and self.cluster >= 0:
            share = clustering.stability.samples[self.sample]
            lines += [f"In {share:.0%} of the half-samples, the row stays in its cluster."] if share >= 0 else []
        lines += self._graph_lines() if self.details else []
        lines += [clustering.describe_referee(), describe_unused(clustering.columns, self.X)]
        return "\n".join(filter(None, lines))

    def _graph_lines(self) -> list[str]:
        clustering, home = self.clustering, self.clustering.title_of(self.home)
        n_local = int(clustering.topo_graph.sizes[self.local_cluster])
        local = f"local cluster {self.local_cluster}, {count_of(n_local, 'row')}"
        steps, peak = len(self.climb) - 1, escape_control(clustering.name_of(int(self.climb[-1])))
        lines = [f"Climb: {count_of(steps, 'step')} to the peak at row {peak} ({local})."]
        if not steps:
            lines = [f"Climb: none, the row is an intensity peak ({local})."]
        if self.splits_at is not None:
            lines.append(f"With {self.splits_at} or more clusters, cluster {home} is split.")
        if self.merges_at is not None:
            number = "a single cluster" if self.merges_at == 1 else f"{self.merges_at} or fewer clusters"
            other = clustering.title_of(self.merges_with or 0)
            lines.append(f"With {number}, cluster {home} is merged with cluster {other}.")
        return lines

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """Return the climb as a data frame: sample, log intensity, outlier score."""
        pandas = require("pandas", extra="export", purpose="to_pandas")
        columns = {
            "sample": self.climb,
            "log_intensity": self.clustering.log_intensity[self.climb],
            "outlier_score": self.clustering.outlier_scores[self.climb],
        }
        return pandas.DataFrame(columns)

    def _repr_html_(self) -> str:
        return _to_html(str(self), self.differences, (self.name, f"cluster {self.clustering.title_of(self.home)}"))


@dataclass(frozen=True, repr=False)
class PairExplanation:
    """Why two samples are in one cluster or in two."""

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
    prior_distances: tuple[float, float] | None
    """W1 distance to the prior now, and if both clusters were merged; None for one cluster or without a prior."""
    X: Any = None
    """The fitted table or distances, if they were given."""
    details: bool = False
    """Whether the text contains the details of the graph."""

    @property
    def names(self) -> tuple[str, str]:
        """Return the labels of the samples in the data frame, or their numbers."""
        first, second = (escape_control(self.clustering.name_of(sample)) for sample in self.samples)
        return first, second

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
        rows = {str(i): np.array([sample]) for i, sample in enumerate(self.samples)}
        return compare_samples(_read_groups(self.clustering, self.X, **rows)[0], 0, 1)

    @cached_property
    def crossing(self) -> list[Difference]:
        """Return the columns that change most across the weakest edge, with the means of both local clusters."""
        if self.weakest is None:
            return []
        step = int(np.flatnonzero(self.edges == self.weakest)[0])
        first, second = (np.flatnonzero(self.clustering.local_labels == c) for c in self.path[step : step + 2])
        traits, groups = _read_groups(self.clustering, self.X, first=first, second=second)
        return compare_groups(traits, groups["first"], groups["second"])

    @cached_property
    def boundary_pairs(self) -> Array:
        """Return the (p, 2) samples of the boundary pairs of the weakest edge, nearest first."""
        if self.weakest is None:
            return np.empty((0, 2), np.int64)
        return find_boundary_pairs(self.clustering, self.weakest, self.X)

    def __str__(self) -> str:
        (i, j), (a, b), clustering = self.names, self.clusters, self.clustering
        sizes = (count_of(int((clustering.labels == c).sum()), "row") for c in (a, b))
        one, other = (f"{clustering.title_of(c)} ({size})" for c, size in zip((a, b), sizes, strict=True))
        lines = [f"Rows {i} and {j} are in different clusters: {one} and {other}."]
        if self.same_cluster:
            lines = [f"Rows {i} and {j} are in one cluster: {one}."]
        if self.differences:
            lines.append(f"Largest differences: {in_words(self.differences)}.")
        if not self.same_cluster:
            homes = clustering.edge_cut.labels[clustering.local_labels]
            first, second = np.flatnonzero(homes == a), np.flatnonzero(homes == b)
            traits, groups = _read_groups(clustering, self.X, first=first, second=second)
            lines += _separation(clustering, traits, groups["first"], groups["second"], a, b)
        is_joined = self.weakest is None and self.local_clusters[0] != self.local_clusters[1]
        lines += (
            ["A constraint joins them: the topo-graph has no path between their local clusters."] if is_joined else []
        )
        lines += self._graph_lines() if self.details and not is_joined else []
        if (self.joined_until or 1) > 1 and self.local_clusters[0] != self.local_clusters[1]:
            lines.append(f"With {self.joined_until} or fewer clusters, both rows are in one cluster.")
        if self.prior_distances is not None:
            now, merged = self.prior_distances
            lines.append(
                f"Distance to the requested proportions: {now:.3f} now, {merged:.3f} if both clusters were merged."
            )
        lines += [clustering.describe_referee(), describe_unused(clustering.columns, self.X)]
        return "\n".join(filter(None, lines))

    def _graph_lines(self) -> list[str]:
        clustering, graph, weakest = self.clustering, self.clustering.topo_graph, self.weakest
        if self.local_clusters[0] == self.local_clusters[1]:
            peak = escape_control(clustering.name_of(int(clustering.peaks[self.local_clusters[0]])))
            return [f"Both climb to the same peak, row {peak}."]
        assert weakest is not None
        n_pairs = int(graph.pairs[weakest])
        strength = f"{count_of(n_pairs, 'boundary pair')}, strength {np.exp(graph.log_weights[weakest]):.3g}"
        edge = "{} - {}".format(*graph.edges[weakest]) + f" ({strength if n_pairs else 'a bridge, no boundary pair'})"
        lines = [f"The edge between their local clusters is {'cut' if self.cut[0] else 'kept'}: {edge}."]
        if len(self.edges) > 1:
            nodes = [str(label) for label in self.path]
            path = " - ".join(nodes if len(nodes) <= 8 else [*nodes[:4], "...", *nodes[-3:]])
            lines = [
                f"The strongest path between their local clusters has {len(self.edges)} edges: {path}.",
                f"Weakest edge: {edge}.",
            ]
        if self.cut.any() and len(self.edges) > 1:
            edges = ", ".join("{} - {}".format(*graph.edges[e]) for e in self.edges[self.cut][:3])
            more = f" and {self.cut.sum() - 3} more" if self.cut.sum() > 3 else ""
            lines.append(f"Cut edges on the path: {edges}{more}.")
        if clustering.stability is not None and self.cut.any():
            survival = np.nanmax(np.append(clustering.stability.edges[self.edges[self.cut]], -1))
            lines += (
                [f"In {survival:.0%} of the half-samples, this path is cut there as well."] if survival >= 0 else []
            )
        if self.crossing:
            lines.append(f"Largest changes across the weakest edge: {in_words(self.crossing, words=' to ')}.")
        return lines

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """Return the edges along the path as a data frame."""
        pandas = require("pandas", extra="export", purpose="to_pandas")
        graph = self.clustering.topo_graph
        columns = {
            "local_cluster": self.path[:-1],
            "next": self.path[1:],
            "log_strength": graph.log_weights[self.edges],
            "boundary_pairs": graph.pairs[self.edges],
            "cut": self.cut,
        }
        return pandas.DataFrame(columns)

    def _repr_html_(self) -> str:
        return _to_html(str(self), self.differences, self.names)


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
        that the model stores. Only columns that the clustering used are compared. With ``metric="precomputed"``, X is
        needed for the boundary pairs of a pair.
    details : bool, default=False
        Whether the text contains peaks, local clusters and edges of the topo-graph.

    Examples
    --------
    >>> from gitcluster.pipeline import git_clusters
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> print(explain(git_clusters(X, n_clusters=2), 0, 5))
    Rows 0 and 5 are in different clusters: 0 (3 rows) and 1 (3 rows).
    Largest differences: feature 0 (0 vs 9.5).
    Clusters 0 and 1 separate at feature 0 around 5.
    """
    clustering = clustering_of(model)
    if clustering.index is None:
        clustering = replace(clustering, index=row_labels(X))
    i = _find_row(clustering, "i", i)
    j = None if j is None else _find_row(clustering, "j", j)
    return explain_rows(clustering, i, j, X=X, details=details)


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


def explain_rows(
    clustering: Clustering, i: int, j: int | None = None, *, X: Any = None, details: bool = False
) -> SampleExplanation | PairExplanation:
    """Explain one sample or two, given by their rows."""
    graph, cut, hierarchy = clustering.topo_graph, clustering.edge_cut, clustering.hierarchy
    a = int(clustering.local_labels[i])
    home = int(cut.labels[a])
    if j is None:
        shares = memberships(clustering, predict_fitted(clustering, [i]))[0]
        splits_at = merges_at = merges_with = None
        n_local, n_clusters = len(cut.labels), clustering.n_clusters
        if hierarchy is not None and is_same_partition(
            cut_hierarchy(hierarchy, graph, n_clusters=n_clusters), cut.labels
        ):
            # merge t leaves n_local - t - 1 clusters
            ends = cut.labels[graph.edges[hierarchy.edges]]
            inside = (ends == home).sum(axis=1)
            within, across = np.flatnonzero(inside == 2), np.flatnonzero(inside == 1)
            splits_at = n_local - int(within[-1]) if len(within) else None
            if len(across):
                merges_at = n_local - int(across[0]) - 1
                merges_with = int(ends[across[0]][ends[across[0]] != home][0])
        return SampleExplanation(
            clustering, i, int(clustering.to_ids(clustering.labels)[i]), home, a, clustering.climb(i), shares,
            splits_at, merges_at, merges_with, X, details,
        )  # fmt: skip
    b = int(clustering.local_labels[j])
    other = int(cut.labels[b])
    path, edges = strongest_path(graph, a, b, cut.kept if home == other else np.ones(len(graph.edges), bool))
    joined_until = prior_distances = None
    if hierarchy is not None:  # a later merge has a higher number, so the lower of the two climbs
        n_local = len(cut.labels)
        parents, (low, high) = np.zeros(2 * n_local - 1, np.int64), sorted((a, b))
        parents[hierarchy.linkage[:, :2].astype(np.int64)] = n_local + np.arange(n_local - 1)[:, None]
        while low != high:
            low, high = sorted((int(parents[low]), high))
        joined_until = min(n_local, 2 * n_local - 1 - low)
    if home != other and clustering.prior is not None:
        merged = np.append(np.delete(cut.sizes, [home, other]), cut.sizes[[home, other]].sum())
        now, then = (proportion_distance(sizes / sizes.sum(), clustering.prior) for sizes in (cut.sizes, merged))
        prior_distances = now, then
    return PairExplanation(
        clustering, (i, j), (home, other), (a, b), path, edges, ~cut.kept[edges], joined_until, prior_distances, X,
        details,
    )  # fmt: skip


def _read_groups(clustering: Clustering, X: Any, **groups: Array) -> tuple[list[Trait], dict[str, Array]]:
    """Return the columns of some groups of samples, and the rows of each group in them; no columns if none is known.

    Large groups are represented by every second, third, ... sample.
    """
    groups = {name: rows[:: max(1, -(-len(rows) // MAX_COMPARED))] for name, rows in groups.items()}
    rows, ends = np.concatenate(list(groups.values())), np.cumsum([len(rows) for rows in groups.values()])
    positions = dict(zip(groups, np.split(np.arange(len(rows)), ends[:-1]), strict=True))
    if X is None or issparse(X) or isinstance(clustering.source, (Distances, NeighborGraph)):
        return fitted_traits(clustering, rows), positions
    if len(X) != clustering.n_samples:
        raise ValueError(f"X must have the {clustering.n_samples} rows that were fitted, got {len(X)} rows.")
    traits = read_traits(X, clustering.feature_names, clustering.columns)
    return [trait.take(rows) for trait in traits], positions


def _separation(clustering: Clustering, traits: list[Trait], first: Array, second: Array, a: int, b: int) -> list[str]:
    """Return a sentence about the column that separates two clusters best, if one does."""
    phrase = find_separation(traits, first, second)
    one, other = map(clustering.title_of, sorted((a, b)))
    return [f"Clusters {one} and {other} separate {phrase}."] if phrase else []


def _to_html(text: str, differences: list[Difference], names: tuple[str, str]) -> str:
    """Return the lines of an explanation and a table of differences as HTML."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
    rows = "".join(
        f"<tr><td>{escape(escape_control(d.column))}</td><td>{escape(d.first)}</td><td>{escape(d.second)}</td>"
        f"<td>{d.size:.1f}</td></tr>"
        for d in differences[:8]
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in ("column", *names, "difference"))
    table = f"\n<table>\n<tr>{head}</tr>\n{rows}\n</table>" if rows else ""
    return f'<div class="git-pair"><style>{STYLE}</style>{lines}{table}</div>'


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


def find_boundary_pairs(clustering: Clustering, edge: int, X: Any = None) -> Array:
    """Return the (p, 2) samples of the boundary pairs of an edge, nearest first, from a new exact search."""
    training, variant = clustering.fitted, clustering.variant
    labels, ends = training.local_labels, clustering.topo_graph.edges[edge]
    members = np.flatnonzero(np.isin(labels, ends))
    reach = variant.reach(clustering.n_neighbors).boundary
    near = training.source.nearest(training.source.rows(members, X), reach + 1)  # one is the sample itself
    pairs: dict[tuple[int, int], float] = {}
    for x, row, distances in zip(members.tolist(), near.indices, near.distances, strict=True):
        others = (row != x) & np.isfinite(distances)
        others &= np.cumsum(others) <= reach
        if variant.boundary == "uphill":  # neighbours of higher intensity, except the nearest of them
            others &= training.log_intensity[row] > training.log_intensity[x]
            others &= np.cumsum(others) > 1
        others &= (labels[row] != labels[x]) & np.isin(labels[row], ends)
        pairs |= {(x, int(y)): float(d) for y, d in zip(row[others], distances[others], strict=True)}
    if variant.boundary == "mutual":
        pairs = {pair: d for pair, d in pairs.items() if pair[::-1] in pairs and pair[0] < pair[1]}
    ordered = np.array(sorted(pairs, key=lambda pair: (pairs[pair], pair)), np.int64).reshape(-1, 2)
    ordered = training.given(ordered)
    return ordered if variant.boundary == "uphill" else np.sort(ordered, axis=1)
