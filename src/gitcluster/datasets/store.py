"""Data sets as files: arrays ``X`` and ``y`` in an ``.npz`` without pickle, read and written whole or not at all."""

import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.files import write_aside
from gitcluster.datasets.catalog import Info

Labelled = tuple[NDArray[Any], NDArray[np.int64]]

DAMAGE = (OSError, EOFError, LookupError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged or foreign file raises."""


class DatasetError(RuntimeError):
    """A data set cannot be had, or a file is not what it should be; the message says what to do."""


def user_folder() -> Path | None:
    """Folder named by the environment variable ``GITCLUSTER_DATA``, or None where it is not set."""
    named = os.environ.get("GITCLUSTER_DATA")
    if not named:
        return None
    folder = Path(os.path.expanduser(named))
    if not os.path.isdir(folder):
        kind = "is not a folder" if os.path.exists(folder) else "does not exist"
        raise DatasetError(
            f"GITCLUSTER_DATA={named} {kind}. Set it to a folder with files such as iris.npz, or unset it."
        )
    return folder


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder ``gitcluster`` in ``data_home``, by default in scikit-learn's data folder; it need not exist."""
    home = os.path.expanduser(data_home or os.environ.get("SCIKIT_LEARN_DATA") or "~/scikit_learn_data")
    return temporary_cache() if str(home).startswith("~") else Path(home) / "gitcluster"


def temporary_cache() -> Path:
    """Where files are kept while the home folder is not known, as in containers without users."""
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError:  # nothing can be written anywhere
        folder = os.sep
    return Path(folder) / "scikit_learn_data" / "gitcluster"


def read_set(path: Path, info: Info) -> Labelled:
    """The checked arrays ``X`` and ``y`` of a file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
    except (*DAMAGE, AttributeError, TypeError) as error:  # the last two where it holds a bare array
        raise DatasetError(
            f"{path} cannot be read as the data set {info.name!r}: expected an .npz file with the arrays X and y, "
            f"found {type(error).__name__}: {error}. Replace or delete it."
        ) from error
    try:
        return check_set(X, y, info)
    except ValueError as error:
        raise DatasetError(f"{path} is not the data set {info.name!r}: {error}. Replace or delete it.") from error


def check_set(X: NDArray[Any], y: NDArray[Any], info: Info) -> Labelled:
    """The arrays, or a ValueError that tells what was expected and what was found."""
    shape = (info.n_samples, info.n_features)
    if X.shape != shape or y.shape != shape[:1]:
        raise ValueError(f"expected X of shape {shape} and y of shape {shape[:1]}, found {X.shape} and {y.shape}")
    if X.dtype.kind not in "uif" or y.dtype.kind not in "ui":
        raise ValueError(f"expected numbers X and integer labels y, found types {X.dtype} and {y.dtype}")
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        raise ValueError("expected finite numbers, found NaN or infinity in X")
    sizes = tuple(np.bincount(y).tolist()) if y.min() >= 0 and y.max() < len(y) else ()
    if sizes != info.class_sizes:
        raise ValueError(f"expected labels from 0 with the counts {info.class_sizes}, found {sizes or 'other labels'}")
    return X, y.astype(np.int64)


def write_set(path: Path, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Write aside and rename, so that no reader sees half a file."""
    with write_aside(path) as file:
        np.savez_compressed(file, X=X, y=y)
