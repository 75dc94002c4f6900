"""Tasks that any Dask scheduler runs, and the memory that one of them may use."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

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
PROCESS_BYTES = 440_000_000
"""Memory of a worker without any data: Python, the packages and the compiled code."""
PART_COPIES = 3
"""Copies of a part of the collection that a thread holds at a time: as given, as floats, and to be sent."""


class Resources(NamedTuple):
    """Threads and memory of the scheduler in use."""

    threads: int
    task_bytes: int  # bytes that one task may use
    n_workers: int = 1
    worker_bytes: float = np.inf  # memory limit of the smallest worker; infinite without a limit

    def check(self, *, stored: float, part: float) -> None:
        """Raise MemoryError if workers would pause forever, because results that they cannot spill fill their memory.

        ``stored`` are the bytes of all results between stages, ``part`` those of the largest part of the collection.
        A worker needs as much memory for results as for itself, or for all of its results; the rest is on its disk.
        """
        threads = -(-self.threads // self.n_workers)
        needed = PROCESS_BYTES + min(stored / self.n_workers, PROCESS_BYTES) + PART_COPIES * threads * part
        # Above this share of its limit, a worker starts no new task.
        needed /= float(dask.config.get("distributed.worker.memory.pause", 0.8) or 1.0)
        if needed > self.worker_bytes:
            raise MemoryError(
                f"memory_limit of the Dask workers must be {needed / 1e9:.2f} GB or more for these data, got "
                f"{self.worker_bytes / 1e9:.2f} GB. Use more memory, fewer threads or smaller chunks."
            )


def find_resources() -> Resources:
    """Return the resources of the current client's cluster, or of this machine if there is no client."""
    client = current_client()
    if client is None:
        threads = cpu_count()
        return Resources(threads, int(available_memory() / threads / SHARE))
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        raise RuntimeError("The cluster of the current Dask client has no workers. Start some: cluster.scale(2).")
    memory = min((w["memory_limit"] or available_memory()) / w["nthreads"] for w in workers)
    limit = min(w["memory_limit"] or np.inf for w in workers)
    return Resources(sum(w["nthreads"] for w in workers), int(memory / SHARE), len(workers), limit)


def current_client() -> Any:
    """Return the current client of dask.distributed, or None if another scheduler is in use."""
    if dask.config.get("scheduler", None) in ("threads", "sync", "synchronous", "threading", "processes"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def submit(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """Return a lazy task that calls ``function``; its name on Dask's dashboard is that of the function.

    Tasks may be nested in lists and tuples, but a lazy result does not keep persisted results within these.
    """
    return delayed(function, pure=False)(*arguments, dask_key_name=f"{function.__name__}-{uuid4().hex}")


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


def gather(tasks: Sequence[Delayed]) -> list[Any]:
    """Return the results of tasks."""
    return list(dask.compute(*tasks))


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
