"""Distances of all pairs in blocks."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from benchmarks.methods import pair_distances
from benchmarks.tests.conftest import blobs


@pytest.mark.parametrize("X", [blobs(), np.round(blobs()), np.repeat(blobs(n=4), 6, axis=0), np.zeros((30, 2))])
def test_distance_of_a_rank_in_small_blocks(X, monkeypatch):
    expected = np.sort(pdist(X))
    ranks = [0, 1, len(expected) // 50, len(expected) // 2, len(expected) - 1]
    assert [pair_distances.smallest_pair(X, rank) for rank in ranks] == expected[ranks].tolist()
    for name, value in {"BLOCK": 100, "LIMIT": 20, "BINS": 8}.items():
        monkeypatch.setattr(pair_distances, name, value)
    found = [pair_distances.smallest_pair(X, rank) for rank in ranks]
    np.testing.assert_allclose(found, expected[ranks], rtol=1e-9)


def test_distances_of_many_features():
    X = np.random.default_rng(0).normal(size=(20, 3 * pair_distances.EXACT_FEATURES))
    np.testing.assert_allclose(pair_distances.distances(X, X), squareform(pdist(X)), atol=1e-6)
