"""Data and strategies that several test files share."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("default", max_examples=25, deadline=None)
settings.load_profile("default")

DATA = Path(os.environ.get("GITCLUSTER_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture
def load_data():
    """``load_data(name)`` -> X, y of a data set in the folder named by GITCLUSTER_DATA."""

    def load(name):
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{path.name} is not in {DATA}; set GITCLUSTER_DATA to the folder that has it")
        with np.load(path) as data:
            return data["X"].astype(np.float64), data["y"].astype(np.int64)

    return load


def nasty_sets():
    """Small data sets with ties, duplicates, plateaus and extremes, by name."""
    rng = np.random.default_rng(0)
    blobs = np.concatenate([rng.normal(size=(20, 2)), rng.normal(6, 0.5, size=(15, 2))])
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    line = np.linspace(0, 1, 25)[:, None]
    return {
        "blobs": blobs,
        "duplicates": np.repeat(rng.normal(size=(9, 3)), 4, axis=0)[rng.permutation(36)],
        "constant feature": np.column_stack([blobs, np.full(len(blobs), 0.1)]),
        "integer grid": grid,
        "scaled grid": grid * 0.1,
        "collinear": np.column_stack([line, 2 * line, -line]),
        "uneven line": np.sort(rng.exponential(size=(30, 1)), axis=0),
        "huge offset": blobs + 1e9,
        "huge scale": blobs * 1e150,
        "one far outlier": np.concatenate([blobs, [[1e6, 1e6]]]),
        "5000 dimensions": rng.normal(size=(14, 5000)),
        "far groups": np.concatenate([rng.normal(size=(8, 2)) + 50 * i for i in range(4)]),
        "equal gaps": np.concatenate([grid[:8] + 50 * np.array([i % 3, i // 3]) for i in range(9)]),
        "two samples": np.array([[0.0, 1.0], [2.0, 3.0]]),
        "three samples": np.array([[0.0], [1.0], [5.0]]),
        "rounded": np.round(rng.normal(size=(40, 2)), 1),
    }
