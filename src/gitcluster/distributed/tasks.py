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


class Resources(NamedTuple):
    """What the scheduler in use has to offer."""

    threads: int
    task_bytes: int
    """Bytes that one task may need."""


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
    return Resources(sum(w["nthreads"] for w in workers), int(memory / SHARE))


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
