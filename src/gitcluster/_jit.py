"""Compilation and threads: the only place that knows numba.

A kernel is one compiled loop without the interpreter lock. Kernels that work sample by sample take
``start, stop`` first; :func:`run_chunks` spreads such a kernel over threads. Every chunk writes its own
rows only, so that the result does not depend on the number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from joblib import effective_n_jobs
from numba import float64, int64, njit
from numba.typed import Dict

__all__ = ["Dict", "float64", "int64", "kernel", "run_chunks"]

SMALLEST_CHUNK = 4096

kernel: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True, nogil=True, error_model="numpy")


def run_chunks(
    function: Callable[..., Any], n_samples: int, n_jobs: int | None, *arguments: Any, smallest: int = SMALLEST_CHUNK
) -> None:
    """Call ``function(start, stop, *arguments)`` over all samples, in ``n_jobs`` threads."""
    n_threads = min(effective_n_jobs(n_jobs), max(1, n_samples // smallest))
    if n_threads == 1:
        function(0, n_samples, *arguments)
        return
    n_chunks = min(8 * n_threads, n_samples // smallest)
    bounds = [n_samples * i // n_chunks for i in range(n_chunks + 1)]
    with ThreadPoolExecutor(n_threads) as pool:
        done = [pool.submit(function, start, stop, *arguments) for start, stop in pairwise(bounds)]
        for one in done:
            one.result()
