"""Neighbour descent beside the exact search: close, and the same for any number of threads and order of rows."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, find_neighbors, neighbors
from gitcluster.kernels import descent as kernels
from gitcluster.kernels import run_chunks
from gitcluster.neighbors import blocks, descent, exact
from gitcluster.neighbors.bounded import empty_lists
from gitcluster.neighbors.shadows import Shadows, find_axes, find_margins

rng = np.random.default_rng(0)
X = rng.normal(size=(5, 20))[rng.integers(0, 5, 2500)] * 2 + rng.normal(size=(2500, 20)) * 0.75 ** np.arange(20)


@pytest.fixture
def small(monkeypatch):
    """Blocks and chunks so small that few pairs of the samples are compared, in several threads."""
    monkeypatch.setattr(blocks, "BLOCK", 24)
    monkeypatch.setattr(descent, "NEAR", 4)
    monkeypatch.setattr(descent, "LINKS", 8)
    monkeypatch.setattr(descent, "BACK", 4)
    monkeypatch.setattr(descent, "run_chunks", partial(run_chunks, min_chunk_size=100))


def hits(found, true):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, true, strict=True)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_descent_is_close(small, metric, dtype):
    points = X.astype(dtype)
    true = find_neighbors(points, n_neighbors=15, metric=metric, search="exact")
    near = find_neighbors(points, n_neighbors=15, metric=metric, search="approximate")
    assert near.recall > 0.99
    assert hits(near.indices, true.indices) == pytest.approx(near.recall, abs=0.005)
    assert near.indices.dtype == true.indices.dtype
    assert near.distances.dtype == dtype
    assert (np.diff(near.distances, axis=1) >= 0).all()
    assert not (near.indices == np.arange(len(points))[:, None]).any()
    same = near.indices == true.indices  # what both found has one distance
    np.testing.assert_array_equal(near.distances[same], true.distances[same])


def test_threads_and_the_order_of_rows_do_not_count(small):
    found = [descent.descend(X, 9, n_jobs) for n_jobs in (1, 2, 4)]
    one = found[0]
    assert one[2] < 1  # something could differ
    for other in found[1:]:
        np.testing.assert_array_equal(other[0], one[0])
        np.testing.assert_array_equal(other[1], one[1])
        assert other[2] == one[2]
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(X))
        indices, distances, recall = descent.descend(X[order], 9, 2)
        np.testing.assert_array_equal(distances, one[1][order])
        np.testing.assert_array_equal(order[indices], one[0][order])  # without links
        assert recall == one[2]


def test_rounds_find_what_near_blocks_do_not_have(small, monkeypatch):
    monkeypatch.setattr(descent, "EFFORTS", 1)
    with_rounds = descent.descend(X, 9, 1)[2]
    assert with_rounds > 0.99
    monkeypatch.setattr(descent, "ROUNDS", 0)
    with pytest.warns(ConvergenceWarning):
        assert descent.descend(X, 9, 1)[2] < with_rounds - 0.1


def test_a_sample_that_halving_parted_from_its_own_is_found(small, monkeypatch):
    monkeypatch.setattr(descent, "EFFORTS", 1)
    with_scouts = descent.descend(X, 9, 1)[2]
    monkeypatch.setattr(blocks, "find_nearest", lambda turned, *_: np.zeros(len(turned), np.int64))
    with pytest.warns(ConvergenceWarning):
        assert descent.descend(X, 9, 1)[2] < with_scouts


def test_recall_is_raised_by_more_blocks(small, monkeypatch):
    points = np.random.default_rng(0).random((2000, 30))
    monkeypatch.setattr(descent, "EFFORTS", 1)
    with pytest.warns(ConvergenceWarning, match=r"% of the nearest .* search='exact'"):
        once = descent.descend(points, 9, 1)[2]
    monkeypatch.setattr(descent, "EFFORTS", 9)
    assert once < 0.99 <= descent.descend(points, 9, 1)[2]


def test_a_few_samples_far_out_leave_the_others_their_digits(small):
    points = X.copy()
    points[:3] *= 1e10
    assert descent.descend(points, 9, 2)[2] > 0.99


def test_too_few_neighbors_are_searched_again_exactly(small, monkeypatch):
    points = X[:1500].copy()
    points[:3] *= 1e30
    monkeypatch.setattr(neighbors, "descent_pays", lambda *_: True)
    found, true = (find_neighbors(points, n_neighbors=9, search=how) for how in ("auto", "exact"))
    np.testing.assert_array_equal(found.indices, true.indices)
    assert found.recall == 1
    with pytest.warns(ConvergenceWarning):
        assert find_neighbors(points, n_neighbors=9, search="approximate").recall < 0.9


def test_all_blocks_are_all_pairs(small, monkeypatch):
    monkeypatch.setattr(descent, "NEAR", 1000)
    found, true = descent.descend(X, 9, 2), exact.certain_search(X, 9, "euclidean", None)
    np.testing.assert_array_equal(found[0], true[0])
    np.testing.assert_array_equal(found[1], true[1])
    assert found[2] == 1


def test_a_fit_equals_an_exact_fit():
    exactly, near = (GIT(5, search=how).fit(X) for how in ("exact", "approximate"))
    assert exactly.neighbors_recall_ == 1
    assert near.neighbors_recall_ > 0.99
    assert adjusted_rand_score(exactly.labels_, near.labels_) > 0.99


def test_duplicates_and_tiny_sets(small):
    repeated = np.repeat(X[:40], 5, axis=0)
    found = find_neighbors(repeated, n_neighbors=6, search="approximate")
    assert (found.distances[:, :4] == 0).all()
    assert find_neighbors(X[:4], n_neighbors=3, search="approximate").recall == 1
    indices, distances, recall = descent.descend(np.repeat(X[:30], 50, axis=0), 6, 2)  # more equal ones than neighbours
    assert recall > 0.99
    assert (distances == 0).mean() == pytest.approx(recall, abs=0.01)
    assert all(len(set(row)) == 6 and i not in row for i, row in enumerate(indices.tolist()))


@pytest.mark.parametrize("factor", [1e138, 1e-140])
def test_the_largest_and_smallest_numbers(small, factor):
    expected = descent.descend(X, 7, 1)
    indices, distances, _ = descent.descend(X * factor, 7, 1)
    assert hits(indices, expected[0]) > 0.98
    np.testing.assert_allclose(distances[:, 0] / factor, expected[1][:, 0], rtol=0.2)


def test_more_neighbours_than_a_block_has_samples(small):
    points = X[:700]
    true = find_neighbors(points, n_neighbors=300, search="exact")
    assert hits(find_neighbors(points, n_neighbors=300, search="approximate").indices, true.indices) > 0.99


@pytest.mark.parametrize("options", [{"metric": "manhattan"}, {"points": csr_array(np.where(X > 0, X, 0))}])
def test_what_descent_does_not_know_is_searched_exactly(options):
    options = {"points": X, "n_neighbors": 4} | options
    found, true = (find_neighbors(search=how, **options) for how in ("approximate", "exact"))
    np.testing.assert_array_equal(found.indices, true.indices)
    assert found.recall == 1


def test_parts_are_even_and_along_the_longest_axis():
    turned = np.random.default_rng(1).normal(size=(1000, 3)).astype(np.float32) * np.float32([1, 1, 9])
    members, starts = blocks.split_by_axes(turned, 300)
    assert np.diff(starts).tolist() == [250] * 4
    assert sorted(members) == list(range(1000))
    highest = [turned[members[i:j], 2].max() for i, j in pairwise(starts)]
    assert highest == sorted(highest)
    equal = blocks.split_by_axes(np.ones((100, 2), np.float32), 30)[0]
    assert sorted(equal) == list(range(100))


def test_pairs_of_near_blocks_come_once():
    means, compared = np.array([[0.0], [1.0], [3.0], [7.0]]), np.zeros((4, 4), bool)
    assert list(descent.near_pairs(means, 1, compared)) == [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (2, 3)]
    assert list(descent.near_pairs(means, 2, compared)) == [(0, 2), (1, 3)]
    assert list(descent.near_pairs(means, 4, compared)) == [(0, 3)]
    assert compared.all()


def test_a_round_looks_at_all_that_is_two_links_away():
    rng = np.random.default_rng(2)
    n, width, room, k = 60, 3, 2, 5
    points = rng.permutation(10_000)[:n, None].astype(np.float32)  # whole numbers: nothing is rounded
    gaps = (points - points.T) ** 2
    block = np.repeat(np.arange(6), 10)
    compared = np.eye(6, dtype=bool)
    near, squared = empty_lists(n, k)
    for x in range(n):
        own = [z for z in np.flatnonzero(block == block[x]) if z != x]
        near[x] = sorted(own, key=lambda z, x=x: gaps[x, z])[:k]
        squared[x] = gaps[x, near[x]]
    far = near.copy()
    far[:, 0] = (np.arange(n) + 17) % n  # a link that leaves the block
    squared[:, 0] = 0
    near = far.copy()
    links, filled, fresh = np.empty((n, width + room + 1), np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    kernels.draw_links(near, width, np.arange(0), links, filled, fresh)
    assert (near == ~far).all()  # old from now on
    assert (fresh == filled).all()
    reached = [set(links[x, : filled[x]].tolist()) for x in range(n)]
    for x in range(n):
        assert set(far[x, :width].tolist()) <= reached[x]
        assert all(x in far[z, :width] or z in far[x, :width] for z in reached[x])
    axes = find_axes(points, 1)._replace(centre=np.zeros(1), directions=np.ones((1, 1)))
    shadows = Shadows(
        np.arange(n), np.arange(0, n + 1, 10), points, points[:, :0], points, (points[:, 0] ** 2).astype(np.float32)
    )
    before = squared[:, -1].copy()
    found = kernels.follow_links(
        0, n, links, filled, fresh, block, compared, shadows, find_margins(axes, 1), near, squared
    )
    for x in range(n):
        two = {z for y in reached[x] for z in (y, *reached[y]) if not compared[block[x], block[z]]}
        own = dict(zip(far[x].tolist(), [0, *gaps[x, far[x, 1:]]], strict=True))
        offered = [(gaps[x, z], z) for z in two if gaps[x, z] <= before[x]] + [(v, z) for z, v in own.items()]
        expected = sorted(offered)[:k]
        assert squared[x].tolist() == [value for value, _ in expected]
    assert found >= (near >= 0).sum() > 0  # some that were found made room for others
    kernels.draw_links(near, width, np.arange(0), links, filled, fresh)
    assert (fresh < filled).any()
    assert (near < 0).all()
