"""Read samples in parts, learn the scale of their features, and move them to cells of the space.

A sample has two numbers. Its row is its position in the input. Its id is its position among all samples in
lexicographic order; ids break ties between equal distances and intensities as on one machine, and need a sort. A cell
holds the samples nearest to one of several centres, which k-means computes on a few rows, so that equal samples share a
cell. The data are read three times: for their extremes, for their moments, and to move them. Two shuffles move them:
to ranges of ids, from which a subsample is drawn, then to cells.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from gitcluster._support.arrays import Array, inverse_order, starts_of
from gitcluster.distributed.tasks import current_client, merge_tree, persist, scatter, submit_each
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates
from gitcluster.preprocessing.scaling import (
    Scaling,
    all_features,
    apply_scaling,
    fit_scaling,
    rank_features,
    scale_checked,
    scaling_from_moments,
    sum_columns,
    sum_moments,
    varying_features,
)
from gitcluster.samples import are_merged, sample_keys, smallest_keys
from gitcluster.variants import VARIANTS, Reach

ADAPTIVE = VARIANTS["adaptive"]
SAMPLED = 65_536
"""Rows from which the centres of cells and the ranges of ids are computed."""
ROWS_PER_CENTRE = 256
"""Rows per cell that k-means uses."""
SMALL_CELL = 20_000
"""Automatic cells hold at least this many samples: a smaller one costs more to coordinate than it saves."""
CELLS_PER_THREAD = 4
PAIRS_AT_ONCE = 1 << 22
"""Distances between points and centres that are in memory at a time."""


class FitSettings(NamedTuple):
    """Numbers of neighbours and requested clusters of a fit."""

    n_samples: int
    n_searched: int  # neighbours that the search finds for every sample
    sizes: list[int]  # number of neighbours of every configuration
    fixed: bool  # whether the user has set the number of neighbours
    n_clusters: int | None
    prior: NDArray[np.float64] | None
    representation: str = ""  # name of the representation of the features

    @property
    def reaches(self) -> list[Reach]:
        """Return the neighbours that every stage uses, for every configuration."""
        return [ADAPTIVE.reach(size, self.n_searched) for size in self.sizes]

    @property
    def id_type(self) -> np.dtype[Any]:
        """Return the type of the ids in large arrays."""
        return np.dtype(np.int32 if self.n_samples < 2**31 else np.int64)


class SampleParts(NamedTuple):
    """The samples of a Dask collection."""

    parts: list[Delayed]  # arrays of samples by features
    sizes: NDArray[np.int64]  # samples in every part
    low: Array
    high: Array
    sample: Array  # some rows, in no particular order
    names: list[str] | None  # names of the features
    features: NDArray[np.int64] = np.empty(0, np.int64)  # all features in canonical order, see preprocessing.scaling
    scaling: Scaling | None = None

    @property
    def n_samples(self) -> int:
        """Return the number of samples in all parts."""
        return int(self.sizes.sum())


class Cell(NamedTuple):
    """Samples of one cell, in order of their ids."""

    ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    points: Array  # (n, d) scaled samples
    first: Array  # (u,) first sample of every distinct point
    group: Array  # (n,) distinct point of every sample

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return len(self.ids)


# reading


def open_parts(X: Any, dtype: Any = None) -> tuple[list[Delayed], Any, list[str] | None, int]:
    """Return the parts of a collection as arrays of floats, the type of the floats, and names and number of features.

    ``X`` is a Dask array or data frame, or an array. ``dtype`` is by default the type that scikit-learn, and so GIT,
    converts ``X`` to.
    """
    names = None
    if isinstance(X, dd.DataFrame):
        kinds, names = list(X.dtypes), [str(name) for name in X.columns]
        wrong = [name for name, kind in zip(names, kinds, strict=True) if getattr(kind, "kind", "O") not in "fiub"]
        if wrong:
            raise ValueError(f"X must have columns of real numbers, got others: {wrong}. Drop or encode them.")
        parts = list(X.to_delayed())
    else:
        if not isinstance(X, da.Array):
            X = np.asarray(X)
            X = da.from_array(X, chunks=(max(1, -(-len(X) // 8)), *X.shape[1:])) if X.ndim else X
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim} dimension(s): X must be samples by features.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X must be real numbers, got an array of {X.dtype}.")
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        kinds, parts = [X.dtype], list(X.to_delayed().ravel())
    if dtype is None:
        plain = bool(kinds) and all(isinstance(kind, np.dtype) for kind in kinds)
        dtype = np.float32 if plain and np.result_type(*kinds) == np.float32 else np.float64

    def as_floats(part: Any) -> Array:
        values = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "to_numpy") else part
        return np.ascontiguousarray(values, dtype=dtype)

    return submit_each(as_floats, parts), dtype, names, int(X.shape[1])


def open_samples(X: Any) -> SampleParts:
    """Check all parts and return them with their sizes and extremes."""
    parts, _, names, _ = open_parts(X)

    def survey(part: Array, number: int) -> tuple[Any, Array, Array, Array]:
        if not np.isfinite(part).all():
            problem = "NaN" if np.isnan(part).any() else "infinity"
            message = f"Input X contains {problem}, in part {number} of the collection. Fill or drop these rows."
            raise ValueError(message)
        n_rows = min(len(part), -(-SAMPLED // len(parts)))
        rows = part[np.random.default_rng(number).choice(len(part), n_rows, replace=False)]
        return part.shape, part.min(axis=0, initial=np.inf), part.max(axis=0, initial=-np.inf), rows

    shapes, low, high, rows = zip(*dask.compute(*submit_each(survey, parts, list(range(len(parts))))), strict=True)
    sizes = np.array([shape[0] for shape in shapes], np.int64)
    if sizes.sum() < 2:
        raise ValueError(f"X must have at least 2 samples, got {sizes.sum()}.")
    widths = {shape[1] for shape in shapes}
    if len(widths) > 1 or 0 in widths:
        raise ValueError(f"All parts of X must have the same number of features, at least 1, got {sorted(widths)}.")
    return SampleParts(parts, sizes, np.min(low, axis=0), np.max(high, axis=0), np.concatenate(rows), names)


def learn_scaling(samples: SampleParts, scale: ArrayLike | str | None) -> SampleParts:
    """Return the samples with the scale of their features, bit for bit that of one machine.

    ``scale="auto"`` begins with standard deviations.
    """
    low, high, varying = samples.low, samples.high, varying_features(samples.low, samples.high)

    def sum_part(part: Array) -> NDArray[np.int64]:
        return sum_moments(np.ascontiguousarray(part[:, varying].T), low[varying], high[varying])

    def hash_columns(ranks: NDArray[np.int64]) -> NDArray[np.uint64]:
        hashes = dask.compute(*submit_each(sum_columns, samples.parts, base, ranks))
        return np.asarray(np.sum(hashes, axis=0, dtype=np.uint64))

    sums = np.sum(dask.compute(*submit_each(sum_part, samples.parts)), axis=0)
    base = scaling_from_moments(varying, low, high, sums, samples.n_samples)
    ordered = base.take(rank_features([base.mean, base.deviation], hash_columns))
    features = all_features(ordered, len(low))
    by_deviation = isinstance(scale, str) and scale in ("auto", "std")
    scaling = ordered if by_deviation else fit_scaling(samples.sample[:1], scale).put_in_order(features)
    scale_checked(np.stack([low, high]), scaling)
    return samples._replace(features=features, scaling=scaling)


class OrderedPart(NamedTuple):
    """Samples of consecutive ids, in order of their ids."""

    values: Array
    rows: NDArray[np.int64]


def order_samples(samples: SampleParts) -> tuple[list[Delayed], list[int]]:
    """Return all samples in order of their ids, and the first id of every part."""
    starts = starts_of(samples.sizes)[:-1].tolist()
    features, names = samples.features, [f"f{j}" for j in range(samples.sample.shape[1])]
    n_ranges = max(1, min(len(samples.parts), len(samples.sample)))
    ordered = samples.sample[:, features]
    ordered = ordered[canonical_order(ordered)]
    splitters = ordered[len(ordered) * np.arange(1, n_ranges) // n_ranges]

    def assign_ranges(part: Array, start: int) -> pd.DataFrame:
        # Sort the part together with the splitters, which are first among equal rows, and count those before every row.
        order = canonical_order(np.concatenate([splitters, part[:, features]]))
        ranges = np.cumsum(order < len(splitters))[inverse_order(order)[len(splitters) :]]
        frame = pd.DataFrame(part, columns=names, copy=False)
        return frame.assign(row=np.arange(start, start + len(part)), to=ranges)

    def sort_range(frame: pd.DataFrame) -> OrderedPart:
        frame = frame.sort_values("row")  # equal samples are in the order of their rows
        values = np.ascontiguousarray(frame.drop(columns="row").to_numpy())
        order = canonical_order(values, features) if len(values) else np.arange(0)
        return OrderedPart(values[order], frame["row"].to_numpy()[order])

    columns: dict[str, Any] = dict.fromkeys(names, samples.sample.dtype) | {"row": np.int64}
    frames = shuffle(submit_each(assign_ranges, samples.parts, starts), columns, n_ranges)
    parts = persist(submit_each(sort_range, frames))
    sizes = dask.compute(*submit_each(lambda part: len(part.rows), parts))
    return parts, starts_of(np.array(sizes))[:-1].tolist()


def draw_subsample(samples: SampleParts, ordered: list[Delayed], size: int) -> tuple[Array, Array]:
    """Return values and rows of the subsample that one machine would draw, see :func:`gitcluster.samples.subsample`.

    Equal samples are in one part, so that no other part has to know their number.
    """
    varying = samples.features[np.isin(samples.features, varying_features(samples.low, samples.high))]

    def keep_smallest(pieces: Sequence[Any]) -> tuple[Array, ...]:
        keys, values, rows = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        kept = smallest_keys(keys, size)
        return keys[kept], values[kept], rows[kept]

    def draw(part: OrderedPart, bounds: tuple[Array, Array] | None) -> list[Any]:
        keys = sample_keys(part.values, np.arange(len(part.rows)), bounds, varying)
        return [keep_smallest([(keys, *part)])]

    for bounds in ((samples.low, samples.high), None):
        tasks = submit_each(draw, ordered, bounds)
        keys, values, rows = merge_tree(keep_smallest, tasks).compute()[0]
        if len(rows) == samples.n_samples or not are_merged(keys):
            break
    return values, rows


# cells


def make_cells(
    samples: SampleParts,
    ordered: tuple[list[Delayed], list[int]],
    settings: FitSettings,
    threads: int,
    task_bytes: int,
    cell_size: int | str,
) -> tuple[list[Delayed], Array]:
    """Move the samples, ``ordered`` by their ids, to cells of ``cell_size`` samples; return the cells and centres.

    "auto" makes the cells as large as a task can hold, but enough of them for all threads.
    """
    sample = scale_rows(samples.sample, samples.scaling)
    # ids and distances of neighbours and a copy of both, points in three forms, and columns of every configuration
    neighbor_bytes = 2 * (settings.n_searched + 1) * (4 + sample.itemsize)
    row_bytes = neighbor_bytes + 32 * sample.shape[1] + 64 * len(settings.sizes)
    largest = max(1, task_bytes // row_bytes)
    size = float(largest if isinstance(cell_size, str) else cell_size)
    if isinstance(cell_size, str):
        n_cells = max(1, min(CELLS_PER_THREAD * threads, samples.n_samples // SMALL_CELL))
        size = min(size, samples.n_samples / n_cells)
    centres = compute_centres(sample, samples.n_samples, size)

    def assign_cells(part: OrderedPart, first_id: int, scaling: Scaling | None, centres: Array) -> pd.DataFrame:
        points = scale_rows(part.values, scaling)
        frame = pd.DataFrame(points, columns=[f"f{j}" for j in range(points.shape[1])], copy=False)
        ids = np.arange(first_id, first_id + len(points))
        return frame.assign(id=ids, row=part.rows, to=nearest_centre(points, centres))

    frames = submit_each(assign_cells, *ordered, samples.scaling, scatter(centres))
    columns = {f"f{j}": sample.dtype for j in range(sample.shape[1])} | {"id": np.int64, "row": np.int64}
    cells = persist(submit_each(build_cell, shuffle(frames, columns, len(centres))))
    sizes = dask.compute(*(cell.n_samples for cell in cells))
    if max(sizes) > 4 * largest:
        raise MemoryError(
            f"{max(sizes):,} samples are so close to each other that cells cannot separate them: a task would need "
            f"{max(sizes) * row_bytes / 1e9:.1f} GB, {task_bytes / 1e9:.1f} GB are allowed. Use workers with "
            "more memory or fewer threads, or drop repeated samples."
        )
    filled = np.flatnonzero(sizes).tolist()
    return [cells[i] for i in filled], centres[filled]


def compute_centres(sample: Array, n_samples: int, cell_size: float) -> Array:
    """Return centres of cells that hold about ``cell_size`` of all samples at most, judged by some of them.

    k-means divides cells that are too large, at first the one cell of all samples.
    """
    sample = sample[np.random.default_rng(0).permutation(len(sample))].astype(np.float64)
    centres: Array = sample.mean(axis=0, keepdims=True)
    for _ in range(8):
        nearest = pairwise_distances_argmin(sample, centres)
        counts = np.bincount(nearest, minlength=len(centres)) * n_samples / len(sample)
        divided = [centres[counts <= 1.2 * cell_size]]
        for cell in np.flatnonzero(counts > 1.2 * cell_size):
            inside = sample[nearest == cell]
            n = min(int(np.ceil(counts[cell] / cell_size)), len(np.unique(inside, axis=0)))
            with np.errstate(all="ignore"):
                model = KMeans(n, n_init=1, max_iter=20, random_state=0).fit(inside[: ROWS_PER_CENTRE * n])
            divided.append(np.unique(model.cluster_centers_, axis=0))
        if sum(map(len, divided)) == len(centres):  # none is too large, or the large ones hold equal samples
            break
        centres = np.concatenate(divided)
    return centres


def nearest_centre(points: Array, centres: Array) -> NDArray[np.int64]:
    """Return the nearest centre of every point.

    A matrix product may round differently for another number of rows; here equal points have equal centres.
    """
    n_parts = 1 + points.shape[0] * len(centres) // PAIRS_AT_ONCE
    nearest = [cdist(some, centres, "sqeuclidean").argmin(axis=1) for some in np.array_split(points, n_parts)]
    return np.concatenate(nearest)


def shuffle(frames: list[Delayed], columns: dict[str, Any], n_out: int) -> list[Delayed]:
    """Send every row to the partition that its column ``to`` names, and drop this column."""
    empty = {name: np.empty(0, kind) for name, kind in (columns | {"to": np.int64}).items()}
    frame = dd.from_delayed(frames, meta=pd.DataFrame(empty), verify_meta=False)
    # On a cluster, Dask chooses the method. Without one, it would use temporary files and leave them behind.
    method = "tasks" if current_client() is None else None
    return persist(frame.set_index("to", divisions=list(range(n_out + 1)), shuffle_method=method).to_delayed())


def scale_rows(X: Array, scaling: Scaling | None) -> Array:
    """Return scaled samples, with one feature of zeros if no feature varies."""
    points = apply_scaling(X, scaling)
    return points if points.shape[1] else np.zeros((len(X), 1), X.dtype)


def build_cell(frame: pd.DataFrame) -> Cell:
    """Return the samples that a shuffle has sent to one cell."""
    frame = frame.sort_values("id")
    points = np.ascontiguousarray(frame.drop(columns=["id", "row"]).to_numpy())
    return Cell(frame["id"].to_numpy(), frame["row"].to_numpy(), points, *group_duplicates(points))
