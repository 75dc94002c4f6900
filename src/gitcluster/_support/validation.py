"""Checks of parameters, shared by the stages and the estimator. An error names the parameter, the value, the remedy."""

from collections.abc import Collection
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_integer(name: str, value: Any, *, low: int) -> int:
    """``value`` as an int not below ``low``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r} of type {type(value).__name__}.")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {name}={value}.")
    return int(value)


def check_n_neighbors(n_neighbors: Any, n_samples: int) -> int:
    """``n_neighbors`` as an int that ``n_samples`` samples can serve."""
    k = check_integer("n_neighbors", n_neighbors, low=1)
    if k >= n_samples:
        raise ValueError(
            f"n_neighbors={k} needs more than {k} samples, got n_samples = {n_samples}; "
            f"a sample does not count as its own neighbour. Use n_neighbors <= {n_samples - 1}."
        )
    return k


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """``n_clusters`` as an int that ``n_samples`` samples can fill."""
    c = check_integer("n_clusters", n_clusters, low=1)
    if c > n_samples:
        raise ValueError(
            f"n_clusters={c} is more than the number of samples, n_samples = {n_samples}. Ask for fewer clusters."
        )
    return c


def check_n_jobs(n_jobs: Any) -> None:
    """Raise where ``n_jobs`` is no number of threads."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None, a number of threads or -1 for all, got n_jobs={n_jobs!r}.")


def check_unmasked(name: str, *arrays: Any) -> None:
    """Raise if an array has masked entries, which numpy's functions would take for their values."""
    for array in arrays:
        if isinstance(array, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(array).sum())):
            also = ", or use a data frame with NaN and name its columns in `columns`" if name == "X" else ""
            raise ValueError(f"{name} must have no masked entries, got {masked}. Fill them{also}.")


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """``value`` as one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}.")
    return value


def check_proportions(proportions: Any) -> NDArray[np.float64]:
    """Positive finite ratios in any scale, normalised to sum 1."""
    check_unmasked("proportions", proportions)
    try:
        shares = np.asarray(proportions, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"proportions must be a list of positive numbers such as [1, 0.5, 0.1], got {proportions!r}."
        ) from None
    if shares.ndim != 1 or shares.size == 0:
        raise ValueError(
            f"proportions must be a non-empty list of positive numbers, one per cluster, got {proportions!r}."
        )
    if not np.all(np.isfinite(shares)) or np.any(shares <= 0):
        raise ValueError(
            f"proportions must be positive and finite, got {proportions!r}. "
            "Leave out the clusters that are not expected."
        )
    shares = shares / shares.max()
    return np.asarray(shares / shares.sum())


def check_sample_weight(weights: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Finite weights >= 0, one per sample, not all 0."""
    if weights is None:
        return None
    check_unmasked("sample_weight", weights)
    try:
        given = np.asarray(weights)
        found = np.array(given, dtype=np.float64) if given.dtype.kind != "c" else None
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise ValueError(f"sample_weight must be real numbers, one per sample, got {weights!r}.")
    if found.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), one weight per sample, got {found.shape}.")
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError("sample_weight must be finite and >= 0.")
    if not (found > 0).any():
        raise ValueError("sample_weight is zero for every sample: all sample weights are zero. Give some weight.")
    if not 1e-100 <= found.max() <= 1e100:
        raise ValueError(f"sample_weight must be from 1e-100 to 1e100, got up to {found.max():g}. Rescale the weights.")
    return found


def check_memory(needed: float, remedy: str) -> None:
    """Raise before ``needed`` bytes are allocated that this machine does not have."""
    free = available_memory()
    if needed > free:
        raise MemoryError(f"This needs about {needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free. {remedy}")


def available_memory() -> float:
    """Bytes that can be allocated without swapping; infinite where the system does not say (it does on Linux)."""
    free = float("inf")
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = 1024.0 * int(lines["MemAvailable"].split()[0])
        limit, used = (Path("/sys/fs/cgroup", name).read_text() for name in ("memory.max", "memory.current"))
        free = min(free, float(limit) - float(used))  # "max" where there is no limit
    except (OSError, ValueError, KeyError):
        pass
    return free
