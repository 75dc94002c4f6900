"""The whole method: what goes in is checked once, and comes out in the order in which it was given."""

import sys
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.utils import check_array

from gitcluster import GIT, Clustering, git_clusters, pipeline
from gitcluster.pipeline import N_REPORTS
from gitcluster.preprocessing.sources import check_source
from gitcluster.samples import REPEATED, repeated_rows
from gitcluster.variants import VARIANTS

X, y = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)
WHOLE = np.random.default_rng(0).integers(0, 4, len(X))


@contextmanager
def count_calls(function):
    """Calls of a function, by whatever name it is known."""
    calls = []

    def note(frame, event, _):
        if event == "call" and frame.f_code is function.__code__:
            calls.append(frame)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_clustering_holds_the_attributes_of_the_estimator(variant):
    found = git_clusters(X, n_clusters=3, variant=variant)
    model = GIT(3, variant=variant).fit(X)
    assert isinstance(found, Clustering)
    for field in fields(Clustering):
        name = {"recall": "neighbors_recall"}.get(field.name, field.name) + "_"
        value = getattr(found, field.name)
        if value is not None and hasattr(model, name) and field.name != "hierarchy":
            np.testing.assert_equal(getattr(model, name), value)
    assert model.n_clusters_ == found.n_clusters


def test_rows_come_back_in_their_order():
    order = np.random.default_rng(1).permutation(len(X))
    there, back = git_clusters(X, n_clusters=3), git_clusters(X[order], n_clusters=3)
    for name in ("labels", "local_labels", "log_intensity", "outlier_scores"):
        np.testing.assert_array_equal(getattr(back, name), getattr(there, name)[order])
    np.testing.assert_array_equal(order[back.peaks], there.peaks)
    np.testing.assert_array_equal(order[back.parents], there.parents[order])
    np.testing.assert_array_equal(back.source.values, there.source.values[order])


def test_input_is_checked_once():
    with count_calls(check_array) as calls:
        GIT().fit(X)
    assert len(calls) == 1
    with count_calls(check_array) as calls:
        git_clusters(X)
    assert len(calls) == 1
    checked = check_source(X, "euclidean")
    with count_calls(check_array) as calls:
        git_clusters(checked)
    assert not calls


@pytest.mark.parametrize("studied", [5000, 50])  # all samples, or some of them
def test_every_stage_is_reported_when_it_begins(studied, monkeypatch):
    told, climb = [], pipeline.find_local_clusters
    monkeypatch.setattr(pipeline, "MAX_STUDIED", studied)
    monkeypatch.setattr(pipeline, "find_local_clusters", lambda *a, **o: told.append("climbs") or climb(*a, **o))
    git_clusters(X, n_clusters=3, report=told.append)
    names = [name for name in told if name != "climbs"]
    assert names == ["scale", "search", "local clusters", "merge"]
    assert len(names) == N_REPORTS
    assert told[told.index("local clusters") + 1] == "climbs"
    assert told[-1] == "merge"
    if studied > len(X):
        assert told.index("climbs") > told.index("local clusters")


def test_what_was_asked_for_is_kept():
    found = git_clusters(X, proportions=[1, 3, 2])
    assert found.n_requested == 3
    np.testing.assert_allclose(found.prior, [1 / 2, 1 / 3, 1 / 6])
    free = git_clusters(X)
    assert free.n_requested is free.prior is None
    assert free.n_clusters_scores is not None


# weights


@pytest.mark.parametrize(
    "options", [{}, {"variant": "paper"}, {"variant": "authors"}, {"metric": "manhattan"}], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the authors' variant finds four
def test_whole_weights_are_repeated_rows(options):
    weighted = GIT(3, **options).fit(X, sample_weight=WHOLE)
    repeated = GIT(3, **options).fit(np.repeat(X, WHOLE, axis=0))
    np.testing.assert_array_equal(weighted.labels_, repeated.predict(X))
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_)
    assert weighted.labels_.shape == weighted.log_intensity_.shape == weighted.outlier_scores_.shape == (300,)
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)


def test_whole_weights_of_a_matrix_of_distances(tmp_path):
    matrix = pairwise_distances(X)
    model = GIT(3, metric="precomputed").fit(matrix, sample_weight=WHOLE)
    repeated = np.repeat(np.arange(len(X)), WHOLE)
    other = GIT(3, metric="precomputed").fit(matrix[np.ix_(repeated, repeated)])
    np.testing.assert_array_equal(model.labels_[repeated], other.labels_)
    np.testing.assert_array_equal(model.predict(matrix), model.labels_)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(GIT.load(tmp_path / "model.npz").predict(matrix), model.labels_)


def test_other_weights_are_near_to_repeated_rows():
    rows = np.maximum(WHOLE, 1)
    repeated = GIT(3).fit(np.repeat(X, rows, axis=0))
    weighted = GIT(3).fit(X, sample_weight=rows + 1e-9)  # no whole numbers: by weight, not by repetition
    assert adjusted_rand_score(repeated.predict(X), weighted.labels_) > 0.95
    np.testing.assert_allclose(weighted.proportions_, repeated.proportions_, atol=0.03)
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)


def test_weights_count_in_proportions():
    weights = np.where(y == 2, 6.5, 1.5)
    found = git_clusters(X, n_clusters=3, sample_weight=weights)
    shares = [weights[found.labels == c].sum() / weights.sum() for c in range(3)]
    np.testing.assert_allclose(found.proportions, shares)
    assert found.labels[y == 2].max() == 0  # now the largest


def test_which_weights_are_repetitions():
    given = check_source(X[:4], "euclidean")
    assert repeated_rows(given, np.array([2.0, 0.0, 1.0, 1.0]), None).tolist() == [0, 0, 2, 3]
    assert repeated_rows(given, None, None) is None
    assert repeated_rows(given, np.array([1.5, 1.0, 1.0, 1.0]), None) is None
    assert repeated_rows(given, np.array([1e6, 1.0, 1.0, 1.0]), None) is None  # too many rows
    assert len(repeated_rows(given, np.full(4, float(REPEATED)), None)) == 4 * REPEATED
    with pytest.raises(ValueError, match="sum to 2 or more"):
        repeated_rows(given, np.array([1.0, 0.0, 0.0, 0.0]), None)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_wrong_weights_are_named(wrong):
    with pytest.raises(ValueError, match="sample_weight"):
        git_clusters(X, n_clusters=3, sample_weight=np.full(len(X), wrong))
