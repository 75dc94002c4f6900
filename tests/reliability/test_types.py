"""Hostile types and layouts of samples."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from gitcluster import GIT

from .checks import blobs, check_fit, check_model, must_refuse, must_return

X = blobs()
COUNTS = np.abs(np.round(X * 4))


def read_only():
    """Return samples that cannot be written to."""
    locked = X.copy()
    locked.flags.writeable = False
    return locked


SAME = {
    "Fortran order": lambda: np.asfortranarray(X),
    "byte-swapped": lambda: X.astype(">f8"),
    "read-only": read_only,
    "objects": lambda: X.astype(object),
    "nullable frame": lambda: pd.DataFrame(X, columns=["a", "b"]).astype("Float64"),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_numbers_have_the_same_labels(kind):
    for options in ({}, {"variant": "paper"}, {"metric": "manhattan"}, {"scale": None}, {"noise": 0.1}):
        model = must_return(lambda o=options: GIT(2, **o).fit(SAME[kind]()))
        np.testing.assert_array_equal(model.labels_, GIT(2, **options).fit(X).labels_)
    check_model(model, SAME[kind]())


@pytest.mark.parametrize("dtype", ["i1", "u2", "u8", "f2", "f4", ">f4", ">i4", "g", "?", "O"])
def test_every_type_of_number_is_accepted(dtype):
    for options in ({}, {"variant": "paper"}):
        check_fit(COUNTS.astype(dtype), must=True, n_clusters=2, **options)
    check_fit(COUNTS.astype(dtype), n_clusters=2, metric="manhattan")
    if dtype in ("i1", "u2", "u8", "f4", "?"):
        check_fit(sparse.csr_array(COUNTS.astype(dtype)), n_clusters=2)


NO_NUMBERS = [
    X.astype(complex), np.full((9, 2), "word"), np.full((9, 2), None), [["a", 1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0]],
    "text", 5, None, object(), {"a": [1, 2]}, iter([[1.0], [2.0]]), [[{}], [{}]], pd.Series([1.0, 2.0, 3.0]),
    pd.DataFrame(), sparse.csr_array(X.astype(complex)), [[10**400], [1]],
]  # fmt: skip


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda bad: type(bad).__name__ + str(getattr(bad, "dtype", "")))
def test_input_without_numbers_is_refused(bad):
    for metric in ("euclidean", "cosine", "precomputed", "precomputed_graph"):
        must_refuse(lambda m=metric: GIT(2, metric=m).fit(bad))
    if not isinstance(bad, pd.DataFrame):
        must_refuse(lambda: GIT(2).fit(X).predict(bad))


def odd_sparse():
    """Return sparse matrices that scipy allows, by name."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((40, 6)) < 0.4, rng.integers(1, 9, (40, 6)), 0).astype(float)
    csr = sparse.csr_array(dense)
    unsorted = csr[:, ::-1][:, ::-1]
    unsorted.indices[:], unsorted.data[:] = csr.indices, csr.data
    for i in range(40):
        part = np.s_[csr.indptr[i] : csr.indptr[i + 1]]
        unsorted.indices[part], unsorted.data[part] = csr.indices[part][::-1], csr.data[part][::-1]
    unsorted.has_sorted_indices = False
    return {
        "csr": csr,
        "unsorted": unsorted,
        "repeated entries": sparse.csr_array(
            (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape
        ),
        "explicit zeros": sparse.csr_array(
            (np.tile([0.0, 1.0, -0.0], 30), np.tile([0, 3, 5], 30), np.arange(0, 91, 3)), shape=(30, 6)
        ),
        "all zero": sparse.csr_array((20, 5)),
        "wide": sparse.csr_array(([1.0, 2.0], ([3, 4], [2, 10**6])), shape=(10, 2**20)),
        "long indices": sparse.csr_array((csr.data, csr.indices.astype("i8"), csr.indptr.astype("i8")), csr.shape),
        "tiny": csr * 1e-310,
        "huge": csr * 1e300,
    }


@pytest.mark.parametrize("name", odd_sparse())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_sparse_samples_give_a_valid_model(name):
    S = odd_sparse()[name]
    options = [{}, {"n_clusters": 2, "variant": "paper", "n_neighbors": 1}, {"noise": "auto"}, {"scale": None}]
    if name != "wide":
        options += [{"n_clusters": 2, "metric": "cosine"}, {"n_clusters": 2, "metric": "manhattan"}]
        model = check_fit(S, n_clusters=2, scale=None, n_neighbors=3)
        if model is not None:  # ties between equal distances may be broken in another order
            dense = GIT(2, scale=None, n_neighbors=3).fit(S.toarray())
            np.testing.assert_allclose(model.log_intensity_, dense.log_intensity_)
    for some in options:
        check_fit(S, **some)


def test_missing_and_infinite_values_of_sparse_samples_are_refused():
    csr = odd_sparse()["csr"]
    for value in (np.nan, np.inf):
        S = csr.copy()
        S.data[3] = value
        for metric in ("euclidean", "cosine"):
            must_refuse(lambda m=metric, s=S: GIT(2, metric=m).fit(s))
        must_refuse(lambda s=S: GIT(2).fit(csr).predict(s))


NEXT = (np.arange(40)[:, None] + [1, 2]) % 40
MASKED = {
    "X": lambda mask: GIT(2).fit(mask(X)),
    "X of predict": lambda mask: GIT(2).fit(X).predict(mask(X)),
    "X of distances": lambda mask: GIT(2, metric="precomputed").fit(mask(pairwise_distances(X))),
    "X of a graph": lambda mask: GIT(2, metric="precomputed_graph").fit((mask(NEXT), np.ones((40, 2)))),
    "sample_weight": lambda mask: GIT(2).fit(X, sample_weight=mask(np.ones(40))),
    "y": lambda mask: GIT(2).fit(X, y=mask(np.r_[0, 1, np.full(38, -1)])),
    "must_link": lambda mask: GIT(2).fit(X, must_link=mask(np.array([[0, 1], [2, 3]]))),
    "scale": lambda mask: GIT(2, scale=mask(np.ones(2))).fit(X),
    "proportions": lambda mask: GIT(proportions=mask(np.array([1.0, 2.0]))).fit(X),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_entries_are_refused(name):
    def mask(array):
        return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 1)

    must_refuse(lambda: MASKED[name](mask), name.split()[0])
    must_return(lambda: MASKED[name](np.ma.array))
