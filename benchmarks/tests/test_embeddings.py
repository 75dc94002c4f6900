"""Embeddings are computed once, and the paper's autoencoder learns and repeats."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks.suite import embeddings


def test_embeddings_are_stored_once(data, monkeypatch):
    first = embeddings.load_embedding("mnist", "pca10")
    assert first.points.shape == (400, 10)
    assert (first.points.min(), first.points.max()) == (0, 1)
    monkeypatch.setattr(embeddings, "embed", None)
    np.testing.assert_array_equal(first.points, embeddings.load_embedding("mnist", "pca10").points)
    assert [path.name for path in (data / "cache" / "gitcluster" / "embeddings").iterdir()] == ["mnist-pca10.npz"]


def test_training_restores_samples_and_repeats():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gitcluster[benchmarks]'")
    digits, random = load_digits().data[:600] / 16, np.random.RandomState(0)
    weights = embeddings.first_weights([64, 32, 3, 32, 64], random)
    best, losses = embeddings.train(digits.astype(np.float32), weights, random, max_epochs=60)
    assert losses[-1] < losses[0]
    error = embeddings.measure_error([torch.from_numpy(array) for array in best], digits.astype(np.float32)).item()
    assert error < 0.9 * digits.var(axis=0).mean()
    restored = embeddings.apply(embeddings.apply(digits, best[:4]), best[4:])  # numpy applies what torch trained
    assert np.mean((restored - digits) ** 2) == pytest.approx(error, rel=1e-5)
    first, second = (embeddings.encode(digits, 2, hidden=(32,), max_epochs=2)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
