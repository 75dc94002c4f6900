"""Every exact search against a full sort, neighbour descent and other metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.metrics.pairwise import cosine_distances

from gitcluster import GIT, find_neighbors, neighbors
from gitcluster._support import memory
from gitcluster.neighbors.bounds import (
    BoundIndex,
    BoundPlan,
    find_axes,
    plan_rotated,
    plan_unrotated,
)
from gitcluster.neighbors.cells import CellIndex
from gitcluster.neighbors.descent import DescentIndex
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.index import SparseIndex, unit_vectors

FLOATS = [np.float64, np.float32]
dtypes = pytest.mark.parametrize("dtype", FLOATS)


def nearest_by_sorting(points, k):
    """Sort all distances, rounded to 36 bits after the leading one."""
    squares = np.zeros((len(points), len(points)))
    for column in points.T.astype(np.float64):
        squares += (column[:, None] - column) ** 2
    mantissa, exponent = np.frexp(np.sqrt(squares))
    distances = np.ldexp(np.floor(mantissa * 2**37 + 0.5) / 2**37, exponent).astype(points.dtype)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def by_bounds(points, k, n_leading, n_jobs=None):
    n_leading = min(points.shape[1], n_leading)
    plan = BoundPlan(find_axes(points[:500], n_leading), n_leading < points.shape[1], 0.0)
    return BoundIndex(points, k, plan, n_jobs=n_jobs).search()


def assert_same(actual, expected):
    np.testing.assert_array_equal(actual[1], expected[1])
    np.testing.assert_array_equal(actual[0], expected[0])


def blobs(n_samples, n_features, dtype=np.float64):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n_samples, n_features)) * 0.97 ** np.arange(n_features)
    return (rng.normal(size=(5, n_features))[rng.integers(0, 5, n_samples)] * 3 + noise).astype(dtype)


SAMPLES = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "lattice": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)),
    "binary": lambda rng, n, d: rng.integers(0, 2, size=(n, d)),
    "simplex": lambda rng, n, d: np.eye(n, d) * 3 - 0.1,
    "line": lambda rng, n, d: np.outer(np.arange(n), np.ones(d)),
    "offset": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-3 + 1e3,
    "clusters far from each other": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8 * rng.integers(0, 3, (n, 1)),
    "few far out": lambda rng, n, d: rng.normal(size=(n, d)) + np.where(np.arange(n) % 50, 0, 1e9)[:, None],
    "two scales": lambda rng, n, d: rng.normal(size=(n, d)) * np.logspace(-6, 6, d),
    "nearly equal": lambda rng, n, d: rng.integers(-2, 3, size=(n, d)) + 1e-6 * rng.normal(size=(n, d)),
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-15,
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e15,
}


@given(
    st.integers(0, 10_000),
    st.integers(2, 300),
    st.sampled_from([1, 2, 5, 16, 40, 150]),
    st.integers(1, 30),
    st.sampled_from(FLOATS),
    st.sampled_from(sorted(SAMPLES)),
    st.integers(1, 8),
)
def test_every_exact_search_equals_a_full_sort(seed, n, d, k, dtype, kind, n_leading):
    points = SAMPLES[kind](np.random.default_rng(seed), n, d).astype(dtype)
    if len(points) > 1:
        k = min(k, len(points) - 1)
        near = find_neighbors(points, n_neighbors=k)
        assert_same(near, nearest_by_sorting(points, k))
        assert near.indices.dtype == np.int32
        assert near.distances.dtype == dtype
    points = points[group_duplicates(points)[0]]
    if len(points) > 1:
        k = min(k, len(points) - 1)
        expected = nearest_by_sorting(points, k)
        assert_same(SparseIndex(csr_array(points), k).search(), expected)
        assert_same(by_bounds(points, k, n_leading), expected)
        if d <= 64:
            assert_same(CellIndex(points, k).search(), expected)


@dtypes
@pytest.mark.parametrize("shape", [(1000, 3, 40), (3000, 17, 20), (300, 64, 200), (1500, 70, 20), (500, 300, 9)])
def test_many_cells_and_blocks(shape, dtype):
    n, d, k = shape
    rng = np.random.default_rng(0)
    lattice = np.unique(rng.integers(0, 3, (n, d)), axis=0).astype(dtype)
    for points in (blobs(n, d, dtype), rng.permutation(lattice)):
        k = min(k, len(points) - 1)
        expected = nearest_by_sorting(points, k)
        assert_same(by_bounds(points, k, 20, n_jobs=2), expected)
        assert_same(BoundIndex(points, k, plan_unrotated(points, k), n_jobs=2).search(), expected)
        assert_same(BoundIndex(points, k, plan_rotated(points, k), n_jobs=3).search(), expected)
        if d <= 64:
            assert_same(CellIndex(points, k, n_jobs=2).search(), expected)


@pytest.mark.parametrize("scale", [1e-140, 1e-9, 1.0, 1e15, 1e138])
def test_bounds_beyond_the_range_of_single_precision(scale):
    points = blobs(300, 66) * scale
    assert_same(by_bounds(points, 7, 20), nearest_by_sorting(points, 7))


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 1e15, 1e25])
@pytest.mark.parametrize("far", [0.0, 1e12, 1e30])
def test_cells_beyond_the_range_of_single_precision(scale, far):
    points = np.random.default_rng(5).normal(size=(700, 3)) * scale
    points[::50] *= 1e6
    points[::70] += far
    points[::90, 0] -= 1e20 * scale
    assert_same(CellIndex(points, 30).search(), nearest_by_sorting(points, 30))


def test_new_samples_in_cells():
    X, rng = blobs(1000, 3), np.random.default_rng(2)
    new = np.vstack([X[:5], rng.normal(size=(50, 3)) * np.logspace(0, 30, 50)[:, None]])
    indices, distances = CellIndex(X).query(new, 7)
    np.testing.assert_allclose(distances, np.sort(cdist(new, X), axis=1)[:, :7], rtol=1e-10)
    np.testing.assert_array_equal(indices[:5, 0], np.arange(5))  # a new sample may equal a fitted one


def test_auto_searches_exactly_if_the_recall_is_low(monkeypatch):
    points = blobs(1500, 20)
    points[:3] *= 1e30
    monkeypatch.setattr(neighbors, "descent_pays", lambda *_: True)
    near, true = (find_neighbors(points, n_neighbors=9, search=search) for search in ("auto", "exact"))
    assert_same(near, true)
    with pytest.warns(ConvergenceWarning, match="recall"):
        assert find_neighbors(points, n_neighbors=9, search="approximate").recall < 0.9


# neighbour descent


LARGE = blobs(10_000, 20) * 0.75 ** np.arange(20)
CLOSE = LARGE[:2500]


class Small(DescentIndex):
    """Compares few pairs even of few samples."""

    BLOCK_SIZE, NEAR_BLOCKS, LINKS, BACK_LINKS = 24, 4, 8, 4


@dtypes
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_descent_is_close(metric, dtype):
    points = CLOSE.astype(dtype)
    true, near = (
        find_neighbors(points, n_neighbors=15, metric=metric, search=search) for search in ("exact", "approximate")
    )
    assert near.recall > 0.99
    assert near.indices.dtype == true.indices.dtype
    assert near.distances.dtype == dtype
    assert (np.diff(near.distances, axis=1) >= 0).all()
    assert not (near.indices == np.arange(len(points))[:, None]).any()
    same = near.indices == true.indices
    np.testing.assert_array_equal(near.distances[same], true.distances[same])


def test_descent_depends_neither_on_threads_nor_on_the_order_of_rows():
    one = Small(LARGE, 9, n_jobs=1).search()
    assert one.recall < 1  # something could differ
    for n_jobs in (2, 4):
        for part, expected in zip(Small(LARGE, 9, n_jobs=n_jobs).search(), one, strict=True):
            np.testing.assert_array_equal(part, expected)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(LARGE))
        indices, distances, recall, _ = Small(LARGE[order], 9, n_jobs=2).search()
        np.testing.assert_array_equal(distances, one.distances[order])
        np.testing.assert_array_equal(order[indices], one.indices[order])  # without ties
        assert recall == one.recall


@pytest.mark.parametrize("factor", [1e138, 1e-140])
def test_descent_with_the_largest_and_smallest_numbers(factor):
    expected, near = Small(CLOSE, 7).search(), Small(CLOSE * factor, 7).search()
    assert np.mean([len(np.intersect1d(*rows)) for rows in zip(near.indices, expected.indices, strict=True)]) > 6.8
    np.testing.assert_allclose(near.distances[:, 0] / factor, expected.distances[:, 0], rtol=0.2)


def test_descent_with_duplicates_and_few_samples():
    near = find_neighbors(np.repeat(CLOSE[:40], 5, axis=0), n_neighbors=6, search="approximate")
    assert (near.distances[:, :4] == 0).all()
    assert find_neighbors(CLOSE[:4], n_neighbors=3, search="approximate").recall == 1
    near = Small(np.repeat(CLOSE[:30], 50, axis=0), 6).search()  # more equal samples than neighbours
    assert near.recall > 0.99
    assert all(len(set(row)) == 6 and i not in row for i, row in enumerate(near.indices.tolist()))


def test_a_fit_by_descent_equals_an_exact_fit():
    exact, near = (GIT(5, search=search).fit(CLOSE) for search in ("exact", "approximate"))
    assert exact.neighbors_recall_ == 1
    assert near.neighbors_recall_ > 0.99
    assert adjusted_rand_score(exact.labels_, near.labels_) > 0.99


# other input


@dtypes
def test_cosine_distances(dtype):
    points = blobs(200, 10, dtype)
    points[3] = 0
    points[5:8] = points[4] * np.array([[2], [3], [0.1]], dtype)
    near = find_neighbors(points, n_neighbors=9, metric="cosine")
    expected = cosine_distances(points.astype(np.float64))
    np.fill_diagonal(expected, np.inf)
    atol = 40 * np.finfo(dtype).eps
    np.testing.assert_allclose(near.distances, np.sort(expected, axis=1)[:, :9], atol=atol)
    np.testing.assert_allclose(near.distances, np.take_along_axis(expected, near.indices.astype(int), 1), atol=atol)
    assert near.distances.dtype == dtype
    for row, others in ((4, [5, 6, 7]), (6, [4, 5, 7])):  # parallel vectors are as good as equal ones
        assert near.indices[row, :3].tolist() == others
        assert (near.distances[row, :3] == 0).all()
    for factor in (1e30, 1e-30):
        np.testing.assert_allclose(unit_vectors(points * dtype(factor)), unit_vectors(points), rtol=1e-5)


def test_different_rows_with_the_same_hash_are_different(monkeypatch):
    monkeypatch.setattr("gitcluster.neighbors.duplicates.hash_samples", lambda X: np.zeros(len(X), np.uint64))
    points = np.random.default_rng(0).integers(0, 3, (30, 3)).astype(float)
    first, group = group_duplicates(points)
    np.testing.assert_array_equal(points[first][group], points)


def test_precomputed_distances():
    points = blobs(50, 3)
    near = find_neighbors(pairwise_distances(points), n_neighbors=6, metric="precomputed")
    np.testing.assert_array_equal(near.indices, find_neighbors(points, n_neighbors=6).indices)


@pytest.mark.parametrize("metric", ["cityblock", "jaccard"])
def test_other_metrics_break_ties_by_index(metric):
    points = np.unique(np.random.default_rng(0).integers(0, 2, (200, 12)), axis=0).astype(float)
    expected = cdist(points, points, metric)
    np.fill_diagonal(expected, np.inf)
    near = find_neighbors(points, n_neighbors=9, metric=metric)
    np.testing.assert_array_equal(near.indices, np.argsort(expected, axis=1, kind="stable")[:, :9])


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match="neighbours"):
        find_neighbors(np.zeros((10_000, 3)), n_neighbors=30)
    assert find_neighbors(np.zeros((100, 3)), n_neighbors=30).recall == 1
