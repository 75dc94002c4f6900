"""Wrong input raises an error that names it, and an earlier fit stays as it was."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from gitcluster.distributed import DaskGIT, estimator

from .compare import check, chunked, columns_of, fit

BLOBS = make_blobs(60, 2, centers=3, random_state=0)[0]


def with_value(value):
    """Return samples with another value."""
    X = BLOBS.copy()
    X[50, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (chunked(with_value(np.nan)), "NaN, in part 2"),
        (chunked(with_value(np.inf)), "infinity, in part 2"),
        (dd.from_pandas(pd.DataFrame(with_value(np.nan)).astype("Float64"), npartitions=3), "NaN, in part 2"),
        (chunked(BLOBS)[:, 0], "2D"),
        (BLOBS[None], "2D"),
        (chunked(BLOBS * 1j), "complex128"),
        (np.array([["a", 1.0], ["b", 2.0]], dtype=object), "object"),
        (da.zeros((10, 0)), "features"),
        (BLOBS[:1], "samples"),
        (chunked(BLOBS)[chunked(BLOBS)[:, 0] > 1e9], "samples"),
        (dd.from_pandas(pd.DataFrame(BLOBS).assign(name="x", day=pd.Timestamp("2025-01-01"))), "'name', 'day'"),
    ],
)
def test_wrong_samples_are_named(X, words):
    with pytest.raises(ValueError, match=words):
        DaskGIT(2).fit(X)


@pytest.mark.parametrize(
    "options",
    [
        *({"cell_size": size} for size in (0, 2.5, "small", None)),
        *({"n_clusters": number} for number in (61, "many")),
        {"n_neighbors": 60},
        *({"scale": scale} for scale in ("components", [1.0, 2.0, 3.0])),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(options):
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        DaskGIT(**{"n_clusters": 2, **options}).fit(chunked(BLOBS))


def test_wrong_calls_are_named():
    with pytest.raises(ValueError, match="scale"):
        DaskGIT(2, scale=None).fit(BLOBS * [1e300, 1])
    with pytest.raises(NotFittedError):
        DaskGIT(2).predict(BLOBS)
    with pytest.raises(NotFittedError):
        DaskGIT(2).cut(n_clusters=2)


def test_a_failed_fit_leaves_the_earlier_one_unchanged():
    model = fit(BLOBS, n_clusters=3)
    before, columns = dict(vars(model)), columns_of(model)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(np.nan))
    with pytest.raises(ConvergenceWarning):  # at the very end of a fit
        model.set_params(n_clusters=50).fit(BLOBS + 1)
    assert vars(model) == before | {"n_clusters": 50}
    for name, values in columns_of(model).items():
        np.testing.assert_array_equal(values, columns[name])
    np.testing.assert_array_equal(model.predict(BLOBS).compute(), columns["labels_"])


@pytest.mark.parametrize(
    ("options", "error"), [({"n_workers": 0}, RuntimeError), ({"memory_limit": "400MB"}, MemoryError)]
)
def test_a_cluster_without_workers_or_memory_is_refused(options, error):
    cluster = {"n_workers": 1, "processes": False, "threads_per_worker": 1, "dashboard_address": ":0"} | options
    with (
        LocalCluster(**cluster) as workers,
        Client(workers, set_as_default=False) as client,
        client.as_current(),
        dask.config.set(scheduler=None),
        pytest.raises(error, match=r"workers|memory_limit"),
    ):
        DaskGIT(2).fit(BLOBS)


def test_little_memory_makes_small_cells(monkeypatch):
    monkeypatch.setattr(estimator, "find_resources", lambda: (2, 50_000))
    assert check(np.concatenate([BLOBS] * 4) + np.arange(240)[:, None] / 50, n_clusters=3, n_neighbors=5).n_cells_ > 1
    for X in (np.concatenate([BLOBS, np.zeros((2000, 2))]), np.zeros((2000, 2))):
        with pytest.raises(MemoryError, match="2,000"):
            fit(X, n_clusters=1, n_neighbors=5)
