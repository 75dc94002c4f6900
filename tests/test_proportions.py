"""The distance between proportions, against the linear programme of the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from gitcluster import proportion_distance

counts = st.lists(st.integers(1, 50), min_size=1, max_size=6)


def transport_cost(p, q, cost=None):
    rows = [np.kron(np.eye(len(p))[i], np.ones(len(q))) for i in range(len(p))]
    columns = [np.kron(np.ones(len(p)), np.eye(len(q))[j]) for j in range(len(q))]
    cost = np.abs(np.subtract.outer(p, q)) if cost is None else cost
    return linprog(cost.ravel(), A_eq=np.array(rows + columns), b_eq=np.concatenate([p, q])).fun


@given(counts, counts)
def test_closed_form_equals_linear_programme(p, q):
    p, q = np.array(p) / np.sum(p), np.array(q) / np.sum(q)
    np.testing.assert_allclose(proportion_distance(p, q), transport_cost(p, q), atol=1e-9)


def test_with_the_printed_cost_of_one_every_proportion_scores_alike():
    for p in ([1.0], [0.5, 0.5], [0.9, 0.05, 0.05]):
        assert transport_cost(np.array(p), np.array([0.7, 0.3]), np.ones((len(p), 2))) == pytest.approx(1)
