"""Stages 2 to 5 by hand: plateaus, weights, groups, bridges, leftovers; tests/test_oracle.py compares all stages."""

from itertools import combinations

import numpy as np
import pytest
from conftest import make_graph
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from gitcluster import (
    Neighbors,
    bridge_components,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
)
from gitcluster.edge_cutting import cut_by_width
from gitcluster.intensity import distance_unit, rounding_step
from gitcluster.kernels.graph import NO_INTENSITY
from gitcluster.preprocessing.sources import Points
from gitcluster.variants import KERNELS

SEEDS = st.integers(0, 10_000)
X = np.random.default_rng(0).normal(size=(150, 2))
NEAR = find_neighbors(X, n_neighbors=10)  # one connected component
LOG_F = estimate_intensity(NEAR)
LOCAL = find_local_clusters(NEAR, LOG_F, n_neighbors=3)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: estimate_intensity(NEAR, n_neighbors=11), "n_neighbors"),
        (lambda: estimate_intensity(NEAR, kernel="cubic"), "kernel"),
        (lambda: find_local_clusters(NEAR, LOG_F, n_neighbors=11), "n_neighbors"),
        (lambda: build_topo_graph(NEAR, LOCAL, similarity="relative"), "log_intensity"),
        (lambda: build_topo_graph(NEAR, LOCAL, boundary="uphill"), "log_intensity"),
        (lambda: build_topo_graph(NEAR, LOCAL, similarity="other"), "similarity"),
        (lambda: build_topo_graph(NEAR, LOCAL, boundary="other"), "boundary"),
        (lambda: cut_edges(make_graph([1, 1], [], [])), "n_clusters or proportions"),
        (lambda: cut_edges(make_graph([1, 1], [], []), n_clusters=1, leftover="drop"), "leftover"),
    ],
)
def test_errors_name_the_parameter(call, parameter):
    with pytest.raises(ValueError, match=parameter):
        call()


# intensity


def test_parts_that_nothing_connects_have_a_unit_each():
    both = find_neighbors(np.vstack([X, 1000 * X + 1e6]), n_neighbors=10)
    units = distance_unit(both, kernel="relative", n_features=2, n_neighbors=10)
    np.testing.assert_allclose(units[:150], NEAR.distances.mean(), rtol=1e-9)
    np.testing.assert_allclose(units[150:], 1000 * NEAR.distances.mean(), rtol=1e-6)
    alone, together = (estimate_intensity(near, kernel="relative") for near in (NEAR, both))
    np.testing.assert_allclose(together, np.tile(alone, 2), atol=1e-6)


def test_weights_of_one_change_nothing():
    for kernel in KERNELS:
        plain, weighted = (estimate_intensity(NEAR, kernel=kernel, weights=w) for w in (None, np.ones(len(X))))
        np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_a_sample_without_neighbours_is_the_lowest():
    lonely = Neighbors(np.array([[0], [2], [1]]), np.array([[np.inf], [600.0], [600.0]]))
    np.testing.assert_array_equal(estimate_intensity(lonely), [NO_INTENSITY, -600.0, -600.0])
    np.testing.assert_array_equal(estimate_intensity(lonely, weights=np.ones(3)), [NO_INTENSITY, -600.0, -600.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_makes_a_plateau_one_value(dtype):
    angles = np.arange(0, 2 * np.pi, np.pi / 50)
    ring = (np.column_stack([np.cos(angles), np.sin(angles)]) * 0.3).astype(dtype)  # distances differ in the last bits
    near = find_neighbors(ring, n_neighbors=4)
    for kernel in KERNELS:
        log_f = estimate_intensity(near, kernel=kernel, n_features=2)
        assert len(np.unique(log_f)) == 1
        np.testing.assert_array_equal(log_f / rounding_step(dtype) % 1, 0)


# local clusters


def lattice(seed):
    """Return the neighbours and intensities of samples with many ties and duplicates."""
    near = find_neighbors(np.random.default_rng(seed).integers(0, 5, (40, 2)).astype(float), n_neighbors=6)
    return near, estimate_intensity(near)


def on_a_line(places, heights, k=None, **options):
    """Return the local clusters of samples on a line with given intensities."""
    near = find_neighbors(np.array(places, dtype=float)[:, None], n_neighbors=k or len(places) - 1)
    return find_local_clusters(near, np.log(heights), **options)


def test_the_steepest_neighbour_is_the_parent_not_the_nearest_or_the_highest():
    assert on_a_line([0, 1, 3], [1, 2, 3.9]).parent.tolist() == [1, 2, 2]  # slopes 1 and 0.97
    assert on_a_line([0, 1, 3], [1, 2, 6]).parent.tolist() == [2, 2, 2]  # slopes 1 and 1.67
    assert on_a_line([0, 1, 3], [1, 2, 6], n_neighbors=1).parent.tolist() == [1, 1, 2]  # only the nearest counts


def test_a_duplicate_is_the_steepest_of_all():
    near = find_neighbors(np.array([[0.0], [0.1], [0.0]]), n_neighbors=2)
    log_f = np.log([1.0, 100.0, 1.0])
    assert find_local_clusters(near, log_f).parent.tolist() == [1, 1, 0]
    assert find_local_clusters(near, log_f, strict=True).parent.tolist() == [1, 1, 1]


def test_a_plateau_is_one_local_cluster_unless_parents_must_be_higher():
    heights = np.ones(8)
    assert on_a_line(range(8), heights, k=2).peaks.tolist() == [0]
    assert on_a_line(range(8), heights, k=2, strict=True).peaks.tolist() == list(range(8))


@given(SEEDS)
def test_local_clusters_grow_by_the_recursion_over_super_level_sets(seed):
    near, log_f = lattice(seed)
    local = find_local_clusters(near, log_f)
    grown = {}  # C_i(t) by the peak
    for x in np.lexsort((np.arange(len(log_f)), -log_f)):  # the threshold falls
        born = local.parent[x] == x
        home = [members for members in grown.values() if local.parent[x] in members]
        assert len(home) == (0 if born else 1)
        if born:
            grown[x] = {x}
        else:
            home[0].add(x)
    assert grown == {peak: set(np.flatnonzero(local.labels == i)) for i, peak in enumerate(local.peaks)}


@given(SEEDS)
def test_no_local_cluster_holds_two_groups(seed):
    near, log_f = lattice(seed)
    groups = np.random.default_rng(seed).integers(-3, 3, len(log_f)).clip(-1)
    free, parted = (find_local_clusters(near, log_f, groups=g) for g in (None, groups))
    for label in range(len(parted.peaks)):
        assert len(set(groups[parted.labels == label]) - {-1}) <= 1
    mixed = [len(set(groups[free.labels == label]) - {-1}) > 1 for label in range(len(free.peaks))]
    for x, (before, after) in enumerate(zip(free.parent, parted.parent, strict=True)):
        assert after == (x if mixed[free.labels[x]] and groups[x] >= 0 else before)


def test_sizes_count_weights_in_thousandths_of_their_mean():
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 4.0])
    local = on_a_line([0, 1, 2, 10, 11, 12], [2, 3, 2, 4, 5, 4], k=2, weights=weights)
    assert local.sizes.tolist() == [3000, 3000]
    tiny = on_a_line([0, 1, 10, 11], [3, 2, 5, 4], k=1, weights=np.array([0.0, 0.0, 1.0, 1.0]))
    assert tiny.sizes.tolist() == [4000, 1]  # no size is 0


def test_single_precision_rounds_slopes_more_coarsely():
    near = Neighbors(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, 1.0 + 1e-5], [1.0, 2.0], [1.0, 2.0]]))
    heights = np.log([1.0, 2.0, 2.0 + 2e-5])
    single = near._replace(distances=near.distances.astype(np.float32))
    assert find_local_clusters(near, heights).parent[0] == 2
    assert find_local_clusters(single, heights).parent[0] == 1  # a tie, within the precision


# topo-graph


def test_a_pair_counts_the_product_of_its_weights():
    weights, near = np.random.default_rng(1).uniform(0.5, 2, len(X)), [set(row) for row in NEAR.indices.tolist()]
    expected = {}
    for x, y in combinations(range(len(X)), 2):
        i, j = edge = tuple(sorted(LOCAL.labels[[x, y]].tolist()))
        if i != j and x in near[y] and y in near[x]:
            similarity = weights[x] * weights[y] * np.exp(-np.linalg.norm(X[x] - X[y]))
            expected[edge] = expected.get(edge, 0.0) + similarity / LOCAL.sizes[i] / LOCAL.sizes[j]
    graph = build_topo_graph(NEAR, LOCAL, weights=weights)
    assert graph.edges.tolist() == [list(edge) for edge in sorted(expected)]
    np.testing.assert_allclose(graph.weights, [expected[edge] for edge in sorted(expected)], rtol=1e-9)


def shortest_bridges(distances, part):
    """Return the shortest edges between parts that close no circle."""
    part, chosen = part.copy(), []
    for i, j in sorted(combinations(range(len(part)), 2), key=lambda edge: distances[edge]):
        if part[i] != part[j]:
            part[part == part[j]] = part[i]
            chosen.append([i, j])
    return sorted(chosen)


@pytest.mark.parametrize(
    ("n_local", "n_parts", "n_features", "metric"),
    [(8, 8, 2, "precomputed"), (30, 4, 12, "euclidean"), (30, 4, 2, "manhattan"), (120, 2, 2, "euclidean")],
)
def test_bridges_are_the_shortest_that_connect_all(n_local, n_parts, n_features, metric):
    rng = np.random.default_rng(n_local)
    part, points = rng.integers(0, n_parts, n_local), rng.normal(size=(n_local, n_features))
    edges = [[int(np.flatnonzero(part[:j] == part[j])[0]), j] for j in range(n_local) if part[j] in part[:j]]
    graph = make_graph(rng.integers(1, 50, n_local), edges, np.ones(len(edges)))
    distances = pairwise_distances(points, metric="euclidean" if metric == "precomputed" else metric)
    bridged = bridge_components(graph, distances if metric == "precomputed" else points, metric=metric)
    added = bridged.edges[len(edges) :]
    assert added.tolist() == shortest_bridges(distances, part)
    np.testing.assert_allclose(bridged.log_weights[~bridged.real], -distances[tuple(added.T)], rtol=1e-9)


def test_without_features_every_part_is_tied_to_the_largest():
    graph = make_graph([1, 5, 9, 2], [[0, 2]], [1.0])
    for nothing in (None, Points(np.empty((4, 0)))):
        bridged = bridge_components(graph, nothing)
        assert bridged.edges.tolist() == [[0, 2], [0, 3], [0, 1]]  # to its highest peak, 0
        assert bridged.log_weights.tolist() == [0, -1, -2]  # the smaller the shorter


# edge cutting


def test_no_edge_and_no_bridge_leave_more_clusters():
    graph = make_graph([3, 2, 1], [], [])
    assert cut_edges(graph, n_clusters=1).labels.tolist() == [0, 1, 2]


def test_small_clusters_follow_cut_edges_or_stay():
    # the sweep merges 0 and 1, and cuts the edge to 2, which follows it back; 3 has no edge and stays
    graph = make_graph([30, 30, 5, 4, 35], [[0, 1], [0, 2]], [0.9, 0.5])
    cut = cut_edges(graph, proportions=[60, 44], leftover="cut")
    assert cut.merged.tolist() == [0]
    assert cut.labels.tolist() == [0, 0, 0, 2, 1]
    assert cut.sizes.tolist() == [65, 35, 4]
    assert cut_edges(graph, proportions=[60, 44]).labels.tolist() == cut.labels.tolist()  # nothing leads out of 3


def test_cut_edges_are_followed_by_their_summed_weights():
    # 4 is a leftover between the large clusters 0 and {1, 2, 3}: three weak edges beat a stronger one
    edges = [[0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]]
    graph = make_graph([90, 30, 30, 30, 10, 20], edges, [0.3, 0.9, 0.2, 0.8, 0.2, 0.2])
    cut = cut_edges(graph, proportions=[90, 90, 30], leftover="cut")
    assert cut.merged.tolist() == [1, 3]
    assert cut.labels.tolist() == [1, 0, 0, 0, 0, 2]


def test_bridges_are_no_edges_of_the_sweep():
    graph = make_graph([5, 5, 5], [[0, 1]], [0.1]).add_bridges([(0, 2), (1, 2)], [-0.1, -0.2])
    cut = cut_edges(graph, n_clusters=2)
    assert cut.merged.tolist() == [0]
    assert cut.labels.tolist() == [0, 0, 1]


def test_edges_can_be_as_strong_as_they_are_wide():
    graph = make_graph([10, 10, 10], [[0, 1], [1, 2]], [0.9, 0.1])._replace(pairs=np.array([1, 8]))
    prior = np.array([2, 1]) / 3
    assert cut_edges(graph, proportions=prior).labels.tolist() == [0, 0, 1]
    assert cut_by_width(graph, prior).labels.tolist() == [1, 0, 0]
