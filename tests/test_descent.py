"""Neighbour descent: close to the exact search, and the same for any number of threads and order of rows."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, find_neighbors
from gitcluster.neighbors import SklearnIndex
from gitcluster.neighbors.descent import DescentIndex, near_block_pairs, split_by_axes

rng = np.random.default_rng(0)
LARGE = rng.normal(size=(9, 20))[rng.integers(0, 9, 10_000)] * 2 + rng.normal(size=(10_000, 20)) * 0.75 ** np.arange(20)
X = LARGE[:2500]


class Small(DescentIndex):
    """Compares few pairs even of few samples."""

    BLOCK_SIZE, NEAR_BLOCKS, LINKS, BACK_LINKS = 24, 4, 8, 4


class Once(Small):
    EFFORTS = 1


class WithoutRounds(Once):
    ROUNDS = 0


class ManyEfforts(Small):
    EFFORTS = 9


class AllBlocks(Small):
    NEAR_BLOCKS = 1000


def hits(near, true):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(near, true, strict=True)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_descent_is_close(metric, dtype):
    points = X.astype(dtype)
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


def test_the_recall_is_that_of_all_samples():
    near, true = Small(X, 15).search(), SklearnIndex(X, 15).search()
    assert hits(near.indices, true.indices) == pytest.approx(near.recall, abs=0.005)


def test_threads_and_the_order_of_rows_do_not_matter():
    one = Small(LARGE, 9, n_jobs=1).search()
    assert one.recall < 1  # something could differ
    for n_jobs in (2, 4):
        for part, expected in zip(Small(LARGE, 9, n_jobs=n_jobs).search(), one, strict=True):
            np.testing.assert_array_equal(part, expected)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(LARGE))
        indices, distances, recall = Small(LARGE[order], 9, n_jobs=2).search()
        np.testing.assert_array_equal(distances, one.distances[order])
        np.testing.assert_array_equal(order[indices], one.indices[order])  # without ties
        assert recall == one.recall


def test_rounds_and_efforts_raise_the_recall():
    assert WithoutRounds(X, 9).search().recall < Once(X, 9).search().recall - 0.1
    uniform = np.random.default_rng(0).random((2000, 30))
    assert Once(uniform, 9).search().recall < 0.99 <= ManyEfforts(uniform, 9).search().recall


def test_all_blocks_are_all_pairs():
    near, true = AllBlocks(X, 9, n_jobs=2).search(), SklearnIndex(X, 9).search()
    np.testing.assert_array_equal(near.indices, true.indices)
    np.testing.assert_array_equal(near.distances, true.distances)
    assert near.recall == 1


def test_a_few_samples_far_out_leave_the_others_their_digits():
    points = X.copy()
    points[:3] *= 1e10
    assert Small(points, 9).search().recall > 0.99


@pytest.mark.parametrize("factor", [1e138, 1e-140])
def test_the_largest_and_smallest_numbers(factor):
    expected, near = Small(X, 7).search(), Small(X * factor, 7).search()
    assert hits(near.indices, expected.indices) > 0.98
    np.testing.assert_allclose(near.distances[:, 0] / factor, expected.distances[:, 0], rtol=0.2)


def test_duplicates_and_tiny_sets():
    near = find_neighbors(np.repeat(X[:40], 5, axis=0), n_neighbors=6, search="approximate")
    assert (near.distances[:, :4] == 0).all()
    assert find_neighbors(X[:4], n_neighbors=3, search="approximate").recall == 1
    near = Small(np.repeat(X[:30], 50, axis=0), 6).search()  # more equal samples than neighbours
    assert near.recall > 0.99
    assert all(len(set(row)) == 6 and i not in row for i, row in enumerate(near.indices.tolist()))


def test_more_neighbours_than_a_block_has_samples():
    near, true = Small(X[:700], 300).search(), SklearnIndex(X[:700], 300).search()
    assert hits(near.indices, true.indices) > 0.99


def test_a_fit_equals_an_exact_fit():
    exact, near = (GIT(5, search=search).fit(X) for search in ("exact", "approximate"))
    assert exact.neighbors_recall_ == 1
    assert near.neighbors_recall_ > 0.99
    assert adjusted_rand_score(exact.labels_, near.labels_) > 0.99


def test_parts_are_even_and_along_the_longest_axis():
    rotated = np.random.default_rng(1).normal(size=(1000, 3)).astype(np.float32) * np.float32([1, 1, 9])
    members, starts = split_by_axes(rotated, 300)
    assert np.diff(starts).tolist() == [250] * 4
    assert sorted(members) == list(range(1000))
    highest = [rotated[members[i:j], 2].max() for i, j in pairwise(starts)]
    assert highest == sorted(highest)


def test_pairs_of_near_blocks_come_once():
    means, compared = np.array([[0.0], [1.0], [3.0], [7.0]]), np.zeros((4, 4), bool)
    assert list(near_block_pairs(means, 1, compared)) == [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3)]
    assert list(near_block_pairs(means, 2, compared)) == [(0, 2), (1, 3)]
    assert list(near_block_pairs(means, 4, compared)) == [(0, 3)]
    assert compared.all()
