"""Steps of lattices: found whatever the units and the origin, and only where there are any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.inputs.lattices import DISTINCT, count_steps, distinct_values, merge_distinct
from gitcluster.inputs.scaling import apply_scaling, fit_scaling

units = st.sampled_from([1.0, 0.1, 1e-3, 0.3048, 7.0, 1e9]) | st.floats(1e-6, 1e6)
whole = st.lists(st.integers(0, 5000), min_size=2, max_size=60, unique=True).map(sorted)


@given(whole, units, st.sampled_from([0.0, 1e4, -3e5, 2e6]))
def test_whole_numbers_of_any_step_are_counted(numbers, unit, far):
    values = (np.array(numbers) + far) * unit
    expected = (numbers[-1] - numbers[0]) // np.gcd.reduce(np.diff(numbers))
    assert count_steps(values) == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("step", "far"), [(0.1, 1e4), (0.01, 10.0), (1.0, 0.0), (0.25, -7.0), (1 / 3, 0.0)])
def test_decimals_far_from_the_origin_are_counted(step, far, dtype):
    values = np.array(np.array([0, 2, 3, 7, 8, 15]) * step + far, dtype)
    for unit in (1.0, 0.001, 2.54):
        assert count_steps(values * dtype(unit)) == 15


def test_other_values_are_on_no_lattice():
    rng = np.random.default_rng(0)
    for size in (5, 50, 2000):
        for values in (rng.random(size), rng.normal(size=size) + 1e6, np.exp(rng.normal(size=size) * 5)):
            assert count_steps(np.unique(values)) == 0
            assert count_steps(np.unique(values.astype(np.float32))) == 0
    assert count_steps(np.array([1.0])) == count_steps(None) == count_steps(np.array([1.0, 1.0 + 1e-15, 2.0])) == 0
    assert count_steps(np.array([5.4e6, 5.4e6 + 0.5, 5.4e6 + 1.0], np.float32)) == 0
    for tiny in (5e-324, 1e-300):
        assert count_steps(np.array([0.0, 1.0, 3.0]) * tiny) in (0, 3)
    assert count_steps(np.array([-1.7e308, 0.0, 1.7e308])) == 2


def test_distinct_values_of_parts_are_those_of_all():
    rng = np.random.default_rng(1)
    few, many = rng.integers(0, 300, 20_000) * 0.1, rng.random(20_000)
    for values in (few, many, few[:0]):
        parts = [distinct_values(part) for part in np.array_split(values, 7)]
        np.testing.assert_array_equal(merge_distinct(parts), distinct_values(values))
    assert distinct_values(many) is None
    assert distinct_values(np.arange(DISTINCT)) is not None
    assert distinct_values(np.arange(DISTINCT + 1)) is None


@given(st.integers(0, 10_000), units)
def test_scaled_samples_are_the_same_in_all_units(seed, unit):
    X = np.random.default_rng(seed).integers(0, 9, (40, 2)) * [0.1, 3.0] + [1e4, 0.0]
    np.testing.assert_array_equal(apply_scaling(X * unit, fit_scaling(X * unit)), apply_scaling(X, fit_scaling(X)))


def test_new_samples_between_the_steps_stay_there():
    X = np.arange(10.0)[:, None]
    scaling = fit_scaling(X)
    new = np.array([[0.5], [3.0 + 1e-9], [-4.0], [12.0]])
    np.testing.assert_allclose(apply_scaling(new, scaling), (new - 4.5) / X.std(), rtol=1e-14)
    assert np.isfinite(apply_scaling(np.array([[1e300], [-1e300]]), scaling)).all()
    assert apply_scaling(new[1:2], scaling) != apply_scaling(X[3:4], scaling)
