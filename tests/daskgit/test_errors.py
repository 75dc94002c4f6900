"""Wrong input raises an error that names it, and an earlier fit stays as it was."""

import importlib
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from gitcluster._support import optional
from gitcluster.distributed import DaskGIT, estimator
from gitcluster.distributed.partition import CellSizeError
from gitcluster.distributed.tasks import Resources

from .compare import check, chunked, columns_of, fit

BLOBS = make_blobs(60, 2, centers=3, random_state=0)[0]


def with_value(value):
    X = BLOBS.copy()
    X[50, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (chunked(with_value(np.nan)), "NaN, in part 2"),
        (chunked(with_value(np.inf)), "infinity, in part 2"),
        (dd.from_pandas(pd.DataFrame(with_value(np.nan)), npartitions=3), "NaN, in part 2"),
        (dd.from_pandas(pd.DataFrame(with_value(np.nan)).astype("Float64"), npartitions=3), "NaN, in part 2"),
        (chunked(BLOBS)[:, 0], "2D"),
        (BLOBS[None], "2D"),
        (chunked(BLOBS * 1j), "complex128"),
        (chunked(BLOBS.astype(str)), "<U"),
        (np.array([["a", 1.0], ["b", 2.0]], dtype=object), "object"),
        (da.zeros((10, 0)), "features"),
        (BLOBS[:1], "samples"),
        (BLOBS[:0], "samples"),
        (chunked(BLOBS)[chunked(BLOBS)[:, 0] > 1e9], "samples"),
        (dd.from_pandas(pd.DataFrame(BLOBS).assign(name="x", day=pd.Timestamp("2025-01-01"))), "'name', 'day'"),
    ],
)
def test_wrong_samples(X, text):
    with pytest.raises(ValueError, match=text):
        DaskGIT(2).fit(X)


def test_samples_that_are_too_large():
    with pytest.raises(ValueError, match="scale"):
        DaskGIT(2, scale=None).fit(BLOBS * [1e300, 1])


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        DaskGIT(2).fit(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "cosine"},
        {"variant": "authors"},
        {"variant": "best"},
        {"n_clusters": "auto", "variant": "paper"},
        *({"noise": noise} for noise in (1.0, -0.1, "much", True, [0.1], np.nan)),
        *({"cell_size": size} for size in (0, 2.5, "small", None)),
        *({"n_clusters": number} for number in (61, 0, "many")),
        {"proportions": [1, 2], "n_clusters": 3},
        {"n_neighbors": 60},
        {"n_neighbors": "few"},
        *({"scale": scale} for scale in ("mean", "components", [1.0, 2.0, 3.0])),
        {"checkpoint": 3},
    ],
    ids=str,
)
def test_wrong_parameters(options):
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        DaskGIT(**{"n_clusters": 2, **options}).fit(chunked(BLOBS))


def test_a_cluster_without_workers():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
        pytest.raises(RuntimeError, match="workers"),
    ):
        DaskGIT(2).fit(BLOBS)


def test_a_model_that_was_not_fitted():
    with pytest.raises(NotFittedError):
        DaskGIT(2).predict(BLOBS)
    with pytest.raises(NotFittedError):
        DaskGIT(2).cut(n_clusters=2)


@pytest.mark.parametrize("bad", [with_value(np.nan), BLOBS[:1], BLOBS[:, 0]], ids=["NaN", "one sample", "1-d"])
def test_a_failed_fit_leaves_the_earlier_one(bad):
    model = fit(BLOBS, n_clusters=3, noise=0.1)
    attributes, columns = set(vars(model)), columns_of(model)
    with pytest.raises(ValueError, match=r"sample|NaN|2D"):
        model.fit(bad)
    assert set(vars(model)) == attributes
    for name, values in columns_of(model).items():
        np.testing.assert_array_equal(values, columns[name])
    np.testing.assert_array_equal(model.predict(BLOBS).compute(), columns["labels_"])


def test_a_fit_that_fails_at_the_end_leaves_the_earlier_one(monkeypatch):
    model = fit(BLOBS, n_clusters=3)
    before = dict(vars(model))
    monkeypatch.setattr(estimator.results, "to_input_order", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(BLOBS[:30])
    assert vars(model) == before


def test_a_warning_that_is_an_error_leaves_the_earlier_fit():
    model = fit(BLOBS, n_clusters=3)
    before = dict(vars(model))
    with pytest.raises(ConvergenceWarning):
        model.set_params(n_clusters=50).fit(BLOBS)
    assert vars(model) == before | {"n_clusters": 50}


@pytest.fixture
def few_bytes(monkeypatch):
    """Allow 50,000 bytes per task."""
    monkeypatch.setattr(estimator, "find_resources", lambda: Resources(2, 50_000))


def test_a_cell_that_no_task_can_hold(few_bytes):
    X = np.concatenate([BLOBS, np.zeros((2000, 2))])
    with pytest.raises(CellSizeError, match="2,000"):
        fit(X, n_clusters=3, n_neighbors=5)
    with pytest.raises(CellSizeError, match="2,000"):
        fit(np.zeros((2000, 2)), n_clusters=1, n_neighbors=5)


def test_little_memory_makes_small_cells(few_bytes):
    assert check(np.concatenate([BLOBS] * 4) + np.arange(240)[:, None] / 50, n_clusters=3, n_neighbors=5).n_cells_ > 1


def test_workers_that_would_pause_forever_are_refused_at_once():
    with (
        LocalCluster(1, processes=False, threads_per_worker=1, memory_limit="400MB", dashboard_address=None) as small,
        Client(small) as client,
        client.as_current(),
        dask.config.set(scheduler=None),
        pytest.raises(MemoryError, match=r"memory_limit .* 0.40 GB"),
    ):
        DaskGIT(3).fit(chunked(BLOBS))


def test_chunks_and_samples_must_fit_into_the_workers(monkeypatch):
    room = Resources(2, 10**8, 2, 0.8e9)
    room.check(stored=0.6e9, part=1e7)
    room = room._replace(worker_bytes=0.5e9)
    monkeypatch.setattr(estimator, "find_resources", lambda: room)
    fit(BLOBS, n_clusters=3)
    monkeypatch.setattr(estimator, "find_resources", lambda: room._replace(worker_bytes=0.44e9))
    with pytest.raises(MemoryError, match="memory_limit"):
        fit(BLOBS, n_clusters=3)
    for wide in ({"stored": 0.6e9, "part": 0.0}, {"stored": 0.0, "part": 1e8}):
        with pytest.raises(MemoryError, match="memory_limit"):
            room.check(**wide)


@pytest.mark.parametrize("missing", ["dask", "distributed", "pandas", "pyarrow"])
def test_a_missing_package_names_its_extra(monkeypatch, missing):
    for name in [name for name in sys.modules if name.startswith("gitcluster.distributed")]:
        monkeypatch.delitem(sys.modules, name)
    find = optional.find_spec
    monkeypatch.setattr(optional, "find_spec", lambda name: None if name == missing else find(name))
    with pytest.raises(ImportError, match=rf"{missing}.*gitcluster\[dask\]"):
        importlib.import_module("gitcluster.distributed")
