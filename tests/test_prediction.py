"""New samples climb like fitted ones, and fitted ones keep what they have."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from gitcluster import GIT

X, _ = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)
new = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (60, 3))
OPTIONS = [
    {},
    {"n_neighbors": 7},
    {"noise": 0.05},
    {"noise": "auto"},
    {"variant": "paper"},
    {"variant": "authors"},
    {"metric": "manhattan"},
    {"metric": "cosine"},
    {"scale": None},
    {"scale": [1, 2, 0]},
    {"proportions": "equal"},
    {"max_cluster_size": 140},
    {"search": "approximate"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fitted_samples_keep_their_results_and_new_ones_have_some(options, dtype):
    samples = X.astype(dtype)
    model = GIT(3, **options).fit(samples)
    for rows in (np.arange(len(X)), np.random.default_rng(1).permutation(len(X))[:70]):
        np.testing.assert_array_equal(model.predict(samples[rows]), model.labels_[rows])
        np.testing.assert_array_equal(model.score_samples(samples[rows]), model.log_intensity_[rows])
        own = model.predict_proba(samples[rows])[np.arange(len(rows)), np.maximum(model.labels_[rows], 0)]
        np.testing.assert_allclose(model.probabilities_[rows], np.where(model.labels_[rows] >= 0, own, 0))
    for some in (samples, new.astype(dtype)):
        labels, shares = model.predict(some), model.predict_proba(some)
        assert set(labels) <= set(range(-1 if "noise" in options else 0, model.n_clusters_))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(shares.argmax(axis=1)[labels >= 0], labels[labels >= 0])
        assert np.isfinite(model.score_samples(some)).all()


def test_predict_climbs_as_the_text_says():
    model = GIT(3).fit(X)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    points = (new - X.mean(axis=0)) / X.std(axis=0)
    k = model.n_neighbors_
    unit = model.clustering_.training.units
    for x, predicted, score in zip(points, model.predict(new), model.score_samples(new), strict=True):
        distances = np.sqrt(((scaled - x) ** 2).sum(axis=1))
        near = np.argsort(distances)[:k]
        h = unit[model.local_labels_[near[0]]]
        level = math.log(sum(math.exp(-d / h) for d in distances[near]) / k)
        assert score == pytest.approx(level)
        slopes = {
            p: (model.intensity_[p] - math.exp(level)) / distances[p]
            for p in near[: k // 2]
            if model.log_intensity_[p] > level
        }
        parent = max(slopes, key=slopes.get) if slopes else near[0]
        assert predicted == model.labels_[parent]


def test_new_samples_of_the_same_moons():
    samples, truth = make_moons(1000, noise=0.06, random_state=3)
    fresh, fresh_truth = make_moons(500, noise=0.06, random_state=4)
    model = GIT(2).fit(samples)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    assert adjusted_rand_score(fresh_truth, model.predict(fresh)) > 0.99


def test_distances_and_sparse_samples_are_predicted():
    matrix = pairwise_distances(X)
    model = GIT(3, metric="precomputed").fit(matrix)
    np.testing.assert_array_equal(model.predict(matrix), model.labels_)
    same = GIT(3, scale=None).fit(X)
    assert adjusted_rand_score(same.predict(new), model.predict(pairwise_distances(new, X))) > 0.95
    thin = csr_array(np.where(np.abs(X) > 2, X, 0.0))
    sparse, dense = GIT(3).fit(thin), GIT(3).fit(thin.toarray())
    assert adjusted_rand_score(sparse.labels_, dense.labels_) == 1
    np.testing.assert_array_equal(sparse.predict(thin), sparse.labels_)
    np.testing.assert_array_equal(sparse.predict(thin.toarray()), sparse.labels_)
    np.testing.assert_array_equal(dense.predict(thin), dense.labels_)
    with pytest.raises(TypeError, match="toarray"):
        sparse.predict_proba(thin)
