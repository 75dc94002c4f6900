"""Scores of a clustering against known classes: labels in, float out.

Cluster -1 is noise. A score says what it does with it: ARI and NMI take noise as one more cluster, F1 counts it as
wrong, the published protocol leaves it out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score

from gitcluster._support.validation import check_choice

NOISE = -1
UNMATCHED = -2
MATCHINGS = ("optimal", "greedy")

__all__ = [
    "PublishedScores",
    "adjusted_rand_score",
    "cover_rate",
    "match_labels",
    "matched_f1",
    "normalized_mutual_info_score",
    "published_scores",
]


class PublishedScores(NamedTuple):
    """Scores as the published experiments counted them."""

    f1: float
    ari: float
    nmi: float
    cover: float


def match_labels(y_true: ArrayLike, y_pred: ArrayLike, *, matching: str = "optimal") -> NDArray[np.int64]:
    """Rename clusters to the classes they match, one to one; -2 for clusters left without a class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, as integers from 0.
    y_pred : array-like of shape (n_samples,)
        Clusters. -1 is noise and stays -1.
    matching : {"optimal", "greedy"}, default="optimal"
        The matching with the most samples right; or the largest cluster first, each taking the class it overlaps
        most among those left, as in the published experiments.

    Examples
    --------
    >>> match_labels([0, 0, 1, 1, 1], [5, 5, 3, 3, 4])
    array([ 0,  0,  1,  1, -2])
    """
    true, pred = _check_labels(y_true, y_pred)
    check_choice("matching", matching, MATCHINGS)
    covered = pred != NOISE
    result = np.full(len(true), NOISE, np.int64)
    if not covered.any():
        return result
    classes = np.unique(true)
    clusters, cluster_of = np.unique(pred[covered], return_inverse=True)
    table = np.zeros((len(clusters), len(classes)), np.int64)
    np.add.at(table, (cluster_of, np.searchsorted(classes, true[covered])), 1)
    name = np.full(len(clusters), UNMATCHED, np.int64)
    pairs = _greedy_pairs(table) if matching == "greedy" else zip(*linear_sum_assignment(-table), strict=True)
    for cluster, klass in pairs:
        if table[cluster, klass]:
            name[cluster] = classes[klass]
    result[covered] = name[cluster_of]
    return result


def _greedy_pairs(table: NDArray[np.int64]) -> list[tuple[int, int]]:
    left = list(range(table.shape[1]))
    pairs = []
    for cluster in np.argsort(-table.sum(axis=1), kind="stable"):
        klass = max(left, key=lambda c: table[cluster, c], default=None)
        if klass is not None and table[cluster, klass] > 0:
            left.remove(klass)
            pairs.append((int(cluster), klass))
    return pairs


def matched_f1(y_true: ArrayLike, y_pred: ArrayLike, *, matching: str = "optimal") -> float:
    """F1 of the matched clusters, weighted by class size; noise and unmatched clusters are wrong.

    Examples
    --------
    >>> matched_f1([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    true, _ = _check_labels(y_true, y_pred)
    return _weighted_f1(true, match_labels(y_true, y_pred, matching=matching))


def _weighted_f1(true: NDArray[np.int64], named: NDArray[np.int64]) -> float:
    score = f1_score(true, named, labels=np.unique(true), average="weighted", zero_division=0)
    return float(score)


def cover_rate(y_pred: ArrayLike) -> float:
    """Share of the samples that are not noise.

    Examples
    --------
    >>> cover_rate([0, 1, -1, 0])
    0.75
    """
    return float(np.mean(np.asarray(y_pred) != NOISE))


def published_scores(y_true: ArrayLike, y_pred: ArrayLike) -> PublishedScores:
    """F1, ARI, NMI and cover rate by the protocol of the published experiments.

    Greedy matching, twice: the second pass pools the clusters that the first left over and may give the pool a
    class. All scores on the covered samples, ARI and NMI after the matching. For holding results against the
    published tables; it flatters methods that return too many clusters or much noise.
    """
    true, pred = _check_labels(y_true, y_pred)
    covered = pred != NOISE
    if not covered.any():
        return PublishedScores(0.0, 0.0, 0.0, 0.0)
    true, pred = true[covered], pred[covered]
    for _ in range(2):
        pred = match_labels(true, pred, matching="greedy")
    return PublishedScores(
        _weighted_f1(true, pred),
        float(adjusted_rand_score(true, pred)),
        float(normalized_mutual_info_score(true, pred)),
        float(covered.mean()),
    )


def _check_labels(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    for name, labels in (("y_true", true), ("y_pred", pred)):
        if labels.ndim != 1 or labels.size == 0 or not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(
                f"{name} must be a non-empty one-dimensional array of integer labels, "
                f"got shape {labels.shape} of {labels.dtype}."
            )
    if len(true) != len(pred):
        raise ValueError(f"y_true has {len(true)} labels and y_pred has {len(pred)}; they must be as many.")
    return true.astype(np.int64), pred.astype(np.int64)
