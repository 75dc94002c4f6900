"""Stages 2 to 4 on many machines: from the neighbours in every cell to one topo-graph, for all views at once.

The way uphill may lead through several cells: a sample asks the cell where its way goes on for the peak, again and
again, until all know theirs, once for every border that the longest way crosses. Boundary pairs are counted in the cell
of their sample in the higher local cluster; the sums of all cells are combined in a tree. No order of adding changes
them, see ``kernels.sums``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gitcluster._support.arrays import Array, inverse_order, starts_of
from gitcluster.distributed.exchange import Around, Ground, Region
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.plan import Plan
from gitcluster.distributed.tasks import call_each, fetch, merge_tree, store
from gitcluster.fitted.outliers import measure_widths
from gitcluster.intensity import (
    distance_unit,
    find_components,
    intensity_in_units,
    mean_distances,
    number_components,
    rounding_step,
    sum_distances,
)
from gitcluster.kernels import boundary, cellwise, climbing, sums
from gitcluster.recipes import KERNELS, SIMILARITIES, Recipe
from gitcluster.topo_graph import TopoGraph, bridge_components, collect_edges, merge_sums, split_levels, sum_pairs


class Numbering(NamedTuple):
    """Local clusters of one view, by the ids of their peaks."""

    ids: NDArray[np.int64]
    """(m,) ascending."""
    local: NDArray[np.int64]

    def find(self, ids: Array) -> Array:
        """Local clusters of peaks."""
        return self.local[np.searchsorted(self.ids, ids)]


class CellView(NamedTuple):
    """What stages 2 to 4 have found for one view, apart from the samples."""

    topo_graph: TopoGraph
    peak_intensity: NDArray[np.float64]
    """(m,) log intensity of every peak."""
    numbering: Numbering


class Stages(NamedTuple):
    """What stages 2 to 4 have found for several views."""

    plan: Plan
    climbed: list[Delayed]
    roots: list[Delayed]
    views: list[CellView]
    n_components: list[int]
    """Connected components of the graph of neighbours, one number per view."""
    rounds: int


def build_stages(ground: Ground, plan: Plan, parts: list[Delayed] | None = None) -> Stages:
    """Stages 2 to 4; ``parts`` are the connected parts within cells, where they are known."""
    regions = ground.regions
    levels, n_components = find_levels(ground, plan, start_parts(regions, plan) if parts is None else parts)
    climbed = store(call_each(climb, regions, ground.exchange(levels), plan))
    del levels
    roots, rounds = store(call_each(first_roots, ground.cells, climbed)), 0
    while sum(fetch([found.n_unknown for found in roots])):
        roots, rounds = store(call_each(ask_roots, climbed, ground.exchange(roots))), rounds + 1
    around = ground.exchange(call_each(lend_roots, climbed, roots))
    sizes, edges, *peaks = fetch(
        [
            merge_tree(merge_counts, call_each(count_roots, roots)),
            merge_tree(merge_edges, call_each(sum_boundaries, regions, climbed, around, plan)),
            *call_each(own_peaks, ground.cells, roots),
        ]
    )
    views = [
        number_peaks(some, counts, summed, plan.recipe)
        for some, (_, counts), summed in zip(zip(*peaks, strict=True), sizes, edges, strict=True)
    ]
    return Stages(plan, climbed, roots, views, n_components, rounds)


# stage 2


class Parts(NamedTuple):
    """Connected parts within a cell and its halo, one column per view."""

    names: Array
    """(n + h, s) id of the sample that stands for the part; one of the cell's own, if the part has any."""
    n_own: int
    """n, the samples of the cell."""
    sums: list["Sums"]
    """One per view, of the parts that have samples of the cell."""


class Sums(NamedTuple):
    """Distances between neighbours within parts."""

    names: Array
    """Ascending ids of the samples that stand for the parts."""
    totals: NDArray[np.int64]
    counts: NDArray[np.int64]


def start_parts(regions: list[Region], plan: Plan) -> list[Delayed]:
    """Connected parts within cells. Begun before anything waits for the search, they are found while each graph of
    neighbours is still in memory."""
    return store(call_each(find_parts, regions, plan))


def find_levels(ground: Ground, plan: Plan, parts: list[Delayed]) -> tuple[list[Delayed], list[int]]:
    """Log intensities and units of all samples, and the number of connected components in every view."""
    around = ground.exchange(call_each(lend_names, parts))
    linked = fetch(call_each(link_parts, parts, around))
    joined = [
        join_parts(some, reach.intensity) for some, reach in zip(zip(*linked, strict=True), plan.reaches, strict=True)
    ]
    means = [list(some) for some in zip(*(by_cell for by_cell, _ in joined), strict=True)]
    return store(call_each(measure_intensity, ground.regions, parts, means, plan)), [count for _, count in joined]


def find_parts(region: Region, plan: Plan) -> Parts:
    """Connected parts as far as this cell sees them."""
    graph, ids = region.graph, region.ids.astype(plan.id_type)
    names, summed = np.empty((len(ids), len(plan.sizes)), plan.id_type), []
    for s, reach in enumerate(plan.reaches):
        root, _ = find_components(graph.indices, reach.intensity, len(ids))
        lowest, place = number_components(root)
        totals, counts = sum_distances(graph.distances, reach.intensity, place, len(lowest))
        own = np.unique(place[: region.cell.n_samples])
        names[:, s] = ids[root]
        summed.append(Sums(ids[lowest[own]], totals[own], counts[own]))
    return Parts(names, region.cell.n_samples, summed)


def lend_names(parts: Parts) -> tuple[Array]:
    """The parts of the samples of a cell."""
    return (parts.names[: parts.n_own],)


def link_parts(parts: Parts, around: Around) -> list[tuple[Sums, Array]]:
    """For every view the sums of this cell, and which of its parts are one with which parts of the cells around."""
    (elsewhere,) = around.with_halo()
    n_own = len(around.own[0])
    linked = []
    for s, summed in enumerate(parts.sums):
        both = np.stack([parts.names[n_own:, s], elsewhere[n_own:, s]], axis=1)
        both = both[np.isin(both[:, 0], summed.names)]
        linked.append((summed, count_rows(both, np.ones(len(both), np.int64))[0] if len(both) else both))
    return linked


def join_parts(linked: Sequence[tuple[Sums, Array]], k: int) -> tuple[list[tuple[Array, Array]], int]:
    """For every cell its parts and the mean distance of their connected components; the number of components."""
    names, totals, counts = (np.concatenate(columns) for columns in zip(*(found for found, _ in linked), strict=True))
    order = np.argsort(names)
    links = order[np.searchsorted(names, np.concatenate([some for _, some in linked]), sorter=order)].astype(np.int32)
    adjacency = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(names),) * 2)
    n_components, component = connected_components(adjacency, directed=False)
    joined, counted = sums.merge_totals(component, totals, n_components), np.zeros(n_components, np.int64)
    np.add.at(counted, component, counts)
    ends = np.cumsum([len(found.names) for found, _ in linked])[:-1]
    means = np.split(mean_distances(joined, counted, k)[component], ends)
    return [(found.names, mean) for (found, _), mean in zip(linked, means, strict=True)], int(n_components)


def measure_intensity(region: Region, parts: Parts, means: Any, plan: Plan) -> tuple[Array, Array]:
    """Log intensity of every sample of a cell and the unit of its distances, one column per view."""
    kernel, near = plan.recipe.kernel, region.near
    power, kind = KERNELS[kernel]
    log_intensity, units = np.empty((2, region.cell.n_samples, len(plan.sizes)))
    for s, reach in enumerate(plan.reaches):
        k = reach.intensity
        if kind == "component":
            names, mean = means[s]
            unit = mean[np.searchsorted(names, parts.names[: region.cell.n_samples, s])] ** power
        else:
            unit = distance_unit(near, kernel=kernel, n_features=region.cell.points.shape[1], n_neighbors=k)
        log_intensity[:, s] = intensity_in_units(near, unit, kernel=kernel, n_neighbors=k, n_jobs=1)
        units[:, s] = unit
    return log_intensity, units


# stage 3


class Climbed(NamedTuple):
    """What is known of the samples of a cell, one column per view; the halo stands behind the samples."""

    log_intensity: NDArray[np.float64]
    """(n + h, s)."""
    units: NDArray[np.float64]
    """(n + h, s) what distances are divided by."""
    parents: NDArray[np.int32]
    """(n, s) local numbers."""
    tops: NDArray[np.int32]
    """(n, s) local numbers of the peaks, or of the samples of the halo where the way leaves the cell."""
    last_distances: Array
    """(n, s) of the last neighbours within reach of the boundary."""
    last_ids: NDArray[np.int64]
    widths: NDArray[np.float64]
    """(n, s) mean distances to the neighbours, which outliers are told by; here because the graph is at hand."""


class Roots(NamedTuple):
    """The peak of every sample, one column per view."""

    ids: NDArray[np.int64]
    """(n, s), -1 where it is not known yet."""
    levels: NDArray[np.float64]
    """(n, s) its log intensity."""

    @property
    def n_unknown(self) -> int:
        """How many are not known yet."""
        return int((self.ids < 0).sum())


def climb(region: Region, around: Around, plan: Plan) -> Climbed:
    """Parents, and where the way uphill ends in this cell."""
    graph, n_own, ids = region.graph, region.cell.n_samples, region.ids
    log_intensity, units = around.with_halo()
    parents, tops = np.empty((2, n_own, len(plan.sizes)), np.int32)
    for s, reach in enumerate(plan.reaches):
        level = np.ascontiguousarray(log_intensity[:, s])
        order = np.lexsort((ids, -level)).astype(np.int32)
        parent, top = np.empty(n_own, np.int32), np.empty(len(ids), np.int32)
        climbing.steepest_parent(
            0, n_own, graph.indices, graph.distances, reach.climb, level, inverse_order(order), plan.recipe.strict,
            rounding_step(graph.distances.dtype), parent,
        )  # fmt: skip
        cellwise.follow_locally(order, parent, n_own, top)
        parents[:, s], tops[:, s] = parent, top[:n_own]
    columns = [reach.boundary - 1 for reach in plan.reaches]
    last = graph.distances[:, columns], ids[graph.indices[:, columns]]
    widths = [measure_widths(region.near, reach.intensity, n_jobs=1) for reach in plan.reaches]
    return Climbed(log_intensity, units, parents, tops, *last, np.stack(widths, axis=1))


def first_roots(cell: Cell, climbed: Climbed) -> Roots:
    """The peaks that are known at once: those in the same cell."""
    ids = np.append(cell.ids, np.full(len(climbed.log_intensity) - cell.n_samples, -1))
    return Roots(ids[climbed.tops], np.take_along_axis(climbed.log_intensity, climbed.tops, axis=0))


def ask_roots(climbed: Climbed, around: Around) -> Roots:
    """The peaks, with those that the cells around have found meanwhile."""
    return Roots(*(np.take_along_axis(column, climbed.tops, axis=0) for column in around.with_halo()))


# stage 4


class Peaks(NamedTuple):
    """Peaks of one view."""

    ids: NDArray[np.int64]
    levels: NDArray[np.float64]
    """Log intensities."""
    rows: NDArray[np.int64]
    points: Array


Edges = tuple[Array, Array, Array]
"""Ids of two peaks, the higher one first; number and summed similarity of the boundary pairs between them."""


def lend_roots(climbed: Climbed, roots: Roots) -> tuple[Array, ...]:
    """Peaks, and distance and id of the last neighbour within reach of the boundary, one column per view."""
    return *roots, climbed.last_distances, climbed.last_ids


def own_peaks(cell: Cell, roots: Roots) -> list[Peaks]:
    """The peaks of every view that lie in a cell."""
    found = []
    for s in range(roots.ids.shape[1]):
        own = np.flatnonzero(roots.ids[:, s] == cell.ids)
        found.append(Peaks(cell.ids[own], roots.levels[own, s], cell.rows[own], cell.points[own]))
    return found


def count_roots(roots: Roots) -> list[tuple[Array, Array]]:
    """For every view its peaks, and how many samples have each."""
    ones = np.ones(len(roots.ids), np.int64)
    return [count_rows(ids[:, None], ones) for ids in roots.ids.T]


def merge_counts(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Counts of several cells."""
    return count_rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def count_rows(rows: Array, counts: Array) -> tuple[Array, Array]:
    """Every row once, in order, with all its counts."""
    order = np.lexsort(rows.T[::-1])
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (np.diff(rows[order], axis=0) != 0).any(axis=1)
    return rows[order][fresh], np.add.reduceat(counts[order], np.flatnonzero(fresh))


def sum_boundaries(region: Region, climbed: Climbed, around: Around, plan: Plan) -> list[Edges]:
    """Boundary pairs of the samples of a cell, summed by the two peaks."""
    root_ids, root_levels, last_distance, last_id = around.with_halo()
    graph, n_own, nobody = region.graph, region.cell.n_samples, np.zeros(len(root_ids))
    rate, valley, _ = SIMILARITIES[plan.recipe.similarity]
    found = []
    for s, reach in enumerate(plan.reaches):
        peaks, first, labels = np.unique(root_ids[:, s], return_index=True, return_inverse=True)
        order = np.lexsort((peaks, -root_levels[first, s]))
        labels, peaks = inverse_order(order)[labels], peaks[order]
        crossing = np.zeros((n_own, reach.boundary), np.bool_)
        columns = (np.ascontiguousarray(values[:, s]) for values in (last_distance, last_id))
        boundary.mark_near_pairs(
            0, n_own, graph.indices, graph.distances, reach.boundary, labels, region.cell.ids, *columns, crossing
        )  # fmt: skip
        level = valley * climbed.log_intensity[:, s]
        members = np.argsort(labels[:n_own], kind="stable")
        starts = starts_of(np.bincount(labels[:n_own], minlength=len(peaks)))
        ends, pairs, totals = sum_pairs(
            0, len(peaks), members, starts, graph.indices, graph.distances, crossing, labels, level,
            split_levels(level if rate == 0 else level[:0], n_jobs=1), rate, nobody,
        )  # fmt: skip
        found.append((peaks[ends], pairs, totals))
    return found


def merge_edges(parts: Sequence[Edges]) -> Edges:
    """Sums of several cells."""
    return merge_sums(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def number_peaks(peaks: Sequence[Peaks], sizes: Array, edges: Edges, recipe: Recipe) -> CellView:
    """The topo-graph of all cells, tied by bridges; ``sizes`` are in order of the ids of peaks."""
    ids, levels, rows, points = (np.concatenate(columns) for columns in zip(*peaks, strict=True))
    order, by_id = np.lexsort((ids, -levels)), np.argsort(ids)
    numbering = Numbering(ids[by_id], inverse_order(order)[by_id])
    level = SIMILARITIES[recipe.similarity].valley * levels[order]
    sizes, (ends, pairs, totals) = sizes[inverse_order(by_id)[order]], edges
    graph = collect_edges(numbering.find(ends), pairs, totals, sizes, np.arange(len(order)), level)
    graph = bridge_components(graph, points[order])
    return CellView(graph._replace(peaks=rows[order]), levels[order], numbering)
