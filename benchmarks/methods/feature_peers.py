"""How to use every feature of a peer: by its own documentation, or else by scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.metrics import pairwise_distances

Array = NDArray[Any]
Options = dict[str, Any]


class AbsentError(Exception):
    """A peer lacks a feature, or accepts the call and ignores it."""


def count(labels: Any) -> int:
    """Return the number of clusters, without noise."""
    labels = np.asarray(labels)
    return len(np.unique(labels[labels >= 0]))


class Peer:
    """A peer that is used by scikit-learn's conventions; subclasses replace what it documents otherwise."""

    usual: ClassVar[Options] = {}
    """Settings of every call: a seed, a size that suits tiny data, the number of clusters if it is required."""
    remarks: ClassVar[dict[str, str]] = {}
    """How to use a feature, if that is not obvious."""

    def __init__(self, path: str, package: str) -> None:
        self.path, self.package = path, package

    @property
    def version(self) -> str | None:
        """Return the installed version, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    def load(self) -> Any:
        """Return the class or function of the peer."""
        module, _, name = self.path.rpartition(".")
        return getattr(import_module(module), name)

    def make(self, **options: Any) -> Any:
        """Return an unfitted model."""
        return self.load()(**(self.usual | options))

    def fit(self, X: Any, **options: Any) -> Any:
        """Return a fitted model."""
        return self.make(**options).fit(X)

    def labels(self, X: Any, **options: Any) -> Array:
        """Return labels."""
        return np.asarray(self.fit(X, **options).labels_)

    def default_labels(self, X: Any) -> Array:
        """Return labels with nothing set but a seed."""
        seed = {name: value for name, value in self.usual.items() if name == "random_state"}
        return np.asarray(type(self.make())(**seed).fit(X).labels_)

    def number(self, X: Array, k: int) -> Array:
        """Return ``k`` clusters."""
        return self.labels(X, n_clusters=k)

    def shares(self, X: Array, shares: Sequence[float]) -> Array:
        """Return clusters of the given shares."""
        return self.labels(X, n_clusters=len(shares), proportions=shares)

    def noise(self, X: Array) -> Array:
        """Return labels with -1 for noise."""
        return self.labels(X, noise=0.1)

    def predict(self, model: Any, X: Array) -> Array:
        """Return labels of samples."""
        return np.asarray(model.predict(X))

    def memberships(self, model: Any, X: Array) -> Array:
        """Return a probability for every sample and cluster."""
        return np.asarray(model.predict_proba(X))

    def outlier_scores(self, X: Array) -> Array:
        """Return a score for every sample."""
        return np.asarray(self.fit(X).outlier_scores_)

    def weighted(self, X: Array, weights: Array | None) -> Array:
        """Return labels of weighted samples."""
        return np.asarray(self.make().fit(X, sample_weight=weights).labels_)

    def must(self, X: Array, pairs: Array) -> Array:
        """Return labels under must-link pairs."""
        return np.asarray(self.make().fit(X, must_link=pairs).labels_)

    def cannot(self, X: Array, pairs: Array) -> Array:
        """Return labels under cannot-link pairs."""
        return np.asarray(self.make().fit(X, cannot_link=pairs).labels_)

    def partial(self, X: Array, y: Array) -> Array:
        """Return labels that continue known ones."""
        return np.asarray(self.make().fit(X, y).labels_)

    def bounded(self, X: Array, least: int, most: int) -> Array:
        """Return clusters of bounded size."""
        return self.labels(X, min_cluster_size=least, max_cluster_size=most)

    def metric(self, X: Array, metric: str) -> Array:
        """Return labels under another metric."""
        return self.labels(X, metric=metric)

    def graph(self, graph: csr_matrix) -> Array:
        """Return labels of a sparse graph of neighbours' distances."""
        return self.labels(graph, metric="precomputed")

    def neighbors(self, indices: Array, distances: Array) -> Array:
        """Return labels of neighbours from another search."""
        return self.labels((indices, distances), metric="precomputed")

    def save(self, model: Any, path: Path) -> Array:
        """Store a model, and return the labels of what is read back."""
        model.save(path)
        return np.asarray(type(model).load(path).labels_)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        """Return ``k`` clusters from a fitted model."""
        return np.asarray(model.cut(n_clusters=k))

    def linkage(self, model: Any) -> Array:
        """Return the hierarchy in scipy's format."""
        return np.column_stack([model.children_, model.distances_, model.counts_]).astype(float)


class Git(Peer):
    """This library."""

    def graph(self, graph: csr_matrix) -> Array:
        return self.labels(graph, metric="precomputed_graph")

    def neighbors(self, indices: Array, distances: Array) -> Array:
        return self.labels((indices, distances), metric="precomputed_graph")

    def linkage(self, model: Any) -> Array:
        return np.asarray(model.hierarchy_)


class Hdbscan(Peer):
    """``hdbscan``: predictions, soft clusters and numbers by functions beside the estimator."""

    usual: ClassVar[Options] = {"min_cluster_size": 10}
    remarks: ClassVar[dict[str, str]] = {"cut again at another number without a new fit": "by trying cut distances"}

    def number(self, X: Array, k: int) -> Array:
        flat = import_module("hdbscan.flat")
        return np.asarray(flat.HDBSCAN_flat(X, n_clusters=k).labels_)

    def noise(self, X: Array) -> Array:
        return self.labels(X)

    def predict(self, model: Any, X: Array) -> Array:
        model.generate_prediction_data()
        return np.asarray(import_module("hdbscan").approximate_predict(model, X)[0])

    def memberships(self, model: Any, X: Array) -> Array:
        model.generate_prediction_data()
        return np.asarray(import_module("hdbscan").membership_vector(model, X))

    def bounded(self, X: Array, least: int, most: int) -> Array:
        return self.labels(X, min_cluster_size=least, max_cluster_size=most, min_samples=5)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        return cut_by_distance(model.dbscan_clustering, X, k)

    def linkage(self, model: Any) -> Array:
        return np.asarray(model.single_linkage_tree_.to_numpy())


class SklearnHdbscan(Hdbscan):
    """scikit-learn's HDBSCAN."""

    usual: ClassVar[Options] = {"min_cluster_size": 10, "copy": True}
    number, predict, memberships = Peer.number, Peer.predict, Peer.memberships

    def default_labels(self, X: Any) -> Array:
        return self.labels(X, min_cluster_size=5)


class FastHdbscan(Hdbscan):
    """``fast_hdbscan``: weights, cannot-links and known labels."""

    number, predict, memberships = Peer.number, Peer.predict, Peer.memberships

    def cannot(self, X: Array, pairs: Array) -> Array:
        links = csr_matrix((np.ones(len(pairs), bool), tuple(np.transpose(pairs))), shape=(len(X), len(X)))
        return self.labels(X, algorithm="kruskal", cannot_link=links)

    def partial(self, X: Array, y: Array) -> Array:
        return np.asarray(self.make(semi_supervised=True).fit(X, y.copy()).labels_)

    def metric(self, X: Array, metric: str) -> Array:
        return self.labels(csr_matrix(X) if metric == "precomputed" else X, metric=metric)


class Evoc(Peer):
    """``evoc``: the metric follows the type of the data, cosine for floats."""

    usual: ClassVar[Options] = {"random_state": 0, "base_min_cluster_size": 40, "noise_level": 0.0}

    def number(self, X: Array, k: int) -> Array:
        return self.labels(X, approx_n_clusters=k, base_min_cluster_size=5)

    def noise(self, X: Array) -> Array:
        return self.labels(X, noise_level=0.5, base_min_cluster_size=5)

    def metric(self, X: Array, metric: str) -> Array:
        return self.labels(X) if metric == "cosine" else super().metric(X, metric)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        layers = {count(layer): layer for layer in model.cluster_layers_}
        if k not in layers:
            raise AbsentError(f"layers of {sorted(layers)} clusters, none of {k}")
        return np.asarray(layers[k])


class Genie(Peer):
    """``genieclust``; noise by ``deadwood``, which it requires and documents for that."""

    usual: ClassVar[Options] = {"n_clusters": 3}

    def noise(self, X: Array) -> Array:
        return np.asarray(import_module("deadwood").Deadwood().fit(self.fit(X, M=10)).labels_)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        return np.asarray(model.set_params(n_clusters=k).fit(None).labels_)


class Tomato(Peer):
    """gudhi's Tomato, which takes any other graph and density as they are."""

    usual: ClassVar[Options] = {"n_clusters": 3}

    def graph(self, graph: csr_matrix) -> Array:
        rows = [row.tolist() for row in np.split(graph.indices, graph.indptr[1:-1])]
        near = graph.sum(axis=1) / np.diff(graph.indptr)[:, None]
        model = self.make(graph_type="manual", density_type="manual")
        return np.asarray(model.fit(rows, weights=-np.log(np.ravel(near))).labels_)

    def neighbors(self, indices: Array, distances: Array) -> Array:
        density = import_module("gudhi.point_cloud.dtm").DTMDensity(metric="neighbors", k=10, dim=4)
        weights = density.fit_transform(distances)
        return np.asarray(self.make(graph_type="manual", density_type="manual").fit(indices, weights=weights).labels_)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        model.n_clusters_ = k
        return np.asarray(model.labels_)

    def linkage(self, model: Any) -> Array:
        merges = np.column_stack([model.children_, np.sort(np.subtract(*model.diagram_.T))])
        sizes = [1.0] * (len(merges) + 1)
        for left, right in model.children_:
            sizes.append(sizes[left] + sizes[right])
        return np.column_stack([merges, sizes[len(merges) + 1 :]])


class Constrained(Peer):
    """k-means with bounds on sizes, the same for all clusters."""

    usual: ClassVar[Options] = {"n_clusters": 3, "random_state": 0}

    def shares(self, X: Array, shares: Sequence[float]) -> Array:
        least, most = (round(share * len(X)) for share in (min(shares), max(shares)))
        return self.labels(X, n_clusters=len(shares), size_min=least, size_max=most)

    def bounded(self, X: Array, least: int, most: int) -> Array:
        return self.labels(X, n_clusters=round(2 * len(X) / (least + most)), size_min=least, size_max=most)


def cut_by_distance(cut: Callable[[float], Array], X: Array, k: int) -> Array:
    """Return ``k`` clusters by trying distances, for peers that are cut at a distance."""
    distances = np.unique(pairwise_distances(X))
    for distance in np.quantile(distances[distances > 0], np.linspace(0, 1, 200) ** 2):
        labels = np.asarray(cut(float(distance)))
        if count(labels) == k:
            return labels
    raise AbsentError(f"none of 200 cut distances gives {k} clusters")


PEERS: dict[str, Peer] = {
    "GIT": Git("gitcluster.GIT", "gitcluster"),
    "hdbscan": Hdbscan("hdbscan.HDBSCAN", "hdbscan"),
    "scikit-learn HDBSCAN": SklearnHdbscan("sklearn.cluster.HDBSCAN", "scikit-learn"),
    "fast_hdbscan": FastHdbscan("fast_hdbscan.HDBSCAN", "fast_hdbscan"),
    "EVoC": Evoc("evoc.EVoC", "evoc"),
    "Genie": Genie("genieclust.Genie", "genieclust"),
    "Tomato": Tomato("gudhi.clustering.tomato.Tomato", "gudhi"),
    "KMeansConstrained": Constrained("k_means_constrained.KMeansConstrained", "k-means-constrained"),
}
