"""Memory of a fit: a search needs little more than the samples and their neighbours."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT, find_neighbors

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 60))[rng.integers(0, 40, 12_000)] * 2 + rng.normal(size=(12_000, 60)) * 0.95 ** np.arange(60)


def peak_bytes(call):
    """Return the most memory that a call has allocated; the first call compiles."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("search", ["exact", "approximate"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_search_takes_the_memory_of_samples_and_neighbors(dtype, search):
    points, k = X.astype(dtype), 40
    neighbors = len(X) * k * (4 + points.itemsize)
    peak = peak_bytes(lambda: find_neighbors(points, n_neighbors=k, search=search))
    assert peak < 4 * neighbors + 4 * points.nbytes
    np.testing.assert_array_equal(points, X.astype(dtype))


def test_a_long_text_is_not_copied_to_every_row():
    frame = pd.DataFrame({"x": rng.normal(size=3000), "note": [f"n{i % 30}" for i in range(3000)]})
    frame.loc[0, "note"] = "long " * 20_000
    assert peak_bytes(lambda: GIT(2).fit(frame).profile(frame)) < 100e6
