"""Choose a clustering, and the number of clusters, without labels.

Several rules merge every configuration. Each yields a candidate, and the one is selected that agrees best with
all others and is most informative: an accident of one k or of one representation agrees with nothing else. If the
candidates disagree, other methods vote as well, see ``gitcluster.referees``. If there are many samples, a subsample
chooses the representation, and all samples are clustered in that one only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.configurations import (
    LINKAGES,
    Configuration,
    SampleStatistics,
    measure_conductance,
    measure_valleys,
)
from gitcluster.constraints import (
    Constraints,
    UnmetConstraintsError,
    balance_sizes,
    merge_constrained,
    possible_numbers,
)
from gitcluster.edge_cutting import cut_by_width, proportion_distance
from gitcluster.hierarchy import (
    MIN_SPLIT_RATIO,
    Hierarchy,
    NestedCuts,
    build_hierarchy,
    connect_clusters,
    cut_merges,
    cut_repeatedly,
    cut_spectrum,
    fit_splits,
    order_merges,
)
from gitcluster.kernels import graph as kernels
from gitcluster.neighbors import Neighbors
from gitcluster.referees import Opinion, Referees, agreement_of_families, vote

MAX_SPECTRAL = 2000
"""Local clusters up to which the spectrum of a topo-graph is computed; the cost is cubic."""
MISPLACED_COST = 2.0
"""Cost of a share of misplaced samples. Each is wrong in one cluster and missing in another, so that the agreement
with clusters of the right sizes falls by about twice their share, or more."""
ENTROPY_WEIGHT = 0.2
"""Bonus of a clustering into equal parts, beside full agreement, which is 1."""
AGREED = 0.7
"""Mean agreement from which on candidates agree, so that no referee votes."""
CERTAIN = 0.9
"""Mean agreement from which on a number of clusters needs no second opinion."""
NUMBERS_ASKED = (2, 3, 4, 5, 6, 7, 8, 10)
"""Numbers of clusters that referees compare."""
NUMBERS_COMPARED = (2, 3, 5, 8)
"""Numbers of clusters on which the families of methods agree more than on samples without clusters."""
MIN_SCORE_RATIO, MIN_AGREEMENT_RATIO = 3.0, 1.25
"""Ratios to samples without clusters from which on there are clusters: that of the best score of a number, and that of
the agreement between families of methods. By chance, the one varies by a factor of two, the other by a tenth."""
MAX_ASKED = 15
"""Number up to which referees are asked: k-means and mixtures find many clusters less well than linkage."""
NULL_AGREEMENTS = np.array([[3, 0.63], [4, 0.57], [5, 0.53], [7, 0.48], [10, 0.45], [15, 0.34]])
"""Intrinsic dimensions, and the agreement between families of methods that at least 98 % of simulated sets without
structure do not exceed there, see ``python -m benchmarks null_agreement``."""
MAX_CLUSTERS = 60
"""Largest number that is tried if none is given; the cost of comparing cuts grows with its square."""
MAX_CONDUCTANCE = 0.1
"""Conductance from which on clusters in few dimensions are not closed."""
NULL_SCORE = 0.5
"""Score that samples without structure rarely reach, times their dimension, which is at least two."""
MIN_DEPTH = 3.0
"""Standard deviations of chance from which on a valley counts as one."""

Table = dict[str, NDArray[Any]]
"""Columns of one length, by name."""


class Candidate(NamedTuple):
    """A clustering: one configuration and one merge of its local clusters."""

    configuration: int
    merge: str
    labels: Array
    """(m,) cluster of every local cluster."""
    merged: Array
    """Edges that were merged along."""


class Selection(NamedTuple):
    """The chosen candidate and the reasons."""

    chosen: Candidate
    table: Table
    """All candidates with their scores."""
    n_clusters_scores: Table | None
    """All numbers of clusters with their scores, if none was given."""
    representations: Table | None = None
    """All representations with their scores, or the reasons for leaving them out."""

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters of the chosen candidate."""
        return int(self.chosen.labels.max()) + 1


def select(
    candidates: SampleStatistics,
    *,
    n_clusters: int | None,
    dimension: float,
    prior: NDArray[np.float64] | None = None,
    constraints: Constraints | None = None,
    target: Array | None = None,
    referees: Referees | None = None,
    fit_twin: Callable[[], tuple[SampleStatistics, Referees]] | None = None,
    is_independent: bool = False,
) -> Selection:
    """Return the clustering that the configurations agree on, and scores of all numbers of clusters if none is given.

    ``dimension`` is the intrinsic one, see :func:`intrinsic_dimension`. ``prior`` has the expected shares of clusters,
    and ``target`` the labels that the chosen clustering should agree with, see :func:`choose`. The ``referees`` vote if
    the candidates disagree. They compare a number of clusters with samples without any, which ``fit_twin`` clusters. If
    ``is_independent``, no column depends on another one, so that there is one cluster.
    """
    options: dict[str, Any] = {"prior": prior, "target": target, "referees": referees}
    if n_clusters is not None:
        return Selection(*choose(candidates, n_clusters=n_clusters, **options), None)
    scores = score_n_clusters(candidates, dimension)
    if is_independent:
        scores = prefer_number(scores, 1)
    elif referees is not None:
        scores = ask_referees(candidates, referees, fit_twin, scores, dimension)
    numbers = scores["n_clusters"]
    least, most = (1, np.inf) if constraints is None else possible_numbers(constraints)
    problem: UnmetConstraintsError | None = None
    tried: set[int] = set()
    while True:  # only links and bounds on sizes need more than one round
        allowed = (numbers >= least) & (numbers <= most) & ~np.isin(numbers, [*tried])
        number = int(numbers[np.where(allowed, scores["score"], -np.inf).argmax()])
        number = min(max(number, least), candidates.configurations[0].n_samples)  # may need more than have scores
        if number in tried:
            raise problem or UnmetConstraintsError("No clustering satisfies the constraints.")
        try:
            return Selection(*choose(candidates, n_clusters=number, **options), scores)
        except UnmetConstraintsError as error:
            problem, least = problem or error, max(least, error.n_clusters)
            tried.add(number)


def choose(
    statistics: SampleStatistics,
    *,
    n_clusters: int,
    prior: NDArray[np.float64] | None = None,
    target: Array | None = None,
    referees: Referees | None = None,
) -> tuple[Candidate, Table]:
    """Return the clustering into ``n_clusters`` that agrees best with the target or, without one, with all others.

    The target holds the labels of all samples, which count alone, or of a subsample. The latter count as much as all
    others or, if the candidates agree with one another, in proportion to the samples. Local clusters may follow the
    target if it holds all samples, or if the candidates agree neither with it nor with one another. If the best
    candidate does not agree with the others, referees vote too. With a prior, clusterings with other sizes are
    penalised, and referees, who do not know it, have half of the vote.
    """
    configurations = statistics.configurations
    candidates = gather_candidates(configurations, n_clusters, prior)
    local = [statistics.local_labels(i) for i in range(len(configurations))]
    labels = [c.labels[local[c.configuration]] for c in candidates]
    n_samples, follows = configurations[0].n_samples, False
    agreement = mean_agreement(compare_labels(labels))
    if target is not None:
        near, follows = compare_labels([target, *labels])[0, 1:], len(target) == n_samples
        # A subsample compares all representations, while the candidates of all samples see finer clusters. If these
        # agree with one another, both count by their samples. Otherwise, they may share the mistakes of one method.
        share = len(target) / (len(target) + n_samples) if agreement.max() >= AGREED else 0.5
        if follows or max(near.max(), agreement.max()) < AGREED:
            followers = follow_labels(configurations, local, target, n_clusters)
            candidates += followers
            labels += [c.labels[local[c.configuration]] for c in followers]
            near, agreement = compare_labels([target, *labels])[0, 1:], mean_agreement(compare_labels(labels))
        agreement = near if follows else share * near + (1 - share) * agreement
    sizes = [np.bincount(c.labels, configurations[c.configuration].topo_graph.sizes) for c in candidates]
    voters: list[Opinion] = []
    score = agreement + (0.0 if follows else ENTROPY_WEIGHT) * np.array([evenness(some, n_clusters) for some in sizes])
    if referees is not None and n_clusters > 1 and agreement[score.round(9).argmax()] < AGREED:
        voters = referees.cluster(n_clusters)
        sizes += [np.bincount(some.labels) for some in voters]
        families = ["GIT"] * len(candidates) + [some.method for some in voters]
        labels = [some[referees.rows] for some in labels] + [some.labels for some in voters]
        agreement = vote(compare_labels(labels), families, leading=None if prior is None else "GIT")
        score = agreement + ENTROPY_WEIGHT * np.array([evenness(some, n_clusters) for some in sizes])
    distances, misplaced = np.full((2, len(score)), np.nan)
    if prior is not None and not follows:
        distances = np.array([proportion_distance(some / some.sum(), prior) for some in sizes])
        misplaced = np.array([misplaced_share(some, prior) for some in sizes])
        score = score - MISPLACED_COST * misplaced
    # Rounded, so that rounding errors cannot break a tie: the first of equal candidates is chosen on every machine.
    rounded = score.round(9)
    best, chosen = _best_within_bounds(configurations, candidates, rounded[: len(candidates)])
    if referees is not None and referees.may_win and rounded.argmax() >= len(candidates):
        winner, rows = int(rounded.argmax()), [some[referees.rows] for some in local]
        followers = follow_labels(configurations, rows, labels[winner], n_clusters)
        if followers:
            near = compare_labels([labels[winner], *(c.labels[rows[c.configuration]] for c in followers)])[0, 1:]
            best, chosen = winner, followers[int(near.round(9).argmax())]
    used = [configurations[c.configuration] for c in candidates]
    described = [(some.representation, some.n_neighbors, some.n_peaks) for some in used]
    described += [(some.representation, 0, 0) for some in voters]  # only the chosen one is followed by local clusters
    followed = configurations[chosen.configuration]
    described[best] = (followed.representation, followed.n_neighbors, followed.n_peaks)
    names, n_neighbors, n_local = zip(*described, strict=True)
    return chosen, {
        "representation": np.array(names),
        "n_neighbors": np.array(n_neighbors),
        "merge": np.array([c.merge for c in candidates] + [some.method for some in voters]),
        "n_local_clusters": np.array(n_local),
        "agreement": agreement,
        "proportion_distance": distances,
        "misplaced": misplaced,
        "score": score,
        "chosen": np.arange(len(score)) == best,
    }


def follow_labels(
    configurations: Sequence[Configuration], local: Sequence[Array], labels: Array, n_clusters: int
) -> list[Candidate]:
    """Return clusterings whose local clusters have the most common label of their samples.

    ``local`` are the local clusters, in every configuration, of the samples with these labels.
    """
    candidates = []
    for i, configuration in enumerate(configurations):
        graph, shape = configuration.topo_graph, (configuration.n_peaks, n_clusters)
        positions = local[i].astype(np.int64) * n_clusters + labels
        counts = np.bincount(positions, minlength=shape[0] * shape[1]).reshape(shape)
        clusters = connect_clusters(graph, np.where(counts.any(axis=1), counts.argmax(axis=1), -1))
        if clusters.max() + 1 == n_clusters:  # else a label is lost
            candidates.append(Candidate(i, "majority", clusters, np.flatnonzero(graph.inside(clusters))))
    return candidates


def _best_within_bounds(
    configurations: Sequence[Configuration], candidates: Sequence[Candidate], score: NDArray[np.float64]
) -> tuple[int, Candidate]:
    """Return the best candidate whose sizes can be brought within the bounds; these do not change the scores."""
    problem = None
    for i in np.argsort(-score, kind="stable").tolist():
        candidate, configuration = candidates[i], configurations[candidates[i].configuration]
        if configuration.links is None:
            return i, candidate
        try:
            labels = balance_sizes(configuration.topo_graph, candidate.labels, configuration.links)
        except UnmetConstraintsError as error:
            problem = problem or error
            continue
        merged = np.flatnonzero(configuration.topo_graph.inside(labels))
        return i, candidate._replace(labels=labels, merged=merged)
    raise problem or UnmetConstraintsError("No clustering satisfies the constraints.")


def gather_candidates(
    configurations: Sequence[Configuration], n_clusters: int, prior: NDArray[np.float64] | None
) -> list[Candidate]:
    """Return all clusterings into a number of clusters.

    They come from the configurations with enough local clusters whose 2 k neighbours fit in an average cluster or,
    without one, from the nearest to it.
    """
    numbered = list(enumerate(configurations))
    enough = [(i, some) for i, some in numbered if some.max_clusters >= n_clusters]
    used = [(i, some) for i, some in enough if some.n_neighbors <= some.n_samples / n_clusters / 2]
    if not used and enough:
        used = [min(enough, key=lambda pair: pair[1].n_neighbors)]
    candidates, problem = [], None
    for i, some in used or [max(numbered, key=lambda pair: pair[1].max_clusters)]:
        for name, merge in (MERGES if prior is None else MERGES | PRIOR_MERGES).items():
            try:
                result = merge(some, n_clusters, prior)
            except UnmetConstraintsError as error:  # report the configuration that comes down to the fewest clusters
                problem = error if problem is None or error.n_clusters < problem.n_clusters else problem
                continue
            if result is not None and (some.links is None or some.links.are_satisfied(result[0])):
                candidates.append(Candidate(i, name, *result))
    if problem is not None and not candidates:
        raise problem
    return candidates


MergedLabels = tuple[Array, Array] | None
"""Cluster of every local cluster and the edges merged along; None if the merge does not apply."""
Merge = Callable[[Configuration, int, NDArray[np.float64] | None], MergedLabels]
"""Merges the local clusters of a configuration into a number of clusters, guided by a prior if there is one."""


def _merge_by_linkage(linkage: str, configuration: Configuration, n_clusters: int, prior: Any) -> MergedLabels:
    graph, links = configuration.topo_graph, configuration.links
    if links is not None:
        labels = merge_constrained(graph, links, n_clusters=n_clusters, ratio=LINKAGES[linkage])
        return labels, np.flatnonzero(graph.inside(labels))
    return cut_merges(configuration.merges, graph, configuration.splits(linkage, n_clusters - 1))


def _merge_by_spectrum(configuration: Configuration, n_clusters: int, prior: Any) -> MergedLabels:
    graph = configuration.topo_graph
    if not 1 < n_clusters < configuration.n_peaks <= MAX_SPECTRAL:
        return None
    labels = cut_spectrum(graph, configuration.n_neighbors, n_clusters=n_clusters)
    return None if labels is None else (labels, np.flatnonzero(graph.inside(labels)))


def _merge_by_sweep(configuration: Configuration, n_clusters: int, prior: Any) -> MergedLabels:
    cut = cut_by_width(configuration.topo_graph, prior)
    return cut.labels, cut.merged


def _merge_by_sizes(linkage: str, configuration: Configuration, n_clusters: int, prior: Any) -> MergedLabels:
    graph, merges = configuration.topo_graph, configuration.merges
    splits = configuration.splits(linkage, 2 * len(prior) - 2)
    return cut_merges(merges, graph, fit_splits(merges, graph, splits, prior))


MERGES: dict[str, Merge] = {
    **{linkage: partial(_merge_by_linkage, linkage) for linkage in LINKAGES},
    "spectral": _merge_by_spectrum,
}
"""Merges of every configuration; a new merge criterion is one function and one entry here."""
PRIOR_MERGES: dict[str, Merge] = {
    "sweep": _merge_by_sweep,
    **{f"{linkage}, fitted": partial(_merge_by_sizes, linkage) for linkage in LINKAGES},
}
"""Merges that need a prior; "fitted" linkage uses other splits if these bring the sizes nearer to the prior."""


def hierarchy_of(configuration: Configuration, chosen: Candidate) -> Hierarchy:
    """Return all merges of local clusters, with the chosen clustering among the cuts."""
    if configuration.links is not None or chosen.merge in LINKAGES:
        ratio = LINKAGES.get(chosen.merge, MIN_SPLIT_RATIO)
        return order_merges(configuration.merges, configuration.topo_graph, ratio=ratio)
    return build_hierarchy(configuration.topo_graph, around=chosen.labels)


def evenness(sizes: Array, n_clusters: Any) -> Any:
    """Return the entropy of the sizes of clusters, from 0 to 1 for equal sizes; of every row if there are several."""
    shares = sizes / sizes.sum(axis=-1, keepdims=True)
    return -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=-1) / np.log(np.maximum(n_clusters, 2))


def misplaced_share(sizes: Array, prior: NDArray[np.float64]) -> float:
    """Return the share of samples that would have to move for the clusters to have the sizes of the prior."""
    shares = np.sort(np.pad(sizes, (0, max(len(prior) - len(sizes), 0))))[::-1] / sizes.sum()
    return float(np.abs(shares - np.pad(prior, (0, len(shares) - len(prior)))).sum() / 2)


def score_n_clusters(statistics: SampleStatistics, dimension: float) -> Table:
    """Score every number of clusters; the highest score is chosen.

    The score is the information that the configurations agree on, as far as the clusters are closed: the entropy of
    their sizes, times the squared mean agreement, times the distance of the conductance to that of samples without
    structure, see :func:`null_conductance`. A thin curve can be cut anywhere with a small conductance. Therefore, if
    neighbourhoods are small beside the whole, the agreement counts in proportion to the samples in clusters with a
    valley around them that is deeper than chance, see :func:`measure_valleys`.

    One cluster has the score that samples without structure rarely reach. It falls with their dimension: the more
    directions there are to cut in, the less configurations agree on one. The score is smaller if the best number is
    less informative than two equal clusters, so that a small cluster far from all others is detected.
    """
    # Walls between balanced categories are no valleys of the intensity, and factors lack directions that may have some.
    configurations = statistics.configurations
    numbered = list(enumerate(configurations))
    used = [(i, some) for i, some in numbered if some.representation not in ("balanced", "factors")] or numbered
    n_peaks = max(some.n_peaks for _, some in used)
    most = int(min(MAX_CLUSTERS, max(8, 2 * np.sqrt(configurations[0].n_samples)), n_peaks))
    cuts: list[tuple[int, NestedCuts]] = []
    for i, some in used:
        if some.n_peaks > 1:
            for linkage in LINKAGES:
                splits = some.splits(linkage, min(most, some.n_peaks) - 1)
                cuts.append((i, cut_repeatedly(some.merges, some.topo_graph, splits)))
    parts = np.array([nested.part[statistics.local_labels(i)] for i, nested in cuts], np.int32)
    n_parts, joined = [len(nested.joined) + 1 for _, nested in cuts], [nested.joined for _, nested in cuts]
    common = common_pairs(parts, n_parts, joined) if cuts else np.empty((0, 0, 0), np.int64)
    sizes = [nested.cluster_sizes(configurations[i].topo_graph.sizes) for i, nested in cuts]
    even = [evenness(totals, np.arange(1, len(totals) + 1)) for totals in sizes]
    # For every number, the cut that agrees best with the others.
    agreement, information = np.ones(most), np.zeros(most)
    best = [(0, np.zeros(configurations[0].n_peaks, np.int32))]
    for c in range(2, most + 1):
        able = [cut for cut, number in enumerate(n_parts) if number >= c]
        mean = mean_agreement(rand_indices(common[c - 2][np.ix_(able, able)], parts.shape[1]))
        evenness_c = np.array([even[cut][c - 1] for cut in able])
        choice = int((mean + ENTROPY_WEIGHT * evenness_c).round(9).argmax())
        only_one = len({cuts[cut][0] for cut in able}) == 1 < len(used)
        agreement[c - 1] = 0.0 if only_one else mean.mean()
        information[c - 1] = evenness_c[choice] * np.log(c)
        best.append((cuts[able[choice]][0], cuts[able[choice]][1].labels(c)))
    conductance, limit, valley = np.empty((3, most))
    for c, ((i, labels), crossing) in enumerate(zip(best, statistics.count_crossing(best), strict=True)):
        some, n = configurations[i], crossing.counts[0]
        conductance[c] = np.sqrt(np.prod(measure_conductance(some, labels, crossing)))
        limit[c] = null_conductance(2 * some.n_neighbors, some.n_samples, dimension)
        enclosed = n @ (measure_valleys(some, labels, crossing, dimension) >= MIN_DEPTH) / n.sum()
        valley[c] = 1.0 if limit[c] > MAX_CONDUCTANCE else enclosed
    score = information * (agreement * valley) ** 2 * np.maximum(0, 1 - conductance / limit)
    score[0] = NULL_SCORE / max(2.0, dimension) * min(1.0, (information[score.argmax()] or np.inf) / np.log(2))
    return {
        "n_clusters": np.arange(1, len(score) + 1),
        "score": score,
        "agreement": agreement,
        "conductance": conductance,
        "valley": valley,
        "families": np.full(len(score), np.nan),
        "rank": rank_numbers(score),
    }


def rank_numbers(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the ranks of the best three numbers of clusters, 0 for all other numbers.

    The second number differs from the first by a half or more, and the third from both: 9 clusters are not another
    answer than 10.

    Examples
    --------
    >>> rank_numbers(np.array([0.1, 0.6, 0.0, 0.0, 0.3, 0.2]))
    array([3, 1, 0, 0, 2, 0])
    """
    number, free = np.arange(1, len(score) + 1), np.ones(len(score), np.bool_)
    ranks = np.zeros(len(score), np.int64)
    for rank in range(1, 4):
        best = int(np.where(free, score, -1.0).argmax())
        if not free[best] or (rank > 1 and score[best] <= 0):
            break
        ranks[best] = rank
        free &= (number >= 1.5 * number[best]) | (1.5 * number <= number[best])
    return ranks


def prefer_number(scores: Table, number: int) -> Table:
    """Return the scores after a number of clusters got the highest one."""
    score = scores["score"].copy()
    if number != score.argmax() + 1:
        score[number - 1] = np.nextafter(score.max(), np.inf)
    return scores | {"score": score, "rank": rank_numbers(score)}


def ask_referees(
    candidates: SampleStatistics,
    referees: Referees,
    fit_twin: Callable[[], tuple[SampleStatistics, Referees]] | None,
    scores: Table,
    dimension: float,
) -> Table:
    """Return the scores of numbers of clusters after a second opinion; the number decided on gets the highest one.

    If the best number is one, or if the candidates do not agree on it, referees may replace it, see
    :func:`replace_number`. They do not replace that of tables with categories, since all methods but GIT take
    independent categories for clusters. A number above one is then compared with a twin, see :func:`exceeds_twin`.
    Certain candidates of numeric columns need no twin, but all candidates may agree on the values of one category. If
    most columns are categories, the twin has clusters for all methods but GIT, and agreement of the candidates is
    enough.
    """
    scores = scores | {"families": scores["families"].copy()}
    best = int(scores["score"].argmax()) + 1
    number, agreement = best, scores["agreement"][best - 1] if best > 1 else 0.0
    if agreement >= (AGREED if referees.may_win else np.inf if referees.has_categories else CERTAIN):
        return scores
    if agreement < AGREED and number <= MAX_ASKED and not referees.has_categories:
        number = replace_number(candidates, referees, number, scores["families"], dimension)
    if number > 1 and fit_twin is not None and not exceeds_twin(candidates, referees, *fit_twin(), scores, dimension):
        number = 1
    return prefer_number(scores, number)


def exceeds_twin(
    candidates: SampleStatistics,
    referees: Referees,
    twin: SampleStatistics,
    twin_referees: Referees,
    scores: Table,
    dimension: float,
) -> bool:
    """Return whether there is more structure than in a twin: samples like the given ones, but without clusters.

    The clusters show either in the density, in the best score of a number, or in the agreement between the families of
    methods, which is written to ``scores``. Both vary by chance, the score much more.
    """
    by_chance = score_n_clusters(twin, dimension)["score"]
    if scores["score"][1:].max() > MIN_SCORE_RATIO * by_chance[1:].max(initial=0.0):
        return True
    agreements = scores["families"]
    compared = [c for c in NUMBERS_COMPARED if c <= len(agreements) and 3 * c < len(referees.rows)]
    for c in compared:
        if np.isnan(agreements[c - 1]):
            agreements[c - 1] = families_agreement(candidates, referees, c)
    chance = max((families_agreement(twin, twin_referees, c) for c in compared), default=0.0)
    return bool(max((agreements[c - 1] for c in compared), default=1.0) > MIN_AGREEMENT_RATIO * chance)


def replace_number(
    candidates: SampleStatistics, referees: Referees, number: int, agreements: NDArray[np.float64], dimension: float
) -> int:
    """Return the number of clusters that the families of methods agree on best, or the given one if they agree on it.

    They agree if their agreement, which is written to ``agreements``, exceeds that of samples without structure. If
    they agree on no number, the given one stays.
    """
    level = np.interp(dimension, *NULL_AGREEMENTS.T)
    for c in [*([number] if number > 1 else []), *NUMBERS_ASKED]:
        if c <= len(agreements) and 3 * c < len(referees.rows):
            agreements[c - 1] = families_agreement(candidates, referees, c)
        if c == number and agreements[c - 1] > level:
            return number
    best = int(np.nan_to_num(agreements).argmax())
    return best + 1 if agreements[best] > level else number


def families_agreement(candidates: SampleStatistics, referees: Referees, n_clusters: int) -> float:
    """Return the mean agreement of GIT and the referees, the families of methods, on a number of clusters."""
    partitions = [(some.method, some.labels) for some in referees.cluster(n_clusters)]
    for i, some in enumerate(candidates.configurations):
        local = candidates.local_labels(i)[referees.rows]
        for linkage in LINKAGES if some.n_peaks >= n_clusters else ():
            labels, _ = cut_merges(some.merges, some.topo_graph, some.splits(linkage, n_clusters - 1))
            partitions.append(("GIT", labels[local]))
    families, clusterings = zip(*partitions, strict=True)
    agreement = compare_labels(clusterings)
    # Outliers are easy to agree on. A cluster counts if it holds a twentieth of an average one, as in linkage.
    least = len(referees.rows) / n_clusters / MIN_SPLIT_RATIO
    n_counted = np.array([(np.bincount(labels) >= least).sum() for labels in clusterings])
    outliers = n_counted < max(2, n_clusters / 2)
    agreement[outliers] = agreement[:, outliers] = 0.0
    return agreement_of_families(agreement, families)


def null_conductance(n_links: int, n_samples: int, dimension: float) -> float:
    """Return the conductance of clusters of samples without structure.

    Let the samples fill a unit cube of this dimension. A neighbourhood of ``n_links`` samples is a cube of some width
    r, and r / 2 of all links leave a slab half as wide as the whole. In many dimensions neighbours are far away, and
    links leave any cluster more often than in the plane. A cluster with nine of ten links inside is closed to some
    extent in the plane as well, however many samples there are.

    Examples
    --------
    >>> [round(null_conductance(20, 2000, dimension), 2) for dimension in (2.0, 8.0, 30.0)]
    [0.1, 0.28, 0.43]
    """
    return float(max(MAX_CONDUCTANCE, (n_links / n_samples) ** (1 / max(1.0, dimension)) / 2))


def intrinsic_dimension(near: Neighbors) -> float:
    """Return the dimension of samples from the growth of their neighbourhoods (Levina and Bickel 2004)."""
    last, others = near.distances[:, -1:].astype(np.float64), near.distances[:, :-1].astype(np.float64)
    counted = (others > 0) & np.isfinite(last) & (last > 0)
    if not counted.any():
        return 1.0
    # In d dimensions the number of neighbours grows like r**d, so that the mean of log(r_k / r_j) is about 1 / d.
    growth = np.log(np.where(counted, last, 1.0) / np.where(counted, others, 1.0))[counted].mean()
    return float(1 / max(growth, 1e-3))  # at most 1,000


def compare_labels(clusterings: Sequence[Array]) -> NDArray[np.float64]:
    """Return the adjusted Rand index of every two clusterings, 0 if it is below chance."""
    labels = np.array(clusterings, dtype=np.int32)
    width = int(labels.max()) + 1
    return rand_indices(common_pairs(labels, [width] * len(labels), [], width)[0], labels.shape[1])


def common_pairs(parts: Array, n_parts: Sequence[int], joined: Sequence[Array], least: int = 2) -> NDArray[np.int64]:
    """Count the ordered pairs of samples that share a cluster in every two of several nested cuts.

    Returns an array of shape (n_cuts, n, n), for cuts into ``least`` clusters and more; see ``kernels.count_common``.
    """
    most, n = max(n_parts), len(n_parts)
    steps, common = np.zeros((n, most, 2), np.int64), np.zeros((most - least + 1, n, n), np.int64)
    for step, pairs in zip(steps, joined, strict=False):
        step[: len(pairs)] = pairs
    kernels.count_common(parts, np.array(n_parts), steps, least, np.empty(most**2, np.int64), common)
    return common


def rand_indices(common: NDArray[np.int64], n_samples: int) -> NDArray[np.float64]:
    """Return adjusted Rand indices from the counts of :func:`common_pairs` for one cut each, 0 if below chance."""
    # Hubert and Arabie (1985): (common - expected) / (mean own - expected). Own pairs are those that a clustering
    # shares with itself. Two random ones share the product of their parts of all n (n - 1) ordered pairs.
    own = common.diagonal().astype(np.float64)
    expected, most = own[:, None] * own / (n_samples * (n_samples - 1.0)), (own[:, None] + own) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        indices = np.where(most == expected, 1.0, np.maximum((common - expected) / (most - expected), 0.0))
    np.fill_diagonal(indices, 1.0)
    return indices


def mean_agreement(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of every row without the diagonal."""
    n = len(table)
    return np.asarray((table.sum(axis=1) - 1) / (n - 1)) if n > 1 else np.ones(n)
