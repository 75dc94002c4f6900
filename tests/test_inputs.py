"""Samples, distances and graphs: three types with one interface, which gives the answers of brute force."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

from gitcluster import find_neighbors
from gitcluster.preprocessing.sources import (
    Distances,
    NeighborGraph,
    Points,
    as_source,
    check_source,
    is_pairwise,
    matching,
    takes_sparse,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
NEW = RNG.normal(size=(20, 3))
MATRIX = pairwise_distances(X)
GRAPH = kneighbors_graph(X, 12, mode="distance")


def nearest_by_sorting(new, points, k, metric="euclidean"):
    distances = pairwise_distances(new, points, metric=metric)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def test_what_is_given_becomes_one_of_three():
    assert isinstance(check_source(X, "cosine"), Points)
    assert isinstance(check_source(MATRIX, "precomputed"), Distances)
    assert isinstance(check_source(GRAPH, "precomputed_graph"), NeighborGraph)
    assert [is_pairwise(metric) for metric in ("precomputed", "precomputed_graph", "euclidean")] == [True, False, False]
    assert [takes_sparse(metric) for metric in ("precomputed", "precomputed_graph", "euclidean")] == [False, True, True]
    for source in (check_source(MATRIX, "precomputed"), check_source(GRAPH, "precomputed_graph")):
        assert (source.n_samples, source.n_features) == (80, 80)
        assert source.scaled("std") is source
        assert source.own_order(always=True) is None
    assert check_source(X, "euclidean").n_features == 3


WRONG = [
    (MATRIX[:5], "precomputed", "square matrix"),
    (-MATRIX, "precomputed", "negative values"),
    (csr_array(MATRIX), "precomputed", "precomputed_graph"),
    (csr_array(X * 1j), "euclidean", "Complex data not supported"),
    ([[10**400, 1], [2, 3]], "euclidean", "too large for a float"),
    (X[:1], "euclidean", "minimum of 2"),
]


def test_what_is_wrong_is_named():
    for given, metric, message in WRONG:
        with pytest.raises(ValueError, match=message):
            check_source(given, metric)


def test_all_three_find_the_same_neighbours():
    expected = find_neighbors(X, n_neighbors=7)
    for given, metric in ((X, "euclidean"), (MATRIX, "precomputed"), (GRAPH, "precomputed_graph")):
        found = check_source(given, metric).neighbors(7)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-9)


@pytest.mark.parametrize(("n_features", "metric"), [(3, "euclidean"), (70, "euclidean"), (3, "manhattan")])
def test_the_nearest_to_new_samples(n_features, metric):
    points, new = RNG.normal(size=(80, n_features)), RNG.normal(size=(20, n_features))
    indices, distances = nearest_by_sorting(new, points, 6, metric)
    for found in (
        as_source(points, metric).nearest(new, 6),
        as_source(csr_array(points), metric).nearest(csr_array(new), 6),
        as_source(pairwise_distances(points), "precomputed").nearest(pairwise_distances(new, points, metric), 6),
    ):
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, distances, rtol=1e-7)
    assert as_source(points, metric).nearest(new, 500).indices.shape == (20, 80)


def test_the_nearest_where_no_feature_is_left():
    found = Points(np.empty((4, 0))).nearest(np.empty((2, 0)), 3)
    assert found.indices.tolist() == [[0, 1, 2]] * 2
    assert (found.distances == 0).all()


def test_the_nearest_in_new_rows_of_a_graph():
    source = check_source(GRAPH, "precomputed_graph")
    row = source.check_new((np.array([[5, 2, -1]]), np.array([[2.0, 1.0, 0.0]])), check_array)
    found = source.nearest(row, 2)
    assert found.indices.tolist() == [[2, 5]]
    assert found.distances.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_equal_samples_are_matched_by_the_lowest_key(make):
    points = np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 2.0], [0.0, 5.0]])
    new = make(np.array([[1.0, 2.0], [3.0, 0.0], [9.0, 9.0]]))
    source = as_source(make(points), "euclidean")
    assert source.matcher(np.zeros(4))(new).tolist() == [0, 1, -1]
    assert source.matcher(np.array([1, 0, 0, 0]))(new).tolist() == [2, 1, -1]
    assert source.matcher(np.array([1, 0, 0, 0]), np.array([0, 0, 1, 0]))(new).tolist() == [0, 1, -1]  # the last first


def test_different_samples_with_one_hash_are_told_apart(monkeypatch):
    fitted = np.random.default_rng(0).permutation(np.repeat(np.arange(40.0), 2))[:, None] * [1.0, -1.0]
    new = np.concatenate([fitted, fitted + 0.5])
    for n_hashes in (1, 3):
        monkeypatch.setattr(matching, "hash_samples", lambda X, n=n_hashes: (np.abs(X[:, 0]) % n).astype(np.uint64))
        match = Points(fitted).matcher(np.arange(80))(new)
        np.testing.assert_array_equal(fitted[match[:80]], fitted)
        assert (match[:80] <= np.arange(80)).all()
        assert (match[80:] == -1).all()


def test_distances_match_at_zero_and_graphs_never():
    source = as_source(MATRIX, "precomputed")
    assert source.matcher()(MATRIX[[4, 7]]).tolist() == [4, 7]
    assert source.matcher()(MATRIX[[4]] + 0.1).tolist() == [-1]
    graph = check_source(GRAPH, "precomputed_graph")
    assert graph.matcher()(graph.graph).tolist() == [-1] * 80


def test_what_was_fitted_is_known_again():
    everybody = np.arange(80)
    for source, changed in (
        (as_source(X, "euclidean"), X + 1e-9),
        (check_source(csr_array(X), "euclidean"), csr_array(X * 2)),
        (as_source(MATRIX, "precomputed").kept(everybody, None), MATRIX + 1),
        (check_source(GRAPH, "precomputed_graph"), check_source(GRAPH * 2, "precomputed_graph").graph),
    ):
        same = {Distances: MATRIX, NeighborGraph: getattr(source, "graph", None)}.get(type(source))
        same = source.values if same is None else same
        assert source.is_same(same, everybody)
        assert not source.is_same(changed, everybody)
    assert as_source(X, "euclidean").is_same(X[[3, 1]], np.array([3, 1]))
    assert not as_source(X, "euclidean").is_same(X.astype(np.float32), everybody)


def test_new_samples_are_in_the_precision_and_format_of_the_fitted():
    dense, single = check_source(X, "euclidean"), check_source(X.astype(np.float32), "euclidean")
    sparse = check_source(csr_array(X), "euclidean")
    for new in (NEW, NEW.astype(np.float32), csr_array(NEW)):
        assert dense.check_new(new, check_array).dtype == np.float64
        assert isinstance(dense.check_new(new, check_array), np.ndarray)
        assert single.check_new(new, check_array).dtype == np.float32
        assert issparse(sparse.check_new(new, check_array))
    scaled = dense.scaled("std")
    expected = ((NEW - X.mean(axis=0)) / X.std(axis=0))[:, scaled.scaling.features]
    np.testing.assert_allclose(scaled.check_new(NEW, check_array), expected, atol=1e-9)
    far = scaled.check_new(np.full((1, 3), 1e300), check_array)
    assert np.isfinite(scaled.nearest(far, 2).distances).all()
    with pytest.raises(ValueError, match="negative values"):
        as_source(MATRIX, "precomputed").check_new(-MATRIX[:2], check_array)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_ways_are_the_shortest_out_of_every_part_but_the_largest(metric):
    peaks, part = np.arange(0, 80, 2), np.repeat([0, 1, 2, 3], [3, 20, 10, 7])
    source = as_source(MATRIX if metric == "precomputed" else X, metric)
    distances = MATRIX if metric != "manhattan" else pairwise_distances(X, metric=metric)
    between = distances[np.ix_(peaks, peaks)]
    ways = sorted(source.ways_between(peaks).leave(part))
    expected = []
    for number in (0, 2, 3):
        block = np.where((part[:, None] == number) & (part != number), between, np.inf)
        i, j = sorted(np.unravel_index(block.argmin(), block.shape))
        expected.append((block.min(), i, j))
    assert [way[1:] for way in ways] == [way[1:] for way in sorted(expected)]
    np.testing.assert_allclose([way[0] for way in ways], [way[0] for way in sorted(expected)], rtol=1e-9)


def test_nothing_to_measure_ways_by():
    assert check_source(GRAPH, "precomputed_graph").ways_between(np.arange(3)) is None
    assert Points(np.empty((5, 0))).ways_between(np.arange(3)) is None


def test_samples_can_be_repeated_but_those_of_a_graph():
    rows = np.array([2, 2, 0])
    np.testing.assert_array_equal(as_source(X, "euclidean").repeat(rows).values, X[rows])
    repeated = as_source(MATRIX, "precomputed").repeat(rows)
    np.testing.assert_array_equal(repeated.matrix, MATRIX[np.ix_(rows, rows)])
    np.testing.assert_array_equal(repeated.check_new(MATRIX[:4], check_array), MATRIX[:4][:, rows])
    graph = check_source(GRAPH, "precomputed_graph")
    assert not graph.repeatable
    with pytest.raises(NotImplementedError):
        graph.repeat(rows)


def test_a_matrix_is_not_kept_and_samples_are():
    kept = as_source(MATRIX, "precomputed").kept(np.arange(80), None)
    assert kept.matrix is None
    assert kept.n_samples == 80
    with pytest.raises(ValueError, match="keeps no distances"):
        kept.rows(np.array([1]))
    np.testing.assert_array_equal(kept.rows(np.array([1]), MATRIX), MATRIX[[1]])
    np.testing.assert_array_equal(as_source(X, "euclidean").kept(np.arange(80), None).rows(np.array([1])), X[[1]])


def test_distances_too_small_for_ratios_are_refused():
    for source in (as_source(X * 1e-305, "manhattan"), as_source(MATRIX * 1e-305, "precomputed")):
        with pytest.raises(ValueError, match="too small for floating point"):
            source.neighbors(3)
    assert as_source(np.zeros((5, 2)), "manhattan").neighbors(3).distances.max() == 0


def test_unscaled_neighbours_have_the_distances_of_what_was_given():
    source = as_source(X * [1, 5, 9], "euclidean")
    near = source.scaled("std").neighbors(4)
    measured = source.unscaled_neighbors(near)
    np.testing.assert_array_equal(measured.indices, near.indices)
    gaps = (X * [1, 5, 9])[near.indices] - (X * [1, 5, 9])[:, None]
    np.testing.assert_allclose(measured.distances, np.linalg.norm(gaps, axis=2), rtol=1e-9)
