"""``load``: a data set by name, from the first place that has it.

In this order: the folder named by ``GITCLUSTER_DATA``, the cache, scikit-learn or a generator, the web.
"""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn import datasets as shipped

from gitcluster.datasets import shapes
from gitcluster.datasets.catalog import Info, describe
from gitcluster.datasets.download import OnProgress
from gitcluster.datasets.remote import fetch_set
from gitcluster.datasets.store import (
    DatasetError,
    Labelled,
    cache_folder,
    read_set,
    temporary_cache,
    user_folder,
    write_set,
)


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    progress: OnProgress | None = None,
) -> Labelled:
    """Samples and labels of a data set.

    A file ``NAME.npz`` in the folder named by the environment variable ``GITCLUSTER_DATA`` goes before everything
    else. What had to be downloaded is kept in the cache.

    Parameters
    ----------
    name : str
        One of ``names()``.
    data_home : path, optional
        The cache is its folder ``gitcluster``; by default it is in scikit-learn's data folder,
        ``~/scikit_learn_data`` or what the environment variable ``SCIKIT_LEARN_DATA`` names.
    download_if_missing : bool, default=True
        Whether the web may be asked; if not, a set that is nowhere here is an error.
    progress : callable, optional
        Called during a download with the name of the file, the bytes that have arrived, and the number of bytes that
        will arrive (None where the server does not tell).

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        float64; float32 in 0..1 for images.
    y : ndarray of int64 of shape (n_samples,)
        Labels from 0.

    Examples
    --------
    >>> X, y = load("wine")
    >>> X.shape, int(y.max())
    ((178, 13), 2)
    """
    info = describe(name)
    X, y = _find(info, cache_folder(data_home), download_if_missing, progress)
    if X.dtype == np.uint8:
        return X.astype(np.float32) / np.float32(255), y
    return X.astype(np.float32 if X.dtype == np.float32 else np.float64), y


def _find(info: Info, cache: Path, download_if_missing: bool, progress: OnProgress | None) -> Labelled:
    """The set from the first place that has it."""
    brought = user_folder()
    if brought is not None and os.path.exists(brought / info.file):
        return read_set(brought / info.file, info)
    kept = cache / info.file
    if os.path.exists(kept):  # Path.exists raises for a folder that must not be read
        try:
            return read_set(kept, info)
        except DatasetError as error:
            warnings.warn(f"{error} The data set is made or fetched again.", stacklevel=3)
    if info.name in MAKERS:
        return MAKERS[info.name]()
    if not download_if_missing:
        places = f"{brought} (GITCLUSTER_DATA) or {cache}" if brought else f"{cache}, and GITCLUSTER_DATA is not set"
        raise DatasetError(
            f"The data set {info.name!r} is not here: no {info.file} in {places}. Allow the download "
            "(download_if_missing=True), or bring the file."
        )
    return _fetch(info, kept, progress)


def _fetch(info: Info, kept: Path, progress: OnProgress | None) -> Labelled:
    """Download a set and keep it, where it can be kept."""
    X, y = fetch_set(info, kept.parent, progress)
    if kept.parent == temporary_cache():
        warnings.warn(
            f"The home folder is not known, so the data set {info.name!r} is kept in {kept.parent}. Give a data_home, "
            "or set SCIKIT_LEARN_DATA.",
            stacklevel=4,
        )
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_set(kept, X, y)
    except OSError as error:
        warnings.warn(
            f"{kept.parent} cannot be written to ({error}), so the data set {info.name!r} is not kept. "
            "Give another data_home.",
            stacklevel=4,
        )
    return X, y


def _iris() -> Labelled:
    """Iris as the paper and UCI have it: two flowers differ from Fisher's table, which scikit-learn ships."""
    X, y = shipped.load_iris(return_X_y=True)
    X[[34, 37]] = [4.9, 3.1, 1.5, 0.1]
    return X, y


def _cancer() -> Labelled:
    """Benign is 0 and malignant 1, the other way round than in scikit-learn."""
    X, y = shipped.load_breast_cancer(return_X_y=True)
    return X, 1 - y


MAKERS: dict[str, Callable[[], Labelled]] = {
    "iris": _iris,
    "wine": lambda: shipped.load_wine(return_X_y=True),
    "cancer": _cancer,
    "circles": lambda: shipped.make_circles(1001, noise=0.1, factor=0.6, random_state=0),
    "moons": lambda: shipped.make_moons(1001, noise=0.14, random_state=0),
    "impossible": lambda: shapes.make_impossible(random_state=0),
    "s_set": lambda: shapes.make_s_set(random_state=0),
    "smile": lambda: shapes.make_smile(random_state=0),
    "chainlink": lambda: shapes.make_chainlink(random_state=0),
}
"""Sets that need no network."""
