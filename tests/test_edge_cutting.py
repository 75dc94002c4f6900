"""Stage 5: the sweep against a slow one that measures every clustering anew, and what it leaves over."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from gitcluster import TopoGraph, bridge_components, cut_edges
from gitcluster.edge_cutting import TOLERANCE, cut_by_width, describe_cut, label_by_size, share_distance


def make_graph(sizes, edges, weights, pairs=1):
    edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
    sizes = np.array(sizes)
    return TopoGraph(sizes, np.arange(len(sizes)), edges, np.log(weights), np.full(len(edges), pairs))


def random_graph(seed, n_local):
    rng = np.random.default_rng(seed)
    edges = sorted({tuple(sorted(rng.choice(n_local, 2, replace=False).tolist())) for _ in range(2 * n_local)})
    weights = rng.integers(1, 6, len(edges)) / 8  # some are equal
    return make_graph(rng.integers(1, 30, n_local), edges, weights)


def measure(sizes, prior):
    shares = np.array(sizes) / np.sum(sizes)
    return wasserstein_distance(shares, prior, shares, prior)


def sweep_slowly(graph, prior):
    """Algorithm 3, word by word: edges along which clusters merged, scores, and the cluster of every node."""
    cluster = np.arange(len(graph.sizes))
    merged, scores = [], [measure(graph.sizes, prior)]
    best = np.inf
    for edge in np.argsort(-graph.log_weights, kind="stable"):
        i, j = cluster[graph.edges[edge]]
        if i == j:
            continue
        if len(np.unique(cluster)) <= len(prior):
            break
        trial = np.where(cluster == j, i, cluster)
        score = measure([graph.sizes[trial == c].sum() for c in np.unique(trial)], prior)
        if score <= best + TOLERANCE:
            cluster, best = trial, score
            merged.append(int(edge))
            scores.append(score)
    return merged, scores, cluster


@given(st.integers(0, 10_000), st.integers(2, 25), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_the_sweep_is_algorithm_3(seed, n_local, prior):
    graph = random_graph(seed, n_local)
    prior = prior[: int(graph.sizes.sum())]
    cut = cut_edges(graph, proportions=prior)
    merged, scores, cluster = sweep_slowly(graph, np.array(prior) / sum(prior))
    assert cut.merged.tolist() == merged
    np.testing.assert_allclose(cut.scores, scores, atol=1e-9)
    for group in np.unique(cluster):
        assert len(np.unique(cut.labels[cluster == group])) == 1  # what is left over only joins
    np.testing.assert_array_equal(cut.kept, cut.labels[graph.edges[:, 0]] == cut.labels[graph.edges[:, 1]])
    np.testing.assert_array_equal(cut.sizes, np.bincount(cut.labels, graph.sizes))


def test_only_the_first_merge_may_increase_the_distance_to_the_prior():
    # two clusters of the right sizes and a single sample between them: the strongest edge joins the two
    graph = make_graph([50, 50, 1], [[0, 1], [0, 2], [1, 2]], [0.9, 0.5, 0.4])
    cut = cut_edges(graph, n_clusters=2)
    assert cut.merged.tolist() == [0]
    assert cut.scores[1] > cut.scores[0]
    longer = cut_edges(random_graph(3, 25), n_clusters=2)
    assert len(longer.scores) > 3
    assert (np.diff(longer.scores[1:]) <= TOLERANCE).all()


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 4))
def test_the_smallest_joins_what_it_is_connected_to(seed, n_local, n_clusters):
    graph = random_graph(seed, n_local)
    points = np.random.default_rng(seed).normal(size=(n_local, 2))
    n_clusters = min(n_clusters, n_local)
    cut = cut_edges(bridge_components(graph, points), n_clusters=n_clusters)
    edges = zip(map(tuple, graph.edges.tolist()), graph.log_weights, graph.pairs, strict=True)
    expected = oracle.cut_edges(
        {edge: (w, n) for edge, w, n in edges}, graph.sizes.tolist(), [1] * n_clusters, points.tolist()
    )[0]
    assert cut.labels.tolist() == expected
    assert len(cut.sizes) == n_clusters


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


def test_labels_go_by_size_then_by_the_higher_peak():
    labels, sizes = label_by_size(np.array([0, 0, 2, 3, 3]), np.array([1, 1, 2, 3, 4]))
    assert labels.tolist() == [1, 1, 2, 0, 0]
    assert sizes.tolist() == [7, 2, 2]
    roots = np.array([1, 1, 3, 3])
    assert label_by_size(roots, np.ones(4))[0].tolist() == [0, 0, 1, 1]
    assert roots.tolist() == [1, 1, 3, 3]  # as they were


def test_a_cut_of_elsewhere_is_described():
    graph = make_graph([6, 3, 1], [[0, 1], [1, 2]], [0.5, 0.2])
    labels, prior = np.array([0, 1, 1]), np.array([0.5, 0.5])
    cut = describe_cut(graph, labels, np.array([1]), prior)
    assert cut.sizes.tolist() == [6, 4]
    assert cut.kept.tolist() == [False, True]
    np.testing.assert_allclose(cut.scores, [measure([6, 3, 1], prior), measure([6, 4], prior)])
    assert share_distance(graph, labels, prior) == pytest.approx(cut.scores[1])
    assert describe_cut(graph, labels, np.array([1]), None).scores.size == 0


def test_edges_can_be_as_strong_as_they_are_wide():
    graph = make_graph([10, 10, 10], [[0, 1], [1, 2]], [0.9, 0.1])._replace(pairs=np.array([1, 8]))
    prior = np.array([2, 1]) / 3
    assert cut_edges(graph, proportions=prior).labels.tolist() == [0, 0, 1]
    assert cut_by_width(graph, prior).labels.tolist() == [1, 0, 0]


def test_a_prior_is_needed():
    with pytest.raises(ValueError, match="n_clusters or proportions must be given"):
        cut_edges(make_graph([1, 1], [], []))
    with pytest.raises(ValueError, match="leftover must be one of"):
        cut_edges(make_graph([1, 1], [], []), n_clusters=1, leftover="drop")
