"""GIT: what it gets with nothing given, with the number of clusters, and with their proportions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import Method
from gitcluster import GIT


def fit_predict(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return the default's partition into ``n_clusters``."""
    return GIT(n_clusters).fit_predict(X)


def fit_predict_proportions(X: NDArray[np.float64], shares: Any) -> NDArray[np.int64]:
    """Return the default's partition near to given shares."""
    return GIT(proportions=shares).fit_predict(X)


def fit_predict_nothing(X: NDArray[np.float64], _: Any) -> NDArray[np.int64]:
    """Return the partition of ``GIT()``."""
    return GIT().fit_predict(X)


def fit_predict_paper(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.int64]:
    """Return the partition of the paper's text with 8 neighbours and equal shares."""
    return GIT(n_clusters, variant="paper").fit_predict(X)


METHODS = [
    Method("GIT", fit_predict, "gitcluster"),
    Method("GIT proportions", fit_predict_proportions, "gitcluster", "proportions"),
    Method("GIT nothing", fit_predict_nothing, "gitcluster", "nothing"),
    Method("GIT paper k=8", fit_predict_paper, "gitcluster"),
]
