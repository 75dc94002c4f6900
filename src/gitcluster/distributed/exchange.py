"""What cells send to each other between stages.

A cell knows its samples and has room for its halo, the samples of other cells that they have as neighbours. What a
stage finds is sent to the cells around (an exchange), so that the next stage runs in every cell by the kernels of one
machine.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.distributed.checkpoint import CheckpointError
from gitcluster.distributed.halo_search import Graph, Search
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.tasks import call, call_each, fetch, store
from gitcluster.neighbors import Neighbors


class Region(NamedTuple):
    """A cell and the neighbours of its samples; before a task runs, the tasks that make them."""

    cell: Cell
    graph: Graph

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of the samples of the cell and, behind them, of its halo."""
        return np.concatenate([self.cell.ids, self.graph.halo])

    @property
    def near(self) -> Neighbors:
        """The neighbours, as on one machine."""
        return Neighbors(self.graph.indices, self.graph.distances)


class Route(NamedTuple):
    """What one cell lends another."""

    places: NDArray[np.int32]
    """Places in the halo of the one."""
    rows: NDArray[np.int32]
    """Samples of the other that stand there."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.places)


class Around(NamedTuple):
    """Arrays of the samples of a cell, and what the cells around have answered for its halo."""

    own: tuple[Array, ...]
    routes: list[Route]
    answers: list[tuple[Array, ...]]

    def with_halo(self) -> tuple[Array, ...]:
        """Arrays for the samples of the cell and, behind them, its halo."""
        n_own, n_halo = len(self.own[0]), sum(route.n_samples for route in self.routes)
        wide = tuple(np.empty((n_own + n_halo, *column.shape[1:]), column.dtype) for column in self.own)
        for to, column in zip(wide, self.own, strict=True):
            to[:n_own] = column
        for route, answer in zip(self.routes, self.answers, strict=True):
            for to, values in zip(wide, answer, strict=True):
                to[n_own + route.places] = values
        return wide


class Ground(NamedTuple):
    """All cells with their neighbours, and who lends what to whom."""

    regions: list[Region]
    lenders: list[list[int]]
    """Cells that lend samples to every cell."""
    routes: list[list[Delayed]]
    """Which samples these are, beside the lenders."""
    n_halo: int
    """Samples in all halos."""

    @property
    def cells(self) -> list[Any]:
        """The cells alone."""
        return [region.cell for region in self.regions]

    def exchange(self, values: Sequence[Delayed]) -> list[Around]:
        """For every cell its arrays, and those of the samples that the cells around lend it."""
        return [
            Around(own, routes, [call(take, values[b], route) for b, route in zip(lenders, routes, strict=True)])
            for own, lenders, routes in zip(values, self.lenders, self.routes, strict=True)
        ]


def join_regions(cells: list[Delayed], search: Search) -> list[Region]:
    """All cells with their neighbours."""
    return [Region(*both) for both in zip(cells, search.graphs, strict=True)]


def find_routes(regions: list[Region], around: list[list[int]]) -> Ground:
    """Who lends what to whom; cells that lend nothing are left out."""
    cells: list[Any] = [region.cell for region in regions]
    pairs = [(c, b) for c, some in enumerate(around) for b in some]
    graphs: list[Any] = [region.graph for region in regions]
    halos, ids = store([graph.halo for graph in graphs]), store([cell.ids for cell in cells])
    tasks = store([call(find_route, halos[c], ids[b]) for c, b in pairs])
    counts = fetch([*(task.n_samples for task in tasks), *call_each(len, halos)])
    sizes, needed = counts[: len(tasks)], counts[len(tasks) :]
    lenders: list[list[int]] = [[] for _ in cells]
    routes: list[list[Delayed]] = [[] for _ in cells]
    for (c, b), task, size in zip(pairs, tasks, sizes, strict=True):
        needed[c] -= size
        if size:
            lenders[c].append(b)
            routes[c].append(task)
    if any(needed):
        raise CheckpointError("The cells of the checkpoint lack neighbours of their samples. Remove the folder.")
    return Ground(regions, lenders, routes, sum(sizes))


def find_route(halo: Array, ids: Array) -> Route:
    """The samples of a lender that are in the halo of a cell; both ascend."""
    rows = np.minimum(np.searchsorted(ids, halo), len(ids) - 1)
    places = np.flatnonzero(ids[rows] == halo)
    return Route(places.astype(np.int32), rows[places].astype(np.int32))


def take(values: tuple[Array, ...], route: Route) -> tuple[Array, ...]:
    """The rows of arrays that another cell has asked for."""
    return tuple(column[route.rows] for column in values)
