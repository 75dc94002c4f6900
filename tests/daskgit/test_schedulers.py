"""The same labels by any of Dask's schedulers."""

import gc

import dask
import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster.distributed import DaskGIT

from .compare import assert_same, chunked, fit, on_one_machine

X = make_blobs(300, 2, centers=4, cluster_std=1.3, random_state=0)[0]
OPTIONS = {"n_neighbors": 6, "noise": "auto"}


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_without_a_cluster(scheduler):
    with dask.config.set(scheduler=scheduler):
        model = fit(X, cell_size=100, **OPTIONS)
        assert_same(model, on_one_machine(X, **OPTIONS))


def test_on_two_processes(client):
    model = fit(X, chunks=5, cell_size=100, **OPTIONS)
    assert model.n_cells_ > 2
    assert_same(model, on_one_machine(X, **OPTIONS))
    np.testing.assert_array_equal(model.predict(chunked(X)).compute(), model.labels_.compute())
    np.testing.assert_array_equal(model.cut(n_clusters=2).compute(), on_one_machine(X, **OPTIONS).cut(n_clusters=2))


def test_more_workers_than_cells_and_parts(client):
    model = DaskGIT(3).fit(chunked(X, 1))
    assert model.n_cells_ == 1
    assert_same(model, on_one_machine(X, n_clusters=3))


def test_an_error_on_a_worker_is_the_users_error(client):
    bad = X.copy()
    bad[-1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fit(bad, n_clusters=2)


def test_lazy_results_keep_what_they_need(client):
    model = fit(X, n_clusters=3, cell_size=100)
    expected = model.labels_.compute()
    predicted, labels = model.predict(chunked(X)), model.labels_ + 0
    del model
    gc.collect()
    for lazy in (predicted, labels):
        np.testing.assert_array_equal(lazy.compute(), expected)
