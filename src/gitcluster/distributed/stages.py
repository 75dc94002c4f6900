"""Stages 2 to 5: from the neighbours in every cell to the clusters, for all configurations at once.

A path uphill may cross several cells. A cell asks the next one for the peak at which the path ends, until all peaks are
known: once for every border that the longest path crosses. Boundary pairs are counted in the cell of their sample in
the higher local cluster, and the sums of all cells are combined in a tree; no order of adding changes them, see
``kernels.sums``. The topo-graph is small and is merged here by the functions of one machine. Before stage 1, a
subsample decides on the representation of the features, as on one machine.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.delayed import Delayed
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gitcluster import intensity
from gitcluster._support.arrays import Array, follow_to_end, inverse_order, starts_of
from gitcluster.configurations import (
    Configuration,
    Crossing,
    add_crossings,
    count_crossings,
    crossing_reach,
    highest_peaks,
)
from gitcluster.distributed.partition import ADAPTIVE, Cell, FitSettings, SampleParts, draw_subsample
from gitcluster.distributed.search import Graph, HaloData, PartitionedGraph
from gitcluster.distributed.tasks import merge_tree, persist, scatter, submit_each
from gitcluster.edge_cutting import EdgeCut, describe_cut
from gitcluster.hierarchy import Hierarchy
from gitcluster.kernels import graph as kernels
from gitcluster.kernels import sums
from gitcluster.pipeline import Settings, Study, study_samples
from gitcluster.preprocessing.sources import Points
from gitcluster.samples import MAX_STUDIED, Samples
from gitcluster.selection import hierarchy_of, select
from gitcluster.topo_graph import bridge_components, collect_edges, level_bins, merge_sums, sum_boundary_pairs
from gitcluster.variants import KERNELS, SIMILARITIES

# before stage 1: the representation


def study_subsample(
    samples: SampleParts, ordered: list[Delayed], settings: FitSettings, scale: ArrayLike | str | None
) -> tuple[Array, Study]:
    """Choose the representation and the number of clusters on a subsample; return its rows and the decisions."""
    values, rows = draw_subsample(samples, ordered, MAX_STUDIED)
    subsample = Samples(Points(values), features=samples.features, base=samples.scaling)
    sizes = settings.sizes if settings.fixed else None
    asked = Settings(ADAPTIVE, scale, n_neighbors=sizes, n_clusters=settings.n_clusters, prior=settings.prior)
    study = study_samples(subsample, subsample, asked, is_all=len(rows) == samples.n_samples)
    return rows, study


# stages 2 to 4


class Numbering(NamedTuple):
    """Local clusters of one configuration by the ids of their peaks."""

    ids: NDArray[np.int64]  # (m,) ascending
    local: NDArray[np.int64]

    def find(self, ids: Array) -> Array:
        """Return the local clusters of peaks."""
        return self.local[np.searchsorted(self.ids, ids)]


class CellStages(NamedTuple):
    """Results of stages 2 to 4 for all configurations."""

    settings: FitSettings
    climbs: list[Delayed]
    roots: list[Delayed]
    configurations: list[Configuration]
    numberings: list[Numbering]
    n_components: list[int]  # connected components of the graph of neighbours in every configuration


class Components(NamedTuple):
    """Connected components within a cell and its halo, one column per configuration."""

    own: tuple[Array]  # (n, s) id of the sample that names the component of every sample of the cell
    halo: Array  # (h, s) the same for the halo; named by a sample of the cell, if the component has any
    sums: list["DistanceSums"]  # sums of the components that have samples of the cell, for every configuration


class DistanceSums(NamedTuple):
    """Sums of the distances between neighbours within components."""

    names: Array  # ascending ids of the samples that name the components
    totals: NDArray[np.int64]
    counts: NDArray[np.int64]


class Climb(NamedTuple):
    """Intensities and paths uphill of a cell and its halo, one column per configuration."""

    log_intensity: NDArray[np.float64]  # (n + h, s)
    units: NDArray[np.float64]  # (n + h, s) divisors of the distances
    tops: NDArray[np.int32]
    """(n, s) local numbers of the peaks, or of the halo samples at which the paths leave the cell."""
    last_distances: Array  # (n, s) distance of the last neighbour within reach of the boundary
    last_ids: NDArray[np.int64]


class Roots(NamedTuple):
    """The peak of every sample, one column per configuration."""

    ids: NDArray[np.int64]  # (n, s) -1 if it is not known yet
    levels: NDArray[np.float64]  # (n, s) its log intensity


def compute_cell_stages(
    graph: PartitionedGraph, settings: FitSettings, components: list[Delayed] | None = None
) -> CellStages:
    """Compute stages 2 to 4; ``components`` are those within cells, if they are known."""
    cells, graphs = graph.cells, graph.graphs
    if components is None:
        components = persist(submit_each(find_cell_components, cells, graphs, settings))
    around = graph.exchange([component.own for component in components])
    linked = zip(*dask.compute(*submit_each(link_components, components, around)), strict=True)
    joined = [join_components(some, reach.intensity) for some, reach in zip(linked, settings.reaches, strict=True)]
    means, n_components = zip(*joined, strict=True)
    by_cell = [list(some) for some in zip(*means, strict=True)]
    intensities = persist(submit_each(measure_intensity, cells, graphs, components, by_cell, settings))
    climbs = persist(submit_each(climb, cells, graphs, graph.exchange(intensities), settings))
    del intensities  # the climbs hold them

    roots = persist(submit_each(find_own_roots, cells, climbs))
    while any(dask.compute(*submit_each(lambda some: bool((some.ids < 0).any()), roots))):
        roots = persist(submit_each(follow_halo, climbs, graph.exchange(roots)))

    lent = submit_each(lambda some, climbed: (*some, climbed.last_distances, climbed.last_ids), roots, climbs)
    boundaries = submit_each(sum_boundaries, cells, graphs, climbs, graph.exchange(lent), settings)

    edges = merge_tree(lambda parts: merge_sums(*map(np.concatenate, zip(*parts, strict=True))), boundaries)
    counted = submit_each(lambda some: [np.unique(ids, return_counts=True) for ids in some.ids.T], roots)
    peaks = submit_each(find_peaks, cells, roots)
    edges, counts, *peaks = dask.compute(edges, merge_tree(merge_counts, counted), *peaks)
    built = map(build_configuration, settings.sizes, zip(*peaks, strict=True), counts, edges, [settings] * len(counts))
    configurations, numberings = map(list, zip(*built, strict=True))
    return CellStages(settings, climbs, roots, configurations, numberings, list(n_components))


def find_cell_components(cell: Cell, graph: Graph, settings: FitSettings) -> Components:
    """Return the connected components, as far as the neighbours of this cell connect them."""
    ids = np.concatenate([cell.ids, graph.halo]).astype(settings.id_type)
    names, by_configuration = np.empty((len(ids), len(settings.sizes)), settings.id_type), []
    for s, reach in enumerate(settings.reaches):
        root, _ = intensity.find_components(graph.indices, reach.intensity, len(ids))
        lowest, number = intensity.number_components(root)
        totals, counts = intensity.sum_distances(graph.distances, reach.intensity, number, len(lowest))
        own = np.unique(number[: cell.n_samples])
        names[:, s] = ids[root]
        by_configuration.append(DistanceSums(ids[lowest[own]], totals[own], counts[own]))
    return Components((names[: cell.n_samples],), names[cell.n_samples :], by_configuration)


def link_components(components: Components, around: HaloData) -> list[tuple[DistanceSums, Array]]:
    """Return, for every configuration, the sums of a cell and the pairs of its components and those of other cells."""
    ours, theirs = components.halo, around.join()[0][len(components.own[0]) :]
    linked = []
    for s, some in enumerate(components.sums):
        pairs = np.stack([ours[:, s], theirs[:, s]], axis=1)
        linked.append((some, np.unique(pairs[np.isin(pairs[:, 0], some.names)], axis=0)))
    return linked


def join_components(linked: Sequence[tuple[DistanceSums, Array]], k: int) -> tuple[list[tuple[Array, Array]], int]:
    """Return the components of every cell with the mean distance of the whole component, and the number of wholes."""
    names, totals, counts = (np.concatenate(columns) for columns in zip(*(some for some, _ in linked), strict=True))
    order = np.argsort(names)
    links = order[np.searchsorted(names, np.concatenate([pairs for _, pairs in linked]), sorter=order)].astype(np.int32)
    adjacency = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(names),) * 2)
    n_components, component = connected_components(adjacency, directed=False)
    all_totals, all_counts = sums.merge_totals(component, totals, n_components), np.zeros(n_components, np.int64)
    np.add.at(all_counts, component, counts)
    ends = np.cumsum([len(some.names) for some, _ in linked])[:-1]
    means = np.split(intensity.mean_distances(all_totals, all_counts, k)[component], ends)
    return [(some.names, mean) for (some, _), mean in zip(linked, means, strict=True)], int(n_components)


def measure_intensity(
    cell: Cell, graph: Graph, components: Components, means: Any, settings: FitSettings
) -> tuple[Array, Array]:
    """Return the log intensity and the unit of distances of every sample of a cell, one column per configuration."""
    kernel = ADAPTIVE.kernel
    log_intensity, units = np.empty((2, cell.n_samples, len(settings.sizes)))
    for s, reach in enumerate(settings.reaches):
        names, mean = means[s]
        unit = mean[np.searchsorted(names, components.own[0][:, s])] ** KERNELS[kernel].power
        log_intensity[:, s] = intensity.intensity_in_units(
            graph.near, unit, kernel=kernel, n_neighbors=reach.intensity, n_jobs=1
        )
        units[:, s] = unit
    return log_intensity, units


def climb(cell: Cell, graph: Graph, around: HaloData, settings: FitSettings) -> Climb:
    """Return where the paths uphill from the samples of a cell end, or leave the cell."""
    n_own, ids = cell.n_samples, np.concatenate([cell.ids, graph.halo])
    log_intensity, units = around.join()
    tops = np.empty((n_own, len(settings.sizes)), np.int32)
    for s, reach in enumerate(settings.reaches):
        level = np.ascontiguousarray(log_intensity[:, s])
        order = np.lexsort((ids, -level)).astype(np.int32)
        parent = np.arange(len(ids), dtype=np.int32)  # a path that leaves the cell ends in its halo
        kernels.steepest_parent(
            0, n_own, graph.indices, graph.distances, reach.climb, level, inverse_order(order), ADAPTIVE.strict,
            intensity.rounding_step(graph.distances.dtype), parent,
        )  # fmt: skip
        tops[:, s] = follow_to_end(parent)[:n_own]
    columns = [reach.boundary - 1 for reach in settings.reaches]
    last = graph.distances[:, columns], ids[graph.indices[:, columns]]
    return Climb(log_intensity, units, tops, *last)


def find_own_roots(cell: Cell, climbed: Climb) -> Roots:
    """Return the peaks of the paths that end in their cell."""
    ids = np.append(cell.ids, np.full(len(climbed.log_intensity) - cell.n_samples, -1))
    return Roots(ids[climbed.tops], np.take_along_axis(climbed.log_intensity, climbed.tops, axis=0))


def follow_halo(climbed: Climb, around: HaloData) -> Roots:
    """Return the peaks, including those that other cells know for the halo by now."""
    return Roots(*(np.take_along_axis(column, climbed.tops, axis=0) for column in around.join()))


def find_peaks(cell: Cell, roots: Roots) -> list[tuple[Array, ...]]:
    """Return ids, log intensities, rows and points of the peaks in a cell, for every configuration."""
    owned = (np.flatnonzero(ids == cell.ids) for ids in roots.ids.T)
    return [(cell.ids[own], roots.levels[own, s], cell.rows[own], cell.points[own]) for s, own in enumerate(owned)]


def merge_counts(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the ascending ids of peaks, and the number of samples of each in several cells."""
    ids, counts = map(np.concatenate, zip(*parts, strict=True))
    names, number = np.unique(ids, return_inverse=True)
    totals = np.zeros(len(names), np.int64)
    np.add.at(totals, number, counts)
    return names, totals


def sum_boundaries(
    cell: Cell, graph: Graph, climbed: Climb, around: HaloData, settings: FitSettings
) -> list[tuple[Array, Array, Array]]:
    """Return the boundary pairs of the samples of a cell for every configuration.

    They are the ids of two peaks, the higher one first, and number and summed similarity of the pairs between them.
    """
    root_ids, root_levels, last_distance, last_id = around.join()
    n_own, weights = cell.n_samples, np.zeros(len(root_ids))
    valley = SIMILARITIES[ADAPTIVE.similarity].valley
    edges = []
    for s, reach in enumerate(settings.reaches):
        # Number the peaks from high to low, as one machine does, which decides in which cell a pair is counted.
        peaks, first, labels = np.unique(root_ids[:, s], return_index=True, return_inverse=True)
        order = np.lexsort((peaks, -root_levels[first, s]))
        labels, peaks = inverse_order(order)[labels], peaks[order]
        crossing = np.zeros((n_own, reach.boundary), np.bool_)
        columns = (np.ascontiguousarray(values[:, s]) for values in (last_distance, last_id))
        kernels.mark_near_pairs(
            0, n_own, graph.indices, graph.distances, reach.boundary, labels, cell.ids, *columns, crossing
        )  # fmt: skip
        level = valley * climbed.log_intensity[:, s]
        members = np.argsort(labels[:n_own], kind="stable")
        starts = starts_of(np.bincount(labels[:n_own], minlength=len(peaks)))
        ends, pairs, totals = sum_boundary_pairs(
            0, len(peaks), members, starts, graph.indices, graph.distances, crossing, labels, level,
            level_bins(level, n_jobs=1), 0.0, weights,
        )  # fmt: skip
        edges.append((peaks[ends], pairs, totals))
    return edges


def build_configuration(
    n_neighbors: int,
    peaks: Sequence[tuple[Array, ...]],
    counts: tuple[Array, Array],
    edges: tuple[Array, Array, Array],
    settings: FitSettings,
) -> tuple[Configuration, Numbering]:
    """Return a configuration of all cells, connected by bridges, and the numbers of its local clusters."""
    ids, levels, rows, points = (np.concatenate(columns) for columns in zip(*peaks, strict=True))
    order, by_id = np.lexsort((ids, -levels)), np.argsort(ids)
    numbering = Numbering(ids[by_id], inverse_order(order)[by_id])
    level = SIMILARITIES[ADAPTIVE.similarity].valley * levels[order]
    sizes, (ends, pairs, totals) = counts[1][inverse_order(by_id)[order]], edges
    graph = collect_edges(numbering.find(ends), pairs, totals, sizes, np.arange(len(order)), level)
    graph = bridge_components(graph, points[order])._replace(peaks=rows[order])
    configuration = Configuration(
        n_neighbors, settings.n_samples, graph, levels[order], representation=settings.representation
    )
    return configuration, numbering


# stage 5


def choose_configuration(
    graph: PartitionedGraph, stages: CellStages, subsample: tuple[Array, Study]
) -> tuple[CellStages, int, EdgeCut, Hierarchy]:
    """Return the stages, the chosen configuration, its clusters and their hierarchy."""
    settings, (rows, study) = stages.settings, subsample
    if study.is_final:  # the stages have the selected configuration only
        chosen = study.selection.chosen._replace(configuration=0)
    else:
        statistics = CellStatistics(graph, stages, rows)
        n_clusters = settings.n_clusters or study.selection.n_clusters
        most = max(configuration.max_clusters for configuration in statistics.configurations)
        if not settings.fixed and most < n_clusters:
            statistics.add_finest()
        chosen = select(
            statistics,
            n_clusters=n_clusters,
            prior=settings.prior,
            dimension=study.dimension,
            target=study.labels,
        ).chosen
        stages = statistics.stages
    configuration = stages.configurations[chosen.configuration]
    cut = describe_cut(configuration.topo_graph, chosen.labels, chosen.merged, settings.prior)
    return stages, chosen.configuration, cut, hierarchy_of(configuration, chosen)


class CellStatistics:
    """Statistics of the samples of all cells, see :class:`gitcluster.configurations.SampleStatistics`."""

    def __init__(self, graph: PartitionedGraph, stages: CellStages, rows: Array) -> None:
        self.graph, self.subsample, self.configurations = graph, rows, list(stages.configurations)
        self._use(stages)

    def _use(self, stages: CellStages) -> None:
        self.stages, ascending = stages, np.sort(self.subsample)

        def find_rows(cell: Cell, roots: Roots, rows: Array) -> tuple[Array, Array]:
            """Return the positions in ``rows``, which ascend, of samples of a cell, and the ids of their peaks."""
            positions = np.minimum(np.searchsorted(rows, cell.rows), len(rows) - 1)
            own = np.flatnonzero(rows[positions] == cell.rows)
            return positions[own], roots.ids[own]

        tasks = submit_each(find_rows, self.graph.cells, stages.roots, scatter(ascending))
        positions, roots = (np.concatenate(columns) for columns in zip(*dask.compute(*tasks), strict=True))
        # ids of the peaks of the subsample, one column per configuration
        self.peaks = roots[inverse_order(positions)][np.searchsorted(ascending, self.subsample)]

    def add_finest(self) -> None:
        """Add a configuration with the most local clusters possible."""
        settings = self.stages.settings
        sizes = [*settings.sizes, min(2, settings.n_samples - 1)]
        self._use(compute_cell_stages(self.graph, settings._replace(sizes=sizes)))
        self.configurations.append(self.stages.configurations[-1])

    def local_labels(self, i: int) -> Array:
        """Return the local cluster of every sample of the subsample in a configuration."""
        return self.stages.numberings[i].find(self.peaks[:, i])

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """Return the links that cross between clusters, for pairs of a configuration and its labels."""
        settings, numberings = self.stages.settings, self.stages.numberings
        k = crossing_reach(settings.n_samples, settings.n_searched)
        by_configuration: dict[int, list[int]] = {}
        for i, (s, _) in enumerate(cuts):
            by_configuration.setdefault(s, []).append(i)
        # For every configuration, the ids of its peaks, and their clusters and the highest peaks of every cut.
        shared = []
        for s, some in by_configuration.items():
            ids, local = numberings[s]
            labels = [cuts[i][1] for i in some]
            pairs = [(own[local].astype(np.int16), highest_peaks(self.configurations[s], own)) for own in labels]
            shared.append((s, ids, pairs))

        def count(graph: Graph, climbed: Climb, around: HaloData, shared: Any) -> list[Crossing]:
            root_ids, crossings = around.join()[0], []
            for s, ids, pairs in shared:
                numbers, level = np.searchsorted(ids, root_ids[:, s]), np.ascontiguousarray(climbed.log_intensity[:, s])
                crossings += count_crossings(graph.indices, k, numbers, level, pairs, n_jobs=1)
            return crossings

        around = self.graph.exchange(self.stages.roots)
        tasks = submit_each(count, self.graph.graphs, self.stages.climbs, around, scatter(tuple(shared)))
        counted = merge_tree(add_crossings, tasks).compute()
        order = [i for some in by_configuration.values() for i in some]
        return [counted[position] for position in np.argsort(order)]
