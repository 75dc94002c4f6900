"""Approximate and given searches beside the exact one."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from gitcluster import GIT, find_neighbors, neighbors
from gitcluster._support import optional
from gitcluster.neighbors import approximate, exact, plan

X, y = make_blobs(3000, 12, centers=5, random_state=0)


def test_approximate_search_is_close_and_repeatable():
    true = find_neighbors(X, n_neighbors=15, search="exact")
    near = [find_neighbors(X, n_neighbors=15, search="approximate") for _ in range(2)]
    assert true.recall == 1
    assert near[0].recall > 0.99
    np.testing.assert_array_equal(near[0].indices, near[1].indices)
    hits = np.mean([len(np.intersect1d(a, b)) / 15 for a, b in zip(true.indices, near[0].indices, strict=True)])
    assert hits == pytest.approx(near[0].recall, abs=0.01)
    assert (np.diff(near[0].distances, axis=1) >= 0).all()
    assert not (near[0].indices == np.arange(len(X))[:, None]).any()


def test_approximate_fit_equals_exact_fit():
    exact, near = (GIT(5, search=how).fit(X) for how in ("exact", "approximate"))
    assert exact.neighbors_recall_ == 1
    assert near.neighbors_recall_ > 0.99
    assert adjusted_rand_score(exact.labels_, near.labels_) > 0.99


def test_duplicates_and_tiny_sets():
    repeated = np.repeat(X[:40], 5, axis=0)
    found = find_neighbors(repeated, n_neighbors=6, search="approximate")
    assert (found.distances[:, :4] == 0).all()
    assert find_neighbors(X[:4], n_neighbors=3, search="approximate").recall == 1


def test_a_search_with_scikit_learns_interface():
    given = find_neighbors(X, n_neighbors=7, search=NearestNeighbors(algorithm="ball_tree"))
    np.testing.assert_array_equal(given.indices, find_neighbors(X, n_neighbors=7, search="exact").indices)
    assert given.recall == 1
    assert GIT(5, search=NearestNeighbors()).fit(X).n_clusters_ == 5


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


def test_poor_recall_warns(monkeypatch):
    monkeypatch.setattr(approximate, "estimate_recall", lambda *_: 0.9)
    with pytest.warns(UserWarning, match=r"90.0% of the nearest"):
        assert find_neighbors(X, n_neighbors=5, search="approximate").recall == 0.9


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'gitcluster\[fast\]'"):
        find_neighbors(X, n_neighbors=5, search="approximate")


def test_auto_uses_what_pays(monkeypatch):
    asked = []
    monkeypatch.setattr(neighbors, "approximation_pays", lambda *_: True)
    monkeypatch.setattr(
        neighbors, "approximate_search", lambda *a: asked.append("approximate") or exact.certain_search(*a)
    )
    find_neighbors(X, n_neighbors=5)
    assert asked == ["approximate"]
    monkeypatch.setattr(neighbors, "is_installed", lambda name: False)
    monkeypatch.setattr(neighbors, "_suggested", [])
    with pytest.warns(UserWarning, match=r"gitcluster\[fast\]"):
        find_neighbors(X, n_neighbors=5)
    find_neighbors(X, n_neighbors=5)  # says it once
    assert asked == ["approximate"]


def test_the_auto_rule():
    assert not approximate.approximation_pays(plan.all_pairs_seconds(10_000, 784), 10_000, 784)
    assert approximate.approximation_pays(plan.all_pairs_seconds(60_000, 784), 60_000, 784)
    bounded = plan.bounded_seconds(60_000, 784, 80, n_leading=128, share=0.03)
    assert not approximate.approximation_pays(bounded, 60_000, 784)
    bounded = plan.bounded_seconds(1_000_000, 784, 80, n_leading=128, share=0.03)
    assert approximate.approximation_pays(bounded, 1_000_000, 784)
    assert not approximate.approximation_pays(plan.cell_seconds(500_000, 3, 1000), 500_000, 3)
    assert approximate.approximation_pays(plan.cell_seconds(1_000_000, 10, 200_000), 1_000_000, 10)


def test_all_pairs_where_cells_do_not_help(monkeypatch):
    monkeypatch.setattr(plan, "sample_pairs", lambda *_: 1e12)
    asked = []
    monkeypatch.setattr(plan, "certain_search", lambda *a: asked.append("pairs") or (None, None))
    seconds, search_exactly = plan.plan_exact_search(X, 5, "euclidean", None)
    search_exactly()
    assert asked == ["pairs"]
    assert seconds == plan.all_pairs_seconds(*X.shape)
