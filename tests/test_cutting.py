"""Other clusters from the topo-graph of a fit."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT, proportion_distance

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]
SHARES = np.array([0.7, 0.2, 0.1])


def distance_to(labels, shares=SHARES):
    """Return the distance of the proportions of clusters to shares."""
    return proportion_distance(np.bincount(labels) / len(labels), shares)


def test_a_cut_by_proportions_is_closer_to_them():
    model = GIT(4).fit(X)
    assert distance_to(model.cut(proportions=SHARES)) < distance_to(model.cut(n_clusters=3))
    equal = model.cut(n_clusters=4, proportions="equal")
    assert distance_to(equal, [0.25] * 4) <= distance_to(model.labels_, [0.25] * 4) + 1e-9


@pytest.mark.parametrize("variant", ["paper", "authors"])
def test_published_variants_sweep_as_in_the_fit(variant):
    model = GIT(4, variant=variant).fit(X)
    for prior in ({"proportions": SHARES}, {"n_clusters": 3}):
        np.testing.assert_array_equal(model.cut(**prior), GIT(variant=variant, **prior).fit_predict(X))


def test_constraints_hold_in_every_cut():
    model = GIT(4, max_cluster_size=120).fit(X, must_link=[(0, 1)], cannot_link=[(2, 3)])
    for prior in ({"n_clusters": 2}, {"proportions": SHARES}, {"n_clusters": 5}):
        labels = model.cut(**prior)
        assert labels[0] == labels[1]
        assert labels[2] != labels[3]
        assert np.bincount(labels).max() <= 120
        assert labels.max() + 1 == len(prior.get("proportions", range(prior.get("n_clusters", 3))))


def test_noise_stays_noise():
    model = GIT(4, noise=0.1).fit(X)
    labels = model.cut(n_clusters=2)
    np.testing.assert_array_equal(labels == -1, model.labels_ == -1)
    assert set(labels) == {-1, 0, 1}
    copy = model.cut(n_clusters=4)
    np.testing.assert_array_equal(copy, model.labels_)
    assert copy is not model.labels_
