"""Stage 2: kernels are their formulas, also where they underflow, with weights and on plateaus."""

import numpy as np
import pytest
from scipy.special import logsumexp

from gitcluster import Neighbors, estimate_intensity, find_neighbors
from gitcluster.intensity import LOWEST, distance_unit, round_intensity, rounding_step
from gitcluster.kernels.graph import NO_INTENSITY

X = np.random.default_rng(0).normal(size=(60, 3))
NEAR = find_neighbors(X, n_neighbors=12)  # one connected component
FORMULAS = {
    "exponential": lambda d: np.exp(-d),
    "gaussian": lambda d: np.exp(-(d**2) / 3),
    "relative": lambda d: np.exp(-d / d.mean()),
}


@pytest.mark.parametrize("kernel", FORMULAS)
def test_kernels_are_their_formulas(kernel):
    for k in (12, 8):
        expected = np.log(FORMULAS[kernel](NEAR.distances[:, :k]).mean(axis=1))
        found = estimate_intensity(NEAR, kernel=kernel, n_features=3, n_neighbors=k)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2 * rounding_step(np.float64))


def test_parts_that_nothing_connects_have_a_unit_each():
    both = find_neighbors(np.vstack([X, 1000 * X + 1e6]), n_neighbors=12)
    units = distance_unit(both, kernel="relative", n_features=3, n_neighbors=12)
    np.testing.assert_allclose(units[:60], NEAR.distances.mean(), rtol=1e-9)
    np.testing.assert_allclose(units[60:], 1000 * NEAR.distances.mean(), rtol=1e-6)
    alone, together = (estimate_intensity(near, kernel="relative") for near in (NEAR, both))
    np.testing.assert_allclose(together, np.tile(alone, 2), atol=1e-6)


def test_the_unit_of_duplicates_is_one():
    same = find_neighbors(np.zeros((5, 2)), n_neighbors=3)
    np.testing.assert_array_equal(distance_unit(same, kernel="relative", n_features=2, n_neighbors=3), 1.0)
    np.testing.assert_array_equal(estimate_intensity(same, kernel="relative"), 0.0)


def test_logarithms_survive_where_the_intensity_underflows():
    near = find_neighbors(20 * np.random.default_rng(1).normal(size=(30, 5000)), n_neighbors=6)
    assert np.exp(-near.distances).max() == 0.0
    expected = logsumexp(-near.distances, axis=1) - np.log(6)
    np.testing.assert_allclose(estimate_intensity(near), expected, rtol=1e-12)
    squares = logsumexp(-(near.distances**2) / 2, axis=1) - np.log(6)
    np.testing.assert_allclose(estimate_intensity(near, kernel="gaussian", n_features=2), squares, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_whole_weights_are_repeated_samples(kernel):
    weights = np.random.default_rng(2).integers(1, 5, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    repeated = estimate_intensity(find_neighbors(X[rows], n_neighbors=9), kernel=kernel, n_features=3)
    weighted = estimate_intensity(NEAR, kernel=kernel, n_features=3, n_neighbors=9, weights=weights.astype(float))
    np.testing.assert_allclose(weighted[rows], repeated, atol=1e-9)


def test_weights_of_one_change_nothing():
    for kernel in FORMULAS:
        plain, weighted = (estimate_intensity(NEAR, kernel=kernel, weights=w) for w in (None, np.ones(len(X))))
        np.testing.assert_allclose(weighted, plain, atol=1e-9)


@pytest.mark.xfail(reason="the weighted mean is over the neighbours there are, the other one counts empty places as 0")
def test_weights_of_one_change_nothing_where_places_are_empty():
    ragged = Neighbors(np.array([[1, 0], [0, 2], [1, 2]]), np.array([[1.0, np.inf], [1.0, 2.0], [2.0, np.inf]]))
    plain, weighted = (estimate_intensity(ragged, weights=w) for w in (None, np.ones(3)))
    np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_a_sample_without_neighbours_is_the_lowest():
    lonely = Neighbors(np.array([[0], [2], [1]]), np.array([[np.inf], [600.0], [600.0]]))
    np.testing.assert_array_equal(estimate_intensity(lonely), [NO_INTENSITY, -600.0, -600.0])
    np.testing.assert_array_equal(estimate_intensity(lonely, weights=np.ones(3)), [NO_INTENSITY, -600.0, -600.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_makes_a_plateau_one_value(dtype):
    angles = np.arange(0, 2 * np.pi, np.pi / 50)
    ring = (np.column_stack([np.cos(angles), np.sin(angles)]) * 0.3).astype(dtype)  # distances differ in the last bits
    near = find_neighbors(ring, n_neighbors=4)
    for kernel in FORMULAS:
        log_f = estimate_intensity(near, kernel=kernel, n_features=2)
        assert len(np.unique(log_f)) == 1
        np.testing.assert_array_equal(log_f / rounding_step(dtype) % 1, 0)
    assert round_intensity(np.array([-np.inf]), dtype)[0] == LOWEST


def test_more_neighbours_than_were_searched_are_refused():
    with pytest.raises(ValueError, match="n_neighbors"):
        estimate_intensity(NEAR, n_neighbors=13)
    with pytest.raises(ValueError, match="kernel must be one of"):
        estimate_intensity(NEAR, kernel="cubic")
