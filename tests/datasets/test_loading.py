"""Data sets by name: the user's folder, the cache, scikit-learn; and what goes wrong with files and folders."""

import ast
import inspect
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA

from gitcluster import datasets
from gitcluster.datasets import DatasetError, describe, load, loading, names, remote, store

from .stand_ins import stand_in

CATALOG = {name: describe(name) for name in names()}


@pytest.mark.parametrize("damage", ["cut", "flipped", "pickle", "empty", "foreign"])
def test_a_damaged_cache_is_noticed(damage, publish, site, home):
    (content,), X, y = stand_in("hepatitis")
    publish("hepatitis", content)
    load("hepatitis")
    kept = home / "hepatitis.npz"
    whole = kept.read_bytes()
    if damage == "cut":
        kept.write_bytes(whole[:-300])
    elif damage == "flipped":
        kept.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    elif damage == "empty":
        kept.write_bytes(b"")
    elif damage == "pickle":
        np.savez(kept, X=X.astype(object), y=y)
    else:
        np.savez(kept, X=X[:10], y=y[:10])
    with pytest.warns(UserWarning, match=r"hepatitis\.npz .*fetched again"):
        np.testing.assert_allclose(load("hepatitis")[0], X)
    assert len(site.requests) == 2
    load("hepatitis")


def test_a_cache_that_cannot_be_written(publish, tmp_path):
    contents, X, _ = stand_in("hepatitis")
    publish("hepatitis", *contents)
    (tmp_path / "file").write_text("not a folder")
    with pytest.warns(UserWarning, match="cannot be written to .*Give another data_home"):
        np.testing.assert_allclose(load("hepatitis", data_home=tmp_path / "file")[0], X)
    assert load("hepatitis", data_home=tmp_path / "other")[0].shape == X.shape
    assert (tmp_path / "other" / "gitcluster" / "hepatitis.npz").exists()


def test_a_full_disk_loses_no_data(publish, home, monkeypatch):
    contents, X, _ = stand_in("hepatitis")
    publish("hepatitis", *contents)

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.warns(UserWarning, match="No space left"):
        np.testing.assert_allclose(load("hepatitis")[0], X)
    assert not list(home.iterdir())


def test_many_at_once_do_not_disturb_one_another(publish, home):
    contents, X, _ = stand_in("frogs")
    publish("frogs", *contents)
    with ThreadPoolExecutor(4) as pool:
        for loaded, _ in pool.map(load, ["frogs"] * 4):
            np.testing.assert_array_equal(loaded, X)
    assert [path.name for path in home.iterdir()] == ["frogs.npz"]


def test_without_a_home_a_temporary_folder_is_used_and_told(publish, monkeypatch, tmp_path):
    contents, X, _ = stand_in("hepatitis")
    publish("hepatitis", *contents)
    monkeypatch.delenv("SCIKIT_LEARN_DATA")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where neither HOME nor passwd knows the user
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = tmp_path / "scikit_learn_data" / "gitcluster"
    assert load("iris")[0].shape == (150, 4)
    with pytest.warns(UserWarning, match=rf"home folder is not known.* kept in {kept}"):
        np.testing.assert_allclose(load("hepatitis")[0], X)
    assert (kept / "hepatitis.npz").exists()
    np.testing.assert_allclose(load("hepatitis")[0], X)


@pytest.mark.skipif(not hasattr(os, "setuid") or os.getuid() != 0, reason="needs to become a user without a name")
def test_a_user_without_a_name():
    code = "import os; from gitcluster.datasets import load; os.setuid(54321); print(load('smile')[0].shape)"
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "SCIKIT_LEARN_DATA")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "(1001, 2)\n", done.stderr


def test_the_users_folder_goes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    y = np.repeat([2, 0, 1], 50)
    np.savez(tmp_path / "iris.npz", X=np.ones((150, 4), np.float32), y=y.astype(np.int16), names=["a", "b", "c"])
    X, labels = load("iris")
    assert X.dtype == np.float32
    assert (X == 1).all()
    np.testing.assert_array_equal(labels, y)
    assert load("wine")[0].shape == (178, 13)


def test_wrong_files_in_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    X, y = load("iris")
    path = tmp_path / "iris.npz"
    bad = {
        "KeyError": {"X": X},
        r"found \(150, 3\) and \(150,\)": {"X": X[:, :3], "y": y},
        r"found \(150, 4\) and \(149,\)": {"X": X, "y": y[1:]},
        r"expected labels from 0 .*found \(51, 49, 50\)": {"X": X, "y": np.where(np.arange(150) == 50, 0, y)},
        "found other labels": {"X": X, "y": y - 1},
        "found NaN": {"X": np.where(X > 7, np.nan, X), "y": y},
        "found types": {"X": X.astype(str), "y": y},
        "allow_pickle": {"X": X.astype(object), "y": y},
    }
    for message, arrays in bad.items():
        np.savez(path, **arrays)
        with pytest.raises(DatasetError, match=rf"iris\.npz .*{message}"):
            load("iris")
    for content in (b"", b"text", b"PK"):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"iris\.npz cannot be read"):
            load("iris")
    with path.open("wb") as file:
        np.save(file, X)
    with pytest.raises(DatasetError, match=r"expected an \.npz file"):
        load("iris")
    path.unlink()
    path.mkdir()
    with pytest.raises(DatasetError, match=r"iris\.npz cannot be read"):
        load("iris")
    for folder in (tmp_path / "nowhere", Path(__file__)):
        monkeypatch.setenv("GITCLUSTER_DATA", str(folder))
        with pytest.raises(DatasetError, match=f"GITCLUSTER_DATA={folder}"):
            load("iris")


@pytest.mark.parametrize("name", ["iriss", "", None, 3, ["iris"]])
def test_unknown_names_are_told_the_known(name):
    with pytest.raises(ValueError, match=r"name must be one of .*'chainlink'.*'wine'"):
        load(name)


def test_what_scikit_learn_ships_is_the_papers_set(load_data):
    for name in ("iris", "wine", "cancer"):
        X, y = load_data(name)
        np.testing.assert_array_equal(load(name)[0], X)
        np.testing.assert_array_equal(load(name)[1], y)


@pytest.mark.parametrize("name", [name for name in names() if name != "hepatitis_full"])
def test_the_stored_sets_are_those_of_the_catalog(name, monkeypatch, load_data):
    load_data(describe(name).file.removesuffix(".npz"))
    monkeypatch.setenv("GITCLUSTER_DATA", str(DATA))
    X, y = load(name)
    assert X.shape == (describe(name).n_samples, describe(name).n_features)
    assert len(np.unique(y)) == describe(name).n_classes
    if name in ("olivetti", "mnist", "fmnist"):
        assert (X.dtype, X.min(), X.max()) == (np.float32, 0, 1)


def test_every_set_has_a_loader_and_every_name_a_text():
    assert set(loading.MAKERS) | set(remote.PUBLICATIONS) == set(names())
    assert not set(loading.MAKERS) & set(remote.PUBLICATIONS)
    for name in set(names()) - {"hepatitis_full"}:
        assert f"load_{name}" in datasets.__all__
    assert datasets.__all__ == sorted(datasets.__all__, key=lambda name: (not name[0].isupper(), name))
    for name in datasets.__all__:
        assert inspect.getdoc(getattr(datasets, name)), name


@pytest.mark.parametrize("name", [name for name in names() if name != "hepatitis_full"])
def test_loaders_load_their_own_set(name, monkeypatch):
    monkeypatch.setattr("gitcluster.datasets.loaders.load", lambda asked: asked)
    assert getattr(datasets, f"load_{name}")() == name
    assert datasets.load_hepatitis(as_published=False) == "hepatitis_full"


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "set.npz"
    path.write_bytes(b"before")

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        store.write_set(path, np.ones(1), np.ones(1))
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"before"]


def test_the_package_is_a_leaf():
    for path in Path(datasets.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "gitcluster":
                assert node.module.split(".")[1] in ("datasets", "_support"), path
            elif isinstance(node, ast.Import):
                assert all(not alias.name.startswith("gitcluster") for alias in node.names), path


def test_the_page_tells_the_sizes_and_its_example_runs():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()
    rows = {
        line.split("|")[1].strip(" `"): line.split("|")[2:4] for line in page.splitlines() if line.startswith("| `")
    }
    assert set(rows) == set(names())
    for name, (shape, classes) in rows.items():
        sizes = np.array(CATALOG[name].class_sizes)
        assert shape.strip() == f"{sizes.sum():,} x {describe(name).n_features:,}"
        assert int(classes) == len(sizes)
    for block in page.split("```python\n")[1:]:
        exec(block.split("```")[0], {})
