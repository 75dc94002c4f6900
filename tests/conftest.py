"""Settings and data that several test files share, and one line about the tests that were skipped."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from gitcluster import TopoGraph

# The same examples in every run; HYPOTHESIS_PROFILE=random searches for new ones.
settings.register_profile("random", max_examples=200, deadline=None, derandomize=False, print_blob=True)
settings.register_profile("default", max_examples=25, deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

DATA = Path(os.environ["GITCLUSTER_DATA"]).absolute() if os.environ.get("GITCLUSTER_DATA") else None
"""The folder of the paper's data sets, or None."""


@pytest.fixture
def load_data():
    """Return a function that loads X and y of a data set in the folder named by GITCLUSTER_DATA."""

    def load(name):
        if DATA is None:
            pytest.skip(f"GITCLUSTER_DATA is not set: {name}.npz is needed")
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"GITCLUSTER_DATA lacks a file: {path}")
        with np.load(path) as data:
            return data["X"].astype(np.float64), data["y"].astype(np.int64)

    return load


def pytest_terminal_summary(terminalreporter):
    """Print how many tests were skipped, by reason; ``-rs`` lists the tests."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ").partition(":")[0] for report in reports)
    if reasons:
        counts = ", ".join(f'{count} "{reason}"' for reason, count in reasons.most_common())
        terminalreporter.write_line(f"{reasons.total()} skipped: {counts}")


def make_graph(sizes, edges, weights):
    """Return a topo-graph of local clusters with one boundary pair per edge."""
    edges, sizes = np.array(edges, dtype=np.int64).reshape(-1, 2), np.array(sizes)
    return TopoGraph(sizes, np.arange(len(sizes)), edges, np.log(weights), np.ones(len(edges), int))


def nasty_sets():
    """Return small data sets with ties, duplicates, plateaus and extremes, by name."""
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
