"""Hostile parameters, metrics and matrices of distances."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from gitcluster import GIT

from .checks import blobs, check_fit, must_refuse, result_or_named_error, short_repr

X = blobs()
VARIANTS = ("adaptive", "paper", "authors")
NO_INTEGERS = [0, -(10**30), 1.0, np.nan, True, "2", [2], np.array([2, 3]), {}, object(), GIT]
NO_CHOICES = ["", "Adaptive", 0, None, [], {}, object(), b"paper"]
WRONG = {
    **dict.fromkeys(("n_clusters", "n_neighbors", "min_cluster_size", "max_cluster_size"), NO_INTEGERS),
    **dict.fromkeys(("variant", "search", "metric"), NO_CHOICES),
    "proportions": [[], [[1, 2]], [0, 1], [-1, 2], [np.nan, 1], [np.inf, 1], ["a", "b"], "auto", 3, {}, [1] * 41, True],
    "scale": ["max", 1.0, [], [1.0, 2.0, 3.0], [-1.0, 1.0], [np.nan, 1.0], [[1.0, 1.0]], ["a", "b"], {}, [1j, 1]],
    "noise": [-0.1, 1, np.nan, "none", True, [0.1], {}],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values], ids=short_repr
)
def test_wrong_parameters_are_named(name, value):
    number = {} if name == "proportions" else {"n_clusters": 2}
    must_refuse(lambda: GIT(**number | {name: value}).fit(X), name)
    if name in ("n_clusters", "n_neighbors", "proportions"):
        for variant in ("paper", "authors"):
            must_refuse(lambda v=variant: GIT(**number | {"variant": v, name: value}).fit(X), name)
    if name in ("n_clusters", "proportions"):
        must_refuse(lambda: GIT(2).fit(X).cut(**{name: value}), name)
    if name == "scale":
        must_refuse(lambda: GIT(2, scale=value, metric="manhattan").fit(X), "scale")


@pytest.mark.parametrize("number", [1, 2, 7, 40, 41, 10**30, np.uint64(2)], ids=short_repr)
@pytest.mark.parametrize("variant", VARIANTS)
def test_numbers_in_range_are_accepted(number, variant):
    assert (check_fit(X, n_clusters=number, variant=variant) is None) == (number > 40)
    assert (check_fit(X, n_clusters=2, n_neighbors=number, variant=variant) is None) == (number > 39)


def test_a_missing_number_is_named():
    must_refuse(lambda: GIT(n_neighbors=None).fit(X), "n_neighbors")
    for variant in ("paper", "authors"):
        must_refuse(lambda v=variant: GIT(None, variant=v).fit(X), "n_clusters")
    must_refuse(lambda: GIT(proportions="equal").fit(X), "proportions")
    must_refuse(lambda: GIT(3, proportions=[1, 2]).fit(X), "proportions")
    must_refuse(lambda: GIT(2).fit(X).cut(), "n_clusters")


@pytest.mark.parametrize("scale", [None, [0, 0], [0, 1], [1e300, 1], [5e-324, 5e-324], [True, False]], ids=short_repr)
def test_odd_scales_give_a_valid_model(scale):
    for metric in ("euclidean", "manhattan", "cosine", "chebyshev"):
        check_fit(X, n_clusters=2, scale=scale, metric=metric)


@pytest.mark.parametrize("noise", [0, 0.01, 0.5, 1 - 1e-16, 5e-324, "auto", np.float32(0.1)], ids=short_repr)
@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_noise_never_takes_all_samples(n, noise):
    for options in ({"n_clusters": 2}, {"n_clusters": 1, "variant": "paper", "n_neighbors": 1}):
        assert (check_fit(X[:n], must=True, noise=noise, **options).labels_ >= 0).any()


@pytest.mark.parametrize("n_jobs", [0, 2, -1, -100, 10**6, 1.5, "2", True], ids=short_repr)
def test_any_n_jobs_gives_a_valid_model_or_an_error(n_jobs):
    check_fit(X, n_clusters=2, n_jobs=n_jobs)


@pytest.mark.parametrize("metric", sorted(set().union(*VALID_METRICS.values(), PAIRWISE_DISTANCE_FUNCTIONS)))
def test_every_metric_gives_a_valid_model_or_an_error(metric):
    angles = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 2))
    with_zeros = np.concatenate([np.zeros((3, 2)), X])
    for samples in (X, with_zeros, (X > 4).astype(float), angles, X[:, :1], X[:2], X * 1e300, np.zeros((9, 2))):
        check_fit(samples, metric=metric, n_clusters=2)
    check_fit(np.abs(X), metric=metric, variant="paper", n_clusters=2, n_neighbors=3)


DISTANCES = pairwise_distances(X)


def with_distance(where, value):
    """Return distances with other values."""
    changed = DISTANCES.copy()
    changed[where] = value
    return changed


ODD_DISTANCES = {
    "asymmetric": with_distance((0, 5), 1e6),
    "zero": np.zeros((20, 20)),
    "huge": DISTANCES * 1e300,
    "upper triangle": np.asfortranarray(np.triu(DISTANCES)),
    "all largest": np.full((20, 20), 1.7e308),
    "one far sample": with_distance(3, 1e308),
}


@pytest.mark.parametrize("name", ODD_DISTANCES)
def test_odd_distances_give_a_valid_model(name):
    D = ODD_DISTANCES[name]
    check_fit(D, metric="precomputed", noise=0.3)
    for variant in VARIANTS:
        model = check_fit(D, metric="precomputed", n_clusters=2, variant=variant, n_neighbors=1)
        if model is not None:
            new = np.asarray(D, dtype=float)[:3] / 2 + 1e-3
            labels = result_or_named_error(lambda m=model, n=new: m.predict(n))
            assert labels is None or ((labels >= 0) & (labels < model.n_clusters_)).all()


WRONG_DISTANCES = [
    with_distance((0, 5), np.nan), with_distance((0, 5), np.inf), with_distance((0, 5), -5e-324), DISTANCES[:, :5],
    DISTANCES[:5], -DISTANCES, X,
]  # fmt: skip


@pytest.mark.parametrize("D", WRONG_DISTANCES, ids=lambda D: str(D.shape))
def test_wrong_distances_are_refused(D):
    for variant in ("adaptive", "paper"):
        must_refuse(lambda v=variant: GIT(2, metric="precomputed", variant=v).fit(D))
    if D.shape != (5, 40):
        must_refuse(lambda: GIT(2, metric="precomputed").fit(DISTANCES).predict(D))
