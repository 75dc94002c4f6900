"""What a fit leaves behind: columns for all samples in the order of their rows, and a way to label new ones."""

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.exchange import Around, Ground, Region
from gitcluster.distributed.partition import Cell, nearest_centre, shuffle
from gitcluster.distributed.source import scale_rows
from gitcluster.distributed.stages import Climbed, Numbering, Roots, Stages
from gitcluster.distributed.tasks import call, call_each, column, fetch, share, store
from gitcluster.fitted.clustering import Reference
from gitcluster.fitted.outliers import (
    count_noise,
    far_out,
    highest_in,
    log_ratios,
    mark_noise,
    score_outliers,
)
from gitcluster.fitted.prediction import describe_samples
from gitcluster.inputs import Points
from gitcluster.inputs.scaling import Scaling
from gitcluster.recipes import Recipe

COLUMNS = {"label": np.int64, "local": np.int64, "log_intensity": np.float64, "parent": np.int64, "outlier": np.float32}
DIGITS = 16
"""Bits of a float that one round of a distributed selection looks at."""


class CellResults(NamedTuple):
    """What is known of the samples of a cell."""

    local: NDArray[np.int64]
    """(n,) local cluster."""
    log_intensity: NDArray[np.float64]
    units: NDArray[np.float64]
    parents: NDArray[np.int64]
    """(n,) rows of the next samples uphill."""
    widths: NDArray[np.float64]
    """(n,) mean distances to the neighbours."""
    scores: NDArray[np.float64]
    """(n,) outlier scores."""


class Chosen(NamedTuple):
    """The view that was chosen."""

    view: int
    k: int
    """Its number of neighbours."""
    numbering: Numbering


class Labelling(NamedTuple):
    """How labels follow from local clusters."""

    clusters: NDArray[np.int64]
    noise_above: float
    highest: NDArray[np.float64]
    """Log intensity of the highest sample of every cluster, which is never noise."""


def describe_all(ground: Ground, stages: Stages, view: int) -> list[Delayed]:
    """For every cell what is known of its samples in one view."""
    chosen = Chosen(view, stages.plan.reaches[view].intensity, stages.views[view].numbering)
    around = ground.exchange(store(call_each(lend_widths, ground.cells, stages.climbed, view)))
    return store(call_each(describe_cell, ground.regions, stages.climbed, stages.roots, around, share(chosen)))


def lend_widths(cell: Cell, climbed: Climbed, view: int) -> tuple[Array, Array]:
    """Mean distance to the neighbours, and the rows."""
    return np.ascontiguousarray(climbed.widths[:, view]), cell.rows


def describe_cell(region: Region, climbed: Climbed, roots: Roots, around: Around, chosen: Chosen) -> CellResults:
    """Everything about the samples of a cell except their labels."""
    widths, rows = around.with_halo()
    own, scores = score_outliers(region.near, chosen.k, widths, n_jobs=1)
    s, n_own = chosen.view, region.cell.n_samples
    local = chosen.numbering.find(roots.ids[:, s])
    log_intensity, units = (values[:n_own, s].copy() for values in (climbed.log_intensity, climbed.units))
    return CellResults(local, log_intensity, units, rows[climbed.parents[:, s]], own, scores)


# labels and noise


def label_all(
    described: list[Delayed], clusters: Array, n_clusters: int, noise: float | str | None
) -> tuple[Labelling, NDArray[np.int64]]:
    """How labels follow from the final cluster of every local cluster, and the number of samples in every cluster."""
    threshold, highest = 1.0, np.full(n_clusters, -np.inf)
    if noise is not None:
        threshold = noise_threshold(described, noise)
        highest = np.max(fetch(call_each(highest_of, described, clusters, n_clusters)), axis=0)
    labelling = Labelling(clusters, threshold, highest)
    return labelling, np.sum(fetch(call_each(count_labels, described, share(labelling))), axis=0)


def highest_of(described: CellResults, clusters: Array, n_clusters: int) -> NDArray[np.float64]:
    """Highest log intensity of every cluster in a cell."""
    return highest_in(clusters[described.local], described.log_intensity, n_clusters)


def label_samples(described: CellResults, by: Labelling) -> NDArray[np.int64]:
    """Final cluster of every sample, -1 for noise."""
    clusters, log_intensity = by.clusters[described.local], described.log_intensity
    return mark_noise(clusters, log_intensity, described.scores, above=by.noise_above, highest=by.highest)


def count_labels(described: CellResults, by: Labelling) -> NDArray[np.int64]:
    """Samples of every cluster in a cell, without noise."""
    return np.bincount(label_samples(described, by) + 1, minlength=len(by.highest) + 1)[1:]


def noise_threshold(described: list[Delayed], noise: float | str) -> float:
    """The outlier score above which samples are noise, as :func:`gitcluster.fitted.outliers.noise_threshold`."""
    values = store(call_each(values_of, described, isinstance(noise, str)))
    n_values = sum(fetch(call_each(len, values)))
    if not isinstance(noise, str):
        return order_statistic(values, n_values - 1 - count_noise(noise, n_values))
    if not n_values:
        return 0.0
    quartiles = []
    for q in (0.25, 0.75):
        place, left = divmod(q * (n_values - 1), 1)
        ends = [order_statistic(values, min(int(place) + i, n_values - 1)) for i in (0, 1)]
        quartiles.append(float(np.quantile(ends, left)))
    return far_out(*quartiles)


def values_of(described: CellResults, by_ratio: bool) -> NDArray[np.float64]:
    """Outlier scores or their log ratios, without the sign of zeros, so that their bits are in their order."""
    return np.abs(log_ratios(described.scores) if by_ratio else described.scores)


def order_statistic(values: list[Delayed], rank: int) -> float:
    """The value that stands ``rank``-th among those of all cells, ascending from 0."""
    prefix = 0
    for shift in range(64 - DIGITS, -1, -DIGITS):
        below = starts_of(sum(fetch(call_each(count_digits, values, prefix, shift))))
        digit = int(np.searchsorted(below, rank, side="right")) - 1
        rank -= int(below[digit])
        prefix = (prefix << DIGITS) | digit
    return float(np.array([prefix], np.uint64).view(np.float64)[0])


def count_digits(values: NDArray[np.float64], prefix: int, shift: int) -> NDArray[np.int64]:
    """How many values whose bits begin with ``prefix`` have each of the next digits."""
    bits = values.view(np.uint64)
    if shift < 64 - DIGITS:
        bits = bits[(bits >> np.uint64(shift + DIGITS)) == prefix]
    digits = (bits >> np.uint64(shift)) & np.uint64((1 << DIGITS) - 1)
    return np.bincount(digits.astype(np.int64), minlength=1 << DIGITS)


# columns in the order of the rows


def send_back(cell: Cell, described: CellResults, by: Labelling, starts: Array) -> pd.DataFrame:
    """The samples of a cell with the part of the collection that they came from."""
    labels = label_samples(described, by)
    columns = (labels, described.local, described.log_intensity, described.parents, described.scores.astype(np.float32))
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    frame["row"] = cell.rows
    frame["to"] = np.searchsorted(starts, cell.rows, side="right") - 1
    return frame


def restore(ground: Ground, described: list[Delayed], by: Labelling, sizes: Array) -> dict[str, da.Array]:
    """Columns for all samples as they were given, in chunks like those of the collection."""
    frames = call_each(send_back, ground.cells, described, share(by), starts_of(sizes))
    template = pd.DataFrame({name: np.empty(0, kind) for name, kind in COLUMNS.items()})
    template["row"], template["to"] = np.arange(0), np.arange(0)
    parts = store(call_each(_in_order, shuffle(frames, template, len(sizes))))
    return {name: column(call_each(_column, parts, name), sizes.tolist(), kind) for name, kind in COLUMNS.items()}


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("row")


def _column(frame: pd.DataFrame, name: str) -> Array:
    return np.asarray(frame[name].to_numpy(), COLUMNS[name])


# prediction


def build_references(
    ground: Ground, described: list[Delayed], by: Labelling, recipe: Recipe, n_neighbors: int
) -> list[Delayed]:
    """What predicts new samples, one per cell."""
    shared = share(by)
    around = ground.exchange(call_each(lend_reference, ground.cells, described, shared))
    return store(call_each(build_reference, around, shared, recipe, n_neighbors))


def lend_reference(cell: Cell, described: CellResults, by: Labelling) -> tuple[Array, ...]:
    """What the cells around need of samples, to compare new ones with them."""
    local, log_intensity, units, _, widths, scores = described
    return cell.points, local, log_intensity, units, widths, scores, label_samples(described, by)


def build_reference(around: Around, by: Labelling, recipe: Recipe, n_neighbors: int) -> Reference:
    """A cell and its halo as the fitted samples of a small model."""
    points, local, log_intensity, units, widths, scores, labels = around.with_halo()
    names, first, local = np.unique(local, return_index=True, return_inverse=True)
    return Reference(
        recipe=recipe,
        n_neighbors=n_neighbors,
        source=Points(points),
        units=units[first],
        log_intensity=log_intensity,
        parents=np.zeros(len(points), np.int64),
        local_labels=local,
        clusters=by.clusters[names],
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=by.noise_above,
    )


def split_new(part: Array, scaling: Scaling | None, centres: Array) -> list[tuple[Array, Array]]:
    """New samples by cells: their places in the part, and the scaled samples."""
    if part.size and not np.isfinite(part).all():
        raise ValueError("Input X contains NaN or infinity. Fill or drop such rows first.")
    points = scale_rows(part, scaling)
    nearest = nearest_centre(points, centres)
    return [(rows, points[rows]) for rows in (np.flatnonzero(nearest == c) for c in range(len(centres)))]


def label_new(pieces: list[tuple[Array, Array]], cell: int, reference: Reference) -> tuple[Array, Array]:
    """Labels of the new samples that lie in a cell."""
    rows, points = pieces[cell]
    if not len(rows):
        return rows, rows
    source: Any = reference.source
    samples = source.place(points.astype(source.values.dtype))
    return rows, describe_samples(reference, samples, n_jobs=1).labels


def gather_new(answers: list[tuple[Array, Array]]) -> NDArray[np.int64]:
    """Labels of all new samples of a part."""
    labels = np.empty(sum(len(rows) for rows, _ in answers), np.int64)
    for rows, values in answers:
        labels[rows] = values
    return labels


def predict_part(part: Delayed, scaling: Any, centres: Any, references: list[Delayed]) -> Delayed:
    """The task that labels one part of a collection."""
    pieces = call(split_new, part, scaling, centres)
    return call(gather_new, call_each(label_new, pieces, list(range(len(references))), references))
