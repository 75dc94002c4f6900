"""The search by lower bounds finds what comparing all pairs finds, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from gitcluster.neighbors import exact, shadows
from gitcluster.neighbors.bounded import Turns, bounded_search, compare_pairs, empty_lists, find_gaps
from gitcluster.neighbors.cells import split_evenly
from gitcluster.neighbors.duplicates import group_duplicates
from gitcluster.neighbors.shadows import cast_shadows, find_axes, find_margins, find_unit


def search(points, k, n_axes=None, n_leading=None, n_jobs=None):
    n_axes = min(points.shape[1], n_axes or points.shape[1])
    axes = find_axes(points[:500], n_axes)
    return bounded_search(points, k, axes=axes, n_leading=min(n_leading or n_axes, n_axes), n_jobs=n_jobs)


def check(points, k, **options):
    k = min(k, len(points) - 1)
    found, true = search(points, k, **options), exact.certain_search(points, k, "euclidean", None)
    np.testing.assert_array_equal(found[0], true[0])
    np.testing.assert_array_equal(found[1], true[1])
    assert found[0].dtype == true[0].dtype
    assert found[1].dtype == true[1].dtype


def distinct(points):
    return points[group_duplicates(points)[0]]


@given(
    st.integers(0, 10_000),
    st.integers(2, 300),
    st.sampled_from([1, 2, 7, 40]),
    st.integers(1, 30),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["normal", "lattice", "binary", "line", "offset", "far", "tiny"]),
    st.integers(1, 8),
)
def test_finds_what_all_pairs_find(seed, n, d, k, dtype, kind, n_leading):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    if kind == "lattice":
        points = rng.integers(-2, 3, size=(n, d))
    elif kind == "binary":
        points = rng.integers(0, 2, size=(n, d))
    elif kind == "line":
        points = np.outer(np.arange(n), np.ones(d))
    elif kind == "offset":
        points = points * 1e-3 + 1e3
    elif kind == "far":
        points[: n // 3] += 1e6
    elif kind == "tiny":
        points = points * 1e-18
    points = distinct(points.astype(dtype))
    if len(points) > 1:
        check(points, k, n_axes=3 * n_leading, n_leading=n_leading)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("shape", "n_axes", "n_leading"),
    [((2, 100), 3, 2), ((1500, 70), 60, 20), ((3000, 200), 40, 40), ((700, 900), 99, 9)],
)
def test_many_blocks_and_features(shape, n_axes, n_leading, dtype):
    rng = np.random.default_rng(0)
    points = (rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) * 0.9 ** np.arange(shape[1])).astype(dtype)
    check(points, 20, n_axes=n_axes, n_leading=n_leading, n_jobs=2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_heavy_ties(dtype):
    rng = np.random.default_rng(1)
    one_hot = np.eye(6)[rng.integers(0, 6, (1500, 6))].reshape(1500, -1)
    check(distinct(one_hot.astype(dtype)), 15, n_leading=10, n_jobs=2)
    check(distinct(rng.integers(0, 3, (1300, 8)).astype(dtype)), 40, n_leading=4, n_jobs=2)


def test_equal_samples_may_be_there():
    points = np.repeat(np.random.default_rng(2).normal(size=(40, 30)), 20, axis=0)
    found = search(points, 10)
    assert (found[1] == 0).all()
    first = np.repeat(np.arange(0, 800, 20), 20)[:, None]
    assert (found[0] - first < 11).all()  # equal distances in the order of the samples


def test_clusters_far_apart_where_single_precision_tells_nothing():
    rng = np.random.default_rng(3)
    points = np.repeat(rng.normal(size=(3, 70)), 200, axis=0) * 1e8 + rng.normal(size=(600, 70))
    check(points, 12, n_axes=30, n_leading=10)


def test_the_largest_and_smallest_numbers():
    points = np.random.default_rng(4).normal(size=(300, 66))
    for factor in (1e138, 1e-140):
        check(points * factor, 7, n_leading=20)


def test_threads_and_the_order_of_rows_do_not_count():
    points = np.random.default_rng(5).normal(size=(2500, 80)) * 0.95 ** np.arange(80)
    one = search(points, 9, n_axes=60, n_leading=20, n_jobs=1)
    for n_jobs in (2, 3, 8):
        np.testing.assert_array_equal(search(points, 9, n_axes=60, n_leading=20, n_jobs=n_jobs), one)
    order = np.random.default_rng(6).permutation(len(points))
    indices, distances = search(points[order], 9, n_axes=60, n_leading=20)
    np.testing.assert_array_equal(distances, one[1][order])
    np.testing.assert_array_equal(order[indices], one[0][order])  # without links


@given(st.integers(0, 1000), st.sampled_from([5, 100]), st.sampled_from([1.0, 1e4]))
def test_bounds_are_below_what_they_bound(seed, d, offset):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, d)) * 0.8 ** np.arange(d) + offset * rng.integers(0, 2, (60, 1))
    axes = find_axes(points, min(d, 12))
    n_leading = min(d, 4)
    margins = find_margins(axes, n_leading)
    unit, parts = find_unit(points, axes.centre), split_evenly(points, 16)
    cast = cast_shadows(points, axes, n_leading, parts=parts, unit=unit, n_jobs=None)
    lengths = cast.squares[:, None] + cast.squares
    bounds = lengths - 2 * cast.leading @ cast.leading.T
    true = points[cast.members] * unit
    distances = ((true[:, None] - true) ** 2).sum(axis=2)
    assert (bounds <= distances * margins.growth + lengths * margins.share).all()
    lists = empty_lists(60, 59)
    compare_pairs(cast, margins, lists, zip(*np.triu_indices(len(cast.starts) - 1), strict=True), None)
    expected = np.sort(distances + np.diag(np.full(60, np.inf)), axis=1)[:, :59]
    off = 4 * shadows.SINGLE * np.sqrt(cast.squares.max())
    np.testing.assert_allclose(np.sqrt(lists[1]), np.sqrt(expected), rtol=margins.rough, atol=off)


def test_axes_are_orthonormal_and_the_longest_first():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(400, 30)) * np.linspace(9, 1, 30)
    axes = find_axes(points, 10)
    np.testing.assert_allclose(axes.directions.T @ axes.directions, np.eye(10), atol=1e-12)
    assert (np.diff(((points - axes.centre) @ axes.directions).var(axis=0)) <= 1e-9).all()
    np.testing.assert_array_equal(find_axes(points, 10).directions, axes.directions)


@given(st.integers(0, 1000), st.sampled_from([1, 2, 30]), st.sampled_from([0.0, 1.0, 50.0]))
def test_no_samples_of_two_blocks_are_nearer_than_the_gap_between_them(seed, d, apart):
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(60, d)) + apart * rng.normal(size=(4, d)).repeat(15, axis=0)).astype(np.float32)
    starts = np.arange(0, 61, 15)
    gaps, means_apart = find_gaps(points, starts, None)
    true = cdist(points.astype(float), points.astype(float)).reshape(4, 15, 4, 15).min(axis=(1, 3))
    assert (gaps <= true**2).all()
    assert (gaps <= means_apart**2).all()
    assert (np.diag(gaps) == 0).all()
    if apart == 50 and d == 30:
        assert (gaps[~np.eye(4, dtype=bool)] > 0).all()


def test_turns_hand_out_every_pair_once_and_no_block_twice():
    pairs = [(0, 0), (0, 1), (2, 3), (1, 1)]
    turns = Turns(pairs)
    assert turns.take() == (0, 0)
    assert turns.take() == (2, 3)  # block 0 is held
    assert turns.take() == (1, 1)
    turns.held.clear()
    assert turns.take() == (0, 1)
    assert turns.take() is None
    with Turns(pairs).each() as one:
        assert list(one) == pairs


def test_a_thread_that_fails_frees_its_blocks():
    turns = Turns([(0, 1), (1, 2)])

    def fail():
        with turns.each() as pairs:
            raise ZeroDivisionError(next(pairs))

    with pytest.raises(ZeroDivisionError):
        fail()
    assert turns.take() == (1, 2)
