"""Ways to look at the features: what each does, which are left out and why, and what the default promises with them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from scipy.stats import skew
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import PowerTransformer

from gitcluster import GIT, git_clusters, pipeline, scale_features
from gitcluster.preprocessing.representations import represent
from gitcluster.preprocessing.scaling import apply_scaling, fit_scaling

WINE = load_wine().data


def ways_of(X):
    """Representations by name."""
    return {way.name: way for way in represent(X, fit_scaling(X))}


def test_what_every_way_does():
    ways, std = ways_of(WINE), WINE.std(axis=0)
    assert list(ways) == ["std", "given", "range", "power", "components"]  # the simplest first
    assert not any(way.reason for way in ways.values())
    np.testing.assert_allclose(apply_scaling(WINE, ways["std"].scaling), (WINE - WINE.mean(axis=0)) / std, atol=1e-12)
    given = apply_scaling(WINE, ways["given"].scaling)
    np.testing.assert_allclose(pdist(given) / pdist(WINE), 1 / np.median(np.ptp(WINE, axis=0)))
    ranged = np.ptp(apply_scaling(WINE, ways["range"].scaling), axis=0)
    np.testing.assert_allclose(ranged, ranged[0])
    components = PCA(0.9).fit_transform(WINE / std)
    np.testing.assert_allclose(np.abs(apply_scaling(WINE, ways["components"].scaling)), np.abs(components), atol=1e-9)


def test_power_is_that_of_scikit_learn():
    skewed = np.exp(np.random.default_rng(0).normal(size=(400, 3)) * [0.3, 0.8, 1.2])
    bent = apply_scaling(skewed, ways_of(skewed)["power"].scaling)
    expected = PowerTransformer().fit_transform(scale_features(skewed))
    np.testing.assert_allclose(bent, expected, atol=0.01)
    assert np.abs(skew(bent)).max() < 0.5 < np.abs(skew(skewed)).min()


@pytest.mark.parametrize(
    ("X", "left_out"),
    [
        (np.arange(20.0)[:, None], {"given", "range", "components"}),
        (make_blobs(30, 2, random_state=0)[0], {"components"}),
        (np.ones((10, 4)), {"given", "range", "power", "components"}),
        (np.random.default_rng(0).normal(size=(30, 3)) * [1e160, 1, 1], {"given"}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_formed_is_left_out_with_a_reason(X, left_out):
    ways = ways_of(X)
    assert {name for name, way in ways.items() if way.reason} == left_out
    assert "std" not in left_out
    model = GIT(2).fit(X)
    table = model.representations_
    assert set(table["representation"][table["reason"] != ""]) == left_out
    assert np.isnan(table["score"][table["reason"] != ""]).all()
    assert table["representation"][table["chosen"]].tolist() == [model.representation_]


def test_parts_and_new_samples_are_represented_alike():
    for way in represent(WINE, fit_scaling(WINE)):
        whole = apply_scaling(WINE, way.scaling)
        parts = np.concatenate([apply_scaling(part, way.scaling) for part in np.array_split(WINE, 7)])
        np.testing.assert_array_equal(whole, parts)
        far = apply_scaling(WINE[:3] * np.array([[1e200], [-1e200], [1e-200]]), way.scaling)
        assert not np.isnan(far).any()


@pytest.mark.parametrize("n_columns", [1, 3, 10])
def test_random_yes_no_columns_do_not_rule(n_columns):
    rng = np.random.default_rng(n_columns)
    X, y = make_blobs(600, 3, centers=[[0, 0, 0], [5, 0, 0], [0, 5, 5]], random_state=3)
    mixed = np.column_stack([X, rng.integers(0, 2, (600, n_columns))])
    assert adjusted_rand_score(y, GIT(3).fit(mixed).labels_) > 0.97


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e6])
def test_one_factor_for_all_features_never_matters(factor):
    for X in (WINE, load_iris().data):
        model, other = GIT(3).fit(X), GIT(3).fit(X * factor)
        np.testing.assert_array_equal(model.labels_, other.labels_)
        assert model.representation_ == other.representation_


def test_units_of_single_features_do_not_matter_to_std():
    units = 10.0 ** np.random.default_rng(0).integers(-4, 5, WINE.shape[1])
    np.testing.assert_array_equal(GIT(3, scale="std").fit(WINE).labels_, GIT(3, scale="std").fit(WINE * units).labels_)


def test_the_order_of_rows_does_not_matter(monkeypatch):
    order = np.random.default_rng(0).permutation(len(WINE))
    for studied in (5000, 90):  # all rows, or some of them
        monkeypatch.setattr(pipeline, "MAX_STUDIED", studied)
        for n_clusters in (3, "auto"):
            model, other = GIT(n_clusters).fit(WINE), GIT(n_clusters).fit(WINE[order])
            np.testing.assert_array_equal(model.labels_[order], other.labels_)
            assert model.representation_ == other.representation_


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_which_samples_are_studied_does_not_depend_on_units(kind, monkeypatch):
    monkeypatch.setattr(pipeline, "MAX_STUDIED", 25)
    rng = np.random.default_rng(0)
    for X in (WINE, rng.integers(0, 4, (60, 3)).astype(float), rng.normal(size=(60, 4))):
        there, back = (GIT(3).fit(kind(X * factor)) for factor in (1.0, 0.3048))
        np.testing.assert_array_equal(there.labels_, back.labels_)
        np.testing.assert_allclose(there.selection_["score"], back.selection_["score"], rtol=1e-6)


class Index(NearestNeighbors):
    """A search of the user's own, which takes long to build."""

    built = 0

    def fit(self, X):
        Index.built += 1
        return super().fit(X)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("search", ["auto", Index()])
def test_many_samples_are_studied_by_some(kind, search, monkeypatch):
    X, y = make_blobs(900, 5, centers=4, random_state=1)
    monkeypatch.setattr(pipeline, "MAX_STUDIED", 200)
    Index.built = 0
    found = git_clusters(kind(X * [1, 10, 1, 1, 1000]), search=search)
    assert Index.built == (search != "auto")
    assert adjusted_rand_score(y, found.labels) == 1
    assert set(found.selection["representation"]) == {found.representation}


@pytest.mark.parametrize("scale", ["std", None])
def test_a_given_scale_is_the_only_one(scale):
    model = GIT(3, scale=scale).fit(WINE)
    assert model.representation_ == ("given" if scale is None else scale)
    assert len(model.representations_["representation"]) == 1


def test_a_model_keeps_its_representation(tmp_path):
    X = np.column_stack([WINE, np.random.default_rng(0).integers(0, 2, len(WINE))])
    for way in ("std", "given", "range", "power", "components"):
        found = {w.name: w for w in represent(X, fit_scaling(X))}[way]
        assert found.reason == ""
    model = GIT(3).fit(X)
    model.save(tmp_path / "model.npz")
    again = GIT.load(tmp_path / "model.npz")
    assert again.representation_ == model.representation_
    np.testing.assert_array_equal(again.predict(X + 0.01), model.predict(X + 0.01))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
