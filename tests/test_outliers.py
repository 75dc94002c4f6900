"""Outlier scores by their formula, and which samples are noise."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT, Neighbors, find_neighbors
from gitcluster.fitted.outliers import (
    ROUNDING,
    check_noise,
    highest_in,
    log_ratios,
    mark_noise,
    noise_threshold,
    score_outliers,
)

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]
NEAR = find_neighbors(X, n_neighbors=10)


def test_scores_compare_widths_with_those_of_the_neighbours():
    for asked, k in ((10, 10), (4, 4), (99, 10)):
        widths, scores = score_outliers(NEAR, asked)
        np.testing.assert_allclose(widths, NEAR.distances[:, :k].mean(axis=1))
        ratio = widths / widths[NEAR.indices[:, :k]].mean(axis=1)
        np.testing.assert_allclose(scores, np.where(ratio > 1, 1 - 1 / ratio, 0), atol=ROUNDING)


def test_new_samples_are_compared_with_fitted_widths():
    new = Neighbors(np.array([[0, 1], [1, 2]]), np.array([[4.0, 4.0], [0.5, 0.5]]))
    widths, scores = score_outliers(new, 2, np.array([1.0, 3.0, 2.0]))
    assert widths.tolist() == [4.0, 0.5]
    np.testing.assert_allclose(scores, [0.5, 0.0])


def test_duplicates_are_no_outliers_and_lonely_samples_are():
    places = Neighbors(
        np.array([[1, 0], [0, 1], [0, 1], [3, 3]]),
        np.array([[0.0, np.inf], [0.0, np.inf], [1.0, 1.0], [np.inf, np.inf]]),
    )
    widths, scores = score_outliers(places, 2)
    assert widths.tolist() == [0, 0, 1, np.inf]
    assert scores.tolist() == [0, 0, 1, 1]


def test_a_share_of_the_samples_is_noise():
    scores = np.random.default_rng(0).permutation(200) / 200
    for share in (0.0, 0.1, 0.5, 0.995):
        assert (scores > noise_threshold(scores, share)).sum() == int(200 * share)


def test_a_share_is_not_one_sample_short():
    assert (np.arange(100) > noise_threshold(np.arange(100.0), 0.29)).sum() == 29


def test_auto_is_the_rule_of_tukey():
    scores = score_outliers(NEAR, 10)[1]
    ratio = np.log(1 / (1 - scores))
    low, high = np.quantile(ratio, [0.25, 0.75])
    threshold = noise_threshold(scores, "auto")
    np.testing.assert_array_equal(scores > threshold, ratio > high + 3 * (high - low))
    assert noise_threshold(np.ones(3), "auto") == 0  # of what is not finite nothing is usual
    np.testing.assert_allclose(log_ratios(np.array([0.5, 1.0])), [np.log(2)])


def test_the_highest_of_a_cluster_is_never_noise():
    clusters, log_f = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 5.0, 4.0])
    highest = highest_in(clusters, log_f, 2)
    assert highest.tolist() == [2.0, 5.0]
    assert mark_noise(clusters, log_f, np.ones(4), above=0.5, highest=highest).tolist() == [-1, 0, 1, -1]
    assert mark_noise(clusters, log_f, np.ones(4), above=1.0, highest=highest).tolist() == [0, 0, 1, 1]


def test_what_is_no_share_is_named():
    for noise in (None, "auto", 0, 0.5, np.float32(0.1)):
        check_noise(noise)
    for wrong in (1, -0.1, "some", True, [0.1], np.nan):
        with pytest.raises(ValueError, match="noise must be"):
            check_noise(wrong)


def test_scores_mean_the_same_in_dense_and_thin_clusters():
    rng = np.random.default_rng(0)
    dense, thin = rng.normal(size=(300, 2)), 30 * rng.normal(size=(300, 2)) + 500
    far = np.array([[8.0, 0.0], [740.0, 500.0]])  # eight deviations from their clusters
    scores = GIT(2, scale=None).fit(np.vstack([dense, thin, far])).outlier_scores_
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert set(np.argsort(scores)[-2:]) == {600, 601}
    assert scores[:300].mean() == pytest.approx(scores[300:600].mean(), abs=0.03)


def test_noise_is_what_was_asked_for():
    assert (GIT(3).fit(X).labels_ >= 0).all()
    assert (GIT(3, noise=0.1).fit(X).labels_ == -1).sum() == 30
    assert (GIT(3, noise=0).fit(X).labels_ >= 0).all()
    strewn = np.vstack([X, np.random.default_rng(0).uniform(-40, 40, (12, 3))])
    model = GIT(3, noise="auto").fit(strewn)
    assert (model.labels_[300:] == -1).sum() >= 9
    assert (model.labels_[:300] == -1).sum() <= 9
    assert model.predict([[90.0, 90.0, 90.0]])[0] == -1
    assert model.proportions_.sum() == pytest.approx((model.labels_ >= 0).mean())
    np.testing.assert_array_equal(model.cut(n_clusters=2) == -1, model.labels_ == -1)


def test_samples_that_are_equally_far_out_are_noise_together_in_any_unit():
    rng = np.random.default_rng(0)
    for _ in range(40):
        X = rng.normal(size=(20, 3))
        other = X * rng.choice([0.001, 0.3048, 7.0], 3)
        weights = rng.integers(1, 4, 20)  # copies of a sample have one score with their nearest
        for noise in (0.1, 0.3):
            labels = [
                GIT(2, noise=noise, scale="std").fit(given, sample_weight=weights).labels_ for given in (X, other)
            ]
            np.testing.assert_array_equal(*labels)


def test_scores_of_one_ratio_are_equal():
    rng = np.random.default_rng(1)
    indices = np.array([[1, 2], [0, 2], [0, 1]])
    scores = set()
    for unit in rng.random(200):
        near = Neighbors(indices, np.array([[1.0, 2.0], [0.3, 0.7], [0.4, 0.6]]) * unit)
        scores |= set(score_outliers(near, 2)[1].tolist())
    assert len(scores) == 2
