"""The choice between views: candidates, their agreement, how much clusters leak, and the best score."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from gitcluster import (
    GIT,
    bridge_components,
    build_topo_graph,
    cut_hierarchy,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    git_clusters,
)
from gitcluster.configurations import (
    LINKAGES,
    MOST_NEIGHBORS,
    SampleEvidence,
    View,
    add_crossings,
    count_crossings,
    crossing_reach,
    highest_peaks,
    measure_leak,
    measure_valleys,
    neighborhood_sizes,
)
from gitcluster.selection import (
    FITTED,
    choose,
    compare,
    count_common,
    evenness,
    evenness_of_cuts,
    hierarchy_of,
    intrinsic_dimension,
    mean_agreement,
    merge_view,
    misplaced_share,
    nested_cuts,
    rand_indices,
    rank_numbers,
    score_n_clusters,
    select,
)
from gitcluster.variants import VARIANTS

BLOBS = make_blobs(240, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
GAUSSIAN = np.random.default_rng(0).normal(size=(800, 2))


def look_at(X, sizes):
    """Views of samples with several numbers of neighbours, and the evidence for them."""
    variant = VARIANTS["adaptive"]
    near = find_neighbors(X, n_neighbors=2 * max(sizes))
    views = []
    evidence = SampleEvidence(views, None)
    for k in sizes:
        reach = variant.reach(k)
        log_f = estimate_intensity(near, kernel="relative", n_neighbors=reach.intensity)
        local = find_local_clusters(near, log_f, n_neighbors=reach.climb)
        graph = build_topo_graph(
            near, local, log_intensity=log_f, similarity="relative", n_neighbors=reach.boundary
        )  # fmt: skip
        graph = bridge_components(graph, X)
        views.append(View(k, len(X), graph, log_f[local.peaks]))
        evidence.add(near, local.labels, log_f, None)
    return views, evidence


@pytest.fixture(scope="module")
def seen():
    return look_at(BLOBS, [4, 6, 8])


def test_numbers_of_neighbours_grow_with_the_logarithm():
    for n in (2, 3, 5, 20, 300, 10_000, 10**8):
        sizes = neighborhood_sizes(n)
        assert sizes == sorted(set(sizes))
        assert 1 <= sizes[0] <= sizes[-1] <= min(MOST_NEIGHBORS, n - 1)
    assert neighborhood_sizes(256)[0] == 4  # a half of log2 n
    assert neighborhood_sizes(256)[-1] == 16  # twice as many


def test_agreement_is_the_adjusted_rand_index_on_samples(seen):
    views, evidence = seen
    merges = [("linkage", 0, 3), ("linkage", 1, 3), ("even linkage", 2, 5), ("spectral", 2, 7)]
    candidates = [merge_view(views, i, merge, n_clusters=c) for merge, i, c in merges]
    candidates.append(merge_view(views, 1, "sweep", n_clusters=3, prior=np.array([0.5, 0.3, 0.2])))
    table = compare(candidates, evidence)
    on_samples = [c.labels[evidence.rows(c.view)] for c in candidates]
    expected = [[max(adjusted_rand_score(a, b), 0) for a in on_samples] for b in on_samples]
    np.testing.assert_allclose(table, expected, atol=1e-12)
    np.testing.assert_allclose(mean_agreement(table), (table.sum(axis=1) - 1) / 4)
    assert mean_agreement(np.ones((1, 1))).tolist() == [1.0]


def test_what_a_clustering_says_and_misplaces_by_hand(seen):
    views, evidence = seen
    labels = merge_view(views, 0, "linkage", n_clusters=5).labels
    sizes = np.sort(np.bincount(labels[evidence.rows(0)]))[::-1] / len(BLOBS)
    assert evenness(views[0], labels, 5) == pytest.approx(entropy(sizes) / np.log(5))
    prior = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    assert misplaced_share(views[0].topo_graph, labels, prior) == pytest.approx(np.maximum(sizes - prior, 0).sum())


@pytest.mark.parametrize("kind", LINKAGES)
def test_cuts_into_all_numbers_are_the_cuts_into_each(seen, kind):
    views, _ = seen
    for i, view in enumerate(views):
        cuts = nested_cuts(view, kind, 12)
        said = evenness_of_cuts(cuts, view.topo_graph.sizes)
        for c in range(2, len(cuts.joined) + 2):
            labels = cuts.labels(c)
            assert adjusted_rand_score(labels, merge_view(views, i, kind, n_clusters=c).labels) == 1
            assert said[c - 2] == pytest.approx(evenness(view, labels, c))


def test_pairs_of_nested_cuts_are_those_of_their_labels(seen):
    views, evidence = seen
    cuts = [nested_cuts(view, kind, most) for view in views for kind in LINKAGES for most in (5, 9)]
    rows = [evidence.rows(i) for i in range(len(views)) for _ in range(2 * len(LINKAGES))]
    parts = np.array([found.part[some] for found, some in zip(cuts, rows, strict=True)], np.int32)
    common = count_common(parts, [len(found.joined) + 1 for found in cuts], [found.joined for found in cuts])
    for c in range(2, 6):
        labels = [found.labels(c)[some] for found, some in zip(cuts, rows, strict=True)]
        expected = [[max(adjusted_rand_score(a, b), 0) for a in labels] for b in labels]
        np.testing.assert_allclose(rand_indices(common[c - 2], len(rows[0])), expected, atol=1e-12)


@pytest.mark.parametrize("merge", [*LINKAGES, "spectral", "sweep", *FITTED])
def test_what_was_chosen_is_a_cut_of_its_hierarchy(seen, merge):
    views, _ = seen
    for i, view in enumerate(views):
        chosen = merge_view(views, i, merge, n_clusters=4, prior=np.array([0.4, 0.3, 0.2, 0.1]))
        hierarchy, graph = hierarchy_of(view, chosen), view.topo_graph
        np.testing.assert_array_equal(cut_hierarchy(hierarchy, graph, n_clusters=4), chosen.labels)
        finer = [cut_hierarchy(hierarchy, graph, n_clusters=c) for c in range(1, view.n_peaks + 1)]
        for c, (coarse, fine) in enumerate(pairwise(finer), 1):
            assert coarse.max() == c - 1
            assert len({*zip(coarse, fine, strict=True)}) == c + 1  # nested


def test_leaks_by_hand(seen):
    views, evidence = seen
    view, (near, local, log_f) = views[1], evidence.samples[1]
    labels = merge_view(views, 1, "linkage", n_clusters=5).labels
    members, indices = labels[local], near.indices
    much, freely = measure_leak(view, labels, evidence.count_crossing([(1, labels)])[0])
    crossing = ~view.topo_graph.inside(labels)
    leaving = [
        view.topo_graph.pairs[crossing & (labels[view.topo_graph.edges] == c).any(axis=1)].sum() for c in range(5)
    ]
    assert much == pytest.approx(max(np.array(leaving) / (2 * view.n_neighbors * np.bincount(members))))
    k = crossing_reach(len(BLOBS), indices.shape[1])
    peaks = np.array([log_f[members == c].max() for c in range(5)])
    np.testing.assert_array_equal(highest_peaks(view, labels), peaks)
    shares = np.zeros(len(BLOBS))
    for x, row in enumerate(indices[:, :k]):
        for y in row[members[row] != members[x]]:
            lower = min(peaks[members[x]], peaks[members[y]])
            shares[x] += np.exp(2 * (min(log_f[x], log_f[y]) - lower)) / k
    free = [shares[(members == c) & (shares > 0)].mean() if shares[members == c].any() else 0 for c in range(5)]
    assert freely == pytest.approx(max(free), rel=1e-6)


def test_valleys_by_hand(seen):
    views, evidence = seen
    view, (near, local, log_f) = views[1], evidence.samples[1]
    labels = merge_view(views, 1, "linkage", n_clusters=5).labels
    members, half = labels[local], (crossing_reach(len(BLOBS), near.indices.shape[1]) + 1) // 2
    expected = []
    for c in range(5):
        links = [
            min(log_f[x], log_f[y])
            for x in np.flatnonzero(members == c)
            for y in near.indices[x, :half]
            if members[y] != c
        ]
        deep = np.log(max(links) / log_f[members == c].max()) if links else np.inf
        expected.append(deep * 2.0 / np.sqrt(1.5 / 6))
    found = measure_valleys(view, labels, evidence.count_crossing([(1, labels)])[0], 2.0)
    np.testing.assert_allclose(found, expected)
    assert np.isinf(found).any()
    assert np.isfinite(found).any()
    table = score_n_clusters(views, evidence, 2.0)
    assert table["valley"][:3].tolist() == [1.0, 1.0, 1.0]
    assert (table["valley"][-4:] < 0.5).all()  # single local clusters


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_a_valley_of_chance_has_the_deviation_it_is_measured_in(dimension):
    k, rng = 20, np.random.default_rng(0)
    X = rng.random((40_000, dimension))
    inner = (np.abs(X - 0.5) < 0.5 - (k / len(X)) ** (1 / dimension)).all(axis=1)
    mean = find_neighbors(X, n_neighbors=k).distances.mean(axis=1)[inner]
    expected = np.sqrt(2 * (dimension + 1) / (dimension + 2) / k)
    assert (dimension * np.log(mean)).std() == pytest.approx(expected, rel=0.1)


def test_parts_of_the_samples_add_up_to_all_that_crosses(seen):
    views, evidence = seen
    (near, local, log_f), labels = evidence.samples[1], merge_view(views, 1, "linkage", n_clusters=5).labels
    peaks, k = highest_peaks(views[1], labels), crossing_reach(len(BLOBS), near.indices.shape[1])
    order = np.random.default_rng(0).permutation(len(BLOBS))
    place = np.argsort(order)
    shuffled = place[near.indices[order]]
    (first,) = count_crossings(shuffled[:100], k, local[order], log_f[order], [(labels, peaks)])
    turned = np.roll(np.arange(len(BLOBS)), -100)
    (rest,) = count_crossings(
        np.argsort(turned)[shuffled[turned]][:140], k, local[order][turned], log_f[order][turned], [(labels, peaks)]
    )
    for part, whole in zip(add_crossings([first, rest]), evidence.count_crossing([(1, labels)])[0], strict=True):
        np.testing.assert_array_equal(part, whole)


def test_cuts_are_counted_together_as_each_alone(seen):
    views, evidence = seen
    cuts = [
        (i, merge_view(views, i, kind, n_clusters=c).labels) for c in (2, 3, 7) for i in (2, 0) for kind in LINKAGES
    ]
    for cut, found in zip(cuts, evidence.count_crossing(cuts), strict=True):
        for together, alone in zip(found, evidence.count_crossing([cut])[0], strict=True):
            np.testing.assert_array_equal(together, alone)


def test_closed_clusters_do_not_leak(seen):
    views, evidence = seen
    labels = merge_view(views, 0, "linkage", n_clusters=3).labels
    assert measure_leak(views[0], labels, evidence.count_crossing([(0, labels)])[0]) == (0.0, 0.0)


def test_the_best_score_is_chosen(seen):
    for prior in (None, np.array([0.6, 0.2, 0.2])):
        chosen, table = choose(*seen, n_clusters=3, prior=prior)
        best = int(np.argmax(table["score"]))
        assert np.flatnonzero(table["chosen"]).tolist() == [best]
        assert chosen.merge == table["merge"][best]
        assert seen[0][chosen.view].n_neighbors == table["n_neighbors"][best]
        assert len(chosen.labels) == table["n_local_clusters"][best]
    assert set(table["merge"]) == {*LINKAGES, "spectral", "sweep", *FITTED}
    np.testing.assert_array_less(table["score"], table["agreement"] + 0.2 - 2 * table["misplaced"] + 1e-9)


def test_the_number_with_the_best_score_is_chosen(seen):
    selection = select(*seen, n_clusters=None, dimension=2.0)
    scores = pd.DataFrame(selection.n_clusters_scores).set_index("n_clusters").score
    assert scores.idxmax() == selection.chosen.labels.max() + 1 == 3
    assert select(*seen, n_clusters=3, dimension=2.0).n_clusters_scores is None


def test_one_cluster_stays_possible():
    views, evidence = look_at(GAUSSIAN, [7, 10, 14])
    table = score_n_clusters(views, evidence, 2.0)
    assert table["n_clusters"][table["score"].argmax()] == 1
    assert select(views, evidence, n_clusters=None, dimension=2.0).chosen.labels.max() == 0


def structureless(kind, n_samples, n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    if kind == "cube":
        return rng.random((n_samples, n_features))
    if kind == "sphere":
        return X / np.linalg.norm(X, axis=1)[:, None] * (1 + 0.05 * rng.normal(size=(n_samples, 1)))
    return np.exp(0.7 * X) if kind == "skewed" else X


@pytest.mark.parametrize(("n_features", "share"), [(2, 0.8), (3, 0.95), (10, 0.95)])
def test_samples_without_structure_are_one_cluster(n_features, share):
    kinds = ("gaussian", "cube", "skewed", "sphere")
    found = [GIT().fit(structureless(kind, 300, n_features, seed)).n_clusters_ for kind in kinds for seed in range(8)]
    assert found.count(1) >= share * len(found)


def bent(kind, n_samples, seed):
    """A thin curve with noise: one cluster, which can be cut anywhere with hardly a leak."""
    rng = np.random.default_rng((seed, n_samples))
    turn = rng.random(n_samples) * (2 * np.pi if kind == "ring" else 3.0)
    return np.column_stack([np.cos(turn), np.sin(turn)]) + rng.normal(scale=0.05, size=(n_samples, 2))


def test_thin_curves_are_one_cluster_most_of_the_time():
    found = [
        GIT().fit(bent(kind, n, seed)).n_clusters_ for kind in ("ring", "arc") for n in (300, 500) for seed in range(4)
    ]
    assert found.count(1) >= 10


def test_moons_are_two_clusters():
    shapes = [(250, 0.06), (500, 0.05), (1000, 0.06)]
    found = [
        GIT().fit(make_moons(n, noise=noise, random_state=seed)[0]).n_clusters_
        for n, noise in shapes
        for seed in range(5)
    ]
    assert found.count(2) >= len(found) - 1


def test_dimension_of_a_line_a_square_and_a_cube():
    rng = np.random.default_rng(0)
    for dimension in (1, 2, 3):
        X = np.zeros((1000, 5))
        X[:, :dimension] = rng.random((1000, dimension))
        assert intrinsic_dimension(find_neighbors(X, n_neighbors=20)) == pytest.approx(dimension, rel=0.1)
    assert intrinsic_dimension(find_neighbors(np.zeros((9, 2)), n_neighbors=3)) == 1


def test_a_number_beyond_the_peaks_asks_for_the_finest_view():
    views, evidence = look_at(BLOBS, [8])
    finer = look_at(BLOBS, [2])

    def add_finest():
        views.extend(finer[0])
        evidence.add(*finer[1].samples[0], None)

    most = views[0].n_peaks
    assert select(views, evidence, n_clusters=most, dimension=2.0, add_finest=add_finest).chosen.view == 0
    assert len(views) == 1  # it was not needed
    selection = select(views, evidence, n_clusters=most + 3, dimension=2.0, add_finest=add_finest)
    assert selection.chosen.view == 1
    assert selection.chosen.labels.max() + 1 == most + 3
    assert git_clusters(BLOBS, n_clusters=60).n_neighbors == 2


def test_numbers_with_a_rank_differ_and_share_the_confidence():
    scores = score_n_clusters(*look_at(BLOBS, [5, 8, 11]), 2.0)
    ranked = [int(np.flatnonzero(scores["rank"] == place)[0]) + 1 for place in (1, 2, 3)]
    assert ranked[0] == 3
    assert all(max(a, b) >= 1.5 * min(a, b) for i, a in enumerate(ranked) for b in ranked[:i])
    assert scores["confidence"].sum() == pytest.approx(1.0)
    assert (scores["confidence"][scores["rank"] == 0] == 0).all()
    rank, confidence = rank_numbers(np.zeros(1))
    assert (rank.tolist(), confidence.tolist()) == ([1], [0.0])
    rank, confidence = rank_numbers(np.array([0.1, 0.3, 0.0, 0.0]))
    assert (rank.tolist(), confidence.round(2).tolist()) == ([2, 1, 0, 0], [0.25, 0.75, 0.0, 0.0])
