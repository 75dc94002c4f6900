"""Data sets by name: from a folder, from scikit-learn, from archives; and the errors."""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA

from gitcluster import datasets
from gitcluster.datasets import ARCHIVES, DIGESTS, KINGDOMS, SETS, DatasetError, load, make_smile, names


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """Return scikit-learn's data folder, which does not exist yet. Nothing can be downloaded."""

    def fail(**_):
        raise OSError("no network in tests")

    monkeypatch.delenv("GITCLUSTER_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(datasets, "UCI", "http://127.0.0.1:1/")
    monkeypatch.setattr(datasets, "AUTHORS", "http://127.0.0.1:1/")
    monkeypatch.setattr(datasets, "fetch_openml", fail)
    monkeypatch.setattr(datasets, "fetch_olivetti_faces", fail)
    return tmp_path / "home"


def put_archive(home, name, rows, member=None):
    """Write an archive of UCI to the cache."""
    path, usual = ARCHIVES[name]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    file = home / "gitcluster" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member or usual, text.getvalue())
    return file


def hepatitis(X, y):
    """Gaps are question marks and become means; the first patient counts for the means only."""
    X[5, 2] = X[9, 2] = X[7, 18] = np.nan
    all_rows = np.concatenate([np.full((1, 19), 7.0), X])
    labels = np.r_[0, y] + 1
    rows = [[label, *("?" if np.isnan(v) else v for v in row)] for label, row in zip(labels, all_rows, strict=True)]
    return rows, np.where(np.isnan(X), np.nanmean(all_rows, axis=0), X)


def frogs(X, y):
    """Species, in alphabetic order, are the classes."""
    rows = [[*row, "family", "genus", f"species {'ABCDEFGHIJ'[k]}", 1] for row, k in zip(X.tolist(), y, strict=True)]
    return [["header"], *rows], X


def codon(X, y):
    """Commas in the names of two species push their last shares out of the table."""
    X = np.round(X / X.sum(axis=1, keepdims=True), 5)
    X[486, 63] = round(1 - X[486, :63].sum(), 5)
    X[5063, 62:] = 0, round(1 - X[5063, :62].sum(), 5)
    rows = [[KINGDOMS[label], 0, 100, 1000, "a species", *row] for label, row in zip(y, X.tolist(), strict=True)]
    rows[7][4] = "a species, quoted"
    rows[486][4:] = ["one", " the other virus", *rows[486][5:-1]]
    rows[5063][4:] = ["a strain", "12;I", "-", *rows[5063][5:-2]]
    return [["header"], *rows], X


@pytest.mark.parametrize("make_rows", [hepatitis, frogs, codon])
def test_archives_are_read(make_rows, home):
    name = make_rows.__name__
    n_features, sizes = SETS[name]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows, expected = make_rows(rng.integers(1, 90, (len(y), n_features)) / 4, y)
    put_archive(home, name, rows)
    samples, labels = load(name)
    np.testing.assert_allclose(samples, expected)
    np.testing.assert_array_equal(labels, y)


@pytest.mark.parametrize(
    ("name", "rows", "member"),
    [
        ("hepatitis", [], None),
        ("frogs", [["header"], [1, 2]], None),
        ("codon", [["header"], ["vrl"] + [1] * 60], None),
    ],
)
def test_a_damaged_archive_raises(name, rows, member, home):
    path = put_archive(home, name, rows, member)
    for _ in range(2):
        with pytest.raises(DatasetError, match=name):
            load(name)
        path.write_bytes(b"<html>Please log in</html>")


def test_images_come_from_openml_and_scikit_learn(monkeypatch):
    y = np.concatenate([np.repeat(np.arange(10), SETS["mnist"][1]), np.zeros(10_000, int)])
    X = np.zeros((70_000, 784), np.uint8)
    X[:, 5] = 51 * (np.arange(70_000) % 6)
    stored = {554: (X, y.astype(str).astype(object))}
    monkeypatch.setattr(datasets, "fetch_openml", lambda *, data_id, **_: stored[data_id])
    images, labels = load("mnist")  # the first 60,000 are the training images
    assert images.dtype == np.float32
    np.testing.assert_allclose(images[:, 5], (np.arange(60_000) % 6) / 5, rtol=1e-6)
    np.testing.assert_array_equal(labels, y[:60_000])
    faces = np.random.default_rng(0).random((400, 4096), np.float32), np.repeat(np.arange(40), 10)
    monkeypatch.setattr(datasets, "fetch_olivetti_faces", lambda **_: faces)
    np.testing.assert_array_equal(load("olivetti")[0], faces[0])


def test_a_failed_download_names_the_remedy(home, monkeypatch):
    for name in ("frogs", "mnist", "olivetti"):
        with pytest.raises(DatasetError, match=rf"GITCLUSTER_DATA.*{name}\.npz"):
            load(name)
    assert not [path for path in home.rglob("*") if path.is_file()]
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home.with_name("file")))
    home.with_name("file").write_text("not a folder")
    with pytest.raises(DatasetError, match="hepatitis"):
        load("hepatitis")
    monkeypatch.setattr("gitcluster._support.optional.is_installed", lambda package: package != "pooch")
    with pytest.raises(ImportError, match=r"gitcluster\[datasets\]"):
        load("frogs")


@pytest.mark.parametrize("name", DIGESTS)
def test_drawn_sets_are_read_from_the_authors_files(name, home, load_data):
    X, y = load_data(name)
    path = home / "gitcluster" / f"{name.removeprefix('toy_')}.csv"
    path.parent.mkdir(parents=True)
    for ending in ("\n", "\r\n"):
        lines = [",".join(map(repr, (*row, label + 1.0))) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        path.write_text(ending.join(lines), newline="")
        samples, labels = load(name)
        np.testing.assert_array_equal(samples, X)
        np.testing.assert_array_equal(labels, y)
    path.write_text("\n".join(["0,0,0,1"[-2 * X.shape[1] - 1 :], *lines[1:]]))
    with pytest.raises(DatasetError, match=name):
        load(name)


def test_files_in_the_users_folder_come_first(tmp_path, monkeypatch):
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    for name, (n_features, sizes) in SETS.items():
        y = np.repeat(np.arange(len(sizes)), sizes).astype(np.int16)
        np.savez_compressed(tmp_path / f"{name}.npz", X=np.ones((len(y), n_features), "f4"), y=y)
        if name in DIGESTS:
            with pytest.raises(DatasetError, match=name):
                load(name)
            continue
        X, labels = load(name)
        assert (X.dtype, labels.dtype) == (np.float32, np.int64)
        assert (X == 1).all()
        np.testing.assert_array_equal(labels, y)


def test_wrong_files_in_the_users_folder_are_named(tmp_path, monkeypatch):
    X, y = load("iris")
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    path = tmp_path / "iris.npz"
    for arrays in (
        {"X": X},
        {"X": X[:, :3], "y": y},
        {"X": X, "y": np.where(np.arange(150) == 50, 0, y)},
        {"X": np.where(X > 7, np.nan, X), "y": y},
        {"X": X.astype(object), "y": y},
        None,
    ):
        np.savez(path, **arrays) if arrays else path.write_bytes(b"PK")
        with pytest.raises(DatasetError, match=r"iris\.npz"):
            load("iris")


@pytest.mark.parametrize("name", names())
def test_the_stored_sets_are_those_of_the_paper(name, load_data, monkeypatch):
    load_data(name)
    shipped = load(name) if name in ("iris", "wine", "cancer") else None
    monkeypatch.setenv("GITCLUSTER_DATA", str(DATA))
    X, y = load(name)
    assert X.dtype == (np.float32 if name in ("olivetti", "mnist", "fmnist") else np.float64)
    if shipped:
        np.testing.assert_array_equal(shipped[0], X)
        np.testing.assert_array_equal(shipped[1], y)


def test_an_unknown_name_is_refused():
    for name in ("iriss", 3, []):
        with pytest.raises(ValueError, match="name"):
            load(name)


def test_the_page_lists_every_set():
    page = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:4]] for line in page.splitlines() if line[:3] == "| `"]
    assert rows == [[name, f"{sum(sizes):,} x {p:,}", str(len(sizes))] for name, (p, sizes) in SETS.items()]


def test_a_smile_has_four_parts_of_equal_size():
    for size in (8, 9, 1003):
        X, y = make_smile(size, noise=0)
        assert X.shape == (size, 2)
        assert set(np.bincount(y)) <= {size // 4, size // 4 + 1}
    for parameters in ({"n_samples": 3}, {"noise": np.nan}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            make_smile(**parameters)
    np.testing.assert_allclose(np.abs(make_smile(random_state=0)[0]).sum(), 1037.2555596330453)
