"""Stage 1 on many machines: every cell is searched together with a halo of the cells around it.

Exact: a sample has found its neighbours when its reach, the distance of the last of them, ends before the bisector to
every cell that was not searched, or before that cell's box. While there are samples for which this does not hold, their
cell is searched together with more of the cells that they need, the nearest first. The graph is that of one machine.

Approximate: every sample is searched in the nearest cells, one more a round, until a sample of rows, whose neighbours
in all cells are known, has found the share of them that was asked for.

Equal samples lie in one cell and are searched once. A cell lends no more of them than can be neighbours of anybody.
"""

from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._jit import cellwise
from gitcluster._support.arrays import Array
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.tasks import call, fetch, share, store
from gitcluster.neighbors.approximate import RECALL_ROWS
from gitcluster.neighbors.cells import Cells, gather_cells, nearest_in_cells
from gitcluster.neighbors.exact import CELL_FEATURES

NEAR = 6
"""Cells around a cell that are searched first; what lies beyond is needed by few samples then."""
PRUNE = 0.5
"""An approximate search passes over boxes whose squared distance is above this share of the last neighbour's."""
ROWS_AT_ONCE = 1 << 11


class Index(NamedTuple):
    """What a cell lends to others: its samples, in boxes where there are few features."""

    ids: NDArray[np.int64]
    points: Array
    boxes: Cells | None
    low: Array
    high: Array


class Found(NamedTuple):
    """The nearest samples that every distinct point of a cell has found so far, itself among them."""

    indices: Array
    """(u, k + 1) ids."""
    distances: Array
    filled: NDArray[np.int64]
    """(u,) how many there are."""


class Graph(NamedTuple):
    """Neighbours of the samples of a cell: local numbers, of the cell itself and, behind it, of its halo."""

    indices: NDArray[np.int32]
    distances: Array
    halo: NDArray[np.int64]
    """(h,) ids of the samples of other cells, ascending."""


class Search(NamedTuple):
    """What a search leaves behind."""

    graphs: list[Delayed]
    around: list[list[int]]
    """Cells that may have lent samples to every cell."""
    recall: float
    rounds: int
    lent: int
    """Bytes that cells were sent of others, at most: what a worker has already is not sent again."""


class CellSizeError(MemoryError):
    """A cell that cannot be split and is too large for a task."""


def build_index(cell: Cell, k: int) -> Index:
    """The samples that can be neighbours of others: of equal ones the first k + 1."""
    ids, points = cell.ids, cell.points
    if len(cell.first) < len(ids):
        order = np.argsort(cell.group, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(cell.group))))
        place = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
        lent = np.sort(order[place <= k])
        ids, points = ids[lent], points[lent]
    boxes = gather_cells(points, n_jobs=1) if points.shape[1] <= CELL_FEATURES else None
    return Index(ids, points, boxes, points.min(axis=0), points.max(axis=0))


def search_own(cell: Cell, index: Index, k: int, n_samples: int, prune: float) -> Found:
    """The nearest samples within the cell."""
    points = cell.points[cell.first]
    return _search(points, _nothing_found(len(points), k, points.dtype, n_samples), [index], prune)


def _nothing_found(n_points: int, k: int, dtype: Any, n_samples: int) -> Found:
    indices = np.full((n_points, k + 1), -1, np.int32 if n_samples < 2**31 else np.int64)
    return Found(indices, np.full((n_points, k + 1), np.inf, dtype), np.zeros(n_points, np.int64))


def search_halo(cell: Cell, found: Found, others: list[Index]) -> Found:
    """The nearest samples, those of other cells taken into account."""
    copy = Found(found.indices.copy(), found.distances.copy(), found.filled.copy())
    return _search(cell.points[cell.first], copy, others)


class Queries(NamedTuple):
    """Some distinct points of a cell that are looked for in another, and how far away a neighbour may be."""

    rows: Array
    points: Array
    reach: Array


def take_queries(cell: Cell, found: Found, chosen: Array, number: int) -> Queries:
    """The points for which a cell was chosen."""
    rows = np.flatnonzero(chosen == number)
    full = found.filled[rows] == found.indices.shape[1]
    return Queries(rows, cell.points[cell.first[rows]], np.where(full, found.distances[rows, -1], np.inf))


def answer_queries(index: Index, asked: list[Queries], k: int, n_samples: int, prune: float) -> list[Found]:
    """The nearest samples of a cell to points of others, -1 where there are fewer within reach."""
    points = np.concatenate([queries.points for queries in asked])
    nearest = _nothing_found(len(points), k, points.dtype, n_samples)
    nearest.distances[:] = np.concatenate([queries.reach for queries in asked])[:, None]
    nearest.filled[:] = k + 1
    nearest = _search(points, nearest, [index], prune)
    ends = np.cumsum([len(queries.rows) for queries in asked])[:-1]
    return [Found(*parts) for parts in zip(*(np.split(column, ends) for column in nearest), strict=True)]


def take_answer(answers: list[Found], place: int) -> Found:
    """The answer to one cell."""
    return answers[place]


def merge_answers(found: Found, asked: list[Queries], answers: list[Found]) -> Found:
    """The nearest samples, those that other cells have found taken into account."""
    copy = Found(found.indices.copy(), found.distances.copy(), found.filled.copy())
    for queries, answer in zip(asked, answers, strict=True):
        cellwise.insert_rows(queries.rows, answer.indices, answer.distances, *copy)
    return copy


def choose_cells(cell: Cell, own: int, centres: Array, place: int) -> NDArray[np.int32]:
    """The cell whose centre comes ``place``-th from every distinct point, after its own."""
    chosen = np.empty(len(cell.first), np.int32)
    cellwise.rank_centres(cell.points[cell.first], own, centres, place, chosen)
    return chosen


def _distinct(chosen: Array) -> list[int]:
    return np.unique(chosen).tolist()  # type: ignore[no-any-return]


def _search(points: Array, found: Found, others: list[Index], prune: float = 1.0) -> Found:
    """Fill ``found`` with the samples of other cells that are nearer."""
    if not len(points):
        return found
    boxes = gather_cells(points, n_jobs=1) if points.shape[1] <= CELL_FEATURES else None
    for other in others:
        if boxes is None or other.boxes is None:
            _search_all_pairs(points, other, found)
        else:
            names = other.boxes._replace(members=other.ids[other.boxes.members])
            places = found.indices, found.distances
            nearest_in_cells(boxes, names, places, filled=found.filled, prune=prune, n_jobs=1)
    return found


def _search_all_pairs(points: Array, other: Index, found: Found) -> None:
    """With many features: rounded distances by matrix products tell which pairs to measure."""
    width = found.indices.shape[1]
    them = other.points.astype(np.float64, copy=False)
    norms = np.einsum("ij,ij->i", them, them)
    slack = 1 + 2.0**-33
    for start in range(0, len(points), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        us = points[rows].astype(np.float64, copy=False)
        own = np.einsum("ij,ij->i", us, us)
        squared = us @ them.T
        squared *= -2
        squared += own[:, None]
        squared += norms
        noise = 64 * np.finfo(np.float64).eps * (own + norms.max())
        worst = np.where(found.filled[rows] == width, found.distances[rows, -1].astype(np.float64) ** 2 * slack, np.inf)
        open_ended = np.flatnonzero(worst == np.inf)
        if len(open_ended) and squared.shape[1] > width:
            nearest = np.partition(squared[open_ended], width - 1, axis=1)[:, width - 1]
            worst[open_ended] = nearest * slack + noise[open_ended]
        cellwise.insert_below(
            points[rows], other.points, other.ids, squared, worst + noise, 1 + 1e-6,
            found.indices[rows], found.distances[rows], found.filled[rows],
        )  # fmt: skip


def list_needs(cell: Cell, found: Found, own: int, centres: Array, low: Array, high: Array, wanted: Array) -> Array:
    """How many distinct points still need each of the wanted cells."""
    points = cell.points[cell.first]
    full = found.filled == found.indices.shape[1]
    reach = np.where(full, found.distances[:, -1].astype(np.float64) * (1 + 1e-6), np.inf)
    box_low, box_high = points.min(axis=0), points.max(axis=0)
    gap = np.maximum(np.maximum(low - box_high, box_low - high), 0)
    wanted = wanted & ((gap * gap).sum(axis=1) <= reach.max() ** 2)
    needs = np.zeros(len(centres), np.int64)
    cellwise.count_needs(points, reach, own, centres, low, high, wanted, needs)
    return needs


def finish(cell: Cell, found: Found) -> Graph:
    """The neighbours of every sample, in local numbers."""
    k = found.indices.shape[1] - 1
    indices = np.empty((len(cell.ids), k), found.indices.dtype)
    distances = np.empty((len(cell.ids), k), found.distances.dtype)
    cellwise.drop_self(cell.group, cell.ids, found.indices, found.distances, indices, distances)
    everyone = np.unique(found.indices)
    halo = np.setdiff1d(everyone, cell.ids, assume_unique=True).astype(np.int64)
    local = np.empty(indices.shape, np.int32)
    cellwise.number_locally(indices, cell.ids, halo, local)
    return Graph(local, distances, halo)


def _bounds(index: Index) -> tuple[int, Array, Array]:
    return index.points.nbytes + sum(part.nbytes for part in index.boxes or ()), index.low, index.high


def search_exactly(cells: list[Delayed], centres: Array, *, k: int, n_samples: int, task_bytes: int) -> Search:
    """Search until every sample is certain."""
    n_cells = len(cells)
    indexes = store([call(build_index, cell, k) for cell in cells])
    found = store([call(search_own, *pair, k, n_samples, 1.0) for pair in zip(cells, indexes, strict=True)])
    sizes, low, high = (np.array(part) for part in zip(*fetch([call(_bounds, i) for i in indexes]), strict=True))
    apart = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    shared = share((centres, low.astype(np.float64), high.astype(np.float64)))
    searched = [[i] for i in range(n_cells)]
    rounds = lent = 0
    active = list(range(n_cells)) if n_cells > 1 else []
    while active:
        wanted = ~np.eye(n_cells, dtype=bool)
        for i in active:
            wanted[i, searched[i]] = False
        needs = fetch([call(_needs, cells[i], found[i], i, shared, wanted[i]) for i in active])
        tasks = {}
        for i, need in zip(active, needs, strict=True):
            order = [j for j in np.argsort(apart[i], kind="stable").tolist() if need[j]]
            if rounds == 0:
                order = order[:NEAR]
            total = np.cumsum(sizes[order]) if order else np.empty(0)
            group = order[: max(1, int(np.searchsorted(total, task_bytes)))]
            if group:
                tasks[i] = call(search_halo, cells[i], found[i], [indexes[j] for j in group])
                searched[i] += group
                lent += int(sizes[group].sum())
        active = list(tasks)
        for i, task in zip(active, store(tasks.values()), strict=True):
            found[i] = task
        rounds += 1
    graphs = store([call(finish, cell, state) for cell, state in zip(cells, found, strict=True)])
    return Search(graphs, [sorted(set(some) - {i}) for i, some in enumerate(searched)], 1.0, rounds, lent)


def _needs(cell: Cell, found: Found, own: int, shared: tuple[Array, Array, Array], wanted: Array) -> Array:
    return list_needs(cell, found, own, *shared, wanted)


def search_nearly(
    cells: list[Delayed], centres: Array, *, k: int, n_samples: int, task_bytes: int, target: float
) -> Search:
    """Search in the nearest cells until the recall is good enough: first in two, many boxes passed over, then in more
    and more, no box passed over."""
    n_cells = len(cells)
    indexes = store([call(build_index, cell, k) for cell in cells])
    found = store([call(search_own, *pair, k, n_samples, PRUNE) for pair in zip(cells, indexes, strict=True)])
    queries = np.concatenate(fetch([call(pick_queries, cell, i, n_cells) for i, cell in enumerate(cells)]))
    true = true_neighbors(indexes, queries, k, n_samples)
    shared = share(centres)
    n_points, width = (sum(part) for part in zip(*fetch([call(_n_distinct, cell) for cell in cells]), strict=True))
    bytes_a_round = n_points * (width // n_cells + (k + 1) * (4 + width // n_cells // centres.shape[1]))
    searched: list[set[int]] = [{i} for i in range(n_cells)]
    rounds, lent, recall, lacking = 0, 0, *measure_recall(cells, found, queries, true)
    for place, prune in _places(n_cells):
        if recall >= target and not lacking and (rounds or n_cells == 1):
            break
        if place == 0:
            own = zip(cells, found, indexes, strict=True)
            found = store([call(search_halo, cell, some, [index]) for cell, some, index in own])
        else:
            chosen = store([call(choose_cells, cell, i, shared, place) for i, cell in enumerate(cells)])
            numbers = fetch([call(_distinct, some) for some in chosen])
            found = ask_chosen(cells, indexes, found, chosen, numbers, k, n_samples, prune)
            searched = [known | set(some) for known, some in zip(searched, numbers, strict=True)]
            rounds, lent = rounds + 1, lent + bytes_a_round
        recall, lacking = measure_recall(cells, found, queries, true)
    graphs = store([call(finish, cell, state) for cell, state in zip(cells, found, strict=True)])
    return Search(graphs, [sorted(some - {i}) for i, some in enumerate(searched)], recall, rounds, lent)


def _places(n_cells: int) -> list[tuple[int, float]]:
    """Which of the cells of a sample, its own being 0, are searched in which order, and how thoroughly."""
    return [*((1, PRUNE) for _ in range(min(n_cells, 2) - 1)), *((place, 1.0) for place in range(n_cells))]


def measure_recall(
    cells: list[Delayed], found: list[Delayed], queries: Array, true: tuple[Array, Array]
) -> tuple[float, int]:
    """Share of the true neighbours of some samples that were found, and how many samples lack neighbours."""
    counts = fetch([call(count_hits, cell, state, *true) for cell, state in zip(cells, found, strict=True)])
    hits, lacking = np.sum(counts, axis=0).tolist()
    return (hits - len(queries)) / (true[1].size - len(queries)), lacking  # all have found themselves


def ask_chosen(
    cells: list[Delayed], indexes: list[Delayed], found: list[Delayed], chosen: list[Delayed],
    numbers: list[list[int]], k: int, n_samples: int, prune: float,
) -> list[Delayed]:  # fmt: skip
    """Send points to the cells that were chosen for them, search there, and send back what was found."""
    asked = {
        (i, j): call(take_queries, cells[i], found[i], chosen[i], j) for i, some in enumerate(numbers) for j in some
    }
    askers: dict[int, list[int]] = {}
    for i, j in asked:
        askers.setdefault(j, []).append(i)
    answered = {
        j: call(answer_queries, indexes[j], [asked[i, j] for i in some], k, n_samples, prune)
        for j, some in askers.items()
    }
    return store(
        [
            call(
                merge_answers,
                found[i],
                [asked[i, j] for j in some],
                [call(take_answer, answered[j], askers[j].index(i)) for j in some],
            )
            for i, some in enumerate(numbers)
        ]
    )


def _n_distinct(cell: Cell) -> tuple[int, int]:
    """Distinct points of a cell, and bytes of one."""
    return len(cell.first), cell.points.itemsize * cell.points.shape[1]


def pick_queries(cell: Cell, number: int, n_cells: int) -> Array:
    """A few samples of a cell, each with its id in front."""
    few = min(len(cell.first), max(4, RECALL_ROWS // n_cells))
    rows = cell.first[np.random.default_rng(number).choice(len(cell.first), few, replace=False)]
    return np.column_stack([cell.ids[rows], cell.points[rows].astype(np.float64)])


def true_neighbors(indexes: list[Delayed], queries: Array, k: int, n_samples: int) -> tuple[Array, Array]:
    """Ids of some samples and of all their true neighbours."""
    parts = fetch([call(_nearest, index, queries[:, 1:], k, n_samples) for index in indexes])
    distances = np.concatenate([part.distances for part in parts], axis=1)
    indices = np.concatenate([part.indices for part in parts], axis=1)
    order = np.argsort(distances, axis=1, kind="stable")[:, : k + 1]
    return queries[:, 0].astype(np.int64), np.take_along_axis(indices, order, axis=1)


def _nearest(index: Index, points: Array, k: int, n_samples: int) -> Found:
    points = points.astype(index.points.dtype)
    return _search(points, _nothing_found(len(points), k, points.dtype, n_samples), [index])


def count_hits(cell: Cell, found: Found, ids: Array, true: Array) -> tuple[int, int]:
    """How many of the true neighbours of some samples those of this cell have found, and how many lack neighbours."""
    place = np.minimum(np.searchsorted(cell.ids, ids), len(cell.ids) - 1)
    here = np.flatnonzero(cell.ids[place] == ids)
    hits = sum(len(np.intersect1d(found.indices[cell.group[place[q]]], true[q])) for q in here)
    return hits, int((found.filled < found.indices.shape[1]).sum())
