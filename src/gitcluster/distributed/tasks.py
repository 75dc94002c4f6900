"""What the stages share: tasks that any Dask scheduler runs, and how large they may be."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
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

    The tasks of a list are handed over one by one: within lists Dask does not keep hold of stored results, so that a
    graph built from them would lose them as soon as nothing else refers to them.
    """
    sizes = tuple(len(a) if _is_list_of_tasks(a) else None for a in arguments)
    flat = [each for a, size in zip(arguments, sizes, strict=True) for each in ([a] if size is None else a)]
    return delayed(Regroup(function, sizes) if any(n is not None for n in sizes) else function, pure=False)(*flat)


def _is_list_of_tasks(argument: Any) -> bool:
    return isinstance(argument, list) and any(isinstance(each, Delayed) for each in argument)


class Regroup:
    """A function of arguments some of which come one by one and make lists, as long as ``sizes`` says."""

    def __init__(self, function: Callable[..., Any], sizes: tuple[int | None, ...]) -> None:
        self.function, self.sizes, self.__name__ = function, sizes, function.__name__

    def __call__(self, *flat: Any) -> Any:
        """Make the lists and call."""
        rest = iter(flat)
        return self.function(*(next(rest) if n is None else list(islice(rest, n)) for n in self.sizes))


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
        return store([call(_same, Box(value))])[0]


class Box:
    """Hides a value from Dask, which would look for tasks in it."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _same(box: Box) -> Any:
    return box.value


def column(tasks: Sequence[Delayed], sizes: Sequence[float], dtype: Any) -> da.Array:
    """Results as the chunks of one array. The empty ones stay, which Dask leaves out when it joins arrays."""
    parts = [da.from_delayed(task, (size or np.nan,), dtype) for task, size in zip(tasks, sizes, strict=True)]
    joined = da.concatenate(parts, allow_unknown_chunksizes=True)
    return da.Array(joined.dask, joined.name, (tuple(sizes),), joined.dtype)


def reduce_tree(function: Callable[[list[Any]], Any], tasks: Sequence[Delayed]) -> Delayed:
    """Combine results a few at a time, until one is left."""
    tasks = list(tasks)
    while len(tasks) > 1:
        tasks = [call(function, tasks[i : i + FAN_IN]) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]
