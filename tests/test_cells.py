"""Cells: a partition of the samples into boxes, and a search in them that misses nothing."""

import numpy as np
import pytest

from gitcluster.neighbors import cells, exact

X = np.random.default_rng(0).normal(size=(1000, 3))


def nearest_by_sorting(queries, points, k):
    distances = np.linalg.norm(queries[:, None] - points, axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(("n_samples", "n_features"), [(1, 1), (129, 2), (1000, 3), (700, 20)])
def test_cells_are_boxes_that_hold_every_sample_once(n_samples, n_features):
    points = np.random.default_rng(1).normal(size=(n_samples, n_features))
    found = cells.gather_cells(points)
    assert sorted(found.members.tolist()) == list(range(n_samples))
    assert found.starts[0] == 0
    assert found.starts[-1] == n_samples
    assert np.ptp(np.diff(found.starts)) <= 1
    for cell, (start, stop) in enumerate(zip(found.starts, found.starts[1:], strict=False)):
        inside = points[found.members[start:stop]]
        np.testing.assert_array_equal(found.low[cell], inside.min(axis=0))
        np.testing.assert_array_equal(found.high[cell], inside.max(axis=0))
        np.testing.assert_array_equal(found.points[start:stop], inside)
        from_centre = (inside - found.centres[cell]).astype(np.float32).T
        np.testing.assert_array_equal(found.blocks[cell, :n_features, : stop - start], from_centre)
        assert (found.blocks[cell, n_features:] == 0).all()
        assert (np.linalg.norm(inside - found.centres[cell], axis=1) <= found.radii[cell] * (1 + 1e-12)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(2, 1, 1), (3, 2, 2), (130, 1, 129), (1000, 3, 40), (3000, 17, 20), (900, 30, 5), (300, 64, 200)]
)
def test_cells_find_what_all_pairs_find(shape, dtype):
    n_samples, n_features, k = shape
    rng = np.random.default_rng(n_samples)
    lattice = rng.permutation(np.unique(rng.integers(0, 9, (n_samples, n_features)), axis=0)).astype(dtype)
    for points in (rng.normal(size=(n_samples, n_features)).astype(dtype), lattice):
        some = min(k, len(points) - 1)
        found = exact.empty_neighbors(len(points), some, dtype)
        by_cells = cells.gather_cells(points)
        cells.nearest_in_cells(by_cells, by_cells, found, n_jobs=2)
        true = exact.certain_search(points, some, "euclidean", None)
        np.testing.assert_array_equal(found[0], true[0])
        np.testing.assert_array_equal(found[1], true[1])


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e-9, 1.0, 1e9, 1e15, 1e25])
@pytest.mark.parametrize("far", [0.0, 1e6, 1e12, 1e30])
def test_no_neighbor_is_missed_where_single_precision_says_little(scale, far):
    rng = np.random.default_rng(5)
    points = rng.normal(size=(700, 3)) * scale
    points[::50] *= 1e6
    points[::70] += far
    points[::90, 0] -= 1e20 * scale
    found = exact.empty_neighbors(len(points), 30, points.dtype)
    by_cells = cells.gather_cells(points)
    cells.nearest_in_cells(by_cells, by_cells, found)
    true = exact.certain_search(points, 30, "euclidean", None)
    np.testing.assert_array_equal(found[0], true[0])
    np.testing.assert_array_equal(found[1], true[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", ["far away", "one far away", "tiny", "huge", "two scales", "nearly equal"])
def test_what_single_precision_cannot_tell_apart_is_measured(case, dtype):
    points = np.random.default_rng(3).normal(size=(900, 4))
    points = {
        "far away": points + 1e6,
        "one far away": np.vstack([points, np.full((1, 4), 1e9)]),
        "tiny": points * 1e-15,
        "huge": points * 1e15,
        "two scales": points * [1e6, 1, 1e-3, 1e-6],
        "nearly equal": np.round(points) + 1e-6 * points,
    }[case]
    points = np.unique(points.astype(dtype), axis=0)
    found = exact.empty_neighbors(len(points), 9, dtype)
    by_cells = cells.gather_cells(points)
    cells.nearest_in_cells(by_cells, by_cells, found)
    true = exact.certain_search(points, 9, "euclidean", None)
    np.testing.assert_array_equal(found[0], true[0])
    np.testing.assert_array_equal(found[1], true[1])


def test_samples_far_outside_find_the_nearest():
    new = np.random.default_rng(4).normal(size=(50, 3)) * np.logspace(0, 30, 50)[:, None]
    found = exact.empty_neighbors(len(new), 7, X.dtype)
    cells.nearest_in_cells(cells.gather_cells(new), cells.gather_cells(X), found)
    distances = np.linalg.norm(new[:, None] - X, axis=2)
    np.testing.assert_allclose(found[1], np.sort(distances, axis=1)[:, :7], rtol=1e-10)


def test_new_samples_find_the_nearest_and_may_find_themselves():
    new = np.vstack([X[:5], np.random.default_rng(2).normal(size=(200, 3))])
    found = exact.empty_neighbors(len(new), 7, X.dtype)
    cells.nearest_in_cells(cells.gather_cells(new), cells.gather_cells(X), found)
    np.testing.assert_array_equal(found[0], nearest_by_sorting(new, X, 7))
    assert (found[0][:5, 0] == np.arange(5)).all()
    assert (found[1][:5, 0] == 0).all()


def test_what_was_found_in_other_cells_is_kept():
    points = X[:300]
    near, far = points[:100], points[100:]
    found, filled = exact.empty_neighbors(100, 4, X.dtype), np.zeros(100, np.int64)
    queries = cells.gather_cells(near)
    cells.nearest_in_cells(queries, cells.gather_cells(far[:3]), found, filled=filled)
    assert (filled == 3).all()
    cells.nearest_in_cells(queries, cells.gather_cells(far[3:]), found, filled=filled)
    assert (filled == 4).all()
    distances = np.sort(np.linalg.norm(near[:, None] - far, axis=2), axis=1)[:, :4]
    np.testing.assert_allclose(found[1], distances, rtol=1e-9)


def test_a_few_cells_tell_how_many_pairs_are_compared():
    by_cells = cells.gather_cells(X)
    pairs = cells.sample_pairs(by_cells, exact.empty_neighbors(len(X), 10, X.dtype))
    assert 10 <= pairs <= len(X)
