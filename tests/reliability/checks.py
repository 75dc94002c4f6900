"""Checks of hostile input: every call returns a correct result, or raises an error that names the problem."""

import traceback
import warnings
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import gitcluster
from gitcluster import GIT

PACKAGE = str(Path(gitcluster.__file__).parent)
MAY_BE_NAN = (
    "selection.proportion_distance",
    "selection.misplaced",
    "representations.score",
    "n_clusters_scores.families",
)
"""Columns with NaN if there is no prior, if a representation was left out, or if no referee was asked."""


def result_or_named_error(call, name=None):
    """Return the result of a call, or None if it raises an error on purpose, whose message contains ``name``.

    Other exceptions, and warnings of other packages, fail the test.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except (ValueError, TypeError, MemoryError) as error:
            if not is_on_purpose(error) or (name is not None and name not in str(error)):
                raise
            result = None
    for warning in caught:
        ours = any(word in str(warning.message) for word in ("pip install", "Use "))
        assert issubclass(warning.category, ConvergenceWarning) or ours, warning
    return result


def must_return(call):
    """Return the result of a call, which must not raise an error."""
    result = result_or_named_error(lambda: (call(),))
    assert result is not None, "refused"
    return result[0]


def must_refuse(call, name=None):
    """Check that a call raises an error whose message contains ``name``."""
    assert result_or_named_error(lambda: (call(),), name) is None, "accepted"


def is_on_purpose(error):
    """Return whether gitcluster raises an error itself, or scikit-learn's validation does."""
    frames = traceback.extract_tb(error.__traceback__)
    raised_here = frames[-1].filename.startswith(PACKAGE) and frames[-1].line.startswith("raise")
    last = max((i for i, frame in enumerate(frames) if frame.filename.startswith(PACKAGE)), default=-1)
    by_sklearn = any("sklearn" in Path(frame.filename).parts for frame in frames[last + 1 :])
    return len(str(error)) > 15 and (raised_here or by_sklearn)


def check_fit(X, fit_params=None, must=False, **options):
    """Fit; return the model after checks of it, or None if the fit raises a named error and ``must`` is false."""
    fit_params, before = fit_params or {}, contents(X)
    model = (must_return if must else result_or_named_error)(lambda: GIT(**options).fit(X, **fit_params))
    assert contents(X) == before, "X was overwritten"
    return model if model is None else check_model(model, X, **fit_params)


def contents(X):
    """Return the bytes of input."""
    if isinstance(X, tuple):
        return tuple(map(contents, X))
    if issparse(X):
        entries = X.tocoo()
        return entries.data.tobytes(), entries.row.tobytes(), entries.col.tobytes()
    return np.asarray(X).tobytes()


def check_model(model, X, **fit_params):
    """Check the properties that every fitted model has, and return it."""
    n_samples = len(model.labels_)
    shaped = X[0] if isinstance(X, tuple) and model.metric == "precomputed_graph" else X
    assert n_samples == (shaped.shape[0] if hasattr(shaped, "shape") else len(shaped))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_attributes(model, n_samples)
        check_predictions(model, X)
        if model.variant == "adaptive" and not model.metric.startswith("precomputed"):
            bounded = model.min_cluster_size is not None or model.max_cluster_size is not None
            if not bounded and not {"y", "must_link", "cannot_link"} & fit_params.keys():
                check_equal_samples(model, X)
        np.testing.assert_array_equal(clone(model).fit(X, **fit_params).labels_, model.labels_)
    return model


def check_attributes(model, n_samples):
    """Check the shapes and ranges of attributes."""
    labels = model.labels_
    assert labels.dtype.kind == "i"
    assert labels.min() >= (0 if model.noise is None else -1)
    assert np.unique(labels[labels >= 0]).tolist() == list(range(model.n_clusters_)), "an empty cluster"
    if isinstance(model.n_clusters, (int, np.integer)) and model.variant != "authors":
        assert model.n_clusters_ <= model.n_clusters
    for name, values in arrays_in(vars(model)):
        if values.dtype.kind == "f" and not name.endswith(MAY_BE_NAN):
            assert not np.isnan(values).any(), f"NaN in {name}"
    assert np.isfinite(model.log_intensity_).all()
    for scores in (model.probabilities_, model.outlier_scores_):
        assert scores.shape == (n_samples,)
        assert ((scores >= 0) & (scores <= 1 + 1e-9)).all()
    assert model.proportions_.shape == (model.n_clusters_,)
    assert model.proportions_.sum() == pytest.approx(1) or model.noise is not None
    assert model.n_connected_components_ >= 1


def check_predictions(model, X):
    """Check that fitted samples are predicted as in the fit, and that memberships are shares."""
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.score_samples(X), model.log_intensity_)
    if issparse(X) and not model.metric.startswith("precomputed"):  # memberships are for dense samples
        if X.shape[1] > 1000:
            return
        X = X.toarray()
    shares = model.predict_proba(X)
    assert shares.shape == (len(model.labels_), model.n_clusters_)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    clustered = model.labels_ >= 0
    np.testing.assert_array_equal(shares.argmax(axis=1)[clustered], model.labels_[clustered])


def check_equal_samples(model, X):
    """Check that equal samples have one label; -0.0 equals 0.0."""
    X = X.toarray() if issparse(X) and X.shape[1] < 1000 else np.asarray(X)
    if X.dtype.kind == "f" and X.ndim == 2:
        group = np.unique(X + 0.0, axis=0, return_inverse=True)[1].ravel()
        label_of_group = np.full(group.max() + 1, -2)
        label_of_group[group] = model.labels_
        np.testing.assert_array_equal(label_of_group[group], model.labels_)


def arrays_in(value, name=""):
    """Yield all arrays in nested dicts, tuples and dataclasses, with their names."""
    if isinstance(value, (np.ndarray, float)):
        yield name, np.asarray(value)
    elif issparse(value):
        yield name, value.data
    elif is_dataclass(value):
        yield from arrays_in(vars(value), name)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_in(item, f"{name}.{key}")
    elif isinstance(value, (tuple, list)):
        for key, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from arrays_in(item, f"{name}.{key}")


def short_repr(value):
    """Return the name of a parametrized value, the same in every process."""
    return repr(value).split(" at 0x")[0][:30]


def blobs(n=40, seed=0):
    """Return two groups of two features."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n // 2, 2)), rng.normal(9, 0.7, size=(n - n // 2, 2))])


def extreme_sets():
    """Return finite data at the limits of floats, with many duplicates, or of few samples, by name."""
    rng, X = np.random.default_rng(1), blobs()
    whole = rng.integers(-9, 9, (36, 2)).astype(float)
    signs = np.where(rng.random((40, 1)) < 0.5, -0.0, 0.0)
    largest = np.finfo(float).max
    return {
        "denormals": whole * 5e-324,
        "1e300 and 1e-300": X * [1e300 / 20, 1e-300],
        "one largest float": np.concatenate([X, [[largest, 0.0]]]),
        "signed zeros": np.concatenate([signs, [[1.0]]]),
        "all powers of ten": 10.0 ** np.linspace(-300, 300, 40)[:, None],
        "99 % duplicates": np.repeat([[0.0, 0.0], [1.0, 1.0], [7.0, 7.0], [7.5, 7.0]], [99, 99, 1, 1], axis=0),
        "all equal": np.full((25, 3), 0.1),
        "noise in the last bit": 1 + np.finfo(float).eps * rng.integers(0, 3, (40, 2)),
        "1e16 and whole numbers": 1e16 + rng.integers(0, 9, (40, 2)),
        "heavy hub": np.concatenate([np.zeros((40, 20)), np.eye(20)]),
        "growing chain": np.cumsum(1.1 ** np.arange(200))[:, None],
        "two samples at the ends": np.array([[largest], [-largest]]),
        "heavy tails": rng.standard_cauchy((60, 2)) ** 5,
        "float32, largest": rng.choice(np.array([-3.4e38, 0, 3.4e38], np.float32), (30, 2)),
        "float32, far off": X.astype(np.float32) + np.float32(1e7),
    }
