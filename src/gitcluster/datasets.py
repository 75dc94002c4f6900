"""The data sets of the paper, ``X, y = load("iris")``, and generated ones.

Sets are loaded from a folder of npz files, from scikit-learn or from the web.
"""

import csv
import io
import os
import zipfile
from contextlib import suppress
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.datasets import fetch_olivetti_faces, fetch_openml, get_data_home
from sklearn.utils import check_random_state

from gitcluster._support.optional import is_installed, require
from gitcluster._support.validation import check_integer

__all__ = ["DatasetError", "load", "make_customers", "make_smile", "names"]

Labelled = tuple[NDArray[Any], NDArray[np.int64]]


def make_smile(n_samples: int = 1001, *, noise: float = 0.01, random_state: Any = None) -> Labelled:
    """Draw two eyes, the outline of a face and a mouth.

    Parameters
    ----------
    n_samples : int, default=1001
        Number of samples, divided evenly among the four clusters.
    noise : float, default=0.01
        Standard deviation of the eyes. The mouth is about three times as thick, and the outline is exact.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Labels: 0 and 1 for the eyes, 2 for the outline, 3 for the mouth.

    Examples
    --------
    >>> X, y = make_smile(400, random_state=0)
    >>> np.bincount(y).tolist()
    [100, 100, 100, 100]
    """
    n_samples = check_integer("n_samples", n_samples, low=8)
    if not isinstance(noise, Real) or not 0 <= float(noise) < np.inf:
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}.")
    rng = check_random_state(random_state)
    right, left, outline, mouth = (n_samples // 4 + (i < n_samples % 4) for i in range(4))
    across = rng.uniform(-0.95, 0.95, mouth)
    parts = (
        rng.normal((-0.3, 0.7), noise, (right, 2)),
        rng.normal((-0.7, 0.7), noise, (left, 2)),
        (-0.5, 0.5) + 0.5 * _on_circle(2 * np.pi * np.arange(outline) / outline),
        (-0.45, 0.55) + (0.3 + rng.normal(0, 2.8 * noise, mouth))[:, None] * _on_circle(across - np.pi / 2),
    )
    return np.concatenate(parts), np.repeat(np.arange(4), [right, left, outline, mouth])


CUSTOMERS: dict[str, tuple[int, tuple[float, float, float], str]] = {
    "regular": (400, (40, 4, 40), "shop"), "gold": (150, (160, 10, 45), "web"), "platinum": (90, (230, 16, 52), "web"),
    "senior": (120, (60, 9, 70), "shop"), "families": (110, (110, 3, 38), "app"),
    "students": (100, (25, 12, 23), "app"),
}  # fmt: skip
"""Customers, mean spend, visits and age, and the usual channel of every group."""
CUSTOMER_SPREAD, STAYING = np.array([7.0, 0.8, 2.8]), 0.93
"""Standard deviations of spend, visits and age in a group, and the share of customers that stay for another month."""


def make_customers(*, spread: float = 1.0, random_state: Any = None) -> list[tuple[Any, NDArray[Any]]]:
    """Draw twelve monthly tables of customers whose groups change.

    Customers stay, leave and join, and their values vary from month to month. Students join in month 3. Two fifths of
    the regular customers begin to spend more in month 5. Platinum customers become gold customers in month 7. Senior
    customers spend more from month 9 on. Families leave in month 11.

    Parameters
    ----------
    spread : float, default=1.0
        Factor of the differences within groups.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    months : list of (DataFrame, ndarray)
        For every month a table with the customers as its index, and their groups.

    Examples
    --------
    >>> months = make_customers(random_state=0)
    >>> list(months[0][0].columns), sorted(set(months[0][1]))
    (['spend', 'visits', 'age', 'channel'], ['families', 'gold', 'platinum', 'regular', 'senior'])
    """
    pandas = require("pandas", extra="export", purpose="make_customers")
    rng, months = check_random_state(random_state), []
    ids, group, channel, home = np.empty(0, object), np.empty(0, object), np.empty(0, object), np.empty((0, 3))
    count = 0
    for month in range(1, 13):
        stays = (rng.uniform(size=len(ids)) < STAYING) & ((group != "families") | (month < 11))
        ids, group, channel, home = ids[stays], group[stays], channel[stays], home[stays]
        absent = {"students"} if month < 3 else {"platinum"} if month >= 7 else set()
        for name, (size, centre, usual) in CUSTOMERS.items():
            if name in absent or (name == "families" and month >= 11):
                continue
            n = max(0, size + int(rng.randint(-5, 6)) - int(np.isin(group, [name, f"{name} online"]).sum()))
            ids = np.append(ids, [f"k{i:05}" for i in range(count, count + n)])
            group, count = np.append(group, [name] * n), count + n
            home = np.concatenate([home, np.array(centre) + rng.normal(0, spread, (n, 3)) * CUSTOMER_SPREAD])
            channel = np.append(channel, np.where(rng.uniform(size=n) < 0.85, usual, "web"))
        if month == 5:
            online = (group == "regular") & (rng.uniform(size=len(ids)) < 0.4)
            group[online], home[online] = "regular online", home[online] + [45, 4, 0]
        if month == 7:
            home[group == "platinum"] += np.array(CUSTOMERS["gold"][1]) - np.array(CUSTOMERS["platinum"][1])
            group[group == "platinum"] = "gold"
        if month == 9:
            home[group == "senior"] += [25, 0, 0]
        values = home + rng.normal(0, spread / 2, home.shape) * CUSTOMER_SPREAD
        index = pandas.Index(ids, name="customer")
        table = pandas.DataFrame(values.round(1), columns=["spend", "visits", "age"], index=index)
        months.append((table.assign(channel=channel), group.copy()))
    return months


def _on_circle(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([np.cos(angle), np.sin(angle)])


SETS = {
    "iris": (4, (50, 50, 50)),
    "wine": (13, (59, 71, 48)),
    "hepatitis": (19, (32, 122)),
    "cancer": (30, (357, 212)),
    "olivetti": (4096, (10,) * 40),
    "mnist": (784, (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)),
    "fmnist": (784, (6000,) * 10),
    "frogs": (22, (672, 3478, 542, 310, 472, 1121, 270, 114, 68, 148)),
    "codon": (64, (126, 2920, 220, 18, 2523, 1345, 2077, 572, 215, 180, 2832)),
    "toy_circles": (2, (500, 501)),
    "toy_moons": (2, (500, 501)),
    "toy_impossible": (2, (893, 676, 406, 270, 450, 450, 450)),
    "toy_s-set": (2, (341, 314, 312, 352, 319, 351, 333, 327, 347, 340, 351, 352, 338, 298, 325)),
    "toy_smile": (2, (251, 250, 250, 250)),
    "toy_chainlink": (3, (501, 500)),
}
"""Number of features and class sizes of every data set."""
UCI = "https://archive.ics.uci.edu/static/public/"
ARCHIVES = {
    "hepatitis": ("46/hepatitis.zip", "hepatitis.data"),
    "frogs": ("406/anuran+calls+mfccs.zip", "Frogs_MFCCs.csv"),
    "codon": ("577/codon+usage.zip", "codon_usage.csv"),
}
"""Archives at UCI and the table in each. UCI publishes no checksums, but a zip file contains those of its members."""
AUTHORS = "https://raw.githubusercontent.com/gaozhangyang/GIT/HEAD/datasets/toy_datasets/"
"""Folder of the drawn sets in the repository of the paper's authors."""
DIGESTS = {
    "toy_circles": "566e7bb0e93a4fbf",
    "toy_moons": "28f2b20ed0c0acd6",
    "toy_impossible": "26811976c67a6488",
    "toy_s-set": "855921c723385aa2",
    "toy_smile": "956a41887a7ae741",
    "toy_chainlink": "bfa75e5b60c25a0b",
}
"""Checksums of the values of the drawn sets, which do not depend on the order of the rows or on line endings."""
OPENML = {"mnist": 554, "fmnist": 40996}
KINGDOMS = ("arc", "bct", "phg", "plm", "pln", "inv", "vrt", "mam", "rod", "pri", "vrl")
"""Classes of the codon table in the order of their labels: archaea, bacteria, phages, ..., viruses."""


class DatasetError(RuntimeError):
    """Raised if a data set cannot be downloaded, or if a file is not the expected one."""


def names() -> list[str]:
    """Return the names of all data sets."""
    return list(SETS)


def load(name: str) -> Labelled:
    """Load a data set.

    A file in the folder named by the environment variable ``GITCLUSTER_DATA`` is used first. Downloads are kept in
    scikit-learn's data folder.

    Parameters
    ----------
    name : str
        One of ``names()``.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        float64, or float32 in 0..1 for images.
    y : ndarray of int64 of shape (n_samples,)
        Labels from 0.

    Examples
    --------
    >>> X, y = load("wine")
    >>> X.shape, int(y.max())
    ((178, 13), 2)
    """
    if name not in names():
        raise ValueError(f"name must be one of {', '.join(SETS)}, got {name!r}.")
    path = Path(os.environ.get("GITCLUSTER_DATA", ""), f"{name}.npz")
    stored = "GITCLUSTER_DATA" in os.environ and path.exists()
    try:
        if stored:
            with np.load(path, allow_pickle=False) as arrays:
                X, y = arrays["X"], arrays["y"]
        else:
            X, y = _fetch(name)
        _check(X, y, name)
    except ImportError:
        raise
    except Exception as error:  # numpy, zipfile, pooch and scikit-learn raise many types
        if stored:
            raise DatasetError(f"{path} is not the data set {name!r} ({error}). Replace or delete it.") from error
        raise DatasetError(
            f"{name!r} cannot be downloaded ({error}). Delete damaged files in sklearn.datasets.get_data_home(), or "
            f"set GITCLUSTER_DATA to a folder with {name}.npz."
        ) from error
    if X.dtype == np.uint8:
        X = X.astype(np.float32) / np.float32(255)
    return X if X.dtype == np.float32 else X.astype(np.float64), y.astype(np.int64)


def _check(X: NDArray[Any], y: NDArray[Any], name: str) -> None:
    """Raise ValueError if the arrays are not those of the data set."""
    n_features, class_sizes = SETS[name]
    if X.shape != (sum(class_sizes), n_features) or y.shape != X.shape[:1]:
        raise ValueError(f"it has the shapes {X.shape} and {y.shape}")
    if tuple(np.bincount(y).tolist()) != class_sizes or not np.isfinite(X).all():
        raise ValueError("it has other classes or missing values")
    if name in DIGESTS and DIGESTS[name] != _digest(X, y):
        raise ValueError("it has other values than the file of the paper's authors")


def _digest(X: NDArray[Any], y: NDArray[Any]) -> str:
    """Return a checksum of rows in any order; single precision hides the last bit, in which CSV readers differ."""
    table = np.column_stack([X, y]).astype("<f4")
    return sha256(table[np.lexsort(table.T)].tobytes()).hexdigest()[:16]


def _fetch(name: str) -> Labelled:
    """Return a set of scikit-learn, or one from its cache, to which it is downloaded if necessary."""
    if name == "iris":
        X, y = sklearn_datasets.load_iris(return_X_y=True)
        X[[34, 37]] = [4.9, 3.1, 1.5, 0.1]  # UCI's values, as in the paper; scikit-learn follows Fisher's table
        return X, y
    if name == "wine":
        return sklearn_datasets.load_wine(return_X_y=True)  # type: ignore[no-any-return]
    if name == "cancer":
        X, y = sklearn_datasets.load_breast_cancer(return_X_y=True)
        return X, 1 - y  # in the paper, benign is 0
    if name == "olivetti":
        return fetch_olivetti_faces(return_X_y=True)  # type: ignore[no-any-return]
    if name in OPENML:
        parser = "pandas" if is_installed("pandas") else "liac-arff"
        X, y = fetch_openml(data_id=OPENML[name], as_frame=False, parser=parser, return_X_y=True)
        return X[:60_000].astype(np.uint8), y[:60_000].astype(np.int64)  # the training images come first
    pooch = require("pooch", extra="datasets", purpose="Downloading a data set")
    url, file = (AUTHORS, f"{name.removeprefix('toy_')}.csv") if name in DIGESTS else (UCI, ARCHIVES[name][0])
    cache = Path(get_data_home(), "gitcluster")
    path = pooch.create(path=cache, base_url=url, registry={file: None}, retry_if_failed=1).fetch(file)
    if name in DIGESTS:  # features, then the class
        values = np.loadtxt(path, delimiter=",")
        return values[:, :-1], np.unique(values[:, -1], return_inverse=True)[1]
    member = ARCHIVES[name][1]
    with zipfile.ZipFile(path) as archive:
        text = archive.read(member).decode("utf-8", "replace")
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True) if row]
    if name == "hepatitis":
        values = np.array([[field.replace("?", "nan") for field in row] for row in rows], dtype=np.float64)
        X = np.where(np.isnan(values), np.nanmean(values, axis=0), values)[:, 1:]
        return X[1:], values[1:, 0].astype(np.int64) - 1  # the paper's reader took the first patient for a header
    if name == "frogs":
        X = np.array([row[:22] for row in rows[1:]], dtype=np.float64)
        return X, np.unique([row[24] for row in rows[1:]], return_inverse=True)[1]  # column 24 is the species
    return np.array([_codon_shares(row) for row in rows[1:]]), np.array([KINGDOMS.index(row[0]) for row in rows[1:]])


def _codon_shares(row: list[str]) -> list[float]:
    """Return the 64 codon shares of a species, and repair a row that commas in the name of the species broke.

    Two names contain commas without quotation marks. The rest of the name is then in the columns of the first codons,
    and the last shares are cut off. Shares sum to 1, so the last one is the difference. A second lost share is 0.
    """
    shares = []
    for field in row[5:]:
        with suppress(ValueError):
            shares.append(float(field))
    lost = 64 - len(shares)
    if not 0 <= lost <= 2:
        raise ValueError(f"a row must have 64 shares of codons, got {len(shares)}")
    return shares + [0.0] * (lost - 1) + [max(0.0, round(1.0 - sum(shares), 5))] * (lost > 0)
