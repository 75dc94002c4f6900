"""k-means with bounded cluster sizes, ten seeded starts.

The package takes one lower and one upper bound for all clusters: the smallest and the largest of the counts that the
given shares make. Equal shares so fix every count to within one sample; of unequal ones only the range is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.methods import Method


def round_counts(shares: ArrayLike, n_samples: int) -> NDArray[np.int64]:
    """Whole counts nearest to the shares that add up to ``n_samples``: the largest remainders are rounded up.

    Examples
    --------
    >>> round_counts([0.5, 0.25, 0.25], 10).tolist()
    [5, 3, 2]
    """
    exact = np.asarray(shares, dtype=np.float64)
    exact = exact / exact.sum() * n_samples
    counts = np.floor(exact).astype(np.int64)
    missing = n_samples - counts.sum()
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts


def fit_predict(X: NDArray[np.float64], shares: ArrayLike) -> NDArray[np.int64]:
    """Return labels of clusters no smaller and no larger than the shares allow."""
    from k_means_constrained import KMeansConstrained

    counts = round_counts(shares, len(X))
    bounds = {"size_min": int(counts.min()), "size_max": int(counts.max())}
    return KMeansConstrained(len(counts), **bounds, n_init=10, random_state=0).fit_predict(X)


METHODS = [Method("constrained-k-means", fit_predict, "k-means-constrained", "proportions")]
