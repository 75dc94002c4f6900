"""Explanations, checked against other cuts of the model and against all paths of small graphs."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from gitcluster import GIT

X = make_blobs(400, centers=6, cluster_std=1.6, random_state=4)[0]


@pytest.fixture(scope="module")
def model():
    return GIT(4).fit(X)


def test_a_sample_climbs_to_its_peak(model):
    for i in range(0, 400, 23):
        explanation = model.explain(i)
        assert explanation.climb[0] == i
        assert explanation.climb[-1] == model.peaks_[explanation.local_cluster]
        assert explanation.cluster == explanation.home == model.labels_[i]
        assert explanation.memberships[explanation.home] == pytest.approx(model.probabilities_[i])
        assert (np.diff(model.log_intensity_[explanation.climb]) > 0).all()


def test_numbers_of_clusters_that_split_or_merge_a_cluster(model):
    for i in range(0, 400, 11):
        explanation = model.explain(i)
        members = np.flatnonzero(model.labels_ == explanation.home)
        for number in range(1, 30):
            labels = model.cut(n_clusters=number)
            assert (len(np.unique(labels[members])) > 1) == (number >= explanation.splits_at)
            merged = (labels == labels[members[0]]).sum() > len(members)
            if number <= model.n_clusters_:
                assert merged == (number <= explanation.merges_at)


def test_a_pair_is_joined_up_to_a_number_of_clusters(model):
    for i, j in np.random.default_rng(0).integers(0, 400, (20, 2)):
        explanation = model.explain(i, j)
        assert explanation.same_cluster == (model.labels_[i] == model.labels_[j])
        joined = [n for n in range(1, len(model.peaks_) + 1) if np.ptp(model.cut(n_clusters=n)[[i, j]]) == 0]
        assert explanation.joined_until == max(joined)
        assert explanation.cut.any() != explanation.same_cluster
        ends = model.topo_graph_.edges[explanation.edges]
        assert np.array_equal(np.sort(ends), np.sort(np.stack([explanation.path[:-1], explanation.path[1:]], axis=1)))
    paper = GIT(4, variant="paper").fit(X)
    assert (paper.explain(0, 1).joined_until, paper.explain(0).splits_at) == (None, None)


def test_texts_name_noise_peaks_paths_and_constraints(model):
    noisy = GIT(4, noise=0.1).fit(X)
    noise = int(np.flatnonzero(noisy.labels_ < 0)[0])
    assert "is noise" in str(noisy.explain(noise))
    assert noisy.explain(noise).cluster == -1
    i, j = np.flatnonzero(model.local_labels_ == 0)[[0, -1]].tolist()
    assert "same peak" in str(model.explain(i, j, details=True))
    other = int(np.flatnonzero(model.labels_ != model.labels_[i])[0])
    text = str(model.explain(i, other, details=True))
    assert "weakest edge" in text
    assert "Cut edges: " in text
    assert "Climb: " in str(model.explain(i, details=True))
    row = np.random.default_rng(0).normal(size=(90, 1)) + np.repeat([0, 20, 40], 30)[:, None]
    linked = GIT(2).fit(row, must_link=[(0, 89)], cannot_link=[(0, 45)])  # the first and the last of three groups
    assert "A constraint joins them" in str(linked.explain(0, 89))


def test_errors_name_the_parameter(model):
    with pytest.raises(NotFittedError):
        GIT(2).explain(0)
    for rows, error, parameter in (((400,), ValueError, "i"), ((0, -401), ValueError, "j"), (("0",), TypeError, "i")):
        with pytest.raises(error, match=rf"^{parameter} must be"):
            model.explain(*rows)
    with pytest.raises(ValueError, match="X must have"):
        model.explain(0, X=X[:3])
