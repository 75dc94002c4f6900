"""Every hostile input gives a right answer or an error that names the problem: the two checks, and the data.

``answer_or_named_error`` runs a call and accepts its result, or a ValueError, TypeError or MemoryError that gitcluster
or scikit-learn's validation raises with a sentence. ``check_model`` says what makes a fitted model a right answer.
Both count, and pytest prints how many hostile inputs were tried.
"""

import dis
import faulthandler
import signal
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

UNKNOWN = ("selection.proportion_distance", "selection.misplaced", "representations.score")
"""Tables with NaN where there is no prior, or a representation was left out."""
NAMED = (ValueError, TypeError, MemoryError)
OURS = str(Path(gitcluster.__file__).parent)
tried = {"answers": 0, "errors": 0}


@pytest.fixture(autouse=True)
def _no_hang():
    """An endless loop fails its test; one in compiled code, which no signal reaches, ends the process.

    The first limit is on the time of the processor, so that a busy machine fails no test.
    """
    limited = hasattr(signal, "SIGPROF")  # not on Windows
    if limited:
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, 120)
    faulthandler.dump_traceback_later(900, exit=True)
    yield
    if limited:
        signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.cancel_dump_traceback_later()


def stop(*_):
    pytest.fail("takes too long")


def pytest_terminal_summary(terminalreporter):
    total = sum(tried.values())
    if total:
        text = f"{total} hostile inputs tried: {tried['answers']} answers, {tried['errors']} named errors"
        terminalreporter.write_line(text)


def answer_or_named_error(call, name=None):
    """What ``call`` returns, or None where it raises a named error; the error's text has ``name`` in it.

    Any other exception, and any warning but gitcluster's own, goes through to pytest.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
            tried["answers"] += 1
        except Exception as error:
            if not is_named(error):
                raise
            found, text = None, str(error)
            tried["errors"] += 1
    assert found is not None or name is None or name in text, f"the error does not name {name}: {text}"
    for warning in caught:
        assert is_ours(warning), f"leaked {warning.category.__name__}: {warning.message} ({warning.filename})"
    return found


def must_answer(call):
    found = answer_or_named_error(lambda: (call(),))
    assert found is not None, "refused"
    return found[0]


def must_refuse(call, name=None):
    assert answer_or_named_error(lambda: (call(),), name) is None, "accepted"


def is_named(error):
    """Whether an error was raised on purpose, by gitcluster or scikit-learn, and says more than a word."""
    if not isinstance(error, NAMED) or isinstance(error, (np.linalg.LinAlgError, UnicodeError)):
        return False
    frames, tb = [], error.__traceback__
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    ours = max((i for i, file in enumerate(files) if file.startswith(OURS)), default=-1)
    if any("sklearn" in Path(file).parts for file in files[ours + 1 :]):  # the wrapper around fit lies before our files
        return len(str(error)) > 15
    last = frames[-1]
    code = last.tb_frame.f_code
    raised = any(i.offset == last.tb_lasti and i.opname == "RAISE_VARARGS" for i in dis.get_instructions(code))
    return code.co_filename.startswith(OURS) and raised and len(str(error)) > 15


def is_ours(warning):
    if issubclass(warning.category, ConvergenceWarning):
        return True
    return warning.category is UserWarning and any(word in str(warning.message) for word in ("pip install", "Use "))


def rows_of(X):
    """Rows as something that can be compared, -0.0 equal to 0.0; None where there are none."""
    if issparse(X):
        X = X.toarray() if X.shape[1] < 1000 else np.empty(0)
    X = np.asarray(X)
    return np.unique(X + 0.0, axis=0, return_inverse=True)[1].ravel() if X.dtype.kind == "f" and X.size else None


def arrays_in(value, where=""):
    """All arrays in a tree of dicts and tuples, with their names."""
    if isinstance(value, np.ndarray):
        yield where, value
    elif issparse(value):
        yield where, value.data
    elif isinstance(value, float):
        yield where, np.array(value)
    elif is_dataclass(value):
        yield from arrays_in(vars(value), where)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from arrays_in(item, f"{where}.{key}")
    elif isinstance(value, (tuple, list)):
        for key, item in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from arrays_in(item, f"{where}.{key}")


def check_model(model, X, refit=True, **fit_params):
    """What holds for every fitted model. Returns it."""
    shaped = X[0] if model.metric == "precomputed_graph" and isinstance(X, tuple) else X
    n_samples = shaped.shape[0] if hasattr(shaped, "shape") else len(shaped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        _check_attributes(model, n_samples)
        _check_predictions(model, X)
        rows = rows_of(X) if not model.metric.startswith("precomputed") else None
        constrained = {"y", "must_link", "cannot_link"} & fit_params.keys() or model.min_cluster_size is not None
        if model.variant == "adaptive" and not constrained and rows is not None and model.max_cluster_size is None:
            label_of = np.full(rows.max() + 1, -2)
            label_of[rows] = model.labels_
            assert (label_of[rows] == model.labels_).all(), "duplicates have different labels"
        if refit:
            again = clone(model).fit(X, **fit_params)
            np.testing.assert_array_equal(again.labels_, model.labels_)
    return model


def _check_attributes(model, n_samples):
    labels = model.labels_
    assert labels.shape == (n_samples,)
    assert labels.dtype.kind == "i"
    assert labels.min() >= (0 if model.noise is None else -1)
    assert labels.max() < model.n_clusters_
    assert len(np.unique(labels[labels >= 0])) == model.n_clusters_, "an empty cluster"
    if isinstance(model.n_clusters, (int, np.integer)) and model.variant != "authors":
        assert model.n_clusters_ <= model.n_clusters
    for name, values in arrays_in(vars(model)):
        if values.dtype.kind == "f" and not name.endswith(UNKNOWN):
            assert not np.isnan(values).any(), f"NaN in {name}"
    assert np.isfinite(model.log_intensity_).all()
    assert not np.isnan(model.intensity_).any()
    assert model.probabilities_.shape == model.outlier_scores_.shape == (n_samples,)
    assert ((model.probabilities_ >= 0) & (model.probabilities_ <= 1 + 1e-9)).all()
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)).all()
    assert model.proportions_.shape == (model.n_clusters_,)
    assert (model.proportions_ >= 0).all()
    assert model.proportions_.sum() <= 1 + 1e-9
    if model.noise is None:
        assert model.proportions_.sum() == pytest.approx(1)
    assert model.n_connected_components_ >= 1


def _check_predictions(model, X):
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.score_samples(X), model.log_intensity_)
    if issparse(X) and not model.metric.startswith("precomputed"):  # memberships are for dense samples
        if X.shape[1] > 1000:
            return
        X = X.toarray()
    shares = model.predict_proba(X)
    assert shares.shape == (len(model.labels_), model.n_clusters_)
    assert not np.isnan(shares).any()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    clustered = model.labels_ >= 0
    np.testing.assert_array_equal(shares.argmax(axis=1)[clustered], model.labels_[clustered])


def check_fit(X, fit_params=None, must=False, **options):
    """Fit a hostile input; check the answer, and that X stays as it is."""
    fit_params = fit_params or {}
    before = copy_of(X)
    fit = must_answer if must else answer_or_named_error
    model = fit(lambda: GIT(**options).fit(X, **fit_params))
    assert same(X, before), "X was overwritten"
    return model if model is None else check_model(model, X, **fit_params)


def copy_of(X):
    if isinstance(X, tuple):
        return tuple(copy_of(part) for part in X)
    return X.copy() if hasattr(X, "copy") else X


def same(X, before):
    if isinstance(X, tuple):
        return all(same(a, b) for a, b in zip(X, before, strict=True))
    if issparse(X):
        if X.format in ("csr", "csc"):
            return all(np.array_equal(getattr(X, a), getattr(before, a)) for a in ("data", "indices", "indptr"))
        return (before != X).nnz == 0
    return np.asarray(X).tobytes() == np.asarray(before).tobytes()


def blobs(n=40, seed=0):
    rng = np.random.default_rng(seed)
    half = n // 2
    return np.concatenate([rng.normal(size=(half, 2)), rng.normal(9, 0.7, size=(n - half, 2))])


def extreme_sets():
    """Finite data at the ends of what floats can hold, and of what data can look like, by name."""
    rng = np.random.default_rng(1)
    X = blobs()
    whole = rng.integers(-9, 9, (36, 2)).astype(float)
    tiny, huge = np.finfo(float).tiny, np.finfo(float).max
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return {
        "denormals": whole * 5e-324,
        "denormals and ones": np.column_stack([whole[:, 0] * 5e-324, X[:36, 0]]),
        "smallest normal": whole * tiny,
        "blobs at 1e-300": X * 1e-300,
        "1e300": X * 1e300 / 20,
        "-1e300": -X * 1e300 / 20,
        "1e300 and 1e-300": X * [1e300 / 20, 1e-300],
        "opposite 1e308": rng.choice([-1e308, 1e308], (30, 2)),
        "opposite 1e308 and blobs": np.concatenate([X, [[1e308, -1e308], [-1e308, 1e308]]]),
        "largest float": rng.choice([-huge, 0.0, huge], (30, 3)),
        "one largest float": np.concatenate([X, [[huge, 0.0]]]),
        "signed zeros": np.where(rng.random((30, 2)) < 0.5, -0.0, 0.0),
        "signed zeros and a one": np.concatenate([np.where(rng.random((30, 2)) < 0.5, -0.0, 0.0), [[1.0, -0.0]]]),
        "signed zeros in blobs": np.column_stack([X, np.where(rng.random(40) < 0.5, -0.0, 0.0)]),
        "all powers of ten": 10.0 ** np.linspace(-300, 300, 40)[:, None],
        "all powers of two, both signs": np.concatenate([2.0 ** np.arange(-60, 60), -(2.0 ** np.arange(-60, 60))])[
            :, None
        ],
        "99 % duplicates": np.concatenate([np.zeros((198, 2)), [[1.0, 2.0], [5.0, 5.0]]]),
        "99 % duplicates of two": np.repeat([[0.0, 0.0], [1.0, 1.0], [7.0, 7.0], [7.5, 7.0]], [99, 99, 1, 1], axis=0),
        "all equal": np.full((25, 3), 0.1),
        "all zero": np.zeros((25, 3)),
        "two values": np.repeat([[0.0], [1.0]], 20, axis=0),
        "noise in the last bit": 1 + np.finfo(float).eps * rng.integers(0, 3, (40, 2)),
        "blobs and noise in the last bit": np.column_stack([X, 0.1 + 1e-17 * rng.integers(0, 9, 40)]),
        "1e16 and whole numbers": 1e16 + rng.integers(0, 9, (40, 2)),
        "two at 1e12": np.concatenate([X, [[1e12, 1e12], [1e12, -1e12]]]),
        "two equal at 1e12": np.concatenate([X, [[1e12, 1e12], [1e12, 1e12]]]),
        "one at 1e300": np.concatenate([X, [[1e300, 1e300]]]),
        "equidistant": np.eye(30),
        "star": np.concatenate([np.zeros((1, 30)), np.eye(30)]),
        "heavy hub": np.concatenate([np.zeros((40, 20)), np.eye(20)]),
        "circle": np.column_stack([np.cos(angle), np.sin(angle)]),
        "chain": np.arange(300.0)[:, None],
        "growing chain": np.cumsum(1.1 ** np.arange(200))[:, None],
        "one feature of many constant": np.column_stack([X[:, :1], np.ones((40, 50))]),
        "more features than samples": rng.normal(size=(5, 300)),
        "two samples": np.array([[0.0, 1.0], [2.0, -3.0]]),
        "two equal samples": np.ones((2, 2)),
        "two samples at the ends": np.array([[huge], [-huge]]),
        "three samples": np.array([[0.0], [1.0], [-1e308]]),
        "four samples, two equal": np.array([[0.0], [0.0], [1.0], [3.0]]),
        "heavy tails": rng.standard_cauchy((60, 2)) ** 5,
        "single precision": X.astype(np.float32),
        "single precision, largest": rng.choice(np.array([-3.4e38, 0, 3.4e38], np.float32), (30, 2)),
        "single precision, denormals": (whole * 1e-45).astype(np.float32),
        "single precision, far off": X.astype(np.float32) + np.float32(1e7),
        "single precision, last bit": np.float32(1)
        + np.finfo(np.float32).eps * rng.integers(0, 3, (40, 2)).astype("f"),
        "single precision, two at 1e12": np.concatenate([X, [[1e12, 1e12], [1e12, -1e12]]]).astype(np.float32),
    }


def name_of(value):
    """A name for a parameter that is the same in every process."""
    return repr(value).split(" at 0x")[0]
