"""Hostile graphs of neighbours."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT

from .checks import blobs, check_fit, must_refuse, must_return, result_or_named_error

NEAR = kneighbors_graph(blobs(), 8, mode="distance")
INDICES, LENGTHS = NEAR.indices.reshape(40, 8).copy(), NEAR.data.reshape(40, 8).copy()
FIT = {"metric": "precomputed_graph"}


def edges(rows, columns, lengths, n):
    """Return the graph of some edges."""
    lengths = np.broadcast_to(np.asarray(lengths, float), np.shape(rows))
    return sparse.csr_array((lengths, (rows, columns)), shape=(n, n))


def with_length(value, where=3):
    """Return the nearest neighbours with other distances."""
    graph = NEAR.copy()
    graph.data[where] = value
    return graph


def odd_graphs():
    """Return graphs that can be clustered, by name."""
    rng = np.random.default_rng(0)
    hub, leaves, chain = np.zeros(59, int), np.arange(1, 60), np.arange(49)
    both = np.r_[hub, leaves], np.r_[leaves, hub]
    ragged, isolated = NEAR.tolil(), NEAR.tolil()
    for i in range(0, 40, 3):
        ragged[i, INDICES[i, 2:]] = 0
    isolated[5:9] = 0
    isolated[:, 5:9] = 0
    padded = rng.random((40, 8)) < 0.3
    return {
        "nearest": NEAR,
        "no edge": sparse.coo_array((20, 20)),
        "one edge": edges([3], [4], 1, 20),
        "star of many lengths": edges(*both, np.tile(10.0 ** np.arange(-29, 30), 2), 60),
        "chain": edges(chain, chain + 1, 1, 50),
        "ragged rows": ragged.tocsr(),
        "isolated samples": isolated,
        "explicit zeros": with_length(0.0, slice(0, 50)),
        "all zero": with_length(0.0, slice(None)),
        "a row of infinite distances": with_length(np.inf, slice(0, 8)),
        "1e308": NEAR * 1e307,
        "repeated entries": sparse.csr_array(
            (np.arange(10.0), [1, 1, 2, 2, 0, 0, 0, 2, 0, 1], [0, 4, 8, 10]), shape=(3, 3)
        ),
        "directed": sparse.triu(NEAR, format="csr"),
        "padded": (np.where(padded, -1, INDICES), LENGTHS),
        "padded with infinity": (INDICES, np.where(padded, np.inf, LENGTHS)),
        "with itself": (np.c_[np.arange(40), INDICES], np.c_[np.zeros(40), LENGTHS]),
        "named twice": (np.c_[INDICES, INDICES], np.c_[LENGTHS, LENGTHS + 1]),
        "small types": (INDICES.astype(np.int8), LENGTHS.astype(np.float16)),
        "unsigned": (np.asfortranarray(INDICES.astype(np.uint64)), LENGTHS.astype(">f8")),
    }


GRAPHS = odd_graphs()


def n_samples(graph):
    """Return the number of samples of a graph."""
    return (graph[0] if isinstance(graph, tuple) else graph).shape[0]


@pytest.mark.parametrize("name", GRAPHS)
def test_odd_graphs_give_a_valid_model(name):
    graph, n = GRAPHS[name], n_samples(GRAPHS[name])
    for options in (
        {},
        {"n_clusters": 2, "noise": "auto"},
        {"proportions": [5, 1], "n_neighbors": 1, "noise": 0.4},
        {"n_clusters": 2, "variant": "paper", "n_neighbors": 1},
        {"n_clusters": 2, "variant": "authors", "n_neighbors": 1},
    ):
        check_fit(graph, must=True, **FIT, **options)
    for fit_params in (
        {"cannot_link": [(0, 1)]},
        {"must_link": [(0, n - 1)]},
        {"sample_weight": np.arange(n)},
        {"sample_weight": np.arange(n) / 3 + 0.1},
    ):
        check_fit(graph, fit_params, n_clusters=2, **FIT)


WRONG_GRAPHS = [
    with_length(np.nan), with_length(-1.0), NEAR[:, :5], NEAR.astype(complex), NEAR.toarray(), None, "graph", [],
    (INDICES + 40, LENGTHS), (np.where(INDICES > 5, -2, INDICES), LENGTHS), (INDICES[:5], LENGTHS), (INDICES, -LENGTHS),
    (INDICES, LENGTHS * np.nan), (INDICES.astype(float), LENGTHS), (INDICES, None), (INDICES.ravel(), LENGTHS.ravel()),
    (INDICES.astype(np.uint64) + 2**63, LENGTHS), (INDICES,), ([[2**70]], [[1.0]]), {"indices": INDICES},
]  # fmt: skip


@pytest.mark.parametrize("graph", WRONG_GRAPHS, ids=lambda graph: type(graph).__name__)
def test_wrong_graphs_are_refused(graph):
    for variant in ("adaptive", "paper"):
        must_refuse(lambda v=variant: GIT(2, variant=v, **FIT).fit(graph))
    labels = result_or_named_error(lambda: GIT(2, **FIT).fit(NEAR).predict(graph))
    assert labels is None or ((labels >= -1) & (labels < 2)).all()


def test_corrupt_sparse_matrices_are_refused():
    for part, value in (("indices", 99), ("indices", -1), ("indptr", 10**6), ("indptr", -3)):
        broken = sparse.csr_array(NEAR).copy()
        getattr(broken, part)[7] = value
        must_refuse(lambda b=broken: GIT(2, **FIT).fit(b))


@pytest.mark.parametrize("name", ["no edge", "star of many lengths", "isolated samples", "chain", "all zero"])
def test_new_rows_of_a_graph_have_labels(name):
    graph, n = GRAPHS[name], n_samples(GRAPHS[name])
    for noise in (None, 0.2):
        model = must_return(lambda noise=noise: GIT(2, noise=noise, **FIT).fit(graph))
        for new in (
            sparse.csr_array((3, n)),
            sparse.csr_array(([1e308, 1e-320], ([0, 1], [0, n - 1])), shape=(2, n)),
            (np.array([[0, n - 1]]), np.array([[0.0, 1e308]])),
            (np.array([[-1, -1]]), np.array([[1.0, 1.0]])),
        ):
            labels, shares, scores = (
                must_return(lambda call=call, new=new: call(new))
                for call in (model.predict, model.predict_proba, model.score_samples)
            )
            assert ((labels >= -1) & (labels < model.n_clusters_)).all()
            np.testing.assert_allclose(shares.sum(axis=1), 1)
            assert not np.isnan(scores).any()
