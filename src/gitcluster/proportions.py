"""The prior: in which proportions the clusters are expected, and how far a clustering is from it.

A clustering with shares p is the distribution with mass p_i at position p_i; so is the prior q. Their distance
is the Wasserstein-1 distance on the line, the area between the two cumulative distributions. (Eq. 12 of the paper
sets the ground cost to 1, which makes the distance constant; with |p_i - q_j| it tells priors apart.)
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wasserstein_distance

from gitcluster._validation import check_n_clusters, check_proportions


def resolve_proportions(
    n_clusters: int | None, proportions: ArrayLike | None, *, n_samples: int
) -> NDArray[np.float64]:
    """The prior that ``n_clusters`` and ``proportions`` say, as shares that sum to 1, largest first.

    Examples
    --------
    >>> resolve_proportions(None, [1, 2, 1], n_samples=100)
    array([0.5 , 0.25, 0.25])
    >>> resolve_proportions(4, None, n_samples=100)
    array([0.25, 0.25, 0.25, 0.25])
    """
    if proportions is None:
        if n_clusters is None:
            raise ValueError("n_clusters or proportions must be given, got None for both.")
        c = check_n_clusters(n_clusters, n_samples)
        return np.full(c, 1.0 / c)
    shares = check_proportions(proportions)
    if n_clusters is not None and check_n_clusters(n_clusters, n_samples) != len(shares):
        raise ValueError(
            f"n_clusters={n_clusters} and proportions disagree: proportions has {len(shares)} entries. "
            "Give one of them, or make them agree."
        )
    if len(shares) > n_samples:
        raise ValueError(
            f"proportions asks for {len(shares)} clusters, more than n_samples = {n_samples}. Ask for fewer clusters."
        )
    return np.sort(shares)[::-1]


def proportion_distance(predicted: Any, prior: Any) -> float:
    """W1 between two lists of shares, each summing to 1; their order does not matter.

    Examples
    --------
    >>> proportion_distance([0.5, 0.5], [0.5, 0.5])
    0.0
    >>> proportion_distance([1.0], [0.5, 0.5])
    0.5
    """
    return float(wasserstein_distance(predicted, prior, predicted, prior))
