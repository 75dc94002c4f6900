"""A model in a file: what is loaded predicts as what was saved, or does not load."""

import hashlib
import json
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from gitcluster import GIT
from gitcluster.persistence import ModelFileError

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


def test_tampered_files_do_not_give_garbage(tmp_path):
    path = tmp_path / "model.npz"
    GIT(3).fit(X).save(path)
    whole = path.read_bytes()

    def older(header, arrays):
        header["version"] = 0

    def other_class(header, arrays):
        header["state"]["dict"]["fitted"]["dict"]["_reference"]["tuple"] = "system"

    def far_labels(header, arrays):
        name = header["state"]["dict"]["fitted"]["dict"]["local_labels_"]["array"]
        arrays[name] = arrays[name] + 10**6

    def fewer_samples(header, arrays):
        name = header["state"]["dict"]["fitted"]["dict"]["log_intensity_"]["array"]
        arrays[name] = arrays[name][:5]

    def no_parameters(header, arrays):
        header["state"]["dict"]["parameters"]["dict"]["surprise"] = 1

    for change in (older, other_class, far_labels, fewer_samples, no_parameters):
        path.write_bytes(whole)
        tamper(path, change)
        with pytest.raises(ModelFileError):
            GIT.load(path)


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
    with pytest.raises(TypeError, match="neighbors"):
        GIT(3, neighbors=NearestNeighbors()).fit(X).save(path)


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
