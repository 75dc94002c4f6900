"""Labels of GIT in the format of a public benchmark suite, ready to be sent: ``python -m benchmarks labels FOLDER``.

The suite is Gagolewski's (clustering-benchmarks.gagolewski.com); its repository of results takes files
``METHOD/BATTERY/SET.resultK.gz``: a gzipped table with one column per run, a line with their names and one with a label
from 1 to K for every sample, for every number K of clusters in the labels that come with a set. Without ``--data`` the
stored labels of ``python -m benchmarks public`` are written; with it, GIT runs on all sets of a checkout of the suite's
data. Where fewer clusters than K are found there is no file, as the suite wants it.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.public import LABELS, read_labels
from gitcluster import GIT, __version__

BATTERIES = ("fcps", "g2mg", "graves", "h2mg", "mnist", "other", "sipu", "uci", "wut")
ABOUT = """GIT: Clustering Based on Graph of Intensity Topology (arXiv 2110.01274), gitcluster {version} (Python),
GIT(n_clusters=K) with its defaults, on the data as they are. Nothing is tuned and nothing is random.
"""
Found = tuple[str, str, NDArray[np.int64]]
"""Battery, name of the set, labels from 0 on."""


def main(arguments: Sequence[str]) -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks labels", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the folder GIT is written")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a checkout of the suite's data")
    parser.add_argument("--max-samples", type=int, default=100_000, metavar="N")
    options = parser.parse_args(arguments)
    found = stored_labels() if options.data is None else new_labels(options.data, options.max_samples)
    written = [write_labels(options.folder / "GIT", *one) for one in found]
    (options.folder / "GIT").mkdir(parents=True, exist_ok=True)
    (options.folder / "GIT" / "README.txt").write_text(ABOUT.format(version=__version__))
    print(f"{len(written)} files in {options.folder / 'GIT'}")


def stored_labels() -> Iterator[Found]:
    """What the experiment on public sets has kept."""
    for path in sorted(LABELS.glob("*.csv.gz")):
        battery, _, name = path.name.removesuffix(".csv.gz").partition("_")
        if battery in BATTERIES:
            labels = read_labels(f"{battery}_{name}").get("GIT")
            if labels is not None:
                yield battery, name, labels


def new_labels(folder: Path, max_samples: int) -> Iterator[Found]:
    """Labels for all sets of a checkout, and all numbers of clusters that their labels have."""
    for path in sorted(folder.glob("*/*.data.gz")):
        battery, name = path.parent.name, path.name.removesuffix(".data.gz")
        numbers = {int(np.loadtxt(labels).max()) for labels in sorted(path.parent.glob(f"{name}.labels*.gz"))}
        X = np.loadtxt(path, ndmin=2)
        for number in sorted(numbers - {0, 1}) if len(X) <= max_samples else ():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = GIT(number).fit_predict(X)
            if labels.max() + 1 == number:
                yield battery, name, labels


def write_labels(folder: Path, battery: str, name: str, labels: NDArray[np.int64]) -> Path:
    """One file of the suite's format."""
    path = folder / battery / f"{name}.result{labels.max() + 1}.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ['"GIT"', *map(str, (labels + 1).tolist())]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    return path
