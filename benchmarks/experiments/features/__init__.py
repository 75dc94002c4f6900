"""What GIT and its peers can do, found by trying: ``python -m benchmarks features [--table | --reasons]``.

A feature is a probe on tiny data. It holds when the call works and the result keeps the contract; otherwise the reason
is kept. Every peer is asked in its own documented way, and in scikit-learn's where it documents none. Leiden clusters
the graph of 30 nearest neighbours that scikit-learn builds. Every probe is a process with a time limit: a crash or a
hang is a result. One line a probe goes to ``results/features.jsonl``.

The cells: ``yes``; ``no``, which is refused, ignored or not there; ``wrong``, taken up but the contract is not kept;
``crash``, of the process or by an exception that is no refusal; ``timeout``; ``not installed``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, read_lines

RESULTS = FOLDER / "features.jsonl"
SECONDS = 60
SECONDS_OF = {"scikit-learn's estimator checks, passed/failed": 120, "compilation": 900}
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
REFUSALS = (AttributeError, ImportError, NotImplementedError, TypeError, ValueError)
Array = NDArray[Any]
Line = dict[str, Any]


class BrokenError(Exception):
    """A peer took up the call, and its result is not what was asked for."""


class AbsentError(Exception):
    """A peer has no such thing, or takes the call and gives what it gives without."""


def expect(holds: Any, otherwise: str) -> None:
    """Fail with a reason."""
    if not holds:
        raise BrokenError(otherwise)


def expect_change(labels: Any, plain: Any, otherwise: str) -> None:
    """Fail with a reason where a request that is not met has changed nothing."""
    if same(labels, plain):
        raise AbsentError(f"{otherwise}, the same as without asking")


# Peers


class Peer:
    """A peer that is asked as scikit-learn's conventions have it; subclasses know better."""

    package = module = estimator = ""
    usual: ClassVar[Line] = {}
    """Settings of every call: a seed, a size that suits tiny data, the number for those that need one."""
    remarks: ClassVar[dict[str, str]] = {}
    """How a feature is had, where that is not plain."""

    def make(self, **options: Any) -> Any:
        """Return an unfitted model."""
        return getattr(importlib.import_module(self.module), self.estimator)(**(self.usual | options))

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
        """Return labels of neighbours found elsewhere."""
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

    package, module, estimator = "gitcluster", "gitcluster", "GIT"

    def graph(self, graph: csr_matrix) -> Array:
        """Return labels of a sparse graph of neighbours' distances."""
        return self.labels(graph, metric="precomputed_graph")

    def neighbors(self, indices: Array, distances: Array) -> Array:
        """Return labels of neighbours found elsewhere."""
        return self.labels((indices, distances), metric="precomputed_graph")

    def linkage(self, model: Any) -> Array:
        """Return the hierarchy in scipy's format."""
        return np.asarray(model.hierarchy_)


class Hdbscan(Peer):
    """``hdbscan``: predictions, soft clusters and numbers by functions beside the estimator."""

    package, module, estimator = "hdbscan", "hdbscan", "HDBSCAN"
    usual: ClassVar[Line] = {"min_cluster_size": 10}
    remarks: ClassVar[dict[str, str]] = {"cut again at another number without a new fit": "by trying cut distances"}

    def number(self, X: Array, k: int) -> Array:
        """Return ``k`` clusters."""
        flat = importlib.import_module("hdbscan.flat")
        return np.asarray(flat.HDBSCAN_flat(X, n_clusters=k).labels_)

    def noise(self, X: Array) -> Array:
        """Return labels with -1 for noise."""
        return self.labels(X)

    def predict(self, model: Any, X: Array) -> Array:
        """Return labels of samples."""
        model.generate_prediction_data()
        return np.asarray(importlib.import_module("hdbscan").approximate_predict(model, X)[0])

    def memberships(self, model: Any, X: Array) -> Array:
        """Return a probability for every sample and cluster."""
        model.generate_prediction_data()
        return np.asarray(importlib.import_module("hdbscan").membership_vector(model, X))

    def bounded(self, X: Array, least: int, most: int) -> Array:
        """Return clusters of bounded size."""
        return self.labels(X, min_cluster_size=least, max_cluster_size=most, min_samples=5)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        """Return ``k`` clusters from a fitted model."""
        return cut_by_distance(model.dbscan_clustering, X, k)

    def linkage(self, model: Any) -> Array:
        """Return the hierarchy in scipy's format."""
        return np.asarray(model.single_linkage_tree_.to_numpy())


class SklearnHdbscan(Hdbscan):
    """scikit-learn's HDBSCAN."""

    package, module = "scikit-learn", "sklearn.cluster"
    usual: ClassVar[Line] = {"min_cluster_size": 10, "copy": True}
    number, predict, memberships = Peer.number, Peer.predict, Peer.memberships

    def default_labels(self, X: Any) -> Array:
        """Return labels with nothing set; ``copy`` is the coming default and silences a warning."""
        return self.labels(X, min_cluster_size=5)


class FastHdbscan(Hdbscan):
    """``fast_hdbscan``: weights, cannot-links and known labels."""

    package = module = "fast_hdbscan"
    number, predict, memberships = Peer.number, Peer.predict, Peer.memberships

    def cannot(self, X: Array, pairs: Array) -> Array:
        """Return labels under cannot-link pairs."""
        links = csr_matrix((np.ones(len(pairs), bool), tuple(np.transpose(pairs))), shape=(len(X), len(X)))
        return self.labels(X, algorithm="kruskal", cannot_link=links)

    def partial(self, X: Array, y: Array) -> Array:
        """Return labels that continue known ones."""
        return np.asarray(self.make(semi_supervised=True).fit(X, y.copy()).labels_)

    def metric(self, X: Array, metric: str) -> Array:
        """Return labels under another metric; distances are taken only as a sparse matrix."""
        return self.labels(csr_matrix(X) if metric == "precomputed" else X, metric=metric)


class Evoc(Peer):
    """``evoc``: the metric follows the type of the data, cosine for floats."""

    package, module, estimator = "evoc", "evoc", "EVoC"
    usual: ClassVar[Line] = {"random_state": 0, "base_min_cluster_size": 40, "noise_level": 0.0}

    def number(self, X: Array, k: int) -> Array:
        """Return ``k`` clusters."""
        return self.labels(X, approx_n_clusters=k, base_min_cluster_size=5)

    def noise(self, X: Array) -> Array:
        """Return labels with -1 for noise."""
        return self.labels(X, noise_level=0.5, base_min_cluster_size=5)

    def metric(self, X: Array, metric: str) -> Array:
        """Return labels under another metric."""
        return self.labels(X) if metric == "cosine" else super().metric(X, metric)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        """Return the layer of ``k`` clusters."""
        layers = {count(layer): layer for layer in model.cluster_layers_}
        if k not in layers:
            raise AbsentError(f"layers of {sorted(layers)} clusters, none of {k}")
        return np.asarray(layers[k])


class Genie(Peer):
    """``genieclust``; noise by ``deadwood``, which it requires and documents for that."""

    package, module, estimator = "genieclust", "genieclust", "Genie"
    usual: ClassVar[Line] = {"n_clusters": 3}

    def noise(self, X: Array) -> Array:
        """Return labels with -1 for noise."""
        return np.asarray(importlib.import_module("deadwood").Deadwood().fit(self.fit(X, M=10)).labels_)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        """Return ``k`` clusters from the tree that is kept."""
        return np.asarray(model.set_params(n_clusters=k).fit(None).labels_)


class TomatoPeer(Peer):
    """gudhi's Tomato, which takes any other graph and density as they are."""

    package, module, estimator = "gudhi", "gudhi.clustering.tomato", "Tomato"
    usual: ClassVar[Line] = {"n_clusters": 3}

    def graph(self, graph: csr_matrix) -> Array:
        """Return labels of a sparse graph of neighbours' distances, the density being their mean."""
        rows = [row.tolist() for row in np.split(graph.indices, graph.indptr[1:-1])]
        near = graph.sum(axis=1) / np.diff(graph.indptr)[:, None]
        model = self.make(graph_type="manual", density_type="manual")
        return np.asarray(model.fit(rows, weights=-np.log(np.ravel(near))).labels_)

    def neighbors(self, indices: Array, distances: Array) -> Array:
        """Return labels of neighbours found elsewhere."""
        density = importlib.import_module("gudhi.point_cloud.dtm").DTMDensity(metric="neighbors", k=10, dim=4)
        weights = density.fit_transform(distances)
        return np.asarray(self.make(graph_type="manual", density_type="manual").fit(indices, weights=weights).labels_)

    def cut(self, model: Any, X: Array, k: int) -> Array:
        """Return ``k`` clusters from a fitted model."""
        model.n_clusters_ = k
        return np.asarray(model.labels_)

    def linkage(self, model: Any) -> Array:
        """Return the merges of peaks with their prominences."""
        merges = np.column_stack([model.children_, np.sort(np.subtract(*model.diagram_.T))])
        sizes = [1.0] * (len(merges) + 1)
        for left, right in model.children_:
            sizes.append(sizes[left] + sizes[right])
        return np.column_stack([merges, sizes[len(merges) + 1 :]])


class Constrained(Peer):
    """k-means with bounds on sizes, the same for all clusters."""

    package, module, estimator = "k-means-constrained", "k_means_constrained", "KMeansConstrained"
    usual: ClassVar[Line] = {"n_clusters": 3, "random_state": 0}

    def shares(self, X: Array, shares: Sequence[float]) -> Array:
        """Return clusters between the least and the greatest share."""
        least, most = (round(share * len(X)) for share in (min(shares), max(shares)))
        return self.labels(X, n_clusters=len(shares), size_min=least, size_max=most)

    def bounded(self, X: Array, least: int, most: int) -> Array:
        """Return clusters of bounded size, as many as fit between the bounds."""
        return self.labels(X, n_clusters=round(2 * len(X) / (least + most)), size_min=least, size_max=most)


class Leiden(Peer):
    """``leidenalg``: functions of a graph, no estimator."""

    package, module, estimator = "leidenalg", "leidenalg", "ModularityVertexPartition"
    remarks: ClassVar[dict[str, str]] = {
        "sample weights act as repetition": "sizes of nodes, in a partition by resolution",
        "must-link pairs": "nodes contracted by igraph",
        "cannot-link pairs": "a layer of negative edges",
        "partial labels": "nodes held fixed",
        "saved and loaded without pickle": "GraphML of the graph and its labels",
    } | dict.fromkeys(("cosine metric", "haversine metric", "matrix of distances", "sparse features"), "of the search")

    def fit(self, X: Any, metric: str = "minkowski", **options: Any) -> Any:
        """Return the partition of the graph of neighbours."""
        return self.partition(kneighbors_graph(X, 30, metric=metric), **options)

    def partition(self, adjacency: Any, **options: Any) -> Any:
        """Return the partition of a graph."""
        leiden = importlib.import_module("leidenalg")
        return leiden.find_partition(undirected(adjacency), leiden.ModularityVertexPartition, seed=0, **options)

    def labels(self, X: Any, **options: Any) -> Array:
        """Return labels."""
        return np.asarray(self.fit(X, **options).membership)

    def default_labels(self, X: Any) -> Array:
        """Return labels with nothing set but a seed."""
        return self.labels(X)

    def weighted(self, X: Array, weights: Array | None) -> Array:
        """Return labels of nodes with sizes, which partitions by resolution have."""
        leiden = importlib.import_module("leidenalg")
        graph = undirected(kneighbors_graph(X, 30))
        sizes = None if weights is None else [int(weight) for weight in weights]
        options = {"node_sizes": sizes, "resolution_parameter": 0.05, "seed": 0}
        return np.asarray(leiden.find_partition(graph, leiden.CPMVertexPartition, **options).membership)

    def must(self, X: Array, pairs: Array) -> Array:
        """Return labels of the graph with linked nodes contracted to one."""
        leiden = importlib.import_module("leidenalg")
        links = csr_matrix((np.ones(len(pairs)), tuple(np.transpose(pairs))), shape=(len(X), len(X)))
        node = connected_components(links)[1]
        graph = undirected(kneighbors_graph(X, 30))
        graph.contract_vertices(node.tolist())
        graph.simplify(combine_edges="sum")
        options = {"weights": "weight", "seed": 0}
        return np.asarray(leiden.find_partition(graph, leiden.ModularityVertexPartition, **options).membership)[node]

    def cannot(self, X: Array, pairs: Array) -> Array:
        """Return labels with a layer of negative edges."""
        leiden = importlib.import_module("leidenalg")
        negative = csr_matrix((np.ones(len(pairs)), tuple(np.transpose(pairs))), shape=(len(X), len(X)))
        graphs = [undirected(kneighbors_graph(X, 30)), undirected(negative)]
        partitions = [leiden.RBConfigurationVertexPartition(graphs[0])]
        partitions.append(leiden.CPMVertexPartition(graphs[1], resolution_parameter=0))
        leiden.Optimiser().optimise_partition_multiplex(partitions, layer_weights=[1, -len(X)], n_iterations=-1)
        return np.asarray(partitions[0].membership)

    def partial(self, X: Array, y: Array) -> Array:
        """Return labels with the known ones held fixed."""
        leiden = importlib.import_module("leidenalg")
        known = y >= 0
        start = np.where(known, y, y.max() + 1 + np.cumsum(~known) - 1)
        partition = leiden.ModularityVertexPartition(undirected(kneighbors_graph(X, 30)), start.tolist())
        leiden.Optimiser().optimise_partition(partition, is_membership_fixed=known.tolist())
        return np.asarray(partition.membership)

    def bounded(self, X: Array, least: int, most: int) -> Array:
        """Return clusters of bounded size."""
        leiden = importlib.import_module("leidenalg")
        optimiser = leiden.Optimiser()
        optimiser.max_comm_size, optimiser.min_comm_size = most, least
        optimiser.community_constraint_enforcement = 10
        optimiser.consider_comms = leiden.ALL_COMMS
        partition = leiden.ModularityVertexPartition(undirected(kneighbors_graph(X, 30)))
        optimiser.optimise_partition(partition, n_iterations=-1)
        return np.asarray(partition.membership)

    def graph(self, graph: csr_matrix) -> Array:
        """Return labels of a sparse graph of neighbours' distances."""
        return np.asarray(self.partition(graph).membership)

    def neighbors(self, indices: Array, distances: Array) -> Array:
        """Return labels of neighbours found elsewhere."""
        pointers = np.arange(len(indices) + 1) * indices.shape[1]
        return self.graph(csr_matrix((distances.ravel(), indices.ravel(), pointers)))

    def save(self, model: Any, path: Path) -> Array:
        """Store the graph with its labels, and return the labels of the partition made from what is read back."""
        model.graph.vs["label"] = model.membership
        model.graph.write_graphml(str(path))
        graph = importlib.import_module("igraph").Graph.Read_GraphML(str(path))
        return np.asarray(type(model)(graph, [int(label) for label in graph.vs["label"]]).membership)


PEERS: dict[str, Peer] = {
    "GIT": Git(),
    "hdbscan": Hdbscan(),
    "scikit-learn HDBSCAN": SklearnHdbscan(),
    "fast_hdbscan": FastHdbscan(),
    "EVoC": Evoc(),
    "Genie": Genie(),
    "Tomato": TomatoPeer(),
    "KMeansConstrained": Constrained(),
    "Leiden": Leiden(),
}


def undirected(adjacency: Any) -> Any:
    """Return an igraph graph with the entries of a matrix as weights."""
    entries = csr_array(adjacency).tocoo()
    graph = importlib.import_module("igraph").Graph(
        adjacency.shape[0], np.column_stack(entries.coords).tolist(), edge_attrs={"weight": entries.data.tolist()}
    )
    return graph.simplify(combine_edges="max")


def cut_by_distance(cut: Callable[[float], Array], X: Array, k: int) -> Array:
    """Return ``k`` clusters by trying distances, for peers that are cut at a distance."""
    distances = np.unique(pairwise_distances(X))
    for distance in np.quantile(distances[distances > 0], np.linspace(0, 1, 200) ** 2):
        labels = np.asarray(cut(float(distance)))
        if count(labels) == k:
            return labels
    raise AbsentError(f"none of 200 cut distances gives {k} clusters")


# Data


def blobs(sizes: Sequence[int] = (100, 80, 60), spread: float = 0.5) -> tuple[Array, Array]:
    """Return groups around far corners of a cube: clear by distance and by direction."""
    corners = np.array([[5, 5, 0, 0], [0, 5, 5, 0], [0, 0, 5, 5], [5, 0, 0, 5]], float)[: len(sizes)]
    y = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(0).normal(scale=spread, size=(len(y), 8))
    return np.hstack([corners, corners])[y] + noise, y


def chain() -> Array:
    """Return four groups in a row, of 50, 100, 100 and 50 samples, that nearly touch."""
    y = np.repeat(np.arange(4), (50, 100, 100, 50))
    return arc(7, (0, 30, 60, 90))[y] + np.random.default_rng(0).normal(size=(len(y), 4))


def nested() -> tuple[Array, Array]:
    """Return two pairs of groups, and the four groups."""
    y = np.repeat(np.arange(4), 50)
    return arc(20, (0, 16, 74, 90))[y] + np.random.default_rng(0).normal(size=(len(y), 4)), y


def arc(radius: float, degrees: Sequence[float]) -> Array:
    """Return places on an arc in four features: what is near is near in direction too."""
    angles = np.radians(degrees)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)] * 2)


def scattered() -> tuple[Array, Array]:
    """Return the clear groups and a tenth of samples strewn around them, labelled -1."""
    X, y = blobs()
    far = np.random.default_rng(1).uniform(-6, 11, size=(24, X.shape[1]))
    return np.vstack([X, far]), np.append(y, np.full(24, -1))


def overlapping() -> Array:
    """Return groups that overlap."""
    return make_blobs(300, centers=3, n_features=4, cluster_std=3.5, random_state=0)[0]


def count(labels: Any) -> int:
    """Return the number of clusters, without noise."""
    labels = np.asarray(labels)
    return len(np.unique(labels[labels >= 0]))


def same(a: Any, b: Any) -> bool:
    """Return whether labels are the same up to renaming, noise being a label."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and len(np.unique(np.column_stack([a, b]), axis=0)) == len(np.unique(a)) == len(
        np.unique(b)
    )


def expect_groups(y: Array, labels: Any) -> None:
    """Fail unless labels are nearly the groups."""
    score = adjusted_rand_score(y, labels)
    expect(score > 0.9, f"{count(labels)} clusters, ARI {score:.2f} where the groups are clear")


# Features

Probe = Callable[[Peer], str | None]
FEATURES: dict[str, Probe] = {}
UNPROMISED: set[str] = set()
"""Features that nobody asks a peer for by a call, so that a peer without them is not wrong."""


def feature(name: str, *, promised: bool = True) -> Callable[[Probe], Probe]:
    """Register a probe; it returns a remark or nothing, and raises where the feature is not there."""

    def register(probe: Probe) -> Probe:
        FEATURES[name] = probe
        UNPROMISED.update(() if promised else (name,))
        return probe

    return register


@feature("number of clusters asked for is met")
def _number(peer: Peer) -> None:
    found = [count(peer.number(blobs()[0], k)) for k in (2, 3, 5)]
    expect(found == [2, 3, 5], f"asked for 2, 3 and 5 clusters, got {found}")


@feature("proportions or sizes of clusters can be given")
def _shares(peer: Peer) -> None:
    for shares in ((1 / 2, 1 / 2), (5 / 6, 1 / 6)):
        labels = peer.shares(chain(), shares)
        sizes = -np.sort(-np.bincount(labels[labels >= 0])) / len(labels)
        if len(sizes) != 2 or abs(sizes - shares).max() > 0.05:
            text = f"{np.round(shares, 2)} gives {sizes.round(2)}"
            expect_change(labels, peer.number(chain(), 2), text)
            raise BrokenError(text)


@feature("works without a number", promised=False)
def _automatic(peer: Peer) -> None:
    X, y = blobs()
    expect_groups(y, peer.labels(X) if "n_clusters" not in peer.usual else peer.default_labels(X))


@feature("every sample labelled by default", promised=False)
def _all_labelled(peer: Peer) -> None:
    share = np.mean(np.asarray(peer.default_labels(scattered()[0])) < 0)
    expect(share == 0, f"{share:.0%} noise")


@feature("noise can be asked for")
def _noise(peer: Peer) -> None:
    X, y = scattered()
    labels = peer.noise(X)
    if not (labels == -1).any():
        expect_change(labels, peer.labels(X), "no noise")
    expect((labels == -1).any() and count(labels), f"{np.mean(labels == -1):.0%} noise, {count(labels)} clusters")
    strewn, grouped = (np.mean(labels[chosen] == -1) for chosen in (y < 0, y >= 0))
    expect(strewn > grouped, f"{strewn:.0%} of strewn samples are noise and {grouped:.0%} of the others")


@feature("predicts new samples, and on training data `labels_`")
def _predict(peer: Peer) -> None:
    X, y = blobs()
    chosen = np.random.default_rng(0).permutation(len(X))
    train, new = chosen[:200], chosen[200:]
    expect_groups(y[new], peer.predict(peer.fit(X[train]), X[new]))
    X = overlapping()
    model = peer.fit(X)
    differ = int(np.sum(peer.predict(model, X) != np.asarray(model.labels_)))
    expect(differ == 0, f"{differ} of {len(X)} training samples of an overlapping set get another label than `labels_`")


@feature("membership probabilities of new samples, summing to 1")
def _memberships(peer: Peer) -> None:
    X, _ = blobs()
    model = peer.fit(X[::2])
    shares = peer.memberships(model, X[1::2])
    expect(shares.shape == (len(X[1::2]), count(model.labels_)), f"shape {shares.shape}")
    total = shares.sum(axis=1)
    expect(np.isfinite(total).all() and (shares >= 0).all(), "not finite or negative")
    expect(np.allclose(total, 1), f"rows sum to {total.min():.2f} to {total.max():.2f}")


@feature("outlier scores from 0 to 1")
def _outlier_scores(peer: Peer) -> None:
    X, y = scattered()
    scores = peer.outlier_scores(X)
    expect(scores.shape == y.shape and np.isfinite(scores).all(), f"shape {scores.shape} or not finite")
    expect(scores.min() >= 0 and scores.max() <= 1, f"scores from {scores.min():.2f} to {scores.max():.2f}")
    expect(np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.9), "strewn samples do not stand out")


@feature("sample weights act as repetition")
def _weights(peer: Peer) -> None:
    X, y = blobs((100, 80, 3))
    weights = np.where(y == 2, 30, 1)
    plain = peer.weighted(X, None)
    ones = peer.weighted(X, np.ones(len(X)))
    expect(same(plain, ones), f"weights of 1 change the labels, noise from {np.sum(plain < 0)} to {np.sum(ones < 0)}")
    weighted = peer.weighted(X, weights.astype(float))
    expect_change(weighted, plain, "a weight of 30 on a small group")
    first = np.cumsum(weights) - weights
    again = peer.weighted(np.repeat(X, weights, axis=0), None)
    score = adjusted_rand_score(again[first], weighted)
    expect(score > 0.95, f"ARI {score:.2f} with the labels of repeated samples")


@feature("must-link pairs")
def _must(peer: Peer) -> None:
    X, y = blobs()
    pair = np.array([[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]])
    labels = peer.must(X, pair)
    if not labels[pair[0, 0]] == labels[pair[0, 1]] >= 0:
        expect_change(labels, peer.labels(X), "the pair is apart")
        raise BrokenError("the pair is apart")
    expect(np.sum(labels == labels[pair[0, 0]]) > 2, "the pair is a cluster of its own")


@feature("cannot-link pairs")
def _cannot(peer: Peer) -> None:
    X, y = blobs()
    group = np.flatnonzero(y == 0)
    near = pairwise_distances(X[group]).mean(axis=1).argsort()[:2]
    pair = group[near][None, :]
    labels = peer.cannot(X, pair)
    one, other = labels[pair[0]]
    if one == other >= 0:
        expect_change(labels, peer.labels(X), "the pair is in one cluster")
        raise BrokenError("the pair is in one cluster")
    expect(np.mean(labels >= 0) > 0.5, f"{np.mean(labels < 0):.0%} noise")


@feature("partial labels")
def _partial(peer: Peer) -> None:
    X, fine = nested()
    known = np.random.default_rng(0).random(len(X)) < 0.2
    for truth in (fine, fine // 2):
        labels = peer.partial(X, np.where(known, truth, -1))
        if not same(labels[known], truth[known]):
            text = f"samples of {len(np.unique(truth))} known classes are in {count(labels[known])} clusters"
            expect_change(labels, peer.labels(X), text)
            raise BrokenError(text)


@feature("bounds on cluster sizes, both ways")
def _bounds(peer: Peer) -> None:
    X, _ = nested()
    for least, most in ((40, 60), (80, 120)):
        labels = peer.bounded(X, least, most)
        sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
        text = f"sizes {sizes.tolist()} where {least} and {most} are the bounds"
        if not (count(labels) and least <= sizes.min() and sizes.max() <= most and np.mean(labels >= 0) > 0.8):
            expect_change(labels, peer.labels(X), text)
            raise BrokenError(text)


@feature("cosine metric")
def _cosine(peer: Peer) -> None:
    X, y = blobs()
    lengths = np.random.default_rng(0).uniform(0.05, 10, size=(len(X), 1))
    expect_groups(y, peer.metric(X * lengths, "cosine"))


@feature("haversine metric")
def _haversine(peer: Peer) -> None:
    places = np.radians([[10.0, 180.0], [40.0, 20.0], [-30.0, -60.0]])
    y = np.repeat(np.arange(3), 80)
    X = places[y] + np.random.default_rng(0).normal(scale=0.03, size=(len(y), 2))
    X[:, 1] = (X[:, 1] + np.pi) % (2 * np.pi) - np.pi
    expect_groups(y, peer.metric(X, "haversine"))


@feature("matrix of distances")
def _distances(peer: Peer) -> None:
    X, y = blobs()
    expect_groups(y, peer.metric(pairwise_distances(X), "precomputed"))


@feature("sparse graph of neighbours in several components")
def _graph(peer: Peer) -> None:
    X, y = blobs()
    graph = csr_matrix(kneighbors_graph(X, 15, mode="distance"))
    graph = csr_matrix(graph.maximum(graph.T))
    expect(connected_components(graph)[0] == 3, "the probe is wrong: not three components")
    expect_groups(y, peer.graph(graph))


@feature("neighbours from any index, as arrays")
def _neighbors(peer: Peer) -> None:
    X, y = blobs()
    distances, indices = NearestNeighbors(n_neighbors=15).fit(X).kneighbors()
    expect_groups(y, peer.neighbors(indices, distances))


@feature("sparse features")
def _sparse(peer: Peer) -> None:
    X, y = blobs()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    labels = peer.labels(csr_matrix(X))
    expect_groups(y, labels)
    expect(same(labels, peer.labels(X)), "other labels than of the dense array")


@feature("float32, with the labels of float64")
def _float32(peer: Peer) -> None:
    X, _ = blobs()
    X = X.astype(np.float32)
    score = adjusted_rand_score(peer.labels(X), peer.labels(X.astype(np.float64)))
    expect(score == 1, f"ARI {score:.2f} with the labels of float64")


@feature("pandas frame, `feature_names_in_`")
def _pandas(peer: Peer) -> None:
    X, _ = blobs()
    names = [f"feature {number}" for number in range(X.shape[1])]
    model = peer.fit(importlib.import_module("pandas").DataFrame(X, columns=names))
    expect(list(model.feature_names_in_) == names, "other names")


@feature("polars frame")
def _polars(peer: Peer) -> None:
    X, _ = blobs()
    frame = importlib.import_module("polars").DataFrame(X, schema=[f"feature {j}" for j in range(X.shape[1])])
    expect(same(peer.labels(frame), peer.labels(X)), "other labels than of the array")


@feature("saved and loaded without pickle")
def _save(peer: Peer) -> None:
    X, _ = blobs()
    model, labels = peer.fit(X), peer.labels(X)
    barred = {name: mock.Mock(side_effect=BrokenError("pickle is used")) for name in ("dump", "dumps", "load", "loads")}
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(pickle, **barred):
        expect(np.array_equal(peer.save(model, Path(folder) / "model.npz"), labels), "other labels are read back")


@feature("cut again at another number without a new fit")
def _cut(peer: Peer) -> None:
    X = chain()
    model = peer.fit(X)
    found = [count(peer.cut(model, X, k)) for k in (2, 4)]
    expect(found == [2, 4], f"asked for 2 and 4 clusters, got {found}")


@feature("hierarchy as a scipy linkage")
def _linkage(peer: Peer) -> str | None:
    X = overlapping()
    linkage = peer.linkage(peer.fit(X))
    is_valid_linkage(linkage, throw=True)
    expect((np.diff(linkage[:, 2]) >= 0).all(), "heights are not monotone")
    expect(len(np.unique(fcluster(linkage, 2, "maxclust"))) == 2, "scipy does not cut it in two")
    return None if len(linkage) == len(X) - 1 else f"of {len(linkage) + 1} local clusters"


@feature("same labels after shuffling rows", promised=False)
def _shuffle(peer: Peer) -> None:
    for name, X in {"iris": load_iris().data, "an overlapping set": overlapping()}.items():
        labels = peer.labels(X)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(X))
            again = peer.labels(X[order])
            score = adjusted_rand_score(labels[order], again)
            expect(same(labels[order], again), f"ARI {score:.3f} with the labels before, on {name}")


@feature("same labels after one feature times 1000", promised=False)
def _rescale(peer: Peer) -> None:
    X, _ = blobs()
    X = np.column_stack([X, np.random.default_rng(1).normal(size=len(X))])
    score = adjusted_rand_score(peer.labels(X), peer.labels(X * np.append(np.ones(8), 1000.0)))
    expect(score == 1, f"ARI {score:.2f} with the labels before")


@feature("duplicates share a label", promised=False)
def _duplicates(peer: Peer) -> None:
    generator = np.random.default_rng(0)
    places = np.unique(generator.integers(0, 20, size=(30, 4)), axis=0)
    of_place = generator.permutation(np.repeat(np.arange(len(places)), 10))
    labels = peer.labels(places[of_place].astype(float))
    split = sum(len(np.unique(labels[of_place == place])) > 1 for place in range(len(places)))
    expect(split == 0, f"{split} of {len(places)} places are split")


@feature("input is not overwritten", promised=False)
def _untouched(peer: Peer) -> None:
    X, _ = blobs()
    distances = pairwise_distances(X)
    kept = X.copy(), distances.copy()
    peer.default_labels(X)
    expect(np.array_equal(X, kept[0]), "the samples are overwritten")
    try:
        type(peer.make())(**({"metric": "precomputed"})).fit(distances)
    except Exception:  # a peer without precomputed distances has none to overwrite
        return
    expect(np.array_equal(distances, kept[1]), "the matrix of distances is overwritten")


@feature("all samples equal: one cluster or a clear error", promised=False)
def _equal(peer: Peer) -> str | None:
    try:
        labels = peer.labels(np.ones((60, 4)))
    except ValueError as error:
        return f"error: {error}"
    expect(count(labels) == 1 and (labels >= 0).all(), f"{count(labels)} clusters, {np.mean(labels < 0):.0%} noise")
    return None


@feature("scikit-learn's estimator checks, passed/failed")
def _checks(peer: Peer) -> str:
    checks = importlib.import_module("sklearn.utils.estimator_checks")
    if isinstance(peer, Leiden):
        raise TypeError("not an estimator")
    model = type(peer.make())()
    results = checks.check_estimator(model, on_skip=None, on_fail=None)
    passed, failed = (sum(result["status"] == status for result in results) for status in ("passed", "failed"))
    names = [result["check_name"] for result in results if result["status"] == "failed"]
    return f"{passed}/{failed}" + (f" ({', '.join(names)})" if names else "")


# Running


def main(arguments: Sequence[str]) -> None:
    """Run the probes and print the table, or only print what is stored."""
    options = _parse(arguments)
    if not (options.table or options.reasons):
        for name in options.peers or PEERS:
            store(run_peer(name, options.features or list(FEATURES)))
    print(reasons() if options.reasons else table())


def run_peer(name: str, features: Sequence[str]) -> list[Line]:
    """Return a line for every feature of a peer; first it may compile at its leisure, if it keeps what it compiles."""
    peer = PEERS[name]
    line: Line = {"peer": name, "package": peer.package, "version": None}
    try:
        line["version"] = version(peer.package)
    except PackageNotFoundError:
        return [line | {"feature": f, "outcome": "not installed", "ok": False, "reason": ""} for f in features]
    lines = []
    for found in (_try(peer, "compilation"), *(_try(peer, feature) for feature in features)):
        print(f"{name:22} {found['feature']:60} {found['outcome']:8} {found['reason']}", file=sys.stderr)
        lines.append(line | found)
    return lines[1:]


def _try(peer: Peer, name: str) -> Line:
    """Return outcome and reason of one probe in a process of its own, forked before any peer is imported."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_probe, args=(peer, name, sender))
    process.start()
    sender.close()
    seconds = SECONDS_OF.get(name, SECONDS)
    try:
        outcome, reason = receiver.recv() if receiver.poll(seconds) else ("timeout", f"{seconds} s")
    except EOFError:
        process.join()
        outcome, reason = "crash", f"exit code {process.exitcode}"
    process.kill()
    process.join()
    ok = outcome not in ("no", "wrong", "crash", "timeout")
    return {"feature": name, "ok": ok, "outcome": outcome, "reason": reason}


def _probe(peer: Peer, name: str, sender: Any) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.environ.update(ONE_THREAD)
    warnings.simplefilter("ignore")
    try:
        remark = FEATURES.get(name, _compile)(peer)
    except AbsentError as error:
        sender.send(("no", str(error)))
    except BrokenError as error:
        sender.send(("no" if name in UNPROMISED else "wrong", str(error)))
    except Exception as error:  # any failure is a result
        outcome = "no" if isinstance(error, REFUSALS) else "crash"
        sender.send((outcome, f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]))
    else:
        figures = isinstance(remark, str) and name in SECONDS_OF
        sender.send((remark.split()[0] if figures else "yes", remark or peer.remarks.get(name, "")))


def _compile(peer: Peer) -> None:
    for kind in (np.float64, np.float32):
        peer.labels(blobs()[0].astype(kind))


def store(lines: Sequence[Line]) -> None:
    """Put lines in the place of the earlier ones of the same probes."""
    results = read_results() | {(line["feature"], line["peer"]): line for line in lines}
    order = [(name, peer) for peer in PEERS for name in FEATURES if (name, peer) in results]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("".join(json.dumps(results[key]) + "\n" for key in order))


def read_results() -> dict[tuple[str, str], Line]:
    """Return the stored lines by feature and peer."""
    return {(line["feature"], line["peer"]): line for line in read_lines(RESULTS)}


def table() -> str:
    """Markdown of the stored results: a row a feature, a column a peer."""
    results = read_results()
    peers = {peer: line["version"] for (_, peer), line in results.items()}
    features = list(dict.fromkeys(name for name, _ in results))
    rows = [[name, *(results.get((name, peer), {}).get("outcome", "") for peer in peers)] for name in features]
    return markdown(["feature", *(f"{peer} {number or ''}".strip() for peer, number in peers.items())], rows)


def reasons() -> str:
    """Markdown of what was promised and not kept, and of remarks."""
    lines = [line for line in read_results().values() if line["reason"] and line["outcome"] != "no"]
    return markdown(
        ["feature", "peer", "outcome", "reason"],
        [[line[key].replace("|", "/") for key in ("feature", "peer", "outcome", "reason")] for line in lines],
    )


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks features", description=__doc__)
    parser.add_argument("--peers", nargs="+", choices=PEERS, help="only these peers", metavar="PEER")
    parser.add_argument("--features", nargs="+", choices=FEATURES, help="only these features", metavar="FEATURE")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--reasons", action="store_true", help="print why cells are neither yes nor no")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
