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


@pytest.mark.parametrize("X", [LATTICE, BLOBS.astype(np.float32)], ids=["lattice", "float32"])
@pytest.mark.parametrize("options", [{}, {"scale": None}], ids=str)
def test_fitted_samples_have_their_labels(X, options):
    model = fit(X, n_clusters=3, n_neighbors=5, cell_size=60, **options)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(model.predict(chunked(X[order])).compute(), model.labels_.compute()[order])


def test_new_samples_are_labelled_as_on_one_machine():
    X, new = (make_moons(1000, noise=0.08, random_state=seed)[0] for seed in (0, 1))
    options = {"n_clusters": 2, "n_neighbors": 12}
    labels, expected = (
        fit(X, cell_size=200, **options).predict(new).compute(),
        on_one_machine(X, **options).predict(new),
    )
    assert (labels == expected).mean() >= 0.99
    assert set(labels) == set(expected)
    one_cell = fit(X, **options)
    np.testing.assert_array_equal(one_cell.predict(new).compute(), expected)
    assert set(one_cell.predict(np.array([[1e100, 0.0], [-1e300, 1e300]])).compute()) <= {0, 1}


def test_predictions_are_lazy():
    model = fit(BLOBS, n_clusters=3, cell_size=60)
    seen = []
    parts = chunked(BLOBS).map_blocks(lambda part: seen.append(len(part)) or part, meta=BLOBS[:0])
    labels = model.predict(parts)
    assert labels.chunks == ((50, 50, 50),)
    assert not seen
    np.testing.assert_array_equal(labels[:50].compute(), model.labels_[:50].compute())
    assert seen == [50]
    X = chunked(BLOBS, 5)
    some = model.predict(X[X[:, 0] > 0])
    assert np.isnan(some.shape[0])
    np.testing.assert_array_equal(some.compute(), model.labels_.compute()[BLOBS[:, 0] > 0])
    assert model.predict(X[X[:, 0] > 1e9]).compute().shape == (0,)


def test_columns_of_new_samples_are_checked():
    table = pd.DataFrame(np.round(BLOBS * 10), columns=["age", "income"])
    model = DaskGIT(3, cell_size=60).fit(dd.from_pandas(table, npartitions=2))
    for X in (dd.from_pandas(table.astype(int), npartitions=3), table.to_numpy(), chunked(table.to_numpy("f4"))):
        np.testing.assert_array_equal(model.predict(X).compute(), model.labels_.compute())
    for other in (table[["income", "age"]], table[["age"]]):
        with pytest.raises(ValueError, match="columns"):
            model.predict(dd.from_pandas(other, npartitions=2))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(da.zeros((4, 3)))
    with pytest.raises(ValueError, match="2D"):
        model.predict(da.zeros(2))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.array([[np.nan, 0.0]])).compute()


@pytest.mark.parametrize(
    "options",
    [{"n_neighbors": 6}, {"proportions": [3, 2, 1]}],
    ids=str,
)
def test_cuts_are_those_of_one_machine(options):
    model, expected = fit(BLOBS, cell_size=50, **options), on_one_machine(BLOBS, **options)
    for prior in (
        {"n_clusters": 1},
        {"n_clusters": expected.n_clusters_},
        {"proportions": [3, 2, 1]},
        {"n_clusters": 5, "proportions": "equal"},
    ):
        np.testing.assert_array_equal(model.cut(**prior).compute(), expected.cut(**prior))
    assert model.cut(n_clusters=2).chunks == model.labels_.chunks
    with pytest.raises(ValueError, match="n_clusters"):
        model.cut()


def test_a_cut_warns_of_missing_clusters():
    with pytest.warns(UserWarning, match="100"):
        fit(BLOBS, n_clusters=4, n_neighbors=10).cut(n_clusters=100)
