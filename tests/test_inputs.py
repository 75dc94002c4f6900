"""Weights, graphs, sparse samples, scales, frames, progress."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gitcluster import GIT, find_neighbors, scale_features

X, y = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)
whole = np.random.default_rng(0).integers(0, 4, len(X))


@pytest.mark.parametrize(
    "options", [{}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}], ids=str
)
def test_whole_weights_are_repeated_rows(options):
    weighted = GIT(3, **options).fit(X, sample_weight=whole)
    repeated = GIT(3, **options).fit(np.repeat(X, whole, axis=0))
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(X))
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_)
    assert weighted.labels_.shape == weighted.log_intensity_.shape == weighted.outlier_scores_.shape == (300,)
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)


def test_whole_weights_of_a_matrix_of_distances(tmp_path):
    matrix = pairwise_distances(X)
    model = GIT(3, metric="precomputed").fit(matrix, sample_weight=whole)
    repeated = np.repeat(np.arange(len(X)), whole)
    other = GIT(3, metric="precomputed").fit(matrix[np.ix_(repeated, repeated)])
    np.testing.assert_array_equal(model.labels_[repeated], other.labels_)
    np.testing.assert_array_equal(model.predict(matrix), model.labels_)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(GIT.load(tmp_path / "model.npz").predict(matrix), model.labels_)


def test_other_weights_are_near_to_repeated_rows():
    rows = np.maximum(whole, 1)
    repeated = GIT(3).fit(np.repeat(X, rows, axis=0))
    weighted = GIT(3).fit(X, sample_weight=rows + 1e-9)  # no whole numbers: by weight, not by repetition
    assert adjusted_rand_score(repeated.predict(X), weighted.labels_) > 0.95
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_, atol=0.03)
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)


def test_weights_count_in_proportions():
    weights = np.where(y == 2, 6.5, 1.5)
    model = GIT(3).fit(X, sample_weight=weights)
    shares = [weights[model.labels_ == c].sum() / weights.sum() for c in range(3)]
    np.testing.assert_allclose(model.proportions_, shares)
    assert model.labels_[y == 2].max() == 0  # now the largest


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_wrong_weights_are_named(wrong):
    with pytest.raises(ValueError, match="sample_weight"):
        GIT(3).fit(X, sample_weight=np.full(len(X), wrong))


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = GIT(3).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(
            X, sample_weight=whole
        )
    direct = GIT(3).fit(StandardScaler().fit_transform(X), sample_weight=whole)
    np.testing.assert_array_equal(pipeline[-1].labels_, direct.labels_)


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


def test_sparse_search_equals_the_dense_one():
    sparse = csr_array(random_sparse(200, 30, density=0.2, random_state=0))
    dense = sparse.toarray()
    for scale in (None, "std"):
        a = find_neighbors(scale_features(sparse, scale), n_neighbors=9)
        b = find_neighbors(np.ascontiguousarray(scale_features(dense, scale)), n_neighbors=9)
        np.testing.assert_allclose(a.distances, b.distances, rtol=1e-9, atol=1e-9)
    assert (a.indices == b.indices).mean() > 0.999


def test_scales():
    wide = X * [1, 1, 100]
    np.testing.assert_array_equal(GIT(3).fit(wide).labels_, GIT(3).fit(X).labels_)
    by_hand = GIT(3, scale=1 / wide.std(axis=0)).fit(wide)
    assert adjusted_rand_score(by_hand.labels_, GIT(3).fit(X).labels_) == 1
    dropped = GIT(3, scale=[1, 1, 0]).fit(X)
    without = GIT(3, scale=None).fit(X[:, :2])
    np.testing.assert_array_equal(dropped.labels_, without.labels_)
    for wrong in ("minmax", [1, 2], [1, 1, -1], [1, 1, np.nan]):
        with pytest.raises(ValueError, match="scale must"):
            GIT(3, scale=wrong).fit(X)


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GIT(3).fit(frame)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    polars = pytest.importorskip("polars")
    other = GIT(3).fit(polars.DataFrame({name: frame[name].to_numpy() for name in frame}))
    np.testing.assert_array_equal(other.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(other.labels_, model.labels_)


def test_verbose_tells_the_stages(capsys):
    GIT(3, verbose=True).fit(X)
    told = capsys.readouterr().err
    assert "search" in told
    assert told.rstrip().endswith("done")
    GIT(3).fit(X)
    assert capsys.readouterr().err == ""


def test_callbacks_see_every_stage():
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.begun, self.ended, self.state = [], [], []

        def setup(self, estimator, context):
            self.state.append("setup")

        def teardown(self, estimator, context):
            self.state.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)

    for variant in ("adaptive", "paper", "authors"):
        recorder = Recorder()
        GIT(3, variant=variant).set_callbacks(recorder).fit(X)
        assert recorder.begun[0] == "fit"
        assert {"search", "merge"} < set(recorder.begun)
        assert sorted(recorder.begun) == sorted(recorder.ended)
        assert recorder.state == ["setup", "teardown"]
    recorder = Recorder()
    with pytest.raises(ValueError, match="n_neighbors"):
        GIT(3, n_neighbors=1000).set_callbacks(recorder).fit(X)
    assert clone(GIT(3).set_callbacks(recorder)).n_clusters == 3


def test_a_progress_bar_can_be_drawn(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    GIT(3).set_callbacks(callback.ProgressBar()).fit(X)
    assert "GIT" in capsys.readouterr().out
