"""Density validity against exact DBCV."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from benchmarks.experiments.validity import exact_dbcv, make_labellings
from gitcluster.metrics import density_validity


def test_dbcv_of_two_pairs_by_hand():
    # Core distances of pairs are their distances, 1 and 2. The nearest ends are 4 apart: (4 - 1) / 4 and (4 - 2) / 4.
    X, labels = np.array([[0.0], [1.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    assert exact_dbcv(X, labels) == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert density_validity(X, labels) == pytest.approx((3 / 4 + 2 / 4) / 2)


@pytest.mark.parametrize("n_features", [1, 2, 5, 60])
def test_with_all_neighbours_the_score_is_dbcv(n_features):
    X, y = make_blobs(150, n_features, centers=4, cluster_std=3.0, random_state=n_features)
    for name, labels in make_labellings(X, y, np.random.default_rng(0)):
        score = density_validity(X, labels, n_neighbors=len(X))
        assert score == pytest.approx(exact_dbcv(X, labels), abs=1e-6), name


def test_few_neighbours_come_close_to_dbcv():
    X, y = make_moons(500, noise=0.08, random_state=0)
    for name, labels in make_labellings(X, y, np.random.default_rng(0)):
        assert density_validity(X, labels) == pytest.approx(exact_dbcv(X, labels), abs=0.05), name
