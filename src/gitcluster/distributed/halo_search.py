"""Stage 1 on many machines: every cell is searched together with a halo of the cells around it.

Here are the searches within a cell and between two; ``exact_search`` decides which cells are searched. Equal samples
lie in one cell and are searched once. A cell lends no more of them than can be neighbours of anybody.
"""

from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.plan import Plan
from gitcluster.distributed.tasks import call
from gitcluster.kernels import cellwise
from gitcluster.neighbors.cells import Cells, gather_cells, nearest_in_cells
from gitcluster.neighbors.exact import CELL_FEATURES

ROWS_AT_ONCE = 1 << 11


class Rows(NamedTuple):
    """Samples of many features, which are in no boxes."""

    members: Array
    """(n,) what the samples are called."""
    points: Array


Samples = Cells | Rows


class Index(NamedTuple):
    """What a cell lends to others: its samples by their ids, in boxes where there are few features."""

    samples: Samples
    places: Array
    """(n,) places of the samples among those that are lent."""
    n_found: int
    """Samples that are looked for: k and the sample itself."""
    id_type: Any
    """Type of the ids of those."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the samples."""
        return sum(np.asarray(part).nbytes for part in self.samples)


class Found(NamedTuple):
    """The nearest samples that every distinct point of a cell has found so far, itself among them."""

    indices: Array
    """(u, k + 1) ids."""
    distances: Array
    filled: NDArray[np.int64]
    """(u,) how many there are."""

    def copy(self) -> "Found":
        """One that may be written to."""
        return Found(*(column.copy() for column in self))

    @property
    def reach(self) -> Array:
        """(u,) distance of the last of them; infinite where some are lacking."""
        return self.reach_of(np.arange(len(self.filled)))

    def reach_of(self, rows: Array) -> Array:
        """The same for some points."""
        last = self.distances[rows, -1]
        return np.where(self.filled[rows] == self.indices.shape[1], last, np.array(np.inf, last.dtype))


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
    rounds: int
    lent: int
    """Bytes that cells were sent of others, at most: what a worker has already is not sent again."""


class Queries(NamedTuple):
    """Some distinct points of a cell that are looked for in another, and how far away a neighbour may be."""

    rows: Array
    points: Array
    reach: Array


def build_index(cell: Cell, plan: Plan) -> Index:
    """The samples that can be neighbours of others: of equal ones the first k + 1."""
    ids, points = cell.ids, cell.points
    if len(cell.first) < len(ids):
        order = np.argsort(cell.group, kind="stable")
        starts = starts_of(np.bincount(cell.group))
        place = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
        lent = np.sort(order[place <= plan.n_found])
        ids, points = ids[lent], points[lent]
    samples = gather_samples(points)
    return Index(samples._replace(members=ids[samples.members]), samples.members, plan.n_found + 1, plan.id_type)


def gather_samples(points: Array) -> Samples:
    """Samples by their places, in boxes where there are few features."""
    if points.shape[1] > CELL_FEATURES:
        return Rows(np.arange(len(points)), points)
    return gather_cells(points, n_jobs=1)


def distinct_points(cell: Cell, index: Index) -> Samples:
    """The distinct points of a cell; where all are distinct, they are in boxes already."""
    if len(cell.first) < len(cell.ids):
        return gather_samples(cell.points[cell.first])
    return index.samples._replace(members=index.places)


def search_own(cell: Cell, index: Index) -> Found:
    """The nearest samples within the cell."""
    return _search(distinct_points(cell, index), _nothing_found(index, len(cell.first)), [index])


def _nothing_found(index: Index, n_points: int) -> Found:
    shape = (n_points, index.n_found)
    distances = np.full(shape, np.inf, index.samples.points.dtype)
    return Found(np.full(shape, -1, index.id_type), distances, np.zeros(n_points, np.int64))


def search_halo(cell: Cell, index: Index, found: Found, others: list[Index]) -> Found:
    """The nearest samples, those of other cells taken into account."""
    return _search(distinct_points(cell, index), found.copy(), others)


def take_queries(cell: Cell, found: Found, rows: Array) -> Queries:
    """Some points of a cell."""
    return Queries(rows, cell.points[cell.first[rows]], found.reach_of(rows))


def answer_queries(index: Index, asked: list[Queries]) -> list[Found]:
    """The nearest samples of a cell to points of others, -1 where there are fewer within reach."""
    points = np.concatenate([queries.points for queries in asked])
    reach = np.concatenate([queries.reach for queries in asked])
    nearest = _nothing_found(index, len(points))
    nearest.distances[:] = beyond(reach)[:, None]  # a sample that is as far as the last one may come before it
    nearest.filled[reach < np.inf] = index.n_found
    if len(points):
        nearest = _search(gather_samples(points), nearest, [index])
    ends = np.cumsum([len(queries.rows) for queries in asked])[:-1]
    return [Found(*parts) for parts in zip(*(np.split(column, ends) for column in nearest), strict=True)]


def beyond(reach: Array) -> Array:
    """A little farther than every reach, in its precision."""
    return np.asarray(np.nextafter(reach * reach.dtype.type(1 + 1e-6), reach.dtype.type(np.inf)))


def merge_answers(found: Found, asked: list[Queries], answers: list[Found]) -> Found:
    """The nearest samples, those that other cells have found taken into account."""
    merged = found.copy()
    for queries, answer in zip(asked, answers, strict=True):
        cellwise.insert_rows(queries.rows, answer.indices, answer.distances, *merged)
    return merged


def _search(samples: Samples, found: Found, others: list[Index]) -> Found:
    """Fill ``found`` with the samples of other cells that are nearer."""
    for other in others:
        if isinstance(samples, Cells) and isinstance(other.samples, Cells):
            places = found.indices, found.distances
            nearest_in_cells(samples, other.samples, places, filled=found.filled, n_jobs=1)
        else:
            _search_all_pairs(samples.points, other.samples, found)
    return found


def _search_all_pairs(points: Array, other: Samples, found: Found) -> None:
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
            points[rows], other.points, other.members, squared, worst + noise, 1 + 1e-6,
            found.indices[rows], found.distances[rows], found.filled[rows],
        )  # fmt: skip


def finish(cell: Cell, found: Found) -> Graph:
    """The neighbours of every sample, in local numbers."""
    k = found.indices.shape[1] - 1
    indices = np.empty((len(cell.ids), k), found.indices.dtype)
    distances = np.empty((len(cell.ids), k), found.distances.dtype)
    cellwise.drop_self(cell.group, cell.ids, found.indices, found.distances, indices, distances)
    local = number_locally(indices, cell.ids)
    outside = local < 0
    halo, places = np.unique(indices[outside], return_inverse=True)
    local[outside] = len(cell.ids) + places
    return Graph(local, distances, halo.astype(np.int64))


def number_locally(indices: Array, ids: Array) -> NDArray[np.int32]:
    """Place of every neighbour among ``ids``, which ascend, -1 where it is not one of them.

    Examples
    --------
    >>> number_locally(np.array([[3, 9], [8, 2]]), np.array([2, 3, 9]))
    array([[ 1,  2],
           [-1,  0]], dtype=int32)
    """
    span = int(ids[-1] - ids[0])
    shift = max(0, span.bit_length() - len(ids).bit_length())  # about as many buckets as ids
    starts = np.searchsorted(ids - ids[0], np.arange((span >> shift) + 2) << shift)
    local = np.empty(indices.shape, np.int32)
    cellwise.number_locally(indices, ids, starts, shift, local)
    return local


Pairs = dict[tuple[int, int], Delayed]
"""What goes between two cells: of the first one, from or to the second."""


def ask_cells(indexes: list[Delayed], asked: Pairs, shares: dict[tuple[int, int], float]) -> Pairs:
    """Send points of cells i to cells j and search there; ``shares`` are the shares of a task that each pair takes."""
    groups: dict[int, list[list[int]]] = {}
    room: dict[int, float] = {}
    for i, j in sorted(asked):
        if j not in groups or shares[i, j] > room[j]:
            groups.setdefault(j, []).append([])
            room[j] = 1.0
        groups[j][-1].append(i)
        room[j] -= shares[i, j]
    answers = {}
    for j, some in groups.items():
        for group in some:
            task = call(answer_queries, indexes[j], [asked[i, j] for i in group])
            answers.update({(i, j): task[place] for place, i in enumerate(group)})
    return answers


def sort_by_cell(asked: Pairs, answers: Pairs, n_cells: int) -> tuple[list[list[Delayed]], list[list[Delayed]]]:
    """What every cell has asked, and the answers."""
    questions: list[list[Delayed]] = [[] for _ in range(n_cells)]
    replies: list[list[Delayed]] = [[] for _ in range(n_cells)]
    for i, j in sorted(asked):
        questions[i].append(asked[i, j])
        replies[i].append(answers[i, j])
    return questions, replies
