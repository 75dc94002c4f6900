"""Layers from one fit."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]
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
    for labels in (coarse.labels, model.cut(n_clusters=2), model.cut(proportions=[2, 1, 1])):
        np.testing.assert_array_equal(labels == -1, model.labels_ == -1)


def test_layers_need_numbers_or_scores():
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        GIT(3).fit(X).layers()
    with pytest.raises(ValueError, match="variant"):
        GIT(3, variant="paper").fit(X).layers([2])
