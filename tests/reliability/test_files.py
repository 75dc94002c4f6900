"""Saved models: damaged, forged and foreign files; threads and processes."""

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.persistence import ModelFileError

from .conftest import blobs, check_model, must_answer, tried

X = blobs()
NEW = np.random.default_rng(5).normal(4, 6, (30, 2))
REFUSED = (ModelFileError, FileNotFoundError, IsADirectoryError, PermissionError)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    GIT(2, noise=0.1).fit(X, sample_weight=np.arange(40) + 0.5).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def expected():
    return GIT(2, noise=0.1).fit(X, sample_weight=np.arange(40) + 0.5)


def loads_right_or_not(path, expected=None):
    """A file gives the model that was saved, or an error on the file."""
    try:
        model = GIT.load(path)
    except REFUSED as error:
        if len(str(error)) <= 15:
            raise
        tried["errors"] += 1
        return None
    tried["answers"] += 1
    if expected is not None:
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.predict(NEW), expected.predict(NEW))
        np.testing.assert_array_equal(model.predict_proba(NEW), expected.predict_proba(NEW))
        np.testing.assert_array_equal(model.score_samples(NEW), expected.score_samples(NEW))
        np.testing.assert_array_equal(model.cut(n_clusters=1), expected.cut(n_clusters=1))
    return model


def test_files_cut_off(saved, expected, tmp_path):
    rng = np.random.default_rng(0)
    for length in [0, 1, 3, 4, 30, len(saved) - 1, len(saved) - 22, *rng.integers(0, len(saved), 60)]:
        (tmp_path / "cut.npz").write_bytes(saved[:length])
        assert loads_right_or_not(tmp_path / "cut.npz") is None


def test_files_with_more_at_the_ends(saved, expected, tmp_path):
    for text in (b"x" + saved, saved + b"x", saved + saved, b"\0" * 100 + saved, saved + b"\0" * 70_000, saved[::-1]):
        (tmp_path / "more.npz").write_bytes(text)
        loads_right_or_not(tmp_path / "more.npz", expected)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits(saved, expected, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for n_flips in [1] * 60 + [2, 5, 100, 1000]:
        text = np.frombuffer(saved, np.uint8).copy()
        places = rng.integers(0, len(text), n_flips)
        text[places] ^= (1 << rng.integers(0, 8, n_flips)).astype(np.uint8)
        (tmp_path / "flipped.npz").write_bytes(text.tobytes())
        loads_right_or_not(tmp_path / "flipped.npz", expected)


def test_every_bit_of_the_directory(saved, expected, tmp_path):
    start = saved.rindex(b"PK\x05\x06")
    for place in range(start, len(saved)):
        text = bytearray(saved)
        text[place] ^= 0xFF
        (tmp_path / "flipped.npz").write_bytes(text)
        loads_right_or_not(tmp_path / "flipped.npz", expected)


def test_blocks_overwritten(saved, expected, tmp_path):
    rng = np.random.default_rng(0)
    for block in (b"\0" * 64, b"\xff" * 64, rng.bytes(64), b"PK\x03\x04" * 16):
        for place in rng.integers(0, len(saved) - 64, 15):
            text = saved[:place] + block + saved[place + 64 :]
            (tmp_path / "hole.npz").write_bytes(text)
            loads_right_or_not(tmp_path / "hole.npz", expected)


def opened(saved):
    with np.load(io.BytesIO(saved)) as file:
        arrays = {name: file[name] for name in file.files if name != "header"}
        return json.loads(file["header"].tobytes()), arrays


def forge(path, header, arrays):
    """A file whose checksums are right."""
    for name, array in arrays.items():
        if isinstance(header, dict) and isinstance(header.get("arrays"), dict) and name in header["arrays"]:
            checksum = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
            header["arrays"][name] = [array.dtype.str, list(array.shape), checksum]
    with open(path, "wb") as file:
        np.savez(file, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def works_or_not(path):
    """A forged file does not load, or gives a model that answers in range: no crash, no other error."""
    model = loads_right_or_not(path)
    if model is None:
        return
    for call in (model.predict, model.predict_proba, model.score_samples):
        try:
            answer = call(NEW)
        except ValueError:
            continue
        assert len(answer) == len(NEW)
    assert ((model.labels_ >= -1) & (model.labels_ < model.n_clusters_)).all()


def places_in(tree, path=()):
    """Paths to all leaves and branches of a JSON tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, item in items:
        yield from places_in(item, (*path, key))


@pytest.mark.parametrize(
    "value", [None, -1, 10**30, "word", [], {}, {"array": "a0"}, {"float": "nan"}, {"list": [1]}, True], ids=repr
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_headers_replaced(saved, tmp_path, value):
    rng = np.random.default_rng(0)
    places = [p for p in places_in(opened(saved)[0]) if p and p[0] != "arrays"]
    for number in rng.permutation(len(places))[:25]:
        header, arrays = opened(saved)
        *way, last = places[number]
        branch = header
        for key in way:
            branch = branch[key]
        branch[last] = value
        forge(tmp_path / "forged.npz", header, arrays)
        works_or_not(tmp_path / "forged.npz")


@pytest.mark.parametrize("value", [0, 1, 99, -1, "2", 1.5, None, [], True])
def test_other_versions(saved, tmp_path, value):
    header, arrays = opened(saved)
    header["version"] = value
    forge(tmp_path / "other.npz", header, arrays)
    assert loads_right_or_not(tmp_path / "other.npz") is None


@pytest.mark.parametrize(
    "header", [None, 1, "text", [], {}, {"format": "gitcluster-model"}, {"format": "gitcluster-model", "version": 1},
               {"format": "other", "version": 1}, {"format": "gitcluster-model", "version": 1, "arrays": {},
               "state": {}},
               {"format": "gitcluster-model", "version": 1, "arrays": {}, "state": None},
               {"format": "gitcluster-model", "version": 1, "arrays": {"a": []}, "state": {"dict": {}}},
               {"format": "gitcluster-model", "version": 1, "arrays": {}, "state": {"dict": {"parameters": 1,
               "fitted": 2}}},
               {"format": "gitcluster-model", "version": 1, "arrays": {}, "state": {"tuple": "os.system",
               "fields": ["true"]}}],
    ids=lambda h: str(h)[:40],
)  # fmt: skip
def test_headers_of_nothing(tmp_path, header):
    forge(tmp_path / "nothing.npz", header, {})
    assert loads_right_or_not(tmp_path / "nothing.npz") is None


def test_deep_and_endless_headers(tmp_path):
    for text in (
        "[" * 100_000,
        '{"a":' * 5000 + "1" + "}" * 5000,
        "\ud800".encode("utf-8", "surrogatepass"),
        b"\xff\xfe",
        b"",
    ):
        raw = text.encode() if isinstance(text, str) else text
        with open(tmp_path / "deep.npz", "wb") as file:
            np.savez(file, header=np.frombuffer(raw, np.uint8))
        assert loads_right_or_not(tmp_path / "deep.npz") is None
    tree = {"list": []}
    for _ in range(400):
        tree = {"list": [tree]}
    forge(tmp_path / "deep.npz", {"format": "gitcluster-model", "version": 1, "arrays": {}, "state": tree}, {})
    assert loads_right_or_not(tmp_path / "deep.npz") is None


class Evil:
    def __reduce__(self):
        return os.abort, ()


def test_foreign_files(tmp_path):
    files = {
        "pickle": pickle.dumps(GIT(2).fit(X)), "evil pickle": pickle.dumps(Evil()), "text": b"labels 0 1 2\n" * 50,
        "empty": b"",
        "json": b'{"format": "gitcluster-model"}', "png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "zip": b"PK\x05\x06" + bytes(18),
        "npy magic": b"\x93NUMPY\x01\x00", "gzip": b"\x1f\x8b\x08" + bytes(40), "elf": b"\x7fELF" + bytes(100),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_bytes(text)
        assert loads_right_or_not(tmp_path / name) is None
    np.savez(tmp_path / "other.npz", X=X)
    np.savez(tmp_path / "header.npz", header=X)
    np.savez(tmp_path / "objects.npz", header=np.array([{"a": 1}, Evil()], dtype=object))
    np.save(tmp_path / "array.npy", X)
    np.save(tmp_path / "objects.npy", np.array([Evil()], dtype=object))
    with zipfile.ZipFile(tmp_path / "words.npz", "w") as file:
        file.writestr("header.npy", "no array")
    with zipfile.ZipFile(tmp_path / "bytes.npz", "w") as file:
        file.writestr("header", "no array")
    (tmp_path / "folder.npz").mkdir()
    names = (
        "other.npz",
        "header.npz",
        "objects.npz",
        "array.npy",
        "objects.npy",
        "words.npz",
        "bytes.npz",
        "folder.npz",
        "no.npz",
    )
    for name in names:
        assert loads_right_or_not(tmp_path / name) is None


def test_an_array_said_to_be_huge(tmp_path):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": "|u1", "fortran_order": False, "shape": (2**62,)})
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as file:
        file.writestr("header.npy", text.getvalue())
    assert loads_right_or_not(tmp_path / "huge.npz") is None


MODELS = {
    "default": (GIT(), X, {}),
    "paper": (GIT(3, variant="paper"), X, {}),
    "authors": (GIT(3, variant="authors"), X, {}),
    "noise": (GIT(2, noise="auto"), X, {}),
    "weights": (GIT(2), X, {"sample_weight": np.arange(40)}),
    "constraints": (GIT(2), X, {"cannot_link": [(0, 1)]}),
    "proportions": (GIT(proportions=[1, 2]), X, {}),
    "array of proportions": (GIT(proportions=np.array([1, 2])), X, {}),
    "scale": (GIT(2, scale=[1, 0]), X, {}),
    "no scale": (GIT(2, scale=None), X, {}),
    "cosine": (GIT(2, metric="cosine"), X, {}),
    "sparse": (GIT(2), sparse.csr_array(np.round(np.abs(X))), {}),
    "distances": (GIT(2, metric="precomputed"), pairwise_distances(X), {}),
    "graph": (GIT(2, metric="precomputed_graph"), kneighbors_graph(X, 5, mode="distance"), {}),
    "single": (GIT(2), X.astype(np.float32), {}),
    "all equal": (GIT(), np.ones((9, 2)), {}),
    "two samples": (GIT(), X[:2], {}),
    "numpy parameters": (GIT(np.int64(2), noise=np.float64(0.1), n_neighbors=np.int32(3)), X, {}),
    "1e308": (GIT(2), X * 1e307, {}),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back(name, tmp_path):
    model, data, fit_params = MODELS[name]
    model = must_answer(lambda: model.fit(data, **fit_params))
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    check_model(loaded, data, **fit_params)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.predict(data[:7]), model.predict(data[:7]))
    np.testing.assert_array_equal(loaded.probabilities_, model.probabilities_)


def test_paths(tmp_path):
    model = GIT(2).fit(X)
    (tmp_path / "folder.npz").mkdir()
    for path in (tmp_path / "no folder" / "model.npz", tmp_path / "folder.npz"):
        with pytest.raises((OSError, ModelFileError)):
            model.save(path)
    (tmp_path / "folder.npz").rmdir()
    model.save(str(tmp_path / "named"))
    assert os.listdir(tmp_path) == ["named.npz"]
    model.save(tmp_path / "named.npz")
    assert os.listdir(tmp_path) == ["named.npz"]
    for path in (None, 5, b"\0", "", X):
        with pytest.raises((*REFUSED, TypeError)):
            GIT.load(path)


def test_a_failed_save_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "model.npz"
    GIT(2).fit(X).save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="cannot be saved"):
        GIT(2).fit(X).set_params(scale=object()).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.npz"]


@pytest.mark.parametrize("name", ["default", "noise", "cosine", "sparse", "distances", "graph", "single"])
def test_eight_threads_predict_at_once(name):
    model, data, fit_params = MODELS[name]
    model.fit(data, **fit_params)
    new = {"distances": data[:20] + 0.1 if name == "distances" else None, "graph": data}.get(name, data[:20] * 1.01)
    expected = model.predict(new)
    model.fit(data, **fit_params)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: model.predict(new), range(64)):
            np.testing.assert_array_equal(labels, expected)


def test_eight_threads_fit_at_once():
    expected = GIT(2).fit(X).labels_
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: GIT(2).fit(X).labels_, range(16)):
            np.testing.assert_array_equal(labels, expected)


def test_another_process_loads_the_model(saved, expected, tmp_path):
    (tmp_path / "model.npz").write_bytes(saved)
    np.save(tmp_path / "new.npy", NEW)
    code = "import numpy, gitcluster; print(*gitcluster.GIT.load('model.npz').predict(numpy.load('new.npy')))"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert result.stdout.split() == expected.predict(NEW).astype(str).tolist(), result.stderr
