"""What stages 2 to 5 found with one representation and one number of neighbours, and what is counted on its samples.

In: topo-graphs, and the neighbours, local clusters and intensities of samples. Out: the merges of every view, and how
much its clusters leak.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.hierarchy import CRUMB, Merges, link, undo_order
from gitcluster.hierarchy.constrained import Ties
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import run_chunks, run_threads
from gitcluster.neighbors import Neighbors
from gitcluster.topo_graph import TopoGraph

FACTORS = tuple(2 ** (step / 2) for step in range(-2, 3))
"""Candidates for k, times log2 n: from a half to two."""
MOST_NEIGHBORS = 20
"""The largest candidate: boundary pairs are sought among 40 neighbours at most, however many samples there are."""
TOUCHING = 1e-6
"""Minus the log intensity of samples among copies of themselves, at least, so that it has a logarithm."""
CRUMBS = {"linkage": CRUMB, "even linkage": 5}
"""Merges by linkage: no split leaves less than this part of an average cluster."""


def neighborhood_sizes(n_samples: int) -> list[int]:
    """Candidates for k.

    Examples
    --------
    >>> neighborhood_sizes(1000)
    [5, 7, 10, 14, 20]
    """
    largest = max(1, min(MOST_NEIGHBORS, n_samples - 1))
    return sorted({min(largest, max(2, round(factor * np.log2(n_samples)))) for factor in FACTORS})


@dataclass(frozen=True, eq=False)
class View:
    """What stages 2 to 5 found with one representation and one number of neighbours, apart from the samples."""

    n_neighbors: int
    n_samples: int
    topo_graph: TopoGraph
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""
    ties: Ties | None = None
    """Constraints on the local clusters."""
    representation: str = "std"

    @property
    def n_peaks(self) -> int:
        """Number of local clusters."""
        return len(self.topo_graph.sizes)

    @property
    def most_clusters(self) -> int:
        """Number of clusters where nothing merges but what must be together."""
        return self.n_peaks if self.ties is None else self.ties.count_parts(self.n_peaks)

    @cached_property
    def merges(self) -> Merges:
        """All merges of average linkage."""
        return link(self.topo_graph)

    @cached_property
    def _undone(self) -> dict[str, Array]:
        """What :meth:`undone` has found."""
        return {}

    def undone(self, kind: str, n_undone: int) -> Array:
        """The merges of a kind of linkage that are undone first."""
        found, wanted = self._undone.get(kind), min(n_undone, self.n_peaks - 1)
        if found is None or len(found) < wanted:
            self._undone[kind] = found = undo_order(self.merges, self.topo_graph, CRUMBS[kind], wanted)
        return found[:wanted]


def find_merges(views: Sequence[View], n_jobs: int | None) -> None:
    """Fill in the merges of views, in threads: a cached property of Python 3.11 lets one thread in at a time."""
    for view, merges in zip(views, run_threads(lambda view: link(view.topo_graph), views, n_jobs), strict=True):
        vars(view)["merges"] = merges


class Crossing(NamedTuple):
    """What crosses between clusters, one column per cluster."""

    counts: NDArray[np.int64]
    """(3, c) samples, boundary samples and crossing links."""
    saddles: NDArray[np.float64]
    """(c,) log intensity of the highest link to a near neighbour that leaves a cluster; -inf where none does."""


class Evidence(Protocol):
    """What is counted on the samples of several views, which are known by their place in a list."""

    def rows(self, i: int) -> Array:
        """Local cluster, in a view, of every sample by which clusterings are compared."""

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """What crosses between the clusters of a view, for views with labels."""


class SampleEvidence:
    """Evidence from samples that are all here."""

    def __init__(self, views: Sequence[View], n_jobs: int | None) -> None:
        self.views, self.n_jobs = views, n_jobs
        self.samples: list[tuple[Neighbors, Array, NDArray[np.float64]]] = []
        """Neighbours, local cluster and log intensity of every sample, for every view."""
        self.compared: list[Array] = []

    def add(self, near: Neighbors, local: Array, log_intensity: NDArray[np.float64], rows: Array | None) -> None:
        """The samples of one more view, and which of them are compared with those of others; None for all."""
        self.samples.append((near, local, log_intensity))
        self.compared.append(local if rows is None else local[rows])

    def rows(self, i: int) -> Array:
        """Local cluster, in a view, of every sample by which clusterings are compared."""
        return self.compared[i]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """What crosses between the clusters of a view."""
        found: dict[int, Crossing] = {}
        for i in {i for i, _ in cuts}:
            near, local, log_intensity = self.samples[i]
            asked = {place: labels for place, (view, labels) in enumerate(cuts) if view == i}
            both = [(labels, highest_peaks(self.views[i], labels)) for labels in asked.values()]
            k = leak_among(*near.indices.shape)
            counted = count_crossings(near.indices, k, local, log_intensity, both, n_jobs=self.n_jobs)
            found.update(zip(asked, counted, strict=True))
        return [found[place] for place in range(len(cuts))]


def count_crossings(
    indices: Array,
    k: int,
    local: Array,
    log_intensity: Array,
    cuts: Sequence[tuple[Array, Array]],
    *,
    n_jobs: int | None = None,
) -> list[Crossing]:
    """What crosses between the clusters of several cuts of one view: the clusters of local clusters, and their peaks.

    Samples from which no link crosses between what is together in all cuts are not looked at again. Peaks only become
    higher where clusters are merged, and links count less. ``indices`` may have fewer rows than there are samples.
    """
    together, first, part = np.unique([labels for labels, _ in cuts], axis=1, return_index=True, return_inverse=True)
    lowest = np.min([peaks[labels[first]] for labels, peaks in cuts], axis=0)

    def measure(rows: Array, labels: Array, peaks: Array) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What crosses from some samples, by the clusters of local clusters."""
        crossing, highest = np.empty(len(rows), np.int64), np.empty(len(rows))
        members = labels[local].astype(np.int64, copy=False)  # one kind, which is compiled once
        run_chunks(
            kernels.measure_crossing, len(rows), n_jobs,
            rows, indices, k, members, log_intensity, peaks, crossing, highest,
        )  # fmt: skip
        return crossing, highest

    crossing, highest = measure(np.arange(len(indices)), part.ravel(), lowest)
    rows = np.flatnonzero((crossing > 0) | (highest > -np.inf))
    sizes, found = np.bincount(part.ravel()[local[: len(indices)]], minlength=len(first)), []
    for (labels, peaks), names in zip(cuts, together, strict=True):
        crossing, highest = measure(rows, labels, peaks)
        own, counts, saddles = labels[local[rows]], np.zeros((3, len(peaks)), np.int64), np.full(len(peaks), -np.inf)
        for row, (place, values) in enumerate(((names, sizes), (own, crossing > 0), (own, crossing))):
            np.add.at(counts[row], place, values)
        np.maximum.at(saddles, own, highest)
        found.append(Crossing(counts, saddles))
    return found


def add_crossings(parts: Sequence[Crossing]) -> Crossing:
    """What crosses among all samples, from what crosses in parts of them."""
    counts, saddles = zip(*parts, strict=True)
    return Crossing(np.sum(counts, axis=0), np.max(saddles, axis=0))


def leak_among(n_samples: int, n_found: int) -> int:
    """Neighbours whose links are looked at; the nearer half of them for valleys."""
    return min(n_found, 2 * round(float(np.log2(n_samples))))


def highest_peaks(view: View, labels: Array) -> NDArray[np.float64]:
    """Log intensity of the highest peak of every cluster."""
    peaks = np.full(int(labels.max()) + 1, -np.inf)
    np.maximum.at(peaks, labels, view.peak_intensity)
    return peaks


def measure_leak(view: View, labels: Array, found: Crossing) -> tuple[float, float]:
    """How much and how freely clusters leak, the worst of them.

    How much: the share of a cluster's links that leave it. How freely: the mean over its boundary samples of the share
    of their links that cross, each weighted by its intensity relative to the peaks; a cut through a thin thread
    leaks little, but freely.
    """
    sizes, touched, crossing = found.counts
    graph = view.topo_graph
    leaving = np.where(graph.inside(labels), 0, graph.pairs)
    links = 2.0 * view.n_neighbors * sizes
    much = sum(np.bincount(end, leaving, minlength=len(sizes)) for end in labels[graph.edges].T) / links
    freely = crossing / kernels.CROSSING / np.maximum(touched, 1)
    return float(much.max()), float(freely.max())


def measure_valleys(view: View, labels: Array, found: Crossing, dimension: float) -> NDArray[np.float64]:
    """How deep the valley around every cluster is, from its peak down to where its highest link leaves it, in standard
    deviations of chance; infinite where no link leaves it.

    Minus the log intensity is about the mean distance r of k neighbours. The density is as r to the power of -d, d
    being the dimension, and where it is the same everywhere, -d log r has the variance 2 (d + 1) / (d + 2) / k.
    """
    peak, saddle = (np.maximum(-level, TOUCHING) for level in (highest_peaks(view, labels), found.saddles))
    d = max(1.0, dimension)
    return np.asarray(d * np.log(saddle / peak) / np.sqrt(2 * (d + 1) / (d + 2) / view.n_neighbors))
