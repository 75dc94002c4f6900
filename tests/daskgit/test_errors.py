"""Bad input: the error names the problem and the remedy, and an earlier fit stays as it was."""

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
        (chunked(with_value(np.nan)), "contains NaN, in part 2 .* Fill or drop"),
        (chunked(with_value(np.inf)), "contains infinity, in part 2 .* Fill or drop"),
        (chunked(BLOBS)[:, 0], "Expected 2D array, got 1 dimension"),
        (BLOBS[:, 0], "Expected 2D array, got 1 dimension"),
        (BLOBS[None], "Expected 2D array, got 3 dimension"),
        (chunked(BLOBS * 1j), "takes real numbers, got an array of complex128"),
        (chunked(BLOBS.astype(str)), "takes real numbers, got an array of <U"),
        (np.array([["a", 1.0], ["b", 2.0]], dtype=object), "takes real numbers, got an array of object"),
        (da.zeros((10, 0)), "at least one"),
        (np.empty((5, 0)), "at least one"),
        (BLOBS[:1], r"Found 1 sample\(s\) while a minimum of 2"),
        (BLOBS[:0], r"Found 0 sample\(s\) while a minimum of 2"),
        (chunked(BLOBS)[chunked(BLOBS)[:, 0] > 1e9], r"Found 0 sample\(s\) while a minimum of 2"),
        (BLOBS * [1e300, 1], "too large for their distances .* Use scale='std'"),
    ],
)
def test_wrong_samples(X, text):
    scale = None if "too large" in text else "std"
    with pytest.raises(ValueError, match=text):
        DaskGIT(2, scale=scale).fit(X)


def test_columns_that_are_no_numbers():
    table = pd.DataFrame(BLOBS, columns=["age", "income"]).assign(name="x", day=pd.Timestamp("2025-01-01"))
    with pytest.raises(ValueError, match=r"in the columns name, day\. Drop them: X.drop\(columns=\['name', 'day'\]\)"):
        DaskGIT(2).fit(dd.from_pandas(table, npartitions=2))


@pytest.mark.parametrize("kind", ["f8", "Float64"])
def test_missing_values_in_a_frame(kind):
    table = pd.DataFrame(with_value(np.nan), columns=["age", "income"]).astype(kind)
    with pytest.raises(ValueError, match="contains NaN, in part 2"):
        DaskGIT(2).fit(dd.from_pandas(table, npartitions=3))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        DaskGIT(2).fit(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metric": "cosine"}, "metric='euclidean' only, got 'cosine'. Use GIT"),
        ({"variant": "authors"}, r"Use GIT\(variant='authors'\)"),
        ({"variant": "best"}, "variant must be one of"),
        ({"variant": "paper", "n_clusters": "auto"}, "needs a prior. Give n_clusters"),
        ({"search": "auto"}, "search must be one of"),
        ({"recall": 0}, "recall must be"),
        ({"recall": 1.1}, "recall must be"),
        ({"recall": np.nan}, "recall must be"),
        ({"recall": True}, "recall must be"),
        ({"recall": "0.9"}, "recall must be"),
        ({"noise": 1.0}, "noise must be"),
        ({"noise": -0.1}, "noise must be"),
        ({"noise": "much"}, "noise must be"),
        ({"noise": True}, "noise must be"),
        ({"noise": [0.1]}, "noise must be"),
        ({"noise": np.nan}, "noise must be"),
        ({"cell_size": 0}, "cell_size must be at least 1"),
        ({"cell_size": 2.5}, "cell_size must be an integer"),
        ({"cell_size": "small"}, "cell_size must be an integer"),
        ({"cell_size": None}, "cell_size must be an integer"),
        ({"n_clusters": 61}, "n_clusters=61 is more than"),
        ({"n_clusters": 0}, "n_clusters must be at least 1"),
        ({"n_clusters": "many"}, "n_clusters must be an integer"),
        ({"n_clusters": 3, "proportions": [1, 2]}, "disagree"),
        ({"n_neighbors": 60}, "n_neighbors=60 needs more than 60 samples"),
        ({"n_neighbors": "few"}, "n_neighbors must be an integer"),
        ({"scale": "mean"}, "scale must be"),
        ({"scale": [1.0, 2.0, 3.0]}, "scale must have one finite weight"),
        ({"checkpoint": 3}, "checkpoint must be"),
    ],
    ids=str,
)
def test_wrong_parameters(options, text):
    with pytest.raises((ValueError, TypeError), match=text):
        DaskGIT(**{"n_clusters": 2, **options}).fit(chunked(BLOBS))


def test_recall_may_be_any_number():
    assert fit(BLOBS, n_clusters=3, recall=np.float32(0.9)).n_clusters_ == 3


def test_a_cluster_without_workers():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
        pytest.raises(RuntimeError, match=r"no workers. Start some: cluster.scale\(2\)"),
    ):
        DaskGIT(2).fit(BLOBS)


def test_a_model_that_was_not_fitted():
    for ask in (lambda model: model.predict(BLOBS), lambda model: model.cut(n_clusters=2)):
        with pytest.raises(NotFittedError):
            ask(DaskGIT(2))


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
    monkeypatch.setattr(estimator.results, "restore", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(BLOBS[:30])
    assert vars(model) == before


def test_a_warning_that_is_an_error_leaves_the_earlier_fit():
    model = fit(BLOBS, n_clusters=3)
    before = dict(vars(model))
    with pytest.raises(ConvergenceWarning, match="Found"):
        model.set_params(n_clusters=50).fit(BLOBS)
    assert vars(model) == before | {"n_clusters": 50}


@pytest.fixture
def few_bytes(monkeypatch):
    """Tasks may need fifty thousand bytes."""
    monkeypatch.setattr(estimator, "find_resources", lambda: Resources(2, 50_000))


def test_a_cell_that_no_task_can_hold(few_bytes):
    X = np.concatenate([BLOBS, np.zeros((2000, 2))])
    with pytest.raises(CellSizeError, match=r"2,000 samples lie so near .* Give the workers more memory .* repeated"):
        fit(X, n_clusters=3, n_neighbors=5)
    with pytest.raises(CellSizeError, match=r"2,000 samples lie so near"):
        fit(np.zeros((2000, 2)), n_clusters=1, n_neighbors=5)


def test_little_memory_makes_small_cells(few_bytes):
    assert check(np.concatenate([BLOBS] * 4) + np.arange(240)[:, None] / 50, n_clusters=3, n_neighbors=5).n_cells_ > 1


def test_workers_that_would_pause_forever_are_refused_at_once():
    with (
        LocalCluster(1, processes=False, threads_per_worker=1, memory_limit="400MB", dashboard_address=None) as small,
        Client(small) as client,
        dask.config.set(scheduler=client),
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
    with pytest.raises(ImportError, match=rf"needs the package {missing}: pip install 'gitcluster\[dask\]'$"):
        importlib.import_module("gitcluster.distributed")
