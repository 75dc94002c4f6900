"""Checks of parameters: an error names the parameter, the value and the remedy."""

from pathlib import Path

import numpy as np
import pytest

from gitcluster._support import validation

WRONG = [
    (lambda: validation.check_integer("depth", 2.0, low=1), TypeError, "depth must be an integer, got 2.0"),
    (lambda: validation.check_integer("depth", 0, low=1), ValueError, "depth must be at least 1, got depth=0"),
    (lambda: validation.check_n_neighbors(5, 5), ValueError, "Use n_neighbors <= 4"),
    (lambda: validation.check_n_jobs(0), ValueError, "n_jobs=0"),
    (lambda: validation.check_proportions([1, -1]), ValueError, "positive and finite"),
    (lambda: validation.check_sample_weight([0.0, 0.0], 2), ValueError, "zero for every sample"),
    (lambda: validation.check_sample_weight([1.0], 2), ValueError, r"shape \(2,\)"),
]


def test_what_is_wrong_is_named():
    for check, error, message in WRONG:
        with pytest.raises(error, match=message):
            check()


def test_numbers_of_numpy_are_numbers():
    assert validation.check_integer("depth", np.int8(3), low=1) == 3
    assert validation.check_n_clusters(np.uint16(2), 2) == 2
    np.testing.assert_allclose(validation.check_proportions((3, 1)), [0.75, 0.25])


def test_available_memory_is_read_or_unlimited(monkeypatch):
    assert validation.available_memory() > 0
    monkeypatch.setattr(validation, "Path", lambda *_: Path("/nowhere"))
    assert validation.available_memory() == np.inf
