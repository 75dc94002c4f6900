"""Scores of a clustering against known classes: labels in, float out. Cluster -1 is noise."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

NOISE = -1
UNMATCHED = -2

__all__ = ["match_labels", "matched_f1"]


def match_labels(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.int64]:
    """Rename clusters to the classes they match, one to one; -2 for clusters without a class.

    The matching has the largest possible number of correct samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes, as integers from 0.
    y_pred : array-like of shape (n_samples,)
        Clusters. -1 is noise and stays -1.

    Examples
    --------
    >>> match_labels([0, 0, 1, 1, 1], [5, 5, 3, 3, 4])
    array([ 0,  0,  1,  1, -2])
    """
    true, pred = _check_labels(y_true, y_pred)
    covered = pred != NOISE
    result = np.full(len(true), NOISE, np.int64)
    classes = np.unique(true)
    clusters, cluster_of = np.unique(pred[covered], return_inverse=True)
    table = np.zeros((len(clusters), len(classes)), np.int64)
    np.add.at(table, (cluster_of, np.searchsorted(classes, true[covered])), 1)
    name = np.full(len(clusters), UNMATCHED, np.int64)
    for cluster, klass in zip(*linear_sum_assignment(-table), strict=True):
        if table[cluster, klass]:
            name[cluster] = classes[klass]
    result[covered] = name[cluster_of]
    return result


def matched_f1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the F1 of the matched clusters, weighted by class size; noise and unmatched clusters are wrong.

    Examples
    --------
    >>> matched_f1([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import f1_score

    named = match_labels(y_true, y_pred)
    return float(f1_score(y_true, named, labels=np.unique(y_true), average="weighted", zero_division=0))


def _check_labels(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    for name, labels in (("y_true", true), ("y_pred", pred)):
        if labels.ndim != 1 or labels.size == 0 or not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(
                f"{name} must be a non-empty one-dimensional array of integer labels, "
                f"got shape {labels.shape} of {labels.dtype}."
            )
    if len(true) != len(pred):
        raise ValueError(f"y_pred must have as many labels as y_true ({len(true)}), got {len(pred)}.")
    return true.astype(np.int64), pred.astype(np.int64)
