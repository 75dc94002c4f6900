"""Tasks that any Dask scheduler runs, and the memory that one of them may use."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import get_client
from joblib import cpu_count

from gitcluster._support.memory import available_memory

SHARE = 6
"""A task may use this part of the memory of a worker's thread; the rest is for stored results."""
FAN_IN = 8
"""Results that one task of a merge tree combines."""
MIN_WORKER_BYTES = 600_000_000
"""A worker without data takes 0.44 GB, and by default starts no task above 80 % of its limit."""


def find_resources() -> tuple[int, int]:
    """Return the number of threads, and the bytes that a task may use, of the current client or this machine."""
    client = current_client()
    if client is None:
        threads = cpu_count()
        return threads, int(available_memory() / threads / SHARE)
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        raise RuntimeError("The cluster of the current Dask client has no workers. Start some: cluster.scale(2).")
    limit = min(worker["memory_limit"] or np.inf for worker in workers)
    if limit < MIN_WORKER_BYTES:  # the fit would wait forever
        raise MemoryError(f"memory_limit of the Dask workers must be at least 0.6 GB, got {limit / 1e9:.2f} GB.")
    memory = min((worker["memory_limit"] or available_memory()) / worker["nthreads"] for worker in workers)
    return sum(worker["nthreads"] for worker in workers), int(memory / SHARE)


def current_client() -> Any:
    """Return the current client of dask.distributed, or None if another scheduler is in use."""
    if dask.config.get("scheduler", None) in ("threads", "sync", "synchronous", "threading", "processes"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def submit(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """Return a lazy task that calls ``function``. Arguments may be lists and tuples of tasks."""
    return delayed(function, pure=False)(*arguments)


def submit_each(function: Callable[..., Any], *arguments: Any) -> list[Delayed]:
    """Return one task per cell. A list has one item per cell; every task receives any other argument as a whole."""
    n_cells = next(len(a) for a in arguments if isinstance(a, list))
    columns = (a if isinstance(a, list) else [a] * n_cells for a in arguments)
    return [submit(function, *row) for row in zip(*columns, strict=True)]


def persist(tasks: Iterable[Any]) -> list[Any]:
    """Start tasks and keep their results on the workers.

    ``tasks`` may also be lists of one task per cell. Started together, the tasks of one cell run before their inputs
    are spilled.
    """
    return list(dask.persist(*tasks))


def scatter(value: Any) -> Any:
    """Send a value to the cluster once, for many tasks.

    The value is the result of a task, so that Dask sends it again if the worker that holds it dies.
    """
    if current_client() is None:
        return value
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}):
        return persist([submit(lambda shared: shared, value)])[0]


def merge_tree(function: Callable[[Sequence[Any]], Any], tasks: Sequence[Delayed]) -> Delayed:
    """Return a task that merges lists of equal length item by item, a few lists at a time."""
    tasks = list(tasks)

    def merge(*lists: list[Any]) -> list[Any]:
        return [function(items) for items in zip(*lists, strict=True)]

    while len(tasks) > 1:
        tasks = [submit(merge, *tasks[i : i + FAN_IN]) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def as_dask_array(tasks: Sequence[Delayed], sizes: Sequence[float], dtype: Any) -> da.Array:
    """Return the results of tasks as the chunks of one array, including empty chunks, which Dask would leave out."""
    parts = [da.from_delayed(task, (size or np.nan,), dtype) for task, size in zip(tasks, sizes, strict=True)]
    joined = da.concatenate(parts, allow_unknown_chunksizes=True)
    return da.Array(joined.dask, joined.name, (tuple(sizes),), joined.dtype)
