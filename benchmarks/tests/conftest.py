"""Fixtures that several test files share: stand-ins for the stored sets, and the stored sets if they are available."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from benchmarks import runner
from benchmarks.suite.datasets import load_set


def blobs(seed=0, n=30, gap=6.0):
    """Return three groups of unequal spread."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(gap * i, 0.6 + 0.3 * i, size=(n, 2)) for i in range(3)])


@pytest.fixture
def load_data():
    """Return ``load_data(name)`` -> X, y of a set in the folder that GITCLUSTER_DATA names."""

    def load(name):
        try:
            return load_set(name)
        except FileNotFoundError as error:
            return pytest.skip(str(error))

    return load


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Return an empty folder in which experiments store their results."""
    folder = tmp_path / "results"
    folder.mkdir()
    monkeypatch.setattr(runner, "FOLDER", folder)
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a data folder with stand-ins of some sets, and an empty cache of embeddings."""
    rng = np.random.default_rng(0)
    classes = rng.integers(4, size=400)
    images = rng.integers(0, 256, size=(4, 784))[classes] + rng.normal(0, 40, size=(400, 784))
    for name, (X, y) in {
        "iris": make_blobs([20, 50, 80], 2, random_state=0),
        "wine": make_blobs([3, 3], 3, random_state=0),
        "toy_moons": make_moons(160, noise=0.05, random_state=0),
        "toy_impossible": make_blobs([40] * 7, 2, random_state=1),
        "mnist": (images.clip(0, 255).astype(np.uint8), classes),
        "fmnist": (images.clip(0, 255).astype(np.uint8), classes),
    }.items():
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path
