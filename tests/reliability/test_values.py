"""Hostile values: extremes of floats, duplicates, chains, missing values, wrong shapes."""

import numpy as np
import pytest
from conftest import nasty_sets

from gitcluster import GIT

from .checks import blobs, check_fit, check_model, extreme_sets, must_refuse, must_return

SETS = {**extreme_sets(), **nasty_sets()}
SETS["5000 dimensions"] = SETS["5000 dimensions"][:, :500]
NO_DISTANCES = {
    "denormals", "1e300 and 1e-300", "one largest float", "all powers of ten", "two samples at the ends",
    "float32, largest", "huge scale",
}  # fmt: skip
"""Sets whose unscaled distances are not floats; they may be refused unless features are scaled."""
OPTIONS = [
    {},
    {"n_clusters": 2, "noise": 0.5},
    {"proportions": [5, 1], "scale": "std", "noise": "auto"},
    {"n_clusters": 2, "scale": None, "n_neighbors": 1},
    {"n_clusters": 2, "metric": "manhattan"},
    {"metric": "cosine", "noise": 0.1},
    {"n_clusters": 2, "variant": "paper", "n_neighbors": 1},
    {"proportions": [5, 1], "variant": "authors", "n_neighbors": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", SETS)
def test_finite_samples_give_a_valid_model(name, options):
    unscaled = options.get("metric") == "manhattan" or options.get("scale", "std") is None
    check_fit(SETS[name], must=not (unscaled and name in NO_DISTANCES), **options)


@pytest.mark.parametrize("name", SETS)
def test_far_new_samples_have_labels_and_memberships(name):
    X = SETS[name]
    rng, n_features = np.random.default_rng(0), X.shape[1]
    far = np.array([np.zeros(n_features), np.full(n_features, 1e300), np.full(n_features, -1e308), X[0] * 0.5])
    for weights in (rng.integers(1, 4, len(X)), rng.random(len(X)) + 0.1):
        model = check_fit(X, {"sample_weight": weights}, must=True, n_clusters=2)
        labels = must_return(lambda model=model: model.predict(far))
        assert ((labels >= 0) & (labels < model.n_clusters_)).all()
        np.testing.assert_allclose(must_return(lambda model=model: model.predict_proba(far)).sum(axis=1), 1)
        assert not np.isnan(must_return(lambda model=model: model.score_samples(far))).any()


@pytest.mark.parametrize("shape", [(0,), (0, 0), (0, 3), (5, 0), (1, 1), (1, 3), (3,), (2, 2, 2), ()], ids=str)
def test_wrong_shapes_are_refused(shape):
    for metric in ("euclidean", "cosine", "precomputed", "precomputed_graph"):
        must_refuse(lambda m=metric: GIT(metric=m).fit(np.zeros(shape)))
    must_refuse(lambda: GIT(2).fit(blobs()).predict(np.zeros((3, *shape, 3))))


@pytest.mark.parametrize(
    "X",
    [np.arange(50_000.0)[:, None], np.concatenate([np.zeros((30_000, 2)), blobs(300)])],
    ids=["chain", "duplicates of one sample"],
)
def test_long_chains_and_many_duplicates_give_a_valid_model(X):
    check_fit(X, must=True, n_clusters=3)


def interrupt(stage):
    """Interrupt a fit during its search, as its ``verbose``."""
    if stage == "search":
        raise KeyboardInterrupt


def test_a_failed_fit_leaves_the_earlier_one_unchanged():
    X = blobs()
    model = GIT(2).fit(X)
    attributes, other = set(vars(model)), blobs(10)[:, :1]
    must_refuse(lambda: model.fit(np.full((7, 3), np.nan)))
    must_refuse(lambda: model.fit(other, cannot_link=[(0, 99)]))
    must_refuse(lambda: model.fit(other, sample_weight=[-1.0] * 10))
    must_refuse(lambda: model.set_params(n_neighbors=0).fit(other))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_neighbors="auto", verbose=interrupt).fit(other)
    model.set_params(verbose=False)
    assert set(vars(model)) == attributes
    check_model(model, X)
