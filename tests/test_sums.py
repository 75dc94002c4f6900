"""Sums that neither order nor partition can change."""

from math import exp, fsum, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster._jit import sums

POSITIVE = st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=60)
LOGS = st.lists(st.floats(-2000, 50), min_size=1, max_size=60)


def total(values, add):
    totals = sums.empty_totals(1)
    for value in values:
        add(totals[0], value)
    return totals


@given(POSITIVE, st.randoms(use_true_random=False))
def test_order_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    np.testing.assert_array_equal(total(values, sums.add_value), total(shuffled, sums.add_value))


@given(LOGS, st.integers(0, 60))
def test_parts_add_up(values, cut):
    parts = [total(part, sums.add_exp) for part in (values[:cut], values[cut:])]
    merged = sums.empty_totals(1)
    for part in parts:
        if part[0, 0] != sums.NOTHING:
            sums.add_total(merged[0], part[0])
    np.testing.assert_array_equal(merged, total(values, sums.add_exp))


@given(POSITIVE)
def test_a_mean_is_as_good_as_that_of_exact_sums(values):
    mean = np.empty(1)
    sums.mean_totals(total(values, sums.add_value), np.array([float(len(values))]), mean)
    assert mean[0] == pytest.approx(fsum(value / len(values) for value in values), rel=1e-14)


@given(LOGS)
def test_a_logarithm_of_a_sum_is_right_beyond_the_range_of_floats(values):
    logs = np.empty(1)
    sums.log_totals(total(values, sums.add_exp), logs)
    most = max(values)
    assert logs[0] == pytest.approx(most + log(fsum(exp(value - most) for value in values)), rel=1e-12, abs=1e-12)


def test_nothing_has_a_mean_of_zero():
    mean = np.empty(1)
    sums.mean_totals(sums.empty_totals(1), np.ones(1), mean)
    assert mean[0] == 0
