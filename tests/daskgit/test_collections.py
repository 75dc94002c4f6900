"""Collections that DaskGIT supports, and results in their shape."""

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


def check(X, expected=EXPECTED, **options):
    """Fit in small cells, compare with one machine, and return the model."""
    model = DaskGIT(**OPTIONS, cell_size=40, **options).fit(X)
    assert_same(model, expected)
    return model


def frame(X=BLOBS, names=("age", "income", "visits"), parts=3):
    return dd.from_pandas(pd.DataFrame(X, columns=list(names)), npartitions=parts)


def test_chunks_along_the_features():
    check(da.from_array(BLOBS, chunks=(25, 2)))


@pytest.mark.parametrize("width", [3, 2])
def test_unknown_chunks(width):
    X = da.from_array(np.concatenate([BLOBS, np.full((20, 3), -99.0)]), chunks=(22, width))
    some = X[X[:, 0] > -99]
    assert np.isnan(some.shape[0])
    model = check(some)
    assert model.labels_.chunks == ((22, 22, 22, 22, 2),)


@pytest.mark.parametrize("chunks", [(0, 45, 0, 45, 0), (1, 1, 2, 86), (30, 30, 30)])
def test_labels_come_in_the_chunks_of_the_samples(chunks):
    model = check(chunked(BLOBS, chunks))
    for name in COLUMNS:
        assert getattr(model, name).chunks == (chunks,), name
    assert model.predict(chunked(BLOBS, chunks)).chunks == (chunks,)


@pytest.mark.parametrize("kind", [np.int8, np.float16, bool])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_types_of_numbers(kind):
    X = (np.abs(BLOBS) * 3).astype(kind)
    check(chunked(X), on_one_machine(X, **OPTIONS))


def test_plain_arrays_and_lists():
    check(BLOBS)
    check(BLOBS.tolist())
    assert len(check(np.asfortranarray(BLOBS)).labels_.chunks[0]) > 1


def test_data_frames():
    model = check(frame())
    assert model.feature_names_in_.tolist() == ["age", "income", "visits"]
    assert model.n_features_in_ == 3
    labelled = frame().assign(cluster=model.labels_.to_dask_dataframe(index=frame().index)).compute()
    np.testing.assert_array_equal(labelled["cluster"], EXPECTED.labels_)


def test_data_frames_whose_partitions_are_empty():
    frames = frame()
    some = frames[frames["age"] > frames["age"].quantile(0.5).compute()].repartition(npartitions=3)
    kept = some.compute().to_numpy()
    cleared = dd.concat([frames[frames["age"] > 1e9], some, frames[frames["age"] > 1e9]])
    model = check(cleared, on_one_machine(kept, **OPTIONS))
    assert len(model.labels_.chunks[0]) == cleared.npartitions


@pytest.mark.parametrize(
    "kinds",
    [
        ["f4"] * 3,
        ["i4", "f8", "f8"],
        ["i8"] * 3,
        ["f4", "f4", "i1"],
        ["Int64", "Float64", "f8"],
        ["boolean", "f4", "f4"],
        ["bool", "f4", "f4"],
    ],
    ids=str,
)
def test_columns_of_any_type_of_number(kinds):
    table = pd.DataFrame(np.round(BLOBS), columns=list("abc"))
    table["a"] = table["a"] > 0 if kinds[0].startswith("bool") else table["a"]
    table = table.astype(dict(zip("abc", kinds, strict=True)))
    check(dd.from_pandas(table, npartitions=2), on_one_machine(table, **OPTIONS))


@pytest.mark.parametrize("kind", [str, "path"])
def test_parquet_files(tmp_path, kind):
    folder = tmp_path / "samples"
    frame().to_parquet(folder)
    path = str(folder) if kind is str else folder
    model = check(path)
    np.testing.assert_array_equal(model.predict(path).compute(), EXPECTED.labels_)
    part = folder / "part.0.parquet"
    check(part, on_one_machine(pd.read_parquet(part), **OPTIONS))


def test_single_samples_in_many_parts():
    check(chunked(BLOBS, (1,) * 20 + (70,)))


def test_nothing_of_the_size_of_the_data_is_in_the_model():
    X = np.tile(BLOBS, (10, 1)) + np.random.default_rng(0).normal(size=(900, 3)) * 0.01
    model = fit(X, n_clusters=3, n_neighbors=10, noise=0.1)
    for name in COLUMNS:
        assert isinstance(getattr(model, name), da.Array), name
    assert max(_sizes(vars(model))) < len(X) / 2


def _sizes(value):
    """Yield the sizes of all arrays that an object holds itself."""
    if is_dask_collection(value):
        return
    if isinstance(value, np.ndarray):
        yield value.size
    elif isinstance(value, (list, tuple, set, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _sizes(part)
    elif hasattr(value, "__dict__"):
        yield from _sizes(vars(value))


def test_fit_predict_and_seconds(capsys):
    model = DaskGIT(**OPTIONS, verbose=True)
    np.testing.assert_array_equal(model.fit_predict(chunked(BLOBS)).compute(), EXPECTED.labels_)
    assert {"cells", "search", "merge", "labels"} < set(model.seconds_)
    assert "[DaskGIT]" in capsys.readouterr().err
