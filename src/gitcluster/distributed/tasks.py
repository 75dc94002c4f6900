"""What the stages share: tasks that any Dask scheduler runs, and how large they may be."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from joblib import cpu_count

from gitcluster._support.validation import available_memory

SHARE = 6
"""A task may need this part of the memory that a thread of a worker has: what is stored needs room as well."""
FAN_IN = 8
PROCESS = 440_000_000
"""Bytes that a worker takes without any data: Python, the packages and the compiled code."""
PARTS = 3
"""Copies of a part of the collection that a thread has at a time: as it was given, as floats, and to be sent."""


class Resources(NamedTuple):
    """What the scheduler in use has to offer."""

    threads: int
    task_bytes: int
    """Bytes that one task may need."""
    n_workers: int = 1
    worker_bytes: float = np.inf
    """Bytes at which the smallest worker pauses; infinite if nothing limits it."""

    def check(self, *, stored: float, part: float) -> None:
        """Raise an error if workers would pause forever, because what they cannot write to disk fills their memory.

        ``stored`` are the bytes of all results between stages. A worker needs as many bytes for them as for itself,
        or all of them; the others are on its disk. ``part`` are the bytes of the largest part of the collection.
        """
        threads = -(-self.threads // self.n_workers)
        needed = PROCESS + min(stored / self.n_workers, PROCESS) + PARTS * threads * part
        if needed > self.worker_bytes:
            limits = [f"{size / pause_share() / 1e9:.2f} GB" for size in (needed, self.worker_bytes)]
            raise MemoryError(
                f"memory_limit of the Dask workers must be {limits[0]} or more for these data, got {limits[1]}. "
                "Give them more memory, fewer threads or smaller chunks."
            )


def find_resources() -> Resources:
    """Of the cluster of the current client, or of this machine where there is none."""
    client = current_client()
    if client is None:
        threads = cpu_count()
        return Resources(threads, int(available_memory() / threads / SHARE))
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not workers:
        raise RuntimeError("The cluster of the current Dask client has no workers. Start some: cluster.scale(2).")
    memory = min((w["memory_limit"] or available_memory()) / w["nthreads"] for w in workers)
    limit = min(w["memory_limit"] or np.inf for w in workers) * pause_share()
    return Resources(sum(w["nthreads"] for w in workers), int(memory / SHARE), len(workers), limit)


def pause_share() -> float:
    """Return the share of its memory limit at which a worker starts no new task; 1 if it never pauses."""
    return float(dask.config.get("distributed.worker.memory.pause", 0.8) or 1.0)


def current_client() -> Any:
    """The current client of dask.distributed, None where another scheduler is in use."""
    from distributed import get_client

    if dask.config.get("scheduler", None) in ("threads", "sync", "synchronous", "threading", "processes"):
        return None
    try:
        return get_client()
    except ValueError:
        return None


def call(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """A task; it bears the name of the function on Dask's dashboard.

    Tasks within lists and tuples are handed over one by one: there Dask does not keep hold of stored results, so that a
    graph built from them would lose them as soon as nothing else refers to them.
    """
    tasks: list[Delayed] = []
    return delayed(Call(function, _take_out(arguments, tasks)), pure=False)(*tasks)


def call_each(function: Callable[..., Any], *arguments: Any) -> list[Delayed]:
    """One task per cell. A list has one item per cell; anything else is handed to all tasks."""
    n_cells = next(len(a) for a in arguments if isinstance(a, list))
    columns = (a if isinstance(a, list) else [a] * n_cells for a in arguments)
    return [call(function, *row) for row in zip(*columns, strict=True)]


class Call:
    """A function and its arguments, which Dask does not look into; results of tasks are put in their places."""

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self.function, self.arguments, self.__name__ = function, arguments, function.__name__

    def __call__(self, *results: Any) -> Any:
        """Call the function."""
        return self.function(*_put_in(self.arguments, results))


class Place(NamedTuple):
    """Where the result of a task belongs."""

    number: int


def _take_out(value: Any, tasks: list[Delayed]) -> Any:
    if isinstance(value, Delayed):
        tasks.append(value)
        return Place(len(tasks) - 1)
    return _rebuild(value, lambda part: _take_out(part, tasks))


def _put_in(value: Any, results: Sequence[Any]) -> Any:
    return results[value.number] if isinstance(value, Place) else _rebuild(value, lambda part: _put_in(part, results))


def _rebuild(value: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    parts = map(change, value)
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def store(tasks: Iterable[Delayed]) -> list[Delayed]:
    """Start tasks, to keep their results where they are."""
    return list(dask.persist(*tasks))


def fetch(tasks: Sequence[Delayed]) -> list[Any]:
    """Bring results here."""
    return list(dask.compute(*tasks))


def share(value: Any) -> Any:
    """Hand a value to the cluster once, for many tasks to use; should the worker that has it die, it is sent again."""
    if current_client() is None:
        return value
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}):
        return store([call(_same, value)])[0]


def _same(value: Any) -> Any:
    return value


def column(tasks: Sequence[Delayed], sizes: Sequence[float], dtype: Any) -> da.Array:
    """Results as the chunks of one array. The empty ones stay, which Dask leaves out when it joins arrays."""
    parts = [da.from_delayed(task, (size or np.nan,), dtype) for task, size in zip(tasks, sizes, strict=True)]
    joined = da.concatenate(parts, allow_unknown_chunksizes=True)
    return da.Array(joined.dask, joined.name, (tuple(sizes),), joined.dtype)


def merge_tree(function: Callable[[Sequence[Any]], Any], tasks: Sequence[Delayed]) -> Delayed:
    """Merge lists of equal length, item by item, a few lists at a time until one is left."""
    tasks = list(tasks)
    while len(tasks) > 1:
        tasks = [call(merge_items, function, tasks[i : i + FAN_IN]) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def merge_items(function: Callable[[Sequence[Any]], Any], lists: list[list[Any]]) -> list[Any]:
    """``function`` of the first items of all lists, of the second ones, and so on."""
    return [function(items) for items in zip(*lists, strict=True)]
