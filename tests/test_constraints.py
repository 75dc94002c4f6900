"""Links, partial labels and bounds on sizes hold, in fits, cuts and layers; tests/reliability has wrong ones."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT

X, y = make_blobs([150, 100, 50], 3, cluster_std=1.5, random_state=1)


def links_hold(labels, must_link=(), cannot_link=()):
    """Return whether labels satisfy all links."""
    return all(labels[i] == labels[j] for i, j in must_link) and all(labels[i] != labels[j] for i, j in cannot_link)


def random_links(rng, n_samples, n_pairs=4):
    """Return random links."""
    cannot_link = [(int(i), int(j)) for i, j in rng.integers(0, n_samples, (n_pairs, 2)) if i != j]
    return {"must_link": rng.integers(0, n_samples, (n_pairs, 2)), "cannot_link": cannot_link}


def fit_or_contradiction(model, samples, *arguments, **links):
    """Return the fitted model, or None if an error says that the links cannot be satisfied."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(samples, *arguments, **links)
        except ValueError as error:
            assert any(name in str(error) for name in ("link", "y", "cluster_size"))  # noqa: PT017
            return None


@settings(max_examples=60)
@given(st.data(), st.integers(2, 4), st.integers(0, 999))
def test_links_hold_with_weights_and_duplicates(data, n_clusters, seed):
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 4, (24, 2)).astype(float)
    weights = data.draw(st.sampled_from([rng.integers(0, 3, 24), rng.integers(1, 4, 24), rng.random(24), None]))
    index = st.integers(0, 23)
    pairs = data.draw(st.lists(st.tuples(index, index).filter(lambda pair: pair[0] != pair[1]), max_size=5))
    links = {"must_link": pairs[3:], "cannot_link": pairs[:3]}
    known = np.full(24, -1)
    known[data.draw(st.lists(index, max_size=4))] = 0
    model = fit_or_contradiction(GIT(n_clusters), samples, known, sample_weight=weights, **links)
    if model is not None:
        assert links_hold(model.labels_, **links)
        assert len(set(model.labels_[known == 0])) <= 1
        assert len(np.unique(model.labels_)) == model.n_clusters_
        np.testing.assert_array_equal(model.predict(samples), model.labels_)


def test_links_do_not_reduce_the_number_of_clusters():
    """Local clusters that must be linked count as one, so more of them are needed."""
    for seed in range(60):
        samples = np.random.default_rng(seed).normal(size=(60, 2))
        assert GIT(4).fit(samples, must_link=[(0, 31)], cannot_link=[(0, 1)]).n_clusters_ == 4


@pytest.mark.parametrize("seed", range(8))
def test_the_number_grows_until_links_hold(seed):
    samples = make_blobs(200, 2, centers=3, random_state=seed)[0]
    cannot_link = random_links(np.random.default_rng(seed), 200, 50)["cannot_link"]
    model = GIT().fit(samples, cannot_link=cannot_link)
    assert links_hold(model.labels_, cannot_link=cannot_link)
    model.layers()  # any numbers that the scores rank next
    known = np.full(200, -1)
    known[:6] = np.arange(6)
    assert GIT().fit(samples, known).n_clusters_ >= 6


def test_partial_labels_hold_and_help():
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + [2.2, 0]])
    truth = np.repeat([0, 1], 100)
    known = np.full(200, -1)
    known[::5] = truth[::5]
    without, model = GIT(2).fit(samples), GIT(2).fit(samples, known)
    assert len(set(model.labels_[known == 0])) == len(set(model.labels_[known == 1])) == 1
    assert adjusted_rand_score(truth, model.labels_) > adjusted_rand_score(truth, without.labels_)
    np.testing.assert_array_equal(GIT(2).fit(X, y).labels_, GIT(2).fit(X).labels_)  # a full y is ignored


@pytest.mark.parametrize(
    ("n_clusters", "low", "high"),
    [(3, None, 120), (3, 80, None), (3, 90, 110), ("auto", 120, None), ("auto", None, 70)],
)
def test_sizes_are_within_the_bounds(n_clusters, low, high):
    model = GIT(n_clusters, min_cluster_size=low, max_cluster_size=high).fit(X)
    sizes = np.bincount(model.labels_)
    assert n_clusters in ("auto", len(sizes))
    assert sizes.min() >= (low or 1)
    assert sizes.max() <= (high or 300)
    for labels in (model.cut(n_clusters=model.n_clusters_), model.cut(proportions=[1] * model.n_clusters_)):
        assert np.bincount(labels).max() <= (high or 300)


@pytest.mark.parametrize(
    ("n_clusters", "low", "high"), [("auto", 301, None), (2, 90, 80), (3, 101, None), (2, None, 149)]
)
def test_bounds_that_contradict_are_refused(n_clusters, low, high):
    with pytest.raises(ValueError, match="cluster_size"):
        GIT(n_clusters, min_cluster_size=low, max_cluster_size=high).fit(X)


def test_bounds_move_no_more_than_necessary():
    free = GIT(3).fit(X)
    bounded = GIT(3, min_cluster_size=80).fit(X)
    table = np.array([[np.sum((free.labels_ == i) & (bounded.labels_ == j)) for j in range(3)] for i in range(3)])
    n_moved = len(X) - table[linear_sum_assignment(-table)].sum()
    n_missing = 80 - np.bincount(free.labels_).min()
    assert n_missing <= n_moved <= n_missing + 40  # whole local clusters move
    loose = GIT(3, min_cluster_size=20, max_cluster_size=200).fit(X)
    assert adjusted_rand_score(free.labels_, loose.labels_) == 1


@pytest.mark.parametrize("n_clusters", [3, 10])
@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_with_heavy_tailed_weights(seed, n_clusters):
    """A few samples have nearly all of the weight, so most local clusters are far below its mean."""
    rng = np.random.default_rng(seed)
    samples, weights = rng.integers(0, 5, (150, 2)).astype(float), np.exp(6 * rng.normal(size=150))
    low, links = int(rng.integers(3, 20)), random_links(rng, 150, 5)
    model = GIT(n_clusters, min_cluster_size=low).fit(samples, sample_weight=weights, **links)
    assert np.bincount(model.labels_, weights).min() >= low * (1 - 1e-6)
    assert links_hold(model.labels_, **links)


def is_nested(fine, coarse):
    """Return whether every finer cluster is in one coarser cluster."""
    return all(len(np.unique(coarse[fine == cluster])) == 1 for cluster in np.unique(fine))


@settings(max_examples=40)
@given(st.integers(0, 9999), st.sampled_from(["auto", 3, 5]), st.booleans(), st.booleans())
def test_cuts_and_layers_are_nested_with_links(seed, n_clusters, bounded, blobs):
    rng = np.random.default_rng(seed)
    samples = make_blobs(90, 2, centers=4, random_state=seed)[0] if blobs else rng.normal(size=(90, 2))
    links, bounds = random_links(rng, 90), {"min_cluster_size": 4, "max_cluster_size": 60} if bounded else {}
    model = fit_or_contradiction(GIT(n_clusters, **bounds), samples, **links)
    if model is None:
        return
    numbers = range(model.n_clusters_, model.n_clusters_ + 4)
    layers = model.layers(numbers)
    np.testing.assert_array_equal(layers[0].labels, model.labels_)
    for coarse, fine in pairwise(layers):
        assert all(np.unique(coarse.labels[fine.labels == c]) == [fine.parents[c]] for c in range(fine.n_clusters))
    assert all(links_hold(layer.labels, **links) for layer in layers)
    if not bounded:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            cuts = [model.cut(n_clusters=number) for number in numbers]
        assert all(is_nested(fine, coarse) for coarse, fine in pairwise(cuts))
        assert all(links_hold(cut, **links) for cut in cuts)
