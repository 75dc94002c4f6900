"""Cluster half-samples of the data, to see which clusters another sample would show as well.

Every draw is clustered exactly as the model was: with the same parameters, and with a new choice of the representation
and of the number of clusters. Hennig (2007, "Cluster-wise assessment of cluster stability") compares every cluster with
the most similar one of each draw, by the Jaccard coefficient of their rows. The same is done for tables whose columns
were shuffled independently. They have the same columns but no relation between them, and so show what chance achieves.
Other methods do not vote on these: they would nearly always be asked, for as long as four fits, and hardly change the
figures.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_integer, check_n_jobs
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.cutting import cut_again
from gitcluster.fitted.stability import DISSOLVED, Stability
from gitcluster.fitted.traits import restore_features
from gitcluster.kernels import limit_threads, run_threads
from gitcluster.pipeline import git_clusters
from gitcluster.preprocessing.sources import Distances, NeighborGraph, Points, Source, check_source
from gitcluster.selection import compare_labels

MIN_ROWS = 40
"""Half of fewer rows cannot show clusters: the smallest neighbourhoods are large parts of the draw."""
MAX_DRAWN, ROWS_PER_CLUSTER = 1000, 50
"""Rows of a draw from a large table, and those of an average cluster in it. Other methods vote on as many rows."""
GRAPH_SHARE = 0.8
"""Share of a graph's samples in a draw, which also is the share of its neighbours that a sample keeps."""
DRAWS_PER_NULL, MIN_NULL = 8, 4
"""Number of draws per shuffled table, and the smallest number of tables. A table costs two fits."""


def measure_stability(
    clustering: Clustering,
    X: Any = None,
    *,
    parameters: dict[str, Any],
    n_draws: int = 50,
    random_state: Any = 0,
    n_jobs: int | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Stability:
    """Compare the clusters of a fit with those of half-samples of its data.

    Parameters
    ----------
    clustering : Clustering
    X : array-like, sparse matrix or data frame, default=None
        The fitted data. Needed for distances, and if the model stores transformed features only.
    parameters : dict
        ``variant``, ``metric``, ``n_neighbors`` and ``scale`` of the fit.
    n_draws : int, default=50
    random_state : int, RandomState instance or None, default=0
    n_jobs : int, default=None
        Number of draws at a time. The result does not depend on it.
    report : callable
        Called with the number of finished fits and the number of all fits.
    """
    n_draws = check_integer("n_draws", n_draws, low=2)
    check_n_jobs(n_jobs)
    training, n_clusters = clustering.fitted, clustering.n_clusters
    n_fitted = training.source.n_samples
    if n_fitted < MIN_ROWS:
        raise ValueError(f"stability needs at least {MIN_ROWS} rows, got {n_fitted}. Half of them show no groups.")
    if clustering.n_requested == 1:
        raise ValueError("stability needs two or more clusters, got a model of n_clusters=1.")
    source, scale = _fitted_data(clustering, X, parameters["scale"])
    size = min(n_fitted // 2, max(MAX_DRAWN, ROWS_PER_CLUSTER * n_clusters))
    size = int(GRAPH_SHARE * n_fitted) if isinstance(source, NeighborGraph) else size
    if n_clusters > size // 4:
        raise ValueError(f"stability needs fewer clusters, got {n_clusters} and draws of {size} rows.")
    n_neighbors = parameters["n_neighbors"]
    options = parameters | {
        "scale": scale,
        "n_neighbors": n_neighbors if isinstance(n_neighbors, str) else min(n_neighbors, size - 1),
        "n_clusters": "auto" if clustering.n_requested is None else clustering.n_requested,
        "proportions": clustering.prior,
        "n_jobs": 1,
    }
    has_columns = isinstance(source, Points) and not issparse(source.values)
    n_null = max(MIN_NULL, n_draws // DRAWS_PER_NULL) if has_columns and n_clusters > 1 else 0
    seeds = check_random_state(random_state).randint(2**31, size=n_draws + n_null).tolist()
    finished = itertools.count(1)

    def cluster(some: Source, **more: Any) -> Clustering:
        with np.errstate(all="ignore"):
            result = git_clusters(some, **options, **more)
        report(next(finished), n_draws + 2 * n_null)
        return result

    def draw(seed: int) -> tuple[Array, Array, int]:
        """Return some rows, their clusters, and the number of clusters."""
        rows = np.random.RandomState(seed).permutation(n_fitted)[:size]
        weights = None if training.weights is None else training.weights[rows]
        result = cluster(source.take(rows), sample_weight=weights)
        return rows, result.labels, result.n_clusters

    def draw_shuffled(seed: int) -> float:
        """Return the agreement of a shuffled table and half of it."""
        random = np.random.RandomState(seed)
        assert isinstance(source, Points)
        table = _shuffle(source.take(random.permutation(n_fitted)[: 2 * size]), random)
        some = random.permutation(table.n_samples)[:size]
        whole, half = (cluster(part, second_opinion=False) for part in (table, table.take(some)))
        return _agreement(_cut_into(whole, n_clusters)[some], _cut_into(half, n_clusters))

    with limit_threads(1):
        draws = run_threads(draw, seeds[:n_draws], n_jobs)
        null = run_threads(draw_shuffled, seeds[n_draws:], n_jobs)
    return replace(compare_draws(clustering, draws), null_agreement=np.array(null, np.float64))


def compare_draws(clustering: Clustering, draws: list[tuple[Array, Array, int]]) -> Stability:
    """Compare the fitted samples of every draw, their clusters and the number of these with the clusters of the fit."""
    training, edges, n_clusters = clustering.fitted, clustering.topo_graph.edges, clustering.n_clusters
    local, n_local = training.local_labels, len(training.clusters)
    clusters = training.clusters[local]  # noise has the cluster of its local cluster
    jaccard, agreement = np.zeros((len(draws), n_clusters)), np.zeros(len(draws))
    stays, drawn = np.zeros(len(local)), np.zeros(len(local))
    cut, compared = np.zeros(len(edges)), np.zeros(len(edges))
    for i, (rows, labels, number) in enumerate(draws):
        own = clusters[rows]
        jaccard[i], partner = _match(own, labels, n_clusters)
        agreement[i] = _agreement(own, labels)
        drawn[rows] += 1
        stays[rows] += labels == partner[own]
        counts = np.zeros((n_local, number), np.int32)
        np.add.at(counts, (local[rows], labels), 1)
        ends, seen = counts.argmax(axis=1)[edges], (counts.sum(axis=1) > 0)[edges].all(axis=1)
        compared += seen
        cut += seen & (ends[:, 0] != ends[:, 1])
    seen = (~np.isnan(jaccard)).sum(axis=0)
    with np.errstate(invalid="ignore"):  # NaN for what was never drawn
        similarity, dissolved = np.nansum(jaccard, axis=0) / seen, (jaccard < DISSOLVED).sum(axis=0) / seen
        survival = cut / compared
        of_clusters, of_local = (
            np.bincount(groups, stays, minlength=n) / np.bincount(groups, drawn, minlength=n)
            for groups, n in ((clusters, n_clusters), (local, n_local))
        )
    of_local = np.where(np.isnan(of_local), of_clusters[training.clusters], of_local)
    # One more draw, with the share of the local cluster, steadies samples that were drawn rarely or never.
    samples = (stays + of_local[local]) / (drawn + 1)
    if training.copies is not None:  # samples of weight 0 were not fitted
        samples = np.where(training.copies < 0, of_local[clustering.local_labels], samples[training.copies])
    if n_clusters == 1:
        similarity, dissolved, samples = (np.full_like(values, np.nan) for values in (similarity, dissolved, samples))
    return Stability(
        draw_size=len(draws[0][0]),
        is_chosen=clustering.n_requested is None,
        sizes=np.bincount(clustering.labels[clustering.labels >= 0], minlength=n_clusters),
        numbers=np.array([number for _, _, number in draws]),
        agreement=agreement,
        clusters=similarity,
        dissolved=dissolved,
        samples=samples,
        edges=survival,
        null_agreement=np.empty(0),
        ids=clustering.cluster_ids,
        titles=tuple(map(clustering.title_of, range(n_clusters))),
    )


def _fitted_data(clustering: Clustering, X: Any, scale: Any) -> tuple[Source, Any]:
    """Return the data of the fit in the order of the fitted samples, and the scale for its features."""
    training, columns, n_samples = clustering.fitted, clustering.columns, clustering.n_samples
    source = training.source
    rows = training.given(np.arange(source.n_samples))
    if isinstance(source, NeighborGraph):
        return source, scale
    if isinstance(source, Distances):
        if X is None:
            raise ValueError("X must be given: the model stores no distances. Use model.stability(distances).")
        distances = check_source(X, source.metric)
        if distances.n_samples != n_samples:
            raise ValueError(f"X must be the distances of the {n_samples} fitted rows, got {distances.n_samples} rows.")
        return distances.take(rows), scale
    kinds = None
    if columns is not None and columns.encoded and source.metric == "euclidean":
        kinds = columns.feature_kinds
    if X is not None:
        given: Any = check_source(clustering.encode(clustering.align(X)), source.metric)
        if (given.n_samples, given.n_features) != (n_samples, source.n_features):
            raise ValueError(
                f"X must be the fitted data, {n_samples} rows with {source.n_features} features, got "
                f"{given.n_samples} rows with {given.n_features}."
            )
        values, features = given.values[rows], np.arange(source.n_features)
    elif issparse(source.values) and source.scaling is None:
        values, features = source.values, np.arange(source.n_features)
    else:
        restored = restore_features(source)
        if restored is None:
            raise ValueError("X must be given: the model stores transformed features only. Use model.stability(X).")
        values, features = restored
    if not values.shape[1] or (not issparse(values) and (values == values[0]).all()):
        raise ValueError("stability needs rows that differ, got equal rows only.")
    if scale is not None and not isinstance(scale, str):
        scale = np.asarray(scale)[features]
    kinds = None if kinds is None else kinds.take(features)
    return Points(values, source.metric, given_features=values.shape[1], kinds=kinds), scale


def _shuffle(table: Points, random: np.random.RandomState) -> Points:
    """Return a table with every column in an order of its own; the features of a category have one order."""
    values, n = table.values, table.n_samples
    column = np.arange(values.shape[1]) if table.kinds is None else table.kinds.column
    orders = {number: random.permutation(n) for number in np.unique(column).tolist()}
    return replace(table, values=np.column_stack([values[orders[c], i] for i, c in enumerate(column.tolist())]))


def _cut_into(fit: Clustering, n_clusters: int) -> Array:
    """Return labels for this number of clusters."""
    if fit.n_clusters == n_clusters or fit.hierarchy is None:
        return fit.labels
    return cut_again(fit, n_clusters, None)[fit.local_labels]


def _match(labels: Array, others: Array, n_clusters: int) -> tuple[NDArray[np.float64], Array]:
    """Return the Jaccard coefficient of every cluster and the most similar other one, NaN if empty, and the other.

    Examples
    --------
    >>> _match(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 2)
    (array([0.66666667, 0.5       ]), array([1, 0]))
    """
    common = np.zeros((n_clusters, int(others.max()) + 1))
    np.add.at(common, (labels, others), 1.0)
    own = common.sum(axis=1)
    with np.errstate(invalid="ignore"):
        jaccard = common / (own[:, None] + common.sum(axis=0) - common)
    best = jaccard.argmax(axis=1)
    return np.where(own > 0, jaccard[np.arange(n_clusters), best], np.nan), best


def _agreement(labels: Array, others: Array) -> float:
    """Return the adjusted Rand index of two clusterings, 0 if it is below chance."""
    return float(compare_labels([labels, others])[0, 1])
