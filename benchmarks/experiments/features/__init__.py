"""What GIT and its peers can do, found by trying: ``python -m benchmarks features [--table | --reasons]``.

A feature is a probe on tiny data. It holds when the call works and the result keeps the contract; otherwise the reason
is kept. Every peer is asked in its own documented way, and in scikit-learn's where it documents none. Leiden clusters
the graph of 30 nearest neighbours that scikit-learn builds. Every probe is a process with a time limit: a crash or a
hang is a result. One line a probe goes to ``results/features.jsonl``.

The cells: ``yes``; ``no``, which is refused, ignored or not there; ``wrong``, taken up but the contract is not kept;
``crash``, of the process or by an exception that is no refusal; ``timeout``; ``not installed``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, read_lines

RESULTS = FOLDER / "features.jsonl"
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def main(arguments: Sequence[str]) -> None:
    """Run the probes and print the table, or only print what is stored."""
    os.environ.update(ONE_THREAD)  # before the packages that read it are imported
    from benchmarks.experiments.features.trying import run

    run(arguments)


def read_results() -> dict[tuple[str, str], Line]:
    """Return the stored lines by feature and peer."""
    return {(line["feature"], line["peer"]): line for line in read_lines(RESULTS)}


def table() -> str:
    """Markdown of the stored results: a row a feature, a column a peer."""
    results = read_results()
    peers = {peer: line["version"] for (_, peer), line in results.items()}
    features = list(dict.fromkeys(name for name, _ in results))
    rows = [[name, *(results.get((name, peer), {}).get("outcome", "") for peer in peers)] for name in features]
    return markdown(["feature", *(f"{peer} {number or ''}".strip() for peer, number in peers.items())], rows)


def reasons() -> str:
    """Markdown of what was promised and not kept, and of remarks."""
    lines = [line for line in read_results().values() if line["reason"] and line["outcome"] != "no"]
    return markdown(
        ["feature", "peer", "outcome", "reason"],
        [[line[key].replace("|", "/") for key in ("feature", "peer", "outcome", "reason")] for line in lines],
    )
