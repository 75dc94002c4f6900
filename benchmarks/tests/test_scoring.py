"""The published protocol of scores, worked out by hand."""

import numpy as np
import pytest

from benchmarks.scoring import match_greedily, published_scores


def test_published_scores_match_a_pool_of_leftovers():
    # cluster 0 takes class 0 and cluster 1, next in size, overlaps nothing but class 0; so class 1 is left for the
    # pool of all that one matching leaves over
    y_true = np.array([0] * 9 + [1] * 2)
    y_pred = np.array([0] * 5 + [1] * 4 + [2] * 2)
    once = match_greedily(y_true, y_pred)
    assert once.tolist() == [0] * 5 + [-2] * 4 + [1] * 2
    y_pred = np.array([0] * 5 + [1] * 4 + [0] * 2)
    once = match_greedily(y_true, y_pred)
    assert once.tolist() == [0] * 5 + [-2] * 4 + [0] * 2
    scores = published_scores(y_true, y_pred)
    assert scores.ari == pytest.approx(published_scores(y_true, once).ari)
    assert scores.cover == 1


def test_published_scores_leave_noise_out():
    scores = published_scores([0, 0, 1, 1], [5, 5, -1, 3])
    assert (scores.f1, scores.ari, scores.cover) == (1, 1, 0.75)
    assert published_scores([0, 1], [-1, -1]).cover == 0
