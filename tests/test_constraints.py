"""Pairs, partial labels and bounds on sizes."""

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
from gitcluster.constraints import gather_constraints, possible_numbers

X, y = make_blobs([150, 100, 50], 3, cluster_std=1.5, random_state=1)


def partial_labels(n_known, seed=0):
    known = np.random.default_rng(seed).choice(len(X), n_known, replace=False)
    labels = np.full(len(X), -1)
    labels[known] = y[known]
    return labels


def test_pairs_are_kept_to():
    together, apart = [(0, 299), (3, 4), (4, 5)], [(1, 2), (0, 7)]
    model = GIT(3).fit(X, must_link=together, cannot_link=apart)
    assert all(model.labels_[i] == model.labels_[j] for i, j in together)
    assert all(model.labels_[i] != model.labels_[j] for i, j in apart)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    finer = model.cut(n_clusters=5)
    assert finer.max() == 4
    assert all(finer[i] == finer[j] for i, j in together)
    assert all(finer[i] != finer[j] for i, j in apart)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=6), st.integers(0, 99))
def test_any_pairs_are_kept_to_or_named(n_clusters, pairs, seed):
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(60, 2))
    pairs = [(i, j) for i, j in pairs if i != j]
    cut = rng.integers(0, len(pairs) + 1)
    together, apart = pairs[:cut], pairs[cut:]
    try:
        labels = GIT(n_clusters).fit(samples, must_link=together, cannot_link=apart).labels_
    except ValueError as error:
        assert "contradict" in str(error) or "forbid to join" in str(error)  # noqa: PT017
        return
    assert all(labels[i] == labels[j] for i, j in together)
    assert all(labels[i] != labels[j] for i, j in apart)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 4), st.integers(0, 999))
def test_links_are_kept_with_weights_and_duplicates(data, n_clusters, seed):
    """On lattices with many duplicates, with whole weights, zeros among them, or fractions."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 4, (24, 2)).astype(float)
    weights = data.draw(st.sampled_from([rng.integers(0, 3, 24), rng.integers(1, 4, 24), rng.random(24), None]))
    index = st.integers(0, 23)
    apart = [(i, j) for i, j in data.draw(st.lists(st.tuples(index, index), max_size=3)) if i != j]
    known = np.full(24, -1)
    known[data.draw(st.lists(index, max_size=4))] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model = GIT(n_clusters).fit(samples, known, sample_weight=weights, cannot_link=apart)
        except ValueError as error:
            assert "contradict" in str(error) or "forbid to join" in str(error)  # noqa: PT017
            return
    labels = model.labels_
    assert all(labels[i] != labels[j] for i, j in apart)
    assert len(set(labels[known == 0])) <= 1
    assert len(np.unique(labels)) == model.n_clusters_
    np.testing.assert_array_equal(model.predict(samples), labels)


def test_as_many_clusters_come_out_as_links_allow():
    """Local clusters that must be together count as one when it is looked for views with enough of them."""
    for seed in range(60):
        samples = np.random.default_rng(seed).normal(size=(60, 2))
        model = GIT(4).fit(samples, must_link=[(0, 31)], cannot_link=[(0, 1)])
        assert model.n_clusters_ == 4


def test_partial_labels_are_kept_to_and_help():
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + [2.2, 0]])
    truth = np.repeat([0, 1], 100)
    known = np.full(200, -1)
    known[::5] = truth[::5]
    alone, told = GIT(2).fit(samples), GIT(2).fit(samples, known)
    assert len(set(told.labels_[known == 0])) == len(set(told.labels_[known == 1])) == 1
    assert adjusted_rand_score(truth, told.labels_) > adjusted_rand_score(truth, alone.labels_)
    np.testing.assert_array_equal(GIT(2).fit_predict(samples, known), told.labels_)


def test_many_partial_labels_are_groups_not_pairs():
    """Ten thousand labels would be fifty million pairs."""
    rng = np.random.default_rng(0)
    samples, known = rng.normal(size=(3000, 2)), np.full(3000, -1)
    known[:2000] = np.repeat(np.arange(1000), 2)
    constraints = gather_constraints(3000, y=known)
    assert len(constraints.apart) == 0
    assert len(constraints.labelled) == 1000
    assert possible_numbers(constraints)[0] == 1000
    labels = GIT(1000).fit(samples, known).labels_
    assert (labels[:2000:2] == labels[1:2000:2]).all()
    assert len(np.unique(labels[:2000:2])) == 1000


def test_a_full_y_is_ignored_as_by_every_clusterer():
    np.testing.assert_array_equal(GIT(2).fit(X, y).labels_, GIT(2).fit(X).labels_)


def test_the_number_grows_with_what_must_be_apart():
    known = np.full(len(X), -1)
    known[:6] = np.arange(6)
    assert GIT().fit(X, known).n_clusters_ >= 6


@pytest.mark.parametrize(("low", "high"), [(None, 120), (80, None), (70, 130), (90, 110)])
def test_sizes_are_kept_to(low, high):
    model = GIT(3, min_cluster_size=low, max_cluster_size=high).fit(X)
    sizes = np.bincount(model.labels_)
    assert len(sizes) == 3
    assert sizes.min() >= (low or 1)
    assert sizes.max() <= (high or 300)


def test_the_number_is_chosen_within_the_bounds():
    model = GIT(min_cluster_size=120).fit(X)
    assert model.n_clusters_ <= 2
    assert np.bincount(model.labels_).min() >= 120
    model = GIT(max_cluster_size=70).fit(X)
    assert model.n_clusters_ >= 5
    assert np.bincount(model.labels_).max() <= 70


def test_bounds_move_no_more_than_they_must():
    free = GIT(3).fit(X)
    short = 80 - np.bincount(free.labels_).min()
    bound = GIT(3, min_cluster_size=80).fit(X)
    table = np.array([[np.sum((free.labels_ == i) & (bound.labels_ == j)) for j in range(3)] for i in range(3)])
    moved = len(X) - table[linear_sum_assignment(-table)].sum()
    assert short <= moved <= short + 40  # whole local clusters move


def test_sizes_that_hold_anyway_change_nothing():
    free, bound = GIT(3).fit(X), GIT(3, min_cluster_size=20, max_cluster_size=200).fit(X)
    assert adjusted_rand_score(free.labels_, bound.labels_) == 1


def test_sizes_and_pairs_together():
    model = GIT(3, max_cluster_size=120).fit(X, must_link=[(0, 299)], cannot_link=[(1, 2)])
    assert np.bincount(model.labels_).max() <= 120
    assert model.labels_[0] == model.labels_[299]
    assert model.labels_[1] != model.labels_[2]


@pytest.mark.parametrize(
    ("options", "wrong", "message"),
    [
        ({}, {"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, "samples 1 and 0 must be apart"),
        ({}, {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]}, "contradict"),
        ({}, {"cannot_link": [(5, 5)]}, r"\(5, 5\)"),
        ({}, {"cannot_link": [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]}, "n_clusters=3"),
        ({}, {"must_link": [(0, 300)]}, "must_link must hold indices from 0 to 299"),
        ({}, {"must_link": [0, 1]}, "must_link must be pairs"),
        ({}, {"must_link": [(0.5, 1)]}, "must_link must be pairs"),
        ({}, {"y": [-1, 0]}, "2 partial labels for 300 samples"),
        ({}, {"y": np.r_[-1, 0.5, np.zeros(298)]}, "whole numbers"),
        ({"min_cluster_size": 101}, {}, "cannot hold 300 samples"),
        ({"max_cluster_size": 99}, {}, "cannot hold 300 samples"),
        ({"min_cluster_size": 50, "max_cluster_size": 40}, {}, "above max_cluster_size"),
        ({"min_cluster_size": 0}, {}, "min_cluster_size must be at least 1"),
        ({"variant": "paper", "min_cluster_size": 5}, {}, "variant='adaptive'"),
    ],
)
def test_what_cannot_be_is_named(options, wrong, message):
    with pytest.raises(ValueError, match=message):
        GIT(3, **options).fit(X, **wrong)


def lies_in(fine, coarse):
    return all(len(np.unique(coarse[fine == cluster])) == 1 for cluster in np.unique(fine))


def random_links(rng, n_samples, n_pairs=4):
    apart = [(int(i), int(j)) for i, j in rng.integers(0, n_samples, (n_pairs, 2)) if i != j]
    return {"must_link": rng.integers(0, n_samples, (n_pairs, 2)), "cannot_link": apart}


def keeps(labels, must_link, cannot_link):
    return all(labels[i] == labels[j] for i, j in must_link) and all(labels[i] != labels[j] for i, j in cannot_link)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.sampled_from(["auto", 3, 5]), st.booleans(), st.booleans())
def test_cuts_and_layers_are_nested_with_links(seed, n_clusters, bounded, blobs):
    rng = np.random.default_rng(seed)
    samples = make_blobs(90, 2, centers=4, random_state=seed)[0] if blobs else rng.normal(size=(90, 2))
    links, bounds = random_links(rng, 90), {"min_cluster_size": 4, "max_cluster_size": 60} if bounded else {}
    try:
        model = GIT(n_clusters, **bounds).fit(samples, **links)
    except ValueError as error:
        assert "contradict" in str(error) or "forbid to join" in str(error) or "not brought" in str(error)  # noqa: PT017
        return
    numbers = range(model.n_clusters_, model.n_clusters_ + 4)
    layers = model.layers(numbers)
    for coarse, fine in pairwise(layers):
        assert lies_in(fine.labels, coarse.labels)
        assert all(np.unique(coarse.labels[fine.labels == c]) == [fine.parents[c]] for c in range(fine.n_clusters))
    assert all(keeps(layer.labels, **links) for layer in layers)
    np.testing.assert_array_equal(layers[0].labels, model.labels_)
    if not bounded:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            cuts = [model.cut(n_clusters=number) for number in numbers]
        assert all(lies_in(fine, coarse) for coarse, fine in pairwise(cuts))
        assert all(keeps(cut, **links) for cut in cuts)


@pytest.mark.parametrize("n_clusters", [3, 10])
@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_with_heavy_tailed_weights(seed, n_clusters):
    """A few samples hold nearly all of the weight, so that most local clusters are far below its mean."""
    rng = np.random.default_rng(seed)
    samples, weights = rng.integers(0, 5, (150, 2)).astype(float), np.exp(6 * rng.normal(size=150))
    low, links = int(rng.integers(3, 20)), random_links(rng, 150, 5)
    model = GIT(n_clusters, min_cluster_size=low).fit(samples, sample_weight=weights, **links)
    assert np.bincount(model.labels_, weights).min() >= low * (1 - 1e-6)
    assert keeps(model.labels_, **links)


@pytest.mark.parametrize("seed", range(8))
def test_the_number_grows_until_links_can_be_kept(seed):
    samples = make_blobs(200, 2, centers=3, random_state=seed)[0]
    apart = random_links(np.random.default_rng(seed), 200, 50)["cannot_link"]
    model = GIT().fit(samples, cannot_link=apart)
    assert keeps(model.labels_, [], apart)
    model.layers()  # whatever numbers the scores rank next
