"""Hostile weights, links, partial labels and bounds on sizes."""

import numpy as np
import pytest

from gitcluster import GIT

from .checks import blobs, check_fit, must_refuse, short_repr

X = blobs()
TWICE = np.repeat(blobs(20), 2, axis=0)
ONES = np.ones(40)
UNKNOWN = [-1] * 30


def with_value(value, where=3):
    """Return weights of 1 with another value."""
    weights = ONES.copy()
    weights[where] = value
    return weights


def check_links(model, must_link=(), cannot_link=()):
    """Check that links hold, if a model is given."""
    if model is not None:
        assert all(model.labels_[i] == model.labels_[j] for i, j in must_link)
        assert all(model.labels_[i] != model.labels_[j] for i, j in cannot_link)


WRONG_WEIGHTS = [
    with_value(-5e-324), with_value(np.nan), with_value(np.inf), 0 * ONES, ONES[:5], np.ones((40, 1)), [], "equal", {},
    [None] * 40, ["a"] * 40, ONES + 1j,
]  # fmt: skip


@pytest.mark.parametrize("weights", WRONG_WEIGHTS, ids=short_repr)
def test_wrong_weights_are_refused(weights):
    for options in ({}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}):
        must_refuse(lambda o=options: GIT(2, **o).fit(X, sample_weight=weights), "sample_weight")


ODD_WEIGHTS = [
    with_value(0), with_value(0, slice(1, None)), with_value(1e12), with_value(1e300), with_value(5e-324), ONES * 1e-12,
    10.0 ** np.arange(-20, 20), ONES.astype(bool), ONES.astype(object), np.arange(40, dtype=np.uint8),
    np.where(np.arange(40) % 2, 0.0, 0.7),
]  # fmt: skip


@pytest.mark.parametrize("weights", ODD_WEIGHTS, ids=short_repr)
def test_odd_weights_give_a_valid_model(weights):
    for options in (
        {},
        {"n_clusters": 2, "noise": 0.2},
        {"proportions": [3, 1], "metric": "manhattan", "n_neighbors": 1},
        {"n_clusters": 2, "min_cluster_size": 1},
        {"n_clusters": 2, "variant": "paper"},
    ):
        check_fit(X, {"sample_weight": weights}, **options)
    if np.shape(weights) == (40,):
        check_fit(TWICE, {"sample_weight": weights}, n_clusters=2)


WRONG_LINKS = [
    [(0, 40)], [(-1, 0)], [(0, 2**63)], [(0, 1, 2)], [0, 1], [(0.0, 1.0)], [("a", "b")], "ab", 5, [[0, 1], [2]],
    {(0, 1)}, {0: 1},
]  # fmt: skip


@pytest.mark.parametrize("pairs", WRONG_LINKS, ids=short_repr)
def test_wrong_links_are_refused(pairs):
    for name in ("must_link", "cannot_link"):
        must_refuse(lambda n=name: GIT(2).fit(X, **{n: pairs}), name)


CONTRADICTIONS = [
    {"cannot_link": [(3, 3)]},
    {"must_link": [(0, 1)], "cannot_link": [(1, 0)]},
    {"must_link": [(0, 1), (1, 2), (2, 3)], "cannot_link": [(0, 3)]},
    {"cannot_link": [(0, 1), (1, 2), (0, 2)]},
    {"y": [0, 1] + [-1] * 38, "must_link": [(0, 1)]},
    {"y": [0, 0] + [-1] * 38, "cannot_link": [(0, 1)]},
    {"y": [0, 1, 2] + [-1] * 37},
]


@pytest.mark.parametrize("links", CONTRADICTIONS, ids=short_repr)
def test_contradictions_are_refused(links):
    must_refuse(lambda: GIT(2).fit(X, **links))


def test_links_need_the_adaptive_variant():
    for variant in ("paper", "authors"):
        for name in ("must_link", "cannot_link"):
            must_refuse(lambda v=variant, n=name: GIT(2, variant=v).fit(X, **{n: [(0, 1)]}), "variant")
        must_refuse(lambda v=variant: GIT(2, variant=v, min_cluster_size=5).fit(X), "variant")


ODD_LINKS = [
    {"must_link": [(3, 3)]},
    {"cannot_link": np.empty((0, 2))},
    {"cannot_link": [(0, 1), (1, 0)] * 50},
    {"must_link": [(i, 39 - i) for i in range(20)]},
    {"cannot_link": [(i, j) for i in range(40) for j in range(i)]},
    {"must_link": np.array([[0, 20]], np.uint8), "cannot_link": [(0, 1), (20, 21)]},
]


@pytest.mark.parametrize("links", ODD_LINKS, ids=short_repr)
def test_odd_links_hold(links):
    pairs = {name: np.asarray(some, int).reshape(-1, 2) for name, some in links.items()}
    for number in ("auto", 1, 3, 40):
        for samples in (X, TWICE):
            check_links(check_fit(samples, links, n_clusters=number), **pairs)


PARTIAL_LABELS = [
    [-1] * 40, [0] * 40, [0, 1] * 5 + UNKNOWN, [5, 10**15] * 5 + UNKNOWN, [0.0, 1.0] * 5 + UNKNOWN,
    [0.5] * 10 + UNKNOWN, [-2] * 10 + UNKNOWN, [np.nan] * 10 + UNKNOWN, ["a"] * 10 + ["-1"] * 30, [None] * 40,
    [True] * 40, [-1] * 5, -1, {}, np.arange(40) - 1, np.array([0, -1] * 20, object),
    np.array([2**64 - 1] * 40, np.uint64), 1j * ONES,
]  # fmt: skip


@pytest.mark.parametrize("y", PARTIAL_LABELS, ids=short_repr)
def test_odd_partial_labels_hold(y):
    for number in ("auto", 2, 5):
        model = check_fit(X, {"y": y}, n_clusters=number)
        if model is not None and np.shape(y) == (40,) and np.asarray(y).dtype.kind in "if" and -1 in y:
            known = np.flatnonzero(np.asarray(y) >= 0)
            same = np.asarray(y)[known][:, None] == np.asarray(y)[known]
            np.testing.assert_array_equal(model.labels_[known][:, None] == model.labels_[known], same)
