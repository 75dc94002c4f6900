"""Archives in UCI's formats and sizes with random values, and the arrays that they contain."""

import csv
import io
import zipfile

import numpy as np

from gitcluster.datasets.loading import ARCHIVES, KINGDOMS, SETS


def pack(member, content):
    """Return a zip archive that contains one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return file.getvalue()


def make_archive(name):
    """Return an archive of a set, and its X and y."""
    n_features, sizes = SETS[name]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.integers(1, 90, (len(y), n_features)) / 4
    if name == "codon":
        X = np.round(X / X.sum(axis=1, keepdims=True), 5)
    rows, X = {"hepatitis": hepatitis, "frogs": frogs, "codon": codon}[name](X, y)
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return pack(ARCHIVES[name][1], text.getvalue()), X, y


def hepatitis(X, y):
    """Gaps are question marks and become means; the first patient counts for the means only."""
    X, y = np.concatenate([np.full((1, 19), 7.0), X]), [0, *y]
    X[5, 2] = X[9, 2] = X[7, 18] = np.nan
    rows = [[label + 1, *("?" if np.isnan(v) else v for v in row)] for label, row in zip(y, X.tolist(), strict=True)]
    return rows, np.where(np.isnan(X), np.nanmean(X, axis=0), X)[1:]


def frogs(X, y):
    """Species, in alphabetic order, are the classes."""
    header = [f"MFCCs_{i}" for i in range(22)] + ["Family", "Genus", "Species", "RecordID"]
    rows = [[*row, "family", "genus", f"species {'ABCDEFGHIJ'[k]}", 1] for row, k in zip(X.tolist(), y, strict=True)]
    return [header, *rows], X


def codon(X, y):
    """Commas in the names of two species push their last shares out of the table."""
    X[486, 63] = round(1 - X[486, :63].sum(), 5)
    X[5063, 62:] = 0, round(1 - X[5063, :62].sum(), 5)
    rows = [[KINGDOMS[label], 0, 100, 1000, "a species", *row] for label, row in zip(y, X.tolist(), strict=True)]
    rows[7][4] = "a species, quoted"
    rows[486][4:] = ["one", " the other virus", *rows[486][5:-1]]
    rows[5063][4:] = ["a strain", "12;I", "-", *rows[5063][5:-2]]
    return [["Kingdom", "DNAtype", "SpeciesID", "Ncodons", "SpeciesName", *"c" * 64], *rows], X
