"""Choose among clusterings, and among numbers of clusters, without labels.

There are many ways to look at samples: several representations of their features, several numbers of neighbours k, and
several ways to merge local clusters. Each gives a clustering, and the one is kept that agrees best with all the others
while saying most: what depends on an accident of one k or of one representation has nothing to agree with.

A :class:`View` is what stages 2 to 5 found with one representation and one k: the intensity from k neighbours, climbing
among k / 2 (many small and pure local clusters), boundary pairs among 2 k (well connected ones). The k are multiples of
log2 n, which is how a neighbour graph must grow to stay connected; one search at the largest serves all of them. Where
there are many samples, the representation is chosen on some of them, and all are looked at in that one only.

Views know graphs, not samples; what has to be counted on samples is asked of :class:`Evidence`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gitcluster._jit import comparing, run_chunks
from gitcluster._support.arrays import Array
from gitcluster.edge_cutting import cut_by_width, share_distance
from gitcluster.hierarchy import (
    CRUMB,
    Hierarchy,
    Merges,
    NestedCuts,
    build_hierarchy,
    cut_merges,
    cut_repeatedly,
    fit_undone,
    link,
    undo_order,
)
from gitcluster.hierarchy.constrained import Ties, UnmetConstraintsError, balance_sizes, merge_constrained
from gitcluster.hierarchy.spectral import cut_spectrum
from gitcluster.neighbors import Neighbors
from gitcluster.prior.constraints import Constraints, possible_numbers
from gitcluster.topo_graph import TopoGraph

FACTORS = tuple(2 ** (step / 2) for step in range(-2, 3))
"""Candidates for k, times log2 n: from a half to two."""
MOST_NEIGHBORS = 20
"""The largest candidate: boundary pairs are sought among 40 neighbours at most, however many samples there are."""
CRUMBS = {"linkage": CRUMB, "even linkage": 5}
"""Merges by linkage: no split leaves less than this part of an average cluster."""
FITTED = {f"{kind}, fitted": kind for kind in CRUMBS}
"""The same with other splits where these bring the sizes nearer to a prior."""
MOST_LOCAL_CLUSTERS = 2000
"""Local clusters up to which the spectrum of a topo-graph is computed."""
SAYING = 0.2
"""What a clustering gains that says as much as one into equal parts, beside full agreement, which is 1."""
MISPLACED = 2.0
"""What a share of misplaced samples costs: each is wrong where it is and missing where it belongs, so that agreement
with clusters of the right sizes falls by about twice their share, or more."""
MOST_CLUSTERS = 60
MOST_COMPARED = 1000
"""Samples by which all numbers of clusters are compared, at most."""
LEAKING = 0.1
"""Leak from which on clusters in few dimensions are not closed."""
STRUCTURELESS = 0.4
"""Score that samples without any structure rarely reach, times their dimension, which is at least two."""

Table = dict[str, NDArray[Any]]
"""Columns of one length, by name."""


@dataclass(frozen=True, eq=False)
class View:
    """What stages 2 to 5 found with one representation and one number of neighbours, apart from the samples."""

    n_neighbors: int
    n_samples: int
    topo_graph: TopoGraph
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""
    ties: Ties | None = None
    """Constraints on the local clusters."""
    representation: str = "std"

    @property
    def n_peaks(self) -> int:
        """Number of local clusters."""
        return len(self.topo_graph.sizes)

    @property
    def most_clusters(self) -> int:
        """Number of clusters where nothing merges but what must be together."""
        return self.n_peaks if self.ties is None else self.ties.count_parts(self.n_peaks)

    @cached_property
    def merges(self) -> Merges:
        """All merges of average linkage."""
        return link(self.topo_graph)

    @cached_property
    def _undone(self) -> dict[str, Array]:
        """What :meth:`undone` has found."""
        return {}

    def undone(self, kind: str, n_undone: int) -> Array:
        """The merges of a kind of linkage that are undone first."""
        found, wanted = self._undone.get(kind), min(n_undone, self.n_peaks - 1)
        if found is None or len(found) < wanted:
            self._undone[kind] = found = undo_order(self.merges, self.topo_graph, CRUMBS[kind], wanted)
        return found[:wanted]


class Evidence(Protocol):
    """What is counted on the samples of several views, which are known by their place in a list."""

    def rows(self, i: int) -> Array:
        """Local cluster, in a view, of every sample by which clusterings are compared."""

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
    representations: Table | None = None
    """All representations with their scores, or the reasons why there is none."""


def neighborhood_sizes(n_samples: int) -> list[int]:
    """Candidates for k.

    Examples
    --------
    >>> neighborhood_sizes(1000)
    [5, 7, 10, 14, 20]
    """
    largest = max(1, min(MOST_NEIGHBORS, n_samples - 1))
    return sorted({min(largest, max(2, round(factor * np.log2(n_samples)))) for factor in FACTORS})


def select(
    views: list[View],
    evidence: Evidence,
    *,
    n_clusters: int | None,
    dimension: float,
    prior: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    add_finest: Callable[[], None] | None = None,
) -> Selection:
    """The clustering that the views agree on, and the scores of all numbers of clusters where none was given.

    ``dimension`` is that of the samples, see :func:`intrinsic_dimension`. ``add_finest`` adds a view with the most
    peaks there are to ``views``, for when the others have fewer than ``n_clusters``.
    """
    scores = None
    if n_clusters is None:
        scores = score_n_clusters(views, evidence, dimension)
        least, most = (1, np.inf) if constraints is None else possible_numbers(constraints)
        possible = (scores["n_clusters"] >= least) & (scores["n_clusters"] <= most)
        n_clusters = int(scores["n_clusters"][np.where(possible, scores["score"], -np.inf).argmax()])
        n_clusters = min(max(n_clusters, least), views[0].n_samples)  # bounds on sizes may ask for any number
    elif add_finest is not None and max(view.most_clusters for view in views) < n_clusters:
        add_finest()
    chosen, table = choose(views, evidence, n_clusters=n_clusters, prior=prior)
    return Selection(chosen, table, scores)


def choose(
    views: Sequence[View], evidence: Evidence, *, n_clusters: int, prior: NDArray[np.float64] | None = None
) -> tuple[Candidate, Table]:
    """The clustering into ``n_clusters`` that all views agree on, near to the prior where there is one."""
    candidates = gather_candidates(views, n_clusters, prior)
    agreement = mean_agreement(compare(candidates, evidence))
    score = agreement + SAYING * np.array([evenness(views[c.view], c.labels, n_clusters) for c in candidates])
    distances, misplaced = np.full((2, len(candidates)), np.nan)
    if prior is not None:
        graphs = [views[c.view].topo_graph for c in candidates]
        distances = np.array([share_distance(g, c.labels, prior) for g, c in zip(graphs, candidates, strict=True)])
        misplaced = np.array([misplaced_share(g, c.labels, prior) for g, c in zip(graphs, candidates, strict=True)])
        score = score - MISPLACED * misplaced
    best, chosen = _best_within_bounds(views, candidates, score.round(9))
    return chosen, {
        "representation": np.array([views[c.view].representation for c in candidates]),
        "n_neighbors": np.array([views[c.view].n_neighbors for c in candidates]),
        "merge": np.array([c.merge for c in candidates]),
        "n_local_clusters": np.array([len(c.labels) for c in candidates]),
        "agreement": agreement,
        "proportion_distance": distances,
        "misplaced": misplaced,
        "score": score,
        "chosen": np.arange(len(candidates)) == best,
    }


def evenness(view: View, labels: Array, n_clusters: int) -> float:
    """Entropy of the sizes of clusters, from 0 to 1 for equal sizes: how much the clustering says."""
    shares = np.bincount(labels, view.topo_graph.sizes, minlength=n_clusters) / view.topo_graph.sizes.sum()
    return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum() / np.log(max(n_clusters, 2)))


def misplaced_share(graph: TopoGraph, labels: Array, prior: NDArray[np.float64]) -> float:
    """Share of the samples that would have to move for the clusters to have the sizes of the prior."""
    sizes = np.sort(np.bincount(labels, graph.sizes, minlength=len(prior)))[::-1] / graph.sizes.sum()
    return float(np.abs(sizes - np.pad(prior, (0, len(sizes) - len(prior)))).sum() / 2)


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


def gather_candidates(views: Sequence[View], n_clusters: int, prior: NDArray[np.float64] | None) -> list[Candidate]:
    """All clusterings into a number of clusters."""
    merges = [*CRUMBS, "spectral"] if prior is None else [*CRUMBS, "spectral", "sweep", *FITTED]
    candidates, problem = [], None
    for i in able_views(views, n_clusters):
        for merge in merges:
            try:
                candidate = merge_view(views, i, merge, n_clusters=n_clusters, prior=prior)
            except UnmetConstraintsError as error:
                problem = error
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
        return build_hierarchy(view.topo_graph, crumb=CRUMBS.get(chosen.merge, CRUMB))
    return build_hierarchy(view.topo_graph, around=chosen.labels)


def compare(candidates: Sequence[Candidate], evidence: Evidence) -> NDArray[np.float64]:
    """Adjusted Rand index of every two candidates, 0 where it is below chance."""
    return compare_labels([c.labels[evidence.rows(c.view)] for c in candidates])


def compare_labels(clusterings: Sequence[Array]) -> NDArray[np.float64]:
    """Adjusted Rand index of every two clusterings, 0 where it is below chance."""
    labels = np.array(clusterings, dtype=np.int32)
    width = int(labels.max()) + 1
    return rand_indices(count_common(labels, [width] * len(labels), [], width)[0], labels.shape[1])


def count_common(parts: Array, n_parts: Sequence[int], joined: Sequence[Array], least: int = 2) -> NDArray[np.int64]:
    """Ordered pairs of samples that are together in every two of several nested cuts, (n_cuts, n, n), from cuts into
    ``least`` clusters on; see the kernel of this name."""
    most, n = max(n_parts), len(n_parts)
    ways, common = np.zeros((n, most, 2), np.int64), np.zeros((most - least + 1, n, n), np.int64)
    for way, found in zip(ways, joined, strict=False):
        way[: len(found)] = found
    comparing.count_common(parts, np.array(n_parts), ways, least, np.empty(most**2, np.int64), common)
    return common


def rand_indices(common: NDArray[np.int64], n_samples: int) -> NDArray[np.float64]:
    """Adjusted Rand indices from what :func:`count_common` counted for one cut each, 0 where they are below chance."""
    own = common.diagonal().astype(np.float64)
    expected, most = own[:, None] * own / (n_samples * (n_samples - 1.0)), (own[:, None] + own) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(most == expected, 1.0, np.maximum((common - expected) / (most - expected), 0.0))
    np.fill_diagonal(found, 1.0)
    return found


def mean_agreement(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every row without the diagonal."""
    n = len(table)
    return np.asarray((table.sum(axis=1) - 1) / (n - 1)) if n > 1 else np.ones(n)


def score_n_clusters(views: Sequence[View], evidence: Evidence, dimension: float) -> Table:
    """How well every number of clusters fits: a table with columns n_clusters, score, agreement, leak, rank and
    confidence, see :func:`rank_numbers`.

    The score is the information that the views agree on where the clusters are closed: the entropy of their sizes,
    times the third power of the mean agreement, times how far the leak is below that of samples without structure, see
    :func:`open_leak`. One cluster has the score that samples without structure rarely reach, which falls with their
    dimension: the more directions there are to cut in, the less do views agree on one. It is less where the best number
    says less than two equal clusters would, so that a small cluster far from all others is found.
    """
    found = describe_numbers(views, evidence)
    limit = [open_leak(2 * views[i].n_neighbors, views[i].n_samples, dimension) for i in found.view]
    score = found.information * found.agreement**3 * np.maximum(0, 1 - found.leak / limit)
    says = found.information[score.argmax()] or np.inf
    score[0] = STRUCTURELESS / max(2.0, dimension) * min(1.0, says / np.log(2))
    rank, confidence = rank_numbers(score)
    return {
        "n_clusters": np.arange(1, len(score) + 1), "score": score, "agreement": found.agreement, "leak": found.leak,
        "rank": rank, "confidence": confidence,
    }  # fmt: skip


class Numbers(NamedTuple):
    """What is known of the numbers of clusters 1, 2, ..."""

    information: NDArray[np.float64]
    """Entropy of the sizes of clusters, in nats."""
    agreement: NDArray[np.float64]
    """Mean agreement of all views; 0 where only one of them has so many clusters."""
    leak: NDArray[np.float64]
    """Geometric mean of two measures of the worst cluster, see :func:`measure_leak`."""
    view: list[int]
    """The view whose cut was looked at."""
    labels: list[Array]
    """That cut: clusters of the local clusters."""


def describe_numbers(views: Sequence[View], evidence: Evidence) -> Numbers:
    """The cut that agrees best with the others and says most, for every number of clusters, and what is known of it."""
    n_peaks = max(view.n_peaks for view in views)
    most = int(min(MOST_CLUSTERS, max(8, 2 * np.sqrt(views[0].n_samples)), n_peaks))
    able = [i for i, view in enumerate(views) if view.n_peaks > 1]
    cuts = [(i, nested_cuts(views[i], kind, most)) for i in able for kind in CRUMBS]
    step = -(-len(evidence.rows(0)) // MOST_COMPARED)
    parts = np.array([found.part[evidence.rows(i)[::step]] for i, found in cuts], np.int32)
    n_parts, joined = [len(found.joined) + 1 for _, found in cuts], [found.joined for _, found in cuts]
    common = count_common(parts, n_parts, joined) if cuts else np.empty((0, 0, 0), np.int64)
    evenness = [evenness_of_cuts(found, views[i].topo_graph.sizes) for i, found in cuts]
    agreed, said = np.ones(most), np.zeros(most)
    best = [(0, np.zeros(views[0].n_peaks, np.int32))]
    for c in range(2, most + 1):
        able = [place for place, number in enumerate(n_parts) if number >= c]
        mean = mean_agreement(rand_indices(common[c - 2][np.ix_(able, able)], parts.shape[1]))
        even = np.array([evenness[place][c - 2] for place in able])
        place = int((mean + SAYING * even).round(9).argmax())
        alone = len({cuts[place][0] for place in able}) == 1 < len(views)
        agreed[c - 1] = 0.0 if alone else mean.mean()
        said[c - 1] = even[place] * np.log(c)
        best.append((cuts[able[place]][0], cuts[able[place]][1].labels(c)))
    counts = evidence.count_crossing(best)
    leaks = [measure_leak(views[i], labels, found) for (i, labels), found in zip(best, counts, strict=True)]
    return Numbers(said, agreed, np.sqrt(np.prod(leaks, axis=1)), [i for i, _ in best], [labels for _, labels in best])


def rank_numbers(score: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which numbers of clusters come first, second and third, from the scores of 1, 2, ...; and how sure each is.

    The second differs from the first by a half or more, and so does the third from both: 9 clusters are not another
    answer than 10. The confidence is the share of their scores; numbers without a rank have rank 0 and confidence 0.

    Examples
    --------
    >>> rank_numbers(np.array([0.1, 0.6, 0.0, 0.0, 0.3, 0.2]))
    (array([3, 1, 0, 0, 2, 0]), array([0.1, 0.6, 0. , 0. , 0.3, 0. ]))
    """
    number, free = np.arange(1, len(score) + 1), np.ones(len(score), np.bool_)
    rank = np.zeros(len(score), np.int64)
    for place in range(1, 4):
        best = int(np.where(free, score, -1.0).argmax())
        if not free[best]:
            break
        rank[best] = place
        free &= (number >= 1.5 * number[best]) | (1.5 * number <= number[best])
    total = score[rank > 0].sum()
    return rank, np.where(rank > 0, score / total if total > 0 else 0.0, 0.0)


def nested_cuts(view: View, kind: str, most: int) -> NestedCuts:
    """Clusters of the local clusters into 1, 2, 3, ... by one kind of linkage."""
    return cut_repeatedly(view.merges, view.topo_graph, view.undone(kind, min(most, view.n_peaks) - 1))


def evenness_of_cuts(cuts: NestedCuts, sizes: Array) -> list[float]:
    """:func:`evenness` of the cuts into 2, 3, ... clusters."""
    shares = cuts.cluster_sizes(sizes) / sizes.sum()
    said = shares * np.log(np.where(shares > 0, shares, 1.0))
    return [float(-said[c - 1][shares[c - 1] > 0].sum() / np.log(c)) for c in range(2, len(shares) + 1)]


def open_leak(n_links: int, n_samples: int, dimension: float, *, least: float = LEAKING) -> float:
    """Leak from which on clusters are not closed: that of a slab cut out of samples without structure.

    Let the samples fill a cube of this dimension and of width 1. A neighbourhood of ``n_links`` samples is a cube of
    some width r, and from a slab half as wide as the whole, cut on both sides, r / 2 of all links leave. In many
    dimensions neighbours are far away, and links leave any cluster more often than in the plane; but a cluster that
    keeps nine of ten links is closed to some extent in the plane as well, however many samples there are.

    Examples
    --------
    >>> [round(open_leak(20, 2000, dimension), 2) for dimension in (2.0, 8.0, 30.0)]
    [0.1, 0.28, 0.43]
    """
    return float(max(least, (n_links / n_samples) ** (1 / max(1.0, dimension)) / 2))


def intrinsic_dimension(near: Neighbors) -> float:
    """Dimension of samples by how fast neighbours become more with distance (Levina and Bickel 2004)."""
    last, others = near.distances[:, -1:].astype(np.float64), near.distances[:, :-1].astype(np.float64)
    counted = (others > 0) & np.isfinite(last) & (last > 0)
    if not counted.any():
        return 1.0
    growth = np.log(np.where(counted, last, 1.0) / np.where(counted, others, 1.0))[counted].mean()
    return float(1 / max(growth, 1e-3))


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

    def __init__(self, views: Sequence[View], n_jobs: int | None) -> None:
        self.views, self.n_jobs = views, n_jobs
        self.samples: list[tuple[Neighbors, Array, NDArray[np.float64]]] = []
        """Neighbours, local cluster and log intensity of every sample, for every view."""
        self.compared: list[Array] = []

    def add(self, near: Neighbors, local: Array, log_intensity: NDArray[np.float64], rows: Array | None) -> None:
        """The samples of one more view, and which of them are compared with those of others; None for all."""
        self.samples.append((near, local, log_intensity))
        self.compared.append(local if rows is None else local[rows])

    def rows(self, i: int) -> Array:
        """Local cluster, in a view, of every sample by which clusterings are compared."""
        return self.compared[i]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[NDArray[np.int64]]:
        """What crosses between the clusters of a view."""
        found = []
        for i, labels in cuts:
            near, local, log_intensity = self.samples[i]
            k, peaks = leak_among(*near.indices.shape), highest_peaks(self.views[i], labels)
            found.append(count_crossing(near.indices, k, labels[local], log_intensity, peaks=peaks, n_jobs=self.n_jobs))
        return found
