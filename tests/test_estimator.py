"""The estimator: numbers of clusters, priors, weights and metrics."""

import re
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from gitcluster import GIT, Clustering

X, y = make_blobs(150, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
UNEVEN, uneven_y = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)
COPIES = np.random.default_rng(0).integers(0, 4, len(UNEVEN))
VARIANTS = ["adaptive", "paper", "authors"]


def test_weights_of_nullable_types():
    weights = pd.Series(COPIES, dtype="Int64")
    np.testing.assert_array_equal(
        GIT(3).fit(UNEVEN, sample_weight=weights).labels_, GIT(3).fit(UNEVEN, sample_weight=COPIES).labels_
    )
    with pytest.raises(ValueError, match="sample_weight"):
        GIT(3).fit(UNEVEN, sample_weight=weights.replace(0, pd.NA))


def test_a_fit_finds_three_blobs():
    model = GIT(n_clusters=3).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1
    table = pd.DataFrame(model.selection_)
    assert model.n_neighbors_ == table.n_neighbors[table.chosen].item()
    assert GIT(3, variant="paper").fit(X).n_neighbors_ == 8
    np.testing.assert_allclose(model.intensity_, np.exp(model.log_intensity_))
    assert (model.local_labels_[model.peaks_] == np.arange(len(model.peaks_))).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_clustering_has_the_attributes_of_the_estimator(variant):
    model = GIT(3, variant=variant).fit(UNEVEN)
    clustering = model.clustering_
    for field in fields(Clustering):
        name, value = f"{field.name}_", getattr(clustering, field.name)
        if value is not None and hasattr(model, name) and field.name != "hierarchy":
            np.testing.assert_equal(getattr(model, name), value)
    assert model.n_clusters_ == clustering.n_clusters


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "correlation"])
def test_metrics_equal_their_distances(metric):
    points = np.random.default_rng(0).normal(size=(60, 4))
    distances = pairwise_distances(points, metric=metric)
    expected = GIT(3, metric="precomputed").fit_predict(distances)
    np.testing.assert_array_equal(GIT(3, metric=metric).fit_predict(points), expected)


def test_distances_that_are_too_small_are_refused():
    for container in (np.asarray, csr_array):
        for options in ({"scale": None}, {"scale": [1.0, 2.0]}, {"scale": None, "variant": "paper"}):
            with pytest.raises(ValueError, match="too small"):
                GIT(3, **options).fit(container(X * 1e-165))
    with pytest.raises(ValueError, match="too small"):
        GIT(3, metric="precomputed").fit(pairwise_distances(X) * 1e-305)


# numbers of clusters


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_number_of_clusters_than_requested_is_never_silent(variant):
    n_warned = 0
    for seed in range(12):
        points = make_blobs(80, 2, centers=5, random_state=seed)[0]
        for n_clusters in (2, 12):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = GIT(n_clusters, variant=variant, n_neighbors=15).fit(points)
                model.cut(n_clusters=n_clusters)
            texts = [str(warning.message) for warning in caught if warning.category is ConvergenceWarning]
            both = {str(model.n_clusters_), str(n_clusters)}
            named = [text for text in texts if both <= set(re.findall(r"\d+", text))]
            assert len(named) == (0 if model.n_clusters_ == n_clusters else 2)  # of the fit and of the cut
            n_warned += len(named)
    assert n_warned > 0


@pytest.mark.parametrize("variant", VARIANTS[:2])
def test_fewer_peaks_than_clusters(variant):
    with pytest.warns(ConvergenceWarning, match=r"n_neighbors.*60"):
        model = GIT(140, n_neighbors=60, variant=variant).fit(X)
    assert model.n_clusters_ == len(model.peaks_) < 140
    with pytest.warns(ConvergenceWarning, match="n_neighbors"):
        model = GIT(3, variant=variant).fit(np.full((20, 3), 7.5))
    assert model.labels_.tolist() == [0] * 20


def test_clusters_without_samples_are_never_silent():
    points = np.random.default_rng(2).normal(size=(120, 2))
    model = GIT(4, noise=0.8).fit(points)
    assert len(np.unique(model.labels_[model.labels_ >= 0])) == 4  # the peak of a cluster is no noise
    with pytest.warns(ConvergenceWarning, match="no samples"):
        finer = model.cut(9)
    assert len(np.unique(finer[finer >= 0])) < 9
    with pytest.warns(ConvergenceWarning, match="no samples"):
        assert (model.layers([4, 9])[1].sizes == 0).any()


# cuts and priors


def test_a_prior_decides_between_clusterings():
    # a row of four blobs: two and two, or three and one
    row = np.concatenate([make_blobs(50, centers=[[5 * i, 0]], cluster_std=0.7, random_state=i)[0] for i in range(4)])
    assert sorted(GIT(proportions=[3, 1]).fit(row).edge_cut_.sizes) == [50, 150]
    assert np.ptp(GIT(2, proportions="equal").fit(row).edge_cut_.sizes) < 10
    assert abs(np.bincount(GIT(2).fit(row).cut(proportions=[3, 1]))[0] - 150) < 10


# weights


@pytest.mark.parametrize(
    "options", [{}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the authors' variant finds four
def test_whole_weights_are_repeated_rows(options):
    weighted = GIT(3, **options).fit(UNEVEN, sample_weight=COPIES)
    repeated = GIT(3, **options).fit(np.repeat(UNEVEN, COPIES, axis=0))
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(UNEVEN))
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_)
    np.testing.assert_array_equal(weighted.predict(UNEVEN), weighted.labels_)
    assert (COPIES[weighted.parents_] > 0).all()


def test_other_weights_are_close_to_repeated_rows():
    copies = np.maximum(COPIES, 1)
    repeated = GIT(3).fit(np.repeat(UNEVEN, copies, axis=0))
    weighted = GIT(3).fit(UNEVEN, sample_weight=copies + 1e-9)  # not whole numbers, so rows are not repeated
    assert adjusted_rand_score(repeated.predict(UNEVEN), weighted.labels_) > 0.95
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_, atol=0.03)


def test_weights_count_in_proportions():
    weights = np.where(uneven_y == 2, 6.5, 1.5)
    model = GIT(3).fit(UNEVEN, sample_weight=weights)
    shares = [weights[model.labels_ == cluster].sum() / weights.sum() for cluster in range(3)]
    np.testing.assert_allclose(model.proportions_, shares)
    assert model.labels_[uneven_y == 2].max() == 0  # now the largest
