"""Which share of the true neighbours a search has found, estimated on a sample of rows."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gitcluster._support.arrays import Array
from gitcluster.neighbors.exact import Candidates

GOOD_RECALL = 0.99
LEAST_RECALL = 0.9
"""Below this ``search="auto"`` searches exactly after all."""
RECALL_ROWS = 256
"""Samples whose true neighbours are searched to estimate the recall."""


def sample_rows(n_samples: int) -> Array:
    """Some of the samples, the same in every run."""
    return np.random.default_rng(0).choice(n_samples, min(RECALL_ROWS, n_samples), replace=False)


class Truth:
    """The true neighbours of some rows."""

    def __init__(self, exact: Candidates, rows: Array, k: int) -> None:
        self.rows = rows
        distances, near = exact.query(rows, k + 1)
        exact.measure(rows, near, distances)
        self.near = near
        self.reach = distances.max(axis=1) if exact.measured else np.full(len(rows), -np.inf)
        """Up to here a sample is as near as the last of them, whichever of equally far ones were taken."""

    def share(self, indices: Array, distances: Array) -> float:
        """Share of the true neighbours among those that the rows have found."""
        hits = distances <= self.reach[:, None].astype(distances.dtype)
        for hit, found, near in zip(hits, indices, self.near, strict=True):
            hit |= np.isin(found, near)
        return float(hits.mean())


def warn_of_recall(recall: float) -> None:
    """Say that too few of the true neighbours were found."""
    warnings.warn(
        f"The approximate search found {recall:.1%} of the nearest neighbours. Use search='exact' to find all.",
        ConvergenceWarning,
        stacklevel=2,
    )
