"""The paper's autoencoder: what it learns, and that one seed has one result."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks.suite import autoencoder
from benchmarks.suite.autoencoder import encode, measure_error

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gitcluster[benchmarks]'")
DIGITS = load_digits().data[:600] / 16


def test_layers_are_mirrored():
    widths = [784, 512, 256, 128, 5, 128, 256, 512, 784]
    weights = autoencoder.first_weights(widths, np.random.RandomState(0))
    assert [array.shape for array in weights[::2]] == list(pairwise(widths))
    assert [len(array) for array in weights[1::2]] == widths[1:]


def test_training_restores_samples_better_than_their_mean():
    random = np.random.RandomState(0)
    weights = autoencoder.first_weights([64, 32, 3, 32, 64], random)
    best, losses = autoencoder.train(DIGITS.astype(np.float32), weights, random, max_epochs=60)
    assert losses[-1] < losses[0]
    error = measure_error([torch.from_numpy(array) for array in best], DIGITS.astype(np.float32)).item()
    assert error < 0.9 * DIGITS.var(axis=0).mean()
    restored = autoencoder.apply(autoencoder.apply(DIGITS, best[:4]), best[4:])  # numpy applies what torch trained
    assert np.mean((restored - DIGITS) ** 2) == pytest.approx(error, rel=1e-5)


def test_one_seed_one_result():
    first, second = (encode(DIGITS, 2, hidden=(32,), max_epochs=2) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)
    assert first.points.shape == (600, 2)
    assert first.n_epochs == 2
    assert not np.allclose(first.points, encode(DIGITS, 2, hidden=(32,), max_epochs=2, seed=1).points)
