"""Scores and distances against the formulas of the paper."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.metrics import adjusted_rand_score

from gitcluster import proportion_distance
from gitcluster.metrics import match_labels, matched_f1

COUNTS = st.lists(st.integers(1, 50), min_size=1, max_size=6)


def test_the_matching_has_the_most_samples_right():
    # the large cluster overlaps class 0 most; giving it class 1 gets more samples right in all
    y_true, y_pred = [0] * 5 + [1] * 4 + [0] * 3, [0] * 9 + [1] * 3
    assert match_labels(y_true, y_pred).tolist() == [1] * 9 + [0] * 3


def test_unmatched_clusters_and_noise_are_wrong():
    assert match_labels([0, 0, 0, 1], [4, 4, 9, -1]).tolist() == [0, 0, -2, -1]
    assert matched_f1([0, 0, 0, 1], [4, 4, 9, -1]) == pytest.approx(0.75 * 0.8)
    assert match_labels([0, 1], [-1, -1]).tolist() == [-1, -1]


def test_f1_is_equation_22():
    rng = np.random.default_rng(0)
    y_true = np.repeat([0, 1, 2], [5, 20, 35])
    matched = match_labels(y_true, np.where(rng.random(60) < 0.6, y_true, rng.integers(0, 3, 60)))
    score = 0.0
    for i in range(3):
        right = np.sum((y_true == i) & (matched == i))
        precision, recall = right / np.sum(matched == i), right / np.sum(y_true == i)
        score += np.sum(y_true == i) * 2 * precision * recall / (precision + recall) / 60
    assert matched_f1(y_true, matched) == pytest.approx(score)


def test_ari_is_equation_24_from_pairs_and_from_the_contingency_table():
    rng = np.random.default_rng(0)
    y_true, y_pred = np.repeat([0, 1, 2], [4, 6, 10]), rng.integers(0, 4, 20)
    table = np.array([[np.sum((y_true == i) & (y_pred == j)) for j in range(4)] for i in range(3)])
    together, of_rows, of_columns = (
        sum(comb(int(number), 2) for number in counts)
        for counts in (table.ravel(), table.sum(axis=1), table.sum(axis=0))
    )
    chance = of_rows * of_columns / comb(20, 2)
    ari = adjusted_rand_score(y_true, y_pred)
    assert ari == pytest.approx((together - chance) / ((of_rows + of_columns) / 2 - chance))

    agree = sum((y_true[i] == y_true[j]) == (y_pred[i] == y_pred[j]) for i, j in combinations(range(20), 2))
    expected = 1 + (2 * chance - of_rows - of_columns) / comb(20, 2)
    assert ari == pytest.approx((agree / comb(20, 2) - expected) / (1 - expected))


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [([0, 1], [0], "as many"), ([], [], "non-empty"), ([0.5, 1], [0, 1], "integer"), ([[0]], [[0]], "one-dimensional")],
)
def test_bad_labels(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        matched_f1(y_true, y_pred)


def transport_cost(p, q, cost=None):
    rows = [np.kron(np.eye(len(p))[i], np.ones(len(q))) for i in range(len(p))]
    columns = [np.kron(np.ones(len(p)), np.eye(len(q))[j]) for j in range(len(q))]
    cost = np.abs(np.subtract.outer(p, q)) if cost is None else cost
    return linprog(cost.ravel(), A_eq=np.array(rows + columns), b_eq=np.concatenate([p, q])).fun


@given(COUNTS, COUNTS)
def test_the_distance_between_proportions_is_the_linear_programme_of_the_paper(p, q):
    p, q = np.array(p) / np.sum(p), np.array(q) / np.sum(q)
    np.testing.assert_allclose(proportion_distance(p, q), transport_cost(p, q), atol=1e-9)


def test_with_the_printed_cost_of_one_every_proportion_scores_alike():
    for p in ([1.0], [0.5, 0.5], [0.9, 0.05, 0.05]):
        assert transport_cost(np.array(p), np.array([0.7, 0.3]), np.ones((len(p), 2))) == pytest.approx(1)
