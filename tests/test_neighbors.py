"""Every search beside a full sort, and which search is chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_distances
from sklearn.neighbors import NearestNeighbors

from gitcluster import GIT, find_neighbors, neighbors, scale_features
from gitcluster._support import validation
from gitcluster.neighbors import choose_index, descent_pays
from gitcluster.neighbors.bounds import (
    BlockSchedule,
    BoundIndex,
    BoundPlan,
    bound_seconds,
    find_axes,
    find_gaps,
    find_margins,
    find_unit,
    plan_rotated,
    plan_unrotated,
    project,
    sample_bounds,
    sample_gaps,
)
from gitcluster.neighbors.cells import CellIndex, cell_seconds, gather_cells, nearest_in_cells, split_evenly
from gitcluster.neighbors.descent import DescentIndex
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.index import CosineIndex, SklearnIndex, UserIndex, empty_neighbors, unit_vectors

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


def by_bounds(points, k, n_axes=None, n_leading=None, n_jobs=None):
    n_axes = min(points.shape[1], n_axes or points.shape[1])
    plan = BoundPlan(find_axes(points[:500], n_axes), min(n_leading or n_axes, n_axes), 0.0)
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
        assert_same(SklearnIndex(points, k).search(), expected)
        assert_same(by_bounds(points, k, 3 * n_leading, n_leading), expected)
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
        expected = SklearnIndex(points, k).search()
        assert_same(by_bounds(points, k, n_axes=60, n_leading=20, n_jobs=2), expected)
        assert_same(BoundIndex(points, k, plan_unrotated(points, k), n_jobs=2).search(), expected)
        assert_same(BoundIndex(points, k, plan_rotated(points, k), n_jobs=3).search(), expected)
        if d <= 64:
            assert_same(CellIndex(points, k, n_jobs=2).search(), expected)


@pytest.mark.parametrize("scale", [1e-140, 1e-9, 1.0, 1e15, 1e138])
def test_bounds_beyond_the_range_of_single_precision(scale):
    points = blobs(300, 66) * scale
    assert_same(by_bounds(points, 7, n_leading=20), SklearnIndex(points, 7).search())


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 1e15, 1e25])
@pytest.mark.parametrize("far", [0.0, 1e12, 1e30])
def test_cells_beyond_the_range_of_single_precision(scale, far):
    points = np.random.default_rng(5).normal(size=(700, 3)) * scale
    points[::50] *= 1e6
    points[::70] += far
    points[::90, 0] -= 1e20 * scale
    assert_same(CellIndex(points, 30).search(), SklearnIndex(points, 30).search())


def test_new_samples_in_cells():
    X, rng = blobs(1000, 3), np.random.default_rng(2)
    new = np.vstack([X[:5], rng.normal(size=(50, 3)) * np.logspace(0, 30, 50)[:, None]])
    indices, distances = CellIndex(X).query(new, 7)
    np.testing.assert_allclose(distances, np.sort(cdist(new, X), axis=1)[:, :7], rtol=1e-10)
    np.testing.assert_array_equal(indices[:5, 0], np.arange(5))  # a new sample may equal a fitted one


def test_neighbors_from_other_cells_are_kept():
    X = blobs(300, 3)
    near, filled = empty_neighbors(100, 4, X.dtype), np.zeros(100, np.int64)
    queries = gather_cells(X[:100])
    for others, count in ((X[100:103], 3), (X[103:], 4)):
        nearest_in_cells(queries, gather_cells(others), near, filled=filled)
        assert (filled == count).all()
    np.testing.assert_allclose(near[1], np.sort(cdist(X[:100], X[100:]), axis=1)[:, :4], rtol=1e-9)


# lower bounds


@given(st.integers(0, 1000), st.sampled_from([5, 100]), st.sampled_from([1.0, 1e4]))
def test_bounds_are_below_the_distances(seed, d, offset):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, d)) * 0.8 ** np.arange(d) + offset * rng.integers(0, 2, (60, 1))
    axes = find_axes(points, min(d, 12))
    n_leading, unit = min(d, 4), find_unit(points, axes.centre)
    margins = find_margins(axes, n_leading)
    rows = project(points, axes, n_leading, blocks=split_evenly(points, 16), unit=unit, n_jobs=None)
    lengths = rows.squares[:, None] + rows.squares
    bounds = lengths - 2 * rows.leading @ rows.leading.T
    true = points[rows.members] * unit
    assert (bounds <= ((true[:, None] - true) ** 2).sum(axis=2) * margins.growth + lengths * margins.share).all()


@given(st.integers(0, 1000), st.sampled_from([1, 2, 30]), st.sampled_from([0.0, 1.0, 50.0]))
def test_gaps_between_blocks_are_below_the_distances(seed, d, spread):
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(60, d)) + spread * rng.normal(size=(4, d)).repeat(15, axis=0)).astype(np.float32)
    gaps, between = find_gaps(points, np.arange(0, 61, 15), None)
    true = cdist(points.astype(float), points.astype(float)).reshape(4, 15, 4, 15).min(axis=(1, 3))
    assert (gaps <= np.minimum(true, between) ** 2).all()
    assert (np.diag(gaps) == 0).all()
    if spread == 50 and d == 30:
        assert (gaps[~np.eye(4, dtype=bool)] > 0).all()


def test_axes_are_orthonormal_and_in_order_of_variance():
    points = np.random.default_rng(7).normal(size=(400, 30)) * np.linspace(9, 1, 30)
    axes = find_axes(points, 10)
    np.testing.assert_allclose(axes.directions.T @ axes.directions, np.eye(10), atol=1e-12)
    assert (np.diff(((points - axes.centre) @ axes.directions).var(axis=0)) <= 1e-9).all()


def test_a_schedule_never_uses_a_block_twice_at_a_time():
    schedule = BlockSchedule([(0, 0), (0, 1), (2, 3), (1, 1)])
    assert [schedule.acquire() for _ in range(3)] == [(0, 0), (2, 3), (1, 1)]  # block 0 is busy
    schedule.release((0, 0))
    schedule.release((1, 1))
    assert schedule.acquire() == (0, 1)
    assert schedule.acquire() is None


# choice


@pytest.mark.parametrize(
    ("shape", "options", "index"),
    [
        ((300, 100), {}, SklearnIndex),
        ((3000, 5), {}, CellIndex),
        ((4500, 100), {}, BoundIndex),
        ((13_000, 100), {}, BoundIndex),
        ((300, 5), {"metric": "manhattan", "search": "approximate"}, SklearnIndex),
        ((300, 5), {"metric": "cosine"}, CosineIndex),
        ((300, 5), {"search": "approximate"}, DescentIndex),
        ((300, 5), {"search": "approximate", "k": 299}, CellIndex),
        ((300, 5), {"search": NearestNeighbors()}, UserIndex),
    ],
)
def test_the_index_is_chosen_by_size_and_metric(shape, options, index):
    assert type(choose_index(blobs(*shape), **({"k": 5} | options))) is index
    assert type(choose_index(csr_array(np.eye(9)), 5, "cosine", search="approximate")) is SklearnIndex


def test_a_sample_says_how_many_pairs_are_compared():
    points = blobs(3000, 100)
    shares = sample_bounds(points, find_axes(points, 100), 10)
    assert list(shares) == [16, 32, 64, 96, 100]
    assert shares[16] > shares[32] > shares[64] >= shares[100] > 0
    near = np.random.default_rng(0).normal(size=(3000, 20))
    far = near + 100 * (np.arange(3000)[:, None] % 10 == np.arange(20))
    assert sample_gaps(near, find_axes(near, 20), 10) == 1
    assert sample_gaps(far, find_axes(far, 20), 10) <= 0.1
    assert 10 <= CellIndex(points[:, :3].copy(), 10).count_pairs() <= 3000


def test_when_descent_pays():
    mnist, embeddings = (60_000, 784), (1_000_000, 100)
    assert not descent_pays(bound_seconds(*mnist, 80, n_leading=128, share=0.03), mnist, 80)
    assert descent_pays(bound_seconds(*embeddings, 80, n_leading=96, share=0.01), embeddings, 80)
    assert not descent_pays(cell_seconds(500_000, 3, 1000), (500_000, 3), 40)
    assert descent_pays(cell_seconds(1_000_000, 10, 500_000), (1_000_000, 10), 40)


def test_auto_searches_exactly_if_the_recall_is_low(monkeypatch):
    points = blobs(1500, 20)
    points[:3] *= 1e30
    monkeypatch.setattr(neighbors, "descent_pays", lambda *_: True)
    near, true = (find_neighbors(points, n_neighbors=9, search=search) for search in ("auto", "exact"))
    assert_same(near, true)
    with pytest.warns(ConvergenceWarning, match="recall"):
        assert find_neighbors(points, n_neighbors=9, search="approximate").recall < 0.9


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


def test_precomputed_distances():
    points = blobs(50, 3)
    near = find_neighbors(pairwise_distances(points), n_neighbors=6, metric="precomputed")
    np.testing.assert_array_equal(near.indices, find_neighbors(points, n_neighbors=6).indices)


@pytest.mark.parametrize("scale", [None, "std"])
def test_sparse_search_equals_the_dense_one(scale):
    sparse = csr_array(random_sparse(200, 30, density=0.2, random_state=0))
    dense = np.ascontiguousarray(scale_features(sparse.toarray(), scale))
    a = find_neighbors(scale_features(sparse, scale), n_neighbors=9)
    b = find_neighbors(dense, n_neighbors=9)
    np.testing.assert_allclose(a.distances, b.distances, rtol=1e-9, atol=1e-9)


def test_memory_is_checked_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match="neighbours"):
        find_neighbors(np.zeros((10_000, 3)), n_neighbors=30)
    assert find_neighbors(np.zeros((100, 3)), n_neighbors=30).recall == 1


# search by an object of the user


class Skipping(NearestNeighbors):
    """Skips every second neighbour."""

    def kneighbors(self, points, n):
        distances, indices = super().kneighbors(points, 2 * n)
        return distances[:, ::2], indices[:, ::2]


X = make_blobs(3000, 12, centers=5, random_state=0)[0]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_an_object_with_scikit_learns_interface(metric):
    options = {"n_neighbors": 7, "metric": metric}
    near = find_neighbors(X, search=NearestNeighbors(algorithm="ball_tree", metric=metric), **options)
    np.testing.assert_array_equal(near.indices, find_neighbors(X, search="exact", **options).indices)
    assert near.recall == 1
    assert find_neighbors(X, search=Skipping(metric=metric), **options).recall == pytest.approx(3 / 7)


def test_equally_far_samples_are_as_good():
    assert find_neighbors(np.eye(300), n_neighbors=7, search=Skipping(algorithm="brute")).recall == 1


def test_rows_without_candidates_are_searched_exactly():
    class Empty(NearestNeighbors):
        def kneighbors(self, points, n):
            return np.zeros((len(points), n)), np.full((len(points), n), -1)

    near = find_neighbors(X, n_neighbors=7, search=Empty())
    np.testing.assert_array_equal(near.indices, find_neighbors(X, n_neighbors=7).indices)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (np.zeros((3000, 2)), np.zeros((3000, 2), int)),
        (np.zeros((3000, 8)), np.zeros((3000, 8))),
        (np.full((3000, 8), -1.0), np.zeros((3000, 8), int)),
    ],
)
def test_a_broken_object_is_named(answer):
    class Broken:
        def fit(self, points):
            return self

        def kneighbors(self, points, n):
            return answer

    with pytest.raises(ValueError, match="kneighbors"):
        find_neighbors(X, n_neighbors=7, search=Broken())
    with pytest.raises(ValueError, match="search"):
        GIT(5, search="quick").fit(X)
