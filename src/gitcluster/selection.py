"""Choose the number of neighbours, and of clusters, without labels.

One search at the largest k serves every smaller k: it is a prefix of each row. Each k gives a :class:`View`, what
stages 2 to 5 found: the intensity from k neighbours, climbing among k / 2 (many small and pure local clusters),
boundary pairs among 2 k (well connected ones). The k are multiples of log2 n, which is how a neighbour graph must grow
to stay connected.

Every view gives a clustering, and the one that agrees best with the others is chosen: what depends on an accident of
one k has nothing to agree with. A prior of proportions adds candidates from the sweep, and its distance W1 to the
score. Where the views do not agree, the data alone do not tell, and equal shares are taken as the prior.

Views know graphs, not samples; what has to be counted on samples is asked of :class:`Evidence`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gitcluster._jit import comparing, run_chunks
from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import cut_by_width, share_distance
from gitcluster.hierarchy import Hierarchy, cut_hierarchy, merges_down_to
from gitcluster.hierarchy.constrained import Ties, UnmetConstraintsError, balance_sizes, merge_constrained
from gitcluster.neighbors import Neighbors
from gitcluster.prior.constraints import Constraints, possible_numbers
from gitcluster.prior.proportions import equal_shares
from gitcluster.topo_graph import TopoGraph

FACTORS = tuple(2 ** (step / 4) for step in range(-4, 5))
"""Candidates for k, times log2 n: from a half to two."""
MOST_NEIGHBORS = 20
"""The largest candidate: boundary pairs are sought among 40 neighbours at most, however many samples there are."""
AGREED = 0.7
"""Mean adjusted Rand index from which on the views agree."""
MOST_CLUSTERS = 60
CLOSED = 0.005
"""Share of links below which a cluster is as good as closed."""
CUT_THROUGH = 0.2
"""Leak of a cut through the middle of a cluster."""
NOISE = (0.1, 2.0)
"""Score of one cluster: the first, plus the second / sqrt(n)."""

Table = dict[str, NDArray[Any]]
"""Columns of one length, by name."""
Overlap = tuple[Array, Array, Array]
"""Local clusters of one view, of another, and the number of samples that they share."""


class View(NamedTuple):
    """What stages 2 to 5 found with one number of neighbours, apart from the samples."""

    n_neighbors: int
    n_samples: int
    topo_graph: TopoGraph
    hierarchy: Hierarchy
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""
    ties: Ties | None = None
    """Constraints on the local clusters."""

    @property
    def n_peaks(self) -> int:
        """Number of local clusters."""
        return len(self.topo_graph.sizes)

    @property
    def most_clusters(self) -> int:
        """Number of clusters where nothing merges but what must be together."""
        return self.n_peaks if self.ties is None else self.ties.count_parts(self.n_peaks)


class Evidence(Protocol):
    """What is counted on the samples of several views, which are known by their place in a list."""

    def overlap(self, i: int, j: int) -> Overlap:
        """The samples that local clusters of two views share."""

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[NDArray[np.int64]]:
        """What crosses between the clusters of a view, see :func:`count_crossing`, for views with labels."""


class Candidate(NamedTuple):
    """One way to cluster: the labels a merge gives the local clusters of a view, and the edges it merged along."""

    view: int
    merge: str
    labels: Array
    merged: Array


class Selection(NamedTuple):
    """The chosen candidate, and why it was chosen."""

    chosen: Candidate
    table: Table
    """All candidates with their scores."""
    n_clusters_scores: Table | None
    """All numbers of clusters with their scores, where none was given."""


def neighborhood_sizes(n_samples: int) -> list[int]:
    """Candidates for k.

    Examples
    --------
    >>> neighborhood_sizes(1000)
    [5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    largest = max(1, min(MOST_NEIGHBORS, n_samples - 1))
    return sorted({min(largest, max(2, round(factor * np.log2(n_samples)))) for factor in FACTORS})


def select(
    views: list[View],
    evidence: Evidence,
    *,
    n_clusters: int | None,
    prior: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    add_finest: Callable[[], None] | None = None,
) -> Selection:
    """The clustering that the views agree on, and the scores of all numbers of clusters where none was given.

    ``add_finest`` adds a view with the most peaks there are to ``views``, for when the others have fewer than
    ``n_clusters``.
    """
    scores = None
    if n_clusters is None:
        scores = score_n_clusters(views, evidence)
        least, most = (1, np.inf) if constraints is None else possible_numbers(constraints)
        possible = (scores["n_clusters"] >= least) & (scores["n_clusters"] <= most)
        n_clusters = int(scores["n_clusters"][np.where(possible, scores["score"], -np.inf).argmax()])
        n_clusters = max(n_clusters, least)
    elif add_finest is not None and max(view.most_clusters for view in views) < n_clusters:
        add_finest()
    chosen, table = choose(views, evidence, n_clusters=n_clusters, prior=prior)
    return Selection(chosen, table, scores)


def choose(
    views: Sequence[View], evidence: Evidence, *, n_clusters: int, prior: NDArray[np.float64] | None = None
) -> tuple[Candidate, Table]:
    """The clustering into ``n_clusters`` that the views agree on, near to the prior where there is one."""
    most = [view.most_clusters for view in views]
    able = [i for i, count in enumerate(most) if count >= n_clusters] or [int(np.argmax(most))]
    widest = views[0].n_samples / n_clusters / 2  # 2 k within an average cluster
    able = [i for i in able if views[i].n_neighbors <= widest] or able[:1]
    candidates = linkage_candidates(views, able, n_clusters)
    agreement = compare(views, candidates, evidence)
    if prior is None and mean_agreement(agreement).max() < AGREED:
        prior = equal_shares(n_clusters)
    if prior is None:
        score, distances = mean_agreement(agreement), np.full(len(candidates), np.nan)
    else:
        swept = [sweep_candidate(views, i, prior) for i in able]
        candidates += [c for c in swept if _are_kept(views[c.view].ties, c.labels)]
        agreement = compare(views, candidates, evidence)
        distances = np.array([share_distance(views[c.view].topo_graph, c.labels, prior) for c in candidates])
        score = mean_agreement(agreement**4) - distances
    best, chosen = _best_within_bounds(views, candidates, score)
    return chosen, {
        "n_neighbors": np.array([views[c.view].n_neighbors for c in candidates]),
        "merge": np.array([c.merge for c in candidates]),
        "n_local_clusters": np.array([len(c.labels) for c in candidates]),
        "agreement": mean_agreement(agreement),
        "proportion_distance": distances,
        "score": score,
        "chosen": np.arange(len(candidates)) == best,
    }


def _are_kept(ties: Ties | None, labels: Array) -> bool:
    return ties is None or ties.are_kept(labels)


def _best_within_bounds(
    views: Sequence[View], candidates: Sequence[Candidate], score: NDArray[np.float64]
) -> tuple[int, Candidate]:
    """The best candidate whose sizes can be brought within the bounds: they do not decide which one is best."""
    problem = None
    for i in np.argsort(-score, kind="stable").tolist():
        graph, ties = views[candidates[i].view].topo_graph, views[candidates[i].view].ties
        if ties is None:
            return i, candidates[i]
        try:
            labels = balance_sizes(graph, candidates[i].labels, ties)
        except UnmetConstraintsError as error:
            problem = problem or error
            continue
        return i, candidates[i]._replace(labels=labels, merged=np.flatnonzero(graph.inside(labels)))
    raise problem or UnmetConstraintsError("No clustering keeps to the constraints.")


def linkage_candidates(views: Sequence[View], able: Sequence[int], n_clusters: int) -> list[Candidate]:
    """One of every view that can keep to the constraints."""
    candidates, problem = [], None
    for i in able:
        try:
            candidates.append(linkage_candidate(views, i, n_clusters))
        except UnmetConstraintsError as error:
            problem = error
    if problem is not None and not candidates:
        raise problem
    return candidates


def linkage_candidate(views: Sequence[View], i: int, n_clusters: int, *, constrained: bool = True) -> Candidate:
    """The hierarchy of a view, cut; with constraints, merged within them."""
    view = views[i]
    if constrained and view.ties is not None:
        labels = merge_constrained(view.topo_graph, view.ties, n_clusters=n_clusters)
        return Candidate(i, "linkage", labels, np.flatnonzero(view.topo_graph.inside(labels)))
    labels = cut_hierarchy(view.hierarchy, view.topo_graph, n_clusters=n_clusters)
    return Candidate(i, "linkage", labels, merges_down_to(view.hierarchy, n_clusters))


def sweep_candidate(views: Sequence[View], i: int, prior: NDArray[np.float64]) -> Candidate:
    """The paper's sweep on the topo-graph of a view."""
    cut = cut_by_width(views[i].topo_graph, prior)
    return Candidate(i, "sweep", cut.labels, cut.merged)


def compare(views: Sequence[View], candidates: Sequence[Candidate], evidence: Evidence) -> NDArray[np.float64]:
    """Adjusted Rand index of every two candidates, 0 where it is below chance; samples are not gone back to."""
    table = np.eye(len(candidates))
    for column, b in enumerate(candidates):
        for row, a in enumerate(candidates[:column]):
            low, high = (a, b) if a.view <= b.view else (b, a)
            if low.view == high.view:
                sizes = views[low.view].topo_graph.sizes
                first = second = np.arange(len(sizes))
                counts = sizes.astype(np.float64)
            else:
                first, second, counts = evidence.overlap(low.view, high.view)
            index = comparing.adjusted_rand(
                low.labels[first], high.labels[second], counts.astype(np.float64), low.labels.max() + 1,
                high.labels.max() + 1,
            )  # fmt: skip
            table[row, column] = table[column, row] = max(index, 0.0)
    return table


def mean_agreement(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every row without the diagonal."""
    n = len(table)
    return np.asarray((table.sum(axis=1) - 1) / (n - 1)) if n > 1 else np.ones(n)


def score_n_clusters(views: Sequence[View], evidence: Evidence) -> Table:
    """How well every number of clusters fits: a table with columns n_clusters, score, agreement and leak.

    With the right number the clusters are nearly closed, and one more would cut through one of them. ``leak`` is the
    geometric mean of two measures of the worst place of a clustering, see :func:`measure_leak`. The score of c is how
    much the log leak grows from c to c + 1, times the fourth power of the agreement of the views on c clusters. One
    cluster has the score that sampling noise can reach, which falls like 1 / sqrt(n).
    """
    n_samples = views[0].n_samples
    asked = range(0, len(views), 2)
    most = int(min(MOST_CLUSTERS, max(8, 2 * np.sqrt(n_samples)), max(views[i].n_peaks for i in asked)))
    agreed, best = np.ones(most), []
    for c in range(2, most + 1):
        candidates = [linkage_candidate(views, i, c, constrained=False) for i in asked if views[i].n_peaks >= c]
        mean = mean_agreement(compare(views, candidates, evidence))
        agreed[c - 1] = mean.mean() if len(asked) == 1 or len(candidates) > 1 else 0.0
        best.append(candidates[int(mean.argmax())])
    counts = evidence.count_crossing([(chosen.view, chosen.labels) for chosen in best])
    leaks = [measure_leak(views[c.view], c.labels, found) for c, found in zip(best, counts, strict=True)]
    leaking = np.array([(0.0, 0.0), *leaks]).T
    log_leak = np.log(np.maximum.accumulate(leaking, axis=1) + CLOSED).mean(axis=0)
    beyond = max(log_leak[-1], np.log(CUT_THROUGH))  # one more than the largest number tried
    score = np.diff(np.append(log_leak, beyond)) * agreed**4
    score[0] = NOISE[0] + NOISE[1] / np.sqrt(n_samples)
    return {"n_clusters": np.arange(1, most + 1), "score": score, "agreement": agreed, "leak": np.exp(log_leak)}


def leak_among(n_samples: int, n_found: int) -> int:
    """Neighbours whose links are looked at."""
    return min(n_found, 2 * round(float(np.log2(n_samples))))


def highest_peaks(view: View, labels: Array) -> NDArray[np.float64]:
    """Log intensity of the highest peak of every cluster."""
    peaks = np.full(int(labels.max()) + 1, -np.inf)
    np.maximum.at(peaks, labels, view.peak_intensity)
    return peaks


def count_crossing(
    indices: Array, k: int, members: Array, log_intensity: Array, *, peaks: Array, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Samples, boundary samples and crossing links of every cluster, (3, n_clusters); those of parts of the samples
    add up. ``indices`` may have fewer rows than there are samples with values."""
    crossing = np.empty(len(indices), np.int64)
    run_chunks(comparing.measure_crossing, len(indices), n_jobs, indices, k, members, log_intensity, peaks, crossing)
    own, counts = members[: len(indices)], np.zeros((3, len(peaks)), np.int64)
    for row, values in enumerate((np.ones_like(crossing), crossing > 0, crossing)):
        np.add.at(counts[row], own, values)
    return counts


def measure_leak(view: View, labels: Array, counts: NDArray[np.int64]) -> tuple[float, float]:
    """How much and how freely clusters leak, the worst of them, from what :func:`count_crossing` has counted.

    How much: the share of a cluster's links that leave it. How freely: the mean over its boundary samples of the share
    of their links that cross, each weighted by its intensity relative to the peaks; a cut through a thin thread
    leaks little, but freely.
    """
    sizes, touched, crossing = counts
    graph = view.topo_graph
    leaving = np.where(graph.inside(labels), 0, graph.pairs)
    links = 2.0 * view.n_neighbors * sizes
    much = sum(np.bincount(end, leaving, minlength=len(sizes)) for end in labels[graph.edges].T) / links
    freely = crossing / comparing.CROSSING / np.maximum(touched, 1)
    return float(much.max()), float(freely.max())


class SampleEvidence:
    """Evidence from samples that are all here."""

    def __init__(self, views: Sequence[View], neighbors: Neighbors, n_jobs: int | None) -> None:
        self.views, self.neighbors, self.n_jobs = views, neighbors, n_jobs
        self.samples: list[tuple[Array, NDArray[np.float64]]] = []
        """Local cluster and log intensity of every sample, for every view."""
        self.known: dict[tuple[int, int], Overlap] = {}

    def overlap(self, i: int, j: int) -> Overlap:
        """The samples that local clusters of two views share."""
        if (i, j) not in self.known:
            n_other = self.views[j].n_peaks
            both = self.samples[i][0].astype(np.int64) * n_other + self.samples[j][0]
            pairs, counts = np.unique(both, return_counts=True)
            self.known[i, j] = pairs // n_other, pairs % n_other, counts
        return self.known[i, j]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[NDArray[np.int64]]:
        """What crosses between the clusters of a view."""
        indices = self.neighbors.indices
        k = leak_among(len(indices), indices.shape[1])
        found = []
        for i, labels in cuts:
            local, log_intensity = self.samples[i]
            peaks = highest_peaks(self.views[i], labels)
            found.append(count_crossing(indices, k, labels[local], log_intensity, peaks=peaks, n_jobs=self.n_jobs))
        return found
