"""Choose the number of neighbours, and of clusters, without labels.

One search at the largest k serves every smaller k: it is a prefix of each row. Each k gives a :class:`Scale`, stages 2
to 5: the intensity from k neighbours, climbing among k / 2 (many small and pure local clusters), boundary pairs among
2 k (well connected ones). The k are multiples of log2 n, which is how a neighbour graph must grow to stay connected.

Every scale gives a clustering, and the one that agrees best with the others is chosen: what depends on an accident of
one k has nothing to agree with. A prior of proportions adds candidates from the sweep, and its distance W1 to the
score. Where the scales do not agree, the data alone do not tell, and equal shares are taken as the prior.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster import _kernels
from gitcluster._jit import run_chunks
from gitcluster.constraints import (
    Constraints,
    UnmetConstraintsError,
    balance_sizes,
    edges_inside,
    keeps_groups,
    merge_constrained,
    possible_numbers,
)
from gitcluster.edge_cutting import EdgeCut, cut_edges
from gitcluster.hierarchy import Hierarchy, build_hierarchy, cut_hierarchy, merges_down_to
from gitcluster.intensity import estimate_intensity
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import Array, Neighbors
from gitcluster.proportions import equal_shares, proportion_distance
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

FACTORS = tuple(2 ** (step / 4) for step in range(-4, 5))
"""Candidates for k, times log2 n: from a half to two."""
MOST_NEIGHBORS = 20
"""The largest candidate: boundary pairs are sought among 40 neighbours at most, however many samples there are."""
AGREED = 0.7
"""Mean adjusted Rand index from which on the scales agree."""
MOST_CLUSTERS = 60
CLOSED = 0.005
"""Share of links below which a cluster is as good as closed."""
CUT_THROUGH = 0.2
"""Leak of a cut through the middle of a cluster."""
NOISE = (0.1, 2.0)
"""Score of one cluster: the first, plus the second / sqrt(n)."""


class Scale(NamedTuple):
    """What stages 2 to 5 found with one number of neighbours."""

    n_neighbors: int
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    hierarchy: Hierarchy
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""

    @property
    def n_peaks(self) -> int:
        """Number of local clusters."""
        return len(self.topo_graph.peaks)


class Candidate(NamedTuple):
    """One way to cluster: the labels a merge gives the local clusters of a scale, and the edges it merged along."""

    scale: int
    merge: str
    labels: Array
    merged: Array


class Choice(NamedTuple):
    """The chosen candidate, and the table of all of them."""

    scale: Scale
    labels: Array
    merged: Array
    table: dict[str, NDArray[Any]]


def neighborhood_sizes(n_samples: int) -> list[int]:
    """Candidates for k.

    Examples
    --------
    >>> neighborhood_sizes(1000)
    [5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    largest = max(1, min(MOST_NEIGHBORS, n_samples - 1))
    return sorted({min(largest, max(2, round(factor * np.log2(n_samples)))) for factor in FACTORS})


def build_scale(
    points: Any,
    neighbors: Neighbors,
    *,
    n_neighbors: int,
    metric: str = "euclidean",
    weights: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    n_jobs: int | None = None,
) -> Scale:
    """Stages 2 to 5 with the nearest ``n_neighbors`` of a search that may have found more."""
    options: dict[str, Any] = {"weights": weights, "n_jobs": n_jobs}
    found = neighbors.indices.shape[1]
    log_intensity = estimate_intensity(neighbors, kernel="relative", n_neighbors=min(n_neighbors, found), **options)
    local = find_local_clusters(
        neighbors,
        log_intensity,
        n_neighbors=min(climb_among(n_neighbors), found),
        groups=None if constraints is None else constraints.groups,
        **options,
    )
    graph = build_topo_graph(
        neighbors,
        local,
        log_intensity=log_intensity,
        similarity="relative",
        n_neighbors=min(2 * n_neighbors, found),
        symmetric=metric != "precomputed_graph",
        **options,
    )
    graph = bridge_components(graph, points, metric=metric)
    return Scale(n_neighbors, log_intensity, local, graph, build_hierarchy(graph), log_intensity[local.peaks])


def climb_among(n_neighbors: int) -> int:
    """Neighbours to climb among."""
    return max(1, n_neighbors // 2)


Overlap = tuple[Array, Array, Array]
"""Local clusters of one scale, of another, and the number of samples that they share."""


def count_overlap(scale: Scale, other: Scale) -> Overlap:
    """What the local clusters of two scales share."""
    n_other = other.n_peaks
    both = scale.local_clusters.labels.astype(np.int64) * n_other + other.local_clusters.labels
    pairs, counts = np.unique(both, return_counts=True)
    return pairs // n_other, pairs % n_other, counts


class Comparison:
    """Compares clusterings of different scales without going back to the samples."""

    def __init__(self, scales: Sequence[Scale], overlap: Callable[[Scale, Scale], Overlap] = count_overlap) -> None:
        self.shared: dict[tuple[int, int], Overlap] = {}
        for j, scale in enumerate(scales):
            sizes = scale.topo_graph.sizes
            everyone = np.arange(len(sizes))
            self.shared[j, j] = everyone, everyone, sizes.astype(np.float64)
            for i in range(j):
                first, second, counts = overlap(scales[i], scale)
                self.shared[i, j] = first, second, counts.astype(np.float64)

    def agreement(self, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
        """Adjusted Rand index of every two candidates, 0 where it is below chance."""
        table = np.eye(len(candidates))
        for column, b in enumerate(candidates):
            for row, a in enumerate(candidates[:column]):
                low, high = (a, b) if a.scale <= b.scale else (b, a)
                first, second, counts = self.shared[low.scale, high.scale]
                index = _kernels.adjusted_rand(
                    low.labels[first], high.labels[second], counts, low.labels.max() + 1, high.labels.max() + 1
                )
                table[row, column] = table[column, row] = max(index, 0.0)
        return table


def mean_agreement(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every row without the diagonal."""
    n = len(table)
    return np.asarray((table.sum(axis=1) - 1) / (n - 1)) if n > 1 else np.ones(n)


def choose(
    scales: Sequence[Scale],
    *,
    n_clusters: int,
    prior: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    overlap: Callable[[Scale, Scale], Overlap] = count_overlap,
) -> Choice:
    """The clustering into ``n_clusters`` that the scales agree on, near to the prior where there is one."""
    scales = [s for s in scales if s.n_peaks >= n_clusters] or [max(scales, key=lambda s: s.n_peaks)]
    widest = len(scales[0].log_intensity) / n_clusters / 2
    scales = [s for s in scales if s.n_neighbors <= widest] or scales[:1]  # 2 k within an average cluster
    comparison = Comparison(scales, overlap)
    candidates = linkage_candidates(scales, n_clusters, constraints)
    agreement = comparison.agreement(candidates)
    if prior is None and mean_agreement(agreement).max() < AGREED:
        prior = equal_shares(n_clusters)
    if prior is None:
        score = mean_agreement(agreement)
    else:
        swept = [sweep_candidate(scales, i, prior) for i in range(len(scales))]
        candidates += [c for c in swept if constraints is None or _keeps_groups(scales[c.scale], c.labels, constraints)]
        agreement = comparison.agreement(candidates)
        score = mean_agreement(agreement**4) - _distances(scales, candidates, prior)
    best, chosen = int(score.argmax()), candidates[int(score.argmax())]
    if constraints is not None:
        best, chosen = _best_within_bounds(scales, candidates, score, constraints)
    table = _table(scales, candidates, agreement, score, prior)
    table["chosen"] = np.arange(len(candidates)) == best
    return Choice(scales[chosen.scale], chosen.labels, chosen.merged, table)


def _best_within_bounds(
    scales: Sequence[Scale], candidates: Sequence[Candidate], score: NDArray[np.float64], constraints: Constraints
) -> tuple[int, Candidate]:
    """The best candidate whose sizes can be brought within the bounds: they do not decide which one is best."""
    problem = None
    for i in np.argsort(-score, kind="stable").tolist():
        scale = scales[candidates[i].scale]
        graph, members = scale.topo_graph, scale.local_clusters.labels
        try:
            labels = balance_sizes(graph, members, candidates[i].labels, constraints)
        except UnmetConstraintsError as error:
            problem = problem or error
            continue
        return i, candidates[i]._replace(labels=labels, merged=edges_inside(graph, labels))
    raise problem or UnmetConstraintsError("No clustering keeps to the constraints.")


def _keeps_groups(scale: Scale, labels: Array, constraints: Constraints) -> bool:
    return keeps_groups(labels, scale.local_clusters.labels, constraints)


def linkage_candidates(scales: Sequence[Scale], n_clusters: int, constraints: Constraints | None) -> list[Candidate]:
    """One of every scale that can keep to the constraints."""
    candidates, problem = [], None
    for i in range(len(scales)):
        try:
            candidates.append(linkage_candidate(scales, i, n_clusters, constraints))
        except UnmetConstraintsError as error:
            problem = error
    if problem is not None and not candidates:
        raise problem
    return candidates


def linkage_candidate(
    scales: Sequence[Scale], i: int, n_clusters: int, constraints: Constraints | None = None
) -> Candidate:
    """The hierarchy of a scale, cut; with constraints, merged within them."""
    if constraints is not None:
        graph, members = scales[i].topo_graph, scales[i].local_clusters.labels
        return Candidate(i, "linkage", *merge_constrained(graph, members, constraints, n_clusters=n_clusters))
    hierarchy = scales[i].hierarchy
    labels = cut_hierarchy(hierarchy, scales[i].topo_graph, n_clusters=n_clusters)
    return Candidate(i, "linkage", labels, merges_down_to(hierarchy, n_clusters))


def sweep_candidate(scales: Sequence[Scale], i: int, prior: NDArray[np.float64]) -> Candidate:
    """The paper's sweep on the topo-graph of a scale."""
    cut = sweep(scales[i].topo_graph, prior)
    return Candidate(i, "sweep", cut.labels, cut.merged)


def sweep(graph: TopoGraph, prior: NDArray[np.float64]) -> EdgeCut:
    """The paper's sweep against a prior, edges as strong as the boundary is wide."""
    return cut_edges(graph._replace(log_weights=boundary_widths(graph)), proportions=prior)


def boundary_widths(graph: TopoGraph) -> NDArray[np.float64]:
    """log of pairs / sqrt(|C_i| |C_j|) for every edge."""
    wide = np.log(np.maximum(graph.pairs, 1)) - np.log(graph.sizes[graph.edges]).sum(axis=1) / 2
    return np.where(graph.pairs > 0, wide, graph.log_weights)


def share_distance(graph: TopoGraph, labels: Array, prior: NDArray[np.float64]) -> float:
    """W1 between the shares of clusters of local clusters and a prior."""
    sizes = np.bincount(labels, graph.sizes)
    return proportion_distance(sizes / sizes.sum(), prior)


def _distances(
    scales: Sequence[Scale], candidates: Sequence[Candidate], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.array([share_distance(scales[c.scale].topo_graph, c.labels, prior) for c in candidates])


def _table(
    scales: Sequence[Scale],
    candidates: Sequence[Candidate],
    agreement: NDArray[np.float64],
    score: NDArray[np.float64],
    prior: NDArray[np.float64] | None,
) -> dict[str, NDArray[Any]]:
    unknown = np.full(len(candidates), np.nan)
    return {
        "n_neighbors": np.array([scales[c.scale].n_neighbors for c in candidates]),
        "merge": np.array([c.merge for c in candidates]),
        "n_local_clusters": np.array([len(c.labels) for c in candidates]),
        "agreement": mean_agreement(agreement),
        "proportion_distance": unknown if prior is None else _distances(scales, candidates, prior),
        "score": score,
    }


Leaks = Callable[[Sequence[tuple[Scale, Array]]], list[tuple[float, float]]]
"""Measures of leaking, see :func:`measure_leak`, of scales with labels for their local clusters."""


def select(
    scales: Sequence[Scale],
    *,
    n_clusters: int | None,
    prior: NDArray[np.float64] | None,
    leaks: Leaks,
    finest: Callable[[], Scale] | None = None,
    constraints: Constraints | None = None,
    overlap: Callable[[Scale, Scale], Overlap] = count_overlap,
) -> tuple[Choice, dict[str, NDArray[Any]] | None]:
    """The clustering that the scales agree on, and the scores of all numbers of clusters where none was given.

    ``finest`` builds the scale with the most peaks there are, for when the others have fewer than ``n_clusters``.
    """
    scores = None
    if n_clusters is None:
        scores = score_n_clusters(scales, leaks, overlap=overlap)
        least, most = (1, np.inf) if constraints is None else possible_numbers(constraints)
        possible = (scores["n_clusters"] >= least) & (scores["n_clusters"] <= most)
        n_clusters = int(scores["n_clusters"][np.where(possible, scores["score"], -np.inf).argmax()])
        n_clusters = max(n_clusters, least)
    elif finest is not None and max(s.n_peaks for s in scales) < n_clusters:
        scales = [*scales, finest()]
    options: dict[str, Any] = {"prior": prior, "constraints": constraints, "overlap": overlap}
    return choose(scales, n_clusters=n_clusters, **options), scores


def score_n_clusters(
    scales: Sequence[Scale], leaks: Leaks, *, overlap: Callable[[Scale, Scale], Overlap] = count_overlap
) -> dict[str, NDArray[Any]]:
    """How well every number of clusters fits: a table with columns n_clusters, score, agreement and leak.

    With the right number the clusters are nearly closed, and one more would cut through one of them. ``leak`` is the
    geometric mean of two measures of the worst place of a clustering, see :func:`measure_leak`. The score of c is how
    much the log leak grows from c to c + 1, times the fourth power of the agreement of the scales on c clusters. One
    cluster has the score that sampling noise can reach, which falls like 1 / sqrt(n).
    """
    n_samples = len(scales[0].log_intensity)
    scales = list(scales[::2])
    most = int(min(MOST_CLUSTERS, max(8, 2 * np.sqrt(n_samples)), max(s.n_peaks for s in scales)))
    comparison = Comparison(scales, overlap)
    agreed, best = np.ones(most), []
    for c in range(2, most + 1):
        candidates = [linkage_candidate(scales, i, c) for i in range(len(scales)) if scales[i].n_peaks >= c]
        mean = mean_agreement(comparison.agreement(candidates))
        agreed[c - 1] = mean.mean() if len(scales) == 1 or len(candidates) > 1 else 0.0
        chosen = candidates[int(mean.argmax())]
        best.append((scales[chosen.scale], chosen.labels))
    leaking = np.array([(0.0, 0.0), *leaks(best)]).T
    log_leak = np.log(np.maximum.accumulate(leaking, axis=1) + CLOSED).mean(axis=0)
    beyond = max(log_leak[-1], np.log(CUT_THROUGH))  # one more than the largest number tried
    score = np.diff(np.append(log_leak, beyond)) * agreed**4
    score[0] = NOISE[0] + NOISE[1] / np.sqrt(n_samples)
    return {"n_clusters": np.arange(1, most + 1), "score": score, "agreement": agreed, "leak": np.exp(log_leak)}


def measure_leak(scale: Scale, labels: Array, neighbors: Neighbors, n_jobs: int | None) -> tuple[float, float]:
    """How much and how freely clusters leak, the worst of them.

    How much: the share of a cluster's links that leave it. How freely: the mean over its boundary samples of the share
    of their links that cross, each weighted by its intensity relative to the peaks; a cut through a thin thread
    leaks little, but freely.
    """
    members = labels[scale.local_clusters.labels]
    k = leak_among(len(members), neighbors.indices.shape[1])
    counts = count_crossing(neighbors.indices, k, members, scale.log_intensity, highest_peaks(scale, labels), n_jobs)
    return leak_of(scale, labels, counts)


def leak_among(n_samples: int, n_found: int) -> int:
    """Neighbours whose links are looked at."""
    return min(n_found, 2 * round(float(np.log2(n_samples))))


def highest_peaks(scale: Scale, labels: Array) -> NDArray[np.float64]:
    """Log intensity of the highest peak of every cluster."""
    peaks = np.full(int(labels.max()) + 1, -np.inf)
    np.maximum.at(peaks, labels, scale.peak_intensity)
    return peaks


def count_crossing(
    indices: Array, k: int, members: Array, log_intensity: Array, peaks: Array, n_jobs: int | None
) -> NDArray[np.int64]:
    """Samples, boundary samples and crossing links of every cluster, (3, n_clusters); those of parts of the samples
    add up. ``indices`` may have fewer rows than there are samples with values."""
    crossing = np.empty(len(indices), np.int64)
    run_chunks(_kernels.measure_crossing, len(indices), n_jobs, indices, k, members, log_intensity, peaks, crossing)
    own, counts = members[: len(indices)], np.zeros((3, len(peaks)), np.int64)
    for row, values in enumerate((np.ones_like(crossing), crossing > 0, crossing)):
        np.add.at(counts[row], own, values)
    return counts


def leak_of(scale: Scale, labels: Array, counts: NDArray[np.int64]) -> tuple[float, float]:
    """The two measures from what :func:`count_crossing` has counted."""
    sizes, touched, crossing = counts
    graph = scale.topo_graph
    ends = labels[graph.edges]
    leaving = np.where(ends[:, 0] != ends[:, 1], graph.pairs, 0)
    links = 2.0 * scale.n_neighbors * sizes
    much = sum(np.bincount(end, leaving, minlength=len(sizes)) for end in ends.T) / links
    freely = crossing / _kernels.CROSSING / np.maximum(touched, 1)
    return float(much.max()), float(freely.max())
