"""Generated sets: sizes, seeds, likeness to the paper's drawn sets; its constructions with noise and scales."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from gitcluster import datasets

MAKERS = [datasets.make_smile, datasets.make_chainlink, datasets.make_impossible, datasets.make_s_set]


@pytest.mark.parametrize("make", MAKERS)
def test_generated_sets(make):
    X, y = make(random_state=1)
    assert X.shape == (len(y), X.shape[1])
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(make(random_state=np.random.RandomState(1))[0], X)
    assert not np.array_equal(make(random_state=2)[0], X)
    for size in (30, 31, 997):
        small, labels = make(size, random_state=1)
        assert len(small) == size
        assert len(np.unique(labels)) == len(np.unique(y))
    assert np.isfinite(make(100, noise=0, random_state=1)[0]).all()
    for bad in ({"n_samples": 3}, {"n_samples": 1.5}, {"noise": -1}, {"noise": np.nan}, {"noise": "much"}):
        with pytest.raises((TypeError, ValueError), match=next(iter(bad))):
            make(**bad)


@pytest.mark.parametrize(("name", "share"), [("smile", 1), ("chainlink", 1), ("impossible", 0.99), ("s_set", 0.98)])
def test_generated_clusters_are_apart(name, share):
    X, y = datasets.load(name)
    nearest = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
    assert (y[nearest] == y).mean() >= share


@pytest.mark.parametrize("name", ["circles", "moons", "smile", "chainlink", "impossible"])
def test_generated_sets_are_like_the_papers(name, load_data):
    X, y = load_data(datasets.describe(name).file.removesuffix(".npz"))
    made, labels = datasets.load(name)
    np.testing.assert_array_equal(np.bincount(labels), np.bincount(y))
    for label in np.unique(y):
        extent = np.ptp(X, axis=0)
        cluster, likeness = X[y == label], made[labels == label]
        assert (np.abs(cluster.mean(axis=0) - likeness.mean(axis=0)) < 0.06 * extent).all()
        assert (np.abs(cluster.std(axis=0) - likeness.std(axis=0)) < 0.03 * extent).all()


def test_constructions_of_the_paper():
    X, y = datasets.make_noisy_moons(0.2, random_state=2021)
    assert X.shape == (2000, 2)
    np.testing.assert_allclose([X.min(axis=0), X.max(axis=0)], [[0, 0], [3, 3]], atol=1e-12)
    X, y = datasets.make_scaled_circles(0)
    assert np.bincount(y).tolist() == [1000, 1000]
    enlarged, labels = datasets.make_scaled_circles(50)
    np.testing.assert_array_equal(enlarged, np.concatenate([X, -50 * X]))
    np.testing.assert_array_equal(labels, np.concatenate([y, y + 2]))
    X, y = datasets.make_noisy_impossible(0.5)
    base, labels = datasets.load("impossible")
    np.testing.assert_array_equal(X[: len(base)], base)
    np.testing.assert_array_equal(y[: len(base)], labels)
    assert (y[len(base) :] == 7).all()
    assert len(X) == len(base) + len(base) // 2
    assert np.abs(X[len(base) :].mean(axis=0)).max() < 0.5
    assert 9.9 < np.abs(X).max() <= 10
    for call in (datasets.make_scaled_circles, datasets.make_noisy_impossible):
        for bad in (-1, np.nan, np.inf):
            with pytest.raises(ValueError, match="must be a finite number >= 0"):
                call(bad)
