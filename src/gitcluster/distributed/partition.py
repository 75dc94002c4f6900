"""Put samples into cells of the space: near samples on one worker, equal ones always.

Every sample has two numbers. Its row is its place in what was given. Its id is its place among all samples in
lexicographic order, which decides between equal distances and intensities as on one machine; finding it takes a sort.
A cell is what is nearest to one of some centres, which k-means finds on a few rows. Two shuffles move the samples: to
ranges of ids, then to cells.
"""

from typing import NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.plan import Plan
from gitcluster.distributed.source import Source, scale_rows
from gitcluster.distributed.tasks import Resources, call_each, fetch, share, store
from gitcluster.inputs.scaling import Scaling
from gitcluster.kernels import cellwise, run_chunks
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates

NOTHING = np.arange(0)
ROWS_PER_CENTRE = 256
"""Rows that k-means looks at for every cell."""
SMALL_CELL = 20_000
"""Fewer samples than this are not worth a cell of their own."""
CELLS_PER_THREAD = 4


class CellSizeError(MemoryError):
    """A cell that cannot be split and is too large for a task."""


class Cell(NamedTuple):
    """Samples of one cell, in order of their ids."""

    ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    points: Array
    """(n, d) scaled samples."""
    first: Array
    """(u,) the first sample of every distinct point."""
    group: Array
    """(n,) distinct point of every sample."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.ids)


class Partition(NamedTuple):
    """The cells that hold samples."""

    cells: list[Delayed]
    centres: Array


def make_cells(source: Source, plan: Plan, resources: Resources, cell_size: int | str) -> Partition:
    """Cells of ``cell_size`` samples; "auto" makes them as large as a task can hold, and enough for all threads."""
    sample = scale_rows(source.sample, source.scaling)
    neighbor_bytes = 2 * (plan.n_found + 1) * (4 + sample.itemsize)
    row_bytes = neighbor_bytes + 32 * sample.shape[1] + 64 * len(plan.sizes)
    most = max(1, resources.task_bytes // row_bytes)
    size = most if isinstance(cell_size, str) else int(cell_size)
    n_cells = -(-source.n_samples // size)
    if isinstance(cell_size, str):
        n_cells = max(n_cells, min(CELLS_PER_THREAD * resources.threads, source.n_samples // SMALL_CELL))
    centres = place_centres(sample, n_cells, source.n_samples, size)
    cells = move_samples(source, centres, sort=plan.recipe.has_hierarchy)
    sizes = fetch([cell.n_samples for cell in cells])
    if max(sizes) > 4 * most:
        raise CellSizeError(
            f"{max(sizes):,} samples lie so near to each other that no cells part them: a task would need "
            f"{max(sizes) * row_bytes / 1e9:.1f} GB where {resources.task_bytes / 1e9:.1f} GB are allowed. Give the "
            "workers more memory or fewer threads, or drop repeated samples."
        )
    there = np.flatnonzero(sizes).tolist()
    return Partition([cells[i] for i in there], centres[there])


def count_stored(source: Source, plan: Plan) -> dict[str, float]:
    """Return the bytes that all workers store during the search, and those of the largest part of the samples.

    Stored are samples, samples in boxes and the neighbours found so far, see docs/distributed.md.
    """
    item, n_features = source.sample.itemsize, source.sample.shape[1]
    row = (2 * item + 4) * n_features + 48 + (4 + item) * (plan.n_found + 1) + 8
    return {"stored": float(source.n_samples * row), "part": float(source.sizes.max() * n_features * item)}


def place_centres(sample: Array, n_cells: int, n_samples: int, cell_size: int) -> Array:
    """Centres of cells that hold at most ``cell_size`` samples, as far as the sample tells."""
    distinct = np.unique(sample, axis=0)
    n_cells = min(n_cells, len(distinct))
    if n_cells == 1:
        return np.asarray(sample.mean(axis=0, keepdims=True, dtype=np.float64))
    rng = np.random.default_rng(0)
    few = sample[rng.permutation(len(sample))[: ROWS_PER_CENTRE * n_cells]]
    centres = _means(few, n_cells)
    for _ in range(8):
        counts = np.bincount(pairwise_distances_argmin(few, centres), minlength=len(centres)) * n_samples / len(few)
        large = np.flatnonzero(counts > 1.2 * cell_size)
        if not len(large):
            break
        kept = [centres[np.delete(np.arange(len(centres)), large)]]
        nearest = pairwise_distances_argmin(sample, centres)
        for cell in large:
            inside = sample[nearest == cell]
            parts = min(int(np.ceil(counts[cell] / cell_size)) + 1, len(np.unique(inside, axis=0)))
            kept.append(_means(inside, parts) if parts > 1 else centres[[cell]])
        if sum(map(len, kept)) == len(centres):  # what is left cannot be split: equal samples
            break
        centres = np.concatenate(kept)
    return centres


def _means(points: Array, n: int) -> Array:
    with np.errstate(all="ignore"):
        found = KMeans(n, n_init=1, max_iter=20, random_state=0).fit(points.astype(np.float64)).cluster_centers_
    return np.asarray(np.unique(found, axis=0))


def nearest_centre(points: Array, centres: Array) -> NDArray[np.int64]:
    """Cell of every sample; equal samples have equal cells, whatever stands beside them."""
    nearest = np.empty(len(points), np.int64)
    cellwise.nearest_centre(points, centres, nearest)
    return nearest


def shuffle(frames: list[Delayed], template: pd.DataFrame, n_out: int) -> list[Delayed]:
    """Send rows to the partition that the column ``to`` names, by whatever shuffle Dask has (p2p on a cluster)."""
    frame = dd.from_delayed(frames, meta=template, verify_meta=False)
    return store(frame.set_index("to", divisions=list(range(n_out + 1))).to_delayed())


def pack(values: Array, to: Array, **columns: Array) -> pd.DataFrame:
    """Rows of samples as a frame, to be shuffled."""
    frame = pd.DataFrame(values, columns=[f"f{j}" for j in range(values.shape[1])], copy=False)
    for name, column in columns.items():
        frame[name] = column
    frame["to"] = to
    return frame


def unpack(frame: pd.DataFrame) -> Array:
    """The samples of a frame."""
    names = [name for name in frame.columns if name.startswith("f")]
    return np.ascontiguousarray(frame[names].to_numpy())


def sort_part(part: Array, start: int, splitters: Array, features: Array) -> pd.DataFrame:
    """Rows of a part with the range of ids that each belongs to, by their ``features`` in this order."""
    bucket = np.empty(len(part), np.int64)
    run_chunks(cellwise.bucket_rows, len(part), 1, part, features, splitters, bucket)
    return pack(part, bucket, row=np.arange(start, start + len(part)))


def place_range(
    frame: pd.DataFrame, start: int, features: Array, scaling: Scaling | None, centres: Array
) -> pd.DataFrame:
    """Number the samples of a range of ids and tell the cell of each."""
    frame = frame.sort_values("row")
    X, rows = unpack(frame), frame["row"].to_numpy()
    order = canonical_order(X, features) if len(X) else np.arange(0)
    return place_rows(X[order], rows[order], np.arange(start, start + len(X)), scaling, centres)


def place_part(part: Array, start: int, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
    """The same for a part whose rows are their own ids."""
    rows = np.arange(start, start + len(part))
    return place_rows(part, rows, rows, scaling, centres)


def place_rows(X: Array, rows: Array, ids: Array, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
    """Scaled samples with their numbers and cells."""
    points = scale_rows(X, scaling)
    return pack(points, nearest_centre(points, centres), id=ids, row=rows)


def gather_cell(frame: pd.DataFrame) -> Cell:
    """The samples that a shuffle has brought together."""
    frame = frame.sort_values("id")
    points = unpack(frame)
    first, group = group_duplicates(points) if len(points) else (np.arange(0), np.arange(0))
    return Cell(frame["id"].to_numpy(), frame["row"].to_numpy(), points, first, group)


def sort_samples(source: Source) -> tuple[list[Delayed], list[int]]:
    """The samples in ranges of ids, and the first id of every range."""
    n_ranges = max(1, min(len(source.parts), len(source.sample)))
    ordered = source.sample[:, source.features]
    ordered = ordered[canonical_order(ordered)]
    splitters = ordered[len(ordered) * np.arange(1, n_ranges) // n_ranges]
    template = pack(source.sample[:0], NOTHING, row=NOTHING)
    ranges = shuffle(call_each(sort_part, source.parts, source.starts, splitters, source.features), template, n_ranges)
    return ranges, starts_of(np.array(fetch(call_each(len, ranges))))[:-1].tolist()


def move_samples(source: Source, centres: Array, *, sort: bool) -> list[Delayed]:
    """All samples in their cells, some of which may be empty; without ``sort`` rows are their own ids."""
    if sort:
        frames = call_each(place_range, *sort_samples(source), source.features, source.scaling, share(centres))
    else:
        frames = call_each(place_part, source.parts, source.starts, source.scaling, share(centres))
    nobody = np.empty((0, centres.shape[1]), source.sample.dtype)
    template = pack(nobody, NOTHING, id=NOTHING, row=NOTHING)
    return store(call_each(gather_cell, shuffle(frames, template, len(centres))))
