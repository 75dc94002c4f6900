"""Explanations, checked against other cuts of the model and against all paths of small graphs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.explanation import find_boundary_pairs

X = make_blobs(400, centers=6, cluster_std=1.6, random_state=4)[0]


@pytest.fixture(scope="module")
def model():
    return GIT(4).fit(X)


def test_a_sample_climbs_to_its_peak(model):
    for i in range(0, 400, 23):
        explanation = model.explain(i)
        assert explanation.climb[0] == i
        assert explanation.climb[-1] == model.peaks_[explanation.local_cluster]
        assert explanation.cluster == explanation.home == model.labels_[i]
        assert explanation.memberships[explanation.home] == pytest.approx(model.probabilities_[i])
        assert explanation.to_pandas()["log_intensity"].is_monotonic_increasing


def test_numbers_of_clusters_that_split_or_merge_a_cluster(model):
    for i in range(0, 400, 11):
        explanation = model.explain(i)
        members = np.flatnonzero(model.labels_ == explanation.home)
        for number in range(1, 30):
            labels = model.cut(n_clusters=number)
            assert (len(np.unique(labels[members])) > 1) == (number >= explanation.splits_at)
            merged = (labels == labels[members[0]]).sum() > len(members)
            if number <= model.n_clusters_:
                assert merged == (number <= explanation.merges_at)
            if number == explanation.merges_at:
                assert labels[np.flatnonzero(model.labels_ == explanation.merges_with)[0]] == labels[i]


def test_a_pair_is_joined_up_to_a_number_of_clusters(model):
    for i, j in np.random.default_rng(0).integers(0, 400, (20, 2)):
        explanation = model.explain(i, j)
        assert explanation.same_cluster == (model.labels_[i] == model.labels_[j])
        joined = [n for n in range(1, len(model.peaks_) + 1) if np.ptp(model.cut(n_clusters=n)[[i, j]]) == 0]
        assert explanation.joined_until == max(joined)
        assert explanation.cut.any() != explanation.same_cluster
        frame = explanation.to_pandas()
        assert frame["cut"].tolist() == explanation.cut.tolist()
        assert frame["next"].tolist()[:-1] == frame["local_cluster"].tolist()[1:]
    paper = GIT(4, variant="paper").fit(X)
    assert (paper.explain(0, 1).joined_until, paper.explain(0).splits_at) == (None, None)


REPEATED = 1 + np.arange(len(X)) % 3
METRICS = ("euclidean", "sparse", "manhattan", "precomputed_graph", "precomputed")


@pytest.mark.parametrize(
    ("variant", "metric", "weights"),
    [
        *((variant, metric, None) for variant in ("adaptive", "paper", "authors") for metric in METRICS),
        *(("adaptive", metric, REPEATED) for metric in ("euclidean", "precomputed")),
    ],
)
def test_boundary_pairs_are_those_of_the_edge(variant, metric, weights):
    samples = {
        "precomputed": lambda: pairwise_distances(X),
        "precomputed_graph": lambda: kneighbors_graph(X, 30, mode="distance"),
        "sparse": lambda: csr_array(X),
    }.get(metric, lambda: X)()
    options = {} if metric == "sparse" else {"metric": metric}
    model = GIT(4, variant=variant, n_neighbors=8, **options).fit(samples, sample_weight=weights)
    graph = model.topo_graph_
    assert len(graph.edges) > 3
    for edge in range(len(graph.edges)):
        pairs = find_boundary_pairs(model.clustering_, edge, samples if metric == "precomputed" else None)
        assert len(pairs) == graph.pairs[edge]
        assert (np.sort(model.local_labels_[pairs], axis=1) == graph.edges[edge]).all()


def test_texts_name_noise_peaks_constraints_and_the_prior(model):
    noisy = GIT(4, noise=0.1).fit(X)
    noise = int(np.flatnonzero(noisy.labels_ < 0)[0])
    assert "is noise" in str(noisy.explain(noise))
    assert noisy.explain(noise).cluster == -1
    i, j = np.flatnonzero(model.local_labels_ == 0)[[0, -1]].tolist()
    assert "same peak" in str(model.explain(i, j, details=True))
    assert len(model.explain(i, j).boundary_pairs) == 0
    row = np.random.default_rng(0).normal(size=(90, 1)) + np.repeat([0, 20, 40], 30)[:, None]
    linked = GIT(2).fit(row, must_link=[(0, 89)], cannot_link=[(0, 45)])  # the first and the last of three groups
    assert "A constraint joins them" in str(linked.explain(0, 89))
    prior = GIT(proportions=[3, 2, 1]).fit(X)
    i, j = (int(np.flatnonzero(prior.labels_ == c)[0]) for c in (0, 2))
    now, merged = prior.explain(i, j).prior_distances
    assert now == pytest.approx(prior.edge_cut_.scores[-1])
    assert merged > now
    assert "Distance to the requested proportions" in str(prior.explain(i, j))


def test_errors_name_the_parameter(model):
    with pytest.raises(NotFittedError):
        GIT(2).explain(0)
    for rows, error, parameter in (((400,), ValueError, "i"), ((0, -401), ValueError, "j"), (("0",), TypeError, "i")):
        with pytest.raises(error, match=rf"^{parameter} must be"):
            model.explain(*rows)
    with pytest.raises(ValueError, match="X must have"):
        str(model.explain(0, X=X[:3]))
    distances = GIT(4, metric="precomputed").fit(pairwise_distances(X))
    other = int(np.flatnonzero(distances.local_labels_ != distances.local_labels_[0])[0])
    with pytest.raises(ValueError, match="distances"):
        _ = distances.explain(0, other).boundary_pairs
