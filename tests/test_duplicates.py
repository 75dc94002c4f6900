"""Equal rows, and an order of rows that does not depend on how they were given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gitcluster.neighbors.duplicates import canonical_order, group_duplicates, hash_positions, hash_samples

SEEDS = st.integers(0, 10_000)


def lattice(seed):
    return np.random.default_rng(seed).integers(0, 3, (30, 3)).astype(float)


@given(SEEDS)
def test_groups_are_those_of_numpy(seed):
    points = lattice(seed)
    for X in (points, points.astype(np.float32), csr_array(points)):
        first, group = group_duplicates(X)
        np.testing.assert_array_equal(points[first][group], points)
        assert len(first) == len(np.unique(points, axis=0))
        assert all((points[:x] != points[x]).any(axis=1).all() for x in first)  # in order of appearance
        assert (np.diff(first) > 0).all()


def test_different_rows_with_the_same_hash_are_different(monkeypatch):
    monkeypatch.setattr("gitcluster.neighbors.duplicates.hash_samples", lambda X: np.zeros(len(X), np.uint64))
    points = lattice(0)
    first, group = group_duplicates(points)
    np.testing.assert_array_equal(points[first][group], points)


@given(SEEDS, st.sampled_from([0.001, 0.3048, 7.0, 1000 / 3]))
def test_the_canonical_order_depends_neither_on_rows_nor_on_units(seed, unit):
    points = lattice(seed)
    np.testing.assert_array_equal(canonical_order(points), np.lexsort(points.T[::-1]))
    shuffled = np.random.default_rng(seed).permutation(points)
    sparse, other = csr_array(points), csr_array(shuffled)
    np.testing.assert_array_equal(sparse[canonical_order(sparse)].toarray(), other[canonical_order(other)].toarray())
    for kind in (np.asarray, csr_array):
        np.testing.assert_array_equal(canonical_order(kind(points * [unit, 1.0, 0.1])), canonical_order(kind(points)))


@given(SEEDS, st.sampled_from([0.001, 0.3048, 7.0, 1e300]), st.booleans())
def test_hashed_positions_do_not_depend_on_units_and_origin(seed, unit, ties):
    X = lattice(seed) if ties else np.random.default_rng(seed).normal(size=(500, 3))
    X[:, 2] = 0.1  # does not vary
    other = (X + (np.arange(3) if ties else 0)) * [unit, 1.0, 0.1]
    one, two = (hash_positions(x, x.min(axis=0), x.max(axis=0)) for x in (X, other))
    np.testing.assert_array_equal(one, two)
    assert len(np.unique(one)) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_have_the_same_hash(dtype):
    points = np.random.default_rng(0).normal(size=(500, 4)).astype(dtype)
    hashes = hash_samples(np.vstack([points, points]))
    np.testing.assert_array_equal(hashes[:500], hashes[500:])
    assert len(np.unique(hashes)) == 500
