"""DPA against its definition, step by step."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform

from benchmarks.methods import density_peak_advanced as dpa
from benchmarks.methods.density_peak_advanced import DensityPeakAdvanced
from benchmarks.tests.conftest import blobs


def nearest(X, n_neighbors):
    """Distances and sample numbers of nearest neighbours, without the sample itself."""
    distances = squareform(pdist(X))
    np.fill_diagonal(distances, np.inf)
    neighbors = np.argsort(distances, axis=1)[:, :n_neighbors]
    return np.take_along_axis(distances, neighbors, axis=1), neighbors


def test_dimension_by_definition():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    distances, _ = nearest(X, 2)
    ratio = np.sort(distances[:, 1] / distances[:, 0])
    slope = np.linalg.lstsq(np.log(ratio)[:, None], -np.log(1 - np.arange(400) / 400), rcond=None)[0][0]
    assert dpa.estimate_dimension(X) == round(slope) == 3
    plane = rng.uniform(size=(400, 2)) @ rng.normal(size=(2, 5))
    assert dpa.estimate_dimension(np.repeat(plane, 2, axis=0)) == 2
    assert dpa.estimate_dimension(np.indices((5, 5)).reshape(2, -1).T.astype(float)) == 2


def test_neighbors_of_equal_density_by_definition():
    X = blobs(n=100, gap=4.0)
    distances, neighbors = nearest(X, 120)
    expected = []
    for i in range(len(X)):
        for k in range(3, 120):
            own, other = distances[i, k - 1] ** 2, distances[neighbors[i, k], k - 1] ** 2
            if -2 * k * np.log(4 * own * other / (own + other) ** 2) > 23.92812698:
                break
        expected.append(k)
    found = dpa.count_equal_neighbors(np.log(distances), neighbors, 2)
    assert found.tolist() == expected
    assert min(expected) < 30 < max(expected)


def test_density_is_the_maximum_of_the_likelihood():
    X = blobs(n=40)
    distances, neighbors = nearest(X, 48)
    density = dpa.estimate_density(distances, neighbors, 2)
    for i in (0, 50, 119):
        k = density.n_neighbors[i]
        shells = np.pi * np.diff(distances[i, :k] ** 2, prepend=0)
        rank = np.arange(1, k + 1)

        def loss(p, shells=shells, rank=rank):
            return (shells * np.exp(p[0] + p[1] * rank / len(rank))).sum() - (p[0] + p[1] * rank / len(rank)).sum()

        best = minimize(loss, [density.log_density[i], 0], method="BFGS", options={"gtol": 1e-8})
        assert density.log_density[i] == pytest.approx(best.x[0], abs=1e-4)
        assert density.error[i] == pytest.approx(np.sqrt((4 * k + 2) / (k * (k - 1))))


def test_equal_distances_have_no_slope():
    distances = np.repeat([[1.0, 2.0, 2.0, 3.0]], 5, axis=0)
    assert dpa.fit_linear_density(distances, np.full(5, 4), 2).tolist() == pytest.approx([np.log(4)] * 5)


def test_peaks_and_saddles_by_definition():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    _, neighbors = nearest(X, 79)
    g, k = rng.normal(size=80), rng.integers(3, 12, size=80)
    reach = [set(neighbors[i, : k[i]]) for i in range(80)]
    rivals = [[j for j in range(80) if j in reach[i] or i in reach[j]] for i in range(80)]
    peaks = np.array([i for i in range(80) if all(g[j] <= g[i] for j in rivals[i])])
    assert np.flatnonzero(dpa.find_peaks(neighbors, k, g)).tolist() == peaks.tolist()

    labels = dpa.climb(X, neighbors[:, :20], g, peaks)
    for i in set(range(80)) - set(peaks):
        assert labels[i] == labels[next(j for j in neighbors[i] if g[j] > g[i])]

    best = {}
    for i in set(range(80)) - set(peaks):
        foreign = [j for j in neighbors[i, : k[i]] if labels[j] != labels[i] and j not in peaks]
        if foreign and next(b for b in neighbors[foreign[0]] if labels[b] == labels[i]) == i:
            pair = tuple(sorted((labels[i], labels[foreign[0]])))
            best[pair] = max(best.get(pair, i), i, key=lambda s: g[s])
    saddles = dpa.find_saddles(neighbors, k, g, labels, peaks)
    assert {(a, b): saddles[a, b] for a, b in np.argwhere(saddles >= 0) if a < b} == best
    assert (saddles == saddles.T).all()
    assert len(best) > 2


@pytest.mark.parametrize(
    ("Z", "target", "border"),
    [
        (0.0, [0, 1, 2], [3, 3, 1]),
        (0.9, [0, 0, 2], [1, -np.inf, 1]),  # 4 stands out of 3 by 1, less than 0.9 * (1 + 0.2)
        (2.0, [0, 0, 2], [1, -np.inf, 1]),  # 3.5 stands out of 1 by 2.5, more than 2 * (1 + 0.2)
        (2.1, [0, 0, 0], [-np.inf] * 3),
    ],
)
@pytest.mark.parametrize(("near", "far"), [(4, 5), (5, 4)])
def test_merging_of_a_known_topography(Z, target, border, near, far):
    # peaks of height 6, 4 and 3.5; the highest two meet at height 3, the last meets one at 1 and the other at 0.5
    density = dpa.Density(np.array([6, 4, 3.5, 3, 1, 0.5]), np.array([1, 1, 1, 0.2, 0.2, 0.2]), np.ones(6, dtype=int))
    saddles = np.array([[-1, 3, far], [3, -1, near], [far, near, -1]])
    found, left = dpa.merge_peaks(np.arange(3), saddles, density, Z)
    assert found.tolist() == target
    assert left.max(axis=1).tolist() == border


def test_halo_is_below_the_highest_saddle():
    X = blobs(n=150, gap=3.0)
    all_labels = DensityPeakAdvanced(1.0, halo=False).fit_predict(X)
    model = DensityPeakAdvanced(1.0).fit(X)
    core = model.labels_ >= 0
    assert 0 < core.mean() < 1
    assert (model.labels_[core] == all_labels[core]).all()
    for cluster in np.unique(all_labels[~core]):
        inside = all_labels == cluster
        assert model.log_density_[inside & ~core].max() < model.log_density_[inside & core].min()


def test_units_do_not_matter():
    X = blobs(n=60, gap=3.0)
    assert (DensityPeakAdvanced().fit_predict(X) == DensityPeakAdvanced().fit_predict(X * 1024)).all()
