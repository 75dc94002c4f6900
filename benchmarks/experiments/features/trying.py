"""Every probe in a process of its own with a time limit, so that a crash or a hang is a result too."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.experiments import features
from benchmarks.experiments.features import RESULTS, read_results, reasons, table
from benchmarks.experiments.features.peers import PEERS, AbsentError, Peer
from benchmarks.experiments.features.probes import FEATURES, UNPROMISED, BrokenError, blobs
from benchmarks.running import Line

SECONDS = 60
SECONDS_OF = {"scikit-learn's estimator checks, passed/failed": 120, "compilation": 900}
REFUSALS = (AttributeError, ImportError, NotImplementedError, TypeError, ValueError)


def run(arguments: Sequence[str]) -> None:
    """Run the probes and print the table, or only print what is stored."""
    options = _parse(arguments)
    if not (options.table or options.reasons):
        for name in options.peers or PEERS:
            store(run_peer(name, options.features or list(FEATURES)))
    print(reasons() if options.reasons else table())


def run_peer(name: str, wanted: Sequence[str]) -> list[Line]:
    """Return a line for every feature of a peer; first it may compile at its leisure, if it keeps what it compiles."""
    peer = PEERS[name]
    line: Line = {"peer": name, "package": peer.method.package, "version": None}
    if not peer.method.is_installed:
        return [line | {"feature": f, "outcome": "not installed", "ok": False, "reason": ""} for f in wanted]
    line["version"] = version(peer.method.package)
    lines = []
    for found in (_try(peer, "compilation"), *(_try(peer, feature) for feature in wanted)):
        print(f"{name:22} {found['feature']:60} {found['outcome']:8} {found['reason']}", file=sys.stderr)
        lines.append(line | found)
    return lines[1:]


def _try(peer: Peer, name: str) -> Line:
    """Return outcome and reason of one probe in a process of its own, forked before any peer is imported."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_probe, args=(peer, name, sender))
    process.start()
    sender.close()
    seconds = SECONDS_OF.get(name, SECONDS)
    try:
        outcome, reason = receiver.recv() if receiver.poll(seconds) else ("timeout", f"{seconds} s")
    except EOFError:
        process.join()
        outcome, reason = "crash", f"exit code {process.exitcode}"
    process.kill()
    process.join()
    ok = outcome not in ("no", "wrong", "crash", "timeout")
    return {"feature": name, "ok": ok, "outcome": outcome, "reason": reason}


def _probe(peer: Peer, name: str, sender: Any) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.simplefilter("ignore")
    try:
        remark = FEATURES.get(name, _compile)(peer)
    except AbsentError as error:
        sender.send(("no", str(error)))
    except BrokenError as error:
        sender.send(("no" if name in UNPROMISED else "wrong", str(error)))
    except Exception as error:  # any failure is a result
        outcome = "no" if isinstance(error, REFUSALS) else "crash"
        sender.send((outcome, f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]))
    else:
        figures = isinstance(remark, str) and name in SECONDS_OF
        sender.send((remark.split()[0] if figures else "yes", remark or peer.remarks.get(name, "")))


def _compile(peer: Peer) -> None:
    for kind in (np.float64, np.float32):
        peer.labels(blobs()[0].astype(kind))


def store(lines: Sequence[Line]) -> None:
    """Put lines in the place of the earlier ones of the same probes."""
    results = read_results() | {(line["feature"], line["peer"]): line for line in lines}
    order = [(name, peer) for peer in PEERS for name in FEATURES if (name, peer) in results]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("".join(json.dumps(results[key]) + "\n" for key in order))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks features", description=features.__doc__)
    parser.add_argument("--peers", nargs="+", choices=PEERS, help="only these peers", metavar="PEER")
    parser.add_argument("--features", nargs="+", choices=FEATURES, help="only these features", metavar="FEATURE")
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--reasons", action="store_true", help="print why cells are neither yes nor no")
    return parser.parse_args(arguments)
