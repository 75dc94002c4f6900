"""DaskGIT: the cluster computes stages 1 to 4, the client merges as on one machine."""

import os
from typing import Any, Self

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gitcluster._support.progress import Progress
from gitcluster._support.validation import check_integer
from gitcluster.distributed import checkpoint as checkpoints
from gitcluster.distributed import results
from gitcluster.distributed.partition import (
    FitSettings,
    Partition,
    SampleParts,
    count_bytes,
    learn_scaling,
    make_cells,
    open_parts,
    open_samples,
)
from gitcluster.distributed.search import Search, link_cells, search_exactly
from gitcluster.distributed.stages import choose_view, compute_stages, start_components, study_representations
from gitcluster.distributed.tasks import Resources, as_dask_array, find_resources, scatter
from gitcluster.edge_cutting import resolve_proportions
from gitcluster.fitted.attributes import ClusteringAttributes
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.outliers import check_noise
from gitcluster.pipeline import sizes_to_try
from gitcluster.preprocessing.representations import representation_name
from gitcluster.preprocessing.scaling import scale_checked
from gitcluster.variants import find_variant


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
    checkpoint : path, default=None
        Folder for the graph of neighbours, local or remote (``"s3://..."``). A fit of the same data and parameters
        continues from a graph in this folder.
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
        Cells that hold samples.
    halo_ : float
        Neighbours in other cells of all cells, as a share of all samples.
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
        checkpoint: str | os.PathLike[str] | None = None,
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
        self.checkpoint = checkpoint
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
            samples = open_samples(X)
            n_samples, variant = samples.n_samples, find_variant(self.variant)
            number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=n_samples)
            sizes = sizes_to_try(variant, self.n_neighbors, n_samples)
            variant.check(n_clusters=number, constrained=False, fractions=False)
            n_searched = max(variant.reach(sizes[-1], n_samples - 1))
            fixed, representation = not isinstance(self.n_neighbors, str), representation_name(self.scale)
            if representation == "auto":
                representation = "std"
            settings = FitSettings(variant, n_samples, n_searched, sizes, fixed, number, prior, representation)
            resources.check(**count_bytes(samples, settings))
            samples, study = learn_scaling(samples, self.scale), None
            if variant.has_hierarchy:
                progress.begin("choose the representation")
                study = study_representations(samples, settings, self.scale)
                samples = samples._replace(scaling=study.chosen.scaling)
                scale_checked(np.stack([samples.low, samples.high]), samples.scaling)
                sizes = sizes if study.selection is None else [study.n_neighbors]
                settings = settings._replace(representation=study.chosen.name, sizes=sizes)
            partition, search = self._search(samples, settings, resources, progress)

            progress.begin("exchange")
            components = start_components(partition.cells, search.graphs, settings)
            graph = link_cells(partition.cells, search)

            progress.begin("local clusters and topo-graph")
            stages = compute_stages(graph, settings, components)
            del components

            progress.begin("merge")
            stages, view, cut, hierarchy, selection = choose_view(graph, stages, study)

            progress.begin("labels")
            columns = results.collect_results(graph, stages, view)
            labelling, counts = results.label_all(columns, cut.labels, len(cut.sizes), self.noise)
            arrays = results.to_input_order(graph, columns, labelling, samples.sizes)
            self.clustering_ = Clustering(
                variant=variant,
                n_neighbors=stages.settings.sizes[view],
                labels=arrays["label"],
                local_labels=arrays["local"],
                parents=arrays["parent"],
                log_intensity=arrays["log_intensity"],
                outlier_scores=arrays["outlier"],
                proportions=counts / n_samples,
                topo_graph=stages.views[view].topo_graph,
                edge_cut=cut,
                hierarchy=hierarchy,
                links=None,
                selection=None if selection is None else selection.table,
                n_clusters_scores=None if selection is None else selection.n_clusters_scores,
                representation=settings.representation,
                representations=None if selection is None else selection.representations,
                recall=1.0,
                n_connected_components=stages.n_components[view],
                feature_names=None if samples.names is None else tuple(samples.names),
                n_requested=number,
                prior=prior,
            )
            self._graph, self._columns, self._labelling = graph, columns, labelling
            self._centres, self._scaling, self._dtype = partition.centres, samples.scaling, samples.sample.dtype
            self._references: list[Any] = []  # built by the first prediction
            self.n_features_in_ = samples.sample.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if samples.names is not None:
                self.feature_names_in_ = np.array(samples.names, dtype=object)
            self.n_cells_, self.task_bytes_ = len(partition.cells), resources.task_bytes
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
        check_noise(self.noise)
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(f"checkpoint must be the path of a folder or None, got {self.checkpoint!r}.")

    def _search(
        self, samples: SampleParts, settings: FitSettings, resources: Resources, progress: Progress
    ) -> tuple[Partition, Search]:
        """Return the cells and their graphs, from the checkpoint if it holds them."""
        folder = None if self.checkpoint is None else os.fspath(self.checkpoint)
        description = checkpoints.describe_graph(samples, settings)
        if folder is not None:
            checkpoints.prepare_folder(folder)
            stored = checkpoints.load_graph(folder, description, settings.n_samples)
            if stored is not None:
                return stored
        progress.begin("cells")
        partition = make_cells(samples, settings, resources, self.cell_size)
        progress.begin("search")
        search = search_exactly(partition, settings, task_bytes=resources.task_bytes)
        if folder is not None:
            progress.begin("checkpoint")
            checkpoints.save_graph(folder, description, partition, search)
        return partition, search

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
        parts, _, names, n_features = open_parts(X, self._dtype)
        if names is not None and hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise ValueError(f"X must have the columns of the fit, {list(self.feature_names_in_)}, got {names}.")
        if n_features != self.n_features_in_:
            raise ValueError(f"X has {n_features} features, but DaskGIT was fitted with {self.n_features_in_}.")
        if not self._references:
            self._references = results.build_references(
                self._graph, self._columns, self._labelling, self.clustering_.variant, self.n_neighbors_
            )
        centres = scatter(self._centres)
        labels = [results.predict_part(part, self._scaling, centres, self._references) for part in parts]
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
