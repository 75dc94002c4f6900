"""Compare methods on public sets that others chose: ``python -m benchmarks public --max-samples 8000``.

The sets are the ``.npz`` files in the folder ``bench`` of GITCLUSTER_DATA, and the real sets beside it. Constants were
chosen on one half of them, by a hash of the name. GIT gets the features as they are, the peers get them divided by
their standard deviations. Means are over kinds of data, because most public sets are drawn.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import islice
from zlib import crc32

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.methods import METHODS, keep_installed
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import count_clusters
from benchmarks.suite.datasets import IMAGES as REAL_IMAGES
from benchmarks.suite.datasets import Dataset, data_folder, load_set, real_datasets
from gitcluster import scale_features

FIELDS = ("set", "method")
NAMES = ("GIT", "k-means", "Ward", "spectral", "Genie", "Lumbermark", "GIT proportions", "HDBSCAN", "GIT nothing")
IMAGES = ("real_pendigits", "real_satellite", *REAL_IMAGES)
KINDS = ("drawn", "tables", "images")
HELD_OUT = 1
"""Number of the half of the sets on which no constant was chosen."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--max-samples", type=int, default=15_000, metavar="N")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and method; ``--quick`` yields the first two sets."""
    methods = keep_installed({name: METHODS[name] for name in NAMES})
    for data in islice(public_sets(options.max_samples), 2 if options.quick else None):
        for name in methods:
            task = {"set": data.name, "kind": data.family, "half": half_of(data.name), "method": name}
            yield task, partial(run_method, data, name)


def public_sets(max_samples: int) -> Iterator[Dataset]:
    """Yield the sets, with their kind as family; the label -1 is not scored."""
    for path in sorted((data_folder() / "bench").glob("*.npz")):
        X, y = load_set(f"bench/{path.stem}")
        kind = "tables" if path.stem.startswith(("real_", "uci_")) else "drawn"
        if len(X) <= max_samples:
            yield Dataset(path.stem, X, np.where(y == 0, -1, y), "images" if path.stem in IMAGES else kind, False)
    for data in real_datasets():
        if data.family == "real" and len(data.X) <= max_samples:
            yield data._replace(family=data.kind)


def half_of(name: str) -> int:
    """Return 0 for sets on which constants were chosen, and 1 for the held-out half."""
    return crc32(name.encode()) % 2


def run_method(data: Dataset, name: str) -> Line:
    """Return the score of one method on one set."""
    X, scored = data.X if name.startswith("GIT") else scale_features(np.asarray(data.X, np.float64)), data.y >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, _, cpu = time_call(lambda: METHODS[name].fit(X, data.sizes))
    ari = round(float(adjusted_rand_score(data.y[scored], labels[scored])), 4)
    counts = {"classes": len(data.sizes), "clusters": count_clusters(labels)}
    return {"ari": ari, "cpu_seconds": round(cpu, 2)} | counts


def table() -> str:
    """Return mean adjusted Rand index by kind of data and half, and how often the number of clusters was right."""
    lines, rows = list(Store("public", FIELDS).lines.values()), []
    for name in sorted(NAMES, key=_order):
        given, row = METHODS[name].given, [METHODS[name].given, name]
        for half in (HELD_OUT, 1 - HELD_OUT):
            means = []
            for kind in KINDS:
                some = [x for x in lines if (x["method"], x["kind"], x["half"]) == (name, kind, half)]
                means.append(np.mean([x["ari"] for x in some]))
                right = f" ({np.mean([x['clusters'] == x['classes'] for x in some]):.0%})"
                row.append(f"{means[-1]:.3f}" + (right if given == "nothing" else ""))
            row.append(f"{np.mean(means):.3f}")
        rows.append(row)
    heads = [f"{kind}, {half}" for half in ("held-out half", "tuning half") for kind in (*KINDS, "mean of kinds")]
    return markdown(["given", "method", *heads], rows)


def short_table() -> str:
    """Return mean adjusted Rand index by kind of data on the held-out half."""
    lines, rows = Store("public", FIELDS).lines.values(), []
    for name in sorted(NAMES, key=_order):
        some = [line for line in lines if (line["method"], line["half"]) == (name, HELD_OUT)]
        means = [np.mean([line["ari"] for line in some if line["kind"] == kind]) for kind in KINDS]
        rows.append([METHODS[name].given, name.split()[0], *(f"{mean:.2f}" for mean in means)])
    return markdown(["given", "method", "drawn shapes", "tables", "images"], rows)


def _order(name: str) -> int:
    return ("number", "proportions", "nothing").index(METHODS[name].given)


TABLES = {"public": table, "public_short": short_table}
