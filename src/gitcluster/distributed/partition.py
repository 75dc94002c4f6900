"""Put samples into cells of the space: near samples on one worker, equal ones always.

Every sample has two numbers. Its row is its place in what was given. Its id is its place among all samples in
lexicographic order, which decides between equal distances and intensities as on one machine; finding it takes a sort.
A cell is what is nearest to one of some centres, which k-means finds on a few rows. Two shuffles move the samples: to
ranges of ids, then to cells.
"""

from collections.abc import Callable
from typing import NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from gitcluster._jit import cellwise, run_chunks
from gitcluster._support.arrays import Array
from gitcluster.distributed.source import Source
from gitcluster.distributed.tasks import call, fetch, share, store
from gitcluster.inputs.scaling import Scaling, apply_scaling
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates

ROWS_A_CENTRE = 256
"""Rows that k-means looks at for every cell."""
ROWS_AT_ONCE = 1 << 15


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


def place_centres(sample: Array, n_cells: int, n_samples: int, cell_size: int) -> Array:
    """Centres of cells that hold ``cell_size`` samples at most, as far as the sample tells."""
    distinct = np.unique(sample, axis=0)
    n_cells = min(n_cells, len(distinct))
    if n_cells == 1:
        return np.asarray(sample.mean(axis=0, keepdims=True, dtype=np.float64))
    rng = np.random.default_rng(0)
    few = sample[rng.permutation(len(sample))[: ROWS_A_CENTRE * n_cells]]
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


def sort_part(part: Array, start: int, splitters: Array) -> pd.DataFrame:
    """Rows of a part with the range of ids that each belongs to."""
    bucket = np.empty(len(part), np.int64)
    run_chunks(cellwise.bucket_rows, len(part), 1, part, splitters, bucket)
    return pack(part, bucket, row=np.arange(start, start + len(part)))


def place_bucket(frame: pd.DataFrame, start: int, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
    """Number the samples of a range of ids and tell the cell of each."""
    frame = frame.sort_values("row")
    X, rows = unpack(frame), frame["row"].to_numpy()
    order = canonical_order(X) if len(X) else np.arange(0)
    return place_rows(X[order], rows[order], np.arange(start, start + len(X)), scaling, centres)


def place_part(part: Array, start: int, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
    """The same for a part whose rows are their own ids."""
    rows = np.arange(start, start + len(part))
    return place_rows(part, rows, rows, scaling, centres)


def place_rows(X: Array, rows: Array, ids: Array, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
    """Scaled samples with their numbers and cells."""
    points = apply_scaling(X, scaling)
    if not points.shape[1]:  # no feature varies
        points = np.zeros((len(X), 1), X.dtype)
    return pack(points, nearest_centre(points, centres), id=ids, row=rows)


def gather_cell(frame: pd.DataFrame) -> Cell:
    """The samples that a shuffle has brought together."""
    frame = frame.sort_values("id")
    points = unpack(frame)
    first, group = group_duplicates(points) if len(points) else (np.arange(0), np.arange(0))
    return Cell(frame["id"].to_numpy(), frame["row"].to_numpy(), points, first, group)


def make_cells(source: Source, scaling: Scaling | None, centres: Array, *, sort: bool) -> tuple[list[Delayed], Array]:
    """The cells with anything in them, and their centres."""
    dtype, width = source.sample.dtype, source.sample.shape[1]
    nothing = np.arange(0)
    place: Callable[..., pd.DataFrame] = place_part
    parts, starts = source.parts, source.starts.tolist()
    if sort:
        n_buckets = max(1, min(len(source.parts), len(source.sample)))
        ordered = source.sample[canonical_order(source.sample)]
        splitters = ordered[len(ordered) * np.arange(1, n_buckets) // n_buckets]
        template = pack(np.empty((0, width), dtype), nothing, row=nothing)
        frames = [
            call(sort_part, part, int(start), splitters)
            for part, start in zip(source.parts, source.starts[:-1], strict=True)
        ]
        place, parts = place_bucket, shuffle(frames, template, n_buckets)
        starts = np.concatenate(([0], np.cumsum(fetch([call(len, part) for part in parts])))).tolist()
    shared = share(centres)
    frames = [call(place, part, start, scaling, shared) for part, start in zip(parts, starts, strict=False)]
    template = pack(np.empty((0, centres.shape[1]), dtype), nothing, id=nothing, row=nothing)
    cells = store([call(gather_cell, frame) for frame in shuffle(frames, template, len(centres))])
    there = [i for i, n in enumerate(fetch([call(_size, cell) for cell in cells])) if n]
    return [cells[i] for i in there], centres[there]


def _size(cell: Cell) -> int:
    return len(cell.ids)
