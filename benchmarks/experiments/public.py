"""Public sets that somebody else chose and labelled: ``python -m benchmarks public [--half 0|1] [--table]``.

The sets are the ``.npz`` files in the folder ``bench`` of ``GITCLUSTER_DATA``, and the real sets beside it. Constants
are chosen on one half of them, by a hash of the name; the other is looked at once, after that. GIT gets the features as
they are; the peers get them divided by their standard deviations. Every (set, method) is one line of
``results/public.jsonl``, and its labels are a column of ``results/labels/SET.csv.gz``; what is there is not run again.
Means are of kinds of data: most public sets are drawn.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import warnings
from collections.abc import Iterator, Sequence
from time import process_time
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.methods import METHODS, keep_installed, tell
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, append, describe_run, read_lines
from benchmarks.scoring import count_clusters
from benchmarks.suite.datasets import IMAGES as REAL_IMAGES
from benchmarks.suite.datasets import Dataset, data_folder, load_set, real_datasets
from gitcluster import scale_features

RESULTS = FOLDER / "public.jsonl"
LABELS = FOLDER / "labels"
NAMES = ("GIT", "GIT proportions", "GIT nothing", "k-means", "Ward", "spectral", "Genie", "Lumbermark", "HDBSCAN")
CHOSEN = {name: METHODS[name] for name in NAMES}
IMAGES = ("real_pendigits", "real_satellite", *REAL_IMAGES)


def main(arguments: Sequence[str]) -> None:
    """Run the methods over the sets, or print the table of what is stored."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks public", description=__doc__)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only this half of the sets")
    parser.add_argument("--max-samples", type=int, default=15_000, metavar="N")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    options = parser.parse_args(arguments)
    if not options.table:
        methods, done = keep_installed(CHOSEN), {(line["set"], line["method"]) for line in read_lines(RESULTS)}
        for data in public_sets(options.max_samples):
            if options.half in (None, half_of(data.name)):
                for name in methods:
                    if (data.name, name) not in done:
                        line, labels = run_method(data, name)
                        keep_labels(data.name, name, labels)
                        append(RESULTS, line | describe_run("public", arguments))
                        print(line["set"], name, line["ari"], file=sys.stderr)
    print(table())


def public_sets(max_samples: int) -> Iterator[Dataset]:
    """The sets, of kinds drawn, tables and images; the label -1 is not scored."""
    for path in sorted((data_folder() / "bench").glob("*.npz")):
        X, y = load_set(f"bench/{path.stem}")
        kind = "tables" if path.stem.startswith(("real_", "uci_")) else "drawn"
        if len(X) <= max_samples:
            yield Dataset(path.stem, X, np.where(y == 0, -1, y), "images" if path.stem in IMAGES else kind, False)
    for data in real_datasets(max_samples):
        if data.family == "real":
            yield data._replace(family="images" if data.name in IMAGES else "tables")


def half_of(name: str) -> int:
    """0 for sets that constants are chosen on, 1 for those that are looked at once."""
    return crc32(name.encode()) % 2


def run_method(data: Dataset, name: str) -> tuple[Line, NDArray[np.int64]]:
    """The result line of one method on one set, and its labels."""
    method, scored = CHOSEN[name], data.y >= 0
    sizes = np.unique(data.y[scored], return_counts=True)[1]
    X = data.X if name.startswith("GIT") else scale_features(np.asarray(data.X, np.float64))
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = method.fit(X, tell(method, sizes))
    line: Line = {
        "set": data.name, "kind": data.family, "half": half_of(data.name), "classes": len(sizes), "method": name,
        "told": method.told, "ari": round(float(adjusted_rand_score(data.y[scored], labels[scored])), 4),
        "clusters": count_clusters(labels), "cpu_seconds": round(process_time() - start, 2),
    }  # fmt: skip
    return line, np.asarray(labels, np.int64)


def keep_labels(name: str, method: str, labels: NDArray[np.int64]) -> None:
    """Write the labels of a method as a column of the table of a set, which has one row per sample."""
    columns = read_labels(name) | {method: labels}
    LABELS.mkdir(exist_ok=True)
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    packed = gzip.compress(("\n".join(rows) + "\n").encode(), mtime=0)
    (LABELS / f"{name}.csv.gz").write_bytes(packed)


def read_labels(name: str) -> dict[str, NDArray[np.int64]]:
    """The labels that were kept for a set, by method."""
    path = LABELS / f"{name}.csv.gz"
    if not path.exists():
        return {}
    head, *rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    table = np.array([row.split(",") for row in rows], np.int64)
    return dict(zip(head.split(","), table.T, strict=True))


def table() -> str:
    """Mean adjusted Rand index by kind of data and half, and how often the number was right."""
    lines = list({(line["set"], line["method"]): line for line in read_lines(RESULTS)}.values())
    kinds, rows = ("drawn", "tables", "images"), []
    for told in ("number", "proportions", "nothing"):
        for name in dict.fromkeys(line["method"] for line in lines if line["told"] == told):
            row = [told, name]
            for half in (1, 0):
                means = []
                for kind in kinds:
                    some = [x for x in lines if (x["method"], x["kind"], x["half"]) == (name, kind, half)]
                    means.append(np.mean([x["ari"] for x in some]))
                    right = f" ({np.mean([x['clusters'] == x['classes'] for x in some]):.0%})"
                    row.append(f"{means[-1]:.3f}" + (right if told == "nothing" else ""))
                row.append(f"{np.mean(means):.3f}")
            rows.append(row)
    heads = [f"{kind}, {what}" for what in ("looked at once", "chosen on") for kind in (*kinds, "mean of kinds")]
    return markdown(["told", "method", *heads], rows)


def short_table() -> str:
    """Return Markdown: mean adjusted Rand index by kind of data, on the half that no constant was chosen on."""
    lines = {(line["set"], line["method"]): line for line in read_lines(RESULTS) if line["half"] == 1}.values()
    rows = []
    for given in ("number", "proportions", "nothing"):
        for name in dict.fromkeys(line["method"] for line in lines if line["told"] == given):
            some = [line for line in lines if line["method"] == name]
            means = [np.mean([x["ari"] for x in some if x["kind"] == kind]) for kind in ("drawn", "tables", "images")]
            rows.append([given, name.split()[0], *(f"{mean:.2f}" for mean in means)])
    return markdown(["given", "method", "drawn shapes", "tables", "images"], rows)
