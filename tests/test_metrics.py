"""Scores worked out by hand."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gitcluster.metrics import match_labels, matched_f1


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
    found = match_labels(y_true, np.where(rng.random(60) < 0.6, y_true, rng.integers(0, 3, 60)))
    score = 0.0
    for i in range(3):
        right = np.sum((y_true == i) & (found == i))
        precision, recall = right / np.sum(found == i), right / np.sum(y_true == i)
        score += np.sum(y_true == i) * 2 * precision * recall / (precision + recall) / 60
    assert matched_f1(y_true, found) == pytest.approx(score)


def test_ari_is_the_rand_index_of_equation_23_adjusted_as_in_24_and_from_the_contingency_table():
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
