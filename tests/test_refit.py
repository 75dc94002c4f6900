"""A fit that starts from an earlier one finds what a fit from scratch finds."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, git_clusters
from gitcluster.neighbors import find_neighbors
from gitcluster.neighbors.growing import KnownNeighbors

RNG = np.random.default_rng(0)
SETS = {
    "blobs": make_blobs(1500, centers=5, n_features=4, random_state=0)[0],
    "a grid with duplicates": RNG.integers(0, 30, (1500, 2)) * 1.0,
    "single precision": make_blobs(1500, centers=4, random_state=1)[0].astype(np.float32),
    "many features": RNG.normal(size=(1500, 80)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("change", ["1 % new", "a third new", "some gone, some new, all in another order"])
def test_neighbours_grow_to_those_of_a_search_of_all(name, change):
    X = np.unique(SETS[name], axis=0) if name != "a grid with duplicates" else SETS[name]
    X = X[np.lexsort(X.T[::-1])]  # the order in which a fit searches
    before, after = {
        "1 % new": (RNG.permutation(len(X)) >= 15, np.ones(len(X), bool)),
        "a third new": (RNG.random(len(X)) < 0.7, np.ones(len(X), bool)),
        "some gone, some new, all in another order": (RNG.random(len(X)) < 0.98, RNG.random(len(X)) < 0.98),
    }[change]
    near = find_neighbors(X[before], n_neighbors=12)
    known = KnownNeighbors(X[before], near.indices, near.distances)
    expected = find_neighbors(X[after], n_neighbors=12)
    grown = known.grow(X[after], 12)
    if name != "many features" or change == "1 % new":
        assert grown is not None
        np.testing.assert_array_equal(grown[0], expected.indices)
        np.testing.assert_array_equal(grown[1], expected.distances)
    found = find_neighbors(X[after], n_neighbors=12, search=known)
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_labels_are_those_of_a_fit_without_scaling():
    X = SETS["blobs"]
    model = GIT(scale=None).refit(X[:1400])
    assert model.clustering_.neighbors is not None
    model.refit(X)
    again = GIT(scale=None).fit(X)
    assert again.clustering_.neighbors is None
    np.testing.assert_array_equal(model.labels_, again.labels_)
    np.testing.assert_array_equal(model.log_intensity_, again.log_intensity_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_labels_are_those_of_a_fit_in_the_same_scale(tmp_path):
    X = SETS["blobs"] * [1, 10, 100, 1]
    GIT(5).refit(X[:1200]).save(tmp_path / "model.npz")
    model = GIT.load(tmp_path / "model.npz")  # a later day
    ways = model.clustering_.ways
    model.refit(X)
    np.testing.assert_array_equal(model.labels_, git_clusters(X, n_clusters=5, scale=ways).labels)
    assert adjusted_rand_score(model.labels_, GIT(5).fit_predict(X)) > 0.99


def test_a_table_keeps_its_columns_and_a_graph_is_fitted():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": SETS["blobs"][:400, 0], "kind": np.repeat(["a", "b"], 200)})
    model = GIT(2).refit(table[:390]).refit(table)
    assert model.columns_.encoded
    assert len(model.labels_) == 400
    graph = find_neighbors(SETS["blobs"], n_neighbors=15)
    model = GIT(5, metric="precomputed_graph").refit((graph.indices, graph.distances))
    model.refit((graph.indices, graph.distances))
    assert model.n_clusters_ == 5


def test_weights_and_links_are_kept_to():
    X, weights = SETS["blobs"], np.arange(1500) % 3 + 1
    model = GIT(5, scale=None).refit(X[:1450], sample_weight=weights[:1450]).refit(X, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_, GIT(5, scale=None).fit_predict(X, sample_weight=weights))
    model.refit(X, cannot_link=[(0, 1)])
    assert model.labels_[0] != model.labels_[1]


def test_drift_is_what_is_unusual():
    X, far = SETS["blobs"], SETS["blobs"][:100] + 50.0
    model = GIT(5).fit(X[:1400])
    usual, drifted = model.drift(X[1400:]), model.drift(far)
    assert usual.share < usual.usual + 0.1
    assert usual.moved < 0.2
    assert drifted.outliers > 0.9
    assert usual.proportions.sum() == pytest.approx(1)
    assert "100 new samples" in str(drifted)


def test_another_number_of_features_is_an_error():
    model = GIT(5).refit(SETS["blobs"])
    with pytest.raises(ValueError, match="features"):
        model.refit(SETS["blobs"][:, :2])
    assert len(model.labels_) == 1500


@pytest.mark.parametrize("changed", [{"scale": None}, {"metric": "manhattan"}, {"scale": [1.0, 3.0]}], ids=str)
def test_other_distances_are_asked_for_anew(changed, tmp_path):
    X = RNG.normal(size=(200, 2)) * [1, 50] + np.repeat([[0, 0], [6, 0]], 100, axis=0)
    GIT(2, scale="std").refit(X).save(tmp_path / "model.npz")
    model = GIT.load(tmp_path / "model.npz")
    assert model.refit(X).representation_ == "std"
    model.set_params(**changed).refit(X)
    expected = GIT(2, **({"scale": "std"} | changed if "metric" not in changed else changed)).fit(X)
    assert model.representation_ == expected.representation_
    np.testing.assert_array_equal(model.labels_, expected.labels_)
