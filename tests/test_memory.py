"""What a search takes beside samples, given and scaled: at most the samples once more and 12 bytes per neighbour."""

import tracemalloc

import numpy as np
import pytest

from gitcluster import GIT
from gitcluster._support import memory
from gitcluster.inputs import as_input
from gitcluster.inputs.representations import Representation
from gitcluster.inputs.scaling import fit_scaling
from gitcluster.neighbors import search_points
from gitcluster.neighbors.bounds import BoundIndex, BoundPlan, ProjectingIndex, find_axes
from gitcluster.neighbors.descent import DescentIndex

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 60))[rng.integers(0, 40, 12_000)] * 2 + rng.normal(size=(12_000, 60)) * 0.95 ** np.arange(60)


@pytest.fixture
def overwriting(monkeypatch):
    """Overwrite samples by their projections, however few they are."""
    monkeypatch.setattr(ProjectingIndex, "OVERWRITE_BYTES", 0)


def by_bounds(points, n_leading, recompute=None, k=12):
    plan = BoundPlan(find_axes(points[:1000], min(3 * n_leading, points.shape[1])), n_leading, 0.0)
    return BoundIndex(points, k, plan, n_jobs=2, recompute=recompute).search()


def by_descent(points, _, recompute=None):
    return DescentIndex(points, 12, n_jobs=2, recompute=recompute).search()


@pytest.mark.parametrize(("search", "n_leading"), [(by_bounds, 16), (by_bounds, 60), (by_descent, None)])
def test_overwritten_samples_are_restored(overwriting, search, n_leading):
    points = np.round(X, 1).astype(np.float32)  # with ties
    expected, own = search(points, n_leading), points.copy()
    near = search(own, n_leading, recompute=points.__getitem__)
    np.testing.assert_array_equal(own, points)
    for part, true in zip(near, expected, strict=True):
        np.testing.assert_array_equal(part, true)


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_samples_with_duplicates_are_restored(overwriting, search):
    points = np.repeat(X[:2000].astype(np.float32), 2, axis=0)
    own = points.copy()
    near = search_points(own, 9, "euclidean", search=search)
    np.testing.assert_array_equal(own, points)
    assert (near.distances[:, 0] == 0).all()


def test_a_fit_that_overwrites_is_the_same(monkeypatch):
    given = X[:6000].astype(np.float32)
    given.setflags(write=False)
    expected = GIT(5, search="approximate").fit(given)
    monkeypatch.setattr(ProjectingIndex, "OVERWRITE_BYTES", 0)
    model = GIT(5, search="approximate").fit(given)
    np.testing.assert_array_equal(given, X[:6000].astype(np.float32))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_array_equal(model.predict(given + 0.5), expected.predict(given + 0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_search_by_bounds_stays_within_its_memory(overwriting, monkeypatch, dtype):
    monkeypatch.setattr("gitcluster.neighbors.bounds.ROWS_AT_ONCE", 500)
    points = X.astype(dtype)
    given = points.copy()
    by_bounds(points, 32, recompute=given.__getitem__, k=40)  # compiles
    tracemalloc.start()
    by_bounds(points, 32, recompute=given.__getitem__, k=40)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * 40 * len(X) + points.nbytes + 200 * len(X)  # 200: blocks and samples of pairs


def test_samples_are_put_back_in_their_place():
    source, order = as_input(X.copy(), "euclidean"), rng.permutation(len(X))
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
