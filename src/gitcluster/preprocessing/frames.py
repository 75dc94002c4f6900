"""Data frames of any library, through narwhals: pandas, polars, pyarrow, DuckDB, lazy frames."""

from collections.abc import Generator
from os import PathLike
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gitcluster.preprocessing.values import as_objects


def as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """Return a data frame of any library, lazy ones collected; None for arrays and everything else."""
    if isinstance(X, nw.DataFrame):
        return X
    if isinstance(X, (np.ndarray, list, tuple)) or issparse(X):
        return None
    names = list(map(str, getattr(X, "columns", ()))) if hasattr(X, "iloc") else []
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"The data frame has columns of the same name: {listed(twice)}. Rename one of each.")
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


REMEDIES: dict[Any, str] = {
    dict: "Use pandas.DataFrame(X)",
    Generator: "Use numpy.array(list(X))",
    set: "Use numpy.array(list(X))",
    (str, bytes, PathLike): "Read the file first, for example with pandas.read_csv, or run `gitcluster fit FILE`",
}
"""Objects that people pass instead of an array or a data frame, and what to do."""


def refuse_containers(X: Any) -> None:
    """Raise TypeError for objects that are neither an array nor a data frame."""
    if isinstance(X, np.ndarray) and X.dtype.names:
        raise TypeError("X must be an array or a data frame, got a structured array. Use pandas.DataFrame(X).")
    for kind, remedy in REMEDIES.items():
        if isinstance(X, kind) and not issparse(X):  # a DOK matrix is a dict
            raise TypeError(f"X must be an array or a data frame, got {type(X).__name__}. {remedy}.")


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a data frame as texts."""
    frame = as_frame(X)
    assert frame is not None
    return [str(name) for name in frame.columns]


def row_labels(X: Any) -> NDArray[Any] | None:
    """Return the index of a pandas frame as integers or texts; None if it is 0, 1, 2, ... or not unique."""
    index = getattr(X, "index", None)
    if not hasattr(X, "iloc") or index is None or getattr(index, "nlevels", 1) > 1:
        return None
    labels = np.asarray(index)
    if labels.dtype.kind in "iu":
        labels = labels if labels.max(initial=0) >= 2**63 else labels.astype(np.int64)
        plain = np.array_equal(labels, np.arange(len(labels)))
        return None if plain or len(np.unique(labels)) < len(labels) else labels
    texts = as_objects(str(label) for label in index)
    return None if len(set(texts)) < len(texts) else texts


def listed(names: list[str]) -> str:
    """Return names for a message, the first eight of many."""
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
