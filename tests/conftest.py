"""Settings, data and strategies that several test files share, and one line about the tests that were skipped."""

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples every time, so that nobody's first run fails by luck; HYPOTHESIS_PROFILE=random looks for new ones.
settings.register_profile("random", max_examples=200, deadline=None, derandomize=False, print_blob=True)
settings.register_profile("default", max_examples=25, deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

DATA = Path(os.environ["GITCLUSTER_DATA"]).absolute() if os.environ.get("GITCLUSTER_DATA") else None
"""The folder of the paper's data sets, or None."""

WANTED = {
    r"GITCLUSTER_DATA": "the data of GITCLUSTER_DATA",
    r"could not import '(\w+)": r"\1",
    r"^(\w+) is not installed": r"\1",
    r"^wants ([^:]+)": r"\1",
}
"""What a test that was skipped wants, by the reason that it gave."""


@pytest.fixture
def load_data():
    """``load_data(name)`` -> X, y of a data set in the folder named by GITCLUSTER_DATA."""

    def load(name):
        if DATA is None:
            pytest.skip(f"GITCLUSTER_DATA does not name a folder that has {name}.npz")
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{path.name} is not in GITCLUSTER_DATA={DATA}")
        with np.load(path) as data:
            return data["X"].astype(np.float64), data["y"].astype(np.int64)

    return load


def describe_skips(reasons):
    """One line about tests that were skipped, the most frequent reason first.

    >>> describe_skips(["could not import 'polars': No module named 'polars'", "wants Chromium: ...", "on Windows"] * 2)
    '6 skipped: 2 want polars, 2 want Chromium, 2 "on Windows"'
    """
    counts = Counter(_shorten(reason) for reason in reasons)
    return f"{counts.total()} skipped: " + ", ".join(f"{count} {what}" for what, count in counts.most_common())


def _shorten(reason):
    for pattern, wanted in WANTED.items():
        if found := re.search(pattern, reason):
            return f"want {found.expand(wanted)}"
    return f'"{reason}"'


def pytest_terminal_summary(terminalreporter):
    """Say in one line what was skipped and why; ``-rs`` lists the tests."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        reasons = [str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped]
        terminalreporter.write_line(describe_skips(reasons))


def nasty_sets():
    """Small data sets with links, duplicates, plateaus and extremes, by name."""
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
