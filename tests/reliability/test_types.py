"""Hostile types and layouts of X."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from gitcluster import GIT

from .conftest import answer_or_named_error, blobs, check_fit, check_model, must_answer, must_refuse

X = blobs()
WHOLE = np.round(X * 4)


def mapped(tmp_path, mode):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode=mode)


def read_only():
    locked = X.copy()
    locked.flags.writeable = False
    return locked


SAME = {
    "Fortran order": lambda: np.asfortranarray(X),
    "every second row": lambda: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed twice": lambda: X[::-1].copy()[::-1],
    "transposed": lambda: np.ascontiguousarray(X.T).T,
    "byte-swapped": lambda: X.astype(">f8"),
    "little-endian": lambda: X.astype("<f8"),
    "read-only": read_only,
    "long double": lambda: X.astype(np.longdouble),
    "objects": lambda: X.astype(object),
    "list": lambda: X.tolist(),
    "tuple of lists": lambda: tuple(X.tolist()),
    "list of arrays": lambda: list(X),
    "frame": lambda: pd.DataFrame(X, columns=["a", "b"]),
    "frame with whole names": lambda: pd.DataFrame(X),
    "frame with an odd index": lambda: pd.DataFrame(X, index=[7] * len(X), columns=["a", "b"]),
    "nullable frame": lambda: pd.DataFrame(X, columns=["a", "b"]).astype("Float64"),
    "frame of objects": lambda: pd.DataFrame(X.astype(object), columns=["a", "b"]),
    "matrix of one base": lambda: np.lib.stride_tricks.as_strided(X.copy(), X.shape, X.strides),
    "unaligned": lambda: np.frombuffer(b"x" + X.tobytes(), offset=1).reshape(X.shape),
    "record view": lambda: np.rec.fromarrays(X.T, names="a,b").view((float, 2)).view(np.ndarray),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_numbers_give_the_same_labels(kind):
    found = must_answer(lambda: GIT(2).fit(SAME[kind]()))
    np.testing.assert_array_equal(found.labels_, GIT(2).fit(X).labels_)
    check_model(found, SAME[kind]())
    for options in ({"variant": "paper"}, {"metric": "manhattan"}, {"scale": None}, {"noise": 0.1}):
        other = must_answer(lambda o=options: GIT(2, **o).fit(SAME[kind]()))
        np.testing.assert_array_equal(other.labels_, GIT(2, **options).fit(X).labels_)


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_memory_maps(tmp_path, mode):
    for options in ({}, {"scale": None}, {"variant": "authors"}, {"metric": "chebyshev"}):
        check_fit(mapped(tmp_path, mode), must=True, n_clusters=2, **options)
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", ">f4", ">i4", "f8", "g", "?", "O"]
)
def test_number_types(dtype):
    values = np.abs(WHOLE).astype(dtype)
    check_fit(values, must=True, n_clusters=2)
    check_fit(values, must=True, n_clusters=2, variant="paper")
    check_fit(values, n_clusters=2, metric="manhattan")
    check_fit(
        sparse.csr_array(np.abs(WHOLE).astype("f8" if dtype in ("f2", "g", "O", ">f4", ">i4") else dtype)), n_clusters=2
    )


@pytest.mark.parametrize(
    "bad",
    [
        X.astype(complex), X.astype(str), np.full((9, 2), "word"), np.full((9, 2), None),
        X.astype("M8[s]"), X.astype("m8[s]"), [["a", 1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]], [[1.0], [2.0, 3.0]],
        "text", 5, 5.0, None, object(), {}, {"a": [1, 2]}, set(), iter([[1.0], [2.0]]), [[{}], [{}]], [[None], [1.0]],
        pd.Series([1.0, 2.0, 3.0]),
        pd.DataFrame(), np.ma.masked_invalid([[1.0], [np.nan]]), sparse.csr_array(X.astype(complex)), [[10**400], [1]],
        [[1 + 2j], [3]],
    ],
    ids=lambda bad: type(bad).__name__ + str(getattr(bad, "dtype", "")),
)  # fmt: skip
def test_what_is_no_table_of_numbers(bad):
    if not isinstance(bad, np.ndarray) or bad.dtype.kind not in "UMm":
        must_refuse(lambda: GIT(2).fit(bad))
        if not isinstance(bad, pd.DataFrame):
            must_refuse(lambda: GIT(2).fit(X).predict(bad))
    for options in ({}, {"metric": "cosine"}, {"metric": "precomputed"}, {"metric": "precomputed_graph"}):
        answer_or_named_error(lambda o=options: GIT(2, **o).fit(bad))


def odd_sparse():
    """Sparse matrices that scipy allows, by name."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((40, 6)) < 0.4, rng.integers(1, 9, (40, 6)), 0).astype(float)
    csr = sparse.csr_array(dense)
    mixed = csr.copy()
    for i in range(40):
        part = np.s_[mixed.indptr[i] : mixed.indptr[i + 1]]
        mixed.indices[part], mixed.data[part] = mixed.indices[part][::-1].copy(), mixed.data[part][::-1].copy()
    mixed.has_sorted_indices = False
    coo = csr.tocoo()
    twice = sparse.coo_array((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=csr.shape)
    repeated = sparse.csr_array(
        (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape
    )
    zeros = sparse.csr_array(
        (np.tile([0.0, 1.0, -0.0], 30), np.tile([0, 3, 5], 30), np.arange(0, 91, 3)), shape=(30, 6)
    )
    empty_rows = dense.copy()
    empty_rows[::3] = 0
    return {
        "csr": csr,
        "csc": csr.tocsc(),
        "coo": coo,
        "lil": csr.tolil(),
        "dok": csr.todok(),
        "bsr": sparse.bsr_array(csr),
        "dia": sparse.dia_array(dense),
        "matrix": sparse.csr_matrix(csr),
        "csc matrix": sparse.csc_matrix(csr),
        "unsorted": mixed,
        "duplicated entries": twice,
        "duplicated entries in rows": repeated,
        "explicit zeros": zeros,
        "empty rows": sparse.csr_array(empty_rows),
        "all zero": sparse.csr_array((20, 5)),
        "all zero coo": sparse.coo_array((20, 5)),
        "one entry": sparse.csr_array(([1.0], ([3], [2])), shape=(20, 5)),
        "one row": sparse.csr_array(([1.0, 2.0], ([3, 3], [2, 4])), shape=(20, 5)),
        "wide": sparse.csr_array(([1.0, 2.0], ([3, 4], [2, 10**6])), shape=(10, 2**20)),
        "long indices": sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)),
        csr.shape),
        "single": csr.astype(np.float32),
        "whole": csr.astype(np.int64),
        "tiny": csr * 1e-310,
        "huge": csr * 1e300,
        "largest": csr * 1e307,
        "two equal": sparse.csr_array(np.ones((2, 2))),
    }  # fmt: skip


@pytest.mark.parametrize("name", odd_sparse())
def test_sparse_samples(name):
    S = odd_sparse()[name]
    options = [{}, {"n_clusters": 2}, {"n_clusters": 2, "variant": "paper", "n_neighbors": 1}, {"noise": "auto"}]
    options += [{"n_clusters": 2, "metric": "cosine"}, {"n_clusters": 2, "metric": "manhattan"}, {"scale": None}]
    if name == "wide":
        options = [o for o in options if "metric" not in o]
    for given in options:
        check_fit(S, **given)
    if S.shape[1] < 99 and S.dtype.kind == "f":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            answer = answer_or_named_error(lambda: GIT(2, scale=None, n_neighbors=3).fit(S))
            plain = GIT(2, scale=None, n_neighbors=3).fit(S.toarray()) if answer is not None else None
        if plain is not None:  # links between equal distances may be broken in another order
            np.testing.assert_allclose(answer.log_intensity_, plain.log_intensity_)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_sparse_missing_values(value):
    S = odd_sparse()["csr"].copy()
    S.data[3] = value
    for metric in ("euclidean", "cosine"):
        must_refuse(lambda m=metric: GIT(2, metric=m).fit(S))
    must_refuse(lambda: GIT(2).fit(odd_sparse()["csr"]).predict(S))


def test_sparse_and_dense_do_not_mix_silently():
    S = odd_sparse()["csr"]
    answer = answer_or_named_error(lambda: GIT(2).fit(S).predict(S.toarray()))
    assert answer is None or answer.shape == (40,)
    answer = answer_or_named_error(lambda: GIT(2).fit(S.toarray()).predict(S))
    assert answer is None or answer.shape == (40,)


def test_frames_with_other_columns():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GIT(2).fit(frame)
    must_refuse(lambda: model.predict(frame[["b", "a"]]), "feature names")
    must_refuse(lambda: model.predict(frame.rename(columns={"a": "c"})), "feature names")
    must_refuse(lambda: model.predict(frame[["a"]]))
    must_refuse(lambda: GIT(2).fit(pd.DataFrame(X, columns=["a", 1])))
    check_fit(pd.DataFrame(X, columns=["a", "a"]).to_numpy(), must=True, n_clusters=2)


NEXT = (np.arange(40)[:, None] + [1, 2]) % 40
MASKED = {
    "X": lambda some: GIT(2).fit(some(X)),
    "X of predict": lambda some: GIT(2).fit(X).predict(some(X)),
    "X of distances": lambda some: GIT(2, metric="precomputed").fit(some(pairwise_distances(X))),
    "X of a graph": lambda some: GIT(2, metric="precomputed_graph").fit((some(NEXT), np.ones((40, 2)))),
    "sample_weight": lambda some: GIT(2).fit(X, sample_weight=some(np.ones(40))),
    "y": lambda some: GIT(2).fit(X, y=some(np.r_[0, 1, np.full(38, -1)])),
    "must_link": lambda some: GIT(2).fit(X, must_link=some(np.array([[0, 1], [2, 3]]))),
    "scale": lambda some: GIT(2, scale=some(np.ones(2))).fit(X),
    "proportions": lambda some: GIT(proportions=some(np.array([1.0, 2.0]))).fit(X),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_entries_are_not_taken_for_values(name):
    def mask(array):
        return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 1)

    must_refuse(lambda: MASKED[name](mask), f"{name.split()[0]} must have no masked entries")
    must_answer(lambda: MASKED[name](np.ma.array))


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(GIT(2).fit(frame).labels_, GIT(2).fit(X).labels_)
