"""Scores and distances against the formulas of the paper."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from gitcluster import proportion_distance
from gitcluster.metrics import density_validity, match_labels, matched_f1

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


@pytest.fixture
def noisy():
    """Return four overlapping blobs and their labels, a seventh of them noise."""
    X, y = make_blobs([120, 90, 60, 30], 3, cluster_std=1.5, random_state=3)
    return X, np.where(np.arange(300) % 7 == 0, -1, y)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, labels, order: (X[order], labels[order]),
        lambda X, labels, order: (1e6 * X + 5, labels),
        lambda X, labels, order: (1e-6 * X, labels),
        lambda X, labels, order: (X, np.array([12, 3, 40, 5, -1])[labels]),
    ],
    ids=["row order", "larger unit", "smaller unit", "names of labels"],
)
def test_density_validity_depends_only_on_samples_and_clusters(change, noisy):
    X, labels = change(*noisy, np.random.default_rng(0).permutation(300))
    assert density_validity(X, labels, n_jobs=2) == pytest.approx(density_validity(*noisy), abs=1e-6)


def test_noise_counts_0(noisy):
    X, labels = noisy
    score = density_validity(X, labels)
    assert score == pytest.approx(density_validity(X[labels >= 0], labels[labels >= 0]) * np.mean(labels >= 0))


def test_density_validity_of_all_inputs_agrees_if_all_neighbours_are_used(noisy):
    X, labels = noisy
    score = density_validity(X, labels, n_neighbors=299)
    for data in (csr_array(X), X.astype(np.float32)):
        assert density_validity(data, labels, n_neighbors=299) == pytest.approx(score, abs=1e-4)


def test_density_validity_prefers_separate_clusters():
    X, y = make_blobs(400, centers=[(0, 0), (20, 0), (0, 30), (25, 30)], random_state=0)
    right = density_validity(X, y)
    split = density_validity(X, np.where((y == 0) & (X[:, 0] > 0), 4, y))
    joined = density_validity(X, np.minimum(y, 2), n_neighbors=5)  # in two parts, which a bridge connects
    assert right > 0.8 > split
    assert joined < right - 0.2
    with pytest.raises(ValueError, match="metric"):
        density_validity(X, y, metric="precomputed")


def test_density_validity_of_duplicates_pairs_and_other_metrics():
    X, y = make_blobs(60, centers=[(1, 9), (9, 1)], random_state=0)
    repeated = np.repeat(X, 30, axis=0)  # more copies than neighbours
    assert 0 < density_validity(repeated, np.repeat(y, 30)) <= 1
    assert density_validity([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]) == 1
    assert density_validity([[0.0], [0.0], [0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1, 2, 2]) == 1 / 3
    assert density_validity(X, y, metric="cosine") > 0


@pytest.mark.slow
def test_density_validity_of_many_features_searches_separations_among_some_samples(monkeypatch):
    X, y = make_blobs(4600, centers=[(0, 0), (9, 0), (0, 9)], random_state=0)
    padded = np.column_stack([X, np.zeros((len(X), 3000))])
    thinned = density_validity(padded, y, n_jobs=2)
    monkeypatch.setattr("gitcluster.metrics.MAX_WORK", 1e30)
    assert thinned == pytest.approx(density_validity(padded, y, n_jobs=2), abs=0.01)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("X", "labels", "match"),
    [
        ([[0.0], [1.0], [2.0]], [0, 0], "labels"),
        ([[0.0], [1.0], [2.0]], [0, 0, -1], "labels"),
        ([[0.0], [1.0], [2.0]], [0, 0, 1], "labels"),
        ([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0], "labels"),
        ([[1.0], [1.0], [1.0], [1.0]], [0, 0, 1, 1], "X"),
        ([[0.0], [1.0], [1e200], [2e200]], [0, 0, 1, 1], "X"),
        ([[0.0], [1.0], [2.0], [np.nan]], [0, 0, 1, 1], "NaN"),
    ],
)
def test_density_validity_names_what_is_wrong(X, labels, match):
    with pytest.raises(ValueError, match=match):
        density_validity(X, labels)
    with pytest.raises(ValueError, match="n_neighbors"):
        density_validity(X, labels, n_neighbors=0)
