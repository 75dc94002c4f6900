"""Hostile weights, links, partial labels and bounds on sizes."""

import numpy as np
import pytest
from combinations import label, pairwise

from gitcluster import GIT

from .conftest import answer_or_named_error, blobs, check_fit, check_model, must_refuse

X = blobs()
TWICE = np.repeat(blobs(20), 2, axis=0)
ones = np.ones(40)


def keeps_links(model, must_link=(), cannot_link=()):
    for i, j in must_link:
        assert model.labels_[i] == model.labels_[j]
    for i, j in cannot_link:
        assert model.labels_[i] != model.labels_[j]


def spoiled(value, where=3):
    weights = ones.copy()
    weights[where] = value
    return weights


@pytest.mark.parametrize(
    "weights",
    [
        spoiled(-1.0), spoiled(np.nan), spoiled(np.inf), spoiled(-np.inf), np.zeros(40), -ones, ones[:5], np.ones(41),
        np.ones((40, 1)), [], "equal", "1", {}, object(), [None] * 40, ["a"] * 40, ones + 1j, np.ones((40, 40)),
        [[1]] * 40,
        spoiled(-5e-324),
    ],
    ids=lambda w: str(w).split(" at 0x")[0][:20],
)  # fmt: skip
def test_wrong_weights(weights):
    for options in ({}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}):
        must_refuse(lambda o=options: GIT(2, **o).fit(X, sample_weight=weights), "sample_weight")


ODD_WEIGHTS = [
    spoiled(0), spoiled(0, slice(0, 20)), spoiled(0, slice(1, None)), spoiled(0, slice(2, None)),
    spoiled(0.0) + 0.5, spoiled(1e12), spoiled(1e-12), spoiled(1e300), spoiled(1e308, slice(None)), spoiled(5e-324),
    spoiled(5e-324, slice(None)), ones * 1e12, ones * 1e-12, ones * 0.3, ones * 7, ones * 10**9, np.arange(40),
    np.arange(40.0) / 7, 10.0 ** np.arange(-20, 20), ones.astype(bool), ones.astype(object), ones.tolist(),
    np.arange(40, dtype=np.uint8), 1 + np.arange(40) % 2, np.where(np.arange(40) % 2, 0.0, 0.7),
    np.where(np.arange(40) == 7, 0.5, 0.0), -0.0 * ones + spoiled(0), 3, True, 0.5,
]  # fmt: skip


def possible(row):
    """The paper's variant needs a number of clusters, and has no bounds on sizes."""
    return row["variant"] == "adaptive" or (row["number"] != "auto" and row["min_cluster_size"] is None)


@pytest.mark.parametrize(
    "row",
    pairwise(
        possible,
        weights=range(len(ODD_WEIGHTS)),
        variant=["adaptive", "paper"],
        number=["auto", 2, [3, 1]],
        noise=[None, 0.2],
        metric=["euclidean", "manhattan"],
        n_neighbors=["auto", 1],
        min_cluster_size=[None, 1],
    ),
    ids=label,
)
def test_odd_weights(row):
    options = dict(row)
    weights, number = ODD_WEIGHTS[options.pop("weights")], options.pop("number")
    options["proportions" if isinstance(number, list) else "n_clusters"] = number
    check_fit(X, {"sample_weight": weights}, **options)


def test_weights_of_duplicates():
    rng = np.random.default_rng(0)
    for weights in (rng.random(40), rng.integers(0, 3, 40), np.tile([0, 1], 20), np.tile([0.0, 1.5], 20)):
        check_fit(TWICE, {"sample_weight": weights}, n_clusters=2)


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 40)], [(-1, 0)], [(0, 10**30)], [(0, 1, 2)], [0, 1], [(0,)], [(0.0, 1.0)], [("a", "b")], [(None, 1)],
        "ab", 5, True,
        [(True, False)], [[0, 1], [2]], np.zeros((2, 2, 2), int), [(np.nan, 1)], {}, {(0, 1)}, object(), [(0, 2**63)],
        {"a": 1},
    ],
    ids=lambda p: str(p).split(" at 0x")[0][:20],
)  # fmt: skip
def test_wrong_links(pairs):
    if isinstance(pairs, dict) and not pairs:
        pairs = {0: 1}
    for name in ("must_link", "cannot_link"):
        must_refuse(lambda n=name: GIT(2).fit(X, **{n: pairs}), name)


@pytest.mark.parametrize(
    "links",
    [
        {"cannot_link": [(3, 3)]}, {"must_link": [(0, 1)], "cannot_link": [(0, 1)]}, {"must_link": [(0, 1)],
        "cannot_link": [(1, 0)]},
        {"must_link": [(0, 1), (1, 2), (2, 3)], "cannot_link": [(0, 3)]}, {"cannot_link": [(0, 1), (1, 2), (0, 2)]},
        {"cannot_link": [(i, j) for i in range(40) for j in range(i)]}, {"y": [0, 1] + [-1] * 38, "must_link": [(0,
        1)]},
        {"y": [0, 0] + [-1] * 38, "cannot_link": [(0, 1)]}, {"y": [0, 1, 2] + [-1] * 37},
    ],
    ids=lambda links: str(links).split(" at 0x")[0][:40],
)  # fmt: skip
def test_contradictions(links):
    must_refuse(lambda: GIT(2).fit(X, **links))


@pytest.mark.parametrize(
    "links",
    [
        {"must_link": [(3, 3)]}, {"must_link": []}, {"cannot_link": []}, {"cannot_link": np.empty((0, 2))},
        {"must_link": [(0, 1)] * 50}, {"cannot_link": [(0, 1), (1, 0)] * 50}, {"must_link": [(0, 39)]},
        {"must_link": [(i, i + 1) for i in range(39)]}, {"cannot_link": [(i, i + 1) for i in range(39)]},
        {"cannot_link": [(0, i) for i in range(1, 40)]}, {"must_link": [(i, 39 - i) for i in range(20)]},
        {"cannot_link": [(i, j) for i in range(40) for j in range(i)]}, {"must_link": [(0, 20)], "cannot_link": [(0,
        1), (20, 21)]},
        {"must_link": np.array([[0, 1]], np.uint8)}, {"cannot_link": [[0, 1], [0, 2], [1, 2]]},
    ],
    ids=lambda links: str(links).split(" at 0x")[0][:40],
)  # fmt: skip
def test_odd_links(links):
    pairs = {name: np.asarray(given, int).reshape(-1, 2) for name, given in links.items()}
    for number in ("auto", 1, 3, 40):
        for data in (X, TWICE):
            model = check_fit(data, links, n_clusters=number)
            if model is not None:
                keeps_links(model, **pairs)


@pytest.mark.parametrize("weight", [1e6, 1e12, 1e300])
def test_bounds_on_sizes_beside_huge_weights(weight):
    must_refuse(lambda: GIT(max_cluster_size=1).fit(X, sample_weight=np.full(len(X), weight)))


@pytest.mark.parametrize("copies", [2, 3, 20])
def test_links_between_identical_samples(copies):
    same = np.repeat([[0.0, 0.0], [5.0, 5.0]], copies, axis=0)
    for links in (
        {"cannot_link": [(0, 1)]},
        {"must_link": [(0, copies)]},
        {"cannot_link": [(0, 1)], "must_link": [(0, copies)]},
    ):
        for number in ("auto", 2, 3):
            model = check_fit(same, links, n_clusters=number) if number != 3 or copies > 2 else None
            if model is not None:
                keeps_links(model, **links)
    equal = np.ones((6, 2))
    for links in ({"cannot_link": [(0, 1)]}, {"cannot_link": [(0, 1), (1, 2), (0, 2)]}, {"must_link": [(0, 1)]}):
        model = check_fit(equal, links)
        if model is not None:
            keeps_links(model, **links)


unknown = [-1] * 30


@pytest.mark.parametrize(
    "y",
    [
        [-1] * 40, [0] * 40, [0] * 10 + unknown, [0, 1] * 5 + unknown, [5, 10**15] * 5 + unknown, [0.0,
        1.0] * 5 + unknown,
        [0.5] * 10 + unknown, [-2] * 10 + unknown, [np.nan] * 10 + unknown, [np.inf] * 10 + unknown,
        [1e300] * 10 + unknown,
        ["a"] * 40, ["a"] * 10 + ["-1"] * 30, [None] * 40, [True] * 40, [-1] * 5, [-1] * 41, [[-1]] * 40, -1, "word",
        {}, [],
        np.full(40, -1, np.int8), np.full((40, 2), -1), np.arange(40) - 1, np.arange(-1, 39.0), [0] * 10 + [None] * 30,
        np.array([0, -1] * 20, dtype=object), np.array([2**64 - 1] * 40, np.uint64), [2**63] * 10 + unknown, object(),
        1j * np.ones(40),
        np.ma.masked_equal([0, -1] * 20, -1), [0, -1] * 20,
    ],
    ids=lambda y: str(y).split(" at 0x")[0][:25],
)  # fmt: skip
def test_odd_partial_labels(y):
    for options in ({}, {"n_clusters": 2}, {"n_clusters": 5}):
        model = check_fit(X, {"y": y}, **options)
        if model is not None and np.shape(y) == (40,) and np.asarray(y).dtype.kind in "if" and -1 in y:
            known = np.asarray(y)
            for i in np.flatnonzero(known >= 0):
                for j in np.flatnonzero(known >= 0):
                    assert (model.labels_[i] == model.labels_[j]) == (known[i] == known[j])
    answer_or_named_error(lambda: GIT(2, variant="paper").fit(X, y))


SIZES = [None, 1, 2, 13, 14, 20, 21, 40, 41]


@pytest.mark.parametrize("low", SIZES)
def test_bounds_on_sizes(low):
    rows = pairwise(low=SIZES, high=SIZES, number=["auto", 1, 2, 3, 40])
    for row in rows:
        if row["low"] != low:
            continue
        high = row["high"]
        model = check_fit(X, n_clusters=row["number"], min_cluster_size=low, max_cluster_size=high)
        if low is not None and high is not None and low > min(high, 40):
            assert model is None, row
        if model is not None:
            sizes = np.bincount(model.labels_)
            assert sizes.min() >= (low or 0), row
            assert sizes.max() <= (high or 40), row


def test_everything_at_once():
    fit_params = {
        "y": [0, 1] + [-1] * 38, "must_link": [(5, 6)], "cannot_link": [(5, 39)],
        "sample_weight": np.arange(40) / 3 + 0.1,
    }  # fmt: skip
    options = {"n_clusters": 3, "noise": 0.1, "min_cluster_size": 2, "max_cluster_size": 400, "proportions": [1, 2, 3]}
    model = answer_or_named_error(lambda: GIT(**options).fit(X, **fit_params))
    if model is not None:
        check_model(model, X, **fit_params)
    for variant in ("paper", "authors"):
        for name in ("must_link", "cannot_link"):
            must_refuse(lambda v=variant, n=name: GIT(2, variant=v).fit(X, **{n: [(0, 1)]}), "variant")
