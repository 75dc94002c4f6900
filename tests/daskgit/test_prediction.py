"""Labels of new samples, and cuts by other priors."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons

from gitcluster.distributed import DaskGIT

from .compare import chunked, fit, on_one_machine

BLOBS = make_blobs(150, 2, centers=4, cluster_std=1.5, random_state=0)[0]
LATTICE = np.random.default_rng(0).integers(0, 5, (100, 2)).astype(float)


@pytest.mark.parametrize("X", [BLOBS, LATTICE, BLOBS.astype(np.float32)], ids=["blobs", "lattice", "float32"])
@pytest.mark.parametrize(
    "options", [{}, {"noise": 0.1}, {"variant": "paper", "noise": "auto"}, {"scale": None}], ids=str
)
def test_fitted_samples_keep_their_labels(X, options):
    model = fit(X, n_clusters=3, n_neighbors=5, cell_size=60, **options)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(model.predict(chunked(X[order])).compute(), model.labels_.compute()[order])


@pytest.mark.parametrize("noise", [None, 0.05])
@pytest.mark.parametrize("variant", ["adaptive", "paper"])
def test_new_samples_are_labelled_as_on_one_machine(variant, noise):
    X = make_moons(1000, noise=0.08, random_state=0)[0]
    new = make_moons(1000, noise=0.08, random_state=1)[0]
    options = {"n_clusters": 2, "n_neighbors": 12, "variant": variant, "noise": noise}
    found = fit(X, cell_size=200, **options).predict(chunked(new)).compute()
    expected = on_one_machine(X, **options).predict(new)
    assert (found == expected).mean() >= 0.99
    assert set(found) == set(expected)


def test_all_samples_in_one_cell_are_as_on_one_machine():
    new = BLOBS + 0.1
    model = fit(BLOBS, n_clusters=4)
    np.testing.assert_array_equal(model.predict(new).compute(), on_one_machine(BLOBS, n_clusters=4).predict(new))


def test_new_samples_may_be_anywhere():
    labels = fit(BLOBS, n_clusters=3, cell_size=50).predict(np.array([[1e100, 0.0], [-1e300, 1e300]])).compute()
    assert ((labels >= 0) & (labels < 3)).all()


def test_predictions_are_lazy():
    model = fit(BLOBS, n_clusters=3, cell_size=60)
    seen = []
    parts = chunked(BLOBS).map_blocks(lambda part: seen.append(len(part)) or part, meta=BLOBS[:0])
    labels = model.predict(parts)
    assert isinstance(labels, da.Array)
    assert labels.chunks == ((50, 50, 50),)
    assert not seen
    np.testing.assert_array_equal(labels[:50].compute(), model.labels_[:50].compute())
    assert seen == [50]


def test_unknown_chunks_and_empty_parts():
    model = fit(BLOBS, n_clusters=3, cell_size=60)
    X = chunked(BLOBS, 5)
    some = model.predict(X[X[:, 0] > 0])
    assert np.isnan(some.shape[0])
    expected = model.labels_.compute()
    np.testing.assert_array_equal(some.compute(), expected[BLOBS[:, 0] > 0])
    assert model.predict(X[X[:, 0] > 1e9]).compute().shape == (0,)
    assert model.predict(X[:0]).compute().shape == (0,)


def test_frames_arrays_and_other_types():
    table = pd.DataFrame(np.round(BLOBS * 10), columns=["age", "income"])
    model = DaskGIT(3, cell_size=60).fit(dd.from_pandas(table, npartitions=2))
    expected = model.labels_.compute()
    for X in (dd.from_pandas(table.astype(int), npartitions=3), table.to_numpy(), chunked(table.to_numpy("f4"))):
        np.testing.assert_array_equal(model.predict(X).compute(), expected)


def test_other_columns_are_refused():
    table = pd.DataFrame(BLOBS, columns=["age", "income"])
    model = DaskGIT(3).fit(dd.from_pandas(table, npartitions=2))
    for other in (table[["income", "age"]], table[["age"]], table.assign(size=1.0)):
        with pytest.raises(ValueError, match="columns"):
            model.predict(dd.from_pandas(other, npartitions=2))
    for width in (1, 3):
        with pytest.raises(ValueError, match=f"{width} features"):
            model.predict(da.zeros((4, width)))
    with pytest.raises(ValueError, match="2D"):
        model.predict(da.zeros(2))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.array([[np.nan, 0.0]])).compute()


@pytest.mark.parametrize(
    "options",
    [{"n_clusters": 4}, {"n_clusters": "auto", "n_neighbors": 6}, {"n_clusters": 4, "variant": "paper"},
     {"proportions": [3, 2, 1], "noise": 0.1}],
    ids=str,
)  # fmt: skip
def test_cuts_are_those_of_one_machine(options):
    found, expected = fit(BLOBS, cell_size=50, **options), on_one_machine(BLOBS, **options)
    for prior in (
        {"n_clusters": 1}, {"n_clusters": 2}, {"n_clusters": 4}, {"n_clusters": expected.n_clusters_},
        {"proportions": [3, 2, 1]}, {"proportions": [9, 1]}, {"n_clusters": 5, "proportions": "equal"},
    ):  # fmt: skip
        np.testing.assert_array_equal(found.cut(**prior).compute(), expected.cut(**prior))
    assert found.cut(n_clusters=2).chunks == found.labels_.chunks
    with pytest.raises(ValueError, match="n_clusters"):
        found.cut()


def test_a_cut_by_the_fitted_prior_is_the_fit():
    X = np.random.default_rng(1).normal(size=(80, 2))  # where the scales do not agree, the fit takes equal shares
    model = fit(X, n_clusters=5)
    np.testing.assert_array_equal(model.cut(n_clusters=5).compute(), model.labels_.compute())
    np.testing.assert_array_equal(model.cut(n_clusters=5).compute(), on_one_machine(X, n_clusters=5).cut(n_clusters=5))


def test_a_cut_is_that_of_the_fitted_variant():
    found, expected = fit(BLOBS, n_clusters=4), on_one_machine(BLOBS, n_clusters=4)
    np.testing.assert_array_equal(
        found.set_params(variant="paper").cut(n_clusters=3).compute(), expected.cut(n_clusters=3)
    )


def test_a_cut_into_more_clusters_than_peaks_warns():
    model = fit(BLOBS, n_clusters=3, n_neighbors=10)
    with pytest.warns(UserWarning, match="100"):
        model.cut(n_clusters=100)


@pytest.mark.parametrize("X", [BLOBS, np.repeat(BLOBS[:30], 5, axis=0), np.zeros((40, 2))], ids=["few", "equal", "one"])
def test_a_cell_may_hold_fewer_samples_than_neighbours(X):
    model = fit(X, n_clusters=1, n_neighbors=10, cell_size=12)
    assert (model.labels_.compute() == 0).all()
