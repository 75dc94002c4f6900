"""Model files: a loaded model equals the saved one, and other files are refused by name."""

import dataclasses
import io
import json
import os
import pickle
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.persistence import ModelFileError
from gitcluster.preprocessing.sources import Distances

pd = pytest.importorskip("pandas")
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(30, 3)), rng.normal(6, 1, (20, 3)), rng.normal([0, 9, 0], 1, (15, 3))])
FRAME = pd.DataFrame(
    {"a": X[:, 0], "b": np.exp(X[:, 1] / 3), "city": rng.choice(["Rome", "Oslo", "Bern"], 65),
     "paid": rng.choice(["y", "n"], 65), "grade": rng.choice(["low", "mid", "high"], 65),
     "day": pd.Timestamp("2020-01-01") + pd.to_timedelta((X[:, 2] * 30).round(), unit="D")},
    index=[f"row {i}" for i in range(65)],
)  # fmt: skip
MODELS = {
    "default": (GIT(), X, {}),
    "paper": (GIT(3, variant="paper"), X, {}),
    "authors": (GIT(3, variant="authors"), X, {}),
    "prior": (GIT(proportions=(3, 2, 1), noise="auto"), X, {}),
    "weights": (GIT(2), X, {"sample_weight": np.arange(65) % 3}),
    "fractions": (GIT(2), X, {"sample_weight": np.arange(65) + 0.5}),
    "constraints": (GIT(3, min_cluster_size=4), X, {"cannot_link": [(0, 1)], "must_link": [(2, 3)]}),
    "scale": (GIT(2, scale=[1, 0, 2]), X, {}),
    "cosine": (GIT(2, metric="cosine"), X, {}),
    "sparse": (GIT(2), csr_array(np.round(np.abs(X))), {}),
    "graph": (GIT(2, metric="precomputed_graph"), kneighbors_graph(X, 8, mode="distance"), {}),
    "distances": (GIT(2, metric="precomputed"), pairwise_distances(X), {}),
    "repeated distances": (GIT(2, metric="precomputed"), pairwise_distances(X), {"sample_weight": np.arange(65) % 3}),
    "table": (GIT(columns={"grade": ["low", "mid", "high"], "b": "log"}, weights={"a": 2.0}), FRAME, {}),
    "frame of numbers": (GIT(2), pd.DataFrame(X, columns=list("abc"), index=np.arange(65) + 5), {}),
    "large labels": (GIT(2), pd.DataFrame(X, columns=list("abc"), index=np.arange(65, dtype=np.uint64) + 2**63), {}),
    "all equal": (GIT(), np.ones((9, 2)), {}),
    "numbers of numpy": (GIT(np.int64(2), noise=np.float64(0.1), n_neighbors=np.int32(3)), X, {}),
}


@pytest.fixture(scope="module")
def fitted():
    """Return a function that fits a model by name, once."""
    known = {}

    def fit(name):
        if name not in known:
            model, data, options = MODELS[name]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[name] = model.fit(data, **options), data
        return known[name]

    return fit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def same(one, other):
    """Return whether two trees of results are equal, to the last bit and type."""
    if issparse(one):
        return same(
            [one.data, one.indices, one.indptr, one.shape], [other.data, other.indices, other.indptr, one.shape]
        )
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return one == other and type(one) is type(other)


def rows_of(data, some):
    return data.iloc[some] if hasattr(data, "iloc") else data[some]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(fitted, path, name):
    model, data = fitted(name)
    model.save(path)
    loaded = GIT.load(path)
    assert same(loaded.clustering_, model.clustering_)
    assert same(
        {key: value.item() if isinstance(value, np.generic) else value for key, value in model.get_params().items()},
        loaded.get_params(),
    )
    for attribute in ("n_features_in_", "feature_names_in_"):
        assert same(getattr(loaded, attribute, None), getattr(model, attribute, None))
    np.testing.assert_array_equal(loaded.predict(data), model.labels_)
    np.testing.assert_array_equal(loaded.predict(rows_of(data, slice(7))), model.predict(rows_of(data, slice(7))))


def test_a_loaded_model_has_the_labels_of_rows(fitted, path):
    for name in ("table", "frame of numbers", "large labels"):
        model, data = fitted(name)
        model.save(path)
        loaded = GIT.load(path)
        assert loaded.to_pandas().samples.index.tolist() == data.index.tolist()
        assert str(loaded.explain(data.index[-1])) == str(model.explain(data.index[-1]))
        assert str(loaded.profile(data)) == str(model.profile(data))


def test_notes_are_saved_with_the_model(fitted, path):
    model, _ = fitted("default")
    model.save(path)
    assert GIT.load(path).notes_ == {}
    notes = {"id": "café", "rows": [1, 2], "a.b": np.arange(3.0), "a": {"b": np.arange(2)}, "/x": (np.ones(1), None)}
    model.save(path, notes=notes)
    loaded = GIT.load(path)
    assert same(loaded.notes_, notes)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)


def test_a_failed_save_leaves_the_file_unchanged(fitted, path):
    fitted("default")[0].save(path)
    whole = path.read_bytes()
    with pytest.raises(TypeError, match="scale"):
        GIT(2).fit(X).set_params(scale=object()).save(path)
    assert path.read_bytes() == whole
    assert os.listdir(path.parent) == ["model.npz"]


def test_wrong_paths_raise_the_error_of_the_system(fitted, tmp_path):
    model, _ = fitted("default")
    (tmp_path / "folder.npz").mkdir()
    for path, error in (
        (tmp_path / "none" / "model.npz", FileNotFoundError),
        (tmp_path / "folder.npz", IsADirectoryError),
    ):
        for call in (model.save, GIT.load):
            with pytest.raises(error):
                call(path)
    model.save(str(tmp_path / "named"))
    assert GIT.load(tmp_path / "named.npz").n_clusters_ == model.n_clusters_


def test_damaged_files_are_refused_or_equal(fitted, path):
    model, _ = fitted("fractions")
    model.save(path)
    whole = path.read_bytes()

    def load(text):
        """Return whether a file is refused; otherwise the model must be the saved one."""
        path.write_bytes(text)
        try:
            loaded = GIT.load(path)
        except ModelFileError as error:
            return str(path) in str(error)
        assert same(loaded.clustering_, model.clustering_)
        return False

    rng, data = np.random.default_rng(0), np.frombuffer(whole, np.uint8)
    assert all(load(whole[:n]) for n in [0, 1, 30, len(whole) - 1, *rng.integers(0, len(whole), 30)])
    for n_flips in [1] * 150 + [2, 5, 100, 1000]:
        text, positions = data.copy(), rng.integers(0, len(data), n_flips)
        text[positions] ^= (1 << rng.integers(0, 8, n_flips)).astype(np.uint8)
        load(text.tobytes())
    for i in range(whole.rindex(b"PK\x05\x06"), len(whole)):  # the directory of the archive
        load(whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :])
    for text in (b"x" + whole, whole + b"x", whole + whole):
        load(text)
    assert not load(whole)


class Evil:
    def __reduce__(self):
        return os.abort, ()


def as_npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def as_header(text):
    return as_npz(header=np.frombuffer(text.encode(), np.uint8))


BEGINNING = '{"format": "gitcluster-model", "version": 6, "state": '
FOREIGN = {
    "pickle": pickle.dumps(Evil()), "text": b"labels 0 1 2\n" * 50, "empty": b"", "zip": b"PK\x05\x06" + bytes(18),
    "other npz": as_npz(X=X), "objects": as_npz(header=np.array([{"a": 1}, Evil()], dtype=object)),
    "no json": as_header("{"), "deep": as_header("[" * 100_000), "null": as_header("null"),
    "no state": as_header(BEGINNING + "null}"),
    "other class": as_header(BEGINNING + '{"os.system": {"command": "true"}}}'),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused(path, name):
    path.write_bytes(FOREIGN[name])
    with pytest.raises(ModelFileError, match=r"model\.npz"):
        GIT.load(path)


def test_no_more_memory_than_the_file_is_large(path):
    np.savez_compressed(path, header=np.zeros(10**7, np.uint8), a=np.zeros(10**7))
    with pytest.raises(ModelFileError, match=r"model\.npz"):
        GIT.load(path)
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "|u1", "fortran_order": False, "shape": (2**62,)})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.npy", huge.getvalue())
    with pytest.raises(ModelFileError):
        GIT.load(path)


def read_parts(path):
    """Return the header and the arrays of a file."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def write_parts(path, header, arrays):
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def put(values, index, value):
    """Return a copy with another value at an index."""
    changed = np.array(values)
    changed[index] = value
    return changed


@pytest.mark.parametrize(("name", "value"), [("version", 2), ("version", "6"), ("surprise", 1)])
def test_other_versions_and_parameters_are_refused(fitted, path, name, value):
    fitted("default")[0].save(path)
    header, arrays = read_parts(path)
    (header if name == "version" else header["state"]["dict"]["parameters"]["dict"])[name] = value
    write_parts(path, header, arrays)
    with pytest.raises(ModelFileError, match=name):
        GIT.load(path)


def test_a_broken_field_is_named(fitted, path):
    clustering = fitted("constraints")[0].clustering_
    for name, value in (
        ("labels", clustering.labels - 2),
        ("parents", np.roll(np.arange(65), 1)),
        ("hierarchy", None),
        ("n_neighbors", 10**400),
        ("topo_graph", clustering.topo_graph._replace(edges=clustering.topo_graph.edges[:, ::-1])),
    ):
        broken = GIT(3).fit(X)
        broken.clustering_ = dataclasses.replace(clustering, **{name: value})
        broken.save(path)
        with pytest.raises(ModelFileError, match=rf"(?s)model\.npz.*{name}"):
            GIT.load(path)


def forged_arrays(array):
    """Yield arrays that somebody might put in place of another."""
    yield from (array[:0], array[:-1], array[None], array.reshape(-1)[:, None], array[::-1].copy(), array.astype(str))
    yield from (np.concatenate([array, array]), np.zeros_like(array), np.ones(3, array.dtype))
    if array.dtype.kind in "biuf":
        for dtype in (np.int8, np.float16, np.float64, complex, ">i8", ">f8"):
            with np.errstate(all="ignore"):
                yield array.astype(dtype)
    for value in (-1, 0, 10**9, 2**62) if array.dtype.kind in "iu" and array.size else ():
        yield put(array.astype(np.int64), (..., 0), value)
    for value in (np.nan, np.inf, -1e30, 0.0, 1e38) if array.dtype.kind == "f" and array.size else ():
        yield put(array, (..., 0), value)


LEAVES = [None, -1, 10**400, 1.5, float("nan"), "word", True, [], {}, {"dict": {}}, {"array": "header"}]


def leaves_of(tree, path=()):
    """Yield the paths to all leaves and branches of a JSON tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield from leaves_of(item, (*path, key))


def forgeries(header, arrays):
    """Yield forged headers and arrays: every array and every leaf of the header is replaced."""
    for name, array in arrays.items():
        for other in forged_arrays(array):
            yield header, arrays | {name: other}
    names = list(arrays)
    for one, other in zip(names, names[1:] + names[:1], strict=True):
        yield header, arrays | {one: arrays[other], other: arrays[one]}
    for *branches, last in list(leaves_of(header["state"]))[1:]:
        for value in LEAVES:
            changed = json.loads(json.dumps(header))
            branch = changed["state"]
            for key in branches:
                branch = branch[key]
            branch[last] = value
            yield changed, arrays


def use(model, data, folder):
    """Call everything that reads a loaded model."""
    some, names = rows_of(data, slice(None, None, 3)), [0, 7, len(model.labels_) - 1]
    if model.clustering_.index is not None:
        names = model.clustering_.index[names].tolist()
    model.predict(some)
    if not issparse(data):
        model.predict_proba(some)
    for number in (1, 2, 5, len(model.peaks_)):
        if model.clustering_.links is None:
            model.cut(n_clusters=number)
    if model.clustering_.hierarchy is not None and model.clustering_.links is None:
        model.layers([1, 2, 4])
    for name in names:
        str(model.explain(name))
        str(model.explain(name, names[-1], X=data))
    model.to_pandas()
    if model.clustering_.training.rows is None and not isinstance(model.clustering_.source, Distances):
        model.explore(None, folder / "page.html")
    model.save(folder / "again.npz")


@pytest.mark.parametrize("name", ["default", "paper", "prior", "weights", "constraints", "sparse", "graph", "table"])
@pytest.mark.filterwarnings("ignore")
def test_a_forged_file_is_refused_or_does_no_harm(fitted, path, tmp_path, name):
    """A forged model may give wrong answers or raise errors; it must not crash the process or run forever."""
    model, data = fitted(name)
    model.save(path)
    use(GIT.load(path), data, tmp_path)
    forged = list(forgeries(*read_parts(path)))
    refused = 0
    for number in np.random.default_rng(0).permutation(len(forged))[:120]:
        write_parts(path, *forged[number])
        try:
            loaded = GIT.load(path)
        except ModelFileError:
            refused += 1
            continue
        with suppress(Exception):
            use(loaded, data, tmp_path)
    assert 40 < refused < 120


def test_pickles_hold_what_was_fitted_and_no_caches(fitted):
    model, data = fitted("default")
    before = len(pickle.dumps(GIT().fit(data)))
    model.predict(data + 0.1)
    assert len(pickle.dumps(model)) <= before + 100
    assert same(pickle.loads(pickle.dumps(model)).clustering_, model.clustering_)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no such device")
def test_a_device_is_refused():
    with pytest.raises(ModelFileError):
        GIT.load("/dev/zero")
