"""Scores worked out by hand."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from gitcluster.metrics import adjusted_rand_score, cover_rate, match_labels, matched_f1, published_scores


def test_optimal_and_greedy_matching_differ():
    # the large cluster overlaps class 0 most; giving it class 1 gets more samples right in all
    y_true, y_pred = [0] * 5 + [1] * 4 + [0] * 3, [0] * 9 + [1] * 3
    assert match_labels(y_true, y_pred, matching="greedy").tolist() == [0] * 9 + [-2] * 3
    assert match_labels(y_true, y_pred).tolist() == [1] * 9 + [0] * 3


def test_unmatched_clusters_and_noise_are_wrong():
    assert match_labels([0, 0, 0, 1], [4, 4, 9, -1]).tolist() == [0, 0, -2, -1]
    assert matched_f1([0, 0, 0, 1], [4, 4, 9, -1]) == pytest.approx(0.75 * 0.8)
    assert cover_rate([4, 4, 9, -1]) == 0.75


def test_published_scores_match_a_pool_of_leftovers():
    # cluster 0 takes class 0 and cluster 1, next in size, overlaps nothing but class 0; so class 1 is left for the
    # pool of all that one matching leaves over
    y_true = np.array([0] * 9 + [1] * 2)
    y_pred = np.array([0] * 5 + [1] * 4 + [2] * 2)
    once = match_labels(y_true, y_pred, matching="greedy")
    assert once.tolist() == [0] * 5 + [-2] * 4 + [1] * 2
    y_pred = np.array([0] * 5 + [1] * 4 + [0] * 2)
    once = match_labels(y_true, y_pred, matching="greedy")
    assert once.tolist() == [0] * 5 + [-2] * 4 + [0] * 2
    scores = published_scores(y_true, y_pred)
    assert scores.ari == pytest.approx(published_scores(y_true, once).ari)
    assert scores.cover == 1


def test_published_scores_leave_noise_out():
    scores = published_scores([0, 0, 1, 1], [5, 5, -1, 3])
    assert (scores.f1, scores.ari, scores.cover) == (1, 1, 0.75)
    assert published_scores([0, 1], [-1, -1]).cover == 0


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
