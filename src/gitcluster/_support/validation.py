"""Checks of parameters. An error names the parameter, its value and a remedy."""

from collections.abc import Collection
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Return ``value`` as an int of at least ``low``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}.")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {name}={value}.")
    return int(value)


def check_n_neighbors(n_neighbors: Any, n_samples: int) -> int:
    """Return ``n_neighbors`` as an int below ``n_samples``."""
    k = check_integer("n_neighbors", n_neighbors, low=1)
    if k >= n_samples:
        raise ValueError(f"n_neighbors must be below n_samples = {n_samples}, got n_neighbors={k}.")
    return k


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return ``n_clusters`` as an int of at most ``n_samples``."""
    c = check_integer("n_clusters", n_clusters, low=1)
    if c > n_samples:
        raise ValueError(f"n_clusters must be at most n_samples = {n_samples}, got n_clusters={c}.")
    return c


def check_n_jobs(n_jobs: Any) -> None:
    """Raise ValueError if ``n_jobs`` is not a number of threads."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None, a number of threads or -1 for all, got n_jobs={n_jobs!r}.")


def check_unmasked(name: str, *arrays: Any) -> None:
    """Raise ValueError if an array has masked entries, whose values numpy's functions would use."""
    for array in arrays:
        if isinstance(array, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(array).sum())):
            also = ", or use a data frame with NaN and name its columns in `columns`" if name == "X" else ""
            raise ValueError(f"{name} must have no masked entries, got {masked}. Fill them{also}.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}.")
    return value


def check_proportions(proportions: Any) -> NDArray[np.float64]:
    """Return positive finite ratios, normalised to the sum 1."""
    check_unmasked("proportions", proportions)
    try:
        shares = np.asarray(proportions, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.ndim != 1 or shares.size == 0 or not np.isfinite(shares).all() or (shares <= 0).any():
        raise ValueError(f"proportions must be positive numbers such as [1, 0.5, 0.1], got {proportions!r}.")
    shares = shares / shares.max()
    return np.asarray(shares / shares.sum())


def check_sample_weight(weights: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return finite weights >= 0, one per sample, not all 0."""
    if weights is None:
        return None
    check_unmasked("sample_weight", weights)
    array = np.asarray(weights)
    if array.dtype.kind == "O":  # as of columns of pandas that may have missing values
        with suppress(TypeError, ValueError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" or array.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must be {n_samples} real numbers, one per sample, "
            f"got an array of {array.dtype} of shape {array.shape}."
        )
    checked = array.astype(np.float64)
    if not 0 <= checked.min() <= checked.max() <= 1e100:  # false for NaN
        raise ValueError(f"sample_weight must be from 0 to 1e100, got {checked.min():g} to {checked.max():g}.")
    if checked.max() < 1e-100:
        raise ValueError("sample_weight must contain a positive value, got weights that are all zero.")
    return checked
