"""DaskGIT: the cluster computes stages 1 to 4, the client merges as on one machine.

Below the estimator are the columns of the fitted samples in input order, and the labels of new samples.
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
from gitcluster.distributed.partition import ADAPTIVE, Cell, FitSettings, scale_rows, shuffle
from gitcluster.distributed.search import HaloData
from gitcluster.distributed.stages import CellStages, Climb, Numbering, Roots
from gitcluster.distributed.tasks import as_dask_array, find_resources, persist, scatter, submit, submit_each
from gitcluster.edge_cutting import resolve_proportions
from gitcluster.fitted.attributes import ClusteringAttributes
from gitcluster.fitted.clustering import Clustering, TrainingSamples
from gitcluster.fitted.prediction import predict_samples
from gitcluster.pipeline import sizes_to_try
from gitcluster.preprocessing.scaling import Scaling, scale_checked
from gitcluster.preprocessing.sources import Points

COLUMNS = {"local": np.int64, "log_intensity": np.float64}


class DaskGIT(ClusteringAttributes, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """GIT on Dask, for data that do not fit on one machine.

    The labels are those of :class:`~gitcluster.GIT` with ``search="exact"``, for any chunks and any order of the
    samples. The space is divided into cells whose samples are on one worker each. The fit uses the current
    ``distributed.Client``, or Dask's threads if there is no client.

    Parameters
    ----------
    n_clusters, proportions, n_neighbors, scale
        As in :class:`~gitcluster.GIT`; ``scale="components"`` is not supported.
    cell_size : int or "auto", default="auto"
        Largest number of samples in a cell. "auto" depends on the memory of the workers.
    verbose : bool or callable, default=False
        Whether to write every stage and its seconds to the standard error stream. A function is called with the name
        of every stage when it begins.

    Attributes
    ----------
    clustering_ : Clustering
        All results in one object; most of the attributes below are parts of it.
    labels_, local_labels_, log_intensity_ : dask.array.Array of shape (n_samples,)
        As in :class:`~gitcluster.GIT`, in the order and the chunks of the samples.
    n_clusters_, proportions_, peaks_, topo_graph_, edge_cut_, hierarchy_, selection_, n_clusters_scores_ : as in GIT
    n_neighbors_, n_connected_components_ : as in GIT
    n_cells_ : int
        Number of cells with samples.
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
        scale: ArrayLike | str | None = "auto",
        cell_size: int | str = "auto",
        verbose: Any = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.proportions = proportions
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.cell_size = cell_size
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster ``X``.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_samples, n_features)
            Chunks may have any size, known or not, and may be empty.
        y : None
            Ignored.

        Returns
        -------
        self : DaskGIT
        """
        with self._unchanged_if_it_fails():
            if isinstance(self.scale, str) and self.scale == "components":
                raise ValueError("scale must not be 'components'. Use 'auto', which tries components, or GIT.")
            if not (isinstance(self.cell_size, str) and self.cell_size == "auto"):
                check_integer("cell_size", self.cell_size, low=1)
            threads, task_bytes = find_resources()
            progress = Progress(self)

            progress.begin("read the data")
            samples = partition.open_samples(X)
            n_samples = samples.n_samples
            number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=n_samples)
            sizes = sizes_to_try(ADAPTIVE, self.n_neighbors, n_samples)
            n_searched = max(ADAPTIVE.reach(sizes[-1], n_samples - 1))
            fixed = not isinstance(self.n_neighbors, str)
            settings = FitSettings(n_samples, n_searched, sizes, fixed, number, prior)
            samples = partition.learn_scaling(samples, self.scale)
            progress.begin("sort")
            ordered = partition.order_samples(samples)
            progress.begin("select the representation")
            subsample = stages.study_subsample(samples, ordered[0], settings, self.scale)
            study = subsample[1]
            decided = study.fit.representation
            samples = samples._replace(scaling=decided.scaling)
            scale_checked(np.stack([samples.low, samples.high]), samples.scaling)
            sizes = [study.stages.n_neighbors] if study.is_final else sizes
            settings = settings._replace(representation=decided.name, sizes=sizes)
            progress.begin("cells")
            cells, centres = partition.make_cells(samples, ordered, settings, threads, task_bytes, self.cell_size)
            del ordered  # the cells hold the samples
            progress.begin("search")
            graphs, lenders = search.search_exactly(cells, centres, settings, task_bytes)

            progress.begin("exchange")
            # Called here, this finds every graph still in memory.
            components = persist(submit_each(stages.find_cell_components, cells, graphs, settings))
            graph = search.link_cells(cells, graphs, lenders)

            progress.begin("local clusters and topo-graph")
            configurations = stages.compute_cell_stages(graph, settings, components)
            del components

            progress.begin("merge")
            configurations, chosen, cut, hierarchy = stages.choose_configuration(graph, configurations, subsample)

            progress.begin("labels")
            results = collect_results(configurations, chosen)
            arrays = columns_in_input_order(cells, results, samples.sizes)
            not_computed: Any = None  # the attribute then does not exist
            self.clustering_ = Clustering(
                variant=ADAPTIVE,
                n_neighbors=configurations.settings.sizes[chosen],
                labels=arrays["local"].map_blocks(cut.labels.__getitem__, dtype=np.int64),
                local_labels=arrays["local"],
                parents=not_computed,
                log_intensity=arrays["log_intensity"],
                outlier_scores=not_computed,
                proportions=cut.sizes / n_samples,
                topo_graph=configurations.configurations[chosen].topo_graph,
                edge_cut=cut,
                hierarchy=hierarchy,
                links=None,
                selection=study.selection.table,
                n_clusters_scores=study.selection.n_clusters_scores,
                representation=settings.representation,
                representations=study.selection.representations,
                recall=1.0,
                n_connected_components=configurations.n_components[chosen],
                feature_names=None if samples.names is None else tuple(samples.names),
                n_requested=number,
                prior=prior,
            )
            self._graph, self._results, self._centres = graph, results, centres
            self._scaling, self._dtype = samples.scaling, samples.sample.dtype
            self._references: list[Any] = []  # built by the first prediction
            self.n_features_in_ = samples.sample.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if samples.names is not None:
                self.feature_names_in_ = np.array(samples.names, dtype=object)
            self.n_cells_ = len(cells)
            progress.end()
            self.seconds_ = progress.seconds
            self._warn_of_missing_clusters(self.n_clusters_, number, stacklevel=2)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> da.Array:
        """Cluster ``X`` and return the labels as a Dask array."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> da.Array:
        """Return the clusters of new samples, computed lazily.

        A new sample is compared with the fitted samples of its cell and their neighbours in other cells. A fitted
        sample has its label of the fit.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or array-like of shape (n_samples, n_features)

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
            lent = submit_each(lambda cell, results: (cell.points, *results), self._graph.cells, self._results)
            clusters, k = scatter(self.edge_cut_.labels), self.n_neighbors_
            self._references = persist(submit_each(build_training, self._graph.exchange(lent), clusters, k))
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
        return local.map_blocks(clusters.__getitem__, dtype=np.int64)


# results of fitted samples


class CellResults(NamedTuple):
    """Columns of the samples of a cell."""

    local: NDArray[np.int64]  # (n,) local cluster
    log_intensity: NDArray[np.float64]
    units: NDArray[np.float64]  # divisors of the distances, for predictions


def collect_results(configurations: CellStages, chosen: int) -> list[Delayed]:
    """Return the columns of the chosen configuration for every cell."""

    def collect(climbed: Climb, roots: Roots, numbering: Numbering) -> CellResults:
        n_own = len(roots.ids)
        columns = (values[:n_own, chosen].copy() for values in (climbed.log_intensity, climbed.units))
        return CellResults(numbering.find(roots.ids[:, chosen]), *columns)

    numbering = scatter(configurations.numberings[chosen])
    return persist(submit_each(collect, configurations.climbs, configurations.roots, numbering))


def columns_in_input_order(cells: list[Any], results: list[Delayed], sizes: Array) -> dict[str, da.Array]:
    """Return the columns of all samples in input order, in chunks of the given sizes."""
    starts = starts_of(sizes)

    def send_back(cell: Cell, some: CellResults) -> pd.DataFrame:
        """Return the samples of a cell with the part of the collection that each came from."""
        part = np.searchsorted(starts, cell.rows, side="right") - 1
        return pd.DataFrame({name: getattr(some, name) for name in COLUMNS} | {"row": cell.rows, "to": part})

    parts = shuffle(submit_each(send_back, cells, results), COLUMNS | {"row": np.int64}, len(sizes))
    parts = persist(submit_each(lambda frame: frame.sort_values("row"), parts))

    def take_column(frame: pd.DataFrame, name: str) -> Array:
        return np.asarray(frame[name].to_numpy(), COLUMNS[name])

    return {
        name: as_dask_array(submit_each(take_column, parts, name), sizes.tolist(), kind)
        for name, kind in COLUMNS.items()
    }


# labels of new samples


def build_training(around: HaloData, clusters: Array, n_neighbors: int) -> TrainingSamples:
    """Return a cell and its halo as the fitted samples of a small model; only its labels are used."""
    points, local, log_intensity, units = around.join()
    names, first, local = np.unique(local, return_index=True, return_inverse=True)
    return TrainingSamples(
        variant=ADAPTIVE,
        n_neighbors=n_neighbors,
        source=Points(points),
        units=units[first],
        log_intensity=log_intensity,
        parents=np.zeros(len(points), np.int64),
        local_labels=local,
        clusters=clusters[names],
        labels=clusters[names][local],
        widths=np.zeros(len(points), np.float32),
        outlier_scores=np.zeros(len(points), np.float32),
        noise_above=1.0,
    )


def split_new(part: Array, scaling: Scaling | None, centres: Array) -> list[tuple[Array, Array]]:
    """Return the positions in the part and the scaled values of the new samples in every cell."""
    if not np.isfinite(part).all():
        raise ValueError("Input X contains NaN or infinity. Fill or drop these rows.")
    points = scale_rows(part, scaling)
    nearest = partition.nearest_centre(points, centres)
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
