"""Files in the formats and sizes of the published ones, with made-up values, and what should be read from them."""

import csv
import gzip
import io
import zipfile
from functools import cache

import numpy as np
from scipy.io import savemat

from gitcluster.datasets import describe
from gitcluster.datasets.formats import KINGDOMS

SPECIES = ["Bufo", "Hyla A", "Hyla B", "Pipa", "Rana A", "Rana B", "Rana C", "Scinax A", "Scinax B", "Xenopus"]


def labels(name):
    """Labels with the right counts, in mixed order; the first is not that of a class that has to keep its count."""
    y = np.repeat(np.arange(describe(name).n_classes), describe(name).class_sizes)
    return np.random.default_rng(0).permutation(y)


def archive(member, content):
    """A zip archive with a file in it and another beside it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("Readme.txt", "about the data")
        zipped.writestr(member, content)
    return file.getvalue()


def table(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def hepatitis(y=None):
    """-> archive, X and y of all 155 patients."""
    y = np.concatenate([[1], labels("hepatitis")]) if y is None else y
    X = np.random.default_rng(1).integers(1, 90, (len(y), 19)) / 4
    gaps = np.random.default_rng(2).random(X.shape) < 0.1
    rows = [
        [label + 1] + ["?" if gap else value for gap, value in zip(*row, strict=True)]
        for label, *row in zip(y, gaps, X, strict=True)
    ]
    X[gaps] = np.nan
    return archive("hepatitis.data", table(rows)), np.where(gaps, np.nanmean(X, axis=0), X), y


def frogs():
    """-> archive, X, y."""
    y = labels("frogs")
    X = np.random.default_rng(1).uniform(-1, 1, (len(y), 22))
    header = [f"MFCCs_{i:2d}" for i in range(1, 23)] + ["Family", "Genus", "Species", "RecordID"]
    rows = [[*map(repr, row.tolist()), "family", "genus", SPECIES[label], 1] for row, label in zip(X, y, strict=True)]
    return archive("Frogs_MFCCs.csv", table([header, *rows])), X, y


def codon():
    """-> archive, X, y; commas in the names of two species have pushed their last shares out of the table."""
    y = labels("codon")
    counts = np.random.default_rng(1).integers(0, 20, (len(y), 64))
    X = np.round(counts / counts.sum(axis=1, keepdims=True), 5)
    X[486, 63] = round(1 - X[486, :63].sum(), 5)
    X[5063, 62:] = 0
    X[5063, 61] = round(1 - X[5063, :61].sum(), 5)
    codons = [a + b + c for a in "UCAG" for b in "UCAG" for c in "UCAG"]
    rows = [[KINGDOMS[label], 0, 100, 1000, "a species", *row] for row, label in zip(X.tolist(), y, strict=True)]
    rows[7][4] = "a species, quoted"
    rows[486][4:] = ["one", " the other virus", *rows[486][5:-1]]
    rows[5063][4:] = ["a strain", "12;I", "-", *rows[5063][5:-2]]
    return archive("codon_usage.csv", table([["Kingdom", "DNAtype", "ID", "Ncodons", "Species", *codons], *rows])), X, y


def idx(values):
    """Bytes in the format of MNIST."""
    head = np.array([0x0800 + values.ndim, *values.shape], dtype=">u4")
    return gzip.compress(head.tobytes() + values.tobytes(), compresslevel=1, mtime=0)


def digits(name):
    """-> images, labels, X, y."""
    y = labels(name)
    X = np.zeros((len(y), 28, 28), np.uint8)
    X[:, 3, 5], X[:, 20, 10] = np.arange(len(y)) % 256, y
    return idx(X), idx(y.astype(np.uint8)), X.reshape(len(y), 784).astype(np.float32) / np.float32(255), y


def faces():
    """-> file, X, y."""
    images = np.random.default_rng(1).integers(20, 250, (400, 64, 64)).astype(np.uint8)
    images[0, 0, :2] = 20, 250
    file = io.BytesIO()
    savemat(file, {"faces": images.transpose(2, 1, 0).reshape(4096, 400)}, do_compression=True)
    X = (images.reshape(400, 4096).astype(np.float32) - 20) / np.float32(230)
    return file.getvalue(), X, np.repeat(np.arange(40), 10)


@cache
def stand_in(name):
    """-> contents of the files, X, y."""
    if name.startswith("hepatitis"):
        content, X, y = hepatitis()
        return ([content], X, y) if name == "hepatitis_full" else ([content], X[1:], y[1:])
    if name.endswith("mnist"):
        *contents, X, y = digits(name)
        return contents, X, y
    content, X, y = {"frogs": frogs, "codon": codon, "olivetti": faces}[name]()
    return [content], X, y
