"""Measure DaskGIT on large data: ``python -m benchmarks distributed``.

Ten million samples with ten features, generated lazily, on two workers of 4 GB: seconds, peak memory and spilled bytes,
beside a million on the same cluster and in one process.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, time_call
from gitcluster import GIT

FIELDS = ("experiment", "case")
CENTRES = 30
WORKER_MEMORY = "4GB"
CHUNK = 100_000


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield a million samples in one process, then on the cluster, then ten million; ``--quick`` takes a hundredth."""
    share = 100 if options.quick else 1
    yield {"experiment": "large", "case": "1M x 10, one process"}, partial(fit_locally, 1_000_000 // share)
    for n in (1_000_000, 10_000_000):
        case = f"{n // 1_000_000}M x 10, exact"
        yield {"experiment": "large", "case": case}, partial(fit_on_cluster, n // share)


def blobs(n_samples: int, n_features: int) -> Any:
    """Return thirty Gaussian blobs as a lazy Dask array."""
    import dask.array as da

    centres = np.random.default_rng(2021).uniform(-10, 10, (CENTRES, n_features))
    chunk = min(CHUNK, -(-n_samples // 10))
    sizes = [min(chunk, n_samples - start) for start in range(0, n_samples, chunk)]
    seeds = da.arange(len(sizes), chunks=1)
    shape = {"dtype": np.float64, "new_axis": 1, "chunks": (tuple(sizes), (n_features,))}
    return da.map_blocks(_blobs, seeds, centres, chunk, n_samples, **shape)


def _blobs(seed: NDArray[np.int64], centres: NDArray[np.float64], chunk: int, n_samples: int) -> NDArray[np.float64]:
    n = min(chunk, n_samples - chunk * int(seed[0]))
    rng = np.random.default_rng(int(seed[0]))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(scale=2.0, size=(n, centres.shape[1]))


def fit_locally(n_samples: int) -> Line:
    """Return the seconds of GIT in this process, the better of two runs."""
    X = blobs(n_samples, 10).compute()
    GIT(3, n_neighbors=5, n_jobs=-1).fit(X[:2000])  # compiles
    model = GIT(CENTRES, n_neighbors=20, search="exact", n_jobs=-1)
    seconds = min(time_call(lambda: model.fit(X))[1] for _ in range(2))
    return {"n": n_samples, "seconds": round(seconds, 1)}


def fit_on_cluster(n_samples: int) -> Line:
    """Return seconds, memory and sizes of clusters of one fit on two workers."""
    from gitcluster.distributed import DaskGIT

    with cluster(2) as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DaskGIT(3, n_neighbors=5, cell_size=200).fit(blobs(2_000, 10))  # loads compiled code
        model = DaskGIT(CENTRES, n_neighbors=20, verbose=True)
        model, wall, _ = time_call(lambda: model.fit(blobs(n_samples, 10)))
        sleep(1)  # until the memory is measured once more
        return {
            "n": n_samples, "workers": 2, "seconds": round(wall, 1), "cells": model.n_cells_,
            "stages": {name: round(value, 1) for name, value in model.seconds_.items()},
            "largest share": round(float(model.proportions_.max()), 4),
            "peak GB": [round(value / 1e9, 2) for value in watch.peaks.values()],
            "spilled GB": [round(value / 1e9, 2) for value in watch.spilled.values()],
        }  # fmt: skip


@contextmanager
def cluster(workers: int) -> Iterator[Watch]:
    """Start a local cluster of processes with one thread each, and watch its memory."""
    from dask.distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "memory_limit": WORKER_MEMORY, "dashboard_address": ":0"}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        LocalCluster(n_workers=workers, local_directory=folder, silence_logs=50, **options) as local,
        Client(local) as client,
    ):
        watch = Watch(client)
        try:
            yield watch
        finally:
            watch.done.set()
            watch.thread.join()


class Watch:
    """Record the largest memory and the most spilled bytes of every worker, twice a second."""

    def __init__(self, client: Any) -> None:
        self.client, self.done = client, threading.Event()
        self.peaks: dict[str, int] = {}
        self.spilled: dict[str, int] = {}
        self.thread = threading.Thread(target=self._record, daemon=True)
        self.thread.start()

    def _record(self) -> None:
        while not self.done.wait(0.5):
            for name, worker in self.client.scheduler_info(n_workers=-1)["workers"].items():
                metrics = worker["metrics"]
                self.peaks[name] = max(self.peaks.get(name, 0), metrics.get("memory", 0))
                spilled = metrics.get("spilled_bytes", {}).get("disk", 0)
                self.spilled[name] = max(self.spilled.get(name, 0), spilled)


def table() -> str:
    """Return seconds and memory of the fits."""
    rows = []
    for line in Store("distributed", FIELDS).lines.values():
        search = f"{line['stages']['search']:.0f}" if "stages" in line else ""
        memory = [" / ".join(f"{value:.1f}" for value in line.get(name, ())) for name in ("peak GB", "spilled GB")]
        rows.append([line["case"], f"{line['seconds']:.0f}", search, str(line.get("cells", "")), *memory])
    return markdown(["data and fit", "seconds", "search", "cells", "peak GB per worker", "GB on disk"], rows)


TABLES = {"distributed_large": table}
