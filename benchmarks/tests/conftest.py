"""Data that several test files share: stand-ins for the stored sets, and the stored sets where they are there."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from benchmarks.experiments import dimension_reduction, sensitivity
from benchmarks.suite.datasets import load_set

ROOT = Path(__file__).parents[2]


def blobs(seed=0, n=30, gap=6.0):
    """Three groups of unlike spread."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(gap * i, 0.6 + 0.3 * i, size=(n, 2)) for i in range(3)])


def run_apart(data, *arguments):
    """``python -m benchmarks`` in a process of its own, with ``data`` as folder of the sets."""
    environment = os.environ | {"GITCLUSTER_DATA": str(data), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)


@pytest.fixture
def load_data():
    """``load_data(name)`` -> X, y of a set in the folder that GITCLUSTER_DATA names."""

    def load(name):
        try:
            return load_set(name)
        except FileNotFoundError as error:
            return pytest.skip(str(error))

    return load


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with stand-ins of five sets; one is too small for DPA."""
    folder = tmp_path_factory.mktemp("data")
    clouds, classes = make_blobs([20, 50, 90], 2, random_state=0)
    tiny, halves = make_blobs([3, 3], 3, random_state=0)
    for name, (X, y) in {
        "iris": (clouds, classes),
        "wine": (tiny, halves),
        "frogs": (clouds, classes),
        "toy_moons": make_moons(160, noise=0.05, random_state=0),
        "toy_impossible": make_blobs([40] * 7, 2, random_state=1),
    }.items():
        np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


@pytest.fixture
def images(tmp_path, monkeypatch):
    """A data folder with 400 'images' of four classes, and result files that do not exist."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    X = rng.integers(0, 256, size=(4, 784))[y] + rng.normal(0, 40, size=(400, 784))
    np.savez(tmp_path / "mnist.npz", X=X.clip(0, 255).astype(np.uint8), y=y)
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    for module in (dimension_reduction, sensitivity):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results" / f"{module.__name__.split('.')[-1]}.jsonl")
    monkeypatch.setattr(sensitivity, "SIZES", (30, 40))
    return tmp_path
