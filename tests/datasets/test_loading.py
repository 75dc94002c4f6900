"""Data sets by name: from a folder, from scikit-learn, from a server; and the errors."""

import os
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA

from gitcluster import datasets
from gitcluster.datasets import DatasetError, load, loading, names
from gitcluster.datasets.loading import ARCHIVES, GENERATED, SETS

from .archives import make_archive, pack
from .web_server import serve


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_downloaded_once_and_read(name, site, home):
    content, X, y = make_archive(name)
    site.files[ARCHIVES[name][0]] = content
    for _ in range(2):
        loaded = load(name)
        np.testing.assert_allclose(loaded[0], X, rtol=1e-12)
        np.testing.assert_array_equal(loaded[1], y)
    assert site.requests == [ARCHIVES[name][0]]
    assert files_in(home) == [Path(ARCHIVES[name][0]).name]


@pytest.mark.parametrize(("name", "number"), [("mnist", 554), ("fmnist", 40996)])
def test_images_are_the_first_60000_of_openml(name, number, monkeypatch):
    y = np.concatenate([np.repeat(np.arange(10), SETS[name][1]), np.zeros(10_000, int)])
    X = np.zeros((70_000, 784), np.uint8)
    X[:, 5] = 51 * (np.arange(70_000) % 6)
    sets = {number: (X, y.astype(str).astype(object))}
    monkeypatch.setattr(loading, "fetch_openml", lambda *, data_id, **_: sets[data_id])
    images, labels = load(name)
    assert images.dtype == np.float32
    np.testing.assert_allclose(images[:, 5], (np.arange(60_000) % 6) / 5, rtol=1e-6)
    np.testing.assert_array_equal(labels, y[:60_000])


def test_faces_are_those_of_scikit_learn(monkeypatch):
    X, y = np.random.default_rng(0).random((400, 4096), np.float32), np.repeat(np.arange(40), 10)
    monkeypatch.setattr(loading, "fetch_olivetti_faces", lambda **_: (X, y))
    assert load("olivetti")[0].dtype == np.float32
    np.testing.assert_array_equal(load("olivetti")[0], X)


def test_a_broken_connection_leaves_no_file(site, home):
    content, X, _ = make_archive("hepatitis")
    site.files[ARCHIVES["hepatitis"][0]] = content
    site.cut = 1000
    with pytest.raises(DatasetError, match="hepatitis"):
        load("hepatitis")
    assert files_in(home) == []
    site.cut = None
    np.testing.assert_allclose(load("hepatitis")[0], X)


def test_without_a_network_the_error_names_the_file_to_copy(monkeypatch, home):
    with serve() as (_, gone):
        pass
    monkeypatch.setattr(loading, "UCI", gone)
    for name in ("frogs", "mnist", "olivetti"):
        with pytest.raises(DatasetError, match=rf"GITCLUSTER_DATA.*{name}\.npz"):
            load(name)
    assert files_in(home) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("hepatitis", b"<html>Please log in</html>"),
        ("hepatitis", make_archive("hepatitis")[0][:1000]),
        ("hepatitis", pack("other.data", "1")),
        ("hepatitis", pack("hepatitis.data", "")),
        ("hepatitis", pack("hepatitis.data", ("1," * 19 + "1\n") * 155)),
        ("frogs", pack("Frogs_MFCCs.csv", "header\n1,2\n")),
        ("codon", pack("codon_usage.csv", "header\nvrl" + ",1" * 60)),
    ],
)
def test_a_damaged_archive_is_named(name, content, site, home):
    site.files[ARCHIVES[name][0]] = content
    with pytest.raises(DatasetError, match="is damaged") as caught:
        load(name)
    assert str(home / "gitcluster" / ARCHIVES[name][0]) in str(caught.value)


@pytest.mark.parametrize("kind", [ValueError, OSError])
def test_a_wrong_checksum_is_an_error(kind, monkeypatch):
    def fetch(**_):
        raise kind("md5 checksum does not match")

    monkeypatch.setattr(loading, "fetch_openml", fetch)
    with pytest.raises(DatasetError, match=r"mnist.*checksum"):
        load("mnist")


def test_a_cache_that_cannot_be_written(monkeypatch, site, home):
    site.files[ARCHIVES["hepatitis"][0]] = make_archive("hepatitis")[0]
    home.write_text("not a folder")
    with pytest.raises(DatasetError, match="SCIKIT_LEARN_DATA"):
        load("hepatitis")
    home.unlink()
    home.mkdir(mode=0o500)
    if os.access(home, os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(DatasetError, match="SCIKIT_LEARN_DATA"):
        load("hepatitis")


def test_without_pooch_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr("gitcluster._support.optional.is_installed", lambda package: package != "pooch")
    with pytest.raises(ImportError, match=r"pip install 'gitcluster\[datasets\]'"):
        load("frogs")


@pytest.mark.parametrize("name", SETS)
def test_files_of_the_users_folder_come_first(name, tmp_path, monkeypatch):
    n_features, sizes = SETS[name]
    y = np.repeat(np.arange(len(sizes)), sizes).astype(np.int16)
    stem = f"toy_{name}" if name in GENERATED else name
    np.savez_compressed(tmp_path / f"{stem.replace('s_set', 's-set')}.npz", X=np.ones((len(y), n_features), "f4"), y=y)
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    X, labels = load(name) if name in GENERATED else getattr(datasets, f"load_{name}")()
    assert X.dtype == np.float32
    assert labels.dtype == np.int64
    assert (X == 1).all()
    np.testing.assert_array_equal(labels, y)


def test_wrong_files_in_the_users_folder(tmp_path, monkeypatch):
    X, y = load("iris")
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    assert load("iris")[0].shape == X.shape
    path = tmp_path / "iris.npz"
    for arrays in (
        {"X": X},
        {"X": X[:, :3], "y": y},
        {"X": X, "y": y[1:]},
        {"X": X, "y": np.where(np.arange(150) == 50, 0, y)},
        {"X": np.where(X > 7, np.nan, X), "y": y},
        {"X": X.astype(object), "y": y},
    ):
        np.savez(path, **arrays)
        with pytest.raises(DatasetError, match=r"iris\.npz is not the data set"):
            load("iris")
    np.save(tmp_path / "bare.npy", X)
    for content in (b"", b"text", b"PK", (tmp_path / "bare.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"iris\.npz is not the data set"):
            load("iris")
    for folder in (tmp_path / "nowhere", path):
        monkeypatch.setenv("GITCLUSTER_DATA", str(folder))
        with pytest.raises(DatasetError, match="GITCLUSTER_DATA must be a folder"):
            load("iris")


@pytest.mark.parametrize("name", ["iriss", "", None, 3, ["iris"]])
def test_unknown_names(name):
    with pytest.raises(
        ValueError, match=r"`name` must be one of .*Did you mean 'iris'\?" if name == "iriss" else "name"
    ):
        load(name)


@pytest.mark.parametrize("name", [name for name in names() if name not in GENERATED])
def test_the_stored_sets_are_those_of_the_paper(name, load_data, monkeypatch):
    load_data(name)
    shipped = load(name) if name in ("iris", "wine", "cancer") else None
    monkeypatch.setenv("GITCLUSTER_DATA", str(DATA))
    X, y = load(name)
    assert X.dtype == (np.float32 if name in ("olivetti", "mnist", "fmnist") else np.float64)
    if shipped:
        np.testing.assert_array_equal(shipped[0], X)
        np.testing.assert_array_equal(shipped[1], y)


def test_the_page_lists_every_set():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:4]] for line in page.splitlines() if line[:3] == "| `"]
    assert rows == [[name, f"{sum(sizes):,} x {p:,}", str(len(sizes))] for name, (p, sizes) in SETS.items()]
