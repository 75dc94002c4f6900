"""Stage 1: search every cell with a halo of the cells around it, exactly, and link the cells by their halos.

The reach of a sample is the distance of its last neighbour. The sample needs no other cell if its reach ends before
the bisector between the two centres, or before the cell's box. Most samples need only their own cell, but nearly every
cell is needed by some outlying sample. Therefore a cell borrows the whole of another only if many of its samples need
it, the nearest cells first, which makes their reach shorter. If few samples need a cell, they are sent there as
queries. The graph is that of one machine. Equal samples are in one cell and are searched once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.partition import Cell, FitSettings
from gitcluster.distributed.tasks import persist, scatter, submit, submit_each
from gitcluster.kernels.search import insert_rows
from gitcluster.neighbors import Neighbors
from gitcluster.neighbors.cells import CellIndex, Cells, gather_cells, nearest_in_cells
from gitcluster.neighbors.index import search_all_pairs

MAX_BORROWED = 6
"""Cells that a cell borrows at a time, at most; afterwards fewer samples need those farther away."""
MAX_QUERIES = 0.5
"""Queries that a cell may send to all others, as a share of its samples: bounds the memory of the answers."""


# search in cells


class Rows(NamedTuple):
    """Samples of many features, which are not put into boxes."""

    members: Array
    points: Array


Index = Cells | Rows
"""The samples of a cell that can be neighbours: by their ids, in boxes if there are few features."""


class Candidates(NamedTuple):
    """The nearest samples that the search has found so far for every distinct point, including the point itself."""

    indices: Array  # (u, k + 1) ids
    distances: Array
    filled: NDArray[np.int64]  # (u,) number of samples found

    def reach(self, rows: Any = slice(None)) -> Array:
        """Return the distance of the last sample of every point, infinite if some are missing."""
        last = self.distances[rows, -1]
        return np.where(self.filled[rows] == self.indices.shape[1], last, np.array(np.inf, last.dtype))


class Queries(NamedTuple):
    """Distinct points of a cell to search for in another cell, within their reach."""

    rows: Array
    points: Array
    reach: Array


def box_samples(points: Array) -> Cells | Rows:
    """Return samples in boxes, or as they are if boxes would not rule out any."""
    if points.shape[1] <= CellIndex.MAX_FEATURES:
        return gather_cells(points, n_jobs=1)
    return Rows(np.arange(len(points)), points)


def build_index(cell: Cell, settings: FitSettings) -> Index:
    """Return the index of a cell. Of equal samples only the first k + 1 can be neighbours."""
    ids, points = cell.ids, cell.points
    if len(cell.first) < len(ids):
        order = np.argsort(cell.group, kind="stable")
        starts = starts_of(np.bincount(cell.group))
        copy_number = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
        kept = np.sort(order[copy_number <= settings.n_searched])
        ids, points = ids[kept], points[kept]
    samples = box_samples(points)
    return samples._replace(members=ids[samples.members])


def empty_candidates(n_points: int, dtype: Any, settings: FitSettings) -> Candidates:
    """Return candidates without neighbours."""
    shape = (n_points, settings.n_searched + 1)
    return Candidates(np.full(shape, -1, settings.id_type), np.full(shape, np.inf, dtype), np.zeros(n_points, np.int64))


def search_cell(
    cell: Cell, index: Index, settings: FitSettings, candidates: Candidates | None, others: Sequence[Index]
) -> Candidates:
    """Return the nearest samples of every distinct point: ``candidates``, if there are any, updated by other cells."""
    if len(cell.first) < cell.n_samples:
        points = box_samples(cell.points[cell.first])
    else:  # the boxes of the index hold the same points
        points = index._replace(members=np.searchsorted(cell.ids, index.members))
    if candidates is None:
        candidates = empty_candidates(len(cell.first), cell.points.dtype, settings)
    else:
        candidates = Candidates(*(column.copy() for column in candidates))
    return search_indexes(points, candidates, others)


def search_indexes(points: Cells | Rows, candidates: Candidates, others: Sequence[Index]) -> Candidates:
    """Update the candidates of points in place by the samples of several cells, and return them."""
    indices, distances, filled = candidates
    for other in others:
        if isinstance(points, Cells) and isinstance(other, Cells):
            nearest_in_cells(points, other, (indices, distances), filled=filled, n_jobs=1)
        else:
            search_all_pairs(points.points, other.points, other.members, *candidates)
    return candidates


def divide_needs(
    cell: Cell, candidates: Candidates, own: int, bounds: tuple[Array, ...], wanted: Array
) -> tuple[list[int], dict[int, Queries]]:
    """Return the wanted cells to borrow. If there are none, return the points to search for in each cell.

    The cells that the fewest points need are queried, as many as :data:`MAX_QUERIES` allows. The others are borrowed,
    and the rest is divided again. ``bounds`` are all centres and corners of boxes.
    """
    points, (centres, low, high) = cell.points[cell.first], bounds
    reach = candidates.reach().astype(np.float64) * (1 + 1e-6)  # rounding must not rule out a cell
    gap = np.maximum(np.maximum(low - points.max(axis=0), points.min(axis=0) - high), 0)
    wanted = wanted & ((gap * gap).sum(axis=1) <= reach.max() ** 2)
    needs: dict[int, Array] = {}
    with np.errstate(over="ignore", invalid="ignore"):  # a point whose squares overflow needs every cell
        to_own = ((points - centres[own]) ** 2).sum(axis=1)
        for c in np.flatnonzero(wanted).tolist():
            # A reach may end before the bisector, which is (|x - c|^2 - |x - own|^2) / (2 |own - c|) away. The error
            # bound of the two squared distances, 8e-16 > 2^-51 per feature, is subtracted.
            to_other, between = ((points - centres[c]) ** 2).sum(axis=1), ((centres[own] - centres[c]) ** 2).sum()
            excess = to_other - to_own - 8e-16 * (points.shape[1] + 4) * (to_other + to_own)
            is_beyond = (excess > 0) & (excess**2 > 4 * between * reach**2)
            # Or before the box.
            gap = np.maximum(np.maximum(low[c] - points, points - high[c]), 0)
            rows = np.flatnonzero(~(is_beyond | ((gap * gap).sum(axis=1) > reach**2)))
            if len(rows):
                needs[c] = rows
    by_need = sorted(needs, key=lambda c: len(needs[c]))
    n_queries = np.cumsum([len(needs[c]) for c in by_need])
    borrowed = by_need[int(np.searchsorted(n_queries, MAX_QUERIES * len(points), side="right")) :]
    if borrowed:
        return borrowed, {}
    return [], {c: Queries(rows, points[rows], candidates.reach(rows)) for c, rows in needs.items()}


def answer_queries(index: Index, queries: Queries, settings: FitSettings) -> Candidates:
    """Return the nearest samples of a cell to points of another, -1 beyond their reach."""
    _, points, reach = queries
    candidates = empty_candidates(len(points), points.dtype, settings)
    # The rows start as full of samples a little beyond the reach: one as far as the last neighbour may precede it.
    beyond = np.nextafter(reach * reach.dtype.type(1 + 1e-6), reach.dtype.type(np.inf))
    candidates.distances[:] = beyond[:, None]
    candidates.filled[reach < np.inf] = settings.n_searched + 1
    return search_indexes(box_samples(points), candidates, [index])


class Graph(NamedTuple):
    """Neighbours of the samples of a cell, numbered from 0: the samples of the cell, then its halo."""

    indices: NDArray[np.int32]
    distances: Array
    halo: NDArray[np.int64]  # (h,) ascending ids of the neighbours in other cells

    @property
    def near(self) -> Neighbors:
        """Return the neighbours in the type of one machine."""
        return Neighbors(self.indices, self.distances)


def build_graph(cell: Cell, candidates: Candidates, queries: list[Queries], answers: list[Candidates]) -> Graph:
    """Return the neighbours of every sample from the candidates of its cell and the answers of others."""
    if queries:
        candidates = Candidates(*(column.copy() for column in candidates))
    for some, answer in zip(queries, answers, strict=True):
        insert_rows(some.rows, answer.indices, answer.distances, *candidates)
    # Every sample has the neighbours of its distinct point, which are one more, without itself. The sample is not among
    # them if k + 1 equal ones precede it.
    indices, distances = (wide[cell.group] for wide in candidates[:2])
    dropped = indices == cell.ids[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    indices, distances = (wide[~dropped].reshape(cell.n_samples, -1) for wide in (indices, distances))
    local = pd.Index(cell.ids).get_indexer(indices.ravel()).astype(np.int32).reshape(indices.shape)
    outside = local < 0
    halo, positions = np.unique(indices[outside], return_inverse=True)
    local[outside] = cell.n_samples + positions
    return Graph(local, distances, halo.astype(np.int64))


# search between cells


def search_exactly(
    cells: list[Delayed], centres: Array, settings: FitSettings, task_bytes: int
) -> tuple[list[Delayed], list[list[int]]]:
    """Search until no sample needs another cell; return the graphs and, for every cell, the others that it needed."""
    n_cells = len(cells)
    corners = submit_each(lambda cell: np.array([cell.points.min(axis=0), cell.points.max(axis=0)], np.float64), cells)
    bounds = scatter((centres, *np.array(dask.compute(*corners)).swapaxes(0, 1)))
    nearest = np.argsort(((centres[:, None] - centres[None]) ** 2).sum(axis=2), axis=1, kind="stable")
    searched = np.eye(n_cells, dtype=bool)

    def list_cells(needs: tuple[list[int], dict[int, Queries]]) -> tuple[list[int], list[int]]:
        """Return the cells to borrow and those to query."""
        return needs[0], list(needs[1])

    # Search every cell by itself.
    indexes = submit_each(build_index, cells, settings)
    candidates = [
        submit(search_cell, cell, index, settings, None, [index]) for cell, index in zip(cells, indexes, strict=True)
    ]
    needs = submit_each(divide_needs, cells, candidates, list(range(n_cells)), bounds, list(~searched))
    sizes = submit_each(lambda index: sum(np.asarray(part).nbytes for part in index), indexes)
    indexes, sizes, candidates, needs = persist([indexes, sizes, candidates, needs])
    n_bytes, summaries = np.array(dask.compute(*sizes)), list(dask.compute(*submit_each(list_cells, needs)))

    # Borrow a few cells that a task can hold, the nearest first, until few samples need another cell.
    while any(borrowed for borrowed, _ in summaries):
        active = [i for i, (borrowed, _) in enumerate(summaries) if borrowed]
        tasks, divided = [], []
        for i in active:
            group = nearest[i][np.isin(nearest[i], summaries[i][0])][:MAX_BORROWED]
            group = group[: max(1, int(np.searchsorted(np.cumsum(n_bytes[group]), task_bytes)))]
            searched[i, group] = True
            others = [indexes[j] for j in group]
            tasks.append(submit(search_cell, cells[i], indexes[i], settings, candidates[i], others))
            divided.append(submit(divide_needs, cells[i], tasks[-1], i, bounds, ~searched[i]))
        tasks, divided = persist([tasks, divided])
        remaining = dask.compute(*submit_each(list_cells, divided))
        for i, *results in zip(active, tasks, divided, remaining, strict=True):
            candidates[i], needs[i], summaries[i] = results

    # Send the few samples that still need another cell as queries to that cell.
    queries, answers = [], []
    for i, (_, queried) in enumerate(summaries):
        queries.append([needs[i][1][c] for c in queried])
        answers.append(
            [submit(answer_queries, indexes[j], q, settings) for j, q in zip(queried, queries[i], strict=True)]
        )
        searched[i, queried] = True
    graphs = persist(submit_each(build_graph, cells, candidates, queries, answers))
    return graphs, [np.flatnonzero(some).tolist() for some in searched & ~np.eye(n_cells, dtype=bool)]


# exchange between cells


class HaloMap(NamedTuple):
    """The samples of one cell that are in the halo of another."""

    positions: NDArray[np.int32]  # positions in the halo
    rows: NDArray[np.int32]  # samples of the lending cell at these positions


class HaloData(NamedTuple):
    """Arrays of the samples of a cell, and the rows of other cells that are in its halo."""

    own: tuple[Array, ...]
    maps: list[HaloMap]
    received: list[tuple[Array, ...]]

    def join(self) -> tuple[Array, ...]:
        """Return arrays of the samples of the cell, followed by its halo."""
        n_own, n_halo = len(self.own[0]), sum(len(halo_map.rows) for halo_map in self.maps)
        joined = []
        for i, column in enumerate(self.own):
            values = np.empty((n_own + n_halo, *column.shape[1:]), column.dtype)
            values[:n_own] = column
            for halo_map, columns in zip(self.maps, self.received, strict=True):
                values[n_own + halo_map.positions] = columns[i]
            joined.append(values)
        return tuple(joined)


class PartitionedGraph(NamedTuple):
    """All cells, the neighbours of their samples, and the halos that link them."""

    cells: list[Any]
    graphs: list[Any]
    links: list[list[tuple[int, Delayed]]]  # for every cell, others that hold its halo and their samples in it

    def exchange(self, values: Sequence[Delayed]) -> list[HaloData]:
        """Return, for every cell, its arrays and those of its halo; ``values`` are a tuple of arrays per cell."""

        def lend(columns: tuple[Array, ...], halo_map: HaloMap) -> tuple[Array, ...]:
            return tuple(column[halo_map.rows] for column in columns)

        return [
            HaloData(own, [halo for _, halo in some], [submit(lend, values[b], halo) for b, halo in some])
            for own, some in zip(values, self.links, strict=True)
        ]


def link_cells(cells: list[Any], graphs: list[Any], searched: list[list[int]]) -> PartitionedGraph:
    """Return the graph of all cells; searched cells whose samples are no neighbours are left out."""

    def map_halo(halo: Array, ids: Array) -> HaloMap:  # both ascend
        rows = np.minimum(np.searchsorted(ids, halo), len(ids) - 1)
        positions = np.flatnonzero(ids[rows] == halo)
        return HaloMap(positions.astype(np.int32), rows[positions].astype(np.int32))

    pairs = [(c, b) for c, others in enumerate(searched) for b in others]
    halos, ids = persist([graph.halo for graph in graphs]), persist([cell.ids for cell in cells])
    maps = persist([submit(map_halo, halos[c], ids[b]) for c, b in pairs])
    counts = dask.compute(*submit_each(lambda halo_map: len(halo_map.rows), maps)) if maps else ()
    links: list[list[tuple[int, Delayed]]] = [[] for _ in cells]
    for (c, b), halo_map, count in zip(pairs, maps, counts, strict=True):
        if count:
            links[c].append((b, halo_map))
    return PartitionedGraph(cells, graphs, links)
