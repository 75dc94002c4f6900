"""How far new samples are from what was fitted: whether it is time to fit again."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.memberships import home_shares
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.fitted.prediction import Described, describe_fitted

FIRM = 0.75
"""A sample that belongs to its cluster by less than this is at a boundary."""


class Drift(NamedTuple):
    """How new samples differ from the fitted ones; ``print`` it."""

    n_samples: int
    """Number of new samples."""
    outliers: float
    """Share of them that are far out: outlier scores beyond those that are usual among the fitted."""
    boundary: float
    """Share of the others that are at a boundary: they belong to their cluster by less than three quarters."""
    usual_outliers: float
    """The same shares of the fitted samples."""
    usual_boundary: float
    proportions: NDArray[np.float64]
    """Share of every cluster among the new samples."""
    moved: float
    """By how much these differ from those of the fit: the share of samples that would have to change clusters."""

    @property
    def share(self) -> float:
        """Share of the new samples that are outliers or at a boundary."""
        return self.outliers + self.boundary

    @property
    def usual(self) -> float:
        """The same share of the fitted samples."""
        return self.usual_outliers + self.usual_boundary

    def __str__(self) -> str:
        return (
            f"{self.n_samples:,} new samples: {self.outliers:.1%} far out (fitted: {self.usual_outliers:.1%}), "
            f"{self.boundary:.1%} at a boundary (fitted: {self.usual_boundary:.1%}), "
            f"proportions moved by {self.moved:.1%}."
        )


def measure_drift(found: Clustering, new: Described) -> Drift:
    """Compare what is known of new samples with what is known of the fitted ones."""
    fitted = describe_fitted(found)
    above = noise_threshold(found.outlier_scores.astype(np.float64), "auto")
    usual, now = (_shares(found, some, above) for some in (fitted, new))
    proportions = np.bincount(new.clusters, minlength=found.n_clusters) / max(1, len(new.clusters))
    before = np.bincount(fitted.clusters, minlength=found.n_clusters) / len(fitted.clusters)
    moved = float(np.abs(proportions - before).sum() / 2)
    return Drift(len(new.labels), now[0], now[1], usual[0], usual[1], proportions, moved)


def _shares(found: Clustering, some: Described, above: float) -> tuple[float, float]:
    """Shares of samples that are far out, and of those that are not and at a boundary."""
    out = some.outlier_scores > above
    return float(out.mean()), float(((home_shares(found, some) < FIRM) & ~out).mean())
