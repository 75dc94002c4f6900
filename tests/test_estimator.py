"""The estimator: what it returns, what it refuses and how it says so."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gitcluster import GIT
from gitcluster.variants import VARIANTS

X, y = make_blobs(150, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


def test_blobs():
    model = GIT(n_clusters=3).fit(X)
    assert pd.crosstab(model.labels_, y).ne(0).sum().sum() == 3
    table = pd.DataFrame(model.selection_)
    assert model.n_neighbors_ == table.n_neighbors[table.chosen].item()
    assert GIT(3, variant="paper").fit(X).n_neighbors_ == 8
    assert model.n_features_in_ == 2
    np.testing.assert_allclose(model.intensity_, np.exp(model.log_intensity_))
    assert (model.local_labels_[model.peaks_] == np.arange(len(model.peaks_))).all()


def test_proportions_in_any_scale_and_order():
    labels = [GIT(proportions=p).fit_predict(X) for p in ([1, 2, 3], [3.0, 1.0, 2.0], [100, 300, 200])]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_feature_names_and_pipelines():
    frame = pd.DataFrame(X, columns=["length", "width"])
    assert GIT(3).fit(frame).feature_names_in_.tolist() == ["length", "width"]
    piped = make_pipeline(StandardScaler(), GIT(3)).fit_predict(frame)
    np.testing.assert_array_equal(piped, GIT(3).fit_predict(X))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "correlation"])
def test_metrics_equal_their_distances(metric):
    points = np.random.default_rng(0).normal(size=(60, 4))
    distances = pairwise_distances(points, metric=metric)
    np.testing.assert_array_equal(
        GIT(3, metric=metric).fit_predict(points), GIT(3, metric="precomputed").fit_predict(distances)
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_number_of_clusters_than_requested_is_never_silent(variant):
    others = 0
    for seed in range(12):
        points = make_blobs(80, 2, centers=5, random_state=seed)[0]
        for n_clusters in (2, 12):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = GIT(n_clusters, variant=variant, n_neighbors=15).fit(points)
                model.cut(n_clusters=n_clusters)
            told = [str(w.message) for w in caught if w.category is ConvergenceWarning]
            both = [words for words in told if f"{model.n_clusters_} " in words and f"{n_clusters} " in words]
            assert len(both) == (0 if model.n_clusters_ == n_clusters else 2)  # of the fit and of the cut
            others += len(both)
    assert others > 0


def test_a_cut_of_the_authors_variant_equals_a_fit():
    points = make_blobs(80, 2, centers=5, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        two = GIT(2, variant="authors", n_neighbors=15).fit(points)
        for n_clusters in range(2, 8):
            other = GIT(n_clusters, variant="authors", n_neighbors=15).fit_predict(points)
            np.testing.assert_array_equal(two.cut(n_clusters=n_clusters), other)


def test_all_samples_equal():
    for variant in VARIANTS[:2]:
        with pytest.warns(ConvergenceWarning, match="n_neighbors"):
            model = GIT(3, variant=variant).fit(np.full((20, 3), 7.5))
        assert model.labels_.tolist() == [0] * 20
    assert GIT().fit(np.full((20, 3), 7.5)).n_clusters_ == 1


def test_fewer_peaks_than_clusters():
    for variant in VARIANTS[:2]:
        with pytest.warns(ConvergenceWarning, match=r"smaller n_neighbors \(now 60\)"):
            model = GIT(140, n_neighbors=60, variant=variant).fit(X)
        assert model.n_clusters_ == len(model.peaks_) < 140


def test_cuts_are_nested_and_end_in_the_fit():
    model = GIT(4).fit(X)
    numbers = range(1, len(model.peaks_) + 1)
    cuts = [model.cut(n_clusters=c) for c in numbers]
    np.testing.assert_array_equal(cuts[3], model.labels_)
    for coarse, fine in pairwise(cuts):
        assert (pd.crosstab(fine, coarse).ne(0).sum(axis=1) == 1).all()
    assert [cut.max() + 1 for cut in cuts] == list(numbers)


def test_the_number_of_clusters_is_found():
    model = GIT().fit(X)
    assert model.n_clusters_ == 3
    scores = pd.DataFrame(model.n_clusters_scores_).set_index("n_clusters").score
    assert scores.idxmax() == 3
    assert GIT().fit(np.random.default_rng(0).normal(size=(1000, 2))).n_clusters_ == 1


def test_the_largest_number_tried_can_be_chosen():
    assert GIT().fit(np.repeat([[0.0], [5.0]], 50, axis=0)).n_clusters_ == 2
    place = np.repeat(np.arange(16), 15)
    groups = 100 * np.column_stack([place % 4, place // 4 + place % 2])
    assert GIT().fit(groups + np.random.default_rng(0).normal(size=(240, 2))).n_clusters_ == 16


def test_a_cut_with_the_fitted_prior_is_the_fit():
    overlapping = make_blobs(150, centers=4, cluster_std=2.5, random_state=0)[0]
    for options in ({"proportions": [4, 3, 2, 1]}, {"n_clusters": 4}):
        model = GIT(**options).fit(overlapping)
        np.testing.assert_array_equal(model.cut(**options), model.labels_)


def test_cut_keeps_to_the_fitted_variant():
    model = GIT(3, variant="paper", n_neighbors=3).fit(X)
    before = model.cut(n_clusters=4)
    np.testing.assert_array_equal(model.set_params(variant="authors").cut(n_clusters=4), before)


def test_tiny_and_huge_units_of_other_metrics():
    points = np.random.default_rng(0).normal(size=(60, 4))
    for unit in (1e-200, 1e155):
        np.testing.assert_array_equal(
            GIT(3, metric="manhattan").fit_predict(points * unit), GIT(3, metric="manhattan").fit_predict(points)
        )


def test_a_prior_decides_between_clusterings():
    # a row of four blobs: two and two, or three and one
    row = np.concatenate([make_blobs(50, centers=[[5 * i, 0]], cluster_std=0.7, random_state=i)[0] for i in range(4)])
    assert sorted(GIT(proportions=[3, 1]).fit(row).edge_cut_.sizes) == [50, 150]
    assert np.ptp(GIT(2, proportions="equal").fit(row).edge_cut_.sizes) < 10
    assert abs(np.bincount(GIT(2).fit(row).cut(proportions=[3, 1]))[0] - 150) < 10


def test_cut_needs_a_prior():
    with pytest.raises(ValueError, match="n_clusters or proportions must be given"):
        GIT(3).fit(X).cut()


def test_cut_before_fit():
    with pytest.raises(NotFittedError):
        GIT(3).cut(n_clusters=2)


BAD_PARAMETERS = [
    ({"variant": "paper"}, ValueError, "variant='paper' needs a prior"),
    ({"proportions": "equal"}, ValueError, "proportions='equal' needs the number"),
    ({"n_neighbors": "many"}, TypeError, "n_neighbors must be an integer"),
    ({"n_clusters": 0}, ValueError, "n_clusters=0"),
    ({"n_clusters": -2}, ValueError, "n_clusters=-2"),
    ({"n_clusters": 2.0}, TypeError, "n_clusters must be an integer, got 2.0"),
    ({"n_clusters": True}, TypeError, "n_clusters"),
    ({"n_clusters": "three"}, TypeError, "n_clusters"),
    ({"n_clusters": 151}, ValueError, "n_clusters=151 is more than the number of samples"),
    ({"n_clusters": 2, "n_neighbors": 0}, ValueError, "n_neighbors=0"),
    ({"n_clusters": 2, "n_neighbors": 150}, ValueError, "n_neighbors <= 149"),
    ({"n_clusters": 2, "n_neighbors": 7.5}, TypeError, "n_neighbors must be an integer"),
    ({"proportions": []}, ValueError, "non-empty"),
    ({"proportions": [1, 0]}, ValueError, "positive"),
    ({"proportions": [1, -1]}, ValueError, "positive"),
    ({"proportions": [1, np.nan]}, ValueError, "positive and finite"),
    ({"proportions": "many"}, TypeError, "proportions must be a list"),
    ({"proportions": [[1, 2]]}, ValueError, "proportions"),
    ({"proportions": np.ones(151)}, ValueError, "151 clusters"),
    ({"proportions": [1, 2], "n_clusters": 3}, ValueError, "disagree"),
    ({"n_clusters": 2, "variant": "best"}, ValueError, r"variant must be one of .*'paper'"),
    ({"n_clusters": 2, "search": "quick"}, ValueError, "search must be one of"),
    ({"n_clusters": 2, "search": dict}, ValueError, "search must be one of"),
    ({"n_clusters": 2, "metric": "nearness"}, ValueError, "nearness"),
    ({"n_clusters": 2, "metric": "precomputed"}, ValueError, "square"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters(options, error, message):
    with pytest.raises(error, match=message):
        GIT(**options).fit(X)


BAD_SAMPLES = [
    (np.where(np.arange(300).reshape(150, 2) == 7, np.nan, X), ValueError, "NaN"),
    (np.where(np.arange(300).reshape(150, 2) == 7, np.inf, X), ValueError, "infinity"),
    (X[:, 0], ValueError, "1D array"),
    (X[:1], ValueError, "1 sample"),
    (X[:0], ValueError, "0 sample"),
    (X[:, :0], ValueError, "0 feature"),
    (X.astype(complex), ValueError, "omplex"),
    ([["a", "b"], ["c", "d"], ["e", "f"]], ValueError, "convert string"),
    (np.array([[{}, 1], [2, 3]], dtype=object), TypeError, "argument must be"),
]


@pytest.mark.parametrize(("samples", "error", "message"), BAD_SAMPLES)
def test_bad_samples(samples, error, message):
    with pytest.raises(error, match=message):
        GIT(2, n_neighbors=1).fit(samples)


def test_bad_distances():
    with pytest.raises(ValueError, match="negative"):
        GIT(2, metric="precomputed", n_neighbors=1).fit(np.array([[0.0, -1.0], [-1.0, 0.0]]))


@pytest.mark.parametrize("variant", ["adaptive", "paper", "authors"])
def test_parents_lead_to_the_peak(variant):
    X = make_blobs(200, random_state=3)[0].round(1)
    model = GIT(3, variant=variant).fit(X)
    assert (model.log_intensity_[model.parents_] >= model.log_intensity_).all()
    top = model.parents_
    for _ in range(len(X)):
        top = model.parents_[top]
    np.testing.assert_array_equal(top, model.peaks_[model.local_labels_])


def test_parents_of_weighted_samples_are_samples():
    X = make_blobs(60, random_state=3)[0]
    weights = np.arange(60) % 3
    model = GIT(3).fit(X, sample_weight=weights)
    assert (weights[model.parents_] > 0).all()
    np.testing.assert_array_equal(model.local_labels_[model.parents_], model.local_labels_)


def test_weights_are_routed():
    weights = np.arange(len(X)) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        model = GIT(3).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(
            X, sample_weight=weights
        )
    direct = GIT(3).fit(StandardScaler().fit_transform(X), sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].labels_, direct.labels_)


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GIT(3).fit(frame)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b"])
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    polars = pytest.importorskip("polars")
    other = GIT(3).fit(polars.DataFrame({name: frame[name].to_numpy() for name in frame}))
    np.testing.assert_array_equal(other.feature_names_in_, ["a", "b"])
    np.testing.assert_array_equal(other.labels_, model.labels_)


def test_cut_takes_the_number_of_clusters_first():
    model = GIT(3).fit(X)
    np.testing.assert_array_equal(model.cut(2), model.cut(n_clusters=2))


def test_clusters_without_samples_are_never_silent():
    points = np.random.default_rng(2).normal(size=(120, 2))
    model = GIT(4, noise=0.8).fit(points)
    assert len(np.unique(model.labels_[model.labels_ >= 0])) == 4  # the peak of a cluster is no noise
    with pytest.warns(ConvergenceWarning, match="no samples"):
        finer = model.cut(9)
    assert len(np.unique(finer[finer >= 0])) < 9
    with pytest.warns(ConvergenceWarning, match="no samples"):
        layers = model.layers([4, 9])
    assert (layers[1].sizes == 0).any()
    with pytest.warns(ConvergenceWarning, match="no samples"):
        GIT(3).fit(points).cut(proportions=[1000, 1000, 1], exact=True)


@pytest.mark.parametrize(
    "options", [{"scale": None}, {"scale": [1.0, 2.0]}, {"scale": None, "variant": "paper"}], ids=str
)
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_values_whose_distances_underflow_are_refused(options, container):
    with pytest.raises(ValueError, match="too small"):
        GIT(3, **options).fit(container(X * 1e-165))


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_standard_deviations_of_tiny_values(container):
    labels = GIT(3, scale="std").fit_predict(container(X))
    np.testing.assert_array_equal(GIT(3, scale="std").fit_predict(container(X * 2.0**-980)), labels)
