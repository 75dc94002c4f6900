"""Scores of predicted labels against true ones; samples whose true label is below 0 are not scored."""

from __future__ import annotations

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score

from gitcluster.metrics import NOISE, UNMATCHED, matched_f1

Labels = NDArray[np.int64]


class PublishedScores(NamedTuple):
    """Scores as the published experiments counted them."""

    f1: float
    ari: float
    nmi: float
    cover: float


def published_scores(true: ArrayLike, predicted: ArrayLike) -> PublishedScores:
    """Return F1, ARI, NMI and cover rate by the protocol of the published experiments.

    Greedy matching, twice: the second pass pools the clusters that the first left over and may match the pool to a
    class. All scores are of the covered samples, ARI and NMI after the matching. The protocol flatters methods that
    return too many clusters or much noise.
    """
    true, predicted = np.asarray(true), np.asarray(predicted)
    covered = predicted != NOISE
    if not covered.any():
        return PublishedScores(0.0, 0.0, 0.0, 0.0)
    true, predicted = true[covered], predicted[covered]
    for _ in range(2):
        predicted = match_greedily(true, predicted)
    f1 = f1_score(true, predicted, labels=np.unique(true), average="weighted", zero_division=0)
    ari, nmi = (float(score(true, predicted)) for score in (adjusted_rand_score, normalized_mutual_info_score))
    return PublishedScores(float(f1), ari, nmi, float(covered.mean()))


def match_greedily(true: Labels, predicted: Labels) -> Labels:
    """Rename clusters to classes: the largest cluster first, each takes the class it overlaps most among those left.

    Clusters that are left over become -2. Noise is a cluster here.

    >>> match_greedily(np.array([0] * 5 + [1] * 4 + [0] * 3), np.array([0] * 9 + [1] * 3)).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -2]
    """
    clusters, sizes = np.unique(predicted, return_counts=True)
    left = list(np.unique(true))
    named = np.full(len(true), UNMATCHED, np.int64)
    for cluster in clusters[np.argsort(-sizes, kind="stable")]:
        if not left:
            break
        members = predicted == cluster
        overlap = [int((true[members] == klass).sum()) for klass in left]
        if max(overlap):
            named[members] = left.pop(int(np.argmax(overlap)))
    return named


def score_labels(true: Labels, predicted: Labels) -> dict[str, float]:
    """Return ARI, NMI and matched F1 over the scored samples; noise is one more cluster of ARI and NMI, wrong in F1."""
    scored = true >= 0
    true, predicted = true[scored], predicted[scored]
    return {
        "ari": float(adjusted_rand_score(true, predicted)),
        "nmi": float(normalized_mutual_info_score(true, predicted)),
        "f1": matched_f1(true, predicted),
    }


def score_published(true: Labels, predicted: Labels) -> dict[str, Any]:
    """Return F1, ARI and NMI as published, cover rate, and number of clusters."""
    predicted = np.where(predicted < 0, -1, predicted)
    return {
        "published": [round(float(score), 4) for score in published_scores(true, predicted)[:3]],
        "cover": round(float(np.mean(predicted != NOISE)), 4),
        "clusters": count_clusters(predicted),
    }


def count_clusters(labels: Labels) -> int:
    """Return the number of clusters, noise not counted; nothing but noise is one cluster."""
    return max(1, len(np.unique(labels[labels >= 0])))


def pack_labels(labels: Labels) -> str:
    """Return labels as a short text, for pictures drawn later."""
    return base64.b64encode(zlib.compress(labels.astype("<i2").tobytes(), 9)).decode()


def unpack_labels(text: str) -> Labels:
    """Return the labels of ``pack_labels``.

    >>> unpack_labels(pack_labels(np.array([3, -1, 0])))
    array([ 3, -1,  0])
    """
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i2").astype(np.int64)
