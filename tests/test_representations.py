"""Scales and representations of the features: what each is, which are left out, and what a subsample decides."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.sparse import random as random_sparse
from sklearn.datasets import load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, scale_features

WINE = load_wine().data
STANDARD = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)


@pytest.mark.parametrize(
    ("scale", "points"),
    [
        ("std", STANDARD),
        ("components", PCA(0.9).fit_transform(STANDARD)),
        ([2.0] + [0.0] * 11 + [0.5], WINE[:, [0, 12]] * [2.0, 0.5]),
    ],
    ids=["std", "components", "weights"],
)
def test_scales_are_what_they_say(scale, points):
    model, expected = GIT(3, scale=scale).fit(WINE), GIT(3, scale=None).fit(points)
    np.testing.assert_allclose(model.log_intensity_, expected.log_intensity_, atol=1e-6)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1
    assert len(model.representations_["representation"]) == 1
    assert model.representation_ == (scale if isinstance(scale, str) else "weights")
    assert expected.representation_ == "given"


def test_all_representations_are_compared():
    model = GIT(3).fit(WINE)
    table = model.representations_
    assert table["representation"].tolist() == ["std", "given", "range", "power", "components", "balanced", "factors"]
    assert table["representation"][table["chosen"]].tolist() == [model.representation_]


@pytest.mark.parametrize(
    ("X", "left_out"),
    [
        (np.arange(20.0)[:, None], {"given", "range", "components", "balanced", "factors"}),
        (make_blobs(30, 2, random_state=0)[0], {"components", "balanced", "factors"}),
        (np.ones((10, 4)), {"given", "range", "power", "components", "balanced", "factors"}),
        (np.random.default_rng(0).normal(size=(30, 3)) * [1e160, 1, 1], {"given", "balanced"}),
    ],
    ids=["one feature", "two features", "constant", "huge"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_representations_that_are_left_out_have_a_reason(X, left_out):
    table = GIT(2).fit(X).representations_
    assert set(table["representation"][table["reason"] != ""]) == left_out
    assert np.isnan(table["score"][table["reason"] != ""]).all()


def test_skewed_features_are_transformed():
    X, y = make_blobs(400, 3, centers=4, cluster_std=0.7, center_box=(-2.5, 2.5), random_state=3)
    model = GIT(4).fit(np.exp(X))
    assert model.representation_ == "power"
    assert adjusted_rand_score(y, model.labels_) > 0.8


@pytest.mark.parametrize("n_columns", [1, 3, 10])
def test_random_yes_no_columns_do_not_rule(n_columns):
    rng = np.random.default_rng(n_columns)
    X, y = make_blobs(600, 3, centers=[[0, 0, 0], [5, 0, 0], [0, 5, 5]], random_state=3)
    mixed = np.column_stack([X, rng.integers(0, 2, (600, n_columns))])
    assert adjusted_rand_score(y, GIT(3).fit(mixed).labels_) > 0.97


# more than 5,000 samples: a subsample decides


LARGE, LARGE_Y = make_blobs(6000, 4, centers=5, random_state=1)
LARGE = LARGE * [1, 10, 1, 1000]


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_neither_order_nor_units_change_the_subsample(container):
    order = np.random.default_rng(0).permutation(len(LARGE))
    model = GIT(5).fit(container(LARGE))
    assert adjusted_rand_score(LARGE_Y, model.labels_) > 0.95
    others = ((LARGE[order], model.labels_[order]), (LARGE[:, ::-1], model.labels_), (LARGE * 0.25, model.labels_))
    for other, labels in others:
        again = GIT(5).fit(container(other))
        np.testing.assert_array_equal(again.labels_, labels)
        assert again.representation_ == model.representation_


# scales


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_do_not_vary_are_dropped(dtype):
    large = 1e300 if dtype == np.float64 else 1e38
    points = scale_features(np.array([[1.0, 5.0, large], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]], dtype=dtype))
    assert points.shape == (3, 2)
    assert points.dtype == dtype
    np.testing.assert_allclose(points.std(axis=0), 1, rtol=1e-6)
    assert scale_features(np.full((4, 2), 0.1, dtype)).shape == (4, 0)


@pytest.mark.parametrize("scale", ["std", None, [1.0, 2.0, 0.0, 1.0]], ids=str)
def test_sparse_samples_stay_sparse_with_the_distances_of_dense_ones(scale):
    sparse = csr_array(random_sparse(40, 4, density=0.5, random_state=0))
    points, dense = scale_features(sparse, scale), scale_features(sparse.toarray(), scale)
    assert issparse(points)
    np.testing.assert_allclose(np.diff(points.toarray(), axis=0), np.diff(dense, axis=0), atol=1e-9)
    assert points.has_sorted_indices
    assert (points.data != 0).all()


@pytest.mark.parametrize("scale", ["auto", "std", "components", None, [1, 0, 2, 1, 1, 1]], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_new_samples_are_scaled_like_fitted_ones(scale, dtype):
    samples = np.random.default_rng(3).gamma(2.0, size=(6000, 6)).astype(dtype)
    before = samples.copy()
    model = GIT(3, n_neighbors=10, scale=scale).fit(samples)
    np.testing.assert_array_equal(samples, before)
    np.testing.assert_array_equal(model.predict(samples[::-7]), model.labels_[::-7])
    moved = model.predict(samples[:500] + np.array(1e-5, dtype))
    assert (moved == model.labels_[:500]).mean() > 0.98
