"""The spanning tree that the hdbscan package is handed."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

from benchmarks import methods
from benchmarks.methods import METHODS, spanning_tree
from benchmarks.tests.conftest import blobs


@pytest.mark.parametrize("min_samples", [1, 7])
@pytest.mark.parametrize("X", [blobs(), np.round(blobs()), np.repeat(blobs(n=4), 6, axis=0), blobs(n=2)])
def test_spanning_tree_is_the_lightest(X, min_samples, monkeypatch):
    distances = squareform(pdist(X))
    core = np.sort(distances, axis=1)[:, min(min_samples, len(X) - 1)]
    reach = np.maximum(np.maximum(distances, core), core[:, None])
    weights, nearest = [], reach[0].copy()
    outside = np.arange(len(X)) > 0
    while outside.any():
        i = np.flatnonzero(outside)[nearest[outside].argmin()]
        weights.append(nearest[i])
        outside[i], nearest = False, np.minimum(nearest, reach[i])
    for listed in (2, 30):
        monkeypatch.setattr(spanning_tree, "N_LISTED", listed)
        tree = spanning_tree.mutual_reachability_tree(X, min_samples)
        np.testing.assert_allclose(np.sort(tree.data)[::2], np.sort(weights), rtol=1e-6, atol=1e-6)
        assert (tree != tree.T).nnz == 0


def test_hdbscan_of_a_spanning_tree(monkeypatch):
    hdbscan = pytest.importorskip("hdbscan")
    monkeypatch.setattr(methods, "LARGE", 0)
    X = blobs(n=100)
    for options in ({"min_cluster_size": 15}, {"min_cluster_size": 20, "min_samples": 1}):
        expected = hdbscan.HDBSCAN(**options, approx_min_span_tree=False).fit_predict(X)
        assert expected.max() > 0
        assert adjusted_rand_score(expected, METHODS["hdbscan"].fit(X, **options)) == 1
