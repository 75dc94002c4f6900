"""Methods with nothing tuned, over all data sets: what a user without labels would get.

Every (set, method) is one line of ``results/untuned.jsonl``; what is there is not run again. A
method that fails scores 0 and its error is kept. Sets of a single cluster are run only by methods
that choose the number of clusters: for the others the answer would be given away.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from time import perf_counter

import numpy as np

from benchmarks.methods import Method, load_methods
from benchmarks.reporting.tables import untuned_table
from benchmarks.running import FOLDER, Line, append, read_lines
from benchmarks.scoring import count_clusters, score_labels
from benchmarks.suite.datasets import Dataset, all_datasets
from gitcluster import scale_features

RESULTS = FOLDER / "untuned.jsonl"


def main(arguments: Sequence[str]) -> None:
    """Run the experiment, or print its table."""
    options = _parse(arguments)
    if options.table:
        print(untuned_table(read_results(), methods=options.methods, families=options.families))
        return
    methods = load_methods(options.methods)
    done = set() if options.again else set(read_results())
    for data, method in _pairs(methods, options.families, options.max_samples):
        if (data.name, method.name) not in done:
            line = run_method(data, method)
            append(RESULTS, line)
            print(_progress(line), file=sys.stderr)


def read_results() -> dict[tuple[str, str], Line]:
    """Return the stored lines by set and method; of repeated runs the last counts."""
    return {(line["set"], line["method"]): line for line in read_lines(RESULTS)}


def run_method(data: Dataset, method: Method) -> Line:
    """Return the result line of one method on one set."""
    sizes = np.bincount(data.y[data.y >= 0])
    known = {
        "nothing": None,
        "number": np.count_nonzero(sizes),
        "proportions": sizes[sizes > 0] / sizes.sum(),
    }[method.known]
    line: Line = {
        "set": data.name,
        "family": data.family,
        "clear": data.clear,
        "n": data.X.shape[0],
        "d": data.X.shape[1],
        "classes": int(np.count_nonzero(sizes)),
        "method": method.name,
        "known": method.known,
        "versions": {name: version(name) for name in ("numpy", method.requires)},
    }
    X = scale_features(data.X)
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = np.asarray(method.fit_predict(X, known))
    except Exception as error:  # a failing peer must not end the run
        scores: Line = {"ari": 0.0, "nmi": 0.0, "f1": 0.0, "clusters": 0, "error": repr(error)}
    else:
        scores = score_labels(data.y, labels) | {"clusters": count_clusters(labels)}
    return line | scores | {"seconds": round(perf_counter() - start, 4)}


def _pairs(
    methods: dict[str, Method], families: list[str] | None, max_samples: int | None
) -> Iterator[tuple[Dataset, Method]]:
    for data in all_datasets(max_samples):
        if families is None or data.family in families:
            for method in methods.values():
                if data.family != "single" or not method.uses_n_clusters:
                    yield data, method


def _progress(line: Line) -> str:
    outcome = line.get("error", f"ARI {line['ari']:.3f}, {line['clusters']} of {line['classes']}")
    return f"{line['set']:28} {line['method']:18} {line['seconds']:8.2f} s  {outcome}"


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks untuned", description=__doc__)
    names = {"type": lambda text: text.split(","), "metavar": "A,B"}
    parser.add_argument("--methods", help="only these methods", **names)
    parser.add_argument("--families", help="only these families of data sets", **names)
    parser.add_argument("--max-samples", type=int, help="leave out larger sets", metavar="N")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    return parser.parse_args(arguments)
