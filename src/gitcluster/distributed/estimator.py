"""DaskGIT: validate, let the cluster do stages 1 to 4, merge here as on one machine."""

import os
import sys
import warnings
from numbers import Real
from time import perf_counter
from typing import Any, Self

import dask.array as da
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gitcluster._validation import check_choice, check_integer, check_n_neighbors
from gitcluster.distributed import checkpoint as on_disk
from gitcluster.distributed import results
from gitcluster.distributed.halo_search import CellSizeError, Search, search_exactly, search_nearly
from gitcluster.distributed.partition import make_cells, place_centres
from gitcluster.distributed.source import Source, as_array, learn_scaling, open_parts, open_source
from gitcluster.distributed.stages import (
    Ground,
    Reach,
    Scales,
    build_scales,
    count_all_leaks,
    count_all_shared,
    find_routes,
)
from gitcluster.distributed.tasks import Resources, call, column, fetch, find_resources, share
from gitcluster.edge_cutting import cut_edges
from gitcluster.hierarchy import build_hierarchy
from gitcluster.local_clusters import LocalClusters
from gitcluster.pipeline import PAPER_NEIGHBORS, cut_again, describe_cut
from gitcluster.proportions import equal_shares, resolve_proportions
from gitcluster.scaling import apply_scaling
from gitcluster.selection import Scale, climb_among, highest_peaks, leak_among, leak_of, neighborhood_sizes, select

SMALL_CELL = 20_000
"""Fewer samples than this are not worth a cell of their own."""
CELLS_A_THREAD = 4


class DaskGIT(ClusterMixin, BaseEstimator):  # type: ignore[misc]
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
    verbose : bool, default=False
        Whether to write every stage and its seconds to the standard error stream.

    Attributes
    ----------
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
        verbose: bool = False,
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
        before = dict(self.__dict__)
        try:
            return self._fit(X)
        except BaseException:  # an earlier fit stays as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any) -> Self:
        self._check_parameters()
        resources = find_resources()  # says that there are no workers before anything waits for them
        progress = Progress(self.verbose)
        progress.begin("look at the data")
        source = open_source(X)
        number, prior = resolve_proportions(self.n_clusters, self.proportions, n_samples=source.n_samples)
        sizes = self._sizes(source.n_samples)
        adaptive = self.variant == "adaptive"
        if not adaptive and number is None:
            raise ValueError(f"variant={self.variant!r} needs a prior. Give n_clusters as an integer, or proportions.")
        k = min(2 * sizes[-1], source.n_samples - 1) if adaptive else sizes[-1]
        scaling, checksum = learn_scaling(source, self.scale)
        cells, centres, search = self._search(source, scaling, checksum, k, resources, progress)
        progress.begin("exchange")
        ground = Ground(cells, search.graphs, find_routes(cells, search.graphs, search.around))
        progress.begin("local clusters and topo-graph")
        reaches = [self._reach(size, k) for size in sizes]
        found = build_scales(ground, reaches)
        progress.begin("merge")
        if adaptive:
            found, chosen, scale, cut, extra = self._merge(ground, found, sizes, number, prior, k, source.n_samples)
        else:
            chosen, scale, extra = 0, None, {}
            cut = cut_edges(found.graphs[0], proportions=equal_shares(number or 1) if prior is None else prior)
        progress.begin("labels")
        reach = found.reaches[chosen]
        described = results.describe_all(ground, found, chosen, reach.intensity)
        labelling, counts = self._label(described, cut.labels, len(cut.sizes), source.n_samples)
        columns = results.restore(ground, described, labelling, source.sizes)
        for name in ("hierarchy_", "selection_", "n_clusters_scores_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.labels_, self.local_labels_, self.log_intensity_, self.parents_, self.outlier_scores_ = columns.values()
        self.n_neighbors_, self.topo_graph_, self.edge_cut_ = reach.intensity, found.graphs[chosen], cut
        self.n_clusters_, self.proportions_ = len(cut.sizes), counts[1:] / source.n_samples
        self.peaks_ = self.topo_graph_.peaks
        self.n_connected_components_ = found.n_components[chosen]
        self.neighbors_recall_ = search.recall
        self.n_cells_, self.task_bytes_ = len(cells), resources.task_bytes
        self.n_rounds_ = {"search": search.rounds, "uphill": found.rounds}
        self.halo_ = ground.routes.n_halo / source.n_samples
        self.bytes_moved_ = _count_bytes(source, search, ground, found, len(centres[0]))
        self.n_features_in_ = source.sample.shape[1]
        if source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        for name, value in extra.items():
            setattr(self, name, value)
        self._hierarchy, self._prior = None if scale is None else scale.hierarchy, prior
        self._ground, self._described, self._cut = ground, described, labelling
        self._scaling, self._centres, self._reach_used = scaling, centres, reach
        self._references: list[Any] = []  # built when something is predicted
        self._dtype = source.sample.dtype
        progress.end()
        self.seconds_ = progress.seconds
        self._warn_of_missing_clusters(self.n_clusters_, number or 0, stacklevel=4)
        return self

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
            reach = self._reach_used
            self._references = results.build_references(
                self._ground, self._described, self._cut, reach.intensity, reach.climb, reach.relative
            )
        centres = share(self._centres)
        values = [call(as_array, part, self._dtype) for part in parts]
        labels = [results.predict_part(some, self._scaling, centres, self._references) for some in values]
        sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(parts)
        return column(labels, sizes, np.int64)

    def cut(self, *, n_clusters: int | None = None, proportions: ArrayLike | str | None = None) -> da.Array:
        """Labels for another number or other proportions, from the fitted topo-graph, as :meth:`gitcluster.GIT.cut`."""
        check_is_fitted(self)
        n_samples = int(self.labels_.shape[0])
        number, prior = resolve_proportions(n_clusters, proportions, n_samples=n_samples)
        if number is None:
            raise ValueError("n_clusters or proportions must be given, got neither.")
        if self._is_fitted_prior(number, prior):
            return self.labels_
        clusters = cut_again(
            self.topo_graph_, self._hierarchy, number, prior, variant="paper", local_labels=np.empty(0, np.int64)
        )
        self._warn_of_missing_clusters(int(clusters.max()) + 1, number, stacklevel=3)
        return da.where(self.labels_ < 0, -1, self.local_labels_.map_blocks(_look_up, clusters, dtype=np.int64))

    def _is_fitted_prior(self, number: int, prior: NDArray[np.float64] | None) -> bool:
        if prior is None or self._prior is None:
            return number == self.n_clusters_ and prior is self._prior
        return np.array_equal(prior, self._prior)

    def _warn_of_missing_clusters(self, n_found: int, n_wanted: int, *, stacklevel: int) -> None:
        if n_found < n_wanted:
            warnings.warn(
                f"Found {n_found} intensity peaks where {n_wanted} clusters were asked for. "
                f"Use a smaller n_neighbors (now {self.n_neighbors_}), or ask for fewer clusters.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _check_parameters(self) -> None:
        if self.metric != "euclidean":
            raise ValueError(f"DaskGIT takes metric='euclidean' only, got {self.metric!r}. Use GIT on one machine.")
        if self.variant == "authors":
            raise ValueError("DaskGIT has the variants 'adaptive' and 'paper'. Use GIT(variant='authors').")
        check_choice("variant", self.variant, ("adaptive", "paper"))
        check_choice("neighbors", self.neighbors, ("exact", "approximate"))
        if isinstance(self.recall, bool) or not isinstance(self.recall, Real) or not 0 < self.recall <= 1:
            raise ValueError(f"recall must be above 0 and at most 1, got {self.recall!r}.")
        if not (isinstance(self.cell_size, str) and self.cell_size == "auto"):
            check_integer("cell_size", self.cell_size, low=1)
        noise: Any = self.noise
        named = noise is None or (isinstance(noise, str) and noise == "auto")
        if not named and (isinstance(noise, bool) or not isinstance(noise, Real) or not 0 <= noise < 1):
            raise ValueError(f"noise must be None, 'auto' or a share of the samples from 0 to below 1, got {noise!r}.")
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(f"checkpoint must be the path of a folder or None, got {self.checkpoint!r}.")

    def _sizes(self, n_samples: int) -> list[int]:
        if not (isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"):
            return [check_n_neighbors(self.n_neighbors, n_samples)]
        return neighborhood_sizes(n_samples) if self.variant == "adaptive" else [min(PAPER_NEIGHBORS, n_samples - 1)]

    def _reach(self, size: int, k: int) -> Reach:
        if self.variant == "adaptive":
            return Reach(min(size, k), min(climb_among(size), k), min(2 * size, k), True)
        return Reach(size, size, size, False)

    def _search(
        self, source: Source, scaling: Any, checksum: int, k: int, resources: Resources, progress: "Progress"
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
        row_bytes = 2 * (k + 1) * (4 + source.sample.itemsize) + 32 * width + 64 * len(self._sizes(source.n_samples))
        fitting = max(1, resources.task_bytes // row_bytes)
        size = fitting if isinstance(self.cell_size, str) else int(self.cell_size)
        n_cells = -(-source.n_samples // size)
        if isinstance(self.cell_size, str):
            n_cells = max(n_cells, min(CELLS_A_THREAD * resources.threads, source.n_samples // SMALL_CELL))
        sample = apply_scaling(source.sample, scaling)
        if not sample.shape[1]:
            sample = np.zeros((len(sample), 1), source.sample.dtype)
        centres = place_centres(sample, max(1, n_cells), source.n_samples, size)
        cells, centres = make_cells(source, scaling, centres, sort=self.variant == "adaptive")
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

    def _merge(
        self, ground: Ground, found: Scales, sizes: list[int], number: int | None, prior: Any, k: int, n_samples: int
    ) -> tuple[Scales, int, Scale, Any, dict[str, Any]]:
        shared = count_all_shared(found)
        scales = [_as_scale(found, s, n_samples) for s in range(len(sizes))]
        place = {scale.n_neighbors: s for s, scale in enumerate(scales)}
        extra: list[Scales] = []

        def finest() -> Scale:
            more = build_scales(ground, [*found.reaches, self._reach(min(2, n_samples - 1), k)])
            extra.append(more)
            shared.update(count_all_shared(more))
            scale = _as_scale(more, len(sizes), n_samples)
            place[scale.n_neighbors] = len(sizes)
            return scale

        def leaks(cuts: Any) -> list[tuple[float, float]]:
            asked = [(place[scale.n_neighbors], labels, highest_peaks(scale, labels)) for scale, labels in cuts]
            counts = count_all_leaks(ground, found, asked, leak_among(n_samples, k))
            return [leak_of(*three) for three in zip(*zip(*cuts, strict=True), counts, strict=True)]

        (scale, labels, merged, table), scores = select(
            scales, n_clusters=number, prior=prior, leaks=leaks,
            finest=finest if isinstance(self.n_neighbors, str) else None,
            overlap=lambda a, b: shared[place[a.n_neighbors], place[b.n_neighbors]],
        )  # fmt: skip
        attributes = {"hierarchy_": scale.hierarchy.linkage, "selection_": table}
        if scores is not None:
            attributes["n_clusters_scores_"] = scores
        cut = describe_cut(scale.topo_graph, labels, merged, prior)
        return extra[0] if extra else found, place[scale.n_neighbors], scale, cut, attributes

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


def _count_bytes(source: Source, search: Search, ground: Ground, found: Scales, width: int) -> dict[str, int]:
    """What the stages have sent, see the functions that lend it."""
    item, n_scales, n_halo = source.sample.itemsize, len(found.reaches), ground.routes.n_halo
    return {
        "cells": source.n_samples * (item * len(source.low) + 16 + item * width + 24),
        "search": search.lent,
        "intensity": n_halo * n_scales * (4 + 16),
        "uphill": n_halo * n_scales * 16 * found.rounds,
        "topo-graph": n_halo * n_scales * (24 + item),
        "labels": n_halo * 16 + source.n_samples * 52,
    }


def _n_samples(cell: Any) -> int:
    return len(cell.ids)


def _look_up(local: NDArray[Any], clusters: NDArray[Any]) -> Any:
    return clusters[local]


def _as_scale(found: Scales, s: int, n_samples: int) -> Scale:
    """A scale without its samples, which are elsewhere."""
    graph, peaks, order = found.graphs[s], found.peaks[s], found.orders[s]
    nothing = np.broadcast_to(np.float64(np.nan), (n_samples,))
    local = LocalClusters(nothing, nothing, graph.peaks, graph.sizes)
    return Scale(found.reaches[s].intensity, nothing, local, graph, build_hierarchy(graph), peaks.levels[order])


class Progress:
    """Seconds of every stage."""

    def __init__(self, verbose: bool) -> None:
        self.verbose, self.start, self.stage = verbose, perf_counter(), ""
        self.since = self.start
        self.seconds: dict[str, float] = {}

    def begin(self, stage: str) -> None:
        """A stage begins, the one before ends."""
        now = perf_counter()
        if self.stage:
            self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        if self.verbose:
            print(f"[DaskGIT] {now - self.start:8.2f} s  {stage}", file=sys.stderr)
        self.stage, self.since = stage, now

    def end(self) -> None:
        """The fit ends."""
        self.begin("done")
