"""GIT on Dask beside GIT on one machine: ``python -m benchmarks distributed [--only identical,workers,...]``.

- ``identical``: DaskGIT and GIT on every shared set above 1,000 samples, and on a million of three features, in
  cells of three sizes and rows of three orders: how many labels, local clusters and intensities differ.
- ``workers``: a million of ten features with one worker and with two, seconds by stage.
- ``large``: ten million of ten features, generated lazily, on two workers of 4 GB: seconds, CPU seconds, peak
  memory, bytes sent and spilled, beside a million on the same cluster and in one process.

A line a run goes to ``results/distributed.jsonl``; what is stored is not run again. ``--quick`` takes a hundredth of
the samples and stores nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting.distributed_tables import RESULTS, TABLES
from benchmarks.running import NAMES, Line, Store, describe_run, read_lines
from benchmarks.suite.datasets import data_folder, load_set
from gitcluster import GIT

KEYS = ("experiment", "case")
CELLS = (3, 8, 20)
"""Cells that a set is cut into."""
CENTRES = 30
WORKER_MEMORY = "4GB"
CHUNK = 100_000


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks distributed", description=__doc__)
    parser.add_argument("--only", default=list(EXPERIMENTS), **NAMES)
    parser.add_argument("--cases", type=lambda text: text.split(";"), metavar="A;B", help="only these cases")
    parser.add_argument("--quick", action="store_true", help="few samples, nothing is stored")
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--table", action="store_true", help="run nothing, print the tables of stored results")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / RESULTS.name if options.quick else RESULTS
        store = Store(path, KEYS)
        if not options.table:
            about = describe_run("distributed", arguments)
            for name in options.only:
                for case, run in EXPERIMENTS[name](options):
                    if options.cases is not None and case not in options.cases:
                        continue
                    if options.again or (name, case) not in store.lines:
                        line = {"experiment": name, "case": case} | run()
                        store.add(line | about)
                        print({key: value for key, value in line.items() if key != "versions"}, flush=True)
        lines = read_lines(path)
    for draw in TABLES.values():
        print(draw(lines), end="\n\n")


# data


def blobs(n_samples: int, n_features: int) -> Any:
    """Thirty Gaussian blobs as a lazy Dask array."""
    import dask.array as da

    centres = np.random.default_rng(2021).uniform(-10, 10, (CENTRES, n_features))
    chunk = min(CHUNK, -(-n_samples // 10))
    sizes = [min(chunk, n_samples - start) for start in range(0, n_samples, chunk)]
    seeds = da.arange(len(sizes), chunks=1)
    return da.map_blocks(
        _blobs, seeds, centres, chunk, n_samples, dtype=np.float64, new_axis=1,
        chunks=(tuple(sizes), (n_features,)),
    )  # fmt: skip


def _blobs(seed: NDArray[np.int64], centres: NDArray[np.float64], chunk: int, n_samples: int) -> NDArray[np.float64]:
    n = min(chunk, n_samples - chunk * int(seed[0]))
    rng = np.random.default_rng(int(seed[0]))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(scale=2.0, size=(n, centres.shape[1]))


# clusters


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A local cluster of processes with one thread each, and a watch on its memory."""
    from dask.distributed import Client, LocalCluster

    folder = tempfile.mkdtemp()
    options: dict[str, Any] = {"threads_per_worker": 1, "memory_limit": WORKER_MEMORY, "dashboard_address": ":0"}
    try:
        there = LocalCluster(n_workers=workers, local_directory=folder, silence_logs=50, **options)
        with there, Client(there) as client, Watch(client) as watch:
            yield watch
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Watch:
    """Looks at the memory of workers twice a second."""

    def __init__(self, client: Any) -> None:
        self.client, self.done = client, threading.Event()
        self.peaks: dict[str, int] = {}
        self.spilled: dict[str, int] = {}
        self.thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.done.wait(0.5):
            for name, worker in self.client.scheduler_info(n_workers=-1)["workers"].items():
                metrics = worker["metrics"]
                self.peaks[name] = max(self.peaks.get(name, 0), metrics.get("memory", 0))
                spilled = metrics.get("spilled_bytes", {}).get("disk", 0)
                self.spilled[name] = max(self.spilled.get(name, 0), spilled)

    def totals(self) -> NDArray[np.float64]:
        """Of every worker: CPU seconds, GB sent to others, GB written to disk."""
        return np.array(list(self.client.run(_count).values()))

    def figures(self) -> Line:
        """Peak memory of every worker and most bytes on disk at a time, in GB."""
        sleep(1)
        return {
            "peak GB": [round(value / 1e9, 2) for value in self.peaks.values()],
            "spilled GB": [round(value / 1e9, 2) for value in self.spilled.values()],
        }


def _count(dask_worker: Any) -> tuple[float, float, float]:
    spilled = getattr(dask_worker.data, "cumulative_metrics", {}).get(("disk-write", "bytes"), 0)
    return process_time(), dask_worker.transfer_outgoing_bytes_total / 1e9, spilled / 1e9


def warm_up(workers: int) -> None:
    """Let every worker load what is compiled."""
    from gitcluster.distributed import DaskGIT

    DaskGIT(3, n_neighbors=5, cell_size=200).fit(blobs(1_000 * workers, 10))


def fit_there(X: Any, **options: Any) -> tuple[Any, Line]:
    """DaskGIT, and its seconds."""
    from gitcluster.distributed import DaskGIT

    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DaskGIT(CENTRES, n_neighbors=20, **options).fit(X)
    figures = {"seconds": round(perf_counter() - start, 1), "cells": model.n_cells_}
    stages = {name: round(value, 1) for name, value in model.seconds_.items()}
    return model, figures | {"stages": stages}


def fit_here(X: NDArray[Any]) -> tuple[NDArray[np.int64], float]:
    """GIT in this process, all its threads; labels and seconds."""
    GIT(3, n_neighbors=5, n_jobs=-1).fit(X[:2000])
    start = perf_counter()
    labels = GIT(CENTRES, n_neighbors=20, search="exact", n_jobs=-1).fit_predict(X)
    return labels, round(perf_counter() - start, 1)


# experiments


def identical(options: argparse.Namespace) -> Iterator[Any]:
    """Every shared set above 1,000 samples, and a million of three features."""
    names = sorted(path.stem for path in data_folder().glob("*.npz"))
    for name in [*names, "1M x 3"]:
        yield name, lambda name=name: compare(name, quick=options.quick)


def compare(name: str, *, quick: bool) -> Line:
    """Differences between DaskGIT and GIT over sizes of cells and orders of rows."""
    import dask
    import dask.array as da

    from gitcluster.distributed import DaskGIT

    classes: int | str = "auto"
    if name == "1M x 3":
        X = blobs(10_000 if quick else 1_000_000, 3).compute()
    else:
        X, y = load_set(name)
        classes = len(np.unique(y))
        if len(X) <= 1_000:
            return {"n": len(X), "skipped": "1,000 samples or fewer"}
        X = X[:3_000] if quick else X
    differing = {"labels": 0, "local clusters": 0, "intensities": 0}
    clusters = set()
    with dask.config.set(scheduler="threads"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for turn, n_cells in enumerate(CELLS):
            rows = [np.arange(len(X)), np.arange(len(X))[::-1], np.random.default_rng(0).permutation(len(X))][turn]
            here = GIT(classes, search="exact", n_jobs=-1).fit(X[rows])
            chunk = -(-len(X) // (3, 7, 16)[turn])
            there = DaskGIT(classes, cell_size=-(-len(X) // n_cells)).fit(da.from_array(X[rows], chunks=(chunk, -1)))
            for what, mine, others in (
                ("labels", here.labels_, there.labels_),
                ("local clusters", here.local_labels_, there.local_labels_),
                ("intensities", here.log_intensity_, there.log_intensity_),
            ):
                differing[what] += int((mine != others.compute()).sum())
            clusters.add(there.n_clusters_)
    return {"n": len(X), "d": X.shape[1], "cells": list(CELLS), "clusters": sorted(clusters), "differing": differing}


def workers(options: argparse.Namespace) -> Iterator[Any]:
    """One worker and two."""
    for number in (1, 2):
        yield f"{number} of 1M x 10", lambda number=number: scale_out(number, 10_000 if options.quick else 1_000_000)


def scale_out(number: int, n_samples: int) -> Line:
    """Seconds by stage, the best of two runs."""
    best: Line = {}
    with cluster(number) as watch:
        warm_up(number)
        for _ in range(2):
            model, figures = fit_there(blobs(n_samples, 10), cell_size=-(-n_samples // 8))
            del model
            best = figures if not best or figures["seconds"] < best["seconds"] else best
        return {"n": n_samples, "workers": number} | best | watch.figures()


def large(options: argparse.Namespace) -> Iterator[Any]:
    """A million in one process, then on the cluster, then ten million."""
    share = 100 if options.quick else 1
    yield "1M x 10, one process", lambda: {"n": 1_000_000 // share, "seconds": _one_process(1_000_000 // share)}
    for n in (1_000_000, 10_000_000):
        yield f"{n // 1_000_000}M x 10, exact", lambda n=n // share: fit_large(n)


def _one_process(n_samples: int) -> float:
    X = blobs(n_samples, 10).compute()
    return min(fit_here(X)[1] for _ in range(2))


def fit_large(n_samples: int) -> Line:
    """Seconds, memory and sizes of clusters of one fit."""
    with cluster(2) as watch:
        warm_up(2)
        before = watch.totals()
        model, figures = fit_there(blobs(n_samples, 10), verbose=True)
        cpu, sent, written = (watch.totals() - before).round(1).T.tolist()
        figures |= {"CPU seconds": cpu, "sent GB": sent, "written GB": written}
        sizes = {"local clusters": len(model.peaks_), "edges": len(model.topo_graph_.edges)}
        sizes |= {"halo": round(model.halo_, 2)}
        largest = {"largest share": round(float(model.proportions_.max()), 4), "task GB": model.task_bytes_ / 1e9}
        return {"n": n_samples, "workers": 2} | figures | sizes | largest | watch.figures()


EXPERIMENTS = {"identical": identical, "workers": workers, "large": large}
