"""Memberships of samples in clusters, against their formula, and the score of a model without labels."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.memberships import BLOCK, BOUNDARY, own_shares

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]
SEPARATED = make_blobs(600, centers=4, random_state=3)[0]


def memberships_by_formula(clustering, x):
    """Return 1 - t / 2 in the own cluster, t / 2 by summed similarity in those that boundary pairs lead to."""
    local, graph = clustering.local_labels[x], clustering.topo_graph
    inside = clustering.log_intensity[clustering.local_labels == local]
    depth = (inside.max() - clustering.log_intensity[x]) / np.ptp(inside) if np.ptp(inside) else 0.0
    leads_to = np.zeros(clustering.n_clusters)
    for (i, j), total, real in zip(graph.edges.tolist(), np.exp(graph.log_sums), graph.real, strict=True):
        if real and local in (i, j):
            leads_to[clustering.edge_cut.labels[j if i == local else i]] += total
    if not leads_to.any():  # bridges only
        leads_to[clustering.edge_cut.labels[local]] = 1
    shares = BOUNDARY * depth * leads_to / leads_to.sum()
    shares[clustering.edge_cut.labels[local]] += 1 - BOUNDARY * depth
    return shares


@pytest.mark.parametrize("noise", [None, 0.1])
def test_memberships_equal_their_formula(noise):
    model = GIT(4, noise=noise).fit(X)
    shares, labels = model.predict_proba(X), model.labels_
    np.testing.assert_allclose(shares, [memberships_by_formula(model.clustering_, x) for x in range(200)], atol=1e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1)[labels >= 0], labels[labels >= 0])
    np.testing.assert_allclose(model.probabilities_, np.where(labels < 0, 0, shares.max(axis=1)))
    assert (shares[model.peaks_].max(axis=1) == 1).all()
    assert (shares.max(axis=1) > 0.5).all()


def test_memberships_of_many_samples_are_those_of_parts():
    model = GIT(4).fit(X)
    new = np.random.default_rng(0).choice(X, 1 + BLOCK // 4) + 0.2  # more than one block
    whole = model.predict_proba(new)
    np.testing.assert_array_equal(model.predict_proba(new[-9:]), whole[-9:])
    np.testing.assert_allclose(own_shares(model.clustering_, model.predict_samples(new)), whole.max(axis=1))


def test_memberships_are_lower_at_a_boundary():
    samples, _ = make_blobs([200, 200], centers=[[0, 0], [5, 0]], random_state=0)
    near, far = GIT(2).fit(samples).predict_proba([[2.5, 0.0], [-1.0, 0.0]]).max(axis=1)
    assert near < far
    separate = GIT(2).fit(np.vstack([X[:60], X[:60] + 1000]))  # without boundary pairs
    np.testing.assert_array_equal(separate.probabilities_, 1.0)


FAR_OPTIONS = [{}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}, {"scale": None}]


@pytest.mark.parametrize("options", FAR_OPTIONS, ids=str)
def test_memberships_are_equal_far_from_all_fitted_samples(options):
    model = GIT(4, **options).fit(X)
    far = X.mean(axis=0) + 10.0 ** np.arange(1, 200, 3)[:, None] * [1.0, 0.7]
    shares, described = model.predict_proba(far), model.predict_samples(far)
    own = shares.max(axis=1)
    assert (np.diff(own) <= 1e-6).all()
    assert own[1] < 0.27
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), described.labels)
    assert (described.outlier_scores[1:] > 0.99).all()


def test_support_of_new_samples():
    fitted, new = (make_blobs(600, 5, centers=4, random_state=0)[0][part::2] for part in (0, 1))
    assert (GIT(4).fit(fitted).predict_samples(new).support == 1).mean() > 0.99
    far = fitted[:1] * 1000
    outlier = GIT(4).fit(np.vstack([fitted, far]))
    assert outlier.predict_samples(far + 1e-6 * fitted.std()).support[0] == 1  # next to a fitted outlier
    grid = np.random.default_rng(0).integers(0, 4, (1000, 2)).astype(float)
    duplicates = GIT(2).fit(np.vstack([grid, grid + 9]))  # no neighbourhood has any width
    near, away = duplicates.predict_proba([[1.5, 1.0], [1e4, 1e4]]).max(axis=1)
    assert near > 0.99
    assert away < 0.51
    distances = GIT(4, metric="precomputed").fit(pairwise_distances(X))
    assert distances.predict_proba(np.full((1, len(X)), 1e6)).max() < 0.26


def test_the_right_number_of_clusters_has_the_highest_score():
    models = {n: GIT(n).fit(SEPARATED[:450]) for n in (1, 2, 4, 6)}
    for samples in (SEPARATED[:450], SEPARATED[450:]):
        scores = {n: model.score(samples) for n, model in models.items()}
        assert scores[1] == 0
        assert max(scores, key=scores.get) == 4
        assert scores[4] == pytest.approx(np.log(4), abs=0.1)  # closed clusters of one size
    search = GridSearchCV(GIT(), {"n_clusters": [2, 4, 8]}, cv=3).fit(SEPARATED)
    assert search.best_params_ == {"n_clusters": 4}
    for metric, given in (
        ("precomputed_graph", kneighbors_graph(SEPARATED, 20, mode="distance")),
        ("precomputed", pairwise_distances(SEPARATED)),
    ):
        assert GIT(4, metric=metric).fit(given).score(given) > 1
