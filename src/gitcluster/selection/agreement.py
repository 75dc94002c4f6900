"""How well clusterings agree: the adjusted Rand index of every two of them, 0 where it is below chance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import graph as kernels

SAYING = 0.2
"""What a clustering gains that says as much as one into equal parts, beside full agreement, which is 1."""


def compare_labels(clusterings: Sequence[Array]) -> NDArray[np.float64]:
    """Adjusted Rand index of every two clusterings, 0 where it is below chance."""
    labels = np.array(clusterings, dtype=np.int32)
    width = int(labels.max()) + 1
    return rand_indices(count_common(labels, [width] * len(labels), [], width)[0], labels.shape[1])


def count_common(parts: Array, n_parts: Sequence[int], joined: Sequence[Array], least: int = 2) -> NDArray[np.int64]:
    """Ordered pairs of samples that are together in every two of several nested cuts, (n_cuts, n, n), from cuts into
    ``least`` clusters on; see the kernel of this name."""
    most, n = max(n_parts), len(n_parts)
    ways, common = np.zeros((n, most, 2), np.int64), np.zeros((most - least + 1, n, n), np.int64)
    for way, found in zip(ways, joined, strict=False):
        way[: len(found)] = found
    kernels.count_common(parts, np.array(n_parts), ways, least, np.empty(most**2, np.int64), common)
    return common


def rand_indices(common: NDArray[np.int64], n_samples: int) -> NDArray[np.float64]:
    """Adjusted Rand indices from what :func:`count_common` counted for one cut each, 0 where they are below chance."""
    own = common.diagonal().astype(np.float64)
    expected, most = own[:, None] * own / (n_samples * (n_samples - 1.0)), (own[:, None] + own) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(most == expected, 1.0, np.maximum((common - expected) / (most - expected), 0.0))
    np.fill_diagonal(found, 1.0)
    return found


def mean_agreement(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of every row without the diagonal."""
    n = len(table)
    return np.asarray((table.sum(axis=1) - 1) / (n - 1)) if n > 1 else np.ones(n)
