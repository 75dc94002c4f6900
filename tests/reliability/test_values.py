"""Hostile values: extremes of floats, duplicates, chains, missing values."""

import numpy as np
import pytest
from combinations import label, pairwise
from conftest import nasty_sets

from gitcluster import GIT

from .conftest import answer_or_named_error, blobs, check_fit, check_model, extreme_sets, must_answer, must_refuse

SETS = {**extreme_sets(), **nasty_sets()}
SETS["5000 dimensions"] = SETS["5000 dimensions"][:, :500]
TOO_LARGE = {
    "1e300", "-1e300", "1e300 and 1e-300", "opposite 1e308", "opposite 1e308 and blobs", "largest float",
    "one largest float", "all powers of ten", "one at 1e300", "two samples at the ends", "single precision, largest",
    "huge scale",
}  # fmt: skip
TOO_SMALL = {"denormals", "smallest normal", "blobs at 1e-300", "single precision, denormals"}
"""Sets whose distances are not floats unless features are scaled; they may be refused then, the others never."""


def may_be_refused(name, metric, scale):
    return name in TOO_LARGE | TOO_SMALL and (metric == "manhattan" or (metric == "euclidean" and scale is None))


def possible(row):
    """The published variants need a number of clusters, and the authors' is defined without weights."""
    if row["variant"] == "authors" and row["weights"]:
        return False
    return row["variant"] == "adaptive" or row["number"] != "auto"


@pytest.mark.parametrize(
    "row",
    pairwise(
        possible,
        name=SETS,
        variant=["adaptive", "paper", "authors"],
        number=["auto", 2, [5, 1]],
        noise=[None, "auto", 0.5],
        weights=[False, True],
        metric=["euclidean", "manhattan", "cosine"],
        scale=["std", None],
        n_neighbors=["auto", 1],
    ),
    ids=label,
)
def test_finite_data(row):
    options = dict(row)
    name, number, weights = (options.pop(key) for key in ("name", "number", "weights"))
    options["proportions" if isinstance(number, list) else "n_clusters"] = number
    must = not may_be_refused(name, row["metric"], row["scale"])
    rng, n = np.random.default_rng(0), len(SETS[name])
    whole, real = rng.integers(1, 4, n), rng.random(n) + 0.1
    for fit_params in [{"sample_weight": whole}, {"sample_weight": real}] if weights else [{}]:
        check_fit(SETS[name], fit_params, must=must, **options)


@pytest.mark.parametrize("name", SETS)
def test_predictions_for_new_samples(name):
    X = SETS[name]
    n = X.shape[1]
    far = np.array([np.zeros(n), np.full(n, 1e300), np.full(n, -1e308), np.full(n, 5e-324), X[0] * 0.5])
    for noise in (None, 0.2):
        model = must_answer(lambda z=noise: GIT(2, noise=z).fit(X))
        labels = must_answer(lambda m=model: m.predict(far))
        assert ((labels >= -1) & (labels < model.n_clusters_)).all()
        shares = must_answer(lambda m=model: m.predict_proba(far))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert not np.isnan(must_answer(lambda m=model: m.score_samples(far))).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["one", "row", "column", "all", "mixed"])
def test_missing_and_infinite_values(value, place):
    X = blobs()
    where = {"one": (3, 1), "row": 3, "column": np.s_[:, 0], "all": ..., "mixed": (3, 1)}[place]
    X[where] = value
    if place == "mixed":
        X[5] = [np.inf, -np.inf]
    for options in ({}, {"metric": "manhattan"}, {"variant": "paper", "n_clusters": 2}, {"scale": None}):
        must_refuse(lambda o=options: GIT(**o).fit(X))
        must_refuse(lambda o=options: GIT(**o).fit(X.astype(np.float32)))
    must_refuse(lambda: GIT(2).fit(blobs()).predict(X))
    must_refuse(lambda: GIT(2).fit(blobs()).predict_proba(X))


@pytest.mark.parametrize(
    "shape", [(0,), (0, 0), (0, 3), (5, 0), (1, 0), (1, 1), (1, 3), (3,), (2, 2, 2), (), (1, 1, 1)]
)
def test_shapes_that_are_none(shape):
    for metric in ("euclidean", "cosine", "precomputed", "precomputed_graph"):
        must_refuse(lambda m=metric: GIT(metric=m).fit(np.zeros(shape)))
    if shape != (0, 0):
        must_refuse(lambda: GIT(2).fit(blobs()).predict(np.zeros((2, *shape))))


def test_a_chain_of_50_000():
    X = np.arange(50_000.0)[:, None]
    model = must_answer(lambda: GIT(2).fit(X))
    check_model(model, X, refit=False)


@pytest.mark.slow
def test_a_chain_of_1_000_000():
    X = np.arange(1_000_000.0)[:, None]
    for variant in ("adaptive", "paper"):
        model = must_answer(lambda v=variant: GIT(2, variant=v).fit(X))
        check_model(model, X, refit=False)


def test_many_duplicates_of_one():
    X = np.concatenate([np.zeros((30_000, 2)), blobs(300)])
    model = must_answer(lambda: GIT(3).fit(X))
    check_model(model, X, refit=False)


def test_predictions_of_wrong_data():
    model = GIT(2).fit(blobs())
    must_refuse(lambda: model.predict(np.zeros((3, 3))), "features")
    must_refuse(lambda: model.predict(np.zeros((3, 1))), "features")
    must_refuse(lambda: model.predict(np.zeros(2)))
    must_refuse(lambda: model.predict([["a", "b"]]))
    must_refuse(lambda: model.predict(None))
    for call in ("predict", "predict_proba", "score_samples"):
        must_refuse(lambda c=call: getattr(GIT(), c)(blobs()), "not fitted")
    must_refuse(lambda: GIT().cut(n_clusters=2), "not fitted")
    must_refuse(lambda: GIT().save("/nowhere/model.npz"), "not fitted")


@pytest.mark.parametrize("number", [0, -1, 10**6, 1.5, True, None, "two", "auto", [2], np.nan])
def test_wrong_cuts(number):
    model = GIT(2).fit(blobs())
    answer = answer_or_named_error(lambda: model.cut(n_clusters=number), "n_clusters")
    assert answer is None
    assert (
        answer_or_named_error(lambda: model.cut(proportions=[1, number]), "proportions") is None
        or number == 10**6
        or number is True
        or number == 1.5
    )


def test_a_failed_fit_leaves_the_earlier_one():
    X = blobs()
    model = GIT(2).fit(X)
    labels, names = model.labels_.copy(), set(vars(model))
    frame = np.full((7, 3), np.nan)
    must_refuse(lambda: model.fit(frame))
    must_refuse(lambda: model.fit(np.zeros((1, 5))))
    must_refuse(lambda: model.fit(blobs(10)[:, :1], cannot_link=[(0, 99)]))
    must_refuse(lambda: model.fit(blobs(10)[:, :1], sample_weight=[-1.0] * 10))
    must_refuse(lambda: model.set_params(n_neighbors=0).fit(blobs(10)[:, :1]))
    must_refuse(lambda: model.set_params(n_neighbors="auto", variant="none").fit(blobs(10)[:, :1]))
    model.set_params(variant="adaptive")
    assert set(vars(model)) == names
    np.testing.assert_array_equal(model.labels_, labels)
    check_model(model, X)


class Breaks:
    """An index that fails in the middle of a fit."""

    def fit(self, X):
        return self

    def kneighbors(self, X, k):
        raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_the_earlier_one():
    X = blobs()
    model = GIT(2).fit(X)
    model.set_params(search=Breaks())
    with pytest.raises(KeyboardInterrupt):
        model.fit(blobs(30)[:, :1])
    model.set_params(search="auto")
    check_model(model, X)
