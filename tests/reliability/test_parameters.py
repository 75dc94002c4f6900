"""Hostile parameters."""

import numpy as np
import pytest
from combinations import pairwise
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS, NearestNeighbors

from gitcluster import GIT

from .conftest import answer_or_named_error, blobs, check_fit, must_refuse, name_of

X = blobs()
VARIANTS = ("adaptive", "paper", "authors")
NO_NUMBERS = [0, -1, -(10**30), 10**30, 1.0, 2.5, np.float64(2), np.nan, np.inf, True, np.bool_(True), "2", "", b"2",
              [2], (2,), np.array([2, 3]), {}, object(), 2 + 0j, GIT]  # fmt: skip


@pytest.mark.parametrize("value", NO_NUMBERS, ids=name_of)
def test_wrong_numbers(value):
    for name in ("n_clusters", "n_neighbors", "min_cluster_size"):
        must_refuse(lambda n=name: GIT(**{n: value}).fit(X), name)
    for name in ("n_clusters", "n_neighbors"):
        must_refuse(lambda n=name: GIT(**{"n_clusters": 2, "variant": "paper", n: value}).fit(X), name)
    if type(value) is int and value > 0:
        check_fit(X, must=True, max_cluster_size=value)
    else:
        must_refuse(lambda: GIT(max_cluster_size=value).fit(X), "max_cluster_size")


def test_none_as_a_number():
    must_refuse(lambda: GIT(n_neighbors=None).fit(X), "n_neighbors")
    check_fit(X, n_clusters=None)
    must_refuse(lambda: GIT(None, variant="paper").fit(X), "n_clusters")
    must_refuse(lambda: GIT("auto", variant="authors").fit(X), "n_clusters")


@pytest.mark.parametrize("number", [1, 2, 3, 7, 39, 40, 41, np.int8(3), np.uint64(2), np.int64(40)], ids=name_of)
def test_numbers_of_clusters(number):
    for variant in VARIANTS:
        model = check_fit(X, n_clusters=number, variant=variant)
        assert (model is None) == (number > 40), variant


@pytest.mark.parametrize("k", [1, 2, 20, 38, 39, 40, 10**9, np.int8(5)], ids=name_of)
def test_numbers_of_neighbours(k):
    for variant in VARIANTS:
        model = check_fit(X, n_clusters=2, n_neighbors=k, variant=variant)
        assert (model is None) == (k > 39), variant


@pytest.mark.parametrize(
    "shares",
    [
        [], [[1, 2]], [0, 1], [1, 0], [-1, 2], [np.nan, 1], [np.inf, 1], [None, 1], ["a", "b"], "equal", "auto", "", 3,
        0.5, {}, {"a": 1}, object(), [1] * 41, np.zeros(3), np.array([]), [[1], [2, 3]], [1 + 1j, 2], True, [0.0, 0.0],
    ],
    ids=name_of,
)  # fmt: skip
def test_wrong_proportions(shares):
    for variant in VARIANTS:
        must_refuse(lambda v=variant: GIT(proportions=shares, variant=v).fit(X), "proportions")
    must_refuse(lambda: GIT(2).fit(X).cut(proportions=shares), "proportions")


@pytest.mark.parametrize(
    "shares", [[1], [1, 1], [1e-300, 1], [1e300, 1e-300], [5e-324, 1], [1e308, 1e308], [1] * 40, [True, True], (1, 2),
               np.array([1, 2], "f2"), range(1, 4), [10**20, 1], ["1", "2"]], ids=name_of
)  # fmt: skip
def test_odd_proportions(shares):
    for variant in VARIANTS:
        check_fit(X, proportions=shares, variant=variant)


def test_proportions_and_another_number():
    must_refuse(lambda: GIT(3, proportions=[1, 2]).fit(X), "proportions")
    check_fit(X, must=True, n_clusters=2, proportions=[1, 2])
    check_fit(X, must=True, n_clusters=40, proportions="equal")


@pytest.mark.parametrize(
    "value", ["", "none", "Adaptive", 0, 1.5, None, [], {}, object(), GIT, b"paper", True], ids=name_of
)
def test_wrong_choices(value):
    for name in ("variant", "search", "metric"):
        must_refuse(lambda n=name: GIT(2, **{n: value}).fit(X))


@pytest.mark.parametrize(
    "scale",
    ["", "max", 1.0, 0, [], [1.0], [1.0, 2.0, 3.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [[1.0, 1.0]], [None, 1],
     ["a", "b"], {}, object(), True, [1j, 1], -np.ones(2)],
    ids=name_of,
)  # fmt: skip
def test_wrong_scales(scale):
    must_refuse(lambda: GIT(2, scale=scale).fit(X), "scale")
    if not isinstance(scale, str):
        must_refuse(lambda: GIT(2, scale=scale, metric="manhattan").fit(X), "scale")


@pytest.mark.parametrize(
    "scale",
    [None, [0, 0], [0, 1], [1e300, 1], [1e-300, 1], [5e-324, 5e-324], [1e308, 1e308], [True, False], (1, 2)],
    ids=name_of,
)
def test_odd_scales(scale):
    for metric in ("euclidean", "manhattan", "cosine", "chebyshev"):
        check_fit(X, n_clusters=2, scale=scale, metric=metric)


@pytest.mark.parametrize(
    "noise", [-1, -0.1, 1, 1.0, 1.5, np.nan, np.inf, "", "none", True, [0.1], {}, object(), 10**30], ids=name_of
)
def test_wrong_noise(noise):
    must_refuse(lambda: GIT(2, noise=noise).fit(X), "noise")


NOISE = [0, 0.0, 0.01, 0.5, 0.999, 1 - 1e-16, 5e-324, "auto", np.float32(0.1), np.float64(0.3)]


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_noise_on_tiny_data(n):
    def possible(row):  # the paper's variant has 8 neighbours unless told otherwise
        return row["variant"] == "adaptive" or row["n_neighbors"] == 1

    axes = {"noise": NOISE, "n_clusters": [2, 1], "variant": ["adaptive", "paper"], "n_neighbors": ["auto", 1]}
    for row in pairwise(possible, **axes):
        model = check_fit(X[:n], must=True, **row)
        assert (model.labels_ >= 0).any(), row


@pytest.mark.parametrize("n_jobs", [0, 1, 2, -1, -100, 10**6, 1.5, "2", None, True], ids=name_of)
def test_threads(n_jobs):
    check_fit(X, n_clusters=2, n_jobs=n_jobs)


METRICS = sorted(set().union(*VALID_METRICS.values(), PAIRWISE_DISTANCE_FUNCTIONS))


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(metric):
    rng = np.random.default_rng(0)
    with_zeros = np.concatenate([np.zeros((3, 2)), X])
    for data in (X, with_zeros, np.abs(X), (X > 4).astype(float), rng.uniform(-1.5, 1.5, (30, 2)), X[:, :1], X[:2],
                 X * 1e300, np.zeros((9, 2))):  # fmt: skip
        check_fit(data, metric=metric, n_clusters=2)
    check_fit(with_zeros, metric=metric)
    check_fit(np.abs(X), metric=metric, variant="paper", n_clusters=2, n_neighbors=3)


def test_cosine_of_zero_vectors():
    zeros = np.zeros((10, 3))
    check_fit(zeros, metric="cosine", must=True)
    check_fit(np.concatenate([zeros, np.eye(3)]), metric="cosine", n_clusters=2, must=True)


DISTANCES = pairwise_distances(X)


def spoiled(where, value):
    D = DISTANCES.copy()
    D[where] = value
    return D


@pytest.mark.parametrize(
    ("name", "D"),
    [
        ("asymmetric", spoiled((0, 5), 1e6)), ("asymmetric zero", spoiled((0, 5), 0.0)),
        ("diagonal", spoiled((0, 0), 1.0)), ("whole diagonal", DISTANCES + 9.0), ("zero", np.zeros((20, 20))),
        ("ones", np.ones((20, 20))), ("huge", DISTANCES * 1e300), ("largest", spoiled((3, 4), 1.7e308)),
        ("tiny", DISTANCES * 1e-320), ("single", DISTANCES.astype("f4")), ("whole", np.rint(DISTANCES).astype(int)),
        ("upper triangle", np.triu(DISTANCES)), ("boolean", DISTANCES > 3), ("two", np.array([[0.0, 1], [1, 0]])),
        ("two equal", np.zeros((2, 2))), ("negative zero", spoiled((0, 5), -0.0)), ("Fortran",
        np.asfortranarray(np.triu(DISTANCES))),
        ("all largest", np.full((20, 20), 1.7e308)), ("a far row", spoiled(3, 1e308)),
    ],
)  # fmt: skip
def test_odd_distances(name, D):
    check_fit(D, metric="precomputed")
    check_fit(D, metric="precomputed", noise=0.3)
    half = np.asarray(D, dtype=float)[:3] / 2 + 1e-3
    for variant in VARIANTS:
        model = check_fit(D, metric="precomputed", n_clusters=2, variant=variant, n_neighbors=1)
        if model is not None:
            labels = answer_or_named_error(lambda m=model: m.predict(half))
            assert labels is None or ((labels >= 0) & (labels < model.n_clusters_)).all(), variant


@pytest.mark.parametrize(
    "D", [spoiled((0, 5), np.nan), spoiled((0, 5), np.inf), spoiled((0, 5), -1.0), spoiled((0, 5), -5e-324),
    DISTANCES[:, :5],
          DISTANCES[:5], -DISTANCES, X, np.zeros((1, 1)), np.zeros((0, 0)), np.full((5, 5), np.nan), spoiled(3,
          -np.inf)],
    ids=lambda D: str(D.shape),
)  # fmt: skip
def test_wrong_distances(D):
    for variant in ("adaptive", "paper"):
        must_refuse(lambda v=variant: GIT(2, metric="precomputed", variant=v).fit(D))
    model = GIT(2, metric="precomputed").fit(DISTANCES)
    if D.shape[1] != 40 or not (D >= 0).all() or not np.isfinite(D).all():
        must_refuse(lambda: model.predict(D))


class Index:
    """A neighbour index that answers nonsense."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y=None):
        return self

    def kneighbors(self, X, k):
        n = X.shape[0]
        near = NearestNeighbors().fit(X).kneighbors(X, k)
        return {
            "none": None,
            "one": near[0],
            "swapped": (near[1], near[0]),
            "short": (near[0][:-1], near[1][:-1]),
            "narrow": (near[0][:, :1], near[1][:, :1]),
            "flat": (near[0].ravel(), near[1].ravel()),
            "out of range": (near[0], near[1] + n),
            "negative": (near[0], near[1] - 2 * n),
            "minus one": (near[0], np.where(near[1] > 20, -1, near[1])),
            "all minus one": (near[0], np.full((n, k), -1)),
            "only itself": (np.zeros((n, k)), np.repeat(np.arange(n)[:, None], k, axis=1)),
            "one for all": (np.ones((n, k)), np.zeros((n, k), int)),
            "distances NaN": (near[0] * np.nan, near[1]),
            "distances infinite": (near[0] + np.inf, near[1]),
            "distances negative": (-near[0], near[1]),
            "different shapes": (near[0][:, :2], near[1]),
            "lists": (near[0].tolist(), near[1].tolist()),
            "strings": (near[0].astype(str), near[1].astype(str)),
            "empty": (np.empty((0, k)), np.empty((0, k), int)),
        }[self.answer]


@pytest.mark.parametrize(
    "answer",
    ["none", "one", "swapped", "short", "narrow", "flat", "out of range", "negative", "minus one", "all minus one",
     "only itself", "one for all", "distances NaN", "distances infinite", "distances negative", "different shapes",
     "lists", "strings", "empty"],
)  # fmt: skip
def test_an_index_that_answers_nonsense(answer):
    for metric in ("euclidean", "manhattan"):
        check_fit(X, n_clusters=2, search=Index(answer), metric=metric)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duplicates", "equal", "two", "wide", "far"])
def test_approximate_search_of_odd_data(name):
    data = {
        "duplicates": np.repeat(X, 5, axis=0), "equal": np.ones((30, 2)), "two": X[:2],
        "wide": np.random.default_rng(0).normal(size=(30, 500)), "far": np.concatenate([X, [[1e12, 0], [0, 1e12]]]),
    }[name]  # fmt: skip
    check_fit(data, n_clusters=2, search="approximate")
