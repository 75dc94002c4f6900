"""Stage 1 on many machines, exactly: search until every sample is certain of its neighbours.

A sample has found its neighbours when its reach, the distance of the last of them, ends before the bisector to every
cell that was not searched, or before that cell's box. Most samples are certain once their own cell was searched, and
nearly all other cells are needed by some far-out sample or other. So whole cells are lent, the nearest first, only
where many samples need them; this makes their reach shorter. Where few do, these are sent to the cell that they need,
and what is found there comes back. The graph is that of one machine.
"""

from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.halo_search import (
    Found,
    Graph,
    Pairs,
    Queries,
    Search,
    ask_cells,
    build_index,
    finish,
    merge_answers,
    search_halo,
    search_own,
    sort_by_cell,
    take_queries,
)
from gitcluster.distributed.partition import Cell, Partition
from gitcluster.distributed.plan import Plan
from gitcluster.distributed.tasks import call, call_each, fetch, share, store
from gitcluster.kernels import cellwise

NEAR = 6
"""Cells that are lent to a cell first; what lies beyond is needed by fewer samples then."""
ASKED = 0.5
"""Samples that a cell may send to all others together, as a share of its own: bounds what answers take in memory."""


class Needs(NamedTuple):
    """Other cells that some distinct points of a cell still need."""

    lent: Array
    """Those that are needed by too many to ask."""
    asked: Array
    """The others."""
    queries: list[Queries]
    """What they are asked; nothing before all has been lent."""

    @property
    def summary(self) -> tuple[Array, Array, list[int]]:
        """Cells to be lent, cells to be asked, and how many points each of these is asked for."""
        return self.lent, self.asked, [len(queries.rows) for queries in self.queries]


def divide_needs(cell: Cell, found: Found, own: int, bounds: tuple[Array, ...], wanted: Array) -> Needs:
    """Which of the wanted cells some points still need; ``bounds`` are all centres and corners of boxes.

    As many cells are asked as may be, those that the fewest points need; the others are to be lent first.
    """
    points, (centres, low, high) = cell.points[cell.first], bounds
    reach = found.reach.astype(np.float64) * (1 + 1e-6)
    gap = np.maximum(np.maximum(low - points.max(axis=0), points.min(axis=0) - high), 0)
    wanted = wanted & ((gap * gap).sum(axis=1) <= reach.max() ** 2)
    needs, nowhere = np.zeros(len(centres), np.int64), np.zeros(0, np.int64)
    cellwise.list_needs(points, reach, own, centres, low, high, wanted, needs, nowhere, nowhere)
    order = np.argsort(needs, kind="stable")
    few = order[np.cumsum(needs[order]) <= ASKED * len(points)]
    asked, lent = few[needs[few] > 0], np.setdiff1d(np.flatnonzero(needs), few)
    if len(lent) or not len(asked):
        return Needs(lent, asked, [])
    starts, rows = starts_of(needs), np.empty(needs.sum(), np.int64)
    cellwise.list_needs(points, reach, own, centres, low, high, needs > 0, np.zeros_like(needs), starts, rows)
    return Needs(lent, asked, [take_queries(cell, found, rows[starts[c] : starts[c + 1]]) for c in asked])


def finish_asked(cell: Cell, found: Found, asked: list[Queries], answers: list[Found]) -> Graph:
    """The neighbours of every sample, those that other cells have found taken into account."""
    return finish(cell, merge_answers(found, asked, answers) if asked else found)


class Lending(NamedTuple):
    """Where a search stands when no cell has to be lent any more."""

    indexes: list[Delayed]
    found: list[Delayed]
    searched: Array
    """(cells, cells) which other cells each was searched with."""
    asked: Pairs
    """What is left to be asked."""
    counts: dict[tuple[int, int], int]
    """How many points that is."""
    rounds: int
    lent: int
    """Bytes that were lent."""


def search_exactly(partition: Partition, plan: Plan, *, task_bytes: int) -> Search:
    """Search until every sample is certain."""
    cells, centres = partition
    indexes, found, searched, asked, counts, rounds, lent = lend_cells(partition, plan, task_bytes)
    row_bytes = 8 * centres.shape[1] + 12 * (plan.n_found + 1)
    answers = ask_cells(indexes, asked, {pair: 3 * n * row_bytes / task_bytes for pair, n in counts.items()})
    for pair in asked:
        searched[pair] = True
    graphs = call_each(finish_asked, cells, found, *sort_by_cell(asked, answers, len(cells)))
    del found, asked, answers, indexes  # so that each is dropped as soon as it was used, not spilled
    around = [np.flatnonzero(some).tolist() for some in searched & ~np.eye(len(cells), dtype=bool)]
    return Search(store(graphs), around, rounds + bool(counts), lent + row_bytes * sum(counts.values()))


def lend_cells(partition: Partition, plan: Plan, task_bytes: int) -> Lending:
    """Search every cell, first alone, then with others, until few of its samples need more."""
    cells, centres = partition
    bounds = share((centres, *np.array(fetch(call_each(find_box, cells))).swapaxes(0, 1)))
    nearest = np.argsort(((centres[:, None] - centres[None]) ** 2).sum(axis=2), axis=1, kind="stable")
    searched, rounds, lent = np.eye(len(cells), dtype=bool), 0, 0
    indexes, sizes, found, needs = search_alone(cells, plan, bounds)
    told = fetch([need.summary for need in needs])
    while True:
        tasks = {}
        for i, (lenders, *_) in enumerate(told):
            group = nearest[i][np.isin(nearest[i], lenders)]
            group = group[:NEAR] if rounds == 0 else group
            group = group[: max(1, int(np.searchsorted(np.cumsum(sizes[group]), task_bytes)))]
            if len(group):
                tasks[i] = call(search_halo, cells[i], indexes[i], found[i], [indexes[j] for j in group])
                searched[i, group] = True
                lent += int(sizes[group].sum())
        if not tasks:
            break
        divided = [call(divide_needs, cells[i], task, i, bounds, ~searched[i]) for i, task in tasks.items()]
        for i, *pair in zip(tasks, *store_together([*tasks.values()], divided), strict=True):
            found[i], needs[i] = pair
        for i, summary in zip(tasks, fetch([needs[i].summary for i in tasks]), strict=True):
            told[i] = summary
        rounds += 1
    pairs = [(i, j, place) for i, (_, others, _) in enumerate(told) for place, j in enumerate(others.tolist())]
    asked = {(i, j): needs[i].queries[place] for i, j, place in pairs}
    counts = {(i, j): told[i][2][place] for i, j, place in pairs}
    return Lending(indexes, found, searched, asked, counts, rounds, lent)


def find_box(cell: Cell) -> Array:
    """The lower and the upper corner of the box around the samples of a cell."""
    return np.array([cell.points.min(axis=0), cell.points.max(axis=0)], np.float64)


def search_alone(
    cells: list[Delayed], plan: Plan, bounds: Any
) -> tuple[list[Delayed], NDArray[np.int64], list[Delayed], list[Delayed]]:
    """Search every cell by itself: what each lends, the bytes of that, what was found, and which cells are needed."""
    indexes = call_each(build_index, cells, plan)
    found = call_each(search_own, cells, indexes)
    needs = call_each(
        divide_needs, cells, found, list(range(len(cells))), bounds, list(~np.eye(len(cells), dtype=bool))
    )
    indexes, sizes, found, needs = store_together(indexes, [index.n_bytes for index in indexes], found, needs)
    return indexes, np.array(fetch(sizes)), found, needs


def store_together(*tasks: list[Delayed]) -> list[list[Delayed]]:
    """Start several tasks per cell at once, so that those of one cell follow each other before anything is spilled."""
    stored, n_cells = store([task for some in tasks for task in some]), len(tasks[0])
    return [stored[start : start + n_cells] for start in range(0, len(stored), n_cells)]
