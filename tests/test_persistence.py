"""A model in a file: what is loaded predicts as what was saved, or does not load."""

import contextlib
import dataclasses
import hashlib
import io
import json
import pickle
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from gitcluster import GIT
from gitcluster.fitted import persistence
from gitcluster.fitted.persistence import ModelFileError, read_notes

X, _ = make_blobs([150, 100, 50], 8, random_state=1)
new = X + np.random.default_rng(0).normal(0, 0.5, X.shape)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variant": "paper"},
        {"noise": 0.1},
        {"proportions": [3, 2, 1]},
        {"metric": "cosine"},
        {"max_cluster_size": 140},
    ],
    ids=str,
)
def test_a_loaded_model_is_the_saved_one(tmp_path, options):
    model = GIT(3, **options).fit(X)
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(loaded.cut(n_clusters=5), model.cut(n_clusters=5))
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_sparse_graphs_and_names_are_saved(tmp_path):
    pandas = pytest.importorskip("pandas")
    models = [
        (GIT(3).fit(pandas.DataFrame(X, columns=list("abcdefgh"))), pandas.DataFrame(new, columns=list("abcdefgh"))),
        (GIT(3).fit(csr_array(np.maximum(X, 0))), csr_array(np.maximum(new, 0))),
    ]
    distances, indices = NearestNeighbors(n_neighbors=20).fit(X).kneighbors()
    models.append((GIT(3, metric="precomputed_graph").fit((indices, distances)), (indices, distances)))
    for model, fresh in models:
        model.save(tmp_path / "model.npz")
        np.testing.assert_array_equal(GIT.load(tmp_path / "model.npz").predict(fresh), model.predict(fresh))


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "model.npz"
    model = GIT(3).fit(X)
    model.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(whole), 25):
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelFileError):
            GIT.load(path)
    for place in rng.integers(0, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            np.testing.assert_array_equal(GIT.load(path).predict(new), model.predict(new))
        except ModelFileError:
            continue
    for foreign in (b"", b"text", pickle.dumps(model)):
        path.write_bytes(foreign)
        with pytest.raises(ModelFileError):
            GIT.load(path)
    np.savez(path, a=np.ones(3))
    with pytest.raises(ModelFileError):
        GIT.load(path)
    with pytest.raises(FileNotFoundError):
        GIT.load(tmp_path / "nothing.npz")


def tamper(path, change):
    """Change the header of a saved model as somebody who knows the format would."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    for name, array in arrays.items():
        checksum = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        header["arrays"][name] = [array.dtype.str, list(array.shape), checksum]
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def fields_of(header, *names):
    """The packed fields of the result that names lead to, from the clustering on."""
    tree = header["state"]["dict"]["fitted"]["dict"]["clustering_"]
    for name in names:
        tree = tree["fields"][name]
    return tree["fields"]


def test_tampered_files_do_not_give_garbage(tmp_path):
    path = tmp_path / "model.npz"
    GIT(3).fit(X).save(path)
    whole = path.read_bytes()

    def other_class(header, arrays):
        header["state"]["dict"]["fitted"]["dict"]["clustering_"]["result"] = "system"

    def far_labels(header, arrays):
        name = fields_of(header)["local_labels"]["array"]
        arrays[name] = arrays[name] + 10**6

    def fewer_samples(header, arrays):
        name = fields_of(header)["log_intensity"]["array"]
        arrays[name] = arrays[name][:5]

    def no_parameters(header, arrays):
        header["state"]["dict"]["parameters"]["dict"]["surprise"] = 1

    def a_cycle_uphill(header, arrays):
        name = fields_of(header)["parents"]["array"]
        arrays[name] = np.roll(np.arange(len(arrays[name])), 1)

    def no_tree(header, arrays):
        name = fields_of(header, "hierarchy")["edges"]["array"]
        arrays[name] = np.zeros_like(arrays[name])

    for change in (other_class, far_labels, fewer_samples, no_parameters, a_cycle_uphill, no_tree):
        path.write_bytes(whole)
        tamper(path, change)
        with pytest.raises(ModelFileError):
            GIT.load(path)


def forgeries(array, rng):
    """What somebody might put in the place of an array."""
    if not array.size:
        yield np.ones(3, array.dtype)
        return
    yield array[:0]
    yield array[:-1]
    yield array.reshape(-1)[:, None]
    yield array.astype(str)
    yield np.concatenate([array, array])
    yield array[::-1].copy()
    yield rng.permutation(array.ravel()).reshape(array.shape)
    if array.dtype.kind in "iu":
        for value in (-1, 10**9, int(array.max(initial=0)) + 1):
            changed = array.astype(np.int64)
            changed.ravel()[rng.integers(0, array.size, 3)] = value
            yield changed
        yield np.zeros_like(array)
        yield array.astype(float)
        yield array.astype(np.int8)
    elif array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1e30):
            changed = array.copy()
            changed.ravel()[: max(1, array.size // 10)] = value
            yield changed
        yield np.nan_to_num(array, posinf=0, neginf=0).astype(int)
    else:
        yield ~array if array.dtype.kind == "b" else array


def use(model, samples):
    """Everything that reads what was loaded, but for pictures."""
    model.predict(samples)
    model.predict_proba(samples)
    for number in (1, 2, 5, len(model.peaks_)):
        model.cut(n_clusters=number)
    model.cut(proportions=[3, 2, 1])
    for i in (0, 7):
        str(model.explain(i))
        str(model.explain(i, len(model.labels_) - 1))
        assert model.explain(i, len(model.labels_) - 1).boundary_pairs is not None
    model.to_pandas()


@pytest.mark.parametrize(
    "options", [{}, {"variant": "paper"}, {"noise": 0.1, "min_cluster_size": 4, "proportions": [2, 1, 1]}], ids=str
)
def test_forged_arrays_neither_crash_nor_hang(tmp_path, options):
    path, rng = tmp_path / "model.npz", np.random.default_rng(0)
    samples = X[::4]
    weights = None if options else rng.random(len(samples)) + 0.5
    GIT(3, **options).fit(samples, sample_weight=weights).save(path)
    whole = path.read_bytes()
    with np.load(path) as file:
        names = [name for name in file.files if name != "header"]
    refused = used = 0
    for name in names:
        with np.load(io.BytesIO(whole)) as file:
            forged = list(forgeries(file[name], rng))
        for array in forged:
            path.write_bytes(whole)
            tamper(path, lambda header, arrays, name=name, array=array: arrays.update({name: array}))
            try:
                model = GIT.load(path)
            except ModelFileError:
                refused += 1
                continue
            with warnings.catch_warnings(), contextlib.suppress(ValueError):
                warnings.simplefilter("ignore")
                use(model, samples)
            used += 1
    assert refused > used > 0


def test_what_would_not_fit_into_memory_is_not_unpacked(tmp_path):
    path = tmp_path / "model.npz"
    np.savez_compressed(path, header=np.zeros(10**7, np.uint8), a=np.zeros(10**7))
    with pytest.raises(ModelFileError, match="compressed"):
        GIT.load(path)


def test_versions_are_read_upgraded_or_refused(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    model = GIT(3).fit(X)
    model.save(path)
    whole = path.read_bytes()
    tamper(path, lambda header, arrays: header.update(version=1))
    with pytest.raises(ModelFileError, match=r"version 1 of the format, which was never in a release"):
        GIT.load(path)

    def rename(state):
        fitted = state["dict"]["fitted"]["dict"]
        fitted["clustering_"] = fitted.pop("old_name")
        return state

    def save_older(header, arrays):
        header["version"] = 1
        fitted = header["state"]["dict"]["fitted"]["dict"]
        fitted["old_name"] = fitted.pop("clustering_")

    path.write_bytes(whole)
    tamper(path, save_older)
    monkeypatch.setitem(persistence.UPGRADES, 1, rename)
    np.testing.assert_array_equal(GIT.load(path).predict(new), model.predict(new))
    path.write_bytes(whole)
    tamper(path, lambda header, arrays: header.update(version=99))
    with pytest.raises(ModelFileError, match="newer gitcluster"):
        GIT.load(path)


def with_one_field_more(kind):
    """A result type as it will be when somebody adds a field."""
    if hasattr(kind, "_fields"):
        fields = [(name, Any) for name in kind._fields]
        defaults = dict(kind._field_defaults) | {"added": 42}
        more = NamedTuple(kind.__name__, [*fields, ("added", Any)])
        more.__new__.__defaults__ = tuple(defaults.values())
        return type(kind.__name__, (more, kind), {})
    return dataclasses.make_dataclass(
        kind.__name__, [("added", int, dataclasses.field(default=42, kw_only=True))], bases=(kind,), frozen=True,
        eq=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", sorted(persistence.RESULTS))
def test_a_field_that_is_added_later_has_its_default_in_older_files(tmp_path, monkeypatch, name):
    path = tmp_path / "model.npz"
    distances, indices = NearestNeighbors(n_neighbors=20).fit(X).kneighbors()
    models = [
        (GIT(3, min_cluster_size=5).fit(X), X),
        (GIT(3, metric="precomputed_graph").fit((indices, distances)), (indices, distances)),
        (GIT(3, metric="precomputed").fit(pairwise_distances(X)), pairwise_distances(X)),
    ]
    monkeypatch.setitem(persistence.RESULTS, name, with_one_field_more(persistence.RESULTS[name]))
    for model, samples in models:
        monkeypatch.undo()
        model.save(path)
        monkeypatch.setitem(persistence.RESULTS, name, with_one_field_more(persistence.RESULTS[name]))
        np.testing.assert_array_equal(GIT.load(path).predict(samples), model.labels_)


def test_a_field_of_the_future_is_named(tmp_path):
    path = tmp_path / "model.npz"
    GIT(3).fit(X).save(path)
    tamper(path, lambda header, arrays: fields_of(header, "topo_graph").update(colour=None))
    with pytest.raises(ModelFileError, match="TopoGraph has the field 'colour'"):
        GIT.load(path)


def test_notes_are_kept_beside_the_model(tmp_path):
    path = tmp_path / "model.npz"
    model = GIT(3).fit(X)
    model.save(path)
    assert read_notes(path) == {}
    model.save(path, notes={"id": "customer", "centres": np.arange(3.0), "rows": [1, 2]})
    notes = read_notes(path)
    assert notes["id"] == "customer"
    assert notes["rows"] == [1, 2]
    np.testing.assert_array_equal(notes["centres"], [0, 1, 2])
    np.testing.assert_array_equal(GIT.load(path).labels_, model.labels_)


def test_a_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    model = GIT(3).fit(X)
    model.save(path)
    whole = path.read_bytes()

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        model.save(path)
    assert path.read_bytes() == whole
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(TypeError, match="search"):
        GIT(3, search=NearestNeighbors()).fit(X).save(path)


def test_no_pickle_inside(tmp_path):
    path = tmp_path / "model.npz"
    GIT(3).fit(X).save(path)
    with zipfile.ZipFile(path) as file:
        assert all(name.endswith(".npy") for name in file.namelist())
        assert b"pickle" not in b"".join(file.read(name) for name in file.namelist())


def test_pickles_are_small_and_threads_agree():
    samples = make_blobs(20_000, 10, random_state=0)[0]
    model = GIT(3).fit(samples)
    assert len(pickle.dumps(model)) < 1.5 * samples.nbytes
    fresh = samples[:2000] + 0.1
    expected = GIT(3).fit(samples).predict(fresh)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: model.predict(fresh), range(8)):
            np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(fresh), expected)
