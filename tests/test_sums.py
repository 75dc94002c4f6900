"""Sums that neither order nor partition can change."""

from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster.kernels import sums

POSITIVE = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=60)
LOGS = st.lists(st.floats(-2000, 50), min_size=1, max_size=60)


def total(values):
    """The sum of the exponentials of values."""
    totals = sums.empty_totals(1)
    for value in values:
        sums.add_bins(totals, 0, *sums.split_exp(value))
    return totals


def in_one_place(values):
    return sums.sum_values(np.array(values), np.zeros(len(values), np.int64), 1)


@given(POSITIVE, st.randoms(use_true_random=False))
def test_order_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    np.testing.assert_array_equal(in_one_place(values), in_one_place(shuffled))


@given(LOGS, st.integers(0, 60))
def test_parts_add_up(values, cut):
    parts = np.concatenate([total(values[:cut]), total(values[cut:])])
    np.testing.assert_array_equal(sums.merge_totals(np.zeros(2, np.int64), parts, 1), total(values))


@given(POSITIVE)
def test_a_mean_is_as_good_as_that_of_exact_sums(values):
    mean = sums.mean_totals(in_one_place(values), np.array([float(len(values))]))
    assert mean[0] == pytest.approx(fsum(value / len(values) for value in values), rel=1e-14)


@given(LOGS)
def test_a_logarithm_of_a_sum_is_right_beyond_the_range_of_floats(values):
    logs, most = sums.log_totals(total(values)), max(values)
    assert logs[0] == pytest.approx(most + log(fsum(exp(value - most) for value in values)), rel=1e-12, abs=1e-12)


def test_nothing_has_a_mean_of_zero():
    assert sums.mean_totals(sums.empty_totals(1), np.ones(1))[0] == 0


def test_values_are_summed_where_they_belong():
    totals = sums.sum_values(np.array([1e-30, 3.0, 5.0, 0.0]), np.array([2, 0, 2, 1]), 3)
    np.testing.assert_array_equal(sums.mean_totals(totals, np.ones(3)), [3.0, 0.0, 5.0 + 1e-30])
