"""Hostile graphs of neighbours."""

import numpy as np
import pytest
from combinations import label, pairwise
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT

from .conftest import answer_or_named_error, blobs, check_fit, must_refuse

X = blobs()
NEAR = kneighbors_graph(X, 8, mode="distance")
rng = np.random.default_rng(0)
INDICES = NEAR.indices.reshape(40, 8).copy()
LENGTHS = NEAR.data.reshape(40, 8).copy()


def edges(rows, columns, lengths, n):
    return sparse.csr_array((np.asarray(lengths, float), (rows, columns)), shape=(n, n))


def unsummed(indptr, indices, data):
    return sparse.csr_array((np.asarray(data, float), indices, indptr), shape=(len(indptr) - 1,) * 2)


def with_data(value, where=3):
    graph = NEAR.copy()
    graph.data[where] = value
    return graph


def odd_graphs():
    """Graphs that are to be clustered, by name."""
    hub, leaves = np.zeros(59, int), np.arange(1, 60)
    one_way = np.arange(49)
    ragged = NEAR.tolil()
    for i in range(0, 40, 3):
        ragged[i, INDICES[i, 2:]] = 0
    no_rows = NEAR.tolil()
    no_rows[5:9] = 0
    alone = no_rows.copy()
    alone[:, 5:9] = 0
    return {
        "nearest": NEAR,
        "no edge": sparse.csr_array((20, 20)),
        "no edge, coo": sparse.coo_array((20, 20)),
        "one edge": edges([3], [4], [1.0], 20),
        "one self-loop": edges([3], [3], [1.0], 20),
        "only self-loops": edges(range(20), range(20), np.ones(20), 20),
        "self-loops of 0": unsummed(np.arange(21), np.arange(20), np.zeros(20)),
        "nearest and self-loops": NEAR + sparse.csr_array(sparse.eye(40)),
        "two samples": edges([0, 1], [1, 0], [1.0, 1.0], 2),
        "two apart": sparse.csr_array((2, 2)),
        "star to its leaves": edges(hub, leaves, np.ones(59), 60),
        "star to its hub": edges(leaves, hub, np.ones(59), 60),
        "star both ways": edges(np.r_[hub, leaves], np.r_[leaves, hub], np.ones(118), 60),
        "star of many lengths": edges(np.r_[hub, leaves], np.r_[leaves, hub], np.tile(10.0 ** np.arange(-29, 30), 2),
        60),
        "two stars": sparse.block_diag([edges(np.r_[hub, leaves], np.r_[leaves, hub], np.ones(118), 60)] * 2, "csr"),
        "chain one way": edges(one_way, one_way + 1, np.ones(49), 50),
        "chain the other way": edges(one_way + 1, one_way, np.ones(49), 50),
        "ring one way": edges(np.arange(50), (np.arange(50) + 1) % 50, np.ones(50), 50),
        "everyone to one": edges(np.arange(50), np.zeros(50, int), np.arange(50) + 1.0, 50),
        "tree": edges(np.arange(1, 63), (np.arange(1, 63) - 1) // 2, np.ones(62), 63),
        "complete": sparse.csr_array(np.ones((15, 15)) - np.eye(15)),
        "ragged rows": ragged.tocsr(),
        "empty rows": no_rows.tocsr(),
        "isolated samples": alone.tocsr(),
        "lil": ragged,
        "coo": NEAR.tocoo(),
        "csc": NEAR.tocsc(),
        "dok": NEAR.todok(),
        "bsr": sparse.bsr_array(NEAR),
        "matrix": sparse.csr_matrix(NEAR),
        "whole lengths": (NEAR * 10).astype(int),
        "boolean": NEAR.astype(bool),
        "half precision ints": (NEAR * 10).astype(np.int8),
        "single": NEAR.astype(np.float32),
        "explicit zeros": with_data(0.0, slice(0, 50)),
        "negative zero": with_data(-0.0),
        "all zero lengths": with_data(0.0, slice(None)),
        "infinite": with_data(np.inf),
        "a row of infinite": with_data(np.inf, slice(0, 8)),
        "all infinite": with_data(np.inf, slice(None)),
        "1e308": NEAR * 1e307,
        "1e-320": NEAR * 1e-320,
        "1e308 and 1e-320": with_data(1e308, slice(0, 40)) * 1e-15,
        "duplicated entries": unsummed([0, 4, 8, 10], [1, 1, 2, 2, 0, 0, 0, 2, 0, 1], [3, 1, 2, 2, 1, 1, 5, 2, 1, 1]),
        "unsorted": unsummed([0, 2, 4, 6], [2, 1, 2, 0, 1, 0], [1, 2, 3, 4, 5, 6]),
        "long indices": sparse.csr_array((NEAR.data, NEAR.indices.astype(np.int64), NEAR.indptr.astype(np.int64)),
        NEAR.shape),
        "directed": sparse.triu(NEAR, format="csr"),
        "asymmetric": NEAR.multiply(1 + rng.random((40, 40))).tocsr(),
        "random": sparse.csr_array(sparse.random(60, 60, density=0.05, random_state=rng)),
        "pair": (INDICES, LENGTHS),
        "list pair": (INDICES.tolist(), LENGTHS.tolist()),
        "padded": (np.where(rng.random((40, 8)) < 0.3, -1, INDICES), LENGTHS),
        "all padding": (np.full((40, 3), -1), np.zeros((40, 3))),
        "padded with infinity": (INDICES, np.where(rng.random((40, 8)) < 0.3, np.inf, LENGTHS)),
        "first is itself": (np.c_[np.arange(40), INDICES], np.c_[np.zeros(40), LENGTHS]),
        "named twice": (np.c_[INDICES, INDICES], np.c_[LENGTHS, LENGTHS + 1]),
        "unordered": (INDICES[:, ::-1], LENGTHS[:, ::-1]),
        "no column": (np.empty((10, 0), int), np.empty((10, 0))),
        "small indices": (INDICES.astype(np.int8), LENGTHS.astype(np.float16)),
        "unsigned": (INDICES.astype(np.uint64), LENGTHS),
        "whole pair": (INDICES, np.rint(LENGTHS).astype(int)),
        "Fortran pair": (np.asfortranarray(INDICES), np.asfortranarray(LENGTHS)),
        "byte-swapped pair": (INDICES.astype(">i4"), LENGTHS.astype(">f8")),
        "long double pair": (INDICES, LENGTHS.astype(np.longdouble)),
    }  # fmt: skip


def graph_named(name):
    graph = odd_graphs()[name]
    return tuple(np.asarray(part) for part in graph) if name == "list pair" else graph


def possible(row):
    """The published variants need numbers (8 neighbours are more than many graphs have), the authors' no weights."""
    if row["variant"] == "authors" and row["weights"]:
        return False
    return row["variant"] == "adaptive" or "auto" not in (row["number"], row["n_neighbors"])


@pytest.mark.parametrize(
    "row",
    pairwise(
        possible,
        name=odd_graphs(),
        variant=["adaptive", "paper", "authors"],
        number=["auto", 2, [5, 1]],
        noise=[None, "auto", 0.4],
        weights=[False, True],
        n_neighbors=["auto", 1],
    ),
    ids=label,
)
def test_odd_graphs(row):
    options = {"metric": "precomputed_graph", **row}
    name, number, weights = (options.pop(key) for key in ("name", "number", "weights"))
    options["proportions" if isinstance(number, list) else "n_clusters"] = number
    graph = graph_named(name)
    n = graph[0].shape[0] if isinstance(graph, tuple) else graph.shape[0]
    if weights:
        check_fit(graph, {"sample_weight": np.arange(n) + 0.5}, must=True, **options)
        check_fit(graph, {"sample_weight": np.arange(n)}, **options)
    else:
        check_fit(graph, must=True, **options)


@pytest.mark.parametrize("name", odd_graphs())
def test_odd_graphs_with_links(name):
    graph = graph_named(name)
    n = graph[0].shape[0] if isinstance(graph, tuple) else graph.shape[0]
    for links in ({"cannot_link": [(0, 1)]}, {"must_link": [(0, n - 1)]}):
        check_fit(graph, links, metric="precomputed_graph", n_clusters=2)


def pair(indices=INDICES, lengths=LENGTHS):
    return indices, lengths


@pytest.mark.parametrize(
    "graph",
    [
        with_data(np.nan), with_data(-1.0), with_data(-np.inf), with_data(np.nan, slice(None)), NEAR[:, :5], NEAR[:5],
        sparse.csr_array((1, 1)), sparse.csr_array((0, 5)), NEAR.astype(complex), NEAR.toarray(), X, None, 3, "graph",
        [], (),
        pair(INDICES + 40), pair(INDICES - 50), pair(np.where(INDICES > 5, -2, INDICES)), pair(INDICES[:5]),
        pair(INDICES[:, :5]),
        pair(lengths=LENGTHS[:5]), pair(lengths=LENGTHS[:, :3]), pair(lengths=LENGTHS * np.nan), pair(lengths=-LENGTHS),
        pair(lengths=LENGTHS.astype(str)), pair(lengths=LENGTHS.astype(complex)), pair(INDICES.astype(float)),
        pair(INDICES.astype(str)), pair(INDICES.astype(bool)), pair(INDICES.astype(object)), pair(None),
        pair(lengths=None),
        pair([[1], [0, 2]], [[1.0], [1.0, 2.0]]), pair(INDICES.ravel(), LENGTHS.ravel()), pair(INDICES[None],
        LENGTHS[None]),
        pair(INDICES.astype(np.uint64) + 2**63), (INDICES, LENGTHS, LENGTHS), (INDICES,), pair(np.empty((0, 3), int),
        np.empty((0, 3))),
        pair(np.zeros((1, 1), int), np.zeros((1, 1))), pair([[2**70]], [[1.0]]), pair(lengths=LENGTHS.astype("m8[s]")),
        (NEAR, NEAR), {"indices": INDICES}, pair(INDICES, [[None] * 8] * 40),
    ],
    ids=lambda graph: type(graph).__name__,
)  # fmt: skip
def test_wrong_graphs(graph):
    for variant in ("adaptive", "paper"):
        must_refuse(lambda v=variant: GIT(2, metric="precomputed_graph", variant=v).fit(graph))
    model = GIT(2, metric="precomputed_graph").fit(NEAR)
    answer = answer_or_named_error(lambda: model.predict(graph))
    assert answer is None or ((answer >= -1) & (answer < 2)).all()


def test_corrupt_sparse_matrices():
    for part, value in (("indices", 99), ("indices", -1), ("indptr", 10**6), ("indptr", -3)):
        broken = sparse.csr_array(NEAR).copy()
        getattr(broken, part)[7] = value
        must_refuse(lambda b=broken: GIT(2, metric="precomputed_graph").fit(b))


@pytest.mark.parametrize(
    "name", ["no edge", "star both ways", "isolated samples", "chain one way", "nearest", "all zero lengths"]
)
def test_new_rows_of_a_graph(name):
    graph = odd_graphs()[name]
    n = graph.shape[0]
    for noise in (None, 0.2):
        model = answer_or_named_error(lambda z=noise: GIT(2, metric="precomputed_graph", noise=z).fit(graph))
        for new in (
            sparse.csr_array((3, n)), sparse.csr_array(([1.0], ([0], [n - 1])), shape=(1, n)), graph[:2],
            sparse.csr_array(([1e308, 1e-320], ([0, 1], [0, 1])), shape=(2, n)), (np.array([[0, n - 1]]),
            np.array([[0.0, 1e308]])),
            (np.array([[-1, -1]]), np.array([[1.0, 1.0]])),
        ):  # fmt: skip
            labels = answer_or_named_error(lambda m=model, r=new: m.predict(r))
            shares = answer_or_named_error(lambda m=model, r=new: m.predict_proba(r))
            assert ((labels >= -1) & (labels < model.n_clusters_)).all()
            np.testing.assert_allclose(shares.sum(axis=1), 1)
            assert not np.isnan(answer_or_named_error(lambda m=model, r=new: m.score_samples(r))).any()


def test_a_star_of_20_000():
    n = 20_000
    hub, leaves = np.zeros(n - 1, int), np.arange(1, n)
    star = edges(np.r_[hub, leaves], np.r_[leaves, hub], np.tile(1 + np.arange(n - 1) % 7, 2), n)
    check_fit(star, must=True, metric="precomputed_graph", n_clusters=3, n_neighbors=5)


def test_a_chain_of_50_000_edges():
    n = 50_000
    here = np.arange(n - 1)
    chain = edges(np.r_[here, here + 1], np.r_[here + 1, here], np.ones(2 * n - 2), n)
    check_fit(chain, must=True, metric="precomputed_graph", n_clusters=3)
    check_fit(edges(here, here + 1, 1.0 + here, n), must=True, metric="precomputed_graph", n_clusters=3)
