"""Stages 2 to 4 on many machines: from the neighbours in every cell to one topo-graph, for all views at once.

A cell knows its samples and has room for its halo, the samples of other cells that they have as neighbours. What a
stage finds is sent to the cells around (an exchange), so that the next stage runs in every cell by the kernels of one
machine.

The way uphill may lead through several cells: a sample asks the cell where its way goes on for the peak, again and
again, until all know theirs, once for every border that the longest way crosses. Boundary pairs are counted in the cell
of their sample in the higher local cluster; the sums of all cells are combined in a tree. No order of adding changes
them, see ``_jit.sums``.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gitcluster._jit import boundary, cellwise, climbing, sums
from gitcluster._support.arrays import Array, inverse_order, starts_of
from gitcluster.distributed.halo_search import Graph
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.tasks import call, fetch, reduce_tree, share, store
from gitcluster.intensity import mean_distances, round_intensity, rounding_step
from gitcluster.recipes import KERNELS, SIMILARITIES, Reach, Recipe
from gitcluster.selection import count_crossing
from gitcluster.topo_graph import TopoGraph, bridge_components, collect_edges, merge_sums


class Plan(NamedTuple):
    """What the stages do, and how many neighbours each looks at, for one view of the data after another."""

    recipe: Recipe
    sizes: list[int]
    """Neighbours of every view."""
    reaches: list[Reach]


class Climbed(NamedTuple):
    """What is known of the samples of a cell, a column for every view; the halo stands behind the samples."""

    log_intensity: NDArray[np.float64]
    units: NDArray[np.float64]
    """(n + h, s) what distances are divided by."""
    parents: NDArray[np.int32]
    """(n, s) local numbers."""
    tops: NDArray[np.int32]
    """(n, s) local numbers of the peaks, or of the samples of the halo where the way leaves the cell."""


class Roots(NamedTuple):
    """The peak of every sample."""

    ids: NDArray[np.int64]
    """(n, s), -1 where it is not known yet."""
    levels: NDArray[np.float64]
    """(n, s) its log intensity."""


class Peaks(NamedTuple):
    """Peaks of a view in order of their ids, sizes, intensities, rows and places; what cells have of them adds up."""

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    levels: NDArray[np.float64]
    rows: NDArray[np.int64]
    points: Array


class Edges(NamedTuple):
    """Sums over boundary pairs of two peaks, the higher one first, by their ids."""

    ends: NDArray[np.int64]
    pairs: NDArray[np.int64]
    totals: NDArray[np.int64]


# exchange


class Routes(NamedTuple):
    """For every cell, which cells lend it samples, and the tasks that tell which."""

    sources: list[list[int]]
    tasks: list[list[Delayed]]
    n_halo: int
    """Samples in all halos."""


def find_routes(cells: Sequence[Delayed], graphs: Sequence[Delayed], around: Sequence[Sequence[int]]) -> Routes:
    """Who lends what to whom; cells that lend nothing are left out."""
    tasks = [[call(route, graphs[c], cells[b]) for b in around[c]] for c in range(len(cells))]
    flat = store([task for row in tasks for task in row])
    found = fetch([call(_route_size, task) for task in flat])
    sizes = iter(found)
    kept: list[list[tuple[int, Delayed]]] = []
    left = iter(flat)
    for c in range(len(cells)):
        kept.append([(b, task) for b, task, n in zip(around[c], left, sizes, strict=False) if n] if around[c] else [])
    return Routes([[b for b, _ in row] for row in kept], [[task for _, task in row] for row in kept], sum(found))


def route(graph: Graph, lender: Cell) -> tuple[Array, Array]:
    """Places in the halo, and the samples of the lender that stand there."""
    _, where, rows = np.intersect1d(graph.halo, lender.ids, assume_unique=True, return_indices=True)
    return where.astype(np.int32), rows.astype(np.int32)


def _route_size(found: tuple[Array, Array]) -> int:
    return len(found[0])


def take(values: tuple[Array, ...], found: tuple[Array, Array]) -> tuple[Array, ...]:
    """The rows of arrays that another cell has asked for."""
    return tuple(column[found[1]] for column in values)


def exchange(routes: Routes, values: Sequence[Delayed]) -> list[list[Delayed]]:
    """For every cell the answers of the cells around it, beside the routes."""
    return [
        [call(take, values[b], task) for b, task in zip(sources, tasks, strict=True)]
        for sources, tasks in zip(routes.sources, routes.tasks, strict=True)
    ]


def with_halo(
    own: tuple[Array, ...], n_halo: int, routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, ...]]
) -> tuple[Array, ...]:
    """Arrays for the samples of a cell and, behind them, its halo."""
    wide = tuple(np.empty((len(column) + n_halo, *column.shape[1:]), column.dtype) for column in own)
    for to, column in zip(wide, own, strict=True):
        to[: len(column)] = column
    for (where, _), answer in zip(routes, answers, strict=True):
        for to, column, values in zip(wide, own, answer, strict=True):
            to[len(column) + where] = values
    return wide


# stage 2


class Parts(NamedTuple):
    """Connected parts within a cell and its halo, a column for every view, and distances between neighbours in them."""

    roots: NDArray[np.int32]
    """(n + h, s) the sample that stands for its part."""
    sums: list[tuple[Array, Array, Array]]
    """Of every view: the samples that stand for parts, totals and numbers of distances."""


def find_parts(graph: Graph, reaches: Sequence[Reach]) -> Parts:
    """Connected parts as far as this cell sees them."""
    n_own, n_nodes = len(graph.indices), len(graph.indices) + len(graph.halo)
    roots, summed = np.empty((n_nodes, len(reaches)), np.int32), []
    for s, reach in enumerate(reaches):
        root, _ = climbing.find_components(graph.indices, reach.intensity, n_nodes)
        totals, counts = sums.empty_totals(n_nodes), np.zeros(n_nodes, np.int64)
        climbing.sum_components(root, graph.distances, reach.intensity, totals, counts)
        roots[:, s] = root
        own = np.unique(root[:n_own])
        summed.append((own, totals[own], counts[own]))
    return Parts(roots, summed)


def _own_roots(parts: Parts, cell: Cell) -> tuple[Array]:
    return (parts.roots[: len(cell.ids)],)


def link_parts(
    parts: Parts, cell: Cell, routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array]]
) -> list[tuple[Array, list[Array], tuple[Array, Array, Array]]]:
    """Of every view, which parts of this cell are one with which parts of the cells around, and the sums."""
    n_own = len(cell.ids)
    linked = []
    for s, summed in enumerate(parts.sums):
        links = []
        for (where, _), (answer,) in zip(routes, answers, strict=True):
            here = parts.roots[n_own + where, s]
            both = np.stack([here, answer[:, s]], axis=1)[here < n_own].astype(np.int64)
            links.append(count_rows(both, np.ones(len(both), np.int64))[0] if len(both) else both)
        linked.append((summed[0], links, summed))
    return linked


def join_parts(
    linked: Sequence[Any], sources: Sequence[Sequence[int]], k: int, view: int
) -> tuple[list[tuple[Array, Array]], int]:
    """The mean distance of the connected component of every part, by cells, and the number of components."""
    names = [found[view][0] for found in linked]
    starts = np.concatenate(([0], np.cumsum([len(name) for name in names])))
    ends = [np.empty((0, 2), np.int64)]
    for c, found in enumerate(linked):
        for b, links in zip(sources[c], found[view][1], strict=True):
            here = starts[c] + np.searchsorted(names[c], links[:, 0])
            there = starts[b] + np.searchsorted(names[b], links[:, 1])
            ends.append(np.stack([here, there], axis=1))
    joined = np.concatenate(ends).astype(np.int32).T
    shape = (int(starts[-1]),) * 2
    count, component = connected_components(coo_array((np.ones(joined.shape[1]), (joined[0], joined[1])), shape=shape),
                                            directed=False)  # fmt: skip
    totals, counts = sums.empty_totals(count), np.zeros(count, np.int64)
    for c, found in enumerate(linked):
        place = component[starts[c] : starts[c + 1]]
        sums.merge_totals(place, found[view][2][1], totals)
        np.add.at(counts, place, found[view][2][2])
    means = mean_distances(totals, counts, k)
    return [(names[c], means[component[starts[c] : starts[c + 1]]]) for c in range(len(names))], int(count)


def measure_intensity(cell: Cell, graph: Graph, parts: Parts, means: Any, plan: Plan) -> tuple[Array, Array]:
    """Log intensity of every sample of a cell, by the kernels of one machine, and the unit of its distances."""
    n_own = len(graph.indices)
    power, kind = KERNELS[plan.recipe.kernel]
    log_intensity, units = np.empty((2, n_own, len(plan.reaches)))
    for s, reach in enumerate(plan.reaches):
        unit = np.full(n_own, float(cell.points.shape[1]) if kind == "features" else 1.0)
        if kind == "component":
            names, mean = means[s]
            unit = mean[np.searchsorted(names, parts.roots[:n_own, s])] ** power
        column = np.empty(n_own)
        climbing.log_mean_kernel(0, n_own, graph.distances, reach.intensity, power, unit, column)
        log_intensity[:, s], units[:, s] = round_intensity(column, graph.distances.dtype), unit
    return log_intensity, units


# stage 3


def climb(
    cell: Cell, graph: Graph, own: tuple[Array, Array], plan: Plan,
    routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, Array]],
) -> Climbed:  # fmt: skip
    """Parents, and where the way uphill ends in this cell."""
    log_intensity, units = with_halo(own, len(graph.halo), routes, answers)
    ids = np.concatenate([cell.ids, graph.halo])
    n_own = len(cell.ids)
    parents, tops = np.empty((2, n_own, len(plan.reaches)), np.int32)
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
    return Climbed(log_intensity, units, parents, tops)


def first_roots(cell: Cell, climbed: Climbed) -> Roots:
    """The peaks that are known at once: those in the same cell."""
    n_own = len(climbed.tops)
    here = climbed.tops < n_own
    tops = np.where(here, climbed.tops, 0)
    levels = np.take_along_axis(climbed.log_intensity[:n_own], tops, axis=0)
    return Roots(np.where(here, cell.ids[tops], -1), np.where(here, levels, 0.0))


def ask_roots(
    graph: Graph, climbed: Climbed, roots: Roots, routes: Sequence[tuple[Array, Array]], answers: Sequence[Any]
) -> Roots:
    """Take over the peaks that the cells around have found meanwhile."""
    n_own = len(roots.ids)
    ids, levels = with_halo(roots, len(graph.halo), routes, answers)
    away = climbed.tops >= n_own
    return Roots(
        np.where(away, np.take_along_axis(ids, climbed.tops, axis=0), roots.ids),
        np.where(away, np.take_along_axis(levels, climbed.tops, axis=0), roots.levels),
    )


def _unknown(roots: Roots) -> int:
    return int((roots.ids < 0).sum())


# stage 4


def last_neighbors(cell: Cell, graph: Graph, reaches: Sequence[Reach]) -> tuple[Array, Array]:
    """Distance and id of the last neighbour within reach of the boundary, a column for every view."""
    ids = np.concatenate([cell.ids, graph.halo])
    columns = [reach.boundary - 1 for reach in reaches]
    return graph.distances[:, columns], ids[graph.indices[:, columns]]


def count_peaks(cell: Cell, climbed: Climbed, roots: Roots) -> list[Peaks]:
    """Samples by peaks; only the cell of a peak knows its row and place."""
    found = []
    for s in range(roots.ids.shape[1]):
        ids, first, sizes = np.unique(roots.ids[:, s], return_index=True, return_counts=True)
        place = np.minimum(np.searchsorted(cell.ids, ids), len(cell.ids) - 1)
        here = cell.ids[place] == ids
        rows = np.where(here, cell.rows[place], -1)
        points = np.where(here[:, None], cell.points[place], 0)
        found.append(Peaks(ids, sizes, roots.levels[first, s], rows, points))
    return found


def merge_peaks(parts: Sequence[list[Peaks]]) -> list[Peaks]:
    """Peaks of several cells."""
    merged = []
    for some in zip(*parts, strict=True):
        ids, first, place = np.unique(np.concatenate([p.ids for p in some]), return_index=True, return_inverse=True)
        sizes = np.zeros(len(ids), np.int64)
        np.add.at(sizes, place, np.concatenate([p.sizes for p in some]))
        rows, points = np.full(len(ids), -1), np.zeros((len(ids), some[0].points.shape[1]), some[0].points.dtype)
        all_rows, all_points = np.concatenate([p.rows for p in some]), np.concatenate([p.points for p in some])
        known = all_rows >= 0
        rows[place[known]], points[place[known]] = all_rows[known], all_points[known]
        merged.append(Peaks(ids, sizes, np.concatenate([p.levels for p in some])[first], rows, points))
    return merged


def sum_boundaries(
    cell: Cell, graph: Graph, climbed: Climbed, own: tuple[Array, ...], plan: Plan,
    routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, ...]],
) -> list[Edges]:  # fmt: skip
    """Boundary pairs of the samples of a cell, summed by the two peaks."""
    root_ids, root_levels, last_distance, last_id = with_halo(own, len(graph.halo), routes, answers)
    n_own, nobody = len(cell.ids), np.zeros(len(root_ids))
    rate, valley = SIMILARITIES[plan.recipe.similarity]
    found = []
    for s, reach in enumerate(plan.reaches):
        peaks, first, labels = np.unique(root_ids[:, s], return_index=True, return_inverse=True)
        order = np.lexsort((peaks, -root_levels[first, s]))
        labels, peaks = inverse_order(order)[labels], peaks[order]
        crossing = np.zeros((n_own, reach.boundary), np.bool_)
        columns = (np.ascontiguousarray(values[:, s]) for values in (last_distance, last_id))
        cellwise.mark_near_pairs(
            graph.indices, graph.distances, reach.boundary, labels, cell.ids, *columns, crossing
        )  # fmt: skip
        level = valley * climbed.log_intensity[:, s]
        members = np.argsort(labels[:n_own], kind="stable")
        starts = starts_of(np.bincount(labels[:n_own], minlength=len(peaks)))
        ends, pairs, totals = boundary.sum_pairs(
            0, len(peaks), members, starts, graph.indices, graph.distances, crossing, labels, level,
            rate, nobody,
        )  # fmt: skip
        found.append(Edges(peaks[ends], pairs, totals))
    return found


def merge_edges(parts: Sequence[list[Edges]]) -> list[Edges]:
    """Sums of several cells."""
    return [
        Edges(*merge_sums(*(np.concatenate(columns) for columns in zip(*some, strict=True))))
        for some in zip(*parts, strict=True)
    ]


# between views


def count_shared(roots: Roots) -> list[tuple[Array, Array]]:
    """For every two views, pairs of peaks and the samples that have both."""
    ones = np.ones(len(roots.ids), np.int64)
    return [count_rows(roots.ids[:, [i, j]], ones) for i, j in combinations(range(roots.ids.shape[1]), 2)]


def merge_shared(parts: Sequence[list[tuple[Array, Array]]]) -> list[tuple[Array, Array]]:
    """Counts of several cells."""
    return [
        count_rows(*(np.concatenate(column) for column in zip(*some, strict=True))) for some in zip(*parts, strict=True)
    ]


def count_rows(pairs: Array, counts: Array) -> tuple[Array, Array]:
    """Every pair once, in order, with all its counts."""
    order = np.lexsort(pairs.T[::-1])
    fresh = np.ones(len(pairs), np.bool_)
    fresh[1:] = (np.diff(pairs[order], axis=0) != 0).any(axis=1)
    return pairs[order][fresh], np.add.reduceat(counts[order], np.flatnonzero(fresh))


def count_leaks(
    graph: Graph, climbed: Climbed, own: tuple[Array, ...], peak_ids: Sequence[Array], cuts: Sequence[Any], k: int,
    routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, ...]],
) -> list[NDArray[np.int64]]:  # fmt: skip
    """For every cut, a view with labels of its peaks in order of ids, what crosses between its clusters."""
    root_ids = with_halo(own, len(graph.halo), routes, answers)[0]
    numbers = {s: np.searchsorted(peak_ids[s], root_ids[:, s]) for s in {cut[0] for cut in cuts}}
    return [
        count_crossing(
            graph.indices,
            k,
            labels[numbers[s]],
            np.ascontiguousarray(climbed.log_intensity[:, s]),
            peaks=peaks,
            n_jobs=1,
        )
        for s, labels, peaks in cuts
    ]


def add_leaks(parts: Sequence[list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    """Counts of several cells."""
    return [np.sum(some, axis=0) for some in zip(*parts, strict=True)]


# all of them


class Ground(NamedTuple):
    """The cells and what the search has found in them."""

    cells: list[Delayed]
    graphs: list[Delayed]
    routes: Routes


class Views(NamedTuple):
    """What stages 2 to 4 have found for several views."""

    plan: Plan
    climbed: list[Delayed]
    roots: list[Delayed]
    around: list[Delayed]
    """Of every cell, what it lends to the cells around: ids and levels of roots, and the last neighbours."""
    peaks: list[Peaks]
    graphs: list[TopoGraph]
    orders: list[Array]
    """Of every view, the place of local cluster i among the peaks in order of ids."""
    n_components: list[int]
    rounds: int


def build_views(ground: Ground, plan: Plan) -> Views:
    """Stages 2 to 4."""
    cells, graphs, routes = ground
    each, reaches = range(len(cells)), plan.reaches
    parts = store([call(find_parts, graph, reaches) for graph in graphs])
    own = [call(_own_roots, parts[c], cells[c]) for c in each]
    answers = exchange(routes, own)
    linked = fetch([call(link_parts, parts[c], cells[c], routes.tasks[c], answers[c]) for c in each])
    joined = [join_parts(linked, routes.sources, reach.intensity, s) for s, reach in enumerate(reaches)]
    units = [[by_cell[c] for by_cell, _ in joined] for c in each]
    levels = store([call(measure_intensity, cells[c], graphs[c], parts[c], units[c], plan) for c in each])
    del parts, linked
    answers = exchange(routes, levels)
    climbed = store([call(climb, cells[c], graphs[c], levels[c], plan, routes.tasks[c], answers[c]) for c in each])
    del levels
    roots = store([call(first_roots, cells[c], climbed[c]) for c in each])
    rounds = 0
    while sum(fetch([call(_unknown, found) for found in roots])):
        answers = exchange(routes, roots)
        roots = store([call(ask_roots, graphs[c], climbed[c], roots[c], routes.tasks[c], answers[c]) for c in each])
        rounds += 1
    lent = store([call(_lend, cells[c], graphs[c], roots[c], reaches) for c in each])
    answers = exchange(routes, lent)
    summed = [
        call(sum_boundaries, cells[c], graphs[c], climbed[c], lent[c], plan, routes.tasks[c], answers[c]) for c in each
    ]
    peaks, edges = fetch(
        [
            reduce_tree(merge_peaks, [call(count_peaks, cells[c], climbed[c], roots[c]) for c in each]),
            reduce_tree(merge_edges, summed),
        ]
    )
    found = [number_peaks(*both, plan.recipe) for both in zip(peaks, edges, strict=True)]
    return Views(
        plan, climbed, roots, lent, peaks, [graph for graph, _ in found], [order for _, order in found],
        [count for _, count in joined], rounds,
    )  # fmt: skip


def _lend(cell: Cell, graph: Graph, roots: Roots, reaches: Sequence[Reach]) -> tuple[Array, ...]:
    return (*roots, *last_neighbors(cell, graph, reaches))


def number_peaks(peaks: Peaks, edges: Edges, recipe: Recipe) -> tuple[TopoGraph, Array]:
    """The topo-graph of all cells, tied by bridges; and the order of its local clusters among the peaks."""
    order = np.lexsort((peaks.ids, -peaks.levels))
    ends = inverse_order(order)[np.searchsorted(peaks.ids, edges.ends)]
    level = SIMILARITIES[recipe.similarity].valley * peaks.levels[order]
    graph = collect_edges(ends, edges.pairs, edges.totals, peaks.sizes[order], np.arange(len(order)), level)
    graph = bridge_components(graph, peaks.points[order])
    return graph._replace(peaks=peaks.rows[order]), order


def count_all_shared(views: Views) -> dict[tuple[int, int], tuple[Array, Array, Array]]:
    """For every two views, local clusters of the one and the other, and the samples that have both."""
    pairs = list(combinations(range(len(views.plan.reaches)), 2))
    if not pairs:
        return {}
    (found,) = fetch([reduce_tree(merge_shared, [call(count_shared, roots) for roots in views.roots])])
    shared = {}
    for (i, j), (ids, counts) in zip(pairs, found, strict=True):
        first, second = (_number(views, s, ids[:, column]) for column, s in enumerate((i, j)))
        order = np.lexsort((second, first))
        shared[i, j] = first[order], second[order], counts[order]
    return shared


def _number(views: Views, s: int, ids: Array) -> Array:
    """Local clusters of peaks."""
    return inverse_order(views.orders[s])[np.searchsorted(views.peaks[s].ids, ids)]


def count_all_leaks(
    ground: Ground, views: Views, cuts: Sequence[tuple[int, Array, Array]], k: int
) -> list[NDArray[np.int64]]:
    """For every cut, a view with labels of its local clusters and levels of its clusters, what crosses."""
    by_id = []
    for s, labels, peaks in cuts:
        sorted_labels = np.empty(len(labels), np.int16)
        sorted_labels[views.orders[s]] = labels
        by_id.append((s, sorted_labels, peaks))
    shared_ids, shared_cuts = share([peaks.ids for peaks in views.peaks]), share(by_id)
    answers = exchange(ground.routes, views.around)
    tasks = [
        call(count_leaks, ground.graphs[c], views.climbed[c], views.around[c], shared_ids, shared_cuts, k,
             ground.routes.tasks[c], answers[c])
        for c in range(len(ground.cells))
    ]  # fmt: skip
    return list(fetch([reduce_tree(add_leaks, tasks)])[0])
