"""The files of the archives as they are published, read into samples and labels.

A file that is not what its archive publishes is a ValueError (or one of ``store.DAMAGE``); nothing is guessed.
"""

import csv
import gzip
import io
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from gitcluster.datasets.store import DAMAGE, Labelled

KINGDOMS = ("arc", "bct", "phg", "plm", "pln", "inv", "vrt", "mam", "rod", "pri", "vrl")
"""Kingdoms of the codon table: archaea, bacteria, phages, plasmids, plants, ... , viruses."""
N_CODONS = 64
LARGEST = 200_000_000
"""Bytes of a file when it is unpacked; the largest that is published has 47 million."""


def read_hepatitis(path: Path) -> Labelled:
    """``hepatitis.data``: class 1 (died) or 2, then 19 features; gaps ``?`` become the mean of their column."""
    rows = [row for row in _table(path, "hepatitis.data") if row]
    if any(len(row) != 20 for row in rows):
        raise ValueError(f"expected 20 values per row, found {sorted({len(row) for row in rows})}")
    values = np.array([[np.nan if field == "?" else float(field) for field in row] for row in rows]).reshape(-1, 20)
    X = values[:, 1:]
    gaps = np.isnan(X)
    if gaps.all(axis=0).any() or np.isnan(values[:, 0]).any():
        raise ValueError("found a feature without any value, or a patient without a class")
    X[gaps] = np.broadcast_to(np.nanmean(X, axis=0), X.shape)[gaps]
    return X, values[:, 0].astype(np.int64) - 1


def read_published_hepatitis(path: Path) -> Labelled:
    """As the published experiments read it: gaps filled, then the first patient taken for a header and lost."""
    X, y = read_hepatitis(path)
    return X[1:], y[1:]


def read_frogs(path: Path) -> Labelled:
    """``Frogs_MFCCs.csv``: 22 coefficients, then family, genus, species and record; the species are the classes."""
    header, *rows = _table(path, "Frogs_MFCCs.csv")
    if len(header) != 26 or header[22:] != ["Family", "Genus", "Species", "RecordID"]:
        raise ValueError(
            f"expected 22 coefficients, Family, Genus, Species, RecordID in the first line, found {header}"
        )
    X = np.array([[float(field) for field in row[:22]] for row in rows if row])
    return X, np.unique([row[24] for row in rows if row], return_inverse=True)[1]


def read_codon(path: Path) -> Labelled:
    """``codon_usage.csv``: kingdom, four columns about the species, and the shares of 64 codons."""
    header, *rows = _table(path, "codon_usage.csv")
    if len(header) != 5 + N_CODONS or header[0] != "Kingdom":
        raise ValueError(f"expected Kingdom, 4 more columns and {N_CODONS} codons in the first line, found {header}")
    rows = [row for row in rows if row]
    strange = {row[0] for row in rows} - set(KINGDOMS)
    if strange:
        raise ValueError(f"expected the kingdoms {KINGDOMS}, found {sorted(strange)} too")
    X = np.array([_codon_shares(row[5:]) for row in rows])
    return X, np.array([KINGDOMS.index(row[0]) for row in rows])


def _codon_shares(fields: list[str]) -> list[float]:
    """The 64 shares of a species, its row repaired where commas in its name broke it.

    Two names of the published table have commas and no quotation marks: the rest of the name stands in the columns of
    the first codons, the shares stand further right, and as many of the last ones are cut off. The shares sum to 1,
    so what is missing is known: the last one takes it (the other that is lost is 0 to the five places given).
    """
    name = next((i for i, field in enumerate(fields) if _is_number(field)), len(fields))
    shares = [float(field) for field in fields[name:]]
    lost = N_CODONS - len(shares)
    if name > 2 or not 0 <= lost <= name:
        raise ValueError(f"expected {N_CODONS} shares of codons, found {fields}")
    if lost:
        shares += [0.0] * (lost - 1) + [max(0.0, round(1.0 - sum(shares), 5))]
    return shares


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_digits(images: Path, labels: Path) -> Labelled:
    """Two idx files of the MNIST family: images of bytes, a row each, and their labels."""
    X, y = _idx(images, dimensions=3), _idx(labels, dimensions=1)
    return X.reshape(len(X), -1), y.astype(np.int64)


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Gzipped idx: the magic number 0x0800 + dimensions, a size a dimension (big-endian, 4 bytes each), bytes."""
    with gzip.open(path) as file:
        head = np.frombuffer(file.read(4 * (1 + dimensions)), dtype=">u4")
        values = np.frombuffer(_at_most(file.read(LARGEST + 1)), dtype=np.uint8)
    shape = [int(size) for size in head[1:]]
    if len(head) != 1 + dimensions or head[0] != 0x0800 + dimensions or len(values) != np.prod(shape):
        raise ValueError(f"expected an idx file of bytes in {dimensions} dimensions, found the header {head.tolist()}")
    return values.reshape(shape)


def read_faces(path: Path) -> Labelled:
    """``olivettifaces.mat``: an image a column, stored column by column; ten of each of 40 people; scaled to 0..1."""
    try:
        faces: Any = loadmat(path)["faces"]
    except Exception as error:  # scipy raises whatever comes on a file of another kind
        raise ValueError(
            f"expected a MATLAB file with an array faces, found {type(error).__name__}: {error}"
        ) from error
    if faces.shape != (4096, 400):
        raise ValueError(f"expected faces of shape (4096, 400), found {faces.shape}")
    upright = faces.T.reshape(400, 64, 64).transpose(0, 2, 1).reshape(400, 4096).astype(np.float32)
    upright -= upright.min()
    return upright / max(upright.max(), 1.0), np.repeat(np.arange(40), 10)


def _at_most(content: bytes) -> bytes:
    """Unpacked bytes, or an error where there are more than any set has: a small file can unpack to any size."""
    if len(content) > LARGEST:
        raise ValueError(f"expected at most {LARGEST:,} bytes, found more when it was unpacked")
    return content


def _table(path: Path, member: str) -> list[list[str]]:
    """Rows of a comma-separated file: ``path`` itself, or the one named ``member`` where ``path`` is a zip archive."""
    content = path.read_bytes()
    if content.startswith(b"PK"):
        try:
            archive = zipfile.ZipFile(io.BytesIO(content))
            inside = [name for name in archive.namelist() if PurePosixPath(name).name == member]
            if inside:
                with archive.open(inside[0]) as file:
                    content = file.read(LARGEST + 1)
        except DAMAGE:
            raise ValueError("expected a zip archive, found a damaged one") from None
        if not inside:
            raise ValueError(f"expected {member} in the archive, found {archive.namelist()}")
        _at_most(content)
    text = content.decode("utf-8-sig", errors="replace")
    rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    if not rows:
        raise ValueError(f"expected the table {member}, found an empty file")
    return rows
