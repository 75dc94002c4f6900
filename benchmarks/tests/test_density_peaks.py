"""FSFDP against its definition."""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from benchmarks.methods import pair_distances
from benchmarks.methods.density_peaks import DensityPeaks
from benchmarks.tests.conftest import blobs


def test_density_peaks_by_definition(monkeypatch):
    X = blobs(n=12)
    distances, n = squareform(pdist(X)), len(X)
    kernel_size = np.sort(pdist(X))[int(0.5 + 0.05 * n * (n - 1) / 2)]
    density = [sum(np.exp(-((distances[i, j] / kernel_size) ** 2)) for j in range(n) if j != i) for i in range(n)]
    order = sorted(range(n), key=lambda i: -density[i])
    delta, parent = np.zeros(n), np.arange(n)
    for place, i in enumerate(order[1:], start=1):
        parent[i] = min(order[:place], key=lambda j: distances[i, j])
        delta[i] = distances[i, parent[i]]
    delta[order[0]] = delta.max()
    centers = np.flatnonzero((np.array(density) > 0.5) & (delta > 3))
    labels = np.full(n, -1)
    labels[centers] = np.arange(len(centers))
    for i in order:
        labels[i] = labels[i] if labels[i] >= 0 else labels[parent[i]]

    for block in (pair_distances.BLOCK, 100):
        monkeypatch.setattr(pair_distances, "BLOCK", block)
        model = DensityPeaks(0.05, min_density=0.5, min_delta=3).fit(X)
        assert model.kernel_size_ == kernel_size
        np.testing.assert_allclose(model.density_, density)
        np.testing.assert_allclose(model.delta_, delta)
        assert model.centers_.tolist() == centers.tolist()
        assert len(centers) > 1
        assert model.labels_.tolist() == labels.tolist()
    best = np.argsort(-np.array(density) * delta)[:4]
    assert DensityPeaks(0.05, n_clusters=4).fit(X).centers_.tolist() == sorted(best.tolist())


def test_the_densest_sample_is_always_a_center():
    model = DensityPeaks(min_density=1e9, min_delta=1e9).fit(blobs())
    assert model.centers_.tolist() == [model.density_.argmax()]
    assert set(model.labels_) == {0}
