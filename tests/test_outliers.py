"""Outlier scores against their formula, and which samples are noise."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT, find_neighbors
from gitcluster.fitted.outliers import ROUNDING, noise_threshold, score_outliers

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]
NEAR = find_neighbors(X, n_neighbors=10)


def test_scores_compare_widths_with_those_of_the_neighbours():
    for requested, k in ((10, 10), (4, 4), (99, 10)):
        widths, scores = score_outliers(NEAR, requested)
        np.testing.assert_allclose(widths, NEAR.distances[:, :k].mean(axis=1))
        ratio = widths / widths[NEAR.indices[:, :k]].mean(axis=1)
        np.testing.assert_allclose(scores, np.where(ratio > 1, 1 - 1 / ratio, 0), atol=ROUNDING)


def test_thresholds_leave_the_requested_share():
    scores = np.random.default_rng(0).permutation(200) / 200
    for share in (0.0, 0.1, 0.29, 0.5, 0.995):
        assert (scores > noise_threshold(scores, share)).sum() == round(200 * share)
    scores = score_outliers(NEAR, 10)[1]
    ratio = np.log(1 / (1 - scores))
    low, high = np.quantile(ratio, [0.25, 0.75])
    np.testing.assert_array_equal(scores > noise_threshold(scores, "auto"), ratio > high + 3 * (high - low))
    assert noise_threshold(np.ones(3), "auto") == 0


def test_scores_are_comparable_in_dense_and_sparse_clusters():
    rng = np.random.default_rng(0)
    dense, sparse = rng.normal(size=(300, 2)), 30 * rng.normal(size=(300, 2)) + 500
    far = np.array([[8.0, 0.0], [740.0, 500.0]])  # eight standard deviations from their clusters
    scores = GIT(2, scale=None).fit(np.vstack([dense, sparse, far])).outlier_scores_
    assert 0 <= scores.min() <= scores.max() <= 1
    assert set(np.argsort(scores)[-2:]) == {600, 601}
    assert scores[:300].mean() == pytest.approx(scores[300:600].mean(), abs=0.03)


def test_noise_of_a_fit():
    for noise, n_noise in ((None, 0), (0, 0), (0.1, 30)):
        assert (GIT(3, noise=noise).fit(X).labels_ == -1).sum() == n_noise
    strewn = np.vstack([X, np.random.default_rng(0).uniform(-40, 40, (12, 3))])
    model = GIT(3, noise="auto").fit(strewn)
    assert (model.labels_[300:] == -1).sum() >= 9
    assert (model.labels_[:300] == -1).sum() <= 9
    assert model.predict([[90.0, 90.0, 90.0]])[0] == -1
    assert model.proportions_.sum() == pytest.approx((model.labels_ >= 0).mean())


def test_equal_scores_stay_equal_in_any_unit():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(20, 3))
        weights = rng.integers(1, 4, 20)  # copies of a sample have equal scores
        for noise in (0.1, 0.3):
            model = GIT(2, noise=noise, scale="std")
            labels = [
                model.fit(given, sample_weight=weights).labels_
                for given in (X, X * rng.choice([0.001, 0.3048, 7.0], 3))
            ]
            np.testing.assert_array_equal(*labels)
