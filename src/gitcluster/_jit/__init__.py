"""Compilation and threads, the only place that knows numba; the compiled loops are the modules beside this one.

A kernel is one compiled loop without the interpreter lock: arrays in, arrays out. Kernels that work sample by sample
take ``start, stop`` first; :func:`run_chunks` spreads such a kernel over threads. Every chunk writes its own rows only,
so that the result does not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from joblib import effective_n_jobs
from numba import float64, int64, njit
from numba.typed import Dict

__all__ = ["Dict", "float64", "int64", "kernel", "run_chunks", "run_threads"]

SMALLEST_CHUNK = 4096

kernel: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True, nogil=True, error_model="numpy")


def run_chunks(
    function: Callable[..., Any], n_samples: int, n_jobs: int | None, *arguments: Any, smallest: int = SMALLEST_CHUNK
) -> list[Any]:
    """Call ``function(start, stop, *arguments)`` over all samples, in ``n_jobs`` threads; what the chunks return."""
    n_threads = min(effective_n_jobs(n_jobs), max(1, n_samples // smallest))
    n_chunks = min(8 * n_threads, n_samples // smallest) if n_threads > 1 else 1
    bounds = [n_samples * i // n_chunks for i in range(n_chunks + 1)]
    return run_threads(lambda chunk: function(*chunk, *arguments), list(pairwise(bounds)), n_threads)


def run_threads(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """``function`` of every item, in ``n_jobs`` threads."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
