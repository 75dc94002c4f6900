"""What a search takes beside samples, given and scaled: at most the samples once more and 12 bytes per neighbour."""

import tracemalloc

import numpy as np
import pytest

from gitcluster import GIT
from gitcluster._support import memory
from gitcluster.neighbors import bounded, search_points, shadows
from gitcluster.neighbors.bounded import bounded_search
from gitcluster.neighbors.descent import descend
from gitcluster.neighbors.shadows import find_axes
from gitcluster.preprocessing.representations import Representation
from gitcluster.preprocessing.scaling import fit_scaling
from gitcluster.preprocessing.sources import as_source

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 60))[rng.integers(0, 40, 12_000)] * 2 + rng.normal(size=(12_000, 60)) * 0.95 ** np.arange(60)


def search_bounded(points, k, n_leading, again=None):
    axes = find_axes(points[:1000], min(3 * n_leading, points.shape[1]))
    return bounded_search(points, k, axes=axes, n_leading=n_leading, n_jobs=2, again=again)


@pytest.fixture
def in_their_room(monkeypatch):
    """Shadows take the room of samples, however few these are."""
    monkeypatch.setattr(shadows, "ROOM", 0)


@pytest.mark.parametrize("n_leading", [16, 60])
def test_samples_are_brought_back_after_a_search_by_bounds(in_their_room, n_leading):
    points = np.round(X, 1).astype(np.float32)  # links, which are settled in the end
    expected, own = search_bounded(points, 12, n_leading), points.copy()
    found = search_bounded(own, 12, n_leading, again=points.__getitem__)
    np.testing.assert_array_equal(own, points)
    for part, true in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, true)


def test_samples_are_brought_back_after_neighbour_descent(in_their_room):
    points = X.astype(np.float32)
    expected, own = descend(points, 12, 2), points.copy()
    found = descend(own, 12, 2, again=points.__getitem__)
    np.testing.assert_array_equal(own, points)
    for part, true in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, true)


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_duplicates_leave_the_samples_as_they_are(in_their_room, search):
    points = np.repeat(X[:2000].astype(np.float32), 2, axis=0)
    own = points.copy()
    found = search_points(own, 9, "euclidean", search=search)
    np.testing.assert_array_equal(own, points)
    assert (found.distances[:, 0] == 0).all()


def test_a_fit_in_the_room_of_its_samples_is_the_same(monkeypatch):
    given = X[:6000].astype(np.float32)
    given.setflags(write=False)
    expected = GIT(5, search="approximate").fit(given)
    monkeypatch.setattr(shadows, "ROOM", 0)
    model = GIT(5, search="approximate").fit(given)
    np.testing.assert_array_equal(given, X[:6000].astype(np.float32))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_array_equal(model.predict(given + 0.5), expected.predict(given + 0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_search_by_bounds_keeps_to_its_memory(in_their_room, monkeypatch, dtype):
    monkeypatch.setattr(bounded, "ROWS_AT_ONCE", 500)
    k, points = 40, X.astype(dtype)
    given = points.copy()
    search_bounded(points, k, 32, again=given.__getitem__)  # compiles
    tracemalloc.start()
    search_bounded(points, k, 32, again=given.__getitem__)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * k * len(X) + points.nbytes + 200 * len(X)  # 200: samples of pairs and blocks, which do not grow


def test_samples_are_put_back_in_their_place():
    source, order = as_source(X.copy(), "euclidean"), rng.permutation(len(X))
    way = Representation("std", fit_scaling(X))
    scaled = source.under(way, order=order)
    values, expected = scaled.values, source.under(way).values
    np.testing.assert_array_equal(values, expected[order])
    np.testing.assert_array_equal(source.made_again(way, order=order)(np.array([3, 1])), values[[3, 1]])
    assert scaled.put_in_order(np.argsort(order)).values is values
    np.testing.assert_array_equal(values, expected)


def test_freed_memory_is_given_back_where_the_system_can(monkeypatch):
    memory.give_back()
    monkeypatch.setattr(memory, "_find_trim", lambda: None)
    memory.give_back()
