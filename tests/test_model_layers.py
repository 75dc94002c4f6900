"""Layers of a model: few, nested, and chosen by the scores of the numbers of clusters."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT

CENTERS = [[x + dx, y + dy] for x, y in ((0, 0), (40, 0), (0, 40)) for dx, dy in ((0, 0), (5, 0), (0, 5))]


@pytest.fixture(scope="module")
def model():
    return GIT().fit(make_blobs(900, centers=CENTERS, cluster_std=0.6, random_state=0)[0])


def test_layers_are_the_numbers_that_the_scores_rank(model):
    table = model.n_clusters_scores_
    numbers = [layer.n_clusters for layer in model.layers()]
    assert model.n_clusters_ in numbers
    assert {3, 9} <= set(numbers) <= set(table["n_clusters"][table["rank"] > 0].tolist())
    assert [layer.score for layer in model.layers()] == [table["score"][n - 1] for n in numbers]


def test_every_cluster_lies_in_its_parent_and_is_named_by_it(model):
    layers = model.layers([3, 9, 20])
    assert (layers[0].parents == -1).all()
    for before, layer in pairwise(layers):
        np.testing.assert_array_equal(layer.parents[layer.labels], before.labels)
        assert all(
            name.startswith(before.names[parent] + ".") for name, parent in zip(layer.names, layer.parents, strict=True)
        )
        assert len(set(layer.names)) == layer.n_clusters
        np.testing.assert_array_equal(layer.sizes, np.bincount(layer.labels))


def test_the_layer_of_the_fit_has_its_labels_and_its_noise():
    X = make_blobs(300, centers=3, random_state=0)[0]
    model = GIT(3, noise=0.05).fit(X)
    coarse, fine = model.layers([2, 3])
    np.testing.assert_array_equal(fine.labels, model.labels_)
    np.testing.assert_array_equal(coarse.labels == -1, model.labels_ == -1)


def test_a_fit_that_was_told_its_number_needs_numbers():
    X = make_blobs(60, centers=3, random_state=0)[0]
    with pytest.raises(ValueError, match=r"layers\(\[3, 8\]\)"):
        GIT(3).fit(X).layers()
    with pytest.raises(ValueError, match="makes no hierarchy"):
        GIT(3, variant="paper").fit(X).layers([2])
