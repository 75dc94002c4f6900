"""SpectACl against its definition."""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from benchmarks.methods import pair_distances, spectacl
from benchmarks.methods.spectacl import SpectACl
from benchmarks.tests.conftest import blobs


def test_spectacl_by_definition():
    X = blobs(n=25, gap=2.0)
    model = SpectACl(3, epsilon=1.5, n_eigenvectors=6, random_state=0).fit(X)
    adjacency = (squareform(pdist(X)) <= 1.5) & ~np.eye(len(X), dtype=bool)
    values, vectors = np.linalg.eigh(adjacency.astype(float))
    largest = np.argsort(np.abs(values))[-6:]
    assert np.diff(np.sort(np.abs(values))[-7:]).min() > 1e-3  # the eigenvectors are determined
    np.testing.assert_allclose(
        model.embedding_, np.abs(vectors[:, largest]) * np.sqrt(np.abs(values[largest])), atol=1e-8
    )


def test_spectacl_is_determined_by_its_seed():
    X = np.concatenate([blobs(n=30), blobs(n=30) + 40])
    first, second = (SpectACl(6, epsilon=1.0, random_state=3).fit(X) for _ in range(2))
    assert (first.embedding_ == second.embedding_).all()
    assert (first.labels_ == second.labels_).all()


def test_spectacl_joins_in_small_blocks(monkeypatch):
    X = blobs()
    monkeypatch.setattr(pair_distances, "BLOCK", 500)
    expected = (squareform(pdist(X)) <= 1.5) & ~np.eye(len(X), dtype=bool)
    np.testing.assert_array_equal(spectacl.join_near(X, 1.5).toarray(), expected)


def test_spectacl_rule_for_epsilon():
    X = blobs(n=50)
    epsilon = spectacl.find_epsilon(X)
    distances = squareform(pdist(X))

    def share(radius):
        return ((distances <= radius).sum(axis=1) - 1 >= 10).mean()

    assert share(epsilon) >= 0.99 > share(epsilon * (1 - 1e-12))
    assert SpectACl(3, random_state=0).fit(X).epsilon_ == epsilon
