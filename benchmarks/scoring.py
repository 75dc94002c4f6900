"""Scores of predicted labels against true ones, and the scaling all methods share.

Samples whose true label is below 0 are left out of every score.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

from gitcluster.metrics import (
    adjusted_rand_score,
    cover_rate,
    matched_f1,
    normalized_mutual_info_score,
    published_scores,
)

Labels = NDArray[np.int64]


def score_labels(true: Labels, predicted: Labels) -> dict[str, float]:
    """Return ARI, NMI and matched F1 over the scored samples; noise is one more cluster of ARI and NMI, wrong in F1."""
    scored = true >= 0
    true, predicted = true[scored], predicted[scored]
    return {
        "ari": float(adjusted_rand_score(true, predicted)),
        "nmi": float(normalized_mutual_info_score(true, predicted)),
        "f1": matched_f1(true, predicted),
    }


def score_both_ways(true: Labels, predicted: Labels) -> dict[str, list[float] | float | int]:
    """Return F1, ARI and NMI as published and by optimal matching on all samples, cover rate, number of clusters."""
    predicted = np.where(predicted < 0, -1, predicted)
    optimal = score_labels(true, predicted)
    return {
        "published": [round(float(score), 4) for score in published_scores(true, predicted)[:3]],
        "optimal": [round(optimal[name], 4) for name in ("f1", "ari", "nmi")],
        "cover": round(cover_rate(predicted), 4),
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
