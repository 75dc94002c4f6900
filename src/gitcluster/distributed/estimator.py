"""DaskGIT: validate, let the cluster do stages 1 to 4, merge here as on one machine."""

import os
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gitcluster._support.arrays import Array
from gitcluster._support.progress import Progress
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.distributed import checkpoint as on_disk
from gitcluster.distributed import results
from gitcluster.distributed.evidence import Merged, merge_stages
from gitcluster.distributed.exact_search import search_exactly
from gitcluster.distributed.exchange import Ground, find_routes, join_regions
from gitcluster.distributed.halo_search import Search, search_nearly
from gitcluster.distributed.partition import Partition, count_stored, make_cells
from gitcluster.distributed.plan import Plan, make_plan
from gitcluster.distributed.source import Source, as_array, learn_scaling, open_parts, open_source
from gitcluster.distributed.stages import Stages, build_stages, start_parts
from gitcluster.distributed.study import Asked, study_source
from gitcluster.distributed.tasks import Resources, call, column, find_resources, share
from gitcluster.fitted.attributes import ClusteringAttributes
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.outliers import check_noise
from gitcluster.inputs.representations import name_of
from gitcluster.inputs.scaling import scale_checked
from gitcluster.prior.proportions import resolve_proportions
from gitcluster.recipes import find_recipe


class DaskGIT(ClusteringAttributes, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """GIT for data that do not fit on one machine, on Dask.

    The labels are those of :class:`~gitcluster.GIT` with ``search="exact"``, however the data are cut into chunks
    and in whatever order they come. The space is cut into cells, each with its samples on one worker; what a cell needs
    of others is sent to it. Works with the current ``distributed.Client``, or with Dask's threads where there is none.

    Parameters
    ----------
    n_clusters, proportions, n_neighbors, scale, noise
        As in :class:`~gitcluster.GIT`.
    variant : {"adaptive", "paper"}, default="adaptive"
        As in :class:`~gitcluster.GIT`, which has one more.
    metric : {"euclidean"}, default="euclidean"
    search : {"exact", "approximate"}, default="exact"
        "approximate" searches every sample only in the nearest cells, until ``recall`` is reached: faster with ten or
        more features.
    recall : float, default=0.99
        Share of the true neighbours that an approximate search has to find, estimated on some samples.
    cell_size : int or "auto", default="auto"
        Number of samples that a cell may hold. "auto" follows from the memory of the workers.
    checkpoint : path, default=None
        Folder for the graph of neighbours, local or remote (``"s3://..."``). A fit of the same data and parameters that
        finds it goes on from there.
    verbose : bool or callable, default=False
        Whether to write every stage and its seconds to the standard error stream; a function is called with the name
        of every stage when it begins.

    Attributes
    ----------
    clustering_ : Clustering
        Everything that the fit found, in one object; most of the attributes below are parts of it.
    labels_, local_labels_, log_intensity_, parents_, outlier_scores_ : dask.array.Array of shape (n_samples,)
        As in :class:`~gitcluster.GIT`, in the order and the chunks of the samples; ``labels_.compute()`` brings
        them here.
    n_clusters_, proportions_, peaks_, topo_graph_, edge_cut_, n_neighbors_, n_connected_components_ : as in GIT
    hierarchy_, selection_, n_clusters_scores_ : as in GIT, where it has them
    neighbors_recall_ : float
        1 for an exact search.
    n_cells_ : int
        Cells that hold samples.
    n_rounds_ : dict
        Rounds of the search and of the ways uphill.
    halo_ : float
        Samples that cells hold of others, as a share of all samples.
    bytes_moved_ : dict
        Bytes that every stage sends between cells, at most: cells on one worker share them.
    task_bytes_ : int
        Bytes that a task needs at most, as far as can be told beforehand.
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
        search: str = "exact",
        recall: float = 0.99,
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
        self.search = search
        self.recall = recall
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
        with self._unchanged_where_it_fails():
            self._check_parameters()
            resources = find_resources()  # says that there are no workers before anything waits for them
            resources.check(stored=0, part=0)
            progress = Progress(self)

            progress.begin("look at the data")
            source = open_source(X)
            number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=source.n_samples)
            plan = make_plan(self.variant, self.n_neighbors, source.n_samples)
            plan.recipe.check(n_clusters=number, constrained=False, fractions=False)
            resources.check(**count_stored(source, plan))
            source = learn_scaling(source, self.scale)
            asked = Asked(number, prior, None if isinstance(self.n_neighbors, str) else plan.sizes)
            study = None
            if plan.recipe.has_hierarchy:
                progress.begin("study some samples")
                study = study_source(source, plan, asked, self.scale, exact=self.search == "exact")
                source = source._replace(scaling=study.way.scaling)
                scale_checked(np.stack([source.low, source.high]), source.scaling)
                plan = plan if study.selection is None else plan._replace(sizes=[study.n_neighbors])
            partition, search = self._search(source, plan, resources, progress)

            progress.begin("exchange")
            regions = join_regions(partition.cells, search)
            parts = start_parts(regions, plan)
            ground = find_routes(regions, search.around)

            progress.begin("local clusters and topo-graph")
            stages = build_stages(ground, plan, parts)
            del parts

            progress.begin("merge")
            merged = merge_stages(ground, stages, asked, study)

            progress.begin("labels")
            found = self._label(source, search, ground, merged)
            way = name_of("std" if isinstance(self.scale, str) else self.scale) if study is None else study.way.name
            self.clustering_ = replace(found, n_wanted=number, prior=prior, representation=way)
            self._centres, self._scaling, self._dtype = partition.centres, source.scaling, source.sample.dtype
            self.n_cells_, self.task_bytes_ = len(partition.cells), resources.task_bytes
            self.n_rounds_ = {"search": search.rounds, "uphill": merged.stages.rounds}
            self.halo_ = ground.n_halo / source.n_samples
            self.bytes_moved_ = _count_bytes(source, partition, search, ground, merged.stages)
            progress.end()
            self.seconds_ = progress.seconds
            self._warn_of_missing_clusters(self.n_clusters_, number, stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        if self.metric != "euclidean":
            raise ValueError(f"DaskGIT takes metric='euclidean' only, got {self.metric!r}. Use GIT on one machine.")
        if find_recipe(self.variant).name not in ("adaptive", "paper"):
            raise ValueError(f"DaskGIT has no variant {self.variant!r}. Use GIT(variant={self.variant!r}).")
        check_choice("search", self.search, ("exact", "approximate"))
        if isinstance(self.recall, bool) or not isinstance(self.recall, Real) or not 0 < self.recall <= 1:
            raise ValueError(f"recall must be above 0 and at most 1, got {self.recall!r}.")
        if not (isinstance(self.cell_size, str) and self.cell_size == "auto"):
            check_integer("cell_size", self.cell_size, low=1)
        check_noise(self.noise)
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(f"checkpoint must be the path of a folder or None, got {self.checkpoint!r}.")

    def _search(self, source: Source, plan: Plan, resources: Resources, progress: Progress) -> tuple[Partition, Search]:
        """Stage 1, unless the checkpoint has it."""
        target = None if self.search == "exact" else self.recall
        about = on_disk.describe_graph(source, plan, target)
        folder = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if folder is not None:
            on_disk.prepare(folder)
            stored = on_disk.load_graph(folder, about, source.n_samples)
            if stored is not None:
                return stored
        progress.begin("cells")
        cells = make_cells(source, plan, resources, self.cell_size)
        progress.begin("search")
        if target is None:
            search = search_exactly(cells, plan, task_bytes=resources.task_bytes)
        else:
            search = search_nearly(cells, plan, target=target)
        if folder is not None:
            progress.begin("checkpoint")
            on_disk.save_graph(folder, about, cells, search)
        return cells, search

    def _label(self, source: Source, search: Search, ground: Ground, merged: Merged) -> Clustering:
        """Labels and all else that was found, for the samples as they were given."""
        (plan, *_), i, cut, hierarchy, selection = merged
        described = results.describe_all(ground, merged.stages, i)
        labelling, counts = results.label_all(described, cut.labels, len(cut.sizes), self.noise)
        columns = results.restore(ground, described, labelling, source.sizes)
        self._ground, self._described, self._labelling = ground, described, labelling
        self._references: list[Any] = []  # built when something is predicted
        self.n_features_in_ = source.sample.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        return Clustering(
            recipe=plan.recipe,
            n_neighbors=plan.sizes[i],
            labels=columns["label"],
            local_labels=columns["local"],
            parents=columns["parent"],
            log_intensity=columns["log_intensity"],
            outlier_scores=columns["outlier"],
            proportions=counts / source.n_samples,
            topo_graph=merged.stages.views[i].topo_graph,
            edge_cut=cut,
            hierarchy=hierarchy,
            ties=None,
            selection=None if selection is None else selection.table,
            n_clusters_scores=None if selection is None else selection.n_clusters_scores,
            representations=None if selection is None else selection.representations,
            recall=search.recall,
            n_connected_components=merged.stages.n_components[i],
            feature_names=None if source.names is None else tuple(source.names),
        )

    def fit_predict(self, X: Any, y: Any = None) -> da.Array:
        """Cluster ``X`` and return the labels, as a Dask array."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> da.Array:
        """Cluster of new samples, computed when it is asked for.

        A new sample is compared with the fitted ones of its cell and with those around it that are neighbours of
        them. A sample that was fitted has the label that the fit gave it.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame, path of Parquet files, or array of shape (n_samples, n_features)

        Returns
        -------
        labels : dask.array.Array of shape (n_samples,)
            In the chunks of ``X``, whose sizes may be unknown.
        """
        check_is_fitted(self)
        parts, _, names, width = open_parts(X)
        if names is not None and hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise ValueError(f"The columns must be those of the fit, {list(self.feature_names_in_)}, got {names}.")
        if width != self.n_features_in_:
            raise ValueError(f"X has {width} features, but DaskGIT was fitted with {self.n_features_in_}.")
        if not self._references:
            found = self.clustering_
            self._references = results.build_references(
                self._ground, self._described, self._labelling, found.recipe, found.n_neighbors
            )
        centres = share(self._centres)
        values = [call(as_array, part, self._dtype) for part in parts]
        labels = [results.predict_part(some, self._scaling, centres, self._references) for some in values]
        sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(parts)
        return column(labels, sizes, np.int64)

    def cut(self, n_clusters: int | None = None, *, proportions: ArrayLike | str | None = None) -> da.Array:
        """Labels for another number or other proportions, from the fitted topo-graph, as :meth:`gitcluster.GIT.cut`."""
        check_is_fitted(self)
        clusters = self._cut_local_clusters(n_clusters, proportions)
        if clusters is None:
            return self.labels_
        local: da.Array = self.local_labels_
        return da.where(self.labels_ < 0, -1, local.map_blocks(_look_up, clusters, dtype=np.int64))


def _count_bytes(source: Source, partition: Partition, search: Search, ground: Ground, found: Stages) -> dict[str, int]:
    """What the stages have sent, see the functions that lend it."""
    item, n_views, n_halo = source.sample.itemsize, len(found.plan.sizes), ground.n_halo
    width = partition.centres.shape[1]
    return {
        "cells": source.n_samples * (item * len(source.low) + 16 + item * width + 24),
        "search": search.lent,
        "intensity": n_halo * n_views * (found.plan.id_type.itemsize + 16),
        "uphill": n_halo * n_views * 16 * found.rounds,
        "topo-graph": n_halo * n_views * (24 + item),
        "labels": n_halo * 16 + source.n_samples * 52,
    }


def _look_up(local: Array, clusters: Array) -> Any:
    return clusters[local]
