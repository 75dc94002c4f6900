"""Stage 0 on many machines: samples from any Dask collection, part by part, and the scale of their features.

The data are read three times: for their extremes, for their sums, and to move them to their cells.
"""

import os
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.tasks import call_each, fetch, merge_tree
from gitcluster.inputs.ordering import all_features, rank_features, sum_columns
from gitcluster.inputs.scaling import (
    Scaling,
    apply_scaling,
    fit_scaling,
    scale_checked,
    scaling_from_moments,
    sum_moments,
    varying_features,
)
from gitcluster.neighbors.duplicates import canonical_order, hash_places, hash_samples

SAMPLED = 65_536
"""Rows that are looked at to place the cells."""


class Source(NamedTuple):
    """Samples in parts."""

    parts: list[Delayed]
    """Each an array of samples by features."""
    sizes: NDArray[np.int64]
    """Samples in every part."""
    low: Array
    high: Array
    sample: Array
    """Some rows, in no order."""
    names: list[str] | None
    """Names of the features."""
    features: NDArray[np.int64] = np.empty(0, np.int64)
    """All features in an order that does not depend on how they were given, see ``inputs.ordering``."""
    scaling: Scaling | None = None
    checksum: int = 0
    """Of all samples and their order."""

    @property
    def starts(self) -> list[int]:
        """Row number of the first sample of every part."""
        return starts_of(self.sizes)[:-1].tolist()  # type: ignore[no-any-return]

    @property
    def n_samples(self) -> int:
        """Of all parts."""
        return int(self.sizes.sum())


def open_parts(X: Any) -> tuple[list[Delayed], Any, list[str] | None, int]:
    """Parts of a Dask array or data frame, of Parquet files or of an array; type, names and number of features."""
    import dask.array as da

    if isinstance(X, (str, os.PathLike)):
        import dask.dataframe as dd

        X = dd.read_parquet(os.fspath(X))
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        wrong = [str(name) for name, kind in X.dtypes.items() if getattr(kind, "kind", "O") not in "fiub"]
        if wrong:
            raise ValueError(
                f"DaskGIT takes real numbers, got other types in the columns {', '.join(wrong)}. "
                f"Drop them: X.drop(columns={wrong})."
            )
        names = [str(name) for name in X.columns]
        return list(X.to_delayed()), _precision(*X.dtypes), names, len(names)
    if not isinstance(X, da.Array):
        X = np.asarray(X)
        X = da.from_array(X, chunks=(max(1, -(-len(X) // 8)), *X.shape[1:])) if X.ndim else X
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim} dimension(s): samples by features.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"DaskGIT takes real numbers, got an array of {X.dtype}.")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel()), _precision(X.dtype), None, int(X.shape[1])


def _precision(*kinds: Any) -> Any:
    """The type of floats that scikit-learn, and so GIT, makes of such columns."""
    plain = all(isinstance(kind, np.dtype) for kind in kinds)
    return np.float32 if kinds and plain and np.result_type(*kinds) == np.float32 else np.float64


def as_array(part: Any, dtype: Any) -> Array:
    """A part as a C-contiguous array of floats."""
    values = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "to_numpy") else part
    return np.ascontiguousarray(values, dtype=dtype)


def survey_part(part: Array, number: int, n_parts: int) -> tuple[tuple[int, ...], Array, Array, Array]:
    """Check one part: its shape, the extremes of its features, and some rows."""
    if part.size and not np.isfinite(part).all():
        what = "NaN" if np.isnan(part).any() else "infinity"
        raise ValueError(f"Input X contains {what}, in part {number} of the collection. Fill or drop such rows first.")
    few = min(len(part), -(-SAMPLED // n_parts))
    rows = np.random.default_rng(number).choice(len(part), few, replace=False)
    return part.shape, part.min(axis=0, initial=np.inf), part.max(axis=0, initial=-np.inf), part[rows]


def open_source(X: Any) -> Source:
    """Look at all parts."""
    given, dtype, names, _ = open_parts(X)
    parts = call_each(as_array, given, dtype)
    surveys = call_each(survey_part, parts, list(range(len(parts))), len(parts))
    shapes, low, high, sample = zip(*fetch(surveys), strict=True)
    sizes = np.array([shape[0] for shape in shapes], np.int64)
    if sizes.sum() < 2:
        raise ValueError(f"Found {sizes.sum()} sample(s) while a minimum of 2 is required.")
    widths = {shape[1] for shape in shapes}
    if len(widths) > 1 or 0 in widths:
        raise ValueError(f"Every part must have the same number of features, at least one; got {sorted(widths)}.")
    return Source(parts, sizes, np.min(low, axis=0), np.max(high, axis=0), np.concatenate(sample), names)


def learn_scaling(source: Source, scale: ArrayLike | str | None) -> Source:
    """The source with the scale of its features, the same to the last bit as on one machine, and its checksum.

    ``scale="auto"`` begins with standard deviations.
    """
    if isinstance(scale, str) and scale == "components":
        raise ValueError("DaskGIT does not take scale='components'. Use 'auto', which tries them, or 'std'.")
    features = varying_features(source.low, source.high)
    found = fetch(call_each(sum_part, source.parts, source.starts, features, source.low, source.high))
    sums, checksum = np.sum([some for some, _ in found], axis=0), sum(mark for _, mark in found) % 2**64
    base = scaling_from_moments(features, source.low, source.high, sums, source.n_samples)

    def hash_columns(ranks: NDArray[np.int64]) -> NDArray[np.uint64]:
        return np.asarray(np.sum(fetch(call_each(sum_columns, source.parts, base, ranks)), axis=0, dtype=np.uint64))

    ordered = base.take(rank_features([base.mean, base.deviation], hash_columns))
    every = all_features(ordered, len(source.low))
    known = isinstance(scale, str) and scale in ("auto", "std")
    scaling = ordered if known else fit_scaling(source.sample[:1], scale).put_in_order(every)
    scale_checked(np.stack([source.low, source.high]), scaling)
    return source._replace(features=every, scaling=scaling, checksum=checksum)


class Picked(NamedTuple):
    """Some of the samples, which do not depend on parts and order."""

    hashes: NDArray[np.uint64]
    values: Array
    rows: NDArray[np.int64]
    """Their row numbers."""


def pick_rows(part: Array, start: int, low: Array, high: Array, features: Array, most: int) -> list[Picked]:
    """The rows of a part with the smallest hashes."""
    varying = features[np.isin(features, varying_features(low, high))]
    hashes = hash_places(part, low, high, varying) if len(part) else np.empty(0, np.uint64)
    return [keep_smallest(Picked(hashes, part, np.arange(start, start + len(part))), features, most)]


def keep_smallest(picked: Picked, features: Array, most: int) -> Picked:
    """Rows with the smallest hashes, in lexicographic order of their ``features``."""
    order = canonical_order(picked.values, features) if len(picked.values) else picked.rows
    hashes, values, rows = picked.hashes[order], picked.values[order], picked.rows[order]
    kept = np.sort(np.lexsort((np.arange(len(rows)), hashes))[:most])
    return Picked(hashes[kept], values[kept], rows[kept])


def merge_picked(parts: Any, features: Array, most: int) -> Picked:
    """The smallest of several parts."""
    hashes, values, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return keep_smallest(Picked(hashes, values, rows), features, most)


def pick_samples(source: Source, most: int) -> Picked:
    """The samples that one machine would study, see ``Points.some_rows``."""
    picked = call_each(pick_rows, source.parts, source.starts, source.low, source.high, source.features, most)
    merge = partial(merge_picked, features=source.features, most=most)
    found: Picked = fetch([merge_tree(merge, picked)])[0][0]
    return found


def scale_rows(X: Array, scaling: Scaling | None) -> Array:
    """Scaled samples, with one feature of zeros where no feature varies."""
    points = apply_scaling(X, scaling)
    return points if points.shape[1] else np.zeros((len(X), 1), X.dtype)


def sum_part(part: Array, start: int, features: Array, low: Array, high: Array) -> tuple[NDArray[np.int64], int]:
    """Moments of the features, and the hashes of all samples, each times the number of its row; both add up."""
    rows = np.arange(start, start + len(part), dtype=np.uint64)
    marks = hash_samples(part) * (2 * rows + 1) if len(part) else rows
    columns = np.ascontiguousarray(part[:, features].T)
    return sum_moments(columns, low[features], high[features]), int(marks.sum())
