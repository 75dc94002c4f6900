"""How much a sample belongs to every cluster, against the formula for each of them."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from gitcluster import GIT, git_clusters
from gitcluster.fitted.memberships import BOUNDARY, leaving_shares, memberships, own_shares
from gitcluster.fitted.prediction import predict_fitted

X = make_blobs(200, 2, centers=4, cluster_std=2.0, random_state=0)[0]


@pytest.fixture(scope="module")
def found():
    return git_clusters(X, n_clusters=4, scale="std")


def shares_by_hand(found, x):
    """1 - t / 2 for the own cluster, t / 2 by summed similarity for those that boundary pairs lead to."""
    local, graph = found.local_labels[x], found.topo_graph
    inside = found.log_intensity[found.local_labels == local]
    place = (inside.max() - found.log_intensity[x]) / np.ptp(inside) if np.ptp(inside) else 0.0
    leads_to = np.zeros(found.n_clusters)
    for (i, j), total, real in zip(graph.edges.tolist(), np.exp(graph.log_sums), graph.real, strict=True):
        if real and local in (i, j):
            leads_to[found.edge_cut.labels[j if i == local else i]] += total
    if not leads_to.any():  # bridges only
        leads_to[found.edge_cut.labels[local]] = 1
    shares = BOUNDARY * place * leads_to / leads_to.sum()
    shares[found.edge_cut.labels[local]] += 1 - BOUNDARY * place
    return shares


def test_memberships_are_their_formula(found):
    shares = memberships(found, predict_fitted(found))
    np.testing.assert_allclose(shares, [shares_by_hand(found, x) for x in range(len(X))], atol=1e-9)


def test_rows_sum_to_one_and_are_largest_at_the_own_cluster(found):
    shares = memberships(found, predict_fitted(found))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), found.labels)
    assert shares.min() >= 0
    assert (shares.max(axis=1) > 0.5).all()


def test_the_largest_memberships_come_first_without_the_others(found, monkeypatch):
    model = GIT(4, scale="std").fit(X)
    whole = model.predict_proba(X + 0.2)
    monkeypatch.setattr("gitcluster.fitted.memberships.SHARES_AT_ONCE", 50)  # in blocks of twelve
    np.testing.assert_array_equal(model.predict_proba(X + 0.2), whole)
    for top in (1, 3, 9):
        clusters, shares = model.predict_proba(X + 0.2, top=top)
        assert clusters.shape == shares.shape == (len(X), min(top, 4))
        np.testing.assert_array_equal(shares, -np.sort(-whole, axis=1)[:, :top])
        np.testing.assert_array_equal(np.take_along_axis(whole, clusters, axis=1), shares)
        np.testing.assert_array_equal(clusters[:, 0], whole.argmax(axis=1))
    with pytest.raises(ValueError, match="top"):
        model.predict_proba(X, top=0)


def test_a_peak_belongs_to_its_cluster_alone_and_the_lowest_by_half(found):
    leaving = leaving_shares(found, predict_fitted(found))
    assert (leaving[found.peaks] == 0).all()
    for label in np.unique(found.local_labels):
        inside = np.flatnonzero(found.local_labels == label)
        if len(inside) > 1:
            assert leaving[inside[found.log_intensity[inside].argmin()]] == pytest.approx(BOUNDARY)


def test_the_own_share_is_the_largest_membership(found):
    model = GIT(4).fit(X)
    new = X + 0.3
    described = model.predict_samples(new)
    np.testing.assert_allclose(own_shares(model.clustering_, described), model.predict_proba(new).max(axis=1))
    np.testing.assert_allclose(own_shares(found), memberships(found, predict_fitted(found)).max(axis=1))


def test_noise_belongs_to_nothing():
    noisy = git_clusters(X, n_clusters=4, noise=0.1)
    own = own_shares(noisy)
    np.testing.assert_array_equal(own == 0, noisy.labels == -1)
    shares = memberships(noisy, predict_fitted(noisy))
    np.testing.assert_allclose(shares.sum(axis=1), 1)  # it has a cluster nevertheless


def test_a_local_cluster_without_boundary_pairs_keeps_all():
    groups = np.vstack([X[:60], X[:60] + 1000])
    found = git_clusters(groups, n_clusters=2)
    np.testing.assert_array_equal(own_shares(found), 1.0)


def test_samples_at_a_boundary_belong_less_firmly():
    samples, _ = make_blobs([200, 200], centers=[[0, 0], [5, 0]], random_state=0)
    model = GIT(2).fit(samples)
    near, far = model.predict_proba([[2.5, 0.0], [-1.0, 0.0]]).max(axis=1)
    assert near < far
    assert model.probabilities_[np.abs(samples[:, 0] - 2.5) < 0.7].mean() < model.probabilities_.mean()


FAR_OPTIONS = [{}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}, {"scale": None}]


@pytest.mark.parametrize("options", FAR_OPTIONS, ids=str)
def test_far_from_all_fitted_samples_nothing_is_certain(options):
    model = GIT(4, **options).fit(X)
    middle, direction = X.mean(axis=0), np.array([1.0, 0.7])
    steps = 10.0 ** np.arange(1, 200, 3)
    far = middle + steps[:, None] * direction
    shares, described = model.predict_proba(far), model.predict_samples(far)
    own = shares.max(axis=1)
    assert (np.diff(own) <= 1e-6).all()  # shares never fall below the least support
    assert own[1] < 0.27  # nearly a quarter each
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), described.labels)
    np.testing.assert_array_equal(model.predict_proba(far, top=1)[0][:, 0], described.labels)
    np.testing.assert_allclose(own_shares(model.clustering_, described), own)
    assert (described.outlier_scores[1:] > 0.99).all()


def test_among_the_fitted_samples_memberships_are_supported():
    fitted, new = (make_blobs(600, 5, centers=4, random_state=0)[0][part::2] for part in (0, 1))
    model = GIT(4).fit(fitted)
    assert (model.predict_samples(new).support == 1).mean() > 0.99
    far = fitted[:1] * 1000
    lonely = GIT(4).fit(np.vstack([fitted, far]))
    beside = far + 1e-6 * fitted.std()  # an outlier of the fit supports what lies next to it
    assert lonely.predict_samples(beside).support[0] == 1


def test_far_from_duplicates_nothing_is_certain():
    grid = np.random.default_rng(0).integers(0, 4, (1000, 2)).astype(float)
    model = GIT(2).fit(np.vstack([grid, grid + 9]))  # no neighbourhood has any width
    near, far = model.predict_proba([[1.5, 1.0], [1e4, 1e4]]).max(axis=1)
    assert near > 0.99
    assert far < 0.51


def test_a_row_without_a_neighbour_is_not_certain():
    distances = pairwise_distances(X)
    model = GIT(4, metric="precomputed").fit(distances)
    assert model.predict_proba(np.full((1, len(X)), 1e6)).max() < 0.26
