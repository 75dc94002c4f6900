"""What sets a cluster apart: its mean of every column against that of all other rows, in standard deviations."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SMALL = 0.2
"""A difference of fewer standard deviations does not set a cluster apart."""


class Profile(NamedTuple):
    """A cluster: rows, share, and for every column its mean inside, outside, and the standardized difference."""

    cluster: int
    rows: int
    share: float
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    difference: NDArray[np.float64]

    def strongest(self, n: int) -> list[int]:
        """The columns that differ most, strongest first, without small differences."""
        order = np.argsort(-np.abs(self.difference), kind="stable")[:n]
        return [int(i) for i in order if abs(self.difference[i]) >= SMALL]

    def in_words(self, names: list[str], n: int = 3) -> str:
        """The strongest differences.

        Examples
        --------
        >>> Profile(0, 5, 0.5, np.array([2.0]), np.array([1.0]), np.array([1.3])).in_words(["age"])
        'age +1.3'
        """
        parts = [f"{names[i]} {self.difference[i]:+.1f}" for i in self.strongest(n)]
        return ", ".join(parts) or "no column differs much"


def profile_clusters(values: NDArray[Any], labels: NDArray[np.int64]) -> list[Profile]:
    """A profile of every cluster, noise (-1) last.

    Examples
    --------
    >>> values = np.array([[0.0, 1.0], [0.0, 3.0], [4.0, 1.0], [4.0, 3.0]])
    >>> profiles = profile_clusters(values, np.array([0, 0, 1, 1]))
    >>> profiles[1].difference
    array([2., 0.])
    >>> profiles[1].strongest(5)
    [0]
    """
    spread = values.std(axis=0, dtype=np.float64)
    total = values.sum(axis=0, dtype=np.float64)
    found = []
    for cluster in sorted(set(labels.tolist()), key=lambda label: (label < 0, label)):
        inner = labels == cluster
        rows = int(inner.sum())
        sums = values[inner].sum(axis=0, dtype=np.float64)
        rest = len(labels) - rows
        inside = sums / rows
        outside = (total - sums) / rest if rest else inside
        difference = np.divide(inside - outside, spread, out=np.zeros_like(spread), where=spread > 0)
        found.append(Profile(cluster, rows, rows / len(labels), inside, outside, difference))
    return found
