"""Configurations: the local clusters of one representation and one number of neighbours, and statistics of their cuts.

A :class:`Configuration` is the result of stages 2 to 4: the intensity from k neighbours, climbing among k / 2 (many
small, pure local clusters), boundary pairs among 2 k (well connected ones). The k are multiples of log2 n, because a
neighbour graph must grow like that to stay connected; one search at the largest serves all of them.

Configurations hold graphs, not samples. Counts over samples come from :class:`SampleStatistics`, which has one
implementation in ``gitcluster.pipeline`` and one in ``gitcluster.distributed``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.constraints import LinkConstraints
from gitcluster.hierarchy import MIN_SPLIT_RATIO, Merges, link, rank_splits
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks
from gitcluster.topo_graph import TopoGraph

FACTORS = tuple(2 ** (step / 2) for step in range(-2, 3))
"""Candidates for k, as multiples of log2 n: from a half to two."""
MAX_NEIGHBORS = 20
"""The largest candidate. Boundary pairs are searched among twice as many, so this bounds the memory of a fit."""
MIN_LOSS = 1e-6
"""Smallest value of minus the log intensity, which is 0 among copies of a sample and must have a logarithm."""
LINKAGES = {"linkage": MIN_SPLIT_RATIO, "even linkage": 5}
"""Merges by linkage: no split leaves less than 1 / ratio of an average cluster."""


def neighborhood_sizes(n_samples: int) -> list[int]:
    """Return the candidates for k.

    Examples
    --------
    >>> neighborhood_sizes(1000)
    [5, 7, 10, 14, 20]
    """
    largest = max(1, min(MAX_NEIGHBORS, n_samples - 1))
    return sorted({min(largest, max(2, round(factor * np.log2(n_samples)))) for factor in FACTORS})


@dataclass(frozen=True, eq=False)
class Configuration:
    """The local clusters of one representation and one number of neighbours."""

    n_neighbors: int
    n_samples: int
    topo_graph: TopoGraph
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""
    links: LinkConstraints | None = None
    """Constraints on the local clusters."""
    representation: str = "std"
    _cache: dict[str, Any] = field(default_factory=dict)
    """Merges, and the splits of every kind of linkage. A cached_property would serialise threads in Python 3.11."""

    @property
    def n_peaks(self) -> int:
        """Return the number of local clusters."""
        return len(self.topo_graph.sizes)

    @property
    def max_clusters(self) -> int:
        """Return the number of clusters if nothing merges but what must share a cluster."""
        return self.n_peaks if self.links is None else self.links.count_parts(self.n_peaks)

    @property
    def merges(self) -> Merges:
        """Return all merges of average linkage."""
        if "merges" not in self._cache:
            self._cache["merges"] = link(self.topo_graph)
        merges: Merges = self._cache["merges"]
        return merges

    def splits(self, linkage: str, n_splits: int) -> Array:
        """Return the merges of a kind of linkage that are undone first."""
        n_splits = min(n_splits, self.n_peaks - 1)
        splits: Array | None = self._cache.get(linkage)
        if splits is None or len(splits) < n_splits:
            splits = rank_splits(self.merges.smaller, self.topo_graph, LINKAGES[linkage], n_splits)
            self._cache[linkage] = splits
        return splits[:n_splits]


class Crossing(NamedTuple):
    """Links that cross between clusters, one column per cluster."""

    counts: NDArray[np.int64]
    """(3, c) samples, boundary samples and crossing links."""
    saddles: NDArray[np.float64]
    """(c,) log intensity of the highest link to a near neighbour outside the cluster; -inf without one."""


class SampleStatistics(Protocol):
    """Configurations to select from, and counts over their samples."""

    configurations: list[Configuration]

    def local_labels(self, i: int) -> Array:
        """Return the local cluster, in a configuration, of every sample that serves to compare clusterings."""

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """Return the crossing links of cuts, each a configuration and the clusters of its local clusters."""


def count_crossings(
    indices: Array,
    k: int,
    local: Array,
    log_intensity: Array,
    cuts: Sequence[tuple[Array, Array]],
    *,
    n_jobs: int | None = None,
) -> list[Crossing]:
    """Return the crossing links of several cuts of one configuration.

    A cut is the cluster of every local cluster and the highest peak of every cluster. Samples without a crossing link
    in the finest common refinement of all cuts have none in any cut and are counted once. Merging clusters only raises
    their peaks, so that links count less. ``indices`` may have fewer rows than there are samples.
    """
    refined, first, part = np.unique([labels for labels, _ in cuts], axis=1, return_index=True, return_inverse=True)
    lowest = np.min([peaks[labels[first]] for labels, peaks in cuts], axis=0)

    def measure(rows: Array, labels: Array, peaks: Array) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        crossing, highest = np.empty(len(rows), np.int64), np.empty(len(rows))
        members = labels[local].astype(np.int64, copy=False)  # one dtype, so that the kernel is compiled once
        run_chunks(
            kernels.measure_crossing, len(rows), n_jobs,
            rows, indices, k, members, log_intensity, peaks, crossing, highest,
        )  # fmt: skip
        return crossing, highest

    crossing, highest = measure(np.arange(len(indices)), part.ravel(), lowest)
    rows = np.flatnonzero((crossing > 0) | (highest > -np.inf))
    sizes, results = np.bincount(part.ravel()[local[: len(indices)]], minlength=len(first)), []
    for (labels, peaks), names in zip(cuts, refined, strict=True):
        crossing, highest = measure(rows, labels, peaks)
        own, counts, saddles = labels[local[rows]], np.zeros((3, len(peaks)), np.int64), np.full(len(peaks), -np.inf)
        for row, (clusters, values) in enumerate(((names, sizes), (own, crossing > 0), (own, crossing))):
            np.add.at(counts[row], clusters, values)
        np.maximum.at(saddles, own, highest)
        results.append(Crossing(counts, saddles))
    return results


def add_crossings(parts: Sequence[Crossing]) -> Crossing:
    """Return the crossing links of all samples from those of parts of them."""
    counts, saddles = zip(*parts, strict=True)
    return Crossing(np.sum(counts, axis=0), np.max(saddles, axis=0))


def crossing_reach(n_samples: int, n_searched: int) -> int:
    """Return the number of neighbours whose links are counted; the nearer half of them for valleys."""
    return min(n_searched, 2 * round(float(np.log2(n_samples))))


def highest_peaks(configuration: Configuration, labels: Array) -> NDArray[np.float64]:
    """Return the log intensity of the highest peak of every cluster."""
    peaks = np.full(int(labels.max()) + 1, -np.inf)
    np.maximum.at(peaks, labels, configuration.peak_intensity)
    return peaks


def measure_conductance(configuration: Configuration, labels: Array, crossing: Crossing) -> tuple[float, float]:
    """Return the largest conductance of a cluster, and the largest conductance of a boundary.

    The conductance of a cluster is the share of its links that leave it. That of a boundary is the mean over its
    samples of the share of their links that cross, weighted by the intensity relative to the peaks. A cut through a
    thin thread has a small conductance of the cluster, but a large one of the boundary.
    """
    sizes, touched, crossed = crossing.counts
    graph = configuration.topo_graph
    leaving = np.where(graph.inside(labels), 0, graph.pairs)
    links = 2.0 * configuration.n_neighbors * sizes  # boundary pairs are searched among 2 k neighbours
    cluster = sum(np.bincount(end, leaving, minlength=len(sizes)) for end in labels[graph.edges].T) / links
    boundary = crossed / kernels.CROSSING / np.maximum(touched, 1)
    return float(cluster.max()), float(boundary.max())


def measure_valleys(
    configuration: Configuration, labels: Array, crossing: Crossing, dimension: float
) -> NDArray[np.float64]:
    """Return the depth of the valley around every cluster, in standard deviations of chance; inf if no link leaves it.

    The depth is that from the peak of a cluster down to its highest link outwards. Minus the log intensity is about the
    mean distance r of k neighbours. The density is proportional to r**-d in d dimensions, and -d log r has the variance
    2 (d + 1) / (d + 2) / k if the density is constant.
    """
    levels = (highest_peaks(configuration, labels), crossing.saddles)
    peak, saddle = (np.maximum(-level, MIN_LOSS) for level in levels)
    d = max(1.0, dimension)
    return np.asarray(d * np.log(saddle / peak) / np.sqrt(2 * (d + 1) / (d + 2) / configuration.n_neighbors))
