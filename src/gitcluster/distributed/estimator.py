"""DaskGIT: validate, let the cluster do stages 1 to 4, merge here as on one machine."""

import os
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple, Self

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from gitcluster._support.arrays import Array
from gitcluster._support.progress import Progress
from gitcluster._support.validation import check_choice, check_integer, check_n_neighbors
from gitcluster.distributed import checkpoint as on_disk
from gitcluster.distributed import results
from gitcluster.distributed.halo_search import CellSizeError, Search, search_exactly, search_nearly
from gitcluster.distributed.partition import make_cells, place_centres
from gitcluster.distributed.source import Source, as_array, learn_scaling, open_parts, open_source
from gitcluster.distributed.stages import (
    Ground,
    Plan,
    Views,
    build_views,
    count_all_leaks,
    count_all_shared,
    find_routes,
)
from gitcluster.distributed.tasks import Resources, call, column, fetch, find_resources, share
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut
from gitcluster.fitted.attributes import ClusteringAttributes
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.outliers import check_noise
from gitcluster.hierarchy import Hierarchy, build_hierarchy
from gitcluster.inputs.scaling import apply_scaling
from gitcluster.prior.proportions import equal_shares, resolve_proportions
from gitcluster.recipes import find_recipe
from gitcluster.selection import Overlap, View, highest_peaks, leak_among, neighborhood_sizes, select

SMALL_CELL = 20_000
"""Fewer samples than this are not worth a cell of their own."""
CELLS_A_THREAD = 4
METRICS = ("euclidean",)


class DaskGIT(ClusteringAttributes, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """GIT for data that do not fit on one machine, on Dask.

    The labels are those of :class:`~gitcluster.GIT` with ``neighbors="exact"``, however the data are cut into chunks
    and in whatever order they come. The space is cut into cells, each with its samples on one worker; what a cell needs
    of others is sent to it. Works with the current ``distributed.Client``, or with Dask's threads where there is none.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
    proportions : array-like of shape (n_clusters,) or "equal", default=None
    n_neighbors : int or "auto", default="auto"
    variant : {"adaptive", "paper"}, default="adaptive"
    metric : {"euclidean"}, default="euclidean"
    scale : {"std"}, None or array-like of shape (n_features,), default="std"
        These are as in :class:`~gitcluster.GIT`.
    neighbors : {"exact", "approximate"}, default="exact"
        "approximate" searches every sample in the nearest cells alone, until ``recall`` is reached: faster with ten or
        more features.
    recall : float, default=0.99
        Share of the true neighbours that an approximate search has to find, estimated on some samples.
    noise : float or "auto", default=None
        As in :class:`~gitcluster.GIT`.
    cell_size : int or "auto", default="auto"
        Samples that a cell may hold. "auto" follows from the memory of the workers.
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
        Bytes that no task needs more of, as far as it can be told beforehand.
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
        scale: ArrayLike | str | None = "std",
        neighbors: str = "exact",
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
        self.neighbors = neighbors
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
            progress = Progress(self)
            progress.begin("look at the data")
            source = open_source(X)
            number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=source.n_samples)
            plan, k = self._plan(source.n_samples)
            plan.recipe.check(n_clusters=number, constrained=False, fractions=False)
            scaling, checksum = learn_scaling(source, self.scale)
            cells, centres, search = self._search(source, scaling, checksum, k, resources, progress)
            progress.begin("exchange")
            ground = Ground(cells, search.graphs, find_routes(cells, search.graphs, search.around))
            progress.begin("local clusters and topo-graph")
            views = build_views(ground, plan)
            progress.begin("merge")
            merged = self._merge(ground, views, number, prior, k)
            progress.begin("labels")
            self._keep(source, ground, merged, search, n_wanted=number, prior=prior)
            self.n_cells_, self.task_bytes_ = len(cells), resources.task_bytes
            self.n_rounds_ = {"search": search.rounds, "uphill": merged.views.rounds}
            self.halo_ = ground.routes.n_halo / source.n_samples
            self.bytes_moved_ = _count_bytes(source, search, ground, merged.views, len(centres[0]))
            self._scaling, self._centres, self._dtype = scaling, centres, source.sample.dtype
            progress.end()
            self.seconds_ = progress.seconds
            self._warn_of_missing_clusters(self.n_clusters_, number, stacklevel=2)
        return self

    def _keep(
        self, source: Source, ground: Ground, merged: "Merged", search: Search, *, n_wanted: int | None, prior: Any
    ) -> None:
        """What was found, and what predictions are made from."""
        plan, i, cut = merged.views.plan, merged.chosen, merged.cut
        described = results.describe_all(ground, merged.views, i, plan.reaches[i].intensity)
        labelling, counts = self._label(described, cut.labels, len(cut.sizes), source.n_samples)
        columns = results.restore(ground, described, labelling, source.sizes)
        self.clustering_ = Clustering(
            recipe=plan.recipe,
            n_neighbors=plan.sizes[i],
            labels=columns["label"],
            local_labels=columns["local"],
            parents=columns["parent"],
            log_intensity=columns["log_intensity"],
            outlier_scores=columns["outlier"],
            proportions=counts[1:] / source.n_samples,
            topo_graph=merged.views.graphs[i],
            edge_cut=cut,
            hierarchy=merged.hierarchy,
            ties=None,
            selection=merged.selection,
            n_clusters_scores=merged.n_clusters_scores,
            recall=search.recall,
            n_connected_components=merged.views.n_components[i],
            n_wanted=n_wanted,
            prior=prior,
            feature_names=None if source.names is None else tuple(source.names),
        )
        self.n_features_in_ = source.sample.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        self._ground, self._described, self._labelling = ground, described, labelling
        self._references: list[Any] = []  # built when something is predicted

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

    def cut(self, *, n_clusters: int | None = None, proportions: ArrayLike | str | None = None) -> da.Array:
        """Labels for another number or other proportions, from the fitted topo-graph, as :meth:`gitcluster.GIT.cut`."""
        check_is_fitted(self)
        clusters = self._cut_local_clusters(n_clusters, proportions)
        if clusters is None:
            return self.labels_
        return da.where(self.labels_ < 0, -1, self.local_labels_.map_blocks(_look_up, clusters, dtype=np.int64))

    def _check_parameters(self) -> None:
        if self.metric not in METRICS:
            raise ValueError(f"DaskGIT takes metric='euclidean' only, got {self.metric!r}. Use GIT on one machine.")
        if find_recipe(self.variant).strict:
            raise ValueError(f"DaskGIT has no variant {self.variant!r}. Use GIT(variant={self.variant!r}).")
        check_choice("neighbors", self.neighbors, ("exact", "approximate"))
        if isinstance(self.recall, bool) or not isinstance(self.recall, Real) or not 0 < self.recall <= 1:
            raise ValueError(f"recall must be above 0 and at most 1, got {self.recall!r}.")
        if not (isinstance(self.cell_size, str) and self.cell_size == "auto"):
            check_integer("cell_size", self.cell_size, low=1)
        check_noise(self.noise)
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(f"checkpoint must be the path of a folder or None, got {self.checkpoint!r}.")

    def _plan(self, n_samples: int) -> tuple[Plan, int]:
        """What the stages do, and how many neighbours are searched."""
        recipe = find_recipe(self.variant)
        if not (isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"):
            sizes = [check_n_neighbors(self.n_neighbors, n_samples)]
        elif recipe.n_neighbors is None:
            sizes = neighborhood_sizes(n_samples)
        else:
            sizes = [min(recipe.n_neighbors, n_samples - 1)]
        k = max(recipe.reach(sizes[-1], n_samples - 1))
        return Plan(recipe, sizes, [recipe.reach(size, k) for size in sizes]), k

    def _search(
        self, source: Source, scaling: Any, checksum: int, k: int, resources: Resources, progress: Progress
    ) -> tuple[list[Any], NDArray[Any], Search]:
        about = {
            "data": on_disk.fingerprint(source.n_samples, source.low, source.high, checksum),
            "scale": on_disk.fingerprint(*(scaling or ())), "n_neighbors": k, "neighbors": self.neighbors,
            "variant": self.variant, "target": 1.0 if self.neighbors == "exact" else float(self.recall),
        }  # fmt: skip
        folder = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if folder is not None:
            on_disk.prepare(folder)
            stored = on_disk.load_graph(folder, about, k)
            if stored is not None:
                return stored
        progress.begin("cells")
        width = max(1, len(scaling.features) if scaling is not None else len(source.low))
        n_views = len(self._plan(source.n_samples)[0].sizes)
        row_bytes = 2 * (k + 1) * (4 + source.sample.itemsize) + 32 * width + 64 * n_views
        fitting = max(1, resources.task_bytes // row_bytes)
        size = fitting if isinstance(self.cell_size, str) else int(self.cell_size)
        n_cells = -(-source.n_samples // size)
        if isinstance(self.cell_size, str):
            n_cells = max(n_cells, min(CELLS_A_THREAD * resources.threads, source.n_samples // SMALL_CELL))
        sample = apply_scaling(source.sample, scaling)
        if not sample.shape[1]:
            sample = np.zeros((len(sample), 1), source.sample.dtype)
        centres = place_centres(sample, max(1, n_cells), source.n_samples, size)
        cells, centres = make_cells(source, scaling, centres, sort=find_recipe(self.variant).has_hierarchy)
        largest = max(fetch([call(_n_samples, cell) for cell in cells]))
        if largest > 4 * fitting:
            raise CellSizeError(
                f"{largest:,} samples lie so near to each other that no cells part them: a task would need "
                f"{largest * row_bytes / 1e9:.1f} GB where {resources.task_bytes / 1e9:.1f} GB are allowed. Give the "
                "workers more memory or fewer threads, or drop repeated samples."
            )
        progress.begin("search")
        options: dict[str, Any] = {"k": k, "n_samples": source.n_samples, "task_bytes": resources.task_bytes}
        if self.neighbors == "exact":
            search = search_exactly(cells, centres, **options)
        else:
            search = search_nearly(cells, centres, target=self.recall, **options)
        if folder is not None:
            progress.begin("checkpoint")
            on_disk.save_graph(folder, about, cells, centres, search)
        return cells, centres, search

    def _merge(self, ground: Ground, views: Views, number: int | None, prior: Any, k: int) -> "Merged":
        """Stage 5, here as on one machine."""
        if not views.plan.recipe.has_hierarchy:
            shares = equal_shares(number or 1) if prior is None else prior
            cut = cut_edges(views.graphs[0], proportions=shares, leftover=views.plan.recipe.leftover)
            return Merged(views, 0, cut)
        evidence = CellEvidence(ground, views, k)
        add_finest = evidence.add_finest if isinstance(self.n_neighbors, str) else None
        selection = select(evidence.views, evidence, n_clusters=number, prior=prior, add_finest=add_finest)
        chosen = selection.chosen
        view = evidence.views[chosen.view]
        cut = describe_cut(view.topo_graph, chosen.labels, chosen.merged, prior)
        found = (selection.table, selection.n_clusters_scores)
        return Merged(evidence.found, chosen.view, cut, view.hierarchy, *found)

    def _label(
        self, described: list[Any], clusters: NDArray[Any], n_clusters: int, n_samples: int
    ) -> tuple[results.Cut, NDArray[np.int64]]:
        highest = np.full(n_clusters, -np.inf)
        threshold = 1.0
        if self.noise is not None:
            threshold = results.noise_threshold(described, self.noise, n_samples)
            parts = fetch([call(results.highest_of, some, clusters, n_clusters) for some in described])
            highest = np.max(parts, axis=0)
        cut = results.Cut(clusters, threshold, highest)
        shared = share(cut)
        counts = np.sum(fetch([call(results.count_labels, some, shared) for some in described]), axis=0)
        return cut, counts


def _count_bytes(source: Source, search: Search, ground: Ground, found: Views, width: int) -> dict[str, int]:
    """What the stages have sent, see the functions that lend it."""
    item, n_views, n_halo = source.sample.itemsize, len(found.plan.sizes), ground.routes.n_halo
    return {
        "cells": source.n_samples * (item * len(source.low) + 16 + item * width + 24),
        "search": search.lent,
        "intensity": n_halo * n_views * (4 + 16),
        "uphill": n_halo * n_views * 16 * found.rounds,
        "topo-graph": n_halo * n_views * (24 + item),
        "labels": n_halo * 16 + source.n_samples * 52,
    }


def _n_samples(cell: Any) -> int:
    return len(cell.ids)


def _look_up(local: NDArray[Any], clusters: NDArray[Any]) -> Any:
    return clusters[local]


class Merged(NamedTuple):
    """What stage 5 made of the views."""

    views: Views
    chosen: int
    """The view that was chosen."""
    cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: Any = None
    n_clusters_scores: Any = None


class CellEvidence:
    """Evidence from samples that are in cells on many machines."""

    def __init__(self, ground: Ground, found: Views, k: int) -> None:
        self.ground, self.found, self.k = ground, found, k
        self.n_samples = int(found.graphs[0].sizes.sum())
        self.views: list[View] = [self._view(s) for s in range(len(found.graphs))]
        self.shared = count_all_shared(found)

    def _view(self, s: int) -> View:
        graph, levels = self.found.graphs[s], self.found.peaks[s].levels[self.found.orders[s]]
        return View(self.found.plan.sizes[s], self.n_samples, graph, build_hierarchy(graph), levels)

    def add_finest(self) -> None:
        """One more view, with the most peaks there are."""
        plan, size = self.found.plan, min(2, self.n_samples - 1)
        wider = plan._replace(sizes=[*plan.sizes, size], reaches=[*plan.reaches, plan.recipe.reach(size, self.k)])
        self.found = build_views(self.ground, wider)
        self.shared = count_all_shared(self.found)
        self.views.append(self._view(len(plan.sizes)))

    def overlap(self, i: int, j: int) -> Overlap:
        """The samples that local clusters of two views share."""
        return self.shared[i, j]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[NDArray[np.int64]]:
        """What crosses between the clusters of a view, for views with labels."""
        asked = [(i, labels, highest_peaks(self.views[i], labels)) for i, labels in cuts]
        return count_all_leaks(self.ground, self.found, asked, leak_among(self.n_samples, self.k))
