"""DaskGIT: the cluster computes stages 1 to 4, the client merges as on one machine.

Below the estimator are the last steps: outlier scores and labels of all samples, their columns in input order, and the
labels of new samples.
"""

from typing import Any, NamedTuple, Self

import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gitcluster._support.arrays import Array, starts_of
from gitcluster._support.progress import Progress
from gitcluster._support.validation import check_integer
from gitcluster.distributed import partition, search, stages
from gitcluster.distributed.partition import Cell, FitSettings, scale_rows, shuffle
from gitcluster.distributed.search import Graph, HaloData, PartitionedGraph
from gitcluster.distributed.stages import CellStages, Climb, Numbering, Roots
from gitcluster.distributed.tasks import (
    as_dask_array,
    find_resources,
    gather,
    persist,
    scatter,
    submit,
    submit_each,
)
from gitcluster.edge_cutting import resolve_proportions
from gitcluster.fitted import outliers
from gitcluster.fitted.attributes import ClusteringAttributes
from gitcluster.fitted.clustering import Clustering, TrainingSamples
from gitcluster.fitted.prediction import predict_samples
from gitcluster.kernels import cellwise
from gitcluster.pipeline import sizes_to_try
from gitcluster.preprocessing.representations import representation_name
from gitcluster.preprocessing.scaling import Scaling, scale_checked
from gitcluster.preprocessing.sources import Points
from gitcluster.variants import Variant, find_variant

COLUMNS = {"label": np.int64, "local": np.int64, "log_intensity": np.float64, "parent": np.int64, "outlier": np.float32}
DIGIT_BITS = 16
"""Bits of a float that one round of a distributed selection counts."""


class DaskGIT(ClusteringAttributes, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """GIT on Dask, for data that do not fit on one machine.

    The labels are those of :class:`~gitcluster.GIT` with ``search="exact"``, for any chunks and any order of the
    samples. The space is divided into cells whose samples are on one worker each. The fit uses the current
    ``distributed.Client``, or Dask's threads if there is no client.

    Parameters
    ----------
    n_clusters, proportions, n_neighbors, scale, noise
        As in :class:`~gitcluster.GIT`; ``scale="components"`` is not supported.
    variant : {"adaptive", "paper"}, default="adaptive"
        As in :class:`~gitcluster.GIT`.
    metric : {"euclidean"}, default="euclidean"
    cell_size : int or "auto", default="auto"
        Largest number of samples in a cell. "auto" depends on the memory of the workers.
    verbose : bool or callable, default=False
        Whether to write every stage and its seconds to the standard error stream. A function is called with the name
        of every stage when it begins.

    Attributes
    ----------
    clustering_ : Clustering
        All results in one object; most of the attributes below are parts of it.
    labels_, local_labels_, log_intensity_, parents_, outlier_scores_ : dask.array.Array of shape (n_samples,)
        As in :class:`~gitcluster.GIT`, in the order and the chunks of the samples.
    n_clusters_, proportions_, peaks_, topo_graph_, edge_cut_, n_neighbors_, n_connected_components_ : as in GIT
    hierarchy_, selection_, n_clusters_scores_ : as in GIT, not for every variant
    n_cells_ : int
        Number of cells with samples.
    halo_ : float
        Total size of the halos (neighbours in other cells), as a share of all samples.
    task_bytes_ : int
        Bytes that one task may use.
    seconds_ : dict
        Seconds of every stage.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> model = DaskGIT(n_clusters=2).fit(da.from_array(X, chunks=(100, 2)))
    >>> model.proportions_.round(2)
    array([0.5, 0.5])
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        proportions: ArrayLike | str | None = None,
        n_neighbors: int | str = "auto",
        variant: str = "adaptive",
        metric: str = "euclidean",
        scale: ArrayLike | str | None = "auto",
        noise: float | str | None = None,
        cell_size: int | str = "auto",
        verbose: Any = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.metric = metric
        self.scale = scale
        self.noise = noise
        self.cell_size = cell_size
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster ``X``.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path of Parquet files, or array of shape (n_samples, n_features)
            Chunks may have any size, known or not, and may be empty.
        y : None
            Ignored.

        Returns
        -------
        self : DaskGIT
        """
        with self._unchanged_if_it_fails():
            self._check_parameters()
            resources = find_resources()  # raises an error without workers, before anything waits for them
            resources.check(stored=0, part=0)
            progress = Progress(self)

            progress.begin("read the data")
            samples = partition.open_samples(X)
            n_samples, variant = samples.n_samples, find_variant(self.variant)
            number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=n_samples)
            sizes = sizes_to_try(variant, self.n_neighbors, n_samples)
            variant.check(n_clusters=number, constrained=False, fractions=False)
            n_searched = max(variant.reach(sizes[-1], n_samples - 1))
            fixed, representation = not isinstance(self.n_neighbors, str), representation_name(self.scale)
            if representation == "auto":
                representation = "std"
            settings = FitSettings(variant, n_samples, n_searched, sizes, fixed, number, prior, representation)
            # Stored during the search: samples, samples in boxes, and candidates for neighbours; docs/distributed.md.
            item, n_features = samples.sample.itemsize, samples.sample.shape[1]
            row_bytes = (2 * item + 4) * n_features + 48 + (4 + item) * (n_searched + 1) + 8
            resources.check(stored=n_samples * row_bytes, part=samples.sizes.max() * n_features * item)
            samples, subsample = partition.learn_scaling(samples, self.scale), None
            progress.begin("sort")
            ordered = partition.order_samples(samples, sort=variant.has_hierarchy)
            if variant.has_hierarchy:
                progress.begin("choose the representation")
                subsample = stages.study_subsample(samples, ordered[0], settings, self.scale)
                study = subsample[1]
                decided = study.fit.representation
                samples = samples._replace(scaling=decided.scaling)
                scale_checked(np.stack([samples.low, samples.high]), samples.scaling)
                sizes = [study.stages.n_neighbors] if study.is_final else sizes
                settings = settings._replace(representation=decided.name, sizes=sizes)
            progress.begin("cells")
            cells, centres = partition.make_cells(samples, ordered, settings, resources, self.cell_size)
            del ordered  # the cells hold the samples
            progress.begin("search")
            graphs, lenders = search.search_exactly(cells, centres, settings, resources.task_bytes)

            progress.begin("exchange")
            # Called here, this finds every graph still in memory.
            components = persist(submit_each(stages.find_cell_components, cells, graphs, settings))
            graph = search.link_cells(cells, graphs, lenders)

            progress.begin("local clusters and topo-graph")
            configurations = stages.compute_cell_stages(graph, settings, components)
            del components

            progress.begin("merge")
            configurations, chosen, cut, hierarchy, selection = stages.choose_configuration(
                graph, configurations, subsample
            )

            progress.begin("labels")
            results = collect_results(graph, configurations, chosen)
            threshold = find_threshold(results, self.noise)
            labels = label_samples(results, cut.labels, threshold, len(cut.sizes))
            n_clusters = len(cut.sizes)
            counted = submit_each(lambda some: np.bincount(some + 1, minlength=n_clusters + 1)[1:], labels)
            arrays = columns_in_input_order(cells, results, labels, samples.sizes)
            self.clustering_ = Clustering(
                variant=variant,
                n_neighbors=configurations.settings.sizes[chosen],
                labels=arrays["label"],
                local_labels=arrays["local"],
                parents=arrays["parent"],
                log_intensity=arrays["log_intensity"],
                outlier_scores=arrays["outlier"],
                proportions=np.sum(gather(counted), axis=0) / n_samples,
                topo_graph=configurations.configurations[chosen].topo_graph,
                edge_cut=cut,
                hierarchy=hierarchy,
                links=None,
                selection=None if selection is None else selection.table,
                n_clusters_scores=None if selection is None else selection.n_clusters_scores,
                representation=settings.representation,
                representations=None if selection is None else selection.representations,
                recall=1.0,
                n_connected_components=configurations.n_components[chosen],
                feature_names=None if samples.names is None else tuple(samples.names),
                n_requested=number,
                prior=prior,
            )
            self._graph, self._results, self._labels, self._threshold = graph, results, labels, threshold
            self._centres, self._scaling, self._dtype = centres, samples.scaling, samples.sample.dtype
            self._references: list[Any] = []  # built by the first prediction
            self.n_features_in_ = samples.sample.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if samples.names is not None:
                self.feature_names_in_ = np.array(samples.names, dtype=object)
            self.n_cells_, self.task_bytes_ = len(cells), resources.task_bytes
            self.halo_ = graph.n_halo / n_samples
            progress.end()
            self.seconds_ = progress.seconds
            self._warn_of_missing_clusters(self.n_clusters_, number, stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        if self.metric != "euclidean":
            raise ValueError(f"metric must be 'euclidean', got {self.metric!r}. GIT supports other metrics.")
        if find_variant(self.variant).name not in ("adaptive", "paper"):
            raise ValueError(f"variant must be 'adaptive' or 'paper', got {self.variant!r}. GIT supports it.")
        if isinstance(self.scale, str) and self.scale == "components":
            raise ValueError("scale must not be 'components'. Use 'auto', which tries components, or GIT.")
        if not (isinstance(self.cell_size, str) and self.cell_size == "auto"):
            check_integer("cell_size", self.cell_size, low=1)
        outliers.check_noise(self.noise)

    def fit_predict(self, X: Any, y: Any = None) -> da.Array:
        """Cluster ``X`` and return the labels as a Dask array."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> da.Array:
        """Return the clusters of new samples, computed lazily.

        A new sample is compared with the fitted samples of its cell and their neighbours in other cells. A fitted
        sample has its label of the fit.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path of Parquet files, or array of shape (n_samples, n_features)

        Returns
        -------
        labels : dask.array.Array of shape (n_samples,)
            In the chunks of ``X``, whose sizes may be unknown.
        """
        check_is_fitted(self)
        parts, _, names, n_features = partition.open_parts(X, self._dtype)
        if names is not None and hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise ValueError(f"X must have the columns of the fit, {list(self.feature_names_in_)}, got {names}.")
        if n_features != self.n_features_in_:
            raise ValueError(f"X has {n_features} features, but DaskGIT was fitted with {self.n_features_in_}.")
        if not self._references:
            graph, fitted = self._graph, self.clustering_
            lent = submit_each(
                lambda cell, labels, results: (cell.points, labels, *results), graph.cells, self._labels, self._results
            )
            settings = (scatter(fitted.edge_cut.labels), self._threshold, fitted.variant, fitted.n_neighbors)
            self._references = persist(submit_each(build_training, graph.exchange(lent), *settings))
        centres, cells, labels = scatter(self._centres), list(range(len(self._references))), []
        for part in parts:
            pieces = submit(split_new, part, self._scaling, centres)
            labels.append(submit(join_new, *submit_each(label_new, pieces, cells, self._references)))
        sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(parts)
        return as_dask_array(labels, sizes, np.int64)

    def cut(self, n_clusters: int | None = None, *, proportions: ArrayLike | str | None = None) -> da.Array:
        """Return the labels for another number or other proportions, as :meth:`gitcluster.GIT.cut` does."""
        check_is_fitted(self)
        clusters = self._cut_local_clusters(n_clusters, proportions)
        if clusters is None:
            return self.labels_
        local: da.Array = self.local_labels_
        return da.where(self.labels_ < 0, -1, local.map_blocks(clusters.__getitem__, dtype=np.int64))


# labels of fitted samples


class CellResults(NamedTuple):
    """Columns of the samples of a cell."""

    local: NDArray[np.int64]  # (n,) local cluster
    log_intensity: NDArray[np.float64]
    units: NDArray[np.float64]
    parents: NDArray[np.int64]  # (n,) rows of the next samples uphill
    widths: NDArray[np.float64]  # (n,) mean distance to the neighbours
    scores: NDArray[np.float64]  # (n,) outlier score


def collect_results(graph: PartitionedGraph, configurations: CellStages, chosen: int) -> list[Delayed]:
    """Return the columns of the chosen configuration for every cell, except the labels."""
    k, climbs = configurations.settings.reaches[chosen].intensity, configurations.climbs

    def collect(graph: Graph, climbed: Climb, roots: Roots, around: HaloData, numbering: Numbering) -> CellResults:
        widths, rows = around.join()
        own_widths, scores = outliers.score_outliers(graph.near, k, widths, n_jobs=1)
        local, n_own = numbering.find(roots.ids[:, chosen]), len(roots.ids)
        log_intensity, units = (values[:n_own, chosen].copy() for values in (climbed.log_intensity, climbed.units))
        return CellResults(local, log_intensity, units, rows[climbed.parents[:, chosen]], own_widths, scores)

    lent = persist(submit_each(lambda cell, some: (some.widths[:, chosen].copy(), cell.rows), graph.cells, climbs))
    numbering = scatter(configurations.numberings[chosen])
    return persist(submit_each(collect, graph.graphs, climbs, configurations.roots, graph.exchange(lent), numbering))


def label_samples(results: list[Delayed], clusters: Array, threshold: float, n_clusters: int) -> list[Delayed]:
    """Return the labels of the samples of every cell: -1 for outlier scores above ``threshold``.

    ``clusters`` are the clusters of the local clusters. The highest sample of a cluster is never noise.
    """

    def label(some: CellResults, highest: Array) -> Array:
        own = clusters[some.local]
        return outliers.mark_noise(own, some.log_intensity, some.scores, above=threshold, highest=highest)

    in_cells = submit_each(
        lambda some: outliers.highest_in(clusters[some.local], some.log_intensity, n_clusters), results
    )
    return persist(submit_each(label, results, np.max(gather(in_cells), axis=0)))


def find_threshold(results: list[Delayed], noise: float | str | None) -> float:
    """Return the outlier score above which samples are noise, as ``noise_threshold`` does on one machine."""
    if noise is None:
        return 1.0
    by_ratio = isinstance(noise, str)
    # Without the sign of zeros, the bits of the values have the order of the values.
    values = persist(
        submit_each(lambda some: np.abs(outliers.log_ratios(some.scores) if by_ratio else some.scores), results)
    )
    n_values = sum(gather(submit_each(len, values)))
    if not isinstance(noise, str):
        return order_statistic(values, n_values - 1 - outliers.count_noise(noise, n_values))
    if not n_values:
        return 0.0
    quartiles = []
    for q in (0.25, 0.75):
        rank, fraction = divmod(q * (n_values - 1), 1)
        ends = [order_statistic(values, min(int(rank) + i, n_values - 1)) for i in (0, 1)]
        quartiles.append(float(np.quantile(ends, fraction)))
    return outliers.far_out(*quartiles)


def order_statistic(values: list[Delayed], rank: int) -> float:
    """Return the value with a rank, from 0, among those of all cells: a radix selection on the bits of the floats."""

    def count_digits(values: NDArray[np.float64], prefix: int, shift: int) -> NDArray[np.int64]:
        """Return how many values whose bits begin with ``prefix`` have each of the possible next digits."""
        bits = values.view(np.uint64)
        if shift < 64 - DIGIT_BITS:
            bits = bits[(bits >> np.uint64(shift + DIGIT_BITS)) == prefix]
        digits = (bits >> np.uint64(shift)) & np.uint64((1 << DIGIT_BITS) - 1)
        return np.bincount(digits.astype(np.int64), minlength=1 << DIGIT_BITS)

    prefix = 0
    for shift in range(64 - DIGIT_BITS, -1, -DIGIT_BITS):
        below = starts_of(sum(gather(submit_each(count_digits, values, prefix, shift))))
        digit = int(np.searchsorted(below, rank, side="right")) - 1
        rank -= int(below[digit])
        prefix = (prefix << DIGIT_BITS) | digit
    return float(np.array([prefix], np.uint64).view(np.float64)[0])


def columns_in_input_order(
    cells: list[Any], results: list[Delayed], labels: list[Delayed], sizes: Array
) -> dict[str, da.Array]:
    """Return the columns of all samples in input order, in chunks of the given sizes."""
    starts = starts_of(sizes)

    def send_back(cell: Cell, some: CellResults, labels: Array) -> pd.DataFrame:
        """Return the samples of a cell with the part of the collection that each came from."""
        columns = (labels, some.local, some.log_intensity, some.parents, some.scores.astype(np.float32))
        frame = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
        return frame.assign(row=cell.rows, to=np.searchsorted(starts, cell.rows, side="right") - 1)

    parts = shuffle(submit_each(send_back, cells, results, labels), COLUMNS | {"row": np.int64}, len(sizes))
    parts = persist(submit_each(lambda frame: frame.sort_values("row"), parts))

    def take_column(frame: pd.DataFrame, name: str) -> Array:
        return np.asarray(frame[name].to_numpy(), COLUMNS[name])

    return {
        name: as_dask_array(submit_each(take_column, parts, name), sizes.tolist(), kind)
        for name, kind in COLUMNS.items()
    }


# labels of new samples


def build_training(
    around: HaloData, clusters: Array, threshold: float, variant: Variant, n_neighbors: int
) -> TrainingSamples:
    """Return a cell and its halo as the fitted samples of a small model."""
    points, labels, local, log_intensity, units, _, widths, scores = around.join()
    names, first, local = np.unique(local, return_index=True, return_inverse=True)
    return TrainingSamples(
        variant=variant,
        n_neighbors=n_neighbors,
        source=Points(points),
        units=units[first],
        log_intensity=log_intensity,
        parents=np.zeros(len(points), np.int64),
        local_labels=local,
        clusters=clusters[names],
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=threshold,
    )


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


def join_new(*labelled: tuple[Array, Array]) -> NDArray[np.int64]:
    """Return the labels of all new samples of a part."""
    rows, labels = (np.concatenate(columns) for columns in zip(*labelled, strict=True))
    return np.asarray(labels[np.argsort(rows)], np.int64)
