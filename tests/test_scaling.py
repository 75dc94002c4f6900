"""The scale of features: standard deviations, weights, sparse samples, and the same for new samples."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.sparse import random as random_sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, scale_features

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]


def test_samples_are_centred_and_divided_by_standard_deviations():
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(scale_features(X * [1, 1e-6, 1e9] + [0, 1e3, -7]), expected, atol=1e-6)
    np.testing.assert_allclose(scale_features(X + 1e9).std(axis=0), 1, rtol=1e-6)
    rng = np.random.default_rng(0)
    lattices = rng.integers(0, 9, 10_000), rng.choice([0, 1, 10_000], 10_000)
    skewed = np.column_stack([rng.gamma(2.0, size=(10_000, 2)), *lattices])
    np.testing.assert_allclose(np.ptp(scale_features(skewed), axis=0), np.ptp(skewed, axis=0) / skewed.std(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_do_not_vary_are_dropped(dtype):
    large = 1e300 if dtype == np.float64 else 1e38
    points = scale_features(np.array([[1.0, 5.0, large], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]], dtype=dtype))
    assert points.shape == (3, 2)
    assert points.dtype == dtype
    np.testing.assert_allclose(points.std(axis=0), 1, rtol=1e-6)
    assert scale_features(np.full((4, 2), 0.1, dtype)).shape == (4, 0)


def test_weights_multiply_features_and_drop_those_of_zero():
    np.testing.assert_array_equal(scale_features(X, [2, 0, 0.5]), X[:, [0, 2]] * [2, 0.5])
    unscaled = scale_features(X, None)
    np.testing.assert_array_equal(unscaled, X)
    assert not np.shares_memory(unscaled, X)
    assert not np.signbit(scale_features(np.array([[-0.0], [0.0], [1.0]]), None)).any()


@pytest.mark.parametrize("scale", ["std", None, [1.0, 2.0, 0.0, 1.0]], ids=str)
def test_sparse_samples_stay_sparse_with_the_distances_of_dense_ones(scale):
    sparse = csr_array(random_sparse(40, 4, density=0.5, random_state=0))
    points, dense = scale_features(sparse, scale), scale_features(sparse.toarray(), scale)
    assert issparse(points)
    np.testing.assert_allclose(np.diff(points.toarray(), axis=0), np.diff(dense, axis=0), atol=1e-9)
    assert points.has_sorted_indices
    assert (points.data != 0).all()


def test_a_fit_uses_the_scale():
    wide = X * [1, 1, 100]
    std = GIT(3, scale="std")
    np.testing.assert_array_equal(std.fit(wide).labels_, std.fit(X).labels_)
    by_hand = GIT(3, scale=1 / wide.std(axis=0)).fit(wide)
    assert adjusted_rand_score(by_hand.labels_, std.fit(X).labels_) == 1
    without = GIT(3, scale=None).fit(X[:, :2])
    np.testing.assert_array_equal(GIT(3, scale=[1, 1, 0]).fit(X).labels_, without.labels_)
    huge = X * 1e300
    np.testing.assert_array_equal(std.fit(huge).labels_, std.fit(X).labels_)
    with pytest.raises(ValueError, match="scale"):
        GIT(3, scale=None).fit(huge)


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
