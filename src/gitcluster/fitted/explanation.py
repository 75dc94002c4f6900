"""Why a sample is where it is, and why two samples are together or apart.

One sample: how it climbs to its peak, the local cluster and the cluster that it belongs to, how firmly, and which
number of clusters would change that. Two samples: the strongest way between their local clusters through the
topo-graph, the way whose weakest edge is the strongest. In one cluster, its weakest edge holds them together; in two
clusters, its cut edges keep them apart. Bridges are weaker than any edge with boundary pairs.

In: a clustering and indices of its samples. Out: :class:`SampleExplanation` or :class:`PairExplanation`, whose
``str`` is for people.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, visible
from gitcluster._support.optional import require
from gitcluster._support.validation import check_integer
from gitcluster.edge_cutting import proportion_distance
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.memberships import memberships
from gitcluster.fitted.paths import find_boundary_pairs, strengths, strongest_path, together_until
from gitcluster.fitted.prediction import predict_fitted
from gitcluster.fitted.traits import (
    Difference,
    Trait,
    compare_groups,
    compare_samples,
    compare_to_group,
    describe_unused,
    fitted_traits,
    in_words,
    read_traits,
)
from gitcluster.hierarchy import cut_hierarchy
from gitcluster.preprocessing.frames import row_labels
from gitcluster.preprocessing.sources import Distances, NeighborGraph

MOST_COMPARED = 20_000
"""Samples of a cluster whose mean a sample is compared with."""


@dataclass(frozen=True, repr=False)
class SampleExplanation:
    """Why a sample is in its cluster."""

    clustering: Clustering
    sample: int
    cluster: int
    """-1 where the sample is noise."""
    home: int
    """The cluster of its local cluster, for noise too."""
    local_cluster: int
    climb: Array
    """Samples from this one to its peak."""
    memberships: NDArray[np.float64]
    """Share of every cluster."""
    splits_at: int | None
    """Number of clusters from which on the cluster is split; None where it never is, or no hierarchy was cut."""
    merges_at: int | None
    """Number of clusters from which down the cluster is joined with another; None as above."""
    merges_with: int | None
    """The cluster that it is joined with."""
    X: Any = field(default=None)
    """The table that was fitted, where it was given."""

    @property
    def name(self) -> str:
        """What the sample is called."""
        return visible(self.clustering.name_of(self.sample))

    @cached_property
    def differences(self) -> list[Difference]:
        """The columns in which the sample is most unlike its cluster, with its value and the mean there."""
        found = self.clustering
        members = np.flatnonzero(found.edge_cut.labels[found.local_labels] == self.home)
        members = members[:: -(-len(members) // MOST_COMPARED)]
        traits, _, group = table_rows(found, [np.array([self.sample]), members], self.X)
        return compare_to_group(traits, 0, group)

    def __str__(self) -> str:
        found, home = self.clustering, self.home
        lines = [f"Sample {self.name} is in cluster {home} ({samples_in(found, home)})."]
        if self.cluster < 0:
            score, above = found.outlier_scores[self.sample], found.fitted.noise_above
            lines = [
                f"Sample {self.name} is noise: its outlier score, {score:.2f}, is above the threshold of {above:.2f}.",
                f"Without noise, the sample would be in cluster {home} ({samples_in(found, home)}).",
            ]
        others = [int(c) for c in np.argsort(-self.memberships, kind="stable") if c != home]
        shown = ", ".join(f"{self.memberships[c]:.2f} in cluster {c}" for c in [home, *others[:1]])
        lines.append(f"Membership: {shown}.")
        if self.differences:
            lines.append(f"Largest differences from cluster {home}: {in_words(self.differences, words='; ')}.")
        local = f"local cluster {self.local_cluster}, {count_of(self._local_size, 'sample')}"
        steps, peak = len(self.climb) - 1, visible(found.name_of(int(self.climb[-1])))
        if steps:
            lines.append(f"Climb: {count_of(steps, 'step')} to the peak at sample {peak} ({local}).")
        else:
            lines.append(f"Climb: none, the sample is a peak of intensity ({local}).")
        if self.splits_at is not None:
            lines.append(f"With {self.splits_at} or more clusters, cluster {home} is split.")
        if self.merges_at is not None:
            number = "a single cluster" if self.merges_at == 1 else f"{self.merges_at} or fewer clusters"
            lines.append(f"With {number}, cluster {home} is merged with cluster {self.merges_with}.")
        return "\n".join(filter(None, [*lines, describe_unused(found.columns, self.X)]))

    @property
    def _local_size(self) -> int:
        return int(self.clustering.topo_graph.sizes[self.local_cluster])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return explanation_html(str(self), self.differences, (self.name, f"cluster {self.home}"))

    def to_pandas(self) -> Any:
        """The climb as a data frame: sample, log intensity, outlier score."""
        pandas = require("pandas", extra="export", purpose="to_pandas")
        found = self.clustering
        of_samples: dict[str, Array] = {"log_intensity": found.log_intensity, "outlier_score": found.outlier_scores}
        return pandas.DataFrame({"sample": self.climb} | {name: of[self.climb] for name, of in of_samples.items()})

    def plot(self, X: Any = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw the climb among the samples; the parameters are those of ``gitcluster.plots.plot_explanation``."""
        from gitcluster.plots import plot_explanation

        return plot_explanation(self, X, ax=ax, **options)


@dataclass(frozen=True, repr=False)
class PairExplanation:
    """Why two samples are in one cluster or in two."""

    clustering: Clustering
    samples: tuple[int, int]
    clusters: tuple[int, int]
    local_clusters: tuple[int, int]
    path: Array
    """Local clusters from the one to the other; empty where nothing but a constraint joins them."""
    edges: Array
    """Edges of the topo-graph along the path."""
    cut: NDArray[np.bool_]
    """Which of them are cut."""
    together_until: int | None
    """The largest number of clusters at which the two are in one; None without a hierarchy."""
    prior_distances: tuple[float, float] | None
    """Two clusters, prior given: W1 to the prior now, and if their clusters were one."""
    distances: Any = field(default=None)
    """What was given as X: the table that was fitted, or the distances (``metric="precomputed"``)."""

    @property
    def names(self) -> tuple[str, str]:
        """What the two samples are called."""
        first, second = (visible(self.clustering.name_of(sample)) for sample in self.samples)
        return first, second

    @cached_property
    def differences(self) -> list[Difference]:
        """The columns in which the two differ most, with their values."""
        traits, *_ = table_rows(self.clustering, [np.array([sample]) for sample in self.samples], self.distances)
        return compare_samples(traits, 0, 1) if traits else []

    @cached_property
    def crossing(self) -> list[Difference]:
        """The columns in which the way changes most at its weakest edge, with the means of both local clusters."""
        if self.weakest is None:
            return []
        at = int(np.flatnonzero(self.edges == self.weakest)[0])
        labels = self.clustering.local_labels
        sides = [np.flatnonzero(labels == self.path[end]) for end in (at, at + 1)]
        return compare_groups(*table_rows(self.clustering, sides, self.distances))

    @property
    def together(self) -> bool:
        """Whether the two are in one cluster."""
        return self.clusters[0] == self.clusters[1]

    @property
    def weakest(self) -> int | None:
        """The edge that decides: the weakest along the path."""
        if not len(self.edges):
            return None
        return int(self.edges[np.argmin(strengths(self.clustering.topo_graph)[self.edges])])

    @cached_property
    def boundary_pairs(self) -> Array:
        """(p, 2) samples of the boundary pairs behind the weakest edge, nearest first."""
        if self.weakest is None:
            return np.empty((0, 2), np.int64)
        return find_boundary_pairs(self.clustering, self.weakest, self.distances)

    def __str__(self) -> str:
        i, j = self.names
        (a, b), found = self.clusters, self.clustering
        if self.together:
            lines = [f"Samples {i} and {j} are in one cluster: {a} ({samples_in(found, a)})."]
        else:
            sizes = f"{a} ({samples_in(found, a)}) and {b} ({samples_in(found, b)})"
            lines = [f"Samples {i} and {j} are in different clusters: {sizes}."]
        if self.differences:
            lines.append(f"Largest differences: {in_words(self.differences)}.")
        one_peak = self.local_clusters[0] == self.local_clusters[1]
        if one_peak:
            peak = visible(found.name_of(int(found.peaks[self.local_clusters[0]])))
            lines.append(f"Both climb to the same peak, sample {peak}.")
        elif not len(self.path):
            lines.append("The topo-graph has no path between their local clusters: a constraint joins them.")
        else:
            lines += self._describe_path()
            if self.crossing:
                lines.append(f"Largest changes across the weakest edge: {in_words(self.crossing, words=' to ')}.")
        if self.together_until is not None and not one_peak:
            number = "a single cluster" if self.together_until == 1 else f"{self.together_until} or fewer clusters"
            lines.append(f"With {number}, the two samples are in one cluster.")
        if self.prior_distances is not None:
            now, merged = self.prior_distances
            lines.append(f"Merging the two clusters would change the distance to the prior: {now:.3f} to {merged:.3f}.")
        return "\n".join(filter(None, [*lines, describe_unused(found.columns, self.distances)]))

    __repr__ = __str__

    def _describe_path(self) -> list[str]:
        if len(self.edges) == 1:
            fate = "cut" if self.cut[0] else "kept"
            return [f"The edge between their local clusters is {fate}: {self._describe_edge(int(self.edges[0]))}."]
        shown = [str(label) for label in self.path]
        path = " - ".join(shown if len(shown) <= 8 else [*shown[:4], "...", *shown[-3:]])
        lines = [f"The strongest path between their local clusters has {len(self.edges)} edges: {path}."]
        if self.weakest is not None:
            lines.append(f"Weakest edge: {self._describe_edge(self.weakest)}.")
        if self.cut.any():
            edges = ", ".join("{} - {}".format(*self.clustering.topo_graph.edges[e]) for e in self.edges[self.cut][:3])
            more = f" and {self.cut.sum() - 3} more" if self.cut.sum() > 3 else ""
            lines.append(f"Cut along the path: {edges}{more}.")
        return lines

    def _describe_edge(self, edge: int) -> str:
        graph = self.clustering.topo_graph
        i, j = graph.edges[edge]
        if graph.pairs[edge] == 0:
            return f"{i} - {j} (a bridge, no boundary pair)"
        strength = f"strength {np.exp(graph.log_weights[edge]):.3g}"
        return f"{i} - {j} ({count_of(int(graph.pairs[edge]), 'boundary pair')}, {strength})"

    def _repr_html_(self) -> str:
        return explanation_html(str(self), self.differences, self.names)

    def to_pandas(self) -> Any:
        """The edges along the path as a data frame."""
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

    def plot(self, X: Any = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw the path among the samples; the parameters are those of ``gitcluster.plots.plot_explanation``."""
        from gitcluster.plots import plot_explanation

        return plot_explanation(self, X, ax=ax, **options)


def explain(model: Any, i: int, j: int | None = None, *, X: Any = None) -> SampleExplanation | PairExplanation:
    """Explain one sample of a fitted model, or two.

    Parameters
    ----------
    model : Clustering, or a fitted estimator
    i, j : int or label
        Samples: rows of what was fitted, negative ones count from the end. After a fit on a data frame whose index is
        not 0, 1, 2, ...: labels of the index; where these are no whole numbers, rows as well.
    X : data frame or array-like, default=None
        The fitted samples, to show values as they are in the table; by default values are restored from what the model
        keeps. Only columns that the clustering used are compared. With ``metric="precomputed"``, X is needed for the
        boundary pairs of a pair.

    Examples
    --------
    >>> from gitcluster import git_clusters
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> print(explain(git_clusters(X, n_clusters=2), 0, 5))
    Samples 0 and 5 are in different clusters: 0 (3 samples) and 1 (3 samples).
    Largest differences: feature 0 (0 vs 9.5).
    The edge between their local clusters is cut: 0 - 1 (4 boundary pairs, strength 0.353).
    Largest changes across the weakest edge: feature 0 (0.833 to 8.67).
    With a single cluster, the two samples are in one cluster.
    """
    found = clustering_of(model)
    if found.index is None:
        found = replace(found, index=row_labels(X))
    i = find_sample(found, "i", i)
    return explain_rows(found, i, None if j is None else find_sample(found, "j", j), X=X)


def explain_rows(
    found: Clustering, i: int, j: int | None = None, *, X: Any = None
) -> SampleExplanation | PairExplanation:
    """Explain samples by their numbers, whatever their labels are."""
    return replace(explain_sample(found, i), X=X) if j is None else explain_pair(found, i, j, X)


def find_sample(found: Clustering, name: str, given: Any) -> int:
    """A sample by its label in the index of a data frame, or by its number."""
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if found.index is None or (whole and found.index.dtype.kind == "O"):
        return check_sample(name, given, found.n_samples)
    labels = np.flatnonzero(found.index == (given if whole else str(given)))
    if not len(labels):
        first = ", ".join(repr(label) for label in found.index[:3].tolist())
        raise ValueError(f"{name} must be a label of the fitted rows, got {given!r}. The first labels are {first}.")
    return int(labels[0])


def table_rows(found: Clustering, groups: list[Array], X: Any) -> tuple[list[Trait], Array, Array]:
    """The columns of two groups of samples, and which rows of them are whose; no columns where none are known."""
    rows = np.concatenate(groups)
    inside = np.arange(len(rows)) < len(groups[0])
    sides = np.flatnonzero(inside), np.flatnonzero(~inside)
    if X is None or issparse(X) or isinstance(found.source, (Distances, NeighborGraph)):
        return fitted_traits(found, rows), *sides
    if len(X) != found.n_samples:
        raise ValueError(f"X has {len(X)} rows, the model was fitted on {found.n_samples}. Pass the fitted ones.")
    return [trait.take(rows) for trait in read_traits(X, found.feature_names, found.columns)], *sides


def explanation_html(text: str, differences: list[Difference], names: tuple[str, str]) -> str:
    """Sentences, and the columns in which two differ, for notebooks."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
    if not differences:
        return f"<div>{lines}</div>"
    cells = "".join(
        f'<tr><td style="text-align:left">{escape(visible(d.column))}</td><td>{escape(d.first)}</td>'
        f"<td>{escape(d.second)}</td><td>{d.size:.1f}</td></tr>"
        for d in differences[:8]
    )
    head = '<tr><th style="text-align:left">column</th>' + "".join(f"<th>{escape(name)}</th>" for name in names)
    rules = ".git-pair td, .git-pair th { padding: .2rem .8rem; text-align: right; } .git-pair p { margin: 0; }"
    return (
        f'<div class="git-pair"><style>{rules}</style>{lines}<table>{head}<th>difference</th></tr>{cells}</table></div>'
    )


def check_sample(name: str, index: Any, n_samples: int) -> int:
    """A sample's index from 0 on."""
    index = check_integer(name, index, low=-n_samples)
    if index >= n_samples:
        raise ValueError(f"{name} must be a sample below n_samples = {n_samples}, got {index}.")
    return int(index % n_samples)


def explain_sample(found: Clustering, i: int) -> SampleExplanation:
    """Climb, clusters and memberships of a sample."""
    local = int(found.local_labels[i])
    home = int(found.edge_cut.labels[local])
    shares = memberships(found, predict_fitted(found, [i]))[0]
    splits_at, merges_at, merges_with = changes_of(found, home)
    return SampleExplanation(
        found, i, int(found.labels[i]), home, local, found.climb(i), shares, splits_at, merges_at, merges_with
    )


def changes_of(found: Clustering, cluster: int) -> tuple[int | None, int | None, int | None]:
    """From which number of clusters on a cluster is split, from which down it is joined, and with which other."""
    hierarchy, graph, labels = found.hierarchy, found.topo_graph, found.edge_cut.labels
    number = found.n_clusters
    if hierarchy is None or not np.array_equal(cut_hierarchy(hierarchy, graph, n_clusters=number), labels):
        return None, None, None
    inside = labels[graph.edges[hierarchy.edges]] == cluster
    last = np.flatnonzero(inside.all(axis=1))
    first_out = np.flatnonzero(inside.any(axis=1) & ~inside.all(axis=1))
    n_local = len(labels)
    splits_at = n_local - int(last[-1]) if len(last) else None
    if not len(first_out):
        return splits_at, None, None
    merge = int(first_out[0])
    ends = labels[graph.edges[hierarchy.edges[merge]]]
    return splits_at, n_local - merge - 1, int(ends[ends != cluster][0])


def explain_pair(found: Clustering, i: int, j: int, X: Any = None) -> PairExplanation:
    """The strongest way between two samples, and what would bring them together or apart."""
    graph, cut = found.topo_graph, found.edge_cut
    a, b = (int(found.local_labels[x]) for x in (i, j))
    clusters = int(cut.labels[a]), int(cut.labels[b])
    together = clusters[0] == clusters[1]
    path, edges = strongest_path(graph, a, b, cut.kept if together else np.ones(len(graph.edges), bool))
    until = None if found.hierarchy is None else together_until(found.hierarchy, a, b)
    distances = None
    if not together and found.prior is not None:
        merged = np.delete(cut.sizes, clusters[1])
        merged[clusters[0] - (clusters[1] < clusters[0])] += cut.sizes[clusters[1]]
        now, then = (proportion_distance(s / s.sum(), found.prior) for s in (cut.sizes, merged))
        distances = (now, then)
    return PairExplanation(found, (i, j), clusters, (a, b), path, edges, ~cut.kept[edges], until, distances, X)


def samples_in(found: Clustering, cluster: int) -> str:
    """Number of samples in a cluster, in words."""
    return count_of(int((found.labels == cluster).sum()), "sample")
