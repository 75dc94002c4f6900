"""The search, where its fast paths could go wrong."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from gitcluster import find_neighbors, scale_features
from gitcluster._support import validation
from gitcluster.neighbors.duplicates import group_duplicates


def nearest_by_sorting(points, k):
    gaps = points[:, None].astype(np.float64) - points[None]
    squares = np.zeros(gaps.shape[:2])
    for j in range(points.shape[1]):
        squares += gaps[:, :, j] * gaps[:, :, j]
    mantissa, exponent = np.frexp(np.sqrt(squares))
    distances = np.ldexp(np.floor(mantissa * 2**37 + 0.5) / 2**37, exponent).astype(points.dtype)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


@given(
    st.integers(0, 10_000),
    st.integers(2, 200),
    st.sampled_from([1, 2, 5, 16, 40]),
    st.integers(1, 30),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_equals_a_full_sort(seed, n, d, k, dtype, lattice):
    rng = np.random.default_rng(seed)
    points = rng.integers(-2, 3, size=(n, d)) if lattice else rng.normal(size=(n, d))
    points = points.astype(dtype)
    found = find_neighbors(points, n_neighbors=min(k, n - 1))
    indices, distances = nearest_by_sorting(points, min(k, n - 1))
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.indices, indices)
    assert found.indices.dtype == np.int32
    assert found.distances.dtype == dtype


def test_far_from_the_origin_with_many_features():
    points = np.random.default_rng(0).normal(size=(300, 30)) * 1e-6 + 1e3
    indices, _ = nearest_by_sorting(points, 5)
    np.testing.assert_array_equal(find_neighbors(points, n_neighbors=5).indices, indices)


def test_precomputed_distances():
    points = np.random.default_rng(1).normal(size=(50, 3))
    matrix = pairwise_distances(points)
    expected = find_neighbors(points, n_neighbors=6)
    found = find_neighbors(matrix, n_neighbors=6, metric="precomputed")
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_groups_of_duplicates():
    first, group = group_duplicates(np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0], [-1.0, 3.0], [0.0, 0.0]]))
    assert first.tolist() == [0, 1, 3]
    assert group.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaling(dtype):
    X = np.array([[1.0, 5.0, 1e300 if dtype == np.float64 else 1e38], [3.0, 5.0, 0.0], [5.0, 5.0, 0.0]], dtype=dtype)
    points = scale_features(X)
    assert points.shape == (3, 2)
    assert points.dtype == dtype
    np.testing.assert_allclose(points.std(axis=0), 1, rtol=1e-6)
    assert scale_features(np.full((4, 2), 0.1, dtype)).shape == (4, 0)


def test_too_little_memory_is_told_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"needs about 0\.0 GB.*fewer neighbours"):
        find_neighbors(np.zeros((10_000, 3)), n_neighbors=30)
    assert find_neighbors(np.zeros((100, 3)), n_neighbors=30).recall == 1


def test_available_memory_is_read_or_unlimited(monkeypatch):
    assert validation.available_memory() > 0
    monkeypatch.setattr(validation, "Path", lambda *_: Path("/nowhere"))
    assert validation.available_memory() == np.inf
