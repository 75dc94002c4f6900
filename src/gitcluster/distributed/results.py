"""Labels and other columns of all samples in input order, and labels of new samples."""

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from gitcluster._support.arrays import Array, starts_of
from gitcluster.distributed.partition import Cell, scale_rows, shuffle
from gitcluster.distributed.search import Graph, HaloData, PartitionedGraph
from gitcluster.distributed.stages import CellStages, Climb, Numbering, Roots
from gitcluster.distributed.tasks import as_dask_array, gather, persist, scatter, submit, submit_each
from gitcluster.fitted.clustering import TrainingSamples
from gitcluster.fitted.outliers import count_noise, far_out, highest_in, log_ratios, mark_noise, score_outliers
from gitcluster.fitted.prediction import predict_samples
from gitcluster.kernels import cellwise
from gitcluster.preprocessing.scaling import Scaling
from gitcluster.preprocessing.sources import Points
from gitcluster.variants import Variant

COLUMNS = {"label": np.int64, "local": np.int64, "log_intensity": np.float64, "parent": np.int64, "outlier": np.float32}
DIGIT_BITS = 16
"""Bits of a float that one round of a distributed selection counts."""


class CellResults(NamedTuple):
    """Columns of the samples of a cell."""

    local: NDArray[np.int64]  # (n,) local cluster
    log_intensity: NDArray[np.float64]
    units: NDArray[np.float64]
    parents: NDArray[np.int64]  # (n,) rows of the next samples uphill
    widths: NDArray[np.float64]  # (n,) mean distance to the neighbours
    scores: NDArray[np.float64]  # (n,) outlier score


class Labelling(NamedTuple):
    """How labels follow from local clusters."""

    clusters: NDArray[np.int64]
    noise_above: float
    highest: NDArray[np.float64]  # log intensity of the highest sample of every cluster, which is never noise

    def apply(self, results: CellResults) -> Array:
        """Return the label of every sample, -1 for noise."""
        clusters, level = self.clusters[results.local], results.log_intensity
        return mark_noise(clusters, level, results.scores, above=self.noise_above, highest=self.highest)


def collect_results(graph: PartitionedGraph, stages: CellStages, view: int) -> list[Delayed]:
    """Return the columns of one view for every cell, except the labels."""
    around = graph.exchange(persist(submit_each(lend_widths, graph.cells, stages.climbs, view)))
    k, numbering = stages.settings.reaches[view].intensity, scatter(stages.numberings[view])
    return persist(submit_each(collect_cell, graph.graphs, stages.climbs, stages.roots, around, view, k, numbering))


def lend_widths(cell: Cell, climbed: Climb, view: int) -> tuple[Array, Array]:
    """Return the mean distance to the neighbours, and the rows."""
    return np.ascontiguousarray(climbed.widths[:, view]), cell.rows


def collect_cell(
    graph: Graph, climbed: Climb, roots: Roots, around: HaloData, view: int, k: int, numbering: Numbering
) -> CellResults:
    """Return the columns of the samples of a cell."""
    widths, rows = around.join()
    own_widths, scores = score_outliers(graph.near, k, widths, n_jobs=1)
    local, n_own = numbering.find(roots.ids[:, view]), len(roots.ids)
    log_intensity, units = (values[:n_own, view].copy() for values in (climbed.log_intensity, climbed.units))
    return CellResults(local, log_intensity, units, rows[climbed.parents[:, view]], own_widths, scores)


# labels and noise


def label_all(
    results: list[Delayed], clusters: Array, n_clusters: int, noise: float | str | None
) -> tuple[Labelling, NDArray[np.int64]]:
    """Return how labels follow from the cluster of every local cluster, and the samples in every cluster."""
    threshold, highest = 1.0, np.full(n_clusters, -np.inf)
    if noise is not None:
        threshold = find_threshold(results, noise)
        highest = np.max(gather(submit_each(find_highest, results, clusters, n_clusters)), axis=0)
    labelling = Labelling(clusters, threshold, highest)
    return labelling, np.sum(gather(submit_each(count_labels, results, scatter(labelling))), axis=0)


def find_highest(results: CellResults, clusters: Array, n_clusters: int) -> NDArray[np.float64]:
    """Return the highest log intensity of every cluster in a cell."""
    return highest_in(clusters[results.local], results.log_intensity, n_clusters)


def count_labels(results: CellResults, labelling: Labelling) -> NDArray[np.int64]:
    """Return the samples of every cluster in a cell, without noise."""
    return np.bincount(labelling.apply(results) + 1, minlength=len(labelling.highest) + 1)[1:]


def find_threshold(results: list[Delayed], noise: float | str) -> float:
    """Return the outlier score above which samples are noise, as ``noise_threshold`` does on one machine."""
    values = persist(submit_each(select_values, results, isinstance(noise, str)))
    n_values = sum(gather(submit_each(len, values)))
    if not isinstance(noise, str):
        return order_statistic(values, n_values - 1 - count_noise(noise, n_values))
    if not n_values:
        return 0.0
    quartiles = []
    for q in (0.25, 0.75):
        rank, fraction = divmod(q * (n_values - 1), 1)
        ends = [order_statistic(values, min(int(rank) + i, n_values - 1)) for i in (0, 1)]
        quartiles.append(float(np.quantile(ends, fraction)))
    return far_out(*quartiles)


def select_values(results: CellResults, by_ratio: bool) -> NDArray[np.float64]:
    """Return outlier scores or their log ratios; without the sign of zeros, their bits have the order of the values."""
    return np.abs(log_ratios(results.scores) if by_ratio else results.scores)


def order_statistic(values: list[Delayed], rank: int) -> float:
    """Return the value with a rank, from 0, among those of all cells: a radix selection on the bits of the floats."""
    prefix = 0
    for shift in range(64 - DIGIT_BITS, -1, -DIGIT_BITS):
        below = starts_of(sum(gather(submit_each(count_digits, values, prefix, shift))))
        digit = int(np.searchsorted(below, rank, side="right")) - 1
        rank -= int(below[digit])
        prefix = (prefix << DIGIT_BITS) | digit
    return float(np.array([prefix], np.uint64).view(np.float64)[0])


def count_digits(values: NDArray[np.float64], prefix: int, shift: int) -> NDArray[np.int64]:
    """Return how many values whose bits begin with ``prefix`` have each of the possible next digits."""
    bits = values.view(np.uint64)
    if shift < 64 - DIGIT_BITS:
        bits = bits[(bits >> np.uint64(shift + DIGIT_BITS)) == prefix]
    digits = (bits >> np.uint64(shift)) & np.uint64((1 << DIGIT_BITS) - 1)
    return np.bincount(digits.astype(np.int64), minlength=1 << DIGIT_BITS)


# columns in input order


def to_input_order(
    graph: PartitionedGraph, results: list[Delayed], labelling: Labelling, sizes: Array
) -> dict[str, da.Array]:
    """Return the columns of all samples in input order, in chunks of the given sizes."""
    frames = submit_each(send_back, graph.cells, results, scatter(labelling), starts_of(sizes))
    parts = persist(submit_each(sort_rows, shuffle(frames, COLUMNS, len(sizes))))
    return {
        name: as_dask_array(submit_each(take_column, parts, name), sizes.tolist(), kind)
        for name, kind in COLUMNS.items()
    }


def send_back(cell: Cell, results: CellResults, labelling: Labelling, starts: Array) -> pd.DataFrame:
    """Return the samples of a cell with the part of the collection that each came from."""
    columns = (labelling.apply(results), results.local, results.log_intensity, results.parents, results.scores)
    frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True))).astype({"outlier": np.float32})
    return frame.assign(row=cell.rows, to=np.searchsorted(starts, cell.rows, side="right") - 1)


def sort_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a part in the order of its rows."""
    return frame.sort_values("row")


def take_column(frame: pd.DataFrame, name: str) -> Array:
    """Return one column of a part."""
    return np.asarray(frame[name].to_numpy(), COLUMNS[name])


# prediction


def build_references(
    graph: PartitionedGraph, results: list[Delayed], labelling: Labelling, variant: Variant, n_neighbors: int
) -> list[Delayed]:
    """Return, for every cell, the fitted samples that new ones in the cell are compared with."""
    shared = scatter(labelling)
    around = graph.exchange(submit_each(lend_training, graph.cells, results, shared))
    return persist(submit_each(build_training, around, shared, variant, n_neighbors))


def lend_training(cell: Cell, results: CellResults, labelling: Labelling) -> tuple[Array, ...]:
    """Return what other cells need of samples, to compare new ones with them."""
    local, log_intensity, units, _, widths, scores = results
    return cell.points, local, log_intensity, units, widths, scores, labelling.apply(results)


def build_training(around: HaloData, labelling: Labelling, variant: Variant, n_neighbors: int) -> TrainingSamples:
    """Return a cell and its halo as the fitted samples of a small model."""
    points, local, log_intensity, units, widths, scores, labels = around.join()
    names, first, local = np.unique(local, return_index=True, return_inverse=True)
    return TrainingSamples(
        variant=variant,
        n_neighbors=n_neighbors,
        source=Points(points),
        units=units[first],
        log_intensity=log_intensity,
        parents=np.zeros(len(points), np.int64),
        local_labels=local,
        clusters=labelling.clusters[names],
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=labelling.noise_above,
    )


def predict_part(part: Delayed, scaling: Any, centres: Any, trainings: list[Delayed]) -> Delayed:
    """Return the task that labels one part of a collection."""
    pieces = submit(split_new, part, scaling, centres)
    return submit(join_new, submit_each(label_new, pieces, list(range(len(trainings))), trainings))


def split_new(part: Array, scaling: Scaling | None, centres: Array) -> list[tuple[Array, Array]]:
    """Return the positions in the part and the scaled values of the new samples in every cell."""
    if not np.isfinite(part).all():
        raise ValueError("Input X contains NaN or infinity. Fill or drop these rows.")
    points = scale_rows(part, scaling)
    nearest = cellwise.nearest_centre(points, centres)
    return [(rows, points[rows]) for rows in (np.flatnonzero(nearest == c) for c in range(len(centres)))]


def label_new(pieces: list[tuple[Array, Array]], cell: int, training: TrainingSamples) -> tuple[Array, Array]:
    """Return the positions and labels of the new samples in a cell."""
    rows, points = pieces[cell]
    if not len(rows):
        return rows, rows
    source: Any = training.source
    samples = source.scale_new(points.astype(source.values.dtype))
    return rows, predict_samples(training, samples, n_jobs=1).labels


def join_new(labelled: list[tuple[Array, Array]]) -> NDArray[np.int64]:
    """Return the labels of all new samples of a part."""
    rows, labels = (np.concatenate(columns) for columns in zip(*labelled, strict=True))
    return np.asarray(labels[np.argsort(rows)], np.int64)
