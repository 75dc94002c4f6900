"""Stage 4: boundary pairs and weights against brute force, and the bridges between parts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances

from gitcluster import (
    TopoGraph,
    bridge_components,
    build_topo_graph,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
)
from gitcluster.kernels import sums
from gitcluster.preprocessing.sources import Points
from gitcluster.topo_graph import merge_sums

X = np.random.default_rng(0).normal(size=(150, 2))
NEAR = find_neighbors(X, n_neighbors=10)
LOG_F = estimate_intensity(NEAR)
LOCAL = find_local_clusters(NEAR, LOG_F, n_neighbors=3)


def mutual_pairs(near, labels, k):
    sets = [set(row[:k].tolist()) for row in near.indices]
    pairs = combinations(range(len(labels)), 2)
    return [(x, y) for x, y in pairs if x in sets[y] and y in sets[x] and labels[x] != labels[y]]


def uphill_pairs(near, labels, log_f, parent):
    pairs = []
    for x, row in enumerate(near.indices.tolist()):
        higher = [y for y in row if log_f[y] > log_f[x]]
        pairs += [(x, y) for y in higher[1:] if labels[x] != labels[y] and parent[x] != x]
    return pairs


def sum_by_edge(pairs, similarity):
    """Number of pairs and S(i, j) of every edge, by Eq. 9."""
    counts, weights = {}, {}
    for x, y in pairs:
        i, j = edge = tuple(sorted(LOCAL.labels[[x, y]].tolist()))
        counts[edge] = counts.get(edge, 0) + 1
        weights[edge] = weights.get(edge, 0.0) + similarity(x, y, i, j) / LOCAL.sizes[i] / LOCAL.sizes[j]
    return counts, weights


def compare(graph, pairs, similarity):
    counts, weights = sum_by_edge(pairs, similarity)
    assert [tuple(edge) for edge in graph.edges.tolist()] == sorted(counts)
    assert graph.pairs.tolist() == [counts[edge] for edge in sorted(counts)]
    np.testing.assert_allclose(graph.weights, [weights[edge] for edge in sorted(counts)], rtol=1e-9)


def distance(x, y):
    return np.linalg.norm(X[x] - X[y])


def valley(x, y, i, j):
    peaks = LOCAL.peaks[[i, j]]
    return np.exp(2 * (min(LOG_F[x], LOG_F[y]) - LOG_F[peaks].min()))


@pytest.mark.parametrize("k", [10, 4])
def test_mutual_pairs_by_distance(k):
    graph = build_topo_graph(NEAR, LOCAL, n_neighbors=k)
    compare(graph, mutual_pairs(NEAR, LOCAL.labels, k), lambda x, y, i, j: np.exp(-distance(x, y)))
    assert build_topo_graph(NEAR, LOCAL, n_neighbors=k, symmetric=False).pairs.tolist() == graph.pairs.tolist()


def test_mutual_pairs_by_the_depth_of_the_valley():
    graph = build_topo_graph(NEAR, LOCAL, log_intensity=LOG_F, similarity="relative")
    compare(graph, mutual_pairs(NEAR, LOCAL.labels, 10), valley)


def test_uphill_pairs():
    graph = build_topo_graph(NEAR, LOCAL, log_intensity=LOG_F, boundary="uphill")
    pairs = uphill_pairs(NEAR, LOCAL.labels, LOG_F, LOCAL.parent)
    compare(graph, pairs, lambda x, y, i, j: np.exp(-distance(x, y)))


def test_a_pair_counts_the_product_of_its_weights():
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    graph = build_topo_graph(NEAR, LOCAL, weights=weights)
    pairs = mutual_pairs(NEAR, LOCAL.labels, 10)
    compare(graph, pairs, lambda x, y, i, j: weights[x] * weights[y] * np.exp(-distance(x, y)))


def test_one_way_distances_of_a_graph_make_a_pair():
    there, back = NEAR, NEAR._replace(distances=NEAR.distances * np.linspace(1, 3, len(X))[:, None])
    graph = build_topo_graph(back, LOCAL, symmetric=False)
    assert graph.pairs.tolist() == build_topo_graph(there, LOCAL).pairs.tolist()


def test_parts_of_a_graph():
    graph = TopoGraph(
        sizes=np.array([4, 9, 1]), peaks=np.arange(3), edges=np.array([[0, 1], [1, 2]]),
        log_weights=np.array([np.log(0.5), -7.0]), pairs=np.array([3, 0]),
    )  # fmt: skip
    np.testing.assert_allclose(graph.weights, [0.5, 0.0])
    np.testing.assert_allclose(graph.log_sums, [np.log(0.5 * 4 * 9), -7.0])
    np.testing.assert_allclose(graph.log_widths, [np.log(3 / 6), -7.0])
    assert graph.inside(np.array([0, 0, 1])).tolist() == [True, False]
    more = graph.add_bridges([(0, 2)], [-5.0])
    assert more.edges.tolist() == [[0, 1], [1, 2], [0, 2]]
    assert more.pairs.tolist() == [3, 0, 0]
    assert more.log_weights[2] == -5.0
    assert len(graph.edges) == 2  # as it was
    assert graph.add_bridges([], []).edges.shape == (2, 2)


def parts_without_bridges(seed, n_local, n_parts):
    """A graph in several parts: every local cluster is tied to an earlier one of its part."""
    part = np.random.default_rng(seed).integers(0, n_parts, n_local)
    edges = [[int(np.flatnonzero(part[:j] == part[j])[0]), j] for j in range(n_local) if part[j] in part[:j]]
    edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
    sizes = np.random.default_rng(seed).integers(1, 50, n_local)
    return TopoGraph(sizes, np.arange(n_local), edges, np.zeros(len(edges)), np.ones(len(edges), int)), part


def components(graph):
    ones = np.ones(len(graph.edges))
    return connected_components(coo_array((ones, tuple(graph.edges.T)), shape=(len(graph.sizes),) * 2))[0]


def shortest_bridges(distances, part):
    """Ways between parts, the shortest first, that do not close a circle."""
    part, chosen = part.copy(), []
    for i, j in sorted(combinations(range(len(part)), 2), key=lambda way: distances[way]):
        if part[i] != part[j]:
            part[part == part[j]] = part[i]
            chosen.append((i, j))
    return sorted(chosen)


@pytest.mark.parametrize(
    ("n_local", "n_parts", "n_features", "metric"),
    [(8, 8, 2, "precomputed"), (30, 4, 12, "euclidean"), (30, 4, 2, "manhattan"), (120, 2, 2, "euclidean")],
)
def test_bridges_are_the_shortest_that_connect_all(n_local, n_parts, n_features, metric):
    graph, part = parts_without_bridges(n_local, n_local, n_parts)
    points = np.random.default_rng(3).normal(size=(n_local, n_features))
    distances = pairwise_distances(points, metric="euclidean" if metric == "precomputed" else metric)
    bridged = bridge_components(graph, distances if metric == "precomputed" else points, metric=metric)
    assert components(bridged) == 1
    added = bridged.edges[len(graph.edges) :]
    assert [tuple(pair) for pair in added.tolist()] == shortest_bridges(distances, part)
    np.testing.assert_allclose(bridged.log_weights[~bridged.real], -distances[tuple(added.T)], rtol=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 5))
def test_as_few_bridges_as_parts_need_even_with_ties(seed, n_local, n_parts):
    graph, part = parts_without_bridges(seed, n_local, n_parts)
    points = np.random.default_rng(seed).integers(0, 3, (n_local, 2)).astype(float)
    bridged = bridge_components(graph, points)
    assert components(bridged) == 1
    assert (~bridged.real).sum() == len(np.unique(part)) - 1
    distances = pairwise_distances(points)
    length = sum(distances[way] for way in shortest_bridges(distances, part))
    np.testing.assert_allclose(-bridged.log_weights[~bridged.real].sum(), length, atol=1e-9)


def test_without_features_every_part_is_tied_to_the_largest():
    graph = TopoGraph(
        sizes=np.array([1, 5, 9, 2]), peaks=np.arange(4), edges=np.array([[0, 2]]),
        log_weights=np.zeros(1), pairs=np.ones(1, int),
    )  # fmt: skip
    for nothing in (None, Points(np.empty((4, 0)))):
        bridged = bridge_components(graph, nothing)
        assert bridged.edges.tolist() == [[0, 2], [0, 3], [0, 1]]  # its highest peak, 0, is where all meet
        assert bridged.log_weights.tolist() == [0, -1, -2]  # the smaller the shorter


def test_a_connected_graph_stays_as_it_is():
    graph = parts_without_bridges(0, 10, 1)[0]
    assert bridge_components(graph, X[:10]) is graph


def test_edges_of_parts_merge_into_one_each():
    totals = sums.sum_values(np.array([1.0, 2.0, 4.0]), np.arange(3), 3)
    ends, pairs, merged = merge_sums(np.array([[3, 4], [1, 2], [3, 4]]), np.array([1, 5, 2]), totals)
    logs = sums.log_totals(merged)
    assert ends.tolist() == [[1, 2], [3, 4]]
    assert pairs.tolist() == [5, 3]
    np.testing.assert_allclose(np.exp(logs), [2.0, 5.0])


def test_what_is_missing_is_named():
    for options in ({"similarity": "relative"}, {"boundary": "uphill"}):
        with pytest.raises(ValueError, match="log_intensity must be given"):
            build_topo_graph(NEAR, LOCAL, **options)
    for name in ("similarity", "boundary"):
        with pytest.raises(ValueError, match=f"{name} must be one of"):
            build_topo_graph(NEAR, LOCAL, **{name: "other"})
