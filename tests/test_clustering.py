"""What a fit found: it cannot be changed, can be copied with changes, pickled and told in a line."""

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from gitcluster import GIT, git_clusters
from gitcluster.fitted.clustering import clustering_of

X = make_blobs(120, 2, centers=3, random_state=0)[0]


@pytest.fixture(scope="module")
def found():
    return git_clusters(X, n_clusters=3)


def test_a_clustering_cannot_be_changed(found):
    with pytest.raises(FrozenInstanceError):
        found.labels = found.labels
    with pytest.raises(FrozenInstanceError):
        found.training.labels = found.labels
    with pytest.raises(FrozenInstanceError):
        found.source.values = X
    with pytest.raises(AttributeError):
        found.n_clusters = 2


def test_a_copy_can_have_other_parts(found):
    other = replace(found, labels=found.labels[::-1], n_requested=None)
    np.testing.assert_array_equal(other.labels, found.labels[::-1])
    assert other.topo_graph is found.topo_graph
    assert found.n_requested == 3
    kept = found.with_names(["a", 2])
    assert kept.feature_names == ("a", "2")


def test_pickles_hold_no_caches(found):
    before = len(pickle.dumps(found))
    new = found.source.scale_new(X + 0.1)
    found.training.match(new)
    found.source.nearest(new, 3)
    found.training.levels  # noqa: B018
    assert {"_matcher", "levels"} <= vars(found.training).keys()
    assert "_index" in vars(found.source)
    assert len(pickle.dumps(found)) == before
    copy = pickle.loads(pickle.dumps(found))
    assert vars(copy).keys() == {field.name for field in fields(found)}
    assert "_matcher" not in vars(copy.training)
    np.testing.assert_array_equal(copy.training.match(new), found.training.match(new))


def test_a_clustering_tells_what_it_is(found):
    told = f"Clustering(3 clusters of 120 samples, {len(found.peaks)} local clusters, {found.n_neighbors} neighbours)"
    assert repr(found) == told


def test_equal_samples_are_found_again(found):
    points = found.source.scale_new(X)
    assert found.training.given(found.training.match(points)).tolist() == list(range(120))
    assert found.training.given(found.training.match(points[[5, 3]])).tolist() == [5, 3]
    assert found.training.match(points + 0.5).tolist() == [-1] * 120


def test_repeated_samples_are_known_by_one_of_their_copies():
    found = git_clusters(X, n_clusters=3, sample_weight=np.arange(120) % 3)
    known = np.arange(120) % 3 > 0
    assert ((found.training.copies >= 0) == known).all()
    assert (found.training.given(found.training.copies[known]) == np.flatnonzero(known)).all()
    match = found.training.match(found.source.scale_new(X))
    np.testing.assert_array_equal(match, found.training.copies)


def test_levels_are_the_highest_and_lowest_of_every_local_cluster(found):
    high, low = found.training.levels
    for label in range(len(found.peaks)):
        inside = found.log_intensity[found.local_labels == label]
        assert (high[label], low[label]) == (inside.max(), inside.min())


def test_a_model_or_a_clustering_is_taken_and_nothing_else(found):
    assert clustering_of(found) is found
    model = GIT(3).fit(X)
    assert clustering_of(model) is model.clustering_
    with pytest.raises(NotFittedError, match="This GIT is not fitted yet"):
        clustering_of(GIT(3))
    for wrong in (X, None, GIT):
        with pytest.raises(TypeError, match="model must be a fitted GIT, got"):
            clustering_of(wrong)


def test_samples_that_are_elsewhere_are_named(found):
    with pytest.raises(ValueError, match="Fit GIT on some of them"):
        replace(found, training=None).source  # noqa: B018
