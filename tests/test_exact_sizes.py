"""Clusters of exactly the sizes of a prior, against an assignment problem solved at full length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs, make_moons
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.exact_sizes import measure_ways, whole_sizes
from gitcluster.kernels import linkage

X, y = make_blobs([120, 60, 20], 2, centers=[[0, 0], [5, 0], [0, 5]], random_state=3)
MODEL = GIT(proportions=[6, 3, 1]).fit(X)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_samples_move_at_the_least_cost(seed, n_clusters):
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 6, size=(24, n_clusters))
    labels = rng.integers(0, n_clusters, size=24)
    costs[np.arange(24), labels] = 0
    wanted = np.bincount(rng.integers(0, n_clusters, size=24), minlength=n_clusters)
    linkage.move_samples(labels, costs, np.arange(24), wanted)
    assert np.bincount(labels, minlength=n_clusters).tolist() == wanted.tolist()
    places = np.repeat(np.arange(n_clusters), wanted)
    least = costs[:, places][linear_sum_assignment(costs[:, places])].sum()
    assert costs[np.arange(24), labels].sum() == pytest.approx(least)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=9), st.integers(10, 1000))
def test_whole_sizes_add_up(shares, n_samples):
    prior = np.sort(shares)[::-1] / sum(shares)
    sizes = whole_sizes(prior, n_samples)
    assert sizes.sum() == n_samples
    assert np.abs(sizes - prior * n_samples).max() < 1


@pytest.mark.parametrize("proportions", [[6, 3, 1], [1, 1, 1], [150, 45, 5], [80, 20]])
def test_sizes_are_met(proportions):
    labels = MODEL.cut(proportions=proportions, exact=True)
    assert np.bincount(labels).tolist() == whole_sizes(np.array(proportions) / sum(proportions), 200).tolist()


def test_what_fits_already_stays():
    np.testing.assert_array_equal(MODEL.cut(exact=True), MODEL.labels_)
    np.testing.assert_array_equal(np.bincount(MODEL.labels_), [120, 60, 20])


def test_samples_nearest_to_the_other_cluster_move_first():
    line = np.concatenate([np.arange(40.0), np.arange(100.0, 130.0)])[:, None]
    model = GIT(2).fit(line)
    labels = model.cut(proportions="equal", n_clusters=2, exact=True)
    assert np.flatnonzero(labels != model.labels_).tolist() == [35, 36, 37, 38, 39]


@pytest.mark.parametrize("distance", [1e-6, 1e3, 1e9, 1e15])
def test_clusters_as_far_apart_as_you_like(distance):
    blobs = make_blobs([50, 40, 30, 20, 10, 10], 2, centers=distance * np.arange(12).reshape(6, 2), random_state=0)[0]
    labels = GIT(6).fit(blobs).cut(n_clusters=6, proportions="equal", exact=True)
    assert sorted(np.bincount(labels).tolist()) == [26, 26, 27, 27, 27, 27]


def test_the_order_of_rows_does_not_matter():
    moons = make_moons(300, noise=0.1, random_state=0)[0]
    order = np.random.default_rng(0).permutation(300)
    labels = [GIT(proportions=[2, 1]).fit(some).cut(exact=True) for some in (moons, moons[order])]
    np.testing.assert_array_equal(labels[0][order], labels[1])


def test_noise_stays_noise_and_is_not_counted():
    model = GIT(proportions=[2, 1, 1], noise=0.1).fit(X)
    labels = model.cut(exact=True)
    np.testing.assert_array_equal(labels < 0, model.labels_ < 0)
    assert np.bincount(labels[labels >= 0]).tolist() == [90, 45, 45]


def test_components_without_a_way_between_them():
    graph = kneighbors_graph(np.concatenate([X[y == 0], X[y == 1] + 1e4]), 12, mode="distance")
    model = GIT(2, metric="precomputed_graph").fit(graph)
    assert np.bincount(model.cut(proportions=[1, 1], exact=True)).tolist() == [90, 90]
    assert np.isfinite(measure_ways(model.clustering_, model.labels_, 2)).all()


@pytest.mark.parametrize(
    ("model", "asked", "message"),
    [
        (GIT(3).fit(X), {}, "needs proportions"),
        (GIT(3).fit(X), {"n_clusters": 3}, "needs proportions"),
        (GIT(3).fit(X, sample_weight=np.full(200, 1.5)), {"proportions": [1, 1, 1]}, "without weights"),
        (GIT(3).fit(X, must_link=[(0, 1)]), {"proportions": [1, 1, 1]}, "break links"),
        (GIT(3, metric="precomputed").fit(np.abs(X[:, :1] - X[:, 0])), {"proportions": [1, 1]}, "precomputed_graph"),
    ],
)
def test_what_cannot_be_done_is_named(model, asked, message):
    with pytest.raises(ValueError, match=message):
        model.cut(**asked, exact=True)


def test_more_sizes_than_clusters():
    model = GIT(1, n_neighbors=15).fit(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.warns(UserWarning, match="intensity peak"), pytest.raises(ValueError, match="Ask for fewer clusters"):
        model.cut(proportions=np.ones(19), exact=True)
