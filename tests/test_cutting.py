"""Other clusters from the same topo-graph."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT, cut_edges, cut_hierarchy, git_clusters
from gitcluster.constraints import gather_constraints
from gitcluster.edge_cutting import cut_by_width, equal_shares, share_distance
from gitcluster.fitted.attributes import apply_cut
from gitcluster.fitted.cutting import cut_again, is_fitted_prior

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]
SHARES = np.array([0.7, 0.2, 0.1])


@pytest.fixture(scope="module")
def found():
    return git_clusters(X, n_clusters=4)


def test_another_number_is_a_cut_of_the_hierarchy(found):
    for number in (1, 2, 6):
        expected = cut_hierarchy(found.hierarchy, found.topo_graph, n_clusters=number)
        np.testing.assert_array_equal(cut_again(found, number, None), expected)
    np.testing.assert_array_equal(apply_cut(found, cut_again(found, 4, None)), found.labels)


def test_a_prior_takes_the_nearer_of_linkage_and_sweep(found):
    graph = found.topo_graph
    ways = [cut_hierarchy(found.hierarchy, graph, n_clusters=3), cut_by_width(graph, SHARES).labels]
    nearest = min(share_distance(graph, way, SHARES) for way in ways)
    labels = cut_again(found, 3, SHARES)
    assert share_distance(graph, labels, SHARES) == pytest.approx(nearest)
    assert any(np.array_equal(labels, way) for way in ways)


@pytest.mark.parametrize("variant", ["paper", "authors"])
def test_variants_without_a_hierarchy_sweep_as_they_did(variant):
    found = git_clusters(X, n_clusters=4, variant=variant)
    for prior in (SHARES, None):
        shares = equal_shares(3) if prior is None else prior
        expected = cut_edges(found.topo_graph, proportions=shares, leftover=found.variant.leftover)
        np.testing.assert_array_equal(cut_again(found, 3, prior), expected.labels)


def test_constraints_hold_in_every_cut():
    constraints = gather_constraints(200, must_link=[(0, 1)], cannot_link=[(2, 3)], max_cluster_size=120, n_clusters=4)
    found = git_clusters(X, n_clusters=4, constraints=constraints)
    for number, prior in ((2, None), (3, SHARES), (5, None)):
        local = cut_again(found, number, prior)
        labels = apply_cut(found, local)
        assert labels[0] == labels[1]
        assert labels[2] != labels[3]
        assert np.bincount(labels).max() <= 120
        assert local.max() + 1 == number


def test_noise_stays_noise():
    found = git_clusters(X, n_clusters=4, noise=0.1)
    labels = apply_cut(found, cut_again(found, 2, None))
    np.testing.assert_array_equal(labels == -1, found.labels == -1)
    assert set(labels) == {-1, 0, 1}
    copy = apply_cut(found, None)
    np.testing.assert_array_equal(copy, found.labels)
    assert copy is not found.labels


def test_the_prior_of_the_fit_is_known_again(found):
    assert is_fitted_prior(found, 4, None)
    assert not is_fitted_prior(found, 3, None)
    assert not is_fitted_prior(found, 4, equal_shares(4))
    told = git_clusters(X, proportions=SHARES)
    assert is_fitted_prior(told, 3, SHARES)
    assert not is_fitted_prior(told, 3, None)


def test_one_way_within_the_bounds_is_enough():
    model = GIT(3, min_cluster_size=5, max_cluster_size=25).fit(np.random.default_rng(125).normal(size=(60, 2)))
    assert np.bincount(model.cut(n_clusters=3)).max() <= 25
    assert np.bincount(model.cut(proportions=[2, 1, 1])).max() <= 25
