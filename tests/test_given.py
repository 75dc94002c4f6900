"""Searches that are given as objects with scikit-learn's interface."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from gitcluster import GIT, find_neighbors

X, y = make_blobs(3000, 12, centers=5, random_state=0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_search_with_scikit_learns_interface(metric):
    search = NearestNeighbors(algorithm="ball_tree", metric=metric)
    given = find_neighbors(X, n_neighbors=7, metric=metric, search=search)
    np.testing.assert_array_equal(
        given.indices, find_neighbors(X, n_neighbors=7, metric=metric, search="exact").indices
    )
    assert given.recall == 1
    assert GIT(5, search=NearestNeighbors()).fit(X).n_clusters_ == 5


class Far(NearestNeighbors):
    """Passes over every second of the nearest."""

    def kneighbors(self, points, n):
        distances, found = super().kneighbors(points, 2 * n)
        return distances[:, ::2], found[:, ::2]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_what_a_search_misses_is_counted(metric):
    assert find_neighbors(X, n_neighbors=7, metric=metric, search=Far(metric=metric)).recall == pytest.approx(3 / 7)


def test_equally_far_samples_are_as_good():
    points = np.eye(300)  # all of them are equally far from each other
    search = Far(algorithm="brute")
    assert find_neighbors(points, n_neighbors=7, search=search).recall == 1


def test_a_broken_search_is_named():
    class Broken:
        def fit(self, points):
            return self

        def kneighbors(self, points, n):
            return np.zeros((len(points), 2)), np.zeros((len(points), 2), int)

    with pytest.raises(ValueError, match="kneighbors"):
        GIT(5, search=Broken()).fit(X)
    with pytest.raises(ValueError, match="must be one of"):
        GIT(5, search="quick").fit(X)
