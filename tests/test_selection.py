"""The choice between views: candidates, their agreement, how much clusters leak, and the best score."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from gitcluster import (
    bridge_components,
    build_hierarchy,
    build_topo_graph,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    git_clusters,
)
from gitcluster.recipes import RECIPES
from gitcluster.selection import (
    MOST_NEIGHBORS,
    SampleEvidence,
    View,
    choose,
    compare,
    highest_peaks,
    leak_among,
    linkage_candidate,
    mean_agreement,
    measure_leak,
    neighborhood_sizes,
    score_n_clusters,
    select,
    sweep_candidate,
)

BLOBS = make_blobs(240, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
GAUSSIAN = np.random.default_rng(0).normal(size=(800, 2))


def look_at(X, sizes):
    """Views of samples with several numbers of neighbours, and the evidence for them."""
    recipe = RECIPES["adaptive"]
    near = find_neighbors(X, n_neighbors=2 * max(sizes))
    views = []
    evidence = SampleEvidence(views, near, None)
    for k in sizes:
        reach = recipe.reach(k)
        log_f = estimate_intensity(near, kernel="relative", n_neighbors=reach.intensity)
        local = find_local_clusters(near, log_f, n_neighbors=reach.climb)
        graph = build_topo_graph(
            near, local, log_intensity=log_f, similarity="relative", n_neighbors=reach.boundary
        )  # fmt: skip
        graph = bridge_components(graph, X)
        views.append(View(k, len(X), graph, build_hierarchy(graph), log_f[local.peaks]))
        evidence.samples.append((local.labels, log_f))
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
    candidates = [linkage_candidate(views, i, c) for i, c in ((0, 3), (1, 3), (2, 5), (2, 7))]
    candidates.append(sweep_candidate(views, 1, np.array([0.5, 0.3, 0.2])))
    table = compare(views, candidates, evidence)
    on_samples = [c.labels[evidence.samples[c.view][0]] for c in candidates]
    expected = [[max(adjusted_rand_score(a, b), 0) for a in on_samples] for b in on_samples]
    np.testing.assert_allclose(table, expected, atol=1e-12)
    np.testing.assert_allclose(mean_agreement(table), (table.sum(axis=1) - 1) / 4)
    assert mean_agreement(np.ones((1, 1))).tolist() == [1.0]


def test_leaks_by_hand(seen):
    views, evidence = seen
    view, (local, log_f) = views[1], evidence.samples[1]
    labels = linkage_candidate(views, 1, 5).labels
    members, indices = labels[local], evidence.neighbors.indices
    much, freely = measure_leak(view, labels, evidence.count_crossing([(1, labels)])[0])
    crossing = ~view.topo_graph.inside(labels)
    leaving = [
        view.topo_graph.pairs[crossing & (labels[view.topo_graph.edges] == c).any(axis=1)].sum() for c in range(5)
    ]
    assert much == pytest.approx(max(np.array(leaving) / (2 * view.n_neighbors * np.bincount(members))))
    k = leak_among(len(BLOBS), indices.shape[1])
    peaks = np.array([log_f[members == c].max() for c in range(5)])
    np.testing.assert_array_equal(highest_peaks(view, labels), peaks)
    shares = np.zeros(len(BLOBS))
    for x, row in enumerate(indices[:, :k]):
        for y in row[members[row] != members[x]]:
            lower = min(peaks[members[x]], peaks[members[y]])
            shares[x] += np.exp(2 * (min(log_f[x], log_f[y]) - lower)) / k
    free = [shares[(members == c) & (shares > 0)].mean() if shares[members == c].any() else 0 for c in range(5)]
    assert freely == pytest.approx(max(free), rel=1e-6)


def test_closed_clusters_do_not_leak(seen):
    views, evidence = seen
    labels = linkage_candidate(views, 0, 3).labels
    assert measure_leak(views[0], labels, evidence.count_crossing([(0, labels)])[0]) == (0.0, 0.0)


def test_the_best_score_is_chosen(seen):
    for prior in (None, np.array([0.6, 0.2, 0.2])):
        chosen, table = choose(*seen, n_clusters=3, prior=prior)
        best = int(np.argmax(table["score"]))
        assert np.flatnonzero(table["chosen"]).tolist() == [best]
        assert chosen.merge == table["merge"][best]
        assert seen[0][chosen.view].n_neighbors == table["n_neighbors"][best]
        assert len(chosen.labels) == table["n_local_clusters"][best]
    assert set(table["merge"]) == {"linkage", "sweep"}
    score = table["agreement"] - table["proportion_distance"]
    assert (table["score"] <= score + 1e-9).all()  # powers of agreement are not above it


def test_little_agreement_counts_less_where_there_is_a_prior():
    table = choose(*look_at(GAUSSIAN[:200], [4, 6, 8]), n_clusters=3, prior=np.array([0.5, 0.3, 0.2]))[1]
    assert table["agreement"].max() < 1
    assert (table["score"] + table["proportion_distance"] < table["agreement"] - 1e-3).all()  # its fourth power


def test_the_number_with_the_best_score_is_chosen(seen):
    selection = select(*seen, n_clusters=None)
    scores = pd.DataFrame(selection.n_clusters_scores).set_index("n_clusters").score
    assert scores.idxmax() == selection.chosen.labels.max() + 1 == 3
    assert select(*seen, n_clusters=3).n_clusters_scores is None


def test_one_cluster_stays_possible():
    views, evidence = look_at(GAUSSIAN, [7, 10, 14])
    table = score_n_clusters(views, evidence)
    assert table["n_clusters"][table["score"].argmax()] == 1
    assert select(views, evidence, n_clusters=None).chosen.labels.max() == 0
    assert (np.diff(table["leak"]) >= 0).all()


def test_a_number_beyond_the_peaks_asks_for_the_finest_view():
    views, evidence = look_at(BLOBS, [8])
    finer = look_at(BLOBS, [2])

    def add_finest():
        views.extend(finer[0])
        evidence.samples.extend(finer[1].samples)

    most = views[0].n_peaks
    assert select(views, evidence, n_clusters=most, add_finest=add_finest).chosen.view == 0
    assert len(views) == 1  # it was not needed
    selection = select(views, evidence, n_clusters=most + 3, add_finest=add_finest)
    assert selection.chosen.view == 1
    assert selection.chosen.labels.max() + 1 == most + 3
    assert git_clusters(BLOBS, n_clusters=60).n_neighbors == 2
