"""Collections and schedulers that DaskGIT supports, and results in the shape of the collection."""

import gc

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.base import is_dask_collection
from sklearn.datasets import make_blobs

from gitcluster.distributed import DaskGIT

from .compare import COLUMNS, assert_same, chunked, fit, on_one_machine

BLOBS = make_blobs(90, 3, centers=3, random_state=1)[0]
OPTIONS = {"n_clusters": 3, "n_neighbors": 5}
EXPECTED = on_one_machine(BLOBS, **OPTIONS)
TABLE = pd.DataFrame(BLOBS, columns=["age", "income", "visits"])


def check(X, expected=EXPECTED):
    """Fit in small cells, compare with one machine, and return the model."""
    model = DaskGIT(**OPTIONS, cell_size=40).fit(X)
    assert_same(model, expected)
    return model


def test_arrays_of_any_kind_are_accepted():
    check(da.from_array(BLOBS, chunks=(25, 2)))
    check(BLOBS.tolist())
    assert len(check(np.asfortranarray(BLOBS)).labels_.chunks[0]) > 1


@pytest.mark.parametrize("width", [3, 2])
def test_chunks_of_unknown_size_are_accepted(width):
    X = da.from_array(np.concatenate([BLOBS, np.full((20, 3), -99.0)]), chunks=(22, width))
    assert check(X[X[:, 0] > -99]).labels_.chunks == ((22, 22, 22, 22, 2),)


@pytest.mark.parametrize("chunks", [(0, 45, 0, 45, 0), (1, 1, 2, 86), (90,)])
def test_results_have_the_chunks_of_the_samples(chunks):
    model = check(chunked(BLOBS, chunks))
    for name in COLUMNS:
        assert getattr(model, name).chunks == (chunks,), name
    assert model.predict(chunked(BLOBS, chunks)).chunks == (chunks,)


def test_data_frames_are_accepted():
    frame = dd.from_pandas(TABLE, npartitions=3)
    model = check(frame)
    assert model.feature_names_in_.tolist() == ["age", "income", "visits"]
    labelled = frame.assign(cluster=model.labels_.to_dask_dataframe(index=frame.index)).compute()
    np.testing.assert_array_equal(labelled["cluster"], EXPECTED.labels_)
    empty = frame[frame["age"] > 1e9]
    with_empty = dd.concat([empty, frame, empty])
    assert len(check(with_empty).labels_.chunks[0]) == with_empty.npartitions


@pytest.mark.parametrize(
    "dtypes", [["f4", "f4", "f4"], ["i4", "f8", "f8"], ["f4", "f4", "i1"], ["Int64", "Float64", "f8"]], ids=str
)
def test_columns_of_any_type_of_number_are_accepted(dtypes):
    table = TABLE.round().astype(dict(zip(TABLE, dtypes, strict=True)))
    check(dd.from_pandas(table, npartitions=2), on_one_machine(table, **OPTIONS))


def test_the_model_holds_nothing_of_the_size_of_the_data(capsys):
    X = np.tile(BLOBS, (10, 1)) + np.random.default_rng(0).normal(size=(900, 3)) * 0.01
    model = DaskGIT(3, n_neighbors=10, verbose=True)
    assert isinstance(model.fit_predict(chunked(X)), da.Array)
    assert max(sizes_of(vars(model))) < len(X) / 2
    assert {"cells", "search", "merge", "labels"} < set(model.seconds_)
    assert "[DaskGIT]" in capsys.readouterr().err


def sizes_of(value):
    """Yield the sizes of all arrays that an object holds itself."""
    if isinstance(value, np.ndarray):
        yield value.size
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from sizes_of(part)
    elif hasattr(value, "__dict__") and not is_dask_collection(value):
        yield from sizes_of(vars(value))


# schedulers


def test_threads_have_equal_results(tmp_path):
    with dask.config.set(scheduler="threads", temporary_directory=str(tmp_path)):
        check(chunked(BLOBS))
    assert list(tmp_path.iterdir()) == []  # no files of a shuffle


def test_two_processes_have_equal_results(client):
    model = fit(BLOBS, chunks=5, cell_size=30, **OPTIONS)
    expected = EXPECTED
    assert model.n_cells_ > 2
    assert_same(model, expected)
    np.testing.assert_array_equal(model.cut(n_clusters=2).compute(), expected.cut(n_clusters=2))
    predicted, labels = model.predict(chunked(BLOBS)), model.labels_ + 0
    del model
    gc.collect()  # lazy results keep what they need
    for lazy in (predicted, labels):
        np.testing.assert_array_equal(lazy.compute(), expected.labels_)
    check(chunked(BLOBS, 1))
    bad = BLOBS.copy()
    bad[-1] = np.nan
    with pytest.raises(ValueError, match="NaN"):  # an error on a worker is the user's error
        fit(bad, n_clusters=2)
