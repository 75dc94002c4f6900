"""Explanations are checked against the model: by cutting it again, and by trying all ways on small graphs."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT, TopoGraph
from gitcluster.fitted.paths import find_boundary_pairs, strengths, strongest_path

X = make_blobs(400, centers=6, cluster_std=1.6, random_state=4)[0]


@pytest.fixture(scope="module")
def model():
    return GIT(4).fit(X)


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0.1, 0.9))
@settings(max_examples=60, deadline=None)
def test_no_way_has_a_stronger_weakest_edge(seed, n_local, density):
    rng = np.random.default_rng(seed)
    ends = np.array([(i, j) for i in range(n_local) for j in range(i + 1, n_local) if rng.random() < density])
    ends = ends.reshape(-1, 2).astype(np.int64)
    ones = np.ones(n_local, np.int64)
    graph = TopoGraph(ones, np.arange(n_local), ends, rng.normal(size=len(ends)), rng.integers(0, 3, len(ends)))
    rank, allowed = strengths(graph), rng.random(len(ends)) < 0.8
    path, edges = strongest_path(graph, 0, n_local - 1, allowed)
    best = max((_weakest(way, ends, rank, allowed) for way in _ways([0], n_local)), default=-1)
    assert (rank[edges].min() if len(edges) else -1) == best
    assert [tuple(sorted(step)) for step in pairwise(path)] == [tuple(ends[e]) for e in edges]


def _ways(start, n_local):
    if start[-1] == n_local - 1:
        yield start
        return
    for node in set(range(n_local)) - set(start):
        yield from _ways([*start, node], n_local)


def _weakest(way, ends, rank, allowed):
    numbers = {tuple(pair): rank[e] for e, pair in enumerate(ends) if allowed[e]}
    return min(numbers.get(tuple(sorted(step)), -1) for step in pairwise(way))


def test_bridges_are_the_weakest():
    two = np.array([[0, 1], [0, 2], [1, 2]])
    graph = TopoGraph(np.ones(3), np.arange(3), two, np.array([-0.1, -5.0, -9.0]), np.array([0, 1, 1]))
    assert strengths(graph).tolist() == [0, 2, 1]


def test_a_sample_climbs_to_its_peak(model):
    for i in range(0, 400, 23):
        found = model.explain(i)
        assert found.climb[0] == i
        assert found.climb[-1] == model.peaks_[found.local_cluster]
        assert found.cluster == found.home == model.labels_[i]
        assert found.memberships[found.home] == pytest.approx(model.probabilities_[i])
        assert found.to_pandas()["log_intensity"].is_monotonic_increasing


def test_the_numbers_of_clusters_that_change_it_do(model):
    for i in range(0, 400, 11):
        found = model.explain(i)
        members = np.flatnonzero(model.labels_ == found.home)
        for number in range(1, 30):
            labels = model.cut(n_clusters=number)
            split = len(np.unique(labels[members])) > 1
            assert split == (number >= found.splits_at)
            joined = (labels == labels[members[0]]).sum() > len(members)
            if number <= model.n_clusters_:
                assert joined == (number <= found.merges_at)
            if number == found.merges_at:
                assert labels[np.flatnonzero(model.labels_ == found.merges_with)[0]] == labels[i]


def test_a_pair_is_together_as_long_as_it_says(model):
    rng = np.random.default_rng(0)
    for i, j in rng.integers(0, 400, (20, 2)):
        found = model.explain(i, j)
        assert found.together == (model.labels_[i] == model.labels_[j])
        together = [n for n in range(1, len(model.peaks_) + 1) if np.ptp(model.cut(n_clusters=n)[[i, j]]) == 0]
        assert found.together_until == max(together)


def test_cut_edges_keep_a_pair_apart(model):
    i, j = (int(np.flatnonzero(model.labels_ == c)[0]) for c in (0, 1))
    found = model.explain(i, j)
    assert found.cut.any()
    assert not model.explain(i, int(model.parents_[i])).cut.any()
    frame = found.to_pandas()
    assert frame["cut"].tolist() == found.cut.tolist()
    assert (frame["next"].iloc[:-1].to_numpy() == frame["local_cluster"].iloc[1:].to_numpy()).all()


@pytest.mark.parametrize("variant", ["adaptive", "paper", "authors"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed_graph", "precomputed"])
def test_boundary_pairs_are_those_of_the_edge(variant, metric):
    samples = X
    if metric == "precomputed":
        samples = pairwise_distances(X)
    elif metric == "precomputed_graph":
        samples = kneighbors_graph(X, 30, mode="distance")
    fitted = GIT(4, variant=variant, metric=metric, n_neighbors=8).fit(samples)
    graph = fitted.topo_graph_
    assert len(graph.edges) > 3
    for edge in range(len(graph.edges)):
        pairs = find_boundary_pairs(fitted.clustering_, edge, samples if metric == "precomputed" else None)
        assert len(pairs) == graph.pairs[edge]
        assert (np.sort(fitted.local_labels_[pairs], axis=1) == graph.edges[edge]).all()


def test_boundary_pairs_of_repeated_rows_are_samples():
    weights = 1 + np.arange(len(X)) % 3
    for options, samples in (({}, X), ({"metric": "precomputed"}, pairwise_distances(X))):
        fitted = GIT(4, n_neighbors=8, **options).fit(samples, sample_weight=weights)
        edge = int(fitted.topo_graph_.pairs.argmax())
        pairs = find_boundary_pairs(fitted.clustering_, edge, samples)
        assert len(pairs) == fitted.topo_graph_.pairs[edge]
        assert (np.sort(fitted.local_labels_[pairs], axis=1) == fitted.topo_graph_.edges[edge]).all()


def test_the_prior_tells_what_a_merge_would_cost():
    fitted = GIT(proportions=[3, 2, 1]).fit(X)
    i, j = (int(np.flatnonzero(fitted.labels_ == c)[0]) for c in (0, 2))
    now, merged = fitted.explain(i, j).prior_distances
    assert now == pytest.approx(fitted.edge_cut_.scores[-1])
    assert merged > now
    assert "prior" in str(fitted.explain(i, j))


def test_noise_is_named():
    fitted = GIT(4, noise=0.1).fit(X)
    noise = int(np.flatnonzero(fitted.labels_ < 0)[0])
    assert "is noise" in str(fitted.explain(noise))
    assert fitted.explain(noise).cluster == -1


def test_a_constraint_is_named():
    far = np.concatenate([X, X + 1000.0, X - 1000.0])
    pair = [0, len(X)]
    fitted = GIT(3, metric="precomputed_graph").fit(kneighbors_graph(far, 20, mode="distance"), must_link=[pair])
    text = str(fitted.explain(*pair))
    assert "one cluster" in text
    assert "constraint" in text or "bridge" in text


def test_one_peak_is_named(model):
    inside = np.flatnonzero(model.local_labels_ == 0)
    assert "same peak" in str(model.explain(int(inside[0]), int(inside[-1])))
    assert len(model.explain(int(inside[0]), int(inside[-1])).boundary_pairs) == 0


def test_published_variants_have_no_hierarchy():
    found = GIT(4, variant="paper").fit(X).explain(0, 1)
    assert found.together_until is None
    assert GIT(4, variant="paper").fit(X).explain(0).splits_at is None


def test_what_cannot_be_explained(model):
    with pytest.raises(NotFittedError):
        GIT(2).explain(0)
    with pytest.raises(ValueError, match="i must be a sample below n_samples = 400, got 400"):
        model.explain(400)
    with pytest.raises(ValueError, match="j must be at least -400"):
        model.explain(0, -401)
    with pytest.raises(TypeError, match="i must be an integer"):
        model.explain("0")
    fitted = GIT(4, metric="precomputed").fit(pairwise_distances(X))
    found = fitted.explain(0, int(np.flatnonzero(fitted.local_labels_ != fitted.local_labels_[0])[0]))
    with pytest.raises(ValueError, match="stores no distances"):
        _ = found.boundary_pairs


def test_a_model_from_a_file_explains_the_same(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    copied = pickle.loads(pickle.dumps(model))
    for other in (loaded, copied):
        assert str(other.explain(3, 77)) == str(model.explain(3, 77))
        np.testing.assert_array_equal(other.explain(3, 77).boundary_pairs, model.explain(3, 77).boundary_pairs)


def test_sparse_samples_are_explained():
    fitted = GIT(4).fit(csr_array(X))
    edge = int(fitted.topo_graph_.pairs.argmax())
    assert len(find_boundary_pairs(fitted.clustering_, edge)) == fitted.topo_graph_.pairs[edge]
