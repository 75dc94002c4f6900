"""The search, where its fast paths could go wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.metrics import pairwise_distances

from gitcluster import find_neighbors, scale_features
from gitcluster._support import validation
from gitcluster.kernels import search
from gitcluster.neighbors.exact import WIDE


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


@given(st.integers(0, 10_000), st.sampled_from([np.float32, np.float64]), st.sampled_from(["links", "simplex", "far"]))
def test_wide_samples_equal_a_full_sort(seed, dtype, kind):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 90)), int(rng.integers(WIDE + 1, WIDE + 60))
    points = {
        "links": lambda: np.unique(rng.integers(0, 2, (n, d)) * (rng.random((n, d)) < 0.03), axis=0),
        "simplex": lambda: np.eye(n, d) * 3 - 0.1,
        "far": lambda: rng.normal(size=(n, d)) * 1e-6 + 1e3,
    }[kind]().astype(dtype)
    k = min(7, len(points) - 1)
    if k:
        found, (indices, distances) = find_neighbors(points, n_neighbors=k), nearest_by_sorting(points, k)
        np.testing.assert_array_equal(found.distances, distances)
        np.testing.assert_array_equal(found.indices, indices)


def test_pairs_whose_distance_the_search_has_told_are_not_measured(monkeypatch):
    measured = []
    kernel = search.measure_missing
    monkeypatch.setattr(search, "measure_missing", lambda *a: measured.append(np.isnan(a[-1]).mean()) or kernel(*a))
    find_neighbors(np.eye(400), n_neighbors=10)
    assert measured
    assert max(measured) < 0.2


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


def test_too_little_memory_is_told_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"needs about 0\.0 GB.*fewer neighbours"):
        find_neighbors(np.zeros((10_000, 3)), n_neighbors=30)
    assert find_neighbors(np.zeros((100, 3)), n_neighbors=30).recall == 1


def test_sparse_search_equals_the_dense_one():
    sparse = csr_array(random_sparse(200, 30, density=0.2, random_state=0))
    dense = sparse.toarray()
    for scale in (None, "std"):
        a = find_neighbors(scale_features(sparse, scale), n_neighbors=9)
        b = find_neighbors(np.ascontiguousarray(scale_features(dense, scale)), n_neighbors=9)
        np.testing.assert_allclose(a.distances, b.distances, rtol=1e-9, atol=1e-9)
    assert (a.indices == b.indices).mean() > 0.999
