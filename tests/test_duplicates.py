"""Equal rows, and an order of rows that does not depend on how they were given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gitcluster.neighbors import duplicates
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates, hash_places, hash_samples

SEEDS = st.integers(0, 10_000)


def lattice(seed):
    return np.random.default_rng(seed).integers(0, 3, (30, 3)).astype(float)


def test_groups_of_duplicates():
    first, group = group_duplicates(np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0], [-1.0, 3.0], [0.0, 0.0]]))
    assert first.tolist() == [0, 1, 3]
    assert group.tolist() == [0, 1, 0, 2, 1]


@given(SEEDS)
def test_groups_are_those_of_numpy_dense_and_sparse(seed):
    points = lattice(seed)
    for given_points in (points, points.astype(np.float32), csr_array(points)):
        first, group = group_duplicates(given_points)
        np.testing.assert_array_equal(points[first][group], points)
        assert len(first) == len(np.unique(points, axis=0))
        assert (np.diff(first) > 0).all()  # in order of first sight
        assert all((points[:x] != points[x]).any(axis=1).all() for x in first[1:])


def test_different_rows_with_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(duplicates, "hash_samples", lambda points: np.zeros(len(points), np.uint64))
    points = lattice(0)
    first, group = group_duplicates(points)
    np.testing.assert_array_equal(points[first][group], points)


@given(SEEDS)
def test_the_order_does_not_depend_on_the_order(seed):
    points = lattice(seed)
    shuffled = points[np.random.default_rng(seed).permutation(len(points))]
    for X, other in ((points, shuffled), (csr_array(points), csr_array(shuffled))):
        ours, theirs = (x[canonical_order(x)] for x in (X, other))
        np.testing.assert_array_equal(*(x.toarray() if isinstance(x, csr_array) else x for x in (ours, theirs)))
    np.testing.assert_array_equal(canonical_order(points), np.lexsort(points.T[::-1]))


@given(SEEDS, st.sampled_from([0.001, 0.3048, 7.0, 1000 / 3]))
def test_the_order_does_not_depend_on_units(seed, unit):
    points = lattice(seed)
    units = [unit, 1.0, 0.1]
    np.testing.assert_array_equal(canonical_order(points * units), canonical_order(points))
    np.testing.assert_array_equal(canonical_order(csr_array(points * units)), canonical_order(csr_array(points)))


@given(SEEDS, st.sampled_from([0.001, 0.3048, 7.0, 1e300]), st.booleans())
def test_places_do_not_depend_on_units_and_origin(seed, unit, links):
    X = lattice(seed) if links else np.random.default_rng(seed).normal(size=(500, 3))
    X[:, 2] = 0.1  # does not vary
    other = (X + (np.arange(3) if links else 0)) * [unit, 1.0, 0.1]
    there, back = (hash_places(x, x.min(axis=0), x.max(axis=0)) for x in (X, other))
    np.testing.assert_array_equal(there, back)
    assert len(np.unique(there)) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_have_one_hash(dtype):
    points = np.random.default_rng(0).normal(size=(500, 4)).astype(dtype)
    hashes = hash_samples(np.vstack([points, points]))
    np.testing.assert_array_equal(hashes[:500], hashes[500:])
    assert len(np.unique(hashes)) == 500
