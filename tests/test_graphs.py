"""Graphs of neighbours as input: sparse matrices, or indices and distances; tests/reliability has odd ones."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from gitcluster import GIT, scale_features

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]


def fit(graph, n_clusters=3, **options):
    """Fit GIT to a graph."""
    return GIT(n_clusters, metric="precomputed_graph", **options).fit(graph)


def test_a_graph_is_as_good_as_the_samples():
    points = scale_features(X)
    direct = GIT(3, n_neighbors=8).fit(X)
    graph = kneighbors_graph(points, 16, mode="distance")
    distances, indices = NearestNeighbors(n_neighbors=16).fit(points).kneighbors()
    matrix, pair = fit(graph, n_neighbors=8), fit((indices, distances), n_neighbors=8)
    np.testing.assert_array_equal(matrix.labels_, pair.labels_)
    np.testing.assert_allclose(matrix.log_intensity_, pair.log_intensity_)
    assert adjusted_rand_score(direct.labels_, matrix.labels_) > 0.99
    np.testing.assert_array_equal(matrix.predict(graph.tocoo()), matrix.labels_)


def test_explicit_zeros_are_distances():
    groups = np.repeat(np.arange(3), 10)
    rows, columns = np.nonzero((groups[:, None] == groups) & ~np.eye(30, dtype=bool))
    graph = csr_array((np.zeros(len(rows)), (rows, columns)), shape=(30, 30))
    assert adjusted_rand_score(fit(graph).labels_, groups) == 1


def test_new_rows_of_a_graph():
    index = NearestNeighbors(n_neighbors=20).fit(X)
    distances, indices = index.kneighbors()
    model = fit((indices, distances))
    new, truth = make_blobs([15, 10, 5], 3, cluster_std=1.2, random_state=1)
    distances, indices = index.kneighbors(new)
    assert adjusted_rand_score(truth, model.predict((indices, distances))) > 0.8
    indices[0] = -1
    assert model.predict((indices, distances))[0] == -1  # no neighbour
