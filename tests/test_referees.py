"""Referees: they vote if the candidates disagree, win only among categories, and give a second opinion."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.referees import Referees

METHODS = {"Ward", "k-means", "Gaussian mixture"}


def overlapping(seed=0, n=600):
    """Return overlapping Gaussians in six features."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return rng.normal(0, 1.0, (3, 6))[y] + rng.normal(size=(n, 6)), y


def categories(n=600, seed=1):
    """Return a table of categories, most of which depend on one of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = {}
    for column in range(12):
        own, noise = rng.integers(0, 4, 2), rng.integers(0, 4, n)
        columns[f"c{column}"] = [f"v{value}" for value in np.where(rng.random(n) < 0.55, own[y], noise)]
    return pd.DataFrame(columns), y


def test_all_methods_cluster_all_representations():
    X, _ = overlapping()
    partitions = Referees(np.arange(600), {"std": X, "power": X * 2}).cluster(3)
    assert {(some.method, some.representation) for some in partitions} == {
        (method, name) for method in METHODS for name in ("std", "power")
    }
    k_means = next(some.labels for some in partitions if some.method == "k-means")
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    assert adjusted_rand_score(expected, k_means) > 0.9


def test_referees_vote_if_candidates_disagree():
    X, y = overlapping()
    table = pd.DataFrame(GIT(3).fit(X).selection_)
    voters = table[table["merge"].isin(METHODS)]
    assert set(voters["merge"]) == METHODS
    assert not voters.chosen.any()
    clear = pd.DataFrame(GIT(3).fit(10 * np.eye(6)[y % 6] + X).selection_)
    assert not clear["merge"].isin(METHODS).any()


def test_referees_may_win_among_categories():
    X, y = categories()
    model = GIT(2).fit(X)
    table = pd.DataFrame(model.selection_)
    chosen = table[table.chosen].iloc[0]
    assert chosen.score == table.score.max()
    assert chosen["merge"] in METHODS
    assert chosen.representation == model.representation_
    assert f"as by {chosen['merge']}" in str(model.explain(0))
    assert adjusted_rand_score(y, model.labels_) > 0.7
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_second_opinion_on_one_cluster():
    X, _ = overlapping(seed=2, n=900)
    model = GIT().fit(X)
    scores = pd.DataFrame(model.n_clusters_scores_).set_index("n_clusters")
    assert scores.score.idxmax() == model.n_clusters_
    assert scores.families.between(0, 1)[scores.families.notna()].all()
    assert scores["rank"][model.n_clusters_] == 1


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_row_order_and_threads_do_not_change_the_vote(n_clusters):
    X, _ = overlapping(seed=3)
    order = np.random.default_rng(0).permutation(len(X))
    model, other = (GIT(n_clusters, n_jobs=jobs).fit(X[rows]) for jobs, rows in ((1, slice(None)), (2, order)))
    np.testing.assert_array_equal(other.labels_, model.labels_[order])
    if n_clusters == "auto":
        assert (model.n_clusters_scores_["families"] > 0).any()
        np.testing.assert_array_equal(other.n_clusters_scores_["score"], model.n_clusters_scores_["score"])


def test_referees_do_not_outvote_proportions():
    """Four groups in a row, of 50, 100, 100 and 50 samples: other methods would always halve them."""
    angles = np.radians([0, 30, 60, 90])
    centres = 7 * np.column_stack([np.cos(angles), np.sin(angles)] * 2)
    X = centres.repeat((50, 100, 100, 50), axis=0) + np.random.default_rng(0).normal(size=(300, 4))
    for shares in ([1, 1], [5, 1]):
        assert GIT(proportions=shares).fit(X).proportions_ == pytest.approx(np.array(shares) / sum(shares), abs=0.05)
