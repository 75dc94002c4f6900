"""Stage 2: the intensity of every sample, a measure of the density around it.

Eq. 1: f(x) = mean over the k neighbours y of exp(-d(x, y)). In thousands of dimensions exp(-d) is 0 in floating
point, and nothing later needs more of f than its order and ratios, so the stage returns log f (log-sum-exp).
Other kernels are listed in ``variants``: exp(-d^2 / n_features) is what the authors' published code used; exp(-d / h)
with h the mean neighbour distance is scale-free and works in 2 and in 4,096 dimensions alike. Every connected component
of the neighbour graph has its own h, because components need not share a scale.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, follow_to_end
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks, sums
from gitcluster.neighbors import Neighbors
from gitcluster.variants import KERNELS

AT_ONCE = 4
"""Neighbours that components are joined by at a time."""
LOWEST = -1e30
"""Log intensity of a sample whose neighbours are farther away than that."""


def rounding_step(dtype: Any) -> float:
    """Return the step to which logarithms are rounded, so that rounding errors cannot break a tie."""
    # Logarithms near 1 have errors of a few 2**-52, or 2**-23 in single precision. The step is far above both, and far
    # below differences that mean something.
    return 2.0**-36 if dtype == np.float64 else 2.0**-13


def distance_unit(neighbors: Neighbors, *, kernel: str, n_features: int, n_neighbors: int) -> NDArray[np.float64]:
    """Return the divisor of the distances of every sample, or of their squares, in a kernel."""
    power, unit = KERNELS[kernel]
    n_samples = len(neighbors.indices)
    if unit == "component":
        root, _ = find_components(neighbors.indices, n_neighbors, n_samples)
        names, component = number_components(root)
        totals, counts = sum_distances(neighbors.distances, n_neighbors, component, len(names))
        return np.asarray((mean_distances(totals, counts, n_neighbors) ** power)[component])
    return np.full(n_samples, float(check_integer("n_features", n_features, low=1)) if unit == "features" else 1.0)


def find_components(indices: Array, k: int, n_nodes: int) -> tuple[NDArray[np.int64], int]:
    """Return the lowest node of the component of every node, and the number of components of the neighbour graph.

    The nearest neighbours are joined first, so that a connected graph is recognised early. Nodes without a row of
    neighbours come last.
    """
    root, count = np.arange(n_nodes), n_nodes
    for first in range(0, k, AT_ONCE):
        count -= kernels.join_neighbors(indices, first, min(first + AT_ONCE, k), root)
        if count == 1:
            return np.zeros_like(root), 1
    return follow_to_end(root), count


def number_components(root: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest nodes of components, and the component of every node."""
    is_lowest = root == np.arange(len(root))
    return np.flatnonzero(is_lowest), (np.cumsum(is_lowest) - 1)[root]


def sum_distances(
    distances: Array, k: int, component: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return exact sums of the distances to the k nearest, divided by k, and their numbers in each of n components."""
    totals, counts = np.empty(len(distances)), np.empty(len(distances), np.int64)
    kernels.sum_finite(0, len(distances), distances, k, k, totals, counts)
    component = component[: len(distances)]
    return sums.sum_values(totals, component, n), np.bincount(component, counts, minlength=n).astype(np.int64)


def mean_distances(totals: NDArray[np.int64], counts: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return the mean neighbour distance of every component; 1 if all its samples are duplicates."""
    mean = sums.mean_totals(totals, counts / k)
    return np.where(mean > 0, mean, 1.0)


def estimate_intensity(
    neighbors: Neighbors,
    *,
    kernel: str = "exponential",
    n_features: int = 1,
    n_neighbors: int | None = None,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the logarithm of the intensity of every sample.

    Parameters
    ----------
    neighbors : Neighbors
    kernel : {"exponential", "gaussian", "relative"}, default="exponential"
        exp(-d), exp(-d^2 / n_features), or exp(-d / mean d of the connected component).
    n_features : int, default=1
        Number of features, for the Gaussian kernel.
    n_neighbors : int, default=None
        Number of neighbours to use, the nearest of those in ``neighbors``; all of them by default.
    weights : ndarray of shape (n_samples,), default=None
        A sample of weight w counts as w samples; a neighbourhood has the total weight ``n_neighbors``.
    n_jobs : int, default=None

    Returns
    -------
    log_intensity : ndarray of shape (n_samples,)
        Rounded to multiples of :func:`rounding_step`: the samples of a plateau have one value.

    Examples
    --------
    >>> import numpy as np
    >>> estimate_intensity(Neighbors(np.array([[1], [0]]), np.array([[2.0], [2.0]])))
    array([-2., -2.])
    """
    check_choice("kernel", kernel, KERNELS)
    k = neighbors.check_reach(n_neighbors)
    units = distance_unit(neighbors, kernel=kernel, n_features=n_features, n_neighbors=k)
    return intensity_in_units(neighbors, units, kernel=kernel, n_neighbors=k, weights=weights, n_jobs=n_jobs)


def intensity_in_units(
    neighbors: Neighbors,
    units: NDArray[np.float64],
    *,
    kernel: str,
    n_neighbors: int,
    weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the log intensity from the units of :func:`distance_unit`."""
    distances, power = neighbors.distances, KERNELS[kernel].power
    log_intensity = np.empty(len(distances))
    if weights is None:
        run_chunks(kernels.log_mean_kernel, len(distances), n_jobs, distances, n_neighbors, power, units, log_intensity)
    else:
        run_chunks(
            kernels.log_weighted_kernel, len(distances), n_jobs,
            neighbors.indices, distances, n_neighbors, power, units, weights, log_intensity,
        )  # fmt: skip
    step = rounding_step(distances.dtype)  # the samples of a plateau have one value
    return np.asarray(np.rint(np.maximum(log_intensity, LOWEST) / step) * step)
