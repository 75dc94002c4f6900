"""Sums that depend neither on the order of the terms nor on their partition."""

from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.kernels import sums

POSITIVE = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=60)
LOGS = st.lists(st.floats(-2000, 50), min_size=1, max_size=60)


def sum_exponentials(values):
    totals = sums.empty_totals(1)
    for value in values:
        sums.add_bins(totals, 0, *sums.split_exp(value))
    return totals


@given(POSITIVE, st.randoms(use_true_random=False))
def test_a_mean_is_exact_in_any_order(values, random):
    group = np.zeros(len(values), np.int64)
    totals = sums.sum_values(np.array(values), group, 1)
    mean = sums.mean_totals(totals, np.array([float(len(values))]))
    assert mean[0] == pytest.approx(fsum(value / len(values) for value in values), rel=1e-14)
    random.shuffle(values)
    np.testing.assert_array_equal(sums.sum_values(np.array(values), group, 1), totals)


@given(LOGS, st.integers(0, 60))
def test_parts_add_up_beyond_the_range_of_floats(values, cut):
    totals, most = sum_exponentials(values), max(values)
    parts = np.concatenate([sum_exponentials(values[:cut]), sum_exponentials(values[cut:])])
    np.testing.assert_array_equal(sums.merge_totals(np.zeros(2, np.int64), parts, 1), totals)
    expected = most + log(fsum(exp(value - most) for value in values))
    assert sums.log_totals(totals)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_values_are_summed_by_group():
    totals = sums.sum_values(np.array([1e-30, 3.0, 5.0, 0.0]), np.array([2, 0, 2, 1]), 3)
    np.testing.assert_array_equal(sums.mean_totals(totals, np.ones(3)), [3.0, 0.0, 5.0 + 1e-30])
