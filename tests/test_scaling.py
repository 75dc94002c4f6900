"""The scale of features: standard deviations, weights, and the same for new samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from scipy.sparse import random as random_sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, scale_features
from gitcluster._support.arrays import reorder_rows
from gitcluster.preprocessing.representations import represent
from gitcluster.preprocessing.scaling import (
    LARGEST,
    apply_scaling,
    fit_scaling,
    scale_checked,
    scaling_from_moments,
    sum_moments,
    varying_features,
)

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]


def test_samples_are_centred_and_divided_by_standard_deviations():
    wide = X * [1, 1e-6, 1e9] + [0, 1e3, -7]
    np.testing.assert_allclose(scale_features(wide), (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-6)
    np.testing.assert_allclose(scale_features(X + 1e9).std(axis=0), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_do_not_vary_are_dropped(dtype):
    X = np.array([[1.0, 5.0, 1e300 if dtype == np.float64 else 1e38], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]], dtype=dtype)
    points = scale_features(X)
    assert points.shape == (3, 2)
    assert points.dtype == dtype
    np.testing.assert_allclose(points.std(axis=0), 1, rtol=1e-6)
    assert scale_features(np.full((4, 2), 0.1, dtype)).shape == (4, 0)


def test_new_samples_are_scaled_like_fitted_ones():
    scaling = fit_scaling(X)
    new = X[:7] + 3
    expected = (new - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(apply_scaling(new, scaling), expected, atol=1e-9)
    np.testing.assert_array_equal(apply_scaling(X[:7], scaling), apply_scaling(X, scaling)[:7])


def test_weights_multiply_features_and_drop_those_of_zero():
    np.testing.assert_array_equal(scale_features(X, [2, 0, 0.5]), X[:, [0, 2]] * [2, 0.5])
    unscaled = scale_features(X, None)
    np.testing.assert_array_equal(unscaled, X)
    assert not np.shares_memory(unscaled, X)


@pytest.mark.parametrize("scale", ["std", None, [1.0, 2.0, 0.0, 1.0]], ids=str)
def test_sparse_samples_stay_sparse_with_the_distances_of_dense_ones(scale):
    sparse = csr_array(random_sparse(40, 4, density=0.5, random_state=0))
    points, dense = scale_features(sparse, scale), scale_features(sparse.toarray(), scale)
    assert issparse(points)
    gaps = points.toarray()[1:] - points.toarray()[:-1]
    np.testing.assert_allclose(gaps, np.diff(dense, axis=0), atol=1e-9)
    assert points.has_sorted_indices
    assert (points.data != 0).all()


def test_zeros_of_both_signs_are_one_value():
    points = scale_features(np.array([[-0.0], [0.0], [1.0]]), None)
    assert not np.signbit(points).any()


def test_samples_are_never_written_to():
    given_samples = X.copy()
    given_samples.flags.writeable = False
    for scale in ("std", None, [1.0, 0.0, 2.0]):
        scale_features(given_samples, scale)
    np.testing.assert_array_equal(given_samples, X)


def test_values_too_large_for_distances_are_refused():
    huge = X.astype(np.float64) * LARGEST["d"]
    with pytest.raises(ValueError, match="too large for their distances with this scale"):
        scale_checked(huge, fit_scaling(huge, [1.0, 1.0, 1.0]))
    np.testing.assert_allclose(scale_checked(huge, fit_scaling(huge)), scale_features(X), atol=1e-9)


@given(st.integers(0, 50), st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1.0, 1e12]))
def test_moments_of_parts_add_up_to_the_scale_of_all(cut, seed, far):
    rng = np.random.default_rng(seed)
    lattices = rng.integers(0, 9, 50), rng.choice([0, 1, 10_000], 50)
    X = far + np.column_stack([rng.normal(size=(50, 3)) * [1.0, 1e-3, 1e6], *lattices])
    low, high = X.min(axis=0), X.max(axis=0)
    features = varying_features(low, high)
    parts = X[:cut, features].T, X[cut:, features].T
    sums = sum(sum_moments(part, low[features], high[features]) for part in parts)
    for mine, whole in zip(
        scaling_from_moments(features, low, high, sums, len(X)), fit_scaling(rng.permutation(X)), strict=True
    ):
        np.testing.assert_array_equal(mine, whole)


def test_the_deviation_is_that_of_numpy():
    rng = np.random.default_rng(0)
    lattices = rng.integers(0, 9, 10_000), rng.choice([0, 1, 10_000], 10_000)
    X = np.column_stack([rng.gamma(2.0, size=(10_000, 2)), *lattices])
    scaling = fit_scaling(X)
    np.testing.assert_allclose(scaling.deviation * scaling.span * 2, X.std(axis=0), rtol=1e-13)


def test_a_fit_takes_scales():
    wide = X * [1, 1, 100]
    std = GIT(3, scale="std")
    np.testing.assert_array_equal(std.fit(wide).labels_, std.fit(X).labels_)
    by_hand = GIT(3, scale=1 / wide.std(axis=0)).fit(wide)
    assert adjusted_rand_score(by_hand.labels_, GIT(3, scale="std").fit(X).labels_) == 1
    dropped = GIT(3, scale=[1, 1, 0]).fit(X)
    without = GIT(3, scale=None).fit(X[:, :2])
    np.testing.assert_array_equal(dropped.labels_, without.labels_)
    for wrong in ("minmax", [1, 2], [1, 1, -1], [1, 1, np.nan]):
        with pytest.raises(ValueError, match="scale must"):
            GIT(3, scale=wrong).fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_are_put_in_order_while_they_are_scaled(dtype):
    X = np.random.default_rng(3).gamma(2.0, size=(9000, 6)).astype(dtype)
    order = np.random.default_rng(4).permutation(len(X))
    ways = represent(X, fit_scaling(X))
    assert [way.name for way in ways if not way.reason] == ["std", "given", "range", "power", "components"]
    weighted = [fit_scaling(X, [1, 0, 2, 1, 1, 1]), None]
    for scaling in [way.scaling for way in ways] + weighted:
        scaled = apply_scaling(X, scaling, rows=order, n_jobs=2)
        np.testing.assert_array_equal(scaled, apply_scaling(X, scaling)[order])
        assert scaled.dtype == dtype
        assert not np.shares_memory(scaled, X)


@pytest.mark.parametrize("shape", [(50, 1), (40, 9), (30, 200)])
def test_rows_are_put_in_order_in_their_place(shape):
    values = np.random.default_rng(5).normal(size=shape)
    order = np.random.default_rng(6).permutation(shape[0])
    expected = values[order]
    reorder_rows(values, order)
    np.testing.assert_array_equal(values, expected)


def test_a_fit_of_many_samples_leaves_them_as_they_are():
    X = np.random.default_rng(4).gamma(2.0, size=(6000, 3))
    before = X.copy()
    model = GIT(n_clusters=3, n_neighbors=10).fit(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
