"""The selection: which candidate is chosen, which number of clusters, and that noise is one cluster."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, selection
from gitcluster.preprocessing.sources import Points
from gitcluster.samples import prepare, without_clusters

BLOBS = make_blobs(240, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


@pytest.mark.parametrize("options", [{"n_clusters": 3}, {"proportions": [3, 1, 1]}, {}], ids=str)
def test_the_candidate_with_the_best_score_is_chosen(options):
    model = GIT(**options).fit(BLOBS)
    table = pd.DataFrame(model.selection_)
    assert table.chosen.sum() == 1
    chosen = table[table.chosen].iloc[0]
    assert chosen.score == table.score.max()
    assert chosen.n_neighbors == model.n_neighbors_
    assert chosen.n_local_clusters == len(model.peaks_)
    assert chosen.representation == model.representation_
    assert chosen.agreement == pytest.approx(model.agreement_)
    assert table.agreement.between(0, 1).all()
    if "proportions" in options:
        shares = np.bincount(model.labels_) / len(BLOBS)
        assert chosen.misplaced == pytest.approx(np.maximum(shares - [0.6, 0.2, 0.2], 0).sum())
    else:
        assert table.misplaced.isna().all()


def test_the_number_with_the_best_score_is_chosen():
    model = GIT().fit(BLOBS)
    scores = pd.DataFrame(model.n_clusters_scores_).set_index("n_clusters")
    assert scores.score.idxmax() == model.n_clusters_ == 3
    ranked = scores[scores["rank"] > 0].sort_values("rank")
    assert ranked["rank"].tolist() == list(range(1, len(ranked) + 1))
    assert ranked.index[0] == 3
    assert all(max(a, b) >= 1.5 * min(a, b) for i, a in enumerate(ranked.index) for b in ranked.index[:i])
    assert not hasattr(GIT(3).fit(BLOBS), "n_clusters_scores_")


def test_the_largest_number_can_be_chosen():
    assert GIT().fit(np.repeat([[0.0], [5.0]], 50, axis=0)).n_clusters_ == 2
    corner = np.repeat(np.arange(16), 15)
    groups = 100 * np.column_stack([corner % 4, corner // 4 + corner % 2])
    assert GIT().fit(groups + np.random.default_rng(0).normal(size=(240, 2))).n_clusters_ == 16


def test_many_clusters_use_the_smallest_neighborhoods():
    model = GIT(60).fit(BLOBS)
    assert model.n_neighbors_ == 2
    assert model.n_clusters_ == 60


def structureless(kind, n_features, seed):
    """Return 300 samples without clusters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, n_features))
    if kind == "cube":
        return rng.random((300, n_features))
    if kind == "elongated":
        return X + 1.5 * rng.normal(size=(300, 1))
    if kind == "heavy-tailed":
        return X / np.sqrt(rng.chisquare(2, (300, 1)) / 2)
    if kind == "categories":
        return pd.DataFrame(X).add_prefix("x").assign(a=rng.choice(list("ab"), 300), b=rng.choice(list("abcde"), 300))
    if kind == "sphere":
        return X / np.linalg.norm(X, axis=1)[:, None] * (1 + 0.05 * rng.normal(size=(300, 1)))
    return np.exp(0.7 * X) if kind == "skewed" else X


@pytest.mark.parametrize(("n_features", "share"), [(2, 0.8), (3, 0.95), (10, 0.95)])
def test_samples_without_structure_are_one_cluster(n_features, share):
    kinds = ("gaussian", "cube", "skewed", "sphere")
    numbers = [GIT().fit(structureless(kind, n_features, seed)).n_clusters_ for kind in kinds for seed in range(8)]
    assert numbers.count(1) >= share * len(numbers)
    assert GIT().fit(np.full((20, n_features), 7.5)).n_clusters_ == 1


@pytest.mark.filterwarnings("ignore::gitcluster.fitted.warnings.ColumnWarning")
@pytest.mark.parametrize("kind", ["elongated", "heavy-tailed", "categories"])
@pytest.mark.parametrize("n_features", [6, 20])
def test_a_shape_that_methods_cut_alike_is_one_cluster(kind, n_features):
    numbers = [GIT().fit(structureless(kind, n_features, seed)).n_clusters_ for seed in range(8)]
    assert numbers.count(1) >= 7


def test_samples_without_clusters_have_the_shape_of_the_given_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.gamma(1, size=(500, 3)) @ rng.normal(size=(3, 3)), rng.random(500) < 0.3, np.ones(500)])
    samples = prepare(Points(X))
    values = without_clusters(samples).source.values
    np.testing.assert_allclose(np.cov(values[:, :3].T), np.cov(X[:, :3].T), rtol=0.3, atol=0.3)
    np.testing.assert_array_equal(np.sort(values[:, 3]), np.sort(X[:, 3]))
    assert abs(np.corrcoef(values[:, 0], values[:, 3])[0, 1]) < 0.2
    np.testing.assert_array_equal(values[:, 4], X[:, 4])
    shuffled = prepare(Points(X[rng.permutation(500)]))
    np.testing.assert_array_equal(without_clusters(shuffled).source.values, values)


def test_moons_are_two_clusters():
    shapes = [(250, 0.06), (500, 0.05), (1000, 0.06)]
    moons = [make_moons(n, noise=noise, random_state=seed)[0] for n, noise in shapes for seed in range(5)]
    assert [GIT().fit(X).n_clusters_ for X in moons].count(2) >= 14


def test_all_samples_follow_the_subsample():
    X, y = make_blobs(6000, 3, centers=4, cluster_std=1.0, random_state=3)
    for options in ({}, {"n_clusters": 4}, {"proportions": np.bincount(y)}):
        model = GIT(**options).fit(X)
        assert model.n_clusters_ == 4
        assert model.selection_["chosen"].sum() == 1
        assert len(set(model.selection_["representation"])) > 1  # the candidates of the subsample
        assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize(("n_samples", "follows_subsample"), [(61, True), (720, False)])
def test_the_vote_of_a_subsample_falls_with_its_share(monkeypatch, n_samples, follows_subsample):
    by_all = np.repeat([0, 1], 30)
    by_subsample = np.where(np.arange(60) < 4, 1, by_all)
    clusterings = [by_all, by_all, by_all, by_subsample]
    candidates = [selection.Candidate(0, "linkage", labels, np.array([])) for labels in clusterings]
    monkeypatch.setattr(selection, "gather_candidates", lambda *arguments: candidates)
    graph = SimpleNamespace(sizes=np.ones(60))
    settings = {"representation": "std", "n_neighbors": 5, "n_peaks": 60, "links": None}
    configuration = SimpleNamespace(n_samples=n_samples, topo_graph=graph, **settings)
    statistics = SimpleNamespace(configurations=[configuration], local_labels=lambda i: np.arange(60))
    chosen, _ = selection.choose(statistics, n_clusters=2, target=by_subsample)
    np.testing.assert_array_equal(chosen.labels, by_subsample if follows_subsample else by_all)
