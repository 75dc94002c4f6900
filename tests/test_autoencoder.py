"""The autoencoder: what it learns, what it keeps, what it refuses. All but the missing package need torch."""

import doctest
import inspect
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gitcluster import GIT
from gitcluster._support import optional
from gitcluster.autoencoder import Autoencoder
from gitcluster.metrics import adjusted_rand_score

needs_torch = pytest.mark.skipif(
    not optional.is_installed("torch"), reason="torch is not installed: pip install 'gitcluster[autoencoder]'"
)
SMALL = {"hidden_layer_sizes": (32, 16), "learning_rate": 0.01, "max_epochs": 20, "batch_size": 32, "random_state": 0}


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:600] / 16


@pytest.fixture(scope="module")
def fitted(digits):
    return Autoencoder(3, **SMALL).fit(digits)


def test_missing_torch_says_the_pip_line(monkeypatch, digits):
    monkeypatch.setattr(optional, "is_installed", lambda package: package != "torch")
    with pytest.raises(ImportError, match=r"Autoencoder\.fit needs the package torch: pip install 'gitcluster\[auto"):
        Autoencoder().fit(digits)


def test_import_does_not_import_torch():
    code = "import sys, gitcluster.autoencoder; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


@needs_torch
@parametrize_with_checks(
    [
        Autoencoder(2, hidden_layer_sizes=(8, 4), max_epochs=3),
        Autoencoder(1, hidden_layer_sizes=(), max_epochs=2, validation_fraction=0, n_jobs=1),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@needs_torch
def test_example_runs():
    text = inspect.getdoc(Autoencoder).replace("  # doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {"Autoencoder": Autoencoder}, "Autoencoder", None, None)
    done = doctest.DocTestRunner().run(example)
    assert done.failed == 0
    assert done.attempted == 6


@needs_torch
def test_layers_are_mirrored(fitted):
    assert [coef.shape for coef in fitted.coefs_] == [(64, 32), (32, 16), (16, 3), (3, 16), (16, 32), (32, 64)]
    assert [len(intercept) for intercept in fitted.intercepts_] == [32, 16, 3, 16, 32, 64]
    assert {array.dtype for array in fitted.coefs_ + fitted.intercepts_} == {np.dtype(np.float32)}


@needs_torch
def test_default_layers_are_those_of_the_paper():
    model = Autoencoder(5, max_epochs=1, random_state=0).fit(np.random.default_rng(0).random((8, 784)))
    assert [len(coef) for coef in model.coefs_] == [784, 512, 256, 128, 5, 128, 256, 512]


@needs_torch
def test_training_restores_samples_better_than_their_mean(fitted, digits):
    restored = fitted.inverse_transform(fitted.transform(digits))
    assert restored.shape == digits.shape
    assert np.mean((restored - digits) ** 2) < 0.7 * digits.var(axis=0).mean()
    assert fitted.loss_curve_[-1] < fitted.loss_curve_[0]


@needs_torch
def test_numpy_applies_the_network_that_torch_trained(digits):
    model = Autoencoder(3, **SMALL | {"max_epochs": 1, "validation_fraction": 0.9}).fit(digits)
    held = np.random.RandomState(0)
    widths = [64, 32, 16, 3, 16, 32, 64]
    for before, after in pairwise(widths):  # the draws of the first weights
        held.uniform(size=(before, after))
        held.uniform(size=after)
    rows = held.permutation(len(digits))[:540]
    restored = model.inverse_transform(model.transform(digits[rows]))
    assert np.mean((restored - digits[rows]) ** 2) == pytest.approx(model.best_loss_, rel=1e-5)


@needs_torch
def test_stops_early_and_keeps_the_best_epoch(digits):
    model = Autoencoder(2, **SMALL | {"learning_rate": 0.5, "max_epochs": 50}, patience=2).fit(digits)
    losses = model.validation_loss_curve_
    assert model.n_epochs_ == len(losses) == len(model.loss_curve_) < 50
    assert model.best_loss_ == min(losses) < losses[-1]


@needs_torch
def test_stops_when_the_gain_is_below_tol(digits):
    assert Autoencoder(2, **SMALL, tol=0.9, patience=3).fit(digits).n_epochs_ == 4


@needs_torch
def test_without_held_out_samples_the_training_loss_decides(digits):
    model = Autoencoder(2, **SMALL, validation_fraction=0).fit(digits)
    assert model.validation_loss_curve_ == []
    assert model.best_loss_ == min(model.loss_curve_)


@needs_torch
def test_one_seed_one_result_and_no_global_state(digits):
    import torch

    before, threads, state = (
        np.random.mtrand._rand.get_state()[1].copy(),
        torch.get_num_threads(),
        torch.get_rng_state(),
    )
    first, second = (
        Autoencoder(2, **SMALL | {"max_epochs": 2}, n_jobs=threads + 1).fit_transform(digits) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    other = Autoencoder(2, **SMALL | {"max_epochs": 2, "random_state": 1}).fit_transform(digits)
    assert not np.allclose(first, other)
    np.testing.assert_array_equal(before, np.random.mtrand._rand.get_state()[1])
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


@needs_torch
def test_pickle_holds_numpy_arrays_alone(fitted, digits):
    stored = pickle.dumps(fitted)
    assert b"torch" not in stored
    np.testing.assert_array_equal(pickle.loads(stored).transform(digits), fitted.transform(digits))


@needs_torch
def test_a_fitted_model_needs_no_torch(monkeypatch, fitted, digits):
    monkeypatch.setattr(optional, "is_installed", lambda package: False)
    assert fitted.transform(digits).shape == (600, 3)


@needs_torch
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_that_of_the_samples(fitted, digits, dtype):
    embedding = fitted.transform(digits.astype(dtype))
    assert embedding.dtype == fitted.inverse_transform(embedding).dtype == dtype


@needs_torch
def test_feature_names(fitted):
    assert list(fitted.get_feature_names_out()) == ["autoencoder0", "autoencoder1", "autoencoder2"]


@needs_torch
def test_verbose_writes_every_epoch(capsys, digits):
    Autoencoder(2, **SMALL | {"max_epochs": 2, "verbose": True}).fit(digits)
    assert capsys.readouterr().err.count("[Autoencoder] epoch") == 2


@needs_torch
def test_in_a_pipeline_before_git():
    X, y = make_blobs(400, 30, centers=4, random_state=0)
    model = make_pipeline(Autoencoder(3, **SMALL), GIT(4)).fit(X / np.abs(X).max())
    assert adjusted_rand_score(y, model[-1].labels_) > 0.9
    clone(model)


@needs_torch
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("n_components", 0, ValueError),
        ("n_components", 2.5, TypeError),
        ("hidden_layer_sizes", 64, TypeError),
        ("hidden_layer_sizes", "64", TypeError),
        ("hidden_layer_sizes", (64, 0), ValueError),
        ("learning_rate", 0, ValueError),
        ("learning_rate", "fast", ValueError),
        ("max_epochs", 0, ValueError),
        ("batch_size", True, TypeError),
        ("validation_fraction", 1.0, ValueError),
        ("tol", float("nan"), ValueError),
        ("patience", 0, ValueError),
        ("n_jobs", 0, ValueError),
    ],
)
def test_bad_parameters_are_named(digits, name, value, error):
    with pytest.raises(error, match=name):
        Autoencoder(**{name: value}).fit(digits)


@needs_torch
def test_bad_samples_are_refused(fitted, digits):
    with pytest.raises(ValueError, match="too large for float32"):
        Autoencoder(2).fit(digits * 1e50)
    with pytest.raises(ValueError, match=r"loss is .* Scale the features"):
        Autoencoder(2, **SMALL).fit(digits * 1e30)
    with pytest.raises(ValueError, match="the embedding has 3"):
        fitted.inverse_transform(digits)


@needs_torch
def test_a_failed_fit_is_no_fit(digits):
    model = Autoencoder(2, **SMALL)
    with pytest.raises(ValueError, match="loss"):
        model.fit(digits * 1e30)
    with pytest.raises(NotFittedError):
        model.transform(digits)
