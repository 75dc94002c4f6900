"""What a fit leaves behind: columns for all samples in the order of their rows, and a way to label new ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._jit import comparing
from gitcluster._support.arrays import Array, inverse_order, starts_of
from gitcluster.distributed.halo_search import Graph
from gitcluster.distributed.partition import Cell, nearest_centre, shuffle
from gitcluster.distributed.stages import Climbed, Ground, Roots, Views, exchange, with_halo
from gitcluster.distributed.tasks import call, column, fetch, share, store
from gitcluster.fitted.clustering import Reference
from gitcluster.fitted.outliers import far_out, highest_in, log_ratios, mark_noise
from gitcluster.fitted.prediction import describe_samples
from gitcluster.inputs import Points
from gitcluster.inputs.scaling import Scaling, apply_scaling
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
    reach: NDArray[np.float64]
    scores: NDArray[np.float64]
    """(n,) outlier scores."""


def measure_reach(cell: Cell, graph: Graph, k: int) -> tuple[Array, Array]:
    """Mean distance to the neighbours, and the rows."""
    reach = np.empty(len(cell.ids))
    comparing.mean_reach(0, len(reach), graph.distances, k, reach)
    return reach, cell.rows


def describe_cell(
    cell: Cell, graph: Graph, climbed: Climbed, roots: Roots, view: int, k: int, numbers: tuple[Array, Array],
    own: tuple[Array, Array], routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, Array]],
) -> CellResults:  # fmt: skip
    """Everything about the samples of a cell but their labels."""
    reach, rows = with_halo(own, len(graph.halo), routes, answers)
    n_own = len(cell.ids)
    scores = np.empty(n_own)
    comparing.outlier_scores(0, n_own, graph.indices, graph.distances, k, own[0], reach, scores)
    ids, number = numbers
    local = number[np.searchsorted(ids, roots.ids[:, view])]
    log_intensity, units = (values[:n_own, view].copy() for values in (climbed.log_intensity, climbed.units))
    return CellResults(local, log_intensity, units, rows[climbed.parents[:, view]], own[0], scores)


def describe_all(ground: Ground, views: Views, view: int, k: int) -> list[Delayed]:
    """Of every cell what is known of its samples in one view."""
    cells, graphs, routes = ground
    numbers = share((views.peaks[view].ids, inverse_order(views.orders[view])))
    own = store([call(measure_reach, cell, graph, k) for cell, graph in zip(cells, graphs, strict=True)])
    answers = exchange(routes, own)
    return store(
        [
            call(describe_cell, cells[c], graphs[c], views.climbed[c], views.roots[c], view, k, numbers, own[c],
                 routes.tasks[c], answers[c])
            for c in range(len(cells))
        ]
    )  # fmt: skip


# noise


def count_digits(described: CellResults, prefix: int, shift: int, ratio: bool) -> tuple[NDArray[np.int64], int]:
    """How many values that begin with ``prefix`` have each of the next digits; and how many there are at all."""
    values = _values(described, ratio)
    bits = values.view(np.uint64)
    if shift < 64 - DIGITS:
        bits = bits[(bits >> np.uint64(shift + DIGITS)) == prefix]
    digits = (bits >> np.uint64(shift)) & np.uint64((1 << DIGITS) - 1)
    return np.bincount(digits.astype(np.int64), minlength=1 << DIGITS), len(values)


def _values(described: CellResults, ratio: bool) -> NDArray[np.float64]:
    values = log_ratios(described.scores) if ratio else described.scores
    return np.abs(values[np.isfinite(values)] + 0.0)


def order_statistic(described: Sequence[Delayed], rank: int, *, ratio: bool) -> float:
    """The value that stands ``rank``-th among those of all cells, ascending from 0."""
    prefix = 0
    for shift in range(64 - DIGITS, -1, -DIGITS):
        counts = sum(part[0] for part in fetch([call(count_digits, d, prefix, shift, ratio) for d in described]))
        below = starts_of(counts)
        digit = int(np.searchsorted(below, rank, side="right")) - 1
        rank -= int(below[digit])
        prefix = (prefix << DIGITS) | digit
    return float(np.array([prefix], np.uint64).view(np.float64)[0])


def noise_threshold(described: Sequence[Delayed], noise: float | str, n_samples: int) -> float:
    """The outlier score above which samples are noise, as on one machine."""
    if not isinstance(noise, str):
        return order_statistic(described, n_samples - 1 - int(np.floor(noise * n_samples)), ratio=False)
    n_finite = sum(part[1] for part in fetch([call(count_digits, d, 0, 64 - DIGITS, True) for d in described]))
    if not n_finite:
        return 0.0
    quartiles = []
    for q in (0.25, 0.75):
        place, left = divmod(q * (n_finite - 1), 1)
        ends = [order_statistic(described, min(int(place) + i, n_finite - 1), ratio=True) for i in (0, 1)]
        quartiles.append(float(np.quantile(ends, left)))
    return far_out(*quartiles)


def highest_of(described: CellResults, clusters: Array, n_clusters: int) -> NDArray[np.float64]:
    """Highest log intensity of every cluster in a cell."""
    return highest_in(clusters[described.local], described.log_intensity, n_clusters)


class Cut(NamedTuple):
    """How labels follow from local clusters."""

    clusters: NDArray[np.int64]
    noise_above: float
    highest: NDArray[np.float64]
    """Log intensity of the highest sample of every cluster, which is never noise."""


def label_samples(described: CellResults, cut: Cut) -> NDArray[np.int64]:
    """Final cluster of every sample, -1 for noise."""
    return mark_noise(
        cut.clusters[described.local], described.log_intensity, described.scores,
        above=cut.noise_above, highest=cut.highest,
    )  # fmt: skip


def count_labels(described: CellResults, cut: Cut) -> NDArray[np.int64]:
    """Samples of every cluster in a cell, noise first."""
    return np.bincount(label_samples(described, cut) + 1, minlength=len(cut.highest) + 1)


# columns in the order of the rows


def send_back(cell: Cell, described: CellResults, cut: Cut, starts: Array) -> pd.DataFrame:
    """The samples of a cell with the part of the collection that they came from."""
    labels = label_samples(described, cut)
    columns = (labels, described.local, described.log_intensity, described.parents, described.scores.astype(np.float32))
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    frame["row"] = cell.rows
    frame["to"] = np.searchsorted(starts, cell.rows, side="right") - 1
    return frame


def restore(ground: Ground, described: Sequence[Delayed], cut: Cut, sizes: Array) -> dict[str, da.Array]:
    """Columns for all samples as they were given, in chunks like those of the collection."""
    starts, shared = starts_of(sizes), share(cut)
    frames = [call(send_back, cell, some, shared, starts) for cell, some in zip(ground.cells, described, strict=True)]
    template = pd.DataFrame({name: np.empty(0, kind) for name, kind in COLUMNS.items()})
    template["row"], template["to"] = np.arange(0), np.arange(0)
    parts = store([call(_in_order, frame) for frame in shuffle(frames, template, len(sizes))])
    return {
        name: column([call(_column, part, name) for part in parts], sizes.tolist(), kind)
        for name, kind in COLUMNS.items()
    }


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("row")


def _column(frame: pd.DataFrame, name: str) -> Array:
    return np.asarray(frame[name].to_numpy(), COLUMNS[name])


# prediction


def lend_reference(cell: Cell, described: CellResults, cut: Cut) -> tuple[Array, ...]:
    """What the cells around need of samples, to compare new ones with them."""
    labels = label_samples(described, cut)
    return (cell.points, described.local, described.log_intensity, described.units, described.reach,
            described.scores, labels)  # fmt: skip


def build_reference(
    graph: Graph, own: tuple[Array, ...], cut: Cut, recipe: Recipe, n_neighbors: int,
    routes: Sequence[tuple[Array, Array]], answers: Sequence[tuple[Array, ...]],
) -> Reference:  # fmt: skip
    """A cell and its halo as the fitted samples of a small model."""
    points, local, log_intensity, units, widths, scores, labels = with_halo(own, len(graph.halo), routes, answers)
    names, first, local = np.unique(local, return_index=True, return_inverse=True)
    return Reference(
        recipe=recipe,
        n_neighbors=n_neighbors,
        source=Points(points),
        units=units[first],
        log_intensity=log_intensity,
        parents=np.zeros(len(points), np.int64),
        local_labels=local,
        clusters=cut.clusters[names],
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=cut.noise_above,
    )


def build_references(
    ground: Ground, described: Sequence[Delayed], cut: Cut, recipe: Recipe, n_neighbors: int
) -> list[Delayed]:
    """What predicts new samples, one per cell."""
    shared = share(cut)
    own = [call(lend_reference, cell, some, shared) for cell, some in zip(ground.cells, described, strict=True)]
    answers = exchange(ground.routes, own)
    return store(
        [
            call(build_reference, ground.graphs[c], own[c], shared, recipe, n_neighbors, ground.routes.tasks[c],
                 answers[c])
            for c in range(len(ground.cells))
        ]
    )  # fmt: skip


def split_new(part: Array, scaling: Scaling | None, centres: Array) -> list[tuple[Array, Array]]:
    """New samples by cells: their places in the part, and the scaled samples."""
    if part.size and not np.isfinite(part).all():
        raise ValueError("Input X contains NaN or infinity. Fill or drop such rows first.")
    points = apply_scaling(part, scaling)
    if not points.shape[1]:
        points = np.zeros((len(part), 1), part.dtype)
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


def predict_part(part: Delayed, scaling: Any, centres: Any, references: Sequence[Delayed]) -> Delayed:
    """The task that labels one part of a collection."""
    pieces = call(split_new, part, scaling, centres)
    return call(gather_new, [call(label_new, pieces, c, reference) for c, reference in enumerate(references)])
