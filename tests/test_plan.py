"""Which search is taken, and that all exact ones find the same."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_distances

from gitcluster import find_neighbors, neighbors
from gitcluster.neighbors import exact, plan


@pytest.fixture
def eager(monkeypatch):
    """Bounds are tried however few samples there are, and always taken."""
    monkeypatch.setattr(plan, "WORTH", -1.0)
    monkeypatch.setattr(plan, "all_pairs_seconds", lambda *_: 1e9)


def blobs(n_samples, n_features, dtype=np.float64):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5, n_features)) * 3
    noise = rng.normal(size=(n_samples, n_features)) * 0.97 ** np.arange(n_features)
    return (centres[rng.integers(0, 5, n_samples)] + noise).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bounds_are_taken_with_many_features(eager, monkeypatch, dtype):
    points, asked = blobs(900, 100, dtype), []
    monkeypatch.setattr(
        plan,
        "bounded_search",
        lambda *a, **options: asked.append(options) or exact.certain_search(*a, "euclidean", None),
    )
    plan.plan_exact_search(points, 12, "euclidean", None).search()
    assert asked[0]["n_leading"] <= asked[0]["axes"].directions.shape[1] <= 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_every_search_finds_the_same(eager, monkeypatch, metric, dtype):
    points = blobs(1100, 90, dtype)
    found = find_neighbors(points, n_neighbors=12, metric=metric, n_jobs=2)
    monkeypatch.undo()
    expected = find_neighbors(points, n_neighbors=12, metric=metric)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_of_all_features_find_the_same(monkeypatch, dtype):
    points = blobs(1300, 130, dtype)
    expected = find_neighbors(points, n_neighbors=12)
    monkeypatch.setattr(plan, "QUICK", -1.0)
    monkeypatch.setattr(plan, "certain_search", lambda *_: pytest.fail("blocks are faster"))
    found = find_neighbors(points, n_neighbors=12, n_jobs=2)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_small_sets_are_left_to_scikit_learn(monkeypatch):
    monkeypatch.setattr(plan, "plan_bounds", lambda *_: pytest.fail("not worth it"))
    find_neighbors(blobs(300, 100), n_neighbors=3)


def test_bounds_need_few_pairs_where_axes_tell_much():
    points = blobs(3000, 100)
    axes = plan.find_axes(points, 100)
    shares = plan.sample_bounds(points, axes, 10)
    assert list(shares) == [16, 32, 64, 96, 100]
    assert shares[16] > shares[32] > shares[64] >= shares[100] > 0
    assert shares[100] < 0.01


def test_blocks_far_apart_are_not_compared():
    together = np.random.default_rng(0).normal(size=(3000, 20))
    apart = together + 100 * (np.arange(3000)[:, None] % 10 == np.arange(20))
    shares = [plan.sample_gaps(points, plan.find_axes(points, 20), 10) for points in (together, apart)]
    assert shares[0] == 1
    assert shares[1] <= 0.1
    of_all, of_some = (plan.bounded_seconds(10**6, 100, 40, n_leading=96, share=1e-5, compared=c) for c in shares)
    assert of_some < of_all / 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cosine_distances(dtype):
    points = blobs(200, 10, dtype)
    points[3] = 0
    points[5:8] = points[4] * np.array([[2], [3], [0.1]], dtype)
    found = find_neighbors(points, n_neighbors=9, metric="cosine")
    expected = cosine_distances(points.astype(np.float64))
    np.testing.assert_allclose(
        found.distances, np.take_along_axis(expected, found.indices.astype(int), axis=1), atol=40 * np.finfo(dtype).eps
    )
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(found.distances, np.sort(expected, axis=1)[:, :9], atol=40 * np.finfo(dtype).eps)
    np.testing.assert_allclose(found.distances[3], 1, rtol=1e-6)
    assert found.distances.dtype == dtype
    for row, others in ((4, [5, 6, 7]), (6, [4, 5, 7])):  # one direction: as equal as equal samples, in their order
        assert found.indices[row, :3].tolist() == others
        assert (found.distances[row, :3] == 0).all()


def test_directions_of_numbers_of_any_size():
    points = np.random.default_rng(1).normal(size=(50, 6))
    expected = plan.find_directions(points)
    np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1)
    for factor in (1e300, 1e-300):
        np.testing.assert_allclose(plan.find_directions(points * factor), expected, rtol=1e-12)


def test_all_pairs_where_cells_do_not_help(monkeypatch):
    points, asked = blobs(900, 12), []
    monkeypatch.setattr(plan, "sample_pairs", lambda *_: 1e12)
    monkeypatch.setattr(plan, "certain_search", lambda *a: asked.append("pairs") or (None, None))
    seconds, search_exactly = plan.plan_exact_search(points, 5, "euclidean", None)
    search_exactly()
    assert asked == ["pairs"]
    assert seconds == plan.all_pairs_seconds(*points.shape)


def test_descent_is_taken_where_it_pays(monkeypatch):
    points, asked = blobs(300, 10), []
    monkeypatch.setattr(
        plan,
        "descend",
        lambda *a, **_: asked.append("descent") or (*exact.certain_search(a[0], a[1], "euclidean", None), 1.0),
    )
    find_neighbors(points, n_neighbors=5)
    assert not asked
    monkeypatch.setattr(neighbors, "descent_pays", lambda *_: True)
    find_neighbors(points, n_neighbors=5)
    find_neighbors(points, n_neighbors=5, metric="cosine")
    assert asked == ["descent"] * 2
    find_neighbors(points, n_neighbors=5, search="exact")
    find_neighbors(points, n_neighbors=5, metric="manhattan")
    find_neighbors(points, n_neighbors=299)
    assert asked == ["descent"] * 2


def test_when_descent_pays():
    assert not plan.descent_pays(plan.all_pairs_seconds(10_000, 784), (10_000, 784), 40)
    bounded = plan.bounded_seconds(60_000, 784, 80, n_leading=128, share=0.03)
    assert not plan.descent_pays(bounded, (60_000, 784), 80)
    bounded = plan.bounded_seconds(1_000_000, 100, 80, n_leading=96, share=0.01)
    assert plan.descent_pays(bounded, (1_000_000, 100), 80)
    assert not plan.descent_pays(plan.cell_seconds(500_000, 3, 1000), (500_000, 3), 40)
    assert plan.descent_pays(plan.cell_seconds(1_000_000, 10, 500_000), (1_000_000, 10), 40)
