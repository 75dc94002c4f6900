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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster.edge_cutting import share_distance
from gitcluster.hierarchy.constrained import UnmetConstraintsError, balance_sizes
from gitcluster.prior.constraints import Constraints, possible_numbers
from gitcluster.selection.agreement import SAYING, compare_labels, mean_agreement
from gitcluster.selection.candidates import Candidate, evenness, gather_candidates, misplaced_share
from gitcluster.selection.numbers import Table, score_n_clusters
from gitcluster.selection.views import Evidence, View

MISPLACED = 2.0
"""What a share of misplaced samples costs: each is wrong where it is and missing where it belongs, so that agreement
with clusters of the right sizes falls by about twice their share, or more."""


class Selection(NamedTuple):
    """The chosen candidate, and why it was chosen."""

    chosen: Candidate
    table: Table
    """All candidates with their scores."""
    n_clusters_scores: Table | None
    """All numbers of clusters with their scores, where none was given."""
    representations: Table | None = None
    """All representations with their scores, or the reasons why there is none."""


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
    if n_clusters is not None:
        if add_finest is not None and max(view.most_clusters for view in views) < n_clusters:
            add_finest()
        return Selection(*choose(views, evidence, n_clusters=n_clusters, prior=prior), None)
    scores = score_n_clusters(views, evidence, dimension)
    least, most = (1, np.inf) if constraints is None else possible_numbers(constraints)
    problem: UnmetConstraintsError | None = None
    tried: set[int] = set()
    while True:  # only links and bounds on sizes need more than one round
        free = (
            (scores["n_clusters"] >= least) & (scores["n_clusters"] <= most) & ~np.isin(scores["n_clusters"], [*tried])
        )
        number = int(scores["n_clusters"][np.where(free, scores["score"], -np.inf).argmax()])
        number = min(max(number, least), views[0].n_samples)  # links and bounds may need more than have scores
        if number in tried:
            raise problem or UnmetConstraintsError("No clustering keeps to the constraints.")
        try:
            return Selection(*choose(views, evidence, n_clusters=number, prior=prior), scores)
        except UnmetConstraintsError as error:
            problem, least = problem or error, max(least, error.n_clusters)
            tried.add(number)


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


def compare(candidates: Sequence[Candidate], evidence: Evidence) -> NDArray[np.float64]:
    """Adjusted Rand index of every two candidates, 0 where it is below chance."""
    return compare_labels([c.labels[evidence.rows(c.view)] for c in candidates])
