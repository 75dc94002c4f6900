"""Methods with nothing tuned, over all data sets: what a user without labels would get.

Every (set, method) is one line of ``results/untuned.jsonl``; what is there is not run again. A
method that fails scores 0 and its error is kept. GIT gets the features as they are, the peers divided by their
standard deviations. Sets of a single cluster are run only by methods that choose the number of clusters: for the
others the answer would be given away.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from time import perf_counter

import numpy as np

from benchmarks.methods import METHODS, Method, keep_installed, tell
from benchmarks.reporting.tables import untuned_table
from benchmarks.running import FOLDER, NAMES, Line, append, read_lines
from benchmarks.scoring import count_clusters, score_labels
from benchmarks.suite.datasets import Dataset, all_datasets, generated_datasets
from gitcluster import scale_features

RESULTS = FOLDER / "untuned.jsonl"
CHOSEN: dict[str, Method] = {
    **{name: METHODS[name] for name in ("GIT", "GIT proportions", "GIT nothing")},
    "GIT paper k=8": METHODS["GIT"].given(variant="paper"),
    "k-means": METHODS["k-means"],
    "constrained-k-means": METHODS["constrained k-means"],
    "gaussian-mixture": METHODS["Gaussian mixture"],
    "ward": METHODS["Ward"],
    "genie": METHODS["Genie"],
    "lumbermark": METHODS["Lumbermark"],
    "spectral": METHODS["spectral"],
    "spectacl": METHODS["SpectACl"],
    "density-peaks": METHODS["FSFDP"],
    "density-peaks-advanced": METHODS["DPA"],
    "quickshift++": METHODS["Quickshift++"],
    **{f"hdbscan-{size}": METHODS["HDBSCAN"].given(min_cluster_size=size) for size in (5, 15)},
    **{f"fast-hdbscan-{size}": METHODS["fast_hdbscan"].given(min_cluster_size=size) for size in (5, 15)},
}
"""The methods by the names that the result file has for them."""


def main(arguments: Sequence[str]) -> None:
    """Run the experiment, or print its table."""
    options = _parse(arguments)
    if options.table:
        print(untuned_table(read_results(options.draw), methods=options.methods, families=options.families))
        return
    methods = keep_installed(CHOSEN, options.methods)
    done = set() if options.again else set(read_results(options.draw))
    for data, name in _pairs(methods, options):
        if (data.name, name) not in done:
            line = run_method(data, name) | {"draw": options.draw}
            append(RESULTS, line)
            print(_progress(line), file=sys.stderr)


def read_results(draw: int = 0) -> dict[tuple[str, str], Line]:
    """Return the stored lines of a draw by set and method; of repeated runs the last counts."""
    return {(line["set"], line["method"]): line for line in read_lines(RESULTS) if line.get("draw", 0) == draw}


def run_method(data: Dataset, name: str) -> Line:
    """Return the result line of one method on one set."""
    method = CHOSEN[name]
    sizes = np.bincount(data.y[data.y >= 0])
    sizes = sizes[sizes > 0]
    line: Line = {
        "set": data.name,
        "family": data.family,
        "clear": data.clear,
        "n": data.X.shape[0],
        "d": data.X.shape[1],
        "classes": len(sizes),
        "method": name,
        "known": method.told,
        "versions": {package: version(package) for package in ("numpy", method.package)},
    }
    X = data.X if name.startswith("GIT") else scale_features(data.X)
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = method.fit(X, tell(method, sizes))
    except Exception as error:  # a failing peer must not end the run
        scores: Line = {"ari": 0.0, "nmi": 0.0, "f1": 0.0, "clusters": 0, "error": repr(error)}
    else:
        scores = score_labels(data.y, labels) | {"clusters": count_clusters(labels)}
    return line | scores | {"seconds": round(perf_counter() - start, 4)}


def _pairs(methods: dict[str, Method], options: argparse.Namespace) -> Iterator[tuple[Dataset, str]]:
    sets = (
        generated_datasets(options.max_samples, draw=options.draw)
        if options.draw
        else all_datasets(options.max_samples)
    )
    for data in sets:
        if options.families is None or data.family in options.families:
            for name, method in methods.items():
                fits = method.most_samples is None or len(data.X) <= method.most_samples
                if fits and (data.family != "single" or method.told == "nothing"):
                    yield data, name


def _progress(line: Line) -> str:
    outcome = line.get("error", f"ARI {line['ari']:.3f}, {line['clusters']} of {line['classes']}")
    return f"{line['set']:28} {line['method']:18} {line['seconds']:8.2f} s  {outcome}"


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks untuned", description=__doc__)
    parser.add_argument("--methods", help="only these methods", **NAMES)
    parser.add_argument("--families", help="only these families of data sets", **NAMES)
    parser.add_argument("--max-samples", type=int, help="leave out larger sets", metavar="N")
    parser.add_argument("--draw", type=int, default=0, help="other samples of the generated designs", metavar="N")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    return parser.parse_args(arguments)
