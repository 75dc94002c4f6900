"""Data sets from the web: where the files of each are published, their checksums, and how they are read.

MNIST and Fashion-MNIST come as their original training files, which hold exactly the 60,000 images that the paper
clusters; where no mirror answers, scikit-learn asks OpenML for all 70,000, of which the first 60,000 are these. The
archives of UCI have no published checksums: what is read from them is checked for its shape and its class sizes.
"""

import hashlib
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml

from gitcluster._support.optional import is_installed
from gitcluster.datasets import formats
from gitcluster.datasets.catalog import Info
from gitcluster.datasets.download import Progress, download
from gitcluster.datasets.store import DAMAGE, DatasetError, Labelled, check_set


class RemoteFile(NamedTuple):
    """A published file: its name here, its addresses, best first, and ``algorithm:checksum`` where one is known."""

    name: str
    urls: tuple[str, ...]
    checksum: str | None = None


class Source(NamedTuple):
    """The files of a data set, the function that reads them, and another way to so many samples where they fail."""

    files: tuple[RemoteFile, ...]
    read: Callable[..., Labelled]
    otherwise: Callable[[int], Labelled] | None = None


def _openml(data_id: int, n_samples: int) -> Labelled:
    """The first samples of a set of images on OpenML."""
    parser = "pandas" if is_installed("pandas") else "liac-arff"
    X, y = fetch_openml(data_id=data_id, as_frame=False, parser=parser, return_X_y=True, cache=False)
    return X[:n_samples].astype(np.uint8), y[:n_samples].astype(np.int64)


def _images(prefix: str, mirrors: tuple[str, ...], checksums: tuple[str, str], data_id: int) -> Source:
    """The training images of a set in the format of MNIST."""
    files = [
        RemoteFile(f"{prefix}-{name}", tuple(mirror + name for mirror in mirrors), checksum)
        for name, checksum in zip(("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"), checksums, strict=True)
    ]
    return Source(tuple(files), formats.read_digits, partial(_openml, data_id))


_UCI = "https://archive.ics.uci.edu"
_HEPATITIS = RemoteFile(
    "hepatitis.zip",
    (
        f"{_UCI}/static/public/46/hepatitis.zip",
        f"{_UCI}/ml/machine-learning-databases/hepatitis/hepatitis.data",
    ),
)
_FROGS = RemoteFile(
    "frogs.zip",
    (
        f"{_UCI}/static/public/406/anuran+calls+mfccs.zip",
        f"{_UCI}/ml/machine-learning-databases/00406/Anuran%20Calls%20(MFCCs).zip",
    ),
)
_CODON = RemoteFile(
    "codon.zip",
    (
        f"{_UCI}/static/public/577/codon+usage.zip",
        f"{_UCI}/ml/machine-learning-databases/00577/codon_usage.csv.zip",
    ),
)
_FACES = RemoteFile(
    "olivettifaces.mat",
    ("https://ndownloader.figshare.com/files/5976027", "https://cs.nyu.edu/~roweis/data/olivettifaces.mat"),
    "sha256:b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794",
)
SOURCES = {
    "hepatitis": Source((_HEPATITIS,), formats.read_published_hepatitis),
    "hepatitis_full": Source((_HEPATITIS,), formats.read_hepatitis),
    "frogs": Source((_FROGS,), formats.read_frogs),
    "codon": Source((_CODON,), formats.read_codon),
    "olivetti": Source((_FACES,), formats.read_faces),
    "mnist": _images(
        "mnist",
        ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"),
        ("md5:f68b3c2dcbeaaa9fbdd348bbdeb94873", "md5:d53e105ee54ea40749a09fcbcd1e9432"),
        554,
    ),
    "fmnist": _images(
        "fmnist",
        (
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        ),
        ("md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d", "md5:25c81989df183df01b3e8a0aad5dffbe"),
        40996,
    ),
}


def fetch_set(info: Info, folder: Path, *, place: Path, progress: Progress | None = None) -> Labelled:
    """Download, read and check a data set; its files are removed again, those that the user brought stay.

    Parameters
    ----------
    info : Info
    folder : Path
        Where the files are downloaded to.
    place : Path
        Where the user may have put them; the same folder unless that cannot be written to.
    progress : callable, optional
        Called with the name of a file, the bytes that are here and how many there will be.
    """
    source = SOURCES[info.name]
    paths = [place / file.name if (place / file.name).exists() else folder / file.name for file in source.files]
    fetched: list[Path] = []
    try:
        for file, path in zip(source.files, paths, strict=True):
            if not path.exists():
                fetched.append(path)
                _fetch_file(file, path, progress)
        return _read_files(source, info, paths, fetched)
    except DatasetError as error:
        reasons = str(error)
        if source.otherwise is not None and fetched:
            try:
                return check_set(*source.otherwise(info.n_samples), info)
            except Exception as second:  # scikit-learn has no error of its own for a network that is not there
                reasons += f" Nor does OpenML have it: {type(second).__name__}: {second}."
        raise DatasetError(f"{reasons} {_remedy(info, source, place)}") from error
    finally:
        for path in fetched:
            path.unlink(missing_ok=True)


def _fetch_file(file: RemoteFile, path: Path, progress: Progress | None) -> None:
    """Bring a file from the first address that has it right."""
    failures = []
    for url in file.urls:
        try:
            resumed = download(url, path, progress=progress)
            fault = _fault(file, path)
            if fault and resumed:  # the part was of another file
                path.unlink()
                download(url, path, progress=progress)
                fault = _fault(file, path)
        except DatasetError as error:
            failures.append(str(error))
            continue
        if not fault:
            return
        path.unlink()
        failures.append(f"{url}: {fault}")
    raise DatasetError(f"{file.name} cannot be downloaded: {'; '.join(failures)}.")


def _fault(file: RemoteFile, path: Path) -> str:
    """What is wrong with a file by its checksum, or by those inside a zip archive; empty where nothing is."""
    if file.checksum is None:
        try:
            with zipfile.ZipFile(path) as archive:
                return "expected a zip archive, found a damaged one" if archive.testzip() else ""
        except DAMAGE:
            with path.open("rb") as content:
                return "expected a zip archive, found a damaged one" if content.read(2) == b"PK" else ""
    algorithm, expected = file.checksum.split(":")
    with path.open("rb") as content:
        found = hashlib.file_digest(content, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
    size = path.stat().st_size
    return "" if found == expected else f"expected the {algorithm} {expected}, found {found} ({size} bytes)"


def _read_files(source: Source, info: Info, paths: list[Path], fetched: list[Path]) -> Labelled:
    """Read and check; an error names the file, and its address where it was just downloaded."""
    try:
        return check_set(*source.read(*paths), info)
    except DAMAGE as error:
        origins = [
            file.urls[0] if path in fetched else str(path) for file, path in zip(source.files, paths, strict=True)
        ]
        raise DatasetError(f"{' and '.join(origins)} is not the data set {info.name!r}: {error}.") from error


def _remedy(info: Info, source: Source, place: Path) -> str:
    """What somebody without a network does."""
    by_hand = " and ".join(f"{file.urls[0]} to {place / file.name}" for file in source.files)
    return (
        f"Without a network, bring {by_hand}, or set GITCLUSTER_DATA to a folder that has {info.file} "
        "with the arrays X and y."
    )
