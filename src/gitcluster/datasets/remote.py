"""Data sets from the web: where the files of each are published, their checksums, and how they are read.

MNIST and Fashion-MNIST come as their original training files, which hold exactly the 60,000 images that the paper
clusters; where no mirror answers, scikit-learn asks OpenML for all 70,000, of which the first 60,000 are these. The
archives of UCI have no published checksums: what is read from them is checked for its shape and its class sizes.
"""

import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml

from gitcluster._support.optional import is_installed
from gitcluster.datasets import download, formats
from gitcluster.datasets.catalog import Info
from gitcluster.datasets.download import OnProgress
from gitcluster.datasets.store import DAMAGE, DatasetError, Labelled, check_set


class PublishedFile(NamedTuple):
    """A file on the web: its name here, its addresses, best first, and ``algorithm:checksum`` where one is known."""

    name: str
    urls: tuple[str, ...]
    checksum: str | None = None


class Publication(NamedTuple):
    """The files of a data set, the function that reads them, and another way to n samples where they fail."""

    files: tuple[PublishedFile, ...]
    read: Callable[..., Labelled]
    otherwise: Callable[[int], Labelled] | None = None


class LimitedAnswer(io.RawIOBase):
    """An answer of a server for scikit-learn: as it comes, within the limits of time and size."""

    def __init__(self, answer: Any, url: str, end: float) -> None:
        super().__init__()
        self.answer = answer  # first: an object that was not made whole is closed as well
        self.received = download.Received(answer, url, end)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes, 0 at the end."""
        chunk = self.received.read1(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def info(self) -> Any:
        """The head of the answer."""
        return self.answer.headers

    def close(self) -> None:
        """Close the connection."""
        self.answer.close()
        super().close()


@contextmanager
def limited_openml() -> Iterator[None]:
    """Let scikit-learn ask OpenML with limits: it has none of its own, and no way to set them."""
    end = time.monotonic() + download.LONGEST

    def open_limited(request: Any) -> LimitedAnswer:
        return LimitedAnswer(download.open_url(request), request.full_url, end)

    module: Any = import_module("sklearn.datasets._openml")
    before = module.urlopen
    module.urlopen = open_limited
    try:
        yield
    finally:
        module.urlopen = before


def _openml(data_id: int, n_samples: int) -> Labelled:
    """The first samples of a set of images on OpenML."""
    parser = "pandas" if is_installed("pandas") else "liac-arff"
    with limited_openml():
        X, y = download.within(
            download.LONGEST,
            lambda: fetch_openml(data_id=data_id, as_frame=False, parser=parser, return_X_y=True, cache=False),
            "OpenML",
        )
    return X[:n_samples].astype(np.uint8), y[:n_samples].astype(np.int64)


def _images(prefix: str, mirrors: tuple[str, ...], checksums: tuple[str, str], data_id: int) -> Publication:
    """The training images of a set in the format of MNIST."""
    files = [
        PublishedFile(f"{prefix}-{name}", tuple(mirror + name for mirror in mirrors), checksum)
        for name, checksum in zip(("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"), checksums, strict=True)
    ]
    return Publication(tuple(files), formats.read_digits, partial(_openml, data_id))


def _uci(name: str, file: str, older: str, read: Callable[..., Labelled]) -> Publication:
    """An archive of UCI at its address of today, or at the one before."""
    site = "https://archive.ics.uci.edu"
    urls = (f"{site}/static/public/{file}", f"{site}/ml/machine-learning-databases/{older}")
    return Publication((PublishedFile(name, urls),), read)


_HEPATITIS = ("hepatitis.zip", "46/hepatitis.zip", "hepatitis/hepatitis.data")
_FACES = PublishedFile(
    "olivettifaces.mat",
    ("https://ndownloader.figshare.com/files/5976027", "https://cs.nyu.edu/~roweis/data/olivettifaces.mat"),
    "sha256:b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794",
)
PUBLICATIONS = {
    "hepatitis": _uci(*_HEPATITIS, formats.read_published_hepatitis),
    "hepatitis_full": _uci(*_HEPATITIS, formats.read_hepatitis),
    "frogs": _uci("frogs.zip", "406/anuran+calls+mfccs.zip", "00406/Anuran%20Calls%20(MFCCs).zip", formats.read_frogs),
    "codon": _uci("codon.zip", "577/codon+usage.zip", "00577/codon_usage.csv.zip", formats.read_codon),
    "olivetti": Publication((_FACES,), formats.read_faces),
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


def fetch_set(info: Info, place: Path, progress: OnProgress | None = None) -> Labelled:
    """Read a data set from files that the user brought to ``place``, or from the first mirror that has them right."""
    published = PUBLICATIONS[info.name]
    brought = {file: place / file.name for file in published.files if os.path.exists(place / file.name)}
    failures = []
    for mirror in range(len(published.files[0].urls)):
        try:
            return _read_mirror(info, mirror, brought, progress)
        except DatasetError as error:
            failures.append(str(error))
        if len(brought) == len(published.files):
            break
    else:
        if published.otherwise is not None:
            try:
                return check_set(*published.otherwise(info.n_samples), info)
            except Exception as error:  # scikit-learn has no error of its own for a network that is not there
                failures.append(f"OpenML: {type(error).__name__}: {error}")
    by_hand = " and ".join(f"{file.urls[0]} to {place / file.name}" for file in published.files)
    raise DatasetError(
        f"The data set {info.name!r} cannot be had. {'; '.join(failures)}. Without a network, bring {by_hand}, or set "
        f"GITCLUSTER_DATA to a folder that has {info.file} with the arrays X and y."
    )


def _read_mirror(info: Info, mirror: int, brought: dict[PublishedFile, Path], progress: OnProgress | None) -> Labelled:
    """Read and check the files of a set, those that the user did not bring from one mirror."""
    published = PUBLICATIONS[info.name]
    with TemporaryDirectory() as folder:
        paths = [
            brought.get(file) or download.download(file.urls[mirror], Path(folder, file.name), file.checksum, progress)
            for file in published.files
        ]
        try:
            return check_set(*published.read(*paths), info)
        except DAMAGE as error:
            origins = " and ".join(str(brought.get(file, file.urls[mirror])) for file in published.files)
            raise DatasetError(f"{origins} is not the data set {info.name!r}: {error}") from error
