"""How well every number of clusters fits, when none is told.

In: views and what is counted on their samples. Out: a table of scores; the highest is chosen.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.hierarchy import NestedCuts, cut_repeatedly
from gitcluster.neighbors import Neighbors
from gitcluster.selection.agreement import SAYING, count_common, mean_agreement, rand_indices
from gitcluster.selection.views import CRUMBS, Evidence, View, measure_leak, measure_valleys

MOST_CLUSTERS = 60
LEAKING = 0.1
"""Leak from which on clusters in few dimensions are not closed."""
STRUCTURELESS = 0.5
"""Score that samples without any structure rarely reach, times their dimension, which is at least two."""
DEEP = 3.0
"""Standard deviations of chance from which on a valley is taken for one."""

Table = dict[str, NDArray[Any]]
"""Columns of one length, by name."""


def score_n_clusters(views: Sequence[View], evidence: Evidence, dimension: float) -> Table:
    """How well every number of clusters fits: a table with columns n_clusters, score, agreement, leak, valley, rank and
    confidence, see :func:`rank_numbers`.

    The score is the information that the views agree on where the clusters are closed: the entropy of their sizes,
    times the squared mean agreement, times how far the leak is below that of samples without structure, see
    :func:`open_leak`. A thin curve can be cut anywhere with hardly a leak. So where neighbourhoods are small beside the
    whole, the agreement counts as far as samples are in clusters with a valley around them that is deeper than chance,
    see :func:`measure_valleys`; their share is in the column valley.

    One cluster has the score that samples without structure rarely reach, which falls with their dimension: the more
    directions there are to cut in, the less do views agree on one. It is less where the best number says less than two
    equal clusters would, so that a small cluster far from all others is found.
    """
    found = describe_numbers(views, evidence, dimension)
    limit = np.array([open_leak(2 * views[i].n_neighbors, views[i].n_samples, dimension) for i in found.view])
    behind = [n @ (depth >= DEEP) / n.sum() for depth, n in zip(found.valleys, found.sizes, strict=True)]
    valley = np.where(limit > LEAKING, 1.0, behind)
    score = found.information * (found.agreement * valley) ** 2 * np.maximum(0, 1 - found.leak / limit)
    says = found.information[score.argmax()] or np.inf
    score[0] = STRUCTURELESS / max(2.0, dimension) * min(1.0, says / np.log(2))
    rank, confidence = rank_numbers(score)
    return {
        "n_clusters": np.arange(1, len(score) + 1), "score": score, "agreement": found.agreement, "leak": found.leak,
        "valley": valley, "rank": rank, "confidence": confidence,
    }  # fmt: skip


class Numbers(NamedTuple):
    """What is known of the numbers of clusters 1, 2, ..."""

    information: NDArray[np.float64]
    """Entropy of the sizes of clusters, in nats."""
    agreement: NDArray[np.float64]
    """Mean agreement of all views; 0 where only one of them has so many clusters."""
    leak: NDArray[np.float64]
    """Geometric mean of two measures of the worst cluster, see :func:`measure_leak`."""
    valleys: list[NDArray[np.float64]]
    """How deep the valley around every cluster is, see :func:`measure_valleys`."""
    sizes: list[NDArray[np.int64]]
    """Samples of every cluster."""
    view: list[int]
    """The view whose cut was compared."""


def describe_numbers(views: Sequence[View], evidence: Evidence, dimension: float) -> Numbers:
    """The cut that agrees best with the others and says most, for every number of clusters, and what is known of it."""
    n_peaks = max(view.n_peaks for view in views)
    most = int(min(MOST_CLUSTERS, max(8, 2 * np.sqrt(views[0].n_samples)), n_peaks))
    able = [i for i, view in enumerate(views) if view.n_peaks > 1]
    cuts = [(i, nested_cuts(views[i], kind, most)) for i in able for kind in CRUMBS]
    parts = np.array([found.part[evidence.rows(i)] for i, found in cuts], np.int32)
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
    seen = [(views[i], labels, found) for (i, labels), found in zip(best, evidence.count_crossing(best), strict=True)]
    leak = np.sqrt([np.prod(measure_leak(*cut)) for cut in seen])
    valleys, sizes = [measure_valleys(*cut, dimension) for cut in seen], [found.counts[0] for _, _, found in seen]
    return Numbers(said, agreed, leak, valleys, sizes, [i for i, _ in best])


def rank_numbers(score: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which numbers of clusters come first, second and third, from the scores of 1, 2, ...; and how sure each is.

    The second differs from the first by a half or more, and so does the third from both: 9 clusters are not another
    answer than 10. What has no score comes nowhere. The confidence is the share of their scores; numbers without a
    rank have rank 0 and confidence 0.

    Examples
    --------
    >>> rank_numbers(np.array([0.1, 0.6, 0.0, 0.0, 0.3, 0.2]))
    (array([3, 1, 0, 0, 2, 0]), array([0.1, 0.6, 0. , 0. , 0.3, 0. ]))
    """
    number, free = np.arange(1, len(score) + 1), np.ones(len(score), np.bool_)
    rank = np.zeros(len(score), np.int64)
    for place in range(1, 4):
        best = int(np.where(free, score, -1.0).argmax())
        if not free[best] or (place > 1 and score[best] <= 0):
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


def open_leak(n_links: int, n_samples: int, dimension: float) -> float:
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
    return float(max(LEAKING, (n_links / n_samples) ** (1 / max(1.0, dimension)) / 2))


def intrinsic_dimension(near: Neighbors) -> float:
    """Dimension of samples by how fast neighbours become more with distance (Levina and Bickel 2004)."""
    last, others = near.distances[:, -1:].astype(np.float64), near.distances[:, :-1].astype(np.float64)
    counted = (others > 0) & np.isfinite(last) & (last > 0)
    if not counted.any():
        return 1.0
    growth = np.log(np.where(counted, last, 1.0) / np.where(counted, others, 1.0))[counted].mean()
    return float(1 / max(growth, 1e-3))
