"""Scores of predicted labels against true ones, and the scaling all methods share.

Samples whose true label is below 0 are left out of every score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gitcluster.metrics import adjusted_rand_score, matched_f1, normalized_mutual_info_score

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


def count_clusters(labels: Labels) -> int:
    """Return the number of clusters, noise not counted; nothing but noise is one cluster."""
    return max(1, len(np.unique(labels[labels >= 0])))
