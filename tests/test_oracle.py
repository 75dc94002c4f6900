"""Every stage against the plain Python of oracle.py, on random and on nasty data."""

import numpy as np
import oracle
import pytest
from conftest import nasty_sets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gitcluster import (
    TopoGraph,
    bridge_components,
    build_hierarchy,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    scale_features,
)
from gitcluster.neighbors import measure_neighbors

SETS = nasty_sets()


def numbers_of_neighbours(X):
    return [k for k in sorted({1, 2, 4, 7, len(X) - 1}) if k < len(X)]


def as_rows(neighbors):
    rows = zip(neighbors.distances.tolist(), neighbors.indices.tolist(), strict=True)
    return [list(zip(d, i, strict=True)) for d, i in rows]


def compare_stages(X, k, *priors):
    """Compare every stage with the oracle, both from the same input."""
    points = scale_features(X)
    np.testing.assert_allclose(points, np.array(oracle.scale(X.tolist())).reshape(points.shape), rtol=1e-9, atol=1e-9)

    near = find_neighbors(points, n_neighbors=k)
    rows = oracle.neighbors(points.tolist(), k)
    assert as_rows(near) == rows

    log_f = estimate_intensity(near)
    np.testing.assert_allclose(log_f, oracle.intensity(rows), rtol=0, atol=2 * oracle.STEP)

    local = find_local_clusters(near, log_f)
    parent, labels, peaks = oracle.local_clusters(rows, log_f.tolist())
    assert local.parent.tolist() == parent
    assert local.labels.tolist() == labels
    assert local.peaks.tolist() == peaks
    assert local.sizes.tolist() == [labels.count(i) for i in range(len(peaks))]

    graph = build_topo_graph(near, local)
    edges = oracle.topo_graph(oracle.boundary_pairs(rows, labels), labels)
    compare_graph(graph, edges)

    bridged = bridge_components(graph, points)
    for prior in priors:
        cut = cut_edges(bridged, proportions=prior)
        final, scores = oracle.cut_edges(edges, local.sizes.tolist(), prior, points[peaks].tolist())
        assert cut.labels.tolist() == final
        np.testing.assert_allclose(cut.scores, scores, atol=1e-9)
        assert len(cut.sizes) == min(len(prior), len(peaks))


def compare_graph(graph, edges):
    assert [tuple(e) for e in graph.edges.tolist()] == sorted(edges)
    np.testing.assert_allclose(graph.log_weights, [edges[e][0] for e in sorted(edges)], atol=1e-9)
    assert graph.pairs.tolist() == [edges[e][1] for e in sorted(edges)]


@pytest.mark.parametrize("name", SETS)
def test_stages_on_nasty_data(name):
    X = SETS[name]
    priors = [prior for prior in ([1], [1, 1], [5, 2, 1], [1] * 6) if len(prior) <= len(X)]
    for k in numbers_of_neighbours(X):
        compare_stages(X, k, *priors)


@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(2, 25), st.integers(1, 3)),
        elements=st.integers(-30, 30).map(lambda i: i / 8),
    ),
    k=st.integers(1, 8),
    prior=st.lists(st.integers(1, 9), min_size=1, max_size=4),
)
def test_stages_on_lattices(X, k, prior):
    compare_stages(X, min(k, len(X) - 1), prior[: len(X)])


@given(
    seed=st.integers(0, 10_000), n=st.integers(5, 60), d=st.integers(1, 4), k=st.integers(1, 12), c=st.integers(1, 5)
)
def test_stages_on_random_data(seed, n, d, k, c):
    X = np.random.default_rng(seed).normal(size=(n, d))
    compare_stages(X, min(k, n - 1), list(range(1, min(c, n) + 1)))


@pytest.mark.parametrize("name", [name for name in SETS if name != "huge scale"])
def test_authors_variant_on_nasty_data(name):  # "huge scale" overflows in the authors' own weights, of unscaled data
    X = SETS[name]
    for k in numbers_of_neighbours(X):
        near = find_neighbors(scale_features(X), n_neighbors=k)
        rows = as_rows(near)
        log_f = estimate_intensity(near, kernel="gaussian", n_features=X.shape[1])
        np.testing.assert_allclose(log_f, oracle.intensity_authors(rows, X.shape[1]), rtol=0, atol=1e-9)
        local = find_local_clusters(near, log_f, strict=True)
        parent, labels, peaks = oracle.local_clusters(rows, log_f.tolist(), strict=True)
        assert [part.tolist() for part in local[:3]] == [parent, labels, peaks]
        graph = build_topo_graph(measure_neighbors(X, near), local, log_intensity=log_f, boundary="uphill")
        pairs = oracle.boundary_pairs_authors(rows, log_f.tolist(), parent, labels, X.tolist())
        compare_graph(graph, oracle.topo_graph(pairs, labels))


@pytest.mark.parametrize("name", [name for name, X in SETS.items() if len(X) > 3])
def test_adaptive_stages_on_nasty_data(name):
    for k in numbers_of_neighbours(SETS[name]):
        near = find_neighbors(scale_features(SETS[name]), n_neighbors=k)
        rows = as_rows(near)
        log_f = estimate_intensity(near, kernel="relative")
        np.testing.assert_allclose(log_f, oracle.intensity_relative(rows), rtol=0, atol=1e-9)
        local = find_local_clusters(near, log_f, n_neighbors=max(1, k // 2))
        labels = local.labels.tolist()
        assert labels == oracle.local_clusters([row[: max(1, k // 2)] for row in rows], log_f.tolist())[1]
        graph = build_topo_graph(near, local, log_intensity=log_f, similarity="relative")
        pairs = oracle.boundary_pairs(rows, labels)
        edges = oracle.topo_graph_relative(pairs, labels, log_f.tolist(), local.peaks.tolist())
        assert [tuple(e) for e in graph.edges.tolist()] == sorted(edges)
        np.testing.assert_allclose(graph.log_weights, [edges[e] for e in sorted(edges)], atol=1e-9)


@given(seed=st.integers(0, 10_000), m=st.integers(2, 14), ties=st.booleans())
def test_hierarchy_on_random_graphs(seed, m, ties):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, size=m)
    tree = [(int(rng.integers(0, j)), j) for j in range(1, m)]
    more = [tuple(sorted(rng.choice(m, 2, replace=False).tolist())) for _ in range(m)]
    edges = np.array(sorted({*tree, *more}))
    log_weights = np.log(rng.integers(1, 4, len(edges)) / 8) if ties else -rng.exponential(size=len(edges))
    graph = TopoGraph(sizes, np.arange(m), edges, log_weights, np.ones(len(edges), int))
    hierarchy = build_hierarchy(graph)
    merges = oracle.average_linkage(
        {tuple(e): w for e, w in zip(edges.tolist(), log_weights, strict=True)}, sizes.tolist()
    )
    order = oracle.split_order(merges, sizes.tolist())[::-1]
    np.testing.assert_allclose(hierarchy.log_strength, [merges[t][2] for t in order], atol=1e-9)
    for t, edge in zip(order, hierarchy.edges, strict=True):
        one, other, _ = merges[t]
        i, j = edges[edge].tolist()
        assert (i in one and j in other) or (i in other and j in one)
