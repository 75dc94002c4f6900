"""Layers and exact sizes from one fit."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.cutting import whole_sizes

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]
UNEVEN, Y = make_blobs([120, 60, 20], 2, centers=[[0, 0], [5, 0], [0, 5]], random_state=3)
NESTED = [[x + dx, y + dy] for x, y in ((0, 0), (40, 0), (0, 40)) for dx, dy in ((0, 0), (5, 0), (0, 5))]


@pytest.fixture(scope="module")
def nested():
    return GIT().fit(make_blobs(900, centers=NESTED, cluster_std=0.6, random_state=0)[0])


def test_layers_are_the_best_numbers_of_clusters(nested):
    table, layers = nested.n_clusters_scores_, nested.layers()
    numbers = [layer.n_clusters for layer in layers]
    assert {3, 9, nested.n_clusters_} <= set(numbers) <= set(table["n_clusters"][table["rank"] > 0].tolist())
    assert [layer.score for layer in layers] == [table["score"][n - 1] for n in numbers]


def test_every_cluster_lies_in_its_parent(nested):
    layers = nested.layers([3, 9, 20])
    assert (layers[0].parents == -1).all()
    for above, layer in pairwise(layers):
        np.testing.assert_array_equal(layer.parents[layer.labels], above.labels)
        assert [name.rpartition(".")[0] for name in layer.names] == [above.names[parent] for parent in layer.parents]
        assert len(set(layer.names)) == layer.n_clusters
        np.testing.assert_array_equal(layer.sizes, np.bincount(layer.labels))


def test_noise_stays_noise():
    model = GIT(3, noise=0.1).fit(X)
    coarse, fine = model.layers([2, 3])
    np.testing.assert_array_equal(fine.labels, model.labels_)
    exact = model.cut(proportions=[2, 1, 1], exact=True)
    for labels in (coarse.labels, exact, model.cut(n_clusters=2)):
        np.testing.assert_array_equal(labels == -1, model.labels_ == -1)
    assert np.bincount(exact[exact >= 0]).tolist() == [90, 45, 45]


def test_layers_need_numbers_or_scores():
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        GIT(3).fit(X).layers()
    with pytest.raises(ValueError, match="variant"):
        GIT(3, variant="paper").fit(X).layers([2])


@pytest.mark.parametrize("proportions", [[6, 3, 1], [1, 1, 1], [150, 45, 5], [80, 20]])
def test_exact_sizes_are_met(proportions):
    model = GIT(proportions=[6, 3, 1]).fit(UNEVEN)
    labels = model.cut(proportions=proportions, exact=True)
    assert np.bincount(labels).tolist() == whole_sizes(np.array(proportions) / sum(proportions), 200).tolist()
    np.testing.assert_array_equal(model.cut(exact=True), model.labels_)  # these are met already


def test_samples_nearest_to_the_other_cluster_move_first():
    line = np.concatenate([np.arange(40.0), np.arange(100.0, 130.0)])[:, None]
    model = GIT(2).fit(line)
    labels = model.cut(proportions="equal", n_clusters=2, exact=True)
    assert np.flatnonzero(labels != model.labels_).tolist() == [35, 36, 37, 38, 39]


@pytest.mark.parametrize("distance", [1e-6, 1e3, 1e15])
def test_exact_sizes_of_far_clusters(distance):
    blobs = make_blobs([50, 40, 30, 20, 10, 10], 2, centers=distance * np.arange(12).reshape(6, 2), random_state=0)[0]
    labels = GIT(6).fit(blobs).cut(n_clusters=6, proportions="equal", exact=True)
    assert sorted(np.bincount(labels).tolist()) == [26, 26, 27, 27, 27, 27]
    graph = kneighbors_graph(np.concatenate([UNEVEN[Y == 0], UNEVEN[Y == 1] + distance]), 12, mode="distance")
    model = GIT(2, metric="precomputed_graph").fit(graph)  # no path leads from one cluster to the other
    assert np.bincount(model.cut(proportions=[1, 1], exact=True)).tolist() == [90, 90]


@pytest.mark.parametrize(
    ("model", "options", "parameter"),
    [
        (GIT(3).fit(UNEVEN), {}, "proportions"),
        (GIT(3).fit(UNEVEN), {"n_clusters": 3}, "proportions"),
        (GIT(3).fit(UNEVEN, sample_weight=np.full(200, 1.5)), {"proportions": [1, 1, 1]}, "sample_weight"),
        (GIT(3).fit(UNEVEN, must_link=[(0, 1)]), {"proportions": [1, 1, 1]}, "links"),
        (GIT(3, metric="precomputed").fit(np.abs(X[:, :1] - X[:, 0])), {"proportions": [1, 1]}, "metric"),
        (GIT(1, n_neighbors=15).fit(X[:20]), {"proportions": np.ones(19)}, "proportions"),
    ],
)
@pytest.mark.filterwarnings("ignore:Found")
def test_errors_of_exact_sizes(model, options, parameter):
    with pytest.raises(ValueError, match=parameter):
        model.cut(**options, exact=True)
