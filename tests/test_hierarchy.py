"""Stage 5 by linkage: against scipy on all samples, nested cuts, crumbs, and constraints against all partitions."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import make_graph
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from gitcluster import bridge_components, build_hierarchy, cut_hierarchy
from gitcluster.constraints import (
    LinkConstraints,
    UnmetConstraintsError,
    balance_sizes,
    merge_constrained,
)
from gitcluster.hierarchy import cut_merges, fit_splits, link, rank_splits
from gitcluster.selection import misplaced_share

SEEDS = st.integers(0, 10_000)


def random_graph(seed, n_local, largest=40):
    """Return a sparse graph, connected by bridges."""
    rng = np.random.default_rng(seed)
    edges = sorted({tuple(sorted(rng.choice(n_local, 2, replace=False).tolist())) for _ in range(n_local)})
    graph = make_graph(rng.integers(1, largest, n_local), edges, rng.uniform(0.01, 1, len(edges)))
    return bridge_components(graph, rng.normal(size=(n_local, 2)))


def make_links(graph, must_link=(), cannot_link=(), smallest=0.0, largest=1.0):
    pairs = [np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (must_link, cannot_link)]
    return LinkConstraints(*pairs, np.full(len(graph.sizes), -1), smallest, largest, graph.sizes.astype(float))


@given(SEEDS)
def test_merges_are_those_of_average_linkage_on_samples(seed):
    """A local cluster is as many equal samples as its size says."""
    rng = np.random.default_rng(seed)
    sizes, similarity = rng.integers(1, 6, 9), squareform(rng.uniform(0.01, 0.9, 36))
    i, j = np.triu_indices(9, 1)
    graph = make_graph(sizes, np.stack([i, j], axis=1), similarity[i, j])
    hierarchy = build_hierarchy(graph)
    np.fill_diagonal(similarity, 1.0)
    sample = np.repeat(np.arange(9), sizes)
    expected = linkage(squareform(1 - similarity[np.ix_(sample, sample)]), "average")
    for number in range(1, 10):
        labels = cut_hierarchy(hierarchy, graph, n_clusters=number)
        assert adjusted_rand_score(labels[sample], fcluster(expected, number, "maxclust")) == 1
    np.testing.assert_allclose(np.exp(hierarchy.log_strength), 1 - expected[-8:, 2], rtol=1e-9)


@given(SEEDS, st.integers(2, 15))
def test_cuts_are_nested_and_have_the_requested_number_of_clusters(seed, n_local):
    graph = random_graph(seed, n_local)
    hierarchy = build_hierarchy(graph)
    cuts = [cut_hierarchy(hierarchy, graph, n_clusters=number) for number in range(1, n_local + 1)]
    for coarse, fine in pairwise(cuts):
        assert len(np.unique(fine)) == len(np.unique(coarse)) + 1
        assert len(np.unique(np.stack([fine, coarse]), axis=1).T) == len(np.unique(fine))
    assert cut_hierarchy(hierarchy, graph, n_clusters=n_local + 5).max() == n_local - 1
    for labels in cuts:
        assert (np.diff(np.bincount(labels, graph.sizes)) <= 0).all()  # 0 is the largest


def test_a_very_small_local_cluster_is_no_cluster():
    # 3 is hardly connected, but only 2 of 302 samples
    graph = make_graph([100, 100, 100, 2], [[0, 1], [1, 2], [2, 3]], [0.5, 0.3, 1e-9])
    hierarchy = build_hierarchy(graph)
    assert cut_hierarchy(hierarchy, graph, n_clusters=2).tolist() == [0, 0, 1, 1]
    assert cut_hierarchy(hierarchy, graph, n_clusters=3).tolist() == [1, 2, 0, 0]
    assert cut_hierarchy(hierarchy, graph, n_clusters=4).tolist() == [0, 1, 2, 3]
    large = graph._replace(sizes=np.array([100, 100, 100, 9]))  # a twentieth of a half of all
    assert cut_hierarchy(build_hierarchy(large), large, n_clusters=2).tolist() == [0, 0, 0, 1]


def test_bridges_come_last_and_the_shortest_of_them_first():
    graph = make_graph([9, 9, 9, 9], [[0, 1]], [1e-9]).add_bridges([(0, 2), (0, 3)], [-5.0, -2.0])
    hierarchy = build_hierarchy(graph)
    assert hierarchy.edges.tolist() == [0, 2, 1]
    assert hierarchy.log_strength[1:].tolist() == [-np.inf, -np.inf]
    assert hierarchy.sizes.tolist() == [9, 9, 9]


def test_one_local_cluster_has_no_merges():
    hierarchy = build_hierarchy(make_graph([7], [], []))
    assert hierarchy.linkage.shape == (0, 4)
    assert cut_hierarchy(hierarchy, make_graph([7], [], []), n_clusters=3).tolist() == [0]


# within constraints


def partitions(n_items):
    """Return all partitions of items, as labels."""
    partial = [[0]]
    for _ in range(n_items - 1):
        partial = [[*some, label] for some in partial for label in range(max(some) + 2)]
    return [np.array(some) for some in partial]


@given(SEEDS, st.data())
def test_constraints_hold_if_any_partition_satisfies_them(seed, data):
    pairs = st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=2
    )
    graph = random_graph(seed, 6)
    links = make_links(graph, data.draw(pairs), data.draw(pairs))
    number = data.draw(st.integers(1, 4))
    possible = {int(labels.max()) + 1 for labels in partitions(6) if links.are_satisfied(labels)}
    if not possible:
        return  # contradictions are named before
    try:
        labels = merge_constrained(graph, links, n_clusters=number)
    except UnmetConstraintsError:
        assert min(possible) > number
        return
    assert links.are_satisfied(labels)
    assert labels.max() + 1 == min(number, max(possible))


@given(SEEDS, st.integers(1, 5))
def test_no_constraints_change_nothing(seed, number):
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(0, j)), j) for j in range(1, 10)]  # in one part, without bridges
    graph = make_graph(rng.integers(1, 40, 10), edges, rng.uniform(0.01, 1, 9))
    free = cut_hierarchy(build_hierarchy(graph), graph, n_clusters=number)
    assert merge_constrained(graph, make_links(graph), n_clusters=number).tolist() == free.tolist()


def test_sizes_are_balanced_by_the_best_connected():
    graph = make_graph([40, 30, 10, 20], [[0, 1], [1, 2], [2, 3]], [0.9, 0.1, 0.2])
    labels = np.array([0, 0, 0, 1])
    assert balance_sizes(graph, labels, make_links(graph, smallest=0.3)).tolist() == [0, 0, 1, 1]
    assert balance_sizes(graph, labels, make_links(graph, smallest=0.1)) is labels
    assert balance_sizes(graph, labels, make_links(graph, [(2, 1)], largest=0.6)).tolist() == [1, 0, 0, 0]
    with pytest.raises(UnmetConstraintsError, match="min_cluster_size"):
        balance_sizes(graph, labels, make_links(graph, [(0, 1), (1, 2)], smallest=0.3))


@given(SEEDS, st.integers(2, 5))
def test_cuts_fitted_to_a_prior_are_no_farther_from_it(seed, n_clusters):
    graph = random_graph(seed, 14)
    merges = link(graph)
    splits = rank_splits(merges.smaller, graph, 20)
    prior = np.sort(np.random.default_rng(seed).dirichlet(np.ones(n_clusters)))[::-1]
    fitted = fit_splits(merges, graph, splits, prior)
    assert len(set(fitted.tolist())) == n_clusters - 1
    assert set(fitted.tolist()) <= set(splits[: 2 * n_clusters - 2].tolist())

    def misplaced(some):
        return misplaced_share(np.bincount(cut_merges(merges, graph, some)[0], graph.sizes), prior)

    assert misplaced(fitted) <= misplaced(splits[: n_clusters - 1]) + 1e-12
    for i in fitted:  # no other single move is better
        for j in np.setdiff1d(splits[: 2 * n_clusters - 2], fitted):
            assert misplaced(np.append(fitted[fitted != i], j)) >= misplaced(fitted) - 1e-8
