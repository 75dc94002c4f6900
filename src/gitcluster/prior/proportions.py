"""The prior: in which proportions the clusters are expected, and how far a clustering is from it.

A clustering with shares p is the distribution with mass p_i at position p_i; so is the prior q. Their distance
is the Wasserstein-1 distance on the line, the area between the two cumulative distributions. (Eq. 11 of the paper
sets the ground cost to 1, which makes the distance constant; with |p_i - q_j| it tells priors apart.)
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wasserstein_distance

from gitcluster._support.validation import check_n_clusters, check_proportions


def resolve_proportions(
    n_clusters: int | str | None, proportions: ArrayLike | str | None, *, n_samples: int
) -> tuple[int | None, NDArray[np.float64] | None]:
    """What ``n_clusters`` and ``proportions`` say together: a number and a prior, None for what they leave open.

    The prior is shares that sum to 1, largest first. ``n_clusters="auto"`` or None leaves the number open;
    ``proportions="equal"`` is a prior of equal shares.

    Examples
    --------
    >>> resolve_proportions("auto", [1, 2, 1], n_samples=100)
    (3, array([0.5 , 0.25, 0.25]))
    >>> resolve_proportions(4, "equal", n_samples=100)
    (4, array([0.25, 0.25, 0.25, 0.25]))
    >>> resolve_proportions(4, None, n_samples=100)
    (4, None)
    """
    number = None if n_clusters is None or _is(n_clusters, "auto") else check_n_clusters(n_clusters, n_samples)
    if proportions is None:
        return number, None
    if _is(proportions, "equal"):
        if number is None:
            raise ValueError("proportions='equal' needs the number of clusters. Give n_clusters as an integer.")
        return number, equal_shares(number)
    shares = check_proportions(proportions)
    if number is not None and number != len(shares):
        raise ValueError(
            f"n_clusters={n_clusters} and proportions disagree: proportions has {len(shares)} entries. "
            "Give one of them, or make them agree."
        )
    if len(shares) > n_samples:
        raise ValueError(
            f"proportions asks for {len(shares)} clusters, more than n_samples = {n_samples}. Ask for fewer clusters."
        )
    return len(shares), np.sort(shares)[::-1]


def _is(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def equal_shares(n_clusters: int) -> NDArray[np.float64]:
    """The prior of ``n_clusters`` equal shares."""
    return np.full(n_clusters, 1.0 / n_clusters)


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
