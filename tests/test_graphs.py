"""Neighbours that users bring: sparse graphs, indices and distances."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from gitcluster import GIT, scale_features
from gitcluster.preprocessing.sources import check_graph, graph_neighbors

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]


def as_dict(graph):
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return {(i, j): d for i, j, d in zip(rows.tolist(), graph.indices.tolist(), graph.data.tolist(), strict=True)}


def test_a_matrix_and_a_tuple_are_one_graph():
    distances, indices = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    from_arrays, from_matrix = check_graph((indices, distances)), check_graph(kneighbors_graph(X, 5, mode="distance"))
    assert as_dict(from_arrays) == pytest.approx(as_dict(from_matrix))


def test_of_several_distances_the_shortest_stays_and_infinite_ones_go():
    graph = check_graph(
        (np.array([[1, 1, 2], [0, -1, 2], [0, 1, 1]]), np.array([[3, 1, np.inf], [2, 5, 4], [6, 7, 7]]))
    )
    assert as_dict(graph) == {(0, 1): 1, (1, 0): 2, (1, 2): 4, (2, 0): 6, (2, 1): 7}


def test_a_distance_of_zero_is_a_distance():
    graph = csr_array((np.array([0.0, 2.0]), (np.array([0, 0]), np.array([1, 2]))), shape=(3, 3))
    assert as_dict(check_graph(graph)) == {(0, 1): 0, (0, 2): 2}


def test_neighbours_are_nearest_first_and_empty_places_are_far():
    graph = check_graph(
        (np.array([[2, 1, 0], [2, 0, -1], [-1, -1, -1]]), np.array([[1, 1, 0], [5, 2, 9], [1, 1, 1.0]]))
    )
    near = graph_neighbors(graph)
    assert near.indices.tolist() == [
        [1, 2, 0],
        [0, 2, 1],
        [2, 2, 2],
    ]  # links by index; never itself, but for what is empty
    assert near.distances.tolist() == [[1, 1, np.inf], [2, 5, np.inf], [np.inf] * 3]
    assert graph_neighbors(graph, n_neighbors=1).indices.tolist() == [[1], [0], [2]]
    assert graph_neighbors(graph, n_neighbors=9).indices.shape == (3, 3)


def test_new_rows_may_have_the_column_of_their_own_number():
    graph = check_graph((np.array([[0, 3]]), np.array([[1.0, 2.0]])), n_fitted=4)
    assert graph.shape == (1, 4)
    assert graph_neighbors(graph, same=False).indices.tolist() == [[0, 3]]
    with pytest.raises(ValueError, match="of 5 columns, one per fitted sample"):
        check_graph(graph, n_fitted=5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_precision_is_kept_and_whole_numbers_become_floats(dtype):
    graph = check_graph((np.array([[1], [0]]), np.array([[2], [2]], dtype=dtype)))
    assert graph.dtype == (np.float64 if dtype == np.int64 else dtype)
    assert graph_neighbors(graph).distances.dtype == graph.dtype


def test_a_graph_is_as_good_as_the_samples():
    points = scale_features(X)
    direct = GIT(3, n_neighbors=8).fit(X)
    graph = kneighbors_graph(points, 16, mode="distance")
    distances, indices = NearestNeighbors(n_neighbors=17).fit(points).kneighbors()
    for given in (graph, graph.tocoo(), (indices, distances)):
        model = GIT(3, n_neighbors=8, metric="precomputed_graph").fit(given)
        assert adjusted_rand_score(direct.labels_, model.labels_) > 0.99
        np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_new_rows_of_a_graph():
    index = NearestNeighbors(n_neighbors=20).fit(X)
    distances, indices = index.kneighbors()
    model = GIT(3, metric="precomputed_graph").fit((indices, distances))
    fresh, truth = make_blobs([15, 10, 5], 3, cluster_std=1.2, random_state=1)
    distances, indices = index.kneighbors(fresh)
    labels = model.predict((indices, distances))
    assert adjusted_rand_score(truth, labels) > 0.8
    indices[0] = -1
    assert model.predict((indices, distances))[0] == -1  # no neighbour, nothing known


def test_ragged_and_disconnected_graphs():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 50])
    graph = kneighbors_graph(points, 12, mode="distance").tolil()
    for row in range(0, 120, 3):
        graph[row, graph.rows[row][: row % 11]] = 0  # lil drops zeros
    graph[7] = 0
    model = GIT(2, metric="precomputed_graph").fit(csr_array(graph))
    assert model.n_connected_components_ >= 2
    truth = np.repeat([0, 1], 60)
    keep = np.arange(120) != 7
    assert adjusted_rand_score(truth[keep], model.labels_[keep]) == 1


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (csr_array(-np.eye(4)[::-1]), "distances >= 0"),
        (csr_array(np.full((4, 4), np.nan)), "distances >= 0"),
        (csr_array(np.ones((4, 3))), "square"),
        (np.ones((4, 4)), "precomputed_graph"),
        ((np.ones((4, 2), int), np.ones((4, 3))), "one shape"),
        ((np.ones((4, 2)), np.ones((4, 2))), "integers"),
        ((np.full((4, 2), 4), np.ones((4, 2))), "from 0 to 3"),
        ((np.full((4, 2), -2), np.ones((4, 2))), "from 0 to 3"),
        (([[1], [0, 1]], [[1.0], [1.0, 1.0]]), "different lengths"),
    ],
)
def test_wrong_graphs_are_named(graph, message):
    with pytest.raises(ValueError, match=message):
        GIT(2, metric="precomputed_graph").fit(graph)
