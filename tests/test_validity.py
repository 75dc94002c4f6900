"""The score of a model without labels."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT

X, y = make_blobs(600, centers=4, random_state=3)


def test_the_right_number_has_the_highest_score_on_fitted_and_on_new_samples():
    scores = {n: GIT(n).fit(X[:450]) for n in (1, 2, 4, 6)}
    for samples in (X[:450], X[450:]):
        found = {n: model.score(samples) for n, model in scores.items()}
        assert found[1] == 0
        assert max(found, key=found.get) == 4
        assert found[4] == pytest.approx(np.log(4), abs=0.1)  # closed clusters of one size


def test_a_search_finds_what_comes_before():
    search = GridSearchCV(GIT(), {"n_clusters": [2, 4, 8]}, cv=3).fit(X)
    assert search.best_params_ == {"n_clusters": 4}


def test_graphs_and_matrices_have_a_score():
    graph = kneighbors_graph(X, 20, mode="distance")
    assert GIT(4, metric="precomputed_graph").fit(graph).score(graph) > 1
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert GIT(4, metric="precomputed").fit(distances).score(distances) > 1
